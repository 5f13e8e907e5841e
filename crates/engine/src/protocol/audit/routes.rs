//! Where findings send a task: the table of categories, which route wins, what blocks, and the cap.
//!
//! Pure decisions over findings. Who is called on a route, and what a person may answer, is `audit`.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::finding::{Finding, Severity};

/// Where a task goes next. The greatest wins where findings disagree.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Route {
    Commit,
    Executor,
    Researcher,
    PlanChecker,
    #[serde(rename = "askuser")]
    AskUser,
    Stuck,
}

impl Route {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Commit => "commit",
            Self::Executor => "executor",
            Self::Researcher => "researcher",
            Self::PlanChecker => "plan-checker",
            Self::AskUser => "askuser",
            Self::Stuck => "stuck",
        }
    }
}

impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Every category a critic may name, with its route.
pub const TABLE: &[(&str, Route)] = &[
    ("style", Route::Executor),
    ("dead-code", Route::Executor),
    ("dangling-thread", Route::Executor),
    (TODO_MARKER, Route::Executor),
    ("import-hygiene", Route::Executor),
    ("comment-hygiene", Route::Executor),
    ("lint-violation", Route::Executor),
    ("missing-test", Route::Executor),
    ("edge-case-gap", Route::Executor),
    ("weak-assertion", Route::Executor),
    (SILENCED_FAILURE, Route::Executor),
    ("test-naming", Route::Executor),
    ("non-deterministic", Route::Executor),
    ("verify-mismatch", Route::Executor),
    (UNMET_CRITERION, Route::Executor),
    (SCOPE_CREEP, Route::Executor),
    ("over-engineering", Route::Executor),
    ("stdlib-reinvention", Route::Executor),
    ("native-duplication", Route::Executor),
    ("shrinkable", Route::Executor),
    (INFORMATION_MISSING, Route::Researcher),
    (QUESTION_TO_USER, Route::AskUser),
    ("locked-decision-violation", Route::PlanChecker),
    ("infrastructure-mismatch", Route::PlanChecker),
    ("stuck-detected", Route::Stuck),
    (CRITIC_ERROR, Route::Stuck),
];

/// What audits of tool use report elsewhere. No critic is told of these, and one that names them is understood.
const OF_TOOL_USE: [&str; 2] = ["rule-9-violation", "skill-bar-unconsulted"];

/// The categories of the economy axis.
pub const ECONOMY: &[&str] = &["over-engineering", "stdlib-reinvention", "native-duplication", "shrinkable"];

pub const TODO_MARKER: &str = "todo-marker";
pub const SILENCED_FAILURE: &str = "silenced-failure";
pub const UNMET_CRITERION: &str = "unmet-criterion";
pub const SCOPE_CREEP: &str = "scope-creep";
pub const INFORMATION_MISSING: &str = "information-missing";
pub const QUESTION_TO_USER: &str = "question-to-user";
pub const CRITIC_ERROR: &str = "critic-error";

/// The route of a category, if the table knows it.
pub fn known(category: &str) -> Option<Route> {
    let listed = TABLE.iter().find(|(name, _)| *name == category).map(|(_, route)| *route);
    listed.or_else(|| OF_TOOL_USE.contains(&category).then_some(Route::Executor))
}

/// The route of a category. One that nobody knows cannot be acted on: a person has to look.
pub fn of(category: &str) -> Route {
    known(category).unwrap_or(Route::Stuck)
}

/// What a finding weighs for the decision: a category nobody knows always fails.
pub fn weight(finding: &Finding) -> Severity {
    if known(&finding.rule).is_some() { finding.severity } else { Severity::Fail }
}

/// Why the task goes where it goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Because {
    /// Nothing blocks.
    Clean,
    /// The findings' own routes.
    Findings,
    /// The last round still had findings.
    Cap,
}

/// A decision about one round's findings.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Routing {
    pub route: Route,
    pub because: Because,
    /// What has to be dealt with, worst first; an unknown category weighs `fail` here.
    pub blocking: Vec<Finding>,
    /// What stays below `block_on`.
    pub notes: Vec<Finding>,
    /// Questions and plan problems among the blocking findings. A cap does not swallow them.
    pub visible: Vec<Finding>,
}

/// Decides a round. Findings whose citations failed take no part.
pub fn decide(findings: &[Finding], round: u32, cap: u32, block_on: Severity) -> Routing {
    let counted = findings.iter().filter(|f| f.is_supported()).map(|f| {
        let mut finding = f.clone();
        finding.severity = weight(f);
        finding
    });
    let (mut blocking, notes): (Vec<_>, Vec<_>) = counted.partition(|f| f.severity >= block_on);
    blocking.sort_by(|a, b| b.severity.cmp(&a.severity).then(of(&b.rule).cmp(&of(&a.rule))));
    let wanted = blocking.iter().map(|f| of(&f.rule)).max().unwrap_or(Route::Commit);
    let (route, because) = match wanted {
        Route::Commit => (Route::Commit, Because::Clean),
        Route::Stuck => (Route::Stuck, Because::Findings),
        _ if round >= cap => (Route::Stuck, Because::Cap),
        route => (route, Because::Findings),
    };
    let needs_a_person = |f: &&Finding| matches!(of(&f.rule), Route::AskUser | Route::PlanChecker);
    let visible = blocking.iter().filter(needs_a_person).cloned().collect();
    Routing { route, because, blocking, notes, visible }
}

