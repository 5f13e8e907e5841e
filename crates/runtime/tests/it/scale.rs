//! A large project: a thousand agents, ten thousand artifacts. The ordinary test counts what is done; the ignored one
//! measures it, and asserts nothing about time:
//!
//! `cargo build --release -p gadfly && cargo test --release -p gadfly-runtime --test it scale:: -- --ignored --nocapture`
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // tests may fail loudly

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use gadfly_engine::artifact::{ArtifactFile as File, Manifest};
use gadfly_engine::pipeline::facts::AgentReadiness;
use gadfly_engine::pipeline::headings::headings;
use gadfly_engine::pipeline::listing::{Listing, Survey};
use gadfly_engine::pipeline::{Check, Gate, PairVerdict, Pattern, ProjectFacts, Registry};
use gadfly_engine::{Digest, Text};
use gadfly_project::registry;
use gadfly_runtime::survey::{SurveyResult, look};
use tokio_util::sync::CancellationToken;

/// Artifacts of each agent.
const EACH: usize = 10;

struct Project {
    dir: tempfile::TempDir,
    registry: Registry,
    verdicts: Vec<PairVerdict>,
}

impl Project {
    /// Every agent makes a folder and needs one of ten agents before it; every other one is a critic, too.
    fn new(agents: usize) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        fs::create_dir_all(root.join(".gadfly")).unwrap();
        // What is seen is kept only in a store that a run has used.
        fs::write(root.join(".gadfly/journal.db"), "").unwrap();
        fs::create_dir_all(root.join("agents")).unwrap();
        let config = "[agents.default]\nkind = \"scripted\"\nscript = \"w.toml\"\n";
        fs::write(root.join("gadfly.toml"), config).unwrap();
        fs::write(root.join("w.toml"), "[[reply]]\ntext = \"x\"\nrepeat = \"always\"\n").unwrap();
        let mut text = String::new();
        for n in 0..agents {
            let critic = n - n % 2;
            let requires = match n.checked_sub(10) {
                Some(before) => format!("`out/a{before:04}/` AND `out/a{:04}/f1.md`", before + 3),
                None => "None".to_owned(),
            };
            write!(
                text,
                "## a{n:04}\n- **PARALLEL_GROUP:** g{n}\n- **REQUIRES:** {requires}\n- **PRODUCES:** `out/a{n:04}/`\n  \
                 - Required files: `f0.md`, `f1.md`\n  - Required sections: Estimand\n- **CRITIC:** a{critic:04}-critic\n\
                 - **ESCALATION_TARGET:** User\n- **QUALITY_WEIGHT:** 0.1% (c{n})\n\n"
            )
            .unwrap();
            let agent = format!("---\nname: a{n:04}\ndescription: worker\n---\nYou are a CREATOR.\n");
            fs::write(root.join(format!("agents/a{n:04}.md")), agent).unwrap();
            if n == critic {
                let agent = format!(
                    "---\nname: a{n:04}-critic\ndescription: c\ntools: Read\n---\nYou are a CRITIC.\n"
                );
                fs::write(root.join(format!("agents/a{n:04}-critic.md")), agent).unwrap();
            }
            fs::create_dir_all(root.join(format!("out/a{n:04}"))).unwrap();
            for f in 0..EACH {
                let text = format!("# Estimand\n\n{}\n", "some words ".repeat(60));
                fs::write(root.join(format!("out/a{n:04}/f{f}.md")), text).unwrap();
            }
        }
        fs::write(root.join("permissions.md"), &text).unwrap();
        let registry = registry::parse(Path::new("permissions.md"), &text);
        assert!(registry.problems.is_empty(), "{:?}", registry.problems);
        let registry = registry::resolved(&registry.registry, "project");
        let mut project = Self { dir, registry, verdicts: Vec::new() };
        project.settle(&format!("out/a{:04}/f{}.md", agents - 1, EACH - 1));
        project.verdicts = project.judged(&project.look().listing);
        project
    }

    fn root(&self) -> &Path {
        self.dir.path()
    }

    /// Waits until the file system's clock has gone on since this file changed.
    fn settle(&self, path: &str) {
        let changed = |path: PathBuf| {
            let meta = fs::metadata(path).unwrap();
            (meta.ctime(), meta.ctime_nsec())
        };
        let last = changed(self.root().join(path));
        while {
            fs::write(self.root().join("clock"), "").unwrap();
            changed(self.root().join("clock")) <= last
        } {
            std::thread::yield_now();
        }
    }

    /// Half of the agents have passed.
    fn judged(&self, listing: &Listing) -> Vec<PairVerdict> {
        let entries = self.registry.entries.iter().step_by(2);
        let verdict = |entry: &gadfly_engine::pipeline::RegistryEntry| {
            let made = listing.matching(&entry.produces[0].patterns[0]);
            let file = |(path, found): (&str, gadfly_engine::pipeline::listing::ListedFile)| File {
                path: path.to_owned(),
                mode: found.mode,
                blob: found.digest,
            };
            let files: Vec<File> = made.map(file).collect();
            PairVerdict {
                agent: entry.agent.clone(),
                critic: entry.critic.clone().unwrap(),
                lens: None,
                score: 90,
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
        };
        entries.map(verdict).collect()
    }

    fn survey(&self) -> Survey {
        let (mut patterns, mut read) = (BTreeSet::<Pattern>::new(), BTreeSet::<Pattern>::new());
        for entry in &self.registry.entries {
            for product in &entry.produces {
                patterns.extend(product.patterns.iter().chain(&product.files).cloned());
                read.extend(product.sectioned().cloned());
            }
            for atom in entry.requires.atoms() {
                if let Check::Path(pattern) = &atom.check {
                    patterns.insert(pattern.clone());
                }
            }
        }
        let judged = self.verdicts.iter().flat_map(|verdict| &verdict.files);
        patterns.extend(judged.map(|file| Pattern(file.path.clone())));
        Survey { patterns: patterns.into_iter().collect(), read: read.into_iter().collect() }
    }

    fn look(&self) -> SurveyResult {
        look(self.root(), &self.root().join(".gadfly"), &self.survey(), &CancellationToken::new()).unwrap()
    }

    /// What a pipeline does between two dispatches: look, take the reply in, see how everybody stands, ask the gate.
    fn step(&self) -> Step {
        let seen = self.look();
        let (read, compared) = (seen.read, seen.compared);
        let (surveyed, texts) = seen.reply();
        let texts: BTreeMap<Digest, &Text> = texts.iter().map(|text| (text.digest(), text)).collect();
        let listing = Listing::parse(texts[&surveyed.listing].as_str());
        let read_along =
            surveyed.read.iter().map(|(path, text)| (path.clone(), headings(texts[text].as_str())));
        let (headings, manual, enabled, skills) =
            (read_along.collect(), BTreeMap::new(), BTreeSet::new(), BTreeMap::new());
        let world = ProjectFacts {
            registry: &self.registry,
            listing: &listing,
            headings: &headings,
            verdicts: &self.verdicts,
            manual: &manual,
            assume_manual: false,
            enabled: &enabled,
            skills: &skills,
        };
        let standings = world.standings();
        let count =
            |is: fn(&AgentReadiness) -> bool| standings.iter().filter(|(_, standing)| is(standing)).count();
        Step {
            read,
            compared,
            done: count(|standing| matches!(standing, AgentReadiness::Done { .. })),
            ready: count(|standing| matches!(standing, AgentReadiness::Ready)),
            opens: world.gate(&Gate::commit()).is_open(),
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
struct Step {
    read: usize,
    compared: usize,
    done: usize,
    ready: usize,
    opens: bool,
}

/// With every path compared with every pattern it would be two hundred times as many.
#[test]
fn a_step_compares_each_file_with_few_patterns_and_reads_only_what_changed() {
    let project = Project::new(200);
    let warm = project.step();
    let stands = (warm.read, warm.done, warm.ready, warm.opens);
    assert_eq!(stands, (0, 100, 100, false), "half of what is there was never judged");
    let files = 200 * EACH;
    assert!(warm.compared <= 2 * files, "{} comparisons for {files} files", warm.compared);
    fs::write(project.root().join("out/a0004/f0.md"), "# Other\n").unwrap();
    project.settle("out/a0004/f0.md");
    let edited = project.step();
    assert_eq!((edited.read, edited.done, edited.ready), (1, 99, 101), "its score is stale");
    assert_eq!(project.step().read, 0);
}

/// `check` as a whole process, and one step, beside a walk that stats every file of the same tree.
#[test]
#[ignore = "a measurement"]
fn check_and_a_step_beside_a_bare_walk() {
    fn walk(folder: &Path) -> u64 {
        let mut files = 0;
        for entry in fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            files += if entry.metadata().unwrap().is_dir() { walk(&entry.path()) } else { 1 };
        }
        files
    }
    let project = Project::new(1_000);
    let bare = || assert!(walk(project.root()) > 11_500);
    let step = || assert_eq!(project.step().read, 0);
    let gadfly = std::env::current_exe().unwrap().parent().unwrap().parent().unwrap().join("gadfly");
    let gadfly = std::env::var_os("GADFLY").map_or(gadfly, PathBuf::from);
    let check = || {
        let mut command = Command::new(&gadfly);
        command.arg("check").current_dir(project.root()).stdout(Stdio::null()).stderr(Stdio::null());
        assert!(command.status().unwrap().success());
    };
    // Side by side, so that what else goes on is the same for all.
    let (mut bares, mut steps, mut checks) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..15 {
        bares.push(timed(bare));
        steps.push(timed(step));
        if gadfly.is_file() {
            checks.push(timed(check));
        }
    }
    let bare = median(bares);
    let of = |time: Duration| time.as_secs_f64() / bare.as_secs_f64();
    let mut out = std::io::stdout();
    writeln!(out, "1000 agents, 10000 artifacts; medians of 15: bare walk {bare:.1?}").unwrap();
    let step = median(steps);
    writeln!(out, "one step {step:.1?}, {:.2} of the walk", of(step)).unwrap();
    if checks.is_empty() {
        writeln!(out, "check: build it first, there is no {}", gadfly.display()).unwrap();
    } else {
        let check = median(checks);
        writeln!(out, "check {check:.1?}, {:.2} of the walk", of(check)).unwrap();
    }
}

fn timed(lap: impl Fn()) -> Duration {
    let began = Instant::now();
    lap();
    began.elapsed()
}

fn median(mut laps: Vec<Duration>) -> Duration {
    laps.sort();
    laps[laps.len() / 2]
}
