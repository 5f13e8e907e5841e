//! `kill -9` while what was judged becomes a commit: the branch is made once or not at all, and nothing else in the user's
//! repository changes.

use std::fs;

use crate::desk::{AUDIT, Desk, passed, wait_for};

/// Notes each call of git, and stops at one of them until whoever called is killed.
const GIT: &str = r#"here=$(dirname "$0")
echo "$*" >>"$here/calls"
n=$(wc -l <"$here/calls")
stop=$(cat "$here/stop" 2>/dev/null)
pause() { touch "$here/stopped"; exec sleep 1000; }
[ "$stop" = "before $n" ] && pause
[ "$stop" = "after $n" ] || exec /usr/bin/git "$@"
/usr/bin/git "$@"
pause"#;

#[test]
fn killed_while_it_commits_the_branch_is_made_once_or_not_at_all() {
    let set = || {
        let desk = Desk::repository(&[("a.txt", "one\n"), ("b.txt", "one\n")]);
        desk.write("b.txt", "mine, not committed\n");
        desk.program("w", "cat >/dev/null; echo two >a.txt; echo done");
        desk.saying("c", &[&passed(1)]);
        desk.program("git", GIT);
        fs::rename(desk.beside("bin/git.sh"), desk.beside("bin/git")).unwrap();
        desk
    };
    let command = |desk: &Desk, args: &[&str]| {
        let mut command = desk.command(args);
        command.env("PATH", format!("{}:/usr/bin:/bin", desk.beside("bin").display()));
        command
    };
    let run = [&AUDIT[..], &["--commit", "--branch", "made"]].concat();
    let desk = set();
    assert!(command(&desk, &run).output().unwrap().status.success());
    let calls = fs::read_to_string(desk.beside("bin/calls")).unwrap();
    let first = calls.lines().position(|call| call.contains("commit-tree")).unwrap();
    let wanted = desk.git(&["show", "made", "--format=%s"]);
    let (mut made, mut not_made) = (0, 0);
    let mut ways = ["resume", "undo", "cancel"].iter().cycle();
    for at in first + 1..=calls.lines().count() {
        for when in ["before", "after"] {
            let (desk, way) = (set(), ways.next().unwrap());
            let what = format!("killed {when} `git {}`, then {way}", calls.lines().nth(at - 1).unwrap());
            let (files, head) = (desk.files(), desk.git(&["rev-parse", "HEAD"]));
            let index = fs::read(desk.path(".git/index")).unwrap();
            fs::write(desk.beside("bin/stop"), format!("{when} {at}")).unwrap();
            let mut child = command(&desk, &run).spawn().unwrap();
            wait_for(&what, || desk.beside("bin/stopped").exists());
            child.kill().unwrap();
            child.wait().unwrap();
            fs::remove_file(desk.beside("bin/stop")).unwrap();
            let is_made = || !desk.git(&["branch", "--list", "made"]).is_empty();
            *if is_made() { &mut made } else { &mut not_made } += 1;
            let run = desk.run_id();
            if *way == "cancel" {
                let was_made = is_made();
                let said = desk.gadfly(&["cancel", &run]);
                assert_eq!((said.code, desk.state().as_str()), (0, "aborted"), "{what}: {said:?}");
                assert_eq!(is_made(), was_made, "{what}");
                assert!(!was_made || said.err.contains("git branch -D made"), "{what}: {said:?}");
            } else {
                if *way == "undo" {
                    let said = desk.gadfly(&["undo", &run]);
                    assert_eq!(said.code, 2, "{what}: {said:?}");
                    assert!(!is_made() || said.err.contains("git branch -D made"), "{what}: {said:?}");
                }
                let said = desk.gadfly(&["resume", &run]);
                assert_eq!((said.code, desk.calls()), (0, 2), "{what}: {said:?}");
                assert_eq!(desk.git(&["show", "made", "--format=%s"]), wanted, "{what}");
                assert_eq!(desk.git(&["rev-parse", "made^"]), head, "{what}");
            }
            assert_eq!(desk.files(), files, "{what}");
            assert_eq!(desk.git(&["rev-parse", "HEAD"]), head, "{what}");
            assert_eq!(fs::read(desk.path(".git/index")).unwrap(), index, "{what}");
            assert_eq!(desk.gadfly(&["show", &run, "--verify"]).code, 0, "{what}");
        }
    }
    assert!(made > 0 && not_made > 0, "{made} kills after the branch was made, {not_made} before");
}
