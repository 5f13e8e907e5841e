// What the project's files name is not used before the user agreed: in a form, or not at all.
import { assert, both, call, older, refusal } from "./host.mjs";

const START = { task: "Write it", criteria: ["is short"], critic: "program", draft: "Short." };

const plain = await older();
assert.match(await refusal(plain, "start_loop", START), /gadfly mcp --trust/);
await plain.close();

const declining = await older(() => ({ action: "decline" }));
assert.match(await refusal(declining, "start_loop", START), /did not allow/);
await declining.close();

for (const [name, connect] of both) {
  let asked = 0;
  const agreeing = await connect((params) => {
    asked += 1;
    assert.match(params.message, /critic\.sh/);
    return { action: "accept", content: { allow: "allow from now on" } };
  });
  const done = await call(agreeing, "start_loop", START);
  assert.equal(done.state, "approved", done.text);
  assert.equal(asked, name === "older" ? 1 : 0, "asked once, remembered for the next client");
  await agreeing.close();
}
