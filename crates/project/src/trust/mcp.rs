//! What a project's MCP servers want to be allowed: programs to run, addresses to talk to, calls that count as
//! harmless.

use gadfly_engine::tool::Risk;

use super::{TrustEntry, What, entry, shown};
use crate::config::McpConfig;
use crate::place::{ConfigLayer, visible};

/// What the project's part of a server wants.
pub fn of_server(server: &McpConfig) -> Vec<TrustEntry> {
    [command(server), address(server), harmless(server)].into_iter().flatten().collect()
}

fn words(server: &McpConfig) -> Vec<&str> {
    let url = server.url.iter().map(|url| url.value.url.as_str());
    server.command.iter().map(|word| word.value.as_str()).chain(url).collect()
}

fn command(server: &McpConfig) -> Option<TrustEntry> {
    let from_project = server.command.iter().chain(&server.env).find(|v| v.layer == ConfigLayer::Project)?;
    let words = words(server);
    let names: Vec<&str> = server.env.iter().map(|n| n.value.as_str()).collect();
    let given = if names.is_empty() { "" } else { " with the variables " };
    let text = format!("run {} as an MCP server{given}{}", shown(&words), visible(&names.join(", ")));
    // The count keeps a word from passing as a variable's name.
    let count = words.len().to_string();
    let parts: Vec<&str> = ["mcp", count.as_str()].into_iter().chain(words).chain(names).collect();
    Some(entry(What::Command, text, &parts, from_project.place.clone()))
}

fn address(server: &McpConfig) -> Option<TrustEntry> {
    let url = server.url.as_ref().filter(|url| url.layer == ConfigLayer::Project)?;
    let text =
        format!("send what workers ask of MCP server `{}` to {}", server.name, visible(&url.value.url));
    Some(entry(What::Host, text, &["mcp-url", &url.value.url], url.place.clone()))
}

/// A server that the project calls less dangerous than it is taken to be.
fn harmless(server: &McpConfig) -> Option<TrustEntry> {
    let risk = &server.risk;
    if risk.layer != ConfigLayer::Project || risk.value >= Risk::NetworkWrite {
        return None;
    }
    let words = words(server);
    let text = format!("take calls of the MCP server {} to be no more than {}", shown(&words), risk.value);
    let parts: Vec<&str> = ["mcp-risk", risk.value.name()].into_iter().chain(words).collect();
    Some(entry(What::Command, text, &parts, risk.place.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, parse};
    use crate::place::Source;
    use crate::trust::needs_trust;

    fn asked(layers: &[(ConfigLayer, &str)]) -> Vec<String> {
        let partials = layers.iter().map(|(layer, text)| {
            let (partial, problems) = parse(&Source::new(*layer, "gadfly.toml", "/nowhere", *text));
            assert_eq!(problems, []);
            partial
        });
        needs_trust(&Config::from_layers(partials).0).into_iter().map(|e| e.text).collect()
    }

    const SERVERS: &str = "[mcp.a]\ncommand = [\"npx\", \"a b\"]\nenv = [\"TOKEN\"]\nrisk = \"read_only\"\n\
                           [mcp.b]\nurl = \"https://b.example/mcp\"\nrisk = \"spends_money\"";

    #[test]
    fn a_projects_servers_are_listed_in_full_and_the_users_own_are_trusted() {
        assert_eq!(
            asked(&[(ConfigLayer::Project, SERVERS)]),
            [
                "run npx 'a b' as an MCP server with the variables TOKEN",
                "take calls of the MCP server npx 'a b' to be no more than read_only",
                "send what workers ask of MCP server `b` to https://b.example/mcp",
            ]
        );
        assert_eq!(asked(&[(ConfigLayer::User, SERVERS)]), [""; 0]);
    }

    #[test]
    fn a_project_cannot_bend_the_users_own_server_so_there_is_nothing_to_ask() {
        let with = |project: &str| {
            asked(&[(ConfigLayer::User, SERVERS), (ConfigLayer::Project, project)]).join("\n")
        };
        for bent in ["env = [\"AWS_SECRET\"]", "url = \"http://evil.example\"", "risk = \"read_only\""] {
            assert_eq!(with(&format!("[mcp.a]\n{bent}")), "", "{bent}");
        }
    }
}
