//! The tool loop of a model behind an API: under every worker that is to change files and is offered tools, turns and
//! tools alternate until the model asks for no more. The node that asked for the work sees one call and one answer.
//! `tool` reads and rules on each call; the node writes the worker's brief.

use std::sync::Arc;

use super::calls::CallSpec;
use super::cx::AgentAnswer;
use super::run::Run;
use crate::brief::one_line;
use crate::budget::CapScope;
use crate::digest::Digest;
use crate::effect::{EffectId, EffectKind, NodePath};
use crate::event::EventKind;
use crate::goal::{GoalStep, PREVIEW, StepEnd, cut};
use crate::protocol::goal::Policy;
use crate::tool::guard::{self, LoopGuard};
use crate::tool::offline;
use crate::tool::policy::{self, Ruled, Ruling};
use crate::tool::request::{self, RequestContext, ToolRequest};
use crate::tool::transcript::{self, NOT_DONE, Transcript};
use crate::tool::{Offered, Risk, ToolAction, ToolCall, ToolDone, ToolEnd, ToolResult, ToolUse, offered};
use crate::tree::RunEnd;
use crate::turn::{Message, Part, Role, Speaker};

const HANDS: &str = include_str!("../prompts/tool-loop-1.md");

/// What may be done for one call of the node, and how often the model is asked for it.
const STEPS: u32 = 100;
const TURNS: u32 = 120;
/// The time a command gets, and the most it may ask for.
const COMMAND_MS: u64 = 600_000;

const UNKNOWN: &str = "the outcome of this call is unknown: the process was stopped in the middle of it; look before \
                       you repeat it";
const UNDONE: &str = "the process was stopped in the middle of this call, and the folder is put back to what it was \
                      before; call it again if it is still needed";

/// One call of a node, as it is worked on.
pub(super) struct ToolLoop {
    /// As the node asked for it.
    call: CallSpec,
    /// What every turn begins with.
    brief: Vec<Message>,
    talk: Transcript,
    guard: LoopGuard,
    steps: u32,
    turns: u32,
    /// The folder was put into the state the work begins with.
    begun: bool,
    doing: Option<Doing>,
    /// Why no tools are offered any more: the next turn is the last.
    last: Option<String>,
}

struct Doing {
    effect: EffectId,
    what: Errand,
}

enum Errand {
    Call {
        n: u32,
        call: ToolCall,
    },
    /// The work ended without a tool: the folder is only brought to where it begins.
    Begin {
        said_in: EffectId,
        text: Digest,
    },
}

/// A call that is not done, and what the model is told.
struct Refusal {
    end: StepEnd,
    why: String,
}

impl Run {
    /// A call as it is really made: a worker behind an API gets a tool loop.
    pub fn with_tools(&mut self, id: &EffectId, call: CallSpec) -> CallSpec {
        let is_offered = self.plan.agents.get(&call.agent).is_some_and(|card| card.tools && !card.person);
        if let Some(dispatch) = &call.tool_loop {
            if is_offered {
                return call;
            }
            // It is reached differently now: the work begins anew.
            return self.tool_loop.remove(dispatch).map_or(call, |tool_loop| tool_loop.call);
        }
        let is_led_here = call.role == Role::Worker && call.tree.is_some() && !call.own_failures;
        if !is_offered || !is_led_here || call.tools.is_some() {
            return call;
        }
        let (how, not_done) = (self.intern(HANDS.to_owned()), self.intern(NOT_DONE.to_owned()));
        let mut brief = call.messages.to_vec();
        match brief.last_mut().filter(|message| message.from == Speaker::User) {
            Some(message) => message.parts.push(Part::Blob(how)),
            None => brief.push(Message { from: Speaker::User, parts: vec![Part::Blob(how)] }),
        }
        let tool_loop = ToolLoop {
            call,
            brief,
            talk: Transcript::new(not_done),
            guard: LoopGuard::default(),
            steps: 0,
            turns: 0,
            begun: false,
            doing: None,
            last: None,
        };
        let turn = self.turn_of(id, &tool_loop);
        self.tool_loop.insert(id.clone(), tool_loop);
        turn
    }

