// The form that starts a loop or a goal. What it would do, and who would be sent what, is the server's to say: it answers
// with terms first, and nothing is started before somebody agrees to them.

import { follow, get, trouble } from './api.js';
import { h, said } from './dom.js';
import { button, notice, section } from './parts.js';
import { holdFocus, withTerms } from './requests.js';

const NAMED_AT_ONCE = 6;

/** @param {import('./app.js').Place} place @returns {import('./app.js').Page} */
export function openStart(place) {
  /** @type {any} */
  let offer;
  let kind = /** @type {'loop' | 'goal'} */ ('loop');
  let failure = '';
  /** @type {any[]} */
  let problems = [];
  let busy = '';
  let stopped = false;
  let showsAll = false;
  /** @type {Map<string, string>} by the names of fields */
  const typed = new Map();

  async function look() {
    const reply = await get('/api/start');
    if (stopped) return;
    if (reply.status === 200) offer = reply.body;
    else failure = trouble(reply);
    draw();
  }

  /** @param {string} path @param {Record<string, unknown>} body @param {string} what */
  async function begin(path, body, what) {
    const giveFocusBack = holdFocus();
    [busy, failure, problems] = [what, '', []];
    draw();
    const told = await withTerms(path, body, 'Agree and start');
    if (stopped) return;
    busy = '';
    if (told.ok && told.body.run) {
      place.go(`/runs/${told.body.run}`);
      return;
    }
    [failure, problems] = told.declined ? ['', []] : [told.words, told.problems];
    draw();
    document.getElementById('start-trouble')?.focus();
    giveFocusBack();
  }

  /** What was typed is there again after looking at the other form. @param {'loop' | 'goal'} name */
  function choose(name) {
    for (const field of fields()) typed.set(field.name, field.value);
    kind = name;
    draw();
    for (const field of fields()) field.value = typed.get(field.name) ?? field.value;
  }

  /** @returns {(HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement)[]} */
  function fields() {
    return [...document.querySelectorAll('[data-testid="start-form"] :is(input, textarea, select)[name]')].map(
      (field) => /** @type {HTMLInputElement} */ (field),
    );
  }

  /** @param {Event} event */
  function submitted(event) {
    event.preventDefault();
    if (!(event.target instanceof HTMLFormElement)) return;
    const given = new FormData(event.target);
    const options = optionValues(given, offer.fields?.[kind] ?? []);
    if (kind === 'loop') begin('/api/start/loop', { ...options, ...loopBody(given) }, 'form');
    else begin('/api/start/goal', { ...options, ...goalBody(given) }, 'form');
  }

  function draw() {
    if (stopped) return;
    place.main.show(
      h('div', { class: 'start' }, [
        h('div', { class: 'page-head' }, h('h1', null, 'Start')),
        failure ? misfortune() : null,
        offer?.problems?.length
          ? notice('warn', [
              'gadfly.toml has problems; see ',
              h('code', null, 'gadfly check'),
              h(
                'ul',
                { class: 'plain-list' },
                offer.problems.slice(0, 10).map((/** @type {string} */ p) => h('li', null, said(p))),
              ),
            ])
          : null,
        offer ? [named(), own()] : failure ? null : h('p', { class: 'soft' }, 'Looking who is here…'),
      ]),
    );
  }

  function misfortune() {
    const one = (/** @type {any} */ p) =>
      h(
        'li',
        null,
        said(p.message),
        p.place ? h('span', { class: 'soft' }, ' at ', said(p.place, { class: 'mono' })) : null,
        p.help ? h('div', { class: 'soft' }, said(p.help)) : null,
      );
    return h(
      'div',
      { id: 'start-trouble', tabindex: '-1', role: 'alert', 'data-testid': 'start-trouble' },
      notice('bad', [
        said(failure),
        problems.length > 0 ? h('ul', { class: 'plain-list' }, problems.slice(0, 30).map(one)) : null,
      ]),
    );
  }

  /** What the project's own file names. */
  function named() {
    const all = [
      ...(offer.loops ?? []).map((/** @type {any} */ l) => ({
        ...l,
        path: '/api/start/loop',
        body: { loop: l.name },
        kind: 'loop',
      })),
      ...(offer.goals ?? []).map((/** @type {any} */ g) => ({
        ...g,
        path: '/api/start/goal',
        body: { named: g.name },
        kind: 'goal',
      })),
    ];
    if (all.length === 0) return null;
    const some = showsAll ? all : all.slice(0, NAMED_AT_ONCE);
    const rest = all.length - some.length;
    return section('From gadfly.toml', [
      h(
        'ul',
        { class: 'named' },
        some.map((one) =>
          h('li', { key: `${one.kind} ${one.name}`, class: 'card' }, [
            h(
              'div',
              { class: 'grow' },
              h('p', null, said(one.name, { tag: 'strong' }), ' ', h('span', { class: 'soft small' }, one.kind)),
              one.says && one.says !== one.kind ? said(one.says, { tag: 'p', class: 'soft small' }) : null,
            ),
            button(
              busy === `${one.kind} ${one.name}` ? 'Starting…' : 'Start',
              () => begin(one.path, one.body, `${one.kind} ${one.name}`),
              {
                disabled: busy !== '',
                'data-testid': 'start-named',
                'data-name': one.name,
                'aria-label': `Start ${one.name}`,
              },
            ),
          ]),
        ),
      ),
      rest > 0
        ? h(
            'p',
            { class: 'more' },
            button(`Show ${rest} more`, () => ((showsAll = true), draw()), {
              class: 'small',
              'data-testid': 'show-named',
            }),
          )
        : null,
    ]);
  }

  function own() {
    const tab = (/** @type {'loop' | 'goal'} */ name, /** @type {string} */ label, /** @type {string} */ says) =>
      h(
        'label',
        { class: `kind${kind === name ? ' chosen' : ''}` },
        h('input', {
          type: 'radio',
          name: 'kind',
          value: name,
          checked: kind === name,
          'data-testid': `kind-${name}`,
          on: { change: () => choose(name) },
        }),
        h('span', null, h('strong', null, label), h('span', { class: 'soft small' }, says)),
      );
    return section('New run', [
      h(
        'fieldset',
        { class: 'kinds' },
        h('legend', { class: 'unseen' }, 'What to start'),
        tab('loop', 'Loop', 'A worker writes, a critic judges, round by round.'),
        tab('goal', 'Goal', 'A worker acts until a command says it is done; a critic watches.'),
      ),
      h(
        'form',
        { key: kind, class: 'form card', 'data-testid': 'start-form', 'data-kind': kind, on: { submit: submitted } },
        kind === 'loop' ? loopFields() : goalFields(),
        [
          h(
            'div',
            { class: 'form-end' },
            h(
              'p',
              { class: 'soft small' },
              'You see who is sent what, and the most it can cost, before anything starts.',
            ),
            button(busy === 'form' ? 'Starting…' : `Start the ${kind}`, () => {}, {
              type: 'submit',
              class: 'primary',
              disabled: busy !== '',
              'data-testid': 'start-button',
            }),
          ),
        ],
      ),
    ]);
  }

  function loopFields() {
    return [
      area('task', 'Task', { rows: 4, required: true, placeholder: 'Write the abstract of paper/draft.md.' }),
      area('criteria', 'Criteria', {
        rows: 3,
        hint: 'One per line: what the critic judges by.',
        placeholder: 'at most 150 words\nstates the sample size',
      }),
      h('div', { class: 'fields' }, [
        ...optionFields('loop'),
        line('rubric', 'Rubric file', 'rubrics/abstract.md'),
      ]),
    ];
  }

  function goalFields() {
    return [
      area('goal', 'Goal', { rows: 4, required: true, placeholder: 'Let the tests of the parser pass.' }),
      area('until', 'Reached when these commands succeed', {
        rows: 2,
        hint: 'One per line. Without any, a person says when it is reached.',
        placeholder: 'cargo test',
        mono: true,
      }),
      h('div', { class: 'fields' }, optionFields('goal')),
    ];
  }

  /** The options the server offers. @param {'loop' | 'goal'} of */
  function optionFields(of) {
    return (offer.fields?.[of] ?? []).map((/** @type {any} */ field) => {
      if (field.kind === 'agent') return who(field.name, field.label);
      if (field.kind === 'number') return number(field.name, field.label, { min: field.min, step: field.step });
      if (field.kind === 'line') return line(field.name, field.label, field.like);
      return choice(
        field.name,
        field.label,
        (field.choices ?? []).map((/** @type {string} */ name) => {
          const says = (offer.protocols ?? []).find((/** @type {any} */ p) => p.name === name)?.says;
          return [name, says ? `${name}: ${says}` : name];
        }),
        'default',
      );
    });
  }

  /** @param {string} name @param {string} label */
  function who(name, label) {
    const options = (offer.agents ?? []).map((/** @type {any} */ a) => [
      a.name,
      [a.name, a.model ?? a.kind, a.sends_to].filter(Boolean).join(' · '),
    ]);
    const usual = offer.defaults?.[name];
    return choice(name, label, options, usual ? `${usual} (the project’s)` : 'the project’s');
  }

  place.title('Start');
  draw();
  look();
  // Only whether the server is there: that is all this page has to know while it is open.
  const stop = follow('/api/live/overview?state=running', (_, told) => place.project(told ?? {}), place.connection);
  return {
    stop() {
      stopped = true;
      stop();
    },
  };
}

