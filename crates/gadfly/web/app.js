// Begins everything: which address shows which page, and what all pages share. The pages are in overview.js, run.js and
// start.js.

import { follow, whenRefused } from './api.js';
import { mount } from './dom.js';
import { listenForKeys } from './keys.js';
import { showLocked } from './locked.js';
import { openOverview } from './overview.js';
import { openRun } from './run.js';
import { key, openWith, tokenInAddress, whenKept } from './secret.js';
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
 * @property {(facts: {project?: string, version?: string, root?: string, foreign?: string}) => void} project
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
/** Something of this server's was on the page: what a person has typed since stays theirs. */
let wasLive = false;

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
  if (!key()) {
    locked('');
    return;
  }
  const [open, params] = found(path);
  showBar(path);
  if (!open) {
    go('/');
    return;
  }
  if (path !== '/') learnProject();
  page = open({ main: shown, params, go, connection, announce, title, project });
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

/** @param {'' | 'open' | 'wrong' | 'away'} why */
function locked(why) {
  page?.stop();
  page = undefined;
  title('Locked');
  showBar('');
  showLocked(shown, why, () => route(true));
}

/** @param {'connecting' | 'live' | 'lost'} state @param {string} [why] */
function connection(state, why) {
  wasLive ||= state === 'live';
  showConnection(state, why);
}

/** With the token of the address, if there is one, or with the key that is kept. @param {boolean} arrived */
async function begin(arrived) {
  const token = tokenInAddress();
  if (!token && arrived) return;
  const how = token ? await openWith(token) : 'open';
  if (how === 'open' || !key()) wasLive = false;
  if (how === 'open') route(arrived);
  // A link of somebody else's changes nothing for a page that is open.
  else if (!key()) locked(how);
  else if (!page) route(arrived);
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

/** @param {{project?: string, version?: string, root?: string, foreign?: string}} facts */
function project(facts) {
  isKnown = true;
  wasLive = true;
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
window.addEventListener('hashchange', () => begin(true));
whenRefused(() => {
  if (!wasLive) locked('wrong');
});
whenKept(() => {
  if (!page) route(true);
});
listenForKeys(go);
begin(false);
