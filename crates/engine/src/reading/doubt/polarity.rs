//! Negation and lack, by words. "No" before something bad is good ("no issues"), before anything else it says that something
//! is missing ("no sample size"). A word of lack counts unless it is negated or speaks of an earlier draft. English; other
//! languages are `tongues`.

use super::lexicon::{
    AUXILIARIES, BYGONE, FINITE, HANDLING, LACKS, MENDED, NEGATIONS, NEUTRAL, PAST, PREPOSITIONS, PRESENT,
    STILL, TURNS_OF_SPEECH, UNWANTED,
};
use crate::reading::forms::is_one_of;

/// How many words behind a negation its object is looked for.
const REACH: usize = 7;

/// What a clause says by negation or lack.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Polarity {
    /// Something is denied that should be there, or said to be lacking.
    pub lacking: bool,
    /// Where something unwanted is denied: praise, whatever words it holds.
    pub praise: Vec<std::ops::Range<usize>>,
}

/// How much a text describes the work rather than judges it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Reading {
    /// A critic's own words: every denial counts.
    Judgement,
    /// It describes the work, which may well do without things: only what has nothing counts, and what is said to lack.
    Description,
}

/// What has rounds.
const ROUNDS: &[&str] = &[
    "draft",
    "version",
    "round",
    "text",
    "submission",
    "time",
    "attempt",
    "iteration",
    "review",
    "revision",
];

