//! `audit`: a worker changes files, the engine verifies and checks the change itself, one critic judges
//! every success criterion, and the findings decide where the task goes.
//!
//! Only the decisions are here. What a report is and when it counts is `report`, the table of routes is
//! `routes`, the engine's own findings are `checks`, what people are asked is `questions`, what agents are
//! told is `briefs`; failures, restating, citations and parking are the machine's and the panel's.

mod before;
mod briefs;
pub mod checks;
pub mod economy;
mod judgement;
mod people;
mod questions;
mod record;
pub mod report;
pub mod routes;
pub mod settings;
mod verifying;

use std::collections::BTreeSet;

use crate::corpus::Corpus;
use crate::digest::Digest;
use crate::effect::{EffectId, EffectKind};
use crate::event::EventKind;
use crate::evidence;
use crate::finding::{ENGINE, Finding};
use crate::identity::Lineage;
use crate::judging::{self, Panel, SeatReview};
use crate::machine::{AgentAnswer, Cx, TaskResult};
use crate::manifest::RunManifest;
use crate::outcome::{Halt, Outcome};
use crate::plan::NodePlan;
use crate::protocol::{Protocol, RuleBook};
use crate::question::Question;
use crate::review::{self, Verdict};
use crate::stall::Stall;
use crate::tree::{Acceptance, Examine, Examined, Look, Looked, Verified};
use crate::turn::Role;
use crate::work::Work;

use briefs::Red;
use checks::scope::AuditScope;
use judgement::AuditJudgement;
use record::{because, shown_criterion};
use report::AuditCriterion;
use routes::{Route, Routing};
pub use settings::{AuditSettings, MOST_ROUNDS, ROUNDS, VERIFY_TIMEOUT_MS};

/// Version 2 of the rules: replies are read in `reading`.
pub const RULE_BOOK: RuleBook = RuleBook { name: "audit", version: 2, begin, manifest };

fn manifest(plan: &NodePlan) -> Result<RunManifest, String> {
    const WORK: &[&str] = &[
        "task",
        "task_id",
        "given",
        "folder",
        "worker",
        "build_fixer",
        "researcher",
        "architect",
        "test_writer",
        "acceptance",
        "keeps_status",
        "report_dir",
    ];
    Ok(AuditSettings::read(plan)?.manifest().ruled_by(plan, WORK))
}

fn begin(plan: &NodePlan) -> Result<Box<dyn Protocol>, String> {
    let settings = AuditSettings::read(plan)?;
    if let Some(problem) = settings.problem() {
        return Err(problem);
    }
    Ok(Box::new(AuditProtocol {
        scope: AuditScope::new(&settings.scope),
        cap: settings.rounds,
        criteria: settings.criteria.clone(),
        round: 0,
        said: Vec::new(),
        research: Vec::new(),
        work: None,
        verified: Vec::new(),
        red: None,
        checked: Vec::new(),
        open: Vec::new(),
        panel: Panel::default(),
        lineage: Lineage::default(),
        before: None,
        dropped: BTreeSet::new(),
        patient_until: 0,
        before_first: before::Before::of(&settings),
        awaiting: Awaiting::Nothing,
        settings,
    }))
}

struct AuditProtocol {
    settings: AuditSettings,
    scope: AuditScope,
    /// Rounds allowed so far; a person may grant more.
    cap: u32,
    round: u32,
    /// The criteria as they stand after what people said.
    criteria: Vec<AuditCriterion>,
    /// What people changed or answered: part of the task from then on.
    said: Vec<String>,
    research: Vec<crate::brief::Reference>,
    work: Option<Work>,
    /// The verify runs on exactly this work.
    verified: Vec<(String, Verified)>,
    /// The verify command that failed on it.
    red: Option<Red>,
    /// The engine's own findings about it.
    checked: Vec<Finding>,
    /// What blocked when work was last judged.
    open: Vec<Finding>,
    panel: Panel<AuditJudgement>,
    lineage: Lineage,
    /// What was judged in the round before.
    before: Option<Corpus>,
    /// Findings a person has taken out of the task, by number.
    dropped: BTreeSet<u32>,
    /// A person wanted these rounds: no sign of stalling ends them.
    patient_until: u32,
    before_first: before::Before,
    awaiting: Awaiting,
}

