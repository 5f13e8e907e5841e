//! Task plans as nubos-pilot writes them, and as people leave them.
#![allow(clippy::unwrap_used)]

use std::fs;

use gadfly_engine::protocol::audit::economy::Economy;
use serde_json::json;
use tempfile::TempDir;

use super::*;
use gadfly_project::adapter::ProjectPlace;
use gadfly_project::place::ConfigLayer;

const ID: &str = "M001-S002-T0003";
const SLICE: &str = ".nubos-pilot/milestones/M001/slices/S002";
const PLAN: &str = "---\r\nid: M001-S002-T0003\r\nslice: M001-S002\r\nmilestone: M001\r\nstatus: pending # for now\r\nfiles_modified:\r\n  - src/a.rs\r\n  - \"tests/**\"\r\nmust_haves: {}\r\n---\r\n# M001-S002-T0003 — Add search\r\n<action>Add it.</action>\r\n<verify>\r\n<automated>\r\n# unit tests\r\ncargo test &amp;&amp; test 1 -lt 2\r\necho &quot;&amp;lt;&quot;\r\n</automated>\r\n<manual>\r\nrm -rf /\r\n";

fn project(files: &[(&str, &str)]) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join(FOLDER)).unwrap();
    for (name, text) in files {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    dir
}

fn plan_at() -> String {
    format!("{SLICE}/tasks/T0003/T0003-PLAN.md")
}

fn asked(root: &Path) -> WorkQuery<'_> {
    WorkQuery { at: ProjectPlace { root, claude: None }, redo: false, verified: false, judged: false }
}

fn read(plan: &str, others: &[(&str, &str)]) -> (Option<NubosTask>, Vec<String>) {
    let path = plan_at();
    let dir = project(&[&[(path.as_str(), plan)], others].concat());
    let mut problems = Vec::new();
    let task = task(asked(dir.path()), ID, &mut problems);
    (task, problems.into_iter().map(|p| p.message).collect())
}

fn values<T: Clone>(list: &[Sourced<T>]) -> Vec<T> {
    list.iter().map(|s| s.value.clone()).collect()
}

#[test]
fn a_plan_gives_commands_scope_and_task() {
    let plan = PLAN.replace("<manual>", "</verify>\r\n<acceptance_criteria>\r\n- lists matches\r\n- SC-7: is fast\r\n</acceptance_criteria>\r\n<manual>");
    let (task, problems) = read(&plan, &[]);
    assert_eq!(problems, Vec::<String>::new());
    let task = task.unwrap();
    assert_eq!(task.title, "M001-S002-T0003 — Add search");
    let script = "bash -eo pipefail -c 'cargo test && test 1 -lt 2\necho \"&lt;\"'";
    assert_eq!(values(&task.verify), [script]);
    assert!(task.verify.iter().all(|v| v.layer == ConfigLayer::Project), "the project's commands need trust");
    assert_eq!(task.verify[0].place.as_ref().unwrap().line, 16);
    assert_eq!(values(&task.scope), ["src/a.rs", "tests/**"]);
    let criteria: Vec<_> = values(&task.criteria).into_iter().map(|c| (c.name, c.text)).collect();
    assert_eq!(criteria, [(None, "lists matches".into()), (Some("SC-7".into()), "is fast".into())]);
}

#[test]
fn manual_steps_are_never_commands() {
    let (task, _) = read(
        "---\nid: M001-S002-T0003\nstatus: pending\nfiles_modified: [a]\n---\n<verify>\nmake\n<manual>\nrm -rf /\n</verify>\n",
        &[],
    );
    assert_eq!(
        values(&task.unwrap().verify),
        ["bash -eo pipefail -c 'make'"],
        "an unclosed <manual> reaches to the block's end"
    );
    let (none, problems) = read(
        "---\nid: M001-S002-T0003\nstatus: pending\nfiles_modified: [a]\n---\n<verify><manual>look</manual></verify>",
        &[],
    );
    assert_eq!(none, None);
    assert_eq!(
        problems,
        ["task-verify-cmd-no-verify-block: the plan of M001-S002-T0003 has no verify command"]
    );
}

