//! The one table of programs that people use as agents: how each is started, where it keeps its state, how it says who
//! is signed in, what holds it as a critic, where its usage stands. `doctor`, `init`, the sandbox and the page
//! docs/agents/known.md are made from it. What a user adds is a table `[agents.NAME]` with keys of the same names.
//!
//! To add a program: a row in `known/rows.rs`.

mod rows;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::config::AgentKind;

pub use rows::KNOWN;

/// A program, or an adapter of one.
#[derive(Clone, Copy, Debug)]
pub struct KnownProgram {
    /// As it is found on PATH.
    pub program: &'static str,
    /// Other words that start it: packages, older names.
    pub also: &'static [&'static str],
    /// What it is, for people.
    pub is: &'static str,
    /// None for what is no agent: model servers, starters of packages.
    pub agent: Option<AsAgent>,
    pub state: &'static [StatePath],
    /// What in the folders of its state is settings.
    pub settings: &'static [&'static str],
}

/// How a program is an agent.
#[derive(Clone, Copy, Debug)]
pub struct AsAgent {
    /// Its table in a `gadfly.toml`.
    pub name: &'static str,
    pub kind: AgentKind,
    /// What the kind does not know by itself.
    pub command: &'static [&'static str],
    /// Further keys of its table, each a line of TOML.
    pub lines: &'static [&'static str],
    /// Whose models it uses unless it is set up otherwise; empty if that is open.
    pub vendor: &'static str,
    /// A file below HOME that is there once somebody has signed in.
    pub signed_in: Option<&'static str>,
    /// Variables it is told things by that are no keys, and tokens made for it.
    pub env: &'static [&'static str],
    /// Keys it takes where nobody has signed in.
    pub keys: &'static [&'static str],
    /// Its own way to be a critic that does not write; empty if it has none.
    pub reads_only: &'static str,
    /// Where what a call used is stated; empty if nowhere: it is estimated then.
    pub usage: &'static str,
    pub seen: Seen,
}

/// How we know what the row says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Seen {
    /// This version was run in loops.
    Ran(&'static str),
    /// It was only read in its documentation.
    Read,
}

