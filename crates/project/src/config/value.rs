//! Values as they stand in one layer: checked for shape and range, each with its origin. And how layers
//! lie over each other. Not typed settings: those are built from the merged tables.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use gadfly_engine::protocol::goal::Criterion;

use super::criteria::{CriteriaSetting, CriticSetting};
use super::keys::{self, ConfigSection, Shape};
use super::names::{AgentKind, ArtifactSource};
use super::protocols::LoopProtocol;
use crate::place::{ConfigLayer, SourceSpan, Sourced};

#[derive(Clone, PartialEq, Debug)]
pub enum ConfigValue {
    Text(String),
    Texts(Vec<Sourced<String>>),
    /// Resolved against its source's folder.
    Path(PathBuf),
    Paths(Vec<Sourced<PathBuf>>),
    Whole(u64),
    Number(f64),
    Flag(bool),
    Time(Duration),
    Kind(AgentKind),
    Protocol(LoopProtocol),
    Output(ArtifactSource),
    Criteria(CriteriaSetting),
    Critics(Vec<Sourced<CriticSetting>>),
    Until(Criterion),
    Table(ConfigTable),
    Tables(BTreeMap<String, ConfigTable>),
    Rows(Vec<ConfigTable>),
    /// Present, and reported as wrong already.
    Unusable,
}

/// One table of one or more layers.
#[derive(Clone, PartialEq, Debug)]
pub struct ConfigTable {
    pub section: ConfigSection,
    pub layer: ConfigLayer,
    pub place: Option<SourceSpan>,
    values: BTreeMap<&'static str, Sourced<ConfigValue>>,
}

macro_rules! getters {
    ($($name:ident: $variant:ident -> $type:ty;)*) => {$(
        pub fn $name(&self, key: &str) -> Option<Sourced<$type>> {
            let found = self.values.get(key)?;
            match &found.value {
                ConfigValue::$variant(v) => Some(found.with(v.clone())),
                _ => None,
            }
        }
    )*};
}

impl ConfigTable {
    pub const fn new(section: ConfigSection, layer: ConfigLayer, place: Option<SourceSpan>) -> Self {
        Self { section, layer, place, values: BTreeMap::new() }
    }

    pub fn insert(&mut self, key: &'static str, value: Sourced<ConfigValue>) {
        self.values.insert(key, value);
    }

    pub fn get(&self, key: &str) -> Option<&Sourced<ConfigValue>> {
        self.values.get(key)
    }

    pub fn has(&self, key: &str) -> bool {
        self.values.contains_key(key)
    }

    pub fn place_of(&self, key: &str) -> Option<&SourceSpan> {
        self.values.get(key).and_then(|v| v.place.as_ref()).or(self.place.as_ref())
    }

    pub fn keys(&self) -> impl Iterator<Item = (&'static str, &Sourced<ConfigValue>)> {
        self.values.iter().map(|(k, v)| (*k, v))
    }

    getters! {
        text: Text -> String;
        texts: Texts -> Vec<Sourced<String>>;
        path: Path -> PathBuf;
        paths: Paths -> Vec<Sourced<PathBuf>>;
        whole: Whole -> u64;
        number: Number -> f64;
        flag: Flag -> bool;
        time: Time -> Duration;
        kind: Kind -> AgentKind;
        protocol: Protocol -> LoopProtocol;
        output: Output -> ArtifactSource;
        criteria: Criteria -> CriteriaSetting;
        critics: Critics -> Vec<Sourced<CriticSetting>>;
        until: Until -> Criterion;
    }

    /// This table with only these keys.
    pub fn filtered(&self, keep: impl Fn(&str) -> bool) -> Self {
        let mut table = self.clone();
        table.values.retain(|key, _| keep(key));
        table
    }

    /// What the project's files say in it.
    pub fn of_project(&self) -> Self {
        let mut table = Self::new(self.section, self.layer, self.place.clone());
        for (key, found) in &self.values {
            let value = match &found.value {
                ConfigValue::Table(inner) => ConfigValue::Table(inner.of_project()),
                ConfigValue::Tables(named) => ConfigValue::Tables(
                    named.iter().map(|(name, t)| (name.clone(), t.of_project())).collect(),
                ),
                _ if found.layer == ConfigLayer::Project => found.value.clone(),
                _ => continue,
            };
            table.values.insert(key, found.with(value));
        }
        table
    }

