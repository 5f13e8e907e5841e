//! The user's own directories: config and state.

use std::path::PathBuf;

use gadfly_journal::Custody;

pub struct UserDirs {
    pub config: Option<PathBuf>,
    pub state: Option<PathBuf>,
}

impl UserDirs {
    /// By the XDG variables, else under HOME.
    pub fn from_env() -> Self {
        let dir = |variable: &str, fallback: &str| {
            let set = std::env::var_os(variable).map(PathBuf::from).filter(|p| p.is_absolute());
            set.or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(fallback)))
                .map(|base| base.join("gadfly"))
        };
        Self { config: dir("XDG_CONFIG_HOME", ".config"), state: dir("XDG_STATE_HOME", ".local/state") }
    }

    /// Where the key of this machine's journals is kept, and their newest seals.
    pub fn custody(&self) -> Custody {
        self.state.as_deref().map_or_else(Custody::none, Custody::at)
    }

    pub fn config_file(&self) -> Option<PathBuf> {
        self.config.as_ref().map(|d| d.join("gadfly.toml"))
    }
}
