// Two servers of one project, each with a good token for the same review, and different reports in the same moment: one
// counts, and the other host is told that its own did not.
import { assert, call, older, text } from "./host.mjs";

const hosts = [await older(), await older()];
const reports = ["[STATUS: APPROVED]\nGood.", "[STATUS: REJECTED]\n- name the sample size"];
for (let turn = 0; turn < 12; turn += 1) {
  const { run } = await call(hosts[0], "start_loop", { task: `Write ${turn}`, criteria: ["c"], critic: "host", draft: "A draft." });
  const tokens = await Promise.all(hosts.map(async (host) => (await call(host, "open_review", { run })).token));
  const said = await Promise.all(
    hosts.map((host, n) => host.callTool({ name: "submit_report", arguments: { token: tokens[n], report: reports[n] } })),
  );
  const taken = said.findIndex((result) => !result.isError);
  const told = said.map(text).join("\n---\n");
  assert.equal(said.filter((result) => !result.isError).length, 1, `turn ${turn}: ${told}`);
  assert.match(text(said[1 - taken]), /loop-post-critics-missing-critic-audit/);
  const { verdict } = await call(hosts[0], "get_verdict", { run });
  assert.equal(verdict, taken === 0 ? "approved" : "rejected", told);
}
for (const host of hosts) await host.close();
