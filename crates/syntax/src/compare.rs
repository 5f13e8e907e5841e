//! Holds the tests of two versions against each other: which are gone, which are switched off, which assert less or
//! expect something else. What moved is still there.

mod pairs;
mod unit;

use std::collections::{HashMap, HashSet};

use crate::facts::{Facts, Unit};
use crate::language::{self, Language};
use crate::{ChangedFile, Examination, Version, Weakening};

/// One changed file that was read in both versions; a version that is absent has nothing in it.
pub struct Read<'c> {
    pub change: &'c ChangedFile,
    pub language: &'static Language,
    pub before: Facts,
    pub after: Facts,
}

/// What is known of all changed files together.
#[derive(Default)]
pub struct AllFiles {
    /// Names that are not defined any more where they were, and those that are new.
    pub undefined: HashSet<String>,
    pub newly_defined: HashSet<String>,
    /// Names of files that are gone, without their extensions.
    pub removed: HashSet<String>,
    /// Assertions that are new where they are.
    pub gained: Counts,
    /// Values that are new around tests.
    pub values: Counts,
}

/// How often something occurs.
#[derive(Clone, Default)]
pub struct Counts(HashMap<String, usize>);

impl Counts {
    pub fn of<'a>(items: impl IntoIterator<Item = &'a str>) -> Self {
        let mut counts = Self::default();
        items.into_iter().for_each(|item| counts.add(item));
        counts
    }

    pub fn add(&mut self, item: &str) {
        *self.0.entry(item.to_owned()).or_default() += 1;
    }

    /// Takes one away, if there is one.
    pub fn take(&mut self, item: &str) -> bool {
        self.0.get_mut(item).filter(|count| **count > 0).map(|count| *count -= 1).is_some()
    }
}

pub fn tests(changes: &[ChangedFile], is_there: &dyn Fn(&str) -> bool, examined: &mut Examination) {
    let mut read = Vec::new();
    for change in changes {
        let Some(language) = language::of(&change.path) else { continue };
        match (facts(language, change, &change.before), facts(language, change, &change.after)) {
            (Some(before), Some(after)) => read.push(Read { change, language, before, after }),
            (before, _) => examined.found.extend(unread(language, change, before.as_ref())),
        }
    }
    let paired = pairs::find(&read);
    let whole = AllFiles::of(&read, &paired);
    for (file, unit, twin) in &paired.pairs {
        let (from, to) = (&read[*file], &read[twin.0]);
        let (before, after) = (&from.before.tests()[*unit], &to.after.tests()[twin.1]);
        unit::compare(&unit::UnitPair { from, to, before, after }, &whole, &mut examined.found);
    }
    for (file, unit) in &paired.gone {
        examined.found.push(gone(&read[*file], &read[*file].before.tests()[*unit]));
    }
    for (file, unit) in &paired.new {
        unit::judge_new(&read[*file], &read[*file].after.tests()[*unit], &mut examined.found);
    }
    for file in &read {
        examined.found.extend(of_file(file, &whole, is_there));
        examined.read.push(file.change.path.clone());
    }
}

fn facts(language: &'static Language, change: &ChangedFile, version: &Version) -> Option<Facts> {
    match version {
        Version::Absent => Some(Facts::default()),
        Version::Text(text) => Facts::read(language, text, change.is_test),
        Version::Opaque => None,
    }
}

/// A file nobody can say anything about. A test by its name is known to be changed; one that holds tests besides is not.
fn unread(language: &Language, change: &ChangedFile, before: Option<&Facts>) -> Option<Weakening> {
    let text = change.before.text().unwrap_or_default();
    let had_tests = before.map_or_else(
        || ["#[test]", "#[cfg(test)]", "@Test", "TestCase"].iter().any(|word| text.contains(word)),
        |facts| !facts.tests().is_empty(),
    );
    (had_tests && !change.is_test).then(|| {
        let says = format!(
            "It holds tests and cannot be read as {} any more, so nobody can say what became of them.",
            language.name
        );
        Weakening::new(&change.path, None, says)
    })
}

