//! A served project, and requests to it as bytes: a library would mend what these tests have to send broken.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::kit::desk::Desk;

const PATIENCE: Duration = Duration::from_mins(2);

pub struct Server {
    child: Child,
    pub port: u16,
    pub token: String,
}

#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|e| panic!("{e}: {self:?}"))
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }
}

impl Server {
    pub fn start(desk: &Desk) -> Self {
        Self::at(desk, 0)
    }

    pub fn at(desk: &Desk, port: u16) -> Self {
        Self::of(desk.command(&["serve", "--port", &port.to_string()]))
    }

    pub fn of(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut link = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut link).unwrap();
        let (address, token) = link.trim().split_once("/#token=").unwrap_or_else(|| panic!("{link:?}"));
        let port = address.rsplit(':').next().unwrap().parse().unwrap();
        Self { child, port, token: token.to_owned() }
    }

    pub fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    #[allow(dead_code)] // for tests in a browser
    pub fn link(&self) -> String {
        format!("http://{}/#token={}", self.host(), self.token)
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Sends bytes and reads until the other side closes.
    pub fn raw(&self, request: &[u8]) -> Answer {
        let mut stream = self.connect();
        // A server that refuses may close before it has read everything.
        let _ = stream.write_all(request);
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        answer(&String::from_utf8_lossy(&bytes))
    }

    /// A request with exactly these headers, and `Connection: close`.
    pub fn plain(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut request = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        for (name, value) in headers {
            write!(request, "{name}: {value}\r\n").unwrap();
        }
        if !body.is_empty() {
            let length = body.len();
            write!(request, "Content-Length: {length}\r\nContent-Type: application/json\r\n").unwrap();
        }
        self.raw(format!("{request}\r\n{body}").as_bytes())
    }

    pub fn get(&self, path: &str) -> Answer {
        let bearer = format!("Bearer {}", self.token);
        self.plain("GET", path, &[("Host", &self.host()), ("Authorization", &bearer)], "")
    }

    pub fn post(&self, path: &str, body: &Value) -> Answer {
        let (bearer, host) = (format!("Bearer {}", self.token), self.host());
        let origin = format!("http://{host}");
        let headers = [("Host", &*host), ("Authorization", &*bearer), ("Origin", &*origin)];
        self.plain("POST", path, &headers, &body.to_string())
    }

    /// Follows a live address.
    pub fn follow(&self, path: &str) -> Stream {
        let mut stream = self.connect();
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\r\n",
            self.host(),
            self.token
        );
        stream.write_all(request.as_bytes()).unwrap();
        Stream { lines: BufReader::new(stream) }
    }

    /// As a person does it: until there is nothing left to agree to.
    pub fn start_agreeing(&self, path: &str, mut form: Value) -> String {
        for _ in 0..4 {
            let answer = self.post(path, &form);
            let said = answer.json();
            if let Some(run) = said["run"].as_str() {
                return run.to_owned();
            }
            assert_eq!(answer.status, 202, "{answer:?}");
            form["agree"] = said["terms"]["agree"].clone();
        }
        panic!("never started");
    }

    #[allow(dead_code)] // for tests in a browser
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn interrupt(mut self) -> i32 {
        let pid = rustix::process::Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
        self.child.wait().unwrap().code().unwrap_or(-1)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn answer(text: &str) -> Answer {
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((text, ""));
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
    let body = if head.to_ascii_lowercase().contains("transfer-encoding: chunked") {
        unchunked(body)
    } else {
        body.to_owned()
    };
    Answer { status, head: head.to_owned(), body }
}

fn unchunked(mut body: &str) -> String {
    let mut whole = String::new();
    while let Some((size, rest)) = body.split_once("\r\n") {
        let size = usize::from_str_radix(size.trim(), 16).unwrap_or(0);
        if size == 0 || rest.len() < size {
            break;
        }
        whole.push_str(&rest[..size]);
        body = rest[size..].trim_start_matches("\r\n");
    }
    whole
}

/// Server-sent events, one after the other.
pub struct Stream {
    lines: BufReader<TcpStream>,
}

impl Stream {
    /// The next event: its name and its data. None if the stream has ended.
    pub fn next(&mut self) -> Option<(String, Value)> {
        let (mut name, mut line) = (String::new(), String::new());
        loop {
            line.clear();
            if self.lines.read_line(&mut line).unwrap_or(0) == 0 {
                return None;
            }
            if let Some(event) = line.strip_prefix("event: ") {
                event.trim().clone_into(&mut name);
            } else if let Some(data) = line.strip_prefix("data: ") {
                return Some((name, serde_json::from_str(data.trim()).unwrap()));
            }
        }
    }

    /// Events until one is as wanted.
    pub fn until(&mut self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let start = Instant::now();
        let mut last = Value::Null;
        while start.elapsed() < PATIENCE {
            let Some((_, page)) = self.next() else { break };
            if wanted(&page) {
                return page;
            }
            last = page;
        }
        panic!("never: {what}. Last: {last:#}");
    }
}
