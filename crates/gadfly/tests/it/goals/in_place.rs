//! A goal in the user's own checkout: nothing of it is lost, and all of it can be taken back.

use crate::goals::desk::Desk;
use crate::goals::pursuit::{GOAL, PROGRESSING, claims, edits, fails, hire, reads, runs, writes};

/// A checkout in which the user has begun something, with a worker that adds, changes and deletes.
fn begun() -> Desk {
    let desk = Desk::repository(&[("a.txt", "one\n"), ("b.txt", "two\n"), ("sub/c.txt", "three\n")]);
    desk.write("a.txt", "one, and mine\n");
    desk.write("untracked.txt", "mine too\n");
    desk.write("staged.txt", "staged\n");
    desk.git(&["add", "staged.txt"]);
    desk.saying("c", &[PROGRESSING]);
    desk
}

const WORK: &str =
    "rm b.txt; mkdir -p new/deep; echo x > new/deep/file; chmod +x sub/c.txt; echo more >> untracked.txt";

#[test]
fn it_works_in_the_checkout_and_undo_restores_exactly() {
    let desk = begun();
    let worker = [
        edits("a.txt", "mine", "yours"),
        runs(WORK),
        writes("done.txt", "x"),
        reads("done.txt").then(claims("all done")),
    ];
    hire(&desk, "w", &worker, "");
    let (files, git, status) = (desk.files(), desk.git_bytes(), desk.git(&["status", "--porcelain"]));
    let modes = desk.git(&["diff", "HEAD"]);
    let said = desk.gadfly(&[&GOAL[..], &["--in-place"]].concat());
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!((desk.read("a.txt").as_str(), desk.read("done.txt").as_str()), ("one, and yours\n", "x"));
    assert!(!desk.path("b.txt").exists() && desk.path("new/deep/file").exists());
    let said = desk.gadfly(&["undo", &desk.run_id(), "--yes"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(desk.files(), files);
    assert!(!desk.path("new").exists(), "no empty folder is left");
    assert_eq!(desk.git(&["status", "--porcelain"]), status);
    assert_eq!(desk.git(&["diff", "HEAD"]), modes);
    let index = desk.path(".git/index");
    let same = |files: &std::collections::BTreeMap<std::path::PathBuf, Vec<u8>>| {
        files
            .iter()
            .filter(|(path, _)| **path != index)
            .map(|(p, b)| (p.clone(), b.clone()))
            .collect::<Vec<_>>()
    };
    assert_eq!(same(&desk.git_bytes()), same(&git), "git's own files are as they were");
}

#[test]
fn what_was_left_by_a_goal_that_did_not_end_well_can_be_taken_back_too() {
    let desk = begun();
    let gives_up = crate::goals::pursuit::does(
        "abort_with_report",
        serde_json::json!({"reason": "no way", "what_was_learned": "nothing"}),
    );
    hire(&desk, "w", &[runs(WORK), gives_up], "");
    let (files, status) = (desk.files(), desk.git(&["status", "--porcelain"]));
    let said = desk.gadfly(&[&GOAL[..], &["--in-place"]].concat());
    assert_eq!(said.code, 7, "{said:?}");
    assert!(!desk.path("b.txt").exists());
    let said = desk.gadfly(&["undo", &desk.run_id(), "--yes"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!((desk.files(), desk.git(&["status", "--porcelain"])), (files, status));
}

#[test]
fn a_parked_goal_is_taken_back_after_it_is_cancelled() {
    let desk = begun();
    hire(&desk, "w", &[runs(WORK), fails("crash").always()], "");
    let (files, status) = (desk.files(), desk.git(&["status", "--porcelain"]));
    assert_eq!(desk.gadfly(&[&GOAL[..], &["--in-place"]].concat()).code, 1);
    let run = desk.run_id();
    let cancelled = desk.gadfly(&["cancel", &run]);
    let said = desk.gadfly(&["undo", &run, "--yes"]);
    assert_eq!(said.code, 0, "{cancelled:?} {said:?}");
    assert_eq!((desk.files(), desk.git(&["status", "--porcelain"])), (files, status));
}

#[test]
fn a_file_the_user_changed_since_is_left_alone() {
    let desk = begun();
    let worker =
        [edits("a.txt", "mine", "yours"), writes("done.txt", "x"), reads("done.txt").then(claims("done"))];
    hire(&desk, "w", &worker, "");
    assert_eq!(desk.gadfly(&[&GOAL[..], &["--in-place"]].concat()).code, 0);
    desk.write("a.txt", "changed since\n");
    let said = desk.gadfly(&["undo", &desk.run_id(), "--yes"]);
    assert_eq!(said.code, 3, "{said:?}");
    assert!(said.err.contains("a.txt"), "{said:?}");
    assert_eq!(desk.read("a.txt"), "changed since\n");
}

/// A checkout with branches, a stash, a hook, a tag and ignored files.
fn rich() -> Desk {
    let desk = Desk::repository(&[("a.txt", "one\n")]);
    desk.saying("c", &[PROGRESSING]);
    desk.write(".gitignore", ".gadfly/\n.env\nnm\ncache/\n");
    desk.write("a.txt", "two\n");
    desk.git(&["commit", "-qam", "second"]);
    desk.git(&["branch", "other", "HEAD~1"]);
    desk.git(&["tag", "v1"]);
    desk.write("a.txt", "stashed\n");
    desk.git(&["stash", "push", "-q", "-m", "mine"]);
    desk.write("a.txt", "staged\n");
    desk.git(&["add", "a.txt"]);
    desk.write("a.txt", "changed\n");
    desk.write(".env", "SECRET=1\n");
    desk.write("nm/dep/index.js", "dep\n");
    desk
}

/// How the repository stands, as its user sees it.
fn standing(desk: &Desk) -> Vec<String> {
    let asked: [&[&str]; 8] = [
        &["status", "--porcelain=v2", "--branch"],
        &["for-each-ref"],
        &["stash", "list"],
        &["diff", "--cached"],
        &["log", "--all", "--format=%H %s"],
        &["config", "--local", "--list"],
        &["reflog", "show", "HEAD"],
        &["fsck", "--no-dangling"],
    ];
    asked.iter().map(|args| desk.git(args)).collect()
}

fn in_place(desk: &Desk, work: &str) -> crate::goals::desk::Said {
    let worker = [runs(work), writes("done.txt", "x"), reads("done.txt").then(claims("all done"))];
    hire(desk, "w", &worker, "");
    let said = desk.gadfly(&[&GOAL[..], &["--in-place"]].concat());
    assert_eq!(said.code, 0, "{said:?}");
    said
}

#[test]
fn what_was_done_to_the_repository_and_to_ignored_files_comes_back() {
    for work in [
        "rm -rf .git .env nm a.txt",
        "git stash drop -q && git reset -q --hard HEAD~1 && git checkout -q other && git branch -qD main master; \
         git -c user.name=w -c user.email=w@w commit -q --allow-empty -m w; git gc -q --prune=now",
        "git config core.hooksPath evil; echo evil > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit; git add -A; \
         git tag -d v1; git branch new; echo SECRET=2 > .env; echo more > nm/dep/more.js; rm nm/dep/index.js",
        "mv .git gone; ln -s gone .git; rm -rf nm; ln -s /tmp nm",
    ] {
        let desk = rich();
        let (files, before) = (desk.files(), standing(&desk));
        in_place(&desk, work);
        let run = desk.run_id();
        let foreseen = desk.gadfly(&["undo", &run, "--dry-run"]);
        assert!(foreseen.out.contains(".git"), "{work}: {foreseen:?}");
        let said = desk.gadfly(&["undo", &run, "--yes"]);
        assert_eq!(said.code, 0, "{work}: {said:?}");
        assert!(desk.path(".git/HEAD").exists(), "{work}: {said:?}");
        assert_eq!(standing(&desk), before, "{work}: {said:?}");
        assert_eq!(desk.files(), files, "{work}: {said:?}");
        assert!(!desk.path(".git/hooks/pre-commit").exists(), "{work}");
        assert_eq!((desk.read(".env"), desk.read("nm/dep/index.js")), ("SECRET=1\n".into(), "dep\n".into()));
        assert!(!desk.path("nm/dep/more.js").exists(), "{work}");
    }
}

#[test]
fn what_the_user_did_to_the_repository_since_stays() {
    let desk = rich();
    in_place(&desk, "git tag -d v1; git tag v2; echo SECRET=2 > .env");
    desk.git(&["tag", "-f", "v2", "HEAD~1"]);
    desk.git(&["branch", "mine"]);
    let said = desk.gadfly(&["undo", &desk.run_id(), "--yes"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(
        said.err.contains("left as you changed it") && said.err.contains(".git/refs/tags/v2"),
        "{said:?}"
    );
    let refs = desk.git(&["for-each-ref", "--format=%(refname)"]);
    for name in ["refs/tags/v1", "refs/tags/v2", "refs/heads/mine"] {
        assert!(refs.contains(name), "{refs}");
    }
    assert_eq!(desk.read(".env"), "SECRET=1\n");
}

#[test]
fn what_could_not_be_brought_back_is_said_beforehand() {
    let desk = rich();
    std::fs::create_dir(desk.path("cache")).unwrap();
    let large = std::fs::File::create(desk.path("cache/large")).unwrap();
    large.set_len(65 << 20).unwrap();
    let said = in_place(&desk, "rm -r cache nm");
    let (told, first) = (said.err.find("cannot bring back what it changes in: cache;"), said.err.find("[1]"));
    assert!(told.is_some() && told < first, "{said:?}");
    assert_eq!(desk.gadfly(&["undo", &desk.run_id(), "--yes"]).code, 0);
    assert!(!desk.path("cache").exists() && desk.path("nm/dep/index.js").exists());
}

#[test]
fn a_second_undo_says_that_it_was_taken_back_already_and_so_do_show_and_runs() {
    let desk = begun();
    hire(&desk, "w", &[writes("done.txt", "x"), reads("done.txt").then(claims("all done"))], "");
    assert_eq!(desk.gadfly(&[&GOAL[..], &["--in-place"]].concat()).code, 0);
    let run = desk.run_id();
    let shown = |words: &[&str]| {
        let said = desk.gadfly(words);
        assert_eq!(said.code, 0, "{said:?}");
        said.out
    };
    assert!(!shown(&["runs"]).contains("undone") && shown(&["show", &run]).contains("gadfly undo"));
    assert_eq!(desk.gadfly(&["undo", &run, "--yes"]).code, 0);
    // What the user makes afterwards is theirs, also if it is what the run made.
    desk.write("done.txt", "x");
    for again in [&["undo", &run, "--yes"][..], &["undo", &run], &["undo", &run, "--dry-run"]] {
        let said = desk.gadfly(again);
        assert_eq!(said.code, 2, "{said:?}");
        assert!(
            said.err.contains("was taken back already, on 20") && said.err.contains("nothing was done"),
            "{said:?}"
        );
    }
    assert_eq!(desk.read("done.txt"), "x");
    assert!(shown(&["runs"]).contains("approved (undone)"), "{}", shown(&["runs"]));
    assert!(shown(&["runs", "--json"]).contains("\"undone_ms\":"));
    let whole = shown(&["show", &run]);
    assert!(whole.contains("undone     20") && !whole.contains("gadfly undo"), "{whole}");
    assert!(shown(&["show", &run, "--json"]).contains("\"undone_ms\":"));
}
