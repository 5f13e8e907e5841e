//! The user's checkout: what it looks like is where a run begins, and only accepted work changes it.

use crate::judging::desk::{Answer, Desk, passed};

fn edits<'a>() -> Answer<'a> {
    Answer { text: "done", files: &[("a.txt", "two\n"), ("new/n.txt", "new\n")], delete: &["old.txt"] }
}

fn played(desk: &Desk) {
    desk.scripted("w", &[edits()]);
    desk.saying("c", &[&passed(1)]);
}

#[test]
fn a_dirty_tree_is_where_the_run_begins_and_stays_as_it_is_beside_the_work() {
    let desk =
        Desk::repository(&[("a.txt", "one\n"), ("old.txt", "old\n"), ("b.txt", "b\n"), ("s.txt", "s\n")]);
    desk.write("s.txt", "staged\n");
    desk.git(&["add", "s.txt"]);
    desk.git(&["stash", "push", "-q", "-m", "kept"]);
    desk.write("s.txt", "staged again\n");
    desk.git(&["add", "s.txt"]);
    desk.write("b.txt", "not committed\n");
    desk.write("untracked.txt", "mine\n");
    desk.write(".gadfly/seen", "");
    played(&desk);
    let (git, before) = (desk.git_bytes(), desk.files());
    let said = desk.audit(&[
        "--verify",
        "grep -q 'not committed' b.txt && grep -q again s.txt && test -f untracked.txt",
    ]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert_eq!((desk.read("a.txt"), desk.read("new/n.txt")), ("two\n".into(), "new\n".into()));
    assert!(!desk.path("old.txt").exists());
    for mine in ["b.txt", "s.txt", "untracked.txt"] {
        assert_eq!(&desk.read(mine).into_bytes(), &before[&desk.path(mine)], "{mine}");
    }
    assert_eq!(desk.git_bytes(), git, "index, HEAD, refs, stash: every byte of .git");
    // A second time is refused or the same; the first brings all of it back, new files gone.
    let run = desk.run_id();
    let said = desk.gadfly(&["undo", &run]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert_eq!(desk.files(), before, "undo restores exactly");
    assert!(!desk.path("new").exists(), "and the folder that came with it is gone");
    assert_eq!(desk.git_bytes(), git);
    desk.gadfly(&["undo", &run]);
    assert_eq!(desk.files(), before, "repeating it is harmless");
}

#[test]
fn undo_refuses_what_changed_since_with_a_list_and_takes_back_nothing() {
    let desk = Desk::repository(&[("a.txt", "one\n"), ("old.txt", "old\n")]);
    played(&desk);
    assert_eq!(desk.audit(&[]).code, 0);
    desk.write("a.txt", "mine\n");
    desk.write("old.txt", "mine too\n");
    let before = desk.files();
    let said = desk.gadfly(&["undo", &desk.run_id()]);
    assert_eq!(said.code, 3, "{}", said.err);
    assert!(said.err.contains("a.txt") && said.err.contains("old.txt"), "{}", said.err);
    assert!(!said.err.contains("n.txt"), "only what changed: {}", said.err);
    assert_eq!(desk.files(), before);
}

#[test]
fn a_checkout_edited_meanwhile_is_left_alone_and_the_work_is_not_lost() {
    let desk = Desk::repository(&[("a.txt", "one\n"), ("old.txt", "old\n"), ("free.txt", "f\n")]);
    // The user edits while the worker is at work: a file both change, one both create, and one of their own.
    let (a, n, free) = (desk.path("a.txt"), desk.path("n.txt"), desk.path("free.txt"));
    desk.program(
        "w",
        &format!(
            "cat >/dev/null; echo two >a.txt; echo new >n.txt; rm old.txt; echo done\n\
             echo mine >{}; echo 'my own' >{}; echo later >{}",
            a.display(),
            n.display(),
            free.display()
        ),
    );
    desk.configure("sandbox = \"off\"\n");
    desk.saying("c", &[&passed(1)]);
    let git = desk.git_bytes();
    let said = desk.audit(&[]);
    assert_eq!(said.code, 4, "{}", said.err);
    let run = desk.run_id();
    let shown = desk.gadfly(&["show", &run]).out;
    assert!(shown.contains("a.txt: changed here and by the run"), "{shown}");
    assert!(shown.contains("n.txt: new here and new in the run"), "{shown}");
    assert!(!shown.contains("free.txt"), "nobody else wants it: {shown}");
    let mine = || (desk.read("a.txt"), desk.read("n.txt"), desk.read("old.txt"), desk.read("free.txt"));
    assert_eq!(
        mine(),
        ("mine\n".into(), "my own\n".into(), "old\n".into(), "later\n".into()),
        "all or nothing"
    );
    let calls = desk.calls();
    assert_eq!(desk.gadfly(&["resume", &run]).code, 4, "still asked");
    assert_eq!(mine().0, "mine\n");
    // The user decides later, and puts one version aside meanwhile: they are asked about what is there then.
    assert_eq!(desk.gadfly(&["answer", &run, "stop"]).code, 0);
    assert_eq!(desk.gadfly(&["resume", &run]).code, 4);
    std::fs::rename(&n, desk.path("n.mine")).unwrap();
    assert_eq!(desk.gadfly(&["resume", &run]).code, 4);
    let shown = desk.gadfly(&["show", &run]).out;
    assert_eq!(mine_but_n(&desk), ("mine\n".into(), "old\n".into()), "{shown}");
    assert_eq!(desk.gadfly(&["answer", &run, "run"]).code, 0);
    let said = desk.gadfly(&["resume", &run]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert_eq!(
        (desk.read("a.txt"), desk.read("n.txt"), desk.read("n.mine")),
        ("two\n".into(), "new\n".into(), "my own\n".into())
    );
    assert!(!desk.path("old.txt").exists());
    assert_eq!(desk.calls(), calls, "no agent was called again");
    assert_eq!(desk.git_bytes(), git);
}

fn mine_but_n(desk: &Desk) -> (String, String) {
    (desk.read("a.txt"), desk.read("old.txt"))
}

#[test]
fn a_repository_without_commits_and_a_folder_without_git_work_alike() {
    for repository in [true, false] {
        let desk = Desk::folder(&[("a.txt", "one\n"), ("old.txt", "old\n")]);
        if repository {
            desk.git(&["init", "-q"]);
            desk.git(&["add", "a.txt"]);
        }
        played(&desk);
        let before = desk.files();
        let git = repository.then(|| desk.git_bytes());
        let said = desk.audit(&["--verify", "test -f a.txt"]);
        assert_eq!(said.code, 0, "{}", said.err);
        assert_eq!(desk.read("a.txt"), "two\n");
        assert_eq!(repository.then(|| desk.git_bytes()), git);
        assert_eq!(desk.path(".git").exists(), repository, "no repository is made for the user");
        assert_eq!(desk.gadfly(&["undo", &desk.run_id()]).code, 0);
        assert_eq!(desk.files(), before);
    }
}

#[test]
fn a_commit_is_exactly_the_judged_tree_and_leaves_files_index_and_head() {
    let desk = Desk::repository(&[("a.txt", "one\n"), ("old.txt", "old\n")]);
    played(&desk);
    let (before, head, index) =
        (desk.files(), desk.git(&["rev-parse", "HEAD"]), desk.git(&["diff", "--cached"]));
    let said = desk.audit(&["--branch", "topic"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert_eq!(desk.files(), before);
    assert_eq!((desk.git(&["rev-parse", "HEAD"]), desk.git(&["diff", "--cached"])), (head.clone(), index));
    assert_eq!(desk.git(&["rev-parse", "topic^"]), head);
    assert_eq!(desk.git(&["show", "topic:a.txt"]), "two\n");
    assert_eq!(desk.git(&["ls-tree", "-r", "--name-only", "topic"]), ".gitignore\na.txt\nnew/n.txt\n");
    // The same branch again is refused, and nothing is overwritten.
    let at = desk.git(&["rev-parse", "topic"]);
    let said = desk.audit(&["--branch", "topic"]);
    assert_ne!(said.code, 0, "{}", said.err);
    assert_eq!(desk.git(&["rev-parse", "topic"]), at);
}