/// A task without criteria is a problem of its plan: no agent is called for it.
pub fn without_criteria() -> Routing {
    let mut finding = Finding::new(
        UNMET_CRITERION,
        Severity::Fail,
        "The task has no success criteria, so there is nothing to judge the work against.",
        crate::finding::ENGINE,
    );
    finding.fix = "Give the task at least one success criterion (SC-1 …).".into();
    Routing {
        route: Route::PlanChecker,
        because: Because::Findings,
        blocking: vec![finding.clone()],
        notes: Vec::new(),
        visible: vec![finding],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Route::{AskUser, Commit, Executor, PlanChecker, Researcher, Stuck};

    fn finding(category: &str, severity: Severity) -> Finding {
        Finding::new(category, severity, format!("about {category}"), "critic")
    }

    fn route(categories: &[&str], round: u32, cap: u32) -> Route {
        let findings: Vec<Finding> = categories.iter().map(|c| finding(c, Severity::Nit)).collect();
        decide(&findings, round, cap, Severity::Nit).route
    }

    #[test]
    fn every_category_has_the_route_of_the_rule_book() {
        let book = [
            (
                Executor,
                "style, dead-code, dangling-thread, todo-marker, import-hygiene, comment-hygiene, lint-violation, missing-test, edge-case-gap, weak-assertion, silenced-failure, test-naming, non-deterministic, verify-mismatch, unmet-criterion, scope-creep, over-engineering, stdlib-reinvention, native-duplication, shrinkable",
            ),
            (Researcher, "information-missing"),
            (AskUser, "question-to-user"),
            (PlanChecker, "locked-decision-violation, infrastructure-mismatch"),
            (Stuck, "stuck-detected, critic-error, nobody-knows-this, STYLE, "),
        ];
        let mut known_rows = 0;
        for (expected, categories) in book {
            for category in categories.split(", ") {
                assert_eq!(route(&[category], 1, 3), expected, "{category:?}");
                known_rows += usize::from(known(category).is_some());
            }
        }
        assert_eq!(known_rows, TABLE.len(), "the table has no rows beside the book's");
        assert_eq!(route(&[], 1, 3), Commit);
        assert_eq!(route(&[], 3, 3), Commit, "a clean last round is no cap");
    }

    #[test]
    fn the_strongest_route_wins_in_any_order() {
        let ladder = [
            ("style", Executor),
            ("information-missing", Researcher),
            ("infrastructure-mismatch", PlanChecker),
            ("question-to-user", AskUser),
            ("critic-error", Stuck),
        ];
        for high in 0..ladder.len() {
            for low in 0..=high {
                let both = [ladder[high].0, ladder[low].0];
                assert_eq!(route(&both, 1, 3), ladder[high].1, "{both:?}");
                assert_eq!(route(&[both[1], both[0]], 1, 3), ladder[high].1, "{both:?} reversed");
            }
        }
    }

    #[test]
    fn an_unknown_category_always_fails_even_where_only_fails_block() {
        let routing = decide(&[finding("vibes", Severity::Nit)], 1, 3, Severity::Fail);
        assert_eq!(routing.route, Stuck);
        assert_eq!(routing.blocking[0].severity, Severity::Fail);
    }

    #[test]
    fn what_blocks_follows_block_on() {
        let findings = [
            finding("style", Severity::Nit),
            finding("missing-test", Severity::Risk),
            finding("weak-assertion", Severity::Fail),
        ];
        for (block_on, blocking, notes) in
            [(Severity::Nit, 3, 0), (Severity::Risk, 2, 1), (Severity::Fail, 1, 2)]
        {
            let routing = decide(&findings, 1, 3, block_on);
            assert_eq!((routing.blocking.len(), routing.notes.len()), (blocking, notes), "{block_on:?}");
            assert_eq!(routing.blocking[0].severity, Severity::Fail, "the worst stands first");
        }
        let routing = decide(&findings[..1], 3, 3, Severity::Risk);
        assert_eq!((routing.route, routing.because, routing.notes.len()), (Commit, Because::Clean, 1));
    }

    #[test]
    fn at_the_cap_every_finding_is_stuck_and_the_question_stays_visible() {
        for category in ["style", "information-missing", "question-to-user", "infrastructure-mismatch"] {
            assert_ne!(route(&[category], 2, 3), Stuck, "{category} before the cap");
            assert_eq!(route(&[category], 3, 3), Stuck, "{category} at the cap");
            assert_eq!(route(&[category], 4, 3), Stuck, "{category} beyond the cap");
        }
        let findings = [finding("style", Severity::Fail), finding("question-to-user", Severity::Risk)];
        let routing = decide(&findings, 3, 3, Severity::Nit);
        assert_eq!(routing.because, Because::Cap);
        assert_eq!(routing.visible.len(), 1, "the question is not swallowed by the cap");
        assert_eq!(routing.visible[0].rule, "question-to-user");
    }

    #[test]
    fn a_finding_with_a_false_citation_decides_nothing() {
        let mut bad = finding("critic-error", Severity::Fail);
        bad.unsupported = Some("line 900 does not exist".into());
        assert_eq!(decide(&[bad], 1, 3, Severity::Nit).route, Commit);
    }

    #[test]
    fn a_task_without_criteria_goes_to_the_plan() {
        let routing = without_criteria();
        assert_eq!(routing.route, PlanChecker);
        assert_eq!(routing.blocking[0].rule, UNMET_CRITERION);
        assert_eq!(routing.blocking[0].severity, Severity::Fail);
    }

    #[test]
    fn routes_are_written_as_the_rule_book_names_them() {
        for route in [Commit, Executor, Researcher, PlanChecker, AskUser, Stuck] {
            assert_eq!(serde_json::to_value(route).unwrap(), route.name());
        }
    }
}
