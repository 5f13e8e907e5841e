// One finding: how much it weighs, what it rests on, where, what is wrong, what to do, and the evidence. One that does
// not hold is shown as such.

import { h, said } from './dom.js';
import * as say from './format.js';
import { roundKey } from './history.js';
import { icon } from './parts.js';

/** @type {Record<string, {icon: string, tone: string}>} */
const SEVERITIES = {
  fail: { icon: 'cross', tone: 'bad' },
  risk: { icon: 'alert', tone: 'warn' },
  nit: { icon: 'dot', tone: 'calm' },
};

/** @param {any} round @param {number} number @param {number} [review] */
export function findingId(round, number, review = 0) {
  return `finding-${roundKey(round).replace(/[^a-z0-9]/gi, '-')}-${number}-${review}`;
}

/** More findings of one review are counted. */
const MOST = 200;

/** @param {any} round @param {import('./points.js').Point[]} points @param {Map<number, string>} [standing] */
export function findingList(round, points, standing) {
  if (points.length === 0) return null;
  return [
    h(
      'ul',
      { class: 'findings' },
      points.slice(0, MOST).map((p) => findingCard(round, p, standing?.get(p.number))),
    ),
    points.length > MOST
      ? h(
          'p',
          { class: 'soft' },
          `and ${say.whole(points.length - MOST)} more; `,
          h('code', null, 'gadfly show'),
          ' has them all',
        )
      : null,
  ];
}

/** @param {any} round @param {import('./points.js').Point} point @param {string} [standing] */
function findingCard(round, point, standing) {
  const f = point.finding ?? {};
  const weight = SEVERITIES[f.severity] ?? { icon: 'dot', tone: 'calm' };
  const word = point.supported ? (standing ?? point.standing) : 'unsupported';
  const fix = (f.fix ?? '').trim();
  return h(
    'li',
    {
      key: `${point.number} ${point.review ?? ''} ${point.supported}`,
      id: findingId(round, point.number, point.review),
      class: `finding tone-${weight.tone}${point.supported ? '' : ' unsupported'}`,
      tabindex: '-1',
      'data-testid': 'finding',
      'data-number': point.number,
      'data-standing': word,
    },
    [
      h('div', { class: 'finding-head' }, [
        point.number > 0 ? h('span', { class: 'number' }, `#${point.number}`) : null,
        f.severity ? h('span', { class: `word tone-${weight.tone}` }, icon(weight.icon), f.severity) : null,
        h('span', { class: `standing-word is-${word}` }, standingWords(word, point.since, round.round)),
        f.rule ? said(f.rule, { class: 'rule' }) : null,
        f.place ? said(say.placed(f.place), { class: 'place mono' }) : null,
        f.lens ? h('span', { class: 'soft small' }, 'lens ', said(f.lens)) : null,
      ]),
      said(point.text, { tag: 'p', class: 'says' }),
      fix && fix !== point.text.trim() ? h('p', { class: 'fix' }, icon('arrow', 'to do'), said(fix)) : null,
      f.quote ? said(f.quote, { tag: 'blockquote' }) : null,
      f.within ? h('p', { class: 'soft small' }, 'in ', said(f.within)) : null,
      f.absent ? h('p', { class: 'soft small' }, 'about something that is missing') : null,
      point.supported
        ? null
        : h(
            'p',
            { class: 'why-not' },
            icon('doubt'),
            h('span', null, 'Unsupported, so it decides nothing: ', said(f.unsupported)),
          ),
      f.by === 'engine' ? h('p', { class: 'soft small' }, 'found by Gadfly itself') : null,
    ],
  );
}

/** @param {any} round @param {{number: number, text: string}} fixed */
export function fixedLine(round, fixed) {
  return h(
    'li',
    {
      key: `fixed ${fixed.number}`,
      id: findingId(round, fixed.number),
      class: 'finding fixed tone-good',
      tabindex: '-1',
      'data-testid': 'finding',
      'data-number': fixed.number,
      'data-standing': 'fixed',
    },
    [
      h(
        'div',
        { class: 'finding-head' },
        h('span', { class: 'number' }, `#${fixed.number}`),
        h('span', { class: 'word tone-good' }, icon('check'), 'fixed'),
        fixed.text ? said(fixed.text, { class: 'gone' }) : null,
      ),
    ],
  );
}

/** @param {string} word @param {number} since @param {number} round */
function standingWords(word, since, round) {
  if ((word === 'recurring' || word === 'regressed') && since < round) return `${word}, since round ${since}`;
  return word;
}
