//! The folder of a call and the one for its temporary files, and whoever touches files for an agent.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures_util::future::BoxFuture;
use gadfly_agents::{Edit, Files, FolderFiles};

/// The file that every agent with hands is staged to write.
pub const MADE: &str = "made.txt";

/// Gone when dropped.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let nth = COUNT.fetch_add(1, Ordering::Relaxed);
        let root = std::env::temp_dir().join(format!("gadfly-conformance-{}-{nth}", std::process::id()));
        let folder = Self(root);
        std::fs::create_dir_all(folder.work()).unwrap();
        std::fs::create_dir_all(folder.tmp()).unwrap();
        folder
    }

    pub fn work(&self) -> PathBuf {
        self.0.join("work")
    }

    pub fn tmp(&self) -> PathBuf {
        self.0.join("tmp")
    }

    /// Those of the folder, and the temporary ones.
    pub fn files(&self) -> (Files, Files) {
        let of = |root| Files::of(Arc::new(Below(root)));
        (of(self.work()), of(self.tmp()))
    }

    pub fn has_made(&self) -> bool {
        self.work().join(MADE).exists()
    }

    pub fn forget(&self) {
        let _ = std::fs::remove_file(self.work().join(MADE));
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

struct Below(PathBuf);

impl FolderFiles for Below {
    fn apply(&self, edits: Vec<Edit>) -> BoxFuture<'static, Result<(), String>> {
        let root = self.0.clone();
        Box::pin(async move {
            for edit in edits {
                let done = match edit {
                    Edit::Write { path, content } => std::fs::write(root.join(path), content),
                    Edit::Delete { path } => std::fs::remove_file(root.join(path)),
                };
                done.map_err(|e| e.to_string())?;
            }
            Ok(())
        })
    }

    fn read(&self, path: String) -> BoxFuture<'static, Result<String, String>> {
        let at = self.0.join(path);
        Box::pin(async move { std::fs::read_to_string(at).map_err(|e| e.to_string()) })
    }
}
