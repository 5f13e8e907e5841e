//! The ACP client against a scripted agent that speaks the protocol with the official crate's agent side.

#![allow(clippy::unwrap_used, clippy::panic)]

mod stage;

use std::sync::atomic::Ordering;
use std::time::Duration;

use gadfly_agents::{CallError, MAX_REPLY};
use gadfly_engine::{FailureKind, Layer, Money, Observation, Role, StopReason};
use stage::{Stage, critic, worker};

fn failure(done: &stage::Done) -> (FailureKind, String) {
    match &done.answer {
        Err(CallError::Failed(failure)) => (failure.kind, failure.message.clone()),
        other => panic!("no failure: {other:?}"),
    }
}

#[tokio::test]
async fn an_answer_is_the_text_and_progress_as_it_comes() {
    let done = critic(&["say=Hello, ", "think=hm", "say=world", "unknown-update"]).call().await;
    let answer = done.answer.unwrap();
    assert_eq!(answer.text, "Hello, world");
    assert_eq!(answer.stop, StopReason::EndTurn);
    assert_eq!(done.progress, ["Hello, ", "world"]);
    assert_eq!(answer.session.as_deref(), Some("session-1"));
}

#[tokio::test]
async fn the_brief_is_the_prompt_with_both_system_texts() {
    let done = critic(&["echo"]).call().await;
    assert_eq!(done.answer.unwrap().text, "For all.\n\nFor this agent.\n\nThe brief.");
}

#[tokio::test]
async fn each_role_is_offered_what_it_may_use() {
    let done = worker(&["circumstances"]).call().await;
    let said = done.answer.unwrap().text;
    assert!(said.ends_with("reads=false writes=true terminal=true"), "{said}");
    assert!(said.starts_with(&format!("folder={} ", done.folder.display())), "{said}");
    let said = critic(&["circumstances"]).call().await.answer.unwrap().text;
    assert!(said.ends_with("reads=true writes=false terminal=false"), "{said}");
}

#[tokio::test]
async fn a_reading_mode_is_a_guard_and_in_our_sandbox_codex_goes_without_its_own() {
    const CODEX: [&str; 2] = ["modes=agent,read-only,agent-full-access", "circumstances"];
    for (role, sandboxed, mode, guards) in [
        (Role::Critic, false, "mode=read-only ", &["its own mode (mode read-only)"][..]),
        (Role::Critic, true, "mode=agent-full-access ", &[]),
        (Role::Worker, true, "mode=agent-full-access ", &[]),
        (Role::Worker, false, "mode= ", &[]),
    ] {
        let mut stage = Stage::new(role, &CODEX);
        stage.sandboxed = sandboxed;
        let done = stage.call().await;
        assert_eq!(done.guards(), guards, "{role:?} {sandboxed}");
        let said = done.answer.unwrap().text;
        assert!(said.contains(mode), "{role:?} {sandboxed}: {said}");
    }
    let mut stage = critic(&["modes=default,plan", "circumstances"]);
    stage.sandboxed = true;
    let done = stage.call().await;
    assert_eq!(done.guards(), ["its own mode (mode plan)"], "what needs no mounts is kept");
}

#[tokio::test]
async fn who_may_only_read_gets_a_reading_mode_if_there_is_one() {
    for (words, role, mode) in [
        (["modes=default,plan", "circumstances"], Role::Critic, "mode=plan "),
        (["modes=read-only,agent", "circumstances"], Role::Critic, "mode= "),
        (["modes=agent,read-only", "circumstances"], Role::Critic, "mode=read-only "),
        (["mode-option=build,plan", "circumstances"], Role::Critic, "mode=plan "),
        (["modes=default,yolo", "circumstances"], Role::Critic, "mode= "),
        (["modes=default,plan", "circumstances"], Role::Worker, "mode= "),
        (["modes=default,plan", "circumstances"], Role::Advisor, "mode=plan "),
    ] {
        let said = Stage::new(role, &words).call().await.answer.unwrap().text;
        assert!(said.contains(mode), "{words:?} {role:?}: {said}");
    }
}

