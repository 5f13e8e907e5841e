//! What a person says to a question that puts up to three escalations.

use super::escalation::{self, Escalation};
use super::sets::ConvergeCriterion;
use crate::question::{About, Choice, Question};

/// Ends the loop instead of settling anything.
pub(super) const STOP: &str = "stop";
const SKIP: &str = "skip";

/// How one escalation is settled.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Settled {
    /// An option, or the person's own words.
    Decided(String),
    /// Left as it is, and put off.
    Skipped,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum EscalationAnswer {
    Stop,
    /// By the escalation's place in the question; one that was not answered is missing.
    Settled(Vec<(usize, Settled)>),
}

/// The question for these escalations. `again`: an earlier answer left them open.
pub(super) fn question(batch: &[Escalation], again: bool) -> Question {
    let mut text = String::new();
    if again {
        text.push_str("The answer did not settle what follows.\n\n");
    }
    text.push_str(&escalation::question(batch));
    let mut choices = Vec::new();
    if let [only] = batch {
        choices.extend(only.options.iter().enumerate().map(|(n, option)| {
            let word = (n + 1).to_string();
            Choice::new(&word, &option.line())
        }));
        choices.push(Choice::new(SKIP, &only.skip));
    } else {
        text.push_str(
            "\nAnswer with one line for each, in this order: a number, `skip`, or your own words; or name it, as in `NAME: 2`.\n",
        );
        choices.push(Choice::new(SKIP, "skip all of them: keep the current state, mark as [DEFERRED]"));
    }
    choices.push(Choice::new(STOP, "end the loop here, without approval"));
    Question { about: About::Escalation, text, choices, free: true }
}

/// Reads the answer to [`question`].
pub(super) fn read(batch: &[Escalation], answer: &str) -> EscalationAnswer {
    let answer = answer.trim();
    if answer.eq_ignore_ascii_case(STOP) || stops_by_number(batch, answer) {
        return EscalationAnswer::Stop;
    }
    if let [only] = batch {
        let named = named(batch, answer).map_or(answer, |(_, rest)| rest);
        return EscalationAnswer::Settled(one(only, named).map(|settled| (0, settled)).into_iter().collect());
    }
    if answer.eq_ignore_ascii_case(SKIP) {
        return EscalationAnswer::Settled((0..batch.len()).map(|n| (n, Settled::Skipped)).collect());
    }
    let lines: Vec<&str> = answer.split(['\n', ';']).map(str::trim).filter(|l| !l.is_empty()).collect();
    // `1 skip 2` on one line, where nothing but numbers and skips stands.
    let words: Vec<&str> = answer.split([' ', ',', ';', '\n', '\t']).filter(|w| !w.is_empty()).collect();
    let bare = words.len() == batch.len() && words.iter().all(|w| is(w, SKIP) || number(w).is_some());
    let pieces = if bare { words } else { lines };
    let mut settled: Vec<(usize, Settled)> = Vec::new();
    for (n, piece) in pieces.iter().enumerate() {
        let in_order = (pieces.len() == batch.len()).then_some((n, *piece));
        let Some((at, said)) = named(batch, piece).or(in_order) else { continue };
        if settled.iter().all(|(other, _)| *other != at)
            && let Some(how) = batch.get(at).and_then(|escalation| one(escalation, said))
        {
            settled.push((at, how));
        }
    }
    EscalationAnswer::Settled(settled)
}

/// With one escalation the choices are numbered as its options are, `stop` last.
fn stops_by_number(batch: &[Escalation], answer: &str) -> bool {
    matches!(batch, [only] if number(answer) == Some(only.options.len() + 2))
}

/// None if a number names no option.
fn one(escalation: &Escalation, said: &str) -> Option<Settled> {
    if is(said, SKIP) {
        return Some(Settled::Skipped);
    }
    match number(said) {
        Some(n) if n == escalation.options.len() + 1 => Some(Settled::Skipped),
        Some(n) => {
            let option = escalation.options.get(n.checked_sub(1)?)?;
            Some(Settled::Decided(option.line()))
        }
        None if said.is_empty() => None,
        None => Some(Settled::Decided(said.to_owned())),
    }
}

/// `NAME: rest` or `[NAME] rest`, for a name that is asked about once.
fn named<'a>(batch: &[Escalation], piece: &'a str) -> Option<(usize, &'a str)> {
    let (name, rest) = match piece.strip_prefix('[') {
        Some(inner) => inner.split_once(']')?,
        None => piece.split_once(':')?,
    };
    let key = ConvergeCriterion::key(name);
    let mut hits = batch.iter().enumerate().filter(|(_, e)| ConvergeCriterion::key(&e.criterion) == key);
    let (at, _) = hits.next()?;
    hits.next().is_none().then(|| (at, rest.trim_start_matches([':', ' ']).trim()))
}