#[test]
fn criteria_come_from_the_first_place_that_has_any() {
    let plan = "---\nstatus: pending\nfiles_modified: [a]\n---\n<verify>make</verify>";
    let uat = format!("{SLICE}/S002-UAT.md");
    let slice = format!("{SLICE}/S002-PLAN.md");
    let meta = ".nubos-pilot/milestones/M001/M001-META.json";
    let uat = (
        uat.as_str(),
        "<acceptance_criteria>\n- by the UAT\n</acceptance_criteria>\n<happy_path>\n- x\n</happy_path>",
    );
    let slice = (slice.as_str(), "<success_criteria>\n- by the slice\n</success_criteria>");
    let meta = (meta, r#"{"success_criteria": ["one", {"id": "SC-9", "text": "two"}, 3]}"#);
    let first = |others: &[(&str, &str)]| {
        let (task, problems) = read(plan, others);
        let task = task.unwrap_or_else(|| panic!("{problems:?}"));
        values(&task.criteria).into_iter().map(|c| c.text).collect::<Vec<_>>()
    };
    assert_eq!(first(&[uat, slice, meta]), ["by the UAT"]);
    assert_eq!(first(&[slice, meta]), ["by the slice"]);
    assert_eq!(first(&[meta]), ["one", "two"]);
    assert_eq!(first(&[]), Vec::<String>::new());
}

#[test]
fn decisions_are_locked_and_what_was_put_off_is_not_to_be_built() {
    let context = "<decisions>\n- D-01: SQLite only\n</decisions>\n<deferred>\n- a dashboard\n</deferred>";
    let (task, _) = read(
        &format!("{PLAN}</manual></verify>"),
        &[(".nubos-pilot/milestones/M001/M001-CONTEXT.md", context)],
    );
    let task = task.unwrap();
    assert_eq!(
        values(&task.decisions),
        ["D-01: SQLite only", "Deferred, so not to be built now: a dashboard"]
    );
    assert_eq!(task.references.len(), 1);
}

#[test]
fn tasks_that_are_over_are_refused_until_redo_is_allowed() {
    for status in ["done", "skipped", "Parked"] {
        let plan = format!("---\nstatus: {status}\nfiles_modified: [a]\n---\n<verify>make</verify>");
        let path = plan_at();
        let dir = project(&[(path.as_str(), plan.as_str())]);
        let mut problems = Vec::new();
        assert_eq!(task(asked(dir.path()), ID, &mut problems), None);
        assert_eq!(problems[0].message, format!("task {ID} is {}", status.to_lowercase()));
        assert!(problems[0].help.as_ref().unwrap().contains("--allow-redo"));
        let redo = WorkQuery { redo: true, ..asked(dir.path()) };
        assert!(task(redo, ID, &mut Vec::new()).is_some());
    }
    let (task, problems) = read("---\nstatus: odd\nfiles_modified: [a]\n---\n<verify>make</verify>", &[]);
    assert!(task.is_some());
    assert_eq!(problems, ["status `odd` of M001-S002-T0003 is none there is: it is taken for pending"]);
}

#[test]
fn a_scope_or_a_plan_that_leaves_the_project_is_refused() {
    let (task, problems) = read(
        "---\nstatus: pending\nfiles_modified: [../x, /etc/passwd, ok]\n---\n<verify>make</verify>",
        &[],
    );
    assert_eq!(task, None);
    assert_eq!(
        problems,
        ["files_modified: `../x` leaves the project", "files_modified: `/etc/passwd` leaves the project"]
    );
    let dir = project(&[]);
    let outside = tempfile::tempdir().unwrap();
    let plan = outside.path().join("T-PLAN.md");
    fs::write(&plan, PLAN).unwrap();
    let mut problems = Vec::new();
    assert_eq!(task_at(asked(dir.path()), &plan, &mut problems), None);
    assert!(problems[0].message.contains("lies outside the project"), "{problems:?}");
}

#[test]
fn a_plan_that_is_missing_or_anothers_is_refused() {
    let dir = project(&[]);
    let mut problems = Vec::new();
    assert_eq!(task(asked(dir.path()), ID, &mut problems), None);
    assert!(
        problems[0].message.starts_with("the plan of task M001-S002-T0003 cannot be used: "),
        "{problems:?}"
    );
    let (other, problems) = read("---\nid: M009-S001-T0001\n---\n", &[]);
    assert_eq!(other, None);
    assert_eq!(problems, ["the plan of task M001-S002-T0003 says that it is the plan of M009-S001-T0001"]);
    let nowhere = tempfile::tempdir().unwrap();
    let mut problems = Vec::new();
    assert_eq!(task(asked(nowhere.path()), ID, &mut problems), None);
    assert!(problems[0].message.contains("there is no .nubos-pilot/ here"), "{problems:?}");
}

#[test]
fn a_plan_by_its_path_brings_its_id() {
    let dir = project(&[(
        "plans/x.md",
        "---\nid: T0001\nmilestone: M001\nslice: M001-S002\nstatus: pending\nfiles_modified: a\n---\n<verify>make</verify>",
    )]);
    let found = task_at(asked(dir.path()), &dir.path().join("plans/x.md"), &mut Vec::new()).unwrap();
    assert_eq!((found.id.as_str(), values(&found.scope)), ("M001-S002-T0001", vec!["/a".to_owned()]));
}

#[test]
fn criteria_that_are_not_written_or_share_an_id_are_refused() {
    let plan = |criteria: &str| {
        format!(
            "---\nstatus: pending\nfiles_modified: [a]\n---\n<verify>make</verify>\n<acceptance_criteria>\n{criteria}\n</acceptance_criteria>"
        )
    };
    for unwritten in ["- TBD", "- it works\n- TODO — say what", "- [criterion]", "- {{acceptance_text}}"] {
        let (task, problems) = read(&plan(unwritten), &[]);
        assert_eq!(task, None);
        assert!(
            problems[0].starts_with("a success criterion of the plan is not written yet: "),
            "{problems:?}"
        );
    }
    let (task, _) =
        read(&plan("- API: returns 401\n- API: returns 403\n- AC-2: is fast\n- [docs](x.md)"), &[]);
    let criteria: Vec<_> = values(&task.unwrap().criteria).into_iter().map(|c| (c.name, c.text)).collect();
    let expected = [
        (None, "API: returns 401".into()),
        (None, "API: returns 403".into()),
        (Some("AC-2".into()), "is fast".into()),
        (None, "[docs](x.md)".into()),
    ];
    assert_eq!(criteria, expected);
    let (task, problems) = read(&plan("- SC-1: a\n- sc-1 is not an id\n- SC-1: b"), &[]);
    assert_eq!((task, problems), (None, vec!["two success criteria have the id `SC-1`".to_owned()]));
    let slice = format!("{SLICE}/S002-PLAN.md");
    let (task, problems) = read(
        "---\nstatus: pending\nfiles_modified: [a]\n---\n<verify>make</verify>",
        &[(slice.as_str(), "<success_criteria>\n<!-- MUST FILL\n- x -->\n- TBD\n</success_criteria>")],
    );
    assert_eq!(task.unwrap().criteria, []);
    assert!(problems[0].ends_with("S002-PLAN.md are not written yet"), "{problems:?}");
}

#[test]
fn a_task_waits_for_what_it_depends_on() {
    let plan = "---\nstatus: pending\ndepends_on:\n  - M001-S002-T0001\nfiles_modified: [a]\n---\n<verify>make</verify>";
    let (task, problems) = read(plan, &[]);
    assert_eq!(task, None);
    assert_eq!(
        problems,
        ["tasks-unknown-dep: M001-S002-T0003 depends on `M001-S002-T0001`, which has no plan"]
    );
    let other = format!("{SLICE}/tasks/T0001/T0001-PLAN.md");
    let (task, problems) = read(plan, &[(other.as_str(), "---\nstatus: pending\n---\n")]);
    assert_eq!(task, None);
    assert_eq!(problems, ["M001-S002-T0003 depends on M001-S002-T0001, which is pending"]);
    for over in ["done", "skipped"] {
        let head = format!("---\nstatus: {over}\n---\n");
        assert!(read(plan, &[(other.as_str(), head.as_str())]).0.is_some(), "{over}");
    }
}

#[test]
fn ids_are_told_from_other_words() {
    for (word, is) in [
        (ID, true),
        ("M001-S002-T003", false),
        ("M001-S002", false),
        ("m001-s002-t0003", false),
        ("M001-S002-T0003-x", false),
        ("M../-S001-T0001", false),
    ] {
        assert_eq!(is_task_id(word), is, "{word}");
    }
}

#[test]
fn the_configuration_is_clamped_and_an_unknown_economy_is_an_error() {
    let of = |config: serde_json::Value| {
        let mut problems = Vec::new();
        let s = settings::of(&config, &mut problems);
        ((s.rounds, s.verify_runs, s.economy), problems.into_iter().map(|p| p.message).collect::<Vec<_>>())
    };
    assert_eq!(of(json!({})), ((3, 1, Economy::Lite), vec![]));
    assert_eq!(
        of(json!({"loop": {"maxRounds": 5, "verify_runs": 2}, "agents": {"economy": "ultra"}})),
        ((5, 2, Economy::Ultra), vec![])
    );
    assert_eq!(
        of(json!({"loop": {"maxRounds": 900}, "agents": {"economy_critic": true}})).0,
        (100, 1, Economy::Full)
    );
    assert_eq!(of(json!({"loop": {"maxRounds": 0}, "agents": {"economy": false}})).0, (1, 1, Economy::Lite));
    assert_eq!(
        of(json!({"loop": {"maxRounds": "many"}})),
        ((3, 1, Economy::Lite), vec!["loop.maxRounds is no number: 3 is taken".into()])
    );
    let (_, problems) = of(json!({"agents": {"economy": "max"}}));
    assert_eq!(problems, ["config-invalid-economy-mode: agents.economy is `max`"]);
    let (none, problems) =
        read(&format!("{PLAN}</manual></verify>"), &[(".nubos-pilot/config.json", "{ loop: 1")]);
    assert_eq!(none, None);
    assert!(problems[0].starts_with(".nubos-pilot/config.json is no JSON"), "{problems:?}");
}

#[test]
fn modules_are_no_agents() {
    let dir = project(&[
        ("agents/np-extra.md", "---\nname: np-extra\nmodule: true\n---\nx"),
        ("agents/np-critic.md", "---\nname: np-critic\n---\nx"),
    ]);
    for (name, is) in
        [("np-critic-style", true), ("np-extra", true), ("np-critic", false), ("../agents/np-extra", false)]
    {
        assert_eq!(is_module(dir.path(), name), is, "{name}");
    }
}

proptest::proptest! {
    #[test]
    fn no_plan_panics(text in "(---\n)?[-a-z:<>/&; \n\r#\\[\\],\"']{0,40}(<verify>|<automated>|</automated>|</verify>|<manual>|---\n|status: done\n|ü){0,6}[-a-z:<>\n]{0,20}") {
        let _ = verify::commands(Path::new("p"), &text);
        let head = PageHead::read(&text);
        let _ = (head.list("a"), head.text("status"), head.span("status"));
        let _ = tags::items(Path::new("p"), &text, "verify");
    }
}
