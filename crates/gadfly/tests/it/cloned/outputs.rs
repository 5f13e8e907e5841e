//! Where a result may be written: never into git's own folder, and only with a word where programs obey it.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;

use crate::cloned::desk::Desk;
use crate::cloned::server::Server;

const EVIL: &str = "[core]\n\tfsmonitor = touch pwned\n";

/// A repository whose file names where a loop's result goes, and the user's own agents.
fn cloned(out: &str) -> Desk {
    let desk = Desk::repository(&[("a.txt", "one\n")]);
    desk.saying("w", &[EVIL]);
    desk.saying("c", &["[STATUS: APPROVED]"]);
    desk.write("gadfly.toml", &looped(out));
    desk
}

fn looped(out: &str) -> String {
    format!(
        "[loops.abstract]\ntask = \"Write it.\"\nrubric = [\"short\"]\nworker = \"w\"\ncritic = \"c\"\nout = {}\n",
        json!(out)
    )
}

#[test]
fn nothing_is_written_into_gits_own_folder() {
    let desk = cloned(".git/config");
    let before = desk.read(".git/config");
    fs::create_dir_all(desk.path("sub")).unwrap();
    symlink(".git/hooks", desk.path("hooks")).unwrap();
    symlink(".git/hooks/post-commit", desk.path("notes.md")).unwrap();
    for out in [
        ".git/config",
        ".git/hooks/pre-commit",
        "sub/../.git/config",
        "hooks/pre-commit",
        "notes.md",
        ".GIT/config",
    ] {
        desk.write("gadfly.toml", &looped(out));
        let said = desk.gadfly(&["run", "abstract", "--yes", "--trust"]);
        assert_eq!(said.code, 2, "{out}: {said:?}");
        // Those are refused before: they are no names of files in the project.
        let before = out.contains("..") || out == "notes.md";
        assert!(before || said.err.contains("git's own folder"), "{out}: {}", said.err);
        assert!(said.err.contains("gadfly.toml:6:7"), "{out}: where it stands: {}", said.err);
    }
    desk.write("gadfly.toml", "");
    let run = ["run", "Write.", "--worker", "w", "--critic", "c", "--criterion", "x", "--yes", "--out"];
    for out in [".git/config", "hooks/pre-commit", "sub/../.git/hooks/x", "hooks/../config"] {
        let said = desk.gadfly(&[&run[..], &[out]].concat());
        assert_eq!(said.code, 2, "{out}: {said:?}");
        assert!(said.err.contains("git's own folder"), "{out}: {}", said.err);
    }
    assert_eq!(desk.read(".git/config"), before);
    assert!(!desk.path(".git/hooks/pre-commit").exists() && !desk.path(".git/hooks/post-commit").exists());
    assert_eq!(desk.gadfly(&["runs"]).out, "", "nothing was started");
}

#[test]
fn a_recorded_run_does_not_write_there_either() {
    let desk = Desk::repository(&[("a.txt", "one\n")]);
    desk.configure("[agents.me]\nkind = \"person\"\n");
    desk.saying("w", &["#!/bin/sh\ntouch pwned\n"]);
    let args = ["run", "Write.", "--worker", "w", "--critic", "me", "--criterion", "x", "--out", "notes.md"];
    assert_eq!(desk.gadfly(&[&args[..], &["--yes", "--unattended"]].concat()).code, 4);
    // As a store that came with the project would have it.
    symlink(".git/hooks/post-commit", desk.path("notes.md")).unwrap();
    let run = desk.run_id();
    assert_eq!(desk.gadfly(&["answer", &run, "[STATUS: APPROVED]"]).code, 0);
    let said = desk.gadfly(&["resume", &run, "--trust", "--unattended"]);
    assert_eq!(said.code, 2, "{said:?}");
    assert!(said.err.contains("git's own folder"), "{}", said.err);
    let server = Server::start(&desk);
    let answer = server.post(&format!("/api/runs/{run}/resume"), &json!({}));
    assert_eq!(answer.status, 409, "{answer:?}");
    assert!(!desk.path(".git/hooks/post-commit").exists());
}

