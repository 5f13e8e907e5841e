// The head of a run's page: what it is, how it stands, what happens now, what is used of its caps, who takes part, and
// what can be done to it.

import { actions } from './actions.js';
import { h, said } from './dom.js';
import * as say from './format.js';
import { meters } from './meters.js';
import { badge, icon, link } from './parts.js';
import { critics, kindWords } from './runlist.js';

/** So long after the last record nothing is said about it. */
const QUIET_MS = 3000;

/** @param {import('./run.js').Seen} seen */
export function runHead(seen) {
  const { page, state } = seen;
  const summary = state.summary;
  const shown = say.state(summary);
  return h('header', { class: `run-head tone-${shown.tone}` }, [
    h('p', { class: 'crumbs' }, [
      link('/', [icon('back'), 'Runs']),
      h('span', null, kindWords({ ...summary, kind: page.kind })),
      h('span', { class: 'mono' }, summary.run),
      h('span', { title: say.moment(summary.created_ms) }, `started ${say.age(summary.created_ms, seen.now)}`),
    ]),
    h('div', { class: 'run-title' }, h('h1', null, said(summary.title || summary.run)), actions(seen)),
    h('div', { class: 'standing' }, [
      badge(shown, { class: 'huge', 'data-testid': 'state', 'data-state': summary.state }),
      h('p', { class: 'now', 'data-testid': 'now' }, now(seen), sinceWhen(seen)),
      people(seen),
    ]),
    meters(seen),
  ]);
}

/** For how long nothing new was told of a run that is under way. @param {import('./run.js').Seen} seen */
function sinceWhen({ page, state, now }) {
  const passed = now - state.summary.updated_ms;
  if (state.summary.state !== 'running' || passed < QUIET_MS) return null;
  const words =
    page.kind === 'goal' || page.kind === 'pipeline'
      ? `last news ${say.age(state.summary.updated_ms, now)}`
      : `under way for ${say.clock(passed)}`;
  return h('span', { class: 'soft', 'data-testid': 'since' }, ` · ${words}`);
}

/** What happens now, or how it ended, in a sentence. @param {import('./run.js').Seen} seen @returns {any} */
function now(seen) {
  const { page, state } = seen;
  const summary = state.summary;
  if (summary.state === 'running') return [wish(page), running(seen)];
  if (summary.state === 'interrupted') return 'Nobody drives it any more. Nothing is lost: resume it to go on.';
  const outcome = state.outcome;
  if (outcome === 'aborted') return `It was cancelled ${say.age(summary.updated_ms, seen.now)}.`;
  if (typeof outcome !== 'object' || outcome === null) return '';
  if (outcome.approved) return approved(page.kind, outcome.approved, state);
  if (outcome.halted)
    return [`${capital(summary.says.body ?? outcome.halted.reason)}. `, leftOpen(outcome.halted.open)];
  if (outcome.rejected) return leftOpen(outcome.rejected.open);
  if (outcome.unverified) return [said(outcome.unverified.reason), unseen(outcome.unverified.unseen)];
  if (outcome.failed) return [said(outcome.failed.failure?.message ?? ''), ' Resume it once that is mended.'];
  if (outcome.out_of_budget) return shortage(outcome.out_of_budget.shortage);
  if (outcome.waiting) return waiting(outcome.waiting, page);
  return '';
}

/** What somebody asked of it that is not done yet. @param {any} page */
function wish(page) {
  if (page.wish !== 'pause' && page.wish !== 'cancel') return null;
  const words =
    page.wish === 'pause' ? 'It pauses once its calls under way are done. ' : 'It was cancelled and is about to end. ';
  return h('strong', { 'data-testid': 'wish' }, words);
}

/** @param {import('./run.js').Seen} seen */
function running({ page, state }) {
  const asked = (page.questions ?? []).filter((/** @type {any} */ q) => !q.answered);
  if (asked.length > 0) return 'It asks you something, below.';
  const { worker, critic, rounds_max: most } = state.summary;
  if (page.kind === 'goal') {
    const step = state.goal?.used?.steps ?? 0;
    return [said(worker ?? 'the worker'), ` works: ${say.counted(step, 'step')} so far.`];
  }
  if (page.kind === 'pipeline') {
    const at = (state.pipeline?.agents ?? [])
      .filter((/** @type {any} */ a) => a.status === 'working')
      .map((/** @type {any} */ a) => a.agent);
    return at.length > 0
      ? [at.length === 1 ? 'At work: ' : `${at.length} at work: `, said(at.join(', '))]
      : 'Looking who can work next.';
  }
  const round = state.rounds.at(-1);
  if (!round) return 'It begins.';
  const count = `Round ${round.round}${most ? ` of ${most}` : ''}: `;
  if (!round.draft)
    return [count, said(worker ?? 'the worker'), page.kind === 'review' ? ' is asked.' : ' writes the draft.'];
  if (!round.verdict) return [count, said(critic ?? 'the critic'), ' reads the draft.'];
  return [count, round.verdict === 'rejected' ? 'rejected; the next round begins.' : `${round.verdict}.`];
}

