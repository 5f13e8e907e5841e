//! `goal`: an autonomous worker with tools pursues a goal while a second model watches it. The worker cannot stop
//! by itself: a verified claim, a report of giving up, a person or a cap ends it.
//!
//! What a goal knows and what it is told is here; the order of its turns is `order`. What a worker's turn becomes is
//! `turns`, what is done for it `steps`, how a claim is met `verifying`, what the critic's word leads to `watching`, what
//! people are asked `people`, what is said to whom `briefs`. Failed calls, budgets, pausing and parking are the machine's.

mod answer;
mod briefs;
mod commands;
pub mod criterion;
mod ending;
mod headway;
mod order;
mod people;
pub mod predicate;
mod processes;
mod protected;
pub mod settings;
mod steps;
mod told;
mod trying;
mod turns;
mod verdict;
mod verifying;
mod watching;
mod weakened;
mod whole_change;

use std::collections::{BTreeSet, VecDeque};

use crate::budget::Shortage;
use crate::digest::Digest;
use crate::effect::{EffectId, FailureKind, Observation};
use crate::event::EventKind;
use crate::goal::{Claimant, GoalStep, Nudge};
use crate::machine::{AgentAnswer, Cx, FailedCall, TaskResult, cut_short, told};
use crate::manifest::RunManifest;
use crate::outcome::Outcome;
use crate::plan::NodePlan;
use crate::protocol::{Protocol, RuleBook};
use crate::question::Question;
use crate::tool::guard::LoopGuard;
use crate::tool::transcript::{NOT_DONE, Transcript};
use crate::tool::{Offered, ToolCall, ToolUse, policy};
use crate::tree::{Acceptance, Look, Looked, Tree};
use crate::turn::Role;
use crate::work::Work;

pub use criterion::{Criterion, FileCheck};
pub use settings::{GoalSettings, Policy, ToolServer};

use ending::{Saying, Then};
use headway::GoalHeadway;
use people::Asking;
use processes::Up;
use protected::Protected;
use steps::Doing;
use told::OpenStep;
use trying::Trying;
use verifying::Checking;
use whole_change::WholeChange;

/// Version 2 of the rules: replies are read in `reading`.
pub const RULE_BOOK: RuleBook = RuleBook { name: "goal", version: 2, begin, manifest };

/// Turns in a row without a step, and failed claims in a row, that stop a goal until a person says how to go on.
const ONLY_TALK: u32 = 3;
const FAILED_CLAIMS: u32 = 5;
/// Steps that are kept in mind beside the critic's window.
const REMEMBERED: usize = 30;

/// What a call of this node is about.
pub(crate) mod tag {
    pub const WORK: u32 = 0;
    pub const WATCH: u32 = 1;
    pub const JUDGE: u32 = 2;
    pub const LAST_WORDS: u32 = 3;
    pub const WHOLE_CHANGE: u32 = 4;
}

fn manifest(plan: &NodePlan) -> Result<RunManifest, String> {
    const WORK: &[&str] = &["goal", "worker", "root", "below", "held", "acceptance", "servers", "already"];
    Ok(GoalSettings::read(plan)?.manifest().ruled_by(plan, WORK))
}

fn begin(plan: &NodePlan) -> Result<Box<dyn Protocol>, String> {
    let settings = GoalSettings::read(plan)?;
    if let Some(problem) = settings.problem() {
        return Err(problem);
    }
    Ok(Box::new(GoalProtocol {
        protected: Protected::new(&settings.until, &settings.protect, settings.protect_tests),
        guard: LoopGuard::looking_further(),
        headway: GoalHeadway::default(),
        up: Up::default(),
        settings,
        offered: Vec::new(),
        transcript: Transcript::default(),
        steps: VecDeque::new(),
        outputs: VecDeque::new(),
        n: 0,
        turns: 0,
        steps_of_turn: 0,
        begun: Vec::new(),
        unwatched: 0,
        critic: Critic::default(),
        only_talk: 0,
        claims: 0,
        failed_claims: 0,
        unlooked: false,
        told_to_look: false,
        allowed: BTreeSet::new(),
        calls: VecDeque::new(),
        claim: None,
        gave_up: None,
        halted: false,
        words: Vec::new(),
        tree: None,
        interrupting: None,
        cut_short: None,
        parked_for: None,
        saying: None,
        trying: None,
        not_met: None,
        tried_at: 0,
        check_took_ms: None,
        already_met: false,
        notes: Vec::new(),
        whole: WholeChange::default(),
        awaiting: Awaiting::Nothing,
    }))
}

