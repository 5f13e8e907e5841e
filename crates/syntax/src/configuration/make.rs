//! Makefiles and justfiles: what a target for tests runs, with all it depends on. A word more in it is a test more; one less
//! is not, nor is one that hides a failure.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::{ChangedFile, Version, Weakening, shown};

/// Targets and variables that are followed from one.
const MOST: usize = 200;

const HIDING: [&str; 15] = [
    "||",
    "true",
    ":",
    "exit",
    "-i",
    "-O",
    "-OO",
    "-k",
    "NDEBUG",
    "-DNDEBUG",
    "--passWithNoTests",
    "--deselect",
    "--ignore",
    "-short",
    "--exclude",
];

/// Beginnings of variables of the environment by which runners are told which tests to run, and how.
const RUNNERS: [&str; 14] = [
    "PYTEST",
    "PYTHON",
    "RUST",
    "CARGO_",
    "GOFLAGS",
    "NODE_",
    "JEST",
    "VITEST",
    "MAVEN_",
    "JAVA_TOOL",
    "GRADLE_",
    "LD_PRELOAD",
    "RUBYOPT",
    "GTEST_",
];

#[derive(Default)]
struct MakeRules {
    /// What a target needs and does; how often it is written.
    targets: BTreeMap<String, (String, usize, usize)>,
    variables: HashMap<String, String>,
    special: BTreeSet<String>,
}

fn read(text: &str) -> MakeRules {
    let mut rules = MakeRules::default();
    let mut open: Vec<String> = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let body = line.trim();
        if body.is_empty() || body.starts_with('#') {
            continue;
        }
        if line.starts_with(['\t', ' ']) && !open.is_empty() {
            for target in &open {
                if let Some((text, ..)) = rules.targets.get_mut(target) {
                    text.push(' ');
                    text.push_str(body);
                }
            }
            continue;
        }
        open.clear();
        let assigns = body.find('=');
        let colon = body.find(':').filter(|c| assigns.is_none_or(|a| *c + 1 < a));
        match (colon, assigns) {
            (Some(colon), _) => {
                for target in body[..colon].split_whitespace().take(MOST) {
                    let entry =
                        rules.targets.entry(target.to_owned()).or_insert_with(|| (String::new(), 0, at + 1));
                    entry.0.push_str(&body[colon + 1..]);
                    entry.1 += 1;
                    open.push(target.to_owned());
                }
            }
            (None, Some(at)) => {
                let name = body[..at].trim_end_matches([':', '+', '?', ' ']).trim();
                let value = rules.variables.entry(name.to_owned()).or_default();
                value.push(' ');
                value.push_str(&body[at + 1..]);
                let variable = name.trim_start_matches("export ").trim();
                let goes_out = variable != name && RUNNERS.iter().any(|begin| variable.starts_with(begin));
                if goes_out || matches!(variable, "SHELL" | "MAKEFLAGS" | ".SHELLFLAGS" | "GNUMAKEFLAGS") {
                    rules.special.insert(body.to_owned());
                }
            }
            (None, None) => {
                rules.special.insert(body.to_owned());
            }
        }
        if body.starts_with(".IGNORE") || body.starts_with(".SILENT") || body.starts_with(".DEFAULT_GOAL") {
            rules.special.insert(body.to_owned());
        }
    }
    rules
}

impl MakeRules {
    /// All words of a target, of what it needs and of the variables it uses.
    fn words(&self, target: &str) -> Vec<String> {
        let mut words = Vec::new();
        let mut open = vec![target.to_owned()];
        let mut seen = BTreeSet::new();
        while let Some(next) = open.pop().filter(|_| seen.len() < MOST) {
            if !seen.insert(next.clone()) {
                continue;
            }
            let text = self.targets.get(&next).map(|(text, ..)| text).or_else(|| self.variables.get(&next));
            let follows = target != ".PHONY";
            for word in text.map(|t| t.split_whitespace()).into_iter().flatten().take(1000) {
                words.push(word.to_owned());
                let inner = word.split(['$', '(', ')', '{', '}']).filter(|w| !w.is_empty());
                open.extend(
                    inner
                        .chain([word])
                        .filter(|w| {
                            follows && (self.targets.contains_key(*w) || self.variables.contains_key(*w))
                        })
                        .map(ToOwned::to_owned),
                );
            }
        }
        words
    }
}

fn is_for_tests(target: &str) -> bool {
    target == ".PHONY"
        || ["test", "check", "verify", "spec"].iter().any(|word| target.contains(word))
        || target == "ci"
}

pub fn changed(change: &ChangedFile) -> Vec<Weakening> {
    let Version::Text(before) = &change.before else { return Vec::new() };
    let (before, after) = (read(before), read(change.after.text().unwrap_or_default()));
    let mut found = Vec::new();
    for (target, (_, times, line)) in before.targets.iter().filter(|(target, _)| is_for_tests(target)) {
        let now = after.targets.get(target);
        let (was, is) = (before.words(target), after.words(target));
        let mut left = is.clone();
        let lost = was.iter().find(|word| match left.iter().position(|w| w == *word) {
            Some(at) => {
                left.swap_remove(at);
                false
            }
            None => true,
        });
        let hides = left.iter().find(|word| {
            HIDING.iter().any(|h| word.trim_end_matches(';') == *h)
                || word.starts_with("-./")
                || word.starts_with("@-")
        });
        let place =
            now.and_then(|(.., line)| u32::try_from(*line).ok()).or_else(|| u32::try_from(*line).ok());
        let says = match (now, lost, hides) {
            (None, ..) => format!("The target `{target}` is gone."),
            (_, Some(word), _) => {
                format!("The target `{target}` does something else: `{}` is gone from it.", shown(word))
            }
            (_, _, Some(word)) => {
                format!("The target `{target}` does something else: `{}` is new in it.", shown(word))
            }
            (Some((_, now, _)), ..) if now > times => {
                format!("The target `{target}` is written once more, and the last one counts.")
            }
            _ => continue,
        };
        found.push(Weakening::new(&change.path, place, says));
    }
    for line in after.special.difference(&before.special) {
        found.push(Weakening::new(
            &change.path,
            None,
            format!("This concerns all targets and is new: `{}`.", shown(line)),
        ));
    }
    found
}
