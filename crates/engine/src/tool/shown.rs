//! A call's arguments as people and the watching critic see them: short, in one line, without secrets.

use serde_json::{Map, Value};

use super::json::sorted;
use crate::goal::{ARGS, cut};

/// How many arguments are shown, and how much of each: what says what is done is shown whole, as far as anybody reads.
const MOST: usize = 2;
const LONGEST: usize = 80;
const LONGEST_TELLING: usize = ARGS;
const TELLING: [&str; 4] = ["command", "path", "pattern", "url"];
/// More of a value is not looked at.
const LOOKED_AT: usize = 4 * ARGS;

/// Words in the name of an argument whose value is a secret.
const SECRET_NAMES: [&str; 11] = [
    "token",
    "password",
    "passwd",
    "secret",
    "api_key",
    "apikey",
    "api-key",
    "authorization",
    "credential",
    "private_key",
    "access_key",
];
/// How well-known secrets begin.
const SECRET_BEGINNINGS: [&str; 10] =
    ["sk-", "ghp_", "gho_", "ghs_", "github_pat_", "glpat-", "xoxb-", "xoxp-", "AKIA", "eyJ"];

/// The first two arguments: `path=src/a.rs, from=1`.
pub fn shown_args(name: &str, args: &str) -> String {
    let map = match serde_json::from_str(args) {
        Ok(Value::Object(map)) => map,
        Ok(other) => return short(&sorted(&other), LONGEST),
        Err(_) => return short(args, LONGEST),
    };
    let shown: Vec<String> = order(name, &map).into_iter().take(MOST).map(|key| one(key, &map)).collect();
    shown.join(", ")
}

/// What matters first; of a tool we do not know, by name.
fn order<'a>(name: &str, map: &'a Map<String, Value>) -> Vec<&'a str> {
    let first: &[&str] = match name {
        "run_command" => &["command"],
        "start_process" => &["name", "command"],
        "read_file" => &["path", "from", "lines"],
        "write_file" | "list_files" => &["path"],
        "edit_file" => &["path", "old"],
        "search_files" => &["pattern", "path"],
        _ => &[],
    };
    let mut keys: Vec<&str> = map.keys().map(String::as_str).collect();
    let rank = |key: &str| first.iter().position(|f| *f == key).unwrap_or(first.len());
    keys.sort_unstable_by(|a, b| rank(a).cmp(&rank(b)).then_with(|| a.cmp(b)));
    keys
}

fn one(key: &str, map: &Map<String, Value>) -> String {
    let name = cut(&one_line(key), LONGEST);
    let value = match map.get(key) {
        _ if is_secret_name(key) => "…".to_owned(),
        Some(Value::String(text)) if TELLING.contains(&key) => short(text, LONGEST_TELLING),
        Some(Value::String(text)) => short(text, LONGEST),
        Some(other) => short(&sorted(other), LONGEST),
        None => String::new(),
    };
    format!("{name}={value}")
}

fn short(text: &str, longest: usize) -> String {
    let end = text.floor_char_boundary(LOOKED_AT);
    let cut_off = end < text.len();
    let shown = cut(&without_secrets(&one_line(&text[..end])), longest);
    if cut_off && !shown.ends_with('…') { format!("{shown}…") } else { shown }
}

fn one_line(text: &str) -> String {
    let plain: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn is_secret_name(name: &str) -> bool {
    let name = name.to_lowercase();
    SECRET_NAMES.iter().any(|secret| name.contains(secret))
}

/// Hides words that are secrets by their beginning, by the word before them, or by the name they are given.
pub(crate) fn without_secrets(line: &str) -> String {
    let mut hide_next = false;
    let words: Vec<String> = line
        .split(' ')
        .map(|word| {
            let bare = word.trim_matches(['"', '\'', '`']);
            if std::mem::take(&mut hide_next) && !is_scheme(bare) {
                return "…".to_owned();
            }
            if SECRET_BEGINNINGS.iter().any(|begin| bare.starts_with(begin)) {
                return "…".to_owned();
            }
            if let Some((name, value)) = word.split_once(['=', ':'])
                && is_secret_name(name)
                && !value.starts_with("//")
            {
                hide_next = value.is_empty();
                return format!("{name}=…");
            }
            hide_next = is_scheme(bare) || (word.starts_with("--") && is_secret_name(word));
            without_login(word)
        })
        .collect();
    words.join(" ")
}

/// What stands before the secret itself in a header.
fn is_scheme(word: &str) -> bool {
    word.eq_ignore_ascii_case("bearer") || word.eq_ignore_ascii_case("basic")
}

/// `https://user:word@host` without who and the word.
fn without_login(word: &str) -> String {
    let Some((scheme, rest)) = word.split_once("://") else { return word.to_owned() };
    let host_ends = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    match rest[..host_ends].rfind('@') {
        Some(at) => format!("{scheme}://…{}", &rest[at..]),
        None => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_two_arguments_are_shown_short_and_in_one_line() {
        let shown = shown_args("edit_file", r#"{"new":"y","old":"a\nb","all":true,"path":"src/a.rs"}"#);
        assert_eq!(shown, "path=src/a.rs, old=a b");
        let long = format!(r#"{{"command":"{}"}}"#, "ü".repeat(2000));
        assert_eq!(shown_args("run_command", &long), format!("command={}…", "ü".repeat(1000)));
        let long = format!(r#"{{"new":"{}"}}"#, "ü".repeat(2000));
        assert_eq!(shown_args("x", &long), format!("new={}…", "ü".repeat(80)));
        assert_eq!(shown_args("x", r#"{"b":[1,2],"a":null,"c":1}"#), "a=null, b=[1,2]");
        assert_eq!(shown_args("x", "{broken"), "{broken");
        assert_eq!(shown_args("x", "{}"), "");
    }

    #[test]
    fn secrets_are_never_shown() {
        let calls = [
            r#"{"api_key":"hush"}"#,
            r#"{"githubToken":"hush"}"#,
            r#"{"command":"TOKEN=hush make"}"#,
            r#"{"command":"x --password hush"}"#,
            r#"{"command":"x -H 'Authorization: Bearer hush'"}"#,
            r#"{"command":"x Bearer hush"}"#,
            r#"{"command":"echo sk-hush"}"#,
            r#"{"url":"https://me:hush@host/a"}"#,
            r#"{"password":"hush" broken"#,
        ];
        for args in calls {
            let shown = shown_args("x", args);
            assert!(!shown.contains("hush"), "{args}: {shown}");
        }
    }
}
