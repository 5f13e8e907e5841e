//! Configuration in TOML and JSON, key by key.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{ChangedFile, Version, Weakening, shown};

const DEEPEST: usize = 12;

/// Keys with their values, written as paths: `lib.test`.
type Keys = BTreeMap<String, String>;

fn flatten(value: &Value, path: &str, depth: usize, into: &mut Keys) {
    let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    match value {
        Value::Object(map) if depth < DEEPEST => {
            map.iter().for_each(|(name, value)| flatten(value, &below(name), depth + 1, into));
        }
        Value::Array(list) if depth < DEEPEST && !list.is_empty() && list.iter().all(Value::is_object) => {
            for (at, value) in list.iter().enumerate() {
                let name = value
                    .get("name")
                    .and_then(Value::as_str)
                    .map_or_else(|| at.to_string(), ToOwned::to_owned);
                flatten(value, &below(&name), depth + 1, into);
            }
        }
        other => {
            into.insert(path.to_owned(), other.to_string());
        }
    }
}

/// Both versions, key by key; an error if the later one cannot be read.
fn keys(change: &ChangedFile, read: fn(&str) -> Option<Value>) -> Result<(Keys, Keys), Vec<Weakening>> {
    let of = |version: &Version| match version {
        Version::Text(text) => {
            let mut keys = Keys::new();
            flatten(&read(text)?, "", 0, &mut keys);
            Some(keys)
        }
        _ => Some(Keys::new()),
    };
    let before = of(&change.before).unwrap_or_default();
    let Some(after) = of(&change.after) else {
        return Err(vec![Weakening::new(
            &change.path,
            None,
            "It says how tests are run, and cannot be read any more.",
        )]);
    };
    Ok((before, after))
}

fn toml(text: &str) -> Option<Value> {
    toml::from_str(text).ok()
}

fn json(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok()
}

/// What of the keys that differ can change how tests are run.
fn differing(
    change: &ChangedFile,
    before: &Keys,
    after: &Keys,
    counts: impl Fn(&str) -> bool,
) -> Vec<Weakening> {
    let all: std::collections::BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    all.into_iter()
        .filter(|key| before.get(*key) != after.get(*key) && counts(key))
        .map(|key| {
            let says = match (before.get(key), after.get(key)) {
                (None, Some(now)) => {
                    format!("`{key} = {}` was added: it can change which tests run, and how.", shown(now))
                }
                (Some(was), None) => format!(
                    "`{key}` is gone; it was `{}`. It can change which tests run, and how.",
                    shown(was)
                ),
                (was, now) => {
                    let text = |v: Option<&String>| v.map(|v| shown(v)).unwrap_or_default();
                    format!(
                        "`{key}` is `{}` in place of `{}`: it can change which tests run, and how.",
                        text(now),
                        text(was)
                    )
                }
            };
            Weakening::new(&change.path, line_of(change, key), says)
        })
        .collect()
}

fn line_of(change: &ChangedFile, key: &str) -> Option<u32> {
    let last = key.rsplit('.').next()?;
    let at = change.after.text()?.lines().position(|line| {
        let line = line.trim_start().trim_start_matches(['"', '[']);
        line.starts_with(last)
    })?;
    u32::try_from(at + 1).ok()
}

/// A dependency that was taken from a registry and now comes from a place in the project.
fn is_replaced(before: &Keys, key: &str, kinds: &[&str]) -> bool {
    let Some((dependency, last)) = key.rsplit_once('.') else { return false };
    kinds.contains(&last)
        && before.keys().any(|known| known == dependency || known.starts_with(&format!("{dependency}.")))
}

