//! One test in two versions: does it still count, and does it still say as much?

use super::{AllFiles, Counts, Read};
use crate::facts::{Asserted, Facts, Unit};
use crate::language::{Mark, Strength};
use crate::{Weakening, shown};

/// Names that say nothing about what is tested.
const EVERYWHERE: [&str; 42] = [
    "len",
    "str",
    "int",
    "new",
    "clone",
    "unwrap",
    "to_string",
    "to_owned",
    "into",
    "iter",
    "collect",
    "Some",
    "Ok",
    "Err",
    "list",
    "dict",
    "set",
    "tuple",
    "repr",
    "toString",
    "String",
    "vec",
    "format",
    "as_str",
    "is_empty",
    "map",
    "size",
    "from",
    "sorted",
    "get",
    "is_none",
    "is_some",
    "is_ok",
    "is_err",
    "unwrap_err",
    "expect",
    "keys",
    "values",
    "items",
    "first",
    "last",
    "contains",
];

/// What lets many values pass where one was asked for.
const LOOSE: [&str; 20] = [
    "approx",
    "ANY",
    "anything",
    "any",
    "isclose",
    "closeTo",
    "toBeCloseTo",
    "assertAlmostEqual",
    "InDelta",
    "InEpsilon",
    "stringContaining",
    "objectContaining",
    "arrayContaining",
    "toMatchObject",
    "max",
    "min",
    "clamp",
    "abs",
    "isCloseTo",
    "within",
];

pub struct UnitPair<'r, 'c> {
    pub from: &'r Read<'c>,
    pub to: &'r Read<'c>,
    pub before: &'r Unit,
    pub after: &'r Unit,
}

pub fn switched_off(mark: &str) -> String {
    format!("Tests are switched off here: `{mark}`.")
}

/// A test that was not there before. Only what is plainly none counts.
pub fn judge_new(file: &Read<'_>, unit: &Unit, found: &mut Vec<Weakening>) {
    let path = &file.change.path;
    for mark in unit.off.iter().filter(|mark| !mark.conditional || mark.text.contains("only")) {
        found.push(Weakening::new(
            path,
            Some(mark.line),
            format!("The new test `{}` is switched off: `{}`.", unit.name, mark.text),
        ));
    }
    for asserted in unit.assertions.iter().filter(|a| a.vacuous) {
        let says = format!("The new test `{}` asserts what is always so: `{}`.", unit.name, asserted.shown);
        found.push(Weakening::new(path, Some(asserted.line), says));
    }
}

pub fn compare(pair: &UnitPair<'_, '_>, whole: &AllFiles, found: &mut Vec<Weakening>) {
    let UnitPair { from, to, before, after } = pair;
    let path = &to.change.path;
    let name = format!("The test `{}`", after.name);
    if from.change.path != path.as_str() && from.change.is_test && !to.change.is_test {
        let says = format!(
            "{name} was moved from {} to a file that runners do not take for a test.",
            from.change.path
        );
        found.push(Weakening::new(path, Some(after.line), says));
    }
    if from.change.path != *path && passes_over(to, whole) && !passes_over(from, whole) {
        let says = format!("{name} was moved from {} to where runners do not look for it.", from.change.path);
        found.push(Weakening::new(path, Some(after.line), says));
    }
    if before.body == after.body && before.off == after.off {
        return;
    }
    let mut said = marks(path, &name, before, after);
    let called: Vec<&str> =
        from.before.units.iter().flat_map(|u| u.calls.iter().map(|c| c.name.as_str())).collect();
    said.extend(stand_ins(path, &name, &called, from, (before, after)));
    let elsewhere =
        Successors { whole, values: new_values(to, &whole.values), facts: (&from.before, &to.after) };
    let lines = from.change.before.text().unwrap_or_default();
    said.extend(says_less(path, &name, (before, after), &elsewhere, lines));
    let bound = |name: &str| {
        after.calls.iter().any(|c| c.bound == name) && !before.fixed.iter().any(|m| m.text == name)
    };
    for mark in after.fixed.iter().filter(|mark| bound(&mark.text)) {
        let says = format!("{name} gives `{}` a fixed value, which a call had given it.", mark.text);
        said.push(Weakening::new(path, Some(mark.line), says));
    }
    if said.is_empty() {
        said.extend(calls_less(path, &name, (before, after), &elsewhere));
    }
    found.extend(said);
}

/// Does the usual runner of the language pass over files at this place?
fn passes_over(file: &Read<'_>, whole: &AllFiles) -> bool {
    let parts: Vec<&str> = file.change.path.split('/').collect();
    let (name, folders) = parts.split_last().map_or(("", &[][..]), |(name, folders)| (*name, folders));
    let stem = name.split('.').next().unwrap_or(name);
    match file.language.name {
        "Go" => {
            let systems = [
                "windows", "darwin", "js", "wasm", "plan9", "android", "ios", "freebsd", "arm", "arm64",
                "solaris", "aix",
            ];
            let of = stem.strip_suffix("_test").unwrap_or(stem);
            systems.iter().any(|system| of.ends_with(&format!("_{system}")))
                || folders.iter().any(|folder| *folder == "testdata" || folder.starts_with(['_', '.']))
        }
        "Rust" => {
            let below =
                folders.iter().rposition(|folder| *folder == "tests").map(|at| folders.len() - at - 1);
            below.is_some_and(|below| below > 0)
                && name != "main.rs"
                && !whole.newly_defined.contains(&format!("mod {stem}"))
        }
        _ => folders.iter().any(|folder| folder.starts_with('.') || *folder == "node_modules"),
    }
}

