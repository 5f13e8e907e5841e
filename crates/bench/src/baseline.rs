//! The rival: the same loops without Gadfly. Three rounds of worker and critic through the same HTTP client,
//! each reply and the request after it durable in `SQLite` before that request leaves: one writer thread, group
//! commit, texts compressed and stored once. No engine, budgets, resume, inbox, log or results.
use reqwest::{Client, header::CONTENT_TYPE};
use rusqlite::{Connection, params};
use serde::Deserialize;
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::task::JoinSet;
pub type BenchError = Box<dyn std::error::Error + Send + Sync>;

pub const DRAFT: &str = include_str!("../../engine/src/prompts/revise-worker-draft-1.md");
pub const REVISE: &str = include_str!("../../engine/src/prompts/revise-worker-revision-1.md");
pub const CRITIC: &str = include_str!("../../engine/src/prompts/revise-critic-1.md");
const TABLES: &str = "PRAGMA page_size = 2048; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL;
PRAGMA synchronous = FULL; PRAGMA cache_size = -65536; PRAGMA wal_autocheckpoint = 16384;
CREATE TABLE records(run INTEGER, seq INTEGER, texts BLOB, PRIMARY KEY(run, seq)) STRICT;
CREATE TABLE blobs(hash BLOB UNIQUE, size INTEGER, body BLOB) STRICT;";
#[derive(Deserialize)]
struct BaselineChunk<'a> {
    #[serde(borrow)]
    choices: Vec<BaselineChoice<'a>>,
}
#[derive(Deserialize)]
struct BaselineChoice<'a> {
    #[serde(borrow)]
    delta: BaselineDelta<'a>,
}
#[derive(Deserialize)]
struct BaselineDelta<'a> {
    #[serde(borrow, default)]
    content: Cow<'a, str>,
}
/// Run, step, its reply and next request (hash, size, packed), and who waits until they are durable.
type BaselineRecord = (u32, u32, Vec<([u8; 32], isize, Vec<u8>)>, oneshot::Sender<()>);
struct Rival {
    client: Client,
    url: String,
    queue: Option<SyncSender<BaselineRecord>>,
    tasks: Mutex<std::iter::Zip<std::ops::RangeFrom<u32>, std::vec::IntoIter<String>>>,
}

pub async fn run(url: &str, tasks: &Path, jobs: usize, db: Option<PathBuf>) -> Result<(), BenchError> {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = Client::builder().read_timeout(Duration::from_mins(2)).pool_max_idle_per_host(4096);
    let client = client.retry(reqwest::retry::never()).tcp_nodelay(true).no_proxy().http1_only().build()?;
    let tasks: Vec<_> = std::fs::read_to_string(tasks)?.lines().map(|line| format!("{line}\n")).collect();
    let (queue, entries) = sync_channel(jobs);
    let writer = db.map(|db| std::thread::spawn(move || write(&db, &entries)));
    let queue = writer.is_some().then_some(queue);
    let tasks = Mutex::new((0_u32..).zip(tasks));
    let rival = Arc::new(Rival { client, url: format!("{url}/chat/completions"), queue, tasks });
    let at_work: JoinSet<Result<(), BenchError>> = (0..jobs).map(|_| Arc::clone(&rival).work()).collect();
    drop(rival);
    at_work.join_all().await.into_iter().collect::<Result<(), BenchError>>()?;
    writer.map_or(Ok(()), |w| w.join().unwrap_or_else(|_| Err("the writer broke off".into())))
}

impl Rival {
    async fn work(self: Arc<Self>) -> Result<(), BenchError> {
        loop {
            let next = self.tasks.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some((run, task)) = next else { return Ok(()) };
            self.drive(run, &task).await?;
        }
    }

