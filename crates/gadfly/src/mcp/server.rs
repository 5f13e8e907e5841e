//! The server as the SDK sees it: requests in, answers out. What a tool does is in its own file; here is only how a
//! call is carried: at once, as a task, or handed back with a question.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, CreateTaskResult, GetTaskParams,
    GetTaskResult, Implementation, JsonObject, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse,
    ServerCapabilities, ServerConfig, Tool, UpdateTaskParams,
};
use rmcp::service::RequestContext;
use rmcp::task_manager::{TaskExit, TaskOptions};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Value, json};

use super::client::{McpClient, goes_on_with};
use super::reply::{ToolError, ToolReply};
use super::state::ServerState;
use super::tools::{self, INSTRUCTIONS, WAITING};
use super::waiting::follow;
use super::{arguments, resources};

/// How long a task is kept, and how many are at work at once.
const TASK_TIME: Duration = Duration::from_hours(2);
const MOST_TASKS: usize = 16;
/// A task waits longer than a call would: nobody sits before it. The run goes on in any case.
const TASK_WAIT: u64 = 600;
const POLL_MS: u64 = 500;

#[derive(Clone)]
pub struct McpServer {
    server: Arc<ServerState>,
    tools: Arc<Vec<Tool>>,
}

impl McpServer {
    pub fn new(server: Arc<ServerState>) -> Self {
        Self { server, tools: Arc::new(tools::all()) }
    }

    /// Carries a call out; none if there is no such tool.
    async fn carry_out(
        &self,
        client: &McpClient,
        call: ToolInvocation,
    ) -> Option<Result<ToolReply, ToolError>> {
        let ToolInvocation { name, args, goes_on } = call;
        let _room = match self.server.room() {
            Ok(room) => room,
            Err(full) => return Some(Err(full)),
        };
        match goes_on {
            // What it was to begin has begun: the client only brings what its user said.
            Some(run) if WAITING.contains(&name.as_str()) => {
                let seconds = args.get("wait_seconds").and_then(Value::as_u64);
                Some(match self.server.run(&run) {
                    Ok((background, run)) => {
                        follow(&self.server, &background, client, &run, arguments::wait(seconds)).await
                    }
                    Err(why) => Err(why),
                })
            }
            _ => tools::call(&self.server, client, &name, args).await,
        }
    }

    /// The call as a task: the client polls it, and is asked through it.
    fn as_task(&self, client: McpClient, mut call: ToolInvocation) -> CallToolResponse {
        call.args.entry("wait_seconds").or_insert_with(|| TASK_WAIT.into());
        let ttl = u64::try_from(TASK_TIME.as_millis()).unwrap_or(u64::MAX);
        let options = TaskOptions::new().with_ttl_ms(ttl).with_poll_interval_ms(POLL_MS);
        let server = self.clone();
        let task = self.server.tasks.spawn(options, move |task| {
            Box::pin(async move {
                let client = client.within(task.clone());
                let done = server.carry_out(&client, call).await;
                if task.is_cancel_requested() {
                    return Err(TaskExit::Cancelled);
                }
                match done {
                    Some(Ok(said)) => Ok(said.into_result()),
                    Some(Err(ToolError::Refused(why))) => Ok(ToolError::refusal(&why)),
                    Some(Err(ToolError::NeedsInput(_))) | None => {
                        Err(ErrorData::internal_error("the call could not be carried out as a task", None)
                            .into())
                    }
                }
            })
        });
        CallToolResponse::Task(CreateTaskResult::new(task))
    }
}

/// One call of a tool.
struct ToolInvocation {
    name: String,
    args: JsonObject,
    /// The run that a call made again goes on with.
    goes_on: Option<String>,
}

impl ServerHandler for McpServer {
    fn get_info(&self) -> ServerConfig {
        let can = ServerCapabilities::builder().enable_tools().enable_resources().enable_tasks().build();
        let mut info = ServerConfig::new(can).with_instructions(INSTRUCTIONS);
        info.server_info = Implementation::new("gadfly", env!("CARGO_PKG_VERSION"))
            .with_title("Gadfly")
            .with_description("An independent critic between an agent's work and the user.");
        info
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools.to_vec()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.tools.iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let unknown = json!({ "tools": self.tools.iter().map(|tool| tool.name.clone()).collect::<Vec<_>>() });
        let has_tasks = context.client_capabilities().is_some_and(|can| can.supports_tasks());
        let call = ToolInvocation {
            name: request.name.into_owned(),
            args: request.arguments.unwrap_or_default(),
            goes_on: goes_on_with(request.request_state.as_deref()).map(ToOwned::to_owned),
        };
        let client = McpClient::new(context, request.input_responses);
        let waits = WAITING.contains(&call.name.as_str()) && call.args.get("wait_seconds") != Some(&0.into());
        if has_tasks && waits && self.server.tasks.running_task_count() < MOST_TASKS {
            return Ok(self.as_task(client, call));
        }
        match self.carry_out(&client, call).await {
            Some(Ok(said)) => Ok(said.into_result().into()),
            Some(Err(ToolError::Refused(why))) => Ok(ToolError::refusal(&why).into()),
            Some(Err(ToolError::NeedsInput(asked))) => Ok((*asked).into()),
            None => Err(ErrorData::invalid_params("there is no such tool", Some(unknown))),
        }
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        Ok(GetTaskResult::new(self.server.tasks.get_task(&request.task_id)?))
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.server.tasks.update_task(&request.task_id, request.input_responses)
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.server.tasks.cancel_task(&request.task_id)
    }

    async fn list_resources(
        &self,
        page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        resources::list(&self.server, page.and_then(|page| page.cursor).as_deref())
    }

    async fn list_resource_templates(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(resources::templates())
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        resources::read(&self.server, &request.uri).map(Into::into)
    }
}
