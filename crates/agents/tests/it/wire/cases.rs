//! The table. A row says what the server says, in which forms that can be, and what must be seen.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use gadfly_agents::{CallError, CallReply};
use gadfly_engine::{CallFailure, FailureKind, Money, Observation, StopReason, Usage};
use serde_json::{Value, json};

use crate::wire::form::Form::{Chat, Gemini, Messages, Responses};
use crate::wire::form::{Form, TEXT, USED, event, streamed};
use crate::wire::server::{Ends, Reply};

pub struct Case {
    pub name: &'static str,
    /// What each request gets; none where a form has no such thing.
    pub replies: fn(Form) -> Option<Vec<Reply>>,
    pub check: fn(&Seen) -> Result<(), String>,
    pub has_schema: bool,
    pub has_tools: bool,
    /// Its tokens have a price.
    pub is_priced: bool,
    /// Its limits on silence are short.
    pub hurries: bool,
    /// It is cancelled once some of the reply has come.
    pub is_cancelled: bool,
}

pub struct Seen {
    pub result: Result<CallReply, CallError>,
    pub observations: Vec<Observation>,
    pub asked: Vec<String>,
}

type Check = Result<(), String>;

const fn case(
    name: &'static str,
    replies: fn(Form) -> Option<Vec<Reply>>,
    check: fn(&Seen) -> Check,
) -> Case {
    Case {
        name,
        replies,
        check,
        has_schema: false,
        has_tools: false,
        is_priced: false,
        hurries: false,
        is_cancelled: false,
    }
}

fn must(holds: bool, seen: &Seen) -> Check {
    let asked = seen.asked.len();
    if holds {
        Ok(())
    } else {
        Err(format!("{:?} after {asked} requests, {:?}", seen.result, seen.observations))
    }
}

/// The text, whole, after this many requests, with all that was used as it was said.
fn answered(seen: &Seen, requests: usize) -> Check {
    let (input, output, cache_read) = USED;
    let used = Usage { input, output, cache_read, ..Usage::default() };
    let is_it =
        |reply: &CallReply| reply.text == TEXT && reply.stop == StopReason::EndTurn && reply.usage == used;
    must(seen.result.as_ref().is_ok_and(is_it) && seen.asked.len() == requests, seen)
}

fn failed(seen: &Seen, kind: FailureKind, says: &str, requests: usize) -> Check {
    let is_it = |f: &CallFailure| f.kind == kind && f.message.contains(says);
    must(matches!(&seen.result, Err(CallError::Failed(f)) if is_it(f)) && seen.asked.len() == requests, seen)
}

fn no_quota(seen: &Seen, says: &str, is_timed: bool) -> Check {
    let is_it = |until: &Option<u64>, message: &str| until.is_some() == is_timed && message.contains(says);
    must(
        matches!(&seen.result, Err(CallError::Quota { until_ms, message, .. }) if is_it(until_ms, message))
            && seen.asked.len() == 1,
        seen,
    )
}

/// The text, and figures that were partly made up.
fn used(seen: &Seen, is_it: impl Fn(Usage) -> bool) -> Check {
    must(seen.result.as_ref().is_ok_and(|reply| reply.text == TEXT && is_it(reply.usage)), seen)
}

