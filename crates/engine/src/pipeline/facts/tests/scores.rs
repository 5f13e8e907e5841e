//! Scores count while what was judged is what is there, and only as what they are.

use proptest::prelude::*;

use super::bench::{Bench, MEMO, path, share};
use crate::pipeline::aggregate::Hundredths;
use crate::pipeline::facts::AgentReadiness;
use crate::pipeline::gate::Gate;
use crate::pipeline::registry::RegistryEntry;

#[test]
fn one_changed_byte_closes_every_gate_that_stood_on_it() {
    let mut bench = Bench::paper();
    bench.finish("librarian", 85);
    bench.finish("strategist", 85);
    assert_eq!(bench.standing("strategist"), AgentReadiness::Done { score: Some(85) });
    assert_eq!(bench.standing("coder"), AgentReadiness::Ready);
    let before = bench.facts().aggregate();
    assert_eq!(before.overall, Some(Hundredths(8500)));

    bench.file(
        MEMO,
        "## 1. Estimand\n## 2. Specification\n## 3. Assumptions\n## 4. Robustness Plan\n## 5. Threats\n\n",
    );
    assert_eq!(bench.standing("strategist"), AgentReadiness::Ready);
    let gaps = bench.gaps("coder");
    assert_eq!(gaps.len(), 1);
    assert_eq!(gaps[0].what, format!("strategist-critic score is stale: {MEMO} changed since it was judged"));
    assert!(gaps[0].hint.as_ref().unwrap().starts_with("Run agent strategist again"));
    assert!(bench.facts().current("strategist").is_none());
    let after = bench.facts().gate(&Gate::commit());
    assert_eq!(
        after.aggregate.components[2].rows[0].because.as_deref(),
        Some(&*format!("stale: {MEMO} changed since it was judged"))
    );
    assert!(after.missing.iter().any(|m| m.starts_with("identification (stale")), "{:?}", after.missing);

    bench.memo(72);
    assert_eq!(bench.gaps("coder")[0].what, "strategist-critic score is 72, needs 80");
    assert_eq!(bench.standing("strategist"), AgentReadiness::Ready);
}

#[test]
fn a_deleted_file_is_a_changed_one() {
    let mut bench = Bench::paper();
    bench.memo(90);
    bench.listing.remove(MEMO);
    assert_eq!(bench.gaps("coder")[0].what, format!("missing {MEMO}"));
    assert!(bench.gaps("coder")[1].what.contains("stale"));
}

#[test]
fn a_product_nobody_judged_has_to_be_there_too() {
    let mut bench = Bench::paper();
    bench.memo(90);
    bench.finish("coder", 90);
    assert_eq!(bench.standing("coder"), AgentReadiness::Done { score: Some(90) });
    let kept: Vec<_> =
        bench.verdicts[1].files.iter().filter(|f| !f.path.contains("figures")).cloned().collect();
    bench.verdicts[1].files = kept;
    bench.listing.remove("paper/figures/coder.tex");
    assert_eq!(bench.standing("coder"), AgentReadiness::Ready);
}

#[test]
fn a_verdict_on_nothing_the_agent_makes_does_not_count() {
    let mut bench = Bench::paper();
    bench.file(MEMO, "## Estimand\n## Specification\n## Assumptions\n## Robustness Plan\n## Threats");
    for files in [&[][..], &[("README.md", "")][..]] {
        bench.judged("strategist", 99, files);
        assert_eq!(bench.gaps("coder")[0].what, "strategist-critic has not judged strategist yet");
        assert_eq!(bench.facts().aggregate().overall, None);
        assert!(bench.facts().current("strategist").is_none());
    }
    bench.judged("domain-referee", 99, &[]);
    assert_eq!(bench.facts().aggregate().overall, None);
}

#[test]
fn everybody_a_critic_judges_has_to_pass() {
    let mut bench = Bench::paper();
    bench.memo(90);
    bench.finish("coder", 84);
    assert_eq!(bench.standing("writer"), AgentReadiness::Ready, "nobody engineers data in this project");
    bench.finish("data-engineer", 72);
    assert_eq!(bench.gaps("writer")[0].what, "coder-critic score is 72, needs 80");
    assert_eq!(
        bench.gaps("writer")[0].hint.as_deref(),
        Some("Run agent data-engineer again to raise the score of data-engineer.")
    );
    bench.finish("data-engineer", 80);
    assert_eq!(bench.standing("writer"), AgentReadiness::Ready);
}

#[test]
fn a_critic_nobody_has_is_said_to_be_one() {
    let bench = Bench::of(vec![RegistryEntry {
        agent: "a".into(),
        requires: super::score("ghost-critic", 80),
        ..RegistryEntry::default()
    }]);
    assert!(bench.gaps("a")[0].what.contains("ghost-critic is the critic of no agent here"));
}

