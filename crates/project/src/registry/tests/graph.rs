//! What is wrong with a registry as a graph.

use std::collections::BTreeSet;

use super::super::{CheckContext, check, named, notes};
use super::syntaxes::UPSTREAM;
use super::*;

fn agents(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn critics() -> BTreeSet<String> {
    agents(&[
        "librarian-critic",
        "explorer-critic",
        "strategist-critic",
        "theorist-critic",
        "coder-critic",
        "writer-critic",
        "storyteller-critic",
    ])
}

fn checked(text: &str, known: &[&str]) -> String {
    let file = clean(text);
    said(&check(&file, &CheckContext { agents: &agents(known), duals: &[] }))
}

fn noted(text: &str, known: &BTreeSet<String>) -> String {
    let notes = notes(&clean(text), &CheckContext { agents: known, duals: &[] });
    notes.iter().fold(String::new(), |all, note| format!("{all}{} {}\n", note.line, note.text))
}

#[test]
fn the_upstream_registry_has_one_warning_and_tells_what_it_does() {
    let file = clean(UPSTREAM);
    let known = critics();
    insta::assert_snapshot!(said(&check(&file, &CheckContext { agents: &known, duals: &[] })), @"41:17 warning: `theorist` is in one group with strategist, whom it needs | it runs after, not beside: give it a PARALLEL_GROUP of its own");
    insta::assert_snapshot!(noted(UPSTREAM, &known), @"
    70 coder-critic judges data-engineer and coder: both have to reach 80
    7 weights add up to 120% (100% without theorist): normalised
    117 verifier requires the overall score and is 5% of it: computed without itself
    ");
}

#[test]
fn names_are_found_whatever_their_case_and_unknown_ones_get_the_nearest() {
    let known = critics();
    let registry = named(&clean(UPSTREAM).registry, &known);
    assert_eq!(registry.get("storyteller").unwrap().escalate_to, EscalateTo::Agent("writer".into()));
    let text = UPSTREAM
        .replace("**CRITIC:** writer-critic", "**CRITIC:** writer-critc")
        .replace("strategist-critic — the memo", "nobody-at-all — the memo")
        .replacen("coder-critic score", "codr-critic score", 1);
    let file = clean(&text);
    let problems = check(&file, &CheckContext { agents: &known, duals: &[] });
    insta::assert_snapshot!(said(&problems), @"
    55:26 error: the escalation target `nobody-at-all` is nobody here | write its file, or correct the name
    64:26 error: the escalation target `nobody-at-all` is nobody here | write its file, or correct the name
    72:15 error: the critic `writer-critc` is nobody here | did you mean `writer-critic`?
    70:17 error: the critic `codr-critic` is nobody here | did you mean `coder-critic`?
    41:17 warning: `theorist` is in one group with strategist, whom it needs | it runs after, not beside: give it a PARALLEL_GROUP of its own
    ");
    assert_eq!(pointed(&text, &problems[0]), "nobody-at-all — the memo may ask for too much");
}

#[test]
fn agents_that_wait_for_each_other_are_named_with_what_they_wait_for() {
    let circle = "## a\n- REQUIRES: `b/x.md`\n- PRODUCES: `a/`\n\n## b\n- REQUIRES: `a/` AND someone says so\n- PRODUCES: `b/`\n\n## c\n- REQUIRES: `b/`\n- PRODUCES: `c/`\n";
    insta::assert_snapshot!(checked(circle, &[]), @"2:13 error: these agents wait for each other: a → b → a | a requires `b/x.md` (line 2), which is made by b; b requires `a/` (line 6), which is made by a");
    let way_out = circle.replace("`a/` AND someone", "`a/` OR someone");
    assert_eq!(checked(&way_out, &[]), "");
    let both_ways = circle.replace("`a/` AND someone says so", "`a/` OR `c/`");
    assert!(checked(&both_ways, &[]).contains("a → b → a"));
    let another_maker = format!("{circle}\n## d\n- REQUIRES: None\n- PRODUCES: `a/`\n");
    assert_eq!(checked(&another_maker, &[]), "");
}

#[test]
fn a_score_is_waited_for_from_everybody_the_critic_judges() {
    let own = "## a\n- REQUIRES: k score >= 80\n- PRODUCES: `a/`\n- CRITIC: k\n";
    assert!(checked(own, &["k"]).contains("`a` waits for itself"));
    let two = "## a\n- REQUIRES: k score >= 80\n- PRODUCES: `a/`\n- CRITIC: l\n\n## b\n- REQUIRES: `a/`\n- PRODUCES: `b/`\n- CRITIC: k\n";
    insta::assert_snapshot!(checked(two, &["k", "l"]), @"2:13 error: these agents wait for each other: a → b → a | a requires k score >= 80 (line 2), which rests on b; b requires `a/` (line 7), which is made by a");
}

#[test]
fn a_gate_nobody_can_meet_is_an_error() {
    let text = "## a\n- REQUIRES: k score >= 80 AND Overall score >= 90\n- CRITIC: None\n";
    insta::assert_snapshot!(checked(text, &["k"]), @"
    2:13 error: this can never hold: `k` judges nobody | make it the CRITIC of an agent, or name another critic
    2:31 error: this can never hold: no agent has a weight | give QUALITY_WEIGHT to the agents whose scores count
    ");
    let judge = "## a\n- REQUIRES: referee score >= 80\n\n## referee\n- REQUIRES: `x.md`\n- PRODUCES: `r.md`\n- CRITIC: None\n- QUALITY_WEIGHT: 10%\n";
    assert_eq!(checked(judge, &[]), "");
}

#[test]
fn agents_of_one_group_that_write_one_path_or_need_each_other() {
    let text = "## a / b\n- PARALLEL_GROUP: g\n- REQUIRES: None\n- PRODUCES: `out/{project}_x.md`\n\n\
        ## c\n- PARALLEL_GROUP: g\n- REQUIRES: `out/{project}_x.md`\n- PRODUCES: `out/{project}_y.md`, `tex/*.tex`\n\n\
        ## d\n- PARALLEL_GROUP: g\n- REQUIRES: None\n- PRODUCES: `tex/*.bib`\n";
    insta::assert_snapshot!(checked(text, &[]), @"
    4:13 warning: a and b of the group `g` write `out/{project}_x.md` | one waits for the other; give each a path of its own
    8:13 warning: `c` is in one group with a and b, whom it needs | it runs after, not beside: give it a PARALLEL_GROUP of its own
    ");
}

#[test]
fn a_second_critic_has_to_be_somebody_else_who_is_there() {
    let file = clean(UPSTREAM);
    let duals = [
        ("coder", "strategist-critic"),
        ("codr", "coder-critic"),
        ("coder", "coder-critic"),
        ("coder", "nobody"),
    ]
    .map(|(agent, critic)| (agent.to_owned(), critic.to_owned()));
    let known = critics();
    let problems = check(&file, &CheckContext { agents: &known, duals: &duals });
    let errors: Vec<Problem> = problems.into_iter().filter(Problem::is_error).collect();
    insta::assert_snapshot!(said(&errors), @"
    - error: `[[dual]]` names the agent `codr`, who has no entry | did you mean `coder`?
    - error: `[[dual]]` names `coder-critic`, who is already the critic of `coder` | name a second critic with another lens
    - error: `[[dual]]` names the critic `nobody`, who is nobody here | known here: `coder-critic`, `explorer-critic`, `librarian-critic`, `storyteller-critic`, `strategist-critic`, `theorist-critic`, `writer-critic`
    ");
}

#[test]
fn weights_that_are_shared_need_their_component() {
    let text = UPSTREAM.replace("15% (code quality)", "15% (quality of code)");
    let file = clean(&text);
    let known = critics();
    let said = said(&check(&file, &CheckContext { agents: &known, duals: &[] }));
    assert!(said.contains("no agent has a weight for `code quality`"), "{said}");
}

/// With every way followed to its end, a circle of this length takes minutes.
#[test]
fn a_circle_of_a_thousand_agents_is_one_short_error_and_a_long_way_is_none() {
    let entry = |n: usize, needs: usize| {
        format!("## a{n:04}\n- REQUIRES: `out/a{needs:04}/`\n- PRODUCES: `out/a{n:04}/`\n\n")
    };
    let circle = (0..1_000).map(|n| entry(n, (n + 1) % 1_000)).collect::<Vec<_>>().concat();
    let said = checked(&circle, &[]);
    assert_eq!(said.matches("wait for each other").count(), 1);
    assert!(said.contains("a0019 → … (980 more) → a0000 |") && said.len() < 4_000, "{said}");
    // Each needs the one after it, and the last needs what is there.
    let way = (0..1_000).map(|n| entry(n, n + 1)).collect::<Vec<_>>().concat();
    assert_eq!(checked(&way, &[]), "");
}

#[test]
fn many_who_write_one_path_are_counted() {
    let one =
        |n: usize| format!("## a{n:02}\n- PARALLEL_GROUP: g\n- REQUIRES: None\n- PRODUCES: `out/x.md`\n\n");
    let all = (0..100).map(one).collect::<Vec<_>>().concat();
    let said = checked(&all, &[]);
    assert_eq!(said.matches("write `out/x.md`").count(), 1, "{said}");
    assert!(said.contains("a18, a19 and 80 more of the group `g`"), "{said}");
}
