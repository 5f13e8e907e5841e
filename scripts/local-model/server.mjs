// A small language model behind OpenAI's chat completions API, on loopback: what `scripts/local-model/run` starts.
// It serves one model to one caller at a time. It is a test of plumbing, not a server for others to rely on.
//
// Usage: node server.mjs ENGINE MODEL NAME PORT [CONTEXT]
//   ENGINE   the folder whose node_modules holds node-llama-cpp
//   MODEL    the weights, a GGUF file with the ChatML template
//   NAME     what callers call the model
//   PORT     on 127.0.0.1; 0 takes a free one
//
// It ends when its standard input does. Standard output has one JSON object per line: `listening`, then for every call
// `begun`, `writing` (its first piece) and `ended`, with its tokens and why it ended: stop, length, or gone (the
// caller hung up).

import { createServer } from "node:http";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [engine, weights, name, port, context = "4096"] = process.argv.slice(2);
const LONGEST_BODY = 1024 * 1024;
const MOST_WAITING = 8;
/** The prompt is read in pieces, so that a caller who hangs up is noticed between two. */
const PIECE = 128;

process.stdin.resume().on("end", () => process.exit());
const say = (what) => process.stdout.write(JSON.stringify(what) + "\n");

class Refusal extends Error {
    constructor(status, code, message, param = null) {
        super(message);
        Object.assign(this, { status, code, param });
    }
}

// --- The model -----------------------------------------------------------------------------------------------

const home = join(engine, "node_modules", "node-llama-cpp");
const version = JSON.parse(readFileSync(join(home, "package.json"), "utf8")).version;
const library = await import(pathToFileURL(join(home, "dist", "index.js")));
const { getLlama, LlamaGrammarEvaluationState, LlamaLogLevel } = library;
// One thread: two that wait for each other on a busy machine are many times slower than one.
const quiet = { progressLogs: false, logLevel: LlamaLogLevel.error };
const llama = await getLlama({ gpu: false, build: "never", skipDownload: true, maxThreads: 1, ...quiet });
const model = await llama.loadModel({ modelPath: weights });
const held = await model.createContext({ contextSize: Number(context), sequences: 1, threads: 1, batchSize: PIECE });
const sequence = held.getSequence();

/** The messages as the model was taught them. What callers wrote never becomes a control token. */
function tokens(messages) {
    const mark = (text) => model.tokenize(text, true);
    const plain = (text) => model.tokenize(text, false);
    const spoken = messages.flatMap(({ role, content }) =>
        [...mark("<|im_start|>"), ...plain(`${role}\n${content}`), ...mark("<|im_end|>"), ...plain("\n")]);
    return [...spoken, ...mark("<|im_start|>"), ...plain("assistant\n")];
}

/** Writes a reply, piece by piece. Ends early if `gone` says so. */
async function* reply(asked, gone) {
    await sequence.clearHistory();
    const last = asked.prompt.length - 1;
    for (let at = 0; at < last; at += PIECE) {
        if (gone()) return;
        await sequence.evaluateWithoutGeneratingNewTokens(asked.prompt.slice(at, Math.min(at + PIECE, last)));
    }
    const grammarEvaluationState = asked.grammar && new LlamaGrammarEvaluationState({ model, grammar: asked.grammar });
    // So small a model says the same thing for ever if nothing keeps it from it.
    const lately = [];
    const repeatPenalty = { penalty: 1.1, punishTokens: () => lately };
    const { temperature, seed } = asked;
    const options = { temperature, seed, grammarEvaluationState, repeatPenalty, yieldEogToken: true };
    // A character may take several tokens, and a JSON reply ends in line breaks that belong to the grammar alone.
    let unwritten = [], before = [], blank = "";
    for await (const token of sequence.evaluate(asked.prompt.slice(last), options)) {
        if (gone()) return;
        if (model.isEogToken(token)) return "stop";
        unwritten.push(token);
        asked.written += 1;
        lately.push(token);
        if (lately.length > 64) lately.shift();
        let text = model.detokenize(unwritten, false, before);
        if (!text.endsWith("\ufffd") || unwritten.length > 4) {
            [before, unwritten] = [unwritten, []];
            if (asked.grammar) {
                text = blank + text;
                blank = text.slice(text.trimEnd().length);
                text = text.trimEnd();
                if (blank.startsWith("\n\n\n\n")) return "stop";
            }
            yield text;
        }
        if (asked.written >= asked.most) return "length";
    }
}

