//! What an effect asked for, as a span: who was called with what, what a tool did, how long a person was waited for.

use gadfly_engine::budget::{Money, Usage};
use gadfly_engine::effect::{FailureKind, StopReason};
use gadfly_engine::goal::{GoalStep, StepEnd};
use gadfly_engine::tool::{ToolAction, ToolEnd, ToolUse};
use gadfly_engine::tree::RunEnd;
use gadfly_engine::turn::{Role, Turn};
use gadfly_engine::{Answer, Class, Digest, Effect, EffectId, EffectKind, NodePath, Reply};

use super::super::conventions as names;
use super::super::span::{RecordTime, Span, SpanId};
use super::{Closed, ContentPolicy, TraceFold, content};

/// Its process died before there was an answer.
pub const LOST: &str = "lost";
pub(super) const CANCELLED: &str = "cancelled";

/// Kinds of agents that are one request to a model; all others are agents that work in their own way.
const MODELS: [&str; 2] = ["openai", "anthropic"];

/// An effect without a reply yet.
pub(super) struct OpenSpan {
    pub span: Span,
    pub class: Class,
    pub agent: Option<String>,
    role: Option<Role>,
    pub steps: u64,
}

/// A short word for a failure.
pub(super) fn word(kind: FailureKind) -> String {
    kind.to_string().replace(' ', "_")
}

/// What a call used. Of one without an answer nobody knows it, and of an agent without a price nobody knows the cost:
/// what is charged for it then stands in the sums of the run, not here.
pub(super) fn charge(span: &mut Span, usage: &Usage, cost: Money, is_priced: bool) {
    let attributes = &mut span.attributes;
    let is_unanswered = span
        .failed
        .as_deref()
        .is_some_and(|why| [LOST, CANCELLED].contains(&why) || why == word(FailureKind::Timeout));
    let is_lost = span.failed.as_deref() == Some(LOST) || is_unanswered && *usage == Usage::default();
    if is_lost || !is_priced || usage.estimated {
        attributes.flag(names::USAGE_UNKNOWN, true);
    }
    if is_lost {
        return;
    }
    let input = usage.input.saturating_add(usage.cache_read).saturating_add(usage.cache_write);
    attributes.whole(names::INPUT_TOKENS, input);
    attributes.whole(names::OUTPUT_TOKENS, usage.output);
    for (name, count) in [(names::CACHE_READ, usage.cache_read), (names::CACHE_CREATION, usage.cache_write)] {
        if count > 0 {
            attributes.whole(name, count);
        }
    }
    if is_priced || cost > Money(0) {
        attributes.number(names::COST, cost.usd());
    }
}

