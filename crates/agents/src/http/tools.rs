//! Tools as both wire formats have them: what a model is offered, and the calls it asks for, gathered from their
//! fragments within bounds. What a call means is nobody's business here: its arguments are handed on unread.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::Broken;
use crate::agent::{Call, RawToolCall, Spoken};

/// The most tools one reply may ask for.
pub(crate) const MAX_CALLS: usize = 64;
const MAX_ID: usize = 256;
const MAX_NAME: usize = 128;

/// A tool as the call offers it.
#[derive(Deserialize)]
pub(crate) struct OfferedTool<'a> {
    #[serde(borrow)]
    pub name: Cow<'a, str>,
    #[serde(borrow)]
    pub description: Cow<'a, str>,
    #[serde(borrow)]
    pub schema: &'a RawValue,
}

/// What a call offers. None if it offers nothing: an empty list is refused by the APIs.
pub(crate) fn offered(call: &Call) -> Result<Option<Vec<OfferedTool<'_>>>, serde_json::Error> {
    let Some(tools) = call.tools.as_deref() else { return Ok(None) };
    let offers: Vec<OfferedTool<'_>> = serde_json::from_str(tools)?;
    Ok((!offers.is_empty()).then_some(offers))
}

/// Arguments that a server will read again: an API refuses a conversation in which they are no object, and a
/// model's slip would then end it.
pub(crate) fn object(args: &str) -> &str {
    match serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(args) {
        Ok(_) => args,
        Err(_) => "{}",
    }
}

/// A name as the APIs take it back; one that a model made up may hold anything.
pub(crate) fn plain(name: &str, longest: usize) -> Cow<'_, str> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if !name.is_empty() && name.len() <= longest && name.chars().all(fits) {
        return Cow::Borrowed(name);
    }
    let kept: String = name.chars().take(longest).map(|c| if fits(c) { c } else { '_' }).collect();
    Cow::Owned(if kept.is_empty() { "unnamed".to_owned() } else { kept })
}

/// About how many bytes the messages take on the wire.
pub(crate) fn size(messages: &[Spoken]) -> usize {
    let of = |m: &Spoken| {
        let calls = m.calls.iter().map(|c| c.id.len() + c.name.len() + c.args.len());
        let results = m.results.iter().map(|r| r.call.len() + r.text.len());
        let images = m.images.iter().map(|i| i.base64.len());
        m.text.len() + calls.chain(results).chain(images).sum::<usize>()
    };
    let size: usize = messages.iter().map(of).sum();
    size + size / 8 + 512
}

/// Calls as far as they have come.
#[derive(Default, Debug)]
pub(crate) struct PartialCalls {
    begun: Vec<PartialCall>,
    bytes: usize,
}

#[derive(Debug)]
struct PartialCall {
    /// The place a server gives it in the reply.
    index: u64,
    raw_call: RawToolCall,
}

impl PartialCalls {
    pub fn is_empty(&self) -> bool {
        self.begun.is_empty()
    }

    /// What all of them hold together.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// A call begins, or goes on if it has begun at this place: servers differ in how often they repeat a call's
    /// id and name, and some give the same place to every call.
    pub fn begin(&mut self, index: u64, id: &str, name: &str) -> Result<(), Broken> {
        let id = first(id, MAX_ID);
        let name = first(name, MAX_NAME);
        let last = self.begun.iter_mut().rev().find(|begun| begun.index == index);
        if let Some(PartialCall { raw_call, .. }) = last {
            let is_another =
                !id.is_empty() && !name.is_empty() && !raw_call.id.is_empty() && raw_call.id != id;
            if !is_another {
                // A name in two pieces; one that is said again is the same.
                if id.is_empty() && !name.is_empty() && raw_call.args.is_empty() && !raw_call.name.is_empty()
                {
                    if raw_call.name != name && raw_call.name.len() + name.len() <= MAX_NAME {
                        raw_call.name.push_str(name);
                        self.bytes += name.len();
                    }
                    return Ok(());
                }
                for (has, said) in [(&mut raw_call.id, id), (&mut raw_call.name, name)] {
                    if has.is_empty() {
                        said.clone_into(has);
                        self.bytes += said.len();
                    }
                }
                return Ok(());
            }
        }
        if self.begun.len() == MAX_CALLS {
            return Err(Broken::Malformed(format!("it asks for more than {MAX_CALLS} tools at once")));
        }
        self.bytes += id.len() + name.len();
        let raw_call = RawToolCall { id: id.to_owned(), name: name.to_owned(), args: String::new() };
        self.begun.push(PartialCall { index, raw_call });
        Ok(())
    }

    /// More of the arguments of the call at this place; nothing, if there is none.
    pub fn more(&mut self, index: u64, args: &str) {
        if let Some(PartialCall { raw_call, .. }) =
            self.begun.iter_mut().rev().find(|begun| begun.index == index)
        {
            raw_call.args.push_str(args);
            self.bytes += args.len();
        }
    }

