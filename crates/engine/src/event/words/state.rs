//! The words for how a run stands: one name for each state, and none better than the state it stands for.

use super::{Description, Tone};
use crate::outcome::Halt;

/// Why a run halted.
pub const fn halt(reason: Halt) -> &'static str {
    match reason {
        Halt::Cap => "the cap was reached",
        Halt::Plateau => "two rounds in a row fixed nothing",
        Halt::Churn => "every round brings only new findings",
        Halt::Oscillation => "it goes back and forth",
        Halt::Guard => "a guard stopped it",
        Halt::Stuck => "it cannot continue by itself",
        Halt::Plan => "the plan is wrong",
    }
}

const HALTS: [Halt; 7] =
    [Halt::Cap, Halt::Plateau, Halt::Churn, Halt::Oscillation, Halt::Guard, Halt::Stuck, Halt::Plan];

/// A state as lists name it (`halted(cap)`, `running`), in words; the body says why it halted.
pub fn run_state(label: &str, overruled: bool, is_goal: bool) -> Description {
    let (class, why) = label.split_once('(').unwrap_or((label, ""));
    let why = why.trim_end_matches(')');
    let said = |tone: Tone, head: &str| Description::head(tone, head);
    match (class, why) {
        ("running", _) => said(Tone::Working, "running"),
        ("interrupted", _) => said(Tone::Warning, "interrupted"),
        ("approved", _) if overruled => said(Tone::Warning, "approved, rejection overruled"),
        // Who found that it is, a command or a person, is told beside it.
        ("approved", _) if is_goal => said(Tone::Good, "reached"),
        ("approved", _) => said(Tone::Good, "approved"),
        ("rejected", _) => said(Tone::Bad, "rejected"),
        ("halted", why) => {
            let because = HALTS.into_iter().find(|halt| halt.to_string() == why).map_or("", halt);
            let head = if why.is_empty() { "halted".to_owned() } else { format!("halted: {why}") };
            Description::new(Tone::Bad, head, because)
        }
        ("waiting", "question" | "approval") => said(Tone::Person, "waiting for you"),
        ("waiting", "quota") => said(Tone::Warning, "waiting for quota"),
        ("waiting", "paused") => said(Tone::Paused, "paused"),
        ("waiting", _) => said(Tone::Warning, "waiting"),
        ("unverified", "partial") => said(Tone::Warning, "unverified: partly seen"),
        ("unverified", _) => said(Tone::Warning, "unverified"),
        ("out_of_budget", _) => said(Tone::Warning, "out of budget"),
        ("aborted", _) => said(Tone::Plain, "aborted"),
        ("failed", _) => said(Tone::Bad, "failed"),
        _ => said(Tone::Doubt, label),
    }
}
