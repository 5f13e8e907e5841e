//! A program's own settings: what it obeys in its next call, and in the user's own sessions. A program may write its
//! state, and its settings lie among that; so they are looked at before a call and put back after it.
//!
//! Calls that run side by side share one look, taken before the first of them began: else one would take for the
//! user's what another has just planted. What is put back over is kept: the user may have written it meanwhile.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use serde_json::{Map, Value};

use crate::os::remove_tree;

/// The most of one file, and of all, that is remembered.
const LARGEST: u64 = 1 << 20;
const ALL: u64 = 32 << 20;
/// The most entries below one path.
const MOST: usize = 5_000;

/// One place of a program's settings.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ProgramSetting {
    pub path: PathBuf,
    /// Only the parts that say what is started and what is allowed: the rest of the file is the program's diary.
    pub servers_only: bool,
}

#[derive(Clone, PartialEq, Debug)]
enum SettingEntry {
    /// Its content, if it was not too much, and its mode.
    File(Option<Vec<u8>>, u64, u32),
    Link(PathBuf),
    Folder,
    Other,
}

/// What was there, by path; nothing if there was nothing.
type SettingsSnapshot = BTreeMap<PathBuf, SettingEntry>;

/// How many calls look at a setting just now, and what the first of them saw.
type Looks = HashMap<ProgramSetting, (usize, Arc<SettingsSnapshot>)>;

static LOOKS: LazyLock<Mutex<Looks>> = LazyLock::new(Mutex::default);

/// The settings as they were before a call.
pub struct ProgramSettings {
    seen: Vec<(ProgramSetting, Arc<SettingsSnapshot>)>,
}

impl ProgramSettings {
    /// Waits for the disk.
    pub fn before(settings: &[ProgramSetting]) -> Self {
        let mut looks = LOOKS.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = settings.iter().map(|setting| {
            let look = looks.entry(setting.clone()).or_insert_with(|| (0, Arc::new(look(&setting.path))));
            look.0 += 1;
            (setting.clone(), Arc::clone(&look.1))
        });
        Self { seen: seen.collect() }
    }

    /// Puts back what is different, and says what that was. What is in its place is kept in `aside`.
    pub fn put_back(&self, aside: &Path) -> Vec<String> {
        // One at a time: two would put back over each other.
        let _looks = LOOKS.lock().unwrap_or_else(PoisonError::into_inner);
        let mut changed = Vec::new();
        for (setting, before) in &self.seen {
            let now = look(&setting.path);
            if now == **before {
                continue;
            }
            if setting.servers_only {
                changed.extend(put_servers_back(&setting.path, before, &now, aside));
            } else {
                put_all_back(before, &now, aside, &mut changed);
            }
        }
        changed
    }
}

impl Drop for ProgramSettings {
    fn drop(&mut self) {
        let mut looks = LOOKS.lock().unwrap_or_else(PoisonError::into_inner);
        for (setting, _) in &self.seen {
            if let Some(look) = looks.get_mut(setting) {
                look.0 = look.0.saturating_sub(1);
                if look.0 == 0 {
                    looks.remove(setting);
                }
            }
        }
    }
}

fn look(path: &Path) -> SettingsSnapshot {
    let (mut seen, mut left, mut room) = (SettingsSnapshot::new(), vec![path.to_owned()], ALL);
    while let Some(path) = left.pop() {
        if seen.len() >= MOST {
            break;
        }
        let Ok(meta) = fs::symlink_metadata(&path) else { continue };
        let entry = if meta.is_symlink() {
            fs::read_link(&path).map_or(SettingEntry::Other, SettingEntry::Link)
        } else if meta.is_dir() {
            let below = fs::read_dir(&path).into_iter().flatten().flatten();
            left.extend(below.map(|entry| entry.path()));
            SettingEntry::Folder
        } else if meta.is_file() {
            let fits = meta.len() <= LARGEST.min(room);
            let bytes = if fits { read(&path) } else { None };
            room = room.saturating_sub(if fits { meta.len() } else { 0 });
            SettingEntry::File(bytes, meta.len(), meta.permissions().mode())
        } else {
            SettingEntry::Other
        };
        seen.insert(path, entry);
    }
    seen
}

