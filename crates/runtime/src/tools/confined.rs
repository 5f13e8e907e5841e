//! What a command that a model chose may use: the sandbox of a worker, and an environment without secrets whose
//! home is empty.
//!
//! The user's home is out of reach, so that a command that writes to `~` would fail, or find there what another
//! put in its way. It gets a home and a folder for temporary files of its own instead. Toolchains that the user
//! has below the home are found by the variables that name them, and may be read but not written: a build finds
//! the packages that were fetched before, and what it fetches anew must go into the project. What leads to the
//! user's session (agents for keys, the desktop's bus) is taken away: the sandbox does not reach sockets.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use gadfly_agents::launcher::{Command, Most, Network, Sandbox};
use gadfly_engine::isolation::NOT_HELD;
use gadfly_engine::{Guard, Layer, Observation, Permission};
use gadfly_project::config::keys;

use crate::agents::installed::{self, Surroundings};
use crate::os::{landlock, remove_tree};
use crate::process_env::ProcessEnv;
use crate::sandbox::{self, Mounts, TCP_HOLDS};

/// Variables that name places in the user's home or session. None of them helps where there is neither.
const TAKEN_AWAY: [&str; 9] = [
    "HOME",
    "TMPDIR",
    "TMP",
    "TEMP",
    "CARGO_TARGET_DIR",
    "SSH_AUTH_SOCK",
    "SSH_AGENT_PID",
    "GPG_AGENT_INFO",
    "DBUS_SESSION_BUS_ADDRESS",
];
const GIT_SETTINGS: [&str; 2] = [".gitconfig", ".config/git/config"];

/// What a command gets.
#[derive(Clone, Debug)]
pub struct Confined {
    pub env: Vec<(String, String)>,
    /// None if this kernel can hold nobody.
    pub sandbox: Option<Sandbox>,
    /// What does not hold although it should.
    pub unheld: Option<String>,
    pub most: Most,
}

/// What a command is started in.
#[derive(Clone, Copy)]
pub struct ConfinementContext<'a> {
    pub process_env: &'a ProcessEnv,
    /// The user's project, of which nothing may be read outside the run's folder.
    pub project: &'a Path,
    pub dir: &'a Path,
    /// A folder with a home and a place for temporary files.
    pub own: &'a Path,
    pub network: Network,
}

impl ConfinementContext<'_> {
    /// Held to the ground of a worker.
    pub fn confined(&self, mounts: Mounts) -> io::Result<Confined> {
        make_own(self.own)?;
        let kernel = landlock();
        let mounts = Mounts { tmp: self.own.to_owned(), ..mounts };
        let mut sandbox = sandbox::policy(Permission::Write, &mounts);
        sandbox.read.extend(self.surroundings().tools());
        sandbox.network = self.network;
        // A kernel that cannot keep TCP away would refuse to start it at all.
        let unheld = match &kernel {
            Err(why) => Some(why.clone()),
            Ok(version) if *version < TCP_HOLDS && !(sandbox.apart && self.network == Network::None) => {
                sandbox.network = Network::Open;
                Some(format!("the network (version {version} of it knows no TCP; files are held)"))
            }
            Ok(_) => None,
        };
        let sandbox = kernel.is_ok().then_some(sandbox);
        Ok(Confined { env: self.env(), sandbox, unheld, most: most() })
    }

    /// Held to nothing: a person allowed it.
    pub fn unconfined(&self) -> Confined {
        let why = "a person let this command reach what the user reaches".to_owned();
        Confined { unheld: Some(why), most: most(), ..self.process_env.own_command(self.dir, true) }
    }

    fn variable(&self, name: &str) -> Option<&str> {
        self.process_env.env.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    fn home(&self) -> Option<&Path> {
        self.variable("HOME").map(Path::new).filter(|home| home.is_absolute())
    }

    fn surroundings(&self) -> Surroundings<'_> {
        Surroundings {
            root: self.project,
            home: self.home(),
            path: self.variable("PATH").unwrap_or_default(),
            toolchains: self.toolchains(),
        }
    }

    fn toolchains(&self) -> Vec<(&'static str, PathBuf)> {
        installed::toolchains(|name| self.variable(name).map(str::to_owned), self.home())
    }

    fn env(&self) -> Vec<(String, String)> {
        let taken = |name: &str| TAKEN_AWAY.contains(&name) || name.starts_with("XDG_");
        let mut env = self.process_env.command_env(self.dir);
        env.retain(|(name, _)| !taken(name));
        let text = |path: PathBuf| path.to_str().map(str::to_owned);
        let home = |below: &str| self.home().map(|home| home.join(below)).filter(|path| path.exists());
        for (name, path) in self.toolchains() {
            if name == installed::GO_DOWNLOADS {
                let users = env.iter().position(|(n, _)| n == name).map(|at| env.swap_remove(at).1);
                let others = users.unwrap_or_else(|| GO_PROXIES.to_owned());
                env.extend(text(path).map(|path| (name.to_owned(), format!("file://{path},{others}"))));
            } else if !env.iter().any(|(n, _)| n == name) {
                env.extend(text(path).map(|path| (name.to_owned(), path)));
            }
        }
        let settings = GIT_SETTINGS.iter().find_map(|name| home(name)).and_then(text);
        env.extend(settings.map(|path| ("GIT_CONFIG_GLOBAL".to_owned(), path)));
        for (name, below) in [("HOME", HOME), ("TMPDIR", TMP)] {
            env.extend(text(self.own.join(below)).map(|path| (name.to_owned(), path)));
        }
        env
    }
}

