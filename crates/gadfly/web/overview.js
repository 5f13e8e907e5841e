// The overview: what needs a person first, then what is running, then the rest, live. Which runs there are to show is
// kept by listing.js.

import { follow } from './api.js';
import { h } from './dom.js';
import * as say from './format.js';
import { Listing, MOST_ROWS } from './listing.js';
import { button, icon, link, notice, section } from './parts.js';
import { runCard, runTable } from './runlist.js';

/** Cards of runs that need somebody; more of them are in the list, and behind a button. */
const MOST_NEEDS = 12;
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

/** What was shown last, so that coming back shows it at once. @type {{data: any, listing: Listing} | undefined} */
let last;

/** @param {import('./app.js').Place} place @returns {import('./app.js').Page} */
export function openOverview(place) {
  const asked = new URLSearchParams(location.search);
  let words = asked.get('words') ?? '';
  const state = asked.get('state') ?? '';
  let listing = last?.listing.filter === state ? last.listing : new Listing(state);
  /** @type {any} */
  let data = last?.data;
  let stopped = false;
  /** How far the server's clock is ahead of this one. */
  let ahead = 0;
  /** @type {() => void} */
  let stop = () => {};
  /** @type {Map<string, string>} */
  let known = new Map();

  function start() {
    stop();
    listing.wake(draw);
    const query = listing.filter ? `?state=${encodeURIComponent(listing.filter)}` : '';
    stop = follow(`/api/live/overview${query}`, heard, place.connection);
  }

  /** @param {string} event @param {any} told */
  function heard(event, told) {
    if (event !== 'overview' || !told) return;
    announceChanges([...(told.runs ?? []), ...(told.further ?? [])]);
    data = told;
    ahead = told.now_ms ? told.now_ms - Date.now() : 0;
    listing.take(told);
    place.project(told);
    const failed = (told.runs ?? []).filter((/** @type {any} */ run) => run.state === 'failed').length;
    const needs = waiting() + failed;
    place.title(
      needs > 0 ? `${say.counted(needs, 'run')} need${needs === 1 ? 's' : ''} you` : told.project || 'Runs',
      needs > 0,
    );
    draw();
  }

  /** Runs that ask somebody something, however far back. */
  function waiting() {
    const counts = data?.counts ?? {};
    return (counts['waiting(question)'] ?? 0) + (counts['waiting(approval)'] ?? 0);
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

  /** What is chosen is in the address: it survives a reload and the way back. */
  function noteAddress() {
    const chosen = Object.entries({ state: listing.filter, words }).filter(([, value]) => value);
    const query = new URLSearchParams(chosen).toString();
    history.replaceState(null, '', query ? `/?${query}` : '/');
  }

  /** @param {string} state */
  function choose(state) {
    listing.rest();
    listing = new Listing(listing.filter === state ? '' : state);
    noteAddress();
    draw();
    start();
  }

  function draw() {
    if (stopped) return;
    last = { data, listing };
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
          value: words,
          // Escape empties the field without an `input`.
          on: { input: typed, search: typed },
        }),
        link('/start', [icon('plus'), 'Start'], { class: 'button primary', 'data-testid': 'start-link' }),
      ]),
    ]);
  }

  /** @param {any} event */
  function typed(event) {
    words = event.target.value;
    noteAddress();
    draw();
  }

  function body() {
    if (!listing.isTold) return [chips(), h('p', { class: 'soft looking' }, 'Looking…')];
    const all = listing.rows();
    const runs = words ? all.filter((/** @type {any} */ run) => matches(run, words.toLowerCase())) : all;
    return [chips(), runs.length === 0 ? nothing(all.length) : lists(runs), more(all.length)];
  }

  /** @param {any[]} runs */
  function lists(runs) {
    const now = Date.now() + ahead;
    if (listing.filter || words) return section('Found', runTable(runs, now), { 'aria-live': 'off' });
    const asking = runs.filter((run) => say.needsPerson(run) && run.state !== 'failed');
    const failed = runs.filter((run) => run.state === 'failed');
    const needs = [...asking, ...failed].slice(0, MOST_NEEDS);
    const running = runs.filter((run) => run.state === 'running');
    const cards = new Set([...needs, ...running]);
    const further = listing.further();
    const rest = runs.filter((run) => !cards.has(run) && !further.has(run.run));
    const beyond = waiting() - needs.filter((run) => run.state !== 'failed').length;
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
        ? section(needs.length + running.length > 0 ? 'Earlier runs' : 'All runs', runTable(rest, now))
        : null,
    ];
  }

  /** @param {number} n */
  function moreWaiting(n) {
    return h(
      'p',
      null,
      button(
        `${say.counted(n, 'more run', 'more runs')} wait${n === 1 ? 's' : ''} for an answer`,
        () => choose('waiting'),
        {
          class: 'quiet',
        },
      ),
    );
  }

  function chips() {
    /** @type {Map<string, number>} */
    const counts = new Map();
    for (const [label, n] of Object.entries(data.counts ?? {})) {
      const name = say.stateClass(label);
      counts.set(name, (counts.get(name) ?? 0) + Number(n));
    }
    const names = FILTERS.filter((name) => counts.has(name) || name === listing.filter);
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
          'aria-pressed': String(listing.filter === name),
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
    if (listing.filter) return h('p', { class: 'empty' }, 'No runs in this state.');
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
    if (listing.failure) return notice('bad', listing.failure, { role: 'alert' });
    if (!listing.hasMore) return null;
    if (loaded >= MOST_ROWS)
      return h('p', { class: 'soft' }, `The newest ${say.whole(MOST_ROWS)} are shown. Filter by state to see others.`);
    return h(
      'div',
      { class: 'more' },
      button(listing.fetching ? 'Fetching…' : 'Show older runs', () => listing.fetchMore(), {
        'data-testid': 'older',
        'aria-busy': String(listing.fetching),
        ref: watchEnd,
      }),
    );
  }

  /** Older runs come by themselves when the end of the list is in sight. @param {Element} el */
  function watchEnd(el) {
    new IntersectionObserver((seen, watcher) => {
      if (stopped || !el.isConnected) watcher.disconnect();
      else if (seen.some((one) => one.isIntersecting) && window.scrollY > 0) listing.fetchMore();
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
      listing.rest();
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
