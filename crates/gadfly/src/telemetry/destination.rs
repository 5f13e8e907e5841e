//! Where traces go: the standard variables of OpenTelemetry, else `[telemetry]`. It is found, not reached.

use std::collections::HashMap;

use gadfly_project::config::{BadEndpoint, Endpoint, TelemetryConfig};

/// What an address becomes where only the collector is named.
const PATH: &str = "/v1/traces";
const SERVICE: &str = "gadfly";
const WITH_A_KEY: &str =
    "a user name or key in an address ends up in logs; put it into OTEL_EXPORTER_OTLP_HEADERS";

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Destination {
    /// The whole address spans are sent to.
    pub url: String,
    pub loopback: bool,
    pub tls: bool,
    /// The environment names it: it is the user's own, and so are the headers of the environment.
    pub of_environment: bool,
    /// What is sent along, besides.
    pub headers: HashMap<String, String>,
    /// With what agents are told and say.
    pub content: bool,
    /// The name under which spans are found.
    pub service: String,
}

/// A variable that has something in it.
pub fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.trim().is_empty())
}

/// None: nothing is to be sent. The error says what cannot be meant.
pub fn find(
    config: &TelemetryConfig,
    env: impl Fn(&str) -> Option<String>,
) -> Result<Option<Destination>, String> {
    let is = |name: &str, word: &str| env(name).is_some_and(|value| value.trim().eq_ignore_ascii_case(word));
    if is("OTEL_SDK_DISABLED", "true") || is("OTEL_TRACES_EXPORTER", "none") {
        return Ok(None);
    }
    let named = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"];
    let named = named.iter().find_map(|name| Some((*name, env(name)?)));
    let (endpoint, whole, of_environment) = match (&named, &config.endpoint) {
        (Some((name, url)), _) => {
            let parsed = Endpoint::parse(url.trim()).map_err(|why| match why {
                BadEndpoint::Credentials => format!("{name}: {WITH_A_KEY}"),
                why => format!("{name}: {why}"),
            })?;
            (parsed, name.contains("TRACES"), true)
        }
        (None, Some(endpoint)) => (endpoint.value.clone(), false, false),
        (None, None) => return Ok(None),
    };
    let url = if whole || endpoint.url.ends_with(PATH) {
        endpoint.url.clone()
    } else {
        format!("{}{PATH}", endpoint.url)
    };
    let headers = match config.headers_env.as_ref().filter(|_| !of_environment) {
        Some(name) => headers(&env(&name.value).ok_or_else(|| {
            format!("{}, which `headers_env` of [telemetry] names, is not set", name.value)
        })?)?,
        None => HashMap::new(),
    };
    Ok(Some(Destination {
        url,
        loopback: endpoint.loopback,
        tls: endpoint.tls,
        of_environment,
        headers,
        content: config.has_content(),
        service: service(env),
    }))
}

/// The name that the environment gives, in the order the standard has.
fn service(env: impl Fn(&str) -> Option<String>) -> String {
    let among = |all: String| {
        let pairs = all.split(',').filter_map(|pair| pair.split_once('='));
        let mut named = pairs.filter(|(name, _)| name.trim() == "service.name");
        named.next_back().map(|(_, value)| value.trim().to_owned()).filter(|value| !value.is_empty())
    };
    let named = env("OTEL_SERVICE_NAME").or_else(|| env("OTEL_RESOURCE_ATTRIBUTES").and_then(among));
    named.unwrap_or_else(|| SERVICE.to_owned())
}

