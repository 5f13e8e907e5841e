//! Folders of dependencies that git ignores: what a package manager put beside the manifest that names it. Work needs them
//! as it would in a clone of the user's own, so they are copied without being asked for. Build output is not among them:
//! it is made anew, and nothing that a worker could have planted in it is shared.

use std::fs;
use std::path::Path;

/// (the folder's name, what lies beside it if it is one)
const BESIDE: [(&str, &[&str]); 9] = [
    ("node_modules", &["package.json"]),
    ("bower_components", &["bower.json"]),
    ("__pypackages__", &["pyproject.toml"]),
    ("vendor", &["composer.json", "Gemfile", "go.mod"]),
    ("deps", &["mix.exs"]),
    ("Pods", &["Podfile"]),
    (".yarn", &["package.json"]),
    ("library", &["activate.R"]),
    ("packrat", &["DESCRIPTION"]),
];
/// Single files of the same kind: lock files that are not committed say which dependencies are there already.
const FILES: [&str; 14] = [
    ".pnp.cjs",
    ".pnp.loader.mjs",
    "Cargo.lock",
    "package-lock.json",
    "npm-shrinkwrap.json",
    "pnpm-lock.yaml",
    "yarn.lock",
    "bun.lock",
    "uv.lock",
    "poetry.lock",
    "Pipfile.lock",
    "go.sum",
    "Gemfile.lock",
    "composer.lock",
];
/// What lies in every virtual environment of Python, whatever it is called.
pub(super) const VENV: &str = "pyvenv.cfg";
/// A machine has room for copies of so much; more is for `link` or `prepare`.
const MOST_FILES: u64 = 400_000;
const MOST_BYTES: u64 = 4 << 30;

/// What is copied without being asked for.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Dependencies {
    pub copied: Vec<String>,
    pub submodules: Vec<String>,
    /// Too large to be copied unasked.
    pub too_large: Vec<String>,
}

/// Looks through what git ignores: files, and folders with a slash at their end. Waits for the disk.
pub(super) fn among(root: &Path, ignored: Vec<String>, submodules: Vec<String>) -> Dependencies {
    let mut found = Dependencies::default();
    let mut left = (MOST_FILES, MOST_BYTES);
    let mut fits = |path: &str| match size(&root.join(path), left) {
        Some((files, bytes)) => {
            left = (left.0 - files, left.1 - bytes);
            true
        }
        None => false,
    };
    let ignored = ignored.into_iter().filter(|path| is_one(root, path));
    for path in ignored.map(|path| path.trim_end_matches('/').to_owned()) {
        if fits(&path) { &mut found.copied } else { &mut found.too_large }.push(path);
    }
    for path in submodules {
        if fits(&path) { &mut found.submodules } else { &mut found.too_large }.push(path);
    }
    found
}

fn is_one(root: &Path, path: &str) -> bool {
    let Some(folder) = path.strip_suffix('/') else {
        return FILES.contains(&path.rsplit('/').next().unwrap_or(path));
    };
    let there = root.join(folder);
    // A link leads elsewhere: whoever made it names it in `link` or `copy`.
    if !fs::symlink_metadata(&there).is_ok_and(|meta| meta.is_dir()) {
        return false;
    }
    let name = folder.rsplit('/').next().unwrap_or(folder);
    let beside = there.parent().unwrap_or(root);
    let listed = BESIDE.iter().filter(|(of, _)| *of == name).flat_map(|(_, manifests)| *manifests);
    there.join(VENV).is_file() || listed.into_iter().any(|manifest| beside.join(manifest).is_file())
}

/// How many entries and bytes it has; none if that is more than there is room for.
fn size(folder: &Path, (most_files, most_bytes): (u64, u64)) -> Option<(u64, u64)> {
    let (mut files, mut bytes) = (0, 0_u64);
    let mut waiting = vec![folder.to_owned()];
    while let Some(path) = waiting.pop() {
        let Ok(meta) = fs::symlink_metadata(&path) else { continue };
        if meta.is_dir() {
            let entries = fs::read_dir(&path).into_iter().flatten().flatten();
            waiting.extend(entries.map(|entry| entry.path()));
        }
        files += 1;
        bytes = bytes.saturating_add(if meta.is_file() { meta.len() } else { 0 });
        if files > most_files || bytes > most_bytes {
            return None;
        }
    }
    Some((files, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependencies_are_told_by_the_manifest_beside_them_and_build_output_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        for file in [
            "package.json",
            "node_modules/a/index.js",
            "web/node_modules/b.js",
            "env/pyvenv.cfg",
            "target/debug/x",
            "dist/x.js",
            "vendor/x.php",
            "php/composer.json",
            "php/vendor/y.php",
            ".env",
            "php/Cargo.lock",
        ] {
            let path = root.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        std::os::unix::fs::symlink("/usr", root.join("php/node_modules")).unwrap();
        let ignored = [
            "node_modules/",
            "web/node_modules/",
            "env/",
            "target/",
            "dist/",
            "vendor/",
            "php/vendor/",
            "php/node_modules",
            ".env",
            "php/Cargo.lock",
        ];
        let found = among(root, ignored.map(str::to_owned).to_vec(), vec!["web".to_owned()]);
        assert_eq!(found.copied, ["node_modules", "env", "php/vendor", "php/Cargo.lock"]);
        assert_eq!(found.submodules, ["web"]);
        assert_eq!(found.too_large, [""; 0]);
        assert_eq!(size(&root.join("node_modules"), (2, 100)), None, "three entries");
        assert_eq!(size(&root.join("node_modules"), (3, 100)), Some((3, 1)));
    }
}
