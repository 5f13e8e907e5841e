//! The end of a turn: its change is judged, a rejection goes back to the agent as another prompt, and where no approval
//! comes of it the person decides. However it goes, the editor gets the one answer to its prompt.

use std::path::Path;
use std::time::Duration;

use gadfly_engine::Text;
use gadfly_engine::work::Work;
use gadfly_journal::Summary;
use gadfly_runtime::prepare::Submission;
use serde_json::{Value, json};

use super::mark::TurnMark;
use super::message::{self, EditorChoice};
use super::sessions::EditorTurn;
use super::{AcpProxy, locked};
use crate::judged_session::request::{SessionTask, request};
use crate::judged_session::{Case, JudgedSession, OWN_WORDS, TurnDecision, altered, judged, session};
use crate::output::{next_command, safe};

/// A change no critic reads in one go.
const LARGEST_CHANGE: usize = 4 << 20;
/// Prompts of ours in one turn, those included that the person asks for. The loop's own cap ends it before.
const MOST_PROMPTS: usize = 40;
/// Files that are named.
const MOST_NAMED: usize = 20;
const PROGRAM: &str = "Editor";

/// Judges the turn whose answer is held, and lets the answer go.
pub async fn finish(proxy: &AcpProxy, turn: &EditorTurn, held: Vec<u8>, answer: Value) {
    tokio::select! {
        () = Box::pin(rounds(proxy, turn)) => {}
        () = turn.is_cancelled() => {}
    }
    locked(&proxy.sessions).over(&turn.prompt);
    let line = if *turn.cancelled.borrow() { message::ended(answer, "cancelled") } else { held };
    let _ = proxy.editor.line(&line).await;
}

async fn rounds(proxy: &AcpProxy, turn: &EditorTurn) {
    let session = turn.session.as_str();
    for round in 0..MOST_PROMPTS {
        let decision = judge(proxy, turn, round > 0).await;
        let decision = decision.unwrap_or_else(|why| TurnDecision::unjudged(&why));
        let (said, back) = match decision {
            TurnDecision::Silent => return,
            TurnDecision::Approved(said) => return proxy.tell(session, &said).await,
            TurnDecision::Unjudged(said) if !proxy.args.fail_closed => {
                let how = "It is let through (--fail-open).";
                return proxy.tell(session, &format!("{said}\n\n{how}")).await;
            }
            TurnDecision::Back(items) => (format!("Gadfly: the critic asks for more.\n\n{items}"), items),
            TurnDecision::Unapproved(said) | TurnDecision::Unjudged(said) => {
                match decide(proxy, turn, &said).await {
                    EditorChoice::Accept => {
                        let word = "Gadfly: accepted by you. The critic did not approve it.";
                        return proxy.tell(session, word).await;
                    }
                    EditorChoice::Leave => {
                        return proxy.tell(session, &format!("{said}\n\nIt stays as it is.")).await;
                    }
                    EditorChoice::SendBack => {
                        let items =
                            format!("{OWN_WORDS}The user wants this mended before the turn ends:\n{said}");
                        ("Gadfly: sent back, as you asked.".to_owned(), items)
                    }
                }
            }
        };
        proxy.tell(session, &said).await;
        let prompt = json!({ "sessionId": session, "prompt": [{ "type": "text", "text": back }] });
        let Some(answer) = proxy.ask(&proxy.agent, "session/prompt", prompt).await else { return };
        match answer.pointer("/result/stopReason").and_then(Value::as_str) {
            Some("cancelled") => {
                turn.cancelled.send_replace(true);
                return;
            }
            Some(_) => {}
            None => {
                let why =
                    answer.pointer("/error/message").and_then(Value::as_str).unwrap_or("no reason given");
                let word = format!(
                    "Gadfly: the agent did not take the rejection up ({}). The change is not approved.",
                    safe::line(why, 300)
                );
                return proxy.tell(session, &word).await;
            }
        }
    }
    proxy.tell(session, "Gadfly: this turn was sent back too often; it is not approved.").await;
}

async fn decide(proxy: &AcpProxy, turn: &EditorTurn, said: &str) -> EditorChoice {
    let id = format!("{}question", proxy.prefix);
    let question = message::question(&turn.session, &id, said);
    let answer = proxy.ask(&proxy.editor, "session/request_permission", question).await;
    answer.map_or(EditorChoice::Leave, |answer| message::choice(&answer))
}

