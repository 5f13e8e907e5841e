//! What a project's pipelines want to be allowed: hooks, verify commands, commands of gates, and the files that
//! say who its agents are.

use super::{Group, TrustEntry, What, entry, verify};
use crate::config::Config;
use crate::layout::AgentFile;
use crate::place::{ConfigLayer, SourceSpan, visible};

/// What the project's part of the configuration wants run by a pipeline.
pub fn of_pipeline(config: &Config) -> Vec<TrustEntry> {
    let every = &config.project.verify;
    let verified = config.project.verify_of.values().chain([every]).flat_map(|v| &v.commands);
    let verified =
        verified.filter(|c| c.layer == ConfigLayer::Project).map(|c| verify(&c.value, c.place.clone()));
    let hooks = config.hooks.commands.iter().flat_map(|(event, list)| list.iter().map(move |c| (*event, c)));
    let hooks = hooks.filter(|(_, c)| c.layer == ConfigLayer::Project);
    let hooks = hooks.map(|(event, c)| hook(event.name(), &c.value, c.place.clone()));
    let gates = config.gates.values().flat_map(|gate| gate.commands.iter().map(move |c| (gate, c)));
    let gates = gates.filter(|(_, c)| c.layer == ConfigLayer::Project);
    let gates = gates.map(|(gate, c)| gate_command(&gate.name, &c.value.command, c.place.clone()));
    verified.chain(hooks).chain(gates).collect()
}

/// A command that belongs to an event.
pub fn hook(event: &str, command: &str, place: Option<SourceSpan>) -> TrustEntry {
    let text = format!("run {} as the {event} hook", visible(command));
    entry(What::Command, text, &["hook", event, command], place)
}

/// A command a gate asks.
pub fn gate_command(gate: &str, command: &str, place: Option<SourceSpan>) -> TrustEntry {
    let text = format!("run {} for the gate {}", visible(command), visible(gate));
    entry(What::Command, text, &["gate", command], place)
}

/// An agent that is known by its file: the same thing to agree to as `file` of `[agents.NAME]`.
pub fn instructions(agent: &AgentFile) -> TrustEntry {
    let path = visible(&agent.path.display().to_string());
    let text = format!("instruct agent `{}` with the file {path}", visible(&agent.name));
    let group = Some(Group::File { agent: agent.name.clone(), path: agent.path.clone() });
    TrustEntry { group, ..entry(What::AgentFile, text, &[&agent.digest.to_string()], None) }
}

#[cfg(test)]
mod tests {
    use super::super::needs_trust;
    use super::*;
    use crate::config::parse;
    use crate::place::Source;
    use insta::assert_snapshot;

    const PROJECT: &str = r#"
[project]
verify = "make"
[verify.coder]
commands = ["Rscript run.R"]
[hooks]
pre-commit = "./lint.sh"
before-resume = ["./a", "./b\u202e"]
[gates.commit]
commands = [{ name = "lint", command = "make lint", exit = 1 }]
"#;

    fn shown(layer: ConfigLayer) -> String {
        let (partial, problems) = parse(&Source::new(layer, "gadfly.toml", "/nowhere", PROJECT));
        assert_eq!(problems, []);
        let (config, problems) = Config::from_layers([partial]);
        assert_eq!(problems, []);
        let line = |e: &TrustEntry| format!("{} ({})", e.text, e.place.as_ref().unwrap());
        needs_trust(&config).iter().map(line).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn every_command_of_a_cloned_project_has_to_be_agreed_to() {
        assert_snapshot!(shown(ConfigLayer::Project), @r#"
        run Rscript run.R to verify a worker's files (gadfly.toml:5:13)
        run make to verify a worker's files (gadfly.toml:3:10)
        run ./lint.sh as the pre-commit hook (gadfly.toml:7:14)
        run ./a as the before-resume hook (gadfly.toml:8:18)
        run ./b\u{202e} as the before-resume hook (gadfly.toml:8:25)
        run make lint for the gate commit (gadfly.toml:10:40)
        "#);
        assert_eq!(shown(ConfigLayer::User), "");
    }
}
