//! What a protocol can do. Permissions are not among its parameters: they follow from the role.

use super::calls::CallSpec;
use super::run::{Pending, Run};
use crate::brief::{self, ColdView};
use crate::digest::Digest;
use crate::effect::{EffectId, EffectKind, NodePath};
use crate::event::Happened;
use crate::outcome::Outcome;
use crate::plan::NodePlan;
use crate::turn::{Message, Role};

/// An agent's readable answer, with the call it belongs to.
#[derive(Clone, Debug)]
pub struct Answered {
    pub effect: EffectId,
    pub text: Digest,
    pub(super) call: CallSpec,
}

impl Answered {
    pub const fn role(&self) -> Role {
        self.call.role
    }

    pub fn agent(&self) -> &str {
        &self.call.agent
    }

    /// It came after a request to restate.
    pub fn is_restated(&self) -> bool {
        self.call.is_restated()
    }
}

/// Whom to ask for a judgement.
#[derive(Clone, Copy, Debug)]
pub struct CriticCall<'a> {
    pub agent: &'a str,
    pub fallback: Option<&'a str>,
    /// Template texts, in order.
    pub instructions: &'a [&'static str],
}

pub struct Cx<'a> {
    pub(super) run: &'a mut Run,
    pub(super) node: &'a NodePath,
}

impl Cx<'_> {
    pub fn text(&self, digest: &Digest) -> &str {
        self.run.texts.get(digest)
    }

    /// Stores a text and gives its name.
    pub fn intern(&mut self, body: impl Into<String>) -> Digest {
        self.run.intern(body.into())
    }

    pub fn emit(&mut self, what: Happened) {
        self.run.emit(self.node, what);
    }

    pub fn call_worker(&mut self, agent: &str, messages: Vec<Message>) -> EffectId {
        let id = self.run.next_id(self.node);
        self.call(id, Role::Worker, agent, messages, None)
    }

    /// Asks a critic, who sees exactly this view.
    pub fn call_critic(&mut self, call: CriticCall<'_>, view: &ColdView<'_>) -> EffectId {
        let id = self.run.next_id(self.node);
        let instructions: Vec<Digest> =
            call.instructions.iter().map(|t| self.run.intern((*t).to_owned())).collect();
        let mark = brief::mark(&self.run.seed, &id, &self.run.texts, &view.enclosed());
        let message = view.message(&instructions, &mark);
        self.call(id, Role::Critic, call.agent, vec![message], call.fallback)
    }

    fn call(
        &mut self,
        id: EffectId,
        role: Role,
        agent: &str,
        messages: Vec<Message>,
        fallback: Option<&str>,
    ) -> EffectId {
        let brief = messages.len();
        let spec = CallSpec {
            role,
            agent: agent.to_owned(),
            messages: messages.into(),
            brief,
            fallback: fallback.map(ToOwned::to_owned),
        };
        self.run.request(id.clone(), spec, None);
        id
    }

    /// The answer cannot be read as a verdict: restate once, then the second critic, then `unverified`.
    pub fn malformed(&mut self, answered: Answered, round: u32, problem: &str) {
        let Answered { effect, text, call } = answered;
        self.run.malformed(&effect, call, text, round, problem);
    }

    /// The worker's answer is no draft: the run parks as failed and the call is repeated on resume.
    pub fn unusable(&mut self, answered: Answered, failure: crate::effect::CallFailure) {
        let Answered { effect, call, .. } = answered;
        self.run.call_failed(&effect, call, failure);
    }

    /// The digest of the prompt as the agent got it.
    pub fn prompt_digest(&self, answered: &Answered) -> Digest {
        let rendered: Vec<String> =
            answered.call.messages.iter().map(|m| m.render(&self.run.texts)).collect();
        Digest::of(rendered.join("\n").as_bytes())
    }

    pub fn cancel(&mut self, effect: &EffectId) {
        self.run.cancel(effect);
    }

    pub fn tell(&mut self, effect: &EffectId, text: impl Into<String>) {
        if self.run.open.get(effect).is_some_and(|o| !o.cancelled) {
            self.run.signal(self.node, EffectKind::Tell { target: effect.clone(), text: text.into() });
        }
    }

    /// Begins a node below this one. Its name has to be new: ids count per node.
    pub fn spawn(&mut self, name: &str, plan: &NodePlan) -> Result<NodePath, String> {
        let path = self.node.child(name);
        self.run.add_node(&path, plan).map_err(|refused| refused.to_string())?;
        Ok(path)
    }

    /// This node is through. At the root that ends the run, once its draft is saved.
    pub fn finish(&mut self, outcome: Outcome) {
        if self.run.has_ended(self.node) {
            return;
        }
        self.run.end_node(self.node);
        match self.node.parent() {
            None => self.run.end_with(outcome),
            Some(parent) => {
                self.run.pending.push_back(Pending::ChildEnded { parent, child: self.node.clone(), outcome });
            }
        }
    }
}
