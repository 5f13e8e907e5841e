// The rail of a goal: each verdict has its colour, told apart from every other, in light and in dark, and says its name.

import assert from 'node:assert/strict';
import { part, play } from './stage.mjs';

/** Where on the circle of colours each verdict is: green, yellow, emerald, orange, red. */
const HUES = { progressing: [90, 130], stuck: [42, 58], achieved: [145, 175], misled: [15, 32], error: [340, 372] };

await play(async (page) => {
  await page.locator('a', { hasText: 'Write the file done.txt' }).first().click();
  await part(page, 'rail-entry', '[data-verdict="error"]').waitFor();
  for (const scheme of /** @type {const} */ (['light', 'dark'])) {
    await page.emulateMedia({ colorScheme: scheme });
    const seen = new Map();
    for (const [verdict, [from, to]] of Object.entries(HUES)) {
      const entry = part(page, 'rail-entry', `[data-verdict="${verdict}"]`).first();
      assert.match(await entry.innerText(), new RegExp(`critic:${verdict}`), 'never colour alone');
      const [word, edge] = await entry.evaluate((el) => [
        getComputedStyle(el.querySelector('.rail-head') ?? el).color,
        getComputedStyle(el).borderInlineStartColor,
      ]);
      for (const colour of [word, edge]) {
        const hue = hueOf(colour);
        const turned = hue < 180 && to > 360 ? hue + 360 : hue;
        assert.ok(turned >= from && turned <= to, `${verdict} in ${scheme} is ${colour}, hue ${hue}`);
      }
      assert.ok(!seen.has(word), `${verdict} looks like ${seen.get(word)} in ${scheme}`);
      seen.set(word, verdict);
    }
  }
  const events = await part(page, 'rail-entry').evaluateAll((all) => all.map((one) => one.dataset.event));
  for (const event of ['claimed', 'verification_failed', 'goal_verified', 'nudged']) {
    assert.ok(events.includes(event), `${event} is on the rail: ${events}`);
  }
  assert.ok((await part(page, 'step').count()) >= 8, 'the steps are there, too');
});

/** @param {string} colour as `rgb(r, g, b)` @returns {number} degrees */
function hueOf(colour) {
  const [r, g, b] = (colour.match(/[\d.]+/g) ?? []).map((n) => Number(n) / 255);
  const most = Math.max(r, g, b);
  const range = most - Math.min(r, g, b);
  assert.ok(range > 0.1, `${colour} is grey`);
  const turn = most === r ? (g - b) / range : most === g ? 2 + (b - r) / range : 4 + (r - g) / range;
  return (turn * 60 + 360) % 360;
}
