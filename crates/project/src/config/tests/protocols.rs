//! What a user sees of the settings that belong to one protocol or another.

use gadfly_engine::Severity;
use gadfly_engine::deduction::Level;
use gadfly_engine::protocol::audit::economy::Economy;
use gadfly_engine::protocol::score::settings::EscalateTo;
use insta::assert_snapshot;

use super::{problems, read, shown};
use crate::config::{CriteriaSetting, Overrides};
use crate::place::Sourced;

const AGENTS: &str = r#"
[agents.hand]
kind = "command"
command = ["./hand"]
[agents.model]
kind = "openai"
model = "m"
base_url = "http://127.0.0.1:1/v1"
[agents.judge]
kind = "scripted"
script = "judge.toml"
[defaults]
worker = "hand"
critic = "judge"
overrule = false
"#;

fn found(loops: &str) -> String {
    problems(&format!("{AGENTS}{loops}"))
}

#[test]
fn an_audit_is_read_whole() {
    let (config, found) = read(&format!(
        r#"{AGENTS}
[loops.f]
protocol = "audit"
task = "T"
task_id = "search-1"
criteria = ["it lists matches", {{ id = "SC-9", text = "none is said so" }}, "SC-3: it is fast"]
scope = "src/**"
verify = ["cargo test", "make lint"]
verify_runs = 3
verify_timeout = "90s"
block_on = "risk"
economy = "full"
decisions = ["no new dependencies"]
build_fixer = "hand"
researcher = "model"
branch = "feature/x"
max_parts = 7
"#
    ));
    assert_eq!(found, []);
    let looped = &config.loops["f"];
    let Some(Sourced { value: CriteriaSetting::Items(items), .. }) = &looped.options.criteria else {
        panic!()
    };
    let items: Vec<_> = items.iter().map(|c| (c.value.name.as_deref(), c.value.text.as_str())).collect();
    assert_eq!(
        items,
        [(None, "it lists matches"), (Some("SC-9"), "none is said so"), (Some("SC-3"), "it is fast")]
    );
    let texts = |list: &[Sourced<String>]| list.iter().map(|t| t.value.clone()).collect::<Vec<_>>();
    assert_eq!(texts(&looped.audit.scope), ["src/**"]);
    assert_eq!(texts(&looped.audit.verify), ["cargo test", "make lint"]);
    assert_eq!((looped.audit.verify_runs.value, looped.audit.verify_timeout.value.as_secs()), (3, 90));
    assert_eq!((looped.audit.block_on.value, looped.audit.economy.value), (Severity::Risk, Economy::Full));
    assert_eq!(
        (looped.options.max_parts.value, looped.audit.commit.value),
        (7, true),
        "a branch implies a commit"
    );
    let roles: Vec<_> =
        looped.roles().into_iter().map(|(role, agent)| format!("{role} {}", agent.value)).collect();
    assert_eq!(roles, ["worker hand", "build_fixer hand", "researcher model", "critic judge"]);
}

#[test]
fn a_score_takes_its_pass_mark_and_severity_from_what_is_said() {
    let read = |more: &str| {
        let text = format!("{AGENTS}[loops.s]\nprotocol = \"score\"\ntask = \"T\"\n{more}");
        let (config, found) = read(&text);
        assert_eq!(found, [], "{more}");
        config.loops["s"].clone()
    };
    for (more, mark) in [
        ("", 80),
        ("threshold = 90", 90),
        ("exploration = true", 60),
        ("exploration = true\nthreshold = 70", 70),
        ("out = \"explorations/a.md\"", 60),
        ("out = \"explorations/a.md\"\nexploration = false", 80),
        ("out = \"text/explorations.md\"", 80),
    ] {
        assert_eq!(read(more).pass_mark(), mark, "{more}");
    }
    for (more, level) in [
        ("", Level::High),
        ("phase = \"discovery\"", Level::Low),
        ("phase = \"Peer Review\"", Level::Maximum),
        ("phase = \"Peer Review\"\nseverity = \"medium-high\"", Level::MediumHigh),
        ("phase = \"paper\"", Level::High),
    ] {
        assert_eq!(read(more).level(), level, "{more}");
    }
    for (more, to) in [
        ("", EscalateTo::User),
        ("escalate_to = \"user\"", EscalateTo::User),
        ("escalate_to = \"orchestrator\"", EscalateTo::Orchestrator),
        ("escalate_to = \"judge\"", EscalateTo::Agent("judge".into())),
    ] {
        assert_eq!(read(more).escalation(), to, "{more}");
    }
    let two = read("critics = [\"judge\", { agent = \"model\", lens = \"method\" }]");
    assert_eq!(two.critic().unwrap().value, "judge", "the first is the primary");
    assert_eq!(two.critics[1].value.lens.as_deref(), Some("method"));
}

