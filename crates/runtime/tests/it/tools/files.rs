//! Reading, writing, editing, listing and searching files of the run's folder.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use gadfly_engine::Text;
use gadfly_engine::tool::{SHOWN, ToolAction, ToolUse};

use crate::tools::stage::Stage;

#[tokio::test]
async fn a_file_is_written_read_and_edited_and_the_checkout_stays_as_it_is() {
    let stage = Stage::new();
    assert_eq!(
        stage.write("./src//new/mod.rs", "mod a;\n").await.well(),
        "wrote 7 bytes to ./src//new/mod.rs\n"
    );
    assert_eq!(stage.read("src/new/mod.rs").await.well(), "1\tmod a;\n");
    let said = stage.edit("a.txt", "two", "2 and\nmore", false).await;
    assert_eq!(said.well(), "changed a.txt in one place\n@ line 2\n-two\n+2 and\n+more\n");
    let work = stage.work().await;
    assert_eq!(fs::read_to_string(work.join("a.txt")).unwrap(), "one\n2 and\nmore\nthree\n");
    assert_eq!(fs::read_to_string(stage.at("project/a.txt")).unwrap(), "one\ntwo\nthree\n");
    assert!(!stage.at("project/src/new").exists());
}

#[tokio::test]
async fn a_file_keeps_its_mode_and_nothing_is_left_beside_it() {
    let stage = Stage::new();
    let work = stage.work().await;
    fs::set_permissions(work.join("a.txt"), fs::Permissions::from_mode(0o750)).unwrap();
    stage.write("a.txt", "#!/bin/sh\n").await.well();
    stage.edit("a.txt", "sh", "bash", false).await.well();
    assert_eq!(fs::metadata(work.join("a.txt")).unwrap().permissions().mode() & 0o777, 0o750);
    let names: Vec<_> =
        fs::read_dir(&work).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    assert!(names.iter().all(|name| !name.starts_with(".gadfly")), "{names:?}");
}

#[tokio::test]
async fn what_a_killed_write_left_is_put_away_by_the_next_and_never_followed() {
    let stage = Stage::new();
    let work = stage.work().await;
    let name = gadfly_engine::Digest::of(b"a.txt").to_string();
    let left = work.join(format!(".gadfly-{}", &name[..16]));
    fs::write(&left, "half").unwrap();
    stage.write("a.txt", "whole\n").await.well();
    assert!(!left.exists());
    let outside = stage.at("project/a.txt");
    std::os::unix::fs::symlink(&outside, &left).unwrap();
    stage.write("a.txt", "whole again\n").await.well();
    assert_eq!(fs::read_to_string(work.join("a.txt")).unwrap(), "whole again\n");
    assert_eq!(fs::read_to_string(outside).unwrap(), "one\ntwo\nthree\n");
    assert!(!left.is_symlink());
}

#[tokio::test]
async fn an_edit_that_cannot_be_meant_changes_nothing_and_says_why() {
    let stage = Stage::new();
    let work = stage.work().await;
    fs::write(work.join("twice"), "x = 1\ny = 2\nx = 1\n").unwrap();
    fs::write(work.join("dos"), "a\r\nb\r\n").unwrap();
    let cases = [
        ("none.txt", "a", "b", "there is no file `none.txt`: write_file makes one"),
        ("no/such/folder.txt", "a", "b", "there is no file `no/such/folder.txt`"),
        ("src", "a", "b", "not a file"),
        ("a.txt", "four", "b", "does not occur"),
        ("a.txt", "  two\n  three", "b", "its first line is line 2"),
        ("twice", "x = 1", "x = 3", "occurs 2 times in `twice`, in lines 1, 3"),
        ("dos", "a\nb", "c", "end with \\r\\n"),
        ("a.txt", "", "b", "empty"),
        ("a.txt", "one", "one", "nothing to change"),
    ];
    for (path, old, new, why) in cases {
        let came = stage.edit(path, old, new, false).await;
        assert!(came.refused().contains(why), "{path}: {}", came.shown);
    }
    assert_eq!(fs::read_to_string(work.join("twice")).unwrap(), "x = 1\ny = 2\nx = 1\n");
    assert!(stage.edit("twice", "x = 1", "x = 3", true).await.well().contains("2 places"));
    assert_eq!(fs::read_to_string(work.join("twice")).unwrap(), "x = 3\ny = 2\nx = 3\n");
    fs::write(work.join("latin"), b"caf\xe9 = 1\n").unwrap();
    stage.edit("latin", "= 1", "= 2", false).await.well();
    assert_eq!(fs::read(work.join("latin")).unwrap(), b"caf\xe9 = 2\n", "other bytes stay what they are");
}

#[tokio::test]
async fn what_a_model_gets_to_see_of_files_is_bounded() {
    let stage = Stage::new();
    let work = stage.work().await;
    for n in 0..700 {
        fs::write(work.join(format!("file-{n:04}.txt")), format!("needle {n} in a line of some length\n"))
            .unwrap();
    }
    fs::write(work.join("binary"), b"needle\0needle").unwrap();
    fs::create_dir(work.join("cache")).unwrap();
    fs::write(work.join("cache/hidden"), "needle\n").unwrap();
    let listed = stage.list("").await;
    assert!(listed.shown.len() <= SHOWN && listed.done().bytes > SHOWN as u64);
    let rest = stage.action(ToolAction::ReadFile { path: "output:1".into(), from: 495, lines: 10 }).await;
    assert!(
        rest.well().contains("[at least") || rest.well().contains(" more; list a folder below"),
        "{}",
        rest.shown
    );
    let found = stage
        .perform(
            ToolUse::new(ToolAction::SearchFiles { pattern: "needle".into(), path: String::new() }, 2),
            &[],
        )
        .await;
    assert!(found.shown.starts_with("file-0000.txt:1: needle 0 in a line"), "{}", found.shown);
    let rest = stage.action(ToolAction::ReadFile { path: "output:2".into(), from: 199, lines: 10 }).await;
    assert!(
        rest.well().contains(
            "200\tfile-0199.txt:1: needle 199 in a line of some length\n201\t[and more than these 200"
        ),
        "{}",
        rest.shown
    );
}

