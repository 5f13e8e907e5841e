//! The last block of a run: what happened, where the draft is, what is unresolved, how to go on.

use gadfly_engine::budget::{Account, Cap, Shortage};
use gadfly_engine::review::Verdict;
use gadfly_engine::{Digest, EffectId, Outcome, Waiting};
use gadfly_journal::RunView;
use gadfly_journal::view::RowStatus;
use gadfly_project::config::HOST;
use owo_colors::OwoColorize as _;

use super::table::{cost, counted, moment, tokens};
use super::{goal, judged, next_command, pipeline, print, safe};

/// More entries of one list are counted.
const MOST_LISTED: usize = 10;

/// Where an approved draft is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DraftIs {
    /// On standard output, below or in the pipe.
    Printed,
    InJournal,
}

/// `outcome` is none if the run was interrupted; `undone` is when what it did was taken back.
pub fn block(state: &RunView, outcome: Option<&Outcome>, draft: DraftIs, undone: Option<u64>) -> Vec<String> {
    let run = &state.summary.run;
    let mut lines = vec![String::new(), headline(state, outcome)];
    let mut say = |label: &str, text: String| lines.push(format!("  {label:<11}{text}"));
    match outcome {
        Some(Outcome::Approved { notes, .. }) => {
            for note in notes {
                say("note", safe::line(note, 600));
            }
        }
        Some(Outcome::Halted { open, .. } | Outcome::Rejected { open, .. }) => {
            for item in open {
                say("unresolved", safe::line(item, 600));
            }
        }
        Some(Outcome::Unverified { reason, unseen, .. }) => {
            say("reason", safe::line(reason, 600));
            for what in unseen.iter().take(MOST_LISTED) {
                say("not seen", safe::line(what, 200));
            }
            if unseen.len() > MOST_LISTED {
                say("not seen", format!("and {} more", unseen.len() - MOST_LISTED));
            }
        }
        Some(Outcome::Waiting(Waiting::Question { effect })) => {
            if let Some(asked) = state.question(effect) {
                // A line of `===` only heads the question.
                let says = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with("===");
                let first = asked.question.text.lines().find(says);
                say("asked", safe::line(first.unwrap_or_default(), 300));
                let choices = asked.question.shown_choices();
                if !choices.is_empty() {
                    say("answers", safe::line(&choices.join(" | "), 300));
                }
            }
        }
        Some(Outcome::OutOfBudget { shortage }) => say("reason", safe::line(&shortage.to_string(), 600)),
        Some(Outcome::Failed { failure }) => say("reason", safe::line(&failure.to_string(), 600)),
        Some(Outcome::Waiting(Waiting::Quota { until_ms, message })) => {
            say("reason", safe::line(message, 600));
            if let Some(until) = until_ms {
                say("until", moment(*until));
            }
        }
        None | Some(Outcome::Waiting(_) | Outcome::Aborted) => {}
    }
    if let Some(pursued) = &state.goal {
        for (label, text) in goal::facts(state, pursued, outcome) {
            say(label, text);
        }
    }
    if let Some(result) = &state.result {
        say("result", safe::line(result, 300));
    }
    if let Some(accepted) = &state.accepted {
        for path in accepted.paths.iter().take(MOST_LISTED) {
            say("accepted", safe::line(path, 200));
        }
        if accepted.paths.len() > MOST_LISTED {
            say("accepted", format!("and {} more", accepted.paths.len() - MOST_LISTED));
        }
        for (label, note, paths) in [
            ("merged", "nobody judged the merged text", &accepted.merged),
            ("kept", "your version, not the judged one", &accepted.kept),
        ] {
            for path in paths.iter().take(MOST_LISTED) {
                say(label, format!("{} ({note})", safe::line(path, 200)));
            }
            if let Some(more) = paths.len().checked_sub(MOST_LISTED).filter(|more| *more > 0) {
                say(label, format!("and {more} more ({note})"));
            }
        }
        if let Some(commit) = &accepted.commit {
            say(
                "commit",
                format!("{} on branch {}", safe::line(&commit.id, 60), safe::line(&commit.branch, 100)),
            );
        }
    }
    if let Some(view) = &state.pipeline {
        let blocked = view.agents.iter().filter(|row| row.status == RowStatus::Blocked);
        for row in blocked.take(MOST_LISTED) {
            let why = row.because.as_deref().unwrap_or("its score does not pass");
            say("blocked", format!("{}: {}", safe::line(&row.agent, 60), safe::line(why, 300)));
        }
        if !view.learned.is_empty() {
            let many = counted(view.learned.len(), "suggestion");
            say("learned", format!("{many}: {}", next_command::command("learn")));
        }
        say("agents", next_command::command(&format!("show {run}")));
    } else if state.goal.is_some() {
        // Told above: a goal's folder is no draft.
    } else if state.summary.last_diff.is_some() {
        say("changes", next_command::command(&format!("show {run} --diff")));
    } else if let Some(place) = draft_place(state, outcome, draft).filter(|_| !is_review(state)) {
        say("draft", place);
    }
    let s = &state.summary;
    let spent = cost(s.cost, s.cost_unknown);
    let tokens = tokens(s.tokens, s.cached);
    say("spent", format!("{spent}, {tokens}, {}", counted(s.calls as usize, "call")));
    say("run", run.to_string());
    let mut onwards = onwards(state, outcome);
    let delivered = state.pipeline.is_some() && state.summary.ended && state.accepted.is_some();
    let undo = goal::undo(state)
        .or_else(|| delivered.then(|| ("undo", next_command::command(&format!("undo {run}")))));
    let undo = undo.filter(|_| !onwards.iter().any(|(label, _)| *label == "undo"));
    onwards.extend(undo);
    if let Some(at_ms) = undone {
        onwards.retain(|(label, _)| *label != "undo");
        say("undone", format!("{}: your files are what they were before the run", moment(at_ms)));
    }
    for (label, command) in onwards {
        say(label, command.bold().to_string());
    }
    lines
}

