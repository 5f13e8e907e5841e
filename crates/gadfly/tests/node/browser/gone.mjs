// The page of a run that is not there says so, calmly, and asks no more.

import assert from 'node:assert/strict';
import { origin, part, play } from './stage.mjs';

await play(async (page) => {
  await part(page, 'start-link').first().waitFor();
  let asked = 0;
  page.on('request', (request) => {
    if (request.url().includes('/api/live/runs/')) asked += 1;
  });
  await page.clock.install();
  await page.goto(`${origin}/runs/0000000000`);
  await page.getByRole('heading', { name: 'There is no such run here' }).waitFor();
  for (let n = 0; n < 5; n += 1) {
    await page.clock.runFor(10_000);
    await page.evaluate(() => window.dispatchEvent(new Event('online')));
  }
  assert.equal(asked, 1);
  assert.equal(await part(page, 'connection-strip').count(), 0);
});
