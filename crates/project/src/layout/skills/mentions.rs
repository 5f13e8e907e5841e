//! Whom and what a SKILL.md speaks of, part by part: agents by whole words, files by paths that exist, places to save
//! at by the words around them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::bundled::{Bundle, Meaning};
use crate::layout::AgentFile;
use crate::layout::reading::LayoutReader;
use crate::layout::rules::heading;
use crate::place::{Problem, SourceSpan, brief};

/// More paths of one SKILL.md are not looked at.
const MOST_PATHS: usize = 4_000;
const MOST_SAVES: usize = 50;
/// Where a problem stands costs the length of the file to find.
const MOST_SAID: usize = 50;

/// What stands under one heading.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct SkillSection {
    level: usize,
    /// Of a part that names nobody, those of the part around it.
    pub agents: Vec<String>,
    pub files: Vec<PathBuf>,
}

/// A path somebody is told to save at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SavePath {
    pub text: String,
    pub place: SourceSpan,
}

/// Lines with the byte each begins at.
fn lines(text: &str, from: usize) -> impl Iterator<Item = (&str, usize)> {
    let mut at = from;
    text.get(from..).unwrap_or_default().split_inclusive('\n').map(move |raw| {
        let start = at;
        at += raw.len();
        (raw.trim_end(), start)
    })
}

/// Names by how they are compared.
pub(super) type Index<'a> = BTreeMap<String, &'a str>;

pub(super) fn index(names: &BTreeMap<String, AgentFile>) -> Index<'_> {
    names.keys().map(|name| (name.to_lowercase(), name.as_str())).collect()
}

/// Agents in the order of their first mention. The longest word counts: `coder-critic` is no mention of `coder`.
pub(super) fn agents(text: &str, names: &Index<'_>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for word in text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_' | '.'))) {
        let bare = word.trim_matches(['-', '.', '_']);
        let bare = bare.strip_suffix(".md").unwrap_or(bare);
        let name = names.get(&bare.to_lowercase());
        if let Some(name) = name.filter(|name| found.iter().all(|f| f != **name)) {
            found.push((*name).to_owned());
        }
    }
    found
}

pub(super) fn sections(
    reader: &mut LayoutReader<'_>,
    bundle: &Bundle<'_>,
    (path, text): (&Path, &str),
    body_start: usize,
) -> Vec<SkillSection> {
    let names = index(bundle.shelf.agents);
    let mut all = vec![SkillSection::default()];
    let (mut looked_at, mut said) = (0_usize, 0_usize);
    let mut fenced = false;
    for (line, at) in lines(text, body_start) {
        fenced ^= line.trim_start().starts_with("```");
        if let Some((level, _)) = heading(line) {
            all.push(SkillSection { level, ..SkillSection::default() });
        }
        let Some(section) = all.last_mut() else { continue };
        for agent in agents(line, &names) {
            if !section.agents.contains(&agent) {
                section.agents.push(agent);
            }
        }
        for (written, from) in paths(line) {
            looked_at += 1;
            if looked_at > MOST_PATHS {
                break;
            }
            match bundle.meaning(reader.root, written) {
                Meaning::Nothing => {}
                Meaning::Files(files) => section.files.extend(files),
                // An example, or the end of a longer path: `[topic]/proofs.tex`, `"$HOME"/x.sh`.
                Meaning::Outside { .. } if said >= MOST_SAID || fenced || is_rest(line, from) => {}
                Meaning::Outside { is_sure } => {
                    said += 1;
                    let span = at + from..at + from + written.len();
                    let place = SourceSpan::new(path, text, span);
                    reader.problems.push(outside(written, is_sure, &place));
                }
            }
        }
    }
    inherit(&mut all);
    all
}

/// Whether something stands directly before it that belongs to the same path.
fn is_rest(line: &str, from: usize) -> bool {
    line.get(..from).is_some_and(|before| before.ends_with([']', '}', '>', '"', '\'', ')']))
}

fn outside(written: &str, is_sure: bool, place: &SourceSpan) -> Problem {
    let message = format!("`{}` is outside the project; not shared with agents", brief(written));
    let problem = if is_sure { Problem::error(message) } else { Problem::warning(message) };
    problem.help("copy the file into the project, and name it there").at(Some(place))
}

/// A part that names nobody belongs to whom the part around it names.
fn inherit(sections: &mut [SkillSection]) {
    let mut around: Vec<(usize, Vec<String>)> = Vec::new();
    for section in sections {
        around.retain(|(level, _)| *level < section.level);
        if section.agents.is_empty()
            && let Some((_, agents)) = around.last()
        {
            section.agents.clone_from(agents);
        }
        if !section.agents.is_empty() {
            around.push((section.level, section.agents.clone()));
        }
    }
}

/// Whatever could be a path, with where it begins in the line.
fn paths(line: &str) -> Vec<(&str, usize)> {
    let divides = |c: char| {
        c.is_whitespace()
            || matches!(c, '`' | '"' | '\'' | '(' | ')' | '[' | ']' | '<' | '>' | ',' | ';' | '|')
    };
    let words = line.split(divides).filter(|word| !word.contains("://"));
    let words = words
        .map(|word| word.trim_start_matches('@').trim_end_matches(['.', ':', '!', '?']).trim_matches(['_']));
    let words = words.map(|word| word.strip_prefix("**").unwrap_or(word));
    let words = words.filter(|word| word.len() < 400 && word.contains(['/', '.']) && word.len() > 2);
    // Words are parts of the line: their distance is where they begin.
    words.map(|word| (word, word.as_ptr() as usize - line.as_ptr() as usize)).collect()
}

/// Paths in backticks, on lines that speak of saving.
pub(super) fn saves(path: &Path, text: &str, body_start: usize) -> Vec<SavePath> {
    let all =
        lines(text, body_start).flat_map(|(line, at)| saved(line).map(move |(part, from)| (part, at + from)));
    let save = |(part, start): (&str, usize)| SavePath {
        text: part.to_owned(),
        place: SourceSpan::new(path, text, start..start + part.len()),
    };
    all.take(MOST_SAVES).map(save).collect()
}

/// Those of one line, each with the byte it begins at.
pub(super) fn saved(line: &str) -> impl Iterator<Item = (&str, usize)> {
    const WORDS: [&str; 8] = ["save", "saves", "saved", "saving", "write", "writes", "written", "output"];
    let speaks = |word: &str| WORDS.iter().any(|w| w.eq_ignore_ascii_case(word));
    let is_about_saving = line.split(|c: char| !c.is_alphanumeric()).any(speaks);
    let mut from = 0;
    line.split('`').enumerate().filter_map(move |(n, part)| {
        let start = from;
        from += part.len() + 1;
        let is_path = part.contains('/') && !part.starts_with('/') && !part.contains([' ', '\t']);
        (is_about_saving && n % 2 == 1 && is_path).then_some((part, start))
    })
}
