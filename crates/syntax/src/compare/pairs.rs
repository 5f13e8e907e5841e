//! Which test of before is which test of now: by name, by what it does, in its file or another.

use super::Read;
use crate::facts::Unit;

/// A test, by its file and its place there.
type TestPlace = (usize, usize);

#[derive(Default)]
pub struct Paired {
    /// File and test of before, with the same test of now.
    pub pairs: Vec<(usize, usize, TestPlace)>,
    pub gone: Vec<TestPlace>,
    pub new: Vec<TestPlace>,
}

type Same = fn(&Unit, &Unit) -> bool;

/// The last is a test that was renamed and mended at once: what it asserts is the same but for names.
const WAYS: [(bool, Same); 6] = [
    (true, |a, b| a.name == b.name && a.body == b.body),
    (true, |a, b| a.name == b.name),
    (true, |a, b| a.body == b.body),
    (false, |a, b| a.name == b.name || own_name(a) == own_name(b)),
    (false, |a, b| a.body == b.body),
    (false, |a, b| !a.assertions.is_empty() && shapes(a) == shapes(b)),
];

fn own_name(unit: &Unit) -> &str {
    unit.name.rsplit('.').next().unwrap_or(&unit.name)
}

fn shapes(unit: &Unit) -> Vec<&str> {
    unit.assertions.iter().map(|a| a.shape.as_str()).collect()
}

pub fn find(read: &[Read<'_>]) -> Paired {
    let places = |of: for<'r> fn(&'r Read<'_>) -> &'r [Unit]| -> Vec<TestPlace> {
        read.iter().enumerate().flat_map(|(file, r)| (0..of(r).len()).map(move |unit| (file, unit))).collect()
    };
    let mut before = places(|r| r.before.tests());
    let mut after = places(|r| r.after.tests());
    let mut paired = Paired::default();
    for (in_file, same) in WAYS {
        before.retain(|(file, unit)| {
            let one = &read[*file].before.tests()[*unit];
            let twin = |(other, n): &TestPlace| {
                let other_file = &read[*other];
                (if in_file { other == file } else { other_file.language.name == read[*file].language.name })
                    && same(one, &other_file.after.tests()[*n])
            };
            // Where a later definition replaces an earlier one, the later is what is run.
            let at = if read[*file].language.redefines {
                after.iter().rposition(twin)
            } else {
                after.iter().position(twin)
            };
            let Some(at) = at else { return true };
            paired.pairs.push((*file, *unit, after.remove(at)));
            false
        });
    }
    paired.gone = before;
    paired.new = after;
    paired
}