#[test]
fn another_lens_has_to_pass_but_is_not_the_score() {
    let mut bench = Bench::paper();
    bench.finish("librarian", 90);
    bench.memo(92);
    bench.other_lens("coder-critic", 60);
    assert_eq!(bench.gaps("coder")[0].what, "coder-critic score of strategist is 60, needs 80");
    assert_eq!(bench.standing("strategist"), AgentReadiness::Ready, "not done");
    assert_eq!(bench.facts().aggregate().components[2].score, Some(Hundredths(9200)));
    assert!(
        bench.gaps("writer")[0].what.contains("has not judged"),
        "a lens on the memo says nothing about code"
    );
    bench.verdicts.last_mut().unwrap().other[0].score = 80;
    assert_eq!(bench.standing("strategist"), AgentReadiness::Done { score: Some(92) });
}

#[test]
fn whoever_judges_is_done_with_any_score_and_advice_never_blocks() {
    let mut bench = Bench::paper();
    bench.finish("domain-referee", 40);
    assert_eq!(bench.standing("domain-referee"), AgentReadiness::Done { score: Some(40) });
    bench.finish("storyteller", 30);
    assert_eq!(bench.standing("storyteller"), AgentReadiness::Done { score: Some(30) });
    assert_eq!(bench.facts().aggregate().overall, Some(Hundredths(4000)));
    bench.finish("coder", 40);
    assert!(!matches!(bench.standing("coder"), AgentReadiness::Done { .. }));
}

/// Everybody but the verifier.
const BEFORE: [&str; 8] = [
    "librarian",
    "explorer",
    "strategist",
    "data-engineer",
    "coder",
    "writer",
    "domain-referee",
    "methods-referee",
];

#[test]
fn the_verifier_waits_for_all_others_and_not_for_itself() {
    let mut bench = Bench::paper();
    bench.finish("librarian", 96);
    let early: Vec<String> = bench.gaps("verifier").into_iter().map(|gap| gap.what).collect();
    assert_eq!(early[0], "data has no score of explorer (not judged yet)", "96 of one is not the whole");
    for agent in BEFORE {
        bench.finish(agent, 96);
    }
    assert_eq!(bench.standing("verifier"), AgentReadiness::Ready);
    bench.finish("verifier", 10);
    assert_eq!(bench.facts().aggregate().overall, Some(Hundredths(9120)), "96 of 95 %, 0 of 5 %");
    let verifier = bench.registry.get("verifier").unwrap();
    assert!(bench.facts().explain(verifier).iter().all(|e| e.holds == crate::pipeline::facts::Holds::Yes));
    bench.finish("verifier", 85);
    assert_eq!(bench.facts().aggregate().overall, Some(Hundredths(9620)), "it is 0 or 100");
    bench.finish("writer", 79);
    assert_eq!(
        bench.unmet("verifier"),
        ["overall score is 94.21, needs 95", "polish is 79.00, every component needs 80",]
    );
}

#[test]
fn weights_are_normalised_with_theory_and_without() {
    let mut bench = Bench::paper();
    for agent in BEFORE {
        bench.finish(agent, 90);
    }
    bench.finish("verifier", 100);
    bench.finish("theorist", 30);
    let without = bench.facts().aggregate();
    assert_eq!(without.components.iter().map(|c| c.points).sum::<u32>(), 10_000);
    assert_eq!(without.overall, Some(Hundredths(9050)));
    bench.enabled.insert("theorist".into());
    let with = bench.facts().aggregate();
    assert_eq!(with.components.iter().map(|c| c.points).sum::<u32>(), 12_000);
    assert_eq!(with.overall, Some(Hundredths(8042)), "(90.5 + 6) / 1.2");
}

#[test]
fn gates_name_what_is_missing_and_only_submission_needs_it() {
    let mut bench = Bench::paper();
    let closed = bench.facts().gate(&Gate { overall: 0, ..Gate::commit() });
    assert_eq!(closed.blocking, ["nothing is scored, commit needs 0"]);
    bench.finish("librarian", 80);
    let commit = bench.facts().gate(&Gate::commit());
    assert!(commit.is_open());
    assert_eq!(commit.missing[0], "data (not judged yet)");
    assert_eq!(commit.missing.len(), 7, "theory is off: {:?}", commit.missing);
    assert_eq!(bench.facts().gate(&Gate::pr()).blocking, ["overall is 80.00, pr needs 90"]);
    for agent in BEFORE {
        bench.finish(agent, 99);
    }
    bench.finish("verifier", 100);
    assert_eq!(bench.facts().gate(&Gate::submission()).blocking, [""; 0]);
    bench.enabled.insert("theorist".into());
    assert!(bench.facts().gate(&Gate::submission()).is_open(), "what is conditional may be missing");
    bench.file("quality_reports/reviews/x_referee_methods.md", "other");
    let half = bench.facts().gate(&Gate::submission());
    assert_eq!(half.blocking.len(), 1);
    assert_eq!(
        half.blocking,
        ["methods-referee: quality_reports/reviews/x_referee_methods.md changed since it was judged, \
          submission needs all work judged as it is"]
    );
    bench.finish("methods-referee", 100);
    bench.finish("writer", 79);
    assert_eq!(
        bench.facts().gate(&Gate::submission()).blocking,
        ["polish is 79.00, submission needs 80 of every component"]
    );
}

