//! The rows, and nothing else.

use super::StatePath::{File, Home, In, Moved, Read};
use super::{AsAgent, KnownProgram, Seen, StatePath};
use crate::config::AgentKind;

const CONFIG: (&str, &str) = ("XDG_CONFIG_HOME", ".config");
const DATA: (&str, &str) = ("XDG_DATA_HOME", ".local/share");
const CACHE: (&str, &str) = ("XDG_CACHE_HOME", ".cache");
const STATE: (&str, &str) = ("XDG_STATE_HOME", ".local/state");

const fn config(name: &'static str) -> StatePath {
    In(CONFIG.0, CONFIG.1, name)
}
const fn data(name: &'static str) -> StatePath {
    In(DATA.0, DATA.1, name)
}
const fn cache(name: &'static str) -> StatePath {
    In(CACHE.0, CACHE.1, name)
}
const fn state(name: &'static str) -> StatePath {
    In(STATE.0, STATE.1, name)
}

/// A program that is nothing yet.
const NONE: KnownProgram =
    KnownProgram { program: "", also: &[], is: "", agent: None, state: &[], settings: &[] };

/// An agent that speaks ACP and says nothing more of itself.
const ACP: AsAgent = AsAgent {
    name: "",
    kind: AgentKind::Acp,
    command: &[],
    lines: &[],
    vendor: "",
    signed_in: None,
    env: &[],
    keys: &[],
    reads_only: "a mode `plan`, if it offers one",
    usage: "the answer to `session/prompt`, if it says so",
    seen: Seen::Read,
};

const CLAUDE: AsAgent = AsAgent {
    name: "claude-code",
    kind: AgentKind::ClaudeCode,
    vendor: "anthropic",
    signed_in: Some(".claude/.credentials.json"),
    env: &["CLAUDE_CONFIG_DIR", "CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_BASE_URL", "ANTHROPIC_AUTH_TOKEN"],
    keys: &["ANTHROPIC_API_KEY"],
    reads_only: "`--tools Read,Grep,Glob --permission-mode dontAsk`",
    usage: "tokens and dollars, in its `result` line",
    seen: Seen::Ran("2.1.325"),
    ..ACP
};

const CLAUDE_STATE: &[StatePath] = &[
    Moved("CLAUDE_CONFIG_DIR", ".claude"),
    File(".claude.json"),
    File(".claude.json.backup"),
    cache("claude"),
    cache("claude-cli-nodejs"),
    data("claude"),
    state("claude"),
];

const CLAUDE_SETTINGS: &[&str] = &[
    "settings.json",
    "settings.local.json",
    "managed-settings.json",
    "keybindings.json",
    "CLAUDE.md",
    "commands",
    "agents",
    "skills",
    "hooks",
    "rules",
    "output-styles",
    "plugins/config.json",
    "plugins/installed_plugins.json",
    "plugins/known_marketplaces.json",
];

const CODEX: AsAgent = AsAgent {
    name: "codex",
    kind: AgentKind::Codex,
    vendor: "openai",
    signed_in: Some(".codex/auth.json"),
    env: &["CODEX_HOME"],
    keys: &["CODEX_API_KEY"],
    reads_only: "`--sandbox read-only`",
    usage: "tokens, in its `turn.completed` line",
    seen: Seen::Ran("0.166.0"),
    ..ACP
};

const CODEX_STATE: &[StatePath] = &[Moved("CODEX_HOME", ".codex")];

const CODEX_SETTINGS: &[&str] =
    &["config.toml", "AGENTS.md", "AGENTS.override.md", "prompts", "rules", "skills", "hooks", "hooks.json"];

