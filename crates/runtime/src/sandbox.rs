//! What the processes of a call may touch, and what holds them to it. It says so; the supervisor enforces it.
//!
//! Everybody reads the system's folders and the place of the call. A worker writes its own tree; whoever may
//! only read writes a scratch folder. Both have an empty folder for temporary files. Nobody reaches the user's
//! project, the store, the common `/tmp` or a home: an agent's own program and state are added by the agent.

use std::fs;
use std::path::PathBuf;

use gadfly_agents::{Agent, Network, Sandbox, Unheld};
use gadfly_engine::tool::policy::OwnTools;
use gadfly_engine::{Guard, Layer, Permission};

use crate::os::{apart, landlock};

/// What programs and libraries are made of, wherever a system keeps it; what does not exist is left out later.
/// Of `/run` only what names are resolved with: the rest of it is sockets and secrets.
const SYSTEM: [&str; 26] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/etc",
    "/opt",
    "/nix/store",
    "/gnu/store",
    "/snap",
    "/proc",
    "/sys",
    "/run/systemd/resolve",
    "/run/resolvconf",
    "/run/NetworkManager",
    "/run/current-system",
    "/run/booted-system",
    "/run/opengl-driver",
    "/var/lib/ca-certificates",
    "/var/lib/dbus/machine-id",
    "/var/lib/texmf",
    "/var/lib/gems",
    "/var/lib/ghc",
    "/var/cache/fontconfig",
];
/// Devices without a content of their own. Disks and the like are not among what is read, either.
const READ_DEVICES: [&str; 2] = ["/dev/random", "/dev/urandom"];
const WRITE_DEVICES: [&str; 3] = ["/dev/null", "/dev/zero", "/dev/full"];
/// What the names of terminals in `/dev` begin with, the user's and the machine's. Nobody gets one of them: a
/// command has pseudo-terminals of its own, or none.
const TERMINALS: [&str; 10] =
    ["tty", "pts", "ptmx", "pty", "console", "vcs", "hvc", "xvc", "sclp_line", "lp"];
/// Programs that a worker starts share memory here, in rooms of its own with nobody else; a reader has no need to
/// leave anything in it.
const SHARED_MEMORY: &str = "/dev/shm";

/// The first version of Landlock that knows of TCP.
pub const TCP_HOLDS: u32 = 4;

/// The folders that a call sees.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Mounts {
    /// The tree it works on, from its top.
    pub tree: PathBuf,
    /// The folder that a reader may write to.
    pub scratch: Option<PathBuf>,
    pub tmp: PathBuf,
    /// The user's own files that the tree has links to: there to be read.
    pub linked: Vec<PathBuf>,
}

/// The sandbox of a call. The agent adds what its program needs, and the network.
pub fn policy(permission: Permission, mounts: &Mounts) -> Sandbox {
    let paths = |names: &[&str]| names.iter().map(PathBuf::from).collect::<Vec<_>>();
    let mut read = paths(&SYSTEM);
    read.extend(paths(&READ_DEVICES));
    read.extend(mounts.linked.iter().cloned());
    let mut write = paths(&WRITE_DEVICES);
    write.push(mounts.tmp.clone());
    match permission {
        Permission::Write => {
            write.push(mounts.tree.clone());
            write.push(PathBuf::from(SHARED_MEMORY));
        }
        Permission::ReadOnly => {
            read.push(mounts.tree.clone());
            write.extend(mounts.scratch.clone());
        }
    }
    Sandbox { read, write, apart: apart().is_ok(), ..Sandbox::default() }
}

/// What holds a command of the user's own: everything is the user's to use but the terminals. What is made in
/// the root of the file system after the start is out of its reach. None if this kernel can hold nobody.
pub fn without_terminals(rooms: bool) -> Option<Sandbox> {
    kernel().ok()?;
    let below = |folder: &str, but: fn(&str) -> bool| -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let kept = entries.filter(|entry| !entry.file_name().to_str().is_some_and(but));
        kept.map(|entry| entry.path()).collect()
    };
    let mut write = below("/", |name| name == "dev");
    // Links lead out of it, and what they lead to is there by itself.
    let devices = below("/dev", |name| TERMINALS.iter().any(|begin| name.starts_with(begin)));
    write.extend(devices.into_iter().filter(|device| !device.is_symlink()));
    let apart = rooms && apart().is_ok();
    Some(Sandbox { write, network: Network::Open, apart, own: true, ..Sandbox::default() })
}

/// What of the network is asked for, as far as this kernel can tell connecting from listening.
pub fn network(connects: bool, listens: bool) -> Network {
    match (connects, listens) {
        (false, _) => Network::None,
        (true, false) if tcp_holds() => Network::Out,
        (true, _) => Network::Open,
    }
}

