//! The words of a finding, reduced to what two wordings of one point share: stems, a few groups of words that
//! critics use for one another, and apart from them the specifics (names from code, numbers) by which two
//! points in similar words differ.

use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

/// Only this much of a text is read, and so many of its words: two wordings are alike or not by then.
const CHARACTERS: usize = 4_000;
const WORDS: usize = 64;

/// Long words are alike if they begin alike: `migrate`, `migration`.
const ROOT: usize = 6;

/// A text's words. Each stands for itself by a hash, so that comparing costs the same for any length.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Words {
    /// Sorted, without repetition: hash and weight.
    all: Vec<(u64, u32)>,
    weight: u32,
    /// The same words as they follow each other.
    sequence: Vec<u64>,
    names: BTreeSet<u64>,
    numbers: BTreeSet<u64>,
    /// What is said to be lacking: `without a number`, `no source`.
    lacks: BTreeSet<u64>,
    wants: Wants,
}

/// Does a point ask for more of something or for less? A point may do both, or neither.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Wants {
    more: bool,
    less: bool,
}

impl Words {
    pub(super) fn of(text: &str) -> Self {
        let mut words = Self::default();
        let cut = text.char_indices().nth(CHARACTERS).map_or(text.len(), |(at, _)| at);
        let mut after_line = false;
        // Backticks mark names; what stands between them is split like everything else.
        for (index, stretch) in text[..cut].split('`').enumerate() {
            let in_code = index % 2 == 1;
            for word in stretch.split(|c: char| !(c.is_alphanumeric() || c == '_')) {
                if word.is_empty() || words.all.len() >= WORDS {
                    continue;
                }
                let lower = word.to_lowercase();
                let names_a_line = std::mem::replace(&mut after_line, matches!(&*lower, "line" | "lines"));
                words.take(word, &lower, in_code, names_a_line);
            }
        }
        words.lacks = lacking(&text[..cut]);
        words.sequence = words.all.iter().map(|(word, _)| *word).collect();
        words.all.sort_unstable();
        words.all.dedup_by_key(|(word, _)| *word);
        words.weight = words.all.iter().map(|(_, weight)| *weight).sum();
        words
    }

    fn take(&mut self, word: &str, lower: &str, in_code: bool, names_a_line: bool) {
        if let Some(number) = number(lower) {
            // Lines drift; they tell nothing about the point.
            if !names_a_line {
                self.numbers.insert(hash(number));
                self.all.push((hash(number), 3));
            }
            return;
        }
        if STOP.contains(&lower) {
            return;
        }
        if is_name(word) {
            self.names.insert(hash(lower));
            self.all.push((hash(lower), 3));
            return;
        }
        if in_code && word.chars().count() > 1 {
            self.names.insert(hash(lower));
        }
        let stem = stem(lower);
        if MORE.contains(&stem) {
            self.wants.more = true;
        }
        if LESS.contains(&stem) {
            self.wants.less = true;
        }
        self.all.push(match GROUPS.get(&stem) {
            // What critics say of anything weighs less than what they say it of.
            Some(meant) => (*meant, 1),
            None => (hash(root(&stem)), if stem.len() >= 5 { 2 } else { 1 }),
        });
    }

    /// How alike two texts are, from 0 to 1000: shared weight over all weight, and over the shorter one's.
    pub(super) fn likeness(&self, other: &Self) -> u32 {
        let (mine, theirs) = (self.weight, other.weight);
        if mine == 0 || theirs == 0 {
            return 0;
        }
        let (mut shared, mut a, mut b) = (0, self.all.as_slice(), other.all.as_slice());
        while let ([(one, weight), rest_a @ ..], [(two, other_weight), rest_b @ ..]) = (a, b) {
            if one == two {
                shared += weight.min(other_weight);
            }
            (a, b) = (if one <= two { rest_a } else { a }, if two <= one { rest_b } else { b });
        }
        let of_both = 2_000 * shared / (mine + theirs);
        if self.all.len().min(other.all.len()) < 3 {
            return of_both.min(1_000);
        }
        let of_shorter = 1_000 * shared.min(mine.min(theirs)) / mine.min(theirs);
        ((2 * of_both + of_shorter) / 3).min(1_000)
    }

    /// Both name something from code, and nothing of it is the same.
    pub(super) fn names_others(&self, other: &Self) -> bool {
        apart(&self.names, &other.names)
    }

    /// Both name the same thing from code.
    pub(super) fn shares_a_name(&self, other: &Self) -> bool {
        !self.names.is_disjoint(&other.names)
    }

    /// Both give numbers, and no number is the same.
    pub(super) fn counts_others(&self, other: &Self) -> bool {
        apart(&self.numbers, &other.numbers)
    }

