//! Projects as researchers keep them: existing work, reviews among it, referees and their editor, pairs that get stuck.

use std::collections::BTreeMap;

use super::stage::{Asked, Stage, diligent, entry, gives, path, scored};
use crate::judging::Seat;
use crate::pipeline::registry::{Need, PairWeight, Product};
use crate::pipeline::{Pattern, RegistryEntry};
use crate::protocol::score::settings::{EscalateTo, OwnRubric};
use crate::question::About;
use crate::turn::Role;

fn none() -> Need {
    Need::All(Vec::new())
}

fn both(one: Need, other: Need) -> Need {
    Need::All(vec![one, other])
}

/// Makes something in a folder.
fn in_folder(agent: &str, folder: &str, files: &[&str], requires: Need) -> RegistryEntry {
    let files = files.iter().map(|file| Pattern::new(&format!("{folder}{file}"))).collect();
    let product = Product { patterns: vec![Pattern::new(folder)], files, ..Product::default() };
    RegistryEntry { produces: vec![product], ..entry(agent, requires, 20) }
}

#[test]
fn a_critic_sees_what_the_work_was_made_from() {
    let entries = vec![
        entry("strategist", none(), 40),
        entry("coder", both(path("out/strategist.md"), scored("strategist-critic")), 30),
        entry("writer", scored("coder-critic"), 30),
    ];
    let stage = Stage::of(entries).plays();
    let brief = |critic: &str| stage.briefs(critic, Role::Critic)[0].clone();
    assert!(brief("coder-critic").contains("input out/strategist.md"), "{}", brief("coder-critic"));
    assert!(brief("coder-critic").contains("work of strategist"));
    assert!(brief("writer-critic").contains("work of coder"));
    assert!(!brief("writer-critic").contains("work of strategist"), "what nobody names is no input");
    assert!(!brief("strategist-critic").contains("input "));
}

#[test]
fn reviews_that_lie_among_the_work_are_shown_to_no_critic() {
    let memo = in_folder("strategist", "memo/", &["memo.md"], none());
    let coder = entry("coder", both(path("memo/"), scored("strategist-critic")), 30);
    let mut stage = Stage::of(vec![memo, coder]);
    for (path, text) in [
        ("memo/memo.md", "the memo\n"),
        ("memo/critic_review_round1.md", "REVIEWED 76/100\n"),
        ("memo/notes.md", "# Strategist\n\nScore: 90/100, it ADVANCES\n"),
        ("memo/appendix.md", "the appendix\n"),
    ] {
        stage.checkout.insert(path.into(), text.into());
    }
    let stage = stage.plays();
    for critic in ["strategist-critic", "coder-critic"] {
        let brief = stage.briefs(critic, Role::Critic)[0].clone();
        assert!(brief.contains("the memo") && brief.contains("the appendix"), "{critic}: {brief}");
        assert!(!brief.contains("76/100") && !brief.contains("90/100"), "{critic}: {brief}");
    }
    assert_eq!(stage.label(), "approved", "{}", stage.story());
}

#[test]
fn who_decides_sees_the_work_its_inputs_and_what_is_open() {
    let mut coder = entry("coder", both(path("out/strategist.md"), scored("strategist-critic")), 30);
    coder.escalate_to = EscalateTo::Agent("strategist-critic".into());
    let mut stage = Stage::of(vec![entry("strategist", none(), 40), coder]);
    let identity = stage.keep("You wrote the rules of identification.");
    stage.pair("coder").critic_identities = BTreeMap::from([("strategist-critic".to_owned(), identity)]);
    let stage = stage.with_agents(|asked: Asked<'_>| match (asked.agent, asked.role) {
        ("coder-critic", _) if asked.nth < 3 => gives(50),
        _ => diligent(asked),
    });
    let stage = stage.plays();
    let briefs = stage.briefs("strategist-critic", Role::Advisor);
    let brief = briefs.first().unwrap_or_else(|| panic!("{}", stage.story()));
    for part in ["work of coder", "work of strategist", "worth 50", "You wrote the rules of identification."]
    {
        assert!(brief.contains(part), "{part} is not in: {brief}");
    }
    assert!(!brief.contains("644 "), "a listing is no work: {brief}");
}

