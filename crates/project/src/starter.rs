//! The small, commented `gadfly.toml` that `init` proposes for the agents that were found and the project it is for. It
//! renders text; writing it is the caller's business.

mod hints;

use std::fmt::Write;

use crate::config::AgentKind;
use crate::place::visible;

pub use hints::ProjectHints;

/// An agent that `doctor` found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FoundAgent {
    pub name: String,
    pub kind: AgentKind,
    /// Whose models it uses; empty if nobody knows.
    pub vendor: String,
    pub base_url: Option<String>,
    pub model: Option<String>,
    pub key_env: Option<String>,
    /// The program and its arguments, where the kind does not know them.
    pub command: Vec<String>,
    /// Further keys, each a line of TOML.
    pub lines: Vec<String>,
    /// Variables its program gets.
    pub env: Vec<String>,
    /// Why it is proposed, for the comment: "answers on 127.0.0.1:11434".
    pub why: String,
}

/// What one call of a program may cost, whose price nobody knows beforehand.
const USD_PER_CALL: &str = "0.5";

/// The text of a `gadfly.toml`. The first found agent becomes the worker, the first of another vendor, else of
/// another address, the critic; with nothing found every line is a comment.
pub fn starter(found: &[FoundAgent]) -> String {
    starter_for(found, &ProjectHints::default())
}

/// As `starter`, for a project that has agents, data and documents of its own.
pub fn starter_for(found: &[FoundAgent], hints: &ProjectHints) -> String {
    let mut out = String::from(
        "# Gadfly: a worker writes, a critic judges, the program keeps the rules.\n\
         # Everything has a default; the configuration reference lists every key.\n",
    );
    let mut agents: Vec<(String, &FoundAgent)> = Vec::new();
    for agent in found {
        let mut name = table_name(&agent.name);
        while agents.iter().any(|(taken, _)| *taken == name) {
            name.push_str("-2");
        }
        agents.push((name, agent));
    }
    for (name, agent) in &agents {
        push_agent(&mut out, name, agent);
    }
    let Some((worker, first)) = agents.first() else {
        out.push_str(NOTHING_FOUND);
        out.push_str(&hints.tables());
        return out;
    };
    let (critic, why) = critic_for(first, &agents).unwrap_or((worker, "better: an agent of another vendor"));
    let _ = write!(out, "\n[defaults]\nworker = \"{worker}\"\ncritic = \"{critic}\"  # {why}\n");
    if hints.needs_default() {
        // The agents that are known by their files alone.
        let judge = agents.iter().find(|(name, _)| name == critic).map_or(*first, |(_, judge)| *judge);
        let lent = |agent: &FoundAgent, why: &str| FoundAgent { why: why.to_owned(), ..agent.clone() };
        push_agent(&mut out, "default", &lent(first, "lends kind and model to the project's own agents"));
        push_agent(&mut out, "default-critic", &lent(judge, "and to its critics"));
    }
    out.push_str(&hints.tables());
    // A call of a program is held back at its most: there must be room for a few of them.
    let usd = if agents.iter().any(|(_, a)| is_unpriced(a)) { 5 } else { 2 };
    let (usd, minutes) = hints.budget(usd);
    let _ = write!(
        out,
        "\n[budget]\nusd = {usd}.0      # a run stops before it costs more\nminutes = {minutes}\n"
    );
    out
}

/// The agent to judge this one's work, and why.
fn critic_for<'a>(
    worker: &FoundAgent,
    agents: &'a [(String, &FoundAgent)],
) -> Option<(&'a String, &'static str)> {
    let known = |a: &FoundAgent| !a.vendor.is_empty() && a.vendor != worker.vendor;
    let other = |a: &FoundAgent| {
        (a.kind, &a.base_url, &a.command) != (worker.kind, &worker.base_url, &worker.command)
    };
    let found =
        |wanted: &dyn Fn(&FoundAgent) -> bool| agents.iter().find(|(_, a)| wanted(a)).map(|(name, _)| name);
    if let Some(name) = found(&|a| known(a) && !worker.vendor.is_empty()) {
        return Some((name, "of another vendor, so it makes other mistakes"));
    }
    if let Some(name) = found(&other) {
        return Some((name, "better: an agent whose model is certainly another vendor's"));
    }
    agents.get(1).map(|(name, _)| (name, "another model; better: an agent of another vendor"))
}

