//! `real-agents [--install] [--dir DIR] [--only NAME]… [--gadfly PATH] [--proxy] [--keep]`: runs the programs people have
//! (Claude Code, Codex, Gemini CLI, `OpenCode`, and agents that speak the Agent Client Protocol) through whole
//! loops of the real `gadfly`, as worker and as critic, against a model server on loopback.
//!
//! Nothing leaves the machine but what `--install` asks the package registry for. To add a program: one row in
//! `programs.rs`.

mod install;
mod outcome;
mod programs;
mod proxy;
mod trial;

use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use gadfly_testbed::{Behaviour, Server};

use outcome::Tally;
use programs::{LocatedProgram, PROGRAMS};
use proxy::{ProxyEditor, ProxyTrial, SCENES};
use trial::{LOOPS, TrialStage};

const USAGE: &str = "usage: real-agents [--install] [--dir DIR] [--only NAME]... [--gadfly PATH] [--proxy] [--keep]\n\
    --install      install the programs into DIR with npm first (about 2 GB)\n\
    --dir DIR      where they are, or go; without it those on PATH are taken\n\
    --only NAME    this program only; may be repeated\n\
    --gadfly PATH  the gadfly to run; without it the one beside this program is built and taken\n\
    --proxy        instead of loops: `gadfly acp` between two clients and the agents that speak the protocol\n\
    --keep         keep the folders of loops that went well, too";

type TrialError = Box<dyn Error>;

#[derive(Default)]
struct TrialOptions {
    install: bool,
    dir: Option<PathBuf>,
    only: Vec<String>,
    gadfly: Option<PathBuf>,
    proxy: bool,
    keep: bool,
}

impl TrialOptions {
    fn read(mut args: impl Iterator<Item = String>) -> Result<Self, TrialError> {
        let mut wishes = Self::default();
        while let Some(flag) = args.next() {
            let mut value = || args.next().ok_or(USAGE);
            match flag.as_str() {
                "--install" => wishes.install = true,
                "--proxy" => wishes.proxy = true,
                "--keep" => wishes.keep = true,
                "--dir" => wishes.dir = Some(std::path::absolute(value()?)?),
                "--gadfly" => wishes.gadfly = Some(std::path::absolute(value()?)?),
                "--only" => wishes.only.push(value()?),
                _ => return Err(USAGE.into()),
            }
        }
        let unknown = wishes.only.iter().find(|name| PROGRAMS.iter().all(|p| p.name != **name));
        if let Some(name) = unknown {
            let names: Vec<&str> = PROGRAMS.iter().map(|p| p.name).collect();
            return Err(format!("there is no program `{name}`; there are {}", names.join(", ")).into());
        }
        if wishes.install && wishes.dir.is_none() {
            return Err("say with --dir DIR where the programs should go".into());
        }
        Ok(wishes)
    }
}

#[tokio::main]
async fn main() -> Result<ExitCode, TrialError> {
    let wishes = TrialOptions::read(std::env::args().skip(1))?;
    if let (true, Some(dir)) = (wishes.install, &wishes.dir) {
        install::install(dir).await?;
    }
    let gadfly = match &wishes.gadfly {
        Some(path) => path.clone(),
        None => built_gadfly().await?,
    };
    let server = Server::start(Behaviour::default()).await?;
    let folder = std::env::temp_dir().join(format!("real-agents-{}", std::process::id()));
    let mut tally = Tally::default();
    for program in PROGRAMS {
        if !wishes.only.is_empty() && !wishes.only.iter().any(|name| name == program.name) {
            continue;
        }
        if wishes.proxy && program.kind != "acp" {
            continue;
        }
        let Some(found) = program.find(wishes.dir.as_deref()) else {
            tally.missing(program.name);
            continue;
        };
        if wishes.proxy {
            let editors = ProxyEditor::all(wishes.dir.as_deref());
            between(&editors, &found, &gadfly, &server, &folder, &mut tally).await?;
        } else {
            run_program(&found, &gadfly, &server, &folder, &mut tally).await?;
        }
    }
    let mut out = std::io::stdout();
    writeln!(out, "{}", tally.line())?;
    if tally.is_good() && !wishes.keep {
        let _ = std::fs::remove_dir_all(&folder);
    } else if folder.exists() {
        writeln!(out, "the folders of the loops are in {}", folder.display())?;
    }
    Ok(if tally.is_good() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn run_program(
    found: &LocatedProgram,
    gadfly: &Path,
    server: &Server,
    folder: &Path,
    tally: &mut Tally,
) -> Result<(), TrialError> {
    let mut out = std::io::stdout();
    let name = found.title();
    let mut failed = BTreeMap::new();
    for wanted in LOOPS {
        let stage = TrialStage {
            found,
            wanted,
            gadfly,
            server,
            folder: folder.join(format!("{}-{}", found.program.name, wanted.name)),
        };
        let (took, judged) = stage.play().await;
        match judged {
            Ok(line) => writeln!(out, "{name:<28} {:<9} {line}, {:.1} s", wanted.name, took.as_secs_f32())?,
            Err(why) => {
                writeln!(out, "{name:<28} {:<9} FAILED: {why}", wanted.name)?;
                failed.insert(wanted.name, why.to_string());
            }
        }
        out.flush()?;
    }
    tally.ran(&name, failed.keys().copied());
    Ok(())
}

/// `gadfly acp` between each of the editors and the agent, scene by scene.
async fn between(
    editors: &[ProxyEditor],
    found: &LocatedProgram,
    gadfly: &Path,
    server: &Server,
    folder: &Path,
    tally: &mut Tally,
) -> Result<(), TrialError> {
    let mut out = std::io::stdout();
    let name = found.title();
    let mut failed = BTreeMap::new();
    for (editor, scene) in editors.iter().flat_map(|editor| SCENES.iter().map(move |scene| (editor, scene))) {
        let folder =
            folder.join(format!("{}-{}-{}", found.program.name, editor.name.replace(' ', "-"), scene.name));
        let trial = ProxyTrial { found, editor, scene, gadfly, server, folder };
        let (took, judged) = trial.play().await;
        let row = format!("{name:<28} {:<15} {:<9}", editor.name, scene.name);
        match judged {
            Ok(line) => writeln!(out, "{row} {line}, {:.1} s", took.as_secs_f32())?,
            Err(why) => {
                writeln!(out, "{row} FAILED: {why}")?;
                failed.insert(scene.name, why.to_string());
            }
        }
        out.flush()?;
    }
    tally.ran(&name, failed.keys().copied());
    Ok(())
}

/// The `gadfly` of this very build.
async fn built_gadfly() -> Result<PathBuf, TrialError> {
    let own = std::env::current_exe()?;
    let folder = own.parent().ok_or("this program is in no folder")?;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut build = tokio::process::Command::new(cargo);
    build.args(["build", "--quiet", "-p", "gadfly"]);
    if folder.ends_with("release") {
        build.arg("--release");
    }
    if !build.status().await?.success() {
        return Err("gadfly could not be built".into());
    }
    let gadfly = folder.join("gadfly");
    let missing = || format!("{} is missing: name one with --gadfly", gadfly.display());
    if gadfly.is_file() { Ok(gadfly) } else { Err(missing().into()) }
}