#[tokio::test]
async fn lists_and_searches_leave_out_what_is_ignored() {
    let stage = Stage::new();
    let work = stage.work().await;
    fs::create_dir_all(work.join("src/deep/cache")).unwrap();
    fs::create_dir_all(work.join(".git")).unwrap();
    fs::write(work.join(".git/config"), "needle\n").unwrap();
    fs::write(work.join("x.log"), "needle\n").unwrap();
    fs::write(work.join("src/deep/cache/x"), "needle\n").unwrap();
    fs::write(work.join("src/deep/kept.txt"), "a\r\na needle\r\n").unwrap();
    fs::write(work.join("src/deep/.gitignore"), "kept.*\n!kept.txt\n").unwrap();
    fs::write(work.join("src/deep/kept.bin"), "needle").unwrap();
    fs::write(work.join("a\nb"), "needle").unwrap();
    let listed = stage.list(".").await;
    let expected = ".gitignore  12 B\na\u{fffd}b  6 B\na.txt  14 B\nsrc/\nsrc/deep/\nsrc/main.rs  13 B\n\
                    src/deep/.gitignore  17 B\nsrc/deep/kept.txt  13 B\n";
    assert_eq!(listed.well(), expected);
    assert_eq!(stage.list("src/deep").await.well(), "src/deep/.gitignore  17 B\nsrc/deep/kept.txt  13 B\n");
    assert_eq!(
        stage.search("need.e$", "").await.well(),
        "a\u{fffd}b:1: needle\nsrc/deep/kept.txt:2: a needle\n"
    );
    assert_eq!(
        stage.search("^needle", "x.log").await.well(),
        "x.log:1: needle\n",
        "who names a file means it"
    );
    assert_eq!(stage.search("nothing", "src").await.well(), "[no line matches]\n");
}

#[tokio::test]
async fn a_pattern_that_is_none_or_would_be_too_much_is_an_error_and_no_pattern_takes_for_ever() {
    let stage = Stage::new();
    let work = stage.work().await;
    fs::write(work.join("as"), "a".repeat(200_000) + "!").unwrap();
    for pattern in ["(", "[z-a]", "", "(((a{100}){100}){100}){100}", &"x".repeat(5000), "(?P<n>a)(?P<n>b)"] {
        assert!(stage.search(pattern, "").await.refused().contains("pattern"), "{pattern:.40}");
    }
    // Patterns of this kind take an engine that goes back and forth longer than the world will last.
    for pattern in ["^(a+)+$", "^(a|a)*b$", "(.*)*x"] {
        stage.search(pattern, "as").await.well();
    }
}

#[tokio::test]
async fn a_file_outside_is_reached_only_if_a_person_allowed_it_and_never_through_a_link() {
    let stage = Stage::new();
    let (precious, link) = (stage.at("elsewhere/precious"), stage.at("elsewhere/link"));
    std::os::unix::fs::symlink(&precious, &link).unwrap();
    let read = |path: &std::path::Path, beyond| {
        let action = ToolAction::ReadFile { path: path.to_str().unwrap().into(), from: 1, lines: 0 };
        stage.perform(ToolUse { beyond, ..ToolUse::new(action, 1) }, &[])
    };
    assert_eq!(read(&precious, true).await.well(), "1\tprecious\n");
    read(&link, true).await.refused();
    read(&stage.at("elsewhere/../elsewhere/precious"), true).await.refused();
    let text = Text::new("new".to_owned());
    for (path, well) in [(&link, false), (&precious, true)] {
        let action = ToolAction::WriteFile { path: path.to_str().unwrap().into(), content: text.digest() };
        let came = stage.perform(ToolUse { beyond: true, ..ToolUse::new(action, 1) }, &[&text]).await;
        assert_eq!(came.done().is_error(), !well, "{}", came.shown);
        assert_eq!(fs::read_to_string(&precious).unwrap(), if well { "new" } else { "precious\n" });
    }
    // What a person agreed to is a place, and a folder on the way may be turned elsewhere afterwards.
    let (agreed, turned) = (stage.at("elsewhere/agreed"), stage.at("home"));
    std::os::unix::fs::symlink(&turned, &agreed).unwrap();
    let action =
        ToolAction::WriteFile { path: agreed.join("x").to_str().unwrap().into(), content: text.digest() };
    let came = stage.perform(ToolUse { beyond: true, ..ToolUse::new(action, 1) }, &[&text]).await;
    let there = turned.canonicalize().unwrap().join("x");
    assert!(
        came.shown.contains(&format!("a link leads from there to `{}`", there.display())),
        "{}",
        came.shown
    );
    assert!(came.done().is_error() && !there.exists());
    assert!(!stage.at("store/runs/one/tree").exists(), "no folder is made for it");
    assert!(read(&precious, false).await.refused().contains("from the run's folder"));
}
