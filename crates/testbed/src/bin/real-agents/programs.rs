//! The programs: where each is found, which version it is, and how it is made to talk to the local server.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::TrialError;

/// What `--install` installs: versions that were tried.
pub const PACKAGES: &[&str] = &[
    "@anthropic-ai/claude-code@2.1.325",
    "@openai/codex@0.166.0",
    "@google/gemini-cli@0.61.0",
    "opencode-ai@1.18.33",
    "@agentclientprotocol/claude-agent-acp@0.49.0",
    "@agentclientprotocol/codex-acp@2.6.0",
    "@agentclientprotocol/sdk@2.4.0",
];

/// The client of the protocol that is no npm package.
pub const PYTHON_SDK: &str = "agent-client-protocol==0.12.1";

/// The package that is a program only after its own script has run.
pub const NEEDS_SCRIPT: &str = "opencode-ai";

/// Whose settings a program reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Family {
    Claude,
    Codex,
    Gemini,
    OpenCode,
}

/// A program to be tried.
#[derive(Clone, Copy, Debug)]
pub struct TrialProgram {
    pub name: &'static str,
    /// As `kind` in gadfly.toml.
    pub kind: &'static str,
    pub family: Family,
    /// Below `node_modules`, the first that is there.
    places: &'static [&'static str],
    /// What it is called on PATH.
    usual: &'static str,
    pub args: &'static [&'static str],
    /// More lines for gadfly.toml.
    pub lines: &'static str,
}

pub const PROGRAMS: &[TrialProgram] = &[
    TrialProgram {
        name: "claude",
        kind: "claude-code",
        family: Family::Claude,
        places: &["@anthropic-ai/claude-code-linux-x64/claude", ".bin/claude"],
        usual: "claude",
        args: &[],
        lines: "",
    },
    TrialProgram {
        name: "codex",
        kind: "codex",
        family: Family::Codex,
        places: &[".bin/codex"],
        usual: "codex",
        args: &[],
        lines: "",
    },
    TrialProgram {
        name: "gemini",
        kind: "gemini",
        family: Family::Gemini,
        places: &[".bin/gemini"],
        usual: "gemini",
        args: &[],
        lines: "",
    },
    TrialProgram {
        name: "opencode",
        kind: "opencode",
        family: Family::OpenCode,
        places: &[".bin/opencode"],
        usual: "opencode",
        args: &[],
        lines: "",
    },
    TrialProgram {
        name: "claude-agent-acp",
        kind: "acp",
        family: Family::Claude,
        places: &[".bin/claude-agent-acp"],
        usual: "claude-agent-acp",
        args: &[],
        lines: "",
    },
    TrialProgram {
        name: "codex-acp",
        kind: "acp",
        family: Family::Codex,
        places: &[".bin/codex-acp"],
        usual: "codex-acp",
        args: &[],
        lines: "",
    },
    TrialProgram {
        name: "gemini-acp",
        kind: "acp",
        family: Family::Gemini,
        places: &[".bin/gemini"],
        usual: "gemini",
        args: &["--acp"],
        lines: "",
    },
    TrialProgram {
        name: "opencode-acp",
        kind: "acp",
        family: Family::OpenCode,
        places: &[".bin/opencode"],
        usual: "opencode",
        args: &["acp"],
        lines: "",
    },
];

/// A program that is there.
pub struct LocatedProgram {
    pub program: TrialProgram,
    pub path: PathBuf,
    pub version: String,
}

impl TrialProgram {
    /// In `dir` if one is given, else on PATH.
    pub fn find(self, dir: Option<&Path>) -> Option<LocatedProgram> {
        let path = if let Some(dir) = dir {
            let modules = dir.join("node_modules");
            self.places.iter().map(|place| modules.join(place)).find(|path| path.is_file())?
        } else {
            let folders = std::env::var_os("PATH")?;
            std::env::split_paths(&folders)
                .map(|folder| folder.join(self.usual))
                .find(|path| path.is_file())?
        };
        let version = version(&path).unwrap_or_else(|| "of unknown version".to_owned());
        Some(LocatedProgram { program: self, path, version })
    }
}

