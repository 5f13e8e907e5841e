//! The socket: so many connections at once, a head that has to come in time, and an end when the process ends. When all
//! places are taken, the oldest connection that has never shown the token gives way: who says nothing shuts nobody out.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::{Extension, Router};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, watch};

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
        let places = Arc::new(ConnectionSlots::default());
        for number in 0_u64.. {
            let accepted = tokio::select! {
                () = told(&mut end) => break,
                accepted = self.listener.accept() => accepted,
            };
            let Ok((stream, _)) = accepted else {
                tokio::time::sleep(BREATH).await;
                continue;
            };
            // If everybody who is in has shown the token, this one is closed at once.
            if let Some(guest) = places.take(number) {
                let place = ConnectionSlot { places: Arc::clone(&places), number };
                tokio::spawn(connection(stream, app.clone(), end.clone(), guest, place));
            }
        }
        let empty = async {
            while !places.guests().is_empty() {
                places.left.notified().await;
            }
        };
        let _ = tokio::time::timeout(LAST_ANSWERS, empty).await;
    }
}

/// Who is in, the oldest first.
#[derive(Default)]
struct ConnectionSlots {
    guests: Mutex<BTreeMap<u64, Arc<Guest>>>,
    left: Notify,
}

/// One connection. Whoever has shown the token on it is known.
#[derive(Default)]
pub struct Guest {
    known: AtomicBool,
    leave: Notify,
}

impl Guest {
    pub fn is_known(&self) {
        self.known.store(true, Ordering::Relaxed);
    }
}

impl ConnectionSlots {
    fn guests(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<Guest>>> {
        self.guests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, number: u64) -> Option<Arc<Guest>> {
        let mut guests = self.guests();
        if guests.len() >= CONNECTIONS {
            let stranger = guests.iter().find(|(_, guest)| !guest.known.load(Ordering::Relaxed))?;
            let (oldest, guest) = (*stranger.0, Arc::clone(stranger.1));
            guest.leave.notify_one();
            guests.remove(&oldest);
        }
        let guest = Arc::new(Guest::default());
        guests.insert(number, Arc::clone(&guest));
        Some(guest)
    }
}

/// A place is given back when its connection ends, however it does.
struct ConnectionSlot {
    places: Arc<ConnectionSlots>,
    number: u64,
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.places.guests().remove(&self.number);
        self.places.left.notify_one();
    }
}

async fn connection(
    stream: TcpStream,
    app: Router,
    mut end: watch::Receiver<bool>,
    guest: Arc<Guest>,
    place: ConnectionSlot,
) {
    let _ = stream.set_nodelay(true);
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD).max_buf_size(LONGEST_HEAD);
    let app = app.layer(Extension(Arc::clone(&guest)));
    let serving = http.serve_connection(TokioIo::new(stream), TowerToHyperService::new(app));
    tokio::pin!(serving);
    tokio::select! {
        _ = serving.as_mut() => {}
        () = guest.leave.notified() => {}
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
