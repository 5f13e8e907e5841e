//! Every wire format, streamed and whole: a text, the call of a tool, and each fault.

#![allow(clippy::unwrap_used, clippy::panic)] // tests may fail loudly

use gadfly_testbed::{Behaviour, Server};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Wire {
    Chat,
    Anthropic,
    Responses,
    Gemini,
}

const WIRES: [Wire; 4] = [Wire::Chat, Wire::Anthropic, Wire::Responses, Wire::Gemini];

impl Wire {
    fn path(self, model: &str, stream: bool) -> String {
        match self {
            Self::Chat => "/v1/chat/completions".into(),
            Self::Anthropic => "/v1/messages?beta=true".into(),
            Self::Responses => "/v1/responses".into(),
            Self::Gemini if stream => format!("/v1beta/models/{model}:streamGenerateContent?alt=sse"),
            Self::Gemini => format!("/v1beta/models/{model}:generateContent"),
        }
    }

    fn body(self, model: &str, stream: bool, brief: &str, tools: &[&str]) -> Value {
        let mut body = match self {
            Self::Gemini => json!({"contents": [{"role": "user", "parts": [{"text": brief}]}]}),
            Self::Responses => json!({"model": model, "stream": stream, "input": [{"type": "message",
                "role": "user", "content": [{"type": "input_text", "text": brief}]}]}),
            _ => json!({"model": model, "stream": stream, "stream_options": {"include_usage": true},
                "messages": [{"role": "user", "content": brief}]}),
        };
        let tool = |name: &&str| match self {
            Self::Chat => json!({"type": "function", "function": {"name": name}}),
            Self::Anthropic => json!({"name": name}),
            Self::Responses if *name == "apply_patch" => json!({"type": "custom", "name": name}),
            Self::Responses if *name == "local_shell" => json!({"type": name}),
            Self::Responses => json!({"type": "function", "name": name}),
            Self::Gemini => json!({"functionDeclarations": [{"name": name}]}),
        };
        body["tools"] = tools.iter().map(tool).collect();
        body
    }

    /// The writer and the shell that a program of this wire has.
    fn tools(self) -> &'static [&'static str] {
        match self {
            Self::Chat => &["read", "write", "bash"],
            Self::Anthropic => &["Read", "Write", "Bash"],
            Self::Responses => &["exec_command", "apply_patch"],
            Self::Gemini => &["read_file", "write_file", "run_shell_command"],
        }
    }

    /// The text of a reply.
    fn text(self, reply: &[Value]) -> String {
        let of = |v: &Value| -> String {
            let texts: &[&str] = match self {
                Self::Chat => &["/choices/0/message/content", "/choices/0/delta/content"],
                Self::Anthropic => &["/content/0/text", "/delta/text"],
                Self::Responses => &["/output/0/content/0/text", "/delta"],
                Self::Gemini => &["/candidates/0/content/parts/0/text"],
            };
            texts.iter().filter_map(|at| v.pointer(at)?.as_str()).collect()
        };
        reply.iter().map(of).collect()
    }

    /// The name and the arguments of the tool that a reply calls.
    fn call(self, reply: &[Value]) -> Option<(String, Value)> {
        let parsed = |text: &str| serde_json::from_str(text).unwrap_or(Value::from(text));
        let mut name = None;
        let mut arguments = String::new();
        for v in reply {
            let (at, input) = match self {
                Self::Chat => {
                    let call = v
                        .pointer("/choices/0/delta/tool_calls/0")
                        .or(v.pointer("/choices/0/message/tool_calls/0"));
                    let Some(call) = call else { continue };
                    (call["function"]["name"].clone(), call["function"]["arguments"].clone())
                }
                Self::Anthropic if v["delta"]["type"] == "input_json_delta" => {
                    (Value::Null, v["delta"]["partial_json"].clone())
                }
                Self::Anthropic => {
                    let block = v.get("content_block").or(v.pointer("/content/0"));
                    let Some(block) = block.filter(|b| b["type"] == "tool_use") else { continue };
                    let whole = v.get("content").map(|_| Value::from(block["input"].to_string()));
                    (block["name"].clone(), whole.unwrap_or_default())
                }
                Self::Responses => {
                    let done = v.get("item").filter(|_| v["type"] == "response.output_item.done");
                    let is_call = |item: &&Value| item["type"] != "message";
                    let Some(item) = done.or(v.pointer("/output/0")).filter(is_call) else { continue };
                    let words = item["action"]["command"].clone();
                    let input = [&item["arguments"], &item["input"]].into_iter().find(|i| i.is_string());
                    let name = item.get("name").cloned().unwrap_or(item["type"].clone());
                    (name, input.cloned().unwrap_or(Value::from(words.to_string())))
                }
                Self::Gemini => {
                    let Some(call) = v.pointer("/candidates/0/content/parts/0/functionCall") else {
                        continue;
                    };
                    (call["name"].clone(), Value::from(call["args"].to_string()))
                }
            };
            name = name.or(at.as_str().map(str::to_owned));
            arguments += input.as_str().unwrap_or_default();
        }
        Some((name?, parsed(&arguments)))
    }

    /// What says that a streamed reply is over.
    fn ends(self, stream: &str) -> bool {
        stream.contains(match self {
            Self::Chat => "data: [DONE]",
            Self::Anthropic => "event: message_stop",
            Self::Responses => "\"type\":\"response.completed\"",
            Self::Gemini => "\"finishReason\":\"STOP\"",
        })
    }
}