/** @param {string} name @param {string} label @param {{rows: number, hint?: string, placeholder?: string, required?: boolean, mono?: boolean}} more */
function area(name, label, more) {
  const hint = more.hint ? `${name}-hint` : undefined;
  return h(
    'div',
    { class: 'field' },
    h('label', { for: `f-${name}` }, label),
    h('textarea', {
      id: `f-${name}`,
      name,
      rows: more.rows,
      dir: 'auto',
      required: more.required,
      placeholder: more.placeholder,
      class: more.mono ? 'mono' : '',
      'aria-describedby': hint,
      'data-testid': `field-${name}`,
    }),
    more.hint ? h('p', { id: hint, class: 'soft small' }, more.hint) : null,
  );
}

/** @param {string} name @param {string} label @param {string} placeholder */
function line(name, label, placeholder) {
  return h(
    'div',
    { class: 'field' },
    h('label', { for: `f-${name}` }, label),
    h('input', {
      id: `f-${name}`,
      name,
      placeholder,
      autocomplete: 'off',
      spellcheck: 'false',
      'data-testid': `field-${name}`,
    }),
  );
}

/** @param {string} name @param {string} label @param {Record<string, any>} more */
function number(name, label, more) {
  return h(
    'div',
    { class: 'field' },
    h('label', { for: `f-${name}` }, label),
    h('input', {
      id: `f-${name}`,
      name,
      type: 'number',
      inputmode: 'decimal',
      placeholder: 'default',
      ...more,
      'data-testid': `field-${name}`,
    }),
  );
}

