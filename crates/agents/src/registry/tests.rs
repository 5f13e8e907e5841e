//! Which specs are refused, and in which words; above all, where a key may go.

use super::*;
use crate::secret::Secret;

const KEY: &str = "sk-test-0123456789";

fn spec(base_url: &str, key_env: &str) -> AgentSpec {
    AgentSpec {
        name: "writer".into(),
        base_url: Some(base_url.into()),
        model: Some("m".into()),
        key: Some(Secret::new(KEY)),
        key_env: Some(key_env.into()),
        ..AgentSpec::default()
    }
}

fn refusal(kind: &str, spec: &AgentSpec) -> String {
    build(kind, spec.clone(), &AgentServices::new()).err().map_or_else(|| "built".into(), |e| e.to_string())
}

#[test]
fn a_known_vendors_key_goes_to_no_other_host() {
    for host in
        ["https://proxy.example/v1", "http://127.0.0.1:11434/v1", "https://api.openai.com.evil.example/v1"]
    {
        let said = refusal("openai", &spec(host, "OPENAI_API_KEY"));
        assert!(said.contains("belongs to openai and is not sent to"), "{host}: {said}");
        assert!(!said.contains(KEY));
    }
    assert_eq!(refusal("openai", &spec("https://api.openai.com/v1", "OPENAI_API_KEY")), "built");
    assert_eq!(refusal("anthropic", &spec("https://api.anthropic.com", "ANTHROPIC_API_KEY")), "built");
}

#[test]
fn a_named_override_lets_the_key_go_to_that_host_only() {
    let mut other = spec("http://127.0.0.1:11434/v1", "OPENAI_API_KEY");
    other.send_key_to = Some("127.0.0.1".into());
    assert_eq!(refusal("openai", &other), "built");
    other.send_key_to = Some("127.0.0.1:11434".into());
    assert_eq!(refusal("openai", &other), "built");
    other.send_key_to = Some("proxy.example".into());
    assert!(refusal("openai", &other).contains("is not sent to 127.0.0.1"));
}

#[test]
fn no_key_is_sent_in_the_clear() {
    let own = spec("http://models.example/v1", "MY_KEY");
    assert!(refusal("openai", &own).contains("not sent unencrypted to models.example"));
    assert_eq!(refusal("openai", &spec("http://127.0.0.1:8000/v1", "MY_KEY")), "built");
}

#[test]
fn a_key_in_the_address_is_refused() {
    let said = refusal("openai", &spec("https://u:p@models.example/v1?key=x", "MY_KEY"));
    assert!(said.contains("no user, password or query"), "{said}");
}

#[test]
fn a_key_with_a_line_break_is_told_without_showing_it() {
    let mut broken = spec("https://models.example/v1", "MY_KEY");
    broken.key = Some(Secret::new("sk-test\n"));
    let said = refusal("openai", &broken);
    assert!(said.contains("line break") && !said.contains("sk-test"), "{said}");
}

#[test]
fn what_is_missing_is_named() {
    let none = AgentSpec { name: "w".into(), ..AgentSpec::default() };
    assert_eq!(refusal("openai", &none), "agent `w` needs `model`");
    assert_eq!(refusal("command", &none), "agent `w` needs `command`");
    assert_eq!(refusal("scripted", &none), "agent `w` needs `script`");
    assert!(
        refusal("opnai", &none)
            .starts_with("agent `w`: there is no kind `opnai`; there are openai, anthropic,")
    );
}

#[test]
fn a_vendor_is_a_kind_of_its_own() {
    let mut s = spec("https://api.mistral.ai/v1", "MISTRAL_API_KEY");
    s.base_url = None;
    assert_eq!(refusal("mistral", &s), "built");
}

#[test]
fn people_are_told_where_briefs_go() {
    assert_eq!(sends_to("openai", None), "api.openai.com");
    assert_eq!(sends_to("openai", Some("http://localhost:1/v1")), "this machine");
    assert_eq!(sends_to("ollama", None), "this machine");
    assert_eq!(sends_to("command", None), "this machine");
    assert_eq!(sends_to("anthropic", Some("https://proxy.example")), "proxy.example");
}

#[test]
fn endpoints_are_below_the_base() {
    let at = |base: &str| http::at(&spec(base, "K"), "messages");
    assert_eq!(at("https://api.anthropic.com"), "https://api.anthropic.com/v1/messages");
    assert_eq!(at("https://api.anthropic.com/v1/"), "https://api.anthropic.com/v1/messages");
    assert_eq!(at("http://h:1/x/v2"), "http://h:1/x/v2/messages");
}
