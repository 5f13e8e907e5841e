//! Putting a pass's escalations to a person, and what the answers change.

use super::ConvergeProtocol;
use super::answers::{self, EscalationAnswer, Settled};
use super::escalation::{Escalation, MOST_PER_QUESTION};
use crate::digest::Digest;
use crate::event::EventKind;
use crate::machine::Cx;
use crate::outcome::Halt;

impl ConvergeProtocol {
    /// Asks about the next escalations, as many as one question holds.
    pub(super) fn ask(&self, again: bool, cx: &mut Cx<'_>) {
        let batch = self.asked.get(..MOST_PER_QUESTION).unwrap_or(&self.asked);
        cx.ask(answers::question(batch, again));
    }

    pub(super) fn told(&mut self, text: Digest, by: &str, cx: &mut Cx<'_>) {
        let batch: Vec<Escalation> = self.asked.iter().take(MOST_PER_QUESTION).cloned().collect();
        let said = match answers::read(&batch, cx.text(&text)) {
            EscalationAnswer::Stop => return self.decline(cx),
            EscalationAnswer::Settled(settled) => settled,
        };
        if !said.is_empty() {
            cx.emit(EventKind::Decided { by: by.to_owned(), text });
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
            self.settled.extend(pass.numbers_of(criterion));
        }
        self.put_off.insert(criterion.clone(), reason.clone());
        self.deferred.insert(criterion.clone());
        let (round, criterion) = (self.round, criterion.clone());
        cx.emit(EventKind::Deferred { round, criterion, reason, by: by.to_owned() });
    }

    fn decline(&mut self, cx: &mut Cx<'_>) {
        self.result("CONTINUE (0 fixed)", cx);
        self.stop(Halt::Stuck, "declined", cx);
    }
}
