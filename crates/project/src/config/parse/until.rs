//! When a goal is reached, as it is written in a file: a command, a table that names one check, or a list, of
//! which all must hold.

use std::collections::BTreeMap;

use gadfly_engine::protocol::goal::{Criterion, FileCheck};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::super::goals::until;
use super::super::keys::Shape;
use super::super::value::ConfigValue;
use super::{ConfigReader, FoundKey, kind_of};
use crate::place::brief;
use crate::suggest;

/// The checks there are, each with the other keys its table may have. A table is of the first that it names.
const CHECKS: [(&str, &[&str]); 9] = [
    ("shell", &["exit_code", "timeout", "evidence"]),
    ("json", &["where"]),
    ("vision", &["file", "expect"]),
    ("http", &["status", "contains"]),
    ("judge", &[]),
    ("manual", &[]),
    ("all", &[]),
    ("any", &[]),
    ("file", &["exists", "contains", "matches"]),
];

/// Lists within lists, at most.
const DEEPEST: usize = 8;

const HOW: &str = "write a command, or { shell = … }, { json = …, where = … }, { file = …, contains = … }, \
                   { http = … }, { judge = … }, { vision = …, file = …, expect = … }, { manual = true }, \
                   { all = […] } or { any = […] }";

/// The values of one check's table, by key.
type Fields<'a, 'i> = BTreeMap<&'static str, &'a Spanned<DeValue<'i>>>;

