//! What becomes of findings across rounds, and what that says about headway.

use super::*;
use crate::evidence;
use crate::finding::{Location, Severity};

/// A loop over one text draft.
#[derive(Clone, Default)]
struct Loop {
    lineage: Lineage,
    round: u32,
    before: Option<Corpus>,
    findings: Vec<Finding>,
}

impl Loop {
    /// The next round: its draft and what the critic says about it.
    fn judged(&mut self, draft: &str, findings: Vec<Finding>) -> Moved {
        self.round += 1;
        self.findings = findings;
        let now = Corpus::of_draft(draft);
        evidence::check(&mut self.findings, &now);
        let artifact = Digest::of(draft.as_bytes());
        let moved = self.lineage.take(self.round, artifact, &mut self.findings, &now, self.before.as_ref());
        self.before = Some(now);
        moved
    }

    fn standings(&self) -> Vec<(u32, FindingStatus, u32)> {
        self.findings.iter().map(|f| (f.number, f.standing, f.since)).collect()
    }
}

fn says(text: &str) -> Finding {
    Finding::new("clarity", Severity::Risk, text, "critic")
}

fn quotes(text: &str, quote: &str) -> Finding {
    let mut finding = says(text);
    finding.quote = Some(quote.into());
    finding
}

fn at(text: &str, path: &str, line: u32) -> Finding {
    let mut finding = says(text);
    finding.place = Some(Location { path: path.into(), line: Some(line), end: None });
    finding
}

const APPLES: &str = "Apples are sold by weight in most shops.";
const PEARS: &str = "Pears keep longer when they are cool.";
const PLUMS: &str = "Plums were counted twice by the clerk.";

fn draft(sentences: &[&str]) -> String {
    sentences.join("\n")
}

#[test]
fn a_point_keeps_its_number_while_it_is_open_and_is_fixed_when_it_is_gone() {
    let mut run = Loop::default();
    let first = run
        .judged(&draft(&[APPLES, PEARS]), vec![quotes("Unit missing", APPLES), quotes("How cool?", PEARS)]);
    assert_eq!((first.new, first.fixed), (vec![1, 2], vec![]));
    let second = run.judged(
        &draft(&["New opening.", PEARS, APPLES]),
        vec![quotes("Say how cool they are", PEARS), quotes("A sentence about nothing", "New opening.")],
    );
    assert_eq!(run.standings(), [(2, FindingStatus::Recurring, 1), (3, FindingStatus::New, 2)]);
    assert_eq!((second.recurring, second.new, second.fixed), (vec![2], vec![3], vec![1]));
}

#[test]
fn a_fixed_point_that_is_back_has_regressed() {
    let mut run = Loop::default();
    run.judged(&draft(&[APPLES, PEARS]), vec![quotes("Unit missing", APPLES), quotes("How cool?", PEARS)]);
    run.judged(&draft(&["Apples cost 2 a kilo.", PEARS]), vec![quotes("How cool?", PEARS)]);
    let third = run.judged(
        &draft(&[APPLES, "Pears keep at 4 degrees."]),
        vec![quotes("The unit is missing again", APPLES)],
    );
    assert_eq!(run.standings(), [(1, FindingStatus::Regressed, 1)]);
    assert_eq!((third.regressed, third.fixed), (vec![1], vec![2]));
}

#[test]
fn an_unmatched_finding_counts_neither_as_fixed_nor_as_new() {
    let mut run = Loop::default();
    run.judged(&draft(&[APPLES]), vec![quotes("The unit is missing.", APPLES)]);
    let second = run.judged(&draft(&[APPLES]), vec![quotes("Which shops, and where?", APPLES)]);
    assert_eq!(run.standings(), [(2, FindingStatus::Unmatched, 2)]);
    assert_eq!((second.unmatched, second.fixed, second.new), (vec![2], vec![], vec![]));
    assert_eq!(run.lineage.open(), [1, 2]);
    let third = run.judged(&draft(&[APPLES]), vec![quotes("Which shops, and where are they?", APPLES)]);
    assert_eq!(
        (third.recurring, third.fixed),
        (vec![2], vec![]),
        "as long as it may be the first, that is open"
    );
    let fourth = run.judged(&draft(&[PEARS]), vec![]);
    assert_eq!(fourth.fixed, [1, 2], "what may have been it is gone, too");
}

