//! Whole runs whose nodes have folders of their own: nobody sees another's work before it is delivered, parts are
//! delivered and committed, and all of it is taken back at once.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use gadfly_agents::scripted::{Script, ScriptedReply};
use gadfly_agents::{Agent, AgentServices, AgentSpec, build};
use gadfly_engine::artifact::ArtifactFile;
use gadfly_engine::input::{FORMAT, InputKind, Start};
use gadfly_engine::machine::{AgentAnswer, Cx, TaskResult, WorkerCall};
use gadfly_engine::pipeline::listing::{Listing, Pattern, Survey};
use gadfly_engine::plan::NodePlan;
use gadfly_engine::protocol::{Protocol, Protocols, RuleBook};
use gadfly_engine::tree::{Accept, Acceptance, CommitFiles, Look, WorkspacePlan};
use gadfly_engine::{
    AgentCard, Digest, EffectId, Limits, Message, NodePath, Outcome, Part, Plan, Reply, Speaker,
};
use gadfly_journal::RunId;
use gadfly_project::{Config, Root};
use gadfly_runtime::embed::own_card;
use gadfly_runtime::service::{DriveOptions, Gadfly};
use gadfly_runtime::undo::{UndoError, Undone};
use gadfly_runtime::{AgentSet, Ended, Stop};
use tokio::sync::watch;

use crate::folder::stage::{git, launcher, lay_out};

/// Has one agent work in its folder, and says which state that led to.
struct Hand {
    agent: String,
    tree: Option<Digest>,
    worked: bool,
}

impl Protocol for Hand {
    fn start(&mut self, cx: &mut Cx<'_>) {
        cx.look(Look { tree: None, paths: Vec::new() });
    }

    fn task_done(&mut self, _: &EffectId, learned: TaskResult, cx: &mut Cx<'_>) {
        let TaskResult::Looked(looked) = learned else { return };
        let tree = looked.tree.unwrap().digest;
        self.tree = Some(tree);
        if self.worked {
            return cx.finish(Outcome::Approved { draft: tree, overruled: false, notes: Vec::new() });
        }
        let messages = vec![Message { from: Speaker::User, parts: vec![Part::Text("go".into())] }];
        cx.call(WorkerCall { agent: &self.agent, messages, tree: Some(tree), advice: false, tag: 0 });
    }

    fn answered(&mut self, _: AgentAnswer, cx: &mut Cx<'_>) {
        self.worked = true;
        cx.look(Look { tree: None, paths: Vec::new() });
    }

    fn draft(&self) -> Option<Digest> {
        self.tree
    }
}

const HAND: RuleBook = RuleBook {
    manifest: |_| Ok(gadfly_engine::RunManifest::default()),
    name: "hand",
    version: 1,
    begin: |plan| {
        let agent = plan.settings["agent"].as_str().unwrap().to_owned();
        Ok(Box::new(Hand { agent, tree: None, worked: false }))
    },
};

/// Sends out `one` and `two` at once, delivers a part of what each made, sends out `three`, delivers that, looks at
/// the project and commits.
#[derive(Default)]
struct Boss {
    made: BTreeMap<String, Digest>,
    accepted: usize,
    last: Option<Digest>,
}

const BOSS: RuleBook = RuleBook {
    name: "boss",
    version: 1,
    begin: |_| Ok(Box::<Boss>::default()),
    manifest: |_| Ok(gadfly_engine::RunManifest::default()),
};

impl Boss {
    fn send(agent: &str, cx: &mut Cx<'_>) {
        let settings = serde_json::json!({ "agent": agent });
        let plan = NodePlan { protocol: "hand".into(), version: 1, limits: Limits::default(), settings };
        cx.spawn(agent, &plan).unwrap();
    }

    fn deliver(&self, agent: &str, only: &[&str], cx: &mut Cx<'_>) {
        cx.accept(Accept {
            tree: self.made[agent],
            how: Acceptance::Checkout,
            resolution: None,
            at: Some(NodePath::root().child(agent)),
            only: Some(only.iter().map(|p| (*p).to_owned()).collect()),
        });
    }
}

