//! Who takes part in a pipeline, and as which configured agent each is reached: by its own settings, else by the
//! project's default, critics by the default critic if there is one.

use std::collections::BTreeMap;

use gadfly_project::layout::ProjectFiles;
use gadfly_project::{Config, Problem, suggest};

use super::{DEFAULT, DEFAULT_CRITIC};
use crate::agent_set::AgentSet;

/// One member of the run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AliasedAgent {
    pub name: String,
    /// The configured agent it is reached as.
    pub reached_as: String,
    /// What its own file says about its model.
    pub model: Option<String>,
    /// Tools of ours its own file gives it no equal of.
    pub withheld: Vec<String>,
}

/// Kinds with tools of their own that the files of agents speak of.
const CODING: [&str; 2] = ["codex", "acp"];
const UNHELD: &str = "nothing can be taken from the tools of this kind of agent";

#[derive(Default)]
pub struct Cast(BTreeMap<String, AliasedAgent>);

impl Cast {
    /// Adds somebody, or says why it cannot be reached.
    pub fn add(
        &mut self,
        name: &str,
        judges: bool,
        files: &ProjectFiles,
        config: &Config,
        problems: &mut Vec<Problem>,
    ) -> Option<()> {
        if self.0.contains_key(name) {
            return Some(());
        }
        let file = match files.agent(name) {
            Ok(file) => file,
            Err(problem) => {
                problems.push(problem);
                return None;
            }
        };
        let is_there = |agent: &&str| config.agents.contains_key(*agent);
        let stand_ins: &[&str] = if judges { &[DEFAULT_CRITIC, DEFAULT] } else { &[DEFAULT] };
        let Some(reached_as) = std::iter::once(&name).chain(stand_ins).find(|agent| is_there(agent)) else {
            let known: Vec<&str> = config.agents.keys().map(String::as_str).collect();
            let nearest = suggest::did_you_mean(name, &known).filter(|_| !known.is_empty());
            let help = nearest.unwrap_or_else(|| {
                format!("add [agents.{DEFAULT}] for everybody, or [agents.{name}]; `gadfly doctor` says what this machine has")
            });
            problems.push(Problem::error(format!("no agent configured for [{name}]")).help(help));
            return None;
        };
        let model = file.and_then(|file| file.model.clone());
        let withheld = file.and_then(|file| file.tools.as_deref()).map(withheld).unwrap_or_default();
        let (name, reached_as) = (name.to_owned(), (*reached_as).to_owned());
        self.0.insert(name.clone(), AliasedAgent { name, reached_as, model, withheld });
        Some(())
    }

    /// Whose files restrict its tools in vain, in one line.
    pub fn unheld(&self, agent_set: &AgentSet) -> Option<Problem> {
        let has_all = |member: &&AliasedAgent| {
            let card = agent_set
                .get(&member.name)
                .filter(|handle| handle.agent.is_some())
                .map(|handle| &handle.card);
            let is_coding = card.is_some_and(|card| CODING.contains(&card.kind.as_str()));
            is_coding && !member.withheld.is_empty() && card.is_some_and(|card| card.withheld.is_empty())
        };
        let names: Vec<&str> = self.0.values().filter(has_all).map(|member| member.name.as_str()).collect();
        (!names.is_empty()).then(|| {
            let message =
                format!("`tools` in the files of {} cannot be enforced: {UNHELD}", names.join(", "));
            Problem::warning(message).help("claude-code, gemini and models behind an API can be held to them")
        })
    }

    pub fn members(&self) -> Vec<AliasedAgent> {
        self.0.values().cloned().collect()
    }
}

/// Sending out agents of its own.
const DELEGATE: &str = "delegate";
/// Tools of ours, each with those of agent files that do the same.
const EQUALS: [(&str, &[&str]); 8] = [
    ("run_command", &["bash"]),
    ("read_file", &["read"]),
    ("write_file", &["write"]),
    ("edit_file", &["edit", "multiedit", "write"]),
    ("list_files", &["glob", "ls", "read"]),
    ("search_files", &["grep", "glob", "read"]),
    ("fetch_url", &["webfetch", "websearch"]),
    // Having others do it: of ours there is no such tool, coding agents have one.
    (DELEGATE, &["task", "agent"]),
];

/// What an agent is not offered whose file lists these tools. `Bash(git *)` counts as `Bash`.
fn withheld(listed: &[String]) -> Vec<String> {
    let has = |equal: &&str| {
        let name = |tool: &String| tool.split('(').next().unwrap_or_default().trim().to_lowercase();
        listed.iter().any(|tool| name(tool) == **equal)
    };
    let missing = EQUALS.iter().filter(|(_, equals)| !equals.iter().any(&has));
    missing.map(|(ours, _)| (*ours).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_is_offered_what_its_file_lists_and_no_more() {
        let listed = |tools: &[&str]| withheld(&tools.iter().map(|t| (*t).to_owned()).collect::<Vec<_>>());
        let web = ["fetch_url", DELEGATE];
        assert_eq!(
            listed(&["Read", "Grep", "Glob"]),
            ["run_command", "write_file", "edit_file", web[0], web[1]]
        );
        assert_eq!(listed(&["Read", "Write"]), ["run_command", web[0], web[1]]);
        assert_eq!(listed(&["Bash(git *)", "Read", "Edit", "WebSearch", "Task"]), ["write_file"]);
    }
}
