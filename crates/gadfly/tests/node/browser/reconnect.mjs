// The server is killed and started again at the same place: the page says so and keeps what is on it. Its token is another
// one now: once the new link is open in any tab, this one comes back by itself, and what happened in between is on it. Who
// kills and starts it is the test.

import { readFileSync } from 'node:fs';
import { appears, letGo, onStage, part, play, stands } from './stage.mjs';

await play(async (page, context) => {
  await part(page, 'run-row').first().waitFor();
  await page.locator('a[href^="/runs/"]').first().click();
  await stands(page, 'waiting');
  await part(page, 'answer-text').fill('half an ans');
  letGo('kill-the-server');
  await part(page, 'connection-strip').waitFor();
  await appears(onStage('it-is-back'), 'the server is there again');
  await part(page, 'connection-strip').filter({ hasText: 'Open the link' }).waitFor();
  const other = await context.newPage();
  await other.goto(readFileSync(onStage('it-is-back'), 'utf8'));
  await part(other, 'run-row').first().waitFor();
  await part(page, 'connection', '[data-state="live"]').waitFor();
  await part(page, 'connection-strip').waitFor({ state: 'detached' });
  if ((await part(page, 'answer-text').inputValue()) !== 'half an ans') throw new Error('what was half typed is gone');
  letGo('answer-elsewhere');
  await stands(page, 'approved');
}, { expected: [/status of 401|Failed to load resource: net::ERR_|ERR_INCOMPLETE_CHUNKED_ENCODING|ERR_CONNECTION/] });
