//! A model that is offered tools by whoever calls the API: it asks for the first one and, told what came of it,
//! says so. A conversation that a real API would refuse is refused here too, with its reason.

use serde_json::{Value, json};

use crate::program::{Arguments, ScriptedCall};
use crate::wire::Format;

/// What such a model does next.
pub(crate) enum ModelAction {
    Ask(ScriptedCall),
    Say(String),
    Refuse(&'static str),
}

/// What a tool said, and the kind of picture that came with it.
struct HeardTool {
    result: String,
    picture: Option<String>,
}

/// Pursues what it is asked for: writes `done.txt`, looks at it, and claims the goal where that is offered.
pub(crate) fn pursue(body: &[u8], format: Format) -> ModelAction {
    let Ok(body) = serde_json::from_slice::<Value>(body) else { return ModelAction::Refuse("no JSON") };
    let told = told(&body, format);
    if let Err(why) = told {
        return ModelAction::Refuse(why);
    }
    let asked = calls_in(&body);
    let is_offered = |name: &str| offered(&body).iter().any(|tool| named(tool) == Some(name));
    let ways = [
        ("write_file", json!({"path": "done.txt", "content": "done\n"})),
        ("run_command", json!({"command": "cat done.txt"})),
        ("claim_complete", json!({"rationale": "done.txt holds what it should"})),
    ];
    match ways.into_iter().nth(asked).filter(|(name, _)| is_offered(name)) {
        Some((name, arguments)) => {
            ModelAction::Ask(ScriptedCall { name: name.to_owned(), arguments: Arguments::Object(arguments) })
        }
        None => ModelAction::Say("done.txt is written.".to_owned()),
    }
}

fn told(body: &Value, format: Format) -> Result<Option<HeardTool>, &'static str> {
    match format {
        Format::Chat => chat(&body["messages"]),
        Format::Anthropic => anthropic(&body["messages"]),
        Format::Responses => responses(&body["input"]),
        Format::Gemini => gemini(&body["contents"]),
    }
}

/// The tools on offer, in any wire.
fn offered(body: &Value) -> &[Value] {
    let tools = each(&body["tools"]);
    tools
        .first()
        .map(|first| each(&first["functionDeclarations"]))
        .filter(|all| !all.is_empty())
        .unwrap_or(tools)
}

fn named(tool: &Value) -> Option<&str> {
    tool["name"].as_str().or_else(|| tool["function"]["name"].as_str())
}

/// How many calls a conversation holds, in any wire.
fn calls_in(body: &Value) -> usize {
    let in_content = |message: &Value| {
        let blocks = each(&message["content"]).iter().filter(|block| block["type"] == "tool_use").count();
        let parts = each(&message["parts"]).iter().filter(|part| part.get("functionCall").is_some()).count();
        blocks + parts + usize::from(message["type"] == "function_call")
    };
    let messages = ["messages", "input", "contents"].into_iter().flat_map(|list| each(&body[list]));
    messages.map(|message| each(&message["tool_calls"]).len() + in_content(message)).sum()
}

pub(crate) fn act(body: &[u8], format: Format) -> ModelAction {
    let Ok(body) = serde_json::from_slice::<Value>(body) else { return ModelAction::Refuse("no JSON") };
    let told = told(&body, format);
    match told {
        Err(why) => ModelAction::Refuse(why),
        Ok(Some(HeardTool { result, picture })) => {
            let seen = picture.map(|media| format!(" I see {media}.")).unwrap_or_default();
            ModelAction::Say(format!("It said: {result}{seen}"))
        }
        Ok(None) => {
            let tool = offered(&body).first().unwrap_or(&Value::Null);
            let name = named(tool);
            let schema = [
                &tool["input_schema"],
                &tool["function"]["parameters"],
                &tool["parameters"],
                &tool["parametersJsonSchema"],
            ];
            match (name, body.get("tools")) {
                (None, None) => ModelAction::Say("I was offered no tools.".to_owned()),
                (Some(name), _) if schema.iter().any(|schema| schema["type"] == "object") => {
                    let arguments = Arguments::Object(json!({"command": "cargo test"}));
                    ModelAction::Ask(ScriptedCall { name: name.to_owned(), arguments })
                }
                _ => ModelAction::Refuse("`tools` is not what it should be"),
            }
        }
    }
}

fn each(list: &Value) -> &[Value] {
    list.as_array().map_or(&[], Vec::as_slice)
}

fn is_name(name: &Value) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    name.as_str().is_some_and(|name| !name.is_empty() && name.len() <= 64 && name.chars().all(fits))
}

