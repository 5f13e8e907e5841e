//! Where the folder of a node is, in runs whose nodes have their own: two nodes never share one, whatever they are
//! called.

use std::path::{Path, PathBuf};

use gadfly_engine::{Digest, NodePath};

/// Below the run's own directory.
pub const NODES: &str = "nodes";
const LONGEST: usize = 60;

/// The directory of a node; the root's is the run's own.
pub fn home_of(run: &Path, node: &NodePath) -> PathBuf {
    let root = NodePath::root();
    match node.0.strip_prefix(&*root.0).and_then(|rest| rest.strip_prefix('/')) {
        Some(name) => run.join(NODES).join(slug(name)),
        None if *node == root => run.to_owned(),
        // No node of a run: it still must not be another's.
        None => run.join(NODES).join(slug(&format!("/{}", node.0))),
    }
}

/// A name for a folder. What is not plain is told apart by its digest, which no plain name looks like.
fn slug(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if !name.is_empty() && name.len() <= LONGEST && !name.starts_with('.') && name.chars().all(is_plain) {
        return name.to_owned();
    }
    let kept: String = name.chars().filter(char::is_ascii_alphanumeric).take(30).collect();
    let digest = Digest::of(name.as_bytes()).to_string();
    format!("{kept}~{}", digest.get(..32).unwrap_or(&digest))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_two_nodes_share_a_folder_and_none_leaves_the_run() {
        let run = Path::new("/r");
        assert_eq!(home_of(run, &NodePath::root()), run);
        assert_eq!(home_of(run, &NodePath("run/coder.2".into())), run.join("nodes/coder.2"));
        let long = format!("run/{}", "x".repeat(300));
        let odd =
            ["run/..", "run/.", "run/", "run/a/b", "run/a-b", "run/a b", "run/ab", "run/ä", "a", "", &long];
        let homes: HashSet<PathBuf> =
            odd.iter().map(|node| home_of(run, &NodePath((*node).to_owned().into()))).collect();
        assert_eq!(homes.len(), odd.len(), "{homes:?}");
        for home in homes {
            assert_eq!(home.parent(), Some(run.join(NODES).as_path()), "{home:?}");
            let name = home.file_name().and_then(|n| n.to_str()).unwrap_or_default();
            assert!(!name.starts_with('.') && name.len() < 100, "{name}");
        }
    }
}
