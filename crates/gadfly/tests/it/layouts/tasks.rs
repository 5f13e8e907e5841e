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
    asked.refused("run bash -eo pipefail -c 'grep -q hello a.txt && true' to verify a worker's files");
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
    let path = format!("{SLICE}/tasks/T0001/T0001-PLAN.md");
    assert!(desk.read(&path).contains("\nstatus: done\n"), "{}", desk.read(&path));
    assert!(desk.read(&format!("{SLICE}/TODO.md")).contains("- [x] **M001-S001-T0001** — Say hello"));
    let line: serde_json::Value =
        serde_json::from_str(&desk.read(&format!("{SLICE}/STATUS-HISTORY.jsonl"))).unwrap();
    assert_eq!((&line["new_status"], &line["run_id"]), (&"done".into(), &run.as_str().into()));
    desk.gadfly(&["undo", &run, "--yes"]).went_well();
    assert!(desk.read(&path).contains("\nstatus: pending\n"), "what was taken back is not done");
    assert_eq!(desk.read("a.txt"), "old\n");
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

/// A plan as nubos-pilot's own scaffolder writes it: quoted ids, lists over lines, and a demand for a summary.
fn scaffolded(task: &str, on: &str, file: &str, verify: &str) -> String {
    let on = if on.is_empty() { "[]".to_owned() } else { format!("\n  - \"{on}\"") };
    format!(
        "---\nid: \"{task}\"\nslice: \"M001-S001\"\nmilestone: \"M001\"\ntype: execute\nstatus: pending\nwave: 1\n\
         depends_on: {on}\nfiles_modified: \n  - \"{file}\"\nautonomous: true\nmust_haves: {{}}\n---\n\n# {task} — Make {file}\n\n\
         <action>\nMake {file}.\n</action>\n\n<verify>\n{verify}\n</verify>\n\n\
         <acceptance_criteria>\n- API: {file} is there\n</acceptance_criteria>\n\n\
         <output>\nWhen done, fill `{}-SUMMARY.md` with what changed.\n</output>\n",
        &task[10..]
    )
}

/// Makes the file that its task names, and the summary that its plan demands.
const FAITHFUL: &str = r#"brief=$(cat BRIEF.$n)
id=$(printf '%s' "$brief" | grep -o 'M001-S001-T000[0-9]' | head -1); t=${id#M001-S001-}
case $id in *T0001) f=lib/one.txt;; *T0002) f=lib/two.txt;; *) f=three.txt;; esac
mkdir -p lib; [ "$id" = "$SKIP" ] || echo "$id" > $f
s=.nubos-pilot/milestones/M001/slices/S001/tasks/$t/$t-SUMMARY.md
sed -i 's/TBD/made/' $s
echo done"#;
const SATISFIED: &str = r#"brief=$(cat BRIEF.$n)
id=$(printf '%s' "$brief" | grep -o 'M001-S001-T000[0-9]' | head -1)
case $id in *T0001) f=lib/one.txt;; *T0002) f=lib/two.txt;; *) f=three.txt;; esac
printf '{"critic":"critic","criteria":[{"id":"SC-1","claim":"x","verdict":"Satisfied","evidence":"%s:1","missing_info":null}],"findings":[],"verdict":"passed"}' $f"#;

fn slice() -> Desk {
    let tasks = [
        (
            "T0001",
            "",
            "lib/one.txt",
            "cd lib\ntest -f one.txt\nexport WANT=T0001\n[[ \"$(cat one.txt)\" == *\"$WANT\" ]]",
        ),
        (
            "T0002",
            "M001-S001-T0001",
            "lib/two.txt",
            "test -f lib/two.txt &amp;&amp; ! grep -q &#34;TODO&#34; lib/two.txt",
        ),
        ("T0003", "", "three.txt", "test -f three.txt"),
    ];
    let mut files = vec![("a.txt".to_owned(), "old\n".to_owned())];
    for (task, on, file, verify) in tasks {
        let folder = format!("{SLICE}/tasks/{task}");
        let id = format!("M001-S001-{task}");
        files.push((format!("{folder}/{task}-PLAN.md"), scaffolded(&id, on, file, verify)));
        files.push((format!("{folder}/{task}-SUMMARY.md"), "# SUMMARY\n- TBD\n".to_owned()));
    }
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let desk = Desk::with(&files);
    let told = |name: &str, script: &str| {
        desk.program(
            name,
            &script.replace("BRIEF", &desk.beside(&format!("bin/{name}")).display().to_string()),
        );
    };
    told("np-executor", FAITHFUL);
    told("np-critic", SATISFIED);
    desk
}

#[test]
fn a_slice_as_the_scaffolder_makes_it_is_done_in_order() {
    let desk = slice();
    desk.run(&["M001-S001-T0002"]).refused("M001-S001-T0002 depends on M001-S001-T0001, which is pending");
    let said = desk.run(&["M001-S001"]).went_well();
    for task in ["T0001", "T0002", "T0003"] {
        assert!(said.err.contains(&format!("M001-S001-{task}  done")), "{}", said.err);
        let plan = desk.read(&format!("{SLICE}/tasks/{task}/{task}-PLAN.md"));
        assert!(plan.contains("\nstatus: done\n"), "{plan}");
        assert_eq!(desk.read(&format!("{SLICE}/tasks/{task}/{task}-SUMMARY.md")), "# SUMMARY\n- made\n");
    }
    assert_eq!(desk.read("lib/two.txt"), "M001-S001-T0002\n");
    let told = desk.told("np-executor", 1);
    assert!(told.contains("T0001/T0001-SUMMARY.md"), "the place of what is demanded: {told}");
    let again = desk.run(&["M001"]).went_well();
    assert!(again.err.contains("M001-S001-T0003  done") && !again.err.contains("round 1"), "{}", again.err);
}

#[test]
fn what_waits_for_a_task_that_failed_is_left_and_the_rest_is_done() {
    let desk = slice();
    let script = FAITHFUL.replace("$SKIP", "M001-S001-T0001");
    let brief = desk.beside("bin/lazy").display().to_string();
    desk.program("lazy", &script.replace("BRIEF", &brief));
    let said = desk.run(&["M001-S001", "--worker", "lazy", "--rounds", "1"]);
    assert_eq!(said.code, 4, "{said:?}");
    for line in ["T0001  not done", "T0002  waits for M001-S001-T0001", "T0003  done", "2 tasks are not done"]
    {
        assert!(said.err.contains(line), "{line}: {}", said.err);
    }
}

#[test]
fn a_listed_file_is_that_path_and_not_that_name_anywhere() {
    let desk = project(&plan("pending", "true"));
    desk.program("np-executor", "echo hello > a.txt; mkdir -p deep; echo x > deep/a.txt; echo done");
    desk.program("np-critic", &critic("passed"));
    let said = desk.run(&[ID, "--rounds", "1"]);
    assert_eq!(said.code, 4, "{said:?}");
    assert!(said.err.contains("scope-creep") && said.err.contains("deep/a.txt"), "{}", said.err);
    assert!(!desk.path("deep/a.txt").exists());
}
