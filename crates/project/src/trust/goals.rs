//! What a project's goals want to be allowed: commands and requests by which a goal is judged, a worker that may
//! do more than write files of its own, a worker in the user's own files.

use std::path::Path;

use gadfly_engine::protocol::goal::Criterion;
use gadfly_engine::tool::Risk;

use super::{TrustEntry, What, entry};
use crate::config::GoalConfig;
use crate::place::{ConfigLayer, SourceSpan, visible};

/// What the project's part of a goal wants, in this project.
pub fn of_goal(goal: &GoalConfig, project: &Path) -> Vec<TrustEntry> {
    let mut entries = checks_of(goal);
    if goal.options.risk.layer == ConfigLayer::Project {
        entries.extend(risk(goal.options.risk.value, project, goal.options.risk.place.clone()));
    }
    if goal.options.in_place.layer == ConfigLayer::Project && goal.options.in_place.value {
        entries.push(in_place(project, goal.options.in_place.place.clone()));
    }
    entries
}

/// By what the project's part of a goal wants it judged.
pub(super) fn checks_of(goal: &GoalConfig) -> Vec<TrustEntry> {
    let until = goal.options.until.as_ref().filter(|until| until.layer == ConfigLayer::Project);
    until.map(|until| of_criterion(&until.value, until.place.as_ref())).unwrap_or_default()
}

/// What is run and asked to see whether a goal is reached. Whoever wrote it, it is the same thing to agree to.
pub fn of_criterion(criterion: &Criterion, place: Option<&SourceSpan>) -> Vec<TrustEntry> {
    let of_leaf = |leaf: &&Criterion| match leaf {
        Criterion::Shell { command, .. } | Criterion::Vision { command, .. } => {
            Some(until(command, place.cloned()))
        }
        Criterion::Http { url, .. } => Some(until_http(url, place.cloned())),
        _ => None,
    };
    criterion.leaves().iter().filter_map(of_leaf).collect()
}

/// A command that says whether a goal is reached.
pub fn until(command: &str, place: Option<SourceSpan>) -> TrustEntry {
    let text = format!("run {} to see whether a goal is reached", visible(command));
    entry(What::Command, text, &["until", command], place)
}

/// An address that says whether a goal is reached.
pub fn until_http(url: &str, place: Option<SourceSpan>) -> TrustEntry {
    let text = format!("fetch {} to see whether a goal is reached", visible(url));
    entry(What::Host, text, &["until-http", url], place)
}

/// A worker that may do more, without asking, than change files of its own. Agreed to for one project.
pub fn risk(risk: Risk, project: &Path, place: Option<SourceSpan>) -> Option<TrustEntry> {
    let more = match risk {
        Risk::ReadOnly | Risk::WriteLocal => return None,
        Risk::NetworkGet => "fetch from the network",
        Risk::NetworkWrite => "fetch from and send to the network",
        Risk::SpendsMoney => "use the network and spend money",
    };
    let path = project.display().to_string();
    let text =
        format!("let workers of goals in {} {more} without asking (risk = \"{risk}\")", visible(&path));
    Some(entry(What::Command, text, &["risk", risk.name(), &path], place))
}

/// A worker that has no folder of its own. Agreed to for one project.
pub fn in_place(project: &Path, place: Option<SourceSpan>) -> TrustEntry {
    let path = project.display().to_string();
    let text = format!("let workers of goals change the files of {} in place", visible(&path));
    entry(What::Files, text, &["in-place", &path], place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, parse};
    use crate::place::Source;

    const GOAL: &str = r#"
[goals.fix]
goal = "Make the tests pass."
until = ["cargo test", { any = [{ vision = "./shot.sh", file = "s.png", expect = "x" }, { http = "http://127.0.0.1:1/" }] }]
risk = "network_write"
in_place = true
"#;

    fn wanted(layer: ConfigLayer) -> Vec<String> {
        let (partial, problems) = parse(&Source::new(layer, "gadfly.toml", "/nowhere", GOAL));
        assert_eq!(problems, []);
        let (config, problems) = Config::from_layers([partial]);
        assert_eq!(problems, []);
        config.goals.values().flat_map(|goal| of_goal(goal, Path::new("/p"))).map(|e| e.text).collect()
    }

    #[test]
    fn what_a_project_wants_for_its_goals_must_be_agreed_to_once() {
        assert_eq!(
            wanted(ConfigLayer::Project),
            [
                "run cargo test to see whether a goal is reached",
                "run ./shot.sh to see whether a goal is reached",
                "fetch http://127.0.0.1:1/ to see whether a goal is reached",
                "let workers of goals in /p fetch from and send to the network without asking (risk = \"network_write\")",
                "let workers of goals change the files of /p in place",
            ]
        );
    }

    #[test]
    fn what_is_agreed_to_for_one_project_is_not_for_another() {
        let digests = |project| {
            [in_place(Path::new(project), None), risk(Risk::NetworkGet, Path::new(project), None).unwrap()]
                .map(|e| e.digest)
        };
        let (one, two) = (digests("/a"), digests("/b"));
        assert!(one[0] != two[0] && one[1] != two[1]);
    }

    #[test]
    fn what_the_user_wrote_is_agreed_to_already() {
        assert!(wanted(ConfigLayer::User).is_empty());
    }
}