#[test]
fn a_key_of_another_protocol_names_the_protocols_it_belongs_to() {
    assert_snapshot!(found("[loops.a]\nprotocol = \"score\"\nverify = \"make\"\ncriteria = \"spec\"\noverrule = true\n[loops.b]\nprotocol = \"audit\"\nout = \"x\"\nrubric = [\"r\"]\nthreshold = 80\n"), @r#"
    error: `criteria` belongs to the protocols `audit`, `converge`; this loop follows `score`
      at gadfly.toml:19:12
      help: remove `criteria`, or set protocol = "audit"
    error: `overrule` belongs to protocol `revise`; this loop follows `score`
      at gadfly.toml:20:12
      help: remove `overrule`, or set protocol = "revise"
    error: `verify` belongs to protocol `audit`; this loop follows `score`
      at gadfly.toml:18:10
      help: remove `verify`, or set protocol = "audit"
    error: `out` belongs to the protocols `revise`, `score`, `converge`; this loop follows `audit`
      at gadfly.toml:23:7
      help: remove `out`, or set protocol = "revise"
    error: `rubric` belongs to the protocols `revise`, `score`; this loop follows `audit`
      at gadfly.toml:24:10
      help: remove `rubric`, or set protocol = "revise"
    error: `threshold` belongs to protocol `score`; this loop follows `audit`
      at gadfly.toml:25:13
      help: remove `threshold`, or set protocol = "score"
    "#);
    // What [defaults] says for one protocol is no mistake in loops of another.
    assert_eq!(found("[loops.a]\nprotocol = \"score\"\ntask = \"T\"\n"), "");
}

#[test]
fn values_of_the_wrong_shape_are_reported_all_at_once() {
    assert_snapshot!(found("[loops.a]\nprotocol = \"audit\"\nblock_on = \"major\"\nverify = []\nverify_runs = 0\neconomy = 1\ncriteria = [3, { id = \"SC-1\" }, { nmae = \"x\", text = \"y\" }]\ncritics = []\nscope = [\"\"]\n[loops.b]\nprotocol = \"score\"\ncritics = [{ lens = \"x\" }]\nseverity = \"harsh\"\nthreshold = 101\n"), @r#"
    error: `loops.a.block_on` must be one of "nit", "risk", "fail", not "major"
      at gadfly.toml:18:12
    error: `loops.a.verify` must be a string, or a list of strings that is not empty, not an empty list
      at gadfly.toml:19:10
    error: `loops.a.verify_runs` must be a whole number from 1 to 100, not 0
      at gadfly.toml:20:15
    error: `loops.a.economy` must be one of "off", "lite", "full", "ultra", not a whole number
      at gadfly.toml:21:11
    error: `loops.a.criteria[0]` must be a string or a table, not a whole number
      at gadfly.toml:22:13
    error: `loops.a.criteria[1]` is not one criterion
      at gadfly.toml:22:16
      help: write { id = "SC-1", text = "…" }, or { name = "CLARITY", question = "…?" }
    error: unknown key `nmae` in `loops.a.criteria[2]`
      at gadfly.toml:22:35
      help: did you mean `name`?
    error: `loops.a.critics` must be a list of agents that is not empty, not an empty list
      at gadfly.toml:23:11
      help: like ["judge", { agent = "second", lens = "method" }]
    error: `loops.a.scope[0]` must be a string, not an empty string
      at gadfly.toml:24:10
    error: `loops.b.critics[0]` names no `agent`
      at gadfly.toml:27:12
      help: write { agent = "judge", lens = "method" }
    error: `loops.b.severity` must be one of "low", "medium", "medium-high", "high", "maximum", not "harsh"
      at gadfly.toml:28:12
    error: `loops.b.threshold` must be a whole number from 1 to 100, not 101
      at gadfly.toml:29:13
    "#);
}

#[test]
fn impossible_casts_are_refused() {
    assert_snapshot!(found("[loops.a]\nprotocol = \"score\"\nescalate_to = \"hand\"\n[loops.b]\nprotocol = \"score\"\nescalate_to = \"jugde\"\ncritics = [\"judge\", \"judge\"]\n[loops.c]\nprotocol = \"converge\"\ncritics = [\"judge\", \"hand\"]\n[loops.d]\nprotocol = \"audit\"\nresearcher = \"nobody\"\nbranch = \"a b\"\ncommit = false\ntask_id = \"../x\"\n"), @r#"
    error: `escalate_to` names the loop's own worker `hand`
      at gadfly.toml:18:15
      help: name another agent, "orchestrator" or "user": whoever is stuck cannot decide about it
    error: `escalate_to` names agent `jugde`, which is not configured
      at gadfly.toml:21:15
      help: did you mean `judge`?
    error: critic `judge` is named twice with the same lens
      at gadfly.toml:22:21
      help: two critics see more with different lenses: { agent = "…", lens = "method" }
    error: `converge` has one critic here, and 2 are given
      at gadfly.toml:25:21
      help: keep one; a `fallback_critic` is asked when it fails, and protocol `score` has two
    error: `researcher` names agent `nobody`, which is not configured
      at gadfly.toml:28:14
      help: known here: `hand`, `judge`, `model`
    error: `task_id` `../x` cannot stand in a file name
      at gadfly.toml:31:11
      help: use letters, digits, `-`, `_` and `.`, at most 64 of them
    error: `branch` has no effect while `commit` is false
      at gadfly.toml:29:10
      help: remove one of them
    error: `a b` is no name for a branch
      at gadfly.toml:29:10
      help: like feature/search: no spaces, no `..`, none of ~^:?*[\
    "#);
}

#[test]
fn whoever_gives_files_is_no_worker_where_the_reply_is_taken() {
    let (config, found) = read(&format!(
        "{AGENTS}[loops.a]\nprotocol = \"audit\"\ntask = \"T\"\nworker = \"model\"\n[loops.r]\ntask = \"T\"\nworker = \"filer\"\n[agents.filer]\nkind = \"command\"\ncommand = [\"x\"]\noutput = \"files\"\n"
    ));
    assert_eq!(found, []);
    // A model behind an API changes files with the tools it is offered.
    assert_eq!(shown(&config.loop_for(Some("a"), &Overrides::default()).1), "");
    assert_snapshot!(shown(&config.loop_for(Some("r"), &Overrides::default()).1), @r#"
    error: worker `filer` gives its work as files, and `revise` takes the reply
      at gadfly.toml:22:10
      help: use protocol audit, or output = "reply"
    "#);
    // Nobody works in a review.
    let mut review = Overrides::default();
    review.critics_only = true;
    assert_eq!(config.loop_for(Some("a"), &review).1, []);
}

#[test]
fn flags_are_checked_like_files() {
    let (config, _) = read(AGENTS);
    let base = Overrides::default().with("task", "T");
    let score = base.clone().typed("protocol", &["score"]).typed("critic", &["judge", "model"]);
    let flags =
        score.clone().typed("block_on", &["major"]).typed("threshold", &["0"]).typed("verify", &["make"]);
    assert_snapshot!(shown(&config.loop_for(None, &flags).1), @r#"
    error: --block-on must be one of "nit", "risk", "fail", not `major`
    error: --threshold must be a whole number from 1 to 100, not 0
    error: `--verify` belongs to protocol `audit`; this loop follows `score`
      help: leave it out, or add --protocol audit
    "#);
    let flags = score.typed("threshold", &["90"]);
    let (looped, found) = config.loop_for(None, &flags);
    assert_eq!(found, []);
    assert_eq!((looped.pass_mark(), looped.critics.len()), (90, 2));
    let set = base.typed("criteria", &["plan"]).typed("protocol", &["converge"]);
    let (looped, found) = config.loop_for(None, &set);
    assert_eq!(found, []);
    assert_eq!(looped.options.criteria.unwrap().value, CriteriaSetting::Set("plan".into()));
}
