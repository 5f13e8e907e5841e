//! What is said beside the error of a command that failed in a sandbox. The kernel does not tell us when it refuses,
//! so this says what the command might not do, and names what its own words complain about.

use std::path::{Path, PathBuf};

use crate::launcher::{Exit, Network, Sandbox};

/// How programs say that the system refused them.
const REFUSED: [&str; 6] = [
    "permission denied",
    "operation not permitted",
    "eacces",
    "eperm",
    "no new privileges",
    "not allowed by",
];
/// How they say that there is no network, no terminal, or nothing to write to.
const MISSING: [&str; 14] = [
    "network is unreachable",
    "name resolution",
    "resolve host",
    "connection refused",
    "getaddrinfo",
    "enetunreach",
    "enotfound",
    "eai_again",
    "erofs",
    "read-only file system",
    "no such device or address",
    "inappropriate ioctl",
    "/dev/ptmx",
    "/dev/tty",
];
/// The most that is named of what may be written, and of what was refused.
const NAMED: usize = 4;
/// The most of what it said that is looked at, from the end.
const LOOKED_AT: usize = 64 << 10;

/// What is said beside an error.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ErrorNote {
    pub text: String,
    /// Its words are those of somebody who was refused something. A command that fails in other words, or in none,
    /// as a test does that is not yet green, fails for a reason of its own.
    pub complains: bool,
}

impl Sandbox {
    /// None if it ended well or was ended by us.
    pub fn beside(&self, exit: Exit, said: &[u8]) -> Option<ErrorNote> {
        match exit {
            Exit::Code(0) => return None,
            Exit::Code(_) | Exit::Signal(_) => {}
            _ => return None,
        }
        let said = String::from_utf8_lossy(said.get(said.len().saturating_sub(LOOKED_AT)..)?);
        let lines: Vec<(&str, String)> = said.lines().map(|line| (line, line.to_ascii_lowercase())).collect();
        let complains = |words: &[&str]| lines.iter().any(|(_, line)| words.iter().any(|w| line.contains(w)));
        let complains = complains(&REFUSED) || complains(&MISSING);
        if self.own {
            let text = "it ran without your terminals and cannot gain rights (sudo); `terminals = true` in \
                        [commands] of your own gadfly.toml gives it both";
            return Some(ErrorNote { text: text.to_owned(), complains });
        }
        let mut paths: Vec<&str> = lines.iter().filter_map(|(line, lower)| refused_in(line, lower)).collect();
        paths.retain(|path| !self.write.iter().any(|written| Path::new(path).starts_with(written)));
        paths.dedup();
        paths.truncate(NAMED);
        let refused =
            if paths.is_empty() { String::new() } else { format!("; refused: {}", paths.join(", ")) };
        let (writes, goes_out) = (self.writes(), self.goes_out());
        let text = format!("it ran in a sandbox: it may write {writes}; {goes_out}{refused}");
        Some(ErrorNote { text, complains })
    }

    fn writes(&self) -> String {
        let device = |path: &&PathBuf| !path.starts_with("/dev");
        let mut paths: Vec<String> =
            self.write.iter().filter(device).map(|path| path.display().to_string()).collect();
        let more = paths.len().saturating_sub(NAMED);
        paths.truncate(NAMED);
        match (paths.is_empty(), more) {
            (true, _) => "nothing".to_owned(),
            (false, 0) => paths.join(", "),
            (false, more) => format!("{} and {more} more", paths.join(", ")),
        }
    }

    const fn goes_out(&self) -> &'static str {
        match self.network {
            Network::None if self.apart => "it has no network but a loopback of its own",
            Network::None => "it has no TCP",
            Network::Out => "it may connect and not listen",
            Network::FreePorts => "it may connect, and listen on ports the system chooses",
            Network::Open => "it has the network",
        }
    }
}

/// What a line complains about: the path that stands before the complaint, else the one after it.
fn refused_in<'a>(line: &'a str, lower: &str) -> Option<&'a str> {
    let at = REFUSED.iter().find_map(|word| lower.find(word))?;
    let (before, after) = line.split_at_checked(at)?;
    named(before).last().or_else(|| named(after).next())
}

/// The absolute paths that a line names.
fn named(line: &str) -> impl Iterator<Item = &str> {
    let ends = |c: char| {
        c.is_whitespace() || matches!(c, '\'' | '"' | '`' | ':' | ',' | '(' | ')' | ';' | '‘' | '’')
    };
    line.split(ends).filter(|word| word.len() > 1 && word.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sandbox() -> Sandbox {
        let write = ["/work/run", "/dev/null", "/work/tmp"].map(PathBuf::from).to_vec();
        Sandbox { write, network: Network::Out, ..Sandbox::default() }
    }

    fn text(said: &[u8]) -> (String, bool) {
        let ErrorNote { text, complains } = sandbox().beside(Exit::Code(9), said).unwrap();
        (text, complains)
    }

    #[test]
    fn what_failed_in_a_sandbox_says_so_and_what_was_refused() {
        let said = b"sh: 1: cannot create /home/u/x: Permission denied\nsh: /work/run/a: Permission denied\n";
        let expected = "it ran in a sandbox: it may write /work/run, /work/tmp; it may connect and not listen; \
                        refused: /home/u/x";
        assert_eq!(text(said), (expected.to_owned(), true));
        for (said, refused) in [
            ("mkdir: cannot create directory ‘/etc/x’: Permission denied", "refused: /etc/x"),
            ("/x/w.sh: 3: cannot create /h/.profile: Permission denied", "refused: /h/.profile"),
            ("Error: EACCES: permission denied, open '/h/y'", "refused: /h/y"),
        ] {
            let (text, complains) = text(said.as_bytes());
            assert!(text.ends_with(refused) && complains, "{text}");
        }
        for said in ["assertion failed at /work/x.rs", ""] {
            let (text, complains) = text(said.as_bytes());
            assert!(!text.contains("refused") && !complains, "{text}");
        }
        assert!(text(b"curl: (6) Could not resolve host: example.org").1);
    }

    #[test]
    fn what_ended_well_or_was_ended_by_us_says_nothing() {
        for exit in [Exit::Code(0), Exit::TimedOut, Exit::Cancelled, Exit::Overflowed] {
            assert_eq!(sandbox().beside(exit, b"Permission denied"), None, "{exit:?}");
        }
    }

    #[test]
    fn the_users_own_command_is_told_of_terminals() {
        let own = Sandbox { own: true, ..Sandbox::default() };
        assert!(!own.beside(Exit::Code(1), b"3 tests failed").unwrap().complains);
        let sudo = b"sudo: The \"no new privileges\" flag is set";
        let beside = own.beside(Exit::Code(1), sudo).unwrap();
        assert!(beside.complains && beside.text.contains("`terminals = true`"));
    }
}
