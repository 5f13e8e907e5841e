// The overview: what needs a person first, then what is running, then the rest, live. Older runs are fetched as they are
// asked for.

import { follow, get, trouble } from './api.js';
import { h } from './dom.js';
import * as say from './format.js';
import { button, icon, link, notice, section } from './parts.js';
import { runCard, runTable } from './runlist.js';

/** More rows than this are not kept on one page. */
const MOST_ROWS = 2000;
const AGES_MS = 10_000;
/** In this order, whatever else there is behind them. */
const FILTERS = [
  'running',
  'waiting',
  'failed',
  'interrupted',
  'unverified',
  'halted',
  'rejected',
  'out_of_budget',
  'approved',
  'aborted',
];

/** What was shown last, so that coming back shows it at once. @type {{data: any, older: any[], next: any, state: string} | undefined} */
let last;

/** @param {import('./app.js').Place} place @returns {import('./app.js').Page} */
export function openOverview(place) {
  let filter = last?.state ?? '';
  let words = '';
  /** @type {any} */
  let data = last?.data;
  /** @type {any[]} */
  let older = last?.older ?? [];
  /** @type {string | null | undefined} */
  let next = last?.next;
  let fetching = false;
  let failure = '';
  let stopped = false;
  /** How far the server's clock is ahead of this one. */
  let ahead = 0;
  /** @type {() => void} */
  let stop = () => {};
  /** @type {Map<string, string>} */
  let known = new Map();

  function start() {
    stop();
    const query = filter ? `?state=${encodeURIComponent(filter)}` : '';
    stop = follow(`/api/live/overview${query}`, heard, place.connection);
  }

  /** @param {string} event @param {any} told */
  function heard(event, told) {
    if (event !== 'overview' || !told) return;
    announceChanges(told.runs ?? []);
    data = told;
    ahead = told.now_ms ? told.now_ms - Date.now() : 0;
    if (older.length === 0) next = told.more ? told.next : null;
    place.project(told);
    const waiting = (told.runs ?? []).filter(say.needsPerson).length;
    place.title(
      waiting > 0 ? `${say.counted(waiting, 'run')} need${waiting === 1 ? 's' : ''} you` : told.project || 'Runs',
      waiting > 0,
    );
    draw();
  }

  /** @param {any[]} runs */
  function announceChanges(runs) {
    const now = new Map(runs.map((run) => [run.run, run.state]));
    for (const run of runs) {
      const before = known.get(run.run);
      if (before && before !== run.state) place.announce(`${run.title}: ${say.state(run).word}`);
    }
    known = now;
  }

  /** @param {string} state */
  function choose(state) {
    filter = filter === state ? '' : state;
    data = data && { ...data, runs: [], more: false };
    older = [];
    next = null;
    failure = '';
    draw();
    start();
  }

  async function fetchOlder() {
    if (fetching || !next) return;
    fetching = true;
    draw();
    const asked = filter;
    const query = new URLSearchParams({ before: next });
    if (filter) query.set('state', filter);
    const reply = await get(`/api/runs?${query}`);
    fetching = false;
    if (stopped || asked !== filter) return;
    if (reply.status === 200) {
      older = older.concat(reply.body.runs ?? []);
      next = reply.body.more ? reply.body.next : null;
      failure = '';
    } else failure = trouble(reply);
    draw();
  }

  function draw() {
    if (stopped) return;
    last = { data, older, next, state: filter };
    place.main.show(h('div', { class: 'overview' }, heading(), data ? body() : h('p', { class: 'soft' }, 'Looking…')));
  }

  function heading() {
    return h('div', { class: 'page-head' }, [
      h('h1', null, 'Runs'),
      h('div', { class: 'head-tools' }, [
        h('label', { class: 'unseen', for: 'filter' }, 'Filter by text'),
        h('input', {
          id: 'filter',
          class: 'filter',
          type: 'search',
          placeholder: 'Filter by text',
          'data-filter': '',
          'data-testid': 'filter',
          autocomplete: 'off',
          on: { input: (/** @type {any} */ e) => ((words = e.target.value.toLowerCase()), draw()) },
        }),
        link('/start', [icon('plus'), 'Start'], { class: 'button primary', 'data-testid': 'start-link' }),
      ]),
    ]);
  }

  function body() {
    const here = new Set(data.runs.map((/** @type {any} */ run) => run.run));
    const all = data.runs.concat(older.filter((run) => !here.has(run.run))).slice(0, MOST_ROWS);
    const runs = words ? all.filter((/** @type {any} */ run) => matches(run, words)) : all;
    return [chips(), runs.length === 0 ? nothing(all.length) : lists(runs), more(all.length)];
  }

  /** @param {any[]} runs */
  function lists(runs) {
    const now = Date.now() + ahead;
    if (filter || words) return section('Found', runTable(runs, now), { 'aria-live': 'off' });
    const needs = runs.filter(say.needsPerson);
    const running = runs.filter((run) => run.state === 'running');
    const rest = runs.filter((run) => !say.needsPerson(run) && run.state !== 'running');
    const beyond = waitingBeyond(needs);
    return [
      needs.length > 0 || beyond > 0
        ? section(
            'Needs you',
            [
              h(
                'div',
                { class: 'cards brief' },
                needs.map((run) => runCard(run, now, true)),
              ),
              beyond > 0 ? moreWaiting(beyond) : null,
            ],
            { class: 'needs', 'data-testid': 'needs-you' },
          )
        : null,
      running.length > 0
        ? section(
            'Running',
            h(
              'div',
              { class: 'cards' },
              running.map((run) => runCard(run, now)),
            ),
            { 'data-testid': 'running' },
          )
        : null,
      rest.length > 0
        ? section(needs.length + running.length > 0 ? 'The rest' : 'All runs', runTable(rest, now))
        : null,
    ];
  }

  /** Questions of runs that are too old for this page. @param {any[]} needs */
  function waitingBeyond(needs) {
    const counts = data.counts ?? {};
    const all = (counts['waiting(question)'] ?? 0) + (counts['waiting(approval)'] ?? 0);
    return all - needs.filter((run) => run.state !== 'failed').length;
  }

  /** @param {number} n */
  function moreWaiting(n) {
    return h(
      'p',
      null,
      button(`${say.counted(n, 'older run')} wait${n === 1 ? 's' : ''} for an answer`, () => choose('waiting'), {
        class: 'quiet',
      }),
    );
  }

  function chips() {
    /** @type {Map<string, number>} */
    const counts = new Map();
    for (const [label, n] of Object.entries(data.counts ?? {})) {
      const name = say.stateClass(label);
      counts.set(name, (counts.get(name) ?? 0) + Number(n));
    }
    const names = FILTERS.filter((name) => counts.has(name) || name === filter);
    const total = [...counts.values()].reduce((a, b) => a + b, 0);
    const chip = (
      /** @type {string} */ name,
      /** @type {any} */ label,
      /** @type {number} */ n,
      /** @type {string} */ tone,
    ) =>
      h(
        'button',
        {
          key: name,
          type: 'button',
          class: `chip tone-${tone}`,
          'aria-pressed': String(filter === name),
          'data-testid': 'state-chip',
          'data-state': name,
          on: { click: () => choose(name) },
        },
        label,
        h('span', { class: 'count' }, say.short(n)),
      );
    return h('div', { class: 'chips', role: 'group', 'aria-label': 'Filter by state' }, [
      chip('', 'all', total, 'calm'),
      names.map((name) => {
        const shown = say.stateFilter(name);
        return chip(name, [icon(shown.icon), shown.word], counts.get(name) ?? 0, shown.tone);
      }),
    ]);
  }

  /** @param {number} loaded */
  function nothing(loaded) {
    if (words && loaded > 0) return h('p', { class: 'empty' }, 'Nothing among the runs shown here has these words.');
    if (filter) return h('p', { class: 'empty' }, 'No run stands so.');
    return h('div', { class: 'empty first' }, [
      h('h2', null, 'No runs yet'),
      h('p', null, [
        'A loop gives a task to a worker and its draft to a critic. Start one here, or in a terminal: ',
        h('code', null, 'gadfly run'),
        ' and ',
        h('code', null, 'gadfly demo'),
        '.',
      ]),
      link('/start', 'Start a loop or a goal', { class: 'button primary' }),
    ]);
  }

  /** @param {number} loaded */
  function more(loaded) {
    if (failure) return notice('bad', failure, { role: 'alert' });
    if (!next) return null;
    if (loaded >= MOST_ROWS)
      return h('p', { class: 'soft' }, `The newest ${say.whole(MOST_ROWS)} are shown. Filter by state to see others.`);
    return h(
      'div',
      { class: 'more' },
      button(fetching ? 'Fetching…' : 'Show older runs', fetchOlder, {
        'data-testid': 'older',
        'aria-busy': String(fetching),
        ref: watchEnd,
      }),
    );
  }

  /** Older runs come by themselves when the end of the list is in sight. @param {Element} el */
  function watchEnd(el) {
    new IntersectionObserver((seen, watcher) => {
      if (stopped || !el.isConnected) watcher.disconnect();
      else if (seen.some((one) => one.isIntersecting) && window.scrollY > 0) fetchOlder();
    }).observe(el);
  }

  place.title('Runs');
  draw();
  start();
  // Ages go on although nothing happens.
  const clock = setInterval(draw, AGES_MS);
  return {
    stop() {
      stopped = true;
      clearInterval(clock);
      stop();
    },
  };
}

/** @param {any} run @param {string} words */
function matches(run, words) {
  const all = [
    run.run,
    run.title,
    run.protocol,
    run.kind,
    run.state,
    run.worker,
    run.critic,
    run.worker_model,
    run.critic_model,
  ];
  return words.split(/\s+/).every((word) =>
    all.some((text) =>
      String(text ?? '')
        .toLowerCase()
        .includes(word),
    ),
  );
}