impl TraceFold {
    pub(super) fn ask(
        &mut self,
        effect: &Effect,
        at: RecordTime,
        say: ContentPolicy<'_>,
        out: &mut Vec<Span>,
    ) {
        let node = &effect.id.node;
        // Between a critic's answer and its verdict what it cites may be looked at.
        if matches!(&effect.kind, EffectKind::Turn(turn) if turn.role == Role::Worker) {
            self.release(node, out);
        }
        let id = SpanId::of(&self.run, "effect", &effect.id.to_string());
        let (mut span, agent, role) = match &effect.kind {
            EffectKind::Turn(turn) => (self.turn(id, turn, say), Some(turn.agent.clone()), Some(turn.role)),
            EffectKind::Tool(used) => (self.tool(id, used, say), None, None),
            EffectKind::Verify(verify) => {
                let mut span = Span::new(&self.run, id, names::VERIFY, None);
                if say.has_words() {
                    span.attributes.text(names::COMMAND, &verify.command);
                }
                (span, None, None)
            }
            EffectKind::Ask(question) => {
                let mut span = Span::new(&self.run, id, names::ASK, Some(question.about.name()));
                span.attributes.text(names::ABOUT, question.about.name());
                if say.has_words() {
                    span.attributes.text(names::MESSAGE, &question.text);
                }
                (span, None, None)
            }
            EffectKind::Look(_) | EffectKind::Examine(_) => {
                (Span::new(&self.run, id, names::LOOK, None), None, None)
            }
            EffectKind::Save(_) => (Span::new(&self.run, id, names::SAVE, None), None, None),
            EffectKind::Accept(_) => (Span::new(&self.run, id, names::ACCEPT, None), None, None),
            EffectKind::Survey(_) => (Span::new(&self.run, id, names::SURVEY, None), None, None),
            EffectKind::Commit(_) => (Span::new(&self.run, id, names::COMMIT, None), None, None),
            EffectKind::Cancel { .. } | EffectKind::Tell { .. } => return,
        };
        span.parent = self.span_at(node).map(|parent| parent.id);
        (span.start_ms, span.end_ms, span.seqs.begin) = (at.ms, at.ms, at.seq);
        span.attributes.text(names::OPERATION, span.operation.as_str());
        span.attributes.text(names::NODE, &node.0);
        span.attributes.text(names::EFFECT, &effect.id.to_string());
        if let Some(repeats) = &effect.repeats {
            span.attributes.text(names::REPEATS, &repeats.to_string());
        }
        if let Some(round) = self.rounds.get(node) {
            span.attributes.whole(names::ROUND, u64::from(*round));
        }
        match role {
            Some(Role::Worker) => drop(self.judged.insert(node.clone(), id)),
            Some(Role::Critic) => span.judges = self.judged.get(node).copied(),
            Some(Role::Advisor) | None => {}
        }
        let open = OpenSpan { span, class: effect.class, agent, role, steps: 0 };
        self.open.insert(effect.id.clone(), open);
    }

    fn turn(&self, id: SpanId, turn: &Turn, say: ContentPolicy<'_>) -> Span {
        let card = self.agents.get(&turn.agent);
        let model = card.and_then(|card| card.model.as_deref());
        let is_model = card.is_some_and(|card| MODELS.contains(&card.kind.as_str()));
        let mut span = if is_model {
            Span::new(&self.run, id, names::CHAT, model)
        } else {
            Span::new(&self.run, id, names::INVOKE_AGENT, Some(&turn.agent))
        };
        span.client = is_model;
        let attributes = &mut span.attributes;
        attributes.text(names::AGENT, &turn.agent);
        attributes.text(names::ROLE, turn.role.name());
        attributes.whole(names::MAX_TOKENS, turn.max_output_tokens);
        if let Some(card) = card {
            attributes.text(names::PROVIDER, &names::provider(&card.kind, &card.sends_to));
            if is_model {
                attributes.text(names::SERVER, &card.sends_to);
            }
        }
        if let Some(model) = model {
            attributes.text(names::REQUEST_MODEL, model);
        }
        if let Some(session) = &turn.session {
            attributes.text(names::CONVERSATION, session);
        }
        if let Some(messages) = content::input(turn, say) {
            attributes.json(names::INPUT_MESSAGES, &messages);
        }
        span
    }

    fn tool(&self, id: SpanId, used: &ToolUse, say: ContentPolicy<'_>) -> Span {
        let name = match &used.action {
            ToolAction::Mcp { server, tool, .. } => format!("{server}__{tool}"),
            action => action.tool().to_owned(),
        };
        let mut span = Span::new(&self.run, id, names::EXECUTE_TOOL, Some(&name));
        span.attributes.text(names::TOOL, &name);
        span.attributes.text(names::TOOL_TYPE, "function");
        if let Some(arguments) = content::arguments(&used.action, say) {
            span.attributes.json(names::TOOL_ARGUMENTS, &arguments);
        }
        span
    }

    pub(super) fn close(
        &mut self,
        effect: &EffectId,
        at: RecordTime,
        how: impl FnOnce(&mut OpenSpan),
    ) -> Option<Closed> {
        let mut open = self.open.remove(effect)?;
        how(&mut open);
        let OpenSpan { mut span, agent, role, .. } = open;
        (span.end_ms, span.seqs.end) = (at.ms.max(span.start_ms), at.seq);
        Some(Closed { effect: effect.clone(), agent, judging: role == Some(Role::Critic), span })
    }