/// What the task waits for.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Awaiting {
    Nothing,
    FirstLook,
    /// The verify command of this index, before anybody worked.
    Trial(usize),
    /// How the task should be built.
    Architect,
    /// Its tests, and then what they are.
    TestWriter,
    TestsLook,
    Worker,
    Look {
        by_hand: bool,
    },
    Verify(usize),
    /// What the change did to tests.
    Examine,
    Critic,
    Research,
    Person(Question),
}

impl Protocol for AuditProtocol {
    fn start(&mut self, cx: &mut Cx<'_>) {
        if self.criteria.is_empty() {
            return self.without_criteria(cx);
        }
        self.set_out(cx);
    }

    fn answered(&mut self, answer: AgentAnswer, cx: &mut Cx<'_>) {
        match answer.role() {
            // What a worker says about its work counts for nothing: the folder is looked at.
            Role::Worker => {
                self.note_self_verdict(&answer, cx);
                let is_first = self.awaiting == Awaiting::TestWriter;
                let what = if is_first { Awaiting::TestsLook } else { Awaiting::Look { by_hand: false } };
                self.look(what, cx);
            }
            Role::Advisor => self.researched(answer, cx),
            Role::Critic => {
                let (settings, critic) = (&self.settings, answer.agent().to_owned());
                let path = briefs::report_path(settings, self.round);
                let expected = report::ExpectedReport {
                    task_id: &settings.task_id,
                    round: self.round,
                    criteria: &self.criteria,
                    by: &critic,
                    report_path: &path,
                };
                let (economy, block_on) = (settings.economy, settings.block_on);
                let heard = self
                    .panel
                    .heard(answer, cx, |reading| AuditJudgement::read(reading, &expected, economy, block_on));
                self.judged(heard, cx);
            }
        }
    }

    fn task_done(&mut self, _effect: &EffectId, what: TaskResult, cx: &mut Cx<'_>) {
        match (what, std::mem::replace(&mut self.awaiting, Awaiting::Nothing)) {
            (TaskResult::Looked(looked), Awaiting::Critic) => {
                self.awaiting = Awaiting::Critic;
                let heard = self.panel.looked(&looked, cx);
                self.judged(heard, cx);
            }
            (TaskResult::Looked(looked), awaiting) => self.looked(looked, awaiting, cx),
            (TaskResult::Verified(verified), Awaiting::Trial(at)) => self.tried(at, &verified, cx),
            (TaskResult::Verified(verified), Awaiting::Verify(at)) => self.verified(at, verified, cx),
            (TaskResult::Examined(examined), Awaiting::Examine) => self.check(&examined, cx),
            (TaskResult::Said { text, by }, Awaiting::Person(question)) => {
                let said = questions::read(&question, cx.text(&text));
                self.said(said, question, &by, cx);
            }
            (_, awaiting) => {
                self.awaiting = awaiting;
            }
        }
    }

    /// Nobody could judge the work; it is judged again.
    fn resumed(&mut self, cx: &mut Cx<'_>) {
        self.convene(cx);
    }

    fn raise_rounds(&mut self, rounds: u32) {
        self.cap = self.cap.max(rounds).min(MOST_ROUNDS);
    }

    fn draft(&self) -> Option<Digest> {
        self.work.as_ref().map(Work::blob)
    }

    fn acceptance(&self) -> Option<Acceptance> {
        self.settings.worker.as_ref()?;
        Some(self.settings.acceptance.clone().unwrap_or_default())
    }

    fn material(&self) -> Vec<Digest> {
        let settings = &self.settings;
        let mut all = vec![settings.task];
        all.extend(settings.references.iter().map(|r| r.text));
        all.extend(settings.given.iter().flat_map(Work::material));
        all
    }
}

impl AuditProtocol {
    /// Criteria are there: judge what was brought, or see where the worker begins.
    fn set_out(&mut self, cx: &mut Cx<'_>) {
        match self.settings.given.clone() {
            Some(given) => {
                self.round = 1;
                cx.emit(EventKind::RoundStarted { round: 1, of: 1 });
                self.take_work(given, true, cx);
                if !self.settings.verify.is_empty() {
                    let message = "the verify commands did not run: a review has no folder to run them in";
                    cx.emit(EventKind::Warned { message: message.to_owned() });
                }
                self.judge(cx);
            }
            None => self.look(Awaiting::FirstLook, cx),
        }
    }

    fn look(&mut self, awaiting: Awaiting, cx: &mut Cx<'_>) {
        self.awaiting = awaiting;
        cx.look(Look { tree: None, paths: Vec::new() });
    }

