//! Hands for a model that has none: under every worker that is to change files and is offered tools, a loop of turns
//! and tools, until it has nothing more to do. The node that asked for the work sees one call and one answer. Who is
//! allowed what, and what a call means, is decided in `tool`; what a worker is asked is the node's.

use std::sync::Arc;

use super::calls::CallSpec;
use super::cx::Answered;
use super::run::Run;
use crate::brief::one_line;
use crate::budget::Kept;
use crate::digest::Digest;
use crate::effect::{EffectId, EffectKind, NodePath};
use crate::event::Happened;
use crate::goal::{GoalStep, PREVIEW, StepEnd, cut};
use crate::protocol::watch::Policy;
use crate::tool::guard::{self, LoopGuard};
use crate::tool::offline;
use crate::tool::policy::{self, Ruled, Ruling};
use crate::tool::transcript::{self, NOT_DONE, Transcript};
use crate::tool::wish::{self, Reading, Wish};
use crate::tool::{Deed, Offered, Risk, ToolCall, ToolDone, ToolEnd, ToolResult, ToolUse, offered};
use crate::tree::RunEnd;
use crate::turn::{Message, Part, Role, Speaker};

const HANDS: &str = include_str!("../prompts/hands-1.md");

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
pub(super) struct Hands {
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
    /// A call as it is really made: a worker without hands gets ours.
    pub fn handed(&mut self, id: &EffectId, call: CallSpec) -> CallSpec {
        let is_offered = self.plan.agents.get(&call.agent).is_some_and(|card| card.tools && !card.person);
        if let Some(dispatch) = &call.hands {
            if is_offered {
                return call;
            }
            // It is reached differently now: the work begins anew.
            return self.hands.remove(dispatch).map_or(call, |hands| hands.call);
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
        let hands = Hands {
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
        let turn = self.turn_of(id, &hands);
        self.hands.insert(id.clone(), hands);
        turn
    }

    fn turn_of(&mut self, dispatch: &EffectId, hands: &Hands) -> CallSpec {
        let size = |parts: &[Message], run: &Self| -> usize {
            parts.iter().flat_map(|message| &message.parts).map(|part| part.size(&run.texts)).sum()
        };
        let withheld = self.withheld_from(&hands.call.agent).to_vec();
        let tools = hands.last.is_none().then(|| self.intern(offered::as_text(&hands.offered(&withheld))));
        let offered = tools.map_or(0, |tools| self.texts.get(&tools).len());
        let card = self.plan.agents.get(&hands.call.agent);
        let window = card.and_then(|card| Some((card.window?, card.max_output_tokens)));
        let room = transcript::room(window, offered.saturating_add(size(&hands.brief, self)));
        let mut messages = hands.talk.after(&self.texts, hands.brief.clone(), room);
        if hands.last.is_some() {
            messages = transcript::in_words(messages);
        }
        CallSpec {
            brief: messages.len(),
            messages: Arc::new(messages),
            tree: None,
            tools,
            // The whole work counts as the one call it was asked for.
            kept: if hands.turns == 0 { hands.call.kept } else { Kept::NotCalls },
            hands: Some(dispatch.clone()),
            settled: hands.brief.first().map_or(0, |first| first.parts.len()),
            ..hands.call.clone()
        }
    }

    /// A turn of such a worker was answered.
    pub fn hands_said(&mut self, id: &EffectId, dispatch: EffectId, text: Digest, calls: Vec<ToolCall>) {
        let Some(mut hands) = self.hands.remove(&dispatch) else { return };
        hands.turns = hands.turns.saturating_add(1);
        hands.guard.new_turn();
        if calls.is_empty() || hands.last.is_some() {
            return self.hands_through(id, dispatch, hands, text);
        }
        hands.talk.said(text, calls);
        self.hands_go_on(dispatch, hands);
    }

    /// The next call that is to be done, or the next turn.
    fn hands_go_on(&mut self, dispatch: EffectId, mut hands: Hands) {
        while hands.last.is_none() {
            let Some(call) = hands.talk.awaited().cloned() else { break };
            if hands.steps >= STEPS {
                hands.last = Some(format!("{STEPS} steps are used up"));
                break;
            }
            hands.steps = hands.steps.saturating_add(1);
            let n = self.next_step(&dispatch.node);
            match self.hands_may(&mut hands, &call) {
                Ok(deed) => {
                    let begin = hands.call.tree.filter(|_| !hands.begun);
                    let tool = ToolUse { begin, ..ToolUse::new(deed, n) };
                    return self.hands_do(dispatch, hands, tool, Errand::Call { n, call });
                }
                Err(Refusal { end, why }) => {
                    let result = self.intern(why);
                    if end != StepEnd::Blocked {
                        hands.guard.after(&call.name, self.texts.get(&call.args), result, false);
                    }
                    let got = Got { n, end, took_ms: 0, result, ok: false };
                    self.hands_got(&dispatch.node, &mut hands, &call, got);
                }
            }
        }
        if hands.last.is_none() && hands.turns >= TURNS {
            hands.last = Some(format!("{TURNS} turns are used up"));
        }
        if let Some(because) = &hands.last {
            let told = format!(
                "This is your last turn: {because}. No tool is used any more. Say briefly what you did and what is \
                 left to do."
            );
            let told = self.intern(told);
            hands.talk.told(told);
        }
        let turn = self.turn_of(&dispatch, &hands);
        let id = self.next_id(&dispatch.node);
        self.hands.insert(dispatch, hands);
        self.request(id, turn, None);
    }

    fn hands_do(&mut self, dispatch: EffectId, mut hands: Hands, tool: ToolUse, what: Errand) {
        let effect = self.next_id(&dispatch.node);
        hands.doing = Some(Doing { effect: effect.clone(), what });
        self.hands.insert(dispatch, hands);
        self.request_task(effect, EffectKind::Tool(tool), None);
    }

    fn withheld_from(&self, agent: &str) -> &[String] {
        self.plan.agents.get(agent).map_or(&[], |card| &card.withheld)
    }

    /// What a model asks for, if it may be done. Nobody is asked here: what would need it is refused.
    fn hands_may(&mut self, hands: &mut Hands, call: &ToolCall) -> Result<Deed, Refusal> {
        if self.withheld_from(&hands.call.agent).contains(&call.name) {
            let why = format!("`{}` is none of your tools", call.name);
            return Err(Refusal { end: StepEnd::Denied, why });
        }
        let args = self.texts.get(&call.args).to_owned();
        if let Some(block) = hands.guard.before(&call.name, &args) {
            if block.halt {
                hands.last = Some("the same calls were made again and again".to_owned());
            }
            return Err(Refusal { end: StepEnd::Blocked, why: block.because });
        }
        let place = self.plan.workspace.as_ref();
        let project = place.map_or_else(String::new, |place| place.project.clone());
        let in_place = place.is_some_and(|place| place.in_place);
        let reading = Reading { root: &project, servers: &[], timeout_ms: COMMAND_MS, processes: false };
        let wish = wish::read(&call.name, &args, &reading, &mut |text| self.intern(text));
        let (deed, outside) = match wish {
            Ok(Wish::Do { deed, outside }) => (deed, outside),
            Ok(Wish::Claim { .. } | Wish::Abort { .. }) => {
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
        let it = Ruled { name, deed: &deed, outside, held: false, root, servers: &[] };
        match policy::rule(&policy, &it) {
            Ruling::Allow => Ok(deed),
            Ruling::Deny(why) | Ruling::Ask(why, _) => {
                Err(Refusal { end: StepEnd::Denied, why: format!("not allowed in this run: {why}") })
            }
        }
    }

    /// A tool is through.
    pub fn hands_done(&mut self, dispatch: EffectId, done: &ToolDone) {
        let Some(mut hands) = self.hands.remove(&dispatch) else { return };
        hands.begun = true;
        match hands.doing.take().map(|doing| doing.what) {
            None => {}
            Some(Errand::Begin { said_in, text }) => self.hands_through(&said_in, dispatch, hands, text),
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
                if let Some(because) = hands.guard.after(&call.name, args, result_of, done.is_error()) {
                    let tool = call.name.clone();
                    self.emit(&dispatch.node, Happened::ToolDisabled { tool, because });
                }
                let end = if is_well(&done.end) { StepEnd::Ok } else { StepEnd::Err };
                let got = Got { n, end, took_ms: done.took_ms, result, ok: !done.is_error() };
                self.hands_got(&dispatch.node, &mut hands, &call, got);
                self.hands_go_on(dispatch, hands);
            }
        }
    }

    /// The process died in the middle of it. Who reads is asked again; of everything else the model is told.
    pub fn hands_lost(&mut self, dispatch: EffectId) {
        let Some(mut hands) = self.hands.remove(&dispatch) else { return };
        let Some(Doing { what: Errand::Call { n, call }, .. }) = hands.doing.take() else { return };
        let why = if hands.begun || hands.call.tree.is_none() { UNKNOWN } else { UNDONE };
        let (tool, handling) =
            (call.name.clone(), "the worker is told to look before it repeats it".to_owned());
        self.emit(&dispatch.node, Happened::OutcomeUnknown { n, tool, handling });
        let result = self.intern(why.to_owned());
        let got = Got { n, end: StepEnd::Unknown, took_ms: 0, result, ok: false };
        self.hands_got(&dispatch.node, &mut hands, &call, got);
        self.hands_go_on(dispatch, hands);
    }

    /// Enters what came of a call, for the model and for the record.
    fn hands_got(&mut self, node: &NodePath, hands: &mut Hands, call: &ToolCall, got: Got) {
        let Got { n, end, took_ms, result, ok } = got;
        let preview = cut(&one_line(self.texts.get(&result)), PREVIEW);
        let args = wish::shown_args(&call.name, self.texts.get(&call.args));
        let step = GoalStep { n, tool: call.name.clone(), args, end, preview, took_ms };
        hands.talk.result(ToolResult { call: call.id.clone(), text: result, ok }, step.to_string());
        self.emit(node, Happened::Stepped { step });
    }

    /// The model has nothing more to do: the node gets its answer, on a folder that is what the work made of it.
    fn hands_through(&mut self, id: &EffectId, dispatch: EffectId, hands: Hands, text: Digest) {
        if !hands.begun && hands.call.tree.is_some() {
            let look = ToolUse::new(Deed::ListFiles { path: String::new() }, 0);
            let look = ToolUse { begin: hands.call.tree, ..look };
            return self.hands_do(dispatch, hands, look, Errand::Begin { said_in: id.clone(), text });
        }
        let node = dispatch.node;
        let call = hands.call;
        let answered = Answered { effect: id.clone(), text, report: None, calls: Vec::new(), call };
        self.tell(&node, |protocol, cx| protocol.answered(answered, cx));
    }

    /// The work that this effect is a part of.
    pub fn dispatch_of(&self, tool: &EffectId) -> Option<EffectId> {
        let is_at_it = |hands: &Hands| hands.doing.as_ref().is_some_and(|doing| doing.effect == *tool);
        self.hands.iter().find(|(_, hands)| is_at_it(hands)).map(|(dispatch, _)| dispatch.clone())
    }

    /// A tool is asked for again under another id.
    pub fn hands_again(&mut self, earlier: &EffectId, now: &EffectId) {
        for doing in self.hands.values_mut().filter_map(|hands| hands.doing.as_mut()) {
            if doing.effect == *earlier {
                doing.effect = now.clone();
            }
        }
    }

    /// What is under way for a call of a node that may go on under another id.
    pub fn at_work_for(&self, call: &EffectId) -> EffectId {
        let doing =
            self.hands.get(call).and_then(|hands| hands.doing.as_ref()).map(|doing| doing.effect.clone());
        let is_turn = |id: &&EffectId| {
            let spec = self.open.get(*id).and_then(|open| open.call.as_ref());
            spec.is_some_and(|spec| spec.hands.as_ref() == Some(call))
        };
        doing.or_else(|| self.open.keys().find(is_turn).cloned()).unwrap_or_else(|| call.clone())
    }

    /// A node called such a work off, and what was under way for it has ended.
    pub fn hands_off(&mut self, dispatch: &EffectId) {
        self.hands.remove(dispatch);
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

impl Hands {
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
