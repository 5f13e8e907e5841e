// Who judges is the user's to say: another critic than the configured one, and the host itself above all, only if they
// agreed; and a verdict of the host's own says so everywhere.
import { assert, both, call, older, refusal } from "./host.mjs";

const START = { task: "Write it", criteria: ["is short"], draft: "Short." };
const OWN = /host judged its own work/;

const plain = await older();
for (const critic of ["host", "easy"]) {
  assert.match(await refusal(plain, "start_loop", { ...START, critic }), /not the critic that is configured.*--host-critic/s);
}
assert.deepEqual((await call(plain, "list_runs", {})).runs, [], "nothing was started");
await plain.close();

for (const [name, connect] of both) {
  const declining = await connect(() => ({ action: "decline" }));
  assert.match(await refusal(declining, "start_loop", { ...START, critic: "host" }), /did not allow/);
  await declining.close();

  const shown = [];
  const agreeing = await connect((params) => {
    shown.push(params.message);
    return { action: "accept", content: { allow: "allow for this run" } };
  });
  assert.equal((await call(agreeing, "start_loop", { ...START, critic: "easy" })).state, "approved");
  const { run, next } = await call(agreeing, "start_loop", { ...START, critic: "host" });
  assert.match(shown[0], /judged by easy instead of judge/);
  assert.match(shown[1], /judged by the host itself instead of judge/);
  assert.equal(shown.length, 2, `${name}: asked once for each run`);
  assert.equal(next.what, "report");
  const { token } = await call(agreeing, "open_review", { run });
  const done = await call(agreeing, "submit_report", { token, report: "[STATUS: APPROVED]\nGood." });
  assert.equal(done.state, "approved");
  for (const tool of ["get_verdict", "read_run", "list_findings"]) {
    assert.match((await call(agreeing, tool, { run })).text, OWN, tool);
  }
  assert.match(done.text, OWN);
  assert.match(done.not_independent, OWN);
  assert.match(done.next.how, /no independent critic/);
  const [row, easy] = (await call(agreeing, "list_runs", {})).runs;
  assert.deepEqual([row.judged_by_host, easy.judged_by_host], [true, false]);
  assert.match((await agreeing.readResource({ uri: `gadfly://runs/${run}` })).contents[0].text, OWN);
  assert.match((await agreeing.readResource({ uri: "gadfly://runs" })).contents[0].text, /judged by the host itself/);
  await agreeing.close();
}
