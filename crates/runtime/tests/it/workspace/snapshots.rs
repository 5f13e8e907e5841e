//! The base, snapshots, restoring, reading and diffs.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use gadfly_runtime::workspace::{Bring, ChangeStatus, Git, Workspace, WorkspaceError};

use crate::workspace::support::{Desk, PROBE, files_below, git_in, put, runner};

#[tokio::test]
async fn the_worker_sees_what_the_user_sees_to_the_byte() {
    let desk = Desk::busy();
    let before = desk.repository_state();
    let workspace = desk.workspace().await;
    let mut expected = desk.files();
    expected.retain(|p, _| {
        !p.starts_with("ignored/") && p != "some.log" && p != ".env" && !p.starts_with(".gadfly")
    });
    assert!(expected.contains_key("tracked.log") && expected.contains_key("line\nbreak.txt"));
    assert_eq!(files_below(&workspace.work(), &[".git"]), expected);
    assert!(desk.repository_state() == before, "the user's repository changed");
}

#[tokio::test]
async fn git_status_and_history_are_the_same_in_the_private_clone() {
    let desk = Desk::busy();
    let workspace = desk.workspace().await;
    let there = |args: &[&str]| git_in(&workspace.dir(), &desk.home(), args);
    for args in [
        &["status", "--porcelain"][..],
        &["log", "--format=%H %s", "main"],
        &["symbolic-ref", "HEAD"],
        &["diff", "--cached"],
        &["tag"],
    ] {
        assert_eq!(
            there(args).replace("?? .gadfly/\n", ""),
            desk.git(args).replace("?? .gadfly/\n", ""),
            "{args:?}"
        );
    }
    assert_eq!(there(&["remote"]), "");
    assert_eq!(there(&["stash", "list"]), "", "the stash is the user's own");
}

#[tokio::test]
async fn what_the_worker_does_in_its_clone_does_not_reach_the_users_repository() {
    let desk = Desk::busy();
    let workspace = desk.workspace().await;
    let (files, state) = (desk.files(), desk.repository_state());
    let there = |args: &[&str]| git_in(&workspace.dir(), &desk.home(), args);
    there(&["stash", "-q"]);
    there(&["switch", "-q", "-c", "other"]);
    put(&workspace.dir().join("new.txt"), "new");
    there(&["add", "-A"]);
    there(&["commit", "-q", "-m", "worker"]);
    there(&["branch", "-D", "main"]);
    there(&["tag", "-d", "v1"]);
    there(&["gc", "-q", "--prune=now"]);
    assert!(desk.repository_state() == state && desk.files() == files);
    desk.git(&["fsck", "--full"]);
}

