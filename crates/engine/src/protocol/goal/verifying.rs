//! A claim is met: the folder is looked at, the success criterion is checked leaf by leaf, and files the goal is
//! judged by are compared with what they were. Nothing a worker or a critic says makes a goal reached.

use super::answer::{self, JudgeAnswer};
use super::commands::FreshCommands;
use super::people::{self, Asking};
use super::steps::{OUTPUTS, keep_newest};
use super::trying::Trying;
use super::{Awaiting, Criterion, FAILED_CLAIMS, FileCheck, GoalProtocol, Then, criterion, predicate, tag};
use crate::brief::one_line;
use crate::budget::{Cap, CapScope};
use crate::digest::Digest;
use crate::effect::{EffectId, EffectKind};
use crate::event::EventKind;
use crate::goal::Claimant;
use crate::machine::{Cx, LedTurn};
use crate::outcome::Outcome;
use crate::tool::{Image, Risk, ToolAction, ToolDone, ToolEnd, ToolUse};
use crate::tree::{FileContent, Look, Looked};
use crate::turn::Role;

/// How many lines of a failed command's output the worker is told at once.
const TAIL: usize = 15;
/// Why a file that may lie in the folder does not count.
const NOT_DELIVERED: &str = "it does not exist among the files that are delivered (what git ignores is not)";

/// A claim that is being verified, or the criterion being tried without one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Checking {
    pub why: CheckReason,
    pub rationale: String,
    /// What is known of each leaf, in the order they are written.
    pub known: Vec<Result<String, String>>,
    /// A command of it could not even be run.
    pub could_not_run: bool,
    /// How a command failed that is being run once more.
    pub failed_once: Option<String>,
    /// What holds in the worker's folder is being checked in a fresh one.
    pub fresh: Option<FreshCommands>,
    /// It holds, and in which words; what became of the tests is being found out.
    pub holds: Option<String>,
}

/// Why the criterion is checked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum CheckReason {
    Claim(Claimant),
    /// Before anything is done.
    First,
    /// Some steps after it was last tried.
    Interval,
    /// The goal is about to stop.
    Cap(Then),
}

/// How a criterion stands by what is known of its leaves.
#[derive(Clone, PartialEq, Eq, Debug)]
enum CheckStatus<'a> {
    Known(Result<String, String>),
    /// This leaf has to be checked next.
    Needs(&'a Criterion),
}

/// Walks the leaves in order. What is left out because it cannot matter any more counts as known.
fn standing<'a>(
    criterion: &'a Criterion,
    known: &[Result<String, String>],
    at: &mut usize,
) -> CheckStatus<'a> {
    let (all, of) = match criterion {
        Criterion::All(of) => (true, of),
        Criterion::Any(of) => (false, of),
        leaf => {
            *at += 1;
            return known.get(*at - 1).map_or(CheckStatus::Needs(leaf), |k| CheckStatus::Known(k.clone()));
        }
    };
    let mut details = Vec::new();
    for (i, part) in of.iter().enumerate() {
        let result = match standing(part, known, at) {
            CheckStatus::Known(result) => result,
            needs @ CheckStatus::Needs(_) => return needs,
        };
        match result {
            Err(detail) if all => {
                let rest: usize = of[i + 1..].iter().map(|c| c.leaves().len()).sum();
                *at += rest;
                return CheckStatus::Known(Err(detail));
            }
            Ok(detail) if !all => {
                let rest: usize = of[i + 1..].iter().map(|c| c.leaves().len()).sum();
                *at += rest;
                return CheckStatus::Known(Ok(detail));
            }
            Ok(detail) | Err(detail) => details.push(detail),
        }
    }
    let details = details.join("; ");
    CheckStatus::Known(if all { Ok(details) } else { Err(format!("none of them holds: {details}")) })
}

impl GoalProtocol {
    /// A claim was made: the folder as it is now is what is verified.
    pub(super) fn look_at_claim(&mut self, cx: &mut Cx<'_>) {
        if let Some(shortage) = self.used_up(cx).filter(|used| used.cap == Cap::Time) {
            // The claim stands, and is met when there is time again.
            return self.stop(Then::Park(shortage), cx);
        }
        if let Some((by, rationale)) = &self.claim {
            cx.emit(EventKind::Claimed { by: *by, rationale: rationale.clone() });
        }
        self.awaiting = Awaiting::LookAtClaim;
        cx.look(Look { tree: None, paths: Vec::new() });
    }

    pub(super) fn verify_claim(&mut self, cx: &mut Cx<'_>) {
        let Some((by, rationale)) = self.claim.take() else { return self.after_claim(cx) };
        self.claims += 1;
        self.announce(cx);
        self.check_took_ms = Some(0);
        self.check_next(Checking { rationale, ..Checking::new(CheckReason::Claim(by)) }, cx);
    }

