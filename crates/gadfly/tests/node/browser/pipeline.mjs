// A pipeline: its graph in the order of what builds on what, its agents with their scores, the gate with its arithmetic,
// and the rounds of whichever agent is chosen, by mouse or by key.

import assert from 'node:assert/strict';
import { part, play } from './stage.mjs';

await play(async (page) => {
  await page.locator('a', { hasText: 'Estimate the effect' }).first().click();
  await part(page, 'graph-node').first().waitFor();
  const nodes = await part(page, 'graph-node').evaluateAll((all) =>
    all.map((node) => ({ agent: node.dataset.agent, status: node.dataset.status, x: node.getBoundingClientRect().x })));
  assert.deepEqual(nodes.map((node) => node.agent).sort(), ['coder', 'strategist', 'writer']);
  assert.ok(nodes.every((node) => node.status === 'done'), JSON.stringify(nodes));
  const x = (/** @type {string} */ agent) => nodes.find((node) => node.agent === agent)?.x ?? 0;
  assert.ok(x('strategist') < x('coder') && x('coder') < x('writer'), 'each is behind what it builds on');
  assert.equal(await page.locator('.graph path.edge').count(), 2, 'two build on one each');

  const gate = part(page, 'gate');
  assert.equal(await gate.getAttribute('data-open'), 'true');
  await page.locator('section.gate').getByText('How it adds up').click();
  assert.match(await page.locator('section.gate .arithmetic').innerText(), /= +46\.00[^]*91\.60/);

  for (const [agent, score, how] of [['coder', '88', 'mouse'], ['strategist', '92', 'key']]) {
    const node = part(page, 'graph-node', `[data-agent="${agent}"]`);
    if (how === 'mouse') await node.click();
    else {
      await node.focus();
      await page.keyboard.press('Enter');
    }
    await page.getByRole('heading', { name: `Rounds of ${agent}` }).waitFor();
    const row = part(page, 'agent-row', `[data-agent="${agent}"]`);
    assert.match(await row.innerText(), new RegExp(score));
    await part(page, 'round').first().waitFor();
    assert.match(await part(page, 'finding').first().innerText(), /worth/);
  }
});