/// Every call is followed at once by a message with its result.
fn chat(messages: &Value) -> Result<Option<HeardTool>, &'static str> {
    let mut told: Option<HeardTool> = None;
    let mut open: Vec<&Value> = Vec::new();
    for message in each(messages) {
        if message["role"] == "tool" {
            let at = open.iter().position(|id| **id == message["tool_call_id"]);
            open.remove(at.ok_or("a result of no call")?);
            let result = message["content"].as_str().ok_or("a result is no text")?.to_owned();
            told = Some(HeardTool { result, picture: None });
            continue;
        }
        if !open.is_empty() {
            return Err("a call without its result");
        }
        for call in each(&message["tool_calls"]) {
            let args = call["function"]["arguments"].as_str().unwrap_or_default();
            if !is_name(&call["function"]["name"]) || serde_json::from_str::<Value>(args).is_err() {
                return Err("a call is malformed");
            }
            open.push(&call["id"]);
        }
        for part in each(&message["content"]) {
            let url = part["image_url"]["url"].as_str().and_then(|url| url.strip_prefix("data:"));
            if let (Some(told), Some((media, _))) =
                (&mut told, url.and_then(|url| url.split_once(";base64,")))
            {
                told.picture = Some(media.to_owned());
            }
        }
    }
    if open.is_empty() { Ok(told) } else { Err("a call without its result") }
}

/// Every call has its result in the next message, before anything else; no text is empty.
fn anthropic(messages: &Value) -> Result<Option<HeardTool>, &'static str> {
    let mut told: Option<HeardTool> = None;
    let mut open: Vec<&Value> = Vec::new();
    for message in each(messages) {
        if message["content"].as_str().is_some_and(|text| text.trim().is_empty()) {
            return Err("a message is empty");
        }
        let mut wanted = std::mem::take(&mut open);
        let mut has_begun = false;
        for block in each(&message["content"]) {
            match block["type"].as_str().unwrap_or_default() {
                "tool_result" => {
                    let at = wanted.iter().position(|id| **id == block["tool_use_id"]);
                    wanted.remove(at.filter(|_| !has_begun).ok_or("a result that does not come first")?);
                    let result = block["content"].as_str().ok_or("a result is no text")?.to_owned();
                    told = Some(HeardTool { result, picture: None });
                    continue;
                }
                "tool_use" if !is_name(&block["name"]) || !block["input"].is_object() => {
                    return Err("a call is malformed");
                }
                "tool_use" => open.push(&block["id"]),
                "text" if block["text"].as_str().is_none_or(|text| text.trim().is_empty()) => {
                    return Err("text content blocks must be non-empty");
                }
                "image" => {
                    if let Some(told) = &mut told {
                        told.picture = block["source"]["media_type"].as_str().map(str::to_owned);
                    }
                }
                _ => {}
            }
            has_begun = true;
        }
        if !wanted.is_empty() {
            return Err("a call without its result");
        }
    }
    if open.is_empty() { Ok(told) } else { Err("a call without its result") }
}

/// Every call is followed by an item with its result before anybody speaks.
fn responses(items: &Value) -> Result<Option<HeardTool>, &'static str> {
    let mut told: Option<HeardTool> = None;
    let mut open: Vec<&Value> = Vec::new();
    for item in each(items) {
        match item["type"].as_str().unwrap_or_default() {
            "function_call" => {
                let args = item["arguments"].as_str().unwrap_or_default();
                if !is_name(&item["name"]) || serde_json::from_str::<Value>(args).is_err() {
                    return Err("a call is malformed");
                }
                open.push(&item["call_id"]);
            }
            "function_call_output" => {
                let at = open.iter().position(|id| **id == item["call_id"]);
                open.remove(at.ok_or("a result of no call")?);
                let result = item["output"].as_str().ok_or("a result is no text")?.to_owned();
                told = Some(HeardTool { result, picture: None });
            }
            _ if !open.is_empty() => return Err("a call without its result"),
            _ => {
                for part in each(&item["content"]) {
                    let url = part["image_url"].as_str().and_then(|url| url.strip_prefix("data:"));
                    if let (Some(told), Some((media, _))) =
                        (&mut told, url.and_then(|url| url.split_once(";base64,")))
                    {
                        told.picture = Some(media.to_owned());
                    }
                }
            }
        }
    }
    if open.is_empty() { Ok(told) } else { Err("a call without its result") }
}

/// As many results as calls follow them, by the functions' names; no content is empty.
fn gemini(contents: &Value) -> Result<Option<HeardTool>, &'static str> {
    let mut told: Option<HeardTool> = None;
    let mut open: Vec<&Value> = Vec::new();
    for content in each(contents) {
        if each(&content["parts"]).is_empty() {
            return Err("a content is empty");
        }
        for part in each(&content["parts"]) {
            if let Some(call) = part.get("functionCall") {
                if !is_name(&call["name"]) || !call["args"].is_object() {
                    return Err("a call is malformed");
                }
                open.push(&call["name"]);
            } else if let Some(response) = part.get("functionResponse") {
                let at = open.iter().position(|name| **name == response["name"]);
                open.remove(at.ok_or("a result of no call")?);
                let outcome = &response["response"];
                let result = outcome["output"].as_str().or_else(|| outcome["error"].as_str());
                let result = result.ok_or("a result is no text")?.to_owned();
                told = Some(HeardTool { result, picture: None });
            } else if let (Some(told), Some(media)) = (&mut told, part["inlineData"]["mimeType"].as_str()) {
                told.picture = Some(media.to_owned());
            }
        }
    }
    if open.is_empty() { Ok(told) } else { Err("a call without its result") }
}
