//! `doctor`, `init` and `check` as a user meets them: the real binary in a folder of its own.
#![allow(clippy::unwrap_used, clippy::panic)] // a test that cannot go on should say so

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

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

    /// A program for PATH: what it does when it is asked for its version, and otherwise.
    fn program(&self, name: &str, version: &str, otherwise: &str) {
        let bin = self.0.path().join("bin");
        fs::create_dir_all(&bin).unwrap();
        let text = format!("#!/bin/sh\nif [ \"$1\" = --version ]; then\n{version}\nfi\n{otherwise}\n");
        fs::write(bin.join(name), text).unwrap();
        fs::set_permissions(bin.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn path(&self) -> String {
        format!("{}:/usr/bin:/bin", self.0.path().join("bin").display())
    }

    /// The binary with those programs, off the server's threads.
    async fn aside(self: &Arc<Self>, args: &[&str]) -> Output {
        let (folder, args) = (Arc::clone(self), args.iter().map(ToString::to_string).collect::<Vec<_>>());
        let run = move || {
            let args: Vec<&str> = args.iter().map(String::as_str).collect();
            folder.gadfly(&args, &[("PATH", &folder.path())])
        };
        tokio::task::spawn_blocking(run).await.unwrap()
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
        ("untried".into(), "broken".into(), "ready".into()),
        "an address of this machine that only the project names is not asked"
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
fn doctor_writes_what_it_proposes_if_it_may() {
    let folder = Folder::new();
    let keys = [("ANTHROPIC_API_KEY", "a-key-for-tests"), ("OPENAI_API_KEY", "another-for-tests")];
    let asked = folder.gadfly(&["doctor", "--write"], &keys);
    assert_eq!(asked.status.code(), Some(2), "nobody can be asked here");
    assert!(!folder.0.path().join("gadfly.toml").exists());
    let written = folder.gadfly(&["doctor", "--write", "--yes"], &keys);
    assert_eq!(written.status.code(), Some(0), "{}", err(&written));
    assert!(out(&written).contains("This machine"), "it still says what is there");
    let check = folder.gadfly(&["check"], &keys);
    assert_eq!(check.status.code(), Some(0), "{}", err(&check));
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

#[test]
fn programs_say_their_version_and_none_can_hold_doctor_up() {
    let folder = Folder::new();
    folder.program("claude", "echo '2.1.325 (Claude Code)'; exit 0", "");
    folder.program("codex", "sleep 600", "");
    folder.program("gemini", "while :; do echo 0.1.2 and so on and on; done", "");
    folder.program("opencode", "echo 1.0 >&2; exit 3", "");
    folder.program("llm", "printf '\\033[31mllm, version 0.27\\n'; exit 0", "");
    let began = Instant::now();
    let output = folder.gadfly(&["doctor", "--json"], &[("PATH", &folder.path())]);
    assert!(began.elapsed() < Duration::from_mins(1), "the one that hangs is given up");
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    let all: Value = serde_json::from_str(&out(&output)).unwrap();
    let programs = all["diagnosis"]["programs"].as_array().unwrap();
    let said = |name: &str| {
        let found = programs.iter().find(|p| p["name"] == name).unwrap();
        let text = |key: &str| found[key].as_str().unwrap_or_default().to_owned();
        (text("version"), text("trouble"))
    };
    assert_eq!(said("claude"), ("2.1.325 (Claude Code)".into(), String::new()));
    for (name, trouble) in [
        ("codex", "did not say its version"),
        ("gemini", "does not stop talking"),
        ("opencode", "exit code 3"),
    ] {
        let (version, why) = said(name);
        assert!(version.is_empty() && why.contains(trouble), "{name}: {version} {why}");
    }
    let proposal = all["proposal"].as_str().unwrap();
    assert!(proposal.contains("[agents.claude-code]") && proposal.contains("[agents.llm]"), "{proposal}");
    assert!(!proposal.contains("codex") && !proposal.contains("gemini"), "what does not run: {proposal}");
    fs::remove_file(folder.0.path().join("bin/codex")).unwrap();
    let words = folder.gadfly(&["doctor"], &[("PATH", &folder.path())]);
    assert!(out(&words).contains("Claude Code (2.1.325 (Claude Code))"), "{}", out(&words));
    assert!(out(&words).contains("Landlock"), "{}", out(&words));
    assert!(!out(&words).contains('\u{1b}'), "a version cannot paint: {}", out(&words));
}

#[test]
fn what_init_writes_runs_a_loop() {
    let folder = Folder::new();
    folder.program(
        "llm",
        "echo 'llm, version 0.27'; exit 0",
        "if grep -q '\\[STATUS:'; then printf '[STATUS: APPROVED]\\nGood.\\n'; else echo 'A short note.'; fi",
    );
    let path = folder.path();
    let env = [("PATH", path.as_str())];
    let init = folder.gadfly(&["init", "--yes"], &env);
    assert_eq!(init.status.code(), Some(0), "{}", err(&init));
    let check = folder.gadfly(&["check"], &env);
    assert_eq!(check.status.code(), Some(0), "{}", err(&check));
    let run = folder.gadfly(&["run", "Write a note", "--criterion", "at most 50 words", "--yes"], &env);
    assert_eq!(run.status.code(), Some(0), "{}\n{}", err(&run), folder.read("gadfly.toml"));
    assert_eq!(out(&run), "A short note.\n");
}

#[test]
fn every_program_that_is_found_makes_a_file_that_check_accepts() {
    let folder = Folder::new();
    for name in ["claude", "codex", "gemini", "opencode", "claude-agent-acp", "codex-acp", "llm"] {
        folder.program(name, "echo 1.2.3; exit 0", "");
    }
    let path = folder.path();
    let env = [("PATH", path.as_str()), ("GEMINI_API_KEY", "k"), ("ANTHROPIC_API_KEY", "k")];
    let init = folder.gadfly(&["init", "--yes"], &env);
    assert_eq!(init.status.code(), Some(0), "{}", err(&init));
    let written = folder.read("gadfly.toml");
    let check = folder.gadfly(&["check"], &env);
    assert_eq!(check.status.code(), Some(0), "{}\n{written}", err(&check));
    for name in ["claude-code", "codex", "gemini", "opencode", "claude-acp", "codex-acp", "llm", "anthropic"]
    {
        assert!(written.contains(&format!("[agents.{name}]")), "{name}\n{written}");
        // Every one of them can be recruited for a run.
        let dry =
            ["run", "Write a note", "--criterion", "short", "--dry-run", "--worker", name, "--critic", name];
        let dry = folder.gadfly(&dry, &env);
        assert_eq!(dry.status.code(), Some(0), "{name}: {}", err(&dry));
    }
}

async fn tried() -> (Server, Arc<Folder>) {
    let script = BTreeMap::from([("good".to_owned(), vec!["{\"verdict\": \"ok\"}".to_owned()])]);
    let server = Server::start(Behaviour { script, ..Behaviour::default() }).await.unwrap();
    let http = |name: &str, model: &str| {
        let url = server.v1();
        format!("[agents.{name}]\nkind = \"openai\"\nbase_url = \"{url}\"\nmodel = \"{model}\"\n")
    };
    let folder = Folder::with(&format!(
        "{}{}{}{}{}timeout = \"1s\"\n[agents.me]\nkind = \"person\"\n\
         [agents.echo]\nkind = \"command\"\ncommand = [\"cat\"]\n",
        http("good", "good"),
        http("wordy", "worker"),
        http("wrong", "fault:401"),
        http("busy", "fault:429"),
        http("mute", "fault:hang"),
    ));
    (server, Arc::new(folder))
}

#[tokio::test(flavor = "multi_thread")]
async fn trying_says_of_each_agent_whether_it_answers() {
    let (server, folder) = tried().await;
    let unasked = folder.aside(&["doctor", "--try"]).await;
    assert_eq!(unasked.status.code(), Some(2), "{}", err(&unasked));
    let unasked = folder.aside(&["doctor", "--try", "--trust"]).await;
    assert_eq!(
        (unasked.status.code(), server.calls().total),
        (Some(2), 0),
        "nobody agreed: {}",
        err(&unasked)
    );
    assert!(err(&unasked).contains("--yes"), "{}", err(&unasked));

    let output = folder.aside(&["doctor", "--try", "--yes", "--json"]).await;
    assert_eq!(output.status.code(), Some(1), "{}", err(&output));
    let all: Vec<Value> = out(&output).lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    let of = |name: &str| all.iter().map(|line| &line["tried"]).find(|t| t["agent"] == name).unwrap().clone();
    for (name, is, because) in [
        ("good", "answered", ""),
        ("wordy", "answered", ""),
        ("wrong", "failed", "check the key"),
        ("busy", "failed", "429"),
        ("mute", "failed", "within"),
        ("me", "not_tried", "person"),
        ("echo", "answered", ""),
    ] {
        let tried = of(name);
        assert_eq!(tried["ended"]["is"], is, "{tried}");
        assert!(tried["ended"]["because"].as_str().unwrap_or_default().contains(because), "{tried}");
    }
    assert_eq!((&of("good")["structured"], &of("wordy")["structured"]), (&true.into(), &false.into()));
    assert_eq!(of("good")["cost"], 0.0, "a server on this machine costs nothing");
    let guards = of("echo")["guards"].to_string();
    assert!(guards.contains("tree compared"), "{guards}");

    let some = folder.aside(&["doctor", "--try", "good", "echo", "--yes"]).await;
    assert_eq!(some.status.code(), Some(0), "{}{}", out(&some), err(&some));
    assert!(
        out(&some).contains("good answered") && out(&some).contains("keeps to a schema"),
        "{}",
        out(&some)
    );
    assert!(out(&some).contains("sandbox: ") && !out(&some).contains("wordy"), "{}", out(&some));
    let unknown = folder.aside(&["doctor", "--try", "god", "--yes"]).await;
    assert_eq!(unknown.status.code(), Some(2));
    assert!(err(&unknown).contains("good"), "{}", err(&unknown));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_is_left_alone_is_named_others_are_not_and_a_trial_asks_it_all_the_same() {
    let (server, folder) = tried().await;
    let run = |worker: &str| {
        let args =
            ["run", "Write a note", "--criterion", "short", "--yes", "--worker", worker, "--critic", "me"];
        [&args[..], &["--unattended", "--trust"]].concat().iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    folder.write("gadfly.toml", &folder.read("gadfly.toml").replace("fault:429", "fault:quota"));
    let (busy, good) = (run("busy"), run("good"));
    let strs = |words: &[String]| words.iter().map(String::as_str).map(str::to_owned).collect::<Vec<_>>();
    let go = |words: Vec<String>| {
        let folder = Arc::clone(&folder);
        async move { folder.aside(&words.iter().map(String::as_str).collect::<Vec<_>>()).await }
    };
    go(strs(&busy)).await;
    let calls = server.calls().total;
    let look = folder.aside(&["doctor"]).await;
    assert!(out(&look).contains("takes no calls until"), "{}", out(&look));
    go(strs(&busy)).await;
    assert_eq!(server.calls().total, calls, "the same model is left alone");
    go(strs(&good)).await;
    assert_eq!(server.calls().total, calls + 1, "another one of the same provider is not");
    folder.aside(&["doctor", "--try", "busy", "--yes"]).await;
    assert_eq!(server.calls().total, calls + 2, "a trial asks it all the same");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_configuration_what_was_found_is_tried() {
    let folder = Arc::new(Folder::new());
    folder.program("llm", "echo 0.27; exit 0", "cat >/dev/null; echo '{\"verdict\": \"ok\"}'");
    let output = folder.aside(&["doctor", "--try", "llm", "--yes"]).await;
    assert_eq!(output.status.code(), Some(0), "{}{}", out(&output), err(&output));
    assert!(out(&output).contains("llm answered") && out(&output).contains("sandbox: "), "{}", out(&output));
    assert!(!folder.0.path().join("gadfly.toml").exists(), "trying writes nothing");
}
