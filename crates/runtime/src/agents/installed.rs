//! Where a program is installed: what it must be able to read in order to run at all. It looks; it runs nothing.
//!
//! A program is often a link, a script, or a small part of a package. The link is followed, the interpreter of
//! a script is looked for in the same way, and
//! - a program inside a `node_modules` brings the whole outermost one,
//! - one inside a Python environment, or an interpreter with its `lib` beside `bin`, brings that,
//! - any other brings itself and the folder it lies in, but never the project's root, a home, or a folder that
//!   holds one of them: a script kept there is read alone.
//!
//! Absolute paths among the arguments may be read, too: whoever writes them means them to be used. So may the
//! folders of `PATH` and the toolchains they belong to: an agent that builds and tests needs what the user has.

use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// An interpreter may be a script itself; nobody means more than that.
const DEEPEST: usize = 4;

/// Variables that say where a toolchain is, and where below the home it is looked for unless they do.
const TOOLCHAINS: [(&str, Option<&str>); 11] = [
    (CARGO, Some(".cargo")),
    ("RUSTUP_HOME", Some(".rustup")),
    ("PYENV_ROOT", Some(".pyenv")),
    ("RBENV_ROOT", Some(".rbenv")),
    ("NVM_DIR", Some(".nvm")),
    ("VOLTA_HOME", Some(".volta")),
    ("SDKMAN_DIR", Some(".sdkman")),
    ("GOROOT", None),
    ("GOMODCACHE", None),
    ("JAVA_HOME", None),
    ("PLAYWRIGHT_BROWSERS_PATH", None),
];
const CARGO: &str = "CARGO_HOME";
/// What Go has downloaded is where it may look first: a command keeps what it unpacks in a place of its own.
pub const GO_DOWNLOADS: &str = "GOPROXY";

/// Where toolchains are that exist, by the variables that name them.
pub fn toolchains(
    variable: impl Fn(&str) -> Option<String>,
    home: Option<&Path>,
) -> Vec<(&'static str, PathBuf)> {
    let found = TOOLCHAINS.iter().filter_map(|(name, below)| {
        let named = variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
        Some((*name, named.or_else(|| Some(home?.join((*below)?)))?))
    });
    let mods = |name: &str, below: &str| variable(name).map(|path| Path::new(&path).join(below));
    let go = mods("GOMODCACHE", "")
        .or_else(|| mods("GOPATH", "pkg/mod"))
        .or_else(|| Some(home?.join("go/pkg/mod")));
    let go =
        go.map(|mods| (GO_DOWNLOADS, mods.join("cache/download"))).filter(|(_, path)| path.is_absolute());
    found.chain(go).filter(|(_, path)| path.is_dir()).collect()
}

/// What this machine looks like to the program.
pub struct Surroundings<'a> {
    pub root: &'a Path,
    pub home: Option<&'a Path>,
    /// The value of `PATH`.
    pub path: &'a str,
    /// As [`toolchains`] finds them.
    pub toolchains: Vec<(&'static str, PathBuf)>,
}