    fn turn_of(&mut self, dispatch: &EffectId, tool_loop: &ToolLoop) -> CallSpec {
        let size = |parts: &[Message], run: &Self| -> usize {
            parts.iter().flat_map(|message| &message.parts).map(|part| part.size(&run.texts)).sum()
        };
        let withheld = self.withheld_from(&tool_loop.call.agent).to_vec();
        let tools =
            tool_loop.last.is_none().then(|| self.intern(offered::as_text(&tool_loop.offered(&withheld))));
        let offered = tools.map_or(0, |tools| self.texts.get(&tools).len());
        let card = self.plan.agents.get(&tool_loop.call.agent);
        let window = card.and_then(|card| Some((card.window?, card.max_output_tokens)));
        let room = transcript::room(window, offered.saturating_add(size(&tool_loop.brief, self)));
        let mut messages = tool_loop.talk.after(&self.texts, tool_loop.brief.clone(), room);
        if tool_loop.last.is_some() {
            messages = transcript::in_words(messages);
        }
        CallSpec {
            brief: messages.len(),
            messages: Arc::new(messages),
            tree: None,
            tools,
            // The whole work counts as the one call it was asked for.
            kept: if tool_loop.turns == 0 { tool_loop.call.kept } else { CapScope::ExceptCalls },
            tool_loop: Some(dispatch.clone()),
            settled: tool_loop.brief.first().map_or(0, |first| first.parts.len()),
            ..tool_loop.call.clone()
        }
    }

    /// A turn of such a worker was answered.
    pub fn hands_said(&mut self, id: &EffectId, dispatch: EffectId, text: Digest, calls: Vec<ToolCall>) {
        let Some(mut tool_loop) = self.tool_loop.remove(&dispatch) else { return };
        tool_loop.turns = tool_loop.turns.saturating_add(1);
        tool_loop.guard.new_turn();
        if calls.is_empty() || tool_loop.last.is_some() {
            return self.hands_through(id, dispatch, tool_loop, text);
        }
        tool_loop.talk.said(text, calls);
        self.hands_go_on(dispatch, tool_loop);
    }

    /// The next call that is to be done, or the next turn.
    fn hands_go_on(&mut self, dispatch: EffectId, mut tool_loop: ToolLoop) {
        while tool_loop.last.is_none() {
            let Some(call) = tool_loop.talk.awaited().cloned() else { break };
            if tool_loop.steps >= STEPS {
                tool_loop.last = Some(format!("{STEPS} steps are used up"));
                break;
            }
            tool_loop.steps = tool_loop.steps.saturating_add(1);
            let n = self.next_step(&dispatch.node);
            match self.hands_may(&mut tool_loop, &call) {
                Ok(action) => {
                    let begin = tool_loop.call.tree.filter(|_| !tool_loop.begun);
                    let tool = ToolUse { begin, ..ToolUse::new(action, n) };
                    return self.hands_do(dispatch, tool_loop, tool, Errand::Call { n, call });
                }
                Err(Refusal { end, why }) => {
                    let result = self.intern(why);
                    if end != StepEnd::Blocked {
                        tool_loop.guard.after(&call.name, self.texts.get(&call.args), result, false);
                    }
                    let got = Got { n, end, took_ms: 0, result, ok: false };
                    self.hands_got(&dispatch.node, &mut tool_loop, &call, got);
                }
            }
        }
        if tool_loop.last.is_none() && tool_loop.turns >= TURNS {
            tool_loop.last = Some(format!("{TURNS} turns are used up"));
        }
        if let Some(because) = &tool_loop.last {
            let told = format!(
                "This is your last turn: {because}. No tool is used any more. Say briefly what you did and what is \
                 left to do."
            );
            let told = self.intern(told);
            tool_loop.talk.told(told);
        }
        let turn = self.turn_of(&dispatch, &tool_loop);
        let id = self.next_id(&dispatch.node);
        self.tool_loop.insert(dispatch, tool_loop);
        self.request(id, turn, None);
    }

    fn hands_do(&mut self, dispatch: EffectId, mut tool_loop: ToolLoop, tool: ToolUse, what: Errand) {
        let effect = self.next_id(&dispatch.node);
        tool_loop.doing = Some(Doing { effect: effect.clone(), what });
        self.tool_loop.insert(dispatch, tool_loop);
        self.request_task(effect, EffectKind::Tool(tool), None);
    }

    fn withheld_from(&self, agent: &str) -> &[String] {
        self.plan.agents.get(agent).map_or(&[], |card| &card.withheld)
    }

