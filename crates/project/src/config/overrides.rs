//! What one run was given besides what is configured: the top layer of its table, whichever door it came through.

use std::path::{Path, PathBuf};
use std::time::Duration;

use gadfly_engine::budget::Limits;
use gadfly_engine::protocol::goal::Criterion;

use super::budget;
use super::criteria::{CriteriaSetting, CriticSetting};
use super::goals::until;
use super::keys::{self, ConfigSection, Key, Shape};
use super::names::GOALS_ARE_NO_LOOPS;
use super::protocols::LoopProtocol;
use super::value::{self, ConfigTable, ConfigValue};
use crate::place::{ConfigLayer, Problem, Sourced, brief, option};
use crate::suggest;

/// What is said of a cap of nothing.
pub const NO_ZERO: &str = "0 would allow nothing at all; it never means without limit";

/// Options of one run. What is not among them is as configured.
#[derive(Clone, PartialEq, Debug)]
pub struct Overrides {
    table: ConfigTable,
    /// A review: no worker, and no task, is needed.
    pub critics_only: bool,
    /// The time of every command of a goal's criterion.
    pub check_timeout: Option<Duration>,
    problems: Vec<Problem>,
}

impl Default for Overrides {
    fn default() -> Self {
        Self::of(ConfigSection::Loop)
    }
}

impl Overrides {
    pub const fn of(section: ConfigSection) -> Self {
        let table = ConfigTable::new(section, ConfigLayer::Flags, None);
        Self { table, critics_only: false, check_timeout: None, problems: Vec::new() }
    }

    pub const fn of_goal() -> Self {
        Self::of(ConfigSection::Goal)
    }

