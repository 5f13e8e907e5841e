//! Who called a tool, and how they can be reached while it is at work: told of progress, asked something. Clients
//! differ: some are asked in the middle of a call, some are handed the question and call again, some have the call as
//! a task, and some cannot be asked at all.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use gadfly_journal::RunId;
use rmcp::RoleServer;
use rmcp::model::{
    ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema, InputRequest,
    InputRequests, InputRequiredResult, InputResponses, ProgressNotificationParam, ProtocolVersion,
};
use rmcp::service::RequestContext;
use rmcp::task_manager::TaskContext;
use serde_json::Value;

use super::reply::{ToolError, refused};
use crate::output::safe;

/// How long a person is waited for in the middle of a call. The question stays open after that.
const PATIENCE: Duration = Duration::from_mins(10);
/// In front of a run's id, in what a client hands back when it calls again.
const STATE: &str = "run:";

pub struct McpClient {
    context: RequestContext<RoleServer>,
    asks: Asks,
    task: Option<TaskContext>,
    told: AtomicU32,
}

/// How the client's user is asked.
enum Asks {
    Nobody,
    /// By a request in the middle of the call.
    Meanwhile,
    /// By an answer that asks; the client calls again with these.
    Again(InputResponses),
    AsTask,
}

/// What came of a question.
pub enum ClientAnswer {
    Content(Value),
    /// The user said no, or closed the form.
    Declined,
    /// This client has no way to ask its user.
    Nobody,
}

impl McpClient {
    pub fn new(context: RequestContext<RoleServer>, answers: Option<InputResponses>) -> Self {
        let has_forms = context
            .client_capabilities()
            .and_then(|can| can.elicitation)
            .is_some_and(|elicits| elicits.form.is_some() || elicits.url.is_none());
        let stateless =
            context.protocol_version().is_some_and(|v| v.as_str() >= ProtocolVersion::V_2026_07_28.as_str());
        let asks = match (has_forms, stateless) {
            (false, _) => Asks::Nobody,
            (true, false) => Asks::Meanwhile,
            (true, true) => Asks::Again(answers.unwrap_or_default()),
        };
        Self { context, asks, task: None, told: AtomicU32::new(0) }
    }

    /// The same client, with the call as a task.
    pub fn within(mut self, task: TaskContext) -> Self {
        if !matches!(self.asks, Asks::Nobody) {
            self.asks = Asks::AsTask;
        }
        self.task = Some(task);
        self
    }

    /// Under which name its words stand in the record.
    pub fn by(&self) -> String {
        let client = self.context.client_info().map(|info| safe::line(&info.name, 60)).unwrap_or_default();
        if client.is_empty() { "MCP host".to_owned() } else { format!("MCP host {client}") }
    }

    /// The same, where its user filled in a form: then it is not the model's word.
    pub fn by_user(&self) -> String {
        format!("the user, asked through {}", self.by())
    }

    /// Whether this client can put a question to its user.
    pub const fn can_ask(&self) -> bool {
        !matches!(self.asks, Asks::Nobody)
    }

    /// Resolves when the client no longer wants the answer.
    pub async fn gone(&self) {
        match &self.task {
            Some(task) => task.cancelled().await,
            None => self.context.ct.cancelled().await,
        }
    }

    /// Tells how far the run is, where the client wants to know.
    pub async fn tell(&self, message: &str) {
        if let Some(task) = &self.task {
            task.set_status_message(message);
            return;
        }
        let Some(token) = self.context.meta.get_progress_token() else { return };
        let count = self.told.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        let progress = ProgressNotificationParam::new(token, f64::from(count)).with_message(message);
        // Whoever does not listen is not waited for.
        let _ = self.context.peer.notify_progress(progress).await;
    }

    /// Asks the client's user. `run` is the one a later call goes on with; none if nothing has begun.
    pub async fn ask(
        &self,
        key: &str,
        message: String,
        form: ElicitationSchema,
        run: Option<&RunId>,
    ) -> Result<ClientAnswer, ToolError> {
        let params =
            ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema: form };
        match &self.asks {
            Asks::Nobody => Ok(ClientAnswer::Nobody),
            Asks::Meanwhile => {
                let asked = self.context.peer.create_elicitation_with_timeout(params, Some(PATIENCE)).await;
                // A form that failed, or that nobody filled in for long, leaves the question open.
                Ok(asked.map_or(ClientAnswer::Declined, heard))
            }
            Asks::Again(answers) => {
                if let Some(answer) = answers.get(key) {
                    return Ok(serde_json::from_value(answer.clone()).map_or(ClientAnswer::Declined, heard));
                }
                let asked: InputRequests = [(key.to_owned(), request(params))].into();
                let state = run.map(|run| format!("{STATE}{run}"));
                Err(ToolError::NeedsInput(Box::new(InputRequiredResult::new(Some(asked), state))))
            }
            Asks::AsTask => {
                let Some(task) = &self.task else { return Ok(ClientAnswer::Nobody) };
                let answer = task.request_input(key, request(params)).await;
                let answer =
                    answer.map_err(|_| refused("the task was cancelled; the question stays open"))?;
                Ok(serde_json::from_value(answer).map_or(ClientAnswer::Declined, heard))
            }
        }
    }
}

/// The run that a call made again goes on with. It is only a name: whoever makes one up could as well name the run.
pub fn goes_on_with(state: Option<&str>) -> Option<&str> {
    state?.strip_prefix(STATE)
}

fn request(params: ElicitRequestParams) -> InputRequest {
    InputRequest::Elicitation(ElicitRequest::new(params))
}

fn heard(result: ElicitResult) -> ClientAnswer {
    match (result.action, result.content) {
        (ElicitationAction::Accept, Some(content)) => ClientAnswer::Content(content),
        _ => ClientAnswer::Declined,
    }
}
