//! The keys of `.nubos-pilot/config.json` that bear on an audit. The rest of it is not ours to judge.

use std::path::Path;

use gadfly_engine::protocol::audit::economy::Economy;
use gadfly_engine::protocol::audit::settings::{MOST_ROUNDS, ROUNDS};
use serde_json::Value;

use gadfly_project::file::FileError;
use gadfly_project::place::{Problem, brief};

use super::{FOLDER, read as read_file};

/// How often a verify command may be run at most, as in `gadfly.toml`.
const MOST_VERIFY_RUNS: f64 = 100.0;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NubosSettings {
    pub rounds: u64,
    pub verify_runs: u64,
    pub economy: Economy,
    /// Somebody says how a task should be built before it is.
    pub architect: bool,
    /// Somebody writes a task's tests before it is built.
    pub test_writer: bool,
}

impl Default for NubosSettings {
    fn default() -> Self {
        Self {
            rounds: u64::from(ROUNDS),
            verify_runs: 1,
            economy: Economy::Lite,
            architect: false,
            test_writer: false,
        }
    }
}

pub(super) fn read(root: &Path, problems: &mut Vec<Problem>) -> NubosSettings {
    let path = Path::new(FOLDER).join("config.json");
    let text = match read_file(root, &path) {
        Ok(text) => text,
        Err(FileError::Missing { .. }) => return NubosSettings::default(),
        Err(error) => {
            problems.push(Problem::error(error.to_string()));
            return NubosSettings::default();
        }
    };
    match serde_json::from_str(text.trim_start_matches('\u{feff}')) {
        Ok(value) => of(&value, problems),
        Err(error) => {
            let message = format!("{} is no JSON: {error}", path.display());
            problems.push(Problem::error(message).help("a mistyped cap is not a cap that was left out"));
            NubosSettings::default()
        }
    }
}

pub(super) fn of(config: &Value, problems: &mut Vec<Problem>) -> NubosSettings {
    let usual = NubosSettings::default();
    let key =
        |section: &str, key: &str| config.get(section).and_then(|s| s.get(key)).filter(|v| !v.is_null());
    let mut number = |name: &str, most: f64, usual: u64| {
        let Some(value) = key("loop", name) else { return usual };
        let Some(given) = value.as_f64().filter(|n| n.is_finite()) else {
            let message = format!("loop.{name} is no number: {usual} is taken");
            problems.push(Problem::warning(message));
            return usual;
        };
        let taken = given.round().clamp(1.0, most);
        if (taken - given).abs() > f64::EPSILON {
            problems.push(Problem::warning(format!("loop.{name} is {given}: {taken} is taken")));
        }
        // Between 1 and `most`, which is small.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let whole = taken as u64;
        whole
    };
    let rounds = number("maxRounds", f64::from(MOST_ROUNDS), usual.rounds);
    let verify_runs = number("verify_runs", MOST_VERIFY_RUNS, usual.verify_runs);
    let economy = match key("agents", "economy").or_else(|| key("agents", "economy_critic")) {
        None => usual.economy,
        Some(Value::Bool(true)) => Economy::Full,
        Some(Value::Bool(false)) => Economy::Lite,
        Some(value) => value.as_str().and_then(Economy::parse).unwrap_or_else(|| {
            let shown = brief(value.as_str().unwrap_or("a value of another kind"));
            let message = format!("config-invalid-economy-mode: agents.economy is `{shown}`");
            problems.push(Problem::error(message).help("it is off, lite, full or ultra"));
            usual.economy
        }),
    };
    let wanted = |name: &str| key("agents", name).and_then(Value::as_bool) == Some(true);
    let (architect, test_writer) = (wanted("architect"), wanted("test_writer"));
    NubosSettings { rounds, verify_runs, economy, architect, test_writer }
}
