//! The engine's checks, case by case: a change in, its findings as short lines out. Each check has a case
//! that goes red when the check is switched off, and one that it must let pass.

use super::*;

/// `path|-removed|+added|…` makes a one-hunk diff of one file.
fn file(text: &str) -> String {
    let mut parts = text.split('|');
    let path = parts.next().unwrap();
    let lines: Vec<&str> = parts.collect();
    let count = |sign: char| lines.iter().filter(|l| !l.starts_with(sign)).count();
    let (before, after) = (count('+'), count('-'));
    let mut diff = format!("--- a/{path}\n+++ b/{path}\n@@ -1,{before} +1,{after} @@\n");
    for line in lines {
        diff.push_str(line);
        diff.push('\n');
    }
    diff
}

/// `M path`, `A path`, `D path`.
fn changes(list: &[&str]) -> Vec<Change> {
    let change = |c: &&str| {
        let (status, path) = c.split_once(' ').unwrap();
        let kind = match status {
            "A" => ChangeKind::Added,
            "D" => ChangeKind::Deleted,
            _ => ChangeKind::Modified,
        };
        let (mode, binary, bytes, lines, before, after) = (0o100_644, false, 1, 1, None, None);
        Change { path: path.into(), kind, mode, binary, bytes, lines, before, after }
    };
    list.iter().map(change).collect()
}

fn found(diff: &str, changed: &[&str], scope: &[&str]) -> Vec<String> {
    let findings = run(diff, &changes(changed), &AuditScope::new(scope), &Examined::default());
    for finding in &findings {
        assert_eq!(finding.by, ENGINE);
        assert!(!finding.fix.is_empty(), "every finding says what to do");
    }
    findings.iter().map(|f| format!("{} {}", f.rule, f.shown_place().unwrap_or_default())).collect()
}

#[test]
fn markers_count_where_the_change_brought_them_in() {
    let cases: &[(&str, &[&str])] = &[
        ("a.rs|+// TODO: later", &["todo-marker a.rs:1"]),
        (
            "a.rs| x|+# FIXME(me)|+XXX|+/* HACK */|+STUB",
            &["todo-marker a.rs:2", "todo-marker a.rs:3", "todo-marker a.rs:4", "todo-marker a.rs:5"],
        ),
        ("a.rs|-// TODO: later", &[]),
        ("a.rs| // TODO: old", &[]),
        ("a.rs|+let TODOS = todo_list(); // TODO_LIST mktemp XXXXXX", &[]),
        ("a.rs|-    f(); // TODO: later|+g(); //   TODO: later", &[]),
        ("a.rs|-// TODO: one|+// TODO: one|+// TODO: one", &["todo-marker a.rs:2"]),
        ("a.rs|+todo!()", &[]),
    ];
    for (diff, expected) in cases {
        assert_eq!(found(&file(diff), &["M a.rs"], &[]), *expected, "{diff}");
    }
}

#[test]
fn a_marker_is_quoted_as_it_stands_in_the_file() {
    let findings = run(
        &file("a.rs|+    f(); // TODO: later"),
        &changes(&["M a.rs"]),
        &AuditScope::default(),
        &Examined::default(),
    );
    assert_eq!(findings[0].quote.as_deref(), Some("f(); // TODO: later"));
}

#[test]
fn files_outside_the_scope_are_named_one_by_one() {
    let changed = ["M src/a.rs", "A notes.md", "D src/deep/b.rs", "M Cargo.toml"];
    let outside = ["scope-creep notes.md", "scope-creep Cargo.toml"];
    assert_eq!(found("", &changed, &["src/**"]), outside);
    assert_eq!(found("", &changed, &[]), [""; 0], "a task without a scope has no bounds");
}

#[test]
fn a_deleted_test_file_is_found_unless_its_tests_moved() {
    let gone = file("tests/a.rs|-fn t() {|-assert!(f());|-}");
    assert_eq!(found(&gone, &["D tests/a.rs"], &[]), ["silenced-failure tests/a.rs"]);
    let moved = format!("{gone}{}", file("tests/b.rs|+fn t2() {|+    assert!(f());|+}"));
    assert_eq!(found(&moved, &["D tests/a.rs", "A tests/b.rs"], &[]), [""; 0]);
    assert_eq!(found("", &["D tests/data.bin"], &[]), ["silenced-failure tests/data.bin"], "unseen content");
    assert_eq!(found(&file("src/a.py|-x"), &["D src/a.py"], &[]), [""; 0], "no test");
}

