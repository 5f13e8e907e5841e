//! `gadfly acp -- AGENT …`: between an editor and the agent it talks to, over the Agent Client Protocol. Every line is
//! passed on as it is; a copy is read. When a turn of the agent's ends, its answer is held until the turn's change was
//! judged ([decision 32](../../../docs/decisions/0032-a-critic-inside-any-editor.md)).
//!
//! `wire` carries lines, `message` reads and makes them, `sessions` is what is known of the editor's sessions, `hearing`
//! decides what becomes of a line, `turn` judges, `mark` outlives a crash.

mod hearing;
mod mark;
mod message;
mod sessions;
mod turn;
mod wire;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use gadfly_journal::RunId;
use serde_json::Value;
use tokio::sync::oneshot;

use crate::cli::{Acp, Global};
use crate::context::Context;
use crate::exit::{self, Code};
use crate::judged_session::request::{SessionTask, prepared, request};
use crate::output;
use sessions::EditorSessions;
use wire::Outlet;

/// How long an agent may take to end once its editor is gone, and how long its end is waited for.
const FAREWELL: Duration = Duration::from_secs(5);

/// What stands between the two.
struct AcpProxy {
    args: Acp,
    global: Global,
    editor: Outlet,
    agent: Outlet,
    sessions: Mutex<EditorSessions>,
    /// Who waits for the answer to a request of ours, by its id.
    asked: Mutex<HashMap<String, oneshot::Sender<Value>>>,
    /// What all our ids begin with. Nobody else can know it beforehand, so no id of theirs is one of ours.
    prefix: String,
    count: AtomicU64,
}

impl AcpProxy {
    fn new(args: Acp, global: Global, editor: Outlet, agent: Outlet) -> Result<Self, String> {
        let random = RunId::random().map_err(|e| e.to_string())?;
        Ok(Self {
            args,
            global,
            editor,
            agent,
            sessions: Mutex::default(),
            asked: Mutex::default(),
            prefix: format!("gadfly-{random}-"),
            count: AtomicU64::new(0),
        })
    }

    /// Sends a request of ours and waits for its answer; none if the other side is gone.
    async fn ask(&self, to: &Outlet, method: &str, params: Value) -> Option<Value> {
        let id = format!("{}{}", self.prefix, self.count.fetch_add(1, Ordering::Relaxed));
        let (answer, answered) = oneshot::channel();
        locked(&self.asked).insert(id.clone(), answer);
        to.line(&message::request(&id, method, &params)).await.ok()?;
        answered.await.ok()
    }

    /// Says something in the session's thread.
    async fn tell(&self, session: &str, text: &str) {
        // An editor that is gone is noticed where its lines are read.
        let _ = self.editor.line(&message::chunk(session, text)).await;
    }

    /// Nobody answers any more.
    fn close(&self) {
        locked(&self.sessions).close();
        locked(&self.asked).clear();
    }
}

pub async fn serve(args: Acp, global: Global) -> Code {
    let context = Context::read(global.clone());
    if args.agent.is_empty() {
        return agreed_beforehand(&args, &context).await;
    }
    let streams = match context.setup().start_agent(&args.agent).await {
        Ok(streams) => streams,
        Err(why) => return output::error::fault(&format!("the agent could not be started: {why}")),
    };
    let (from_editor, to_editor) = wire::standard();
    let outlets = (Outlet::new(to_editor), Outlet::new(streams.input));
    let proxy = match AcpProxy::new(args, global, outlets.0, outlets.1) {
        Ok(proxy) => Arc::new(proxy),
        Err(why) => return output::error::fault(&why),
    };
    let editors = wire::pump(from_editor, &proxy.agent, async |line: &[u8]| proxy.editor_said(line).await);
    let agents =
        wire::pump(streams.output, &proxy.editor, async |line: &[u8]| hearing::from_agent(&proxy, line));
    let (mut editors, mut agents) = (std::pin::pin!(editors), std::pin::pin!(agents));
    let left = tokio::select! {
        () = &mut editors => true,
        () = &mut agents => false,
    };
    proxy.close();
    if left {
        proxy.agent.end().await;
        let _ = tokio::time::timeout(FAREWELL, agents).await;
        return exit::OK;
    }
    match tokio::time::timeout(FAREWELL, streams.end).await {
        Ok(None) => exit::OK,
        Ok(Some(how)) => output::error::fault(&how),
        Err(_) => output::error::fault("the agent closed its output and did not end"),
    }
}

/// Called by hand, to agree once to what the project's files name.
async fn agreed_beforehand(args: &Acp, context: &Context) -> Code {
    if !args.by.trust {
        return output::error::usage(
            "name the agent an editor is to talk to: gadfly acp -- AGENT …\n  as in: gadfly acp -- gemini --acp",
        );
    }
    let agreed = async {
        let (request, _) = request(&args.by, context, &SessionTask::none())?;
        prepared(&args.by, context, &request).await
    };
    match agreed.await {
        Ok(_) => {
            output::print::err("agreed: the critic may use what this project's files name");
            exit::OK
        }
        Err(why) => output::error::usage(&why),
    }
}

fn locked<T>(shared: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
