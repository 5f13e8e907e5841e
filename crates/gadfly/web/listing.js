// The runs the overview has: the newest page as the server sends it, what is under way further back, and older runs as
// they were fetched. What does not come by itself is asked for again whenever the live part moves, so that no run is lost
// or stands as it no longer stands. Each run once.

import { get, trouble } from './api.js';

/** More rows than this are not kept on one page. */
export const MOST_ROWS = 2000;
/** Runs that were under way and are kept by name. */
const MOST_LEFT = 50;
/** At most so often is asked again. */
const REST_MS = 1000;
const AFTER_TROUBLE_MS = 5000;

export class Listing {
  failure = '';
  fetching = false;
  /** The server has told something. */
  isTold = false;
  #filter;
  /** @type {() => void} */
  #changed = () => {};
  /** @type {any[]} */
  #newest = [];
  /** @type {any[]} */
  #further = [];
  /** @type {any[]} */
  #older = [];
  /** Runs that fell off the newest page since older ones were asked for last. @type {any[]} */
  #fallen = [];
  /** Runs that were under way further back, and no longer are. @type {any[]} */
  #left = [];
  /** Where the newest page ends; null if nothing is behind it. @type {string | null} */
  #newestEnd = null;
  /** Where the older runs end; null if none were fetched. @type {string | null} */
  #olderEnd = null;
  #hasMore = false;
  /** What the live part was, as far as it tells that older rows may have changed. */
  #stamp = '';
  #askedAt = 0;
  /** @type {number | undefined} */
  #timer;
  #asking = Promise.resolve();
  #isAwake = false;

  /** @param {string} filter a state, or nothing */
  constructor(filter) {
    this.#filter = filter;
  }

  get filter() {
    return this.#filter;
  }

  /** Begins to keep itself fresh. @param {() => void} changed */
  wake(changed) {
    this.#isAwake = true;
    this.#changed = changed;
    this.#stamp = '';
  }

  rest() {
    this.#isAwake = false;
    this.#changed = () => {};
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** There are runs behind the last one. */
  get hasMore() {
    return this.#olderEnd === null ? this.#newestEnd !== null : this.#hasMore;
  }

  /** Runs in the order of the list, newest first. */
  rows() {
    /** @type {Map<string, any>} */
    const all = new Map();
    // What comes by itself is newer than what was asked for.
    for (const run of [...this.#newest, ...this.#further, ...this.#older, ...this.#left]) {
      if (!all.has(run.run)) all.set(run.run, run);
    }
    const sorted = [...all.values()].sort((a, b) => b.created_ms - a.created_ms);
    if (sorted.length <= MOST_ROWS) return sorted;
    const further = this.further();
    return sorted.filter((run, at) => at < MOST_ROWS || further.has(run.run));
  }

  /** Runs that are here only because they are under way. @returns {Set<string>} */
  further() {
    const listed = new Set([...this.#newest, ...this.#older].map((run) => run.run));
    return new Set(this.#further.map((run) => run.run).filter((run) => !listed.has(run)));
  }

  /** @param {any} told what the server sends by itself */
  take(told) {
    this.isTold = true;
    const newest = told.runs ?? [];
    const further = told.further ?? [];
    const here = new Set([...newest, ...further].map((/** @type {any} */ run) => run.run));
    const last = newest.at(-1);
    if (this.#olderEnd !== null || this.fetching) {
      const fell = this.#newest.filter((run) => !here.has(run.run) && last && run.created_ms <= last.created_ms);
      this.#older = [...fell, ...this.#older];
      this.#fallen.push(...fell);
    }
    const left = [...this.#further.filter((run) => !here.has(run.run)), ...this.#left];
    this.#left = left.filter((run) => !here.has(run.run)).slice(0, MOST_LEFT);
    this.#newest = newest;
    this.#further = further;
    this.#newestEnd = told.more ? told.next : null;
    const stamp = JSON.stringify([
      told.counts,
      newest.map((/** @type {any} */ r) => r.run),
      further.map((/** @type {any} */ r) => r.run),
    ]);
    if (stamp === this.#stamp) return;
    this.#stamp = stamp;
    this.#askAgainSoon();
  }

  /** The page behind the last one. */
  async fetchMore() {
    const end = this.#newestEnd;
    if (this.fetching || !this.hasMore) return;
    this.fetching = true;
    this.#changed();
    const stamp = this.#stamp;
    await this.#inTurn(async () => {
      const reply = await get(this.#address({ before: this.#olderEnd ?? end }));
      if (reply.status === 200) {
        this.#older = [...this.#older, ...(reply.body.runs ?? [])];
        this.#olderEnd = reply.body.last ?? this.#olderEnd;
        this.#hasMore = Boolean(reply.body.more);
      }
      this.failure = reply.status === 200 ? '' : trouble(reply);
    });
    this.fetching = false;
    if (stamp !== this.#stamp) this.#askAgainSoon();
    this.#changed();
  }

  #askAgainSoon() {
    if (!this.#isAwake || this.#timer !== undefined || (this.#olderEnd === null && this.#left.length === 0)) return;
    const rest = this.#askedAt + REST_MS - Date.now();
    this.#timer = setTimeout(() => this.#askAgain(), Math.max(rest, 0));
  }

  async #askAgain() {
    let ok = true;
    await this.#inTurn(async () => {
      this.#timer = undefined;
      this.#askedAt = Date.now();
      ok = (await this.#olderAgain()) && (await this.#leftAgain());
    });
    if (!ok && this.#isAwake && this.#timer === undefined)
      this.#timer = setTimeout(() => this.#askAgain(), AFTER_TROUBLE_MS);
    this.#changed();
  }

  async #olderAgain() {
    this.#fallen = [];
    if (this.#olderEnd === null || this.#newestEnd === null) {
      this.#older = [];
      this.#olderEnd = null;
      return true;
    }
    const reply = await get(this.#address({ before: this.#newestEnd, to: this.#olderEnd }));
    if (reply.status !== 200) return false;
    this.#olderEnd = reply.body.last ?? null;
    this.#hasMore = Boolean(reply.body.more);
    this.#older = this.#olderEnd === null ? [] : [...this.#fallen, ...(reply.body.runs ?? [])];
    return true;
  }

  async #leftAgain() {
    const listed = new Set([...this.#newest, ...this.#further, ...this.#older].map((run) => run.run));
    this.#left = this.#left.filter((run) => !listed.has(run.run));
    if (this.#left.length === 0) return true;
    const asked = this.#left.map((run) => run.run);
    const reply = await get(`/api/runs?${new URLSearchParams({ named: asked.join(',') })}`);
    const since = this.#left.filter((run) => !asked.includes(run.run));
    if (reply.status === 200) this.#left = [...since, ...(reply.body.runs ?? [])];
    return reply.status === 200;
  }

  /** @param {Record<string, string | null>} query */
  #address(query) {
    const given = Object.entries({ ...query, state: this.#filter }).filter(([, value]) => value);
    return `/api/runs?${new URLSearchParams(/** @type {[string, string][]} */ (given))}`;
  }

  /** One request after the other: each begins where the one before ended. @param {() => Promise<void>} ask */
  #inTurn(ask) {
    this.#asking = this.#asking.then(ask, ask);
    return this.#asking;
  }
}
