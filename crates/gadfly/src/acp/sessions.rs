//! What is known of the editor's sessions: their folders, what was asked in them, and the turn under way in each.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use gadfly_runtime::prepare::WatchedTree;
use tokio::sync::watch;

use super::mark::TurnMark;
use crate::context::Context;

/// Words of the user's that are kept, and how long each may be.
const MOST_WORDS: usize = 12;
const LONGEST_WORD: usize = 6_000;
/// Files that are remembered as the agent's.
const MOST_WRITTEN: usize = 10_000;
/// Requests of the editor's that are waited for, and sessions that are remembered. More means that nobody answers.
const MOST: usize = 1_000;

#[derive(Default)]
pub struct EditorSessions {
    by_id: HashMap<String, EditorSession>,
    /// Folders of sessions that are being opened, by the request's id.
    opening: HashMap<String, PathBuf>,
    /// Sessions that are being taken up again, by the request's id.
    loading: HashMap<String, String>,
    /// Turns under way, by the id of their prompt.
    turns: HashMap<String, Arc<EditorTurn>>,
    /// The editor or the agent is gone: what is under way stays marked.
    is_closed: bool,
}

#[derive(Default, Clone)]
pub struct EditorSession {
    pub folder: Option<PathBuf>,
    pub words: VecDeque<String>,
    /// Nothing is judged until the person says otherwise.
    pub is_off: bool,
    /// It was said that nothing had changed.
    pub told_nothing: bool,
}

/// A turn of the agent's, from the prompt to its answer.
pub struct EditorTurn {
    pub prompt: String,
    pub session: String,
    /// The project as it was configured when the turn began.
    pub context: Context,
    /// The project's files when the turn began, or why they could not be seen.
    pub start: Result<(WatchedTree, String), String>,
    pub words: Vec<String>,
    pub written: Mutex<BTreeSet<String>>,
    pub mark: TurnMark,
    /// The editor cancelled it, or is gone.
    pub cancelled: watch::Sender<bool>,
}

impl EditorSessions {
    pub fn opening(&mut self, request: String, folder: PathBuf) {
        bounded(&mut self.opening, request, folder);
    }

    pub fn loading(&mut self, request: String, session: &str, folder: Option<PathBuf>) {
        self.session(session).folder = folder;
        bounded(&mut self.loading, request, session.to_owned());
    }

    /// A request to open a session was answered with this one.
    pub fn opened(&mut self, request: &str, session: Option<&str>) {
        let folder = self.opening.remove(request);
        if let (Some(session), Some(folder)) = (session, folder) {
            self.session(session).folder = Some(folder);
        }
    }

    /// The session that this answer takes up again, if it is such an answer.
    pub fn loaded(&mut self, request: &str) -> Option<String> {
        self.loading.remove(request)
    }

    pub fn session(&mut self, id: &str) -> &mut EditorSession {
        if !self.by_id.contains_key(id) {
            bounded(&mut self.by_id, id.to_owned(), EditorSession::default());
        }
        self.by_id.entry(id.to_owned()).or_default()
    }

    pub fn begin(&mut self, turn: EditorTurn) {
        // An editor that prompts anew without waiting gives the old turn up.
        self.cancel(&turn.session);
        bounded(&mut self.turns, turn.prompt.clone(), Arc::new(turn));
    }

    /// The turn whose prompt has this id.
    pub fn turn(&self, prompt: &str) -> Option<Arc<EditorTurn>> {
        self.turns.get(prompt).cloned()
    }

    /// The turn is answered: nothing is open.
    pub fn over(&mut self, prompt: &str) {
        if let Some(turn) = self.turns.remove(prompt).filter(|_| !self.is_closed) {
            turn.mark.lift();
        }
    }

    pub fn cancel(&self, session: &str) {
        for turn in self.turns.values().filter(|turn| turn.session == session) {
            turn.cancelled.send_replace(true);
        }
    }

    pub fn close(&mut self) {
        self.is_closed = true;
        for turn in self.turns.values() {
            turn.cancelled.send_replace(true);
        }
    }

    /// The agent says that it writes these files.
    pub fn wrote(&self, session: &str, files: &[String]) {
        for turn in self.turns.values().filter(|turn| turn.session == session) {
            let mut written = super::locked(&turn.written);
            let room = MOST_WRITTEN.saturating_sub(written.len());
            written.extend(files.iter().take(room).cloned());
        }
    }
}

impl EditorSession {
    pub fn asked(&mut self, text: &str) {
        let cut = text.char_indices().nth(LONGEST_WORD).map_or(text.len(), |(at, _)| at);
        let word = text.get(..cut).unwrap_or_default().trim();
        if word.is_empty() {
            return;
        }
        if self.words.len() == MOST_WORDS {
            self.words.pop_front();
        }
        self.words.push_back(word.to_owned());
    }
}

impl EditorTurn {
    /// Ends when the turn is cancelled.
    pub async fn is_cancelled(&self) {
        let mut cancelled = self.cancelled.subscribe();
        // The sender is ours: it is not gone before we are.
        let _ = cancelled.wait_for(|cancelled| *cancelled).await;
    }
}

/// Puts it in; of too many, all are forgotten: whoever leaves so many open does not come back for them.
fn bounded<T>(map: &mut HashMap<String, T>, key: String, value: T) {
    if map.len() >= MOST {
        map.clear();
    }
    map.insert(key, value);
}
