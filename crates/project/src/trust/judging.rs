//! By what a project's files want work judged: who judges, by which words, above which mark, within which limits. Each
//! setting is agreed to by its content, and a file by the file's; all settings of one loop, goal, pipeline or gate make one line.

use std::path::Path;

use gadfly_engine::digest::Digest;
use gadfly_engine::manifest::RunManifest;

use super::{Group, TrustEntry, What, entry};
use crate::config::value::{ConfigTable, ConfigValue};
use crate::config::{Config, CriteriaSetting, GoalConfig, LoopConfig};
use crate::file;
use crate::layout::ProjectFiles;
use crate::place::{SourceSpan, visible};

/// What says who works, on what and where the result goes. Commands, servers and powers have lines of their own.
const NOT_OF_LOOPS: [&str; 11] = [
    "worker",
    "build_fixer",
    "researcher",
    "architect",
    "test_writer",
    "draft",
    "out",
    "commit",
    "branch",
    "verify",
    "task_id",
];
const NOT_OF_GOALS: [&str; 6] = ["worker", "risk", "mcp", "in_place", "commit", "branch"];
/// What has a line of its own, and what a call costs.
const NOT_OF_AGENTS: [&str; 19] = [
    "kind",
    "system",
    "file",
    "command",
    "args",
    "env",
    "sandbox",
    "read",
    "state",
    "network",
    "listen",
    "script",
    "base_url",
    "key_env",
    "key_command",
    "send_key_to",
    "price",
    "vendor",
    "concurrent",
];
const OF_PROJECTS: [&str; 3] = ["enable", "also", "unjudged"];
const NOT_OF_PIPELINES: [&str; 2] = ["jobs", "planner"];

/// What a reader wants to know first.
const FIRST: [&str; 9] =
    ["critic", "critics", "fallback_critic", "judge", "rubric", "criteria", "until", "threshold", "rounds"];

/// The longest value that is shown whole, in characters.
const LONGEST: usize = 30;

/// What loops, phases and tasks without a name of their own are called.
pub const WORK: &str = "work";

/// By what the project's part of a loop wants work judged.
pub fn of_loop(looped: &LoopConfig, root: &Path) -> Vec<TrustEntry> {
    let whose = looped.name.as_ref().map_or_else(|| WORK.to_owned(), |name| format!("`{}`", visible(name)));
    of_table(&whose, "", &looped.by_project, root, |key| !NOT_OF_LOOPS.contains(&key))
}

/// By what the project's part of a goal wants it judged.
pub fn of_goal(goal: &GoalConfig, root: &Path) -> Vec<TrustEntry> {
    let name = goal.name.as_ref().map_or_else(|| "a goal".to_owned(), |n| format!("goal `{}`", visible(n)));
    of_table(&name, "", &goal.by_project, root, |key| !NOT_OF_GOALS.contains(&key))
}

/// What the project says a judge of its own is: its model, and what bounds its replies. It is the same judge whatever it
/// judges; here that is `whose`.
pub fn of_judges(whose: &str, judges: &[String], config: &Config, root: &Path) -> Vec<TrustEntry> {
    let tables = config.of_project();
    let theirs = tables.tables("agents").filter(|(name, _)| judges.iter().any(|judge| judge == name));
    let settings = theirs.flat_map(|(name, table)| {
        of_table(WORK, &format!("{name} "), table, root, |key| !NOT_OF_AGENTS.contains(&key))
    });
    let told = settings.map(|entry| match entry.group {
        Some(Group::Judging { said, .. }) => {
            let group = Some(Group::Judging { whose: whose.to_owned(), said });
            TrustEntry { group, ..entry }
        }
        _ => entry,
    });
    told.collect()
}

/// One line of how a project's files want work of theirs judged. What is agreed to is `content`.
pub fn of_work(key: &str, shown: &str, content: &[&str], place: Option<SourceSpan>) -> TrustEntry {
    setting(WORK, key, shown, content, place)
}

