//! What a call of each program is made of, and programs that do not go when they are done. What streams mean is
//! tested in `tests/it/streams.rs`.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use futures_util::FutureExt;
use gadfly_engine::protocol::goal::Policy;
use gadfly_engine::tool::Risk;
use gadfly_engine::{Role, Speaker};
use tokio::io::AsyncWriteExt;

use super::dialect::ProgramStart;
use super::*;
use crate::agent::{Files, Spoken, observing};
use crate::launcher::{LaunchError, Launcher, Peak, Sandbox, Talk};
use crate::services::AgentServices;
use crate::spec::{Confinement, ProcessSpec};

const DIALECTS: [&dyn Dialect; 4] = [&ClaudeCode, &Codex, &Gemini, &OpenCode];

fn call(role: Role) -> Call {
    Call { max_output_tokens: 10, ..Call::new("run#1", role, vec![Spoken::new(Speaker::User, "Task")]) }
}

/// A program that writes and then stays until it is stopped; it may close its output first.
struct Lingers {
    stream: &'static str,
    closes_its_output: bool,
    commands: Mutex<Vec<Command>>,
}

impl Launcher for Lingers {
    fn launch(&self, _: Command, _: CancellationToken) -> BoxFuture<'_, Result<Finished, LaunchError>> {
        unreachable!("CLI agents are talked with")
    }

    fn talk(
        &self,
        command: Command,
        _: StdinSource,
        cancel: CancellationToken,
    ) -> BoxFuture<'_, Result<Talk, LaunchError>> {
        let (mut ours, theirs) = tokio::io::duplex(1 << 16);
        let (stream, closes) = (self.stream, self.closes_its_output);
        if let Ok(mut commands) = self.commands.lock() {
            commands.push(command);
        }
        let end = tokio::spawn(async move {
            let _ = ours.write_all(stream.as_bytes()).await;
            let kept = (!closes).then_some(ours);
            cancel.cancelled().await;
            drop(kept);
            Finished {
                exit: Exit::Cancelled,
                stdout: Vec::new(),
                stderr: Vec::new(),
                peak: Peak::default(),
                beside: None,
            }
        });
        let failed = || LaunchError::Failed { program: "p".into(), reason: "r".into() };
        let end = async move { end.await.map_err(|_| failed()) }.boxed();
        async move { Ok(Talk { input: None, output: Box::new(theirs), end }) }.boxed()
    }
}

fn agent(dialect: &'static dyn Dialect, launcher: Arc<dyn Launcher>, env: &[(&str, &str)]) -> CliAgent {
    let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    CliAgent {
        dialect,
        program: AgentProgram {
            name: "fake-program".into(),
            args: vec!["--mine".into()],
            env: env.iter().map(own).collect(),
            spec: ProcessSpec::default(),
            time: Duration::from_mins(1),
            launcher,
            gate: None,
        },
        provider: AgentServices::new().provider("test", "test"),
        model: Some("some-model".into()),
        system: None,
        max_usd: Some(Money::from_usd(0.25)),
        quiet: Duration::from_millis(20),
    }
}

fn link() -> Link {
    Link {
        observe: observing(1000).0,
        progress: Progress::none(),
        cancel: CancellationToken::new(),
        told: None,
        files: Files::none(),
        tmp: Files::none(),
    }
}

fn lingering(stream: &'static str, closes_its_output: bool) -> Arc<Lingers> {
    Arc::new(Lingers { stream, closes_its_output, commands: Mutex::default() })
}

#[tokio::test]
async fn a_program_that_does_not_go_after_its_result_is_ended_and_its_answer_counts() {
    let streams = [
        "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"done\"}\n",
        "{\"type\":\"item.completed\",\"item\":{\"id\":\"1\",\"type\":\"agent_message\",\"text\":\"done\"}}\n\
         {\"type\":\"turn.completed\",\"usage\":{}}\n",
        "{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"done\"}\n\
         {\"type\":\"result\",\"status\":\"success\"}\n",
        "{\"type\":\"text\",\"part\":{\"text\":\"done\"}}\n\
         {\"type\":\"step_finish\",\"part\":{\"reason\":\"stop\"}}\n",
    ];
    for (dialect, stream) in DIALECTS.into_iter().zip(streams) {
        for closes in [false, true] {
            let answered =
                agent(dialect, lingering(stream, closes), &[]).call(call(Role::Critic), link()).await;
            let text = answered.map(|a| a.text);
            assert_eq!(text, Ok("done".into()), "{} (closes its output: {closes})", dialect.shown());
        }
    }
}

