//! How a reply can break the grammar of `converge`, each way with the sentence that asks for its repair.

/// The most breaches that are listed; the rest is counted.
const MOST_LISTED: usize = 25;

/// Something the reply has to state differently. Names are those of criteria, or `ADVERSARIAL`.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Breach {
    #[error("the reply is empty")]
    Empty,
    #[error("no criterion is answered: begin each answer with its `[NAME]`")]
    NoReview,
    #[error("the header names another pass than this one, which is {pass}")]
    OtherPass { pass: u32 },
    #[error("the reply has far more `[NAME]` lines than there are criteria: answer each criterion once")]
    TooMany,
    #[error("[{0}] is not answered")]
    Unanswered(String),
    #[error("[{0}] is none of the criteria: answer only those asked")]
    UnknownCriterion(String),
    #[error("[{0}] is answered twice with different verdicts")]
    Contradiction(String),
    #[error("[{0}] has no line that begins with `Verdict:`")]
    NoVerdict(String),
    #[error("[{0}] has more than one verdict")]
    TwoVerdicts(String),
    #[error("[{0}]: the verdict is not exactly one of PASS, FAIL, ESCALATE, DEFER")]
    UnclearVerdict(String),
    #[error("[{0}] is a bare PASS: answer the question and say what was counted")]
    BarePass(String),
    #[error("[{0}] passes without a quantity: say how many of how many were confirmed, or what was measured")]
    NoQuantity(String),
    #[error("[{0}] passes on a condition: a PASS holds as it stands, anything else is a FAIL with its fix")]
    Conditional(String),
    #[error("[{0}] passes and counts fewer than all: if something is missing it is a FAIL")]
    Fewer(String),
    #[error("[{0}] passes and yet asks for a change: then it is a FAIL with its fix")]
    PassWithDemand(String),
    #[error("[{0}] answers another question than it was asked: judge this work by the questions of the form")]
    OtherQuestion(String),
    #[error("[{0}] fails without a fix: write `Verdict: FAIL (the fix)`")]
    NoFix(String),
    #[error("[{0}] is deferred without a reason: write `Verdict: DEFER (the reason)`")]
    NoReason(String),
    #[error(
        "[{0}] escalates without its block: add `=== CRITIC ESCALATION (1) ===` and below it `[{0}]` with the question"
    )]
    NoBlock(String),
    #[error("[{0}] has an escalation block, but its verdict is not ESCALATE")]
    BlockWithoutEscalate(String),
    #[error("[{0}] has more than one escalation block: ask one question")]
    TwoBlocks(String),
    #[error("a `=== CRITIC ESCALATION` line is not followed by a `[CRITERION]` line")]
    NamelessBlock,
    #[error("[{0}]: the escalation block asks no question after its name")]
    NoQuestion(String),
    #[error("[{0}]: the escalation block has no `Issue:`")]
    NoIssue(String),
    #[error(
        "[{0}]: `Why escalation:` names none of: multiple valid approaches, subjective judgment, scope boundary, principle conflict, missing information"
    )]
    NoTrigger(String),
    #[error("[{0}]: the escalation block has no numbered `Options:` besides Skip")]
    NoOptions(String),
    #[error("[{name}]: option {option} lacks `Pro:` or `Con:`")]
    OneSided { name: String, option: usize },
    #[error("[{name}]: more than {most} options")]
    ManyOptions { name: String, most: usize },
    #[error("there is no failure scenario: add `[ADVERSARIAL] Failure scenario: …`")]
    NoScenario,
    #[error("[ADVERSARIAL] describes no scenario")]
    EmptyScenario,
    #[error("[ADVERSARIAL]: no line says `→ Realistic? Y → …` or `→ Realistic? N → …`")]
    NotWeighed,
    #[error("[ADVERSARIAL]: a realistic scenario must be a FAIL: write `Realistic? Y → FAIL + the fix`")]
    RealisticNotFailed,
    #[error("[ADVERSARIAL] is called unrealistic and yet has a verdict other than PASS")]
    UnrealisticFailed,
    #[error("[ADVERSARIAL] is called unrealistic without a quantity: give the number that shows it")]
    UnrealisticUncounted,
}

impl Breach {
    /// Something was not said at all, or not in a line of its own.
    pub(super) const fn is_unsaid(&self) -> bool {
        matches!(
            self,
            Self::NoReview
                | Self::Unanswered(_)
                | Self::NoVerdict(_)
                | Self::NoScenario
                | Self::EmptyScenario
                | Self::NotWeighed
        )
    }
}

/// The breaches as the request to restate names them, one line each.
pub fn problem(breaches: &[Breach]) -> String {
    let mut lines: Vec<String> = breaches.iter().take(MOST_LISTED).map(|b| format!("- {b}")).collect();
    if breaches.len() > MOST_LISTED {
        lines.push(format!("- and {} more of this kind", breaches.len() - MOST_LISTED));
    }
    lines.join("\n")
}