/// `name=value,name=value`. What is wrong with it is said without saying it: there may be a key in it.
fn headers(text: &str) -> Result<HashMap<String, String>, String> {
    let wrong = || "the variable that `headers_env` names is not written as name=value,name=value".to_owned();
    let token = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let mut found = HashMap::new();
    for pair in text.split(',').filter(|pair| !pair.trim().is_empty()) {
        let (name, value) = pair.split_once('=').ok_or_else(wrong)?;
        let (name, value) = (name.trim(), value.trim());
        if name.is_empty() || !name.chars().all(token) || value.chars().any(char::is_control) {
            return Err(wrong());
        }
        found.insert(name.to_owned(), value.to_owned());
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use gadfly_project::place::{ConfigLayer, Source};
    use gadfly_project::{Config, config::parse};

    use super::*;

    fn config(text: &str) -> TelemetryConfig {
        let (partial, problems) = parse(&Source::new(ConfigLayer::User, "gadfly.toml", "/nowhere", text));
        assert_eq!(problems, []);
        Config::from_layers([partial]).0.telemetry
    }

    fn found(text: &str, env: &[(&str, &str)]) -> Result<Option<Destination>, String> {
        let get = |name: &str| env.iter().find(|(known, _)| *known == name).map(|(_, v)| (*v).to_owned());
        find(&config(text), get)
    }

    const OWN: &str =
        "[telemetry]\nendpoint = \"http://127.0.0.1:4318\"\nheaders_env = \"KEYS\"\ncontent = true";

    #[test]
    fn without_an_address_nothing_is_sent() {
        assert_eq!(found("", &[]), Ok(None));
        assert_eq!(found("", &[("OTEL_EXPORTER_OTLP_HEADERS", "a=b")]), Ok(None));
    }

    #[test]
    fn the_standard_variables_go_before_the_file_and_can_turn_it_off() {
        let env = [("OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:9/base/"), ("KEYS", "x-key=1")];
        let to = found(OWN, &env).unwrap().unwrap();
        assert_eq!((to.url.as_str(), to.of_environment), ("http://localhost:9/base/v1/traces", true));
        assert!(to.headers.is_empty(), "headers of another address are not sent to this one");
        let env = [
            ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "https://t.example/in"),
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:9"),
            ("OTEL_SERVICE_NAME", "mine"),
        ];
        let to = found("", &env).unwrap().unwrap();
        assert_eq!((to.url.as_str(), to.service.as_str()), ("https://t.example/in", "mine"));
        assert!(to.tls && !to.loopback && !to.content);
        for off in [("OTEL_SDK_DISABLED", "true"), ("OTEL_TRACES_EXPORTER", "none")] {
            assert_eq!(found(OWN, &[off, ("KEYS", "a=b")]), Ok(None));
        }
    }

    #[test]
    fn the_name_of_the_service_is_the_environments_in_the_order_of_the_standard() {
        let at = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:9");
        let among = ("OTEL_RESOURCE_ATTRIBUTES", "team=a, service.name = theirs ,x=y");
        for (env, name) in [
            (vec![at], "gadfly"),
            (vec![at, among], "theirs"),
            (vec![at, among, ("OTEL_SERVICE_NAME", "mine")], "mine"),
            (vec![at, ("OTEL_RESOURCE_ATTRIBUTES", "service.name=,team=a")], "gadfly"),
        ] {
            assert_eq!(found("", &env).unwrap().unwrap().service, name, "{env:?}");
        }
    }

    #[test]
    fn a_key_in_the_address_is_refused_with_the_place_where_it_belongs() {
        let why = found("", &[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://me:secret@localhost:9")]).unwrap_err();
        assert!(why.contains("OTEL_EXPORTER_OTLP_HEADERS") && !why.contains("key_env"), "{why}");
    }

    #[test]
    fn the_files_own_address_comes_with_its_own_headers_and_content() {
        let to = found(OWN, &[("KEYS", "x-key=1, tenant = a=b ")]).unwrap().unwrap();
        assert_eq!((to.url.as_str(), to.of_environment), ("http://127.0.0.1:4318/v1/traces", false));
        assert_eq!((to.headers["x-key"].as_str(), to.headers["tenant"].as_str()), ("1", "a=b"));
        assert!(to.content && to.loopback);
    }

    #[test]
    fn what_cannot_be_meant_is_said_without_a_key_in_it() {
        for (text, env) in [
            ("", ("OTEL_EXPORTER_OTLP_ENDPOINT", "localhost:4318")),
            ("", ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://secret@localhost:4318")),
            (OWN, ("KEYS", "secret")),
            (OWN, ("KEYS", "a b=secret")),
            (OWN, ("OTHER", "secret")),
        ] {
            let why = found(text, &[env]).unwrap_err();
            assert!(!why.contains("secret"), "{env:?}: {why}");
        }
    }
}
