//! Stops a worker that goes round in circles, before any model is asked about it: the same call with the same
//! result again and again, cycles of such calls, one tool that brings the same whatever it is asked, a tool that only
//! fails. What comes of a call is looked at: who gets something new is not in a circle, and who waits is not either.

mod varied;
mod waiting;

use std::collections::{BTreeMap, VecDeque};

use super::json::canonical;
use crate::digest::Digest;

use varied::{Varied, without_comment, without_digits};
pub use waiting::is_waiting;

/// The same call with the same result: so often, and the next is blocked.
const IDENTICAL: usize = 3;
/// A cycle is whole so often, and the next call of it is blocked.
const REPETITIONS: usize = 2;
const PERIODS: [usize; 2] = [2, 3];
/// The periods of a guard that looks further, and how often a cycle must be whole that is only roughly the same.
const FURTHER: std::ops::RangeInclusive<usize> = 2..=6;
const ROUGHLY: usize = 6;
/// Calls that are kept in mind.
const WINDOW: usize = 36;
/// A wait that is over sooner was none, in milliseconds.
const SOME_TIME: u64 = 900;
/// Errors of one tool in a row that switch it off.
const ERRORS: u32 = 3;
/// The block at which the run is halted.
const HALT: u32 = 5;
/// Tools whose errors are counted: a model may invent as many names as it likes.
const TOOLS: usize = 256;

#[derive(Clone, Debug, Default)]
pub struct LoopGuard {
    /// The last calls that were done, oldest first.
    calls: VecDeque<GuardedCall>,
    /// Errors in a row, by tool; at [`ERRORS`] it is switched off and stays so.
    errors: BTreeMap<String, u32>,
    blocks: u32,
    /// This turn was blocked before: a model that asks for the same call nine times at once has not been told yet.
    counted: bool,
    /// Looks for longer cycles, numbers aside, and for varied arguments.
    further: bool,
    varied: Varied,
    /// The last call that said it waits did not.
    hurries: bool,
}

/// What came of a call.
#[derive(Clone, Copy, Debug)]
pub struct CallOutcome<'a> {
    pub text: &'a str,
    /// The tool itself failed.
    pub is_error: bool,
    /// It did not end well, whoever's fault that is.
    pub failed: bool,
    /// It may have changed something.
    pub changed: bool,
    pub took_ms: u64,
}

/// What the guard says of a call that was done.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum GuardWord {
    /// The tool is switched off.
    Off(String),
    /// The worker should know.
    Circle(String),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct GuardedCall {
    /// The tool and its arguments.
    what: Digest,
    result: Digest,
    waits: bool,
    /// Tool and arguments, comments aside; the result, of a failure without its numbers.
    roughly: (Digest, Digest),
    changed: bool,
}

impl GuardedCall {
    /// The same call with the same result.
    fn is_again(&self, other: &Self) -> bool {
        (self.what, self.result, self.waits) == (other.what, other.result, other.waits)
    }
}

/// Why a call is not done.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GuardRefusal {
    /// A sentence for the worker.
    pub because: String,
    /// The run has been blocked too often.
    pub halt: bool,
}

impl LoopGuard {
    /// A guard that looks further.
    pub fn looking_further() -> Self {
        Self { further: true, ..Self::default() }
    }

    /// A person had a word with the worker: tools that only failed may be tried again.
    pub fn forgive(&mut self) {
        self.errors.clear();
        self.varied.changed();
    }

    /// The model is told the results of its calls, and asks anew.
    pub const fn new_turn(&mut self) {
        self.counted = false;
    }

    /// Whether the call may be done. One that may not is not counted as a call; of several in one turn one counts
    /// as a block.
    pub fn before(&mut self, tool: &str, args: &str) -> Option<GuardRefusal> {
        let because = self.objection(tool, args)?;
        if !std::mem::replace(&mut self.counted, true) {
            self.blocks = self.blocks.saturating_add(1);
        }
        Some(GuardRefusal { because, halt: self.blocks >= HALT })
    }

    /// What came of a call. Says so, once, when its tool is switched off.
    pub fn after(&mut self, tool: &str, args: &str, result: Digest, is_error: bool) -> Option<String> {
        let (what, waits) = (what(tool, args), is_waiting(tool, args));
        self.remember(GuardedCall { what, result, waits, roughly: (what, result), changed: false });
        self.count_error(tool, is_error)
    }

