//! The single numbers beside the comparison: memory per loop, time to the first call, bytes per new byte.

use std::fmt::Write as _;
use std::time::{Duration, UNIX_EPOCH};

use crate::Binaries;
use crate::baseline::BenchError;
use crate::contest::{Load, Runner, lap, median};
use crate::measure;
use crate::scene::{self, Scene};
use crate::server::BenchServer;

/// Resident kilobytes per loop beyond a batch of one.
pub fn memory(binaries: &Binaries, jobs: usize) -> Result<f64, BenchError> {
    let server = BenchServer::start(&binaries.server, 50)?;
    let peak = |loops: usize| {
        let load = Load { loops, jobs: loops, latency_ms: 50 };
        lap(binaries, &server, load, Runner::Gadfly).map(|l| l.peak_kb)
    };
    let idle = peak(1)?;
    let full = peak(jobs)?;
    Ok(full.saturating_sub(idle) as f64 / jobs as f64)
}

/// Milliseconds from the start of `gadfly run` to the arrival of its first call, median.
pub fn first_call(binaries: &Binaries, times: usize) -> Result<f64, BenchError> {
    let server = BenchServer::start(&binaries.server, 0)?;
    let mut found = Vec::new();
    for _ in 0..times {
        let scene = Scene::new(&server.v1(), 0)?;
        server.reset()?;
        let mut command = scene.gadfly(&binaries.gadfly, "run");
        command.args(["Write an abstract.", "--criterion", "It names the sample size.", "--unattended"]);
        let ran = measure::run(&mut command, &scene.path("said.txt"))?;
        let started_ms = ran.started.duration_since(UNIX_EPOCH)?.as_secs_f64() * 1e3;
        let first = server.calls()?.recent.first().map(|a| a.arrived_ms).ok_or("no call arrived")?;
        found.push(first as f64 - started_ms);
    }
    Ok(median(found))
}

/// Ten rounds on a long draft with small edits: what the store takes, and what the drafts take compressed
/// one by one.
pub struct Storage {
    pub draft: usize,
    pub stored: u64,
    pub compressed: u64,
}

pub fn storage(binaries: &Binaries) -> Result<Storage, BenchError> {
    let text = draft(100 * 1024);
    let drafts: Vec<String> =
        (1..=10).map(|round| text.replacen("# Draft", &format!("# Draft {round}"), 1)).collect();
    let (stored, _) = loop_of(binaries, &Scene::scripted(&drafts)?, drafts.len())?;
    let mut compressed = 0;
    for draft in &drafts {
        compressed += zstd::bulk::compress(draft.as_bytes(), 9)?.len() as u64;
    }
    Ok(Storage { draft: drafts[0].len(), stored, compressed })
}

/// A loop of so many rounds on a draft of so many bytes: the bytes stored, and how long it took.
pub fn revised(binaries: &Binaries, rounds: usize, bytes: usize) -> Result<(u64, Duration), BenchError> {
    loop_of(binaries, &Scene::printing(&draft(bytes), rounds)?, rounds)
}

fn loop_of(binaries: &Binaries, scene: &Scene, rounds: usize) -> Result<(u64, Duration), BenchError> {
    let mut command = scene.batch(&binaries.gadfly, 1);
    command.args(["--rounds", &rounds.to_string()]);
    let ran = measure::run(&mut command, &scene.path("said.txt"))?;
    scene.all_approved(1)?;
    Ok((scene::bytes(&scene.path(".gadfly"))?, ran.wall))
}

/// Text that compresses like prose.
fn draft(bytes: usize) -> String {
    const WORDS: [&str; 16] = [
        "the", "sample", "of", "patients", "was", "measured", "twice", "in", "each", "cohort", "and", "its",
        "error", "stayed", "below", "five",
    ];
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let mut text = String::from("# Draft\n\n");
    while text.len() < bytes {
        let n = next();
        text.push_str(WORDS[(n % 16) as usize]);
        if n % 7 == 0 {
            let _ = write!(text, " {:x}", n >> 32);
        }
        text.push(if n % 11 == 0 { '\n' } else { ' ' });
    }
    text
}
