// The way to the server: requests, and event streams that come back by themselves. Keeps no data. Nothing is believed that
// the server did not mark (secret.js).

import { isServer, sign } from './secret.js';

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 5000;
/** A tab in the background gives its connection back after this, and looks once in a while. */
const HIDDEN_MS = 60_000;
const SIP_MS = 30_000;
/** A server that sends a sign of life and then none for so long is gone. */
const SILENT_MS = 60_000;
/** A single event is never longer. */
const LONGEST_EVENT = 64 << 20;

/** @typedef {{status: number, body: any}} Reply */

/** Said where something answers that does not know this page's token. */
const STRANGER = {
  error: 'What answers at this address is not the server that this page was opened with.',
  help: 'Open the link that `gadfly serve` printed last.',
};
const AWAY = { error: 'The server cannot be reached.', help: 'Is `gadfly serve` still running?' };

let onRefused = () => {};

/** @param {() => void} told called when what answers is not the server this page was opened with */
export function whenRefused(told) {
  onRefused = told;
}

/** @returns {Reply} */
function refused() {
  onRefused();
  return { status: 0, body: STRANGER };
}

/** @param {'GET' | 'POST'} method @param {string} path @param {{body?: string, signal?: AbortSignal}} [more] @returns {Promise<Reply>} */
async function ask(method, path, { body, signal } = {}) {
  const mark = sign(method, path, body);
  /** @type {Record<string, string>} */
  const headers = { Authorization: mark.header };
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  let response;
  try {
    response = await fetch(path, {
      method,
      headers,
      body,
      signal,
      cache: 'no-store',
      credentials: 'omit',
      redirect: 'error',
    });
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    return { status: 0, body: AWAY };
  }
  if (!mark.answers(response)) return refused();
  let said;
  try {
    said = await response.json();
  } catch {
    said = { error: `The server answered ${response.status} without words.` };
  }
  return { status: response.status, body: said ?? {} };
}

/** @param {string} path @param {AbortSignal} [signal] */
export function get(path, signal) {
  return ask('GET', path, { signal });
}

/** What a person wrote goes to nobody but the server. @param {string} path @param {unknown} body @returns {Promise<Reply>} */
export async function post(path, body) {
  const who = await isServer();
  if (who === 'away') return { status: 0, body: AWAY };
  return who === 'open' ? ask('POST', path, { body: JSON.stringify(body) }) : refused();
}

/** @param {Reply} reply @returns {string} what went wrong, in a sentence or two */
export function trouble(reply) {
  const { error, help } = reply.body ?? {};
  return [error ?? `The server answered ${reply.status}.`, help].filter(Boolean).join(' ');
}

/**
 * Follows an event stream until stopped, or until it says that there is nothing to follow: reconnects by itself, sips in
 * the background.
 * @param {string} path
 * @param {(event: string, data: any) => void} heard
 * @param {(state: 'connecting' | 'live' | 'lost', why?: string) => void} stood
 * @returns {() => void} stop
 */
export function follow(path, heard, stood) {
  let stopped = false;
  let waitMs = FIRST_WAIT_MS;
  /** @type {AbortController | undefined} */
  let open;
  /** @type {number | undefined} */
  let timer;
  let sipping = false;

  async function connect() {
    open = new AbortController();
    const mine = open;
    let events = 0;
    let why = '';
    try {
      const mark = sign('GET', path);
      const headers = { Authorization: mark.header, Accept: 'text/event-stream' };
      const response = await fetch(path, {
        headers,
        cache: 'no-store',
        credentials: 'omit',
        redirect: 'error',
        signal: mine.signal,
      });
      if (!mark.answers(response)) {
        mine.abort();
        why = `${STRANGER.error} ${STRANGER.help}`;
        waitMs = LONGEST_WAIT_MS;
        onRefused();
        throw new Error(why);
      }
      if (response.status === 404) {
        stopped = true;
        stood('live');
        heard('gone', {});
        return;
      }
      if (!response.ok || !response.body) {
        const said = (await response.json().catch(() => ({}))).error;
        why = said ? `The server says: ${said}.` : '';
        throw new Error(why);
      }
      await read(response.body, mine, (event, data) => {
        if (stopped || mine.signal.aborted) return;
        events += 1;
        waitMs = FIRST_WAIT_MS;
        stood('live');
        // What is gone does not come back: nobody asks again.
        stopped = event === 'gone';
        heard(event, data);
        if (sipping || stopped) mine.abort();
      });
    } catch {
      // However it ended, it is tried again below.
    }
    if (stopped || mine !== open) return;
    if (sipping) {
      timer = setTimeout(connect, SIP_MS);
      return;
    }
    stood(events > 0 || why ? 'lost' : 'connecting', why);
    timer = setTimeout(connect, waitMs);
    waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS);
  }

  /** @type {number | undefined} */
  let hiding;
  function seen() {
    clearTimeout(hiding);
    if (document.hidden) {
      hiding = setTimeout(() => {
        sipping = true;
        again();
      }, HIDDEN_MS);
    } else if (sipping) {
      sipping = false;
      again();
    }
  }
  function again() {
    if (stopped) return;
    clearTimeout(timer);
    const old = open;
    waitMs = FIRST_WAIT_MS;
    connect();
    old?.abort();
  }
  document.addEventListener('visibilitychange', seen);
  window.addEventListener('online', again);
  stood('connecting');
  connect();
  return () => {
    stopped = true;
    clearTimeout(timer);
    clearTimeout(hiding);
    document.removeEventListener('visibilitychange', seen);
    window.removeEventListener('online', again);
    open?.abort();
  };
}

/** @param {ReadableStream<Uint8Array>} body @param {AbortController} control @param {(event: string, data: any) => void} heard */
async function read(body, control, heard) {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  let event = 'message';
  /** @type {string[]} */
  let data = [];
  let size = 0;
  let beats = false;
  for (;;) {
    const silence = beats ? setTimeout(() => control.abort(), SILENT_MS) : undefined;
    const { done, value } = await reader.read().finally(() => clearTimeout(silence));
    if (done) return;
    const lines = (rest + decoder.decode(value, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const raw of lines) {
      const line = raw.endsWith('\r') ? raw.slice(0, -1) : raw;
      if (line === '') {
        if (data.length > 0) heard(event, parsed(data.join('\n')));
        [event, data, size] = ['message', [], 0];
      } else if (line.startsWith('event:')) event = line.slice(6).trim();
      else if (line.startsWith('data:')) {
        data.push(line.slice(5).replace(/^ /, ''));
        size += line.length;
      } else if (line.startsWith(':')) beats = true;
    }
    if (size + rest.length > LONGEST_EVENT) {
      control.abort();
      return;
    }
  }
}

/** @param {string} text @returns {any} */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
