//! The weighted aggregate, in integers, with its arithmetic.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use self::fraction::Fraction;

mod fraction;

/// Hundredths of a point, so that nothing is rounded before it is shown.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Hundredths(pub u32);

impl Hundredths {
    pub const fn reaches(self, points: u32) -> bool {
        self.0 >= points.saturating_mul(100)
    }
}

impl std::fmt::Display for Hundredths {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{:02}", self.0 / 100, self.0 % 100)
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Aggregate {
    pub components: Vec<Component>,
    /// None if nothing is scored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overall: Option<Hundredths>,
    /// The sum, line by line, for a person.
    pub arithmetic: Vec<String>,
}

/// One component: the rows of the registry that share its name.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Component {
    pub name: String,
    /// Hundredths of a percent, added over its rows.
    pub points: u32,
    /// The average of its scored rows; none if it is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<Hundredths>,
    pub rows: Vec<ScoreRow>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ScoreRow {
    pub agent: String,
    pub points: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<u32>,
    /// Why there is none that counts: never judged, stale, not enabled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    /// It may be missing without closing any gate.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub optional: bool,
}

impl Component {
    fn scores(&self) -> Vec<u32> {
        self.rows.iter().filter_map(|row| row.score).collect()
    }

    /// Exactly, where [`Self::score`] is rounded.
    fn average(&self) -> Option<Fraction> {
        let scores = self.scores();
        let count = u128::try_from(scores.len()).ok().filter(|count| *count > 0)?;
        Some(Fraction::new(scores.iter().map(|score| u128::from(*score)).sum(), count))
    }

    fn named(name: &str) -> Self {
        Self { name: name.to_owned(), points: 0, score: None, rows: Vec::new() }
    }
}

impl Aggregate {
    /// The sum over these rows, each with the name of its component. What has no score is left out, and the weights
    /// of the others are taken as the whole.
    pub fn of<'a>(rows: impl IntoIterator<Item = (&'a str, ScoreRow)>) -> Self {
        let mut components: Vec<Component> = Vec::new();
        let mut places: BTreeMap<String, usize> = BTreeMap::new();
        for (name, row) in rows {
            let name = name.trim();
            let place = *places.entry(name.to_lowercase()).or_insert_with(|| {
                components.push(Component::named(name));
                components.len() - 1
            });
            if let Some(component) = components.get_mut(place) {
                component.points = component.points.saturating_add(row.points);
                component.rows.push(row);
            }
        }
        let mut sum = Fraction::new(0, 1);
        let (mut scored, mut whole) = (0_u128, 0_u128);
        for component in &mut components {
            let points = u128::from(component.points);
            whole += points;
            let Some(average) = component.average() else { continue };
            component.score = Some(average.hundredths());
            sum = sum.plus(average.times(points));
            scored += points;
        }
        let overall = (scored > 0).then(|| sum.over(scored).hundredths());
        let arithmetic = arithmetic(&components, sum, scored, whole, overall);
        Self { components, overall, arithmetic }
    }

    /// What was left out of the sum, by name, and why.
    pub fn missing(&self) -> Vec<String> {
        let rows = self
            .components
            .iter()
            .flat_map(|component| component.rows.iter().map(move |row| (component, row)));
        let said = |(component, row): (&Component, &ScoreRow)| {
            let because = row.because.as_deref().unwrap_or("not judged yet");
            if component.rows.len() == 1 {
                format!("{} ({because})", component.name)
            } else {
                format!("{}, {} ({because})", component.name, row.agent)
            }
        };
        rows.filter(|(_, row)| row.score.is_none()).map(said).collect()
    }
}

fn arithmetic(
    components: &[Component],
    sum: Fraction,
    scored: u128,
    whole: u128,
    overall: Option<Hundredths>,
) -> Vec<String> {
    let wide = components.iter().map(|component| component.name.chars().count()).max().unwrap_or(0).max(3);
    let mut lines = Vec::new();
    for component in components {
        let (name, share) = (&component.name, percent(u128::from(component.points)));
        lines.push(match component.average() {
            None => {
                let because = component.rows.iter().find_map(|row| row.because.as_deref());
                format!("{name:<wide$}  {share:>6}  left out: {}", because.unwrap_or("not judged yet"))
            }
            Some(average) => {
                let each: Vec<String> = component.scores().iter().map(ToString::to_string).collect();
                let worth = average.times(u128::from(component.points)).over(10_000);
                let of = match component.rows.len() {
                    1 => String::new(),
                    rows if rows == each.len() => format!("  (average of {})", each.join(", ")),
                    rows => {
                        format!("  (average of {}; {} of {rows} scored)", each.join(", "), each.len())
                    }
                };
                format!("{name:<wide$}  {share:>6}  × {:<6} = {:>7}{of}", average.short(), worth.long())
            }
        });
    }
    let (part, all) = (percent(scored), percent(whole));
    lines.push(match overall {
        Some(overall) => {
            let total = sum.over(10_000).long();
            format!("{:<wide$}  {part} of {all}: {total} / {part} = {overall}", "sum")
        }
        None => format!("{:<wide$}  nothing is scored", "sum"),
    });
    lines
}

/// `12.5%` for 1250.
fn percent(points: u128) -> String {
    let text = format!("{}.{:02}", points / 100, points % 100);
    format!("{}%", text.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests;
