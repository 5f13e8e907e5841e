//! What a request says, read so that a refusal is always JSON with a sentence.

use axum::extract::{FromRequest, FromRequestParts, Query, Request};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use super::refusal::HttpRefusal;

/// The body, as JSON.
pub struct JsonBody<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for JsonBody<T> {
    type Rejection = HttpRefusal;

    async fn from_request(request: Request, state: &S) -> Result<Self, HttpRefusal> {
        let kind =
            request.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        if kind.split(';').next().map(str::trim) != Some("application/json") {
            return Err(HttpRefusal::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "a body has to be application/json",
            ));
        }
        let bytes = axum::body::Bytes::from_request(request, state).await;
        let bytes = bytes.map_err(|e| HttpRefusal::new(e.status(), e.body_text()))?;
        serde_json::from_slice(&bytes).map(Self).map_err(|e| {
            let status = if e.is_data() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::BAD_REQUEST };
            HttpRefusal::new(status, format!("this cannot be read: {e}"))
        })
    }
}

/// What stands after the question mark.
pub struct QueryString<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for QueryString<T> {
    type Rejection = HttpRefusal;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, HttpRefusal> {
        match Query::from_request_parts(parts, state).await {
            Ok(Query(asked)) => Ok(Self(asked)),
            Err(e) => Err(HttpRefusal::bad(e.body_text())),
        }
    }
}
