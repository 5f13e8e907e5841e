//! Reads what the watching critic says: one token on the first line, a reason beside or below it. What cannot be
//! read is said to be so, never taken for PROGRESSING here.

use crate::goal::ProgressVerdict;
use crate::reading::word::{self as token, Untold};

const WORDS: [&str; 4] = ["PROGRESSING", "STUCK", "ACHIEVED", "MISLED"];
const VERDICTS: [ProgressVerdict; 4] = [
    ProgressVerdict::Progressing,
    ProgressVerdict::Stuck,
    ProgressVerdict::Achieved,
    ProgressVerdict::Misled,
];

/// The verdict with its reason, or a sentence that says why there is none.
pub fn read(reply: &str) -> Result<(ProgressVerdict, String), String> {
    let told = token::read(reply, &WORDS).map_err(|why| match why {
        Untold::Empty => "the critic's reply is empty".to_owned(),
        Untold::NoWord => {
            format!("the critic's reply begins with no verdict: {}", token::beginning(reply))
        }
        Untold::Several => {
            format!("the critic's reply gives more than one verdict: {}", token::beginning(reply))
        }
    })?;
    let verdict = VERDICTS.get(told.which).copied().unwrap_or(ProgressVerdict::Error);
    let reason = if told.reason.is_empty() { "(no reason given)".to_owned() } else { told.reason };
    Ok((verdict, reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_token_is_found_however_it_is_dressed() {
        use ProgressVerdict::{Achieved, Misled, Progressing, Stuck};
        let cases = [
            ("STUCK\nSame error three times.", Stuck, "Same error three times."),
            ("**STUCK**\nSame error.", Stuck, "Same error."),
            ("`MISLED`\nIt rewrites the docs.", Misled, "It rewrites the docs."),
            ("Verdict: STUCK\nx", Stuck, "x"),
            ("VERDICT - stuck.\nx", Stuck, "x"),
            ("**Verdict:** STUCK\nx", Stuck, "x"),
            ("Verdict: **STUCK** - it loops", Stuck, "it loops"),
            ("The verdict is STUCK: it loops", Stuck, "it loops"),
            ("Verdict:\nSTUCK\nx", Stuck, "x"),
            ("## Verdict\n\n**STUCK**\n\nx", Stuck, "x"),
            ("STUCK — reason on the same line", Stuck, "reason on the same line"),
            ("STUCK - reason", Stuck, "reason"),
            ("STUCK reads the same file again", Stuck, "reads the same file again"),
            ("PROGRESSING-dash-ok", Progressing, "dash-ok"),
            ("PROGRESSING, tests\npass now", Progressing, "tests pass now"),
            ("```\nACHIEVED\n```\nAll green.", Achieved, "All green."),
            ("```text\nACHIEVED\nAll green.\n```", Achieved, "All green."),
            ("progressing", Progressing, "(no reason given)"),
            ("Progressing.", Progressing, "(no reason given)"),
            ("\n\n  ACHIEVED  \n", Achieved, "(no reason given)"),
            ("MISLED\n**Reason:** it drifted", Misled, "it drifted"),
            ("MISLED\nStuck on a tangent about style.", Misled, "Stuck on a tangent about style."),
            ("STUCK\nSTUCK since step 3", Stuck, "STUCK since step 3"),
            ("> STUCK\n> x", Stuck, "> x"),
        ];
        for (reply, verdict, reason) in cases {
            assert_eq!(read(reply), Ok((verdict, reason.to_owned())), "{reply}");
        }
    }

    #[test]
    fn reasoning_is_no_answer() {
        let echoed = "<think>\nSTUCK would mean it loops.\nACHIEVED?\n</think>\nPROGRESSING\nnew test";
        assert_eq!(read(echoed), Ok((ProgressVerdict::Progressing, "new test".to_owned())));
        let swallowed = "The format is:\nI think it goes on.\n</think>\nMISLED\nx";
        assert_eq!(read(swallowed), Ok((ProgressVerdict::Misled, "x".to_owned())));
        assert!(read("<think>STUCK").is_err(), "never closed");
        assert!(read("<think>\nSTUCK\n</think>\n").is_err(), "nothing but reasoning");
    }

    #[test]
    fn what_is_no_verdict_is_not_taken_for_one() {
        for reply in [
            "",
            "   \n```\n```\n",
            "I don't think it is STUCK",
            "It is STUCK.",
            "Not STUCK",
            "NOT STUCK\nit goes on",
            "STUCK? No.",
            "Achieved nothing so far",
            "PROGRESSING\nSTUCK",
            "PROGRESSING\nreason\n**STUCK**: really",
            "PROGRESSING | STUCK | ACHIEVED | MISLED",
            "PROGRESSING/STUCK",
            "`STUCK` or `MISLED`",
            "UNSTUCK",
            "STUCKNESS",
            "OK",
            "Sure, here is my verdict:\nSTUCK",
        ] {
            let told = read(reply);
            assert!(told.is_err(), "{reply}: {told:?}");
        }
    }

    #[test]
    fn a_long_reason_is_cut_and_stays_in_one_line() {
        let (_, reason) = read(&format!("STUCK\n{}", "wörd\t\u{1b}[31m\n".repeat(5000))).unwrap();
        assert_eq!(reason.chars().count(), 300);
        assert!(reason.ends_with('…') && !reason.chars().any(char::is_control), "{reason}");
    }
}
