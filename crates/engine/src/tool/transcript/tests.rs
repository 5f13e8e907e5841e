//! However long, wild or broken off a conversation is, what a model gets is whole and bounded.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use proptest::prelude::*;

use super::*;
use crate::text::Text;

/// A conversation with the texts it names.
struct Talk {
    texts: Texts,
    it: Transcript,
}

impl Talk {
    fn new() -> Self {
        let mut talk = Self { texts: Texts::default(), it: Transcript::default() };
        talk.keep(NOT_DONE);
        talk
    }

    fn keep(&mut self, body: &str) -> Digest {
        let text = Text::new(body);
        self.texts.insert(&text);
        text.digest()
    }

    fn said(&mut self, text: &str, calls: &[(&str, &str, &str)]) {
        let text = self.keep(text);
        let calls = calls.iter().map(|(id, name, args)| ToolCall {
            id: (*id).to_owned(),
            name: (*name).to_owned(),
            args: self.keep(args),
        });
        let calls = calls.collect();
        self.it.said(text, calls);
    }

    fn result(&mut self, id: &str, text: &str) {
        let line = format!("did {text}");
        let text = self.keep(text);
        self.it.result(ToolResult { call: id.to_owned(), text, ok: true }, line);
    }

    fn told(&mut self, text: &str) {
        let text = self.keep(text);
        self.it.told(text);
    }

    fn messages(&self, room: usize) -> Vec<Message> {
        self.it.messages(&self.texts, vec![Part::Text("THE GOAL".to_owned())], room)
    }

    /// The conversation in short: who says what, calls and results with their names.
    fn shown(&self, room: usize) -> Vec<String> {
        let part = |part: &Part| match part {
            Part::Call(call) => format!("<{} {}>", call.name, call.id),
            Part::Result(result) => format!("<{}: {}>", result.call, self.texts.get(&result.text)),
            Part::Text(text) => text.trim().to_owned(),
            Part::Blob(text) => self.texts.get(text).to_owned(),
            other => panic!("{other:?}"),
        };
        let messages = self.messages(room);
        messages.iter().map(|m| m.parts.iter().map(part).collect::<Vec<_>>().join("|")).collect()
    }
}

fn size(messages: &[Message], texts: &Texts) -> usize {
    messages.iter().flat_map(|m| &m.parts).map(|p| p.size(texts)).sum()
}

fn ids(message: &Message) -> Vec<&str> {
    message
        .parts
        .iter()
        .filter_map(|part| match part {
            Part::Call(call) => Some(call.id.as_str()),
            Part::Result(result) => Some(result.call.as_str()),
            _ => None,
        })
        .collect()
}

/// What a provider would refuse, or a model could not read.
fn check(talk: &Talk, room: usize) {
    let messages = talk.messages(room);
    assert_eq!(messages[0].parts[0], Part::Text("THE GOAL".to_owned()));
    assert_eq!(messages.last().unwrap().from, Speaker::User);
    let mut seen = std::collections::BTreeSet::new();
    for (n, message) in messages.iter().enumerate() {
        let from = if n % 2 == 0 { Speaker::User } else { Speaker::Assistant };
        assert_eq!(message.from, from);
        assert!(message.parts.iter().any(|part| part.size(&talk.texts) > 0));
        if from == Speaker::Assistant {
            assert_eq!(ids(message), ids(&messages[n + 1]), "one result for each call, and no other");
            for id in ids(message) {
                assert!(seen.insert(id.to_owned()), "{id} names two calls");
                assert!(!id.is_empty() && id.len() <= NAME);
            }
            assert!(ids(message).len() <= CALLS);
        } else {
            let first_word = message.parts.iter().position(|p| !matches!(p, Part::Result(_)));
            let results = ids(message).len();
            assert!(first_word.is_none_or(|at| at >= results), "results come before words");
        }
    }
    assert!(ids(&messages[0]).is_empty());
    let newest = messages.len().saturating_sub(2);
    let newest = if newest == 0 { usize::MAX } else { size(&messages[newest..], &talk.texts) };
    let most = "THE GOAL".len() + LINES_ROOM + room.max(newest.min(1 << 40));
    assert!(size(&messages, &talk.texts) <= most);
    let in_words = in_words(messages);
    assert!(in_words.iter().all(|message| ids(message).is_empty()));
}

