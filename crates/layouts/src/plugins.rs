//! Where Claude Code keeps the plugins a user installed: by its own list, else by the folders it uses. Only looked up;
//! nothing of a plugin is run.

use std::path::{Path, PathBuf};

use serde_json::Value;

use gadfly_project::file;

const MOST_ENTRIES: usize = 500;

/// The folders of an installed plugin, the one to be used first. `claude` is the user's `.claude`.
pub fn installed(claude: &Path, plugin: &str, project: &Path) -> Vec<PathBuf> {
    let home = claude.join("plugins");
    let switched = json(&claude.join("settings.json")).and_then(|s| s.get("enabledPlugins").cloned());
    let is_off =
        |key: &str| switched.as_ref().and_then(|s| s.get(key)).and_then(Value::as_bool) == Some(false);
    let mut found = Vec::new();
    let listed = json(&home.join("installed_plugins.json"));
    let listed = listed.as_ref().and_then(|l| l.get("plugins")).and_then(Value::as_object);
    let mut off = false;
    for (key, value) in listed.into_iter().flatten().filter(|(key, _)| key.split('@').next() == Some(plugin))
    {
        if is_off(key) {
            off = true;
            continue;
        }
        // One installation, or a list with one for each scope.
        let each: Vec<&Value> = value.as_array().map_or_else(|| vec![value], |all| all.iter().collect());
        let (here, others): (Vec<&Value>, Vec<&Value>) = each.into_iter().partition(|one| {
            one.get("projectPath").and_then(Value::as_str).is_some_and(|path| Path::new(path) == project)
        });
        let others = others.into_iter().filter(|one| one.get("projectPath").is_none());
        let paths = here.into_iter().chain(others).filter_map(|one| one.get("installPath")?.as_str());
        found.extend(paths.map(|path| claude.join(path)));
    }
    if off && found.is_empty() {
        return found;
    }
    // The list may name a folder that was never filled.
    let mut versions: Vec<PathBuf> =
        folders(&home.join("cache")).iter().flat_map(|m| folders(&m.join(plugin))).collect();
    versions.sort_by_key(|path| std::cmp::Reverse(version(path)));
    found.extend(versions);
    for shop in folders(&home.join("marketplaces"))
        .into_iter()
        .chain(folders(&home.join("repos")).iter().flat_map(|o| folders(o)))
    {
        found.extend([shop.join("plugins").join(plugin), shop]);
    }
    found.push(home.join(plugin));
    let is_it = |dir: &PathBuf| {
        let manifest = json(&dir.join(".claude-plugin/plugin.json"));
        let named = manifest.as_ref().and_then(|m| m.get("name")).and_then(Value::as_str);
        named.map_or_else(|| dir.ends_with(plugin) && dir.is_dir(), |name| name == plugin)
    };
    let mut seen = Vec::new();
    for dir in found.into_iter().filter(is_it) {
        if !seen.contains(&dir) {
            seen.push(dir);
        }
    }
    seen
}

fn json(path: &Path) -> Option<Value> {
    serde_json::from_str(&file::read_text(path).ok()?).ok()
}

fn folders(dir: &Path) -> Vec<PathBuf> {
    let Ok(found) = std::fs::read_dir(dir) else { return Vec::new() };
    let mut all: Vec<PathBuf> =
        found.take(MOST_ENTRIES).flatten().map(|e| e.path()).filter(|path| path.is_dir()).collect();
    all.sort();
    all
}

/// `0.10.2` after `0.9.0`.
fn version(path: &Path) -> Vec<u64> {
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    name.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn home(files: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text.replace("HOME", dir.path().to_str().unwrap())).unwrap();
        }
        dir
    }

    fn names(dir: &tempfile::TempDir) -> Vec<String> {
        let found = installed(dir.path(), "flow", Path::new("/p"));
        found.iter().map(|p| p.strip_prefix(dir.path()).unwrap().display().to_string()).collect()
    }

    const IT: &str = r#"{"name": "flow"}"#;

    #[test]
    fn the_list_counts_first_then_the_newest_copy_then_the_marketplace() {
        let dir = home(&[
            (
                "plugins/installed_plugins.json",
                r#"{"version": 2, "plugins": {"other@m": [], "flow@m": [{"scope": "project", "projectPath": "/q", "installPath": "HOME/plugins/cache/m/flow/0.2.0"}, {"scope": "user", "installPath": "HOME/plugins/cache/m/flow/0.9.0"}]}}"#,
            ),
            ("plugins/cache/m/flow/0.9.0/.claude-plugin/plugin.json", IT),
            ("plugins/cache/m/flow/0.10.0/.claude-plugin/plugin.json", IT),
            ("plugins/cache/m/flow/0.2.0/.claude-plugin/plugin.json", IT),
            ("plugins/marketplaces/m/.claude-plugin/plugin.json", IT),
            ("plugins/marketplaces/n/.claude-plugin/plugin.json", r#"{"name": "another"}"#),
        ]);
        let cache = |v: &str| format!("plugins/cache/m/flow/{v}");
        assert_eq!(
            names(&dir),
            [&cache("0.9.0"), &cache("0.10.0"), &cache("0.2.0"), "plugins/marketplaces/m"]
        );
    }

    #[test]
    fn an_entry_without_files_is_passed_over_and_a_plugin_that_is_off_is_not_used() {
        let list = r#"{"plugins": {"flow@m": {"installPath": "HOME/plugins/cache/m/flow/1"}}}"#;
        let files = [
            ("plugins/installed_plugins.json", list),
            ("plugins/marketplaces/m/.claude-plugin/plugin.json", IT),
        ];
        assert_eq!(names(&home(&files)), ["plugins/marketplaces/m"]);
        let off = ("settings.json", r#"{"enabledPlugins": {"flow@m": false}}"#);
        assert_eq!(names(&home(&[files[0], files[1], off])), Vec::<String>::new());
        assert_eq!(names(&home(&[])), Vec::<String>::new());
    }
}
