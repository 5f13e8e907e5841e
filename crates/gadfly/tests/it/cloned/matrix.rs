//! Hostile projects × commands. Before anybody agreed nothing is run, read, sent, written or judged by what the project's
//! files say; with agreement only what was listed.

mod callers;
mod honest;
mod hostile;
mod judged;
mod listener;
mod world;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

use callers::command;
use honest::Honest;
use hostile::{ROWS, Row};
use judged::{Plain, swayed, unmarked};
use listener::Listener;
use world::{ENV_SECRET, FILE_SECRET, Form, Said, Snapshot, World, changed};

const THREADS: usize = 4;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum How {
    /// A question: whatever its code, nobody judges.
    Asks,
    /// Ends with 0 only if the work was approved.
    Judges,
    /// As Claude Code calls it when it wants to stop.
    Hook,
    Mcp,
    Serve,
}

struct Column {
    name: &'static str,
    /// `NAMED` stands for the loop that the project names, `RUN` for a run of the store.
    args: &'static [&'static str],
    how: How,
    form: Form,
    /// What the command writes in any project, by the beginning of its path.
    writes: &'static [&'static str],
    /// It can be agreed to here.
    trust: bool,
    /// Takes long: tried with the projects that aim at it, and with every third of the others.
    slow: bool,
}