#[test]
fn two_points_in_one_review_are_two_even_if_they_were_taken_for_one() {
    let mut run = Loop::default();
    let (unit, shops) = ("The unit is missing.", "Which shops, and where?");
    run.judged(&draft(&[APPLES]), vec![quotes(unit, APPLES)]);
    run.judged(&draft(&[APPLES]), vec![quotes(shops, APPLES)]);
    run.judged(&draft(&[APPLES]), vec![quotes(unit, APPLES), quotes(shops, APPLES)]);
    let fourth = run.judged(&draft(&[APPLES]), vec![quotes(shops, APPLES)]);
    assert_eq!((fourth.recurring, fourth.fixed), (vec![2], vec![1]));
}

#[test]
fn matching_is_one_to_one_and_the_best_pair_wins() {
    let text = draft(&[APPLES, PEARS]);
    let mut run = Loop::default();
    run.judged(
        &text,
        vec![quotes("The unit of weight is missing", APPLES), quotes("Which shops are meant?", APPLES)],
    );
    run.judged(
        &text,
        vec![quotes("Which shops do you mean?", APPLES), quotes("Unit of weight still missing", APPLES)],
    );
    assert_eq!(run.standings(), [(2, FindingStatus::Recurring, 1), (1, FindingStatus::Recurring, 1)]);
}

#[test]
fn one_earlier_point_is_never_two_findings() {
    let twice = draft(&[APPLES, APPLES]);
    let on =
        |line| Finding { quote: Some(APPLES.into()), ..at("The unit of weight is missing", "draft", line) };
    let mut run = Loop::default();
    run.judged(&twice, vec![on(1)]);
    let moved = run.judged(&twice, vec![on(2), on(1)]);
    assert_eq!((moved.recurring, moved.new), (vec![1], vec![2]), "red if matching were not one-to-one");
    assert_eq!(run.findings.iter().map(|f| f.number).collect::<Vec<_>>(), [2, 1], "the nearer line is meant");
}

#[test]
fn an_unsupported_finding_takes_no_part() {
    let mut run = Loop::default();
    let first = run.judged(
        &draft(&[APPLES]),
        vec![quotes("Unit missing", "Cherries are red."), quotes("Unit missing", APPLES)],
    );
    assert_eq!(first.new, [1]);
    assert_eq!(run.findings.iter().map(|f| f.number).collect::<Vec<_>>(), [0, 1]);
    assert!(first.merged.is_empty(), "an unsupported finding is nobody's duplicate");
    let second = run.judged(&draft(&[APPLES]), vec![quotes("Unit missing", "Cherries are red.")]);
    assert_eq!(second.fixed, [1], "a made-up citation does not keep a point open");
}

#[test]
fn a_duplicate_keeps_the_highest_severity() {
    let mut run = Loop::default();
    let mut worse = quotes("Add the missing unit", APPLES);
    worse.severity = Severity::Fail;
    worse.by = "second".into();
    worse.fix = "per kilo".into();
    let moved = run.judged(&draft(&[APPLES]), vec![quotes("The unit is missing", APPLES), worse]);
    assert_eq!(run.findings.len(), 1);
    assert_eq!((run.findings[0].severity, run.findings[0].fix.as_str()), (Severity::Fail, "per kilo"));
    assert_eq!((moved.merged[0].number, moved.merged[0].by.as_str()), (1, "second"));
}

#[test]
fn findings_of_two_criteria_or_rules_are_never_duplicates() {
    let mut run = Loop::default();
    let with =
        |criterion: &str| Finding { criterion: Some(criterion.into()), ..says("Exits with 0 on success.") };
    let other_rule = Finding { rule: "tone".into(), ..with("SC-1") };
    let moved =
        run.judged("x", vec![with("SC-1"), with("SC-2"), says("Exits with 0 on success."), other_rule]);
    assert_eq!((run.findings.len(), moved.new), (4, vec![1, 2, 3, 4]));
    let moved = run.judged("y", vec![with("SC-2"), with("SC-1")]);
    assert_eq!(moved.recurring, [2, 1]);
}

#[test]
fn without_a_place_only_the_same_words_are_a_duplicate() {
    let mut run = Loop::default();
    let said = ["No task covers logging in.", "No task covers logging out.", "no task covers: logging in"];
    run.judged("x", said.map(says).to_vec());
    assert_eq!(run.findings.iter().map(|f| f.says.as_str()).collect::<Vec<_>>(), said[..2]);
}

#[test]
fn an_unmet_criterion_is_one_point_wherever_it_shows() {
    let unmet = |text: &str, line| Finding {
        rule: "unmet-criterion".into(),
        criterion: Some("SC-1".into()),
        ..at(text, "draft", line)
    };
    let mut run = Loop::default();
    run.judged("# A\nx\n# B\ny\n", vec![unmet("The header is not sent.", 2)]);
    run.judged("# A\nx\n# B\ny\n", vec![unmet("Nothing writes the cookie.", 4)]);
    assert_eq!(run.standings(), [(1, FindingStatus::Recurring, 1)]);
}

