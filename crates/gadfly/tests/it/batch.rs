//! `gadfly batch` as a user meets it: the real binary against a local model server.
#![allow(clippy::unwrap_used, clippy::panic)] // a test that cannot go on should say so

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use gadfly_testbed::{Behaviour, Server};
use serde_json::Value;

/// The user's own configuration.
const OWN: &str = ".config/gadfly/gadfly.toml";

struct Project {
    dir: tempfile::TempDir,
}

impl Project {
    fn new(config: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("gadfly.toml"), config).unwrap();
        Self { dir }
    }

    /// Worker and critic are models of this server.
    fn over(server: &Server, worker: &str, critic: &str) -> Self {
        let url = server.v1();
        let agent = |name: &str, model: &str| {
            format!("[agents.{name}]\nkind = \"openai\"\nbase_url = \"{url}\"\nmodel = \"{model}\"\n")
        };
        let defaults = "[defaults]\nworker = \"w\"\ncritic = \"c\"\n";
        let project = Self::new("");
        // The folder is the user's home, too: these are their own agents, who work and judge as they want.
        fs::create_dir_all(project.path(".config/gadfly")).unwrap();
        fs::write(project.path(OWN), format!("{defaults}{}{}", agent("w", worker), agent("c", critic)))
            .unwrap();
        project
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn tasks(&self, ids: impl IntoIterator<Item = String>) -> &Self {
        let line = |id: String| task(&id, &format!("Write about {id}."), "one line");
        fs::write(self.path("tasks.jsonl"), ids.into_iter().map(line).collect::<String>()).unwrap();
        self
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gadfly"));
        command
            .args(["batch", "tasks.jsonl"])
            .args(args)
            .current_dir(self.dir.path())
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", self.dir.path())
            .stdin(Stdio::null());
        command
    }

    fn gadfly(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gadfly"));
        command.args(args).current_dir(self.dir.path()).env_clear().env("PATH", "/usr/bin:/bin");
        command.env("HOME", self.dir.path()).stdin(Stdio::null()).output().unwrap()
    }

    /// The result lines that are there so far.
    fn try_lines(&self) -> Vec<String> {
        let text = fs::read_to_string(self.path("tasks.results.jsonl")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    async fn batch(&self, args: &[&str]) -> Output {
        let mut command = self.command(args);
        tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap()
    }

    fn lines(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.path("tasks.results.jsonl")).unwrap();
        assert!(text.is_empty() || text.ends_with('\n'), "a torn last line");
        text.lines().map(|l| serde_json::from_str(l).unwrap()).collect()
    }

    /// The latest result of each id.
    fn results(&self) -> BTreeMap<String, Value> {
        self.lines().into_iter().map(|l| (l["id"].as_str().unwrap().to_owned(), l)).collect()
    }
}

fn task(id: &str, text: &str, rubric: &str) -> String {
    format!("{}\n", serde_json::json!({ "id": id, "task": text, "rubric": [rubric] }))
}

fn ids(n: usize) -> impl Iterator<Item = String> {
    (0..n).map(|i| format!("t{i}"))
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

async fn server(latency: Duration) -> Server {
    Server::start(Behaviour { latency, ..Behaviour::default() }).await.unwrap()
}

async fn fast() -> Server {
    server(Duration::ZERO).await
}

fn outcomes(results: &BTreeMap<String, Value>) -> BTreeMap<&str, &str> {
    results.iter().map(|(id, l)| (id.as_str(), l["outcome"].as_str().unwrap())).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_task_is_approved_and_has_one_whole_line() {
    let server = fast().await;
    let project = Project::over(&server, "worker", "critic:R,R,A");
    let output = project.tasks(ids(20)).batch(&["--jobs", "8"]).await;
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("20 approved"), "{}", stderr(&output));
    let lines = project.lines();
    assert_eq!(lines.len(), 20);
    for line in &lines {
        assert_eq!(
            (&line["outcome"], &line["rounds"], &line["calls"]),
            (&"approved".into(), &3.into(), &6.into())
        );
        assert!(line["draft"].as_str().is_some_and(|d| !d.is_empty()), "{line}");
        let keys: BTreeSet<&str> = line.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(keys, BTreeSet::from(["id", "run", "outcome", "rounds", "calls", "draft"]));
    }
    assert_eq!(server.calls().total, 120);
    // No run needs a folder of its own; its log is derived when somebody asks.
    assert!(!project.path(".gadfly/runs").exists());
    let run = lines[0]["run"].as_str().unwrap();
    let shown = project.gadfly(&["show", run, "--critic-log"]);
    let log = String::from_utf8_lossy(&shown.stdout);
    assert!(log.contains("## Final: APPROVED after 3 iterations"), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_is_removed_under_a_batch_stops_it_and_nothing_is_paid_for_again_unasked() {
    let server = server(Duration::from_millis(20)).await;
    let project = Project::over(&server, "worker", "critic:R,R,A");
    let mut child = project.tasks(ids(40)).command(&["--jobs", "4"]).stderr(Stdio::piped()).spawn().unwrap();
    while project.try_lines().len() < 4 {
        assert!(child.try_wait().unwrap().is_none(), "it ended before four tasks were done");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    fs::remove_dir_all(project.path(".gadfly")).unwrap();
    let output = tokio::task::spawn_blocking(move || child.wait_with_output().unwrap()).await.unwrap();
    assert_ne!(output.status.code(), Some(0));
    assert!(stderr(&output).contains("was removed or replaced while it was in use"), "{}", stderr(&output));
    assert!(project.lines().len() < 40);
    let calls = server.calls().total;
    let output = project.batch(&["--jobs", "4"]).await;
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("this store does not have their runs"), "{}", stderr(&output));
    assert_eq!(server.calls().total, calls, "nothing was called");
    let output = project.batch(&["--jobs", "4", "--again"]).await;
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_command_again_calls_nobody_and_writes_missing_lines() {
    let server = fast().await;
    let project = Project::over(&server, "worker", "critic:A");
    project.tasks(ids(6)).batch(&["--jobs", "3"]).await;
    let before = project.results();
    let again = project.batch(&["--jobs", "3"]).await;
    assert_eq!(again.status.code(), Some(0), "{}", stderr(&again));
    assert!(stderr(&again).contains("6 approved"), "{}", stderr(&again));
    assert_eq!(project.lines().len(), 6, "nothing is written twice");
    fs::remove_file(project.path("tasks.results.jsonl")).unwrap();
    let third = project.batch(&["--jobs", "3"]).await;
    assert_eq!(third.status.code(), Some(0), "{}", stderr(&third));
    assert_eq!(project.results(), before);
    assert_eq!(server.calls().total, 12);
}

/// A critic that says what the rubric tells it to.
const MIXED: &str = r#"
[agents.w]
kind = "command"
command = ["echo", "a draft"]
[agents.c]
kind = "command"
command = ["sh", "-c", "b=$(cat); case $b in *NEVER*) printf '[STATUS: REJECTED]\\n- Fix it\\n';; *MUMBLE*) echo hm;; *) echo '[STATUS: APPROVED]';; esac"]
[defaults]
worker = "w"
critic = "c"
"#;

#[tokio::test(flavor = "multi_thread")]
async fn different_outcomes_are_counted_and_give_the_code_of_a_mixture() {
    let project = Project::new(MIXED);
    let text = task("a", "Write.", "fine") + &task("b", "Write.", "NEVER") + &task("c", "Write.", "MUMBLE");
    fs::write(project.path("tasks.jsonl"), text).unwrap();
    let refused = project.batch(&[]).await;
    assert_eq!(refused.status.code(), Some(2), "{}", stderr(&refused));
    assert!(stderr(&refused).contains("--trust"), "{}", stderr(&refused));
    let output = project.batch(&["--trust"]).await;
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let results = project.results();
    assert_eq!(
        outcomes(&results),
        BTreeMap::from([("a", "approved"), ("b", "halted(cap)"), ("c", "unverified")])
    );
    assert!(stderr(&output).contains("1 approved · 1 halted(cap) · 1 unverified"), "{}", stderr(&output));
}

#[tokio::test(flavor = "multi_thread")]
async fn one_kind_beside_approved_gives_its_own_code() {
    let project = Project::new(MIXED);
    let text = task("a", "Write.", "fine") + &task("c", "Write.", "MUMBLE");
    fs::write(project.path("tasks.jsonl"), text).unwrap();
    let output = project.batch(&["--trust"]).await;
    assert_eq!(output.status.code(), Some(5), "{}", stderr(&output));
}

#[tokio::test(flavor = "multi_thread")]
async fn every_bad_line_is_named_before_any_call() {
    let server = fast().await;
    let project = Project::over(&server, "worker", "critic:A");
    let text = task("a", "Write.", "x") + &task("a", "Write more.", "x") + "{\"id\":\"b\"}\n";
    fs::write(project.path("tasks.jsonl"), text).unwrap();
    let output = project.batch(&[]).await;
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    assert!(said.contains("the id `a` was already used in line 1"), "{said}");
    assert!(said.contains("tasks.jsonl:2") && said.contains("tasks.jsonl:3"), "{said}");
    assert_eq!(server.calls().total, 0);
    assert!(!project.path("tasks.results.jsonl").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_torn_line_is_cut_and_its_result_written_again() {
    let server = fast().await;
    let project = Project::over(&server, "worker", "critic:A");
    project.tasks(ids(5)).batch(&[]).await;
    let (path, whole) = (project.path("tasks.results.jsonl"), project.results());
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, &text[..text.len() - 20]).unwrap();
    let output = project.batch(&[]).await;
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(project.results(), whole);
    assert_eq!(project.lines().len(), 5);
    assert_eq!(server.calls().total, 10);
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_at_any_point_it_goes_on_where_it_was() {
    const TASKS: usize = 30;
    const JOBS: usize = 6;
    let undisturbed = TASKS as u64 * 4;
    for kill_at in [1, 25, 70, 110] {
        let server = server(Duration::from_millis(2)).await;
        let project = Project::over(&server, "worker", "critic:R,A");
        project.tasks(ids(TASKS));
        server.hold_after(kill_at);
        let mut child =
            project.command(&["--jobs", "6"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        while server.calls().total < kill_at {
            assert!(child.try_wait().unwrap().is_none(), "it ended before the kill");
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        child.kill().unwrap();
        child.wait().unwrap();
        server.hold_after(u64::MAX);
        let output = project.batch(&["--jobs", "6"]).await;
        assert_eq!(output.status.code(), Some(0), "killed at {kill_at}: {}", stderr(&output));
        let lines = project.lines();
        assert_eq!(lines.len(), TASKS, "one line each, killed at {kill_at}");
        assert!(lines.iter().all(|l| l["outcome"] == "approved" && l["rounds"] == 2));
        assert_eq!(project.results().len(), TASKS);
        let total = server.calls().total;
        assert!(total <= undisturbed + JOBS as u64, "killed at {kill_at}: {total} calls");
        assert!(total >= undisturbed);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn other_content_under_the_same_id_runs_anew_and_says_so() {
    let server = fast().await;
    let project = Project::over(&server, "worker", "critic:A");
    fs::write(project.path("tasks.jsonl"), task("a", "Write.", "x") + &task("b", "Write.", "x")).unwrap();
    project.batch(&[]).await;
    let before = project.results();
    fs::write(project.path("tasks.jsonl"), task("a", "Write it.", "x") + &task("b", "Write.", "x")).unwrap();
    let output = project.batch(&[]).await;
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("task `a` changed since its last result"), "{}", stderr(&output));
    let after = project.results();
    assert_ne!(after["a"]["run"], before["a"]["run"]);
    assert_eq!(after["b"], before["b"]);
    assert_eq!((project.lines().len(), server.calls().total), (3, 6));
    // And back: the first run is found again, its line is the latest once more.
    fs::write(project.path("tasks.jsonl"), task("a", "Write.", "x") + &task("b", "Write.", "x")).unwrap();
    project.batch(&[]).await;
    assert_eq!((project.results(), server.calls().total), (before, 6));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_number_of_jobs_bounds_the_calls_at_once() {
    let server = server(Duration::from_millis(5)).await;
    let project = Project::over(&server, "worker", "critic:A");
    project.tasks(ids(40)).batch(&["--jobs", "5"]).await;
    let peak = server.calls().peak;
    assert!((2..=5).contains(&peak), "{peak} at once");
    // The count can see more: asked for, they come.
    server.reset();
    project.tasks((0..40).map(|i| format!("more{i}"))).batch(&["--jobs", "20"]).await;
    assert!(server.calls().peak > 5);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_parked_task_is_resumed_once_its_agent_answers() {
    let server = fast().await;
    let project = Project::over(&server, "worker", "fault:401");
    let output = project.tasks(ids(3)).batch(&[]).await;
    let code = output.status.code();
    assert!(matches!(code, Some(1 | 5)), "{code:?} {}", stderr(&output));
    let parked = project.results();
    let config = fs::read_to_string(project.path(OWN)).unwrap();
    fs::write(project.path(OWN), config.replace("fault:401", "critic:A")).unwrap();
    server.reset();
    let output = project.batch(&[]).await;
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let after = project.results();
    assert!(after.iter().all(|(id, l)| l["run"] == parked[id]["run"] && l["outcome"] == "approved"));
    // Only the failed calls were repeated: no draft was written twice.
    assert_eq!(server.calls().per_model.get("worker"), None);
}

fn priced(server: &Server, usd_per_million: &str) -> Project {
    let project = Project::over(server, "worker", "critic:A");
    let price =
        format!("price = {{ input = {usd_per_million}, output = {usd_per_million} }}\nmax_tokens = 1000\n");
    let config = fs::read_to_string(project.path(OWN)).unwrap();
    let priced = config.replace("kind = \"openai\"\n", &format!("kind = \"openai\"\n{price}"));
    fs::write(project.path(OWN), priced).unwrap();
    project
}

#[tokio::test(flavor = "multi_thread")]
async fn a_budget_stops_the_batch_before_it_is_exceeded_and_raising_it_goes_on() {
    let server = fast().await;
    let project = priced(&server, "10.0");
    let output = project.tasks(ids(12)).batch(&["--jobs", "4", "--budget-usd", "0.28"]).await;
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(6), "{said}");
    assert!(said.contains("not started (budget)"), "{said}");
    let done = project.lines().len();
    assert!((1..12).contains(&done), "{done}: {said}");
    // The same again spends nothing more: what was spent counts.
    let calls = server.calls().total;
    project.batch(&["--jobs", "4", "--budget-usd", "0.28"]).await;
    let again = server.calls().total - calls;
    assert_eq!(again, 0);
    let output = project.batch(&["--jobs", "4", "--budget-usd", "100"]).await;
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(project.results().len(), 12);
    // Without a cap nothing is held back.
    let other = priced(&server, "10.0");
    let output = other.tasks(ids(12)).batch(&["--jobs", "4"]).await;
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_price_under_a_budget_is_an_error_at_the_start() {
    let config = "[agents.w]\nkind = \"openai\"\nbase_url = \"https://api.example/v1\"\nmodel = \"m\"\n\
                  [defaults]\nworker = \"w\"\ncritic = \"w\"\n";
    let project = Project::new(config);
    let output = project.tasks(ids(1)).batch(&["--budget-usd", "1", "--trust"]).await;
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("price"), "{}", stderr(&output));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dry_run_says_what_would_happen_and_calls_nobody() {
    let server = fast().await;
    let project = Project::over(&server, "worker", "critic:A");
    let output = project.tasks(ids(3)).batch(&["--dry-run"]).await;
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("127.0.0.1") && stderr(&output).contains("3 to start"));
    assert!(String::from_utf8_lossy(&output.stdout).contains("Write about t0."));
    assert_eq!(server.calls().total, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn json_gives_the_result_lines_and_nothing_else_on_stdout() {
    let server = fast().await;
    let project = Project::over(&server, "worker", "critic:A");
    let output = project.tasks(ids(4)).batch(&["--json"]).await;
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(said, fs::read_to_string(project.path("tasks.results.jsonl")).unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupt_keeps_the_results_and_names_the_way_on() {
    stopped_by("INT").await;
}

/// A terminal that is closed, or lost: its shell and the kernel both say so.
#[tokio::test(flavor = "multi_thread")]
async fn a_hangup_stops_like_an_interrupt_and_loses_no_reply() {
    stopped_by("HUP").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_started_with_nohup_outlives_the_terminal() {
    let server = server(Duration::from_millis(3)).await;
    let project = Project::over(&server, "worker", "critic:R,A");
    let plain = project.tasks(ids(30)).command(&["--jobs", "4"]);
    server.hold_after(15);
    let mut deaf = Command::new("sh");
    deaf.args(["-c", "trap '' HUP; exec \"$0\" \"$@\""]).arg(plain.get_program()).args(plain.get_args());
    deaf.current_dir(project.dir.path()).env_clear();
    deaf.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let child = deaf.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    while server.calls().total < 15 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    signal(child.id(), "HUP");
    server.hold_after(u64::MAX);
    let output = tokio::task::spawn_blocking(move || child.wait_with_output().unwrap()).await.unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(project.lines().len(), 30);
}

async fn stopped_by(name: &str) {
    let server = server(Duration::from_millis(3)).await;
    let project = Project::over(&server, "worker", "critic:R,A");
    project.tasks(ids(60));
    server.hold_after(30);
    let plain = project.command(&["--jobs", "4"]);
    // Whoever runs the tests may be deaf to it, as under `nohup`, and so would be whatever they start.
    let mut hearing = Command::new("env");
    hearing.arg("--default-signal=HUP").arg(plain.get_program()).args(plain.get_args());
    hearing.current_dir(project.dir.path()).env_clear();
    hearing.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let child = hearing.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    while server.calls().total < 30 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    signal(child.id(), name);
    if name == "HUP" {
        signal(child.id(), name);
    }
    server.hold_after(u64::MAX);
    let output = tokio::task::spawn_blocking(move || child.wait_with_output().unwrap()).await.unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    assert!(stderr(&output).contains("to go on: gadfly batch tasks.jsonl --jobs 4"), "{}", stderr(&output));
    assert!(project.lines().len() < 60);
    let output = project.batch(&["--jobs", "4"]).await;
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(project.lines().len(), 60);
    // Replies in flight were waited for, so nothing was paid twice.
    assert_eq!(server.calls().total, 240);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_another_process_drives_is_left_to_it_and_counted() {
    let server = fast().await;
    let project = Project::over(&server, "fault:hang", "critic:A");
    project.tasks(ids(2));
    let mut first = project.command(&[]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while server.calls().total < 2 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let second = project.batch(&[]).await;
    assert_eq!(second.status.code(), Some(4), "{}", stderr(&second));
    assert!(stderr(&second).contains("2 driven elsewhere"), "{}", stderr(&second));
    assert!(stderr(&second).contains("task `t0` is skipped"), "{}", stderr(&second));
    assert_eq!((server.calls().total, project.lines().len()), (2, 0));
    first.kill().unwrap();
    first.wait().unwrap();
    // Once it is gone its runs are taken up.
    let config = fs::read_to_string(project.path(OWN)).unwrap();
    fs::write(project.path(OWN), config.replace("fault:hang", "worker")).unwrap();
    let third = project.batch(&[]).await;
    assert_eq!(third.status.code(), Some(0), "{}", stderr(&third));
}

fn signal(pid: u32, name: &str) {
    assert!(Command::new("kill").args([&format!("-{name}"), &pid.to_string()]).status().unwrap().success());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_another_process_finished_meanwhile_counts_as_it_ended() {
    let server = server(Duration::from_secs(1)).await;
    let project = Project::over(&server, "worker", "critic:A");
    project.tasks(ids(6));
    let mut first =
        project.command(&["--jobs", "6"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while server.calls().total < 6 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    // Another file of that name: the first goes on with its own.
    fs::remove_file(project.path("tasks.jsonl")).unwrap();
    // The other has more to do than what is left of the first: two loops, one after the other.
    let second = project.tasks(ids(8)).batch(&["--jobs", "1"]).await;
    assert_eq!(second.status.code(), Some(0), "{}", stderr(&second));
    let said = stderr(&second);
    assert!(said.contains("task `t0` is skipped") && said.contains("8 approved"), "{said}");
    assert_eq!(first.wait().unwrap().code(), Some(0));
    assert_eq!((project.lines().len(), server.calls().total), (8, 16), "each was paid for and told once");
}

#[tokio::test(flavor = "multi_thread")]
async fn all_parked_runs_go_on_as_many_at_once_as_jobs_are_named() {
    let server = server(Duration::from_millis(30)).await;
    let project = Project::over(&server, "worker", "fault:401");
    project.tasks(ids(12)).batch(&[]).await;
    let config = fs::read_to_string(project.path(OWN)).unwrap();
    fs::write(project.path(OWN), config.replace("fault:401", "critic:A")).unwrap();
    let resume = |args: &'static [&'static str]| {
        let plain = project.command(&[]);
        let mut command = Command::new(plain.get_program());
        command.args(["resume", "--all"]).args(args).current_dir(project.dir.path()).env_clear();
        command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?)))).stdin(Stdio::null());
        tokio::task::spawn_blocking(move || command.output().unwrap())
    };
    server.reset();
    let output = resume(&["--jobs", "3"]).await.unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let said = stderr(&output);
    assert!(said.contains("12 of 12 runs approved"), "{said}");
    assert_eq!(said.matches("approved after 1 round").count(), 12, "each end is told: {said}");
    let peak = server.calls().peak;
    assert!((2..=3).contains(&peak), "{peak} at once");
    let output = resume(&["--jobs", "3"]).await.unwrap();
    assert!(stderr(&output).contains("nothing to resume"), "{}", stderr(&output));
}

#[tokio::test(flavor = "multi_thread")]
async fn results_never_go_over_the_tasks_or_into_other_files() {
    let server = fast().await;
    let project = Project::over(&server, "worker", "critic:A");
    project.tasks(ids(1));
    let tasks = fs::read(project.path("tasks.jsonl")).unwrap();
    assert_eq!(project.batch(&["--out", "tasks.jsonl"]).await.status.code(), Some(2));
    assert_eq!(fs::read(project.path("tasks.jsonl")).unwrap(), tasks);
    fs::write(project.path("notes.txt"), "my notes").unwrap();
    assert_eq!(project.batch(&["--out", "notes.txt"]).await.status.code(), Some(2));
    assert_eq!(fs::read_to_string(project.path("notes.txt")).unwrap(), "my notes");
    assert_eq!(server.calls().total, 0);
    assert!(Path::new(&project.path("gadfly.toml")).exists());
}
