//! One prompt turn as it is heard: the answer's text, the steps taken, what it cost. Pure; updates in,
//! observations out.

use std::collections::HashMap;
use std::path::Path;

use agent_client_protocol::v1::schema::{
    ContentBlock, ContentChunk, MessageId, PromptResponse, SessionId, SessionNotification, SessionUpdate,
    ToolCallContent, ToolCallId, ToolCallLocation, ToolCallStatus, ToolCallUpdate, ToolKind,
};
use gadfly_engine::goal::StepEnd;
use gadfly_engine::{Money, Observation, Usage};
use serde_json::Value;

use super::folder::CallFolders;
use super::permission::word;
use crate::agent::MAX_REPLY;
use crate::cli::{StepResult, ends};

/// The most characters of a step's line, and of any other.
const STEP: usize = 1000;
const LINE: usize = 200;

/// What is heard of a session.
#[derive(Debug)]
pub(super) struct AcpTurn {
    folder: CallFolders,
    max_steps: u32,
    /// The session that was asked. What comes before is history that an agent tells again.
    asked: Option<SessionId>,
    reply: AcpReply,
    tools: HashMap<ToolCallId, AcpTool>,
    refusals: u32,
    cost: Option<Money>,
    /// What the session had cost before it was asked, if it said so.
    cost_before: Option<Money>,
    over: Option<Over>,
}

/// Why a turn is not listened to any longer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Over {
    Steps,
    Text,
}

/// The agent's messages. The last one is its answer: what it says between its steps is not.
#[derive(Default, Debug)]
struct AcpReply {
    now: String,
    before: String,
    message: Option<MessageId>,
    /// A step was taken since.
    closed: bool,
    said: usize,
}

#[derive(Debug)]
struct AcpTool {
    kind: ToolKind,
    title: String,
    place: Option<String>,
    told: bool,
    /// It asked for permission and did not get it.
    denied: bool,
    /// What it gave so far, and its exit code if it said one.
    said: String,
    code: Option<i64>,
    ended: bool,
}

/// What follows from an update.
#[derive(Default, Debug)]
pub(super) struct UpdateResult {
    pub text: Option<String>,
    pub observations: Vec<Observation>,
}

impl AcpTurn {
    pub fn new(folder: CallFolders, max_steps: u32) -> Self {
        Self {
            folder,
            max_steps,
            asked: None,
            reply: AcpReply::default(),
            tools: HashMap::new(),
            refusals: 0,
            cost: None,
            cost_before: None,
            over: None,
        }
    }

    /// From here on updates belong to this turn.
    pub fn begin(&mut self, session: SessionId) {
        self.asked = Some(session);
        self.cost_before = self.cost.take();
    }

    pub const fn over(&self) -> Option<Over> {
        self.over
    }

    pub fn hear(&mut self, heard: SessionNotification) -> UpdateResult {
        let own = self.asked.as_ref() == Some(&heard.session_id);
        match heard.update {
            SessionUpdate::UsageUpdate(update) if own || self.asked.is_none() => {
                let cost = update.cost.filter(|cost| cost.currency == "USD" && cost.amount.is_finite());
                // An agent that does not know its model's price says zero.
                let Some(cost) = cost.map(|cost| Money::from_usd(cost.amount)).filter(|cost| cost.0 > 0)
                else {
                    return UpdateResult::default();
                };
                self.cost = Some(cost);
                let usage = Usage { cost: self.spent(), ..Usage::default() };
                UpdateResult {
                    observations: own.then_some(Observation::Usage { usage }).into_iter().collect(),
                    text: None,
                }
            }
            _ if self.asked.is_none() => UpdateResult::default(),
            SessionUpdate::AgentMessageChunk(chunk) if own => {
                UpdateResult { text: self.say(chunk), observations: Vec::new() }
            }
            // An agent below the one we asked may have a session of its own: its steps count.
            SessionUpdate::ToolCall(call) => {
                let update = ToolCallUpdate::from(call);
                UpdateResult { observations: self.tool(&update, false), text: None }
            }
            SessionUpdate::ToolCallUpdate(update) => {
                UpdateResult { observations: self.tool(&update, false), text: None }
            }
            _ => UpdateResult::default(),
        }
    }

    /// The agent asks whether it may do this: its step is told now.
    pub fn asks(&mut self, update: &ToolCallUpdate) -> Vec<Observation> {
        self.tool(update, true)
    }

    /// What it asked for was not allowed.
    pub fn denied(&mut self, id: &ToolCallId) {
        if let Some(tool) = self.tools.get_mut(id) {
            tool.denied = true;
        }
    }

