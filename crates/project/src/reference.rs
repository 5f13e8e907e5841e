//! The commented reference of every option, made from the table. In it, `#key = value` is a setting and `# text` is prose.

use std::fmt::Write as _;
use std::time::Duration;

use crate::config::keys::{self, ConfigSection, Fixed, Key, KeyScope, Shape};
use crate::config::{AgentKind, ArtifactSource, LoopProtocol};

const HEAD: &str = "\
# Every key that gadfly.toml may have. A project needs none of them: everything has a default.
#
# Layers: built-in values < your own config file (your agents, once) < the project's gadfly.toml < flags.
# To use a key, copy its line and remove the `#`. The values below are the defaults where a key has one,
# and examples elsewhere. An agent that states its `kind` in a later layer replaces the earlier agent of
# that name; one that does not changes only the keys it names.
#
# Times are seconds (90) or text (\"90s\", \"5m\", \"1h30m\"). Paths are relative to this file; a project's file
# may name only files inside the project. Zero never means \"without limit\".
";

/// The tables in the order of the reference, each as it may be headed, and what there is to say of it.
const TABLES: &[(ConfigSection, &str, &str)] = &[
    (
        ConfigSection::Agent,
        "[agents.writer]",
        "Anything that answers a brief: a model behind an API, a program you have, a person. What follows a key in \
         parentheses are the kinds that know it; programs are command and the coding agents, and those are claude-code, \
         codex, gemini, opencode and acp.",
    ),
    (
        ConfigSection::Price,
        "[agents.writer.price]",
        "What a call costs, in dollars per million tokens. Agents on this machine cost nothing unless it is given.",
    ),
    (ConfigSection::Defaults, "[defaults]", "What every loop starts from: the keys are as in [loops.NAME]."),
    (
        ConfigSection::Loop,
        "[loops.abstract]",
        "A loop by its name: `gadfly run abstract`. What follows a key in parentheses are the protocols that know it.",
    ),
    (
        ConfigSection::Goal,
        "[goals.fix]",
        "A goal by its name: `gadfly goal fix`. A worker with tools pursues it while a critic watches its steps. It ends \
         when the goal is verified, when the worker gives up with a report, when you end it, or at a cap.",
    ),
    (
        ConfigSection::Budget,
        "[budget]",
        "Caps of one run. The same keys are those of [loops.NAME.budget], [goals.NAME.budget] and [agents.NAME.budget].",
    ),
    (
        ConfigSection::Workspace,
        "[workspace]",
        "The folder of a worker that edits files. It begins as a copy of what you see: tracked, changed and new files, \
         without what git ignores. These add to it.",
    ),
    (
        ConfigSection::Commands,
        "[commands]",
        "Commands that are no agents: verify commands, prepare, hooks, gates, what a model runs. Only in your own file; a \
         project's has no say in it.",
    ),
    (
        ConfigSection::Mcp,
        "[mcp.tracker]",
        "A server whose tools a goal's worker is offered, by the Model Context Protocol. Only goals that name it in `mcp` \
         use it. Its tools are called NAME__TOOL.",
    ),
    (
        ConfigSection::Project,
        "[project]",
        "The project as agents see it. Agents, skills, rules and the registry are files of the project; these say where, \
         and what the files do not. Agents known only by their file run on [agents.default], critics on \
         [agents.default-critic] if it is there; these are ordinary agents and supply kind and model. The file supplies \
         the instructions, [agents.NAME] overrides.",
    ),
    (
        ConfigSection::Verify,
        "[verify.coder]",
        "Commands for the files of one agent, in place of `verify` of [project].",
    ),
    (ConfigSection::Pipeline, "[pipeline]", "How `gadfly pipeline` works."),
    (
        ConfigSection::Dual,
        "[[dual]]",
        "A second critic for an agent's work, with another lens; it has to be satisfied, too. One table for each. Default \
         in the claude layout: strategist with coder-critic, coder and writer with strategist-critic, where they are there.",
    ),
    (
        ConfigSection::Hooks,
        "[hooks]",
        "Commands at events: a string or a list. One that does not end with 0 blocks what it stands before; its output is \
         shown. There is a shell.",
    ),
    (
        ConfigSection::Gate,
        "[gates.camera-ready]",
        "A gate of your own, or a change of one that is shipped: commit (80), pr (90), submission (95, each 80, complete), \
         exploration (60).",
    ),
    (
        ConfigSection::Signing,
        "[signing]",
        "Receipts, the seals of the journal and exports. Has an effect in your own ~/.config/gadfly/gadfly.toml only.",
    ),
    (
        ConfigSection::Telemetry,
        "[telemetry]",
        "Traces of runs, for a collector of OpenTelemetry. OTEL_EXPORTER_OTLP_ENDPOINT and its relatives in the \
         environment go before what is here.",
    ),
];

