// A question is answered elsewhere while somebody types: their words stay, and it is said. So do the words in the form
// that starts a run, whichever form is looked at in between.

import assert from 'node:assert/strict';
import { letGo, part, play, stands } from './stage.mjs';

await play(async (page) => {
  await page.locator('a', { hasText: 'Judge it yourself' }).first().click();
  const text = part(page, 'answer-text');
  await text.waitFor();
  assert.equal(await part(page, 'resume-button').count(), 0, 'without an answer it would only wait again');
  await part(page, 'reject').click();
  await part(page, 'question').getByRole('alert').filter({ hasText: 'what has to be fixed' }).waitFor();
  await text.pressSequentially('half an ans');
  letGo('answer-elsewhere');
  await part(page, 'answered').filter({ hasText: 'elsewhere' }).waitFor();
  await stands(page, 'approved');
  assert.equal(await text.inputValue(), 'half an ans');
  assert.equal(await page.evaluate(() => document.activeElement?.getAttribute('data-testid')), 'answer-text');
  assert.ok(await part(page, 'approve').isDisabled());
  assert.ok(await part(page, 'reject').isDisabled());
  await part(page, 'put-away').click();
  await part(page, 'question').waitFor({ state: 'detached' });
  const focused = await page.evaluate(() => document.activeElement?.id);
  assert.equal(focused, 'main', 'the keyboard goes on where it was');

  await page.keyboard.press('g');
  await page.keyboard.press('s');
  await part(page, 'field-task').fill('Write a lot');
  await part(page, 'field-budget_usd').fill('3');
  await part(page, 'kind-goal').check();
  assert.equal(await part(page, 'field-budget_usd').inputValue(), '3', 'what both forms ask for is asked once');
  await part(page, 'field-goal').fill('Reach it');
  await part(page, 'kind-loop').check();
  assert.equal(await part(page, 'field-task').inputValue(), 'Write a lot');
  await part(page, 'kind-goal').check();
  assert.equal(await part(page, 'field-goal').inputValue(), 'Reach it');
});
