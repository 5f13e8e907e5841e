//! What is done for the worker: each of its calls, in order, through guard and policy. A step is recorded whichever
//! way it ends; one whose outcome nobody knows is looked at, repeated or asked about, by what it was.

use std::collections::VecDeque;

use super::people::{self, Asking};
use super::{Awaiting, GoalProtocol, REMEMBERED};
use crate::brief::one_line;
use crate::digest::Digest;
use crate::effect::EffectId;
use crate::event::EventKind;
use crate::goal::{Claimant, GoalStep, Nudge, PREVIEW, StepEnd, cut};
use crate::machine::Cx;
use crate::tool::guard::{CallOutcome, GuardWord};
use crate::tool::offline;
use crate::tool::policy::{self, Ruled, Ruling};
use crate::tool::request::{self, RequestContext, ToolRequest};
use crate::tool::shown::shown_args;
use crate::tool::{Process, ToolAction, ToolCall, ToolDone, ToolEnd, ToolResult, ToolUse};
use crate::tree::RunEnd;

/// How long a command of the worker may take.
const COMMAND_MS: u64 = 600_000;
/// Outputs of commands that are kept in mind as evidence.
pub(super) const OUTPUTS: usize = 5;

/// Something that is being done for the worker.
#[derive(Clone, Debug)]
pub(super) struct Doing {
    pub call: ToolCall,
    pub what: ToolUse,
    /// A write whose outcome is unknown: its file is being read.
    pub looking: bool,
}

impl GoalProtocol {
    /// The next of the calls the worker's turn asked for.
    pub(super) fn next_call(&mut self, cx: &mut Cx<'_>) {
        let Some(call) = self.calls.pop_front() else { return self.after_turn(cx) };
        // What has no result in the transcript is said not to have been done.
        if self.halted {
            self.calls.clear();
            self.claim = None;
            return self.after_turn(cx);
        }
        let ends = call.name == "claim_complete" || call.name == "abort_with_report";
        if !ends && self.is_at_its_cap(cx).is_some() {
            // Nothing more is done, but how the goal stands may still be said.
            return self.next_call(cx);
        }
        let args = cx.text(&call.args).to_owned();
        let names: Vec<String> = self.settings.servers.iter().map(|s| s.name.clone()).collect();
        let servers: Vec<&str> = names.iter().map(String::as_str).collect();
        let root = self.settings.root.clone();
        let reading =
            RequestContext { root: &root, servers: &servers, timeout_ms: COMMAND_MS, processes: true };
        let read = request::read(&call.name, &args, &reading, &mut |text| cx.intern(text));
        if read.is_ok() {
            self.headway.unread = 0;
        }
        match read {
            Err(problem) => self.unreadable_call(&call, &problem, cx),
            Ok(ToolRequest::Claim { rationale }) => {
                self.answer_call(&call, StepEnd::Ok, "Noted. Verifying…", 0, cx);
                self.claim = Some((Claimant::Worker, one_line(&rationale)));
                self.next_call(cx);
            }
            Ok(ToolRequest::Abort { reason, learned }) => {
                self.answer_call(&call, StepEnd::Ok, "Noted; the goal ends here.", 0, cx);
                self.gave_up = Some((reason, learned));
                self.next_call(cx);
            }
            Ok(ToolRequest::Do { action, outside }) => {
                self.consider(call, &args, action, outside.as_deref(), cx);
            }
        }
    }

    /// Whether the guard stops a call; it is answered then.
    fn is_blocked(&mut self, call: &ToolCall, args: &str, cx: &mut Cx<'_>) -> bool {
        let Some(block) = self.guard.before(&call.name, args) else { return false };
        self.answer_call(call, StepEnd::Blocked, &block.because, 0, cx);
        self.halted |= block.halt;
        if !self.critic.blocked_before {
            (self.critic.blocked_before, self.critic.at_once) = (true, true);
        }
        true
    }

    /// A call that is not done is a step like any other: the guard and the critic see who makes it again and again.
    fn refused(&mut self, call: &ToolCall, (end, words): (StepEnd, &str), cx: &mut Cx<'_>) {
        let args = cx.text(&call.args).to_owned();
        self.answer_call(call, end, words, 0, cx);
        self.unwatched += 1;
        let is_error = end == StepEnd::Err;
        let came = CallOutcome { text: words, is_error, failed: true, changed: false, took_ms: 0 };
        self.note_result(call, &args, &came, cx);
        self.next_call(cx);
    }

