// An audit: the host changes files in the run's own folder, and a critic of the host's own judges them by token.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { assert, call, older, refusal } from "./host.mjs";

const client = await older();
const begun = await call(client, "start_loop", { task: "Greet.", criteria: ["hello.txt greets"], protocol: "audit", critic: "host" });
assert.equal(begun.next.what, "draft", begun.text);
assert.ok(begun.next.folder, begun.text);
writeFileSync(join(begun.next.folder, "hello.txt"), "Hello!\n");
const judged = await call(client, "submit_draft", { run: begun.run, draft: "wrote hello.txt" });
assert.equal(judged.next.what, "report", judged.text);
const { brief, token } = await call(client, "open_review", { run: begun.run });
assert.match(brief, /Hello!/);
const id = brief.match(/^Task id: (\S+)/m)[1];
const report = {
  critic: "critic", task_id: id, round: 1,
  criteria: [{ id: "SC-1", claim: "hello.txt greets", verdict: "Satisfied", evidence: "hello.txt:1", missing_info: "" }],
  findings: [], verdict: "passed",
};
// What the protocol cannot read is sent back with the reason, and the token stays good.
const wrong = { ...report, task_id: "another" };
assert.match(await refusal(client, "submit_report", { token, report: JSON.stringify(wrong) }), /task_id.*token is still good/s);
const done = await call(client, "submit_report", { token, report: JSON.stringify(report) });
assert.equal(done.state, "approved", done.text + brief);
assert.match(done.text, /host judged its own work/);
await client.close();
