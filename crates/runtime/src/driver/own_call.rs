//! The call that a driver makes on its own task. Most loops have one call at a time, and one that nobody watches needs no task
//! of its own: nothing is handed over, and nobody has to be woken. While a record is being written the call stands still.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

use tokio::sync::mpsc;

use crate::perform::Incoming;

#[derive(Default)]
pub(super) struct OwnCall {
    under_way: Option<Pin<Box<dyn Future<Output = Incoming> + Send>>>,
    /// What came of it, while what it observed before is still being taken in.
    ended: Option<Box<Incoming>>,
}

impl OwnCall {
    pub(super) const fn is_free(&self) -> bool {
        self.under_way.is_none() && self.ended.is_none()
    }

    pub(super) fn make(&mut self, call: impl Future<Output = Incoming> + Send + 'static) {
        self.under_way = Some(Box::pin(call));
    }

    /// The next thing that comes: from others first, since what a call observes comes before its reply.
    pub(super) async fn or(&mut self, others: &mut mpsc::Receiver<Box<Incoming>>) -> Option<Box<Incoming>> {
        poll_fn(|cx| {
            if let Some(call) = &mut self.under_way
                && let Poll::Ready(ended) = call.as_mut().poll(cx)
            {
                (self.under_way, self.ended) = (None, Some(Box::new(ended)));
            }
            match others.poll_recv(cx) {
                Poll::Pending if self.ended.is_some() => Poll::Ready(self.ended.take()),
                came => came,
            }
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use gadfly_engine::{EffectId, NodePath, Observation, Reply};

    use super::*;
    use crate::perform::Back;

    #[tokio::test]
    async fn what_a_call_observes_comes_before_its_reply() {
        let effect = EffectId { node: NodePath::root(), n: 1 };
        let (back, mut others) = Back::new(4);
        let mut own = OwnCall::default();
        assert!(own.is_free());
        let of = effect.clone();
        own.make(async move {
            let observation = Observation::Note { line: "begun".into() };
            back.send(Incoming::Observed { effect: of.clone(), observation }).await;
            Incoming::Replied { effect: of, reply: Reply::Cancelled { sent: true }, texts: Vec::new() }
        });
        assert!(!own.is_free());
        assert!(matches!(own.or(&mut others).await.as_deref(), Some(Incoming::Observed { .. })));
        assert!(!own.is_free(), "its reply is still to be taken");
        assert!(matches!(own.or(&mut others).await.as_deref(), Some(Incoming::Replied { .. })));
        assert!(own.is_free());
    }
}
