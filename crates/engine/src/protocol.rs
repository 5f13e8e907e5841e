//! The rule books. A protocol is one file of decisions in `protocol/`.
//!
//! To add one: write `protocol/NAME.rs` with a `Protocol` and a `rule_book()`, name the module here and
//! add its line to [`SHIPPED`].

pub mod audit;
pub mod converge;
pub mod goal;
#[cfg(test)]
pub(crate) mod harness;
pub mod pipeline;
pub mod revise;
pub mod score;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::budget::Shortage;
use crate::digest::Digest;
use crate::effect::{EffectId, NodePath, Observation};
use crate::machine::{AgentAnswer, Cx, FailedCall, TaskResult};
use crate::manifest::RunManifest;
use crate::outcome::Outcome;
use crate::pipeline::PairVerdict;
use crate::plan::{NodePlan, Plan, Target};
use crate::text::Texts;
use crate::tool::ToolUse;
use crate::tree::Acceptance;

/// Every protocol this engine knows.
pub const SHIPPED: &[RuleBook] = &[
    converge::RULE_BOOK,
    audit::RULE_BOOK,
    pipeline::RULE_BOOK,
    revise::RULE_BOOK,
    score::RULE_BOOK,
    goal::RULE_BOOK,
];

/// What a pair that works on files came to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PairResult {
    /// The state of the pair's folder that was judged.
    pub tree: Digest,
    /// None where nobody judges.
    pub verdict: Option<PairVerdict>,
    /// What it made: the files its entry names.
    pub files: Vec<crate::artifact::ArtifactFile>,
    /// Everything it changed in its folder.
    pub changes: Vec<crate::tree::Change>,
    /// Files among these that its entry does not name.
    pub outside: Vec<String>,
    /// What is in the way of its acceptance, in one line; none if it may be delivered.
    pub blocked: Option<String>,
    /// Points that outlived a revision, or came back.
    pub recurring: Vec<String>,
    /// The round after which somebody else decided.
    pub escalated_after: Option<u32>,
}

/// How a protocol is named and begun.
#[derive(Clone, Copy)]
pub struct RuleBook {
    pub name: &'static str,
    /// The version of its rules. A run of another version is refused by naming both.
    pub version: u32,
    pub begin: fn(&NodePlan) -> Result<Box<dyn Protocol>, String>,
    /// What a node with these settings will do.
    pub manifest: fn(&NodePlan) -> Result<RunManifest, String>,
}

/// What a protocol is told. Calls that failed never get here: the machine parks the run and repeats
/// them on resume, the same way for every protocol.
pub trait Protocol: Send {
    fn start(&mut self, cx: &mut Cx<'_>);

    /// An agent answered one of this node's calls.
    fn answered(&mut self, answer: AgentAnswer, cx: &mut Cx<'_>);

    /// Something this node asked for is there: a look, a verify run, a person's word.
    fn task_done(&mut self, _effect: &EffectId, _what: TaskResult, _cx: &mut Cx<'_>) {}

    /// The run was parked by this node and goes on.
    fn resumed(&mut self, _cx: &mut Cx<'_>) {}

    /// An effect reported something while it was under way.
    fn observed(&mut self, _effect: &EffectId, _observation: &Observation, _cx: &mut Cx<'_>) {}

    /// A call this node leads has failed. Unless it says otherwise the node parks.
    fn failed(&mut self, failed: FailedCall, cx: &mut Cx<'_>) {
        cx.give_up(failed);
    }

    /// Whether the protocol is told of a cap before the run parks for it.
    fn wants_final_turn(&self) -> bool {
        false
    }

    /// A cap is in the way of something this node asked for. It is held, and asked for again when the run goes on.
    fn budget_exhausted(&mut self, shortage: Shortage, cx: &mut Cx<'_>) {
        cx.out_of_budget(shortage);
    }

    /// The process died while this was being done for the node. Nobody knows what came of it.
    fn lost(&mut self, _effect: &EffectId, _tool: ToolUse, _cx: &mut Cx<'_>) {}

    /// A person has a word for the worker.
    fn steered(&mut self, _text: Digest, _cx: &mut Cx<'_>) {}

    /// A call this node cancelled has ended.
    fn cancelled(&mut self, _effect: &EffectId, _cx: &mut Cx<'_>) {}

    /// A worker this node leads was broken off by something that is over, and can go on where it was.
    fn broken_off(&mut self, _because: &str, _cx: &mut Cx<'_>) {}

    /// A node below this one reached its end.
    fn child_ended(&mut self, _child: &NodePath, _outcome: &Outcome, _cx: &mut Cx<'_>) {}

    /// A node below this one can do nothing before a person does something.
    fn child_waits(&mut self, _child: &NodePath, _cx: &mut Cx<'_>) {}

    /// A person raised the number of rounds.
    fn raise_rounds(&mut self, _rounds: u32) {}

    /// The draft as it stands.
    fn draft(&self) -> Option<Digest> {
        None
    }

    /// The user's file this node writes: on approval the file itself, otherwise a copy beside it.
    fn target(&self) -> Option<Target> {
        None
    }

    /// This node's draft is a tree, and an approved one is brought to the user this way.
    fn acceptance(&self) -> Option<Acceptance> {
        None
    }

    /// What a pair of this node came to, for the node above.
    fn result(&self, _texts: &Texts) -> Option<PairResult> {
        None
    }

    /// The user's material this node's plan names: the machine checks that all of it was brought.
    fn material(&self) -> Vec<Digest> {
        Vec::new()
    }
}

/// The rule books an engine may use: those shipped, and those an embedding program adds.
#[derive(Clone)]
pub struct Protocols(Arc<BTreeMap<&'static str, RuleBook>>);

impl Protocols {
    pub fn shipped() -> Self {
        Self(Arc::new(SHIPPED.iter().map(|book| (book.name, *book)).collect()))
    }

    pub fn with(mut self, book: RuleBook) -> Self {
        Arc::make_mut(&mut self.0).insert(book.name, book);
        self
    }

    /// What a run by this plan will do.
    pub fn manifest(&self, plan: &Plan) -> Result<RunManifest, String> {
        let manifest = (self.book(&plan.root)?.manifest)(&plan.root)?;
        Ok(match &plan.workspace {
            Some(folder) => manifest.in_folder(folder),
            None => manifest,
        })
    }

    fn book(&self, plan: &NodePlan) -> Result<&RuleBook, String> {
        let named = self.0.get(plan.protocol.as_str());
        named.ok_or_else(|| format!("this version knows no protocol `{}`", plan.protocol))
    }

    pub(crate) fn begin(&self, plan: &NodePlan) -> Result<Box<dyn Protocol>, String> {
        let book = self.book(plan)?;
        if plan.version > book.version {
            return Err(format!(
                "this run follows version {} of `{}`; this program knows versions up to {}: use a newer gadfly",
                plan.version, plan.protocol, book.version
            ));
        }
        if plan.version < book.version {
            return Err(format!(
                "this run follows version {} of `{}`; this program plays version {} only: end it with the gadfly that began it, or start it anew",
                plan.version, plan.protocol, book.version
            ));
        }
        (book.begin)(plan)
    }
}
