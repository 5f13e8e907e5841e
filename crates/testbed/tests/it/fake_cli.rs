//! The stand-in for CLI agents as a process of its own: it takes the real flags, keeps to the mode they set,
//! and does what its words say.

#![allow(clippy::unwrap_used, clippy::panic)] // tests may fail loudly

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

const WORKER: &[&str] =
    &["-p", "--verbose", "--output-format", "stream-json", "--permission-mode", "acceptEdits"];
const CRITIC: &[&str] = &["-p", "--verbose", "--output-format", "stream-json", "--tools", "Read,Grep,Glob"];

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("gadfly-fake-cli-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn claude(&self, words: &[&str], flags: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fake-cli"));
        command.arg("claude-code").args(words).arg("--").args(flags).current_dir(&self.0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // One that refuses its words does not wait for its brief.
        let _ = child.stdin.take().unwrap().write_all(b"Task: write.");
        child.wait_with_output().unwrap()
    }

    fn has(&self, name: &str) -> bool {
        self.0.join(name).exists()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn result(done: &Output) -> serde_json::Value {
    let out = String::from_utf8_lossy(&done.stdout);
    serde_json::from_str(out.lines().last().unwrap_or_default()).unwrap_or_else(|e| panic!("{e}: {done:?}"))
}

#[test]
fn it_reads_its_brief_and_answers_in_the_stream() {
    let done = Folder::new("echo").claude(&["step=ls", "echo"], WORKER);
    assert_eq!(done.status.code(), Some(0));
    assert_eq!(
        (&result(&done)["type"], &result(&done)["result"]),
        (&"result".into(), &"Task: write.".into())
    );
}

#[test]
fn a_flag_that_the_program_does_not_have_is_refused() {
    let done = Folder::new("flags").claude(&["echo"], &[WORKER, &["--be-nice"]].concat());
    assert_eq!(done.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&done.stderr).contains("unknown option '--be-nice'"), "{done:?}");
    let done = Folder::new("words").claude(&["dance"], WORKER);
    assert!(String::from_utf8_lossy(&done.stderr).contains("`dance`"), "{done:?}");
}

#[test]
fn its_own_tool_keeps_to_its_mode_and_what_it_does_by_itself_does_not() {
    let folder = Folder::new("mode");
    let words = [
        "write=tool.txt:x",
        "run=echo x >own.txt; (sleep 0; echo x >child.txt); mkdir -p .git; echo x >.git/x",
        "say=done",
    ];
    let done = folder.claude(&words, CRITIC);
    assert_eq!(result(&done)["result"], "done", "{done:?}");
    assert!(
        !folder.has("tool.txt") && folder.has("own.txt") && folder.has("child.txt") && folder.has(".git/x")
    );
    folder.claude(&words, WORKER);
    assert!(folder.has("tool.txt"));
}

#[test]
fn it_ends_as_it_is_told() {
    for (words, code) in
        [(&["crash=7"][..], 7), (&["status=401"], 1), (&["no-result"], 0), (&["say=x", "stop=length"], 1)]
    {
        let done = Folder::new("ends").claude(words, WORKER);
        assert_eq!(done.status.code(), Some(code), "{words:?}: {done:?}");
    }
}
