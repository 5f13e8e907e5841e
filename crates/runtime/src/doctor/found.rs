//! From what was found to agents a `gadfly.toml` could have. It proposes; `init` writes.

use gadfly_agents::{Vendor, Wire};
use gadfly_project::AgentKind;
use gadfly_project::known::KNOWN;
use gadfly_project::starter::FoundAgent;

use super::{Diagnosis, InstalledProgram, ServerFact};

/// A model to begin with, per vendor that has one worth proposing.
const FIRST_MODELS: [(&str, &str); 5] = [
    ("anthropic", "claude-sonnet-4-5"),
    ("openai", "gpt-5-mini"),
    ("google", "gemini-2.5-flash"),
    ("mistral", "mistral-small-latest"),
    ("deepseek", "deepseek-chat"),
];

/// What `init` writes where nothing was found: you are the critic until there is a better one.
pub const NOTHING_FOUND: &str = "\
# Gadfly: a worker writes, a critic judges, the program keeps the rules.
# No model was found on this machine, so only you are configured.

# [agents.writer]                            # uncomment one of these workers:
# kind = \"openai\"                            # any OpenAI-compatible server, here Ollama
# base_url = \"http://127.0.0.1:11434/v1\"
# model = \"qwen3\"
#
# [agents.writer]
# kind = \"anthropic\"
# model = \"claude-sonnet-4-5\"
# key_env = \"ANTHROPIC_API_KEY\"              # the variable's name, never the key

[agents.me]
kind = \"person\"                              # asked on the terminal, answers with `gadfly answer`

[defaults]
# worker = \"writer\"
critic = \"me\"
";

/// The agents that could be used right away: programs first, because they can also work on files; then local
/// servers, then vendors whose key is set, and last what may need a person to sign in before.
pub fn proposal(diagnosis: &Diagnosis) -> Vec<FoundAgent> {
    let can_start = diagnosis.system.no_process_agents.is_none();
    let usable = |p: &&InstalledProgram| can_start && p.path.is_some() && p.trouble.is_none();
    let programs = || diagnosis.programs.iter().filter(usable).filter_map(of_program);
    let (ready, unsure): (Vec<_>, Vec<_>) = programs().partition(|(_, ready)| *ready);
    let local = diagnosis.servers.iter().flat_map(of_server);
    let keyed = diagnosis.keys.iter().filter(|k| k.set).filter_map(|key| {
        let vendor = Vendor::by_name(key.vendor)?;
        let kind = match vendor.wire {
            Wire::OpenAi => AgentKind::OpenAi,
            Wire::Anthropic => AgentKind::Anthropic,
            Wire::Google => AgentKind::Google,
        };
        let is_default = kind.name() == vendor.name;
        Some(FoundAgent {
            name: vendor.name.to_owned(),
            kind,
            vendor: vendor.name.to_owned(),
            base_url: (!is_default).then(|| vendor.base_url.to_owned()),
            model: FIRST_MODELS.iter().find(|(name, _)| *name == vendor.name).map(|(_, m)| (*m).to_owned()),
            key_env: Some(key.variable.to_owned()),
            command: Vec::new(),
            lines: Vec::new(),
            env: Vec::new(),
            why: format!("{} is set", key.variable),
        })
    });
    let found = |(found, _): (FoundAgent, bool)| found;
    let ready = ready.into_iter().map(found);
    ready.chain(local).chain(keyed).chain(unsure.into_iter().map(found)).collect()
}

/// A program as an agent, and whether it can be expected to answer.
fn of_program(program: &InstalledProgram) -> Option<(FoundAgent, bool)> {
    let known = KNOWN.iter().find(|known| known.program == program.name)?;
    let agent = known.agent.as_ref()?;
    let version = program.version.as_deref().map(|v| format!(" ({v})")).unwrap_or_default();
    let mut why = format!("{} is installed{version}", program.name);
    if program.signed_in == Some(false) {
        why.push_str("; start it once to sign in");
    }
    let found = FoundAgent {
        name: agent.name.to_owned(),
        kind: agent.kind,
        vendor: agent.vendor.to_owned(),
        base_url: None,
        model: None,
        key_env: None,
        command: agent.command.iter().map(|word| (*word).to_owned()).collect(),
        lines: agent.lines.iter().map(|line| (*line).to_owned()).collect(),
        env: program.env.clone(),
        why,
    };
    // The adapters and `llm` do what the programs before them do, with less known about them.
    Some((found, program.signed_in == Some(true) && agent.kind.usual_program().is_some()))
}

