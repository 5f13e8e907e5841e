// An editor by the protocol's TypeScript SDK, without a person: `node editor.mjs SCENE FOLDER PROMPT -- AGENT …` plays a
// scene with the agent and prints what it saw as one line of JSON. `ACP_SDK` names the SDK's module, `ACP_MODE` the mode
// that the session is put into.
//
// turn: one prompt. cut: cancelled at the second tool call. kill: the agent is killed as soon as Gadfly judges and what
// holds the critic, FOLDER/../hold, is taken away; a second agent loads the session and is asked for another file.
import { spawn } from "node:child_process";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";

const sdk = process.env.ACP_SDK;
const acp = await import(sdk ? pathToFileURL(sdk).href : "@agentclientprotocol/sdk");
const { agent, client } = acp.methods;
const [scene, cwd, text, , program, ...args] = process.argv.slice(2);
const seen = { said: "", tools: 0, permissions: 0, reads: 0, writes: 0, terminals: 0, stop: null, loaded: null };
const sdkOf = { fs: { readTextFile: true, writeTextFile: true }, terminal: true };

/** One life of the agent, and what an editor does for it. */
async function live(op) {
  const process_ = spawn(program, args, { cwd, stdio: ["pipe", "pipe", "inherit"] });
  const stream = acp.ndJsonStream(Writable.toWeb(process_.stdin), Readable.toWeb(process_.stdout));
  const life = { heard: () => {}, kill: () => process_.kill("SIGKILL") };
  const terminals = new Map();
  const app = acp
    .client({ name: "editor" })
    .onRequest(client.session.requestPermission, ({ params }) => {
      seen.permissions += 1;
      const wanted = params.toolCall.title?.startsWith("Gadfly") ? "reject_once" : "allow_once";
      const option = params.options.findLast((o) => o.kind === wanted) ?? params.options[0];
      return { outcome: { outcome: "selected", optionId: option.optionId } };
    })
    .onRequest(client.fs.readTextFile, async ({ params }) => {
      seen.reads += 1;
      // One that is not there is a new buffer.
      const content = await readFile(params.path, "utf8").catch(() => "");
      return { content };
    })
    .onRequest(client.fs.writeTextFile, async ({ params }) => {
      seen.writes += 1;
      await writeFile(params.path, params.content);
      return {};
    })
    .onRequest(client.terminal.create, ({ params }) => {
      seen.terminals += 1;
      const id = `t-${seen.terminals}`;
      const command = params.args?.length ? [params.command, params.args, {}] : [params.command, [], { shell: true }];
      const run = spawn(command[0], command[1], { ...command[2], cwd: params.cwd ?? cwd });
      const entry = { run, output: "", ended: null };
      for (const out of [run.stdout, run.stderr]) out.on("data", (data) => (entry.output += data));
      entry.ended = new Promise((done) => {
        run.on("error", () => done({ exitCode: 127 }));
        run.on("close", (exitCode, signal) => done({ exitCode, signal }));
      });
      terminals.set(id, entry);
      return { terminalId: id };
    })
    .onRequest(client.terminal.output, async ({ params }) => {
      const { output } = terminals.get(params.terminalId);
      return { output, truncated: false };
    })
    .onRequest(client.terminal.waitForExit, ({ params }) => terminals.get(params.terminalId).ended)
    .onRequest(client.terminal.kill, ({ params }) => void terminals.get(params.terminalId).run.kill() ?? {})
    .onRequest(client.terminal.release, ({ params }) => void terminals.delete(params.terminalId) ?? {})
    .onNotification(client.session.update, ({ params }) => {
      const { update } = params;
      if (update.sessionUpdate === "agent_message_chunk") seen.said += update.content.text ?? "";
      if (update.sessionUpdate === "tool_call") seen.tools += 1;
      life.heard(params.sessionId);
    });
  const closed = new Promise((done) => process_.on("close", done));
  const done = await app.connectWith(stream, async (ctx) => {
    await ctx.request(agent.initialize, { protocolVersion: acp.PROTOCOL_VERSION, clientCapabilities: sdkOf });
    return op(ctx, life);
  });
  process_.stdin.end();
  const late = setTimeout(() => process_.kill("SIGKILL"), 20_000);
  await closed;
  clearTimeout(late);
  return done;
}

async function opened(ctx) {
  const { sessionId } = await ctx.request(agent.session.new, { cwd, mcpServers: [] });
  const modeId = process.env.ACP_MODE;
  if (modeId) await ctx.request(agent.session.setMode, { sessionId, modeId });
  return sessionId;
}
const prompt = (ctx, sessionId, words = text) =>
  ctx.request(agent.session.prompt, { sessionId, prompt: [{ type: "text", text: words }] }).then((end) => end.stopReason);

if (scene === "kill") {
  const sessionId = await live(async (ctx, life) => {
    const id = await opened(ctx);
    return new Promise((done) => {
      life.heard = () => {
        if (!seen.said.includes("judges the change")) return;
        life.heard = () => {};
        setTimeout(() => (life.kill(), done(id)), 1_000);
      };
      prompt(ctx, id).catch(() => done(id));
    });
  });
  await rm(join(cwd, "../hold"), { force: true });
  await live(async (ctx) => {
    seen.loaded = await ctx.request(agent.session.load, { sessionId, cwd, mcpServers: [] }).then(
      () => true,
      (error) => String(error.message),
    );
    seen.stop = seen.loaded === true ? await prompt(ctx, sessionId, text.replaceAll("greeting.txt", "second.txt")) : null;
  });
} else {
  await live(async (ctx, life) => {
    const id = await opened(ctx);
    life.heard = () => {
      if (scene !== "cut" || seen.tools < 2) return;
      life.heard = () => {};
      ctx.notify(agent.session.cancel, { sessionId: id });
    };
    seen.stop = await prompt(ctx, id);
  });
}
console.log(JSON.stringify(seen));
