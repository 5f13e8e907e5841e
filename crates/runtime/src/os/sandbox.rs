//! The sandbox: Landlock, put on the thread that starts a command, so that the command and everything it
//! starts inherit it and this process does not.
//!
//! Files: what may be read may be executed, what may be written may also be read. Network: TCP only, connecting and
//! listening each for itself; a command in rooms of its own (`apart`) that has no network needs no rule for it. What
//! Landlock does not cover stays open: other protocols, sockets that are files, and a file's mode, owner, times and
//! extended attributes, which whoever owns it may change. Signals and abstract sockets reach only what is in the same
//! sandbox, where the kernel can do that (Linux 6.12). Nothing inside can gain rights by starting a program, and
//! of what root may do in the system only what concerns files, users and its own processes is left to it.
//! Linux only; elsewhere there is none.

use super::wire::{Confines, Kernel};

/// The Landlock version of this kernel, or why it cannot hold a command. Cheap.
pub fn landlock() -> Result<u32, String> {
    imp::version()
}

/// Puts the sandbox on this thread, for good, and tries whether it holds. The error says what is wrong and
/// what to do; this thread may start nothing then.
pub(super) fn confine(confines: &Confines, cwd: &std::path::Path, kernel: Kernel) -> Result<(), String> {
    imp::confine(confines, cwd, kernel)
}

const GO_WITHOUT: &str = "set `sandbox = \"off\"` to go without";

#[cfg(not(target_os = "linux"))]
mod imp {
    use super::{Confines, GO_WITHOUT, Kernel};

    pub fn version() -> Result<u32, String> {
        Err("only Linux has Landlock".to_owned())
    }

    pub fn confine(_: &Confines, _: &std::path::Path, _: Kernel) -> Result<(), String> {
        Err(format!("only Linux has Landlock; {GO_WITHOUT}"))
    }
}

#[cfg(target_os = "linux")]
mod imp {
    use std::path::{Path, PathBuf};
    use std::sync::OnceLock;

