//! Sets the stage: an agent of a kind, in a world where a case happens to it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use gadfly_agents::{Agent, AgentSpec, Fault, Jitter, Script, ScriptedReply, Secret, World, build};
use gadfly_testbed::{Behaviour, Server};

use crate::case::{Case, KEY, SCHEMA, TEXT};
use crate::launch::Plain;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum When {
    Never,
    Before,
    During,
}

/// An agent ready to be called, and the means to see what happens around it.
pub struct Stage {
    pub agent: Arc<dyn Agent>,
    pub cancel: When,
    pub time: Option<Duration>,
    pub schema: Option<&'static str>,
    pub spec: Option<AgentSpec>,
    pub around: Around,
}

/// Who can say that a call has begun.
pub enum Around {
    Server(Server),
    Launcher(Arc<Plain>),
    /// Begins at once.
    Nobody,
}

impl Stage {
    pub fn arrived(&self) -> Option<u64> {
        match &self.around {
            Around::Server(server) => Some(server.calls().total),
            Around::Launcher(launcher) => Some(launcher.started.load(Ordering::SeqCst)),
            Around::Nobody => None,
        }
    }

    pub fn shown(&self) -> String {
        format!("{:?}", self.spec)
    }

    /// Resolves once the other side has the brief.
    pub async fn has_begun(&self) {
        while self.arrived() == Some(0) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
}

/// Retries at once.
struct NoJitter;

impl Jitter for NoJitter {
    fn up_to(&self, _: Duration) -> Duration {
        Duration::ZERO
    }
}

pub async fn set(kind: &'static str, case: Case) -> Stage {
    let cancel = match case {
        Case::CancelledBefore => When::Before,
        Case::CancelledDuring => When::During,
        _ => When::Never,
    };
    let time = (case == Case::TimesOut).then_some(Duration::from_millis(100));
    let mut spec = AgentSpec { name: "tried".into(), ..AgentSpec::default() };
    let world = World::new().with_jitter(Arc::new(NoJitter));
    let (world, around) = match kind {
        "openai" | "anthropic" => {
            let script = BTreeMap::from([("plain".to_owned(), vec![TEXT.to_owned()])]);
            let server = Server::start(Behaviour { script, ..Behaviour::default() }).await.unwrap();
            spec.base_url = Some(server.v1());
            spec.model = Some(model(case).to_owned());
            spec.key = Some(Secret::new(KEY));
            (world, Around::Server(server))
        }
        "command" => {
            spec.command = ["sh", "-c", program(case)].map(str::to_owned).to_vec();
            spec.key = Some(Secret::new(KEY));
            let env = vec![
                ("PATH".to_owned(), std::env::var("PATH").unwrap()),
                ("OPENAI_API_KEY".to_owned(), KEY.to_owned()),
            ];
            let launcher = Arc::new(Plain::default());
            (world.with_base_env(env).with_launcher(launcher.clone()), Around::Launcher(launcher))
        }
        "scripted" => {
            spec.script = Some(Arc::new(Script::new([reply(case)])));
            (world, Around::Nobody)
        }
        other => panic!("kind `{other}` has no stage: add one, or the suite does not cover it"),
    };
    let schema = (case == Case::Structured).then_some(SCHEMA);
    let agent = build(kind, spec.clone(), &world).unwrap();
    Stage { agent, cancel, time, schema, spec: Some(spec), around }
}

fn model(case: Case) -> &'static str {
    match case {
        Case::Answers | Case::CancelledBefore => "plain",
        Case::Streams | Case::StatesUsage => "split",
        Case::Refuses => "fault:refusal",
        Case::Truncates => "fault:length",
        Case::TimesOut | Case::CancelledDuring => "fault:hang",
        Case::Breaks => "fault:500",
        Case::Garbage => "fault:malformed",
        Case::Empty => "fault:empty",
        Case::Huge => "fault:huge",
        Case::KeepsItsKey => "fault:echo-key",
        Case::Retries => "fault:429-then-ok:2",
        Case::HasNoQuota => "fault:quota",
        Case::Unauthorised => "fault:401",
        Case::TooLong => "fault:context",
        Case::Structured => "structured",
    }
}

fn program(case: Case) -> &'static str {
    match case {
        Case::TimesOut | Case::CancelledDuring => "exec sleep 60",
        Case::Breaks => "echo 'no such model' >&2; exit 3",
        Case::Garbage => r"printf '\377\376'",
        Case::Empty => "echo; echo 'nothing to say' >&2",
        Case::Huge => "exec yes",
        Case::KeepsItsKey => "env",
        _ => "cat >/dev/null; printf 'A fine draft: short, and true.'",
    }
}

fn reply(case: Case) -> ScriptedReply {
    let fault = match case {
        Case::Refuses => Fault::Refused,
        Case::Truncates => Fault::Length,
        Case::TimesOut | Case::CancelledDuring => Fault::Hang,
        Case::Breaks => Fault::Crash,
        Case::Garbage => Fault::Malformed,
        Case::Empty => Fault::Empty,
        Case::Huge => Fault::Huge,
        Case::HasNoQuota => Fault::Quota,
        Case::Unauthorised => Fault::Unauthorised,
        Case::TooLong => Fault::TooLong,
        _ => return ScriptedReply::text(TEXT).tokens(12, 8).observed("wrote the draft"),
    };
    ScriptedReply::fault(fault)
}
