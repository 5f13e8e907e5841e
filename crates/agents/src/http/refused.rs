//! What a provider's error means for us: by status, and by the fields of its body wherever vendors put them. A status inside
//! of a body that came with 200 is as good as one in the head. Words decide only where a vendor has no field for it
//! (`PHRASES`), and then only what a failure is called.

use std::time::Duration;

use gadfly_engine::FailureKind;
use serde_json::Value;

use super::retry;

/// The structured part of an error body, of any of the formats in use, as long as it came: it is shortened
/// only when it is known to be free of keys.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct ErrorBody {
    pub kind: String,
    pub code: String,
    /// The word for its status (`RESOURCE_EXHAUSTED`), or a reason beside it (`API_KEY_INVALID`).
    pub reasons: Vec<String>,
    pub param: String,
    pub message: String,
    /// The status that the body states.
    pub status: Option<u16>,
    /// How long the body asks to wait.
    pub wait: Option<Duration>,
}

/// What a caller can do about an error.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ErrorMeaning {
    /// Trying again may help.
    Passing(FailureKind),
    /// Trying again cannot help.
    Lasting(FailureKind),
    /// There is no such model, or nothing at this address.
    NotFound,
    /// Nothing is left to spend, until someone acts.
    NoQuota,
}

use FailureKind::{Misconfigured, RateLimited, Refused, TooLong, Unauthorised, Unavailable};

/// What a code, a type or a reason means, whatever the status.
const WORDS: &[(&str, ErrorMeaning)] = &[
    ("context_length_exceeded", ErrorMeaning::Lasting(TooLong)),
    ("exceed_context_size_error", ErrorMeaning::Lasting(TooLong)),
    ("request_too_large", ErrorMeaning::Lasting(TooLong)),
    ("string_above_max_length", ErrorMeaning::Lasting(TooLong)),
    ("content_filter", ErrorMeaning::Lasting(Refused)),
    ("content_policy_violation", ErrorMeaning::Lasting(Refused)),
    ("insufficient_quota", ErrorMeaning::NoQuota),
    ("billing_error", ErrorMeaning::NoQuota),
    ("billing_hard_limit_reached", ErrorMeaning::NoQuota),
    ("insufficient_balance", ErrorMeaning::NoQuota),
    ("api_key_invalid", ErrorMeaning::Lasting(Unauthorised)),
    ("invalid_api_key", ErrorMeaning::Lasting(Unauthorised)),
    ("model_not_found", ErrorMeaning::NotFound),
    ("deploymentnotfound", ErrorMeaning::NotFound),
];

/// Types and status words that stand for a status where none is stated.
const STATUSES: &[(&str, u16)] = &[
    ("rate_limit_error", 429),
    ("rate_limit_exceeded", 429),
    ("resource_exhausted", 429),
    ("authentication_error", 401),
    ("unauthenticated", 401),
    ("permission_error", 403),
    ("permission_denied", 403),
    ("invalid_request_error", 400),
    ("invalid_argument", 400),
    ("failed_precondition", 400),
    ("not_found_error", 404),
    ("not_found", 404),
    ("overloaded_error", 529),
    ("unavailable", 503),
    ("deadline_exceeded", 504),
    ("internal", 500),
    ("server_error", 500),
    ("api_error", 500),
];

/// Beginnings of messages for what their vendors have no field for; looked up only for requests that were found wrong.
const PHRASES: &[(&str, ErrorMeaning)] = &[
    // vLLM, SGLang and others that took it over.
    ("This model's maximum context length is ", ErrorMeaning::Lasting(TooLong)),
    // Anthropic.
    ("prompt is too long", ErrorMeaning::Lasting(TooLong)),
    ("input length and `max_tokens` exceed context limit", ErrorMeaning::Lasting(TooLong)),
    ("Your credit balance is too low", ErrorMeaning::NoQuota),
    // Gemini.
    ("The input token count ", ErrorMeaning::Lasting(TooLong)),
];

/// How servers begin that name a parameter in words only; its name follows.
const NAMING: &[&str] = &[
    "Unsupported parameter: '",
    "Unsupported value: '",
    "Unknown parameter: '",
    "Unrecognized request argument supplied: ",
];

/// How deep a message is looked for.
const DEEPEST: usize = 4;

