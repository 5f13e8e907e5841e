//! The journal cut after every transaction: whatever the script, a resume reaches the same end.
//!
//! Random scripts with observations, faults, malformed replies and a second critic run once, undisturbed.
//! Then, for every prefix of the records, a new store holds just that prefix and the run is resumed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)] // tests may fail loudly and print

use std::path::Path;
use std::sync::Arc;

use gadfly_agents::scripted::{Fault, Script, ScriptedReply};
use gadfly_agents::{AgentServices, AgentSpec};
use gadfly_engine::protocol::revise;
use gadfly_engine::{Limits, Role, Text};
use gadfly_journal::{Journal, Record, RunId};
use gadfly_project::{Config, Root};
use gadfly_runtime::embed::own_card;
use gadfly_runtime::prepare::assemble;
use gadfly_runtime::service::{DriveOptions, Gadfly, Raise};
use gadfly_runtime::{AgentSet, Ended, Stop};
use proptest::prelude::*;
use tokio::sync::watch;

/// One reply of a script.
#[derive(Clone, Debug)]
enum Line {
    Draft(u8),
    Approve,
    Reject(u8),
    Ramble,
    Fault(Fault),
}

fn reply(line: &Line, role: Role, observed: bool) -> ScriptedReply {
    let said = match line {
        Line::Draft(n) => ScriptedReply::text(format!("Draft number {n}, with {n} apples.")),
        Line::Approve => ScriptedReply::text("[STATUS: APPROVED]\nGood."),
        Line::Reject(n) => ScriptedReply::text(format!("[STATUS: REJECTED]\n- {n}: count the apples")),
        Line::Ramble => ScriptedReply::text("I could not say."),
        Line::Fault(fault) => ScriptedReply::fault(*fault),
    };
    let said = said.by(role).tokens(10, 5);
    if observed { said.observed("looked closely").observed("and again") } else { said }
}

fn gadfly(dir: &Path, agent_set: &AgentSet) -> Gadfly {
    let (config, _) = Config::from_layers([]);
    Gadfly::open(Root::at(dir), config, dir).unwrap().with_agents(agent_set.clone())
}

fn agent_set(worker: &[Line], critic: &[Line], second: &[Line], observed: bool) -> AgentSet {
    let world = AgentServices::new();
    let mut agent_set = AgentSet::default();
    let parts = [
        ("worker", Role::Worker, worker),
        ("critic", Role::Critic, critic),
        ("second", Role::Critic, second),
    ];
    for (name, role, lines) in parts {
        let script = Script::new(lines.iter().map(|l| reply(l, role, observed)));
        let spec = AgentSpec { name: name.into(), script: Some(Arc::new(script)), ..AgentSpec::default() };
        agent_set.add(name, own_card(), Some(gadfly_agents::build("scripted", spec, &world).unwrap()));
    }
    agent_set
}

fn quiet() -> (watch::Sender<Stop>, DriveOptions) {
    let (tell, stop) = watch::channel(Stop::No);
    (tell, DriveOptions { attended: false, stop, updates: None })
}

/// How it ended, and with what draft.
fn end(journal: &Journal, run: &RunId, ended: &Ended) -> (String, Option<String>, u32) {
    let Ended::Outcome(outcome) = ended else { panic!("interrupted") };
    let summary = journal.summary(run).unwrap();
    let draft = summary.last_draft.and_then(|d| journal.text(&d).unwrap()).map(|t| t.to_string());
    (outcome.label(), draft, summary.rounds)
}

async fn run_once(dir: &Path, agent_set: &AgentSet) -> (RunId, (String, Option<String>, u32), Vec<Record>) {
    let task = Text::new("Count the apples.");
    let settings = revise::ReviseSettings {
        task: task.digest(),
        phase: "general".into(),
        rubric: vec!["states the number of apples".into()],
        references: Vec::new(),
        draft: None,
        worker: Some("worker".into()),
        critic: "critic".into(),
        fallback_critic: Some("second".into()),
        rounds: 3,
        overrule: true,
        out: None,
        project: revise::ProjectPhase::default(),
    };
    let none = Limits::default();
    let prepared = assemble(
        Box::new(settings.clone()),
        "apples".into(),
        agent_set.clone(),
        none,
        none,
        vec![task],
        Vec::new(),
    )
    .unwrap();
    let run = prepared.run.clone();
    let gadfly = gadfly(dir, agent_set);
    let (_tell, driving) = quiet();
    let ended = gadfly.start(prepared, driving).await.unwrap();
    let records = gadfly.journal().records(&run, 0, 10_000).unwrap();
    let end = end(gadfly.journal(), &run, &ended);
    (run, end, records)
}

async fn resume_from(prefix: &[Record], run: &RunId, agent_set: &AgentSet) -> (String, Option<String>, u32) {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(dir.path()).unwrap();
    let mut writer = journal.create(run.clone()).unwrap();
    for record in prefix {
        writer.append_and_wait(&record.input, &record.step, None).unwrap();
    }
    drop(writer);
    drop(journal);
    let gadfly = gadfly(dir.path(), agent_set);
    let (_tell, driving) = quiet();
    let ended = gadfly.resume(run, Raise::default(), driving).await.unwrap();
    end(gadfly.journal(), run, &ended)
}

fn line() -> impl Strategy<Value = Line> {
    prop_oneof![
        3 => Just(Line::Approve),
        4 => (1u8..3).prop_map(Line::Reject),
        2 => Just(Line::Ramble),
        1 => Just(Line::Fault(Fault::Unavailable)),
        1 => Just(Line::Fault(Fault::Refused)),
        1 => Just(Line::Fault(Fault::Length)),
        1 => Just(Line::Fault(Fault::Quota)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, max_shrink_iters: 20, ..ProptestConfig::default() })]

    #[test]
    fn a_journal_cut_after_any_transaction_resumes_to_the_same_end(
        drafts in prop::collection::vec(prop_oneof![9 => (0u8..200).prop_map(Line::Draft), 1 => Just(Line::Fault(Fault::Empty))], 4),
        critic in prop::collection::vec(line(), 6),
        second in prop::collection::vec(line(), 4),
        observed in any::<bool>(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let agent_set = agent_set(&drafts, &critic, &second, observed);
            let dir = tempfile::tempdir().unwrap();
            let (run, undisturbed, records) = run_once(dir.path(), &agent_set).await;
            for cut in 1..records.len() {
                let resumed = resume_from(&records[..cut], &run, &agent_set).await;
                assert_eq!(resumed, undisturbed, "cut after record {cut} of {}", records.len());
            }
        });
    }
}
