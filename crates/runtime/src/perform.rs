//! Performs one effect: an agent's turn, or something in the run's folder. It journals nothing and decides nothing, so that
//! another host can drive the same performers.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use gadfly_agents::agent::{Observed, Progress, observing};
use gadfly_agents::{
    Agent, Call, CallError, CallReply, CaseText, CriticCase, Files, Link, MAX_REPLY, Picture, RawToolCall,
    RawToolResult, Spoken,
};
use gadfly_engine::brief::Reference;
use gadfly_engine::isolation::NOT_HELD;
use gadfly_engine::pipeline::listing::Survey;
use gadfly_engine::tool::ToolCall;
use gadfly_engine::turn::JudgedCase;
use gadfly_engine::{
    Answer, CallFailure, Digest, Effect, EffectId, EffectKind, FailureKind, Layer, Message, Observation,
    Part, Reply, Text, Texts, Turn, Usage,
};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::agent_set::Needs;
use crate::call_site::settings::{ProgramSetting, ProgramSettings};
use crate::call_site::{CallSite, SiteReport};
use crate::edits;
use crate::folder::{Folder, FolderError, listed};
use crate::os::children_ended;
use crate::sandbox::{self, Enforcement, EnforcementRequest};
use crate::survey::{self, SurveyError};

/// What comes back from an effect at work.
#[derive(Debug)]
pub enum Incoming {
    Observed { effect: EffectId, observation: Observation },
    Replied { effect: EffectId, reply: Reply, texts: Vec<Text> },
}

/// Observations an agent may be ahead of the journal.
const AHEAD: usize = 16;
/// The way back from what is performed to whoever drives. What comes is boxed: a queue has room for many, and every run has
/// a queue.
#[derive(Clone)]
pub struct Back(mpsc::Sender<Box<Incoming>>);

impl Back {
    pub fn new(room: usize) -> (Self, mpsc::Receiver<Box<Incoming>>) {
        let (tell, told) = mpsc::channel(room);
        (Self(tell), told)
    }

    /// Waits while the queue is full. Whoever drove may be gone: then nobody needs it. Boxed before it waits: a future that
    /// takes it as an argument would hold it twice.
    pub fn send(&self, incoming: Incoming) -> impl Future<Output = ()> + Send + '_ {
        let incoming = Box::new(incoming);
        async move {
            let _ = self.0.send(incoming).await;
        }
    }
}

/// How long after its limit a call is given to end by itself.
const GRACE: Duration = Duration::from_secs(2);
/// How long what was broken off is waited for, before settings are looked at.
const ENDING: Duration = Duration::from_secs(6);

/// A turn, ready to be performed on a task of its own.
pub struct TurnTask {
    pub effect: EffectId,
    pub agent: Arc<dyn Agent>,
    pub call: Call,
    pub place: CallSite,
    pub needs: Needs,
    pub cancel: CancellationToken,
    pub told: Option<mpsc::Receiver<String>>,
    pub progress: Progress,
    pub incoming: Back,
}

/// The call as the agent gets it, but for its place and what holds it.
pub fn call(effect: &Effect, turn: &Turn, texts: &Texts) -> Call {
    let messages = turn.messages.iter().map(|m| spoken(m, texts));
    Call {
        permission: turn.permission,
        stable: stable(turn, texts),
        nth: turn.nth,
        max_output_tokens: turn.max_output_tokens,
        time: effect.time_ms.map(Duration::from_millis),
        schema: turn.schema.and_then(|schema| texts.shared(&schema)),
        session: turn.session.clone(),
        tools: turn.tools.and_then(|tools| texts.shared(&tools)),
        own: turn.own.clone(),
        case: turn.case.as_ref().map(|case| Arc::new(case_of(case, turn, texts))),
        ..Call::new(effect.id.to_string(), turn.role, messages.collect())
    }
}