const fn asks(name: &'static str, args: &'static [&'static str]) -> Column {
    Column { name, args, how: How::Asks, form: Form::Words, writes: &[], trust: false, slow: false }
}

const fn judges(name: &'static str, form: Form, args: &'static [&'static str]) -> Column {
    Column { name, args, how: How::Judges, form, writes: &[], trust: true, slow: false }
}

/// A pipeline shows in the project how it stands.
const STANDING: &[&str] = &["project/quality_reports", "project/SESSION_REPORT.md", "project/out"];

/// Where the honest project's own results go.
const RESULTS: &[&str] = &["project/abstract.md", "project/abstract.md.unapproved", "project/out"];

/// A draft that was not approved is kept beside the file it is meant for.
const UNAPPROVED: &[&str] = &["project/abstract.md.unapproved"];

const COLUMNS: &[Column] = &[
    asks("check", &["check"]),
    asks("doctor", &["doctor"]),
    asks("init", &["init", "--yes"]),
    asks("next", &["next"]),
    asks("why", &["why", "coder"]),
    Column { trust: true, ..asks("gate", &["gate", "commit"]) },
    asks("gate-strict", &["gate", "commit", "--strict"]),
    asks("learn", &["learn"]),
    asks("runs", &["runs"]),
    asks("show", &["show", "RUN"]),
    Column { trust: true, ..asks("resume", &["resume", "--all", "--unattended"]) },
    judges("review", Form::Words, &["review", "draft.md", "--criterion", "short", "--yes"]),
    judges(
        "review-rubric",
        Form::Words,
        &["review", "draft.md", "--critic", "judge", "--rubric", "rubric.md", "--yes"],
    ),
    Column {
        slow: true,
        ..judges(
            "review-uncommitted",
            Form::Report,
            &["review", "--uncommitted", "--criteria", "rubric.md", "--yes"],
        )
    },
    Column {
        slow: true,
        ..judges(
            "review-diff",
            Form::Report,
            &["review", "--diff", "HEAD~1", "--criterion", "it is tested", "--yes"],
        )
    },
    Column {
        slow: true,
        ..judges(
            "review-untrusted",
            Form::Report,
            &["review", "--diff", "HEAD~1", "--untrusted", "--criteria", "rubric.md", "--yes"],
        )
    },
    judges(
        "run",
        Form::Words,
        &["run", "Write.", "--criterion", "short", "--rounds", "1", "--yes", "--unattended"],
    ),
    judges(
        "run-critic",
        Form::Words,
        &[
            "run",
            "Write.",
            "--criterion",
            "short",
            "--worker",
            "pen",
            "--critic",
            "judge",
            "--rounds",
            "1",
            "--yes",
        ],
    ),
    Column {
        writes: UNAPPROVED,
        ..judges("run-named", Form::Words, &["run", "NAMED", "--yes", "--unattended"])
    },
    Column { slow: true, ..judges("goal-named", Form::Words, &["goal", "fix", "--yes", "--unattended"]) },
    Column {
        slow: true,
        writes: STANDING,
        ..judges(
            "pipeline",
            Form::Points,
            &["pipeline", "Go.", "--no-plan", "--calls", "2", "--yes", "--unattended"],
        )
    },
    Column {
        slow: true,
        writes: STANDING,
        ..judges("pipeline-plan", Form::Points, &["pipeline", "Go.", "--yes", "--unattended"])
    },
    Column {
        slow: true,
        writes: STANDING,
        ..judges("adopt-yes", Form::Points, &["adopt", "Go on.", "--yes"])
    },
    Column {
        writes: &["project/tasks.results.jsonl"],
        ..judges("batch", Form::Words, &["batch", "tasks.jsonl", "--rounds", "1", "--yes"])
    },
    Column {
        slow: true,
        how: How::Hook,
        ..judges("hook", Form::Words, &["hook", "stop", "--rubric", "rubric.md"])
    },
    Column {
        slow: true,
        how: How::Hook,
        ..judges("hook-untrusted", Form::Words, &["hook", "stop", "--untrusted", "--rubric", "rubric.md"])
    },
    Column {
        slow: true,
        how: How::Mcp,
        trust: false,
        writes: UNAPPROVED,
        ..judges("mcp", Form::Words, &["mcp"])
    },
    Column { how: How::Serve, trust: false, ..judges("serve", Form::Words, &["serve", "--port", "0"]) },
    asks("cancel", &["cancel", "RUN"]),
    asks("gc", &["gc", "--older-than", "0", "--abandoned", "--apply"]),
];

/// Commands about one run: they are tried where a store came along.
const ABOUT_A_RUN: &[Column] = &[
    asks("export", &["export", "RUN", "-"]),
    asks("undo", &["undo", "RUN", "--yes"]),
    asks("answer", &["answer", "RUN", "[STATUS: APPROVED]"]),
    Column { trust: true, ..asks("resume-one", &["resume", "RUN", "--unattended"]) },
    Column { trust: true, ..asks("resume-other", &["resume", "OTHER", "--unattended"]) },
    asks("follow", &["show", "RUN", "--critic-log"]),
];

struct Matrix {
    honest: Honest,
    listener: Listener,
}

/// What a command did.
struct Tried {
    said: Said,
    marks: BTreeSet<String>,
    sent: Vec<String>,
    written: Vec<PathBuf>,
    secrets: Vec<String>,
    /// What the user's judge was asked.
    brief: String,
    /// How the project had a say in who judged, and by what.
    swayed: Vec<String>,
}

/// Nobody had agreed yet, and nothing was begun.
fn refused(tried: &Tried) -> bool {
    tried.said.code == 2 || tried.said.all().contains("nobody has agreed")
}

/// A project at which commands are tried one after the other; what they leave in its store stays.
struct Bench<'a> {
    world: World<'a>,
    row: &'a Row,
    honest: &'a Honest,
    snapshot: Snapshot,
    marks: BTreeSet<String>,
    sent: usize,
}

impl Matrix {
    fn new() -> Self {
        Self { honest: Honest::new(), listener: Listener::start() }
    }

    fn bench<'a>(&'a self, row: &'a Row, form: Form, name: &str) -> Bench<'a> {
        let name = format!("{}.{name}", row.name);
        let world = World::new(name, form, &self.honest.project(), &self.listener);
        (row.make)(&world, &self.honest);
        let (snapshot, marks) = (world.snapshot(), world.marks(&world.everything("")));
        Bench { world, row, honest: &self.honest, snapshot, marks, sent: 0 }
    }
}

impl Bench<'_> {
    fn args(&self, column: &Column) -> Vec<String> {
        let word = |word: &&str| match *word {
            "NAMED" => self.row.named.to_owned(),
            "RUN" => self.honest.runs[0].clone(),
            "OTHER" => self.honest.runs[1].clone(),
            word => word.to_owned(),
        };
        column.args.iter().map(word).collect()
    }

    fn tries(&mut self, column: &Column, more: &[&str]) -> Tried {
        let world = &self.world;
        world.forget();
        let mut args = self.args(column);
        args.extend(more.iter().map(|word| (*word).to_owned()));
        let said = command(world, column, &args);
        let everything = world.everything(&said.all());
        let (snapshot, marks, sent) = (world.snapshot(), world.marks(&everything), world.sent());
        let changed = changed(&self.snapshot, &snapshot);
        let known = |path: &PathBuf| column.writes.iter().any(|known| path.starts_with(known));
        let tried = Tried {
            marks: marks.difference(&self.marks).cloned().collect(),
            sent: sent[self.sent..].to_vec(),
            secrets: secrets(&everything, &changed, &snapshot),
            written: changed.into_iter().filter(|path| !known(path)).collect(),
            brief: unmarked(&world.asked()),
            swayed: swayed(world, column),
            said,
        };
        (self.snapshot, self.marks, self.sent) = (snapshot, marks, sent.len());
        tried
    }
}

