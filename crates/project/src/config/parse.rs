//! One layer: TOML text in, a table of checked values and *all* problems out.
//!
//! Shapes and ranges are checked here, by the table of keys. What depends on other keys or other layers
//! (required keys, names of agents) is checked when the layers are merged.

mod lists;
mod until;

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};

use super::keys::{self, ConfigSection, Shape};
use super::names::{AgentKind, ArtifactSource, GOALS_ARE_NO_LOOPS};
use super::protocols::LoopProtocol;
use super::value::{self, ConfigTable, ConfigValue};
use crate::file;
use crate::place::{ConfigLayer, Problem, Source, SourceSpan, Sourced, brief};
use crate::suggest;

/// What one layer says.
#[derive(Clone, PartialEq, Debug)]
pub struct LayerConfig(pub(super) ConfigTable);

/// Reads one layer. Problems are in the order of the file.
pub fn parse(source: &Source) -> (LayerConfig, Vec<Problem>) {
    let mut reader = ConfigReader { source, problems: Vec::new() };
    let empty = ConfigTable::new(ConfigSection::Top, source.layer, None);
    if source.text.len() as u64 > file::LARGEST {
        let message = format!("this configuration is larger than {} bytes", file::LARGEST);
        return (LayerConfig(empty), vec![Problem::error(message).at(Some(&source.place(0..0)))]);
    }
    let (document, errors) = DeTable::parse_recoverable(&source.text);
    if !errors.is_empty() {
        // What a broken file seems to say after recovery is guesswork: its errors would mislead.
        for error in errors {
            let place = source.place(error.span().unwrap_or(0..0));
            reader.problems.push(
                Problem::error(format!("not valid TOML: {}", brief_message(error.message())))
                    .at(Some(&place)),
            );
        }
        let mut problems = reader.sorted();
        if let Some(last) = problems.last_mut() {
            last.help = Some("nothing else in this file was checked, because it does not parse".into());
        }
        return (LayerConfig(empty), problems);
    }
    let table = reader.table(ConfigSection::Top, "", None, document.get_ref());
    (LayerConfig(table), reader.sorted())
}

fn brief_message(message: &str) -> String {
    crate::place::visible(&message.chars().take(300).collect::<String>())
}

struct ConfigReader<'s> {
    source: &'s Source,
    problems: Vec<Problem>,
}

/// A key's dotted path, for messages, and its value with its span.
struct FoundKey<'a, 'i> {
    path: &'a str,
    value: &'a DeValue<'i>,
    span: Range<usize>,
}

