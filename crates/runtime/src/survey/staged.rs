//! The same look at what the next commit would hold: the staged bytes, whatever the files on disk hold by now.
//! What is not tracked is not there.

use std::path::Path;

use gadfly_engine::pipeline::listing::{ListedFile, Listing, Survey};

use super::names::NamedPaths;
use super::{LARGEST_TEXT, LARGEST_TEXTS, MOST_FILES, SurveyError, SurveyResult};
use crate::workspace::Git;

/// The staged files of the project at `root` that a survey names. In a hook, git's own word on which index is
/// being committed is taken from `git`'s environment.
pub async fn survey_staged(
    git: &Git,
    root: &Path,
    store: &Path,
    survey: &Survey,
) -> Result<SurveyResult, SurveyError> {
    let (named, read) =
        (NamedPaths::of(survey.patterns.iter().chain(&survey.read)), NamedPaths::of(&survey.read));
    let mut staged = git.staged(root, store).await?;
    staged.files.retain(|file| named.has(&file.path));
    if staged.files.len() > MOST_FILES {
        return Err(SurveyError::TooMany { count: staged.files.len() });
    }
    let facts = staged.digests().await?;
    let (mut listing, mut wanted, mut left) = (Listing::default(), Vec::new(), LARGEST_TEXTS);
    for (file, (digest, bytes)) in staged.files.iter().zip(&facts.of) {
        let mode = if file.executable { 0o755 } else { 0o644 };
        listing.insert(file.path.clone(), ListedFile { digest: *digest, mode });
        if *bytes <= LARGEST_TEXT.min(left) && read.has(&file.path) {
            left -= bytes;
            wanted.push(file);
        }
    }
    let texts = staged.texts(&wanted).await?;
    let compared = named.compared() + read.compared();
    Ok(SurveyResult { listing, texts: texts.into_iter().collect(), read: facts.read, compared })
}
