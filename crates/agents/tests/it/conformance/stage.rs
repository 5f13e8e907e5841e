//! Sets the stage: an agent of a kind, in a world where a case happens to it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use gadfly_agents::{
    Agent, AgentServices, AgentSpec, Api, BriefAs, Fault, Jitter, OutputForm, Script, ScriptedReply, Secret,
    build,
};
use gadfly_testbed::{Behaviour, Server};

use crate::conformance::case::{ASKED, Case, KEY, RESULT, SCHEMA, SESSION, TEXT};
use crate::conformance::folder::{Folder, MADE};
use crate::conformance::launch::{ACP_AGENT, FAKE_CLI, Plain};

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum When {
    Never,
    Before,
    During,
}

/// The kind `openai` in its other form.
pub const RESPONSES: &str = "openai (responses)";

/// The kind `command` with a program that writes JSON, and with one that writes a banner around its reply.
pub const JSON: &str = "command (json)";
pub const BANNER: &str = "command (text)";

/// An agent ready to be called, and the means to see what happens around it.
pub struct Stage {
    pub agent: Arc<dyn Agent>,
    pub cancel: When,
    pub time: Option<Duration>,
    pub schema: Option<&'static str>,
    pub session: Option<&'static str>,
    /// It is offered some.
    pub tools: bool,
    pub spec: Option<AgentSpec>,
    pub around: Around,
    pub folder: Folder,
    /// As in `Seen`.
    pub due: u64,
    pub timeless: bool,
    pub denies_silently: bool,
}

/// Who can say that a call has begun.
pub enum Around {
    Server(Server),
    Launcher(Arc<Plain>),
    /// A program that has the brief as soon as it says something.
    Talker(Arc<Plain>),
    /// Begins at once.
    Nobody,
}

impl Stage {
    pub fn of(agent: Arc<dyn Agent>, around: Around) -> Self {
        Self {
            agent,
            around,
            cancel: When::Never,
            time: None,
            schema: None,
            session: None,
            tools: false,
            spec: None,
            folder: Folder::new(),
            due: 3,
            timeless: false,
            denies_silently: false,
        }
    }

    pub fn arrived(&self) -> Option<u64> {
        match &self.around {
            Around::Server(server) => Some(server.calls().total),
            Around::Launcher(launcher) | Around::Talker(launcher) => {
                Some(launcher.started.load(Ordering::SeqCst))
            }
            Around::Nobody => None,
        }
    }

    pub fn handed(&self) -> String {
        match &self.around {
            Around::Launcher(launcher) | Around::Talker(launcher) => launcher.handed.lock().unwrap().clone(),
            Around::Server(_) | Around::Nobody => String::new(),
        }
    }

    pub fn shown(&self) -> String {
        format!("{:?}", self.spec)
    }

    /// Resolves once the other side has the brief.
    pub async fn has_begun(&self, speaks: impl Fn() -> bool) {
        while self.arrived() == Some(0) || (matches!(self.around, Around::Talker(_)) && !speaks()) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
}

/// Retries at once.
struct NoJitter;

impl Jitter for NoJitter {
    fn up_to(&self, _: Duration) -> Duration {
        Duration::ZERO
    }
}

pub async fn set(kind: &'static str, case: Case) -> Stage {
    let cancel = match case {
        Case::CancelledBefore => When::Before,
        Case::CancelledDuring => When::During,
        _ => When::Never,
    };
    let time = (case == Case::TimesOut).then_some(Duration::from_millis(100));
    let spec = AgentSpec { name: "tried".into(), key: Some(Secret::new(KEY)), ..AgentSpec::default() };
    let world = AgentServices::new().with_jitter(Arc::new(NoJitter));
    let (spec, world, around) = match kind {
        "openai" | RESPONSES | "anthropic" | "google" => {
            let script = BTreeMap::from([("plain".to_owned(), vec![TEXT.to_owned()])]);
            let server = Server::start(Behaviour { script, ..Behaviour::default() }).await.unwrap();
            let (base_url, model) = (Some(server.v1()), Some(model(case).to_owned()));
            (AgentSpec { base_url, model, ..spec }, world, Around::Server(server))
        }
        "command" => {
            let command = ["sh", "-c", program(case)].map(str::to_owned).to_vec();
            let launcher = Arc::new(Plain::default());
            (AgentSpec { command, ..spec }, started_by(world, &launcher), Around::Launcher(launcher))
        }
        JSON | BANNER => {
            let (program, output) = if kind == JSON { in_json(case) } else { in_text(case) };
            let command = ["sh", "-c", program].map(str::to_owned).to_vec();
            let launcher = Arc::new(Plain::default());
            let spec = AgentSpec { command, output, ..spec };
            (spec, started_by(world, &launcher), Around::Launcher(launcher))
        }
        "claude-code" | "codex" | "gemini" | "opencode" => {
            let words = cli_words(kind, case);
            let command = [FAKE_CLI, kind].into_iter().map(str::to_owned).chain(words);
            let command = command.chain(["--".to_owned()]).collect();
            let launcher = Arc::new(Plain::default());
            (AgentSpec { command, ..spec }, started_by(world, &launcher), Around::Talker(launcher))
        }
        "acp" => {
            let command = [ACP_AGENT.to_owned()].into_iter().chain(acp_words(case)).collect();
            let launcher = Arc::new(Plain::default());
            (AgentSpec { command, ..spec }, started_by(world, &launcher), Around::Talker(launcher))
        }
        "scripted" => {
            let script = Some(Arc::new(Script::new(replies(case))));
            (AgentSpec { script, ..spec }, world, Around::Nobody)
        }
        other => panic!("kind `{other}` has no stage: add one, or the suite does not cover it"),
    };
    let spec = AgentSpec { api: (kind == RESPONSES).then_some(Api::Responses), ..spec };
    let kind = match kind {
        RESPONSES => "openai",
        JSON | BANNER => "command",
        kind => kind,
    };
    let agent = build(kind, spec.clone(), &world).unwrap();
    Stage {
        cancel,
        time,
        schema: (case == Case::Structured).then_some(SCHEMA),
        session: (case == Case::GoesOn).then_some(SESSION),
        tools: case == Case::UsesTools,
        spec: Some(spec),
        // A program repeats by itself what it asks of its provider.
        due: if matches!(around, Around::Server(_)) { 3 } else { 1 },
        // OpenCode hands on a status, ACP a kind of error.
        timeless: matches!(kind, "opencode" | "acp"),
        // Its sandbox lets a command fail as any command may.
        denies_silently: kind == "codex",
        ..Stage::of(agent, around)
    }
}

/// A world with the keys of many in its environment.
fn started_by(world: AgentServices, launcher: &Arc<Plain>) -> AgentServices {
    let keys = ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "CODEX_API_KEY"];
    let env = keys.into_iter().map(|name| (name.to_owned(), KEY.to_owned()));
    let path = ("PATH".to_owned(), std::env::var("PATH").unwrap());
    world.with_base_env(env.chain([path]).collect()).with_launcher(Arc::clone(launcher) as Arc<_>)
}

