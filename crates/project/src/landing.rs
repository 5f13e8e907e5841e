//! Where a file that is to be written really lies, and what that place is: git's own folder, which nothing of ours is
//! written into; or a file that programs run, or take orders from, without being asked. It looks; refusing is the caller's.

use std::path::{Component, Path, PathBuf};

/// As many links as the kernel follows.
const MOST_LINKS: usize = 40;

/// Folders whose files programs run or obey by themselves.
const OBEYED_FOLDERS: [&str; 24] = [
    ".cargo",
    ".circleci",
    ".claude",
    ".codex",
    ".config",
    ".cursor",
    ".devcontainer",
    ".direnv",
    ".gadfly",
    ".gemini",
    ".githooks",
    ".github",
    ".gitlab",
    ".husky",
    ".idea",
    ".local",
    ".opencode",
    ".ssh",
    ".vscode",
    ".yarn",
    ".zed",
    ".buildkite",
    ".woodpecker",
    ".forgejo",
];

/// Files of the same kind, wherever they lie. Besides, everything whose name begins with `.git`.
const OBEYED_FILES: [&str; 44] = [
    ".bash_login",
    ".bash_logout",
    ".bash_profile",
    ".bashrc",
    ".drone.yml",
    ".env",
    ".envrc",
    ".exrc",
    ".gdbinit",
    ".inputrc",
    ".justfile",
    ".lldbinit",
    ".mcp.json",
    ".mise.toml",
    ".netrc",
    ".npmrc",
    ".nvimrc",
    ".pnp.cjs",
    ".pre-commit-config.yaml",
    ".profile",
    ".pythonrc.py",
    ".tmux.conf",
    ".tool-versions",
    ".travis.yml",
    ".vimrc",
    ".wgetrc",
    ".curlrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".zlogin",
    ".zlogout",
    ".zprofile",
    ".zshenv",
    ".zshrc",
    "conftest.py",
    "gadfly.toml",
    "lefthook.json",
    "lefthook.toml",
    "lefthook.yaml",
    "lefthook.yml",
    "mise.toml",
    "opencode.json",
    "opencode.jsonc",
    "sitecustomize.py",
];

/// What the place of a file is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LandingKind {
    Ordinary,
    /// Programs run it, or do what it says, by themselves.
    Obeyed,
    /// In git's own folder.
    Git,
}

/// What lies where this path leads: by its name, and by where links and `..` lead it. Where the project itself lies says
/// nothing about what is in it.
pub fn kind(project: &Path, path: &Path) -> LandingKind {
    if is_git(path) {
        return LandingKind::Git;
    }
    let (path, real_path, real_project) = (project.join(path), real(path), real(project));
    let below = |dir: &Path, path: &Path| path.strip_prefix(dir).unwrap_or(path).to_owned();
    let obeyed = names_obeyed(&below(project, &path)) || names_obeyed(&below(&real_project, &real_path));
    if obeyed { LandingKind::Obeyed } else { LandingKind::Ordinary }
}

/// Git's own folder is where this path leads.
pub fn is_git(path: &Path) -> bool {
    let real = real(path);
    names_git(path) || names_git(&real) || is_in_repository(&real)
}

/// The file a path stands for: links are followed, also one whose target is not there yet, as far as there is
/// something. What cannot be followed stays as it is named.
pub fn real(path: &Path) -> PathBuf {
    let mut path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    for _ in 0..MOST_LINKS {
        match std::fs::read_link(&path) {
            Ok(next) => path = path.parent().unwrap_or(Path::new("/")).join(next),
            Err(_) => break,
        }
    }
    for ancestor in path.ancestors() {
        if let (Ok(found), Ok(rest)) = (ancestor.canonicalize(), path.strip_prefix(ancestor)) {
            // Joined with nothing it would end in a slash.
            return if rest.as_os_str().is_empty() { found } else { found.join(rest) };
        }
    }
    path
}

fn names(path: &Path) -> impl Iterator<Item = String> {
    path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(folded(&name.to_string_lossy())),
        _ => None,
    })
}

/// As file systems that take names for the same compare them: without case, and without what is not seen.
fn folded(name: &str) -> String {
    let unseen = |c: char| matches!(c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}');
    let seen: String = name.chars().filter(|c| !unseen(*c)).flat_map(char::to_lowercase).collect();
    seen.trim_end_matches(['.', ' ']).to_owned()
}

