//! What a critic, or whoever decides, is shown beside the work: what it was made from. Never what was said about it
//! before. What cannot be shown is named.

use std::collections::BTreeMap;

use super::ScoreProtocol;
use crate::artifact::ArtifactFile;
use crate::brief::Reference;
use crate::corpus::Corpus;
use crate::digest::Digest;
use crate::machine::Cx;
use crate::pipeline::inputs::{is_history, reads_as_review};

/// Bytes of one input that is shown, and of all of them together: the work itself has to fit beside them.
const LARGEST: usize = 96 << 10;
const ALL: usize = 256 << 10;

impl ScoreProtocol {
    fn inputs(&self) -> &[ArtifactFile] {
        self.settings.files.as_ref().map(|files| files.inputs.as_slice()).unwrap_or_default()
    }

    pub(super) fn unread_inputs(&self, cx: &Cx<'_>) -> Vec<String> {
        let Some(files) = &self.settings.files else { return Vec::new() };
        let inputs = if self.settings.critics.is_empty() { &[] } else { self.inputs() };
        // Work that is completed is known as it was, to tell whether it was written anew.
        let is_completed =
            |file: &&ArtifactFile| !files.lacking.is_empty() && files.artifact.contains(&file.path);
        let unread = inputs.iter().chain(files.before.iter().filter(is_completed));
        let unread = unread.filter(|file| !cx.texts().contains(&file.blob));
        unread.map(|file| file.path.clone()).collect()
    }

    /// Invariants and references, then the inputs, then the names of those that are not shown.
    pub(super) fn shown_beside(&self, cx: &mut Cx<'_>) -> Vec<Reference> {
        let mut shown = self.settings.shown_references();
        let (mut left, mut not_shown) = (ALL, Vec::new());
        for file in self.inputs() {
            let size = if cx.texts().contains(&file.blob) { cx.text(&file.blob).len() } else { usize::MAX };
            if size > LARGEST.min(left) || is_review(file, cx) {
                if !is_review(file, cx) {
                    let why = if size == usize::MAX { "it is no text" } else { "it is too long" };
                    not_shown.push(format!("{}: {why}\n", file.path));
                }
                continue;
            }
            left -= size;
            shown.push(Reference { name: format!("input {}", file.path), text: file.blob });
        }
        if !not_shown.is_empty() {
            let text = cx.intern(not_shown.concat());
            shown.push(Reference { name: "inputs that are not shown".to_owned(), text });
        }
        shown
    }

    /// What is not shown whole, and what commands said who were run for whoever judges.
    pub(super) fn evidence(&self, noted: Option<Reference>, cx: &mut Cx<'_>) -> Vec<Reference> {
        let mut all: Vec<Reference> = noted.into_iter().collect();
        let green = self
            .ground
            .as_ref()
            .filter(|_| self.settings.worker.is_none())
            .map(|ground| ground.green.clone());
        for (command, output) in green.unwrap_or_default() {
            let name =
                format!("`{command}` was run on exactly these files and ended with 0; the end of its output");
            let text = output.unwrap_or_else(|| cx.intern(String::new()));
            all.push(Reference { name, text });
        }
        all
    }

    /// What is cited of an input can be looked up, too.
    pub(super) fn with_inputs(&self, mut corpus: Corpus, cx: &Cx<'_>) -> Corpus {
        for file in self.inputs().iter().filter(|file| !corpus.knows(&file.path)).collect::<Vec<_>>() {
            if cx.texts().contains(&file.blob) {
                corpus.insert(&file.path, cx.text(&file.blob));
            } else {
                corpus.insert_opaque(&file.path);
            }
        }
        corpus
    }

    /// Reviews that lie among the work, as people and agents save them, are no part of it. What the registry names, and
    /// what the worker wrote itself, is judged whatever it is called.
    pub(super) fn set_history_aside(&mut self, cx: &Cx<'_>) {
        let Some(files) = self.settings.files.as_ref().filter(|_| self.settings.worker.is_some()) else {
            return;
        };
        let Some(ground) = &self.ground else { return };
        let changed = ground.changed();
        let is_aside = |file: &ArtifactFile| {
            let is_own = changed.contains(file.path.as_str()) || files.names(&file.path);
            !is_own && is_review(file, cx)
        };
        let aside = self.artifact().into_iter().filter(is_aside).map(|file| file.path).collect::<Vec<_>>();
        if let Some(ground) = &mut self.ground {
            ground.history.extend(aside);
        }
    }

    pub(super) fn own_rubric_texts(&self, cx: &mut Cx<'_>) -> BTreeMap<String, Digest> {
        let own = self.settings.own_rubrics.clone().into_iter();
        own.map(|(critic, own)| (critic, self.with_rows(own.rubric, own.table.as_ref(), cx))).collect()
    }

    pub(super) fn rubric_of(&self, seat: &str) -> Digest {
        self.own_rubrics.get(seat).copied().unwrap_or_else(|| self.rubric())
    }
}

/// What was said about the work, by its name or by its first page.
fn is_review(file: &ArtifactFile, cx: &Cx<'_>) -> bool {
    is_history(&file.path) || (cx.texts().contains(&file.blob) && reads_as_review(cx.text(&file.blob)))
}
