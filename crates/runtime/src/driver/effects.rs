//! Begins the effects of a step that is durable: each on a task of its own, in the place it is meant for.
//! What comes of them goes back to the driver.

use std::path::PathBuf;
use std::sync::Arc;

use gadfly_agents::agent::Progress;
use gadfly_engine::pipeline::listing::Survey;
use gadfly_engine::tool::ToolUse;
use gadfly_engine::{Class, Digest, Effect, EffectId, EffectKind, NodePath, Reply, Role, Turn};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{RunLoop, RunningEffect, Update};
use crate::call_site::{BesideReader, CallSite, REVIEWED};
use crate::folder::{Folder, home_of};
use crate::os::NoSupervisor;
use crate::perform::{self, FolderTask, Incoming, SurveyTask, TurnTask};
use crate::tools::{ToolTask, Tools};
use crate::workspace::ignored_and_needed;

impl RunLoop {
    pub(super) fn perform(&mut self, effect: &Effect) {
        match &effect.kind {
            EffectKind::Turn(turn) if effect.class == Class::Person => self.lay_out(effect, turn),
            EffectKind::Turn(_) => self.begin_turn(effect),
            EffectKind::Save(save) => {
                let content = self.driver.engine.texts().and_then(|t| t.shared(&save.content));
                let (save, id, incoming) = (save.clone(), effect.id.clone(), self.incoming_in.clone());
                let task = tokio::spawn(async move {
                    let write = move || perform_save(&save, content.as_deref());
                    let reply = tokio::task::spawn_blocking(write)
                        .await
                        .unwrap_or_else(|e| perform::impossible(e.to_string()));
                    incoming.send(Incoming::Replied { effect: id, reply, texts: Vec::new() }).await;
                });
                self.at_work.insert(effect.id.clone(), RunningEffect::of(CancellationToken::new(), task));
            }
            EffectKind::Tool(wanted) => self.use_tool(effect, wanted),
            EffectKind::Survey(survey) => self.begin_survey(effect, survey),
            // Answered by a person, through the inbox.
            EffectKind::Ask(_) => {}
            EffectKind::Look(_)
            | EffectKind::Examine(_)
            | EffectKind::Verify(_)
            | EffectKind::Accept(_)
            | EffectKind::Commit(_) => {
                let at = match &effect.kind {
                    EffectKind::Accept(accept) => accept.at.as_ref(),
                    _ => None,
                };
                let folder = match self.folder(at.unwrap_or(&effect.id.node)) {
                    Ok(folder) => folder,
                    Err(message) => {
                        let reply = perform::impossible(message);
                        return self.own_replies.push_back((effect.id.clone(), reply));
                    }
                };
                if at.is_some_and(|at| *at != NodePath::root() && self.is_per_node()) {
                    self.delivering.insert(effect.id.clone(), Arc::clone(&folder));
                }
                let cancel = CancellationToken::new();
                let work = FolderTask {
                    effect: effect.clone(),
                    folder,
                    cancel: cancel.clone(),
                    incoming: self.incoming_in.clone(),
                };
                let task = tokio::spawn(work.run());
                self.at_work.insert(effect.id.clone(), RunningEffect::of(cancel, task));
            }
            EffectKind::Cancel { target } => self.cancel(target),
            EffectKind::Tell { target, text } => {
                if let Some(tell) = self.at_work.get(target).and_then(|work| work.tell.as_ref()) {
                    let _ = tell.try_send(text.clone());
                }
            }
        }
    }

    fn use_tool(&mut self, effect: &Effect, wanted: &ToolUse) {
        let texts = self.driver.engine.texts();
        let text = |digest: Digest| Some((digest, texts?.shared(&digest)?));
        let texts = wanted.action.texts().into_iter().filter_map(text).collect();
        let home = self.home(&effect.id.node);
        let process_env = self.driver.process_env.as_deref();
        let new = || Arc::new(Tools::new(&home, process_env));
        let tools = Arc::clone(self.tools.entry(home.clone()).or_insert_with(new));
        let cancel = CancellationToken::new();
        let work = ToolTask {
            effect: effect.id.clone(),
            wanted: wanted.clone(),
            time_ms: effect.time_ms,
            texts,
            tools,
            folder: self.folder(&effect.id.node),
            cancel: cancel.clone(),
            incoming: self.incoming_in.clone(),
        };
        let task = tokio::spawn(work.run());
        self.at_work.insert(effect.id.clone(), RunningEffect::of(cancel, task));
    }