pub const KNOWN: &[KnownProgram] = &[
    KnownProgram {
        program: "claude",
        is: "Claude Code",
        agent: Some(CLAUDE),
        state: CLAUDE_STATE,
        settings: CLAUDE_SETTINGS,
        ..NONE
    },
    KnownProgram {
        program: "codex",
        is: "Codex",
        agent: Some(CODEX),
        state: CODEX_STATE,
        settings: CODEX_SETTINGS,
        ..NONE
    },
    KnownProgram {
        program: "gemini",
        also: &["gemini-cli"],
        is: "Gemini CLI",
        agent: Some(AsAgent {
            name: "gemini",
            kind: AgentKind::Gemini,
            vendor: "google",
            signed_in: Some(".gemini/oauth_creds.json"),
            env: &["GOOGLE_GEMINI_BASE_URL", "GOOGLE_CLOUD_PROJECT"],
            keys: &["GEMINI_API_KEY"],
            reads_only: "`--approval-mode plan`",
            usage: "tokens, in its `result` line",
            seen: Seen::Ran("0.61.0"),
            ..ACP
        }),
        state: &[Home(".gemini")],
        settings: &[
            "settings.json",
            "GEMINI.md",
            ".env",
            "commands",
            "extensions",
            "policies",
            "skills",
            "agents",
            "hooks",
            "trustedFolders.json",
        ],
    },
    KnownProgram {
        program: "opencode",
        also: &["opencode-ai"],
        is: "OpenCode",
        agent: Some(AsAgent {
            name: "opencode",
            kind: AgentKind::OpenCode,
            signed_in: Some(".local/share/opencode/auth.json"),
            env: &["OPENCODE_CONFIG"],
            keys: &["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY"],
            reads_only: "permissions by its configuration",
            usage: "tokens and dollars, in its `step_finish` lines",
            seen: Seen::Ran("1.18.33"),
            ..ACP
        }),
        state: &[data("opencode"), config("opencode"), cache("opencode"), state("opencode")],
        settings: &[
            "opencode.json",
            "opencode.jsonc",
            "config.json",
            "package.json",
            "AGENTS.md",
            "agent",
            "agents",
            "command",
            "commands",
            "mode",
            "modes",
            "plugin",
            "plugins",
            "tool",
            "tools",
            "skill",
            "skills",
        ],
    },
    KnownProgram {
        program: "claude-agent-acp",
        also: &["claude-code-acp"],
        is: "Claude Code over ACP",
        agent: Some(AsAgent {
            name: "claude-acp",
            kind: AgentKind::Acp,
            command: &["claude-agent-acp"],
            reads_only: "mode `plan`",
            usage: "tokens, in the answer to `session/prompt`",
            seen: Seen::Ran("0.49.0"),
            ..CLAUDE
        }),
        state: CLAUDE_STATE,
        settings: CLAUDE_SETTINGS,
    },
    KnownProgram {
        program: "codex-acp",
        is: "Codex over ACP",
        agent: Some(AsAgent {
            name: "codex-acp",
            kind: AgentKind::Acp,
            command: &["codex-acp"],
            reads_only: "mode `read-only`, outside of Landlock",
            usage: "tokens, in the answer to `session/prompt`",
            seen: Seen::Ran("2.6.0"),
            ..CODEX
        }),
        state: CODEX_STATE,
        settings: CODEX_SETTINGS,
        ..NONE
    },
    KnownProgram {
        program: "copilot",
        is: "GitHub Copilot CLI",
        agent: Some(AsAgent {
            name: "copilot",
            command: &["copilot", "--acp"],
            vendor: "github",
            env: &[
                "COPILOT_HOME",
                "COPILOT_GITHUB_TOKEN",
                "COPILOT_PROVIDER_BASE_URL",
                "COPILOT_PROVIDER_TYPE",
                "COPILOT_MODEL",
            ],
            keys: &["COPILOT_PROVIDER_API_KEY", "GH_TOKEN", "GITHUB_TOKEN"],
            reads_only: "mode `plan`",
            seen: Seen::Ran("1.0.102"),
            ..ACP
        }),
        state: &[Moved("COPILOT_HOME", ".copilot"), cache("copilot")],
        settings: &[
            "config.json",
            "settings.json",
            "mcp-config.json",
            "copilot-instructions.md",
            "agents",
            "skills",
            "hooks",
        ],
        ..NONE
    },
    KnownProgram {
        program: "qwen",
        also: &["qwen-code"],
        is: "Qwen Code",
        agent: Some(AsAgent {
            name: "qwen",
            command: &["qwen", "--acp"],
            vendor: "alibaba",
            signed_in: Some(".qwen/oauth_creds.json"),
            env: &["OPENAI_BASE_URL", "OPENAI_MODEL"],
            keys: &["OPENAI_API_KEY"],
            reads_only: "mode `plan`",
            usage: "",
            seen: Seen::Ran("0.15.10"),
            ..ACP
        }),
        state: &[Home(".qwen")],
        settings: &["settings.json", "QWEN.md", ".env", "commands", "extensions", "agents", "skills"],
    },
    KnownProgram {
        program: "cline",
        is: "Cline",
        // Over ACP it takes its own accounts only.
        agent: Some(AsAgent {
            name: "cline",
            kind: AgentKind::Command,
            command: &["cline", "--json"],
            lines: &["brief = \"argument\"", "reply = \"/text\"", "usage_in = \"/usage\""],
            env: &["CLINE_DIR"],
            signed_in: Some(".cline/data/settings/providers.json"),
            reads_only: "",
            usage: "tokens, in its `run_result` line",
            seen: Seen::Ran("3.0.65"),
            ..ACP
        }),
        state: &[Moved("CLINE_DIR", ".cline")],
        settings: &["rules", "hooks"],
        ..NONE
    },
    KnownProgram {
        program: "pi",
        also: &["pi-coding-agent"],
        is: "pi",
        agent: Some(AsAgent {
            name: "pi",
            kind: AgentKind::Command,
            command: &["pi", "-p", "--no-session", "--mode", "json"],
            lines: &["reply = \"/messages/-/content\"", "usage_in = \"/messages/*/usage\""],
            signed_in: Some(".pi/agent/auth.json"),
            env: &["PI_CODING_AGENT_DIR"],
            keys: &["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"],
            reads_only: "",
            usage: "tokens and dollars, in its `agent_end` line",
            seen: Seen::Ran("0.73.1"),
            ..ACP
        }),
        state: &[Home(".pi")],
        settings: &[
            "agent/settings.json",
            "agent/models.json",
            "agent/AGENTS.md",
            "agent/extensions",
            "agent/skills",
            "agent/prompts",
        ],
    },
    KnownProgram {
        program: "aider",
        also: &["aider-chat"],
        is: "Aider",
        agent: Some(AsAgent {
            name: "aider",
            kind: AgentKind::Command,
            command: &[
                "aider",
                "--yes-always",
                "--no-git",
                "--no-pretty",
                "--no-stream",
                "--no-check-update",
                "--no-show-release-notes",
                "--message-file",
            ],
            // Its banner comes before what it says, its count after.
            lines: &[
                "brief = \"file\"",
                r"reply = '(?s)\nRepo-map: [^\n]*\n\s*(?<reply>.*\S)\s*\nTokens: '",
                r"usage_in = 'Tokens: (?<input>[0-9.,]+[kM]?) sent.*?(?<output>[0-9.,]+[kM]?) received(?:\. Cost: \$(?<cost>[0-9.]+) message)?'",
            ],
            keys: &["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"],
            reads_only: "",
            usage: "its `Tokens:` line",
            seen: Seen::Ran("0.86.2"),
            ..ACP
        }),
        state: &[Home(".aider"), Read(".aider.conf.yml"), cache("aider")],
        settings: &["oauth-keys.env"],
    },
    KnownProgram {
        program: "goose",
        is: "Goose",
        agent: Some(AsAgent { name: "goose", command: &["goose", "acp"], ..ACP }),
        state: &[config("goose"), data("goose"), state("goose")],
        settings: &["config.yaml", "permission.yaml", ".goosehints", "recipes"],
        ..NONE
    },
    KnownProgram {
        program: "kimi",
        also: &["kimi-cli"],
        is: "Kimi CLI",
        agent: Some(AsAgent {
            name: "kimi",
            command: &["kimi", "acp"],
            vendor: "moonshot",
            keys: &["KIMI_API_KEY"],
            ..ACP
        }),
        state: &[Home(".kimi")],
        settings: &["config.toml", "config.json", "mcp.json"],
    },
    KnownProgram {
        program: "cursor-agent",
        is: "Cursor CLI",
        agent: Some(AsAgent {
            name: "cursor",
            command: &["cursor-agent", "acp"],
            keys: &["CURSOR_API_KEY"],
            ..ACP
        }),
        state: &[Home(".cursor"), config("cursor"), data("cursor-agent")],
        settings: &["cli-config.json", "mcp.json", "hooks.json", "rules", "commands"],
        ..NONE
    },
    KnownProgram {
        program: "auggie",
        is: "Auggie",
        agent: Some(AsAgent {
            name: "auggie",
            command: &["auggie", "--acp"],
            signed_in: Some(".augment/session.json"),
            env: &["AUGMENT_SESSION_AUTH"],
            ..ACP
        }),
        state: &[Home(".augment")],
        settings: &["settings.json", "rules", "commands", "agents"],
        ..NONE
    },
    KnownProgram {
        program: "grok",
        is: "Grok CLI",
        agent: Some(AsAgent {
            name: "grok",
            command: &["grok", "agent", "stdio"],
            vendor: "xai",
            keys: &["XAI_API_KEY"],
            ..ACP
        }),
        state: &[Home(".grok")],
        settings: &["config.toml", "user-settings.json", "AGENTS.md", "hooks", "skills"],
        ..NONE
    },
    KnownProgram {
        program: "llm",
        is: "llm, with the model it is set up for",
        agent: Some(AsAgent {
            name: "llm",
            kind: AgentKind::Command,
            command: &["llm"],
            env: &["LLM_USER_PATH"],
            reads_only: "",
            usage: "",
            ..ACP
        }),
        state: &[Moved("LLM_USER_PATH", ".config/io.datasette.llm"), cache("huggingface")],
        settings: &[
            "aliases.json",
            "default_model.txt",
            "keys.json",
            "extra-openai-models.yaml",
            "templates",
        ],
        ..NONE
    },
    KnownProgram {
        program: "ollama",
        is: "a model server; start it with `ollama serve`",
        state: &[Home(".ollama")],
        ..NONE
    },
    KnownProgram { program: "llama-server", is: "a model server; start it with a model", ..NONE },
    KnownProgram { program: "npx", also: &["npm"], state: &[Home(".npm")], ..NONE },
];
