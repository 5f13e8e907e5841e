//! The front matter of a plan: flat keys with a word or a list each. Lenient by design: what is not understood is
//! passed over, and what is missing is the caller's to miss.

use std::ops::Range;

use gadfly_project::markdown;

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct PageHead {
    fields: Vec<PageField>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct PageField {
    key: String,
    text: String,
    list: Vec<String>,
    span: Range<usize>,
}

impl PageHead {
    pub fn read(text: &str) -> Self {
        let end = markdown::body_start(text);
        let mut fields: Vec<PageField> = Vec::new();
        let mut at = 0;
        for raw in text.get(..end).unwrap_or_default().split_inclusive('\n') {
            let line = raw.trim_end();
            let span = at..at + line.len();
            at += raw.len();
            let trimmed = line.trim_start();
            let nested = line.starts_with([' ', '\t']);
            if let (Some(item), Some(field)) = (trimmed.strip_prefix("- "), fields.last_mut()) {
                field.list.push(plain(item));
            } else if !nested && let Some((key, value)) = line.split_once(':') {
                let value = value.trim();
                let inner = value.strip_prefix('[').and_then(|v| v.split_once(']')).map(|(v, _)| v);
                let list = inner.map(|inner| inner.split(',').map(plain).filter(|i| !i.is_empty()).collect());
                let key = key.trim_start_matches('\u{feff}').trim().to_ascii_lowercase();
                fields.push(PageField { key, text: plain(value), list: list.unwrap_or_default(), span });
            }
        }
        Self { fields }
    }

    fn field(&self, key: &str) -> Option<&PageField> {
        self.fields.iter().find(|f| f.key == key)
    }

    /// A word that says something.
    pub fn text(&self, key: &str) -> Option<&str> {
        let text = self.field(key)?.text.as_str();
        (!text.is_empty() && text != "null").then_some(text)
    }

    /// A list, or a single word as a list of one.
    pub fn list(&self, key: &str) -> Vec<String> {
        let Some(field) = self.field(key) else { return Vec::new() };
        if field.list.is_empty() && !field.text.starts_with('[') {
            return self.text(key).map(ToOwned::to_owned).into_iter().collect();
        }
        field.list.iter().filter(|i| !i.is_empty()).cloned().collect()
    }

    /// Where the key stands; the page's beginning if it does not.
    pub fn span(&self, key: &str) -> Range<usize> {
        self.field(key).map_or(0..0, |f| f.span.clone())
    }
}

/// Without quotes, and without a comment after an unquoted word.
fn plain(value: &str) -> String {
    let value = value.trim();
    for quote in ['"', '\''] {
        if let Some((inner, _)) = value.strip_prefix(quote).and_then(|v| v.split_once(quote)) {
            return inner.to_owned();
        }
    }
    let end = if value.starts_with('#') { 0 } else { value.find(" #").unwrap_or(value.len()) };
    value.get(..end).unwrap_or_default().trim_end().to_owned()
}
