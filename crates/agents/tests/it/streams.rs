//! What CLI agents make of streams: recorded from the real programs (`tests/it/streams/`, paths shortened), derived
//! from those, and from shell scripts that stand in for a program. Nothing here reaches a network.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // tests may fail loudly

mod hands;
mod stage;

use gadfly_agents::{CallError, Exit};
use gadfly_engine::{FailureKind, Layer, Money, Observation, Role, StopReason, Usage};
use stage::{Heard, Played, heard, recorded, script};

const APPROVED: &str = "[STATUS: APPROVED]\n- ";

fn answer(heard: &Heard) -> &gadfly_agents::CallReply {
    heard.result.as_ref().unwrap_or_else(|e| panic!("no answer: {e}"))
}

fn failure(heard: &Heard) -> (FailureKind, String) {
    match &heard.result {
        Err(CallError::Failed(failure)) => (failure.kind, failure.message.clone()),
        other => panic!("no failure: {other:?}"),
    }
}

const fn usage(input: u64, output: u64, cache_read: u64, cost: Option<Money>) -> Usage {
    Usage { input, output, cache_read, cache_write: 0, cost, estimated: false }
}

/// A row of the table below.
struct Row {
    kind: &'static str,
    file: &'static str,
    exit: i32,
    role: Role,
    steps: &'static [&'static str],
    stopped: &'static [&'static str],
    retries: usize,
    ends: Ends,
}

enum Ends {
    Answered(Usage),
    Stops(StopReason),
    Fails(FailureKind),
}

const FILE: &str = "Write: /project/hello.txt";
const BASH: &str = "Bash: echo made-by-agent > hello.txt";
const NO_METADATA: &str = "Model metadata for `fake-1` not found. Defaulting to fallback metadata; this can \
                           degrade performance and cause issues.";

