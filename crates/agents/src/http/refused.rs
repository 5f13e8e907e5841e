//! What a provider's error means for us, by status and structured type, never by searching its text.

use gadfly_engine::FailureKind;
use serde_json::Value;

/// The structured part of an error body, of any of the formats in use, as long as it came: it is shortened
/// only when it is known to be free of keys.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct ErrorBody {
    pub kind: String,
    pub code: String,
    pub param: String,
    pub message: String,
}

/// What a caller can do about an error.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ErrorMeaning {
    /// Trying again may help.
    Passing(FailureKind),
    /// Trying again cannot help.
    Lasting(FailureKind),
    /// Nothing is left to spend, until someone acts.
    NoQuota,
}

impl ErrorBody {
    /// Reads `{"error": {…}}` and `{"type", "message", …}` alike; anything else says nothing.
    pub fn read(body: &[u8]) -> Self {
        let Ok(mut value) = serde_json::from_slice::<Value>(body) else { return Self::default() };
        if let Some(first) = value.get_mut(0) {
            value = first.take();
        }
        let error = match value.get("error") {
            Some(Value::String(text)) => return Self { message: text.clone(), ..Self::default() },
            Some(error) if error.is_object() => error,
            _ => &value,
        };
        let text = |name: &str| match error.get(name) {
            Some(Value::String(s)) => s.clone(),
            Some(Value::Number(n)) => n.to_string(),
            _ => String::new(),
        };
        Self { kind: text("type"), code: text("code"), param: text("param"), message: text("message") }
    }

    /// Status 0 stands for an error inside a stream that had begun well.
    pub fn meaning(&self, status: u16) -> ErrorMeaning {
        use FailureKind::{Misconfigured, RateLimited, Refused, TooLong, Unauthorised, Unavailable};
        for word in [self.code.as_str(), self.kind.as_str()] {
            match word {
                "context_length_exceeded" | "exceed_context_size_error" | "request_too_large" => {
                    return ErrorMeaning::Lasting(TooLong);
                }
                "content_filter" | "content_policy_violation" => return ErrorMeaning::Lasting(Refused),
                "insufficient_quota" | "billing_error" => return ErrorMeaning::NoQuota,
                _ => {}
            }
        }
        match status {
            401 | 403 => ErrorMeaning::Lasting(Unauthorised),
            402 => ErrorMeaning::NoQuota,
            413 => ErrorMeaning::Lasting(TooLong),
            429 => ErrorMeaning::Passing(RateLimited),
            408 | 500..=599 => ErrorMeaning::Passing(Unavailable),
            0 => match self.kind.as_str() {
                "rate_limit_error" | "rate_limit_exceeded" => ErrorMeaning::Passing(RateLimited),
                "authentication_error" | "permission_error" => ErrorMeaning::Lasting(Unauthorised),
                "invalid_request_error" | "not_found_error" => ErrorMeaning::Lasting(Misconfigured),
                _ => ErrorMeaning::Passing(Unavailable),
            },
            _ => ErrorMeaning::Lasting(Misconfigured),
        }
    }
}

impl ErrorMeaning {
    /// What a person can do about it, to be appended to what happened.
    pub const fn advice(self) -> &'static str {
        match self {
            Self::Lasting(FailureKind::Unauthorised) => "; check the key that `key_env` names",
            Self::Lasting(FailureKind::Misconfigured) => "; check `model` and `base_url`",
            Self::Lasting(FailureKind::TooLong) => "; shorten the task, the draft or what goes with it",
            Self::NoQuota => "; look at the account's billing page",
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
mod tests {
    use FailureKind::{Misconfigured, RateLimited, Refused, TooLong, Unauthorised, Unavailable};

    use super::*;

    #[test]
    fn errors_are_told_apart_by_status_and_type() {
        let openai = |status, kind: &str, code: &str| {
            let body =
                format!(r#"{{"error":{{"type":"{kind}","code":"{code}","message":"m","param":null}}}}"#);
            ErrorBody::read(body.as_bytes()).meaning(status)
        };
        assert_eq!(
            openai(400, "invalid_request_error", "context_length_exceeded"),
            ErrorMeaning::Lasting(TooLong)
        );
        assert_eq!(openai(429, "insufficient_quota", "insufficient_quota"), ErrorMeaning::NoQuota);
        assert_eq!(openai(429, "tokens", "rate_limit_exceeded"), ErrorMeaning::Passing(RateLimited));
        assert_eq!(openai(400, "x", "content_filter"), ErrorMeaning::Lasting(Refused));
        assert_eq!(
            openai(401, "invalid_request_error", "invalid_api_key"),
            ErrorMeaning::Lasting(Unauthorised)
        );
        assert_eq!(
            openai(404, "invalid_request_error", "model_not_found"),
            ErrorMeaning::Lasting(Misconfigured)
        );
        assert_eq!(openai(529, "overloaded_error", ""), ErrorMeaning::Passing(Unavailable));
        assert_eq!(openai(0, "overloaded_error", ""), ErrorMeaning::Passing(Unavailable));
    }

    #[test]
    fn words_in_a_message_decide_nothing() {
        let body =
            br#"{"error":{"type":"invalid_request_error","message":"context_length_exceeded, rate limit"}}"#;
        assert_eq!(ErrorBody::read(body).meaning(400), ErrorMeaning::Lasting(Misconfigured));
    }

    #[test]
    fn every_shape_of_error_body_is_read() {
        assert_eq!(ErrorBody::read(br#"{"error":"no such model"}"#).message, "no such model");
        assert_eq!(ErrorBody::read(br#"{"object":"error","message":"m","type":"t","code":3}"#).code, "3");
        assert_eq!(ErrorBody::read(br#"[{"error":{"message":"m","code":400}}]"#).message, "m");
        assert_eq!(ErrorBody::read(b"[]"), ErrorBody::default());
        assert_eq!(ErrorBody::read(b"<html>"), ErrorBody::default());
        assert_eq!(short(&"\u{1b}[2J".repeat(400)).chars().count(), 501);
    }
}
