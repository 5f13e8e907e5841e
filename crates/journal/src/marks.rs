//! What a record tells, as kinds that can be found without reading it. A page reads the newest records of a
//! kind, so that a run of any length opens alike. A function of the record alone; what a kind means for a
//! reader is the reader's business.

use gadfly_engine::event::Happened;
use gadfly_engine::input::What;
use gadfly_engine::{EffectKind, Input, Reply, Step};
use rusqlite::{Connection, params};

use crate::state::belongs_on_rail;

/// Stored as these numbers: a new kind is a new number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Kind {
    /// Seldom and of lasting interest: the plan, warnings, files saved, decisions, outcomes.
    Told = 0,
    /// A question to a person, or what they said.
    Asked = 1,
    Pipeline = 2,
    /// Something of a round; `Begun` if one starts.
    Round = 3,
    Begun = 4,
    Step = 5,
    Rail = 6,
    /// The folder was looked at.
    Looked = 7,
}

const KINDS: [Kind; 8] =
    [Kind::Told, Kind::Asked, Kind::Pipeline, Kind::Round, Kind::Begun, Kind::Step, Kind::Rail, Kind::Looked];

/// The kinds of one record.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Marks(u8);

impl Marks {
    pub(crate) fn of(input: &Input, step: &Step) -> Self {
        let mut marks = Self::default();
        match &input.what {
            What::Started(_) | What::Resumed { .. } => marks.add(Kind::Told),
            What::Answered { .. } => marks.add(Kind::Asked),
            What::Replied { reply: Reply::Looked(looked), .. } if looked.tree.is_some() => {
                marks.add(Kind::Looked);
            }
            What::Replied { .. } | What::Observed { .. } | What::Controlled(_) => {}
        }
        for event in &step.events {
            marks.happened(&event.what);
        }
        if step.effects.iter().any(|effect| matches!(effect.kind, EffectKind::Ask(_))) {
            marks.add(Kind::Asked);
        }
        if step.outcome.is_some() {
            marks.add(Kind::Told);
        }
        marks
    }

    fn happened(&mut self, what: &Happened) {
        if matches!(what, Happened::Pipeline(_)) {
            return self.add(Kind::Pipeline);
        }
        if belongs_on_rail(what) {
            self.add(Kind::Rail);
        }
        match what {
            Happened::RoundStarted { .. } => {
                self.add(Kind::Round);
                self.add(Kind::Begun);
            }
            // The try before the first paid call is no part of a round.
            Happened::VerifyRan { round: 0, .. }
            | Happened::Saved { .. }
            | Happened::Warned { .. }
            | Happened::Decided { .. }
            | Happened::Summarised { .. }
            | Happened::Violated { .. }
            | Happened::Reported { .. }
            | Happened::Accepted { .. }
            | Happened::GoalSet { .. }
            | Happened::LimitsRaised { .. }
            | Happened::AgentChanged { .. } => self.add(Kind::Told),
            Happened::DraftMade { .. }
            | Happened::ChangedUnasked { .. }
            | Happened::Reviewed { .. }
            | Happened::Stalled { .. }
            | Happened::RejectionOverruled { .. }
            | Happened::VerifyRan { .. }
            | Happened::Routed { .. }
            | Happened::Escalated { .. }
            | Happened::Deferred { .. }
            | Happened::RoundEnded { .. } => self.add(Kind::Round),
            Happened::Asked { .. } | Happened::PersonSaid { .. } => self.add(Kind::Asked),
            Happened::Stepped { .. } => self.add(Kind::Step),
            _ => {}
        }
    }

    const fn add(&mut self, kind: Kind) {
        self.0 |= 1 << kind as u8;
    }

    pub(crate) fn insert(self, conn: &Connection, run: i64, seq: u32) -> rusqlite::Result<()> {
        for kind in KINDS.into_iter().filter(|kind| self.0 & (1 << *kind as u8) != 0) {
            let sql = "INSERT INTO marks VALUES(?1, ?2, ?3)";
            conn.prepare_cached(sql)?.execute(params![run, kind as u8, seq])?;
        }
        Ok(())
    }
}

/// A record that only says how something goes on: nothing is added up from it but time.
pub(crate) fn is_quiet(input: &Input, step: &Step) -> bool {
    matches!(input.what, What::Observed { .. })
        && step.events.is_empty()
        && step.effects.is_empty()
        && step.outcome.is_none()
}

/// Up to `most` records of a kind in `from..before`, the newest first.
pub(crate) fn newest(
    conn: &Connection,
    run: i64,
    kind: Kind,
    within: std::ops::Range<u32>,
    most: usize,
) -> rusqlite::Result<Vec<u32>> {
    let sql = "SELECT seq FROM marks WHERE run = ?1 AND kind = ?2 AND seq >= ?3 AND seq < ?4
               ORDER BY seq DESC LIMIT ?5";
    found(conn, sql, run, kind, within, most)
}

/// Up to `most` records of a kind in `from..before`, the oldest first.
pub(crate) fn oldest(
    conn: &Connection,
    run: i64,
    kind: Kind,
    within: std::ops::Range<u32>,
    most: usize,
) -> rusqlite::Result<Vec<u32>> {
    let sql = "SELECT seq FROM marks WHERE run = ?1 AND kind = ?2 AND seq >= ?3 AND seq < ?4
               ORDER BY seq LIMIT ?5";
    found(conn, sql, run, kind, within, most)
}

fn found(
    conn: &Connection,
    sql: &str,
    run: i64,
    kind: Kind,
    within: std::ops::Range<u32>,
    most: usize,
) -> rusqlite::Result<Vec<u32>> {
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    let mut rows = conn.prepare_cached(sql)?;
    let seqs = rows.query_map(params![run, kind as u8, within.start, within.end, most], |r| r.get(0))?;
    seqs.collect()
}

#[cfg(test)]
mod tests {
    use crate::schema;

    #[test]
    fn the_newest_of_a_kind_are_found_without_walking_the_run() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal.db");
        schema::prepare(&path, schema::File::Journal).unwrap();
        let conn = schema::connect(&path, schema::Use::Read).unwrap();
        let plan = |tests: &str| -> String {
            let sql = format!("EXPLAIN QUERY PLAN SELECT seq FROM marks WHERE {tests} ORDER BY seq DESC");
            conn.query_row(&sql, [], |r| r.get(3)).unwrap()
        };
        let found = plan("run = 1 AND kind = 2 AND seq >= 3 AND seq < 4");
        assert_eq!(found, "SEARCH marks USING PRIMARY KEY (run=? AND kind=? AND seq>? AND seq<?)");
        // Without the run it would be a walk.
        assert!(plan("kind = 2 AND seq < 4").starts_with("SCAN marks"));
    }
}
