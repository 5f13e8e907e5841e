//! Reads a model's call of a tool into a [`ToolRequest`]. Names and arguments are hostile until they are read
//! here; whether the action may be done is judged elsewhere (`policy.rs`, `guard.rs`).

use serde_json::{Map, Value};

use super::json::sorted;
use super::offered;
use super::place::ToolPath;
use super::{Process, ToolAction};
use crate::digest::Digest;

pub use super::elsewhere::names_elsewhere;
pub use super::json::canonical;
pub use super::shown::shown_args;

/// Longer arguments are refused.
pub const LONGEST_ARGS: usize = 1024 * 1024;
/// How many lines `read_file` gives if nobody says, and at most.
pub const LINES: u32 = 400;
pub const MOST_LINES: u32 = 10_000;
/// The most of a rationale or a report that is kept.
const LONGEST_WORDS: usize = 8 * 1024;
const LONGEST_URL: usize = 8 * 1024;

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ToolRequest {
    Do {
        action: ToolAction,
        /// The place outside the run's folder it names, absolute; the action carries the same path.
        outside: Option<String>,
    },
    Claim {
        rationale: String,
    },
    Abort {
        reason: String,
        learned: String,
    },
}

/// The run's folder and bounds, against which a call is read.
#[derive(Clone, Copy, Debug)]
pub struct RequestContext<'a> {
    /// The run's folder, absolute.
    pub root: &'a str,
    /// Servers whose tools the worker was offered.
    pub servers: &'a [&'a str],
    /// What a command gets if nobody says, and at most.
    pub timeout_ms: u64,
    /// The worker was offered to start processes.
    pub processes: bool,
}

/// Reads a call. The error is a sentence for the model.
pub fn read(
    name: &str,
    args: &str,
    reading: &RequestContext<'_>,
    store: &mut dyn FnMut(String) -> Digest,
) -> Result<ToolRequest, String> {
    let known = KnownTool::of(name, reading).ok_or_else(|| unknown(name, reading))?;
    let args = Args::read(name, args)?;
    let request = |action| Ok(ToolRequest::Do { action, outside: None });
    match known {
        KnownTool::OfServer { server, tool } => request(ToolAction::Mcp {
            server: server.to_owned(),
            tool: tool.to_owned(),
            args: store(sorted(&Value::Object(args.map))),
        }),
        KnownTool::Ours("run_command") => {
            let line = args.needed("command")?;
            if line.trim().is_empty() || line.contains('\0') {
                return Err(args.wrong("command", "a line for the shell"));
            }
            let asked = args.number("timeout_seconds")?.unwrap_or(0).saturating_mul(1000);
            let timeout_ms = if asked == 0 { reading.timeout_ms } else { asked.min(reading.timeout_ms) };
            request(ToolAction::RunCommand { line, timeout_ms })
        }
        KnownTool::Ours("read_file") => {
            let path = args.needed("path")?;
            let from = args.count("from")?.unwrap_or(1).max(1);
            let lines = args.count("lines")?.unwrap_or(LINES).clamp(1, MOST_LINES);
            if is_kept_output(path.trim()) {
                return request(ToolAction::ReadFile { path: path.trim().to_owned(), from, lines });
            }
            let (path, outside) = file(&path, reading)?;
            Ok(ToolRequest::Do { action: ToolAction::ReadFile { path, from, lines }, outside })
        }
        KnownTool::Ours("write_file") => {
            let (path, outside) = file(&args.needed("path")?, reading)?;
            let content = store(args.needed("content")?);
            Ok(ToolRequest::Do { action: ToolAction::WriteFile { path, content }, outside })
        }
        KnownTool::Ours("edit_file") => {
            let (path, outside) = file(&args.needed("path")?, reading)?;
            let (old, new) = (args.needed("old")?, args.needed("new")?);
            if old.is_empty() {
                return Err(
                    "`old` is empty: give the text that is to be replaced, or use write_file.".to_owned()
                );
            }
            if old == new {
                return Err("`old` and `new` are the same: nothing would change.".to_owned());
            }
            let all = args.flag("all")?;
            Ok(ToolRequest::Do {
                action: ToolAction::EditFile { path, old: store(old), new: store(new), all },
                outside,
            })
        }
        KnownTool::Ours("list_files") => {
            let (path, outside) = folder(args.text("path")?, reading)?;
            Ok(ToolRequest::Do { action: ToolAction::ListFiles { path }, outside })
        }
        KnownTool::Ours("search_files") => {
            let pattern = args.needed("pattern")?;
            if pattern.is_empty() {
                return Err(args.wrong("pattern", "a regular expression"));
            }
            let (path, outside) = folder(args.text("path")?, reading)?;
            Ok(ToolRequest::Do { action: ToolAction::SearchFiles { pattern, path }, outside })
        }
        KnownTool::Ours("fetch_url") => {
            let url = args.needed("url")?.trim().to_owned();
            if !is_web_address(&url) {
                return Err(args.wrong("url", "an address that begins with http:// or https://"));
            }
            request(ToolAction::FetchUrl { url })
        }
        KnownTool::Ours("start_process") => {
            let (name, line) = (args.process()?, args.needed("command")?);
            if line.trim().is_empty() || line.contains('\0') {
                return Err(args.wrong("command", "a line for the shell"));
            }
            request(ToolAction::Process(Process::Start { name, line }))
        }
        KnownTool::Ours("list_processes") => request(ToolAction::Process(Process::List)),
        KnownTool::Ours("read_process_log") => {
            request(ToolAction::Process(Process::Log { name: args.process()? }))
        }
        KnownTool::Ours("stop_process") => {
            request(ToolAction::Process(Process::Stop { name: args.process()? }))
        }
        KnownTool::Ours("claim_complete") => {
            Ok(ToolRequest::Claim { rationale: bounded(args.needed("rationale")?) })
        }
        KnownTool::Ours("abort_with_report") => Ok(ToolRequest::Abort {
            reason: bounded(args.needed("reason")?),
            learned: bounded(args.needed("what_was_learned")?),
        }),
        KnownTool::Ours(_) => Err(unknown(name, reading)),
    }
}

