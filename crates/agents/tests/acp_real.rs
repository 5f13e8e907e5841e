//! Throw-away.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, unused)]
#[path = "acp/stage.rs"]
mod stage;
use gadfly_engine::Role;
#[tokio::test]
async fn real() {
    let Ok(command) = std::env::var("REAL") else { return };
    let role = if std::env::var("ROLE").as_deref() == Ok("critic") { Role::Critic } else { Role::Worker };
    let mut stage = stage::Stage::new(role, &[]);
    stage.spec.command = command.split(' ').map(str::to_owned).collect();
    stage.spec.env = std::env::vars().filter(|(k, _)| !k.starts_with("CARGO")).collect();
    stage.spec.system = std::env::var("PROMPT").ok();
    stage.spec.model = std::env::var("MODEL").ok();
    stage.session = std::env::var("SESSION").ok();
    if let Ok(folder) = std::env::var("FOLDER") { stage.folder = folder.into(); }
    let began = std::time::Instant::now();
    let done = stage.call().await;
    println!("{:?} took {:?}", done.answer, began.elapsed());
    for o in &done.seen { println!("  {o:?}"); }
    for f in std::fs::read_dir(&done.folder).unwrap() { println!("  file {:?}", f.unwrap().file_name()); }
}