// --- What a caller may ask -----------------------------------------------------------------------------------

const HELD = new Set(["$schema", "title", "description", "type", "properties", "required", "additionalProperties",
    "items", "enum", "const", "oneOf", "prefixItems", "minItems", "maxItems", "minLength", "maxLength",
    "minProperties", "maxProperties"]);

/** The first word of a schema that the grammar would not hold the reply to. */
function notHeld(schema, deep = 0) {
    if (deep > 32) return "a schema this deep";
    if (typeof schema !== "object" || schema === null || Array.isArray(schema)) return JSON.stringify(schema);
    const word = Object.keys(schema).find((key) => !HELD.has(key));
    if (word !== undefined) return word;
    const { properties, items, additionalProperties, oneOf, prefixItems } = schema;
    const below = [...Object.values(properties ?? {}), ...(oneOf ?? []), ...(prefixItems ?? [])];
    if (items !== undefined) below.push(items);
    if (typeof additionalProperties === "object") below.push(additionalProperties);
    return below.map((s) => notHeld(s, deep + 1)).find((found) => found !== undefined);
}

const whole = (value, least, most) => Number.isInteger(value) && value >= least && value <= most;

async function understood(body) {
    const wrong = (param, message) => { throw new Refusal(400, "invalid_value", message, param); };
    if (typeof body !== "object" || body === null) wrong(null, "the body is no JSON object");
    if (body.model !== name) {
        const message = `there is no model ${JSON.stringify(body.model)} here; there is ${name}`;
        throw new Refusal(404, "model_not_found", message, "model");
    }
    for (const param of ["tools", "functions", "logprobs", "stop", "logit_bias"]) {
        if (body[param] != null && body[param] !== false) wrong(param, `${param} is not supported here`);
    }
    if (body.n != null && body.n !== 1) wrong("n", "one reply is written at a time");
    const spoken = (m) => ["system", "user", "assistant"].includes(m?.role) && typeof m.content === "string";
    if (!Array.isArray(body.messages) || body.messages.length === 0 || !body.messages.every(spoken)) {
        wrong("messages", "messages must be a list of { role: system | user | assistant, content: a text }");
    }
    const length = body.max_completion_tokens ?? body.max_tokens ?? 512;
    if (!whole(length, 1, 1e9)) wrong("max_tokens", "max_tokens must be a whole number from 1 up");
    const temperature = body.temperature ?? 0.7;
    if (!(typeof temperature === "number" && temperature >= 0 && temperature <= 2)) {
        wrong("temperature", "temperature must be from 0 to 2");
    }
    if (body.seed != null && !whole(body.seed, 0, 2 ** 32 - 1)) wrong("seed", "seed must be a whole number from 0 up");
    const prompt = tokens(body.messages);
    const room = held.contextSize - prompt.length - 1;
    if (room < 1) {
        const message = `the messages have ${prompt.length} tokens; the model takes ${held.contextSize} with the reply`;
        throw new Refusal(400, "context_length_exceeded", message, "messages");
    }
    const [most, seed] = [Math.min(length, room), body.seed ?? calls + 1];
    return { prompt, most, temperature, seed, written: 0, grammar: await grammar(body.response_format, wrong) };
}

async function grammar(format, wrong) {
    switch (format?.type) {
        case undefined: case "text": return undefined;
        case "json_object": return llama.getGrammarFor("json");
        case "json_schema": break;
        default: wrong("response_format", "response_format is text, json_object or json_schema");
    }
    const schema = format.json_schema?.schema;
    const word = notHeld(schema);
    if (word !== undefined) wrong("response_format", `the schema says \`${word}\`, to which no reply can be held here`);
    try {
        return await llama.createGrammarForJsonSchema(schema);
    } catch (error) {
        return wrong("response_format", `no grammar can be made of the schema: ${error.message}`);
    }
}

// --- The wire ------------------------------------------------------------------------------------------------

