//! Lists whose items are a string or a small table: `criteria` and `critics`.

use std::collections::BTreeMap;

use toml::Spanned;
use toml::de::DeValue;

use super::super::criteria::{CriteriaSetting, CriterionSetting, CriticSetting};
use super::super::keys::Shape;
use super::super::value::ConfigValue;
use super::{ConfigReader, FoundKey, kind_of};
use crate::place::{Sourced, brief};
use crate::suggest;

impl ConfigReader<'_> {
    pub(super) fn criteria(&mut self, found: &FoundKey<'_, '_>) -> Option<ConfigValue> {
        if found.value.is_str() {
            let text = self.text(Shape::Criteria, found)?;
            let place = self.source.place(found.span.clone());
            return CriteriaSetting::named(&text, |text| self.path(found.path, text, &place))
                .map(ConfigValue::Criteria);
        }
        let items = self.items(Shape::Criteria, found, |reader, item| {
            if item.value.is_str() {
                return reader.text(Shape::Text, item).map(|text| CriterionSetting::of_line(&text));
            }
            let mut fields = reader.fields(item, &["id", "text", "name", "question"])?;
            let name = fields.remove("id").or_else(|| fields.remove("name"));
            let text = fields.remove("text").or_else(|| fields.remove("question"));
            let Some(text) = text.filter(|_| fields.is_empty()) else {
                let message = format!("`{}` is not one criterion", item.path);
                let help =
                    "write { id = \"SC-1\", text = \"…\" }, or { name = \"CLARITY\", question = \"…?\" }";
                let place = reader.source.place(item.span.clone());
                reader.error(&place, message, Some(help.to_owned()));
                return None;
            };
            Some(CriterionSetting { name, text })
        })?;
        Some(ConfigValue::Criteria(CriteriaSetting::Items(items)))
    }

    pub(super) fn critics(&mut self, found: &FoundKey<'_, '_>) -> Option<ConfigValue> {
        let seats = self.items(Shape::Critics, found, |reader, item| {
            if item.value.is_str() {
                return reader.text(Shape::Text, item).map(|agent| CriticSetting { agent, lens: None });
            }
            let mut fields = reader.fields(item, &["agent", "lens"])?;
            let Some(agent) = fields.remove("agent") else {
                let place = reader.source.place(item.span.clone());
                let help = "write { agent = \"judge\", lens = \"method\" }";
                reader.error(&place, format!("`{}` names no `agent`", item.path), Some(help.to_owned()));
                return None;
            };
            Some(CriticSetting { agent, lens: fields.remove("lens") })
        })?;
        Some(ConfigValue::Critics(seats))
    }

    /// Every item is looked at, so that all that is wrong is reported.
    fn items<T>(
        &mut self,
        shape: Shape,
        found: &FoundKey<'_, '_>,
        mut read: impl FnMut(&mut Self, &FoundKey<'_, '_>) -> Option<T>,
    ) -> Option<Vec<Sourced<T>>> {
        let Some(list) = found.value.as_array() else {
            return self.wrong(shape, found, kind_of(found.value));
        };
        if list.is_empty() {
            return self.wrong(shape, found, "an empty list");
        }
        let mut items = Some(Vec::new());
        for (n, item) in list.iter().enumerate() {
            let path = format!("{}[{n}]", found.path);
            let item = FoundKey { path: &path, value: item.get_ref(), span: Spanned::span(item) };
            let read = read(self, &item).map(|value| self.sourced(value, item.span.clone()));
            items = items.zip(read).map(|(mut items, read)| {
                items.push(read);
                items
            });
        }
        items
    }

    /// The texts of a small table with no other keys than these.
    fn fields(
        &mut self,
        found: &FoundKey<'_, '_>,
        known: &[&'static str],
    ) -> Option<BTreeMap<&'static str, String>> {
        let DeValue::Table(table) = found.value else {
            let message =
                format!("`{}` must be a string or a table, not {}", found.path, kind_of(found.value));
            let place = self.source.place(found.span.clone());
            self.error(&place, message, None);
            return None;
        };
        let mut fields = Some(BTreeMap::new());
        for (name, value) in table {
            let path = format!("{}.{}", found.path, brief(name.get_ref()));
            let inner = FoundKey { path: &path, value: value.get_ref(), span: value.span() };
            let read = if let Some(key) = known.iter().find(|k| *k == name.get_ref()) {
                self.text(Shape::Text, &inner).map(|text| (*key, text))
            } else {
                let message = format!("unknown key `{}` in `{}`", brief(name.get_ref()), found.path);
                let place = self.source.place(name.span());
                self.error(&place, message, suggest::did_you_mean(name.get_ref(), known));
                None
            };
            fields = fields.zip(read).map(|(mut fields, (key, text))| {
                fields.insert(key, text);
                fields
            });
        }
        fields
    }
}
