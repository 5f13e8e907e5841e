// A call that takes long: the clock of its run goes on, and the page says for how long nothing came.

import assert from 'node:assert/strict';
import { part, play, stands } from './stage.mjs';

await play(async (page) => {
  await page.locator('a', { hasText: 'A slow one' }).first().click();
  await stands(page, 'running');
  await part(page, 'since').filter({ hasText: /under way for \d+:\d\d/ }).waitFor();
  const time = async () => {
    const [, minutes, seconds] = /(\d+):(\d\d)/.exec(await part(page, 'meter', '[data-meter="time"]').innerText()) ?? [];
    return Number(minutes) * 60 + Number(seconds);
  };
  const before = await time();
  await page.waitForFunction(([then]) => {
    const [, minutes, seconds] = /(\d+):(\d\d)/.exec(document.querySelector('[data-meter="time"]')?.textContent ?? '') ?? [];
    return Number(minutes) * 60 + Number(seconds) > then;
  }, [before]);
  assert.ok((await time()) > before);
  await part(page, 'pause-button').click();
  await part(page, 'wish').filter({ hasText: 'pauses' }).waitFor();
  assert.equal(await part(page, 'pause-button').count(), 0, 'it was wished already');
});
