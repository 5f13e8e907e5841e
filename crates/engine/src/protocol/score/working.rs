//! The way of a pair that works on files: look, dispatch, check that the output is complete, judge, verify, mend. What a
//! judgement leads to is decided in `score`; bringing files to the user is the business of the node above.

use std::collections::{BTreeMap, BTreeSet};

use crate::artifact::{ArtifactFile, Manifest};
use crate::digest::Digest;
use crate::event::EventKind;
use crate::judging::SeatReview;
use crate::machine::{AgentAnswer, Cx, TaskResult};
use crate::outcome::{Halt, Outcome};
use crate::pipeline::event::PipelineEvent;
use crate::pipeline::headings::headings;
use crate::pipeline::listing::{ListedFile, Listing};
use crate::pipeline::verdict::OtherLens;
use crate::pipeline::{self, PairVerdict, ProjectFacts, Registry};
use crate::protocol::PairResult;
use crate::tool::{ToolAction, ToolUse};
use crate::tree::{Change, ChangeKind, Look, Looked, Tree, Verified, Verify};
use crate::work::Work;

use super::ScoreProtocol;
use super::briefs::WorkerTask;
use super::files::{PairFiles, ProjectCommand, WorkerOutput};
use super::judgement::{Scored, Tallied};

/// What is known of the pair's folder.
#[derive(Default)]
pub(super) struct FolderWork {
    /// Its state when the pair was dispatched.
    base: Option<Digest>,
    tree: Option<Tree>,
    /// Everything it makes, as it is in `tree`.
    listing: Listing,
    awaiting: Awaiting,
    incomplete: u32,
    fixes: u32,
    verdict: Option<PairVerdict>,
    blocked: Option<String>,
    /// How a pair without a worker ends, once its report is saved.
    ending: Option<Outcome>,
    /// Files that lay beside the work and say what was thought of it.
    pub(super) history: BTreeSet<String>,
    pub(super) escalated_after: Option<u32>,
    /// Commands that passed, with what they printed.
    pub(super) green: Vec<(String, Option<Digest>)>,
    /// What the last judgement remarks without taking off points.
    pub(super) notes: Vec<String>,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
enum Awaiting {
    #[default]
    Nothing,
    FirstLook,
    Hook {
        after: bool,
        at: usize,
    },
    /// A reply is being written to its file.
    Saving,
    Look,
    /// Texts of what the work is made from.
    Inputs,
    /// Texts of what is judged.
    Reading,
    Verify(usize),
}

impl FolderWork {
    pub(super) const fn verdict(&self) -> Option<&PairVerdict> {
        self.verdict.as_ref()
    }

    /// The state of the folder a call begins with.
    pub(super) fn begin(&self, afresh: bool) -> Option<Digest> {
        let tree = self.tree.as_ref().map(|tree| tree.digest);
        if afresh { self.base } else { tree.or(self.base) }
    }

    pub(super) fn changed(&self) -> BTreeSet<&str> {
        let tree = self.tree.iter().flat_map(|tree| &tree.changes);
        tree.filter(|change| change.kind != ChangeKind::Deleted).map(|change| change.path.as_str()).collect()
    }
}

impl ScoreProtocol {
    /// A pair with a folder sees first where it begins.
    pub(super) fn set_out(&mut self, cx: &mut Cx<'_>) {
        self.await_(Awaiting::FirstLook);
        cx.look(Look { tree: None, paths: Vec::new() });
    }

    fn await_(&mut self, awaiting: Awaiting) {
        if let Some(ground) = &mut self.ground {
            ground.awaiting = awaiting;
        }
    }

    /// Something the pair's folder was asked for is there. False if it was asked for by somebody else.
    pub(super) fn learned_of_folder(&mut self, what: &TaskResult, cx: &mut Cx<'_>) -> bool {
        let Some(ground) = &mut self.ground else { return false };
        match (what, std::mem::take(&mut ground.awaiting)) {
            (TaskResult::Looked(looked), Awaiting::FirstLook) => self.first_looked(looked, cx),
            (TaskResult::Looked(looked), Awaiting::Look) => self.took(looked, cx),
            (TaskResult::Looked(_), Awaiting::Inputs) => self.begin_with_work(cx),
            (TaskResult::Looked(_), Awaiting::Reading) => self.complete(cx),
            (TaskResult::Tool(done), Awaiting::Saving) if done.is_error() => {
                let why = crate::brief::one_line(cx.text(&done.shown));
                self.block(format!("its reply could not be saved: {why}"), cx);
            }
            (TaskResult::Tool(_), Awaiting::Saving) => self.look(cx),
            (TaskResult::Verified(verified), Awaiting::Hook { after, at }) => {
                self.hooked(after, at, verified, cx);
            }
            (TaskResult::Verified(verified), Awaiting::Verify(at)) => self.verified(at, verified, cx),
            (_, awaiting) => {
                self.await_(awaiting);
                return false;
            }
        }
        true
    }

