//! What an existing project tells about itself, in the order in which a session that begins reads it: the state
//! file; session report and research journal; the project's file and its newest plan; what git says. For `adopt`.

use std::path::{Path, PathBuf};

use gadfly_project::adopt::{self, Adopted, NearMiss};
use gadfly_project::file;

use super::ProjectStatus;
use crate::setup::Setup;
use crate::workspace::{Recent, WorkspaceError};

/// Plans that are looked at to find the newest.
const MOST_PLANS: usize = 5_000;

/// Everything there is to tell.
#[derive(Clone, Debug)]
pub struct StatusSources {
    /// Scores and names from the state file and the research journal.
    pub adopted: Adopted,
    /// The session report, and its last heading.
    pub session: Option<(PathBuf, String)>,
    /// The project's own file: `CLAUDE.md`, `AGENTS.md`.
    pub project_file: Option<PathBuf>,
    pub newest_plan: Option<PathBuf>,
    /// Or why git says nothing.
    pub recent: Result<Recent, String>,
    /// Files that may be what the registry wants, under other names.
    pub near: Vec<NearMiss>,
}

impl Setup {
    /// Reads them. `status` is the same project, looked at.
    pub async fn sources(&self, status: &ProjectStatus) -> StatusSources {
        let (root, files) = (&self.root.dir, &status.known.files);
        let folder = Path::new(files.layout.state_folder());
        let registry = &status.known.registry;
        let recent = match self.asking_git() {
            Ok(git) => git.recent(root).await.map_err(|error| match error {
                WorkspaceError::NotARepository => "this is no repository".to_owned(),
                other => other.to_string(),
            }),
            Err(error) => Err(error.to_string()),
        };
        let sessions = [PathBuf::from("SESSION_REPORT.md"), folder.join("SESSION_REPORT.md")];
        StatusSources {
            adopted: adopt::read(root, &[folder], Some(registry)),
            session: sessions.into_iter().find_map(|path| Some((path.clone(), last_heading(root, &path)?))),
            project_file: files.always.first().map(|doc| doc.path.clone()),
            newest_plan: newest_plan(root, &folder.join("plans")),
            recent,
            near: adopt::near_misses(registry, root),
        }
    }
}

/// None if there is no such file.
fn last_heading(root: &Path, path: &Path) -> Option<String> {
    let text = file::read_text(&file::inside(root, path).ok()?).ok()?;
    let heading = text.lines().rev().find(|line| line.starts_with('#'));
    Some(heading.unwrap_or_default().trim_start_matches('#').trim().to_owned())
}

/// Plans are named by their date, so the last name is the newest.
fn newest_plan(root: &Path, folder: &Path) -> Option<PathBuf> {
    let found = std::fs::read_dir(file::inside(root, folder).ok()?).ok()?;
    let names = found.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).take(MOST_PLANS);
    let is_plan =
        |name: &String| !name.starts_with('.') && Path::new(name).extension().is_some_and(|e| e == "md");
    names.filter(is_plan).max().map(|name| folder.join(name))
}
