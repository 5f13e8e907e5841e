//! Tables in every form people write them, and what is wrong with the others.

use std::fmt::Write as _;

use gadfly_engine::deduction::{Amount, Deduction, tally};

use super::*;

fn markdown(text: &str) -> Result<TableReading, Vec<Problem>> {
    from_markdown(text, Path::new("rubric.md"), None)
}

fn toml(text: &str) -> Result<TableReading, Vec<Problem>> {
    from_toml(text, Path::new("rubric.toml"))
}

/// A table as lines `id | category | cost`.
fn shown(reading: &TableReading) -> String {
    let mut out = String::new();
    for row in reading.table.iter().flat_map(|t| &t.rows) {
        let cost = match &row.points {
            Points::Flat(each) => each.to_string(),
            Points::Per { each, unit, max } => format!(
                "{each} per {}{}",
                unit.as_deref().unwrap_or("?"),
                max.map_or(String::new(), |m| format!(", max {m}"))
            ),
            Points::Gravity(gravity) => gravity.name().to_owned(),
        };
        let _ = writeln!(out, "{} | {} | {cost}", row.id, row.category.as_deref().unwrap_or("-"));
    }
    out
}

fn lines(problems: &[Problem]) -> Vec<(bool, usize, String)> {
    let line = |p: &Problem| p.at.as_ref().map_or(0, |at| at.line);
    problems.iter().map(|p| (p.is_error(), line(p), p.message.clone())).collect()
}

const TWO_CRITICS: &str = "\
# Rubrics

## Writer-Critic (Manuscripts)

### Critical (blocking)

| Issue | Deduction |
|-------|-----------|
| Paper does not build | -20 |
| Numbers differ from the tables (INV-11) | −10 per, max −30 |

**Minor (polish):**

| Issue | Deduction |
|---|---|
| **Filler** words | `-2 per, max -6` |
| Stray `a \\| b` in code | -1 per |

```markdown
| Issue | Deduction |
|---|---|
| A template row | -99 |
```

## Theorist-Critic

| Category | Issue | Deduction |
|----------|-------|-----------|
| **Proofs** | Gap in the argument | -20 per gap |
| | Circular argument | -25 |
| **Notation** | | |
| | Symbol with two meanings | -5 per symbol |
| Sources | Missing entry | -5 each |

## Gates

| Gate | Overall |
|---|---|
| Commit | >= 80 |
";