fn tcp_holds() -> bool {
    landlock().is_ok_and(|version| version >= TCP_HOLDS)
}

/// The guards between a call and what the agent may not do.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Enforcement {
    /// In the order of the layers, only those that really hold.
    pub guards: Vec<Guard>,
    /// The call's processes are to be held in a sandbox of ours.
    pub sandboxed: bool,
    /// Why there is no such sandbox although there should be.
    pub unheld: Option<String>,
}

/// The call that guards are asked for, besides the agent itself.
#[derive(Clone, Copy, Debug)]
pub struct EnforcementRequest<'a> {
    pub permission: Permission,
    pub network: Network,
    /// What is compared before and after, if something is.
    pub compared: Option<&'a str>,
    /// What a goal's policy keeps from it.
    pub own: Option<&'a OwnTools>,
}

/// Why an agent cannot be held to what a goal's policy keeps from it.
pub fn unheld(agent: &dyn Agent, own: &OwnTools) -> Option<Unheld> {
    agent.keeps_from(own, agent.can_be_sandboxed() && kernel().is_ok()).err()
}

/// Can its model have it run commands, under this policy, that reach the network?
pub fn has_networked_commands(agent: &dyn Agent, own: &OwnTools) -> bool {
    agent.has_networked_commands(own, agent.can_be_sandboxed() && kernel().is_ok())
}

/// `kernel` says why the kernel cannot hold processes, if it cannot.
pub fn enforcement(
    agent: &dyn Agent,
    request: EnforcementRequest<'_>,
    kernel: Result<(), String>,
) -> Enforcement {
    let kernel = if agent.can_be_sandboxed() { Some(kernel) } else { None };
    let sandboxed = matches!(kernel, Some(Ok(())));
    let mut guards = agent.guards(request.permission, sandboxed);
    // Where it could not be held, nothing is begun.
    let kept = request.own.and_then(|own| agent.keeps_from(own, sandboxed).ok()).unwrap_or_default();
    guards.retain(|guard| !kept.iter().any(|kept| kept.layer == guard.layer));
    guards.extend(kept);
    if sandboxed {
        guards.push(Guard::new(Layer::Landlock, reach(request.network, apart().is_ok())));
    }
    guards.extend(request.compared.map(|what| Guard::new(Layer::Compared, what)));
    guards.sort_by_key(|guard| guard.layer);
    Enforcement { guards, sandboxed, unheld: kernel.and_then(Result::err) }
}

/// How far a sandbox reaches. Of the network Landlock knows TCP only; rooms of its own keep everything away.
pub fn reach(network: Network, apart: bool) -> String {
    let network = match network {
        Network::None if apart => "no network but a loopback of its own",
        Network::None => "no TCP, other protocols open",
        Network::Out => "TCP out only",
        Network::FreePorts => "TCP out, listening on free ports",
        Network::Open => "TCP open",
    };
    let terminals = if apart { "" } else { "; no pseudo-terminals" };
    format!("files; {network}{terminals}")
}

