// What can be done to a run: pause, resume, cancel. Steering is at the end of a goal's log (goal.js).

import { h, mount } from './dom.js';
import { button } from './parts.js';
import { holdFocus, withTerms } from './requests.js';

/**
 * Caps that can be raised: how a request names them, and the step and unit in which a person does.
 * @type {Record<string, {name: string, label: string, unit: number, step: string}>}
 */
const CAPS = {
  money: { name: 'usd', label: 'US$', unit: 1e9, step: 'any' },
  time: { name: 'minutes', label: 'minutes', unit: 60_000, step: 'any' },
  tokens: { name: 'tokens', label: 'tokens', unit: 1, step: '1' },
  calls: { name: 'calls', label: 'calls', unit: 1, step: '1' },
  steps: { name: 'steps', label: 'steps', unit: 1, step: '1' },
};

/** @param {import('./run.js').Seen} seen */
export function actions(seen) {
  const { page, run, view } = seen;
  const stands = `${page.state.summary.state} ${page.driven}`;
  const can = page.can ?? {};
  const busy = view.get('busy', '');
  const act = async (/** @type {string} */ what, /** @type {Record<string, unknown>} */ body = {}) => {
    // What is said back is about how the run stands now.
    view.note('said of', stands);
    const giveFocusBack = holdFocus();
    view.note('said', '');
    view.set('busy', what);
    const told = await withTerms(`/api/runs/${run}/${what}`, body, what === 'resume' ? 'Agree and resume' : 'Agree');
    view.note('said', told.words);
    view.note('said-bad', !told.ok);
    view.set('busy', '');
    giveFocusBack();
  };
  const one = (/** @type {string} */ name, /** @type {string} */ label, /** @type {() => void} */ click, extra = '') =>
    can[name]
      ? button(busy === name ? `${label}…` : label, click, {
          class: extra,
          disabled: busy !== '',
          'data-testid': `${name}-button`,
        })
      : null;
  const asks = (page.questions ?? []).some((/** @type {any} */ q) => !q.answered);
  if (view.get('said of') !== stands) view.note('said', '');
  const said = view.get('said');
  const cap = can.resume ? capUsedUp(page) : undefined;
  return h('div', { class: 'actions' }, [
    h('div', { class: 'buttons' }, [
      page.wish === 'pause' ? null : one('pause', 'Pause', () => act('pause')),
      cap
        ? raising(cap, busy !== '', (raise) => act('resume', { raise }))
        : one('resume', 'Resume', () => act('resume'), asks ? '' : 'primary'),
      page.wish === 'cancel' ? null : one('cancel', 'Cancel', () => confirmCancel(() => act('cancel')), 'quiet danger'),
    ]),
    said
      ? h(
          'p',
          { class: view.get('said-bad') ? 'said-back bad' : 'said-back', role: 'status', 'data-testid': 'said' },
          said,
        )
      : null,
  ]);
}

/** The cap that ended it, if a higher one can be given here. @param {any} page */
function capUsedUp(page) {
  const shortage = page.state.outcome?.out_of_budget?.shortage;
  const cap = CAPS[shortage?.cap];
  return cap && { ...cap, limit: shortage.limit / cap.unit };
}

/**
 * Resumed as it is, it would end at once: it takes a higher cap.
 * @param {{name: string, label: string, limit: number, step: string}} cap
 * @param {boolean} busy
 * @param {(raise: Record<string, number>) => void} resume
 */
function raising(cap, busy, resume) {
  const send = (/** @type {Event} */ event) => {
    event.preventDefault();
    const field = document.getElementById('raise');
    if (field instanceof HTMLInputElement) resume({ [cap.name]: Number(field.value) });
  };
  const twice = String(Number((cap.limit * 2).toPrecision(6)));
  return h('form', { key: 'raise', class: 'raise', on: { submit: send } }, [
    h('label', { for: 'raise' }, `Go on with at most this many ${cap.label}`),
    h('input', {
      id: 'raise',
      type: 'number',
      inputmode: 'decimal',
      step: cap.step,
      min: cap.step === '1' ? Math.floor(cap.limit) + 1 : cap.limit,
      value: twice,
      required: true,
      'data-testid': 'raise',
    }),
    button(busy ? 'Resume…' : 'Resume', () => {}, {
      type: 'submit',
      class: 'primary',
      disabled: busy,
      'data-testid': 'resume-button',
    }),
  ]);
}

/** @param {() => void} agreed */
function confirmCancel(agreed) {
  const place = document.getElementById('dialogs');
  if (!place) return;
  const shown = mount(place);
  /** @type {HTMLDialogElement | undefined} */
  let dialog;
  const sure = () => {
    dialog?.close();
    agreed();
  };
  shown.show(
    h(
      'dialog',
      {
        class: 'dialog',
        'aria-labelledby': 'cancel-title',
        'data-testid': 'confirm-cancel',
        on: { close: () => shown.clear() },
        ref: (/** @type {HTMLDialogElement} */ el) => (dialog = el),
      },
      [
        h('h2', { id: 'cancel-title' }, 'Cancel this run?'),
        h(
          'p',
          null,
          'It ends for good and cannot be resumed. Drafts and verdicts stay in its record. Pause it instead if you want to go on later.',
        ),
        h(
          'div',
          { class: 'dialog-end' },
          button('Keep it', () => dialog?.close()),
          button('Cancel the run', sure, { class: 'danger-fill', 'data-testid': 'confirm-cancel-button' }),
        ),
      ],
    ),
  );
  dialog?.showModal();
}
