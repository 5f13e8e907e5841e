//! The conversation with a model that uses tools. It stays bounded however long it gets: what does not fit any more
//! is left out in whole exchanges, and a line stands for each thing done in them. It decides nothing and carries
//! nothing out.

use std::collections::VecDeque;
use std::fmt::Write as _;

use super::{ToolCall, ToolResult};
use crate::digest::Digest;
use crate::text::Texts;
use crate::turn::{Message, Part, Speaker};

/// How many calls of one reply are done; more are refused.
pub const CALLS: usize = 16;
/// How many lines stand for what is left out.
pub const LINES: usize = 60;
/// The most that all these lines take, with the words around them.
pub const LINES_ROOM: usize = LINES * (LINE + 32) + 256;
/// What a model is told of a call without a result.
pub const NOT_DONE: &str = "not done: it was not carried out";

/// How much of the past is useful, in bytes.
const ROOM: usize = 96 * 1024;
/// The length of one line, in bytes.
const LINE: usize = 240;
/// Exchanges that are remembered. What came before cannot fit into any window in use.
const EXCHANGES: usize = 512;
/// So many are forgotten at once, so that prompts begin alike for a while and a provider can keep their beginning.
const FORGOTTEN_AT_ONCE: usize = EXCHANGES / 4;
/// What is said to a model between two of its turns; of more, the newest count.
const TOLD: usize = 16;
/// The longest name of a call or a tool that every provider takes.
const NAME: usize = 64;

/// A model's turn, and what it was told after it.
#[derive(Clone, Debug, Default)]
struct Exchange {
    /// None only at the beginning, for what is said before the model's first turn.
    said: Option<WorkerTurn>,
    told: VecDeque<Digest>,
    /// What was told and is not remembered.
    untold: usize,
    lines: Vec<TranscriptLine>,
}

#[derive(Clone, Debug)]
struct WorkerTurn {
    text: Digest,
    calls: Vec<RecordedCall>,
    refused: usize,
}

#[derive(Clone, Debug)]
struct RecordedCall {
    call: ToolCall,
    /// What the model called it, if that could not stay.
    alias: Option<String>,
    result: Option<ToolResult>,
}

#[derive(Clone, Debug)]
enum TranscriptLine {
    Done(String),
    Told(Digest),
}

#[derive(Clone, Debug)]
pub struct Transcript {
    not_done: Digest,
    exchanges: VecDeque<Exchange>,
    /// What stands for the exchanges that are not remembered.
    lines: VecDeque<TranscriptLine>,
    forgotten: usize,
    /// Makes names that no other call has.
    named: u64,
}

impl Default for Transcript {
    /// Who uses this stores [`NOT_DONE`] before the first turn.
    fn default() -> Self {
        Self::new(Digest::of(NOT_DONE.as_bytes()))
    }
}

impl Transcript {
    /// `not_done` is [`NOT_DONE`], stored: the result of a call that has none.
    pub const fn new(not_done: Digest) -> Self {
        Self { not_done, exchanges: VecDeque::new(), lines: VecDeque::new(), forgotten: 0, named: 0 }
    }

    /// What the model said, with what it wants to be done. Beyond [`CALLS`] it is told that nothing was done.
    pub fn said(&mut self, text: Digest, mut calls: Vec<ToolCall>) {
        let refused = calls.len().saturating_sub(CALLS);
        calls.truncate(CALLS);
        let mut said = WorkerTurn { text, calls: Vec::with_capacity(calls.len()), refused };
        for call in calls {
            let asked = self.asked(call, &said.calls);
            said.calls.push(asked);
        }
        self.exchanges.push_back(Exchange { said: Some(said), ..Exchange::default() });
        self.forget();
    }

    /// What came of one of them; `line` stands for it once it is left out. What nobody asked for is ignored.
    pub fn result(&mut self, mut result: ToolResult, line: String) {
        let Some(exchange) = self.exchanges.back_mut() else { return };
        let Some(said) = &mut exchange.said else { return };
        let is_meant = |asked: &&mut RecordedCall| {
            let named = asked.alias.as_ref().unwrap_or(&asked.call.id);
            asked.result.is_none() && (*named == result.call || asked.call.id == result.call)
        };
        let Some(asked) = said.calls.iter_mut().find(is_meant) else { return };
        result.call.clone_from(&asked.call.id);
        asked.result = Some(result);
        let is_short = line.len() <= LINE && !line.contains(char::is_control);
        exchange.lines.push(TranscriptLine::Done(if is_short { line } else { one_line(&line) }));
    }

