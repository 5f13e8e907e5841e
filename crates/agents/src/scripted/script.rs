//! The script of a scripted agent: a list of replies, from TOML or from Rust.
//!
//! ```toml
//! [[reply]]
//! role = "critic"                    # worker | critic; absent = either
//! text = "[STATUS: APPROVED]\nGood." # or file = "reply.md", beside the script
//! delay_ms = 50
//! observe = ["read the draft"]
//! tokens = { input = 900, output = 40 }
//! repeat = 2                         # or "always"
//! files = { "src/a.rs" = "fn a() {}" } # written into the folder the call works in
//! delete = ["src/b.rs"]
//!
//! [[reply]]
//! fault = "rate_limited"
//! ```

use std::collections::BTreeMap;
use std::time::Duration;

use gadfly_engine::{Role, Usage};
use serde::Deserialize;

use crate::agent::Edit;

/// More than this and a script is not one.
const MAX_REPLIES: usize = 10_000;

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Script {
    replies: Vec<ScriptedReply>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScriptedReply {
    pub role: Option<Role>,
    pub text: String,
    pub delay: Duration,
    pub observe: Vec<String>,
    pub usage: Usage,
    pub fault: Option<Fault>,
    pub repeat: Repeat,
    /// Made before it answers, in the folder of the call.
    pub edits: Vec<Edit>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Repeat {
    Times(u32),
    Always,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    Timeout,
    RateLimited,
    Unavailable,
    Unauthorised,
    TooLong,
    Misconfigured,
    Refused,
    Length,
    Malformed,
    Crash,
    Empty,
    Huge,
    /// Never answers: ends by the call's time or by cancelling.
    Hang,
    Quota,
}

/// What is wrong with a script. The caller shows it with the script's path.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    #[error("the script is not valid: {0}")]
    Toml(#[from] toml::de::Error),
    #[error("reply {number} has {what}")]
    Reply { number: usize, what: String },
    #[error("the script has {0} replies; at most {MAX_REPLIES} are allowed")]
    TooMany(usize),
    #[error("the script has no [[reply]]")]
    None,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawScript {
    #[serde(default)]
    reply: Vec<RawReply>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawReply {
    role: Option<Role>,
    text: Option<String>,
    file: Option<String>,
    #[serde(default)]
    delay_ms: u64,
    #[serde(default)]
    observe: Vec<String>,
    #[serde(default)]
    tokens: RawTokens,
    fault: Option<Fault>,
    repeat: Option<RawRepeat>,
    #[serde(default)]
    files: BTreeMap<String, String>,
    #[serde(default)]
    delete: Vec<String>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct RawTokens {
    #[serde(default)]
    input: u64,
    #[serde(default)]
    output: u64,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum RawRepeat {
    Times(u32),
    Word(String),
}

impl ScriptedReply {
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            role: None,
            text: text.into(),
            delay: Duration::ZERO,
            observe: Vec::new(),
            usage: Usage::default(),
            fault: None,
            repeat: Repeat::Times(1),
            edits: Vec::new(),
        }
    }

    pub fn fault(fault: Fault) -> Self {
        Self { fault: Some(fault), ..Self::text("") }
    }

    pub fn by(self, role: Role) -> Self {
        Self { role: Some(role), ..self }
    }

    pub fn after(self, delay: Duration) -> Self {
        Self { delay, ..self }
    }

    pub fn observed(mut self, line: impl Into<String>) -> Self {
        self.observe.push(line.into());
        self
    }

    pub fn tokens(self, input: u64, output: u64) -> Self {
        Self { usage: Usage { input, output, ..Usage::default() }, ..self }
    }

    pub fn writing(mut self, path: impl Into<String>, content: impl Into<String>) -> Self {
        self.edits.push(Edit::Write { path: path.into(), content: content.into() });
        self
    }

    pub fn deleting(mut self, path: impl Into<String>) -> Self {
        self.edits.push(Edit::Delete { path: path.into() });
        self
    }

    pub fn repeated(self, repeat: Repeat) -> Self {
        Self { repeat, ..self }
    }
}

impl Script {
    pub fn new(replies: impl IntoIterator<Item = ScriptedReply>) -> Self {
        Self { replies: replies.into_iter().collect() }
    }

    /// Reads a script. `read` gives the text of a file that a reply names; agents touch no files.
    pub fn parse(toml: &str, read: impl Fn(&str) -> std::io::Result<String>) -> Result<Self, ScriptError> {
        let raw: RawScript = toml::from_str(toml)?;
        if raw.reply.is_empty() {
            return Err(ScriptError::None);
        }
        if raw.reply.len() > MAX_REPLIES {
            return Err(ScriptError::TooMany(raw.reply.len()));
        }
        let replies = raw.reply.into_iter().enumerate().map(|(i, r)| typed(i + 1, r, &read));
        Ok(Self { replies: replies.collect::<Result<_, _>>()? })
    }

    /// Whether any of its replies changes files.
    pub fn edits_files(&self) -> bool {
        self.replies.iter().any(|r| !r.edits.is_empty())
    }

    /// The reply for the call with this number, counted from 0 within its role.
    pub fn pick(&self, role: Role, nth: u32) -> Option<&ScriptedReply> {
        let mut left = nth;
        for reply in self.replies.iter().filter(|r| r.role.is_none_or(|of| of == role)) {
            match reply.repeat {
                Repeat::Always => return Some(reply),
                Repeat::Times(n) if left < n => return Some(reply),
                Repeat::Times(n) => left -= n,
            }
        }
        None
    }
}

fn typed(
    number: usize,
    raw: RawReply,
    read: &impl Fn(&str) -> std::io::Result<String>,
) -> Result<ScriptedReply, ScriptError> {
    let wrong = |what: String| ScriptError::Reply { number, what };
    let text = match (raw.text, raw.file) {
        (Some(_), Some(_)) => return Err(wrong("both `text` and `file`; keep one".into())),
        (Some(text), None) => text,
        (None, Some(file)) => {
            read(&file).map_err(|e| wrong(format!("a file that cannot be read, `{file}`: {e}")))?
        }
        (None, None) if raw.fault.is_some() => String::new(),
        (None, None) => return Err(wrong("no `text`, `file` or `fault`".into())),
    };
    let repeat = match raw.repeat {
        None => Repeat::Times(1),
        Some(RawRepeat::Times(0)) => return Err(wrong("`repeat = 0`; leave the reply out instead".into())),
        Some(RawRepeat::Times(n)) => Repeat::Times(n),
        Some(RawRepeat::Word(w)) if w == "always" => Repeat::Always,
        Some(RawRepeat::Word(w)) => {
            return Err(wrong(format!("`repeat = \"{w}\"`; a number or \"always\" is needed")));
        }
    };
    let written = raw.files.into_iter().map(|(path, content)| Edit::Write { path, content });
    let deleted = raw.delete.into_iter().map(|path| Edit::Delete { path });
    let edits: Vec<Edit> = written.chain(deleted).collect();
    for edit in &edits {
        let (Edit::Write { path, .. } | Edit::Delete { path }) = edit;
        if !stays_below(path) {
            return Err(wrong(format!(
                "the path `{path}`; a path below the folder is needed, without `..`, not beginning with `/`"
            )));
        }
    }
    Ok(ScriptedReply {
        role: raw.role,
        text,
        delay: Duration::from_millis(raw.delay_ms),
        observe: raw.observe,
        usage: Usage { input: raw.tokens.input, output: raw.tokens.output, ..Usage::default() },
        fault: raw.fault,
        repeat,
        edits,
    })
}

/// Whether a path is one below a folder, by its text alone. Links are the business of whoever writes.
fn stays_below(path: &str) -> bool {
    !path.is_empty() && path.split('/').all(|part| !matches!(part, "" | "." | "..")) && !path.contains('\0')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(toml: &str) -> Result<Script, ScriptError> {
        Script::parse(toml, |file| match file {
            "a.md" => Ok("from a file".to_owned()),
            _ => Err(std::io::ErrorKind::NotFound.into()),
        })
    }

    #[test]
    fn replies_are_counted_within_their_role() {
        let script = parse(
            "[[reply]]\nrole = 'critic'\ntext = 'no'\nrepeat = 2\n[[reply]]\nrole = 'worker'\nfile = 'a.md'\n\
             [[reply]]\nrole = 'critic'\ntext = 'yes'\n",
        )
        .unwrap();
        let texts = |role| (0..4).map(|n| script.pick(role, n).map(|r| r.text.as_str())).collect::<Vec<_>>();
        assert_eq!(texts(Role::Critic), [Some("no"), Some("no"), Some("yes"), None]);
        assert_eq!(texts(Role::Worker), [Some("from a file"), None, None, None]);
    }

    #[test]
    fn a_reply_may_write_and_delete_files() {
        let script = parse("[[reply]]\ntext='a'\nfiles = { 'src/a.rs' = 'x' }\ndelete = ['b']").unwrap();
        assert!(script.edits_files());
        let expected = ScriptedReply::text("a").writing("src/a.rs", "x").deleting("b");
        assert_eq!(script.pick(Role::Worker, 0), Some(&expected));
        assert!(!parse("[[reply]]\ntext='a'").unwrap().edits_files());
    }

    #[test]
    fn a_reply_may_hold_for_ever() {
        let script = parse("[[reply]]\ntext = 'x'\nrepeat = 'always'").unwrap();
        assert_eq!(script.pick(Role::Worker, u32::MAX).unwrap().text, "x");
    }

    #[test]
    fn mistakes_name_the_reply_and_the_way_out() {
        let said = |toml: &str| parse(toml).unwrap_err().to_string();
        assert_eq!(said("[[reply]]\ntext='a'\n[[reply]]\n"), "reply 2 has no `text`, `file` or `fault`");
        assert_eq!(said("[[reply]]\ntext='a'\nfile='b'"), "reply 1 has both `text` and `file`; keep one");
        assert_eq!(said(""), "the script has no [[reply]]");
        assert!(said("[[reply]]\nfault='explode'").contains("explode"));
        assert!(said("[[reply]]\nfile='b.md'").starts_with("reply 1 has a file that cannot be read, `b.md`"));
        assert!(said("[[reply]]\ntxt='a'").contains("txt"));
        for path in ["../a", "/etc/a", "a/../b", "a//b", "", "./a"] {
            let files = said(&format!("[[reply]]\ntext='a'\nfiles = {{ '{path}' = 'x' }}"));
            let delete = said(&format!("[[reply]]\ntext='a'\ndelete = ['{path}']"));
            for said in [files, delete] {
                assert!(said.starts_with(&format!("reply 1 has the path `{path}`;")), "{said}");
            }
        }
    }
}
