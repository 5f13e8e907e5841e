//! `[telemetry]`: where traces of runs go, and how much is in them. Sending them is not done here.

use super::endpoint::{Endpoint, as_said};
use super::value::ConfigTable;
use crate::place::{Problem, Sourced};

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TelemetryConfig {
    /// A collector that speaks OTLP over HTTP. None: traces go nowhere, unless the environment names a place.
    pub endpoint: Option<Sourced<Endpoint>>,
    /// The variable that holds the headers to send with them, as `name=value,name=value`.
    pub headers_env: Option<Sourced<String>>,
    /// Prompts, replies and findings are part of the traces.
    pub content: Option<Sourced<bool>>,
}

impl TelemetryConfig {
    pub(super) fn build(table: Option<&ConfigTable>, problems: &mut Vec<Problem>) -> Self {
        let Some(table) = table else { return Self::default() };
        let endpoint = table.text("endpoint").and_then(|text| match Endpoint::parse(&text.value) {
            Ok(endpoint) => Some(text.with(endpoint)),
            Err(why) => {
                let message = format!("{} is not a usable `endpoint`: {why}", as_said(&text.value));
                let help = "give the address of a collector, like \"http://127.0.0.1:4318\"";
                problems.push(Problem::error(message).help(help).at(table.place_of("endpoint")));
                None
            }
        });
        let headers_env = table.text("headers_env").filter(|name| {
            let good = super::mcp::is_variable(&name.value);
            if !good {
                // Not repeated: the headers themselves may stand there.
                let count = name.value.chars().count();
                let message = format!(
                    "`headers_env` has an entry of {count} characters that is not a valid variable name"
                );
                let help = "give the variable's name only, like \"COLLECTOR_HEADERS\"";
                problems.push(Problem::error(message).help(help).at(table.place_of("headers_env")));
            }
            good
        });
        Self { endpoint, headers_env, content: table.flag("content") }
    }

    pub fn has_content(&self) -> bool {
        self.content.as_ref().is_some_and(|content| content.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, parse};
    use crate::place::{ConfigLayer, Source};

    fn read(text: &str) -> (TelemetryConfig, Vec<String>) {
        let (partial, mut problems) =
            parse(&Source::new(ConfigLayer::Project, "gadfly.toml", "/nowhere", text));
        let (config, found) = Config::from_layers([partial]);
        problems.extend(found);
        (config.telemetry, problems.into_iter().map(|p| p.message).collect())
    }

    #[test]
    fn an_address_is_read_and_content_stays_out_unless_it_is_asked_for() {
        let (telemetry, said) = read("[telemetry]\nendpoint = \"http://127.0.0.1:4318/\"");
        assert_eq!(said, [""; 0]);
        assert_eq!(telemetry.endpoint.as_ref().unwrap().value.url, "http://127.0.0.1:4318");
        assert!(!telemetry.has_content());
        assert!(read("[telemetry]\ncontent = true").0.has_content());
    }

    #[test]
    fn an_address_or_a_variable_that_cannot_be_meant_is_said_where_it_stands() {
        for (text, word) in [
            ("endpoint = \"127.0.0.1:4318\"", "is not a usable `endpoint`"),
            ("endpoint = \"http://key@a.example\"", "is not a usable `endpoint`"),
            ("headers_env = \"a=b\"", "not a valid variable name"),
            ("contents = true", "unknown key `contents`"),
        ] {
            let (telemetry, said) = read(&format!("[telemetry]\n{text}"));
            assert!(said.iter().any(|line| line.contains(word)), "{text}: {said:?}");
            assert_eq!(telemetry, TelemetryConfig::default(), "{text}");
        }
    }
}
