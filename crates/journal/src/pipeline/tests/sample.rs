//! A pipeline in code: a librarian that passes, a coder that is escalated and blocked, a writer that waits.

use std::collections::BTreeMap;

use gadfly_engine::artifact::ArtifactFile;
use gadfly_engine::budget::{Limits, Spent};
use gadfly_engine::deduction::Level;
use gadfly_engine::event::EventKind;
use gadfly_engine::input::InputKind;
use gadfly_engine::pipeline::aggregate::{Aggregate, Component, Hundredths, ScoreRow};
use gadfly_engine::pipeline::learning::{LearnTag, Suggestion};
use gadfly_engine::pipeline::registry::{Need, PairWeight, Product, RegistryEntry as Registered};
use gadfly_engine::pipeline::{Atom, Check, Gate, GateReport, PairVerdict, Pattern, PipelineEvent, Registry};
use gadfly_engine::protocol::pipeline::settings::{PairSettings, PipelineSettings};
use gadfly_engine::review::{Binding, Coverage, Review, ReviewItem, Score, Verdict};
use gadfly_engine::{
    Digest, Event, Input, Manifest, Money, NodePath, Outcome, Plan, Reply, Stamp, Start, Step, Text, Usage,
};

use crate::pipeline::StateFiles;
use crate::{Journal, Record, RunId, RunView};

/// 2026-05-09 14:30:00 UTC.
pub const BEGIN: u64 = 1_778_337_000_000;
pub const PLAN: &str = "# Plan\n\nFirst the literature.\n";

pub fn run() -> RunId {
    "0123456789".parse().unwrap()
}

pub fn digest(text: &str) -> Digest {
    Digest::of(text.as_bytes())
}

pub fn file(path: &str, content: &str) -> ArtifactFile {
    ArtifactFile { path: path.into(), mode: 0o644, blob: digest(content) }
}

pub fn verdict(agent: &str, critic: &str, score: u32, files: Vec<ArtifactFile>) -> PairVerdict {
    PairVerdict {
        agent: agent.into(),
        critic: critic.into(),
        lens: None,
        score,
        threshold: 80,
        rounds: 1,
        escalated: false,
        artifact: Manifest::new(files.clone()).digest(),
        files,
        rubric: digest("rubric"),
        reply: digest("reply"),
        open: vec![],
        other: vec![],
        rejected: false,
        made: vec![],
    }
}

fn entry(agent: &str, phase: &str, needs: Vec<Atom>, makes: &str) -> Registered {
    Registered {
        agent: agent.into(),
        line: 1,
        phase: Some(phase.into()),
        requires: Need::All(needs.into_iter().map(Need::Atom).collect()),
        produces: vec![Product { patterns: vec![Pattern::new(makes)], ..Product::default() }],
        critic: Some(format!("{agent}-critic")),
        weight: PairWeight::Share { points: 1000, component: agent.into(), binary: false },
        ..Registered::default()
    }
}

fn atom(check: Check) -> Atom {
    Atom { text: "as written".into(), line: 2, check }
}

pub fn settings(project: &str, coder: &str) -> PipelineSettings {
    let literature = "quality_reports/literature/x/";
    let needs = atom(Check::Path(Pattern::new(literature)));
    let gate = atom(Check::Score { critic: format!("{coder}-critic"), at_least: 80 });
    let entries = vec![
        entry("librarian", "Discovery", vec![], literature),
        entry(coder, "Execution", vec![needs], "scripts/"),
        entry("writer", "Execution", vec![gate], "paper/main.tex"),
    ];
    // What a plan leaves out has its default, so that this says only what matters here.
    let pair = |name: &str| -> PairSettings {
        serde_json::from_value(serde_json::json!({
            "worker": name, "identity": digest("identity"), "task": digest("task"),
            "severity": Level::High, "threshold": 80,
        }))
        .unwrap()
    };
    let pairs = entries.iter().map(|e| (e.agent.clone(), pair(&e.agent))).collect();
    let pairs: BTreeMap<String, PairSettings> = pairs;
    serde_json::from_value(serde_json::json!({
        "project": project, "request": digest("request"), "registry": Registry { entries }, "pairs": pairs,
        "gate": Gate::commit(), "mode": "pipeline", "jobs": 2,
    }))
    .unwrap()
}

