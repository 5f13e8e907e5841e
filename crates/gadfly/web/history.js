// What is shown of a long run: the newest window, as the server sends it, and earlier ones as they were fetched. Bounded:
// what lies furthest from where somebody reads is let go, and the page shows the gap.

const MOST_STEPS = 3000;
const MOST_RAIL = 2000;
const MOST_ROUNDS = 300;

/** Entries by key, sorted by `order`. */
class Kept {
  /** @type {Map<string, any>} */
  #all = new Map();
  #key;
  #order;
  #most;
  #final;

  /** @param {(one: any) => string} key @param {(one: any) => number} order @param {number} most @param {boolean} final an entry never changes */
  constructor(key, order, most, final) {
    this.#key = key;
    this.#order = order;
    this.#most = most;
    this.#final = final;
  }

  /** @param {any[]} window @param {boolean} earlier somebody reads backwards, so the oldest are wanted */
  take(window, earlier) {
    for (const one of window) {
      const key = this.#key(one);
      // What never changes stays the same object, so that its description can be used again.
      if (!this.#final || !this.#all.has(key)) this.#all.set(key, one);
    }
    if (this.#all.size <= this.#most) return;
    const sorted = this.list();
    const drop = sorted.length - this.#most;
    const newest = Math.floor(this.#most / 4);
    // Reading backwards: what lies between the live window and the old ones goes first.
    const gone = earlier ? sorted.slice(sorted.length - drop - newest, sorted.length - newest) : sorted.slice(0, drop);
    for (const one of gone) this.#all.delete(this.#key(one));
  }

  list() {
    return [...this.#all.values()].sort((a, b) => this.#order(a) - this.#order(b));
  }
}

export class History {
  /** Where the next earlier window ends, as the server says it; null if there is none. @type {string | null} */
  before = null;
  #read = false;
  #steps = new Kept(
    (s) => String(s.step.n),
    (s) => s.step.n,
    MOST_STEPS,
    true,
  );
  #rail = new Kept(
    (r) => `${r.seq} ${r.what.event} ${r.after}`,
    (r) => r.seq,
    MOST_RAIL,
    true,
  );
  #rounds = new Kept(
    (r) => roundKey(r),
    (r) => r.place,
    MOST_ROUNDS,
    false,
  );
  /** @type {Map<string, number>} */
  #places = new Map();
  #first = 0;
  #last = 0;

  /** @param {any} page the newest window */
  take(page) {
    if (!this.#read) this.before = page.before ?? null;
    this.#add(page.state, false);
  }

  /** @param {any} page an earlier window */
  takeEarlier(page) {
    this.#read = true;
    this.before = page.before ?? null;
    this.#add(page.state, true);
  }

  /** @param {any} state @param {boolean} earlier */
  #add(state, earlier) {
    this.#steps.take(state.goal?.steps ?? [], earlier);
    this.#rail.take(state.goal?.rail ?? [], earlier);
    this.#rounds.take(this.#placed(state.rounds ?? [], earlier), earlier);
  }

  /** Rounds have no number of their own over all nodes: they are placed in the order they were told in. @param {any[]} rounds @param {boolean} earlier */
  #placed(rounds, earlier) {
    /** @type {Map<string, number>} */
    const times = new Map();
    const numbered = rounds.map((round) => {
      const again = times.get(roundKey(round)) ?? 0;
      times.set(roundKey(round), again + 1);
      return { ...round, again };
    });
    const fresh = numbered.filter((r) => !this.#places.has(roundKey(r)));
    if (earlier) fresh.reverse();
    for (const r of fresh) this.#places.set(roundKey(r), earlier ? --this.#first : ++this.#last);
    return numbered.map((r) => ({ ...r, place: this.#places.get(roundKey(r)) ?? 0 }));
  }

  /** @param {any} state the newest @returns {any} the same with everything that is kept */
  merged(state) {
    const goal = state.goal && { ...state.goal, steps: this.#steps.list(), rail: this.#rail.list() };
    return { ...state, rounds: this.#rounds.list(), ...(goal ? { goal } : {}) };
  }
}

/** A loop that starts over counts its rounds anew: `again` tells them apart. @param {any} round */
export function roundKey(round) {
  return `${round.node} ${round.round}${round.again ? ` ${round.again}` : ''}`;
}
