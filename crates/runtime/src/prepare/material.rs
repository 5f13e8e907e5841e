//! The texts a run begins with: task, draft or work that was brought, references, and what its output file
//! holds now. Read once, checked before anything is paid for.

use std::path::{Path, PathBuf};

use gadfly_engine::brief::Reference;
use gadfly_engine::work::Work;
use gadfly_engine::{Digest, Target, Text};
use gadfly_project::config::TaskSource;
use gadfly_project::place::option;
use gadfly_project::{LoopConfig, LoopProtocol, Problem, SourceSpan, file, landing};

use super::{Request, Submission};
use crate::save;

/// A worker's reply may be as long, so a run can replace what an earlier one wrote.
const LARGEST_REPLACED: u64 = 16 * 1024 * 1024;

/// What a loop works on.
pub struct Material {
    pub task: Text,
    /// Work that is there before anybody is called.
    pub given: Option<Work>,
    pub target: Option<Target>,
    references: Vec<(Reference, Text)>,
    /// Texts of the given work, of the settings, and the target's content before the run, kept so that
    /// nothing is lost when it is replaced.
    others: Vec<Text>,
}

impl Material {
    pub(super) fn read(config: &LoopConfig, request: &Request, problems: &mut Vec<Problem>) -> Option<Self> {
        let task = task(config, request.review.as_ref(), problems);
        let inherited = request.from.as_ref();
        let draft = match &config.options.draft {
            Some(path) => Some(read("draft", &path.value, path.place.as_ref(), problems)),
            None => inherited.map(|old| Some(old.draft.clone())),
        };
        if let Some(Some(text)) = &draft
            && text.trim().is_empty()
        {
            problems.push(
                Problem::error("the draft is empty")
                    .help(format!("leave {} out to have one written", option("draft"))),
            );
        }
        let references: Vec<_> = config
            .options
            .with
            .iter()
            .map(|path| {
                let text = Text::new(read("with", &path.value, path.place.as_ref(), problems)?);
                let name = path
                    .value
                    .file_name()
                    .map_or_else(|| path.value.display().to_string(), |n| n.to_string_lossy().into_owned());
                Some((Reference { name, text: text.digest() }, text))
            })
            .collect();
        let mut others = Vec::new();
        // A review writes nothing.
        let out = config
            .options
            .out
            .as_ref()
            .or(config.options.draft.as_ref())
            .filter(|_| request.review.is_none());
        // Where the project's own files put drafts may be a folder that is not there yet.
        let makes =
            !request.given.has("out") && request.described.as_ref().is_some_and(|work| work.names_output());
        let target = match out.map(|path| target(&path.value, makes).map_err(|p| p.at(path.place.as_ref()))) {
            Some(Ok((target, replaced))) => {
                others.extend(replaced);
                Some(target)
            }
            Some(Err(problem)) => {
                problems.push(problem);
                return None;
            }
            None => None,
        };
        let target = target.or_else(|| request.review.as_ref().and_then(judged_file));
        let mut references = references.into_iter().collect::<Option<Vec<_>>>()?;
        references.extend(inherited.into_iter().flat_map(|old| old.references.clone()));
        let given = match (&request.review, draft) {
            (Some(brought), _) => {
                others.extend(brought.texts.iter().cloned());
                Some(as_judged(&brought.work, config.options.protocol.value))
            }
            (None, Some(text)) => {
                let text = Text::new(text?);
                let digest = text.digest();
                others.push(text);
                Some(Work::Draft(digest))
            }
            (None, None) => None,
        };
        Some(Self { task: Text::new(task?), given, target, references, others })
    }

    /// Keeps a text with the run, and names it.
    pub fn keep(&mut self, text: Text) -> Digest {
        let digest = text.digest();
        self.others.push(text);
        digest
    }

    /// The references, as settings name them.
    pub fn named_references(&self) -> Vec<Reference> {
        self.references.iter().map(|(reference, _)| reference.clone()).collect()
    }

    /// Folders that are not there yet and have to be for the result.
    pub(super) fn folders(&self) -> Vec<PathBuf> {
        let parent = self.target.as_ref().and_then(|t| Path::new(&t.path).parent());
        parent.filter(|folder| !folder.is_dir()).map(Path::to_owned).into_iter().collect()
    }

