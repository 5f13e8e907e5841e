//! Projects and workers that want commands run for them.

use std::fs;

use gadfly_runtime::workspace::Workspace;

use crate::workspace::support::{Desk, git_in, put};

/// Everything in a repository's configuration that git may run by itself.
fn poison(desk: &Desk, config: &std::path::Path) {
    let mark = desk.home().join("pwned");
    let touch = format!("touch {}", mark.display());
    let hooks = desk.home().join("hooks");
    for hook in [
        "post-checkout",
        "post-index-change",
        "reference-transaction",
        "pre-commit",
        "post-commit",
        "pre-auto-gc",
    ] {
        let path = hooks.join(hook);
        put(&path, &format!("#!/bin/sh\n{touch}\n"));
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }
    let mut text = fs::read_to_string(config).unwrap_or_default();
    let poisoned = format!(
        "[core]\n\tfsmonitor = \"{touch}; true\"\n\thooksPath = {hooks}\n\tsshCommand = \"{touch}\"\n\tpager = \"{touch}\"\n\
         \talternateRefsCommand = \"{touch}\"\n\
         [filter \"evil\"]\n\tclean = \"{touch}; cat\"\n\tsmudge = \"{touch}; cat\"\n\trequired = true\n\
         [filter \"two\\nlines\"]\n\tprocess = \"{touch}\"\n\
         [diff]\n\texternal = \"{touch}\"\n[diff \"x\"]\n\ttextconv = \"{touch}; cat\"\n\
         [gpg]\n\tprogram = \"{touch}\"\n[commit]\n\tgpgSign = true\n",
        hooks = hooks.display()
    );
    text.push_str(&poisoned);
    fs::write(config, text).unwrap();
}

async fn use_everything(workspace: &Workspace) {
    put(&workspace.dir().join("kept.txt"), "changed\n");
    let taken = workspace.snapshot().await.unwrap();
    workspace.diff(workspace.base(), &taken.tree, 1 << 20).await.unwrap();
    workspace.restore(workspace.base()).await.unwrap();
    workspace.accept(&taken.tree).await.unwrap();
    workspace.undo(&taken.tree).await.unwrap();
    workspace.commit(&taken.tree, "done", "m").await.unwrap();
}

#[tokio::test]
async fn nothing_that_the_projects_configuration_names_is_run() {
    let desk = Desk::busy();
    poison(&desk, &desk.path(".git/config"));
    let workspace = desk.workspace().await;
    use_everything(&workspace).await;
    let mark = desk.home().join("pwned");
    assert!(!mark.exists(), "a command from the project's configuration was run");
    // Sabotage: git used in the plain way runs them, so the poison is real.
    git_in(&desk.project, &desk.home(), &["status", "--porcelain"]);
    assert!(mark.exists());
}

#[tokio::test]
async fn nothing_that_the_worker_configures_is_run() {
    let desk = Desk::busy();
    let workspace = desk.workspace().await;
    poison(&desk, &workspace.work().join(".git/config"));
    put(&workspace.dir().join(".gitattributes"), "* filter=evil diff=x\n");
    fs::remove_file(workspace.dir().join(".gitattributes")).unwrap();
    put(&workspace.work().join(".git/info/attributes"), "* filter=evil diff=x\n");
    use_everything(&workspace).await;
    let mark = desk.home().join("pwned");
    assert!(!mark.exists(), "a command from the worker's configuration was run");
    poison(&desk, &workspace.work().join(".git/config"));
    git_in(&workspace.work(), &desk.home(), &["status", "--porcelain"]);
    assert!(mark.exists(), "sabotage: the poison is real");
}

#[tokio::test]
async fn a_configuration_that_moves_the_work_tree_moves_nothing() {
    let desk = Desk::busy();
    put(&desk.home().join("victim/secret"), "x");
    desk.git(&["config", "core.worktree", desk.home().join("victim").to_str().unwrap()]);
    let workspace = desk.workspace().await;
    assert!(workspace.dir().join("kept.txt").exists() && !workspace.dir().join("secret").exists());
}

