//! One MCP server's settings: typed, complete, each with its origin. How it is reached, not what it offers.

use std::time::Duration;

use gadfly_engine::tool::Risk;

use super::endpoint::{Endpoint, as_said};
use super::keys;
use super::value::ConfigTable;
use crate::place::{Problem, SourceSpan, Sourced};

#[derive(Clone, PartialEq, Debug)]
pub struct McpConfig {
    pub name: String,
    pub place: Option<SourceSpan>,
    /// The program and its arguments; empty if the server has a `url`.
    pub command: Vec<Sourced<String>>,
    pub url: Option<Sourced<Endpoint>>,
    /// Names of variables passed through to the command.
    pub env: Vec<Sourced<String>>,
    /// How far a call of its tools goes.
    pub risk: Sourced<Risk>,
    /// The most time one call gets.
    pub timeout: Sourced<Duration>,
}

impl McpConfig {
    /// None if the server cannot be used; the problems then say why, here or in its layer.
    pub(super) fn build(name: &str, table: &ConfigTable, problems: &mut Vec<Problem>) -> Option<Self> {
        let said_before = problems.len();
        let mut say = |problem: Problem, key: &str| problems.push(problem.at(table.place_of(key)));
        if name.contains("__") || name.ends_with('_') {
            let message = format!("`mcp.{name}` is not a usable name: its tools are called `{name}__TOOL`");
            say(Problem::error(message).help("leave out `__`, and `_` at the end"), "command");
        }
        if !table.has("command") && !table.has("url") {
            let message = format!("MCP server `{name}` has neither `command` nor `url`");
            let help = "add command = [\"the-program\"], or url = \"http://…\"";
            say(Problem::error(message).help(help), "command");
        }
        let url = table.text("url").and_then(|text| match Endpoint::parse(&text.value) {
            Ok(endpoint) => Some(text.with(endpoint)),
            Err(why) => {
                let message = format!("{} is not a usable `url`: {why}", as_said(&text.value));
                say(Problem::error(message), "url");
                None
            }
        });
        let mut env = table.texts("env").map(|list| list.value).unwrap_or_default();
        if table.has("url") && table.has("env") {
            let message = format!("`env` has no effect on MCP server `{name}`, which has a `url`");
            say(Problem::warning(message).help("it is for: command"), "env");
            env.clear();
        }
        for variable in env.iter().filter(|n| !is_variable(&n.value)) {
            // Not repeated: a value may stand there.
            let count = variable.value.chars().count();
            let message = format!(
                "`env` of MCP server `{name}` has an entry of {count} characters that is not a valid variable name"
            );
            say(Problem::error(message).help("give names only, like env = [\"GITHUB_TOKEN\"]"), "env");
        }
        let risk = table.text("risk").map(|word| {
            let risk = Risk::of(&word.value).unwrap_or(keys::MCP_RISK);
            word.with(risk)
        });
        let server = Self {
            name: name.to_owned(),
            place: table.place.clone(),
            command: table.texts("command").map(|list| list.value).unwrap_or_default(),
            url,
            env,
            risk: risk.unwrap_or(Sourced::built_in(keys::MCP_RISK)),
            timeout: table.time("timeout").unwrap_or(Sourced::built_in(keys::MCP_TIMEOUT)),
        };
        let wrong = problems.iter().skip(said_before).any(Problem::is_error);
        (!wrong && !table.is_spoiled()).then_some(server)
    }
}

pub(super) fn is_variable(name: &str) -> bool {
    !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, parse};
    use crate::place::{ConfigLayer, Source};

    fn read(layers: &[(ConfigLayer, &str)]) -> (Config, Vec<String>) {
        let mut said = Vec::new();
        let mut say = |problems: Vec<Problem>| {
            said.extend(
                problems.into_iter().map(|p| format!("{} ({})", p.message, p.help.unwrap_or_default())),
            );
        };
        let partials: Vec<_> = layers
            .iter()
            .map(|(layer, text)| {
                let (partial, problems) = parse(&Source::new(*layer, "gadfly.toml", "/nowhere", *text));
                say(problems);
                partial
            })
            .collect();
        let (config, problems) = Config::from_layers(partials);
        say(problems);
        (config, said)
    }

    fn project(text: &str) -> (Config, Vec<String>) {
        read(&[(ConfigLayer::Project, text)])
    }

    #[test]
    fn a_server_is_a_program_or_an_address_with_a_careful_default() {
        let (config, said) = project(
            "[mcp.files]\ncommand = [\"npx\", \"-y\", \"server\"]\nenv = [\"TOKEN\"]\nrisk = \"read_only\"\n\
             timeout = \"5m\"\n[mcp.web]\nurl = \"http://127.0.0.1:3000/mcp\"",
        );
        assert_eq!(said, [""; 0]);
        let (files, web) = (&config.mcp["files"], &config.mcp["web"]);
        assert_eq!(files.command.len(), 3);
        assert_eq!((files.env[0].value.as_str(), files.risk.value), ("TOKEN", Risk::ReadOnly));
        assert_eq!(files.timeout.value, Duration::from_mins(5));
        assert_eq!(web.url.as_ref().unwrap().value.url, "http://127.0.0.1:3000/mcp");
        assert_eq!((web.risk.value, web.timeout.value), (Risk::NetworkWrite, Duration::from_mins(2)));
    }

    #[test]
    fn what_cannot_be_meant_is_said_and_the_server_is_left_out() {
        for (text, message) in [
            ("risk = \"read_only\"", "has neither `command` nor `url`"),
            ("command = [\"x\"]\nurl = \"http://a.example\"", "`command` and `url` cannot both be given"),
            ("url = \"https://user:pw@a.example\"", "is not a usable `url`"),
            ("url = \"ftp://a.example\"", "must begin with http://"),
            ("command = [\"x\"]\nenv = [\"A=b\"]", "not a valid variable name"),
            ("command = [\"x\"]\nrisk = \"network\"", "must be one of \"read_only\""),
            ("command = []", "not an empty list"),
            ("command = \"npx server\"", "must be a list of strings"),
            ("command = [\"x\"]\ntimeout = 0", "must be a time above zero"),
        ] {
            let (config, said) = project(&format!("[mcp.s]\n{text}"));
            assert!(said.iter().any(|s| s.contains(message)), "{text}: {said:?}");
            assert!(text.contains("a.example\"") || config.mcp.is_empty(), "{text}");
        }
        let (config, said) = project("[mcp.a__b]\ncommand = [\"x\"]\n[mcp.c_]\ncommand = [\"x\"]");
        assert_eq!((config.mcp.len(), said.len()), (0, 2), "{said:?}");
    }

    #[test]
    fn an_unknown_key_is_answered_with_the_nearest() {
        let (_, said) = project("[mcp.s]\ncomand = [\"x\"]\ncommand = [\"x\"]");
        assert_eq!(said, ["unknown key `comand` in `mcp.s` (did you mean `command`?)"]);
    }

    #[test]
    fn a_project_does_not_alter_the_users_own_server() {
        let user = "[mcp.s]\ncommand = [\"x\"]\nrisk = \"read_only\"";
        let (config, said) =
            read(&[(ConfigLayer::User, user), (ConfigLayer::Project, "[mcp.s]\nurl = \"http://a.example\"")]);
        assert!(said[0].starts_with("the server `s` is your own"), "{said:?}");
        assert!(!config.mcp["s"].command.is_empty() && config.mcp["s"].url.is_none());
    }
}