#[tokio::test]
async fn every_recorded_stream_means_what_its_program_meant() {
    use Ends::{Answered, Fails, Stops};
    use FailureKind::{Misconfigured, RateLimited, Refused, StepsUsedUp, TooLong, Unauthorised, Unavailable};
    use Role::{Critic, Worker};
    let nano = |n| Some(Money(n));
    let row = |kind, file, exit, role, steps, stopped, retries, ends| Row {
        kind,
        file,
        exit,
        role,
        steps,
        stopped,
        retries,
        ends,
    };
    let claude = |file, exit, role, steps, stopped, retries, ends| {
        row("claude-code", file, exit, role, steps, stopped, retries, ends)
    };
    let codex =
        |file, exit, steps, retries, ends| row("codex", file, exit, Worker, steps, &[], retries, ends);
    let rows = [
        claude("claude-stream-text", 0, Worker, &[], &[], 0, Answered(usage(11, 7, 0, nano(138_000)))),
        claude("claude-stream-tool", 0, Worker, &[BASH], &[], 0, Answered(usage(22, 14, 0, nano(276_000)))),
        claude(
            "claude-stream-denied",
            0,
            Worker,
            &[BASH],
            &[BASH],
            0,
            Answered(usage(22, 14, 0, nano(276_000))),
        ),
        claude("claude-stream-unreachable", 1, Worker, &[], &[], 1, Fails(Unavailable)),
        claude(
            "claude-critic-write",
            0,
            Critic,
            &[FILE],
            &[FILE],
            0,
            Answered(usage(22, 14, 6, nano(277_800))),
        ),
        claude("claude-worker-write", 0, Worker, &[FILE], &[], 0, Answered(usage(22, 14, 6, nano(277_800)))),
        // Its `total_cost_usd` has the conversation before in it: 416,700.
        claude("claude-resumed", 0, Worker, &[], &[], 0, Answered(usage(11, 7, 3, nano(138_900)))),
        claude("claude-max-turns", 1, Worker, &["Bash: ls"], &[], 0, Fails(StepsUsedUp)),
        claude("claude-400", 1, Critic, &[], &[], 0, Fails(Misconfigured)),
        claude("claude-401", 1, Critic, &[], &[], 0, Fails(Unauthorised)),
        claude("claude-403", 1, Critic, &[], &[], 0, Fails(Unauthorised)),
        claude("claude-413", 1, Critic, &[], &[], 0, Fails(TooLong)),
        claude("claude-429", 1, Critic, &[], &[], 1, Fails(RateLimited)),
        claude("claude-529", 1, Critic, &[], &[], 1, Fails(Unavailable)),
        claude("claude-refusal", 1, Critic, &[], &[], 0, Stops(StopReason::Refusal)),
        claude("claude-max-tokens", 1, Critic, &[], &[], 0, Stops(StopReason::Length)),
        claude("claude-no-session", 1, Critic, &[], &[], 0, Fails(FailureKind::Crashed)),
        codex("codex-exec-text", 0, &[], 0, Answered(usage(11, 7, 0, None))),
        codex(
            "codex-exec-tool",
            0,
            &["command: /bin/bash -lc 'echo made-by-agent > hello.txt'"],
            0,
            Answered(usage(22, 14, 0, None)),
        ),
        codex("codex-read-only", 0, &[], 0, Answered(usage(14, 14, 8, None))),
        codex("codex-exec-broken-stream", 1, &[], 5, Fails(Unavailable)),
        codex("codex-401", 1, &[], 5, Fails(Unavailable)),
        codex("codex-429", 1, &[], 0, Fails(Unavailable)),
        row("gemini", "gemini-stream-text", 0, Critic, &[], &[], 0, Answered(usage(11, 7, 0, None))),
        row(
            "gemini",
            "gemini-stream-tool",
            0,
            Worker,
            &["run_shell_command: echo made-by-agent > hello.txt"],
            &[],
            0,
            Answered(usage(22, 14, 0, None)),
        ),
        row(
            "gemini",
            "gemini-denied",
            0,
            Critic,
            &["write_file: /project/hello.txt"],
            &["write_file: /project/hello.txt"],
            0,
            Answered(usage(22, 14, 0, None)),
        ),
        row("gemini", "gemini-401", 145, Critic, &[], &[], 0, Fails(Unauthorised)),
        row("opencode", "opencode-run-text", 0, Critic, &[], &[], 0, Answered(usage(11, 7, 0, None))),
        row(
            "opencode",
            "opencode-run-tool",
            0,
            Worker,
            &["bash: echo made-by-agent > hello.txt"],
            &[],
            0,
            Answered(usage(22, 14, 0, None)),
        ),
        row(
            "opencode",
            "opencode-denied",
            0,
            Critic,
            &["write"],
            &["write"],
            0,
            Answered(usage(22, 14, 0, nano(276_000))),
        ),
        row("opencode", "opencode-401", 1, Critic, &[], &[], 0, Fails(Unauthorised)),
        row("opencode", "opencode-length", 0, Critic, &[], &[], 0, Stops(StopReason::Length)),
        row("opencode", "opencode-content-filter", 1, Critic, &[], &[], 0, Fails(Refused)),
    ];
    for Row { kind, file, exit, role, steps, stopped, retries, ends } in rows {
        let got = heard(kind, role, &[Played::new(recorded(file), Exit::Code(exit))]).await;
        match ends {
            Answered(usage) => {
                let answer = answer(&got);
                assert!(answer.text.starts_with(APPROVED), "{file}: {}", answer.text);
                assert_eq!((&answer.stop, answer.usage), (&StopReason::EndTurn, usage), "{file}");
                assert_eq!(answer.session.is_some(), role == Worker, "{file}: {:?}", answer.session);
                assert_eq!(got.last_usage(), Some(usage), "{file}: usage is observed");
            }
            Stops(stop) => assert_eq!(answer(&got).stop, stop, "{file}"),
            Fails(kind) => assert_eq!(failure(&got).0, kind, "{file}: {}", failure(&got).1),
        }
        assert_eq!(got.steps(), steps, "{file}");
        let notes: &[&str] = if kind == "codex" { &[NO_METADATA] } else { &[] };
        assert_eq!(got.notes(), notes, "{file}");
        assert_eq!(got.stopped(), stopped, "{file}");
        let tried = got.observed.iter().filter(|o| matches!(o, Observation::Retrying { .. })).count();
        assert_eq!(tried, retries, "{file}");
    }
}