#[tokio::test]
async fn a_named_model_is_chosen_or_the_record_says_that_it_was_not() {
    let mut stage = critic(&["models=small,large", "circumstances"]);
    stage.spec.model = Some("large".into());
    let done = stage.call().await;
    let answer = done.answer.unwrap();
    assert!(answer.text.contains("model=large "), "{}", answer.text);
    assert_eq!(answer.model.as_deref(), Some("large"));
    for words in [&["models=small", "say=x"][..], &["say=x"][..]] {
        let mut stage = critic(words);
        stage.spec.model = Some("large".into());
        let done = stage.call().await;
        assert!(done.notes().iter().any(|s| s.contains("does not offer the model `large`")), "{words:?}");
        assert_eq!(done.answer.unwrap().model, None);
    }
}

const ASKS: [&str; 10] = [
    "ask=read:a",
    "ask=search:b",
    "ask=think:c",
    "ask=edit:d",
    "ask=delete:e",
    "ask=move:f",
    "ask=execute:g",
    "ask=fetch:h",
    "ask=switch_mode:i",
    "ask=other:j",
];

#[tokio::test]
async fn permission_follows_the_role() {
    for role in [Role::Critic, Role::Advisor] {
        let done = Stage::new(role, &ASKS).call().await;
        let stopped = done.stopped();
        assert_eq!(stopped.len(), 7, "every refusal is recorded: {stopped:?}");
        assert!(stopped[0].starts_with("edit: d; it may only read"), "{stopped:?}");
        let said = done.progress.concat();
        assert_eq!(said, "[yes][yes][yes][no][no][no][no][no][no][no]");
    }
    let done = worker(&ASKS).call().await;
    assert_eq!(done.progress.concat(), "[yes]".repeat(10), "once, not always");
    assert!(done.stopped().is_empty());
    assert_eq!(done.steps().len(), 10);
}

#[tokio::test]
async fn who_offers_no_refusal_is_told_cancelled() {
    let done = critic(&["ask-only-allow=edit:x"]).call().await;
    assert_eq!(done.progress.concat(), "[cancelled]");
    assert_eq!(done.stopped().len(), 1);
}

#[tokio::test]
async fn a_worker_is_not_allowed_to_change_what_is_outside_of_its_folder() {
    let done = worker(&["ask=edit:in@src/a", "ask=edit:out@/etc/hosts"]).call().await;
    assert_eq!(done.progress.concat(), "[yes][no]");
    assert_eq!(done.stopped(), ["edit: out; it is outside of its folder"]);
}

#[tokio::test]
async fn files_are_read_and_written_below_the_folder() {
    let stage = worker(&["write=new.txt:made", "read=new.txt", "read=old.txt#2,1"]);
    std::fs::write(stage.folder.join("old.txt"), "one\ntwo\nthree\n").unwrap();
    let done = stage.call().await;
    assert_eq!(done.progress.concat(), "[written]madetwo\n");
    assert_eq!(std::fs::read_to_string(done.folder.join("new.txt")).unwrap(), "made");
}

#[tokio::test]
async fn a_missing_file_is_an_error_with_the_code_for_that() {
    let done = worker(&["read=none.txt"]).call().await;
    assert_eq!(done.progress.concat(), "[not read: -32002 Resource not found]");
    assert!(done.stopped().is_empty());
}

#[tokio::test]
async fn nothing_outside_of_the_folder_is_read_or_written() {
    for path in ["/etc/hostname", "../outside.txt", "a/../../outside.txt"] {
        let done = worker(&[&format!("read={path}"), &format!("write={path}:x")]).call().await;
        let said = done.progress.concat();
        assert!(said.contains("[not read: -32602") && said.contains("[not written:"), "{path}: {said}");
        assert_eq!(done.stopped().len(), 2, "{path}");
        assert!(!done.folder.parent().unwrap().join("outside.txt").exists());
    }
}

