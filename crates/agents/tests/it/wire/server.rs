//! A server on loopback that says exactly what a case wants, byte by byte, and keeps what it was asked.

use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// What one request gets.
#[derive(Clone, Debug)]
pub struct Reply {
    pub status: u16,
    /// Further headers, each with its line end.
    pub headers: String,
    pub body: Vec<u8>,
    pub ends: Ends,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ends {
    /// As it should: what was announced has come.
    Well,
    /// The connection is closed in the middle of what was announced.
    Broken,
    /// Nothing more comes, and the connection stays.
    Silent,
    /// Not even a head comes.
    Mute,
}

impl Reply {
    pub fn new(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self { status, headers: String::new(), body: body.into(), ends: Ends::Well }
    }

    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.extend([name, ": ", value, "\r\n"]);
        self
    }

    pub fn ends(self, ends: Ends) -> Self {
        Self { ends, ..self }
    }
}

/// What was asked: the line, the headers and the body of each request.
#[derive(Clone, Default)]
pub struct Asked(Arc<Mutex<Vec<String>>>);

impl Asked {
    pub fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

/// Serves these replies, one for each request; the last one holds from then on. Ends with the test's runtime.
pub async fn serve(replies: Vec<Reply>) -> (String, Asked) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let asked = Asked::default();
    let seen = asked.clone();
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            tokio::spawn(connection(socket, replies.clone(), seen.clone()));
        }
    });
    (base, asked)
}

async fn connection(mut socket: TcpStream, replies: Vec<Reply>, asked: Asked) {
    while let Some(request) = read(&mut socket).await {
        let nth = {
            let mut all = asked.0.lock().unwrap();
            all.push(request);
            all.len() - 1
        };
        let Some(reply) = replies.get(nth).or(replies.last()) else { return };
        if reply.ends == Ends::Mute {
            std::future::pending::<()>().await;
        }
        let more = if reply.ends == Ends::Well { 0 } else { 100 };
        let head = format!(
            "HTTP/1.1 {} X\r\n{}content-length: {}\r\n\r\n",
            reply.status,
            reply.headers,
            reply.body.len() + more
        );
        let mut bytes = head.into_bytes();
        bytes.extend_from_slice(&reply.body);
        if socket.write_all(&bytes).await.is_err() || reply.ends == Ends::Broken {
            return;
        }
        if reply.ends == Ends::Silent {
            std::future::pending::<()>().await;
        }
    }
}

async fn read(socket: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
            let length =
                head.lines().find_map(|line| line.strip_prefix("content-length: "))?.parse::<usize>().ok()?;
            if bytes.len() >= end + 4 + length {
                return Some(String::from_utf8_lossy(&bytes).into_owned());
            }
        }
        if socket.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
}