    fn first_looked(&mut self, looked: &Looked, cx: &mut Cx<'_>) {
        let (Some(ground), Some(files)) = (&mut self.ground, &self.settings.files) else { return };
        ground.base = looked.tree.as_ref().map(|tree| tree.digest);
        ground.tree.clone_from(&looked.tree);
        ground.listing = listed(files, ground.tree.as_ref());
        self.run_hook(false, 0, cx);
    }

    fn hooks(&self, after: bool) -> &[ProjectCommand] {
        let Some(files) = self.settings.files.as_ref().filter(|_| self.settings.worker.is_some()) else {
            return &[];
        };
        if after { &files.post_completion } else { &files.pre_dispatch }
    }

    fn run_hook(&mut self, after: bool, at: usize, cx: &mut Cx<'_>) {
        match self.hooks(after).get(at).cloned() {
            Some(command) => {
                self.run_command(&command, cx);
                self.await_(Awaiting::Hook { after, at });
            }
            None if after => self.judge_files(cx),
            None => self.begin_work(cx),
        }
    }

    fn run_command(&self, command: &ProjectCommand, cx: &mut Cx<'_>) {
        let Some(tree) = self.ground.as_ref().and_then(|ground| ground.begin(false)) else { return };
        cx.verify(Verify::new(command.line.clone(), tree, command.timeout_ms));
    }

    fn hooked(&mut self, after: bool, at: usize, verified: &Verified, cx: &mut Cx<'_>) {
        let hook = if after { "post-completion" } else { "pre-dispatch" };
        let command = self.hooks(after).get(at).map(|c| c.line.clone()).unwrap_or_default();
        let green = verified.is_green();
        let (hook_name, line) = (hook.to_owned(), command.clone());
        let ran =
            PipelineEvent::HookRan { hook: hook_name, command: line, green, verified: verified.clone() };
        cx.emit(EventKind::Pipeline(ran));
        if green {
            return self.run_hook(after, at + 1, cx);
        }
        let end = said(verified, cx);
        self.block(format!("the {hook} hook `{command}` failed: {end}"), cx);
    }

    /// What is there is judged first; where nothing is, or where what is open is known, the worker begins.
    fn begin_work(&mut self, cx: &mut Cx<'_>) {
        self.begin_round(cx);
        let paths = self.unread_inputs(cx);
        if paths.is_empty() {
            return self.begin_with_work(cx);
        }
        let tree = self.ground.as_ref().and_then(|ground| ground.base);
        self.await_(Awaiting::Inputs);
        cx.look(Look { tree, paths });
    }

    fn begin_with_work(&mut self, cx: &mut Cx<'_>) {
        let Some(files) = &self.settings.files else { return };
        if files.there.is_empty() {
            return self.call_worker(&WorkerTask::Draft, cx);
        }
        let paths = files.there.clone();
        let tree = self.ground.as_ref().and_then(|ground| ground.base);
        self.await_(Awaiting::Reading);
        cx.look(Look { tree, paths });
    }

    /// A worker is through with the files, or its reply is to become one.
    pub(super) fn worked(&mut self, answer: AgentAnswer, cx: &mut Cx<'_>) {
        let Some(files) = &self.settings.files else { return };
        if files.output == WorkerOutput::Files {
            return self.look(cx);
        }
        match Work::drafted(&answer, cx) {
            Ok(work) => self.save_reply(work.blob(), cx),
            Err(failure) => cx.unusable(answer, failure),
        }
    }