/// Is it an address on the web, as far as its beginning says?
pub fn is_web_address(url: &str) -> bool {
    let host = ["http://", "https://"].iter().find_map(|scheme| {
        url.get(..scheme.len())
            .filter(|s| s.eq_ignore_ascii_case(scheme))
            .and_then(|_| url.get(scheme.len()..))
    });
    host.is_some_and(|host| !host.is_empty() && !host.starts_with(['/', '?', '#', ':', '@']))
        && url.len() <= LONGEST_URL
        && !url.chars().any(|c| c.is_control() || c.is_whitespace())
}

/// A tool that exists, by the name a model gave.
enum KnownTool<'a> {
    Ours(&'a str),
    OfServer { server: &'a str, tool: &'a str },
}

impl<'a> KnownTool<'a> {
    fn of(name: &'a str, reading: &RequestContext<'a>) -> Option<Self> {
        let of_server = reading
            .servers
            .iter()
            .filter_map(|server| Some((*server, name.strip_prefix(server)?.strip_prefix("__")?)))
            .filter(|(_, tool)| !tool.is_empty() && tool.len() <= 256 && !tool.chars().any(char::is_control))
            // `a` and `a__b` may both be servers: the longer name is meant.
            .max_by_key(|(server, _)| server.len());
        match of_server {
            Some((server, tool)) => Some(Self::OfServer { server, tool }),
            None => ours(reading).any(|known| known == name).then_some(Self::Ours(name)),
        }
    }
}

fn ours(reading: &RequestContext<'_>) -> impl Iterator<Item = String> {
    let processes = if reading.processes { offered::processes() } else { Vec::new() };
    offered::builtin().into_iter().chain(processes).chain(offered::goal_end()).map(|tool| tool.name)
}

fn unknown(name: &str, reading: &RequestContext<'_>) -> String {
    let servers = reading.servers;
    let name: String = name.chars().filter(|c| !c.is_control()).take(80).collect();
    let known: Vec<String> = ours(reading).collect();
    let sentence = format!("There is no tool `{name}`. There are: {}.", known.join(", "));
    if servers.is_empty() {
        return sentence;
    }
    let servers: Vec<String> = servers.iter().map(|server| format!("{server}__…")).collect();
    format!("{sentence} And the tools of servers: {}.", servers.join(", "))
}