    /// Some value in it was refused, so that what is left would not be what was meant.
    pub fn is_spoiled(&self) -> bool {
        self.values.values().any(|v| match &v.value {
            ConfigValue::Unusable => true,
            ConfigValue::Table(inner) => inner.is_spoiled(),
            _ => false,
        })
    }

    pub fn table(&self, key: &str) -> Option<&Self> {
        match &self.values.get(key)?.value {
            ConfigValue::Table(t) => Some(t),
            _ => None,
        }
    }

    pub fn tables(&self, key: &str) -> impl Iterator<Item = (&str, &Self)> {
        let tables = match self.values.get(key).map(|v| &v.value) {
            Some(ConfigValue::Tables(t)) => Some(t),
            _ => None,
        };
        tables.into_iter().flatten().map(|(name, t)| (name.as_str(), t))
    }

    /// The tables of a list; a higher layer's list takes the place of a lower one's.
    pub fn rows(&self, key: &str) -> &[Self] {
        match self.values.get(key).map(|v| &v.value) {
            Some(ConfigValue::Rows(rows)) => rows,
            _ => &[],
        }
    }

    /// Takes out the named tables under `key` that `low` has from the user's own layer, and gives their names: a project
    /// does not alter what is the user's.
    pub fn withhold(&mut self, key: &'static str, low: &Self) -> Vec<(String, Option<SourceSpan>)> {
        let owned = |name: &str| {
            low.tables(key).any(|(known, table)| known == name && table.layer == ConfigLayer::User)
        };
        let Some(ConfigValue::Tables(tables)) = self.values.get_mut(key).map(|v| &mut v.value) else {
            return Vec::new();
        };
        let names: Vec<String> = tables.keys().filter(|name| owned(name)).cloned().collect();
        names
            .into_iter()
            .map(|name| {
                let place = tables.remove(&name).and_then(|table| table.place);
                (name, place)
            })
            .collect()
    }

    pub fn remove(&mut self, key: &'static str) -> Option<Sourced<ConfigValue>> {
        self.values.remove(key)
    }

    /// This table with `over` laid on top of it, key by key.
    pub fn overlaid(mut self, over: Self) -> Self {
        // An agent that states its kind is a new agent: mixing it with another one's key or address
        // would send one's secrets to the other.
        if over.section == ConfigSection::Agent && over.has("kind") {
            return over;
        }
        self.layer = self.layer.max(over.layer);
        self.place = over.place.or(self.place);
        for (key, value) in over.values {
            if let Some(partner) = keys::partner(self.section, key) {
                self.values.remove(partner);
            }
            let merged = match (self.values.remove(key).map(|v| v.value), value) {
                (
                    Some(ConfigValue::Table(low)),
                    Sourced { value: ConfigValue::Table(high), layer, place },
                ) => Sourced { value: ConfigValue::Table(low.overlaid(high)), layer, place },
                (
                    Some(ConfigValue::Tables(low)),
                    Sourced { value: ConfigValue::Tables(high), layer, place },
                ) => Sourced { value: ConfigValue::Tables(overlaid_tables(low, high)), layer, place },
                (_, value) => value,
            };
            self.values.insert(key, merged);
        }
        self
    }
}

fn overlaid_tables(
    mut low: BTreeMap<String, ConfigTable>,
    high: BTreeMap<String, ConfigTable>,
) -> BTreeMap<String, ConfigTable> {
    for (name, over) in high {
        let merged = match low.remove(&name) {
            Some(under) => under.overlaid(over),
            None => over,
        };
        low.insert(name, merged);
    }
    low
}

