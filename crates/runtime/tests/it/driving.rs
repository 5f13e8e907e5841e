//! A run while it is driven: answers, pause, cancel and Ctrl-C reach it, and what was recorded is never
//! asked for again.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)] // tests may fail loudly and print

mod embedding;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use gadfly_engine::protocol::revise;
use gadfly_engine::{Control, Limits, Outcome, Text};
use gadfly_journal::RunId;
use gadfly_project::{Config, Root};
use gadfly_runtime::agent::{Agent, CallError};
use gadfly_runtime::embed::{AgentFn, own_card};
use gadfly_runtime::prepare::{Prepared, assemble};
use gadfly_runtime::service::{Controlled, DriveOptions, Gadfly, Raise, ResumeError};
use gadfly_runtime::{AgentSet, Ended, Stop, Update};
use tokio::sync::{Notify, mpsc, watch};

const YES: &str = "[STATUS: APPROVED]\nGood.";

fn open(dir: &Path, agent_set: &AgentSet) -> Gadfly {
    let (config, _) = Config::from_layers([]);
    Gadfly::open(Root::at(dir), config, dir).unwrap().with_agents(agent_set.clone())
}

fn prepared(agent_set: &AgentSet) -> Prepared {
    let task = Text::new("Say hello.");
    let settings = revise::ReviseSettings {
        task: task.digest(),
        phase: "general".into(),
        rubric: vec!["at most 3 words".into()],
        references: Vec::new(),
        draft: None,
        worker: Some("worker".into()),
        critic: "critic".into(),
        fallback_critic: None,
        rounds: 3,
        overrule: true,
        out: None,
        project: revise::ProjectPhase::default(),
    };
    let none = Limits::default();
    assemble(
        Box::new(settings.clone()),
        "hello".into(),
        agent_set.clone(),
        none,
        none,
        vec![task],
        Vec::new(),
    )
    .unwrap()
}

fn person() -> gadfly_engine::AgentCard {
    gadfly_engine::AgentCard { kind: "person".into(), person: true, ..own_card() }
}

fn says(text: &'static str) -> Arc<dyn Agent> {
    Arc::new(AgentFn(move |_| async move { Ok::<_, CallError>(text.to_owned()) }))
}

/// An agent that counts its calls and answers when it is let go.
fn held(calls: Arc<AtomicU32>, go: Arc<Notify>, text: &'static str) -> Arc<dyn Agent> {
    Arc::new(AgentFn(move |_| {
        let (calls, go) = (Arc::clone(&calls), Arc::clone(&go));
        async move {
            calls.fetch_add(1, Ordering::SeqCst);
            go.notified().await;
            Ok::<_, CallError>(text.to_owned())
        }
    }))
}

/// Without a critic of its own the team has a person for one.
fn agent_set(worker: Arc<dyn Agent>, critic: Option<Arc<dyn Agent>>) -> AgentSet {
    let mut agent_set = AgentSet::default();
    agent_set.add("worker", own_card(), Some(worker));
    agent_set.add("critic", if critic.is_some() { own_card() } else { person() }, critic);
    agent_set
}

struct Watched {
    stop: watch::Sender<Stop>,
    updates: mpsc::Receiver<Update>,
}

fn driving(attended: bool) -> (Watched, DriveOptions) {
    let (tell_stop, stop) = watch::channel(Stop::No);
    let (tell, updates) = mpsc::channel(64);
    (Watched { stop: tell_stop, updates }, DriveOptions { attended, stop, updates: Some(tell) })
}

impl Watched {
    /// Waits for the record that satisfies `wanted`.
    async fn until(&mut self, wanted: impl Fn(&gadfly_journal::Record) -> bool) {
        loop {
            let next = tokio::time::timeout(Duration::from_secs(20), self.updates.recv()).await;
            match next.unwrap().unwrap() {
                Update::Record { record, .. } if wanted(&record) => return,
                _ => {}
            }
        }
    }
}

async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..2000 {
        if holds() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{what} did not happen");
}