#[test]
fn a_second_lens_judges_by_its_own_rubric() {
    let mut stage = Stage::of(vec![entry("strategist", none(), 40), entry("coder", none(), 30)]);
    let own = stage.keep("Only the design counts.");
    let pair = stage.pair("coder");
    pair.critics.push(Seat {
        agent: "strategist-critic".into(),
        fallback: None,
        lens: Some("alignment".into()),
    });
    pair.own_rubrics =
        BTreeMap::from([("strategist-critic".to_owned(), OwnRubric { rubric: own, table: None })]);
    let stage = stage.plays();
    let second = stage.briefs("strategist-critic", Role::Critic);
    let lens = second.iter().find(|brief| brief.contains("alignment")).unwrap();
    assert!(lens.contains("Only the design counts.") && !lens.contains("Be right."), "{lens}");
    assert!(stage.briefs("coder-critic", Role::Critic)[0].contains("Be right."));
}

#[test]
fn a_critic_that_cannot_be_read_parks_its_pair_and_not_the_pipeline() {
    let mut entries =
        vec![entry("a", none(), 30), entry("b", none(), 30), entry("c", scored("b-critic"), 30)];
    for entry in &mut entries[..2] {
        entry.group = Some("first".into());
    }
    let begun = Stage::of(entries).with_agents(|asked: Asked<'_>| match asked.agent {
        "a-critic" if asked.nth < 2 => "mumble".to_owned(),
        _ => diligent(asked),
    });
    let parked = begun.clone().plays();
    assert!(parked.label().starts_with("unverified"), "{}", parked.story());
    assert_eq!(parked.checkout.keys().collect::<Vec<_>>(), ["out/b.md", "out/c.md"], "{}", parked.story());
    let resumed = parked.resumed_after(parked.records.len(), &begun);
    assert_eq!(resumed.label(), "approved", "{}", resumed.story());
    assert_eq!(resumed.checkout.len(), 3);
}

#[test]
fn a_pair_that_waits_for_a_person_holds_nobody_back() {
    let mut entries =
        vec![entry("a", none(), 30), entry("b", none(), 30), entry("c", scored("b-critic"), 30)];
    for entry in &mut entries[..2] {
        entry.group = Some("first".into());
    }
    let mut stage = Stage::of(entries).with_agents(|asked: Asked<'_>| match asked.agent {
        "a-critic" => gives(10),
        _ => diligent(asked),
    });
    stage.settings.jobs = 2;
    let stage = stage.plays();
    assert!(stage.label().starts_with("waiting"), "{}", stage.story());
    assert_eq!(stage.checkout.keys().collect::<Vec<_>>(), ["out/b.md", "out/c.md"], "{}", stage.story());
}

#[test]
fn work_that_is_there_and_lacks_something_is_completed_and_not_written_anew() {
    let mut memo = entry("strategist", none(), 40);
    memo.produces[0].sections = vec!["Estimand".into(), "Threats".into()];
    let mut stage = Stage::of(vec![memo]).with_agents(|asked: Asked<'_>| {
        if asked.role == Role::Worker {
            let body = asked.folder["out/strategist.md"].clone();
            asked.folder.insert("out/strategist.md".into(), format!("{body}## Threats\n"));
        }
        gives(95)
    });
    stage.checkout.insert("out/strategist.md".into(), "## Section 1 — Estimand\nby hand\n".into());
    let stage = stage.plays();
    let brief = stage.briefs("strategist", Role::Worker)[0].clone();
    assert!(brief.contains("Mode: Completion") && !brief.contains("Initial Draft"), "{brief}");
    assert!(brief.contains("missing section \"Threats\"") && !brief.contains("\"Estimand\""), "{brief}");
    assert!(stage.checkout["out/strategist.md"].starts_with("## Section 1 — Estimand\nby hand\n"));
    assert_eq!(stage.label(), "approved", "{}", stage.story());
}