    /// What a model asks for, if it may be done. Nobody is asked here: what would need it is refused.
    fn hands_may(&mut self, tool_loop: &mut ToolLoop, call: &ToolCall) -> Result<ToolAction, Refusal> {
        if self.withheld_from(&tool_loop.call.agent).contains(&call.name) {
            let why = format!("`{}` is none of your tools", call.name);
            return Err(Refusal { end: StepEnd::Denied, why });
        }
        let args = self.texts.get(&call.args).to_owned();
        if let Some(block) = tool_loop.guard.before(&call.name, &args) {
            if block.halt {
                tool_loop.last = Some("the same calls were made again and again".to_owned());
            }
            return Err(Refusal { end: StepEnd::Blocked, why: block.because });
        }
        let place = self.plan.workspace.as_ref();
        let project = place.map_or_else(String::new, |place| place.project.clone());
        let in_place = place.is_some_and(|place| place.in_place);
        let reading =
            RequestContext { root: &project, servers: &[], timeout_ms: COMMAND_MS, processes: false };
        let request = request::read(&call.name, &args, &reading, &mut |text| self.intern(text));
        let (action, outside) = match request {
            Ok(ToolRequest::Do { action, outside }) => (action, outside),
            Ok(ToolRequest::Claim { .. } | ToolRequest::Abort { .. }) => {
                let why = format!("there is no tool `{}` here: to end, reply without calling one", call.name);
                return Err(Refusal { end: StepEnd::Err, why });
            }
            Err(why) => return Err(Refusal { end: StepEnd::Err, why }),
        };
        // A run's own folder has a path that is not known here, so a command that names any place is refused.
        // Whether the kernel would hold it is not known either.
        let root = if in_place { project.as_str() } else { "" };
        let policy = Policy { risk: Risk::WriteLocal, ..Policy::default() };
        let (name, outside) = (call.name.as_str(), outside.as_deref());
        let it = Ruled { name, action: &action, outside, held: false, root, servers: &[] };
        match policy::rule(&policy, &it) {
            Ruling::Allow => Ok(action),
            Ruling::Deny(why) | Ruling::Ask(why, _) => {
                Err(Refusal { end: StepEnd::Denied, why: format!("not allowed in this run: {why}") })
            }
        }
    }

    /// A tool is through.
    pub fn hands_done(&mut self, dispatch: EffectId, done: &ToolDone) {
        let Some(mut tool_loop) = self.tool_loop.remove(&dispatch) else { return };
        tool_loop.begun = true;
        match tool_loop.doing.take().map(|doing| doing.what) {
            None => {}
            Some(Errand::Begin { said_in, text }) => self.hands_through(&said_in, dispatch, tool_loop, text),
            Some(Errand::Call { n, call }) => {
                let result = match &done.end {
                    ToolEnd::Ran(end) => {
                        let shown = self.texts.get(&done.shown);
                        let hint = if is_well(&done.end) { "" } else { offline::hint(shown) };
                        self.intern(format!("{end}\n{shown}{hint}"))
                    }
                    ToolEnd::Done | ToolEnd::Status(_) | ToolEnd::Error => done.shown,
                };
                let (args, text) = (self.texts.get(&call.args), self.texts.get(&result));
                let result_of = guard::result_of(text);
                if let Some(because) = tool_loop.guard.after(&call.name, args, result_of, done.is_error()) {
                    let tool = call.name.clone();
                    self.emit(&dispatch.node, EventKind::ToolDisabled { tool, because });
                }
                let end = if is_well(&done.end) { StepEnd::Ok } else { StepEnd::Err };
                let got = Got { n, end, took_ms: done.took_ms, result, ok: !done.is_error() };
                self.hands_got(&dispatch.node, &mut tool_loop, &call, got);
                self.hands_go_on(dispatch, tool_loop);
            }
        }
    }

    /// The process died in the middle of it. Who reads is asked again; of everything else the model is told.
    pub fn hands_lost(&mut self, dispatch: EffectId) {
        let Some(mut tool_loop) = self.tool_loop.remove(&dispatch) else { return };
        let Some(Doing { what: Errand::Call { n, call }, .. }) = tool_loop.doing.take() else { return };
        let why = if tool_loop.begun || tool_loop.call.tree.is_none() { UNKNOWN } else { UNDONE };
        let (tool, handling) =
            (call.name.clone(), "the worker is told to look before it repeats it".to_owned());
        self.emit(&dispatch.node, EventKind::OutcomeUnknown { n, tool, handling });
        let result = self.intern(why.to_owned());
        let got = Got { n, end: StepEnd::Unknown, took_ms: 0, result, ok: false };
        self.hands_got(&dispatch.node, &mut tool_loop, &call, got);
        self.hands_go_on(dispatch, tool_loop);
    }