/// The whole reference as TOML in which every line is a comment.
pub fn reference() -> String {
    let mut out = HEAD.to_owned();
    for (section, header, prose) in TABLES {
        out.push('\n');
        comment(&mut out, prose);
        let _ = writeln!(out, "#{header}");
        for key in keys::of(*section) {
            row(&mut out, key, *section);
        }
    }
    out
}

fn row(out: &mut String, key: &Key, section: ConfigSection) {
    let Some(value) = value(key) else { return };
    if section != ConfigSection::Defaults {
        let mut says = key.says.to_owned();
        if let Shape::OneOf(words) = key.shape {
            says = format!("{says}: {}", words.join(" | "));
        }
        if let Shape::Kind | Shape::Protocol | Shape::Output = key.shape {
            says = format!("{says}: {}", names(key.shape).join(" | "));
        }
        if let Shape::Whole { min, max: max @ ..=1000 } = key.shape {
            says = format!("{says}, {min} to {max}");
        }
        says.push_str(&known_to(key));
        says.push('.');
        if !key.more.is_empty() {
            says = format!("{says} {}", key.more);
        }
        comment(out, &says);
    }
    let _ = writeln!(out, "#{} = {value}", key.name);
}

/// As it is written; None for a table, which stands by itself.
fn value(key: &Key) -> Option<String> {
    if let Shape::Table(_) | Shape::Named(_) = key.shape {
        return None;
    }
    Some(match key.default {
        Some(Fixed::Whole(number)) => number.to_string(),
        Some(Fixed::Flag(flag)) => flag.to_string(),
        Some(Fixed::Text(text)) => format!("\"{text}\""),
        Some(Fixed::Time(time)) => format!("\"{}\"", short(time)),
        None => key.like.to_owned(),
    })
}

pub fn short(time: Duration) -> String {
    match time.as_secs() {
        seconds if seconds % 60 == 0 => format!("{}m", seconds / 60),
        seconds => format!("{seconds}s"),
    }
}

/// The names that can be chosen from.
pub fn names(shape: Shape) -> Vec<&'static str> {
    match shape {
        Shape::OneOf(words) => words.to_vec(),
        Shape::Kind => AgentKind::every().map(AgentKind::name).collect(),
        Shape::Protocol => LoopProtocol::all().map(LoopProtocol::name).collect(),
        Shape::Output => ArtifactSource::ALL.iter().map(|output| output.name()).collect(),
        _ => Vec::new(),
    }
}

fn known_to(key: &Key) -> String {
    let names: Vec<&str> = match key.used {
        KeyScope::Always => key.protocols().into_iter().map(LoopProtocol::name).collect(),
        // All but a person, or but persons and scripts, is said where it matters.
        KeyScope::Kinds(kinds) if kinds.len() > 6 => return String::new(),
        KeyScope::Kinds(kinds) if kinds.contains(&AgentKind::Command) => return " (programs)".to_owned(),
        KeyScope::Kinds(kinds) if kinds.contains(&AgentKind::Acp) => return " (coding agents)".to_owned(),
        KeyScope::Kinds(kinds) => kinds.iter().map(|kind| kind.name()).collect(),
    };
    if names.is_empty() {
        return String::new();
    }
    format!(" ({})", names.join(", "))
}