#[tokio::test]
async fn a_pipe_and_a_closed_folder_in_the_tree_do_not_stop_a_snapshot() {
    let desk = Desk::busy();
    let workspace = desk.workspace().await;
    let pipe = workspace.dir().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    put(&workspace.dir().join("closed/f"), "x");
    let closed = workspace.dir().join("closed");
    fs::set_permissions(&closed, std::os::unix::fs::PermissionsExt::from_mode(0o000)).unwrap();
    let taken = workspace.snapshot().await.unwrap();
    let paths: Vec<&str> = taken.changes.iter().map(|c| c.path.as_str()).collect();
    assert_eq!(paths, ["closed/f"]);
    workspace.restore(workspace.base()).await.unwrap();
    assert!(!closed.join("f").exists());
}

/// Every file below that is another name of one of these.
fn shared_with(users: &std::path::Path, below: &std::path::Path) -> Vec<std::path::PathBuf> {
    use std::os::unix::fs::MetadataExt as _;
    let walk = |root: &std::path::Path| {
        let (mut files, mut waiting) = (Vec::new(), vec![root.to_owned()]);
        while let Some(dir) = waiting.pop() {
            for entry in fs::read_dir(dir).unwrap() {
                let path = entry.unwrap().path();
                let meta = fs::symlink_metadata(&path).unwrap();
                if meta.is_dir() {
                    waiting.push(path);
                } else {
                    files.push((path, (meta.dev(), meta.ino())));
                }
            }
        }
        files
    };
    let theirs: std::collections::HashSet<_> = walk(users).into_iter().map(|(_, id)| id).collect();
    walk(below).into_iter().filter(|(_, id)| theirs.contains(id)).map(|(path, _)| path).collect()
}

/// What a worker in its own folder can do to objects: make them writable and write over them.
fn overwrite(files: &[std::path::PathBuf]) {
    use std::os::unix::fs::PermissionsExt as _;
    for file in files {
        fs::set_permissions(file, fs::Permissions::from_mode(0o644)).unwrap();
        fs::write(file, "garbage").unwrap();
    }
}

#[tokio::test]
async fn a_worker_that_overwrites_every_object_it_has_leaves_the_users_repository_whole() {
    let desk = Desk::busy();
    let workspace = desk.workspace().await;
    let (users, own) = (desk.path(".git/objects"), workspace.work().join(".git"));
    assert_eq!(shared_with(&users, &workspace.work()), Vec::<std::path::PathBuf>::new());
    assert!(!shared_with(&users, &workspace.objects()).is_empty(), "they are shared where nobody writes");
    assert!(!workspace.objects().starts_with(workspace.work()));
    // The worker's repository is whole all the same, and makes objects of its own.
    let log = |desk: &Desk| {
        crate::workspace::support::git_in(&workspace.work(), &desk.home(), &["log", "--all", "--oneline"])
    };
    assert!(log(&desk).contains("first"));
    put(&workspace.dir().join("kept.txt"), "committed by the worker\n");
    crate::workspace::support::git_in(&workspace.work(), &desk.home(), &["commit", "-qam", "mine"]);
    let every = files_in(&own.join("objects"));
    assert!(!every.is_empty());
    overwrite(&every);
    desk.git(&["fsck", "--full", "--strict"]);
    // Sabotage: with the hard links in the worker's folder, as they once were, the same act destroys the user's.
    let linked = own.join("objects/linked");
    fs::create_dir(&linked).unwrap();
    for file in files_in(&users) {
        fs::hard_link(&file, linked.join(file.file_name().unwrap())).unwrap();
    }
    overwrite(&shared_with(&users, &workspace.work()));
    let broken =
        std::process::Command::new("git").args(["fsck", "--full"]).current_dir(&desk.project).output();
    assert!(!broken.unwrap().status.success(), "the test would not notice");
}

#[tokio::test]
async fn what_a_worker_did_to_where_its_objects_come_from_is_put_back_and_nothing_is_written_through_a_link()
{
    let desk = Desk::busy();
    let workspace = desk.workspace().await;
    let base = workspace.snapshot().await.unwrap().tree;
    let (info, outside) = (workspace.work().join(".git/objects/info"), desk.home().join("outside"));
    fs::create_dir(&outside).unwrap();
    fs::remove_dir_all(&info).unwrap();
    std::os::unix::fs::symlink(&outside, &info).unwrap();
    workspace.restore(&base).await.unwrap();
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0, "written through a link");
    crate::workspace::support::git_in(&workspace.work(), &desk.home(), &["log", "--all", "--oneline"]);
}

fn files_in(root: &std::path::Path) -> Vec<std::path::PathBuf> {
    crate::workspace::support::files_below(root, &["info"]).into_keys().map(|name| root.join(name)).collect()
}
