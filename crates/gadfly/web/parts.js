// Small things that every page is made of: icons, badges, buttons, notices.

import { h } from './dom.js';

/** Drawn on a field of 16 by 16, as strokes. @type {Record<string, string>} */
const ICONS = {
  run: 'M5 3.2v9.600l8-4.800z',
  cut: 'M3 8h3M10 8h3M8 2.500v3M8 10.500v3',
  check: 'M3 8.500l3.300 3.500L13 4.500',
  cross: 'M4 4l8 8M12 4l-8 8',
  stop: 'M4 4h8v8H4z',
  clock: 'M8 4.500V8l2.500 1.700M8 2a6 6 0 1 0 0 12A6 6 0 1 0 8 2',
  doubt: 'M8 2a6 6 0 1 0 0 12A6 6 0 1 0 8 2M5.500 8h5',
  coin: 'M8 2a6 6 0 1 0 0 12A6 6 0 1 0 8 2M9.800 6C9.300 5.200 6.300 5 6.300 6.700c0 1.700 3.600.9 3.600 2.700 0 1.700-3.200 1.600-3.800.5M8 4.200v7.600',
  ban: 'M8 2a6 6 0 1 0 0 12A6 6 0 1 0 8 2M3.900 3.900l8.200 8.200',
  alert: 'M8 2.200L14.300 13H1.700zM8 6.300v3M8 11.200v.2',
  ask: 'M5.500 6c0-3.400 5.200-3.200 5.200-.2C10.700 8 8 7.800 8 10M8 12.600v.4',
  pause: 'M5.500 3.500v9M10.500 3.500v9',
  arrow: 'M2.500 8h10M9 4.500L12.500 8 9 11.500',
  back: 'M13 8H3M6.500 4.500L3 8l3.500 3.500',
  down: 'M3.500 6L8 10.500 12.500 6',
  pen: 'M3 13l.7-3L11 2.700 13.300 5 6 12.300zM9.500 4.200l2.300 2.300',
  eye: 'M1.500 8S4 3.800 8 3.800 14.500 8 14.500 8 12 12.200 8 12.200 1.500 8 1.500 8M8 6.200a1.800 1.800 0 1 0 0 3.600 1.800 1.800 0 1 0 0-3.600',
  plus: 'M8 3v10M3 8h10',
  file: 'M4 2h5l3 3v9H4zM9 2v3h3',
  folder: 'M2 4h4l1.500 1.500H14V13H2z',
  return: 'M12.500 5.500H6a3 3 0 0 0 0 6h5M9.700 2.700l2.800 2.800-2.800 2.800',
  sun: 'M8 5a3 3 0 1 0 0 6 3 3 0 1 0 0-6M8 1.500v1.300M8 13.200v1.300M1.500 8h1.300M13.200 8h1.300M3.400 3.400l.9.9M11.700 11.700l.9.9M3.400 12.600l.9-.9M11.700 4.300l.9-.9',
  moon: 'M13 9.700A5.700 5.700 0 0 1 6.300 3 5.700 5.700 0 1 0 13 9.700',
  half: 'M8 2a6 6 0 1 0 0 12zM8 2a6 6 0 0 1 0 12',
  keys: 'M1.500 4.500h13v7h-13zM4 7h.1M6.700 7h.1M9.300 7h.1M12 7h.1M5 9.300h6',
  dot: 'M8 5a3 3 0 1 0 0 6 3 3 0 1 0 0-6',
  shield: 'M8 2l5 2v4c0 3-2 5-5 6.500C5 13 3 11 3 8V4z',
  flag: 'M4 14V2.500h8L9.800 5.500 12 8.500H4',
  speak: 'M2.500 3h11v8H7l-3 2.800V11H2.500z',
};
const FILLED = new Set(['run', 'dot', 'stop']);

/** @param {string} name @param {string} [label] what it says where no word stands beside it */
export function icon(name, label) {
  const path = h('path', { d: ICONS[name] ?? ICONS.dot ?? '' });
  const shape = `icon${FILLED.has(name) ? ' filled' : ''}`;
  const named = label ? { role: 'img', 'aria-label': label } : { 'aria-hidden': 'true' };
  return h('svg', { class: shape, viewBox: '0 0 16 16', ...named }, path);
}

/** A word with its icon and its colour. @param {import('./format.js').Shown} shown @param {Record<string, any>} [props] */
export function badge(shown, props = {}) {
  const { class: more = '', ...rest } = props;
  return h(
    'span',
    { ...rest, class: `badge tone-${shown.tone} ${more}`.trim() },
    icon(shown.icon),
    h('span', null, shown.word),
  );
}

/** @param {any} label @param {() => void} click @param {Record<string, any>} [props] */
export function button(label, click, props = {}) {
  const { class: more = '', ...rest } = props;
  return h('button', { type: 'button', ...rest, class: `button ${more}`.trim(), on: { click } }, label);
}

/** @param {string} href @param {any} label @param {Record<string, any>} [props] a link that the router follows */
export function link(href, label, props = {}) {
  return h('a', { href, 'data-route': '', ...props }, label);
}

/** Something that must not be overlooked. @param {import('./format.js').Tone} tone @param {any} content @param {Record<string, any>} [props] */
export function notice(tone, content, props = {}) {
  const name = tone === 'good' ? 'check' : tone === 'bad' ? 'alert' : tone === 'calm' ? 'speak' : 'alert';
  return h('div', { ...props, class: `notice tone-${tone}` }, icon(name), h('div', { class: 'grow' }, content));
}

/** @param {string} title @param {any} content @param {Record<string, any>} [props] */
export function section(title, content, props = {}) {
  const { class: more = '', aside, level = 'h2', ...rest } = props;
  const head = h(
    'div',
    { class: 'section-head' },
    h(level, null, title),
    aside ? h('div', { class: 'section-aside' }, aside) : null,
  );
  return h('section', { ...rest, class: `section ${more}`.trim() }, head, content);
}
