//! When a goal is reached, in the short forms of the command line. Text in, a checked criterion or a sentence out.

use std::time::Duration;

use gadfly_engine::protocol::goal::{Criterion, FileCheck};

pub use gadfly_engine::protocol::goal::settings::CHECK_TIMEOUT_MS;

use crate::place::brief;

/// A command that must end with 0.
pub fn shell(command: String) -> Criterion {
    Criterion::Shell { command, exit_code: 0, timeout_ms: CHECK_TIMEOUT_MS, evidence: Vec::new() }
}

pub fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// `COMMAND`.
pub fn read_shell(text: &str) -> Result<Criterion, String> {
    checked(shell(text.trim().to_owned()))
}

/// `FILE: PREDICATE`, as `out.json: results.passed >= 3`.
pub fn read_json(text: &str) -> Result<Criterion, String> {
    let (file, predicate) = split(text, ": ").ok_or("write FILE: PREDICATE, like 'out.json: a.b >= 3'")?;
    checked(Criterion::Json { file, predicate })
}

/// `PATH`, `PATH contains TEXT` or `PATH matches REGEX`.
pub fn read_file(text: &str) -> Result<Criterion, String> {
    let contains = text.find(" contains ");
    let matches = text.find(" matches ");
    // The first of the two words rules: what follows it may have the other in it.
    let (path, check) = match (contains, matches) {
        (Some(at), other) if other.is_none_or(|o| at < o) => {
            (&text[..at], FileCheck::Contains(text[at + " contains ".len()..].to_owned()))
        }
        (_, Some(at)) => (&text[..at], FileCheck::Matches(text[at + " matches ".len()..].to_owned())),
        (_, None) => (text, FileCheck::Exists),
    };
    let path = path.trim().to_owned();
    let unfinished = [" contains", " matches"].iter().any(|word| path.ends_with(word));
    if path.is_empty() || unfinished {
        return Err("write PATH, 'PATH contains TEXT' or 'PATH matches REGEX'".to_owned());
    }
    checked(Criterion::File { path, check })
}

/// `URL [STATUS] [contains TEXT]`.
pub fn read_http(text: &str) -> Result<Criterion, String> {
    const HOW: &str = "write 'URL', 'URL 204' or 'URL 200 contains TEXT'";
    let (front, contains) = match text.split_once(" contains ") {
        Some((front, contains)) => (front, Some(contains.to_owned())),
        None => (text, None),
    };
    let mut words = front.split_whitespace();
    let url = words.next().ok_or(HOW)?.to_owned();
    let status = match words.next() {
        None => 200,
        Some(word) => word
            .parse()
            .ok()
            .filter(|n| (100..=599).contains(n))
            .ok_or_else(|| format!("`{}` is no status from 100 to 599; {HOW}", brief(word)))?,
    };
    if words.next().is_some() {
        return Err(HOW.to_owned());
    }
    checked(Criterion::Http { url, status, contains })
}

/// A question.
pub fn read_judge(text: &str) -> Result<Criterion, String> {
    checked(Criterion::Judge { question: text.trim().to_owned() })
}

/// `COMMAND -> FILE: EXPECTED`, as `./shot.sh -> shot.png: the list is not empty`.
pub fn read_vision(text: &str) -> Result<Criterion, String> {
    let how = "write 'COMMAND -> FILE: EXPECTED', like './shot.sh -> shot.png: the list is not empty'";
    let (command, rest) = split(text, " -> ").ok_or(how)?;
    let (file, expected) = split(&rest, ": ").ok_or(how)?;
    checked(Criterion::Vision { command, file, expected })
}

/// What several checks make together; none if there are none.
pub fn together(mut checks: Vec<Criterion>, any: bool) -> Option<Criterion> {
    match checks.len() {
        0 | 1 => checks.pop(),
        _ if any => Some(Criterion::Any(checks)),
        _ => Some(Criterion::All(checks)),
    }
}

/// Both sides of the first separator, neither of them empty.
fn split(text: &str, separator: &str) -> Option<(String, String)> {
    let (one, two) = text.split_once(separator)?;
    let (one, two) = (one.trim(), two.trim());
    (!one.is_empty() && !two.is_empty()).then(|| (one.to_owned(), two.to_owned()))
}

fn checked(criterion: Criterion) -> Result<Criterion, String> {
    criterion.problem().map_or(Ok(criterion), Err)
}

