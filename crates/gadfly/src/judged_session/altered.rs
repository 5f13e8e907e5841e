//! What judges a session's change as far as files of the project say it: the configuration, the rubric, the critic's own
//! files, the hook's settings. A change that touches them alters its own judge, and that is said.
//!
//! Seen is what is part of the change. What git ignores or was committed before, and what the critic's program reads by
//! itself, is not known here.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use gadfly_project::config::RubricSetting;
use gadfly_project::root::CONFIG_NAME;
use gadfly_project::{AgentConfig, LoopConfig};

use crate::cli::SessionJudge;
use crate::context::Context;

/// Where the programs are told to call the hook, and how.
const HOOK_SETTINGS: [&str; 7] = [
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".codex/hooks.json",
    ".codex/config.toml",
    ".github/hooks/gadfly.json",
    ".gemini/settings.json",
    ".cursor/hooks.json",
];

/// Those of the changed files (by their paths from the repository's root) that judge the change.
pub fn altered<'a>(
    context: &Context,
    args: &SessionJudge,
    looped: &LoopConfig,
    changed: impl Iterator<Item = &'a str>,
) -> Vec<String> {
    let project = &context.root.dir;
    let repository = project.ancestors().find(|dir| dir.join(".git").exists()).unwrap_or(project);
    let judges: BTreeSet<PathBuf> =
        files(context, args, looped).iter().flat_map(|path| names(&project.join(path))).collect();
    let judges = |path: &&str| names(&repository.join(path)).iter().any(|name| judges.contains(name));
    changed.filter(judges).map(ToOwned::to_owned).collect()
}

/// Absolute, or from the project's folder.
fn files(context: &Context, args: &SessionJudge, looped: &LoopConfig) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = HOOK_SETTINGS.iter().map(PathBuf::from).collect();
    if context.base.is_some() {
        // All else is read as it is before the change.
        return files;
    }
    files.push(CONFIG_NAME.into());
    files.extend(context.root.config.clone());
    files.extend(args.rubric.iter().filter_map(|path| std::path::absolute(path).ok()));
    if let Some(RubricSetting::File(path)) = looped.options.rubric.as_ref().map(|rubric| &rubric.value) {
        files.push(path.clone());
    }
    files.extend(looped.options.with.iter().map(|path| path.value.clone()));
    let critics = looped.judges();
    let critics = critics.iter().filter_map(|(_, name)| context.config.agents.get(&name.value));
    files.extend(critics.flat_map(of_agent));
    files
}

fn of_agent(agent: &AgentConfig) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = agent.place.iter().map(|place| place.file.clone()).collect();
    files.extend(agent.script.iter().map(|script| script.value.clone()));
    let system = agent.system.as_ref().and_then(|system| system.value.file.as_ref());
    files.extend(system.map(|(file, _)| file.clone()));
    // A program of the project may be any word: `./c.sh`, `python3 judge.py`, `sh -c './c.sh x'`, `--rules=r.md`.
    let words = agent.command.iter().flat_map(|word| word.value.split(|c: char| " \t\n='\";|&".contains(c)));
    files.extend(words.filter(|word| !word.is_empty()).map(PathBuf::from));
    files
}

/// A file under its own name and under the one it really has.
fn names(path: &Path) -> Vec<PathBuf> {
    // Without the `.` in it.
    let plain: PathBuf = path.components().collect();
    let real = plain.canonicalize().ok();
    std::iter::once(plain).chain(real).collect()
}
