//! When to try again: the server's own word, in a header or in its body, else full jitter.

use std::time::Duration;

use reqwest::header::HeaderMap;
use serde_json::Value;

use crate::services::Jitter;

pub(crate) const MAX_ATTEMPTS: u32 = 4;
/// A server that asks for more than this has no quota left for us.
pub(crate) const LONGEST_WAIT: Duration = Duration::from_mins(1);
const LONGEST_BACKOFF: Duration = Duration::from_secs(20);
const YEAR_MS: u64 = 365 * 24 * 3_600_000;

/// How long the server asks to wait, if it says.
pub(crate) fn told(headers: &HeaderMap, now_ms: u64) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|v| v.to_str().ok()).map(str::trim);
    if let Some(ms) = text("retry-after-ms").and_then(|t| t.parse::<f64>().ok()) {
        return bounded(ms);
    }
    let Some(after) = text("retry-after") else {
        return text("x-ratelimit-reset").and_then(|reset| moment(reset.parse().ok()?, now_ms));
    };
    if let Ok(seconds) = after.parse::<f64>() {
        return bounded(seconds * 1000.0);
    }
    let at = jiff::fmt::rfc2822::parse(after).ok()?.timestamp().as_millisecond();
    let wait = u64::try_from(at).ok()?.saturating_sub(now_ms).min(YEAR_MS);
    Some(Duration::from_millis(wait))
}

/// A time to come back at: milliseconds or seconds since 1970, or seconds from now.
fn moment(number: f64, now_ms: u64) -> Option<Duration> {
    let now = now_ms as f64;
    if number >= 1e11 {
        return bounded((number - now).max(0.0));
    }
    if number >= 1e9 {
        return bounded(number.mul_add(1000.0, -now).max(0.0));
    }
    bounded(number * 1000.0)
}

/// What a detail of an error asks for: `{"@type": "…RetryInfo", "retryDelay": "34s"}`.
pub(super) fn asked_by(detail: &Value) -> Option<Duration> {
    let seconds = detail.get("retryDelay")?.as_str()?.strip_suffix('s')?;
    bounded(seconds.parse::<f64>().ok()? * 1000.0)
}

/// What stands beside an error's message: `metadata.headers`, as routers pass a provider's on.
pub(super) fn beside(error: &Value) -> Option<Duration> {
    let headers = error.get("metadata")?.get("headers")?.as_object()?;
    let (_, after) = headers.iter().take(64).find(|(name, _)| name.eq_ignore_ascii_case("retry-after"))?;
    let seconds = after.as_f64().or_else(|| after.as_str()?.trim().parse().ok())?;
    bounded(seconds * 1000.0)
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // bounded on the line before
fn bounded(ms: f64) -> Option<Duration> {
    if !ms.is_finite() || ms < 0.0 {
        return None;
    }
    Some(Duration::from_millis(ms.min(YEAR_MS as f64).ceil() as u64))
}

/// The wait before the next attempt: what the server said plus jitter, or full jitter alone.
pub(crate) fn wait(attempt: u32, told: Option<Duration>, jitter: &dyn Jitter) -> Duration {
    let most = Duration::from_millis(500u64 << attempt.saturating_sub(1).min(10)).min(LONGEST_BACKOFF);
    told.unwrap_or_default() + jitter.up_to(most)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(name: &'static str, value: &'static str) -> Option<Duration> {
        let mut headers = HeaderMap::new();
        headers.insert(name, value.parse().unwrap());
        told(&headers, 784_111_777_000 - 90_000)
    }

    #[test]
    fn the_servers_word_is_read_in_all_its_forms() {
        assert_eq!(after("retry-after-ms", "250"), Some(Duration::from_millis(250)));
        assert_eq!(after("retry-after", "2"), Some(Duration::from_secs(2)));
        assert_eq!(after("retry-after", "0.5"), Some(Duration::from_millis(500)));
        assert_eq!(after("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT"), Some(Duration::from_secs(90)));
        assert_eq!(after("retry-after", "Sun, 06 Nov 1993 08:49:37 GMT"), None, "a wrong weekday is no date");
        assert_eq!(after("retry-after", "soon"), None);
        assert_eq!(after("retry-after", "-3"), None);
        assert_eq!(after("retry-after", "NaN"), None);
        assert_eq!(after("retry-after", "1e300"), Some(Duration::from_millis(YEAR_MS)));
        assert_eq!(after("x-ratelimit-reset", "784111777000"), Some(Duration::from_secs(90)), "milliseconds");
        assert_eq!(after("x-ratelimit-reset", "30"), Some(Duration::from_secs(30)));
        assert_eq!(after("x-ratelimit-reset", "-30"), None);
    }

    #[test]
    fn a_wait_in_the_body_is_read_and_bounded() {
        let delay = |text: &str| asked_by(&serde_json::json!({"retryDelay": text}));
        assert_eq!(delay("34s"), Some(Duration::from_secs(34)));
        assert_eq!(delay("0.25s"), Some(Duration::from_millis(250)));
        assert_eq!([delay("soon"), delay("-1s"), delay("34")], [None; 3]);
        let routed = serde_json::json!({"metadata": {"headers": {"Retry-After": "7"}}});
        assert_eq!(beside(&routed), Some(Duration::from_secs(7)));
    }

    #[test]
    fn backoff_doubles_to_its_bound_and_jitter_covers_all_of_it() {
        struct Most;
        impl Jitter for Most {
            fn up_to(&self, most: Duration) -> Duration {
                most
            }
        }
        let waits: Vec<_> = [1, 2, 3, 9].map(|n| wait(n, None, &Most).as_millis()).into();
        assert_eq!(waits, [500, 1000, 2000, 20_000]);
        assert_eq!(wait(1, Some(Duration::from_secs(3)), &Most).as_millis(), 3500);
    }
}
