//! What each tool takes, with the words a model reads. Everything here comes from outside: sizes are bounded where it
//! is used, and an unknown argument is refused.

use std::borrow::Cow;
use std::time::Duration;

use gadfly_project::config::keys::{self, Key, Shape};
use gadfly_project::{Overrides, reference};
use rmcp::schemars::{self, JsonSchema, Schema, SchemaGenerator};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json};

/// How long a call waits if it does not say.
const USUAL_WAIT: u64 = 45;
const LONGEST_WAIT: u64 = 600;

/// What `start_loop` takes: the options of the table that a model may give, and what only this door has.
#[derive(Debug)]
pub struct StartLoop {
    pub own: StartArguments,
    pub given: Overrides,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StartArguments {
    /// What the critic judges by, one requirement per entry. Give these, or `rubric`, or `loop`.
    pub criteria: Option<Vec<String>>,
    /// A file of the project with the requirements, one per line or bullet.
    pub rubric: Option<String>,
    /// A loop by its name in gadfly.toml.
    #[serde(rename = "loop")]
    pub loop_name: Option<String>,
    /// Your first draft, complete, at most 16 MiB. It is submitted at once. Only where the worker is `host`.
    pub draft: Option<String>,
    /// How long to wait for a verdict, in seconds (default 45, at most 600).
    pub wait_seconds: Option<u64>,
}

/// The options that a model may give.
fn offered() -> impl Iterator<Item = &'static Key> {
    keys::all().filter(|key| key.model.is_some())
}

impl<'de> Deserialize<'de> for StartLoop {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let mut sent = Map::deserialize(from)?;
        let mut given = Overrides::default();
        given.take(&mut sent, |key| key.model.is_some(), None);
        let own = StartArguments::deserialize(Value::Object(sent)).map_err(D::Error::custom)?;
        Ok(Self { own, given })
    }
}

impl JsonSchema for StartLoop {
    fn schema_name() -> Cow<'static, str> {
        "StartLoop".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = StartArguments::json_schema(generator);
        let properties = schema.ensure_object().entry("properties").or_insert_with(|| json!({}));
        if let Some(properties) = properties.as_object_mut() {
            properties.extend(offered().map(|key| (key.argument(), property(key))));
        }
        schema
    }
}

/// One option as a schema says it.
fn property(key: &Key) -> Value {
    let says = key.model.unwrap_or(key.says);
    match key.shape {
        Shape::Whole { min, max } => {
            json!({ "description": says, "type": ["integer", "null"], "minimum": min, "maximum": max })
        }
        Shape::Number { min, max } => {
            json!({ "description": says, "type": ["number", "null"], "minimum": min, "maximum": max })
        }
        Shape::Flag => json!({ "description": says, "type": ["boolean", "null"] }),
        shape if key.is_list() && key.several.is_none() => {
            json!({ "description": says, "type": ["array", "null"], "items": { "type": "string" }, "$comment": shape.expects() })
        }
        shape => match reference::names(shape) {
            names if names.is_empty() => json!({ "description": says, "type": ["string", "null"] }),
            names => {
                let names: Vec<Value> = names.into_iter().map(Value::from).chain([Value::Null]).collect();
                json!({ "description": says, "enum": names })
            }
        },
    }
}

