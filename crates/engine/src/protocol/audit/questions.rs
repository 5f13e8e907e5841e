//! What a person is asked, and what the answer means: the ways out of `askuser`, `plan-checker` and
//! `stuck`.

use std::fmt::Write as _;

use crate::brief::one_line;
use crate::finding::{ENGINE, Finding};
use crate::question::{About, Choice, Picked, Question};

use super::report;
use super::routes::{self, Route};
use super::settings::MOST_ROUNDS;

/// Findings that one question lists.
const MOST_LISTED: usize = 20;
/// As much of each as it shows, in characters.
const LONGEST_LINE: usize = 600;

const GRANT: &str = "grant";
const REPLAN: &str = "replan";
const DROP: &str = "drop";
const STUCK: &str = "stuck";
const FIXED: &str = "fixed";
const GIVE_UP: &str = "give-up";
const WAIVE: &str = "waive";
const ALL: &str = "all";

/// What a person said.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum AuditAnswer {
    Answer(String),
    Replan(String),
    /// Leave out the items the plan cannot keep.
    Drop,
    Grant(u32),
    /// What the program found may stand, by its number in the question or all of it, and why.
    Waive(Option<usize>, String),
    /// The person mended the folder by hand.
    Fixed,
    GiveUp,
    /// No answer that can be acted on: why not.
    Unclear(String),
}

/// Questions of the critic, or information nobody else can find out.
pub(super) fn askuser(findings: &[Finding]) -> Question {
    let mut text = String::from("The task cannot go on without you.\n");
    list(&mut text, findings, put);
    text.push_str("Answer in your own words.");
    let choices = vec![Choice::new(GIVE_UP, "end the task here")];
    Question { about: About::Askuser, text, choices, free: true }
}

/// Something is wrong with the plan itself.
pub(super) fn plan_checker(findings: &[Finding]) -> Question {
    let mut text = String::from("The plan cannot be kept as it is.\n");
    list(&mut text, findings, Finding::line);
    let choices = vec![
        Choice::taking(REPLAN, "TEXT", "say what the plan should be instead"),
        Choice::new(DROP, "leave the item out of the task"),
        Choice::new(GIVE_UP, "end the task here"),
    ];
    Question { about: About::PlanChecker, text, choices, free: false }
}

/// The plan has no criteria: there is nothing to leave out.
pub(super) fn without_criteria() -> Question {
    let text = "The task has no success criteria, so nobody can judge the work. Give one per line, or \
                separated by semicolons."
        .to_owned();
    let choices = vec![
        Choice::taking(REPLAN, "TEXT", "give the success criteria"),
        Choice::new(GIVE_UP, "end the task here"),
    ];
    Question { about: About::PlanChecker, text, choices, free: false }
}

/// The loop cannot go on by itself. `because` says why; at the last of all rounds none can be granted.
pub(super) fn stuck(because: &str, findings: &[Finding], round: u32, may_waive: bool) -> Question {
    let mut text = format!("{because}\n");
    let (asked, other): (Vec<&Finding>, Vec<&Finding>) =
        findings.iter().partition(|f| matches!(routes::of(&f.rule), Route::AskUser | Route::PlanChecker));
    if !asked.is_empty() {
        text.push_str("Open for you:\n");
        list(&mut text, asked, put);
    }
    if !other.is_empty() {
        text.push_str("What remains:\n");
        list(&mut text, other, Finding::line);
    }
    let mut choices = Vec::new();
    if round < MOST_ROUNDS {
        choices.push(Choice::taking(GRANT, "N", "allow N more rounds"));
        choices.push(Choice::taking(REPLAN, "TEXT", "say what the plan should be instead"));
    }
    if may_waive && waivable(findings).next().is_some() {
        let says = "what the program found may stand: its number, or `all`, and why; that is kept on record";
        choices.push(Choice::taking(WAIVE, "N WHY", says));
    }
    choices.push(Choice::new(STUCK, "leave the task as stuck"));
    choices.push(Choice::new(FIXED, "I mended it by hand in the run's folder: judge that"));
    Question { about: About::Stuck, text, choices, free: false }
}

/// The findings of the program itself, with their numbers in the question of `stuck`.
pub(super) fn waivable(findings: &[Finding]) -> impl Iterator<Item = (usize, &Finding)> {
    let remain =
        findings.iter().filter(|f| !matches!(routes::of(&f.rule), Route::AskUser | Route::PlanChecker));
    remain.enumerate().map(|(at, finding)| (at + 1, finding)).filter(|(_, finding)| finding.by == ENGINE)
}

/// A finding as a person is asked about it.
fn put(finding: &Finding) -> String {
    report::question(finding).map_or_else(|| finding.line(), one_line)
}

/// What a person was asked in `askuser`: the questions, and the information that is missing.
pub(super) fn asked(open: &[Finding]) -> Vec<String> {
    open.iter()
        .filter(|f| matches!(routes::of(&f.rule), Route::AskUser | Route::Researcher))
        .map(put)
        .collect()
}

fn list<'a>(
    text: &mut String,
    findings: impl IntoIterator<Item = &'a Finding>,
    shown: impl Fn(&'a Finding) -> String,
) {
    let mut left = 0_usize;
    for (at, finding) in findings.into_iter().enumerate() {
        if at < MOST_LISTED {
            let line: String = shown(finding).chars().take(LONGEST_LINE).collect();
            let _ = writeln!(text, "{}. {line}", at + 1);
        } else {
            left += 1;
        }
    }
    if left > 0 {
        let _ = writeln!(text, "… and {left} more");
    }
}

