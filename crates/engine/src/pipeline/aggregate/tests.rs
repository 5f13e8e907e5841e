//! The sum is right to the last digit, and says how it came about.

use super::*;

fn row(agent: &str, points: u32, score: Option<u32>) -> ScoreRow {
    let because = score.is_none().then(|| "not judged yet".to_owned());
    ScoreRow { agent: agent.into(), points, score, because, optional: false }
}

fn sum(rows: &[(&'static str, u32, Option<u32>)]) -> Aggregate {
    Aggregate::of(rows.iter().map(|(name, points, score)| (*name, row(name, *points, *score))))
}

#[test]
fn the_sum_is_weighted_and_not_rounded_on_the_way() {
    let all = [
        ("literature", 1000, Some(82)),
        ("data", 1000, Some(85)),
        ("identification", 2500, Some(78)),
        ("code", 1500, Some(82)),
        ("polish", 1000, Some(71)),
        ("paper", 2500, Some(76)),
        ("replication", 500, Some(0)),
    ];
    // 8.20 + 8.50 + 19.50 + 12.30 + 7.10 + 19.00 + 0
    assert_eq!(sum(&all).overall, Some(Hundredths(7460)));
    assert_eq!(sum(&all[..6]).overall, Some(Hundredths(7853)), "74.60 / 0.95 = 78.526…");
    assert_eq!(
        sum(&[("a", 3300, Some(76)), ("b", 1300, Some(77)), ("c", 5400, Some(77))]).overall,
        Some(Hundredths(7667))
    );
    assert_eq!(
        sum(&[("a", 3500, Some(76)), ("b", 6500, Some(77))]).overall,
        Some(Hundredths(7665)),
        "not 76.6, not 76.7"
    );
}

#[test]
fn missing_components_are_left_out_and_zero_is_a_score() {
    let without = sum(&[("a", 5000, Some(90)), ("b", 5000, None)]);
    assert_eq!(without.overall, Some(Hundredths(9000)));
    assert_eq!(without.missing(), ["b (not judged yet)"]);
    assert_eq!(sum(&[("a", 5000, Some(90)), ("b", 5000, Some(0))]).overall, Some(Hundredths(4500)));
    assert_eq!(sum(&[("a", 5000, None)]).overall, None);
    assert_eq!(sum(&[]).overall, None);
    assert_eq!(sum(&[("a", 0, Some(90))]).overall, None, "a weight of nothing decides nothing");
}

#[test]
fn rows_of_one_component_add_their_weights_and_average_their_scores() {
    let both = |methods| {
        let rows = [
            (" Paper quality ", row("domain-referee", 1250, Some(80))),
            ("code", row("coder", 2500, Some(60))),
            ("paper Quality", row("methods-referee", 1250, methods)),
        ];
        Aggregate::of(rows)
    };
    let two = both(Some(91));
    assert_eq!(two.components[0].name, "Paper quality");
    assert_eq!((two.components[0].points, two.components[0].score), (2500, Some(Hundredths(8550))));
    assert_eq!(two.overall, Some(Hundredths(7275)));
    let one = both(None);
    assert_eq!((one.components[0].points, one.components[0].score), (2500, Some(Hundredths(8000))));
    assert_eq!(one.overall, Some(Hundredths(7000)), "its weight is that of the whole component");
    assert_eq!(one.missing(), ["Paper quality, methods-referee (not judged yet)"]);
}

#[test]
fn more_than_a_hundred_percent_is_taken_as_the_whole() {
    let all = sum(&[("rest", 10_000, Some(90)), ("theory", 2000, Some(60))]);
    assert_eq!(all.overall, Some(Hundredths(8500)));
}

#[test]
fn the_arithmetic_can_be_followed() {
    let rows = [
        ("literature", row("librarian", 1000, Some(92))),
        ("data", row("explorer", 1000, None)),
        ("paper", row("domain-referee", 1250, Some(83))),
        ("paper", row("methods-referee", 1250, Some(84))),
        ("code", row("coder", 1500, Some(71))),
    ];
    assert_eq!(
        Aggregate::of(rows).arithmetic,
        [
            "literature     10%  × 92     =    9.20",
            "data           10%  left out: not judged yet",
            "paper          25%  × 83.5   =  20.875  (average of 83, 84)",
            "code           15%  × 71     =   10.65",
            "sum         50% of 60%: 40.725 / 50% = 81.45",
        ]
    );
    assert_eq!(
        sum(&[("a", 1250, None)]).arithmetic,
        ["a     12.5%  left out: not judged yet", "sum  nothing is scored"]
    );
}

#[test]
fn many_components_of_odd_sizes_do_not_overflow() {
    let rows: Vec<(String, ScoreRow)> = (0_u32..2000)
        .flat_map(|n| {
            (0..=n % 13).map(move |k| (format!("c{n}"), row("x", u32::MAX, Some((n * 7 + k) % 101))))
        })
        .collect();
    let all = Aggregate::of(rows.iter().map(|(name, row)| (name.as_str(), row.clone())));
    assert!(all.overall.is_some_and(|overall| overall.0 > 4000 && overall.0 < 6000), "{:?}", all.overall);
    let thirds = Aggregate::of([1, 1, 2].map(|score| ("t", row("x", 1, Some(score)))));
    assert_eq!(thirds.overall, Some(Hundredths(133)));
}
