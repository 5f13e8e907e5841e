//! What the user's `prepare` makes beside the project's files (`npm ci`, `uv sync`): made once, kept as a layer, and copied
//! into every folder that needs it, until a file that it goes by changes.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use gadfly_engine::Digest;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use super::{Folder, FolderError, NODES, command};
use crate::os::remove_tree;
use crate::save::write_atomically;
use crate::tools::confined::Confined;
use crate::workspace::{TreeEntry, Workspace, copy_paths};

/// Below the folders of a store.
pub const LAYERS: &str = "prepared";
/// Comes last: it says that the layer is whole. Its time says when it was last used.
const FACTS: &str = "layer.json";
const FILES: &str = "files";
/// Of what it made, so much is named.
const SHOWN: usize = 5;

/// Files that say what a project depends on, by name, wherever they are.
const MANIFESTS: [&str; 46] = [
    "package.json",
    "package-lock.json",
    "npm-shrinkwrap.json",
    "pnpm-lock.yaml",
    "pnpm-workspace.yaml",
    "yarn.lock",
    "bun.lock",
    "bun.lockb",
    "deno.json",
    "deno.lock",
    ".npmrc",
    ".yarnrc.yml",
    "pyproject.toml",
    "uv.lock",
    "poetry.lock",
    "pdm.lock",
    "Pipfile",
    "Pipfile.lock",
    "setup.py",
    "setup.cfg",
    "environment.yml",
    ".python-version",
    "Cargo.toml",
    "Cargo.lock",
    "rust-toolchain.toml",
    "go.mod",
    "go.sum",
    "Gemfile",
    "Gemfile.lock",
    "composer.json",
    "composer.lock",
    "mix.exs",
    "mix.lock",
    "pom.xml",
    "build.gradle",
    "build.gradle.kts",
    "settings.gradle",
    "settings.gradle.kts",
    "gradle.lockfile",
    "Podfile",
    "Podfile.lock",
    "renv.lock",
    "conanfile.txt",
    "conanfile.py",
    "vcpkg.json",
    ".nvmrc",
];

#[derive(Serialize, Deserialize)]
struct LayerFacts {
    command: String,
    /// Where it was made: what names that place leads elsewhere in a copy.
    made_at: PathBuf,
    /// From the top of the tree.
    paths: Vec<String>,
}

struct PreparedLayer {
    dir: PathBuf,
    facts: LayerFacts,
}

impl Folder {
    /// Makes a new folder ready. What `prepare` changed in the project's files is put back: it is not the worker's work.
    pub(super) async fn prepare(
        &self,
        workspace: &mut Workspace,
        tell: &(dyn Fn(String) + Send + Sync),
    ) -> Result<(), FolderError> {
        let Some(line) = &self.plan.prepare else { return Ok(()) };
        let dir = self.layer_dir(line, &workspace.entries(workspace.base()).await?);
        if let Some(layer) = PreparedLayer::open(dir.clone()) {
            tell(format!("prepared before by `{line}`, and what it goes by is unchanged: copied"));
            workspace.adopt(layer.facts.paths.clone())?;
            return layer.copy_to(workspace.work()).await;
        }
        tell(format!("preparing: {line}"));
        let held = self.process_env.own_command(&workspace.dir(), false);
        if let Err(failed) =
            self.prepare_with(line, &workspace.dir(), held, &CancellationToken::new()).await?
        {
            return Err(FolderError::Command(format!(
                "{failed}\ncorrect `prepare` in gadfly.toml and resume"
            )));
        }
        let (paths, unignored) = workspace.made_beside().await?;
        let facts = LayerFacts { command: line.clone(), made_at: workspace.work(), paths };
        let layer = PreparedLayer { dir, facts };
        workspace.adopt(layer.facts.paths.clone())?;
        let (made, from) = (layer.facts.paths.len(), workspace.work());
        let kept = tokio::task::spawn_blocking(move || layer.keep(&from)).await;
        if let Err(e) = kept.unwrap_or_else(|e| Err(std::io::Error::other(e))) {
            tell(format!("what `{line}` made could not be kept for the next run: {e}"));
        } else if made == 0 {
            tell(format!("`{line}` left nothing new in the folder; nothing is kept of it"));
        }
        if !unignored.is_empty() {
            let shown = unignored.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
            let more = if unignored.len() > SHOWN { ", …" } else { "" };
            tell(format!(
                "made by `{line}` and not ignored by git: {shown}{more}; it is no part of the work"
            ));
        }
        Ok(workspace.restore(workspace.base()).await?)
    }