impl Surroundings<'_> {
    /// Everything that the command's words name and that running it needs.
    pub fn installed(&self, command: &[String]) -> Vec<PathBuf> {
        let mut found = Vec::new();
        if let Some(program) = command.first().and_then(|program| self.find(program)) {
            self.program(&program, &mut found, DEEPEST);
        }
        for word in command.iter().skip(1) {
            let path = Path::new(word);
            if path.is_absolute() && path.is_file() {
                self.program(path, &mut found, DEEPEST);
            } else if path.is_absolute() && path.is_dir() && !self.is_too_much(path) {
                found.push(path.to_owned());
            }
        }
        found.extend(self.toolchains());
        found.extend(self.git_settings());
        found.sort();
        found.dedup();
        found
    }

    /// The file that is started by this name.
    fn find(&self, program: &str) -> Option<PathBuf> {
        if program.contains('/') {
            return Some(PathBuf::from(program));
        }
        let folders = std::env::split_paths(self.path).filter(|folder| folder.is_absolute());
        folders.map(|folder| folder.join(program)).find(|file| is_executable(file))
    }

    fn program(&self, file: &Path, found: &mut Vec<PathBuf>, depth: usize) {
        let real = file.canonicalize().ok();
        for file in [Some(file), real.as_deref()].into_iter().flatten() {
            found.push(file.to_owned());
            found.extend(self.package(file));
        }
        if depth == 0 {
            return;
        }
        if let Some(interpreter) = interpreter(file).and_then(|name| self.find(&name)) {
            self.program(&interpreter, found, depth - 1);
        }
    }

    /// The folder that a program is a part of.
    fn package(&self, file: &Path) -> Option<PathBuf> {
        let modules = file.ancestors().filter(|dir| dir.file_name().is_some_and(|n| n == "node_modules"));
        if let Some(outermost) = modules.last() {
            return Some(outermost.to_owned());
        }
        let folder = file.parent()?;
        let prefix = folder.parent().filter(|_| folder.file_name().is_some_and(|name| name == "bin"));
        let whole =
            prefix.filter(|prefix| prefix.join("pyvenv.cfg").is_file() || is_interpreter(file, prefix));
        let whole = whole.filter(|prefix| !self.is_too_much(prefix));
        whole.or_else(|| (!self.is_too_much(folder)).then_some(folder)).map(Path::to_owned)
    }

    /// A folder that holds more than a program: nobody gets all of it.
    fn is_too_much(&self, folder: &Path) -> bool {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let folder = real(folder);
        let homes = self.home.map(|home| [home.to_owned(), home.join(".local"), home.join(".config")]);
        let mine = homes.into_iter().flatten().chain([self.root.to_owned(), std::env::temp_dir()]);
        mine.map(|path| real(&path)).any(|mine| mine.starts_with(&folder))
    }

    /// What a command of any name may read: the toolchains, and git's settings.
    pub fn tools(&self) -> Vec<PathBuf> {
        let mut found = self.toolchains();
        found.extend(self.git_settings());
        found.sort();
        found.dedup();
        found
    }

    /// What variables name and what is on `PATH`, with the compilers and libraries behind it; never what those keep
    /// passwords in.
    fn toolchains(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for (name, folder) in &self.toolchains {
            if *name == CARGO {
                found.extend(
                    ["bin", "registry", "git", "config.toml", "config"].map(|part| folder.join(part)),
                );
            } else if !self.is_too_much(folder) {
                found.push(folder.clone());
            }
        }
        for folder in
            std::env::split_paths(self.path).filter(|folder| folder.is_absolute() && folder.is_dir())
        {
            let prefix = folder.parent().filter(|prefix| !self.is_too_much(prefix));
            let whole =
                prefix.filter(|prefix| folder.ends_with(".pyenv/shims") || prefix.join("lib").is_dir());
            // Cargo's has its passwords.
            found.extend(whole.filter(|_| !folder.ends_with(".cargo/bin")).map(Path::to_owned));
            if !self.is_too_much(&folder) {
                found.push(folder);
            }
        }
        found
    }

    /// Git gives up if it sees settings that it may not read. Not what it keeps passwords in.
    fn git_settings(&self) -> impl Iterator<Item = PathBuf> {
        let names = [".gitconfig", ".config/git/config", ".config/git/ignore", ".config/git/attributes"];
        self.home.into_iter().flat_map(move |home| names.map(|name| home.join(name)))
    }
}

/// A node or a Python with its library beside it.
fn is_interpreter(file: &Path, prefix: &Path) -> bool {
    let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let known = ["node", "python", "ruby", "perl", "deno", "bun"];
    known.iter().any(|known| name.starts_with(known)) && prefix.join("lib").is_dir()
}

