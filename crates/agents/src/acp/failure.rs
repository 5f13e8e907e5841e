//! What an agent's errors mean, by their code and by the kinds that agents write beside it; never by their text.

use agent_client_protocol::{Error, ErrorCode, is_connection_terminated, is_incoming_transport_closed};
use gadfly_engine::{CallFailure, FailureKind, Usage};
use serde_json::Value;

use super::turn::line;
use crate::agent::CallError;

/// The first thing an agent is asked.
pub(super) const HELLO: &str = "initialize";

/// What follows from an error.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FailureMeaning {
    /// The account has nothing left.
    NoQuota,
    Failed(FailureKind),
}

/// An error in answer to a request of ours.
#[derive(Debug)]
pub(super) struct RequestRefused {
    pub asked: &'static str,
    pub error: Error,
    /// Ways to log in that the agent offers.
    pub logins: Vec<String>,
}

impl RequestRefused {
    /// Nobody answered: the agent is gone.
    pub fn ends_the_connection(&self) -> bool {
        is_incoming_transport_closed(&self.error) || is_connection_terminated(&self.error)
    }

    pub fn meaning(&self) -> FailureMeaning {
        if let Some(meaning) = self.error.data.as_ref().and_then(told) {
            return meaning;
        }
        FailureMeaning::Failed(match self.error.code {
            ErrorCode::AUTH_REQUIRED => FailureKind::Unauthorised,
            ErrorCode::INTERNAL_ERROR => FailureKind::Unavailable,
            // It does not know how to say hello, or speaks another version.
            ErrorCode::INVALID_REQUEST | ErrorCode::METHOD_NOT_FOUND | ErrorCode::INVALID_PARAMS
                if self.asked == HELLO =>
            {
                FailureKind::Misconfigured
            }
            // Some agents hand on the status of their provider.
            code => match code.value() {
                401 | 403 => FailureKind::Unauthorised,
                402 => return FailureMeaning::NoQuota,
                408 | 504 => FailureKind::Timeout,
                413 => FailureKind::TooLong,
                429 => FailureKind::RateLimited,
                500..=599 => FailureKind::Unavailable,
                _ => FailureKind::BadReply,
            },
        })
    }

    pub fn unanswered(&self, program: &str, usage: Usage) -> CallError {
        let message = self.message(program);
        match self.meaning() {
            FailureMeaning::NoQuota => CallError::Quota { until_ms: None, message, usage },
            FailureMeaning::Failed(kind) => CallError::Failed(CallFailure { kind, message, usage }),
        }
    }

    fn message(&self, program: &str) -> String {
        let code = self.error.code.value();
        let mut out = format!("`{program}` answered {} with error {code}: ", self.asked);
        out.push_str(&line(&self.error.message));
        if let Some(more) = self.error.data.as_ref().and_then(details) {
            out.push_str("; ");
            out.push_str(&line(more));
        }
        if self.meaning() == FailureMeaning::Failed(FailureKind::Unauthorised) {
            out.push_str("; log in with the agent's own command");
            if !self.logins.is_empty() {
                out.push_str(" (it offers: ");
                out.push_str(&self.logins.join(", "));
                out.push_str("; name the id of one in `login` to ask for it");
                out.push(')');
            }
            out.push_str(", or name the variable of its key in `env`");
        }
        out
    }
}

/// The kinds of Claude (`errorKind`) and Codex (`codexErrorInfo`).
fn told(data: &Value) -> Option<FailureMeaning> {
    let told = data.get("errorKind").or_else(|| data.get("codexErrorInfo"))?;
    // A kind with details is an object with one key.
    let told = told.as_str().or_else(|| told.as_object()?.keys().next().map(String::as_str))?;
    Some(FailureMeaning::Failed(match told {
        "billing_error" | "usageLimitExceeded" => return Some(FailureMeaning::NoQuota),
        "authentication_failed" | "unauthorized" => FailureKind::Unauthorised,
        "rate_limit" => FailureKind::RateLimited,
        "contextWindowExceeded" => FailureKind::TooLong,
        "server_error"
        | "serverOverloaded"
        | "httpConnectionFailed"
        | "responseStreamConnectionFailed"
        | "responseStreamDisconnected"
        | "responseTooManyFailedAttempts"
        | "internalServerError" => FailureKind::Unavailable,
        "invalid_request" | "badRequest" => FailureKind::BadReply,
        _ => return None,
    }))
}

