// Findings across rounds: a finding keeps its number, so every row is one finding and every column one round. Each cell
// says what it was in that round and jumps to it. Above, the score of each round.

import { h, said } from './dom.js';
import { findingId } from './findings.js';
import { roundKey } from './history.js';
import { button, section } from './parts.js';
import { pointsOf, standings } from './points.js';
import { cut, oneLine } from './text.js';

const COLUMN = 38;
const CHART = 78;
const MOST_ROWS = 200;
const ROWS_AT_ONCE = 12;

/** @type {Record<string, {sign: string, word: string}>} */
const CELLS = {
  new: { sign: '●', word: 'new' },
  recurring: { sign: '◆', word: 'recurring' },
  regressed: { sign: '↺', word: 'regressed' },
  unmatched: { sign: '?', word: 'unmatched: may be an earlier one or not' },
  fixed: { sign: '✓', word: 'fixed' },
  unsupported: { sign: '∅', word: 'unsupported' },
};

/** @param {import('./run.js').Seen} seen @param {any[]} rounds of one node */
export function lineage(seen, rounds) {
  const judged = rounds.filter((round) => round.reviews?.length);
  const rows = rowsOf(rounds);
  const scored = judged.some((round) => round.reviews.some((/** @type {any} */ r) => r.score));
  if (judged.length === 0) return null;
  const showsAll = seen.view.get('all findings', false);
  const shown = ordered(rows, judged).slice(0, showsAll ? MOST_ROWS : ROWS_AT_ONCE);
  if (rows.length === 0 && !scored)
    return section('Findings across rounds', h('p', { class: 'soft' }, 'No findings.'), {
      class: 'lineage',
    });
  return section(
    rows.length === 0 ? 'Score' : judged.length > 1 ? 'Findings across rounds' : 'Findings',
    [
      h(
        'div',
        { class: 'scroll-x', tabindex: '0', role: 'group', 'aria-label': 'Findings across rounds', ref: toNewest },
        h('table', { class: 'matrix' }, [
          h('thead', null, [
            scored
              ? h(
                  'tr',
                  null,
                  h('td', { class: 'matrix-label' }, h('span', { class: 'soft small' }, 'score')),
                  h('td', { colspan: judged.length, class: 'chart' }, scoreLine(judged)),
                  h('td', { class: 'rest' }),
                )
              : null,
            h(
              'tr',
              null,
              h('th', { scope: 'col', class: 'matrix-label' }, 'Finding'),
              judged.map((round) =>
                h('th', { scope: 'col', class: 'matrix-round', title: `Round ${round.round}` }, String(round.round)),
              ),
              h('td', { class: 'rest' }),
            ),
          ]),
          h(
            'tbody',
            null,
            shown.map((row) => matrixRow(seen, judged, row)),
          ),
        ]),
      ),
      scored ? scoreNames(judged) : null,
      rows.length > ROWS_AT_ONCE
        ? h(
            'p',
            null,
            button(
              showsAll ? 'Show fewer' : `Show all ${rows.length} findings`,
              () => seen.view.set('all findings', !showsAll),
              { class: 'small', 'data-testid': 'all-findings' },
            ),
          )
        : null,
      showsAll && rows.length > MOST_ROWS
        ? h('p', { class: 'soft small' }, `and ${rows.length - MOST_ROWS} more`)
        : null,
      rows.length > 0 ? legend(rows) : null,
    ],
    { class: 'lineage' },
  );
}

/** @typedef {{number: number, text: string, cells: Map<any, {word: string, review: number}>, unsupported: boolean}} Row */

/** @param {any[]} rounds @returns {Row[]} */
function rowsOf(rounds) {
  const known = standings(rounds);
  /** @type {Map<string, Row>} */
  const rows = new Map();
  for (const round of rounds) {
    const mine = known.get(round);
    for (const p of pointsOf(round)) {
      const key = p.supported ? String(p.number) : `u${p.number} ${p.text}`;
      const row = rows.get(key) ?? { number: p.number, text: p.text, cells: new Map(), unsupported: !p.supported };
      row.text = p.text;
      const word = p.supported ? (mine?.standing.get(p.number) ?? p.standing) : 'unsupported';
      if (!row.cells.has(round)) row.cells.set(round, { word, review: p.review ?? 0 });
      rows.set(key, row);
    }
    for (const { number } of mine?.fixed ?? [])
      rows.get(String(number))?.cells.set(round, { word: 'fixed', review: 0 });
  }
  return [...rows.values()].sort((a, b) => Number(a.unsupported) - Number(b.unsupported) || a.number - b.number);
}

/** @param {Element} el */
function toNewest(el) {
  requestAnimationFrame(() => (el.scrollLeft = el.scrollWidth));
}

/** Where there are many, what is open comes first, then the newest. @param {Row[]} rows @param {any[]} judged */
function ordered(rows, judged) {
  if (rows.length <= ROWS_AT_ONCE) return rows;
  return [...rows].sort((a, b) => Number(isOpen(b, judged)) - Number(isOpen(a, judged)) || b.number - a.number);
}

/** @param {Row} row @param {any[]} judged */
function isOpen(row, judged) {
  const word = row.cells.get(judged.at(-1))?.word;
  return word !== undefined && word !== 'fixed' && word !== 'unsupported';
}

