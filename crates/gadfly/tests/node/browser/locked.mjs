// Without the token, or with a wrong one: a calm page that says how to get in, nothing of any run, and the link opens it.

import assert from 'node:assert/strict';
import { accessible, link, origin, part, play } from './stage.mjs';

await play(async (page) => {
  await part(page, 'locked').waitFor();
  await accessible(page, 'the page without a token');
  assert.ok(!(await page.locator('body').innerText()).includes('Judge it yourself'));
  await page.goto(`${origin}/#token=${'0'.repeat(48)}`);
  await page.reload();
  await part(page, 'locked').waitFor();
  assert.ok(!page.url().includes('token'), 'a token does not stay in the address');
  assert.deepEqual(await page.evaluate(() => Object.keys(localStorage)), [], 'nothing is kept of a wrong one');
  await part(page, 'token').fill('nonsense');
  await page.keyboard.press('Enter');
  await part(page, 'locked', '[data-why="wrong"]').waitFor();
  await part(page, 'token').fill(link);
  await page.keyboard.press('Enter');
  await part(page, 'run-row').first().waitFor();
  assert.ok(!page.url().includes('token'));
  const again = await page.context().newPage();
  await again.goto(origin);
  await part(again, 'run-row').first().waitFor();
  // A link from elsewhere, with a token that is none, shuts nobody out: not this tab, not the next.
  await again.goto(`${origin}/#token=${'x'.repeat(48)}`);
  await part(again, 'run-row').first().waitFor();
  await again.evaluate(() => (location.hash = `#token=${'y'.repeat(48)}`));
  await again.waitForFunction(() => location.hash === '');
  await again.reload();
  await part(again, 'run-row').first().waitFor();
  const kept = await again.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie]));
  assert.ok(!kept.includes(new URL(link).hash.slice('#token='.length)), 'the token itself is kept nowhere');
}, { first: origin });
