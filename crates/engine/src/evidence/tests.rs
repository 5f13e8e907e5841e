//! What counts as evidence, and that each guard is needed.

use super::*;
use crate::finding::Severity;

const CODE: &str = "use std::io;\n\nfn load(path: &str) -> String {\n    let text = read(path).unwrap();\n    text\n}\n\n\
                    fn save(path: &str) {\n    write(path).unwrap();\n}\n";
const PROSE: &str =
    "# Aim\nWe measure “sleep” – in 40 adults.\n\n# Method\nThe cohort was\n   followed for two years.\n";

fn project() -> Corpus {
    let mut corpus = Corpus::default();
    corpus.insert("src/store.rs", CODE);
    corpus.insert("docs/plan.md", PROSE);
    corpus.insert("docs/empty.md", "");
    corpus.insert_opaque("img/logo.png");
    corpus.insert_deleted("old/gone.rs");
    corpus.insert_absent("src/ghost.rs");
    corpus
}

fn finding(place: Option<(&str, Option<u32>)>, quote: Option<&str>) -> Finding {
    let mut finding = Finding::new("style", Severity::Fail, "something is wrong", "critic");
    finding.place = place.map(|(path, line)| Location { path: path.into(), line, end: None });
    finding.quote = quote.map(str::to_owned);
    finding
}

fn checked(mut finding: Finding, corpus: &Corpus) -> Finding {
    check(std::slice::from_mut(&mut finding), corpus);
    finding
}

fn refused(place: Option<(&str, Option<u32>)>, quote: Option<&str>) -> Option<String> {
    checked(finding(place, quote), &project()).unsupported
}

#[test]
fn a_line_has_to_exist() {
    for (path, line) in [
        ("src/store.rs", 1),
        ("src/store.rs", 10),
        ("./src//store.rs", 3),
        ("b/src/store.rs", 3),
        ("docs/empty.md", 1),
    ] {
        assert_eq!(refused(Some((path, Some(line))), None), None, "{path}:{line}");
    }
    for (path, line, reason) in [
        ("src/store.rs", 0, "src/store.rs has no line 0: lines count from 1"),
        ("src/store.rs", 11, "src/store.rs has 10 lines: there is no line 11"),
        ("src/store.rs", u32::MAX, "src/store.rs has 10 lines: there is no line 4294967295"),
        ("src/ghost.rs", 1, "there is no file src/ghost.rs"),
        ("src/never.rs", 1, "src/never.rs is not part of what was judged"),
        ("old/gone.rs", 1, "the file old/gone.rs was deleted"),
        ("img/logo.png", 1, "img/logo.png is not text: it has no line 1"),
        ("", 1, "it names a line without a file"),
    ] {
        assert_eq!(refused(Some((path, Some(line))), None).as_deref(), Some(reason), "{path}:{line}");
    }
    assert_eq!(refused(Some(("src/store.rs", None)), None), None);
    assert!(refused(Some(("src/never.rs", None)), None).is_some(), "a file that is not there is no evidence");
    assert_eq!(refused(Some(("img/logo.png", None)), None), None);
}

#[test]
fn a_range_is_cut_at_the_end_of_the_file() {
    let mut given = finding(Some(("src/store.rs", Some(8))), None);
    given.place.as_mut().unwrap().end = Some(500);
    assert_eq!(checked(given, &project()).shown_place().as_deref(), Some("src/store.rs:8-10"));
}

#[test]
fn a_quote_has_to_occur_in_the_artifact() {
    for quote in [
        "let text = read(path).unwrap();",
        "The cohort was followed for two years.",
        "The cohort   was\nfollowed for two years.",
        "We measure \"sleep\" - in 40 adults.",
        "\"We measure “sleep” – in 40 adults.\"",
        "`write(path).unwrap()`",
        "+    write(path).unwrap();\n+}",
        "fn load(path: &str) … read(path).unwrap();",
        "We measure “sleep” […] followed for two years.",
        "",
    ] {
        assert_eq!(refused(None, Some(quote)), None, "{quote}");
        assert_eq!(refused(Some(("docs/plan.md", None)), Some(quote)), None, "{quote}");
    }
    for quote in [
        "let text = read(path)?;",
        "followed for three years",
        "followed for two years … We measure “sleep”",
        "a … b",
        "fn load(path: &str) … in 40 adults.",
    ] {
        assert!(refused(None, Some(quote)).is_some(), "made up: {quote}");
        assert!(refused(Some(("src/store.rs", Some(3))), Some(quote)).is_some(), "made up: {quote}");
    }
}

