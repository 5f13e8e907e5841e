//! What agents of a pipeline are told: who they are, what always holds, the skill and its gotchas; and a record of every
//! file that went in, at which level, with its tokens.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use gadfly_engine::pipeline::Pattern;
use gadfly_engine::pipeline::event::Loaded;
use gadfly_engine::pipeline::registry::{Product, RegistryEntry};
use gadfly_engine::protocol::pipeline::settings::Planning;
use gadfly_engine::{Digest, Text};
use gadfly_project::layout::{Doc, Skill, tokens};
use gadfly_project::{Config, Problem};

use super::{DEFAULT, PipelineRequest, PlanWanted, ProjectRegistry, given_plan};

/// What was learned that a planner is told: the last lines.
const MOST_LEARNED: usize = 40;
/// A rule longer than this is given whole only to those whom it names; to others by its path.
const LONG_RULE: usize = 6_000;

/// The texts of a plan, each once.
pub(super) struct PlanTexts<'a> {
    known: &'a ProjectRegistry,
    /// The skill somebody invoked: it counts for every agent of the run.
    skill: Option<&'a Skill>,
    texts: BTreeMap<Digest, Text>,
    index: (String, Vec<Loaded>),
    invariants: Option<Digest>,
}

impl<'a> PlanTexts<'a> {
    pub fn new(known: &'a ProjectRegistry, request: &PipelineRequest) -> Self {
        let skill = request.skill.as_ref().and_then(|name| known.files.skills.get(name));
        let mut shelf = Self {
            known,
            skill,
            texts: BTreeMap::new(),
            index: (String::new(), Vec::new()),
            invariants: None,
        };
        shelf.index = shelf.index();
        let lines = known.files.invariants.iter().map(|inv| format!("**{}.** {}\n", inv.id, inv.text));
        let lines: String = lines.collect();
        shelf.invariants = (!lines.is_empty()).then(|| shelf.keep(lines));
        shelf
    }

    pub fn keep(&mut self, text: String) -> Digest {
        let text = Text::new(text);
        let digest = text.digest();
        self.texts.entry(digest).or_insert(text);
        digest
    }

    pub fn into_texts(self) -> Vec<Text> {
        self.texts.into_values().collect()
    }

    pub const fn invariants(&self) -> Option<Digest> {
        self.invariants
    }

    /// What everybody who works is told beside the rules: the references by their paths, and the index of skills.
    fn index(&self) -> (String, Vec<Loaded>) {
        let files = &self.known.files;
        let (mut text, mut loaded) = (String::new(), Vec::new());
        if !files.references.is_empty() {
            text.push_str("References of this project, to be read where they help:\n");
            for doc in &files.references {
                let _ = writeln!(text, "- {}", doc.path.display());
            }
            text.push('\n');
        }
        if !files.skills.is_empty() {
            text.push_str("Skills of this project:\n");
            for skill in files.skills.values() {
                let _ = writeln!(text, "- /{}", skill.summary());
                loaded.push(Loaded {
                    path: skill.path.display().to_string(),
                    level: 1,
                    tokens: skill.level1_tokens,
                });
            }
            text.push('\n');
        }
        (text, loaded)
    }

    /// Who a critic is: its own file, and the templates and references that it tells it to read.
    pub fn critic(&mut self, name: &str) -> Option<Digest> {
        let mut text = self.known.files.agents.get(name)?.body.trim().to_owned();
        for doc in self.known.files.named_by(name) {
            let _ = write!(text, "\n\n{}, which is named above:\n{}", doc.path.display(), doc.body());
        }
        (!text.is_empty()).then(|| self.keep(text))
    }

