//! Tables of deductions and their sums, form by form.

#![allow(clippy::unwrap_used)]

use super::*;
use crate::finding::Finding;

fn points(n: u32) -> Amount {
    Amount::whole(n)
}

fn row(id: &str, points: Points) -> DeductionRow {
    DeductionRow { id: id.into(), category: None, text: id.replace('-', " "), points, at: BTreeMap::new() }
}

fn per(each: u32, max: Option<u32>) -> Points {
    Points::Per { each: points(each), unit: None, max: max.map(points) }
}

fn table() -> DeductionTable {
    DeductionTable {
        rows: vec![
            row("does-not-compile", Points::Flat(points(20))),
            row("missing-citation", per(10, Some(30))),
            row("bibtex-entry", per(5, None)),
            row("design-flaw", Points::Gravity(Gravity::Critical)),
            row("weak-check", Points::Gravity(Gravity::Major)),
            row("typo", Points::Gravity(Gravity::Minor)),
        ],
        ..DeductionTable::default()
    }
}

fn applied(list: &[(&str, u32)]) -> Vec<Deduction> {
    list.iter().map(|(row, times)| Deduction { row: (*row).into(), times: *times }).collect()
}

fn sheet(list: &[(&str, u32)]) -> Sheet {
    tally(&table(), Level::High, &applied(list), None).unwrap()
}

