//! An editor by the protocol's TypeScript SDK: the one that `real-agents --proxy` plays.

use std::io::Write as _;
use std::path::Path;

use serde_json::Value;

use super::editor::stand_in;
use crate::hook::desk::Desk;
use crate::mcp::support::{clients_are_there, node};

/// What it saw of one turn. Skipped, loudly, where the package is not.
pub fn played(desk: &Desk, words: &[&str]) -> Option<Value> {
    let sdk = node().join("node_modules/@agentclientprotocol/sdk/dist/v1/stable/acp.js");
    if !clients_are_there() || !sdk.is_file() {
        // Past the test harness, which keeps to itself what passing tests print.
        let why = "SKIPPED: an editor by the SDK needs node and the packages of tests/node (npm ci)";
        let _ = writeln!(std::io::stderr(), "{why}");
        return None;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testbed/src/editors/editor.mjs");
    let mut editor = desk.command("node", &[]);
    editor.arg(script).arg("turn").arg(desk.path("")).args(["Write it", "--"]).env("ACP_SDK", sdk);
    let done =
        editor.arg(env!("CARGO_BIN_EXE_gadfly")).args(["acp", "--"]).arg(stand_in()).args(words).output();
    let done = done.unwrap();
    let (out, err) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success(), "{out}\n{err}");
    Some(serde_json::from_str(out.lines().last().unwrap()).unwrap())
}