async function read(request) {
    const pieces = [];
    let length = 0;
    for await (const piece of request) {
        length += piece.length;
        if (length > LONGEST_BODY) throw new Refusal(413, "body_too_long", `a body may have ${LONGEST_BODY} bytes`);
        pieces.push(piece);
    }
    try {
        return JSON.parse(Buffer.concat(pieces).toString("utf8"));
    } catch {
        throw new Refusal(400, "invalid_json", "the body is no JSON");
    }
}

let calls = 0, waiting = 0, turn = Promise.resolve();

/** Waits for the others, in order, and then runs `work` alone. */
async function alone(work) {
    if (waiting >= MOST_WAITING) throw new Refusal(429, "rate_limit_exceeded", `${waiting} calls are waiting already`);
    waiting += 1;
    const mine = turn.then(() => { waiting -= 1; return work(); });
    turn = mine.catch(() => {});
    return mine;
}

async function chat(request, response) {
    const body = await read(request);
    const asked = await understood(body);
    let left = response.closed;
    response.on("close", () => { left = !response.writableFinished; });
    await alone(async () => {
        if (left) return;
        const call = ++calls;
        const about = { call, stream: body.stream === true, schema: asked.grammar !== undefined, most: asked.most };
        say({ what: "begun", ...about });
        const begun = Date.now();
        const common = { id: `chatcmpl-${call}`, created: Math.floor(begun / 1000), model: name };
        const chunk = (more) => {
            response.write(`data: ${JSON.stringify({ ...common, object: "chat.completion.chunk", ...more })}\n\n`);
        };
        const choice = (more, finish_reason = null) => ({ choices: [{ index: 0, ...more, finish_reason }] });
        if (body.stream) {
            response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
            chunk(choice({ delta: { role: "assistant", content: "" } }));
        }
        let content = "", sent = 0, finish;
        const pieces = reply(asked, () => left);
        for (;;) {
            const { done, value } = await pieces.next();
            if (done) { finish = value ?? "gone"; break; }
            if (content === "") say({ what: "writing", call });
            content += value;
            sent += 1;
            if (body.stream) chunk(choice({ delta: { content: value } }));
        }
        const [prompt_tokens, completion_tokens] = [asked.prompt.length, asked.written];
        const usage = { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
        say({ what: "ended", ...about, why: finish, ...usage, pieces: sent, ms: Date.now() - begun, content });
        if (finish === "gone") return;
        if (body.stream) {
            chunk(choice({ delta: {} }, finish));
            if (body.stream_options?.include_usage) chunk({ choices: [], usage });
            response.end("data: [DONE]\n\n");
        } else {
            const message = { role: "assistant", content };
            send(response, 200, { ...common, object: "chat.completion", ...choice({ message }, finish), usage });
        }
    });
}

function send(response, status, value, headers = {}) {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify(value));
}

const server = createServer(async (request, response) => {
    const path = request.url.split("?")[0];
    try {
        if (request.method === "POST" && path === "/v1/chat/completions") await chat(request, response);
        else if (request.method === "GET" && path === "/v1/models") {
            send(response, 200, { object: "list", data: [{ id: name, object: "model", owned_by: "local" }] });
        } else {
            const there = "there are GET /v1/models and POST /v1/chat/completions";
            throw new Refusal(404, "not_found", `there is no ${request.method} ${path}; ${there}`);
        }
    } catch (error) {
        if (!(error instanceof Refusal)) console.error(error);
        if (response.headersSent || response.destroyed) return response.destroy();
        const failed = new Refusal(500, "server_error", "the model failed; see this server's output");
        const { status, message, param, code } = error instanceof Refusal ? error : failed;
        const type = { 429: "rate_limit_error", 500: "server_error" }[status] ?? "invalid_request_error";
        const headers = { 429: { "retry-after": "5" }, 413: { connection: "close" } }[status];
        send(response, status, { error: { message, type, param, code } }, headers);
    }
});
server.headersTimeout = 10_000;
server.requestTimeout = 30_000;
server.maxConnections = 64;
server.listen(Number(port), "127.0.0.1", () => {
    const base_url = `http://127.0.0.1:${server.address().port}/v1`;
    say({ what: "listening", base_url, model: name, engine: `node-llama-cpp ${version}`, context: held.contextSize });
});