#[test]
fn a_plateau_needs_two_rounds_without_a_fix_and_doubt_is_no_fix() {
    let mut run = Loop::default();
    let both = || vec![quotes("Unit missing", APPLES), quotes("How cool?", PEARS)];
    assert_eq!(run.judged(&draft(&[APPLES, PEARS, "1"]), both()).stalls, []);
    assert_eq!(run.judged(&draft(&[APPLES, PEARS, "2"]), both()).stalls, []);
    assert_eq!(run.judged(&draft(&[APPLES, PEARS, "3"]), both()).stalls, [Stall::Plateau]);
    assert_eq!(run.judged(&draft(&[APPLES, "4"]), vec![quotes("Unit missing", APPLES)]).stalls, []);
}

#[test]
fn an_oscillation_is_a_draft_that_is_back_or_a_point_that_returns_twice() {
    let mut run = Loop::default();
    run.judged("one", vec![says("The tone is wrong")]);
    run.judged("two", vec![says("The length is wrong")]);
    assert_eq!(run.judged("one", vec![says("No list of sources")]).stalls, [Stall::Oscillation]);

    let mut run = Loop::default();
    let unit = || vec![quotes("Unit missing", APPLES)];
    let cool = || vec![quotes("How cool?", PEARS)];
    run.judged(&draft(&[APPLES, PEARS, "1"]), unit());
    run.judged(&draft(&[PEARS, "2"]), cool());
    assert_eq!(run.judged(&draft(&[APPLES, "3"]), unit()).stalls, [], "once is not a swing");
    run.judged(&draft(&[PEARS, "4"]), cool());
    assert_eq!(run.judged(&draft(&[APPLES, "5"]), unit()).stalls, [Stall::Oscillation]);
}

#[test]
fn an_artifact_that_no_critic_judged_lies_between_two_equal_ones() {
    let mut run = Loop::default();
    run.judged("one", vec![says("The tone is wrong")]);
    run.lineage.pass_by(Digest::of(b"red"));
    assert_eq!(run.judged("one", vec![says("The tone is wrong")]).stalls, [Stall::Oscillation]);
}

#[test]
fn churn_is_only_new_points_about_text_that_stood_there_before() {
    let mut run = Loop::default();
    run.judged(&draft(&[APPLES, PEARS, PLUMS, "1"]), vec![quotes("Unit missing", APPLES)]);
    let without = |n| draft(&[PEARS, PLUMS, n]);
    assert_eq!(run.judged(&without("2"), vec![quotes("How cool?", PEARS)]).stalls, []);
    let (mut still, mut changed) = (run.clone(), run);
    assert_eq!(still.judged(&without("3"), vec![quotes("Which clerk?", PLUMS)]).stalls, [Stall::Churn]);
    let new_text = "Plums are blue now.";
    let moved = changed.judged(&draft(&[PEARS, new_text]), vec![quotes("How blue?", new_text)]);
    assert_eq!(moved.stalls, [], "about text the worker just wrote");
}

#[test]
fn churn_is_seen_by_lines_too_and_never_without_a_place() {
    let churns = |finding: fn(u32) -> Finding, old: &str, new: &str| {
        let mut run = Loop::default();
        run.judged(&format!("{old}\nfirst\n"), vec![quotes("dull", "first")]);
        run.judged(&format!("{old}\nsecond\n"), vec![finding(1)]);
        run.judged(&format!("{new}\nthird\n"), vec![finding(3)]).stalls == [Stall::Churn]
    };
    let text = "Plums were counted.\n\nPears were not.\n\n\n";
    assert!(churns(|n| at(if n == 1 { "Who counted?" } else { "Where exactly?" }, "draft", n), text, text));
    assert!(!churns(
        |n| at(if n == 1 { "Who counted?" } else { "Where exactly?" }, "draft", n),
        text,
        "Other\n\ntext\n\n\n"
    ));
    assert!(!churns(|n| says(if n == 1 { "Who counted?" } else { "Where exactly?" }), text, text), "unsure");
}

#[test]
fn an_unmatched_finding_is_no_churn() {
    let third_round = |third: &str| {
        let mut run = Loop::default();
        run.judged(&draft(&[PLUMS, APPLES, "1"]), vec![quotes("Which clerk?", PLUMS)]);
        run.judged(&draft(&[APPLES, "2"]), vec![quotes("The unit is missing.", APPLES)]);
        run.judged(&draft(&[APPLES, "3"]), vec![quotes(third, APPLES)])
    };
    let moved = third_round("Which shops, and where?");
    assert_eq!((moved.unmatched.len(), moved.stalls), (1, vec![]));
}