/// Whether this machine's kernel can hold processes.
pub fn kernel() -> Result<(), String> {
    landlock().map(drop)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use futures_util::future::BoxFuture;
    use gadfly_agents::{Call, CallError, CallReply, Link};

    use super::*;

    const PROJECT: &str = "/home/u/project";

    fn mounts() -> Mounts {
        let at = |name: &str| Path::new(PROJECT).join(".gadfly/runs/r").join(name);
        Mounts {
            tree: at("work/run-1"),
            scratch: Some(at("work/run-1/scratch")),
            tmp: at("work/run-1.tmp"),
            linked: vec![Path::new(PROJECT).join("node_modules")],
        }
    }

    fn may(paths: &[PathBuf], path: &str) -> bool {
        paths.iter().any(|allowed| Path::new(path).starts_with(allowed))
    }

    /// A path, and who may read and write it: reader reads, reader writes, worker reads, worker writes.
    const TABLE: [(&str, [bool; 4]); 27] = [
        ("/usr/bin/git", [true, false, true, false]),
        ("/etc/ssl/certs/ca.pem", [true, false, true, false]),
        ("/proc/self/status", [true, false, true, false]),
        ("/run/systemd/resolve/stub-resolv.conf", [true, false, true, false]),
        ("/run/user/1000/bus", [false; 4]),
        ("/run/secrets/token", [false; 4]),
        ("/dev/null", [true; 4]),
        ("/dev/pts/3", [false; 4]),
        ("/dev/tty", [false; 4]),
        ("/dev/ptmx", [false; 4]),
        ("/dev/console", [false; 4]),
        ("/dev/urandom", [true, false, true, false]),
        ("/dev/sda", [false; 4]),
        ("/dev/shm/sem.x", [false, false, true, true]),
        ("/tmp/anything", [false; 4]),
        ("/var/tmp/anything", [false; 4]),
        ("/home/u/.ssh/id_ed25519", [false; 4]),
        ("/home/u/.bashrc", [false; 4]),
        ("/home/u/project/src/lib.rs", [false; 4]),
        ("/home/u/project/.git/config", [false; 4]),
        ("/home/u/project/node_modules/x/index.js", [true, false, true, false]),
        ("/home/u/project/.gadfly/journal.db", [false; 4]),
        ("/home/u/project/.gadfly/runs/r/work/run-2/a.txt", [false; 4]),
        ("/home/u/project/.gadfly/runs/r/work/run-1/a.txt", [true, false, true, true]),
        ("/home/u/project/.gadfly/runs/r/work/run-1/.git/config", [true, false, true, true]),
        ("/home/u/project/.gadfly/runs/r/work/run-1/scratch/x", [true, true, true, true]),
        ("/home/u/project/.gadfly/runs/r/work/run-1.tmp/x", [true, true, true, true]),
    ];

    #[test]
    fn who_may_touch_what() {
        let [reader, worker] = [Permission::ReadOnly, Permission::Write].map(|p| policy(p, &mounts()));
        for (path, expected) in TABLE {
            let found = [&reader, &worker].map(|sandbox| {
                let writes = may(&sandbox.write, path);
                [may(&sandbox.read, path) || writes, writes]
            });
            assert_eq!(found.concat(), expected, "{path}");
        }
        assert_eq!([reader.network, worker.network], [Network::None; 2], "that is the agent's to ask for");
    }

    struct Program(bool);

    impl Agent for Program {
        fn call(&self, _: Call, _: Link) -> BoxFuture<'_, Result<CallReply, CallError>> {
            Box::pin(std::future::ready(Err(CallError::Cancelled { sent: false })))
        }

        fn can_be_sandboxed(&self) -> bool {
            self.0
        }

        fn guards(&self, _: Permission, sandboxed: bool) -> Vec<Guard> {
            vec![Guard::new(Layer::OwnMode, if sandboxed { "inside" } else { "alone" })]
        }
    }

    #[test]
    fn only_layers_that_really_hold_are_named() {
        let shown = |agent: &Program, kernel: Result<(), String>, compared, network| {
            let request =
                EnforcementRequest { permission: Permission::ReadOnly, network, compared, own: None };
            let held = enforcement(agent, request, kernel);
            let guards: Vec<String> = held.guards.iter().map(ToString::to_string).collect();
            (guards.join(", "), held.sandboxed, held.unheld)
        };
        let (here, rooms) = (|| Ok(()), apart().is_ok());
        let missing = || Err("the kernel has none".to_owned());
        assert_eq!(
            shown(&Program(true), here(), Some("its copy"), Network::Out),
            (
                format!(
                    "its own mode (inside), Landlock ({}), tree compared (its copy)",
                    reach(Network::Out, rooms)
                ),
                true,
                None
            )
        );
        assert_eq!(
            shown(&Program(true), here(), None, Network::Open).0,
            format!("its own mode (inside), Landlock ({})", reach(Network::Open, rooms))
        );
        assert_eq!(
            shown(&Program(true), missing(), None, Network::Out),
            ("its own mode (alone)".into(), false, Some("the kernel has none".into()))
        );
        // Switched off in the configuration: nothing is missing, and nothing claimed.
        assert_eq!(
            shown(&Program(false), here(), Some("its copy"), Network::Out),
            ("its own mode (alone), tree compared (its copy)".into(), false, None)
        );
    }

    #[test]
    fn what_is_said_of_a_sandbox_is_what_it_does() {
        for (network, apart, said) in [
            (Network::None, true, "files; no network but a loopback of its own"),
            (Network::None, false, "files; no TCP, other protocols open; no pseudo-terminals"),
            (Network::Out, true, "files; TCP out only"),
            (Network::Out, false, "files; TCP out only; no pseudo-terminals"),
            (Network::FreePorts, true, "files; TCP out, listening on free ports"),
            (Network::Open, true, "files; TCP open"),
        ] {
            assert_eq!(reach(network, apart), said);
        }
    }

    #[test]
    fn the_users_own_commands_get_everything_but_terminals() {
        let Some(sandbox) = without_terminals(false) else { return };
        for path in ["/usr/bin/git", "/etc/passwd", "/dev/null", "/proc/self", "/tmp/x", "/dev/shm"] {
            assert!(may(&sandbox.write, path), "{path}");
        }
        for path in ["/dev/tty", "/dev/pts/0", "/dev/ptmx", "/dev/console", "/dev/tty1", "/dev/ttyS0"] {
            assert!(!may(&sandbox.write, path), "{path}");
        }
    }
}
