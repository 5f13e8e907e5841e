//! Installs the programs, at the versions they were tried with, into a folder of their own.

use std::path::Path;
use std::process::Stdio;

use tokio::process::Command;

use crate::TrialError;
use crate::programs::{NEEDS_SCRIPT, PACKAGES, PYTHON_SDK};

/// `npm install` in `dir`. Scripts of packages are not run, but for the one that puts its program in place.
pub async fn install(dir: &Path) -> Result<(), TrialError> {
    tokio::fs::create_dir_all(dir).await?;
    let manifest = dir.join("package.json");
    if !manifest.exists() {
        tokio::fs::write(&manifest, "{\"name\":\"real-agents\",\"private\":true}\n").await?;
    }
    // Some ask for a newer node than they need.
    npm(dir, &[&["install", "--ignore-scripts", "--force", "--no-audit", "--no-fund"], PACKAGES].concat())
        .await?;
    npm(dir, &["rebuild", NEEDS_SCRIPT]).await?;
    // One of the two clients that `--proxy` plays.
    run(dir, "python3", &["-m", "venv", "venv"]).await?;
    run(dir, "venv/bin/pip", &["install", "--quiet", PYTHON_SDK]).await
}

async fn npm(dir: &Path, args: &[&str]) -> Result<(), TrialError> {
    run(dir, "npm", &[args, &["--loglevel=error"]].concat()).await
}

async fn run(dir: &Path, program: &str, args: &[&str]) -> Result<(), TrialError> {
    // A path is meant from `dir`.
    let path = if program.contains('/') { dir.join(program) } else { program.into() };
    let mut command = Command::new(path);
    command.args(args).current_dir(dir).stdin(Stdio::null());
    let status = command.status().await.map_err(|e| format!("{program} could not be started: {e}"))?;
    if status.success() { Ok(()) } else { Err(format!("{program} ended with {status}").into()) }
}
