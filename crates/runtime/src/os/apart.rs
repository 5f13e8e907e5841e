//! Rooms of its own for a command: pseudo-terminals and shared memory that are not the user's, and a loopback that
//! is not this machine's. They are namespaces: the supervisor enters them before it starts anything, and with them goes what
//! it starts.
//!
//! Root needs nothing else for it. Anybody else needs a user namespace, which not every kernel, container or
//! distribution allows; whether this one does is tried once, in a process of its own, because it can only be
//! tried by doing it. Linux only.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use gadfly_agents::launcher::SharedNetwork;

/// The hidden second argument that makes a supervisor try the rooms, and nothing else.
pub(super) const TRIAL: &str = "__apart";
/// The same, with a process table of its own.
pub(super) const ALONE_TRIAL: &str = "__alone";
/// The devices that are a command's own in its rooms. Without a terminal of its own the first leads nowhere: a
/// supervisor has a session of its own.
pub(super) const TERMINALS: [&str; 3] = ["/dev/tty", "/dev/ptmx", "/dev/pts"];

/// Who can be asked: the first supervisor that anybody named.
static SUPERVISOR: OnceLock<PathBuf> = OnceLock::new();

pub(super) fn asked_through(supervisor: &std::path::Path) {
    SUPERVISOR.get_or_init(|| supervisor.to_owned());
}

/// Whether commands can have rooms of their own on this machine, or why not. Tried once.
pub fn apart() -> Result<(), String> {
    static KNOWN: OnceLock<Result<(), String>> = OnceLock::new();
    tried(&KNOWN, TRIAL)
}

/// Whether they can have a process table of their own there, so that nothing survives its supervisor.
pub fn alone() -> Result<(), String> {
    static KNOWN: OnceLock<Result<(), String>> = OnceLock::new();
    tried(&KNOWN, ALONE_TRIAL)
}

fn tried(known: &OnceLock<Result<(), String>>, trial: &str) -> Result<(), String> {
    let Some(supervisor) = SUPERVISOR.get() else {
        return Err("no supervisor was named that could try it".to_owned());
    };
    known
        .get_or_init(|| {
            let mut process = Command::new(supervisor);
            process.args([super::wire::ARGUMENT, trial]).env_clear();
            process.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
            let tried = process.output().map_err(|error| format!("it could not be tried: {error}"))?;
            if tried.status.success() {
                return Ok(());
            }
            let why = String::from_utf8_lossy(&tried.stderr).trim().to_owned();
            Err(if why.is_empty() { "it could not be tried".to_owned() } else { why })
        })
        .clone()
}

/// Who can be asked.
pub(super) fn supervisor() -> Option<&'static std::path::Path> {
    SUPERVISOR.get().map(PathBuf::as_path)
}

/// What of its own a command gets besides terminals.
#[derive(Clone, Debug)]
pub(super) struct Rooms {
    pub network: bool,
    pub memory: bool,
    /// A network that is there already, in place of a new one.
    pub joins: Option<SharedNetwork>,
}

/// Takes this process into rooms of its own. It must have one thread. The error says what the system did not allow.
pub(super) fn separate(rooms: &Rooms) -> Result<(), String> {
    imp::separate(rooms)
}

#[cfg(not(target_os = "linux"))]
mod imp {
    pub fn separate(_: &super::Rooms) -> Result<(), String> {
        Err("only Linux has namespaces".to_owned())
    }
}

#[cfg(target_os = "linux")]
pub(super) use imp::unshare;

#[cfg(target_os = "linux")]
mod imp {
    use std::fs;
    use std::os::fd::AsFd as _;
    use std::path::Path;

    use gadfly_agents::launcher::SharedNetwork;