fn zipped(body: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(body.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

#[allow(clippy::unnecessary_wraps)] // a case has replies only in the forms it is about
fn with_usage(form: Form, usage: &Value) -> Option<Vec<Reply>> {
    Some(vec![streamed(format!("{}{}{}", form.text(TEXT), form.finish(form.end(), usage), form.done()))])
}

#[allow(clippy::unnecessary_wraps)] // as above
fn refused(form: Form, status: u16, message: &str) -> Option<Vec<Reply>> {
    let body = form.error(status, message).to_string();
    Some(vec![Reply::new(status, body).header("content-type", "application/json")])
}

/// An error inside of a reply that had begun with 200, after this much of it.
fn inside(form: Form, status: u16, after: &str) -> Reply {
    let words = if after.is_empty() { String::new() } else { form.text(after) };
    streamed(format!("{words}{}", event(&form.error(status, "No more."))))
}

const TOO_LONG: &str = "This model's maximum context length is 4096 tokens. However, you requested 9000.";

pub const CASES: &[Case] = &[
    case("streamed", |f| Some(vec![f.ok()]), |s| answered(s, 1)),
    case(
        "whole, though a stream was asked for",
        |f| Some(vec![Reply::new(200, f.whole()).header("content-type", "application/json")]),
        |s| answered(s, 1),
    ),
    case(
        "whole, labelled as text",
        |f| Some(vec![Reply::new(200, f.whole()).header("content-type", "text/plain")]),
        |s| answered(s, 1),
    ),
    case("streamed without a label", |f| Some(vec![Reply::new(200, f.stream())]), |s| answered(s, 1)),
    case(
        "whole, after blanks that keep the connection open",
        |f| Some(vec![Reply::new(200, format!("\n\n   {}", f.whole()))]),
        |s| answered(s, 1),
    ),
    case(
        "a stream packed with gzip, unasked",
        |f| Some(vec![streamed(zipped(&f.stream())).header("content-encoding", "gzip")]),
        |s| answered(s, 1),
    ),
    case(
        "a whole reply packed with gzip, unasked",
        |f| Some(vec![Reply::new(200, zipped(&f.whole())).header("content-encoding", "gzip")]),
        |s| answered(s, 1),
    ),
    case(
        "a mark of byte order, and lines that end with CRLF",
        |f| Some(vec![streamed(format!("\u{feff}{}", f.stream().replace('\n', "\r\n")))]),
        |s| answered(s, 1),
    ),
    case(
        "the last event without its blank line",
        |f| {
            let stream = format!("{}{}", f.text(TEXT), f.finish(f.end(), &f.usage()));
            Some(vec![streamed(stream.trim_end().to_owned())])
        },
        |s| answered(s, 1),
    ),
    case(
        "no terminator after the reason",
        |f| Some(vec![streamed(format!("{}{}", f.text(TEXT), f.finish(f.end(), &f.usage())))]),
        |s| answered(s, 1),
    ),
    case(
        "a terminator and no reason",
        |f| {
            let (usage, words) = (f.usage(), f.text(TEXT));
            let stream = match f {
                Chat => format!("{words}{}{}", event(&json!({"choices": [], "usage": usage})), f.done()),
                Messages => {
                    format!("{words}{}{}", event(&json!({"type": "message_delta", "usage": usage})), f.done())
                }
                Responses => {
                    format!(
                        "{words}{}",
                        event(&json!({"type": "response.completed", "response": {"usage": usage}}))
                    )
                }
                Gemini => format!("{words}{}data: [DONE]\n\n", event(&json!({"usageMetadata": usage}))),
            };
            Some(vec![streamed(stream)])
        },
        |s| answered(s, 1),
    ),
    case(
        "the reason in another spelling",
        |f| {
            let word = match f {
                Chat => "STOP",
                Messages => "pause_turn",
                Responses => return None,
                Gemini => "stop",
            };
            Some(vec![streamed(format!("{}{}{}", f.text(TEXT), f.finish(word, &f.usage()), f.done()))])
        },
        |s| answered(s, 1),
    ),
    case(
        "a reason that nobody knows",
        |f| {
            (f != Responses).then(|| {
                let finish = f.finish("eos_found", &f.usage());
                vec![streamed(format!("{}{finish}{}", f.text(TEXT), f.done()))]
            })
        },
        |s| answered(s, 1),
    ),
    case(
        "cut at its longest",
        |f| {
            let (words, usage) = (f.text(TEXT), f.usage());
            let finish = match f {
                Chat => f.finish("length", &usage),
                Messages | Gemini => f.finish("max_tokens", &usage),
                Responses => {
                    let details = json!({"reason": "max_output_tokens"});
                    let response =
                        json!({"status": "incomplete", "incomplete_details": details, "usage": usage});
                    event(&json!({"type": "response.incomplete", "response": response}))
                }
            };
            Some(vec![streamed(format!("{words}{finish}{}", f.done()))])
        },
        |s| must(s.result.as_ref().is_ok_and(|reply| reply.stop == StopReason::Length), s),
    ),
    case(
        "broken off in the middle",
        |f| Some(vec![streamed(f.text(TEXT)).ends(Ends::Broken)]),
        |s| {
            failed(s, FailureKind::BrokenOff, "broke off after 12 bytes", 1)?;
            let Err(CallError::Failed(failure)) = &s.result else { return must(false, s) };
            must(failure.usage.estimated && failure.usage.output == 6 && failure.usage.input > 0, s)
        },
    ),
    case(
        "an end without a reason or a terminator",
        |f| Some(vec![streamed(f.text(TEXT))]),
        |s| failed(s, FailureKind::BrokenOff, "without its finish", 1),
    ),
    case(
        "nothing left to spend, said inside a stream",
        |f| (f != Gemini).then(|| vec![inside(f, 402, "")]),
        |s| no_quota(s, "nothing left to spend", false),
    ),
    case(
        "a wrong key, said inside a stream",
        |f| Some(vec![inside(f, 401, "")]),
        |s| failed(s, FailureKind::Unauthorised, "key_env", 1),
    ),
    case(
        "too many requests, said inside a stream before a word",
        |f| Some(vec![inside(f, 429, ""), f.ok()]),
        |s| must(s.result.as_ref().is_ok_and(|reply| reply.text == TEXT) && s.asked.len() == 2, s),
    ),
    case(
        "an error inside a whole reply with 200",
        |f| Some(vec![Reply::new(200, f.error(401, "No.").to_string())]),
        |s| failed(s, FailureKind::Unauthorised, "reported an error: No.", 1),
    ),
    case(
        "overloaded after some words, then well",
        |f| Some(vec![inside(f, 529, "It was"), f.ok()]),
        |s| {
            let counts = |u: Usage| u.estimated && u.output == USED.1 + 3 && u.input > USED.0;
            used(s, counts)?;
            must(s.asked.len() == 2, s)
        },
    ),
    case(
        "overloaded after some words, again",
        |f| Some(vec![inside(f, 529, "It was")]),
        |s| {
            failed(s, FailureKind::Unavailable, "No more.", 2)?;
            let Err(CallError::Failed(failure)) = &s.result else { return must(false, s) };
            must(failure.usage.estimated && failure.usage.output == 6, s)
        },
    ),
    case(
        "a web page with 200",
        |_| Some(vec![Reply::new(200, "<!DOCTYPE html><html><body>Welcome</body></html>")]),
        |s| failed(s, FailureKind::Misconfigured, "web page", 1),
    ),
    case(
        "words with 200",
        |_| Some(vec![Reply::new(200, "Ollama is running")]),
        |s| failed(s, FailureKind::Misconfigured, "Ollama is running", 1),
    ),
    case(
        "no such model",
        |f| refused(f, 404, "The model m does not exist."),
        |s| failed(s, FailureKind::Misconfigured, "knows no such model", 1),
    ),
    case("a wrong key", |f| refused(f, 401, "No."), |s| failed(s, FailureKind::Unauthorised, "key_env", 1)),
    case("nothing left to spend", |f| refused(f, 402, "Pay."), |s| no_quota(s, "billing page", false)),
    case(
        "an empty account, said as a wrong request",
        |f| refused(f, 400, "Your credit balance is too low to access the API."),
        |s| no_quota(s, "billing page", false),
    ),
    case(
        "too long, said in words",
        |f| refused(f, 400, TOO_LONG),
        |s| failed(s, FailureKind::TooLong, "shorten", 1),
    ),
    case(
        "a reason deep in the body",
        |_| {
            let detail =
                json!([{"loc": ["body", "messages"], "msg": "Input should be a list", "type": "list_type"}]);
            let body = json!({"object": "error", "message": {"detail": detail}});
            Some(vec![Reply::new(422, body.to_string())])
        },
        |s| failed(s, FailureKind::Misconfigured, "messages: Input should be a list", 1),
    ),
    case(
        "a parameter named in words only",
        |f| {
            let said = "Unsupported parameter: 'max_tokens' is not supported with this model.";
            (f == Chat).then(|| [refused(f, 400, said).unwrap(), vec![f.ok()]].concat())
        },
        |s| {
            answered(s, 2)?;
            must(s.asked[1].contains("max_completion_tokens") && !s.asked[1].contains("\"max_tokens\""), s)
        },
    ),
    case(
        "a wait of an hour in the body",
        |f| {
            let mut body = f.error(429, "Later.");
            let info = json!({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "3600s"});
            body["error"]["details"] = json!([info]);
            Some(vec![Reply::new(429, body.to_string())])
        },
        |s| no_quota(s, "Later.", true),
    ),
    case(
        "a moment in a header",
        |f| {
            let body = f.error(429, "Later.").to_string();
            Some(vec![Reply::new(429, body).header("x-ratelimit-reset", "3600")])
        },
        |s| no_quota(s, "Later.", true),
    ),
    case(
        "no usage at all",
        |f| with_usage(f, &Value::Null),
        |s| used(s, |u| u.estimated && u.input > 64 && u.output == 6),
    ),
    case(
        "figures as strings and with parts",
        |f| {
            let usage = f
                .usage()
                .to_string()
                .replace(":7", ":\"7\"")
                .replace(":100", ":99.5")
                .replace(":90", ":89.5");
            with_usage(f, &serde_json::from_str(&usage).unwrap())
        },
        |s| answered(s, 1),
    ),
    case(
        "figures below nothing",
        |f| {
            let usage =
                f.usage().to_string().replace(":7", ":-7").replace(":100", ":-1").replace(":90", ":-1");
            let usage = usage.replace(":10", ":-1");
            with_usage(f, &serde_json::from_str(&usage).unwrap())
        },
        |s| used(s, |u| u.estimated && u.input > 64 && u.output == 6),
    ),
    case(
        "figures that count up, and nothing at the end",
        |f| {
            let zero = f.usage().to_string().replace(":7", ":0").replace(":100", ":0").replace(":90", ":0");
            let zero: Value = serde_json::from_str(&zero.replace(":10", ":0")).unwrap();
            let first = match f {
                Chat => event(&json!({"choices": [], "usage": f.usage()})),
                Messages => event(&json!({"type": "message_start", "message": {"usage": f.usage()}})),
                Gemini => event(&json!({"usageMetadata": f.usage()})),
                Responses => return None,
            };
            let finish = f.finish(f.end(), &zero);
            Some(vec![streamed(format!("{first}{}{finish}{}", f.text(TEXT), f.done()))])
        },
        |s| answered(s, 1),
    ),
    case(
        "a total beyond its parts",
        |f| {
            let mut usage = f.usage();
            match f {
                Chat | Responses => usage["total_tokens"] = json!(137),
                Gemini => usage["totalTokenCount"] = json!(137),
                Messages => return None,
            }
            with_usage(f, &usage)
        },
        |s| used(s, |u| !u.estimated && u.output == 37 && u.input == USED.0),
    ),
    case(
        "reasoning beside the output",
        |f| {
            let mut usage = f.usage();
            match f {
                Chat => usage["completion_tokens_details"] = json!({"reasoning_tokens": 30}),
                Responses => usage["output_tokens_details"] = json!({"reasoning_tokens": 30}),
                Gemini => usage["thoughtsTokenCount"] = json!(30),
                Messages => return None,
            }
            with_usage(f, &usage)
        },
        |s| used(s, |u| u.output == 37),
    ),
    case(
        "a cost that the provider states",
        |f| {
            let mut usage = f.usage();
            usage["cost"] = json!(0.25);
            matches!(f, Chat | Responses).then(|| with_usage(f, &usage)).flatten()
        },
        |s| used(s, |u| u.cost == Some(Money::from_usd(0.25))),
    ),
    Case {
        is_priced: true,
        ..case(
            "a cost of nothing where the user says what it costs",
            |f| {
                let mut usage = f.usage();
                usage["cost"] = json!(0);
                (f == Chat).then(|| with_usage(f, &usage)).flatten()
            },
            |s| used(s, |u| u.cost.is_none() && u.output == USED.1),
        )
    },
    Case {
        has_schema: true,
        ..case(
            "nobody found who takes a schema",
            |f| {
                Some(
                    [refused(f, 404, "No endpoints found that can handle it.").unwrap(), vec![f.ok()]]
                        .concat(),
                )
            },
            |s| {
                answered(s, 2)?;
                must(s.asked[0].len() > s.asked[1].len(), s)
            },
        )
    },
    Case {
        has_tools: true,
        ..case(
            "tools that a model does not take",
            |f| refused(f, 400, "registry.example/m does not support tools"),
            |s| failed(s, FailureKind::Misconfigured, "a model that takes none cannot be the worker", 1),
        )
    },
    Case {
        has_tools: true,
        ..case(
            "a tool's name in two pieces",
            |f| {
                let call = |part: Value| event(&json!({"choices": [{"delta": {"tool_calls": [part]}}]}));
                let first = call(json!({"index": 0, "id": "a", "function": {"name": "run_"}}));
                let second = call(json!({"index": 0, "function": {"name": "command"}}));
                let third = call(json!({"index": 0, "function": {"arguments": "{}"}}));
                let finish = f.finish("tool_calls", &f.usage());
                (f == Chat).then(|| vec![streamed(format!("{first}{second}{third}{finish}{}", f.done()))])
            },
            |s| {
                must(
                    s.result.as_ref().is_ok_and(|r| r.calls.first().is_some_and(|c| c.name == "run_command")),
                    s,
                )
            },
        )
    },
    Case {
        hurries: true,
        ..case(
            "no beginning",
            |f| Some(vec![f.ok().ends(Ends::Mute)]),
            |s| failed(s, FailureKind::Timeout, "raise `first_byte_timeout`", 1),
        )
    },
    Case {
        hurries: true,
        ..case(
            "silence in the middle",
            |f| Some(vec![streamed(f.text(TEXT)).ends(Ends::Silent)]),
            |s| {
                failed(s, FailureKind::Timeout, "raise `idle_timeout`", 1)?;
                let Err(CallError::Failed(failure)) = &s.result else { return must(false, s) };
                must(failure.usage.estimated && failure.usage.output == 6, s)
            },
        )
    },
    Case {
        is_cancelled: true,
        ..case(
            "stopped in the middle",
            |f| Some(vec![streamed(f.text(TEXT)).ends(Ends::Silent)]),
            |s| {
                let told = s.observations.iter().any(|o| {
                    matches!(o, Observation::Usage { usage } if usage.estimated && usage.output == 6 && usage.input > 64)
                });
                must(s.result == Err(CallError::Cancelled { sent: true }) && told, s)
            },
        )
    },
];
