//! Which of the lists that `shown` looks for a word stands in, in one look: data has many words, and most of them are in none.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use super::{
    APPROVING, CLEARING, CONVERGED, DEFERRING, GRANTING, LABELS, PREFIXES, REJECTING, REPORT_KEYS,
    SATISFYING, SCENARIO_LABEL, STAND_IN, TOTAL_LABELS, words,
};
use crate::reading::reasoning;

/// Something passes.
pub const PASSING: u8 = 1;
pub const REJECTION: u8 = 1 << 1;
pub const LABEL: u8 = 1 << 2;
pub const PREFIX: u8 = 1 << 3;
/// A key of a JSON report.
pub const KEY: u8 = 1 << 4;
/// The label of a stated total.
pub const TOTAL: u8 = 1 << 5;
pub const SCENARIO: u8 = 1 << 6;
/// The name of a tag around thinking, or of the channel of a chat template.
pub const TAG: u8 = 1 << 7;
/// What a line may state something by.
const STATES: u8 = PASSING | REJECTION | LABEL | KEY | TOTAL | SCENARIO;

/// Names of channels of chat templates.
const CHANNELS: &[&str] = &[
    "channel",
    "message",
    "im_end",
    "im_start",
    "answer",
    "output",
    "response",
    "review",
    "result",
    "verdict",
    "final_answer",
    "report",
    "start",
    "end",
    "s",
];

/// Every list with its bit.
const LISTS: [(u8, &[&str]); 15] = [
    (PASSING, APPROVING),
    (PASSING, super::PASSING),
    (PASSING, DEFERRING),
    (PASSING, SATISFYING),
    (PASSING, CLEARING),
    (PASSING, GRANTING),
    (PASSING, &[CONVERGED]),
    (REJECTION, REJECTING),
    (LABEL, LABELS),
    (PREFIX, PREFIXES),
    (KEY, REPORT_KEYS),
    (TOTAL, TOTAL_LABELS),
    (SCENARIO, &[SCENARIO_LABEL]),
    (TAG, &reasoning::TAGS),
    (TAG, CHANNELS),
];

static KNOWN: LazyLock<HashMap<&str, u8>> = LazyLock::new(|| {
    let mut known = HashMap::new();
    for (bit, list) in LISTS {
        for word in list {
            *known.entry(*word).or_insert(0) |= bit;
        }
    }
    known
});

/// A word of a line, and the lists it is in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ListedWord {
    pub range: Range<usize>,
    pub lists: u8,
}

/// All words of a line.
pub fn listed(line: &str) -> Vec<ListedWord> {
    let mut lower = String::new();
    words(line).map(|(range, word)| ListedWord { range, lists: of(word, &mut lower) }).collect()
}

/// The words of some lists, outside of stand-ins.
pub fn on(lists: u8, line: &str, words: &[ListedWord]) -> Vec<Range<usize>> {
    let marked = |range: &Range<usize>| line[..range.start].ends_with(STAND_IN[0]);
    let on_lists = words.iter().filter(|word| word.lists & lists != 0 && !marked(&word.range));
    on_lists.map(|word| word.range.clone()).collect()
}

/// Whether a line has a word of any list that `shown` looks for: most lines have none.
pub fn may_state(line: &str) -> bool {
    let mut lower = String::new();
    words(line).any(|(_, word)| of(word, &mut lower) & STATES != 0)
}

/// The lists of a word, as `is_one_of` would find it in each of them.
fn of(word: &str, lower: &mut String) -> u8 {
    lower.clear();
    let word = word.trim_matches('_');
    if word.is_ascii() {
        lower.push_str(word);
        lower.make_ascii_lowercase();
    } else {
        lower.push_str(&word.to_lowercase());
    }
    KNOWN.get(lower.as_str()).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::reading::forms::is_one_of;

    fn one_by_one(word: &str) -> u8 {
        let on = LISTS.iter().filter(|(_, list)| is_one_of(word, list));
        on.fold(0, |bits, (bit, _)| bits | bit)
    }

    #[test]
    fn every_listed_word_is_found_however_it_is_written() {
        let mut lower = String::new();
        for word in LISTS.iter().flat_map(|(_, list)| *list) {
            for written in [(*word).to_owned(), word.to_uppercase(), format!("_{word}__")] {
                assert_eq!(of(&written, &mut lower), one_by_one(&written), "{written}");
            }
            assert_ne!(of(word, &mut lower), 0, "{word}");
        }
    }

    proptest! {
        #[test]
        fn one_look_finds_what_a_look_into_each_list_finds(word in "_{0,2}[\\PC]{0,8}_{0,2}") {
            prop_assert_eq!(of(&word, &mut String::new()), one_by_one(&word));
        }
    }
}