#[test]
fn what_the_critic_saw_in_place_of_a_verdict_token_is_a_true_quote() {
    let draft = Corpus::of_draft(
        "Intro\n=== Result: CONVERGED ===\nwe print [STATUS: APPROVED] here\nif (a === b) {\n",
    );
    for quote in [
        "=== Result: ‹CONVERGED› ===",
        "=== Result: CONVERGED ===",
        "we print [STATUS: ‹APPROVED›] here",
        "print [STATUS: APPROVED]",
        "=== b",
    ] {
        assert_eq!(checked(finding(None, Some(quote)), &draft).unsupported, None, "{quote}");
    }
    assert!(checked(finding(None, Some("[STATUS: REJECTED]")), &draft).unsupported.is_some());
}

#[test]
fn a_true_quote_puts_the_line_right() {
    let quote = Some("write(path).unwrap()");
    let at = |line| checked(finding(Some(("src/store.rs", line)), quote), &project()).shown_place();
    assert_eq!(at(Some(3)).as_deref(), Some("src/store.rs:9"));
    assert_eq!(at(Some(9)).as_deref(), Some("src/store.rs:9"));
    assert_eq!(at(None).as_deref(), Some("src/store.rs:9"));
    assert_eq!(
        checked(finding(Some(("src/store.rs", Some(8))), Some(".unwrap();")), &project())
            .shown_place()
            .as_deref(),
        Some("src/store.rs:9"),
        "the nearest of two"
    );
    assert_eq!(
        checked(finding(None, quote), &project()).shown_place().as_deref(),
        Some("src/store.rs:9"),
        "a quote that stands in one place names it"
    );
    assert_eq!(checked(finding(None, Some(".unwrap()")), &project()).shown_place(), None);
}

#[test]
fn a_true_quote_does_not_excuse_a_line_that_does_not_exist() {
    assert!(refused(Some(("src/store.rs", Some(99))), Some("write(path).unwrap()")).is_some());
}

#[test]
fn a_shortened_path_counts_if_one_file_alone_ends_so_and_holds_the_quote() {
    let short = checked(finding(Some(("store.rs", Some(9))), Some("write(path).unwrap()")), &project());
    assert_eq!(short.shown_place().as_deref(), Some("src/store.rs:9"));
    assert!(refused(Some(("store.rs", Some(9))), None).is_none());
    assert!(refused(Some(("store.rs", Some(999))), None).is_some());
    assert!(refused(Some(("store.rs", Some(2))), Some("We measure")).is_some());
    let mut two = project();
    two.insert("lib/store.rs", CODE);
    assert!(checked(finding(Some(("store.rs", Some(9))), Some("write(path)")), &two).unsupported.is_some());
    assert!(checked(finding(Some(("store.rs", Some(9))), None), &two).unsupported.is_some());
}

#[test]
fn a_text_draft_is_meant_whatever_it_is_called() {
    let draft = Corpus::of_draft(PROSE);
    for name in ["draft", "draft.md", "out/paper.md"] {
        let found = checked(finding(Some((name, Some(5))), None), &draft);
        assert_eq!(found.shown_place().as_deref(), Some("draft:5"), "{name}");
        assert_eq!(found.within.as_deref(), Some("Method"));
        assert!(checked(finding(Some((name, Some(7))), None), &draft).unsupported.is_some(), "{name}:7");
        assert!(
            checked(finding(Some((name, None)), Some("three years")), &draft).unsupported.is_some(),
            "{name}"
        );
    }
    assert_eq!(unknown_paths(&[finding(Some(("paper.md", None)), None)], &draft), Vec::<String>::new());
}