pub(super) fn of(clause: &str, reading: Reading) -> Polarity {
    let words: Vec<(std::ops::Range<usize>, String)> = words(clause).collect();
    let is = |at: usize, list: &[&str]| words.get(at).is_some_and(|(_, word)| is_one_of(word, list));
    let begins = |at: usize, list: &[&str]| {
        words.get(at).is_some_and(|(_, word)| list.iter().any(|stem| word.starts_with(stem)))
    };
    // `zero is untested`: a number that is spoken of.
    let number = |at: usize| is(at, &["zero", "0"]) && is(at + 1, &["is", "was", "and", "returns"]);
    let denies = |at: usize| {
        is(at, NEGATIONS) && !number(at) || words.get(at).is_some_and(|(_, w)| w.ends_with("n't"))
    };
    let any = |list: &[&str]| (0..words.len()).any(|at| is(at, list));
    let settled = any(PAST) && any(MENDED) && !any(STILL);
    // "The first draft had no test": what was, and only that.
    let earlier = any(&["rejected", "previous", "previously", "earlier", "originally", "prior"])
        || (0..words.len()).any(|at| {
            is(at, &["first", "original", "old", "last", "initial"])
                && (is(at + 1, ROUNDS) || is(at + 2, ROUNDS))
        });
    let bygone = earlier
        && any(&["was", "were", "had", "lacked", "omitted", "failed", "did", "draft", "version"])
        && !any(STILL)
        && !any(&["is", "are", "does", "has"]);
    // `it would fail if it were wrong`: nothing of it is so.
    let bygone = bygone || any(&["would"]) && any(&["if"]) && !any(&["reject", "accept", "approve"]);
    let mut found = Polarity::default();
    let mut at = 0;
    while at < words.len() {
        if denies(at) {
            // `nothing is missing, neither the number nor the test`: the same denial goes on.
            let goes_on = is(at, &["neither", "nor"])
                && found.praise.last().is_some_and(|praise| {
                    clause[praise.end.min(words[at].0.start)..words[at].0.start].trim() == ","
                })
                && !(at..words.len()).any(|n| {
                    is(n, FINITE) || is(n, &["is", "are", "was", "were", "does", "do", "names", "states"])
                });
            if goes_on {
                found.praise.push(words[at].0.start..clause.len());
                break;
            }
            // What is denied stands before the next comma, and reaches up to it.
            let comma = |n: &usize| clause[words[*n - 1].0.end..words[*n].0.start].contains([',', '(', ')']);
            // `no style, test or acceptance problems` is one list.
            let listed = |n: &usize| (*n..(*n + 3).min(words.len())).any(|n| is(n, &["or", "nor"]));
            let ends =
                (at + 1..words.len()).find(|n| comma(n) && !listed(n) || is(*n, &["because", "since", "so"]));
            // `strings are not rejected and a check has to be added`: what follows `and` may be a sentence of its own.
            let joined = (at + 1..ends.unwrap_or(words.len()))
                .find(|n| is(*n, &["and"]) && (n + 1..(n + 7).min(words.len())).any(|n| is(n, FINITE)));
            let ends = joined.or(ends).unwrap_or(words.len());
            let reach = (at + 1 + REACH).min(ends);
            // `no issues`, `no real issues`; and `no task handles errors`, where the task is what is denied.
            let noun = is(at, &["no", "without"]);
            let near = if noun && !is(at + 1, &["two", "2"]) && !(at + 1..reach).any(|n| is(n, &["or"])) {
                (at + 4).min(reach)
            } else {
                reach
            };
            // `does not handle errors`: what should be done, and is not.
            let verb = (at + 1..reach)
                .find(|n| !is(*n, &["yet", "fully", "also", "even", "actually", "been", "be", "is", "was"]));
            let undone = !is(at, &["no", "without", "none", "nothing", "zero", "0"])
                && verb.is_some_and(|n| begins(n, HANDLING))
                // `I would not change a word`
                && !(verb.is_some_and(|n| begins(n, &["chang", "fix", "correct"]))
                    && (at.saturating_sub(2)..at).any(|n| is(n, &["i", "we"])));
            let mut unwanted = None;
            for n in at + 1..near {
                if begins(n, UNWANTED) {
                    unwanted = Some(n).filter(|_| !undone);
                    break;
                }
                // `no tests were skipped`: what was not done to them is bad.
                if noun && is(n, &["is", "are", "was", "were", "been"]) && begins(n + 1, UNWANTED) {
                    unwanted = Some(n + 1);
                    break;
                }
                // `no test for errors`, `no task handles them`: something else is denied.
                if noun && (is(n, PREPOSITIONS) || begins(n, HANDLING) && n > at + 1) {
                    break;
                }
            }
            // `no row of the rubric applies`, `no tasks are meant to run in parallel`
            if noun && unwanted.is_none() {
                const SPOKEN_OF: &[&str] = &[
                    "appl",
                    "trigger",
                    "forbid",
                    "violat",
                    "parallel",
                    "concurren",
                    "simultaneous",
                    "twice",
                    "same",
                ];
                unwanted = (at + 1..(reach + 3).min(ends)).find(|n| begins(*n, SPOKEN_OF));
            }
            // `0 tasks serve no step`
            let twice = |n: usize| {
                is(n, &["no"])
                    && is(
                        n - 1,
                        &["has", "have", "serve", "serves", "cover", "covers", "get", "gets", "with"],
                    )
            };
            let lack = || {
                (at + 1..reach)
                    .find(|n| is(*n, &["without"]) || begins(*n, LACKS) || is_lack(&words[*n].1) || twice(*n))
            };
            let object = unwanted.or_else(lack);
            if object.is_some() {
                // `will not miss anything`: the verb before belongs to it.
                let from = if at > 0 && is(at - 1, AUXILIARIES) { at - 1 } else { at };
                found.praise.push(words[from].0.start..words[ends - 1].0.end);
                at = ends;
                continue;
            }
            let turn = is(at + 1, TURNS_OF_SPEECH) || is_one_of(&words[at].1, &["0", "zero"]);
            // "nothing." and "none" at the end of a label are answers, not denials.
            let answer = at + 1 == words.len() && is(at, &["none", "nothing", "no"]);
            let possesses = at > 0
                && is(at, &["no"])
                && is(
                    at - 1,
                    &[
                        "has", "have", "is", "are", "with", "there's", "there", "serves", "serve", "covers",
                        "names", "states",
                    ],
                )
                || is(at, &["without"]) && is(at + 1, &["a", "an", "any", "saying", "stating", "naming"])
                || (at + 1..reach).any(|n| is(n, PRESENT));
            let counts = reading == Reading::Judgement || possesses;
            found.lacking |= counts && !(turn || answer || settled || bygone);
        } else if is_lack(&words[at].1)
            || is_undone(at.checked_sub(1).map(|n| words[n].1.as_str()), &words[at].1)
        {
            // `omits nothing the rubric asks for`
            if is(at + 1, &["nothing", "none", "neither", "no"]) {
                found.praise.push(words[at].0.start..words[at + 1].0.end);
                at += 1;
            } else {
                found.lacking |= !(settled || bygone);
            }
        }
        at += 1;
    }
    found
}

/// Does a clause speak of something that was lacking and say that it is there now?
pub(super) fn is_mended(clause: &str) -> bool {
    let words: Vec<String> = words(clause).map(|(_, word)| word).collect();
    let any = |list: &[&str]| words.iter().any(|word| is_one_of(word, list));
    let there = words.windows(2).any(|pair| {
        is_one_of(&pair[0], &["is", "are", "has", "have"])
            && (is_one_of(&pair[1], PRESENT) || is_one_of(&pair[1], &["there", "in", "both", "been"]))
    });
    let open =
        any(&["should", "must", "needs", "need", "will", "can", "may", "could", "would", "cannot", "hope"]);
    any(BYGONE) && (any(MENDED) || there) && !any(STILL) && !open && !denied_now(&words)
}

/// Does a clause say that something is in order now?
pub(super) fn is_mended_now(clause: &str) -> bool {
    let words: Vec<String> = words(clause).map(|(_, word)| word).collect();
    let any = |list: &[&str]| words.iter().any(|word| is_one_of(word, list));
    let mended = words.iter().any(|word| is_one_of(word, MENDED) && !is_one_of(word, &["both", "revision"]));
    let has_both = words.windows(2).any(|pair| is_one_of(&pair[0], &["has", "have"]) && pair[1] == "both");
    (mended || has_both) && !any(STILL) && !of(clause, Reading::Judgement).lacking
}

