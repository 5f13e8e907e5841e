//! What somebody has to agree to before a run is started or taken up, as data: for doors without a terminal. What the
//! agreement is about is decided in `agreement`, the same for all.

use gadfly_journal::RunId;
use gadfly_project::trust::TrustEntry;
use gadfly_project::{LoopConfig, Problem};
use gadfly_runtime::Gadfly;
use gadfly_runtime::prepare::{GoalRequest, Prepared, Request};
use gadfly_runtime::setup::Setup;

use crate::agreement::{self, Uses};
use crate::commands::run::united;
use crate::context::Context;
use crate::output::consent;
use crate::telemetry;

/// What is to be agreed to.
#[derive(Clone, Debug, Default)]
pub struct Terms {
    /// Who is sent what, at most at what cost; empty until everything is trusted that preparing needs.
    pub consent: Vec<String>,
    /// What the project's files want and nobody has agreed to yet.
    pub wanted: Vec<TrustEntry>,
    /// The run that would be started: a new one each time it is prepared.
    run: Option<RunId>,
}

/// A run that can be started, or what stands before it.
pub enum Ready {
    /// Nothing is called before it is started. The terms say what it will send.
    Prepared(Box<Prepared>, Terms),
    /// Preparing it might run what the project's files name: that has to be agreed to first.
    Untrusted(Terms),
}

impl Terms {
    /// The same terms have the same words here: whoever agrees says them back.
    pub fn digest(&self) -> String {
        let mut hash = blake3::Hasher::new();
        for line in self.consent.iter().cloned().chain(self.wanted_lines()) {
            // Folders are named after the run; that is no difference to whoever agrees.
            let line = self.run.as_ref().map_or(line.clone(), |run| line.replace(run.as_str(), "RUN"));
            hash.update(line.as_bytes()).update(b"\n");
        }
        hash.finalize().to_hex().chars().take(32).collect()
    }

    pub fn wanted_lines(&self) -> Vec<String> {
        consent::wanted(&self.wanted).iter().map(|line| plain(line)).collect()
    }

    /// Remembers that the user allows this here from now on.
    pub fn trust(&self, context: &Context) -> Result<(), String> {
        agreement::remember(context, &self.wanted)
    }
}

/// A loop, as far as it can be prepared.
pub async fn of_loop(context: &Context, setup: &Setup, request: &Request) -> Result<Ready, Vec<Problem>> {
    let (looped, found): (LoopConfig, _) = request.configured(&context.config);
    let uses = Uses::of(&looped, request.review.is_some(), context);
    if let Some(untrusted) = untrusted(context, &uses, found)? {
        return Ok(Ready::Untrusted(untrusted));
    }
    Ok(ready(context, setup.prepare(request).await?))
}

/// A goal, as far as it can be prepared.
pub async fn of_goal(context: &Context, setup: &Setup, request: &GoalRequest) -> Result<Ready, Vec<Problem>> {
    let (goal, found) = request.configured(&context.config);
    if let Some(untrusted) = untrusted(context, &Uses::of_goal(&goal, context), found)? {
        return Ok(Ready::Untrusted(untrusted));
    }
    Ok(ready(context, setup.prepare_goal(request).await?))
}

/// What taking a recorded run up again needs: its record may come from somebody else.
pub fn of_resume(context: &Context, gadfly: &Gadfly, run: &RunId) -> Result<Terms, String> {
    let start = gadfly.journal().start(run).map_err(|e| e.to_string())?;
    let wanted =
        agreement::missing(context, &Uses::recorded(&start.plan).unless_made_here(gadfly.journal(), run))?;
    Ok(Terms { wanted, ..Terms::default() })
}

fn untrusted(context: &Context, uses: &Uses, found: Vec<Problem>) -> Result<Option<Terms>, Vec<Problem>> {
    let all = united(&context.problems, found);
    if all.iter().any(Problem::is_error) {
        return Err(all);
    }
    let wanted = agreement::missing(context, uses).map_err(|why| vec![Problem::error(why)])?;
    Ok((!wanted.is_empty()).then(|| Terms { wanted, ..Terms::default() }))
}

fn ready(context: &Context, prepared: Prepared) -> Ready {
    let mut lines = consent::lines(&prepared.consent);
    lines.extend(telemetry::told(context));
    let consent = lines.iter().map(|line| plain(line)).collect();
    let terms = Terms { consent, wanted: Vec::new(), run: Some(prepared.run.clone()) };
    Ready::Prepared(Box::new(prepared), terms)
}

fn plain(line: &str) -> String {
    anstream::adapter::strip_str(line).to_string().trim_end().to_owned()
}
