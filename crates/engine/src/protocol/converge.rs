//! `converge`: a critic answers every criterion and names one failure scenario, pass after pass, until
//! nothing is left to mend.
//!
//! Only the decisions are here. The criteria sets are `sets`, the reply grammar is `grammar`, what a pass
//! found is `pass`, questions to a person are `escalation` and `answers`; calling critics and checking
//! what they cite is `judging`, identity across passes is `identity`.

pub mod escalation;
pub mod grammar;
pub mod sets;

mod answers;
mod pass;
mod settings;

pub use settings::Settings;

use std::collections::{BTreeMap, BTreeSet};

use crate::blocks::Blocks;
use crate::corpus::Corpus;
use crate::digest::Digest;
use crate::effect::EffectId;
use crate::event::Happened;
use crate::finding::Finding;
use crate::identity::{Lineage, Moved};
use crate::judging::{self, ColdCase, Heard, Panel};
use crate::machine::{Answered, Cx, Learned};
use crate::outcome::{Halt, Outcome};
use crate::plan::{NodePlan, Target};
use crate::protocol::{Protocol, RuleBook};
use crate::review::{Unseen, Verdict, open_items};
use crate::turn::Role;
use crate::work::Work;

use answers::{Said, Settled};
use escalation::{Escalation, MOST_PER_QUESTION};
use grammar::Claimed;
use pass::{PartReply, Pass};
use sets::ADVERSARIAL;

/// Version 1 of the rules.
pub const RULE_BOOK: RuleBook = RuleBook { name: "converge", version: 1, begin };

const WORKER_DRAFT: &str = include_str!("../prompts/converge-worker-draft-1.md");
const WORKER_FIX: &str = include_str!("../prompts/converge-worker-fix-1.md");
const CRITIC: &str = include_str!("../prompts/converge-critic-1.md");

fn begin(plan: &NodePlan) -> Result<Box<dyn Protocol>, String> {
    let settings = Settings::read(plan)?;
    let limit = settings.rounds;
    Ok(Box::new(Converge {
        settings,
        limit,
        rubric: None,
        round: 0,
        work: None,
        panel: Panel::default(),
        lineage: Lineage::default(),
        before: None,
        pass: None,
        unseen: Vec::new(),
        asked: Vec::new(),
        decisions: Vec::new(),
        put_off: BTreeMap::new(),
        deferred: BTreeSet::new(),
        failing: BTreeSet::new(),
        fixes: 0,
        escalated: 0,
    }))
}

struct Converge {
    settings: Settings,
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
    /// What no critic saw in this pass.
    unseen: Vec<Unseen>,
    /// The escalations a person is being asked about.
    asked: Vec<Escalation>,
    /// What a person decided in this pass, as the worker is told.
    decisions: Vec<String>,
    /// Criteria a person skipped, with the reason: they stay DEFER.
    put_off: BTreeMap<String, String>,
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
    /// Only one pass ran, or the last one applied no fix.
    stable: bool,
}

impl Conditions {
    const fn hold(self) -> bool {
        self.clean && self.unrealistic && self.nothing_new && self.stable
    }
}

impl Protocol for Converge {
    fn start(&mut self, cx: &mut Cx<'_>) {
        self.rubric = Some(cx.intern(self.settings.rubric()));
        self.begin_pass(cx);
        match self.settings.given.clone() {
            Some(given) => self.judge(given, true, cx),
            None => self.draft(cx),
        }
    }

    fn answered(&mut self, answer: Answered, cx: &mut Cx<'_>) {
        match answer.role() {
            Role::Worker => self.worked(answer, cx),
            Role::Critic => {
                let (criteria, round) = (&self.settings.criteria, self.round);
                let heard = self.panel.heard(answer, cx, |reading| {
                    grammar::parse(reading.reply, criteria, round)
                        .map(|reply| PartReply::new(reply, reading.critic))
                        .map_err(|breaches| grammar::problem(&breaches))
                });
                self.heard(heard, cx);
            }
            Role::Advisor => {}
        }
    }

    fn learned(&mut self, _effect: &EffectId, what: Learned, cx: &mut Cx<'_>) {
        match what {
            Learned::Looked(looked) => {
                let heard = self.panel.looked(&looked, cx);
                self.heard(heard, cx);
            }
            Learned::Said { text, by } => self.told(text, &by, cx),
            Learned::Verified(_) => {}
        }
    }

    /// Parked because something was unseen: the same work is judged again.
    fn taken_up(&mut self, cx: &mut Cx<'_>) {
        if let Some(work) = self.work.clone() {
            self.convene(&work, cx);
        }
    }

