//! The words and colours for a goal's steps and for what is said beside them, the same while it is watched,
//! followed and looked back at. What models say is text only; every line has an end.

use gadfly_engine::Digest;
use gadfly_engine::event::EventKind;
use gadfly_engine::goal::{
    ARGS, Claimant, CriterionTrial, GoalStep, Nudge, PREVIEW, ProgressVerdict, StepEnd, WholeChangeReview,
};
use owo_colors::{OwoColorize as _, Style, XtermColors};

use super::live::{cells, fitting};
use super::safe;

/// Longer texts are cut on the screen; `show --log` has them whole.
const LONGEST: usize = 400;
const LONGEST_REFUSAL: usize = 2_000;
/// Beside a check that wanted the network.
const FETCHED: &str =
    " What it would download can be fetched beforehand: --prepare 'cargo fetch' (or `npm ci`, `uv sync`).";
/// A step that takes longer says how long.
const LONG_STEP_MS: u64 = 5_000;
/// Of the 256 colours: neither is among the sixteen that a terminal may paint as it likes.
const ORANGE: u8 = 208;
const EMERALD: u8 = 43;

/// How it is said that nobody but the worker has seen all of the change.
const NOT_LOOKED: &str = "the critic did not look at the whole change:";

/// One thing said beside the steps.
pub struct RailLine {
    head: String,
    style: Style,
    text: String,
}

impl RailLine {
    /// None for what is not said beside the steps. `text` finds a stored text.
    pub fn of(what: &EventKind, text: &dyn Fn(&Digest) -> Option<String>) -> Option<Self> {
        let plain = Style::new();
        let stored = |digest: &Digest| text(digest).unwrap_or_default();
        let entry = |head: &str, style: Style, text: &str| {
            Some(Self { head: safe::line(head, 120), style, text: safe::line(text, LONGEST) })
        };
        match what {
            EventKind::Watched { verdict, reason, from, to, .. } => {
                let steps = if from == to { format!("step {to}") } else { format!("steps {from}–{to}") };
                let head = format!("critic:{}", verdict.name());
                entry(&head, verdict_style(*verdict), &format!("{steps}  {reason}"))
            }
            EventKind::CriticOff { critic, because } => {
                entry("critic:off", plain.red().bold(), &format!("{critic} watches no more: {because}"))
            }
            EventKind::WentOn { agent, because } => {
                entry("→ goes on:", plain, &format!("{agent}, where it was ({because})"))
            }
            EventKind::Nudged { why, text } => entry("→ told:", plain, &told(*why, &stored(text))),
            EventKind::Claimed { by, rationale } => entry(claim(*by), plain.cyan(), rationale),
            EventKind::VerificationFailed { detail, in_a_row } => {
                entry(&format!("verify:fail ({in_a_row})"), plain.red(), detail)
            }
            EventKind::GoalVerified { detail } => entry("✓ verified:", plain.green().bold(), detail),
            EventKind::CriterionTried { found: CriterionTrial::Met, detail } => {
                entry("✓ met already:", plain.green().bold(), detail)
            }
            EventKind::CriterionTried { found: CriterionTrial::Flaky, detail } => {
                entry("? flaky:", plain.yellow(), detail)
            }
            EventKind::CriterionTried { found: CriterionTrial::CannotRun, detail } => {
                // What was refused stands at the end, and is what a person can do something about.
                let head = "! cannot be checked here as it is:".to_owned();
                let wants_network = !gadfly_engine::tool::offline::hint(detail).is_empty();
                let fetched = if wants_network { FETCHED } else { "" };
                let text = format!("{}{fetched}", safe::line(detail, LONGEST_REFUSAL));
                Some(Self { head, style: plain.yellow(), text })
            }
            EventKind::ChangeLookedAt { seen, reason, .. } => match seen {
                WholeChangeReview::NothingWrong => {
                    entry("critic:looked at the whole change", plain.green(), reason)
                }
                WholeChangeReview::Objection => entry("critic:objects to the change", plain.red(), reason),
                WholeChangeReview::NotAll => entry(NOT_LOOKED, plain.red().bold(), reason),
            },
            EventKind::Waived { findings, reason, by } => {
                let what = format!("{by} let it stand: {reason} ({})", findings.join("; "));
                entry("! waived:", plain.yellow(), &what)
            }
            EventKind::ProtectedChanged { paths, findings } => {
                let found = findings.iter().map(gadfly_engine::Finding::line);
                let all: Vec<String> = found.chain(paths.iter().cloned()).collect();
                let named = format!("what the goal is judged by was changed: {}", all.join("; "));
                entry("! protected:", plain.red(), &named)
            }
            EventKind::ToolDisabled { tool, because } => {
                entry("! tool off:", plain.yellow(), &format!("{tool}: {because}"))
            }
            EventKind::OutcomeUnknown { n, tool, handling } => {
                let what = format!("[{n}] {tool}: the process died in the middle of it; {handling}");
                entry("? unknown:", plain.yellow(), &what)
            }
            EventKind::Steered { by, text } => {
                let who = if by == "terminal" { "you" } else { by };
                entry(&format!("{who}:"), plain.bold(), &format!("{} (steered)", stored(text)))
            }
            EventKind::GoalPaused { because } => entry("‖ paused:", plain.yellow().bold(), because),
            EventKind::GaveUp { reason, learned } if learned.trim().is_empty() => {
                entry("✗ gave up:", plain.red(), reason)
            }
            EventKind::GaveUp { reason, learned } => {
                entry("✗ gave up:", plain.red(), &format!("{reason} · learned: {learned}"))
            }
            EventKind::LastWords { because, text } => {
                let said = text.as_ref().map(stored).filter(|said| !said.trim().is_empty());
                let said = said.map_or_else(|| "nothing".to_owned(), |said| format!("“{said}”"));
                entry("last words:", plain, &format!("{said} (stopped: {because})"))
            }
            EventKind::Resumed => entry("resumed", plain.bold(), ""),
            EventKind::PauseRequested => entry("pausing", plain.yellow(), "after the calls under way"),
            EventKind::CancelRequested => entry("cancelled", plain.red(), ""),
            _ => None,
        }
    }