    /// The two are one sentence with other words in one place of it: `the latency has no threshold` and `the
    /// uptime has no threshold`. Wordings of one point differ in more places, or one only adds something.
    pub(super) fn substitutes(&self, other: &Self) -> bool {
        let (a, b) = (&self.sequence, &other.sequence);
        let front = a.iter().zip(b).take_while(|(a, b)| a == b).count();
        let back = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
        let back = back.min(a.len().min(b.len()) - front);
        let (mine, theirs) = (a.len() - front - back, b.len() - front - back);
        let kept = front + back;
        let most = mine.max(theirs);
        mine > 0 && theirs > 0 && (kept >= 2 && kept >= most || kept >= 3 && 2 * kept >= most)
    }

    /// Each says that something is lacking, and not the same thing.
    pub(super) fn lacks_another(&self, other: &Self) -> bool {
        apart(&self.lacks, &other.lacks)
    }

    /// One asks only for more, the other only for less.
    pub(super) fn opposes(&self, other: &Self) -> bool {
        let (a, b) = (self.wants, other.wants);
        a.more && !a.less && b.less && !b.more || a.less && !a.more && b.more && !b.less
    }
}

/// The things a text says are not there.
fn lacking(text: &str) -> BTreeSet<u64> {
    const BEFORE: [&str; 7] = ["without", "no", "lacks", "lack", "lacking", "needs", "missing"];
    const SKIPPED: [&str; 10] =
        ["a", "an", "the", "any", "stated", "given", "clear", "explicit", "its", "single"];
    let lower = text.to_lowercase();
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let thing = |at: usize| words.iter().skip(at).find(|word| !SKIPPED.contains(word)).copied();
    let named = words
        .iter()
        .enumerate()
        .filter(|(_, word)| BEFORE.contains(word))
        .filter_map(|(at, _)| thing(at + 1));
    named.filter(|word| word.len() > 2 && !STOP.contains(word)).map(|word| hash(&stem(word))).collect()
}

fn apart(a: &BTreeSet<u64>, b: &BTreeSet<u64>) -> bool {
    !a.is_empty() && !b.is_empty() && a.is_disjoint(b)
}

/// Lower-case words without line numbers, for a fingerprint that outlives a move.
pub(super) fn plain_words(text: &str) -> String {
    let mut plain = String::new();
    let mut after_line = false;
    for word in text.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty()) {
        let lower = word.to_lowercase();
        let names_a_line = std::mem::replace(&mut after_line, matches!(&*lower, "line" | "lines"));
        if names_a_line && number(&lower).is_some() {
            continue;
        }
        if !plain.is_empty() {
            plain.push(' ');
        }
        plain.push_str(&lower);
    }
    plain
}

/// FNV-1a: the same on every machine and in every later version, which a map's own hasher is not.
fn hash(word: &str) -> u64 {
    word.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

/// Does a word look like a name from code or an abbreviation: `parse_line`, `parseLine`, `T4`, `RTT`?
fn is_name(word: &str) -> bool {
    let has = |test: fn(char) -> bool| word.chars().any(test);
    let inner_capital = word.chars().skip(1).any(char::is_uppercase);
    word.contains('_') || inner_capital || has(char::is_alphabetic) && has(|c| c.is_ascii_digit())
}

/// What the forms of a long word share.
fn root(stem: &str) -> &str {
    stem.char_indices().nth(ROOT).map_or(stem, |(at, _)| &stem[..at])
}

/// The number a word stands for.
fn number(word: &str) -> Option<&str> {
    const SPELT: [&str; 11] =
        ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];
    const DIGITS: [&str; 11] = ["2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12"];
    if word.starts_with(|c: char| c.is_ascii_digit()) {
        return Some(word);
    }
    SPELT.iter().position(|spelt| *spelt == word).and_then(|at| DIGITS.get(at).copied())
}

/// A word without its ending. Crude on purpose: both sides are cut alike.
fn stem(word: &str) -> String {
    let mut stem = word.to_owned();
    if let Some(base) = word.strip_suffix("ies").filter(|base| base.len() >= 3) {
        return format!("{base}y");
    }
    for ending in ["ingly", "edly", "ing", "ed", "es", "ly", "s"] {
        if let Some(base) = word.strip_suffix(ending).filter(|base| base.len() >= 3 && !base.ends_with('s')) {
            base.clone_into(&mut stem);
            break;
        }
    }
    if stem.len() > 3 && stem.ends_with('e') {
        stem.pop();
    }
    let mut ends = stem.chars().rev();
    if let (Some(last), Some(before)) = (ends.next(), ends.next())
        && last == before
        && last.is_alphabetic()
        && stem.len() > 4
    {
        stem.pop();
    }
    stem
}

static STOP: LazyLock<BTreeSet<&'static str>> = LazyLock::new(|| {
    "a an the this that these those it its is are was were be been being has have had do does did of in on at to \
     for from by with as and or but if so than then there here which who what when where while into onto over \
     under can could should would must may might will shall also just only very still yet again not need needs \
     one any all some such each every i we you they he she your our their s t line lines please currently still \
     remains remain how given gives give"
        .split_whitespace()
        .collect()
});

