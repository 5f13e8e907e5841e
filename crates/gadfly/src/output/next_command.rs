//! Commands for the person to type next, complete: with the store they need, if it is not the project's own.

use std::path::Path;
use std::sync::OnceLock;

use super::safe;

static STORE: OnceLock<String> = OnceLock::new();

/// Every command told from now on names this store.
pub fn at(store: &Path) {
    let _ = STORE.set(quoted(&safe::line(&store.to_string_lossy(), 4096)));
}

/// `gadfly`, the store if need be, and the rest.
pub fn command(rest: &str) -> String {
    match STORE.get() {
        Some(store) => format!("gadfly --store {store} {rest}"),
        None => format!("gadfly {rest}"),
    }
}

/// The command of this process as it could be typed again.
pub fn command_line() -> String {
    typed(std::env::args_os().skip(1).map(|arg| arg.to_string_lossy().into_owned()))
}

fn typed(args: impl Iterator<Item = String>) -> String {
    let quoted = args.map(|arg| quoted(&arg));
    std::iter::once("gadfly".to_owned()).chain(quoted).collect::<Vec<_>>().join(" ")
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./=:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_can_be_typed_again() {
        let args = ["run", "Don't panic", "--rounds=2", ""].map(str::to_owned);
        assert_eq!(typed(args.into_iter()), r"gadfly run 'Don'\''t panic' --rounds=2 ''");
    }
}
