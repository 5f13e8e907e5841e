//! Questions for the user of a client: as a form to fill in, and as data for a model that has to ask for us. An
//! answer is read as a person's is at a terminal; nobody's silence is one.

use std::fmt::Write as _;

use gadfly_engine::EffectId;
use gadfly_engine::question::Question;
use gadfly_journal::RunId;
use rmcp::model::{ElicitationSchema, EnumSchema, StringSchema};
use rmcp::schemars::{self, JsonSchema};
use serde::Serialize;
use serde_json::Value;

use super::client::{ClientAnswer, McpClient};
use super::reply::{ToolError, refused};
use super::state::ServerState;
use crate::context::Context;
use crate::output::safe;
use crate::terms::Terms;

/// The longest question a form shows; the run's page has all of it.
const LONGEST: usize = 8_000;
/// Fields of a form.
const CHOICE: &str = "choice";
const TEXT: &str = "text";
const ALLOW: &str = "allow";
const YES: &str = "allow from now on";

/// An open question, as a model reads it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct OpenQuestion {
    pub run: String,
    /// Names the question among several of a run.
    pub effect: String,
    pub about: String,
    pub question: String,
    pub choices: Vec<AnswerChoice>,
    /// Any other words are an answer, too.
    pub free: bool,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AnswerChoice {
    /// What to answer, as `grant N`.
    pub answer: String,
    pub means: String,
}

impl OpenQuestion {
    pub fn new(run: &RunId, effect: &EffectId, question: &Question) -> Self {
        let ways = question.choices.iter().zip(question.shown_choices());
        Self {
            run: run.to_string(),
            effect: effect.to_string(),
            about: question.about.name().to_owned(),
            question: question.text.clone(),
            choices: ways
                .map(|(choice, answer)| AnswerChoice { answer, means: choice.says.clone() })
                .collect(),
            free: question.free,
        }
    }

    pub fn text(&self) -> String {
        let mut text = self.question.trim_end().to_owned();
        for AnswerChoice { answer, means } in &self.choices {
            let _ = write!(text, "\n- {answer}: {means}");
        }
        if self.free {
            text.push_str("\n- or in the user's own words");
        }
        text
    }
}

/// Asks the client's user. None if the question stays open. What a model proposes is shown, and only shown. `goes_on`
/// is the run that a call made again follows; none if the whole call is to be made again.
pub async fn ask(
    client: &McpClient,
    (run, effect, question): (&RunId, &EffectId, &Question),
    proposed: Option<&str>,
    goes_on: Option<&RunId>,
) -> Result<Option<String>, ToolError> {
    let Some(form) = form(question) else { return Ok(None) };
    let about = OpenQuestion::new(run, effect, question).text();
    let proposed = proposed.map(|words| format!("\n\nThe host proposes: {}", cut(words))).unwrap_or_default();
    let message = format!("Gadfly, run {run}: {}{proposed}", cut(&about));
    match client.ask(&format!("{run} {effect}"), message, form, goes_on).await? {
        ClientAnswer::Content(content) => Ok(answer(question, &content)),
        ClientAnswer::Declined | ClientAnswer::Nobody => Ok(None),
    }
}

/// The choices as a list to pick from, and room for what has to follow one, or for other words.
fn form(question: &Question) -> Option<ElicitationSchema> {
    let mut form = ElicitationSchema::builder();
    if !question.choices.is_empty() {
        let words: Vec<String> = question.choices.iter().map(|choice| choice.word.clone()).collect();
        let titles = question.choices.iter().zip(question.shown_choices());
        let titles =
            titles.map(|(choice, shown)| safe::line(&format!("{shown}: {}", choice.says), 200)).collect();
        let list = match EnumSchema::builder(words.clone()).enum_titles(titles) {
            Ok(shown) => shown.build(),
            Err(_) => EnumSchema::builder(words).build(),
        };
        form = if question.free {
            form.optional_enum_schema(CHOICE, list)
        } else {
            form.required_enum_schema(CHOICE, list)
        };
    }
    let takes = question.choices.iter().filter_map(|choice| choice.takes.as_deref());
    let takes: Vec<&str> = takes.collect();
    if question.free || !takes.is_empty() {
        let after = if takes.is_empty() {
            String::new()
        } else {
            format!("What follows the choice: {}. ", takes.join(", "))
        };
        let other = if question.free { "Or an answer in your own words." } else { "" };
        let words = StringSchema::new().description(format!("{after}{other}").trim_end().to_owned());
        form = form.string_property(TEXT, |_| words);
    }
    form.build().ok()
}

