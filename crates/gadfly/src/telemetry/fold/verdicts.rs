//! Verdicts as events: on the critic's call that gave them, on the check that was run, or on what was judged.

use gadfly_engine::event::{Event, EventKind};
use gadfly_engine::goal::{ProgressVerdict, WholeChangeReview};
use gadfly_engine::pipeline::{GateReport, PairVerdict, PipelineEvent};
use gadfly_engine::review::{CriterionVerdict, Review, Verdict};
use gadfly_engine::{EffectId, NodePath};

use super::super::conventions as names;
use super::super::span::{Attributes, RecordTime, Span};
use super::{Closed, ContentPolicy, TraceFold};

/// Criteria and findings of one review that are told.
const MOST_CRITERIA: usize = 64;
const MOST_FINDINGS: usize = 20;

pub(super) const UNVERIFIED: &str = "unverified";
/// Why a critic's call failed whose answer could not be read.
const MALFORMED: &str = "malformed";

/// What is told of a critic's answer.
struct TracedAnswer {
    verdicts: Vec<Attributes>,
    /// It could not be read: the call came to nothing.
    is_malformed: bool,
}

impl From<Vec<Attributes>> for TracedAnswer {
    fn from(verdicts: Vec<Attributes>) -> Self {
        Self { verdicts, is_malformed: false }
    }
}

/// One verdict, before it is told.
struct Evaluation<'e> {
    name: &'e str,
    label: &'e str,
    score: Option<f64>,
    critic: Option<&'e str>,
    round: Option<u32>,
    open: Option<usize>,
    because: Option<String>,
}

impl<'e> Evaluation<'e> {
    const fn new(name: &'e str, label: &'e str) -> Self {
        Self { name, label, score: None, critic: None, round: None, open: None, because: None }
    }

    /// Passed or not, where there is no score.
    fn passed(name: &'e str, label: &'e str, passed: bool) -> Self {
        Self { score: Some(f64::from(u8::from(passed))), ..Self::new(name, label) }
    }

    fn attributes(self, say: ContentPolicy<'_>) -> Attributes {
        let mut said = Attributes::default();
        said.text(names::EVALUATION, self.name);
        said.text(names::LABEL, self.label);
        if let Some(score) = self.score {
            said.number(names::SCORE, score);
        }
        if let Some(critic) = self.critic {
            said.text(names::CRITIC, critic);
        }
        if let Some(round) = self.round {
            said.whole(names::ROUND, u64::from(round));
        }
        if let Some(open) = self.open {
            said.whole(names::OPEN, u64::try_from(open).unwrap_or(u64::MAX));
        }
        if let Some(because) = self.because.filter(|because| say.has_words() && !because.is_empty()) {
            said.text(names::EXPLANATION, &because);
        }
        said
    }
}

impl TraceFold {
    /// What of an event is a verdict, told where it belongs.
    pub(super) fn judged(
        &mut self,
        event: &Event,
        at: RecordTime,
        say: ContentPolicy<'_>,
        closed: &mut [Closed],
        out: &mut Vec<Span>,
    ) {
        let node = &event.node;
        match &event.what {
            EventKind::Reviewed { round, review } => {
                let told = self.review(node, *round, review, say).into();
                self.by_critic(node, &review.binding.critic, told, at, closed, out);
            }
            EventKind::ReplyMalformed { round, critic, problem, .. } => {
                let mut told = Evaluation::new(self.protocol_of(node), UNVERIFIED);
                (told.critic, told.round) = (Some(critic.as_str()), Some(*round));
                told.because = Some(problem.clone());
                let told = TracedAnswer { verdicts: vec![told.attributes(say)], is_malformed: true };
                self.by_critic(node, critic, told, at, closed, out);
            }
            EventKind::RejectionOverruled { round, notes } => {
                let mut said = Attributes::default();
                said.whole(names::ROUND, u64::from(*round));
                if say.has_words() {
                    let points: Vec<&str> = notes.iter().take(MOST_FINDINGS).map(String::as_str).collect();
                    said.text(
                        names::EXPLANATION,
                        &format!("nothing but new requirements: {}", points.join("; ")),
                    );
                }
                match closed.iter_mut().rfind(|one| one.judging && one.effect.node == *node) {
                    Some(one) => one.span.happened(names::OVERRULED, at, said),
                    None => self.tell(node, names::OVERRULED, at, said),
                }
            }
            EventKind::Watched { critic, verdict, reason, .. } => {
                let fine = matches!(verdict, ProgressVerdict::Progressing | ProgressVerdict::Achieved);
                let mut told = Evaluation::passed("progress", verdict.name(), fine);
                (told.critic, told.because) = (Some(critic.as_str()), Some(reason.clone()));
                if *verdict == ProgressVerdict::Error {
                    told.score = None;
                }
                self.by_critic(node, critic, vec![told.attributes(say)].into(), at, closed, out);
            }
            EventKind::ChangeLookedAt { critic, seen, reason } => {
                let (word, fine) = match seen {
                    WholeChangeReview::NothingWrong => ("nothing wrong", true),
                    WholeChangeReview::Objection => ("objection", false),
                    WholeChangeReview::NotAll => ("not looked at", false),
                };
                let mut told = Evaluation::passed("whole change", word, fine);
                (told.critic, told.because) = (Some(critic.as_str()), Some(reason.clone()));
                if *seen == WholeChangeReview::NotAll {
                    told.score = None;
                }
                self.by_critic(node, critic, vec![told.attributes(say)].into(), at, closed, out);
            }
            EventKind::VerifyRan { round, green, .. } => {
                let mut told = Evaluation::passed("verify", if *green { "green" } else { "red" }, *green);
                told.round = Some(*round);
                self.by_check(node, told.attributes(say), at, closed);
            }
            EventKind::GoalVerified { detail } => {
                let mut told = Evaluation::passed("goal", "met", true);
                told.because = Some(detail.clone());
                self.by_check(node, told.attributes(say), at, closed);
            }
            EventKind::VerificationFailed { detail, .. } => {
                let mut told = Evaluation::passed("goal", "not met", false);
                told.because = Some(detail.clone());
                self.by_check(node, told.attributes(say), at, closed);
            }
            EventKind::Pipeline(event) => self.of_pipeline(node, event, at, say, closed, out),
            _ => {}
        }
    }

