//! What a run will do, as typed values: what it is about, who takes part, what it runs, writes, reads and contacts.
//!
//! Each protocol fills the manifest from its own settings. Everybody else asks the manifest, never the settings: what the
//! user has to agree to, summaries, pages and logs. The machine holds a protocol to it: a command or a file that its
//! manifest does not name is refused.

use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use crate::digest::Digest;
use crate::judging::Seat;
use crate::plan::{NodePlan, Plan, Target};
use crate::protocol::Protocols;
use crate::tool::Risk;
use crate::tree::WorkspacePlan;
use crate::work::Work;

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RunManifest {
    /// What was asked for.
    pub task: Option<Digest>,
    /// What the work is judged by, in words.
    pub criteria: Vec<String>,
    /// Who takes part, the worker first.
    pub seats: Vec<PlannedSeat>,
    /// How often the work may be judged. None where nobody counts rounds.
    pub rounds: Option<u32>,
    /// The user's file that the run is about: what a review judges, or where a result goes.
    pub file: Option<String>,
    /// Where its worker works, if it is told.
    pub root: Option<String>,
    pub runs: Vec<PlannedCommand>,
    pub writes: Vec<PlannedWrite>,
    pub reads: Vec<PlannedRead>,
    pub contacts: Vec<Contact>,
    /// The most its workers may do without asking, where they act by themselves.
    pub risk: Option<Risk>,
    /// The phase of a project that works in phases.
    pub phase: Option<PlannedPhase>,
    /// Criteria that earlier runs put off.
    pub put_off: Vec<String>,
    /// Everything by which the work is judged, as one digest: its settings and caps without what is judged, who works on it
    /// and where it goes.
    pub rules: Option<Digest>,
}

/// One agent's part in a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlannedSeat {
    pub job: Job,
    pub agent: String,
    pub lens: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Job {
    Worker,
    /// Works from the second round on.
    Fixer,
    /// Finds out what is missing.
    Researcher,
    /// Decides where a pair does not converge.
    Decider,
    /// Drafts the plan of a pipeline.
    Planner,
    Critic,
    /// Judges where a critic cannot be reached.
    FallbackCritic,
    /// Says whether a goal is reached.
    Judge,
}

impl Job {
    /// What this agent says can let work pass.
    pub const fn judges(self) -> bool {
        matches!(self, Self::Critic | Self::FallbackCritic | Self::Judge)
    }
}

/// A line for `sh -c`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlannedCommand {
    pub purpose: Purpose,
    pub line: String,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Purpose {
    /// Makes a worker's folder ready.
    Prepare,
    /// Checks a worker's files.
    Verify,
    /// Says whether a goal is reached.
    Until,
    /// Belongs to an event of a pipeline, by the event's name.
    Hook(&'static str),
    /// Belongs to a gate, by its name.
    Gate(String),
}

/// A place of the user's that a run writes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PlannedWrite {
    /// The file its result goes to.
    Result(String),
    /// A log that other runs write to as well.
    SharedLog(String),
    /// A folder for its reports.
    Reports(String),
    /// The status of a task in the project's own list, by the task's id.
    TaskStatus(String),
    /// The project an approved tree is brought to.
    Project(String),
    /// The same project, while the worker is at work in it.
    InPlace(String),
    /// The files by which a project shows how its pipeline stands.
    State(StatePlaces),
}

impl PlannedWrite {
    pub fn path(&self) -> &str {
        match self {
            Self::Result(path)
            | Self::SharedLog(path)
            | Self::Reports(path)
            | Self::TaskStatus(path)
            | Self::Project(path)
            | Self::InPlace(path) => path,
            Self::State(places) => &places.root,
        }
    }
}

/// Where the files go by which a project shows how its pipeline stands. Absolute paths.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct StatePlaces {
    /// Nothing is written outside this folder.
    pub root: String,
    pub dir: String,
    pub session: String,
    /// The run is about the whole project: its state file tells of it.
    pub state: bool,
}

/// A place of the user's that a run reads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PlannedRead {
    /// A file that is judged.
    Judged(String),
    /// An ignored path that workers reach through a link.
    Linked(String),
    /// An ignored path that workers get a copy of.
    Copied(String),
}

/// What a run talks to beside its agents.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Contact {
    /// An address that is fetched to see whether a goal is reached.
    Url(String),
    /// A configured server of tools, by name.
    Server(String),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlannedPhase {
    pub name: String,
    /// The phase whose skill was loaded.
    pub skill: Option<String>,
}

/// Settings as they are written, some of them left out.
struct Without<'a> {
    settings: &'a Value,
    work: &'a [&'a str],
}

