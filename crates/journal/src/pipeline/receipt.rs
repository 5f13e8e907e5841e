//! Receipts: a verdict as a file that is committed with the work it judges, so that a gate can be asked where the
//! journal is not. A receipt binds a score to bytes; it does not prove who wrote it, so `--strict` wants the journal.

use std::fs;
use std::io::{self, Read};
use std::path::{Component, Path};

use gadfly_engine::artifact::Entry;
use gadfly_engine::pipeline::PairVerdict;
use gadfly_engine::pipeline::verdict::OtherLens;
use gadfly_engine::{Digest, Manifest};
use serde::{Deserialize, Serialize};

use super::state::Given;
use super::text::{file_name, one_line, rfc3339};
use crate::run_id::RunId;
use crate::shared_file::{self, SharedFileError};

pub const FORMAT: u32 = 1;
/// Of one receipt; a pair with more files than fit is told so when it is written.
const LARGEST: u64 = 4 << 20;
const MOST_RECEIPTS: usize = 2_000;

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Receipt {
    pub format: u32,
    pub agent: String,
    pub critic: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lens: Option<String>,
    #[serde(default)]
    pub model: Option<String>,
    pub score: u32,
    pub threshold: u32,
    pub rounds: u32,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub escalated: bool,
    pub artifact: Digest,
    pub files: Vec<Entry>,
    pub rubric: Digest,
    pub reply: Digest,
    pub run: String,
    /// RFC 3339, in UTC.
    pub at: String,
    #[serde(default)]
    pub other: Vec<OtherLens>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub made: Vec<Entry>,
}

/// A receipt that does not count, and why.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RefusedReceipt {
    /// The file's name.
    pub file: String,
    pub why: String,
}

impl Receipt {
    pub fn new(run: &RunId, given: &Given) -> Self {
        let verdict = given.verdict.clone();
        Self {
            format: FORMAT,
            agent: verdict.agent,
            critic: verdict.critic,
            lens: verdict.lens,
            model: given.model.clone(),
            score: verdict.score,
            threshold: verdict.threshold,
            rounds: verdict.rounds,
            escalated: verdict.escalated,
            artifact: verdict.artifact,
            files: verdict.files,
            rubric: verdict.rubric,
            reply: verdict.reply,
            run: run.to_string(),
            at: rfc3339(given.at_ms),
            other: verdict.other,
            open: verdict.open,
            made: verdict.made,
        }
    }

    pub fn verdict(self) -> PairVerdict {
        PairVerdict {
            agent: self.agent,
            critic: self.critic,
            lens: self.lens,
            score: self.score,
            threshold: self.threshold,
            rounds: self.rounds,
            escalated: self.escalated,
            artifact: self.artifact,
            files: self.files,
            rubric: self.rubric,
            reply: self.reply,
            open: self.open,
            other: self.other,
            rejected: false,
            made: self.made,
        }
    }

    /// Where the receipt of an agent lies, under the folder of receipts.
    pub fn file_name(agent: &str) -> String {
        format!("{}.json", file_name(agent))
    }

    /// What is wrong with it; none if its score may count.
    fn problem(&self, name: &str) -> Option<String> {
        if self.format != FORMAT {
            return Some(format!("its format is {}; this version reads {FORMAT}", self.format));
        }
        if Self::file_name(&self.agent) != name {
            return Some(format!("it is about `{}`: another file's name", one_line(&self.agent)));
        }
        let scores = self.other.iter().map(|other| other.score).chain([self.score, self.threshold]);
        if scores.max() > Some(100) {
            return Some("a score is over 100".into());
        }
        if self.files.is_empty() {
            return Some("it names no file, so nothing binds its score".into());
        }
        let stray = self.files.iter().chain(&self.made).find(|entry| !is_inside(&entry.path));
        if let Some(entry) = stray {
            return Some(format!("`{}` is no path of a project", one_line(&entry.path)));
        }
        let mut paths: Vec<&str> = self.files.iter().map(|entry| entry.path.as_str()).collect();
        paths.sort_unstable();
        if paths.windows(2).any(|two| two[0] == two[1]) {
            return Some("it names a file twice".into());
        }
        if Manifest::new(self.files.clone()).digest() != self.artifact {
            return Some("its files are not those that were judged: the digest differs".into());
        }
        None
    }

    /// Writes it, unless a later one of the same agent is there.
    pub fn write(&self, folder: &Path) -> Result<(), SharedFileError> {
        let path = folder.join(Self::file_name(&self.agent));
        let fail = |source| SharedFileError::Io { path: path.clone(), source };
        let mut json = serde_json::to_string_pretty(self).map_err(|e| fail(io::Error::other(e)))?;
        json.push('\n');
        if json.len() as u64 > LARGEST {
            return Err(SharedFileError::TooLarge { path });
        }
        fs::create_dir_all(folder).map_err(fail)?;
        let _lock = shared_file::lock(folder)?;
        let there = shared_file::read(&path)?.unwrap_or_default();
        if there == json.as_bytes() {
            return Ok(());
        }
        // A run that is taken up again must not bring back what a later one replaced. The times sort as text.
        let known = serde_json::from_slice::<Self>(&there).ok();
        let name = Self::file_name(&self.agent);
        let later = known.is_some_and(|known| known.problem(&name).is_none() && known.at > self.at);
        if later { Ok(()) } else { shared_file::replace(&path, json.as_bytes()) }
    }
}

fn is_inside(path: &str) -> bool {
    !path.is_empty()
        && path.len() <= 4096
        && !path.contains('\\')
        && !path.chars().any(char::is_control)
        && Path::new(path).components().all(|part| matches!(part, Component::Normal(_)))
}

/// Every receipt of a folder, by agent, and those that do not count. A folder that is not there has none.
pub fn read_receipts(folder: &Path) -> (Vec<Receipt>, Vec<RefusedReceipt>) {
    let (mut read, mut refused) = (Vec::new(), Vec::new());
    let Ok(found) = fs::read_dir(folder) else { return (read, refused) };
    let names = found.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let is_json =
        |name: &String| !name.starts_with('.') && Path::new(name).extension().is_some_and(|e| e == "json");
    let mut names: Vec<String> = names.filter(is_json).take(MOST_RECEIPTS + 1).collect();
    names.sort();
    if names.len() > MOST_RECEIPTS {
        let why = format!("there are more than {MOST_RECEIPTS} receipts: none is read");
        return (read, vec![RefusedReceipt { file: folder.display().to_string(), why }]);
    }
    for name in names {
        let receipt = bytes(&folder.join(&name)).and_then(|bytes| {
            let receipt: Receipt = serde_json::from_slice(&bytes).map_err(|e| one_line(&e.to_string()))?;
            receipt.problem(&name).map_or(Ok(receipt), Err)
        });
        match receipt {
            Ok(receipt) => read.push(receipt),
            Err(why) => refused.push(RefusedReceipt { file: one_line(&name), why }),
        }
    }
    (read, refused)
}

fn bytes(path: &Path) -> Result<Vec<u8>, String> {
    let found = path.symlink_metadata().map_err(|e| e.to_string())?;
    if !found.is_file() {
        return Err("it is not a regular file".into());
    }
    let mut bytes = Vec::new();
    let file = fs::File::open(path).map_err(|e| e.to_string())?;
    file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(|e| e.to_string())?;
    if bytes.len() as u64 > LARGEST { Err(format!("it has more than {LARGEST} bytes")) } else { Ok(bytes) }
}