    /// Something said to the model, at this point in time: a nudge, the critic, a person.
    pub fn told(&mut self, text: Digest) {
        if self.exchanges.is_empty() {
            self.exchanges.push_back(Exchange::default());
        }
        let Some(exchange) = self.exchanges.back_mut() else { return };
        exchange.told.push_back(text);
        if exchange.told.len() > TOLD {
            exchange.told.pop_front();
            exchange.untold = exchange.untold.saturating_add(1);
            if let Some(first) =
                exchange.lines.iter().position(|line| matches!(line, TranscriptLine::Told(_)))
            {
                exchange.lines.remove(first);
            }
        }
        exchange.lines.push(TranscriptLine::Told(text));
    }

    /// The first call of the model's last turn that has no result yet, as the conversation names it.
    pub fn awaited(&self) -> Option<&ToolCall> {
        let said = self.exchanges.back()?.said.as_ref()?;
        said.calls.iter().find(|asked| asked.result.is_none()).map(|asked| &asked.call)
    }

    /// The messages of the next turn: `first` whole at the beginning, lines for what is left out, then the newest
    /// exchanges, at most `room` bytes of them and the newest in any case. They alternate, begin and end with what the
    /// model is told, and every call in them has its result in the message after it. What is left out grows by a quarter
    /// of `room` at a time: until then each turn's messages are the beginning of the next one's.
    pub fn messages(&self, texts: &Texts, first: Vec<Part>, room: usize) -> Vec<Message> {
        self.after(texts, vec![Message { from: Speaker::User, parts: first }], room)
    }

    /// As `messages`, for a brief that is a conversation itself. What it ends with is said by the user.
    pub fn after(&self, texts: &Texts, mut first: Vec<Message>, room: usize) -> Vec<Message> {
        let exchanges = self.exchanges.iter().map(|exchange| exchange.messages(texts, self.not_done));
        let mut kept: Vec<[Vec<Part>; 2]> = exchanges.collect();
        let sizes = kept.iter().map(|messages| messages.iter().flatten().map(|part| part.size(texts)).sum());
        let left_out = left_out(&sizes.collect::<Vec<usize>>(), room);
        kept.drain(..left_out);
        if !matches!(first.last(), Some(message) if message.from == Speaker::User) {
            first.push(Message { from: Speaker::User, parts: Vec::new() });
        }
        let mut messages = first;
        if let (Some(lines), Some(brief)) = (self.lines_for(left_out, texts), messages.last_mut()) {
            brief.parts.push(Part::Text(lines));
        }
        for [said, told] in kept {
            if said.is_empty() {
                if let Some(brief) = messages.last_mut() {
                    brief.parts.push(Part::Text("\n\n".to_owned()));
                    brief.parts.extend(told);
                }
                continue;
            }
            messages.push(Message { from: Speaker::Assistant, parts: said });
            messages.push(Message { from: Speaker::User, parts: told });
        }
        messages
    }

    /// Names are kept where every provider takes them and nothing else has them.
    fn asked(&mut self, mut call: ToolCall, beside: &[RecordedCall]) -> RecordedCall {
        call.name = plain_name(&call.name);
        let is_fit = !call.id.is_empty() && call.id.len() <= NAME && call.id.bytes().all(is_plain);
        let mut alias = None;
        if !is_fit || self.is_taken(&call.id, beside) {
            alias = Some(std::mem::take(&mut call.id));
            while call.id.is_empty() || self.is_taken(&call.id, beside) {
                self.named = self.named.saturating_add(1);
                call.id = format!("call_{}", self.named);
            }
        }
        RecordedCall { call, alias, result: None }
    }

    fn is_taken(&self, id: &str, beside: &[RecordedCall]) -> bool {
        let earlier = self.exchanges.iter().filter_map(|e| e.said.as_ref()).flat_map(|said| &said.calls);
        earlier.chain(beside).any(|asked| asked.call.id == id)
    }

    fn forget(&mut self) {
        if self.exchanges.len() <= EXCHANGES {
            return;
        }
        for exchange in self.exchanges.drain(..FORGOTTEN_AT_ONCE) {
            self.forgotten = self.forgotten.saturating_add(1);
            self.lines.extend(exchange.lines);
            let surplus = self.lines.len().saturating_sub(LINES);
            self.lines.drain(..surplus);
        }
    }

    /// What is said of everything before the exchange `kept_from`.
    fn lines_for(&self, kept_from: usize, texts: &Texts) -> Option<String> {
        let turns = self.forgotten.saturating_add(kept_from);
        if turns == 0 {
            return None;
        }
        let left_out = self.exchanges.iter().take(kept_from).flat_map(|exchange| &exchange.lines);
        let lines: Vec<&TranscriptLine> = self.lines.iter().chain(left_out).collect();
        let newest = lines.get(lines.len().saturating_sub(LINES)..).unwrap_or_default();
        let mut out = format!("\n\n[{turns} earlier turns are left out to save room.");
        if newest.is_empty() {
            out.push_str("]\n");
            return Some(out);
        }
        out.push_str(" The last things of them, oldest first:]\n");
        for line in newest {
            let _ = match line {
                TranscriptLine::Done(line) => writeln!(out, "- {line}"),
                TranscriptLine::Told(text) => writeln!(out, "- you were told: {}", one_line(texts.get(text))),
            };
        }
        Some(out)
    }
}

