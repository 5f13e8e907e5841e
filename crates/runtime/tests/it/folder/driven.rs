//! Whole runs with a small protocol: a look, a worker in the folder, a command, somebody who reads, acceptance.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use gadfly_agents::scripted::{Script, ScriptedReply};
use gadfly_agents::{Agent, AgentServices, AgentSpec, Confinement, ProcessSpec, build};
use gadfly_engine::input::{FORMAT, Start};
use gadfly_engine::machine::{AgentAnswer, Cx, TaskResult, WorkerCall};
use gadfly_engine::plan::NodePlan;
use gadfly_engine::protocol::{Protocol, Protocols, RuleBook};
use gadfly_engine::question::{About, Choice, Question};
use gadfly_engine::tree::{Acceptance, Look, Tree, Verify, WorkspacePlan};
use gadfly_engine::{AgentCard, Digest, EffectId, Halt, Limits, Message, Outcome, Part, Plan, Role, Speaker};
use gadfly_journal::RunId;
use gadfly_project::{Config, Root};
use gadfly_runtime::embed::own_card;
use gadfly_runtime::service::{AnswerError, DriveOptions, Gadfly, Raise, ResumeError};
use gadfly_runtime::undo::{UndoError, Undone};
use gadfly_runtime::{AgentSet, Ended, Stop};
use tokio::sync::watch;

use crate::folder::stage::{launcher, lay_out};

/// Looks, has the worker edit, looks again, verifies, has a reader look, and approves; `ask` asks first.
#[derive(Default)]
struct Small {
    tree: Option<Tree>,
    worked: bool,
    ask: bool,
}

/// What the protocol has run.
const COMMAND: &str = "test \"$(cat a.txt)\" = two";

const BOOK: RuleBook = RuleBook {
    manifest: |_| {
        Ok(gadfly_engine::RunManifest::default()
            .running(&gadfly_engine::manifest::Purpose::Verify, [&COMMAND.to_owned()]))
    },
    name: "small",
    version: 1,
    begin: |plan| {
        let ask = plan.settings.get("ask").and_then(serde_json::Value::as_bool).unwrap_or(false);
        Ok(Box::new(Small { ask, ..Small::default() }))
    },
};

fn brief(text: &str) -> Vec<Message> {
    vec![Message { from: Speaker::User, parts: vec![Part::Text(text.into())] }]
}

impl Small {
    fn digest(&self) -> Digest {
        self.tree.as_ref().unwrap().digest
    }

    fn look(cx: &mut Cx<'_>) {
        cx.look(Look { tree: None, paths: Vec::new() });
    }
}

impl Protocol for Small {
    fn start(&mut self, cx: &mut Cx<'_>) {
        if self.ask {
            let choices = vec![Choice::new("go", "go on"), Choice::new("stop", "end here")];
            cx.ask(Question { about: About::Stuck, text: "Well?".into(), choices, free: false });
        } else {
            Self::look(cx);
        }
    }

    fn task_done(&mut self, _: &EffectId, learned: TaskResult, cx: &mut Cx<'_>) {
        match learned {
            TaskResult::Looked(looked) => {
                self.tree = looked.tree;
                if self.worked {
                    let command = COMMAND.to_owned();
                    cx.verify(Verify {
                        command,
                        tree: self.digest(),
                        runs: 1,
                        timeout_ms: 20_000,
                        held: None,
                        fresh: false,
                        evidence: Vec::new(),
                    });
                } else {
                    let (messages, tree) = (brief("work"), Some(self.digest()));
                    cx.call(WorkerCall { agent: "worker", messages, tree, advice: false, tag: 0 });
                }
            }
            TaskResult::Verified(verified) if verified.is_green() => {
                let (messages, tree) = (brief("read"), Some(self.digest()));
                cx.call(WorkerCall { agent: "reader", messages, tree, advice: true, tag: 0 });
            }
            TaskResult::Verified(_) => cx.finish(Outcome::Halted {
                reason: Halt::Stuck,
                draft: Some(self.digest()),
                open: vec!["red".into()],
            }),
            TaskResult::Said { .. } => Self::look(cx),
            _ => {}
        }
    }

