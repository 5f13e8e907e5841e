//! Traces of runs for a collector of OpenTelemetry: which names they have is `conventions`, which spans there are
//! `fold`, where they go `destination`, and `exporter` sends them, beside the runs and never in their way.
//!
//! Nothing is started before the first record of a run that is driven here, and nothing at all where no collector is
//! named or the project's own was not agreed to.

mod client;
pub mod conventions;
mod destination;
mod exporter;
pub mod fold;
pub mod span;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use gadfly_journal::{Journal, Record, RunId};
use gadfly_project::config::TelemetryConfig;
use gadfly_project::trust::telemetry::of_telemetry;
use gadfly_runtime::setup::MakeWitness;
use gadfly_runtime::trust::Trust;
use gadfly_runtime::witness::Witness;

use crate::context::Context;
use crate::output::{error, safe};
use destination::Destination;
use exporter::Exporter;

/// How long the end of the process waits for what is still to be sent.
const LAST_WORDS: Duration = Duration::from_secs(3);

/// What was begun in this process: its end waits for it. One for each collector and store, so there are few.
static BEGUN: Mutex<Vec<Arc<Exporter>>> = Mutex::new(Vec::new());

/// Where traces of runs of this project go, in words for a person; nothing if they go nowhere.
pub fn told(context: &Context) -> Vec<String> {
    let line = match destination::find(&context.config.telemetry, destination::environment) {
        Ok(None) => None,
        Ok(Some(to)) => {
            let with = if to.content { "with prompts and replies" } else { "without prompts and replies" };
            Some(format!("traces  → {} ({with})", safe::line(&to.url, 300)))
        }
        Err(why) => Some(format!("traces  are not sent: {}", safe::line(&why, 300))),
    };
    line.into_iter().collect()
}

/// Whoever tells a collector of the runs that are driven here; none if no collector is named.
pub fn witness(context: &Context) -> Option<MakeWitness> {
    let found = destination::find(&context.config.telemetry, destination::environment);
    if matches!(found, Ok(None)) {
        return None;
    }
    let (config, state) = (context.config.telemetry.clone(), context.user.state.clone());
    let project = context.root.dir.clone();
    Some(Box::new(move |journal| {
        let (journal, exporter) = (journal.clone(), OnceLock::new());
        Arc::new(Telemetry { found, config, state, project, journal, exporter })
    }))
}

/// Sends what is left, for a few seconds at most, and says once what could not be sent.
pub fn finish() {
    let begun = std::mem::take(&mut *BEGUN.lock().unwrap_or_else(PoisonError::into_inner));
    let until = Instant::now() + LAST_WORDS;
    for exporter in begun {
        if let Some(trouble) = exporter.finish(until) {
            error::warn(&trouble);
        }
    }
}

struct Telemetry {
    found: Result<Option<Destination>, String>,
    config: TelemetryConfig,
    state: Option<PathBuf>,
    project: PathBuf,
    journal: Journal,
    exporter: OnceLock<Option<Arc<Exporter>>>,
}

impl Telemetry {
    fn exporter(&self) -> Option<&Arc<Exporter>> {
        self.exporter.get_or_init(|| self.begin()).as_ref()
    }

    /// What the project's own part needs a person's word for was agreed to before the run, or it is not used.
    fn begin(&self) -> Option<Arc<Exporter>> {
        let exporter = match self.found.clone() {
            Err(why) => Exporter::refused(why),
            Ok(None) => return None,
            Ok(Some(mut destination)) => {
                let agreed = self.is_agreed();
                destination.content &= agreed;
                if agreed || destination.of_environment {
                    Exporter::begin(destination, self.journal.clone())
                } else {
                    let url = safe::line(&destination.url, 300);
                    Exporter::refused(format!("nobody agreed to what gadfly.toml names, {url}"))
                }
            }
        };
        let exporter = Arc::new(exporter);
        BEGUN.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&exporter));
        Some(exporter)
    }

    fn is_agreed(&self) -> bool {
        let Some(entry) = of_telemetry(&self.config) else { return true };
        let known = self.state.as_deref().and_then(|state| Trust::load(state, &self.project).ok());
        known.is_some_and(|known| known.missing(vec![entry]).is_empty())
    }
}

impl Witness for Telemetry {
    fn recorded(&self, run: &RunId, record: &Arc<Record>) {
        if let Some(exporter) = self.exporter() {
            exporter.recorded(run, record);
        }
    }

    fn left(&self, run: &RunId) {
        if let Some(exporter) = self.exporter() {
            exporter.left(run);
        }
    }
}