impl ErrorBody {
    /// Reads `{"error": {…}}` and `{"type", "message", …}` alike; anything else says nothing.
    pub fn read(body: &[u8]) -> Self {
        let Ok(mut value) = serde_json::from_slice::<Value>(body) else { return Self::default() };
        if let Some(first) = value.get_mut(0) {
            value = first.take();
        }
        // A failed response of the Responses API has its error inside.
        let outer = value.get("response").filter(|inner| inner.get("error").is_some()).unwrap_or(&value);
        let error = match outer.get("error") {
            Some(Value::String(text)) => {
                let mut said = Self { message: text.clone(), ..Self::default() };
                said.status = number(outer.get("status")).or_else(|| number(outer.get("code")));
                return said;
            }
            Some(error) if error.is_object() => error,
            _ => outer,
        };
        let text = |name: &str| match error.get(name) {
            Some(Value::String(s)) => s.clone(),
            Some(Value::Number(n)) => n.to_string(),
            _ => String::new(),
        };
        let details = error.get("details").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let reason = |detail: &Value| detail.get("reason").and_then(Value::as_str).map(str::to_owned);
        let status = error.get("status").and_then(Value::as_str).map(str::to_owned);
        let detailed = error.get("message").filter(|m| !m.is_null()).or_else(|| error.get("detail"));
        let mut said = Self {
            kind: text("type"),
            code: text("code"),
            reasons: status.into_iter().chain(details.iter().take(16).filter_map(reason)).collect(),
            param: text("param"),
            message: detailed.map(|words| in_words(words, DEEPEST)).unwrap_or_default(),
            status: number(error.get("code")).or_else(|| number(error.get("status"))),
            wait: details.iter().take(16).find_map(retry::asked_by).or_else(|| retry::beside(error)),
        };
        if said.param.is_empty() {
            said.param = detailed.and_then(|words| place(words, DEEPEST)).unwrap_or_default();
        }
        if said.param.is_empty()
            && let Some(rest) = NAMING.iter().find_map(|naming| said.message.strip_prefix(naming))
        {
            let is_name = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
            said.param = rest.chars().take_while(is_name).take(64).collect();
        }
        said
    }

    /// `status` is that of the head; 200 where an error came inside of a reply that had begun well.
    pub fn meaning(&self, status: u16) -> ErrorMeaning {
        let words =
            || [&self.code, &self.kind].into_iter().chain(&self.reasons).map(|w| w.to_ascii_lowercase());
        if let Some(meaning) = words().find_map(|word| find(WORDS, &word)) {
            return meaning;
        }
        let stated = || words().find_map(|word| find(STATUSES, &word));
        let status = if status >= 300 { status } else { self.status.or_else(stated).unwrap_or(500) };
        match status {
            401 | 403 => ErrorMeaning::Lasting(Unauthorised),
            402 => ErrorMeaning::NoQuota,
            404 => ErrorMeaning::NotFound,
            413 => ErrorMeaning::Lasting(TooLong),
            429 => ErrorMeaning::Passing(RateLimited),
            408 | 409 | 425 | 500..=599 => ErrorMeaning::Passing(Unavailable),
            400 | 422 => {
                let phrase = |(begin, _): &&(&str, ErrorMeaning)| self.message.starts_with(begin);
                PHRASES
                    .iter()
                    .find(phrase)
                    .map_or(ErrorMeaning::Lasting(Misconfigured), |(_, meaning)| *meaning)
            }
            _ => ErrorMeaning::Lasting(Misconfigured),
        }
    }
}

fn find<T: Copy>(table: &[(&str, T)], word: &str) -> Option<T> {
    table.iter().find(|(known, _)| *known == word).map(|(_, meaning)| *meaning)
}

/// A status, as a number or in digits.
fn number(value: Option<&Value>) -> Option<u16> {
    let status = match value? {
        Value::Number(n) => n.as_u64()?,
        Value::String(digits) => digits.parse().ok()?,
        _ => return None,
    };
    u16::try_from(status).ok().filter(|status| (400..600).contains(status))
}

/// What is said somewhere inside: servers nest their reasons.
fn in_words(value: &Value, deep: usize) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(all) if deep > 0 => {
            let said: Vec<String> =
                all.iter().take(4).map(|one| in_words(one, deep - 1)).filter(|w| !w.is_empty()).collect();
            said.join("; ")
        }
        Value::Object(fields) if deep > 0 => {
            let said =
                ["message", "msg", "detail", "error", "reason"].iter().find_map(|name| fields.get(*name));
            let said = said.map(|value| in_words(value, deep - 1)).unwrap_or_default();
            let place = fields.get("loc").and_then(Value::as_array).and_then(|loc| loc.last());
            match place.and_then(Value::as_str) {
                Some(place) => format!("{place}: {said}"),
                None => said,
            }
        }
        _ => String::new(),
    }
}

/// The parameter that a validator names by its place, `["body", "max_tokens"]`.
fn place(value: &Value, deep: usize) -> Option<String> {
    match value {
        Value::Array(all) if deep > 0 => all.iter().take(4).find_map(|one| place(one, deep - 1)),
        Value::Object(fields) if deep > 0 => {
            let last = fields.get("loc").and_then(Value::as_array).and_then(|loc| loc.last());
            let named = last.and_then(Value::as_str).map(str::to_owned);
            named.or_else(|| fields.get("detail").and_then(|detail| place(detail, deep - 1)))
        }
        _ => None,
    }
}

impl ErrorMeaning {
    /// What a person can do about it, to be appended to what happened.
    pub const fn advice(self) -> &'static str {
        match self {
            Self::Lasting(FailureKind::Unauthorised) => "; check the key that `key_env` names",
            Self::Lasting(FailureKind::Misconfigured) => "; check `model` and `base_url`",
            Self::NotFound => "; it knows no such model, or `base_url` is not its address",
            Self::Lasting(FailureKind::TooLong) => "; shorten the task, the draft or what goes with it",
            Self::NoQuota => "; the account has nothing left to spend: look at its billing page",
            Self::Lasting(_) | Self::Passing(_) => "",
        }
    }
}

/// Enough for a person, whatever was sent.
pub(crate) fn short(text: &str) -> String {
    let mut out: String = text.chars().take(500).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if out.len() < text.len() && text.chars().nth(500).is_some() {
        out.push('…');
    }
    out
}

#[cfg(test)]
mod tests;