#[test]
fn what_a_template_brings_is_no_deliverable() {
    let talk = in_folder("storyteller", "talks/", &[], none());
    let mut stage = Stage::of(vec![talk]).with_agents(|asked: Asked<'_>| {
        if asked.role == Role::Worker {
            asked.folder.insert("talks/talk.tex".into(), "slides\n".into());
        }
        gives(95)
    });
    stage.checkout.insert("talks/latexmkrc".into(), "$pdf_mode = 1;\n".into());
    let stage = stage.plays();
    assert!(stage.briefs("storyteller", Role::Worker)[0].contains("Initial Draft"), "{}", stage.story());
    assert!(stage.checkout.contains_key("talks/talk.tex"));
}

fn reviewed() -> Vec<RegistryEntry> {
    let coder = entry("coder", none(), 30);
    let writer = entry("writer", scored("coder-critic"), 30);
    let ready = || both(scored("writer-critic"), scored("coder-critic"));
    let editor = RegistryEntry { critic: None, weight: PairWeight::None, ..entry("editor", ready(), 0) };
    let referee = RegistryEntry {
        critic: None,
        escalate_to: EscalateTo::Agent("editor".into()),
        ..entry("referee", ready(), 40)
    };
    vec![coder, writer, editor, referee]
}

#[test]
fn an_editor_follows_the_referees_and_decides_again_on_new_reports() {
    let stage = Stage::of(reviewed()).plays();
    assert_eq!(stage.dispatched(), ["coder", "writer", "referee", "editor"], "{}", stage.story());
    assert!(
        stage.briefs("editor", Role::Worker)[0].contains("Reports to decide on, all of them: out/referee.md")
    );
    let report = &stage.checkout["out/referee.md"];
    assert!(report.starts_with("# Report of referee") && report.contains("92/100"), "{report}");

    let stage = Stage::of(reviewed()).with_agents(|asked: Asked<'_>| match asked.agent {
        "referee" if asked.nth == 0 => gives(40),
        _ => diligent(asked),
    });
    let stage = stage.plays();
    assert_eq!(
        stage.dispatched(),
        ["coder", "writer", "referee", "editor", "writer", "referee", "editor"],
        "{}",
        stage.story()
    );
}

#[test]
fn what_referees_find_goes_to_whoever_can_mend_it() {
    for (says, whose) in [
        ("The standard errors are not clustered.", "coder"),
        ("out/coder.md:1: this is wrong", "coder"),
        ("The introduction buries its question.", "writer"),
    ] {
        let stage = Stage::of(reviewed()).with_agents(move |asked: Asked<'_>| match asked.agent {
            "referee" if asked.nth == 0 => format!(
                r#"{{"deductions": [{{"says": "{says}", "fix": "mend it", "times": 1}}], "score": 40, "notes": []}}"#
            ),
            _ => diligent(asked),
        });
        let stage = stage.plays();
        assert_eq!(stage.dispatched()[4], whose, "{says}: {}", stage.story());
    }
}

#[test]
fn work_that_was_there_is_replaced_only_with_a_persons_yes() {
    let by_hand = (0..40).fold(String::new(), |text, n| text + &format!("line {n} by hand\n"));
    for (answer, begins) in [("no", "line 0 by hand"), ("yes", "## Threats")] {
        let mut memo = entry("strategist", none(), 40);
        memo.produces[0].sections = vec!["Threats".into()];
        let mut stage = Stage::of(vec![memo]).with_agents(|asked: Asked<'_>| {
            if asked.role == Role::Worker {
                asked.folder.insert("out/strategist.md".into(), "## Threats\nall anew\n".into());
            }
            gives(95)
        });
        stage.settings.overall = 1;
        stage.checkout.insert("out/strategist.md".into(), by_hand.clone());
        let stage =
            stage.with_person(move |q| (q.about == About::Replaced).then(|| answer.to_owned())).plays();
        assert!(stage.checkout["out/strategist.md"].starts_with(begins), "{answer}: {}", stage.story());
    }
}
