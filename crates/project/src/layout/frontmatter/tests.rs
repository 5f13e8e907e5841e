//! Every way frontmatter was seen to be written, and that no text at all breaks the reader.

use proptest::prelude::*;

use super::*;

fn messages(found: &Frontmatter) -> Vec<&str> {
    found.guesses.iter().map(|g| g.message.as_str()).collect()
}

#[test]
fn the_plain_form_with_a_comma_string() {
    let text =
        "---\nname: coder\ndescription: Writes code.\ntools: Read, Write,Grep\nmodel: inherit\n---\nBody\n";
    let found = read(text);
    assert_eq!(found.text("name").unwrap(), "coder");
    assert_eq!(found.list("tools").unwrap(), ["Read", "Write", "Grep"]);
    assert_eq!(&text[found.body_start..], "Body\n");
    assert_eq!(found.guesses, []);
    assert_eq!(&text[found.span_of("tools").unwrap()], "tools: Read, Write,Grep");
}

#[test]
fn byte_order_mark_crlf_and_trailing_spaces() {
    let text = "\u{feff}--- \r\nname: a\r\ntools:\r\n  - Read\r\n  - \"Write\"\r\n---\r\nBody\r\n";
    let found = read(text);
    assert_eq!(found.text("name").unwrap(), "a");
    assert_eq!(found.list("tools").unwrap(), ["Read", "Write"]);
    assert_eq!(&text[found.body_start..], "Body\r\n");
    assert_eq!(found.guesses, []);
}

#[test]
fn lists_in_every_form() {
    for tools in [
        "tools: [Read, 'Write', Bash(git add, git commit)]",
        "tools:\n- Read\n- Write\n- Bash(git add, git commit)",
        "tools: Read,Write,Bash(git add, git commit)",
        "tools: [Read,\n  Write, Bash(git add, git commit)]",
        "tools: \"Read, Write, Bash(git add, git commit)\"",
    ] {
        let found = read(&format!("---\n{tools}\n---\n"));
        assert_eq!(found.list("tools").unwrap(), ["Read", "Write", "Bash(git add, git commit)"], "{tools}");
        assert_eq!(found.guesses, [], "{tools}");
    }
    assert_eq!(read("---\ntools:\n---\n").list("tools").unwrap(), [""; 0]);
}

#[test]
fn quotes_folded_and_literal_blocks() {
    let text = "---\nhint: \"[topic] or \\\"all\\\"\" # optional\nother: 'it''s'\ndescription: >-\n  one\n  two\n\n  three\nraw: |\n  a: b\n  c\nlast: x\n---\n";
    let found = read(text);
    assert_eq!(found.text("hint").unwrap(), "[topic] or \"all\"");
    assert_eq!(found.text("other").unwrap(), "it's");
    assert_eq!(found.text("description").unwrap(), "one two\nthree");
    assert_eq!(found.text("raw").unwrap(), "a: b\nc");
    assert_eq!(found.text("last").unwrap(), "x");
    assert_eq!(found.guesses, []);
}

#[test]
fn what_yaml_refuses_is_read_and_said() {
    for value in
        ["[STATUS: APPROVED] or not", "[STATUS: APPROVED]", "runs indefinitely: one by one", "\"a\" b", "@x"]
    {
        let text = format!("---\nname: critic\ndescription: {value}\n---\n");
        let found = read(&text);
        assert_eq!(found.text("description").unwrap(), value);
        assert_eq!(messages(&found).len(), 1, "{value}");
        assert_eq!(crate::place::SourceSpan::new("x".as_ref(), &text, found.guesses[0].span.clone()).line, 3);
    }
    let found = read("---\njust words\nname: a\nname: b\n---\n");
    assert_eq!(found.text("name").unwrap(), "a");
    insta::assert_snapshot!(messages(&found).join("\n"), @r#"
    `just words` is no `key: value` and was passed over
    `name: b` is given a second time; the first counts
    "#);
}

#[test]
fn a_head_that_is_never_closed_is_text() {
    let found = read("---\nname: a\n\nBody");
    assert!(!found.is_present && found.text("name").is_none());
    assert_eq!(found.guesses.len(), 1);
    assert!(!read("Body\n---\nname: a\n---\n").is_present);
}

#[test]
fn nested_tables_are_text_and_comments_nothing() {
    let found = read("---\n# a comment\nmetadata:\n  version: 2\nreads:\n  - a.md # read if exists\n---\n");
    assert_eq!(found.text("metadata").unwrap(), "version: 2");
    assert_eq!(found.list("reads").unwrap(), ["a.md"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn any_text_is_read(
        text in "(\u{feff})?(---)?[ \r]{0,2}\n?([a-z]{0,3}[-:>|'\"\\[\\],# \t\r\nüa]{0,12}){0,12}(---)?\n?.{0,20}"
    ) {
        let found = read(&text);
        prop_assert!(text.is_char_boundary(found.body_start));
        for guess in &found.guesses {
            prop_assert!(text.get(guess.span.clone()).is_some());
        }
        for key in found.keys() {
            prop_assert!(text.get(found.span_of(key).unwrap()).is_some());
        }
    }

    #[test]
    fn a_text_in_quotes_is_itself(value in "[^\\\\\"\r\n]{1,40}") {
        let found = read(&format!("---\nkey: \"{value}\"\n---\n"));
        prop_assert_eq!(found.text("key"), Some(value.clone()).filter(|v| !v.trim().is_empty()));
        prop_assert_eq!(found.guesses, []);
    }
}
