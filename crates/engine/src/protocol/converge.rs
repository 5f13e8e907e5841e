//! `converge`: a critic answers every criterion and names one failure scenario, pass after pass, until
//! nothing is left to mend.
//!
//! Only the decisions are here. The criteria sets are `sets`, replies are read in `reading::pass`, what a pass
//! found is `pass`, questions to a person are `escalation`, `asking` and `answers`, what goes on record is
//! `recording`. Calling critics and checking what they cite is `judging`, identity across passes is
//! `identity`.

pub mod escalation;
pub mod sets;

mod answers;
mod asking;
mod pass;
mod recording;
pub mod settings;

pub use settings::ConvergeSettings;

use std::collections::{BTreeMap, BTreeSet};

use crate::blocks::Blocks;
use crate::brief::one_line;
use crate::corpus::Corpus;
use crate::digest::Digest;
use crate::effect::EffectId;
use crate::event::EventKind;
use crate::finding::Finding;
use crate::identity::{Lineage, Moved};
use crate::judging::{self, ColdCase, Panel, SeatReview};
use crate::machine::{AgentAnswer, Cx, TaskResult};
use crate::manifest::RunManifest;
use crate::outcome::{Halt, Outcome};
use crate::plan::{NodePlan, Target};
use crate::protocol::{Protocol, RuleBook};
use crate::reading::pass as pass_reader;
use crate::turn::Role;
use crate::work::Work;

use escalation::Escalation;
use pass::{CitableText, PartReply, Pass};

/// Version 2 of the rules: replies are read in `reading`.
pub const RULE_BOOK: RuleBook = RuleBook { name: "converge", version: 2, begin, manifest };

const WORKER_DRAFT: &str = include_str!("../prompts/converge-worker-draft-1.md");
const WORKER_FIX: &str = include_str!("../prompts/converge-worker-fix-1.md");
const CRITIC: &str = include_str!("../prompts/converge-critic-1.md");
const FORM: &str = include_str!("../prompts/converge-form-1.md");
const FORM_JSON: &str = include_str!("../prompts/converge-form-json-1.md");

fn manifest(plan: &NodePlan) -> Result<RunManifest, String> {
    const WORK: &[&str] = &["task", "given", "worker", "out"];
    Ok(ConvergeSettings::read(plan)?.manifest().ruled_by(plan, WORK))
}

fn begin(plan: &NodePlan) -> Result<Box<dyn Protocol>, String> {
    let settings = ConvergeSettings::read(plan)?;
    let limit = if settings.worker.is_some() { settings.rounds } else { 1 };
    Ok(Box::new(ConvergeProtocol {
        settings,
        limit,
        rubric: None,
        round: 0,
        work: None,
        panel: Panel::default(),
        lineage: Lineage::default(),
        before: None,
        pass: None,
        asked: Vec::new(),
        decisions: Vec::new(),
        put_off: BTreeMap::new(),
        settled: BTreeSet::new(),
        deferred: BTreeSet::new(),
        failing: BTreeSet::new(),
        fixes: 0,
        escalated: 0,
    }))
}

struct ConvergeProtocol {
    settings: ConvergeSettings,
    limit: u32,
    rubric: Option<Digest>,
    /// The number of the pass.
    round: u32,
    work: Option<Work>,
    panel: Panel<PartReply>,
    lineage: Lineage,
    /// The work of the pass before, as evidence is checked against it.
    before: Option<Corpus>,
    /// This pass, once its critic was heard.
    pass: Option<Pass>,
    /// The escalations a person is being asked about.
    asked: Vec<Escalation>,
    /// What a person decided in this pass, as the worker is told.
    decisions: Vec<String>,
    /// Criteria a person skipped, with the reason: they stay DEFER.
    put_off: BTreeMap<String, String>,
    /// The numbers of their findings: one that is gone was not fixed.
    settled: BTreeSet<u32>,
    /// Criteria whose deferral is on record.
    deferred: BTreeSet<String>,
    /// Criteria whose FAIL the worker was sent and that were not judged clean since.
    failing: BTreeSet<String>,
    /// FAILs later judged PASS or DEFER.
    fixes: u32,
    /// Escalations put to a person.
    escalated: u32,
}

/// What the conditions of convergence say about a pass.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Conditions {
    /// Every criterion PASS or DEFER.
    clean: bool,
    /// The failure scenario is unrealistic, with evidence.
    unrealistic: bool,
    /// No finding unseen in earlier passes.
    nothing_new: bool,
    /// Only one pass ran, or this one applied no fix: by digest, the work is still what was judged.
    stable: bool,
}

