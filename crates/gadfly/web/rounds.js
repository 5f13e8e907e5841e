// The rounds of a loop or a review as a timeline, the newest open: what was made, what changed, what the verification
// and each critic said.

import { draftDiff, treeDiff } from './diff.js';
import { h, said, widget } from './dom.js';
import { findingList, fixedLine } from './findings.js';
import * as say from './format.js';
import { roundKey } from './history.js';
import { lineage } from './lineage.js';
import { isManifest, manifest } from './manifest.js';
import { pointsOf, standings } from './points.js';
import { badge, button, icon, notice, section } from './parts.js';
import { review } from './review.js';
import { workers } from './runhead.js';
import { textBox } from './texts.js';

/** @param {import('./run.js').Seen} seen */
export function loopBody(seen) {
  return { main: timeline(seen, seen.state.rounds, 'Rounds'), aside: lineage(seen, seen.state.rounds) };
}

/** @param {import('./run.js').Seen} seen @param {any[]} rounds @param {string} title */
export function timeline(seen, rounds, title) {
  const known = standings(rounds);
  const tried = (seen.state.tried ?? []).map((/** @type {any} */ ran) =>
    verifyLine(ran, seen, 'before the first call'),
  );
  const all = rounds.map((_, i) => roundCard(seen, rounds, i, known));
  return section(
    seen.page.kind === 'review' ? 'The review' : title,
    [
      rounds.length === 0
        ? h('p', { class: 'empty' }, 'No round yet.')
        : h('ol', { class: 'timeline', reversed: true }, all.reverse()),
      seen.earlier
        ? h(
            'div',
            { class: 'more' },
            button(seen.fetching ? 'Fetching…' : 'Earlier rounds', seen.earlier, { 'data-testid': 'earlier' }),
          )
        : null,
      unread(seen),
      tried.length > 0 ? h('div', { class: 'tried' }, tried) : null,
    ],
    { class: 'rounds' },
  );
}

/** What critics replied that was no review, word for word. @param {import('./run.js').Seen} seen */
function unread({ run, page, view }) {
  const all = page.unread ?? [];
  if (all.length === 0) return null;
  return section(
    'Replies that could not be read as a review',
    all.map((/** @type {any} */ one, /** @type {number} */ i) => {
      const key = `unread ${i} ${one.reply}`;
      const open = view.get(key, false);
      return h(
        'details',
        { key, class: 'panel', open, on: { toggle: view.toggled(key, open) }, 'data-testid': 'unread' },
        h('summary', null, 'What ', said(one.agent), ` replied${all.length > 1 ? `, ${i + 1} of ${all.length}` : ''}`),
        open ? widget(textBox, { run, digest: one.reply, plain: true, testid: 'reply' }, 'text') : null,
      );
    }),
    { level: 'h3' },
  );
}

/** @param {import('./run.js').Seen} seen @param {any[]} rounds @param {number} i @param {Map<any, any>} known */
function roundCard(seen, rounds, i, known) {
  const round = rounds[i];
  const before = rounds.slice(0, i).findLast((r) => r.node === round.node);
  const key = roundKey(round);
  const isNewest = rounds.slice(i + 1).every((r) => r.node !== round.node);
  const open = seen.view.get(`round ${key}`, isNewest);
  const shown = round.overruled
    ? { word: 'rejection overruled', icon: 'check', tone: /** @type {const} */ ('warn') }
    : say.verdict(round.verdict);
  const tone = shown?.tone ?? (seen.state.summary.state === 'running' && isNewest ? 'run' : 'calm');
  return h(
    'li',
    {
      key,
      class: `round tone-${tone}`,
      id: roundId(round),
      'data-testid': 'round',
      'data-round': round.round,
      'data-node': round.node,
      'data-verdict': round.verdict ?? '',
    },
    [
      h('span', { class: 'bead', 'aria-hidden': 'true' }, icon(shown?.icon ?? (tone === 'run' ? 'pen' : 'dot'))),
      h('details', { open, on: { toggle: seen.view.toggled(`round ${key}`, open) } }, [
        h('summary', { 'data-walk': '' }, [
          h('span', { class: 'round-title' }, `Round ${round.round}`, round.again ? ` (${round.again + 1})` : ''),
          shown ? badge(shown) : h('span', { class: 'soft' }, unjudged(round, tone === 'run')),
          scores(round),
          movedWords(known.get(round)),
        ]),
        open
          ? h(
              'div',
              { class: 'round-body' },
              made(seen, round, before, isNewest),
              verified(round, seen),
              judged(seen, round, known),
              after(round),
            )
          : null,
      ]),
    ],
  );
}