/// By what a pipeline's files want its agents judged: the registry, the rubrics of these judges, what always holds, the gate.
pub fn of_pipeline(config: &Config, files: &ProjectFiles, judges: &[String], gate: &str) -> Vec<TrustEntry> {
    let (whose, tables) = (PIPELINE, config.of_project());
    let mut entries: Vec<TrustEntry> = of_registry(files).into_iter().collect();
    let mut judges: Vec<&String> = judges.iter().collect();
    judges.sort();
    judges.dedup();
    for judge in judges {
        let Some(rubric) = files.rubric_for(judge) else { continue };
        let shown = short(&rubric.path.display().to_string());
        entries.push(setting(whose, "rubric", &shown, &[judge, &rubric.text], None));
    }
    let holds: Vec<&str> = files.invariants.iter().flat_map(|inv| [inv.id.as_str(), &inv.text]).collect();
    if !holds.is_empty() {
        entries.push(setting(whose, "invariants", &(holds.len() / 2).to_string(), &holds, None));
    }
    let duals = tables.rows("dual").iter().map(|row| {
        let words: Vec<String> = row.keys().flat_map(|(_, v)| content(&v.value, &files.root)).collect();
        words.join(" ")
    });
    let duals: Vec<String> = duals.collect();
    if !duals.is_empty() {
        let duals: Vec<&str> = duals.iter().map(String::as_str).collect();
        entries.push(setting(whose, "dual", &listed(&duals), &duals, None));
    }
    let mut of = |key: &str, keep: fn(&str) -> bool| {
        entries.extend(tables.table(key).into_iter().flat_map(|t| of_table(whose, "", t, &files.root, keep)));
    };
    of("pipeline", |key| !NOT_OF_PIPELINES.contains(&key));
    of("project", |key| OF_PROJECTS.contains(&key));
    of("budget", |_| true);
    entries.extend(of_gate(config, gate));
    entries
}

/// What pipelines, and gates about their results, are called.
const PIPELINE: &str = "the pipeline";

/// The registry says who judges whom, and what counts for how much.
pub fn of_registry(files: &ProjectFiles) -> Option<TrustEntry> {
    let registry = files.registry.as_ref()?;
    let shown = short(&registry.path.display().to_string());
    Some(setting(PIPELINE, "registry", &shown, &[&registry.digest().to_string()], None))
}

/// What the project says a gate lets pass. Its commands have lines of their own.
pub fn of_gate(config: &Config, name: &str) -> Vec<TrustEntry> {
    let tables = config.of_project();
    let gates = tables.tables("gates").filter(|(gate, _)| *gate == name);
    let settings = gates.flat_map(|(gate, table)| {
        of_table(PIPELINE, &format!("gate {gate} "), table, Path::new(""), |key| key != "commands")
    });
    settings.collect()
}

/// By what a recorded run is judged, whoever recorded it.
pub fn of_record(manifest: &RunManifest) -> Option<TrustEntry> {
    let judges = manifest.seats.iter().filter(|seat| seat.job.judges());
    let judges: Vec<&str> = judges.map(|seat| seat.agent.as_str()).collect();
    let rules = manifest.rules?.to_string();
    let rounds = manifest.rounds.map(|rounds| format!(", rounds {rounds}")).unwrap_or_default();
    let criteria: Vec<&str> = manifest.criteria.iter().map(String::as_str).collect();
    let by = if criteria.is_empty() { String::new() } else { format!(" by {}", listed(&criteria)) };
    let shown = format!("{}{by}{rounds}", listed(&judges));
    Some(setting("a recorded run", "critic", &shown, &[&rules], None))
}

/// Every setting of a table that `keep` keeps, what a reader wants to know first at the beginning. `part` goes before
/// each key.
fn of_table(
    whose: &str,
    part: &str,
    table: &ConfigTable,
    root: &Path,
    keep: fn(&str) -> bool,
) -> Vec<TrustEntry> {
    let mut entries = Vec::new();
    let rank = |key: &str| FIRST.iter().position(|first| *first == key).unwrap_or(FIRST.len());
    let mut keys: Vec<_> = table.keys().filter(|(key, _)| keep(key)).collect();
    keys.sort_by_key(|(key, _)| rank(key));
    for (key, found) in keys {
        if let ConfigValue::Table(inner) = &found.value {
            entries.extend(of_table(whose, part, inner, root, |_| true));
            continue;
        }
        let (shown, content) = (shown(&found.value, root), content(&found.value, root));
        let content: Vec<&str> = content.iter().map(String::as_str).collect();
        entries.push(setting(whose, &format!("{part}{key}"), &shown, &content, found.place.clone()));
    }
    entries
}

