//! A loop inside a Rust program, with an agent of its own as the worker and another as the critic.
//! Run it: `cargo run -p gadfly-runtime --example embed`
#![allow(clippy::print_stdout)] // an example may print

use gadfly_runtime::embed::{AgentFn, Loop};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let worker = AgentFn(|brief: String| async move {
        // Call your model here. The brief says what to write and, in a revision, what to fix.
        Ok(if brief.contains("Mode: Revision") { "An old pond; a frog jumps in." } else { "A pond." }
            .to_owned())
    });
    let critic = AgentFn(|brief: String| async move {
        let good = brief.rsplit("begin draft").next().is_some_and(|draft| draft.contains("frog"));
        Ok(if good { "[STATUS: APPROVED]\nA frog is there." } else { "[STATUS: REJECTED]\n- Name a frog." }
            .to_owned())
    });
    let store = std::env::temp_dir().join(format!("gadfly-embed-{}", std::process::id()));
    let done =
        Loop::new("Write a line about a pond.", worker, critic).criterion("names a frog").run(&store).await?;
    println!("{}: {}", done.outcome.label(), done.draft.unwrap_or_default());
    std::fs::remove_dir_all(store)?;
    Ok(())
}
