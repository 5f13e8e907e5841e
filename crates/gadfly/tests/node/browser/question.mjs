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
  await part(page, 'answer-text').fill('this is no verdict');
  await part(page, 'answer-send').click();
  await question.getByRole('alert').waitFor();
  assert.equal(await part(page, 'answer-text').inputValue(), 'this is no verdict', 'what was typed is still there');
  await part(page, 'answer-text').fill('[STATUS: APPROVED]\nFine.');
  await part(page, 'answer-send').click();
  await part(page, 'question', '[data-answered="true"]').or(part(page, 'state', '[data-state="approved"]')).first().waitFor();
  await stands(page, 'approved');
  // Nothing is asked any more.
  await question.waitFor({ state: 'detached' });
}, { expected: [/status of 4(00|09|22)/] });