/// What stands around the tests of a file: what they share.
pub fn compare_around(file: &Read<'_>, whole: &AllFiles, found: &mut Vec<Weakening>) {
    let (before, after) = (file.before.around(), file.after.around());
    let path = &file.change.path;
    let name = "What the tests share";
    found.extend(marks(path, name, before, after));
    let called: Vec<&str> =
        file.before.units.iter().flat_map(|u| u.calls.iter().map(|c| c.name.as_str())).collect();
    found.extend(stand_ins(path, name, &called, file, (before, after)));
    // A value that tests have now was only brought to where it is used.
    let mut values =
        Counts::of(file.after.tests().iter().flat_map(|u| u.literals.iter().map(|(v, _)| v.as_str())));
    file.before.tests().iter().flat_map(|u| &u.literals).for_each(|(value, _)| {
        values.take(value);
    });
    let elsewhere = Successors { whole, values, facts: (&file.before, &file.after) };
    let lines = file.change.before.text().unwrap_or_default();
    found.extend(says_less(path, name, (before, after), &elsewhere, lines));
}

/// What may have taken over from a test.
struct Successors<'w> {
    whole: &'w AllFiles,
    /// Values that are new beside it.
    values: Counts,
    facts: (&'w Facts, &'w Facts),
}

fn new_values(file: &Read<'_>, around: &Counts) -> Counts {
    let mut values = around.clone();
    // New tests that took assertions over took their values, too.
    let known: Vec<&str> =
        file.before.units.iter().flat_map(|u| u.assertions.iter().map(|a| a.text.as_str())).collect();
    let names: Vec<&str> = file.before.tests().iter().map(|u| u.name.as_str()).collect();
    for unit in file.after.tests().iter().filter(|u| !names.contains(&u.name.as_str())) {
        if unit.assertions.iter().any(|a| known.contains(&a.text.as_str())) {
            unit.literals.iter().for_each(|(value, _)| values.add(value));
        }
    }
    values
}

/// What switches it off, ends it early, or keeps its failure from being one.
fn marks(path: &str, name: &str, before: &Unit, after: &Unit) -> Vec<Weakening> {
    let mut found = Vec::new();
    let mut known = Counts::of(before.off.iter().map(|mark| mark.text.as_str()));
    for mark in after.off.iter().filter(|mark| !known.take(&mark.text)) {
        let says = if after.name.is_empty() {
            switched_off(&mark.text)
        } else {
            format!("{name} is switched off: `{}`.", mark.text)
        };
        found.push(Weakening::new(path, Some(mark.line), says));
    }
    let last = after.assertions.iter().map(|a| a.line).max().unwrap_or(u32::MAX);
    let early = |mark: &&Mark| mark.line <= last || !mark.text.starts_with("return");
    let earlier = before.ends.iter().filter(early).count();
    let ends: Vec<&Mark> = after.ends.iter().filter(early).collect();
    if let Some(mark) = ends.first().filter(|_| ends.len() > earlier) {
        let says = format!("{name} now ends before it has asserted everything: `{}`.", mark.text);
        found.push(Weakening::new(path, Some(mark.line), says));
    }
    let mut known = Counts::of(before.swallows.iter().map(|mark| mark.text.as_str()));
    let swallows: Vec<&Mark> = after.swallows.iter().filter(|mark| !known.take(&mark.text)).collect();
    if let Some(mark) = swallows.first().filter(|_| after.swallows.len() > before.swallows.len()) {
        let says = format!("{name} now passes over failures: `{}`.", mark.text);
        found.push(Weakening::new(path, Some(mark.line), says));
    }
    found
}

/// Something is put in the place of what is tested.
fn stand_ins(
    path: &str,
    name: &str,
    called: &[&str],
    file: &Read<'_>,
    (before, after): (&Unit, &Unit),
) -> Vec<Weakening> {
    let mut known = Counts::of(before.mocks.iter().map(|mark| mark.text.as_str()));
    let imported = |target: &str| file.before.imports.iter().any(|(_, from, _)| from == target);
    let is_tested = |target: &str| {
        let last = target.rsplit('.').next().unwrap_or(target);
        imported(target) || called.contains(&last) || target.starts_with("sys.modules.")
    };
    let new = after.mocks.iter().filter(|mark| !known.take(&mark.text));
    new.filter(|mark| is_tested(&mark.text))
        .map(|mark| {
            Weakening::new(
                path,
                Some(mark.line),
                format!("{name} puts something else in the place of `{}`, which is tested.", mark.text),
            )
        })
        .collect()
}

