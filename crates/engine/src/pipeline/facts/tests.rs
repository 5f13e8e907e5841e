//! The questions of a pipeline, asked of a project of twelve agents and of small ones.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod bench;
mod outputs;
mod scores;

use self::bench::{Bench, MEMO, path, score};
use super::{AgentReadiness, Gap, Holds, refusal};
use crate::pipeline::listing::Pattern;
use crate::pipeline::registry::{Atom, Check, Need, Product, RegistryEntry};

#[test]
fn a_fresh_template_lets_discovery_ask_and_nobody_else_run() {
    let mut bench = Bench::paper();
    for kept in ["paper/tables/.gitkeep", "paper/figures/.gitkeep", "data/cleaned/.gitkeep"] {
        bench.file(kept, "");
    }
    assert_eq!(bench.named("ready"), "");
    assert_eq!(bench.named("asking"), "librarian explorer");
    assert_eq!(bench.named("off"), "theorist");
    assert_eq!(bench.named("done"), "");
    bench.manual.insert("Research idea or research spec".into(), true);
    assert_eq!(bench.named("ready"), "librarian explorer");
    bench.manual.insert("Research idea or research spec".into(), false);
    assert_eq!(bench.named("asking"), "");
    bench.assume = true;
    assert_eq!(bench.named("ready"), "librarian explorer");
}

#[test]
fn a_missing_path_is_named_with_the_skill_that_makes_it() {
    let mut bench = Bench::paper();
    bench.skills.insert("strategist".into(), "strategize".into());
    let coder = bench.gaps("coder");
    assert_eq!(
        refusal("coder", &coder[..1]),
        [
            "Cannot dispatch [coder]: missing quality_reports/strategy/x/strategy_memo.md",
            "→ Run /strategize first to produce the strategy memo.",
        ]
    );
    bench.skills.clear();
    let hint = bench.gaps("coder")[0].hint.clone();
    assert_eq!(hint.as_deref(), Some("Run agent strategist first to produce the strategy memo."));
}

#[test]
fn alternatives_are_one_gap_and_a_folder_is_named_without_the_project() {
    let mut bench = Bench::paper();
    assert_eq!(
        bench.gaps("strategist"),
        [Gap {
            what: "none of: quality_reports/literature/x/, quality_reports/data-assessment/x/".into(),
            hint: Some("Run agent librarian first to produce the literature.".into()),
        }]
    );
    bench.file("quality_reports/data-assessment/x/.gitkeep", "");
    assert_eq!(bench.gaps("strategist").len(), 1, "a placeholder is nothing");
    bench.file("quality_reports/data-assessment/x/data_sources.md", "");
    assert_eq!(bench.standing("strategist"), AgentReadiness::Ready);
}

#[test]
fn whoever_makes_the_project_folder_or_a_file_named_after_it_is_called_without_it() {
    let bench = Bench::paper();
    let makers = super::naming::Makers::of(&bench.registry);
    for (path, name) in [
        ("quality_reports/strategy/x/strategy_memo.md", "strategy memo"),
        ("quality_reports/data-assessment/x/", "data assessment"),
        ("quality_reports/reviews/x_referee_domain.md", "referee domain"),
        ("quality_reports/claim_source_map_x.md", "claim source map"),
        ("paper/tables/", "tables"),
        ("paper/sections/*.tex", "sections"),
        ("scripts/", "scripts"),
    ] {
        assert_eq!(makers.name(&Pattern::new(path)), name);
    }
    let alone = Bench::of(vec![RegistryEntry { agent: "a".into(), ..RegistryEntry::default() }]);
    let makers = super::naming::Makers::of(&alone.registry);
    assert_eq!(makers.name(&Pattern::new("quality_reports/literature/x/")), "literature");
}

#[test]
fn a_dependent_inherits_the_sections_its_file_has_to_have() {
    let mut bench = Bench::paper();
    bench.judged(
        "strategist",
        90,
        &[(MEMO, "# M\n## 1. Estimand\n## 2. Specification\n## Assumptions\n## Robustness Plan\n")],
    );
    let gaps = bench.gaps("coder");
    assert_eq!(gaps[0].what, format!("missing section \"Threats\" in {MEMO}"));
    assert_eq!(gaps[0].hint.as_deref(), Some("Run agent strategist again to complete the strategy memo."));
    assert!(
        !matches!(bench.standing("strategist"), AgentReadiness::Done { .. }),
        "its own product is not whole"
    );
    bench.judged("strategist", 90, &[(MEMO, "```markdown\n## Estimand\n## Threats\n```")]);
    assert!(bench.gaps("coder")[0].what.starts_with("missing sections \"Estimand\", \"Specification\""));
    bench.memo(90);
    assert_eq!(bench.standing("coder"), AgentReadiness::Ready);
    bench.headings.remove(MEMO);
    assert!(bench.gaps("coder")[0].what.ends_with("which cannot be read as text"));
}

