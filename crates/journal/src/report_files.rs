//! Reports that a run leaves for other programs, as files of its folder: `critic-TASK-rROUND.json`. What is
//! in them is the engine's; this only says which file holds what.

use gadfly_engine::Digest;
use gadfly_engine::event::EventKind;

use crate::journal::Journal;
use crate::read::{ReadError, Record};
use crate::run_id::RunId;

/// A file of a run's folder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReportFile {
    /// A plain name.
    pub name: String,
    pub content: String,
}

/// The reports a record names: file name and text. A name that is no plain file name is left out, and so is
/// one that would take the place of another file of the folder.
pub fn named(record: &Record) -> impl Iterator<Item = (&str, &Digest)> {
    record.step.events.iter().filter_map(|event| match &event.what {
        EventKind::Reported { name, report, .. } if is_plain(name) => Some((name.as_str(), report)),
        _ => None,
    })
}

fn is_plain(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    name.len() <= 200
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.chars().all(plain)
        && std::path::Path::new(name).extension().is_some_and(|e| e.eq_ignore_ascii_case("json"))
        && !name.eq_ignore_ascii_case("state.json")
}

impl Journal {
    /// The reports that this record brought.
    pub fn reports_of(&self, record: &Record) -> Result<Vec<ReportFile>, ReadError> {
        let mut files = Vec::new();
        for (name, digest) in named(record) {
            let mut texts = record.input.texts.iter().chain(&record.step.texts);
            let content = match texts.find(|t| t.digest() == *digest) {
                Some(text) => text.as_str().to_owned(),
                None => match self.text(digest)? {
                    Some(text) => text.to_string(),
                    None => continue,
                },
            };
            files.push(ReportFile { name: name.to_owned(), content });
        }
        Ok(files)
    }

    /// Every report of a run, in the order they were made; one made again takes the place of the first.
    pub fn reports(&self, run: &RunId) -> Result<Vec<ReportFile>, ReadError> {
        let mut files: Vec<ReportFile> = Vec::new();
        for record in self.replay(run) {
            for file in self.reports_of(&record?)? {
                files.retain(|known| known.name != file.name);
                files.push(file);
            }
        }
        Ok(files)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_names_become_files() {
        for name in ["critic-T1-r1.json", "critic-a.b_c-r12.json"] {
            assert!(is_plain(name), "{name}");
        }
        for name in [
            "../x.json",
            "a/b.json",
            ".hidden.json",
            "critic-log.md",
            "",
            "a\0.json",
            "state.json",
            "a b.json",
        ] {
            assert!(!is_plain(name), "{name}");
        }
    }
}
