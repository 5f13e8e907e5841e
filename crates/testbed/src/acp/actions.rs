//! One prompt turn of the scripted agent: its actions, one after the other.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::{
    ContentBlock, ContentChunk, Cost, CreateTerminalRequest, MessageId, PermissionOption,
    PermissionOptionKind, PromptRequest, PromptResponse, ReadTextFileRequest, ReleaseTerminalRequest,
    RequestPermissionOutcome, RequestPermissionRequest, SessionId, SessionNotification, SessionUpdate,
    StopReason, TerminalId, TerminalOutputRequest, TextContent, ToolCall, ToolCallLocation, ToolCallStatus,
    ToolCallUpdate, ToolCallUpdateFields, ToolKind, Usage, UsageUpdate, WaitForTerminalExitRequest,
    WriteTextFileRequest,
};
use serde_json::json;

use super::{AcpAction, Life, ToClient, said};

pub(super) struct Prompted {
    life: Arc<Life>,
    cx: ToClient,
    session: SessionId,
    prompt: String,
}

/// What a loaded session tells again.
pub(super) fn history() -> Vec<SessionUpdate> {
    let old = ToolCall::new("old", "an old tool call").kind(ToolKind::Edit).status(ToolCallStatus::Completed);
    let user = ContentChunk::new(ContentBlock::Text(TextContent::new("an old question")));
    vec![
        SessionUpdate::UserMessageChunk(user),
        SessionUpdate::ToolCall(old),
        said("an old answer"),
        SessionUpdate::UsageUpdate(UsageUpdate::new(10, 1000).cost(Cost::new(1.0, "USD"))),
    ]
}

impl Prompted {
    pub fn new(life: Arc<Life>, cx: ToClient, asked: PromptRequest) -> Self {
        let texts = asked.prompt.iter().filter_map(|block| match block {
            ContentBlock::Text(text) => Some(text.text.as_str()),
            _ => None,
        });
        Self { life, cx, prompt: texts.collect(), session: asked.session_id }
    }

    pub async fn answer(&self) -> Result<PromptResponse, Error> {
        let (mut does, mut has_held) = (true, false);
        for action in self.life.script.actions.clone() {
            if let AcpAction::When(text) = &action {
                does = !has_held && self.prompt.contains(text.as_str());
                has_held |= does;
            }
            if !does {
                continue;
            }
            if let Some(ended) = self.act(action).await? {
                return Ok(PromptResponse::new(ended));
            }
            if *self.life.cancelled.borrow() {
                return Ok(PromptResponse::new(StopReason::Cancelled));
            }
        }
        let script = &self.life.script;
        let mut response = PromptResponse::new(script.stop.unwrap_or(StopReason::EndTurn));
        if let [input, output, read, write, thought, total] = *script.usage {
            let usage = Usage::new(total, input, output).cached_read_tokens(read).cached_write_tokens(write);
            response = response.usage(usage.thought_tokens(thought));
        }
        if let Some((input, output, model)) = &script.quota {
            let count = json!({ "input_tokens": input, "output_tokens": output });
            let quota =
                json!({ "token_count": count, "model_usage": [{ "model": model, "token_count": count }] });
            response = response.meta(serde_json::Map::from_iter([("quota".to_owned(), quota)]));
        }
        Ok(response)
    }

