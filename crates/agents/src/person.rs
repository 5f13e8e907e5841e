//! `person`: a worker or critic whose reply comes from another terminal, the dashboard or an MCP host.
//! This file only waits for it; how the reply arrives is the runtime's business.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use gadfly_engine::{FailureKind, StopReason, Usage};

use crate::agent::{Agent, Answered, Call, Link, Unanswered};

/// Where a person's replies arrive.
pub trait ReplyBox: Send + Sync {
    /// Resolves with the reply addressed to this effect.
    fn wait(&self, effect: &str) -> BoxFuture<'_, String>;
}

pub(crate) struct Person {
    pub replies: Arc<dyn ReplyBox>,
}

impl Agent for Person {
    fn call(&self, call: Call, link: Link) -> BoxFuture<'_, Result<Answered, Unanswered>> {
        Box::pin(async move {
            if link.cancel.is_cancelled() {
                return Err(Unanswered::Cancelled { sent: false });
            }
            let time = async {
                match call.time {
                    Some(time) => tokio::time::sleep(time).await,
                    None => std::future::pending().await,
                }
            };
            let text = tokio::select! {
                text = self.replies.wait(&call.effect) => text,
                () = link.cancel.cancelled() => return Err(Unanswered::Cancelled { sent: true }),
                () = time => {
                    return Err(Unanswered::failed(
                        FailureKind::Timeout,
                        format!("no reply to {} came in time; resume the run to ask again", call.effect),
                    ));
                }
            };
            if text.trim().is_empty() {
                return Err(Unanswered::failed(
                    FailureKind::BadReply,
                    format!("the reply to {} is empty; answer again with some text", call.effect),
                ));
            }
            Ok(Answered { text, stop: StopReason::EndTurn, usage: Usage::default(), model: None })
        })
    }
}
