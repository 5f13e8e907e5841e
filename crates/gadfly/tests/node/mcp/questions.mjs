// A question is put to the client's user where the client has forms; a form that is closed leaves it open; without
// forms the result carries it.
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
  await closing.close();

  const filling = await connect((params) => {
    const { choice } = params.requestedSchema.properties;
    const words = choice.oneOf?.map((way) => way.const) ?? choice.enum;
    return { action: "accept", content: { choice: words.at(-1) } };
  });
  const done = await call(filling, "get_verdict", { run: open.run });
  assert.ok(done.ended, `answered in the form: ${done.text}`);
  await filling.close();
}
