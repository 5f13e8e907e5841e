//! The guard before the user's files, without git: what it lets through and what happens without it.

use std::fs;

use super::*;

const MODE: u32 = 0o100_644;

fn state(text: &str) -> PathState {
    PathState {
        mode: MODE,
        oid: String::new(),
        digest: Digest::of(text.as_bytes()),
        bytes: text.len() as u64,
    }
}

fn change(path: &str, from: Option<&str>, to: Option<&str>) -> PathStep {
    PathStep { path: path.to_owned(), from: from.map(state), to: to.map(state) }
}

fn act(root: &Path, steps: &[PathStep], contents: &[&str], care: Care) -> (Result<(), WriteStopped>, usize) {
    let mut finished = Vec::new();
    let contents = contents.iter().map(|c| c.as_bytes().to_vec()).collect();
    let result = perform(root, &in_order(steps), contents, &leaving(steps), care, &mut finished);
    (result, finished.len())
}

#[test]
fn a_file_saved_between_the_check_and_the_write_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("f");
    let steps = [change("f", Some("old"), Some("new"))];
    fs::write(&file, "old").unwrap();
    assert!(check(dir.path(), &steps).unwrap().conflicts.is_empty());
    fs::write(&file, "the user's own edit").unwrap();
    let (result, done) = act(dir.path(), &steps, &["new"], Care::Looking);
    assert!(matches!(result, Err(WriteStopped::Conflict(ref paths)) if paths == &["f"]), "{result:?}");
    assert_eq!((fs::read_to_string(&file).unwrap().as_str(), done), ("the user's own edit", 0));
    // Sabotage: without the look the edit is lost.
    act(dir.path(), &steps, &["new"], Care::Blind).0.unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), "new");
}

#[test]
fn a_link_in_the_middle_of_a_path_is_never_followed_even_without_the_look() {
    let dir = tempfile::tempdir().unwrap();
    let (root, outside) = (dir.path().join("root"), dir.path().join("outside"));
    fs::create_dir(&root).unwrap();
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("f"), "old").unwrap();
    std::os::unix::fs::symlink(&outside, root.join("d")).unwrap();
    for to in [Some("new"), None] {
        let steps = [change("d/f", Some("old"), to)];
        let contents: &[&str] = if to.is_some() { &["new"] } else { &[] };
        assert!(act(&root, &steps, contents, Care::Blind).0.is_err());
        assert_eq!(fs::read_to_string(outside.join("f")).unwrap(), "old");
    }
}

#[test]
fn paths_that_no_tree_of_ours_can_hold_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("root");
    fs::create_dir(&root).unwrap();
    for path in ["../f", "a/../../f", "/f", ".git/config", "a/.GIT/config", "", "a//f", "./f"] {
        let steps = [change(path, None, Some("x"))];
        assert!(act(&root, &steps, &["x"], Care::Blind).0.is_err(), "{path:?}");
        assert!(check(&root, &steps).is_err(), "{path:?}");
    }
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    assert_eq!(fs::read_dir(&root).unwrap().filter(|e| e.as_ref().unwrap().path().is_file()).count(), 0);
}

#[test]
fn what_stands_in_the_way_goes_first_and_other_removals_last() {
    let steps = [
        change("a", Some("1"), None),
        change("b", Some("1"), None),
        change("b/c", None, Some("1")),
        change("d", None, Some("1")),
        change("d/e", Some("1"), None),
    ];
    let order: Vec<String> = in_order(&steps).into_iter().map(|s| s.path).collect();
    assert_eq!(order, ["b", "d/e", "b/c", "d", "a"]);
}

#[test]
fn no_temporary_file_is_left_when_a_write_fails() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("f/full")).unwrap();
    let mut checkout = Checkout::open(dir.path()).unwrap();
    assert!(checkout.put_file("f", b"x", false).is_err(), "a folder is in its place");
    assert!(checkout.put_link("f", b"x").is_err());
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}
