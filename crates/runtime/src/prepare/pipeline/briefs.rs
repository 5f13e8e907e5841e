//! What agents of a pipeline are told: who they are, what always holds, the skill and its gotchas; and a record of every
//! file that went in, at which level, with its tokens.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use gadfly_engine::pipeline::Pattern;
use gadfly_engine::pipeline::event::Loaded;
use gadfly_engine::pipeline::registry::RegistryEntry;
use gadfly_engine::protocol::pipeline::settings::Planning;
use gadfly_engine::{Digest, Text};
use gadfly_project::layout::{Doc, Skill, tokens};
use gadfly_project::{Config, Problem};

use super::{DEFAULT, PipelineRequest, PlanWanted, ProjectRegistry, given_plan};

/// What was learned that a planner is told: the last lines.
const MOST_LEARNED: usize = 40;

/// The texts of a plan, each once.
pub(super) struct PlanTexts<'a> {
    known: &'a ProjectRegistry,
    /// The skill somebody invoked: it counts for every agent of the run.
    skill: Option<&'a Skill>,
    texts: BTreeMap<Digest, Text>,
    always: (String, Vec<Loaded>),
    invariants: Option<Digest>,
}

impl<'a> PlanTexts<'a> {
    pub fn new(known: &'a ProjectRegistry, request: &PipelineRequest) -> Self {
        let skill = request.skill.as_ref().and_then(|name| known.files.skills.get(name));
        let mut shelf = Self {
            known,
            skill,
            texts: BTreeMap::new(),
            always: (String::new(), Vec::new()),
            invariants: None,
        };
        shelf.always = shelf.always();
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

    /// What everybody who works is told: the project's files and rules, and the index of skills.
    fn always(&self) -> (String, Vec<Loaded>) {
        let files = &self.known.files;
        let (mut text, mut loaded) = (String::new(), Vec::new());
        for doc in files.always.iter().filter(|doc| doc.paths.is_empty() && !is_for_who_leads(doc)) {
            add(&mut text, &mut loaded, doc, 0);
        }
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
        text.push_str(&self.always.0);
        loaded.extend(self.always.1.iter().cloned());
        for doc in files.always.iter().filter(|doc| concerns(doc, entry) && !is_for_who_leads(doc)) {
            add(&mut text, &mut loaded, doc, 0);
        }
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

    fn task(&self, entry: &RegistryEntry, request: &PipelineRequest) -> String {
        let mut task = format!("{}\n\nYou are dispatched as [{}]", request.request.trim(), entry.agent);
        if let Some(phase) = &entry.phase {
            let _ = write!(task, " in the phase {phase}");
        }
        let _ = writeln!(task, " of the project {}. Do your part of it and no other's.", self.known.project);
        task.push_str(
            "Texts above may be written for somebody who leads: dispatch nobody, ask nobody to review, keep no logs or journals, \
             and save only where your output is expected, whatever other place they name.\n",
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
        let mut text = self.always.0.clone();
        for doc in self.known.files.always.iter().filter(|doc| is_for_who_leads(doc)) {
            add(&mut text, &mut Vec::new(), doc, 0);
        }
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
    let is_rule = doc.path.parent().is_some_and(|folder| folder.ends_with("rules"));
    is_rule && doc.text.to_lowercase().matches("orchestrator").count() >= 2
}

/// Whether a rule that is about some files only is about what an agent makes.
fn concerns(doc: &Doc, entry: &RegistryEntry) -> bool {
    let made = || entry.produces.iter().flat_map(|product| product.patterns.iter().chain(&product.files));
    let globs = doc.paths.iter().map(|glob| Pattern(glob.clone()));
    globs.into_iter().any(|glob| made().any(|pattern| glob.overlaps(pattern)))
}