fn setting(whose: &str, key: &str, shown: &str, content: &[&str], place: Option<SourceSpan>) -> TrustEntry {
    let said = format!("{} {shown}", visible(key));
    let text = format!("say how {whose} is judged: {said}");
    let parts: Vec<&str> = [whose, key].into_iter().chain(content.iter().copied()).collect();
    let group = Some(Group::Judging { whose: whose.to_owned(), said });
    TrustEntry { group, ..entry(What::Judging, text, &parts, place) }
}

/// A value as one reads it in a list.
fn shown(value: &ConfigValue, root: &Path) -> String {
    let path = |path: &Path| short(&path.strip_prefix(root).unwrap_or(path).display().to_string());
    match value {
        ConfigValue::Path(file) | ConfigValue::Criteria(CriteriaSetting::File(file)) => path(file),
        ConfigValue::Paths(files) => match files.as_slice() {
            [one] => path(&one.value),
            many => format!("{} files", many.len()),
        },
        ConfigValue::Until(until) => short(&until.humanised()),
        _ => {
            let words = content(value, root);
            listed(&words.iter().map(String::as_str).collect::<Vec<_>>())
        }
    }
}

/// What is agreed to: the words themselves, and of a file its content too.
fn content(value: &ConfigValue, root: &Path) -> Vec<String> {
    match value {
        ConfigValue::Text(text) => vec![text.clone()],
        ConfigValue::Texts(list) => list.iter().map(|text| text.value.clone()).collect(),
        ConfigValue::Path(path) | ConfigValue::Criteria(CriteriaSetting::File(path)) => {
            vec![content_of(path, root)]
        }
        ConfigValue::Paths(paths) => paths.iter().map(|path| content_of(&path.value, root)).collect(),
        ConfigValue::Whole(number) => vec![number.to_string()],
        ConfigValue::Number(number) => vec![number.to_string()],
        ConfigValue::Flag(flag) => vec![flag.to_string()],
        ConfigValue::Time(time) => vec![format!("{time:?}")],
        ConfigValue::Kind(kind) => vec![kind.name().to_owned()],
        ConfigValue::Protocol(protocol) => vec![protocol.name().to_owned()],
        ConfigValue::Criteria(CriteriaSetting::Set(name)) => vec![name.clone()],
        ConfigValue::Criteria(CriteriaSetting::Items(items)) => {
            let named = |name: &Option<String>| name.as_ref().map(|n| format!("{n}: ")).unwrap_or_default();
            items.iter().map(|item| named(&item.value.name) + &item.value.text).collect()
        }
        ConfigValue::Critics(seats) => {
            let lens = |lens: &Option<String>| lens.as_ref().map(|l| format!(" ({l})")).unwrap_or_default();
            seats.iter().map(|seat| seat.value.agent.clone() + &lens(&seat.value.lens)).collect()
        }
        ConfigValue::Until(until) => vec![format!("{until:?}")],
        ConfigValue::Output(output) => vec![format!("{output:?}")],
        ConfigValue::Table(_) | ConfigValue::Tables(_) | ConfigValue::Rows(_) | ConfigValue::Unusable => {
            Vec::new()
        }
    }
}

/// A file by its path and what stands in it. What cannot be read reaches no judge either.
pub fn content_of(path: &Path, root: &Path) -> String {
    let text = file::read_text(path).unwrap_or_default();
    format!("{} {}", path.strip_prefix(root).unwrap_or(path).display(), Digest::of(text.as_bytes()))
}

/// The first of these words, and how many more there are.
pub fn listed(words: &[&str]) -> String {
    match words {
        [] => "none".to_owned(),
        [one] => short(one),
        [first, rest @ ..] => format!("{} and {} more", short(first), rest.len()),
    }
}

pub fn short(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let more = if line.chars().count() > LONGEST { "…" } else { "" };
    format!("{}{more}", visible(&line.chars().take(LONGEST).collect::<String>()))
}

#[cfg(test)]
mod tests;
