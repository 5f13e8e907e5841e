//! What a client's model does not decide by itself: who judges instead of the configured critic, and caps above the
//! configured ones. The user agreed when the server was started, or is asked, or it is refused. Lower caps are free.

use gadfly_engine::Money;
use gadfly_journal::{RunId, Summary};
use gadfly_project::LoopConfig;
use gadfly_project::config::HOST;
use gadfly_runtime::prepare::Request;
use gadfly_runtime::service::Raise;

use super::asking::{self, ConsentAnswer};
use super::client::McpClient;
use super::reply::{ToolError, refused};
use super::state::ServerState;
use crate::background::Background;
use crate::context::Context;
use crate::output::safe;

const YES: &str = "allow for this run";
/// How much of a goal in words the user is shown.
const LONGEST_TOLD: usize = 2000;

/// What the user agreed to when the server was started.
#[derive(Clone, Copy, Debug, Default)]
pub struct Agreed {
    /// What the project's files name.
    pub trust: bool,
    /// The host says who judges, and may be that itself.
    pub host_critic: bool,
    /// The host may raise budgets and rounds.
    pub raise: bool,
}

/// What a call wants beyond the configuration.
#[derive(Debug, Default)]
pub struct Beyond {
    critic: Option<UnnamedCritic>,
    raised: Vec<String>,
    /// A goal that gadfly.toml does not name.
    goal: Option<String>,
}

/// A critic that the configuration names nowhere as one.
#[derive(Debug)]
struct UnnamedCritic {
    named: String,
    configured: Option<String>,
}

impl Beyond {
    /// Of a loop that is to be started.
    pub fn of_start(request: &Request, context: &Context) -> Self {
        let mut usual = request.clone();
        for option in ["critic", "critics", "rounds", "budget"] {
            usual.given.remove(option);
        }
        let (usual, _) = usual.configured(&context.config);
        let most = lowest([context.config.limits.money, usual.limits.money]);
        let mut raised = Vec::new();
        raised.extend(above(request.given.limits().money, most));
        raised.extend(
            request.given.whole("rounds").and_then(|rounds| more_rounds(rounds, usual.options.rounds.value)),
        );
        let critic = request.given.critics().into_iter().find(|named| is_beyond(named, &usual, context));
        let configured = usual.critic().map(|critic| critic.value);
        Self { critic: critic.map(|named| UnnamedCritic { named, configured }), raised, goal: None }
    }

    /// Of a goal: one in words sets a worker with tools to work, and its commands run here.
    pub fn of_goal(goal: Option<&str>, checks: &[String]) -> Self {
        let told = goal.map(|goal| {
            let checked = match checks {
                [] => "no command checks it".to_owned(),
                checks => format!("checked by `{}`", checks.join("` and `")),
            };
            safe::line(&format!("a goal that gadfly.toml does not name, {checked}: {goal}"), LONGEST_TOLD)
        });
        Self { goal: told, ..Self::default() }
    }

    /// Of a run that is taken up again: above what it has now.
    pub fn of_resume(background: &Background, now: &Summary, raise: &Raise) -> Result<Self, ToolError> {
        let mut raised = Vec::new();
        if raise.limits.money.is_some() {
            raised.extend(above(raise.limits.money, money_cap(background, &now.run)?));
        }
        let rounds = raise.rounds.and_then(|rounds| more_rounds(rounds.into(), now.rounds_max.into()));
        raised.extend(rounds);
        Ok(Self { raised, ..Self::default() })
    }