impl LocatedProgram {
    pub fn title(&self) -> String {
        format!("{} {}", self.program.name, self.version)
    }

    /// Writes the program's settings into its home; the variables it needs.
    pub fn settle(
        &self,
        home: &Path,
        server: SocketAddr,
        model: &str,
    ) -> Result<Vec<(String, String)>, TrialError> {
        let root = format!("http://{server}");
        let mut env = Vec::new();
        let mut set = |name: &str, value: &str| env.push((name.to_owned(), value.to_owned()));
        match self.program.family {
            Family::Claude => {
                set("ANTHROPIC_BASE_URL", &root);
                set("ANTHROPIC_API_KEY", "dummy");
                set("ANTHROPIC_MODEL", model);
                set("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
                set("DISABLE_AUTOUPDATER", "1");
            }
            Family::Codex => {
                write(&home.join(".codex/config.toml"), &codex_config(&root, model))?;
                set("LOCAL_KEY", "dummy");
            }
            Family::Gemini => {
                write(&home.join(".gemini/settings.json"), &gemini_settings(model).to_string())?;
                set("GEMINI_API_KEY", "dummy");
                set("GOOGLE_GEMINI_BASE_URL", &root);
            }
            Family::OpenCode => {
                let settings = opencode_settings(&root, model);
                write(&home.join(".config/opencode/opencode.json"), &settings.to_string())?;
                set("OPENCODE_DISABLE_AUTOUPDATE", "1");
                set("OPENCODE_DISABLE_MODELS_FETCH", "1");
            }
        }
        Ok(env)
    }

    /// The model's name as this program knows it.
    pub fn model(&self, model: &str) -> String {
        match self.program.family {
            Family::OpenCode => format!("local/{model}"),
            _ => model.to_owned(),
        }
    }
}

fn codex_config(root: &str, model: &str) -> String {
    format!(
        "model = {}\nmodel_provider = \"local\"\napproval_policy = \"never\"\nsandbox_mode = \"workspace-write\"\n\
         [model_providers.local]\nname = \"local\"\nbase_url = \"{root}/v1\"\nwire_api = \"responses\"\n\
         env_key = \"LOCAL_KEY\"\n",
        json!(model)
    )
}

fn gemini_settings(model: &str) -> Value {
    json!({
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "general": {"disableAutoUpdate": true},
        "privacy": {"usageStatisticsEnabled": false},
        "telemetry": {"enabled": false},
        "model": {"name": model},
    })
}

fn opencode_settings(root: &str, model: &str) -> Value {
    json!({
        "$schema": "https://opencode.ai/config.json",
        "model": format!("local/{model}"), "small_model": format!("local/{model}"),
        "autoupdate": false, "share": "disabled",
        "provider": {"local": {
            "npm": "@ai-sdk/openai-compatible",
            "options": {"baseURL": format!("{root}/v1"), "apiKey": "dummy"},
            "models": {model: {}},
        }},
    })
}

pub fn write(path: &Path, text: &str) -> Result<(), TrialError> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    Ok(std::fs::write(path, text)?)
}

/// The version that the package around a program states.
fn version(program: &Path) -> Option<String> {
    let real = std::fs::canonicalize(program).ok()?;
    real.ancestors().skip(1).find_map(|folder| {
        let text = std::fs::read_to_string(folder.join("package.json")).ok()?;
        let manifest: Value = serde_json::from_str(&text).ok()?;
        manifest["version"].as_str().map(str::to_owned)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_program_has_a_name_of_its_own() {
        let mut names: Vec<&str> = PROGRAMS.iter().map(|p| p.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), PROGRAMS.len());
    }

    #[test]
    fn every_package_is_pinned() {
        for package in PACKAGES {
            let (_, version) = package.rsplit_once('@').unwrap_or_default();
            assert!(version.starts_with(|c: char| c.is_ascii_digit()), "{package}");
        }
    }
}
