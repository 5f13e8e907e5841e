//! The server spoken to in raw lines of JSON-RPC.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

use crate::mcp::support::Project;

/// Long enough for a busy machine; only a broken server uses it up.
const PATIENCE: Duration = Duration::from_secs(90);

pub struct Lines {
    child: Child,
    stdin: Option<ChildStdin>,
    heard: Receiver<String>,
    next: u64,
    /// Sent with every request, in the protocol without a handshake.
    meta: Option<Value>,
}

impl Lines {
    pub fn open(project: &Project) -> Self {
        let mut command = project.command(env!("CARGO_BIN_EXE_gadfly"));
        command.arg("mcp");
        Self::of(command)
    }

    /// Speaks with what this command starts.
    pub fn of(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let heard = listen(child.stdout.take().unwrap());
        Self { stdin: child.stdin.take(), child, heard, next: 0, meta: None }
    }

    /// Speaks the protocol with a handshake, and says what this client can do.
    pub fn greet(&mut self, capabilities: &Value) -> Value {
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": capabilities,
            "clientInfo": { "name": "lines", "version": "1" } });
        let said = self.ask("initialize", &params);
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string());
        said
    }

    /// Speaks the protocol without a handshake.
    pub fn stateless(&mut self, capabilities: &Value) {
        self.meta = Some(json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "lines", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": capabilities,
        }));
    }

    pub fn send(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin
            .write_all(line.as_bytes())
            .and_then(|()| stdin.write_all(b"\n"))
            .and_then(|()| stdin.flush())
            .unwrap();
    }

    /// The whole answer to a request: its result or its error.
    pub fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.next += 1;
        let mut params = params.clone();
        if let (Some(meta), Some(fields)) = (&self.meta, params.as_object_mut()) {
            fields.insert("_meta".to_owned(), meta.clone());
        }
        self.send(
            &json!({ "jsonrpc": "2.0", "id": self.next, "method": method, "params": params }).to_string(),
        );
        loop {
            let said = self.hear();
            if said["id"] == self.next {
                return said;
            }
        }
    }

    pub fn call(&mut self, tool: &str, args: &Value) -> Value {
        self.ask("tools/call", &json!({ "name": tool, "arguments": args }))
    }

    pub fn hear(&mut self) -> Value {
        serde_json::from_str(&self.line()).expect("standard output is the protocol's alone")
    }

    /// The next line as it is.
    pub fn line(&mut self) -> String {
        self.heard.recv_timeout(PATIENCE).expect("the server says something")
    }

    /// Waits for the process to end by itself: how it ended.
    pub fn ended(mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }

    /// Sends the process a signal, as a host does that wants it gone, and waits for it.
    pub fn signal(mut self, name: &str) {
        let pid = self.child.id().to_string();
        let sent = std::process::Command::new("kill").args(["-s", name, &pid]).status().unwrap();
        assert!(sent.success());
        self.child.wait().unwrap();
    }

    /// Hangs up and waits for the process: how it ended.
    pub fn leave(mut self) -> Option<i32> {
        drop(self.stdin.take());
        self.child.wait().unwrap().code()
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn listen(stdout: ChildStdout) -> Receiver<String> {
    let (tell, heard) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            if tell.send(line).is_err() {
                return;
            }
        }
    });
    heard
}