/// How a pass ends, by the verdicts and not by the critic's claim.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum PassEnd {
    Converged,
    Continue,
    Escalate,
    SafetyCap,
}

impl Conditions {
    const fn hold(self) -> bool {
        self.clean && self.unrealistic && self.nothing_new && self.stable
    }
}

impl Protocol for ConvergeProtocol {
    fn start(&mut self, cx: &mut Cx<'_>) {
        self.rubric = Some(cx.intern(self.settings.rubric()));
        for item in &self.settings.deferred {
            let message = format!(
                "still deferred from an earlier run: {} ({}, by {}; {})",
                item.criterion, item.reason, item.by, item.id
            );
            cx.emit(EventKind::Warned { message });
        }
        self.begin_pass(cx);
        match self.settings.given.clone() {
            Some(given) => self.judge(given, true, cx),
            None => self.call_for_draft(cx),
        }
    }

    fn answered(&mut self, answer: AgentAnswer, cx: &mut Cx<'_>) {
        match answer.role() {
            Role::Worker => self.worked(answer, cx),
            Role::Critic => {
                let (criteria, round) = (&self.settings.criteria, self.round);
                let beside = self.shown_beside(cx);
                let heard = self.panel.heard(answer, cx, |reading| {
                    if let Some(person) = reading.person {
                        return Ok(PartReply::by_person(person, criteria, reading.critic));
                    }
                    pass_reader::read(reading.reply, criteria, round, reading.shown)
                        .map(|reply| PartReply::new(reply, reading.critic, &beside))
                });
                self.heard(heard, cx);
            }
            Role::Advisor => {}
        }
    }

    fn task_done(&mut self, _effect: &EffectId, what: TaskResult, cx: &mut Cx<'_>) {
        match what {
            TaskResult::Looked(looked) => {
                let heard = self.panel.looked(&looked, cx);
                self.heard(heard, cx);
            }
            TaskResult::Said { text, by } => self.told(text, &by, cx),
            _ => {}
        }
    }

    /// Parked because something was unseen: the same work is judged again.
    fn resumed(&mut self, cx: &mut Cx<'_>) {
        if let Some(work) = self.work.clone() {
            self.convene(&work, cx);
        }
    }

    fn raise_rounds(&mut self, rounds: u32) {
        if self.settings.worker.is_some() {
            self.limit = self.limit.max(rounds);
        }
    }

    fn draft(&self) -> Option<Digest> {
        self.work.as_ref().map(Work::blob)
    }

    fn target(&self) -> Option<Target> {
        // A review names the file it judges and writes none.
        self.settings.out.clone().filter(|_| self.settings.worker.is_some())
    }

    fn material(&self) -> Vec<Digest> {
        self.settings.material()
    }
}

impl ConvergeProtocol {
    fn begin_pass(&mut self, cx: &mut Cx<'_>) {
        self.round += 1;
        self.pass = None;
        self.decisions.clear();
        cx.emit(EventKind::RoundStarted { round: self.round, of: self.limit });
    }

    fn rubric(&self) -> Digest {
        self.rubric.unwrap_or(self.settings.task)
    }

    fn call_for_draft(&self, cx: &mut Cx<'_>) {
        let Some(worker) = &self.settings.worker else { return };
        let template = cx.intern(WORKER_DRAFT);
        let brief = Blocks::of(template)
            .references(&self.settings.references)
            .block("Task", self.settings.task)
            .block("Criteria", self.rubric())
            .line("Mode", "Initial Draft");
        cx.call_worker(worker, vec![brief.message()]);
    }

    fn worked(&mut self, answer: AgentAnswer, cx: &mut Cx<'_>) {
        let work = match Work::drafted(&answer, cx) {
            Ok(work) => work,
            Err(failure) => return cx.unusable(answer, failure),
        };
        if self.pass.is_none() {
            return self.judge(work, false, cx);
        }
        self.end_pass(work, cx);
    }

    fn judge(&mut self, work: Work, given: bool, cx: &mut Cx<'_>) {
        work.announce(self.round, given, cx);
        if let Work::Draft(draft) = &work
            && let Some(line) = pass_reader::verdict_line(cx.text(draft))
        {
            cx.emit(EventKind::SelfVerdictNoted { round: self.round, line });
        }
        self.convene(&work, cx);
        self.work = Some(work);
    }