/// An option as a client's model knows it: by its argument here, or by its place in gadfly.toml.
pub fn named(option: &str, value: &str) -> String {
    let argument = match option {
        "criterion" => "criteria",
        "task_file" => "task",
        "rubric" | "draft" => option,
        other if offered().any(|key| key.name == other || key.argument() == other) => other,
        other => return format!("`{other}` of a loop in gadfly.toml"),
    };
    // `FILE` and `"…"` stand for a value; others are one.
    let is_value =
        !value.is_empty() && !value.starts_with('"') && value.chars().any(|c| !c.is_ascii_uppercase());
    if is_value { format!("`{argument}` = {value}") } else { format!("`{argument}`") }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StartGoal {
    /// A goal by its name in gadfly.toml.
    pub name: Option<String>,
    /// In its place, a goal in words: what has to be true at the end. The user is asked first.
    pub goal: Option<String>,
    /// For a goal in words: commands that all have to succeed for it to be met.
    pub until: Option<Vec<String>>,
    /// How long to wait for its end, in seconds (default 45, at most 600).
    pub wait_seconds: Option<u64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SteerGoal {
    /// The run's id.
    pub run: String,
    /// What the worker is told at its next turn, in the user's words.
    pub text: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SubmitDraft {
    /// The run's id.
    pub run: String,
    /// The whole draft, not a description of what changed; at most 16 MiB.
    pub draft: String,
    /// How long to wait for the verdict, in seconds (default 45, at most 600).
    pub wait_seconds: Option<u64>,
}

/// One run, and how long to wait for it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunAndWait {
    /// The run's id.
    pub run: String,
    /// How long to wait while it is at work, in seconds (default 45, at most 600).
    pub wait_seconds: Option<u64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListFindings {
    /// The run's id.
    pub run: String,
    /// Leave out what was fixed.
    pub open_only: Option<bool>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunArgument {
    /// The run's id.
    pub run: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SubmitReport {
    /// The single-use token that `open_review` gave with the brief. Without it no report counts.
    pub token: Option<String>,
    /// The critic's whole report, in the form the brief asks for; at most 16 MiB.
    pub report: String,
    /// How long to wait for what follows, in seconds (default 45, at most 600).
    pub wait_seconds: Option<u64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListQuestions {
    /// Only of this run; else of all runs that wait.
    pub run: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnswerQuestion {
    /// The run's id.
    pub run: String,
    /// Which question, as `list_questions` names it; needed only where a run asks several.
    pub effect: Option<String>,
    /// What the user decided: one of the question's choices with what has to follow it, or their own words.
    pub answer: String,
    /// How long to wait for what follows, in seconds (default 45, at most 600).
    pub wait_seconds: Option<u64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListRuns {
    /// Only runs in these states, as `waiting`, `halted`, `approved`, `interrupted`.
    pub states: Option<Vec<String>>,
    /// How many, newest first (default 20, at most 200).
    pub limit: Option<u32>,
    /// How many of the newest to leave out.
    pub offset: Option<u32>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResumeRun {
    /// The run's id.
    pub run: String,
    /// Raise the number of rounds to this, if the user agrees.
    pub rounds: Option<u32>,
    /// Raise the money cap to this, if the user agrees.
    pub budget_usd: Option<f64>,
    /// How long to wait for what follows, in seconds (default 45, at most 600).
    pub wait_seconds: Option<u64>,
}

/// How long a call waits.
pub fn wait(seconds: Option<u64>) -> Duration {
    Duration::from_secs(seconds.unwrap_or(USUAL_WAIT).min(LONGEST_WAIT))
}

#[cfg(test)]
mod tests {
    use gadfly_project::Problem;
    use gadfly_project::place::option;

    use super::*;

    #[test]
    fn problems_name_options_as_a_model_gives_them() {
        for (names, model) in [
            (option("rounds"), "`rounds`"),
            (option("rubric FILE"), "`rubric`"),
            (option("criterion \"…\""), "`criteria`"),
            (option("protocol audit"), "`protocol` = audit"),
            (option("out"), "`out` of a loop in gadfly.toml"),
        ] {
            let problem = Problem::error(format!("use {names} here")).help(names);
            let told = problem.in_words_of(named);
            assert_eq!(told.message, format!("use {model} here"));
            assert_eq!(told.help.as_deref(), Some(model));
        }
    }

    #[test]
    fn what_is_offered_is_taken_and_what_is_not_is_refused() {
        let sent = json!({ "task": "T", "rounds": 2, "budget_usd": 0.5, "protocol": "score", "criteria": ["short"] });
        let start = StartLoop::deserialize(sent).unwrap();
        assert_eq!(start.given.problems(), []);
        assert_eq!((start.given.text("task").as_deref(), start.given.whole("rounds")), (Some("T"), Some(2)));
        assert!(start.given.limits().money.is_some());
        assert_eq!(start.own.criteria.unwrap(), ["short"]);
        for unknown in ["threshold", "verify", "out", "surprise"] {
            let refused = StartLoop::deserialize(json!({ "task": "T", unknown: "x" })).unwrap_err();
            assert!(refused.to_string().contains(unknown), "{refused}");
        }
        let wrong = StartLoop::deserialize(json!({ "task": "T", "rounds": 0 })).unwrap();
        assert_eq!(wrong.given.problems().len(), 1);
    }
}
