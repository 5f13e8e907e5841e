//! A protocol that only an example knows: a second binary on the same entry function has it on its command line, in
//! `gadfly.toml`, on the page and through MCP, and nothing else was told of it.
#![allow(clippy::unwrap_used, clippy::panic)] // tests may fail loudly
#![cfg(target_os = "linux")]

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::kit::desk::{Desk, Said, wait_for};
use crate::kit::server::Server;
use crate::mcp::lines::Lines;

const APPROVED: &str = "[STATUS: APPROVED]\nIt names a frog, as the rubric asks.";
const REJECTED: &str = "[STATUS: REJECTED]\n- name the frog";

/// The example's binary. `cargo test --workspace` builds it with the tests.
fn binary() -> PathBuf {
    let built = Path::new(env!("CARGO_BIN_EXE_gadfly")).with_file_name("examples").join("own-protocol");
    assert!(built.is_file(), "{} is missing: run `cargo test --workspace`", built.display());
    built
}

/// A project with a writer and a critic whose replies are given, in the order of its calls.
fn project(verdicts: &[&str]) -> Desk {
    let desk = Desk::folder(&[]).agreeing();
    desk.saying("writer", &["A pond.", "A frog in a pond."]);
    desk.saying("critic", verdicts);
    desk.configure("");
    desk
}

fn command(desk: &Desk, args: &[&str]) -> Command {
    let like = desk.command(args);
    let mut command = Command::new(binary());
    command.args(args).current_dir(like.get_current_dir().unwrap()).env_clear();
    command.envs(like.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command
}

fn said(desk: &Desk, args: &[&str]) -> Said {
    let done = command(desk, args).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Said { code: done.status.code().unwrap(), out: text(&done.stdout), err: text(&done.stderr) }
}

const LOOP: [&str; 10] = [
    "run",
    "Write a line.",
    "--worker",
    "writer",
    "--critic",
    "critic",
    "--protocol",
    "vote",
    "--criterion",
    "names a frog",
];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    LOOP.iter().chain(more).copied().collect()
}

#[test]
fn the_majority_of_the_voices_decides() {
    let desk = project(&[REJECTED, REJECTED, APPROVED, APPROVED, REJECTED, APPROVED]);
    let run = said(&desk, &with(&[]));
    assert_eq!(run.code, 0, "{}", run.err);
    assert_eq!(run.out.trim(), "A frog in a pond.");
    assert_eq!(desk.calls(), 8, "two drafts, three voices on each");
    let shown = said(&desk, &["show", &desk.run_id()]);
    assert!(shown.out.contains("vote") && shown.out.contains("name the frog"), "{}", shown.out);
}

#[test]
fn its_option_is_a_flag_a_key_and_a_bound() {
    let desk = project(&[APPROVED]);
    let help = said(&desk, &["run", "--help"]);
    let (_, own) = help.out.split_once("Protocol vote:").unwrap_or_else(|| panic!("{}", help.out));
    assert!(own.contains("--voices <N>") && own.contains("(default: 3)"), "{own}");
    let one = said(&desk, &with(&["--voices", "1"]));
    assert_eq!(one.code, 0, "{}", one.err);
    assert_eq!(desk.calls(), 2, "one draft, one voice");
    let many = said(&desk, &with(&["--voices", "12"]));
    assert_eq!(many.code, 2, "{}", many.err);
    assert!(many.err.contains("--voices must be a whole number from 1 to 9"), "{}", many.err);
    let other = said(&desk, &["run", "Write.", "--voices", "3", "--criterion", "x"]);
    assert!(other.err.contains("belongs to protocol `vote`"), "{}", other.err);
    desk.configure("[loops.line]\nprotocol = \"vote\"\nvoices = 0\ntask = \"Write.\"\nworker = \"writer\"\ncritic = \"critic\"\n");
    let checked = said(&desk, &["check"]);
    assert_eq!(checked.code, 2, "{}", checked.err);
    assert!(format!("{}{}", checked.out, checked.err).contains("1 to 9"), "{checked:?}");
}

#[test]
fn the_shipped_binary_does_not_know_it() {
    let desk = project(&[APPROVED]);
    assert_eq!(said(&desk, &with(&["--voices", "1"])).code, 0);
    let plain = desk.gadfly(&LOOP);
    assert_eq!(plain.code, 2);
    assert!(plain.err.contains("unknown protocol `vote`"), "{}", plain.err);
    let shown = desk.gadfly(&["show", &desk.run_id()]);
    assert!(shown.out.contains("vote"), "what happened is shown by the record: {shown:?}");
}

#[test]
fn the_page_offers_it_and_starts_it() {
    let desk = project(&[APPROVED, APPROVED, REJECTED]);
    let server = Server::of(command(&desk, &["serve", "--port", "0"]));
    let choices = server.get("/api/start").json();
    let names =
        |list: &Value| list.as_array().unwrap().iter().map(|one| one["name"].clone()).collect::<Vec<_>>();
    assert!(names(&choices["protocols"]).contains(&json!("vote")), "{choices}");
    assert!(names(&choices["fields"]["loop"]).contains(&json!("voices")), "{choices}");
    let form = json!({ "task": "Write a line.", "protocol": "vote", "voices": "3", "worker": "writer", "critic": "critic",
        "criteria": ["names a frog"] });
    let run = server.start_agreeing("/api/start/loop", form);
    assert_eq!(desk.run_id(), run);
    wait_for("two of three approve", || desk.state() == "approved");
    let record = desk.gadfly(&["show", &run, "--json"]).out;
    assert!(record.contains("voice 3 of 3"), "{record}");
}

#[test]
fn a_model_is_offered_it_through_mcp() {
    let desk = project(&[APPROVED]);
    let mut lines = Lines::of(command(&desk, &["mcp"]));
    lines.greet(&json!({}));
    let tools = lines.ask("tools/list", &json!({}))["result"]["tools"].to_string();
    assert!(tools.contains("\"voices\"") && tools.contains("the majority decides"), "{tools}");
    assert!(tools.contains("\"vote\""), "{tools}");
}
