//! What may be wrong with a criterion, and how it reads.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::*;

fn shell(command: &str) -> Criterion {
    Criterion::Shell { command: command.to_owned(), exit_code: 0, timeout_ms: 1000, evidence: Vec::new() }
}

fn file(path: &str, check: FileCheck) -> Criterion {
    Criterion::File { path: path.to_owned(), check }
}

fn json(file: &str, predicate: &str) -> Criterion {
    Criterion::Json { file: file.to_owned(), predicate: predicate.to_owned() }
}

fn http(url: &str, status: u16) -> Criterion {
    Criterion::Http { url: url.to_owned(), status, contains: None }
}

#[test]
fn what_could_never_be_checked_is_refused_at_the_start() {
    let nested = |deep: usize| (0..deep).fold(Criterion::Manual, |inner, _| Criterion::All(vec![inner]));
    let many = |n: usize| Criterion::Any(vec![Criterion::Manual; n]);
    let wrong = [
        (shell("  "), "empty"),
        (
            Criterion::Shell { command: "x".to_owned(), exit_code: 0, timeout_ms: 0, evidence: Vec::new() },
            "no time",
        ),
        (json("a.json", "a = 3"), "dot.path"),
        (json("", "a exists"), "no name"),
        (file("a", FileCheck::Matches("(".to_owned())), "regular expression"),
        (file("a", FileCheck::Matches("(a{1000}){1000}".to_owned())), "regular expression"),
        (file("a", FileCheck::Contains(String::new())), "empty"),
        (file("../a", FileCheck::Exists), "below"),
        (file("/etc/passwd", FileCheck::Exists), "below"),
        (http("ftp://a", 200), "http"),
        (http("http://a", 7), "status"),
        (Criterion::Judge { question: String::new() }, "empty"),
        (
            Criterion::Vision {
                command: "x".to_owned(),
                file: "/tmp/a.png".to_owned(),
                expected: "y".to_owned(),
            },
            "below",
        ),
        (Criterion::All(vec![]), "`all`"),
        (Criterion::All(vec![Criterion::Manual, Criterion::Any(vec![])]), "`any`"),
        (nested(DEEPEST + 1), "nested"),
        (many(MOST_LEAVES + 1), "parts"),
    ];
    for (criterion, word) in wrong {
        let problem = criterion.problem().unwrap_or_else(|| panic!("{criterion:?}"));
        assert!(problem.contains(word), "{problem}");
    }
    for right in [
        shell("cargo test"),
        json("a.json", "a.b >= 3"),
        file("src/a.rs", FileCheck::Matches("^fn a".to_owned())),
        http("https://a/b", 204),
        Criterion::Manual,
        nested(DEEPEST),
        many(MOST_LEAVES),
    ] {
        assert_eq!(right.problem(), None, "{right:?}");
    }
}

#[test]
fn a_criterion_reads_as_one_line() {
    let all = Criterion::All(vec![
        shell("cargo test\n --all"),
        Criterion::Any(vec![file("a", FileCheck::Exists), json("b.json", "ok == true")]),
        Criterion::Judge { question: "Is it short?".to_owned() },
        Criterion::Http { url: "http://a".to_owned(), status: 200, contains: Some("ok".to_owned()) },
    ]);
    assert_eq!(
        all.humanised(),
        "all of: `cargo test --all` exits with 0; (any of: a exists; in b.json: ok == true); a judge says yes to: Is it \
         short?; http://a answers with 200 and contains `ok`"
    );
    assert_eq!(all.leaves().len(), 5);
    assert!(matches!(all.leaves()[1], Criterion::File { .. }), "in the order they are written");
}

#[test]
fn a_file_is_as_it_should_be_or_it_is_said_how_not() {
    let contains = FileCheck::Contains("done".to_owned());
    let matches = FileCheck::Matches("^fn \\w+\\(\\)$".to_owned());
    assert_eq!(file_holds(&FileCheck::Exists, Some("")), Ok(()));
    assert_eq!(file_holds(&contains, Some("all done.")), Ok(()));
    assert_eq!(file_holds(&matches, Some("// a\nfn main()\n")), Ok(()));
    for (check, content, why) in [
        (&FileCheck::Exists, None, "does not exist"),
        (&contains, None, "does not exist"),
        (&contains, Some("Done"), "does not contain `done`"),
        (&matches, Some("fn main() {"), "has nothing that matches `^fn \\w+\\(\\)$`"),
    ] {
        assert_eq!(file_holds(check, content), Err(why.to_owned()));
    }
}

#[test]
fn a_hostile_pattern_and_text_cost_no_more_than_their_size() {
    let text = "a".repeat(100_000);
    assert!(file_holds(&FileCheck::Matches("(a*)*b".to_owned()), Some(&text)).is_err());
}
