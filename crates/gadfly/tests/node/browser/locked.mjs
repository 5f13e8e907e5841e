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
  assert.equal(await page.evaluate(() => localStorage.getItem('gadfly.token')), null, 'a wrong one is forgotten');
  await part(page, 'token').fill('nonsense');
  await page.keyboard.press('Enter');
  await part(page, 'locked').waitFor();
  await part(page, 'token').fill(link);
  await page.keyboard.press('Enter');
  await part(page, 'run-row').first().waitFor();
  assert.ok(!page.url().includes('token'));
  const again = await page.context().newPage();
  await again.goto(origin);
  await part(again, 'run-row').first().waitFor();
}, { first: origin, expected: [/status of 401/] });
