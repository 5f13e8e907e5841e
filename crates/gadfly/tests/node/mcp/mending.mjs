// The user mends the configuration while the server runs: the next call goes by what it says now.
import { readFileSync, writeFileSync } from "node:fs";
import { assert, call, older, refusal } from "./host.mjs";

const client = await older();
const START = { task: "t", criteria: ["c"] };
assert.match(await refusal(client, "start_loop", { ...START, critic: "later" }), /not configured/);
const { run, next } = await call(client, "start_loop", { ...START, draft: "One." });
assert.equal(next.what, "resume", "no critic could judge it");

const own = `${process.env.HOME}/.config/gadfly/gadfly.toml`;
const [config, agents] = [readFileSync("gadfly.toml", "utf8"), readFileSync(own, "utf8")];
writeFileSync("gadfly.toml", "[agents.judge\n");
assert.equal((await call(client, "get_verdict", { run })).run, run, "a broken file hides no runs");
const good = agents.replace("judge.toml", "good.toml");
writeFileSync(own, `${good}[agents.later]\nkind = "scripted"\nscript = "${process.cwd()}/good.toml"\n`);
writeFileSync("gadfly.toml", `${config}[loops.late]\ncritic = "later"\n`);
const done = await call(client, "resume_run", { run });
assert.equal(done.state, "approved", done.text);
assert.equal((await call(client, "start_loop", { ...START, critic: "later", draft: "Two." })).state, "approved");
await client.close();