    /// Who a worker is and what it is asked for, with what went into it.
    pub fn worker(
        &mut self,
        entry: &RegistryEntry,
        request: &PipelineRequest,
    ) -> (Digest, Digest, Vec<Loaded>) {
        let files = &self.known.files;
        let (mut text, mut loaded) = (String::new(), Vec::new());
        if let Some(agent) = files.agents.get(&entry.agent) {
            let _ = writeln!(text, "{}\n", agent.body.trim());
            let path = agent.path.display().to_string();
            loaded.push(Loaded { path, level: 0, tokens: tokens(&agent.body) });
        }
        let mut elsewhere = Vec::new();
        for doc in self.rules().filter(|doc| doc.paths.is_empty() || concerns(doc, entry)) {
            if is_rule(doc) && doc.body().len() > LONG_RULE && !names(doc, entry) {
                elsewhere.push(doc);
            } else {
                add(&mut text, &mut loaded, doc, 0);
            }
        }
        if !elsewhere.is_empty() {
            text.push_str("Long rules of this project, to be read if what you make is their subject:\n");
            for doc in elsewhere {
                let path = doc.path.display().to_string();
                let title = doc.body().lines().next().unwrap_or_default().trim_start_matches('#').trim();
                let _ = writeln!(text, "- {path}: {title}");
                loaded.push(Loaded { tokens: tokens(&path), path, level: 3 });
            }
            text.push('\n');
        }
        text.push_str(&self.index.0);
        loaded.extend(self.index.1.iter().cloned());
        let skill = self.skill.or_else(|| files.skills_for(&entry.agent).into_iter().next());
        if let Some(skill) = skill {
            let _ = writeln!(text, "Skill /{}:\n{}\n", skill.name, skill.body.trim());
            let path = skill.path.display().to_string();
            loaded.push(Loaded { path, level: 2, tokens: skill.level2_tokens });
            for doc in &skill.gotchas {
                add(&mut text, &mut loaded, doc, 2);
            }
            let named = skill.named_files(&entry.agent);
            if !named.is_empty() {
                text.push_str("Files of the skill to read before you begin:\n");
                for path in named {
                    let path = path.display().to_string();
                    let _ = writeln!(text, "- {path}");
                    loaded.push(Loaded { tokens: tokens(&path), path, level: 3 });
                }
                text.push('\n');
            }
        }
        let (identity, task) = (self.keep(text), self.task(entry, request));
        (identity, self.keep(task), loaded)
    }

    /// The project's files and rules that are for whoever works, without those of which every line is an invariant: these are
    /// shown beside the rubric.
    fn rules(&self) -> impl Iterator<Item = &Doc> {
        let files = &self.known.files;
        let of = |doc: &Doc| files.invariants.iter().filter(|inv| inv.path == doc.path).count();
        files.always.iter().filter(move |doc| !is_for_who_leads(doc) && !holds_only(doc, of(doc)))
    }

    fn task(&self, entry: &RegistryEntry, request: &PipelineRequest) -> String {
        let mut task = format!("{}\n\nYou are dispatched as [{}]", request.request.trim(), entry.agent);
        if let Some(phase) = &entry.phase {
            let _ = write!(task, " in the phase {phase}");
        }
        let _ = writeln!(task, " of the project {}. Do your part of it and no other's.", self.known.project);
        task.push_str(
            "Texts above may be written for somebody who leads: dispatch nobody, ask nobody to review, keep no logs or journals, \
             and save only where your output is expected, whatever other place they name. Where they contradict each other, the \
             project's file counts before its rules, these before references, these before skills, and all before your own file.\n",
        );
        let inputs: Vec<&str> = entry.requires.atoms().into_iter().map(|atom| atom.text.as_str()).collect();
        if !inputs.is_empty() {
            let _ = writeln!(task, "What you can build on: {}", inputs.join("; "));
        }
        task
    }

    /// The plan of the run, or who drafts it from what.
    pub fn planning(
        &mut self,
        request: &PipelineRequest,
        config: &Config,
        problems: &mut Vec<Problem>,
    ) -> Planning {
        match &request.planning {
            PlanWanted::No => Planning::None,
            PlanWanted::Given(path) => match given_plan(path, problems) {
                Some(text) => Planning::Given { text: self.keep(text.as_str().to_owned()) },
                None => Planning::None,
            },
            PlanWanted::Drafted => {
                let named = config.pipeline.planner.as_ref().map(|planner| planner.value.clone());
                let is_there = |name: &str| {
                    config.agents.contains_key(name) || self.known.files.agents.contains_key(name)
                };
                let planner = named.or_else(|| is_there("planner").then(|| "planner".to_owned()));
                let brief = self.project_status();
                let brief = self.keep(brief);
                let by = planner.unwrap_or_else(|| DEFAULT.to_owned());
                Planning::Drafted { by, brief, spec: request.spec }
            }
        }
    }

    /// What a planner has to know: the agents, what always holds, what was learned.
    fn project_status(&self) -> String {
        let mut text = String::new();
        let leads = self.known.files.always.iter().filter(|doc| is_for_who_leads(doc));
        for doc in self.rules().filter(|doc| doc.paths.is_empty()).chain(leads) {
            add(&mut text, &mut Vec::new(), doc, 0);
        }
        text.push_str(&self.index.0);
        text.push_str("Agents of the project:\n");
        for entry in &self.known.registry.entries {
            let needs: Vec<&str> =
                entry.requires.atoms().into_iter().map(|atom| atom.text.as_str()).collect();
            let makes: Vec<String> =
                entry.produces.iter().flat_map(|p| &p.patterns).map(ToString::to_string).collect();
            let critic = entry.critic.as_deref().unwrap_or("nobody");
            let (needs, makes) = (listed(&needs), listed(&makes));
            let _ = writeln!(text, "- {}: needs {needs}; makes {makes}; judged by {critic}", entry.agent);
        }
        let memory = &self.known.files.memory;
        if !memory.is_empty() {
            text.push_str("\nLearned before:\n");
            for learned in memory.iter().rev().take(MOST_LEARNED).rev() {
                let _ = writeln!(text, "- [{}] {}", learned.tag, learned.text);
            }
        }
        text.push('\n');
        text
    }
}

