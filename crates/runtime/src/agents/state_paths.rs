//! Where programs that people use as agents keep their own state, by the table of known programs: sessions,
//! credentials, caches. They write it in every call, so the sandbox lets them. Their settings lie among it: what they and
//! the user's own sessions obey. Those are put back if a call changed them.

use std::path::PathBuf;

use gadfly_project::AgentKind;
use gadfly_project::known::KnownProgram;
use gadfly_project::known::StatePath::{File, Home, In, Moved, Read};

use crate::call_site::settings::ProgramSetting;

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
    for known in KnownProgram::named_by(kind, command) {
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
            (AgentKind::Acp, &["copilot", "--acp"], &[home], &["/h/.copilot", "/h/.cache/copilot"]),
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
        let all: Vec<&str> = gadfly_project::known::KNOWN.iter().map(|known| known.program).collect();
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
