//! Reads what a judge says of the evidence, or of a picture: YES, NO or UNCLEAR on the first line. Nothing is ever
//! taken for a yes that does not say so where it should.

use crate::reading::word::{self as token, Untold};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum JudgeAnswer {
    Yes,
    No,
    Unclear,
}

const WORDS: [&str; 3] = ["YES", "NO", "UNCLEAR"];

/// The answer, with its reason. A reply that gives none is unclear, and its beginning the reason.
pub fn read(reply: &str) -> (JudgeAnswer, String) {
    match token::read(reply, &WORDS) {
        Ok(told) => {
            let said = match told.which {
                0 => JudgeAnswer::Yes,
                1 => JudgeAnswer::No,
                _ => JudgeAnswer::Unclear,
            };
            (said, if told.reason.is_empty() { "(no reason given)".to_owned() } else { told.reason })
        }
        Err(Untold::Empty) => (JudgeAnswer::Unclear, "the reply is empty".to_owned()),
        Err(Untold::NoWord | Untold::Several) => (JudgeAnswer::Unclear, token::beginning(reply)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_decides() {
        let cases = [
            ("YES\nThe test passes.", JudgeAnswer::Yes, "The test passes."),
            ("**Yes**, the file is there", JudgeAnswer::Yes, "the file is there"),
            ("Answer: no.\nIt is missing.", JudgeAnswer::No, "It is missing."),
            ("no", JudgeAnswer::No, "(no reason given)"),
            ("UNCLEAR — the picture is black", JudgeAnswer::Unclear, "the picture is black"),
            ("<think>YES</think>\nNO\nx", JudgeAnswer::No, "x"),
        ];
        for (reply, said, reason) in cases {
            assert_eq!(read(reply), (said, reason.to_owned()), "{reply}");
        }
    }

    #[test]
    fn nothing_else_is_a_yes() {
        for reply in [
            "",
            "I would say YES",
            "YES\nNO",
            "YES/NO",
            "YES or NO?",
            "Yes?",
            "Yesterday it was fine",
            "Yes and no",
            "It looks good.",
            "<think>YES",
        ] {
            let (said, reason) = read(reply);
            assert_eq!(said, JudgeAnswer::Unclear, "{reply}: {reason}");
            assert!(!reason.is_empty());
        }
    }
}
