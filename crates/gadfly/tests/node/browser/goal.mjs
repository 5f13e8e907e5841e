// A goal, from the form on: steered, paused, resumed, cancelled, each seen on the page. Its worker's first commands wait
// for the scenario.

import assert from 'node:assert/strict';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { agreeAll, appears, part, play, project, runOf, stands } from './stage.mjs';

await play(async (page) => {
  await part(page, 'start-link').click();
  await part(page, 'kind-goal').check();
  await part(page, 'field-goal').fill('Write the file done.txt.');
  await part(page, 'field-until').fill('test -f done.txt');
  await part(page, 'field-worker').selectOption('w');
  await part(page, 'field-critic').selectOption('c');
  await part(page, 'field-max_steps').fill('20');
  await part(page, 'start-button').click();
  await part(page, 'terms').waitFor();
  await agreeAll(page);
  await stands(page, 'running');
  const folders = join(project, '..', 'home', '.local', 'state', 'gadfly', 'work');
  await appears(folders, 'the folders of runs');
  const tree = join(folders, readdirSync(folders)[0], runOf(page), 'tree', 'work');
  await appears(join(tree, 'begun1'), 'the first command');

  await part(page, 'steer-text').fill('mind the <b>gap</b>');
  await part(page, 'steer-button').click();
  const steered = part(page, 'rail-entry', '[data-event="steered"]');
  await steered.getByText('mind the <b>gap</b>').waitFor();
  assert.equal(await part(page, 'steer-text').inputValue(), '');

  await part(page, 'pause-button').click();
  await part(page, 'rail-entry', '[data-event="pause_requested"]').waitFor();
  writeFileSync(join(tree, 'go1'), '');
  await stands(page, 'waiting(paused)');
  await part(page, 'step', '[data-n="1"][data-end="ok"]').waitFor();

  await part(page, 'resume-button').click();
  await agreeAll(page);
  await appears(join(tree, 'begun2'), 'the next command after the pause');
  await stands(page, 'running');

  await part(page, 'cancel-button').click();
  await part(page, 'confirm-cancel').getByRole('button', { name: 'Keep it' }).click();
  await part(page, 'confirm-cancel').waitFor({ state: 'detached' });
  await stands(page, 'running');
  await part(page, 'cancel-button').click();
  await part(page, 'confirm-cancel-button').click();
  await stands(page, 'aborted');
  assert.equal(await part(page, 'steer').count(), 0, 'nobody is left to be steered');
}, { expected: [/status of 409/] });
