//! `LangGraph` with its `SQLite` checkpointer as another runner: it is installed once, into a virtual environment beside this
//! program, and runs the loops of `langgraph.py`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::baseline::{BenchError, CRITIC, DRAFT, REVISE};
use crate::scene::Scene;

/// What is installed. Another version is another row.
const PACKAGES: [&str; 2] = ["langgraph==1.2.22", "langgraph-checkpoint-sqlite==3.1.2"];
const LOOPS: &str = include_str!("langgraph.py");

/// The Python that has it, installed if need be.
pub fn install(beside: &Path) -> Result<PathBuf, BenchError> {
    let home = beside.join("langgraph");
    let (python, installed) = (home.join("bin/python"), home.join("installed"));
    if fs::read_to_string(&installed).is_ok_and(|packages| packages == PACKAGES.join(" ")) {
        return Ok(python);
    }
    let mut environment = Command::new("python3");
    environment.args(["-m", "venv", "--clear"]).arg(&home);
    done(&mut environment, "python3 with its module `venv` is needed")?;
    let mut packages = Command::new(&python);
    packages.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(PACKAGES);
    done(&mut packages, "LangGraph could not be installed: pip has to reach a package index")?;
    fs::write(installed, PACKAGES.join(" "))?;
    Ok(python)
}

fn done(command: &mut Command, otherwise: &str) -> Result<(), BenchError> {
    let is_done = command.status().is_ok_and(|status| status.success());
    if is_done { Ok(()) } else { Err(otherwise.into()) }
}

/// The loops of a scene; their checkpoints go into `store`.
pub fn command(
    python: &Path,
    url: &str,
    scene: &Scene,
    jobs: usize,
    store: &Path,
) -> Result<Command, BenchError> {
    for (name, text) in
        [("loops.py", LOOPS), ("draft.md", DRAFT), ("revise.md", REVISE), ("critic.md", CRITIC)]
    {
        fs::write(scene.path(name), text)?;
    }
    let mut command = Command::new(python);
    command.arg(scene.path("loops.py")).arg(url).arg(scene.path("tasks.jsonl")).arg(jobs.to_string());
    command.arg(store.join("checkpoints.db")).arg(scene.path(""));
    command.env("LANGSMITH_TRACING", "false");
    Ok(command)
}
