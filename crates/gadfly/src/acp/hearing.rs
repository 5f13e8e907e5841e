//! What becomes of a line that came from the editor or from the agent. A message that is none of our concern, or is not
//! understood, is passed on.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use gadfly_runtime::prepare::WatchedTree;
use tokio::sync::watch;

use super::mark::TurnMark;
use super::message::{self, AcpMessage};
use super::sessions::EditorTurn;
use super::wire::Passing;
use super::{AcpProxy, locked, turn};
use crate::context::Context;
use crate::judged_session::nested;

/// What switches judging off, in front of a prompt for one turn, by itself for the session.
const OFF: &str = "/gadfly off";
const ON: &str = "/gadfly on";
/// How long the state of a project may take to be seen: the prompt waits for it.
const SEEING: Duration = Duration::from_mins(1);

impl AcpProxy {
    pub async fn editor_said(&self, line: &[u8]) -> Passing {
        let Some(heard) = AcpMessage::read(line) else { return Passing::AsItIs };
        let Some(method) = heard.method() else { return self.answered(heard) };
        match (method, heard.id(), heard.session()) {
            ("session/new", Some(id), _) => {
                locked(&self.sessions).opening(id, heard.cwd().unwrap_or_default());
            }
            ("session/load" | "session/resume", Some(id), Some(session)) => {
                locked(&self.sessions).loading(id, session, heard.cwd());
            }
            ("session/cancel", _, Some(session)) => locked(&self.sessions).cancel(session),
            ("session/prompt", Some(id), Some(session)) => {
                let session = session.to_owned();
                return self.prompted(id, session, heard).await;
            }
            _ => {}
        }
        Passing::AsItIs
    }

    /// An answer: ours to hear if it is to a request of ours.
    fn answered(&self, heard: AcpMessage) -> Passing {
        let Some(id) = heard.own_id(&self.prefix).map(str::to_owned) else { return Passing::AsItIs };
        if let Some(waiting) = locked(&self.asked).remove(&id) {
            // Whoever asked may have given up.
            let _ = waiting.send(heard.into_value());
        }
        Passing::Not
    }

    async fn prompted(&self, id: String, session: String, heard: AcpMessage) -> Passing {
        let text = heard.prompt();
        let (text, is_off) = match switch(&text) {
            Some(Switch::Session(off)) => {
                locked(&self.sessions).session(&session).is_off = off;
                let word = if off { "off in this session, until you say `/gadfly on`" } else { "on again" };
                self.tell(&session, &format!("Gadfly: judging is {word}.")).await;
                let id = heard.into_value().get("id").cloned().unwrap_or_default();
                let _ = self.editor.line(&message::heard(&id)).await;
                return Passing::Not;
            }
            Some(Switch::Turn(rest)) => (rest.to_owned(), true),
            None => (text, false),
        };
        let (folder, words) = {
            let mut sessions = locked(&self.sessions);
            let known = sessions.session(&session);
            known.asked(&text);
            if is_off {
                return heard.without(OFF).map_or(Passing::AsItIs, Passing::Instead);
            }
            if known.is_off {
                return Passing::AsItIs;
            }
            (known.folder.clone(), known.words.iter().cloned().collect())
        };
        let folder = folder.filter(|folder| folder.is_absolute());
        let folder = folder.unwrap_or_else(|| std::env::current_dir().unwrap_or_else(|_| PathBuf::from(".")));
        let context = Context::read_at(self.global.clone(), &folder);
        if nested::is_within_a_call(&context) {
            return Passing::AsItIs;
        }
        let start = match tokio::time::timeout(SEEING, seen(&context)).await {
            Ok(start) => start,
            Err(_) => {
                Err(format!("the project's files could not be looked at within {} seconds", SEEING.as_secs()))
            }
        };
        let written = Mutex::new(BTreeSet::new());
        let cancelled = watch::channel(false).0;
        let mark = TurnMark::of(&session, &folder);
        if let Err(why) = mark.set() {
            let word = format!("Gadfly: a crash in this turn would leave no trace: {why}.");
            self.tell(&session, &word).await;
        }
        let turn = EditorTurn { prompt: id, session, context, start, words, written, mark, cancelled };
        locked(&self.sessions).begin(turn);
        Passing::AsItIs
    }
}

/// Not one of the proxy's own: the turn that ends here outlives the line.
pub fn from_agent(proxy: &Arc<AcpProxy>, line: &[u8]) -> Passing {
    let Some(heard) = AcpMessage::read(line) else { return Passing::AsItIs };
    if heard.method().is_some() {
        let written = heard.written();
        if let Some(session) = heard.session().filter(|_| !written.is_empty()) {
            locked(&proxy.sessions).wrote(session, &written);
        }
        return Passing::AsItIs;
    }
    if heard.own_id(&proxy.prefix).is_some() {
        return proxy.answered(heard);
    }
    let Some(id) = heard.id() else { return Passing::AsItIs };
    let (turn, loaded) = {
        let mut sessions = locked(&proxy.sessions);
        sessions.opened(&id, heard.opened());
        (sessions.turn(&id), sessions.loaded(&id))
    };
    if let Some(session) = loaded.filter(|_| heard.is_taken()) {
        return turn::left_open(proxy, &session).map_or(Passing::AsItIs, Passing::WithMore);
    }
    let Some(turn) = turn else { return Passing::AsItIs };
    let is_over = heard.stop_reason().is_none_or(|reason| reason == "cancelled");
    if is_over || *turn.cancelled.borrow() {
        locked(&proxy.sessions).over(&id);
        return Passing::AsItIs;
    }
    let (proxy, held) = (Arc::clone(proxy), line.to_owned());
    tokio::spawn(async move { turn::finish(&proxy, &turn, held, heard.into_value()).await });
    Passing::Not
}

async fn seen(context: &Context) -> Result<(WatchedTree, String), String> {
    let tree = context.setup().watched_tree().await.map_err(|problem| problem.message)?;
    let now = tree.now().await.map_err(|problem| problem.message)?;
    Ok((tree, now))
}

#[derive(PartialEq, Eq, Debug)]
enum Switch<'a> {
    /// For the session: whether judging is off.
    Session(bool),
    /// For this turn, whose prompt is the rest.
    Turn(&'a str),
}

fn switch(prompt: &str) -> Option<Switch<'_>> {
    match prompt.trim() {
        OFF => Some(Switch::Session(true)),
        ON => Some(Switch::Session(false)),
        other => {
            let rest = other.strip_prefix(OFF)?;
            rest.starts_with(char::is_whitespace).then(|| Switch::Turn(rest.trim_start()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn judging_is_switched_by_whole_words() {
        assert_eq!(switch(" /gadfly off\n"), Some(Switch::Session(true)));
        assert_eq!(switch("/gadfly on"), Some(Switch::Session(false)));
        assert_eq!(switch("/gadfly off rename it"), Some(Switch::Turn("rename it")));
        for other in ["", "/gadfly offer", "please /gadfly off", "/gadfly on and on"] {
            assert_eq!(switch(other), None, "{other}");
        }
    }
}