pub fn cargo(change: &ChangedFile) -> Vec<Weakening> {
    let (before, after) = match keys(change, toml) {
        Ok(keys) => keys,
        Err(found) => return found,
    };
    let is_new = before.is_empty();
    let shrinks = |key: &str| {
        let list = |keys: &Keys| {
            keys.get(key).and_then(|v| serde_json::from_str::<Vec<String>>(v).ok()).unwrap_or_default()
        };
        list(&before).iter().any(|member| !list(&after).contains(member))
    };
    differing(change, &before, &after, |key| {
        let last = key.rsplit('.').next().unwrap_or(key);
        let first = key.split('.').next().unwrap_or(key);
        if key.split('.').any(|part| part.ends_with("dependencies")) {
            return is_replaced(&before, key, &["path", "git", "registry", "package", "registry-index"]);
        }
        match first {
            "package" => {
                matches!(last, "autotests" | "build")
                    || (!is_new && matches!(last, "autobins" | "links" | "workspace"))
            }
            "lib" | "bin" | "example" | "bench" => {
                matches!(last, "test" | "doctest")
                    || first == "lib" && !is_new && matches!(last, "harness" | "path")
            }
            "test" => matches!(last, "harness" | "test" | "required-features") || before.contains_key(key),
            "profile" => matches!(last, "debug-assertions" | "overflow-checks" | "panic"),
            "workspace" => match last {
                "members" => shrinks(key),
                "exclude" | "default-members" => !is_new,
                _ => false,
            },
            "features" | "lints" | "badges" => false,
            _ => !is_new,
        }
    })
}

pub fn cargo_settings(change: &ChangedFile) -> Vec<Weakening> {
    match keys(change, toml) {
        Ok((before, after)) => differing(change, &before, &after, |key| {
            let first = key.split('.').next().unwrap_or(key);
            let links = |v: &String| {
                v.contains("link-arg") && !["cfg", "debug", "overflow", "panic"].iter().any(|w| v.contains(w))
            };
            let harmless = matches!(key, "build.jobs" | "build.target-dir")
                || key.ends_with(".linker")
                || key.ends_with("rustflags")
                    && !before.contains_key(key)
                    && after.get(key).is_some_and(links);
            !harmless
                && !matches!(
                    first,
                    "net" | "http" | "registries" | "registry" | "term" | "future-incompat-report" | "cache"
                )
        }),
        Err(found) => found,
    }
}

pub fn toolchain(change: &ChangedFile) -> Vec<Weakening> {
    match keys(change, toml) {
        Ok((before, after)) => differing(change, &before, &after, |key| key.ends_with("path")),
        Err(_) => Vec::new(),
    }
}

pub fn pyproject(change: &ChangedFile) -> Vec<Weakening> {
    const SUITE: [&str; 10] = [
        "tool.pytest",
        "tool.coverage",
        "tool.tox",
        "tool.nox",
        "tool.hatch.envs",
        "tool.poe",
        "tool.taskipy",
        "tool.pdm.scripts",
        "tool.nose",
        "tool.rye.scripts",
    ];
    match keys(change, toml) {
        Ok((before, after)) => differing(change, &before, &after, |key| {
            SUITE.iter().any(|begin| key.starts_with(begin))
                || (!before.is_empty() && key.starts_with("build-system"))
        }),
        Err(found) => found,
    }
}

/// Scripts that a check could run.
fn is_check(script: &str) -> bool {
    ["test", "check", "ci", "verify", "valid", "e2e", "unit", "spec", "cover"]
        .iter()
        .any(|word| script.contains(word))
}

pub fn package(change: &ChangedFile) -> Vec<Weakening> {
    const SUITE: [&str; 12] = [
        "jest",
        "vitest",
        "mocha",
        "ava",
        "nyc",
        "c8",
        "tap",
        "overrides",
        "resolutions",
        "pnpm",
        "workspaces",
        "imports",
    ];
    let (before, after) = match keys(change, json) {
        Ok(keys) => keys,
        Err(found) => return found,
    };
    if before.is_empty() {
        return Vec::new();
    }
    differing(change, &before, &after, |key| {
        let first = key.split('.').next().unwrap_or(key);
        if first.ends_with("ependencies") {
            let local = |v: &String| {
                ["\"file:", "\"link:", "\"portal:", "\"./", "\"npm:"].iter().any(|begin| v.starts_with(begin))
            };
            return before.contains_key(key) && after.get(key).is_some_and(local);
        }
        match key.split_once('.') {
            Some(("scripts", script)) => {
                let was_there = before.contains_key(key);
                let around = script.strip_prefix("pre").or_else(|| script.strip_prefix("post"));
                is_check(script) && (was_there || around.is_some())
                    || around.is_some_and(|of| of == "install" && !was_there)
            }
            _ => SUITE.contains(&first),
        }
    })
}