    /// Guard, then policy.
    fn consider(
        &mut self,
        call: ToolCall,
        args: &str,
        action: ToolAction,
        outside: Option<&str>,
        cx: &mut Cx<'_>,
    ) {
        if self.is_blocked(&call, args, cx) {
            return self.next_call(cx);
        }
        let settings = &self.settings;
        let ruled = Ruled {
            name: &call.name,
            action: &action,
            outside,
            held: settings.held,
            root: &settings.root,
            servers: &settings.servers,
        };
        let ruling = policy::rule(&settings.policy, &ruled);
        let mut what = ToolUse::new(action, self.n.saturating_add(1));
        what.network = offline::has_network(settings.policy.risk);
        match ruling {
            Ruling::Allow => self.begin(call, what, cx),
            Ruling::Deny(reason) => {
                self.refused(&call, (StepEnd::Denied, &format!("Denied by the policy: {reason}")), cx);
            }
            Ruling::Ask(reason, lasting) => {
                what.beyond = outside.is_some();
                if self.allowed.contains(&lasting) {
                    return self.begin(call, what, cx);
                }
                let question = people::policy(&reason, policy::in_full(args, &reason), &lasting);
                let lasting = Box::new(lasting);
                self.ask(Asking::Policy { call, what, lasting }, question, cx);
            }
        }
    }

    pub(super) fn begin(&mut self, call: ToolCall, what: ToolUse, cx: &mut Cx<'_>) {
        self.awaiting = Awaiting::Doing(Box::new(Doing { call, what: what.clone(), looking: false }));
        cx.tool(what);
    }

    pub(super) fn done(&mut self, doing: Doing, done: &ToolDone, cx: &mut Cx<'_>) {
        if doing.looking {
            return self.looked_at_write(doing, done, cx);
        }
        let Doing { call, what, .. } = doing;
        let shown = cx.text(&done.shown).to_owned();
        let (end, said) = match &done.end {
            ToolEnd::Done => (StepEnd::Ok, shown),
            ToolEnd::Ran(RunEnd::Code(0)) => (StepEnd::Ok, format!("exit code 0\n{shown}")),
            ToolEnd::Ran(end) if what.network => (StepEnd::Err, format!("{end}\n{shown}")),
            ToolEnd::Ran(end) => (StepEnd::Err, format!("{end}\n{shown}{}", offline::hint(&shown))),
            ToolEnd::Status(code) if *code < 400 => (StepEnd::Ok, shown),
            ToolEnd::Status(_) | ToolEnd::Error => (StepEnd::Err, shown),
        };
        let args = cx.text(&call.args).to_owned();
        let text = self.answer_call(&call, end, &said, done.took_ms, cx);
        if let ToolAction::RunCommand { line, .. } = &what.action {
            self.printed(&one_line(line), text);
        }
        match &what.action {
            ToolAction::Process(Process::Log { .. }) => self.unlooked = false,
            ToolAction::WriteFile { .. } | ToolAction::EditFile { .. } if end == StepEnd::Ok => {
                self.unlooked = true;
            }
            ToolAction::RunCommand { .. } | ToolAction::ReadFile { .. } | ToolAction::SearchFiles { .. } => {
                self.unlooked = false;
            }
            _ => {}
        }
        self.unwatched += 1;
        if let ToolAction::Process(process) = &what.action {
            self.note_process(process, end == StepEnd::Ok);
        }
        let changed = may_have_changed(&what.action, &said) && end == StepEnd::Ok;
        self.headway.changed += u32::from(changed);
        match &what.action {
            ToolAction::WriteFile { path, .. } | ToolAction::EditFile { path, .. } if changed => {
                let below = &self.settings.below;
                let path = if below.is_empty() { path.clone() } else { format!("{below}/{path}") };
                self.headway.written.insert(path);
            }
            action => self.headway.unseen |= !action.only_reads(),
        }
        let came = CallOutcome {
            text: &said,
            is_error: done.is_error() && !tells_of_files(&what.action),
            failed: end != StepEnd::Ok,
            changed,
            took_ms: done.took_ms,
        };
        self.note_result(&call, &args, &came, cx);
        self.next_call(cx);
    }

    /// The guard sees every result; a tool that fails again and again is not offered any more.
    fn note_result(&mut self, call: &ToolCall, args: &str, came: &CallOutcome<'_>, cx: &mut Cx<'_>) {
        match self.guard.heard(&call.name, args, came) {
            Some(GuardWord::Off(because)) => {
                cx.emit(EventKind::ToolDisabled { tool: call.name.clone(), because: because.clone() });
                let words = format!("`{}` is not offered any more: {because}. Find another way.", call.name);
                self.tell_worker(words, cx);
            }
            Some(GuardWord::Circle(words)) => self.nudge(Nudge::Circle, words, cx),
            None => {}
        }
    }

    /// Gives the worker the result of a call, and records the step.
    pub(super) fn answer_call(
        &mut self,
        call: &ToolCall,
        end: StepEnd,
        said: &str,
        took_ms: u64,
        cx: &mut Cx<'_>,
    ) -> Digest {
        let args = shown_args(&call.name, cx.text(&call.args));
        let preview = preview(said);
        let step = GoalStep { n: 0, tool: short(&call.name), args, end, preview, took_ms };
        let line = self.took_step(step, cx);
        let text = cx.intern(said.to_owned());
        if self.is_driven(cx) {
            let result = ToolResult { call: call.id.clone(), text, ok: end == StepEnd::Ok };
            self.transcript.result(result, line);
        } else {
            self.tell_worker(format!("What came of {}: {said}", short(&call.name)), cx);
        }
        text
    }

