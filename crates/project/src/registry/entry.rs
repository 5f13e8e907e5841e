//! One heading with fields as the entries of the registry, one for each name in it.

use std::collections::BTreeMap;
use std::ops::Range;

use gadfly_engine::pipeline::{PairWeight, RegistryEntry};
use gadfly_engine::protocol::score::settings::EscalateTo;

use super::field::{Field, Label, meant, strays};
use super::product::Products;
use super::section::{RawField, RegistrySection};
use super::value::{JoinedText, bare, is_none, parts, without_note};
use super::{MOST_ENTRIES, RegistryReader, Spans, need, weight};
use crate::place::brief;

/// Longer names are no names of files.
const LONGEST_NAME: usize = 64;

pub(super) fn read(section: RegistrySection, reading: &mut RegistryReader<'_>) {
    let RegistrySection { heading, fields } = section;
    let count = |is: &dyn Fn(Field) -> bool| {
        fields.iter().filter(|field| matches!(field.label, Label::Known(known) if is(known))).count()
    };
    swallowed(&fields, reading);
    let makes_entry = count(&|field| matches!(field, Field::Requires | Field::Produces)) > 0;
    if makes_entry || count(&|_| true) > 0 {
        unknown(&fields, reading);
    }
    if !makes_entry {
        if count(&|_| true) > 1 {
            let message = format!("`{}` has fields, but neither REQUIRES nor PRODUCES", brief(&heading.text));
            reading.warning(message, "it is not taken for an agent: add one of them", &heading.span());
        }
        return;
    }
    let mut draft = EntryDraft::default();
    for field in &fields {
        draft.take(field, reading);
    }
    draft.enter(&heading, reading);
}

/// Who is named as somebody who works or judges, in lower case.
pub(super) fn people(section: &RegistrySection) -> Vec<String> {
    let critics = section.fields.iter().filter(|field| field.label == Label::Known(Field::Critic));
    let critics = critics.map(|field| bare(without_note(&field.value.text).0));
    let workers = names(&section.heading).into_iter().map(|(name, _)| name);
    let workers = workers.filter(|_| !section.fields.is_empty());
    workers.chain(critics).filter(|name| is_name(name)).map(str::to_lowercase).collect()
}

/// Two fields on one line: the second would be part of the first one's value, and lost.
fn swallowed(fields: &[RawField], reading: &mut RegistryReader<'_>) {
    for field in fields {
        let is_read = !matches!(field.label, Label::Unknown(_));
        for value in std::iter::once(&field.value).chain(&field.bullets) {
            for stray in strays(&value.text, is_read) {
                let of = match &field.label {
                    Label::Known(known) => known.name(),
                    _ => bare(reading.text.get(field.key.clone()).unwrap_or_default()).trim_end_matches(':'),
                };
                let inner = brief(value.get(&stray)).replace('*', "");
                let message = format!("`{inner}` stands inside the value of {}", brief(of));
                reading.error(message, "put it on a line of its own", &value.source(&stray));
            }
        }
    }
}

/// Fields we do not know are kept; those that were probably meant to be known are errors, because without them the
/// graph would be another.
fn unknown(fields: &[RawField], reading: &mut RegistryReader<'_>) {
    for field in fields {
        let Label::Unknown(key) = &field.label else { continue };
        if let Some(meant) = meant(key) {
            let message = format!("`{}` is no field", brief(key));
            reading.error(message, format!("did you mean `{meant}`?"), &field.key);
        } else if reading.file.unknown.len() < super::MOST_CONDITIONS {
            let line = reading.line(field.key.start);
            reading.file.unknown.push((key.clone(), line));
        }
    }
}

/// An entry before it has a name.
#[derive(Default)]
struct EntryDraft {
    entry: RegistryEntry,
    products: Products,
    /// As written: the component may be the agent's name, which is not known yet.
    weight: Option<(String, Range<usize>)>,
    seen: BTreeMap<Field, Range<usize>>,
    spans: Spans,
}

impl EntryDraft {
    fn take(&mut self, field: &RawField, reading: &mut RegistryReader<'_>) {
        let known = match &field.label {
            Label::Known(known) => *known,
            Label::Detail(..) => return self.products.detail(field, reading),
            Label::Unknown(_) => return,
        };
        if let Some(first) = self.seen.get(&known) {
            let message = format!("{} is given twice", known.name());
            let help = format!("it stands in line {} too: keep one", reading.line(first.start));
            reading.error(message, help, &field.key);
            return;
        }
        self.seen.insert(known, field.key.clone());
        let value = &field.value;
        let is_empty = value.text.is_empty() && field.bullets.iter().all(|bullet| bullet.text.is_empty());
        if is_empty && !matches!(known, Field::Phase | Field::Group) {
            let message = format!("{} has no value", known.name());
            reading.error(message, "write `None` if there is none", &field.key);
            return;
        }
        self.spans.values.insert(known, value.span());
        let (first, note) = without_note(&value.text);
        let text = Some(bare(first)).filter(|text| !text.is_empty() && !is_none(text));
        let entry = &mut self.entry;
        match known {
            Field::Phase => entry.phase = text.filter(|text| !is_any(text)).map(str::to_owned),
            Field::Group => entry.group = text.map(str::to_owned),
            Field::Requires => (entry.requires, self.spans.atoms) = need::read(field, reading),
            Field::Produces => self.products.read(field, reading),
            Field::Critic => entry.critic = text.and_then(|text| name_of(text, value, "a critic", reading)),
            Field::Escalation => {
                note.clone_into(&mut entry.escalation_reason);
                entry.escalate_to = text.map_or(EscalateTo::User, |text| target(text, value, reading));
            }
            Field::Weight => self.weight = Some((value.text.clone(), value.span())),
            Field::Conditional => {
                let word = bare(&value.text).trim_end_matches('.').to_lowercase();
                let is_off = is_none(&word) || matches!(word.as_str(), "no" | "false" | "never");
                entry.conditional = (!is_off).then(|| value.text.clone());
            }
        }
    }

