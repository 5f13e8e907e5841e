// Begins everything: which address shows which page, and what all pages share. The pages are in overview.js, run.js and
// start.js.

import { follow, forgetToken, takeTokenFromAddress, token, whenRefused } from './api.js';
import { mount } from './dom.js';
import { listenForKeys } from './keys.js';
import { showLocked } from './locked.js';
import { openOverview } from './overview.js';
import { openRun } from './run.js';
import { showBar, showConnection } from './shell.js';
import { openStart } from './start.js';
import { cut, oneLine, safeLine } from './text.js';

/**
 * What a page is given.
 * @typedef {object} Place
 * @property {{show: (nodes: any) => void, clear: () => void}} main
 * @property {string[]} params of its address
 * @property {(path: string) => void} go
 * @property {(state: 'connecting' | 'live' | 'lost', why?: string) => void} connection
 * @property {(words: string) => void} announce said by screen readers, once
 * @property {(title: string, needsYou?: boolean) => void} title
 * @property {(facts: {project?: string, version?: string, root?: string}) => void} project
 *
 * @typedef {{stop: () => void}} Page
 */

/** @type {[RegExp, (place: Place) => Page][]} */
const PAGES = [
  [/^\/$/, openOverview],
  [/^\/start$/, openStart],
  [/^\/runs\/([0-9a-z]{1,32})$/, openRun],
];

const main = element('main');
const shown = mount(main);
/** @type {Page | undefined} */
let page;
/** @type {Map<string, number>} how far down each address was read */
const scrolled = new Map();
let path = '';
let isKnown = false;

/** @param {string} id */
function element(id) {
  return document.getElementById(id) ?? document.body;
}

/** @param {boolean} arrived by a link, not by loading the page */
function route(arrived) {
  page?.stop();
  page = undefined;
  shown.clear();
  path = location.pathname;
  if (!token()) {
    locked(false);
    return;
  }
  const [open, params] = found(path);
  showBar(path);
  if (!open) {
    go('/');
    return;
  }
  if (path !== '/') learnProject();
  page = open({ main: shown, params, go, connection: showConnection, announce, title, project });
  if (arrived) main.focus({ preventScroll: true });
  window.scrollTo(0, scrolled.get(path) ?? 0);
}

/** @param {string} path @returns {[((place: Place) => Page) | undefined, string[]]} */
function found(path) {
  for (const [pattern, open] of PAGES) {
    const match = pattern.exec(path);
    if (match) return [open, match.slice(1)];
  }
  return [undefined, []];
}

/** @param {string} to */
function go(to) {
  if (path) scrolled.set(path, window.scrollY);
  if (to !== location.pathname + location.search) history.pushState(null, '', to);
  scrolled.delete(to);
  route(true);
}

/** @param {boolean} wasRefused */
function locked(wasRefused) {
  page?.stop();
  page = undefined;
  title('Locked');
  showBar('');
  showLocked(shown, wasRefused, () => route(true));
}

/** @param {string} words */
function announce(words) {
  element('says').textContent = safeLine(words);
}

/** The overview tells the project's name; other pages ask for it once. */
function learnProject() {
  if (isKnown) return;
  isKnown = true;
  const stop = follow(
    '/api/live/overview',
    (_, told) => {
      stop();
      project(told ?? {});
    },
    () => {},
  );
}

/** @param {string} name @param {boolean} [needsYou] */
function title(name, needsYou = false) {
  document.title = `${needsYou ? '● ' : ''}${cut(safeLine(oneLine(name)), 80)} · Gadfly`;
}

/** @param {{project?: string, version?: string, root?: string}} facts */
function project(facts) {
  isKnown = true;
  showBar(path, facts);
}

document.addEventListener('click', (event) => {
  const target = event.target instanceof Element ? event.target.closest('a[data-route]') : null;
  if (!target || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  go(target.getAttribute('href') ?? '/');
});
window.addEventListener('popstate', () => {
  if (location.pathname !== path) route(true);
});
window.addEventListener('hashchange', () => {
  if (takeTokenFromAddress()) route(true);
});
whenRefused(() => {
  forgetToken();
  locked(true);
});
listenForKeys(go);
takeTokenFromAddress();
route(false);
