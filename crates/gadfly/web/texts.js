// Texts of a run, fetched when they are looked at: drafts, briefs, outputs, words to a worker. Long ones come in slices,
// and never more of them than a page can hold.

import { get, trouble } from './api.js';
import { h, mount, said, widget } from './dom.js';
import * as say from './format.js';
import { button, notice } from './parts.js';
import { cut } from './text.js';

/** More bytes of one text are not put on the page. */
const MOST_BYTES = 2 << 20;
const MOST_SHORT = 300;
const LONGEST_SHORT = 600;

/** First slices, by run and digest; texts never change. @type {Map<string, Promise<any>>} */
const short = new Map();

/** @param {string} run @param {string} digest @param {number} [from] */
function slice(run, digest, from = 0) {
  return get(`/api/runs/${encodeURIComponent(run)}/texts/${encodeURIComponent(digest)}?from=${from}`);
}

/**
 * A text in a box of its own.
 * @param {{run: string, digest: string, testid?: string, plain?: boolean}} props
 */
export function textBox(props) {
  const el = document.createElement('div');
  el.className = 'text-box';
  const shown = mount(el);
  let current = props;
  /** @type {string[]} */
  let parts = [];
  let next = /** @type {number | null} */ (0);
  let total = 0;
  let failure = '';
  let fetching = false;
  let asked = 0;

  async function fetchMore() {
    if (fetching || next === null) return;
    fetching = true;
    draw();
    const mine = ++asked;
    const reply = await slice(current.run, current.digest, next);
    if (mine !== asked) return;
    fetching = false;
    if (reply.status === 200) {
      parts = parts.concat(reply.body.text ?? '');
      next = reply.body.next ?? null;
      total = reply.body.bytes ?? 0;
      failure = '';
    } else failure = trouble(reply);
    draw();
  }

  function draw() {
    const loaded = next ?? total;
    const full = next !== null && next >= MOST_BYTES;
    shown.show([
      failure ? notice('bad', failure) : null,
      parts.length > 0
        ? h(
            'pre',
            {
              class: `text${current.plain ? ' plain' : ''}`,
              tabindex: '0',
              dir: 'auto',
              'data-testid': current.testid ?? 'text',
              role: 'group',
              'aria-label': `Text: ${current.testid ?? 'text'}`,
            },
            parts.map((part, i) => h('span', { key: String(i) }, part === '' && total === 0 ? '(empty)' : part)),
          )
        : failure
          ? null
          : h('p', { class: 'soft' }, 'Fetching…'),
      next !== null && parts.length > 0
        ? h('p', { class: 'text-more' }, [
            `${say.bytes(loaded)} of ${say.bytes(total)} `,
            full
              ? 'are shown. The whole text: gadfly show RUN --draft'
              : button(fetching ? 'Fetching…' : 'Show more', fetchMore, { class: 'small', 'data-testid': 'text-more' }),
          ])
        : null,
    ]);
  }

  draw();
  fetchMore();
  return {
    el,
    /** @param {typeof props} now */
    update(now) {
      if (now.digest === current.digest && now.run === current.run) return;
      [current, parts, next, total, failure, fetching] = [now, [], 0, 0, '', false];
      asked += 1;
      fetchMore();
    },
    destroy() {
      asked += 1;
      shown.clear();
    },
  };
}

/**
 * The beginning of a text, in a line of other words.
 * @param {{run: string, digest: string, otherwise?: string, means?: Map<string, string>}} props `means`: what words stand for
 */
export function shortText(props) {
  const el = document.createElement('span');
  const shown = mount(el);
  let digest = '';
  async function look(/** @type {typeof props} */ now) {
    if (now.digest === digest) return;
    digest = now.digest;
    const key = `${now.run} ${now.digest}`;
    let asked = short.get(key);
    if (!asked) {
      asked = slice(now.run, now.digest);
      short.set(key, asked);
      const oldest = short.keys().next().value;
      if (short.size > MOST_SHORT && oldest !== undefined) short.delete(oldest);
    }
    const reply = await asked;
    if (reply.status === 0) short.delete(key);
    const text =
      reply.status === 200
        ? String(reply.body.text ?? '')
            .trim()
            .replace(/\n{2,}/g, '\n')
        : '';
    if (digest !== now.digest) return;
    const means = now.means?.get(text);
    shown.show([
      said(cut(text || (now.otherwise ?? ''), LONGEST_SHORT)),
      means ? h('span', { class: 'soft' }, ' (', said(means), ')') : null,
    ]);
  }
  shown.show(said(props.otherwise ?? '…'));
  look(props);
  return { el, update: look };
}

/** What somebody answered, and what it stands for. @param {string} run @param {string} digest @param {{word: string, says: string}[]} [choices] */
export function answerText(run, digest, choices = []) {
  const means = new Map(choices.map((choice) => [choice.word, choice.says]));
  return widget(shortText, { run, digest, means }, `answer ${digest}`);
}
