//! Signs with the key the user names: at once if all of it is in its file, else through `ssh-keygen`, which knows agents,
//! hardware tokens and older formats. Checking signatures is the journal's.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use gadfly_agents::launcher::{Command, Exit, LaunchError, Launcher};
use gadfly_journal::signature::{NAMESPACE, Signature, SignatureError, SigningKey, pae};
use gadfly_project::file::{self, FileError};
use tokio_util::sync::CancellationToken;

use crate::agents::Env;

/// Enough to find a token and touch it.
const LONGEST: Duration = Duration::from_mins(1);
const LARGEST_KEY: u64 = 64 << 10;
const MOST_SAID: usize = 64 << 10;
/// What `ssh-keygen` is given of the user's environment.
const PASSED_ON: [&str; 9] = [
    "PATH",
    "HOME",
    "SSH_AUTH_SOCK",
    "SSH_ASKPASS",
    "SSH_ASKPASS_REQUIRE",
    "SSH_SK_PROVIDER",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XDG_RUNTIME_DIR",
];

/// Why something was not signed. What was to be signed is as it was.
#[derive(Debug, thiserror::Error)]
pub enum SigningError {
    #[error("the key of [signing] cannot be read: {0}")]
    Key(#[from] FileError),
    #[error("{0}")]
    Signature(#[from] SignatureError),
    #[error(
        "{key} needs ssh-keygen to sign, and it cannot be started: {why}. Install OpenSSH, or name a key without a \
         passphrase in [signing]"
    )]
    NoProgram { key: PathBuf, why: String },
    #[error(
        "ssh-keygen did not sign with {key}: {why}. A key with a passphrase has to be in ssh-agent: `ssh-add` it"
    )]
    Refused { key: PathBuf, why: String },
}

/// The user's key.
pub struct Signer {
    key: PathBuf,
    launcher: Option<Arc<dyn Launcher>>,
    env: Env,
}

impl Signer {
    /// `named` is what the configuration says: a path, absolute or below the user's home.
    pub fn new(named: &str, launcher: Option<Arc<dyn Launcher>>, env: Env) -> Self {
        let home = env.get("HOME").map(PathBuf::from).unwrap_or_default();
        let key = named.strip_prefix("~/").map_or_else(|| home.join(named), |below| home.join(below));
        Self { key, launcher, env }
    }

    pub async fn sign(&self, kind: &str, payload: &[u8]) -> Result<Signature, SigningError> {
        let text = file::read_text_up_to(&self.key, LARGEST_KEY)?;
        let signature = match SigningKey::read(&text) {
            Some(key) => key.sign(kind, payload)?,
            None => self.ask(kind, payload).await?,
        };
        // What cannot be checked is no signature: better to learn of it here than in CI.
        signature.check(kind, payload)?;
        Ok(signature)
    }

    async fn ask(&self, kind: &str, payload: &[u8]) -> Result<Signature, SigningError> {
        let no_program = |why: String| SigningError::NoProgram { key: self.key.clone(), why };
        let launcher = self.launcher.as_ref().ok_or_else(|| no_program("no program can".to_owned()))?;
        let mut env: Vec<(String, String)> = PASSED_ON
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), self.env.get(*name)?.clone())))
            .collect();
        if !self.env.contains_key("SSH_ASKPASS") {
            // Nobody is asked at a terminal that shows a run.
            env.push(("SSH_ASKPASS".to_owned(), "false".to_owned()));
            env.push(("SSH_ASKPASS_REQUIRE".to_owned(), "force".to_owned()));
        }
        let command = Command {
            program: "ssh-keygen".to_owned(),
            args: ["-q", "-Y", "sign", "-n", NAMESPACE, "-f", &self.key.to_string_lossy()]
                .map(str::to_owned)
                .to_vec(),
            env,
            cwd: self.key.parent().map(Path::to_owned),
            stdin: pae(kind, payload),
            time: Some(LONGEST),
            max_output: MOST_SAID,
            ..Command::default()
        };
        let done = launcher.launch(command, CancellationToken::new()).await.map_err(|e| match e {
            LaunchError::NotFound { .. } => no_program("it is not installed".to_owned()),
            other => no_program(other.to_string()),
        })?;
        let refused = |why: String| SigningError::Refused { key: self.key.clone(), why };
        match done.exit {
            Exit::Code(0) => Ok(Signature::read(&String::from_utf8_lossy(&done.stdout))?),
            Exit::TimedOut => Err(refused(format!("it took longer than {} seconds", LONGEST.as_secs()))),
            _ => {
                let said = String::from_utf8_lossy(&done.stderr).into_owned();
                let last = said.lines().rev().find(|line| !line.trim().is_empty());
                Err(refused(last.unwrap_or("it said nothing").trim().chars().take(300).collect()))
            }
        }
    }
}
