//! What the agent writes, line by line, before the protocol sees it: noise is left out, and a line has a bound.

use std::sync::{Mutex, PoisonError};

use serde::de::IgnoredAny;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};

use crate::agent::{MAX_REPLY, Observer};
use crate::lines::{Lines, ReadLine};

/// The longest message an agent may send: a whole reply, with room for what JSON adds.
pub(super) const MAX_LINE: usize = 2 * MAX_REPLY;
/// How much of the first line that is no message is kept for people.
const NOISE: usize = 200;

/// What was on the agent's output beside messages. Kept apart, so that it can be looked at before its end.
#[derive(Clone, Default, Debug)]
pub(super) struct Noise {
    /// The beginning of the first line that is no message.
    pub first: Option<String>,
    pub overlong: bool,
}

/// Carries messages on until the output ends, or the listener is gone, or a line is too long.
pub(super) async fn carry(
    output: impl AsyncRead + Unpin,
    mut into: impl AsyncWrite + Unpin,
    observe: &Observer,
    noise: &Mutex<Noise>,
) {
    let mut output = Lines::new(output, MAX_LINE);
    let noise = || noise.lock().unwrap_or_else(PoisonError::into_inner);
    while let Some(line) = output.next().await {
        let ReadLine::Whole(mut line) = line else {
            noise().overlong = true;
            return;
        };
        if !is_message(&line) {
            if noise().first.is_none() && !line.trim_ascii().is_empty() {
                let text = String::from_utf8_lossy(line.trim_ascii());
                noise().first = Some(text.chars().take(NOISE).collect());
            }
            continue;
        }
        // The protocol's own queue has no bound: whoever is slow to take observations slows the agent here.
        observe.room().await;
        line.push(b'\n');
        if into.write_all(&line).await.is_err() {
            return;
        }
    }
}

/// Programs print warnings where only messages belong.
fn is_message(line: &[u8]) -> bool {
    line.trim_ascii_start().starts_with(b"{")
        && std::str::from_utf8(line).is_ok_and(|text| serde_json::from_str::<IgnoredAny>(text).is_ok())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use gadfly_engine::Observation;

    use super::*;
    use crate::agent::observing;

    async fn carried(output: &[u8]) -> (String, Noise) {
        let (observe, _seen) = observing(4);
        let mut into = Vec::new();
        let noise = Mutex::default();
        carry(output, &mut into, &observe, &noise).await;
        (String::from_utf8(into).unwrap(), noise.into_inner().unwrap())
    }

    #[tokio::test]
    async fn only_messages_are_carried_on_and_the_first_noise_is_kept() {
        let output = b"npm warn deprecated\n{\"a\":1}\n{ not: 'json' }\n\xff{}\n\n[1]\n{\"b\":2}";
        let (messages, noise) = carried(output).await;
        assert_eq!(messages, "{\"a\":1}\n{\"b\":2}\n");
        assert_eq!(noise.first.as_deref(), Some("npm warn deprecated"));
        assert!(!noise.overlong);
    }

    #[tokio::test]
    async fn a_line_without_end_is_not_gathered_for_ever() {
        let output = tokio::io::repeat(b'{');
        let (observe, _seen) = observing(4);
        let noise = Mutex::<Noise>::default();
        carry(output, &mut tokio::io::sink(), &observe, &noise).await;
        assert!(noise.into_inner().unwrap().overlong, "without the bound this test would not end");
    }

    #[tokio::test]
    async fn an_agent_waits_for_whoever_takes_its_observations() {
        let (observe, mut seen) = observing(1);
        observe.send(Observation::step("first")).await.unwrap();
        let mut into = Vec::new();
        {
            let noise = Mutex::default();
            let mut carrying = std::pin::pin!(carry(&b"{}\n"[..], &mut into, &observe, &noise));
            assert!(futures_util::poll!(carrying.as_mut()).is_pending(), "nothing may pass a full channel");
            seen.recv().await.unwrap();
            carrying.await;
        }
        assert_eq!(into, b"{}\n");
    }
}
