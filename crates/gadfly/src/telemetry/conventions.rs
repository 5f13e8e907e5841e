//! The one table of names in a trace: what spans, attributes and events are called, of which shape their values are.
//! Nothing else spells one: the fields of a [`Name`] can only be filled in here.
//!
//! The `gen_ai.*` names are those of OpenTelemetry's conventions for generative AI, which are still in development; ours
//! begin with `gadfly.`. To follow a rename: change the literal, and [`CONVENTIONS`].

/// The state of those conventions that the names follow.
pub const CONVENTIONS: &str = "semantic-conventions-genai 2026-05, development";

/// What a value is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AttributeShape {
    Text,
    Texts,
    Whole,
    Number,
    Flag,
    /// What agents are told and say, and what is quoted from it. Only sent with `content = true`.
    Content,
}

/// The name of an attribute.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Name {
    text: &'static str,
    shape: AttributeShape,
    #[cfg(test)]
    says: &'static str,
}

impl Name {
    pub const fn as_str(self) -> &'static str {
        self.text
    }

    pub const fn shape(self) -> AttributeShape {
        self.shape
    }

    /// What it says, for people.
    #[cfg(test)]
    pub const fn says(self) -> &'static str {
        self.says
    }
}

/// The name of an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EventName(&'static str);

impl EventName {
    pub const fn as_str(self) -> &'static str {
        self.0
    }
}

/// What a span is about: the first word of its name. The second, where there is one, is what it was done to or by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Operation(&'static str);

impl Operation {
    pub const fn as_str(self) -> &'static str {
        self.0
    }
}

macro_rules! attributes {
    ($($id:ident = $name:literal, $shape:ident, $says:literal;)*) => {
        $(pub const $id: Name = Name {
            text: $name,
            shape: AttributeShape::$shape,
            #[cfg(test)]
            says: $says,
        };)*
        /// Every attribute.
        #[cfg(test)]
        pub const ATTRIBUTES: &[Name] = &[$($id),*];
    };
}

macro_rules! names {
    ($kind:ident, $all:ident: $($id:ident = $name:literal;)*) => {
        $(pub const $id: $kind = $kind($name);)*
        #[cfg(test)]
        pub const $all: &[$kind] = &[$($id),*];
    };
}

attributes! {
    OPERATION = "gen_ai.operation.name", Text, "what the span is about";
    WORKFLOW = "gen_ai.workflow.name", Text, "the protocol of the run";
    AGENT = "gen_ai.agent.name", Text, "the agent's name in the configuration or the registry";
    PROVIDER = "gen_ai.provider.name", Text, "who is asked; for programs, their kind";
    REQUEST_MODEL = "gen_ai.request.model", Text, "the configured model";
    RESPONSE_MODEL = "gen_ai.response.model", Text, "the model that answered, where it says so";
    MAX_TOKENS = "gen_ai.request.max_tokens", Whole, "the longest answer allowed";
    FINISH_REASONS = "gen_ai.response.finish_reasons", Texts, "why the answer ended";
    CONVERSATION = "gen_ai.conversation.id", Text, "the agent's own name for the conversation";
    INPUT_TOKENS = "gen_ai.usage.input_tokens", Whole, "all tokens of the brief, cached ones included";
    CACHE_READ = "gen_ai.usage.cache_read.input_tokens", Whole, "those read from a cache";
    CACHE_CREATION = "gen_ai.usage.cache_creation.input_tokens", Whole, "those written to a cache";
    OUTPUT_TOKENS = "gen_ai.usage.output_tokens", Whole, "tokens of the answer, with what the model thought";
    INPUT_MESSAGES = "gen_ai.input.messages", Content, "the brief";
    OUTPUT_MESSAGES = "gen_ai.output.messages", Content, "the answer";
    TOOL = "gen_ai.tool.name", Text, "the tool that was used, or asked for";
    TOOL_TYPE = "gen_ai.tool.type", Text, "`function`: we carry it out";
    TOOL_ARGUMENTS = "gen_ai.tool.call.arguments", Content, "what the tool was given";
    TOOL_RESULT = "gen_ai.tool.call.result", Content, "what there was to see of its result";
    EVALUATION = "gen_ai.evaluation.name", Text, "the criterion, lens, gate or protocol that judged";
    SCORE = "gen_ai.evaluation.score.value", Number, "a score from 0 to 100; else 1 for passed and 0 for not";
    LABEL = "gen_ai.evaluation.score.label", Text, "the verdict in a word";
    EXPLANATION = "gen_ai.evaluation.explanation", Content, "what has to be addressed, or why";
    ERROR_TYPE = "error.type", Text, "why it failed: a short word";
    SERVER = "server.address", Text, "where briefs were sent";
    RUN = "gadfly.run.id", Text, "the run, as `gadfly show` takes it";
    TITLE = "gadfly.run.title", Content, "the run's heading, which is taken from the task";
    RESUMED = "gadfly.resumed", Flag, "this stretch began with a resume";
    OUTCOME = "gadfly.outcome", Text, "how the run stood at the end of the stretch, as `gadfly runs` says it";
    NODE = "gadfly.node", Text, "the part of the run";
    EFFECT = "gadfly.effect", Text, "the effect, as `gadfly show --log` has it";
    REPEATS = "gadfly.repeats", Text, "the lost or failed effect that this one repeats";
    ROLE = "gadfly.role", Text, "worker, critic or advisor";
    ROUND = "gadfly.round", Whole, "the round it belongs to";
    CALLS = "gadfly.calls", Whole, "calls of the run so far";
    TOKENS = "gadfly.tokens", Whole, "tokens of the run so far";
    COST = "gadfly.cost.usd", Number, "dollars: of a call, or of the run so far";
    USAGE_UNKNOWN = "gadfly.usage.unknown", Flag, "not all that was used is known: an amount given is a lower bound";
    STEPS = "gadfly.steps", Whole, "steps of an agent with tools of its own";
    STEP = "gadfly.step", Whole, "the number of a goal's step";
    OPEN = "gadfly.findings.open", Whole, "findings that are to be addressed";
    CRITIC = "gadfly.critic", Text, "who judged";
    ATTEMPT = "gadfly.attempt", Whole, "which attempt failed and is repeated";
    ABOUT = "gadfly.question.about", Text, "why a person was asked";
    COMMAND = "gadfly.command", Content, "the command line that verified";
    MESSAGE = "gadfly.message", Content, "what a failure says";
    FROM = "gadfly.from", Text, "who could not be had";
    TO = "gadfly.to", Text, "who stepped in, or was asked to decide";
    FOLLOWS = "gadfly.conventions", Text, "the state of the GenAI conventions, on the scope of all spans";
    SIGN = "gadfly.stall", Texts, "the signs that a loop makes no headway";
}

