// What a run asks a person, answered in the page: named ways out as buttons, free text, or a whole turn where the person
// is the worker or the critic.

import { h, said, widget } from './dom.js';
import { button, icon, notice } from './parts.js';
import { withTerms } from './requests.js';
import { textBox } from './texts.js';

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
  result: 'Do you agree to the result?',
};

/** @param {import('./run.js').Seen} seen */
export function questions(seen) {
  const all = seen.page.questions ?? [];
  if (all.length === 0) return null;
  return h(
    'section',
    { class: 'questions', 'aria-label': 'Questions for you' },
    all.map((/** @type {any} */ q) => question(q, seen)),
  );
}

/** @param {any} q @param {import('./run.js').Seen} seen */
function question(q, seen) {
  const { view } = seen;
  const key = `answer ${q.effect}`;
  const sent = view.get(`${key} sent`);
  const isTurn = q.kind === 'turn';
  const title = isTurn ? `Your turn as ${q.role ?? 'agent'}` : (ABOUT[q.about] ?? 'A question for you');
  const answer = async (/** @type {string} */ text) => {
    if (!text.trim()) return;
    view.set(`${key} busy`, true);
    const told = await withTerms(`/api/runs/${seen.run}/answer`, { effect: q.effect, text }, 'Agree and answer');
    view.note(`${key} busy`, false);
    view.note(`${key} error`, told.ok ? '' : told.words);
    view.set(`${key} sent`, told.ok);
  };
  const done = q.answered || sent;
  return h(
    'article',
    {
      key: q.effect,
      class: `question${done ? ' is-answered' : ''}`,
      'data-testid': 'question',
      'data-effect': q.effect,
      'data-about': q.about ?? '',
      'data-answered': String(Boolean(done)),
    },
    [
      h('h2', null, icon('ask'), title, q.agent ? h('span', { class: 'soft small' }, said(q.agent)) : null),
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
      done ? notice('good', 'Answered. The run takes it up when it goes on.') : fields(q, key, seen, answer),
      view.get(`${key} error`) ? notice('bad', view.get(`${key} error`), { role: 'alert' }) : null,
    ],
  );
}

/** @param {any} q @param {string} key @param {import('./run.js').Seen} seen @param {(text: string) => void} answer */
function fields(q, key, { view }, answer) {
  const busy = Boolean(view.get(`${key} busy`));
  const choices = q.choices ?? [];
  const free = q.free || q.kind === 'turn';
  return h('div', { class: 'answers' }, [
    choices.length > 0
      ? h(
          'div',
          { class: 'choices' },
          choices.map((/** @type {any} */ choice, /** @type {number} */ i) =>
            way(choice, i === 0 && !free, `${key} ${choice.word}`, busy, answer),
          ),
        )
      : null,
    free ? freeText(q, key, busy, answer) : null,
  ]);
}

/** @param {any} choice @param {boolean} first @param {string} id @param {boolean} busy @param {(text: string) => void} answer */
function way(choice, first, id, busy, answer) {
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
        })
      : null,
    h(
      'button',
      {
        type: 'submit',
        class: `button ${first ? 'primary' : ''}`,
        disabled: busy,
        'data-testid': 'answer-button',
        'data-word': choice.word,
      },
      said(choice.word),
    ),
    said(choice.says, { class: 'soft' }),
  ]);
}

/** @param {any} q @param {string} key @param {boolean} busy @param {(text: string) => void} answer */
function freeText(q, key, busy, answer) {
  const id = `free-${key.replace(/[^a-z0-9]/gi, '-')}`;
  const send = (/** @type {Event} */ event) => {
    event.preventDefault();
    const field = document.getElementById(id);
    if (field instanceof HTMLTextAreaElement) answer(field.value);
  };
  const label = q.kind === 'turn' ? 'Your reply' : q.choices?.length ? 'Or in your own words' : 'Your answer';
  return h('form', { class: 'free', on: { submit: send } }, [
    h('label', { for: id }, label),
    h('textarea', { id, rows: q.kind === 'turn' ? 10 : 3, dir: 'auto', 'data-testid': 'answer-text' }),
    button(busy ? 'Sending…' : 'Send', () => {}, {
      type: 'submit',
      class: 'primary',
      disabled: busy,
      'data-testid': 'answer-send',
    }),
  ]);
}
