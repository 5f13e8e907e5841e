//! The same look at what the next commit would hold: the staged bytes, whatever the files on disk hold by now.
//! What is not tracked is not there, but for what git ignores where agents make it: no commit can hold it.

use std::collections::BTreeMap;
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
    let mut texts: BTreeMap<String, String> = staged.texts(&wanted).await?.into_iter().collect();
    let counted = git.counted(root, &survey.patterns).await?;
    if !counted.is_empty() {
        let (at, ours, survey) = (root.to_owned(), store.to_owned(), survey.clone());
        let looked = tokio::task::spawn_blocking(move || super::survey(&at, &ours, &survey)).await;
        let (on_disk, mut headings) = looked.map_err(|_| SurveyError::Cancelled)??;
        let mut also = counted.among(on_disk.iter().map(|(path, _)| path));
        also.retain(|path| listing.get(path).is_none());
        for (path, file) in also.iter().filter_map(|path| Some((*path, on_disk.get(path)?))) {
            listing.insert(path.to_owned(), file);
            texts.extend(headings.remove_entry(path));
        }
    }
    let compared = named.compared() + read.compared();
    Ok(SurveyResult { listing, texts, read: facts.read, compared })
}