/** @param {string} kind @param {any} approved @param {any} state */
function approved(kind, approved, state) {
  if (approved.overruled)
    return 'The last verdict was a rejection. It rested only on new requirements and was overruled.';
  if (state.result) return said(state.result);
  if (kind === 'goal') {
    const steps = say.counted(state.goal?.used?.steps ?? 0, 'step');
    const found = state.goal?.rail.findLast((/** @type {any} */ e) => e.what.event === 'goal_verified')?.what.detail;
    return byPerson(found) ? `A person said so after ${steps}; nothing verified it.` : `Verified after ${steps}.`;
  }
  if (kind === 'review') return 'Nothing was found that blocks.';
  return `After ${say.counted(state.summary.rounds, 'round')}.`;
}

/** As the record has it. @param {string | undefined} detail */
function byPerson(detail) {
  return /^a person says\b/.test(detail ?? '');
}

/** @param {any} waiting @param {any} page */
function waiting(waiting, page) {
  if (waiting === 'paused') return 'It starts nothing new until it is resumed.';
  if (waiting.quota) {
    const until = waiting.quota.until_ms ? ` Until ${say.moment(waiting.quota.until_ms)}.` : '';
    return [said(waiting.quota.message), until];
  }
  const open = (page.questions ?? []).some((/** @type {any} */ q) => !q.answered);
  return open ? 'It goes on with your answer.' : 'It is answered: resume it to go on.';
}

/** @param {string[] | undefined} open */
function leftOpen(open) {
  return open?.length ? `${say.counted(open.length, 'finding')} left open.` : '';
}

/** @param {string[] | undefined} what */
function unseen(what) {
  return what?.length
    ? [
        ' Not seen by any critic: ',
        said(what.slice(0, 5).join(', ')),
        what.length > 5 ? ` and ${what.length - 5} more` : '',
        '.',
      ]
    : null;
}

/** @param {any} shortage */
function shortage(shortage) {
  const amount = (/** @type {number} */ n) =>
    shortage?.cap === 'money' ? say.money(say.nanos(n)) : shortage?.cap === 'time' ? say.clock(n) : say.whole(n);
  if (!shortage) return '';
  const name =
    { money: 'money', time: 'time', tokens: 'tokens', calls: 'calls', steps: 'steps', turns: 'turns' }[
      /** @type {string} */ (shortage.cap)
    ] ?? shortage.cap;
  return `The cap on ${name} is ${amount(shortage.limit)}; ${amount(shortage.committed)} are used. Resume it with a higher one.`;
}

/** @param {string} text */
function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Whoever worked on it: mostly one; the summary knows the last. @param {import('./run.js').Seen} seen @returns {string[]} */
export function workers({ page, state }) {
  const { worker } = state.summary;
  if (!worker) return [];
  const judges = new Set(critics(state.summary));
  for (const round of state.rounds) {
    for (const { binding } of round.reviews ?? []) if (binding?.critic) judges.add(binding.critic);
  }
  const worked = (page.shares ?? []).map((/** @type {any} */ share) => share.agent);
  const others = worked.filter((/** @type {string} */ name) => name !== worker && !judges.has(name));
  return [...others, worker];
}

/** Who takes part, with models and where their briefs go. @param {import('./run.js').Seen} seen */
function people(seen) {
  const { page, state } = seen;
  const { worker, critic } = state.summary;
  if (!worker && !critic) return null;
  // In a pipeline everybody has a row of their own.
  const who = page.kind === 'pipeline' || !worker ? [worker].filter(Boolean) : workers(seen);
  return h(
    'div',
    { class: 'people' },
    who.map((/** @type {string} */ name) => person('worker', name, page, state)),
    worker && critic ? icon('arrow', 'is judged by') : null,
    critics(state.summary).map((name) => person('critic', name, page, state)),
  );
}

/** @param {string} role @param {string} name @param {any} page @param {any} state */
function person(role, name, page, state) {
  const card = page.plan?.agents?.[name];
  const model = state.models?.[name] ?? card?.model;
  const about = [card?.kind, model, card?.sends_to].filter(Boolean).join(' · ');
  return h('span', { class: 'person' }, [
    h('span', { class: 'role' }, role),
    said(name, { tag: 'strong' }),
    about ? said(about, { class: 'soft small' }) : null,
  ]);
}
