//! What a loop is about at the moment: a text, files the user brought, or the state of a folder. The
//! protocols that judge treat all three alike.

use serde::{Deserialize, Serialize};

use crate::artifact::{ArtifactFile, Manifest};
use crate::budget::Usage;
use crate::corpus::Corpus;
use crate::digest::Digest;
use crate::effect::{CallFailure, FailureKind};
use crate::event::EventKind;
use crate::judging::Subject;
use crate::machine::{AgentAnswer, Cx};
use crate::reading::reasoning;
use crate::reading::status;
use crate::text::Texts;
use crate::tree::{ChangeKind, Tree};

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Work {
    /// One text.
    Draft(Digest),
    /// Files as they are.
    Files(Vec<ArtifactFile>),
    /// Files by what changed in them.
    Tree(Tree),
}

impl Work {
    /// The draft in a worker's reply: all of it, but for reasoning printed before the answer.
    pub fn drafted(answer: &AgentAnswer, cx: &mut Cx<'_>) -> Result<Self, CallFailure> {
        let reply = cx.text(&answer.text);
        let body = reasoning::without_leading(reply);
        if body.trim().is_empty() {
            let message = "the worker's reply holds no draft".to_owned();
            return Err(CallFailure { kind: FailureKind::BadReply, message, usage: Usage::default() });
        }
        if body.len() == reply.len() {
            return Ok(Self::Draft(answer.text));
        }
        let body = body.to_owned();
        Ok(Self::Draft(cx.intern(body)))
    }

    /// Says that this is what the round is about.
    pub fn announce(&self, round: u32, given: bool, cx: &mut Cx<'_>) {
        let artifact = self.artifact();
        let (blob, diff) = match self {
            Self::Draft(draft) => (*draft, None),
            Self::Files(files) => (cx.intern(Manifest::new(files.clone()).listing()), None),
            Self::Tree(tree) => (tree.digest, Some(tree.diff)),
        };
        let bytes = match self {
            Self::Draft(draft) => cx.text(draft).len() as u64,
            Self::Files(files) => files.iter().map(|f| cx.text(&f.blob).len() as u64).sum(),
            Self::Tree(tree) => cx.text(&tree.diff).len() as u64,
        };
        cx.emit(EventKind::DraftMade { round, artifact, blob, bytes, given, diff });
        if let Self::Draft(draft) = self
            && let Some(line) = status::status_line(cx.text(draft))
        {
            cx.emit(EventKind::SelfVerdictNoted { round, line });
        }
    }

    /// What verdicts are bound to.
    pub fn artifact(&self) -> Digest {
        match self {
            Self::Draft(draft) => Manifest::of_text(*draft).digest(),
            Self::Files(files) => Manifest::new(files.clone()).digest(),
            Self::Tree(tree) => tree.digest,
        }
    }

    /// The stored text that stands for it in an outcome: the draft, or a manifest.
    pub fn blob(&self) -> Digest {
        match self {
            Self::Draft(draft) => *draft,
            Self::Files(_) | Self::Tree(_) => self.artifact(),
        }
    }

    /// The folder's state, if it is one.
    pub const fn tree(&self) -> Option<&Tree> {
        match self {
            Self::Tree(tree) => Some(tree),
            Self::Draft(_) | Self::Files(_) => None,
        }
    }

    pub fn subject(&self, texts: &Texts) -> Subject {
        match self {
            Self::Draft(draft) => Subject::of_draft(*draft, texts),
            Self::Files(files) => Subject::of_files(files, texts),
            Self::Tree(tree) => Subject::of_tree(tree, texts),
        }
    }

    /// What citations are checked against.
    pub fn corpus(&self, texts: &Texts) -> Corpus {
        let mut corpus = Corpus::default();
        match self {
            Self::Draft(draft) => return Corpus::of_draft(texts.get(draft)),
            Self::Files(files) => {
                for file in files {
                    if texts.contains(&file.blob) {
                        corpus.insert(&file.path, texts.get(&file.blob));
                    } else {
                        corpus.insert_opaque(&file.path);
                    }
                }
            }
            Self::Tree(tree) => {
                for change in &tree.changes {
                    match (change.kind, change.after) {
                        (ChangeKind::Deleted, _) => corpus.insert_deleted(&change.path),
                        (_, Some(after)) if !change.binary && texts.contains(&after) => {
                            corpus.insert(&change.path, texts.get(&after));
                        }
                        _ => corpus.insert_opaque(&change.path),
                    }
                }
            }
        }
        corpus
    }

    /// The texts that have to come with a plan that begins with this.
    pub fn material(&self) -> Vec<Digest> {
        match self {
            Self::Draft(draft) => vec![*draft],
            Self::Files(files) => files.iter().map(|f| f.blob).collect(),
            Self::Tree(tree) => {
                let after = tree.changes.iter().filter(|c| !c.binary).filter_map(|c| c.after);
                after.chain([tree.diff, tree.digest]).collect()
            }
        }
    }
}