    /// With this option. `budget.usd` is one of the caps.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<ConfigValue>) -> Self {
        self.set(name, value);
        self
    }

    /// Gives an option; what is wrong with it is said when the run is configured.
    pub fn set(&mut self, name: &str, value: impl Into<ConfigValue>) {
        let (section, name) = name
            .strip_prefix("budget.")
            .map_or((self.table.section, name), |name| (ConfigSection::Budget, name));
        match keys::find(section, name) {
            Some(key) => self.put(key, value.into()),
            None => self.problems.push(Problem::error(format!("there is no option `{}`", brief(name)))),
        }
    }

    /// Gives an option that was not given.
    pub fn or_set(&mut self, name: &str, value: impl Into<ConfigValue>) {
        if !self.has(name) {
            self.set(name, value);
        }
    }

    /// With this option, as somebody writes it.
    #[must_use]
    pub fn typed(mut self, name: &str, words: &[&str]) -> Self {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        match keys::find(self.table.section, name) {
            Some(key) => self.write(key, &words, None),
            None => self.problems.push(Problem::error(format!("there is no option `{}`", brief(name)))),
        }
        self
    }

    /// Gives an option as somebody wrote it. Paths are relative to `dir`.
    pub fn write(&mut self, key: &'static Key, words: &[String], dir: Option<&Path>) {
        let (key, read) = match key.several.and_then(|other| keys::find(key.section, other)) {
            Some(other) if words.len() > 1 => (other, read(other, words, dir)),
            _ => (key, read(key, words, dir)),
        };
        match read {
            Ok(value) => self.put(key, value),
            Err(problem) => self.problems.push(problem),
        }
    }

    /// Takes the options that a door offers out of what it was sent, and leaves the rest.
    pub fn take(
        &mut self,
        sent: &mut serde_json::Map<String, serde_json::Value>,
        offers: impl Fn(&Key) -> bool,
        dir: Option<&Path>,
    ) {
        let section = self.table.section;
        let offered = keys::all().filter(|key| [section, ConfigSection::Budget].contains(&key.section));
        for key in offered.filter(|key| offers(key)) {
            let Some(value) = sent.remove(&key.argument()) else { continue };
            match words(&value) {
                Some(words) if words.is_empty() => {}
                Some(words) => self.write(key, &words, dir),
                None => {
                    let message = format!("{} must be {}", option(&key.argument()), key.shape.expects());
                    self.problems.push(Problem::error(message));
                }
            }
        }
    }

    fn put(&mut self, key: &'static Key, value: ConfigValue) {
        // An empty task is no task, and that is said once.
        let is_empty = |text: &str| text.trim().is_empty();
        if matches!(key.name, "task" | "goal") && matches!(&value, ConfigValue::Text(text) if is_empty(text))
        {
            return;
        }
        let named = option(&key.argument());
        let wrong = match (&value, key.shape) {
            (ConfigValue::Text(text), _) if is_empty(text) => Some(format!("{named} is empty")),
            (ConfigValue::Texts(list), _) if list.iter().any(|text| is_empty(&text.value)) => {
                Some(format!("{named} is empty"))
            }
            (ConfigValue::Whole(n), shape @ Shape::Whole { min, max }) if !(min..=max).contains(n) => {
                Some(format!("{named} must be {}, not {n}", shape.expects()))
            }
            (ConfigValue::Number(n), shape @ Shape::Number { min, max }) if !(min..=max).contains(n) => {
                Some(format!("{named} must be {}, not {n}", shape.expects()))
            }
            (ConfigValue::Whole(0), _)
                if key.section == ConfigSection::Budget && self.table.section == ConfigSection::Goal =>
            {
                Some(format!("{named} must be more than 0"))
            }
            (ConfigValue::Text(text), shape @ Shape::OneOf(words)) if !words.contains(&text.as_str()) => {
                Some(format!("{named} must be {}, not `{}`", shape.expects(), brief(text)))
            }
            _ => None,
        };
        if let Some(message) = wrong {
            let is_cap = self.table.section == ConfigSection::Goal && matches!(value, ConfigValue::Whole(0));
            let help = is_cap.then(|| NO_ZERO.to_owned());
            self.problems.push(Problem::error(message).maybe_help(help));
        } else if key.section == ConfigSection::Budget {
            let mut budget = self.caps().cloned().unwrap_or_else(|| Self::of(ConfigSection::Budget).table);
            budget.insert(key.name, Sourced::flag(value));
            self.table.insert("budget", Sourced::flag(ConfigValue::Table(budget)));
        } else {
            self.table.insert(key.name, Sourced::flag(value));
        }
    }

    fn caps(&self) -> Option<&ConfigTable> {
        self.table.table("budget")
    }

    pub fn remove(&mut self, name: &'static str) {
        self.table.remove(name);
    }

    pub fn has(&self, name: &str) -> bool {
        self.table.has(name)
    }

    pub fn text(&self, name: &str) -> Option<String> {
        self.table.text(name).map(|text| text.value)
    }

    pub fn path(&self, name: &str) -> Option<PathBuf> {
        self.table.path(name).map(|path| path.value)
    }

    pub fn paths(&self, name: &str) -> Vec<PathBuf> {
        let paths = self.table.paths(name).map(|list| list.value).unwrap_or_default();
        paths.into_iter().map(|path| path.value).collect()
    }

    pub fn whole(&self, name: &str) -> Option<u64> {
        self.table.whole(name).map(|number| number.value)
    }

    pub fn protocol(&self) -> Option<LoopProtocol> {
        self.table.protocol("protocol").map(|protocol| protocol.value)
    }

    /// Who was named as a critic.
    pub fn critics(&self) -> Vec<String> {
        let several = self.table.critics("critics").map(|list| list.value).unwrap_or_default();
        let one = self.text("critic").into_iter();
        one.chain(several.into_iter().map(|seat| seat.value.agent)).collect()
    }

    /// Every file that was named.
    pub fn files(&self) -> Vec<PathBuf> {
        let mut files = Vec::new();
        for (_, found) in self.table.keys() {
            match &found.value {
                ConfigValue::Path(path) | ConfigValue::Criteria(CriteriaSetting::File(path)) => {
                    files.push(path.clone());
                }
                ConfigValue::Paths(paths) => files.extend(paths.iter().map(|path| path.value.clone())),
                _ => {}
            }
        }
        files
    }

    /// The caps that were given.
    pub fn limits(&self) -> Limits {
        let caps = self.caps().map(budget::limits).unwrap_or_default();
        let count = |name| self.whole(name).map(|number| u32::try_from(number).unwrap_or(u32::MAX));
        let time = self.table.time("wall_clock").map(|time| until::millis(time.value));
        Limits {
            steps: count("max_steps"),
            turns: count("max_turns"),
            active_ms: time.or(caps.active_ms),
            ..caps
        }
    }

    /// What is wrong with what was given.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// The layer above `below`, and what is wrong with it.
    pub(super) fn layer(&self, below: Option<&ConfigTable>, problems: &mut Vec<Problem>) -> ConfigTable {
        problems.extend(self.problems.iter().cloned());
        let mut table = self.table.clone();
        for key in keys::of(table.section).filter(|key| key.adds) {
            let Some(given) = table.texts(key.name) else { continue };
            let mut all = below.and_then(|t| t.texts(key.name)).map(|list| list.value).unwrap_or_default();
            all.extend(given.value);
            table.insert(key.name, Sourced::flag(ConfigValue::Texts(all)));
        }
        for (section, a, b) in keys::EXCLUSIVE {
            if *section == table.section && table.has(a) && table.has(b) {
                let message = format!("{} and {} cannot both be given", option(a), option(b));
                problems.push(Problem::error(message).help("keep one of them"));
            }
        }
        table
    }
}