    fn looked(&mut self, looked: Looked, awaiting: Awaiting, cx: &mut Cx<'_>) {
        let Some(tree) = looked.tree else {
            self.awaiting = awaiting;
            return;
        };
        match awaiting {
            Awaiting::FirstLook => {
                self.work = Some(Work::Tree(tree));
                self.try_out(0, cx);
            }
            Awaiting::TestsLook => self.tests_written(tree, cx),
            Awaiting::Look { by_hand } => {
                self.take_work(Work::Tree(tree), by_hand, cx);
                self.verify(0, cx);
            }
            other => self.awaiting = other,
        }
    }

    /// The work of this round. Whatever is known about other work says nothing about it.
    fn take_work(&mut self, work: Work, given: bool, cx: &mut Cx<'_>) {
        work.announce(self.round, given, cx);
        self.work = Some(work);
        self.verified.clear();
        self.red = None;
        self.checked.clear();
    }

    /// Every dispatch of a worker is a round.
    fn begin_round(&mut self, cx: &mut Cx<'_>) {
        if self.round >= self.cap {
            let because = format!("No round of {} is left.", self.cap);
            return self.ask(self.stuck(&because, &self.open), cx);
        }
        self.round += 1;
        cx.emit(EventKind::RoundStarted { round: self.round, of: self.cap });
        self.awaiting = Awaiting::Worker;
        self.call_worker(cx);
    }

    /// The verify commands are green: the engine's own checks, then the critic.
    fn judge(&mut self, cx: &mut Cx<'_>) {
        match self.work.as_ref().and_then(Work::tree).map(|tree| tree.digest) {
            // What was brought to a review has no folder with both versions of its files.
            Some(tree) if self.settings.examine && self.settings.worker.is_some() => {
                self.awaiting = Awaiting::Examine;
                cx.task(EffectKind::Examine(Examine { tree }));
            }
            _ => self.check(&Examined::default(), cx),
        }
    }

    fn check(&mut self, examined: &Examined, cx: &mut Cx<'_>) {
        if let Some(tree) = self.work.as_ref().and_then(Work::tree) {
            let mut found = checks::run(cx.text(&tree.diff), &tree.changes, &self.scope, examined);
            found.extend(self.changed_tests(&tree.changes));
            self.checked = found;
        }
        self.convene(cx);
    }

    /// One critic, one spawn, all axes. Also called to judge the same work again.
    fn convene(&mut self, cx: &mut Cx<'_>) {
        self.awaiting = Awaiting::Critic;
        if let Err(unseen) = self.call_critic(cx) {
            cx.park(judging::unverified(&unseen));
        }
    }

    fn judged(&mut self, heard: Option<Vec<SeatReview<AuditJudgement>>>, cx: &mut Cx<'_>) {
        let Some(heard) = heard.into_iter().flatten().next() else { return };
        let Some(work) = self.work.clone() else { return };
        let reports = heard.parts.iter().map(|p| p.judgement.report.clone()).collect();
        let Some(mut report) = report::merge(reports) else { return };
        let critic = heard.critic().to_owned();
        let mut own = self.checked.clone();
        evidence::check(&mut own, self.panel.corpus());
        report.findings.extend(own);

        let mut findings = report.merged(&critic);
        let mut lineage = self.lineage.clone();
        let moved = lineage.take(
            self.round,
            work.artifact(),
            &mut findings,
            self.panel.corpus(),
            self.before.as_ref(),
        );
        let routing = self.decide(&findings);
        // Who reads nothing but the report must not take what was seen for the whole.
        report.partial |= !heard.unseen.is_empty();
        self.report(&report, cx);
        let unverified = self.unverified(&routing, &report, &heard);
        let verdict = match routing.route {
            _ if unverified.is_some() => Verdict::Unverified,
            Route::Commit => Verdict::Approved,
            _ => Verdict::Rejected,
        };
        let mut review = heard.review(self.round, work.artifact(), self.rubric(cx), verdict);
        review.open = review::open_items(&routing.blocking);
        review.notes = routing.notes.iter().map(Finding::line).collect();
        review.deviations.clone_from(&report.deviations);
        review.fixed.clone_from(&moved.fixed);
        review.criteria = report.criteria.iter().map(shown_criterion).collect();
        if verdict == Verdict::Approved {
            review.reason = review::reason(review.criteria.iter().map(review::CriterionVerdict::line));
        }
        review.findings = findings;
        review.findings.extend(heard.parts.iter().flat_map(|p| p.unsupported.clone()));
        let notes = review.notes.clone();
        cx.emit(EventKind::Reviewed { round: self.round, review });
        if let Some(unverified) = unverified {
            // The same work is judged again: this judgement is no round of its own.
            return cx.park(unverified);
        }
        self.lineage = lineage;
        self.before = Some(self.panel.corpus().clone());
        self.open.clone_from(&routing.blocking);
        if !moved.stalls.is_empty() && routing.route != Route::Commit {
            cx.emit(EventKind::Stalled { round: self.round, stalls: moved.stalls.clone() });
        }
        self.route(routing.route, &because(&routing, self.cap), cx);

        if self.settings.worker.is_none() {
            let draft = work.blob();
            return cx.finish(match routing.route {
                Route::Commit => Outcome::Approved { draft, overruled: false, notes },
                _ => Outcome::Rejected { draft: Some(draft), open: lines(&routing.blocking) },
            });
        }
        match (routing.route, moved.stall()) {
            (Route::Commit, _) => {
                cx.finish(Outcome::Approved { draft: work.blob(), overruled: false, notes });
            }
            // Only a person can say that what the program holds against it may stand.
            (Route::Executor, Some(stall))
                if self.settings.examine
                    && self.round > self.patient_until
                    && routing.blocking.iter().all(|f| f.by == ENGINE) =>
            {
                let because = format!("{} ({stall})", because(&routing, self.cap));
                self.ask(self.stuck(&because, &routing.blocking), cx);
            }
            (Route::Executor | Route::Researcher, Some(stall)) if self.round > self.patient_until => {
                cx.finish(self.halted(stall.halt()));
            }
            (_, stall) => self.follow(&routing, stall, cx),
        }
    }

