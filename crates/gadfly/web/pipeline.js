// The page of a pipeline: its graph, its agents with reasons, its gate with the arithmetic, and the rounds of the agent
// that is chosen.

import { h, said, widget } from './dom.js';
import * as say from './format.js';
import { gate } from './gate.js';
import { graph } from './graph.js';
import { lineage } from './lineage.js';
import { badge, icon, section } from './parts.js';
import { timeline } from './rounds.js';
import { textBox } from './texts.js';

/** @param {import('./run.js').Seen} seen */
export function pipelineBody(seen) {
  const view = seen.state.pipeline;
  if (!view) return { main: h('p', { class: 'soft' }, 'It begins.'), aside: null };
  const chosen = seen.view.get('agent') ?? startWith(view.agents);
  const choose = (/** @type {string} */ agent) => seen.view.set('agent', agent);
  const mine = seen.state.rounds.filter((/** @type {any} */ round) => say.agentOf(round.node) === chosen);
  const all = view.agents.map((/** @type {any} */ a) => ({ ...a, run: seen.state.summary.state }));
  const row = view.agents.find((/** @type {any} */ a) => a.agent === chosen);
  const done = view.agents.filter((/** @type {any} */ a) => a.status === 'done').length;
  return {
    top: section('Dependencies', graph(all, seen.page.graph?.edges ?? [], chosen, choose), {
      aside: h('span', { class: 'soft' }, `${done} of ${view.agents.length} done`),
    }),
    main: [
      agents(all, chosen, choose),
      chosen ? [aboutAgent(row, view), timeline(seen, mine, `Rounds of ${chosen}`)] : null,
    ],
    aside: [view.gate ? gate(view.gate) : null, chosen ? lineage(seen, mine) : null, plan(seen, view), learned(view)],
  };
}

/** Whoever is worth looking at first. @param {any[]} agents */
function startWith(agents) {
  const first = (/** @type {string} */ status) => agents.find((a) => a.status === status)?.agent;
  return (
    first('working') ??
    first('blocked') ??
    agents.findLast((a) => a.status === 'done' && a.critic)?.agent ??
    agents[0]?.agent
  );
}

/** @param {any[]} all @param {string | undefined} chosen @param {(agent: string) => void} choose */
function agents(all, chosen, choose) {
  const row = (/** @type {any} */ a) =>
    h(
      'tr',
      {
        key: a.agent,
        class: a.agent === chosen ? 'chosen' : '',
        'data-testid': 'agent-row',
        'data-agent': a.agent,
        'data-status': a.status,
      },
      [
        h(
          'th',
          { scope: 'row' },
          h(
            'button',
            {
              type: 'button',
              class: 'as-link',
              'aria-pressed': String(a.agent === chosen),
              'data-walk': '',
              on: { click: () => choose(a.agent) },
            },
            said(a.agent),
          ),
          a.phase ? said(a.phase, { class: 'soft small sub' }) : null,
        ),
        h('td', null, badge(say.agentStatus(a.status, a.run))),
        h('td', { class: 'num' }, a.score ?? '–'),
        h(
          'td',
          null,
          a.critic
            ? a.critic === a.agent
              ? h('span', { class: 'soft' }, 'judges')
              : said(a.critic)
            : h('span', { class: 'soft' }, 'nobody'),
        ),
        h('td', { class: 'num' }, `${a.rounds}${a.dispatches > 1 ? ` (sent ${a.dispatches}×)` : ''}`),
        h(
          'td',
          { class: 'because' },
          a.because
            ? said(a.because)
            : a.open?.length
              ? h('span', { class: 'soft' }, `${a.open.length} open`)
              : '',
        ),
      ],
    );
  const heads = ['Agent', 'Status', 'Score', 'Critic', 'Rounds', 'Why'];
  return section(
    'Agents',
    h(
      'div',
      { class: 'scroll-x' },
      h('table', { class: 'agents' }, [
        h(
          'thead',
          null,
          h(
            'tr',
            null,
            heads.map((head) => h('th', { scope: 'col' }, head)),
          ),
        ),
        h('tbody', null, all.map(row)),
      ]),
    ),
  );
}

/** @param {any} row @param {any} view */
function aboutAgent(row, view) {
  const briefs = (view.briefs ?? []).filter((/** @type {any} */ b) => b.agent === row?.agent && b.loaded?.length);
  if (!row?.open?.length && briefs.length === 0) return null;
  return section(`About ${row.agent}`, [
    row.open?.length
      ? h(
          'ul',
          { class: 'plain-list' },
          row.open.slice(0, 30).map((/** @type {string} */ text) => h('li', null, icon('dot'), said(text))),
        )
      : null,
    briefs.map((/** @type {any} */ b) =>
      h(
        'details',
        { key: String(b.nth), class: 'small-details' },
        h('summary', null, `What went into its brief${b.nth > 1 ? ` (${b.nth})` : ''}: ${b.loaded.length} files`),
        h(
          'ul',
          { class: 'file-list' },
          b.loaded
            .slice(0, 100)
            .map((/** @type {any} */ l) =>
              h('li', null, said(l.path, { class: 'mono' }), h('span', { class: 'soft' }, `${l.tokens} tokens`)),
            ),
        ),
      ),
    ),
  ]);
}

/** @param {import('./run.js').Seen} seen @param {any} view */
function plan(seen, view) {
  if (!view.plan) return null;
  const open = seen.view.get('plan', false);
  return section('Plan', [
    view.plan_by
      ? h('p', { class: 'soft' }, 'agreed to by ', said(view.plan_by))
      : h('p', { class: 'soft' }, 'nobody agreed to it yet'),
    h(
      'details',
      { class: 'panel', open, on: { toggle: seen.view.toggled('plan', open) } },
      h('summary', null, 'Read the plan'),
      open ? widget(textBox, { run: seen.run, digest: view.plan, testid: 'plan' }, 'plan') : null,
    ),
  ]);
}

/** @param {any} view */
function learned(view) {
  if (!view.learned?.length) return null;
  return section(
    'Suggested learnings',
    h(
      'ul',
      { class: 'learned' },
      view.learned
        .slice(0, 30)
        .map((/** @type {any} */ s) =>
          h(
            'li',
            null,
            h('span', { class: 'tag' }, s.tag),
            said(s.text),
            h('span', { class: 'soft' }, ' → ', said(s.action)),
          ),
        ),
    ),
  );
}
