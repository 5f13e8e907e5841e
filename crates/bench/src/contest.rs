//! The comparison: Gadfly, the baseline and others by turns, so that whatever else
//! the machine does falls on all.

use std::fmt::Write as _;
use std::process::Command;

use crate::Binaries;
use crate::baseline::BenchError;
use crate::langgraph;
use crate::measure::{self, Measured};
use crate::scene::{self, CALLS, Scene};
use crate::server::BenchServer;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Runner {
    Gadfly,
    Baseline,
    NoJournal,
    LangGraph,
}

pub const RUNNERS: [Runner; 3] = [Runner::Gadfly, Runner::Baseline, Runner::NoJournal];
/// Beside what many use for such loops; it has to be installed first.
pub const WITH_LANGGRAPH: [Runner; 3] = [Runner::Gadfly, Runner::Baseline, Runner::LangGraph];

impl Runner {
    const fn name(self) -> &'static str {
        match self {
            Self::Gadfly => "`gadfly batch`",
            Self::Baseline => "baseline",
            Self::NoJournal => "baseline, no journal",
            Self::LangGraph => "LangGraph, SQLite checkpointer",
        }
    }
}

/// What is run: so many loops, so many at once, against a server that waits before it answers.
#[derive(Clone, Copy)]
pub struct Load {
    pub loops: usize,
    pub jobs: usize,
    pub latency_ms: u32,
}

/// One run of one runner.
pub struct Lap {
    pub runner: Runner,
    pub rate: f64,
    pub cpu_ms: f64,
    pub stored: f64,
    pub peak_kb: u64,
    /// Kept to the end: files deleted a moment ago slow down whoever makes new ones.
    _scene: Scene,
}

/// Runs them by turns, as often as asked for.
pub fn hold(
    binaries: &Binaries,
    runners: &[Runner],
    load: Load,
    turns: usize,
) -> Result<Vec<Lap>, BenchError> {
    let server = BenchServer::start(&binaries.server, load.latency_ms)?;
    let mut laps = Vec::new();
    for turn in 0..turns {
        for at in 0..runners.len() {
            // Each begins as often as the others.
            let runner = runners[(at + turn) % runners.len()];
            laps.push(lap(binaries, &server, load, runner)?);
        }
    }
    Ok(laps)
}

/// One run; it counts only if every call arrived once and every loop was approved.
pub fn lap(binaries: &Binaries, server: &BenchServer, load: Load, runner: Runner) -> Result<Lap, BenchError> {
    let scene = Scene::new(&server.v1(), load.loops)?;
    server.reset()?;
    let store = scene.path(if runner == Runner::Gadfly { ".gadfly" } else { "store" });
    if matches!(runner, Runner::Baseline | Runner::LangGraph) {
        std::fs::create_dir(&store)?;
    }
    let mut command = match runner {
        Runner::Gadfly => scene.batch(&binaries.gadfly, load.jobs),
        Runner::Baseline | Runner::NoJournal => baseline(binaries, server, &scene, load.jobs),
        Runner::LangGraph => {
            let python = langgraph::install(binaries.bench.parent().ok_or("this program is in no folder")?)?;
            langgraph::command(&python, &server.v1(), &scene, load.jobs, &store)?
        }
    };
    if runner == Runner::Baseline {
        command.arg(store.join("journal.db"));
    }
    let Measured { wall, cpu, peak_kb, .. } = measure::run(&mut command, &scene.path("said.txt"))?;
    if runner == Runner::Gadfly {
        scene.all_approved(load.loops)?;
    }
    let calls = server.calls()?;
    let expected = load.loops as u64 * CALLS;
    if (calls.total, calls.answered, calls.repeated) != (expected, expected, 0) {
        return Err(format!(
            "{}: {} calls arrived, {} were answered and {} repeated; {expected} were due",
            runner.name(),
            calls.total,
            calls.answered,
            calls.repeated
        )
        .into());
    }
    let stored = if store.exists() { scene::bytes(&store)? } else { 0 };
    let loops = load.loops as f64;
    Ok(Lap {
        runner,
        rate: loops / wall.as_secs_f64(),
        cpu_ms: cpu.as_secs_f64() * 1e3 / loops,
        stored: stored as f64 / loops,
        peak_kb,
        _scene: scene,
    })
}

fn baseline(binaries: &Binaries, server: &BenchServer, scene: &Scene, jobs: usize) -> Command {
    let mut command = Command::new(&binaries.bench);
    command.arg("baseline").arg(server.v1()).arg(scene.path("tasks.jsonl")).arg(jobs.to_string());
    command
}

/// The rows of one load, medians over its laps.
pub fn rows(runners: &[Runner], load: Load, laps: &[Lap]) -> String {
    let of = |runner: Runner, value: fn(&Lap) -> f64| -> Vec<f64> {
        laps.iter().filter(|l| l.runner == runner).map(value).collect()
    };
    // Against the baseline of the same turn, not of the whole run.
    let baseline = of(Runner::Baseline, |l| l.rate);
    let mut out = String::new();
    for &runner in runners {
        let rates = of(runner, |l| l.rate);
        let ratios = rates.iter().zip(&baseline).map(|(rate, base)| 100.0 * rate / base).collect();
        let range = rates.iter().fold((f64::MAX, 0.0_f64), |(a, b), r| (a.min(*r), b.max(*r)));
        let _ = writeln!(
            out,
            "| {} jobs, {} ms | {} | {:.0} ({:.0}–{:.0}) | {:.0} % | {:.2} | {:.1} | {:.0} |",
            load.jobs,
            load.latency_ms,
            runner.name(),
            median(rates),
            range.0,
            range.1,
            median(ratios),
            median(of(runner, |l| l.cpu_ms)),
            median(of(runner, |l| l.stored / 1024.0)),
            median(of(runner, |l| l.peak_kb as f64 / 1024.0)),
        );
    }
    out
}

pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => 0.0,
        n if n % 2 == 1 => values[n / 2],
        n => f64::midpoint(values[n / 2 - 1], values[n / 2]),
    }
}