/// One request on a connection of its own; the raw response, of which at most a megabyte is read.
async fn send(server: &Server, path: &str, body: &Value) -> String {
    let mut socket = TcpStream::connect(server.addr).await.unwrap();
    let body = body.to_string();
    let head = format!("POST {path} HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n", body.len());
    socket.write_all((head + &body).as_bytes()).await.unwrap();
    socket.shutdown().await.unwrap();
    let mut response = Vec::new();
    socket.take(1 << 20).read_to_end(&mut response).await.unwrap();
    String::from_utf8(response).unwrap()
}

/// The JSON of a reply: one value, or one per event.
fn values(response: &str) -> Vec<Value> {
    let body = response.split_once("\r\n\r\n").unwrap().1;
    let whole = serde_json::from_str(body).map(|v| vec![v]);
    whole.unwrap_or_else(|_| {
        let data = response.lines().filter_map(|line| line.strip_prefix("data: "));
        data.filter_map(|d| serde_json::from_str(d).ok()).collect()
    })
}

async fn server() -> Server {
    Server::start(Behaviour::default()).await.unwrap()
}

#[tokio::test]
async fn a_text_comes_whole_and_in_pieces_with_its_usage() {
    let server = server().await;
    for wire in WIRES {
        let mut texts = Vec::new();
        for stream in [true, false] {
            let body = wire.body("agent", stream, "Say something.", &[]);
            let response = send(&server, &wire.path("agent", stream), &body).await;
            let is_stream = response.contains("content-type: text/event-stream");
            assert_eq!(is_stream, stream, "{wire:?}: {response}");
            assert!(!stream || wire.ends(&response), "{wire:?} does not end: {response}");
            let usage = ["\"usage\":{", "\"usageMetadata\":{"].iter().any(|u| response.contains(u));
            assert!(usage, "{wire:?} tells no usage: {response}");
            texts.push(wire.text(&values(&response)));
        }
        assert!(texts[0].starts_with("# Draft\n"), "{wire:?}: {texts:?}");
        assert_eq!(texts[0], texts[1], "{wire:?}");
    }
}

#[tokio::test]
async fn a_worker_writes_with_the_clients_tool_first_and_by_the_shell_when_it_comes_back() {
    let server = server().await;
    let first = "Task:\nWrite `a/b.txt`.";
    let again = "Findings:\n- too short\n\nTask:\nWrite `a/b.txt`.";
    for wire in WIRES {
        for stream in [true, false] {
            for (brief, is_writer) in [(first, true), (&format!("x\n{again}"), false)] {
                let body = wire.body("agent", stream, brief, wire.tools());
                let response = send(&server, &wire.path("agent", stream), &body).await;
                let (name, input) = wire.call(&values(&response)).unwrap_or_else(|| panic!("{response}"));
                let writers = ["write", "Write", "apply_patch", "write_file"];
                assert_eq!(writers.contains(&name.as_str()), is_writer, "{wire:?}: {name}");
                let input = input.to_string();
                assert!(input.contains("a/b.txt") && input.contains("Hello"), "{wire:?}: {input}");
            }
        }
    }
}

