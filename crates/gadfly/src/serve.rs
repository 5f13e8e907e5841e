//! The dashboard's server: a router over the journal and the façade, and what it needs to answer. It keeps nothing: what
//! a page shows is folded from records when it is asked for, and what a person does goes through `Gadfly`.
//!
//! To add an address: its handler in the file it belongs to, a line in `app`.

mod actions;
mod assets;
mod extract;
mod guard;
mod listening;
mod live;
mod overview;
mod page;
mod proof;
mod questions;
mod refusal;
mod start;
mod texts;
mod token;

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::routing::{get, post};
use gadfly_runtime::Gadfly;

use crate::background::Background;
use crate::context::Context;

pub use guard::Hosts;
pub use listening::bind;
pub use proof::PageProof;
pub use token::{PageToken, TokenError};

/// Everything a request is answered with.
pub struct Dashboard {
    pub context: Context,
    pub background: Arc<Background>,
    pub token: PageToken,
    proof: PageProof,
    pub hosts: Hosts,
    live: live::LivePages,
}

impl Dashboard {
    pub fn new(
        context: Context,
        gadfly: Gadfly,
        token: PageToken,
        proof: PageProof,
        hosts: Hosts,
    ) -> Arc<Self> {
        let background = Background::new(gadfly);
        let live = live::LivePages::new(Arc::clone(&background));
        Arc::new(Self { context, background, token, proof, hosts, live })
    }

    fn gadfly(&self) -> &Gadfly {
        self.background.gadfly()
    }

    /// Ends what is watched, then what is driven.
    pub async fn close(&self) {
        self.live.close();
        self.background.close().await;
    }
}

/// Every address, behind the one entrance.
pub fn app(dashboard: Arc<Dashboard>) -> Router {
    let api = Router::new()
        .route("/api/live/overview", get(live::overview))
        .route("/api/live/runs/{run}", get(live::run))
        .route("/api/runs", get(overview::older))
        .route("/api/runs/{run}/page", get(page::older))
        .route("/api/runs/{run}/texts/{text}", get(texts::text))
        .route("/api/runs/{run}/diff", get(texts::diff))
        .route("/api/runs/{run}/tree-diff/{text}", get(texts::tree_diff))
        .route("/api/runs/{run}/answer", post(actions::answer))
        .route("/api/runs/{run}/pause", post(actions::pause))
        .route("/api/runs/{run}/cancel", post(actions::cancel))
        .route("/api/runs/{run}/steer", post(actions::steer))
        .route("/api/runs/{run}/resume", post(actions::resume))
        .route("/api/start", get(start::choices))
        .route("/api/start/loop", post(start::start_loop))
        .route("/api/start/goal", post(start::start_goal))
        .layer(axum::middleware::from_fn_with_state(Arc::clone(&dashboard), guard::with_token))
        .route("/api/hello", get(guard::hello))
        .fallback(assets::asset);
    // What is read is bounded at the entrance.
    api.layer(DefaultBodyLimit::disable())
        .layer(axum::middleware::from_fn_with_state(Arc::clone(&dashboard), guard::at_the_door))
        .with_state(dashboard)
}
