// A server whose user agreed to it beforehand raises caps without a question.
import { assert, call, older } from "./host.mjs";

const client = await older();
const done = await call(client, "start_loop", { task: "Write it", criteria: ["is short"], budget_usd: 10, rounds: 9, draft: "Short." });
assert.equal(done.state, "approved", done.text);
assert.equal(done.rounds_max, 9);
await client.close();
