// What frames every page: the bar on top with its project, its ways and its switches, and the line that says when the
// connection is lost.

import { h, mount } from './dom.js';
import { showKeys } from './keys.js';
import { button, icon, link } from './parts.js';
import { remember } from './taste.js';

const bar = mount(document.getElementById('bar') ?? document.body);
const strip = mount(document.getElementById('connection') ?? document.body);

/** @type {{project?: string, version?: string, root?: string, foreign?: string}} */
let facts = {};
let path = '/';
/** @type {'connecting' | 'live' | 'lost'} */
let connection = 'connecting';
let reason = '';

const THEMES = /** @type {const} */ (['auto', 'light', 'dark']);
const THEME_ICONS = { auto: 'half', light: 'sun', dark: 'moon' };

/** @param {string} now the page's address; empty where nothing may be opened @param {typeof facts} [told] */
export function showBar(now, told) {
  path = now;
  facts = told ?? facts;
  draw();
}

/** @param {'connecting' | 'live' | 'lost'} state @param {string} [why] in a sentence */
export function showConnection(state, why = '') {
  // Only what was there can be lost: the first moments of a page are no news.
  if (state === connection && why === reason) return;
  reason = state === 'lost' ? why : '';
  connection = connection === 'lost' && state === 'connecting' ? 'lost' : state;
  draw();
}

function draw() {
  bar.show(
    h('div', { class: 'bar' }, [
      link('/', [h('img', { src: '/assets/favicon.svg', alt: '', width: 26, height: 26 }), h('span', null, 'Gadfly')], {
        class: 'brand',
        'aria-label': 'Gadfly: all runs',
      }),
      facts.project ? h('span', { class: 'project', title: facts.root, dir: 'auto' }, facts.project) : null,
      path ? ways() : h('span', { class: 'grow' }),
      path ? signal() : null,
      themeButton(),
      button(icon('keys', 'Keyboard shortcuts'), showKeys, {
        class: 'quiet icon-only wide-only',
        title: 'Keyboard shortcuts (?)',
      }),
    ]),
  );
  strip.show([
    facts.foreign && path
      ? h('div', { class: 'strip', role: 'status', 'data-testid': 'foreign-strip' }, [
          `${facts.foreign}; then start this server again`,
        ])
      : null,
    connection === 'lost' && path
      ? h('div', { class: 'strip', role: 'status', 'data-testid': 'connection-strip' }, [
          h('span', { class: 'pulse', 'aria-hidden': 'true' }),
          reason ? `Reconnecting… ${reason}` : 'Reconnecting… What you see may be out of date.',
        ])
      : null,
  ]);
}

function ways() {
  const way = (/** @type {string} */ href, /** @type {string} */ name) =>
    link(href, name, { class: 'way', 'aria-current': path === href ? 'page' : undefined });
  return h('nav', { class: 'ways', 'aria-label': 'Pages' }, way('/', 'Runs'), way('/start', 'Start'));
}

function signal() {
  const words = { live: 'live', connecting: 'connecting', lost: 'reconnecting' }[connection];
  return h('span', { class: `signal is-${connection}`, 'data-testid': 'connection', 'data-state': connection }, [
    h('span', { class: 'light', 'aria-hidden': 'true' }),
    h('span', { class: 'wide-only' }, words),
  ]);
}

function themeButton() {
  const now = theme();
  const next = THEMES[(THEMES.indexOf(now) + 1) % THEMES.length] ?? 'auto';
  return button(icon(THEME_ICONS[now], `Colours: ${now}`), () => setTheme(next), {
    class: 'quiet icon-only',
    title: `Colours: ${now}. Change to ${next}`,
    'data-testid': 'theme',
  });
}

/** @returns {'auto' | 'light' | 'dark'} */
function theme() {
  const set = document.documentElement.dataset.theme;
  return set === 'light' || set === 'dark' ? set : 'auto';
}

/** @param {'auto' | 'light' | 'dark'} next */
function setTheme(next) {
  if (next === 'auto') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = next;
  remember('theme', next === 'auto' ? '' : next);
  draw();
}