    /// Refuses at once what nobody agreed to and nobody can be asked about here.
    pub fn refuse_unasked(&self, server: &ServerState, client: &McpClient) -> Result<(), ToolError> {
        let (critic, raised) = self.left(server.agreed);
        if client.can_ask() || (critic.is_none() && raised.is_empty() && self.goal.is_none()) {
            return Ok(());
        }
        let mut why = Vec::new();
        if self.goal.is_some() {
            why.push(
                "A goal in words is started only if the user agrees in a form (this client has none). The user can \
                 start it in a terminal, `gadfly goal \"…\" --until '…'`, or name it in gadfly.toml: then give `name`."
                    .to_owned(),
            );
        }
        if let Some(UnnamedCritic { named, configured }) = critic {
            let instead = match configured {
                Some(usual) => format!("Leave `critic` out and {usual} judges"),
                None => "Name one in gadfly.toml".to_owned(),
            };
            why.push(format!(
                "`{named}` is not the critic that is configured. Another one judges only if gadfly.toml names it as the \
                 critic of a loop or in [defaults], if the user agrees in a form (this client has none), or if the \
                 server was started as `gadfly mcp --host-critic`. {instead}."
            ));
        }
        if !raised.is_empty() {
            why.push(format!(
                "{}: that is above what is configured. A cap is raised only if the user agrees in a form (this client \
                 has none), or if the server was started as `gadfly mcp --allow-raise`; the user can raise it in \
                 gadfly.toml, or in a terminal with `gadfly run` or `gadfly resume`. Lower ones are taken as they are.",
                raised.join(" and ")
            ));
        }
        Err(refused(why.join("\n")))
    }

    /// Has the user agree, or refuses. Whatever else is to be asked was asked before: a client that calls again
    /// brings only the last answer.
    pub async fn allow(&self, server: &ServerState, client: &McpClient) -> Result<(), ToolError> {
        self.refuse_unasked(server, client)?;
        let (critic, raised) = self.left(server.agreed);
        let mut wanted: Vec<String> = critic.map(UnnamedCritic::told).into_iter().collect();
        wanted.extend(raised.iter().cloned());
        wanted.extend(self.goal.clone());
        if wanted.is_empty() {
            return Ok(());
        }
        let wanted = format!("the host wants more than is configured:\n- {}", wanted.join("\n- "));
        let key = format!("beyond {}", &blake3::hash(wanted.as_bytes()).to_hex()[..32]);
        let message = format!("Gadfly: {wanted}\n\nAllow this?");
        match asking::consent(client, &key, &message, YES, None).await? {
            ConsentAnswer::Yes => Ok(()),
            ConsentAnswer::No | ConsentAnswer::Nobody => {
                Err(refused(format!("{wanted}\nThe user did not allow it, so nothing was started.")))
            }
        }
    }

    /// What nobody has agreed to yet.
    fn left(&self, agreed: Agreed) -> (Option<&UnnamedCritic>, &[String]) {
        let raised = if agreed.raise { &[] } else { self.raised.as_slice() };
        (self.critic.as_ref().filter(|_| !agreed.host_critic), raised)
    }
}

impl UnnamedCritic {
    fn told(&self) -> String {
        let who = if self.named == HOST {
            "the work is judged by the host itself".to_owned()
        } else {
            format!("the work is judged by {}", self.named)
        };
        match &self.configured {
            Some(usual) => format!("{who} instead of {usual}"),
            None => who,
        }
    }
}

/// Whether the configuration names this agent nowhere as a critic. One that is not there at all is refused elsewhere.
fn is_beyond(named: &str, usual: &LoopConfig, context: &Context) -> bool {
    let config = &context.config;
    let judges = |looped: &LoopConfig| {
        looped.critics.iter().any(|seat| seat.value.agent == named)
            || looped.options.fallback_critic.as_ref().is_some_and(|critic| critic.value == named)
    };
    let defaults = [&config.defaults.critic, &config.defaults.fallback_critic];
    let is_named = judges(usual)
        || config.loops.values().any(judges)
        || defaults.into_iter().flatten().any(|critic| critic.value == named);
    !is_named && (named == HOST || config.agents.contains_key(named))
}

fn above(wanted: Option<Money>, most: Option<Money>) -> Option<String> {
    let (wanted, most) = (wanted?, most?);
    (wanted > most).then(|| format!("up to {wanted} may be spent instead of {most}"))
}

fn more_rounds(wanted: u64, most: u64) -> Option<String> {
    (wanted > most).then(|| format!("{wanted} rounds instead of {most}"))
}

fn lowest(caps: [Option<Money>; 2]) -> Option<Money> {
    caps.into_iter().flatten().min()
}

/// What a run may spend as it is now, with what was raised before.
fn money_cap(background: &Background, run: &RunId) -> Result<Option<Money>, ToolError> {
    let totals = background.gadfly().journal().totals(run).map_err(|e| refused(e.to_string()))?;
    Ok(totals.limits.money)
}
