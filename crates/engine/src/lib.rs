//! Decides. The engine answers every input with a step: events, effects, perhaps an outcome.
//!
//! It is pure: the same inputs give the same steps, on every machine and in every later version.
//! Time, answers, money and files enter as inputs; nothing here reads a clock, a file, the network
//! or the environment. What happens between two inputs is the host's business (see `gadfly-runtime`):
//! journal the step, perform its effects, feed replies back.

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