#[tokio::test]
async fn a_critic_that_writes_through_us_is_refused_and_recorded() {
    let stage = critic(&["write=a.txt:changed", "write=scratch/x:new", "read=a.txt"]);
    std::fs::write(stage.folder.join("a.txt"), "kept").unwrap();
    let done = stage.call().await;
    assert_eq!(done.stopped(), ["write a.txt; it may only read", "write scratch/x; it may only read"]);
    assert_eq!(std::fs::read_to_string(done.folder.join("a.txt")).unwrap(), "kept");
    assert!(done.answer.unwrap().text.ends_with("kept"));
}

#[tokio::test]
async fn a_worker_runs_commands_in_its_folder() {
    let done = worker(&["run=echo hi; echo oops >&2; pwd > where; exit 3"]).call().await;
    assert_eq!(done.progress.concat(), "hi\noops\n[exit 3]");
    let at = std::fs::read_to_string(done.folder.join("where")).unwrap();
    assert_eq!(std::path::Path::new(at.trim()), done.folder.canonicalize().unwrap());
}

#[tokio::test]
async fn only_the_end_of_a_terminals_output_is_kept() {
    let done = worker(&["run=yes | head -c 100000; echo end"]).call().await;
    let said = done.progress.concat();
    assert!(said.ends_with("y\nend\n[exit 0]"), "{said}");
    assert!(said.len() < 1100, "{}", said.len());
}

#[tokio::test]
async fn a_critic_gets_no_terminal() {
    let done = critic(&["run=touch made"]).call().await;
    assert_eq!(done.stopped(), ["run touch made; it may only read"]);
    assert!(!done.folder.join("made").exists());
    assert!(done.progress.concat().starts_with("[not run:"));
}

#[tokio::test]
async fn terminals_are_bounded_and_end_with_the_call() {
    let mut words = vec!["leave=echo $$ >> pids; exec sleep 1000"; 17];
    words.push("run=true");
    let done = worker(&words).call().await;
    let said = done.progress.concat();
    assert!(said.contains("[not run: there are 16 terminals already"), "{said}");
    let launched = done.launched.load(Ordering::SeqCst);
    assert_eq!(launched, 16);
    stage::eventually(|| done.alive.load(Ordering::SeqCst) == 0).await;
}

#[tokio::test]
async fn steps_are_told_and_bounded() {
    let done =
        worker(&["tool=edit:write a", "tool=execute:make", "announce=read:b", "say=done"]).call().await;
    assert_eq!(done.steps(), ["edit: write a", "execute: make", "read: b"]);
    let mut stage = worker(&["tool=edit:a", "tool=edit:b", "tool=edit:c", "hang"]);
    stage.spec.process.max_steps = 2;
    let (kind, message) = failure(&stage.call().await);
    assert_eq!(kind, FailureKind::StepsUsedUp);
    assert!(message.contains("more than 2 steps") && message.contains("max_steps"), "{message}");
}

#[tokio::test]
async fn refusals_without_end_are_bounded_too() {
    let words = vec!["write=a:b"; 50];
    let mut stage = critic(&words);
    stage.spec.process.max_steps = 5;
    let done = stage.call().await;
    assert!(failure(&done).1.contains("more than 5 steps"));
    assert!(done.stopped().len() < 10);
}

#[tokio::test]
async fn usage_and_cost_are_what_the_agent_says() {
    let done = critic(&["cost=0.5", "say=x", "usage=100,20,60,0,0,120"]).call().await;
    let usage = done.answer.unwrap().usage;
    assert_eq!((usage.input, usage.output, usage.cache_read), (40, 20, 60));
    assert_eq!(usage.cost, Some(Money::from_usd(0.5)));
    assert!(done.seen.iter().any(|o| matches!(o, Observation::Usage { usage } if usage.cost.is_some())));
    let answer = critic(&["say=x", "quota=22,14,gemini-2.5-flash"]).call().await.answer.unwrap();
    assert_eq!((answer.usage.input, answer.usage.output), (22, 14));
    assert_eq!(answer.model.as_deref(), Some("gemini-2.5-flash"));
}

