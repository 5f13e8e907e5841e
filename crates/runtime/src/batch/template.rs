//! What all loops of a batch have in common, so that a task costs no configuration work of its own.

use gadfly_engine::input::{FORMAT, InputKind, Start};
use gadfly_engine::machine::Engine;
use gadfly_engine::{Digest, EffectKind, Input, Limits, Money, Plan, Stamp, Text};
use gadfly_journal::RunId;
use gadfly_project::tasks::BatchTask;
use gadfly_project::{ConfigLayer, Problem, title};

use super::BatchRequest;
use crate::agent_set::AgentSet;
use crate::agents::AgentResolver;
use crate::consent::Consent;
use crate::prepare::protocols::settings_of_task;
use crate::prepare::{RunSettings, rule_books, seed};
use crate::service::{Gadfly, Raise};

pub struct Template {
    settings: Box<dyn RunSettings>,
    loop_limits: Limits,
    /// A plan without task and rubric.
    plan: Plan,
    pub agent_set: AgentSet,
    /// What the run id of every task begins with.
    identity: Vec<u8>,
    /// The flag, if it was given: it may raise the rounds of parked runs.
    rounds: Option<u32>,
    pub warnings: Vec<Problem>,
}

impl Template {
    pub async fn new(gadfly: &Gadfly, request: &BatchRequest) -> Result<Self, Vec<Problem>> {
        let mut config = gadfly.config().clone();
        for agent in config.agents.values_mut().filter(|a| a.concurrent.layer == ConfigLayer::BuiltIn) {
            // Whoever asks for a hundred loops at once means a hundred calls, unless the agent says less.
            agent.concurrent.value = agent.concurrent.value.max(request.jobs as u64);
        }
        let mut given = request.given.clone();
        // Every line brings its own.
        given.set("task", "task");
        let (looped, mut problems) = config.loop_for(None, &given);
        let (Some(worker), Some(critic)) = (&looped.options.worker, looped.critic()) else {
            return Err(problems);
        };
        // A task has no digest before it is read.
        let settings = settings_of_task(&looped, Digest::of(b""));
        if settings.is_none() {
            let message = format!("a batch cannot follow `{}` yet", looped.options.protocol.value);
            let help = "give it --protocol revise or score, or run its tasks one by one";
            problems.push(Problem::error(message).help(help).at(looped.options.protocol.place.as_ref()));
        }
        let Some(settings) = settings.filter(|_| !problems.iter().any(Problem::is_error)) else {
            return Err(problems);
        };
        let names: Vec<String> = settings.cast().into_iter().map(|part| part.agent).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let run_limits = config.limits.with(given.limits());
        let capped = run_limits.money.is_some() || looped.limits.money.is_some() || request.budget.is_some();
        let resolver = AgentResolver { config: &config, ..gadfly.resolver() };
        let agent_set = match resolver.resolve(&names, capped).await {
            Ok(agent_set) => agent_set,
            Err(found) => {
                problems.extend(found);
                return Err(problems);
            }
        };
        let wrong = |e: &dyn std::fmt::Display| vec![Problem::error(e.to_string())];
        let root = settings.node_plan(looped.limits).map_err(|e| wrong(&e))?;
        let plan = Plan {
            caller: None,
            title: String::new(),
            root,
            agents: agent_set.cards().into(),
            limits: run_limits,
            workspace: None,
        };
        let path = request.tasks.canonicalize().map_err(|e| wrong(&e))?;
        let protocol = looped.options.protocol.value.name();
        let mut identity = Vec::new();
        for part in [b"batch", path.as_os_str().as_encoded_bytes(), protocol.as_bytes()] {
            push(&mut identity, part);
        }
        push(&mut identity, worker.value.as_bytes());
        push(&mut identity, critic.value.as_bytes());
        for seat in looped.critics.iter().skip(1) {
            push(&mut identity, seat.value.agent.as_bytes());
        }
        let rounds = request.given.whole("rounds").and_then(|r| u32::try_from(r).ok());
        let loop_limits = looped.limits;
        Ok(Self { settings, loop_limits, plan, agent_set, identity, rounds, warnings: problems })
    }