fn secrets(everything: &str, changed: &[PathBuf], now: &Snapshot) -> Vec<String> {
    let mut found = Vec::new();
    for secret in [FILE_SECRET, ENV_SECRET] {
        if everything.contains(secret) {
            found.push(format!("{secret} was read"));
        }
        let holds = |path: &&PathBuf| {
            now.get(*path).is_some_and(|(_, bytes)| String::from_utf8_lossy(bytes).contains(secret))
        };
        found.extend(changed.iter().filter(holds).map(|path| format!("{secret} is in {}", path.display())));
    }
    found
}

/// Does every piece of work once, some at a time; what was found, in order.
fn at_once<T: Sync>(work: &[T], does: impl Fn(&T) -> Vec<String> + Sync) -> Vec<String> {
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                while let Some(one) = work.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let wrong = does(one);
                    found.lock().unwrap().extend(wrong);
                }
            });
        }
    });
    let mut found = found.into_inner().unwrap();
    found.sort();
    found
}

/// What of this must not be before anybody agreed.
fn unasked(tried: &Tried, row: &Row, column: &Column, plain: &Plain) -> Vec<String> {
    let Tried { said, marks, sent, written, secrets, brief, .. } = tried;
    let mut wrong = misjudged(tried, row, column);
    // Nothing is added to a store that came along: then nobody judges at all.
    let is_refused = row.name == "store" && brief.is_empty() && said.all().contains("was not made by you");
    if !is_refused {
        wrong.extend(plain.differs(tried, column));
    }
    wrong.extend(secrets.iter().cloned());
    for (what, found) in
        [("ran", format!("{marks:?}")), ("sent", format!("{sent:?}")), ("wrote", format!("{written:?}"))]
    {
        if found.len() > 2 {
            wrong.push(format!("{what} {found}"));
        }
    }
    let all = said.all().trim().replace('\n', "\n    ");
    let told = |what| format!("{} × {}: {what}\n    ended with {}: {all}", row.name, column.name, said.code);
    wrong.into_iter().map(told).collect()
}

/// The user's judge rejects everything, so nothing is approved; and who judged is the user's judge.
fn misjudged(tried: &Tried, row: &Row, column: &Column) -> Vec<String> {
    let Tried { said, brief, .. } = tried;
    let (mut wrong, asked) = (Vec::new(), !brief.is_empty());
    match column.how {
        How::Asks => {
            // Receipts of a clone count, and are said to; strictly they do not.
            let counts = row.name == "receipts" && column.name == "gate";
            if column.name.starts_with("gate") && said.code == 0 && !counts {
                wrong.push("the gate is open".to_owned());
            }
        }
        How::Judges => {
            if said.code == 0 {
                wrong.push("approved".to_owned());
            }
            if said.code == 3 && !asked && !said.all().contains("not judged yet") {
                wrong.push("judged by somebody else".to_owned());
            }
            if said.code == 2 && asked {
                wrong.push("refused after the judge was asked".to_owned());
            }
            if said.code == 1 || said.code < 0 || said.code > 7 {
                wrong.push("failed".to_owned());
            }
        }
        How::Hook | How::Mcp | How::Serve => {
            if said.all().contains("approved by") || said.all().contains("\"approved\":true") {
                wrong.push("approved".to_owned());
            }
        }
    }
    wrong
}

/// What the project's files want, as it is shown to whoever is to agree.
fn listed(said: &Said) -> Option<String> {
    let hook: Value = serde_json::from_str(&said.out).unwrap_or_default();
    let told = format!("{}\n{}", hook["systemMessage"].as_str().unwrap_or_default(), said.err);
    let (_, list) = told.split_once("project's files want to")?;
    Some(list.split("To agree, once").next().unwrap_or_default().to_owned())
}

/// `CELL/WHAT` of `POST /CELL/WHAT/v1/… HTTP/1.1`.
fn place(request: &str) -> String {
    let path = request.split_whitespace().nth(1).unwrap_or_default();
    path.split('/').skip(1).take(2).collect::<Vec<_>>().join("/")
}