impl Shape {
    /// What is expected, as the end of "must be …".
    pub fn expects(self) -> String {
        match self {
            Self::Text => "a string".into(),
            Self::Texts => "a list of strings".into(),
            Self::Command => "a list of strings, the program first".into(),
            Self::Path => "a path".into(),
            Self::Paths => "a list of paths".into(),
            Self::Rubric => "a list of strings, or the path of a rubric file".into(),
            Self::OneOrMore => "a string, or a list of strings that is not empty".into(),
            Self::OneOf(words) => {
                let words: Vec<String> = words.iter().map(|w| format!("\"{w}\"")).collect();
                format!("one of {}", words.join(", "))
            }
            Self::Criteria => "the name of a set, the path of a file, or a list".into(),
            Self::Critics => "a list of agents that is not empty".into(),
            Self::Until => "a command, a table, or a list of them that is not empty".into(),
            Self::Whole { min, max } => format!("a whole number from {min} to {max}"),
            Self::Number { min, max } => format!("a number from {min} to {max}"),
            Self::Flag => "true or false".into(),
            Self::Time => "a time above zero, at most 7 days".into(),
            Self::Kind => "the name of a kind".into(),
            Self::Protocol => "the name of a protocol".into(),
            Self::Output => "\"reply\" or \"files\"".into(),
            Self::Table(_) => "a table".into(),
            Self::Named(section) => format!("tables, written as {}", section.header()),
            Self::Rows(section) => format!("a list of tables, written as {}", section.header()),
        }
    }

    /// How it is written, where that is not plain from what is expected.
    pub const fn example(self) -> Option<&'static str> {
        match self {
            Self::Command => Some("like [\"./critic.sh\", \"--strict\"]; there is no shell"),
            Self::Time => Some("seconds as a number, or text like \"90s\", \"5m\", \"1h30m\""),
            Self::Rubric => Some("like [\"at most 150 words\"] or \"rubrics/abstract.md\""),
            Self::Criteria => {
                Some("like [\"every endpoint has a test\"], or [{ name = \"CLARITY\", question = \"…?\" }]")
            }
            Self::Until => Some("like \"cargo test\", or { file = \"report.md\", contains = \"Results\" }"),
            Self::Critics => Some("like [\"judge\", { agent = \"second\", lens = \"method\" }]"),
            _ => None,
        }
    }
}

pub const TYPED_TIME: &str =
    "write a time like 90s, 60m, 2h or 1h30m, at most 168h; a plain number is minutes";

/// As people type it: `90s`, `60m`, `2h`; a plain number is minutes.
pub fn typed_time(text: &str) -> Option<Duration> {
    let text = text.trim();
    let is_plain = !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
    if is_plain { time(&format!("{text}m")) } else { time(text) }
}

/// `"90s"`, `"5m"`, `"1h30m"`, `"250ms"`: more than none, at most a week.
pub fn time(text: &str) -> Option<Duration> {
    const LONGEST: Duration = Duration::from_hours(7 * 24);
    let mut rest = text.trim();
    let mut sum = Duration::ZERO;
    if rest.is_empty() || rest.len() > 32 {
        return None;
    }
    while !rest.is_empty() {
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (count, after) = rest.split_at_checked(digits)?;
        let count: u64 = count.parse().ok()?;
        let letters = after.len() - after.trim_start_matches(|c: char| c.is_ascii_alphabetic()).len();
        let (unit, after) = after.split_at_checked(letters)?;
        let millis = match unit {
            "ms" => 1,
            "s" => 1000,
            "m" | "min" => 60_000,
            "h" => 3_600_000,
            _ => return None,
        };
        sum = sum.checked_add(Duration::from_millis(count.checked_mul(millis)?))?;
        rest = after.trim_start();
    }
    (sum > Duration::ZERO && sum <= LONGEST).then_some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_people_write_them_and_never_zero() {
        for (text, seconds) in [("90s", 90), ("5m", 300), ("1h30m", 5400), ("1h 30m", 5400), ("2min", 120)] {
            assert_eq!(time(text), Some(Duration::from_secs(seconds)), "{text}");
        }
        assert_eq!(time("250ms"), Some(Duration::from_millis(250)));
        for bad in ["", "0s", "5", "m", "-5s", "5 parsecs", "8d", "169h", "99999999999999999999s", "5s!"] {
            assert_eq!(time(bad), None, "{bad}");
        }
    }
}
