// A draft that is several files: its manifest names each with the digest of its text. Shown as a list, what changed since
// the draft before first, each with its differences or its text.

import { get, trouble } from './api.js';
import { draftDiff } from './diff.js';
import { h, mount, said, widget } from './dom.js';
import { notice } from './parts.js';
import { textBox } from './texts.js';

const MOST_FILES = 200;
/** A line of a manifest: mode, digest, path. */
const ENTRY = /^([0-7]{3,6}) ([0-9a-f]{64}) (.+)$/;

/** A draft of one text has another digest than what it is judged as. @param {any} round */
export function isManifest(round) {
  return Boolean(round.draft) && round.draft === round.artifact;
}

/** @param {string} text @returns {Map<string, string>} digest by path */
function entries(text) {
  const found = new Map();
  for (const line of text.split('\n')) {
    const match = ENTRY.exec(line);
    if (match?.[2] && match[3]) found.set(match[3], match[2]);
  }
  return found;
}

/**
 * A draft of several files: what changed since the draft before first, each with its differences or its text.
 * @param {{run: string, digest: string, before?: string}} props
 */
export function manifest(props) {
  const el = document.createElement('div');
  el.className = 'manifest';
  const shown = mount(el);
  let current = props;
  let stopped = false;
  /** @type {Set<string>} */
  const open = new Set();
  /** @type {Map<string, string>} */
  let now = new Map();
  /** @type {Map<string, string>} */
  let old = new Map();

  async function look() {
    const asked = current;
    const fetched = (/** @type {string | undefined} */ digest) =>
      digest ? get(`/api/runs/${asked.run}/texts/${digest}`) : Promise.resolve({ status: 200, body: { text: '' } });
    const [mine, theirs] = await Promise.all([fetched(asked.digest), fetched(asked.before)]);
    if (stopped || asked !== current) return;
    if (mine.status !== 200) {
      shown.show(notice('bad', trouble(mine)));
      return;
    }
    now = entries(String(mine.body.text ?? ''));
    old = theirs.status === 200 ? entries(String(theirs.body.text ?? '')) : new Map();
    const first = list()[0];
    if (first && list().length <= 3) open.add(first.path);
    draw();
  }

  function list() {
    const all = [...now].map(([path, digest]) => ({
      path,
      digest,
      kind: !current.before ? '' : !old.has(path) ? 'added' : old.get(path) === digest ? 'same' : 'modified',
    }));
    const gone = [...old]
      .filter(([path]) => !now.has(path))
      .map(([path, digest]) => ({ path, digest, kind: 'deleted' }));
    const weight = (/** @type {{kind: string}} */ f) => (f.kind === 'same' ? 1 : 0);
    return [...all, ...gone].sort((a, b) => weight(a) - weight(b));
  }

  function draw() {
    const files = list();
    shown.show([
      files.slice(0, MOST_FILES).map((file) => {
        const isOpen = open.has(file.path);
        const toggled = (/** @type {any} */ event) => {
          if (event.target.open) open.add(file.path);
          else open.delete(file.path);
          draw();
        };
        return h('details', { key: file.path, class: 'file', open: isOpen, on: { toggle: toggled } }, [
          h(
            'summary',
            null,
            said(file.path, { class: 'mono' }),
            file.kind
              ? h('span', { class: `change is-${file.kind}` }, file.kind === 'same' ? 'unchanged' : file.kind)
              : null,
          ),
          isOpen ? content(file) : null,
        ]);
      }),
      files.length > MOST_FILES ? h('p', { class: 'soft' }, `and ${files.length - MOST_FILES} more`) : null,
      // Whatever it is, it is no list of files.
      files.length === 0
        ? widget(textBox, { run: current.run, digest: current.digest, testid: 'draft' }, 'text')
        : null,
    ]);
  }

  /** @param {{path: string, digest: string, kind: string}} file */
  function content(file) {
    const before = old.get(file.path);
    if (file.kind === 'modified' && before)
      return widget(draftDiff, { run: current.run, before, after: file.digest }, 'diff');
    return widget(textBox, { run: current.run, digest: file.digest, plain: true, testid: 'draft' }, 'text');
  }

  shown.show(h('p', { class: 'soft' }, 'Fetching…'));
  look();
  return {
    el,
    /** @param {typeof props} next */
    update(next) {
      if (next.digest === current.digest && next.before === current.before) return;
      current = next;
      look();
    },
    destroy() {
      stopped = true;
      shown.clear();
    },
  };
}
