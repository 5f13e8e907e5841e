//! One run as a page shows it: how it stands as a whole, and a window of its rounds, steps and rail. What it
//! costs to read does not grow with the run: records are found by what they tell (`index`), and what they add up
//! to is in the newest checkpoint.

mod entries;
mod overview;
mod reader;
mod rounds;

use gadfly_engine::Plan;

use crate::encode::ChunkEnd;
use crate::journal::Journal;
use crate::lock;
use crate::read::ReadError;
use crate::rows::RunRow;
use crate::run_id::RunId;
use crate::view::RunView;

use reader::PageReader;

/// However much is asked for.
const MOST_ROUNDS: u32 = 200;
const MOST_ENTRIES: u32 = 1000;

/// Which part of a run's rounds, and of a goal's steps and rail, to show.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Window {
    /// So many rounds, at most 200; rounds that began together are not parted.
    pub rounds: u32,
    /// So many records with steps or something on the rail, at most 1000.
    pub entries: u32,
    /// What an earlier page said comes before it. None: the newest.
    pub rounds_before: Option<u32>,
    pub entries_before: Option<u32>,
}

impl Default for Window {
    fn default() -> Self {
        Self { rounds: 30, entries: 300, rounds_before: None, entries_before: None }
    }
}

impl Window {
    fn most_rounds(&self) -> usize {
        self.rounds.clamp(1, MOST_ROUNDS) as usize
    }

    fn most_entries(&self) -> usize {
        self.entries.clamp(1, MOST_ENTRIES) as usize
    }
}

/// A run as of now.
#[derive(Clone, PartialEq, Debug)]
pub struct RunPage {
    /// As `Journal::state` gives it, but `rounds`, `goal.steps` and `goal.rail` hold the window only. Numbers
    /// are those of the whole run.
    pub state: RunView,
    pub plan: Plan,
    /// The seq that the next record will have.
    pub next: u32,
    /// There are older rounds: ask again with this.
    pub rounds_before: Option<u32>,
    /// There are older steps or words on the rail: ask again with this.
    pub entries_before: Option<u32>,
    /// False: of warnings, questions, saved files, reports, decisions, violations and of what happened in a
    /// pipeline only the newest few hundred are there.
    pub all_told: bool,
    /// How many records were read for this page.
    pub records_read: u32,
}

impl Journal {
    /// A run as a page shows it, in one snapshot.
    pub fn page(&self, run: &RunId, window: &Window) -> Result<RunPage, ReadError> {
        let live = lock::live(self.inner.lock.dir());
        self.read(|conn| {
            let (snapshot, check) = (conn.unchecked_transaction()?, self.check());
            let row = RunRow::find(&snapshot, check, run)?;
            let end = ChunkEnd::of(&snapshot, check, run, row.number)?;
            let mut reader = PageReader::new(&snapshot, check, run, row.number, &end)?;
            let (next, mut whole) = (end.next, end.sums);
            row.name_state(&mut whole.summary, &live);
            let told = overview::read(&mut reader)?;
            let mut state = told.state;
            state.outcome = told.outcome;
            state.count_as(whole);
            let rounds = rounds::read(&mut reader, window)?;
            state.rounds = rounds.kept;
            let entries_before = match &mut state.goal {
                Some(goal) => entries::read(&mut reader, window, goal)?,
                None => None,
            };
            Ok(RunPage {
                state,
                plan: told.plan,
                next,
                rounds_before: rounds.before,
                entries_before,
                all_told: told.all,
                records_read: reader.read,
            })
        })
    }
}
