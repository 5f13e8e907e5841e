//! State files and journals as they are found in the wild, one form after the other.

use std::fs;

use gadfly_engine::pipeline::registry::{PairWeight, Product, RegistryEntry};
use gadfly_engine::pipeline::{Pattern, Registry};

use super::*;

fn entry(agent: &str, critic: Option<&str>, makes: &[&str]) -> RegistryEntry {
    let share = PairWeight::Share { points: 1000, component: agent.into(), binary: false };
    let produces = makes
        .iter()
        .map(|path| Product { patterns: vec![Pattern::new(path)], ..Product::default() })
        .collect();
    RegistryEntry {
        agent: agent.into(),
        critic: critic.map(str::to_owned),
        produces,
        weight: share,
        ..RegistryEntry::default()
    }
}

fn registry() -> Registry {
    let entries = vec![
        entry("librarian", Some("librarian-critic"), &["quality_reports/literature/x/"]),
        entry("strategist", Some("strategist-critic"), &["quality_reports/strategy/x/strategy_memo.md"]),
        entry("data-engineer", Some("coder-critic"), &["data/cleaned/"]),
        entry("coder", Some("coder-critic"), &["scripts/"]),
        entry("domain-referee", None, &["quality_reports/reviews/x_referee_domain.md"]),
    ];
    Registry { entries }
}

fn adopted(name: &str, text: &str) -> Adopted {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("quality_reports")).unwrap();
    fs::write(dir.path().join("quality_reports").join(name), text).unwrap();
    read(dir.path(), &[Path::new("quality_reports")], Some(&registry()))
}

/// One entry of a journal: `agent critic score` if it is one, else why not.
fn entry_says(heading: &str, fields: &str) -> String {
    let adopted = adopted("research_journal.md", &format!("# Journal\n\n### {heading}\n{fields}\n"));
    let score = adopted.scores.first().map(|s| {
        let or_dash = |name: &Option<String>| name.clone().unwrap_or_else(|| "-".into());
        format!("{} {} {}", or_dash(&s.agent), or_dash(&s.critic), s.score)
    });
    let refused = adopted.refused.first().map(|r| format!("{} (line {})", r.why, r.place.line));
    assert_eq!(adopted.scores.len() + adopted.refused.len(), 1, "{adopted:?}");
    score.or(refused).unwrap()
}

fn scored(score: &str) -> String {
    entry_says("2026-05-09 14:30 — strategist-critic", &format!("**Phase:** Strategy\n**Score:** {score}"))
}

#[test]
fn scores_are_read_as_critics_write_them() {
    for (written, score) in [
        ("84/100", 84),
        ("85/100 PASS", 85),
        ("**97/100 — GREEN-LIGHT FOR DEPOSIT**", 97),
        ("57/100 — below 80 commit gate", 57),
        ("80/100 — ALMOST READY (after CRITICAL patched: ~90/100…)", 80),
        ("52/100 (categories 4,5,6,8; voice + compile not scorable)", 52),
        ("82/100 (Referee A: 82, Referee B: 82)", 82),
        ("82/100 weighted (Peer Review 25% weight = 20.5/25)", 82),
        ("64/100 (was 61)", 64),
        ("84 / 100", 84),
        ("84.5/100", 84),
        ("0/100", 0),
    ] {
        assert_eq!(scored(written), format!("strategist strategist-critic {score}"), "{written}");
    }
}

#[test]
fn what_is_no_score_is_told_with_its_line() {
    const NO_NUMBER: &str = "the score line does not begin with a number of 100 (line 5)";
    for (written, why) in [
        ("MAJOR ISSUES (→ CRITICAL ERRORS if …)", NO_NUMBER),
        ("PARTIAL (…)", NO_NUMBER),
        ("pending critic", NO_NUMBER),
        ("N/A (creator — scored by critic)", NO_NUMBER),
        ("1000/100", NO_NUMBER),
        ("101/100", NO_NUMBER),
        ("84/1000", NO_NUMBER),
        ("84", NO_NUMBER),
        ("/100", NO_NUMBER),
        ("", NO_NUMBER),
        ("92/100 (self-reported; …)", "`self-reported`: that is no verdict (line 5)"),
        ("Projected 90-92/100 post-amendments", "`projected`: that is no verdict (line 5)"),
        ("92/100 expected", "`expected`: that is no verdict (line 5)"),
    ] {
        assert_eq!(scored(written), why, "{written}");
    }
}

