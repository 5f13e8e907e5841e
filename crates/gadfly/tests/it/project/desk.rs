//! A small research project in a temporary folder, verdicts on its files by hand, and the binary at work in it.

use crate::kit::agreed;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use gadfly_engine::artifact::ArtifactFile;
use gadfly_engine::event::EventKind;
use gadfly_engine::input::InputKind;
use gadfly_engine::pipeline::{PairVerdict, PipelineEvent};
use gadfly_engine::plan::NamedBy;
use gadfly_engine::plan::NodePlan;
use gadfly_engine::{Digest, Event, Input, Limits, Manifest, NodePath, Plan, Reply, Stamp, Start, Step};
use gadfly_journal::pipeline::{JudgedBy, Receipt, VerdictJudge};
use gadfly_journal::{Journal, RunId};
use tempfile::TempDir;

pub const MEMO: &str = "quality_reports/strategy/wages/strategy_memo.md";
pub const SCRIPT: &str = "scripts/main.R";
pub const REGISTRY: &str = "# Permissions

## strategist
- **PHASE:** Strategy
- **REQUIRES:** None
- **PRODUCES:** `quality_reports/strategy/{project}/strategy_memo.md`
- **Required sections:** Estimand, Threats
- **CRITIC:** strategist-critic
- **ESCALATION_TARGET:** User --- a fundamental question
- **QUALITY_WEIGHT:** 60% (identification)

## coder
- **PHASE:** Execution
- **REQUIRES:** `quality_reports/strategy/{project}/strategy_memo.md` AND strategist-critic score >= 80
- **PRODUCES:** `scripts/`
- **CRITIC:** coder-critic
- **ESCALATION_TARGET:** strategist-critic
- **QUALITY_WEIGHT:** 20% (code)

## writer
- **PHASE:** Execution
- **REQUIRES:** `scripts/` AND the data may be published
- **PRODUCES:** `paper/main.tex`
- **CRITIC:** writer-critic
- **ESCALATION_TARGET:** User
- **QUALITY_WEIGHT:** 40% (polish)

## theorist
- **PHASE:** Strategy
- **REQUIRES:** None
- **PRODUCES:** `theory/memo.md`
- **CRITIC:** strategist-critic
- **CONDITIONAL:** only with a formal model
- **QUALITY_WEIGHT:** None
";

pub struct Desk {
    dir: TempDir,
}

/// What a command said.
#[derive(Debug)]
pub struct Said {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Desk {
    /// The project, with nothing made yet.
    pub fn new() -> Self {
        let desk = Self::bare();
        for name in ["strategist", "coder", "writer", "theorist"] {
            desk.write(
                &format!(".claude/agents/{name}.md"),
                &format!("---\nname: {name}\n---\nYou are a CREATOR."),
            );
        }
        for name in ["strategist-critic", "coder-critic", "writer-critic"] {
            let text = format!("---\nname: {name}\ntools: Read\n---\nYou are a CRITIC.");
            desk.write(&format!(".claude/agents/{name}.md"), &text);
        }
        desk.write(
            ".claude/skills/strategize/SKILL.md",
            "---\nname: strategize\ndescription: Design the study\n---\nDispatch the strategist.\n",
        );
        desk.write(".claude/rules/permissions.md", REGISTRY);
        desk.write("CLAUDE.md", "# Wages\n\n**Project:** wages\n");
        desk.configure("[agents.default]\nkind = \"command\"\ncommand = [\"/bin/true\"]\n");
        desk
    }

    pub fn bare() -> Self {
        let desk = Self { dir: tempfile::tempdir().unwrap() };
        for sub in ["home", "project"] {
            fs::create_dir(desk.dir.path().join(sub)).unwrap();
        }
        desk
    }

    /// Adds to the user's own configuration: it is no part of the project.
    pub fn configure(&self, more: &str) {
        let file = self.beside("home/.config/gadfly/gadfly.toml");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        let before = fs::read_to_string(&file).unwrap_or_default();
        fs::write(file, format!("{before}{more}")).unwrap();
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join("project").join(name)
    }