pub fn print(state: &RunView, outcome: Option<&Outcome>, draft: DraftIs) {
    print::err_lines(&block(state, outcome, draft, None));
}

fn headline(state: &RunView, outcome: Option<&Outcome>) -> String {
    if let Some(pursued) = &state.goal {
        return goal::headline(pursued, outcome);
    }
    if let Some(view) = &state.pipeline {
        return pipeline::headline(view, outcome);
    }
    let rounds = counted(state.summary.rounds as usize, "round");
    match outcome {
        None => "interrupted: nothing is lost".yellow().bold().to_string(),
        Some(Outcome::Approved { overruled: false, .. }) => {
            format!("approved after {rounds}").green().bold().to_string()
        }
        Some(Outcome::Approved { overruled: true, .. }) => {
            format!("approved (rejection overruled) after {rounds}").green().bold().to_string()
        }
        Some(outcome @ Outcome::Halted { .. }) => {
            format!("{} after {rounds}: not approved", outcome.label()).red().bold().to_string()
        }
        Some(Outcome::Rejected { .. }) => "rejected: there are findings that block".red().bold().to_string(),
        Some(Outcome::Waiting(Waiting::Question { effect })) if is_the_hosts(state, effect) => {
            "waiting for its host: a coding session or an MCP client".yellow().bold().to_string()
        }
        Some(Outcome::Waiting(Waiting::Question { .. })) => {
            "waiting for a person's answer".yellow().bold().to_string()
        }
        Some(Outcome::Waiting(Waiting::Quota { .. })) => {
            "waiting for the provider's quota".yellow().bold().to_string()
        }
        Some(Outcome::Waiting(Waiting::Paused)) => "paused".yellow().bold().to_string(),
        Some(Outcome::Unverified { unseen, .. }) if !unseen.is_empty() => {
            "unverified (partial): no critic has seen all of it".yellow().bold().to_string()
        }
        Some(Outcome::Unverified { .. }) => {
            "unverified: no critic has judged the last draft".yellow().bold().to_string()
        }
        Some(Outcome::OutOfBudget { .. }) => "out of budget".yellow().bold().to_string(),
        Some(Outcome::Aborted) => "aborted".red().bold().to_string(),
        Some(Outcome::Failed { .. }) if is_approved(state) => {
            "approved, but the file could not be written".red().bold().to_string()
        }
        Some(Outcome::Failed { .. }) => "failed: gave up on a call".red().bold().to_string(),
    }
}

fn draft_place(state: &RunView, outcome: Option<&Outcome>, draft: DraftIs) -> Option<String> {
    let last = state.summary.last_draft?;
    let run = &state.summary.run;
    let approved = matches!(outcome, Some(Outcome::Approved { .. }))
        || (matches!(outcome, Some(Outcome::Failed { .. })) && is_approved(state));
    // A file is named only while it holds this draft: it may be of an earlier round, or changed since.
    let holds = |path: &str| std::fs::read(path).is_ok_and(|bytes| Digest::of(&bytes) == last);
    let saved = state.saved.last().filter(|s| s.approved == approved && holds(&s.path));
    Some(match (saved, approved, draft) {
        (Some(file), true, _) => safe::line(&file.path, 400),
        (Some(file), false, _) => format!("{} (not approved)", safe::line(&file.path, 400)),
        (None, true, DraftIs::Printed) if state.summary.out.is_none() => "on standard output".to_owned(),
        (None, true, _) => next_command::command(&format!("show {run} --draft")),
        (None, false, _) => next_command::command(&format!("show {run} --draft (not approved)")),
    })
}