#[test]
fn headings_name_the_critic_in_many_ways() {
    for heading in [
        "2026-05-09 14:30 — strategist-critic",
        "2026-05-09 -- strategist-critic",
        "2026-05-09 [HORA ACTUAL] — strategist-critic",
        "[2026-05-09] --- [strategist-critic]",
        "2026-05-09 14:30 – strategist_critic (Round 2)",
        "2026-05-09 14:30 — strategist-critic Round 3",
        "2026-05-09 14:30 — Strategist-Critic (LIGHT review of OSF PAP)",
        "2026-05-09 14:30 — strategist-critic: Redacción Capítulo 2",
        "2026-05-09 14:30 — strategist-critic — Phase Transition",
        "2026-05-09 14:30 — Strategist Critic (Sonnet)",
    ] {
        assert_eq!(entry_says(heading, "**Score:** 84/100"), "strategist strategist-critic 84", "{heading}");
    }
}

#[test]
fn a_creator_does_not_score_itself() {
    for (heading, name) in [
        ("2026-05-09 14:30 — strategist", "strategist"),
        ("2026-05-09 14:30 — data-engineer + orchestrator (…)", "data-engineer"),
        ("2026-05-09 — academic-librarian (×4 parallel) + academic-editor", "academic-librarian"),
        ("2026-05-09 — Claude", "claude"),
        ("2026-05-09 — Anna Example", "anna"),
    ] {
        let why = format!("`{name}` is the critic of nobody here (line 4)");
        assert_eq!(entry_says(heading, "**Score:** 57/100 (Round 1, by explorer-critic)"), why, "{heading}");
    }
}

#[test]
fn a_critic_of_several_needs_a_target() {
    let says = |target: &str| {
        entry_says("2026-05-09 — coder-critic", &format!("**Target:** {target}\n**Score:** 84/100"))
    };
    assert_eq!(says("`scripts/analysis.R`"), "coder coder-critic 84");
    assert_eq!(says("data-engineer output"), "data-engineer coder-critic 84");
    assert_eq!(says("the memo"), "- coder-critic 84");
    assert_eq!(
        entry_says("2026-05-09 — domain-referee", "**Score:** 71/100"),
        "domain-referee domain-referee 71"
    );
}

#[test]
fn a_journal_keeps_its_order_and_its_first_match() {
    let text = "\u{feff}# Journal\r\n\r\n```\r\n### 2020 — librarian-critic\r\n**Score:** 99/100\r\n```\r\n\
        ### 2026-05-10 — librarian-critic\r\n**Score:** 61/100\r\n**Score:** 95/100\r\n---\r\n\
        ### 2026-05-09 — librarian-critic\r\n- **Score**: 64/100 (adjusted from 61)\r\n";
    let adopted = adopted("research_journal.md", text);
    let read: Vec<(u32, usize)> = adopted.scores.iter().map(|s| (s.score, s.place.line)).collect();
    assert_eq!(read, [(61, 8), (64, 12)]);
    assert!(adopted.scores.iter().all(|s| s.note.starts_with("nothing says which bytes")));
}

#[test]
fn the_seeds_state_file_is_read_and_dummy_rows_are_not() {
    let adopted = adopted(
        "pipeline_state.json",
        r#"{ "project": "schooling", "phase": "Execution", "agents_completed": [
            { "agent": "", "critic": "", "score": 0 },
            { "agent": "strategist", "critic": "strategist-critic", "score": 88, "rounds": 1 },
            { "agent": "librarian", "score": null },
            { "agent": "coder", "score": 140 } ],
          "agents_in_progress": [ { "agent": "data_engineer", "last_score": "72/100" } ],
          "agents_pending": ["writer"], "overall_score": null }"#,
    );
    assert_eq!(
        (adopted.project.as_deref(), adopted.phase.as_deref()),
        (Some("schooling"), Some("Execution"))
    );
    let read: Vec<(&str, u32, usize)> =
        adopted.scores.iter().map(|s| (s.agent.as_deref().unwrap(), s.score, s.place.line)).collect();
    assert_eq!(read, [("strategist", 88, 3), ("data-engineer", 72, 6)]);
    let refused: Vec<&str> = adopted.refused.iter().map(|r| r.what.as_str()).collect();
    assert_eq!(refused, ["librarian", "coder: 140"]);
}

