// Requests that change something: what the server says back in words, and the terms a person agrees to before anything
// is sent anywhere.

import { post, trouble } from './api.js';
import { h, mount, said } from './dom.js';
import { button } from './parts.js';

/** Terms that are shown for one request, at most. */
const MOST_TERMS = 6;

/** @typedef {{ok: boolean, words: string, body: any, problems: any[], declined?: boolean}} Told */

/** @param {import('./api.js').Reply} reply @returns {Told} */
export function say(reply) {
  const ok = reply.status === 200;
  const words = ok ? (reply.body?.said ?? '') : trouble(reply);
  return { ok, words, body: reply.body, problems: reply.body?.problems ?? [] };
}

/** Gives the focus back to what has it now, once that can take it again and nothing else has it. @returns {() => void} */
export function holdFocus() {
  const had = document.activeElement;
  const giveBack = () => {
    const isLost = !document.activeElement || document.activeElement === document.body;
    if (isLost && had instanceof HTMLElement && had.isConnected) had.focus({ preventScroll: true });
  };
  // A page is drawn with the next frame.
  return () => requestAnimationFrame(() => requestAnimationFrame(giveBack));
}

/**
 * Posts; where the server first wants a person's agreement, shows the terms and posts again with it.
 * @param {string} path
 * @param {Record<string, unknown>} body
 * @param {string} agreeLabel
 * @returns {Promise<Told>}
 */
export async function withTerms(path, body, agreeLabel) {
  let reply = await post(path, body);
  // First what the project's files want, then who is sent what; and terms may change while somebody reads them.
  for (let asked = 0; asked < MOST_TERMS && reply.body?.terms; asked += 1) {
    const agreed = await askTerms(reply.body.terms, agreeLabel);
    if (!agreed) return { ok: false, words: 'Nothing was started.', body: {}, problems: [], declined: true };
    reply = await post(path, { ...body, agree: reply.body.terms.agree });
  }
  return say(reply);
}

/** `worker  → this machine` is a name and what is said of it. @param {string} line */
function term(line) {
  const [, name, rest] = /^(\S+) {2,}(.+)$/s.exec(line) ?? [];
  return h('li', null, name ? [h('span', { class: 'soft' }, name), said(rest)] : said(line.trim(), { class: 'all' }));
}

/** @param {any} terms @param {string} label @returns {Promise<boolean>} */
function askTerms(terms, label) {
  const place = document.getElementById('dialogs');
  if (!place) return Promise.resolve(false);
  const shown = mount(place);
  return new Promise((resolve) => {
    /** @type {HTMLDialogElement | undefined} */
    let dialog;
    let agreed = false;
    const agree = () => {
      agreed = true;
      dialog?.close();
    };
    const closed = () => {
      shown.clear();
      resolve(agreed);
    };
    const lines = (/** @type {string} */ title, /** @type {string[] | undefined} */ all) =>
      all?.length ? [h('h3', null, title), h('ul', { class: 'terms' }, all.map(term))] : null;
    // What is wanted of this machine is asked first; the rest comes after it.
    const next = terms.consent?.length ? label : 'Agree and go on';
    shown.show(
      h(
        'dialog',
        {
          class: 'dialog wide',
          'aria-labelledby': 'terms-title',
          'data-testid': 'terms',
          on: { close: closed },
          ref: (/** @type {HTMLDialogElement} */ el) => (dialog = el),
        },
        [
          h('h2', { id: 'terms-title' }, 'Before it starts'),
          lines('Recipients and maximum cost', terms.consent),
          lines('This project’s files want to', terms.wanted),
          h(
            'div',
            { class: 'dialog-end' },
            button('Not now', () => dialog?.close()),
            button(next, agree, { class: 'primary', 'data-testid': 'agree-button' }),
          ),
        ],
      ),
    );
    dialog?.showModal();
  });
}
