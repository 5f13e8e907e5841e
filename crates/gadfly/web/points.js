// What is held against a draft, round by round, whatever the protocol calls it: findings with their places, or numbered
// items. Numbers and standings are the engine's; items carry no standing, so theirs is read off the rounds.

/**
 * @typedef {{number: number, text: string, since: number, standing: string, severity?: string, supported: boolean, finding?: any, review?: number}} Point
 * @typedef {{standing: Map<number, string>, fixed: {number: number, text: string}[], moved: Record<string, number>}} Standing
 */

/** @param {any} round @returns {Point[]} every point once, the unsupported ones last */
export function pointsOf(round) {
  /** @type {Point[]} */
  const points = [];
  const numbers = new Set();
  (round.reviews ?? []).forEach((/** @type {any} */ review, /** @type {number} */ at) => {
    for (const f of review.findings ?? []) {
      const supported = f.unsupported === undefined;
      points.push({
        number: f.number,
        text: f.says,
        since: f.since,
        standing: f.standing ?? 'new',
        severity: f.severity,
        supported,
        finding: f,
        review: at,
      });
      if (supported) numbers.add(f.number);
    }
  });
  for (const item of round.open ?? []) {
    if (numbers.has(item.number)) continue;
    numbers.add(item.number);
    points.push({ number: item.number, text: item.text, since: item.since, standing: '', supported: true });
  }
  return points.sort((a, b) => Number(b.supported) - Number(a.supported));
}

/** How every round's points stand against the rounds before, per node. @param {any[]} rounds @returns {Map<any, Standing>} */
export function standings(rounds) {
  const all = new Map();
  /** @type {Map<string, {open: Set<number>, texts: Map<number, string>}>} */
  const before = new Map();
  for (const round of rounds) {
    const past = before.get(round.node) ?? { open: new Set(), texts: new Map() };
    const points = pointsOf(round).filter((p) => p.supported);
    /** @type {Map<number, string>} */
    const standing = new Map();
    for (const p of points) {
      const seen = past.open.has(p.number)
        ? 'recurring'
        : past.texts.has(p.number)
          ? 'regressed'
          : p.since < round.round
            ? 'recurring'
            : 'new';
      standing.set(p.number, p.standing || seen);
      past.texts.set(p.number, p.text);
    }
    const gone = new Set([
      ...(round.addressed ?? []),
      ...(round.reviews ?? []).flatMap((/** @type {any} */ r) => r.fixed ?? []),
    ]);
    const fixed = [...gone]
      .filter((n) => !standing.has(n))
      .sort((a, b) => a - b)
      .map((number) => ({ number, text: past.texts.get(number) ?? '' }));
    if (round.verdict || round.reviews?.length) past.open = new Set(standing.keys());
    before.set(round.node, past);
    /** @type {Record<string, number>} */
    const moved = { fixed: fixed.length };
    for (const word of standing.values()) moved[word] = (moved[word] ?? 0) + 1;
    all.set(round, { standing, fixed, moved });
  }
  return all;
}
