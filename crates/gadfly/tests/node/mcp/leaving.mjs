// A host that goes in the middle of a loop loses nothing: another one goes on with the same run.
import { existsSync, writeFileSync } from "node:fs";
import { assert, call, newer, older } from "./host.mjs";

const first = await older();
const { run } = await call(first, "start_loop", { task: "Write the abstract", criteria: ["states n"] });
const begun = await call(first, "submit_draft", { run, draft: "We measured 40 apples.", wait_seconds: 0 });
assert.equal(begun.next.what, "patience", begun.text);
const until = Date.now() + 30_000;
while (!existsSync("begun") && Date.now() < until) await new Promise((done) => setTimeout(done, 20));
assert.ok(existsSync("begun"), "the critic is at work");
await first.close();

// The critic may answer now. Whether the first server still heard it or not, the draft is there.
writeFileSync("go", "");
const second = await newer();
const row = (await call(second, "list_runs", {})).runs[0];
assert.equal(row.run, run);
const verdict = await call(second, "get_verdict", { run, wait_seconds: 120 });
assert.equal(verdict.state, "approved", verdict.text);
const draft = await second.readResource({ uri: `gadfly://runs/${run}/draft` });
assert.equal(draft.contents[0].text, "We measured 40 apples.");
await second.close();