/// A value of JSON as somebody would type it; nothing for what was left empty.
fn words(value: &serde_json::Value) -> Option<Vec<String>> {
    use serde_json::Value as Json;
    Some(match value {
        Json::Null => Vec::new(),
        Json::Bool(flag) => vec![flag.to_string()],
        Json::Number(number) => vec![number.to_string()],
        Json::String(text) if text.trim().is_empty() => Vec::new(),
        Json::String(text) => vec![text.trim().to_owned()],
        Json::Array(items) => {
            items.iter().map(|item| item.as_str().map(str::to_owned)).collect::<Option<_>>()?
        }
        Json::Object(_) => return None,
    })
}

/// An option as it is written on a command line, in a form, or by a model.
fn read(key: &Key, words: &[String], dir: Option<&Path>) -> Result<ConfigValue, Problem> {
    let shape = key.shape;
    let one = words.first().map(String::as_str).unwrap_or_default();
    let path = |text: &str| dir.map_or_else(|| PathBuf::from(text), |dir| dir.join(text));
    let value = match shape {
        Shape::Text | Shape::OneOf(_) => Some(ConfigValue::Text(one.to_owned())),
        Shape::Texts | Shape::OneOrMore | Shape::Command => Some(words.to_vec().into()),
        Shape::Path => Some(ConfigValue::Path(path(one))),
        Shape::Paths => Some(words.iter().map(|word| path(word)).collect::<Vec<_>>().into()),
        Shape::Critics => Some(ConfigValue::Critics(
            words
                .iter()
                .map(|word| Sourced::flag(CriticSetting { agent: word.clone(), lens: None }))
                .collect(),
        )),
        Shape::Criteria => CriteriaSetting::named(one, |word| Some(path(word))).map(ConfigValue::Criteria),
        Shape::Whole { .. } => one.parse().ok().map(ConfigValue::Whole),
        Shape::Number { .. } => one.parse().ok().map(ConfigValue::Number),
        Shape::Flag => match one {
            "" | "true" => Some(ConfigValue::Flag(key.flag.is_none_or(|flag| flag.says_no.is_none()))),
            "false" => Some(ConfigValue::Flag(key.flag.is_some_and(|flag| flag.says_no.is_some()))),
            _ => None,
        },
        Shape::Time => value::typed_time(one).map(ConfigValue::Time),
        Shape::Protocol => {
            return LoopProtocol::named(one).map(ConfigValue::Protocol).ok_or_else(|| unknown_protocol(one));
        }
        // Only a file says these.
        Shape::Rubric
        | Shape::Until
        | Shape::Kind
        | Shape::Output
        | Shape::Table(_)
        | Shape::Named(_)
        | Shape::Rows(_) => None,
    };
    value.ok_or_else(|| {
        let message =
            format!("{} must be {}, not `{}`", option(&key.argument()), shape.expects(), brief(one));
        let help = matches!(shape, Shape::Time).then(|| match one.trim_start_matches('0') {
            "" | "s" | "m" | "h" => format!("{NO_ZERO}; {}", value::TYPED_TIME),
            _ => value::TYPED_TIME.to_owned(),
        });
        Problem::error(message).maybe_help(help)
    })
}

fn unknown_protocol(name: &str) -> Problem {
    let now: Vec<&str> = LoopProtocol::all().map(LoopProtocol::name).collect();
    if LoopProtocol::OF_GOALS.contains(&name) {
        return Problem::error(format!("protocol `{name}` is not for loops"))
            .help(format!("{GOALS_ARE_NO_LOOPS}; for loops there are `{}`", now.join("`, `")));
    }
    let all: Vec<&str> = now.into_iter().chain(LoopProtocol::OF_GOALS).collect();
    Problem::error(format!("unknown protocol `{}`", brief(name)))
        .maybe_help(suggest::did_you_mean(name, &all))
}

impl From<&str> for ConfigValue {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

macro_rules! values {
    ($($type:ty: $variant:ident;)*) => {$(
        impl From<$type> for ConfigValue {
            fn from(value: $type) -> Self {
                Self::$variant(value)
            }
        }
    )*};
}

values! {
    String: Text;
    PathBuf: Path;
    u64: Whole;
    f64: Number;
    bool: Flag;
    Duration: Time;
    LoopProtocol: Protocol;
    Criterion: Until;
    CriteriaSetting: Criteria;
}

impl From<Vec<String>> for ConfigValue {
    fn from(list: Vec<String>) -> Self {
        Self::Texts(list.into_iter().map(Sourced::flag).collect())
    }
}

impl From<Vec<PathBuf>> for ConfigValue {
    fn from(list: Vec<PathBuf>) -> Self {
        Self::Paths(list.into_iter().map(Sourced::flag).collect())
    }
}
