//! The folder the demo is played in: a project, its scripts, and a small git repository of its own.
//!
//! The repository is written by hand: it needs no git program to be made, and no one's name.

use std::fs;
use std::io;
use std::path::Path;

const CONFIG: &str = include_str!("../../demo/gadfly.toml");

/// What the stage holds beside its configuration, by path.
const FILES: &[(&str, &str)] = &[
    ("approval.toml", include_str!("../../demo/revise/approval.toml")),
    ("revision.toml", include_str!("../../demo/revise/revision.toml")),
    ("halt.toml", include_str!("../../demo/revise/halt.toml")),
    ("overruled.toml", include_str!("../../demo/revise/overruled.toml")),
    ("unverified.toml", include_str!("../../demo/revise/unverified.toml")),
    ("deductions.md", include_str!("../../demo/score/deductions.md")),
    ("total.toml", include_str!("../../demo/score/total.toml")),
    ("lenses.toml", include_str!("../../demo/score/lenses.toml")),
    ("lenses-method.toml", include_str!("../../demo/score/lenses-method.toml")),
    ("lenses-policy.toml", include_str!("../../demo/score/lenses-policy.toml")),
    ("escalation.toml", include_str!("../../demo/score/escalation.toml")),
    ("editor.toml", include_str!("../../demo/score/editor.toml")),
    ("src/slug.sh", include_str!("../../demo/audit/src/slug.sh")),
    ("tests/slug.sh", include_str!("../../demo/audit/tests/slug.sh")),
    ("verified.toml", include_str!("../../demo/audit/verified.toml")),
    ("verified-fixer.toml", include_str!("../../demo/audit/verified-fixer.toml")),
    ("meddling.toml", include_str!("../../demo/audit/meddling.toml")),
    ("meddling-second.toml", include_str!("../../demo/audit/meddling-second.toml")),
    ("marker.toml", include_str!("../../demo/audit/marker.toml")),
    ("requirements.md", include_str!("../../demo/converge/requirements.md")),
    ("counted.toml", include_str!("../../demo/converge/counted.toml")),
    ("question.toml", include_str!("../../demo/converge/question.toml")),
    ("oscillation.toml", include_str!("../../demo/converge/oscillation.toml")),
    ("src/total.sh", include_str!("../../demo/goal/src/total.sh")),
    ("tests/total.sh", include_str!("../../demo/goal/tests/total.sh")),
    ("stuck.toml", include_str!("../../demo/goal/stuck.toml")),
    ("misled.toml", include_str!("../../demo/goal/misled.toml")),
    ("unnoticed.toml", include_str!("../../demo/goal/unnoticed.toml")),
    ("permissions.md", include_str!("../../demo/pipeline/permissions.md")),
    ("pipeline-analyst.toml", include_str!("../../demo/pipeline/analyst.toml")),
    ("pipeline-editor.toml", include_str!("../../demo/pipeline/editor.toml")),
];

/// A repository without a commit. The name is there so that a scene can make one.
const REPOSITORY: &[(&str, &str)] = &[
    (".git/HEAD", "ref: refs/heads/main\n"),
    (
        ".git/config",
        "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\
         [user]\n\tname = gadfly demo\n\temail = demo@localhost\n",
    ),
];
const REPOSITORY_FOLDERS: &[&str] = &[".git/objects", ".git/refs/heads"];

/// Makes the stage, or makes it anew where an earlier demo was played. Someone else's folder is left alone.
pub fn set_up(folder: &Path) -> Result<(), String> {
    let wrong = |e: io::Error| format!("the demo cannot be written there: {e}");
    if is_of_others(folder).map_err(wrong)? {
        return Err("the folder is not empty; name a new one with --keep".to_owned());
    }
    let bare = fs::symlink_metadata(folder.join(".git")).is_err();
    let repository = if bare { REPOSITORY } else { &[] };
    let folders = if bare { REPOSITORY_FOLDERS } else { &[] };
    write(folder, repository, folders).map_err(wrong)
}

fn write(folder: &Path, repository: &[(&str, &str)], folders: &[&str]) -> io::Result<()> {
    for name in folders {
        fs::create_dir_all(folder.join(name))?;
    }
    for (path, text) in [("gadfly.toml", CONFIG)].iter().chain(FILES).chain(repository) {
        let path = folder.join(path);
        if let Some(above) = path.parent() {
            fs::create_dir_all(above)?;
        }
        fs::write(path, text)?;
    }
    Ok(())
}

/// Whether there is something in it that no demo put there.
fn is_of_others(folder: &Path) -> io::Result<bool> {
    let mut entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(e) => return Err(e),
    };
    if entries.next().is_none() {
        return Ok(false);
    }
    let begins = CONFIG.lines().next().unwrap_or_default();
    let config = fs::read_to_string(folder.join("gadfly.toml")).unwrap_or_default();
    Ok(config.lines().next() != Some(begins))
}