/// Nobody works: what is judged was there before.
const fn is_review(state: &RunView) -> bool {
    state.summary.worker.is_none()
}

/// It is not a person who is asked, but the host that works on it: its turn, and no question.
fn is_the_hosts(state: &RunView, effect: &EffectId) -> bool {
    let judging = state.rounds.last().is_some_and(|round| round.draft.is_some() && round.reviews.is_empty());
    state.summary.worker.as_deref() == Some(HOST) && !judging && state.question(effect).is_none()
}

/// The critic approved the last draft, whatever became of it since.
fn is_approved(state: &RunView) -> bool {
    state.summary.last_verdict == Some(Verdict::Approved)
}

/// The commands that go on from here.
fn onwards(state: &RunView, outcome: Option<&Outcome>) -> Vec<(&'static str, String)> {
    let run = &state.summary.run;
    let resume = next_command::command(&format!("resume {run}"));
    match outcome {
        Some(Outcome::Approved { .. }) if state.accepted.as_ref().is_some_and(|a| a.commit.is_none()) => {
            vec![("undo", next_command::command(&format!("undo {run}")))]
        }
        Some(Outcome::Approved { .. } | Outcome::Rejected { .. } | Outcome::Aborted) => Vec::new(),
        // A new run begins with the checkout, not with another run's folder.
        Some(Outcome::Halted { .. }) if state.folder || state.goal.is_some() => Vec::new(),
        Some(Outcome::Halted { .. }) => {
            vec![("continue", next_command::command(&format!("run --from {run}")))]
        }
        // It comes back by itself, or never: then this is all there is to do.
        Some(Outcome::Waiting(Waiting::Question { effect })) if is_the_hosts(state, effect) => {
            vec![("or end it", next_command::command(&format!("cancel {run}")))]
        }
        Some(Outcome::Waiting(Waiting::Question { effect })) => vec![
            ("question", next_command::command(&format!("show {run}"))),
            (
                "answer",
                state.question(effect).map_or_else(
                    || next_command::command(&format!("answer {run} \"…\"")),
                    |asked| judged::how_to_answer(run.as_str(), &asked.question),
                ),
            ),
            ("then", resume),
        ],
        // No cap of the run stands in the way: going on is a decision.
        Some(Outcome::OutOfBudget { shortage: Shortage { account: Account::Call(_), .. } }) => {
            vec![("continue", resume)]
        }
        Some(Outcome::OutOfBudget { shortage }) => {
            vec![("continue", format!("{resume} {}", raise(shortage)))]
        }
        // It waits for the time and goes on by itself; before the time, `resume` alone would only say so again.
        Some(Outcome::Waiting(Waiting::Quota { until_ms: Some(_), .. })) => {
            vec![("continue", format!("{resume} --wait"))]
        }
        None | Some(Outcome::Waiting(_) | Outcome::Unverified { .. } | Outcome::Failed { .. }) => {
            vec![("continue", resume)]
        }
    }
}

/// The flag that lifts the cap high enough for the next call.
fn raise(shortage: &Shortage) -> String {
    let needed = shortage.committed.saturating_add(shortage.wanted);
    match shortage.cap {
        Cap::Money => format!("--budget-usd {:.2}", (needed.saturating_mul(2) as f64 / 1e9).max(0.01)),
        Cap::Tokens => format!("--budget-tokens {}", needed.saturating_mul(2)),
        Cap::Time => format!("--minutes {}", (shortage.limit / 60_000).saturating_mul(2).max(1)),
        Cap::Steps => format!("--max-steps {}", shortage.limit.saturating_mul(2).max(1)),
        Cap::Turns => format!("--max-turns {}", shortage.limit.saturating_mul(2).max(1)),
        Cap::Calls => format!("--calls {}", shortage.limit.saturating_mul(2).max(1)),
    }
}

#[cfg(test)]
mod tests {
    use gadfly_engine::event::EventKind;

    use super::*;
    use crate::report::sample::{begun, digest, goal_gave_up, goal_stuck, goal_verified, step, unverified};

    fn told(state: &RunView) -> String {
        let lines = block(state, state.outcome.as_ref(), DraftIs::InJournal, None).join("\n");
        anstream::adapter::strip_str(&lines).to_string()
    }

