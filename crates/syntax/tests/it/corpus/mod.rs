//! The corpus as data: small projects, and changes to them with what has to be found. A file has sections:
//!
//! ```text
//! === base NAME              a project: `--- new PATH` and its content, once per file
//! === BASE: what is done     a change to it, by parts:
//! expect PATH: words         a finding at PATH with these words; without any, nothing may be found
//! --- new PATH               a file with this content
//! --- edit PATH              lines with `-` replaced by lines with `+`, each group once; `~` parts groups
//! --- delete PATH
//! --- move PATH PATH
//! ```
#![allow(dead_code)] // each user of the corpus needs a part of it

use std::collections::BTreeMap;
use std::path::Path;

pub type Files = BTreeMap<String, String>;

pub struct Case {
    pub name: String,
    pub expect: Vec<(String, String)>,
    pub before: Files,
    pub after: Files,
}

/// All cases of a folder's files with these names.
#[allow(clippy::disallowed_methods)] // the corpus lies beside the tests
pub fn cases(names: &[&str]) -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../syntax/tests/it/corpus");
    let read =
        |name: &str| std::fs::read_to_string(folder.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
    let mut bases = BTreeMap::new();
    let mut found = Vec::new();
    for name in std::iter::once("bases.txt").chain(names.iter().copied()) {
        for section in format!("\n{}", read(name)).split("\n=== ").skip(1) {
            let (head, body) = section.split_once('\n').unwrap_or((section, ""));
            if let Some(base) = head.strip_prefix("base ") {
                bases.insert(base.to_owned(), applied(&Files::new(), body, head));
                continue;
            }
            let (base, _) = head.split_once(':').unwrap_or_else(|| panic!("{head}: which base?"));
            let before: &Files = bases.get(base).unwrap_or_else(|| panic!("{head}: no base {base}"));
            let expect = body.lines().filter_map(|line| line.strip_prefix("expect ")?.split_once(": "));
            found.push(Case {
                name: head.to_owned(),
                expect: expect.map(|(path, words)| (path.to_owned(), words.to_owned())).collect(),
                before: before.clone(),
                after: applied(before, body, head),
            });
        }
    }
    found
}

fn applied(before: &Files, body: &str, case: &str) -> Files {
    let mut files = before.clone();
    for part in format!("\n{body}").split("\n--- ").skip(1) {
        let (head, content) = part.split_once('\n').unwrap_or((part, ""));
        let words: Vec<&str> = head.split(' ').collect();
        match words[..] {
            ["new", path] => {
                files.insert(path.to_owned(), format!("{}\n", content.trim_end()));
            }
            ["delete", path] => {
                files.remove(path).unwrap_or_else(|| panic!("{case}: no {path}"));
            }
            ["move", from, to] => {
                let text = files.remove(from).unwrap_or_else(|| panic!("{case}: no {from}"));
                files.insert(to.to_owned(), text);
            }
            ["edit", path] => {
                let text = files.get_mut(path).unwrap_or_else(|| panic!("{case}: no {path}"));
                *text = edited(text, content, case);
            }
            _ => panic!("{case}: what is `{head}`?"),
        }
    }
    files
}

/// Groups are `-` lines and then `+` lines; a group may have only `-` lines.
fn edited(text: &str, content: &str, case: &str) -> String {
    let mut groups: Vec<(String, String)> = Vec::new();
    let mut adding = true;
    for line in content.lines().filter(|line| !line.is_empty()) {
        let (sign, rest) = line.split_at(1);
        if sign == "~" || (sign == "-" && adding) {
            groups.push(Default::default());
        }
        adding = sign == "+";
        if sign == "~" {
            continue;
        }
        let Some((old, new)) = groups.last_mut() else { panic!("{case}: what does `{line}` replace?") };
        let side = if adding { new } else { old };
        side.push_str(rest);
        side.push('\n');
    }
    groups.into_iter().fold(text.to_owned(), |text, (old, new)| {
        assert!(text.contains(&old), "{case}: not there:\n{old}\nin\n{text}");
        text.replacen(&old, &new, 1)
    })
}
