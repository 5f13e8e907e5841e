// The page of a goal: its terms, the steps as they are taken, and beside them the rail, which reads like a story. The
// log follows its end while somebody is at its end.

import { post } from './api.js';
import { treeDiff } from './diff.js';
import { h, said, widget } from './dom.js';
import * as say from './format.js';
import { button, icon, section } from './parts.js';
import { lookOf, railEntry } from './rail.js';
import { say as told } from './requests.js';
import { textBox } from './texts.js';

/** This near to its end, the log is followed. */
const NEAR_PX = 48;
const LONG_STEP_MS = 5000;
const MOST_IN_STRIP = 26;

/** @param {import('./run.js').Seen} seen */
export function goalBody(seen) {
  const goal = seen.state.goal;
  if (!goal) return { main: h('p', { class: 'soft' }, 'It begins.'), aside: null };
  return {
    main: [storyStrip(seen, goal), log(seen, goal), steer(seen)],
    aside: [terms(seen, goal), counts(goal), folder(seen, goal)],
  };
}

/** What was said so far, as one line of colours: each jumps to its place. @param {import('./run.js').Seen} seen @param {any} goal */
function storyStrip(seen, goal) {
  const entries = worded(goal)
    .filter((/** @type {any} */ e) => e.what.event !== 'nudged')
    .slice(-MOST_IN_STRIP);
  if (entries.length === 0) return null;
  return h(
    'nav',
    { class: 'story', 'aria-label': 'What was said, in order' },
    entries.map((/** @type {any} */ e) => {
      const look = lookOf(e);
      const label = `after step ${e.after}: ${e.says.head}`;
      return h(
        'button',
        {
          key: entryKey(e),
          type: 'button',
          class: `story-mark rail-${look.colour}`,
          title: label,
          'aria-label': label,
          on: { click: () => jumpTo(seen, entryId(e)) },
        },
        icon(look.icon),
      );
    }),
  );
}

/** The entries of the rail that are worth words. @param {any} goal @returns {any[]} */
function worded(goal) {
  return goal.rail.filter((/** @type {any} */ e) => e.says);
}

/** @param {any} e */
function entryKey(e) {
  return `${e.seq} ${e.what.event} ${e.after}`;
}

/** @param {any} e */
function entryId(e) {
  return `rail-${entryKey(e).replace(/[^a-z0-9]/gi, '-')}`;
}

/** @param {import('./run.js').Seen} seen @param {any} goal */
function log(seen, goal) {
  const { view } = seen;
  const following = view.get('following', true);
  const scrolled = (/** @type {any} */ event) => {
    const el = event.target;
    view.set('following', el.scrollHeight - el.scrollTop - el.clientHeight < NEAR_PX);
  };
  const placed = (/** @type {HTMLElement} */ el) => view.note('log', el);
  // After this drawing is on the page.
  if (following) queueMicrotask(() => toEnd(view.get('log')));
  return section(
    'Steps',
    h('div', { class: 'log-frame' }, [
      h(
        'div',
        {
          class: 'log',
          id: 'log',
          role: 'log',
          'aria-live': 'off',
          'aria-label': 'Steps and what was said about them',
          tabindex: '0',
          ref: placed,
          on: { scroll: scrolled },
          'data-testid': 'log',
        },
        [
          seen.earlier
            ? h(
                'div',
                { class: 'more', key: 'earlier' },
                button(seen.fetching ? 'Fetching…' : 'Earlier steps', seen.earlier, {
                  class: 'small',
                  'data-testid': 'earlier',
                }),
              )
            : null,
          lines(seen, goal),
          seen.state.summary.state === 'running'
            ? h(
                'p',
                { key: 'at-work', class: 'at-work' },
                h('span', { class: 'pulse', 'aria-hidden': 'true' }),
                'at work…',
              )
            : null,
        ],
      ),
      following
        ? null
        : button(
            [icon('down'), 'Jump to newest'],
            () => (view.note('following', true), toEnd(view.get('log')), seen.redraw()),
            { class: 'jump small', 'data-testid': 'jump-newest' },
          ),
    ]),
    {
      class: 'steps',
      aside: h('span', { class: 'soft small' }, following && seen.state.summary.state === 'running' ? 'following' : ''),
    },
  );
}

/** @param {any} el */
function toEnd(el) {
  requestAnimationFrame(() => {
    if (el?.isConnected) el.scrollTop = el.scrollHeight;
  });
}

