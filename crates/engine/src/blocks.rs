//! A worker's brief as plain labelled blocks, in the order they are added.

use std::fmt::Write as _;

use crate::brief::{Reference, one_line};
use crate::digest::Digest;
use crate::turn::{Message, Part, Speaker};

#[derive(Clone, Debug, Default)]
pub struct Blocks(Vec<Part>);

impl Blocks {
    /// Begins with a template, already stored.
    pub fn of(template: Digest) -> Self {
        Self(vec![Part::Blob(template)])
    }

    /// A template, or any other stored text without a label.
    pub fn text(mut self, text: Digest) -> Self {
        self.0.push(Part::Blob(text));
        self
    }

    pub fn references(mut self, references: &[Reference]) -> Self {
        for reference in references {
            self = self.block(&format!("Reference {}", one_line(&reference.name)), reference.text);
        }
        self
    }

    /// `Label:` and a stored text below it.
    pub fn block(mut self, label: &str, text: Digest) -> Self {
        self.0.push(Part::Text(format!("{label}:\n")));
        self.0.push(Part::Blob(text));
        self.0.push(Part::Text("\n\n".into()));
        self
    }

    /// `Label: value` on one line.
    pub fn line(mut self, label: &str, value: &str) -> Self {
        self.0.push(Part::Text(format!("{label}: {}\n", one_line(value))));
        self
    }

    /// `Label:` and a bullet per item; nothing if there are none.
    pub fn list<I: AsRef<str>>(mut self, label: &str, items: &[I]) -> Self {
        if items.is_empty() {
            return self;
        }
        let mut list = format!("{label}:\n");
        for item in items {
            let _ = writeln!(list, "- {}", one_line(item.as_ref()));
        }
        list.push('\n');
        self.0.push(Part::Text(list));
        self
    }

    pub fn message(self) -> Message {
        Message { from: Speaker::User, parts: self.0 }
    }
}