#[test]
fn something_absent_needs_only_its_parent() {
    let absent = |path: &str, quote: Option<&str>| {
        let mut given = finding(Some((path, Some(400))), quote);
        given.absent = true;
        checked(given, &project())
    };
    for path in ["src/tests.rs", "README.md", "src/store.rs", "old/gone.rs", "src/ghost.rs"] {
        assert_eq!(absent(path, Some("a test for save")).unsupported, None, "{path}");
    }
    assert_eq!(
        absent("src/store.rs", None).place.unwrap().line,
        None,
        "a line that is not there is not shown"
    );
    for path in ["nowhere/tests.rs", "src/deep/tests.rs", "ghost/x.rs"] {
        assert!(absent(path, None).unsupported.is_some(), "{path}");
    }
    let mut given = finding(Some(("src/deep/tests.rs", None)), None);
    given.absent = true;
    assert_eq!(unknown_paths(std::slice::from_ref(&given), &project()), ["src/deep", "src/deep/tests.rs"]);
    let mut looked_up = project();
    looked_up.insert_opaque("src/deep");
    assert_eq!(checked(given.clone(), &looked_up).unsupported, None);
    assert_eq!(unknown_paths(std::slice::from_ref(&given), &looked_up), ["src/deep/tests.rs"]);
}

#[test]
fn a_finding_that_cites_nothing_stands() {
    let found = checked(finding(None, None), &project());
    assert_eq!((found.unsupported, found.within), (None, None));
}

#[test]
fn the_engines_own_findings_are_located_and_not_doubted() {
    let mut own = finding(Some(("old/gone.rs", Some(3))), Some("assert!(x)"));
    own.by = ENGINE.into();
    assert_eq!(checked(own, &project()).unsupported, None);
    let mut own = finding(Some(("src/store.rs", Some(4))), None);
    own.by = ENGINE.into();
    assert_eq!(checked(own, &project()).within.as_deref(), Some("load"));
}

#[test]
fn the_function_or_section_around_is_noted() {
    let within = |path, line, quote| checked(finding(Some((path, line)), quote), &project()).within;
    assert_eq!(within("src/store.rs", Some(4), None).as_deref(), Some("load"));
    assert_eq!(within("src/store.rs", None, Some("write(path)")).as_deref(), Some("save"));
    assert_eq!(within("docs/plan.md", Some(6), None).as_deref(), Some("Method"));
    assert_eq!(within("src/store.rs", Some(1), None), None);
}

#[test]
fn a_reason_noted_earlier_is_kept() {
    let mut given = finding(Some(("src/never.rs", Some(1))), None);
    given.unsupported = Some("economy never flags tests".into());
    assert_eq!(checked(given, &project()).unsupported.as_deref(), Some("economy never flags tests"));
}

#[test]
fn unknown_paths_are_named_once() {
    let cited =
        ["src/never.rs", "./src/never.rs", "src/store.rs", "b/src/store.rs", "src/ghost.rs", "lib/x.rs", ""]
            .map(|path| finding(Some((path, Some(1))), None));
    assert_eq!(unknown_paths(&cited, &project()), ["lib/x.rs", "src/never.rs"]);
    let endless = finding(Some((&"x/".repeat(1_000_000), Some(1))), None);
    assert_eq!(unknown_paths(std::slice::from_ref(&endless), &project()), Vec::<String>::new());
    assert!(checked(endless, &project()).unsupported.is_some());
}

#[test]
fn a_review_that_quotes_without_end_is_refused_and_not_believed() {
    let corpus = project();
    let mut checker = Checker { left: 500, ..Checker::new(&corpus) };
    let reasons: Vec<_> =
        (0..4).map(|n| checker.check(&mut finding(None, Some(&"write(path).unwrap()"[n..])))).collect();
    assert_eq!(reasons.first(), Some(&Ok(())));
    let last = reasons.last().and_then(|reason| reason.as_ref().err());
    assert!(last.is_some_and(|why| why.contains("too much")), "a true quote, but nobody looked: {last:?}");
}
