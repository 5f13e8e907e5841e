//! Projects and workers that want commands run for them.

use std::fs;

use gadfly_runtime::workspace::Workspace;

use crate::support::{Desk, git_in, put};

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