    #[test]
    fn what_nobody_saw_is_named_and_never_called_approved() {
        let said = told(&unverified());
        assert!(said.contains("unverified (partial)") && said.contains("not seen   big.sql"), "{said}");
        assert!(!said.contains("approved"), "{said}");
    }

    #[test]
    fn what_came_from_a_cache_is_said_beside_all_that_was_spent() {
        let mut state = begun("revise", "Write a note");
        assert!(told(&state).contains("$0.04, 1500 tokens, 2 calls"));
        state.summary.cached = 900;
        assert!(told(&state).contains("$0.04, 1500 tokens (900 from cache), 2 calls"));
    }

    #[test]
    fn a_call_beyond_its_own_cap_is_gone_on_from_without_touching_the_runs() {
        let mut state = begun("revise", "Write a note");
        let account = Account::Call("coder".into());
        let shortage =
            Shortage { account, cap: Cap::Money, limit: 500_000_000, committed: 2_000_000_000, wanted: 0 };
        step(&mut state, vec![], Some(Outcome::OutOfBudget { shortage }));
        let said = told(&state);
        assert!(said.contains("one call of agent `coder` has a cap of $0.50; $2.00 is spent"), "{said}");
        assert!(said.contains("gadfly resume") && !said.contains("--budget"), "{said}");
    }

    #[test]
    fn an_accepted_tree_names_its_files_and_how_to_undo_it() {
        let approved = || Outcome::Approved { draft: digest(), overruled: false, notes: vec![] };
        let accepted = |commit| EventKind::Accepted {
            paths: vec!["src/a.rs".into()],
            commit,
            merged: vec!["src/m.rs".into()],
            kept: vec!["src/k.rs".into()],
        };
        let mut state = begun("audit", "Add a cache");
        step(&mut state, vec![accepted(None)], Some(approved()));
        let said = told(&state);
        assert!(said.contains("accepted   src/a.rs") && said.contains("undo       gadfly undo"), "{said}");
        assert!(said.contains("src/m.rs (nobody judged the merged text)"), "{said}");
        assert!(said.contains("src/k.rs (your version, not the judged one)"), "{said}");
        let mut state = begun("audit", "Add a cache");
        let commit = gadfly_engine::effect::Committed { id: "abc".into(), branch: "gadfly/1".into() };
        step(&mut state, vec![accepted(Some(commit))], Some(approved()));
        let said = told(&state);
        assert!(said.contains("abc on branch gadfly/1") && !said.contains("undo"), "{said}");
    }

    #[test]
    fn only_a_verified_goal_is_called_so() {
        let said = told(&goal_verified());
        assert!(said.contains("verified after 2 steps") && !said.contains("not verified"), "{said}");
        for state in [goal_gave_up(), goal_stuck()] {
            let said = told(&state);
            assert!(!said.contains("verified after") && !said.contains("approved"), "{said}");
        }
        let mut state = goal_stuck();
        let shortage =
            Shortage { account: Account::Run, cap: Cap::Steps, limit: 300, committed: 300, wanted: 1 };
        step(&mut state, vec![], Some(Outcome::OutOfBudget { shortage }));
        let said = told(&state);
        assert!(said.contains("out of budget after 10 steps: not verified"), "{said}");
        assert!(said.contains("--max-steps 600"), "{said}");
    }

    #[test]
    fn a_goal_that_was_given_up_says_why_what_was_learned_and_where_the_work_is() {
        insta::assert_snapshot!(told(&goal_gave_up()), @r"

        gave up after 1 step: not verified
          reason     the fixture is missing
          learned    it was never committed
          used       steps 1/300 · turns 0 · time 0:00 · tokens 1500 · cost $0.04
          of which   worker $0.04, 0 tokens, 0 calls · critic $0.0020, 0 tokens, 2 calls
          folder     /store/runs/0123456789/tree/work (not accepted)
          spent      $0.04, 1500 tokens, 2 calls
          run        0123456789
        ");
    }

    #[test]
    fn a_goal_that_waits_says_how_to_answer() {
        let said = told(&goal_stuck());
        assert!(said.contains("waiting for a person's answer after 10 steps"), "{said}");
        assert!(said.contains("gadfly answer 0123456789 \"go-on\""), "{said}");
        assert!(said.contains("critic $0.0020"), "the critic's cost is visible: {said}");
        let mut in_place = goal_stuck();
        in_place.goal.as_mut().unwrap().in_place = true;
        let said = told(&in_place);
        assert!(said.contains("gadfly undo 0123456789") && !said.contains("not accepted"), "{said}");
    }
}