impl AllFiles {
    fn of(read: &[Read<'_>], paired: &pairs::Paired) -> Self {
        let names = |of: for<'r> fn(&'r Read<'_>) -> &'r Facts| -> HashSet<String> {
            read.iter().flat_map(|file| of(file).defined.iter().map(|(name, _)| name.clone())).collect()
        };
        let (before, after) = (names(|f| &f.before), names(|f| &f.after));
        let mut whole = Self {
            undefined: before.difference(&after).cloned().collect(),
            newly_defined: after.difference(&before).cloned().collect(),
            removed: read
                .iter()
                .filter(|f| !f.change.after.is_there())
                .map(|f| stem(&f.change.path).to_owned())
                .collect(),
            ..Self::default()
        };
        let pairs = paired.pairs.iter().map(|(file, unit, twin)| {
            (&read[*file].before.tests()[*unit], &read[twin.0].after.tests()[twin.1])
        });
        for (before, after) in
            pairs.chain(read.iter().map(|file| (file.before.around(), file.after.around())))
        {
            let mut known = Counts::of(texts(before));
            texts(after).filter(|text| !known.take(text)).for_each(|text| whole.gained.add(text));
        }
        let new = paired.new.iter().flat_map(|(file, unit)| texts(&read[*file].after.tests()[*unit]));
        new.for_each(|text| whole.gained.add(text));
        for file in read {
            let mut known = Counts::of(file.before.around().literals.iter().map(|(value, _)| value.as_str()));
            let values = file.after.around().literals.iter().map(|(value, _)| value.as_str());
            values.filter(|value| !known.take(value)).for_each(|value| whole.values.add(value));
        }
        whole
    }
}

fn texts(unit: &Unit) -> impl Iterator<Item = &str> {
    unit.assertions.iter().filter(|a| !a.vacuous).map(|a| a.text.as_str())
}

fn gone(file: &Read<'_>, unit: &Unit) -> Weakening {
    let name = unit.name.rsplit('.').next().unwrap_or(&unit.name);
    let path = &file.change.path;
    let still = file.after.defined.iter().find(|(defined, _)| defined == name);
    let says = match still {
        Some(_) => format!("`{name}` is no test any more: no runner runs it."),
        None if !file.change.after.is_there() => format!("The test `{name}` was deleted with its file."),
        None => format!("The test `{name}` was deleted."),
    };
    Weakening::new(path, still.map(|(_, line)| *line), says)
}

/// What concerns a file and none of its tests.
fn of_file(file: &Read<'_>, whole: &AllFiles, is_there: &dyn Fn(&str) -> bool) -> Vec<Weakening> {
    let mut found = Vec::new();
    let Read { change, language, before, after } = file;
    let path = &change.path;
    if !change.after.is_there() {
        let only_help = change.is_test && before.tests().is_empty() && change.before.is_there();
        if only_help && !whole.moved(before) {
            found.push(Weakening::new(path, None, "A file that tests are run with was deleted."));
        }
        return found;
    }
    if change.before.is_there() {
        unit::compare_around(file, whole, &mut found);
    } else {
        let off = after.around().off.iter().filter(|mark| !mark.conditional);
        found.extend(off.map(|mark| Weakening::new(path, Some(mark.line), unit::switched_off(&mark.text))));
    }
    // Where nobody finds tests by their names, somebody has to call them.
    for unit in after.tests().iter().filter(|_| language.calls_tests) {
        if before.around().has_called(&unit.name) > 0 && after.around().has_called(&unit.name) == 0 {
            found.push(Weakening::new(
                path,
                Some(unit.line),
                format!("The test `{}` is not called any more.", unit.name),
            ));
        }
    }
    // Whoever runs a file with two tests of one name runs the second.
    if language.redefines {
        let mut seen = HashMap::new();
        for unit in after.tests() {
            let earlier = seen.insert(unit.name.as_str(), unit.line);
            let before = before.tests().iter().filter(|b| b.name == unit.name).count();
            if let (Some(earlier), true) = (earlier, before < 2) {
                let says = format!(
                    "`{}` is defined again, so that the one in line {earlier} is not run.",
                    unit.name
                );
                found.push(Weakening::new(path, Some(unit.line), says));
            }
        }
    }
    let mut known = Counts::of(before.told.iter().map(|mark| mark.text.as_str()));
    for mark in after.told.iter().filter(|mark| !known.take(&mark.text)) {
        let says = format!("The code asks whether it is being tested: `{}`.", mark.text);
        found.push(Weakening::new(path, Some(mark.line), says));
    }
    let mut known = Counts::of(before.equal.iter().map(|mark| mark.text.as_str()));
    for mark in after.equal.iter().filter(|mark| !known.take(&mark.text)) {
        let says = format!("`{}` says of everything that it is equal.", mark.text);
        found.push(Weakening::new(path, Some(mark.line), says));
    }
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_program =
        ["main", "cli", "__main__", "index", "app", "server"].iter().any(|stem| name.starts_with(stem))
            || path.contains("bin/")
            || path.contains("scripts/")
            || path.contains("cmd/");
    let mut known = Counts::of(before.exits.iter().map(|mark| mark.text.as_str()));
    for mark in after.exits.iter().filter(|mark| !known.take(&mark.text)) {
        if !is_program || mark.text.contains("_exit") {
            let says = format!("The code ends the whole program as if all were well: `{}`.", mark.text);
            found.push(Weakening::new(path, Some(mark.line), says));
        }
    }
    for (name, line) in &after.defined {
        let asserts =
            ["assert", "expect", "EXPECT", "ASSERT", "REQUIRE", "CHECK"].iter().any(|b| name.starts_with(b));
        if asserts && language.strength(name).is_some() && !before.has_defined(name) {
            let says = format!("`{name}`, by which tests assert, is defined anew here.");
            found.push(Weakening::new(path, Some(*line), says));
        }
    }
    for (name, _) in
        before.defined.iter().filter(|(name, _)| name.starts_with("mod ") && name.contains("test"))
    {
        let module = &name[4..];
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let stem = path.rsplit('/').next().and_then(|n| n.strip_suffix(".rs")).unwrap_or_default();
        let below = if matches!(stem, "lib" | "main" | "mod") {
            folder.to_owned()
        } else {
            format!("{folder}/{stem}")
        };
        let file = |tail: &str| format!("{below}/{module}{tail}").trim_start_matches('/').to_owned();
        if whole.undefined.contains(name) && (is_there(&file(".rs")) || is_there(&file("/mod.rs"))) {
            found.push(Weakening::new(
                path,
                None,
                format!("The tests in `{}` are not compiled any more: `{name};` is gone.", file(".rs")),
            ));
        }
    }
    if change.is_test {
        found.extend(imported_elsewhere(file, whole, is_there));
    }
    found
}

/// The same name from another place: what is tested, or what asserts, may be a stand-in.
fn imported_elsewhere(file: &Read<'_>, whole: &AllFiles, is_there: &dyn Fn(&str) -> bool) -> Vec<Weakening> {
    let mut found = Vec::new();
    for (name, from, _) in &file.before.imports {
        let still = file.after.imports.iter().any(|(n, f, _)| n == name && f == from);
        let Some((_, now, line)) =
            file.after.imports.iter().find(|(n, f, _)| n == name && f != from).filter(|_| !still)
        else {
            continue;
        };
        let stem = stem(from);
        let folder = file.change.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let places = [".py", ".js", ".ts", ".tsx", ".mjs", "/index.js", "/index.ts", "/__init__.py", ".java"];
        let remains = places.iter().any(|end| {
            is_there(format!("{folder}/{stem}{end}").trim_start_matches('/'))
                || is_there(&format!("{stem}{end}"))
                || is_there(&format!("src/{stem}{end}"))
        });
        let is_library = !from.starts_with('.') && !remains;
        let was_moved =
            whole.undefined.contains(name) || whole.removed.contains(stem) || (!remains && !is_library);
        let now_ours = now.starts_with('.') || {
            let path = now.replace('.', "/");
            let java = ["src/test/java", "src/main/java"];
            is_there(&format!("{path}.py"))
                || java.iter().any(|root| is_there(&format!("{root}/{path}/{name}.java")))
        };
        if !was_moved && (!is_library || now_ours) {
            let says = format!("`{name}` is imported from `{now}` in place of `{from}`.");
            found.push(Weakening::new(&file.change.path, Some(*line), says));
        }
    }
    found
}

/// The last name of a file or a module, without an extension.
fn stem(path: &str) -> &str {
    let extensions = ["js", "ts", "tsx", "mjs", "py", "java", "rs", "go", "rb"];
    path.rsplit(['/', '.']).find(|part| !part.is_empty() && !extensions.contains(part)).unwrap_or(path)
}

impl AllFiles {
    /// Is all that this file defined and asserted now elsewhere?
    fn moved(&self, before: &Facts) -> bool {
        let defines = !before.defined.is_empty();
        defines
            && before
                .defined
                .iter()
                .all(|(name, _)| self.newly_defined.contains(name) || !self.undefined.contains(name))
    }
}