    /// Some reason if the turn ends here.
    async fn act(&self, action: AcpAction) -> Result<Option<StopReason>, Error> {
        match action {
            AcpAction::Say(text) => self.update(said(text))?,
            AcpAction::Message(id, text) => {
                let chunk = ContentChunk::new(ContentBlock::Text(TextContent::new(text)));
                self.update(SessionUpdate::AgentMessageChunk(chunk.message_id(MessageId::new(id))))?;
            }
            AcpAction::Think(text) => {
                let chunk = ContentChunk::new(ContentBlock::Text(TextContent::new(text)));
                self.update(SessionUpdate::AgentThoughtChunk(chunk))?;
            }
            AcpAction::Echo => self.update(said(self.prompt.clone()))?,
            AcpAction::Circumstances => self.circumstances()?,
            AcpAction::Tool(kind, title) => self.tool(kind, &title)?,
            AcpAction::Announce(kind, title) => {
                let id = format!("call-{}", self.life.next());
                self.update(SessionUpdate::ToolCall(ToolCall::new(id, title).kind(kind)))?;
            }
            AcpAction::Ask(kind, title) => {
                let told = self.ask(kind, title, true).await?;
                self.update(said(told))?;
            }
            AcpAction::AskOnlyAllow(kind, title) => {
                let told = self.ask(kind, title, false).await?;
                self.update(said(told))?;
            }
            AcpAction::AskLate(kind, title) => {
                let _ = self.life.cancelled.subscribe().wait_for(|cancelled| *cancelled).await;
                let told = self.ask(kind, title, true).await?;
                let _ = std::fs::write(self.path("told"), told);
            }
            AcpAction::Read(path) => self.read(&path).await?,
            AcpAction::Write(path, text) => {
                let asked = WriteTextFileRequest::new(self.session.clone(), self.path(&path), text);
                let wrote = self.cx.send_request(asked).block_task().await;
                self.update(said(
                    wrote.map_or_else(|e| format!("[not written: {}]", e.message), |_| "[written]".into()),
                ))?;
            }
            AcpAction::OwnWrite(path, text) => {
                let wrote = std::fs::write(self.path(&path), text);
                self.update(said(
                    wrote.map_or_else(|e| format!("[not written: {e}]"), |()| "[written]".into()),
                ))?;
            }
            AcpAction::Run(command) => self.run(&command).await?,
            AcpAction::Leave(command) => {
                if let Err(error) = self.start(&command).await {
                    self.update(said(format!("[not run: {}]", error.message)))?;
                }
            }
            AcpAction::Hang => {
                let _ = self.life.cancelled.subscribe().wait_for(|cancelled| *cancelled).await;
                return Ok(Some(StopReason::Cancelled));
            }
            AcpAction::When(_) => {}
            AcpAction::HangHard => std::future::pending().await,
            AcpAction::Crash(code) => {
                // An answer, whichever, says that all that was said before has arrived.
                let asked = TerminalOutputRequest::new(self.session.clone(), "none");
                let _ = self.cx.send_request(asked).block_task().await;
                let _ = self.life.exit.send(Some(code));
                std::future::pending::<()>().await;
            }
            AcpAction::Noise(text) => self.raw(format!("{text}\n").into_bytes()).await,
            AcpAction::LongLine(size) => {
                let text = "x".repeat(size);
                let params = json!({ "sessionId": self.session, "update": said(text) });
                let line = json!({ "jsonrpc": "2.0", "method": "session/update", "params": params });
                self.raw(format!("{line}\n").into_bytes()).await;
            }
            AcpAction::Huge(size) => {
                let piece = "y".repeat(64 * 1024);
                for _ in 0..=size / piece.len() {
                    self.update(said(piece.clone()))?;
                    tokio::task::yield_now().await;
                }
            }
            AcpAction::Cost(usd) => {
                self.update(SessionUpdate::UsageUpdate(
                    UsageUpdate::new(1, 1000).cost(Cost::new(usd, "USD")),
                ))?;
            }
            AcpAction::UnknownUpdate => {
                let update = json!({ "sessionUpdate": "from_the_future", "what": [1] });
                let params = json!({ "sessionId": self.session, "update": update });
                let line = json!({ "jsonrpc": "2.0", "method": "session/update", "params": params });
                self.raw(format!("{line}\n").into_bytes()).await;
            }
            AcpAction::Error(code, kind) => {
                let data = kind.map(|kind| json!({ "errorKind": kind }));
                return Err(Error::new(code, "the script says so").data(data));
            }
        }
        Ok(None)
    }

    fn update(&self, update: SessionUpdate) -> Result<(), Error> {
        self.cx.send_notification(SessionNotification::new(self.session.clone(), update))
    }

    async fn raw(&self, bytes: Vec<u8>) {
        let _ = self.life.raw.send(bytes).await;
    }

