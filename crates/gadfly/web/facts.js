// What else is known of a run: its task and criteria, who cost what, questions that were answered, warnings, files.

import { h, said, widget } from './dom.js';
import { shares } from './meters.js';
import { icon, notice, section } from './parts.js';
import { answerText, shortText, textBox } from './texts.js';

/** @param {import('./run.js').Seen} seen */
export function facts(seen) {
  return [
    warnings(seen),
    task(seen),
    answered(seen),
    files(seen),
    costs(seen),
    seen.page.all_told === false
      ? h('p', { class: 'soft small section' }, 'This run is long: of its earliest events, not all are shown here.')
      : null,
  ];
}

/** @param {import('./run.js').Seen} seen */
function warnings({ state }) {
  const violations = (state.violations ?? []).map((/** @type {any} */ v) =>
    notice('bad', [
      said(v.agent, { tag: 'strong' }),
      ' changed what it may only read; that was undone and its reply does not count: ',
      said(v.paths.join(', ')),
    ]),
  );
  const said_ = (state.warnings ?? []).slice(-20).map((/** @type {string} */ text) => notice('warn', said(text)));
  return violations.length + said_.length > 0 ? section('Warnings', [violations, said_]) : null;
}

/** @param {import('./run.js').Seen} seen */
function task(seen) {
  const { task: digest, criteria } = seen.page.plan ?? {};
  // A goal stands on top of its page already.
  if ((!digest && !criteria?.length) || seen.page.kind === 'goal') return null;
  const open = seen.view.get('task', true);
  return section('Task', [
    digest
      ? h(
          'details',
          { class: 'panel', open, on: { toggle: seen.view.toggled('task', open) } },
          h('summary', null, 'What was asked'),
          open ? widget(textBox, { run: seen.run, digest, testid: 'task' }, 'task') : null,
        )
      : null,
    criteria?.length
      ? h(
          'ul',
          { class: 'criteria-list' },
          criteria.map((/** @type {string} */ c) => h('li', null, said(c))),
        )
      : null,
  ]);
}

/** @param {import('./run.js').Seen} seen */
function answered({ run, state }) {
  const all = (state.questions ?? []).filter((/** @type {any} */ q) => q.answer).slice(-20);
  // An answer to a question is a decision, too: it is shown once.
  const told = new Set(all.map((/** @type {any} */ q) => `${q.answer.by} ${q.answer.text}`));
  const decisions = (state.decisions ?? []).filter((/** @type {any} */ d) => !told.has(`${d.by} ${d.text}`)).slice(-20);
  if (all.length + decisions.length === 0) return null;
  return section('Decisions', [
    h('ul', { class: 'qa' }, [
      all.map((/** @type {any} */ q) =>
        h(
          'li',
          { key: q.effect },
          said(q.question.text, { tag: 'p' }),
          h(
            'p',
            { class: 'answer' },
            icon('return'),
            h(
              'span',
              null,
              said(q.answer.by, { tag: 'strong' }),
              ': ',
              answerText(run, q.answer.text, q.question.choices),
            ),
          ),
        ),
      ),
      decisions.map((/** @type {any} */ d, /** @type {number} */ i) =>
        h(
          'li',
          { key: `d${i}` },
          h(
            'p',
            { class: 'answer' },
            icon('flag'),
            h('span', null, said(d.by, { tag: 'strong' }), ': ', widget(shortText, { run, digest: d.text }, 'text')),
          ),
        ),
      ),
    ]),
  ]);
}

/** @param {import('./run.js').Seen} seen */
function files({ state }) {
  const saved = (state.saved ?? []).map((/** @type {any} */ f) =>
    h(
      'li',
      { key: f.path },
      icon('file'),
      said(f.path, { class: 'mono' }),
      f.approved ? null : h('span', { class: 'word tone-warn' }, 'not approved'),
    ),
  );
  const { paths = [], commit, merged = [], kept = [] } = state.accepted ?? {};
  const shown = paths
    .slice(0, 40)
    .map((/** @type {string} */ path) => h('li', { key: path }, icon('check'), said(path, { class: 'mono' })));
  if (saved.length + shown.length === 0) return null;
  return section('Files', [
    h(
      'ul',
      { class: 'file-list' },
      saved,
      shown,
      paths.length > 40 ? h('li', { class: 'soft' }, `and ${paths.length - 40} more`) : null,
    ),
    commit
      ? h(
          'p',
          { class: 'soft small' },
          'commit ',
          h('code', null, String(commit.id).slice(0, 12)),
          ' on ',
          said(commit.branch),
        )
      : null,
    merged.length ? notice('warn', ['Merged by git, judged by nobody: ', said(merged.join(', '))]) : null,
    kept.length ? notice('warn', ['Your version stayed: ', said(kept.join(', '))]) : null,
  ]);
}

/** @param {import('./run.js').Seen} seen */
function costs({ page }) {
  const table = shares(page);
  return table ? section('Cost by agent', h('div', { class: 'scroll-x' }, table)) : null;
}