struct GoalProtocol {
    settings: GoalSettings,
    protected: Protected,
    /// The tools the worker knows of, those of servers included.
    offered: Vec<Offered>,
    transcript: Transcript,
    guard: LoopGuard,
    headway: GoalHeadway,
    up: Up,
    /// The last steps, oldest first.
    steps: VecDeque<GoalStep>,
    /// What the last commands printed, with what they were.
    outputs: VecDeque<(String, Digest)>,
    /// Steps and turns so far.
    n: u32,
    turns: u32,
    steps_of_turn: u32,
    /// What a worker with tools of its own has begun and not spoken of again.
    begun: Vec<OpenStep>,
    /// Steps since the critic looked last.
    unwatched: u32,
    critic: Critic,
    only_talk: u32,
    claims: u32,
    failed_claims: u32,
    /// Something was changed and not looked at since.
    unlooked: bool,
    told_to_look: bool,
    /// What a person has allowed for the whole goal.
    allowed: BTreeSet<policy::Lasting>,
    /// What the worker's last turn still wants to be done.
    calls: VecDeque<ToolCall>,
    claim: Option<(Claimant, String)>,
    gave_up: Option<(String, String)>,
    /// The guard has had enough.
    halted: bool,
    /// What the worker is told at its next turn, beside what is in the transcript: for one with tools of its own.
    words: Vec<Digest>,
    /// The folder when it was last looked at.
    tree: Option<Tree>,
    /// Why a worker with tools of its own was broken off.
    interrupting: Option<Interruption>,
    /// Its call reached a bound of its own; whether it did anything is seen in the folder.
    cut_short: Option<Box<FailedCall>>,
    /// The cap the worker has said its last words about.
    parked_for: Option<Shortage>,
    /// The worker says its last words. What is waited for stays what it is meanwhile.
    saying: Option<Saying>,
    /// The criterion is tried before a cap ends the goal. What is waited for stays what it is meanwhile.
    trying: Option<Trying>,
    /// The state in which the criterion was last found not to hold.
    not_met: Option<Digest>,
    /// The step after which it was last tried between two turns.
    tried_at: u32,
    /// How long its commands took in the worker's folder when it was last checked.
    check_took_ms: Option<u64>,
    /// It held before anything was done, and that was enough.
    already_met: bool,
    /// What a person let stand, and what nobody looked at.
    notes: Vec<String>,
    whole: WholeChange,
    awaiting: Awaiting,
}

/// How the critic stands.
#[derive(Default)]
struct Critic {
    /// It is being asked.
    asked: bool,
    /// The steps it was shown.
    shown: (u32, u32),
    /// A guard has blocked something: it is asked as soon as the turn's calls are through.
    at_once: bool,
    blocked_before: bool,
    stuck: u32,
    unreadable: u32,
    unreachable: u32,
    off: bool,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Interruption {
    /// It has something to be told, which is among `words`.
    Words,
    /// The critic believes the goal is reached.
    Verify,
    Cap(Shortage),
    /// The guard has had enough.
    Halt,
}

/// What the goal waits for.
enum Awaiting {
    Nothing,
    FirstLook,
    Servers,
    /// The folder's state, before a worker with tools of its own goes on.
    LookBefore,
    Worker,
    Doing(Box<Doing>),
    Critic,
    /// The folder's state, before a claim is verified.
    LookAtClaim,
    /// The folder's state, before the criterion is tried between two turns.
    LookToTry,
    /// The folder's state, before the critic looks at the steps that led to it.
    LookForCritic,
    Checking(Box<Checking>),
    PutBack,
    Person(Box<Asking>, Question),
    /// The folder's state at the end, where the work was done in place: what taking it back goes by.
    LastLook(Outcome),
}

impl Protocol for GoalProtocol {
    fn start(&mut self, cx: &mut Cx<'_>) {
        let settings = &self.settings;
        cx.emit(EventKind::GoalSet {
            goal: settings.goal,
            criterion: settings.until.humanised(),
            policy: policy::describe(&settings.policy, &settings.root),
            interval: if settings.critic.is_some() { settings.interval } else { 0 },
            steps: cx.spent().1.steps.unwrap_or(settings::STEPS),
        });
        // Named by the transcript wherever a call has no result.
        cx.intern(NOT_DONE);
        self.awaiting = Awaiting::FirstLook;
        cx.look(Look { tree: None, paths: Vec::new() });
    }