    /// The run of a task: the same task in the same batch has the same one.
    pub fn run_id(&self, task: &BatchTask) -> RunId {
        let mut all = self.identity.clone();
        push(&mut all, task.id.as_bytes());
        push(&mut all, task.digest.as_bytes());
        RunId::derived(&Digest::of(&all))
    }

    /// The bytes a task brings into every brief.
    pub fn bytes(task: &BatchTask) -> u64 {
        let rubric: usize = task.rubric.iter().map(String::len).sum();
        task.task.len().saturating_add(rubric) as u64
    }

    pub fn consent(&self, bytes: u64) -> Consent {
        Consent::of(&self.plan, self.settings.as_ref(), bytes, &self.agent_set)
    }

    pub fn worst_case(&self, bytes: u64) -> Money {
        self.consent(bytes).worst_case
    }

    /// The first input of a task's run. `money` is what is held back for it, which then is its cap: so
    /// the loops together never spend more than the batch may.
    pub fn start(&self, task: &BatchTask, money: Option<Money>) -> Result<(Start, Vec<Text>), String> {
        let text = Text::new(task.task.as_str());
        let mut texts = vec![text.clone()];
        let about = self.settings.about(text.digest(), &task.rubric);
        let (settings, named) = about.ok_or("this protocol needs more than a task and a rubric")?;
        texts.extend(named);
        let root = settings.node_plan(self.loop_limits).map_err(|e| e.to_string())?;
        let limits = Limits { money: money.or(self.plan.limits.money), ..self.plan.limits };
        let title = title::title(&task.task);
        let plan =
            Plan { caller: None, title, root, agents: self.plan.agents.clone(), limits, workspace: None };
        let seed = seed().map_err(|e| e.to_string())?;
        Ok((Start { format: FORMAT, plan, seed }, texts))
    }

    /// What a resumed run gets: how its agents are reached now, and caps that were raised since.
    pub fn resume(&self, recorded: &Plan, spent: Money, money: Option<Money>) -> InputKind {
        let higher =
            |now: Option<u64>, then: Option<u64>| now.filter(|now| then.is_some_and(|then| *now > then));
        let (now, then) = (self.plan.limits, recorded.limits);
        let configured = higher(now.money.map(|m| m.0), then.money.map(|m| m.0)).map(Money);
        let raise = Raise {
            rounds: self.rounds,
            limits: Limits {
                tokens: higher(now.tokens, then.tokens),
                money: money.map(|m| Money(m.0.saturating_add(spent.0))).or(configured),
                active_ms: higher(now.active_ms, then.active_ms),
                calls: higher(now.calls.map(u64::from), then.calls.map(u64::from))
                    .and_then(|c| u32::try_from(c).ok()),
                ..Limits::default()
            },
        };
        let changed = |name: &String| recorded.agents.get(name) != self.plan.agents.get(name);
        let agents = self.plan.agents.iter().filter(|(name, _)| changed(name));
        let agents = agents.map(|(name, card)| (name.clone(), card.clone())).collect();
        InputKind::Resumed { limits: raise.limits, rounds: raise.rounds, agents }
    }

    /// The first brief of a task, as it would be sent.
    pub fn first_brief(&self, task: &BatchTask) -> Option<String> {
        let (start, texts) = self.start(task, None).ok()?;
        let mut engine = Engine::new(rule_books());
        let input = Input { at: Stamp::default(), what: InputKind::Started(Box::new(start)), texts };
        let step = engine.on(&input).ok()?;
        let known = engine.texts()?;
        step.effects.iter().find_map(|effect| match &effect.kind {
            EffectKind::Turn(turn) => {
                Some(turn.messages.iter().map(|m| m.render(known)).collect::<Vec<_>>().join("\n\n"))
            }
            _ => None,
        })
    }
}

/// With its length, so that no two lists of parts look alike.
fn push(to: &mut Vec<u8>, part: &[u8]) {
    to.extend_from_slice(&(part.len() as u64).to_le_bytes());
    to.extend_from_slice(part);
}
