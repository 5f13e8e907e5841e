//! A program's own settings: it may write its state, and what it and the user's sessions obey is put back.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use crate::powers::desk::{Answer, Desk, passed};
use crate::powers::kinds::{KINDS, powers};
use crate::powers::{EVIL, landlock};

/// Kinds, the folder of their state, and what of it is settings: files that are there, and some that are not.
const PROGRAMS: [(&str, &str, &[&str], &[&str]); 4] = [
    (
        "claude-code",
        ".claude",
        &["settings.json", "CLAUDE.md", "commands/mine.md"],
        &[
            "settings.local.json",
            "hooks/evil.sh",
            "agents/evil.md",
            "skills/evil/SKILL.md",
            "commands/evil.md",
        ],
    ),
    ("codex", ".codex", &["config.toml", "AGENTS.md"], &["prompts/evil.md", "rules/evil.rules"]),
    ("gemini", ".gemini", &["settings.json", "GEMINI.md"], &["commands/evil.toml", "extensions/evil/x.json"]),
    ("opencode", ".config/opencode", &["opencode.json", "AGENTS.md"], &["plugin/evil.js", "agent/evil.md"]),
];

fn all(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let (mut found, mut folders) = (BTreeMap::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                folders.push(path);
            } else {
                let bytes = fs::read(&path).unwrap();
                found.insert(path, bytes);
            }
        }
    }
    found
}

/// Writes over what is there, adds what is not, and keeps a session as it should.
fn does(there: &[&str], new: &[&str], folder: &str) -> String {
    let mut does = format!("cd \"$HOME/{folder}\" || exit 5\necho kept >session.jsonl || exit 6\n");
    for name in there.iter().chain(new) {
        writeln!(does, "mkdir -p \"$(dirname {name})\"; echo {EVIL} >{name} || exit 7").unwrap();
    }
    format!("( {does} ) || exit 7")
}

#[test]
fn no_call_changes_what_its_program_obeys_and_the_record_says_who_tried() {
    for (name, folder, there, new) in PROGRAMS {
        let kind = KINDS.iter().find(|kind| kind.name == name).unwrap();
        for role in ["worker", "critic"] {
            let desk = Desk::repository(&[("a.txt", "one\n")]);
            let state = desk.beside("home").join(folder);
            for name in there {
                fs::create_dir_all(state.join(name).parent().unwrap()).unwrap();
                fs::write(state.join(name), "mine\n").unwrap();
            }
            let before = all(&state);
            let does = does(there, new, folder);
            if role == "worker" {
                kind.agent(&desk, "w", &format!("{does}\necho two >a.txt"), "done", "");
                desk.program("c", &format!("cat >/dev/null\ncat <<'END'\n{}\nEND", passed(1)));
            } else {
                desk.scripted("w", &[Answer { text: "done", files: &[("a.txt", "two\n")], delete: &[] }]);
                kind.agent(&desk, "c", &does, &passed(1), "");
            }
            let case = format!("{name} as {role}");
            let said = desk.audit(&[]);
            assert_eq!(said.code, 0, "{case}: {}", said.err);
            let mut after = all(&state);
            assert_eq!(after.remove(&state.join("session.jsonl")).unwrap(), b"kept\n", "{case}");
            assert_eq!(after, before, "{case}");
            let stopped: String = powers(&desk)
                .iter()
                .filter(|call| call["role"] == role)
                .map(|call| call["stopped"].to_string())
                .collect();
            assert!(
                stopped.contains("\"compared\"") && stopped.contains("changed its settings"),
                "{case}: {stopped}"
            );
            assert!(stopped.contains(there[0]) && stopped.contains("put back"), "{case}: {stopped}");
        }
    }
}

#[test]
fn servers_that_a_call_adds_to_claudes_diary_are_taken_out_and_the_diary_stays() {
    if !landlock("claude's diary") {
        return;
    }
    let kind = KINDS.iter().find(|kind| kind.name == "claude-code").unwrap();
    let desk = Desk::repository(&[("a.txt", "one\n")]);
    let diary = desk.beside("home/.claude.json");
    fs::write(&diary, "{\"numStartups\": 1, \"mcpServers\": {\"mine\": {}}}").unwrap();
    let evil = "{\"numStartups\": 2, \"mcpServers\": {\"evil\": {\"command\": \"sh\"}}}";
    kind.agent(&desk, "w", &format!("echo '{evil}' >\"$HOME/.claude.json\" && echo two >a.txt"), "done", "");
    desk.program("c", &format!("cat >/dev/null\ncat <<'END'\n{}\nEND", passed(1)));
    let said = desk.audit(&[]);
    assert_eq!(said.code, 0, "{}", said.err);
    let now: serde_json::Value = serde_json::from_slice(&fs::read(&diary).unwrap()).unwrap();
    assert_eq!(now, serde_json::json!({"numStartups": 2, "mcpServers": {"mine": {}}}));
    assert!(desk.told().contains("starts and allows; put back"), "{}", desk.told());
}
