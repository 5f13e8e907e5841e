//! The model server as a process of its own, and the questions it answers about what arrived.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use gadfly_testbed::Calls;

use crate::baseline::BenchError;

const PATIENCE: Duration = Duration::from_secs(30);

pub struct BenchServer {
    child: Child,
    addr: String,
}

impl BenchServer {
    pub fn start(binary: &Path, latency_ms: u32) -> Result<Self, BenchError> {
        let mut child = Command::new(binary)
            .args(["--port", "0", "--latency-ms", &latency_ms.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        if let Some(out) = child.stdout.take() {
            BufReader::new(out).read_line(&mut line)?;
        }
        let addr = line.trim().strip_prefix("listening on ").unwrap_or_default().to_owned();
        let server = Self { child, addr };
        if server.addr.is_empty() { Err("the model server did not start".into()) } else { Ok(server) }
    }

    /// The address for an OpenAI-compatible client.
    pub fn v1(&self) -> String {
        format!("http://{}/v1", self.addr)
    }

    pub fn calls(&self) -> Result<Calls, BenchError> {
        Ok(serde_json::from_str(&self.ask("GET", "/calls")?)?)
    }

    pub fn reset(&self) -> Result<(), BenchError> {
        self.ask("POST", "/reset").map(|_| ())
    }

    fn ask(&self, method: &str, path: &str) -> Result<String, BenchError> {
        let mut socket = TcpStream::connect(&self.addr)?;
        socket.set_read_timeout(Some(PATIENCE))?;
        write!(socket, "{method} {path} HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n")?;
        socket.shutdown(std::net::Shutdown::Write)?;
        let mut response = String::new();
        socket.read_to_string(&mut response)?;
        let body = response.split_once("\r\n\r\n").ok_or("the model server answered without a body")?.1;
        Ok(body.to_owned())
    }
}

impl Drop for BenchServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
