//! Single guards between a change and its judge: what is read from before the change, whose replies count, and what is
//! agreed to first.

use std::fs;
use std::io::{ErrorKind, Write as _};
use std::net::TcpListener;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::cloned::desk::{Desk, Said, wait_for};

const REJECT: &str = "[STATUS: REJECTED]\n- handle the empty list";
const APPROVE: &str = "[STATUS: APPROVED]\nGood.";
const UNSATISFIED: &str = r#"{"criteria": [{"id": "SC-1", "verdict": "Unsatisfied", "evidence": "nothing is tested"}], "findings": [], "verdict": "issues_found", "partial": false}"#;
const SATISFIED: &str = r#"{"criteria": [{"id": "SC-1", "verdict": "Satisfied", "evidence": "a.md:1"}], "findings": [], "verdict": "passed", "partial": false}"#;
const BASE: &str =
    "[defaults]\ncritic = \"judge\"\n[loops.r]\nprotocol = \"audit\"\ncriteria = [\"at least 3 tests\"]\n";

/// A repository whose branch `main` has this configuration and rubric. `judge` rejects and keeps what it is told,
/// `easy` approves everything; both are the user's own.
fn desk(config: &str) -> Desk {
    let rubric = "- at most 50 words\n";
    let desk = Desk::repository(&[("gadfly.toml", config), ("rubric.md", rubric), ("a.md", "One.\n")]);
    for (name, words, report) in [("judge", REJECT, UNSATISFIED), ("easy", APPROVE, SATISFIED)] {
        let told = desk.beside(name);
        let says = format!("case \"$b\" in *SC-1*) echo '{report}';; *) echo '{words}';; esac");
        desk.program(name, &format!("b=$(cat); printf '%s' \"$b\" >>'{}'; {says}", told.display()));
        desk.configure("sandbox = \"off\"\n");
    }
    desk.git(&["checkout", "-qb", "change"]);
    desk.write("a.md", "Two.\n");
    desk
}

const REVIEW: [&str; 7] = ["review", "--diff", "main", "--exclude", "rubric.md", "--exclude", "gadfly.toml"];

fn review(desk: &Desk, more: &[&str]) -> Said {
    desk.gadfly(&[&REVIEW[..], more, &["--yes"]].concat())
}

fn told(desk: &Desk, judge: &str) -> String {
    let told = fs::read_to_string(desk.beside(judge)).unwrap_or_default();
    let _ = fs::remove_file(desk.beside(judge));
    told
}

#[test]
fn under_untrusted_the_judge_and_the_rubric_are_those_before_the_change() {
    let desk = desk(BASE);
    desk.write("gadfly.toml", &BASE.replace("judge", "easy").replace("3 tests", "0 tests"));
    desk.write("rubric.md", "- at most 9999 words\n");
    desk.commit("mine");
    for (rubric, before, after) in [
        (["--criteria", "rubric.md"], "at most 50 words", "at most 9999 words"),
        (["--loop", "r"], "at least 3 tests", "at least 0 tests"),
    ] {
        let said = review(&desk, &[&rubric[..], &["--trust"]].concat());
        assert_eq!(said.code, 0, "agreed to, the change chooses its judge: {said:?}");
        let brief = told(&desk, "easy");
        assert!(brief.contains(after) && !brief.contains(before), "{brief}");
        let said = review(&desk, &[&rubric[..], &["--untrusted", "--trust"]].concat());
        assert_eq!(said.code, 3, "{said:?}");
        let brief = told(&desk, "judge");
        assert!(brief.contains(before) && !brief.contains(after), "{brief}");
        assert_eq!(told(&desk, "easy"), "", "nobody asked the other one");
    }
    // A rubric that only the change brings is none.
    desk.write("new.md", "- at most 9999 words\n");
    for flag in ["--rubric", "--criteria", "--with"] {
        let said = review(&desk, &["--untrusted", flag, "new.md"]);
        assert_eq!(said.code, 2, "{flag}: {said:?}");
        assert!(said.err.contains("before the change"), "{flag}: {}", said.err);
    }
}

#[test]
fn under_untrusted_the_limits_are_those_before_the_change() {
    let desk = desk(BASE);
    desk.write("gadfly.toml", &format!("{BASE}[budget]\ncalls = 0\n"));
    let said = review(&desk, &["--criterion", "at most 5 words", "--trust"]);
    assert!(said.code != 3 && said.code != 2, "agreed to, the change allows no call: {said:?}");
    assert_eq!(told(&desk, "judge"), "");
    let said = review(&desk, &["--criterion", "at most 5 words", "--untrusted", "--trust"]);
    assert_eq!(said.code, 3, "{said:?}");
}