    /// The decision about this round. What a person took out of the task does not block it.
    fn decide(&self, findings: &[Finding]) -> Routing {
        let is_dropped = |f: &&Finding| self.dropped.contains(&f.number) && f.number != 0;
        let (dropped, counted): (Vec<&Finding>, Vec<&Finding>) = findings.iter().partition(is_dropped);
        let counted: Vec<Finding> = counted.into_iter().cloned().collect();
        // A review has one round, which is no cap that somebody could raise.
        let cap = if self.settings.worker.is_some() { self.cap } else { u32::MAX };
        let mut routing = routes::decide(&counted, self.round, cap, self.settings.block_on);
        if routing.route == Route::Researcher && self.settings.researcher.is_none() {
            routing.route = Route::AskUser;
        }
        routing.notes.extend(dropped.into_iter().cloned());
        routing
    }

    fn follow(&mut self, routing: &Routing, stall: Option<Stall>, cx: &mut Cx<'_>) {
        let among = |routes: &[Route]| -> Vec<Finding> {
            routing.blocking.iter().filter(|f| routes.contains(&routes::of(&f.rule))).cloned().collect()
        };
        match (routing.route, self.settings.researcher.clone()) {
            (Route::Commit | Route::Executor, _) => self.begin_round(cx),
            (Route::Researcher, Some(researcher)) => {
                self.awaiting = Awaiting::Research;
                self.call_researcher(&researcher, &among(&[Route::Researcher]), cx);
            }
            (Route::AskUser, Some(_)) => self.ask(questions::askuser(&among(&[Route::AskUser])), cx),
            // Nobody else could find it out.
            (Route::AskUser | Route::Researcher, None) => {
                self.ask(questions::askuser(&among(&[Route::AskUser, Route::Researcher])), cx);
            }
            (Route::PlanChecker, _) => self.ask(questions::plan_checker(&among(&[Route::PlanChecker])), cx),
            (Route::Stuck, _) => {
                let mut sentence = because(routing, self.cap);
                if let Some(stall) = stall {
                    sentence = format!("{sentence} ({stall})");
                }
                self.ask(self.stuck(&sentence, &routing.blocking), cx);
            }
        }
    }

    fn stuck(&self, because: &str, open: &[Finding]) -> Question {
        questions::stuck(because, open, self.round, self.settings.examine)
    }

    fn halted(&self, reason: Halt) -> Outcome {
        let mut open = lines(&self.open);
        open.extend(self.red.as_ref().map(Red::sentence));
        Outcome::Halted { reason, draft: self.draft(), open }
    }
}

fn lines(findings: &[Finding]) -> Vec<String> {
    findings.iter().map(Finding::line).collect()
}

#[cfg(test)]
mod tests;