    fn answered(&mut self, answer: AgentAnswer, cx: &mut Cx<'_>) {
        match (answer.role(), answer.tag()) {
            // Broken off, but it came to its end first: nobody waits for it any more.
            (Role::Worker, _) if !matches!(self.awaiting, Awaiting::Worker) => self.leave_unknown(cx),
            (Role::Worker, _) => self.worker_answered(&answer, cx),
            (_, tag::LAST_WORDS) => self.last_words(Some(answer.text), cx),
            (_, tag::WHOLE_CHANGE) => self.looked_over(Ok(cx.text(&answer.text).to_owned().as_str()), cx),
            (_, tag::JUDGE) => self.judged(cx.text(&answer.text).to_owned().as_str(), cx),
            _ => self.critic_said(cx.text(&answer.text).to_owned().as_str(), cx),
        }
    }

    fn task_done(&mut self, effect: &EffectId, what: TaskResult, cx: &mut Cx<'_>) {
        if let Some(trying) = self.trying.take_if(|trying| cx.is_attempt_of(effect, &trying.effect)) {
            return self.tried(trying, what, cx);
        }
        match (what, std::mem::replace(&mut self.awaiting, Awaiting::Nothing)) {
            (TaskResult::Looked(looked), Awaiting::Checking(checking)) => {
                self.file_seen(*checking, &looked, cx);
            }
            (TaskResult::Looked(looked), awaiting) => self.looked(looked, awaiting, cx),
            (TaskResult::Tool(_), Awaiting::PutBack) => self.after_claim(cx),
            (TaskResult::Tool(done), Awaiting::Servers) => self.servers_said(&done, cx),
            (TaskResult::Tool(done), Awaiting::Doing(doing)) => self.done(*doing, &done, cx),
            (TaskResult::Tool(done), Awaiting::Checking(checking)) => self.check_done(*checking, &done, cx),
            (TaskResult::Verified(verified), Awaiting::Checking(checking)) => {
                self.command_ran(*checking, &verified, cx);
            }
            (TaskResult::Examined(examined), Awaiting::Checking(checking)) => {
                self.examined(*checking, &examined, cx);
            }
            (TaskResult::Said { text, by }, Awaiting::Person(asking, question)) => {
                let said = cx.text(&text).to_owned();
                self.person_said(*asking, &question, (&said, &by), cx);
            }
            (_, awaiting) => self.awaiting = awaiting,
        }
    }

    fn observed(&mut self, effect: &EffectId, observation: &Observation, cx: &mut Cx<'_>) {
        if !matches!(self.awaiting, Awaiting::Worker) {
            return;
        }
        match observation {
            Observation::Step { line, call } if cx.at_work(Role::Worker).as_ref() == Some(effect) => {
                self.step_begun(line, call.as_deref(), cx);
            }
            // Also of what it began before it was broken off.
            Observation::StepEnded { call, end, said } => self.step_ended(call, *end, said, cx),
            _ => {}
        }
    }

    fn failed(&mut self, failed: FailedCall, cx: &mut Cx<'_>) {
        match (failed.role(), failed.tag()) {
            (Role::Worker, _) => {
                self.leave_unknown(cx);
                match self.used_up(cx).filter(|_| failed.failure.kind == FailureKind::Timeout) {
                    Some(shortage) => self.stop(Then::Park(shortage), cx),
                    None if !self.is_driven(cx) && cut_short(&failed.failure).is_some() => {
                        self.cut_short = Some(Box::new(failed));
                        self.look_then_turn(cx);
                    }
                    None => cx.give_up(failed),
                }
            }
            (_, tag::LAST_WORDS) => self.last_words(None, cx),
            (_, tag::WHOLE_CHANGE) => self.looked_over(Err(&failed.failure), cx),
            // Not judged is not judged wanting: the claim waits for its judge.
            (_, tag::JUDGE) => cx.give_up(failed),
            _ => self.critic_failed(&failed.failure, cx),
        }
    }

