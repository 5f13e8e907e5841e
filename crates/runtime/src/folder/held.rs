//! The run's folder for tools: what file tools may touch in it, and what holds a command there.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use gadfly_agents::launcher::{Launcher, Network};

use super::{Folder, FolderError, Inside};
use crate::os::Loopback;
use crate::sandbox::Mounts;
use crate::tools::area::Area;
use crate::tools::confined::{Confined, ConfinementContext};

impl Folder {
    /// The files of the project in the folder, opened anew: whoever worked there may have put a link in its
    /// place.
    pub(crate) fn area(&self, inside: &Inside) -> Result<Area, String> {
        Area::below(&inside.workspace.work(), &inside.workspace.dir(), &self.ours)
    }

    /// What a command gets that is held as a worker is. `own` is made ready to be its home and its place for
    /// temporary files.
    pub(crate) fn confined(
        &self,
        inside: &Inside,
        own: &Path,
        network: Network,
    ) -> Result<Confined, FolderError> {
        let mut confined =
            self.confined_to(inside.workspace.work(), &inside.workspace.dir(), own, network)?;
        self.share_network(&mut confined);
        Ok(confined)
    }

    /// The same in another folder, with a network of its own: its top, and where the command starts.
    pub(super) fn confined_to(
        &self,
        tree: PathBuf,
        dir: &Path,
        own: &Path,
        network: Network,
    ) -> Result<Confined, FolderError> {
        let mounts = Mounts { tree, linked: self.linked(), ..Mounts::default() };
        self.around(dir, own, network).confined(mounts).map_err(FolderError::io(own))
    }

    /// Without the network of this machine, all commands of a run are in one of their own: what one starts, the next one
    /// reaches. Where that cannot be had each has its own.
    fn share_network(&self, confined: &mut Confined) {
        let Some(sandbox) = confined.sandbox.as_mut() else { return };
        if sandbox.apart && sandbox.network == Network::None {
            let loopback = self.loopback.get_or_init(|| Loopback::new().ok());
            sandbox.shares = loopback.as_ref().and_then(Loopback::shared);
        }
    }

    /// Whether commands of this run have a network of their own that something may listen in.
    pub(crate) fn has_own_network(&self) -> bool {
        self.loopback.get().is_some_and(Option::is_some)
    }

    /// Starts what stays up: it does not keep others out of the folder.
    pub(crate) fn launcher_of_processes(&self) -> Arc<dyn Launcher> {
        Arc::clone(&self.process_env.launcher)
    }

    /// What a command gets that a person let reach whatever the user reaches.
    pub(crate) fn unconfined(&self, inside: &Inside) -> Confined {
        let dir = inside.workspace.dir();
        self.around(&dir, &dir, Network::Open).unconfined()
    }

    fn around<'a>(&'a self, dir: &'a Path, own: &'a Path, network: Network) -> ConfinementContext<'a> {
        ConfinementContext {
            process_env: &self.process_env,
            project: Path::new(&self.plan.project),
            dir,
            own,
            network,
        }
    }
}
