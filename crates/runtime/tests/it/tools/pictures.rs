//! Pictures that a command makes.

use std::fs;

use gadfly_engine::tool::{ToolAction, ToolEnd};
use gadfly_engine::tree::RunEnd;

use crate::tools::stage::{Came, Stage};

const PNG: &str = "printf '\\211PNG\\r\\n\\032\\nrest' > shot.png";

async fn shot(stage: &Stage, line: &str, file: &str) -> Came {
    stage.action(ToolAction::Screenshot { line: line.into(), file: file.into(), timeout_ms: 30_000 }).await
}

#[tokio::test]
async fn a_picture_comes_as_base64_and_an_old_one_is_none() {
    let stage = Stage::new();
    assert_eq!(shot(&stage, PNG, "shot.png").await.well(), "iVBORw0KGgpyZXN0");
    assert!(shot(&stage, "true", "shot.png").await.refused().contains("an old one"));
    assert_eq!(shot(&stage, PNG, "shot.png").await.well(), "iVBORw0KGgpyZXN0", "made again, it is new");
}

#[tokio::test]
async fn what_is_no_picture_is_not_brought() {
    let stage = Stage::new();
    let failed = shot(&stage, &format!("{PNG}; echo no display; exit 4"), "shot.png").await;
    assert_eq!((failed.end(), failed.shown.as_str()), (&ToolEnd::Ran(RunEnd::Code(4)), "no display\n"));
    assert!(shot(&stage, "true", "none.png").await.refused().contains("none.png"));
    assert!(shot(&stage, "echo text > t.png", "t.png").await.refused().contains("no picture"));
    let large = format!("{PNG}; head -c 7000000 /dev/zero >> shot.png");
    assert!(shot(&stage, &large, "shot.png").await.refused().contains("smaller"));
    let outside = stage.at("elsewhere/p.png");
    fs::write(&outside, b"\x89PNG\r\n\x1a\nsecret").unwrap();
    let link = format!("ln -s {} link.png", outside.display());
    shot(&stage, &link, "link.png").await.refused();
    shot(&stage, "true", outside.to_str().unwrap()).await.refused();
}
