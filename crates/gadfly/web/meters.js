// What is used of a run's caps, and who cost what.

import { h, said } from './dom.js';
import * as say from './format.js';

/** @type {Record<string, {label: string, words: (n: number) => string}>} */
const METERS = {
  rounds: { label: 'Rounds', words: say.whole },
  steps: { label: 'Steps', words: say.whole },
  calls: { label: 'Calls', words: say.whole },
  tokens: { label: 'Tokens', words: say.short },
  money: { label: 'Cost', words: say.money },
  time: { label: 'Time', words: say.clock },
};

/** @param {import('./run.js').Seen} seen */
export function meters(seen) {
  const { page } = seen;
  const all = (page.meters ?? [])
    .map((/** @type {any} */ m) => (m.name === 'time' ? { ...m, used: m.used + sinceLastRecord(seen) } : m))
    .filter((/** @type {any} */ m) => METERS[m.name] && (m.used > 0 || m.cap || m.name === 'money'));
  if (all.length === 0) return null;
  return h(
    'dl',
    { class: 'meters', 'aria-label': 'What is used' },
    all.map((/** @type {any} */ m) => meter(m, page.kind, page.state.summary.state === 'approved')),
  );
}

/** The server counts up to the last record; the run's time goes on. @param {import('./run.js').Seen} seen */
function sinceLastRecord({ page, now }) {
  const { state, updated_ms: last } = page.state.summary;
  return state === 'running' ? Math.max(0, now - last) : 0;
}

/** @param {any} told @param {string} kind @param {boolean} approved what it took is no trouble any more */
function meter(told, kind, approved) {
  const { label, words } = METERS[told.name] ?? { label: told.name, words: say.whole };
  const name = told.name === 'rounds' && kind === 'pipeline' ? 'Overall rounds' : label;
  const share = told.cap ? Math.min(1, told.used / told.cap) : undefined;
  const level = share === undefined ? 'free' : approved || share < 0.8 ? 'low' : share >= 1 ? 'full' : 'high';
  const used = `${told.lower_bound ? '≥ ' : ''}${words(told.used)}`;
  return h('div', { key: told.name, class: `meter is-${level}`, 'data-testid': 'meter', 'data-meter': told.name }, [
    h('dt', null, name),
    h('dd', null, [
      h('span', { class: 'used' }, used),
      told.cap ? h('span', { class: 'cap' }, ` of ${words(told.cap)}`) : null,
      told.cached ? h('span', { class: 'cap' }, `, ${words(told.cached)} from cache`) : null,
      level === 'full'
        ? h('span', { class: 'cap-word' }, ' used up')
        : level === 'high'
          ? h('span', { class: 'cap-word' }, ` ${Math.floor((share ?? 0) * 100)}%`)
          : null,
    ]),
    share === undefined
      ? null
      : h(
          'div',
          { class: 'track', 'aria-hidden': 'true' },
          h('i', { style: { width: `${(share * 100).toFixed(1)}%` } }),
        ),
  ]);
}

/** Who cost what. @param {any} page */
export function shares(page) {
  const all = page.shares ?? [];
  if (all.length === 0) return null;
  const row = (/** @type {any} */ share) =>
    h('tr', { key: share.agent }, [
      h('th', { scope: 'row' }, said(share.agent)),
      h('td', null, say.whole(share.calls)),
      h('td', null, say.short(share.tokens)),
      h('td', null, `${share.lower_bound ? '≥ ' : ''}${say.money(share.usd)}`),
    ]);
  return h('table', { class: 'figures' }, [
    h(
      'thead',
      null,
      h(
        'tr',
        null,
        ['Agent', 'Calls', 'Tokens', 'Cost'].map((head) => h('th', { scope: 'col' }, head)),
      ),
    ),
    h('tbody', null, all.map(row)),
  ]);
}