/** Steps with what was said after each, and gaps where something is not on the page. @param {import('./run.js').Seen} seen @param {any} goal */
function lines(seen, goal) {
  /** @type {Map<number, any[]>} */
  const said = new Map();
  for (const entry of worded(goal)) said.set(entry.after, [...(said.get(entry.after) ?? []), entry]);
  const colours = covered(goal.rail);
  const nodes = [];
  const first = goal.steps[0]?.step.n ?? 1;
  for (const [after, entries] of said)
    if (after < first) nodes.push(...entries.map((/** @type {any} */ e) => entryNode(seen, e)));
  let before = first - 1;
  for (const taken of goal.steps) {
    const n = taken.step.n;
    if (n > before + 1)
      nodes.push(h('p', { key: `gap ${n}`, class: 'gap' }, `steps ${before + 1}–${n - 1} are not on this page`));
    const isOpen = Boolean(seen.view.get(`step ${n}`));
    const looks = `${colours.get(n) ?? ''} ${isOpen}`;
    nodes.push(once(taken, looks, () => step(seen, taken, colours.get(n), isOpen)));
    if (isOpen) nodes.push(inFull(seen, taken));
    nodes.push(...(said.get(n) ?? []).map((e) => entryNode(seen, e)));
    before = n;
  }
  return nodes;
}

/** @param {import('./run.js').Seen} seen @param {any} entry */
function entryNode(seen, entry) {
  return once(entry, undefined, () =>
    h(
      'div',
      { key: `rail ${entryKey(entry)}`, class: 'rail-place', id: entryId(entry), tabindex: '-1' },
      railEntry(seen, entry),
    ),
  );
}

/** The last verdict over each step. @param {any[]} rail @returns {Map<number, string>} */
function covered(rail) {
  const colours = new Map();
  for (const { what } of rail) {
    if (what.event !== 'watched') continue;
    for (let n = Math.max(what.from, what.to - 500); n <= what.to; n += 1) colours.set(n, what.verdict);
  }
  return colours;
}

const ENDS = /** @type {Record<string, string>} */ ({
  ok: 'check',
  err: 'cross',
  blocked: 'ban',
  denied: 'shield',
  unknown: 'doubt',
});

/** Steps and entries never change: each is described once. @type {WeakMap<object, {verdict: string | undefined, node: any}>} */
const described = new WeakMap();

/** @param {object} what @param {string | undefined} verdict @param {() => any} describe */
function once(what, verdict, describe) {
  const before = described.get(what);
  if (before && before.verdict === verdict) return before.node;
  const node = describe();
  described.set(what, { verdict, node });
  return node;
}

/** What the tool was given and what came of it. @param {import('./run.js').Seen} seen @param {any} taken */
function inFull(seen, taken) {
  return h(
    'div',
    { key: `full ${taken.step.n}`, class: 'step-full' },
    widget(textBox, { run: seen.run, digest: `step-${taken.seq}`, plain: true, testid: 'step-full' }, 'text'),
  );
}

/** @param {import('./run.js').Seen} seen @param {any} taken @param {string | undefined} verdict @param {boolean} isOpen */
function step({ view }, taken, verdict, isOpen) {
  const { n, tool, args, end, preview, took_ms: ms } = taken.step;
  return h(
    'div',
    {
      key: `step ${n}`,
      class: `step is-${end}${verdict ? ` under-${verdict}` : ''}`,
      'data-testid': 'step',
      'data-n': n,
      'data-end': end,
      title: say.moment(taken.at_ms),
    },
    [
      h(
        'button',
        {
          type: 'button',
          class: 'step-n',
          'aria-expanded': String(isOpen),
          'aria-label': `Step ${n} in full`,
          title: 'Show all of it',
          'data-testid': 'step-open',
          on: { click: () => view.set(`step ${n}`, !isOpen) },
        },
        `[${n}]`,
      ),
      h('span', { class: 'step-what' }, [
        said(tool, { class: 'tool' }),
        args ? h('span', { class: 'args' }, '(', said(args), ')') : '()',
        h('span', { class: 'end' }, ' → ', icon(ENDS[end] ?? 'dot'), end),
        preview ? h('span', { class: 'preview' }, ': ', said(preview)) : null,
        ms >= LONG_STEP_MS ? h('span', { class: 'soft' }, ` · ${say.took(ms)}`) : null,
      ]),
    ],
  );
}

/** @param {import('./run.js').Seen} seen @param {string} id */
function jumpTo(seen, id) {
  const el = document.getElementById(id);
  const log = seen.view.get('log');
  if (!el || !log) return;
  log.scrollTop = el.offsetTop - log.clientHeight / 2;
  el.focus({ preventScroll: true });
}

