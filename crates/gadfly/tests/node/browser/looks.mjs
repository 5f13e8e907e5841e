// Every kind of page in light and in dark, on a wide and on narrow screens: nothing shuts anybody out, no page scrolls
// sideways, and the switch of colours holds when the page is loaded anew.

import assert from 'node:assert/strict';
import { accessible, fits, origin, part, play } from './stage.mjs';

const RUNS = ['Write the file done.txt', 'Estimate the effect', 'Write the abstract', 'Judge it yourself'];

await play(async (page) => {
  /** @type {[string, string, string][]} */
  const pages = [['the overview', '/', '[data-testid="run-row"]'], ['the form', '/start', '[data-testid="start-form"]']];
  await part(page, 'run-row').first().waitFor();
  for (const title of RUNS) {
    const href = await page.locator('a', { hasText: title }).first().getAttribute('href');
    pages.push([title, href ?? '', '[data-testid="run"]']);
  }
  pages.push(['a run that is not there', '/runs/zzzzzzzzzz', 'h1']);
  for (const [name, path, mark] of pages) {
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.goto(origin + path);
    await page.locator(mark).first().waitFor();
    for (const scheme of /** @type {const} */ (['light', 'dark'])) {
      await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
      await accessible(page, `${name}, ${scheme}`);
    }
    const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const dark = await ground();
    await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
    assert.notEqual(await ground(), dark, `${name} has a dark and a light look`);
    for (const width of [390, 320]) {
      await page.setViewportSize({ width, height: 800 });
      await fits(page, `${name} at ${width} px`);
    }
    await accessible(page, `${name}, narrow`);
  }
  await page.goto(origin);
  const toggle = part(page, 'theme');
  await toggle.click();
  await toggle.click();
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark', 'auto, light, dark');
  await page.reload();
  await part(page, 'run-row').first().waitFor();
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark');
}, { expected: [/status of 404.*zzzzzzzzzz/] });