    /// What a guard or the policy kept from being done was never an effect: a span without length tells of it.
    pub(super) fn stepped(
        &mut self,
        node: &NodePath,
        step: &GoalStep,
        at: RecordTime,
        say: ContentPolicy<'_>,
        out: &mut Vec<Span>,
    ) {
        if !matches!(step.end, StepEnd::Blocked | StepEnd::Denied) {
            return;
        }
        let id = SpanId::of(&self.run, "step", &format!("{node} {}", step.n));
        let mut span = Span::new(&self.run, id, names::EXECUTE_TOOL, Some(&step.tool));
        span.parent = self.span_at(node).map(|parent| parent.id);
        (span.start_ms, span.end_ms) = (at.ms, at.ms);
        (span.seqs.begin, span.seqs.end) = (at.seq, at.seq);
        span.attributes.text(names::OPERATION, names::EXECUTE_TOOL.as_str());
        span.attributes.text(names::TOOL, &step.tool);
        span.attributes.text(names::NODE, &node.0);
        span.attributes.whole(names::STEP, u64::from(step.n));
        if say.has_words() {
            span.attributes.text(names::TOOL_ARGUMENTS, &step.args);
        }
        span.fail(step.end.name());
        out.push(span);
    }
}

impl OpenSpan {
    pub(super) fn replied(&mut self, reply: &Reply, say: ContentPolicy<'_>) {
        match reply {
            Reply::Done(answer) => self.said(answer, say),
            Reply::Failed(failure) => {
                self.span.fail(&word(failure.kind));
                if say.has_words() {
                    self.span.attributes.text(names::MESSAGE, &failure.message);
                }
            }
            Reply::Cancelled { .. } => self.span.fail(CANCELLED),
            Reply::DeniedQuota { .. } => self.span.fail("quota"),
            Reply::Conflict { .. } | Reply::Conflicts(_) => self.span.fail("conflict"),
            Reply::Tool(done) => {
                match &done.end {
                    ToolEnd::Done | ToolEnd::Ran(RunEnd::Code(0)) | ToolEnd::Status(0..400) => {}
                    ToolEnd::Ran(end) => self.span.fail(&end.to_string().replace(' ', "_")),
                    ToolEnd::Status(code) => self.span.fail(&format!("status_{code}")),
                    ToolEnd::Error => self.span.fail("tool_error"),
                }
                if let ContentPolicy::All(texts) = say
                    && let Some(text) = texts(&done.shown)
                {
                    self.span.attributes.text(names::TOOL_RESULT, &text);
                }
            }
            Reply::Saved { .. }
            | Reply::Looked(_)
            | Reply::Examined(_)
            | Reply::Verified(_)
            | Reply::Accepted { .. }
            | Reply::Surveyed(_) => {}
        }
    }

    fn said(&mut self, answer: &Answer, say: ContentPolicy<'_>) {
        let attributes = &mut self.span.attributes;
        let reason = finish_reason(&answer.stop);
        attributes.texts(names::FINISH_REASONS, [reason]);
        if let Some(model) = &answer.model {
            attributes.text(names::RESPONSE_MODEL, model);
        }
        if let Some(session) = &answer.session {
            attributes.text(names::CONVERSATION, session);
        }
        if let Some(messages) = content::output(answer, reason, say) {
            attributes.json(names::OUTPUT_MESSAGES, &messages);
        }
    }

    /// A person's reply: to a question, or as an agent.
    pub(super) fn answered(&mut self, text: &Digest, say: ContentPolicy<'_>) {
        if let ContentPolicy::All(texts) = say
            && let Some(text) = texts(text)
        {
            self.span.attributes.json(names::OUTPUT_MESSAGES, &content::spoken("user", &text));
        }
    }
}

/// As the conventions have it.
fn finish_reason(stop: &StopReason) -> &str {
    match stop {
        StopReason::EndTurn => "stop",
        StopReason::ToolUse => "tool_call",
        StopReason::Length => "length",
        StopReason::Refusal => "content_filter",
        StopReason::Other(other) => other,
    }
}