fn names_git(path: &Path) -> bool {
    names(path).any(|name| name == ".git" || name == "git~1")
}

/// A repository's own folder goes by any name: it is known by what lies in it.
fn is_in_repository(real: &Path) -> bool {
    real.ancestors()
        .skip(1)
        .any(|dir| dir.join("HEAD").exists() && dir.join("objects").is_dir() && dir.join("refs").is_dir())
}

fn names_obeyed(path: &Path) -> bool {
    let all: Vec<String> = names(path).collect();
    let Some((file, folders)) = all.split_last() else { return false };
    file.starts_with(".git")
        || OBEYED_FILES.contains(&file.as_str())
        || OBEYED_FOLDERS.contains(&file.as_str())
        || folders.iter().any(|folder| OBEYED_FOLDERS.contains(&folder.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_place_is_known_by_its_name_in_any_spelling() {
        let dir = tempfile::tempdir().unwrap();
        let of = |path: &str| kind(dir.path(), &dir.path().join(path));
        for git in [
            ".git/config",
            ".git",
            "sub/.git/hooks/pre-commit",
            ".GIT/config",
            ".git./config",
            "GIT~1/config",
            ".g\u{200c}it/config",
            "a/../.git/x",
            ".git/../.git/config",
        ] {
            assert_eq!(of(git), LandingKind::Git, "{git}");
        }
        for obeyed in [
            ".envrc",
            "sub/.envrc",
            ".MCP.json",
            "gadfly.toml",
            ".claude/settings.json",
            ".claude/agents/writer.md",
            ".github/workflows/ci.yml",
            ".husky/pre-commit",
            ".vscode/tasks.json",
            ".gadfly/journal.db",
            ".gitattributes",
            ".gitmodules",
            ".bashrc",
        ] {
            assert_eq!(of(obeyed), LandingKind::Obeyed, "{obeyed}");
        }
        for plain in ["paper.md", "git/config", "sub/.hidden.md", ".planning/plan.md", "x.git.md", "a.gitx/b"]
        {
            assert_eq!(of(plain), LandingKind::Ordinary, "{plain}");
        }
    }

    #[test]
    fn a_place_is_known_by_where_its_links_lead() {
        let dir = tempfile::tempdir().unwrap();
        let at = |path: &str| dir.path().join(path);
        fs::create_dir_all(at(".git/hooks")).unwrap();
        fs::create_dir_all(at("sub")).unwrap();
        let link = |to: &str, name: &str| std::os::unix::fs::symlink(to, at(name)).unwrap();
        link(".git/config", "notes.md");
        link(".git/hooks", "hooks");
        link("../hooks", "sub/further");
        link("not-yet/.envrc", "dangling.md");
        link("draft.md", "alias.md");
        for (path, expected) in [
            ("notes.md", LandingKind::Git),
            ("hooks/pre-commit", LandingKind::Git),
            ("hooks/../config", LandingKind::Git),
            ("sub/further/pre-commit", LandingKind::Git),
            ("dangling.md", LandingKind::Obeyed),
            ("alias.md", LandingKind::Ordinary),
        ] {
            assert_eq!(kind(dir.path(), &at(path)), expected, "{path}");
        }
    }

    #[test]
    fn where_the_project_lies_says_nothing_about_its_files() {
        let dir = tempfile::tempdir().unwrap();
        let project = dir.path().join(".claude/worktrees/one");
        fs::create_dir_all(&project).unwrap();
        assert_eq!(kind(&project, &project.join("paper.md")), LandingKind::Ordinary);
        assert_eq!(kind(&project, &project.join(".envrc")), LandingKind::Obeyed);
        assert_eq!(kind(&project, &project.join("../settings.json")), LandingKind::Obeyed);
    }

    #[test]
    fn a_repository_without_a_worktree_is_one_too() {
        let dir = tempfile::tempdir().unwrap();
        let bare = dir.path().join("mirror");
        fs::create_dir_all(bare.join("objects")).unwrap();
        fs::create_dir_all(bare.join("refs")).unwrap();
        assert_eq!(kind(dir.path(), &bare.join("config")), LandingKind::Ordinary);
        fs::write(bare.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        assert_eq!(kind(dir.path(), &bare.join("config")), LandingKind::Git);
        assert_eq!(kind(dir.path(), &bare.join("hooks/pre-receive")), LandingKind::Git);
    }
}