    use rustix::io::Errno;
    use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_bind, mount_change};
    use rustix::net::netlink::SocketAddrNetlink;
    use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketType, recv, sendto, socket};
    use rustix::process::{getegid, geteuid};
    use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space};

    use super::Rooms;

    const SHARED_MEMORY: &str = "/dev/shm";

    pub fn separate(own: &Rooms) -> Result<(), String> {
        let doing = |what: &'static str| move |error: Errno| format!("{what}: {error}");
        let (user, group) = (geteuid(), getegid());
        let joins = own.joins.as_ref().filter(|_| own.network);
        let mut rooms = UnshareFlags::NEWNS;
        rooms.set(UnshareFlags::NEWNET, own.network && joins.is_none());
        rooms.set(UnshareFlags::NEWUSER, !user.is_root() && joins.is_none());
        if let Some(shared) = joins {
            join(shared)?;
        }
        unshare(rooms).map_err(doing("namespaces of its own"))?;
        if !user.is_root() && joins.is_none() {
            let map = |name: &str, line: String| {
                fs::write(format!("/proc/self/{name}"), line).map_err(|error| format!("{name}: {error}"))
            };
            let (user, group) = (user.as_raw(), group.as_raw());
            map("setgroups", "deny".to_owned())?;
            map("uid_map", format!("{user} {user} 1"))?;
            map("gid_map", format!("{group} {group} 1"))?;
        }
        // What is mounted here stays here; what the machine mounts later still comes.
        mount_change("/", MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC)
            .map_err(doing("mounts of its own"))?;
        let flags = MountFlags::NOSUID | MountFlags::NOEXEC;
        mount("devpts", "/dev/pts", "devpts", flags, Some(c"newinstance,ptmxmode=0666,mode=0620"))
            .map_err(doing("terminals of its own"))?;
        // Where it is a link it leads to the new one already.
        if !fs::symlink_metadata("/dev/ptmx").is_ok_and(|meta| meta.is_symlink()) {
            mount_bind("/dev/pts/ptmx", Path::new("/dev/ptmx")).map_err(doing("terminals of its own"))?;
        }
        if own.memory && Path::new(SHARED_MEMORY).is_dir() {
            let flags = MountFlags::NOSUID | MountFlags::NODEV;
            mount("tmpfs", SHARED_MEMORY, "tmpfs", flags, Some(c"mode=1777"))
                .map_err(doing("shared memory of its own"))?;
        }
        if own.network && joins.is_none() {
            loopback().map_err(doing("a loopback of its own"))
        } else {
            Ok(())
        }
    }

    /// Goes into a network that others are in.
    fn join(shared: &SharedNetwork) -> Result<(), String> {
        let enter = |path: &Path, kind| {
            let doing = |why: String| format!("the run's own network, {}: {why}", path.display());
            let room = fs::File::open(path).map_err(|error| doing(error.to_string()))?;
            move_into_link_name_space(room.as_fd(), Some(kind)).map_err(|error| doing(error.to_string()))
        };
        if let Some(user) = &shared.user {
            enter(user, LinkNameSpaceType::User)?;
        }
        enter(&shared.net, LinkNameSpaceType::Network)
    }

    /// Only a table of open files that is taken apart makes this call unsound, and that is not asked for.
    #[expect(deprecated, reason = "the other form is `unsafe` for the sake of a flag that is not used here")]
    pub fn unshare(rooms: UnshareFlags) -> rustix::io::Result<()> {
        rustix::thread::unshare(rooms)
    }

    /// Switches the loopback of this network on: the one request to the kernel that it takes.
    fn loopback() -> rustix::io::Result<()> {
        const NEW_LINK: u16 = 16;
        const REQUEST_AND_ANSWER: u16 = 1 | 4;
        const UP: u32 = 1;
        const ERROR: u16 = 2;
        // In a new network it is the first.
        const LOOPBACK: i32 = 1;
        let mut request = Vec::with_capacity(32);
        request.extend(32_u32.to_ne_bytes());
        request.extend(NEW_LINK.to_ne_bytes());
        request.extend(REQUEST_AND_ANSWER.to_ne_bytes());
        request.extend([0; 8]); // number, sender
        request.extend([0; 4]); // family, type
        request.extend(LOOPBACK.to_ne_bytes());
        request.extend(UP.to_ne_bytes());
        request.extend(UP.to_ne_bytes()); // what of it is to change
        // Of this family the protocol that is not named is the one for routes and links.
        let kernel = socket(AddressFamily::NETLINK, SocketType::RAW, None)?;
        sendto(&kernel, &request, SendFlags::empty(), &SocketAddrNetlink::new(0, 0))?;
        let mut answer = [0_u8; 256];
        let (_, length) = recv(&kernel, &mut answer[..], RecvFlags::empty())?;
        let answer = answer.get(..length).unwrap_or_default();
        let kind = answer.get(4..6).and_then(|bytes| bytes.try_into().ok()).map(u16::from_ne_bytes);
        let code = answer.get(16..20).and_then(|bytes| bytes.try_into().ok()).map(i32::from_ne_bytes);
        match (kind, code) {
            (Some(ERROR), Some(0)) => Ok(()),
            (Some(ERROR), Some(code)) => Err(Errno::from_raw_os_error(code.saturating_neg())),
            _ => Err(Errno::PROTO),
        }
    }
}
