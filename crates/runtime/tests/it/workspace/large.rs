//! A large repository: what making a folder, a snapshot, a reader's copy and an acceptance cost, and that the
//! dear ones read only what changed. `cargo test -p gadfly-runtime --test it workspace::large -- --ignored --nocapture`
//! measures 20,000 files of about 500 MB; the small one keeps the measurement itself working.
#![allow(clippy::print_stdout, reason = "a measurement is for a person to read")]

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::Instant;

use gadfly_runtime::workspace::Workspace;

use crate::workspace::support::Desk;

/// Files of this many bytes, 100 to a folder, none like another.
fn fill(root: &Path, files: usize, bytes: usize) {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for n in 0..files {
        let dir = root.join(format!("d{:04}", n / 100));
        if n % 100 == 0 {
            fs::create_dir_all(&dir).unwrap();
        }
        let mut text = format!("file {n}\n");
        while text.len() < bytes {
            // Half of it repeats, as source text does.
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            writeln!(text, "{state:016x} the same words on every line, again and again").unwrap();
        }
        fs::write(dir.join(format!("f{n:05}.txt")), text).unwrap();
    }
}

async fn measured(files: usize, bytes: usize) {
    let desk = Desk::repository();
    fill(&desk.project, files, bytes);
    desk.git(&["add", "-A"]);
    desk.git(&["commit", "-q", "-m", "first"]);
    desk.git(&["repack", "-adq"]);
    let mut begun = Instant::now();
    let mut lap = |what: &str| {
        println!("{what:<32}{:>8} ms", begun.elapsed().as_millis());
        begun = Instant::now();
    };
    let workspace: Workspace = desk.workspace().await;
    lap("made");
    let base = workspace.snapshot().await.unwrap();
    lap("snapshot, nothing changed");
    assert!(base.changes.is_empty());
    for n in 0..10 {
        fs::write(workspace.dir().join(format!("d0000/f{n:05}.txt")), "changed\n").unwrap();
    }
    let taken = workspace.snapshot().await.unwrap();
    lap("snapshot, ten files changed");
    assert_eq!(taken.changes.len(), 10);
    workspace.restore(&base.tree).await.unwrap();
    lap("restored");
    let copy = desk.home().join("copy");
    workspace.export(&taken.tree, &copy).await.unwrap();
    lap("reader's copy");
    assert_eq!(fs::read_to_string(copy.join("d0000/f00000.txt")).unwrap(), "changed\n");
    workspace.accept(&taken.tree).await.unwrap();
    lap("accepted");
    workspace.undo(&taken.tree).await.unwrap();
    lap("undone");
}

#[tokio::test]
async fn the_measurement_of_a_large_repository_works() {
    measured(300, 200).await;
}

#[tokio::test]
#[ignore = "takes minutes: a measurement, to be read by a person"]
async fn a_large_repository_is_measured() {
    measured(20_000, 25_000).await;
}