    /// As [`Self::after`], of a guard that looks further.
    pub fn heard(&mut self, tool: &str, args: &str, came: &CallOutcome<'_>) -> Option<GuardWord> {
        let claims_to_wait = is_waiting(tool, args);
        if claims_to_wait {
            self.hurries = came.took_ms < SOME_TIME;
        }
        let waits = claims_to_wait && !self.hurries;
        self.remember(GuardedCall {
            what: what(tool, args),
            result: result_of(came.text),
            waits,
            roughly: (roughly(tool, args), news(came)),
            changed: came.changed,
        });
        let circle = if came.changed || waits {
            self.varied.changed();
            None
        } else {
            self.varied.came(tool, args, came)
        };
        self.count_error(tool, came.is_error).map(GuardWord::Off).or_else(|| circle.map(GuardWord::Circle))
    }

    fn remember(&mut self, call: GuardedCall) {
        if self.calls.len() == WINDOW {
            self.calls.pop_front();
        }
        self.calls.push_back(call);
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

    fn objection(&mut self, tool: &str, args: &str) -> Option<String> {
        if self.is_disabled(tool) {
            return Some(format!(
                "`{tool}` is switched off for this run: it failed {ERRORS} times in a row."
            ));
        }
        if is_waiting(tool, args) && !self.hurries {
            return None;
        }
        let what = what(tool, args);
        if self.is_repeated(what) {
            return Some(format!(
                "This call of `{tool}` was made {IDENTICAL} times in a row with the same result. It would bring nothing new: \
                 change something first, or take another way."
            ));
        }
        let periods = if self.further { FURTHER } else { PERIODS[0]..=PERIODS[1] };
        let goes_round = |period: &usize| {
            self.is_in_cycle(what, *period)
                || self.further && self.is_roughly_in_cycle(roughly(tool, args), *period)
        };
        let Some(period) = periods.into_iter().find(goes_round) else {
            return self.varied.objection(tool);
        };
        Some(format!(
            "The last calls go round in a circle of {period}, each with the same result as before, and this call of `{tool}` \
             would go on with it. Take another way."
        ))
    }

    fn is_repeated(&self, what: Digest) -> bool {
        let mut last = self.calls.iter().rev();
        let Some(newest) = last.next().filter(|call| call.what == what) else { return false };
        last.take_while(|call| call.is_again(newest)).count() + 1 >= IDENTICAL
    }

    /// Would this call go on with a cycle whose calls have all shown that they bring nothing new?
    fn is_in_cycle(&self, what: Digest, period: usize) -> bool {
        let length = period * REPETITIONS;
        let Some(from) = self.calls.len().checked_sub(length) else { return false };
        let last: Vec<&GuardedCall> = self.calls.iter().skip(from).collect();
        let goes_round = last.iter().zip(last.iter().skip(period)).all(|(one, next)| one.is_again(next));
        let is_next = last.first().is_some_and(|first| first.what == what);
        goes_round && is_next && last.iter().all(|call| !call.waits)
    }

    /// As [`Self::is_in_cycle`], numbers aside, of one that came round more often and changed nothing.
    fn is_roughly_in_cycle(&self, what: Digest, period: usize) -> bool {
        let Some(from) = self.calls.len().checked_sub(period * ROUGHLY) else { return false };
        let last: Vec<&GuardedCall> = self.calls.iter().skip(from).collect();
        let goes_round =
            last.iter().zip(last.iter().skip(period)).all(|(one, next)| one.roughly == next.roughly);
        // Whichever of its calls comes next: who was blocked at one would go on with another.
        let is_next = last.iter().take(period).any(|call| call.roughly.0 == what);
        goes_round && is_next && last.iter().all(|call| !call.waits && !call.changed)
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

/// What came of a call, to be compared: of a failure without its numbers.
fn news(came: &CallOutcome<'_>) -> Digest {
    if came.failed { Digest::of(without_digits(came.text).as_bytes()) } else { result_of(came.text) }
}

fn roughly(tool: &str, args: &str) -> Digest {
    Digest::of(format!("{tool}\n{}", without_comment(args)).as_bytes())
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