    /// The protocol of a part of the run.
    fn protocol_of(&self, node: &NodePath) -> &str {
        self.protocols.get(node).unwrap_or(&self.protocol)
    }

    fn review(
        &self,
        node: &NodePath,
        round: u32,
        review: &Review,
        say: ContentPolicy<'_>,
    ) -> Vec<Attributes> {
        let label = match review.verdict {
            Verdict::Approved => "approved",
            Verdict::Unverified => UNVERIFIED,
            Verdict::Rejected => "rejected",
        };
        let name = review.binding.lens.as_deref().unwrap_or_else(|| self.protocol_of(node));
        let mut whole = match review.verdict {
            Verdict::Unverified => Evaluation::new(name, label),
            verdict => Evaluation::passed(name, label, verdict == Verdict::Approved),
        };
        if let Some(score) = &review.score {
            whole.score = Some(f64::from(score.value));
        }
        (whole.critic, whole.round) = (Some(review.binding.critic.as_str()), Some(round));
        whole.open = Some(review.open.len());
        let points = review.open.iter().take(MOST_FINDINGS).map(|item| format!("- {}", item.text));
        whole.because = Some(points.collect::<Vec<_>>().join("\n"));
        let each = review.criteria.iter().take(MOST_CRITERIA).map(|criterion: &CriterionVerdict| {
            let mut told = Evaluation::passed(&criterion.id, &criterion.verdict, criterion.clean);
            (told.critic, told.round) = (Some(review.binding.critic.as_str()), Some(round));
            told.because = Some(criterion.because.clone());
            told.attributes(say)
        });
        let each: Vec<Attributes> = each.collect();
        std::iter::once(whole.attributes(say)).chain(each).collect()
    }

    /// A critic's verdict belongs to the last of its calls at this node; that call is told of then, and so are the
    /// others of the same critic.
    fn by_critic(
        &mut self,
        node: &NodePath,
        critic: &str,
        told: TracedAnswer,
        at: RecordTime,
        closed: &mut [Closed],
        out: &mut Vec<Span>,
    ) {
        let is_its = |one: &Closed| {
            one.judging && one.effect.node == *node && one.agent.as_deref().is_some_and(|name| name == critic)
        };
        if let Some(one) = closed.iter_mut().rfind(|one| is_its(one)) {
            add(&mut one.span, told, at);
            return;
        }
        if let Some(last) = self.held.iter_mut().rfind(|one| is_its(one)) {
            add(&mut last.span, told, at);
            let (its, kept): (Vec<_>, Vec<_>) = std::mem::take(&mut self.held).into_iter().partition(is_its);
            self.held = kept;
            out.extend(its.into_iter().map(|one| one.span));
            return;
        }
        for one in told.verdicts {
            self.tell(node, names::EVALUATION_RESULT, at, one);
        }
    }

