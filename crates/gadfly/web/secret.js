// What this page knows of the server's token, and how both show it to each other: the token itself is never sent and never
// kept. A key is made of it and of what this start of the server is called; with it requests are marked and answers are
// checked. The server's side is serve/proof.rs.

import { hex, hmac, sha256, unhex } from './sha256.js';

const KEPT = 'gadfly.key';
const HELLO = '/api/hello';
const PROOF = 'gadfly-proof';
/** A server of this machine that does not answer this soon does not know us. */
const HELLO_MS = 10_000;

const encoder = new TextEncoder();

/** @type {string} for a browser that keeps nothing */
let memory = '';

/** The key, in hexadecimal; empty where there is none. What another tab was opened with counts here, too. */
export function key() {
  try {
    return localStorage.getItem(KEPT) ?? memory;
  } catch {
    return memory;
  }
}

/** @param {string} found */
function keep(found) {
  memory = found;
  try {
    localStorage.setItem(KEPT, found);
  } catch {
    // Without storage it holds for this page.
  }
}

/** @param {() => void} told when another tab was opened with another key */
export function whenKept(told) {
  window.addEventListener('storage', (event) => {
    if (event.key === KEPT && event.newValue) told();
  });
}

/** Takes a token out of the address. @returns {string} it, or nothing */
export function tokenInAddress() {
  const found = new URLSearchParams(location.hash.slice(1)).get('token');
  if (found) history.replaceState(null, '', location.pathname + location.search);
  return found?.trim() ?? '';
}

/**
 * Opens this page with a token, if what answers here shows that it knows it. What was kept before stays until then: a
 * link of somebody else's shuts nobody out.
 * @param {string} token
 * @returns {Promise<'open' | 'wrong' | 'away'>}
 */
export async function openWith(token) {
  const nonce = once();
  const said = await hello(nonce);
  if (!said) return 'away';
  if (!/^[0-9a-f]{32}$/.test(said.start)) return 'wrong';
  const made = marked(encoder.encode(token), `key\n${said.start}`);
  if (!same(said.proof, hex(marked(made, `server\n${nonce}`)))) return 'wrong';
  keep(hex(made));
  return 'open';
}

/** What answers here is the server this page was opened with. @returns {Promise<'open' | 'wrong' | 'away'>} */
export async function isServer() {
  const nonce = once();
  const said = await hello(nonce);
  if (!said) return 'away';
  return same(said.proof, hex(marked(unhex(key()), `server\n${nonce}`))) ? 'open' : 'wrong';
}

/**
 * A request's mark, and how its answer is known.
 * @param {string} method @param {string} path @param {string} [body]
 * @returns {{header: string, answers: (response: Response) => boolean}}
 */
export function sign(method, path, body = '') {
  const by = unhex(key());
  const nonce = once();
  // As the browser will send it.
  const { pathname, search } = new URL(path, location.origin);
  const digest = hex(sha256(encoder.encode(body)));
  const mark = hex(marked(by, `request\n${method}\n${pathname}${search}\n${nonce}\n${digest}`));
  return {
    header: `Gadfly ${nonce}:${digest}:${mark}`,
    answers: (response) =>
      same(response.headers.get(PROOF), hex(marked(by, `answer\n${nonce}\n${response.status}`))),
  };
}

/** @param {Uint8Array} by @param {string} text */
function marked(by, text) {
  return hmac(by, encoder.encode(text));
}

/** A number nobody has used before. */
function once() {
  return hex(crypto.getRandomValues(new Uint8Array(16)));
}

/** @param {unknown} said @param {string} meant */
function same(said, meant) {
  return typeof said === 'string' && said === meant;
}

/** @param {string} nonce @returns {Promise<{start: string, proof: string} | undefined>} none if nobody answers */
async function hello(nonce) {
  const patience = new AbortController();
  const timer = setTimeout(() => patience.abort(), HELLO_MS);
  try {
    const response = await fetch(`${HELLO}?nonce=${nonce}`, {
      cache: 'no-store',
      credentials: 'omit',
      redirect: 'error',
      signal: patience.signal,
    });
    const said = await response.json().catch(() => ({}));
    return { start: String(said?.start ?? ''), proof: String(said?.proof ?? '') };
  } catch {
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}
