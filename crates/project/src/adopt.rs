//! Work that was not run by us: what an existing project says about itself, read best-effort. Scores are listed, with
//! the place they stand at and why they cannot count: nothing binds them to bytes. Only receipts prove.

mod journal;
mod near_miss;
mod state;

use std::path::{Path, PathBuf};

use gadfly_engine::pipeline::Registry;

use crate::file::{self, FileError};
use crate::place::{SourceSpan, visible};

pub(crate) use near_miss::is_near;
pub use near_miss::{NearMiss, near_misses};

/// A state file or a journal that was kept for years; more than this is something else.
const LARGEST: u64 = 16 << 20;
/// More than anybody looks through.
const MOST: usize = 5_000;
/// Why no adopted score counts.
const UNBOUND: &str = "nothing says which bytes it was given for";

/// What an existing project says about itself.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Adopted {
    pub project: Option<String>,
    pub phase: Option<String>,
    /// In the order they stand in, state files first. Of an agent the last one is the latest.
    pub scores: Vec<AdoptedScore>,
    /// What looks like a score, or like something of ours, and is not taken.
    pub refused: Vec<RefusedItem>,
    /// The files that were read.
    pub read: Vec<PathBuf>,
}

/// A score that a critic gave, as somebody wrote it down.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AdoptedScore {
    /// Whose work; none if the critic has several to judge and nothing says which.
    pub agent: Option<String>,
    pub critic: Option<String>,
    /// 0 to 100; a fraction is cut off.
    pub score: u32,
    pub place: SourceSpan,
    /// Why it cannot open a gate.
    pub note: String,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RefusedItem {
    pub what: String,
    pub why: String,
    pub place: SourceSpan,
}

/// Reads what stands in these folders of a project: `pipeline_state.json` and `research_journal.md`. Without a
/// registry a critic is known by its name.
pub fn read(root: &Path, dirs: &[&Path], registry: Option<&Registry>) -> Adopted {
    let mut adopted = Adopted::default();
    for dir in dirs {
        let found = |name: &str, adopted: &mut Adopted| text(root, &dir.join(name), adopted);
        if let Some((path, text)) = found("pipeline_state.json", &mut adopted) {
            state::read(&path, &text, registry, &mut adopted);
        }
        if let Some((path, text)) = found("research_journal.md", &mut adopted) {
            journal::read(&path, &text, registry, &mut adopted);
        }
    }
    adopted
}

fn text(root: &Path, path: &Path, adopted: &mut Adopted) -> Option<(PathBuf, String)> {
    let inside = file::inside(root, path);
    let shown = inside.as_ref().map_or_else(|_| path.to_owned(), |real| shown(root, real));
    match inside.and_then(|real| file::read_text_up_to(&real, LARGEST)) {
        Ok(text) => {
            adopted.read.push(shown.clone());
            Some((shown, text))
        }
        Err(FileError::Missing { .. }) => None,
        Err(e) => {
            let place = SourceSpan::new(&shown, "", 0..0);
            adopted.refused.push(RefusedItem {
                what: shown.display().to_string(),
                why: e.to_string(),
                place,
            });
            None
        }
    }
}

fn shown(root: &Path, path: &Path) -> PathBuf {
    path.strip_prefix(root).unwrap_or(path).to_owned()
}

impl Adopted {
    fn refuse(&mut self, what: &str, why: impl Into<String>, place: SourceSpan) {
        if self.refused.len() < MOST {
            let what: String = visible(what).chars().take(200).collect();
            self.refused.push(RefusedItem { what, why: why.into(), place });
        }
    }

    fn take(&mut self, score: AdoptedScore) {
        if self.scores.len() < MOST {
            self.scores.push(score);
        }
    }
}

/// A name as registries write it: `data_engineer` and `Data Engineer` are `data-engineer`.
fn normalised(name: &str) -> String {
    let mut id = String::new();
    for c in name.trim().trim_matches(|c: char| "[]*`\"'".contains(c)).chars().flat_map(char::to_lowercase) {
        match c {
            c if c.is_alphanumeric() => id.push(c),
            _ if id.is_empty() || id.ends_with('-') => {}
            _ => id.push('-'),
        }
    }
    id.trim_end_matches('-').to_owned()
}

/// A leading `84/100`, bold or not, spaced or not: the first number counts. A fraction is cut off.
fn leading_score(text: &str) -> Option<u32> {
    let text = text.trim_start().trim_start_matches('*').trim_start();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (whole, mut rest) = text.split_at(digits);
    if let Some(fraction) = rest.strip_prefix('.') {
        let more = fraction.bytes().take_while(u8::is_ascii_digit).count();
        if more > 0 {
            rest = &fraction[more..];
        }
    }
    let rest = rest.trim_start().strip_prefix('/')?.trim_start().strip_prefix("100")?;
    let ends = !rest.starts_with(|c: char| c.is_ascii_digit());
    let score: u32 = whole.parse().ok().filter(|_| (1..=3).contains(&digits))?;
    (ends && score <= 100).then_some(score)
}

/// Words by which a number is no verdict.
fn is_no_verdict(text: &str) -> Option<&'static str> {
    const WORDS: [&str; 8] = [
        "self-reported",
        "self reported",
        "self-assessed",
        "projected",
        "expected",
        "estimated",
        "anticipated",
        "autoevalua",
    ];
    let text = text.to_lowercase();
    WORDS.into_iter().find(|word| text.contains(word))
}

/// Whether a name is a critic's, and the agents it judges as far as that is known.
fn judged_by(critic: &str, registry: Option<&Registry>) -> Option<Vec<String>> {
    let Some(registry) = registry else {
        let known = critic.ends_with("-critic") || critic.ends_with("-referee") || critic == "verifier";
        let of = critic.strip_suffix("-critic").unwrap_or(critic);
        return known.then(|| vec![of.to_owned()]);
    };
    let judges = |entry: &&gadfly_engine::pipeline::RegistryEntry| {
        entry.critic.as_deref().is_some_and(|c| normalised(c) == critic)
            || (entry.judges() && normalised(&entry.agent) == critic)
    };
    let of: Vec<String> = registry.entries.iter().filter(judges).map(|entry| entry.agent.clone()).collect();
    (!of.is_empty()).then_some(of)
}

#[cfg(test)]
mod tests;