pub fn report() -> GateReport {
    let row = |agent: &str, score: Option<u32>| ScoreRow {
        agent: agent.into(),
        points: 1000,
        score,
        because: score.is_none().then(|| "never judged".into()),
        optional: false,
    };
    let component = |name: &str, row: ScoreRow| Component {
        name: name.into(),
        points: row.points,
        score: row.score.map(|score| Hundredths(score * 100)),
        rows: vec![row],
    };
    let components =
        vec![component("literature", row("librarian", Some(92))), component("code", row("coder", Some(61)))];
    let mut components = components;
    components.push(component("polish", row("writer", None)));
    let arithmetic = vec!["(10 × 92 + 10 × 61) / 20 = 76.50".into()];
    GateReport {
        gate: Gate::commit(),
        aggregate: Aggregate { components, overall: Some(Hundredths(7650)), arithmetic },
        blocking: vec!["overall 76.50 is below 80".into()],
        missing: vec!["polish".into()],
    }
}

pub fn suggestion() -> Suggestion {
    Suggestion {
        tag: LearnTag::HighPerf,
        agent: "librarian".into(),
        text: "librarian scored 92 on the first pass".into(),
        action: "keep its brief as a template".into(),
    }
}

pub struct Stream {
    pub records: Vec<Record>,
    now: u64,
}

impl Stream {
    pub fn begun(settings: &PipelineSettings, places: Option<&StateFiles>) -> Self {
        let settings = PipelineSettings { state_files: places.map(StateFiles::places), ..settings.clone() };
        let root = settings.node_plan(Limits::default()).unwrap();
        let title = "Returns to schooling".to_owned();
        let plan = Plan {
            caller: None,
            title,
            root,
            agents: BTreeMap::new().into(),
            limits: Limits::default(),
            workspace: None,
        };
        let what = InputKind::Started(Box::new(Start { format: 1, plan, seed: "00".into() }));
        let input = Input { at: Stamp { wall_ms: BEGIN, active_ms: 0 }, what, texts: vec![Text::new(PLAN)] };
        let records = vec![Record { seq: 0, input, step: Step::default() }];
        Self { records, now: 0 }
    }

    /// Events a minute later, each at its node.
    pub fn then(&mut self, events: Vec<(&str, EventKind)>, outcome: Option<Outcome>) {
        self.now += 60_000;
        let at = Stamp { wall_ms: BEGIN + self.now, active_ms: self.now };
        let what =
            InputKind::Replied { effect: "run#1".parse().unwrap(), reply: Reply::Cancelled { sent: false } };
        let event = |(node, what): (&str, EventKind)| Event { node: NodePath(node.to_owned().into()), what };
        let events = events.into_iter().map(event).collect();
        let seq = u32::try_from(self.records.len()).unwrap();
        let input = Input { at, what, texts: vec![] };
        self.records.push(Record { seq, input, step: Step { events, outcome, ..Step::default() } });
    }

    pub fn state(&self) -> RunView {
        let mut state = RunView::with_history(run());
        for record in &self.records {
            state.apply(record);
        }
        state
    }

    pub fn record(&self, journal: &Journal, run: RunId) {
        let mut writer = journal.create(run).unwrap();
        for record in &self.records {
            writer.append_and_wait(&record.input, &record.step, None).unwrap();
        }
    }
}

pub fn pipeline(event: PipelineEvent) -> (&'static str, EventKind) {
    ("run", EventKind::Pipeline(event))
}

pub fn dispatched(agent: &str, phase: &str, nth: u32) -> PipelineEvent {
    let at = NodePath::root().child(&if nth == 1 { agent.to_owned() } else { format!("{agent}.{nth}") });
    let critic = Some(format!("{agent}-critic"));
    PipelineEvent::Dispatched {
        agent: agent.into(),
        at,
        critic,
        phase: Some(phase.into()),
        nth,
        loaded: vec![],
    }
}

