//! A phase as a `revise` loop: who works and who judges, what they are told first, where the draft and the log go. What
//! the project says is read; here it meets the configuration.

use std::path::{Path, PathBuf};

use gadfly_engine::Digest;
use gadfly_engine::protocol::revise::ProjectPhase;
use gadfly_project::adapter::DescribedWork;
use gadfly_project::place::option;
use gadfly_project::rubric::RubricSource;
use gadfly_project::trust::{TrustEntry, judging};
use gadfly_project::{Config, LoopConfig, LoopProtocol, Overrides, Problem, Sourced, title};

use super::{PhaseAgent, PhaseSpec, SourcedText};
use crate::seat::usual;

impl DescribedWork for PhaseSpec {
    fn notes(&self) -> &[String] {
        &self.notes
    }

    fn needs_trust(&self, _root: &Path) -> Vec<TrustEntry> {
        let parts = [&self.worker, &self.critic].into_iter();
        let mut all: Vec<TrustEntry> =
            parts.filter_map(|part| Some(part.words.as_ref()?.instructs(part.agent.as_ref()?))).collect();
        all.extend(judged_by(self));
        all
    }

    fn fill(&self, config: &Config, given: &mut Overrides, problems: &mut Vec<Problem>) {
        let protocol = LoopProtocol::REVISE;
        if given.protocol().is_some_and(|given| given != protocol) {
            let message = format!("phase `{}` is a `{protocol}` loop", self.name);
            problems.push(Problem::error(message).help(format!("leave {} out", option("protocol"))));
        }
        given.set("protocol", protocol);
        given.or_set("phase", self.name.clone());
        let defaults = &config.defaults;
        let seats = [("worker", &self.worker, &defaults.worker), ("critic", &self.critic, &defaults.critic)];
        for (role, part, default) in seats {
            if given.has(role) || (role == "critic" && !given.critics().is_empty()) {
                continue;
            }
            if let Some(agent) = seat(self, role, part, default.as_ref(), config, problems) {
                given.set(role, agent);
            }
        }
        if let Some(output) = self.output.as_deref().filter(|_| !given.has("out") && !given.has("draft")) {
            let task = given.text("task").unwrap_or_default();
            let task = given.path("task_file").map_or(task, |file| name_of(&file));
            given.set("out", file_in(output, &task));
        }
    }

    fn rubric(&self) -> &[RubricSource] {
        &self.rubric
    }

    fn phase(&self, looped: &LoopConfig, keep: &mut dyn FnMut(String) -> Digest) -> ProjectPhase {
        let dedicated = self.worker.words.is_some() || plays(looped.options.worker.as_ref(), &self.worker);
        let (preface, phase_skill) = if dedicated {
            (worker_preface(self), None)
        } else {
            (preface(self), self.skill.as_ref().map(|skill| skill.phase.clone()))
        };
        ProjectPhase {
            preface: preface.map(&mut *keep),
            critic_identity: self.critic.words.as_ref().map(|words| keep(words.text.clone())),
            phase_skill,
            shared_log: Some(self.log.to_string_lossy().into_owned()),
        }
    }

    fn names_output(&self) -> bool {
        true
    }
}

/// By what it wants its drafts judged.
fn judged_by(phase: &PhaseSpec) -> Vec<TrustEntry> {
    let items: Vec<&str> =
        phase.rubric.iter().flat_map(|source| &source.items).map(|item| item.value.as_str()).collect();
    let critic = phase.critic.agent.iter().map(String::as_str).collect::<Vec<_>>();
    [("critic", critic), ("rubric", items)]
        .into_iter()
        .filter(|(_, words)| !words.is_empty())
        .map(|(key, words)| judging::of_work(key, &judging::listed(&words), &words, None))
        .collect()
}

/// The agent that is configured under the name the phase wants; else the usual one, by its defaults.
fn seat(
    phase: &PhaseSpec,
    role: &str,
    part: &PhaseAgent,
    default: Option<&Sourced<String>>,
    config: &Config,
    problems: &mut Vec<Problem>,
) -> Option<String> {
    if let Some(wanted) = &part.agent {
        if config.agents.contains_key(wanted) {
            return Some(wanted.clone());
        }
        if part.words.is_none() {
            let message = format!(
                "phase `{}` wants the {role} `{wanted}`, which is neither a file nor configured: the usual {role} takes its place",
                phase.name
            );
            let help = format!("add agents/{wanted}.md, or [agents.{wanted}]");
            problems.push(Problem::warning(message).help(help));
        }
    }
    usual(role, default, config)
}

fn plays(agent: Option<&Sourced<String>>, part: &PhaseAgent) -> bool {
    agent.is_some_and(|agent| part.agent.as_ref() == Some(&agent.value))
}

/// The worker's own words, then the project's pages: it is told to read them and has no folder they lie in.
fn worker_preface(phase: &PhaseSpec) -> Option<String> {
    let words = phase.worker.words.as_ref().map(|words| words.text.trim().to_owned());
    joined(words.into_iter().chain(pages(phase)))
}

/// The phase's skill, then the project's pages.
fn preface(phase: &PhaseSpec) -> Option<String> {
    let skill = phase.skill.as_ref();
    let skill = skill
        .map(|skill| format!("Phase skill neuroflow:phase-{}:\n\n{}", skill.phase, skill.words.text.trim()));
    joined(skill.into_iter().chain(pages(phase)))
}

fn pages(phase: &PhaseSpec) -> impl Iterator<Item = String> {
    let page =
        |words: &SourcedText| format!("Phase context {}:\n\n{}", words.path.display(), words.text.trim());
    phase.context.iter().map(page)
}

fn joined(parts: impl Iterator<Item = String>) -> Option<String> {
    let parts: Vec<String> = parts.collect();
    (!parts.is_empty()).then(|| parts.join("\n\n"))
}

fn name_of(file: &Path) -> String {
    file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

/// A file is taken as it is; in a folder, the task gives the name.
fn file_in(output: &Path, task: &str) -> PathBuf {
    if output.extension().is_some() && !output.is_dir() {
        return output.to_owned();
    }
    output.join(format!("{}.md", title::slug(&title::title(task))))
}