/// Go's own.
const GO_PROXIES: &str = "https://proxy.golang.org,direct";
const HOME: &str = "home";
const TMP: &str = "tmp";

/// How much of the end of a command's output is kept where that is enough.
pub const OUTPUT_KEPT: usize = 8 * 1024;

/// What becomes of a command's output. Both streams go the same way, in the order they were written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OutputSink {
    /// It is read as it comes.
    Read,
    /// Only its end is kept: a command that never stops writing is neither cut off nor remembered whole.
    EndKept,
}

impl Confined {
    /// A line for `sh -c`, in a folder, held so.
    pub fn shell(self, line: &str, dir: &Path, time: Option<Duration>, output: OutputSink) -> Command {
        let (merged, max_output) = match output {
            OutputSink::Read => ("exec sh -c \"$1\" 2>&1", usize::MAX),
            OutputSink::EndKept => ("exec sh -c \"$1\" >&2", OUTPUT_KEPT),
        };
        Command {
            program: "sh".to_owned(),
            args: ["-c", merged, "sh", line].map(str::to_owned).to_vec(),
            env: self.env,
            cwd: Some(dir.to_owned()),
            stdin: Vec::new(),
            time,
            max_output,
            sandbox: self.sandbox,
            most: self.most,
        }
    }

    /// What the record says of it before the first command.
    pub fn said(&self) -> Vec<Observation> {
        let note = |why: &String| Observation::Note { line: format!("{NOT_HELD}{why}") };
        let guards = self.sandbox.as_ref().filter(|sandbox| !sandbox.own).map(|sandbox| {
            let guard = Guard::new(Layer::Landlock, sandbox::reach(sandbox.network, sandbox.apart));
            Observation::Guarded { guards: vec![guard] }
        });
        self.unheld.iter().map(note).chain(guards).collect()
    }
}

/// As much as an agent's own program may use.
const fn most() -> Most {
    Most { memory_bytes: Some(keys::MAX_MEMORY_MB << 20), processes: Some(keys::MAX_PROCESSES) }
}

/// A command may have put something else in the place of its folders.
fn make_own(own: &Path) -> io::Result<()> {
    for folder in [own.to_owned(), own.join(HOME), own.join(TMP)] {
        if fs::symlink_metadata(&folder).is_ok_and(|meta| !meta.is_dir()) {
            remove_tree(&folder);
        }
        DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
    }
    Ok(())
}