/** @param {any} round @param {boolean} live */
function unjudged(round, live) {
  if (round.draft) return live ? 'not judged yet' : 'not judged';
  return live ? 'the draft is being written' : 'no draft';
}

/** @param {any} round */
export function roundId(round) {
  return `round-${roundKey(round).replace(/[^a-z0-9]/gi, '-')}`;
}

/** @param {any} round */
function scores(round) {
  const all = (round.reviews ?? []).filter((/** @type {any} */ r) => r.score);
  return all.map((/** @type {any} */ r) =>
    h(
      'span',
      { class: 'score' },
      String(r.score.value),
      h('span', { class: 'soft' }, ` · ${r.score.threshold} needed`),
    ),
  );
}

/** @param {any} known of one round */
function movedWords(known) {
  if (!known) return null;
  const { moved } = known;
  const words = [
    ['fixed', moved.fixed],
    ['recurring', moved.recurring],
    ['regressed', moved.regressed],
    ['new', moved.new],
    ['unmatched', moved.unmatched],
  ].filter(([, n]) => Number(n) > 0);
  return h(
    'span',
    { class: 'moved' },
    words.map(([word, n]) => h('span', { class: `moved-${word}` }, `${n} ${word}`)),
  );
}

/** @param {import('./run.js').Seen} seen @param {any} round @param {any} before @param {boolean} isNewest */
function made(seen, round, before, isNewest) {
  if (!round.draft) return null;
  const { run, view } = seen;
  const key = roundKey(round);
  const isTree = Boolean(round.diff);
  const isFiles = !isTree && isManifest(round);
  const canCompare = !isTree && before?.draft && before.draft !== round.draft;
  const who = seen.page.kind === 'pipeline' ? [say.agentOf(round.node)] : workers(seen);
  // Which of several made it is not in a round.
  const worker = who.length === 1 ? who[0] : 'The worker';
  const panel = (
    /** @type {string} */ name,
    /** @type {boolean} */ start,
    /** @type {string} */ title,
    /** @type {() => any} */ content,
  ) => {
    const open = view.get(`${name} ${key}`, start);
    return h(
      'details',
      {
        class: 'panel',
        open,
        on: { toggle: view.toggled(`${name} ${key}`, open) },
        'data-testid': `${name}-panel`,
      },
      h('summary', null, title),
      open ? content() : null,
    );
  };
  return h('div', { class: 'made' }, [
    h(
      'p',
      { class: 'made-line' },
      icon('pen'),
      h(
        'span',
        null,
        round.given
          ? seen.page.kind === 'review'
            ? 'What was reviewed'
            : 'You brought this draft'
          : [said(worker), isTree ? ' changed the folder' : isFiles ? ' made these files' : ' made this draft'],
        isTree || isFiles ? '' : h('span', { class: 'soft' }, ` · ${say.bytes(round.bytes)}`),
      ),
    ),
    !isTree && before?.draft === round.draft
      ? h('p', { class: 'soft' }, `The draft is the same as in round ${before.round}.`)
      : null,
    isFiles
      ? panel('draft', isNewest, canCompare ? `The files, against round ${before.round}` : 'The files', () =>
          widget(manifest, { run, digest: round.draft, before: canCompare ? before.draft : undefined }, 'files'),
        )
      : null,
    canCompare && !isFiles
      ? panel('diff', isNewest, `Changes since round ${before.round}`, () =>
          widget(draftDiff, { run, before: before.draft, after: round.draft }, 'diff'),
        )
      : null,
    isTree
      ? [
          panel('diff', isNewest, 'Changes since the beginning', () =>
            widget(treeDiff, { run, digest: round.diff }, 'diff'),
          ),
          before?.diff && before.diff !== round.diff
            ? panel('step', false, `How they differ from those of round ${before.round}`, () =>
                widget(draftDiff, { run, before: before.diff, after: round.diff }, 'step'),
              )
            : null,
        ]
      : isFiles
        ? null
        : panel('draft', isNewest && !canCompare, 'The draft', () =>
            widget(textBox, { run, digest: round.draft, testid: 'draft' }, 'draft'),
          ),
    round.changed_unasked?.length
      ? notice('warn', ['Changed although nothing asked for it: ', said(round.changed_unasked.join(', '))])
      : null,
  ]);
}

/** @param {any} round @param {import('./run.js').Seen} seen */
function verified(round, seen) {
  return (round.verify ?? []).map((/** @type {any} */ ran) => verifyLine(ran, seen));
}