fn listed<S: AsRef<str>>(items: &[S]) -> String {
    if items.is_empty() {
        return "nothing".to_owned();
    }
    items.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(", ")
}

fn add(text: &mut String, loaded: &mut Vec<Loaded>, doc: &Doc, level: u8) {
    let path = doc.path.display().to_string();
    let _ = writeln!(text, "{path}:\n{}\n", doc.body());
    loaded.push(Loaded { path, level, tokens: doc.tokens() });
}

/// Rules that tell an orchestrator whom to dispatch, what to log and when to stop. That is what this program does; to a
/// worker they would be orders to do it, too.
fn is_for_who_leads(doc: &Doc) -> bool {
    is_rule(doc) && doc.text.to_lowercase().matches("orchestrator").count() >= 2
}

fn is_rule(doc: &Doc) -> bool {
    doc.path.parent().is_some_and(|folder| folder.ends_with("rules"))
}

/// Whether a rule is little else than so many invariants.
fn holds_only(doc: &Doc, invariants: usize) -> bool {
    let lines =
        doc.body().lines().filter(|line| !line.trim().is_empty() && !line.starts_with(['#', '-', '>']));
    is_rule(doc) && invariants > 0 && lines.count() <= invariants * 3 / 2
}

/// Whether a rule speaks of an agent or of its critic.
fn names(doc: &Doc, entry: &RegistryEntry) -> bool {
    let text = doc.body().to_lowercase();
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    let has = |name: &str| text.split(|c| !is_part(c)).any(|word| word == name.to_lowercase());
    has(&entry.agent) || entry.critic.as_deref().is_some_and(has)
}

/// Whether a rule that is about some files only is about what an agent makes.
fn concerns(doc: &Doc, entry: &RegistryEntry) -> bool {
    // Where the files of a folder are named, it is about them: anything could lie in a folder.
    let made = |product: &'_ Product| {
        if product.files.is_empty() { product.patterns.clone() } else { product.files.clone() }
    };
    let made: Vec<Pattern> = entry.produces.iter().flat_map(made).collect();
    let globs = doc.paths.iter().map(|glob| Pattern(glob.clone()));
    globs.into_iter().any(|glob| made.iter().any(|pattern| glob.overlaps(pattern)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn entry(produces: &str) -> RegistryEntry {
        let text = format!(
            "## librarian\n- REQUIRES: None\n- PRODUCES: `reports/`\n{produces}- CRITIC: librarian-critic\n- ESCALATION_TARGET: User\n"
        );
        let file = gadfly_project::registry::parse(std::path::Path::new("permissions.md"), &text);
        file.registry.entries.first().unwrap().clone()
    }

    fn rule(text: &str, paths: &[&str]) -> Doc {
        let paths = paths.iter().map(|glob| (*glob).to_owned()).collect();
        Doc { path: ".claude/rules/format.md".into(), text: text.to_owned(), paths }
    }

    #[test]
    fn a_rule_names_an_agent_by_a_whole_word_or_by_its_critic() {
        let librarian = entry("");
        assert!(names(&rule("# Format\n\nFor the Librarian.", &[]), &librarian));
        assert!(names(&rule("librarian-critic deducts.", &[]), &librarian));
        assert!(!names(&rule("For librarians and writer-critic.", &[]), &librarian));
    }

    #[test]
    fn a_rule_about_some_files_concerns_whoever_makes_one_and_a_folder_only_if_its_files_are_not_named() {
        let tables = rule("Tables.", &["**/*.tex"]);
        assert!(concerns(&tables, &entry("")));
        assert!(!concerns(&tables, &entry("  - Required files: `map.md`, `refs.bib`\n")));
        assert!(concerns(&tables, &entry("  - Required files: `map.tex`\n")));
    }

    #[test]
    fn a_file_of_invariants_is_told_once_and_one_that_says_more_whole() {
        let lines = "# Invariants\n\n**INV-1.** No vertical rules.\n\n**INV-2.** A seed is set.\n";
        assert!(holds_only(&rule(lines, &[]), 2));
        assert!(!holds_only(&rule(&format!("{lines}Why:\nso.\nAnd\nmore.\n"), &[]), 2));
        assert!(!holds_only(&rule("Text.", &[]), 0));
    }
}