    pub fn line(&self) -> String {
        let head = self.head.style(self.style);
        if self.text.is_empty() { head.to_string() } else { format!("{head} {}", self.text) }
    }

    /// Without colour.
    pub fn words(&self) -> String {
        format!("{} {}", self.head, self.text).trim_end().to_owned()
    }

    /// In at most this many columns.
    pub fn fitted(&self, width: usize) -> String {
        let head = fitting(self.head.chars(), width);
        let used = head.chars().map(cells).sum::<usize>() + 1;
        let text = fitting(self.text.chars(), width.saturating_sub(used));
        let head = head.style(self.style);
        if text.is_empty() { head.to_string() } else { format!("{head} {text}") }
    }
}

/// `[1] run_command(command=cargo test) → err: exit code 101`.
pub fn step(step: &GoalStep) -> String {
    let (n, tool, args) = (step.n, safe::line(&step.tool, 80), safe::line(&step.args, ARGS + 1));
    let preview = safe::line(&step.preview, PREVIEW + 1);
    let preview = if preview.is_empty() { preview } else { format!(": {preview}") };
    let end = step.end.name();
    let end = end.style(step_style(step.end));
    let line = format!("[{n}] {tool}({args}) → {end}{preview}");
    if step.took_ms < LONG_STEP_MS {
        return line;
    }
    format!("{line}{}", format!(" · {}", super::meters::clock(step.took_ms)).dimmed())
}

pub const fn step_style(end: StepEnd) -> Style {
    match end {
        StepEnd::Ok => Style::new().green(),
        StepEnd::Err => Style::new().red(),
        StepEnd::Blocked => Style::new().yellow(),
        StepEnd::Denied => Style::new().magenta(),
        StepEnd::Unknown => Style::new().yellow().bold(),
    }
}

fn verdict_style(verdict: ProgressVerdict) -> Style {
    match verdict {
        ProgressVerdict::Progressing => Style::new().green(),
        ProgressVerdict::Stuck => Style::new().yellow(),
        ProgressVerdict::Achieved => Style::new().color(XtermColors::from(EMERALD)).bold(),
        ProgressVerdict::Misled => Style::new().color(XtermColors::from(ORANGE)),
        ProgressVerdict::Error => Style::new().red(),
    }
}

