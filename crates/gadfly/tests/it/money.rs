//! Money that nobody states: it is estimated, marked wherever totals are shown, and counts against caps.

#![allow(clippy::unwrap_used)] // tests may fail loudly

use std::fs;
use std::process::{Command, Output};

use gadfly_testbed::{Behaviour, Server};

struct Desk {
    dir: tempfile::TempDir,
}

impl Desk {
    fn new(server: &Server) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let agent = |name: &str, model: &str| {
            let price = "price = { input = 1000.0, output = 1000.0 }";
            format!(
                "[agents.{name}]\nkind = \"openai\"\nbase_url = \"{}\"\nmodel = \"{model}\"\nmax_tokens = 1000\n{price}\n\n",
                server.v1()
            )
        };
        fs::create_dir_all(dir.path().join(".config/gadfly")).unwrap();
        let agents = [
            agent("counted", "worker"),
            agent("uncounted", "uncounted:worker"),
            agent("critic", "uncounted:critic:R,R,A"),
            agent("judge", "critic:R,R,A"),
        ];
        fs::write(dir.path().join(".config/gadfly/gadfly.toml"), agents.concat()).unwrap();
        Self { dir }
    }

    fn gadfly(&self, args: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_gadfly"))
            .args(args)
            .current_dir(self.dir.path())
            .env_clear()
            .env("HOME", self.dir.path())
            .env("PATH", std::env::var("PATH").unwrap())
            .output()
            .unwrap()
    }

    fn says(&self, args: &[&str]) -> String {
        let output = self.gadfly(args);
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
    }
}

fn loop_of<'a>(worker: &'a str, critic: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let run = ["run", "Write it.", "--criterion", "short", "--yes", "--worker", worker, "--critic", critic];
    [&run, more].concat()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_no_server_counts_is_marked_in_every_total() {
    let server = Server::start(Behaviour::default()).await.unwrap();
    let desk = Desk::new(&server);
    let ran = desk.says(&loop_of("uncounted", "critic", &[]));
    let spent = ran.lines().find(|line| line.trim_start().starts_with("spent")).unwrap_or_default();
    assert!(spent.contains("≥ $") && !spent.contains("≥ $0.00") && !spent.contains(" 0 tokens"), "{ran}");
    assert!(desk.says(&["runs"]).contains("≥ $"), "{}", desk.says(&["runs"]));
    let counted = desk.says(&loop_of("counted", "judge", &[]));
    let spent = counted.lines().find(|line| line.trim_start().starts_with("spent")).unwrap_or_default();
    assert!(spent.contains('$') && !spent.contains('≥'), "where all is stated nothing is marked: {counted}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_no_server_counts_counts_against_a_cap() {
    let server = Server::start(Behaviour::default()).await.unwrap();
    let desk = Desk::new(&server);
    // Room for one call after another only if the ones before had cost nothing.
    let output = desk.gadfly(&loop_of("uncounted", "critic", &["--budget-usd", "4"]));
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(6), "{said}");
    assert!(server.calls().total < 6, "{} calls", server.calls().total);
}
