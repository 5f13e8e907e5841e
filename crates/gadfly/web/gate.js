// A gate: the score a project needs, what it has, and how that adds up.

import { h, said } from './dom.js';
import { badge, section } from './parts.js';

/** @param {any} report */
export function gate(report) {
  const open = (report.blocking ?? []).length === 0;
  const overall = report.aggregate?.overall;
  const shown = open
    ? { word: 'open', icon: 'check', tone: /** @type {const} */ ('good') }
    : { word: 'closed', icon: 'ban', tone: /** @type {const} */ ('bad') };
  const needs = `needs ${report.gate.overall}${report.gate.each ? ` and ${report.gate.each} of every component` : ''}`;
  return section(
    'Gate',
    [
      h('div', { class: 'gate-top' }, [
        h('span', { class: `gate-score tone-${shown.tone}` }, overall === undefined ? '–' : hundredths(overall)),
        h(
          'span',
          { class: 'gate-words' },
          h(
            'span',
            null,
            said(report.gate.name, { tag: 'strong' }),
            ' ',
            badge(shown, { 'data-testid': 'gate', 'data-open': String(open) }),
          ),
          h('span', { class: 'soft' }, needs),
        ),
      ]),
      h(
        'ul',
        { class: 'components' },
        (report.aggregate?.components ?? []).map((/** @type {any} */ c) => component(c, report.gate)),
      ),
      report.blocking?.length
        ? h(
            'ul',
            { class: 'plain-list blocking' },
            report.blocking.map((/** @type {string} */ line) => h('li', null, said(line))),
          )
        : null,
      report.missing?.length
        ? h('p', { class: 'soft small' }, 'Left out of the sum: ', said(report.missing.join('; ')))
        : null,
      report.aggregate?.arithmetic?.length
        ? h(
            'details',
            { class: 'small-details' },
            h('summary', null, 'How it adds up'),
            h('pre', { class: 'arithmetic', tabindex: '0' }, report.aggregate.arithmetic.join('\n')),
          )
        : null,
    ],
    { class: 'gate' },
  );
}

/** @param {any} c @param {any} gate */
function component(c, gate) {
  const score = c.score === undefined ? undefined : c.score / 100;
  const low = score !== undefined && gate.each && score < gate.each;
  return h('li', { key: c.name, class: low ? 'is-low' : '' }, [
    h('span', { class: 'component-name' }, said(c.name), h('span', { class: 'soft small' }, ` ${c.points / 100}%`)),
    h(
      'span',
      { class: 'component-score' },
      score === undefined ? 'not judged' : hundredths(c.score).replace(/\.00$/, ''),
    ),
    h('span', { class: 'track', 'aria-hidden': 'true' }, h('i', { style: { width: `${score ?? 0}%` } })),
  ]);
}

/** @param {number} n */
function hundredths(n) {
  return (n / 100).toFixed(2);
}
