//! What a project could learn from a run: patterns the engine sees in its own record. Nothing is applied by itself.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Suggestion {
    pub tag: LearnTag,
    pub agent: String,
    /// What was seen.
    pub text: String,
    /// What could be done about it.
    pub action: String,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING-KEBAB-CASE")]
pub enum LearnTag {
    /// At least 90 on the first pass.
    HighPerf,
    /// Three strikes.
    Friction,
    /// A person had to decide.
    Escalation,
}

impl LearnTag {
    pub const fn name(self) -> &'static str {
        match self {
            Self::HighPerf => "HIGH-PERF",
            Self::Friction => "FRICTION",
            Self::Escalation => "ESCALATION",
        }
    }
}

impl Suggestion {
    /// `- [FRICTION] … --- …`
    pub fn line(&self) -> String {
        format!("- [{}] {} --- {}", self.tag.name(), self.text, self.action)
    }

    /// What the same pattern in another project is told by: tag, agent and action.
    pub fn pattern(&self) -> String {
        format!("{} {} {}", self.tag.name(), self.agent, self.action)
    }
}

/// What a run's record says about one dispatch of an agent.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PairRecord {
    pub agent: String,
    pub critic: Option<String>,
    /// The last score.
    pub score: Option<u32>,
    /// Rounds until it first passed; none if it never did.
    pub passed_in: Option<u32>,
    /// Rounds that did not pass.
    pub strikes: u32,
    /// A person had to decide.
    pub to_user: bool,
    /// The round after which somebody decided.
    pub escalated_after: Option<u32>,
    /// What kept coming back, then what was left to mend at the end, in lines.
    pub open: Vec<String>,
}

const HIGH: u32 = 90;
const STRIKES: u32 = 3;
/// Findings that are quoted, and the characters of each.
const QUOTED: usize = 3;
const QUOTE: usize = 120;

/// The patterns in a run: an agent has each at most once, in the order of the record. Actions name no finding, so
/// that the same pattern can be told in another project.
pub fn suggestions(record: &[PairRecord]) -> Vec<Suggestion> {
    let mut all: Vec<Suggestion> = Vec::new();
    let mut seen = BTreeSet::new();
    for (nth, pair) in record.iter().enumerate() {
        let is_first = !record[..nth].iter().any(|before| before.agent == pair.agent);
        let found = [high(pair).filter(|_| is_first), friction(pair), escalation(pair)];
        for suggestion in found.into_iter().flatten() {
            if seen.insert((suggestion.agent.clone(), suggestion.tag)) {
                all.push(suggestion);
            }
        }
    }
    all
}

fn high(pair: &PairRecord) -> Option<Suggestion> {
    let score = pair.score.filter(|score| *score >= HIGH && pair.passed_in == Some(1))?;
    let agent = &pair.agent;
    Some(Suggestion {
        tag: LearnTag::HighPerf,
        agent: agent.clone(),
        text: format!("{agent} scored {score}{} on the first round", by(pair)),
        action: format!("keep the brief of {agent} as it is and use this draft as a template"),
    })
}

fn friction(pair: &PairRecord) -> Option<Suggestion> {
    let (agent, strikes) = (&pair.agent, pair.strikes);
    (strikes >= STRIKES).then(|| Suggestion {
        tag: LearnTag::Friction,
        agent: agent.clone(),
        text: format!("{agent} did not pass in {strikes} rounds{}{}", by(pair), still_open(pair)),
        action: format!("add what keeps coming back to the gotchas of {agent}, or make its rubric clearer"),
    })
}

fn escalation(pair: &PairRecord) -> Option<Suggestion> {
    let agent = &pair.agent;
    pair.to_user.then(|| Suggestion {
        tag: LearnTag::Escalation,
        agent: agent.clone(),
        text: format!(
            "{agent} went to the user after {}{}",
            rounds(pair.escalated_after.unwrap_or(pair.strikes)),
            still_open(pair)
        ),
        action: format!("write the decision into the rules, so that {agent} need not ask again"),
    })
}

fn rounds(n: u32) -> String {
    if n == 1 { "1 round".to_owned() } else { format!("{n} rounds") }
}

fn by(pair: &PairRecord) -> String {
    pair.critic.as_ref().map(|critic| format!(" by {critic}")).unwrap_or_default()
}

/// A finding comes from a model: one line of it, without the mark that separates an action.
fn still_open(pair: &PairRecord) -> String {
    let quoted = pair.open.iter().take(QUOTED).map(|line| {
        let line = line.split_whitespace().collect::<Vec<_>>().join(" ").replace("---", "—");
        let short: String = line.chars().take(QUOTE).collect();
        if short.len() < line.len() { format!("{short}…") } else { short }
    });
    let quoted: Vec<String> = quoted.filter(|line| !line.is_empty()).collect();
    if quoted.is_empty() {
        String::new()
    } else {
        format!("; what was held against it: {}", quoted.join(" | "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(agent: &str) -> PairRecord {
        PairRecord { agent: agent.into(), critic: Some(format!("{agent}-critic")), ..PairRecord::default() }
    }

    #[test]
    fn only_ninety_on_the_first_round_of_the_first_dispatch_is_high() {
        let of = |score, passed_in| PairRecord { score: Some(score), passed_in, ..pair("coder") };
        assert_eq!(
            suggestions(&[of(90, Some(1))])[0].line(),
            "- [HIGH-PERF] coder scored 90 by coder-critic on the first round --- keep the brief of coder as it is and use this draft as a template"
        );
        for (score, passed_in) in [(89, Some(1)), (95, Some(2)), (95, None)] {
            assert_eq!(suggestions(&[of(score, passed_in)]), [], "{score} {passed_in:?}");
        }
        assert_eq!(suggestions(&[of(70, None), of(95, Some(1))]), []);
    }

    #[test]
    fn three_strikes_are_friction_and_a_persons_decision_an_escalation() {
        let open = vec!["no seed\n--- set one".to_owned(), "x".repeat(500), "c".into(), "d".into()];
        let worn = PairRecord { strikes: 3, to_user: true, open, ..pair("coder") };
        let found = suggestions(&[pair("writer"), worn.clone(), worn.clone()]);
        assert_eq!(
            found.iter().map(|s| s.tag).collect::<Vec<_>>(),
            [LearnTag::Friction, LearnTag::Escalation]
        );
        assert!(found[0].text.contains("did not pass in 3 rounds"), "{}", found[0].text);
        assert!(found[0].text.contains("no seed — set one | xxx"), "{}", found[0].text);
        assert_eq!(found[0].line().matches("---").count(), 1);
        assert!(found[0].line().len() < 500 && !found[0].text.contains("| d"));
        assert_eq!(suggestions(&[PairRecord { strikes: 2, to_user: false, ..worn }]), []);
    }

    #[test]
    fn an_escalation_names_the_round_it_came_after() {
        let worn = PairRecord { strikes: 4, to_user: true, escalated_after: Some(1), ..pair("coder") };
        let found = suggestions(&[worn]);
        assert!(found[1].text.contains("went to the user after 1 round"), "{}", found[1].text);
    }

    #[test]
    fn the_pattern_is_the_same_whatever_was_found() {
        let of = |open: &str| PairRecord { strikes: 3, open: vec![open.into()], ..pair("coder") };
        assert_eq!(suggestions(&[of("a")])[0].pattern(), suggestions(&[of("b")])[0].pattern());
    }
}
