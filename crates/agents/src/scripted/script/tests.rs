//! What a script may say, and what it is told when it says something else.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // tests may fail loudly

use super::*;

fn parse(toml: &str) -> Result<Script, ScriptError> {
    Script::parse(toml, |file| match file {
        "a.md" => Ok("from a file".to_owned()),
        _ => Err(std::io::ErrorKind::NotFound.into()),
    })
}

#[test]
fn replies_are_counted_within_their_role() {
    let script = parse(
        "[[reply]]\nrole = 'critic'\ntext = 'no'\nrepeat = 2\n[[reply]]\nrole = 'worker'\nfile = 'a.md'\n\
         [[reply]]\nrole = 'critic'\ntext = 'yes'\n",
    )
    .unwrap();
    let texts = |role| (0..4).map(|n| script.pick(role, n).map(|r| r.text.as_str())).collect::<Vec<_>>();
    assert_eq!(texts(Role::Critic), [Some("no"), Some("no"), Some("yes"), None]);
    assert_eq!(texts(Role::Worker), [Some("from a file"), None, None, None]);
}

#[test]
fn a_reply_may_write_and_delete_files() {
    let script = parse("[[reply]]\ntext='a'\nfiles = { 'src/a.rs' = 'x' }\ndelete = ['b']").unwrap();
    assert!(script.edits_files());
    let expected = ScriptedReply::text("a").writing("src/a.rs", "x").deleting("b");
    assert_eq!(script.pick(Role::Worker, 0), Some(&expected));
    assert!(!parse("[[reply]]\ntext='a'").unwrap().edits_files());
}

#[test]
fn a_reply_may_ask_for_tools_without_a_word() {
    let script = parse(
        "[[reply]]\ncalls = [{ tool = 'run_command', args = { command = 'cargo test', timeout_s = 60, \
         env = ['a', 1.5, true], at = 1979-05-27 } }, { tool = 'read_file', args = '{\"path\": ', id = 'a' }, \
         { tool = 'list_files' }]\nsession = 's'\nobserve = ['looks']\npace_ms = 7",
    )
    .unwrap();
    let args = r#"{"at":"1979-05-27","command":"cargo test","env":["a",1.5,true],"timeout_s":60}"#;
    let mut expected = ScriptedReply::text("")
        .calling("run_command", args)
        .calling("read_file", "{\"path\": ")
        .calling("list_files", "{}")
        .in_session("s")
        .observed("looks")
        .paced(Duration::from_millis(7));
    for (call, id) in expected.calls.iter_mut().zip(["call_1", "a", "call_2"]) {
        id.clone_into(&mut call.id);
    }
    let mut read = script.pick(Role::Worker, 0).unwrap().clone();
    // A map may be sorted or keep its order, by what else is built.
    let same = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
    assert_eq!(same(&read.calls[0].args), same(args));
    args.clone_into(&mut read.calls[0].args);
    assert_eq!(read, expected);
    assert!(script.calls_tools() && !parse("[[reply]]\ntext='a'").unwrap().calls_tools());
}

#[test]
fn a_reply_may_hold_for_ever() {
    let script = parse("[[reply]]\ntext = 'x'\nrepeat = 'always'").unwrap();
    assert_eq!(script.pick(Role::Worker, u32::MAX).unwrap().text, "x");
}

#[test]
fn mistakes_name_the_reply_and_the_way_out() {
    let said = |toml: &str| parse(toml).unwrap_err().to_string();
    assert_eq!(said("[[reply]]\ntext='a'\n[[reply]]\n"), "reply 2 has no `text`, `file`, `calls` or `fault`");
    assert_eq!(said("[[reply]]\ntext='a'\nfile='b'"), "reply 1 has both `text` and `file`; keep one");
    assert_eq!(said(""), "the script has no [[reply]]");
    assert!(said("[[reply]]\nfault='explode'").contains("explode"));
    assert!(said("[[reply]]\nfile='b.md'").starts_with("reply 1 has a file that cannot be read, `b.md`"));
    assert!(said("[[reply]]\ntxt='a'").contains("txt"));
    let args = said("[[reply]]\ncalls = [{ tool = 't', args = 7 }]");
    assert_eq!(args, "reply 1 has a call of `t` whose `args` is no table and no string");
    let many = said(&format!("[[reply]]\ncalls = [{}]", "{ tool = 't' },".repeat(65)));
    assert_eq!(many, "reply 1 has 65 calls; at most 64 are allowed");
    for path in ["../a", "/etc/a", "a/../b", "a//b", "", "./a"] {
        let files = said(&format!("[[reply]]\ntext='a'\nfiles = {{ '{path}' = 'x' }}"));
        let delete = said(&format!("[[reply]]\ntext='a'\ndelete = ['{path}']"));
        for said in [files, delete] {
            assert!(said.starts_with(&format!("reply 1 has the path `{path}`;")), "{said}");
        }
    }
}
