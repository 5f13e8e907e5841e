//! Whether registry, agents, skills and configuration speak of the same things. What is wrong with the registry's
//! graph is `registry`'s to say, and said here with the rest; what is wrong with its text is with the text.

use std::collections::{BTreeMap, BTreeSet};

use gadfly_engine::pipeline::inputs::is_history;
use gadfly_engine::pipeline::listing::Matcher;
use gadfly_engine::pipeline::{Pattern, RegistryEntry};

use super::ProjectFiles;
use super::agents::{AgentFile, AgentRole};
use crate::adopt::is_near;
use crate::config::Config;
use crate::place::{Problem, SourceSpan, Sourced, brief};
use crate::registry;
use crate::suggest;

/// Everything that does not fit together, in the order registry, configuration, skills.
pub fn check(files: &ProjectFiles, config: &Config) -> Vec<Problem> {
    let agents = super::known_agents(&files.agents, config);
    let known: BTreeSet<&str> = agents.iter().map(String::as_str).collect();
    let mut problems = Vec::new();
    if files.registry.as_ref().is_some_and(|file| file.too_many) {
        return problems;
    }
    if let Some(file) = &files.registry {
        // Second critics are looked at below, where their own lines are known.
        problems.extend(registry::check(file, &registry::CheckContext { agents: &agents, duals: &[] }));
    }
    let registered = files.registry.iter().flat_map(|file| &file.registry.entries);
    // Of two entries of one name the first counts.
    let by_name = registered.rev().map(|entry| (entry.agent.as_str(), entry)).collect();
    let mut checking = LayoutCheck { files, config, known, by_name, problems };
    checking.entries();
    checking.unlisted();
    checking.settings();
    checking.saves();
    checking.problems
}

/// A part of another agent's instructions is nobody to dispatch.
pub(super) fn not_spawnable(agent: &AgentFile, at: Option<&SourceSpan>) -> Problem {
    let message = format!("agent-not-spawnable: `{}` is a module of another agent", brief(&agent.name));
    Problem::error(message).help(format!("see `module` in {}", agent.path.display())).at(at)
}

struct LayoutCheck<'a> {
    files: &'a ProjectFiles,
    config: &'a Config,
    known: BTreeSet<&'a str>,
    by_name: BTreeMap<&'a str, &'a RegistryEntry>,
    problems: Vec<Problem>,
}

