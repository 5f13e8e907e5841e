//! Vendors of compatible HTTP APIs. A new vendor is one row; nothing else changes.

/// The wire format a vendor speaks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wire {
    OpenAi,
    Anthropic,
    Google,
}

/// What a chat-completions server calls the limit on a reply's length.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LengthField {
    MaxTokens,
    MaxCompletionTokens,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Vendor {
    /// Also usable as an agent's `kind`.
    pub name: &'static str,
    pub base_url: &'static str,
    /// The variable its key is usually kept in; none if it needs no key.
    pub key_env: Option<&'static str>,
    pub wire: Wire,
    /// The only hosts its key is sent to. A leading dot stands for any subdomain.
    pub hosts: &'static [&'static str],
    pub length: LengthField,
    /// Whether it takes a `prompt_cache_key`. Others may refuse a call that has one.
    pub cache_key: bool,
}

const fn row(
    name: &'static str,
    base_url: &'static str,
    key_env: Option<&'static str>,
    hosts: &'static [&'static str],
) -> Vendor {
    let (wire, length) = (Wire::OpenAi, LengthField::MaxTokens);
    Vendor { name, base_url, key_env, wire, hosts, length, cache_key: false }
}

pub const VENDORS: &[Vendor] = &[
    Vendor {
        length: LengthField::MaxCompletionTokens,
        cache_key: true,
        ..row(
            "openai",
            "https://api.openai.com/v1",
            Some("OPENAI_API_KEY"),
            &["api.openai.com", ".api.openai.com"],
        )
    },
    Vendor {
        wire: Wire::Anthropic,
        ..row("anthropic", "https://api.anthropic.com/v1", Some("ANTHROPIC_API_KEY"), &["api.anthropic.com"])
    },
    Vendor {
        wire: Wire::Google,
        ..row(
            "google",
            "https://generativelanguage.googleapis.com/v1beta",
            Some("GEMINI_API_KEY"),
            &["generativelanguage.googleapis.com"],
        )
    },
    row("mistral", "https://api.mistral.ai/v1", Some("MISTRAL_API_KEY"), &["api.mistral.ai"]),
    row("groq", "https://api.groq.com/openai/v1", Some("GROQ_API_KEY"), &["api.groq.com"]),
    row("openrouter", "https://openrouter.ai/api/v1", Some("OPENROUTER_API_KEY"), &["openrouter.ai"]),
    row("deepseek", "https://api.deepseek.com/v1", Some("DEEPSEEK_API_KEY"), &["api.deepseek.com"]),
    row("xai", "https://api.x.ai/v1", Some("XAI_API_KEY"), &["api.x.ai"]),
    row("together", "https://api.together.xyz/v1", Some("TOGETHER_API_KEY"), &["api.together.xyz"]),
    row(
        "fireworks",
        "https://api.fireworks.ai/inference/v1",
        Some("FIREWORKS_API_KEY"),
        &["api.fireworks.ai"],
    ),
    row("cerebras", "https://api.cerebras.ai/v1", Some("CEREBRAS_API_KEY"), &["api.cerebras.ai"]),
    row("ollama", "http://127.0.0.1:11434/v1", None, &[]),
    row("llama.cpp", "http://127.0.0.1:8080/v1", None, &[]),
    row("vllm", "http://127.0.0.1:8000/v1", None, &[]),
    row("lmstudio", "http://127.0.0.1:1234/v1", None, &[]),
];

/// Models of `OpenAI`'s that chat completions do not serve. A row holds for the model of that name and for those whose
/// names go on after a dash.
const ONLY_RESPONSES: &[&str] = &[
    "codex-mini",
    "computer-use-preview",
    "gpt-5-codex",
    "gpt-5-pro",
    "gpt-5.1-codex",
    "gpt-5.2-codex",
    "gpt-5.2-pro",
    "gpt-5.3-codex",
    "gpt-5.4-pro",
    "gpt-5.5-pro",
    "o1-pro",
    "o3-deep-research",
    "o3-pro",
    "o4-mini-deep-research",
];

/// Whether a model of `OpenAI`'s has to be reached by the Responses API.
pub(crate) fn only_by_responses(model: &str) -> bool {
    let is_it = |rest: &str| rest.is_empty() || rest.starts_with('-');
    ONLY_RESPONSES.iter().any(|row| model.strip_prefix(row).is_some_and(is_it))
}

impl Vendor {
    pub fn by_name(name: &str) -> Option<&'static Self> {
        VENDORS.iter().find(|v| v.name == name)
    }

    /// The vendor whose own host this is.
    pub fn by_host(host: &str) -> Option<&'static Self> {
        VENDORS.iter().find(|v| v.owns(host))
    }

    /// The vendor whose key is kept in this variable.
    pub fn by_key_env(name: &str) -> Option<&'static Self> {
        VENDORS.iter().find(|v| v.key_env == Some(name))
    }

    pub fn owns(&self, host: &str) -> bool {
        self.hosts.iter().any(|own| match own.strip_prefix('.') {
            Some(parent) => {
                host.strip_suffix(parent).is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'))
            }
            None => *own == host,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_that_only_looks_like_a_vendors_is_not_its() {
        let openai = Vendor::by_name("openai").unwrap();
        assert!(openai.owns("api.openai.com") && openai.owns("eu.api.openai.com"));
        for other in ["api.openai.com.evil.example", "evilapi.openai.com", ".api.openai.com", "127.0.0.1"] {
            assert!(!openai.owns(other), "{other}");
        }
    }

    #[test]
    fn only_the_host_that_knows_a_cache_key_is_sent_one() {
        assert!(VENDORS.iter().all(|v| v.cache_key == (v.name == "openai")));
        assert!(Vendor::by_host("api.openai.com").is_some_and(|v| v.cache_key));
        assert!(Vendor::by_host("127.0.0.1").is_none());
    }

    #[test]
    fn models_that_only_responses_serve_are_known_with_their_releases_and_no_others() {
        for model in ["o3-pro", "o3-pro-2025-06-10", "gpt-5.1-codex-max", "gpt-5-pro"] {
            assert!(only_by_responses(model), "{model}");
        }
        for model in ["o3", "gpt-5", "gpt-5-prose", "gpt-5.1", ""] {
            assert!(!only_by_responses(model), "{model}");
        }
    }

    #[test]
    fn every_vendor_with_a_key_names_its_hosts_and_uses_tls() {
        for v in VENDORS.iter().filter(|v| v.key_env.is_some()) {
            let host = v.base_url.strip_prefix("https://").unwrap().split('/').next().unwrap();
            assert!(v.owns(host), "{}", v.name);
        }
    }
}
