//! A goal with a scripted worker: what the worker does turn by turn, and what the record says of it afterwards.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::fd::OwnedFd;
use std::process::{Child, ChildStdout, Stdio};

use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use serde_json::{Value, json};

use crate::kit::desk::{Desk, Said};

/// One turn of a scripted agent.
#[derive(Clone, Default)]
pub struct Turn {
    text: String,
    calls: Vec<(String, Value)>,
    fault: Option<&'static str>,
    role: Option<&'static str>,
    tokens: Option<(u64, u64)>,
    repeat: Option<Value>,
}

pub fn does(tool: &str, args: Value) -> Turn {
    Turn { calls: vec![(tool.to_owned(), args)], ..Turn::default() }
}

pub fn runs(command: &str) -> Turn {
    does("run_command", json!({"command": command}))
}

pub fn writes(path: &str, content: &str) -> Turn {
    does("write_file", json!({"path": path, "content": content}))
}

pub fn edits(path: &str, old: &str, new: &str) -> Turn {
    does("edit_file", json!({"path": path, "old": old, "new": new}))
}

pub fn reads(path: &str) -> Turn {
    does("read_file", json!({"path": path}))
}

pub fn claims(rationale: &str) -> Turn {
    does("claim_complete", json!({"rationale": rationale}))
}

pub fn says(text: &str) -> Turn {
    Turn { text: text.to_owned(), ..Turn::default() }
}

pub fn fails(fault: &'static str) -> Turn {
    Turn { fault: Some(fault), ..Turn::default() }
}

impl Turn {
    pub fn then(mut self, next: Self) -> Self {
        self.calls.extend(next.calls);
        self
    }

    pub fn times(self, n: u32) -> Self {
        Self { repeat: Some(json!(n)), ..self }
    }

    pub fn always(self) -> Self {
        Self { repeat: Some(json!("always")), ..self }
    }

    /// Only when it is asked as this.
    pub fn only_as(self, role: &'static str) -> Self {
        Self { role: Some(role), ..self }
    }

    pub fn for_tokens(self, input: u64, output: u64) -> Self {
        Self { tokens: Some((input, output)), ..self }
    }

    fn write(&self, script: &mut String) {
        script.push_str("[[reply]]\n");
        if !self.text.is_empty() {
            writeln!(script, "text = {}", json!(self.text)).unwrap();
        }
        // Arguments as a string are sent as they stand.
        let call = |(tool, args): &(String, Value)| {
            format!("{{ tool = {}, args = {} }}", json!(tool), json!(args.to_string()))
        };
        let calls: Vec<String> = self.calls.iter().map(call).collect();
        if !calls.is_empty() {
            writeln!(script, "calls = [{}]", calls.join(", ")).unwrap();
        }
        if let Some(role) = self.role {
            writeln!(script, "role = \"{role}\"").unwrap();
        }
        if let Some(fault) = self.fault {
            writeln!(script, "fault = \"{fault}\"").unwrap();
        }
        if let Some((input, output)) = self.tokens {
            writeln!(script, "tokens = {{ input = {input}, output = {output} }}").unwrap();
        }
        if let Some(repeat) = &self.repeat {
            writeln!(script, "repeat = {repeat}").unwrap();
        }
    }
}

/// Makes, or makes anew, the script of the agent `name`; `more` goes into its configuration.
pub fn hire(desk: &Desk, name: &str, turns: &[Turn], more: &str) {
    let mut script = String::new();
    for turn in turns {
        turn.write(&mut script);
    }
    let file = desk.beside(&format!("bin/{name}.toml"));
    let known = file.exists();
    fs::write(&file, script).unwrap();
    if !known {
        desk.configure(&format!("[agents.{name}]\nkind = \"scripted\"\nscript = {}\n{more}", json!(file)));
    }
}

pub const PROGRESSING: &str = "PROGRESSING\nIt gets on.";
/// What a critic says of a change with which nothing is wrong.
pub const RIGHT: &str = "YES\nIt writes the file, as was asked.";

/// A repository with `a.txt` whose worker `w` does this, and whose critic `c` says that.
pub fn pursuit(worker: &[Turn], critic: &[&str]) -> Desk {
    let desk = Desk::repository(&[("a.txt", "one\n")]);
    hire(&desk, "w", worker, "");
    desk.saying("c", critic);
    desk
}

/// The flags of a goal that is reached when `done.txt` is there.
pub const GOAL: [&str; 10] = [
    "goal",
    "Write the file done.txt.",
    "--worker",
    "w",
    "--critic",
    "c",
    "--until",
    "test -f done.txt",
    "--yes",
    "--unattended",
];

/// The flags but for the criterion.
pub const BARE: [&str; 8] = ["goal", "Do it.", "--worker", "w", "--critic", "c", "--yes", "--unattended"];

pub fn go(desk: &Desk, more: &[&str]) -> Said {
    desk.gadfly(&[&GOAL[..], more].concat())
}