/// The word alone, or set off from what follows: `skip, it is not ours`. A sentence that goes on from it
/// is a sentence.
fn is(text: &str, word: &str) -> bool {
    let rest = text.get(..word.len()).filter(|head| head.eq_ignore_ascii_case(word));
    rest.is_some()
        && text[word.len()..].chars().next().is_none_or(|c| matches!(c, '.' | ',' | ':' | ';' | '!' | '\n'))
}

fn number(text: &str) -> Option<usize> {
    text.trim_end_matches(['.', ')', ',']).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::super::escalation::{EscalationChoice, SKIP, Trigger};
    use super::*;

    fn batch(names: &[&str]) -> Vec<Escalation> {
        let choice = |label: &str| EscalationChoice {
            label: label.into(),
            says: String::new(),
            pro: "p".into(),
            con: "c".into(),
        };
        let escalation = |name: &&str| Escalation {
            criterion: (*name).into(),
            question: "Which?".into(),
            issue: "Two ways.".into(),
            why: Trigger::ScopeBoundary,
            because: "scope boundary".into(),
            options: vec![choice("left"), choice("right")],
            skip: SKIP.into(),
        };
        names.iter().map(escalation).collect()
    }

    fn said(names: &[&str], answer: &str) -> String {
        match read(&batch(names), answer) {
            EscalationAnswer::Stop => "stop".into(),
            EscalationAnswer::Settled(all) => {
                let shown = |(at, how): &(usize, Settled)| match how {
                    Settled::Decided(text) => format!("{}={text}", names[*at]),
                    Settled::Skipped => format!("{}=skipped", names[*at]),
                };
                all.iter().map(shown).collect::<Vec<_>>().join(" ")
            }
        }
    }

    #[test]
    fn one_escalation_is_settled_by_a_number_a_word_or_a_sentence() {
        let cases = [
            ("1", "RISK=left"),
            (" 2. ", "RISK=right"),
            ("3", "RISK=skipped"),
            ("Skip", "RISK=skipped"),
            ("skip, it is not ours", "RISK=skipped"),
            ("skip the left one", "RISK=skip the left one"),
            ("4", "stop"),
            ("STOP", "stop"),
            ("0", ""),
            ("9", ""),
            ("go left, then right", "RISK=go left, then right"),
            ("1 but later", "RISK=1 but later"),
            ("risk: 2", "RISK=right"),
            ("[RISK] 2", "RISK=right"),
        ];
        for (answer, expected) in cases {
            assert_eq!(said(&["RISK"], answer), expected, "{answer}");
        }
    }

    #[test]
    fn several_are_settled_in_order_or_by_name_and_never_by_guessing() {
        let cases = [
            ("1 2", "RISK=left EDGE_CASES=right"),
            ("1, skip", "RISK=left EDGE_CASES=skipped"),
            ("1\nask the team", "RISK=left EDGE_CASES=ask the team"),
            ("edge cases: 2", "EDGE_CASES=right"),
            ("EDGE_CASES: 2; RISK: 1", "EDGE_CASES=right RISK=left"),
            ("skip", "RISK=skipped EDGE_CASES=skipped"),
            ("stop", "stop"),
            ("skip\n1", "RISK=skipped EDGE_CASES=left"),
            ("skip; 2", "RISK=skipped EDGE_CASES=right"),
            ("1", ""),
            ("use the left one", ""),
            ("9 1", "EDGE_CASES=left"),
            ("RISK: 1\nRISK: 2", "RISK=left"),
        ];
        for (answer, expected) in cases {
            assert_eq!(said(&["RISK", "EDGE_CASES"], answer), expected, "{answer}");
        }
    }

    #[test]
    fn every_answer_the_question_offers_is_taken_by_the_machine_too() {
        let one = question(&batch(&["RISK"]), false);
        assert_eq!(one.shown_choices(), ["1", "2", "skip", "stop"]);
        let two = question(&batch(&["RISK", "SAFETY"]), true);
        assert_eq!(two.shown_choices(), ["skip", "stop"]);
        assert!(two.text.starts_with("The answer did not settle"));
        assert!(two.text.contains("=== CRITIC ESCALATION (2) ==="));
    }
}
