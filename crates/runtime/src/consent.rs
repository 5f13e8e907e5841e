//! What a run is about to do, said before its first call: who gets what, at what cost, within what caps.

use gadfly_engine::protocol::revise;
use gadfly_engine::{AgentCard, Limits, Money, Plan};

/// Worst-case figures of one agent's part in the run.
#[derive(Clone, PartialEq, Debug)]
pub struct Recipient {
    /// `worker`, `critic`, or `second` for the critic that is asked when the first fails.
    pub role: &'static str,
    pub agent: String,
    pub kind: String,
    pub model: Option<String>,
    pub sends_to: String,
    /// The most its calls can cost, where a price is known.
    pub worst_case: Option<Money>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Consent {
    pub recipients: Vec<Recipient>,
    pub rounds: u32,
    pub limits: Limits,
    pub worst_case: Money,
    /// Whether some agent's price is unknown, so that `worst_case` is a lower bound.
    pub open_ended: bool,
    /// Worker and critic are the same model: their errors will be alike.
    pub same_model: bool,
}

impl Consent {
    /// `bytes` is what the user's material brings into every brief.
    pub fn of(plan: &Plan, settings: &revise::Settings, bytes: u64) -> Self {
        let revise::Settings { worker, critic, fallback_critic, rounds, .. } = settings;
        let mut recipients = Vec::new();
        let mut worst_case = Money(0);
        let mut open_ended = false;
        // A critic may be asked to restate in every round.
        let restated = rounds.saturating_mul(2);
        let second = fallback_critic.as_ref().map(|agent| ("second", agent, restated));
        let parts = [("worker", worker, *rounds), ("critic", critic, restated)];
        for (role, agent, calls) in parts.into_iter().chain(second) {
            let Some(card) = plan.agents.get(agent) else { continue };
            let worst = worst_of(card, bytes, calls);
            open_ended |= worst.is_none();
            worst_case.0 = worst_case.0.saturating_add(worst.unwrap_or_default().0);
            recipients.push(Recipient {
                role,
                agent: agent.to_owned(),
                kind: card.kind.clone(),
                model: card.model.clone(),
                sends_to: card.sends_to.clone(),
                worst_case: worst,
            });
        }
        let model = |name: &str| plan.agents.get(name).and_then(|c| c.model.clone());
        let same_model = model(worker).is_some() && model(worker) == model(critic);
        let limits = plan.root.limits.with(plan.limits);
        if let Some(cap) = limits.money {
            worst_case = worst_case.min(cap);
        }
        Self { recipients, rounds: *rounds, limits, worst_case, open_ended, same_model }
    }
}

fn worst_of(card: &AgentCard, bytes: u64, calls: u32) -> Option<Money> {
    if let Some(most) = card.per_call.money {
        return Some(Money(most.0.saturating_mul(u64::from(calls))));
    }
    let price = card.price.as_ref()?;
    let input = (bytes / 2).saturating_add(card.max_output_tokens.saturating_mul(2));
    let each =
        input.saturating_mul(price.input).saturating_add(card.max_output_tokens.saturating_mul(price.output));
    Some(Money(each.saturating_mul(u64::from(calls))))
}