impl<'a> LayoutCheck<'a> {
    fn registered(&self) -> &'a [RegistryEntry] {
        self.files.registry.as_ref().map(|file| file.registry.entries.as_slice()).unwrap_or_default()
    }

    fn entry(&self, name: &str) -> Option<&'a RegistryEntry> {
        self.by_name.get(name).copied()
    }

    /// A line of the registry.
    fn line(&self, line: u32) -> Option<SourceSpan> {
        Some(self.files.registry.as_ref()?.line(line))
    }

    fn entries(&mut self) {
        for entry in self.registered() {
            let at = self.line(entry.line);
            match self.files.agents.get(&entry.agent) {
                None if !self.known.contains(entry.agent.as_str()) => {
                    let message = format!("agent `{}` has an entry and no file", brief(&entry.agent));
                    let near = suggest::nearest(&entry.agent, self.known.iter().copied());
                    let help = near.map_or_else(
                        || format!("add its file, or [agents.{}]", brief(&entry.agent)),
                        |near| format!("did you mean `{near}`?"),
                    );
                    self.problems.push(Problem::error(message).help(help).at(at.as_ref()));
                }
                Some(agent) if agent.module => self.problems.push(not_spawnable(agent, at.as_ref())),
                // Of whoever judges, the reply is what it makes.
                Some(agent) if !entry.judges() && !entry.produces.is_empty() && !agent.can_write() => {
                    let made = entry.produces.iter().flat_map(|p| p.files.iter().chain(&p.patterns)).next();
                    let where_to = made.map_or_else(|| "what it produces".to_owned(), ToString::to_string);
                    let message = format!(
                        "agent `{}` makes files and has no tool to write them: its reply is saved at {where_to}",
                        entry.agent
                    );
                    self.problems.push(Problem::warning(message).at(Some(&agent.place)));
                }
                _ => {}
            }
            let critic = entry.critic.as_ref().and_then(|critic| self.files.agents.get(critic));
            if let Some(critic) = critic {
                if critic.module {
                    self.problems.push(not_spawnable(critic, at.as_ref()));
                }
                if critic.role == AgentRole::Creator {
                    let (name, of) = (&critic.name, &entry.agent);
                    let message = format!("`{name}` judges `{of}`, and its file says it is a creator");
                    self.problems.push(Problem::warning(message).at(Some(&critic.place)));
                }
            }
        }
    }

    /// Creators no entry speaks of: forgotten, or meant to be run alone.
    fn unlisted(&mut self) {
        if self.registered().is_empty() {
            return;
        }
        for agent in self.files.agents.values().filter(|a| a.role == AgentRole::Creator && !a.module) {
            if self.entry(&agent.name).is_none() {
                let message =
                    format!("agent `{}` has a file and no entry: no pipeline dispatches it", agent.name);
                self.problems.push(Problem::warning(message).at(Some(&agent.place)));
            }
        }
    }

    fn settings(&mut self) {
        let project = &self.config.project;
        for name in &project.enable {
            match self.entry(&name.value) {
                Some(entry) if entry.conditional.is_none() => {
                    let message = format!("`{}` is not conditional: it runs anyway", brief(&name.value));
                    self.problems.push(Problem::warning(message).at(name.place.as_ref()));
                }
                Some(_) => {}
                None => self.no_entry("enable", name),
            }
        }
        if self.files.registry.is_some() {
            for (agent, verify) in &project.verify_of {
                let named = Sourced {
                    value: agent.clone(),
                    layer: crate::place::ConfigLayer::Project,
                    place: verify.place.clone(),
                };
                if self.entry(agent).is_none() {
                    self.no_entry("verify", &named);
                }
            }
        }
        for row in self.config.duals.iter().flatten() {
            if self.entry(&row.agent.value).is_none() {
                self.no_entry("dual", &row.agent);
            }
            self.agent("dual", &row.critic);
            let entry = self.entry(&row.agent.value);
            if entry.is_some_and(|entry| entry.critic.as_ref() == Some(&row.critic.value)) {
                let (critic, agent) = (brief(&row.critic.value), brief(&row.agent.value));
                let message = format!("`{critic}` is the critic of `{agent}` already");
                let help = "a second lens needs a second critic";
                self.problems.push(Problem::error(message).help(help).at(row.critic.place.as_ref()));
            }
        }
        if let Some(planner) = &self.config.pipeline.planner {
            self.agent("planner", planner);
        }
    }

    fn agent(&mut self, key: &str, name: &Sourced<String>) {
        match self.files.agents.get(&name.value) {
            Some(agent) if agent.module => self.problems.push(not_spawnable(agent, name.place.as_ref())),
            None if !self.known.contains(name.value.as_str()) => {
                let known: Vec<&str> = self.known.iter().copied().collect();
                self.unknown(key, "agent", name, &known);
            }
            _ => {}
        }
    }

    fn no_entry(&mut self, key: &str, name: &Sourced<String>) {
        if let Some(agent) = self.files.agents.get(&name.value).filter(|agent| agent.module) {
            return self.problems.push(not_spawnable(agent, name.place.as_ref()));
        }
        let known: Vec<&str> = self.registered().iter().map(|entry| entry.agent.as_str()).collect();
        self.unknown(key, "entry", name, &known);
    }

    fn unknown(&mut self, key: &str, what: &str, name: &Sourced<String>, known: &[&str]) {
        let message = format!("`{key}` names `{}`, and there is no such {what}", brief(&name.value));
        let help = suggest::did_you_mean(&name.value, known);
        self.problems.push(Problem::error(message).maybe_help(help).at(name.place.as_ref()));
    }

    /// A skill that says "save it here" while the registry expects it there.
    fn saves(&mut self) {
        let made = self.registered().iter().flat_map(|entry| &entry.produces);
        let made = made.flat_map(|product| product.patterns.iter().chain(&product.files));
        let made: BTreeSet<Pattern> = made.map(|pattern| Pattern::new(&wild(&pattern.0))).collect();
        // Only where the registry expects something, too: logs and notes may go anywhere.
        let tops: BTreeSet<&str> =
            made.iter().filter_map(|p| p.0.split_once('/')).map(|(top, _)| top).collect();
        let expecting: Vec<(&Pattern, Matcher<'_>)> = made.iter().map(|p| (p, p.matcher())).collect();
        for skill in self.files.skills.values() {
            let dispatched = skill.dispatches(&self.files.agents);
            let wanted: Vec<&RegistryEntry> = dispatched.iter().filter_map(|name| self.entry(name)).collect();
            if wanted.iter().all(|entry| entry.produces.is_empty()) {
                continue;
            }
            for save in &skill.saves {
                let sample = sample(&save.text);
                let top = sample.split_once('/').map(|(top, _)| top);
                let is_theirs = top.is_some_and(|top| tops.contains(top));
                if !is_theirs || is_history(&sample) || is_expected(&expecting, &sample) {
                    continue;
                }
                // Notes, decisions and letters may go anywhere: a fault is only what the registry has another place for.
                let Some((agent, place)) = meant(&wanted, &sample) else { continue };
                let message = format!(
                    "skill `{}` saves at `{}`, and the registry expects it from `{agent}` at {place}",
                    skill.name,
                    brief(&save.text)
                );
                self.problems.push(Problem::warning(message).at(Some(&save.place)));
            }
        }
    }
}

