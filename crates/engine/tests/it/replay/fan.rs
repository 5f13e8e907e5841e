//! A protocol for tests only: it uses everything the machine offers at once. Each node makes parallel
//! worker calls, answers observations with `Tell` and `Cancel`, spawns children and then asks a critic.
//! What it comes to depends on what was asked, never on the order of the replies.

use gadfly_engine::artifact::Manifest;
use gadfly_engine::brief::ColdView;
use gadfly_engine::effect::{EffectId, NodePath, Observation};
use gadfly_engine::machine::{AgentAnswer, CriticCall, Cx};
use gadfly_engine::plan::{NodePlan, Target};
use gadfly_engine::protocol::{Protocol, RuleBook};
use gadfly_engine::reading::status::{self, Status};
use gadfly_engine::turn::{Message, Part, Role, Speaker};
use gadfly_engine::{Digest, Halt, Limits, Outcome};
use serde::{Deserialize, Serialize};

pub const RULE_BOOK: RuleBook =
    RuleBook { name: "fan", version: 1, begin, manifest: |_| Ok(gadfly_engine::RunManifest::default()) };

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Shape {
    pub name: String,
    pub calls: u32,
    pub rounds: u32,
    /// Ends at the first answer, whatever else is under way.
    pub early: bool,
    /// Its critic is a person.
    pub person: bool,
    pub saves: bool,
    pub children: Vec<Shape>,
}

impl Shape {
    pub fn plan(&self) -> NodePlan {
        NodePlan {
            protocol: "fan".into(),
            version: 1,
            limits: Limits::default(),
            settings: serde_json::to_value(self).unwrap(),
        }
    }
}

struct Fan {
    shape: Shape,
    round: u32,
    /// Calls and children that are not through yet.
    left: usize,
    children_failed: bool,
    draft: Option<Digest>,
}

fn begin(plan: &NodePlan) -> Result<Box<dyn Protocol>, String> {
    let shape: Shape = serde_json::from_value(plan.settings.clone()).map_err(|e| e.to_string())?;
    Ok(Box::new(Fan { shape, round: 0, left: 0, children_failed: false, draft: None }))
}

impl Fan {
    fn fan_out(&mut self, cx: &mut Cx<'_>) {
        self.round += 1;
        for n in 0..self.shape.calls {
            let brief = format!("{} round {} call {n}", self.shape.name, self.round);
            let message = Message { from: Speaker::User, parts: vec![Part::Text(brief)] };
            self.left += 1;
            cx.call_worker("worker", vec![message]);
        }
    }

    fn one_less(&mut self, cx: &mut Cx<'_>) {
        self.left -= 1;
        if self.left > 0 {
            return;
        }
        let draft = cx.intern(format!("draft of {} in round {}", self.shape.name, self.round));
        self.draft = Some(draft);
        let rubric = cx.intern("- be right\n");
        let view = ColdView {
            identity: None,
            task: rubric,
            iteration: self.round,
            rubric,
            references: &[],
            draft,
            previous: None,
            again: None,
            form: rubric,
        };
        let agent = if self.shape.person { "person" } else { "critic" };
        cx.call_critic(
            CriticCall { agent, fallback: None, instructions: &["Judge.\n"], schema: None },
            &view,
        );
    }

    fn finish(&self, approved: bool, cx: &mut Cx<'_>) {
        let draft = self.draft.unwrap_or_else(|| Manifest::new(Vec::new()).digest());
        // Ending early must not depend on which children came first.
        cx.finish(if approved && (self.shape.early || !self.children_failed) {
            Outcome::Approved { draft, overruled: false, notes: Vec::new() }
        } else {
            Outcome::Halted { reason: Halt::Stuck, draft: self.draft, open: Vec::new() }
        });
    }
}

impl Protocol for Fan {
    fn start(&mut self, cx: &mut Cx<'_>) {
        for child in self.shape.children.clone() {
            cx.spawn(&child.name, &child.plan()).unwrap();
            self.left += 1;
        }
        self.fan_out(cx);
    }

    fn answered(&mut self, answer: AgentAnswer, cx: &mut Cx<'_>) {
        if answer.role() == Role::Worker {
            if self.shape.early {
                self.draft = Some(cx.intern(format!("early draft of {}", self.shape.name)));
                return self.finish(true, cx);
            }
            return self.one_less(cx);
        }
        match status::read(cx.text(&answer.text), &cx.shown(&answer)) {
            Err(unread) => cx.malformed(answer, self.round, &unread),
            Ok(reply) if reply.status == Status::Approved => self.finish(true, cx),
            Ok(_) if self.round < self.shape.rounds => self.fan_out(cx),
            Ok(_) => self.finish(false, cx),
        }
    }

    fn observed(&mut self, effect: &EffectId, observation: &Observation, cx: &mut Cx<'_>) {
        match observation {
            Observation::Step { line, .. } if line.contains("astray") && !self.shape.early => {
                cx.cancel(effect);
            }
            Observation::Step { line, .. } => cx.tell(effect, format!("seen: {line}")),
            _ => {}
        }
    }

    /// A call that was called off counts like one that was answered.
    fn cancelled(&mut self, _effect: &EffectId, cx: &mut Cx<'_>) {
        self.one_less(cx);
    }

    fn child_ended(&mut self, _child: &NodePath, outcome: &Outcome, cx: &mut Cx<'_>) {
        self.children_failed |= !matches!(outcome, Outcome::Approved { .. });
        self.one_less(cx);
    }

    fn draft(&self) -> Option<Digest> {
        self.draft
    }

    fn target(&self) -> Option<Target> {
        self.shape.saves.then(|| Target { path: "out.md".into(), before: None })
    }
}