/** @param {string} name @param {string} label @param {[string, string][]} options @param {string} none */
function choice(name, label, options, none) {
  return h(
    'div',
    { class: 'field' },
    h('label', { for: `f-${name}` }, label),
    h(
      'select',
      { id: `f-${name}`, name, 'data-testid': `field-${name}` },
      h('option', { value: '' }, none),
      options.map(([value, words]) => h('option', { key: value, value }, words)),
    ),
  );
}

/** @param {FormData} given @param {string} name */
function text(given, name) {
  const value = String(given.get(name) ?? '').trim();
  return value === '' ? undefined : value;
}

/** @param {FormData} given @param {string} name */
function lines(given, name) {
  return String(given.get(name) ?? '')
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
}

/** @param {FormData} given @param {string} name */
function amount(given, name) {
  const value = Number(text(given, name));
  return Number.isFinite(value) && text(given, name) !== undefined ? value : undefined;
}

/** @param {FormData} given @param {any[]} fields */
function optionValues(given, fields) {
  return Object.fromEntries(
    fields.map((field) => [
      field.name,
      field.kind === 'number' ? amount(given, field.name) : text(given, field.name),
    ]),
  );
}

/** @param {FormData} given */
function loopBody(given) {
  return {
    task: text(given, 'task') ?? '',
    criteria: lines(given, 'criteria'),
    rubric: text(given, 'rubric'),
  };
}

/** @param {FormData} given */
function goalBody(given) {
  return { goal: text(given, 'goal') ?? '', until: lines(given, 'until') };
}