    pub(super) fn into_texts(self) -> Vec<Text> {
        let mut all = vec![self.task];
        all.extend(self.references.into_iter().map(|(_, text)| text));
        all.extend(self.others);
        all
    }
}

/// The file a review is about: named in its record, never written.
fn judged_file(brought: &Submission) -> Option<Target> {
    let path = brought.file.as_ref()?.to_string_lossy().into_owned();
    Some(Target { path, before: brought.texts.first().map(Text::digest) })
}

/// One file is a text to the protocols that judge texts.
fn as_judged(work: &Work, protocol: LoopProtocol) -> Work {
    match work {
        Work::Files(files) if !protocol.card().edits_files => match files.as_slice() {
            [only] => Work::Draft(only.blob),
            _ => work.clone(),
        },
        _ => work.clone(),
    }
}

fn task(config: &LoopConfig, review: Option<&Submission>, problems: &mut Vec<Problem>) -> Option<String> {
    let given = match (&config.task, review) {
        (None, Some(brought)) => return Some(format!("Review {}.", brought.what)),
        (None, None) => return None,
        (Some(task), _) => match &task.value {
            TaskSource::Text(text) => text.clone(),
            TaskSource::File(path) => read("task", path, task.place.as_ref(), problems)?,
        },
    };
    if given.trim().is_empty() {
        problems.push(Problem::error("the task is empty").help("say what the worker should write"));
        return None;
    }
    Some(given)
}

fn read(what: &str, path: &Path, place: Option<&SourceSpan>, problems: &mut Vec<Problem>) -> Option<String> {
    file::read_text(path).map_err(|e| problems.push(Problem::error(format!("{what}: {e}")).at(place))).ok()
}

/// Checks that the result can be written, before anything is paid for.
pub(crate) fn target(path: &Path, makes: bool) -> Result<(Target, Option<Text>), Problem> {
    let path = absolute(path)?;
    let shown = path.display();
    if landing::is_git(&path) {
        return Err(save::in_git(&path));
    }
    if path.is_dir() {
        return Err(Problem::error(format!("the output {shown} is a directory"))
            .help(format!("name a file in it, like {}", path.join("draft.md").display())));
    }
    if let Some(parent) = path.parent().filter(|p| !p.is_dir()) {
        let nearest = parent.ancestors().find(|p| p.exists());
        if let Some(nearest) = nearest.filter(|p| makes && p.is_dir()) {
            can_be_written(&nearest.join("draft"), &path)?;
            return Ok((Target { path: path.to_string_lossy().into_owned(), before: None }, None));
        }
        return Err(Problem::error(format!("the output's folder {} does not exist", parent.display()))
            .help(format!("create it first: mkdir -p {}", parent.display())));
    }
    if path.exists() {
        let text = file::read_text_up_to(&path, LARGEST_REPLACED).map_err(|e| {
            Problem::error(format!("the output {shown} cannot be replaced: {e}")).help(format!(
                "what a run replaces is kept, as text: move the file away, or choose another {}",
                option("out")
            ))
        })?;
        let text = Text::new(text);
        let before = Some(text.digest());
        return Ok((Target { path: path.to_string_lossy().into_owned(), before }, Some(text)));
    }
    can_be_written(&path, &path)?;
    Ok((Target { path: path.to_string_lossy().into_owned(), before: None }, None))
}

/// Tries it beside `there`.
fn can_be_written(there: &Path, output: &Path) -> Result<(), Problem> {
    let probe = there.with_file_name(format!(".gadfly-probe-{}", std::process::id()));
    if let Err(error) = save::write_atomically(&probe, b"") {
        return Err(Problem::error(format!("the output {} cannot be written: {error}", output.display()))
            .help(format!("choose another {}, or change the folder's permissions", option("out"))));
    }
    let _ = std::fs::remove_file(probe);
    Ok(())
}

fn absolute(path: &Path) -> Result<PathBuf, Problem> {
    std::path::absolute(path).map_err(|e| Problem::error(format!("{}: {e}", path.display())))
}