/// The product that a skill saves elsewhere: a file of the same name but for its topic, or what such folders hold.
fn meant(entries: &[&RegistryEntry], sample: &str) -> Option<(String, String)> {
    for entry in entries {
        let mut named =
            entry.produces.iter().flat_map(|product| product.files.iter().chain(&product.patterns));
        let is_meant = |pattern: &&Pattern| {
            let plain = Pattern::new(&self::sample(&pattern.0));
            is_near(&plain, sample) || begins_like(&plain, sample)
        };
        if let Some(pattern) = named.find(is_meant) {
            return Some((entry.agent.clone(), pattern.0.clone()));
        }
    }
    None
}

/// `draft_x.md` for `…/draft.md`.
fn begins_like(pattern: &Pattern, sample: &str) -> bool {
    let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_lowercase();
    let (wanted, found) = (name(&pattern.0), name(sample));
    let (Some((stem, ending)), Some((saved, saved_ending))) =
        (wanted.rsplit_once('.'), found.rsplit_once('.'))
    else {
        return false;
    };
    let rest = saved.strip_prefix(stem);
    pattern.is_plain_file() && ending == saved_ending && rest.is_some_and(|rest| rest.starts_with(['_', '-']))
}

/// Every placeholder as anything at all, except braces that are alternatives.
fn wild(pattern: &str) -> String {
    let mut out = String::new();
    let mut rest = pattern;
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        match after.split_once('}') {
            Some((inner, behind)) if !inner.contains(',') => {
                out.push('*');
                rest = behind;
            }
            _ => {
                out.push('{');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

/// A path with something in the place of its placeholders: `[topic]`, `{project}`, `YYYY-MM-DD`.
fn sample(path: &str) -> String {
    let mut out = String::new();
    let mut depth = 0_usize;
    for c in path.trim_start_matches("./").chars() {
        match c {
            '[' | '{' | '<' => {
                depth += 1;
                out.push('x');
            }
            ']' | '}' | '>' => depth = depth.saturating_sub(1),
            '*' => out.push('x'),
            c if depth == 0 => out.push(c),
            _ => {}
        }
    }
    out.replace("YYYY-MM-DD", "2000-01-01")
}

/// A folder that is written is within a folder that is expected.
fn is_expected(expecting: &[(&Pattern, Matcher<'_>)], sample: &str) -> bool {
    let file = if sample.ends_with('/') { format!("{sample}x.md") } else { sample.to_owned() };
    let inside = format!("{sample}/x.md");
    let is_it = |(pattern, matcher): &(&Pattern, Matcher<'_>)| {
        matcher.matches(&file) || matcher.matches(&inside) || pattern.0 == sample
    };
    expecting.iter().any(is_it)
}
