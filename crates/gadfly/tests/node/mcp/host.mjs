// A host as the tests play it, over the official TypeScript SDKs: `older` speaks the protocol with a handshake,
// `newer` the one without. Both start the binary themselves, in the folder the test made.
import assert from "node:assert/strict";
import { Client as OlderClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as OlderTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { Client as NewerClient } from "@modelcontextprotocol/client";
import { StdioClientTransport as NewerTransport } from "@modelcontextprotocol/client/stdio";

const [binary, ...more] = process.argv.slice(2);
const how = { command: binary, args: ["mcp", ...more], cwd: process.cwd(), env: process.env, stderr: "inherit" };

// `fill` answers forms: a function of the request's parameters. Without it the client has no forms.
export async function older(fill) {
  const client = new OlderClient({ name: "older", version: "1" }, { capabilities: fill ? { elicitation: {} } : {} });
  if (fill) client.setRequestHandler(ElicitRequestSchema, async (request) => fill(request.params));
  await client.connect(new OlderTransport(how));
  await client.listTools();
  return client;
}

export async function newer(fill) {
  const client = new NewerClient(
    { name: "newer", version: "1" },
    { capabilities: fill ? { elicitation: { form: {} } } : {}, versionNegotiation: { mode: { pin: "2026-07-28" } } },
  );
  if (fill) client.setRequestHandler("elicitation/create", async (request) => fill(request.params));
  await client.connect(new NewerTransport(how));
  await client.listTools();
  return client;
}

export const both = [["older", older], ["newer", newer]];

// Calls a tool that must succeed: its data, which the SDK has checked against the tool's schema, and its text.
export async function call(client, name, args, options) {
  const result = await client.callTool({ name, arguments: args }, ...(client instanceof OlderClient ? [undefined, options] : [options]));
  assert.ok(!result.isError, `${name} refused: ${text(result)}`);
  assert.ok(result.structuredContent, `${name} has data`);
  return { ...result.structuredContent, text: text(result) };
}

// Calls a tool that must refuse, and returns why.
export async function refusal(client, name, args) {
  const result = await client.callTool({ name, arguments: args });
  assert.equal(result.isError, true, `${name} was not refused: ${text(result)}`);
  return text(result);
}

export const text = (result) => result.content.map((part) => part.text ?? "").join("\n");

// The process behind a client, ended as a host does that is closed.
export async function leave(client) {
  await client.close();
}

export { assert };