#[test]
fn every_table_of_a_file_is_read_with_its_categories() {
    let reading = markdown(TWO_CRITICS).unwrap();
    assert_eq!(reading.warnings, []);
    insta::assert_snapshot!(shown(&reading), @"
    paper-does-not-build | Critical (blocking) | 20
    numbers-differ-from-the-tables-inv-11 | Critical (blocking) | 10 per ?, max 30
    filler-words | Minor (polish) | 2 per ?, max 6
    stray-a-b-in-code | Minor (polish) | 1 per ?
    gap-in-the-argument | Proofs | 20 per gap
    circular-argument | Proofs | 25
    symbol-with-two-meanings | Notation | 5 per symbol
    missing-entry | Sources | 5 per ?
    ");
    let rows = reading.table.unwrap().rows;
    assert_eq!(rows[3].text, "Stray `a | b` in code");
    assert_eq!(rows[2].text, "Filler words");
}

#[test]
fn one_critics_section_is_read_alone() {
    let section = |name| from_markdown(TWO_CRITICS, Path::new("r.md"), Some(name));
    assert_eq!(section("theorist-critic").unwrap().table.unwrap().rows.len(), 4);
    assert_eq!(section("Writer-Critic").unwrap().table.unwrap().rows.len(), 4);
    assert_eq!(section("gates").unwrap(), TableReading { table: None, warnings: vec![] });
    let missing = section("coder-critic").unwrap_err();
    assert!(missing[0].message.contains("no section `coder-critic`"));
    assert!(missing[0].help.as_ref().unwrap().contains("Theorist-Critic"));
}

#[test]
fn columns_may_stand_in_any_order_and_without_outer_bars() {
    let reading = markdown(
        "Penalty | Fix | What | Code\n--- | --- | --- | ---\n-10 | add it | No seed | INV-14\n-5 per | cut | Dead code | INV-20\n",
    )
    .unwrap();
    assert_eq!(shown(&reading), "INV-14 | - | 10\nINV-20 | - | 5 per ?\n");
    let unnamed = markdown("| A | B |\n|---|---|\n| No seed | -10 |\n| Dead code | -5 |\n").unwrap();
    assert_eq!(shown(&unnamed), "no-seed | - | 10\ndead-code | - | 5\n", "found by its cells");
    let spanish = markdown("| Problema | Deducción |\n|---|---|\n| Sin semilla | -10 |\n").unwrap();
    assert_eq!(shown(&spanish), "sin-semilla | - | 10\n");
}

#[test]
fn the_same_text_twice_gives_two_ids() {
    let reading =
        markdown("| Issue | Deduction |\n|---|---|\n| Typo | -1 |\n| typo! | -2 |\n| — | -3 |\n").unwrap();
    assert_eq!(shown(&reading), "typo | - | 1\ntypo-2 | - | 2\nrow | - | 3\n");
}

#[test]
fn severities_stand_in_for_points() {
    let defined = "| Severity | Definition |\n|---|---|\n| **CRITICAL** | The design is wrong. |\n| **MAJOR** | A check is missing. |\n| **MINOR** | Nice to have. |\n";
    let reading = markdown(defined).unwrap();
    assert_eq!(shown(&reading), "critical | - | critical\nmajor | - | major\nminor | - | minor\n");
    assert_eq!(reading.table.unwrap().rows[1].text, "A check is missing.");

    let priced = "| Severity | Definition | Deduction |\n|---|---|---|\n| CRITICAL | Wrong. | -25 per |\n| MAJOR | Weak. | -5 per |\n";
    assert_eq!(shown(&markdown(priced).unwrap()), "critical | - | 25 per ?\nmajor | - | 5 per ?\n");

    let examples = "| Example | Severity |\n|---|---|\n| No seed | **Major** |\n| Dead code | Minor |\n| Print left | Minor |\n";
    assert_eq!(
        shown(&markdown(examples).unwrap()),
        "no-seed | - | major\ndead-code | - | minor\nprint-left | - | minor\n\
         critical | - | critical\nmajor | - | major\nminor | - | minor\n",
        "an issue without a row can be named by its severity"
    );

    let sections = "## CRITICAL\n- The design is wrong\n\n## Major issues\n- A check is missing\n* No power analysis\n\n## Format\n- Write Markdown\n";
    assert_eq!(
        shown(&markdown(sections).unwrap()),
        "the-design-is-wrong | CRITICAL | critical\na-check-is-missing | MAJOR | major\nno-power-analysis | MAJOR | major\n\
         critical | - | critical\nmajor | - | major\nminor | - | minor\n"
    );

    let words = "- **CRITICAL** — the design is wrong\n- **MINOR**: nice to have\n";
    let reading = markdown(words).unwrap();
    assert_eq!(reading.table.unwrap().rows[0].text, "the design is wrong");
}

#[test]
fn a_scaling_table_gives_rows_their_points_at_each_severity() {
    let reading = markdown(
        "| Issue | Deduction |\n|---|---|\n| Missing citation | -10 |\n\n\
         | Issue | Disc. | Strat. | Exec. | Peer |\n|---|---|---|---|---|\n\
         | Missing citation | -2 | -5 | -10 | -15 |\n| Hedging | — | — | -3 | -5 |\n\n\
         | Phase | Severity | Stance |\n|---|---|---|\n| Discovery | low | Encouraging |\n| Strategy | medium | Constructive |\n",
    )
    .unwrap();
    assert_eq!(reading.warnings, []);
    let table = reading.table.unwrap();
    let score = |row: &str, level| {
        let list = [Deduction { row: row.into(), times: 1 }];
        tally(&table, level, &list, None).unwrap().score
    };
    let cases = [
        ("missing-citation", [98, 95, 90, 90, 85]),
        // Medium-high is not stated: the row has no points of its own, so the next stricter count.
        ("hedging", [100, 100, 97, 97, 95]),
    ];
    for (row, scores) in cases {
        for (level, expected) in Level::ALL.into_iter().zip(scores) {
            assert_eq!(score(row, level), expected, "{row} at {level}");
        }
    }
}

#[test]
fn a_table_of_factors_scales_every_row() {
    let reading = markdown(
        "| Issue | Deduction |\n|---|---|\n| Typo | -10 |\n\n| Phase | Factor |\n|---|---|\n| Discovery | 50% |\n| Peer Review | ×1.5 |\n| Execution | 1.0 |\n",
    )
    .unwrap();
    let scale = reading.table.unwrap().scale;
    assert_eq!(scale, BTreeMap::from([(Level::Low, 50), (Level::High, 100), (Level::Maximum, 150)]));
}

#[test]
fn every_unreadable_cell_is_reported_at_once_with_its_place() {
    let problems = markdown(
        "| Issue | Deduction |\n|---|---|\n| A | -10 |\n| B | lots |\n| C | |\n| D | -10% |\n| E | -10 per, max -5 |\n| F | -20 |\n",
    )
    .unwrap_err();
    let expected = [
        (4, "`lots` cannot be read: it does not begin"),
        (5, "the row `C` has no points"),
        (6, "`-10%` cannot be read: points are needed"),
        (7, "its maximum is below one deduction"),
    ];
    assert_eq!(problems.len(), expected.len());
    for (problem, (line, message)) in problems.iter().zip(expected) {
        assert!(problem.is_error() && problem.message.contains(message), "{problem}");
        assert_eq!(problem.at.as_ref().unwrap().line, line);
        assert!(problem.help.as_ref().unwrap().contains("-10 per, max -30"), "the fix is named");
    }
}

#[test]
fn ranges_credits_and_empty_deductions_are_warned_about() {
    let reading = markdown(
        "| Issue | Deduction |\n|---|---|\n| A | up to -20 |\n| B | -5 to -15 |\n| Bonus | +5 |\n| D | — |\n",
    )
    .unwrap();
    assert_eq!(shown(&reading), "a | - | 20\nb | - | 15\n", "the strictest reading counts");
    let warned: Vec<usize> = lines(&reading.warnings).into_iter().map(|(_, line, _)| line).collect();
    assert_eq!(warned, [3, 4, 5, 6]);
    assert!(reading.warnings[2].message.contains("credit"));
}

#[test]
fn a_file_without_deductions_has_no_table() {
    for text in [
        "",
        "# Rubric\n\n- at most 150 words\n- states the sample size\n",
        "| Component | Weight | Source |\n|---|---|---|\n| Literature | 10% | librarian |\n",
        "| Gate | Overall |\n|---|---|\n| Commit | >= 80 |\n",
        "| Phase | Severity | Stance |\n|---|---|---|\n| Discovery | low | kind |\n| Execution | high | strict |\n",
        "| Field | Forms |\n|---|---|\n| a | b |\n",
        "```\n| Issue | Deduction |\n|---|---|\n| A | -10 |\n```\n",
        "<!--\n| Issue | Deduction |\n|---|---|\n| A | -10 |\n-->\n",
    ] {
        assert_eq!(markdown(text).unwrap(), TableReading { table: None, warnings: vec![] }, "{text}");
    }
    let points = markdown("| Part | Points |\n|---|---|\n| Report | 20 |\n| Code | 80 |\n").unwrap();
    assert_eq!(points.table, None, "points to be had are not deductions");
    assert!(points.warnings[0].message.contains("no minus sign"));
}

#[test]
fn a_file_with_windows_line_ends_and_front_matter_is_read() {
    let reading =
        markdown("---\r\nname: r\r\n---\r\n| Issue | Deduction |\r\n|---|---|\r\n| Typo | -1 |\r\n").unwrap();
    assert_eq!(shown(&reading), "typo | - | 1\n");
}

#[test]
fn a_toml_rubric_is_read() {
    let reading = toml(
        "[severity]\ncritical = 40\n[scale]\ndiscovery = 50\npeer-review = \"150%\"\n\
         [[rubric]]\nrow = \"Missing citation\"\ncategory = \"Sources\"\nper = -10\nmax = -30\nunit = \"paper\"\n\
         [[rubric]]\nid = \"build\"\nrow = \"Does not build\"\npoints = -20\n\
         at = { discovery = \"none\", strategy = \"-2 per, max -6\" }\n\
         [[rubric]]\nrow = \"Weak check\"\nseverity = \"major\"\n\
         [[rubric]]\nrow = \"Loose\"\npoints = -2.5\n",
    )
    .unwrap();
    assert_eq!(
        shown(&reading),
        "missing-citation | Sources | 10 per paper, max 30\nbuild | - | 20\nweak-check | - | major\nloose | - | 2.5\n\
         critical | - | critical\nmajor | - | major\nminor | - | minor\n"
    );
    let table = reading.table.unwrap();
    assert_eq!(table.gravities.critical, Amount::whole(40));
    assert_eq!(table.scale, BTreeMap::from([(Level::Low, 50), (Level::Maximum, 150)]));
    assert_eq!(table.rows[1].at.get(&Level::Low), Some(&None));
    assert!(matches!(table.rows[1].at.get(&Level::Medium), Some(Some(Points::Per { .. }))));
    assert_eq!(toml("").unwrap().table, None);
}

#[test]
fn every_problem_of_a_toml_rubric_is_reported_with_its_line() {
    let problems = toml(
        "[[rubric]]\nrow = \"A\"\n\n[[rubric]]\npoints = -5\n\n[[rubric]]\nrow = \"B\"\npoints = \"lots\"\n\n\
         [[rubric]]\nrow = \"C\"\npoints = -5\nper = -1\n\n[[rubric]]\nrow = \"D\"\nsevrity = \"major\"\npoints = -1\n\n\
         [[rubric]]\nrow = \"E\"\nseverity = \"grave\"\n\n[scale]\nnever = 5\n\n[severity]\nmajor = \"x\"\n",
    )
    .unwrap_err();
    let messages: Vec<String> =
        lines(&problems).into_iter().map(|(_, line, m)| format!("{line}: {m}")).collect();
    let expected = [
        "has no points",
        "a row has no `row`",
        "`points` must be a number of points",
        "in more than one way",
        "unknown key `sevrity`",
        "`severity` must be",
        "unknown key `never`",
        "`major` must be a number",
    ];
    for wanted in expected {
        assert!(messages.iter().any(|m| m.contains(wanted)), "{wanted} in {messages:#?}");
    }
    assert!(problems.iter().all(|p| p.at.is_some() && p.help.is_some()));
    assert!(toml("[[rubric]\n").unwrap_err()[0].message.contains("not valid TOML"));
}

#[test]
fn ids_that_stand_twice_are_refused() {
    let problems = markdown("| ID | Issue | Deduction |\n|---|---|---|\n| R1 | A | -1 |\n| R1 | B | -2 |\n")
        .unwrap_err();
    assert_eq!(lines(&problems), [(true, 4, "two rows have the id `R1`".to_owned())]);
}

#[test]
fn a_hostile_file_gives_few_problems_and_few_rows() {
    let bad = format!("| Issue | Deduction |\n|---|---|\n{}", "| A | lots |\n".repeat(5_000));
    assert_eq!(markdown(&bad).unwrap_err().len(), MOST_PROBLEMS + 1);
    let long = format!("| Issue | Deduction |\n|---|---|\n{}", "| A | -1 |\n".repeat(2_000));
    assert!(markdown(&long).unwrap_err()[0].message.contains("more than 500 rows"));
    for piece in ["|", "| ", "`|", "\\|", "|-|\n", "| -1 |\n|-|\n", "# a\n", "- a\n", "**", "```\n"] {
        let _ = markdown(&piece.repeat(20_000));
    }
}

proptest::proptest! {
    #[test]
    fn no_text_panics_and_what_is_read_is_usable(text in "[-|#*` :0-9a-zA-Z−,().\\\\\n]{0,200}") {
        if let Ok(TableReading { table: Some(table), .. }) = markdown(&text) {
            proptest::prop_assert_eq!(table.problems(), Vec::<String>::new());
        }
        let _ = toml(&text);
    }

    /// What stands in a cell is what is subtracted.
    #[test]
    fn points_survive_the_way_through_a_table(each in 1u32..60, times in 1u32..5, room in 0u32..40) {
        let max = each + room;
        let text = format!("| Issue | Deduction |\n|---|---|\n| A | −{each} per thing, max −{max} |\n");
        let table = markdown(&text).unwrap().table.unwrap();
        let sheet = tally(&table, Level::High, &[Deduction { row: "a".into(), times }], None).unwrap();
        proptest::prop_assert_eq!(sheet.lines[0].subtracted, Amount::whole((each * times).min(max)));
    }
}

#[test]
fn a_table_of_phases_in_the_rules_scales_rows_about_the_same_issue() {
    let rules = "# Quality\n\n| Gate | Score |\n|---|---|\n| Commit | >= 80 |\n\n| Issue | Discovery | Strategy | Execution | Peer Review |\n|---|---|---|---|---|\n| Missing citation | -2 | -5 | -10 | -15 |\n| Notation inconsistency | — | -3 | -5 | -5 |\n";
    let scales = scales(rules, Path::new("quality.md"));
    assert_eq!(scales.len(), 2, "{scales:?}");
    let rubric = "| Issue | Deduction |\n|---|---|\n| Missing citations for a named result | -5 per instance |\n| Inconsistent notation | -5 |\n| Filler | -1 |\n";
    let mut table = from_markdown(rubric, Path::new("r.md"), None).unwrap().table.unwrap();
    scale(&mut table, &scales);
    let cost = |row: usize, level| {
        let rate = table.rate(&table.rows[row], level);
        format!("{} {}", rate.each, rate.repeats)
    };
    assert_eq!(cost(0, Level::Low), "2 true");
    assert_eq!(cost(0, Level::Maximum), "15 true");
    assert_eq!(cost(1, Level::Low), "0 false", "not deducted in Discovery");
    assert_eq!((cost(1, Level::Medium), cost(2, Level::Low)), ("3 false".into(), "1 false".into()));
}
