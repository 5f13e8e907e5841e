//! What is allowed, denied and asked, and in which words.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::*;
use crate::digest::Digest;

fn run(line: &str) -> ToolAction {
    ToolAction::RunCommand { line: line.to_owned(), timeout_ms: 1 }
}

fn write(path: &str) -> ToolAction {
    ToolAction::WriteFile { path: path.to_owned(), content: Digest::of(b"") }
}

fn mcp(server: &str) -> ToolAction {
    ToolAction::Mcp { server: server.to_owned(), tool: "t".to_owned(), args: Digest::of(b"") }
}

fn ruled<'a>(name: &'a str, action: &'a ToolAction) -> Ruled<'a> {
    Ruled { name, action, outside: None, held: false, root: "/p/goal", servers: &[] }
}

fn asked(ruling: Ruling) -> String {
    match ruling {
        Ruling::Ask(why, _) => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_deny_list_comes_first_and_nobody_is_asked() {
    let policy = Policy {
        risk: Risk::ReadOnly,
        deny: vec!["run_command".to_owned(), "git__*".to_owned()],
        allow: vec!["run_command".to_owned()],
    };
    assert!(matches!(rule(&policy, &ruled("run_command", &run("ls"))), Ruling::Deny(_)));
    assert!(matches!(rule(&policy, &ruled("git__push", &mcp("git"))), Ruling::Deny(_)));
    assert!(matches!(rule(&policy, &ruled("gitlab__push", &mcp("gitlab"))), Ruling::Ask(..)));
}

#[test]
fn everything_else_that_goes_too_far_is_asked_in_one_sentence() {
    let policy = Policy { risk: Risk::WriteLocal, deny: vec![], allow: vec!["read_file".to_owned()] };
    let action = ToolAction::FetchUrl { url: "https://a/b".to_owned() };
    assert_eq!(
        asked(rule(&policy, &ruled("fetch_url", &action))),
        "`fetch_url` wants to fetch `https://a/b`: the tool is not on the list of those that may be used; and it counts as \
         network_get, and only up to write_local goes without asking."
    );
    let policy = Policy::default();
    let action = write("/p/goal-evil/a");
    let it = Ruled { outside: Some("/p/goal-evil/a"), held: true, ..ruled("write_file", &action) };
    assert_eq!(
        asked(rule(&policy, &it)),
        "`write_file` wants to write `/p/goal-evil/a`: `/p/goal-evil/a` is outside the folder `/p/goal`."
    );
    assert_eq!(
        asked(rule(&policy, &Ruled { root: "", ..it })),
        "`write_file` wants to write `/p/goal-evil/a`: `/p/goal-evil/a` is outside its folder."
    );
    assert_eq!(rule(&policy, &ruled("write_file", &write("a"))), Ruling::Allow);
}

#[test]
fn a_command_is_asked_about_only_where_the_kernel_does_not_hold_it() {
    let policy = Policy::default();
    let action = run("cat /p/other/x");
    let it = ruled("run_command", &action);
    assert!(asked(rule(&policy, &it)).contains("`/p/other/x` is outside"));
    assert_eq!(rule(&policy, &Ruled { held: true, ..it }), Ruling::Allow);
    assert_eq!(rule(&policy, &ruled("run_command", &run("cargo test"))), Ruling::Allow);
}

#[test]
fn what_a_server_does_counts_as_the_user_said() {
    let servers = [ToolServer { name: "docs".to_owned(), risk: Risk::ReadOnly }];
    assert_eq!(risk(&mcp("docs"), &servers), Risk::ReadOnly);
    assert_eq!(risk(&mcp("other"), &servers), Risk::NetworkWrite);
    let policy = Policy { risk: Risk::ReadOnly, ..Policy::default() };
    let action = mcp("docs");
    assert_eq!(rule(&policy, &Ruled { servers: &servers, ..ruled("docs__t", &action) }), Ruling::Allow);
    assert!(matches!(rule(&policy, &ruled("write_file", &write("a"))), Ruling::Ask(..)));
}

#[test]
fn a_models_words_stay_in_their_quotes() {
    let policy = Policy { risk: Risk::ReadOnly, ..Policy::default() };
    let action = run("echo `x`\n\u{1b}[2K: it is harmless. Say yes");
    let said = asked(rule(&policy, &ruled("run_command", &action)));
    assert!(
        said.starts_with("`run_command` wants to run `echo 'x' ⏎ [2K: it is harmless. Say yes`: it counts"),
        "{said}"
    );
    let action = run(&"x".repeat(10_000));
    assert!(asked(rule(&policy, &ruled("run_command", &action))).len() < 400);
}

#[test]
fn a_policy_is_one_line() {
    let policy = Policy { deny: vec!["fetch_url".to_owned(), "git__*".to_owned()], ..Policy::default() };
    assert_eq!(describe(&policy, "/p/goal"), "risk=write_local; folder=/p/goal; denied: fetch_url, git__*");
    assert_eq!(describe(&Policy::default(), ""), "risk=write_local");
}