/// How many of the oldest exchanges of these sizes are left out so that the rest fits.
fn left_out(sizes: &[usize], room: usize) -> usize {
    let all = sizes.iter().fold(0_usize, |sum, size| sum.saturating_add(*size));
    let step = (room / 4).max(1);
    let surplus = all.saturating_sub(room).div_ceil(step).saturating_mul(step);
    let mut dropped = 0_usize;
    let mut count = 0;
    for size in sizes.iter().take(sizes.len().saturating_sub(1)) {
        if dropped >= surplus {
            break;
        }
        dropped = dropped.saturating_add(*size);
        count += 1;
    }
    count
}

impl Exchange {
    /// What the model said, and what it was told then. Nothing said is an exchange of the beginning.
    fn messages(&self, texts: &Texts, not_done: Digest) -> [Vec<Part>; 2] {
        let (mut said, mut told) = (Vec::new(), Vec::new());
        if let Some(turn) = &self.said {
            if !texts.get(&turn.text).trim().is_empty() {
                said.push(Part::Blob(turn.text));
            } else if turn.calls.is_empty() {
                said.push(Part::Text("(nothing said)".to_owned()));
            }
            for RecordedCall { call, result, .. } in &turn.calls {
                said.push(Part::Call(call.clone()));
                let missing = || ToolResult { call: call.id.clone(), text: not_done, ok: false };
                told.push(Part::Result(result.clone().unwrap_or_else(missing)));
            }
            if turn.refused > 0 {
                told.push(Part::Text(format!(
                    "Of your last calls {} were not done: at most {CALLS} in one turn.\n",
                    turn.refused
                )));
            }
        }
        if self.untold > 0 {
            told.push(Part::Text(format!("[{} earlier remarks are left out.]\n", self.untold)));
        }
        for (n, text) in self.told.iter().enumerate() {
            if n > 0 {
                told.push(Part::Text("\n\n".to_owned()));
            }
            told.push(Part::Blob(*text));
        }
        if told.is_empty() {
            told.push(Part::Text("Go on.\n".to_owned()));
        }
        [said, told]
    }
}

/// A conversation for a turn without tools: not every provider takes calls and results then, so they are told in
/// words.
pub fn in_words(messages: Vec<Message>) -> Vec<Message> {
    let told = |part: Part| match part {
        Part::Call(call) => {
            vec![
                Part::Text(format!("\n[used {} with ", call.name)),
                Part::Blob(call.args),
                Part::Text("]\n".to_owned()),
            ]
        }
        Part::Result(result) => {
            vec![
                Part::Text("[what came of it]\n".to_owned()),
                Part::Blob(result.text),
                Part::Text("\n".to_owned()),
            ]
        }
        other => vec![other],
    };
    let in_words = |message: Message| Message {
        from: message.from,
        parts: message.parts.into_iter().flat_map(told).collect(),
    };
    messages.into_iter().map(in_words).collect()
}

/// How much of the past a prompt may hold, in bytes: what the window (with the longest answer) leaves beside
/// `fixed` bytes, and no more than is useful.
pub fn room(window: Option<(u64, u64)>, fixed: usize) -> usize {
    let window = window.map_or(usize::MAX, |(window, answer)| {
        // A token may be as little as two bytes of text.
        let tokens = window.saturating_sub(answer.min(window / 2));
        usize::try_from(tokens.saturating_mul(2)).unwrap_or(usize::MAX)
    });
    window.saturating_sub(fixed).saturating_sub(LINES_ROOM).min(ROOM)
}

const fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

/// A tool's name as every provider takes it. One that had to be changed is no tool of ours.
fn plain_name(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let name: String = name.chars().take(NAME).map(plain).collect();
    if name.is_empty() { "unnamed".to_owned() } else { name }
}

/// The beginning of a text, in one line.
fn one_line(text: &str) -> String {
    let mut out = String::new();
    for word in text.split_whitespace() {
        let room = LINE.saturating_sub(out.len() + '…'.len_utf8() + 1);
        if !out.is_empty() {
            out.push(' ');
        }
        if word.len() > room {
            let cut = word.floor_char_boundary(room);
            out.push_str(&word[..cut]);
            out.push('…');
            break;
        }
        out.push_str(word);
    }
    out
}

#[cfg(test)]
mod tests;
