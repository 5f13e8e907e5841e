// Two tabs at one run: both live, each with its own half-typed words, and what is done in one is seen in the other.

import assert from 'node:assert/strict';
import { part, play, stands } from './stage.mjs';

await play(async (page, context) => {
  await part(page, 'run-row').first().waitFor();
  const href = await page.locator('a', { hasText: 'Judge it yourself' }).first().getAttribute('href');
  const other = await context.newPage();
  await Promise.all([page, other].map((tab) => tab.goto(new URL(href ?? '', page.url()).href)));
  await Promise.all([page, other].map((tab) => part(tab, 'answer-text').waitFor()));
  await part(page, 'answer-text').fill('mine');
  await part(other, 'answer-text').fill('It is short.');
  assert.equal(await part(page, 'answer-text').inputValue(), 'mine');
  await part(other, 'approve').click();
  await Promise.all([page, other].map((tab) =>
    part(tab, 'question', '[data-answered="true"]').or(part(tab, 'state', '[data-state="approved"]')).first().waitFor()));
  await Promise.all([page, other].map((tab) => stands(tab, 'approved')));
}, { expected: [/status of 409/] });