const fn claim(by: Claimant) -> &'static str {
    match by {
        Claimant::Worker => "claim:",
        Claimant::Critic => "claim by the critic:",
    }
}

/// What the worker is told; if the text is not at hand, why.
fn told(why: Nudge, text: &str) -> String {
    if !text.trim().is_empty() {
        return text.to_owned();
    }
    match why {
        Nudge::OnlyTalk => "use a tool, claim completion or give up: talking alone does nothing",
        Nudge::LookFirst => "look at your last change before you claim completion",
        Nudge::Stuck => "step back and try another way",
        Nudge::Misled => "come back to the goal",
        Nudge::GoOn => "go on, claim completion or give up",
        Nudge::Circle => "the same result again and again: take another way",
        Nudge::Unreadable => "the last calls could not be read: here is their form",
        Nudge::Drift => "take back what was made while it had drifted, or say why it is needed",
    }
    .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(what: &EventKind) -> RailLine {
        RailLine::of(what, &|_| Some("look at\nparser.rs".into())).unwrap()
    }

    fn plain(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    fn watched(verdict: ProgressVerdict) -> EventKind {
        EventKind::Watched { critic: "c".into(), verdict, reason: "why\u{1b}[2J".into(), from: 1, to: 5 }
    }

    #[test]
    fn every_verdict_has_its_own_colour_and_its_own_word() {
        use ProgressVerdict::{Achieved, Error, Misled, Progressing, Stuck};
        let lines = [Progressing, Stuck, Achieved, Misled, Error].map(|v| entry(&watched(v)).line());
        for (line, colour) in
            lines.iter().zip(["\u{1b}[32m", "\u{1b}[33m", "38;5;43", "38;5;208", "\u{1b}[31m"])
        {
            assert!(line.contains(colour), "{line:?} has not {colour:?}");
            assert!(!line.contains("\u{1b}[2J"), "a reason cannot act on the terminal");
        }
        assert_eq!(plain(&lines[1]), "critic:stuck steps 1–5 why␛[2J");
    }

    #[test]
    fn ends_of_steps_are_told_apart_without_colour() {
        use StepEnd::{Blocked, Denied, Err, Ok, Unknown};
        let told = [Ok, Err, Blocked, Denied, Unknown].map(|end| {
            let (tool, args) = ("run_command".into(), "command=cargo test".into());
            let preview = "exit code 101".into();
            plain(&step(&GoalStep { n: 1, tool, args, end, preview, took_ms: 61_000 }))
        });
        assert_eq!(told[1], "[1] run_command(command=cargo test) → err: exit code 101 · 1:01");
        for (n, one) in told.iter().enumerate() {
            assert!(!told[n + 1..].contains(one), "{one}");
        }
    }

    #[test]
    fn a_line_never_wraps() {
        let long = EventKind::GoalPaused { because: "漢字 and more ".repeat(200) };
        for width in [10, 20, 80] {
            let line = plain(&entry(&long).fitted(width));
            assert!(line.chars().map(cells).sum::<usize>() <= width, "{line}");
        }
        assert!(
            plain(&entry(&long).line()).chars().count() < 450,
            "and has an end where nothing is cut to fit"
        );
    }

    #[test]
    fn what_was_said_to_the_worker_is_told_with_who_said_it() {
        let text = Digest::of(b"");
        let nudged = EventKind::Nudged { why: Nudge::Stuck, text };
        assert_eq!(plain(&entry(&nudged).line()), "→ told: look at parser.rs");
        let by = |by: &str| EventKind::Steered { by: by.into(), text };
        assert_eq!(plain(&entry(&by("terminal")).line()), "you: look at parser.rs (steered)");
        assert_eq!(plain(&entry(&by("ann")).line()), "ann: look at parser.rs (steered)");
        let missing = RailLine::of(&nudged, &|_| None).unwrap();
        assert_eq!(plain(&missing.line()), "→ told: step back and try another way");
    }
}
