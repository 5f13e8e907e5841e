//! A loop inside a Rust program, with a function of its own as the worker and another as the critic.
//! Run it: `cargo run -p gadfly-runtime --example embed`
#![allow(clippy::print_stdout)] // an example may print

use gadfly_runtime::prelude::*;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let worker = AgentFn::new(|turn| async move {
        // Call your model here. The brief says what to write and, in a revision, what to fix.
        let again = turn.brief.contains("Mode: Revision");
        Ok(if again { "An old pond; a frog jumps in." } else { "A pond." }.to_owned())
    });
    let critic = CriticFn::new(|draft, _rubric| {
        if draft.text().contains("frog") {
            CriticVerdict::approve("A frog is there.")
        } else {
            CriticVerdict::reject(["Name a frog."])
        }
    });
    let store = std::env::temp_dir().join(format!("gadfly-embed-{}", std::process::id()));
    let run = RunBuilder::revise("Write a line about a pond.", worker, critic).criterion("names a frog");
    let done = run.run(&store).await?;
    println!("{}: {}", done.outcome.label(), done.draft.unwrap_or_default());
    std::fs::remove_dir_all(store)?;
    Ok(())
}
