//! Decides what to say from the request alone: the model's name selects a behaviour, the brief's
//! `Iteration: N` line the verdict. The one exception, `fault:429-then-ok:K`, counts repeats of a body.
//! What a model behind a program with tools does is in `program`.
//!
//! To add a behaviour: one arm in `decide`.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::brief;
use crate::conversation::Conversation;
use crate::hands::{self, ModelAction};
use crate::program::{self, Arguments, Move, ScriptedCall, Temper};
use crate::wire::Format;

/// What the request asked for, as far as an answer depends on it.
pub(crate) struct MockRequest<'a> {
    pub format: Format,
    pub model: &'a str,
    pub body: &'a [u8],
    pub digest: u64,
    /// How often this very body came before.
    pub before: u32,
    /// The key as the client sent it.
    pub key: &'a str,
}

/// How a reply ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ReplyStop {
    End,
    /// Said to be the end, although a tool is asked for.
    AsIfEnded,
    Length,
    Refusal,
}

/// How the bytes of a reply are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Pace {
    /// All at once: cheapest.
    Whole,
    /// Event by event, with a pause before each.
    Slow(Duration),
    /// In pieces of a few bytes that respect no boundary.
    Split,
    /// Closed in the middle of the text.
    Cut,
    /// Head and first event, then silence.
    Hang,
    /// The text never ends.
    Huge,
    /// Events that are not JSON.
    Malformed,
    /// Ended properly on the wire, but without a finish event.
    Unfinished,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum MockAnswer {
    Say(ReplyContent, Pace),
    Refuse(ErrorReply),
    /// Not one byte comes back.
    Silence,
}

/// What a reply holds: a text or the call of a tool.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ReplyContent {
    pub text: String,
    pub reasoning: Option<String>,
    pub call: Option<ScriptedCall>,
    /// The call is none of the role's that was asked for.
    pub intrudes: bool,
    pub stop: ReplyStop,
}

impl ReplyContent {
    fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), reasoning: None, call: None, intrudes: false, stop: ReplyStop::End }
    }
}

/// An HTTP error with the structured body of any wire.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ErrorReply {
    pub status: u16,
    pub openai: (&'static str, &'static str),
    pub anthropic: &'static str,
    pub param: Option<&'static str>,
    pub message: String,
    pub header: Option<(&'static str, String)>,
}

impl ErrorReply {
    fn new(
        status: u16,
        openai: (&'static str, &'static str),
        anthropic: &'static str,
        message: &str,
    ) -> Self {
        Self { status, openai, anthropic, param: None, message: message.to_owned(), header: None }
    }

    fn with(mut self, name: &'static str, value: &str) -> Self {
        self.header = Some((name, value.to_owned()));
        self
    }
}

fn say(text: impl Into<String>) -> MockAnswer {
    MockAnswer::Say(ReplyContent::text(text), Pace::Whole)
}

fn paced(pace: Pace, asked: &MockRequest<'_>) -> MockAnswer {
    MockAnswer::Say(ReplyContent::text(draft(asked, 0)), pace)
}

fn rate_limited() -> ErrorReply {
    ErrorReply::new(
        429,
        ("rate_limit_exceeded", "rate_limit_exceeded"),
        "rate_limit_error",
        "Rate limit reached.",
    )
}

pub(crate) fn decide(asked: &MockRequest<'_>, script: &BTreeMap<String, Vec<String>>) -> MockAnswer {
    if let Some(texts) = script.get(asked.model) {
        let at = iteration(asked.body).unwrap_or(1).saturating_sub(1) as usize;
        return say(texts.get(at).or(texts.last()).cloned().unwrap_or_default());
    }
    let (name, argument) = asked.model.split_once(':').unwrap_or((asked.model, ""));
    match name {
        "worker" => say(draft(asked, argument.parse().unwrap_or(0))),
        "critic" => say(verdict(argument, iteration(asked.body).unwrap_or(1))),
        "agent" => moved(asked, |talk| program::act(talk, asked.format, Temper::Honest, argument)),
        "intruder" => moved(asked, |talk| program::act(talk, asked.format, Temper::Intruder, argument)),
        "restless" => moved(asked, |talk| program::restless(talk, asked.format)),
        "hands" => handed(asked, argument),
        "slow" => {
            let ms = argument.parse().unwrap_or(20);
            paced(Pace::Slow(Duration::from_millis(ms)), asked)
        }
        "split" => paced(Pace::Split, asked),
        "echo-key" => say(format!("The key is {}.", asked.key)),
        // Held to a schema it answers as one that a server made keep it; without one, in prose.
        "structured" if wants_schema(asked.body) => say(STRUCTURED),
        "structured" => say(draft(asked, 0)),
        "think" => {
            let text = format!("<think>Is it short? It is.</think>{}", draft(asked, 0));
            let reasoning = Some("The reader wants it short.".to_owned());
            MockAnswer::Say(ReplyContent { reasoning, ..ReplyContent::text(text) }, Pace::Whole)
        }
        "fault" => fault(argument, asked),
        _ if contains(asked.body, b"[STATUS:") => say(verdict("A", 1)),
        _ => say(draft(asked, 0)),
    }
}

