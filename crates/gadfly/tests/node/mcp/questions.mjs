// A question is put to the client's user where the client has forms; a form that is closed leaves it open; without
// forms the result carries it.
import { execFileSync } from "node:child_process";
import { assert, call, newer, older, refusal } from "./host.mjs";

const START = { task: "Write it", protocol: "score", rubric: "r.md", worker: "writer", rounds: 1 };

for (const connect of [older, newer]) {
  const plain = await connect();
  const asked = await call(plain, "start_loop", START);
  assert.equal(asked.next.what, "answer", asked.text);
  const [question] = asked.next.questions;
  assert.ok(question.choices.length > 0 && asked.text.includes("answer_question"), asked.text);
  assert.equal((await call(plain, "list_questions", {})).questions[0].run, asked.run);
  assert.match(await refusal(plain, "answer_question", { run: asked.run, effect: "run#999", answer: "x" }), /no such open question/);
  assert.match(await refusal(plain, "submit_draft", { run: asked.run, draft: "x" }), /not you/);
  const ended = await call(plain, "answer_question", { run: asked.run, answer: question.choices.at(-1).answer });
  assert.ok(ended.ended, ended.text);
  await plain.close();

  const seen = [];
  const closing = await connect((params) => { seen.push(params); return { action: "cancel" }; });
  const open = await call(closing, "start_loop", START);
  assert.equal(seen.length, 1, "the user was asked");
  assert.equal(open.next.what, "answer", "a closed form leaves the question open");
  // Nor does the model's word close it: the user is asked, with what it proposes.
  const proposed = open.next.questions[0].choices[0].answer.replace(/\bN\b/, "1");
  assert.match(await refusal(closing, "answer_question", { run: open.run, answer: proposed }), /stays open/);
  assert.equal(seen.length, 2, "the user was asked again");
  assert.ok(seen[1].message.includes(`The host proposes: ${proposed}`), seen[1].message);
  assert.equal((await call(closing, "list_questions", { run: open.run })).questions.length, 1);
  await closing.close();

  const plainer = await connect();
  const filling = await connect((params) => {
    const { choice } = params.requestedSchema.properties;
    const words = choice.oneOf?.map((way) => way.const) ?? choice.enum;
    return { action: "accept", content: { choice: words.at(-1) } };
  });
  // The last choice ends the run, the first would have gone on: the form counts, not the proposal.
  const done = await call(filling, "answer_question", { run: open.run, answer: proposed });
  assert.ok(done.ended, `answered in the form: ${done.text}`);
  const log = (run) => execFileSync(process.argv[2], ["show", run, "--log"], { encoding: "utf8" });
  assert.match(log(open.run), /by the user, asked through MCP host/);
  assert.match(log(asked.run), /by MCP host/, "without a form the record says that the host answered");
  assert.doesNotMatch(log(asked.run), /by the user/);
  const again = await call(plainer, "start_loop", START);
  const filled = await call(filling, "get_verdict", { run: again.run });
  assert.ok(filled.ended, `asked wherever the run is looked at: ${filled.text}`);
  await plainer.close();
  await filling.close();
}