    fn begin_turn(&mut self, effect: &Effect) {
        let EffectKind::Turn(turn) = &effect.kind else { return };
        let place = match self.place(effect, turn) {
            Ok(place) => place,
            Err(message) => {
                return self.own_replies.push_back((effect.id.clone(), perform::impossible(message)));
            }
        };
        let member = self.driver.agent_set.get(&turn.agent);
        let needs = member.map(|m| m.needs.clone()).unwrap_or_default();
        let agent = member.and_then(|m| m.agent.clone());
        let (Some(agent), Some(texts)) = (agent, self.driver.engine.texts()) else {
            let reply = perform::impossible(format!("agent `{}` cannot be reached from here", turn.agent));
            self.own_replies.push_back((effect.id.clone(), reply));
            return;
        };
        let mut call = perform::call(effect, turn, texts);
        call.round = Some(self.driver.writer.summary().rounds).filter(|round| *round > 0);
        call.tmp = agent
            .works_in_a_folder()
            .then(|| self.place_named(&effect.id.node, &format!("{}.tmp", self.plain(&effect.id))));
        let (tell, told) = agent.works_in_a_folder().then(|| mpsc::channel(4)).unzip();
        let cancel = CancellationToken::new();
        let work = TurnTask {
            effect: effect.id.clone(),
            agent,
            call,
            place,
            needs,
            cancel: cancel.clone(),
            told,
            progress: self.progress(&effect.id),
            incoming: self.incoming_in.clone(),
        };
        let task = tokio::spawn(work.run());
        self.at_work.insert(effect.id.clone(), RunningEffect { cancel, tell, task });
    }

    fn begin_survey(&mut self, effect: &Effect, survey: &Survey) {
        let Some(plan) = self.driver.engine.plan().and_then(|p| p.workspace.as_ref()) else {
            let reply = perform::impossible("this run has no project".to_owned());
            return self.own_replies.push_back((effect.id.clone(), reply));
        };
        let cancel = CancellationToken::new();
        let work = SurveyTask {
            effect: effect.clone(),
            survey: survey.clone(),
            project: PathBuf::from(&plan.project),
            store: self.driver.host.journal().dir().to_owned(),
            cancel: cancel.clone(),
            incoming: self.incoming_in.clone(),
        };
        let task = tokio::spawn(work.run());
        self.at_work.insert(effect.id.clone(), RunningEffect::of(cancel, task));
    }

    /// The folder a node's effects are performed in, or why there is none.
    fn folder(&mut self, node: &NodePath) -> Result<Arc<Folder>, String> {
        let home = self.home(node);
        if let Some(folder) = self.folders.get(&home) {
            return Ok(Arc::clone(folder));
        }
        let plan = self.driver.engine.plan().and_then(|p| p.workspace.clone());
        let plan = plan.ok_or_else(|| "this run has no folder".to_owned())?;
        let process_env = self.driver.process_env.clone().ok_or_else(|| NoSupervisor.to_string())?;
        let ours = self.driver.host.journal().own_places();
        let folder = Folder::new(self.run.clone(), home.clone(), ours, plan, process_env);
        let folder = Arc::new(folder.recorded(self.driver.engine.has_looked(node)));
        self.folders.insert(home, Arc::clone(&folder));
        Ok(folder)
    }

    /// Where everything of a node is kept: with the run's, or in a directory of its own.
    fn home(&self, node: &NodePath) -> PathBuf {
        let journal = self.driver.host.journal();
        // If it cannot be made, whoever is to use it says why.
        let run = journal.make_work_dir(&self.run).unwrap_or_else(|_| journal.work_dir(&self.run));
        if self.is_per_node() { home_of(&run, node) } else { run }
    }

    fn is_per_node(&self) -> bool {
        self.driver.engine.plan().is_some_and(|p| p.workspace.as_ref().is_some_and(|w| w.per_node))
    }

    fn has_folder(&self) -> bool {
        self.driver.engine.plan().is_some_and(|p| p.workspace.is_some())
    }

