// What every scenario shares: a browser at the dashboard's link, a watch over everything that must not happen, and a few
// words for what a person does. A scenario is one call of `play`.

import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

/** However busy the machine is. */
const PATIENCE_MS = Number(process.env.GADFLY_PATIENCE_MS ?? 90_000);
const SHOWN = 4000;

export const link = process.env.GADFLY_LINK;
export const origin = new URL(link).origin;
export const project = process.env.GADFLY_PROJECT;
const stage = process.env.GADFLY_STAGE;

/** The sandbox needs a user who is not root; the rest keeps the browser from asking for anything by itself. */
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-dev-shm-usage',
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
];

/**
 * Opens the link and lets `act` do what a person would; then nothing forbidden may have happened.
 * @param {(page: import('playwright-core').Page, context: import('playwright-core').BrowserContext) => Promise<void>} act
 * @param {{expected?: RegExp[], faults?: RegExp[], first?: string, origins?: string[]}} [more] console errors that may belong to the
 *   scenario; what it does wrong on purpose, and must be noticed; where to go first
 */
export async function play(act, more = {}) {
  const profile = mkdtempSync(join(tmpdir(), 'gadfly-browser-'));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: process.env.GADFLY_CHROMIUM,
    args: FLAGS,
    chromiumSandbox: false,
    headless: true,
    reducedMotion: 'reduce',
    locale: 'en-GB',
    timezoneId: 'UTC',
    viewport: { width: 1280, height: 900 },
  });
  const faults = watch(context, more.expected ?? [], [origin, ...(more.origins ?? [])]);
  context.setDefaultTimeout(PATIENCE_MS);
  const page = context.pages()[0] ?? (await context.newPage());
  let failure;
  try {
    await page.goto(more.first ?? link);
    await act(page, context);
  } catch (error) {
    failure = error;
    await report(page).catch(() => {});
  }
  await context.close();
  rmSync(profile, { recursive: true, force: true });
  if (failure) {
    console.error(failure);
    if (faults.length > 0) console.error('and besides:', faults);
    process.exit(1);
  }
  const meant = more.faults ?? [];
  for (const one of meant) assert.ok(faults.some((fault) => one.test(fault)), `${one} was not noticed: ${faults}`);
  const left = faults.filter((fault) => !meant.some((one) => one.test(fault)));
  assert.deepEqual(left, [], 'nothing of this may happen on any page');
  console.log('played');
}

/** @param {import('playwright-core').BrowserContext} context @param {RegExp[]} expected @param {string[]} origins @returns {string[]} */
function watch(context, expected, origins) {
  /** @type {string[]} */
  const faults = [];
  context.on('console', (said) => {
    const text = `console ${said.type()}: ${said.text()} (${said.location().url})`;
    if (said.type() === 'error' && !expected.some((one) => one.test(text))) faults.push(text);
  });
  context.on('weberror', (failed) => faults.push(`page error: ${failed.error()?.stack ?? failed.error()}`));
  context.on('request', (request) => {
    if (!origins.some((ours) => request.url().startsWith(`${ours}/`))) faults.push(`request to another origin: ${request.url().slice(0, 200)}`);
  });
  context.on('dialog', (dialog) => {
    faults.push(`a dialog of the browser: ${dialog.message()}`);
    dialog.dismiss().catch(() => {});
  });
  return faults;
}

/** What was on the page when it failed. @param {import('playwright-core').Page} page */
async function report(page) {
  console.error(`at ${page.url()}\n${(await page.locator('body').innerText({ timeout: 5000 })).slice(0, SHOWN)}\n`);
  if (process.env.GADFLY_SHOTS) await page.screenshot({ path: join(process.env.GADFLY_SHOTS, `${Date.now()}.png`) });
}

/** @param {import('playwright-core').Page | import('playwright-core').Locator} where @param {string} id @param {string} [attributes] as `[data-round="1"]` */
export function part(where, id, attributes = '') {
  return where.locator(`[data-testid="${id}"]${attributes}`);
}

/** Waits until a run's page shows this state. @param {import('playwright-core').Page} page @param {string} state its beginning */
export async function stands(page, state) {
  await part(page, 'state', `[data-state^="${state}"]`).first().waitFor();
}

/** Lets an agent of the stage go on that waits for this file. @param {string} name */
export function letGo(name) {
  writeFileSync(join(stage, name), '');
}

/** @param {string} file @param {string} what */
export async function appears(file, what) {
  const until = Date.now() + PATIENCE_MS;
  while (!existsSync(file)) {
    assert.ok(Date.now() < until, `${what} within ${PATIENCE_MS} ms`);
    await new Promise((wake) => setTimeout(wake, 20));
  }
}

/** @param {string} name */
export function onStage(name) {
  return join(stage, name);
}

/** @param {import('playwright-core').Page} page @returns {string} the run whose page this is */
export function runOf(page) {
  return new URL(page.url()).pathname.split('/').at(-1) ?? '';
}

/** Agrees to terms as long as there are some, until the run's page is open. @param {import('playwright-core').Page} page */
export async function agreeAll(page) {
  const agree = part(page, 'agree-button');
  const opened = part(page, 'run');
  for (;;) {
    await agree.or(opened).first().waitFor();
    if (await opened.isVisible()) return;
    await agree.click();
    await agree.waitFor({ state: 'detached' });
  }
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Nothing on the page may shut somebody out. @param {import('playwright-core').Page} page @param {string} where */
export async function accessible(page, where) {
  await page.evaluate(axe);
  const found = await page.evaluate(async () => {
    const result = await /** @type {any} */ (globalThis).axe.run(document, { resultTypes: ['violations'] });
    return result.violations
      .filter((/** @type {any} */ v) => v.impact === 'serious' || v.impact === 'critical')
      .map((/** @type {any} */ v) => `${v.id}: ${v.help}: ${v.nodes.slice(0, 3).map((/** @type {any} */ n) => `${n.html.slice(0, 160)} ${n.failureSummary ?? ''}`).join(' | ')}`);
  });
  assert.deepEqual(found, [], `${where} shuts nobody out`);
}

/** The page itself does not scroll sideways. @param {import('playwright-core').Page} page @param {string} where */
export async function fits(page, where) {
  const [inner, outer] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
  assert.ok(inner <= outer, `${where} is ${inner} px wide on a screen of ${outer}`);
}
