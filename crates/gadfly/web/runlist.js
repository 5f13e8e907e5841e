// Runs as cards, which can be read from a distance, and as rows of a table.

import { h, said } from './dom.js';
import * as say from './format.js';
import { badge, icon, link } from './parts.js';

/** Descriptions of rows that did not change are used again. @type {WeakMap<object, {minute: number, row: any}>} */
const rows = new WeakMap();

/** @param {any} run @param {number} now @param {boolean} [brief] without what it brought so far */
export function runCard(run, now, brief = false) {
  const shown = say.state(run);
  return h(
    'article',
    {
      key: run.run,
      class: `card run-card tone-${shown.tone}`,
      'data-testid': 'run-row',
      'data-run': run.run,
      'data-state': run.state,
    },
    [
      h('div', { class: 'card-top' }, [
        badge(shown, { class: 'large', 'data-testid': 'state' }),
        brief ? null : h('span', { class: 'soft' }, kindWords(run)),
        h('span', { class: 'grow' }),
        h('span', { class: 'soft nowrap', title: say.moment(run.updated_ms) }, say.age(run.updated_ms, now)),
      ]),
      h('h3', null, link(`/runs/${run.run}`, said(run.title || run.run), { class: 'stretched', 'data-walk': '' })),
      brief ? null : progressBar(run),
      brief
        ? null
        : h('div', { class: 'card-facts' }, verdictFact(run), h('span', { class: 'grow' }), h('span', null, cost(run))),
      h('div', { class: 'card-facts' }, brief ? h('span', { class: 'soft' }, kindWords(run)) : null, pair(run)),
      run.state === 'running' && run.driven_here === false
        ? h('p', { class: 'soft small' }, 'driven by another process')
        : null,
    ],
  );
}

/** @param {any[]} runs @param {number} now */
export function runTable(runs, now) {
  const minute = Math.floor(now / 60_000);
  const heads = ['State', 'Run', 'Progress', 'Verdict', 'Worker and critic', 'Cost', 'Age'];
  return h('table', { class: 'runs', role: 'table' }, [
    h(
      'thead',
      { role: 'rowgroup' },
      h(
        'tr',
        { role: 'row' },
        heads.map((head) => h('th', { scope: 'col', role: 'columnheader' }, head)),
      ),
    ),
    h(
      'tbody',
      { role: 'rowgroup' },
      runs.map((run) => {
        const before = rows.get(run);
        if (before?.minute === minute) return before.row;
        const row = runRow(run, now);
        rows.set(run, { minute, row });
        return row;
      }),
    ),
  ]);
}

/** @param {any} run @param {number} now */
function runRow(run, now) {
  const cell = (/** @type {string} */ name, /** @type {any} */ content, props = {}) =>
    h('td', { class: `c-${name}`, role: 'cell', ...props }, content);
  return h(
    'tr',
    { key: run.run, role: 'row', 'data-testid': 'run-row', 'data-run': run.run, 'data-state': run.state },
    [
      cell('state', badge(say.state(run), { 'data-testid': 'state' })),
      cell('run', [
        link(`/runs/${run.run}`, said(run.title || run.run), { class: 'stretched', 'data-walk': '' }),
        h('span', { class: 'soft small sub' }, [kindWords(run), ' · ', h('span', { class: 'mono' }, run.run)]),
      ]),
      cell('progress', progress(run)),
      cell('verdict', verdictFact(run)),
      cell('pair', pair(run)),
      cell('cost', cost(run)),
      cell('age', say.age(run.updated_ms, now), { title: say.moment(run.updated_ms) }),
    ],
  );
}

/** @param {any} run */
export function kindWords(run) {
  if (run.kind === 'goal') return 'goal';
  if (run.kind === 'pipeline') return 'pipeline';
  return run.kind === 'review' ? `review · ${run.protocol}` : run.protocol;
}

/** @param {any} run @returns {{n: number, of: number, word: string}} */
export function progressOf(run) {
  if (run.kind === 'goal' || run.steps_max > 0) return { n: run.steps ?? 0, of: run.steps_max ?? 0, word: 'step' };
  return { n: run.rounds, of: run.rounds_max, word: run.kind === 'pipeline' ? 'overall round' : 'round' };
}

/** @param {any} run */
function progress(run) {
  const { n, of, word } = progressOf(run);
  if (n === 0 && run.kind === 'review') return '';
  return `${word} ${say.whole(n)}${of > 0 ? `/${say.whole(of)}` : ''}`;
}

/** @param {any} run */
function progressBar(run) {
  const { n, of, word } = progressOf(run);
  const label = of > 0 ? `${word} ${say.whole(n)} of ${say.whole(of)}` : `${word} ${say.whole(n)}`;
  const pips = of > 0 && of <= 12;
  return h('div', { class: 'progress' }, [
    h('span', { class: 'progress-words' }, label),
    pips
      ? h(
          'span',
          { class: 'pips', 'aria-hidden': 'true' },
          Array.from({ length: of }, (_, i) => h('i', { class: i < n - 1 ? 'past' : i === n - 1 ? 'now' : '' })),
        )
      : of > 0
        ? h(
            'span',
            { class: 'track', 'aria-hidden': 'true' },
            h('i', { style: { width: `${Math.min(100, (100 * n) / of)}%` } }),
          )
        : null,
  ]);
}

/** @param {any} run */
function verdictFact(run) {
  const shown = say.verdict(run.last_verdict);
  const open = run.open_items > 0 ? say.counted(run.open_items, 'open finding') : '';
  if (!shown && !open) return null;
  return h(
    'span',
    { class: 'verdict-fact' },
    shown
      ? h(
          'span',
          { class: `word tone-${run.overruled ? 'warn' : shown.tone}` },
          icon(shown.icon),
          run.overruled ? 'overruled' : shown.word,
        )
      : null,
    open ? h('span', { class: 'soft' }, open) : null,
  );
}

/** Whoever judges: mostly one. @param {any} run @returns {string[]} */
export function critics(run) {
  if (run.seats?.length > 1) return run.seats;
  return run.critic ? [run.critic] : [];
}

/** @param {any} run */
function pair(run) {
  if (!run.worker && !run.critic) return null;
  return h(
    'span',
    { class: 'pair' },
    run.worker ? said(run.worker) : null,
    run.worker && run.critic ? icon('arrow', 'judged by') : null,
    run.critic ? said(critics(run).join(', ')) : null,
  );
}

/** @param {any} run */
function cost(run) {
  return `${run.cost_unknown ? '≥ ' : ''}${say.money(say.nanos(run.cost))}`;
}
