//! A critic that is itself such a session.

use serde_json::Value;

use crate::hook::desk::{Desk, REJECT};

/// A critic that is itself such a session stops in a place of ours, and fires the hook there.
#[test]
fn the_hook_does_not_judge_its_own_critic() {
    let desk = Desk::new(&[REJECT]);
    desk.write("a.rs", "fn a() { 1; }\n");
    let place = desk.path(".gadfly/runs/x/work");
    std::fs::create_dir_all(&place).unwrap();
    let ceiling = desk.path(".gadfly/runs/x");
    let env = [("GIT_CEILING_DIRECTORIES", ceiling.to_str().unwrap())];
    let said = desk.stop_with(&[], desk.told(false).as_bytes(), &env);
    assert_eq!((said.code, &said.answer), (Some(0), &Value::Null), "{said:?}");
    assert!(!desk.path(".gadfly/journal.db").exists(), "no run was started");
    // Sabotage: without the mark the same stop is judged.
    assert!(desk.stop(false).blocks());
}

/// A program as critic that ends as a Claude Code session would: by calling the hook in the project.
#[test]
fn a_critic_that_fires_the_hook_ends_after_one_call() {
    let desk = Desk::new(&[]);
    let binary = env!("CARGO_BIN_EXE_gadfly");
    let (project, told) = (desk.path(""), desk.told(false).replace("s-1", "s-nested"));
    let script = format!(
        "#!/bin/sh\ncat > /dev/null\necho x >> {0}/fired\nprintf '%s' '{told}' | {binary} hook stop > {0}/nested 2>&1\n\
         printf '[STATUS: APPROVED]'\n",
        desk.dir.path().display()
    );
    desk.write("critic.sh", &script);
    assert!(desk.command("chmod", &["+x", "critic.sh"]).status().unwrap().success());
    desk.own("");
    desk.configure("[agents.judge]\nkind = \"command\"\ncommand = [\"./critic.sh\"]\nsandbox = \"off\"\n");
    desk.commit();
    desk.write("a.rs", "fn a() { 1; }\n");
    let untrusted = desk.stop(false);
    assert!(untrusted.told().contains("gadfly hook stop --trust"), "{untrusted:?}");
    let agreed = desk.stop_with(&["--trust"], b"", &[]);
    assert!(agreed.code == Some(0) && agreed.err.contains("agreed"), "{agreed:?}");
    let said = desk.stop(false);
    assert!(said.told().contains("approved by judge"), "{said:?} in {}", project.display());
    let fired = std::fs::read_to_string(desk.dir.path().join("fired")).unwrap();
    assert_eq!(fired, "x\n", "the critic was called once");
    assert_eq!(
        std::fs::read_to_string(desk.dir.path().join("nested")).unwrap(),
        "",
        "the nested hook stayed silent"
    );
}
