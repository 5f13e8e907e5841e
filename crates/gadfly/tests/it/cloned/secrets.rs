//! A key where none belongs: whatever is said about it, it is not said again.

use serde_json::json;

use crate::cloned::desk::{Desk, Said};
use crate::cloned::server::Server;

const KEY: &str = "sk-proj-abcDEF0123456789ghiJKL";
/// A key without a form of its own.
const PLAIN: &str = "hunter2hunter2";

fn desk(config: &str) -> Desk {
    let desk = Desk::folder(&[("gadfly.toml", config)]);
    desk.saying("w", &["A draft."]);
    desk.saying("c", &["[STATUS: APPROVED]"]);
    desk
}

fn silent(what: &str, said: &Said) {
    for secret in [KEY, PLAIN] {
        assert!(!said.err.contains(secret) && !said.out.contains(secret), "{what}: {said:?}");
    }
}

const RUN: [&str; 9] = ["run", "Write.", "--worker", "a", "--critic", "c", "--criterion", "x", "--yes"];

#[test]
fn a_key_in_the_wrong_place_of_the_configuration_is_never_printed() {
    let agent = "[agents.a]\nkind = \"openai\"\n";
    let local = "base_url = \"http://127.0.0.1:1/v1\"\n";
    let configs = [
        format!("{agent}{local}model = \"m\"\nkey_env = \"{KEY}\"\n"),
        format!("{agent}{local}model = \"m\"\nkey_env = \"not a name {PLAIN}\"\n"),
        format!("{agent}{local}model = \"m\"\nkey_env = \"ghp_0123456789abcdefghij\"\n# {KEY}\n"),
        format!("{agent}{local}model = \"{KEY}\"\n"),
        format!("{agent}model = \"m\"\nbase_url = \"https://me:{PLAIN}@a.example/v1\"\n"),
        format!("{agent}model = \"m\"\nbase_url = \"https://a.example/v1?key={PLAIN}\"\n"),
        format!("{agent}model = \"m\"\nbase_url = \"{KEY}\"\n"),
        format!("{agent}model = \"m\"\nbase_url = \"{PLAIN}\"\n"),
        format!("{agent}{local}model = \"m\"\napi_key = \"{PLAIN}\"\n"),
        format!("{agent}{local}model = \"m\"\nkey = {PLAIN}\n"),
        format!("[agents.a]\nkind = \"command\"\ncommand = [\"cat\"]\nenv = [\"TOKEN={PLAIN}\"]\n"),
        format!("[agents.a]\nkind = \"command\"\ncommand = [\"cat\"]\nenv = [\"{KEY}\"]\n"),
        format!("[agents.a]\nkind = \"command\"\ncommand = [\"x\", \"--key\", \"{KEY}\"]\n"),
        format!("[agents.a]\nkind = \"command\"\ncommand = [\"x\", \"http://u:{PLAIN}@h/?t={PLAIN}\"]\n"),
        format!("[defaults]\nworker = \"{KEY}\"\n"),
        format!("[telemetry]\nendpoint = \"https://x:{PLAIN}@t.example\"\n"),
    ];
    for config in configs {
        let desk = desk(&config);
        for args in
            [&["check"][..], &["check", "--json"], &["doctor"], &["doctor", "--json"], &RUN, &["runs"]]
        {
            silent(&format!("{args:?} of {config}"), &desk.gadfly(args));
        }
        let server = Server::start(&desk);
        let form = json!({ "task": "Write.", "worker": "a", "critic": "c", "criteria": ["x"] });
        for answer in [server.get("/api/start"), server.post("/api/start/loop", &form)] {
            assert!(!answer.body.contains(KEY) && !answer.body.contains(PLAIN), "{config}: {answer:?}");
        }
    }
}

#[test]
fn what_is_wrong_is_still_said() {
    let desk = desk(&format!("[agents.a]\nkind = \"openai\"\nmodel = \"m\"\nkey_env = \"{KEY}\"\n"));
    let said = desk.gadfly(&["check"]);
    assert_eq!(said.code, 2);
    assert!(said.err.contains("must be the name of a variable"), "{}", said.err);
    assert!(said.err.contains("gadfly.toml:4:11") && said.err.contains("key_env = \"*****"), "{}", said.err);
}

#[test]
fn a_key_on_the_command_line_is_not_repeated() {
    let desk = desk("");
    for args in [
        &[KEY][..],
        &["run", "x", "--worker", KEY, "--critic", "c", "--criterion", "x"],
        &["run", "x", "--worker", "w", "--critic", KEY, "--criterion", "x"],
        &["show", KEY],
        &["run", "x", "--protocol", KEY],
        &["run", "x", "--rubric", KEY, "--worker", "w", "--critic", "c"],
        &["goal", "x", "--until", "true", "--worker", KEY],
        &[&format!("--{KEY}")],
    ] {
        let said = desk.gadfly(args);
        assert_ne!(said.code, 0, "{args:?}");
        silent(&format!("{args:?}"), &said);
    }
}

#[test]
fn an_address_that_a_goal_asks_is_shown_without_its_secret() {
    let goal = format!(
        "[goals.up]\ngoal = \"x\"\nworker = \"w\"\nuntil = {{ http = \"http://u:{PLAIN}@127.0.0.1:1/?token={PLAIN}\" }}\n"
    );
    let desk = desk(&goal);
    silent("without a word", &desk.gadfly(&["goal", "up", "--yes"]));
    silent("dry", &desk.gadfly(&["goal", "up", "--yes", "--trust", "--dry-run"]));
}
