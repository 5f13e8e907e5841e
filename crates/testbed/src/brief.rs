//! What a brief of Gadfly's asks for, read from its text as a model would read it: the file to write, the
//! verdict to give. It knows the grammar of briefs, not their wording.

use serde_json::{Value, json};

/// The number on the first line that begins with `LABEL: `.
pub(crate) fn number(brief: &str, label: &str) -> Option<u32> {
    line(brief, label)?.parse().ok()
}

/// The rest of the first line that begins with `LABEL: `.
fn line<'a>(brief: &'a str, label: &str) -> Option<&'a str> {
    brief.lines().find_map(|line| line.strip_prefix(label)?.strip_prefix(": ")).map(str::trim)
}

/// What a brief wants back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum WantedReply {
    /// A first line with a status: `revise`.
    Status,
    /// The same as one JSON object: `revise`, of an agent that is held to a schema.
    StatusObject,
    /// A report in JSON: `audit`.
    Report,
    /// A goal to be pursued until it can be claimed: `goal`.
    Goal,
    /// Work.
    Work,
}

pub(crate) fn wanted(brief: &str) -> WantedReply {
    if brief.contains("[STATUS:") {
        WantedReply::Status
    } else if brief.contains("\"items\": [{\"number\"") && number(brief, "Iteration").is_some() {
        WantedReply::StatusObject
    } else if brief.contains("\"task_id\"") && number(brief, "Round").is_some() {
        WantedReply::Report
    } else if brief.contains("GOAL:\n") && brief.contains("`CLAIM_COMPLETE: `") {
        WantedReply::Goal
    } else {
        WantedReply::Work
    }
}

/// Whether a round came before this one.
pub(crate) fn is_repeated(brief: &str) -> bool {
    brief.contains("\nFindings:\n") || brief.contains("\nMode: Revision\n")
}

/// The file a task names: the first word between backticks that looks like a path inside a folder.
pub(crate) fn file(brief: &str) -> Option<&str> {
    let task = brief.find("\nTask:").or_else(|| brief.find("--- begin task ")).unwrap_or(0);
    let is_path = |word: &&str| {
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '/' | '_' | '-');
        word.contains('.')
            && word.len() < 200
            && word.chars().all(fits)
            && !word.starts_with(['/', '-'])
            && !word.contains("..")
    };
    brief.get(task..)?.split('`').skip(1).step_by(2).find(is_path)
}

/// The letter of `R,R,A` for the Nth judgement; the last holds from then on.
pub(crate) fn letter(pattern: &str, nth: u32) -> &str {
    let mut letters = pattern.split(',').map(str::trim);
    let at = usize::try_from(nth.max(1) - 1).unwrap_or(usize::MAX);
    letters.clone().nth(at).or_else(|| letters.next_back()).unwrap_or("A")
}

/// An audit's report that keeps every rule of its form. Each criterion is said to be met on the first line of
/// the file that the task names; a rejection says that of all but the first.
pub(crate) fn report(brief: &str, pattern: &str) -> Value {
    let round = number(brief, "Round").unwrap_or(1);
    let rejects = letter(pattern, round) == "R";
    let file = file(brief).unwrap_or_default();
    let mut criteria = Vec::new();
    for (id, claim) in criteria_of(brief) {
        let unmet = rejects && criteria.is_empty();
        let (verdict, evidence) = if unmet {
            ("Unsatisfied", format!("What {file} says is too short."))
        } else {
            ("Satisfied", format!("{file}:1"))
        };
        criteria.push(json!({"id": id, "claim": claim, "verdict": verdict, "evidence": evidence,
            "missing_info": null}));
    }
    json!({"critic": "critic", "task_id": line(brief, "Task id"), "round": round, "criteria": criteria,
        "findings": [], "verdict": if rejects { "issues_found" } else { "passed" }, "partial": false})
}

/// A verdict of `revise` that keeps every rule of its form. What was raised before has been addressed.
pub(crate) fn status_object(brief: &str, pattern: &str) -> Value {
    let round = number(brief, "Iteration").unwrap_or(1);
    let rejects = letter(pattern, round) == "R";
    let item = |number: Option<u32>, state: &str| json!({"number": number, "state": state, "what": "There is no greeting.", "fix": "Begin with one."});
    let items = match (rejects, round) {
        (true, _) => vec![item(None, "open")],
        (false, 1) => Vec::new(),
        (false, _) => vec![item(Some(1), "addressed")],
    };
    let (verdict, reason) = if rejects { ("rejected", "") } else { ("approved", "All of it is there.") };
    json!({"reasoning": "Read whole.", "verdict": verdict, "reason": reason, "items": items, "notes": []})
}

/// The list below `Success criteria:`.
fn criteria_of(brief: &str) -> impl Iterator<Item = (&str, &str)> {
    brief
        .lines()
        .skip_while(|line| *line != "Success criteria:")
        .skip(1)
        .map_while(|line| line.strip_prefix("- ")?.split_once(": "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_found_between_backticks_in_the_task() {
        for (brief, expected) in [
            ("Look at `a.md`.\nTask id: T\nTask:\nWrite `src/b.txt` with `cat`.", Some("src/b.txt")),
            ("--- begin task x ---\nMend `b.txt`.", Some("b.txt")),
            ("Create `hello.txt`, then say so.", Some("hello.txt")),
            ("Create `../hello.txt` and `/etc/x.y` and `a b.c`.", None),
            ("An odd ` and `no-path`", None),
        ] {
            assert_eq!(file(brief), expected, "{brief}");
        }
    }

    #[test]
    fn the_wish_of_a_brief_is_seen() {
        assert_eq!(wanted("Say [STATUS: APPROVED]"), WantedReply::Status);
        assert_eq!(wanted("{\"task_id\": 1}\nRound: 2\n"), WantedReply::Report);
        assert_eq!(wanted("Round: 2\nTask: x"), WantedReply::Work);
        assert_eq!(wanted("End with `CLAIM_COMPLETE: `.\nGOAL:\nx"), WantedReply::Goal);
    }

    #[test]
    fn a_report_follows_the_pattern_and_says_passed_only_if_all_is_met() {
        let brief = |round: u32| {
            format!(
                "Round: {round}\nTask id: T1\n\n--- begin task x ---\nWrite `a.txt`.\n--- end task x ---\n\
                 Success criteria:\n- SC-1: it greets\n- SC-2: it ends\n\nFiles in scope:\n- *: x\n"
            )
        };
        let first = report(&brief(1), "R,A");
        assert_eq!((&first["verdict"], &first["round"]), (&json!("issues_found"), &json!(1)));
        assert_eq!(first["criteria"].as_array().map(Vec::len), Some(2));
        assert_eq!(first["criteria"][0]["verdict"], "Unsatisfied");
        let second = report(&brief(2), "R,A");
        assert_eq!((&second["verdict"], &second["task_id"]), (&json!("passed"), &json!("T1")));
        assert_eq!(second["criteria"][0]["evidence"], "a.txt:1");
    }
}
