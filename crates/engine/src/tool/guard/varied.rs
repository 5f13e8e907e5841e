//! Calls of one tool that bring the same result, whatever their arguments: `sh check.sh # 1`, `sh check.sh # 2`. In a failure a
//! clock or a counter is no news; where a call succeeds, another number may well be what was waited for. The worker is told at every fourth; after three times it is blocked where that is no
//! mistake: if the calls failed, or were the same but for comments. Whoever changes something in between, or waits, is
//! not in a circle.

use std::collections::BTreeMap;

use serde_json::Value;

use super::CallOutcome;
use crate::digest::Digest;

/// The worker is told at every fourth such call, three times; then such calls are blocked.
const TOLD_AT: u32 = 4;
const TOLD: u32 = 3;
/// Tools that are kept in mind.
const TOOLS: usize = 64;

#[derive(Clone, Debug, Default)]
pub(super) struct Varied(BTreeMap<String, Streak>);

#[derive(Clone, Debug)]
struct Streak {
    result: Digest,
    /// The arguments of the first, comments aside.
    args: String,
    times: u32,
    all_failed: bool,
    all_alike: bool,
    /// One was blocked: the next is done, and shows whether the circle is left.
    probing: bool,
}

impl Varied {
    /// Something may be different now: what came before says nothing about what comes.
    pub fn changed(&mut self) {
        self.0.clear();
    }

    /// What came of a call that did not wait. Returns what the worker is told, if it is time.
    pub fn came(&mut self, tool: &str, args: &str, came: &CallOutcome<'_>) -> Option<String> {
        let (result, args) = (super::news(came), without_comment(args));
        if self.0.len() >= TOOLS && !self.0.contains_key(tool) {
            return None;
        }
        if let Some(streak) = self.0.get_mut(tool).filter(|streak| streak.result == result) {
            streak.times = streak.times.saturating_add(1);
            streak.all_failed &= came.failed;
            streak.all_alike &= streak.args == args;
            streak.probing = false;
        } else {
            let all_failed = came.failed;
            let streak = Streak { result, args, times: 1, all_failed, all_alike: true, probing: false };
            self.0.insert(tool.to_owned(), streak);
        }
        let times = self.0.get(tool).map_or(0, |streak| streak.times);
        (times.is_multiple_of(TOLD_AT) && times <= TOLD_AT * TOLD).then(|| {
            format!(
                "The last {times} calls of `{tool}` all brought the same result. If each of them did a piece of \
                 the work, go on. If not, more of them will bring nothing new: change something first, wait (`sleep 10`) if \
                 you wait for something, or take another way."
            )
        })
    }

    /// Why the next call of the tool is not done. Every other one is, to see whether something new comes of it.
    pub fn objection(&mut self, tool: &str) -> Option<String> {
        let streak = self.0.get_mut(tool)?;
        let is_circle = streak.times >= TOLD_AT * TOLD && (streak.all_failed || streak.all_alike);
        if !is_circle || std::mem::replace(&mut streak.probing, true) {
            return None;
        }
        Some(format!(
            "The last {} calls of `{tool}` all brought the same result, and you were told three times. This one was not \
             made: change something first, wait if you wait for something, or take another way.",
            streak.times
        ))
    }

    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.0.len()
    }
}

/// Numbers are no news here: a clock, a counter, a process's number.
pub(super) fn without_digits(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut in_number = false;
    for c in text.chars() {
        let is_digit = c.is_ascii_digit();
        if !is_digit {
            plain.push(c);
        } else if !in_number {
            plain.push('0');
        }
        in_number = is_digit;
    }
    plain
}

/// A command without what a shell passes over; other arguments as they are.
pub(super) fn without_comment(args: &str) -> String {
    let Ok(Value::Object(map)) = serde_json::from_str(args) else { return args.trim().to_owned() };
    let Some(line) = map.get("command").and_then(Value::as_str) else { return super::canonical(args) };
    let line = line.find(" #").map_or(line, |at| line.get(..at).unwrap_or(line));
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}
