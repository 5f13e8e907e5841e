//! The table laid for `score`: rows `typo` (-1 each, at most -5), `gap` (-10 each), `broken` (-30 once).

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::budget::Limits;
use crate::deduction::{Amount, DeductionRow, DeductionTable as Deductions, Level, Points};
use crate::digest::Digest;
use crate::event::EventKind;
use crate::judging::{PARTS, Seat};
use crate::plan::NodePlan;
use crate::protocol::harness::{Plays, TASK, Table};
use crate::protocol::score::settings::{EscalateTo, ROUNDS, ScoreSettings, THRESHOLD};
use crate::review::Review;
use crate::work::Work;

pub const RUBRIC: &str = "Be right and be brief.";
pub const DRAFT: &str = "The moon is made of rock.\nIt has no air.\nIts light is borrowed.\n";

impl Plays for ScoreSettings {
    fn root(&self) -> NodePlan {
        self.node_plan(Limits::default()).unwrap()
    }
}

pub fn deductions() -> Deductions {
    let row = |id: &str, points| DeductionRow {
        id: id.into(),
        category: None,
        text: format!("A {id}"),
        points,
        at: BTreeMap::new(),
    };
    let per = |each, max: Option<u32>| Points::Per {
        each: Amount::whole(each),
        unit: None,
        max: max.map(Amount::whole),
    };
    let rows = vec![
        row("typo", per(1, Some(5))),
        row("gap", per(10, None)),
        row("broken", Points::Flat(Amount::whole(30))),
    ];
    Deductions { rows, ..Deductions::default() }
}

pub fn seat(agent: &str, lens: Option<&str>) -> Seat {
    Seat { agent: agent.into(), fallback: None, lens: lens.map(str::to_owned) }
}

pub fn table() -> Table<ScoreSettings> {
    let settings = ScoreSettings {
        task: Digest::of(TASK.as_bytes()),
        rubric: Digest::of(RUBRIC.as_bytes()),
        table: Some(deductions()),
        severity: Level::High,
        invariants: None,
        references: Vec::new(),
        given: None,
        worker: Some("ann".into()),
        critics: vec![seat("cato", None)],
        rounds: ROUNDS,
        threshold: THRESHOLD,
        escalate_to: EscalateTo::User,
        stop_early: false,
        out: None,
        max_parts: PARTS,
        escalates: true,
        own_rubrics: std::collections::BTreeMap::new(),
        files: None,
    };
    let mut table = Table::seated(settings);
    table.bring(RUBRIC);
    table.secrets.push(TASK);
    table
}

/// Cato looks at facts, Dora at style.
pub fn two_critics() -> Table<ScoreSettings> {
    table().with(|s| s.critics = vec![seat("cato", Some("facts")), seat("dora", Some("style"))])
}

/// Critics only, with a draft the user brought.
pub fn review_of(draft: &str) -> Table<ScoreSettings> {
    let mut table = table();
    let draft = table.bring(draft);
    table.with(|s| {
        s.worker = None;
        s.given = Some(Work::Draft(draft));
    })
}

/// A report with these deductions: row, times, what it says.
pub fn report(list: &[(&str, u32, &str)]) -> String {
    let one = |(row, times, says): &(&str, u32, &str)| serde_json::json!({"fix": format!("mend {says}"), "row": row, "says": says, "times": times});
    serde_json::json!({"deductions": list.iter().map(one).collect::<Vec<_>>()}).to_string()
}

/// A report that takes off so many times ten points, under names that differ from round to round.
pub fn gaps(times: u32, what: &str) -> String {
    report(&[("gap", times, what)])
}

pub fn reviews(table: &Table<ScoreSettings>) -> Vec<Review> {
    let events = table.records.iter().flat_map(|(_, step)| &step.events);
    let reviews = events.filter_map(|e| match &e.what {
        EventKind::Reviewed { review, .. } => Some(review.clone()),
        _ => None,
    });
    reviews.collect()
}

/// `62`, `70 90`: the scores in the order of the reviews.
pub fn scores(table: &Table<ScoreSettings>) -> String {
    let mut out = String::new();
    for review in reviews(table) {
        let _ = write!(out, "{} ", review.score.map_or(0, |s| s.value));
    }
    out.trim_end().to_owned()
}
