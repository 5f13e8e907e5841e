//! What a user sees when a goal is configured rightly or wrongly.

use gadfly_engine::protocol::goal::{Criterion, FileCheck};
use gadfly_engine::tool::Risk;

use super::*;

const AGENTS: &str = r#"
[agents.writer]
kind = "openai"
base_url = "http://127.0.0.1:1/v1"
model = "m"
[agents.judge]
kind = "scripted"
script = "judge.toml"
[agents.cli]
kind = "claude-code"
[agents.me]
kind = "person"
[defaults]
worker = "writer"
critic = "judge"
"#;

fn goal(text: &str) -> (Config, Vec<Problem>) {
    read_layers(&[(ConfigLayer::Project, &format!("{AGENTS}{text}"))])
}

fn wrong(text: &str) -> String {
    shown(&goal(text).1)
}

fn until(text: &str) -> Criterion {
    let (config, problems) = goal(&format!("[goals.g]\ngoal = \"x\"\nuntil = {text}\n"));
    assert_eq!(problems, [], "{text}");
    config.goals["g"].options.until.clone().unwrap().value
}

#[test]
fn every_form_of_a_success_criterion_is_read() {
    let shell = |command: &str, exit_code, timeout_ms| Criterion::Shell {
        command: command.into(),
        exit_code,
        timeout_ms,
        evidence: Vec::new(),
    };
    assert_eq!(until("\"cargo test\""), shell("cargo test", 0, 600_000));
    assert_eq!(until("{ shell = \"make\", exit_code = 2, timeout = \"5s\" }"), shell("make", 2, 5000));
    assert_eq!(
        until("{ json = \"o.json\", where = \"a.b >= 3\" }"),
        Criterion::Json { file: "o.json".into(), predicate: "a.b >= 3".into() }
    );
    let file = |check| Criterion::File { path: "x".into(), check };
    assert_eq!(until("{ file = \"x\" }"), file(FileCheck::Exists));
    assert_eq!(until("{ file = \"x\", exists = true }"), file(FileCheck::Exists));
    assert_eq!(until("{ file = \"x\", contains = \"y\" }"), file(FileCheck::Contains("y".into())));
    assert_eq!(until("{ file = \"x\", matches = \"^y\" }"), file(FileCheck::Matches("^y".into())));
    assert_eq!(
        until("{ http = \"http://127.0.0.1/\", status = 204, contains = \"y\" }"),
        Criterion::Http { url: "http://127.0.0.1/".into(), status: 204, contains: Some("y".into()) }
    );
    assert_eq!(until("{ judge = \"Is it?\" }"), Criterion::Judge { question: "Is it?".into() });
    assert_eq!(
        until("{ vision = \"./s\", file = \"s.png\", expect = \"y\" }"),
        Criterion::Vision { command: "./s".into(), file: "s.png".into(), expected: "y".into() }
    );
    assert_eq!(until("{ manual = true }"), Criterion::Manual);
    assert_eq!(
        until("[\"a\", { any = [{ manual = true }, \"b\"] }]"),
        Criterion::All(vec![
            shell("a", 0, 600_000),
            Criterion::Any(vec![Criterion::Manual, shell("b", 0, 600_000)])
        ])
    );
}

