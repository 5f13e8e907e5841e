//! `kill -9` in the middle of a CLI agent's edit, before it said which conversation it is in: no process of it stays,
//! the tree is put back to the round's start, the call is repeated once, without the conversation that was lost, and
//! nothing accepted is lost. One that has named its conversation goes on in it: `goals_hands/long.rs`.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::json;

use crate::desk::{AUDIT, Answer, Desk, alive, make_fifo, passed, report, wait_for, wait_within};
use crate::kinds::{KINDS, Kind};

const MAX: &str = "max_usd_per_call = 2\nmax_tokens_per_call = 5000\n";
const PRICE: &str = "price = { input = 1, output = 1 }\n";

/// A folder that programs may write to beside their own, and what they leave there.
struct Seen(PathBuf);

impl Seen {
    fn new(desk: &Desk) -> Self {
        let folder = desk.beside("seen");
        fs::create_dir(&folder).unwrap();
        make_fifo(&folder.join("gate"));
        Self(folder)
    }

    fn settings(&self) -> String {
        format!("state = [{}]\n", json!(self.0))
    }

    fn is_there(&self, name: &str) -> bool {
        self.0.join(name).exists()
    }

    fn lines(&self, name: &str) -> Vec<String> {
        let text = fs::read_to_string(self.0.join(name)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }
}

/// An audit whose accepted change must outlive all that follows.
fn accepted_before(desk: &Desk) {
    desk.scripted("before", &[Answer { text: "done", files: &[("c.txt", "accepted\n")], delete: &[] }]);
    desk.saying("judge", &[&report("do-it", 1, &[("SC-1", "Satisfied", "c.txt:1")], &[], "passed")]);
    let args = AUDIT.map(|arg| match arg {
        "w" => "before",
        "c" => "judge",
        other => other,
    });
    let said = desk.gadfly(&args);
    assert_eq!((said.code, desk.read("c.txt")), (0, "accepted\n".into()), "{}", said.err);
}

/// Rejects the first round, approves the second.
fn critic(desk: &Desk) {
    let finding = [("style", "fail", Some(("a.txt", 1)), "make it three")];
    let first = report("do-it", 1, &[("SC-1", "Satisfied", "a.txt:1")], &finding, "issues_found");
    desk.saying("c", &[&first, &passed(2)]);
}

fn command_line_kinds() -> impl Iterator<Item = &'static Kind> {
    KINDS.iter().filter(|kind| kind.name != "command")
}

#[test]
fn killed_before_it_named_its_conversation_a_worker_is_called_once_more_from_the_start_of_the_round() {
    // ACP names it before anything is asked.
    for kind in command_line_kinds().filter(|kind| kind.name != "acp") {
        let case = kind.name;
        let desk = Desk::repository(&[("a.txt", "one\n"), ("b.txt", "b\n")]);
        let seen = Seen::new(&desk);
        accepted_before(&desk);
        let mark = format!("84{}", std::process::id());
        // Its second call writes half, deletes, leaves children behind, one of them outside of its group, and
        // never goes on.
        let does = format!(
            "echo $* >>{seen}/flags; echo $(cat a.txt b.txt c.txt) >>{seen}/found\n\
             case $(wc -l <{seen}/flags) in\n\
             1) echo two >a.txt;;\n\
             2) printf ha >a.txt; rm b.txt; echo x >junk.txt; git add -A; git commit -qm junk\n\
                sleep {mark}1 & setsid sleep {mark}2 & : >{seen}/half; read x <{seen}/gate;;\n\
             *) echo three >a.txt;;\n\
             esac",
            seen = seen.0.display()
        );
        kind.agent(&desk, "w", &does, "done", &format!("{}{MAX}{PRICE}", seen.settings()));
        critic(&desk);
        let (before, git) = (desk.files(), desk.git_bytes());
        let mut child = desk.spawn(&AUDIT);
        wait_for("the worker wrote half", || {
            assert_eq!(child.try_wait().unwrap(), None, "{case}: {:?}", desk.newest());
            seen.is_there("half") && alive(&mark).len() == 2
        });
        child.kill().unwrap();
        child.wait().unwrap();
        let program = desk.beside("bin/w.sh").display().to_string();
        wait_within("no process of it is left", Duration::from_secs(2), || {
            alive(&mark).is_empty() && alive(&program).is_empty()
        });
        assert_eq!(desk.files(), before, "{case}: the checkout is untouched");
        assert_eq!(desk.state(), "interrupted", "{case}");
        let run = desk.run_id();
        let said = desk.gadfly(&["resume", &run]);
        assert_eq!(said.code, 0, "{case}: {}", said.err);
        assert_eq!((desk.run_id(), desk.state()), (run.clone(), "approved".into()), "{case}");
        assert_eq!(
            seen.lines("found"),
            ["one b accepted", "two b accepted", "two b accepted"],
            "{case}: its third call found what its second had found, and there was no fourth"
        );
        // Exactly the second edit of the round, and nothing of the first.
        assert_eq!((desk.read("a.txt"), desk.read("b.txt")), ("three\n".into(), "b\n".into()), "{case}");
        assert_eq!(desk.read("c.txt"), "accepted\n", "{case}: what was accepted before");
        assert!(!desk.path("junk.txt").exists(), "{case}");
        assert_eq!(desk.files().len(), before.len(), "{case}: {:?}", desk.files().keys());
        assert_eq!(desk.git_bytes(), git, "{case}: the user's repository");
        began_anew(&seen, kind);
        lost_call_is_unknown(&desk, case);
        assert_eq!(desk.gadfly(&["undo", &run]).code, 0, "{case}");
        assert_eq!(desk.files(), before, "{case}: and all of it can be taken back");
    }
}

