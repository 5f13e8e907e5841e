//! The socket: so many connections at once, a head that has to come in time, and an end when the process ends.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

/// A page needs one or two connections; a hundred people do not look at one machine's runs.
const CONNECTIONS: usize = 256;
/// How long the head of a request may take: also of the next one on a connection that is kept.
const HEAD: Duration = Duration::from_secs(20);
/// The longest head, in bytes.
const LONGEST_HEAD: usize = 32 << 10;
/// After an error of accepting, as when there are no descriptors left.
const BREATH: Duration = Duration::from_millis(100);
/// How long open answers are waited for at the end.
const LAST_ANSWERS: Duration = Duration::from_secs(2);

pub struct Listening {
    listener: TcpListener,
    address: SocketAddr,
}

/// Takes the address; with port 0 any that is free.
pub async fn bind(address: SocketAddr) -> std::io::Result<Listening> {
    let listener = TcpListener::bind(address).await?;
    let address = listener.local_addr()?;
    Ok(Listening { listener, address })
}

impl Listening {
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers requests until it is told to end, and then those that are under way.
    pub async fn serve(self, app: Router, mut end: watch::Receiver<bool>) {
        let room = Arc::new(Semaphore::new(CONNECTIONS));
        loop {
            let accepted = tokio::select! {
                () = told(&mut end) => break,
                accepted = self.listener.accept() => accepted,
            };
            let Ok((stream, _)) = accepted else {
                tokio::time::sleep(BREATH).await;
                continue;
            };
            // Too many: closed at once, so that those who are in stay served.
            let Ok(place) = Arc::clone(&room).try_acquire_owned() else { continue };
            tokio::spawn(connection(stream, app.clone(), end.clone(), place));
        }
        let all = u32::try_from(CONNECTIONS).unwrap_or(u32::MAX);
        let _ = tokio::time::timeout(LAST_ANSWERS, room.acquire_many(all)).await;
    }
}

async fn connection(
    stream: TcpStream,
    app: Router,
    mut end: watch::Receiver<bool>,
    place: OwnedSemaphorePermit,
) {
    let _ = stream.set_nodelay(true);
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD).max_buf_size(LONGEST_HEAD);
    let serving = http.serve_connection(TokioIo::new(stream), TowerToHyperService::new(app));
    tokio::pin!(serving);
    tokio::select! {
        _ = serving.as_mut() => {}
        () = told(&mut end) => {
            serving.as_mut().graceful_shutdown();
            let _ = serving.await;
        }
    }
    drop(place);
}

async fn told(end: &mut watch::Receiver<bool>) {
    // Who could tell is gone: that is the end, too.
    let _ = end.wait_for(|end| *end).await;
}