static MORE: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
    stems(
        "add insert include expand extend lengthen increase raise more missing lacks shallow introduce widen longer",
    )
});

static LESS: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
    stems(
        "remove delete drop shorten cut reduce decrease lower less redundant superfluous duplicate unnecessary trim \
         condense narrow unused shorter excessive",
    )
});

fn stems(words: &str) -> BTreeSet<String> {
    words.split_whitespace().map(stem).collect()
}

/// Words that critics use for one another.
static GROUPS: LazyLock<HashMap<String, u64>> = LazyLock::new(|| {
    let groups = [
        "missing lacks lacking absent omitted omits omission without no",
        "unclear ambiguous ambiguity vague confusing obscure cryptic",
        "add include provide supply insert",
        "remove delete drop strip eliminate",
        "function method routine fn",
        "test tests coverage covered untested",
        "error exception failure fails",
        "name naming rename identifier",
        "long lengthy verbose wordy overlong",
        "duplicate duplicated duplication repeated repetition redundant repeats copy",
        "unused dead unreachable",
        "explain describe clarify description explanation unexplained",
        "justify justification rationale motivate unjustified",
        "cite citation cited reference source uncited",
        "claim assertion statement asserts states",
        "check validate verify validation validated checked unvalidated unchecked",
        "handle catch handling handled unhandled",
        "hardcoded literal magic constant",
        "figure plot chart graph",
        "participants subjects respondents",
        "shorten condense trim tighten",
        "documentation comment docstring documented undocumented doc",
        "empty blank",
        "null none nil",
        "timeout deadline",
        "heading title header",
        "inconsistent inconsistency mismatch contradicts contradiction conflict disagree",
        "specify define definition defined undefined specified unspecified",
        "limit bound cap maximum unbounded",
        "argument parameter",
        "return returned returns",
        "log logged logging logs",
        "measure measurable quantify quantified threshold",
    ];
    let mut known = HashMap::new();
    for group in groups {
        let meant = group.split_whitespace().next().map_or(0, |first| hash(&stem(first)));
        for word in group.split_whitespace() {
            known.insert(stem(word), meant);
        }
    }
    known
});

#[cfg(test)]
mod tests {
    use super::*;

    fn likeness(a: &str, b: &str) -> u32 {
        Words::of(a).likeness(&Words::of(b))
    }

    #[test]
    fn other_forms_of_the_same_words_are_alike() {
        assert_eq!(likeness("the error is dropped", "errors dropping"), 1_000);
        assert_eq!(likeness("No citation for this claim", "this claim lacks a reference"), 1_000);
        assert_eq!(likeness("apples", "pears"), 0);
        assert_eq!(likeness("", "pears"), 0);
    }

    #[test]
    fn specifics_tell_points_apart_and_line_numbers_do_not() {
        let clash = |a: &str, b: &str| {
            let (a, b) = (Words::of(a), Words::of(b));
            a.names_others(&b) || a.counts_others(&b)
        };
        assert!(clash("`load` panics", "`save` panics"));
        assert!(clash("parse_line is long", "parse_page is long"));
        assert!(clash("only 12 of 40 patients", "only 13 of 41 patients"));
        assert!(!clash("line 12 is long", "line 40 is long"));
        assert!(!clash("`load` panics", "the function panics"));
        assert!(!clash("twelve patients", "12 patients"));
    }

    #[test]
    fn a_sentence_with_another_subject_is_another_point() {
        let substitutes = |a: &str, b: &str| Words::of(a).substitutes(&Words::of(b));
        assert!(substitutes("The latency has no threshold", "The uptime has no threshold"));
        assert!(substitutes("No test covers the happy path", "No test covers the full disk"));
        assert!(!substitutes("The latency has no threshold", "The latency still has no threshold in ms"));
        assert!(!substitutes("The latency has no threshold", "No threshold is given for the latency"));
        assert!(!substitutes("", "No threshold"));
        assert!(!substitutes("a threshold", "a threshold"));
    }

    #[test]
    fn more_and_less_are_opposites() {
        let opposes = |a: &str, b: &str| Words::of(a).opposes(&Words::of(b));
        assert!(opposes("expand the introduction", "shorten the introduction"));
        assert!(!opposes("expand the introduction", "the introduction is dull"));
        assert!(!opposes("remove one, add another", "add another"));
    }

    #[test]
    fn a_long_text_costs_no_more_than_its_beginning() {
        let long = "word ".repeat(2_000_000);
        assert_eq!(Words::of(&long).all.len(), 1);
        let many = (0..100_000).fold(String::new(), |many, n| many + "w" + &n.to_string() + "x ");
        assert!(Words::of(&many).all.len() <= WORDS);
    }

    #[test]
    fn plain_words_leave_the_lines_out() {
        assert_eq!(plain_words("Line 12: the `Loop` never ends."), "line the loop never ends");
        assert_eq!(plain_words("At line 7 the loop"), plain_words("at line 12, the LOOP"));
    }
}