#[tokio::test]
async fn a_program_without_a_result_is_not_ended_for_being_silent() {
    let busy = lingering("{\"type\":\"thread.started\",\"thread_id\":\"1\"}\n", false);
    let link = link();
    let cancel = link.cancel.clone();
    let agent = agent(&Codex, busy, &[]);
    let mut asked = agent.call(call(Role::Worker), link);
    let early = timeout(Duration::from_millis(80), &mut asked).await;
    assert!(early.is_err(), "it was ended after its {:?} of silence: {early:?}", agent.quiet);
    cancel.cancel();
    assert_eq!(asked.await, Err(CallError::Cancelled { sent: true }));
}

#[test]
fn a_session_is_never_taken_for_a_flag() {
    for bad in ["", "--dangerously-skip-permissions", "-", "a b", "a\nb", "é", &"a".repeat(201)] {
        assert!(!is_name(bad), "{bad:?}");
    }
    for good in ["257a6819-088e-4d82-a009-174640187931", "ses_e1d84c40affel1T8M0Ifc7KApS", "01a1:33:12:0:21"]
    {
        assert!(is_name(good), "{good}");
    }
}

fn ask<'a>(call: &'a Call, spec: &'a ProcessSpec) -> DialectCall<'a> {
    DialectCall {
        call,
        spec,
        model: Some("some-model"),
        max_usd: Some(Money::from_usd(0.25)),
        session: call.session.as_deref(),
        sandboxed: call.sandbox.is_some(),
        heard: false,
    }
}

fn started(dialect: &dyn Dialect, call: &Call) -> String {
    dialect.start(&ask(call, &ProcessSpec::default())).args.join(" ")
}

#[test]
fn a_critic_is_started_in_the_programs_own_read_only_mode() {
    let call = call(Role::Critic);
    let table = [
        (
            &DIALECTS[0],
            "-p --output-format stream-json --verbose --permission-mode dontAsk --tools Read,Grep,Glob \
             --strict-mcp-config --setting-sources user --settings {\"disableAllHooks\":true} --model some-model \
             --max-turns 201 --max-budget-usd 0.25 --no-session-persistence",
        ),
        (
            &DIALECTS[1],
            "exec --json --skip-git-repo-check --sandbox read-only -c approval_policy=\"never\" -c \
             check_for_update_on_startup=false -c analytics.enabled=false -c project_doc_max_bytes=0 --ignore-rules \
             --ephemeral --model some-model -",
        ),
        (
            &DIALECTS[2],
            "--output-format stream-json --skip-trust --approval-mode default --extensions none \
             --allowed-mcp-server-names none --model some-model",
        ),
        (&DIALECTS[3], "run --format json --title gadfly --pure --model some-model"),
    ];
    for (dialect, args) in table {
        assert_eq!(started(*dialect, &call), args);
        assert_eq!(dialect.guards(call.permission, false, Confinement::Own).len(), 1, "{}", dialect.shown());
    }
    let forced = OpenCode.start(&ask(&call, &ProcessSpec::default())).forced;
    let denied =
        forced.iter().find(|(name, _)| *name == "OPENCODE_PERMISSION").map(|(_, value)| value.as_str());
    for tool in ["*", "bash", "edit", "write", "task", "external_directory"] {
        assert!(denied.is_some_and(|d| d.contains(&format!("\"{tool}\":\"deny\""))), "{tool}: {denied:?}");
    }
    assert!(
        forced.iter().any(|(name, _)| *name == "OPENCODE_DISABLE_PROJECT_CONFIG"),
        "the tree could allow more"
    );
}

#[test]
fn a_worker_may_edit_without_asking_and_goes_on_where_it_was() {
    let mut call = call(Role::Worker);
    call.session = Some("s-1".into());
    let table = [
        (&DIALECTS[0], ["--permission-mode acceptEdits", "--resume s-1 --fork-session"]),
        (&DIALECTS[1], ["--sandbox workspace-write", "resume s-1 -"]),
        (&DIALECTS[2], ["--approval-mode yolo", "--resume s-1"]),
        (&DIALECTS[3], ["--auto", "--session s-1 --fork"]),
    ];
    for (dialect, parts) in table {
        let args = started(*dialect, &call);
        assert!(parts.iter().all(|part| args.contains(part)), "{args}");
        assert!(!args.contains("--ephemeral") && !args.contains("--no-session-persistence"), "{args}");
    }
}

