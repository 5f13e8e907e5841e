// Drafts, findings and titles full of markup, scripts, control characters and right-to-left marks, and a draft as
// large as there are any: shown as the text they are, and the page stays quick.

import assert from 'node:assert/strict';
import { accessible, fits, origin, part, play } from './stage.mjs';

await play(async (page) => {
  await part(page, 'run-row').first().waitFor();
  const links = await page.locator('a[href^="/runs/"]').evaluateAll((all) => all.map((a) => a.getAttribute('href') ?? ''));
  assert.equal(links.length, 2);
  for (const href of links) {
    await page.goto(origin + href);
    await part(page, 'round').first().waitFor();
    await page.locator('details:not([open]) > summary').evaluateAll((all) => all.forEach((one) => /** @type {HTMLElement} */ (one).click()));
    await part(page, 'draft').or(part(page, 'diff')).first().waitFor();
    await untouched(page);
    const seen = await page.locator('main').innerText();
    if (/<script>/.test(seen)) await asText(page, seen);
    else await large(page);
  }
  await page.goto(origin);
  await part(page, 'run-row').first().waitFor();
  await untouched(page);
  assert.match(await page.locator('main').innerText(), /<img src=x onerror/, 'a title is text, too');
});

/** Nothing of it became an element or ran. @param {import('playwright-core').Page} page */
async function untouched(page) {
  const found = await page.evaluate(() => ({
    ran: 'pwned' in window,
    made: document.querySelectorAll('main script, main iframe, main object, main style, main link, main base, main form[action], main img, main a[href^="javascript"]').length,
    bold: document.querySelectorAll('main b').length,
    title: document.title,
  }));
  assert.deepEqual({ ran: found.ran, made: found.made, bold: found.bold }, { ran: false, made: 0, bold: 0 });
  assert.ok(!/[\u0000-\u001f\u202a-\u202e\u2066-\u2069]/u.test(found.title), `the window's title: ${JSON.stringify(found.title)}`);
}

/** @param {import('playwright-core').Page} page @param {string} seen */
async function asText(page, seen) {
  assert.match(seen, /<script>window\.pwned = 1<\/script>/);
  assert.match(seen, /\u241b\[31mred/, 'an escape is shown, not obeyed');
  assert.match(seen, /\u27e8U\+202E\u27e9/, 'a mark that reorders is shown by its name');
  const raw = await page.evaluate(() => /[\u0000-\u0008\u000b-\u001f\u007f\u202a-\u202e\u2066-\u2069]/u.test(document.body.textContent ?? ''));
  assert.ok(!raw, 'no such character is on the page');
  await accessible(page, 'the page of hostile texts');
  await page.setViewportSize({ width: 390, height: 800 });
  await fits(page, 'the page of hostile texts');
  await page.setViewportSize({ width: 1280, height: 900 });
}

/** @param {import('playwright-core').Page} page */
async function large(page) {
  const draft = part(page, 'draft').first();
  await draft.waitFor();
  const size = () => draft.evaluate((el) => el.textContent?.length ?? 0);
  const first = await size();
  assert.ok(first < 600_000, `${first} characters at once`);
  const more = part(draft.locator('..'), 'text-more');
  let asked = 0;
  while (await more.isVisible()) {
    const before = await size();
    await more.click();
    await page.waitForFunction(([n]) => (document.querySelector('[data-testid="draft"]')?.textContent?.length ?? 0) > n, [before]);
    asked += 1;
    assert.ok(asked < 40, 'it has an end');
  }
  assert.ok(asked >= 2, 'more is shown when somebody asks for it');
  const whole = await size();
  assert.ok(whole < 2_600_000, `never all of it: ${whole} characters`);
  // A page that is alive answers a person within a moment, whatever it shows.
  const took = await page.evaluate(async () => {
    const began = performance.now();
    await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
    return performance.now() - began;
  });
  assert.ok(took < 5000, `a frame took ${took} ms`);
  await page.keyboard.press('g');
  await page.keyboard.press('o');
  await part(page, 'run-row').first().waitFor();
}