#[tokio::test]
async fn a_structured_answer_is_preferred_if_a_schema_was_asked_for() {
    let stream = recorded("claude-structured").replace("\"result\":\"{", "\"result\":\"said as text {");
    let mut stage = stage::Stage::new("claude-code", Role::Critic);
    stage.call.schema = Some("{\"type\":\"object\"}".into());
    let got = stage.play(&[Played::new(stream.clone(), Exit::Code(0))]).await;
    assert_eq!(answer(&got).text, "{\"verdict\":\"approve\"}");
    assert!(got.steps().is_empty(), "giving the answer is no step: {:?}", got.steps());
    let got = heard("claude-code", Role::Critic, &[Played::new(stream, Exit::Code(0))]).await;
    assert!(answer(&got).text.starts_with("said as text"), "nobody asked for one");
}

const INIT: &str = r#"{"type":"system","subtype":"init","session_id":"s-1","model":"m","tools":["Read"]}"#;
const GOOD: &str = r#"{"session_id":"s-1","is_error":false,"subtype":"success","result":"[STATUS: APPROVED]\n- ok","type":"result"}"#;
const BAD: &str = r#"{"is_error":true,"subtype":"success","api_error_status":429,"result":"limit reached","type":"result"}"#;

fn limit(status: &str, resets: &str) -> String {
    format!(
        r#"{{"type":"rate_limit_event","rate_limit_info":{{"status":"{status}","resetsAt":{resets},"rateLimitType":"five_hour","utilization":0.913}}}}"#
    )
}

async fn claude(lines: &[&str], exit: Exit) -> Heard {
    heard("claude-code", Role::Critic, &[Played::new(lines.join("\n"), exit)]).await
}

/// The program would try again for minutes, and then say the same.
#[tokio::test]
async fn a_key_that_is_refused_is_not_tried_again() {
    let refused = r#"{"type":"system","subtype":"api_retry","attempt":1,"error_status":401,"error":"authentication_failed"}"#;
    let (kind, message) = failure(&claude(&[INIT, refused, GOOD], Exit::Code(0)).await);
    assert_eq!(kind, FailureKind::Unauthorised, "{message}");
    assert!(message.contains("is not let in") && message.contains("401"), "{message}");
}

#[tokio::test]
async fn a_used_up_quota_is_told_with_its_reset_time_in_seconds_or_milliseconds() {
    let table = [
        ("1794803000", Some(1_794_803_000_000)),
        ("1794803000000", Some(1_794_803_000_000)),
        ("1794803000.5", Some(1_794_803_000_500)),
        ("null", None),
        ("\"soon\"", None),
        ("-5", None),
    ];
    for (resets, until) in table {
        let got = claude(&[INIT, &limit("rejected", resets), BAD], Exit::Code(1)).await;
        let Err(CallError::Quota { until_ms, message, .. }) = &got.result else { panic!("{:?}", got.result) };
        assert_eq!((*until_ms, message.as_str()), (until, "limit reached"), "{resets}");
    }
    let got = claude(&[INIT, &limit("rejected", "1794803000")], Exit::Code(1)).await;
    assert!(matches!(got.result, Err(CallError::Quota { .. })), "without a result, too: {:?}", got.result);
}

#[tokio::test]
async fn a_quota_that_is_only_near_or_was_lifted_stops_nothing() {
    let got = claude(&[INIT, &limit("allowed_warning", "1794803000"), GOOD], Exit::Code(0)).await;
    assert!(got.result.is_ok());
    assert_eq!(got.notes(), ["the five_hour limit is near: 91 % used"]);
    let lifted = [INIT, &limit("rejected", "1794803000"), &limit("allowed", "1794803000"), BAD];
    assert_eq!(failure(&claude(&lifted, Exit::Code(1)).await).0, FailureKind::RateLimited);
    let got = claude(&[INIT, &limit("rejected", "1794803000"), GOOD], Exit::Code(0)).await;
    assert!(got.result.is_ok(), "the call went through all the same");
}

#[tokio::test]
async fn what_is_unknown_or_no_json_is_passed_over() {
    let odd = [
        "Loading…",
        "[1,2]",
        "17",
        r#"{"type":"news","message":{"content":9}}"#,
        r#"{"message":"a plain string","type":"assistant"}"#,
        r#"{"type":"assistant","message":{"content":"text, not blocks","usage":"many"}}"#,
        r#"{"type":"assistant","message":{"content":[3,{"type":"tool_use"},{"type":"text","text":7}]}}"#,
        r#"{"type":"rate_limit_event","rate_limit_info":"none"}"#,
        r#"{"type":["system"]}"#,
        "",
        GOOD,
        "bye",
        r#"{"type":"system","subtype":"late","cut"#,
    ];
    let got = claude(&odd, Exit::Code(0)).await;
    assert_eq!(answer(&got).text, "[STATUS: APPROVED]\n- ok");
    assert_eq!(got.steps(), ["a tool"]);
}