/// Prose of at most this width; a line that begins with a space stays as it is.
fn comment(out: &mut String, prose: &str) {
    const WIDTH: usize = 110;
    for line in prose.split('\n') {
        if line.starts_with(' ') {
            let _ = writeln!(out, "# {line}");
            continue;
        }
        let mut shown = String::from("#");
        for word in line.split_whitespace() {
            if shown.chars().count() + 1 + word.chars().count() > WIDTH {
                let _ = writeln!(out, "{shown}");
                shown = String::from("#");
            }
            shown.push(' ');
            shown.push_str(word);
        }
        let _ = writeln!(out, "{shown}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, parse};
    use crate::place::{ConfigLayer, Source};

    #[test]
    fn as_it_is_it_sets_nothing() {
        assert!(reference().parse::<toml::Table>().unwrap().is_empty());
    }

    #[test]
    fn every_option_of_the_table_is_in_it_with_something_to_say() {
        let text = reference();
        for key in keys::all().filter(|key| value(key).is_some() && key.section != ConfigSection::GateCommand)
        {
            if key.section != ConfigSection::Top {
                assert!(!key.says.is_empty() && !key.says.ends_with('.'), "{:?} {}", key.section, key.name);
                assert!(text.contains(&format!("\n#{} = ", key.name)), "{:?} {}", key.section, key.name);
            }
        }
    }

    /// What a key needs beside it to mean something.
    fn table(key: &Key) -> String {
        let line = format!("{} = {}\n", key.name, value(key).unwrap());
        match (key.section, key.used) {
            (ConfigSection::Agent, used) => {
                let kind = match used {
                    KeyScope::Kinds([first, ..]) => first.name(),
                    _ => "openai",
                };
                let more = match kind {
                    "openai" | "anthropic" if key.name != "model" => "model = \"m\"\n",
                    "command" | "acp" if key.name != "command" => "command = [\"x\"]\n",
                    _ => "",
                };
                let kind = if key.name == "kind" { String::new() } else { format!("kind = \"{kind}\"\n") };
                format!("[agents.writer]\n{kind}{more}{line}")
            }
            (ConfigSection::Price, _) => {
                let other = if key.name == "input" { "output" } else { "input" };
                let third = if matches!(key.name, "input" | "output") { "" } else { "output = 1.0\n" };
                format!(
                    "[agents.writer]\nkind = \"openai\"\nmodel = \"m\"\n[agents.writer.price]\n{other} = 1.0\n{third}{line}"
                )
            }
            (ConfigSection::Loop, _) if !key.protocols().is_empty() => {
                format!("[loops.abstract]\nprotocol = \"{}\"\n{line}", key.protocols()[0])
            }
            (ConfigSection::Mcp, _) if !matches!(key.name, "command" | "url") => {
                format!("[mcp.tracker]\ncommand = [\"x\"]\n{line}")
            }
            (ConfigSection::Dual, _) => {
                let others =
                    [("agent", "a"), ("critic", "b")].into_iter().filter(|(name, _)| *name != key.name);
                let others: Vec<String> =
                    others.map(|(name, value)| format!("{name} = \"{value}\"\n")).collect();
                let others = others.concat();
                format!("[[dual]]\n{others}{line}")
            }
            (ConfigSection::Verify, _) if key.name == "timeout" => {
                format!("[verify.coder]\ncommands = \"x\"\n{line}")
            }
            (ConfigSection::Gate, _) if key.name != "overall" => {
                format!("[gates.ready]\noverall = 90\n{line}")
            }
            (section, _) => {
                let (_, header, _) = TABLES.iter().find(|(known, ..)| *known == section).unwrap();
                format!("{header}\n{line}")
            }
        }
    }

    #[test]
    fn each_line_can_be_copied_as_it_is() {
        let agents = "[agents.writer]\nkind = \"person\"\n[agents.critic]\nkind = \"person\"\n\
                      [agents.reviewer]\nkind = \"person\"\n[mcp.tracker]\ncommand = [\"x\"]\n";
        let tmp = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(tmp.path().join(".claude/agents")).unwrap();
        std::fs::write(tmp.path().join(".claude/agents/reviewer.md"), "Review.").unwrap();
        for key in keys::all().filter(|key| value(key).is_some()) {
            if matches!(key.section, ConfigSection::Top | ConfigSection::GateCommand) {
                continue;
            }
            let own = table(key);
            let text = match key.section {
                ConfigSection::Agent | ConfigSection::Price | ConfigSection::Mcp => own,
                _ => format!("{agents}{own}"),
            };
            let (partial, problems) =
                parse(&Source::new(ConfigLayer::User, "g.toml", tmp.path(), text.clone()));
            assert_eq!(problems, [], "{text}");
            let (_, problems) = Config::from_layers([partial]);
            let wrong: Vec<_> =
                problems.iter().filter(|p| p.is_error() && !p.message.contains("person")).collect();
            assert!(wrong.is_empty(), "{text}\n{wrong:?}");
        }
    }
}