/// What a typed critic judges, with its texts.
fn case_of(case: &JudgedCase, turn: &Turn, texts: &Texts) -> CriticCase {
    let text = |digest: &Digest| texts.shared(digest).unwrap_or_else(|| Arc::from(""));
    let named = |given: &[Reference]| {
        given.iter().map(|r| CaseText { name: r.name.clone(), text: text(&r.text) }).collect()
    };
    let work = case.work.iter().map(|(name, slice)| {
        let text = Arc::from(slice.raw(texts.get(&slice.text)));
        CaseText { name: name.clone(), text }
    });
    CriticCase {
        task: case.task.as_ref().map(text),
        rubric: text(&case.rubric),
        references: named(&case.references),
        evidence: named(&case.evidence),
        work: work.collect(),
        previous: case.previous.as_ref().map(text),
        open: case.open.clone(),
        lens: case.lens.clone(),
        passes_at: turn.verdict.and_then(|asked| asked.passes_at),
    }
}

/// How many bytes of the first message are the same in the next call of this role: its settled parts, rendered as
/// they are in the whole.
fn stable(turn: &Turn, texts: &Texts) -> usize {
    let mut bytes = 0;
    let first = turn.messages.first().map(|first| first.parts.iter().take(turn.settled));
    first.into_iter().flatten().for_each(|part| part.said(texts, |words| bytes += words.len()));
    bytes
}

fn spoken(message: &Message, texts: &Texts) -> Spoken {
    let mut spoken = Spoken::new(message.from, message.render(texts));
    let body = |d: &Digest| texts.get(d).to_owned();
    for part in &message.parts {
        match part {
            Part::Call(call) => spoken.calls.push(RawToolCall {
                id: call.id.clone(),
                name: call.name.clone(),
                args: body(&call.args),
            }),
            Part::Result(result) => spoken.results.push(RawToolResult {
                call: result.call.clone(),
                text: body(&result.text),
                ok: result.ok,
            }),
            Part::Image(image) => spoken.images.extend(
                texts.shared(&image.data).map(|base64| Picture { media: image.media.clone(), base64 }),
            ),
            Part::Text(_) | Part::Blob(_) | Part::Data(_) | Part::Slice(_) => {}
        }
    }
    spoken
}

