// A run that waits for a person: found on the overview, answered in the page, taken up again, to its end. What is typed
// half stays while the page goes on living.

import assert from 'node:assert/strict';
import { part, play, stands } from './stage.mjs';

await play(async (page) => {
  const waiting = part(page, 'needs-you').locator('[data-testid="run-row"]').filter({ hasText: 'Judge it yourself' });
  await waiting.waitFor();
  assert.match(await page.title(), /^● /, 'the tab says that somebody is needed');
  await waiting.getByRole('link').click();
  const question = part(page, 'question');
  await question.waitFor();
  assert.match(await part(page, 'brief').innerText(), /A first draft/, 'the brief has the draft');
  await part(page, 'reject').click();
  await question.getByRole('alert').filter({ hasText: 'what has to be fixed' }).waitFor();
  await part(page, 'answer-text').fill('It lacks a title and must be rewritten.');
  await part(page, 'approve').click();
  await question.getByRole('alert').filter({ hasText: 'speaks against it' }).waitFor();
  assert.match(await part(page, 'answer-text').inputValue(), /lacks a title/, 'what was typed is still there');
  await part(page, 'answer-text').fill('The sample size is stated.');
  await part(page, 'approve').click();
  await part(page, 'question', '[data-answered="true"]').or(part(page, 'state', '[data-state="approved"]')).first().waitFor();
  await stands(page, 'approved');
  await part(page, 'reason').filter({ hasText: 'The sample size is stated.' }).waitFor();
  // Nothing is asked any more.
  await question.waitFor({ state: 'detached' });
}, { expected: [/status of 4(00|09|22)/] });
