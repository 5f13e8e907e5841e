//! One-place damage to replies that reject: a line lost, doubled, swapped or cut, a character lost or changed, the end missing.

use gadfly_engine::reading::quoted::Shown;

use crate::reading::bench::{ALL, Protocol, passes, rejections};

/// Every damage of one place.
fn damaged(reply: &str) -> Vec<String> {
    let mut all = Vec::new();
    let lines: Vec<&str> = reply.lines().collect();
    for at in 0..lines.len() {
        let mut lost = lines.clone();
        lost.remove(at);
        all.push(lost.join("\n"));
        let mut cut: Vec<String> = lines.iter().map(|l| (*l).to_owned()).collect();
        let half = lines[at].floor_char_boundary(lines[at].len() / 2);
        lines[at][..half].clone_into(&mut cut[at]);
        all.push(cut.join("\n"));
        let mut doubled = lines.clone();
        doubled.insert(at, lines[at]);
        all.push(doubled.join("\n"));
        if at + 1 < lines.len() {
            let mut swapped = lines.clone();
            swapped.swap(at, at + 1);
            all.push(swapped.join("\n"));
        }
    }
    let places: Vec<usize> = reply.char_indices().map(|(at, _)| at).collect();
    for at in places.iter().step_by(3) {
        all.push(reply[..*at].to_owned());
        let next = reply[*at..].chars().next().map_or(0, char::len_utf8);
        all.push(format!("{}{}", &reply[..*at], &reply[at + next..]));
        for other in ['x', ' ', '\n', '"', '}'] {
            all.push(format!("{}{other}{}", &reply[..*at], &reply[at + next..]));
        }
    }
    all
}

#[test]
fn one_damaged_place_turns_no_rejection_into_an_approval() {
    let mut cases = 0;
    for protocol in ALL {
        let mut of_this = 0;
        for reply in rejections(protocol) {
            for damaged in damaged(&reply) {
                of_this += 1;
                let read = passes(protocol, &damaged, &Shown::default());
                assert_ne!(
                    read,
                    Some(true),
                    "{protocol:?} approves a damaged rejection:\n{damaged}\n\nof\n{reply}"
                );
            }
        }
        assert!(of_this >= 500, "{protocol:?}: {of_this}");
        cases += of_this;
    }
    assert!(cases >= 2_000, "{cases}");
}

/// The same damages are felt: many of them leave a rejection that can be read, and many leave nothing.
#[test]
fn damage_is_noticed_and_not_everything_is_refused() {
    let all: Vec<Option<bool>> = rejections(Protocol::Revise)
        .iter()
        .flat_map(|reply| damaged(reply))
        .map(|damaged| passes(Protocol::Revise, &damaged, &Shown::default()))
        .collect();
    let rejected = all.iter().filter(|read| **read == Some(false)).count();
    assert!(rejected * 2 > all.len() && rejected < all.len(), "{rejected} of {}", all.len());
}
