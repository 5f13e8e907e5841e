//! Receipts: a verdict as a file that is committed with the work it judges, so that a gate can be asked where the
//! journal is not. A receipt binds a score to bytes; who vouches for it, its signature says, if it has one.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read};
use std::path::{Component, Path};

use gadfly_engine::artifact::ArtifactFile;
use gadfly_engine::pipeline::PairVerdict;
use gadfly_engine::pipeline::verdict::OtherLens;
use gadfly_engine::{Digest, Manifest};
use serde::{Deserialize, Serialize};

use super::PROTOCOL;
use super::judges::VerdictJudge;
use super::statement::PAYLOAD;
use super::text::{file_name, one_line, rfc3339};
use crate::run_id::RunId;
use crate::shared_file::{self, SharedFileError};
use crate::signature::{Envelope, Signature, SignedBy, Signers, signed_by};
use crate::view::GivenVerdict;

/// Of one receipt; a pair with more files than fit is told so when it is written.
const LARGEST: u64 = 4 << 20;
const MOST_RECEIPTS: usize = 2_000;

/// All but `files` and `sha256`, which are a statement's subjects, is its predicate.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Receipt {
    #[serde(skip)]
    pub files: Vec<ArtifactFile>,
    /// By path, for other tools; ours go by the digest of `files`.
    #[serde(skip)]
    pub sha256: BTreeMap<String, String>,
    pub agent: String,
    pub critic: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lens: Option<String>,
    pub judge: VerdictJudge,
    pub score: u32,
    pub threshold: u32,
    pub rounds: u32,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub escalated: bool,
    pub artifact: Digest,
    pub rules: JudgedBy,
    pub reply: Digest,
    pub run: String,
    /// RFC 3339, in UTC.
    pub at: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other: Vec<OtherLens>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub made: Vec<ArtifactFile>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<Base>,
}

/// What work was judged by.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct JudgedBy {
    pub protocol: String,
    /// Of the protocol's rules.
    pub version: u32,
    pub rubric: Digest,
}

/// The commit that was checked out when the receipt was signed; the judged files lie on top of it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Base {
    #[serde(rename = "gitCommit")]
    pub commit: String,
    #[serde(rename = "gitTree")]
    pub tree: String,
}

/// A receipt that can count.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FoundReceipt {
    pub receipt: Receipt,
    pub signed_by: Option<SignedBy>,
}

/// A receipt that does not count, and why.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RefusedReceipt {
    /// The file's name.
    pub file: String,
    pub why: String,
}