fn details(data: &Value) -> Option<&str> {
    data.as_str()
        .or_else(|| data.get("details").and_then(Value::as_str))
        .or_else(|| data.get("message").and_then(Value::as_str))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refused(code: i32, data: Option<Value>) -> RequestRefused {
        RequestRefused {
            asked: "session/prompt",
            error: Error::new(code, "rate limit 429 unauthorized").data(data),
            logins: vec!["API key".into()],
        }
    }

    #[test]
    fn errors_are_divided_by_code_and_never_by_text() {
        use FailureKind::{BadReply, RateLimited, Timeout, TooLong, Unauthorised, Unavailable};
        for (code, kind) in [
            (-32000, Unauthorised),
            (-32002, BadReply),
            (-32600, BadReply),
            (-32601, BadReply),
            (-32602, BadReply),
            (-32603, Unavailable),
            (-32700, BadReply),
            (-32800, BadReply),
            (401, Unauthorised),
            (403, Unauthorised),
            (408, Timeout),
            (413, TooLong),
            (429, RateLimited),
            (500, Unavailable),
            (503, Unavailable),
            (504, Timeout),
            (7, BadReply),
        ] {
            assert_eq!(refused(code, None).meaning(), FailureMeaning::Failed(kind), "{code}");
        }
    }

    #[test]
    fn who_cannot_say_hello_is_misconfigured() {
        for (code, kind) in [
            (-32600, FailureKind::Misconfigured),
            (-32601, FailureKind::Misconfigured),
            (-32602, FailureKind::Misconfigured),
            (-32000, FailureKind::Unauthorised),
            (-32603, FailureKind::Unavailable),
        ] {
            assert_eq!(
                RequestRefused { asked: HELLO, ..refused(code, None) }.meaning(),
                FailureMeaning::Failed(kind),
                "{code}"
            );
        }
    }

    #[test]
    fn a_kind_beside_the_code_says_more_than_the_code() {
        for (data, kind) in [
            (json!({ "errorKind": "rate_limit" }), FailureKind::RateLimited),
            (json!({ "errorKind": "authentication_failed" }), FailureKind::Unauthorised),
            (json!({ "errorKind": "invalid_request" }), FailureKind::BadReply),
            (json!({ "errorKind": "server_error" }), FailureKind::Unavailable),
            (json!({ "codexErrorInfo": "unauthorized" }), FailureKind::Unauthorised),
            (json!({ "codexErrorInfo": "contextWindowExceeded" }), FailureKind::TooLong),
            (
                json!({ "codexErrorInfo": { "httpConnectionFailed": { "httpStatusCode": 502 } } }),
                FailureKind::Unavailable,
            ),
            (json!({ "errorKind": "something new" }), FailureKind::Unavailable),
            (json!("text"), FailureKind::Unavailable),
        ] {
            assert_eq!(refused(-32603, Some(data.clone())).meaning(), FailureMeaning::Failed(kind), "{data}");
        }
        for data in
            [json!({ "errorKind": "billing_error" }), json!({ "codexErrorInfo": "usageLimitExceeded" })]
        {
            assert_eq!(refused(-32603, Some(data.clone())).meaning(), FailureMeaning::NoQuota, "{data}");
        }
        assert_eq!(refused(402, None).meaning(), FailureMeaning::NoQuota);
    }

    #[test]
    fn whoever_must_log_in_is_told_how() {
        let said = refused(-32000, Some(json!({ "details": "no token" }))).message("agent");
        assert!(said.contains("session/prompt with error -32000"), "{said}");
        assert!(said.contains("no token"), "{said}");
        assert!(said.contains("log in with the agent's own command (it offers: API key"), "{said}");
    }
}