impl TurnTask {
    /// Calls the agent and sends observations and the one reply. The run may be gone meanwhile; then
    /// nobody listens and nothing is lost that a resume would not repeat.
    pub fn run(self) -> impl Future<Output = ()> + Send + 'static {
        let back = self.incoming.clone();
        // Chosen before anything waits, so that what waits carries the one that was chosen, and itself no more.
        let replied: BoxFuture<'static, Incoming> =
            if self.is_plain() { Box::pin(self.plainly()) } else { Box::pin(self.in_place()) };
        async move { back.send(replied.await).await }
    }

    /// Whether it takes nothing but the call itself.
    pub fn is_plain(&self) -> bool {
        let is_plain = matches!(self.place, CallSite::Nowhere) && self.needs.settings.is_empty();
        is_plain && !self.agent.works_in_a_folder() && self.call.own.is_none()
    }

    /// Most calls are such, and thousands may wait at once: what a place needs is not carried along. Observations are sent,
    /// the reply is given back.
    pub fn plainly(self) -> impl Future<Output = Incoming> + Send + 'static {
        let Self { effect, agent, call, cancel, told, progress, incoming, .. } = self;
        // The agent's own future holds the call as long as it needs it.
        let call = Box::new(call);
        async move {
            let said = AgentChannel { cancel, told, progress, files: Files::none(), tmp: Files::none() };
            let (result, took_ms) = ask(&effect, &*agent, *call, said, &incoming).await;
            let (reply, texts) = reply(result, Ok(SiteReport::default()), took_ms);
            Incoming::Replied { effect, reply, texts }
        }
    }

    async fn in_place(self) -> Incoming {
        let Self { effect, agent, mut call, place, needs, cancel, told, progress, incoming } = self;
        if let Some(unheld) = call.own.as_ref().and_then(|own| sandbox::unheld(&*agent, own)) {
            let why = format!("it cannot be held to the goal's policy: {}; {}", unheld.why, unheld.fix);
            return Incoming::Replied { effect, reply: impossible(why), texts: Vec::new() };
        }
        let held = held(&*agent, &call, &place, &needs);
        // Through a link to the user's own files nobody writes whom the kernel holds.
        let place =
            if held.as_ref().is_some_and(|held| held.sandboxed) { place } else { place.without_links() };
        let aside = call.tmp.as_deref().map(|tmp| tmp.with_extension("aside"));
        let settings = needs.settings.clone();
        // Not given up half-way: what was begun with the run's folder is finished.
        let entered = match place.enter(call.tmp.as_deref()).await {
            Ok(entered) => entered,
            Err(error) => return Incoming::Replied { effect, reply: error.reply(), texts: Vec::new() },
        };
        let files = entered.workdir.as_deref().map_or_else(Files::none, edits::in_folder);
        let tmp = call.tmp.as_deref().map_or_else(Files::none, edits::in_folder);
        (call.workdir, call.lock) = (entered.workdir.clone(), entered.lock.clone());
        if let Some(held) = held {
            let mounts = entered.mounts.as_ref().filter(|_| held.sandboxed);
            call.sandbox = mounts.map(|mounts| sandbox::policy(call.reach(), mounts));
            make_state(needs.state).await;
            for observation in said_of(held) {
                incoming.send(Incoming::Observed { effect: effect.clone(), observation }).await;
            }
        }
        let lock = call.lock.clone().filter(|_| !settings.is_empty());
        let settings = before(settings).await;
        let said = AgentChannel { cancel, told, progress, files, tmp };
        let (result, took_ms) = ask(&effect, &*agent, call, said, &incoming).await;
        if let (Err(_), Some(lock)) = (&result, &lock) {
            // A call that was broken off may be at work for another moment.
            let _ = children_ended(lock, ENDING).await;
        }
        for observation in put_back(settings, aside).await {
            incoming.send(Incoming::Observed { effect: effect.clone(), observation }).await;
        }
        let left = entered.leave().await;
        if let Some(observation) = stopped(result.is_ok(), &left) {
            incoming.send(Incoming::Observed { effect: effect.clone(), observation }).await;
        }
        let (reply, texts) = reply(result, left, took_ms);
        Incoming::Replied { effect, reply, texts }
    }
}

/// What is said between the engine and an agent at work, beside the call and its answer.
struct AgentChannel {
    cancel: CancellationToken,
    told: Option<mpsc::Receiver<String>>,
    progress: Progress,
    files: Files,
    tmp: Files,
}

/// The answer, and how long it took. What the agent observes on the way is sent on. The call is given away before anything
/// waits: thousands of these wait at once.
fn ask<'a>(
    effect: &'a EffectId,
    agent: &'a dyn Agent,
    call: Call,
    said: AgentChannel,
    incoming: &'a Back,
) -> impl Future<Output = (Result<CallReply, CallError>, u64)> + Send + 'a {
    let limit = call.time.map(|t| t + GRACE);
    let (observe, observed) = observing(AHEAD);
    let AgentChannel { cancel, told, progress, files, tmp } = said;
    let sent = agent.states_usage().then(|| bytes(&call));
    let asking = agent.call(call, Link { observe, progress, cancel, told, files, tmp });
    listened(effect, asking, limit, sent, observed, incoming)
}

