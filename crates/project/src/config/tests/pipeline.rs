//! What a user sees when a project and its pipelines are configured rightly or wrongly.

use gadfly_engine::pipeline::gate::Gate;

use super::*;
use crate::layout::Layout;

#[test]
fn without_a_word_everything_has_its_default() {
    let (config, problems) = read("");
    assert_eq!(problems, []);
    let pipeline = &config.pipeline;
    let numbers = [&pipeline.jobs, &pipeline.rounds, &pipeline.overall, &pipeline.fixes].map(|n| n.value);
    assert_eq!(numbers, [4, 3, 5, 2]);
    assert_eq!(config.pipeline.gate.value, "commit");
    assert_eq!(config.duals, None);
    let gates: Vec<Gate> = config.gates.values().map(GateConfig::gate).collect();
    let mut shipped = Gate::shipped().to_vec();
    shipped.sort_by(|a, b| a.name.cmp(&b.name));
    assert_eq!(gates, shipped);
}

#[test]
fn a_right_configuration_is_read_in_full() {
    let (config, problems) = read(
        r#"
[project]
name = "minwage"
layout = "claude"
registry = "docs/registry.md"
enable = ["theorist"]
also = ["logs/**"]
verify = "make"
[verify.coder]
commands = ["Rscript run.R", "make figures"]
timeout = "2m"
[pipeline]
jobs = 2
gate = "camera-ready"
[[dual]]
agent = "writer"
critic = "strategist-critic"
lens = "claims"
[hooks]
pre-commit = ["make lint", "make test"]
timeout = 5
[gates.camera-ready]
overall = 92
each = 85
commands = [{ name = "links", command = "make links" }, { command = "! grep TODO paper", exit = 1 }]
[gates.commit]
overall = 70
"#,
    );
    assert_eq!(problems, []);
    let project = &config.project;
    assert_eq!(project.layout.as_ref().unwrap().value, Layout::Claude);
    assert_eq!(project.registry.as_ref().unwrap().value, Path::new("/nowhere/project/docs/registry.md"));
    let commands = |agent| {
        let verify = project.verify_for(agent);
        verify.commands.iter().map(|c| c.value.clone()).collect::<Vec<_>>()
    };
    assert_eq!(commands("coder"), ["Rscript run.R", "make figures"]);
    assert_eq!(commands("writer"), ["make"]);
    assert_eq!(project.verify_for("coder").timeout.value, Duration::from_mins(2));
    let dual = &config.duals.as_ref().unwrap()[0];
    assert_eq!((dual.agent.value.as_str(), dual.lens.as_ref().unwrap().value.as_str()), ("writer", "claims"));
    assert_eq!(config.hooks.of(HookEvent::PreCommit).len(), 2);
    assert_eq!(config.hooks.timeout.value, Duration::from_secs(5));
    let gate = config.gates["camera-ready"].gate();
    assert_eq!((gate.overall, gate.each, gate.complete), (92, Some(85), false));
    assert_eq!((gate.commands[0].name.as_str(), gate.commands[0].exit), ("links", 0));
    assert_eq!((gate.commands[1].name.as_str(), gate.commands[1].exit), ("! grep TODO paper", 1));
    assert_eq!(config.gates["commit"].gate().overall, 70);
    assert_eq!(config.gates["submission"].gate(), Gate::submission());
}

#[test]
fn everything_that_is_wrong_is_said_at_once_and_where() {
    let wrong = r#"
dual = [{ agent = "writer", lense = "x" }, "coder"]
[project]
name = "../elsewhere"
layout = "cluade"
registry = "../permissions.md"
also = ["/etc/**", "a[", "fine/**"]
enable = "theorist"
[verify.coder]
timeout = "1m"
[pipeline]
jobs = 0
gate = "comit"
[hooks]
pre_commit = "make"
[gates.mine]
each = 101
commands = [{ name = "lint" }]
"#;
    assert_snapshot!(problems(wrong), @r#"
    error: unknown key `lense` in `dual[0]`
      at gadfly.toml:2:29
      help: did you mean `lens`?
    error: `dual[1]` must be a table, not a string
      at gadfly.toml:2:44
    error: `project.layout` must be one of "native", "claude", "neuroflow", "nubos", not "cluade"
      at gadfly.toml:5:10
    error: `project.registry`: `../permissions.md` lies outside the project
      at gadfly.toml:6:12
      help: a project's configuration may name only files of the project; copy it there, or name it with a flag
    error: `project.enable` must be a list of strings, not a string
      at gadfly.toml:8:10
    error: `pipeline.jobs` must be a whole number from 1 to 256, not 0
      at gadfly.toml:12:8
    error: unknown key `pre_commit` in `hooks`
      at gadfly.toml:15:1
      help: did you mean `pre-commit`?
    error: `gates.mine.each` must be a whole number from 0 to 100, not 101
      at gadfly.toml:17:8
    error: `../elsewhere` cannot be the project's name
      at gadfly.toml:4:8
      help: it becomes one part of a path: use letters, digits, `-`, `_` and `.`, at most 64, and begin with a letter or a digit
    error: [verify.coder] has no `commands`
      at gadfly.toml:9:9
      help: like commands = ["make test"]
    error: `/etc/**` leads out of the project
      at gadfly.toml:7:9
      help: write it from the project's root, like "paper/figures/**"
    error: `a[` is no glob that can be read
      at gadfly.toml:7:20
      help: like "paper/figures/**" or "*.log"
    error: gate `mine` has no `overall`
      at gadfly.toml:16:8
      help: the weighted score it needs, 0 to 100; 0 for a gate of commands only
    error: a command of gate `mine` has no `command`
      at gadfly.toml:18:13
      help: like { name = "lint", command = "make lint", exit = 0 }
    error: there is no gate `comit`
      at gadfly.toml:13:8
      help: did you mean `commit`?
    "#);
}

#[test]
fn a_gate_that_is_half_wrong_is_no_gate() {
    let (config, problems) = read("[gates.submission]\ncommands = [{ command = \"a\", exit = 999 }]\n");
    assert_eq!(problems.len(), 1, "{}", shown(&problems));
    assert!(!config.gates.contains_key("submission"), "a gate without its command would open too early");
}

#[test]
fn a_row_of_dual_needs_both_names() {
    assert_snapshot!(problems("[[dual]]\nagent = \"writer\"\n"), @r#"
    error: a row of [[dual]] has no `critic`
      at gadfly.toml:1:1
      help: like [[dual]] with agent = "writer", critic = "strategist-critic", lens = "claims"
    "#);
    let (config, found) = read("dual = []\n");
    assert_eq!((config.duals, found), (Some(Vec::new()), Vec::new()), "none, and that is meant");
}
