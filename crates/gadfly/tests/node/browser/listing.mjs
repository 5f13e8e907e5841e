// More runs than a page has: one that waits and one at work began before them all. Then both end, others begin, and
// nobody loads the page anew.

import assert from 'node:assert/strict';
import { letGo, part, play } from './stage.mjs';

await play(async (page) => {
  const rows = part(page, 'run-row');
  const waits = part(page, 'needs-you').locator('[data-testid="run-row"]').filter({ hasText: 'Judge it yourself' });
  await waits.waitFor();
  const works = part(page, 'running').locator('[data-testid="run-row"]').filter({ hasText: 'A slow one' });
  await works.waitFor();
  assert.match(await page.title(), /1 run needs you/, 'however old it is');
  const ids = () => rows.evaluateAll((all) => all.map((one) => one.getAttribute('data-run')));
  const become = (/** @type {number} */ n) =>
    page.waitForFunction(([many]) => document.querySelectorAll('[data-testid="run-row"]').length === many, [n]);
  await become(52);
  // The list is drawn anew as runs grow older; a click that waits for it to stand still may wait for ever.
  await part(page, 'older').dispatchEvent('click');
  await become(62);
  assert.equal(new Set(await ids()).size, 62, 'each run once');

  letGo('answer-elsewhere');
  await rows.filter({ hasText: 'Judge it yourself' }).and(page.locator('[data-state="approved"]')).waitFor();
  // Nothing needs anybody any more.
  await part(page, 'needs-you').waitFor({ state: 'detached' });
  await page.waitForFunction(() => !document.title.includes('needs you'));

  letGo('start-five');
  await become(67);
  assert.equal(new Set(await ids()).size, 67, 'those that newer ones pushed down are still there, once');
  await rows.filter({ hasText: 'A slow one' }).and(page.locator('[data-state="approved"]')).waitFor();
  await part(page, 'running').waitFor({ state: 'detached' });

  await part(page, 'state-chip', '[data-state="approved"]').click();
  await become(50);
  await part(page, 'state-chip', '[data-state="approved"]').click();
  await become(50);
  await part(page, 'filter').fill('Later 3.');
  await become(1);
  await page.reload();
  await become(1);
  assert.equal(await part(page, 'filter').inputValue(), 'Later 3.', 'the address knows what is looked for');
  await part(page, 'filter').focus();
  await page.keyboard.press('Escape');
  await become(50);
  assert.equal(await part(page, 'filter').inputValue(), '');
});