impl ConfigReader<'_> {
    fn sorted(mut self) -> Vec<Problem> {
        self.problems.sort_by_key(|p| p.at.as_ref().map_or(0, |at| at.span.start));
        self.problems
    }

    fn table(
        &mut self,
        section: ConfigSection,
        path: &str,
        place: Option<SourceSpan>,
        from: &DeTable<'_>,
    ) -> ConfigTable {
        let mut table = ConfigTable::new(section, self.source.layer, place);
        for (name, value) in from {
            let Some(key) = keys::find(section, name.get_ref()) else {
                self.unknown_key(section, path, name.get_ref(), name.span());
                continue;
            };
            let path = if path.is_empty() { key.name.to_owned() } else { format!("{path}.{}", key.name) };
            let found = FoundKey { path: &path, value: value.get_ref(), span: value.span() };
            // The key is the place for a table, whose own span may be all of its lines.
            let span = if value.get_ref().is_table() { name.span() } else { value.span() };
            let read = self.value(key.shape, &found).unwrap_or(ConfigValue::Unusable);
            table.insert(key.name, self.sourced(read, span));
        }
        for (s, a, b) in keys::EXCLUSIVE {
            if *s == section
                && table.has(a)
                && let Some(place) = table.place_of(b).filter(|_| table.has(b)).cloned()
            {
                let message = format!("`{a}` and `{b}` cannot both be given in `{path}`");
                self.error(&place, message, Some("keep one of them".into()));
            }
        }
        table
    }

    fn value(&mut self, shape: Shape, found: &FoundKey<'_, '_>) -> Option<ConfigValue> {
        match shape {
            Shape::Text => self.text(shape, found).map(ConfigValue::Text),
            Shape::Command => {
                let list = self.list(shape, found)?;
                if list.is_empty() {
                    return self.wrong(shape, found, "an empty list");
                }
                Some(ConfigValue::Texts(list))
            }
            Shape::Path => {
                let text = self.text(shape, found)?;
                let place = self.source.place(found.span.clone());
                self.path(found.path, &text, &place).map(ConfigValue::Path)
            }
            Shape::Paths => {
                let list = self.list(shape, found)?;
                let mut paths = Vec::with_capacity(list.len());
                for item in list {
                    let place = item.place.as_ref()?;
                    paths.push(item.with(self.path(found.path, &item.value, place)?));
                }
                Some(ConfigValue::Paths(paths))
            }
            Shape::OneOrMore if found.value.is_str() => {
                let text = self.text(shape, found)?;
                Some(ConfigValue::Texts(vec![self.sourced(text, found.span.clone())]))
            }
            Shape::OneOrMore => match self.list(shape, found)? {
                list if list.is_empty() => self.wrong(shape, found, "an empty list"),
                list => Some(ConfigValue::Texts(list)),
            },
            Shape::OneOf(words) => {
                let text = self.text(shape, found)?;
                if words.contains(&text.as_str()) {
                    return Some(ConfigValue::Text(text));
                }
                self.wrong(shape, found, &self.written(&found.span))
            }
            Shape::Criteria => self.criteria(found),
            Shape::Critics => self.critics(found),
            Shape::Until => self.until(found),
            Shape::Rubric if found.value.is_str() => self.value(Shape::Path, found),
            Shape::Texts | Shape::Rubric => self.list(shape, found).map(ConfigValue::Texts),
            Shape::Whole { min, max } => match found.value.as_integer().map(whole) {
                None => self.wrong(shape, found, kind_of(found.value)),
                Some(n) => match n.and_then(|n| u64::try_from(n).ok()).filter(|n| (min..=max).contains(n)) {
                    Some(n) => Some(ConfigValue::Whole(n)),
                    None => self.wrong(shape, found, &self.written(&found.span)),
                },
            },
            Shape::Number { min, max } => {
                let number = match found.value {
                    DeValue::Integer(n) => decimal(n),
                    DeValue::Float(n) => n.as_str().parse().ok(),
                    other => return self.wrong(shape, found, kind_of(other)),
                };
                match number.filter(|n| (min..=max).contains(n)) {
                    Some(n) => Some(ConfigValue::Number(n)),
                    None => self.wrong(shape, found, &self.written(&found.span)),
                }
            }
            Shape::Flag => match found.value.as_bool() {
                Some(b) => Some(ConfigValue::Flag(b)),
                None => self.wrong(shape, found, kind_of(found.value)),
            },
            Shape::Time => {
                let read = match found.value {
                    DeValue::String(text) => value::time(text),
                    DeValue::Integer(n) => whole(n).and_then(|n| value::time(&format!("{n}s"))),
                    other => return self.wrong(shape, found, kind_of(other)),
                };
                match read {
                    Some(time) => Some(ConfigValue::Time(time)),
                    None => self.wrong(shape, found, &self.written(&found.span)),
                }
            }
            Shape::Kind => {
                let now: Vec<_> = AgentKind::every().map(|k| (k.name(), k)).collect();
                self.choice(shape, found, "kind", &now, &[]).map(ConfigValue::Kind)
            }
            Shape::Protocol => {
                let now: Vec<_> = LoopProtocol::all().map(|p| (p.name(), p)).collect();
                self.choice(shape, found, "protocol", &now, &LoopProtocol::OF_GOALS)
                    .map(ConfigValue::Protocol)
            }
            Shape::Output => {
                let now: Vec<_> = ArtifactSource::ALL.iter().map(|o| (o.name(), *o)).collect();
                self.choice(shape, found, "output", &now, &[]).map(ConfigValue::Output)
            }
            Shape::Table(section) => {
                let Some(inner) = found.value.as_table() else {
                    return self.wrong(shape, found, kind_of(found.value));
                };
                let place = Some(self.source.place(found.span.clone()));
                Some(ConfigValue::Table(self.table(section, found.path, place, inner)))
            }
            Shape::Named(section) => self.named(section, shape, found),
            Shape::Rows(section) => self.rows(section, shape, found),
        }
    }

    fn rows(
        &mut self,
        section: ConfigSection,
        shape: Shape,
        found: &FoundKey<'_, '_>,
    ) -> Option<ConfigValue> {
        let Some(items) = found.value.as_array() else {
            return self.wrong(shape, found, kind_of(found.value));
        };
        let mut rows = Some(Vec::with_capacity(items.len()));
        for (n, item) in items.iter().enumerate() {
            let path = format!("{}[{n}]", found.path);
            let item = FoundKey { path: &path, value: item.get_ref(), span: Spanned::span(item) };
            let Some(inner) = item.value.as_table() else {
                rows = self.wrong(Shape::Table(section), &item, kind_of(item.value));
                continue;
            };
            let place = Some(self.source.place(item.span.clone()));
            let row = self.table(section, &path, place, inner);
            if let Some(rows) = &mut rows {
                rows.push(row);
            }
        }
        rows.map(ConfigValue::Rows)
    }

    fn named(
        &mut self,
        section: ConfigSection,
        shape: Shape,
        found: &FoundKey<'_, '_>,
    ) -> Option<ConfigValue> {
        let Some(outer) = found.value.as_table() else {
            return self.wrong(shape, found, kind_of(found.value));
        };
        let mut tables = BTreeMap::new();
        for (name, inner) in outer {
            let place = self.source.place(name.span());
            let path = format!("{}.{}", found.path, brief(name.get_ref()));
            if !is_name(name.get_ref()) {
                let help = "use letters, digits, `-` and `_`, at most 64 of them";
                self.error(&place, format!("`{path}` is not a usable name"), Some(help.into()));
                continue;
            }
            let Some(table) = inner.get_ref().as_table() else {
                let inner = FoundKey { path: &path, value: inner.get_ref(), span: inner.span() };
                self.wrong::<()>(Shape::Table(section), &inner, kind_of(inner.value));
                continue;
            };
            let table = self.table(section, &path, Some(place), table);
            tables.insert(name.get_ref().to_string(), table);
        }
        Some(ConfigValue::Tables(tables))
    }

    fn text(&mut self, shape: Shape, found: &FoundKey<'_, '_>) -> Option<String> {
        match found.value.as_str() {
            Some(text) if text.trim().is_empty() => self.wrong(shape, found, "an empty string"),
            Some(text) => Some(text.to_owned()),
            None => self.wrong(shape, found, kind_of(found.value)),
        }
    }

    fn list(&mut self, shape: Shape, found: &FoundKey<'_, '_>) -> Option<Vec<Sourced<String>>> {
        let Some(items) = found.value.as_array() else {
            return self.wrong(shape, found, kind_of(found.value));
        };
        let mut list = Some(Vec::with_capacity(items.len()));
        for (n, item) in items.iter().enumerate() {
            let path = format!("{}[{n}]", found.path);
            let item = FoundKey { path: &path, value: item.get_ref(), span: Spanned::span(item) };
            match (self.text(Shape::Text, &item), &mut list) {
                (Some(text), Some(list)) => list.push(self.sourced(text, item.span)),
                // The other items are still looked at, so that all of them are reported.
                (None, _) => list = None,
                (_, None) => {}
            }
        }
        list
    }

    fn path(&mut self, key: &str, text: &str, place: &SourceSpan) -> Option<std::path::PathBuf> {
        let path = Path::new(text);
        if self.source.layer != ConfigLayer::Project {
            return Some(self.source.dir.join(path));
        }
        match file::inside(&self.source.dir, path) {
            Ok(path) => Some(path),
            Err(error) => {
                let help = "a project's configuration may name only files of the project; copy it there, or name it with a flag";
                self.error(place, format!("`{key}`: {error}"), Some(help.into()));
                None
            }
        }
    }

    fn choice<T: Copy>(
        &mut self,
        shape: Shape,
        found: &FoundKey<'_, '_>,
        what: &str,
        now: &[(&'static str, T)],
        elsewhere: &[&'static str],
    ) -> Option<T> {
        let text = self.text(shape, found)?;
        if let Some((_, chosen)) = now.iter().find(|(name, _)| *name == text) {
            return Some(*chosen);
        }
        let place = self.source.place(found.span.clone());
        let names: Vec<&str> = now.iter().map(|(name, _)| *name).collect();
        let list = names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ");
        if elsewhere.contains(&text.as_str()) {
            let message = format!("{what} `{text}` is not for loops");
            self.error(&place, message, Some(format!("{GOALS_ARE_NO_LOOPS}; for loops there are {list}")));
        } else {
            let all: Vec<&str> = names.iter().copied().chain(elsewhere.iter().copied()).collect();
            let help = suggest::did_you_mean(&text, &all);
            self.error(&place, format!("unknown {what} `{}`", brief(&text)), help);
        }
        None
    }

    fn unknown_key(&mut self, section: ConfigSection, path: &str, name: &str, span: Range<usize>) {
        let known = keys::names(section);
        let elsewhere = || keys::all().find(|k| k.name == name && k.section != ConfigSection::Price);
        let help = match (suggest::nearest(name, known.iter().copied()), elsewhere()) {
            (Some(near), _) => Some(format!("did you mean `{near}`?")),
            (None, Some(other)) => {
                let section = if other.shared { ConfigSection::Defaults } else { other.section };
                Some(format!("`{name}` belongs in {}", section.header()))
            }
            (None, None) => suggest::did_you_mean(name, &known),
        };
        let at = if path.is_empty() { String::new() } else { format!(" in `{path}`") };
        let place = self.source.place(span);
        self.error(&place, format!("unknown key `{}`{at}", brief(name)), help);
    }

    fn wrong<T>(&mut self, shape: Shape, found: &FoundKey<'_, '_>, is: &str) -> Option<T> {
        let message = format!("`{}` must be {}, not {is}", found.path, shape.expects());
        let help = shape.example().map(str::to_owned);
        self.error(&self.source.place(found.span.clone()), message, help);
        None
    }

    fn error(&mut self, place: &SourceSpan, message: String, help: Option<String>) {
        self.problems.push(Problem::error(message).maybe_help(help).at(Some(place)));
    }

    fn sourced<T>(&self, value: T, span: Range<usize>) -> Sourced<T> {
        Sourced { value, layer: self.source.layer, place: Some(self.source.place(span)) }
    }

    /// The value as it stands in the file.
    fn written(&self, span: &Range<usize>) -> String {
        brief(self.source.text.get(span.clone()).unwrap_or("this"))
    }
}

fn whole(n: &DeInteger<'_>) -> Option<i128> {
    i128::from_str_radix(n.as_str(), n.radix()).ok()
}

fn decimal(n: &DeInteger<'_>) -> Option<f64> {
    whole(n).map(|n| n as f64)
}

fn kind_of(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

fn is_name(name: &str) -> bool {
    (1..=64).contains(&name.len()) && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
}