    fn folder(&self) -> PathBuf {
        self.life.folder.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder().join(path)
    }

    fn circumstances(&self) -> Result<(), Error> {
        let of =
            |text: &std::sync::Mutex<String>| text.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let client = self.life.client.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let text = format!(
            "folder={} mode={} model={} session={} reads={} writes={} terminal={}",
            self.folder().display(),
            of(&self.life.mode),
            of(&self.life.model),
            of(&self.life.session),
            client.fs.read_text_file,
            client.fs.write_text_file,
            client.terminal
        );
        self.update(said(text))
    }

    fn tool(&self, kind: ToolKind, title: &str) -> Result<(), Error> {
        let id = format!("call-{}", self.life.next());
        let call = ToolCall::new(id.clone(), "tool").kind(kind);
        self.update(SessionUpdate::ToolCall(call))?;
        for status in [ToolCallStatus::InProgress, ToolCallStatus::Completed] {
            let fields = ToolCallUpdateFields::new().title(title.to_owned()).status(status);
            self.update(SessionUpdate::ToolCallUpdate(ToolCallUpdate::new(id.clone(), fields)))?;
        }
        Ok(())
    }

    /// `TITLE@PATH` also says where.
    async fn ask(&self, kind: ToolKind, title: String, with_refusal: bool) -> Result<String, Error> {
        let fields = match title.split_once('@') {
            Some((title, path)) => ToolCallUpdateFields::new()
                .title(title.to_owned())
                .locations(vec![ToolCallLocation::new(Path::new(path))]),
            None => ToolCallUpdateFields::new().title(title),
        };
        let call = ToolCallUpdate::new(format!("call-{}", self.life.next()), fields.kind(kind));
        let mut options = vec![
            PermissionOption::new("yes-always", "Always", PermissionOptionKind::AllowAlways),
            PermissionOption::new("yes", "Yes", PermissionOptionKind::AllowOnce),
        ];
        if with_refusal {
            options.push(PermissionOption::new("no", "No", PermissionOptionKind::RejectOnce));
        }
        let asked = RequestPermissionRequest::new(self.session.clone(), call, options);
        let told = match self.cx.send_request(asked).block_task().await?.outcome {
            RequestPermissionOutcome::Selected(selected) => selected.option_id.0.to_string(),
            _ => "cancelled".to_owned(),
        };
        Ok(format!("[{told}]"))
    }

    async fn read(&self, what: &str) -> Result<(), Error> {
        let (path, lines) = what.split_once('#').unwrap_or((what, ""));
        let mut asked = ReadTextFileRequest::new(self.session.clone(), self.path(path));
        if let Some((line, limit)) = lines.split_once(',') {
            asked = asked.line(line.parse::<u32>().ok()).limit(limit.parse::<u32>().ok());
        }
        let read = self.cx.send_request(asked).block_task().await;
        let code = |e: &Error| e.code.value();
        self.update(said(
            read.map_or_else(|e| format!("[not read: {} {}]", code(&e), e.message), |r| r.content),
        ))
    }

    async fn start(&self, command: &str) -> Result<TerminalId, Error> {
        let asked = CreateTerminalRequest::new(self.session.clone(), command).output_byte_limit(1000);
        Ok(self.cx.send_request(asked).block_task().await?.terminal_id)
    }

    async fn run(&self, command: &str) -> Result<(), Error> {
        let id = match self.start(command).await {
            Ok(id) => id,
            Err(error) => return self.update(said(format!("[not run: {}]", error.message))),
        };
        let session = || self.session.clone();
        let wait = WaitForTerminalExitRequest::new(session(), id.clone());
        let ended = self.cx.send_request(wait).block_task().await?.exit_status;
        let output = TerminalOutputRequest::new(session(), id.clone());
        let output = self.cx.send_request(output).block_task().await?;
        self.cx.send_request(ReleaseTerminalRequest::new(session(), id)).block_task().await?;
        let exit = ended.exit_code.map_or_else(|| ended.signal.unwrap_or_default(), |code| code.to_string());
        self.update(said(format!("{}[exit {exit}]", output.output)))
    }
}
