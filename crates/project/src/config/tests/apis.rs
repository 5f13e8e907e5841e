//! Agents behind APIs: kinds by vendor, headers, prices of long prompts.

use super::*;

fn agent(rows: &str) -> (Option<AgentConfig>, String) {
    let text = format!("[agents.a]\n{rows}\n");
    let (config, problems) = read(&text);
    (config.agents.get("a").cloned(), shown(&problems))
}

#[test]
fn a_vendors_name_is_a_kind_with_its_address_and_the_options_of_openai() {
    let (found, said) =
        agent("kind = \"openrouter\"\nmodel = \"m\"\nkey_env = \"OPENROUTER_API_KEY\"\napi = \"responses\"");
    assert_eq!(said, "");
    let found = found.unwrap();
    assert_eq!((found.kind.value.name(), found.sends_to()), ("openrouter", "openrouter.ai"));
    assert!(found.kind.value.is_http() && !found.is_free());
    let (local, said) = agent("kind = \"ollama\"\nmodel = \"m\"");
    assert_eq!(said, "", "a server of this machine wants no key");
    assert!(local.unwrap().is_free());
    let (_, said) = agent("kind = \"groq\"\nmodel = \"m\"");
    assert!(said.contains("sends no key to https://api.groq.com/openai/v1"), "{said}");
    let (_, said) = agent("kind = \"xai\"\nmodel = \"m\"\nthinking_tokens = 5\nkey_env = \"XAI_API_KEY\"");
    assert!(said.contains("`thinking_tokens` has no effect"), "{said}");
}

#[test]
fn every_vendor_that_is_a_kind_has_an_address_and_a_name_of_its_own() {
    let mut names: Vec<&str> = AgentKind::every().map(AgentKind::name).collect();
    for kind in AgentKind::every().filter(|kind| kind.is_http()) {
        assert!(kind.base_url().is_some(), "{}", kind.name());
    }
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), AgentKind::every().count());
}

#[test]
fn headers_are_read_and_keys_in_them_are_refused_without_being_repeated() {
    let with = |header: &str| {
        agent(&format!(
            "kind = \"openai\"\nmodel = \"m\"\nbase_url = \"https://models.example/v1\"\nheaders = [{header:?}]"
        ))
    };
    let (found, said) = with("X-Org: $ORG_ID");
    assert_eq!(said, "");
    let header = found.unwrap().headers.remove(0).value;
    assert_eq!(AgentConfig::header(&header), Some(("X-Org", HeaderSource::Env("ORG_ID"))));
    assert_eq!(AgentConfig::header("X-Title:  a: b "), Some(("X-Title", HeaderSource::Text("a: b"))));
    for (bad, says) in [
        ("no colon", "no `Name: value`"),
        ("X Y: z", "no `Name: value`"),
        ("X-Key: sk-proj-Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6", "looks like a key"),
        ("X-Key: $not a name", "no name of a variable"),
        ("X-Key: $OPENAI_API_KEY", "another vendor's key"),
    ] {
        let (found, said) = with(bad);
        assert!(found.is_none() && said.contains(says), "{bad}: {said}");
        assert!(!said.contains("Zm9vYmFy"), "{said}");
    }
}

#[test]
fn a_price_for_long_prompts_is_read() {
    let (found, said) = agent(
        "kind = \"openai\"\nmodel = \"m\"\nbase_url = \"https://models.example/v1\"\n\
         price = { input = 1.0, output = 2.0, long_above = 1000, long_input = 3.0 }",
    );
    assert_eq!(said, "");
    let long = found.unwrap().price.unwrap().value.long.unwrap();
    assert_eq!((long.above, long.input, long.output, long.cache_read), (1000, 3000, 2000, 3000));
}
