//! A run without any configuration, at a terminal: what `doctor` finds is proposed, and asked for once.

use std::path::Path;

use gadfly_project::config::parse;
use gadfly_project::starter::{FoundAgent, starter};
use gadfly_project::{Config, ConfigLayer, Problem, Source};
use gadfly_runtime::doctor;

use crate::context::Context;
use crate::exit::{self, Code};
use crate::output::{ask, print, safe, terminal};

/// The context with agents the person took, where none are configured or `named` and somebody can be asked.
pub async fn for_nobody(context: &Context, named: bool) -> Result<Option<Context>, Code> {
    let configured = !context.config.agents.is_empty() || context.problems.iter().any(Problem::is_error);
    if named || configured || !terminal::can_ask() {
        return Ok(None);
    }
    Ok(take(context).await?.map(|config| context.with(config)))
}

/// The configuration the person took, if something was found that can be used as it is.
async fn take(context: &Context) -> Result<Option<Config>, Code> {
    let env = gadfly_runtime::agents::environment();
    print::err("no agents are configured here; looking at what this machine has …");
    let diagnosis =
        doctor::diagnose(&context.root, &context.config, &context.store(), &context.user, &env).await;
    let found = doctor::proposal(&diagnosis);
    if found.is_empty() || found.iter().any(|f| f.kind.is_http() && f.model.is_none()) {
        return Ok(None);
    }
    let Some(config) = config(&found, context) else { return Ok(None) };
    for line in safe::block(&starter(&found)).lines() {
        print::err(&format!("  │ {line}"));
    }
    if ask::yes("Use this for this run? (`gadfly init` writes it to gadfly.toml)", true) {
        return Ok(Some(config));
    }
    print::err("not started; nothing was sent");
    Err(exit::USAGE)
}

/// What was found, as a configuration. What a person agrees to is theirs, not the project's.
pub fn config(found: &[FoundAgent], context: &Context) -> Option<Config> {
    let source = Source::new(ConfigLayer::User, Path::new("proposal"), &context.root.dir, starter(found));
    let (layer, problems) = parse(&source);
    let (config, more) = Config::from_layers([layer]);
    let wrong = problems.iter().chain(&more).any(Problem::is_error);
    (!wrong).then_some(config)
}
