// Reports of a critic that the host runs itself: refused without a token, with a wrong, a foreign or a used one, and
// taken with a good one, once.
import { assert, call, older, refusal } from "./host.mjs";

const UNPROVEN = /loop-post-critics-missing-critic-audit/;
const APPROVE = "[STATUS: APPROVED]\nGood.";
const REJECT = "[STATUS: REJECTED]\n- name the sample size";
const START = { task: "Write the abstract", criteria: ["states the sample size"], critic: "host" };

const client = await older();
const { run } = await call(client, "start_loop", { ...START, draft: "We measured apples." });
const standing = await call(client, "get_verdict", { run });
assert.equal(standing.next.what, "report", standing.text);
assert.equal(standing.next.brief, undefined, "the brief of a review comes with its token");
assert.match(await refusal(client, "submit_draft", { run, draft: "x" }), /no draft now/);

const opened = await call(client, "open_review", { run });
assert.match(opened.brief, /We measured apples\./);
const { token } = opened;

assert.match(await refusal(client, "submit_report", { report: APPROVE }), UNPROVEN);
assert.match(await refusal(client, "submit_report", { token: "", report: APPROVE }), UNPROVEN);
assert.match(await refusal(client, "submit_report", { token: "abc", report: APPROVE }), UNPROVEN);
const last = token.at(-1) === "0" ? "1" : "0";
assert.match(await refusal(client, "submit_report", { token: token.slice(0, -1) + last, report: APPROVE }), UNPROVEN);
assert.match(await refusal(client, "submit_report", { token: token.replace(/#\d+/, "#99"), report: APPROVE }), UNPROVEN);
const other = await call(client, "start_loop", { ...START, draft: "Another." });
const foreign = (await call(client, "open_review", { run: other.run })).token;
const forged = foreign.replace(other.run, run);
assert.match(await refusal(client, "submit_report", { token: forged, report: APPROVE }), UNPROVEN);
assert.equal((await call(client, "get_verdict", { run })).verdict, undefined, "none of these was heard");

// What is no verdict does not use the token up.
assert.match(await refusal(client, "submit_report", { token, report: "Looks fine to me" }), /token is still good/);

// Nor does one that another protocol cannot read, and it says why.
const scored = await call(client, "start_loop", { ...START, protocol: "score", criteria: undefined, rubric: "r.md", draft: "Some text." });
const scoring = (await call(client, "open_review", { run: scored.run })).token;
assert.match(await refusal(client, "submit_report", { token: scoring, report: "Score: 200" }), /cannot be read.*token is still good/s);
assert.equal((await call(client, "submit_report", { token: scoring, report: '{"deductions":[]}' })).state, "approved");

// Of many at once one is taken.
const all = await Promise.all(
  Array.from({ length: 6 }, () => client.callTool({ name: "submit_report", arguments: { token, report: REJECT } })),
);
assert.equal(all.filter((result) => !result.isError).length, 1, "one report is taken");
for (const result of all.filter((result) => result.isError)) assert.match(result.content[0].text, UNPROVEN);
const rejected = await call(client, "get_verdict", { run });
assert.equal(rejected.verdict, "rejected");
assert.equal(rejected.next.what, "draft");
assert.match(await refusal(client, "submit_report", { token, report: APPROVE }), UNPROVEN, "a used token");

await call(client, "submit_draft", { run, draft: "We measured 40 apples." });
assert.match(await refusal(client, "submit_report", { token, report: APPROVE }), UNPROVEN, "a used token, next round");
const again = (await call(client, "open_review", { run })).token;
const approved = await call(client, "submit_report", { token: again, report: APPROVE });
assert.equal(approved.state, "approved", approved.text);
assert.match(await refusal(client, "submit_report", { token: again, report: APPROVE }), UNPROVEN, "the run is over");

// A token outlives the server that gave it: nothing about it is kept there.
const pending = (await call(client, "open_review", { run: other.run })).token;
await client.close();
const later = await older();
assert.equal((await call(later, "submit_report", { token: pending, report: APPROVE })).state, "approved");
await later.close();
