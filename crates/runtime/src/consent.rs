//! What a run is about to do, said before its first call: who gets what, at what cost, within what caps.

use gadfly_engine::tool::policy::OwnTools;
use gadfly_engine::{AgentCard, Limits, Money, Permission, Plan, RunManifest};

use crate::agent_set::AgentSet;
use crate::call_site::CallSite;
use crate::prepare::RunSettings;
use crate::sandbox::{self, Enforcement, EnforcementRequest};

/// Worst-case figures of one agent's part in the run.
#[derive(Clone, PartialEq, Debug)]
pub struct Recipient {
    /// `worker`, `critic`, `second` for the critic that is asked when the first fails, `fixer`, `finds` for
    /// the researcher, `plans` and `tests` for those who come before the worker, `decides` for whom the loop is escalated to, `judge` for who says
    /// whether a goal is reached.
    pub role: &'static str,
    pub agent: String,
    /// What a critic looks at in particular.
    pub lens: Option<String>,
    pub kind: String,
    pub model: Option<String>,
    pub sends_to: String,
    /// The most its calls can cost, where a price is known.
    pub worst_case: Option<Money>,
    /// What holds its processes; none if it has none.
    pub held: Option<Enforcement>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Consent {
    pub recipients: Vec<Recipient>,
    pub rounds: u32,
    pub limits: Limits,
    pub worst_case: Money,
    /// Whether some agent's price is unknown, so that `worst_case` is a lower bound.
    pub open_ended: bool,
    /// Worker and critic are the same agent or model: their errors will be alike.
    pub same_model: bool,
    /// Commands that are run on this machine: what sets up the worker's folder, and what verifies it.
    pub commands: Vec<String>,
    /// The file that an approved draft is written to.
    pub out: Option<String>,
    /// The project the worker gets a copy of, and that approved changes go to.
    pub folder: Option<String>,
    /// Of a goal.
    pub goal: Option<GoalTerms>,
    pub pipeline: Option<PipelineTerms>,
}

/// What a pipeline is held to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PipelineTerms {
    /// Agents that may be dispatched.
    pub agents: u32,
    /// The gate its result has to pass; none where a single pair is all there is.
    pub gate: Option<String>,
    /// Pairs at work at once.
    pub jobs: u32,
    /// Overall rounds.
    pub overall: u32,
    /// Who drafts the plan, if somebody does.
    pub planner: Option<String>,
    /// The result becomes a commit on this branch; the empty name is the run's own.
    pub commits: Option<String>,
}

/// What a goal's worker is set to and held to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GoalTerms {
    /// When it is reached, in words.
    pub until: String,
    /// What may be done without asking, in one line.
    pub policy: String,
    /// Steps from one look of the critic to the next; none if nobody watches.
    pub interval: Option<u32>,
    /// Where the worker works.
    pub root: String,
    /// That is the user's own project.
    pub in_place: bool,
    /// Verified work becomes a commit.
    pub commits: bool,
}

impl Consent {
    /// `bytes` is what the user's material brings into every brief.
    pub fn of(plan: &Plan, settings: &dyn RunSettings, bytes: u64, agent_set: &AgentSet) -> Self {
        let cast = settings.cast();
        let own = settings.own_tools();
        let mut recipients = Vec::new();
        let mut worst_case = Money(0);
        let mut open_ended = false;
        for part in &cast {
            let Some(card) = plan.agents.get(&part.agent) else { continue };
            let bytes = bytes.saturating_add(part.grows);
            let worst = worst_of(card, bytes, part.calls.saturating_mul(parts(card, bytes)));
            open_ended |= worst.is_none();
            worst_case.0 = worst_case.0.saturating_add(worst.unwrap_or_default().0);
            recipients.push(Recipient {
                role: part.role,
                agent: part.agent.clone(),
                lens: part.lens.clone(),
                kind: card.kind.clone(),
                model: card.model.clone(),
                sends_to: card.sends_to.clone(),
                worst_case: worst,
                held: held(agent_set, &part.agent, part.role, plan.workspace.is_some(), own.as_ref()),
            });
        }
        let agent = |role: &str| cast.iter().find(|part| part.role == role).map(|part| &part.agent);
        let model = |role: &str| plan.agents.get(agent(role)?)?.model.clone();
        let same_agent = agent("worker").is_some() && agent("worker") == agent("critic");
        let same_model = same_agent || (model("worker").is_some() && model("worker") == model("critic"));
        let limits = plan.root.limits.with(plan.limits);
        if let Some(cap) = limits.money {
            worst_case = worst_case.min(cap);
        }
        let folder = plan.workspace.as_ref().map(|w| w.project.clone());
        let rounds = settings.rounds();
        let manifest = RunManifest::of(plan);
        Self {
            out: manifest.result().map(ToOwned::to_owned),
            recipients,
            rounds,
            limits,
            worst_case,
            open_ended,
            same_model,
            commands: manifest.lines(),
            folder,
            goal: settings.goal_terms(),
            pipeline: settings.pipeline_terms(),
        }
    }
}

/// What will hold an agent in this role.
fn held(
    agent_set: &AgentSet,
    name: &str,
    role: &str,
    folder: bool,
    own: Option<&OwnTools>,
) -> Option<Enforcement> {
    let member = agent_set.get(name)?;
    let agent = member.agent.as_ref().filter(|agent| agent.works_in_a_folder())?;
    let writes = matches!(role, "worker" | "fixer" | "tests");
    let own = own.filter(|_| writes);
    let writes_files = writes && own.is_none_or(|own| !own.reads_only());
    let permission = if writes_files { Permission::Write } else { Permission::ReadOnly };
    let compared = (!writes).then_some(CallSite::what_is_compared(folder));
    let holding = EnforcementRequest { permission, network: member.needs.network, compared, own };
    Some(sandbox::enforcement(agent.as_ref(), holding, sandbox::kernel()))
}

/// Into how many calls this much material is split at worst, half of each being left for the rest.
fn parts(card: &AgentCard, bytes: u64) -> u32 {
    let room = card.window.map_or(u64::MAX, |window| (window / 2).max(1));
    u32::try_from((bytes / 2).div_ceil(room)).unwrap_or(u32::MAX).max(1)
}

fn worst_of(card: &AgentCard, bytes: u64, calls: u32) -> Option<Money> {
    if let Some(most) = card.per_call.money {
        return Some(Money(most.0.saturating_mul(u64::from(calls))));
    }
    let price = card.price.as_ref()?;
    if let Some(tokens) = card.per_call.tokens {
        return Some(Money(price.at_most(tokens).0.saturating_mul(u64::from(calls))));
    }
    let input = (bytes / 2).saturating_add(card.max_output_tokens.saturating_mul(2));
    let each =
        input.saturating_mul(price.input).saturating_add(card.max_output_tokens.saturating_mul(price.output));
    Some(Money(each.saturating_mul(u64::from(calls))))
}
