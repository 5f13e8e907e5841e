//! Bounds on memory and processes: passed, everything ends; kept, the most that was seen comes back.

use std::path::Path;

use gadfly_agents::launcher::{Command, Exit, Finished, Most, Peak};

use super::support::{Family, command, finished, sh};

const MIB: u64 = 1 << 20;

fn memory(max: u64) -> Most {
    Most { memory_bytes: Some(max), processes: None }
}

fn processes(max: u64) -> Most {
    Most { memory_bytes: None, processes: Some(max) }
}

/// Fills this much memory and stays: `tail` holds the end of what it reads until somebody takes it.
fn hold(mib: u64) -> String {
    format!("head -c {0} /dev/zero | tail -c {0} | sleep 1000", mib * MIB)
}

/// How many processes have this folder as their own.
fn working_in(folder: &Path) -> usize {
    let folder = folder.canonicalize().unwrap();
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes
        .filter(|process| std::fs::read_link(process.path().join("cwd")).is_ok_and(|cwd| cwd == folder))
        .count()
}

async fn stays_in_bounds(most: Most, script: &str) -> Finished {
    let done = finished(Command { most, ..sh(script) }).await;
    assert_eq!(done.exit, Exit::Code(0), "{:?}: {}", most, String::from_utf8_lossy(&done.stderr));
    done
}

#[tokio::test]
async fn too_much_memory_ends_everything_and_is_named_with_the_peak() {
    let family = Family::new();
    let done = finished(Command { most: memory(60 * MIB), ..sh(&family.script(&hold(200))) }).await;
    assert_eq!(done.exit, Exit::TooMuchMemory);
    assert!(done.peak.memory_bytes > 60 * MIB, "{:?}", done.peak);
    family.assert_gone();
}

#[tokio::test]
async fn memory_counts_together_whoever_in_the_tree_holds_it() {
    // Each alone is below the bound; one of them left the session.
    let each = hold(40);
    let script = format!("setsid sh -c '{each}' & {each}");
    let done = finished(Command { most: memory(70 * MIB), ..sh(&script) }).await;
    assert_eq!(done.exit, Exit::TooMuchMemory);
}

#[tokio::test]
async fn too_many_processes_end_and_are_counted_across_sessions() {
    let family = Family::new();
    let script = family.script("for n in 1 2 3 4 5; do setsid sleep 1000 & done; sleep 1000");
    let done = finished(Command { most: processes(8), ..sh(&script) }).await;
    assert_eq!(done.exit, Exit::TooManyProcesses);
    assert!(done.peak.processes > 8, "{:?}", done.peak);
    family.assert_gone();
}

#[tokio::test]
async fn processes_that_multiply_are_caught() {
    // Bounded, should the guard under test fail.
    let bomb = "[ $1 -gt 0 ] || exec sleep 1000; for n in 1 2; do setsid sh bomb $(($1 - 1)) & done; wait";
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("bomb"), bomb).unwrap();
    let most = processes(40);
    let explode = Command { most, cwd: Some(folder.path().to_owned()), ..command("sh", &["bomb", "7"]) };
    assert_eq!(finished(explode).await.exit, Exit::TooManyProcesses);
    assert_eq!(working_in(folder.path()), 0, "some of them are still there");
}

#[tokio::test]
async fn within_its_bounds_a_command_goes_on_and_its_peak_comes_back() {
    let both = Most { memory_bytes: Some(1 << 30), processes: Some(50) };
    // Lives twenty times as long as it takes to the first look.
    let done = stays_in_bounds(both, "sleep 2 & sleep 2 & wait").await;
    assert!(done.peak.processes >= 3, "{:?}", done.peak);
    assert!(done.peak.memory_bytes > 100 << 10, "{:?}", done.peak);
}

#[tokio::test]
async fn sabotage_without_bounds_nobody_looks_and_nothing_is_stopped() {
    let done =
        stays_in_bounds(Most::default(), "for n in 1 2 3 4 5 6 7 8 9; do sleep 0.4 & done; wait").await;
    assert_eq!(done.peak, Peak::default());
}

#[tokio::test]
async fn a_command_that_is_done_before_the_first_look_is_not_held_up() {
    let done = finished(Command { most: processes(1), ..command("true", &[]) }).await;
    assert_eq!(done.exit, Exit::Code(0));
}