#[test]
fn an_agent_that_extends_a_file_is_not_held_up_by_its_own_promise() {
    let memo = |sections: &[&str]| Product {
        patterns: vec![Pattern::new("memo.md")],
        sections: sections.iter().map(|&s| s.to_owned()).collect(),
        ..Product::default()
    };
    let first =
        RegistryEntry { agent: "first".into(), produces: vec![memo(&["A"])], ..RegistryEntry::default() };
    let second = RegistryEntry {
        agent: "second".into(),
        requires: path("memo.md"),
        produces: vec![memo(&["B"])],
        ..RegistryEntry::default()
    };
    let mut bench = Bench::of(vec![first, second]);
    bench.file("memo.md", "# A");
    assert_eq!(bench.standing("first"), AgentReadiness::Done { score: None });
    assert_eq!(bench.standing("second"), AgentReadiness::Ready);
}

#[test]
fn only_what_matters_is_asked() {
    let manual = |text: &str| Need::Atom(Atom { text: text.into(), line: 1, check: Check::Manual });
    let entry = |requires| RegistryEntry { agent: "a".into(), requires, ..RegistryEntry::default() };
    let asked = |requires: Need| match Bench::of(vec![entry(requires)]).standing("a") {
        AgentReadiness::Asking { conditions } => conditions.join(" "),
        other => format!("{other:?}"),
    };
    assert_eq!(asked(Need::All(vec![manual("p"), manual("q"), manual("p")])), "p q");
    assert_eq!(asked(Need::Any(vec![manual("p"), path("none.md")])), "p");
    assert_eq!(asked(Need::Any(vec![manual("p"), Need::All(vec![])])), "Ready");
    let blocked = asked(Need::All(vec![manual("p"), path("none.md")]));
    assert!(blocked.contains("missing none.md") && !blocked.contains("\"p\""), "{blocked}");
    assert!(asked(Need::Any(vec![])).starts_with("Blocked"), "no alternative holds if there is none");
    let deep = (0..200).fold(Need::All(vec![]), |inner, _| Need::All(vec![inner]));
    assert!(asked(deep).contains("too deeply"));
}

#[test]
fn why_goes_atom_by_atom() {
    let mut bench = Bench::paper();
    bench.memo(72);
    let lines = |bench: &Bench, agent: &str| {
        let said = bench.facts().explain(bench.registry.get(agent).unwrap());
        said.into_iter().map(|e| (e.holds, e.because)).collect::<Vec<_>>()
    };
    assert_eq!(
        lines(&bench, "coder"),
        [(Holds::Yes, "it is there".into()), (Holds::No, "strategist-critic score is 72, needs 80".into()),]
    );
    assert_eq!(lines(&bench, "librarian"), [(Holds::Unknown, "a person has to say".into())]);
    assert_eq!(
        lines(&bench, "writer")[0].1,
        "coder-critic has not judged coder yet; coder-critic has not judged data-engineer yet"
    );
    assert_eq!(lines(&bench, "writer")[1].1, "missing .tex files in paper/tables/");
    bench.file("paper/tables/.hidden.tex", "");
    bench.file("paper/tables/a.csv", "");
    assert_eq!(lines(&bench, "writer")[1].0, Holds::No);
    bench.file("paper/tables/a.tex", "");
    assert_eq!(lines(&bench, "writer")[1], (Holds::Yes, "paper/tables/a.tex is there".into()));
}

#[test]
fn a_conditional_agent_runs_only_where_it_is_enabled() {
    let mut bench = Bench::paper();
    bench.memo(90);
    assert!(matches!(bench.standing("theorist"), AgentReadiness::Off { .. }));
    bench.enabled.insert("theorist".into());
    assert_eq!(bench.standing("theorist"), AgentReadiness::Ready);
    let needs_theory = RegistryEntry {
        agent: "z".into(),
        requires: path("quality_reports/theory/x/"),
        ..RegistryEntry::default()
    };
    bench.enabled.clear();
    bench.registry.entries.push(needs_theory);
    let hint = bench.gaps("z")[0].hint.clone();
    assert_eq!(hint.as_deref(), Some("Enable agent theorist first to produce the theory."));
}

#[test]
fn who_needs_no_verdict_is_done_when_its_products_are_there() {
    let mut bench = Bench::paper();
    bench.file("quality_reports/reviews/editorial_decision.md", "");
    assert_eq!(bench.standing("editor"), AgentReadiness::Done { score: None });
    let wordless = RegistryEntry { agent: "talker".into(), ..RegistryEntry::default() };
    let bench = Bench::of(vec![wordless]);
    assert_eq!(bench.standing("talker"), AgentReadiness::Ready, "nothing shows that it ran");
}

#[test]
fn a_thousand_agents_and_ten_thousand_files_are_asked_at_once() {
    let entries = (0..1000_u32).map(|n| RegistryEntry {
        agent: format!("a{n}"),
        critic: Some(format!("c{n}")),
        requires: Need::All(vec![
            path(&format!("out/{n}_*.md")),
            path("out/*.tex"),
            score(&format!("c{}", n / 2), 80),
        ]),
        produces: vec![Product {
            patterns: vec![Pattern::new(&format!("out/{}_*.md", n + 1))],
            ..Product::default()
        }],
        ..RegistryEntry::default()
    });
    let mut bench = Bench::of(entries.collect());
    for n in 0..10_000 {
        bench.file(&format!("out/{}_{n}.md", n % 700), "");
    }
    let standings = bench.facts().standings();
    assert_eq!(standings.len(), 1000);
    assert!(standings.iter().all(|(_, standing)| matches!(standing, AgentReadiness::Blocked { .. })));
}