impl Protocol for Boss {
    fn start(&mut self, cx: &mut Cx<'_>) {
        Self::send("one", cx);
        Self::send("two", cx);
    }

    fn child_ended(&mut self, child: &NodePath, outcome: &Outcome, cx: &mut Cx<'_>) {
        let Outcome::Approved { draft, .. } = outcome else { panic!("{outcome:?}") };
        self.made.insert(child.0.rsplit('/').next().unwrap().to_owned(), *draft);
        self.last = Some(*draft);
        match self.made.len() {
            2 => self.deliver("one", &["shared.txt", "one.txt"], cx),
            3 => self.deliver("three", &["shared.txt", "b.txt"], cx),
            _ => {}
        }
    }

    fn task_done(&mut self, _: &EffectId, learned: TaskResult, cx: &mut Cx<'_>) {
        match learned {
            TaskResult::Accepted { commit: Some(_), .. } => {
                let draft = self.last.unwrap();
                cx.finish(Outcome::Approved { draft, overruled: false, notes: Vec::new() });
            }
            TaskResult::Accepted { .. } => {
                self.accepted += 1;
                match self.accepted {
                    1 => self.deliver("two", &["two.txt"], cx),
                    2 => Self::send("three", cx),
                    _ => drop(cx.survey(Survey { patterns: vec![Pattern::new("*.txt")], read: Vec::new() })),
                }
            }
            TaskResult::Surveyed(_) => {
                let file = |path: &str, text: &str| ArtifactFile {
                    path: path.into(),
                    mode: 0o644,
                    blob: Digest::of(text.as_bytes()),
                };
                let files = vec![file("shared.txt", "by three\n"), file("two.txt", "2")];
                cx.commit(CommitFiles { files, deleted: Vec::new(), branch: None, message: "Done".into() });
            }
            other => panic!("{other:?}"),
        }
    }

    fn answered(&mut self, _: AgentAnswer, _: &mut Cx<'_>) {}

    fn draft(&self) -> Option<Digest> {
        self.last
    }
}

fn scripted(reply: ScriptedReply) -> (AgentCard, Arc<dyn Agent>) {
    let script = Some(Arc::new(Script::new([reply])));
    let spec = AgentSpec { name: "s".into(), script, ..AgentSpec::default() };
    (
        AgentCard { kind: "scripted".into(), ..own_card() },
        build("scripted", spec, &AgentServices::new()).unwrap(),
    )
}

struct Scene {
    dir: tempfile::TempDir,
    agent_set: AgentSet,
    gadfly: Gadfly,
    run: RunId,
}

impl Scene {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let project = dir.path().join("project");
        lay_out(&project);
        fs::write(project.join("shared.txt"), "the user's\n").unwrap();
        git(&project, &["init", "-q", "-b", "main"]);
        for (key, value) in [("user.name", "Ann"), ("user.email", "ann@example.org")] {
            git(&project, &["config", key, value]);
        }
        git(&project, &["add", "."]);
        git(&project, &["commit", "-q", "-m", "first"]);
        let mut agent_set = AgentSet::default();
        for (name, reply) in [
            ("one", ScriptedReply::text("1").writing("shared.txt", "by one\n").writing("one.txt", "1")),
            ("two", ScriptedReply::text("2").writing("shared.txt", "by two\n").writing("two.txt", "2")),
            ("three", ScriptedReply::text("3").writing("shared.txt", "by three\n").deleting("b.txt")),
        ] {
            let (card, agent) = scripted(reply);
            agent_set.add(name, card, Some(agent));
        }
        let (config, _) = Config::from_layers([]);
        let gadfly = Gadfly::open(Root::at(&project), config, &project.join(".gadfly"))
            .unwrap()
            .with_agents(agent_set.clone())
            .with_protocols(Protocols::shipped().with(HAND).with(BOSS))
            .with_launcher(launcher());
        Self { dir, agent_set, gadfly, run: RunId::random().unwrap() }
    }

    fn project(&self) -> PathBuf {
        self.dir.path().join("project")
    }

