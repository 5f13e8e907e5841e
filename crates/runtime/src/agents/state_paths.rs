//! Where programs that people use as agents keep their own state: sessions, credentials, caches. They write it
//! in every call, so the sandbox lets them. Their settings lie among it: what they and the user's own sessions obey.
//! Those are named here, too, and put back if a call changed them.
//!
//! To add a program: a row of `PROGRAMS`.

use std::path::{Path, PathBuf};

use gadfly_project::AgentKind;

use crate::call_site::settings::ProgramSetting;

/// One place of a program's state.
enum StatePath {
    /// A folder below the home.
    Home(&'static str),
    /// A file below the home. It is not made: only its owner knows what an empty one would mean.
    File(&'static str),
    /// A file below the home that it reads and need not write.
    Read(&'static str),
    /// Where this variable says, else below the home.
    Moved(&'static str, &'static str),
    /// In the folder that this variable names, else in this one below the home.
    In(&'static str, &'static str, &'static str),
}

use StatePath::{File, Home, In, Moved, Read};

struct ProgramState {
    /// Names of programs, and of adapters that start them.
    names: &'static [&'static str],
    state: &'static [StatePath],
    /// What in the folders of its state is settings.
    settings: &'static [&'static str],
}

const CONFIG: (&str, &str) = ("XDG_CONFIG_HOME", ".config");
const DATA: (&str, &str) = ("XDG_DATA_HOME", ".local/share");
const CACHE: (&str, &str) = ("XDG_CACHE_HOME", ".cache");
const STATE: (&str, &str) = ("XDG_STATE_HOME", ".local/state");

const PROGRAMS: &[ProgramState] = &[
    ProgramState {
        names: &["claude", "claude-agent-acp", "claude-code-acp"],
        state: &[
            Moved("CLAUDE_CONFIG_DIR", ".claude"),
            File(".claude.json"),
            File(".claude.json.backup"),
            In(CACHE.0, CACHE.1, "claude"),
            In(CACHE.0, CACHE.1, "claude-cli-nodejs"),
            In(DATA.0, DATA.1, "claude"),
            In(STATE.0, STATE.1, "claude"),
        ],
        settings: &[
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
        ],
    },
    ProgramState {
        names: &["codex", "codex-acp"],
        state: &[Moved("CODEX_HOME", ".codex")],
        settings: &[
            "config.toml",
            "AGENTS.md",
            "AGENTS.override.md",
            "prompts",
            "rules",
            "skills",
            "hooks",
            "hooks.json",
        ],
    },
    ProgramState {
        names: &["gemini", "gemini-cli"],
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
    ProgramState {
        names: &["qwen"],
        state: &[Home(".qwen")],
        settings: &["settings.json", "QWEN.md", ".env", "commands", "extensions", "agents", "skills"],
    },
    ProgramState {
        names: &["opencode", "opencode-ai"],
        state: &[
            In(DATA.0, DATA.1, "opencode"),
            In(CONFIG.0, CONFIG.1, "opencode"),
            In(CACHE.0, CACHE.1, "opencode"),
            In(STATE.0, STATE.1, "opencode"),
        ],
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
    ProgramState {
        names: &["goose"],
        state: &[In(CONFIG.0, CONFIG.1, "goose"), In(DATA.0, DATA.1, "goose"), In(STATE.0, STATE.1, "goose")],
        settings: &["config.yaml", "permission.yaml", ".goosehints", "recipes"],
    },
    ProgramState { names: &["ollama"], state: &[Home(".ollama")], settings: &[] },
    ProgramState {
        names: &["llm"],
        state: &[Moved("LLM_USER_PATH", ".config/io.datasette.llm"), In(CACHE.0, CACHE.1, "huggingface")],
        settings: &[
            "aliases.json",
            "default_model.txt",
            "keys.json",
            "extra-openai-models.yaml",
            "templates",
        ],
    },
    ProgramState {
        names: &["aider"],
        state: &[Home(".aider"), Read(".aider.conf.yml"), In(CACHE.0, CACHE.1, "aider")],
        settings: &["oauth-keys.env"],
    },
    ProgramState { names: &["npx", "npm"], state: &[Home(".npm")], settings: &[] },
];

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct StatePaths {
    pub folders: Vec<PathBuf>,
    pub files: Vec<PathBuf>,
    /// What is only read.
    pub read: Vec<PathBuf>,
    pub settings: Vec<ProgramSetting>,
}

/// The state of the programs that a command names. `env` is what the program itself is given: a variable that
/// it does not get moves nothing.
pub fn state_paths(kind: AgentKind, command: &[String], env: &dyn Fn(&str) -> Option<String>) -> StatePaths {
    let mut found = StatePaths::default();
    let Some(home) = env("HOME").map(PathBuf::from).filter(|home| home.is_absolute()) else {
        return found;
    };
    let words = command.iter().filter_map(|word| program_name(word));
    let mut names: Vec<&str> = kind.usual_program().into_iter().chain(words).collect();
    names.dedup();
    for known in PROGRAMS.iter().filter(|known| known.names.iter().any(|name| names.contains(name))) {
        for at in known.state {
            let path = at.resolved(&home, env);
            match at {
                // Of what is no folder only `~/.claude.json` says what is started.
                File(name) if *name == ".claude.json" => {
                    found.settings.push(ProgramSetting { path: path.clone(), servers_only: true });
                    found.files.push(path);
                }
                File(_) => found.files.push(path),
                Read(_) => found.read.push(path),
                Home(_) | Moved(..) | In(..) => {
                    let below = known.settings.iter().map(|name| path.join(name));
                    found.settings.extend(below.map(|path| ProgramSetting { path, servers_only: false }));
                    found.folders.push(path);
                }
            }
        }
    }
    found
}

impl StatePath {
    fn resolved(&self, home: &Path, env: &dyn Fn(&str) -> Option<String>) -> PathBuf {
        let moved = |name: &str| env(name).map(PathBuf::from).filter(|path| path.is_absolute());
        match self {
            Home(path) | File(path) | Read(path) => home.join(path),
            Moved(name, path) => moved(name).unwrap_or_else(|| home.join(path)),
            In(name, folder, path) => moved(name).unwrap_or_else(|| home.join(folder)).join(path),
        }
    }
}

/// `/x/codex-acp`, `@scope/codex-acp@1.2`, `codex-acp.js` → `codex-acp`.
fn program_name(word: &str) -> Option<&str> {
    let name = word.rsplit('/').next()?;
    let name = name.split('@').next()?;
    let name = name.strip_suffix(".js").or_else(|| name.strip_suffix(".exe")).unwrap_or(name);
    (!name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(kind: AgentKind, command: &[&str], env: &[(&str, &str)]) -> Vec<String> {
        let command: Vec<String> = command.iter().map(|word| (*word).to_owned()).collect();
        let find = |name: &str| env.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).to_owned());
        let found = state_paths(kind, &command, &find);
        found.folders.iter().chain(&found.files).map(|path| path.to_str().unwrap().to_owned()).collect()
    }

    type Row<'a> = (AgentKind, &'a [&'a str], &'a [(&'a str, &'a str)], &'a [&'a str]);

    #[test]
    fn every_program_writes_where_it_keeps_its_state_and_variables_move_that() {
        let home = ("HOME", "/h");
        let table: &[Row<'_>] = &[
            (AgentKind::Codex, &["codex"], &[home], &["/h/.codex"]),
            (AgentKind::Codex, &["/opt/my-codex"], &[home], &["/h/.codex"]),
            (AgentKind::Codex, &["codex"], &[home, ("CODEX_HOME", "/c")], &["/c"]),
            (AgentKind::Codex, &["codex"], &[home, ("CODEX_HOME", "relative")], &["/h/.codex"]),
            (AgentKind::Gemini, &["gemini"], &[home], &["/h/.gemini"]),
            (AgentKind::Acp, &["/x/node_modules/.bin/codex-acp"], &[home], &["/h/.codex"]),
            (AgentKind::Acp, &["npx", "-y", "@s/codex-acp@2.6"], &[home], &["/h/.codex", "/h/.npm"]),
            (AgentKind::Acp, &["gemini", "--acp"], &[home], &["/h/.gemini"]),
            (
                AgentKind::OpenCode,
                &["opencode"],
                &[home, ("XDG_CONFIG_HOME", "/cfg")],
                &[
                    "/h/.local/share/opencode",
                    "/cfg/opencode",
                    "/h/.cache/opencode",
                    "/h/.local/state/opencode",
                ],
            ),
            (AgentKind::Command, &["ollama", "run", "qwen3"], &[home], &["/h/.ollama"]),
            (
                AgentKind::Command,
                &["llm"],
                &[home, ("LLM_USER_PATH", "/l")],
                &["/l", "/h/.cache/huggingface"],
            ),
            (AgentKind::Command, &["./critic.sh"], &[home], &[]),
            (AgentKind::Codex, &["codex"], &[], &[]),
        ];
        for (kind, command, env, expected) in table {
            assert_eq!(paths(*kind, command, env), *expected, "{command:?} {env:?}");
        }
        let claude = paths(AgentKind::ClaudeCode, &["claude"], &[home, ("CLAUDE_CONFIG_DIR", "/c")]);
        assert!(claude.contains(&"/c".to_owned()) && !claude.contains(&"/h/.claude".to_owned()));
        assert!(claude.contains(&"/h/.claude.json".to_owned()));
    }

    #[test]
    fn no_program_is_given_a_whole_home_or_a_folder_that_others_share() {
        let all: Vec<&str> = PROGRAMS.iter().flat_map(|known| known.names).copied().collect();
        for path in paths(AgentKind::Command, &all, &[("HOME", "/h")]) {
            assert!(!["/h", "/h/.config", "/h/.cache", "/h/.local/share"].contains(&path.as_str()), "{path}");
            assert!(path.starts_with("/h/."), "{path}");
        }
    }

    #[test]
    fn what_a_program_obeys_is_among_its_settings() {
        let settings = |kind, command: &str| -> Vec<String> {
            let find = |name: &str| (name == "HOME").then(|| "/h".to_owned());
            let found = state_paths(kind, &[command.to_owned()], &find);
            found.settings.iter().map(|setting| setting.path.display().to_string()).collect()
        };
        for (kind, command, path) in [
            (AgentKind::ClaudeCode, "claude", "/h/.claude/settings.json"),
            (AgentKind::ClaudeCode, "claude", "/h/.claude/hooks"),
            (AgentKind::ClaudeCode, "claude", "/h/.claude.json"),
            (AgentKind::Acp, "claude-agent-acp", "/h/.claude/CLAUDE.md"),
            (AgentKind::Codex, "codex", "/h/.codex/config.toml"),
            (AgentKind::Gemini, "gemini", "/h/.gemini/settings.json"),
            (AgentKind::OpenCode, "opencode", "/h/.config/opencode/opencode.json"),
            (AgentKind::Command, "claude", "/h/.claude/commands"),
        ] {
            assert!(settings(kind, command).contains(&path.to_owned()), "{command}: {path}");
        }
        assert_eq!(settings(AgentKind::Command, "./critic.sh"), [""; 0]);
    }
}
