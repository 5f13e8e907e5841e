//! A goal as `gadfly show` tells it: its terms, how it stands, its steps with what was said between them, what it
//! changed and what it cost. Lines only; nothing is printed here.

use gadfly_engine::Digest;
use gadfly_engine::event::words;
use gadfly_engine::tree::{Change, ChangeKind};
use gadfly_journal::RunView;
use gadfly_journal::view::GoalState;
use owo_colors::OwoColorize as _;

use crate::output::described::DescribedLine;
use crate::output::{goal, meters, next_command, rail, safe};

/// Of a long goal the beginning and the end are shown.
const FIRST: usize = 20;
const LAST: usize = 80;
const LONGEST_TERMS: usize = 900;
/// More files are counted.
const MOST_FILES: usize = 40;

/// `text` finds a stored text; `has_older` says that the beginning of the goal was not read.
pub fn lines(
    state: &RunView,
    pursued: &GoalState,
    text: &dyn Fn(&Digest) -> Option<String>,
    has_older: bool,
) -> Vec<String> {
    let stated = pursued.goal.as_ref().and_then(text).unwrap_or_else(|| state.summary.title.clone());
    let steps = pursued.caps.steps.unwrap_or(0);
    let terms = words::terms(&pursued.criterion, &pursued.policy, pursued.interval, steps);
    let mut lines = vec![
        String::new(),
        format!("goal: {}", safe::line(&stated, 600)).bold().to_string(),
        format!("  {}", safe::line(&terms, LONGEST_TERMS)),
        format!("  {}", goal::headline(pursued, state.outcome.as_ref()).trim()),
    ];
    if state.summary.state == "running" {
        lines.pop();
        lines.push(format!("  running · {}", meters::words(pursued)));
    }
    lines.push(String::new());
    if has_older {
        let more = next_command::command(&format!("show {} --log", state.summary.run));
        lines.push(format!("  … what came before is left out here: {more}").dimmed().to_string());
    }
    lines.extend(log(pursued, text, &state.summary.run.to_string()));
    lines.push(String::new());
    let ends = goal::ends(pursued);
    if !ends.is_empty() {
        lines.push(format!("steps: {ends}"));
    }
    if pursued.interval > 0 {
        lines.push(format!("critic: {}", goal::verdicts(pursued)));
    }
    lines.push(format!("cost: {}", goal::split(pursued)));
    lines.extend(changes(pursued));
    lines
}

/// Steps and what was said between them, in the order of time.
fn log(pursued: &GoalState, text: &dyn Fn(&Digest) -> Option<String>, run: &str) -> Vec<String> {
    let steps = pursued
        .steps
        .iter()
        .map(|taken| ((taken.seq, taken.step.n, 0), format!("  {}", rail::step(&taken.step))));
    let beside = pursued.rail.iter().filter_map(|entry| {
        let said = DescribedLine::of(&entry.what, text)?;
        Some(((entry.seq, entry.after, 1), format!("  {}", said.line())))
    });
    let mut all: Vec<((u32, u32, u8), String)> = steps.chain(beside).collect();
    all.sort_by_key(|(at, _)| *at);
    let left_out = all.len().saturating_sub(FIRST + LAST);
    let mut lines: Vec<String> = all.into_iter().map(|(_, line)| line).collect();
    if left_out > 0 {
        let more = next_command::command(&format!("show {run} --log"));
        let note = format!("  … {left_out} lines are left out here: {more}");
        lines.splice(FIRST..FIRST + left_out, [note.dimmed().to_string()]);
    }
    lines
}

fn changes(pursued: &GoalState) -> Vec<String> {
    let Some(seen) = &pursued.folder else { return Vec::new() };
    if seen.changes.is_empty() {
        return vec!["files: nothing was changed when it was last looked at".to_owned()];
    }
    let line = |change: &Change| {
        let path = safe::line(&change.path, 200);
        match change.kind {
            ChangeKind::Added => format!("  {} {path}", "A".green()),
            ChangeKind::Modified => format!("  {} {path}", "M".yellow()),
            ChangeKind::Deleted => format!("  {} {path}", "D".red()),
        }
    };
    let mut lines = vec!["files changed, when it was last looked at:".to_owned()];
    lines.extend(seen.changes.iter().take(MOST_FILES).map(line));
    if let Some(more) = seen.changes.len().checked_sub(MOST_FILES).filter(|more| *more > 0) {
        lines.push(format!("  and {more} more"));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    fn told(state: &RunView) -> String {
        let lines = lines(state, state.goal.as_ref().unwrap(), &|_| None, false);
        anstream::adapter::strip_str(&lines.join("\n")).to_string()
    }

    #[test]
    fn a_goal_reads_like_a_story() {
        insta::assert_snapshot!(told(&sample::goal_verified()), @r"

        goal: make the test suite pass
          reached when `cargo test` exits with 0 · risk=write_local · critic watches every 5 steps · at most 300 steps
          verified after 2 steps

          [1] run_command(command=cargo test) → err: exit code 101
          claim: all tests pass
          verify:fail (1) `cargo test` exited with 101
          [2] run_command(command=sed -i s/1/2/ src/a.rs) → ok: exit code 0
          critic:achieved steps 1–2 the tests pass now
          claim by the critic: the tests pass now
          ✓ verified: `cargo test` exits with 0

        steps: 1 ok, 1 err
        critic: 1 achieved
        cost: worker $0.04, 0 tokens, 0 calls · critic $0.0020, 0 tokens, 2 calls
        ");
    }

    #[test]
    fn of_a_long_goal_the_beginning_and_the_end_are_shown_and_the_rest_is_counted() {
        let mut state = sample::goal();
        let end = gadfly_engine::goal::StepEnd::Ok;
        let steps = (1..=500).map(|n| sample::goal_step(n, "command=true", end, "")).collect();
        sample::step(&mut state, steps, None);
        let said = told(&state);
        assert!(said.contains("[20] ") && said.contains("[421] ") && said.contains("[500] "), "{said}");
        assert!(!said.contains("[21] ") && !said.contains("[420] "), "{said}");
        assert!(said.contains("… 400 lines are left out here: gadfly show 0123456789 --log"), "{said}");
    }
}
