//! A `.gadfly` that came with the repository and is a link, or has links in it.

use std::fs;
use std::os::unix::fs::symlink;

use crate::cloned::desk::Desk;

const RUN: [&str; 9] = ["run", "Write.", "--worker", "w", "--critic", "c", "--criterion", "x", "--yes"];

fn desk() -> Desk {
    let desk = Desk::folder(&[("gadfly.toml", "")]);
    desk.saying("w", &["A draft."]);
    desk.saying("c", &["[STATUS: APPROVED]"]);
    desk
}

#[test]
fn a_store_that_is_a_link_is_refused_before_anything_is_written() {
    let desk = desk();
    let away = desk.beside("away");
    fs::create_dir_all(away.join("runs/abcdefghjk")).unwrap();
    fs::write(away.join("runs/abcdefghjk/theirs"), "precious").unwrap();
    symlink("../away", desk.path(".gadfly")).unwrap();
    for args in [&RUN[..], &["gc", "--older-than", "0", "--apply"], &["runs"], &["serve"], &["doctor"]] {
        let said = desk.gadfly(args);
        assert_ne!(said.code, 0, "{args:?}: {said:?}");
        let told = said.err.clone() + &said.out;
        assert!(told.contains("is a link") && told.contains("../away"), "{args:?}: {said:?}");
        let left: Vec<_> = fs::read_dir(&away).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(left, ["runs"], "{args:?}");
        assert!(away.join("runs/abcdefghjk/theirs").exists(), "{args:?}");
    }
    // A folder the user names is the user's business.
    let said = desk.gadfly(&[&["--store", away.to_str().unwrap()], &RUN[..]].concat());
    assert_eq!(said.code, 0, "{said:?}");
    let gc = ["--store", away.to_str().unwrap(), "gc", "--older-than", "0", "--apply"];
    assert_eq!(desk.gadfly(&gc).code, 0);
    assert!(away.join("runs/abcdefghjk/theirs").exists(), "no run of ours was ever there");
}

#[test]
fn links_inside_a_store_are_refused_too() {
    let desk = desk();
    assert_eq!(desk.gadfly(&RUN).code, 0);
    let away = desk.beside("away");
    fs::rename(desk.path(".gadfly/runs"), &away).unwrap();
    symlink("../../away", desk.path(".gadfly/runs")).unwrap();
    for args in [&RUN[..], &["gc", "--older-than", "0", "--apply"]] {
        let said = desk.gadfly(args);
        assert_eq!(said.code, 2, "{args:?}: {said:?}");
        assert!(said.err.contains("is a link"), "{args:?}: {}", said.err);
    }
    assert_eq!(fs::read_dir(&away).unwrap().count(), 1, "nothing was made or removed there");
}
