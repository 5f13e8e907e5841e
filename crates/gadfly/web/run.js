// The page of one run: follows it, keeps what is open and chosen on the page, and puts the parts together by the run's
// kind. Decides nothing about the run.

import { follow, get, trouble } from './api.js';
import { h, said } from './dom.js';
import * as say from './format.js';
import { facts } from './facts.js';
import { goalBody } from './goal.js';
import { History } from './history.js';
import { link, notice } from './parts.js';
import { pipelineBody } from './pipeline.js';
import { questions } from './questions.js';
import { loopBody } from './rounds.js';
import { runHead } from './runhead.js';

/**
 * What the parts of a run's page are given.
 * @typedef {object} Seen
 * @property {string} run
 * @property {any} page the newest the server told
 * @property {number} now by the server's clock
 * @property {any} state its run state, with what was fetched of earlier times
 * @property {View} view
 * @property {() => void} redraw
 * @property {(() => void) | undefined} earlier fetches the window before, if there is one
 * @property {boolean} fetching
 * @property {(path: string) => void} go
 */

/** How often times go on: of a run that is under way, and of any other. */
const TICK_MS = 1000;
const AGES_MS = 10_000;

/** What is open and chosen on this page; lives as long as the page. */
export class View {
  /** @type {Map<string, any>} */
  #values = new Map();
  #changed;

  /** @param {() => void} changed */
  constructor(changed) {
    this.#changed = changed;
  }

  /** @param {string} key @param {any} [otherwise] */
  get(key, otherwise) {
    return this.#values.has(key) ? this.#values.get(key) : otherwise;
  }

  /** @param {string} key @param {any} value */
  set(key, value) {
    if (this.#values.get(key) === value && this.#values.has(key)) return;
    this.#values.set(key, value);
    this.#changed();
  }

  /**
   * For a `details` that is drawn open or closed: only what a person makes of it is a choice.
   * @param {string} key
   * @param {boolean} drawn
   */
  toggled(key, drawn) {
    return (/** @type {any} */ event) => {
      if (event.target.open !== drawn) this.set(key, event.target.open);
    };
  }

  /** Without drawing. @param {string} key @param {any} value */
  note(key, value) {
    this.#values.set(key, value);
  }
}

/** @param {import('./app.js').Place} place @returns {import('./app.js').Page} */
export function openRun(place) {
  const run = place.params[0] ?? '';
  /** @type {any} */
  let page;
  let isGone = false;
  let stopped = false;
  let drawing = false;
  let fetching = false;
  let failure = '';
  /** How far the server's clock is ahead of this one. */
  let ahead = 0;
  let drawnAt = 0;
  const past = new History();
  const view = new View(draw);

  /** @param {string} event @param {any} told */
  function heard(event, told) {
    if (event === 'gone') {
      isGone = true;
    } else if (event === 'page' && told?.state) {
      announceChanges(page, told);
      page = told;
      ahead = told.now_ms ? told.now_ms - Date.now() : 0;
      past.take(told);
    } else return;
    draw();
  }

  /** @param {any} before @param {any} now */
  function announceChanges(before, now) {
    const summary = now.state.summary;
    const waits = now.questions?.some((/** @type {any} */ q) => !q.answered);
    place.title(summary.title || run, waits);
    if (!before) return;
    if (before.state.summary.state !== summary.state)
      place.announce(`The run is ${say.state(summary).word}.`);
    const asked = (now.questions?.length ?? 0) > (before.questions?.length ?? 0);
    if (asked) place.announce('The run asks you a question.');
    const judged = (/** @type {any} */ p) => p.state.rounds.filter((/** @type {any} */ r) => r.verdict).length;
    const last = now.state.rounds.at(-1);
    if (judged(now) > judged(before) && last?.verdict) place.announce(`Round ${last.round}: ${last.verdict}.`);
  }

  async function fetchEarlier() {
    const before = past.before;
    if (fetching || before === null) return;
    fetching = true;
    draw();
    const reply = await get(`/api/runs/${run}/page?before=${encodeURIComponent(before)}`);
    fetching = false;
    if (stopped) return;
    if (reply.status === 200) past.takeEarlier(reply.body);
    failure = reply.status === 200 ? '' : trouble(reply);
    draw();
  }

  function draw() {
    // Several changes within one frame are drawn once; a hidden tab has no frames.
    if (drawing || stopped) return;
    drawing = true;
    const next = () => {
      drawing = false;
      drawnAt = Date.now();
      if (!stopped) place.main.show(content());
    };
    if (document.hidden) setTimeout(next, 0);
    else requestAnimationFrame(next);
  }

  function content() {
    if (isGone) {
      return h('div', { class: 'locked' }, [
        h('h1', null, 'There is no such run here'),
        h('p', null, ['No run of this project has the id ', h('code', null, run), '. It may have been removed.']),
        link('/', 'All runs', { class: 'button primary' }),
      ]);
    }
    if (!page) return h('p', { class: 'soft looking' }, 'Looking…');
    /** @type {Seen} */
    const seen = {
      run,
      page,
      now: Date.now() + ahead,
      state: past.merged(page.state),
      view,
      redraw: draw,
      earlier: past.before === null ? undefined : fetchEarlier,
      fetching,
      go: place.go,
    };
    const body = { goal: goalBody, pipeline: pipelineBody }[/** @type {string} */ (page.kind)] ?? loopBody;
    /** @type {{main: any, aside: any, top?: any}} */
    const { main, aside, top } = body(seen);
    return h('div', { class: `run kind-${page.kind}`, 'data-testid': 'run', 'data-kind': page.kind }, [
      runHead(seen),
      failure ? notice('bad', failure, { role: 'alert' }) : null,
      page.trouble && !page.driven ? notice('bad', said(page.trouble), { 'data-testid': 'trouble' }) : null,
      questions(seen),
      top,
      h(
        'div',
        { class: 'columns' },
        h('div', { class: 'column-main' }, main),
        h('aside', { class: 'column-aside', 'aria-label': 'About this run' }, aside, facts(seen)),
      ),
    ]);
  }

  place.title(run);
  draw();
  const stop = follow(`/api/live/runs/${run}`, heard, place.connection);
  // Times go on although nothing happens.
  const clock = setInterval(() => {
    const isUnderWay = page?.state.summary.state === 'running';
    if (!document.hidden && Date.now() - drawnAt >= (isUnderWay ? TICK_MS : AGES_MS) - TICK_MS / 2) draw();
  }, TICK_MS);
  return {
    stop() {
      stopped = true;
      clearInterval(clock);
      stop();
    },
  };
}
