//! Errors as vendors write them.

#![allow(clippy::unwrap_used)] // tests may fail loudly

use super::*;

fn openai(status: u16, kind: &str, code: &str) -> ErrorMeaning {
    let body = format!(r#"{{"error":{{"type":"{kind}","code":"{code}","message":"m","param":null}}}}"#);
    ErrorBody::read(body.as_bytes()).meaning(status)
}

#[test]
fn errors_are_told_apart_by_status_and_type() {
    assert_eq!(
        openai(400, "invalid_request_error", "context_length_exceeded"),
        ErrorMeaning::Lasting(TooLong)
    );
    assert_eq!(openai(429, "insufficient_quota", "insufficient_quota"), ErrorMeaning::NoQuota);
    assert_eq!(openai(429, "tokens", "rate_limit_exceeded"), ErrorMeaning::Passing(RateLimited));
    assert_eq!(openai(400, "x", "content_filter"), ErrorMeaning::Lasting(Refused));
    assert_eq!(openai(401, "invalid_request_error", "invalid_api_key"), ErrorMeaning::Lasting(Unauthorised));
    assert_eq!(openai(404, "invalid_request_error", "model_not_found"), ErrorMeaning::NotFound);
    assert_eq!(openai(529, "overloaded_error", ""), ErrorMeaning::Passing(Unavailable));
    assert_eq!(openai(200, "overloaded_error", ""), ErrorMeaning::Passing(Unavailable));
}

#[test]
fn a_status_inside_a_body_is_as_good_as_one_in_the_head() {
    let inside = |code: &str| {
        let body = format!(r#"{{"error":{{"code":{code},"message":"m"}}}}"#);
        ErrorBody::read(body.as_bytes()).meaning(200)
    };
    assert_eq!(inside("402"), ErrorMeaning::NoQuota);
    assert_eq!(inside("401"), ErrorMeaning::Lasting(Unauthorised));
    assert_eq!(inside("\"429\""), ErrorMeaning::Passing(RateLimited));
    assert_eq!(inside("502"), ErrorMeaning::Passing(Unavailable));
    assert_eq!(inside("7"), ErrorMeaning::Passing(Unavailable), "no status: it may pass");
    let gemini = br#"{"error":{"code":400,"message":"m","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}"#;
    assert_eq!(ErrorBody::read(gemini).meaning(400), ErrorMeaning::Lasting(Unauthorised));
    let failed =
        br#"{"type":"response.failed","response":{"error":{"code":"rate_limit_exceeded","message":"m"}}}"#;
    assert_eq!(ErrorBody::read(failed).meaning(200), ErrorMeaning::Passing(RateLimited));
}

#[test]
fn words_in_a_message_decide_nothing_but_the_beginnings_that_are_known() {
    let meaning = |message: &str, status| {
        let body = serde_json::json!({"error": {"type": "invalid_request_error", "message": message}});
        ErrorBody::read(body.to_string().as_bytes()).meaning(status)
    };
    assert_eq!(meaning("context_length_exceeded, rate limit", 400), ErrorMeaning::Lasting(Misconfigured));
    assert_eq!(meaning("It says: prompt is too long", 400), ErrorMeaning::Lasting(Misconfigured));
    assert_eq!(
        meaning("prompt is too long: 210000 tokens > 200000 maximum", 400),
        ErrorMeaning::Lasting(TooLong)
    );
    assert_eq!(
        meaning("This model's maximum context length is 4096 tokens. However, you", 400),
        ErrorMeaning::Lasting(TooLong)
    );
    assert_eq!(meaning("Your credit balance is too low to access", 400), ErrorMeaning::NoQuota);
    assert_eq!(
        meaning("prompt is too long", 500),
        ErrorMeaning::Passing(Unavailable),
        "a status comes first"
    );
}

#[test]
fn every_shape_of_error_body_is_read() {
    assert_eq!(ErrorBody::read(br#"{"error":"no such model"}"#).message, "no such model");
    assert_eq!(ErrorBody::read(br#"{"object":"error","message":"m","type":"t","code":3}"#).code, "3");
    assert_eq!(ErrorBody::read(br#"[{"error":{"message":"m","code":400}}]"#).message, "m");
    assert_eq!(ErrorBody::read(br#"{"detail":"Not enough room"}"#).message, "Not enough room");
    let nested = br#"{"object":"error","message":{"detail":[{"type":"extra_forbidden","loc":["body","max_tokens"],"msg":"Extra inputs are not permitted"}]}}"#;
    let said = ErrorBody::read(nested);
    assert_eq!(said.message, "max_tokens: Extra inputs are not permitted");
    assert_eq!(said.param, "max_tokens");
    assert_eq!(ErrorBody::read(b"[]"), ErrorBody::default());
    assert_eq!(ErrorBody::read(b"<html>"), ErrorBody::default());
    let deep = format!("{{\"message\":{}{}}}", "{\"message\":".repeat(60), "1".to_owned() + &"}".repeat(60));
    assert_eq!(ErrorBody::read(deep.as_bytes()).message, "");
    assert_eq!(short(&"\u{1b}[2J".repeat(400)).chars().count(), 501);
}

#[test]
fn a_parameter_that_is_named_in_words_only_is_found() {
    let param = |message: &str| {
        ErrorBody::read(
            serde_json::json!({"error": {"message": message, "param": null}}).to_string().as_bytes(),
        )
        .param
    };
    let said = "Unsupported parameter: 'max_tokens' is not supported with this model.";
    assert_eq!(param(said), "max_tokens");
    assert_eq!(param("Unrecognized request argument supplied: stream_options"), "stream_options");
    assert_eq!(param(&format!("Say: {said}")), "");
}