names! { EventName, EVENTS:
    EVALUATION_RESULT = "gen_ai.evaluation.result";
    RETRY = "gadfly.retry";
    ROUND_STARTED = "gadfly.round.started";
    OVERRULED = "gadfly.overruled";
    ESCALATED = "gadfly.escalated";
    FELL_BACK = "gadfly.fell_back";
    STALLED = "gadfly.stalled";
    VIOLATED = "gadfly.violated";
    PAUSE_REQUESTED = "gadfly.pause_requested";
    CANCEL_REQUESTED = "gadfly.cancel_requested";
    STEERED = "gadfly.steered";
}

names! { Operation, OPERATIONS:
    INVOKE_WORKFLOW = "invoke_workflow";
    INVOKE_AGENT = "invoke_agent";
    CHAT = "chat";
    EXECUTE_TOOL = "execute_tool";
    VERIFY = "verify";
    LOOK = "look";
    ACCEPT = "accept";
    SAVE = "save";
    SURVEY = "survey";
    COMMIT = "commit";
    ASK = "ask";
}

/// The provider as the conventions name it, by where briefs go; else by the agent's kind.
pub fn provider(kind: &str, sends_to: &str) -> String {
    const HOSTS: [(&str, &str); 11] = [
        ("api.openai.com", "openai"),
        ("api.anthropic.com", "anthropic"),
        ("generativelanguage.googleapis.com", "gcp.gemini"),
        ("aiplatform.googleapis.com", "gcp.vertex_ai"),
        ("api.mistral.ai", "mistral_ai"),
        ("api.deepseek.com", "deepseek"),
        ("api.groq.com", "groq"),
        ("api.x.ai", "x_ai"),
        ("api.cohere.com", "cohere"),
        ("api.perplexity.ai", "perplexity"),
        ("api.moonshot.ai", "moonshot_ai"),
    ];
    let host = sends_to.split(':').next().unwrap_or_default();
    let known = HOSTS.iter().find(|(name, _)| *name == host);
    known.map_or(kind, |(_, provider)| provider).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The literals of names in a Rust source: `"gen_ai.…"`, `"gadfly.…"`.
    fn spelled(source: &str) -> Vec<&str> {
        let quoted = source.split('"').skip(1).step_by(2);
        let names = quoted.filter(|text| {
            let dotted = text.starts_with("gen_ai.") || text.starts_with("gadfly.") || *text == "error.type";
            dotted && text.chars().all(|c| c.is_ascii_lowercase() || c == '.' || c == '_')
        });
        names.filter(|text| *text != "gadfly.toml").collect()
    }

    fn sources(dir: &std::path::Path, found: &mut Vec<std::path::PathBuf>) {
        for entry in std::fs::read_dir(dir).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                sources(&path, found);
            } else if path.extension().is_some_and(|e| e == "rs") {
                found.push(path);
            }
        }
    }

    #[test]
    fn no_other_file_of_the_binary_spells_a_name() {
        let mut files = Vec::new();
        sources(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
        for file in files.iter().filter(|f| !f.ends_with("telemetry/conventions.rs")) {
            let text = std::fs::read_to_string(file).unwrap();
            assert_eq!(spelled(&text), [""; 0], "{}", file.display());
        }
        // Sabotage: the same look finds them where they stand.
        assert!(spelled(include_str!("conventions.rs")).len() >= ATTRIBUTES.len());
    }

    #[test]
    fn the_guide_has_a_row_for_every_name() {
        let guide = include_str!("../../../../docs/guide/traces.md");
        for name in ATTRIBUTES {
            let shape = format!("{:?}", name.shape()).to_lowercase();
            let row = format!("| `{}` | {shape} | {} |", name.as_str(), name.says());
            assert!(guide.contains(&row), "docs/guide/traces.md has no row\n{row}");
        }
        for name in EVENTS.iter().map(|e| e.as_str()).chain(OPERATIONS.iter().map(|o| o.as_str())) {
            assert!(guide.contains(&format!("`{name}`")), "docs/guide/traces.md does not name {name}");
        }
        assert!(guide.contains(CONVENTIONS), "docs/guide/traces.md names another state of the conventions");
    }

    #[test]
    fn providers_have_the_names_of_the_conventions_where_there_is_one() {
        assert_eq!(provider("openai", "api.mistral.ai"), "mistral_ai");
        assert_eq!(provider("openai", "127.0.0.1:11434"), "openai");
        assert_eq!(provider("claude-code", "api.anthropic.com"), "anthropic");
        assert_eq!(provider("scripted", "this machine"), "scripted");
    }
}