#[test]
fn the_same_rounds_give_the_same_numbers() {
    let run = || {
        let mut run = Loop::default();
        run.judged(
            &draft(&[APPLES, PEARS]),
            vec![says("a b c d"), quotes("How cool?", PEARS), says("c d e f")],
        );
        let moved = run.judged(&draft(&[APPLES, PEARS]), vec![says("b c d e"), says("a b c d e f")]);
        (run.standings(), moved)
    };
    assert_eq!(run(), run());
}

#[test]
fn a_flood_of_findings_is_numbered_in_time() {
    let mut run = Loop::default();
    let flood = |word: &str| -> Vec<Finding> {
        (0..1_200u32)
            .map(|n| at(&format!("{word} alpha beta gamma delta number {n} {}", n * 7), "draft", 1))
            .collect()
    };
    let first = run.judged("x", flood("one"));
    assert_eq!(first.new.len(), 1_200);
    let second = run.judged("y", flood("two"));
    assert_eq!(run.findings.len(), 1_200);
    assert!(run.findings.iter().all(|f| f.number > 0));
    assert!(second.recurring.len() + second.unmatched.len() <= MATCHED);
}

#[test]
fn a_fingerprint_outlives_a_move_and_nothing_else() {
    let mut finding = quotes("At line 3 the unit is missing", APPLES);
    finding.place = Some(Location { path: "./draft".into(), line: Some(3), end: None });
    finding.within = Some("Prices".into());
    let print = fingerprint(&finding);
    assert_eq!(print.len(), 32);
    assert!(print.chars().all(|c| c.is_ascii_hexdigit()));
    let mut moved = finding.clone();
    moved.place = Some(Location { path: "draft".into(), line: Some(90), end: Some(91) });
    (moved.number, moved.since, moved.standing) = (7, 4, FindingStatus::Recurring);
    moved.says = "Another wording".into();
    moved.quote = Some("Apples are  sold by\nweight in most shops.".into());
    assert_eq!(fingerprint(&moved), print, "line, number, round and wording do not count beside a quote");
    let changes: [fn(&mut Finding); 5] = [
        |f| f.rule = "tone".into(),
        |f| f.quote = Some(PEARS.into()),
        |f| f.within = Some("Costs".into()),
        |f| f.criterion = Some("SC-1".into()),
        |f| f.place = Some(Location { path: "other".into(), line: Some(3), end: None }),
    ];
    for change in changes {
        let mut other = finding.clone();
        change(&mut other);
        assert_ne!(fingerprint(&other), print, "{other:?}");
    }
    let (mut one, mut two) =
        (says("At line 3 the unit is missing"), says("at line 90, the UNIT is missing!"));
    assert_eq!(fingerprint(&one), fingerprint(&two), "without a quote by words, and not by their lines");
    (one.says, two.says) = ("unit missing".into(), "unit wrong".into());
    assert_ne!(fingerprint(&one), fingerprint(&two));
}

#[test]
fn fingerprints_of_one_review_are_distinct_in_the_order_of_their_lines() {
    let (late, early) = (at("Magic number", "a.rs", 40), at("Magic number", "a.rs", 7));
    let other = at("Dead code", "a.rs", 1);
    let prints = fingerprints(&[late.clone(), other, early.clone()]);
    let plain = fingerprint(&early);
    assert_eq!((prints[2].clone(), prints[0].clone()), (plain.clone(), format!("{plain}:2")));
    assert_eq!(fingerprints(&[early, late]), [plain.clone(), format!("{plain}:2")]);
}

#[test]
fn a_point_about_another_lack_is_another_point() {
    let mut l = Loop::default();
    let row = |text: &str, quote: &str| Finding { rule: "claim".into(), ..quotes(text, quote) };
    l.judged(
        "The new line saves a lot of water.",
        vec![row("saving without a number", "saves a lot of water")],
    );
    l.judged(
        "The new line saves a lot of water.",
        vec![row("saving without a number", "saves a lot of water")],
    );
    assert_eq!(l.standings(), [(1, FindingStatus::Recurring, 1)]);
    l.judged(
        "The new line saves 40 % of water.",
        vec![row("no source for the saving", "saves 40 % of water")],
    );
    assert_ne!(l.standings()[0].0, 1, "it was never raised before: {:?}", l.standings());
}