async fn judge(proxy: &AcpProxy, turn: &EditorTurn, sent_back: bool) -> Result<TurnDecision, String> {
    let (context, by) = (&turn.context, &proxy.args.by);
    let (tree, start) = turn.start.as_ref().map_err(Clone::clone)?;
    let brought = tree.change_since(start, &by.exclude).await.map_err(|problem| problem.message)?;
    let Some(brought) = brought else {
        return Ok(nothing(proxy, turn, sent_back));
    };
    let (change, changed) = change(turn, &brought)?;
    if let Some(wrong) = context.problems.iter().find(|problem| problem.is_error()) {
        return Err(format!("the configuration has errors: {}. `gadfly check` has all", wrong.message));
    }
    let wish = SessionTask::of(&turn.words);
    let (request, looped) = request(by, context, &wish)?;
    let altered = altered::altered(context, by, &looped, changed.iter().map(String::as_str));
    let critic = looped.critic().map(|critic| critic.value);
    let asked = critic.as_deref().unwrap_or("the critic");
    let files = if changed.len() == 1 { "1 file".to_owned() } else { format!("{} files", changed.len()) };
    proxy.tell(&turn.session, &format!("Gadfly: {asked} judges the change of this turn ({files}).")).await;
    let session = judged_session(&turn.session, Some(sent_back));
    let case = Case { session, task: wish.task, change, critic, altered };
    let stopped = async {
        turn.is_cancelled().await;
        "the turn was cancelled".to_owned()
    };
    let within = Duration::from_secs(proxy.args.seconds);
    Box::pin(judged(by, context, &case, &request, within, stopped)).await
}

/// That there is nothing to judge is said once.
fn nothing(proxy: &AcpProxy, turn: &EditorTurn, sent_back: bool) -> TurnDecision {
    if sent_back {
        return TurnDecision::Unapproved(
            "Gadfly: the change that was rejected was taken back; nothing is left of this turn.".to_owned(),
        );
    }
    let mut sessions = locked(&proxy.sessions);
    let known = sessions.session(&turn.session);
    if std::mem::replace(&mut known.told_nothing, true) {
        return TurnDecision::Silent;
    }
    TurnDecision::Approved("Gadfly: nothing changed in this turn, so there was nothing to judge.".to_owned())
}

/// The change as a diff, with a word about files that may not be the agent's doing; and the files.
fn change(turn: &EditorTurn, brought: &Submission) -> Result<(Text, Vec<String>), String> {
    let Work::Tree(tree) = &brought.work else { return Err("there is no change to be seen".to_owned()) };
    let diff = brought.texts.iter().find(|text| text.digest() == tree.diff);
    let diff = diff.ok_or("the change cannot be read")?;
    if diff.as_str().len() > LARGEST_CHANGE {
        return Err(format!(
            "the change has {} bytes, more than any critic reads at once",
            diff.as_str().len()
        ));
    }
    let changed: Vec<String> = tree.changes.iter().map(|change| change.path.clone()).collect();
    let written = locked(&turn.written);
    let is_told = |path: &&String| written.iter().any(|told| Path::new(told).ends_with(path.as_str()));
    let others: Vec<&str> =
        changed.iter().filter(|path| !is_told(path)).take(MOST_NAMED).map(String::as_str).collect();
    if others.is_empty() || written.is_empty() {
        return Ok((diff.clone(), changed));
    }
    let note = format!(
        "Not written through the editor, so by a command of the agent's or by the user meanwhile: {}\n\n",
        others.join(", ")
    );
    Ok((Text::new(note + diff.as_str()), changed))
}

/// Said after a session was taken up again whose last turn was cut off.
pub fn left_open(proxy: &AcpProxy, id: &str) -> Option<Vec<u8>> {
    let folder = locked(&proxy.sessions).session(id).folder.clone()?;
    let was_marked = TurnMark::of(id, &folder).lift();
    let run = run_left_open(proxy, id, &folder);
    if run.is_none() && !was_marked {
        return None;
    }
    let run = run.map_or_else(String::new, |run| {
        let show = next_command::command(&format!("show {}", run.run));
        format!(" (run {}, {}; `{show}` has what is known)", run.run, run.state)
    });
    let text = format!(
        "Gadfly: an earlier turn of this session was not judged to its end{run}, so its change is not approved. `{}` \
         judges what is not committed.",
        next_command::command("review --diff HEAD"),
    );
    Some(message::chunk(id, &text))
}

/// The session's last run, if it is not over.
fn run_left_open(proxy: &AcpProxy, id: &str, folder: &Path) -> Option<Summary> {
    let context = crate::context::Context::read_at(proxy.global.clone(), folder);
    // Without a store there is nothing that could be open.
    let journal = context.existing().ok()?;
    let last = session::runs(&journal, &judged_session(id, None)).ok()?.into_iter().next()?;
    Some(last.summary).filter(|run| !run.ended)
}

fn judged_session(id: &str, sent_back: Option<bool>) -> JudgedSession {
    // Agents may choose any text; a title needs one line of plain characters.
    let id = if JudgedSession::is_id(id) {
        id.to_owned()
    } else {
        blake3::hash(id.as_bytes()).to_hex()[..16].to_owned()
    };
    JudgedSession { program: PROGRAM.to_owned(), id, sent_back }
}