    fn answered(&mut self, answer: AgentAnswer, cx: &mut Cx<'_>) {
        if answer.role() == Role::Worker {
            self.worked = true;
            Self::look(cx);
        } else {
            cx.finish(Outcome::Approved { draft: self.digest(), overruled: false, notes: Vec::new() });
        }
    }

    fn draft(&self) -> Option<Digest> {
        self.tree.as_ref().map(|t| t.digest)
    }

    fn acceptance(&self) -> Option<Acceptance> {
        Some(Acceptance::Checkout)
    }
}

struct Scene {
    dir: tempfile::TempDir,
    agent_set: AgentSet,
}

fn command(script: &str) -> (AgentCard, Arc<dyn Agent>) {
    process(script, ProcessSpec::default())
}

/// A command that nothing keeps from anything.
fn unheld(script: &str) -> (AgentCard, Arc<dyn Agent>) {
    process(script, ProcessSpec { confined_by: Confinement::Nobody, ..ProcessSpec::default() })
}

fn process(script: &str, process: ProcessSpec) -> (AgentCard, Arc<dyn Agent>) {
    let env = vec![("PATH".to_owned(), std::env::var("PATH").unwrap())];
    let world = AgentServices::new().with_launcher(launcher()).with_base_env(env);
    let command = ["sh", "-c", script].map(str::to_owned).to_vec();
    let spec = AgentSpec { name: "sh".into(), command, process, ..AgentSpec::default() };
    (AgentCard { kind: "command".into(), ..own_card() }, build("command", spec, &world).unwrap())
}

fn scripted(reply: ScriptedReply) -> (AgentCard, Arc<dyn Agent>) {
    let spec =
        AgentSpec { name: "s".into(), script: Some(Arc::new(Script::new([reply]))), ..AgentSpec::default() };
    (
        AgentCard { kind: "scripted".into(), ..own_card() },
        build("scripted", spec, &AgentServices::new()).unwrap(),
    )
}

impl Scene {
    fn new(worker: (AgentCard, Arc<dyn Agent>), reader: (AgentCard, Arc<dyn Agent>)) -> Self {
        let dir = tempfile::tempdir().unwrap();
        lay_out(&dir.path().join("project"));
        let mut agent_set = AgentSet::default();
        agent_set.add("worker", worker.0, Some(worker.1));
        agent_set.add("reader", reader.0, Some(reader.1));
        Self { dir, agent_set }
    }

    fn project(&self) -> std::path::PathBuf {
        self.dir.path().join("project")
    }

    fn open(&self) -> Gadfly {
        let (config, _) = Config::from_layers([]);
        let store = self.project().join(".gadfly");
        Gadfly::open(Root::at(&self.project()), config, &store)
            .unwrap()
            .with_agents(self.agent_set.clone())
            .with_protocols(Protocols::shipped().with(BOOK))
            .with_launcher(launcher())
    }

    fn start(&self, ask: bool) -> Start {
        let root = NodePlan {
            protocol: "small".into(),
            version: 1,
            limits: Limits::default(),
            settings: serde_json::json!({ "ask": ask }),
        };
        let project = self.project().to_string_lossy().into_owned();
        let workspace = Some(WorkspacePlan { project, ..WorkspacePlan::default() });
        let agents: BTreeMap<_, _> = self.agent_set.cards();
        let plan = Plan {
            caller: None,
            title: "small".into(),
            root,
            agents: agents.into(),
            limits: Limits::default(),
            workspace,
        };
        Start { format: FORMAT, plan, seed: "5eed".into() }
    }

    async fn run(&self, gadfly: &Gadfly, run: &RunId, ask: bool) -> Result<Ended, ResumeError> {
        let start = self.start(ask);
        gadfly.start_plan(run.clone(), start, Vec::new(), self.agent_set.clone(), quiet()).await
    }
}

fn quiet() -> DriveOptions {
    DriveOptions { attended: false, stop: watch::channel(Stop::No).1, updates: None }
}