#[test]
fn under_untrusted_no_replies_and_no_program_of_the_projects_count_as_a_judge() {
    let script = format!("[[reply]]\nrepeat = \"always\"\ntext = {}\n", json!(SATISFIED));
    for agent in [
        "kind = \"scripted\"\nscript = \"s.toml\"\n".to_owned(),
        format!("kind = \"command\"\ncommand = {}\n", json!(["echo", SATISFIED])),
    ] {
        let desk = desk(&format!("[agents.theirs]\n{agent}[defaults]\ncritic = \"theirs\"\n"));
        desk.git(&["stash", "-q"]);
        desk.git(&["checkout", "-q", "main"]);
        desk.write("s.toml", &script);
        desk.commit("replies");
        desk.git(&["checkout", "-q", "change"]);
        desk.git(&["merge", "-q", "main"]);
        desk.git(&["stash", "pop", "-q"]);
        let said = review(&desk, &["--criterion", "at most 5 words", "--trust"]);
        assert_eq!(said.code, 0, "agreed to, they judge: {said:?}");
        let said = review(&desk, &["--criterion", "at most 5 words", "--untrusted", "--trust"]);
        assert_eq!(said.code, 2, "{said:?}");
        assert!(said.err.contains("`theirs` does not count as a judge"), "{}", said.err);
        let said = review(&desk, &["--criterion", "at most 5 words", "--untrusted", "--critic", "judge"]);
        assert_eq!(said.code, 3, "the user's own does: {said:?}");
    }
}

/// As Claude Code calls it in this session.
fn stop(desk: &Desk, session: &str, more: &[&str]) -> Value {
    let told = json!({ "session_id": session, "hook_event_name": "Stop", "cwd": desk.path(""),
        "stop_hook_active": false, "transcript_path": desk.beside("t.jsonl") });
    let mut command = desk.command(&[&["hook", "stop"], more].concat());
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = piped.spawn().unwrap();
    child.stdin.take().unwrap().write_all(told.to_string().as_bytes()).unwrap();
    let out = child.wait_with_output().unwrap().stdout;
    serde_json::from_slice(&out).unwrap_or_default()
}

#[test]
fn the_stop_hook_under_untrusted_is_not_fooled_by_another_configuration() {
    let desk = desk(BASE);
    desk.write("gadfly.toml", &BASE.replace("judge", "easy"));
    let fooled = stop(&desk, "one", &["--trust"]);
    assert_ne!(fooled["decision"], "block", "{fooled}");
    assert_ne!(told(&desk, "easy"), "", "the session chose its judge");
    let said = stop(&desk, "two", &["--untrusted", "--trust"]);
    assert_eq!(said["decision"], "block", "{said}");
    assert!(said["reason"].as_str().unwrap().contains("handle the empty list"), "{said}");
    assert_eq!(told(&desk, "easy"), "");
    // Nor by replies that only the project's files have.
    let own = "[agents.theirs]\nkind = \"scripted\"\nscript = \"s.toml\"\n[defaults]\ncritic = \"theirs\"\n";
    desk.write("gadfly.toml", own);
    desk.write("s.toml", &format!("[[reply]]\nrepeat = \"always\"\ntext = {}\n", json!(APPROVE)));
    desk.commit("theirs");
    desk.write("a.md", "Three.\n");
    let said = stop(&desk, "three", &["--untrusted", "--trust"]);
    assert!(said.to_string().contains("does not count as a judge"), "{said}");
    assert!(!said.to_string().contains("approved by"), "{said}");
}

#[test]
fn an_address_of_this_machine_that_only_the_project_names_is_agreed_to_first() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let agent = format!("[agents.theirs]\nkind = \"openai\"\nmodel = \"m\"\nbase_url = \"{url}\"\n");
    let desk = desk(&format!("{agent}[defaults]\ncritic = \"theirs\"\n"));
    let said = review(&desk, &["--criterion", "at most 5 words"]);
    assert_eq!(said.code, 2, "{said:?}");
    assert!(said.err.contains(&format!("send work to {url}")), "{}", said.err);
    assert_eq!(listener.accept().unwrap_err().kind(), ErrorKind::WouldBlock, "nobody called");
    let mut agreed =
        desk.spawn(&[&REVIEW[..], &["--criterion", "at most 5 words", "--yes", "--trust"]].concat());
    wait_for("it calls", || listener.accept().is_ok());
    agreed.kill().unwrap();
    agreed.wait().unwrap();
}

