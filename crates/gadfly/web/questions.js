// What a run asks a person, answered in the page: named ways out as buttons, free text, or a whole turn where the person
// is the worker or the critic.

import { h, said, widget } from './dom.js';
import * as say from './format.js';
import { button, icon, notice } from './parts.js';
import { holdFocus, withTerms } from './requests.js';
import { answerText, textBox } from './texts.js';

/** @type {Record<string, string>} */
const ABOUT = {
  askuser: 'The critic has a question',
  'plan-checker': 'The plan itself is in doubt',
  plan_checker: 'The plan itself is in doubt',
  stuck: 'It cannot go on by itself',
  escalation: 'A decision that belongs to you',
  conflict: 'The run and you changed the same files',
  policy: 'A tool wants more than the policy allows',
  unknown: 'A step was cut off, and nobody knows how it ended',
  manual: 'Is the goal reached?',
  protected: 'Files the goal is judged by were changed',
  condition: 'Does this condition hold?',
  plan: 'A plan, before anything is done by it',
  outside: 'Files were written that the registry does not name',
  replaced: 'Work that was there would be replaced',
  result: 'Do you agree to the result?',
};

/** @param {import('./run.js').Seen} seen */
export function questions(seen) {
  const all = [...(seen.page.questions ?? []), ...settledMeanwhile(seen)];
  if (all.length === 0) return null;
  return h(
    'section',
    { class: 'questions', 'aria-label': 'Questions for you' },
    all.map((/** @type {any} */ q) => question(q, seen)),
  );
}

/** What somebody had half answered here when it was answered elsewhere: their words stay. @param {import('./run.js').Seen} seen @returns {any[]} */
function settledMeanwhile({ page, view }) {
  /** @type {Map<string, any>} */
  const known = view.get('questions') ?? new Map();
  const open = new Set((page.questions ?? []).map((/** @type {any} */ q) => q.effect));
  for (const q of page.questions ?? []) known.set(q.effect, q);
  for (const effect of [...known.keys()]) {
    const isKept = view.get(`answer ${effect} typed`) && !view.get(`answer ${effect} sent`);
    if (!open.has(effect) && !isKept) known.delete(effect);
  }
  view.note('questions', known);
  return [...known.values()].filter((q) => !open.has(q.effect)).map((q) => ({ ...q, answered: true, settled: true }));
}

/** @param {any} q @param {import('./run.js').Seen} seen */
function question(q, seen) {
  const { view } = seen;
  const key = `answer ${q.effect}`;
  const sent = view.get(`${key} sent`);
  const isTurn = q.kind === 'turn';
  const title = isTurn ? `Your turn as ${q.role ?? 'agent'}` : (ABOUT[q.about] ?? 'A question for you');
  const answer = async (
    /** @type {string} */ text,
    /** @type {string | undefined} */ verdict,
    /** @type {number | undefined} */ points,
  ) => {
    if (!text.trim() && verdict !== 'approve') {
      const lacks = 'To reject, write what has to be fixed, one fix per line.';
      view.set(`${key} error`, verdict ? lacks : 'The answer is empty.');
      return;
    }
    const giveFocusBack = holdFocus();
    view.set(`${key} busy`, true);
    const told = await withTerms(`/api/runs/${seen.run}/answer`, { effect: q.effect, text, verdict, points }, 'Agree and answer');
    view.note(`${key} busy`, false);
    view.note(`${key} error`, told.ok ? '' : told.words);
    view.set(`${key} sent`, told.ok);
    giveFocusBack();
  };
  // In a pipeline everybody's work may be asked about.
  const about = q.agent ?? (seen.page.kind === 'pipeline' ? say.agentOf(String(q.effect).split('#')[0] ?? '') : '');
  // An answer on its way from here may be taken up before it is said to be.
  const done = sent || (q.answered && !view.get(`${key} busy`));
  return h(
    'article',
    {
      key: q.effect,
      tabindex: '-1',
      class: `question${done ? ' is-answered' : ''}`,
      'data-testid': 'question',
      'data-effect': q.effect,
      'data-about': q.about ?? '',
      'data-answered': String(Boolean(done)),
    },
    [
      h('h2', null, icon('ask'), title, about ? h('span', { class: 'soft small' }, said(about)) : null),
      q.text ? said(q.text, { tag: 'p', class: 'asked' }) : null,
      isTurn && q.folder
        ? h('p', { class: 'soft' }, 'Work in ', h('code', null, q.folder), ', then say here what you did.')
        : null,
      isTurn && q.brief
        ? h(
            'details',
            { class: 'panel', open: true },
            h('summary', null, 'The brief'),
            widget(textBox, { run: seen.run, digest: q.brief, testid: 'brief' }, `brief ${q.brief}`),
          )
        : null,
      done ? answeredNotice(q, sent, seen) : null,
      !done || (!sent && view.get(`${key} typed`)) ? fields(q, key, seen, answer, Boolean(done)) : null,
      view.get(`${key} error`) ? notice('bad', view.get(`${key} error`), { role: 'alert' }) : null,
    ],
  );
}

/** @param {any} q @param {boolean} here @param {import('./run.js').Seen} seen */
function answeredNotice(q, here, { run, state }) {
  if (here) return notice('good', 'Answered. The run takes it up when it goes on.', { key: 'answered' });
  const told = (state.questions ?? []).find((/** @type {any} */ one) => one.effect === q.effect)?.answer;
  const words = told
    ? ['Answered elsewhere by ', said(told.by, { tag: 'strong' }), ': ', answerText(run, told.text, q.choices)]
    : q.settled
      ? 'Answered elsewhere meanwhile.'
      : 'Answered. The run takes it up when it goes on.';
  return notice(q.settled ? 'warn' : 'good', words, { key: 'answered', role: 'status', 'data-testid': 'answered' });
}

