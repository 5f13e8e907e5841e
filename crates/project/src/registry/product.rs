//! PRODUCES: the paths an agent makes, with the files and sections that have to be there.

use std::ops::Range;

use gadfly_engine::pipeline::{Pattern, Product};

use super::RegistryReader;
use super::field::{Detail, Field, Label};
use super::need::balanced;
use super::path;
use super::section::RawField;
use super::value::{self, JoinedText, bare, is_none, without_dash};
use crate::place::brief;

const UNDELIVERABLE: &str = "it can never be delivered";
const ELSEWHERE: &str = "name a path outside `.git/` and `.gadfly/`";

/// The products of an entry, and where they stand.
#[derive(Default)]
pub(super) struct Products {
    pub(super) all: Vec<Product>,
    pub(super) spans: Vec<Range<usize>>,
}

impl Products {
    pub(super) fn read(&mut self, field: &RawField, reading: &mut RegistryReader<'_>) {
        self.list(&field.value, reading);
        // Below a value bullets are remarks; without a value they are the list.
        let is_list = field.value.text.is_empty();
        for bullet in &field.bullets {
            if is_list {
                self.list(bullet, reading);
            } else {
                reading.note(&bullet.text, bullet.span().start);
            }
        }
    }

    /// What `Required …` says about the last PRODUCES.
    pub(super) fn detail(&mut self, field: &RawField, reading: &mut RegistryReader<'_>) {
        let Label::Detail(detail, about) = &field.label else { return };
        for value in std::iter::once(&field.value).chain(&field.bullets) {
            if value.text.is_empty() || is_none(&value.text) {
                continue;
            }
            if *detail == Detail::Content {
                reading.count(false);
                reading.note(&value.text, value.span().start);
                continue;
            }
            balanced(value, reading);
            if self.all.is_empty() {
                let message = "these are required of no product";
                reading.error(
                    message,
                    format!("name a path in {} first", Field::Produces.name()),
                    &field.key,
                );
                return;
            }
            match detail {
                Detail::Files => self.files(value, reading),
                Detail::Sections => self.sections(value, about.as_deref(), reading),
                Detail::Content => {}
            }
        }
    }

    fn list(&mut self, value: &JoinedText, reading: &mut RegistryReader<'_>) {
        balanced(value, reading);
        let mut items = value::parts(&value.text, &(0..value.text.len()), &[',', ';']);
        items = items.into_iter().flat_map(|item| without_word(value, &item, &["and", "AND", "y"])).collect();
        for item in items {
            self.item(value, &item, reading);
        }
    }

    /// One item of the list: a path, paths with `or` between them, or prose.
    fn item(&mut self, value: &JoinedText, item: &Range<usize>, reading: &mut RegistryReader<'_>) {
        let text = value.get(item);
        if is_none(without_dash(text).0) || !reading.room(&value.source(item)) {
            return;
        }
        let said = item.start..item.start + without_dash(text).0.len();
        let alternatives = without_word(value, &said, &["or", "OR", "o"]);
        let mut product = Product { line: reading.line(value.source(item).start), ..Product::default() };
        let mut is_prose = false;
        for part in &alternatives {
            if alternatives.len() > 1 && !reading.room(&value.source(part)) {
                return;
            }
            match one_path(value.get(part)) {
                path::PathReading::Path(pattern) if is_undeliverable(&pattern) => {
                    let message =
                        format!("`{}` cannot be made: {UNDELIVERABLE}", brief(bare(value.get(part))));
                    reading.error(message, ELSEWHERE, &value.source(part));
                    return;
                }
                path::PathReading::Path(pattern) => product.patterns.push(pattern),
                path::PathReading::Refused(why) => {
                    let message = format!("`{}` cannot be made: {why}", brief(bare(value.get(part))));
                    let help = "name a path inside the project, with `/` between folders";
                    reading.error(message, help, &value.source(part));
                    return;
                }
                path::PathReading::No => is_prose = true,
            }
        }
        let is_checked = !product.patterns.is_empty();
        reading.count(is_checked);
        if is_checked && !is_prose {
            self.spans.push(value.source(item));
            self.all.push(product);
            return;
        }
        if is_checked {
            let message = format!("only part of `{}` is a path", brief(text));
            let help =
                "write the paths with commas between them, and everything else as a note in parentheses";
            reading.warning(message, help, &value.source(item));
            self.spans.push(value.source(item));
            self.all.push(product);
        }
        reading.note(text, value.source(item).start);
    }