/// What was filled in, as a person would type it. None if nothing was.
fn answer(question: &Question, filled: &Value) -> Option<String> {
    let field =
        |name: &str| filled.get(name).and_then(Value::as_str).map(str::trim).filter(|t| !t.is_empty());
    let (choice, text) = (field(CHOICE), field(TEXT));
    match (choice, text) {
        (Some(word), text) => {
            let takes = question.choices.iter().any(|c| c.word == word && c.takes.is_some());
            Some(match text.filter(|_| takes) {
                Some(text) => format!("{word} {text}"),
                None => word.to_owned(),
            })
        }
        (None, Some(text)) => Some(text.to_owned()),
        (None, None) => None,
    }
}

/// What came of a question that is answered with yes or no.
pub enum ConsentAnswer {
    Yes,
    No,
    /// This client has no way to ask its user.
    Nobody,
}

/// Asks whether the user allows something; `yes` is the word for it. The same words have to have the same key: what is
/// agreed to is what was shown.
pub async fn consent(
    client: &McpClient,
    key: &str,
    message: &str,
    yes: &str,
    goes_on: Option<&RunId>,
) -> Result<ConsentAnswer, ToolError> {
    let list = EnumSchema::builder(vec![yes.to_owned(), "no".to_owned()]).build();
    let form = ElicitationSchema::builder().required_enum_schema(ALLOW, list).build().map_err(refused)?;
    Ok(match client.ask(key, cut(message), form, goes_on).await? {
        ClientAnswer::Content(filled) if filled.get(ALLOW).and_then(Value::as_str) == Some(yes) => {
            ConsentAnswer::Yes
        }
        ClientAnswer::Content(_) | ClientAnswer::Declined => ConsentAnswer::No,
        ClientAnswer::Nobody => ConsentAnswer::Nobody,
    })
}

/// Has the user agree to what the project's files want, or refuses with how that is done.
pub async fn agree(
    server: &ServerState,
    context: &Context,
    client: &McpClient,
    terms: &Terms,
    goes_on: Option<&RunId>,
) -> Result<(), ToolError> {
    if terms.wanted.is_empty() {
        return Ok(());
    }
    if server.agreed.trust {
        return terms.trust(context).map_err(refused);
    }
    let wanted = terms.wanted_lines().join("\n");
    let wants = format!("this project's files want to:\n{wanted}");
    let key = format!("terms {}", terms.digest());
    let message = format!("Gadfly: {wants}\n\nAllow this from now on?");
    match consent(client, &key, &message, YES, goes_on).await? {
        ConsentAnswer::Yes => terms.trust(context).map_err(refused),
        ConsentAnswer::No => {
            Err(refused(format!("{wants}\nThe user did not allow it, so nothing was started.")))
        }
        ConsentAnswer::Nobody => Err(refused(format!(
            "{wants}\nNobody has agreed to this yet. Show it to the user. To agree, once, they start this server as \
             `gadfly mcp --trust`, or run in a terminal here what this call does, as `gadfly run … --trust`."
        ))),
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{} …", safe::block(&text[..at])),
        None => safe::block(text),
    }
}

#[cfg(test)]
mod tests {
    use gadfly_engine::question::{About, Choice};
    use serde_json::json;

    use super::*;

    fn stuck(free: bool) -> Question {
        let choices =
            vec![Choice::taking("grant", "N", "allow N more rounds"), Choice::new("give-up", "end here")];
        Question { about: About::Stuck, text: "Stuck.".to_owned(), choices, free }
    }

    #[test]
    fn a_form_has_the_choices_as_a_list_and_room_for_what_follows() {
        let form = serde_json::to_value(form(&stuck(false)).unwrap()).unwrap();
        let words: Vec<&str> = form["properties"]["choice"]["oneOf"]
            .as_array()
            .unwrap()
            .iter()
            .map(|way| way["const"].as_str().unwrap())
            .collect();
        assert_eq!(words, ["grant", "give-up"]);
        assert_eq!(form["required"], json!(["choice"]));
        assert_eq!(form["properties"]["text"]["type"], "string");
    }

    #[test]
    fn what_is_filled_in_reads_as_a_person_would_type_it() {
        let read = |filled: Value, free| answer(&stuck(free), &filled);
        assert_eq!(read(json!({ "choice": "grant", "text": "5" }), false).as_deref(), Some("grant 5"));
        assert_eq!(read(json!({ "choice": "give-up", "text": "x" }), false).as_deref(), Some("give-up"));
        assert_eq!(read(json!({ "text": "use sqlite" }), true).as_deref(), Some("use sqlite"));
        assert_eq!(read(json!({ "choice": 7, "text": " " }), true), None);
        assert_eq!(read(json!([]), true), None);
    }
}