/** @param {import('./run.js').Seen} seen */
function steer(seen) {
  const { view, run } = seen;
  if (!seen.page.can?.steer) return null;
  const send = async (/** @type {Event} */ event) => {
    event.preventDefault();
    const field = document.getElementById('steer');
    if (!(field instanceof HTMLTextAreaElement) || !field.value.trim()) return;
    view.set('steering', true);
    const answer = told(await post(`/api/runs/${run}/steer`, { text: field.value.trim() }));
    if (answer.ok) field.value = '';
    view.note('steer said', answer.ok ? answer.words || 'The worker is told with its next step.' : answer.words);
    view.set('steering', false);
  };
  return h('form', { class: 'steer', 'data-testid': 'steer', on: { submit: send } }, [
    h('label', { for: 'steer' }, 'Send a message to the worker'),
    h(
      'div',
      { class: 'steer-row' },
      h('textarea', {
        id: 'steer',
        rows: 2,
        dir: 'auto',
        placeholder: 'Look at parser.rs first',
        'data-testid': 'steer-text',
      }),
      button(view.get('steering') ? 'Sending…' : 'Steer', () => {}, {
        type: 'submit',
        class: 'primary',
        disabled: Boolean(view.get('steering')),
        'data-testid': 'steer-button',
      }),
    ),
    view.get('steer said') ? h('p', { class: 'soft small', role: 'status' }, view.get('steer said')) : null,
  ]);
}

/** @param {import('./run.js').Seen} seen @param {any} goal */
function terms(seen, goal) {
  const watched =
    goal.interval === 0
      ? 'Nobody watches'
      : goal.interval === 1
        ? 'The critic looks after every step'
        : `The critic looks every ${goal.interval} steps`;
  return section('The goal', [
    goal.goal ? widget(textBox, { run: seen.run, digest: goal.goal, testid: 'goal-text' }, 'goal') : null,
    h('dl', { class: 'terms-list' }, [
      h('dt', null, 'Reached when'),
      h('dd', null, said(goal.criterion)),
      goal.policy ? [h('dt', null, 'Allowed'), h('dd', null, said(goal.policy))] : null,
      h('dt', null, 'Watched'),
      h('dd', null, watched),
      goal.in_place
        ? [h('dt', null, 'Where'), h('dd', null, 'in your own files: ', said(goal.root ?? '', { class: 'mono' }))]
        : null,
    ]),
  ]);
}

/** @param {any} goal */
function counts(goal) {
  const c = goal.counts ?? {};
  const one = (/** @type {string} */ word, /** @type {number} */ n, /** @type {string} */ tone) =>
    n > 0 ? h('span', { key: word, class: `tally rail-${tone}` }, h('strong', null, say.whole(n)), ` ${word}`) : null;
  return section(
    'So far',
    h('p', { class: 'tallies' }, [
      one('ok', c.ok, 'plain'),
      one('failed', c.err, 'plain'),
      one('blocked', c.blocked, 'plain'),
      one('denied', c.denied, 'plain'),
      one('unknown', c.unknown, 'plain'),
      one('progressing', c.progressing, 'progressing'),
      one('stuck', c.stuck, 'stuck'),
      one('achieved', c.achieved, 'achieved'),
      one('misled', c.misled, 'misled'),
      one('unreadable', c.error, 'error'),
      one('claims', c.claims, 'claim'),
      one('claims not met', c.failed_claims, 'error'),
    ]),
  );
}

/** @param {import('./run.js').Seen} seen @param {any} goal */
function folder(seen, goal) {
  const seenFolder = goal.folder;
  if (!seenFolder) return null;
  const open = seen.view.get('folder', false);
  const n = seenFolder.changes?.length ?? 0;
  return section(
    'Changed so far',
    n === 0
      ? h('p', { class: 'soft' }, 'Nothing was changed.')
      : [
          h(
            'ul',
            { class: 'file-list' },
            seenFolder.changes
              .slice(0, 20)
              .map((/** @type {any} */ c) =>
                h(
                  'li',
                  { key: c.path },
                  h('span', { class: `change is-${c.kind}` }, c.kind),
                  said(c.path, { class: 'mono' }),
                ),
              ),
            n > 20 ? h('li', { class: 'soft' }, `and ${n - 20} more`) : null,
          ),
          h(
            'details',
            {
              class: 'panel',
              open,
              'data-testid': 'diff-panel',
              on: { toggle: seen.view.toggled('folder', open) },
            },
            h('summary', null, 'Show the changes'),
            open ? widget(treeDiff, { run: seen.run, digest: seenFolder.diff }, `tree ${seenFolder.diff}`) : null,
          ),
        ],
  );
}