    /// Numbers and records a step; gives its line.
    pub(super) fn took_step(&mut self, mut step: GoalStep, cx: &mut Cx<'_>) -> String {
        self.n += 1;
        step.n = self.n;
        let line = step.to_string();
        self.steps.push_back(step.clone());
        let window = usize::try_from(self.settings.interval).unwrap_or(0).saturating_mul(2);
        keep_newest(&mut self.steps, window.max(REMEMBERED));
        cx.emit(EventKind::Stepped { step });
        line
    }

    /// The process died while something was being done. What only reads is repeated by the machine.
    pub(super) fn tool_lost(&mut self, lost: &EffectId, tool: ToolUse, cx: &mut Cx<'_>) {
        let Awaiting::Doing(doing) = &mut self.awaiting else {
            // A check of ours: made again.
            cx.tool_again(tool, lost);
            return;
        };
        let (n, name) = (self.n.saturating_add(1), short(&doing.call.name));
        if matches!(tool.action, ToolAction::Process(_)) {
            let call = doing.call.clone();
            return self.process_lost(&call, cx);
        }
        let path = match &tool.action {
            ToolAction::WriteFile { path, .. } | ToolAction::EditFile { path, .. } => path.clone(),
            _ => {
                let doing = (**doing).clone();
                let handling = "a person is asked".to_owned();
                cx.emit(EventKind::OutcomeUnknown { n, tool: name, handling });
                let question = people::unknown(&doing.call.name, cx.text(&doing.call.args));
                return self.ask(Asking::Unknown(Box::new(doing)), question, cx);
            }
        };
        let handling = format!("{path} is looked at first");
        doing.looking = true;
        let beyond = tool.beyond;
        cx.emit(EventKind::OutcomeUnknown { n, tool: name, handling });
        let look = ToolAction::ReadFile { path, from: 1, lines: u32::MAX };
        cx.tool(ToolUse { whole: true, beyond, ..ToolUse::new(look, 0) });
    }

    /// A write that was lost is done again only if its file shows that it was not done.
    fn looked_at_write(&mut self, mut doing: Doing, found: &ToolDone, cx: &mut Cx<'_>) {
        let there = (!found.is_error()).then(|| cx.text(&found.shown));
        let was_done = match (&doing.what.action, there) {
            (ToolAction::WriteFile { content, .. }, Some(there)) => there == cx.text(content),
            (ToolAction::EditFile { old, new, .. }, Some(there)) => {
                let (old, new) = (cx.text(old), cx.text(new));
                // What only adds to a text leaves that text there.
                (new.contains(old) || !there.contains(old)) && (new.is_empty() || there.contains(new))
            }
            _ => false,
        };
        if was_done {
            let call = doing.call.clone();
            let said = "done (the process was stopped meanwhile; the file shows that it was done)";
            self.answer_call(&call, StepEnd::Ok, said, 0, cx);
            self.unlooked = true;
            self.unwatched += 1;
            return self.next_call(cx);
        }
        doing.looking = false;
        let what = doing.what.clone();
        self.awaiting = Awaiting::Doing(Box::new(doing));
        cx.tool(what);
    }

    /// A person decided about a call whose outcome is unknown.
    pub(super) fn unknown_decided(&mut self, doing: Doing, again: bool, cx: &mut Cx<'_>) {
        if again {
            let what = doing.what.clone();
            self.awaiting = Awaiting::Doing(Box::new(doing));
            cx.tool(what);
            return;
        }
        let said = "Unknown: the process was stopped in the middle of this. Look at what it did before you repeat it.";
        self.answer_call(&doing.call, StepEnd::Unknown, said, 0, cx);
        self.unwatched += 1;
        self.next_call(cx);
    }

    pub(super) fn declined(&mut self, call: &ToolCall, said: &str, cx: &mut Cx<'_>) {
        let words = if said.is_empty() {
            "A person declined this.".to_owned()
        } else {
            format!("A person declined this: {said}")
        };
        self.refused(call, (StepEnd::Denied, &words), cx);
    }
}

/// A command that prints nothing was run for what it does.
fn may_have_changed(action: &ToolAction, said: &str) -> bool {
    match action {
        ToolAction::WriteFile { .. } | ToolAction::EditFile { .. } => true,
        ToolAction::RunCommand { .. } => said.trim_end() == "exit code 0",
        _ => false,
    }
}

/// That a file is not there, or does not hold what was looked for, is something learned and no fault of the tool.
const fn tells_of_files(action: &ToolAction) -> bool {
    matches!(
        action,
        ToolAction::ReadFile { .. }
            | ToolAction::ListFiles { .. }
            | ToolAction::SearchFiles { .. }
            | ToolAction::EditFile { .. }
    )
}

/// A model may call a tool anything.
fn short(name: &str) -> String {
    one_line(name).chars().take(64).collect()
}

/// What of a result stands in the record's line.
pub(super) fn preview(said: &str) -> String {
    cut(&one_line(said), PREVIEW)
}

pub(super) fn keep_newest<T>(list: &mut VecDeque<T>, most: usize) {
    while list.len() > most {
        list.pop_front();
    }
}