pub(super) fn read(question: &Question, answer: &str) -> AuditAnswer {
    match question.pick(answer) {
        Picked::Free(text) => AuditAnswer::Answer(text),
        Picked::Neither(why) => AuditAnswer::Unclear(why),
        Picked::Choice { word, rest } => match word {
            GRANT => match rest.trim().parse::<u32>() {
                Ok(rounds) if (1..=MOST_ROUNDS).contains(&rounds) => AuditAnswer::Grant(rounds),
                _ => AuditAnswer::Unclear(format!("`{GRANT}` takes a number from 1 to {MOST_ROUNDS}")),
            },
            WAIVE => {
                let (which, why) = rest.split_once(char::is_whitespace).unwrap_or((&rest, ""));
                match (which.parse().ok().map(Some).or((which == ALL).then_some(None)), why.trim()) {
                    (Some(which), why) if !why.is_empty() => AuditAnswer::Waive(which, why.to_owned()),
                    _ => AuditAnswer::Unclear(format!("`{WAIVE}` takes a number, or `{ALL}`, and a reason")),
                }
            }
            REPLAN => AuditAnswer::Replan(rest),
            DROP => AuditAnswer::Drop,
            FIXED => AuditAnswer::Fixed,
            _ => AuditAnswer::GiveUp,
        },
    }
}

/// Criteria as a person gives them in an answer.
pub(super) fn criteria(text: &str) -> Vec<report::AuditCriterion> {
    let claims = text.split(['\n', ';']).map(one_line).filter(|c| !c.is_empty());
    claims
        .enumerate()
        .map(|(at, claim)| report::AuditCriterion { id: format!("SC-{}", at + 1), claim })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Severity;

    fn finding(rule: &str) -> Finding {
        Finding::new(rule, Severity::Fail, format!("about {rule}"), "critic")
    }

    #[test]
    fn every_question_has_the_ways_out_of_the_rule_book() {
        let shown = |q: &Question| q.shown_choices().join(", ");
        assert_eq!(shown(&askuser(&[])), "give-up");
        assert!(askuser(&[]).free, "an answer in the person's own words");
        assert_eq!(shown(&plan_checker(&[])), "replan TEXT, drop, give-up");
        assert_eq!(shown(&stuck("x", &[], 3, true)), "grant N, replan TEXT, stuck, fixed");
        assert_eq!(shown(&stuck("x", &[], MOST_ROUNDS, true)), "stuck, fixed");
        let own = Finding { by: ENGINE.into(), ..finding("scope-creep") };
        assert_eq!(shown(&stuck("x", &[own], MOST_ROUNDS, true)), "waive N WHY, stuck, fixed");
    }

    #[test]
    fn answers_are_read_by_word_or_number() {
        let stuck = stuck("x", &[], 3, true);
        let cases = [
            ("grant 5", AuditAnswer::Grant(5)),
            ("1 5", AuditAnswer::Grant(5)),
            ("replan use the other port", AuditAnswer::Replan("use the other port".into())),
            ("stuck", AuditAnswer::GiveUp),
            ("fixed", AuditAnswer::Fixed),
        ];
        for (answer, expected) in cases {
            assert_eq!(read(&stuck, answer), expected, "{answer}");
        }
        let own = Finding { by: ENGINE.into(), ..finding("scope-creep") };
        let waive = super::stuck("x", &[finding("style"), own], 3, true);
        assert_eq!(
            read(&waive, "waive 2 it is asked for"),
            AuditAnswer::Waive(Some(2), "it is asked for".into())
        );
        assert_eq!(
            read(&waive, "waive all it is asked for"),
            AuditAnswer::Waive(None, "it is asked for".into())
        );
        for answer in ["waive 2", "waive", "waive it"] {
            assert!(matches!(read(&waive, answer), AuditAnswer::Unclear(_)), "{answer}");
        }
        for answer in ["grant 0", "grant 101", "grant many", "grant -1", "later"] {
            assert!(matches!(read(&stuck, answer), AuditAnswer::Unclear(_)), "{answer}");
        }
        assert_eq!(read(&askuser(&[]), "Use port 80."), AuditAnswer::Answer("Use port 80.".into()));
        assert_eq!(read(&plan_checker(&[]), "drop"), AuditAnswer::Drop);
        assert_eq!(read(&plan_checker(&[]), "give-up"), AuditAnswer::GiveUp);
    }

    #[test]
    fn at_the_cap_the_question_among_the_findings_stands_first() {
        let mut asked = finding("question-to-user");
        asked.raw = Some(serde_json::json!({"question_to_user": "Which port?"}));
        let text = stuck("No round is left.", &[finding("style"), asked], 3, true).text;
        let (question, style) = (text.find("Which port?").unwrap(), text.find("about style").unwrap());
        assert!(question < style, "{text}");
    }

    #[test]
    fn a_long_list_says_how_much_is_left_out() {
        let many: Vec<Finding> = (0..50).map(|_| finding("style")).collect();
        assert!(plan_checker(&many).text.contains("… and 30 more"));
    }

    #[test]
    fn criteria_are_numbered_as_they_are_given() {
        let given = criteria("answers 401; logs it\n\n ; ");
        let shown: Vec<String> = given.iter().map(|c| format!("{} {}", c.id, c.claim)).collect();
        assert_eq!(shown, ["SC-1 answers 401", "SC-2 logs it"]);
    }
}
