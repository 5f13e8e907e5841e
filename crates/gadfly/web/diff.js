// How two drafts differ, word by word, and what a folder's diff says, file by file. The server compares; here is only
// how it looks.

import { get, trouble } from './api.js';
import { h, mount, said } from './dom.js';
import { button, notice } from './parts.js';

/** More lines are shown only when asked for. */
const LINES_AT_ONCE = 800;
const SIGNS = { add: '+', del: '−', same: ' ', hunk: '' };

/** @param {{run: string, before: string, after: string}} props word-level, between two drafts */
export function draftDiff(props) {
  return fetched(props, (p) => `/api/runs/${p.run}/diff?old=${p.before}&new=${p.after}`, drafts);
}

/** @param {{run: string, digest: string}} props of a folder, as git prints it */
export function treeDiff(props) {
  return fetched(props, (p) => `/api/runs/${p.run}/tree-diff/${p.digest}`, tree);
}

/** @param {any} props @param {(props: any) => string} path @param {(told: any, most: number) => {nodes: any, left: number}} view */
function fetched(props, path, view) {
  const el = document.createElement('div');
  el.className = 'diff-box';
  const shown = mount(el);
  let from = path(props);
  let most = LINES_AT_ONCE;
  let stopped = false;
  /** @type {any} */
  let told;

  async function look() {
    const asked = from;
    shown.show(h('p', { class: 'soft' }, 'Comparing…'));
    const reply = await get(asked);
    if (stopped || asked !== from) return;
    if (reply.status !== 200) {
      shown.show(notice('bad', trouble(reply)));
      return;
    }
    told = reply.body;
    draw();
  }

  function draw() {
    const { nodes, left } = view(told, most);
    shown.show([
      nodes,
      left > 0
        ? h(
            'p',
            null,
            button(`Show ${left} more lines`, () => ((most += LINES_AT_ONCE * 4), draw()), { class: 'small' }),
          )
        : null,
      told.cut
        ? notice(
            'warn',
            told.too_long
              ? 'These drafts are too long to compare. Read them instead.'
              : 'There is more: only the beginning of the changes is shown.',
          )
        : null,
    ]);
  }

  look();
  return {
    el,
    /** @param {any} now */
    update(now) {
      const next = path(now);
      if (next === from) return;
      from = next;
      most = LINES_AT_ONCE;
      look();
    },
    destroy() {
      stopped = true;
      shown.clear();
    },
  };
}

/** @param {any} told @param {number} most */
function drafts(told, most) {
  if (told.same)
    return { nodes: h('p', { class: 'soft', 'data-testid': 'diff' }, 'The two drafts are the same.'), left: 0 };
  if (told.too_long) return { nodes: null, left: 0 };
  let room = most;
  let left = 0;
  const hunks = (told.hunks ?? []).map((/** @type {any} */ hunk, /** @type {number} */ i) => {
    const lines = hunk.lines.slice(0, room);
    room -= lines.length;
    left += hunk.lines.length - lines.length;
    if (lines.length === 0) return null;
    const head =
      hunk.old_start > 1 || hunk.new_start > 1 || i > 0 ? h('div', { class: 'hunk' }, `line ${hunk.new_start}`) : null;
    return [head, lines.map((/** @type {any} */ line) => row(line.kind, words(line)))];
  });
  return {
    nodes: h(
      'div',
      { class: 'diff', 'data-testid': 'diff', tabindex: '0', role: 'group', 'aria-label': 'Changes' },
      hunks,
    ),
    left,
  };
}

/** @param {any} line */
function words(line) {
  const tag = line.kind === 'del' ? 'del' : 'ins';
  return (line.words ?? []).map((/** @type {[boolean, string]} */ [changed, text]) =>
    changed && line.kind !== 'same' ? h(tag, null, text) : text,
  );
}

/** @param {'add' | 'del' | 'same' | 'hunk'} kind @param {any} content */
function row(kind, content) {
  const spoken = kind === 'add' ? 'added: ' : kind === 'del' ? 'removed: ' : '';
  return h('div', { class: `line is-${kind}` }, [
    h('span', { class: 'sign', 'aria-hidden': 'true' }, SIGNS[kind] ?? ' '),
    spoken ? h('span', { class: 'unseen' }, spoken) : null,
    h('span', { class: 'line-text', dir: 'auto' }, content),
  ]);
}

/** @param {any} told @param {number} most */
function tree(told, most) {
  const files = told.files ?? [];
  if (files.length === 0)
    return { nodes: h('p', { class: 'soft', 'data-testid': 'diff' }, 'Nothing was changed.'), left: 0 };
  let room = most;
  let left = 0;
  const nodes = files.map((/** @type {any} */ file) => {
    const lines = file.lines.slice(0, room);
    room -= lines.length;
    left += file.lines.length - lines.length;
    const count = (/** @type {string} */ kind) =>
      file.lines.filter((/** @type {any} */ line) => line.kind === kind).length;
    return h('details', { key: file.path, class: 'file', open: files.length <= 6 }, [
      h(
        'summary',
        null,
        said(file.path, { class: 'mono' }),
        h('span', { class: 'plus' }, `+${count('add')}`),
        h('span', { class: 'minus' }, `−${count('del')}`),
      ),
      h(
        'div',
        { class: 'diff', tabindex: '0', role: 'group', 'aria-label': `Changes of ${file.path}` },
        lines.map((/** @type {any} */ line) =>
          line.kind === 'hunk' ? h('div', { class: 'hunk' }, line.text) : row(line.kind, line.text),
        ),
      ),
    ]);
  });
  return { nodes: h('div', { 'data-testid': 'diff' }, nodes), left };
}