#[test]
fn a_criterion_that_could_never_be_checked_is_refused_where_it_stands() {
    assert_snapshot!(wrong(r#"
[goals.g]
goal = "x"
until = [
  "cargo test",
  { shel = "make" },
  { shell = "make", exit = 1 },
  { json = "o.json" },
  { json = "o.json", where = "nonsense" },
  { file = "x", contains = "y", matches = "z" },
  { file = "x", exists = false },
  { file = "x", matches = "[" },
  { http = "ftp://x/" },
  { http = "http://x/", status = 99 },
  { manual = false },
  { any = [] },
  3,
]
"#), @r#"
    error: `goals.g.until[1]` names no check
      at gadfly.toml:21:3
      help: did you mean `shell`?
    error: unknown key `exit` beside `shell` in `goals.g.until[2]`
      at gadfly.toml:22:21
      help: known here: `shell`, `exit_code`, `timeout`, `evidence`
    error: `goals.g.until[3]` needs `where`
      at gadfly.toml:23:3
      help: add where = "results.passed >= 3"
    error: `goals.g.until[4]`: `nonsense` is no predicate: nothing is said of the path. Write `dot.path op literal` with ==, !=, >, <, >= or <= and a JSON literal, or `dot.path exists` or `dot.path notexists`.
      at gadfly.toml:24:3
    error: `goals.g.until[5]` says more than one thing about its file
      at gadfly.toml:25:3
      help: keep one of `exists`, `contains` and `matches`; two checks are { all = […] }
    error: `goals.g.until[6].exists` can only be true
      at gadfly.toml:26:3
      help: that a file is gone: { shell = "test ! -e PATH" }
    error: `goals.g.until[7]`: `[` is no regular expression, or too large a one
      at gadfly.toml:27:3
    error: `goals.g.until[8]`: `ftp://x/` is no http or https address
      at gadfly.toml:28:3
    error: `goals.g.until[9].status` must be a whole number from 100 to 599, not 99
      at gadfly.toml:29:34
    error: `goals.g.until[10].manual` can only be true
      at gadfly.toml:30:3
    error: `goals.g.until[11].any` must be a command, a table, or a list of them that is not empty, not an empty list
      at gadfly.toml:31:11
      help: like "cargo test", or { file = "report.md", contains = "Results" }
    error: `goals.g.until[12]` must be a command, a table, or a list of them that is not empty, not a whole number
      at gadfly.toml:32:3
      help: like "cargo test", or { file = "report.md", contains = "Results" }
    "#);
}

#[test]
fn everything_that_is_wrong_with_a_goal_is_said_at_once_and_where() {
    assert_snapshot!(wrong(r#"
[goals.g]
goal = "x"
gaol_file = "x.md"
worker = "writr"
critic_interval = 1001
risk = "all"
deny = ["run_comand", "claim_complete", "git__push"]
mcp = ["github"]
max_steps = 0
wall_clock = "0s"
in_place = true
branch = "a b"
budget = { minutes = 3 }
"#), @r#"
    error: unknown key `gaol_file` in `goals.g`
      at gadfly.toml:19:1
      help: did you mean `goal_file`?
    error: `goals.g.critic_interval` must be a whole number from 0 to 1000, not 1001
      at gadfly.toml:21:19
    error: `goals.g.risk` must be one of "read_only", "write_local", "network_get", "network_write", "spends_money", not "all"
      at gadfly.toml:22:8
    error: `goals.g.max_steps` must be a whole number from 1 to 100000, not 0
      at gadfly.toml:25:13
    error: `goals.g.wall_clock` must be a time above zero, at most 7 days, not "0s"
      at gadfly.toml:26:14
      help: seconds as a number, or text like "90s", "5m", "1h30m"
    error: `worker` names agent `writr`, which is not configured
      at gadfly.toml:20:10
      help: did you mean `writer`?
    error: `mcp` names server `github`, which is not configured
      at gadfly.toml:24:8
      help: no servers are configured; add [mcp.github]
    error: `deny` names tool `run_comand`, which there is not
      at gadfly.toml:23:9
      help: did you mean `run_command`?
    error: `deny`: `claim_complete` is how a worker ends a goal, and is always there
      at gadfly.toml:23:23
      help: leave it out
    error: `deny` names tool `git__push`, which there is not
      at gadfly.toml:23:41
      help: known: run_command, read_file, write_file, edit_file, list_files, search_files, fetch_url, start_process, list_processes, read_process_log, stop_process; a tool of a server is SERVER__TOOL, with that server in `mcp`
    error: the time of a goal is its `wall_clock`, not `minutes` of its budget
      at gadfly.toml:29:22
      help: write wall_clock = "60m"
    error: work in place cannot become a commit: it is in your checkout already
      at gadfly.toml:28:10
      help: leave `in_place` or `commit` out
    error: `a b` is no name for a branch
      at gadfly.toml:28:10
      help: like feature/search: no spaces, no `..`, none of ~^:?*[\
    "#);
}

#[test]
fn a_goal_begins_with_the_defaults_and_its_own_caps() {
    let (config, problems) = goal(
        "[goals.g]\ngoal = \"x\"\nrisk = \"read_only\"\nmax_steps = 7\nbudget = { usd = 1.0 }\n[budget]\nminutes = 20\ncalls = 9\n",
    );
    assert_eq!(problems, []);
    let built = &config.goals["g"];
    assert_eq!(built.options.worker.as_ref().unwrap().value, "writer");
    assert_eq!(built.options.critic.as_ref().unwrap().value, "judge");
    assert_eq!(built.options.risk.value, Risk::ReadOnly);
    assert!(
        built.options.protect_tests.value && !built.options.in_place.value && !built.options.commit.value
    );
    let limits = built.limits;
    assert_eq!((limits.steps, limits.turns), (Some(7), Some(400)));
    assert_eq!(limits.active_ms, Some(20 * 60_000), "the run's time, where the goal says nothing");
    assert_eq!((limits.calls, limits.money), (None, Some(Money::from_usd(1.0))), "turns count, not calls");
}

#[test]
fn flags_win_and_take_no_protection_away() {
    let (config, _) = goal(
        "[goals.g]\ngoal = \"x\"\nuntil = [\"a\", \"b\"]\ndeny = [\"fetch_url\"]\nprotect = [\"data/**\"]\nmax_steps = 7\n",
    );
    let mut flags = Overrides::of_goal()
        .typed("deny", &["run_command"])
        .typed("protect", &["x"])
        .typed("max_steps", &["9"]);
    flags.check_timeout = Some(Duration::from_secs(3));
    let (built, problems) = config.goal_for(Some("g"), &flags);
    assert_eq!(problems, []);
    let plain = |list: &[Sourced<String>]| list.iter().map(|t| t.value.clone()).collect::<Vec<_>>();
    assert_eq!(plain(&built.options.deny), ["fetch_url", "run_command"]);
    assert_eq!(plain(&built.options.protect), ["data/**", "x"]);
    assert_eq!(built.limits.steps, Some(9));
    let until = built.options.until.unwrap().value;
    let timed = |leaf: &&Criterion| matches!(leaf, Criterion::Shell { timeout_ms: 3000, .. });
    assert!(until.leaves().iter().all(timed), "{until:?}");
}

#[test]
fn whoever_cannot_have_a_role_in_a_goal_is_refused_with_a_way_out() {
    let (config, _) = goal("");
    let refused = |flags: Overrides| shown(&config.goal_for(None, &flags.with("goal", "x")).1);
    let given = |name: &str, word: &str| Overrides::of_goal().typed(name, &[word]);
    let picture = Criterion::Vision { command: "s".into(), file: "s.png".into(), expected: "y".into() };
    assert_snapshot!(refused(given("worker", "me")), @r"
    error: worker `me` is a person, and a person is not watched
      help: name an agent with --worker; you are heard with `gadfly steer`
    ");
    assert_snapshot!(refused(given("critic", "me")), @r"
    error: critic `me` is a person, who cannot be asked every few steps
      help: name another critic, or none with --critic-interval 0; you watch with `gadfly follow`
    ");
    assert_snapshot!(refused(given("judge", "me").with("until", picture.clone())), @r"
    error: judge `me` is a person
      help: to be asked yourself: --manual, or { manual = true }
    ");
    assert_snapshot!(refused(given("judge", "cli").with("until", picture.clone())), @r"
    error: judge `cli` of kind `claude-code` cannot be shown a picture
      help: name a judge of kind openai or anthropic
    ");
    // A worker of a kind that sees no pictures is none the worse for it if another one is asked.
    assert_snapshot!(refused(given("worker", "cli").with("until", picture)), @"");
    // A critic that never looks need not be one that could.
    assert_snapshot!(refused(given("critic", "me").typed("critic_interval", &["0"])), @"");
    assert_snapshot!(refused(given("risk", "any")), @r#"
    error: --risk must be one of "read_only", "write_local", "network_get", "network_write", "spends_money", not `any`
    "#);
}

#[test]
fn the_tools_that_can_be_named_are_those_that_are_offered() {
    use gadfly_engine::tool::offered;
    let offered = [offered::builtin(), offered::processes()].concat();
    assert_eq!(offered.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), TOOLS);
}

#[test]
fn a_watching_loop_is_pointed_to_goals() {
    assert_snapshot!(wrong("[loops.l]\nprotocol = \"goal\"\ntask = \"x\"\n"), @r"
    error: protocol `goal` is not for loops
      at gadfly.toml:17:12
      help: a watched worker is a goal: `gadfly goal`, or a table [goals.NAME]; for loops there are `revise`, `score`, `audit`, `converge`
    ");
}