/// Nobody knows beforehand what a call of it costs.
const fn is_unpriced(agent: &FoundAgent) -> bool {
    agent.kind.usual_destination().is_some()
}

const NOTHING_FOUND: &str = "
# No agent was found. Two to begin with:
#
# [agents.writer]
# kind = \"openai\"
# base_url = \"http://127.0.0.1:11434/v1\"
# model = \"qwen3\"
#
# [agents.critic]
# kind = \"command\"
# command = [\"./critic.sh\"]      # brief on stdin, reply on stdout
#
# [defaults]
# worker = \"writer\"
# critic = \"critic\"
";

fn push_agent(out: &mut String, name: &str, agent: &FoundAgent) {
    let why = visible(agent.why.trim());
    let _ = write!(
        out,
        "\n[agents.{name}]{}{why}\nkind = \"{}\"\n",
        if why.is_empty() { "" } else { "  # " },
        agent.kind
    );
    let settings = [("base_url", &agent.base_url), ("model", &agent.model), ("key_env", &agent.key_env)];
    for (key, value) in settings {
        if let Some(value) = value {
            let _ = writeln!(out, "{key} = {}", toml::Value::from(value.as_str()));
        }
    }
    let list = |words: &[String]| toml::Value::from(words.iter().map(String::as_str).collect::<Vec<_>>());
    if !agent.command.is_empty() {
        let _ = writeln!(out, "command = {}", list(&agent.command));
    }
    for line in &agent.lines {
        let _ = writeln!(out, "{line}");
    }
    if !agent.env.is_empty() {
        let _ = writeln!(out, "env = {}", list(&agent.env));
    }
    if is_unpriced(agent) {
        let _ = writeln!(out, "max_usd_per_call = {USD_PER_CALL}");
    }
    // What its kind needs and nobody could find out is left to the user, in a form that parses.
    match agent.kind {
        kind if kind.is_http() && agent.model.is_none() => {
            out.push_str("model = \"CHOOSE-A-MODEL\"\n");
        }
        AgentKind::Acp if agent.command.is_empty() => out.push_str("command = [\"gemini\", \"--acp\"]\n"),
        AgentKind::Command if agent.command.is_empty() => {
            out.push_str("command = [\"./critic.sh\"]  # brief on stdin, reply on stdout\n");
        }
        AgentKind::Scripted => out.push_str("script = \"replies.toml\"\n"),
        _ => {}
    }
}

