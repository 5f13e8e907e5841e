//! How a description looks on a terminal: the one table of marks and colours, and how much of a text is shown. What models
//! say is text only; every line has an end.

use gadfly_engine::Digest;
use gadfly_engine::event::EventKind;
use gadfly_engine::event::words::{Description, DescriptionLine, Tone};
use owo_colors::{OwoColorize as _, Style, XtermColors};

use super::live::{cells, fitting};
use super::{judged, safe};

/// Longer texts are cut on the screen; `show --log` has them whole.
const LONGEST: usize = 600;
const LONGEST_WHOLE: usize = 2_000;
/// Of the 256 colours: neither is among the sixteen that a terminal may paint as it likes.
const ORANGE: u8 = 208;
const EMERALD: u8 = 43;

/// Finds a stored text.
pub type TextLookup<'a> = &'a dyn Fn(&Digest) -> Option<String>;

/// The mark before a line of this tone, and its colour.
fn look(tone: Tone) -> (&'static str, Style) {
    let plain = Style::new();
    match tone {
        Tone::Plain => ("", plain),
        Tone::Heading | Tone::Person => ("", plain.bold()),
        Tone::Good => ("✓ ", plain.green().bold()),
        Tone::Bad => ("✗ ", plain.red()),
        Tone::Warning => ("! ", plain.yellow()),
        Tone::Notice | Tone::Stuck => ("", plain.yellow()),
        Tone::Doubt => ("? ", plain.yellow()),
        Tone::Paused => ("‖ ", plain.yellow().bold()),
        Tone::Next => ("→ ", plain),
        Tone::Claim | Tone::Working => ("", plain.cyan()),
        Tone::Progressing => ("", plain.green()),
        Tone::Achieved => ("", plain.color(XtermColors::from(EMERALD)).bold()),
        Tone::Misled => ("", plain.color(XtermColors::from(ORANGE))),
        Tone::Error => ("", plain.red()),
    }
}

/// What was described, in one line.
pub struct DescribedLine {
    tone: Tone,
    head: String,
    body: String,
}

impl DescribedLine {
    /// None for what is not told.
    pub fn of(what: &EventKind, text: TextLookup<'_>) -> Option<Self> {
        Some(Self::new(&what.describe(&|agent| agent.to_owned())?, text))
    }

    pub fn new(told: &Description, text: TextLookup<'_>) -> Self {
        let most = if told.whole { LONGEST_WHOLE } else { LONGEST };
        let (mark, _) = look(told.tone);
        let body = safe::line(&told.said(text), most);
        let between = if body.is_empty() { "" } else { told.separator().trim_end() };
        let head = format!("{mark}{}{between}", safe::line(&told.head, LONGEST));
        Self { tone: told.tone, head, body }
    }

    pub fn line(&self) -> String {
        let (_, style) = look(self.tone);
        let head = self.head.style(style);
        match self.tone {
            _ if self.body.is_empty() => head.to_string(),
            Tone::Heading => format!("{} {}", self.head, self.body).style(style).to_string(),
            _ => format!("{head} {}", self.body),
        }
    }

    /// Without colour.
    pub fn words(&self) -> String {
        format!("{} {}", self.head, self.body).trim_end().to_owned()
    }

    /// In at most this many columns.
    pub fn fitted(&self, width: usize) -> String {
        let head = fitting(self.head.chars(), width);
        let used = head.chars().map(cells).sum::<usize>() + 1;
        let body = fitting(self.body.chars(), width.saturating_sub(used));
        let head = head.style(look(self.tone).1);
        if body.is_empty() { head.to_string() } else { format!("{head} {body}") }
    }
}

/// The description, the end of what a command printed and what stands below it, each further to the right.
pub fn block(told: &Description, text: TextLookup<'_>) -> Vec<String> {
    let mut lines = vec![DescribedLine::new(told, text).line()];
    if let Some(output) = told.output.as_ref().and_then(text) {
        lines.extend(judged::tail(&output));
    }
    lines.extend(told.below.iter().map(|below| format!("  {}", line_below(below))));
    lines
}

fn line_below(DescriptionLine { tone, text }: &DescriptionLine) -> String {
    let (mark, style) = look(*tone);
    format!("{}{}", mark.style(style), safe::line(text, LONGEST))
}

#[cfg(test)]
mod tests {
    use gadfly_engine::goal::{Nudge, ProgressVerdict};

    use super::*;

    fn entry(what: &EventKind) -> DescribedLine {
        DescribedLine::of(what, &|_| Some("look at\nparser.rs".into())).unwrap()
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
    fn a_line_never_wraps() {
        let long = EventKind::GoalPaused { because: "漢字 and more ".repeat(200) };
        for width in [10, 20, 80] {
            let line = plain(&entry(&long).fitted(width));
            assert!(line.chars().map(cells).sum::<usize>() <= width, "{line}");
        }
        assert!(
            plain(&entry(&long).line()).chars().count() < LONGEST + 50,
            "and has an end where nothing is cut to fit"
        );
    }

    #[test]
    fn a_stored_text_stands_after_its_head() {
        let text = Digest::of(b"");
        let nudged = EventKind::Nudged { why: Nudge::Stuck, text };
        assert_eq!(plain(&entry(&nudged).line()), "→ told: look at parser.rs");
        assert_eq!(entry(&nudged).words(), "→ told: look at parser.rs");
        assert_eq!(plain(&entry(&EventKind::CancelRequested).line()), "✗ cancelled");
    }
}
