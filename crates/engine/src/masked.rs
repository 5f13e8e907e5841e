//! Secrets in a text that is to be shown: keys by their form, logins and values in addresses. Every byte of one becomes a
//! star, so that what stands around it stays where it is. A guess by form; what is known to be a secret is not shown at all.

use std::ops::Range;

const STAR: &str = "*";

/// How well-known keys begin. What follows has to be long enough for one.
const BEGINNINGS: [&str; 26] = [
    "sk-",
    "sk_",
    "rk_",
    "pk_live_",
    "ghp_",
    "gho_",
    "ghs_",
    "ghu_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "xoxa-",
    "xoxs-",
    "xapp-",
    "AKIA",
    "ASIA",
    "AIza",
    "hf_",
    "gsk_",
    "pplx-",
    "r8_",
    "xai-",
    "npm_",
    "eyJ",
];
const SHORTEST_REST: usize = 12;
/// A word of letters, large and small, and digits that is as long as this is nobody's word.
const LONG: usize = 32;

/// The text with stars for what looks like a secret in it.
pub fn masked(text: &str) -> String {
    let plain = without_colours(text);
    let mut hidden: Vec<Range<usize>> =
        runs(&plain, is_of_key).filter(|word| is_key(&plain[word.clone()])).collect();
    for address in runs(&plain, is_of_address) {
        hidden.extend(
            in_address(&plain[address.clone()])
                .map(|part| part.start + address.start..part.end + address.start),
        );
    }
    if hidden.is_empty() {
        return text.to_owned();
    }
    let is_hidden = |at: usize| hidden.iter().any(|part| part.contains(&at));
    starred(text, is_hidden)
}

/// What colours a terminal is no part of a word: spaces in its place, as long as it was.
fn without_colours(text: &str) -> String {
    let mut inside = false;
    text.chars()
        .map(|c| {
            let was = inside;
            inside = c == '\u{1b}' || (inside && !c.is_ascii_alphabetic() && c.is_ascii());
            if (was || inside) && c.is_ascii() { ' ' } else { c }
        })
        .collect()
}

/// It has the form of a key, and so is no name of anything.
pub fn looks_like_key(text: &str) -> bool {
    runs(text, is_of_key).any(|word| is_key(&text[word]))
}

/// The text with stars for the characters that begin at such bytes.
pub fn starred(text: &str, hidden: impl Fn(usize) -> bool) -> String {
    let mut shown = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        if hidden(at) {
            shown.push_str(&STAR.repeat(c.len_utf8()));
        } else {
            shown.push(c);
        }
    }
    shown
}

fn is_of_key(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-' || c == '_'
}

/// A space, a quote or a bracket ends an address.
fn is_of_address(c: char) -> bool {
    !c.is_whitespace() && !c.is_control() && !"\"'`<>()[]{}|\\^,".contains(c) || c == '[' || c == ']'
}

fn is_key(word: &str) -> bool {
    // The form may stand behind a dash or a word of ours: `--key=sk-…` is cut at `=`, `-sk-…` is not.
    let word = word.trim_start_matches('-');
    let begins = |begin: &str| word.strip_prefix(begin).is_some_and(|rest| rest.len() >= SHORTEST_REST);
    let has = |what: fn(&u8) -> bool| word.as_bytes().iter().any(what);
    BEGINNINGS.iter().any(|begin| begins(begin) && (has(u8::is_ascii_digit) || word.len() >= LONG))
        || (word.len() >= LONG
            && has(u8::is_ascii_digit)
            && has(u8::is_ascii_lowercase)
            && has(u8::is_ascii_uppercase))
}

/// Longest pieces of such characters.
fn runs(text: &str, of: fn(char) -> bool) -> impl Iterator<Item = Range<usize>> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let start = from + text[from..].find(of)?;
        let end = text[start..].find(|c| !of(c)).map_or(text.len(), |n| start + n);
        from = end;
        Some(start..end)
    })
}

/// Who logs in, and the values of the query and the fragment.
fn in_address(word: &str) -> impl Iterator<Item = Range<usize>> {
    let start = word.find("://").map(|at| at + 3);
    let parts = start.map(|start| {
        let rest = &word[start..];
        let authority = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let login = rest[..authority].rfind('@').map(|at| start..start + at);
        let query = rest.find(['?', '#']).map(|at| start + at + 1);
        let values = query.into_iter().flat_map(move |query| {
            let mut at = query;
            word[query..].split(['&', ';', '#']).map(move |pair| {
                let from = at + pair.find('=').map_or(0, |n| n + 1);
                at += pair.len() + 1;
                from..at - 1
            })
        });
        login.into_iter().chain(values)
    });
    parts.into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_by_their_form_and_what_addresses_carry_are_hidden_and_the_rest_stays() {
        let key = "sk-proj-abcDEF0123456789";
        for (shown, secret) in [
            (format!("key_env = \"{key}\""), key),
            (format!("no agent `{key}` is configured"), key),
            ("https://me:hunter2@a.example/v1".to_owned(), "hunter2"),
            ("fetch http://a.example/x?token=hunter2&n=1 now".to_owned(), "hunter2"),
            ("http://a.example/#access=hunter2".to_owned(), "hunter2"),
            ("ghp_0123456789abcdefghijABCDEFGHIJ012345".to_owned(), "ghp_01234"),
            ("model Zq8mN2vB5xC7kL1jH4gF6dS9aP3oI0uY".to_owned(), "Zq8mN2"),
            (format!("\u{1b}[33m{key}\u{1b}[0m"), key),
            ("--key=sk-ant-api03-abcdefghijklmnop".to_owned(), "ant-api03"),
        ] {
            let hidden = masked(&shown);
            assert!(!hidden.contains(secret), "{hidden}");
            assert_eq!(hidden.len(), shown.len());
        }
        for plain in [
            "key_env = \"OPENAI_API_KEY\"",
            "https://api.openai.com/v1",
            "model claude-sonnet-4-5-20250929",
            "sk-learn and hf_hub",
            "git 5f2c1d9e8b7a60413f2c1d9e8b7a60413f2c1d9e",
            "http://[::1]:8080/v1 and me@example.org",
            "a_very_long_name_of_some_test_that_says_what_it_does_2",
            "Meta-Llama-3.1-70B-Instruct",
        ] {
            assert_eq!(masked(plain), plain);
        }
        assert!(looks_like_key(key) && !looks_like_key("OPENAI_API_KEY"));
    }
}