#[tokio::test]
async fn stop_reasons() {
    for (word, expected) in [
        ("end_turn", StopReason::EndTurn),
        ("max_tokens", StopReason::Length),
        ("refusal", StopReason::Refusal),
        ("max_turn_requests", StopReason::Other("max_turn_requests".into())),
        ("cancelled", StopReason::Other("cancelled".into())),
    ] {
        let done = critic(&["say=x", &format!("stop={word}")]).call().await;
        assert_eq!(done.answer.unwrap().stop, expected, "{word}");
    }
}

#[tokio::test]
async fn a_worker_goes_on_with_its_session() {
    for (words, expected, new) in [
        (vec!["resumes", "circumstances"], "session=earlier ", false),
        (vec!["loads", "circumstances"], "session=earlier ", false),
        (vec!["loads", "refuses-resume", "circumstances"], "session=earlier ", false),
        (vec!["refuses-resume", "circumstances"], "session=session-1 ", true),
        (vec!["circumstances"], "session=session-1 ", true),
        (vec!["loads", "forgets", "circumstances"], "session=session-1 ", true),
        (vec!["resumes", "forgets", "circumstances"], "session=session-1 ", true),
    ] {
        let mut stage = worker(&words);
        stage.session = Some("earlier".into());
        let done = stage.call().await;
        assert_eq!(done.notes().len(), usize::from(new), "{words:?}: {:?}", done.notes());
        assert_eq!(done.sessions(), [if new { "session-1" } else { "earlier" }], "{words:?}");
        let answer = done.answer.unwrap();
        assert!(answer.text.contains(expected), "{words:?}: {}", answer.text);
        assert!(!answer.text.contains("an old"), "history is not the answer: {}", answer.text);
        assert_eq!(answer.session.as_deref(), Some(if new { "session-1" } else { "earlier" }));
    }
}

#[tokio::test]
async fn who_wants_a_login_is_asked_for_the_one_that_is_named_and_for_no_other() {
    let named = |login: Option<&str>| {
        let mut stage = critic(&["login-by=api-key", "say=x"]);
        stage.spec.login = login.map(Into::into);
        stage
    };
    assert_eq!(named(Some("api-key")).call().await.answer.unwrap().text, "x");
    for login in [Some("browser"), None] {
        let (kind, said) = failure(&named(login).call().await);
        assert_eq!(kind, FailureKind::Unauthorised, "{said}");
        assert!(said.contains("acp-agent login (`login`)") && said.contains("in `login`"), "{said}");
    }
}

#[tokio::test]
async fn what_a_loaded_session_cost_before_is_not_paid_again() {
    let mut stage = worker(&["loads", "cost=1.25", "say=x"]);
    stage.session = Some("earlier".into());
    assert_eq!(stage.call().await.answer.unwrap().usage.cost, Some(Money::from_usd(0.25)));
}

#[tokio::test]
async fn a_critic_never_goes_on_with_a_session() {
    let mut stage = critic(&["resumes", "circumstances"]);
    stage.session = Some("earlier".into());
    let done = stage.call().await;
    assert!(done.answer.as_ref().unwrap().text.contains("session=session-1 "));
    assert!(done.sessions().is_empty(), "there is nothing to go on with");
}

#[tokio::test]
async fn a_session_is_told_before_the_call_is_broken_off_and_an_odd_name_is_not() {
    let stage = worker(&["tool=execute:make", "say=begun", "hang"]);
    let cancel = stage.cancel.clone();
    let done = stage.call_telling(move || cancel.cancel()).await;
    assert_eq!(done.answer, Err(CallError::Cancelled { sent: true }));
    assert_eq!((done.sessions(), done.steps()), (vec!["session-1".into()], vec!["execute: make".into()]));
    for odd in ["session=-x", "session=a b", "session="] {
        assert!(worker(&[odd, "say=x"]).call().await.sessions().is_empty(), "{odd}");
    }
}

