//! Stops a worker that goes round in circles, before any model is asked about it: the same call with the same
//! result again and again, short cycles of such calls, a tool that only fails. What comes of a call is looked at:
//! who gets something new from the same call is not in a circle, and who waits is not either.

mod waiting;

use std::collections::{BTreeMap, VecDeque};

use super::json::canonical;
use crate::digest::Digest;

pub use waiting::is_waiting;

/// The same call with the same result: so often, and the next is blocked.
const IDENTICAL: usize = 3;
/// A cycle is whole so often, and the next call of it is blocked.
const REPETITIONS: usize = 2;
const PERIODS: [usize; 2] = [2, 3];
/// Calls that are kept in mind.
const WINDOW: usize = 8;
/// Errors of one tool in a row that switch it off.
const ERRORS: u32 = 3;
/// The block at which the run is halted.
const HALT: u32 = 5;
/// Tools whose errors are counted: a model may invent as many names as it likes.
const TOOLS: usize = 256;

#[derive(Clone, Debug, Default)]
pub struct LoopGuard {
    /// The last calls that were done, oldest first.
    calls: VecDeque<Call>,
    /// Errors in a row, by tool; at [`ERRORS`] it is switched off and stays so.
    errors: BTreeMap<String, u32>,
    blocks: u32,
    /// This turn was blocked before: whoever wishes for the same call nine times at once has not been told yet.
    counted: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Call {
    /// The tool and its arguments.
    what: Digest,
    result: Digest,
    waits: bool,
}

/// Why a call is not done.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Block {
    /// A sentence for the worker.
    pub because: String,
    /// The run has been blocked too often.
    pub halt: bool,
}

impl LoopGuard {
    /// The model is told what came of its calls, and wishes anew.
    pub const fn new_turn(&mut self) {
        self.counted = false;
    }

    /// Whether the call may be done. One that may not is not counted as a call; of several in one turn one counts
    /// as a block.
    pub fn before(&mut self, tool: &str, args: &str) -> Option<Block> {
        let because = self.objection(tool, args)?;
        if !std::mem::replace(&mut self.counted, true) {
            self.blocks = self.blocks.saturating_add(1);
        }
        Some(Block { because, halt: self.blocks >= HALT })
    }

    /// What came of a call. Says so, once, when its tool is switched off.
    pub fn after(&mut self, tool: &str, args: &str, result: Digest, is_error: bool) -> Option<String> {
        if self.calls.len() == WINDOW {
            self.calls.pop_front();
        }
        self.calls.push_back(Call { what: what(tool, args), result, waits: is_waiting(tool, args) });
        self.count_error(tool, is_error)
    }

    pub fn is_disabled(&self, tool: &str) -> bool {
        self.errors.get(tool).is_some_and(|errors| *errors >= ERRORS)
    }

    pub fn disabled(&self) -> impl Iterator<Item = &str> {
        self.errors.iter().filter(|(_, errors)| **errors >= ERRORS).map(|(tool, _)| tool.as_str())
    }

    /// In how many turns a call was blocked so far.
    pub const fn blocks(&self) -> u32 {
        self.blocks
    }

    fn objection(&self, tool: &str, args: &str) -> Option<String> {
        if self.is_disabled(tool) {
            return Some(format!(
                "`{tool}` is switched off for this run: it failed {ERRORS} times in a row."
            ));
        }
        if is_waiting(tool, args) {
            return None;
        }
        let what = what(tool, args);
        if self.is_repeated(what) {
            return Some(format!(
                "This call of `{tool}` was made {IDENTICAL} times in a row with the same result. It would bring nothing new: \
                 change something first, or take another way."
            ));
        }
        let period = PERIODS.into_iter().find(|period| self.is_in_cycle(what, *period))?;
        Some(format!(
            "The last calls go round in a circle of {period}, each with the same result as before, and this call of `{tool}` \
             would go on with it. Take another way."
        ))
    }

    fn is_repeated(&self, what: Digest) -> bool {
        let mut last = self.calls.iter().rev();
        let Some(newest) = last.next().filter(|call| call.what == what) else { return false };
        last.take_while(|call| *call == newest).count() + 1 >= IDENTICAL
    }

    /// Would this call go on with a cycle whose calls have all shown that they bring nothing new?
    fn is_in_cycle(&self, what: Digest, period: usize) -> bool {
        let length = period * REPETITIONS;
        let Some(from) = self.calls.len().checked_sub(length) else { return false };
        let last: Vec<&Call> = self.calls.iter().skip(from).collect();
        let goes_round = last.iter().zip(last.iter().skip(period)).all(|(one, next)| one == next);
        let is_next = last.first().is_some_and(|first| first.what == what);
        goes_round && is_next && last.iter().all(|call| !call.waits)
    }

    fn count_error(&mut self, tool: &str, is_error: bool) -> Option<String> {
        if self.is_disabled(tool) {
            return None;
        }
        if !is_error {
            self.errors.remove(tool);
            return None;
        }
        if self.errors.len() >= TOOLS && !self.errors.contains_key(tool) {
            return None;
        }
        let errors = self.errors.entry(tool.to_owned()).or_insert(0);
        *errors += 1;
        (*errors >= ERRORS).then(|| {
            format!(
                "`{tool}` failed {ERRORS} times in a row and is switched off for this run. {}",
                hint(tool)
            )
        })
    }
}

fn what(tool: &str, args: &str) -> Digest {
    Digest::of(format!("{tool}\n{}", canonical(args)).as_bytes())
}

/// What to do without the tool.
fn hint(tool: &str) -> &'static str {
    match tool {
        "edit_file" => "Read the file again and write it whole with write_file.",
        "write_file" => "Write with run_command, or look at the folder's permissions.",
        "read_file" | "list_files" | "search_files" => {
            "Look at what is there with run_command (ls, cat, grep)."
        }
        "run_command" => "Work with the file tools, or end with abort_with_report.",
        "fetch_url" => "Work from what the project itself holds.",
        _ => "Take another way.",
    }
}

/// A result to be compared with an earlier one: how long a run took is not news. `12 passed in 0.03s` and
/// `12 passed in 0.04s` are the same result.
pub fn result_of(text: &str) -> Digest {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        plain.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, after) = rest.split_at(end);
        let unit = after.strip_prefix(' ').unwrap_or(after);
        let letters: String = unit.chars().take_while(char::is_ascii_alphabetic).take(8).collect();
        let is_time = match letters.as_str() {
            "ms" => true,
            "s" | "sec" | "secs" | "seconds" => number.contains('.'),
            _ => false,
        };
        plain.push_str(if is_time { "0" } else { number });
        rest = after;
    }
    plain.push_str(rest);
    Digest::of(plain.as_bytes())
}

#[cfg(test)]
mod tests;
