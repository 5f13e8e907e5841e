//! Kinds of agents that are programs, each as a shell script that does what the test says.
//!
//! To add a kind: a row, with how a script of that kind answers.

use serde_json::json;

use crate::desk::Desk;

pub struct Kind {
    pub name: &'static str,
    /// Makes the agent `name` that runs these lines in its folder and then says this.
    pub agent: fn(desk: &Desk, name: &str, does: &str, says: &str, settings: &str),
}

pub const KINDS: [Kind; 1] = [Kind { name: "command", agent: command }];

fn command(desk: &Desk, name: &str, does: &str, says: &str, settings: &str) {
    desk.program(name, &format!("cat >/dev/null\n{does}\ncat <<'END'\n{says}\nEND"));
    desk.configure(settings);
}

/// What held the calls of the newest run, as `gadfly show --json` has it.
pub fn powers(desk: &Desk) -> Vec<serde_json::Value> {
    let said = desk.gadfly(&["show", &desk.run_id(), "--json"]);
    let shown: serde_json::Value =
        serde_json::from_str(&said.out).unwrap_or_else(|e| panic!("{e}: {said:?}"));
    shown["powers"].as_array().cloned().unwrap_or_default()
}

/// The layers that held all calls in a role, and how.
pub fn layers(desk: &Desk, role: &str) -> Vec<String> {
    let calls = powers(desk);
    let call = calls.iter().find(|call| call["role"] == json!(role));
    let call = call.unwrap_or_else(|| panic!("no call of a {role} is shown: {calls:?}"));
    let guards = call["guards"].as_array().unwrap();
    guards.iter().map(|guard| guard["layer"].as_str().unwrap().to_owned()).collect()
}