    /// What the agent called this tool before.
    pub fn kind(&self, id: &ToolCallId) -> Option<ToolKind> {
        self.tools.get(id).map(|tool| tool.kind)
    }

    /// Something was refused. Refusals are bounded as steps are.
    pub fn refused(&mut self) {
        self.refusals = self.refusals.saturating_add(1);
        if self.refusals > self.max_steps {
            self.over = Some(Over::Steps);
        }
    }

    fn say(&mut self, chunk: ContentChunk) -> Option<String> {
        let ContentBlock::Text(content) = chunk.content else { return None };
        if self.reply.say(chunk.message_id, &content.text) {
            Some(content.text)
        } else {
            self.over = Some(Over::Text);
            None
        }
    }

    /// A tool call is told once: when it begins, or as soon as its title says what it is about. What came of it is told
    /// when the agent says that it is through.
    fn tool(&mut self, update: &ToolCallUpdate, asked: bool) -> Vec<Observation> {
        let fields = &update.fields;
        let title = fields.title.as_deref().map(|title| cut(title, STEP)).filter(|title| !title.is_empty());
        let place = fields.locations.as_deref().and_then(<[ToolCallLocation]>::first);
        let place = place.map(|place| self.place(&place.path, place.line));
        let new = !self.tools.contains_key(&update.tool_call_id);
        if new {
            if self.tools.len() >= self.max_steps as usize {
                self.over = Some(Over::Steps);
                return Vec::new();
            }
            self.reply.closed = true;
        }
        let tool = self.tools.entry(update.tool_call_id.clone()).or_insert_with(|| AcpTool {
            kind: ToolKind::default(),
            title: String::new(),
            place: None,
            told: false,
            denied: false,
            said: String::new(),
            code: None,
            ended: false,
        });
        let retitled = !new && title.as_ref().is_some_and(|title| *title != tool.title);
        tool.title = title.unwrap_or_else(|| std::mem::take(&mut tool.title));
        tool.kind = fields.kind.unwrap_or(tool.kind);
        tool.place = place.or_else(|| tool.place.take());
        let begun = fields.status.is_some_and(|status| status != ToolCallStatus::Pending);
        tool.hear(update);
        let mut told = Vec::new();
        if !tool.told && (asked || retitled || begun) {
            told.push(tool.tell(&update.tool_call_id));
        }
        let end = match fields.status {
            Some(ToolCallStatus::Completed) => Some(true),
            Some(ToolCallStatus::Failed) => Some(false),
            _ => None,
        };
        if let Some(well) = end.filter(|_| !std::mem::replace(&mut tool.ended, true)) {
            told.push(tool.end(&update.tool_call_id, well));
        }
        told
    }

    fn place(&self, path: &Path, at: Option<u32>) -> String {
        let path = line(&self.folder.shown(path));
        at.map_or_else(|| path.clone(), |at| format!("{path}:{at}"))
    }

    /// Steps that never got beyond their announcement.
    pub fn untold(&mut self) -> Vec<Observation> {
        let mut left: Vec<_> = self.tools.iter_mut().filter(|(_, tool)| !tool.told).collect();
        left.sort_by(|a, b| a.0.0.cmp(&b.0.0));
        left.into_iter().map(|(id, tool)| tool.tell(id)).collect()
    }

    /// The answer.
    pub fn text(&mut self) -> String {
        let reply = std::mem::take(&mut self.reply);
        if reply.now.trim().is_empty() { reply.before } else { reply.now }
    }

    /// What this turn cost, as far as the agent says. A figure for the whole session is taken as one for this
    /// turn if what was spent before is unknown: rather too much than too little.
    pub fn spent(&self) -> Option<Money> {
        let before = self.cost_before.map_or(0, |cost| cost.0);
        self.cost.map(|cost| Money(if cost.0 >= before { cost.0 - before } else { cost.0 }))
    }

    /// All that is known of what the turn used.
    pub fn usage(&self, ended: Option<&PromptResponse>) -> Usage {
        let mut usage = ended.map(counted).unwrap_or_default();
        usage.cost = self.spent();
        usage
    }
}

impl AcpReply {
    /// False if this is more than a reply may have.
    fn say(&mut self, message: Option<MessageId>, text: &str) -> bool {
        self.said = self.said.saturating_add(text.len());
        if self.said > MAX_REPLY {
            return false;
        }
        if self.closed || (message.is_some() && message != self.message) {
            let now = std::mem::take(&mut self.now);
            if !now.trim().is_empty() {
                self.before = now;
            }
            self.message = message;
            self.closed = false;
        }
        self.now.push_str(text);
        true
    }
}