/// `output:12`: an output that was kept.
fn is_kept_output(path: &str) -> bool {
    path.strip_prefix("output:")
        .is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()) && n.parse::<u32>().is_ok())
}

fn folder(path: Option<String>, reading: &RequestContext<'_>) -> Result<(String, Option<String>), String> {
    let path = path.unwrap_or_default();
    match ToolPath::read(&path, reading.root)? {
        ToolPath::Inside(inside) if is_kept_output(&inside) => {
            Err(format!("`{inside}` is an output that was kept: only read_file reads it."))
        }
        ToolPath::Inside(inside) => Ok((inside, None)),
        ToolPath::Outside(outside) => Ok((outside.clone(), Some(outside))),
    }
}

fn file(path: &str, reading: &RequestContext<'_>) -> Result<(String, Option<String>), String> {
    let (path, outside) = folder(Some(path.to_owned()), reading)?;
    if path.is_empty() || path == "/" {
        return Err("`path` names a folder; a file is needed.".to_owned());
    }
    Ok((path, outside))
}

fn bounded(words: String) -> String {
    if words.len() <= LONGEST_WORDS {
        return words;
    }
    let end = words.floor_char_boundary(LONGEST_WORDS);
    format!("{}…", &words[..end])
}

/// The arguments of one call.
struct Args<'a> {
    tool: &'a str,
    map: Map<String, Value>,
}

impl<'a> Args<'a> {
    fn read(tool: &'a str, args: &str) -> Result<Self, String> {
        if args.len() > LONGEST_ARGS {
            return Err(format!("The arguments of `{tool}` are longer than 1 MiB; do it in smaller pieces."));
        }
        if args.trim().is_empty() {
            return Ok(Self { tool, map: Map::new() });
        }
        match serde_json::from_str(args) {
            Ok(Value::Object(map)) => Ok(Self { tool, map }),
            Ok(_) => Err(format!("The arguments of `{tool}` are no JSON object.")),
            Err(error) => Err(format!("The arguments of `{tool}` are no JSON: {error}.")),
        }
    }

    fn wrong(&self, key: &str, needed: &str) -> String {
        format!("`{}` of `{}` must be {needed}.", key, self.tool)
    }

    /// A number or a truth value in the place of a text is the text it is written as.
    fn text(&self, key: &str) -> Result<Option<String>, String> {
        match self.map.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(plain @ (Value::Number(_) | Value::Bool(_))) => Ok(Some(plain.to_string())),
            Some(_) => Err(self.wrong(key, "a text")),
        }
    }

    /// The name of a process.
    fn process(&self) -> Result<String, String> {
        let name = self.needed("name")?;
        let good = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if name.is_empty() || name.len() > 32 || !name.chars().all(good) {
            return Err(self.wrong("name", "letters, digits, `-` and `_`, at most 32"));
        }
        Ok(name)
    }

    fn needed(&self, key: &str) -> Result<String, String> {
        self.text(key)?.ok_or_else(|| format!("`{}` needs `{key}`.", self.tool))
    }

    fn number(&self, key: &str) -> Result<Option<u64>, String> {
        let read = match self.map.get(key) {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::Number(n)) => n.as_u64().or_else(|| n.as_f64().and_then(whole)),
            Some(Value::String(text)) => text.trim().parse().ok(),
            Some(_) => None,
        };
        read.map(Some).ok_or_else(|| self.wrong(key, "a whole number"))
    }

    fn count(&self, key: &str) -> Result<Option<u32>, String> {
        Ok(self.number(key)?.map(|n| u32::try_from(n).unwrap_or(u32::MAX)))
    }

    fn flag(&self, key: &str) -> Result<bool, String> {
        match self.map.get(key) {
            None | Some(Value::Null) => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(Value::String(text)) if text.eq_ignore_ascii_case("true") => Ok(true),
            Some(Value::String(text)) if text.eq_ignore_ascii_case("false") => Ok(false),
            Some(_) => Err(self.wrong(key, "true or false")),
        }
    }
}

/// `3.0` is 3.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // checked: whole, and within what is exact
fn whole(n: f64) -> Option<u64> {
    (n.fract() == 0.0 && (0.0..=9_007_199_254_740_992.0).contains(&n)).then_some(n as u64)
}

#[cfg(test)]
mod tests;