/// One place of a program's state.
#[derive(Clone, Copy, Debug)]
pub enum StatePath {
    /// A folder below the home.
    Home(&'static str),
    /// A file below the home. It is not made: only its owner knows what an empty one would mean.
    File(&'static str),
    /// A file below the home that it reads and need not write.
    Read(&'static str),
    /// Where this variable says, else below the home.
    Moved(&'static str, &'static str),
    /// In the folder that this variable names, else in this one below the home.
    In(&'static str, &'static str, &'static str),
}

impl StatePath {
    /// `env` is what the program itself is given.
    pub fn resolved(&self, home: &Path, env: &dyn Fn(&str) -> Option<String>) -> PathBuf {
        let moved = |name: &str| env(name).map(PathBuf::from).filter(|path| path.is_absolute());
        match self {
            Self::Home(path) | Self::File(path) | Self::Read(path) => home.join(path),
            Self::Moved(name, path) => moved(name).unwrap_or_else(|| home.join(path)),
            Self::In(name, folder, path) => moved(name).unwrap_or_else(|| home.join(folder)).join(path),
        }
    }

    /// For people: where it is unless a variable moves it.
    pub fn usual(&self) -> String {
        match self {
            Self::Home(path) | Self::File(path) | Self::Read(path) | Self::Moved(_, path) => {
                format!("~/{path}")
            }
            Self::In(_, folder, path) => format!("~/{folder}/{path}"),
        }
    }
}

impl KnownProgram {
    pub fn is_called(&self, name: &str) -> bool {
        self.program == name || self.also.contains(&name)
    }

    /// The programs that a command names: itself, or what its kind starts, or an adapter starts.
    pub fn named_by(kind: AgentKind, command: &[String]) -> impl Iterator<Item = &'static Self> + '_ {
        let words = command.iter().filter_map(|word| program_name(word));
        let names: Vec<&str> = kind.usual_program().into_iter().chain(words).collect();
        KNOWN.iter().filter(move |known| names.iter().any(|name| known.is_called(name)))
    }
}

/// `/x/codex-acp`, `@scope/codex-acp@1.2`, `codex-acp.js` → `codex-acp`.
fn program_name(word: &str) -> Option<&str> {
    let name = word.rsplit('/').next()?;
    let name = name.split('@').next()?;
    let name = name.strip_suffix(".js").or_else(|| name.strip_suffix(".exe")).unwrap_or(name);
    (!name.is_empty()).then_some(name)
}

/// The table of docs/agents/known.md.
pub fn page_table() -> String {
    let mut out = String::from(
        "| program | spoken to as | as a critic, its own mode | usage | state | signed in, or key | seen |\n\
         |---|---|---|---|---|---|---|\n",
    );
    for known in KNOWN {
        let Some(agent) = &known.agent else { continue };
        let code = |text: &str| format!("`{text}`");
        let list = |items: Vec<String>| if items.is_empty() { "–".to_owned() } else { items.join(", ") };
        let or_none = |text: &str| if text.is_empty() { "–".to_owned() } else { text.to_owned() };
        let spoken = match agent.command {
            [] => code(agent.kind.name()),
            words => format!("`{}`: `{}`", agent.kind.name(), words.join(" ")),
        };
        let state = known.state.iter().map(|path| code(&path.usual())).collect();
        let login = agent.signed_in.map(|file| format!("`~/{file}`"));
        let login = login.into_iter().chain(agent.keys.iter().map(|key| code(key))).collect();
        let seen = match agent.seen {
            Seen::Ran(version) => format!("run: {version}"),
            Seen::Read => "read only".to_owned(),
        };
        let _ = writeln!(
            out,
            "| {} (`{}`) | {spoken} | {} | {} | {} | {} | {seen} |",
            known.is,
            known.program,
            or_none(agent.reads_only),
            or_none(agent.usage),
            list(state),
            list(login),
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_stands_in_the_table_twice() {
        let mut words: Vec<&str> =
            KNOWN.iter().flat_map(|known| known.also.iter().chain([&known.program])).copied().collect();
        let mut tables: Vec<&str> = KNOWN.iter().filter_map(|known| Some(known.agent?.name)).collect();
        for names in [&mut words, &mut tables] {
            let all = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), all);
        }
    }

    #[test]
    fn a_row_says_what_its_kind_needs_and_a_key_is_no_setting() {
        for known in KNOWN {
            let Some(agent) = known.agent else { continue };
            let is_named = agent.kind.usual_program() == Some(known.program);
            assert_eq!(is_named, agent.command.is_empty(), "{}", known.program);
            assert!(agent.command.first().is_none_or(|word| known.is_called(word)), "{}", known.program);
            assert!(
                !known.state.is_empty() || agent.seen == Seen::Read,
                "{}: it ran, and keeps no state?",
                known.program
            );
            assert!(agent.keys.iter().all(|key| !agent.env.contains(key)), "{}", known.program);
        }
    }

    #[test]
    fn a_program_is_known_by_path_package_and_script() {
        for (command, expected) in [
            (&["/x/bin/copilot", "--acp"][..], &["copilot"][..]),
            (&["npx", "-y", "@github/copilot@1.0"], &["copilot", "npx"]),
            (&["node", "/x/qwen.js"], &["qwen"]),
            (&["./critic.sh"], &[]),
        ] {
            let command: Vec<String> = command.iter().map(|word| (*word).to_owned()).collect();
            let found: Vec<&str> =
                KnownProgram::named_by(AgentKind::Acp, &command).map(|k| k.program).collect();
            assert_eq!(found, expected, "{command:?}");
        }
    }
}
