//! `pipeline_state.json`: how the pipeline stands, for programs and for a session that begins. A rendering; Gadfly
//! itself resumes from the journal.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::Number;

use super::ProjectView;
use super::text::{LocalZone, rfc3339};
use crate::shared_file::{self, SharedFileError};
use crate::view::{AgentStatus, FiledAgent};

const GENERATOR: &str = "gadfly";
const MOST_BACKUPS: u32 = 1000;

#[derive(Serialize)]
struct StateFile<'a> {
    project: &'a str,
    phase: Option<&'a str>,
    last_updated: String,
    agents_completed: Vec<Done<'a>>,
    agents_in_progress: Vec<ActiveAgent<'a>>,
    agents_pending: Vec<&'a str>,
    overall_score: Option<Number>,
    blocked_by: Option<String>,
    generator: &'static str,
    run: &'a str,
}

#[derive(Serialize)]
struct Done<'a> {
    agent: &'a str,
    critic: Option<&'a str>,
    score: Option<u32>,
    rounds: u32,
    artifact: Option<&'a str>,
}

#[derive(Serialize)]
struct ActiveAgent<'a> {
    agent: &'a str,
    critic: Option<&'a str>,
    current_round: u32,
    max_rounds: u32,
    last_score: Option<u32>,
    issues_remaining: &'a [String],
}

pub fn render(state: ProjectView<'_>) -> String {
    let with = |status: AgentStatus| state.agents().filter(move |agent| agent.status == status);
    // Somebody who is blocked is still at work, as far as a project is concerned.
    let at_work =
        state.agents().filter(|a| matches!(a.status, AgentStatus::InProgress | AgentStatus::Blocked));
    let overall = state.pipeline.gate.as_ref().and_then(|report| report.aggregate.overall);
    let overall = overall.and_then(|overall| Number::from_f64(f64::from(overall.0) / 100.0));
    let file = StateFile {
        project: &state.pipeline.project,
        phase: state.history.phase.as_deref(),
        last_updated: rfc3339(state.run.summary.updated_ms),
        agents_completed: with(AgentStatus::Completed).map(|agent| done(&agent)).collect(),
        agents_in_progress: at_work.map(|agent| in_progress(&agent)).collect(),
        agents_pending: with(AgentStatus::Pending).map(|agent| agent.agent).collect(),
        overall_score: overall,
        blocked_by: state.blocked_by(),
        generator: GENERATOR,
        run: state.run.summary.run.as_str(),
    };
    serde_json::to_string_pretty(&file).map_or_else(|_| String::new(), |json| json + "\n")
}

fn done<'a>(agent: &FiledAgent<'a>) -> Done<'a> {
    Done {
        agent: agent.agent,
        critic: agent.critic,
        score: agent.last_score,
        rounds: agent.round,
        artifact: agent.artifact.first().map(String::as_str),
    }
}

fn in_progress<'a>(agent: &FiledAgent<'a>) -> ActiveAgent<'a> {
    ActiveAgent {
        agent: agent.agent,
        critic: agent.critic,
        current_round: agent.round,
        max_rounds: agent.rounds_max,
        last_score: agent.last_score,
        issues_remaining: agent.open,
    }
}

/// Puts the file in place. One that somebody else wrote is kept beside it first; its new name comes back.
pub fn write(
    path: &Path,
    state: ProjectView<'_>,
    zone: &LocalZone,
) -> Result<Option<PathBuf>, SharedFileError> {
    let fail = |source| SharedFileError::Io { path: path.to_owned(), source };
    let folder = shared_file::parent(path);
    fs::create_dir_all(folder).map_err(fail)?;
    let _lock = shared_file::lock(folder)?;
    // What is too large to be ours is somebody else's, too.
    let (there, foreign) = match shared_file::read(path) {
        Ok(found) => (found.is_some(), found.is_some_and(|bytes| !is_ours(&bytes))),
        Err(SharedFileError::TooLarge { .. }) => (true, true),
        Err(e) => return Err(e),
    };
    let kept = if there && foreign {
        Some(keep(path, &zone.compact(state.run.summary.updated_ms)).map_err(fail)?)
    } else {
        None
    };
    shared_file::replace(path, render(state).as_bytes())?;
    Ok(kept)
}

fn is_ours(bytes: &[u8]) -> bool {
    let value: Result<serde_json::Value, _> = serde_json::from_slice(bytes);
    value.is_ok_and(|value| value.get("generator").and_then(|g| g.as_str()) == Some(GENERATOR))
}

/// The file under another name that nobody has. The first stays until it is replaced.
fn keep(path: &Path, moment: &str) -> io::Result<PathBuf> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    for n in 1..=MOST_BACKUPS {
        let more = if n == 1 { String::new() } else { format!("-{n}") };
        let backup = path.with_file_name(format!("{name}.backup-{moment}{more}"));
        match File::create_new(&backup) {
            Ok(mut to) => {
                io::copy(&mut File::open(path)?, &mut to)?;
                to.sync_all()?;
                return Ok(backup);
            }
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(e),
        }
    }
    Err(io::Error::new(io::ErrorKind::AlreadyExists, "there are too many backups of this file"))
}