    fn save_reply(&mut self, content: Digest, cx: &mut Cx<'_>) {
        let path = self.settings.files.as_ref().and_then(PairFiles::reply_path).map(ToOwned::to_owned);
        let Some(path) = path else {
            return self.block("its reply has no one file it could become".to_owned(), cx);
        };
        let begin = self.ground.as_ref().and_then(|ground| ground.begin(false));
        self.await_(Awaiting::Saving);
        cx.tool(ToolUse { begin, ..ToolUse::new(ToolAction::WriteFile { path, content }, 0) });
    }

    fn look(&mut self, cx: &mut Cx<'_>) {
        self.await_(Awaiting::Look);
        cx.look(Look { tree: None, paths: Vec::new() });
    }

    /// The folder as it was left. What is judged of it and not known yet is read.
    fn took(&mut self, looked: &Looked, cx: &mut Cx<'_>) {
        let (Some(ground), Some(files)) = (&mut self.ground, &self.settings.files) else { return };
        ground.tree.clone_from(&looked.tree);
        ground.listing = listed(files, ground.tree.as_ref());
        if let Some(ending) = ground.ending.take() {
            let made = entries(&ground.listing, |path| files.makes(path) && ground.changed().contains(path));
            if let Some(verdict) = &mut ground.verdict {
                verdict.made = made;
            }
            return cx.finish(ending);
        }
        let unread = |entry: &ArtifactFile| !cx.texts().contains(&entry.blob);
        let paths: Vec<String> = self.artifact().into_iter().filter(unread).map(|entry| entry.path).collect();
        if paths.is_empty() {
            return self.complete(cx);
        }
        let tree = looked.tree.as_ref().map(|tree| tree.digest);
        self.await_(Awaiting::Reading);
        cx.look(Look { tree, paths });
    }

    /// What verdicts are bound to: what it changed of its products, what was part of them before, and every file its
    /// entry names.
    pub(super) fn artifact(&self) -> Vec<ArtifactFile> {
        let (Some(ground), Some(files)) = (&self.ground, &self.settings.files) else { return Vec::new() };
        let changed = ground.changed();
        if changed.is_empty() && !files.there.is_empty() {
            let is_there = |path: &str| files.there.iter().any(|there| there == path);
            return entries(&ground.listing, |path| is_there(path) && !ground.history.contains(path));
        }
        let is_part = |path: &str| {
            let earlier = files.artifact.iter().chain(&files.there).any(|before| before == path);
            let is_work = changed.contains(path) || (earlier && !ground.history.contains(path));
            files.makes(path) && (is_work || files.names(path))
        };
        entries(&ground.listing, is_part)
    }

    /// POST: before anybody is paid to judge it, a program has seen that it is all there.
    fn complete(&mut self, cx: &mut Cx<'_>) {
        self.set_history_aside(cx);
        let (Some(ground), Some(files)) = (&self.ground, &self.settings.files) else { return };
        if self.settings.worker.is_none() {
            // Who judges can run nothing: it is shown what commands say.
            return self.verify(0, cx);
        }
        let changed = ground.changed();
        let gaps = self.gaps(files, &ground.listing, &changed, cx);
        if gaps.is_empty() {
            return self.run_hook(true, 0, cx);
        }
        let agent = files.agent.clone();
        let most = files.completions;
        let Some(ground) = &mut self.ground else { return };
        ground.incomplete += 1;
        let times = ground.incomplete;
        let event = PipelineEvent::OutputIncomplete { agent: agent.clone(), gaps: gaps.clone(), times };
        cx.emit(EventKind::Pipeline(event));
        if times > most {
            return self.block(pipeline::facts::incomplete(&agent, &gaps), cx);
        }
        self.call_worker(&WorkerTask::Complete { gaps: &gaps }, cx);
    }

