//! Files that changed on both sides: by the run, and in the checkout since the run began. What a person is
//! shown of them, and what they decided. Finding them, merging and writing is the runtime's.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::question::{About, Choice, Question};

/// Lines of conflicting text that one question shows of all files together.
const MOST_LINES: usize = 120;
/// Characters of one such line.
const LONGEST_LINE: usize = 160;

/// What stands between an approved tree and the checkout. Nothing was written.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Conflicts {
    /// Names exactly what was found in the checkout: a decision holds for that and nothing else.
    pub seen: Digest,
    pub files: Vec<Conflict>,
    /// Files beyond those listed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more: u64,
    /// Git has a merge without conflicts for every one of them.
    pub mergeable: bool,
    /// The run's version can take the place of every one of them.
    pub replaceable: bool,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // what serde hands over
const fn is_zero(n: &u64) -> bool {
    *n == 0
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Conflict {
    pub path: String,
    pub kind: ConflictKind,
    /// Git has a merge of this one without conflicts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub merges: bool,
    /// What the checkout holds, and what the run made of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub here: Option<Digest>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<Digest>,
    /// The places that do not go together, with git's usual marks. Cut if long.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub shown: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConflictKind {
    BothChanged,
    BothAdded,
    /// As `BothChanged` or `BothAdded`, of bytes that are no text or too many to merge.
    Binary,
    DeletedHere,
    DeletedByRun,
    /// A link on one side, a file on the other; two links; permissions that do not go together.
    Form,
    /// A folder, a pipe or a file of the user's stands where the run has something else.
    InTheWay,
}

impl ConflictKind {
    pub const fn says(self) -> &'static str {
        match self {
            Self::BothChanged => "changed here and by the run",
            Self::BothAdded => "new here and new in the run, and not the same",
            Self::Binary => "changed here and by the run, and not a text that git merges",
            Self::DeletedHere => "gone here, changed by the run",
            Self::DeletedByRun => "changed here, deleted by the run",
            Self::Form => "changed here and by the run in kind or permissions",
            Self::InTheWay => "something else stands here, where the run has a file",
        }
    }
}

/// How a person wants it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// Git's merge of both sides, which nobody judged.
    Merge,
    /// The checkout's version of these files; the rest comes.
    Mine,
    /// The run's version.
    Run,
}

impl Way {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Merge => "merge",
            Self::Mine => "mine",
            Self::Run => "run",
        }
    }

    pub fn of(word: &str) -> Option<Self> {
        [Self::Merge, Self::Mine, Self::Run].into_iter().find(|way| way.word() == word)
    }
}

/// A person's decision about exactly what they were shown.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Resolution {
    pub way: Way,
    /// [`Conflicts::seen`]. If the checkout is something else by now, the decision does not hold.
    pub seen: Digest,
}

impl Conflicts {
    pub fn count(&self) -> u64 {
        self.more.saturating_add(self.files.len() as u64)
    }

    /// What a person is asked. `again`: the checkout changed since they answered.
    pub fn question(&self, again: bool) -> Question {
        let files = match self.count() {
            1 => "1 file".to_owned(),
            n => format!("{n} files"),
        };
        let since = if again { "since you answered" } else { "since the run began" };
        let mut text = format!(
            "The work is approved, but your checkout changed {since}. Nothing was written.\n\
             {files} changed on both sides:\n"
        );
        let mut left = MOST_LINES;
        for file in &self.files {
            let merge = if file.merges { "; git can merge it without a conflict" } else { "" };
            let _ = write!(text, "\n{}: {}{merge}\n", file.path, file.kind.says());
            show(&mut text, &file.shown, &mut left);
        }
        if self.more > 0 {
            let _ = writeln!(text, "\nand {} more", self.more);
        }
        let mut choices = Vec::new();
        if self.mergeable {
            let says = "take git's merge of both sides; nobody has judged the merged text";
            choices.push(Choice::new(Way::Merge.word(), says));
        }
        choices.push(Choice::new(Way::Mine.word(), "keep your version of these files and bring the rest"));
        if self.replaceable {
            let says = "take the run's version of these files; `gadfly undo` brings yours back";
            choices.push(Choice::new(Way::Run.word(), says));
        }
        choices.push(Choice::new("stop", "write nothing; resuming looks at the checkout again"));
        Question { about: About::Conflict, text, choices, free: false }
    }
}

fn show(text: &mut String, shown: &str, left: &mut usize) {
    if shown.is_empty() {
        return;
    }
    if *left == 0 {
        text.push_str("  (too much to show here)\n");
        return;
    }
    let mut lines = shown.lines();
    for line in lines.by_ref().take(*left) {
        let cut: String = line.chars().take(LONGEST_LINE).collect();
        let more = if cut.len() < line.len() { "…" } else { "" };
        let _ = writeln!(text, "  {cut}{more}");
        *left = left.saturating_sub(1);
    }
    if lines.next().is_some() {
        text.push_str("  (and more)\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conflicts(mergeable: bool, replaceable: bool) -> Conflicts {
        let file = |path: &str, kind, merges, shown: &str| Conflict {
            path: path.into(),
            kind,
            merges,
            here: None,
            run: None,
            shown: shown.into(),
        };
        Conflicts {
            seen: Digest::of(b"seen"),
            files: vec![
                file("a.rs", ConflictKind::BothChanged, true, ""),
                file("b.rs", ConflictKind::DeletedHere, false, "<<<<<<< yours\none\n"),
            ],
            more: 3,
            mergeable,
            replaceable,
        }
    }

    #[test]
    fn only_ways_that_can_be_gone_are_offered() {
        let words = |merge, run| conflicts(merge, run).question(false).shown_choices().join(" ");
        assert_eq!(words(true, true), "merge mine run stop");
        assert_eq!(words(false, true), "mine run stop");
        assert_eq!(words(false, false), "mine stop");
    }

    #[test]
    fn a_person_is_told_of_every_file_what_kind_of_conflict_it_is() {
        let text = conflicts(false, true).question(false).text;
        for said in
            ["5 files", "a.rs: changed here and by the run; git can merge", "b.rs: gone here", "and 3 more"]
        {
            assert!(text.contains(said), "{said}: {text}");
        }
        assert!(text.contains("  <<<<<<< yours\n  one\n"), "{text}");
        assert!(conflicts(false, true).question(true).text.contains("since you answered"));
    }

    #[test]
    fn what_is_shown_is_bounded_whatever_the_files_hold() {
        let mut long = conflicts(false, true);
        long.files[0].shown = "x\n".repeat(100_000);
        long.files[1].shown = "y".repeat(100_000);
        let text = long.question(false).text;
        assert!(text.lines().count() < MOST_LINES + 20 && text.len() < 10_000, "{}", text.len());
        assert!(text.contains("(and more)") && text.contains("(too much to show here)"), "{text}");
    }

    #[test]
    fn every_way_has_its_word() {
        for way in [Way::Merge, Way::Mine, Way::Run] {
            assert_eq!(Way::of(way.word()), Some(way));
        }
        assert_eq!(Way::of("stop"), None);
    }
}
