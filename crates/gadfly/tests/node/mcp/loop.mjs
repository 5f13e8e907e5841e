// A host takes a loop from its draft through a rejection to an approval, in both protocols.
import { assert, both, call, leave } from "./host.mjs";

const START = { task: "Write the abstract", criteria: ["states the sample size"], rounds: 3 };

for (const [name, connect] of both) {
  const client = await connect();
  const tools = (await client.listTools()).tools.map((tool) => tool.name);
  for (const wanted of ["start_loop", "submit_draft", "get_verdict", "open_review", "submit_report"]) {
    assert.ok(tools.includes(wanted), `${name}: ${wanted} among ${tools}`);
  }

  const begun = await call(client, "start_loop", START);
  assert.equal(begun.state, "waiting(question)", name);
  assert.equal(begun.next.what, "draft", name);
  assert.match(begun.next.brief, /Write the abstract/);
  assert.match(begun.text, /submit_draft/);
  const { run } = begun;

  const progress = [];
  const rejected = await call(client, "submit_draft", { run, draft: "We measured apples." }, { onprogress: (p) => progress.push(p) });
  assert.equal(rejected.verdict, "rejected", name);
  assert.equal(rejected.approved, false);
  assert.deepEqual(rejected.to_fix.map((item) => item.text), ["name the sample size"]);
  assert.equal(rejected.next.what, "draft");
  assert.match(rejected.text, /1\. name the sample size/);
  assert.ok(progress.length > 0, `${name}: progress is told`);

  const approved = await call(client, "submit_draft", { run, draft: "We measured 40 apples." });
  assert.equal(approved.state, "approved", `${name}: ${approved.text}`);
  assert.ok(approved.approved && approved.ended);
  assert.deepEqual(approved.to_fix, []);
  assert.equal((await call(client, "get_verdict", { run })).state, "approved");

  const { findings } = await call(client, "list_findings", { run });
  assert.deepEqual(findings.map((f) => [f.number, f.standing, f.rounds]), [[1, "fixed", [1]]], name);
  const { runs } = await call(client, "list_runs", {});
  assert.equal(runs[0].run, run);
  assert.match((await call(client, "read_run", { run })).text, /approved/i);

  const listed = (await client.listResources()).resources.map((r) => r.uri);
  assert.ok(listed.includes("gadfly://runs") && listed.includes(`gadfly://runs/${run}`), `${listed}`);
  const read = async (uri) => (await client.readResource({ uri })).contents[0].text;
  assert.equal(await read(`gadfly://runs/${run}/draft`), "We measured 40 apples.");
  assert.match(await read(`gadfly://runs/${run}`), /approved/i);
  assert.match(await read("gadfly://runs"), new RegExp(run));
  assert.equal((await client.listResourceTemplates()).resourceTemplates.length, 2);
  await assert.rejects(read("gadfly://runs/zzzzzzzz"));
  await assert.rejects(read("gadfly://runs/../../etc/passwd"));
  await leave(client);
}

// With the draft at hand one call is enough.
const client = await both[0][1]();
const once = await call(client, "start_loop", { ...START, draft: "We measured 40 apples." });
assert.equal(once.state, "approved", once.text);
await leave(client);
