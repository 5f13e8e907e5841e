//! Installs the programs, at the versions they were tried with, into a folder of their own.

use std::path::Path;
use std::process::Stdio;

use tokio::process::Command;

use crate::TrialError;
use crate::programs::{NEEDS_SCRIPT, PACKAGES};

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
    npm(dir, &["rebuild", NEEDS_SCRIPT]).await
}

async fn npm(dir: &Path, args: &[&str]) -> Result<(), TrialError> {
    let mut npm = Command::new("npm");
    npm.args(args).arg("--loglevel=error").current_dir(dir).stdin(Stdio::null());
    let status = npm.status().await.map_err(|e| format!("npm could not be started: {e}"))?;
    if status.success() { Ok(()) } else { Err(format!("npm ended with {status}").into()) }
}