#[test]
fn what_programs_obey_by_themselves_is_agreed_to_first_and_every_output_is_shown() {
    for out in [".envrc", ".mcp.json", "gadfly.toml", ".claude/settings.json", ".github/workflows/ci.yml"] {
        let desk = cloned(out);
        fs::create_dir_all(desk.path(out).parent().unwrap()).unwrap();
        let said = desk.gadfly(&["run", "abstract", "--yes"]);
        assert_eq!(said.code, 2, "{out}: {said:?}");
        assert!(said.err.contains(out) && said.err.contains("programs run or obey"), "{out}: {}", said.err);
        assert_eq!(desk.gadfly(&["runs"]).out, "", "{out}: nothing was started");
        let said = desk.gadfly(&["run", "abstract", "--yes", "--trust"]);
        assert_eq!(said.code, 0, "{out}: {}", said.err);
        assert_eq!(desk.read(out), EVIL, "what the user agreed to is done");
    }
    let desk = cloned("paper.md");
    let said = desk.gadfly(&["run", "abstract", "--yes"]);
    assert!(said.code == 2 && !said.err.contains("paper.md"), "no word about a plain file: {said:?}");
    let said = desk.gadfly(&["run", "abstract", "--yes", "--trust"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let shown = format!("writes  {}", desk.path("paper.md").display());
    assert!(said.err.contains(&shown), "{}", said.err);
    // Named by the user it needs no other word.
    let run =
        ["run", "Write.", "--worker", "w", "--critic", "c", "--criterion", "x", "--yes", "--out", ".envrc"];
    let said = desk.gadfly(&run);
    assert_eq!(said.code, 0, "{}", said.err);
}

#[test]
fn a_page_has_nothing_written_but_ordinary_files_of_the_project() {
    let desk = cloned(".envrc");
    symlink(desk.beside("home"), desk.path("away")).unwrap();
    let server = Server::start(&desk);
    let home = desk.beside("home/.bashrc");
    let form =
        |out: &str| json!({ "task": "Write.", "worker": "w", "critic": "c", "criteria": ["x"], "out": out });
    for out in [
        home.to_str().unwrap(),
        "../escaped.md",
        "away/.bashrc",
        "away/plain.md",
        ".git/config",
        ".git/hooks/pre-commit",
        ".envrc",
        ".mcp.json",
        "gadfly.toml",
        ".claude/settings.local.json",
        ".gadfly/journal.db",
        ".husky/pre-commit",
        ".vscode/tasks.json",
    ] {
        let answer = server.post("/api/start/loop", &form(out));
        assert_eq!(answer.status, 400, "{out}: {answer:?}");
        assert!(answer.body.contains("cannot go to"), "{out}: {answer:?}");
    }
    let named = server.post("/api/start/loop", &json!({ "loop": "abstract" }));
    assert_eq!(named.status, 400, "one that the project names: {named:?}");
    let mut rubric = form("paper.md");
    rubric["rubric"] = json!(desk.beside("home/.config/gadfly/gadfly.toml"));
    assert_eq!(server.post("/api/start/loop", &rubric).status, 400, "nothing is read elsewhere");
    let terms = server.post("/api/start/loop", &form("paper.md")).json();
    let consent = terms["terms"]["consent"].to_string();
    assert!(consent.contains("paper.md"), "what is agreed to names it: {terms}");
    let run = server.start_agreeing("/api/start/loop", form("paper.md"));
    server
        .follow(&format!("/api/live/runs/{run}"))
        .until("it ends", |page| page["state"]["outcome"].is_object());
    assert_eq!(desk.read("paper.md"), EVIL);
    assert!(!home.exists() && !desk.path(".envrc").exists());
}

#[test]
fn a_page_does_not_agree_to_what_a_recorded_run_writes_elsewhere() {
    let desk = Desk::folder(&[]);
    desk.configure("[agents.me]\nkind = \"person\"\n");
    desk.saying("w", &["A draft."]);
    let elsewhere = desk.beside("elsewhere.md");
    let args =
        ["run", "Write.", "--worker", "w", "--critic", "me", "--criterion", "x", "--yes", "--unattended"];
    assert_eq!(desk.gadfly(&[&args[..], &["--out", elsewhere.to_str().unwrap()]].concat()).code, 4);
    // Nobody remembers that the user named it: as for a run that came with the project.
    crate::cloned::forget_this_machine(&desk);
    let server = Server::start(&desk);
    let run = desk.run_id();
    let mut page = server.follow(&format!("/api/live/runs/{run}"));
    let effect = page.next().unwrap().1["questions"][0]["effect"].clone();
    let mut form = json!({ "effect": effect, "text": "", "verdict": "approve" });
    for _ in 0..2 {
        let answer = server.post(&format!("/api/runs/{run}/answer"), &form);
        assert_eq!(answer.status, 409, "{answer:?}");
        assert!(answer.body.contains("elsewhere.md") && answer.body.contains("gadfly resume"), "{answer:?}");
        form["agree"] = answer.json()["terms"]["agree"].clone();
    }
    assert!(!elsewhere.exists());
}
