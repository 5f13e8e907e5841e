// The page without a token: how to get in. It knows nothing of any run.

import { keepToken } from './api.js';
import { h } from './dom.js';
import { button } from './parts.js';

/** @param {{show: (nodes: any) => void}} main @param {boolean} wasRefused @param {() => void} opened */
export function showLocked(main, wasRefused, opened) {
  /** @type {HTMLInputElement | undefined} */
  let field;
  const open = () => {
    const given = field?.value.trim() ?? '';
    // A whole link is as good as the token in it.
    const inLink = /[#&?]token=([^&\s]+)/.exec(given)?.[1];
    if (!given) return;
    keepToken(inLink ?? given);
    opened();
  };
  const title = wasRefused ? 'This page’s token does not open the server any more' : 'This dashboard needs its token';
  main.show(
    h('div', { class: 'locked', 'data-testid': 'locked' }, [
      h('h1', null, title),
      h('p', null, [
        wasRefused ? 'The server was started anew, or the token is another one’s. ' : '',
        'In a terminal, in the folder of your project:',
      ]),
      h('pre', { class: 'command' }, 'gadfly serve'),
      h(
        'p',
        null,
        'It prints a link. Open that link, and this page remembers its token on this computer. Or paste the link or the token here:',
      ),
      h('form', { class: 'inline-form', on: { submit: (/** @type {Event} */ e) => (e.preventDefault(), open()) } }, [
        h('label', { class: 'unseen', for: 'token' }, 'Token'),
        h('input', {
          id: 'token',
          type: 'password',
          autocomplete: 'off',
          spellcheck: 'false',
          placeholder: 'link or token',
          'data-testid': 'token',
          ref: (/** @type {HTMLInputElement} */ el) => (field = el),
        }),
        button('Open', open, { class: 'primary', type: 'submit' }),
      ]),
      h('p', { class: 'soft' }, 'The token keeps other programs and web pages on this computer away from your runs.'),
    ]),
  );
}
