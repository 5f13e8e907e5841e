//! `undo` of whole runs that worked in the user's own project: ended, stopped in the middle, never begun.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use gadfly_agents::scripted::{Script, ScriptedReply};
use gadfly_agents::{Agent, AgentServices, AgentSpec, Confinement, ProcessSpec, build};
use gadfly_engine::input::{FORMAT, Start};
use gadfly_engine::machine::{AgentAnswer, Cx, TaskResult, WorkerCall};
use gadfly_engine::plan::NodePlan;
use gadfly_engine::protocol::{Protocol, Protocols, RuleBook};
use gadfly_engine::tree::{Look, Verify, WorkspacePlan};
use gadfly_engine::{AgentCard, Digest, EffectId, Limits, Message, Outcome, Part, Plan, Speaker};
use gadfly_journal::RunId;
use gadfly_project::{Config, Root};
use gadfly_runtime::embed::own_card;
use gadfly_runtime::service::{DriveOptions, Gadfly};
use gadfly_runtime::undo::{UndoError, Undone};
use gadfly_runtime::{AgentSet, Ended, Stop};
use tokio::sync::watch;

use crate::folder::stage::{launcher, lay_out};

/// Looks, has the worker work, looks, runs a command, and is content.
#[derive(Default)]
struct Plain {
    tree: Option<Digest>,
    worked: bool,
}

const BOOK: RuleBook = RuleBook {
    name: "plain",
    version: 1,
    begin: |_| Ok(Box::<Plain>::default()),
    manifest: |_| {
        Ok(gadfly_engine::RunManifest::default()
            .running(&gadfly_engine::manifest::Purpose::Verify, [&"true".to_owned()]))
    },
};

impl Protocol for Plain {
    fn start(&mut self, cx: &mut Cx<'_>) {
        cx.look(Look { tree: None, paths: Vec::new() });
    }

    fn task_done(&mut self, _: &EffectId, learned: TaskResult, cx: &mut Cx<'_>) {
        match learned {
            TaskResult::Looked(looked) => {
                self.tree = looked.tree.map(|t| t.digest);
                let tree = self.tree.unwrap();
                if self.worked {
                    let command = "true".to_owned();
                    cx.verify(Verify {
                        command,
                        tree,
                        runs: 1,
                        timeout_ms: 20_000,
                        held: None,
                        fresh: false,
                        evidence: Vec::new(),
                    });
                } else {
                    let messages =
                        vec![Message { from: Speaker::User, parts: vec![Part::Text("go".into())] }];
                    let tree = Some(tree);
                    cx.call(WorkerCall { agent: "worker", messages, tree, advice: false, tag: 0 });
                }
            }
            _ => cx.finish(Outcome::Approved {
                draft: self.tree.unwrap(),
                overruled: false,
                notes: Vec::new(),
            }),
        }
    }

    fn answered(&mut self, _: AgentAnswer, cx: &mut Cx<'_>) {
        self.worked = true;
        cx.look(Look { tree: None, paths: Vec::new() });
    }

    fn draft(&self) -> Option<Digest> {
        self.tree
    }
}

struct Scene {
    dir: tempfile::TempDir,
    agent_set: AgentSet,
    gadfly: Gadfly,
    run: RunId,
}

fn scripted(reply: ScriptedReply) -> (AgentCard, Arc<dyn Agent>) {
    let script = Some(Arc::new(Script::new([reply])));
    let spec = AgentSpec { name: "s".into(), script, ..AgentSpec::default() };
    (
        AgentCard { kind: "scripted".into(), ..own_card() },
        build("scripted", spec, &AgentServices::new()).unwrap(),
    )
}

fn hanging(script: &str) -> (AgentCard, Arc<dyn Agent>) {
    let env = vec![("PATH".to_owned(), std::env::var("PATH").unwrap())];
    let world = AgentServices::new().with_launcher(launcher()).with_base_env(env);
    let command = ["sh", "-c", script].map(str::to_owned).to_vec();
    let process = ProcessSpec { confined_by: Confinement::Nobody, ..ProcessSpec::default() };
    let spec = AgentSpec { name: "sh".into(), command, process, ..AgentSpec::default() };
    (AgentCard { kind: "command".into(), ..own_card() }, build("command", spec, &world).unwrap())
}

impl Scene {
    /// `.gadfly` is in the project, as it is for a user who says nothing else.
    fn new(worker: (AgentCard, Arc<dyn Agent>)) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let project = dir.path().join("project");
        lay_out(&project);
        let mut agent_set = AgentSet::default();
        agent_set.add("worker", worker.0, Some(worker.1));
        let (config, _) = Config::from_layers([]);
        let gadfly = Gadfly::open(Root::at(&project), config, &project.join(".gadfly"))
            .unwrap()
            .with_agents(agent_set.clone())
            .with_protocols(Protocols::shipped().with(BOOK))
            .with_launcher(launcher());
        Self { dir, agent_set, gadfly, run: RunId::random().unwrap() }
    }

    fn project(&self) -> PathBuf {
        self.dir.path().join("project")
    }

    fn put(&self, path: &str, text: &str) {
        fs::write(self.project().join(path), text).unwrap();
    }

    fn read(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.project().join(path)).ok()
    }

    async fn start(&self, stop: watch::Receiver<Stop>) -> Ended {
        let (protocol, limits) = ("plain".to_owned(), Limits::default());
        let root = NodePlan { protocol, version: 1, limits, settings: serde_json::json!({}) };
        let project = self.project().to_string_lossy().into_owned();
        let workspace = Some(WorkspacePlan { project, in_place: true, ..WorkspacePlan::default() });
        let plan = Plan {
            caller: None,
            title: "t".into(),
            root,
            agents: self.agent_set.cards().into(),
            limits,
            workspace,
        };
        let start = Start { format: FORMAT, plan, seed: "5eed".into() };
        let driving = DriveOptions { attended: false, stop, updates: None };
        let (run, agent_set) = (self.run.clone(), self.agent_set.clone());
        self.gadfly.start_plan(run, start, Vec::new(), agent_set, driving).await.unwrap()
    }
}

