//! A look at the user's own project: which real files some patterns name, each by the digest of its bytes.
//!
//! What is on disk counts, whether git ignores it or not; a link is no real file and leads nowhere, `.git` and our
//! own store are never looked into. A file that is known to be unchanged is not read again: see `cache`. It only
//! reads the project; what follows from what is there is the engine's to say.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use gadfly_engine::pipeline::headings::headings;
use gadfly_engine::pipeline::listing::{ListedFile, Listing, Survey, Surveyed};
use gadfly_engine::{Digest, Text};
use rustix::fs::OFlags;
use tokio_util::sync::CancellationToken;

use crate::edits::{above, open_file};
use crate::workspace::WorkspaceError;
use cache::{Cache, FileStamp};
use names::NamedPaths;
use walk::WalkedFile;

mod cache;
mod names;
mod staged;
mod walk;

pub use staged::survey_staged;

/// More files than this are no work of agents.
const MOST_FILES: usize = 200_000;
/// Of one file that is read, and of all of them together.
const LARGEST_TEXT: u64 = 1 << 20;
const LARGEST_TEXTS: u64 = 16 << 20;
const BUFFER: usize = 64 << 10;

#[derive(Debug, thiserror::Error)]
pub enum SurveyError {
    #[error("there is no project at {}", path.display())]
    NoProject { path: PathBuf },
    #[error(
        "the registry's paths name {count} files, and at most {MOST_FILES} are looked at: name narrower folders or \
         globs in REQUIRES and PRODUCES"
    )]
    TooMany { count: usize },
    #[error(
        "more than {seen} files and folders lie below the registry's paths: name narrower folders or globs in \
         REQUIRES and PRODUCES"
    )]
    TooWide { seen: usize },
    #[error("{} cannot be read: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error(transparent)]
    Git(#[from] WorkspaceError),
    #[error("called off")]
    Cancelled,
}

impl SurveyError {
    fn io(path: PathBuf) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { path, source }
    }
}

/// What was found, and how much had to be done for it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SurveyResult {
    pub listing: Listing,
    /// By path: the headings of what `read` asked for, as far as it is text and not too long.
    pub texts: BTreeMap<String, String>,
    /// Files whose bytes were read.
    pub read: usize,
    /// How often a path was compared with a pattern.
    pub compared: usize,
}

impl SurveyResult {
    /// As the engine gets it.
    pub fn reply(self) -> (Surveyed, Vec<Text>) {
        let listing = Text::new(self.listing.text());
        let surveyed = listing.digest();
        let (mut read, mut texts) = (Vec::with_capacity(self.texts.len()), vec![listing]);
        for (path, text) in self.texts {
            let text = Text::new(text);
            read.push((path, text.digest()));
            texts.push(text);
        }
        (Surveyed { listing: surveyed, read }, texts)
    }
}

/// The files of the project at `root` that a survey names, and the texts it asks for. `store` is Gadfly's own
/// folder.
pub fn survey(
    root: &Path,
    store: &Path,
    survey: &Survey,
) -> Result<(Listing, BTreeMap<String, String>), SurveyError> {
    let seen = look(root, store, survey, &CancellationToken::new())?;
    Ok((seen.listing, seen.texts))
}

/// As [`survey`], and says what it took. It can be called off.
pub fn look(
    root: &Path,
    store: &Path,
    survey: &Survey,
    cancel: &CancellationToken,
) -> Result<SurveyResult, SurveyError> {
    let (found, compared) = walk::files(root, store, survey, cancel)?;
    if found.len() > MOST_FILES {
        return Err(SurveyError::TooMany { count: found.len() });
    }
    let top = walk::open_root(root)?;
    let mut cache = Cache::open(root, store);
    let wanted = NamedPaths::of(&survey.read);
    let (mut seen, mut left) = (SurveyResult::default(), LARGEST_TEXTS);
    for WalkedFile { path, mark, mode } in found {
        if cancel.is_cancelled() {
            return Err(SurveyError::Cancelled);
        }
        let as_text = wanted.has(&path) && mark.bytes <= LARGEST_TEXT;
        let known =
            cache.known(&path, &mark).filter(|known| !as_text || known.outline != OutlineState::Unread);
        let known = if let Some(known) = known {
            known.clone()
        } else {
            cache.begin();
            let whole = root.join(&path);
            let Some((file, mark)) = opened(&top, &path).map_err(SurveyError::io(whole.clone()))? else {
                // It went while we looked.
                continue;
            };
            let failed = |source| SurveyError::Io { path: whole, source };
            let read = if as_text { read_text(&file) } else { stream(&file) }.map_err(failed)?;
            seen.read += 1;
            // Somebody may write to it at this moment: then it is read again the next time.
            if FileStamp::of(&file).is_ok_and(|now| now == mark) {
                cache.learn(&path, mark, read.clone());
            }
            read
        };
        if let (true, OutlineState::Text(outline)) = (as_text, known.outline) {
            let bytes = outline.len() as u64;
            if bytes <= left {
                left -= bytes;
                seen.texts.insert(path.clone(), outline);
            }
        }
        seen.listing.insert(path, ListedFile { digest: known.digest, mode });
    }
    cache.keep();
    seen.compared = compared + wanted.compared();
    Ok(seen)
}

/// What is known of a file's bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
struct FileBytes {
    digest: Digest,
    outline: OutlineState,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum OutlineState {
    /// Nobody asked for it yet.
    Unread,
    /// It is no text, or too long.
    None,
    Text(String),
}

/// None if it is no file any more.
fn opened(top: &std::os::fd::OwnedFd, path: &str) -> io::Result<Option<(File, FileStamp)>> {
    let Ok((folder, name)) = above(top, path, false) else { return Ok(None) };
    let stat = rustix::fs::statat(&folder, name, rustix::fs::AtFlags::SYMLINK_NOFOLLOW);
    if stat.is_err() {
        return Ok(None);
    }
    let file = open_file(&folder, name, OFlags::RDONLY).map_err(io::Error::other)?;
    let mark = FileStamp::of(&file)?;
    Ok(Some((file, mark)))
}

fn stream(mut file: &File) -> io::Result<FileBytes> {
    let mut hasher = blake3::Hasher::new();
    let mut buffer = vec![0_u8; BUFFER];
    loop {
        let read = match file.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => read,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(e),
        };
        hasher.update(buffer.get(..read).unwrap_or_default());
    }
    Ok(FileBytes { digest: Digest::from_bytes(*hasher.finalize().as_bytes()), outline: OutlineState::Unread })
}

/// The digest and the headings are of the same bytes, whatever is written meanwhile.
fn read_text(file: &File) -> io::Result<FileBytes> {
    let mut bytes = Vec::new();
    file.take(LARGEST_TEXT + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST_TEXT {
        // It grew since the walk.
        let mut hasher = blake3::Hasher::new();
        hasher.update(&bytes);
        hasher.update_reader(file)?;
        let digest = Digest::from_bytes(*hasher.finalize().as_bytes());
        return Ok(FileBytes { digest, outline: OutlineState::None });
    }
    let digest = Digest::of(&bytes);
    let outline =
        String::from_utf8(bytes).map_or(OutlineState::None, |text| OutlineState::Text(outline(text)));
    Ok(FileBytes { digest, outline })
}

/// A text with the same headings and little else: it is what is asked of a text, and small enough to be kept.
fn outline(text: String) -> String {
    let all = headings(&text);
    let mut outline = String::new();
    for heading in &all {
        outline.extend(["# ", heading, "\n"]);
    }
    // Where a heading without its number looks like one with a number, the text itself has to do.
    if headings(&outline) == all { outline } else { text }
}