/// The same, with this much time for every command.
pub fn timed(criterion: &mut Criterion, time: Duration) {
    let mut left = vec![criterion];
    while let Some(next) = left.pop() {
        match next {
            Criterion::All(inner) | Criterion::Any(inner) => left.extend(inner.iter_mut()),
            Criterion::Shell { timeout_ms, .. } => *timeout_ms = millis(time),
            _ => {}
        }
    }
}

/// The same, with this code expected of a command, and these files as evidence.
pub fn exiting(criterion: Criterion, code: Option<i32>, evidence: &[String]) -> Criterion {
    match criterion {
        Criterion::Shell { command, timeout_ms, exit_code, .. } => {
            let exit_code = code.unwrap_or(exit_code);
            Criterion::Shell { command, exit_code, timeout_ms, evidence: evidence.to_vec() }
        }
        other => other,
    }
}

/// A model is asked whether it holds.
pub fn is_judged(criterion: &Criterion) -> bool {
    criterion.leaves().iter().any(|leaf| matches!(leaf, Criterion::Judge { .. } | Criterion::Vision { .. }))
}

/// A model is shown a picture.
pub fn is_shown(criterion: &Criterion) -> bool {
    criterion.leaves().iter().any(|leaf| matches!(leaf, Criterion::Vision { .. }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_as_people_write_them() {
        let file = |text| match read_file(text) {
            Ok(Criterion::File { path, check }) => (path, check),
            other => panic!("{text}: {other:?}"),
        };
        assert_eq!(file("a b.md"), ("a b.md".into(), FileCheck::Exists));
        assert_eq!(
            file("a.md contains x matches y"),
            ("a.md".into(), FileCheck::Contains("x matches y".into()))
        );
        assert_eq!(
            file("a.md matches ^x contains$"),
            ("a.md".into(), FileCheck::Matches("^x contains$".into()))
        );
        for bad in ["", " ", " contains x", "a.md contains", "a.md matches ["] {
            assert!(read_file(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn answers_of_servers_have_a_status_and_perhaps_a_text() {
        let http = |text| match read_http(text) {
            Ok(Criterion::Http { url, status, contains }) => (url, status, contains),
            other => panic!("{text}: {other:?}"),
        };
        assert_eq!(http("http://127.0.0.1:80/a"), ("http://127.0.0.1:80/a".into(), 200, None));
        assert_eq!(http("http://x/ 204").1, 204);
        assert_eq!(http("http://x/ contains a b"), ("http://x/".into(), 200, Some("a b".into())));
        assert_eq!(http("http://x/ 503 contains no").1, 503);
        for bad in ["", "http://x/ 99", "http://x/ ok", "http://x/ 200 200", "ftp://x/", "x"] {
            assert!(read_http(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn two_parts_are_two_parts() {
        assert!(
            matches!(read_json("o.json: a.b >= 3"), Ok(Criterion::Json { file, .. }) if file == "o.json")
        );
        for bad in ["o.json", "o.json:", ": a > 1", "o.json: nonsense"] {
            assert!(read_json(bad).is_err(), "{bad}");
        }
        let seen = read_vision("./shot.sh -> s.png: a list: not empty");
        assert!(
            matches!(seen, Ok(Criterion::Vision { file, expected, .. }) if file == "s.png" && expected == "a list: not empty")
        );
        for bad in ["./shot.sh", "./shot.sh -> s.png", "-> s.png: x", "./shot.sh -> : x"] {
            assert!(read_vision(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn several_must_all_hold_unless_any_may() {
        let two = || vec![shell("a".into()), Criterion::Manual];
        assert_eq!(together(two(), false), Some(Criterion::All(two())));
        assert_eq!(together(two(), true), Some(Criterion::Any(two())));
        assert_eq!(together(vec![Criterion::Manual], true), Some(Criterion::Manual));
        assert_eq!(together(Vec::new(), false), None);
    }

    #[test]
    fn leaves_come_in_order_and_get_the_time_they_are_given() {
        let mut all = Criterion::All(vec![
            shell("a".into()),
            Criterion::Any(vec![shell("b".into()), Criterion::Manual]),
        ]);
        timed(&mut all, Duration::from_secs(5));
        let shown: Vec<String> = all.leaves().iter().map(|l| format!("{l:?}")).collect();
        assert!(
            shown[0].contains("\"a\"") && shown[1].contains("\"b\"") && shown[2] == "Manual",
            "{shown:?}"
        );
        assert!(shown[..2].iter().all(|l| l.contains("5000")), "{shown:?}");
    }
}
