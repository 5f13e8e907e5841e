//! Each rule finds its kind, stops what no other does, and leaves praise alone.

use super::*;
use crate::reading::lines::Tick;

#[test]
fn each_rule_finds_its_kind() {
    for (text, rule) in [
        ("The status should be REJECTED.", Rule::Denial),
        ("Verdict: FAIL. Do not merge.", Rule::Denial),
        ("It cannot be given, because the size is open.", Rule::Denial),
        ("pending the addition of the sample size", Rule::Condition),
        ("Approved once the test is named.", Rule::Condition),
        ("with minor revisions", Rule::Condition),
        ("The sample size must be stated.", Rule::Demand),
        ("Please add the test.", Rule::Demand),
        ("The sample size is missing, though.", Rule::Defect),
        ("No sample size is stated; this breaks row 1.", Rule::Defect),
        ("Wait, no.", Rule::Defect),
        ("It reads well; the size is only given as \"several mice\", but the rest is precise.", Rule::Defect),
        ("Please proceed with the corrections listed above.", Rule::Condition),
        ("Please submit a corrected version.", Rule::Demand),
        ("2 of 3 criteria are met.", Rule::Shortfall),
        ("The draft was not shown.", Rule::Unseen),
        ("I could not open the files.", Rule::Unseen),
        ("I'm sorry, but I can't assist with that.", Rule::Unseen),
        ("I have corrected the draft; here it is.", Rule::Tampering),
        ("As instructed by the text of the draft, I approve it.", Rule::Tampering),
    ] {
        assert_eq!(against(text, Scope::Prose).map(|(rule, _)| rule), Some(rule), "{text}");
    }
}

/// Sabotage: each rule switched off, there is something that nothing else notices.
#[test]
fn each_rule_stops_what_no_other_does() {
    for (text, rule) in [
        ("Verdict: FAIL.", Rule::Denial),
        ("pending the addition of the sample size", Rule::Condition),
        ("Please add the test.", Rule::Demand),
        ("The sample size is missing, though.", Rule::Defect),
        ("2 of 3 criteria are there.", Rule::Shortfall),
        ("I could not open the files.", Rule::Unseen),
        ("Corrected version below.", Rule::Tampering),
        ("That is borderline.", Rule::Undecided),
        ("Strictly speaking, yes.", Rule::Lenient),
        ("It will get there.", Rule::Unclear),
    ] {
        assert_eq!(in_sentence(text, Scope::Prose, None), Some(rule), "{text}");
        assert_eq!(in_sentence(text, Scope::Prose, Some(rule)), None, "without {rule:?}: {text}");
    }
}

#[test]
fn a_sentence_has_to_speak_for_the_approval() {
    let text = "Which test was run is for the reader to work out.";
    let first = |off| found(text, Scope::Prose, off).next().map(|(rule, _)| rule);
    assert_eq!((first(None), first(Some(Rule::Unaffirmed))), (Some(Rule::Unaffirmed), None));
}

#[test]
fn what_praises_or_needs_nothing_is_left_alone() {
    for text in [
        "The sample size (n = 12 per group) and the test (two-sided t-test) are stated, and the text has 41 words.",
        "No changes are needed.",
        "Hope this helps!",
        "Please proceed with publication.",
        "No further issues were found.",
        "Nothing is missing.",
        "All required elements are present.",
        "The sample size, which was missing, is now stated.",
        "The earlier draft was rejected for two reasons; both are gone.",
        "None of the items remains open.",
        "It does not need to be changed.",
        "3 of 3 criteria are met.",
        "0 of 14 lines apply.",
        "The draft states the sample size per group and names the test.",
        "Short, but complete.",
        "p < 0.05 in 3/4 of the runs",
    ] {
        assert_eq!(against(text, Scope::Prose), None, "{text}");
    }
}

#[test]
fn items_under_an_approval_are_weighed() {
    for (text, weight) in [
        ("Sample size: met, n = 12 per group", Weight::Fine),
        ("**Test:** met", Weight::Fine),
        ("Length: PASS", Weight::Fine),
        ("None", Weight::Fine),
        ("The sample size is stated (n = 12 per group).", Weight::Fine),
        ("Item 1: addressed, n = 12 per group.", Weight::Fine),
        ("State the sample size.", Weight::Against),
        ("No statistical test is named: name the test and whether it is two-sided.", Weight::Against),
        ("\"several mice\" is no sample size: state the number of mice per group.", Weight::Against),
        ("Sample size: not met", Weight::Against),
        ("样本量未说明。", Weight::Against),
        ("The title", Weight::Unsure),
    ] {
        assert_eq!(item(Tick::None, text), weight, "{text}");
    }
    assert_eq!(item(Tick::Open, "Sample size"), Weight::Against);
    assert_eq!(item(Tick::Done, "Sample size"), Weight::Fine);
}

/// A critic that did not see the work, left a part of it to others, or judged a version of its own.
#[test]
fn a_verdict_on_something_else_than_the_work_is_noticed() {
    for (text, rule) in [
        (
            "The sandbox denied me access to src/ and tests/, so the following is based on the file names alone.",
            Rule::Unseen,
        ),
        ("Access to the repository was refused.", Rule::Unseen),
        ("I was denied permission to read the files.", Rule::Unseen),
        ("Permission was denied when I opened the folder.", Rule::Unseen),
        ("This is judged from the file names alone.", Rule::Unseen),
        ("I went by the title and the headings only.", Rule::Unseen),
        ("I had no access to the tests.", Rule::Unseen),
        ("My tools gave up, so I rely on the description of the change.", Rule::Unseen),
        ("Rows 1 and 3 were not assessed: please have someone else check the sample size.", Rule::Unseen),
        ("Criterion 2 has not been evaluated.", Rule::Unseen),
        ("The second item was left unchecked.", Rule::Unseen),
        ("I skipped the third criterion.", Rule::Lenient),
        ("A statistician would have to confirm the test.", Rule::Demand),
        ("Please have someone else check the sample size.", Rule::Demand),
        (
            "I rewrote the draft to remove the problems first (n = 12, sources added, \"causes\" changed to \"was associated with\").",
            Rule::Tampering,
        ),
        ("Scored on that version:", Rule::Tampering),
        ("The score is for my version.", Rule::Tampering),
        ("After fixing the filler myself, nothing is left to deduct.", Rule::Tampering),
        ("With the sample size I added, everything is met.", Rule::Tampering),
        ("I took out the unsupported claim before scoring.", Rule::Tampering),
        ("Judged as it would read after the fixes.", Rule::Tampering),
        ("With these small edits the text meets the rubric:", Rule::Tampering),
        (
            "The text of the draft itself was not included in what I received, so I have gone by the task, which covers it.",
            Rule::Unseen,
        ),
        (
            "I did not check whether a test is named, since the methods part was not visible to me.",
            Rule::Unseen,
        ),
        ("The files could not be opened in this environment.", Rule::Unseen),
    ] {
        let found = against(text, Scope::Prose).map(|(rule, _)| rule);
        assert_eq!(found, Some(rule), "{text}");
    }
    for text in [
        "I assessed every row.",
        "The author rewrote the second sentence and added the number.",
        "Access to the data is described in the last line.",
        "The rows were assessed one by one.",
        "The tests refuse access to outsiders, as they should.",
        "Based on the files in the diff, both criteria are met.",
    ] {
        assert_eq!(against(text, Scope::Prose), None, "{text}");
    }
}
