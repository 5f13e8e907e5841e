// A loop, from the form to the verdict, followed live: what happens now, drafts, the diff word by word, and what became
// of each finding. The critic waits for the scenario before every verdict.

import assert from 'node:assert/strict';
import { agreeAll, letGo, part, play, stands } from './stage.mjs';

await play(async (page) => {
  await part(page, 'start-link').click();
  await part(page, 'field-task').fill('Write the abstract.');
  await part(page, 'field-protocol').selectOption('score');
  await part(page, 'field-rubric').fill('rubric.md');
  await part(page, 'field-worker').selectOption('w');
  await part(page, 'field-critic').selectOption('c');
  await part(page, 'start-button').click();
  const terms = part(page, 'terms');
  await terms.waitFor();
  assert.match(await terms.innerText(), /this machine/, 'who is sent what is said first');
  await agreeAll(page);

  await stands(page, 'running');
  await part(page, 'now').getByText('reads the draft').waitFor();
  assert.match(await part(page, 'draft').innerText(), /We asked people/);

  letGo('go1');
  await part(page, 'round', '[data-round="1"][data-verdict="rejected"]').waitFor();
  const second = part(page, 'round', '[data-round="2"]');
  await second.waitFor();
  const diff = part(second, 'diff');
  await diff.waitFor();
  assert.deepEqual(await diff.locator('ins').allInnerTexts(), ['412 '], 'only the word that came');
  assert.deepEqual(await diff.locator('del').allInnerTexts(), [], 'no word went');
  assert.ok((await diff.innerText()).includes('We asked 412 people.'));

  letGo('go2');
  await part(page, 'round', '[data-round="2"][data-verdict="rejected"]').waitFor();
  letGo('go3');
  await part(page, 'round', '[data-round="3"][data-verdict="approved"]').waitFor();
  await stands(page, 'approved');

  assert.match((await page.locator('.score-line').getAttribute('aria-label')) ?? '', /40, 70, 100/);
  const cells = await part(page, 'matrix-cell').evaluateAll((all) =>
    all.map((cell) => `#${cell.dataset.number} in ${cell.dataset.round}: ${cell.dataset.standing}`).sort());
  assert.deepEqual(cells, ['#1 in 1: new', '#1 in 2: fixed', '#2 in 1: new', '#2 in 2: recurring', '#2 in 3: fixed']);
  await part(page, 'matrix-cell', '[data-number="2"][data-round="2"]').click();
  const finding = part(page, 'round', '[data-round="2"]').locator('[data-testid="finding"][data-number="2"]');
  await finding.waitFor();
  assert.equal(await finding.getAttribute('data-standing'), 'recurring');
  assert.ok(await finding.evaluate((el) => el === document.activeElement), 'a cell leads to its finding');

  const meters = await part(page, 'meter').evaluateAll((all) => all.map((one) => one.dataset.meter));
  assert.ok(meters.includes('rounds') && meters.includes('calls'), `meters: ${meters}`);
  await page.goto(new URL('/', page.url()).href);
  const row = part(page, 'run-row', '[data-state="approved"]');
  await row.waitFor();
  assert.match(await row.innerText(), /Write the abstract/);
}, { expected: [/status of 409/] });