pub fn reviewed(critic: &str, round: u32, score: u32, open: &[&str]) -> EventKind {
    let digest = digest("x");
    let items =
        open.iter().zip(1..).map(|(text, number)| ReviewItem { number, text: (*text).into(), since: round });
    let review = Review {
        binding: Binding { round, artifact: digest, critic: critic.into(), lens: None, rubric: digest },
        verdict: if score >= 80 { Verdict::Approved } else { Verdict::Rejected },
        open: items.collect(),
        addressed: vec![],
        reason: String::new(),
        rendered: None,
        notes: vec![],
        deviations: vec![],
        coverage: Coverage { entries: vec![], unseen: vec![] },
        prompt: digest,
        reply: digest,
        more_calls: vec![],
        findings: vec![],
        fixed: vec![],
        criteria: vec![],
        score: Some(Score {
            value: score,
            unfloored: i64::from(score),
            threshold: 80,
            stated: None,
            computed: true,
            arithmetic: vec![],
        }),
    };
    EventKind::Reviewed { round, review }
}

pub fn charged(agent: &str) -> EventKind {
    let (effect, run) = ("run#1".parse().unwrap(), Spent::default());
    EventKind::Charged { effect, agent: agent.into(), usage: Usage::default(), cost: Money(1), run }
}

/// The whole story up to the moment before it ends.
pub fn story(coder: &str, words: &str, places: Option<&StateFiles>) -> Stream {
    let settings = settings("schooling", coder);
    let mut stream = Stream::begun(&settings, places);
    let begun =
        PipelineEvent::Begun { project: "schooling".into(), agents: 3, gate: "commit".into(), jobs: 2 };
    let text = digest(PLAN);
    let plan = PipelineEvent::PlanDrafted { text, by: "planner".into(), spec: false, blocked: vec![] };
    stream.then(vec![pipeline(begun), pipeline(plan)], None);
    let approved = PipelineEvent::PlanApproved { text, by: "anna".into() };
    stream.then(vec![pipeline(approved), pipeline(dispatched("librarian", "Discovery", 1))], None);
    let first = EventKind::RoundStarted { round: 1, of: 3 };
    stream.then(vec![("run/librarian", first.clone()), ("run/librarian", charged("librarian"))], None);
    let review = reviewed("librarian-critic", 1, 92, &[]);
    stream.then(vec![("run/librarian", review)], None);
    let files = vec![
        file("quality_reports/literature/x/frontier_map.md", "map"),
        file("quality_reports/literature/x/references.bib", "bib"),
    ];
    let verdict = Box::new(verdict("librarian", "librarian-critic", 92, files));
    let scored = PipelineEvent::Scored { verdict, delivered: true };
    stream.then(vec![pipeline(scored), pipeline(dispatched(coder, "Execution", 1))], None);
    let (node, critic) = (format!("run/{coder}"), format!("{coder}-critic"));
    stream.then(vec![(&node, first)], None);
    stream.then(vec![(&node, reviewed(&critic, 1, 61, &[words, "no seed"]))], None);
    let escalated = EventKind::Escalated { round: 3, to: "strategist-critic".into(), because: words.into() };
    stream.then(vec![(&node, escalated)], None);
    stream
}

/// The story with its end.
pub fn whole(coder: &str, words: &str, places: Option<&StateFiles>) -> Stream {
    let mut stream = story(coder, words, places);
    let blocked = PipelineEvent::PairBlocked {
        agent: coder.into(),
        because: words.into(),
        score: Some(61),
        rounds: 3,
        open: vec![words.into()],
    };
    let refused = PipelineEvent::NotDispatched { agent: "writer".into(), lines: vec!["Cannot".into()] };
    let gate = PipelineEvent::GateChecked { round: 1, report: Box::new(report()) };
    let learned = PipelineEvent::Learned { suggestions: vec![suggestion()] };
    stream.then(vec![pipeline(blocked), pipeline(refused), pipeline(gate)], None);
    let outcome = Outcome::Halted { reason: gadfly_engine::Halt::Cap, draft: None, open: vec![] };
    stream.then(vec![pipeline(learned)], Some(outcome));
    stream
}
