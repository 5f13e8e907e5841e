//! The user's own directories: config and state.

use std::path::{Path, PathBuf};

use gadfly_journal::Custody;
use gadfly_project::adapter::ProjectPlace;

pub struct UserDirs {
    pub config: Option<PathBuf>,
    pub state: Option<PathBuf>,
    /// Where Claude Code keeps what is the user's.
    pub claude: Option<PathBuf>,
}

impl UserDirs {
    /// By the XDG variables, else under HOME.
    pub fn from_env() -> Self {
        let dir = |variable: &str, fallback: &str| {
            let set = std::env::var_os(variable).map(PathBuf::from).filter(|p| p.is_absolute());
            set.or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(fallback)))
                .map(|base| base.join("gadfly"))
        };
        let set = std::env::var_os("CLAUDE_CONFIG_DIR").map(PathBuf::from).filter(|p| p.is_absolute());
        let claude = set.or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".claude")));
        let (config, state) = (dir("XDG_CONFIG_HOME", ".config"), dir("XDG_STATE_HOME", ".local/state"));
        Self { config, state, claude }
    }

    /// A project, with what is the user's.
    pub fn beside<'a>(&'a self, root: &'a Path) -> ProjectPlace<'a> {
        ProjectPlace { root, claude: self.claude.as_deref() }
    }

    /// Where the key of this machine's journals is kept, and their newest seals.
    pub fn custody(&self) -> Custody {
        self.state.as_deref().map_or_else(Custody::none, Custody::at)
    }

    pub fn config_file(&self) -> Option<PathBuf> {
        self.config.as_ref().map(|d| d.join("gadfly.toml"))
    }
}