/// One agent per server; a second of another model, should it be the only server.
fn of_server(server: &ServerFact) -> impl Iterator<Item = FoundAgent> {
    let writes = |m: &&String| !m.to_lowercase().contains("embed");
    let models: Vec<Option<&String>> = match server.models.iter().filter(writes).take(2).collect::<Vec<_>>() {
        found if found.is_empty() => vec![None],
        found => found.into_iter().map(Some).collect(),
    };
    models.into_iter().enumerate().map(|(n, model)| FoundAgent {
        name: if n == 0 { server.vendor.to_owned() } else { format!("{}-other", server.vendor) },
        kind: AgentKind::OpenAi,
        vendor: server.vendor.to_owned(),
        base_url: Some(server.base_url.clone()),
        model: model.cloned(),
        key_env: None,
        command: Vec::new(),
        lines: Vec::new(),
        env: Vec::new(),
        why: format!("answers on {}", server.base_url),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::{KeyFact, StoreInfo, SystemInfo, WorkFolders};
    use gadfly_project::config::parse;
    use gadfly_project::{Config, ConfigLayer, Source};

    fn diagnosis(servers: &[(&'static str, &str, &[&str])], keys: &[&'static str]) -> Diagnosis {
        let fact = |(vendor, url, models): &(&'static str, &str, &[&str])| ServerFact {
            vendor,
            base_url: (*url).to_owned(),
            models: models.iter().map(|m| (*m).to_owned()).collect(),
        };
        let key = |name: &&'static str| {
            let vendor = Vendor::by_key_env(name).unwrap().name;
            KeyFact { variable: name, vendor, set: true }
        };
        Diagnosis {
            system: SystemInfo {
                os: "linux",
                arch: "x",
                no_process_agents: None,
                landlock: Some(6),
                no_landlock: None,
                note: None,
            },
            root: ".".into(),
            configs: vec![],
            store: StoreInfo {
                path: ".".into(),
                exists: false,
                format: 1,
                bytes: 0,
                runs: None,
                problem: None,
            },
            work: WorkFolders { path: ".".into(), runs: 0, ownerless: vec![], seen_above: vec![] },
            leftovers: vec![],
            programs: vec![],
            keys: keys.iter().map(key).collect(),
            servers: servers.iter().map(fact).collect(),
            agents: vec![],
            left_alone: vec![],
        }
    }

    fn program(name: &'static str, signed_in: Option<bool>) -> InstalledProgram {
        InstalledProgram {
            name,
            is: "",
            path: Some(format!("/usr/bin/{name}").into()),
            version: Some("1.2.3".into()),
            trouble: None,
            signed_in,
            env: vec![],
        }
    }

    #[test]
    fn programs_that_are_signed_in_come_first_and_broken_ones_not_at_all() {
        let mut here = diagnosis(&[], &["MISTRAL_API_KEY"]);
        here.programs = vec![
            program("claude", Some(false)),
            program("codex", Some(true)),
            InstalledProgram {
                version: None,
                trouble: Some("hangs".into()),
                ..program("gemini", Some(true))
            },
            program("llm", None),
        ];
        let names: Vec<String> = proposal(&here).into_iter().map(|f| f.name).collect();
        assert_eq!(names, ["codex", "mistral", "claude-code", "llm"]);
        let config = read(&gadfly_project::starter::starter(&proposal(&here)));
        assert_eq!(config.defaults.worker.unwrap().value, "codex");
        assert_eq!(config.defaults.critic.unwrap().value, "mistral");
        here.system.no_process_agents = Some("no supervisor".into());
        assert_eq!(proposal(&here).len(), 1, "what cannot be started is not proposed");
    }

    #[test]
    fn every_program_that_can_be_an_agent_makes_a_configuration_that_can_be_used() {
        for known in KNOWN.iter().filter(|known| known.agent.is_some()) {
            let mut here = diagnosis(&[], &[]);
            here.programs = vec![program(known.program, Some(true))];
            let config = read(&gadfly_project::starter::starter(&proposal(&here)));
            assert_eq!(config.agents.len(), 1, "{}", known.program);
        }
    }

    fn read(text: &str) -> Config {
        let (partial, problems) = parse(&Source::new(ConfigLayer::Project, "gadfly.toml", ".", text));
        let (config, more) = Config::from_layers([partial]);
        let errors: Vec<_> = problems.iter().chain(&more).filter(|p| p.is_error()).collect();
        assert!(errors.is_empty(), "{errors:?}\n{text}");
        config
    }

    #[test]
    fn the_critic_is_of_another_vendor_than_the_worker() {
        let servers: &[(&'static str, &str, &[&str])] =
            &[("ollama", "http://127.0.0.1:11434/v1", &["nomic-embed-text", "qwen3", "llama3"])];
        let config =
            read(&gadfly_project::starter::starter(&proposal(&diagnosis(servers, &["ANTHROPIC_API_KEY"]))));
        assert_eq!(config.defaults.worker.unwrap().value, "ollama");
        assert_eq!(config.defaults.critic.unwrap().value, "anthropic");
        assert_eq!(config.agents["ollama"].model.as_ref().unwrap().value, "qwen3");
        let alone = read(&gadfly_project::starter::starter(&proposal(&diagnosis(servers, &[]))));
        assert_eq!(alone.defaults.critic.unwrap().value, "ollama-other");
    }

    #[test]
    fn every_vendor_with_a_key_makes_a_configuration_that_can_be_used() {
        for vendor in gadfly_agents::VENDORS {
            let Some(key) = vendor.key_env else { continue };
            let config = read(&gadfly_project::starter::starter(&proposal(&diagnosis(&[], &[key]))));
            assert!(config.agents.values().all(gadfly_project::AgentConfig::may_send_key), "{}", vendor.name);
        }
    }

    #[test]
    fn with_nothing_found_you_are_the_critic() {
        assert!(proposal(&diagnosis(&[], &[])).is_empty());
        let config = read(NOTHING_FOUND);
        assert_eq!(config.agents["me"].kind.value, AgentKind::Person);
        assert_eq!(config.defaults.critic.unwrap().value, "me");
    }
}