const REGISTRY: &str = "\
## coder
- PHASE: Execution
- REQUIRES: None
- PRODUCES: `out/code.py`
- CRITIC: coder-critic
- ESCALATION_TARGET: User
- QUALITY_WEIGHT: 100%
";

const PIPELINE: [&str; 5] = ["pipeline", "Estimate the effect", "--no-plan", "--yes", "--unattended"];

/// A project whose critic gives 100 points by a file of ready-made replies, which stands in the project or is the user's.
fn pointed(by_the_project: bool) -> Desk {
    let desk =
        Desk::repository(&[("gadfly.toml", "[project]\nname = \"reform\"\n"), ("permissions.md", REGISTRY)]);
    let files = [("out/code.py", "print(1)\n")];
    desk.scripted("coder", &[crate::cloned::desk::Answer { text: "Written.", files: &files, delete: &[] }]);
    let points = r#"{"deductions": [], "score": 100, "notes": []}"#;
    if by_the_project {
        desk.write("s.toml", &format!("[[reply]]\nrepeat = \"always\"\ntext = {}\n", json!(points)));
        let own = "[agents.coder-critic]\nkind = \"scripted\"\nscript = \"s.toml\"\n";
        desk.write("gadfly.toml", &format!("[project]\nname = \"reform\"\n{own}"));
    } else {
        desk.saying("coder-critic", &[points]);
    }
    desk
}

fn receipts(desk: &Desk) -> usize {
    fs::read_dir(desk.path(".gadfly/receipts")).map_or(0, Iterator::count)
}

#[test]
fn ready_made_points_of_the_project_need_a_word_and_open_no_strict_gate() {
    let own = pointed(false);
    let said = own.gadfly(&[&PIPELINE[..], &["--trust"]].concat());
    assert_eq!(own.gadfly(&["gate", "commit", "--strict"]).code, 0, "the user's own count: {said:?}");
    assert_eq!(receipts(&own), 1, "{said:?}");
    let desk = pointed(true);
    let said = desk.gadfly(&PIPELINE);
    assert_eq!(said.code, 2, "{said:?}");
    assert!(said.err.contains("ready-made replies") && said.err.contains("s.toml"), "{}", said.err);
    assert_eq!(desk.gadfly(&["runs"]).out, "", "nothing was started");
    let said = desk.gadfly(&[&PIPELINE[..], &["--trust"]].concat());
    assert_ne!(said.code, 2, "{said:?}");
    assert_eq!(receipts(&desk), 0, "{said:?}");
    let gate = desk.gadfly(&["gate", "commit", "--strict"]);
    assert_eq!(gate.code, 3, "{gate:?}");
}

#[test]
fn commands_of_a_recorded_plan_are_run_only_after_agreement() {
    let desk = Desk::repository(&[("a.txt", "one\n")]);
    desk.configure("[agents.me]\nkind = \"person\"\n");
    desk.saying("c", &["{}"]);
    let mark = desk.beside("mark");
    let verify = format!("touch {}", mark.display());
    let run = ["run", "Do it", "--protocol", "audit", "--worker", "me", "--critic", "c", "--criterion", "x"];
    let said = desk.gadfly(&[&run[..], &["--verify", &verify, "--unattended", "--yes"]].concat());
    assert_eq!(said.code, 4, "{said:?}");
    let _ = fs::remove_file(&mark);
    let run = desk.run_id();
    // As for a store that came with the project: this machine did not record it, and nobody remembers what it names.
    crate::cloned::forget_this_machine(&desk);
    let said = desk.gadfly(&["resume", &run, "--unattended"]);
    assert!(said.code != 0 && said.err.contains("was not made by you"), "{said:?}");
    assert!(!mark.exists());
    assert_eq!(desk.gadfly(&["own"]).code, 0);
    assert_eq!(desk.gadfly(&["answer", &run, "Done."]).code, 0);
    for args in [&["resume", &run, "--unattended"][..], &["resume", "--all", "--unattended"]] {
        let said = desk.gadfly(args);
        assert_ne!(said.code, 0, "{args:?}: {said:?}");
        assert!(said.err.contains(&verify), "{args:?}: {}", said.err);
        assert!(!mark.exists(), "{args:?}");
    }
    let said = desk.gadfly(&["resume", &run, "--unattended", "--trust"]);
    assert!(mark.exists(), "{said:?}");
}

