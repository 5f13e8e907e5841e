//! Which tools there are, with the words that make a model use them rightly, and which function does what.

use gadfly_engine::Control;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use rmcp::schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::arguments::{
    AnswerQuestion, ListFindings, ListQuestions, ListRuns, ResumeRun, RunAndWait, RunArgument, StartGoal,
    StartLoop, SteerGoal, SubmitDraft, SubmitReport,
};
use super::client::McpClient;
use super::findings::{self, Findings, Questions, RunsList};
use super::reply::{ToolError, ToolReply, refused, schema};
use super::state::ServerState;
use super::status::RunStatus;
use super::{goals, reviewing, starting, working};

/// What the server says about itself: how the tools belong together.
pub const INSTRUCTIONS: &str = "\
Gadfly puts an independent critic between your work and the user. start_loop with the user's task and what the result \
is judged by; do the work as the brief says; submit_draft with the whole draft; the verdict is approved, or it lists \
what to fix by number. Fix everything that is listed and submit again, until it is approved or the run is over. Never \
tell the user that work is approved unless a verdict says so: `unverified` and `halted` are not approvals. Leave the \
critic and the caps as configured unless the user wants otherwise. A question \
belongs to the user: put it to them and pass on their decision. Calls that wait answer after wait_seconds with \
`running`: then call get_verdict. If you lose the run's id, list_runs has it; nothing is lost when you disconnect.";

/// Tools that wait for a run: a client that has tasks gets them as one.
pub const WAITING: [&str; 7] = [
    "start_loop",
    "start_goal",
    "submit_draft",
    "get_verdict",
    "submit_report",
    "answer_question",
    "resume_run",
];

pub fn all() -> Vec<Tool> {
    let acts = || ToolAnnotations::new().read_only(false).destructive(false).open_world(true);
    let reads = || ToolAnnotations::new().read_only(true).open_world(false);
    vec![
        tool::<StartLoop>(
            "start_loop",
            "Begin a loop: a worker (you, unless another is named) makes a draft, an independent critic judges it against \
             the criteria, and it is revised until the critic approves or the rounds are used up. Give `task` and \
             `criteria` (or `rubric`, or `loop`). Answers with the brief your draft has to meet; with `draft` it is \
             judged at once. Calls to the critic may cost money.",
        )
        .with_raw_output_schema(schema::<RunStatus>().into())
        .with_annotations(acts()),
        tool::<StartGoal>(
            "start_goal",
            "Have another agent work on a goal in a copy of the project, step by step, watched by a critic, until its check \
             passes: a goal of gadfly.toml by `name`, or one in words that the user agrees to. Costs money. Tell the user \
             what came of it; get_verdict says how it stands.",
        )
        .with_raw_output_schema(schema::<RunStatus>().into())
        .with_annotations(acts()),
        tool::<SteerGoal>(
            "steer_goal",
            "Tell the worker of a goal something at its next turn. Pass on what the user wants; it is recorded as said \
             through you.",
        )
        .with_annotations(acts()),
        tool::<SubmitDraft>(
            "submit_draft",
            "Hand in your draft for the round that is open, complete and as it is. Answers with the verdict: approved, or \
             numbered items to fix. If it answers `running`, call get_verdict.",
        )
        .with_raw_output_schema(schema::<RunStatus>().into())
        .with_annotations(acts()),
        tool::<RunAndWait>(
            "get_verdict",
            "How a run stands and what is wanted next. Waits while it is at work. A run that was interrupted is taken up.",
        )
        .with_raw_output_schema(schema::<RunStatus>().into())
        .with_annotations(acts().idempotent(true)),
        tool::<ListFindings>(
            "list_findings",
            "What critics raised in a run, each point with its number, whether it is new, recurring, regressed or fixed, \
             and the rounds it was raised in.",
        )
        .with_raw_output_schema(schema::<Findings>().into())
        .with_annotations(reads()),
        tool::<RunArgument>(
            "open_review",
            "For a run whose critic is `host`: the brief for the critic and a single-use token. Have a fresh sub-agent \
             judge that did not do the work, then submit_report.",
        )
        .with_annotations(reads()),
        tool::<SubmitReport>(
            "submit_report",
            "Hand in a critic's report with the token that open_review gave. A report without a token, with a wrong or \
             with a used one is refused. What it decides is told to the user as the host's own verdict.",
        )
        .with_raw_output_schema(schema::<RunStatus>().into())
        .with_annotations(acts()),
        tool::<ListQuestions>("list_questions", "What runs ask the user, with the choices there are.")
            .with_raw_output_schema(schema::<Questions>().into())
            .with_annotations(reads()),
        tool::<AnswerQuestion>(
            "answer_question",
            "Pass on what the user decided about a run's question. Ask the user first; never decide for them. Where this \
             client can show forms the user is asked again, with your answer as a proposal; elsewhere the record says \
             that you answered.",
        )
        .with_raw_output_schema(schema::<RunStatus>().into())
        .with_annotations(acts()),
        tool::<RunArgument>("read_run", "One run in full: how it stands, its findings, what it cost, as a readable report.")
            .with_raw_output_schema(schema::<RunStatus>().into())
            .with_annotations(reads()),
        tool::<ListRuns>("list_runs", "The runs of this project, newest first.")
            .with_raw_output_schema(schema::<RunsList>().into())
            .with_annotations(reads()),
        tool::<ResumeRun>(
            "resume_run",
            "Take up a run that was interrupted, parked (unverified, failed, out of budget, quota) or paused; limits can \
             be raised if the user agrees.",
        )
        .with_raw_output_schema(schema::<RunStatus>().into())
        .with_annotations(acts()),
        tool::<RunArgument>("pause_run", "Pause a run once its current calls finish.").with_annotations(acts()),
        tool::<RunArgument>("cancel_run", "End a run for good, without a verdict.")
            .with_annotations(ToolAnnotations::new().read_only(false).destructive(true).open_world(false)),
    ]
}

