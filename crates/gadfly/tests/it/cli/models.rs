//! Models behind HTTP, on a local server that speaks the real wire formats.

use std::sync::Arc;

use gadfly_testbed::{Behaviour, Server};

use crate::cli::support::{Project, Said};
use crate::cli::terminal::AtTerminal;

const RUN: [&str; 4] = ["run", "Write the abstract", "--criterion", "at most 150 words"];

async fn with_models(worker: &str, critic: &str) -> (Server, Arc<Project>) {
    let server = Server::start(Behaviour::default()).await.unwrap();
    let project = Project::bare();
    let agent = |name: &str, model: &str| {
        format!(
            "[agents.{name}]\nkind = \"openai\"\nbase_url = \"http://{}/v1\"\nmodel = \"{model}\"\n",
            server.addr
        )
    };
    project.own(&(agent("writer", worker) + &agent("judge", critic)));
    project.write("gadfly.toml", "[defaults]\nworker = \"writer\"\ncritic = \"judge\"\n");
    (server, Arc::new(project))
}

async fn run(project: &Arc<Project>) -> Said {
    let project = Arc::clone(project);
    tokio::task::spawn_blocking(move || project.gadfly(&RUN)).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn two_models_end_a_loop_within_its_rounds() {
    let (_server, project) = with_models("worker:200", "critic:R,A").await;
    let said = run(&project).await;
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.out.len() >= 200);
    assert!(said.err.contains("→ 127.0.0.1 (writer, openai, model worker:200)"), "{}", said.err);
    assert!(said.err.contains("approved after 2 rounds"), "{}", said.err);
}

#[tokio::test(flavor = "multi_thread")]
async fn words_are_shown_as_a_model_streams_them() {
    let (_server, project) = with_models("slow:30", "critic:A").await;
    let at_terminal = {
        let project = Arc::clone(&project);
        move || AtTerminal::start(&project, &RUN).end()
    };
    let (code, _, screen) = tokio::task::spawn_blocking(at_terminal).await.unwrap();
    assert_eq!(code, 0, "{screen}");
    assert!(screen.contains(" words · "), "{screen}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_attempt_that_is_tried_again_is_said() {
    let (_server, project) = with_models("fault:500-then-ok:1", "critic:A").await;
    let said = run(&project).await;
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.err.contains("trying again"), "{}", said.err);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_used_up_quota_parks_the_run() {
    let (_server, project) = with_models("fault:quota", "critic:A").await;
    let said = run(&project).await;
    assert_eq!(said.code, 4, "{}", said.err);
    assert!(said.err.contains("waiting for the provider's quota"), "{}", said.err);
}

#[tokio::test(flavor = "multi_thread")]
async fn worker_and_critic_of_the_same_model_are_warned_about() {
    let (_server, project) = with_models("same", "same").await;
    let said = run(&project).await;
    assert!(said.err.contains("worker and critic are the same model"), "{}", said.err);
}