/// The record of the newest run, as a person reads it, without what differs from run to run.
pub fn story(desk: &Desk) -> String {
    let run = desk.run_id();
    let shown = desk.gadfly(&["show", &run]).out;
    let dir = desk.beside("").canonicalize().unwrap();
    let work = desk.work(&run).canonicalize().map(|work| work.display().to_string()).unwrap_or_default();
    let shown = if work.is_empty() { shown } else { shown.replace(&work, "[work]/[run]") };
    let masked = shown.replace(&run, "[run]").replace(dir.to_str().unwrap(), "[dir]");
    masked
        .lines()
        .filter(|line| !line.starts_with("started "))
        .map(|line| without_times(line) + "\n")
        .collect()
}

/// `time 0:02/60:00` as `time [t]/60:00`.
fn without_times(line: &str) -> String {
    let Some((before, rest)) = line.split_once("· time ") else { return line.to_owned() };
    let after = rest.split_once('/').map_or("", |(_, after)| after);
    format!("{before}· time [t]/{after}")
}

/// The events of the newest run, in their order.
pub fn events(desk: &Desk) -> Vec<Value> {
    let log = desk.gadfly(&["show", &desk.run_id(), "--log", "--json"]).out;
    log.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// What is in the events of this name.
pub fn data<'a>(events: &'a [Value], name: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event["event"] == name).map(|event| &event["data"]).collect()
}

/// The turns of this role, each as what the agent was told: the words, and the results of its calls.
pub fn prompts(events: &[Value], role: &str) -> Vec<String> {
    let text_of = |digest: &Value| {
        let named = events.iter().find(|e| e["event"] == "text" && e["data"]["digest"] == *digest);
        named.and_then(|e| e["data"]["text"].as_str()).unwrap_or_default().to_owned()
    };
    let said = |part: &Value| match part.as_object().and_then(|part| part.iter().next()) {
        Some((kind, text)) if kind == "text" => text.as_str().unwrap_or_default().to_owned(),
        Some((kind, digest)) if kind == "blob" || kind == "data" => text_of(digest),
        Some((kind, call)) if kind == "call" => format!("{}{}", call["name"], text_of(&call["args"])),
        Some((kind, result)) if kind == "result" => text_of(&result["text"]),
        _ => String::new(),
    };
    let turns = data(events, "effect_requested").into_iter().map(|data| &data["kind"]["turn"]);
    turns
        .filter(|turn| turn["role"] == role)
        .map(|turn| {
            let messages = turn["messages"].as_array().unwrap().iter();
            messages.flat_map(|m| m["parts"].as_array().unwrap()).map(said).collect()
        })
        .collect()
}

/// Number, tool and end of each step.
pub fn steps(events: &[Value]) -> Vec<(u64, String, String)> {
    let step = |data: &Value| {
        let step = &data["step"];
        let text = |key: &str| step[key].as_str().unwrap().to_owned();
        (step["n"].as_u64().unwrap(), text("tool"), text("end"))
    };
    data(events, "stepped").into_iter().map(step).collect()
}

/// A goal that is being driven, told line by line.
pub struct Driven {
    pub child: Child,
    out: BufReader<ChildStdout>,
    pub told: String,
    /// Where somebody sits, if somebody does.
    _terminal: Option<OwnedFd>,
}

impl Driven {
    pub fn start(desk: &Desk, args: &[&str]) -> Self {
        Self::with(desk, args, Stdio::null(), None)
    }

    /// At a terminal, at which nobody types anything.
    pub fn attended(desk: &Desk, args: &[&str]) -> Self {
        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&terminal).unwrap();
        unlockpt(&terminal).unwrap();
        let side = ioctl_tiocgptpeer(&terminal, OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        Self::with(desk, args, Stdio::from(side), Some(terminal))
    }

    fn with(desk: &Desk, args: &[&str], stdin: Stdio, terminal: Option<OwnedFd>) -> Self {
        let mut command = desk.command(&[args, &["--json"]].concat());
        let mut child = command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        Self { child, out, told: String::new(), _terminal: terminal }
    }

    /// Waits for a line that holds all of these; false if it came to its end before.
    pub fn until(&mut self, wanted: &[&str]) -> bool {
        loop {
            let mut line = String::new();
            if self.out.read_line(&mut line).unwrap() == 0 {
                return false;
            }
            self.told.push_str(&line);
            if wanted.iter().all(|wanted| line.contains(wanted)) {
                return true;
            }
        }
    }

    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Its exit code.
    pub fn end(mut self) -> i32 {
        self.out.read_to_string(&mut self.told).unwrap();
        self.child.wait().unwrap().code().unwrap_or(-1)
    }
}

/// The worker's own folder of the newest run.
pub fn folder(desk: &Desk) -> std::path::PathBuf {
    desk.work(&desk.run_id()).join("tree/work")
}
