//! Does the reason of an approval speak of this work, and of all that it is held to? A reason that counts some of the criteria
//! by number and says nothing of the others leaves a doubt, and so does one about another kind of work with no word in common
//! with anything the call showed. A reason that counts nothing need not speak of everything.

use std::sync::LazyLock;

use regex::Regex;

use crate::reading::english::{self, stems};
use crate::reading::quoted::Shown;

/// `criterion 2`, `Criteria 1 and 3`, `Meets 1, 2`, `the rubric's third criterion`.
static CITED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    english::pattern(
        r"(?xi)\b(?:criteri(?:on|a)|requirements?|rubric\s+(?:items?|points?))\s+\#?(?P<after>\d{1,2}(?:\s*(?:,|and|&|,\s*and)\s*\#?\d{1,2})*)\b
        |\b(?:meets?|satisf(?:y|ies)|fulfil(?:l?s)?)\s+(?:both\s+)?\#?(?P<met>\d{1,2}(?:\s*(?:,|and|&|,\s*and)\s*\#?\d{1,2})*)\s*(?:[.;,!]|$)
        |\b(?P<word>first|second|third|fourth|fifth|sixth|last)\s+(?:criterion|requirement)\b",
    )
});
/// What speaks of every criterion at once.
static ALL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    english::pattern(
        r"(?xi)\b(?:all|every|everything|each|both|others?|rest|remaining|remainder|whole|entire\w*|full|fully|complet\w*|nothing|no\s+(?:\w+\s+)?(?:issues?|problems?|objections?|criteri\w+)|none)\b
        |\b(?:criteria|requirements|rubric)\s+(?:is|are|was|were)\b|\b(?:meets|satisfies|fulfils)\s+the\s+(?:criteria|rubric|requirements)(?:[\s.,;!]|$)",
    )
});
/// A sentence about a thing of another kind than a text that is judged for its words.
static OTHER_KIND: LazyLock<Option<Regex>> = LazyLock::new(|| {
    english::pattern(
        r"(?xi)^\W*(?:the|this|your)\s+(?:\w+\s+)?(?P<kind>functions?|class|module|script|program|codebase|code|endpoint|query|poem|essay|story|recipe|contract|e-?mail|letter|slides?|presentation|patch|commit|migration|component|image|photo(?:graph)?|video|song|spreadsheet|website|app|schema|pipeline|logo|novel|speech|diagram)\b",
    )
});

/// What the reason leaves out, in the words of the question, with the passage.
pub(super) fn doubt(said: &[&str], shown: &Shown) -> Option<(&'static str, String)> {
    let whole = said.join("\n");
    let text = whole.as_str();
    counts_some(text, shown)
        .map(|passage| ("it approves and speaks of some of the criteria only", passage))
        .or_else(|| of_another_work(said, shown).map(|passage| ("it speaks of another work", passage)))
}

/// The passage that counts some of the criteria, if nothing speaks of the others.
fn counts_some(text: &str, shown: &Shown) -> Option<String> {
    let (counting, all) = (CITED.as_ref()?, ALL.as_ref()?);
    let first = counting.find(text)?.as_str().to_owned();
    let mut lists = shown.lists();
    let (Some(criteria), None) = (lists.next(), lists.next()) else { return None };
    if all.is_match(text) {
        return None;
    }
    let mut cited: Vec<usize> = Vec::new();
    for found in counting.captures_iter(text) {
        let numbers = found.name("after").or_else(|| found.name("met"));
        let numbers = numbers.map_or("", |numbers| numbers.as_str());
        cited.extend(numbers.split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse::<usize>().ok()));
        let ordinals = ["first", "second", "third", "fourth", "fifth", "sixth"];
        let word = found.name("word").map(|word| word.as_str().to_lowercase());
        cited.extend(word.and_then(|word| match word.as_str() {
            "last" => Some(criteria.len()),
            word => ordinals.iter().position(|one| *one == word).map(|at| at + 1),
        }));
    }
    let is_spoken_of = |criterion: &str| stems(criterion).any(|stem| text.to_lowercase().contains(&stem));
    let left =
        (1..).zip(&criteria).any(|(number, criterion)| !cited.contains(&number) && !is_spoken_of(criterion));
    // A number beyond the list counts something else.
    (left && cited.iter().all(|number| (1..=criteria.len()).contains(number))).then_some(first)
}

/// A sentence about a thing of another kind, where nothing that is said stands in what was shown.
fn of_another_work(said: &[&str], shown: &Shown) -> Option<String> {
    let kind = OTHER_KIND.as_ref()?;
    let (passage, found) = said.iter().find_map(|said| Some((*said, kind.captures(said)?)))?;
    let named = found.name("kind")?.as_str();
    let is_shown = shown.is_empty()
        || shown.mentions(named)
        || said.iter().flat_map(|said| stems(said)).any(|stem| shown.mentions(&stem));
    (!is_shown).then(|| passage.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUBRIC: &str =
        "- states the sample size per group\n- names the statistical test\n- at most 60 words\n";
    const DRAFT: &str = "Sleep improved recall in 12 mice per group (two-sided t-test).\n";

    #[test]
    fn a_reason_that_counts_some_of_the_criteria_speaks_of_the_others_or_leaves_a_doubt() {
        let shown = Shown::of([RUBRIC, DRAFT]);
        for said in [
            "The draft satisfies the rubric's third criterion.",
            "Meets 1 and 3. For 2, see above.",
            "Criterion 1 is met.",
            "Criteria 1 and 2 are met.",
        ] {
            assert!(doubt(&[said], &shown).is_some(), "{said}");
            assert!(doubt(&[said], &Shown::of([DRAFT])).is_none(), "nobody knows how many there are: {said}");
        }
        for said in [
            "Criteria 1, 2 and 3 are met.",
            "Meets 1, 2, and 3.",
            "The third criterion is met with 11 words; the sample size and the test are given.",
            "Criterion 1 is met, and so are the others.",
            "The sample size is stated.",
            "It reads well.",
        ] {
            assert_eq!(doubt(&[said], &shown), None, "{said}");
        }
    }

    #[test]
    fn a_reason_about_another_kind_of_work_leaves_a_doubt() {
        let shown = Shown::of([RUBRIC, DRAFT]);
        let other = "The function computes the moving average and handles empty input.";
        assert!(doubt(&[other], &shown).is_some());
        for (said, work) in [
            (other, "def average(x): ..."),
            ("The script improved recall.", DRAFT),
            ("The letter names its test.", DRAFT),
            ("The text is clear and flows well.", DRAFT),
        ] {
            assert_eq!(doubt(&[said], &Shown::of([RUBRIC, work])), None, "{said}");
        }
    }
}
