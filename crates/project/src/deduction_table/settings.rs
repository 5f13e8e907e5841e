//! A TOML rubric: `[[rubric]]` rows, `[severity]` points, `[scale]` per cent.
//!
//! ```toml
//! [[rubric]]
//! row = "Missing citation"
//! per = -10
//! max = -30
//! unit = "claim"
//! ```

use std::collections::BTreeMap;
use std::ops::Range;

use gadfly_engine::deduction::{Amount, Gravity, Level, Points};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{Builder, TableDraft, columns, markdown};
use crate::place::brief;
use crate::suggest;

const TOP: [&str; 3] = ["rubric", "severity", "scale"];
const ROW: [&str; 9] = ["row", "id", "category", "points", "per", "max", "unit", "severity", "at"];
const ONE_COST: &str = "give each row one of `points = -20`, `per = -10` or `severity = \"major\"`";

pub(super) fn read(builder: &mut Builder<'_>) {
    let (document, errors) = DeTable::parse_recoverable(builder.text);
    if !errors.is_empty() {
        for error in errors {
            let message: String = error.message().chars().take(300).collect();
            let message = format!("not valid TOML: {}", crate::place::visible(&message));
            builder.error(message, "nothing else in this file was checked", error.span().unwrap_or(0..0));
        }
        return;
    }
    for (name, value) in document.get_ref() {
        match name.get_ref().as_ref() {
            "rubric" => match value.get_ref().as_array() {
                Some(rows) => rows.iter().for_each(|row| self::row(builder, row)),
                None => wrong(builder, "rubric", "tables, written as [[rubric]]", value.span()),
            },
            "severity" => gravities(builder, value),
            "scale" => scale(builder, value),
            other => unknown(builder, other, &TOP, name.span()),
        }
    }
}

fn unknown(builder: &mut Builder<'_>, name: &str, known: &[&str], span: Range<usize>) {
    let help = suggest::did_you_mean(name, known).unwrap_or_default();
    builder.error(format!("unknown key `{}`", brief(name)), &help, span);
}

fn wrong(builder: &mut Builder<'_>, key: &str, must: &str, span: Range<usize>) {
    builder.error(format!("`{key}` must be {must}"), "see the form in the reference of rubrics", span);
}

fn row(builder: &mut Builder<'_>, value: &Spanned<DeValue<'_>>) {
    let Some(fields) = value.get_ref().as_table() else {
        return wrong(builder, "rubric", "tables, written as [[rubric]]", value.span());
    };
    let before = builder.problems.len();
    for (name, _) in fields {
        if !ROW.contains(&name.get_ref().as_ref()) {
            unknown(builder, name.get_ref(), &ROW, name.span());
        }
    }
    let text = text(builder, fields, "row");
    let (id, category, unit) = (
        self::text(builder, fields, "id"),
        self::text(builder, fields, "category"),
        self::text(builder, fields, "unit"),
    );
    let points = points(builder, fields, unit, value.span());
    let at = fields.get("at").map(|at| at_levels(builder, at)).unwrap_or_default();
    let Some(text) = text else {
        if !fields.contains_key("row") {
            builder.error(
                "a row has no `row`".into(),
                "say what it is about: row = \"Missing citation\"",
                value.span(),
            );
        }
        return;
    };
    // A row that is wrong in part would cost something that was not meant.
    if let Some(points) = points.filter(|_| builder.problems.len() == before) {
        builder.row(TableDraft { id, category, text, points }, value.span());
        if let Some(row) = builder.table.rows.last_mut() {
            row.at = at;
        }
    }
}

fn points(
    builder: &mut Builder<'_>,
    fields: &DeTable<'_>,
    unit: Option<String>,
    span: Range<usize>,
) -> Option<Points> {
    let flat = amount(builder, fields, "points");
    let each = amount(builder, fields, "per");
    let max = amount(builder, fields, "max");
    let gravity = match (fields.get("severity"), text(builder, fields, "severity")) {
        (Some(value), Some(word)) => {
            let gravity = Gravity::parse(&word);
            if gravity.is_none() {
                wrong(builder, "severity", "\"critical\", \"major\" or \"minor\"", value.span());
            }
            gravity
        }
        _ => None,
    };
    let stated = ["points", "per", "severity"].iter().filter(|key| fields.contains_key(**key)).count();
    if stated != 1 {
        let message =
            if stated == 0 { "this row has no points" } else { "this row has points in more than one way" };
        builder.error(message.into(), ONE_COST, span);
        return None;
    }
    if let (Some(each), Some(max)) = (each, max)
        && max < each
    {
        builder.error("the maximum is below one deduction".into(), "`max` is the most a row takes off", span);
        return None;
    }
    match (flat, each, gravity) {
        (Some(_), ..) if max.is_some() => {
            builder.error("`max` belongs to `per`".into(), "write per = -10 and max = -30", span);
            None
        }
        (Some(flat), ..) => Some(Points::Flat(flat)),
        (_, Some(each), _) => Some(Points::Per { each, unit, max }),
        (_, _, Some(gravity)) => Some(Points::Gravity(gravity)),
        _ => None,
    }
}

