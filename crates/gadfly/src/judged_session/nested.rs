//! Not judging our own critic: a critic that is itself a coding agent would fire the hook again when it stops,
//! whose critic would fire it again, and so on.

use std::path::{Component, Path};

use crate::context::Context;

/// Where the state of a project is kept, unless it is told otherwise.
const STORE: &str = ".gadfly";
/// Programs that agents are get the folder above their own place in this variable.
const CEILING: &str = "GIT_CEILING_DIRECTORIES";

/// Whether this process was started within a call of ours.
pub fn is_within_a_call(context: &Context) -> bool {
    let store = context.store();
    let here = std::env::current_dir().unwrap_or_default();
    let ceilings = std::env::var_os(CEILING).unwrap_or_default();
    let ceilings = std::env::split_paths(&ceilings);
    let custody = context.user.custody();
    std::iter::once(here).chain(ceilings).any(|place| custody.is_work(&place) || is_ours(&place, &store))
}

/// Only calls of ours take place in there.
fn is_ours(place: &Path, store: &Path) -> bool {
    let real = store.canonicalize().unwrap_or_else(|_| store.to_owned());
    let named = place.components().any(|part| part == Component::Normal(STORE.as_ref()));
    named || place.starts_with(store) || place.starts_with(real)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_in_a_store_is_ours_and_the_project_is_not() {
        let store = Path::new("/p/state");
        for ours in ["/p/.gadfly/runs/x/work", "/p/state/runs", "/p/state"] {
            assert!(is_ours(Path::new(ours), store), "{ours}");
        }
        for not in ["/p", "/p/src", "/p/state-of-things", "/p/.gadflyer", ""] {
            assert!(!is_ours(Path::new(not), store), "{not}");
        }
    }
}
