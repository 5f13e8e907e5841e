//! `doctor`, `init` and `check` as a user meets them: the real binary in a folder of its own.
#![allow(clippy::unwrap_used, clippy::panic)] // a test that cannot go on should say so

use std::fs;
use std::process::{Command, Output, Stdio};

use gadfly_testbed::{Behaviour, Server};
use serde_json::Value;

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn with(config: &str) -> Self {
        let folder = Self::new();
        folder.write("gadfly.toml", config);
        folder
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.0.path().join(name), text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.path().join(name)).unwrap()
    }

    fn gadfly(&self, args: &[&str], env: &[(&str, &str)]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_gadfly"))
            .args(args)
            .current_dir(self.0.path())
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", self.0.path().join("home"))
            .envs(env.iter().copied())
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn doctor_makes_nothing_and_says_what_to_delete() {
    let folder = Folder::new();
    let output = folder.gadfly(&["doctor"], &[]);
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    let said = out(&output);
    for part in
        [".gadfly", "home/.config/gadfly", "home/.local/state/gadfly", "ANTHROPIC_API_KEY", "gadfly init"]
    {
        assert!(said.contains(part), "{part} is missing in\n{said}");
    }
    assert_eq!(fs::read_dir(folder.0.path()).unwrap().count(), 0);
}

#[test]
fn a_key_is_named_and_never_shown() {
    let folder = Folder::new();
    for args in [&["doctor"][..], &["doctor", "--json"], &["init", "--yes"]] {
        let output = folder.gadfly(args, &[("ANTHROPIC_API_KEY", "sk-ant-hidden-value")]);
        assert_eq!(output.status.code(), Some(0), "{}", err(&output));
        let all = format!("{}{}", out(&output), err(&output));
        assert!(all.contains("ANTHROPIC_API_KEY") && !all.contains("hidden-value"), "{all}");
    }
    assert!(!folder.read("gadfly.toml").contains("hidden-value"));
}

#[tokio::test(flavor = "multi_thread")]
async fn doctor_says_of_each_agent_whether_it_can_be_used() {
    let server = Server::start(Behaviour::default()).await.unwrap();
    let folder = Folder::with(&format!(
        "[agents.local]\nkind = \"openai\"\nbase_url = \"{}\"\nmodel = \"worker\"\n\
         [agents.gone]\nkind = \"openai\"\nbase_url = \"http://127.0.0.1:9/v1\"\nmodel = \"m\"\n\
         [agents.keyless]\nkind = \"anthropic\"\nmodel = \"m\"\nkey_env = \"ANTHROPIC_API_KEY\"\n\
         [agents.shell]\nkind = \"command\"\ncommand = [\"sh\", \"-c\", \"cat\"]\n",
        server.v1()
    ));
    let output =
        tokio::task::spawn_blocking(move || folder.gadfly(&["doctor", "--json"], &[])).await.unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    let all: Value = serde_json::from_str(&out(&output)).unwrap();
    let agents = all["diagnosis"]["agents"].as_array().unwrap();
    let state = |name: &str| {
        let found = agents.iter().find(|a| a["name"] == name).unwrap();
        found["state"]["is"].as_str().unwrap().to_owned()
    };
    assert_ne!(state("local"), "broken");
    assert_eq!(
        (state("gone"), state("keyless"), state("shell")),
        ("broken".into(), "broken".into(), "ready".into())
    );
    // Asking which models there are is no call.
    assert_eq!(server.calls().total, 0);
}

#[test]
fn doctor_with_a_broken_configuration_is_an_error() {
    let folder = Folder::with("[agents.a]\nkind = \"opneai\"\n");
    let output = folder.gadfly(&["doctor"], &[]);
    assert_eq!(output.status.code(), Some(2), "{}", err(&output));
    assert!(err(&output).contains("opneai"), "{}", err(&output));
}

#[test]
fn init_writes_what_check_accepts_and_never_overwrites() {
    let folder = Folder::new();
    let keys = [("ANTHROPIC_API_KEY", "a-key-for-tests"), ("OPENAI_API_KEY", "another-for-tests")];
    let asked = folder.gadfly(&["init"], &keys);
    assert_eq!(asked.status.code(), Some(2), "nobody can be asked");
    assert!(err(&asked).contains("gadfly init --yes"), "{}", err(&asked));
    assert!(!folder.0.path().join("gadfly.toml").exists());

    let output = folder.gadfly(&["init", "--yes"], &keys);
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    let written = folder.read("gadfly.toml");
    assert!(written.contains("worker = ") && written.contains("critic = "), "{written}");
    let line =
        |key: &str| written.lines().find(|l| l.starts_with(key)).unwrap().split('=').nth(1).unwrap().trim();
    assert_ne!(line("worker"), line("critic"), "a critic of another vendor");
    let check = folder.gadfly(&["check"], &keys);
    assert_eq!(check.status.code(), Some(0), "{}", err(&check));

    folder.write("gadfly.toml", "# mine\n");
    let again = folder.gadfly(&["init", "--yes"], &keys);
    assert_eq!(again.status.code(), Some(2));
    assert_eq!(folder.read("gadfly.toml"), "# mine\n");
}

#[test]
fn check_says_everything_at_once_with_its_place() {
    let folder = Folder::with(
        "[agents.a]\nkind = \"scripted\"\nscript = \"none.toml\"\n\
         [agents.b]\nkind = \"command\"\ncommand = [\"./missing.sh\"]\n\
         [defaults]\nworker = \"a\"\ncritic = \"b\"\n\
         [loops.x]\ntask = \"Write.\"\nrubric = \"no-rubric.md\"\nwith = [\"no-reference.md\"]\n",
    );
    let output = folder.gadfly(&["check", "--json"], &[]);
    assert_eq!(output.status.code(), Some(2), "{}", err(&output));
    let problems: Vec<Value> = out(&output).lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    for (named, line) in [("none.toml", 3), ("missing.sh", 6), ("no-rubric.md", 12), ("no-reference.md", 13)]
    {
        let found = problems.iter().find(|p| p["message"].as_str().unwrap().contains(named));
        let found = found.unwrap_or_else(|| panic!("{named} is not mentioned: {problems:?}"));
        assert_eq!(found["at"]["line"], line, "{found}");
        assert_eq!(found["severity"], "error");
    }
    let drawn = err(&folder.gadfly(&["check"], &[]));
    assert!(drawn.contains("gadfly.toml:3") && drawn.contains("gadfly.toml:13"), "{drawn}");
}

#[test]
fn check_is_content_with_warnings_and_with_files_that_are_there() {
    let folder = Folder::with(
        "[agents.a]\nkind = \"scripted\"\nscript = \"replies.toml\"\n\
         [defaults]\nworker = \"a\"\ncritic = \"a\"\n\
         [loops.x]\ntask = \"Write.\"\nrubric = [\"nice\"]\n",
    );
    folder.write("replies.toml", "[[reply]]\ntext = \"hello\"\n");
    let output = folder.gadfly(&["check"], &[]);
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    assert!(err(&output).contains("nothing measurable"), "{}", err(&output));
}

#[test]
fn check_opens_what_each_protocol_names() {
    let folder = Folder::with(
        "[agents.a]\nkind = \"scripted\"\nscript = \"replies.toml\"\n\
         [defaults]\nworker = \"a\"\ncritic = \"a\"\n\
         [loops.memo]\nprotocol = \"score\"\ntask = \"Write.\"\nrubric = \"no-table.md\"\ninvariants = \"none.md\"\n\
         [loops.spec]\nprotocol = \"converge\"\ntask = \"Write.\"\ncriteria = \"no-questions.md\"\n",
    );
    folder.write("replies.toml", "[[reply]]\ntext = \"hello\"\n");
    let output = folder.gadfly(&["check", "--json"], &[]);
    let problems: Vec<Value> = out(&output).lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    for (named, line) in [("no-table.md", 10), ("none.md", 11), ("no-questions.md", 15)] {
        let found = problems.iter().find(|p| p["message"].as_str().unwrap().contains(named));
        let found = found.unwrap_or_else(|| panic!("{named} is not mentioned: {problems:?}"));
        assert_eq!(found["at"]["line"], line, "{found}");
    }
    // A table of deductions is no list of vague items.
    folder.write("no-table.md", "| Issue | Deduction |\n|---|---|\n| No seed | -10 |\n");
    folder.write("none.md", "- euros\n");
    folder.write("no-questions.md", "- CLEAR: Is it clear?\n");
    let output = folder.gadfly(&["check"], &[]);
    assert!(err(&output).contains("no problems"), "{}", err(&output));
}
