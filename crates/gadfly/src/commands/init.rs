//! `gadfly init`: a `gadfly.toml` from what this machine has. It never overwrites one.

use std::fs::File;
use std::io::{ErrorKind, Write as _};

use gadfly_project::Overrides;
use gadfly_project::adapter::{self, Adapter};
use gadfly_project::layout::{self, ProjectFiles};
use gadfly_project::root::CONFIG_NAME;
use gadfly_project::starter::{FoundAgent, ProjectHints, starter_for};
use gadfly_runtime::doctor::{self, NOTHING_FOUND};
use gadfly_runtime::project_status::state_project;

use crate::agreement::{self, Uses};
use crate::cli;
use crate::context::Context;
use crate::exit::{self, Code};
use crate::output::{ask, error, print, safe, terminal};

pub async fn init(args: &cli::Init, context: &Context) -> Code {
    let path = context.root.dir.join(CONFIG_NAME);
    let shown = path.display();
    let taken =
        format!("{shown} is there already and stays as it is; `gadfly check` says what is wrong with it");
    // A dangling link counts as well: it is somebody's.
    if path.symlink_metadata().is_ok() {
        return error::usage(&taken);
    }
    let env = gadfly_runtime::agents::environment();
    let diagnosis =
        doctor::diagnose(&context.root, &context.config, &context.store(), &context.user, &env).await;
    let found = doctor::proposal(&diagnosis);
    let files = layout::read(&context.root.dir, &context.config);
    let has = |program: &str| gadfly_runtime::agents::is_installed(program, &env);
    let hints = ProjectHints::of(&files, state_project(&context.root.dir).as_deref(), has);
    let text = if found.is_empty() {
        format!("{NOTHING_FOUND}{}", hints.tables())
    } else {
        starter_for(&found, &hints)
    };
    print::err(&format!("{shown}:\n"));
    if let Err(code) = print::out(safe::block(&text).trim_end()) {
        return code;
    }
    print::err("");
    if !args.yes && !terminal::can_ask() {
        return error::usage("not a terminal, so nothing was written; to write it: gadfly init --yes");
    }
    if !args.yes && !ask::yes("Write it?", true) {
        print::err("nothing was written");
        return exit::OK;
    }
    let written = File::create_new(&path).and_then(|mut file| file.write_all(text.as_bytes()));
    match written {
        Ok(()) => {
            print::err(&format!("written: {shown}"));
            trust_what_was_shown(context);
            print::err(&next_step(&found, &files));
            exit::OK
        }
        Err(e) if e.kind() == ErrorKind::AlreadyExists => error::usage(&taken),
        Err(e) => error::usage(&format!("{shown} cannot be written: {e}")),
    }
}

/// The person has just read these lines and had them written: the first run need not ask about them again. If
/// that cannot be remembered, it asks.
fn trust_what_was_shown(context: &Context) {
    let written = Context::read(context.global.clone());
    let (work, _) = written.config.loop_for(None, &Overrides::default());
    let agents: Vec<String> = written.config.agents.keys().cloned().collect();
    let uses = Uses { judges: agents.clone(), agents, ..Uses::of(&work, false, &written) };
    if written.user.state.is_some() {
        let _ = agreement::trust(&written, &uses, true);
    }
}

fn next_step(found: &[FoundAgent], files: &ProjectFiles) -> String {
    let general = "next: gadfly run \"Write …\" --criterion \"at most 150 words\"";
    if found.is_empty() {
        "next: uncomment a worker in it, then gadfly run \"Write …\" --criterion \"at most 150 words\""
            .to_owned()
    } else if found.iter().any(|f| f.kind.is_http() && f.model.is_none()) {
        "next: put model names where it says CHOOSE-A-MODEL, then gadfly check".to_owned()
    } else if files.registry.is_some() {
        "next: gadfly next says who can run; gadfly pipeline \"…\" runs them".to_owned()
    } else {
        let own = adapter::of(files.layout).map(Adapter::first_command);
        own.map_or_else(|| general.to_owned(), |(command, does)| format!("next: {command}: {does}"))
    }
}