/** @param {any} ran @param {import('./run.js').Seen} seen @param {string} [when] */
export function verifyLine(ran, seen, when = '') {
  const runs = ran.verified?.runs ?? [];
  const ends = runs.map((/** @type {any} */ one) => ended(one.end)).join(', ');
  const last = runs.at(-1);
  const key = `verify ${last?.output} ${ran.command}`;
  const open = seen.view.get(key, false);
  return h(
    'details',
    {
      class: `verify tone-${ran.green ? 'good' : 'bad'}`,
      'data-testid': 'verify',
      'data-green': String(Boolean(ran.green)),
      open,
      on: { toggle: seen.view.toggled(key, open) },
    },
    [
      h(
        'summary',
        null,
        icon(ran.green ? 'check' : 'cross', ran.green ? 'passed' : 'failed'),
        said(ran.command, { class: 'mono' }),
        h('span', { class: 'soft' }, [ends, last ? ` in ${say.took(last.took_ms)}` : '', when ? ` · ${when}` : '']),
      ),
      open && last
        ? widget(textBox, { run: seen.run, digest: last.output, plain: true, testid: 'output' }, 'output')
        : null,
      ran.verified?.changed?.length
        ? h('p', { class: 'soft' }, 'It changed files, which were put back: ', said(ran.verified.changed.join(', ')))
        : null,
    ],
  );
}

/** @param {any} end */
function ended(end) {
  if (end === 'timed_out') return 'timed out';
  if (end?.code !== undefined) return `exit code ${end.code}`;
  return end?.signal !== undefined ? `signal ${end.signal}` : '';
}

/** @param {import('./run.js').Seen} seen @param {any} round @param {Map<any, any>} known */
function judged(seen, round, known) {
  const reviews = round.reviews ?? [];
  if (reviews.length === 0) return null;
  const points = pointsOf(round);
  const mine = known.get(round);
  const alone = points.filter((p) => !p.finding);
  return [
    reviews.map((/** @type {any} */ one, /** @type {number} */ i) => review(seen, round, one, i)),
    findingList(round, alone, mine?.standing),
    mine?.fixed.length
      ? h(
          'ul',
          { class: 'findings fixed-list' },
          mine.fixed.map((/** @type {any} */ f) => fixedLine(round, f)),
        )
      : null,
  ];
}

/** @param {any} round @returns {string[]} */
function notes(round) {
  return (round.notes ?? []).filter((/** @type {string} */ note) => !isSaid(note, round));
}

/** Whether the reason of an approval says this already. @param {string} note @param {any} round */
function isSaid(note, round) {
  const words = note.trim().replace(/\s+/g, ' ');
  const says = (/** @type {any} */ r) => words && r.verdict === 'approved' && r.reason?.includes(words);
  return (round.reviews ?? []).some(says);
}

/** What followed from the round. @param {any} round */
function after(round) {
  const lines = [
    ...(round.overruled
      ? [
          notice(
            'warn',
            'The critic rejected this draft only for new requirements. The rejection was overruled: approved, but not by the critic.',
          ),
        ]
      : []),
    ...(round.stalls ?? []).map((/** @type {string} */ stall) => notice('warn', STALLS[stall] ?? stall)),
    ...notes(round).map((/** @type {string} */ note) =>
      h('p', { class: 'note' }, icon('speak'), h('span', null, 'Note: ', said(note))),
    ),
    ...(round.escalations ?? []).map((/** @type {any} */ e) =>
      h(
        'p',
        { class: 'note' },
        icon('flag'),
        h('span', null, 'Handed to ', said(e.to, { tag: 'strong' }), ': ', said(e.because)),
      ),
    ),
    ...(round.routes ?? []).map((/** @type {any} */ r) =>
      h(
        'p',
        { class: 'note' },
        icon('arrow'),
        h('span', null, 'On to ', said(r.route, { tag: 'strong' }), ': ', said(r.because)),
      ),
    ),
    ...(round.deferred ?? []).map((/** @type {any} */ d) =>
      notice('warn', ['Put off: ', said(d.criterion), ', because ', said(d.reason), ' (', said(d.by), ')']),
    ),
  ];
  const result = round.result
    ? said(round.result.replace(/^=+\s*|\s*=+$/g, ''), { tag: 'p', class: 'result-line' })
    : null;
  return lines.length > 0 || result ? h('div', { class: 'after' }, lines, result) : null;
}

/** @type {Record<string, string>} */
const STALLS = {
  plateau: 'Plateau: two rounds in a row fixed no open finding.',
  oscillation: 'Oscillation: an earlier draft, or a finding that was fixed, has come back.',
  churn: 'Churn: every round brings only new findings about text that did not change.',
};
