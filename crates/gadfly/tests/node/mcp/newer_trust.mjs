// The same in the protocol without requests from the server: the question is handed back, and the call made again.
import { assert, call, newer } from "./host.mjs";

const client = await newer(() => ({ action: "accept", content: { allow: "allow from now on" } }));
const done = await call(client, "start_loop", { task: "Write it", criteria: ["is short"], critic: "program", draft: "Short." });
assert.equal(done.state, "approved", done.text);
assert.equal((await call(client, "list_runs", {})).runs.length, 1, "made again, the call starts one run");
await client.close();