/// `is not`, `has no`, `doesn't`: denied in the present, and nothing bad.
fn denied_now(words: &[String]) -> bool {
    words.iter().enumerate().any(|(at, word)| {
        let now = is_one_of(
            word,
            &["is", "are", "has", "have", "does", "do", "remains", "gives", "names", "states"],
        );
        let denied = |n: usize| words.get(n).is_some_and(|w| is_one_of(w, NEGATIONS) && w != "0");
        let object = |n: usize| {
            (n + 1..n + 4)
                .any(|n| words.get(n).is_some_and(|w| UNWANTED.iter().any(|bad| w.starts_with(bad))))
        };
        let contracted = is_one_of(word, &["isn't", "aren't", "hasn't", "doesn't", "don't", "haven't"]);
        contracted && !object(at) || now && denied(at + 1) && !object(at + 1)
    })
}

/// Does a text name something that nobody wants, or something that is not so?
pub(super) fn names_something_bad(text: &str) -> bool {
    words(text).any(|(_, word)| {
        is_one_of(&word, NEGATIONS)
            || word.ends_with("n't")
            || is_lack(&word)
            || UNWANTED.iter().any(|bad| word.starts_with(bad) && !is_one_of(&word, NEUTRAL))
    })
}

/// Does a text name something that nobody wants?
pub(super) fn names_unwanted(text: &str) -> bool {
    words(text)
        .any(|(_, word)| UNWANTED.iter().any(|bad| word.starts_with(bad)) && !is_one_of(&word, NEUTRAL))
}

/// `is unreported`, `remains unknown`: what was not done to it. `Untreated animals` are a group.
fn is_undone(before: Option<&str>, word: &str) -> bool {
    const FINE: [&str; 12] = [
        "united",
        "unpaired",
        "unchanged",
        "unbiased",
        "unified",
        "undisputed",
        "unaffected",
        "undoubted",
        "unmatched",
        "unparalleled",
        "unneeded",
        "unrelated",
    ];
    let undone = word.starts_with("un") && word.len() > 6 && (word.ends_with("ed") || word.ends_with("nown"));
    let is_said = before.is_none_or(|before| {
        is_one_of(
            before,
            &["is", "are", "was", "were", "remains", "remain", "stays", "left", "goes", "go", "be", "still"],
        )
    });
    undone && is_said && !FINE.contains(&word)
}

/// Some lacks are whole words: `weak` is one, `weakness` belongs to no sentence by itself.
fn is_lack(word: &str) -> bool {
    LACKS.iter().any(|lack| word == *lack || lack.len() >= 7 && word.starts_with(lack))
}

/// The words of a text, lower case, with where they stand. An apostrophe stays inside its word.
fn words(text: &str) -> impl Iterator<Item = (std::ops::Range<usize>, String)> + '_ {
    let inside = |c: char| c.is_alphanumeric() || matches!(c, '\'' | '’');
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = text.get(at..)?;
        let start = at + rest.find(inside)?;
        let tail = &text[start..];
        let length = tail.find(|c: char| !inside(c)).unwrap_or(tail.len());
        at = start + length;
        let word = tail[..length].to_lowercase().replace('’', "'");
        Some((start..at, word.trim_matches('\'').to_owned()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lacking(text: &str) -> bool {
        of(text, Reading::Judgement).lacking
    }

    #[test]
    fn what_is_denied_of_something_good_is_lacking() {
        for text in [
            "the draft never says how many mice were used",
            "no sample size is stated",
            "it names neither the test nor the number",
            "one cannot tell how many mice there were",
            "without a sample size or a test",
            "Item 2 has not",
            "it isn't quite there",
            "the test remains vague",
            "Statistical test: absent",
            "the missing test was asked for and is still missing",
            "I would not accept this draft",
        ] {
            assert!(lacking(text), "{text}");
        }
    }

    #[test]
    fn what_is_denied_of_something_bad_is_praise() {
        for text in [
            "no issues were found",
            "I did not find any violation",
            "there is no ambiguity about the test",
            "it does not contain filler",
            "no changes are needed",
            "it does not exceed 60 words",
            "there is no reason to reject it",
            "nothing is missing",
            "the first draft had no sample size and no test",
            "the missing test was added",
            "not only the test but also its sides are named",
            "it could not be clearer",
            "no step without a task",
            "required fixes: none",
        ] {
            assert!(!lacking(text), "{text}");
        }
    }

    #[test]
    fn a_description_may_do_without_things() {
        let described = |text: &str| of(text, Reading::Description).lacking;
        for text in ["it returns -1 and does not raise", "no two tasks write one file", "3 tasks, 0 cycles"] {
            assert!(!described(text), "{text}");
        }
        for text in ["step 3 has no task", "the error page is not covered", "3 steps, one is missing"] {
            assert!(described(text), "{text}");
        }
    }
}