    fn gaps(
        &self,
        files: &PairFiles,
        listing: &Listing,
        changed: &BTreeSet<&str>,
        cx: &Cx<'_>,
    ) -> Vec<String> {
        let worked = self.ground.as_ref().is_some_and(|ground| ground.tree.is_some()) && !changed.is_empty();
        if files.goes_on() && !worked && files.there.is_empty() {
            return vec!["nothing was changed".to_owned()];
        }
        let unfit = self.unfit(files);
        if !unfit.is_empty() {
            return unfit;
        }
        if files.produces.is_empty() {
            return if worked { Vec::new() } else { vec!["nothing was changed".to_owned()] };
        }
        let sectioned = files.produces.iter().filter_map(pipeline::Product::sectioned);
        let mut read: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (path, found) in sectioned.flat_map(|pattern| listing.matching(pattern)) {
            read.insert(path.to_owned(), headings(cx.text(&found.digest)));
        }
        let entry = pipeline::RegistryEntry {
            agent: files.agent.clone(),
            produces: files.produces.clone(),
            ..pipeline::RegistryEntry::default()
        };
        let (registry, none) = (Registry::default(), BTreeMap::new());
        let (manual, enabled) = (BTreeMap::new(), BTreeSet::new());
        let facts = ProjectFacts {
            registry: &registry,
            listing,
            headings: &read,
            verdicts: &[],
            manual: &manual,
            assume_manual: false,
            enabled: &enabled,
            skills: &none,
        };
        let goes_on = files.goes_on();
        facts.gaps_of_output(&entry, &|path| goes_on || changed.contains(path))
    }

    /// What could not be delivered: a link leads elsewhere, and a name with a line break in it is two lines of a list.
    fn unfit(&self, files: &PairFiles) -> Vec<String> {
        let tree = self.ground.iter().filter_map(|ground| ground.tree.as_ref());
        let changes = tree.flat_map(|tree| &tree.changes);
        let made = changes.filter(|change| change.kind != ChangeKind::Deleted && files.makes(&change.path));
        let why = |change: &Change| {
            if change.mode & 0o170_000 == 0o120_000 {
                Some(format!("{} is a link: write a file", change.path))
            } else if change.path.chars().any(char::is_control) {
                Some(format!("{} has a name that cannot be used", change.path.escape_debug()))
            } else {
                None
            }
        };
        made.filter_map(why).collect()
    }

    fn judge_files(&mut self, cx: &mut Cx<'_>) {
        let artifact = self.artifact();
        if self.settings.critics.is_empty() {
            self.work = Some(Work::Files(artifact));
            return self.verify(0, cx);
        }
        let given = self.ground.as_ref().is_some_and(|ground| ground.changed().is_empty());
        self.judge(Work::Files(artifact), given, cx);
    }

    /// What a judgement is worth, whatever it leads to.
    pub(super) fn note_verdict(&mut self, seats: &[(SeatReview<Scored>, Tallied)], open: Vec<String>) {
        let (Some((first, tallied)), Some(Work::Files(judged))) = (seats.first(), &self.work) else { return };
        let (Some(ground), Some(files)) = (&mut self.ground, &self.settings.files) else { return };
        let other = seats.iter().skip(1).map(|(heard, tallied)| OtherLens {
            critic: heard.critic().to_owned(),
            lens: heard.seat.lens.clone(),
            score: tallied.sheet.score,
        });
        ground.notes = seats.iter().flat_map(|(_, tallied)| tallied.notes.clone()).collect();
        ground.verdict = Some(PairVerdict {
            agent: files.agent.clone(),
            critic: first.critic().to_owned(),
            lens: first.seat.lens.clone(),
            score: tallied.sheet.score,
            threshold: self.settings.threshold,
            rounds: self.round,
            escalated: self.attempt.escalated,
            artifact: Manifest::new(judged.clone()).digest(),
            files: judged.clone(),
            rubric: self.rubric.unwrap_or(self.settings.rubric),
            reply: first.reply(),
            open,
            other: other.collect(),
            rejected: false,
            made: Vec::new(),
        });
    }

    /// VERIFY: the project's commands, on exactly the tree that was judged.
    pub(super) fn verify(&mut self, at: usize, cx: &mut Cx<'_>) {
        let command = self.settings.files.as_ref().and_then(|files| files.verify.get(at)).cloned();
        if let Some(command) = command {
            self.run_command(&command, cx);
            return self.await_(Awaiting::Verify(at));
        }
        if self.settings.worker.is_none() {
            return self.judge_files(cx);
        }
        let draft = self.ground.as_ref().and_then(|ground| ground.begin(false)).unwrap_or(self.settings.task);
        cx.finish(Outcome::Approved { draft, overruled: false, notes: self.open.clone() });
    }