/** @param {any} q @param {string} key @param {import('./run.js').Seen} seen @param {(text: string, verdict?: string, points?: number) => void} answer @param {boolean} closed answered elsewhere: what was typed stays to be taken along */
function fields(q, key, { view }, answer, closed) {
  const typed = (/** @type {any} */ event) => view.note(`${key} typed`, Boolean(event.target.value.trim()));
  const busy = Boolean(view.get(`${key} busy`));
  const choices = q.choices ?? [];
  const free = q.free || (q.kind === 'turn' && !q.judges);
  return h('div', { key: 'answers', class: 'answers' }, [
    closed
      ? h(
          'p',
          { key: 'kept', class: 'soft' },
          'What you had typed was not sent. ',
          button('Put it away', () => view.set(`${key} typed`, false), { class: 'small', 'data-testid': 'put-away' }),
        )
      : null,
    choices.length > 0
      ? h(
          'div',
          { key: 'choices', class: 'choices' },
          choices.map((/** @type {any} */ choice) =>
            way(choice, `${key} ${choice.word}`, closed || busy, answer, typed),
          ),
        )
      : null,
    q.judges ? judging(q, key, busy || closed, answer, typed) : null,
    free ? freeText(q, key, busy, closed, answer, typed) : null,
  ]);
}

/** No way out stands out: none is the page's to recommend. @param {any} choice @param {string} id @param {boolean} isOff @param {(text: string) => void} answer @param {(event: any) => void} typed */
function way(choice, id, isOff, answer, typed) {
  /** @type {HTMLInputElement | null} */
  let field = null;
  const name = `field-${id.replace(/[^a-z0-9]/gi, '-')}`;
  const send = (/** @type {any} */ event) => {
    event.preventDefault?.();
    field =
      document.getElementById(name) instanceof HTMLInputElement
        ? /** @type {HTMLInputElement} */ (document.getElementById(name))
        : null;
    if (!choice.takes) answer(choice.word);
    else if (field?.value.trim()) answer(`${choice.word} ${field.value.trim()}`);
    else field?.focus();
  };
  return h('form', { key: choice.word, class: 'choice', on: { submit: send } }, [
    choice.takes
      ? h('input', {
          id: name,
          'aria-label': `${choice.takes} for ${choice.word}`,
          placeholder: choice.takes,
          autocomplete: 'off',
          on: { input: typed },
        })
      : null,
    h(
      'button',
      {
        type: 'submit',
        class: 'button',
        disabled: isOff,
        'data-testid': 'answer-button',
        'data-word': choice.word,
      },
      said(choice.word),
    ),
    said(choice.says, { class: 'soft' }),
  ]);
}

/** Approve or reject, and one field for what is said with it; one for points where they count. @param {any} q @param {string} key @param {boolean} isOff @param {(text: string, verdict?: string, points?: number) => void} answer @param {(event: any) => void} typed */
function judging(q, key, isOff, answer, typed) {
  const id = `verdict-${key.replace(/[^a-z0-9]/gi, '-')}`;
  const counts = typeof q.passes_at === 'number';
  const give = (/** @type {string} */ verdict) => () => {
    const field = document.getElementById(id);
    const points = document.getElementById(`${id}-points`);
    const given = points instanceof HTMLInputElement && points.value !== '' ? points.valueAsNumber : undefined;
    if (field instanceof HTMLTextAreaElement) answer(field.value, verdict, given);
  };
  return h('div', { key: 'verdict', class: 'free' }, [
    h('label', { for: id }, 'To reject: what has to be fixed, one fix per line. To approve: why, if you like.'),
    h('textarea', { id, rows: 5, dir: 'auto', 'data-testid': 'answer-text', on: { input: typed } }),
    counts ? h('label', { for: `${id}-points` }, `Points out of 100; ${q.passes_at} pass`) : null,
    counts
      ? h('input', {
          id: `${id}-points`,
          type: 'number',
          min: '0',
          max: '100',
          step: '1',
          inputmode: 'numeric',
          'data-testid': 'answer-points',
          on: { input: typed },
        })
      : null,
    h('div', { class: 'verdicts' }, [
      button('Approve', give('approve'), { disabled: isOff, 'data-testid': 'approve' }),
      button('Reject', give('reject'), { disabled: isOff, 'data-testid': 'reject' }),
    ]),
  ]);
}

/** @param {any} q @param {string} key @param {boolean} busy @param {boolean} closed @param {(text: string) => void} answer @param {(event: any) => void} typed */
function freeText(q, key, busy, closed, answer, typed) {
  const id = `free-${key.replace(/[^a-z0-9]/gi, '-')}`;
  const send = (/** @type {Event} */ event) => {
    event.preventDefault();
    const field = document.getElementById(id);
    if (field instanceof HTMLTextAreaElement) answer(field.value);
  };
  const label = q.kind === 'turn' ? 'Your reply' : q.choices?.length ? 'Or in your own words' : 'Your answer';
  return h('form', { key: 'free', class: 'free', on: { submit: send } }, [
    h('label', { for: id }, label),
    h('textarea', {
      id,
      rows: q.kind === 'turn' ? 10 : 3,
      dir: 'auto',
      'data-testid': 'answer-text',
      on: { input: typed },
    }),
    button(busy ? 'Sending…' : 'Send', () => {}, {
      type: 'submit',
      class: 'primary',
      disabled: busy || closed,
      'data-testid': 'answer-send',
    }),
  ]);
}