/// The call that was cut short went on with the conversation of the round before; the one that repeats it
/// does not.
fn began_anew(seen: &Seen, kind: &Kind) {
    let session = match kind.name {
        "claude-code" => "--resume s1",
        "codex" => "resume t1",
        "gemini" => "--resume g1",
        "opencode" => "--session o1",
        other => unreachable!("{other}"),
    };
    let went_on: Vec<bool> = seen.lines("flags").iter().map(|flags| flags.contains(session)).collect();
    assert_eq!(went_on, [false, true, false], "{}: {:?}", kind.name, seen.lines("flags"));
}

/// Five calls were begun, and nobody knows the end of one: all it was allowed to cost counts as spent.
fn lost_call_is_unknown(desk: &Desk, case: &str) {
    let run = desk.newest();
    assert_eq!(desk.calls(), 5, "{case}: {run}");
    let (cost, tokens) = (run["cost"].as_u64().unwrap(), run["tokens"].as_u64().unwrap());
    assert!((2_000_000_000..2_100_000_000).contains(&cost), "{case}: {run}");
    assert!((5000..5100).contains(&tokens), "{case}: {run}");
    assert_eq!(run["cost_unknown"], json!(true), "{case}: {run}");
    let shown = desk.gadfly(&["show", &desk.run_id()]).out;
    assert!(shown.contains("spent      ≥ $2.0"), "{case}: {shown}");
}

#[test]
fn an_undisturbed_run_of_the_same_worker_has_an_exact_total() {
    // Sabotage of what is said above of a lost call: without one there is no `≥`, unless the worker does not say what it used.
    for kind in command_line_kinds() {
        let desk = Desk::repository(&[("a.txt", "one\n")]);
        kind.agent(&desk, "w", "echo two >a.txt", "done", &format!("{MAX}{PRICE}"));
        desk.saying("c", &[&passed(1)]);
        let said = desk.audit(&[]);
        assert_eq!(said.code, 0, "{}: {}", kind.name, said.err);
        let run = desk.newest();
        let is_stated = kind.name != "acp";
        let told = (run["calls"].as_u64(), run["cost_unknown"].as_bool());
        assert_eq!(told, (Some(2), Some(!is_stated)), "{}: {run}", kind.name);
        assert!(run["cost"].as_u64().unwrap() < 2_000_000_000, "{run}");
    }
}

#[test]
fn killed_while_a_critic_reads_the_worker_is_not_called_again_and_the_critic_once() {
    for kind in command_line_kinds() {
        let case = kind.name;
        let desk = Desk::repository(&[("a.txt", "one\n")]);
        let seen = Seen::new(&desk);
        let at = seen.0.display();
        let works = format!("echo call >>{at}/works; echo two >a.txt");
        kind.agent(&desk, "w", &works, "done", &format!("{}{PRICE}", seen.settings()));
        let mark = format!("85{}", std::process::id());
        // Without a sandbox, so that there is something to be undone.
        let reads = format!(
            "echo $* >>{at}/reads; cat a.txt >>{at}/read\n\
             if [ $(wc -l <{at}/reads) = 1 ]; then echo evil >a.txt; setsid sleep {mark} & : >{at}/half\n\
             read x <{at}/gate; fi"
        );
        let settings = format!("{}sandbox = \"off\"\n{MAX}{PRICE}", seen.settings());
        kind.agent(&desk, "c", &reads, &passed(1), &settings);
        let before = desk.files();
        let mut child = desk.spawn(&AUDIT);
        wait_for("the critic is at work", || {
            assert_eq!(child.try_wait().unwrap(), None, "{case}: {:?}", desk.newest());
            seen.is_there("half") && alive(&mark).len() == 1
        });
        child.kill().unwrap();
        child.wait().unwrap();
        let program = desk.beside("bin/c.sh").display().to_string();
        wait_within("no process of it is left", Duration::from_secs(2), || {
            alive(&mark).is_empty() && alive(&program).is_empty()
        });
        assert_eq!(desk.files(), before, "{case}: the checkout is untouched");
        let said = desk.gadfly(&["resume", &desk.run_id()]);
        assert_eq!((said.code, desk.state()), (0, "approved".into()), "{case}: {}", said.err);
        assert_eq!(seen.lines("works"), ["call"], "{case}: its work was done and is not asked for again");
        assert_eq!(seen.lines("read"), ["two", "two"], "{case}: both times it read what the worker left");
        let sessions = ["--resume", "resume ", "--session"];
        for flags in seen.lines("reads") {
            assert!(!sessions.iter().any(|word| flags.contains(word)), "{case}: a critic goes on: {flags}");
        }
        assert_eq!(desk.read("a.txt"), "two\n", "{case}");
        let run = desk.newest();
        assert_eq!((desk.calls(), run["cost_unknown"].as_bool()), (3, Some(true)), "{case}: {run}");
    }
}
