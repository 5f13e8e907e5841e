//! What a project learns from its runs, once a person agreed: a `[LEARN:tag]` line in its memory and one among the
//! gotchas of a skill. Nothing happens by itself, and nothing is asked twice.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use gadfly_engine::Digest;
use gadfly_engine::pipeline::learning::Suggestion;
use serde::{Deserialize, Serialize};

use super::text::{file_name, one_line};
use crate::journal::Journal;
use crate::read::ReadError;
use crate::run_id::RunId;
use crate::shared_file::{self, SharedFileError};

const FILE: &str = "learned.json";
const FORMAT: u32 = 1;

#[derive(Debug, thiserror::Error)]
pub enum LearnError {
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    Write(#[from] SharedFileError),
    #[error("{path} cannot be understood: {message}. Move it away to decide anew")]
    Damaged { path: PathBuf, message: String },
    #[error("`{id}` was {as_what} already")]
    Decided { id: String, as_what: &'static str },
    #[error("nothing with the id `{id}` is suggested: `gadfly learn` lists what is")]
    Unknown { id: String },
}

/// How a person decided about a suggestion.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decided {
    Accepted,
    Rejected,
}

/// A suggestion of some run; one that several runs made stands once, with the first of them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Suggested {
    pub id: String,
    pub run: RunId,
    pub at_ms: u64,
    pub suggestion: Suggestion,
    /// None while it is open.
    pub decided: Option<Decided>,
}

/// Where accepted suggestions go.
#[derive(Clone, Copy, Debug)]
pub struct Accepting<'a> {
    /// `MEMORY.md` of the project, or `.gadfly/memory.md`.
    pub memory: &'a Path,
    /// The skill whose gotchas it joins, if there is one.
    pub skill: Option<&'a str>,
}

#[derive(Serialize, Deserialize)]
struct Learned {
    format: u32,
    #[serde(default)]
    decided: BTreeMap<String, LearningLine>,
}

#[derive(Serialize, Deserialize)]
struct LearningLine {
    as_what: Decided,
    text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    skill: Option<String>,
    /// When: lines keep the order they were accepted in.
    nth: u32,
}

impl Journal {
    /// What the runs of this store suggest, the oldest first, with what was decided about it.
    pub fn suggested(&self) -> Result<Vec<Suggested>, LearnError> {
        let learned = Learned::read(&self.dir().join(FILE))?;
        let mut seen = BTreeSet::new();
        let mut all = Vec::new();
        for noted in self.noted()? {
            for suggestion in noted.suggestions {
                let id = id(&suggestion);
                if !seen.insert(id.clone()) {
                    continue;
                }
                let decided = learned.decided.get(&id).map(|line| line.as_what);
                let (run, at_ms) = (noted.run.clone(), noted.at_ms);
                all.push(Suggested { id, run, at_ms, suggestion, decided });
            }
        }
        Ok(all)
    }

    /// Takes a suggestion into the project's memory. Its line comes back.
    pub fn accept_suggestion(&self, id: &str, into: &Accepting<'_>) -> Result<String, LearnError> {
        let line = self.decide(id, Decided::Accepted, into.skill)?;
        self.spread(into)?;
        Ok(line)
    }

    pub fn reject_suggestion(&self, id: &str) -> Result<(), LearnError> {
        self.decide(id, Decided::Rejected, None).map(drop)
    }

    fn decide(&self, id: &str, as_what: Decided, skill: Option<&str>) -> Result<String, LearnError> {
        let path = self.dir().join(FILE);
        let all = self.suggested()?;
        let found = all.iter().find(|suggested| suggested.id == id);
        let found = found.ok_or_else(|| LearnError::Unknown { id: one_line(id) })?;
        let _lock = shared_file::lock(shared_file::parent(&path))?;
        let mut learned = Learned::read(&path)?;
        if let Some(known) = learned.decided.get(id) {
            // A crash may have come between deciding and spreading: the same again is no contradiction.
            if known.as_what == as_what {
                return Ok(known.text.clone());
            }
            let as_what = if known.as_what == Decided::Accepted { "accepted" } else { "rejected" };
            return Err(LearnError::Decided { id: id.to_owned(), as_what });
        }
        let line = learn_line(&found.suggestion);
        let nth = u32::try_from(learned.decided.len()).unwrap_or(u32::MAX);
        let decided = LearningLine { as_what, text: line.clone(), skill: skill.map(str::to_owned), nth };
        learned.decided.insert(id.to_owned(), decided);
        learned.write(&path)?;
        Ok(line)
    }

    /// Brings what was accepted into the memory and the gotchas: our block there, and no other byte.
    fn spread(&self, into: &Accepting<'_>) -> Result<(), LearnError> {
        let learned = Learned::read(&self.dir().join(FILE))?;
        let mut accepted: Vec<&LearningLine> =
            learned.decided.values().filter(|line| line.as_what == Decided::Accepted).collect();
        accepted.sort_by_key(|line| line.nth);
        let block = |lines: &mut dyn Iterator<Item = &&LearningLine>| {
            lines.flat_map(|line| [line.text.as_str(), "\n"]).collect::<String>()
        };
        let ours = self.dir().join("shared");
        shared_file::write_block(into.memory, &ours.join("memory"), None, &block(&mut accepted.iter()))?;
        if let Some(skill) = into.skill {
            let of_skill = &mut accepted.iter().filter(|line| line.skill.as_deref() == Some(skill));
            let name = file_name(skill);
            let gotchas = gotchas(self.dir(), skill);
            let memory = ours.join(format!("gotchas-{name}"));
            shared_file::write_block(&gotchas, &memory, Some("# Gotchas learned here"), &block(of_skill))?;
        }
        Ok(())
    }
}

/// The gotchas of a skill that were learned here; it joins the skill's own.
pub fn gotchas(store: &Path, skill: &str) -> PathBuf {
    store.join("gotchas").join(format!("{}.md", file_name(skill)))
}

fn learn_line(suggestion: &Suggestion) -> String {
    let tag = suggestion.tag.name().to_lowercase();
    one_line(&format!("[LEARN:{tag}] {} --- {}", suggestion.text, suggestion.action)).replace('<', "&lt;")
}

/// What two runs suggest in the same words is the same.
fn id(suggestion: &Suggestion) -> String {
    let parts = [suggestion.tag.name(), &suggestion.agent, &suggestion.text, &suggestion.action];
    Digest::of(parts.join("\0").as_bytes()).short()
}

impl Learned {
    fn read(path: &Path) -> Result<Self, LearnError> {
        let Some(bytes) = shared_file::read(path)? else {
            return Ok(Self { format: FORMAT, decided: BTreeMap::new() });
        };
        let damaged = |message: String| LearnError::Damaged { path: path.to_owned(), message };
        let learned: Self = serde_json::from_slice(&bytes).map_err(|e| damaged(e.to_string()))?;
        if learned.format == FORMAT {
            Ok(learned)
        } else {
            Err(damaged(format!("its format is {}; this version reads {FORMAT}", learned.format)))
        }
    }

    fn write(&self, path: &Path) -> Result<(), LearnError> {
        let damaged =
            |e: serde_json::Error| LearnError::Damaged { path: path.to_owned(), message: e.to_string() };
        let json = serde_json::to_vec_pretty(self).map_err(damaged)?;
        Ok(shared_file::replace(path, &json)?)
    }
}