#[tokio::test]
async fn an_end_without_a_result_is_a_bad_reply_that_says_what_was_there() {
    for kind in stage::KINDS {
        let stream = "Segmentation fault somewhere\nmore\n{\"type\":\"who knows\"}\n";
        let got = heard(kind, Role::Critic, &[Played::new(stream.into(), Exit::Code(0))]).await;
        let (failed, message) = failure(&got);
        assert_eq!(failed, FailureKind::BadReply, "{kind}");
        assert!(
            message.contains("without a result; 2 lines were no JSON, the first: Segm"),
            "{kind}: {message}"
        );
        let got = heard(kind, Role::Critic, &[Played::new(String::new(), Exit::Code(7))]).await;
        assert_eq!(failure(&got).0, FailureKind::Crashed, "{kind}");
    }
}

#[tokio::test]
async fn a_result_counts_however_the_program_ends_after_it() {
    for (exit, note) in [
        (Exit::Code(3), "`fake-program` ended with exit code 3 after its result"),
        (Exit::Signal(9), "`fake-program` was ended by signal 9 after its result"),
        (Exit::TimedOut, "`fake-program` ran out of time after its result"),
    ] {
        let got = claude(&[INIT, GOOD], exit).await;
        assert_eq!(answer(&got).text, "[STATUS: APPROVED]\n- ok", "{exit:?}");
        assert_eq!((got.notes(), got.steps()), (vec![note], vec![]));
    }
}

#[tokio::test]
async fn of_two_results_the_last_one_is_the_answer_and_both_are_paid() {
    let with = |text: &str| {
        format!(
            r#"{{"type":"result","subtype":"success","is_error":false,"result":"{text}","total_cost_usd":9,"model_usage_since_last_result":{{"a":{{"inputTokens":2,"outputTokens":1,"costUSD":0.5}},"b":{{"inputTokens":1}}}}}}"#
        )
    };
    let got = claude(&[INIT, &with("first"), &with("second")], Exit::Code(0)).await;
    assert_eq!(answer(&got).text, "second");
    assert_eq!(answer(&got).usage, usage(6, 2, 0, Some(Money(1_000_000_000))));
}

#[tokio::test]
async fn a_line_without_end_is_not_kept_and_too_much_output_is_said_so() {
    let long = format!("{{\"x\":\"{}\"}}\n{INIT}\n{GOOD}", "a".repeat(gadfly_agents::MAX_REPLY + 1));
    let got = heard("claude-code", Role::Critic, &[Played::new(long, Exit::Code(0))]).await;
    assert!(got.result.is_ok(), "{:?}", got.result);
    let got = claude(&[INIT], Exit::Overflowed).await;
    let (kind, message) = failure(&got);
    assert_eq!(kind, FailureKind::BadReply);
    assert!(message.contains("wrote more than 64 MB"), "{message}");
}

#[tokio::test]
async fn a_critic_that_was_denied_a_tool_is_recorded_with_the_layer() {
    let got =
        heard("claude-code", Role::Critic, &[Played::new(recorded("claude-stream-denied"), Exit::Code(0))])
            .await;
    let stopped: Vec<_> = got.observed.iter().filter(|o| matches!(o, Observation::Stopped { .. })).collect();
    assert_eq!(
        stopped,
        [&Observation::Stopped { layer: Layer::OwnMode, what: BASH.into() }],
        "once, although two lines say it"
    );
    assert!(got.result.is_ok(), "a denial fails no call");
    let declined = r#"{"type":"item.completed","item":{"id":"1","type":"command_execution","command":"rm x","status":"declined"}}
{"type":"item.completed","item":{"id":"2","type":"agent_message","text":"ok"}}
{"type":"turn.completed","usage":{}}"#;
    let got = heard("codex", Role::Critic, &[Played::new(declined.into(), Exit::Code(0))]).await;
    assert_eq!((got.stopped(), got.result.is_ok()), (vec!["command: rm x"], true));
}

