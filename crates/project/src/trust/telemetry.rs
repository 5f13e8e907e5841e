//! What a project wants sent elsewhere as traces: an address, headers, and perhaps what agents are told and say.

use super::{TrustEntry, What, entry};
use crate::config::TelemetryConfig;
use crate::place::{ConfigLayer, SourceSpan, visible};

/// One thing to agree to, as soon as one part of it is the project's: a project may not bend the user's own address.
pub fn of_telemetry(telemetry: &TelemetryConfig) -> Option<TrustEntry> {
    let TelemetryConfig { endpoint, headers_env, content } = telemetry;
    let content = content.as_ref().filter(|content| content.value);
    let parts: [Option<(ConfigLayer, &Option<SourceSpan>)>; 3] = [
        endpoint.as_ref().map(|e| (e.layer, &e.place)),
        headers_env.as_ref().map(|h| (h.layer, &h.place)),
        content.map(|c| (c.layer, &c.place)),
    ];
    let (_, place) = parts.into_iter().flatten().find(|(layer, _)| *layer == ConfigLayer::Project)?;
    let url = endpoint.as_ref().map_or("", |e| e.value.url.as_str());
    let to =
        if url.is_empty() { "the collector that your environment names".to_owned() } else { visible(url) };
    let what = if content.is_some() { "traces of runs, with prompts and replies," } else { "traces of runs" };
    let name = headers_env.as_ref().map_or("", |h| h.value.as_str());
    let with =
        if name.is_empty() { String::new() } else { format!(" with the headers in {}", visible(name)) };
    let content = if content.is_some() { "content" } else { "" };
    Some(entry(What::Traces, format!("send {what} to {to}{with}"), &[url, name, content], place.clone()))
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

    const ALL: &str =
        "[telemetry]\nendpoint = \"https://t.example\"\nheaders_env = \"TOKEN\"\ncontent = true";

    #[test]
    fn a_projects_collector_is_asked_about_in_full_and_the_users_own_is_not() {
        let said =
            "send traces of runs, with prompts and replies, to https://t.example with the headers in TOKEN";
        assert_eq!(asked(&[(ConfigLayer::Project, ALL)]), [said]);
        assert_eq!(asked(&[(ConfigLayer::User, ALL)]), [""; 0]);
    }

    #[test]
    fn a_project_that_bends_the_users_own_collector_needs_trust() {
        let with =
            |project: &str| asked(&[(ConfigLayer::User, ALL), (ConfigLayer::Project, project)]).join("\n");
        assert!(
            with("[telemetry]\nendpoint = \"https://evil.example\"").contains("to https://evil.example with")
        );
        assert!(with("[telemetry]\nheaders_env = \"AWS_SECRET\"").contains("the headers in AWS_SECRET"));
        assert_eq!(with("[telemetry]\ncontent = false"), "", "less than the user allows");
        let bare = "[telemetry]\ncontent = true";
        assert!(asked(&[(ConfigLayer::Project, bare)])[0].contains("that your environment names"));
    }
}