#[test]
fn every_form_of_a_row_takes_off_what_it_says() {
    type Case<'a> = (&'a [(&'a str, u32)], u32, &'a str);
    let cases: [Case<'_>; 14] = [
        (&[], 100, "100"),
        (&[("does-not-compile", 1)], 80, "80"),
        (&[("does-not-compile", 4)], 80, "80"),
        (&[("missing-citation", 2)], 80, "80"),
        (&[("missing-citation", 3)], 70, "70"),
        (&[("missing-citation", 9)], 70, "70"),
        (&[("bibtex-entry", 7)], 65, "65"),
        (&[("design-flaw", 1)], 75, "75"),
        (&[("design-flaw", 2)], 50, "50"),
        (&[("weak-check", 1)], 90, "90"),
        (&[("typo", 2)], 94, "94"),
        (&[("bibtex-entry", 0)], 100, "100"),
        (&[("design-flaw", 5)], 0, "-25"),
        (&[("does-not-compile", 1), ("missing-citation", 4), ("typo", 1)], 47, "47"),
    ];
    for (list, score, unfloored) in cases {
        let sheet = sheet(list);
        assert_eq!((sheet.score, sheet.unfloored.to_string().as_str()), (score, unfloored), "{list:?}");
        assert_eq!(sheet.kind, ScoreKind::Computed);
    }
}

#[test]
fn deductions_of_all_parts_are_united_before_a_maximum_applies() {
    // Applied to each part by itself, the maximum of 30 would allow 20 + 20.
    let sheet = sheet(&[("missing-citation", 2), ("typo", 1), ("missing-citation", 2)]);
    assert_eq!(sheet.score, 67);
    assert_eq!(sheet.lines.len(), 2);
    assert!(sheet.lines[0].capped);
    assert_eq!(sheet.lines[0].times, 4);
}

#[test]
fn the_arithmetic_can_be_read_line_by_line() {
    let sheet = sheet(&[("does-not-compile", 3), ("missing-citation", 2), ("bibtex-entry", 1)]);
    assert_eq!(
        sheet.shown(),
        [
            "100 − 20 (does not compile, found 3 times, counted once) = 80",
            "80 − 2 × 10 (missing citation, max 30) = 60",
            "60 − 5 (bibtex entry) = 55",
        ]
    );
    let capped = self::sheet(&[("missing-citation", 5), ("design-flaw", 3)]);
    assert_eq!(
        capped.shown(),
        [
            "100 − 30 (missing citation, 5 × 10, max 30) = 70",
            "70 − 3 × 25 (design flaw) = -5",
            "-5 is below 0: the score is 0",
        ]
    );
    assert_eq!(self::sheet(&[]).shown(), ["100, nothing deducted"]);
}

#[test]
fn a_stated_number_is_set_beside_the_sum_and_never_replaces_it() {
    let list = applied(&[("missing-citation", 2)]);
    let lower = tally(&table(), Level::High, &list, Some(points(90))).unwrap();
    assert_eq!((lower.score, lower.difference), (80, Some(points(10))));
    assert!(lower.shown().last().unwrap().contains("stated 90"));
    let same = tally(&table(), Level::High, &list, Some(points(80))).unwrap();
    assert_eq!(same.difference, None);
    let floored = tally(&table(), Level::High, &applied(&[("design-flaw", 5)]), Some(points(0))).unwrap();
    assert_eq!(floored.difference, None, "a critic states the floored number");
    let only = stated(points(84));
    assert_eq!((only.kind, only.score), (ScoreKind::Stated, 84));
}

#[test]
fn a_row_the_table_does_not_have_is_an_error_and_not_a_gift() {
    let wrong = tally(&table(), Level::High, &applied(&[("taste", 1), ("typo", 1)]), None);
    assert_eq!(wrong, Err(UnknownRows(vec!["taste".into()])));
}

#[test]
fn fractions_are_exact_and_never_lift_a_score_over_the_line() {
    let half = Amount::parse("2.5").unwrap();
    let table = DeductionTable {
        rows: vec![row("loose", Points::Per { each: half, unit: None, max: None })],
        ..DeductionTable::default()
    };
    let score = |times| tally(&table, Level::High, &applied(&[("loose", times)]), None).unwrap();
    assert_eq!(score(8).score, 80);
    assert_eq!((score(9).score, score(9).unfloored.to_string().as_str()), (77, "77.5"));
    assert_eq!(score(9).shown(), ["100 − 9 × 2.5 (loose) = 77.5"]);
}

#[test]
fn a_rubrics_scale_decides_what_a_row_costs_at_a_severity() {
    let mut citation = row("missing-citation", per(10, Some(30)));
    citation.at = BTreeMap::from([
        (Level::Low, Some(Points::Flat(points(2)))),
        (Level::Medium, None),
        (Level::Maximum, Some(Points::Flat(points(15)))),
    ]);
    let table = DeductionTable {
        rows: vec![citation, row("bibtex-entry", per(5, Some(15)))],
        scale: BTreeMap::from([(Level::Low, 50), (Level::Maximum, 150)]),
        ..DeductionTable::default()
    };
    let score = |level, list: &[(&str, u32)]| tally(&table, level, &applied(list), None).unwrap().score;
    let cases = [
        (Level::Low, "missing-citation", 98),
        (Level::Medium, "missing-citation", 100),
        (Level::MediumHigh, "missing-citation", 80),
        (Level::High, "missing-citation", 80),
        (Level::Maximum, "missing-citation", 85),
        (Level::Low, "bibtex-entry", 95),
        (Level::High, "bibtex-entry", 90),
        (Level::Maximum, "bibtex-entry", 85),
    ];
    for (level, row, expected) in cases {
        assert_eq!(score(level, &[(row, 2)]), expected, "{row} at {level}");
    }
    assert_eq!(score(Level::Low, &[("bibtex-entry", 9)]), 92, "the maximum is scaled too: 7.5");
    let none = tally(&table, Level::Medium, &applied(&[("missing-citation", 2)]), None).unwrap();
    assert_eq!(none.shown(), ["100 − 0 (missing citation, not deducted at severity medium) = 100"]);
}

#[test]
fn configured_gravities_count_instead_of_the_usual_ones() {
    let table = DeductionTable {
        gravities: Gravities { critical: points(40), major: points(5), minor: points(1) },
        ..table()
    };
    let list = applied(&[("design-flaw", 1), ("weak-check", 2), ("typo", 3)]);
    assert_eq!(tally(&table, Level::High, &list, None).unwrap().score, 47);
}

#[test]
fn only_supported_findings_deduct() {
    let mut real = Finding::new("bibtex-entry", Severity::Risk, "no entry", "critic");
    real.raw = Some(serde_json::json!({"times": 3}));
    let mut invented = Finding::new("design-flaw", Severity::Fail, "line 900", "critic");
    invented.unsupported = Some("the line does not exist".into());
    let plain = Finding::new("typo", Severity::Nit, "teh", "critic");
    assert_eq!(deductions(&[real, invented, plain]), applied(&[("bibtex-entry", 3), ("typo", 1)]));
}

#[test]
fn a_hostile_count_does_not_overflow() {
    let many = sheet(&[("bibtex-entry", u32::MAX), ("bibtex-entry", u32::MAX), ("design-flaw", u32::MAX)]);
    assert_eq!(many.score, 0);
    assert!(many.unfloored.is_negative());
}

#[test]
fn amounts_are_read_as_people_write_them() {
    for (text, expected) in [
        ("20", "20"),
        ("-20", "-20"),
        ("−20", "-20"),
        ("–3", "-3"),
        ("2.5", "2.5"),
        ("7.0", "7"),
        ("7.10", "7.1"),
    ] {
        assert_eq!(Amount::parse(text).unwrap().to_string(), expected, "{text}");
    }
    for bad in ["", "-", ".", "5.", ".5", "1e3", "2.55", "+5", "--5", "NaN", "99999999999", "٣"] {
        assert_eq!(Amount::parse(bad), None, "{bad}");
    }
    assert_eq!(Amount::parse_rounding_down("79.99").unwrap().as_score(), 79);
    let stored = serde_json::to_string(&Amount::parse("-2.5").unwrap()).unwrap();
    assert_eq!(stored, "\"-2.5\"");
    assert_eq!(serde_json::from_str::<Amount>(&stored).unwrap(), Amount::parse("-2.5").unwrap());
}

#[test]
fn every_phase_has_its_severity_and_tolerates_its_spellings() {
    let rows = [
        (Phase::Discovery, Level::Low, "encouraging", ["discovery", "Disc.", "DISCOVERY PHASE"]),
        (Phase::Strategy, Level::Medium, "constructive", ["Strategy", "Strat.", "strategy-phase"]),
        (Phase::Execution, Level::High, "strict", ["execution", "Exec.", "**Execution**"]),
        (Phase::PeerReview, Level::Maximum, "adversarial", ["peer-review", "Peer Review", "Peer"]),
        (
            Phase::Presentation,
            Level::MediumHigh,
            "professional, advisory",
            ["presentation", "Pres.", "Present"],
        ),
    ];
    for (phase, level, stance, spellings) in rows {
        assert_eq!((phase.level(), phase.level().stance()), (level, stance));
        for spelling in spellings {
            assert_eq!(Phase::parse(spelling), Some(phase), "{spelling}");
        }
        assert_eq!(Level::parse(level.name()), Some(level));
    }
    assert_eq!(shown_severity(Level::High, Some(Phase::Execution)), "HIGH (Execution: strict)");
    assert_eq!(shown_severity(Level::Low, Some(Phase::Execution)), "LOW (encouraging)", "an override");
    for unknown in ["", "p", "review", "paper", "per", "highest"] {
        assert_eq!(Phase::parse(unknown), None, "{unknown}");
    }
    assert_eq!(Level::parse("Medium High"), Some(Level::MediumHigh));
    assert_eq!(Level::parse("medium_high"), Some(Level::MediumHigh));
    assert_eq!(Level::parse("severe"), None);
}

#[test]
fn an_unusable_table_names_every_reason() {
    let table = DeductionTable {
        rows: vec![
            row("a", Points::Flat(points(0))),
            row("a", per(10, Some(5))),
            row("", Points::Flat(points(1))),
        ],
        ..DeductionTable::default()
    };
    assert_eq!(table.problems().len(), 4);
    assert_eq!(DeductionTable::default().problems(), ["the table of deductions has no rows"]);
    assert_eq!(self::table().problems(), Vec::<String>::new());
}

#[test]
fn a_critic_reads_ids_and_costs_at_its_severity() {
    let mut table = table();
    table.rows.truncate(4);
    table.rows[1].category = Some("Sources".into());
    table.rows[2].at = BTreeMap::from([(Level::Low, None)]);
    assert_eq!(
        table.shown(Level::Low),
        "- `does-not-compile`: does not compile (-20 once)\n\
         Sources:\n\
         - `missing-citation`: missing citation (-10 per time, at most -30)\n\
         Other:\n\
         - `bibtex-entry`: bibtex entry (not deducted)\n\
         - `design-flaw`: design flaw (-25 each, critical)\n"
    );
}

#[test]
fn a_table_is_stored_and_read_back_as_it_was() {
    let mut table = table();
    table.rows[0].at = BTreeMap::from([(Level::MediumHigh, None), (Level::High, Some(per(1, None)))]);
    table.scale = BTreeMap::from([(Level::Low, 50)]);
    let stored = serde_json::to_string(&table).unwrap();
    assert_eq!(serde_json::from_str::<DeductionTable>(&stored).unwrap(), table);
}

#[test]
fn slugs_are_short_and_made_of_words() {
    assert_eq!(
        slug("Numbers in text don't match tables (INV-11)"),
        "numbers-in-text-dont-match-tables-inv-11"
    );
    assert_eq!(slug("No `set.seed()` / not reproducible"), "no-set-seed-not-reproducible");
    assert!(slug(&"word ".repeat(100)).len() <= 60);
    assert!(slug(&"x".repeat(5_000)).len() <= 60);
    assert_eq!(slug("— ()"), "");
}

proptest::proptest! {
    /// One more deduction never raises the score, and the score stays on its scale.
    #[test]
    fn more_deductions_never_score_higher(list in proptest::collection::vec((0usize..6, 0u32..9), 0..12)) {
        let table = table();
        let mut sum = Vec::new();
        let mut last = FULL;
        for (at, times) in list {
            sum.push(Deduction { row: table.rows[at].id.clone(), times });
            let sheet = tally(&table, Level::High, &sum, None).unwrap();
            proptest::prop_assert!(sheet.score <= last);
            let lines = sheet.lines.iter().fold(Amount::whole(FULL), |left, line| left.minus(line.subtracted));
            proptest::prop_assert_eq!(lines, sheet.unfloored);
            last = sheet.score;
        }
    }
}
