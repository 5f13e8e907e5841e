//! What the user agrees to: once, what a project's files may do; before each run, where things go.

use std::path::Path;

use gadfly_project::config::Workspace;
use gadfly_project::trust::{self, TrustEntry, needs_trust};
use gadfly_runtime::consent::Consent;
use gadfly_runtime::trust::Trust;

use crate::context::Context;
use crate::exit::{self, Code};
use crate::output::{again, ask, consent, error, print, terminal};

/// Lets a run use these agents if the project's part in them is trusted, was asked for here, or is
/// agreed to with `--trust`.
pub fn trust(context: &Context, agents: &[&str], agreed: bool) -> Result<(), Code> {
    trust_recorded(context, agents, &[], agreed)
}

/// As `trust`, for recorded runs: the files their results go to must be this project's, or named before.
pub fn trust_recorded(
    context: &Context,
    agents: &[&str],
    outputs: &[&str],
    agreed: bool,
) -> Result<(), Code> {
    let mut entries = entries(context, agents);
    entries.extend(outputs.iter().filter_map(|path| elsewhere(context, path)));
    if entries.is_empty() {
        return Ok(());
    }
    let Some(state) = &context.user.state else {
        let why = "what you agree to cannot be remembered: set HOME or XDG_STATE_HOME";
        return Err(error::usage(why));
    };
    let mut known = Trust::load(state).map_err(|e| error::usage(&e.to_string()))?;
    let missing = known.missing(entries);
    if missing.is_empty() {
        return Ok(());
    }
    if !agreed {
        print::err("this project's files want to:");
        print::err_lines(&consent::wanted(&missing));
        if !terminal::can_ask() {
            let again = again::command_line();
            return Err(error::usage(&format!(
                "you have not agreed to this yet. To agree, once:\n  {again} --trust"
            )));
        }
        if !ask::yes("Allow this here from now on?", false) {
            return Err(error::usage("not allowed, so nothing was started"));
        }
    }
    known.remember(&missing).map_err(|e| error::usage(&e.to_string()))
}

/// The user named this file here, so that a later `resume` need not ask. If it cannot be remembered, it asks.
pub fn named(context: &Context, output: &str) {
    if let Some(entry) = elsewhere(context, output)
        && let Some(state) = &context.user.state
        && let Ok(mut known) = Trust::load(state)
        && !known.missing(vec![entry.clone()]).is_empty()
    {
        let _ = known.remember(&[entry]);
    }
}

fn elsewhere(context: &Context, output: &str) -> Option<TrustEntry> {
    let store = std::path::absolute(context.store()).unwrap_or_default();
    let beside = store.parent().unwrap_or(&context.root.dir);
    trust::output(&[&context.root.dir, beside], Path::new(output))
}

/// Only what the agents of this run need.
fn entries(context: &Context, agents: &[&str]) -> Vec<TrustEntry> {
    let mut config = context.config.clone();
    config.agents.retain(|name, _| agents.contains(&name.as_str()));
    config.workspace = Workspace::default();
    needs_trust(&config)
}

/// Says where a run will send what, and asks if that is not free and local.
pub fn start(said: &Consent, yes: bool) -> Result<(), Code> {
    print::err_lines(&consent::lines(said));
    if yes || !consent::needs_a_word(said) || !terminal::can_ask() || ask::yes("Start?", true) {
        return Ok(());
    }
    print::err("not started; nothing was sent");
    Err(exit::USAGE)
}
