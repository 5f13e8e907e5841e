//! What a provider is taken for after calls that failed, and who may try again.

#![allow(clippy::unwrap_used, clippy::panic)] // a test that cannot go on should say so

use std::sync::atomic::{AtomicU64, Ordering};

use gadfly_engine::{StopReason, Usage};

use super::*;

struct Hand(AtomicU64);

impl Hand {
    fn set(&self, now: u64) {
        self.0.store(now, Ordering::Relaxed);
    }
}

impl Clock for Hand {
    fn now_ms(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

fn provider() -> (Provider, Arc<Hand>) {
    let clock = Arc::new(Hand(AtomicU64::new(1_000)));
    (Provider::new("host key", "host", Arc::new(InMemoryHealth::default()), clock.clone(), false), clock)
}

/// The same provider as another run sees it.
fn insisting(provider: &Provider) -> Provider {
    Provider { insist: true, ..provider.clone() }
}

fn busy() -> CallError {
    CallError::failed(FailureKind::RateLimited, "429")
}

fn answered() -> CallReply {
    CallReply {
        text: "yes".into(),
        stop: StopReason::EndTurn,
        usage: Usage::default(),
        model: None,
        session: None,
        calls: Vec::new(),
    }
}

async fn fail(provider: &Provider, times: u32) -> CallError {
    let mut last = busy();
    for _ in 0..times {
        last = provider.admitted().await.unwrap_or_else(|why| panic!("{why}")).failed(busy());
    }
    last
}

async fn until(provider: &Provider) -> Option<u64> {
    match provider.admitted().await {
        Err(CallError::Quota { until_ms, .. }) => until_ms,
        _ => None,
    }
}

#[tokio::test]
async fn five_failures_in_a_row_shut_it_and_four_do_not() {
    let (provider, _) = provider();
    fail(&provider, 4).await;
    provider.admitted().await.unwrap().succeeded();
    fail(&provider, 4).await;
    assert!(provider.admitted().await.is_ok(), "a success in between starts the count anew");
    let last = fail(&provider, 1).await;
    assert!(matches!(last, CallError::Quota { until_ms: Some(31_000), .. }), "{last}");
    assert_eq!(until(&provider).await, Some(31_000));
}

#[tokio::test]
async fn failures_long_apart_are_no_row() {
    let (provider, clock) = provider();
    fail(&provider, 4).await;
    clock.set(1_000 + 16 * 60_000);
    assert_eq!(fail(&provider, 1).await, busy());
}

#[tokio::test]
async fn a_wrong_key_stays_a_wrong_key() {
    let (provider, _) = provider();
    let wrong = CallError::failed(FailureKind::Unauthorised, "401");
    for _ in 0..5 {
        let pass = provider.admitted().await.unwrap();
        assert_eq!(pass.settle(Err(wrong.clone())), Err(wrong.clone()));
    }
    assert_eq!(until(&provider).await, Some(31_000), "and the others are spared");
}

#[tokio::test]
async fn a_time_that_the_provider_names_holds_for_all_at_once() {
    let (provider, _) = provider();
    let told =
        CallError::Quota { until_ms: Some(3_601_000), message: "used up".into(), usage: Usage::default() };
    let ended = provider.call(&CancellationToken::new(), async { Err(told.clone()) }).await;
    assert_eq!(ended, Err(told));
    let mut asked = false;
    let other = provider
        .call(&CancellationToken::new(), async {
            asked = true;
            Ok(answered())
        })
        .await;
    let Err(CallError::Quota { until_ms: Some(3_601_000), message, .. }) = other else { panic!("{other:?}") };
    assert!(message.contains("host") && message.contains("used up") && !asked, "{message}");
}

#[tokio::test]
async fn nobody_waits_longer_than_eight_days_whatever_a_provider_says() {
    let (provider, _) = provider();
    let told = CallError::Quota { until_ms: Some(u64::MAX), message: String::new(), usage: Usage::default() };
    let ended = provider.call(&CancellationToken::new(), async { Err(told) }).await;
    let Err(CallError::Quota { until_ms, .. }) = ended else { panic!("{ended:?}") };
    assert_eq!((until_ms, until(&provider).await), (Some(1_000 + LONGEST_MS), Some(1_000 + LONGEST_MS)));
}

#[tokio::test]
async fn a_clock_that_was_put_back_does_not_keep_it_shut() {
    let (provider, clock) = provider();
    clock.set(1_000_000_000);
    fail(&provider, 5).await;
    assert!(provider.shut().is_some() && until(&provider).await.is_some());
    clock.set(1_000);
    assert!(provider.shut().is_none() && provider.admitted().await.is_ok());
}

#[tokio::test]
async fn a_clock_that_was_put_forward_lets_one_call_try() {
    let (provider, clock) = provider();
    fail(&provider, 5).await;
    clock.set(40_000);
    assert!(provider.admitted().await.is_ok_and(|pass| pass.is_probe()));
}

#[tokio::test]
async fn what_no_run_of_ours_would_write_shuts_nothing() {
    let hostile = [
        Notice { until_ms: u64::MAX, ..Notice::default() },
        Notice { set_ms: u64::MAX, until_ms: u64::MAX, ..Notice::default() },
        Notice { set_ms: 1_000, until_ms: 1_001 + LONGEST_MS, ..Notice::default() },
        Notice { set_ms: 1_000, failures: u32::MAX, times: u32::MAX, ..Notice::default() },
        Notice { set_ms: 1_000, tried_ms: Some(u64::MAX), until_ms: 1_000, ..Notice::default() },
    ];
    for notice in hostile {
        let (provider, _) = provider();
        provider.health.update(&provider.key, &mut |_| Some(notice.clone()));
        let pass = provider.admitted().await;
        assert!(pass.is_ok(), "{notice:?}");
        // What it counted wrong has an end as well.
        pass.unwrap().failed(busy());
        let shut = provider.health.notice(&provider.key).unwrap();
        assert!(shut.until_ms <= 1_000 + LONGEST_WAIT_MS, "{shut:?}");
    }
}

#[tokio::test]
async fn one_probe_decides_for_the_others_and_the_wait_grows() {
    let (provider, clock) = provider();
    fail(&provider, 5).await;
    clock.set(31_000);
    let probe = provider.admitted().await.unwrap();
    assert!(probe.is_probe());
    let waiting = tokio::spawn({
        let other = provider.clone();
        async move { until(&other).await }
    });
    tokio::task::yield_now().await;
    assert!(!waiting.is_finished(), "the others wait for its result");
    probe.failed(busy());
    assert_eq!(waiting.await.unwrap(), Some(31_000 + 60_000), "and have it without a call of their own");
    clock.set(91_000);
    provider.admitted().await.unwrap().succeeded();
    assert!(provider.admitted().await.is_ok_and(|pass| !pass.is_probe()));
}

#[tokio::test]
async fn a_probe_that_takes_long_does_not_hold_the_others() {
    let (provider, clock) = provider();
    fail(&provider, 5).await;
    clock.set(31_000);
    let _probe = provider.admitted().await.unwrap();
    clock.set(31_000 + 30_000);
    let other = provider.admitted().await.unwrap();
    assert!(!other.is_probe());
    drop(other);
    // Should the first have died, the others still shut it again.
    assert!(matches!(fail(&provider, 5).await, CallError::Quota { .. }));
}

#[tokio::test]
async fn a_probe_that_is_dropped_lets_the_next_one_try() {
    let (provider, clock) = provider();
    fail(&provider, 5).await;
    clock.set(31_000);
    drop(provider.admitted().await.unwrap());
    assert!(provider.admitted().await.is_ok_and(|pass| pass.is_probe()));
}

#[tokio::test]
async fn calls_that_were_under_way_neither_lengthen_the_wait_nor_end_it() {
    let (provider, clock) = provider();
    let mut late = Vec::new();
    for _ in 0..20 {
        late.push(provider.admitted().await.unwrap());
    }
    clock.set(2_000);
    let lucky = late.pop().unwrap();
    for pass in late {
        pass.failed(busy());
    }
    assert_eq!(until(&provider).await, Some(32_000));
    lucky.succeeded();
    assert_eq!(until(&provider).await, Some(32_000), "it was asked before");
}

#[tokio::test]
async fn whoever_insists_asks_and_an_answer_opens_it_for_all() {
    let (provider, clock) = provider();
    fail(&provider, 5).await;
    clock.set(1_001);
    insisting(&provider).admitted().await.unwrap().succeeded();
    assert!(provider.admitted().await.is_ok_and(|pass| !pass.is_probe()));
}

#[test]
fn accounts_are_told_apart_and_a_key_is_not_to_be_had_from_the_name() {
    let key = |text: &str| Some(Secret::new(text));
    let named = |env, k: &Option<Secret>| account("api.example.org", env, k.as_ref());
    let (one, two) = (key("sk-one"), key("sk-two"));
    assert_ne!(named(Some("KEY"), &one), named(Some("KEY"), &two));
    assert_ne!(named(Some("KEY"), &one), named(Some("OTHER"), &one));
    assert_ne!(named(None, &None), named(None, &one));
    let name = named(Some("KEY"), &one);
    assert_eq!(
        name.len(),
        "api.example.org KEY ".len() + 4,
        "more of a digest would give the key away: {name}"
    );
}

#[tokio::test]
async fn whoever_waits_for_anothers_probe_can_be_cancelled() {
    let (provider, clock) = provider();
    fail(&provider, 5).await;
    clock.set(31_000);
    let _probe = provider.admitted().await.unwrap();
    let cancel = CancellationToken::new();
    let waiting = tokio::spawn({
        let (other, cancel) = (provider.clone(), cancel.clone());
        async move { other.call(&cancel, async { Ok(answered()) }).await }
    });
    tokio::task::yield_now().await;
    cancel.cancel();
    assert_eq!(waiting.await.unwrap(), Err(CallError::Cancelled { sent: false }));
}