    /// Where a call takes place. Never in a folder that nobody made for it: the launcher's own is the user's
    /// checkout.
    fn place(&mut self, effect: &Effect, turn: &Turn) -> Result<CallSite, String> {
        let Some(member) = self.driver.agent_set.get(&turn.agent) else { return Ok(CallSite::Nowhere) };
        let in_a_folder = member.agent.as_ref().is_some_and(|a| a.works_in_a_folder());
        let edits = gadfly_agents::kind_edits_files(&member.card.kind) || in_a_folder;
        let tree = turn.tree.filter(|_| self.has_folder());
        if let (Role::Worker, Some(tree)) = (turn.role, tree) {
            if !edits {
                return Err(format!(
                    "agent `{}` ({}) answers with text and cannot edit files: name a worker that can, a coding agent or a command",
                    turn.agent, member.card.kind
                ));
            }
            let tree = Some(tree).filter(|_| !turn.goes_on);
            return Ok(CallSite::Folder { folder: self.folder(&effect.id.node)?, tree });
        }
        if !in_a_folder {
            return Ok(CallSite::Nowhere);
        }
        if turn.role == Role::Worker {
            // The same for all its calls: some agents find an earlier conversation by the folder it was in.
            let name = lasting(&effect.id.node, &turn.agent);
            return Ok(CallSite::Empty(self.place_named(&effect.id.node, &name)));
        }
        let at = self.place_named(&effect.id.node, &self.plain(&effect.id));
        let of = match tree {
            Some(tree) => Some((self.folder(&effect.id.node)?, tree)),
            None => None,
        };
        let reviewed = || self.driver.host.journal().work_dir(&self.run).join(REVIEWED);
        let files = of.is_none().then(reviewed).filter(|files| files.is_dir());
        Ok(CallSite::Reader {
            at,
            of,
            files,
            beside: self.beside_reader(&effect.id.node),
            report: turn.report.clone(),
        })
    }

    /// Of what git ignores: as the worker of the node has it, or as the project has.
    fn beside_reader(&self, node: &NodePath) -> Vec<BesideReader> {
        if !self.is_per_node() {
            return Vec::new();
        }
        let found = ignored_and_needed(&self.home(node));
        if found.is_empty() { ignored_and_needed(&self.home(&NodePath::root())) } else { found }
    }

    fn place_named(&self, node: &NodePath, name: &str) -> PathBuf {
        self.home(node).join("work").join(name)
    }

    /// An effect's id as the name of a folder.
    fn plain(&self, id: &EffectId) -> String {
        // Where nodes have homes of their own the number says it all, and a node's name may be of any length.
        if self.is_per_node() { format!("call-{}", id.n) } else { plain(id) }
    }

    /// A person who is to change files finds the folder as the round begins. If that fails the next look says
    /// why.
    fn lay_out(&mut self, effect: &Effect, turn: &Turn) {
        let Some(tree) = turn.tree.filter(|_| turn.role == Role::Worker && self.has_folder()) else { return };
        if let Ok(folder) = self.folder(&effect.id.node) {
            self.laying_out.retain(|earlier| !earlier.is_finished());
            self.laying_out.push(tokio::spawn(async move { drop(folder.restored(&tree).await) }));
        }
    }

    fn progress(&self, effect: &EffectId) -> Progress {
        let Some(updates) = self.driver.updates.clone() else { return Progress::none() };
        let (run, effect) = (self.run.clone(), effect.clone());
        Progress::to(move |text| {
            let _ = updates.try_send(Update::Progress {
                run: run.clone(),
                effect: effect.clone(),
                text: text.to_owned(),
            });
        })
    }

    fn cancel(&mut self, target: &EffectId) {
        if let Some(work) = self.at_work.get(target) {
            work.cancel.cancel();
        } else {
            // Not at work here (a person, or lost in a crash): its end is said for it.
            self.own_replies.push_back((target.clone(), Reply::Cancelled { sent: true }));
        }
    }
}

/// An effect's id as the name of a folder.
fn plain(id: &EffectId) -> String {
    id.to_string().replace(['/', '#'], "-")
}

/// The name of an agent's folder at a node. An agent may be called anything: what is no plain name is told
/// apart by its digest.
fn lasting(node: &NodePath, agent: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let node = node.0.replace('/', "-");
    if agent.chars().all(is_plain) && agent.len() <= 60 {
        return format!("{node}-{agent}");
    }
    let kept: String = agent.chars().filter(|c| is_plain(*c)).take(40).collect();
    format!("{node}-{kept}-{}", Digest::of(agent.as_bytes()).short())
}

fn perform_save(save: &gadfly_engine::effect::Save, content: Option<&str>) -> Reply {
    match content {
        Some(content) => crate::save::perform(save, content),
        None => perform::impossible("the draft to save is not in memory".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workers_folder_has_one_name_in_all_rounds_and_no_two_agents_share_it() {
        let node = NodePath("run/part".into());
        assert_eq!(lasting(&node, "writer_2"), "run-part-writer_2");
        let long = "x".repeat(300);
        let odd = ["../../etc", "..", "a/b", "a b", "a\0b", "", "ä", &long];
        let mut names: Vec<String> = odd.iter().map(|agent| lasting(&node, agent)).collect();
        assert!(names.iter().all(|n| n.starts_with("run-part-") && n.len() < 100 && !n.contains(['/', '.'])));
        names.sort();
        names.dedup();
        assert_eq!(names.len(), odd.len());
    }
}