#[tokio::test]
async fn a_local_shell_is_called_as_an_item_of_its_own() {
    let server = server().await;
    let body = Wire::Responses.body("agent", true, "Write `a.txt`.", &["local_shell"]);
    let reply = values(&send(&server, "/v1/responses", &body).await);
    let (name, words) = Wire::Responses.call(&reply).unwrap();
    assert_eq!((name.as_str(), &words[0]), ("local_shell_call", &json!("bash")));
}

const CASE: &str = "Reply with {\"task_id\": …}\nRound: 1\nTask id: T1\n\n--- begin task m ---\n\
    Write `a.txt`.\n--- end task m ---\nSuccess criteria:\n- SC-1: it greets\n";

#[tokio::test]
async fn a_critic_gives_its_verdict_and_only_an_intruder_tries_to_write_before() {
    let server = server().await;
    for wire in WIRES {
        let path = |model| wire.path(model, true);
        let honest =
            values(&send(&server, &path("agent"), &wire.body("agent", true, CASE, wire.tools())).await);
        assert_eq!(wire.call(&honest), None, "{wire:?}");
        let report: Value = serde_json::from_str(&wire.text(&honest)).unwrap();
        assert_eq!((&report["task_id"], &report["verdict"]), (&json!("T1"), &json!("issues_found")));
        // A program that offers no writer is asked for one all the same.
        for tools in [wire.tools(), &["look"]] {
            let body = wire.body("intruder", true, CASE, tools);
            let reply = values(&send(&server, &path("intruder"), &body).await);
            let (_, input) = wire.call(&reply).unwrap();
            assert!(input.to_string().contains("written by a critic"), "{wire:?}: {input}");
        }
    }
}

#[tokio::test]
async fn an_answer_in_a_given_form_goes_through_the_tool_for_it() {
    let server = server().await;
    let body = Wire::Anthropic.body("agent", true, CASE, &["Read", "StructuredOutput"]);
    let reply = values(&send(&server, "/v1/messages", &body).await);
    let (name, report) = Wire::Anthropic.call(&reply).unwrap();
    assert_eq!((name.as_str(), &report["round"]), ("StructuredOutput", &json!(1)));
}

#[tokio::test]
async fn every_fault_is_there_on_every_wire() {
    let server = server().await;
    for wire in WIRES {
        for stream in [true, false] {
            let ask = async |model: &str| {
                let body = wire.body(model, stream, "Say something.", &[]);
                send(&server, &wire.path(model, stream), &body).await
            };
            let at = |fault: &str| format!("{wire:?}, stream {stream}, {fault}");
            assert!(ask("fault:429").await.starts_with("HTTP/1.1 429"), "{}", at("429"));
            let busy = ask("fault:busy").await;
            assert!(busy.starts_with("HTTP/1.1 429") && busy.contains("retry-after: 30\r\n"), "{busy}");
            assert_eq!(busy.contains("\"retryDelay\":\"30s\""), wire == Wire::Gemini, "{busy}");
            assert!(ask("fault:500").await.starts_with("HTTP/1.1 500"), "{}", at("500"));
            assert!(ask("fault:401").await.starts_with("HTTP/1.1 401"), "{}", at("401"));

            let whole = ask("slow:1").await;
            assert!(wire.text(&values(&whole)).ends_with("an end.\n"), "{}", at("slow"));
            let empty = ask("fault:empty").await;
            assert!(empty.starts_with("HTTP/1.1 200") && wire.text(&values(&empty)).is_empty(), "{empty}");
            let cut = ask("fault:cut").await;
            assert!(!wire.text(&values(&cut)).ends_with("an end.\n"), "{}", at("cut"));
            let malformed = ask("fault:malformed").await;
            assert!(malformed.contains("{\"choices\": [}"), "{}", at("malformed"));
            assert!(!wire.ends(&malformed), "{}", at("malformed"));
            assert_eq!(ask("fault:huge").await.len(), 1 << 20, "{}", at("huge"));
        }
    }
}

#[tokio::test]
async fn tokens_are_counted_for_those_who_ask_before_they_call() {
    let server = server().await;
    for (path, field) in
        [("/v1beta/models/agent:countTokens", "totalTokens"), ("/v1/messages/count_tokens", "input_tokens")]
    {
        let reply = values(&send(&server, path, &json!({"contents": "x"})).await);
        assert!(reply[0][field].as_u64() > Some(0), "{path}: {reply:?}");
    }
    assert_eq!(server.calls().total, 0);
}
