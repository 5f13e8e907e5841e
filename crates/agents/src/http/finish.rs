//! Why a model stopped, in the words of all the servers there are. One table for all forms; words it does not know are
//! sorted by what they are made of, and a reply whose reason nobody knows is kept.

use gadfly_engine::StopReason;

use StopReason::{EndTurn, Length, Refusal, ToolUse};

const KNOWN: &[(&str, StopReason)] = &[
    ("stop", EndTurn),
    ("end_turn", EndTurn),
    ("stop_sequence", EndTurn),
    ("eos", EndTurn),
    ("eos_token", EndTurn),
    ("completed", EndTurn),
    ("complete", EndTurn),
    // A server's own tool took long; we ask for none, so that what there is is all.
    ("pause_turn", EndTurn),
    ("tool_calls", ToolUse),
    ("tool_use", ToolUse),
    ("function_call", ToolUse),
    ("length", Length),
    ("max_tokens", Length),
    ("max_output_tokens", Length),
    ("model_length", Length),
    ("model_context_window_exceeded", Length),
    ("content_filter", Refusal),
    ("refusal", Refusal),
    ("sensitive", Refusal),
    // Gemini.
    ("safety", Refusal),
    ("recitation", Refusal),
    ("blocklist", Refusal),
    ("prohibited_content", Refusal),
    ("spii", Refusal),
    ("language", Refusal),
    ("image_safety", Refusal),
];

/// What an unknown word is made of, and what follows.
const PARTS: &[(&str, StopReason)] = &[
    ("length", Length),
    ("max", Length),
    ("limit", Length),
    ("filter", Refusal),
    ("refus", Refusal),
    ("block", Refusal),
    ("safety", Refusal),
    ("prohibit", Refusal),
];

/// Words for a reply that did not come to its end although the server says that it is over.
const FAILED: &[&str] =
    &["error", "fail", "abort", "cancel", "malformed", "unexpected", "insufficient", "timeout"];

/// None: the server says nothing (an empty word), so that the next one counts.
pub(crate) fn reason(said: &str) -> Option<StopReason> {
    let word = said.trim().to_ascii_lowercase();
    if word.is_empty() || word == "finish_reason_unspecified" || word == "null" {
        return None;
    }
    if let Some((_, stop)) = KNOWN.iter().find(|(known, _)| *known == word) {
        return Some(stop.clone());
    }
    if FAILED.iter().any(|part| word.contains(part)) {
        return Some(StopReason::Other(said.to_owned()));
    }
    let sorted = PARTS.iter().find(|(part, _)| word.contains(part)).map(|(_, stop)| stop.clone());
    Some(sorted.unwrap_or(EndTurn))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_all_servers_are_known_in_any_case() {
        for (said, stop) in [
            ("stop", EndTurn),
            ("STOP", EndTurn),
            ("eos", EndTurn),
            ("MAX_TOKENS", Length),
            ("SAFETY", Refusal),
            ("tool_calls", ToolUse),
            ("", EndTurn),
        ] {
            assert_eq!(reason(said).unwrap_or(EndTurn), stop, "{said}");
        }
        assert_eq!(reason(""), None);
    }

    #[test]
    fn an_unknown_word_keeps_the_reply_unless_it_speaks_of_an_end_before_the_end() {
        assert_eq!(reason("finished_nicely"), Some(EndTurn));
        assert_eq!(reason("token_limit_reached"), Some(Length));
        assert_eq!(reason("blocked_by_guard"), Some(Refusal));
        for failed in ["MALFORMED_FUNCTION_CALL", "error", "insufficient_system_resource", "network_error"] {
            assert_eq!(reason(failed), Some(StopReason::Other(failed.to_owned())), "{failed}");
        }
    }
}
