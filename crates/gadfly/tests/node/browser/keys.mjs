// Without a mouse: the skip link comes first, j and k walk the runs, Enter opens one, and a question is answered.

import assert from 'node:assert/strict';
import { part, play, stands } from './stage.mjs';

await play(async (page) => {
  await part(page, 'run-row').first().waitFor();
  const focused = () => page.evaluate(() => document.activeElement?.textContent?.trim() ?? '');
  const press = (/** @type {string} */ key) => page.keyboard.press(key);
  await press('Tab');
  assert.equal(await focused(), 'Skip to the content');
  const order = [];
  for (let n = 0; n < 12; n += 1) {
    await press('Tab');
    order.push(await page.evaluate(() => {
      const el = document.activeElement ?? document.body;
      // A link that stretches over its row shows the focus around the row.
      const looks = [getComputedStyle(el), getComputedStyle(el, '::after'), getComputedStyle(el.closest('[data-testid]') ?? el)];
      return { what: el.textContent?.slice(0, 20), seen: looks.some((look) => look.outlineStyle !== 'none' && look.outlineWidth !== '0px') };
    }));
  }
  assert.ok(order.every((one) => one.seen), `the focus is always seen: ${JSON.stringify(order)}`);

  await press('?');
  await part(page, 'keys').waitFor();
  await press('Escape');
  await part(page, 'keys').waitFor({ state: 'detached' });
  const walked = [];
  const runs = await part(page, 'run-row').count();
  await page.evaluate(() => document.activeElement instanceof HTMLElement && document.activeElement.blur());
  for (let n = 0; n < runs; n += 1) {
    await press('j');
    walked.push(await focused());
  }
  assert.equal(new Set(walked).size, runs, `j walks every run once: ${walked}`);
  await press('k');
  assert.equal(await focused(), walked.at(-2));
  while ((await focused()) !== 'Judge it yourself') {
    await press('k');
  }
  await press('Enter');
  await part(page, 'question').waitFor();
  assert.equal(await page.evaluate(() => document.activeElement?.id), 'main', 'the new page is read from its beginning');
  for (let n = 0; (await page.evaluate(() => document.activeElement?.getAttribute('data-testid'))) !== 'answer-text'; n += 1) {
    assert.ok(n < 60, 'the answer can be reached');
    await press('Tab');
  }
  await page.keyboard.type('It is short.');
  await press('Tab');
  await press('Enter');
  await part(page, 'question', '[data-answered="true"]').or(part(page, 'state', '[data-state="approved"]')).first().waitFor();
  await stands(page, 'approved');
  await press('g');
  await press('o');
  await part(page, 'run-row').first().waitFor();
  await press('g');
  await press('s');
  await part(page, 'start-form').waitFor();

  await press('g');
  await press('o');
  await part(page, 'run-row').nth(runs - 1).waitFor();
  await press('/');
  assert.equal(await page.evaluate(() => document.activeElement?.id), 'filter');
  // Longer than any run's id, which may hold any letters.
  await page.keyboard.type('judge jkjkjkjkjkjk');
  await part(page, 'run-row').first().waitFor({ state: 'detached' });
  await press('Escape');
  // However the field is left, it says what the list is filtered by.
  await page.waitForFunction(([all]) => {
    const field = document.querySelector('#filter');
    const rows = document.querySelectorAll('[data-testid="run-row"]').length;
    return field instanceof HTMLInputElement && (field.value === '' ? rows === all : rows === 0);
  }, [runs]);
}, { expected: [/status of 409/] });