/// What a model behind a program with tools does.
fn moved(asked: &MockRequest<'_>, act: impl FnOnce(&Conversation) -> Move) -> MockAnswer {
    match act(&Conversation::read(asked.body, asked.format)) {
        Move::Say(text) => say(text),
        Move::Call(call) => {
            MockAnswer::Say(ReplyContent { call: Some(call), ..ReplyContent::text("") }, Pace::Whole)
        }
        Move::Intrude(call) => {
            let said = ReplyContent { call: Some(call), intrudes: true, ..ReplyContent::text("") };
            MockAnswer::Say(said, Pace::Whole)
        }
    }
}

/// What a model that is offered tools does, and how its reply reaches whoever offers them.
fn handed(asked: &MockRequest<'_>, how: &str) -> MockAnswer {
    let pace = match how {
        "split" => Pace::Split,
        "cut" => Pace::Cut,
        "unfinished" => Pace::Unfinished,
        "huge" => Pace::Huge,
        "hang" => Pace::Hang,
        _ => Pace::Whole,
    };
    let stop = match how {
        "length" => ReplyStop::Length,
        "stop" => ReplyStop::AsIfEnded,
        _ => ReplyStop::End,
    };
    let action = if how == "goal" {
        hands::pursue(asked.body, asked.format)
    } else {
        hands::act(asked.body, asked.format)
    };
    match action {
        ModelAction::Say(_) if how == "unasked" => {
            let arguments = Arguments::Object(serde_json::json!({}));
            let call = ScriptedCall { name: "run_command".to_owned(), arguments };
            MockAnswer::Say(ReplyContent { call: Some(call), ..ReplyContent::text("") }, pace)
        }
        ModelAction::Say(text) => say(text),
        ModelAction::Ask(call) => {
            MockAnswer::Say(ReplyContent { call: Some(call), stop, ..ReplyContent::text("") }, pace)
        }
        ModelAction::Refuse(why) => {
            let kind = "invalid_request_error";
            MockAnswer::Refuse(ErrorReply::new(400, (kind, kind), kind, why))
        }
    }
}

fn fault(which: &str, asked: &MockRequest<'_>) -> MockAnswer {
    let (which, argument) = which.split_once(':').unwrap_or((which, ""));
    let stopped =
        |stop| MockAnswer::Say(ReplyContent { stop, ..ReplyContent::text(draft(asked, 0)) }, Pace::Whole);
    match which {
        "429" => MockAnswer::Refuse(rate_limited().with("retry-after-ms", "1")),
        "429-then-ok" if asked.before < argument.parse().unwrap_or(1) => {
            MockAnswer::Refuse(rate_limited().with("retry-after-ms", "1"))
        }
        "quota-then-ok" if asked.before >= argument.parse().unwrap_or(1) => say(draft(asked, 0)),
        "quota" | "quota-then-ok" => MockAnswer::Refuse(rate_limited().with("retry-after", "3600")),
        "busy" => MockAnswer::Refuse(rate_limited().with("retry-after", "30")),
        "redirect" => MockAnswer::Refuse(
            ErrorReply::new(308, ("", ""), "", "It is elsewhere.").with("location", "http://127.0.0.1:1/v1"),
        ),
        "500" => MockAnswer::Refuse(ErrorReply::new(
            500,
            ("server_error", "server_error"),
            "api_error",
            "It broke.",
        )),
        "500-then-ok" if asked.before < argument.parse().unwrap_or(1) => MockAnswer::Refuse(ErrorReply::new(
            500,
            ("server_error", "server_error"),
            "api_error",
            "It broke.",
        )),
        "401" => MockAnswer::Refuse(ErrorReply::new(
            401,
            ("invalid_request_error", "invalid_api_key"),
            "authentication_error",
            "That key is not valid.",
        )),
        "echo-key" => MockAnswer::Refuse(ErrorReply::new(
            401,
            ("invalid_request_error", "invalid_api_key"),
            "authentication_error",
            &format!("The key {} is not valid.", asked.key),
        )),
        "echo-key-late" => MockAnswer::Refuse(ErrorReply::new(
            401,
            ("invalid_request_error", "invalid_api_key"),
            "authentication_error",
            &format!("{}The key {} is not valid.", "x".repeat(480), asked.key),
        )),
        "context" => MockAnswer::Refuse(ErrorReply {
            param: Some("messages"),
            ..ErrorReply::new(
                400,
                ("invalid_request_error", "context_length_exceeded"),
                "invalid_request_error",
                "prompt is too long: 210000 tokens > 200000 maximum",
            )
        }),
        "param" if contains(asked.body, b"\"max_tokens\":") => MockAnswer::Refuse(ErrorReply {
            param: Some("max_tokens"),
            ..ErrorReply::new(
                400,
                ("invalid_request_error", "unsupported_parameter"),
                "invalid_request_error",
                "Use 'max_completion_tokens' instead.",
            )
        }),
        // One server names the parameter, another only says that something is wrong.
        "schema" | "schema-mute" if wants_schema(asked.body) => MockAnswer::Refuse(ErrorReply {
            param: (which == "schema").then_some("response_format"),
            ..ErrorReply::new(
                400,
                ("invalid_request_error", "unsupported_value"),
                "invalid_request_error",
                "This model takes no schema.",
            )
        }),
        "cut" => paced(Pace::Cut, asked),
        "unfinished" => paced(Pace::Unfinished, asked),
        "malformed" => paced(Pace::Malformed, asked),
        "huge" => paced(Pace::Huge, asked),
        "hang" => paced(Pace::Hang, asked),
        "hang-connect" => MockAnswer::Silence,
        "empty" => say(""),
        "length" => stopped(ReplyStop::Length),
        "refusal" => stopped(ReplyStop::Refusal),
        "429-then-ok" | "500-then-ok" | "param" | "schema" | "schema-mute" => say(draft(asked, 0)),
        other => MockAnswer::Refuse(ErrorReply::new(
            404,
            ("invalid_request_error", "model_not_found"),
            "not_found_error",
            &format!("There is no fault `{other}`."),
        )),
    }
}