#[test]
fn inside_our_sandbox_codex_has_none_of_its_own_and_claims_none() {
    for role in [Role::Worker, Role::Critic] {
        let mut call = call(role);
        call.sandbox = Some(Sandbox::default());
        assert!(started(&Codex, &call).contains("--sandbox danger-full-access"));
        assert_eq!(Codex.guards(call.permission, true, Confinement::Landlock), []);
    }
    let guards = |by| Codex.guards(Permission::Write, false, by);
    assert_eq!(guards(Confinement::Landlock), [Guard::new(Layer::OwnSandbox, "--sandbox workspace-write")]);
    assert_eq!(guards(Confinement::Nobody), []);
    assert_eq!(Codex.guards(Permission::ReadOnly, false, Confinement::Nobody).len(), 1);
}

#[test]
fn a_schema_is_handed_on_where_the_program_takes_one() {
    let mut call = call(Role::Critic);
    call.schema = Some("{\"type\":\"object\"}".into());
    assert!(started(&ClaudeCode, &call).contains("--json-schema {\"type\":\"object\"}"));
    assert!(!started(&Codex, &call).contains("--output-schema"), "there is no place for the file");
    call.tmp = Some(PathBuf::from("/tmp/call"));
    let start = Codex.start(&ask(&call, &ProcessSpec::default()));
    assert!(start.args.join(" ").contains("--output-schema /tmp/call/schema.json"));
    assert_eq!(
        start.files,
        [crate::agent::Edit::Write { path: "schema.json".into(), content: "{\"type\":\"object\"}".into() }]
    );
    let start = Gemini.start(&ask(&call, &ProcessSpec::default()));
    assert!(start.args.join(" ").contains("--admin-policy /tmp/call/policy.toml"), "{:?}", start.args);
}

const ANSWER: &str = "{\"type\":\"text\",\"part\":{\"text\":\"ok\"}}\n{\"type\":\"step_finish\",\"part\":{\"reason\":\"stop\"}}\n";

#[tokio::test]
async fn the_users_variables_are_kept_but_none_can_lift_a_critics_limits() {
    let launcher = lingering(ANSWER, true);
    let env = [("OPENCODE_DISABLE_AUTOUPDATE", "no"), ("OPENCODE_PERMISSION", "{\"*\":\"allow\"}")];
    let agent = agent(&OpenCode, Arc::clone(&launcher) as Arc<dyn Launcher>, &env);
    let mut critic = call(Role::Critic);
    critic.session = Some("s-1".into());
    assert!(agent.call(critic, link()).await.is_ok());
    assert!(agent.call(call(Role::Worker), link()).await.is_ok());
    let commands = launcher.commands.lock().map(|c| c.clone()).unwrap_or_default();
    let [critic, worker] = commands.as_slice() else { unreachable!("two calls") };
    let value = |command: &Command, name: &str| {
        let found: Vec<_> = command.env.iter().filter(|(n, _)| n == name).map(|(_, v)| v.clone()).collect();
        found.join(" and ")
    };
    assert_eq!(value(critic, "OPENCODE_DISABLE_AUTOUPDATE"), "no");
    assert!(value(critic, "OPENCODE_PERMISSION").starts_with("{\"*\":\"deny\""), "the critic's guard is off");
    assert_eq!(value(worker, "OPENCODE_PERMISSION"), "{\"*\":\"allow\"}");
    assert!(!critic.args.iter().any(|a| a == "s-1"), "a critic always begins anew: {:?}", critic.args);
    assert_eq!(critic.args.first().map(String::as_str), Some("--mine"));
}

fn policy(risk: Risk, deny: &[&str], allow: &[&str]) -> OwnTools {
    let list = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    OwnTools::of(&Policy { risk, deny: list(deny), allow: list(allow) })
}

fn started_by(dialect: &dyn Dialect, own: &OwnTools) -> (ProgramStart, Vec<Guard>) {
    let call = Call { own: Some(own.clone()), tmp: Some("/t".into()), ..call(Role::Worker) };
    let spec = ProcessSpec::default();
    (dialect.start(&ask(&call, &spec)), dialect.keeps_from(own, false).unwrap())
}