fn says_less(
    path: &str,
    name: &str,
    (before, after): (&Unit, &Unit),
    elsewhere: &Successors<'_>,
    lines: &str,
) -> Vec<Weakening> {
    let mut found = Vec::new();
    let mut values = elsewhere.values.clone();
    let mut has = Counts::of(after.literals.iter().map(|(value, _)| value.as_str()));
    let lost_values: Vec<&(String, u32)> =
        before.literals.iter().filter(|(value, _)| !has.take(value) && !values.take(value)).collect();

    // Word for word, then moved, then with other names.
    let mut gained: Vec<&Asserted> = after.assertions.iter().collect();
    let mut lost: Vec<&Asserted> = Vec::new();
    for asserted in &before.assertions {
        let Some(at) =
            gained.iter().position(|a| a.text == asserted.text && a.operators == asserted.operators)
        else {
            lost.push(asserted);
            continue;
        };
        let now = gained.remove(at);
        if now.guards > asserted.guards && !now.vacuous {
            let says = format!("{name} asserts this only under a condition now: `{}`.", now.shown);
            found.push(Weakening::new(path, Some(now.line), says));
        }
    }
    let mut moved = elsewhere.whole.gained.clone();
    for asserted in &gained {
        moved.take(&asserted.text);
    }
    lost.retain(|a| {
        !moved.take(&a.text)
            && match gained.iter().position(|b| b.shape == a.shape && b.operators == a.operators && !b.same) {
                Some(at) => {
                    gained.remove(at);
                    false
                }
                None => true,
            }
    });
    // What said nothing before is no loss.
    lost.retain(|a| !a.vacuous);
    if lost.is_empty() && lost_values.is_empty() {
        return found;
    }
    let (empty, gained): (Vec<&Asserted>, Vec<&Asserted>) =
        gained.into_iter().partition(|a| a.vacuous || a.same);
    if let (Some(was), Some(now)) = (lost.first(), empty.first()) {
        let says = format!("{name} asserts what is always so: `{}` in place of `{}`.", now.shown, was.shown);
        found.push(Weakening::new(path, Some(now.line), says));
        return found;
    }
    for (was, now) in lost.iter().zip(&gained) {
        let loose = LOOSE.iter().any(|word| says_word(now, word) && !says_word(was, word));
        let less = now.strength < was.strength || loose;
        let other =
            now.strength == was.strength && now.negated == was.negated && now.operators != was.operators;
        if less || other {
            let what = if less { "asserts less" } else { "asserts something else" };
            let says = format!("{name} {what}: `{}` in place of `{}`.", now.shown, was.shown);
            found.push(Weakening::new(path, Some(now.line), says));
        }
    }
    // Several became one over a list of values, or went into a function of their own: nothing is lost.
    let strongest = gained.iter().map(|a| a.strength).max();
    let calls_new = after.calls.iter().any(|c| elsewhere.whole.newly_defined.contains(&c.name));
    let (earlier, later) = (elsewhere.facts.0.around(), elsewhere.facts.1.around());
    let taken_over = lost_values.is_empty()
        && (strongest >= lost.iter().map(|a| a.strength).max().max(Some(Strength::Vague))
            || calls_new && later.assertions.len() > earlier.assertions.len());
    if lost.len() > gained.len() && !taken_over && found.is_empty() {
        let first = lost[gained.len()..].first().map(|a| a.shown.clone()).unwrap_or_default();
        let says = match lost.len() - gained.len() {
            1 => format!("{name} lost an assertion: `{first}`."),
            n => format!("{name} lost {n} assertions, among them `{first}`."),
        };
        found.push(Weakening::new(path, Some(after.line).filter(|line| *line > 0), says));
    }
    if let (Some((value, line)), true) = (lost_values.first(), found.is_empty()) {
        let was = lines.lines().nth(line.saturating_sub(1) as usize).unwrap_or_default();
        let says = format!("{name} goes by other values: {} is gone from `{}`.", shown(value), shown(was));
        found.push(Weakening::new(path, Some(after.line).filter(|line| *line > 0), says));
    }
    found
}

fn says_word(asserted: &Asserted, word: &str) -> bool {
    asserted.text.split(' ').any(|leaf| leaf == word)
}

/// What was asserted something about is not even called any more.
fn calls_less(
    path: &str,
    name: &str,
    (before, after): (&Unit, &Unit),
    elsewhere: &Successors<'_>,
) -> Option<Weakening> {
    let (earlier, later) = (elsewhere.facts.0.around(), elsewhere.facts.1.around());
    let has_new_function = after
        .calls
        .iter()
        .any(|c| elsewhere.whole.newly_defined.contains(&c.name) && before.has_called(&c.name) == 0);
    let lost = before.subjects().find(|subject| {
        after.has_called(subject) == 0
            && !EVERYWHERE.contains(subject)
            && !elsewhere.whole.undefined.contains(*subject)
            && later.has_called(subject) <= earlier.has_called(subject)
    })?;
    (!has_new_function).then(|| {
        let says = format!("{name} does not call `{lost}` any more, which it was about.");
        Weakening::new(path, Some(after.line), says)
    })
}