/** @param {import('./run.js').Seen} seen @param {any[]} judged @param {Row} row */
function matrixRow(seen, judged, row) {
  return h(
    'tr',
    { key: `${row.number} ${row.unsupported ? row.text : ''}`, class: isOpen(row, judged) ? 'is-open' : 'is-closed' },
    [
      h(
        'th',
        { scope: 'row', class: 'matrix-label' },
        row.number > 0 ? h('span', { class: 'number' }, `#${row.number}`) : null,
        said(cut(oneLine(row.text), 110)),
      ),
      judged.map((round) => h('td', null, cell(seen, round, row))),
      h('td', { class: 'rest' }),
    ],
  );
}

/** @param {import('./run.js').Seen} seen @param {any} round @param {Row} row */
function cell(seen, round, row) {
  const found = row.cells.get(round);
  if (!found) return null;
  const shown = CELLS[found.word] ?? { sign: '●', word: found.word };
  const label = `${row.number > 0 ? `Finding ${row.number}` : 'A finding without a number'} in round ${round.round}: ${shown.word}`;
  return h(
    'button',
    {
      type: 'button',
      class: `cell is-${found.word}`,
      title: label,
      'aria-label': label,
      'data-testid': 'matrix-cell',
      'data-standing': found.word,
      'data-number': row.number,
      'data-round': round.round,
      on: { click: () => jump(seen, round, row.number, found.review) },
    },
    shown.sign,
  );
}

/** @param {import('./run.js').Seen} seen @param {any} round @param {number} number @param {number} review */
function jump(seen, round, number, review) {
  seen.view.set(`round ${roundKey(round)}`, true);
  // The round is drawn open with the next frame.
  requestAnimationFrame(() =>
    requestAnimationFrame(() => {
      const el =
        document.getElementById(findingId(round, number, review)) ?? document.getElementById(findingId(round, number));
      if (!el) return;
      const calm = matchMedia('(prefers-reduced-motion: reduce)').matches;
      el.scrollIntoView({ block: 'center', behavior: calm ? 'auto' : 'smooth' });
      el.focus({ preventScroll: true });
    }),
  );
}

/** @param {Row[]} rows */
function legend(rows) {
  const used = new Set(rows.flatMap((row) => [...row.cells.values()].map((c) => c.word)));
  const all = Object.entries(CELLS).filter(([name]) => used.has(name));
  return h(
    'p',
    { class: 'legend', 'aria-hidden': 'true' },
    all.map(([name, { sign }]) => h('span', null, h('span', { class: `cell is-${name}` }, sign), name)),
  );
}

/** Whose line is which, where there are several. @param {any[]} judged */
function scoreNames(judged) {
  const names = new Set(
    judged.flatMap((round) => round.reviews.filter((/** @type {any} */ r) => r.score).map(criticOf)),
  );
  if (names.size < 2) return null;
  return h(
    'p',
    { class: 'legend score-names' },
    [...names].map((name, n) => h('span', null, h('i', { class: n === 0 ? 'stroke' : 'stroke other' }), said(name))),
  );
}

/** @param {any} review */
function criticOf({ binding }) {
  return [binding?.critic, binding?.lens].filter(Boolean).join(', ');
}

/** One line per critic. In each round the highest score is labelled above its point, and the lowest below. @param {any[]} judged */
function scoreLine(judged) {
  const width = judged.length * COLUMN;
  const y = (/** @type {number} */ value) => CHART - 12 - (value / 100) * (CHART - 34);
  const x = (/** @type {number} */ i) => i * COLUMN + COLUMN / 2;
  /** @type {Map<string, {x: number, y: number, value: number, passes: boolean}[]>} */
  const lines = new Map();
  /** @type {{x: number, y: number, value: number}[]} */
  const labels = [];
  let threshold = 0;
  judged.forEach((round, i) => {
    const values = round.reviews.flatMap((/** @type {any} */ r) => (r.score ? [r.score.value] : []));
    if (values.length > 0) {
      const [most, least] = [Math.max(...values), Math.min(...values)];
      labels.push({ x: x(i), y: y(most) - 8, value: most });
      if (least < most) labels.push({ x: x(i), y: y(least) + 16, value: least });
    }
    for (const review of round.reviews) {
      const { score } = review;
      if (!score) continue;
      const critic = criticOf(review);
      threshold = score.threshold;
      lines.set(critic, [
        ...(lines.get(critic) ?? []),
        { x: x(i), y: y(score.value), value: score.value, passes: score.value >= score.threshold },
      ]);
    }
  });
  const label = [...lines].map(([critic, points]) => `${critic}: ${points.map((p) => p.value).join(', ')}`).join('; ');
  return h(
    'svg',
    {
      class: 'score-line',
      width,
      height: CHART,
      viewBox: `0 0 ${width} ${CHART}`,
      role: 'img',
      'aria-label': `Scores, ${threshold} needed. ${label}`,
    },
    [
      h('line', { class: 'threshold', x1: 0, x2: width, y1: y(threshold), y2: y(threshold) }),
      [...lines.values()].map((points, n) => [
        h('polyline', { class: n === 0 ? 'line' : 'line other', points: points.map((p) => `${p.x},${p.y}`).join(' ') }),
        points.map((p) => h('circle', { class: p.passes ? 'passes' : 'fails', cx: p.x, cy: p.y, r: n === 0 ? 4 : 3 })),
      ]),
      labels.map((l) => h('text', { x: l.x, y: l.y, 'text-anchor': 'middle' }, String(l.value))),
    ],
  );
}
