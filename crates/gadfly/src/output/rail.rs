//! The steps of a goal in colour, the same while it is watched, followed and looked back at. What is said beside them is
//! `described`.

use gadfly_engine::goal::{ARGS, GoalStep, PREVIEW, StepEnd};
use owo_colors::{OwoColorize as _, Style};

use super::safe;

/// A step that takes longer says how long.
const LONG_STEP_MS: u64 = 5_000;

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

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
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
}