    pub(super) fn check_next(&mut self, mut checking: Checking, cx: &mut Cx<'_>) {
        let until = self.settings.until.clone();
        let mut at = 0;
        let leaf = match (standing(&until, &checking.known, &mut at), &checking.why) {
            (CheckStatus::Known(Ok(detail)), CheckReason::First) => return self.is_met_already(detail, cx),
            (CheckStatus::Known(Ok(detail)), _) => return self.holds_here(checking, detail, cx),
            (CheckStatus::Known(Err(detail)), CheckReason::Claim(_)) => {
                return self.does_not_hold(&checking, &detail, cx);
            }
            (CheckStatus::Known(Err(detail)), _) => return self.is_not_met(checking, detail, cx),
            (CheckStatus::Needs(leaf), _) => leaf,
        };
        // Leaves that cannot matter any more were passed over.
        checking.known.resize(at.saturating_sub(1), Err("not checked".to_owned()));
        if !leaf.is_free() && !matches!(checking.why, CheckReason::Claim(_)) {
            // Nobody claimed anything: nobody is asked or paid.
            return self.learned_of(checking, Err("it is asked when somebody claims it".to_owned()), cx);
        }
        let network = self.settings.policy.risk >= Risk::NetworkWrite;
        let effect = match leaf {
            Criterion::Shell { command, timeout_ms, .. } => {
                return self.run_command(checking, command.clone(), *timeout_ms, cx);
            }
            Criterion::Json { file: path, .. } | Criterion::File { path, .. }
                if self.settings.acceptance.is_some() =>
            {
                // What the user will get, and not what else lies about in the folder.
                let tree = self.tree.as_ref().map(|tree| tree.digest);
                let below = &self.settings.below;
                let path = if below.is_empty() { path.clone() } else { format!("{below}/{path}") };
                checking.task(EffectKind::Look(Look { tree, paths: vec![path] }), cx)
            }
            Criterion::Json { file: path, .. } | Criterion::File { path, .. } => {
                let read = ToolAction::ReadFile { path: path.clone(), from: 1, lines: u32::MAX };
                checking.task(EffectKind::Tool(ToolUse { whole: true, ..ToolUse::new(read, 0) }), cx)
            }
            Criterion::Http { url, .. } => {
                let fetch = ToolUse::new(ToolAction::FetchUrl { url: url.clone() }, 0);
                checking.task(EffectKind::Tool(ToolUse { whole: true, ..fetch }), cx)
            }
            Criterion::Vision { command, file, .. } => {
                let (line, file) = (command.clone(), file.clone());
                let shot = ToolAction::Screenshot { line, file, timeout_ms: 120_000 };
                cx.tool(ToolUse { network, ..ToolUse::new(shot, 0) })
            }
            Criterion::Judge { question } => {
                let messages = self.judge_messages(question, &checking.rationale, cx);
                self.ask_judge(messages, cx)
            }
            Criterion::Manual => {
                let question = people::manual(&checking.rationale);
                return self.ask(Asking::Manual(Box::new(checking)), question, cx);
            }
            Criterion::All(_) | Criterion::Any(_) => return,
        };
        self.await_check(effect, checking);
    }

    pub(super) fn await_check(&mut self, effect: EffectId, checking: Checking) {
        if matches!(checking.why, CheckReason::Cap(_)) {
            self.trying = Some(Trying { effect, checking, looking: false });
        } else {
            self.awaiting = Awaiting::Checking(Box::new(checking));
        }
    }

    fn ask_judge(&self, messages: Vec<crate::turn::Message>, cx: &mut Cx<'_>) -> EffectId {
        let turn = LedTurn {
            agent: self.settings.judge(),
            role: Role::Critic,
            messages,
            tools: None,
            tree: None,
            tag: tag::JUDGE,
            kept: CapScope::All,
            settled: 0,
            own: None,
        };
        cx.lead(turn)
    }

    /// The leaf that is being checked.
    pub(super) fn leaf(&self, checking: &Checking) -> Option<Criterion> {
        match standing(&self.settings.until, &checking.known, &mut 0) {
            CheckStatus::Needs(leaf) => Some(leaf.clone()),
            CheckStatus::Known(_) => None,
        }
    }

    pub(super) fn learned_of(
        &mut self,
        mut checking: Checking,
        result: Result<String, String>,
        cx: &mut Cx<'_>,
    ) {
        checking.known.push(result);
        self.check_next(checking, cx);
    }

    /// What a command printed is evidence for whoever judges.
    pub(super) fn printed(&mut self, command: &str, output: Digest) {
        self.outputs.push_back((command.to_owned(), output));
        keep_newest(&mut self.outputs, OUTPUTS);
    }

