//! Outputs as programs write them.

#![allow(clippy::unwrap_used)] // a test that cannot go on should say so

use gadfly_engine::{Money, Usage};

use super::{OutputReader, figure};
use crate::spec::OutputForm;

#[allow(clippy::unnecessary_wraps)] // what a form has is an option
fn some(text: &str) -> Option<String> {
    Some(text.to_owned())
}

fn reader(reply: &str, usage: &str) -> OutputReader {
    let form = OutputForm { reply: some(reply), usage: some(usage), ..OutputForm::default() };
    OutputReader::new(&form).unwrap()
}

/// Aider 0.86.2, with a warning of its price list before.
const AIDER: &str = "HTTPSConnectionPool(host='x', port=443): Max retries exceeded\nAider v0.86.2\nModel: openai/m with whole \
    edit format\nGit repo: none\nRepo-map: disabled\n\nThe first line.\n\nTokens: are counted here.\n\nTokens: 1.2k sent, \
    12 received. Cost: $0.0012 message, $0.0012 session.\n";
const AIDER_REPLY: &str = r"(?s)\nRepo-map: [^\n]*\n\s*(?<reply>.*\S)\s*\nTokens: ";
const AIDER_USAGE: &str = r"Tokens: (?<input>[0-9.,]+[kM]?) sent.*?(?<output>[0-9.,]+[kM]?) received(?:\. Cost: \$(?<cost>[0-9.]+) message)?";

#[test]
fn a_banner_and_a_count_do_not_enter_the_reply() {
    let aider = reader(AIDER_REPLY, AIDER_USAGE);
    assert_eq!(aider.read(AIDER.to_owned()).unwrap().text, "The first line.\n\nTokens: are counted here.");
    let used = aider.used_in(AIDER);
    let expected = Usage {
        input: 1250,
        output: 12,
        cost: Some(Money::from_usd(0.0012)),
        estimated: true,
        ..Usage::default()
    };
    assert_eq!(used, expected, "1.2k may have been 1250, and nobody said so");
    assert!(aider.read("Aider v0.86.2\nModel: m\n".to_owned()).is_err(), "a banner alone is no reply");
}

/// pi 0.73 in `--mode json`: two answers in one call.
const PI: &str = r#"{"type":"session","id":"s-1"}
{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"Let me look."}]}}
{"type":"agent_end","messages":[{"role":"user","content":[{"type":"text","text":"Q"}]},{"role":"assistant","content":[{"type":"text","text":"Let me look."}],"usage":{"input":100,"output":5,"cacheRead":7,"cacheWrite":0,"cost":{"input":0.1,"total":0.25}}},{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"The "},{"type":"text","text":"answer."}],"usage":{"input":200,"output":9,"cacheRead":0,"cacheWrite":3,"cost":{"total":0.5}}}]}
"#;

#[test]
fn the_last_of_a_list_is_the_reply_and_all_of_it_was_used() {
    let pi = reader("/messages/-/content", "/messages/*/usage");
    assert_eq!(pi.read(PI.to_owned()).unwrap().text, "The answer.");
    let cost = Some(Money::from_usd(0.75));
    assert_eq!(
        pi.used_in(PI),
        Usage { input: 300, output: 14, cache_read: 7, cache_write: 3, cost, estimated: false }
    );
}

#[test]
fn one_value_over_many_lines_and_one_a_line_are_both_read() {
    let form = OutputForm {
        reply: some("/result"),
        cost: some("/total_cost_usd"),
        session: some("/session_id"),
        ..OutputForm::default()
    };
    let reader = OutputReader::new(&form).unwrap();
    let whole = "{\n  \"result\": \"x\",\n  \"total_cost_usd\": 0.5,\n  \"session_id\": \"s\"\n}\n";
    let lines = "Starting…\n{\"session_id\":\"old\"}\n{\"result\":\"x\",\"total_cost_usd\":0.5,\"session_id\":\"s\"}\n{\"bye\":1}\n";
    for output in [whole, lines] {
        let said = reader.read(output.to_owned()).unwrap();
        assert_eq!((said.text.as_str(), said.session.as_deref()), ("x", Some("s")), "{output}");
        assert_eq!(reader.used_in(output).cost, Some(Money::from_usd(0.5)), "{output}");
    }
    for nothing in ["", "result: x", "{\"result\":null}", "{\"result\":7}", "[\"/result\"]"] {
        assert!(reader.read(nothing.to_owned()).is_err(), "{nothing}");
    }
}

#[test]
fn what_cannot_be_looked_for_is_said_by_the_name_of_its_option() {
    for (form, option) in [
        (OutputForm { reply: some("("), ..OutputForm::default() }, "reply"),
        (OutputForm { reply: some("no group"), ..OutputForm::default() }, "reply"),
        (OutputForm { usage: some("(?<reply>.*)"), ..OutputForm::default() }, "usage_in"),
        (OutputForm { cost: some("(?<cost>.*)"), ..OutputForm::default() }, "cost_in"),
        (OutputForm { session: some("(?<id>.*)"), ..OutputForm::default() }, "session_in"),
        (OutputForm { reply: some("(?<reply>.{1000}{1000})"), ..OutputForm::default() }, "reply"),
    ] {
        assert_eq!(OutputReader::new(&form).unwrap_err().0, option, "{form:?}");
    }
}

#[test]
fn figures_are_read_as_people_are_shown_them_and_rounded_ones_upwards() {
    for (text, expected) in [
        ("812", Some((812, false))),
        ("1,234", Some((1234, false))),
        ("1.2k", Some((1250, true))),
        ("12k", Some((12_500, true))),
        ("3M", Some((3_500_000, true))),
        ("", None),
        ("k", None),
        ("-1", None),
        ("1.2.3k", None),
        ("99999999999999999999", None),
    ] {
        assert_eq!(figure(text), expected, "{text}");
    }
}
