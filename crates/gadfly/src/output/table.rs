//! Small things that stand in columns: ages, sizes, money, a table of runs.

use gadfly_engine::Money;
use gadfly_journal::Summary;
use owo_colors::OwoColorize as _;

use super::safe;

pub use gadfly_engine::event::words::{counted, size};

/// How long ago, in one unit: `3m`, `2h`, `5d`.
pub fn age(then_ms: u64, now_ms: u64) -> String {
    let seconds = now_ms.saturating_sub(then_ms) / 1000;
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m", seconds / 60),
        3600..86_400 => format!("{}h", seconds / 3600),
        _ => format!("{}d", seconds / 86_400),
    }
}

/// A moment of the wall clock, here.
pub fn moment(wall_ms: u64) -> String {
    let time = i64::try_from(wall_ms).ok().and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
    time.map_or_else(
        || "at an unknown time".to_owned(),
        |t| t.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S").to_string(),
    )
}

/// Money, with `≥` where the true amount is not known.
pub fn cost(money: Money, unknown: bool) -> String {
    if unknown { format!("≥ {money}") } else { money.to_string() }
}

/// `12400 tokens (8100 from cache)`.
pub fn tokens(all: u64, cached: u64) -> String {
    let from = if cached > 0 { format!(" ({cached} from cache)") } else { String::new() };
    format!("{all} tokens{from}")
}

/// Newest first, as it comes.
pub fn runs(summaries: &[Summary], now_ms: u64, undone: impl Fn(&Summary) -> bool) -> Vec<String> {
    let head = ["RUN", "STATE", "ROUNDS", "COST", "AGE", "TITLE"].map(str::to_owned);
    let rows = summaries.iter().map(|s| {
        let mut state = if s.overruled { format!("{} (overruled)", s.state) } else { s.state.clone() };
        if undone(s) {
            state.push_str(" (undone)");
        }
        [
            s.run.to_string(),
            state,
            if s.steps_max > 0 {
                format!("{}/{} steps", s.steps, s.steps_max)
            } else {
                format!("{}/{}", s.rounds, s.rounds_max)
            },
            cost(s.cost, s.cost_unknown),
            age(s.created_ms, now_ms),
            safe::line(&s.title, 60),
        ]
    });
    let rows: Vec<[String; 6]> = std::iter::once(head).chain(rows).collect();
    let mut widths = [0; 6];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.chars().count().max(*width);
        }
    }
    let draw = |(n, row): (usize, &[String; 6])| {
        let cells = row.iter().zip(widths).enumerate().map(|(i, (cell, width))| {
            let padded = if i == 5 { cell.clone() } else { format!("{cell:<width$}") };
            match (n, i) {
                (0, _) => padded.dimmed().to_string(),
                (_, 1) => state(&padded),
                _ => padded,
            }
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().enumerate().map(draw).collect()
}

/// A state in its colour.
pub fn state(text: &str) -> String {
    let class = text.trim_start();
    if class.starts_with("approved") {
        text.green().to_string()
    } else if class.starts_with("running") {
        text.cyan().to_string()
    } else if class.starts_with("halted") || class.starts_with("failed") {
        text.red().to_string()
    } else {
        text.yellow().to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_short() {
        assert_eq!(
            [age(0, 5_000), age(0, 125_000), age(0, 7_200_000), age(0, 200_000_000)],
            ["5s", "2m", "2h", "2d"]
        );
        assert_eq!(age(10, 5), "0s", "a clock that went back is no reason to fail");
    }

    #[test]
    fn what_is_not_known_is_said() {
        assert_eq!(cost(Money(0), true), "≥ $0.00");
        assert_eq!([counted(1, "item"), counted(2, "item")], ["1 item", "2 items"]);
    }

    #[test]
    fn what_came_from_a_cache_is_said_where_something_did() {
        assert_eq!(tokens(12_400, 8_100), "12400 tokens (8100 from cache)");
        assert_eq!(tokens(12_400, 0), "12400 tokens");
    }
}