    /// Enters what came of a call, for the model and for the record.
    fn hands_got(&mut self, node: &NodePath, tool_loop: &mut ToolLoop, call: &ToolCall, got: Got) {
        let Got { n, end, took_ms, result, ok } = got;
        let preview = cut(&one_line(self.texts.get(&result)), PREVIEW);
        let args = request::shown_args(&call.name, self.texts.get(&call.args));
        let step = GoalStep { n, tool: call.name.clone(), args, end, preview, took_ms };
        tool_loop.talk.result(ToolResult { call: call.id.clone(), text: result, ok }, step.to_string());
        self.emit(node, EventKind::Stepped { step });
    }

    /// The model has nothing more to do: the node gets its answer, on a folder that is what the work made of it.
    fn hands_through(&mut self, id: &EffectId, dispatch: EffectId, tool_loop: ToolLoop, text: Digest) {
        if !tool_loop.begun && tool_loop.call.tree.is_some() {
            let look = ToolUse::new(ToolAction::ListFiles { path: String::new() }, 0);
            let look = ToolUse { begin: tool_loop.call.tree, ..look };
            return self.hands_do(dispatch, tool_loop, look, Errand::Begin { said_in: id.clone(), text });
        }
        let node = dispatch.node;
        let call = tool_loop.call;
        let answered = AgentAnswer { effect: id.clone(), text, report: None, calls: Vec::new(), call };
        self.tell(&node, |protocol, cx| protocol.answered(answered, cx));
    }

    /// The work that this effect is a part of.
    pub fn dispatch_of(&self, tool: &EffectId) -> Option<EffectId> {
        let is_at_it =
            |tool_loop: &ToolLoop| tool_loop.doing.as_ref().is_some_and(|doing| doing.effect == *tool);
        self.tool_loop.iter().find(|(_, tool_loop)| is_at_it(tool_loop)).map(|(dispatch, _)| dispatch.clone())
    }

    /// A tool is asked for again under another id.
    pub fn hands_again(&mut self, earlier: &EffectId, now: &EffectId) {
        for doing in self.tool_loop.values_mut().filter_map(|tool_loop| tool_loop.doing.as_mut()) {
            if doing.effect == *earlier {
                doing.effect = now.clone();
            }
        }
    }

    /// What is under way for a call of a node that may go on under another id.
    pub fn at_work_for(&self, call: &EffectId) -> EffectId {
        let doing = self
            .tool_loop
            .get(call)
            .and_then(|tool_loop| tool_loop.doing.as_ref())
            .map(|doing| doing.effect.clone());
        let is_turn = |id: &&EffectId| {
            let spec = self.open.get(*id).and_then(|open| open.call.as_ref());
            spec.is_some_and(|spec| spec.tool_loop.as_ref() == Some(call))
        };
        doing.or_else(|| self.open.keys().find(is_turn).cloned()).unwrap_or_else(|| call.clone())
    }

    /// A node called such a work off, and what was under way for it has ended.
    pub fn hands_off(&mut self, dispatch: &EffectId) {
        self.tool_loop.remove(dispatch);
        self.tell(&dispatch.node, |protocol, cx| protocol.cancelled(dispatch, cx));
    }

    fn next_step(&mut self, node: &NodePath) -> u32 {
        self.nodes.get_mut(node).map_or(0, |node| {
            node.steps = node.steps.saturating_add(1);
            node.steps
        })
    }
}

/// What came of a call.
#[derive(Clone, Copy)]
struct Got {
    n: u32,
    end: StepEnd,
    took_ms: u64,
    result: Digest,
    ok: bool,
}

impl ToolLoop {
    /// Everything that stays on this machine, as long as it works.
    fn offered(&self, withheld: &[String]) -> Vec<Offered> {
        let mut tools = offered::builtin();
        tools.retain(|tool| tool.name != "fetch_url" && !self.guard.is_disabled(&tool.name));
        tools.retain(|tool| !withheld.contains(&tool.name));
        tools
    }
}

const fn is_well(end: &ToolEnd) -> bool {
    match end {
        ToolEnd::Done => true,
        ToolEnd::Ran(end) => matches!(end, RunEnd::Code(0)),
        ToolEnd::Status(status) => *status < 400,
        ToolEnd::Error => false,
    }
}

#[cfg(test)]
mod tests;
