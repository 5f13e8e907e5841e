//! The rows of `[agents.NAME]` and its prices.

use super::{
    ACP, APIS, BRIEFS, COMMAND, CONCURRENT, CONNECT_TIMEOUT, CONTEXT, CONVERSING, ConfigSection, EFFORTS,
    FIRST_BYTE_TIMEOUT, Fixed, HTTP, IDLE_TIMEOUT, Key, MACHINE, MAX_MEMORY_MB, MAX_PROCESSES, MAX_STEPS,
    MAX_TOKENS, OPENAI, PROCESS, PROMPTED, SANDBOX, SCRIPTED, Shape, THINKING, TIMEOUT, TOKENS, USD,
};

const fn key(name: &'static str, shape: Shape) -> Key {
    super::key(shape).of(ConfigSection::Agent, name)
}

const fn price(name: &'static str, says: &'static str) -> Key {
    super::key(USD).of(ConfigSection::Price, name).says(says).like("0.0")
}

pub const AGENTS: &[Key] = &[
    key("kind", Shape::Kind).says("How the agent is reached").like("\"openai\""),
    key("base_url", Shape::Text)
        .only(HTTP)
        .says("Where its API is reached")
        .more("Default: the vendor's own address.")
        .like("\"http://127.0.0.1:11434/v1\""),
    key("model", Shape::Text)
        .only(MACHINE)
        .says("The model")
        .more("Needed for those behind an API; passed on to CLI agents; a label for command and scripted.")
        .like("\"qwen3\""),
    key("vendor", Shape::Text)
        .says("Who made the model")
        .more("A critic of another vendor than the worker sees other things.")
        .like("\"alibaba\""),
    key("key_env", Shape::Text)
        .only(HTTP)
        .says("The name of the variable that holds the key, never the key")
        .more("Absent: no key is sent.")
        .like("\"WRITER_API_KEY\""),
    key("key_command", Shape::Command)
        .only(HTTP)
        .says("A command that prints the key, in place of `key_env`")
        .like("[\"pass\", \"show\", \"anthropic\"]"),
    key("send_key_to", Shape::Text)
        .only(HTTP)
        .says("The host that a known vendor's key may go to besides the vendor's own")
        .like("\"127.0.0.1\""),
    key("system", Shape::Text)
        .only(PROMPTED)
        .says("Standing instructions")
        .like("\"You write tight prose.\""),
    key("file", Shape::Path)
        .only(PROMPTED)
        .says("Standing instructions from a file (front matter is cut), in place of `system`")
        .like("\".claude/agents/reviewer.md\""),
    key("command", Shape::Command)
        .only(PROCESS)
        .says("The program and its arguments")
        .more("There is no shell. The brief comes on standard input; a program of kind command prints its reply.")
        .like("[\"./critic.sh\"]"),
    key("args", Shape::Texts).only(PROCESS).says("Arguments added at the end").like("[\"--strict\"]"),
    key("brief", BRIEFS)
        .or(Fixed::Text("stdin"))
        .only(COMMAND)
        .says("How it gets the brief: on standard input, as its last argument, or as a file whose path is that")
        .more("An argument has at most 128 KiB."),
    key("reply", Shape::Text)
        .only(COMMAND)
        .says("Where in its output the reply stands: a JSON pointer, or a pattern with the group `reply`")
        .more(
            "A pointer is looked up in the output, if that is JSON, else in the last of its lines that has it; `-` is \
             the last of a list. Default: all it prints.",
        )
        .like("\"/result\""),
    key("usage_in", Shape::Text)
        .only(COMMAND)
        .says("Where in its output stands what the call used: a JSON pointer to its counts, or a pattern")
        .more("The pattern's groups: `input`, `output`, `cache_read`, `cache_write`, `cost`.")
        .like("\"/usage\""),
    key("cost_in", Shape::Text)
        .only(COMMAND)
        .says("The JSON pointer to the dollars it cost, where they stand apart from the counts")
        .like("\"/total_cost_usd\""),
    key("session_in", Shape::Text)
        .only(COMMAND)
        .says("Where in its output stands the name of its conversation: a JSON pointer, or a pattern with the group `session`")
        .like("\"/session_id\""),
    key("resume", Shape::Texts)
        .only(COMMAND)
        .says("Arguments before that name, with which a worker's next round goes on")
        .like("[\"--resume\"]"),
    key("login", Shape::Text)
        .only(ACP)
        .says("The way to log in, of those the agent offers by id, that is asked for before a session")
        .like("\"openai-api-key\""),
    key("env", Shape::Texts)
        .only(PROCESS)
        .says("Names of variables passed through")
        .more("The program sees no others but the usual ones (PATH, HOME, LANG …).")
        .like("[\"CRITIC_MODE\"]"),
    key("sandbox", SANDBOX)
        .or(Fixed::Text("landlock"))
        .only(PROCESS)
        .says("What holds the program: the kernel, where it can, the program's own sandbox, where it has one, or nothing")
        .more(
            "In the sandbox it reads the system's folders, its install paths and its workspace, and writes its \
             workspace (a critic: only a scratch folder) and its `state`.",
        ),
    key("read", Shape::Texts)
        .only(PROCESS)
        .says("What else it may read: `~/…`, absolute, or from the project's root")
        .more(
            "A program is read with the folder it lies in, unless that is the project's root or a home; so are \
             absolute paths in `command`, the folders of PATH and the toolchains they belong to (cargo, node, python …).",
        )
        .like("[\"~/.config/critic\"]"),
    key("state", Shape::Texts)
        .only(PROCESS)
        .says("Where it keeps its own state, which it may read and write; a folder that does not exist is made")
        .like("[\"~/.cache/critic\"]"),
    key("network", Shape::Flag)
        .or(Fixed::Flag(true))
        .only(PROCESS)
        .says("Whether it may connect to others over TCP")
        .more("Without it, it has a loopback of its own where the kernel can give it one, and no network."),
    key("listen", Shape::Flag)
        .or(Fixed::Flag(false))
        .only(PROCESS)
        .says("Whether it may also listen on TCP ports of this machine, which others could take for a server of yours"),
    key("max_memory_mb", Shape::Whole { min: 16, max: 1 << 24 })
        .or(Fixed::Whole(MAX_MEMORY_MB))
        .only(PROCESS)
        .says("The most memory that it and all it starts may use together; looked at now and then"),
    key("max_processes", Shape::Whole { min: 1, max: 100_000 })
        .or(Fixed::Whole(MAX_PROCESSES))
        .only(PROCESS)
        .says("The most processes"),
    key("max_steps", Shape::Whole { min: 1, max: 100_000 })
        .or(Fixed::Whole(MAX_STEPS))
        .only(CONVERSING)
        .says("Tool calls after which a call is stopped"),
    key("continue", Shape::Flag)
        .or(Fixed::Flag(true))
        .only(CONVERSING)
        .says("As a worker it goes on with its conversation of the round before")
        .more("Critics always begin anew."),
    key("script", Shape::Path)
        .only(SCRIPTED)
        .says("The file with its replies, for demos, tests and dry runs")
        .like("\"replies.toml\""),
    key("timeout", Shape::Time)
        .or(Fixed::Time(TIMEOUT))
        .only(MACHINE)
        .says("How long a whole call may take")
        .more("A coding agent that works on goals and audits is broken off then, and goes on where it was."),
    key("connect_timeout", Shape::Time)
        .or(Fixed::Time(CONNECT_TIMEOUT))
        .only(HTTP)
        .says("How long connecting may take"),
    key("first_byte_timeout", Shape::Time)
        .or(Fixed::Time(FIRST_BYTE_TIMEOUT))
        .only(HTTP)
        .says("How long the beginning of a reply may take")
        .more("A local model may have to be loaded first; a server that does not stream thinks all the while."),
    key("idle_timeout", Shape::Time)
        .or(Fixed::Time(IDLE_TIMEOUT))
        .only(HTTP)
        .says("The longest silence in a stream"),
    key("max_tokens", TOKENS).or(Fixed::Whole(MAX_TOKENS)).only(MACHINE).says("The longest reply"),
    key("temperature", Shape::Number { min: 0.0, max: 2.0 })
        .only(HTTP)
        .says("How freely the model chooses its words")
        .more("Default: the server's own.")
        .like("0.7"),
    key("api", APIS)
        .only(OPENAI)
        .says("The form it is spoken to in: chat completions, or the Responses API")
        .more("Default: chat, and responses for models of OpenAI's that nothing else serves.")
        .like("\"responses\""),
    key("api_version", Shape::Text)
        .only(OPENAI)
        .says("The version in Azure's older addresses, sent as `api-version`")
        .more("Azure's /openai/v1 needs none.")
        .like("\"2024-10-21\""),
    key("effort", EFFORTS)
        .only(HTTP)
        .says("How hard a reasoning model thinks")
        .more("Which words a model takes is its vendor's to say. Default: the model's own.")
        .like("\"low\""),
    key("thinking_tokens", Shape::Whole { min: 1, max: 1_000_000 })
        .only(THINKING)
        .says("How many tokens a reasoning model may think, beside those of its reply")
        .more("With anthropic only where it is offered no tools.")
        .like("4096"),
    key("headers", Shape::Texts)
        .only(HTTP)
        .says("Headers of your own, each as `Name: value`")
        .more("A value `$NAME` is that of the variable NAME. Keys go into `key_env`.")
        .like("[\"X-Title: review\"]"),
    key("body", Shape::Text)
        .only(HTTP)
        .says("Keys of your own for the body of its requests: a JSON object, without what Gadfly sets itself")
        .like("'{\"seed\": 7}'"),
    key("concurrent", Shape::Whole { min: 1, max: 256 })
        .or(Fixed::Whole(CONCURRENT))
        .only(MACHINE)
        .says("Calls at the same time"),
    key("price", Shape::Table(ConfigSection::Price)).only(MACHINE).says("What a call costs"),
    key("max_usd_per_call", USD)
        .only(PROCESS)
        .says("The most one call may cost; held back from the budget before it starts")
        .like("0.5"),
    key("max_tokens_per_call", TOKENS)
        .only(PROCESS)
        .says("The most tokens one call may use; held back from the budget before it starts")
        .like("20000"),
    key("context", Shape::Whole { min: 1000, max: 100_000_000 })
        .or(Fixed::Whole(CONTEXT))
        .only(MACHINE)
        .says("Tokens one call can take, brief and answer together: what is larger is judged in parts")
        .more("The default is that of those behind an API; for others nothing is known and nothing is split."),
    key("output", Shape::Output)
        .or(Fixed::Text("reply"))
        .says("Where the worker's work is: in its reply, or in the files it changes")
        .more("Files: all kinds but those behind an API, under audit."),
    key("budget", Shape::Table(ConfigSection::Budget)).says("Caps for all calls of this agent in one run"),
    price("input", "For a million tokens of a brief"),
    price("output", "For a million tokens of a reply"),
    price("cache_read", "For a million tokens read from the provider's cache; default: as `input`"),
    price("cache_write", "For a million tokens written to the provider's cache; default: as `input`"),
    super::key(Shape::Whole { min: 1, max: 100_000_000 })
        .of(ConfigSection::Price, "long_above")
        .says("Prompts with more tokens than this cost `long_input` and `long_output`")
        .like("200000"),
    price("long_input", "For a million tokens of a long prompt, cached or not; default: as `input`"),
    price("long_output", "For a million tokens of a reply to a long prompt; default: as `output`"),
];
