// The keyboard: j and k walk whatever is marked `data-walk`, the rest are ways to pages. Keys never act while somebody
// types, and single keys can be turned off.

import { h, mount } from './dom.js';
import { button } from './parts.js';
import { recall, remember } from './taste.js';

const OFF = 'keys';
/** After `g`, the second key has to come this soon. */
const SECOND_MS = 1500;

/** @type {[string[], string][]} */
const KEYS = [
  [['j', 'k'], 'next and previous: runs in the list, rounds and entries on a run’s page'],
  [['Enter'], 'open what is chosen'],
  [['/'], 'filter the runs'],
  [['g', 'o'], 'to the overview'],
  [['g', 's'], 'to the form that starts a run'],
  [['?'], 'these keys'],
  [['Esc'], 'close, or leave a field'],
];

let gAt = 0;

/** @param {(path: string) => void} go */
export function listenForKeys(go) {
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const target = event.target;
    const types = target instanceof HTMLElement && target.matches('input, textarea, select, [contenteditable]');
    if (types) {
      if (event.key === 'Escape') target.blur();
      return;
    }
    if (!areOn() || document.querySelector('dialog[open]')) return;
    if (act(event.key, go)) event.preventDefault();
  });
}

/** @param {string} key @param {(path: string) => void} go @returns {boolean} it did something */
function act(key, go) {
  const second = Date.now() - gAt < SECOND_MS;
  gAt = 0;
  if (second && key === 'o') return (go('/'), true);
  if (second && key === 's') return (go('/start'), true);
  if (key === 'g') return ((gAt = Date.now()), true);
  if (key === 'j' || key === 'k') return walk(key === 'j' ? 1 : -1);
  if (key === '?') return (showKeys(), true);
  if (key === '/') {
    const field = document.querySelector('[data-filter]');
    if (field instanceof HTMLElement) field.focus();
    return field !== null;
  }
  return false;
}

/** @param {1 | -1} by @returns {boolean} */
function walk(by) {
  const all = [...document.querySelectorAll('[data-walk]')].filter(
    (el) => el instanceof HTMLElement && el.offsetParent,
  );
  if (all.length === 0) return false;
  const now = document.activeElement?.closest('[data-walk]');
  const at = now ? all.indexOf(now) : -1;
  const next = at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(Math.max(at + by, 0), all.length - 1);
  const el = all[next];
  if (el instanceof HTMLElement) {
    el.focus({ preventScroll: true });
    el.scrollIntoView({ block: 'nearest' });
  }
  return true;
}

function areOn() {
  return recall(OFF) !== 'off';
}

export function showKeys() {
  const place = document.getElementById('dialogs');
  if (!place) return;
  const shown = mount(place);
  /** @type {HTMLDialogElement | undefined} */
  let dialog;
  const row = (/** @type {[string[], string]} */ [keys, does]) =>
    h(
      'tr',
      null,
      h(
        'th',
        { scope: 'row' },
        keys.map((key) => h('kbd', null, key)),
      ),
      h('td', null, does),
    );
  const turn = (/** @type {Event} */ event) => {
    if (!(event.target instanceof HTMLInputElement)) return;
    remember(OFF, event.target.checked ? '' : 'off');
  };
  const closed = () => shown.clear();
  shown.show(
    h(
      'dialog',
      {
        class: 'dialog',
        'aria-labelledby': 'keys-title',
        'data-testid': 'keys',
        on: { close: closed },
        ref: (/** @type {HTMLDialogElement} */ el) => (dialog = el),
      },
      [
        h('h2', { id: 'keys-title' }, 'Keys'),
        h('table', { class: 'keys' }, h('tbody', null, KEYS.map(row))),
        h(
          'label',
          { class: 'check' },
          h('input', { type: 'checkbox', checked: areOn(), on: { change: turn } }),
          ' Enable single-key shortcuts',
        ),
        h(
          'div',
          { class: 'dialog-end' },
          button('Close', () => dialog?.close(), { class: 'primary' }),
        ),
      ],
    ),
  );
  dialog?.showModal();
}