#[tokio::test]
async fn an_agent_that_is_not_to_continue_names_no_session() {
    let mut stage = worker(&["say=x"]);
    stage.spec.process.continues = false;
    assert_eq!(stage.call().await.answer.unwrap().session, None);
}

#[tokio::test]
async fn a_worker_with_a_folder_may_be_silent_and_a_critic_may_not() {
    assert_eq!(worker(&["write=a:b"]).call().await.answer.unwrap().text, "[written]");
    assert_eq!(worker(&["tool=edit:a"]).call().await.answer.unwrap().text, "");
    let (kind, message) = failure(&critic(&["think=hm"]).call().await);
    assert_eq!((kind, message.contains("without a word")), (FailureKind::BadReply, true), "{message}");
}

#[tokio::test]
async fn noise_between_messages_is_passed_over() {
    let done = critic(&["noise=npm warn old", "say=a", "noise={ not: json", "say=b"]).call().await;
    assert_eq!(done.answer.unwrap().text, "ab");
}

#[tokio::test]
async fn a_program_that_only_makes_noise_is_shown_with_it() {
    let mut stage = critic(&[]);
    stage.spec.command = ["sh", "-c", "echo hello there"].map(str::to_owned).to_vec();
    let (kind, message) = failure(&stage.call().await);
    assert_eq!(kind, FailureKind::BadReply);
    assert!(message.contains("ended before it answered") && message.contains("hello there"), "{message}");
}

#[tokio::test]
async fn huge_replies_and_messages_are_cut_off() {
    let (kind, message) = failure(&critic(&[&format!("huge={}", MAX_REPLY + 1), "hang"]).call().await);
    assert_eq!(kind, FailureKind::BadReply);
    assert!(message.contains(&format!("more than {MAX_REPLY} bytes")), "{message}");
    let (kind, message) = failure(&critic(&[&format!("long-line={}", 3 * MAX_REPLY), "hang"]).call().await);
    assert_eq!(kind, FailureKind::BadReply);
    assert!(message.contains("sent a message of more than"), "{message}");
}

#[tokio::test]
async fn errors_are_divided_by_code() {
    for (words, expected) in [
        (&["needs-login"][..], FailureKind::Unauthorised),
        (&["error=-32000"][..], FailureKind::Unauthorised),
        (&["error=-32603"][..], FailureKind::Unavailable),
        (&["error=-32603:rate_limit"][..], FailureKind::RateLimited),
        (&["error=429"][..], FailureKind::RateLimited),
        (&["error=-32602"][..], FailureKind::BadReply),
    ] {
        let (kind, message) = failure(&critic(words).call().await);
        assert_eq!(kind, expected, "{words:?}: {message}");
    }
    let (_, message) = failure(&critic(&["needs-login"]).call().await);
    assert!(
        message.contains(
            "log in with the agent's own command (it offers: acp-agent login (`login`); name the id of one in"
        ),
        "{message}"
    );
}

#[tokio::test]
async fn an_agent_of_another_version_is_named_as_such() {
    let hello = r#"read line; id=$(echo "$line" | sed 's/.*"id":\("[^"]*"\|[0-9]*\).*/\1/')
        echo '{"jsonrpc":"2.0","id":'"$id"',"result":{"protocolVersion":7}}'; read rest"#;
    let mut stage = critic(&[]);
    stage.spec.command = ["sh", "-c", hello].map(str::to_owned).to_vec();
    let (kind, message) = failure(&stage.call().await);
    assert_eq!(kind, FailureKind::Misconfigured, "{message}");
    assert!(message.contains("version 7"), "{message}");
}

