//! What a request gets that is not answered: a status, a sentence, and what to do. Always JSON.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use gadfly_journal::{PostError, ReadError};
use gadfly_project::Problem;
use gadfly_project::config::keys;
use serde_json::{Value, json};

use crate::background::NotDriven;
use crate::terms::Terms;

#[derive(Debug)]
pub struct HttpRefusal {
    status: StatusCode,
    body: Value,
}

impl HttpRefusal {
    pub fn new(status: StatusCode, error: impl Into<String>) -> Self {
        Self { status, body: json!({ "error": error.into() }) }
    }

    pub fn bad(error: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, error)
    }

    pub fn conflict(error: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, error)
    }

    pub fn no_such_run() -> Self {
        Self::new(StatusCode::NOT_FOUND, "there is no such run")
    }

    pub fn ours(error: impl std::fmt::Display) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
    }

    /// What was asked for is not there.
    pub fn is_gone(&self) -> bool {
        self.status == StatusCode::NOT_FOUND
    }

    pub fn help(mut self, help: impl Into<String>) -> Self {
        if let Some(fields) = self.body.as_object_mut() {
            fields.insert("help".to_owned(), help.into().into());
        }
        self
    }

    /// Everything that is wrong with what was asked for.
    pub fn problems(found: &[Problem]) -> Self {
        let one = |p: &Problem| json!({ "message": p.message, "help": p.help, "place": p.at.as_ref().map(ToString::to_string) });
        let wrong: Vec<Problem> =
            found.iter().filter(|p| p.is_error()).map(|p| p.clone().in_words_of(labelled)).collect();
        let error = wrong.first().map_or("this cannot be started", |p| p.message.as_str());
        let problems: Vec<Value> = wrong.iter().map(one).collect();
        Self {
            status: StatusCode::UNPROCESSABLE_ENTITY,
            body: json!({ "error": error, "problems": problems }),
        }
    }

    /// Somebody has to agree first. Not an error: a browser would note one among its own.
    pub fn terms(terms: &Terms) -> Self {
        let (consent, wanted) = (&terms.consent, terms.wanted_lines());
        let body = json!({ "terms": { "consent": consent, "wanted": wanted, "agree": terms.digest() } });
        Self { status: StatusCode::ACCEPTED, body }
    }
}

/// An option as the form calls it; those it does not have are given in gadfly.toml.
fn labelled(option: &str, value: &str) -> String {
    let label =
        keys::all().find(|key| key.name == option || key.argument() == option).and_then(|key| key.label);
    let named = label.map_or_else(|| format!("`{option}`"), |label| format!("“{label}”"));
    let is_value = !value.is_empty() && value.chars().any(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    if is_value { format!("{named}: {value}") } else { named }
}

impl From<ReadError> for HttpRefusal {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::NotFound(_) => Self::no_such_run(),
            other => Self::ours(other),
        }
    }
}

impl From<PostError> for HttpRefusal {
    fn from(error: PostError) -> Self {
        match error {
            PostError::NotFound(_) => Self::no_such_run(),
            PostError::Ended { .. } | PostError::Crowded(_) | PostError::Answered { .. } => {
                Self::conflict(error.to_string())
            }
            PostError::TooLarge { .. } => Self::new(StatusCode::PAYLOAD_TOO_LARGE, error.to_string()),
            other => Self::ours(other),
        }
    }
}

impl From<NotDriven> for HttpRefusal {
    fn from(error: NotDriven) -> Self {
        let status = match error {
            NotDriven::Crowded | NotDriven::Closing => StatusCode::SERVICE_UNAVAILABLE,
            NotDriven::Failed(_) => StatusCode::CONFLICT,
        };
        Self::new(status, error.to_string())
    }
}

impl IntoResponse for HttpRefusal {
    fn into_response(self) -> Response {
        (self.status, Json(self.body)).into_response()
    }
}
