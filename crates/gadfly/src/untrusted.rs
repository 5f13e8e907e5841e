//! `--untrusted`: whoever wrote the change under review must not choose its judge. The project's configuration, rubrics
//! and references are read as they are before the change, never from the working tree; where there is no state before
//! it, only the user's own configuration counts. A judge that the change could reach into does not count.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use gadfly_project::config::AgentKind;
use gadfly_project::place::ConfigLayer;
use gadfly_project::{AgentConfig, Config, LoopConfig, Root, file};
use gadfly_runtime::workspace::Range;

use crate::context::Context;

/// The same place under the configuration that counts for this change. None: files, of which no earlier state is known.
pub async fn context(context: &Context, range: Option<&Range>) -> Result<Context, String> {
    let user = context.user.config_file();
    let (root, base) = match range {
        Some(range) => {
            let base = context.setup().base_of(range).await.map_err(|problem| problem.message)?;
            (Root::at(&base.dir), Some(Arc::new(base)))
        }
        None => (Root { config: None, ..context.root.clone() }, None),
    };
    let (config, problems) = Config::load(&root, user.as_deref());
    Ok(Context { problems, base, ..context.with(config) })
}

/// Where a file that a flag names stands before the change. A file outside the project is the user's own.
pub fn at_base(context: &Context, path: &Path) -> Result<PathBuf, String> {
    let absolute = std::path::absolute(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let Ok(below) = absolute.strip_prefix(&context.root.dir) else { return Ok(absolute) };
    // A link of the base, too, may lead anywhere.
    let found = context.base.as_ref().and_then(|base| file::inside(&base.dir, below).ok());
    let found = found.filter(|path| path.is_file());
    found.ok_or_else(|| {
        format!(
            "under --untrusted {} is read as it is before the change, and it is not there",
            path.display()
        )
    })
}

/// Why one of these judges does not count, if one does not.
pub fn judges_count(context: &Context, looped: &LoopConfig) -> Result<(), String> {
    let judges = looped.judges();
    let agents = judges.iter().filter_map(|(_, name)| context.config.agents.get(&name.value));
    match agents.into_iter().find_map(|agent| Some((agent, reachable(agent)?))) {
        Some((agent, why)) => Err(format!(
            "under --untrusted `{}` does not count as a judge: {why}. Name one in your own configuration \
             (~/.config/gadfly/gadfly.toml)",
            agent.name
        )),
        None => Ok(()),
    }
}

/// How the author of a change can reach into a judge that only the project's files name.
fn reachable(agent: &AgentConfig) -> Option<&'static str> {
    let program = agent.command.iter().chain(&agent.env).any(|word| word.layer == ConfigLayer::Project);
    if agent.kind.layer != ConfigLayer::Project {
        None
    } else if agent.kind.value == AgentKind::Scripted {
        Some("its replies were ready before the change was")
    } else if program {
        Some("it is a program that only the project's files name, and the change may have altered it")
    } else {
        None
    }
}