fn label(ended: &Ended) -> String {
    match ended {
        Ended::Outcome(outcome) => outcome.label(),
        Ended::Interrupted => "interrupted".into(),
    }
}

fn a_txt(project: &Path) -> String {
    fs::read_to_string(project.join("a.txt")).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_edits_its_folder_and_an_approved_tree_is_accepted_and_can_be_taken_back() {
    let script =
        ScriptedReply::text("done").writing("a.txt", "two\n").writing("new/n.txt", "n").deleting("b.txt");
    let scene = Scene::new(scripted(script), command("cat > /dev/null; cat a.txt"));
    let (gadfly, run) = (scene.open(), RunId::random().unwrap());
    assert_eq!(label(&scene.run(&gadfly, &run, false).await.unwrap()), "approved");
    let project = scene.project();
    assert_eq!((a_txt(&project).as_str(), project.join("b.txt").exists()), ("two\n", false));
    assert_eq!(fs::read_to_string(project.join("new/n.txt")).unwrap(), "n");
    assert!(!gadfly.journal().run_dir(&run).join("work").exists(), "copies that were lent are gone");
    let undone = gadfly.undo(&run).await.unwrap();
    let Undone::Checkout { paths, .. } = undone else { panic!("{undone:?}") };
    assert_eq!(paths, ["a.txt", "b.txt", "new/n.txt"]);
    assert_eq!((a_txt(&project).as_str(), project.join("b.txt").exists()), ("one\n", true));
    assert!(!project.join("new").exists(), "the folder it made is gone too");
    // Once more is said to be done; and what the user changed since is not taken back.
    fs::write(project.join("a.txt"), "mine").unwrap();
    let refused = gadfly.undo(&run).await.unwrap_err();
    assert!(matches!(&refused, UndoError::Already { .. }), "{refused}");
    assert_eq!(a_txt(&project), "mine");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_that_writes_makes_its_reply_void_and_nothing_is_accepted() {
    let script = ScriptedReply::text("done").writing("a.txt", "two\n");
    // Without the sandbox, that is: under it the write fails, and there is nothing to be void.
    let scene = Scene::new(scripted(script), unheld("cat > /dev/null; echo x >> a.txt; echo fine"));
    let (gadfly, run) = (scene.open(), RunId::random().unwrap());
    let ended = scene.run(&gadfly, &run, false).await.unwrap();
    let Ended::Outcome(Outcome::Failed { failure }) = &ended else { panic!("{ended:?}") };
    assert!(failure.message.contains("changed files it may only read (a.txt)"), "{failure}");
    assert_eq!(a_txt(&scene.project()), "one\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_checkout_edited_while_the_run_ran_is_a_question_and_its_answer_settles_it() {
    let script = ScriptedReply::text("done").writing("a.txt", "two\n");
    let dir = tempfile::tempdir().unwrap();
    let mark = dir.path().join("edited");
    let project_mark = mark.display().to_string();
    // The reader waits until the user has edited the checkout.
    let reader = format!("cat > /dev/null; while [ ! -e {project_mark} ]; do sleep 0.02; done; echo fine");
    let scene = Scene::new(scripted(script), unheld(&reader));
    let (gadfly, run) = (scene.open(), RunId::random().unwrap());
    let project = scene.project();
    let editing = async {
        while gadfly.folder(&run).is_none() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        fs::write(project.join("a.txt"), "mine").unwrap();
        fs::write(&mark, "").unwrap();
    };
    let (ended, ()) = tokio::join!(scene.run(&gadfly, &run, false), editing);
    let ended = ended.unwrap();
    assert_eq!(label(&ended), "waiting(question)");
    assert_eq!(a_txt(&project), "mine", "nothing is written unasked");
    assert!(gadfly.answer(&run, "merge".into(), "me").is_err(), "there is no merge without a conflict");
    gadfly.answer(&run, "stop".into(), "me").unwrap();
    let ended = gadfly.resume(&run, Raise::default(), quiet()).await.unwrap();
    assert_eq!((label(&ended).as_str(), a_txt(&project).as_str()), ("waiting(paused)", "mine"));
    // Looked at again it is another conflict, and another question.
    fs::write(project.join("a.txt"), "mine again").unwrap();
    let ended = gadfly.resume(&run, Raise::default(), quiet()).await.unwrap();
    assert_eq!(label(&ended), "waiting(question)");
    gadfly.answer(&run, "run".into(), "me").unwrap();
    let ended = gadfly.resume(&run, Raise::default(), quiet()).await.unwrap();
    assert_eq!((label(&ended).as_str(), a_txt(&project).as_str()), ("approved", "two\n"));
    gadfly.undo(&run).await.unwrap();
    assert_eq!(a_txt(&project), "mine again", "the user's own bytes, not those the run began with");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_stopped_in_the_middle_of_its_edit_begins_again_from_the_rounds_beginning() {
    let dir = tempfile::tempdir().unwrap();
    let marks = dir.path().display().to_string();
    // The first call leaves a half-done edit and hangs; the second must not see it.
    let worker = format!(
        "cat > /dev/null; echo call >> {marks}/calls; \
         if [ ! -e {marks}/first ]; then echo half > half; echo broken > a.txt; touch {marks}/first; sleep 600; fi; \
         test ! -e half && test \"$(cat a.txt)\" = one || {{ echo 'saw the half-done edit' >&2; exit 1; }}; \
         echo two > a.txt; echo done"
    );
    let scene = Scene::new(unheld(&worker), command("cat > /dev/null; echo fine"));
    let (gadfly, run) = (scene.open(), RunId::random().unwrap());
    let (stop, stopped) = watch::channel(Stop::No);
    let killing = async {
        while !dir.path().join("first").exists() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        stop.send(Stop::Now).unwrap();
    };
    let start = scene.start(false);
    let driving = DriveOptions { stop: stopped, ..quiet() };
    let running = gadfly.start_plan(run.clone(), start, Vec::new(), scene.agent_set.clone(), driving);
    let (ended, ()) = tokio::join!(running, killing);
    assert_eq!(label(&ended.unwrap()), "interrupted");
    let ended = gadfly.resume(&run, Raise::default(), quiet()).await.unwrap();
    assert_eq!((label(&ended).as_str(), a_txt(&scene.project()).as_str()), ("approved", "two\n"));
    assert!(!scene.project().join("half").exists());
    assert_eq!(fs::read_to_string(dir.path().join("calls")).unwrap(), "call\ncall\n", "repeated once");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_is_no_way_out_is_refused_before_it_is_posted() {
    let script = ScriptedReply::text("done").writing("a.txt", "two\n");
    let scene = Scene::new(scripted(script), command("cat > /dev/null; echo fine"));
    let (gadfly, run) = (scene.open(), RunId::random().unwrap());
    assert_eq!(label(&scene.run(&gadfly, &run, true).await.unwrap()), "waiting(question)");
    let refused = gadfly.answer(&run, "maybe".into(), "me").unwrap_err();
    assert!(matches!(&refused, AnswerError::NoAnswer { why, .. } if why.contains("go, stop")), "{refused}");
    assert!(gadfly.journal().mail(&run).unwrap().is_empty(), "nothing was posted");
    gadfly.answer(&run, "go".into(), "me").unwrap();
    let ended = gadfly.resume(&run, Raise::default(), quiet()).await.unwrap();
    assert_eq!(label(&ended), "approved");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_that_answers_with_text_only_is_refused_before_it_is_called() {
    let says = gadfly_runtime::embed::AgentFn(|_| async { Ok("text".to_owned()) });
    let worker: (AgentCard, Arc<dyn Agent>) =
        (AgentCard { kind: "openai".into(), ..own_card() }, Arc::new(says));
    let scene = Scene::new(worker, command("cat > /dev/null; echo fine"));
    let (gadfly, run) = (scene.open(), RunId::random().unwrap());
    let ended = scene.run(&gadfly, &run, false).await.unwrap();
    let Ended::Outcome(Outcome::Failed { failure }) = &ended else { panic!("{ended:?}") };
    assert!(failure.message.contains("cannot edit files"), "{failure}");
}
