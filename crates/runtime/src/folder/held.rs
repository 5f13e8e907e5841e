//! The run's folder for tools: what file tools may touch in it, and what holds a command there.

use std::path::{Path, PathBuf};

use gadfly_agents::launcher::Network;

use super::{Folder, FolderError, Inside};
use crate::sandbox::Ground;
use crate::tools::area::Area;
use crate::tools::confined::{Around, Confined};

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
        self.confined_to(inside.workspace.work(), &inside.workspace.dir(), own, network)
    }

    /// The same in another folder: its top, and where the command starts.
    pub(super) fn confined_to(
        &self,
        tree: PathBuf,
        dir: &Path,
        own: &Path,
        network: Network,
    ) -> Result<Confined, FolderError> {
        let ground = Ground { tree, linked: self.linked(), ..Ground::default() };
        self.around(dir, own, network).confined(ground).map_err(FolderError::io(own))
    }

    /// What a command gets that a person let reach whatever the user reaches.
    pub(crate) fn unconfined(&self, inside: &Inside) -> Confined {
        let dir = inside.workspace.dir();
        self.around(&dir, &dir, Network::Open).unconfined()
    }

    fn around<'a>(&'a self, dir: &'a Path, own: &'a Path, network: Network) -> Around<'a> {
        Around { means: &self.means, project: Path::new(&self.plan.project), dir, own, network }
    }
}