async fn listened(
    effect: &EffectId,
    mut asking: BoxFuture<'_, Result<CallReply, CallError>>,
    limit: Option<Duration>,
    sent: Option<u64>,
    mut observed: Observed,
    incoming: &Back,
) -> (Result<CallReply, CallError>, u64) {
    let began = Instant::now();
    let mut used = Usage::default();
    let mut overtime = std::pin::pin!(async move {
        match limit {
            Some(limit) => tokio::time::sleep(limit).await,
            None => std::future::pending().await,
        }
    });
    let result = loop {
        tokio::select! {
            biased;
            Some(observation) = observed.recv() => {
                if let Observation::Usage { usage } = &observation {
                    used = *usage;
                }
                incoming.send(Incoming::Observed { effect: effect.clone(), observation }).await;
            }
            result = &mut asking => break result,
            () = &mut overtime => {
                break Err(CallError::failed(FailureKind::Timeout, "the call did not end within its time"));
            }
        }
    };
    drop(asking);
    while let Some(observation) = observed.try_recv() {
        if let Observation::Usage { usage } = &observation {
            used = *usage;
        }
        incoming.send(Incoming::Observed { effect: effect.clone(), observation }).await;
    }
    let result = accounted(result, sent, used);
    // What a call had told before it was stopped is what it cost, as far as anybody knows.
    if matches!(result, Err(CallError::Cancelled { sent: true })) && is_something(&used) && !used.estimated {
        let observation = Observation::Usage { usage: Usage { estimated: true, ..used } };
        incoming.send(Incoming::Observed { effect: effect.clone(), observation }).await;
    }
    (result, u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX))
}

/// The bytes of a call's brief.
fn bytes(call: &Call) -> u64 {
    let of = |spoken: &Spoken| {
        let calls = spoken.calls.iter().map(|wish| wish.name.len() + wish.args.len());
        let results = spoken.results.iter().map(|said| said.text.len());
        let images = spoken.images.iter().map(|image| image.base64.len());
        spoken.text.len() + calls.chain(results).chain(images).sum::<usize>()
    };
    let beside = [call.system.as_deref(), call.tools.as_deref()].into_iter().flatten().map(str::len);
    beside.chain(call.messages.iter().map(of)).map(|n| n as u64).sum()
}

fn is_something(usage: &Usage) -> bool {
    usage.tokens() > 0 || usage.cost.is_some()
}

/// With what was not stated of its usage: an answer's is estimated, and a call that was broken off used what it had told.
fn accounted(
    result: Result<CallReply, CallError>,
    sent: Option<u64>,
    used: Usage,
) -> Result<CallReply, CallError> {
    match result {
        Ok(mut answered) => {
            if let Some(sent) = sent {
                let calls: usize = answered.calls.iter().map(|wish| wish.name.len() + wish.args.len()).sum();
                let came = (answered.text.len() + calls) as u64;
                answered.usage = answered.usage.or_estimated(sent, came);
            }
            Ok(answered)
        }
        Err(CallError::Failed(mut failure)) => {
            if !is_something(&failure.usage) {
                failure.usage = used;
            }
            if matches!(failure.kind, FailureKind::Timeout | FailureKind::BrokenOff) {
                failure.usage.estimated |= is_something(&failure.usage);
            }
            Err(CallError::Failed(failure))
        }
        other => other,
    }
}

/// What holds a call that takes place in a folder. Who has no process and no folder touches nothing.
fn held(agent: &dyn Agent, call: &Call, place: &CallSite, needs: &Needs) -> Option<Enforcement> {
    if !agent.works_in_a_folder() {
        return None;
    }
    let (compared, own) = (place.compared(), call.own.as_ref());
    let holding = EnforcementRequest { permission: call.reach(), network: needs.network, compared, own };
    Some(sandbox::enforcement(agent, holding, sandbox::kernel()))
}

/// What the record says of it before the call begins. A layer that should hold and does not is said in its
/// own words, never among those that do.
fn said_of(held: Enforcement) -> impl Iterator<Item = Observation> {
    let without = held.unheld.map(|why| Observation::Note { line: format!("{NOT_HELD}{why}") });
    without.into_iter().chain([Observation::Guarded { guards: held.guards }])
}

/// A program in a sandbox cannot make the folder of its own state.
async fn make_state(folders: Vec<std::path::PathBuf>) {
    let made = tokio::task::spawn_blocking(move || {
        // One that cannot be made is its program's to complain about.
        folders.iter().filter(|folder| !folder.exists()).for_each(|folder| {
            let _ = std::fs::create_dir_all(folder);
        });
    });
    let _ = made.await;
}

