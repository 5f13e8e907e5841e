//! What is wrong with a loop that no single key shows: agents that are not there, escalations that lead
//! nowhere, seats that a protocol does not have.

use super::{LoopConfig, unknown_agent};
use crate::config::AgentConfig;
use crate::config::names::{ArtifactSource, HOST};
use crate::place::{Problem, brief};

impl LoopConfig {
    pub(super) fn check(&self, agents: &[&str], problems: &mut Vec<Problem>) {
        for (role, agent) in self.roles() {
            if agent.value != HOST && !agents.contains(&agent.value.as_str()) {
                problems.push(unknown_agent(role, &agent, agents));
            }
        }
        self.check_seats(problems);
        if let (Some(to), Some(worker)) = (&self.score.escalate_to, &self.options.worker)
            && to.value == worker.value
        {
            let message = format!("`escalate_to` names the loop's own worker `{}`", brief(&to.value));
            let help =
                "name another agent, \"orchestrator\" or \"user\": whoever is stuck cannot decide about it";
            problems.push(Problem::error(message).help(help).at(to.place.as_ref()));
        }
        if let Some(id) = &self.audit.task_id
            && !is_task_id(&id.value)
        {
            let message = format!("`task_id` `{}` cannot stand in a file name", brief(&id.value));
            let help = "use letters, digits, `-`, `_` and `.`, at most 64 of them";
            problems.push(Problem::error(message).help(help).at(id.place.as_ref()));
        }
        if let Some(branch) = &self.audit.branch {
            if !self.audit.commit.value {
                let message = "`branch` has no effect while `commit` is false";
                let help = "remove one of them";
                problems.push(Problem::error(message).help(help).at(branch.place.as_ref()));
            }
            if !is_branch(&branch.value) {
                let message = format!("`{}` is no name for a branch", brief(&branch.value));
                let help = "like feature/search: no spaces, no `..`, none of ~^:?*[\\";
                problems.push(Problem::error(message).help(help).at(branch.place.as_ref()));
            }
        }
    }

    /// Why this agent cannot have this role here.
    pub(in crate::config) fn unfit(&self, role: &str, agent: &AgentConfig) -> Option<Problem> {
        let works = matches!(role, "worker" | "build_fixer" | "test_writer");
        let in_files = self.options.protocol.value.card().edits_files;
        if works && !in_files && agent.output.value == ArtifactSource::Files {
            let message = format!(
                "worker `{}` gives its work as files, and `{}` takes the reply",
                agent.name, self.options.protocol.value
            );
            return Some(Problem::error(message).help("use protocol audit, or output = \"reply\""));
        }
        None
    }

    fn check_seats(&self, problems: &mut Vec<Problem>) {
        let most = self.options.protocol.value.card().critics;
        if let Some(extra) = self.critics.get(most) {
            let message = format!(
                "`{}` has {} here, and {} are given",
                self.options.protocol.value,
                if most == 1 { "one critic".to_owned() } else { format!("at most {most} critics") },
                self.critics.len()
            );
            let help = match most {
                1 => "keep one; a `fallback_critic` is asked when it fails, and protocol `score` has two",
                2 => "keep the primary and one second critic",
                _ => "leave the others out",
            };
            problems.push(Problem::error(message).help(help).at(extra.place.as_ref()));
        }
        if let [first, second] = self.critics.as_slice()
            && first.value.lens_or_name() == second.value.lens_or_name()
        {
            let message = if first.value.agent == second.value.agent {
                format!("critic `{}` is named twice with the same lens", brief(&second.value.agent))
            } else {
                format!("both critics have the lens `{}`", brief(second.value.lens_or_name()))
            };
            let help = "two critics see more with different lenses: { agent = \"…\", lens = \"method\" }";
            problems.push(Problem::error(message).help(help).at(second.place.as_ref()));
        }
    }
}

fn is_task_id(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    (1..=64).contains(&text.len()) && text.chars().all(fits) && !text.starts_with('.')
}

/// As strict as git, or stricter.
pub(in crate::config) fn is_branch(text: &str) -> bool {
    let fits = |c: char| !c.is_whitespace() && !c.is_control() && !"~^:?*[\\@{".contains(c);
    let locks = |p: &str| p.rsplit_once('.').is_some_and(|(_, end)| end.eq_ignore_ascii_case("lock"));
    let part = |p: &str| !p.is_empty() && !p.starts_with('.') && !p.ends_with('.') && !locks(p);
    text.len() <= 200
        && text.chars().all(fits)
        && !text.starts_with('-')
        && !text.contains("..")
        && text.split('/').all(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_git_or_a_file_system_would_refuse_are_refused() {
        for good in ["main", "feature/search", "v1.2"] {
            assert!(is_branch(good), "{good}");
        }
        for bad in ["", "-x", "a..b", "a b", "a/", "/a", "a//b", ".a", "a.lock", "a~1", "a:b", "a\nb"] {
            assert!(!is_branch(bad), "{bad:?}");
        }
        assert!(is_task_id("t-1_a.b") && !is_task_id("../x") && !is_task_id("") && !is_task_id("a b"));
    }
}
