//! Decides. The engine answers every input with a step: events, effects, perhaps an outcome.
//!
//! It is pure: the same inputs give the same steps, on every machine and in every later version.
//! Time, answers, money and files enter as inputs; nothing here reads a clock, a file, the network
//! or the environment. What happens between two inputs is the host's business (see `gadfly-runtime`):
//! journal the step, perform its effects, feed replies back.
//!
//! # A driver in thirty lines
//!
//! Inputs go in, steps come out, and what a step asks for comes back as the next input. A real host writes each step down
//! before it performs anything of it. This one has two scripted replies in place of agents:
//!
//! ```
//! use std::collections::{BTreeMap, VecDeque};
//!
//! use gadfly_engine::input::{FORMAT, InputKind};
//! use gadfly_engine::protocol::revise::{ProjectPhase, ReviseSettings};
//! use gadfly_engine::{
//!     AgentCard, Answer, EffectKind, Engine, Input, Limits, Outcome, Part, Plan, Reply, Stamp, Start, StopReason, Text,
//!     Usage,
//! };
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let task = Text::new("Write a line about a pond.");
//! let settings = ReviseSettings {
//!     task: task.digest(),
//!     phase: "general".into(),
//!     rubric: vec!["names a frog".into()],
//!     references: Vec::new(),
//!     draft: None,
//!     worker: Some("writer".into()),
//!     critic: "reader".into(),
//!     fallback_critic: None,
//!     rounds: 3,
//!     overrule: true,
//!     out: None,
//!     project: ProjectPhase::default(),
//! };
//! let card: AgentCard = serde_json::from_str(
//!     r#"{"kind": "scripted", "named_by": "user", "sends_to": "this machine", "max_output_tokens": 1000, "timeout_ms": 1000}"#,
//! )?;
//! let plan = Plan {
//!     title: "a pond".into(),
//!     root: settings.node_plan(Limits::default())?,
//!     agents: BTreeMap::from([("writer".into(), card.clone()), ("reader".into(), card)]).into(),
//!     limits: Limits::default(),
//!     caller: None,
//!     workspace: None,
//! };
//! let start = Start { format: FORMAT, plan, seed: "any 128 random bits".into() };
//!
//! let mut scripted = ["A frog in a pond.", "[STATUS: APPROVED]\nA frog is named."].into_iter();
//! let mut inputs = VecDeque::from([(InputKind::Started(Box::new(start)), vec![task])]);
//! let mut engine = Engine::default();
//! while let Some((what, texts)) = inputs.pop_front() {
//!     let step = engine.on(&Input { at: Stamp::default(), what, texts })?;
//!     // Here a host makes input and step durable.
//!     for effect in step.effects {
//!         let EffectKind::Turn(turn) = &effect.kind else { continue };
//!         let brief = turn.messages[0].render(engine.texts().ok_or("no run")?);
//!         assert!(brief.contains("names a frog"));
//!         let text = Text::new(scripted.next().ok_or("the script is at its end")?);
//!         let answer = Answer {
//!             parts: vec![Part::Blob(text.digest())],
//!             stop: StopReason::EndTurn,
//!             usage: Usage::default(),
//!             model: None,
//!             took_ms: 0,
//!             report: None,
//!             violations: Vec::new(),
//!             session: None,
//!         };
//!         inputs.push_back((InputKind::Replied { effect: effect.id, reply: Reply::Done(answer) }, vec![text]));
//!     }
//! }
//! assert!(matches!(engine.outcome(), Some(Outcome::Approved { .. })));
//! # Ok(())
//! # }
//! ```

pub mod artifact;
pub mod blocks;
pub mod brief;
pub mod budget;
pub mod conflict;
pub mod corpus;
pub mod deduction;
pub mod digest;
pub mod effect;
pub mod event;
pub mod evidence;
pub mod finding;
pub mod goal;
pub mod identity;
pub mod input;
pub mod isolation;
pub mod judging;
pub mod machine;
pub mod manifest;
pub mod masked;
pub mod outcome;
pub mod pipeline;
pub mod plan;
pub mod protocol;
pub mod question;
pub mod reading;
pub mod replay;
pub mod review;
pub mod sections;
pub mod slice;
pub mod stall;
pub mod text;
pub mod tool;
pub mod tree;
pub mod turn;
pub mod work;

pub use artifact::{ArtifactFile, Manifest};
pub use budget::{Limits, LongPrice, Money, Price, Usage};
pub use digest::Digest;
pub use effect::{Answer, CallFailure, Class, Effect, EffectId, EffectKind, FailureKind, NodePath};
pub use effect::{Observation, Reply, StopReason};
pub use event::Event;
pub use finding::{Finding, FindingStatus, Location, Severity};
pub use input::{Control, Input, Stamp, Start};
pub use isolation::{Guard, Layer};
pub use machine::{Engine, Step};
pub use manifest::RunManifest;
pub use outcome::{Halt, Outcome, Waiting};
pub use plan::{AgentCard, Plan, Target};
pub use replay::{Difference, replay};
pub use text::{Text, Texts};
pub use turn::{Message, Part, Permission, Role, Speaker, Turn};
