// The page without a token: how to get in. It knows nothing of any run.

import { h } from './dom.js';
import { button } from './parts.js';
import { openWith } from './secret.js';

const TITLES = {
  '': 'This dashboard needs its token',
  open: 'This dashboard needs its token',
  wrong: 'This page’s token does not open the server any more',
  away: 'The server cannot be reached',
};

/** @param {{show: (nodes: any) => void}} main @param {'' | 'open' | 'wrong' | 'away'} why @param {() => void} opened */
export function showLocked(main, why, opened) {
  const open = async () => {
    const field = document.getElementById('token');
    const given = field instanceof HTMLInputElement ? field.value.trim() : '';
    // A whole link is as good as the token in it.
    const inLink = /[#&?]token=([^&\s]+)/.exec(given)?.[1];
    if (!given) return;
    const how = await openWith(inLink ?? given);
    if (how === 'open') opened();
    else if (field?.isConnected) showLocked(main, how, opened);
  };
  main.show(
    h('div', { class: 'locked', 'data-testid': 'locked', 'data-why': why }, [
      h('h1', null, TITLES[why]),
      h('p', null, [
        why === 'wrong' ? 'The server was started anew, the token is another one’s, or another program answers here. ' : '',
        'In a terminal, in the folder of your project:',
      ]),
      h('pre', { class: 'command' }, 'gadfly serve'),
      h(
        'p',
        null,
        'It prints a link, another one at each start. Open that link, or paste it or its token here:',
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
        }),
        button('Open', () => {}, { class: 'primary', type: 'submit' }),
      ]),
      h('p', { class: 'soft' }, 'The token keeps other programs and web pages on this computer away from your runs. This page never sends it.'),
    ]),
  );
}