/// What the stand-in for a CLI agent does; see `gadfly_testbed::cli`.
fn cli_words(kind: &str, case: Case) -> Vec<String> {
    let text = format!("say={TEXT}");
    let huge = format!("huge={}", 9 << 20);
    let write = format!("write={MADE}:x");
    let words: &[&str] = match case {
        Case::Streams => &["step=ls", "say=A fine draft: ", "say=short, and true."],
        Case::Refuses => &[&text, "stop=refusal"],
        Case::Truncates => &[&text, "stop=length"],
        Case::TimesOut | Case::CancelledDuring => &[&text, "hang"],
        Case::Breaks => &[&text, "crash=3"],
        Case::Garbage => &["noise=Segmentation fault", "noise={\"type\":", "no-result"],
        Case::Empty => &[],
        Case::Huge => &[&huge],
        Case::KeepsItsKey => &["env"],
        Case::Retries => &["retry", "retry", &text],
        Case::HasNoQuota if kind == "claude-code" => &["quota=1794803000", "status=429"],
        // Its provider answers so when a day's requests are used up, too.
        Case::HasNoQuota if kind == "gemini" => &["status=429"],
        Case::HasNoQuota => &["status=402"],
        Case::Unauthorised => &["status=401"],
        Case::TooLong => &["status=413"],
        Case::Structured => &[r#"form={"verdict":"approve"}"#],
        Case::ReadsOnly => &["say=I write.", &write, &text],
        Case::GoesOn => &["circumstances"],
        Case::Answers | Case::StatesUsage | Case::CancelledBefore | Case::UsesTools => {
            &["say=Let me look.", "step=ls", &text]
        }
    };
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// What the scripted ACP agent does; see `gadfly_testbed::acp`.
fn acp_words(case: Case) -> Vec<String> {
    let text = format!("say={TEXT}");
    let huge = format!("huge={}", 9 << 20);
    let write = format!("write={MADE}:x");
    let words: &[&str] = match case {
        Case::Streams => &["tool=read:ls", "say=A fine draft: ", "say=short, and true."],
        Case::StatesUsage => &[&text, "usage=11,7,3,0,0,18"],
        Case::Refuses => &[&text, "stop=refusal"],
        Case::Truncates => &[&text, "stop=max_tokens"],
        Case::TimesOut | Case::CancelledDuring => &[&text, "hang"],
        Case::Breaks => &[&text, "crash=3"],
        Case::Garbage => &["noise=Segmentation fault", "noise={\"jsonrpc\":", "crash=0"],
        Case::Empty => &[],
        Case::Huge => &[&huge],
        Case::KeepsItsKey => &["run=env"],
        Case::HasNoQuota => &["error=-32603:usageLimitExceeded"],
        Case::Unauthorised => &["needs-login"],
        Case::TooLong => &["error=-32603:contextWindowExceeded"],
        Case::ReadsOnly => &[&write, "tool=read:look", &text],
        Case::GoesOn => &["resumes", "circumstances"],
        Case::Answers | Case::CancelledBefore | Case::Retries | Case::Structured | Case::UsesTools => {
            &[&text]
        }
    };
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn model(case: Case) -> &'static str {
    match case {
        Case::Answers | Case::CancelledBefore | Case::ReadsOnly | Case::GoesOn => "plain",
        Case::Streams | Case::StatesUsage => "split",
        Case::Refuses => "fault:refusal",
        Case::Truncates => "fault:length",
        Case::TimesOut | Case::CancelledDuring => "fault:hang",
        Case::Breaks => "fault:500",
        Case::Garbage => "fault:malformed",
        Case::Empty => "fault:empty",
        Case::Huge => "fault:huge",
        Case::KeepsItsKey => "fault:echo-key",
        Case::Retries => "fault:429-then-ok:2",
        Case::HasNoQuota => "fault:quota",
        Case::Unauthorised => "fault:401",
        Case::TooLong => "fault:context",
        Case::Structured => "structured",
        Case::UsesTools => "hands",
    }
}

fn program(case: Case) -> &'static str {
    match case {
        Case::TimesOut | Case::CancelledDuring => "exec sleep 60",
        Case::Breaks => "echo 'no such model' >&2; exit 3",
        Case::Garbage => r"printf '\377\376'",
        Case::Empty => "echo; echo 'nothing to say' >&2",
        Case::Huge => "exec yes",
        Case::KeepsItsKey => "env",
        _ => "cat >/dev/null; printf 'A fine draft: short, and true.'",
    }
}

/// A program that says in JSON what it says.
fn in_json(case: Case) -> (&'static str, OutputForm) {
    let at = |pointer: &str| Some(pointer.to_owned());
    let form = OutputForm {
        reply: at("/result"),
        usage: at("/usage"),
        session: at("/session_id"),
        resume: vec!["--resume".to_owned()],
        ..OutputForm::default()
    };
    let program = match case {
        Case::Garbage => r#"cat >/dev/null; echo 'Segmentation fault'; printf '{"result":'"#,
        Case::Empty => r#"cat >/dev/null; echo '{"result":""}'"#,
        Case::GoesOn => {
            r#"cat >/dev/null; printf '{"result":"session=%s","session_id":"%s"}' "$1" "${1:-new}""#
        }
        Case::TimesOut | Case::CancelledDuring | Case::Breaks | Case::Huge | Case::KeepsItsKey => {
            program(case)
        }
        _ => {
            r#"cat >/dev/null; echo 'Agent 1.0'; echo '{"type":"step","session_id":"a"}'
            echo '{"type":"result","result":"A fine draft: short, and true.","usage":{"input_tokens":11,"output_tokens":7},"session_id":"a"}'"#
        }
    };
    (program, form)
}

/// A program that reads its brief from a file and says more than its reply.
fn in_text(case: Case) -> (&'static str, OutputForm) {
    let form = OutputForm {
        brief: BriefAs::File,
        reply: Some(r"(?s)\nMode: [^\n]*\n+(?<reply>.*\S)\s*\nTokens: ".to_owned()),
        usage: Some(r"Tokens: (?<input>[0-9.]+k?) sent, (?<output>[0-9.]+k?) received".to_owned()),
        ..OutputForm::default()
    };
    let program = match case {
        Case::Garbage => "echo 'Segmentation fault'",
        Case::Empty => r"printf 'Agent 1.0\nMode: whole\n\nTokens: 1.2k sent, 0 received.\n'",
        Case::TimesOut | Case::CancelledDuring | Case::Breaks | Case::Huge | Case::KeepsItsKey => {
            program(case)
        }
        _ => {
            r#"test -s "$0" && printf 'Agent 1.0\nMode: whole\n\nA fine draft: short, and true.\n\nTokens: 1.2k sent, 12 received.\n'"#
        }
    };
    (program, form)
}

fn replies(case: Case) -> Vec<ScriptedReply> {
    if case == Case::UsesTools {
        let (tool, args) = ASKED;
        return vec![ScriptedReply::text("").calling(tool, args), ScriptedReply::text(RESULT)];
    }
    vec![reply(case)]
}

fn reply(case: Case) -> ScriptedReply {
    let fault = match case {
        Case::Refuses => Fault::Refused,
        Case::Truncates => Fault::Length,
        Case::TimesOut | Case::CancelledDuring => Fault::Hang,
        Case::Breaks => Fault::Crash,
        Case::Garbage => Fault::Malformed,
        Case::Empty => Fault::Empty,
        Case::Huge => Fault::Huge,
        Case::HasNoQuota => Fault::Quota,
        Case::Unauthorised => Fault::Unauthorised,
        Case::TooLong => Fault::TooLong,
        _ => return ScriptedReply::text(TEXT).tokens(12, 8).observed("wrote the draft"),
    };
    ScriptedReply::fault(fault)
}