fn table_name(name: &str) -> String {
    let safe: String = name
        .chars()
        .take(40)
        .map(|c| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '-' })
        .collect();
    if safe.is_empty() { "agent".to_owned() } else { safe }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, parse};
    use crate::place::{ConfigLayer, Problem, Source};
    use insta::assert_snapshot;

    fn found(
        name: &str,
        kind: AgentKind,
        base_url: Option<&str>,
        model: Option<&str>,
        key_env: Option<&str>,
    ) -> FoundAgent {
        FoundAgent {
            name: name.into(),
            kind,
            vendor: name.into(),
            base_url: base_url.map(Into::into),
            model: model.map(Into::into),
            key_env: key_env.map(Into::into),
            command: vec![],
            lines: vec![],
            env: vec![],
            why: "found".into(),
        }
    }

    fn read(text: &str) -> (Config, Vec<Problem>) {
        let (partial, mut problems) = parse(&Source::new(ConfigLayer::Project, "gadfly.toml", ".", text));
        let (config, more) = Config::from_layers([partial]);
        problems.extend(more);
        (config, problems)
    }

    #[test]
    fn what_was_found_becomes_a_configuration_without_problems() {
        let text = starter(&[
            found("local", AgentKind::OpenAi, Some("http://127.0.0.1:11434/v1"), Some("qwen3"), None),
            found("claude", AgentKind::Anthropic, None, Some("claude-sonnet-4-5"), Some("ANTHROPIC_API_KEY")),
        ]);
        assert_snapshot!(text, @r#"
        # Gadfly: a worker writes, a critic judges, the program keeps the rules.
        # Everything has a default; the configuration reference lists every key.

        [agents.local]  # found
        kind = "openai"
        base_url = "http://127.0.0.1:11434/v1"
        model = "qwen3"

        [agents.claude]  # found
        kind = "anthropic"
        model = "claude-sonnet-4-5"
        key_env = "ANTHROPIC_API_KEY"

        [defaults]
        worker = "local"
        critic = "claude"  # of another vendor, so it makes other mistakes

        [budget]
        usd = 2.0      # a run stops before it costs more
        minutes = 30
        "#);
        let (config, problems) = read(&text);
        assert_eq!(problems, []);
        assert_eq!(config.defaults.critic.unwrap().value, "claude");
    }

    #[test]
    fn a_program_has_its_command_its_variables_and_what_a_call_may_cost() {
        let mut acp = found("codex-acp", AgentKind::Acp, None, None, None);
        acp.command = vec!["codex-acp".into(), "it's".into()];
        acp.env = vec!["CODEX_HOME".into()];
        let mut claude = found("claude-code", AgentKind::ClaudeCode, None, None, None);
        claude.vendor = "anthropic".into();
        let text = starter(&[claude, acp]);
        let (config, problems) = read(&text);
        assert_eq!(problems, [], "{text}");
        let agent = &config.agents["codex-acp"];
        let words: Vec<&str> = agent.command.iter().map(|w| w.value.as_str()).collect();
        assert_eq!((words, agent.env.len()), (vec!["codex-acp", "it's"], 1));
        assert!(config.agents.values().all(|a| a.max_usd_per_call.is_some()), "{text}");
        assert!(text.contains("usd = 5.0"), "{text}");
    }

    #[test]
    fn the_critic_is_of_another_vendor_if_there_is_one() {
        let of = |name: &str, vendor: &str| FoundAgent {
            vendor: vendor.into(),
            ..found(name, AgentKind::OpenAi, Some(&format!("http://127.0.0.1/{name}")), Some("m"), None)
        };
        for (agents, critic) in [
            (vec![of("a", "x"), of("b", "x"), of("c", "y")], "c"),
            (vec![of("a", "x"), of("b", "")], "b"),
            (vec![of("a", ""), of("b", "y")], "b"),
            (vec![of("a", "x"), of("a", "x")], "a-2"),
            (vec![of("a", "x")], "a"),
        ] {
            let text = starter(&agents);
            assert_eq!(read(&text).0.defaults.critic.unwrap().value, critic, "{text}");
        }
    }

    #[test]
    fn with_nothing_found_it_still_parses() {
        assert_eq!(read(&starter(&[])).1, []);
    }

    #[test]
    fn hostile_names_and_reasons_cannot_break_out_of_their_line() {
        let mut bad =
            found("a]\n[b", AgentKind::OpenAi, Some("http://127.0.0.1/v1"), Some("m\"\nx = 1"), None);
        bad.why = "x\nkind = \"command\"".into();
        let (config, problems) = read(&starter(&[bad.clone(), bad]));
        assert_eq!(problems, []);
        assert_eq!(config.agents.len(), 2);
        assert!(config.agents.values().all(|a| a.kind.value == AgentKind::OpenAi));
    }

    #[test]
    fn every_kind_can_be_started_with() {
        for kind in AgentKind::ALL {
            let (config, problems) = read(&starter(&[found("x", kind, None, None, Some("SOME_KEY"))]));
            let errors: Vec<_> = problems.iter().filter(|p| p.is_error()).collect();
            assert!(errors.is_empty(), "{kind}: {errors:?}");
            assert!(config.agents.contains_key("x"), "{kind}");
        }
    }
}
