//! A run's standing in words for a model: what was judged and by whom, what is to be fixed, what is wanted next.

use std::fmt::Write as _;

use gadfly_engine::NodePath;
use gadfly_engine::protocol::pipeline;
use gadfly_journal::Summary;
use gadfly_journal::view::RoundState;
use gadfly_project::config::HOST;

use super::status::{OpenPoint, RunStatus};

/// Said wherever a verdict is the host's own, so that nobody takes it for an independent one.
pub const OWN_WORK: &str =
    "The host judged its own work: this is its own opinion, not the verdict of an independent critic.";
const OWN_WORD: &str = "The host judged this itself, not a critic that the user configured.";

/// How far a run is, in brackets: a loop by its rounds, a goal by its steps. A pipeline has neither for the whole.
pub fn progress(summary: &Summary) -> String {
    if summary.steps_max > 0 {
        return format!(" (step {} of {})", summary.steps, summary.steps_max);
    }
    if summary.protocol == pipeline::RULE_BOOK.name || summary.rounds_max == 0 {
        return String::new();
    }
    format!(" (round {} of {})", summary.rounds, summary.rounds_max)
}

/// The state with what lists say beside it.
pub fn state(summary: &Summary) -> String {
    if summary.overruled { format!("{} (overruled)", summary.state) } else { summary.state.clone() }
}

/// Whether the host judged last.
pub fn is_own_round(round: Option<&RoundState>) -> bool {
    round.is_some_and(|round| round.reviews.iter().any(|review| review.binding.critic == HOST))
}

/// As [`is_own_round`], as far as a summary knows.
pub fn is_own_word(summary: &Summary) -> bool {
    summary.critic.as_deref() == Some(HOST) && summary.last_verdict.is_some()
}

/// What has to be said about a verdict that is the host's own.
pub fn own_word(worker: Option<&str>) -> &'static str {
    if worker == Some(HOST) { OWN_WORK } else { OWN_WORD }
}

/// Who judged a round.
pub fn critics(round: &RoundState) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for review in &round.reviews {
        if !all.contains(&review.binding.critic) {
            all.push(review.binding.critic.clone());
        }
    }
    all
}

/// Why the critics of a round approve; who says it is named where there are several.
pub fn reasons(round: &RoundState) -> Vec<String> {
    let several = round.reviews.len() > 1;
    let said = |(critic, reason): (&str, &str)| {
        if several { format!("{critic}: {reason}") } else { reason.to_owned() }
    };
    round.reasons().map(said).collect()
}

/// The part of a run that a round belongs to; none if it is the whole.
pub fn part(node: &NodePath) -> Option<String> {
    node.0.split_once('/').map(|(_, below)| below.to_owned())
}

/// `1 run`, `2 runs`.
pub fn counted(n: usize, one: &str) -> String {
    crate::output::table::counted(n, one)
}

pub fn text(standing: &RunStatus, summary: &Summary, open: usize) -> String {
    let mut text = format!("run {}: {}{}", standing.run, state(summary), progress(summary));
    if let (Some(verdict), Some(judged)) = (&standing.verdict, standing.judged_round) {
        let by = if standing.judged_by.is_empty() {
            "the critic".to_owned()
        } else {
            standing.judged_by.join(", ")
        };
        let part = standing.judged_part.as_ref().map(|part| format!("{part}, ")).unwrap_or_default();
        let _ = write!(text, "\n{part}round {judged} was judged by {by}: {verdict}");
    }
    for reason in &standing.reasons {
        let _ = write!(text, "\nreason: {reason}");
    }
    if standing.overruled {
        text.push_str(
            "\nThe critic's last rejection was overruled by the protocol: everything it had asked for before was done, \
             and it only raised new requirements. They are among the notes.",
        );
    }
    if let Some(why) = &standing.foreign {
        let _ = write!(text, "\n{why}");
    }
    if let Some(word) = &standing.not_independent {
        let _ = write!(text, "\n{word}");
    }
    if let Some(because) = &standing.because {
        let _ = write!(text, "\nwhy: {because}");
    }
    for OpenPoint { number, text: item, since_round } in &standing.to_fix {
        let _ = write!(text, "\n{number}. {item} (since round {since_round})");
    }
    if open > standing.to_fix.len() && !standing.to_fix.is_empty() {
        let _ = write!(text, "\nand {} more: list_findings has all", open - standing.to_fix.len());
    }
    for note in &standing.notes {
        let _ = write!(text, "\nnote: {note}");
    }
    for question in &standing.next.questions {
        let _ = write!(text, "\n\nquestion {}: {}", question.effect, question.text());
    }
    let _ = write!(text, "\n\nnext: {}", standing.next.how);
    if let Some(folder) = &standing.next.folder {
        let _ = write!(text, "\nfolder: {folder}");
    }
    if let Some(brief) = &standing.next.brief {
        let _ = write!(text, "\n\nThe brief:\n{brief}");
    }
    text
}

#[cfg(test)]
mod tests {
    use gadfly_journal::RunId;

    use super::*;

    fn summary(protocol: &str) -> Summary {
        let mut summary = Summary::new(RunId::random().unwrap());
        protocol.clone_into(&mut summary.protocol);
        (summary.rounds, summary.rounds_max) = (1, 5);
        summary
    }

    #[test]
    fn a_loop_is_counted_in_rounds_a_goal_in_steps_and_a_pipeline_in_neither() {
        assert_eq!(progress(&summary("revise")), " (round 1 of 5)");
        assert_eq!(progress(&summary(pipeline::RULE_BOOK.name)), "");
        let mut goal = summary("goal");
        (goal.rounds_max, goal.steps, goal.steps_max) = (0, 2, 20);
        assert_eq!(progress(&goal), " (step 2 of 20)");
    }

    #[test]
    fn a_round_of_a_part_is_named_after_it() {
        let run = NodePath::root();
        assert_eq!(part(&run), None);
        assert_eq!(part(&run.child("editor")).as_deref(), Some("editor"));
    }

    #[test]
    fn a_host_that_judged_is_told_apart_from_one_that_judged_its_own_work() {
        assert_eq!(own_word(Some(HOST)), OWN_WORK);
        assert_eq!(own_word(Some("writer")), OWN_WORD);
    }
}
