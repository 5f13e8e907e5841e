//! What `gadfly acp` costs a message: the same lines, one at a time, to a program that sends each back, by itself and with
//! Gadfly before it. Each message therefore passes twice.

use std::io::{BufRead as _, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;
use tempfile::TempDir;

use crate::baseline::BenchError;

const MESSAGES: usize = 1_000;

/// A program that says what it hears.
struct Echo {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Echo {
    fn start(mut command: Command) -> Result<Self, BenchError> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let to = child.stdin.take().ok_or("no input")?;
        let from = BufReader::new(child.stdout.take().ok_or("no output")?);
        Ok(Self { child, to, from })
    }

    /// How long a line took to come back; anything else that comes in its place is an error.
    fn there_and_back(&mut self, line: &str) -> Result<Duration, BenchError> {
        let begun = Instant::now();
        self.to.write_all(line.as_bytes())?;
        let mut heard = String::new();
        self.from.read_line(&mut heard)?;
        let took = begun.elapsed();
        if heard == line { Ok(took) } else { Err(format!("sent {line:?}, came back as {heard:?}").into()) }
    }

    fn end(mut self) -> Result<(), BenchError> {
        drop(self.to);
        let status = self.child.wait()?;
        if status.success() { Ok(()) } else { Err(format!("it ended with {status}").into()) }
    }
}

pub fn measure(out: &mut impl Write, gadfly: &Path) -> Result<(), BenchError> {
    let folder = TempDir::with_prefix("gadfly-bench-")?;
    let mut through = Command::new(gadfly);
    through.args(["acp", "--", "cat"]).current_dir(folder.path()).env("HOME", folder.path());
    let (mut direct, mut through) = (Echo::start(Command::new("cat"))?, Echo::start(through)?);
    let (mut little, mut much) = (Vec::new(), Vec::new());
    for n in 0..MESSAGES {
        let line = message(n);
        // In turns, so that both meet the same machine.
        little.push(direct.there_and_back(&line)?);
        much.push(through.there_and_back(&line)?);
    }
    direct.end()?;
    through.end()?;
    writeln!(out, "| {MESSAGES} messages, there and back | median | 95th percentile |\n|---|---|---|")?;
    for (name, times) in [("direct", &mut little), ("through `gadfly acp`", &mut much)] {
        times.sort_unstable();
        writeln!(out, "| {name} | {} | {} |", shown(at(times, 50)), shown(at(times, 95)))?;
    }
    let added = at(&much, 50).saturating_sub(at(&little, 50)) / 2;
    writeln!(
        out,
        "\nadded to a message, median: {}; every byte came back as it was, in its order",
        shown(added)
    )?;
    Ok(())
}

/// As agents and editors send them, with what no version of the protocol knows.
fn message(n: usize) -> String {
    let text = "x".repeat(n % 7 * 300);
    let message = match n % 4 {
        0 => json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": {
            "sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}}}),
        1 => {
            json!({"jsonrpc": "2.0", "id": n, "method": "session/later", "params": {"new": [n, null, text]}})
        }
        2 => json!({"jsonrpc": "2.0", "id": n, "result": {"unknown": "\u{e9}\u{2028}", "n": 1.50}}),
        _ => json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "later": true,
            "update": {"sessionUpdate": "from_the_future", "text": text}}}),
    };
    format!("{message}\n")
}

fn at(sorted: &[Duration], percent: usize) -> Duration {
    sorted.get(sorted.len() * percent / 100).copied().unwrap_or_default()
}

fn shown(time: Duration) -> String {
    format!("{:.3} ms", time.as_secs_f64() * 1000.0)
}