    /// Makes a fresh folder ready that holds a tree of the worker's. If the worker changed what `prepare` goes by, it runs
    /// anew there, held as the check is. The text says how it failed.
    pub(super) async fn prepare_fresh(
        &self,
        workspace: &Workspace,
        tree: &str,
        root: &Path,
        held: Confined,
        cancel: &CancellationToken,
    ) -> Result<Result<(), String>, FolderError> {
        let Some(line) = &self.plan.prepare else { return Ok(Ok(())) };
        let dir = self.layer_dir(line, &workspace.entries(tree).await?);
        if let Some(layer) = PreparedLayer::open(dir) {
            return layer.copy_to(root.to_owned()).await.map(Ok);
        }
        self.prepare_with(line, &root.join(workspace.below()), held, cancel).await
    }

    async fn prepare_with(
        &self,
        line: &str,
        dir: &Path,
        held: Confined,
        cancel: &CancellationToken,
    ) -> Result<Result<(), String>, FolderError> {
        let ran = self.run_once(line, dir, held, command::PREPARE_TIME, cancel).await?;
        let (end, output) = (ran.end, ran.output.trim());
        Ok(if ran.is_green() {
            Ok(())
        } else {
            Err(format!("the workspace's `prepare` failed ({end}): `{line}` said:\n{output}"))
        })
    }

    /// A layer is known by the project, the command, and every file that it is likely to go by: manifests and lock files,
    /// and whatever the command names.
    fn layer_dir(&self, line: &str, entries: &[TreeEntry]) -> PathBuf {
        let named = |path: &str| {
            let name = path.rsplit('/').next().unwrap_or(path);
            MANIFESTS.contains(&name)
                || name.starts_with("requirements")
                || line.split(|c: char| c.is_whitespace() || "'\"=;&|()".contains(c)).any(|word| {
                    let word = word.trim_start_matches("./");
                    !word.is_empty() && (path == word || path.ends_with(&format!("/{word}")))
                })
        };
        let mut key = format!("{}\0{line}\0", self.plan.project);
        for entry in entries.iter().filter(|entry| named(&entry.path)) {
            key.extend([entry.oid.as_str(), " ", &format!("{:o}", entry.mode), " ", &entry.path, "\0"]);
        }
        let name = Digest::of(key.as_bytes()).to_string();
        self.store_work().join(LAYERS).join(name.get(..24).unwrap_or(&name))
    }

    /// Where the folders of all runs of the store are.
    fn store_work(&self) -> &Path {
        let nodes = self.home.parent().filter(|above| above.file_name().is_some_and(|name| name == NODES));
        let run = nodes.and_then(Path::parent).unwrap_or(&self.home);
        run.parent().unwrap_or(run)
    }
}

/// Layers below the folders of a store that nobody used since.
pub fn unused_layers(store_work: &Path, since: SystemTime) -> Vec<PathBuf> {
    let layers =
        fs::read_dir(store_work.join(LAYERS)).into_iter().flatten().flatten().map(|entry| entry.path());
    let used = |layer: &Path| {
        // One without facts is being made, or was left behind by who died.
        let mark = Some(layer.join(FACTS)).filter(|facts| facts.exists()).unwrap_or_else(|| layer.to_owned());
        fs::metadata(mark).and_then(|meta| meta.modified()).is_ok_and(|at| at >= since)
    };
    layers.filter(|layer| !used(layer)).collect()
}

impl PreparedLayer {
    fn open(dir: PathBuf) -> Option<Self> {
        let path = dir.join(FACTS);
        let bytes = fs::read(&path).ok()?;
        let facts = serde_json::from_slice(&bytes).ok()?;
        // So that `gc` knows that somebody needs it.
        let _ = write_atomically(&path, &bytes);
        Some(Self { dir, facts })
    }

    /// Keeps what lies in a folder now.
    fn keep(&self, from: &Path) -> std::io::Result<()> {
        let new = self.dir.with_extension(format!("{:016x}", fastrand::u64(..)));
        let kept = (|| {
            fs::create_dir_all(&new)?;
            let files = new.join(FILES);
            copy_paths(&self.facts.paths, from, &files, &self.facts.made_at, &self.facts.made_at)?;
            write_atomically(&new.join(FACTS), &serde_json::to_vec_pretty(&self.facts)?)?;
            fs::rename(&new, &self.dir)
        })();
        if kept.is_err() {
            remove_tree(&new);
        }
        // Another run was quicker, or left half of one behind.
        if self.dir.join(FACTS).exists() { Ok(()) } else { kept }
    }

    async fn copy_to(self, to: PathBuf) -> Result<(), FolderError> {
        let path = self.dir.clone();
        let LayerFacts { made_at, paths, .. } = self.facts;
        let files = self.dir.join(FILES);
        let copied =
            tokio::task::spawn_blocking(move || copy_paths(&paths, &files, &to, &made_at, &to)).await;
        copied.unwrap_or_else(|e| Err(std::io::Error::other(e))).map_err(FolderError::io(&path))
    }
}