    /// Adds an entry for each name in the heading.
    fn enter(mut self, heading: &JoinedText, reading: &mut RegistryReader<'_>) {
        self.entry.line = reading.line(heading.span().start);
        self.entry.produces = std::mem::take(&mut self.products.all);
        self.spans.products = std::mem::take(&mut self.products.spans);
        let names = names(heading);
        if names.is_empty() {
            reading.error("this entry has no name", "write the agent's name in the heading", &heading.span());
        }
        let (mut weight_is_wrong, mut is_first) = (false, true);
        for (name, span) in names {
            let source = heading.source(&span);
            if !is_name(name) {
                let help = "a name is letters, digits, `-` and `_`; if this is no agent, write its fields as a table";
                reading.error(format!("`{}` is no agent's name", brief(name)), help, &source);
                continue;
            }
            if let Some(first) = reading.file.registry.get(name) {
                let help = format!("its other entry is in line {}: keep one", first.line);
                reading.error(format!("`{name}` is declared twice"), help, &source);
                continue;
            }
            if reading.file.registry.entries.len() >= MOST_ENTRIES {
                return reading.overflow(&source);
            }
            // The first has been counted while it was read.
            let paths: usize = self.entry.produces.iter().map(|p| p.patterns.len() + p.files.len()).sum();
            let more = if is_first { 0 } else { self.spans.atoms.len() + paths };
            if !(0..more).all(|_| reading.room(&source)) {
                return;
            }
            is_first = false;
            let mut entry = self.entry.clone();
            name.clone_into(&mut entry.agent);
            if let Some((text, at)) = &self.weight {
                match weight::read(text, name) {
                    Ok(weight) => entry.weight = weight,
                    Err(_) if weight_is_wrong => {}
                    Err(why) => {
                        weight_is_wrong = true;
                        let help =
                            "write `10% (component)`, `Included in COMPONENT weight`, `Advisory` or `None`";
                        reading.error(format!("`{}` {why}", brief(text)), help, at);
                    }
                }
            }
            // Without a critic it would be dispatched as one: nobody should become that by leaving a line out.
            if !self.seen.contains_key(&Field::Critic) && matches!(entry.weight, PairWeight::Share { .. }) {
                let help = "name its critic, or write `CRITIC: None` if it judges the work of others itself";
                reading.error(
                    format!("`{name}` has a weight and says nothing about a critic"),
                    help,
                    &source,
                );
            }
            let spans = Spans { name: source, ..self.spans.clone() };
            reading.file.registry.entries.push(entry);
            reading.file.spans.push(spans);
        }
    }
}

/// `a / b / c`, each without its note.
fn names(heading: &JoinedText) -> Vec<(&str, Range<usize>)> {
    let text = heading.text.as_str();
    let (said, _) = without_note(text);
    let mut found = Vec::new();
    for part in parts(text, &(0..said.len()), &['/']) {
        let name = bare(&text[part.clone()]).trim_start_matches('/');
        if let Some(at) = text[part.clone()].find(name).filter(|_| !name.is_empty()) {
            found.push((name, part.start + at..part.start + at + name.len()));
        }
    }
    found
}

fn is_name(name: &str) -> bool {
    let is_letter = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    name.len() <= LONGEST_NAME && name.starts_with(char::is_alphanumeric) && name.chars().all(is_letter)
}

/// A single name, or an error.
fn name_of(text: &str, value: &JoinedText, what: &str, reading: &mut RegistryReader<'_>) -> Option<String> {
    if is_name(text) {
        return Some(text.to_owned());
    }
    let help = "write one name; what follows it is a note after ` — ` or in parentheses";
    reading.error(format!("`{}` is no name of {what}", brief(text)), help, &value.span());
    None
}

fn target(text: &str, value: &JoinedText, reading: &mut RegistryReader<'_>) -> EscalateTo {
    match text.to_lowercase().as_str() {
        "user" | "usuario" => EscalateTo::User,
        "orchestrator" | "orquestador" => EscalateTo::Orchestrator,
        _ => name_of(text, value, "somebody to escalate to", reading)
            .map_or(EscalateTo::User, EscalateTo::Agent),
    }
}

fn is_any(text: &str) -> bool {
    matches!(text.to_lowercase().as_str(), "any" | "cualquiera" | "all")
}