#[test]
fn what_models_made_of_the_state_file_is_read() {
    let english = r#"{ "current_phase": "discovery", "phases": { "discovery": { "agents": {
        "librarian": { "status": "complete", "score": 68, "rounds": 2 },
        "data_engineer": { "status": "pending" } } } } }"#;
    let spanish = r#"{ "proyecto": "escuela", "fase_actual": "Estrategia", "fases": { "estrategia": { "agentes": [
        { "agente": "strategist", "crítico": "strategist-critic", "puntuación": "84/100" } ] } } }"#;
    let first = adopted("pipeline_state.json", english);
    assert_eq!(first.phase.as_deref(), Some("discovery"));
    assert_eq!((first.scores[0].agent.as_deref(), first.scores[0].score), (Some("librarian"), 68));
    assert_eq!(first.refused[0].why, "it has no score");
    let second = adopted("pipeline_state.json", spanish);
    assert_eq!((second.project.as_deref(), second.phase.as_deref()), (Some("escuela"), Some("Estrategia")));
    assert_eq!((second.scores[0].agent.as_deref(), second.scores[0].score), (Some("strategist"), 84));
    assert_eq!(second.scores[0].critic.as_deref(), Some("strategist-critic"));
}

#[test]
fn hostile_state_files_are_refused_not_believed() {
    let deep = "[".repeat(100_000);
    for text in ["", "{", "[]", "null", &deep, "{\"phases\": {\"x\": {\"agents\": 7}}}"] {
        let adopted = adopted("pipeline_state.json", text);
        assert_eq!(adopted.scores, vec![], "{text:.40}");
    }
}

#[cfg(unix)]
#[test]
fn a_state_file_elsewhere_is_not_read() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("project");
    fs::create_dir_all(root.join("quality_reports")).unwrap();
    let secret = dir.path().join("secret.json");
    fs::write(&secret, "{\"project\": \"secret\"}").unwrap();
    std::os::unix::fs::symlink(&secret, root.join("quality_reports/pipeline_state.json")).unwrap();
    let adopted = read(&root, &[Path::new("quality_reports")], None);
    assert_eq!(adopted.project, None);
    assert!(adopted.refused[0].why.contains("outside the project"), "{:?}", adopted.refused);
}

#[test]
fn files_beside_their_place_are_proposed() {
    let dir = tempfile::tempdir().unwrap();
    let put = |path: &str| {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "x").unwrap();
    };
    for path in [
        "quality_reports/strategy_memo_schooling.md",
        "quality_reports/strategy_memo_notes.txt",
        "quality_reports/lit_review_schooling.md",
        "quality_reports/reviews/2026-05-09_referee_domain.md",
        "quality_reports/reviews/2026-05-09_referee_methods.md",
        "quality_reports/unrelated.md",
        "scripts/a.R",
    ] {
        put(path);
    }
    let told = |misses: Vec<NearMiss>| -> Vec<String> {
        misses.into_iter().map(|m| format!("{}: {} for {}", m.agent, m.found, m.wanted)).collect()
    };
    assert_eq!(
        told(near_misses(&registry(), dir.path())),
        [
            "domain-referee: quality_reports/reviews/2026-05-09_referee_domain.md for \
             quality_reports/reviews/x_referee_domain.md",
            "librarian: quality_reports/lit_review_schooling.md for quality_reports/literature/x/",
            "strategist: quality_reports/strategy_memo_schooling.md for quality_reports/strategy/x/strategy_memo.md",
        ]
    );
    // Once it is where it belongs, nothing is proposed for it.
    put("quality_reports/strategy/x/strategy_memo.md");
    assert_eq!(near_misses(&registry(), dir.path()).len(), 2);
}