    /// The verdict of a check belongs to the command, the look or the judge it rests on.
    fn by_check(&mut self, node: &NodePath, told: Attributes, at: RecordTime, closed: &mut [Closed]) {
        let checked =
            |one: &Closed| one.judging || [names::VERIFY, names::EXECUTE_TOOL].contains(&one.span.operation);
        match closed.iter_mut().find(|one| checked(one)) {
            Some(one) => one.span.happened(names::EVALUATION_RESULT, at, told),
            None => self.tell(node, names::EVALUATION_RESULT, at, told),
        }
    }

    fn of_pipeline(
        &mut self,
        node: &NodePath,
        event: &PipelineEvent,
        at: RecordTime,
        say: ContentPolicy<'_>,
        closed: &mut [Closed],
        out: &mut Vec<Span>,
    ) {
        match event {
            PipelineEvent::Scored { verdict, .. } => {
                let told = pair(verdict, say);
                self.through(&verdict.agent, at, out, |span| {
                    span.happened(names::EVALUATION_RESULT, at, told);
                });
            }
            PipelineEvent::Completed { agent, .. } => self.through(agent, at, out, |_| {}),
            PipelineEvent::PairBlocked { agent, because, score, open, .. } => {
                let mut told = Evaluation::new("pair", "blocked");
                told.score = score.map(f64::from);
                (told.open, told.because) = (Some(open.len()), Some(because.clone()));
                let told = told.attributes(say);
                self.through(agent, at, out, |span| {
                    span.happened(names::EVALUATION_RESULT, at, told);
                    span.fail("blocked");
                });
            }
            PipelineEvent::GateChecked { round, report } => {
                self.tell(node, names::EVALUATION_RESULT, at, gate(*round, report, say));
            }
            PipelineEvent::HookRan { hook, green, .. } => {
                let told = Evaluation::passed(hook, if *green { "green" } else { "red" }, *green);
                self.by_check(node, told.attributes(say), at, closed);
            }
            _ => {}
        }
    }

    /// An agent of a pipeline is through: its span ends.
    fn through(&mut self, agent: &str, at: RecordTime, out: &mut Vec<Span>, how: impl FnOnce(&mut Span)) {
        let path = self.nodes.iter().find(|(_, sent)| sent.agent == agent).map(|(path, _)| path.clone());
        let Some((path, mut sent)) = path.and_then(|path| self.nodes.remove_entry(&path)) else { return };
        how(&mut sent.span);
        let under = |id: &EffectId| path.contains(&id.node);
        let (gone, kept): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.held).into_iter().partition(|held| under(&held.effect));
        self.held = kept;
        out.extend(gone.into_iter().map(|held| held.span));
        self.rounds.retain(|at, _| !path.contains(at));
        self.judged.retain(|at, _| !path.contains(at));
        self.protocols.retain(|at, _| !path.contains(at));
        sent.span.end_ms = at.ms.max(sent.span.start_ms);
        sent.span.seqs.end = at.seq;
        out.push(sent.span);
    }
}

fn add(span: &mut Span, told: TracedAnswer, at: RecordTime) {
    for one in told.verdicts {
        span.happened(names::EVALUATION_RESULT, at, one);
    }
    if told.is_malformed {
        span.fail(MALFORMED);
    }
}

/// Nobody could judge the run: neither passed nor not.
pub(super) fn unverified(
    protocol: &str,
    reason: &str,
    unseen: &[String],
    say: ContentPolicy<'_>,
) -> Attributes {
    let mut told = Evaluation::new(protocol, UNVERIFIED);
    let points = unseen.iter().take(MOST_FINDINGS).map(|path| format!("\n- not seen: {path}"));
    told.because = Some(format!("{reason}{}", points.collect::<String>()));
    told.attributes(say)
}

fn pair(verdict: &PairVerdict, say: ContentPolicy<'_>) -> Attributes {
    let passed = !verdict.rejected && verdict.score >= verdict.threshold;
    let name = verdict.lens.as_deref().unwrap_or("score");
    let mut told = Evaluation::new(name, if passed { "passed" } else { "rejected" });
    told.score = Some(f64::from(verdict.score));
    (told.critic, told.open) = (Some(verdict.critic.as_str()), Some(verdict.open.len()));
    told.because = Some(verdict.open.iter().take(MOST_FINDINGS).cloned().collect::<Vec<_>>().join("\n"));
    told.attributes(say)
}

fn gate(round: u32, report: &GateReport, say: ContentPolicy<'_>) -> Attributes {
    let mut told = Evaluation::new(&report.gate.name, if report.is_open() { "open" } else { "closed" });
    told.score = report.aggregate.overall.and_then(|overall| overall.to_string().parse().ok());
    (told.round, told.open) = (Some(round), Some(report.blocking.len()));
    told.because = Some(report.blocking.join("\n"));
    told.attributes(say)
}
