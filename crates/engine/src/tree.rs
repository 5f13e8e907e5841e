//! A worker's folder as the engine knows it: what changed against what the run began with. The folder
//! itself, and how it is copied, restored and accepted, is the runtime's.

use serde::{Deserialize, Serialize};

use crate::conflict::Resolution;
use crate::digest::Digest;
use crate::effect::NodePath;
use crate::finding::Finding;
use crate::pipeline::Pattern;

/// How what is said in brackets after the output of a command begins, if it complained about what the sandbox refuses.
pub const IN_SANDBOX: &str = "[it ran in a sandbox:";

/// What a run's folder is made from. Frozen with the plan.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct WorkspacePlan {
    /// Absolute path of the user's project.
    pub project: String,
    /// Paths of the project that are linked into the folder although they are ignored.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub link: Vec<String>,
    /// As `link`, copied.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub copy: Vec<String>,
    /// A command that makes the folder ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prepare: Option<String>,
    /// There is no folder of its own: the work is done in the project itself, after a snapshot.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_place: bool,
    /// Every node has a folder of its own, made from the project as it is when the node first needs it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub per_node: bool,
    /// What agents make, as their registry names it: it counts as work although git ignores it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub makes: Vec<Pattern>,
    /// What they need: it is there to be read although git ignores it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<Pattern>,
}

/// A folder at one moment.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Tree {
    /// Digest of its manifest, a text that is stored under this name: what a verdict is bound to.
    pub digest: Digest,
    /// The unified diff against the beginning, as a text.
    pub diff: Digest,
    /// Every entry that differs from the beginning, by path.
    pub changes: Vec<Change>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Change {
    pub path: String,
    pub kind: ChangeKind,
    /// Unix permission bits, with the file type for links.
    pub mode: u32,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub binary: bool,
    pub bytes: u64,
    pub lines: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Digest>,
    /// Its content now. The text comes with the look, unless it is binary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Digest>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    Added,
    Modified,
    Deleted,
}

/// A look at the run's folder.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Look {
    /// None: the folder as it is now. Otherwise files of this earlier state are read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<Digest>,
    /// Files to read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Looked {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<Tree>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<FileSeen>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FileSeen {
    pub path: String,
    pub what: FileContent,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileContent {
    Text(Digest),
    /// It exists and is no text (a folder, say), or too large to be read.
    Opaque,
    Missing,
}

/// What a state of the folder has done to tests and to how they are run, against the beginning.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Examine {
    pub tree: Digest,
}

#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Examined {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// Changed files that could be read as what they are: of these there is nothing else to say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read: Vec<String>,
}

/// A command the engine has run in the folder: verify commands, the folder's `prepare`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Verify {
    /// A line for `sh -c`.
    pub command: String,
    /// The state the folder is in before each run; what a run changed is put back.
    pub tree: Digest,
    /// How often; the first failure ends it.
    pub runs: u32,
    pub timeout_ms: u64,
    /// It is held in the sandbox of a worker: it runs what a worker wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<HeldCommand>,
    /// In a folder made of exactly what would be delivered, not in the one that was worked in.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fresh: bool,
    /// Files that it must have written: evidence of what it ran, which is kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
}

impl Verify {
    /// Once, in the folder that was worked in, with the user's rights.
    pub const fn new(command: String, tree: Digest, timeout_ms: u64) -> Self {
        Self { command, tree, runs: 1, timeout_ms, held: None, fresh: false, evidence: Vec::new() }
    }
}

/// How far a command that is held may reach.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct HeldCommand {
    pub network: bool,
}

/// What came of a command.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Verified {
    pub runs: Vec<CommandRun>,
    /// Entries that running it changed; they were put back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<String>,
    /// What it wrote of the evidence that was wanted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Evidence>,
}

/// A file that a command wrote while it ran on a recorded state.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Evidence {
    pub path: String,
    pub digest: Digest,
    pub bytes: u64,
}

impl Verified {
    pub fn is_green(&self) -> bool {
        !self.runs.is_empty() && self.runs.iter().all(|r| r.end == RunEnd::Code(0))
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CommandRun {
    pub end: RunEnd,
    /// The end of what it printed.
    pub output: Digest,
    pub took_ms: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunEnd {
    Code(i32),
    Signal(i32),
    TimedOut,
}

impl std::fmt::Display for RunEnd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit code {code}"),
            Self::Signal(signal) => write!(f, "signal {signal}"),
            Self::TimedOut => f.write_str("timed out"),
        }
    }
}

/// Brings an approved tree to the user.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Accept {
    /// Exactly the tree that was judged.
    pub tree: Digest,
    pub how: Acceptance,
    /// What a person decided about files that changed on both sides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolution: Option<Resolution>,
    /// The node whose folder it is a state of, where nodes have their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<NodePath>,
    /// Of what changed in the tree only these paths; none: all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only: Option<Vec<String>>,
}

/// One commit on a new branch, of files that are in the checkout already: exactly these bytes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CommitFiles {
    pub files: Vec<crate::artifact::ArtifactFile>,
    /// Files that are gone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deleted: Vec<String>,
    /// Without a name it is `gadfly/RUN`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    pub message: String,
}

#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Acceptance {
    /// Into the checkout, as unstaged changes.
    #[default]
    Checkout,
    /// One commit on a new branch; the checkout, its index and HEAD stay as they are. Without a name the
    /// branch is `gadfly/RUN`.
    Commit { branch: Option<String>, message: String },
}