fn busy_worker() -> (AgentCard, Arc<dyn Agent>) {
    scripted(
        ScriptedReply::text("done").writing("a.txt", "two\n").writing("new/n.txt", "n").deleting("b.txt"),
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_ended_run_is_taken_back_and_the_users_own_edits_stay() {
    let scene = Scene::new(busy_worker());
    let ended = scene.start(watch::channel(Stop::No).1).await;
    assert!(matches!(ended, Ended::Outcome(Outcome::Approved { .. })), "{ended:?}");
    assert_eq!((scene.read("a.txt").as_deref(), scene.read("b.txt")), (Some("two\n"), None), "it is there");
    scene.put("mine.txt", "mine\n");
    let preview = scene.gadfly.preview_undo(&scene.run).await.unwrap();
    assert!(preview.sure && preview.in_place, "{preview:?}");
    assert_eq!(preview.way.restored, ["a.txt", "b.txt"]);
    assert_eq!(
        (preview.way.removed.join(" "), preview.way.left_alone.join(" ")),
        ("new/n.txt".into(), "mine.txt".into())
    );
    assert_eq!(scene.read("a.txt").unwrap(), "two\n", "looking changes nothing");
    // What the run wrote and the user changed again stops all of it.
    scene.put("a.txt", "two, and mine\n");
    let refused = scene.gadfly.undo(&scene.run).await.unwrap_err();
    assert!(matches!(&refused, UndoError::Changed { paths, .. } if paths == &["a.txt"]), "{refused}");
    assert_eq!(scene.read("b.txt"), None);
    scene.put("a.txt", "two\n");
    let undone = scene.gadfly.undo(&scene.run).await.unwrap();
    assert!(matches!(undone, Undone::InPlace { .. }), "{undone:?}");
    let again = scene.gadfly.undo(&scene.run).await.unwrap_err();
    assert!(matches!(again, UndoError::Already { .. }), "{again}");
    assert_eq!((scene.read("a.txt").unwrap(), scene.read("b.txt").unwrap()), ("one\n".into(), "b\n".into()));
    assert!(!scene.project().join("new").exists());
    assert_eq!(scene.read("mine.txt").unwrap(), "mine\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_was_stopped_in_the_middle_is_taken_back_whole_but_not_unseen() {
    let worker =
        "cat > /dev/null; echo half > a.txt; rm b.txt; mkdir d; echo n > d/n; touch started; sleep 600";
    let scene = Scene::new(hanging(worker));
    let (stop, stopped) = watch::channel(Stop::No);
    let killing = async {
        while !scene.project().join("started").exists() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let driven = scene.gadfly.undo(&scene.run).await.unwrap_err();
        assert!(matches!(driven, UndoError::Driven(_)), "{driven}");
        stop.send(Stop::Now).unwrap();
    };
    let (ended, ()) = tokio::join!(scene.start(stopped), killing);
    assert!(matches!(ended, Ended::Interrupted), "{ended:?}");
    let preview = scene.gadfly.preview_undo(&scene.run).await.unwrap();
    assert!(!preview.sure, "what was done after the last look is nobody's for certain");
    scene.gadfly.undo(&scene.run).await.unwrap();
    assert_eq!((scene.read("a.txt").unwrap(), scene.read("b.txt").unwrap()), ("one\n".into(), "b\n".into()));
    let mut left: Vec<_> = fs::read_dir(scene.project())
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    left.sort();
    assert_eq!(left, [".gadfly", ".gitignore", "a.txt", "b.txt"]);
}

/// The store is where the worker works. With the comparison in `checked` off, the forged base goes into the
/// user's files.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_beginning_that_was_tampered_with_is_not_put_into_the_users_files() {
    let scene = Scene::new(busy_worker());
    scene.start(watch::channel(Stop::No).1).await;
    let home = scene.gadfly.journal().run_dir(&scene.run);
    let facts = home.join("tree/workspace.json");
    let mut forged: serde_json::Value = serde_json::from_slice(&fs::read(&facts).unwrap()).unwrap();
    let state =
        fs::read_dir(home.join("states")).unwrap().map(|e| fs::read_to_string(e.unwrap().path()).unwrap());
    let other = state.into_iter().find(|tree| forged["base"] != tree.as_str()).unwrap();
    forged["base"] = other.into();
    fs::write(&facts, forged.to_string()).unwrap();
    let refused = scene.gadfly.undo(&scene.run).await.unwrap_err();
    assert!(matches!(refused, UndoError::Tampered { .. }), "{refused}");
    assert_eq!(scene.read("a.txt").unwrap(), "two\n");
}