    fn files(&mut self, value: &JoinedText, reading: &mut RegistryReader<'_>) {
        let whole = 0..value.text.len();
        let (said, _) = without_dash(&value.text);
        let target = self.all.iter().position(|p| p.patterns.iter().any(Pattern::is_folder)).unwrap_or(0);
        let folders = self.all.iter().filter(|p| p.patterns.iter().any(Pattern::is_folder)).count();
        let Some(product) = self.all.get_mut(target) else { return };
        let Some(folder) = product.patterns.first().map(folder_of) else { return };
        if folders > 1 {
            let message =
                format!("these files may belong to several folders: taken for `{}`", brief(&folder));
            reading.warning(message, "write them with their folder", &value.source(&whole));
        }
        for part in value::parts(&value.text, &(0..said.len()), &[',', ';']) {
            let (name, note) = value::without_parenthesis(value.get(&part));
            let span = value.source(&part);
            reading.note(note, span.start);
            if !reading.room(&span) {
                return;
            }
            // A name alone may be any word: `Makefile`.
            let name = bare(name).trim_end_matches('.');
            let in_folder =
                if name.starts_with(folder.as_str()) { name.to_owned() } else { format!("{folder}{name}") };
            let is_named = !name.starts_with(['/', '~']) && !name.contains(char::is_whitespace);
            match path::read(if is_named { &in_folder } else { name }) {
                path::PathReading::Path(pattern) if is_undeliverable(&pattern) => {
                    let message = format!("`{}` cannot be required: {UNDELIVERABLE}", brief(name));
                    reading.error(message, ELSEWHERE, &span);
                }
                path::PathReading::Path(pattern) => product.files.push(pattern),
                path::PathReading::Refused(why) => {
                    let help = "name a file below the folder";
                    reading.error(format!("`{}` cannot be required: {why}", brief(name)), help, &span);
                }
                path::PathReading::No if is_named => product.files.push(Pattern(in_folder)),
                path::PathReading::No => {
                    let message = format!("`{}` is no file's name", brief(name));
                    reading.warning(message, "write names with commas between them", &span);
                }
            }
        }
    }

    fn sections(&mut self, value: &JoinedText, about: Option<&str>, reading: &mut RegistryReader<'_>) {
        let parts = value::parts(&value.text, &(0..value.text.len()), &[',', ';']);
        let titles = parts.iter().map(|part| bare(value.get(part)).trim_end_matches('.').to_owned());
        let titles: Vec<String> = titles.filter(|title| !title.is_empty()).collect();
        if !reading.room(&value.span()) {
            return;
        }
        let Some(about) = about.map(str::to_lowercase) else {
            let is_text = |p: &Product| !p.files.is_empty() || p.patterns.iter().any(Pattern::is_plain_file);
            let target = self.all.iter().position(is_text).unwrap_or(0);
            if let Some(product) = self.all.get_mut(target) {
                product.sections.extend(titles);
            }
            return;
        };
        let mut named = self.all.iter().flat_map(|p| p.files.iter().chain(&p.patterns));
        if let Some(pattern) = named.find(|pattern| pattern.0.to_lowercase().contains(bare(&about))).cloned()
        {
            let line = reading.line(value.span().start);
            self.all.push(Product { patterns: vec![pattern], files: Vec::new(), sections: titles, line });
            self.spans.push(value.span());
        } else {
            let message = format!("no product is called `{}`: its sections are not checked", brief(&about));
            reading.warning(message, "write part of the file's name in the parentheses", &value.span());
            reading.count(false);
        }
    }
}

/// Git's own files and ours are never written for an agent.
fn is_undeliverable(pattern: &Pattern) -> bool {
    let mut parts = pattern.0.split('/');
    let is_ours = parts.clone().next().is_some_and(|part| part.eq_ignore_ascii_case(".gadfly"));
    is_ours || parts.any(|part| part.eq_ignore_ascii_case(".git"))
}

/// The folder a product's files stand in: itself, or the one it lies in. Empty, or it ends in `/`.
fn folder_of(pattern: &Pattern) -> String {
    if pattern.is_folder() {
        return pattern.0.clone();
    }
    pattern.0.rfind('/').map_or(String::new(), |at| pattern.0[..=at].to_owned())
}

/// The parts of a stretch between these words, where a path stands on both sides; else the stretch whole.
fn without_word(value: &JoinedText, range: &Range<usize>, joints: &[&'static str]) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut start = range.start;
    for (at, _) in value::words(&value.text, range, joints) {
        parts.push(value::trimmed(&value.text, &(start..at.start)));
        start = at.end;
    }
    parts.push(value::trimmed(&value.text, &(start..range.end)));
    let is_path = |part: &Range<usize>| !matches!(one_path(value.get(part)), path::PathReading::No);
    if parts.iter().all(is_path) { parts } else { vec![range.clone()] }
}

/// The one path of an item: in backticks with prose around it, or bare and alone. A path that must not be written is
/// none: what follows `never`.
fn one_path(text: &str) -> path::PathReading {
    let outside = value::plain(text);
    let (first, _) = value::without_note(text);
    let alone = path::read(first);
    if alone != path::PathReading::No {
        return alone;
    }
    let not_in_parentheses = |code: &Range<usize>| {
        let before = text[..code.start].matches('(').count();
        before == text[..code.start].matches(')').count()
    };
    let mut found = value::code_spans(text)
        .into_iter()
        .filter(not_in_parentheses)
        .map(|code| path::read(&text[code]))
        .filter(|read| *read != path::PathReading::No);
    let prose: String = text.char_indices().filter(|(at, _)| outside[*at]).map(|(_, c)| c).collect();
    let is_denied = prose
        .to_lowercase()
        .split(|c: char| !c.is_alphanumeric())
        .any(|word| matches!(word, "never" | "not" | "no" | "nunca" | "except"));
    match (found.next(), found.next()) {
        (Some(one), None) if !is_denied => one,
        _ => path::PathReading::No,
    }
}