    pub fn beside(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    /// The memo and the scripts, as somebody made them.
    pub fn made(&self) {
        self.write(MEMO, "# Memo\n\n## 1. Estimand\n\nThe effect.\n\n## Threats\n\nNone.\n");
        self.write(SCRIPT, "library(fixest)\n");
    }

    /// A verdict on files as they are now.
    pub fn verdict(&self, agent: &str, score: u32, files: &[&str]) -> PairVerdict {
        let entry = |path: &&str| {
            let blob = Digest::of(&fs::read(self.path(path)).unwrap());
            ArtifactFile { path: (*path).to_owned(), mode: 0o644, blob }
        };
        let files: Vec<ArtifactFile> = files.iter().map(entry).collect();
        PairVerdict {
            agent: agent.into(),
            critic: format!("{agent}-critic"),
            lens: None,
            score,
            threshold: 80,
            rounds: 1,
            escalated: false,
            artifact: Manifest::new(files.clone()).digest(),
            files,
            rubric: Digest::of(b"rubric"),
            reply: Digest::of(b"reply"),
            open: Vec::new(),
            other: Vec::new(),
            rejected: false,
            made: Vec::new(),
        }
    }

    /// A receipt for that verdict.
    pub fn receipt(&self, agent: &str, score: u32, files: &[&str]) {
        let verdict = self.verdict(agent, score, files);
        let receipt = Receipt {
            agent: verdict.agent,
            critic: verdict.critic,
            lens: None,
            judge: VerdictJudge { kind: "anthropic".into(), model: None, layer: NamedBy::User },
            score,
            threshold: 80,
            rounds: 1,
            escalated: false,
            artifact: verdict.artifact,
            files: verdict.files,
            rules: JudgedBy { protocol: "pipeline".into(), version: 1, rubric: verdict.rubric },
            reply: verdict.reply,
            run: "0123456789".into(),
            at: "2026-05-09T14:30:00Z".into(),
            other: Vec::new(),
            open: Vec::new(),
            made: Vec::new(),
            sha256: BTreeMap::new(),
            base: None,
        };
        let name = format!("quality_reports/receipts/{agent}.json");
        self.write(&name, &receipt.render(None).unwrap());
    }

    /// A run of a pipeline in the journal, in which these things happened.
    pub fn recorded(&self, events: Vec<PipelineEvent>) -> String {
        let journal = Journal::open(&self.path(".gadfly")).unwrap();
        let run = RunId::random().unwrap();
        let mut writer = journal.create(run.clone()).unwrap();
        let settings = serde_json::json!({});
        let root = NodePlan { protocol: "pipeline".into(), version: 1, limits: Limits::default(), settings };
        let plan = Plan {
            caller: None,
            title: "wages".into(),
            root,
            agents: BTreeMap::new().into(),
            limits: Limits::default(),
            workspace: None,
        };
        let at = Stamp { wall_ms: 1_778_337_000_000, active_ms: 0 };
        let what = InputKind::Started(Box::new(Start { format: 1, plan, seed: "00".into() }));
        writer.append_and_wait(&Input { at, what, texts: Vec::new() }, &Step::default(), None).unwrap();
        let what =
            InputKind::Replied { effect: "run#1".parse().unwrap(), reply: Reply::Cancelled { sent: false } };
        let event = |event| Event { node: NodePath::root(), what: EventKind::Pipeline(event) };
        let step = Step { events: events.into_iter().map(event).collect(), ..Step::default() };
        writer.append_and_wait(&Input { at, what, texts: Vec::new() }, &step, None).unwrap();
        run.to_string()
    }

    /// The word of a journal that was not made here on files as they are now.
    pub fn judged(&self, agent: &str, score: u32, files: &[&str]) -> String {
        let verdict = Box::new(self.verdict(agent, score, files));
        self.recorded(vec![PipelineEvent::Scored { verdict, delivered: true }])
    }

    /// By a user who agrees to how the project's files want work judged.
    fn command(&self, program: &str, args: &[&str]) -> Said {
        agreed::to_judging(&self.path(""), &self.beside("home"));
        let mut command = Command::new(program);
        command.args(args).current_dir(self.path("")).env_clear().stdin(Stdio::null());
        command.env("HOME", self.beside("home")).env("PATH", "/usr/bin:/bin").env("TZ", "UTC");
        let done = command.output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Said { code: done.status.code().unwrap_or(-1), out: text(done.stdout), err: text(done.stderr) }
    }

    pub fn gadfly(&self, args: &[&str]) -> Said {
        self.command(env!("CARGO_BIN_EXE_gadfly"), args)
    }

    pub fn git(&self, args: &[&str]) -> Said {
        self.command("git", args)
    }

    /// A repository with everything that is here.
    pub fn committed(&self) {
        for args in [
            &["-c", "init.defaultBranch=main", "init", "-q"][..],
            &["config", "user.name", "A"],
            &["config", "user.email", "a@b.c"],
            &["add", "-A"],
            &["commit", "-q", "-m", "one"],
        ] {
            self.git(args).is(0);
        }
    }
}

impl Said {
    #[track_caller]
    pub fn is(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{}\n--- stderr\n{}", self.out, self.err);
        self
    }

    #[track_caller]
    pub fn says(self, what: &str) -> Self {
        let all = format!("{}\n{}", self.out, self.err);
        let words = all.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(what), "`{what}` is not in:\n{all}");
        self
    }

    #[track_caller]
    pub fn does_not_say(self, what: &str) -> Self {
        let all = format!("{}\n{}", self.out, self.err);
        assert!(!all.contains(what), "`{what}` is in:\n{all}");
        self
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(self.out.lines().last().unwrap_or_default())
            .unwrap_or_else(|e| panic!("{e}: {self:?}"))
    }
}