#[tokio::test]
async fn snapshots_name_exactly_what_changed() {
    use ChangeStatus::{Added, Deleted, Modified};
    let desk = Desk::busy();
    let workspace = desk.workspace().await;
    let begun = workspace.snapshot().await.unwrap();
    assert!(begun.changes.is_empty());
    assert_eq!(begun.tree, workspace.base());
    let work = workspace.dir();
    put(&work.join("kept.txt"), "changed\nnow");
    put(&work.join("neu/é.bin"), "a\0b");
    fs::remove_file(work.join("untracked.txt")).unwrap();
    fs::set_permissions(work.join("deep/er/file.rs"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::remove_file(work.join("link")).unwrap();
    symlink("modified.txt", work.join("link")).unwrap();
    put(&work.join("tracked.log"), "ignored, tracked, changed\n");
    put(&work.join("new.log"), "ignored");
    put(&work.join("lines.dos"), "one\ntwo\n");
    let taken = workspace.snapshot().await.unwrap();
    let shown: Vec<_> = taken
        .changes
        .iter()
        .map(|c| (c.path.as_str(), c.status, c.mode, c.symlink, c.binary, c.bytes, c.lines))
        .collect();
    assert_eq!(
        shown,
        [
            ("deep/er/file.rs", Modified, 0o100_755, false, false, 13, 1),
            ("kept.txt", Modified, 0o100_644, false, false, 11, 2),
            ("lines.dos", Modified, 0o100_644, false, false, 8, 2),
            ("link", Modified, 0o120_000, true, false, 12, 1),
            ("neu/é.bin", Added, 0o100_644, false, true, 3, 1),
            ("tracked.log", Modified, 0o100_644, false, false, 26, 1),
            ("untracked.txt", Deleted, 0o100_644, false, false, 2, 1),
        ]
    );
    assert!(taken.manifest.starts_with(&format!("base {}\n", workspace.base())));
    assert_eq!(taken.digest, gadfly_engine::Digest::of(taken.manifest.as_bytes()));
    assert_eq!(workspace.digest(&taken.tree).await.unwrap(), taken.digest);
    assert_eq!(workspace.snapshot().await.unwrap(), taken, "nothing changed, nothing differs");
}

#[tokio::test]
async fn every_kind_of_change_gives_another_digest_and_going_back_gives_the_old_one() {
    let desk = Desk::plain();
    desk.write("a", "1");
    desk.write("b", "1");
    symlink("a", desk.path("l")).unwrap();
    let workspace = desk.workspace().await;
    let mut seen = vec![workspace.snapshot().await.unwrap()];
    let work = workspace.dir();
    let acts: [&dyn Fn(); 6] = [
        &|| put(&work.join("a"), "2"),
        &|| fs::set_permissions(work.join("a"), fs::Permissions::from_mode(0o755)).unwrap(),
        &|| {
            fs::remove_file(work.join("l")).unwrap();
            symlink("b", work.join("l")).unwrap();
        },
        &|| fs::rename(work.join("b"), work.join("c")).unwrap(),
        &|| put(&work.join("new"), ""),
        &|| fs::remove_file(work.join("a")).unwrap(),
    ];
    for act in acts {
        act();
        let taken = workspace.snapshot().await.unwrap();
        assert!(seen.iter().all(|s| s.digest != taken.digest && s.tree != taken.tree));
        seen.push(taken);
    }
    for earlier in &seen {
        workspace.restore(&earlier.tree).await.unwrap();
        assert_eq!(workspace.snapshot().await.unwrap(), *earlier);
    }
}

#[tokio::test]
async fn the_same_size_and_time_do_not_hide_a_change() {
    let desk = Desk::plain();
    desk.write("a", "1111");
    let workspace = desk.workspace().await;
    let begun = workspace.snapshot().await.unwrap();
    let path = workspace.dir().join("a");
    let time = fs::metadata(&path).unwrap().modified().unwrap();
    put(&path, "2222");
    fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    assert_ne!(workspace.snapshot().await.unwrap().digest, begun.digest);
}

#[tokio::test]
async fn a_worker_cannot_hide_files_by_ignoring_them() {
    let desk = Desk::busy();
    let workspace = desk.workspace().await;
    let work = workspace.dir();
    put(&work.join(".gitignore"), "*\n");
    put(&work.join("hidden.txt"), "x");
    put(&work.join("hidden/.gitignore"), "*\n");
    put(&work.join("hidden/f"), "x");
    put(&work.join(".git/info/exclude"), "*\n");
    put(&work.join("ignored/still"), "ignored in the base");
    let taken = workspace.snapshot().await.unwrap();
    let paths: Vec<&str> = taken.changes.iter().map(|c| c.path.as_str()).collect();
    // A folder that marks itself as none of the project's is not delivered, so that hiding in it gains nothing.
    assert_eq!(paths, [".gitignore", "hidden.txt"]);
    let fresh = desk.path("../fresh");
    workspace.fresh(&taken.tree, &fresh).await.unwrap();
    assert!(fresh.join("hidden.txt").exists() && !fresh.join("hidden").exists());
}

#[tokio::test]
async fn ignore_rules_of_every_source_hold() {
    let desk = Desk::repository();
    put(&desk.home().join(".config/git/ignore"), "*.global\n");
    desk.write(".git/info/exclude", "*.private\n");
    desk.write(".gitignore", "*.o\n/only-here\n");
    desk.write("sub/.gitignore", "!keep.o\n/anchored\nx/y\n");
    desk.write("selfish/.gitignore", "*\n");
    desk.write("a.txt", "");
    let files = [
        ("n.global", false),
        ("n.private", false),
        ("n.o", false),
        ("sub/n.o", false),
        ("sub/keep.o", true),
        ("keep.o", false),
        ("only-here", false),
        ("sub/only-here", true),
        ("sub/anchored", false),
        ("sub/deep/anchored", true),
        ("sub/x/y", false),
        ("sub/deep/x/y", true),
        ("selfish/cache", false),
    ];
    for (path, _) in files {
        desk.write(path, "x");
    }
    let workspace = desk.workspace().await;
    for (path, counts) in files {
        assert_eq!(workspace.dir().join(path).exists(), counts, "{path} in the base");
        // What the worker makes is judged by the same rules.
        let made = path.replace("n.", "m.");
        let _ = fs::remove_file(workspace.dir().join(path));
        put(&workspace.dir().join(&made), "new");
        let taken = workspace.snapshot().await.unwrap();
        let seen = taken.changes.iter().any(|c| c.path == made);
        assert_eq!(seen, counts, "{made} made by the worker");
    }
}

#[tokio::test]
async fn restoring_repairs_any_vandalism() {
    let desk = Desk::busy();
    let workspace = desk.workspace().await;
    let work = workspace.dir();
    put(&work.join("made/by/worker.txt"), "round one");
    let taken = workspace.snapshot().await.unwrap();
    let (files, status) =
        (files_below(&work, &[".git"]), git_in(&work, &desk.home(), &["status", "--porcelain"]));
    let there = |args: &[&str]| git_in(&work, &desk.home(), args);
    // A folder where a file was, a file and a link where folders were, closed folders, new repositories.
    fs::remove_file(work.join("kept.txt")).unwrap();
    put(&work.join("kept.txt/inside/x.log"), "ignored in the way");
    fs::remove_dir_all(work.join("deep")).unwrap();
    put(&work.join("deep"), "a file");
    fs::remove_dir_all(work.join("made")).unwrap();
    symlink("/etc", work.join("made")).unwrap();
    put(&work.join("closed/f"), "x");
    fs::set_permissions(work.join("closed"), fs::Permissions::from_mode(0o500)).unwrap();
    put(&work.join("nested/f"), "x");
    git_in(&work.join("nested"), &desk.home(), &["init", "-q"]);
    there(&["checkout", "-q", "-f", "--detach"]);
    there(&["branch", "-D", "main"]);
    put(&work.join(".git/index.lock"), "");
    put(&work.join("name with spaces é.txt"), "y\n");
    workspace.restore(&taken.tree).await.unwrap();
    assert_eq!(files_below(&work, &[".git"]), files);
    assert_eq!(there(&["status", "--porcelain"]), status);
    assert_eq!(there(&["symbolic-ref", "HEAD"]), "refs/heads/main\n");
    assert_eq!(workspace.snapshot().await.unwrap(), taken);
    assert!(fs::metadata("/etc").unwrap().is_dir());
}

#[tokio::test]
async fn restoring_brings_back_a_tree_and_a_clone_that_are_gone() {
    let desk = Desk::busy();
    let workspace = desk.workspace().await;
    let files = files_below(&workspace.work(), &[".git"]);
    fs::remove_dir_all(workspace.work()).unwrap();
    assert!(matches!(workspace.snapshot().await, Err(WorkspaceError::NotADirectory { .. })));
    symlink("/", workspace.work()).unwrap();
    assert!(matches!(workspace.snapshot().await, Err(WorkspaceError::NotADirectory { .. })));
    workspace.restore(workspace.base()).await.unwrap();
    assert_eq!(files_below(&workspace.work(), &[".git"]), files);
    assert_eq!(git_in(&workspace.work(), &desk.home(), &["log", "--format=%s"]), "first\n");
}

#[tokio::test]
async fn restoring_keeps_unchanged_files_and_ignored_caches() {
    let desk = Desk::busy();
    let workspace = desk.workspace().await;
    let time = |name: &str| fs::metadata(workspace.dir().join(name)).unwrap().modified().unwrap();
    let before = time("modified.txt");
    put(&workspace.dir().join("ignored/cache"), "built");
    put(&workspace.dir().join("kept.txt"), "x");
    workspace.restore(workspace.base()).await.unwrap();
    assert_eq!(time("modified.txt"), before, "it would be built again for nothing");
    assert_eq!(fs::read_to_string(workspace.dir().join("ignored/cache")).unwrap(), "built");
}

#[tokio::test]
async fn a_workspace_is_opened_again_by_another_process() {
    let desk = Desk::busy();
    let made = desk.workspace().await;
    put(&made.dir().join("new.txt"), "new");
    let taken = made.snapshot().await.unwrap();
    drop(made);
    // What a process that died in the middle leaves behind.
    put(&desk.run("r1").join("tree/store.git/index-work.lock"), "");
    let opened = Workspace::open(desk.runner(), &desk.run("r1")).unwrap();
    assert_eq!(opened.snapshot().await.unwrap(), taken);
    opened.accept(&taken.tree).await.unwrap();
    assert_eq!(desk.read("new.txt"), "new");
}

#[tokio::test]
async fn half_a_workspace_is_refused_and_made_anew() {
    let desk = Desk::busy();
    put(&desk.run("r1").join("tree/store.git/HEAD"), "half");
    assert!(matches!(Workspace::open(desk.runner(), &desk.run("r1")), Err(WorkspaceError::Damaged { .. })));
    let workspace = desk.workspace().await;
    assert!(workspace.snapshot().await.unwrap().changes.is_empty());
    // A whole one is not overwritten.
    assert!(matches!(desk.try_create("r1", &Bring::default()).await, Err(WorkspaceError::Damaged { .. })));
}

#[tokio::test]
async fn plain_folders_and_repositories_without_commits_work_alike() {
    for desk in [Desk::plain(), Desk::repository()] {
        desk.write(".gitignore", "cache/\n");
        desk.write("cache/x", "x");
        desk.write("a/b.txt", "one\n");
        let workspace = desk.workspace().await;
        assert!(workspace.dir().join("a/b.txt").exists() && !workspace.dir().join("cache").exists());
        put(&workspace.dir().join("a/b.txt"), "two\n");
        let taken = workspace.snapshot().await.unwrap();
        assert_eq!(workspace.accept(&taken.tree).await.unwrap().paths, ["a/b.txt"]);
        assert_eq!(desk.read("a/b.txt"), "two\n");
        workspace.undo(&taken.tree).await.unwrap();
        assert_eq!(desk.read("a/b.txt"), "one\n");
    }
}

#[tokio::test]
async fn an_empty_folder_is_a_project_too() {
    for desk in [Desk::plain(), Desk::repository()] {
        let workspace = desk.workspace().await;
        put(&workspace.dir().join("first"), "x");
        let taken = workspace.snapshot().await.unwrap();
        workspace.accept(&taken.tree).await.unwrap();
        assert_eq!(desk.read("first"), "x");
        workspace.undo(&taken.tree).await.unwrap();
        assert!(!desk.path("first").exists());
    }
}

#[tokio::test]
async fn a_linked_worktree_a_shallow_clone_and_borrowed_objects_are_projects_too() {
    let desk = Desk::busy();
    let home = desk.home();
    desk.git(&["worktree", "add", "-q", "../linked", "-b", "side"]);
    let url = format!("file://{}", desk.project.display());
    git_in(&home, &home, &["clone", "-q", "--depth", "1", &url, "shallow"]);
    git_in(&home, &home, &["clone", "-q", "--shared", "project", "borrowing"]);
    for name in ["linked", "shallow", "borrowing"] {
        let project = home.join(name);
        let created = Workspace::create(desk.runner(), &project, &desk.run(name), &Bring::default()).await;
        let workspace = created.unwrap_or_else(|e| panic!("{name}: {e}")).workspace;
        let here = |dir| git_in(dir, &home, &["log", "--format=%H", "-1"]);
        assert_eq!(here(&workspace.dir()), here(&project), "{name}");
        put(&workspace.dir().join("kept.txt"), "new\n");
        let taken = workspace.snapshot().await.unwrap();
        workspace.accept(&taken.tree).await.unwrap();
        assert_eq!(fs::read_to_string(project.join("kept.txt")).unwrap(), "new\n", "{name}");
        let commit = workspace.commit(&taken.tree, &format!("by-{name}"), "m").await;
        let commit = commit.unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(git_in(&project, &home, &["show", &format!("{commit}:kept.txt")]), "new\n", "{name}");
    }
}

#[tokio::test]
async fn a_folder_inside_a_repository_gets_the_whole_repository() {
    let desk = Desk::busy();
    let inner = desk.path("deep/er");
    let created =
        Workspace::create(desk.runner(), &inner, &desk.run("inner"), &Bring::default()).await.unwrap();
    let workspace = created.workspace;
    assert_eq!(workspace.dir(), workspace.work().join("deep/er"));
    assert!(workspace.dir().join("file.rs").exists() && workspace.work().join("kept.txt").exists());
    // A folder that the repository around it knows nothing of stands by itself.
    desk.write("ignored/own/f", "x");
    let own = desk.path("ignored/own");
    let created = Workspace::create(desk.runner(), &own, &desk.run("own"), &Bring::default()).await.unwrap();
    assert!(!created.workspace.is_repository());
    assert_eq!(created.workspace.root(), own);
}

#[tokio::test]
async fn repositories_inside_are_left_out_and_named_and_of_submodules_the_files_are_there() {
    let desk = Desk::busy();
    for name in ["vendor/lib", "empty"] {
        desk.write(&format!("{name}/f"), "x");
        git_in(&desk.path(name), &desk.home(), &["init", "-q"]);
    }
    git_in(&desk.path("vendor/lib"), &desk.home(), &["add", "f"]);
    git_in(&desk.path("vendor/lib"), &desk.home(), &["commit", "-q", "-m", "x"]);
    desk.git(&["-c", "advice.addEmbeddedRepo=false", "add", "vendor/lib"]);
    desk.git(&["commit", "-q", "-m", "with a repository inside"]);
    let created = desk.try_create("r1", &Bring::default()).await.unwrap();
    assert_eq!(created.workspace.left_out(), ["empty"]);
    assert_eq!(created.workspace.brought().submodules, ["vendor/lib"]);
    let workspace = created.workspace;
    assert!(
        workspace.dir().join("vendor/lib/f").exists() && !workspace.dir().join("vendor/lib/.git").exists()
    );
    put(&workspace.dir().join("own/f"), "x");
    git_in(&workspace.dir().join("own"), &desk.home(), &["init", "-q"]);
    put(&workspace.dir().join("kept.txt"), "changed\n");
    let taken = workspace.snapshot().await.unwrap();
    assert_eq!(taken.left_out, ["own"]);
    // A commit keeps what the workspace never held.
    let commit = workspace.commit(&taken.tree, "done", "m").await.unwrap();
    let kept = |rev: &str| desk.git(&["ls-tree", rev, "vendor/lib"]);
    assert_eq!(kept(&commit), kept("HEAD"));
    assert!(kept("HEAD").contains("160000"));
}

#[tokio::test]
async fn what_is_ignored_can_be_linked_and_copied_and_never_counts() {
    let desk = Desk::busy();
    let bring = Bring {
        link: vec!["ignored".to_owned()],
        copy: vec![".env".to_owned(), "absent".to_owned()],
        ..Bring::default()
    };
    let created = desk.try_create("r1", &bring).await.unwrap();
    assert_eq!(created.missing, ["absent"]);
    let workspace = created.workspace;
    assert!(workspace.dir().join("ignored").is_symlink());
    put(&workspace.dir().join(".env"), "KEY=2\n");
    assert!(workspace.snapshot().await.unwrap().changes.is_empty());
    workspace.restore(workspace.base()).await.unwrap();
    assert!(workspace.dir().join("ignored/cache").exists());
    assert_eq!((desk.read(".env"), desk.read("ignored/cache")), ("KEY=1\n".to_owned(), "c".to_owned()));
    let tracked = Bring { link: vec!["deep".to_owned()], ..Bring::default() };
    assert!(matches!(desk.try_create("r2", &tracked).await, Err(WorkspaceError::Unusable { .. })));
}

#[tokio::test]
async fn workspaces_of_one_project_do_not_see_each_other() {
    let desk = Desk::busy();
    let nothing = Bring::default();
    let (one, two) = tokio::join!(desk.try_create("r1", &nothing), desk.try_create("r2", &nothing));
    let (one, two) = (one.unwrap().workspace, two.unwrap().workspace);
    put(&one.dir().join("kept.txt"), "one");
    put(&two.dir().join("kept.txt"), "two");
    let (first, second) = tokio::join!(one.snapshot(), two.snapshot());
    let (first, second) = (first.unwrap(), second.unwrap());
    assert_eq!(one.base(), two.base());
    assert_ne!(first.digest, second.digest);
    one.accept(&first.tree).await.unwrap();
    let refused = two.accept(&second.tree).await;
    assert!(matches!(refused, Err(WorkspaceError::Conflict { ref paths }) if paths == &["kept.txt"]));
    assert_eq!(desk.read("kept.txt"), "one");
}

#[tokio::test]
async fn files_are_read_from_the_snapshot_and_not_from_the_disk() {
    let desk = Desk::busy();
    let workspace = desk.workspace().await;
    let base = workspace.base().to_owned();
    put(&workspace.dir().join("kept.txt"), "on disk");
    let read = |path: &'static str, max| workspace.read(&base, path, max);
    assert_eq!(read("kept.txt", 100).await.unwrap().unwrap(), b"kept\n");
    assert_eq!(read("line\nbreak.txt", 100).await.unwrap().unwrap(), b"x\n");
    assert_eq!(read("lines.dos", 100).await.unwrap().unwrap(), b"one\r\ntwo\r\n");
    assert_eq!(read("none", 100).await.unwrap(), None);
    assert!(matches!(read("kept.txt", 4).await, Err(WorkspaceError::TooLarge { .. })));
    let many = workspace.read_many(&base, &["modified.txt", "none", "kept.txt"], 4).await.unwrap();
    let many: Vec<_> = many.iter().map(|s| (s.path.as_str(), s.bytes, s.content.as_deref())).collect();
    assert_eq!(many, [("kept.txt", 5, None), ("modified.txt", 4, Some(&b"new\n"[..]))]);
    assert!(workspace.read("--help", "kept.txt", 9).await.is_err());
}

#[tokio::test]
async fn a_diff_is_whole_or_refused_and_nothing_can_hide_in_it() {
    let desk = Desk::busy();
    put(&desk.home().join(".gitconfig"), "[diff]\n\tnoprefix = true\n\tcontext = 0\n\texternal = false\n");
    let workspace = desk.workspace().await;
    put(&workspace.dir().join(".gitattributes"), "*.rs -diff\n*.txt binary\n");
    put(&workspace.dir().join("deep/er/file.rs"), "fn main() { evil() }\n");
    put(&workspace.dir().join("binary.bin"), "longer\0binary");
    let taken = workspace.snapshot().await.unwrap();
    let diff = workspace.diff(workspace.base(), &taken.tree, 1 << 20).await.unwrap();
    assert!(diff.contains("--- a/deep/er/file.rs\n+++ b/deep/er/file.rs\n"), "{diff}");
    assert!(diff.contains("-fn main() {}\n+fn main() { evil() }\n"), "{diff}");
    assert!(diff.contains("\nBinary file binary.bin changed: 3 bytes before, 13 bytes after\n"), "{diff}");
    let length = diff.len() as u64;
    let short = workspace.diff(workspace.base(), &taken.tree, 100).await;
    assert!(matches!(short, Err(WorkspaceError::TooLarge { limit: 100, .. })), "of {length}");
    assert_eq!(workspace.diff(workspace.base(), workspace.base(), 100).await.unwrap(), "");
}

#[tokio::test]
async fn an_export_is_the_snapshot_and_no_repository() {
    let desk = Desk::busy();
    let workspace = desk.workspace().await;
    let to = desk.home().join("critic");
    workspace.export(workspace.base(), &to).await.unwrap();
    assert_eq!(files_below(&to, &[]), files_below(&workspace.work(), &[".git"]));
    assert!(workspace.export(workspace.base(), &to).await.is_err(), "it is not empty any more");
}

#[tokio::test]
async fn two_thousand_files_work() {
    let desk = Desk::repository();
    for n in 0..2000 {
        desk.write(&format!("d{}/f{n}", n % 50), &n.to_string());
    }
    desk.git(&["add", "-A"]);
    desk.git(&["commit", "-q", "-m", "many"]);
    let workspace = desk.workspace().await;
    for n in 0..200 {
        put(&workspace.dir().join(format!("d{}/f{n}", n % 50)), &format!("new {n}"));
    }
    let taken = workspace.snapshot().await.unwrap();
    assert_eq!(taken.changes.len(), 200);
    workspace.accept(&taken.tree).await.unwrap();
    assert_eq!(desk.read("d7/f7"), "new 7");
    workspace.restore(workspace.base()).await.unwrap();
    assert_eq!(fs::read_to_string(workspace.dir().join("d7/f7")).unwrap(), "7");
    workspace.undo(&taken.tree).await.unwrap();
    assert_eq!(desk.git(&["status", "--porcelain"]), "");
}

#[tokio::test]
async fn a_name_that_is_not_text_is_refused_by_name() {
    use std::os::unix::ffi::OsStrExt as _;
    let desk = Desk::busy();
    fs::write(desk.project.join(std::ffi::OsStr::from_bytes(b"bad\xff.txt")), "x").unwrap();
    let refused = desk.try_create("r1", &Bring::default()).await.err().unwrap().to_string();
    assert!(refused.contains("bad\u{fffd}.txt") && refused.contains("UTF-8"), "{refused}");
}

#[tokio::test]
async fn without_git_the_error_says_what_is_missing() {
    let desk = Desk::plain();
    let launcher = std::sync::Arc::new(gadfly_runtime::os::ProcessLauncher::with_supervisor(PROBE));
    let git = Git::new(launcher, [("PATH".to_owned(), "/nowhere".to_owned())]);
    let refused =
        Workspace::create(git, &desk.project, &desk.run("r"), &Bring::default()).await.err().unwrap();
    assert_eq!(refused.to_string(), "file workspaces need git: install it and put it on PATH");
    let git = runner(&desk.home());
    let refused = Workspace::create(git, &desk.path("no"), &desk.run("r"), &Bring::default()).await;
    assert!(matches!(refused.err(), Some(WorkspaceError::NotADirectory { .. })));
}

/// Files that are older than their index are known to git by size and time, and are not read again: what git keeps of them,
/// or was told of them, must not be taken for their bytes.
#[tokio::test]
async fn old_files_are_there_to_the_byte_whatever_git_keeps_of_them() {
    let desk = Desk::repository();
    desk.git(&["config", "filter.rot.clean", "tr a-z b-za"]);
    desk.git(&["config", "filter.rot.smudge", "tr b-za a-z"]);
    let files = [
        (".gitattributes", "*.dos text eol=crlf\n*.rot filter=rot\n"),
        ("lines.dos", "one\r\ntwo\r\n"),
        ("kept.rot", "abc\n"),
        ("plain.txt", "plain\n"),
        ("hidden.txt", "old\n"),
        ("changed.txt", "old\n"),
    ];
    let long_ago = std::time::SystemTime::now() - std::time::Duration::from_hours(1);
    for (path, text) in files {
        desk.write(path, text);
        let file = fs::File::options().write(true).open(desk.path(path)).unwrap();
        file.set_times(fs::FileTimes::new().set_modified(long_ago)).unwrap();
    }
    desk.git(&["add", "-A"]);
    desk.git(&["commit", "-q", "-m", "first"]);
    desk.git(&["update-index", "--assume-unchanged", "hidden.txt"]);
    for path in ["hidden.txt", "changed.txt"] {
        desk.write(path, "new\n");
    }
    let status = desk.git(&["status", "--porcelain"]);
    let workspace = desk.workspace().await;
    assert_eq!(files_below(&workspace.work(), &[".git"]), desk.files());
    let there = git_in(&workspace.dir(), &desk.home(), &["status", "--porcelain"]);
    assert!(there.contains(status.trim()), "{there}");
}
