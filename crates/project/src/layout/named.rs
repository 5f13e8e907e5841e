//! Files that an agent's own file tells it to read: templates, checklists, references. Who judges has no project to look
//! into, so their texts go into its brief. Only what instructs: never the work, never what was said about it.

use std::path::{Path, PathBuf};

use super::{Doc, ProjectFiles};
use crate::file;

/// Of one file, and of all that one agent names.
const LARGEST: u64 = 48 << 10;
const ALL: usize = 128 << 10;
const MOST: usize = 20;

impl ProjectFiles {
    /// In the order in which they are named, each once. Rubrics are not among them: a critic gets its own anyway.
    pub fn named_by(&self, agent: &str) -> Vec<Doc> {
        let Some(agent) = self.agents.get(agent) else { return Vec::new() };
        let mut found: Vec<Doc> = Vec::new();
        let mut left = ALL;
        for written in
            agent.body.split(['`', ' ', '\n', '\t', '(', ')', '"', '\'', ',']).filter(|word| is_path(word))
        {
            let Some(path) = self.instruction(written.trim_end_matches(['.', ':', ';'])) else { continue };
            if found.len() >= MOST || found.iter().any(|doc| doc.path == path) {
                continue;
            }
            let Ok(text) = file::read_text_up_to(&self.root.join(&path), LARGEST) else { continue };
            if text.len() <= left {
                left -= text.len();
                found.push(Doc { path, text, paths: Vec::new() });
            }
        }
        found
    }

    /// The file of the project's instructions that is meant: from the root, the layout's folder or the folder of skills.
    fn instruction(&self, written: &str) -> Option<PathBuf> {
        let is_rubric = |path: &Path| self.rubrics.iter().any(|doc| doc.path == path);
        let homes = ["", ".claude", ".claude/skills", "skills"];
        homes.iter().map(|home| Path::new(home).join(written)).find(|path| {
            let instructs = path.starts_with(".claude") || path.starts_with("skills");
            let is_agent = path.starts_with(".claude/agents");
            let is_inside = file::inside(&self.root, path).is_ok_and(|real| real.is_file());
            instructs && !is_agent && is_inside && !is_rubric(path)
        })
    }
}

fn is_path(word: &str) -> bool {
    const ENDINGS: [&str; 5] = [".md", ".txt", ".tex", ".json", ".qmd"];
    let word = word.trim_end_matches(['.', ':', ';']);
    word.contains('/')
        && word.len() < 300
        && !word.contains("..")
        && ENDINGS.iter().any(|e| word.ends_with(e))
}
