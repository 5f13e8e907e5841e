// Text from models, files and networks, made safe to show: nothing in it can reorder, hide or imitate other text. What
// would act becomes visible. The one place for this; every string that dom.js puts on the page goes through it.

/** @typedef {{mark: string, name: string}} Mark a character that is shown by its name or picture */

/** More marks than this in one text are written as plain text, so that no text can make the page heavy. */
const MOST_MARKS = 2000;

const CONTROLS = '\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f';
// Joiners stay: scripts and emoji need them.
const DECEPTIVE =
  '\\u00ad\\u061c\\u180e\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb\\u{e0000}-\\u{e007f}';
const LONE_HALVES = '\\ud800-\\udfff';
const ACTING = new RegExp(`[${CONTROLS}${DECEPTIVE}${LONE_HALVES}]`, 'u');
const EVERY = new RegExp(ACTING.source, 'gu');

/**
 * The text in pieces: strings that are harmless, and marks for what is not.
 * @param {string} text
 * @returns {(string | Mark)[]}
 */
export function safeText(text) {
  const plain = text.includes('\r') ? text.replaceAll('\r\n', '\n') : text;
  if (!ACTING.test(plain)) return [plain];
  /** @type {(string | Mark)[]} */
  const pieces = [];
  let from = 0;
  let marks = 0;
  for (const found of plain.matchAll(EVERY)) {
    if (found.index > from) pieces.push(plain.slice(from, found.index));
    pieces.push(marked(found[0]));
    from = found.index + found[0].length;
    marks += 1;
    if (marks >= MOST_MARKS) break;
  }
  const rest = plain.slice(from);
  if (rest !== '') pieces.push(safeLine(rest));
  return pieces;
}

/**
 * The same as one string, for places that cannot hold elements: attributes and the window's title.
 * @param {string} text
 * @returns {string}
 */
export function safeLine(text) {
  return ACTING.test(text) ? text.replace(EVERY, (c) => marked(c).mark) : text;
}

/** @param {string} c @returns {Mark} */
function marked(c) {
  const code = c.codePointAt(0) ?? 0;
  const name = `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
  if (code < 0x20) return { mark: String.fromCodePoint(0x2400 + code), name };
  if (code === 0x7f) return { mark: '\u2421', name };
  return { mark: `\u27e8${name}\u27e9`, name };
}

/**
 * At most this many characters, with `…` where something was cut.
 * @param {string} text
 * @param {number} most
 */
export function cut(text, most) {
  if (text.length <= most) return text;
  const end = /[\ud800-\udbff]/.test(text[most - 1] ?? '') ? most - 1 : most;
  return `${text.slice(0, end)}…`;
}

/** @param {unknown} value @returns {string} in one line */
export function oneLine(value) {
  return String(value ?? '')
    .replace(/\s+/g, ' ')
    .trim();
}
