//! Installs the programs, at the versions they were tried with, into a folder of their own.

use std::path::Path;
use std::process::Stdio;

use tokio::process::Command;

use crate::Fault;
use crate::programs::PACKAGES;

/// `npm install` in `dir`. Scripts of packages are not run: the programs that need no build come as they are.
pub async fn install(dir: &Path) -> Result<(), Fault> {
    tokio::fs::create_dir_all(dir).await?;
    let manifest = dir.join("package.json");
    if !manifest.exists() {
        tokio::fs::write(&manifest, "{\"name\":\"real-agents\",\"private\":true}\n").await?;
    }
    let status = Command::new("npm")
        .args(["install", "--ignore-scripts", "--force", "--no-audit", "--no-fund", "--loglevel=error"])
        .args(PACKAGES)
        .current_dir(dir)
        .stdin(Stdio::null())
        .status()
        .await
        .map_err(|e| format!("npm could not be started: {e}"))?;
    if status.success() { Ok(()) } else { Err(format!("npm ended with {status}").into()) }
}