#[test]
fn a_goals_policy_is_the_programs_own_mode() {
    // What a worker without a goal is started with is not what the usual policy of a goal allows: no pages.
    let (claude, guards) = started_by(&ClaudeCode, &policy(Risk::WriteLocal, &[], &[]));
    let args = claude.args.join(" ");
    assert!(args.contains("--disallowedTools WebFetch,WebSearch") && !args.contains("--tools "), "{args}");
    assert!(
        args.contains("--allowedTools Read,Glob,Grep,Write,Edit,MultiEdit,NotebookEdit,Bash,Task"),
        "{args}"
    );
    assert_eq!(guards, [Guard::new(Layer::OwnMode, "--disallowedTools WebFetch,WebSearch")]);

    let (claude, _) = started_by(&ClaudeCode, &policy(Risk::ReadOnly, &[], &[]));
    let args = claude.args.join(" ");
    assert!(args.contains("--permission-mode dontAsk --tools Read,Glob,Grep,TodoWrite "), "{args}");
    assert!(args.contains("--strict-mcp-config") && args.contains("Bash,WebFetch"), "{args}");

    let (claude, _) = started_by(&ClaudeCode, &policy(Risk::NetworkGet, &["run_command"], &[]));
    let args = claude.args.join(" ");
    assert!(args.contains("--permission-mode acceptEdits --tools Read,Glob,Grep,Write,"), "{args}");
    assert!(args.contains("--disallowedTools Bash"), "{args}");

    let (gemini, guards) = started_by(&Gemini, &policy(Risk::WriteLocal, &["run_command"], &[]));
    let Some(crate::agent::Edit::Write { content, .. }) = gemini.files.first() else { panic!("no policy") };
    for tool in ["run_shell_command", "web_fetch", "invoke_agent"] {
        assert!(content.contains(&format!("\"{tool}\"")), "{content}");
    }
    assert!(!content.contains("\"write_file\""), "{content}");
    assert!(gemini.args.join(" ").contains("--admin-policy /t/policy.toml"));
    assert_eq!(guards.len(), 1);

    let (opencode, _) = started_by(&OpenCode, &policy(Risk::ReadOnly, &[], &[]));
    let (_, rules) = opencode.forced.iter().find(|(name, _)| *name == "OPENCODE_PERMISSION").unwrap();
    let rules: Value = serde_json::from_str(rules).unwrap();
    for tool in ["bash", "edit", "write", "webfetch", "external_directory"] {
        assert_eq!(rules[tool], "deny", "{tool}");
    }
    assert!(rules.get("read").is_none(), "{rules}");

    let (codex, guards) = started_by(&Codex, &policy(Risk::ReadOnly, &[], &[]));
    let args = codex.args.join(" ");
    assert!(args.contains("--sandbox read-only") && args.contains("-c web_search=\"disabled\""), "{args}");
    assert_eq!(guards[0], Guard::new(Layer::OwnSandbox, "--sandbox read-only"));
}

#[test]
fn what_cannot_be_enforced_is_said_with_the_reason_and_the_fix() {
    let why = Codex.keeps_from(&policy(Risk::WriteLocal, &["run_command"], &[]), true).unwrap_err();
    assert!(why.why.contains("`run_command` cannot be taken from that"), "{why:?}");
    assert!(why.fix.contains("--risk read_only"), "{why:?}");
    assert!(Codex.keeps_from(&policy(Risk::WriteLocal, &["fetch_url"], &[]), true).is_ok());
    let why = OpenCode.keeps_from(&policy(Risk::WriteLocal, &["write_file"], &[]), true).unwrap_err();
    assert_eq!(why.fix, "deny both, or neither");
    let held = crate::own::by_sandbox(&policy(Risk::ReadOnly, &[], &[]), true);
    assert!(held.is_ok_and(|guards| guards.len() == 1));
    assert!(crate::own::by_sandbox(&policy(Risk::ReadOnly, &[], &[]), false).is_err(), "nothing holds it");
    assert!(crate::own::by_sandbox(&policy(Risk::WriteLocal, &["run_command"], &[]), true).is_err());
    assert!(crate::own::by_sandbox(&policy(Risk::WriteLocal, &[], &[]), false).is_ok());
}
