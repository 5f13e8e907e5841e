// The rail: what the critic, the verification and people said beside the steps of a goal. The words are the server's, with
// each entry; only how a tone looks is decided here.

import { h, said, widget } from './dom.js';
import * as say from './format.js';
import { icon } from './parts.js';
import { shortText } from './texts.js';

/** How each tone of a description looks: the colours are in `goal.css`. @type {Record<string, {colour: string, icon: string}>} */
const LOOKS = {
  plain: { colour: 'plain', icon: 'speak' },
  heading: { colour: 'person', icon: 'run' },
  good: { colour: 'verified', icon: 'check' },
  bad: { colour: 'error', icon: 'cross' },
  warning: { colour: 'stuck', icon: 'alert' },
  notice: { colour: 'stuck', icon: 'alert' },
  doubt: { colour: 'stuck', icon: 'doubt' },
  paused: { colour: 'stuck', icon: 'pause' },
  next: { colour: 'plain', icon: 'speak' },
  claim: { colour: 'claim', icon: 'flag' },
  person: { colour: 'person', icon: 'speak' },
  working: { colour: 'claim', icon: 'run' },
  progressing: { colour: 'progressing', icon: 'arrow' },
  stuck: { colour: 'stuck', icon: 'pause' },
  achieved: { colour: 'achieved', icon: 'flag' },
  misled: { colour: 'misled', icon: 'return' },
  error: { colour: 'error', icon: 'alert' },
};

/** @param {any} entry @returns {{colour: string, icon: string}} */
export function lookOf(entry) {
  return LOOKS[entry.says.tone] ?? { colour: 'plain', icon: 'dot' };
}

/** @param {import('./run.js').Seen} seen @param {any} entry */
export function railEntry(seen, entry) {
  const { what, says } = entry;
  const look = lookOf(entry);
  return h(
    'div',
    {
      class: `rail rail-${look.colour}`,
      'data-testid': 'rail-entry',
      'data-verdict': what.event === 'watched' ? what.verdict : '',
      'data-event': what.event,
      'data-walk': '',
      tabindex: '-1',
      title: say.moment(entry.at_ms),
    },
    [
      h('span', { class: 'rail-head' }, icon(look.icon), said(says.head)),
      h('span', { class: 'rail-text' }, text(seen, says)),
    ],
  );
}

/** The stored text it stands for, fetched, or its own words; then the note. @param {import('./run.js').Seen} seen @param {any} says */
function text(seen, says) {
  const own = says.body ?? '';
  return [
    says.text
      ? widget(shortText, { run: seen.run, digest: says.text, otherwise: own }, `text ${says.text}`)
      : said(own),
    says.note ? h('span', { class: 'soft' }, [' (', said(says.note), ')']) : null,
    (says.below ?? []).map((/** @type {any} */ line) => h('span', { class: 'soft' }, [' · ', said(line.text)])),
  ];
}
