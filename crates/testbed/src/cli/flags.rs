//! The real programs' flags, as far as anybody uses them here, and what they mean. A flag that a program does
//! not have is refused, as the program does.

use serde_json::Value;

use super::{Program, ProgramInvocation};

/// What its flags and its environment make of a call.
#[derive(Debug, Default)]
pub(super) struct Mode {
    /// Its own tools may change files.
    pub may_write: bool,
    /// The session it goes on with.
    pub session: Option<String>,
    /// It was asked for an answer in a form.
    pub has_form: bool,
    /// Text is told in pieces.
    pub in_pieces: bool,
    /// The tools it has.
    pub tools: Vec<String>,
    /// It has none for commands.
    pub no_shell: bool,
}

/// A program's flags: those that stand alone, those with a value, and its words.
struct KnownFlags {
    alone: &'static [&'static str],
    valued: &'static [&'static str],
    words: &'static [&'static str],
}

fn known(program: Program) -> KnownFlags {
    match program {
        Program::ClaudeCode => KnownFlags {
            alone: &[
                "-p",
                "--verbose",
                "--strict-mcp-config",
                "--include-partial-messages",
                "--fork-session",
                "--no-session-persistence",
            ],
            valued: &[
                "--output-format",
                "--permission-mode",
                "--allowedTools",
                "--disallowedTools",
                "--tools",
                "--setting-sources",
                "--settings",
                "--model",
                "--max-turns",
                "--max-budget-usd",
                "--json-schema",
                "--resume",
            ],
            words: &[],
        },
        Program::Codex => KnownFlags {
            alone: &["--json", "--skip-git-repo-check", "--ignore-rules", "--ephemeral", "-"],
            valued: &["--sandbox", "-c", "--model", "--output-schema", "resume"],
            words: &["exec"],
        },
        Program::Gemini => KnownFlags {
            alone: &["--skip-trust"],
            valued: &[
                "--output-format",
                "--approval-mode",
                "--extensions",
                "--allowed-mcp-server-names",
                "--admin-policy",
                "--model",
                "--resume",
            ],
            words: &[],
        },
        Program::OpenCode => KnownFlags {
            alone: &["--auto", "--pure", "--fork"],
            valued: &["--format", "--title", "--model", "--session"],
            words: &["run"],
        },
    }
}

/// The flags of one call, by name.
struct GivenFlags<'a>(Vec<(&'a str, &'a str)>);

impl<'a> GivenFlags<'a> {
    fn read(program: Program, flags: &'a [String]) -> Result<Self, String> {
        let known = known(program);
        let mut given = Vec::new();
        let mut flags = flags.iter().map(String::as_str);
        for word in known.words {
            if flags.next() != Some(word) {
                return Err(format!("`{word}` is missing"));
            }
        }
        while let Some(flag) = flags.next() {
            if known.alone.contains(&flag) {
                given.push((flag, ""));
            } else if known.valued.contains(&flag) {
                given.push((flag, flags.next().ok_or_else(|| format!("`{flag}` needs a value"))?));
            } else {
                return Err(format!("unknown option '{flag}'"));
            }
        }
        Ok(Self(given))
    }

    fn value(&self, flag: &str) -> Option<&'a str> {
        self.0.iter().rev().find(|(name, _)| *name == flag).map(|(_, value)| *value)
    }

    fn has(&self, flag: &str) -> bool {
        self.value(flag).is_some()
    }

    fn must(&self, flag: &str, value: &str) -> Result<(), String> {
        if self.value(flag) == Some(value) {
            Ok(())
        } else {
            Err(format!("without `{flag} {value}` it says nothing that can be read"))
        }
    }
}

impl Mode {
    pub fn read(program: Program, asked: &ProgramInvocation) -> Result<Self, String> {
        let given = GivenFlags::read(program, &asked.flags)?;
        let session = |flag| given.value(flag).map(str::to_owned);
        match program {
            Program::ClaudeCode => {
                given.must("-p", "").and(given.must("--verbose", ""))?;
                given.must("--output-format", "stream-json")?;
                let tools: Vec<String> = given
                    .value("--tools")
                    .unwrap_or("Task,Bash,Edit,Glob,Grep,Read,Write")
                    .split(',')
                    .map(str::to_owned)
                    .collect();
                let denied: Vec<&str> = given
                    .value("--disallowedTools")
                    .map(|list| list.split(',').collect())
                    .unwrap_or_default();
                let allowed = given.value("--permission-mode") == Some("acceptEdits");
                let has = |name: &str| tools.iter().any(|tool| tool == name) && !denied.contains(&name);
                Ok(Self {
                    may_write: allowed && has("Write"),
                    no_shell: !has("Bash"),
                    session: session("--resume"),
                    has_form: given.has("--json-schema"),
                    in_pieces: given.has("--include-partial-messages"),
                    tools,
                })
            }
            Program::Codex => {
                given.must("--json", "")?;
                Ok(Self {
                    may_write: given.value("--sandbox").is_some_and(|sandbox| sandbox != "read-only"),
                    session: session("resume"),
                    has_form: match given.value("--output-schema") {
                        Some(file) => is_json(file)?,
                        None => false,
                    },
                    ..Self::default()
                })
            }
            Program::Gemini => {
                given.must("--output-format", "stream-json")?;
                let denied = match given.value("--admin-policy") {
                    Some(policy) => {
                        std::fs::read_to_string(policy).map_err(|e| format!("the policy {policy}: {e}"))?
                    }
                    None => String::new(),
                };
                let writes = !denied.contains("\"write_file\"");
                Ok(Self {
                    may_write: given.value("--approval-mode") == Some("yolo") && writes,
                    no_shell: denied.contains("\"run_shell_command\""),
                    session: session("--resume"),
                    ..Self::default()
                })
            }
            Program::OpenCode => {
                given.must("--format", "json")?;
                let rules = asked.env.get("OPENCODE_PERMISSION").map_or("{}", String::as_str);
                let rules: Value = serde_json::from_str(rules).map_err(|e| e.to_string())?;
                let rule = rules.get("edit").or_else(|| rules.get("*"));
                let denied = rule.and_then(Value::as_str) == Some("deny");
                let shell = rules.get("bash").or_else(|| rules.get("*"));
                Ok(Self {
                    no_shell: shell.and_then(Value::as_str) == Some("deny"),
                    may_write: given.has("--auto") && !denied,
                    session: session("--session"),
                    ..Self::default()
                })
            }
        }
    }
}

fn is_json(file: &str) -> Result<bool, String> {
    let text = std::fs::read_to_string(file).map_err(|e| format!("the schema {file}: {e}"))?;
    serde_json::from_str::<Value>(&text).map(|_| true).map_err(|e| format!("the schema {file}: {e}"))
}
