//! One registry for each syntax that people write.

use gadfly_engine::pipeline::Pattern;
use insta::assert_snapshot;

use super::*;

pub(super) const UPSTREAM: &str = include_str!("upstream.md");

#[test]
fn bold_fields_with_backticked_paths() {
    let file = clean(UPSTREAM);
    assert_snapshot!(shown(&file), @"
    7 librarian | Discovery | discovery | librarian-critic | the user: is the scope right? | 1000 literature coverage
      needs 10? Research idea or research spec
      makes 11 quality_reports/literature/{project}/ with quality_reports/literature/{project}/annotated_bibliography.md, quality_reports/literature/{project}/references.bib, quality_reports/literature/{project}/frontier_map.md, quality_reports/literature/{project}/positioning.md
    17 explorer | Discovery | discovery | explorer-critic | the user: can it be had? | 1000 data quality
      needs 20? Research idea or research spec
      makes 21 quality_reports/data-assessment/{project}/ with quality_reports/data-assessment/{project}/data_sources.md, quality_reports/data-assessment/{project}/data_dictionary.md, quality_reports/data-assessment/{project}/access_instructions.md
    27 strategist | Strategy | strategy | strategist-critic | the user: a question of design | 2500 identification validity
      needs any(30 quality_reports/literature/{project}/, 30 quality_reports/data-assessment/{project}/)
      makes 31 quality_reports/strategy/{project}/ with quality_reports/strategy/{project}/strategy_memo.md sections Estimand, Specification, Assumptions, Robustness Plan, Threats
    38 theorist | Strategy | strategy | theorist-critic | the user: a question of proof | 2000 theory
      if Only for papers that prove something of their own.
      needs 41 quality_reports/strategy/{project}/strategy_memo.md
      makes 42 quality_reports/theory/{project}/ with quality_reports/theory/{project}/theory_memo.md, quality_reports/theory/{project}/proofs.tex
    49 data-engineer | Execution | execution-data | coder-critic | strategist-critic: the memo may ask for too much | with code quality
      needs all(52 quality_reports/strategy/{project}/strategy_memo.md, 52 strategist-critic>=80)
      makes 53 data/cleaned/
      makes 53 paper/figures/
    58 coder | Execution | execution-code | coder-critic | strategist-critic: the memo may ask for too much | 1500 code quality
      needs all(61 quality_reports/strategy/{project}/strategy_memo.md, 61 strategist-critic>=80)
      makes 62 scripts/
      makes 62 paper/tables/
      makes 62 paper/figures/
      makes 62 quality_reports/results_summary.md
    67 writer | Execution | execution-write | writer-critic | the orchestrator: rebuild it, do not polish it | 1000 manuscript polish
      needs all(70 coder-critic>=80, 70 paper/tables/ contains .tex)
      makes 71 paper/main.tex
      makes 71 paper/sections/*.tex
      makes 71 quality_reports/claim_source_map_{project}.md
    76 editor | Peer Review | peer-review | - | the user | -
      needs all(79 writer-critic>=80, 79 coder-critic>=80)
      makes 80 quality_reports/reviews/editorial_decision.md
    87 domain-referee | Peer Review | peer-review | - | editor: decides between referees | 1250 paper quality
      needs all(90 writer-critic>=80, 90 coder-critic>=80)
      makes 91 quality_reports/reviews/{project}_referee_domain.md
    96 methods-referee | Peer Review | peer-review | - | editor: decides between referees | 1250 paper quality
      needs all(99 writer-critic>=80, 99 coder-critic>=80)
      makes 100 quality_reports/reviews/{project}_referee_methods.md
    105 storyteller | Presentation | presentation | storyteller-critic | Writer: the story is not in the paper | advisory
      needs 108 writer-critic>=80
      makes 109 paper/talks/ or paper/quarto/
    114 verifier | Submission | submission | - | the user | 500 replication readiness binary
      needs all(117 overall>=95, 117 components>=80)
      makes 118 quality_reports/verification_report.md
    ");
    assert_snapshot!(file.coverage, @"36 of 39 conditions machine-checked");
    assert_eq!(
        file.notes.iter().map(|note| (note.line, note.text.as_str())).collect::<Vec<_>>(),
        [(53, "data codebooks"), (81, "Asks both referees"), (82, "Weighs what they say"),]
    );
}

#[test]
fn plain_fields_wrapped_over_lines_with_their_indent_lost() {
    let text = "## strategist\n- PHASE: Strategy\n- PARALLEL_GROUP: strategy\n\
        - REQUIRES: quality_reports/literature/{project}/\nOR quality_reports/data-assessment/{project}/\n\
        - PRODUCES: quality_reports/strategy/{project}/\n- Required files: strategy_memo.md\n\
        - Required sections: Estimand, Specification, Assumptions,\nRobustness Plan, Threats\n\
        - CRITIC: strategist-critic\n- ESCALATION_TARGET: User --- fundamental design question\n\
        - QUALITY_WEIGHT: 25% (identification validity)\nThe REQUIRES field uses OR logic.\n";
    let file = read(&text.replace("\nThe REQUIRES", "\n\nThe REQUIRES"));
    assert_eq!(said(&file.problems), "");
    assert_snapshot!(shown(&file), @"
    1 strategist | Strategy | strategy | strategist-critic | the user: fundamental design question | 2500 identification validity
      needs any(4 quality_reports/literature/{project}/, 5 quality_reports/data-assessment/{project}/)
      makes 6 quality_reports/strategy/{project}/ with quality_reports/strategy/{project}/strategy_memo.md sections Estimand, Specification, Assumptions, Robustness Plan, Threats
    ");
    let second = &file.spans[0].atoms[1];
    assert_eq!(&file.text[second.clone()], "quality_reports/data-assessment/{project}/");
}

#[test]
fn a_byte_order_mark_and_carriage_returns_change_nothing_but_places() {
    let crlf = format!("\u{feff}{}", UPSTREAM.replace('\n', "\r\n"));
    assert_eq!(shown(&clean(&crlf)), shown(&clean(UPSTREAM)));
    let wrong = crlf.replace("10% (literature", "ten percent (literature");
    let file = read(&wrong);
    assert_eq!(said(&file.problems).lines().count(), 1);
    assert_eq!(pointed(&wrong, &file.problems[0]), "ten percent (literature coverage)");
    assert_eq!(file.problems[0].at.as_ref().unwrap().line, 15);
}

#[test]
fn five_agents_under_one_heading() {
    let file = clean(
        "## coherence-specification / coherence-claims / coherence-continuity / coherence-notation / coherence-theory\n\
        - **PHASE:** Any — runs by itself wherever it is wanted\n\
        - **PARALLEL_GROUP:** coherence-finders (all five at once)\n\
        - **REQUIRES:** `…/{name}.json`, produced by `scripts/x.py --slices` AND the integrity gate has passed (see `quality.md`)\n\
        - **PRODUCES:** no files\n\
        - **CRITIC:** coherence-skeptic — one for each finding\n\
        - **ESCALATION_TARGET:** coder — the ledger says `NOT INSTRUMENTED`\n\
        - **QUALITY_WEIGHT:** None. Coherence is a gate, not a score: it blocks\n\
        - **INTEGRITY GATE:** all sources\n\
        - **NOTE:** kept\n",
    );
    assert_snapshot!(shown(&file), @"
    1 coherence-specification | - | coherence-finders | coherence-skeptic | coder: the ledger says `NOT INSTRUMENTED` | -
      needs all(4? `…/{name}.json`, produced by `scripts/x.py --slices`, 4? the integrity gate has passed (see `quality.md`))
    1 coherence-claims | - | coherence-finders | coherence-skeptic | coder: the ledger says `NOT INSTRUMENTED` | -
      needs all(4? `…/{name}.json`, produced by `scripts/x.py --slices`, 4? the integrity gate has passed (see `quality.md`))
    1 coherence-continuity | - | coherence-finders | coherence-skeptic | coder: the ledger says `NOT INSTRUMENTED` | -
      needs all(4? `…/{name}.json`, produced by `scripts/x.py --slices`, 4? the integrity gate has passed (see `quality.md`))
    1 coherence-notation | - | coherence-finders | coherence-skeptic | coder: the ledger says `NOT INSTRUMENTED` | -
      needs all(4? `…/{name}.json`, produced by `scripts/x.py --slices`, 4? the integrity gate has passed (see `quality.md`))
    1 coherence-theory | - | coherence-finders | coherence-skeptic | coder: the ledger says `NOT INSTRUMENTED` | -
      needs all(4? `…/{name}.json`, produced by `scripts/x.py --slices`, 4? the integrity gate has passed (see `quality.md`))
    ");
    assert_eq!(file.unknown, [("INTEGRITY GATE".to_owned(), 9), ("NOTE".to_owned(), 10)]);
    assert_eq!(file.coverage, super::super::ConditionCoverage { checked: 0, manual: 2 });
    assert_eq!(&file.text[file.spans[3].name.clone()], "coherence-notation");
}

#[test]
fn entries_below_a_heading_with_two_fields_on_a_line() {
    let file = clean(
        "## Agents\n\nWho there is.\n\n### librarian\n\
        - **ROLE:** creator (agent) · **PARALLEL_GROUP:** discovery · **PHASE**: Discovery\n\
        - **REQUIRES:**\n  - `notes/idea.md`\n  - a question · worth asking\n\
        - **PRODUCES:** `scripts/{R,py,jl}/`, `reports/YYYY-MM-DD_report.md` and `data/<name>.csv` (never `data/raw/` — INV-25)\n\
        - **CRITIC:** librarian-critic · **WRITES:** `lit/`\n\
        - **ESCALATION_TARGET:** User\n* QUALITY_WEIGHT: 10 (literature)\n",
    );
    assert_snapshot!(shown(&file), @"
    5 librarian | Discovery | discovery | librarian-critic | the user | 1000 literature
      needs all(8 notes/idea.md, 9? a question · worth asking)
      makes 10 scripts/{R,py,jl}/
      makes 10 reports/YYYY-MM-DD_report.md
      makes 10 data/<name>.csv
    ");
    assert_eq!(file.unknown, [("ROLE".to_owned(), 6), ("WRITES".to_owned(), 11)]);
}

#[test]
fn spanish_with_accents() {
    let file = clean(
        "## redactor\n- **FASE:** Planificación / Desarrollo (puede correr antes)\n- **GRUPO_PARALELO:** —\n\
        - **REQUIERE:** Borrador de al menos 3 secciones en `paper/`\n\
        - **PRODUCE:** `paper/main.tex`\n- **Secciones requeridas:** Introducción, Métodos\n\
        - **CRÍTICO:** auditor-coherencia (es solo critic, no crea)\n- **ESCALACIÓN:** Usuario — decide el alcance\n\
        - **PESO_CALIDAD:** Orientativo (no bloquea)\n- **CONDICIONAL:** sí\n\n\
        ## lector\n- **REQUIERE:** —\n- **PRODUCE:** `notas/`\n  - Archivos requeridos: `fichas.md`\n\
        - **CRI\u{301}TICO:** —\n- **PESO_CALIDAD:** —\n",
    );
    assert_snapshot!(shown(&file), @"
    1 redactor | Planificación / Desarrollo | - | auditor-coherencia | the user: decide el alcance | advisory
      if sí
      needs 4? Borrador de al menos 3 secciones en `paper/`
      makes 5 paper/main.tex sections Introducción, Métodos
    12 lector | - | - | - | the user | -
      needs all()
      makes 14 notas/ with notas/fichas.md
    ");
}

#[test]
fn what_a_machine_can_check_and_what_it_cannot() {
    for (requires, is) in [
        ("Research idea or research spec", "3? Research idea or research spec"),
        ("`paper/tables/` contains table files (`.rds` or `.csv`)", "3 paper/tables/ contains .rds .csv"),
        ("`paper/tables` contains `.rds` model objects", "3 paper/tables/ contains .rds"),
        ("paper/tables/ contains .tex files — from the coder", "3 paper/tables/ contains .tex"),
        ("`scripts/` contains the target script", "3? `scripts/` contains the target script"),
        ("`paper/` contains at least 3 `.tex` files", "3? `paper/` contains at least 3 `.tex` files"),
        ("`paper/` contains no `.tex` files", "3? `paper/` contains no `.tex` files"),
        ("coder-critic score ≥ 80", "3 coder-critic>=80"),
        ("coder-critic score of at least 80 (see the rules)", "3 coder-critic>=80"),
        ("`coder-critic` score >= 80/100", "3 coder-critic>=80"),
        ("Overall score >= 95", "3 overall>=95"),
        ("all components >= 80", "3 components>=80"),
        ("every score >= eighty", "3? every score >= eighty"),
        ("`a.md` (`passport.yaml` `research:` block)", "3? `a.md` (`passport.yaml` `research:` block)"),
        ("`a.md` (the plan) — made by `coder`", "3 a.md"),
        ("`a/`, `b/`", "all(3 a/, 3 b/)"),
        ("`a/` or `b/`", "3? `a/` or `b/`"),
        ("`a OR b/`", "3? `a OR b/`"),
        ("a.md AND (b.md OR c.md)", "all(3 a.md, any(3 b.md, 3 c.md))"),
        ("the ORACLE has spoken", "3? the ORACLE has spoken"),
        ("Run `/strategize` first", "3? Run `/strategize` first"),
        ("None — starts anywhere", "all()"),
    ] {
        let file = clean(&format!("## coder\n- CRITIC: None\n- REQUIRES: {requires}\n"));
        assert_eq!(need(&entry(&file, "coder").requires), is, "{requires}");
    }
}

#[test]
fn mixed_operators_are_read_and_warned_about() {
    let text = "## coder\n- REQUIRES: `a/` AND `b/` OR `c/`\n";
    let file = read(text);
    assert_eq!(need(&entry(&file, "coder").requires), "any(all(2 a/, 2 b/), 2 c/)");
    assert!(!file.has_errors());
    assert_eq!(pointed(text, &file.problems[0]), "`a/` AND `b/` OR `c/`");
}

#[test]
fn required_files_lie_in_the_folder_and_sections_in_the_file_they_name() {
    let file = clean(
        "## coder\n- REQUIRES: None\n- PRODUCES: `out/{project}/`\n- Required files: `memo.md`, {script}_explainer.md, out/{project}/Makefile\n\
        - Required sections: Estimand\n- Required sections (explainer): What it does\n- Required content: the seed\n",
    );
    let makes = &entry(&file, "coder").produces;
    assert_eq!(
        makes[0].files,
        ["out/{project}/memo.md", "out/{project}/{script}_explainer.md", "out/{project}/Makefile"]
            .map(Pattern::new)
    );
    assert_eq!(makes[0].sections, ["Estimand"]);
    assert_eq!(makes[1].patterns, [Pattern::new("out/{project}/{script}_explainer.md")]);
    assert_eq!(makes[1].sections, ["What it does"]);
    assert_eq!(file.coverage.manual, 1);
}

#[test]
fn what_is_not_there_is_not_read() {
    let file = clean(
        "## Groups\n- discovery: two agents\n\n<!--\n## ghost\n- REQUIRES: `a/`\n-->\n\n## coder\n- REQUIRES: `a/`\n\n\
        | - **CRITIC:** table |\n\n~~~md\n- **CRITIC:** fenced\n~~~\n> - **CRITIC:** quoted\n\n##### deep\n- PRODUCES: `x/`\n",
    );
    assert_eq!(file.registry.entries.len(), 1);
    assert_eq!(entry(&file, "coder").critic, None);
    assert!(entry(&file, "coder").produces.is_empty());
}