    async fn drive(&self, run: u32, task: &str) -> Result<(), BenchError> {
        let mut body = request("worker", &format!("{DRAFT}{task}Mode: Initial Draft\n"))?;
        self.record(run, 0, &[&body]).await?;
        let mut draft = String::new();
        for seq in 1..=6_u32 {
            let reply = self.call(body).await?;
            body = if seq % 2 == 1 {
                let before = std::mem::replace(&mut draft, reply.clone());
                let head = format!("{CRITIC}Iteration: {}\n\n{task}", seq.div_ceil(2));
                request("critic:R,R,A", &format!("{head}Before:\n{before}\nDraft:\n{draft}\n"))?
            } else if reply.starts_with("[STATUS: APPROVED]") {
                return self.record(run, seq, &[reply.as_bytes()]).await;
            } else {
                let brief = format!("{REVISE}{task}Mode: Revision\nDraft:\n{draft}\n\nFeedback:\n{reply}");
                request("worker", &brief)?
            };
            self.record(run, seq, &[reply.as_bytes(), &body]).await?;
        }
        Err("a loop was not approved in its third round".into())
    }

    async fn record(&self, run: u32, seq: u32, texts: &[&[u8]]) -> Result<(), BenchError> {
        let Some(queue) = &self.queue else { return Ok(()) };
        let blobs = texts.iter().map(|t| Ok((blake3::hash(t).into(), t.len().cast_signed(), compress(t)?)));
        let (durable, told) = oneshot::channel();
        let blobs = blobs.collect::<std::io::Result<_>>()?;
        queue.send((run, seq, blobs, durable)).map_err(|_| "the writer is gone")?;
        Ok(told.await?)
    }

    async fn call(&self, body: Vec<u8>) -> Result<String, BenchError> {
        let request = self.client.post(&self.url).header(CONTENT_TYPE, "application/json").body(body);
        let mut response = request.send().await?.error_for_status()?;
        let (mut text, mut buffer) = (String::new(), Vec::new());
        while let Some(piece) = response.chunk().await? {
            buffer.extend_from_slice(&piece);
            let whole = buffer.iter().rposition(|b| *b == b'\n').map_or(0, |end| end + 1);
            for line in buffer[..whole].split(|b| *b == b'\n') {
                if let Some(data) = line.strip_prefix(b"data: ").filter(|d| *d != b"[DONE]") {
                    let chunk: BaselineChunk = serde_json::from_slice(data)?;
                    chunk.choices.iter().for_each(|c| text.push_str(&c.delta.content));
                }
            }
            buffer.drain(..whole);
        }
        Ok(text)
    }
}

fn request(model: &str, text: &str) -> serde_json::Result<Vec<u8>> {
    let message = format!(r#"{{"role":"user","content":{}}}"#, serde_json::to_string(text)?);
    let rest = r#""stream":true,"stream_options":{"include_usage":true},"max_tokens":8192"#;
    Ok(format!(r#"{{"model":"{model}","messages":[{message}],{rest}}}"#).into_bytes())
}

fn compress(body: &[u8]) -> std::io::Result<Vec<u8>> {
    thread_local! { static ZSTD: std::cell::RefCell<zstd::bulk::Compressor<'static>> = std::cell::RefCell::default(); }
    ZSTD.with_borrow_mut(|zstd| zstd.compress(body))
}

fn write(db: &Path, entries: &Receiver<BaselineRecord>) -> Result<(), BenchError> {
    let conn = Connection::open(db)?;
    conn.execute_batch(TABLES)?;
    while let Ok(first) = entries.recv() {
        let batch: Vec<BaselineRecord> = std::iter::once(first).chain(entries.try_iter().take(511)).collect();
        conn.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        for (run, seq, blobs, _) in &batch {
            let hashes: Vec<u8> = blobs.iter().flat_map(|b| b.0).collect();
            conn.prepare_cached("INSERT INTO records VALUES(?, ?, ?)")?.execute(params![run, seq, hashes])?;
            for (hash, size, body) in blobs {
                let sql = "INSERT OR IGNORE INTO blobs VALUES(?, ?, ?)";
                conn.prepare_cached(sql)?.execute(params![hash, size, body])?;
            }
        }
        conn.prepare_cached("COMMIT")?.execute([])?;
        batch.into_iter().map(|(.., durable)| durable.send(())).for_each(drop);
    }
    Ok(())
}