#[tokio::test]
async fn an_agent_that_ends_before_its_answer_crashed() {
    for (words, code) in [(&["exits-after-hello"][..], 3), (&["say=x", "cost=0.25", "crash=7"][..], 7)] {
        let done = critic(words).call().await;
        let (kind, message) = failure(&done);
        assert_eq!(kind, FailureKind::Crashed, "{words:?}: {message}");
        assert!(message.contains(&format!("exit code {code}")), "{message}");
        if code == 7 {
            let Err(CallError::Failed(failure)) = done.answer else { unreachable!() };
            assert_eq!(failure.usage.cost, Some(Money::from_usd(0.25)), "what was spent is kept");
        }
    }
    let (kind, _) = failure(&critic(&["crash=0"]).call().await);
    assert_eq!(kind, FailureKind::BadReply);
}

#[tokio::test]
async fn an_agent_that_never_says_hello_is_given_up() {
    let mut stage = critic(&["mute"]);
    stage.spec.timeouts.first_byte = Duration::from_secs(1);
    let (kind, message) = failure(&stage.call().await);
    assert_eq!(kind, FailureKind::Timeout);
    assert!(message.contains("did not answer initialize within 1 s"), "{message}");
}

#[tokio::test]
async fn a_call_has_its_time() {
    let mut stage = critic(&["say=x", "hang-hard"]);
    stage.time = Some(Duration::from_millis(500));
    let (kind, message) = failure(&stage.call().await);
    assert_eq!(kind, FailureKind::Timeout, "{message}");
}

#[tokio::test]
async fn a_cancelled_agent_may_end_its_turn_and_one_that_does_not_is_ended() {
    for (word, waited) in [("hang", false), ("hang-hard", true)] {
        let stage = worker(&["say=begun", word]);
        let cancel = stage.cancel.clone();
        let began = std::time::Instant::now();
        let done = stage.call_telling(move || cancel.cancel()).await;
        assert_eq!(done.answer, Err(CallError::Cancelled { sent: true }), "{word}");
        assert_eq!(began.elapsed() >= Duration::from_secs(3), waited, "{word}: {:?}", began.elapsed());
        stage::eventually(|| done.alive.load(Ordering::SeqCst) == 0).await;
    }
}

#[tokio::test]
async fn what_is_asked_after_a_call_was_cancelled_is_answered_with_cancelled() {
    let stage = worker(&["say=begun", "ask-late=read:x"]);
    let cancel = stage.cancel.clone();
    let done = stage.call_telling(move || cancel.cancel()).await;
    assert_eq!(done.answer, Err(CallError::Cancelled { sent: true }));
    assert_eq!(std::fs::read_to_string(done.folder.join("told")).unwrap(), "[cancelled]");
}

#[tokio::test]
async fn a_call_cancelled_before_it_began_sends_nothing() {
    let stage = worker(&["say=x"]);
    stage.cancel.cancel();
    assert_eq!(stage.call().await.answer, Err(CallError::Cancelled { sent: false }));
}

#[tokio::test]
async fn a_call_cancelled_before_its_prompt_has_sent_nothing() {
    let stage = worker(&["mute"]);
    let cancel = stage.cancel.clone();
    let done = stage.call_started(move || cancel.cancel()).await;
    assert_eq!(done.answer, Err(CallError::Cancelled { sent: false }));
}

#[tokio::test]
async fn an_agent_that_stays_after_its_answer_is_ended() {
    let done = worker(&["lingers", "say=x"]).call().await;
    assert_eq!(done.answer.as_ref().unwrap().text, "x");
    stage::eventually(|| done.alive.load(Ordering::SeqCst) == 0).await;
}

#[tokio::test]
async fn what_the_protocol_refuses_is_named_before_the_call() {
    for role in [Role::Worker, Role::Critic] {
        let guards = Stage::new(role, &[]).guards();
        assert_eq!(guards.len(), 1);
        assert_eq!(guards[0].layer, Layer::Protocol);
    }
}

#[tokio::test]
async fn the_protocol_cannot_stop_what_an_agent_does_by_itself() {
    // Which is why it is one layer of several: this is what the others are for.
    let done = critic(&["own-write=a.txt:changed"]).call().await;
    assert!(done.folder.join("a.txt").exists());
    assert!(done.stopped().is_empty());
}