    /// The place of the next call, where a server gives none.
    pub fn next(&self) -> u64 {
        self.begun.len() as u64
    }

    /// The arguments of the call at this place, whole: they take the place of what came in pieces.
    pub fn whole(&mut self, index: u64, args: &str) {
        if args.is_empty() {
            return;
        }
        if let Some(PartialCall { raw_call, .. }) =
            self.begun.iter_mut().rev().find(|begun| begun.index == index)
        {
            self.bytes = self.bytes.saturating_sub(raw_call.args.len()).saturating_add(args.len());
            args.clone_into(&mut raw_call.args);
        }
    }

    /// All of them, each with an id of its own.
    pub fn finish(self) -> Vec<RawToolCall> {
        let mut raw_calls: Vec<RawToolCall> = self.begun.into_iter().map(|begun| begun.raw_call).collect();
        for raw_call in &mut raw_calls {
            // Some models write nothing where a tool takes nothing.
            if raw_call.args.trim().is_empty() {
                "{}".clone_into(&mut raw_call.args);
            }
        }
        name_each(&mut raw_calls);
        raw_calls
    }
}

/// Gives an id to calls without one, and another to those that repeat an earlier one's.
pub(crate) fn name_each(raw_calls: &mut [RawToolCall]) {
    let mut taken = BTreeSet::new();
    let given: BTreeSet<String> = raw_calls.iter().map(|raw_call| raw_call.id.clone()).collect();
    let mut made = 0;
    for raw_call in raw_calls {
        if raw_call.id.is_empty() || taken.contains(&raw_call.id) {
            raw_call.id = loop {
                made += 1;
                let id = format!("call_{made}");
                if !given.contains(&id) {
                    break id;
                }
            };
        }
        taken.insert(raw_call.id.clone());
    }
}

/// The beginning of a text, in characters.
fn first(text: &str, chars: usize) -> &str {
    text.char_indices().nth(chars).map_or(text, |(end, _)| &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(given: &[&str]) -> Vec<String> {
        let raw_call = |id: &&str| RawToolCall { id: (*id).into(), name: "t".into(), args: "{}".into() };
        let mut raw_calls: Vec<RawToolCall> = given.iter().map(raw_call).collect();
        name_each(&mut raw_calls);
        raw_calls.into_iter().map(|raw_call| raw_call.id).collect()
    }

    #[test]
    fn every_call_has_an_id_of_its_own() {
        assert_eq!(ids(&["", ""]), ["call_1", "call_2"]);
        assert_eq!(ids(&["a", "a", "b", "a"]), ["a", "call_1", "b", "call_2"]);
        assert_eq!(
            ids(&["", "call_1"]),
            ["call_2", "call_1"],
            "an id that a later call has is not given away"
        );
    }

    #[test]
    fn a_name_in_two_pieces_is_one_and_a_name_that_is_said_again_is_the_same() {
        let mut raw_calls = PartialCalls::default();
        raw_calls.begin(0, "a", "run_").unwrap();
        raw_calls.begin(0, "", "command").unwrap();
        raw_calls.more(0, "{}");
        raw_calls.begin(1, "b", "read").unwrap();
        raw_calls.begin(1, "", "read").unwrap();
        raw_calls.begin(1, "b", "read").unwrap();
        let names: Vec<String> = raw_calls.finish().into_iter().map(|raw_call| raw_call.name).collect();
        assert_eq!(names, ["run_command", "read"]);
    }

    #[test]
    fn one_call_too_many_is_no_reply() {
        let mut raw_calls = PartialCalls::default();
        for index in 0..64 {
            raw_calls.begin(index, "", "t").unwrap();
        }
        raw_calls.begin(63, "late", "t").unwrap();
        assert!(matches!(raw_calls.begin(64, "", "t"), Err(Broken::Malformed(why)) if why.contains("64")));
    }

    #[test]
    fn ids_and_names_without_end_are_cut() {
        let mut raw_calls = PartialCalls::default();
        raw_calls.begin(0, &"ä".repeat(1000), &"n".repeat(1000)).unwrap();
        let raw_call = raw_calls.finish().remove(0);
        assert_eq!((raw_call.id.chars().count(), raw_call.name.len()), (256, 128));
    }

    #[test]
    fn arguments_that_no_server_would_read_again_are_left_out() {
        assert_eq!(object(r#"{"b": 1, "a": [2]}"#), r#"{"b": 1, "a": [2]}"#, "as it was written");
        for odd in ["", "[1]", "\"x\"", "{\"a\":", r#"{"a":"\ud800"}"#, &"{\"a\":".repeat(5000)] {
            assert_eq!(object(odd), "{}", "{odd:.40}");
        }
    }

    #[test]
    fn a_made_up_name_can_be_sent_back() {
        assert_eq!(plain("run_command", 64), "run_command");
        assert_eq!(plain("functions.run command", 64), "functions_run_command");
        assert_eq!(plain("", 64), "unnamed");
        assert_eq!(plain(&"x".repeat(99), 64).len(), 64);
    }
}
