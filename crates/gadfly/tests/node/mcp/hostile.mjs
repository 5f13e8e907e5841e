// Arguments nobody should send: refused with words, and the server stays.
import { assert, call, older, refusal } from "./host.mjs";

const client = await older();
const long = "x".repeat(9 << 10);
const refused = [
  ["start_loop", {}, /./],
  ["start_loop", { task: "t" }, /rubric is empty|criteri/],
  ["start_loop", { task: "t", criteria: ["c"], worker: "nobody" }, /not configured/],
  ["start_loop", { task: "t", criteria: ["c"], critic: "nobody" }, /not configured/],
  ["start_loop", { task: "t", criteria: ["c"], protocol: "magic" }, /magic|variant/],
  ["start_loop", { task: "t", criteria: ["c"], unheard_of: 1 }, /unheard_of/],
  ["start_loop", { task: "t", criteria: "[1]" }, /arguments/],
  ["start_loop", { task: "t", criteria: { a: 1 } }, /arguments/],
  ["start_goal", {}, /goal/],
  ["start_goal", { name: "nobody" }, /no goal/],
  ["steer_goal", { run: "zz", text: "x" }, /list_runs|no runs/],
  ["start_loop", { task: "t", criteria: [long] }, /criteria/],
  ["start_loop", { task: "t", criteria: Array(500).fill("c") }, /criteria/],
  ["start_loop", { task: "t", rubric: "../../../etc/passwd" }, /rubric/],
  ["start_loop", { task: "t", rubric: "/etc/passwd" }, /rubric/],
  ["start_loop", { task: "t", rubric: ".gadfly/serve-token" }, /keep for themselves/],
  ["start_loop", { task: "t", rubric: ".git/config" }, /keep for themselves/],
  ["start_loop", { task: "t", rubric: "innocent.md" }, /keep for themselves/],
  ["start_loop", { criteria: ["c"] }, /no task/],
  ["list_runs", { states: ["bogus"] }, /no state `bogus`/],
  ["start_loop", { task: "t", criteria: ["c"], budget_usd: -1 }, /budget_usd/],
  ["start_loop", { task: "t", criteria: ["c"], rounds: 0 }, /./],
  ["start_loop", { task: "t", criteria: ["c"], worker: "writer", draft: "d" }, /not the worker/],
  ["start_loop", { loop: "no such loop" }, /no loop/],
  ["submit_draft", { run: "zzzzzzzz", draft: "d" }, /list_runs|no runs/],
  ["submit_draft", { run: "'; DROP TABLE runs; --", draft: "d" }, /list_runs|no runs/],
  ["submit_draft", { run: "" }, /arguments/],
  ["get_verdict", { run: "\u001b[2J\u0000" }, /list_runs|no runs/],
  ["resume_run", { run: "a", rounds: -1 }, /arguments/],
  ["answer_question", { run: "zz", answer: "x" }, /list_runs|no runs/],
  ["open_review", { run: "zz" }, /list_runs|no runs/],
];
for (const [name, args, why] of refused) {
  const said = await refusal(client, name, args);
  assert.match(said, why, `${name} ${JSON.stringify(args).slice(0, 100)}: ${said}`);
  assert.doesNotMatch(said, /--(rubric|rounds|critic|criterion|task-file|worker)/, "a model has no flags");
  assert.ok(!/[\u0000-\u0008\u001b]/.test(said), "nothing in it acts on a terminal");
}
assert.deepEqual((await call(client, "list_runs", {})).runs, [], "nothing was started");
assert.deepEqual((await call(client, "list_questions", {})).questions, []);
await assert.rejects(client.callTool({ name: "no_such_tool", arguments: {} }), /no such tool/);

const { run } = await call(client, "start_loop", { task: "t", criteria: ["c"] });
assert.match(await refusal(client, "submit_draft", { run, draft: " \n" }), /empty/);
assert.match(await refusal(client, "open_review", { run }), /critic "host"/);
const hostile = "<script>alert(1)</script>\u001b[2J\u202e" + "y".repeat(4 << 20);
const done = await call(client, "submit_draft", { run, draft: hostile });
assert.equal(done.verdict, "rejected", done.text);
assert.equal((await client.readResource({ uri: `gadfly://runs/${run}/draft` })).contents[0].text, hostile);
assert.ok((await call(client, "cancel_run", { run })).text.includes("over"));
assert.match(await refusal(client, "submit_draft", { run, draft: "late" }), /over/);
for (const task of ["second", "third"]) await call(client, "start_loop", { task, criteria: ["c"] });
const newest = await call(client, "list_runs", { limit: 2 });
assert.deepEqual([newest.runs.length, newest.more], [2, true]);
const older_ones = await call(client, "list_runs", { limit: 2, offset: 2 });
assert.deepEqual([older_ones.runs.map((row) => row.run), older_ones.more], [[run], false]);
assert.match(older_ones.text, /^1 run,/);
await client.close();