fn tool<T: JsonSchema + 'static>(name: &'static str, says: &'static str) -> Tool {
    Tool::new(name, says, schema::<T>())
}

/// Calls one. None if there is no such tool.
pub async fn call(
    server: &ServerState,
    client: &McpClient,
    name: &str,
    args: JsonObject,
) -> Option<Result<ToolReply, ToolError>> {
    Some(match name {
        "start_loop" => match read(args) {
            Ok(args) => Box::pin(starting::start_loop(server, client, args)).await,
            Err(why) => Err(why),
        },
        "start_goal" => match read(args) {
            Ok(args) => Box::pin(goals::start_goal(server, client, args)).await,
            Err(why) => Err(why),
        },
        "steer_goal" => read(args).and_then(|args: SteerGoal| goals::steer_goal(server, client, &args)),
        "submit_draft" => match read(args) {
            Ok(args) => working::submit_draft(server, client, args).await,
            Err(why) => Err(why),
        },
        "get_verdict" => match read(args) {
            Ok(args) => working::get_verdict(server, client, args).await,
            Err(why) => Err(why),
        },
        "submit_report" => match read(args) {
            Ok(args) => reviewing::submit_report(server, client, args).await,
            Err(why) => Err(why),
        },
        "answer_question" => match read(args) {
            Ok(args) => working::answer_question(server, client, args).await,
            Err(why) => Err(why),
        },
        "resume_run" => match read(args) {
            Ok(args) => working::resume_run(server, client, args).await,
            Err(why) => Err(why),
        },
        "pause_run" => match read(args) {
            Ok(args) => working::control(server, client, args, Control::Pause).await,
            Err(why) => Err(why),
        },
        "cancel_run" => match read(args) {
            Ok(args) => working::control(server, client, args, Control::Cancel).await,
            Err(why) => Err(why),
        },
        "list_findings" => read(args).and_then(|args: ListFindings| findings::list_findings(server, &args)),
        "open_review" => read(args).and_then(|args: RunArgument| reviewing::open_review(server, &args)),
        "list_questions" => {
            read(args).and_then(|args: ListQuestions| findings::list_questions(server, &args))
        }
        "read_run" => read(args).and_then(|args: RunArgument| working::read_run(server, &args)),
        "list_runs" => read(args).and_then(|args: ListRuns| findings::list_runs(server, args)),
        _ => return None,
    })
}

/// Arguments as the tool takes them; what is wrong with them is for the model to mend.
fn read<T: DeserializeOwned + JsonSchema + 'static>(mut args: JsonObject) -> Result<T, ToolError> {
    unwrap_texts(&mut args, &schema::<T>());
    serde_json::from_value(Value::Object(args)).map_err(|e| {
        let what = crate::output::safe::line(&e.to_string(), 300);
        refused(format!("the arguments are not as this tool takes them: {what}"))
    })
}

/// Some clients and models send every value as a string: `"[\"a\"]"`, `"3"`. Where the tool takes no string, what is
/// written in it is meant.
fn unwrap_texts(args: &mut JsonObject, schema: &JsonObject) {
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, value) in args {
        let Value::String(text) = &*value else { continue };
        let Some(kinds) = properties.and_then(|all| all.get(name)?.get("type")) else { continue };
        let takes = |kind: &str| match kinds {
            Value::String(one) => one == kind,
            Value::Array(several) => several.iter().any(|one| one == kind),
            _ => false,
        };
        if takes("string") {
            continue;
        }
        let meant = serde_json::from_str::<Value>(text).ok().filter(|meant| match meant {
            Value::Array(_) => takes("array"),
            Value::Bool(_) => takes("boolean"),
            Value::Number(number) => takes("number") || (number.is_u64() && takes("integer")),
            _ => false,
        });
        match meant {
            Some(meant) => *value = meant,
            // A list of one is often not written as a list.
            None if takes("array") && !text.trim().is_empty() => *value = Value::Array(vec![value.take()]),
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_value_that_came_as_a_string_is_what_is_written_in_it() {
        let read = |sent: Value| match sent {
            Value::Object(args) => read::<StartLoop>(args).map_err(|_| ()),
            _ => Err(()),
        };
        for criteria in [json!(["a", "b"]), json!("[\"a\", \"b\"]")] {
            let start = read(json!({ "task": "T", "criteria": criteria, "rounds": "2" })).unwrap();
            assert_eq!(start.own.criteria.as_deref().unwrap(), ["a", "b"]);
            assert_eq!(start.given.whole("rounds"), Some(2));
        }
        assert_eq!(
            read(json!({ "criteria": "at most 150 words" })).unwrap().own.criteria.unwrap(),
            ["at most 150 words"]
        );
        // What is meant as text stays text, and what is no value of that kind is refused.
        assert_eq!(read(json!({ "task": "[1]" })).unwrap().given.text("task").as_deref(), Some("[1]"));
        for wrong in [
            json!({ "criteria": "[1, 2]" }),
            json!({ "wait_seconds": "soon" }),
            json!({ "wait_seconds": "-3" }),
        ] {
            assert!(read(wrong.clone()).is_err(), "{wrong}");
        }
    }
}