    fn convene(&mut self, work: &Work, cx: &mut Cx<'_>) {
        let subject = work.subject(cx.texts());
        let task = self.settings.task;
        let case = ColdCase {
            instructions: &[CRITIC],
            severity: None,
            identities: None,
            identity: None,
            lens: None,
            task: (!cx.text(&task).trim().is_empty()).then_some(task),
            rubric: self.rubric(),
            rubrics: None,
            references: &self.settings.references,
            evidence: &[],
            subject: &subject,
            tree: None,
            schema: Some(pass_reader::SCHEMA),
            report: None,
            form: &FORM.replace("{pass}", &self.round.to_string()),
            structured: Some(FORM_JSON),
            passes_at: None,
            max_parts: self.settings.max_parts,
            part: None,
        };
        let corpus = work.corpus(cx.texts());
        if let Err(unseen) = self.panel.convene(self.round, &self.settings.critics, &case, corpus, cx) {
            cx.park(judging::unverified(&unseen));
        }
    }

    /// What the critic is shown beside the work, as evidence may cite it.
    fn shown_beside(&self, cx: &Cx<'_>) -> Vec<CitableText> {
        let beside =
            |name: &str, text: Digest| CitableText { name: name.into(), text: one_line(cx.text(&text)) };
        let own = [("task", self.settings.task), ("rubric", self.rubric())];
        let references = self.settings.references.iter().map(|r| (r.name.as_str(), r.text));
        references.chain(own).map(|(name, text)| beside(name, text)).collect()
    }

    fn heard(&mut self, heard: Option<Vec<SeatReview<PartReply>>>, cx: &mut Cx<'_>) {
        let (Some(heard), Some(work)) = (heard.and_then(|h| h.into_iter().next()), self.work.clone()) else {
            return;
        };
        let mut pass = Pass::of(&heard, work.artifact(), &self.settings.criteria, &self.put_off);
        let corpus = self.panel.corpus().clone();
        let (round, artifact) = (self.round, work.artifact());
        let mut lineage = self.lineage.clone();
        let moved = lineage.take(round, artifact, &mut pass.findings, &corpus, self.before.as_ref());
        let ended = self.ended(&pass);
        if !moved.stalls.is_empty() && ended != PassEnd::Converged {
            cx.emit(EventKind::Stalled { round, stalls: moved.stalls.clone() });
        }
        self.record(&heard, &pass, &moved, &work, ended, cx);
        if ended == PassEnd::Converged && !heard.unseen.is_empty() {
            // Whatever was seen is clean; what nobody saw is not. Judged again, it is still this pass.
            return cx.park(judging::unverified(&heard.unseen));
        }
        (self.lineage, self.before) = (lineage, Some(corpus));
        self.count_fixes(&pass);
        self.defer_what_the_critic_defers(&pass, heard.critic(), cx);
        self.decide(pass, ended, &moved, &work, cx);
    }

    /// After the critic: converged, stopped, at the cap, or on to questions and fixes.
    fn decide(&mut self, pass: Pass, ended: PassEnd, moved: &Moved, work: &Work, cx: &mut Cx<'_>) {
        let stall = moved.stall().filter(|_| !pass.is_clean() || pass.realistic);
        let escalations = pass.escalations.clone();
        let items = u32::try_from(escalations.len()).unwrap_or(u32::MAX);
        self.asked.clear();
        let pass = self.pass.insert(pass);
        if ended == PassEnd::Converged {
            return self.converge(work, cx);
        }
        if self.settings.worker.is_none() {
            let open = lines(&pass.blocking());
            let result =
                if items == 0 { "CONTINUE (0 fixed)".into() } else { format!("ESCALATE ({items} items)") };
            self.result(&result, cx);
            cx.emit(EventKind::Summarised { line: self.stopped("rejected") });
            return cx.finish(Outcome::Rejected { draft: Some(work.blob()), open });
        }
        if let Some(stall) = stall {
            // It does not continue, so it has no result line of that name; the summary says why it stops.
            return self.stop(stall.halt(), &stall.halt().to_string(), cx);
        }
        if ended == PassEnd::SafetyCap {
            self.result("SAFETY CAP", cx);
            let line = format!("⚠ Critic safety cap ({} passes). Review recommended.", self.round);
            return self.halt(Halt::Cap, line, cx);
        }
        if escalations.is_empty() {
            return self.mend(cx);
        }
        self.escalated = self.escalated.saturating_add(items);
        let because = format!("=== Result: ESCALATE ({items} items) ===");
        cx.emit(EventKind::Escalated { round: self.round, to: "user".into(), because });
        self.asked = escalations;
        self.ask(false, cx);
    }