#[test]
fn zero_is_a_score_and_more_than_a_hundred_is_a_hundred() {
    let judged = |agent: &str| RegistryEntry {
        agent: agent.into(),
        critic: Some("c".into()),
        weight: share(5000, agent),
        requires: path("idea.md"),
        ..RegistryEntry::default()
    };
    let mut bench = Bench::of(vec![judged("a"), judged("b")]);
    bench.judged("a", 0, &[("a.md", "a")]);
    assert_eq!(bench.facts().aggregate().overall, Some(Hundredths(0)));
    bench.judged("b", 4_000_000_000, &[("b.md", "b")]);
    assert_eq!(bench.facts().aggregate().overall, Some(Hundredths(5000)));
}

#[test]
fn work_that_is_there_and_was_not_judged_as_it_is_closes_every_gate() {
    let low = Gate { overall: 1, ..Gate::commit() };
    let blocking = |bench: &Bench| bench.facts().gate(&low).blocking;
    let mut bench = Bench::paper();
    bench.finish("librarian", 90);
    assert_eq!(blocking(&bench), [""; 0], "what is not begun stays out");
    bench.file("paper/talks/latexmkrc", "$pdf_mode = 1;");
    bench.file("paper/figures/.gitkeep", "");
    bench.file("scripts/README.md", "What goes here.");
    assert_eq!(blocking(&bench), [""; 0], "what a template brings is no work");
    bench.file("scripts/generate_dashboard.py", "print('a tool of the template')");
    assert_eq!(blocking(&bench), [""; 0], "one of the folders says nothing");
    bench.file("quality_reports/results_summary.md", "# Results");
    let summary = "coder: quality_reports/results_summary.md is there and was never judged, commit needs all work judged as it is";
    assert_eq!(blocking(&bench), [summary], "nobody else makes a file of this name");
    bench.listing.remove("quality_reports/results_summary.md");
    bench.file("data/cleaned/panel.csv", "y,x");
    bench.file("paper/figures/event.tex", "a figure");
    assert_eq!(
        blocking(&bench),
        [
            "data-engineer: data/cleaned/panel.csv is there and was never judged, commit needs all work judged as it is"
        ],
        "something is in each of its folders"
    );
    bench.listing.remove("data/cleaned/panel.csv");
    bench.listing.remove("paper/figures/event.tex");
    bench.memo(90);
    bench.listing.remove(MEMO);
    assert_eq!(
        blocking(&bench),
        [format!("strategist: {MEMO} is gone since it was judged, commit needs all work judged as it is")]
    );
    bench.memo(90);
    bench.verdicts.last_mut().unwrap().rejected = true;
    assert_eq!(
        blocking(&bench),
        [format!(
            "strategist: {MEMO} is there, and the last draft did not pass (90), commit needs all work judged as it is"
        )]
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Fifty edits, deletions and renames, one after the other, some taken back: whatever is closed before stays closed.
    #[test]
    fn no_damage_opens_a_gate(
        scores in proptest::collection::vec(0u32..=100, 9),
        damage in proptest::collection::vec((any::<proptest::sample::Index>(), 0u8..4), 50),
    ) {
        let mut bench = Bench::paper();
        for (agent, score) in BEFORE.iter().chain(&["verifier"]).zip(scores) {
            bench.finish(agent, score);
        }
        let files: Vec<String> = bench.listing.iter().map(|(path, _)| path.to_owned()).collect();
        let whole = bench.listing.clone();
        let open = |bench: &Bench| Gate::shipped().map(|gate| bench.facts().gate(&gate).is_open());
        let before = open(&bench);
        for (at, how) in damage {
            let path: &String = at.get(&files);
            match how {
                0 => bench.file(path, "something else"),
                1 => bench.listing.remove(path),
                2 => {
                    if let Some(found) = bench.listing.get(path) {
                        bench.listing.remove(path);
                        bench.listing.insert(format!("{path}.orig"), found);
                    }
                }
                _ => bench.listing.insert(path.clone(), whole.get(path).unwrap()),
            }
            for (was, is) in before.iter().zip(open(&bench)) {
                prop_assert!(*was || !is, "{path} {how}");
            }
        }
    }
}