/// How the settings of the call's program stand, if it has any.
async fn before(settings: Vec<ProgramSetting>) -> Option<ProgramSettings> {
    if settings.is_empty() {
        return None;
    }
    tokio::task::spawn_blocking(move || ProgramSettings::before(&settings)).await.ok()
}

/// What a call changed of its program's own settings. They are as before, whatever becomes of the call.
async fn put_back(settings: Option<ProgramSettings>, aside: Option<PathBuf>) -> Vec<Observation> {
    let (Some(settings), Some(aside)) = (settings, aside) else { return Vec::new() };
    let kept = aside.display().to_string();
    let changed = tokio::task::spawn_blocking(move || settings.put_back(&aside)).await.unwrap_or_default();
    if changed.is_empty() {
        return Vec::new();
    }
    let what =
        format!("changed its settings: {}; what was there is kept in {kept}", listed(&changed).join(", "));
    vec![Observation::Stopped { layer: Layer::Compared, what }]
}

/// What a call changed that has no answer. An answer says so itself.
fn stopped(answered: bool, left: &Result<SiteReport, String>) -> Option<Observation> {
    let violations =
        left.as_ref().ok().map(|left| &left.violations).filter(|v| !v.is_empty() && !answered)?;
    let what = format!("changed {}; undone", violations.join(", "));
    Some(Observation::Stopped { layer: Layer::Compared, what })
}

fn reply(
    result: Result<CallReply, CallError>,
    left: Result<SiteReport, String>,
    took_ms: u64,
) -> (Reply, Vec<Text>) {
    match result {
        Ok(CallReply { text, usage, .. }) if text.len() > MAX_REPLY => {
            let message = format!("the reply is longer than {MAX_REPLY} bytes");
            (Reply::Failed(CallFailure { kind: FailureKind::BadReply, message, usage }), Vec::new())
        }
        Ok(CallReply { text, stop, usage, model, session, calls }) => {
            let SiteReport { report, violations } = match left {
                Ok(left) => left,
                Err(message) => {
                    let failure = CallFailure { kind: FailureKind::BadReply, message, usage };
                    return (Reply::Failed(failure), Vec::new());
                }
            };
            let text = Text::new(text);
            let (mut parts, written) = (vec![Part::Blob(text.digest())], report.as_ref().map(Text::digest));
            let mut texts = vec![text];
            for RawToolCall { id, name, args } in calls {
                let args = Text::new(args);
                parts.push(Part::Call(ToolCall { id, name, args: args.digest() }));
                texts.push(args);
            }
            texts.extend(report);
            let answer = Answer { parts, stop, usage, model, took_ms, report: written, violations, session };
            (Reply::Done(answer), texts)
        }
        Err(CallError::Failed(failure)) => (Reply::Failed(failure), Vec::new()),
        Err(CallError::Cancelled { sent }) => (Reply::Cancelled { sent }, Vec::new()),
        Err(CallError::Quota { until_ms, message, usage }) => {
            (Reply::DeniedQuota { until_ms, message, usage }, Vec::new())
        }
    }
}

/// A look at the user's project, ready to be performed on a task of its own.
pub struct SurveyTask {
    pub effect: Effect,
    pub survey: Survey,
    pub project: PathBuf,
    /// Gadfly's own folder.
    pub store: PathBuf,
    pub cancel: CancellationToken,
    pub incoming: Back,
}