impl AcpTool {
    /// What an update says of its result.
    fn hear(&mut self, update: &ToolCallUpdate) {
        let fields = &update.fields;
        let raw = fields.raw_output.as_ref();
        let meta = update.meta.as_ref().and_then(|meta| meta.get("terminal_exit")?.get("exit_code"));
        let code = raw.and_then(|raw| raw.get("exit_code").or_else(|| raw.pointer("/metadata/exit")));
        self.code = meta.or(code).and_then(Value::as_i64).or(self.code);
        let texts = fields.content.iter().flatten().filter_map(|content| match content {
            ToolCallContent::Content(content) => match &content.content {
                ContentBlock::Text(text) => Some(text.text.as_str()),
                _ => None,
            },
            _ => None,
        });
        let shown = texts.collect::<Vec<_>>().join("\n");
        let printed = raw.and_then(|raw| {
            let of = |key: &str| raw.get(key).and_then(Value::as_str);
            raw.as_str().or_else(|| of("aggregated_output")).or_else(|| of("output"))
        });
        let said = printed.filter(|said| !said.trim().is_empty()).unwrap_or(&shown);
        if !said.trim().is_empty() {
            self.said = ends(said);
        }
    }

    fn end(&mut self, id: &ToolCallId, well: bool) -> Observation {
        let said = std::mem::take(&mut self.said);
        let StepResult { end, said } = match self.code {
            _ if self.denied => StepResult::new(StepEnd::Denied, &said),
            Some(code) if well || code != 0 => StepResult::exit(code, &said),
            _ if well => StepResult::new(StepEnd::Ok, &said),
            _ => StepResult::new(StepEnd::Err, &said),
        };
        Observation::StepEnded { call: id.0.to_string(), end, said }
    }

    fn tell(&mut self, id: &ToolCallId) -> Observation {
        self.told = true;
        let kind = word(self.kind);
        let mut said =
            if self.title.is_empty() { kind.to_owned() } else { format!("{kind}: {}", self.title) };
        if let Some(place) = self.place.as_ref().filter(|place| *place != "." && !said.contains(*place)) {
            said.push_str(" (");
            said.push_str(place);
            said.push(')');
        }
        Observation::Step { line: said, call: Some(id.0.to_string()) }
    }
}

/// Some text of an agent's as one short line.
pub(super) fn line(text: &str) -> String {
    cut(text, LINE)
}

fn cut(text: &str, most: usize) -> String {
    let mut out = String::new();
    for (n, c) in text.trim().chars().enumerate() {
        if n >= most {
            out.push('…');
            break;
        }
        out.push(if c.is_control() { ' ' } else { c });
    }
    out
}

/// Agents disagree on whether cached input is a part of the input, and thoughts of the output; the total says.
fn counted(ended: &PromptResponse) -> Usage {
    let Some(said) = &ended.usage else { return quota(ended.meta.as_ref()) };
    let (cache_read, cache_write) =
        (said.cached_read_tokens.unwrap_or(0), said.cached_write_tokens.unwrap_or(0));
    let cached = cache_read.saturating_add(cache_write);
    let thought = said.thought_tokens.unwrap_or(0);
    let both = said.input_tokens.saturating_add(said.output_tokens);
    let cached_apart = ![both, both.saturating_add(thought)].contains(&said.total_tokens);
    let thought_apart = [both.saturating_add(thought), both.saturating_add(thought).saturating_add(cached)]
        .contains(&said.total_tokens);
    Usage {
        input: said.input_tokens.saturating_sub(if cached_apart { 0 } else { cached }),
        output: said.output_tokens.saturating_add(if thought_apart { thought } else { 0 }),
        cache_read,
        cache_write,
        ..Usage::default()
    }
}

/// Where Gemini says what it used.
fn quota(meta: Option<&serde_json::Map<String, Value>>) -> Usage {
    let count = meta.and_then(|meta| meta.get("quota")).and_then(|quota| quota.get("token_count"));
    let of = |name: &str| count.and_then(|count| count.get(name)).and_then(Value::as_u64).unwrap_or(0);
    Usage { input: of("input_tokens"), output: of("output_tokens"), ..Usage::default() }
}

/// The one model that answered, where the agent says so.
pub(super) fn model(ended: &PromptResponse) -> Option<String> {
    let used = ended.meta.as_ref()?.get("quota")?.get("model_usage")?.as_array()?;
    match used.as_slice() {
        [one] => one.get("model")?.as_str().map(line).filter(|name| !name.is_empty()),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