#[test]
fn removed_assertions_are_found_unless_they_moved_or_have_a_successor() {
    let cases: &[(&str, &[&str])] = &[
        ("tests/a.py| def t():|-    assert f() == 1", &["silenced-failure tests/a.py:2"]),
        ("tests/a.py|-assert f() == 1|+    assert f()  ==  1", &[]),
        ("tests/a.py|-assert f() == 1|+assert f() == 2", &[]),
        ("tests/a.py|-assert f() == 1|+assert True", &["silenced-failure tests/a.py:1"]),
        (
            "src/a.rs|-fn t() { assert!(f()); }|+#[test] fn t() { assert!(true); }",
            &["silenced-failure src/a.rs:1"],
        ),
        ("tests/a.py|-assert f() == 1|+assert 10 == f()", &[]),
        ("tests/a.py|-assert f() == 1|+# assert f() == 1", &["silenced-failure tests/a.py:1"]),
        ("tests/a.py|-assert a|-assert b|+assert c", &["silenced-failure tests/a.py:1"]),
        ("src/lib.rs|-        assert_eq!(f(), 1);", &["silenced-failure src/lib.rs:1"]),
        ("src/lib.rs|-x.expect(\"there\");", &[]),
        ("src/a.js|-const a = require('a'); expect(a);", &[]),
    ];
    for (diff, expected) in cases {
        let path = diff.split('|').next().unwrap();
        assert_eq!(found(&file(diff), &[&format!("M {path}")], &[]), *expected, "{diff}");
    }
    let moved = format!("{}{}", file("tests/a.py|-assert a == 1"), file("tests/b.py|+assert a == 1"));
    assert_eq!(found(&moved, &["M tests/a.py", "M tests/b.py"], &[]), [""; 0], "moved to another file");
    let other = format!("{}{}", file("tests/a.py|-assert a == 1"), file("tests/b.py|+assert b == 1"));
    assert_eq!(found(&other, &["M tests/a.py", "M tests/b.py"], &[]), ["silenced-failure tests/a.py:1"]);
}

#[test]
fn a_removed_assertion_cites_nothing_that_must_still_be_there() {
    let findings = run(
        &file("tests/a.py|-assert a == 1"),
        &changes(&["M tests/a.py"]),
        &AuditScope::default(),
        &Examined::default(),
    );
    assert!(findings[0].absent && findings[0].quote.is_none());
    assert!(findings[0].says.contains("assert a == 1"));
}

#[test]
fn tests_switched_off_are_found_unless_they_were_before() {
    let off = "tests/a.rs| #[test]|+#[ignore]| fn t() {}";
    assert_eq!(found(&file(off), &["M tests/a.rs"], &[]), ["silenced-failure tests/a.rs:2"]);
    let beside = "src/a.rs|-#[test] fn t() {|+#[test] #[ignore] fn t() {";
    assert_eq!(found(&file(beside), &["M src/a.rs"], &[]), ["silenced-failure src/a.rs:1"]);
    let on = "tests/a.rs|-#[ignore]| fn t() {}";
    assert_eq!(found(&file(on), &["M tests/a.rs"], &[]), [""; 0]);
    let moved = "tests/a.rs|-#[ignore]| x|+    #[ignore]";
    assert_eq!(found(&file(moved), &["M tests/a.rs"], &[]), [""; 0]);
    let skipped = "src/a.test.ts|-it('adds', () => {|+it.skip('adds', () => {";
    assert_eq!(found(&file(skipped), &["M src/a.test.ts"], &[]), ["silenced-failure src/a.test.ts:1"]);
}

#[test]
fn a_flood_of_findings_is_bounded_and_counted() {
    let diff = format!("a.rs{}", "|+// TODO: x".repeat(1_000));
    let findings = run(&file(&diff), &changes(&["M a.rs"]), &AuditScope::default(), &Examined::default());
    assert_eq!(findings.len(), MOST_OF_A_KIND);
    assert!(findings.last().unwrap().says.contains("950 more"));
}

#[test]
fn a_file_that_was_read_is_judged_by_what_was_found_in_it() {
    let diff = file("tests/a.py|-assert f() == 1");
    let place = Location { path: "tests/a.py".into(), line: Some(1), end: None };
    let mut weaker = Finding::new(SILENCED_FAILURE, Severity::Fail, "`test_a` asserts less.", ENGINE);
    weaker.place = Some(place);
    let examined = |findings: Vec<Finding>| Examined { findings, read: vec!["tests/a.py".into()] };
    let says = |examined: &Examined| -> Vec<String> {
        let findings = run(&diff, &changes(&["M tests/a.py"]), &AuditScope::default(), examined);
        findings.into_iter().map(|f| f.says).collect()
    };
    assert_eq!(says(&examined(vec![weaker])), ["`test_a` asserts less."]);
    assert_eq!(says(&examined(Vec::new())), [""; 0], "what moved elsewhere, say");
    assert_eq!(says(&Examined::default()).len(), 1, "nobody read it");
}