/// What of this was not in the list that was agreed to.
fn unlisted(tried: &Tried, list: &str, row: &Row, column: &Column) -> Vec<String> {
    let mut wrong: Vec<String> = Vec::new();
    for mark in tried.marks.iter().filter(|mark| !list.contains(mark.as_str())) {
        wrong.push(format!("ran {mark}"));
    }
    for request in &tried.sent {
        if !list.contains(&place(request)) {
            wrong.push(format!("sent {request}"));
        }
    }
    for path in &tried.written {
        let name = path.strip_prefix("project").unwrap_or(path).display().to_string();
        let name = name.trim_end_matches(".unapproved");
        if !RESULTS.iter().any(|known| path.starts_with(known)) && !list.contains(name) {
            wrong.push(format!("wrote {name}"));
        }
    }
    let named = |words: &[&str]| words.iter().any(|word| list.contains(word));
    if !named(&["is judged: "]) {
        wrong.extend(tried.swayed.iter().map(|how| format!("judged differently: {how}")));
    }
    for secret in &tried.secrets {
        let file = secret.contains(FILE_SECRET) && named(&[".ssh", "your secret"]);
        let variable = secret.contains(ENV_SECRET) && named(&[world::VARIABLE]);
        if !file && !variable {
            wrong.push(secret.clone());
        }
    }
    let all = tried.said.all().trim().replace('\n', "\n    ");
    let told = |what| format!("{} × {} --trust: {what}\n    listed:{list}\n    {all}", row.name, column.name);
    wrong.into_iter().map(told).collect()
}

#[test]
fn a_hostile_project_gets_nothing_before_agreement_and_only_what_was_listed_with_it() {
    let matrix = Matrix::new();
    let plain = Plain::new(&matrix);
    let (counts, touched) = (Mutex::new([0; 3]), Mutex::new(BTreeSet::new()));
    let chosen = AtomicUsize::new(0);
    let count = |what: usize| counts.lock().unwrap()[what] += 1;
    let forms = [Form::Words, Form::Report, Form::Points];
    let rows = ROWS.iter().enumerate();
    let work: Vec<_> = rows.flat_map(|row| forms.map(|form| (row, form))).collect();
    let whole = std::env::var_os("GADFLY_WHOLE_MATRIX").is_some();
    let wrong = at_once(&work, |((number, row), form)| {
        let mut bench = matrix.bench(row, *form, &format!("{form:?}"));
        let more = ABOUT_A_RUN.iter().filter(|_| row.name == "store");
        let mut wrong = Vec::new();
        for (at, column) in more.chain(COLUMNS).enumerate().filter(|(_, column)| column.form == *form) {
            let turn = whole || !column.slow || row.aims_at(column.name) || (*number + at).is_multiple_of(3);
            if !turn {
                continue;
            }
            let tried = bench.tries(column, &[]);
            count(usize::from(!refused(&tried)));
            let mut used = false;
            let mut found = unasked(&tried, row, column, &plain);
            if let Some(list) = listed(&tried.said).filter(|_| column.trust) {
                let tried = bench.tries(column, &["--trust"]);
                count(2);
                found.extend(unlisted(&tried, &list, row, column));
                let hosts = tried
                    .sent
                    .iter()
                    .filter_map(|request| Some(place(request).split_once('/')?.1.to_owned()));
                touched.lock().unwrap().extend(hosts.chain(tried.marks));
                chosen.fetch_add(tried.swayed.len(), Ordering::Relaxed);
                used = true;
            }
            // What was agreed to holds from now on, so the next command meets another copy.
            if used || !found.is_empty() {
                bench = matrix.bench(row, *form, column.name);
            }
            wrong.append(&mut found);
        }
        wrong
    });
    let [refused, honest, agreed] = counts.into_inner().unwrap();
    let (cells, touched) = (refused + honest + agreed, touched.into_inner().unwrap());
    println!(
        "matrix: {cells} cells of {} projects × {} commands: before agreement {refused} refused and {honest} as honest; \
         {agreed} with agreement, in which {} hostile commands and hosts were used",
        ROWS.len(),
        COLUMNS.len() + ABOUT_A_RUN.len(),
        touched.len()
    );

    assert!(wrong.is_empty(), "{} of {cells} cells:\n{}", wrong.len(), wrong.join("\n"));
    // The traps are real: whoever agrees sees them spring.
    assert!(touched.len() >= 18, "{touched:?}");
    assert!(chosen.into_inner() >= 10, "the project's say counts once it was agreed to");
    assert!(cells >= 300, "{cells}");
}
