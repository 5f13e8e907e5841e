//! The nearest valid name for a name that is not. Not a search: one guess or none.

/// The candidate closest to `name` in typing errors, if it is close enough to be meant.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    /// A longer name is not a typing error, and comparing costs the product of both lengths.
    const LONGEST: usize = 64;
    let name: String = name.chars().take(LONGEST + 1).flat_map(char::to_lowercase).collect();
    let length = name.chars().count();
    if length == 0 || length > LONGEST {
        return None;
    }
    candidates
        .into_iter()
        .filter_map(|candidate| {
            let known: String = candidate.chars().flat_map(char::to_lowercase).collect();
            let letters = known.chars().count();
            let most = allowance(length.max(letters));
            // Each letter that is too many is an edit.
            if length.abs_diff(letters) > most {
                return None;
            }
            let distance = strsim::osa_distance(&name, &known);
            (distance <= most).then_some((distance, candidate))
        })
        .min()
        .map(|(_, candidate)| candidate)
}

/// `did you mean …?` for the nearest candidate, else the list of what there is; of many the first.
pub fn did_you_mean(name: &str, candidates: &[&str]) -> Option<String> {
    const MOST: usize = 60;
    match nearest(name, candidates.iter().copied()) {
        Some(near) => Some(format!("did you mean `{near}`?")),
        None if candidates.is_empty() => None,
        None => {
            let list: Vec<String> = candidates.iter().take(MOST).map(|c| format!("`{c}`")).collect();
            let more = candidates.len() - list.len();
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            Some(format!("known here: {}{more}", list.join(", ")))
        }
    }
}

const fn allowance(length: usize) -> usize {
    match length {
        0..=2 => 0,
        3..=5 => 1,
        6..=8 => 2,
        _ => 3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typing_errors_find_the_name_that_was_meant() {
        let keys = ["base_url", "model", "key_env", "worker", "critic"];
        for (typed, meant) in [
            ("modle", "model"),
            ("base-url", "base_url"),
            ("Model", "model"),
            ("keyenv", "key_env"),
            ("wroker", "worker"),
        ] {
            assert_eq!(nearest(typed, keys), Some(meant), "{typed}");
        }
    }

    #[test]
    fn what_is_far_from_everything_gets_no_guess_but_the_list() {
        assert_eq!(nearest("banana", ["model", "critic"]), None);
        assert_eq!(nearest("", ["model"]), None);
        assert_eq!(nearest(&"model".repeat(1000), ["model"]), None);
        assert_eq!(did_you_mean("banana", &["model", "critic"]).unwrap(), "known here: `model`, `critic`");
    }
}