    /// A file, a page or a picture that a criterion is about.
    pub(super) fn check_done(&mut self, checking: Checking, done: &ToolDone, cx: &mut Cx<'_>) {
        let shown = cx.text(&done.shown).to_owned();
        let result = match self.leaf(&checking) {
            Some(leaf @ (Criterion::Json { .. } | Criterion::File { .. })) => {
                let found = if done.is_error() { FileFound::Not(&shown) } else { FileFound::Text(&shown) };
                held_by_file(&leaf, &found)
            }
            Some(Criterion::Http { url, status, contains }) => answered(&url, status, contains, done, &shown),
            Some(Criterion::Vision { expected, .. }) => {
                match media(&shown).filter(|_| done.end == ToolEnd::Done) {
                    Some(media) => {
                        let image = Image { media: media.to_owned(), data: done.shown };
                        let messages = Self::vision_messages(&expected, image, cx);
                        self.ask_judge(messages, cx);
                        self.awaiting = Awaiting::Checking(Box::new(checking));
                        return;
                    }
                    None => Err(format!("there is no picture: {}", one_line(&tail(&shown)))),
                }
            }
            _ => Err("nothing was to be looked at".to_owned()),
        };
        self.learned_of(checking, result, cx);
    }

    /// A file of the claimed state that a criterion is about.
    pub(super) fn file_seen(&mut self, checking: Checking, looked: &Looked, cx: &mut Cx<'_>) {
        let result = match (self.leaf(&checking), looked.files.first().map(|file| file.what)) {
            (Some(leaf), Some(FileContent::Text(text))) => {
                held_by_file(&leaf, &FileFound::Text(cx.text(&text)))
            }
            (Some(leaf), Some(FileContent::Opaque)) => held_by_file(&leaf, &FileFound::NoText),
            (Some(leaf), _) => held_by_file(&leaf, &FileFound::Not(NOT_DELIVERED)),
            (None, _) => Err("nothing was to be looked at".to_owned()),
        };
        self.learned_of(checking, result, cx);
    }

    /// A judge answered. Whatever is not a plain yes is none.
    pub(super) fn judged(&mut self, reply: &str, cx: &mut Cx<'_>) {
        let Awaiting::Checking(checking) = std::mem::replace(&mut self.awaiting, Awaiting::Nothing) else {
            return;
        };
        let asked = match self.leaf(&checking) {
            Some(Criterion::Judge { question }) => question,
            Some(Criterion::Vision { expected, .. }) => expected,
            _ => String::new(),
        };
        let judge = self.settings.judge().to_owned();
        let result = match answer::read(reply) {
            (JudgeAnswer::Yes, reason) => Ok(format!("`{judge}` says yes to “{asked}”: {reason}")),
            (JudgeAnswer::No, reason) => Err(format!("`{judge}` says no to “{asked}”: {reason}")),
            (JudgeAnswer::Unclear, reason) => Err(format!("`{judge}` cannot tell “{asked}”: {reason}")),
        };
        self.learned_of(*checking, result, cx);
    }

    /// The criterion holds. It counts only if what it goes by is what it was, or a person lets it stand.
    pub(super) fn holds(&mut self, checking: Checking, detail: String, cx: &mut Cx<'_>) {
        self.notes.clear();
        if matches!(checking.why, CheckReason::Cap(_) | CheckReason::Interval) {
            // Nobody claimed it, so nobody was shown what there is.
            self.claims += 1;
            self.announce(cx);
        }
        self.examine(checking, detail, cx);
    }

    /// A picture that was made to be judged is no work of the worker's: the folder is put back as it was claimed.
    fn put_back(&mut self, cx: &mut Cx<'_>) {
        let makes = |leaf: &&Criterion| matches!(leaf, Criterion::Vision { .. });
        let claimed =
            self.tree.as_ref().map(|tree| tree.digest).filter(|_| self.settings.acceptance.is_some());
        match claimed.filter(|_| self.settings.until.leaves().iter().any(makes)) {
            Some(tree) => {
                self.awaiting = Awaiting::PutBack;
                let look = ToolAction::ListFiles { path: String::new() };
                cx.tool(ToolUse { begin: Some(tree), ..ToolUse::new(look, 0) });
            }
            None => self.after_claim(cx),
        }
    }

    pub(super) fn reached(&mut self, detail: String, cx: &mut Cx<'_>) {
        cx.emit(EventKind::GoalVerified { detail });
        let Some(tree) = self.tree.as_ref().map(|tree| tree.digest) else { return };
        let notes = std::mem::take(&mut self.notes);
        self.end(Outcome::Approved { draft: tree, overruled: false, notes }, cx);
    }

