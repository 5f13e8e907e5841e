//! The plugin that this repository offers to Claude Code and Codex: its files are read as those programs read them, and
//! the commands they name are run.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::hook::desk::{Desk, REJECT};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn read(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The plugin's folder by each catalogue, with the manifest and the hooks of the program that reads it.
fn offered() -> Vec<(PathBuf, Value, PathBuf)> {
    let claude = read(&repository().join(".claude-plugin/marketplace.json"));
    let codex = read(&repository().join(".agents/plugins/marketplace.json"));
    let claude = repository().join(claude["plugins"][0]["source"].as_str().unwrap());
    let codex = repository().join(codex["plugins"][0]["source"]["path"].as_str().unwrap());
    let of_claude = read(&claude.join(".claude-plugin/plugin.json"));
    let of_codex = read(&codex.join(".codex-plugin/plugin.json"));
    let hooks = codex.join(of_codex["hooks"].as_str().unwrap());
    // Where Claude Code looks by itself.
    vec![(claude.clone(), of_claude, claude.join("hooks/hooks.json")), (codex, of_codex, hooks)]
}

#[test]
fn the_hooks_of_the_plugin_judge() {
    for (folder, manifest, hooks) in offered() {
        assert_eq!(manifest["name"], "gadfly", "{}", folder.display());
        assert_eq!(manifest["version"], env!("CARGO_PKG_VERSION"), "{}", folder.display());
        let hooks = read(&hooks);
        let command = hooks["hooks"]["Stop"][0]["hooks"][0]["command"].as_str().unwrap();
        let desk = Desk::new(&[REJECT]);
        desk.write("a.rs", "fn a() { 1; }\n");
        let bin = Path::new(env!("CARGO_BIN_EXE_gadfly")).parent().unwrap();
        let mut shell = desk.command("sh", &["-c", command]);
        shell.env("PATH", format!("{}:/usr/bin:/bin", bin.display()));
        let mut child = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let told = json!({ "session_id": "s-1", "hook_event_name": "Stop", "stop_hook_active": false });
        child.stdin.take().unwrap().write_all(told.to_string().as_bytes()).unwrap();
        let said: Value = serde_json::from_slice(&child.wait_with_output().unwrap().stdout).unwrap();
        assert!(said["decision"] == "block", "{command}: {said}");
    }
}

#[test]
fn the_skill_names_itself_and_commands_that_exist() {
    for (folder, ..) in offered() {
        let skill = std::fs::read_to_string(folder.join("skills/gadfly/SKILL.md")).unwrap();
        let front = skill.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n")).unwrap().0;
        assert!(front.contains("name: gadfly\n"), "the folder's name: {front}");
        let about = front.lines().find_map(|line| line.strip_prefix("description: ")).unwrap();
        assert!(about.len() <= 1024 && about.contains("Gadfly judged this turn"), "{about}");
        let commands: Vec<&str> = skill.lines().filter_map(|line| line.strip_prefix("gadfly ")).collect();
        assert!(commands.len() >= 4, "{skill}");
        for command in commands {
            let name = command.split(' ').next().unwrap();
            let desk = Desk::new(&[]);
            let help = desk.command(env!("CARGO_BIN_EXE_gadfly"), &[name, "--help"]).output().unwrap();
            let help = String::from_utf8(help.stdout).unwrap();
            for flag in command.split(' ').filter(|word| word.starts_with("--")) {
                assert!(help.contains(flag), "`gadfly {name}` has no {flag}");
            }
        }
    }
}
