//! What commands that are no agents are given of the user's: those that verify, `prepare`, hooks, a gate's, and those
//! that a model runs. Only the user's own file says so: a project's has no say in it.

use super::mcp::is_variable;
use super::value::ConfigTable;
use crate::place::{ConfigLayer, Problem, Sourced, brief};

#[derive(Clone, PartialEq, Debug)]
pub struct CommandsConfig {
    /// Names of variables that they get besides the usual ones.
    pub env: Vec<Sourced<String>>,
    /// Whether the user's own commands may open the user's terminals.
    pub terminals: Sourced<bool>,
}

impl Default for CommandsConfig {
    fn default() -> Self {
        Self { env: Vec::new(), terminals: Sourced::built_in(false) }
    }
}

impl CommandsConfig {
    pub(super) fn build(table: Option<&ConfigTable>, problems: &mut Vec<Problem>) -> Self {
        let Some(table) = table else { return Self::default() };
        let mut env = table.texts("env").map(|list| list.value).unwrap_or_default();
        for name in env.iter().filter(|name| !is_variable(&name.value)) {
            let message =
                format!("`env` of the commands names `{}`, which is no variable", brief(&name.value));
            let problem = Problem::error(message).help("give names only, like env = [\"DATABASE_URL\"]");
            problems.push(problem.at(name.place.as_ref()));
        }
        let mut terminals = table.flag("terminals").unwrap_or(Sourced::built_in(false));
        let env_place = env.iter().find(|name| name.layer == ConfigLayer::Project).map(|name| &name.place);
        let place =
            Some(&terminals.place).filter(|_| terminals.layer == ConfigLayer::Project && terminals.value);
        for (key, place) in [("env", env_place), ("terminals", place)] {
            let Some(place) = place else { continue };
            let message = format!("`{key}` of the commands has no effect in a project's file");
            let help = "it gives away what is yours: put it into ~/.config/gadfly/gadfly.toml";
            problems.push(Problem::warning(message).help(help).at(place.as_ref()));
        }
        env.retain(|name| name.layer != ConfigLayer::Project);
        if terminals.layer == ConfigLayer::Project {
            terminals = Sourced::built_in(false);
        }
        Self { env, terminals }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, parse};
    use crate::place::Source;

    fn built(layer: ConfigLayer, text: &str) -> (CommandsConfig, Vec<String>) {
        let (partial, _) = parse(&Source::new(layer, "gadfly.toml", "/nowhere", text));
        let (config, problems) = Config::from_layers([partial]);
        (config.commands, problems.iter().map(|problem| problem.message.clone()).collect())
    }

    const TEXT: &str = "[commands]\nenv = [\"DATABASE_URL\"]\nterminals = true\n";

    #[test]
    fn the_user_says_what_commands_are_given_and_a_project_does_not() {
        let (commands, problems) = built(ConfigLayer::User, TEXT);
        assert_eq!((commands.env.len(), commands.terminals.value, problems), (1, true, Vec::new()));
        let (commands, problems) = built(ConfigLayer::Project, TEXT);
        assert_eq!((commands.env.len(), commands.terminals.value), (0, false));
        assert_eq!(problems.len(), 2, "{problems:?}");
        let (_, problems) = built(ConfigLayer::User, "[commands]\nenv = [\"A=b\"]\n");
        assert!(problems[0].contains("which is no variable"), "{problems:?}");
    }
}