fn label(ended: &Ended) -> String {
    match ended {
        Ended::Outcome(outcome) => outcome.label(),
        Ended::Interrupted => "interrupted".into(),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_answers_from_elsewhere_while_the_run_waits() {
    let dir = tempfile::tempdir().unwrap();
    let agent_set = agent_set(says("Hello there."), None);
    let gadfly = open(dir.path(), &agent_set);
    let prepared = prepared(&agent_set);
    let run = prepared.run.clone();
    let (mut watched, driving) = driving(true);
    let elsewhere = open(dir.path(), &AgentSet::default());
    let answering = async {
        watched.until(|r| matches!(r.step.outcome, Some(Outcome::Waiting(_)))).await;
        let asked = elsewhere.answer(&run, YES.into(), "a colleague").unwrap();
        assert!(asked.driven, "somebody drives it");
        // Kept alive so that updates are taken.
        while watched.updates.recv().await.is_some() {}
    };
    let (ended, ()) = tokio::join!(gadfly.start(prepared, driving), answering);
    assert_eq!(label(&ended.unwrap()), "approved");
    assert!(elsewhere.journal().mail(&run).unwrap().is_empty(), "the answer was consumed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_anyone_at_hand_a_question_parks_the_run_and_an_answer_is_kept_until_it_is_resumed() {
    let dir = tempfile::tempdir().unwrap();
    let agent_set = agent_set(says("Hello there."), None);
    let prepared = prepared(&agent_set);
    let run = prepared.run.clone();
    let gadfly = open(dir.path(), &agent_set);
    let (_watched, quiet) = driving(false);
    let ended = gadfly.start(prepared, DriveOptions { updates: None, ..quiet }).await.unwrap();
    assert_eq!(label(&ended), "waiting(question)");
    drop(gadfly);
    let later = open(dir.path(), &agent_set);
    assert!(!later.answer(&run, YES.into(), "me").unwrap().driven);
    let (_watched, quiet) = driving(false);
    let ended = later.resume(&run, Raise::default(), DriveOptions { updates: None, ..quiet }).await.unwrap();
    assert_eq!(label(&ended), "approved");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_interrupt_keeps_the_reply_under_way_and_sends_nothing_more() {
    let dir = tempfile::tempdir().unwrap();
    let (calls, go) = (Arc::new(AtomicU32::new(0)), Arc::new(Notify::new()));
    let (judged, judge) = (Arc::new(AtomicU32::new(0)), Arc::new(Notify::new()));
    let worker = held(Arc::clone(&calls), Arc::clone(&go), "Hello there.");
    let agent_set = agent_set(worker, Some(held(Arc::clone(&judged), Arc::clone(&judge), YES)));
    let gadfly = open(dir.path(), &agent_set);
    let prepared = prepared(&agent_set);
    let run = prepared.run.clone();
    let (watched, quiet) = driving(false);
    let interrupting = async {
        until("the worker's call", || calls.load(Ordering::SeqCst) == 1).await;
        watched.stop.send(Stop::Drain).unwrap();
        go.notify_one();
    };
    let (ended, ()) =
        tokio::join!(gadfly.start(prepared, DriveOptions { updates: None, ..quiet }), interrupting);
    assert_eq!(label(&ended.unwrap()), "interrupted");
    assert_eq!(judged.load(Ordering::SeqCst), 0, "nothing new was sent");
    until("giving the run up", || gadfly.journal().summary(&run).unwrap().state == "interrupted").await;
    judge.notify_one();
    let (_watched, quiet) = driving(false);
    let ended = gadfly.resume(&run, Raise::default(), DriveOptions { updates: None, ..quiet }).await.unwrap();
    assert_eq!(label(&ended), "approved");
    assert_eq!(calls.load(Ordering::SeqCst), 1, "the recorded draft was not asked for again");
    assert!(!gadfly.journal().summary(&run).unwrap().cost_unknown, "an unsent call costs nothing");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_second_interrupt_stops_at_once_and_the_call_is_made_again() {
    let dir = tempfile::tempdir().unwrap();
    let (calls, go) = (Arc::new(AtomicU32::new(0)), Arc::new(Notify::new()));
    let agent_set = agent_set(held(Arc::clone(&calls), Arc::clone(&go), "Hello there."), Some(says(YES)));
    let gadfly = open(dir.path(), &agent_set);
    let prepared = prepared(&agent_set);
    let run = prepared.run.clone();
    let (watched, quiet) = driving(false);
    let interrupting = async {
        until("the worker's call", || calls.load(Ordering::SeqCst) == 1).await;
        watched.stop.send(Stop::Now).unwrap();
    };
    let (ended, ()) =
        tokio::join!(gadfly.start(prepared, DriveOptions { updates: None, ..quiet }), interrupting);
    assert_eq!(label(&ended.unwrap()), "interrupted");
    go.notify_one();
    let (_watched, quiet) = driving(false);
    let ended = gadfly.resume(&run, Raise::default(), DriveOptions { updates: None, ..quiet }).await.unwrap();
    assert_eq!((label(&ended).as_str(), calls.load(Ordering::SeqCst)), ("approved", 2));
    assert!(gadfly.journal().summary(&run).unwrap().cost_unknown, "what the lost call cost is not known");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pause_and_cancel_reach_a_run_from_another_process() {
    let dir = tempfile::tempdir().unwrap();
    let (calls, go) = (Arc::new(AtomicU32::new(0)), Arc::new(Notify::new()));
    let agent_set = agent_set(held(Arc::clone(&calls), Arc::clone(&go), "Hello there."), Some(says(YES)));
    let gadfly = open(dir.path(), &agent_set);
    let elsewhere = open(dir.path(), &AgentSet::default());
    let prepared = prepared(&agent_set);
    let run = prepared.run.clone();
    let (mut watched, quiet) = driving(false);
    let pausing = async {
        until("the worker's call", || calls.load(Ordering::SeqCst) == 1).await;
        assert_eq!(elsewhere.control(&run, Control::Pause, "me").await.unwrap(), Controlled::Asked);
        watched.until(|r| matches!(r.input.what, gadfly_engine::input::InputKind::Controlled(_))).await;
        go.notify_one();
        while watched.updates.recv().await.is_some() {}
    };
    let (ended, ()) = tokio::join!(gadfly.start(prepared, quiet), pausing);
    assert_eq!(label(&ended.unwrap()), "waiting(paused)");
    assert_eq!(elsewhere.control(&run, Control::Pause, "me").await.unwrap(), Controlled::NotDriven);
    // Nobody drives it, so it is cancelled on the spot.
    let done = elsewhere.control(&run, Control::Cancel, "me").await.unwrap();
    assert_eq!(done, Controlled::Done { ended: Ended::Outcome(Outcome::Aborted), taken_back: Vec::new() });
    let again = gadfly.resume(&run, Raise::default(), driving(false).1).await;
    assert!(matches!(again, Err(ResumeError::Ended { .. })), "{again:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancelled_call_is_stopped_and_the_run_aborted() {
    let dir = tempfile::tempdir().unwrap();
    let (calls, go) = (Arc::new(AtomicU32::new(0)), Arc::new(Notify::new()));
    let agent_set = agent_set(held(Arc::clone(&calls), go, "never said"), Some(says(YES)));
    let gadfly = open(dir.path(), &agent_set);
    let elsewhere = open(dir.path(), &AgentSet::default());
    let prepared = prepared(&agent_set);
    let run = prepared.run.clone();
    let cancelling = async {
        until("the worker's call", || calls.load(Ordering::SeqCst) == 1).await;
        elsewhere.control(&run, Control::Cancel, "me").await.unwrap();
    };
    let (_watched, quiet) = driving(false);
    let start = gadfly.start(prepared, DriveOptions { updates: None, ..quiet });
    let (ended, ()) = tokio::join!(start, cancelling);
    assert_eq!(label(&ended.unwrap()), "aborted");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_owned_by_a_living_process_cannot_be_taken() {
    let dir = tempfile::tempdir().unwrap();
    let (calls, go) = (Arc::new(AtomicU32::new(0)), Arc::new(Notify::new()));
    let agent_set = agent_set(held(Arc::clone(&calls), Arc::clone(&go), "Hello there."), Some(says(YES)));
    let gadfly = open(dir.path(), &agent_set);
    let elsewhere = open(dir.path(), &agent_set);
    let prepared = prepared(&agent_set);
    let run: RunId = prepared.run.clone();
    let taking = async {
        until("the worker's call", || calls.load(Ordering::SeqCst) == 1).await;
        let taken = elsewhere.resume(&run, Raise::default(), driving(false).1).await;
        assert!(matches!(taken, Err(ResumeError::Claim(_))), "{taken:?}");
        go.notify_one();
    };
    let (_watched, quiet) = driving(false);
    let start = gadfly.start(prepared, DriveOptions { updates: None, ..quiet });
    let (ended, ()) = tokio::join!(start, taking);
    assert_eq!((label(&ended.unwrap()).as_str(), calls.load(Ordering::SeqCst)), ("approved", 1));
}
