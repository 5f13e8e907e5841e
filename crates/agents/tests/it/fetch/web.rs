//! A web server of a few lines: each request is answered with the bytes that a test says.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

pub struct Web {
    pub at: SocketAddr,
    asked: Arc<Mutex<Vec<Asked>>>,
}

#[derive(Clone)]
pub struct Asked {
    /// The request line and the headers, in lower case.
    pub head: String,
    #[allow(dead_code)] // fetching sends none
    pub body: String,
}

impl Asked {
    pub fn path(&self) -> &str {
        self.head.split(' ').nth(1).unwrap()
    }
}

impl Web {
    /// Answers with what `answer` makes of a request, then hangs up.
    pub async fn serve(answer: impl Fn(&Asked) -> Vec<u8> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = listener.local_addr().unwrap();
        let asked = Arc::<Mutex<Vec<Asked>>>::default();
        let (answer, seen) = (Arc::new(answer), Arc::clone(&asked));
        tokio::spawn(async move {
            while let Ok((mut socket, _)) = listener.accept().await {
                let (answer, seen) = (Arc::clone(&answer), Arc::clone(&seen));
                tokio::spawn(async move {
                    let mut bytes = Vec::new();
                    let request = loop {
                        let mut chunk = [0; 4096];
                        match socket.read(&mut chunk).await {
                            Ok(n) if n > 0 => bytes.extend_from_slice(&chunk[..n]),
                            _ => return,
                        }
                        if let Some(whole) = whole(&bytes) {
                            break whole;
                        }
                    };
                    seen.lock().unwrap().push(request.clone());
                    let answer = answer(&request);
                    let _ = socket.write_all(&answer).await;
                    if answer.ends_with(HANG) {
                        std::future::pending::<()>().await;
                    }
                });
            }
        });
        Self { at, asked }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.at)
    }

    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

/// An answer that ends with this is never finished.
pub const HANG: &[u8] = b"...";

/// A whole answer.
pub fn answer(status: &str, headers: &[&str], body: &[u8]) -> Vec<u8> {
    let headers: String = headers.iter().flat_map(|header| [*header, "\r\n"]).collect();
    let head =
        format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {}\r\n{headers}\r\n", body.len());
    [head.as_bytes(), body].concat()
}

fn whole(bytes: &[u8]) -> Option<Asked> {
    let end = bytes.windows(4).position(|w| w == b"\r\n\r\n")? + 4;
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let lower = head.to_ascii_lowercase();
    let length = lower.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
    let body = bytes.get(end..end + length.unwrap_or(0))?;
    let (line, rest) = head.split_once("\r\n")?;
    Some(Asked {
        head: format!("{line}\r\n{}", rest.to_ascii_lowercase()),
        body: String::from_utf8_lossy(body).into_owned(),
    })
}