    /// A review is one pass: there are no earlier ones to compare with.
    fn ended(&self, pass: &Pass) -> PassEnd {
        let conditions = self.conditions(pass);
        let is_loop = self.settings.worker.is_some();
        if conditions.hold() || !is_loop && conditions.clean && conditions.unrealistic {
            PassEnd::Converged
        } else if is_loop && self.round >= self.limit {
            PassEnd::SafetyCap
        } else if pass.escalations.is_empty() {
            PassEnd::Continue
        } else {
            PassEnd::Escalate
        }
    }

    fn conditions(&self, pass: &Pass) -> Conditions {
        let stands = self.work.as_ref().is_some_and(|work| work.artifact() == pass.artifact);
        Conditions {
            clean: pass.is_clean(),
            unrealistic: !pass.realistic,
            nothing_new: pass.has_nothing_new(&self.deferred),
            stable: self.round < 2 || stands,
        }
    }

    /// One worker turn applies what was decided and mends what failed; without either there is none.
    fn mend(&mut self, cx: &mut Cx<'_>) {
        let (Some(pass), Some(worker), Some(work)) = (&self.pass, &self.settings.worker, &self.work) else {
            return;
        };
        let fails = pass.fails();
        if fails.is_empty() && self.decisions.is_empty() {
            let work = work.clone();
            return self.end_pass(work, cx);
        }
        let template = cx.intern(WORKER_FIX);
        let fixes: Vec<String> = fails.iter().map(|f| format!("[{}] {}", f.rule, f.line())).collect();
        let brief = Blocks::of(template)
            .references(&self.settings.references)
            .block("Task", self.settings.task)
            .block("Criteria", self.rubric())
            .line("Mode", "Revision")
            .block("Current Draft", work.blob())
            .list("Fixes", &fixes)
            .list("Decisions", &self.decisions);
        self.failing.extend(fails.iter().map(|f| f.rule.clone()));
        cx.call_worker(worker, vec![brief.message()]);
    }

    /// The pass is over: its result line, then the next one. It never ends here: what a worker changed or
    /// a person settled is judged again, so that an approval rests on a review of exactly this work.
    fn end_pass(&mut self, work: Work, cx: &mut Cx<'_>) {
        let fixed = self.pass.as_ref().map_or(0, |pass| pass.fails().len());
        self.result(&format!("CONTINUE ({fixed} fixed)"), cx);
        self.begin_pass(cx);
        self.judge(work, false, cx);
    }

    fn converge(&self, work: &Work, cx: &mut Cx<'_>) {
        let counts = format!("({} passes, {} fixes, {} escalations)", self.round, self.fixes, self.escalated);
        self.result(&format!("CONVERGED {counts}"), cx);
        cx.emit(EventKind::Summarised { line: format!("✓ Critic converged {counts}") });
        let deferred = self.pass.iter().flat_map(Pass::deferred);
        let notes = deferred.map(|a| format!("{} deferred: {}", a.criterion, a.because)).collect();
        cx.finish(Outcome::Approved { draft: work.blob(), overruled: false, notes });
    }

    fn stop(&self, reason: Halt, because: &str, cx: &mut Cx<'_>) {
        self.halt(reason, self.stopped(because), cx);
    }

    fn stopped(&self, because: &str) -> String {
        format!("⚠ Critic stopped: {because} ({} passes). Review recommended.", self.round)
    }

    fn halt(&self, reason: Halt, line: String, cx: &mut Cx<'_>) {
        cx.emit(EventKind::Summarised { line });
        let open = self.pass.as_ref().map(|p| lines(&p.blocking())).unwrap_or_default();
        cx.finish(Outcome::Halted { reason, draft: self.work.as_ref().map(Work::blob), open });
    }

    fn result(&self, result: &str, cx: &mut Cx<'_>) {
        cx.emit(EventKind::RoundEnded { round: self.round, line: format!("=== Result: {result} ===") });
    }
}

fn lines(findings: &[Finding]) -> Vec<String> {
    findings.iter().map(Finding::line).collect()
}

#[cfg(test)]
mod tests;