#[derive(Clone, Debug)]
enum Op {
    Said(String, Vec<(String, String, String)>),
    /// The result of the n-th call of the last turn, under the model's name for it.
    Result(usize, String),
    /// A result nobody asked for.
    Stray(String),
    Told(String),
}

fn op() -> impl Strategy<Value = Op> {
    let id = prop_oneof!["[ab]", Just(String::new()), "call_[12]", ".{0,80}"];
    let name = prop_oneof!["(read|write)_file", Just(String::new()), ".{0,70}"];
    let call = (id.clone(), name, ".{0,40}");
    prop_oneof![
        3 => ("[ a-z\n]{0,30}", prop::collection::vec(call, 0..20)).prop_map(|(t, c)| Op::Said(t, c)),
        4 => (0..18_usize, ".{0,200}").prop_map(|(n, text)| Op::Result(n, text)),
        1 => id.prop_map(Op::Stray),
        2 => ".{1,60}".prop_map(Op::Told),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_conversation_is_whole_and_bounded(ops in prop::collection::vec(op(), 0..40), room in 0..4000_usize) {
        let mut talk = Talk::new();
        let mut names: Vec<String> = Vec::new();
        check(&talk, room);
        for op in ops {
            match op {
                Op::Said(text, calls) => {
                    names = calls.iter().map(|(id, _, _)| id.clone()).collect();
                    let calls: Vec<_> =
                        calls.iter().map(|(id, name, args)| (id.as_str(), name.as_str(), args.as_str())).collect();
                    talk.said(&text, &calls);
                }
                Op::Result(n, text) => {
                    if let Some(name) = names.get(n).cloned() {
                        talk.result(&name, &text);
                    }
                }
                Op::Stray(id) => talk.result(&id, "nobody asked"),
                Op::Told(text) => talk.told(&text),
            }
            check(&talk, room);
        }
    }
}

#[test]
fn a_conversation_reads_as_it_was_held() {
    let mut talk = Talk::new();
    talk.told("begin with the tests");
    talk.said("I look.", &[("x", "read_file", "{}"), ("y", "run_command", "{}")]);
    assert_eq!(talk.it.awaited().unwrap().id, "x");
    talk.result("y", "green");
    talk.result("x", "fn main");
    assert!(talk.it.awaited().is_none());
    talk.said("", &[]);
    talk.told("use a tool");
    talk.said("", &[("z", "write_file", "{}")]);
    assert_eq!(
        talk.shown(10_000),
        [
            "THE GOAL||begin with the tests",
            "I look.|<read_file x>|<run_command y>",
            "<x: fn main>|<y: green>",
            "(nothing said)",
            "use a tool",
            "<write_file z>",
            "<z: not done: it was not carried out>",
        ]
    );
}

#[test]
fn what_is_left_out_is_told_in_lines_and_the_goal_never_is() {
    let mut talk = Talk::new();
    for n in 0..100 {
        talk.said(&format!("turn {n}"), &[("x", "run_command", "{}")]);
        talk.result("x", &format!("output {n} {}", "x".repeat(500)));
    }
    talk.told("a person: not like that");
    let shown = talk.shown(2400);
    assert_eq!(shown.len(), 1 + 2 * 3, "three exchanges fit");
    assert!(shown[0].starts_with("THE GOAL|[97 earlier turns are left out"), "{}", shown[0]);
    assert!(shown[0].contains("- did output 96 xxx") && !shown[0].contains("did output 97"));
    assert!(shown[0].contains("did output 37 ") && !shown[0].contains("did output 36 "), "the newest 60");
    assert!(shown[1].starts_with("turn 97") && shown[6].ends_with("|a person: not like that"));
    talk.said("turn 100", &[("x", "run_command", "{}")]);
    talk.result("x", &"y".repeat(5000));
    let shown = talk.shown(2000);
    assert_eq!(shown.len(), 3, "the newest is there even if it alone is too long");
    assert!(shown[0].contains("- you were told: a person: not like that"), "{}", shown[0]);
}

#[test]
fn too_many_calls_at_once_are_refused_and_counted() {
    let mut talk = Talk::new();
    let calls = vec![("x", "run_command", "{}"); 1000];
    talk.said("", &calls);
    let mut done = 0;
    while let Some(call) = talk.it.awaited().cloned() {
        talk.result(&call.id, "ok");
        done += 1;
    }
    assert_eq!(done, CALLS);
    check(&talk, 100_000);
    assert!(
        talk.shown(100_000)[2].ends_with("|Of your last calls 984 were not done: at most 16 in one turn.")
    );
}

#[test]
fn names_that_a_provider_would_refuse_are_replaced_on_both_sides() {
    let mut talk = Talk::new();
    talk.said("", &[("", "read file", "{}"), ("x", "a", "{}"), ("x", "b", "{}")]);
    talk.result("x", "first");
    talk.result("x", "second");
    talk.result("", "third");
    assert_eq!(
        talk.shown(10_000)[1..],
        ["<read_file call_1>|<a x>|<b call_2>", "<call_1: third>|<x: first>|<call_2: second>"]
    );
}

#[test]
fn memory_does_not_grow_with_the_conversation() {
    let mut talk = Talk::new();
    for n in 0..3 * EXCHANGES {
        talk.said("go", &[("x", "run_command", "{}")]);
        talk.result("x", &format!("output {n}"));
    }
    for n in 0..100 {
        talk.told(&format!("word {n}"));
    }
    assert_eq!(talk.it.exchanges.len(), EXCHANGES);
    assert!(talk.it.lines.len() <= LINES);
    let newest = talk.it.exchanges.back().unwrap();
    assert_eq!((newest.told.len(), newest.lines.len()), (TOLD, TOLD + 1));
    check(&talk, 10_000);
    let shown = talk.shown(10_000);
    assert!(shown[0].contains(&format!("[{} earlier turns", 3 * EXCHANGES - (shown.len() - 1) / 2)));
    assert!(shown.last().unwrap().contains("[84 earlier remarks are left out.]"), "{:?}", shown.last());
}

#[test]
fn the_room_follows_the_window() {
    assert_eq!(room(None, 10_000), ROOM);
    assert_eq!(room(Some((1_000_000, 8000)), 10_000), ROOM);
    assert_eq!(room(Some((32_000, 8000)), 10_000), 48_000 - 10_000 - LINES_ROOM);
    assert_eq!(room(Some((8000, 100_000)), 10_000), 0);
}

/// A provider keeps a beginning only if it is the same to the byte: nearly every turn begins with all of the one before.
#[test]
fn turns_begin_with_the_turn_before_and_what_is_left_out_grows_rarely() {
    let mut talk = Talk::new();
    let (room, mut breaks) = (16_000, 0);
    let mut before = talk.messages(room);
    for turn in 0..600 {
        let id = format!("c{turn}");
        talk.said("I look.", &[(&id, "look", "{}")]);
        talk.result(&id, &"x".repeat(150));
        let now = talk.messages(room);
        breaks += u32::from(!now.starts_with(&before));
        assert!(size(&now, &talk.texts) <= room + LINES_ROOM, "turn {turn}");
        before = now;
    }
    // About 250 bytes a turn and 4,000 at a time: every 16th turn, and once when exchanges are forgotten.
    assert!((10..=60).contains(&breaks), "{breaks} of 600 turns began anew");
}