fn read(path: &Path) -> Option<Vec<u8>> {
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let mut open = OpenOptions::new();
    open.read(true).custom_flags(i32::try_from(flags.bits()).ok()?);
    let mut bytes = Vec::new();
    open.open(path).ok()?.take(LARGEST + 1).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

fn put_all_back(before: &SettingsSnapshot, now: &SettingsSnapshot, aside: &Path, changed: &mut Vec<String>) {
    // From the inside out, so that a folder is empty when its turn comes.
    for (path, entry) in now.iter().rev().filter(|(path, entry)| before.get(*path) != Some(*entry)) {
        keep(path, entry, aside);
        let same_folder =
            matches!((entry, before.get(path)), (SettingEntry::Folder, Some(SettingEntry::Folder)));
        if !same_folder {
            remove_tree(path);
        }
        if !before.contains_key(path) {
            changed.push(format!("{}, which is new; removed", path.display()));
        }
    }
    for (path, entry) in before.iter().filter(|(path, entry)| now.get(*path) != Some(*entry)) {
        let done = match restore(path, entry) {
            Ok(()) => "put back".to_owned(),
            Err(error) => format!("not put back: {error}"),
        };
        changed.push(format!("{}; {done}", path.display()));
    }
}

fn restore(path: &Path, entry: &SettingEntry) -> io::Result<()> {
    match entry {
        SettingEntry::File(Some(bytes), _, mode) => write(path, bytes, *mode),
        SettingEntry::Link(to) => symlink(to, path),
        SettingEntry::Folder => fs::create_dir_all(path),
        SettingEntry::File(None, ..) | SettingEntry::Other => {
            Err(io::Error::other("it was too large to be remembered"))
        }
    }
}

/// Not through a link, and not into a file that somebody holds open.
fn write(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    remove_tree(path);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(bytes)?;
    file.set_permissions(fs::Permissions::from_mode(mode & 0o7777))
}

/// What is about to be replaced, as far as it is a file that fits.
fn keep(path: &Path, entry: &SettingEntry, aside: &Path) {
    if let SettingEntry::File(Some(bytes), ..) = entry {
        let name = path.to_string_lossy().trim_start_matches('/').replace('/', "%");
        let _ = write(&aside.join(name), bytes, 0o600);
    }
}

/// What a program starts and is allowed, as `~/.claude.json` has it, for all projects and for each.
const SERVERS: [&str; 6] = [
    "mcpServers",
    "allowedTools",
    "hasTrustDialogAccepted",
    "enabledMcpjsonServers",
    "enableAllProjectMcpServers",
    "hooks",
];

fn put_servers_back(
    path: &Path,
    before: &SettingsSnapshot,
    now: &SettingsSnapshot,
    aside: &Path,
) -> Option<String> {
    let object = |seen: &SettingsSnapshot| match seen.get(path) {
        Some(SettingEntry::File(Some(bytes), ..)) => serde_json::from_slice::<Map<String, Value>>(bytes).ok(),
        _ => None,
    };
    let (old, Some(mut new)) = (object(before).unwrap_or_default(), object(now)) else { return None };
    let mut changed = restored(&old, &mut new);
    let none = Map::new();
    if let Some(projects) = new.get_mut("projects").and_then(Value::as_object_mut) {
        for (name, project) in projects {
            let old = old.get("projects").and_then(|projects| projects.get(name)).and_then(Value::as_object);
            let project = project.as_object_mut();
            changed |= project.is_some_and(|project| restored(old.unwrap_or(&none), project));
        }
    }
    let entry = now.get(path).filter(|_| changed)?;
    keep(path, entry, aside);
    let SettingEntry::File(_, _, mode) = entry else { return None };
    let bytes = serde_json::to_vec_pretty(&new).ok()?;
    let done = match write(path, &bytes, *mode) {
        Ok(()) => "put back".to_owned(),
        Err(error) => format!("not put back: {error}"),
    };
    Some(format!("what {} starts and allows; {done}", path.display()))
}

/// Whether anything was different; nothing and an empty value are the same.
fn restored(old: &Map<String, Value>, new: &mut Map<String, Value>) -> bool {
    let empty = |value: &Value| match value {
        Value::Null | Value::Bool(false) => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(items) => items.is_empty(),
        _ => false,
    };
    let mut changed = false;
    for key in SERVERS {
        let (was, is) = (old.get(key).filter(|v| !empty(v)), new.get(key).filter(|v| !empty(v)));
        if was == is {
            continue;
        }
        changed = true;
        match was.cloned() {
            Some(was) => new.insert(key.to_owned(), was),
            None => new.remove(key),
        };
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(path: &Path) -> ProgramSetting {
        ProgramSetting { path: path.to_owned(), servers_only: false }
    }

    #[test]
    fn what_changed_is_put_back_and_what_is_new_is_gone_and_both_are_kept() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::create_dir_all(at("commands")).unwrap();
        for (name, text) in [("settings.json", "{}"), ("commands/a.md", "a"), ("commands/b.md", "b")] {
            fs::write(at(name), text).unwrap();
        }
        symlink("settings.json", at("CLAUDE.md")).unwrap();
        let names = ["settings.json", "settings.local.json", "commands", "CLAUDE.md", "hooks"];
        let settings: Vec<ProgramSetting> = names.iter().map(|name| whole(&at(name))).collect();
        let before = ProgramSettings::before(&settings);
        assert_eq!(before.put_back(&at("aside")), [""; 0]);
        fs::write(at("settings.json"), "{\"hooks\": 1}").unwrap();
        fs::write(at("settings.local.json"), "{}").unwrap();
        fs::write(at("commands/new.md"), "new").unwrap();
        fs::remove_file(at("commands/a.md")).unwrap();
        fs::set_permissions(at("commands/b.md"), fs::Permissions::from_mode(0o755)).unwrap();
        fs::remove_file(at("CLAUDE.md")).unwrap();
        fs::write(at("CLAUDE.md"), "obey").unwrap();
        fs::create_dir_all(at("hooks/deep")).unwrap();
        fs::write(at("hooks/deep/x.sh"), "evil").unwrap();
        let changed = before.put_back(&at("aside"));
        assert_eq!(changed.len(), 9, "{changed:#?}");
        assert_eq!(fs::read_to_string(at("settings.json")).unwrap(), "{}");
        assert_eq!(fs::read_to_string(at("commands/a.md")).unwrap(), "a");
        assert_eq!(fs::read_link(at("CLAUDE.md")).unwrap(), Path::new("settings.json"));
        for name in ["settings.local.json", "commands/new.md", "hooks"] {
            assert!(!at(name).exists(), "{name}");
        }
        assert_eq!(before.put_back(&at("aside")), [""; 0]);
        let kept: Vec<String> = fs::read_dir(at("aside"))
            .unwrap()
            .map(|e| fs::read_to_string(e.unwrap().path()).unwrap())
            .collect();
        assert!(kept.contains(&"evil".to_owned()) && kept.contains(&"{\"hooks\": 1}".to_owned()), "{kept:?}");
    }

    #[test]
    fn calls_side_by_side_share_the_look_before_the_first() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("settings.json");
        fs::write(&file, "mine").unwrap();
        let first = ProgramSettings::before(&[whole(&file)]);
        fs::write(&file, "planted").unwrap();
        let second = ProgramSettings::before(&[whole(&file)]);
        assert_eq!(first.put_back(&dir.path().join("aside")).len(), 1);
        drop(first);
        assert_eq!(second.put_back(&dir.path().join("aside")), [""; 0]);
        drop(second);
        assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
        // Whoever comes when all are gone looks anew.
        fs::write(&file, "mine, later").unwrap();
        let third = ProgramSettings::before(&[whole(&file)]);
        assert_eq!(third.put_back(&dir.path().join("aside")), [""; 0]);
    }

    #[test]
    fn of_a_diary_only_what_it_starts_and_allows_is_put_back() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join(".claude.json");
        fs::write(
            &file,
            r#"{"starts": 1, "mcpServers": {"a": {}}, "projects": {"/p": {"allowedTools": []}}}"#,
        )
        .unwrap();
        let before = ProgramSettings::before(&[ProgramSetting { path: file.clone(), servers_only: true }]);
        fs::write(
            &file,
            r#"{"starts": 2, "mcpServers": {"a": {}}, "projects": {"/p": {}, "/new": {"x": 1}}}"#,
        )
        .unwrap();
        assert_eq!(before.put_back(&dir.path().join("aside")), [""; 0], "its own diary");
        fs::write(
            &file,
            r#"{"starts": 3, "mcpServers": {"evil": {}}, "projects": {"/p": {"hasTrustDialogAccepted": true}}}"#,
        )
        .unwrap();
        assert_eq!(before.put_back(&dir.path().join("aside")).len(), 1);
        let now: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        assert_eq!(now, serde_json::json!({"starts": 3, "mcpServers": {"a": {}}, "projects": {"/p": {}}}));
    }
}