#[test]
fn a_configuration_that_leads_out_of_the_project_is_not_read() {
    let desk = desk(BASE);
    fs::write(desk.beside("home/key"), "hunter2hunter2 = [\nhunter2hunter2\n").unwrap();
    fs::remove_file(desk.path("gadfly.toml")).unwrap();
    std::os::unix::fs::symlink("../home/key", desk.path("gadfly.toml")).unwrap();
    for args in [&["check"][..], &["doctor"], &["next"], &[&REVIEW[..], &["--criterion", "x"]].concat()] {
        let said = desk.gadfly(args);
        assert_eq!(said.code, 2, "{args:?}: {said:?}");
        let all = format!("{}{}", said.out, said.err);
        assert!(all.contains("leads out of the project") && !all.contains("hunter2"), "{args:?}: {all}");
    }
}

#[test]
fn a_rubric_that_leads_out_of_the_project_reaches_no_judge_through_the_hook_or_the_base() {
    let desk = desk(BASE);
    fs::write(desk.beside("home/key"), "- hunter2hunter2\n").unwrap();
    fs::remove_file(desk.path("rubric.md")).unwrap();
    std::os::unix::fs::symlink(desk.beside("home/key"), desk.path("rubric.md")).unwrap();
    let said = stop(&desk, "one", &["--rubric", "rubric.md"]);
    assert!(said.to_string().contains("leads out of the project"), "{said}");
    // The same link in the state before the change.
    desk.commit("a link");
    desk.git(&["branch", "-f", "main"]);
    desk.write("a.md", "Three.\n");
    let said = stop(&desk, "two", &["--rubric", "rubric.md", "--untrusted"]);
    assert!(said.to_string().contains("before the change"), "{said}");
    for flag in ["--criteria", "--with", "--rubric"] {
        let said = review(&desk, &["--untrusted", flag, "rubric.md"]);
        assert_eq!(said.code, 2, "{flag}: {said:?}");
    }
    assert_eq!(told(&desk, "judge"), "");
}

#[test]
fn an_answer_that_came_with_a_store_is_not_the_word_of_the_users_own_judge() {
    let desk = Desk::folder(&[("gadfly.toml", "[agents.judge]\nkind = \"person\"\n")]);
    desk.saying("pen", &["A draft.", "Another draft.", "A third."]);
    let args = ["run", "Write.", "--worker", "pen", "--critic", "judge", "--criterion", "x", "--yes"];
    let said = desk.gadfly(&[&args[..], &["--unattended"]].concat());
    assert_eq!(said.code, 4, "{said:?}");
    let listed: Value = serde_json::from_str(desk.gadfly(&["runs", "--json"]).out.trim()).unwrap();
    let run = listed["run"].as_str().unwrap();
    assert_eq!(desk.gadfly(&["answer", run, "[STATUS: APPROVED]"]).code, 0);
    // Elsewhere `judge` is a program of the user's own.
    desk.write("gadfly.toml", "");
    let asked = desk.beside("asked");
    desk.program("judge", &format!("cat >>'{}'; echo '{REJECT}'", asked.display()));
    desk.configure("sandbox = \"off\"\n");
    let said = desk.gadfly(&["resume", "--all", "--unattended", "--trust"]);
    assert_ne!(said.code, 0, "{said:?}");
    assert!(asked.exists() && !said.err.contains("approved by"), "{said:?}");
}

#[test]
fn a_script_that_is_no_file_holds_nobody_up() {
    let config = "[agents.c]\nkind = \"scripted\"\nscript = \"pipe\"\n[defaults]\ncritic = \"c\"\n";
    let desk = Desk::folder(&[("gadfly.toml", config), ("d.md", "Hi.\n")]);
    // Whoever opened this to read it would wait for ever.
    assert!(std::process::Command::new("mkfifo").arg(desk.path("pipe")).status().unwrap().success());
    let said = desk.gadfly(&["review", "d.md", "--criterion", "x", "--yes"]);
    assert!(said.code == 2 && said.err.contains("not agreed"), "{said:?}");
}
