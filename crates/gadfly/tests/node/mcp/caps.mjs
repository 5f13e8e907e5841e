// Caps above the configured ones are the user's to raise; lower ones are taken as they are.
import { assert, both, call, older, refusal } from "./host.mjs";

const START = { task: "Write it", criteria: ["is short"] };
const RAISE = /above what is configured.*--allow-raise/s;

const plain = await older();
for (const more of [{ budget_usd: 1000 }, { rounds: 50 }, { budget_usd: 0.6, rounds: 1 }]) {
  assert.match(await refusal(plain, "start_loop", { ...START, ...more }), RAISE, JSON.stringify(more));
}
assert.deepEqual((await call(plain, "list_runs", {})).runs, [], "nothing was started");
const low = await call(plain, "start_loop", { ...START, budget_usd: 0.1, rounds: 2, draft: "Short." });
assert.deepEqual([low.rounds_max, low.next.what], [2, "resume"], low.text);
for (const more of [{ budget_usd: 0.2 }, { rounds: 90 }]) {
  assert.match(await refusal(plain, "resume_run", { run: low.run, ...more }), RAISE, JSON.stringify(more));
}
assert.equal((await call(plain, "get_verdict", { run: low.run })).rounds_max, 2);
assert.equal((await call(plain, "resume_run", { run: low.run, budget_usd: 0.05 })).next.what, "resume");
await plain.close();

for (const [name, connect] of both) {
  const declining = await connect(() => ({ action: "decline" }));
  assert.match(await refusal(declining, "start_loop", { ...START, rounds: 50 }), /did not allow/);
  assert.match(await refusal(declining, "resume_run", { run: low.run, rounds: 50 }), /did not allow/);
  await declining.close();

  const shown = [];
  const agreeing = await connect((params) => {
    shown.push(params.message);
    return { action: "accept", content: { allow: "allow for this run" } };
  });
  const high = await call(agreeing, "start_loop", { ...START, budget_usd: 1000, rounds: 50, draft: "Short." });
  assert.equal(high.rounds_max, 50, high.text);
  assert.equal(shown.length, 1, `${name}: both in one form`);
  assert.match(shown[0], /\$1000\.00 may be spent instead of \$0\.50[^]*50 rounds instead of 3/);
  const resumed = await call(agreeing, "resume_run", { run: high.run, rounds: 60 });
  assert.equal(resumed.rounds_max, 60, resumed.text);
  assert.match(shown[1], /60 rounds instead of 50/);
  await agreeing.close();
}
