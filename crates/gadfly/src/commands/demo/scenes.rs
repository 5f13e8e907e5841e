//! What the demo plays: one act per protocol, its scenes in order, and how each must end.
//!
//! To add a scene: a script in `src/demo/` and its line in `stage`, a loop or goal of the scene's name
//! in `src/demo/gadfly.toml`, and its entry here.

use crate::exit::{self, Code};

pub struct Act {
    pub protocol: &'static str,
    pub says: &'static str,
    /// Its workers edit files, in a folder that git keeps.
    pub needs_git: bool,
    pub scenes: &'static [DemoScene],
}

pub struct DemoScene {
    /// For a run, also the loop's or the goal's.
    pub name: &'static str,
    pub says: &'static str,
    pub play: SceneKind,
    /// The scene it goes on from.
    pub after: Option<&'static str>,
    /// How it must end; anything else is a fault of ours.
    pub ends: Code,
}

#[derive(Clone, Copy)]
pub enum SceneKind {
    Run,
    Goal,
    /// The agents of the registry, with this request.
    Pipeline(&'static str),
    /// The run of the scene before is answered and resumed.
    Answer(&'static str),
}

/// What is played if nobody says what: a worker that drifts and claims too early, a critic that notices, a check that
/// decides. Without git, a draft that has to be revised.
pub const FIRST: &str = "misled";
pub const FIRST_WITHOUT_GIT: &str = "revision";

/// The scenes to be played for this one, in order. None if there is no such scene.
pub fn named(name: &str) -> Option<Vec<(&'static Act, &'static DemoScene)>> {
    let found = all().into_iter().find(|(_, scene)| scene.name == name)?;
    let mut before = found.1.after.and_then(named).unwrap_or_default();
    before.push(found);
    Some(before)
}

pub fn all() -> Vec<(&'static Act, &'static DemoScene)> {
    ACTS.iter().flat_map(|act| act.scenes.iter().map(move |scene| (act, scene))).collect()
}

const fn run(name: &'static str, ends: Code, says: &'static str) -> DemoScene {
    DemoScene { name, says, play: SceneKind::Run, after: None, ends }
}

const fn goal(name: &'static str, ends: Code, says: &'static str) -> DemoScene {
    DemoScene { name, says, play: SceneKind::Goal, after: None, ends }
}

pub const ACTS: &[Act] = &[
    Act {
        protocol: "revise",
        says: "the critic approves, or rejects with specific fixes",
        needs_git: false,
        scenes: &[
            run(
                "approval",
                exit::OK,
                "The critic sees only the draft and the rubric, and is satisfied at once.",
            ),
            run(
                "revision",
                exit::OK,
                "Two specific fixes, a revision, an approval. The file is written only now.",
            ),
            run(
                "halt",
                exit::HALTED,
                "A worker that approves itself and does not listen. The third rejection ends it.",
            ),
            run(
                "overruled",
                exit::OK,
                "Everything asked for is done; the critic invents something new. That is overruled, visibly.",
            ),
            run(
                "unverified",
                exit::UNVERIFIED,
                "A critic that never gives a verdict. Unverified is neither a pass nor a rejection.",
            ),
        ],
    },
    Act {
        protocol: "score",
        says: "the critic deducts by a rubric, the program adds up, 80 of 100 passes",
        needs_git: false,
        scenes: &[
            run(
                "total",
                exit::OK,
                "The critic's own total would pass. Its deductions do not add up to it, and they count.",
            ),
            run(
                "lenses",
                exit::OK,
                "Two critics with different lenses, neither knows the other. One is content; both must be.",
            ),
            run(
                "escalation",
                exit::OK,
                "Three rounds in vain. Someone else decides, and the worker starts afresh from the decision.",
            ),
        ],
    },
    Act {
        protocol: "audit",
        says: "the worker edits files in a folder of its own, tests run, every criterion is judged",
        needs_git: true,
        scenes: &[
            run(
                "verified",
                exit::OK,
                "A failing test costs no critic. Then the critic cites a line that does not exist.",
            ),
            run(
                "meddling",
                exit::OK,
                "A critic edits the work it should judge: its copy is thrown away, its verdict is void.",
            ),
            run(
                "marker",
                exit::OK,
                "The critic passes unfinished work; the program finds the marker, for free. Then a commit.",
            ),
        ],
    },
    Act {
        protocol: "converge",
        says: "every criterion is answered with a number, until nothing is left to fix",
        needs_git: false,
        scenes: &[
            run(
                "counted",
                exit::OK,
                "A bare PASS is sent back. With numbers something fails, and CONVERGED is claimed all the same.",
            ),
            run(
                "question",
                exit::WAITING,
                "Something only a person knows. Nobody is here, so the run is parked with its question.",
            ),
            DemoScene {
                name: "answered",
                says: "The same run, a moment or a week later: it goes on from the answer.",
                play: SceneKind::Answer("2"),
                after: Some("question"),
                ends: exit::OK,
            },
            run(
                "oscillation",
                exit::HALTED,
                "Two criteria pull in opposite directions. The second time around ends it, rounds left or not.",
            ),
        ],
    },
    Act {
        protocol: "goal",
        says: "a worker with tools pursues a goal, a critic looks at its steps, the program verifies",
        needs_git: true,
        scenes: &[
            goal(
                "stuck",
                exit::OK,
                "The same edit fails again and again: a guard blocks it, the critic is asked, the worker looks.",
            ),
            goal(
                "misled",
                exit::OK,
                "The worker drifts and is brought back to the goal. Then it claims too early.",
            ),
            DemoScene {
                name: "unnoticed",
                says: "The goal is reached and the worker does not notice. The critic does; the check decides.",
                play: SceneKind::Goal,
                after: Some("stuck"),
                ends: exit::OK,
            },
        ],
    },
    Act {
        protocol: "pipeline",
        says: "the agents of a registry work as soon as what they need is there, up to a gate",
        needs_git: true,
        scenes: &[
            DemoScene {
                name: "agents",
                says: "A missing section is sent back before any critic is paid. The editor waits for the analyst's score.",
                play: SceneKind::Pipeline("Say what the new process changed."),
                after: None,
                ends: exit::WAITING,
            },
            DemoScene {
                name: "agreed",
                says: "The gate is open; a person has the last word.",
                play: SceneKind::Answer("approve"),
                after: Some("agents"),
                ends: exit::OK,
            },
        ],
    },
];