    pub(super) fn does_not_hold(&mut self, checking: &Checking, detail: &str, cx: &mut Cx<'_>) {
        self.count_failed_claim(checking);
        self.not_met = self.tree.as_ref().map(|tree| tree.digest);
        let (detail, in_a_row) = (detail.to_owned(), self.failed_claims);
        cx.emit(EventKind::VerificationFailed { detail: detail.clone(), in_a_row });
        let who = match checking.why {
            CheckReason::Claim(Claimant::Critic) => "The critic believed the goal to be reached. ",
            _ => "",
        };
        let words = format!(
            "{who}Verification failed: {detail}\n\nKeep working: put right what is wrong and claim again, or give up with a report if you cannot."
        );
        self.tell_worker(words, cx);
        if in_a_row >= FAILED_CLAIMS {
            let because = format!("{in_a_row} claims in a row were not met; the last: {detail}");
            return self.pause(&because, cx);
        }
        self.put_back(cx);
    }
}

/// What was found where a file should be.
enum FileFound<'a> {
    Text(&'a str),
    /// It is there, and no text that could be read.
    NoText,
    /// Nothing, and why.
    Not(&'a str),
}

fn held_by_file(leaf: &Criterion, found: &FileFound<'_>) -> Result<String, String> {
    let (path, said) = match leaf {
        Criterion::Json { file, predicate } => (file, format!("{file}: {predicate}")),
        Criterion::File { path, check: FileCheck::Exists } => (path, format!("{path} exists")),
        Criterion::File { path, check: FileCheck::Contains(text) } => {
            (path, format!("{path} contains “{}”", one_line(text)))
        }
        Criterion::File { path, check: FileCheck::Matches(pattern) } => {
            (path, format!("{path} matches `{}`", one_line(pattern)))
        }
        _ => return Err("nothing was to be looked at".to_owned()),
    };
    let held = match (leaf, found) {
        (_, FileFound::Not(why)) => Err(one_line(why)),
        (Criterion::File { check: FileCheck::Exists, .. }, _) => Ok(()),
        (_, FileFound::NoText) => Err("it is no text, or too large to be read".to_owned()),
        (Criterion::Json { predicate, .. }, FileFound::Text(text)) => predicate::check(text, predicate),
        (Criterion::File { check, .. }, FileFound::Text(text)) => criterion::file_holds(check, Some(text)),
        _ => Ok(()),
    };
    held.map(|()| said).map_err(|why| format!("{path}: {why}"))
}

/// Whether a server answered as it should.
fn answered(
    url: &str,
    status: u16,
    contains: Option<String>,
    done: &ToolDone,
    body: &str,
) -> Result<String, String> {
    match (&done.end, contains) {
        (ToolEnd::Status(found), _) if *found != status => {
            Err(format!("{url} answers with {found}, wanted {status}"))
        }
        (ToolEnd::Status(_), Some(wanted)) if !body.contains(&wanted) => {
            Err(format!("{url} answers with {status} but does not contain “{}”", one_line(&wanted)))
        }
        (ToolEnd::Status(_), _) => Ok(format!("{url} answers with {status}")),
        _ => Err(format!("{url}: {}", one_line(body))),
    }
}

/// What kind of picture this is, by how its base64 begins.
fn media(base64: &str) -> Option<&'static str> {
    [("iVBORw0KGgo", "image/png"), ("/9j/", "image/jpeg"), ("R0lGOD", "image/gif"), ("UklGR", "image/webp")]
        .into_iter()
        .find_map(|(begins, media)| base64.starts_with(begins).then_some(media))
}

pub(super) fn tail(output: &str) -> String {
    let lines: Vec<&str> = output.trim_end().lines().collect();
    lines[lines.len().saturating_sub(TAIL)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaf(name: &str) -> Criterion {
        Criterion::Judge { question: name.into() }
    }

    #[test]
    fn leaves_are_checked_in_order_and_only_as_far_as_they_matter() {
        let ok = |s: &str| Ok(s.to_owned());
        let no = |s: &str| Err(s.to_owned());
        let both = Criterion::All(vec![leaf("a"), Criterion::Any(vec![leaf("b"), leaf("c")]), leaf("d")]);
        let stands = |known: &[Result<String, String>]| match standing(&both, known, &mut 0) {
            CheckStatus::Needs(Criterion::Judge { question }) => format!("needs {question}"),
            CheckStatus::Needs(_) => String::new(),
            CheckStatus::Known(result) => format!("{result:?}"),
        };
        assert_eq!(stands(&[]), "needs a");
        assert_eq!(stands(&[no("a")]), r#"Err("a")"#);
        assert_eq!(stands(&[ok("a")]), "needs b");
        assert_eq!(stands(&[ok("a"), no("b")]), "needs c");
        assert_eq!(stands(&[ok("a"), no("b"), no("c")]), r#"Err("none of them holds: b; c")"#);
        assert_eq!(stands(&[ok("a"), ok("b"), no("not checked")]), "needs d");
        assert_eq!(stands(&[ok("a"), no("b"), ok("c"), ok("d")]), r#"Ok("a; c; d")"#);
    }
}