impl SurveyTask {
    pub async fn run(self) {
        let Self { effect, survey, project, store, cancel, incoming } = self;
        let limit = effect.time_ms.map_or(Duration::MAX, Duration::from_millis);
        let stop = cancel.child_token();
        let stopping = stop.clone();
        let mut looking =
            tokio::task::spawn_blocking(move || survey::look(&project, &store, &survey, &stopping));
        let looked = tokio::select! {
            looked = &mut looking => looked,
            () = tokio::time::sleep(limit) => {
                stop.cancel();
                looking.await
            }
        };
        let (reply, texts) = match looked {
            Ok(Ok(seen)) => {
                let (surveyed, texts) = seen.reply();
                (Reply::Surveyed(surveyed), texts)
            }
            Ok(Err(SurveyError::Cancelled)) if cancel.is_cancelled() => {
                (Reply::Cancelled { sent: true }, Vec::new())
            }
            Ok(Err(SurveyError::Cancelled)) => (late(&effect), Vec::new()),
            Ok(Err(other)) => (impossible(other.to_string()), Vec::new()),
            Err(stopped) => (impossible(stopped.to_string()), Vec::new()),
        };
        incoming.send(Incoming::Replied { effect: effect.id, reply, texts }).await;
    }
}

/// A look, a command or an acceptance, ready to be performed on a task of its own.
pub struct FolderTask {
    pub effect: Effect,
    pub folder: Arc<Folder>,
    pub cancel: CancellationToken,
    pub incoming: Back,
}

impl FolderTask {
    pub async fn run(self) {
        let Self { effect, folder, cancel, incoming } = self;
        let limit =
            effect.time_ms.map_or(Duration::MAX, |ms| Duration::from_millis(ms).saturating_add(GRACE));
        let (observe, mut observed) = mpsc::channel(AHEAD);
        let tell = move |line: String| {
            let _ = observe.try_send(Observation::Note { line });
        };
        // Dropped, it ends the programs it started; whoever enters the folder next waits for that.
        let work = async {
            tokio::select! {
                done = perform(&effect.kind, &folder, &cancel, &tell) => done,
                () = cancel.cancelled(), if !is_acceptance(&effect.kind) => Err(FolderError::Cancelled),
                () = tokio::time::sleep(limit), if !is_acceptance(&effect.kind) => Ok((late(&effect), Vec::new())),
            }
        };
        let (reply, texts) = work.await.unwrap_or_else(|error| (error.reply(), Vec::new()));
        drop(tell);
        while let Ok(observation) = observed.try_recv() {
            incoming.send(Incoming::Observed { effect: effect.id.clone(), observation }).await;
        }
        incoming.send(Incoming::Replied { effect: effect.id, reply, texts }).await;
    }
}

/// Writing to the user's checkout, or repository, is never broken off in the middle.
const fn is_acceptance(kind: &EffectKind) -> bool {
    matches!(kind, EffectKind::Accept(_) | EffectKind::Commit(_))
}

fn late(effect: &Effect) -> Reply {
    let message = format!("the {} did not end within its time", effect.kind.name());
    Reply::Failed(CallFailure { kind: FailureKind::Timeout, message, usage: Usage::default() })
}

async fn perform(
    kind: &EffectKind,
    folder: &Folder,
    cancel: &CancellationToken,
    tell: &(dyn Fn(String) + Send + Sync),
) -> Result<(Reply, Vec<Text>), FolderError> {
    match kind {
        EffectKind::Look(look) => {
            let (looked, texts) = folder.look(look, tell).await?;
            Ok((Reply::Looked(looked), texts))
        }
        EffectKind::Examine(examine) => Ok((Reply::Examined(folder.examine(examine).await?), Vec::new())),
        EffectKind::Verify(verify) => {
            let (verified, texts) = folder.verify(verify, cancel).await?;
            Ok((Reply::Verified(verified), texts))
        }
        EffectKind::Accept(accept) => Ok((folder.accept(accept).await?, Vec::new())),
        EffectKind::Commit(commit) => Ok((folder.commit_files(commit).await?, Vec::new())),
        other => {
            Ok((impossible(format!("a {} is nothing a folder is needed for", other.name())), Vec::new()))
        }
    }
}

/// An effect nobody here can perform.
pub fn impossible(message: String) -> Reply {
    Reply::Failed(CallFailure { kind: FailureKind::Misconfigured, message, usage: Usage::default() })
}