impl Serialize for Without<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.settings {
            Value::Object(map) => {
                to.collect_map(map.iter().filter(|(key, _)| !self.work.contains(&key.as_str())))
            }
            other => other.serialize(to),
        }
    }
}

impl RunManifest {
    /// What a plan of a shipped protocol will do. Nothing, if its settings cannot be read: such a plan cannot begin.
    pub fn of(plan: &Plan) -> Self {
        Protocols::shipped().manifest(plan).unwrap_or_default()
    }

    pub fn sit(mut self, job: Job, agent: Option<&str>) -> Self {
        let seat = |agent: &str| PlannedSeat { job, agent: agent.to_owned(), lens: None };
        self.seats.extend(agent.map(seat));
        self
    }

    /// Judged by the settings of this plan, `work` among them left out.
    pub fn ruled_by(mut self, plan: &NodePlan, work: &[&str]) -> Self {
        let settings = Without { settings: &plan.settings, work };
        let all = serde_json::to_vec(&(&plan.protocol, settings, plan.limits));
        self.rules = all.ok().map(|all| Digest::of(&all));
        self
    }

    /// The critics' seats, and whoever stands in for one of them.
    pub fn judged_by(mut self, critics: &[Seat]) -> Self {
        let seat = |critic: &Seat| PlannedSeat {
            job: Job::Critic,
            agent: critic.agent.clone(),
            lens: critic.lens.clone(),
        };
        self.seats.extend(critics.iter().map(seat));
        for fallback in critics.iter().filter_map(|critic| critic.fallback.as_deref()) {
            let seated = self.seats.iter().any(|s| s.job == Job::FallbackCritic && s.agent == fallback);
            if !seated {
                self = self.sit(Job::FallbackCritic, Some(fallback));
            }
        }
        self
    }

    pub fn running<'a>(mut self, purpose: &Purpose, lines: impl IntoIterator<Item = &'a String>) -> Self {
        let command = |line: &String| PlannedCommand { purpose: purpose.clone(), line: line.clone() };
        self.runs.extend(lines.into_iter().map(command));
        self
    }

    pub fn judging(mut self, given: Option<&Work>) -> Self {
        if let Some(Work::Files(files)) = given {
            self.reads.extend(files.iter().map(|file| PlannedRead::Judged(file.path.clone())));
        }
        self
    }

    /// A review names the file it judges as its target, and writes none.
    pub fn writing(mut self, out: Option<&Target>) -> Self {
        self.file = out.map(|out| out.path.clone());
        if self.worker().is_some() {
            self.writes.extend(out.map(|out| PlannedWrite::Result(out.path.clone())));
        }
        self
    }

    pub(crate) fn in_folder(mut self, folder: &WorkspacePlan) -> Self {
        self.reads.extend(folder.link.iter().cloned().map(PlannedRead::Linked));
        self.reads.extend(folder.copy.iter().cloned().map(PlannedRead::Copied));
        let project = folder.project.clone();
        self.writes.push(if folder.in_place {
            PlannedWrite::InPlace(project)
        } else {
            PlannedWrite::Project(project)
        });
        let prepare = folder
            .prepare
            .iter()
            .map(|line| PlannedCommand { purpose: Purpose::Prepare, line: line.clone() });
        self.runs = prepare.chain(self.runs).collect();
        self
    }

    pub fn worker(&self) -> Option<&str> {
        self.seated(Job::Worker)
    }

    /// The first who has this job.
    pub fn seated(&self, job: Job) -> Option<&str> {
        self.seats.iter().find(|seat| seat.job == job).map(|seat| seat.agent.as_str())
    }

    /// Everybody who has this job.
    pub fn all_seated(&self, job: Job) -> impl Iterator<Item = &str> {
        self.seats.iter().filter(move |seat| seat.job == job).map(|seat| seat.agent.as_str())
    }

    /// Every command line, once.
    pub fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for command in &self.runs {
            if !lines.contains(&command.line) {
                lines.push(command.line.clone());
            }
        }
        lines
    }

    /// Whether a command is among what the run may have run.
    pub fn names_command(&self, line: &str) -> bool {
        self.runs.iter().any(|command| command.line == line)
    }

    /// The user's file that the result goes to.
    pub fn result(&self) -> Option<&str> {
        self.writes.iter().find_map(|write| match write {
            PlannedWrite::Result(path) => Some(path.as_str()),
            _ => None,
        })
    }

    /// The project's folder, if the run's work goes there.
    pub fn project(&self) -> Option<&str> {
        self.writes.iter().find_map(|write| match write {
            PlannedWrite::Project(path) | PlannedWrite::InPlace(path) => Some(path.as_str()),
            _ => None,
        })
    }
}
