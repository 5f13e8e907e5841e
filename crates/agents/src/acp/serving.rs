//! What we do for an agent while it works: it asks for permission, for files, for terminals, and tells how far
//! it is. What its role does not allow is refused, and the refusal recorded.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agent_client_protocol::v1::schema::{
    self as acp, CreateTerminalRequest, ReadTextFileRequest, RequestPermissionOutcome,
    RequestPermissionRequest, RequestPermissionResponse, SessionNotification, WriteTextFileRequest,
};
use agent_client_protocol::{Error, ErrorCode};
use gadfly_engine::{Layer, Observation, Permission};
use tokio_util::sync::CancellationToken;

use super::folder::{Below, CallFolders};
use super::permission::{allowed, outcome, word};
use super::terminals::{TerminalWork, Terminals};
use super::turn::{AcpTurn, line};
use crate::agent::{Edit, Files, Observer, Progress};

/// How much text of files an agent gets in one call: what it does not take from us is held in memory.
const MAX_SERVED: usize = 256 << 20;

pub(super) struct Serving {
    pub permission: Permission,
    /// It may ask for pages of the web.
    pub web: bool,
    pub folder: CallFolders,
    pub files: Files,
    pub tmp: Files,
    pub observe: Observer,
    pub progress: Progress,
    pub turn: Mutex<AcpTurn>,
    pub terminals: Terminals,
    /// Set when we want no more of this turn: what is asked from then on is answered as cancelled.
    pub stopping: CancellationToken,
    /// Set when the agent says or does more than it may.
    pub over: CancellationToken,
    pub served: AtomicUsize,
}

impl Serving {
    pub fn turn(&self) -> MutexGuard<'_, AcpTurn> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn tell(&self, observations: impl IntoIterator<Item = Observation>) {
        if self.turn().over().is_some() {
            self.over.cancel();
        }
        for observation in observations {
            let _ = self.observe.send(observation).await;
        }
    }

    /// Records that something was refused.
    async fn stopped(&self, what: String) {
        self.turn().refused();
        self.tell(Some(Observation::Stopped { layer: Layer::Protocol, what: line(&what) })).await;
    }

    pub async fn hear(&self, update: SessionNotification) {
        let heard = self.turn().hear(update);
        if let Some(text) = &heard.text {
            self.progress.say(text);
        }
        self.tell(heard.observations).await;
    }

    pub async fn may(&self, asked: RequestPermissionRequest) -> RequestPermissionResponse {
        if self.stopping.is_cancelled() {
            return RequestPermissionResponse::new(RequestPermissionOutcome::Cancelled);
        }
        let call = &asked.tool_call;
        let (step, known) = {
            let mut turn = self.turn();
            let known = turn.kind(&call.tool_call_id);
            (turn.asks(call), known)
        };
        self.tell(step).await;
        let mut allow = allowed(self.permission, call, known, &self.folder);
        if !self.web && call.fields.kind.or(known) == Some(acp::ToolKind::Fetch) {
            allow = Err("its goal allows no pages of the web");
        }
        if let Err(why) = allow {
            let kind = word(call.fields.kind.or(known).unwrap_or_default());
            let title = call.fields.title.as_deref().unwrap_or("without a title");
            self.turn().denied(&call.tool_call_id);
            self.stopped(format!("{kind}: {title}; {why}")).await;
        }
        RequestPermissionResponse::new(outcome(&asked.options, allow.is_ok()))
    }

    pub async fn read(&self, asked: ReadTextFileRequest) -> Result<acp::ReadTextFileResponse, Error> {
        let (files, name) = self.file("read", &asked.path).await?;
        let text = files.read(name).await.map_err(|why| {
            let uri = asked.path.display().to_string();
            let missing = Error::from(acp::Error::resource_not_found(Some(uri.clone())));
            missing.data(serde_json::json!({ "uri": uri, "details": why }))
        })?;
        let text = lines_of(&text, asked.line, asked.limit);
        if self.served.fetch_add(text.len(), Ordering::Relaxed) > MAX_SERVED {
            return Err(refusal("this session has read more than it may"));
        }
        Ok(acp::ReadTextFileResponse::new(text))
    }

    pub async fn write(&self, asked: WriteTextFileRequest) -> Result<acp::WriteTextFileResponse, Error> {
        if self.permission == Permission::ReadOnly {
            self.stopped(format!("write {}; it may only read", self.folder.shown(&asked.path))).await;
            return Err(refusal("this session may only read"));
        }
        let (files, path) = self.file("write", &asked.path).await?;
        files.apply(vec![Edit::Write { path, content: asked.content }]).await.map_err(|why| refusal(&why))?;
        Ok(acp::WriteTextFileResponse::new())
    }

    /// Which of our files is meant.
    async fn file(&self, what: &str, path: &Path) -> Result<(&Files, String), Error> {
        match self.folder.find(path) {
            Some(Below::Folder(name)) if !name.is_empty() => Ok((&self.files, name)),
            Some(Below::Tmp(name)) if !name.is_empty() => Ok((&self.tmp, name)),
            Some(_) => Err(refusal("this is a folder, not a file")),
            None => {
                self.stopped(format!("{what} {}; it is outside of its folder", path.display())).await;
                Err(refusal("only files below the session's folder can be read or written"))
            }
        }
    }

    pub async fn terminal(
        &self,
        asked: CreateTerminalRequest,
    ) -> Result<(acp::TerminalId, TerminalWork), Error> {
        if self.permission == Permission::ReadOnly {
            self.stopped(format!("run {}; it may only read", asked.command)).await;
            return Err(refusal("this session may only read: it gets no terminals"));
        }
        if self.stopping.is_cancelled() {
            return Err(Error::request_cancelled());
        }
        self.terminals.create(asked).await
    }

    /// How a command ended, once it has.
    pub async fn exited(self: Arc<Self>, id: acp::TerminalId) -> Result<acp::TerminalExitStatus, Error> {
        let mut ended = self.terminals.ended(&id)?;
        tokio::select! {
            status = ended.wait_for(Option::is_some) => {
                status.ok().and_then(|status| status.clone()).ok_or_else(|| refusal("the terminal is gone"))
            }
            () = self.stopping.cancelled() => Err(Error::request_cancelled()),
        }
    }
}

/// Why something is not done for the agent.
pub(super) fn refusal(why: &str) -> Error {
    Error::new(ErrorCode::INVALID_PARAMS, why)
}

/// Some lines of a text: from the first wanted, counted from 1, at most so many.
fn lines_of(text: &str, from: Option<u32>, most: Option<u32>) -> String {
    if from.is_none() && most.is_none() {
        return text.to_owned();
    }
    let skip = from.unwrap_or(1).saturating_sub(1) as usize;
    let most = most.map_or(usize::MAX, |most| most as usize);
    text.split_inclusive('\n').skip(skip).take(most).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_lines_of_a_file() {
        let text = "one\ntwo\nthree";
        for (from, most, expected) in [
            (None, None, text),
            (Some(1), None, text),
            (Some(0), None, text),
            (Some(2), None, "two\nthree"),
            (Some(2), Some(1), "two\n"),
            (None, Some(2), "one\ntwo\n"),
            (None, Some(0), ""),
            (Some(9), Some(9), ""),
            (Some(u32::MAX), Some(u32::MAX), ""),
        ] {
            assert_eq!(lines_of(text, from, most), expected, "{from:?} {most:?}");
        }
    }
}
