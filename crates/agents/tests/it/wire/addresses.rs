//! Where requests go, with which headers and keys of their own.

use gadfly_agents::{AgentServices, AgentSpec, Api, ExtraHeader, Secret, build};

use crate::wire::cases::CASES;
use crate::wire::form::Form;
use crate::wire::{called, server};

const KEY: &str = "sk-wire-4c1f77";

fn spec(base: &str, path: &str) -> AgentSpec {
    AgentSpec {
        name: "tried".into(),
        base_url: Some(format!("{base}{path}")),
        model: Some("m-1".into()),
        key: Some(Secret::new(KEY)),
        ..AgentSpec::default()
    }
}

/// The first request that an agent makes.
async fn request(kind: &str, form: Form, change: impl Fn(&str) -> AgentSpec) -> String {
    let (base, asked) = server::serve(vec![form.ok()]).await;
    let agent = build(kind, change(&base), &AgentServices::new()).unwrap();
    let (result, _) = called(&*agent, &CASES[0], &asked).await;
    assert!(result.is_ok(), "{result:?}");
    asked.all().remove(0)
}

#[tokio::test]
async fn every_form_is_asked_where_it_is_served() {
    let version = Some("2024-10-21".to_owned());
    let azure = |path: &'static str| {
        let version = version.clone();
        move |base: &str| AgentSpec { api_version: version.clone(), ..spec(base, path) }
    };
    let responses = |base: &str| AgentSpec { api: Some(Api::Responses), ..spec(base, "/v1") };
    let plain = |path: &'static str| move |base: &str| spec(base, path);
    let bearer = format!("authorization: Bearer {KEY}");
    let rows = [
        (request("openai", Form::Chat, plain("")).await, "/v1/chat/completions", bearer.clone()),
        (request("ollama", Form::Chat, plain("/v1")).await, "/v1/chat/completions", bearer.clone()),
        (request("openai", Form::Responses, responses).await, "/v1/responses", bearer),
        (
            request("openai", Form::Chat, azure("/openai")).await,
            "/openai/deployments/m-1/chat/completions?api-version=2024-10-21",
            format!("api-key: {KEY}"),
        ),
        (
            request("openai", Form::Chat, azure("/openai/deployments/d")).await,
            "/openai/deployments/d/chat/completions?api-version=2024-10-21",
            format!("api-key: {KEY}"),
        ),
        (request("anthropic", Form::Messages, plain("")).await, "/v1/messages", format!("x-api-key: {KEY}")),
        (
            request("anthropic", Form::Messages, plain("/anthropic")).await,
            "/anthropic/v1/messages",
            format!("x-api-key: {KEY}"),
        ),
        (
            request("google", Form::Gemini, plain("")).await,
            "/v1beta/models/m-1:streamGenerateContent?alt=sse",
            format!("x-goog-api-key: {KEY}"),
        ),
    ];
    for (request, at, key) in rows {
        assert!(request.starts_with(&format!("POST {at} HTTP/1.1\r\n")), "{at}: {request}");
        assert!(request.contains(&key), "{at}: {request}");
    }
}

fn given(name: &str, value: &str, is_secret: bool) -> ExtraHeader {
    ExtraHeader { name: name.into(), value: Secret::new(value), is_secret }
}

#[tokio::test]
async fn headers_and_keys_of_the_users_own_are_sent() {
    for form in Form::ALL {
        let own = |base: &str| AgentSpec {
            api: (form == Form::Responses).then_some(Api::Responses),
            headers: vec![given("X-Title", "review", false), given("X-Org", "org-77123", true)],
            body: Some(r#"{"seed": 7}"#.into()),
            ..spec(base, "/v1")
        };
        let request = request(form.kind(), form, own).await;
        assert!(request.contains("x-title: review") && request.contains("x-org: org-77123"), "{request}");
        assert!(request.ends_with(r#","seed":7}"#), "{request}");
    }
}

#[test]
fn what_is_ours_cannot_be_set_by_headers_or_a_body() {
    let refusal = |form: Form, change: &dyn Fn(AgentSpec) -> AgentSpec| {
        let api = (form == Form::Responses).then_some(Api::Responses);
        let spec = change(AgentSpec { api, ..spec("http://127.0.0.1:1", "/v1") });
        build(form.kind(), spec, &AgentServices::new()).err().map(|e| e.to_string()).unwrap_or_default()
    };
    for (form, key) in [
        (Form::Chat, "messages"),
        (Form::Chat, "response_format"),
        (Form::Chat, "model"),
        (Form::Messages, "system"),
        (Form::Messages, "output_config"),
        (Form::Responses, "input"),
        (Form::Responses, "store"),
        (Form::Gemini, "contents"),
        (Form::Gemini, "generationConfig"),
    ] {
        let body = format!("{{\"{key}\": 1}}");
        let said = refusal(form, &|spec| AgentSpec { body: Some(body.clone()), ..spec });
        assert!(said.contains(&format!("`{key}` is set by Gadfly")), "{form:?} {key}: {said}");
    }
    for name in ["Authorization", "X-Api-Key", "api-key", "Host", "Content-Length", "Cookie"] {
        let said = refusal(Form::Chat, &|spec| AgentSpec { headers: vec![given(name, "x", false)], ..spec });
        assert!(said.contains("is set by Gadfly"), "{name}: {said}");
    }
    let broken =
        refusal(Form::Chat, &|spec| AgentSpec { headers: vec![given("X-A", "a\r\nHost: b", false)], ..spec });
    assert!(broken.contains("no header may have") && !broken.contains("Host"), "{broken}");
    let clear = AgentSpec {
        base_url: Some("http://models.example/v1".into()),
        key: None,
        headers: vec![given("X-Org", "org-77123", true)],
        ..spec("", "")
    };
    let said = build("openai", clear, &AgentServices::new()).err().unwrap().to_string();
    assert!(said.contains("not sent unencrypted") && !said.contains("77123"), "{said}");
}