    fn verified(&mut self, at: usize, verified: &Verified, cx: &mut Cx<'_>) {
        let Some(files) = &self.settings.files else { return };
        let (command, most) = (files.verify.get(at).map(|c| c.line.clone()).unwrap_or_default(), files.fixes);
        let green = verified.is_green();
        let (round, line) = (self.round, command.clone());
        cx.emit(EventKind::VerifyRan { round, command: line, green, verified: verified.clone() });
        let end = said(verified, cx);
        let Some(ground) = &mut self.ground else { return };
        if green {
            let output = verified.runs.last().map(|run| run.output);
            ground.green.push((command, output));
            return self.verify(at + 1, cx);
        }
        ground.fixes += 1;
        if ground.fixes > most || self.settings.worker.is_none() {
            return self.block(format!("verification failed: `{command}`: {end}"), cx);
        }
        // Mending is no round of the pair: it has its own limit.
        self.round += 1;
        cx.emit(EventKind::RoundStarted { round: self.round, of: self.round.max(self.limit) });
        let output = verified.runs.last().map(|run| run.output);
        self.call_worker(&WorkerTask::Fix { command: &command, output }, cx);
    }

    /// A pair without a worker: what it said becomes the file its entry promises, then it ends so.
    pub(super) fn end_judge(&mut self, ending: Outcome, cx: &mut Cx<'_>) {
        let saves = self.settings.files.as_ref().is_some_and(|files| files.reply_path().is_some());
        let reply = self.report_to_save(cx);
        match (reply.filter(|_| saves), &mut self.ground) {
            (Some(reply), Some(ground)) => {
                ground.ending = Some(ending);
                self.save_reply(reply, cx);
            }
            _ => cx.finish(ending),
        }
    }

    fn block(&mut self, because: String, cx: &mut Cx<'_>) {
        let draft = self.work.as_ref().map(Work::blob);
        let mut open = self.open.clone();
        open.insert(0, because.clone());
        if let Some(ground) = &mut self.ground {
            ground.blocked = Some(because);
        }
        cx.finish(Outcome::Halted { reason: Halt::Stuck, draft, open });
    }

    pub(super) fn pair_result(&self) -> Option<PairResult> {
        let (ground, files) = (self.ground.as_ref()?, self.settings.files.as_ref()?);
        let tree = ground.tree.as_ref()?.digest;
        let changes = ground.tree.as_ref()?.changes.clone();
        let outside: Vec<String> =
            changes.iter().map(|change| change.path.clone()).filter(|path| !files.may_write(path)).collect();
        Some(PairResult {
            tree,
            verdict: ground.verdict.clone(),
            files: if self.settings.worker.is_some() { self.artifact() } else { Vec::new() },
            changes,
            outside,
            blocked: ground.blocked.clone(),
            recurring: self.history.recurring(),
            escalated_after: ground.escalated_after,
        })
    }
}

/// What a pair makes, by what there was before and what changed since.
fn listed(files: &PairFiles, tree: Option<&Tree>) -> Listing {
    let mut listing = Listing::default();
    for entry in &files.before {
        listing.insert(entry.path.clone(), ListedFile { digest: entry.blob, mode: entry.mode });
    }
    for change in tree.iter().flat_map(|tree| &tree.changes) {
        match change.after.filter(|_| change.kind != ChangeKind::Deleted) {
            Some(digest) => {
                let mode = if change.mode & 0o111 == 0 { 0o644 } else { 0o755 };
                listing.insert(change.path.clone(), ListedFile { digest, mode });
            }
            None => listing.remove(&change.path),
        }
    }
    listing
}

fn entries(listing: &Listing, wanted: impl Fn(&str) -> bool) -> Vec<ArtifactFile> {
    let entry = |(path, found): (&str, ListedFile)| ArtifactFile {
        path: path.to_owned(),
        mode: found.mode,
        blob: found.digest,
    };
    listing.iter().filter(|(path, _)| wanted(path)).map(entry).collect()
}

/// How a command ended, with the last line of what it printed.
fn said(verified: &Verified, cx: &Cx<'_>) -> String {
    let Some(run) = verified.runs.last() else { return "it did not run".to_owned() };
    let last =
        cx.text(&run.output).lines().rev().find(|line| !line.trim().is_empty()).map(crate::brief::one_line);
    last.map_or_else(|| run.end.to_string(), |line| format!("{}, {line}", run.end))
}