    fn raise_rounds(&mut self, rounds: u32) {
        self.limit = self.limit.max(rounds);
    }

    fn draft(&self) -> Option<Digest> {
        self.work.as_ref().map(Work::blob)
    }

    fn target(&self) -> Option<Target> {
        self.settings.out.clone()
    }

    fn material(&self) -> Vec<Digest> {
        self.settings.material()
    }
}

impl Converge {
    fn begin_pass(&mut self, cx: &mut Cx<'_>) {
        self.round += 1;
        self.pass = None;
        self.decisions.clear();
        cx.emit(Happened::RoundStarted { round: self.round, of: self.limit });
    }

    fn rubric(&self) -> Digest {
        self.rubric.unwrap_or(self.settings.task)
    }

    fn draft(&self, cx: &mut Cx<'_>) {
        let Some(worker) = &self.settings.worker else { return };
        let template = cx.intern(WORKER_DRAFT);
        let brief = Blocks::of(template)
            .references(&self.settings.references)
            .block("Task", self.settings.task)
            .block("Criteria", self.rubric())
            .line("Mode", "Initial Draft");
        cx.call_worker(worker, vec![brief.message()]);
    }

    fn worked(&mut self, answer: Answered, cx: &mut Cx<'_>) {
        let work = match Work::drafted(&answer, cx) {
            Ok(work) => work,
            Err(failure) => return cx.unusable(answer, failure),
        };
        if self.pass.is_none() {
            return self.judge(work, false, cx);
        }
        // What the turn applied is seen from the digests, not from what anybody says about it.
        let applied = self.work.as_ref().is_none_or(|before| before.artifact() != work.artifact());
        self.end_pass(applied, Some(work), cx);
    }

    fn judge(&mut self, work: Work, given: bool, cx: &mut Cx<'_>) {
        work.announce(self.round, given, cx);
        self.convene(&work, cx);
        self.work = Some(work);
    }

    fn convene(&mut self, work: &Work, cx: &mut Cx<'_>) {
        let subject = work.subject(cx.texts());
        let task = self.settings.task;
        let case = ColdCase {
            instructions: &[CRITIC],
            number: Some(("Pass", self.round)),
            severity: None,
            lens: None,
            task_id: None,
            task: (!cx.text(&task).trim().is_empty()).then_some(task),
            rubric: self.rubric(),
            references: &self.settings.references,
            evidence: &[],
            subject: &subject,
            tree: None,
            schema: None,
            report: None,
            max_parts: self.settings.max_parts,
            part: None,
        };
        let corpus = work.corpus(cx.texts());
        if let Err(unseen) = self.panel.convene(self.round, &self.settings.critics, &case, corpus, cx) {
            cx.park(judging::unverified(&unseen));
        }
    }

    fn heard(&mut self, heard: Option<Vec<Heard<PartReply>>>, cx: &mut Cx<'_>) {
        let (Some(heard), Some(work)) = (heard.and_then(|h| h.into_iter().next()), self.work.clone()) else {
            return;
        };
        let mut pass = Pass::of(&heard, &self.settings.criteria, &self.put_off);
        let corpus = self.panel.corpus().clone();
        let (round, artifact) = (self.round, work.artifact());
        let moved = self.lineage.take(round, artifact, &mut pass.findings, &corpus, self.before.as_ref());
        self.before = Some(corpus);
        self.unseen.clone_from(&heard.unseen);
        self.count_fixes(&pass);
        if !moved.stalls.is_empty() {
            cx.emit(Happened::Stalled { round, stalls: moved.stalls.clone() });
        }
        self.record(&heard, &pass, &moved, &work, cx);
        self.defer_what_the_critic_defers(&pass, heard.critic(), cx);
        self.decide(pass, &moved, &work, cx);
    }

