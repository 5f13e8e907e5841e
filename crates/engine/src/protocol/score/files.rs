//! A pair that works on files: what it is to make, what is judged of it, which commands have to be green.

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::pipeline::{Pattern, Product};

/// The files of a pair. It works in a folder of its own.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Files {
    /// Its name in the registry, for messages and verdicts.
    pub agent: String,
    /// What it has to make. Empty: whatever it changes.
    #[serde(default)]
    pub produces: Vec<Product>,
    #[serde(default)]
    pub output: Output,
    /// Files that are judged as they are, before anybody works: what is there already. Of a pair without a worker, all
    /// that is judged.
    #[serde(default)]
    pub there: Vec<String>,
    /// Files that were part of its artifact before.
    #[serde(default)]
    pub before: Vec<String>,
    /// What is still open from earlier verdicts: the worker begins with it.
    #[serde(default)]
    pub open: Vec<String>,
    #[serde(default)]
    pub also: Vec<Pattern>,
    #[serde(default)]
    pub unjudged: Vec<Pattern>,
    /// Who the worker is: the beginning of its briefs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity: Option<Digest>,
    /// Who the critic is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub critic_identity: Option<Digest>,
    #[serde(default)]
    pub verify: Vec<Command>,
    #[serde(default)]
    pub fixes: u32,
    #[serde(default)]
    pub completions: u32,
    #[serde(default)]
    pub pre_dispatch: Vec<Command>,
    #[serde(default)]
    pub post_completion: Vec<Command>,
    /// Nobody judges: what it makes is complete, or it is not.
    #[serde(default)]
    pub unjudged_pair: bool,
}

/// How a worker's output becomes files.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Output {
    /// It writes them itself.
    #[default]
    Files,
    /// Its reply is the one file it makes.
    Reply,
}

/// A command of the project, run in the pair's folder.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Command {
    pub line: String,
    pub timeout_ms: u64,
}
