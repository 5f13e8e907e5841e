// The rail: what the critic, the verification and people said beside the steps of a goal, in words and in the colour of
// its verdict.

import { h, said, widget } from './dom.js';
import * as say from './format.js';
import { icon } from './parts.js';
import { shortText } from './texts.js';

/** @type {Record<string, string>} */
const VERDICT_ICONS = { progressing: 'arrow', stuck: 'pause', achieved: 'flag', misled: 'return', error: 'alert' };
/** @type {Record<string, {tone: string, icon: string, word: string}>} */
const CHANGE_SEEN = {
  nothing_wrong: { tone: 'verified', icon: 'eye', word: 'critic:looked at the whole change' },
  objection: { tone: 'error', icon: 'alert', word: 'critic:objects to the change' },
  not_all: { tone: 'error', icon: 'alert', word: 'the critic did not look at the whole change' },
};
/** @type {Record<string, string>} */
const NUDGES = {
  only_talk: 'use a tool, claim completion or give up: talking alone does nothing',
  look_first: 'look at your last change before you claim completion',
  stuck: 'step back and try another way',
  misled: 'come back to the goal',
  go_on: 'go on, claim completion or give up',
};

/** @param {any} what @returns {{tone: string, icon: string, word: string}} */
export function verdictOf(what) {
  switch (what.event) {
    case 'watched':
      return { tone: what.verdict, icon: VERDICT_ICONS[what.verdict] ?? 'eye', word: `critic:${what.verdict}` };
    case 'critic_off':
      return { tone: 'error', icon: 'alert', word: 'critic:off' };
    case 'claimed':
      return { tone: 'claim', icon: 'flag', word: what.by === 'critic' ? 'claim by the critic' : 'claim' };
    case 'verification_failed':
      return {
        tone: 'error',
        icon: 'cross',
        word: `verify:fail${what.in_a_row > 1 ? ` (${what.in_a_row} in a row)` : ''}`,
      };
    case 'goal_verified':
      return { tone: 'verified', icon: 'check', word: 'verified' };
    case 'nudged':
      return { tone: 'plain', icon: 'speak', word: 'told' };
    case 'steered':
      return {
        tone: 'person',
        icon: 'speak',
        word: what.by === 'terminal' || what.by === 'dashboard' ? 'you' : String(what.by),
      };
    case 'protected_changed':
      return { tone: 'error', icon: 'shield', word: 'protected files changed' };
    case 'change_looked_at':
      return CHANGE_SEEN[what.seen] ?? CHANGE_SEEN.not_all;
    case 'tool_disabled':
      return { tone: 'stuck', icon: 'ban', word: 'tool off' };
    case 'outcome_unknown':
      return { tone: 'stuck', icon: 'doubt', word: 'unknown outcome' };
    case 'goal_paused':
      return { tone: 'stuck', icon: 'pause', word: 'paused' };
    case 'gave_up':
      return { tone: 'error', icon: 'cross', word: 'gave up' };
    case 'last_words':
      return { tone: 'plain', icon: 'speak', word: 'last words' };
    case 'resumed':
      return { tone: 'person', icon: 'run', word: 'resumed' };
    case 'pause_requested':
      return { tone: 'person', icon: 'pause', word: 'pausing' };
    case 'cancel_requested':
      return { tone: 'error', icon: 'ban', word: 'cancelled' };
    default:
      return { tone: 'plain', icon: 'dot', word: String(what.event ?? '').replaceAll('_', ' ') };
  }
}

/** @param {import('./run.js').Seen} seen @param {any} entry */
export function railEntry(seen, entry) {
  const { what } = entry;
  const shown = verdictOf(what);
  return h(
    'div',
    {
      class: `rail rail-${shown.tone}`,
      'data-testid': 'rail-entry',
      'data-verdict': what.event === 'watched' ? what.verdict : '',
      'data-event': what.event,
      'data-walk': '',
      tabindex: '-1',
      title: say.moment(entry.at_ms),
    },
    [
      h('span', { class: 'rail-head' }, icon(shown.icon), said(shown.word)),
      h('span', { class: 'rail-text' }, text(seen, what)),
    ],
  );
}

/** @param {import('./run.js').Seen} seen @param {any} what @returns {any} */
function text(seen, what) {
  const stored = (/** @type {string} */ digest, otherwise = '') =>
    widget(shortText, { run: seen.run, digest, otherwise }, `text ${digest}`);
  switch (what.event) {
    case 'watched':
      return [
        h('span', { class: 'soft' }, what.from === what.to ? `step ${what.to} ` : `steps ${what.from}–${what.to} `),
        said(what.reason),
      ];
    case 'critic_off':
      return [said(what.critic), ' watches no more: ', said(what.because)];
    case 'claimed':
      return said(what.rationale);
    case 'verification_failed':
    case 'goal_verified':
      return said(what.detail);
    case 'nudged':
      return stored(what.text, NUDGES[what.why] ?? '');
    case 'steered':
      return [stored(what.text), h('span', { class: 'soft' }, ' (steered)')];
    case 'protected_changed':
      return said((what.paths ?? []).join(', '));
    case 'change_looked_at':
      return said(what.reason);
    case 'tool_disabled':
      return [said(what.tool), ': ', said(what.because)];
    case 'outcome_unknown':
      return [`[${what.n}] `, said(what.tool), ': the process died in the middle of it; ', said(what.handling)];
    case 'goal_paused':
      return said(what.because);
    case 'gave_up':
      return [
        said(what.reason),
        what.learned?.trim() ? [h('span', { class: 'soft' }, ' · learned: '), said(what.learned)] : null,
      ];
    case 'last_words':
      return [
        what.text ? stored(what.text) : 'nothing',
        h('span', { class: 'soft' }, [' (stopped: ', said(what.because), ')']),
      ];
    case 'pause_requested':
      return 'after the calls under way';
    default:
      return '';
  }
}
