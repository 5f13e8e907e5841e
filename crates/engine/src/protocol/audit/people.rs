//! What follows from a person's word: the ways out of a question, carried out.

use crate::budget::Usage;
use crate::effect::{CallFailure, FailureKind};
use crate::event::EventKind;
use crate::finding::Finding;
use crate::machine::{AgentAnswer, Cx};
use crate::outcome::{Halt, Outcome};
use crate::question::{About, Question};

use super::questions::{self, AuditAnswer};
use super::report::AuditReport;
use super::routes::{self, CRITIC_ERROR, Route};
use super::{AuditProtocol, Awaiting, MOST_ROUNDS, lines};

impl AuditProtocol {
    pub(super) fn ask(&mut self, question: Question, cx: &mut Cx<'_>) {
        cx.ask(question.clone());
        self.awaiting = Awaiting::Person(question);
    }

    /// Without criteria nobody is called: the engine reports, and the plan's author is asked.
    pub(super) fn without_criteria(&mut self, cx: &mut Cx<'_>) {
        let report = AuditReport::without_criteria(&self.settings.task_id, self.round.max(1));
        self.report(&report, cx);
        self.open = routes::without_criteria().blocking;
        self.route(Route::PlanChecker, "the task has no success criteria", cx);
        if self.settings.worker.is_none() {
            let draft = self.settings.given.as_ref().map(crate::work::Work::blob);
            return cx.finish(Outcome::Rejected { draft, open: lines(&self.open) });
        }
        self.ask(questions::without_criteria(), cx);
    }

    pub(super) fn said(&mut self, said: AuditAnswer, question: Question, by: &str, cx: &mut Cx<'_>) {
        match said {
            AuditAnswer::Unclear(why) => {
                let text = format!("{why}\n{}", question.text);
                self.ask(Question { text, ..question }, cx);
            }
            AuditAnswer::GiveUp => {
                let reason = if question.about == About::PlanChecker { Halt::Plan } else { Halt::Stuck };
                cx.finish(self.halted(reason));
            }
            AuditAnswer::Answer(text) => {
                let asked = questions::asked(&self.open).join(" ");
                self.said.push(format!("{by} was asked: {asked} {by} answered: {text}"));
                self.patient_until = self.round.saturating_add(1);
                self.begin_round(cx);
            }
            AuditAnswer::Replan(text) if self.criteria.is_empty() => self.plan_criteria(&text, question, cx),
            AuditAnswer::Replan(text) => {
                self.said.push(format!("{by} changed the plan: {text}"));
                if question.about == About::Stuck {
                    self.cap = self.cap.max(self.round.saturating_add(self.settings.rounds)).min(MOST_ROUNDS);
                }
                self.patient_until = self.round.saturating_add(1);
                self.begin_round(cx);
            }
            AuditAnswer::Drop => self.drop_items(by, cx),
            AuditAnswer::Waive(which, why) => self.waive(which, &why, question, by, cx),
            AuditAnswer::Grant(rounds) => {
                self.cap = self.cap.max(self.round).saturating_add(rounds).min(MOST_ROUNDS);
                self.patient_until = self.cap;
                self.go_on(cx);
            }
            AuditAnswer::Fixed => self.look(Awaiting::Look { by_hand: true }, cx),
        }
    }

    fn plan_criteria(&mut self, text: &str, question: Question, cx: &mut Cx<'_>) {
        self.criteria = questions::criteria(text);
        if self.criteria.is_empty() {
            return self.ask(question, cx);
        }
        self.open.clear();
        if self.work.is_some() { self.begin_round(cx) } else { self.set_out(cx) }
    }

    /// Takes what the plan cannot keep out of the task: the criteria it is about, and the findings
    /// themselves. If nothing else blocks, the same work is judged by what is left.
    fn drop_items(&mut self, by: &str, cx: &mut Cx<'_>) {
        let (items, others): (Vec<_>, Vec<_>) = std::mem::take(&mut self.open)
            .into_iter()
            .partition(|f| routes::of(&f.rule) == Route::PlanChecker);
        for item in items {
            self.dropped.insert(item.number);
            let criterion = item.criterion.clone().unwrap_or_else(|| item.rule.clone());
            self.criteria.retain(|c| Some(&c.id) != item.criterion.as_ref());
            let (round, reason, by) = (self.round, item.line(), by.to_owned());
            self.said.push(format!("{by} took this out of the task: {criterion}: {reason}"));
            cx.emit(EventKind::Deferred { round, criterion, reason, by });
        }
        self.open = others;
        self.patient_until = self.round.saturating_add(1);
        if self.criteria.is_empty() {
            self.without_criteria(cx);
        } else if self.open.is_empty() {
            self.convene(cx);
        } else {
            self.begin_round(cx);
        }
    }

    /// Findings of the program that a person lets stand count no more. What is left decides; if nothing is, the same work
    /// is judged once more without them.
    fn waive(&mut self, which: Option<usize>, why: &str, question: Question, by: &str, cx: &mut Cx<'_>) {
        let waived: Vec<Finding> = questions::waivable(&self.open)
            .filter(|(number, _)| which.is_none_or(|which| which == *number))
            .map(|(_, finding)| finding.clone())
            .collect();
        if waived.is_empty() {
            let text = format!("That is nothing the program found itself.\n{}", question.text);
            return self.ask(Question { text, ..question }, cx);
        }
        self.dropped.extend(waived.iter().map(|finding| finding.number));
        self.open.retain(|finding| !self.dropped.contains(&finding.number));
        let findings: Vec<String> = waived.iter().map(Finding::line).collect();
        self.said.extend(findings.iter().map(|line| format!("{by} lets this stand: {line} ({why})")));
        cx.emit(EventKind::Waived { findings, reason: why.to_owned(), by: by.to_owned() });
        self.patient_until = self.round.saturating_add(1);
        if self.red.is_some() || !self.open.is_empty() {
            return self.ask(self.stuck("There is more.", &self.open), cx);
        }
        self.convene(cx);
    }

    /// Rounds were granted: the task goes where it would have gone with them.
    fn go_on(&mut self, cx: &mut Cx<'_>) {
        if self.red.is_some() {
            return self.begin_round(cx);
        }
        let open = self.open.clone();
        let routing = self.decide(&open);
        match routing.route {
            // No worker can mend a review that failed.
            Route::Stuck if open.iter().all(|f| f.rule == CRITIC_ERROR) => self.convene(cx),
            Route::Stuck => self.begin_round(cx),
            _ => self.follow(&routing, None, cx),
        }
    }

    /// The answer of a researcher, or an architect, joins the next brief.
    pub(super) fn researched(&mut self, answer: AgentAnswer, cx: &mut Cx<'_>) {
        let reply = crate::reading::reasoning::without_leading(cx.text(&answer.text)).to_owned();
        if reply.trim().is_empty() {
            let message = format!("the reply of {} is empty", answer.agent());
            let failure = CallFailure { kind: FailureKind::BadReply, message, usage: Usage::default() };
            return cx.unusable(answer, failure);
        }
        let text = cx.intern(reply);
        cx.emit(EventKind::Decided { by: answer.agent().to_owned(), text });
        let is_design = self.awaiting == Awaiting::Architect;
        let name = if is_design { "design".to_owned() } else { format!("research of round {}", self.round) };
        self.research.push(crate::brief::Reference { name, text });
        if is_design { self.before_work(cx) } else { self.begin_round(cx) }
    }
}
