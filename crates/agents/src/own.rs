//! What a goal's policy keeps from an agent with tools of its own, and how far a kind can be held to it. Shared by the
//! kinds; what differs is theirs.

use gadfly_engine::tool::policy::OwnTools;
use gadfly_engine::{Guard, Layer};

/// Why an agent cannot be held to a policy, and what can be done about it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unheld {
    pub why: String,
    pub fix: String,
}

impl Unheld {
    pub fn new(why: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { why: why.into(), fix: fix.into() }
    }
}

/// Names in a sentence: `a`, `b`.
pub(crate) fn named(tools: &[String]) -> String {
    tools.iter().map(|tool| format!("`{tool}`")).collect::<Vec<_>>().join(", ")
}

/// An agent of which nothing but the kernel can take anything away: that it writes, and nothing finer.
pub(crate) fn by_sandbox(own: &OwnTools, sandboxed: bool) -> Result<Vec<Guard>, Unheld> {
    if !own.denied.is_empty() {
        return Err(Unheld::new(
            format!("it uses tools of its own, and none of them can be taken away: {}", named(&own.denied)),
            "leave `deny` and `allow` out, or take a worker of kind claude-code or gemini, or a model behind an API",
        ));
    }
    if own.reads_only() && !sandboxed {
        return Err(Unheld::new(
            "nothing here keeps it from writing: it is not held by Landlock",
            "see `sandbox` of the agent and `gadfly doctor`, or take a worker of kind claude-code or gemini, or a model \
             behind an API",
        ));
    }
    Ok(if own.reads_only() {
        vec![Guard::new(Layer::Landlock, "its folder only to be read")]
    } else {
        Vec::new()
    })
}

/// An agent's own tools, by the tool of ours that each stands for.
pub(crate) struct OwnToolTable(pub &'static [(&'static str, &'static [&'static str])]);

impl OwnToolTable {
    fn those(&self, fits: impl Fn(&str) -> bool) -> Vec<&'static str> {
        self.0.iter().filter(|(ours, _)| fits(ours)).flat_map(|(_, theirs)| theirs.iter().copied()).collect()
    }

    pub fn allowed(&self, own: &OwnTools) -> Vec<&'static str> {
        self.those(|ours| own.may(ours))
    }

    pub fn kept_away(&self, own: &OwnTools) -> Vec<&'static str> {
        self.those(|ours| !own.may(ours))
    }
}

/// More is kept from it than the web: then it has no tools but those that are known.
pub(crate) fn is_narrow(own: &OwnTools) -> bool {
    own.reads_only() || own.denied.iter().any(|tool| tool != "fetch_url")
}
