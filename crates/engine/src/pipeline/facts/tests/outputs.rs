//! What an agent leaves is compared with what its entry promises.

use super::bench::{Bench, MEMO};

fn gaps(bench: &Bench, agent: &str, changed: &[&str]) -> Vec<String> {
    let entry = bench.registry.get(agent).unwrap();
    bench.facts().gaps_of_output(entry, &|path| changed.contains(&path))
}

#[test]
fn every_required_file_has_to_be_there() {
    let mut bench = Bench::paper();
    let folder = "quality_reports/literature/x/";
    for file in ["references.bib", "frontier_map.md", "positioning.md"] {
        bench.file(&format!("{folder}{file}"), "");
    }
    assert_eq!(gaps(&bench, "librarian", &[]), [format!("missing annotated_bibliography.md in {folder}")]);
    let last = format!("{folder}annotated_bibliography.md");
    bench.file(&last, "");
    assert_eq!(gaps(&bench, "librarian", &[&last]), [""; 0]);
}

#[test]
fn what_was_there_before_and_is_unchanged_was_not_produced() {
    let mut bench = Bench::paper();
    bench.file("scripts/generate_dashboard.py", "");
    bench.file("paper/tables/.gitkeep", "");
    bench.file("paper/figures/f.pdf", "");
    bench.file("quality_reports/results_summary.md", "");
    assert_eq!(
        gaps(&bench, "coder", &["paper/figures/f.pdf", "paper/tables/.gitkeep"]),
        [
            "scripts/ was not changed",
            "missing paper/tables/",
            "quality_reports/results_summary.md was not changed"
        ]
    );
}

#[test]
fn sections_have_to_stand_in_the_file() {
    let mut bench = Bench::paper();
    bench.file(
        MEMO,
        "## 1. Estimand\n## Specification\n## Assumptions\n## Robustness Plan\n```\n## Threats\n```",
    );
    assert_eq!(gaps(&bench, "strategist", &[MEMO]), [format!("missing section \"Threats\" in {MEMO}")]);
    bench.memo(80);
    assert_eq!(gaps(&bench, "strategist", &[MEMO]), [""; 0]);
    assert_eq!(gaps(&bench, "strategist", &[]), ["quality_reports/strategy/x/ was not changed"]);
}

#[test]
fn one_of_two_alternatives_is_enough() {
    let mut bench = Bench::paper();
    assert_eq!(gaps(&bench, "storyteller", &[]), ["none of: paper/talks/, paper/quarto/"]);
    bench.file("paper/quarto/talk.qmd", "");
    assert_eq!(gaps(&bench, "storyteller", &["paper/quarto/talk.qmd"]), [""; 0]);
    assert_eq!(gaps(&bench, "storyteller", &[]), ["paper/talks/ or paper/quarto/ was not changed"]);
}