    /// After the critic: converged, stopped, at the cap, or on to questions and fixes.
    fn decide(&mut self, pass: Pass, moved: &Moved, work: &Work, cx: &mut Cx<'_>) {
        let stall = moved.stalls.first().copied().filter(|_| !pass.is_clean() || pass.realistic);
        let conditions = self.conditions(&pass, false);
        let escalations = pass.escalations.clone();
        self.asked.clear();
        let pass = self.pass.insert(pass);
        if self.settings.worker.is_none() {
            let open = lines(&pass.blocking());
            let passes = conditions.clean && conditions.unrealistic;
            return if passes { self.approve(work, cx) } else { cx.finish(rejected(work, open)) };
        }
        if conditions.hold() {
            return self.converge(work, cx);
        }
        if let Some(stall) = stall {
            self.result("CONTINUE (0 fixed)", cx);
            return self.stop(stall.halt(), &stall.halt().to_string(), cx);
        }
        if self.round >= self.limit {
            self.result("SAFETY CAP", cx);
            let line = format!("⚠ Critic safety cap ({} passes). Review recommended.", self.round);
            return self.halt(Halt::Cap, line, cx);
        }
        if escalations.is_empty() {
            return self.mend(cx);
        }
        let items = u32::try_from(escalations.len()).unwrap_or(u32::MAX);
        self.escalated = self.escalated.saturating_add(items);
        let because = format!("=== Result: ESCALATE ({items} items) ===");
        cx.emit(Happened::Escalated { round: self.round, to: "user".into(), because });
        self.asked = escalations;
        self.ask(false, cx);
    }

    fn conditions(&self, pass: &Pass, applied: bool) -> Conditions {
        Conditions {
            clean: pass.is_clean(),
            unrealistic: !pass.realistic,
            nothing_new: pass.has_nothing_new(),
            stable: self.round < 2 || !applied,
        }
    }

    /// Asks about the next escalations, as many as one question holds.
    fn ask(&self, again: bool, cx: &mut Cx<'_>) {
        let batch = self.asked.get(..MOST_PER_QUESTION).unwrap_or(&self.asked);
        cx.ask(answers::question(batch, again));
    }

    fn told(&mut self, text: Digest, by: &str, cx: &mut Cx<'_>) {
        let batch: Vec<Escalation> = self.asked.iter().take(MOST_PER_QUESTION).cloned().collect();
        let said = match answers::read(&batch, cx.text(&text)) {
            Said::Stop => return self.decline(cx),
            Said::Settled(settled) => settled,
        };
        if !said.is_empty() {
            cx.emit(Happened::Decided { by: by.to_owned(), text });
        }
        for (at, how) in &said {
            let Some(escalation) = batch.get(*at) else { continue };
            match how {
                Settled::Skipped => self.skip(escalation, by, cx),
                Settled::Decided(choice) => {
                    let Escalation { criterion, question, .. } = escalation;
                    self.decisions.push(format!("[{criterion}] {question} → {choice}"));
                }
            }
        }
        let answered = |n: usize| said.iter().any(|(at, _)| *at == n);
        let mut n = 0;
        self.asked.retain(|_| {
            n += 1;
            !answered(n - 1)
        });
        if self.asked.is_empty() {
            return self.mend(cx);
        }
        let left_open = said.len() < batch.len();
        self.ask(left_open, cx);
    }

    fn skip(&mut self, escalation: &Escalation, by: &str, cx: &mut Cx<'_>) {
        let Escalation { criterion, issue, .. } = escalation;
        let reason = format!("skipped: {issue}");
        if let Some(pass) = &mut self.pass {
            pass.put_off(criterion, &reason);
        }
        self.put_off.insert(criterion.clone(), reason.clone());
        self.deferred.insert(criterion.clone());
        let (round, criterion) = (self.round, criterion.clone());
        cx.emit(Happened::Deferred { round, criterion, reason, by: by.to_owned() });
    }

    fn decline(&mut self, cx: &mut Cx<'_>) {
        self.result("CONTINUE (0 fixed)", cx);
        self.stop(Halt::Stuck, "declined", cx);
    }

