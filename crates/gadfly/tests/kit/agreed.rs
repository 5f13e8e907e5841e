//! A user who has agreed to how this project's files want work judged, and to nothing else of theirs.

use std::path::Path;

use gadfly_project::trust::{TrustEntry, judging, once};
use gadfly_project::{Config, Overrides, Root, layout};
use gadfly_runtime::trust::Trust;

/// What the project in `dir` says now, remembered in the state below `home`.
pub fn to_judging(dir: &Path, home: &Path) {
    let dir = &dir.canonicalize().unwrap();
    let own = home.join(".config/gadfly/gadfly.toml");
    let (config, _) = Config::load(&Root::at(dir), Some(&own));
    let names = config.loops.keys().map(|name| Some(name.as_str())).chain([None]);
    let loops = names.flat_map(|name| judging::of_loop(&config.loop_for(name, &Overrides::default()).0, dir));
    let names = config.goals.keys().map(|name| Some(name.as_str())).chain([None]);
    let goals = names.flat_map(|name| judging::of_goal(&config.goal_for(name, &Overrides::of_goal()).0, dir));
    let judges: Vec<String> = config.agents.keys().cloned().collect();
    let agents = judging::of_judges(judging::WORK, &judges, &config, dir);
    let files = layout::read(dir, &config);
    let known: Vec<String> = files.agents.keys().chain(config.agents.keys()).cloned().collect();
    let gates = config.gates.keys().flat_map(|gate| judging::of_pipeline(&config, &files, &known, gate));
    let entries: Vec<TrustEntry> = once(loops.chain(goals).chain(agents).chain(gates));
    let mut trust = Trust::load(&home.join(".local/state/gadfly"), dir).unwrap();
    if !trust.missing(entries.clone()).is_empty() {
        trust.remember(&entries).unwrap();
    }
}
