// One critic's review of one draft: verdict, score with its arithmetic, criteria, findings, and what it did not see.

import { h, said, widget } from './dom.js';
import { findingList } from './findings.js';
import * as say from './format.js';
import { roundKey } from './history.js';
import { badge, icon, notice } from './parts.js';
import { pointsOf } from './points.js';
import { textBox } from './texts.js';

/** @param {import('./run.js').Seen} seen @param {any} round @param {any} review @param {number} at which of the round's */
export function review(seen, round, review, at) {
  const shown = say.verdict(review.verdict) ?? {
    word: String(review.verdict),
    icon: 'doubt',
    tone: /** @type {const} */ ('warn'),
  };
  const points = pointsOf(round).filter((p) => p.finding && p.review === at);
  const key = `${roundKey(round)} ${at}`;
  return h(
    'article',
    {
      key: `review ${at}`,
      class: `review tone-${shown.tone}`,
      'data-testid': 'review',
      'data-verdict': review.verdict,
    },
    [
      h('header', { class: 'review-head' }, [
        icon('eye'),
        said(review.binding?.critic ?? 'critic', { tag: 'strong' }),
        review.binding?.lens ? h('span', { class: 'soft' }, 'lens ', said(review.binding.lens)) : null,
        badge(shown),
        review.score ? score(review.score) : null,
      ]),
      reason(review),
      unseen(review.coverage?.unseen),
      review.criteria?.length ? criteria(review.criteria) : null,
      findingList(round, points),
      review.score?.arithmetic?.length
        ? h(
            'details',
            { class: 'small-details' },
            h('summary', null, 'How the score is made up'),
            h('pre', { class: 'arithmetic' }, review.score.arithmetic.join('\n')),
            review.score.stated !== undefined && review.score.computed && review.score.stated !== review.score.value
              ? h('p', { class: 'soft' }, `The critic itself stated ${review.score.stated}; the sum counts.`)
              : null,
          )
        : null,
      review.deviations?.length
        ? h(
            'p',
            { class: 'soft small' },
            'Departures from the reply format that were tolerated: ',
            said(review.deviations.join('; ')),
          )
        : null,
      evidence(seen, review, key),
    ],
  );
}

/** Why it approves. Where there are criteria, they say the same one by one. @param {any} review */
function reason(review) {
  if (review.verdict !== 'approved' || !review.reason || review.criteria?.length) return null;
  return said(review.reason, { tag: 'p', class: 'reason', 'data-testid': 'reason' });
}

/** @param {any} told */
function score(told) {
  const passes = told.value >= told.threshold;
  return h(
    'span',
    { class: `score-big tone-${passes ? 'good' : 'bad'}` },
    h('strong', null, String(told.value)),
    h('span', { class: 'soft' }, ` / 100, ${told.threshold} needed${told.computed ? '' : ', as stated'}`),
  );
}

/** @param {any[] | undefined} all */
function unseen(all) {
  if (!all?.length) return null;
  const line = (/** @type {any} */ one) => h('li', null, said(one.what, { class: 'mono' }), ': ', said(one.because));
  return notice(
    'warn',
    [
      h('strong', null, 'Not everything was seen.'),
      h('ul', { class: 'plain-list' }, all.slice(0, 20).map(line)),
      all.length > 20 ? h('p', null, `and ${all.length - 20} more`) : null,
    ],
    { 'data-testid': 'unseen' },
  );
}

/** @param {any[]} all */
function criteria(all) {
  const row = (/** @type {any} */ c) =>
    h('tr', { key: c.id, class: c.clean ? 'clean' : 'unclean' }, [
      h(
        'td',
        null,
        h(
          'span',
          { class: `word tone-${c.clean ? 'good' : 'bad'}` },
          icon(c.clean ? 'check' : 'cross'),
          said(c.verdict),
        ),
      ),
      h('th', { scope: 'row' }, said(c.claim || c.id), c.claim ? said(c.id, { class: 'soft small id' }) : null),
      h('td', null, said(c.because)),
    ]);
  return h(
    'div',
    { class: 'scroll-x', tabindex: '0', role: 'group', 'aria-label': 'Criteria' },
    h('table', { class: 'criteria' }, [
      h(
        'thead',
        null,
        h(
          'tr',
          null,
          ['Verdict', 'Criterion', 'Because'].map((head) => h('th', { scope: 'col' }, head)),
        ),
      ),
      h('tbody', null, all.map(row)),
    ]),
  );
}

/** What the critic was sent and what it replied; as JSON only for whoever wants to see that. @param {import('./run.js').Seen} seen @param {any} review @param {string} key */
function evidence(seen, review, key) {
  const one = (/** @type {string} */ name, /** @type {string} */ title, /** @type {string} */ digest) => {
    if (!digest) return null;
    const open = seen.view.get(`${name} ${key}`, false);
    return h(
      'details',
      {
        class: 'small-details',
        open,
        on: { toggle: seen.view.toggled(`${name} ${key}`, open) },
      },
      h('summary', null, title),
      open ? widget(textBox, { run: seen.run, digest, plain: true, testid: name }, name) : null,
    );
  };
  return h(
    'div',
    { class: 'evidence' },
    one('prompt', 'What it was sent', review.prompt),
    one('reply', 'What it replied', review.rendered ?? review.reply),
    review.rendered ? one('raw-reply', 'What it replied, word for word', review.reply) : null,
  );
}