/// What the model `structured` says when it is held to a schema.
const STRUCTURED: &str = r#"{"verdict":"passed"}"#;

fn wants_schema(body: &[u8]) -> bool {
    let held: [&[u8]; 4] = [
        b"\"response_format\":{\"type\":\"json_schema\"",
        b"\"output_config\":{\"format\":",
        b"\"text\":{\"format\":{\"type\":\"json_schema\"",
        b"\"responseMimeType\":\"application/json\"",
    ];
    held.iter().any(|what| contains(body, what))
}

/// A draft that is the same for the same brief and different for a different one.
fn draft(asked: &MockRequest<'_>, bytes: usize) -> String {
    let mut text = format!(
        "# Draft\n\nThis text answers brief {:016x}. It has a first part, a second part and an end.\n",
        asked.digest
    );
    let bytes = bytes.min(1 << 20);
    while text.len() < bytes {
        text.push_str("One more sentence makes the draft longer. ");
    }
    text
}

/// `R,R,A` rejects in iterations 1 and 2 and approves in 3; the last letter holds from then on.
pub(crate) fn verdict(pattern: &str, iteration: u32) -> String {
    let n = iteration.max(1);
    match (brief::letter(pattern, n), n) {
        ("R", 1) => "[STATUS: REJECTED]\n- 1: Name the sample size in the first sentence.\n\
                     - 2: Say what was measured.\n"
            .to_owned(),
        ("R", _) => {
            "[STATUS: REJECTED]\nStill unresolved:\n- 1 Name the sample size in the first sentence.\n"
                .to_owned()
        }
        ("M", _) => "I am of two minds about this draft.\n".to_owned(),
        _ => "[STATUS: APPROVED]\nThe draft meets every item of the rubric.\n".to_owned(),
    }
}

/// The number on the first line that begins with `Iteration: `, read from the JSON as it came:
/// a line begins after an escaped line feed or an opening quote.
pub(crate) fn iteration(body: &[u8]) -> Option<u32> {
    const MARK: &[u8] = b"Iteration: ";
    let mut from = 0;
    while let Some(at) = find(&body[from..], MARK).map(|i| i + from) {
        let digits = &body[at + MARK.len()..];
        if body[..at].ends_with(b"\\n") || body[..at].ends_with(b"\"") {
            let end = digits.iter().position(|b| !b.is_ascii_digit()).unwrap_or(digits.len());
            if let Some(n) = std::str::from_utf8(&digits[..end.min(9)]).ok().and_then(|s| s.parse().ok()) {
                return Some(n);
            }
        }
        from = at + MARK.len();
    }
    None
}

fn contains(body: &[u8], what: &[u8]) -> bool {
    find(body, what).is_some()
}

fn find(body: &[u8], what: &[u8]) -> Option<usize> {
    let first = *what.first()?;
    let mut from = 0;
    while let Some(i) = body.get(from..)?.iter().position(|b| *b == first).map(|i| i + from) {
        if body[i..].starts_with(what) {
            return Some(i);
        }
        from = i + 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_iteration_is_read_only_from_the_beginning_of_a_line() {
        assert_eq!(iteration(br#"{"content":"Task\nIteration: 2\nx"}"#), Some(2));
        assert_eq!(iteration(br#"{"content":"the Iteration: 7 was long\nIteration: 3"}"#), Some(3));
        assert_eq!(iteration(br#"{"content":"no number"}"#), None);
    }

    #[test]
    fn a_pattern_of_verdicts_is_followed_and_its_last_letter_holds() {
        let at = |n: u32| verdict("R,R,A", n);
        assert!(at(1).starts_with("[STATUS: REJECTED]\n- 1: "));
        assert!(at(2).starts_with("[STATUS: REJECTED]\nStill unresolved:\n- 1 "));
        assert!(at(3).starts_with("[STATUS: APPROVED]"));
        assert!(at(9).starts_with("[STATUS: APPROVED]"));
    }
}
