//! All that a cold critic may see, by type: there is no way in for a worker's transcript, its view of its
//! own work, or what earlier rounds said.

use std::collections::BTreeMap;

use crate::brief::{Reference, enclose, one_line};
use crate::digest::Digest;
use crate::reading::shown::neutralise;
use crate::turn::{JudgedCase, Message, Part, Speaker};

use super::{Piece, Subject};

const PART: &str = include_str!("../prompts/part-1.md");

/// A case as it is put before a critic.
#[derive(Clone, Copy, Debug)]
pub struct ColdCase<'a> {
    /// Template texts, in order.
    pub instructions: &'a [&'static str],
    /// How severe to be, in one line.
    pub severity: Option<&'a str>,
    /// Who each critic is, in the words of its own file, by name.
    pub identities: Option<&'a BTreeMap<String, Digest>>,
    /// Whose of them counts; set for each seat by the panel.
    pub identity: Option<Digest>,
    /// What to look at in particular; set for each seat by the panel.
    pub lens: Option<&'a str>,
    /// The task's text, where the protocol judges by it.
    pub task: Option<Digest>,
    /// The rubric or the criteria.
    pub rubric: Digest,
    /// Those of critics that judge by another one, by name.
    pub rubrics: Option<&'a BTreeMap<String, Digest>>,
    pub references: &'a [Reference],
    /// Deterministic evidence: verify output, the engine's own checks.
    pub evidence: &'a [Reference],
    pub subject: &'a Subject,
    /// The tree the subject is taken from: an agent that works in a folder gets a copy of it.
    pub tree: Option<Digest>,
    pub schema: Option<&'static str>,
    /// The file an agent with a folder may write its reply to.
    pub report: Option<&'a str>,
    /// How to reply: the last thing a critic reads, with this round's values filled in. Where an agent is held to a schema,
    /// `structured` stands in its place.
    pub form: &'a str,
    pub structured: Option<&'a str>,
    /// The points that pass, where the protocol counts points.
    pub passes_at: Option<u32>,
    /// How many calls one critic's judgement may be split into.
    pub max_parts: u32,
    /// Set by the panel: which part of how many this is.
    pub part: Option<(usize, usize)>,
}

impl ColdCase<'_> {
    /// Everything that goes between marks.
    pub(crate) fn enclosed(&self, pieces: &[Piece]) -> Vec<Digest> {
        let mut all: Vec<Digest> = vec![self.rubric];
        all.extend(self.task);
        all.extend(self.references.iter().chain(self.evidence).map(|r| r.text));
        all.extend(pieces.iter().map(|p| p.slice.text));
        all.sort();
        all.dedup();
        all
    }

    /// The brief's only message, and how many of its parts are the same in every round.
    pub(crate) fn message(
        &self,
        instructions: &[Digest],
        pieces: &[Piece],
        fence: &str,
        form: Digest,
    ) -> (Message, usize) {
        let mut parts: Vec<Part> = Vec::new();
        if let Some(identity) = self.identity {
            parts.extend([Part::Blob(identity), Part::Text("\n\n".to_owned())]);
        }
        parts.extend(instructions.iter().map(|d| Part::Blob(*d)));
        parts.push(Part::Text(self.heads()));
        if let Some(task) = self.task {
            enclose(&mut parts, fence, "task", Part::Data(task));
        }
        enclose(&mut parts, fence, "rubric", Part::Data(self.rubric));
        let mut settled = 0;
        for (label, given) in [("reference", self.references), ("evidence", self.evidence)] {
            for reference in given {
                let name = neutralise(&one_line(&reference.name)).into_owned();
                enclose(&mut parts, fence, &format!("{label} {name}"), Part::Data(reference.text));
            }
            if label == "reference" {
                settled = parts.len();
            }
        }
        if let Some((part, of)) = self.part {
            parts.push(Part::Text(format!("{PART}Part: {part} of {of}\n\n")));
        }
        for piece in pieces {
            let name = neutralise(&one_line(&piece.path)).into_owned();
            enclose(&mut parts, fence, &name, Part::Slice(piece.slice));
        }
        parts.push(Part::Blob(form));
        (Message { from: Speaker::User, parts }, settled)
    }

    /// The same case as values.
    pub(crate) fn judged(&self, pieces: &[Piece]) -> JudgedCase {
        JudgedCase {
            task: self.task,
            rubric: self.rubric,
            references: self.references.to_vec(),
            evidence: self.evidence.to_vec(),
            work: pieces.iter().map(|piece| (piece.path.clone(), piece.slice)).collect(),
            previous: None,
            open: Vec::new(),
            lens: self.lens.map(ToOwned::to_owned),
        }
    }

    fn heads(&self) -> String {
        use std::fmt::Write as _;
        let mut out = String::new();
        if let Some(severity) = self.severity {
            let _ = writeln!(out, "Severity: {}", one_line(severity));
        }
        if let Some(lens) = self.lens {
            let _ = writeln!(out, "Lens: judge by the rubric, looking in particular at {}", one_line(lens));
        }
        if !out.is_empty() {
            out.push('\n');
        }
        out
    }

    /// Bytes of everything but the pieces.
    pub(super) fn overhead(&self, texts: &crate::text::Texts) -> usize {
        let instructions: usize = self.instructions.iter().map(|t| t.len()).sum();
        let blobs = [Some(self.rubric), self.task, self.identity].into_iter().flatten();
        let named = self.references.iter().chain(self.evidence);
        let blobs: usize = blobs.chain(named.map(|r| r.text)).map(|d| texts.get(&d).len()).sum();
        let marks = 160 * (4 + self.references.len() + self.evidence.len());
        instructions + blobs + marks + PART.len() + self.form.len() + self.schema.map_or(0, str::len)
    }
}
