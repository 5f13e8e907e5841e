//! Tasks of a nubos-pilot project as audits.

use crate::layouts::desk::Desk;

const ID: &str = "M001-S001-T0001";
const SLICE: &str = ".nubos-pilot/milestones/M001/slices/S001";
const EXECUTOR: &str = "echo hello > a.txt; echo done";

fn critic(verdict: &str) -> String {
    format!(
        "cat <<'E'\n{{\"critic\":\"critic\",\"task_id\":\"{ID}\",\"round\":1,\"criteria\":[{{\"id\":\"SC-1\",\"claim\":\"a.txt says hello\",\
         \"verdict\":\"Satisfied\",\"evidence\":\"a.txt:1\",\"missing_info\":null}}],\"findings\":[],\"verdict\":\"{verdict}\"}}\nE"
    )
}

fn plan(status: &str, verify: &str) -> String {
    format!(
        "---\nid: {ID}\nslice: M001-S001\nmilestone: M001\nstatus: {status}\nfiles_modified: [a.txt]\n---\n# {ID} — Say hello\n\
         <action>Write hello to a.txt.</action>\n<verify>{verify}</verify>\n"
    )
}

fn project(plan: &str) -> Desk {
    let path = format!("{SLICE}/tasks/T0001/T0001-PLAN.md");
    let uat = format!("{SLICE}/S001-UAT.md");
    Desk::with(&[
        (path.as_str(), plan),
        (uat.as_str(), "# UAT\n<acceptance_criteria>\n- a.txt says hello\n</acceptance_criteria>\n"),
        (
            ".nubos-pilot/milestones/M001/M001-CONTEXT.md",
            "<decisions>\n- D-01: plain text\n</decisions>\n<deferred>\n- colours\n</deferred>\n",
        ),
        (".nubos-pilot/config.json", "{\"loop\": {\"maxRounds\": 2}}"),
        ("a.txt", "old\n"),
    ])
}

#[test]
fn a_task_is_audited_to_acceptance_and_its_reports_are_where_the_project_looks() {
    let desk =
        project(&plan("pending", "\n<automated>\ngrep -q hello a.txt &amp;&amp; true\n</automated>\n"));
    desk.program("np-executor", EXECUTOR);
    desk.program("np-critic", &critic("passed"));
    let asked = desk.gadfly(&["run", ID, "--unattended", "--yes"]);
    asked.refused("run grep -q hello a.txt && true to verify a worker's files");
    let said = desk.run(&[ID]).went_well();
    assert!(said.err.contains("1 success criteria from"), "{}", said.err);
    assert_eq!(desk.read("a.txt"), "hello\n");
    let told = desk.told("np-executor", 1);
    for part in [
        "Say hello",
        "SC-1",
        "a.txt says hello",
        "D-01: plain text",
        "Deferred, so not to be built now: colours",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    let tmp = desk.path(".nubos-pilot/.tmp");
    let run = std::fs::read_dir(&tmp).unwrap().next().unwrap().unwrap();
    let name = format!("critic-{ID}-r1.json");
    let report: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(run.path().join(&name)).unwrap()).unwrap();
    assert_eq!((&report["task_id"], &report["verdict"]), (&ID.into(), &"passed".into()));
    let run = run.file_name().into_string().unwrap();
    assert_eq!(
        desk.read(&format!(".gadfly/runs/{run}/{name}")),
        desk.read(&format!(".nubos-pilot/.tmp/{run}/{name}"))
    );
    let log = desk.gadfly(&["show", &run, "--log", "--json"]).out;
    assert!(
        log.contains(&format!(".nubos-pilot/.tmp/{run}/{name}")),
        "the envelope names the project's path"
    );
    let others: Vec<_> =
        std::fs::read_dir(desk.path(".nubos-pilot")).unwrap().flatten().map(|e| e.file_name()).collect();
    assert_eq!(others.len(), 3, "no checkpoint or state is written: {others:?}");
}

#[test]
fn what_cannot_be_run_says_why() {
    let desk = project(&plan("done", "make"));
    desk.program("w", EXECUTOR);
    desk.program("c", &critic("passed"));
    desk.configure("[defaults]\nworker = \"w\"\ncritic = \"c\"\n");
    desk.run(&[ID]).refused("task M001-S001-T0001 is done").refused("--allow-redo");
    let path = format!("{SLICE}/tasks/T0001/T0001-PLAN.md");
    desk.write(&path, &plan("pending", "<manual>look at it</manual>"));
    desk.run(&[ID]).refused("task-verify-cmd-no-verify-block");
    desk.run(&["M001-S001-T0009"]).refused("the plan of task M001-S001-T0009 cannot be used");
    desk.write(&path, &plan("pending", "make").replace("[a.txt]", "[../a.txt]"));
    desk.run(&[ID]).refused("files_modified: `../a.txt` leaves the project");
    desk.write(&path, &plan("pending", "make"));
    desk.run(&[ID, "--critic", "np-critic-style"])
        .refused("agent-not-spawnable: `np-critic-style` is a module");
    desk.run(&[ID, "--protocol", "revise"]).refused("task M001-S001-T0001 is an `audit`");
    desk.write(".nubos-pilot/config.json", "{\"agents\": {\"economy\": \"max\"}}");
    desk.run(&["--task-plan", &path]).refused("config-invalid-economy-mode");
    assert!(!desk.was_called("w"), "nobody was called");
    let plain = Desk::with(&[]);
    plain.run(&[ID]).refused("there is no .nubos-pilot/ here");
}

#[test]
fn a_task_that_is_done_is_done_again_where_that_is_allowed() {
    let desk = project(&plan("done", "grep -q hello a.txt"));
    desk.program("w", EXECUTOR);
    desk.program("c", &critic("passed"));
    desk.configure("[defaults]\nworker = \"w\"\ncritic = \"c\"\n");
    let path = format!("{SLICE}/tasks/T0001/T0001-PLAN.md");
    desk.run(&["--task-plan", &path, "--allow-redo"]).went_well();
    assert_eq!(desk.read("a.txt"), "hello\n");
    assert!(desk.read(&path).contains("status: done"), "the plan stays as it was");
}
