//! The forms in which models are spoken to, and how each says the same things.

use serde_json::{Value, json};

use crate::wire::server::Reply;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    Chat,
    Messages,
    Responses,
    Gemini,
}

pub const TEXT: &str = "It is short.";
/// What a reply is said to have used: 90 of 100 tokens of the brief fresh, 10 from a cache, 7 of the reply.
pub const USED: (u64, u64, u64) = (90, 7, 10);

impl Form {
    pub const ALL: [Self; 4] = [Self::Chat, Self::Messages, Self::Responses, Self::Gemini];

    pub const fn kind(self) -> &'static str {
        match self {
            Self::Chat | Self::Responses => "openai",
            Self::Messages => "anthropic",
            Self::Gemini => "google",
        }
    }

    /// The word for a good end.
    pub const fn end(self) -> &'static str {
        match self {
            Self::Chat => "stop",
            Self::Messages => "end_turn",
            Self::Responses => "completed",
            Self::Gemini => "STOP",
        }
    }

    /// A piece of the reply.
    pub fn text(self, text: &str) -> String {
        let data = match self {
            Self::Chat => json!({"choices": [{"delta": {"content": text}}]}),
            Self::Messages => {
                json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}})
            }
            Self::Responses => {
                json!({"type": "response.output_text.delta", "output_index": 0, "delta": text})
            }
            Self::Gemini => json!({"candidates": [{"content": {"parts": [{"text": text}]}}]}),
        };
        event(&data)
    }

    /// The event that says why it ended; `usage` as this form writes it, or null.
    pub fn finish(self, reason: &str, usage: &Value) -> String {
        let data = match self {
            Self::Chat => json!({"choices": [{"delta": {}, "finish_reason": reason}], "usage": usage}),
            Self::Messages => {
                json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage})
            }
            Self::Responses => {
                json!({"type": "response.completed", "response": {"status": reason, "usage": usage}})
            }
            Self::Gemini => json!({"candidates": [{"finishReason": reason}], "usageMetadata": usage}),
        };
        event(&data)
    }

    /// What says that nothing follows, where a form has it apart.
    pub const fn done(self) -> &'static str {
        match self {
            Self::Chat => "data: [DONE]\n\n",
            Self::Messages => "data: {\"type\":\"message_stop\"}\n\n",
            Self::Responses | Self::Gemini => "",
        }
    }

    pub fn usage(self) -> Value {
        let (input, output, cached) = USED;
        match self {
            Self::Chat => json!({"prompt_tokens": input + cached, "completion_tokens": output,
                "prompt_tokens_details": {"cached_tokens": cached}}),
            Self::Messages => {
                json!({"input_tokens": input, "output_tokens": output, "cache_read_input_tokens": cached})
            }
            Self::Responses => json!({"input_tokens": input + cached, "output_tokens": output,
                "input_tokens_details": {"cached_tokens": cached}}),
            Self::Gemini => json!({"promptTokenCount": input + cached, "candidatesTokenCount": output,
                "cachedContentTokenCount": cached}),
        }
    }

    pub fn stream(self) -> String {
        format!(
            "{}{}{}{}",
            self.text("It is "),
            self.text("short."),
            self.finish(self.end(), &self.usage()),
            self.done()
        )
    }

    pub fn whole(self) -> String {
        let (end, usage) = (self.end(), self.usage());
        let whole = match self {
            Self::Chat => {
                json!({"choices": [{"message": {"content": TEXT}, "finish_reason": end}], "usage": usage})
            }
            Self::Messages => {
                json!({"content": [{"type": "text", "text": TEXT}], "stop_reason": end, "usage": usage})
            }
            Self::Responses => json!({"status": end, "usage": usage, "output": [
                {"type": "message", "content": [{"type": "output_text", "text": TEXT}]}]}),
            Self::Gemini => {
                json!({"candidates": [{"content": {"parts": [{"text": TEXT}]}, "finishReason": end}],
                "usageMetadata": usage})
            }
        };
        whole.to_string()
    }

    /// An error in the body, with its status and the form's own word for it.
    pub fn error(self, status: u16, message: &str) -> Value {
        let word = |words: [(u16, &'static str); 6]| {
            words.iter().find(|(known, _)| *known == status).map_or("unknown", |(_, word)| word)
        };
        match self {
            Self::Chat | Self::Responses => {
                json!({"error": {"code": status, "message": message, "param": null}})
            }
            Self::Messages => {
                let kind = word([
                    (400, "invalid_request_error"),
                    (401, "authentication_error"),
                    (402, "billing_error"),
                    (404, "not_found_error"),
                    (429, "rate_limit_error"),
                    (529, "overloaded_error"),
                ]);
                json!({"type": "error", "error": {"type": kind, "message": message}})
            }
            Self::Gemini => {
                let said = word([
                    (400, "INVALID_ARGUMENT"),
                    (401, "UNAUTHENTICATED"),
                    (402, "FAILED_PRECONDITION"),
                    (404, "NOT_FOUND"),
                    (429, "RESOURCE_EXHAUSTED"),
                    (529, "UNAVAILABLE"),
                ]);
                json!({"error": {"code": status, "message": message, "status": said}})
            }
        }
    }

    pub fn ok(self) -> Reply {
        streamed(self.stream())
    }
}

pub fn event(data: &Value) -> String {
    format!("data: {data}\n\n")
}

pub fn streamed(body: impl Into<Vec<u8>>) -> Reply {
    Reply::new(200, body).header("content-type", "text/event-stream")
}