fn text(builder: &mut Builder<'_>, fields: &DeTable<'_>, key: &str) -> Option<String> {
    let value = fields.get(key)?;
    match value.get_ref().as_str() {
        Some(text) if !text.trim().is_empty() => Some(text.trim().to_owned()),
        _ => {
            wrong(builder, key, "text", value.span());
            None
        }
    }
}

fn amount(builder: &mut Builder<'_>, fields: &DeTable<'_>, key: &str) -> Option<Amount> {
    let value = fields.get(key)?;
    let read = written(value.get_ref()).and_then(|text| markdown::amount(&text));
    if read.is_none() {
        wrong(builder, key, "a number of points like -20", value.span());
    }
    read
}

/// A number or text as it is written.
fn written(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(n) if n.radix() == 10 => Some(n.as_str().to_owned()),
        DeValue::Float(n) => Some(n.as_str().to_owned()),
        _ => None,
    }
}

/// `at = { discovery = -2, strategy = "none" }`.
fn at_levels(builder: &mut Builder<'_>, value: &Spanned<DeValue<'_>>) -> BTreeMap<Level, Option<Points>> {
    let mut at = BTreeMap::new();
    let Some(fields) = value.get_ref().as_table() else {
        wrong(builder, "at", "a table like { discovery = -2, execution = -10 }", value.span());
        return at;
    };
    for (name, value) in fields {
        let Some(level) = level(builder, name) else { continue };
        match written(value.get_ref()).map(|text| super::cell::read(&text)) {
            Some(super::cell::Cell::Points { points, open: false, .. }) => {
                at.insert(level, Some(points));
            }
            Some(super::cell::Cell::Nothing) => {
                at.insert(level, None);
            }
            _ => wrong(
                builder,
                name.get_ref(),
                "points like -10, \"-10 per, max -30\" or \"none\"",
                value.span(),
            ),
        }
    }
    at
}

fn level(builder: &mut Builder<'_>, name: &Spanned<std::borrow::Cow<'_, str>>) -> Option<Level> {
    let level = columns::level(name.get_ref());
    if level.is_none() {
        let known: Vec<&str> = Level::ALL.iter().map(|level| level.name()).collect();
        unknown(builder, name.get_ref(), &known, name.span());
    }
    level
}

fn gravities(builder: &mut Builder<'_>, value: &Spanned<DeValue<'_>>) {
    let Some(fields) = value.get_ref().as_table() else {
        return wrong(builder, "severity", "a table of points, written as [severity]", value.span());
    };
    for (name, value) in fields {
        let Some(gravity) = Gravity::parse(name.get_ref()) else {
            let known = Gravity::ALL.map(Gravity::name);
            unknown(builder, name.get_ref(), &known, name.span());
            continue;
        };
        let Some(points) = written(value.get_ref()).and_then(|text| markdown::amount(&text)) else {
            wrong(builder, gravity.name(), "a number of points like 25", value.span());
            continue;
        };
        match gravity {
            Gravity::Critical => builder.table.gravities.critical = points,
            Gravity::Major => builder.table.gravities.major = points,
            Gravity::Minor => builder.table.gravities.minor = points,
        }
    }
}

fn scale(builder: &mut Builder<'_>, value: &Spanned<DeValue<'_>>) {
    let Some(fields) = value.get_ref().as_table() else {
        return wrong(builder, "scale", "a table of per cent, written as [scale]", value.span());
    };
    for (name, value) in fields {
        let Some(level) = level(builder, name) else { continue };
        let read = match value.get_ref() {
            DeValue::Integer(n) if n.radix() == 10 => n.as_str().parse().ok().filter(|p| *p <= 1_000),
            DeValue::String(text) => markdown::percent(text),
            DeValue::Float(n) => markdown::percent(n.as_str()),
            _ => None,
        };
        match read {
            Some(percent) => {
                builder.table.scale.insert(level, percent);
            }
            None => wrong(builder, name.get_ref(), "per cent, as 50 or \"50%\"", value.span()),
        }
    }
}