#[tokio::test]
async fn geminis_exit_codes_have_their_meanings() {
    let table = [
        (41, FailureKind::Unauthorised),
        (42, FailureKind::Misconfigured),
        (52, FailureKind::Misconfigured),
        (53, FailureKind::BadReply),
        (55, FailureKind::Misconfigured),
    ];
    for (code, kind) in table {
        let got = heard("gemini", Role::Critic, &[Played::new(String::new(), Exit::Code(code))]).await;
        assert_eq!(failure(&got).0, kind, "{code}");
    }
    let failed = r#"{"type":"result","status":"error","error":{"type":"unknown","message":"no"}}"#;
    for (code, kind) in
        [(173, FailureKind::RateLimited), (157, FailureKind::TooLong), (247, FailureKind::Unavailable)]
    {
        let got = heard("gemini", Role::Critic, &[Played::new(failed.into(), Exit::Code(code))]).await;
        assert_eq!(failure(&got).0, kind, "{code}");
    }
}

#[tokio::test]
async fn what_was_said_before_a_tool_call_is_not_the_answer() {
    let gemini = r#"{"type":"message","role":"assistant","content":"Let me look.","delta":true}
{"type":"tool_use","tool_name":"read_file","tool_id":"1","parameters":{"path":"a"}}
{"type":"message","role":"assistant","content":"[STATUS: ","delta":true}
{"type":"message","role":"assistant","content":"APPROVED]","delta":true}
{"type":"result","status":"success"}"#;
    let opencode = r#"{"type":"step_start","part":{}}
{"type":"text","part":{"text":"Let me look."}}
{"type":"step_finish","part":{"reason":"tool-calls"}}
{"type":"step_start","part":{}}
{"type":"text","part":{"text":"[STATUS: APPROVED]"}}
{"type":"step_finish","part":{"reason":"stop"}}"#;
    for (kind, stream) in [("gemini", gemini), ("opencode", opencode)] {
        let got = heard(kind, Role::Critic, &[Played::new(stream.into(), Exit::Code(0))]).await;
        assert_eq!(answer(&got).text, "[STATUS: APPROVED]", "{kind}");
    }
}

#[tokio::test]
async fn a_session_that_is_gone_is_begun_anew_once_and_said_so() {
    let good = [
        ("claude-code", "claude-stream-text"),
        ("codex", "codex-exec-text"),
        ("gemini", "gemini-stream-text"),
        ("opencode", "opencode-run-text"),
    ];
    for (kind, file) in good {
        let gone = if kind == "claude-code" { recorded("claude-no-session") } else { String::new() };
        let mut stage = stage::Stage::new(kind, Role::Worker);
        stage.call.session = Some("01a1-gone".into());
        let plays = [Played::new(gone, Exit::Code(42)), Played::new(recorded(file), Exit::Code(0))];
        let got = stage.play(&plays).await;
        assert!(answer(&got).text.starts_with(APPROVED), "{kind}");
        assert!(got.notes().iter().any(|s| s.contains("begins anew")), "{kind}: {:?}", got.notes());
        let [first, second] = got.commands.as_slice() else { panic!("{kind}: {}", got.commands.len()) };
        assert!(first.args.iter().any(|a| a == "01a1-gone"), "{kind}: {:?}", first.args);
        assert!(!second.args.iter().any(|a| a.contains("gone")), "{kind}: {:?}", second.args);
        assert!(second.time.unwrap() <= first.time.unwrap(), "{kind}: the time of both is one");
    }
}

#[tokio::test]
async fn a_session_that_failed_after_something_was_paid_is_not_repeated() {
    let mut stage = stage::Stage::new("codex", Role::Worker);
    stage.call.session = Some("01a1".into());
    let got = stage.play(&[Played::new(recorded("codex-401"), Exit::Code(1))]).await;
    assert_eq!((failure(&got).0, got.commands.len()), (FailureKind::Unavailable, 1));
}