    fn read(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.project().join(path)).ok()
    }

    fn put(&self, path: &str, text: &str) {
        fs::write(self.project().join(path), text).unwrap();
    }

    fn files(&self) -> Vec<(String, String)> {
        let all = fs::read_dir(self.project()).unwrap().map(|e| e.unwrap());
        let all = all
            .filter(|e| e.path().is_file())
            .map(|e| (e.file_name().into_string().unwrap(), fs::read_to_string(e.path()).unwrap()));
        all.collect::<BTreeMap<_, _>>().into_iter().collect()
    }

    async fn start(&self) -> Ended {
        let (protocol, limits) = ("boss".to_owned(), Limits::default());
        let root = NodePlan { protocol, version: 1, limits, settings: serde_json::json!({}) };
        let project = self.project().to_string_lossy().into_owned();
        let workspace = Some(WorkspacePlan { project, per_node: true, ..WorkspacePlan::default() });
        let plan = Plan {
            caller: None,
            title: "t".into(),
            root,
            agents: self.agent_set.cards().into(),
            limits,
            workspace,
        };
        let start = Start { format: FORMAT, plan, seed: "5eed".into() };
        let driving = DriveOptions { attended: false, stop: watch::channel(Stop::No).1, updates: None };
        let (run, agent_set) = (self.run.clone(), self.agent_set.clone());
        self.gadfly.start_plan(run, start, Vec::new(), agent_set, driving).await.unwrap()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_work_apart_parts_are_delivered_and_all_is_taken_back() {
    let scene = Scene::new();
    let before = scene.files();
    let ended = scene.start().await;
    assert!(matches!(ended, Ended::Outcome(Outcome::Approved { .. })), "{ended:?}");
    assert_eq!(scene.read("shared.txt").as_deref(), Some("by three\n"), "what `two` made of it stayed out");
    assert_eq!((scene.read("one.txt").as_deref(), scene.read("two.txt").as_deref()), (Some("1"), Some("2")));
    assert_eq!(scene.read("b.txt"), None);

    // What the look at the project found.
    let records = scene.gadfly.journal().replay(&scene.run).map(Result::unwrap);
    let surveyed = records.into_iter().find_map(|record| match record.input.what {
        InputKind::Replied { reply: Reply::Surveyed(surveyed), .. } => Some(surveyed),
        _ => None,
    });
    let listing = scene.gadfly.journal().text(&surveyed.unwrap().listing).unwrap().unwrap();
    let listing = Listing::parse(&listing);
    let listed: Vec<&str> = listing.iter().map(|(path, _)| path).collect();
    assert_eq!(listed, ["a.txt", "one.txt", "shared.txt", "two.txt"]);

    // The commit has what was named and nothing else.
    let branch = format!("gadfly/{}", scene.run);
    let changed = git(&scene.project(), &["diff", "--name-only", "main", &branch]);
    assert_eq!(changed, "shared.txt\ntwo.txt");

    // Folders of nodes are gone, what undoing needs is there.
    let home = scene.gadfly.journal().run_dir(&scene.run);
    assert!(!home.join("tree").exists(), "the root has no folder of its own, for it did nothing in one");
    for node in ["one", "two", "three"] {
        let tree = home.join("nodes").join(node).join("tree");
        assert!(!tree.join("work").exists() && tree.join("store.git").exists(), "{node}");
    }

    // All or nothing.
    scene.put("two.txt", "mine");
    let preview = scene.gadfly.preview_undo(&scene.run).await.unwrap();
    assert_eq!(preview.way.conflicts, ["two.txt"]);
    let refused = scene.gadfly.undo(&scene.run).await.unwrap_err();
    assert!(matches!(&refused, UndoError::Changed { paths, .. } if paths == &["two.txt"]), "{refused}");
    assert_eq!(scene.read("shared.txt").as_deref(), Some("by three\n"));
    scene.put("two.txt", "2");
    let undone = scene.gadfly.undo(&scene.run).await.unwrap();
    let Undone::Checkout { paths, .. } = undone else { panic!("{undone:?}") };
    assert_eq!(paths, ["b.txt", "one.txt", "shared.txt", "two.txt"]);
    assert_eq!(scene.files(), before, "what two of them wrote is as it was before the first");
    let again = scene.gadfly.undo(&scene.run).await.unwrap_err();
    assert!(matches!(again, UndoError::Already { .. }), "{again}");
}
