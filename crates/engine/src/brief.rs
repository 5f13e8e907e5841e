//! stub
pub fn neutralise(t: &str) -> std::borrow::Cow<'_, str> { t.into() }
