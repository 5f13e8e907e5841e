//! `[signing]`: the key with which the user vouches for receipts, seals and exports. Only the user's own file names it: a
//! project must not have others sign for it. Signing is not done here.

use super::value::ConfigTable;
use crate::place::{Problem, SourceSpan, Sourced};

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SigningConfig {
    /// A private SSH key, or its public half where an agent holds the other. None: nothing is signed.
    pub key: Option<Sourced<String>>,
}

impl SigningConfig {
    pub(super) fn read(table: Option<&ConfigTable>) -> Self {
        Self { key: table.and_then(|table| table.text("key")) }
    }

    /// What is said of one in a project's file.
    pub(super) fn withheld(at: Option<&SourceSpan>) -> Problem {
        let message = "`signing` has no effect in a project's file: nothing is signed with a key it names";
        let help = "what is signed is your word: put it into ~/.config/gadfly/gadfly.toml";
        Problem::warning(message).help(help).at(at)
    }
}

#[cfg(test)]
mod tests {
    use crate::config::{Config, parse};
    use crate::place::{ConfigLayer, Source};

    #[test]
    fn the_user_names_the_key_and_a_project_neither_names_nor_replaces_it() {
        let layer = |layer, text: &str| parse(&Source::new(layer, "gadfly.toml", "/nowhere", text)).0;
        let built = |layers: Vec<_>| {
            let (config, problems) = Config::from_layers(layers);
            (config.signing.key.map(|key| key.value), problems.len())
        };
        let user = || layer(ConfigLayer::User, "[signing]\nkey = \"~/.ssh/id_ed25519\"\n");
        let project = || layer(ConfigLayer::Project, "[signing]\nkey = \"keys/ours\"\n");
        assert_eq!(built(vec![user()]), (Some("~/.ssh/id_ed25519".to_owned()), 0));
        assert_eq!(built(vec![project()]), (None, 1));
        assert_eq!(built(vec![user(), project()]), (Some("~/.ssh/id_ed25519".to_owned()), 1));
    }
}
