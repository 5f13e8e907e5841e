//! The pictures in the documentation: what `scripts/make-pictures` makes is there and small, and what it makes them from
//! is still in the demo. That pages name only pictures that exist is `docs`.

use std::fs;
use std::path::{Path, PathBuf};

const LARGEST: u64 = 150_000;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// The quoted words of a line.
fn quoted(line: &str, quote: char) -> Vec<&str> {
    line.split(quote).skip(1).step_by(2).collect()
}

#[test]
fn every_picture_is_there_and_its_scene_is_in_the_demo() {
    let shots = read("scripts/pictures/shots.mjs");
    let rows = shots.lines().skip_while(|line| !line.starts_with("const PICTURES")).skip(1);
    let rows: Vec<Vec<&str>> = rows.take_while(|line| *line != "];").map(|line| quoted(line, '\'')).collect();
    assert!(rows.len() >= 5, "{rows:?}");
    let demo =
        read("crates/gadfly/src/commands/demo/scenes.rs") + &read("crates/gadfly/src/demo/gadfly.toml");
    for row in &rows {
        let (name, title) = (row[0], row[2]);
        let size = fs::metadata(root().join(format!("docs/images/{name}.png"))).unwrap().len();
        assert!(size > 1000 && size <= LARGEST, "{name}.png has {size} bytes");
        let scene = title.trim_end_matches(':');
        assert!(scene.is_empty() || demo.contains(&format!("\"{scene}\"")), "the demo has no `{scene}`");
    }
    let script = read("scripts/make-pictures");
    let scenes = script.lines().find(|line| line.starts_with("SCENES = ")).unwrap();
    for scene in quoted(scenes, '"') {
        assert!(demo.contains(&format!("\"{scene}\"")), "the demo has no `{scene}`");
    }
    let recording = read("docs/images/demo.svg");
    assert!(recording.contains("prefers-reduced-motion") && recording.contains("gadfly demo"));
}