    fn wants_final_turn(&self) -> bool {
        true
    }

    fn budget_exhausted(&mut self, shortage: Shortage, cx: &mut Cx<'_>) {
        self.held_up(shortage, cx);
    }

    fn lost(&mut self, effect: &EffectId, tool: ToolUse, cx: &mut Cx<'_>) {
        self.tool_lost(effect, tool, cx);
    }

    fn cancelled(&mut self, _effect: &EffectId, cx: &mut Cx<'_>) {
        // Only a worker with tools of its own is ever broken off.
        self.leave_unknown(cx);
        if matches!(self.awaiting, Awaiting::Worker) {
            self.look_then_turn(cx);
        }
    }

    fn broken_off(&mut self, because: &str, cx: &mut Cx<'_>) {
        self.leave_unknown(cx);
        if matches!(self.awaiting, Awaiting::Worker) {
            self.tell_worker(told(because), cx);
            self.look_then_turn(cx);
        }
    }

    fn steered(&mut self, text: Digest, cx: &mut Cx<'_>) {
        let words = format!("PERSON: {}", cx.text(&text));
        self.tell_worker(words, cx);
        self.forgive();
        self.listen_to_person(cx);
    }

    /// Parked for a cap, and a person let it go on.
    fn resumed(&mut self, cx: &mut Cx<'_>) {
        self.go_on(cx);
    }

    fn draft(&self) -> Option<Digest> {
        self.tree.as_ref().map(|tree| tree.digest)
    }

    fn acceptance(&self) -> Option<Acceptance> {
        // Of what was met already there is nothing to deliver.
        self.settings.acceptance.clone().filter(|_| !self.already_met)
    }

    fn material(&self) -> Vec<Digest> {
        let references = self.settings.references.iter().map(|r| r.text);
        references.chain([self.settings.goal]).collect()
    }
}

impl GoalProtocol {
    /// Whether the worker's tools are used by us. Otherwise it has tools of its own.
    fn is_driven(&self, cx: &Cx<'_>) -> bool {
        cx.is_offered_tools(&self.settings.worker)
    }

    fn looked(&mut self, looked: Looked, awaiting: Awaiting, cx: &mut Cx<'_>) {
        let Some(tree) = looked.tree else {
            self.awaiting = awaiting;
            return;
        };
        let before = self.tree.replace(tree).map(|tree| tree.digest);
        match awaiting {
            Awaiting::FirstLook => self.try_first(cx),
            Awaiting::LookBefore => {
                self.note_silent_work(before, cx);
                self.note_drift_of_hands(cx);
                if self.has_come_to_nothing(before, cx) {
                    return;
                }
                // The critic may have spoken meanwhile.
                if self.claim.is_some() { self.look_at_claim(cx) } else { self.next_turn(cx) }
            }
            Awaiting::LookAtClaim => self.verify_claim(cx),
            Awaiting::LookToTry => self.try_between(cx),
            Awaiting::LookForCritic => {
                self.headway.seen(self.tree.as_ref());
                self.awaiting = Awaiting::Critic;
                self.ask_critic(cx);
            }
            Awaiting::LastLook(outcome) => cx.finish(outcome),
            other => self.awaiting = other,
        }
    }

    /// Says something to the worker, at this point in time.
    fn tell_worker(&mut self, text: String, cx: &mut Cx<'_>) -> Digest {
        let text = cx.intern(text);
        if self.is_driven(cx) {
            self.transcript.told(text);
        } else {
            self.words.push(text);
        }
        text
    }

    fn nudge(&mut self, why: Nudge, text: String, cx: &mut Cx<'_>) {
        let text = self.tell_worker(text, cx);
        cx.emit(EventKind::Nudged { why, text });
    }

    /// The state of the folder, shown as what the goal has come to.
    fn announce(&self, cx: &mut Cx<'_>) {
        if let Some(tree) = &self.tree {
            Work::Tree(tree.clone()).announce(self.claims, false, cx);
        }
    }
}

#[cfg(test)]
mod tests;
