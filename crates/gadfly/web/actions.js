// What can be done to a run: pause, resume, cancel. Steering is at the end of a goal's log (goal.js).

import { h, mount } from './dom.js';
import { button } from './parts.js';
import { withTerms } from './requests.js';

/** @param {import('./run.js').Seen} seen */
export function actions(seen) {
  const { page, run, view } = seen;
  const can = page.can ?? {};
  const busy = view.get('busy', '');
  const act = async (/** @type {string} */ what) => {
    view.set('busy', what);
    const told = await withTerms(`/api/runs/${run}/${what}`, {}, what === 'resume' ? 'Agree and resume' : 'Agree');
    view.note('said', told.words);
    view.note('said-bad', !told.ok);
    view.set('busy', '');
  };
  const one = (/** @type {string} */ name, /** @type {string} */ label, /** @type {() => void} */ click, extra = '') =>
    can[name]
      ? button(busy === name ? `${label}…` : label, click, {
          class: extra,
          disabled: busy !== '',
          'data-testid': `${name}-button`,
        })
      : null;
  const asks = (page.questions ?? []).some((/** @type {any} */ q) => !q.answered);
  const said = view.get('said');
  return h('div', { class: 'actions' }, [
    h('div', { class: 'buttons' }, [
      one('pause', 'Pause', () => act('pause')),
      one('resume', 'Resume', () => act('resume'), asks ? '' : 'primary'),
      one('cancel', 'Cancel', () => confirmCancel(() => act('cancel')), 'quiet danger'),
    ]),
    said
      ? h(
          'p',
          { class: view.get('said-bad') ? 'said-back bad' : 'said-back', role: 'status', 'data-testid': 'said' },
          said,
        )
      : null,
  ]);
}

/** @param {() => void} agreed */
function confirmCancel(agreed) {
  const place = document.getElementById('dialogs');
  if (!place) return;
  const shown = mount(place);
  /** @type {HTMLDialogElement | undefined} */
  let dialog;
  const sure = () => {
    dialog?.close();
    agreed();
  };
  shown.show(
    h(
      'dialog',
      {
        class: 'dialog',
        'aria-labelledby': 'cancel-title',
        'data-testid': 'confirm-cancel',
        on: { close: () => shown.clear() },
        ref: (/** @type {HTMLDialogElement} */ el) => (dialog = el),
      },
      [
        h('h2', { id: 'cancel-title' }, 'Cancel this run?'),
        h(
          'p',
          null,
          'It ends for good and cannot be resumed. Drafts and verdicts stay in its record. Pause it instead if you want to go on later.',
        ),
        h(
          'div',
          { class: 'dialog-end' },
          button('Keep it', () => dialog?.close()),
          button('Cancel the run', sure, { class: 'danger-fill', 'data-testid': 'confirm-cancel-button' }),
        ),
      ],
    ),
  );
  dialog?.showModal();
}
