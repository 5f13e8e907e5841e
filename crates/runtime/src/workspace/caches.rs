//! Folders that tools make for themselves and mark as none of the project's: caches (`.pytest_cache`, `.ruff_cache`) and
//! environments (`uv` writes `.venv`). They are in no list of ignore rules, because they are new; without this they would be
//! delivered as work. Nothing can be hidden in one: what is not delivered is not there when the work is checked.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

/// What Python leaves beside every module it runs, without a mark.
const BYTECODE: &str = "__pycache__";
/// By which a cache is known, whatever made it.
const TAG: &str = "CACHEDIR.TAG";
const SIGNATURE: &[u8] = b"Signature: 8a477f597d28d172789f06886806bc55";
const RULES: &str = ".gitignore";
/// More than any mark.
const LONGEST: u64 = 4096;

/// The topmost of the folders that mark themselves, among files of a tree.
pub(super) fn among(root: &Path, files: &[String]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut marked: Vec<&str> = files
        .iter()
        .filter_map(|path| {
            let (folder, name) = path.rsplit_once('/')?;
            if let Some(at) = folder.split('/').position(|part| part == BYTECODE) {
                return folder
                    .match_indices('/')
                    .map(|(i, _)| i)
                    .chain([folder.len()])
                    .nth(at)
                    .and_then(|end| folder.get(..end));
            }
            let is_mark =
                name == TAG && is_tag(&root.join(path)) || name == RULES && ignores_all(&root.join(path));
            is_mark.then_some(folder)
        })
        .collect();
    marked.sort_unstable();
    for folder in marked {
        if !found.iter().any(|above| is_below(folder, above)) {
            found.push(folder.to_owned());
        }
    }
    found
}

/// Whether a path is a folder or lies in it.
pub(super) fn is_below(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn is_tag(path: &Path) -> bool {
    begins(path).is_some_and(|bytes| bytes.starts_with(SIGNATURE))
}

/// Whether an ignore file says nothing but that all of its folder is ignored, itself included.
fn ignores_all(path: &Path) -> bool {
    let Some(bytes) = begins(path) else { return false };
    let text = String::from_utf8_lossy(&bytes);
    let mut rules = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    rules.next() == Some("*") && rules.next().is_none()
}

fn begins(path: &Path) -> Option<Vec<u8>> {
    let file = File::open(path).ok().filter(|_| !path.is_symlink())?;
    let mut bytes = Vec::new();
    file.take(LONGEST).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_folder_is_left_out_if_it_marks_itself_whole_and_only_then() {
        let dir = tempfile::tempdir().unwrap();
        let tag = String::from_utf8_lossy(SIGNATURE).into_owned();
        let files = [
            (".gitignore", "*\n"),
            (".pytest_cache/.gitignore", "# Created by pytest automatically.\n*\n"),
            (".pytest_cache/v/x", "x"),
            (".venv/.gitignore", "*"),
            (".venv/lib/cache/CACHEDIR.TAG", &tag),
            ("sub/target/CACHEDIR.TAG", &tag),
            ("not/CACHEDIR.TAG", "something else"),
            ("keeps/.gitignore", "*\n!.gitignore\n"),
            ("logs/.gitignore", "*.log\n"),
            ("a/__pycache__/x.pyc", "x"),
            ("__pycache__/y/z.pyc", "x"),
        ];
        for (path, text) in files {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let paths: Vec<String> = files.iter().map(|(path, _)| (*path).to_owned()).collect();
        assert_eq!(
            among(dir.path(), &paths),
            [".pytest_cache", ".venv", "__pycache__", "a/__pycache__", "sub/target"]
        );
        assert!(is_below("a/b", "a") && is_below("a", "a") && !is_below("ab", "a"));
    }
}
