//! What a loop is judged by, one by one, and by whom: `criteria` and `critics` as they are configured.

use std::path::{Path, PathBuf};

use gadfly_engine::protocol::converge::sets;

use crate::file;
use crate::place::{ConfigLayer, Problem, Sourced, brief};
use crate::rubric;

/// A critic's seat: who, and what it looks at in particular.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CriticSetting {
    pub agent: String,
    pub lens: Option<String>,
}

impl CriticSetting {
    /// Where there are two, a critic without a lens has its own name for one.
    pub fn lens_or_name(&self) -> &str {
        self.lens.as_deref().unwrap_or(&self.agent)
    }
}

/// Criteria as they are configured; [`read`] gives the list they stand for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CriteriaSetting {
    /// A ready-made set of `converge`.
    Set(String),
    File(PathBuf),
    Items(Vec<Sourced<CriterionSetting>>),
}

/// One criterion: its text, and its name or id if it was given one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CriterionSetting {
    pub name: Option<String>,
    pub text: String,
}

/// Whether a word names a ready-made set of `converge`, not a file.
pub fn is_set(word: &str) -> bool {
    sets::set(word).is_some()
}

impl CriteriaSetting {
    /// A word: the name of a ready-made set, else a path.
    pub fn named(word: &str, path: impl FnOnce(&str) -> Option<PathBuf>) -> Option<Self> {
        if is_set(word) {
            return Some(Self::Set(word.to_owned()));
        }
        path(word).map(Self::File)
    }
}

impl CriterionSetting {
    /// A line of text; `SC-1: …` and `CLARITY: …` begin with the name.
    pub fn of_line(line: &str) -> Self {
        let line = line.trim();
        let named =
            line.split_once(':').filter(|(name, text)| is_name(name.trim()) && !text.trim().is_empty());
        match named {
            Some((name, text)) => Self { name: Some(name.trim().to_owned()), text: text.trim().to_owned() },
            None => Self { name: None, text: line.to_owned() },
        }
    }
}

/// `SC-1`, `EDGE_CASES`: no lower-case letters, so that a sentence with a colon stays a sentence.
fn is_name(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || matches!(c, '-' | '_' | '.');
    (1..=60).contains(&text.len())
        && text.chars().all(fits)
        && text.contains(|c: char| c.is_ascii_uppercase())
}

/// The criteria a setting stands for. A set is none: it is looked up where its questions are.
pub fn read(setting: &Sourced<CriteriaSetting>) -> Result<Vec<Sourced<CriterionSetting>>, Problem> {
    match &setting.value {
        CriteriaSetting::Items(items) => Ok(items.clone()),
        CriteriaSetting::File(path) => {
            from_file(path, setting.layer).map_err(|p| p.at(setting.place.as_ref()))
        }
        CriteriaSetting::Set(name) => {
            let set = sets::set(name).map(|s| s.criteria.as_slice()).unwrap_or_default();
            let item = |c: &sets::ConvergeCriterion| {
                setting.with(CriterionSetting { name: Some(c.name.clone()), text: c.question.clone() })
            };
            Ok(set.iter().map(item).collect())
        }
    }
}

fn from_file(path: &Path, layer: ConfigLayer) -> Result<Vec<Sourced<CriterionSetting>>, Problem> {
    let known: Vec<&str> = sets::names().collect();
    let text = file::read_text(path).map_err(|error| {
        Problem::error(format!("criteria: {error}")).help(format!(
            "give a file with one criterion per line, or a ready-made set: {}",
            known.join(", ")
        ))
    })?;
    let items = rubric::items(&text, path, layer);
    if items.is_empty() {
        let message = format!("criteria: `{}` has no criteria", brief(&path.display().to_string()));
        return Err(Problem::error(message).help("write one criterion per line, or bullets"));
    }
    Ok(items.into_iter().map(|i| i.map(|line| CriterionSetting::of_line(&line))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_may_begin_with_its_name() {
        for (line, name, text) in [
            ("SC-1: every endpoint has a test", Some("SC-1"), "every endpoint has a test"),
            ("EDGE_CASES:  Which are missing?", Some("EDGE_CASES"), "Which are missing?"),
            ("note: a sentence with a colon", None, "note: a sentence with a colon"),
            ("at 12:30 it runs", None, "at 12:30 it runs"),
            ("12: it runs", None, "12: it runs"),
            ("SC-1:", None, "SC-1:"),
        ] {
            let read = CriterionSetting::of_line(line);
            assert_eq!((read.name.as_deref(), read.text.as_str()), (name, text), "{line}");
        }
    }

    #[test]
    fn a_file_gives_a_criterion_per_line_and_a_set_its_questions() {
        let tmp = tempfile::tempdir().unwrap();
        let path = tmp.path().join("c.md");
        std::fs::write(&path, "# Criteria\n\n- SC-7: it compiles\n- it has tests\n").unwrap();
        let found = read(&Sourced::flag(CriteriaSetting::File(path))).unwrap();
        let shown: Vec<_> = found.iter().map(|c| (c.value.name.as_deref(), c.value.text.as_str())).collect();
        assert_eq!(shown, [(Some("SC-7"), "it compiles"), (None, "it has tests")]);
        let found = read(&Sourced::flag(CriteriaSetting::Set("tasks".into()))).unwrap();
        assert_eq!(
            found.iter().map(|c| c.value.name.as_deref()).collect::<Vec<_>>(),
            [Some("COVERAGE"), Some("DEPENDENCIES")]
        );
        let gone = read(&Sourced::flag(CriteriaSetting::File(tmp.path().join("gone")))).unwrap_err();
        assert!(gone.help.unwrap().contains("spec, plan, tasks"), "the sets are named");
    }
}