impl Receipt {
    pub(super) fn new(run: &RunId, version: u32, given: &GivenVerdict) -> Self {
        let verdict = given.verdict.clone();
        Self {
            files: verdict.files,
            sha256: BTreeMap::new(),
            agent: verdict.agent,
            critic: verdict.critic,
            lens: verdict.lens,
            judge: given.judge.clone(),
            score: verdict.score,
            threshold: verdict.threshold,
            rounds: verdict.rounds,
            escalated: verdict.escalated,
            artifact: verdict.artifact,
            rules: JudgedBy { protocol: PROTOCOL.to_owned(), version, rubric: verdict.rubric },
            reply: verdict.reply,
            run: run.to_string(),
            at: rfc3339(given.at_ms),
            other: verdict.other,
            open: verdict.open,
            made: verdict.made,
            base: None,
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
            rubric: self.rules.rubric,
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

    /// What is signed: its type and its bytes.
    pub fn payload(&self) -> Result<(&'static str, Vec<u8>), serde_json::Error> {
        Ok((PAYLOAD, self.statement()?))
    }

    /// The file's content.
    pub fn render(&self, signature: Option<&Signature>) -> Result<String, serde_json::Error> {
        let envelope = Envelope::new(PAYLOAD, &self.statement()?, signature);
        Ok(serde_json::to_string_pretty(&envelope)? + "\n")
    }

    /// The same verdict, whatever was looked up about its files since.
    pub fn says_the_same(&self, other: &Self) -> bool {
        let bare = |receipt: &Self| Self { sha256: BTreeMap::new(), base: None, ..receipt.clone() };
        bare(self) == bare(other)
    }

    /// What is wrong with it; none if its score may count.
    fn problem(&self, name: &str) -> Option<String> {
        if Self::file_name(&self.agent) != name {
            return Some(format!("it is about `{}`: another file's name", one_line(&self.agent)));
        }
        if self.judge.is_canned() {
            return Some("its critic is scripted, and only the project names it: nobody judged".into());
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

    /// Writes it, unless a later one of the same agent is there, or the same one already signed.
    pub fn write(&self, folder: &Path, signature: Option<&Signature>) -> Result<(), SharedFileError> {
        let path = folder.join(Self::file_name(&self.agent));
        let fail = |source| SharedFileError::Io { path: path.clone(), source };
        let json = self.render(signature).map_err(|e| fail(io::Error::other(e)))?;
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
        let stays = read(&there, &Self::file_name(&self.agent)).is_ok_and(|(known, signatures)| {
            known.at > self.at || signature.is_none() && !signatures.is_empty() && known.says_the_same(self)
        });
        if stays { Ok(()) } else { shared_file::replace(&path, json.as_bytes()) }
    }
}

fn is_inside(path: &str) -> bool {
    !path.is_empty()
        && path.len() <= 4096
        && !path.contains('\\')
        && !path.chars().any(char::is_control)
        && Path::new(path).components().all(|part| matches!(part, Component::Normal(_)))
}

/// Every receipt of a folder, by agent, and those that do not count. A folder that is not there has none. With signers
/// (and the time), only what one of them signed counts; a signature that does not fit never does.
pub fn read_receipts(
    folder: &Path,
    signers: Option<(&Signers, u64)>,
) -> (Vec<FoundReceipt>, Vec<RefusedReceipt>) {
    let (mut found, mut refused) = (Vec::new(), Vec::new());
    let Ok(names) = fs::read_dir(folder) else { return (found, refused) };
    let names = names.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let is_json =
        |name: &String| !name.starts_with('.') && Path::new(name).extension().is_some_and(|e| e == "json");
    let mut names: Vec<String> = names.filter(is_json).take(MOST_RECEIPTS + 1).collect();
    names.sort();
    if names.len() > MOST_RECEIPTS {
        let why = format!("there are more than {MOST_RECEIPTS} receipts: none is read");
        return (found, vec![RefusedReceipt { file: folder.display().to_string(), why }]);
    }
    for name in names {
        let receipt = bytes(&folder.join(&name)).and_then(|bytes| {
            let (receipt, signatures) = read(&bytes, &name)?;
            let signed_by = signed_by(&signatures, signers)?;
            Ok(FoundReceipt { receipt, signed_by })
        });
        match receipt {
            Ok(receipt) => found.push(receipt),
            Err(why) => refused.push(RefusedReceipt { file: one_line(&name), why }),
        }
    }
    (found, refused)
}

/// One receipt, with its signatures: each fits, whoever made it.
fn read(bytes: &[u8], name: &str) -> Result<(Receipt, Vec<Signature>), String> {
    let envelope: Envelope = serde_json::from_slice(bytes).map_err(|e| {
        let is_older = serde_json::from_slice::<Older>(bytes).is_ok();
        if is_older { Older::REFUSED.to_owned() } else { one_line(&e.to_string()) }
    })?;
    let (payload, signatures) = envelope.open(PAYLOAD).map_err(|e| one_line(&e.to_string()))?;
    let receipt = Receipt::of_statement(&payload)?;
    receipt.problem(name).map_or(Ok((receipt, signatures)), Err)
}

/// What tells a receipt from before there were statements.
#[derive(Deserialize)]
struct Older {
    #[serde(rename = "format")]
    _format: u32,
    #[serde(rename = "artifact")]
    _artifact: Digest,
}

impl Older {
    const REFUSED: &str = "it has the format of receipts before they were in-toto statements, which this version does \
                           not read: have the work judged again";
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