impl ConfigReader<'_> {
    pub(super) fn until(&mut self, found: &FoundKey<'_, '_>) -> Option<ConfigValue> {
        self.criterion(found, 0).map(ConfigValue::Until)
    }

    fn criterion(&mut self, found: &FoundKey<'_, '_>, depth: usize) -> Option<Criterion> {
        if depth > DEEPEST {
            return self.refused(found, format!("`{}` lies too deep", found.path), None);
        }
        let criterion = match found.value {
            DeValue::String(_) => until::shell(self.text(Shape::Until, found)?),
            DeValue::Array(_) => Criterion::All(self.branches(found, depth)?),
            DeValue::Table(table) => self.check(found, table, depth)?,
            other => return self.wrong(Shape::Until, found, kind_of(other)),
        };
        if matches!(criterion, Criterion::All(_) | Criterion::Any(_)) {
            return Some(criterion);
        }
        match criterion.problem() {
            Some(why) => self.refused(found, format!("`{}`: {why}", found.path), None),
            None => Some(criterion),
        }
    }

    /// Every one is looked at, so that all that is wrong is reported.
    fn branches(&mut self, found: &FoundKey<'_, '_>, depth: usize) -> Option<Vec<Criterion>> {
        let Some(list) = found.value.as_array() else {
            return self.wrong(Shape::Until, found, kind_of(found.value));
        };
        if list.is_empty() {
            return self.wrong(Shape::Until, found, "an empty list");
        }
        let mut all = Some(Vec::new());
        for (n, item) in list.iter().enumerate() {
            let path = format!("{}[{n}]", found.path);
            let item = FoundKey { path: &path, value: item.get_ref(), span: Spanned::span(item) };
            let read = self.criterion(&item, depth + 1);
            all = all.zip(read).map(|(mut all, read)| {
                all.push(read);
                all
            });
        }
        all
    }

    fn check<'a, 'i>(
        &mut self,
        found: &FoundKey<'a, 'i>,
        table: &'a DeTable<'i>,
        depth: usize,
    ) -> Option<Criterion> {
        let named = CHECKS.iter().find(|(check, _)| table.contains_key(*check));
        let Some((check, others)) = named else { return self.no_check(found, table) };
        let fields = self.known(found, table, check, others)?;
        let own = CheckField::of(found, check, *fields.get(check)?);
        match *check {
            "shell" => {
                let command = self.text(Shape::Text, &own.as_found())?;
                let exit_code = self.number(found, &fields, "exit_code", 0, 255).ok()?.unwrap_or(0);
                let exit_code = i32::try_from(exit_code).unwrap_or(0);
                let timeout_ms = self.millis(found, &fields)?;
                let evidence = self.texts(found, &fields, "evidence")?;
                Some(Criterion::Shell { command, exit_code, timeout_ms, evidence })
            }
            "json" => {
                let file = self.text(Shape::Text, &own.as_found())?;
                let predicate = self.needed(found, &fields, "where", "\"results.passed >= 3\"")?;
                Some(Criterion::Json { file, predicate })
            }
            "vision" => {
                let command = self.text(Shape::Text, &own.as_found())?;
                let file = self.needed(found, &fields, "file", "\"shot.png\"")?;
                let expected = self.needed(found, &fields, "expect", "\"the list is not empty\"")?;
                Some(Criterion::Vision { command, file, expected })
            }
            "http" => {
                let url = self.text(Shape::Text, &own.as_found())?;
                let status = self.number(found, &fields, "status", 100, 599).ok()?.unwrap_or(200);
                let contains = self.optional(found, &fields, "contains").ok()?;
                Some(Criterion::Http { url, status: u16::try_from(status).unwrap_or(200), contains })
            }
            "judge" => self.text(Shape::Text, &own.as_found()).map(|question| Criterion::Judge { question }),
            "manual" => match self.value(Shape::Flag, &own.as_found())? {
                ConfigValue::Flag(true) => Some(Criterion::Manual),
                _ => self.refused(found, format!("`{}.manual` can only be true", found.path), None),
            },
            "all" => self.branches(&own.as_found(), depth).map(Criterion::All),
            "any" => self.branches(&own.as_found(), depth).map(Criterion::Any),
            _ => {
                let path = self.text(Shape::Text, &own.as_found())?;
                let check = self.file_check(found, &fields)?;
                Some(Criterion::File { path, check })
            }
        }
    }

    /// One of `exists = true`, `contains` and `matches`; that it is there, if none of them is given.
    fn file_check(&mut self, found: &FoundKey<'_, '_>, fields: &Fields<'_, '_>) -> Option<FileCheck> {
        let contains = self.optional(found, fields, "contains").ok()?;
        let matches = self.optional(found, fields, "matches").ok()?;
        if let Some(exists) = fields.get("exists") {
            let exists = CheckField::of(found, "exists", exists);
            let ConfigValue::Flag(true) = self.value(Shape::Flag, &exists.as_found())? else {
                let message = format!("`{}.exists` can only be true", found.path);
                let help = "that a file is gone: { shell = \"test ! -e PATH\" }";
                return self.refused(found, message, Some(help.to_owned()));
            };
        }
        match (contains, matches, fields.contains_key("exists")) {
            (Some(text), None, false) => Some(FileCheck::Contains(text)),
            (None, Some(pattern), false) => Some(FileCheck::Matches(pattern)),
            (None, None, _) => Some(FileCheck::Exists),
            _ => {
                let message = format!("`{}` says more than one thing about its file", found.path);
                let help = "keep one of `exists`, `contains` and `matches`; two checks are { all = […] }";
                self.refused(found, message, Some(help.to_owned()))
            }
        }
    }

    fn no_check<T>(&mut self, found: &FoundKey<'_, '_>, table: &DeTable<'_>) -> Option<T> {
        let checks = || CHECKS.iter().map(|(check, _)| *check);
        let near = table.keys().find_map(|key| {
            suggest::nearest(key.get_ref(), checks()).map(|near| format!("did you mean `{near}`?"))
        });
        let help = near.unwrap_or_else(|| HOW.to_owned());
        self.refused(found, format!("`{}` names no check", found.path), Some(help))
    }

    /// The keys of a table that names this check; those of no check, or of another one, are reported.
    fn known<'a, 'i>(
        &mut self,
        found: &FoundKey<'_, '_>,
        table: &'a DeTable<'i>,
        check: &'static str,
        others: &'static [&'static str],
    ) -> Option<Fields<'a, 'i>> {
        let known: Vec<&'static str> = std::iter::once(check).chain(others.iter().copied()).collect();
        let mut fields = Some(Fields::new());
        for (name, value) in table {
            if let Some(key) = known.iter().find(|key| *key == name.get_ref()) {
                if let Some(fields) = &mut fields {
                    fields.insert(key, value);
                }
                continue;
            }
            let message =
                format!("unknown key `{}` beside `{check}` in `{}`", brief(name.get_ref()), found.path);
            let place = self.source.place(name.span());
            self.error(&place, message, suggest::did_you_mean(name.get_ref(), &known));
            fields = None;
        }
        fields
    }

    /// A text that may be left out.
    fn optional(
        &mut self,
        found: &FoundKey<'_, '_>,
        fields: &Fields<'_, '_>,
        key: &'static str,
    ) -> Result<Option<String>, Reported> {
        let Some(value) = fields.get(key) else { return Ok(None) };
        let inner = CheckField::of(found, key, value);
        self.text(Shape::Text, &inner.as_found()).map(Some).ok_or(Reported)
    }

    /// A list of strings; empty if there is none.
    fn texts(
        &mut self,
        found: &FoundKey<'_, '_>,
        fields: &Fields<'_, '_>,
        key: &'static str,
    ) -> Option<Vec<String>> {
        let Some(value) = fields.get(key) else { return Some(Vec::new()) };
        let inner = CheckField::of(found, key, value);
        match self.value(Shape::Texts, &inner.as_found())? {
            ConfigValue::Texts(texts) => Some(texts.into_iter().map(|text| text.value).collect()),
            _ => None,
        }
    }

    fn needed(
        &mut self,
        found: &FoundKey<'_, '_>,
        fields: &Fields<'_, '_>,
        key: &'static str,
        example: &str,
    ) -> Option<String> {
        if let Some(text) = self.optional(found, fields, key).ok()? {
            return Some(text);
        }
        let message = format!("`{}` needs `{key}`", found.path);
        self.refused(found, message, Some(format!("add {key} = {example}")))
    }

    fn number(
        &mut self,
        found: &FoundKey<'_, '_>,
        fields: &Fields<'_, '_>,
        key: &'static str,
        min: u64,
        max: u64,
    ) -> Result<Option<u64>, Reported> {
        let Some(value) = fields.get(key) else { return Ok(None) };
        let inner = CheckField::of(found, key, value);
        match self.value(Shape::Whole { min, max }, &inner.as_found()) {
            Some(ConfigValue::Whole(number)) => Ok(Some(number)),
            _ => Err(Reported),
        }
    }

    fn millis(&mut self, found: &FoundKey<'_, '_>, fields: &Fields<'_, '_>) -> Option<u64> {
        let Some(value) = fields.get("timeout") else { return Some(until::CHECK_TIMEOUT_MS) };
        let inner = CheckField::of(found, "timeout", value);
        match self.value(Shape::Time, &inner.as_found())? {
            ConfigValue::Time(time) => Some(until::millis(time)),
            _ => None,
        }
    }

    fn refused<T>(&mut self, found: &FoundKey<'_, '_>, message: String, help: Option<String>) -> Option<T> {
        let place = self.source.place(found.span.clone());
        self.error(&place, message, help);
        None
    }
}

/// It was wrong, and that is among the problems.
struct Reported;

/// A value of a check's table, with its path.
struct CheckField<'a, 'i> {
    path: String,
    value: &'a Spanned<DeValue<'i>>,
}

impl<'a, 'i> CheckField<'a, 'i> {
    fn of(found: &FoundKey<'_, '_>, key: &str, value: &'a Spanned<DeValue<'i>>) -> Self {
        Self { path: format!("{}.{key}", found.path), value }
    }

    fn as_found(&self) -> FoundKey<'_, 'i> {
        FoundKey { path: &self.path, value: self.value.get_ref(), span: self.value.span() }
    }
}
