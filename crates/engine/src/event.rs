//! What happened, in the past tense. Projections and surfaces are folds over these; no decision reads them.
//! What they are called in words is `words`.

pub mod words;

use serde::{Deserialize, Serialize};

use crate::budget::{Limits, Money, Shortage, Spent, Usage};
use crate::conflict::Conflicts;
use crate::digest::Digest;
use crate::effect::{CallFailure, Committed, EffectId, NodePath};
use crate::finding::Finding;
use crate::goal::{Claimant, CriterionTrial, GoalStep, Nudge, ProgressVerdict, WholeChangeReview};
use crate::pipeline::event::PipelineEvent;
use crate::plan::AgentCard;
use crate::question::About;
use crate::review::Review;
use crate::stall::Stall;
use crate::tree::Verified;
use crate::turn::Role;

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Event {
    pub node: NodePath,
    pub what: EventKind,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "event")]
// A step has a handful of events and lives briefly: boxing the largest would cost every reader a detour.
#[allow(clippy::large_enum_variant)]
pub enum EventKind {
    NodeStarted {
        protocol: String,
    },
    RoundStarted {
        round: u32,
        of: u32,
    },
    /// A worker's artifact: `given` if the user brought it.
    DraftMade {
        round: u32,
        artifact: Digest,
        blob: Digest,
        bytes: u64,
        given: bool,
        /// For a tree: its diff against the beginning. `blob` is then its manifest.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        diff: Option<Digest>,
    },
    /// Sections that changed although no open item asked for it: a hint for the person.
    ChangedUnasked {
        round: u32,
        sections: Vec<String>,
    },
    /// The worker stated a verdict about its own draft; it counts for nothing.
    SelfVerdictNoted {
        round: u32,
        line: String,
    },
    Reviewed {
        round: u32,
        review: Review,
    },
    ReplyMalformed {
        round: u32,
        critic: String,
        problem: String,
        restating: bool,
    },
    /// The loop makes no headway.
    Stalled {
        round: u32,
        stalls: Vec<Stall>,
    },
    RejectionOverruled {
        round: u32,
        notes: Vec<String>,
    },
    FellBack {
        from: String,
        to: String,
        because: String,
    },
    CallFailed {
        effect: EffectId,
        agent: String,
        role: Role,
        failure: CallFailure,
    },
    /// The process died before a reply was recorded.
    CallLost {
        effect: EffectId,
        agent: String,
        role: Role,
    },
    /// What a call cost. Of a call without an answer its reservation; `run.unknown` is set then.
    Charged {
        effect: EffectId,
        agent: String,
        usage: Usage,
        cost: Money,
        run: Spent,
    },
    Overran {
        shortage: Shortage,
    },
    Saved {
        path: String,
        approved: bool,
    },
    SaveRefused {
        path: String,
        message: String,
    },
    Warned {
        message: String,
    },
    /// A verify command ran. Round 0 is the try before the first paid call.
    VerifyRan {
        round: u32,
        command: String,
        green: bool,
        verified: Verified,
    },
    /// Where the round's findings lead.
    Routed {
        round: u32,
        route: String,
        because: String,
    },
    /// A person is asked.
    Asked {
        effect: EffectId,
        about: About,
    },
    /// A person answered a question.
    PersonSaid {
        effect: EffectId,
        by: String,
        text: Digest,
    },
    /// The loop was handed to someone else to decide.
    Escalated {
        round: u32,
        /// An agent's name, `orchestrator` or `user`.
        to: String,
        because: String,
    },
    /// What the one asked for a decision said.
    Decided {
        by: String,
        text: Digest,
    },
    /// A criterion is put off, with its reason.
    Deferred {
        round: u32,
        criterion: String,
        reason: String,
        by: String,
    },
    /// A protocol's own result line of one round, computed by the engine.
    RoundEnded {
        round: u32,
        line: String,
    },
    /// A protocol's summary of the whole loop.
    Summarised {
        line: String,
    },
    /// A critic changed files it may only read. The change was undone and its reply does not count.
    Violated {
        effect: EffectId,
        agent: String,
        paths: Vec<String>,
    },
    /// A report for callers: it is kept as a file of this name in the run's folder.
    Reported {
        round: u32,
        name: String,
        report: Digest,
        envelope: Digest,
    },
    /// The approved tree is with the user.
    Accepted {
        paths: Vec<String>,
        commit: Option<Committed>,
        /// Files that are git's merge of both sides: nobody judged these bytes.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        merged: Vec<String>,
        /// Files of which the user's version stayed.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        kept: Vec<String>,
    },
    /// The approved tree and the checkout changed the same files. Nothing was written.
    Conflicted {
        conflicts: Conflicts,
    },
    /// A goal was set: when it is reached and what may be done for it, in people's words.
    GoalSet {
        goal: Digest,
        criterion: String,
        policy: String,
        /// Steps from one look of the critic to the next; 0 if nobody watches.
        interval: u32,
        steps: u32,
    },
    /// The worker of a goal did something, or tried to.
    Stepped {
        step: GoalStep,
    },
    /// The critic looked at steps `from` to `to`.
    Watched {
        critic: String,
        verdict: ProgressVerdict,
        reason: String,
        from: u32,
        to: u32,
    },
    /// Nobody watches any more.
    CriticOff {
        critic: String,
        because: String,
    },
    /// A worker whose call ended before its work did goes on where it was.
    WentOn {
        agent: String,
        because: String,
    },
    /// The engine said something to the worker.
    Nudged {
        why: Nudge,
        text: Digest,
    },
    /// Somebody says the goal is reached; it is verified now.
    Claimed {
        by: Claimant,
        rationale: String,
    },
    VerificationFailed {
        detail: String,
        /// How many claims in a row were not met.
        in_a_row: u32,
    },
    GoalVerified {
        detail: String,
    },
    /// The criterion was tried although nobody claimed anything: before the first call, or where a cap ends the goal.
    CriterionTried {
        found: CriterionTrial,
        detail: String,
    },
    /// Files that the goal is judged by are not what they were at the start.
    ProtectedChanged {
        paths: Vec<String>,
        /// What was done to tests and to how they are run.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        findings: Vec<Finding>,
    },
    /// The critic is shown the whole change, but for what is named.
    ChangeShown {
        critic: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        left_out: Vec<String>,
    },
    /// The critic looked at the whole change before it counts, or did not.
    ChangeLookedAt {
        critic: String,
        seen: WholeChangeReview,
        reason: String,
    },
    /// A person let findings stand that would have kept the work from being accepted.
    Waived {
        findings: Vec<String>,
        reason: String,
        by: String,
    },
    /// A tool that failed again and again is not offered any more.
    ToolDisabled {
        tool: String,
        because: String,
    },
    /// The process died in the middle of a step. `handling` says what follows.
    OutcomeUnknown {
        n: u32,
        tool: String,
        handling: String,
    },
    /// A person said something to the worker.
    Steered {
        by: String,
        text: Digest,
    },
    /// A goal stands still until a person says how to go on.
    GoalPaused {
        because: String,
    },
    /// The worker gave up, with its reasons.
    GaveUp {
        reason: String,
        learned: String,
    },
    /// What the worker says at the end of a goal that was stopped.
    LastWords {
        because: String,
        text: Option<Digest>,
    },
    /// Something of a pipeline.
    Pipeline(PipelineEvent),
    PauseRequested,
    CancelRequested,
    Resumed,
    LimitsRaised {
        limits: Limits,
        rounds: Option<u32>,
    },
    AgentChanged {
        agent: String,
        card: Box<AgentCard>,
    },
}
