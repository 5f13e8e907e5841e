//! Programs that can be agents, or serve models: where they are, which version, whether they are signed in.
//! Each is asked for its version and for nothing else, within short bounds.

use std::path::{Path, PathBuf};
use std::time::Duration;

use futures_util::future::join_all;
use gadfly_agents::is_usual;
use gadfly_agents::launcher::{Command, Exit, Launcher, Most};
use gadfly_project::known::{AsAgent, KNOWN, KnownProgram};
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use super::is_set;
use crate::agents::Env;
use crate::agents::startable::on_path;
use crate::os::ProcessLauncher;

/// Programs on a script engine take seconds to begin on a busy machine.
const VERSION_TIME: Duration = Duration::from_secs(10);
const VERSION_OUTPUT: usize = 4096;
const VERSION_SHOWN: usize = 60;

/// What is looked for: agents and model servers.
fn looked_for() -> impl Iterator<Item = &'static KnownProgram> {
    KNOWN.iter().filter(|known| !known.is.is_empty())
}

/// A program as it was found.
#[derive(Clone, Debug, Serialize)]
pub struct InstalledProgram {
    pub name: &'static str,
    pub is: &'static str,
    pub path: Option<PathBuf>,
    /// None if it has none to say.
    pub version: Option<String>,
    /// Why it cannot be expected to work.
    pub trouble: Option<String>,
    /// Whether it will answer, as far as a look at files and variables tells; none if that cannot be told.
    pub signed_in: Option<bool>,
    /// The variables it needs of those that are set, by name.
    pub env: Vec<String>,
}

/// All of them, each asked for its version.
pub(super) async fn look(env: &Env) -> Vec<InstalledProgram> {
    let launcher = ProcessLauncher::this_program().ok().map(|l| l.working_in("/"));
    join_all(looked_for().map(|known| found(known, env, launcher.as_ref()))).await
}

async fn found(known: &KnownProgram, env: &Env, launcher: Option<&ProcessLauncher>) -> InstalledProgram {
    let path = on_path(known.program, env);
    let mut program = InstalledProgram {
        name: known.program,
        is: known.is,
        version: None,
        trouble: None,
        signed_in: None,
        env: Vec::new(),
        path,
    };
    let Some(path) = program.path.clone() else { return program };
    if let Some(agent) = &known.agent {
        (program.signed_in, program.env) = signed_in(agent, env);
    }
    match (launcher, path.is_absolute()) {
        (Some(launcher), true) => match version(&path, env, launcher).await {
            Ok(version) => program.version = version,
            Err(why) => program.trouble = Some(why),
        },
        // What lies in a folder that PATH names by chance is not started for a look.
        (_, false) => program.trouble = Some("it is found by a relative entry of PATH only".to_owned()),
        (None, _) => program.trouble = Some("programs cannot be started here".to_owned()),
    }
    program
}

async fn version(path: &Path, env: &Env, launcher: &ProcessLauncher) -> Result<Option<String>, String> {
    let command = Command {
        program: path.to_string_lossy().into_owned(),
        args: vec!["--version".to_owned()],
        env: env.iter().filter(|(n, v)| is_usual(n, v)).map(|(n, v)| (n.clone(), v.clone())).collect(),
        cwd: Some(PathBuf::from("/")),
        time: Some(VERSION_TIME),
        max_output: VERSION_OUTPUT,
        most: Most { memory_bytes: Some(4 << 30), processes: Some(200) },
        ..Command::default()
    };
    let done = launcher.launch(command, CancellationToken::new()).await.map_err(|e| e.to_string())?;
    match done.exit {
        Exit::Code(0) => {}
        Exit::TimedOut => {
            return Err(format!("it did not say its version within {} s", VERSION_TIME.as_secs()));
        }
        Exit::Overflowed => return Err("it does not stop talking when asked for its version".to_owned()),
        Exit::Code(code) => return Err(format!("asked for its version it ended with exit code {code}")),
        _ => return Err("asked for its version it was ended".to_owned()),
    }
    let text = String::from_utf8_lossy(&done.stdout);
    let line = text.lines().map(str::trim).find(|line| line.contains(|c: char| c.is_ascii_digit()));
    Ok(line.map(|line| line.chars().filter(|c| !c.is_control()).take(VERSION_SHOWN).collect()))
}

/// Whether it is known to have an account, and which variables it is to be given.
fn signed_in(agent: &AsAgent, env: &Env) -> (Option<bool>, Vec<String>) {
    let mut given: Vec<&str> = agent.env.iter().copied().filter(|name| is_set(env, name)).collect();
    if agent.signed_in.is_none() && agent.keys.is_empty() {
        return (None, owned(&given));
    }
    let token = given.iter().any(|name| name.ends_with("_TOKEN"));
    // Where the program was told to keep its state elsewhere, or keeps keys with the system, no file tells.
    let moved = given.iter().any(|name| name.ends_with("_HOME") || name.ends_with("_DIR"));
    let file = agent.signed_in.zip(env.get("HOME"));
    let there = file.is_some_and(|(file, home)| Path::new(home).join(file).is_file());
    if token || there {
        return (Some(true), owned(&given));
    }
    let keys: Vec<&str> = agent.keys.iter().copied().filter(|name| is_set(env, name)).collect();
    let keyed = !keys.is_empty();
    given.extend(keys);
    let known = if keyed {
        Some(true)
    } else if moved || agent.signed_in.is_none() || cfg!(target_os = "macos") {
        None
    } else {
        Some(false)
    };
    (known, owned(&given))
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // a test that cannot go on should say so

    use super::*;

    fn row(program: &str) -> AsAgent {
        KNOWN.iter().find(|known| known.program == program).unwrap().agent.unwrap()
    }

    fn env(pairs: &[(&str, &str)]) -> Env {
        pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
    }

    #[test]
    fn a_login_is_preferred_to_a_key_and_a_key_to_nothing() {
        let home = tempfile::tempdir().unwrap();
        let at = home.path().to_str().unwrap();
        let nothing = signed_in(&row("claude"), &env(&[("HOME", at)]));
        assert_eq!(nothing.1, [""; 0]);
        assert_ne!(nothing.0, Some(true));
        let keyed = signed_in(&row("claude"), &env(&[("HOME", at), ("ANTHROPIC_API_KEY", "k")]));
        assert_eq!(keyed, (Some(true), vec!["ANTHROPIC_API_KEY".to_owned()]));
        std::fs::create_dir_all(home.path().join(".claude")).unwrap();
        std::fs::write(home.path().join(".claude/.credentials.json"), "{}").unwrap();
        // With the key it would be paid for by the call although there is a subscription.
        let both = signed_in(&row("claude"), &env(&[("HOME", at), ("ANTHROPIC_API_KEY", "k")]));
        assert_eq!(both, (Some(true), vec![]));
        let copilot = signed_in(&row("copilot"), &env(&[("HOME", at), ("GH_TOKEN", "k")]));
        assert_eq!(copilot, (Some(true), vec!["GH_TOKEN".to_owned()]), "nobody knows a file of its login");
        assert_eq!(signed_in(&row("copilot"), &env(&[("HOME", at)])), (None, vec![]));
        let elsewhere = signed_in(&row("codex"), &env(&[("HOME", at), ("CODEX_HOME", "/x")]));
        assert_eq!(elsewhere, (None, vec!["CODEX_HOME".to_owned()]));
    }
}
