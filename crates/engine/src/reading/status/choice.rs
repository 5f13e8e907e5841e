//! A form in which one of several verdicts is marked: `( ) APPROVED`, `(x) REJECTED`. What is not marked is not said.

use std::borrow::Cow;

use crate::reading::forms;

const EMPTY: [&str; 8] = ["( )", "()", "[ ]", "[]", "○", "☐", "◯", "⚪"];
const MARKED: [&str; 11] = ["(x)", "(X)", "[x]", "[X]", "(•)", "(*)", "●", "☑", "☒", "◉", "🔘"];

/// The verdict of a line that is an option, and whether it is marked.
fn option(line: &str) -> Option<(bool, &str)> {
    let body = line.trim_start().trim_start_matches(['-', '*', '+']).trim_start();
    let strip = |marks: &[&str]| marks.iter().find_map(|mark| body.strip_prefix(mark));
    let (marked, rest) = match (strip(&EMPTY), strip(&MARKED)) {
        (Some(rest), _) => (false, rest),
        (None, Some(rest)) => (true, rest),
        (None, None) => return None,
    };
    let rest = rest.trim();
    forms::status(rest).map(|_| (marked, rest))
}

/// The reply without the verdicts that were not chosen, if it has any.
pub(super) fn taken(text: &str) -> Cow<'_, str> {
    if !text.lines().any(|line| option(line).is_some_and(|(marked, _)| !marked)) {
        return Cow::Borrowed(text);
    }
    let kept = text.lines().filter_map(|line| match option(line) {
        Some((true, verdict)) => Some(verdict),
        Some((false, _)) => None,
        None => Some(line),
    });
    Cow::Owned(kept.collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_marked_option_is_said() {
        assert_eq!(taken("( ) [STATUS: APPROVED]\n(x) [STATUS: REJECTED]\n- a"), "[STATUS: REJECTED]\n- a");
        assert_eq!(taken("- [ ] Approved\n- [x] Rejected"), "Rejected");
        assert_eq!(taken("( ) APPROVED\n( ) REJECTED\nx"), "x");
        assert_eq!(taken("[STATUS: APPROVED]\n- [x] sample size"), "[STATUS: APPROVED]\n- [x] sample size");
    }
}
