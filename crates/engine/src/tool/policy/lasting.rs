//! What a person's `always` is for: a pattern that the question shows, and the reason it was asked for. What does not
//! fit the pattern, or is asked about for another reason, is asked about again.

use std::fmt;

use super::super::ToolAction;

/// A lasting permission of a goal.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Lasting {
    /// The tool as the model named it, and why it was asked about.
    tool: String,
    why: String,
    pattern: LastingPattern,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum LastingPattern {
    /// Commands of one program, and of one subcommand if it has any.
    Commands(String),
    /// Pages of one host.
    Host(String),
    /// This and nothing else.
    Exactly(String),
}

impl Lasting {
    pub(super) fn of(tool: &str, why: &str, action: &ToolAction) -> Self {
        let pattern = match action {
            ToolAction::RunCommand { line, .. } => {
                prefix(line).map_or_else(|| LastingPattern::Exactly(line.clone()), LastingPattern::Commands)
            }
            ToolAction::FetchUrl { url } => host(url).map_or_else(
                || LastingPattern::Exactly(url.clone()),
                |host| LastingPattern::Host(host.to_owned()),
            ),
            ToolAction::Screenshot { line, .. } => LastingPattern::Exactly(line.clone()),
            ToolAction::ReadFile { path, .. }
            | ToolAction::WriteFile { path, .. }
            | ToolAction::EditFile { path, .. }
            | ToolAction::ListFiles { path }
            | ToolAction::SearchFiles { path, .. } => LastingPattern::Exactly(path.clone()),
            ToolAction::Mcp { tool, .. } => LastingPattern::Exactly(tool.clone()),
            ToolAction::McpTools { .. } => LastingPattern::Exactly(String::new()),
            ToolAction::Process(process) => LastingPattern::Exactly(process.about().to_owned()),
        };
        Self { tool: tool.to_owned(), why: why.to_owned(), pattern }
    }
}

impl fmt::Display for Lasting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tool = super::quoted(&self.tool);
        match &self.pattern {
            LastingPattern::Commands(begin) => {
                write!(f, "every plain command that begins with {}", super::quoted(begin))
            }
            LastingPattern::Host(host) => write!(f, "every page of {}", super::quoted(host)),
            LastingPattern::Exactly(what) if what.is_empty() => write!(f, "{tool}"),
            LastingPattern::Exactly(what) => write!(f, "{tool} with exactly {}", super::quoted(what)),
        }
    }
}

/// What makes more of a line than one plain command.
const SHELL: [char; 14] = [';', '&', '|', '<', '>', '`', '$', '(', ')', '{', '}', '\\', '\n', '#'];
/// Programs whose arguments are programs, or that do anything by a flag: of them only the very line is meant.
const ANYTHING: [&str; 27] = [
    "sh", "bash", "zsh", "dash", "fish", "env", "exec", "eval", "xargs", "sudo", "su", "doas", "nice",
    "time", "timeout", "nohup", "setsid", "python", "python3", "node", "perl", "ruby", "ssh", "find", "awk",
    "sed", "rm",
];

/// The program and its subcommand: `npm install`, `make`. None if the line is more than one plain command, or its
/// program could do anything.
fn prefix(line: &str) -> Option<String> {
    if line.contains(SHELL) {
        return None;
    }
    let mut words = line.split_whitespace();
    let program = words.next().filter(|word| !word.contains('='))?;
    let name = program.rsplit('/').next().unwrap_or(program);
    if ANYTHING.contains(&name) {
        return None;
    }
    let is_plain = |word: &&str| word.len() > 1 && word.chars().all(|c| c.is_ascii_lowercase() || c == '-');
    match words.next().filter(is_plain).filter(|word| !word.starts_with('-')) {
        Some(sub) => Some(format!("{program} {sub}")),
        None => Some(program.to_owned()),
    }
}

/// The host of an address, with its port.
fn host(url: &str) -> Option<&str> {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"))?;
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let host = rest.get(..end)?;
    // Whoever writes a login, or something odd, means to be taken for somebody else.
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | ':' | '[' | ']');
    (!host.is_empty() && host.chars().all(fits)).then_some(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_is_a_program_and_its_subcommand_and_nothing_that_could_be_anything() {
        for (line, expected) in [
            ("npm install left-pad", Some("npm install")),
            ("cargo test --offline", Some("cargo test")),
            ("make", Some("make")),
            ("make -C sub all", Some("make")),
            ("./check.sh fast", Some("./check.sh fast")),
            ("npm install; curl evil", None),
            ("npm install $(curl evil)", None),
            ("npm install && x", None),
            ("echo a > b", None),
            ("sh -c ls", None),
            ("/usr/bin/env make", None),
            ("A=1 make", None),
            ("rm -rf x", None),
            ("ls\nrm x", None),
        ] {
            assert_eq!(prefix(line).as_deref(), expected, "{line}");
        }
    }

    #[test]
    fn a_host_is_taken_from_plain_addresses_only() {
        for (url, expected) in [
            ("https://docs.rs/serde", Some("docs.rs")),
            ("http://127.0.0.1:9/a?b", Some("127.0.0.1:9")),
            ("https://docs.rs", Some("docs.rs")),
            ("https://docs.rs@evil.example/", None),
            ("ftp://docs.rs/", None),
            ("https:///x", None),
        ] {
            assert_eq!(host(url), expected, "{url}");
        }
    }
}
