//! What the plugin brings: phase skills and agent files, where a project has them at hand, else where the user installed
//! it.

use std::path::{Path, PathBuf};

use gadfly_engine::digest::Digest;

use gadfly_project::fingerprint::fingerprint;
use gadfly_project::place::{Problem, visible};
use gadfly_project::suggest;
use gadfly_project::trust::{Group, TrustEntry, What};

use super::page::{self, Page};
use super::{NeuroflowProject, NeuroflowSkill};

/// Folders of a project that may hold the plugin's `skills/` and `agents/`, the first that has a file wins.
const HOMES: [&str; 5] = ["", ".claude", "neuroflow", "plugins/neuroflow", ".claude/plugins/neuroflow"];
const MOST_ENTRIES: usize = 2000;

/// A text that goes into a brief, and the file it is from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourcedText {
    /// From the project's root; of a plugin that is installed elsewhere, whole.
    pub path: PathBuf,
    pub text: String,
    /// Of all bytes of the file.
    pub digest: Digest,
}

impl SourcedText {
    pub(super) fn of(page: Page, text: String) -> Self {
        Self { digest: Digest::of(page.text.as_bytes()), path: page.path, text }
    }

    /// What a person has to agree to before an agent is told these: the same as for `file` of `[agents.NAME]`.
    pub fn instructs(&self, agent: &str) -> TrustEntry {
        let path = visible(&self.path.display().to_string());
        let text = format!("instruct agent `{}` with the file {path}", visible(agent));
        let what = What::AgentFile;
        let digest = fingerprint([what.name(), &self.digest.to_string()]);
        let group = Some(Group::File { agent: agent.to_owned(), path: self.path.clone() });
        TrustEntry { what, group, text, digest, place: None }
    }
}

/// The words of an agent's file: all but its front matter, whether that is valid or not.
pub(super) fn agent(
    project: NeuroflowProject<'_>,
    name: &str,
    problems: &mut Vec<Problem>,
) -> Option<SourcedText> {
    first(project, &Path::new("agents").join(format!("{name}.md")), problems)
}

/// The skill of a phase, or of the closest phase that has one.
pub(super) fn skill(
    project: NeuroflowProject<'_>,
    phase: &str,
    problems: &mut Vec<Problem>,
) -> Option<NeuroflowSkill> {
    let of = |phase: &str, problems: &mut Vec<Problem>| {
        let path = Path::new("skills").join(format!("phase-{phase}")).join("SKILL.md");
        Some(NeuroflowSkill { phase: phase.to_owned(), words: first(project, &path, problems)? })
    };
    if let Some(own) = of(phase, problems) {
        return Some(own);
    }
    let known = phases(project);
    let near = closest(phase, &known)?.to_owned();
    of(&near, problems)
}

/// By typing errors, else by the words both names begin with.
fn closest<'a>(phase: &str, known: &'a [String]) -> Option<&'a str> {
    let names = || known.iter().map(String::as_str);
    suggest::nearest(phase, names()).or_else(|| {
        let shared = |name: &str| name.split('-').zip(phase.split('-')).take_while(|(a, b)| a == b).count();
        names()
            .filter(|name| shared(name) > 0)
            .max_by_key(|name| (shared(name), std::cmp::Reverse(name.len())))
    })
}

/// The phases that have a skill.
pub(super) fn phases(project: NeuroflowProject<'_>) -> Vec<String> {
    let own = HOMES.iter().map(|home| project.root.join(home));
    let mut all: Vec<String> = own
        .chain(project.plugins.iter().cloned())
        .flat_map(|home| entries(&home.join("skills")))
        .filter_map(|name| name.strip_prefix("phase-").map(ToOwned::to_owned))
        .collect();
    all.sort();
    all.dedup();
    all
}

fn first(project: NeuroflowProject<'_>, path: &Path, problems: &mut Vec<Problem>) -> Option<SourcedText> {
    let words = |page: Page| {
        let text = page::body(&page.text).to_owned();
        (!text.is_empty()).then(|| SourcedText::of(page, text))
    };
    let own =
        HOMES.iter().find_map(|home| words(Page::read(project.root, &Path::new(home).join(path), problems)?));
    own.or_else(|| {
        project.plugins.iter().find_map(|plugin| {
            let page = Page::read(plugin, path, problems)?;
            words(Page { path: plugin.join(&page.path), ..page })
        })
    })
}

/// The names in a folder, as far as they are text; none if it cannot be read.
pub(super) fn entries(dir: &Path) -> Vec<String> {
    let Ok(found) = std::fs::read_dir(dir) else { return Vec::new() };
    found.take(MOST_ENTRIES).flatten().filter_map(|e| e.file_name().into_string().ok()).collect()
}
