// A run that used up its cap: the page takes a higher one, and what was said about the way there does not stay.

import assert from 'node:assert/strict';
import { agreeAll, part, play, stands } from './stage.mjs';

await play(async (page) => {
  await page.locator('a', { hasText: 'Write it' }).first().click();
  await stands(page, 'out_of_budget');
  assert.equal(await part(page, 'raise').inputValue(), '4', 'twice as many are proposed');
  await part(page, 'resume-button').click();
  await agreeAll(page);
  await stands(page, 'approved');
  await part(page, 'said').waitFor({ state: 'detached' });
  assert.equal(await part(page, 'round').count(), 2);
  await part(page, 'round', '[data-round="1"]').locator('details:not([open])').first().waitFor();
});
