//! Meters of a goal: what is used of each cap, as bars of a fixed width; and the panel that stands below the
//! step log on a terminal. Lines only: whoever draws them takes them away again.

use gadfly_engine::Digest;
use gadfly_journal::view::GoalState;
use owo_colors::OwoColorize as _;

use super::described::DescribedLine;
use super::live::{cells, fitting};
use super::table::cost;

const BAR: usize = 10;
/// The newest entries of the rail that a panel shows, where there is room.
const NEWEST: usize = 4;
/// Narrower terminals get no bars.
const ROOM_FOR_BARS: usize = 60;

/// `1:05`, `61:00`, in minutes and seconds.
pub fn clock(ms: u64) -> String {
    let seconds = ms / 1000;
    format!("{}:{:02}", seconds / 60, seconds % 60)
}

/// One meter: what is used, of how much.
struct Meter {
    name: &'static str,
    shown: String,
    /// Used, and the cap.
    of: Option<(u64, u64)>,
}

/// `idle_ms` is the time since the last record, if something is at work.
fn meters(goal: &GoalState, idle_ms: u64) -> Vec<Meter> {
    let (used, caps) = (&goal.used, &goal.caps);
    let active = used.active_ms.saturating_add(if goal.is_at_work() { idle_ms } else { 0 });
    let at_least = if used.unknown { "≥ " } else { "" };
    let meter = |name, now: u64, cap: Option<u64>, shown: String| Meter {
        name,
        shown,
        of: cap.map(|cap| (now, cap)),
    };
    let capped = |now: String, cap: Option<String>| cap.map_or(now.clone(), |cap| format!("{now}/{cap}"));
    vec![
        meter(
            "steps",
            used.steps.into(),
            caps.steps.map(u64::from),
            capped(used.steps.to_string(), caps.steps.map(|cap| cap.to_string())),
        ),
        meter(
            "turns",
            used.turns.into(),
            caps.turns.map(u64::from),
            capped(used.turns.to_string(), caps.turns.map(|cap| cap.to_string())),
        ),
        meter("time", active, caps.active_ms, capped(clock(active), caps.active_ms.map(clock))),
        meter(
            "tokens",
            used.tokens,
            caps.tokens,
            capped(format!("{at_least}{}", used.tokens), caps.tokens.map(|cap| cap.to_string())),
        ),
        meter(
            "cost",
            used.money.0,
            caps.money.map(|cap| cap.0),
            capped(cost(used.money, used.unknown), caps.money.map(|cap| cap.to_string())),
        ),
    ]
}

impl Meter {
    fn words(&self) -> String {
        format!("{} {}", self.name, self.shown)
    }

    fn bar(&self) -> Option<String> {
        let (used, cap) = self.of?;
        let full = used
            .saturating_mul(BAR as u64)
            .checked_div(cap)
            .map_or(BAR, |full| usize::try_from(full).unwrap_or(BAR).min(BAR));
        Some(format!("{}{}", "█".repeat(full), "░".repeat(BAR - full)))
    }

    fn is_nearly_used_up(&self) -> bool {
        self.of.is_some_and(|(used, cap)| used.saturating_mul(10) >= cap.saturating_mul(9))
    }
}

/// All meters in words: `steps 12/300 · turns 14/400 · time 3:05/60:00 · …`.
pub fn words(goal: &GoalState) -> String {
    meters(goal, 0).iter().map(Meter::words).collect::<Vec<_>>().join(" · ")
}

/// The lines below the step log: the newest of the rail, then the meters; never wider or higher than there is room.
pub fn panel(
    goal: &GoalState,
    text: &dyn Fn(&Digest) -> Option<String>,
    idle_ms: u64,
    (width, rows): (usize, usize),
) -> Vec<String> {
    let meters = meters(goal, idle_ms);
    let mut below: Vec<String> = Vec::new();
    let (mut line, mut used) = (String::new(), 0);
    for meter in &meters {
        let bar =
            meter.bar().filter(|_| width >= ROOM_FOR_BARS).map(|bar| format!(" {bar}")).unwrap_or_default();
        let shown = fitting(format!("{}{bar}", meter.words()).chars(), width.saturating_sub(2));
        let size = shown.chars().map(cells).sum::<usize>();
        if used > 0 && used + 3 + size > width {
            below.push(std::mem::take(&mut line));
            used = 0;
        }
        line.push_str(if used == 0 { "  " } else { "   " });
        used += size + if used == 0 { 2 } else { 3 };
        line.push_str(&if meter.is_nearly_used_up() {
            shown.red().to_string()
        } else {
            shown.dimmed().to_string()
        });
    }
    below.push(line);
    below.truncate(rows);
    let room = rows.saturating_sub(below.len() + 1).min(NEWEST);
    let entries: Vec<DescribedLine> =
        goal.rail.iter().rev().filter_map(|entry| DescribedLine::of(&entry.what, text)).take(room).collect();
    let mut lines = Vec::new();
    if !entries.is_empty() {
        lines.push(
            fitting("── critic and verification ".chars().chain(std::iter::repeat_n('─', width)), width)
                .dimmed()
                .to_string(),
        );
        lines
            .extend(entries.iter().rev().map(|entry| format!("  {}", entry.fitted(width.saturating_sub(2)))));
    }
    lines.extend(below);
    lines
}

#[cfg(test)]
mod tests {
    use gadfly_engine::{Limits, Money};

    use super::*;
    use crate::report::sample;

    fn goal() -> GoalState {
        let mut goal = sample::goal_stuck().goal.unwrap();
        goal.caps = Limits {
            steps: Some(300),
            active_ms: Some(3_600_000),
            money: Some(Money(2_000_000_000)),
            ..goal.caps
        };
        goal
    }

    fn drawn(goal: &GoalState, width: usize, rows: usize) -> Vec<String> {
        let lines = panel(goal, &|_| None, 0, (width, rows));
        lines.iter().map(|line| anstream::adapter::strip_str(line).to_string()).collect()
    }

    #[test]
    fn a_panel_fits_into_every_terminal() {
        let goal = goal();
        for width in [20, 40, 80, 200] {
            for rows in [0, 1, 3, 24] {
                let lines = drawn(&goal, width, rows);
                assert!(lines.len() <= rows.max(1), "{width}×{rows}: {lines:#?}");
                for line in &lines {
                    assert!(line.chars().map(cells).sum::<usize>() <= width, "{width}: {line}");
                }
            }
        }
    }

    #[test]
    fn meters_say_what_is_used_of_what_and_what_is_not_known() {
        let mut goal = goal();
        goal.used.unknown = true;
        let wide = drawn(&goal, 200, 24).join("\n");
        assert!(wide.contains("steps 10/300 ░░░░░░░░░░"), "{wide}");
        assert!(wide.contains("cost ≥ $0.04/$2.00"), "{wide}");
        assert!(!drawn(&goal, 40, 24).join("\n").contains('░'), "no bars where there is no room");
        goal.used.steps = 295;
        assert!(
            panel(&goal, &|_| None, 0, (200, 24)).join("\n").contains("\u{1b}[31msteps 295/300"),
            "nearly used up"
        );
        goal.caps = Limits::default();
        assert!(words(&goal).starts_with("steps 295 · turns"), "without a cap there is nothing it is of");
    }

    #[test]
    fn the_newest_of_the_rail_stands_last() {
        let lines = drawn(&goal(), 120, 24);
        let stuck = lines.iter().position(|l| l.contains("critic:stuck")).unwrap();
        let paused = lines.iter().position(|l| l.contains("paused:")).unwrap();
        assert!(stuck < paused, "{lines:#?}");
    }
}
