//! What is followed: for every run somebody looks at, and for the overview, one task that folds the page anew when the
//! journal has moved, and hands the newest to all who look. Who is slow skips to the newest: nothing piles up.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use axum::extract::{Path, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream::{Stream, unfold};
use gadfly_journal::RunId;
use gadfly_runtime::clock::wall_ms;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use super::Dashboard;
use super::extract::QueryString;
use super::overview::{self, Filter};
use super::page;
use super::refusal::HttpRefusal;
use crate::background::Background;

/// Streams open at once; a tab has one.
const STREAMS: usize = 64;
/// How often the journal is asked whether it has moved, and how often at most a page is folded anew.
const LOOK: Duration = Duration::from_millis(100);
const FOLD: Duration = Duration::from_millis(250);
/// Without any record a process may have died: then the page changes, too.
const ANYWAY: Duration = Duration::from_secs(2);
const ALIVE: Duration = Duration::from_secs(15);

/// What can be followed.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Topic {
    Overview(Filter),
    Run(RunId),
}

/// The newest page, as one line of JSON; none of a run that is gone.
type NewestPage = watch::Receiver<Option<Arc<str>>>;

struct PageFeed {
    newest: NewestPage,
    /// Ends the task when the last one who looks is gone.
    _ends: watch::Sender<()>,
}

pub struct LivePages {
    background: Arc<Background>,
    feeds: Mutex<HashMap<Topic, Weak<PageFeed>>>,
    room: Arc<Semaphore>,
    closed: watch::Sender<bool>,
}

impl LivePages {
    pub fn new(background: Arc<Background>) -> Self {
        let (closed, _) = watch::channel(false);
        Self { background, feeds: Mutex::default(), room: Arc::new(Semaphore::new(STREAMS)), closed }
    }

    /// Every stream ends; who looks comes back by itself.
    pub fn close(&self) {
        self.closed.send_replace(true);
    }

    /// Folds the topic's first page, or joins those who follow it already.
    async fn follow(&self, topic: Topic) -> Result<Arc<PageFeed>, HttpRefusal> {
        if let Some(feed) = self.known(&topic) {
            return Ok(feed);
        }
        let first = fold(Arc::clone(&self.background), topic.clone()).await?;
        let mut feeds = self.feeds.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(feed) = feeds.get(&topic).and_then(Weak::upgrade) {
            return Ok(feed);
        }
        feeds.retain(|_, feed| feed.strong_count() > 0);
        let (tell, newest) = watch::channel(Some(first));
        let (ends, ended) = watch::channel(());
        let feed = Arc::new(PageFeed { newest, _ends: ends });
        feeds.insert(topic.clone(), Arc::downgrade(&feed));
        tokio::spawn(keep_folding(Arc::clone(&self.background), topic, tell, ended));
        Ok(feed)
    }

    fn known(&self, topic: &Topic) -> Option<Arc<PageFeed>> {
        self.feeds.lock().unwrap_or_else(PoisonError::into_inner).get(topic).and_then(Weak::upgrade)
    }

    async fn stream(&self, topic: Topic, name: &'static str) -> Result<Response, HttpRefusal> {
        let Ok(place) = Arc::clone(&self.room).try_acquire_owned() else {
            let refusal =
                HttpRefusal::new(StatusCode::SERVICE_UNAVAILABLE, "too many pages are open already");
            let mut response = refusal.help("close some tabs").into_response();
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("5"));
            return Ok(response);
        };
        let feed = match self.follow(topic).await {
            Ok(feed) => feed,
            // Not an error: a browser would note one among its own, and a page knows what to say.
            Err(refusal) if refusal.is_gone() => {
                let gone = futures_util::stream::iter([Ok::<_, Infallible>(
                    Event::default().event("gone").data("{}"),
                )]);
                return Ok(Sse::new(gone).into_response());
            }
            Err(refusal) => return Err(refusal),
        };
        let events = events(
            Following { newest: feed.newest.clone(), feed, place, first: true },
            name,
            self.closed.subscribe(),
        );
        Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(ALIVE)).into_response())
    }
}

/// One who looks. Its place is free when it goes.
struct Following {
    newest: NewestPage,
    #[expect(dead_code, reason = "held, so that the page goes on being folded")]
    feed: Arc<PageFeed>,
    #[expect(dead_code, reason = "held until the stream ends")]
    place: OwnedSemaphorePermit,
    first: bool,
}

fn events(
    following: Following,
    name: &'static str,
    mut closed: watch::Receiver<bool>,
) -> impl Stream<Item = Result<Event, Infallible>> {
    let closing = async move {
        let _ = closed.wait_for(|closed| *closed).await;
    };
    let pages = unfold(Some(following), move |following| async move {
        let mut following = following?;
        if !following.first && following.newest.changed().await.is_err() {
            return None;
        }
        following.first = false;
        let newest = following.newest.borrow_and_update().clone();
        Some(match newest {
            // The time is no part of what is compared: a page that stays the same is not sent again.
            Some(page) => {
                let now = format!("{{\"now_ms\":{},{}", wall_ms(), page.trim_start_matches('{'));
                (Ok(Event::default().event(name).data(now)), Some(following))
            }
            None => (Ok(Event::default().event("gone").data("{}")), None),
        })
    });
    futures_util::StreamExt::take_until(pages, Box::pin(closing))
}

/// Folds again whenever the journal has moved, as long as somebody looks.
async fn keep_folding(
    background: Arc<Background>,
    topic: Topic,
    tell: watch::Sender<Option<Arc<str>>>,
    mut ended: watch::Receiver<()>,
) {
    let mut seen = background.gadfly().journal().changes().ok();
    loop {
        let moved = async {
            let anyway = tokio::time::Instant::now() + ANYWAY;
            while tokio::time::Instant::now() < anyway {
                tokio::time::sleep(LOOK).await;
                let now = background.gadfly().journal().changes().ok();
                if now != seen {
                    seen = now;
                    return;
                }
            }
        };
        tokio::select! {
            _ = ended.changed() => return,
            () = moved => {}
        }
        match fold(Arc::clone(&background), topic.clone()).await {
            Ok(page) => {
                tell.send_if_modified(|newest| {
                    let is_new = newest.as_deref() != Some(&*page);
                    if is_new {
                        *newest = Some(page);
                    }
                    is_new
                });
            }
            Err(refusal) if refusal.is_gone() => {
                tell.send_replace(None);
                return;
            }
            // The store may be busy for a moment: the next look tells.
            Err(_) => {}
        }
        tokio::time::sleep(FOLD).await;
    }
}

/// Reading and folding block: they have threads of their own.
async fn fold(background: Arc<Background>, topic: Topic) -> Result<Arc<str>, HttpRefusal> {
    let folded = tokio::task::spawn_blocking(move || {
        let value = match &topic {
            Topic::Overview(filter) => overview::newest(&background, filter),
            Topic::Run(run) => page::newest(&background, run),
        }?;
        Ok(Arc::from(value.to_string()))
    });
    folded.await.map_err(HttpRefusal::ours)?
}

pub async fn overview(
    State(dashboard): State<Arc<Dashboard>>,
    QueryString(filter): QueryString<Filter>,
) -> Result<Response, HttpRefusal> {
    dashboard.live.stream(Topic::Overview(filter.checked()?), "overview").await
}

pub async fn run(
    State(dashboard): State<Arc<Dashboard>>,
    Path(run): Path<String>,
) -> Result<Response, HttpRefusal> {
    let run = page::named(&run)?;
    dashboard.live.stream(Topic::Run(run), "page").await
}