#[tokio::test]
async fn a_codex_conversation_that_goes_on_is_charged_only_for_what_is_new() {
    let play = |file| [Played::new(recorded(file), Exit::Code(0))];
    let mut stage = stage::Stage::new("codex", Role::Worker);
    stage.call.session = Some("01a1e277:22:8:0:14".into());
    let got = stage.play(&play("codex-resumed")).await;
    assert_eq!(answer(&got).usage, usage(7, 7, 4, None), "33 - 22 of input, of which 12 - 8 were cached");
    assert!(answer(&got).session.as_ref().unwrap().ends_with(":33:12:0:21"), "{:?}", answer(&got).session);
    assert!(got.commands[0].args.ends_with(&["resume".into(), "01a1e277".into(), "-".into()]));
    // A version that counts per turn is taken at its word.
    let mut stage = stage::Stage::new("codex", Role::Worker);
    stage.call.session = Some("01a1e277:900:8:0:14".into());
    assert_eq!(answer(&stage.play(&play("codex-resumed")).await).usage, usage(21, 21, 12, None));
}

#[tokio::test]
async fn a_program_that_is_not_there_is_named() {
    let got = stage::Stage::new("codex", Role::Worker).run(&["/nowhere/codex"]).await;
    let (kind, message) = failure(&got);
    assert_eq!(kind, FailureKind::Misconfigured);
    assert!(message.contains("`/nowhere/codex`"), "{message}");
}

#[tokio::test]
async fn a_real_process_gets_the_brief_over_its_input_and_is_read_to_its_end() {
    let script = script(
        r#"case "$*" in *"Task: write."*) echo "the brief is an argument" >&2; exit 9;; esac
brief=$(cat)
case "$brief" in *"Task: write."*) ;; *) exit 8;; esac
printf '%s\n' '{"type":"init","session_id":"g-1"}'
printf '%s\n' '{"type":"message","role":"assistant","content":"done","delta":true}'
printf '%s\n' '{"type":"result","status":"success","stats":{"input_tokens":3,"output_tokens":1}}'"#,
    );
    let got = stage::Stage::new("gemini", Role::Worker).run(&script.command()).await;
    assert_eq!((answer(&got).text.as_str(), answer(&got).session.as_deref()), ("done", Some("g-1")));
}

#[tokio::test]
async fn no_kind_puts_the_brief_into_its_arguments() {
    for kind in stage::KINDS {
        for role in [Role::Worker, Role::Critic] {
            let got = heard(kind, role, &[Played::new(String::new(), Exit::Code(1))]).await;
            let command = &got.commands[0];
            assert!(command.args.iter().all(|a| !a.contains("Task: write.")), "{kind}: {:?}", command.args);
            assert!(String::from_utf8_lossy(&command.stdin).contains("Task: write."), "{kind}");
        }
    }
}

#[tokio::test]
async fn a_program_that_uses_tools_for_ever_is_stopped_and_what_it_used_is_known() {
    let forever = script(
        r#"cat > /dev/null
printf '%s\n' '{"type":"system","subtype":"init","session_id":"s"}'
n=0
while :; do
  n=$((n+1))
  printf '%s\n' '{"type":"assistant","message":{"id":"m'$n'","usage":{"input_tokens":5},"content":[{"type":"tool_use","id":"t'$n'","name":"Bash","input":{"command":"ls"}}]}}'
done"#,
    );
    let mut stage = stage::Stage::new("claude-code", Role::Worker);
    stage.max_steps = 3;
    let got = stage.run(&forever.command()).await;
    let Err(CallError::Failed(failed)) = &got.result else { panic!("{:?}", got.result) };
    assert!(failed.message.contains("more than 3 tool calls") && failed.message.contains("max_steps"));
    assert_eq!((failed.kind, got.steps().len()), (FailureKind::StepsUsedUp, 3));
    assert!(failed.usage.input >= 15, "{:?}", failed.usage);
}

#[tokio::test]
async fn cancelling_and_time_running_out_end_the_program() {
    let asleep = script("cat > /dev/null; printf '%s\\n' '{\"type\":\"init\"}'; exec sleep 600");
    let mut stage = stage::Stage::new("gemini", Role::Worker);
    stage.cancel_at_first_byte = true;
    let got = stage.run(&asleep.command()).await;
    assert_eq!(got.result, Err(CallError::Cancelled { sent: true }));
    let mut stage = stage::Stage::new("gemini", Role::Worker);
    stage.call.time = Some(std::time::Duration::from_millis(50));
    let got = stage.run(&asleep.command()).await;
    assert_eq!(failure(&got).0, FailureKind::Timeout);
}