    /// One worker turn applies what was decided and mends what failed; without either there is none.
    fn mend(&mut self, cx: &mut Cx<'_>) {
        let (Some(pass), Some(worker)) = (&self.pass, &self.settings.worker) else { return };
        let fails = pass.fails();
        if fails.is_empty() && self.decisions.is_empty() {
            return self.end_pass(false, None, cx);
        }
        let Some(work) = &self.work else { return };
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

    /// The pass is over: its result line, then the end or the next one. What changed is judged again.
    fn end_pass(&mut self, applied: bool, work: Option<Work>, cx: &mut Cx<'_>) {
        let (Some(pass), Some(judged)) = (&self.pass, &self.work) else { return };
        if self.conditions(pass, applied).hold() {
            let judged = judged.clone();
            return self.converge(&judged, cx);
        }
        let fixed = pass.fails().len();
        let next = work.unwrap_or_else(|| judged.clone());
        self.result(&format!("CONTINUE ({fixed} fixed)"), cx);
        self.begin_pass(cx);
        self.judge(next, false, cx);
    }

    /// Every condition holds; but what nobody saw is not clean.
    fn converge(&mut self, work: &Work, cx: &mut Cx<'_>) {
        if !self.unseen.is_empty() {
            return cx.park(judging::unverified(&self.unseen));
        }
        let counts = format!("({} passes, {} fixes, {} escalations)", self.round, self.fixes, self.escalated);
        self.result(&format!("CONVERGED {counts}"), cx);
        cx.emit(Happened::Summarised { line: format!("✓ Critic converged {counts}") });
        self.approve(work, cx);
    }

    fn approve(&self, work: &Work, cx: &mut Cx<'_>) {
        if !self.unseen.is_empty() {
            return cx.park(judging::unverified(&self.unseen));
        }
        let deferred = self.pass.iter().flat_map(Pass::deferred);
        let notes = deferred.map(|a| format!("{} deferred: {}", a.criterion, a.because)).collect();
        cx.finish(Outcome::Approved { draft: work.blob(), overruled: false, notes });
    }

    fn stop(&mut self, reason: Halt, because: &str, cx: &mut Cx<'_>) {
        let line = format!("⚠ Critic stopped: {because} ({} passes). Review recommended.", self.round);
        self.halt(reason, line, cx);
    }

    fn halt(&mut self, reason: Halt, line: String, cx: &mut Cx<'_>) {
        cx.emit(Happened::Summarised { line });
        let open = self.pass.as_ref().map(|p| lines(&p.blocking())).unwrap_or_default();
        cx.finish(Outcome::Halted { reason, draft: self.work.as_ref().map(Work::blob), open });
    }

    fn result(&self, result: &str, cx: &mut Cx<'_>) {
        cx.emit(Happened::RoundEnded { round: self.round, line: format!("=== Result: {result} ===") });
    }

    /// FAILs that were sent to the worker and are PASS or DEFER now.
    fn count_fixes(&mut self, pass: &Pass) {
        let clean = pass.answers.iter().filter(|a| a.standpoint.is_clean()).map(|a| a.criterion.as_str());
        for name in clean.chain((!pass.realistic).then_some(ADVERSARIAL)) {
            self.fixes += u32::from(self.failing.remove(name));
        }
    }

    fn defer_what_the_critic_defers(&mut self, pass: &Pass, critic: &str, cx: &mut Cx<'_>) {
        for answer in pass.deferred().filter(|a| !a.put_off) {
            if self.deferred.insert(answer.criterion.clone()) {
                cx.emit(Happened::Deferred {
                    round: self.round,
                    criterion: answer.criterion.clone(),
                    reason: answer.because.clone(),
                    by: critic.to_owned(),
                });
            }
        }
    }

    fn record(&self, heard: &Heard<PartReply>, pass: &Pass, moved: &Moved, work: &Work, cx: &mut Cx<'_>) {
        let passes = pass.is_clean() && !pass.realistic;
        let verdict = if passes { Verdict::Approved } else { Verdict::Rejected };
        let mut review = heard.review(self.round, work.artifact(), self.rubric(), verdict);
        review.open = open_items(&pass.blocking());
        review.criteria = pass.verdicts();
        review.notes = pass.deferred().map(|a| format!("{} deferred: {}", a.criterion, a.because)).collect();
        review.deviations.clone_from(&pass.deviations);
        review.deviations.extend(self.false_claims(pass));
        review.fixed.clone_from(&moved.fixed);
        review.findings =
            pass.findings.iter().chain(&moved.merged).chain(&pass.unsupported).cloned().collect();
        cx.emit(Happened::Reviewed { round: self.round, review });
    }

    /// Results the critic states that are not those the verdicts add up to.
    fn false_claims(&self, pass: &Pass) -> Vec<String> {
        let computed = if self.conditions(pass, false).hold() {
            (Claimed::Converged, "CONVERGED")
        } else if self.round >= self.limit {
            (Claimed::SafetyCap, "SAFETY CAP")
        } else if pass.escalations.is_empty() {
            (Claimed::Continue, "CONTINUE")
        } else {
            (Claimed::Escalate, "ESCALATE")
        };
        let differs = |claim: &&grammar::Claim| claim.result != computed.0;
        let said = |claim: &grammar::Claim| {
            format!("the critic claims the result `{}`; it is {}", claim.text, computed.1)
        };
        pass.claims.iter().filter(differs).map(said).collect()
    }
}

fn lines(findings: &[Finding]) -> Vec<String> {
    findings.iter().map(Finding::line).collect()
}

fn rejected(work: &Work, open: Vec<String>) -> Outcome {
    Outcome::Rejected { draft: Some(work.blob()), open }
}

#[cfg(test)]
mod tests;