    use gadfly_agents::launcher::Network;
    use landlock::{
        ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, LandlockStatus, NetPort,
        PathBeneath, PathFd, RestrictSelf, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetError,
        RulesetStatus, Scope, make_bitflags,
    };
    use rustix::fs::{CWD, Mode, OFlags, openat};
    use rustix::thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities};

    use super::{Confines, GO_WITHOUT, Kernel};
    use crate::os::apart::TERMINALS;
    use crate::os::wire::RawPath;

    /// The first version that keeps files from being cut short: before it, a file that may only be read can
    /// be emptied.
    const FILES_HOLD: ABI = ABI::V3;
    /// The first version that knows of TCP.
    const TCP_HOLDS: ABI = ABI::V4;
    /// The newest version whose rules were tried with this program. A newer kernel is asked for no more.
    const TRIED: ABI = ABI::V7;

    /// Nobody makes devices: whoever opens one has what is behind it.
    const DEVICES: BitFlags<AccessFs> = make_bitflags!(AccessFs::{MakeChar | MakeBlock});
    /// What root keeps in the sandbox. With more it walks around Landlock: the secrets in the environment of
    /// every process are open to who may measure or administer the system, every disk to who may make a device
    /// in a folder of its own.
    const KEPT_BY_ROOT: CapabilitySet = CapabilitySet::CHOWN
        .union(CapabilitySet::DAC_OVERRIDE)
        .union(CapabilitySet::FOWNER)
        .union(CapabilitySet::FSETID)
        .union(CapabilitySet::KILL)
        .union(CapabilitySet::SETGID)
        .union(CapabilitySet::SETUID)
        .union(CapabilitySet::NET_BIND_SERVICE);

    pub fn version() -> Result<u32, String> {
        known().map(|(_, version)| version)
    }

    fn known() -> Result<(ABI, u32), String> {
        static KNOWN: OnceLock<Result<(ABI, u32), String>> = OnceLock::new();
        KNOWN.get_or_init(|| {
            // Asks for no restriction, so it makes none; it is the crate's way to say what there is.
            let asked = RestrictSelf::default().no_new_privs(false).apply();
            match asked.map(|status| status.landlock) {
                Ok(LandlockStatus::Available { effective_abi, kernel_abi }) => {
                    let version = kernel_abi.and_then(|abi| u32::try_from(abi).ok());
                    let version = version.unwrap_or(effective_abi as u32);
                    if effective_abi < FILES_HOLD {
                        return Err(format!(
                            "this kernel's Landlock is version {version}; from version {} on (Linux 6.2) it \
                             can keep files from being changed",
                            FILES_HOLD as u32
                        ));
                    }
                    Ok((effective_abi, version))
                }
                Ok(LandlockStatus::NotEnabled) => {
                    Err("this kernel has Landlock and was started without it (`lsm=` on its command line)"
                        .to_owned())
                }
                Ok(LandlockStatus::NotImplemented) => Err("this kernel has no Landlock".to_owned()),
                Err(error) => Err(format!("whether this kernel has Landlock could not be asked: {error}")),
            }
        })
        .clone()
    }

    pub fn confine(confines: &Confines, cwd: &Path, kernel: Kernel) -> Result<(), String> {
        let known = match kernel {
            Kernel::WithoutLandlock => Err("this kernel has no Landlock".to_owned()),
            Kernel::AsItIs | Kernel::WithHoles => known(),
        };
        let (abi, version) = known.map_err(|why| format!("{why}; {GO_WITHOUT}"))?;
        if !refused(confines).is_empty() && abi < TCP_HOLDS {
            return Err(format!(
                "this kernel's Landlock is version {version}; from version {} on (Linux 6.7) it can keep a \
                 command off the network; set `network = true` and `listen = true` to let it have that",
                TCP_HOLDS as u32
            ));
        }
        let mut paths = confines.read.iter().chain(&confines.write).map(RawPath::to_path);
        if let Some(path) = paths.find(|path| !path.is_absolute()) {
            return Err(format!("`{}` is not an absolute path; name the whole path", path.display()));
        }
        let trials = trials(confines, cwd);
        if kernel != Kernel::WithHoles {
            let status = restrict(confines, abi.min(TRIED)).map_err(|error| error.to_string())?;
            if status != RulesetStatus::FullyEnforced {
                return Err(format!("the kernel holds it only in part ({status:?}); {GO_WITHOUT}"));
            }
            if !confines.own {
                give_up().map_err(|error| format!("what root may do could not be given up: {error}"))?;
            }
        }
        match trials.iter().find(|trial| trial.passes()) {
            Some(trial) => {
                Err(format!("the kernel says that it holds, and `{}` can be written", trial.path.display()))
            }
            None => Ok(()),
        }
    }

    /// For this thread and what it starts: the sandbox keeps it from coming back with the next program.
    fn give_up() -> rustix::io::Result<()> {
        let CapabilitySets { effective, permitted, inheritable } = capabilities(None)?;
        let [effective, permitted, inheritable] =
            [effective, permitted, inheritable].map(|set| set.intersection(KEPT_BY_ROOT));
        set_capabilities(None, CapabilitySets { effective, permitted, inheritable })
    }

    fn restrict(confines: &Confines, abi: ABI) -> Result<RulesetStatus, RulesetError> {
        let mut ruleset = Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(AccessFs::from_all(abi))?;
        let refused = refused(confines);
        if !refused.is_empty() {
            ruleset = ruleset.handle_access(refused)?;
        }
        let scopes = Scope::from_all(abi);
        if !scopes.is_empty() && !confines.own {
            ruleset = ruleset.scope(scopes)?;
        }
        let mut created = ruleset.create()?;
        if abi >= ABI::V7 {
            // The trial below would look like an attack in the system's log.
            created = created.log_same_exec(false)?;
        }
        created = created
            .add_rules(rules(&confines.read, AccessFs::from_read(abi), abi))?
            .add_rules(rules(&confines.write, AccessFs::from_all(abi) & !DEVICES, abi))?;
        if confines.apart {
            let own = TERMINALS.map(|path| RawPath::from(Path::new(path)));
            created = created.add_rules(rules(&own, AccessFs::from_all(abi) & !DEVICES, abi))?;
        }
        if confines.network == Network::FreePorts {
            created = created.add_rule(NetPort::new(0, AccessNet::BindTcp))?;
        }
        Ok(created.restrict_self()?.ruleset)
    }

    /// What of TCP the kernel has to refuse. In a network of its own a command reaches nobody anyway.
    fn refused(confines: &Confines) -> BitFlags<AccessNet> {
        match confines.network {
            Network::None if confines.apart => BitFlags::empty(),
            Network::None => AccessNet::from_all(TCP_HOLDS),
            Network::Out | Network::FreePorts => AccessNet::BindTcp.into(),
            Network::Open => BitFlags::empty(),
        }
    }

    /// A path that is missing, or out of this user's reach, is of no use to the command either.
    fn rules(
        paths: &[RawPath],
        access: BitFlags<AccessFs>,
        abi: ABI,
    ) -> impl Iterator<Item = Result<PathBeneath<PathFd>, RulesetError>> {
        paths.iter().filter_map(move |path| {
            let path = path.to_path();
            let opened = PathFd::new(&path).ok()?;
            let access = if path.is_dir() { access } else { access & AccessFs::from_file(abi) };
            Some(Ok(PathBeneath::new(opened, access)))
        })
    }

    /// Something that could be written without the sandbox and is not to be written in it.
    struct Trial {
        path: PathBuf,
        flags: OFlags,
    }

    impl Trial {
        /// Opens for writing and writes nothing; the file in the folder has no name and is gone at once.
        fn passes(&self) -> bool {
            openat(CWD, &self.path, self.flags | OFlags::WRONLY | OFlags::CLOEXEC, Mode::RUSR | Mode::WUSR)
                .is_ok()
        }
    }

    /// What to try: the working folder if it is only to be read, and two files that anybody may write.
    fn trials(confines: &Confines, cwd: &Path) -> Vec<Trial> {
        let writable: Vec<PathBuf> =
            confines.write.iter().filter_map(|path| path.to_path().canonicalize().ok()).collect();
        let candidates = [
            Trial { path: cwd.to_owned(), flags: OFlags::TMPFILE },
            Trial { path: "/proc/self/comm".into(), flags: OFlags::empty() },
            Trial { path: "/dev/zero".into(), flags: OFlags::empty() },
        ];
        let forbidden = |trial: &Trial| {
            let path = trial.path.canonicalize();
            path.is_ok_and(|path| !writable.iter().any(|below| path.starts_with(below)))
        };
        candidates.into_iter().filter(forbidden).filter(Trial::passes).collect()
    }
}