fn is_executable(file: &Path) -> bool {
    fs::metadata(file).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// What a script's first line names: a path, or a name to be looked up.
fn interpreter(file: &Path) -> Option<String> {
    let mut head = Vec::new();
    File::open(file).ok()?.take(512).read_to_end(&mut head).ok()?;
    let line = head.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let line = std::str::from_utf8(line).ok()?;
    let mut words = line.split_whitespace();
    let program = words.next()?;
    if Path::new(program).file_name().is_some_and(|name| name == "env") {
        return words.find(|word| !word.starts_with('-') && !word.contains('=')).map(str::to_owned);
    }
    Some(program.to_owned())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    struct Machine(tempfile::TempDir);

    impl Machine {
        fn new() -> Self {
            Self(tempfile::tempdir().unwrap())
        }

        fn at(&self, name: &str) -> PathBuf {
            self.0.path().canonicalize().unwrap().join(name)
        }

        fn file(&self, name: &str, text: &str) -> PathBuf {
            let path = self.at(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
            path
        }

        fn link(&self, name: &str, to: &str) {
            let path = self.at(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            symlink(to, path).unwrap();
        }

        /// Paths below the machine's folder that this command needs, git's settings aside.
        fn needs(&self, command: &[&str]) -> Vec<String> {
            let command: Vec<String> = command.iter().map(|word| (*word).to_owned()).collect();
            let path = format!(
                "{}:{}",
                self.at("home/.local/bin").display(),
                self.at("home/.nvm/v20/bin").display()
            );
            let (home, root) = (self.at("home"), self.at("home/project"));
            let around = Surroundings { root: &root, home: Some(&home), path: &path, toolchains: Vec::new() };
            let found = around.installed(&command);
            let below = found.iter().filter_map(|p| p.strip_prefix(self.at("")).ok());
            let below = below.map(|p| p.to_str().unwrap().to_owned());
            below.filter(|p| !p.contains("git")).collect()
        }
    }

    #[test]
    fn a_script_kept_in_the_projects_root_is_read_alone_and_one_in_a_folder_with_its_neighbours() {
        let machine = Machine::new();
        let root = machine.file("home/project/critic.sh", "#!/bin/sh\n");
        let deep = machine.file("home/project/tools/critic.sh", "#!/bin/sh\n");
        let home = machine.file("home/critic.sh", "#!/bin/sh\n");
        assert_eq!(machine.needs(&[root.to_str().unwrap()]), ["home/project/critic.sh"]);
        assert_eq!(
            machine.needs(&[deep.to_str().unwrap()]),
            ["home/project/tools", "home/project/tools/critic.sh"]
        );
        assert_eq!(machine.needs(&[home.to_str().unwrap()]), ["home/critic.sh"]);
        // Sabotage: a folder that holds the project would give it away, the store included.
        assert!(!machine.needs(&["sh", machine.at("home").to_str().unwrap()]).contains(&"home".to_owned()));
    }

    #[test]
    fn a_node_program_brings_its_packages_and_its_node() {
        let machine = Machine::new();
        machine.file("home/.nvm/v20/bin/node", "\x7fELF");
        fs::create_dir_all(machine.at("home/.nvm/v20/lib")).unwrap();
        machine.file("home/.nvm/v20/lib/node_modules/@g/cli/dist/index.js", "#!/usr/bin/env -S node --x\n");
        machine.link("home/.nvm/v20/bin/gemini", "../lib/node_modules/@g/cli/dist/index.js");
        let needs = machine.needs(&["gemini"]);
        for path in ["home/.nvm/v20/lib/node_modules", "home/.nvm/v20/bin/node", "home/.nvm/v20"] {
            assert!(needs.contains(&path.to_owned()), "{path}: {needs:?}");
        }
        machine.file("home/project/node_modules/a/node_modules/b/cli.js", "");
        let nested = machine.at("home/project/node_modules/a/node_modules/b/cli.js");
        assert!(machine.needs(&[nested.to_str().unwrap()]).contains(&"home/project/node_modules".to_owned()));
    }

    #[test]
    fn a_python_tool_brings_its_environment_and_not_all_of_local() {
        let machine = Machine::new();
        let python = machine.file("home/.pyenv/versions/3/bin/python3", "\x7fELF");
        fs::create_dir_all(machine.at("home/.pyenv/versions/3/lib")).unwrap();
        machine.file("home/.local/share/pipx/llm/pyvenv.cfg", "");
        machine.link("home/.local/share/pipx/llm/bin/python", python.to_str().unwrap());
        let shebang = format!("#!{}\n", machine.at("home/.local/share/pipx/llm/bin/python").display());
        let tool = machine.file("home/.local/share/pipx/llm/bin/llm", &shebang);
        machine.link("home/.local/bin/llm", tool.to_str().unwrap());
        fs::create_dir_all(machine.at("home/.local/lib")).unwrap();
        let needs = machine.needs(&["llm", "-m", "x"]);
        for path in ["home/.local/share/pipx/llm", "home/.pyenv/versions/3", "home/.local/bin"] {
            assert!(needs.contains(&path.to_owned()), "{path}: {needs:?}");
        }
        for path in ["home/.local", "home", "home/.local/share"] {
            assert!(!needs.contains(&path.to_owned()), "{path}: {needs:?}");
        }
    }

    #[test]
    fn the_users_toolchains_are_there_and_their_passwords_are_not() {
        let machine = Machine::new();
        machine.file("home/.cargo/bin/cargo", "");
        machine.file("home/.cargo/credentials.toml", "");
        machine.file("home/.rustup/settings.toml", "");
        machine.file("elsewhere/nvm/nvm.sh", "");
        machine.file("home/go/bin/go", "");
        machine.file("home/go/lib/x", "");
        machine.file("home/go/pkg/mod/cache/download/x", "");
        machine.file("home/project/bin/tool", "");
        let (home, root) = (machine.at("home"), machine.at("home/project"));
        let bins = [".cargo/bin", "go/bin", "project/bin"].map(|bin| home.join(bin));
        let path = std::env::join_paths(&bins).unwrap().into_string().unwrap();
        let nvm = machine.at("elsewhere/nvm").to_str().unwrap().to_owned();
        let toolchains = toolchains(|name| (name == "NVM_DIR").then(|| nvm.clone()), Some(&home));
        assert!(toolchains.contains(&(GO_DOWNLOADS, home.join("go/pkg/mod/cache/download"))));
        let found = Surroundings { root: &root, home: Some(&home), path: &path, toolchains }.toolchains();
        for wanted in [".cargo/bin", ".cargo/registry", ".rustup", "go", "project/bin", "../elsewhere/nvm"] {
            let wanted =
                wanted.strip_prefix("../").map_or_else(|| home.join(wanted), |beside| machine.at(beside));
            assert!(found.contains(&wanted), "{wanted:?}: {found:?}");
        }
        let holds = |path: &Path| found.iter().any(|given| path.starts_with(given));
        assert!(!holds(&home.join(".cargo/credentials.toml")), "{found:?}");
        assert!(!holds(&root.join("src")) && !holds(&home.join(".ssh")), "{found:?}");
    }

    #[test]
    fn paths_among_the_arguments_are_read_and_nothing_else_is() {
        let machine = Machine::new();
        let script = machine.file("elsewhere/critic.py", "");
        let other = machine.file("other/secret", "");
        let text = format!("cat {}", other.display());
        let needs = machine.needs(&["no-such-program", script.to_str().unwrap(), &text, "relative/x"]);
        assert_eq!(needs, ["elsewhere", "elsewhere/critic.py"]);
    }

    #[test]
    fn a_script_that_names_itself_ends() {
        let machine = Machine::new();
        let path = machine.at("home/loop");
        let looped = machine.file("home/loop", &format!("#!{}\n", path.display()));
        assert_eq!(machine.needs(&[looped.to_str().unwrap()]), ["home/loop"]);
    }
}
