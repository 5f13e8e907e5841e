//! Whether an agent's conditions hold: atom by atom, and together.

use super::look::{FactsIndex, JudgedState};
use super::naming::Made;
use super::{AgentReadiness, Explained, Gap, Holds, output};
use crate::pipeline::aggregate::{Hundredths, ScoreRow};
use crate::pipeline::listing::Pattern;
use crate::pipeline::registry::{Atom, Check, Need, PairWeight, RegistryEntry};

/// Conditions inside conditions, at most.
const DEEPEST: u32 = 32;

/// One condition: whether it holds, and what is in the way if it does not.
struct ConditionResult {
    holds: Holds,
    because: String,
    gaps: Vec<Gap>,
}

/// Several conditions together.
struct Together {
    holds: Holds,
    gaps: Vec<Gap>,
    /// What a person has to say; only what would make a difference.
    asks: Vec<String>,
}

impl<'a> FactsIndex<'a> {
    pub(super) fn requirements(&self, entry: &'a RegistryEntry) -> AgentReadiness {
        let all = self.need(entry, &entry.requires, 0);
        match all.holds {
            Holds::Yes => {
                let gaps = self.awaited_reports(entry);
                if gaps.is_empty() { AgentReadiness::Ready } else { AgentReadiness::Blocked { gaps } }
            }
            Holds::Unknown => AgentReadiness::Asking { conditions: all.asks },
            Holds::No => AgentReadiness::Blocked { gaps: all.gaps },
        }
    }

    /// Who decides on reports waits for them.
    fn awaited_reports(&self, entry: &'a RegistryEntry) -> Vec<Gap> {
        let reporting = self.facts.registry.reporting_to(entry).filter(|other| self.facts.is_on(other));
        let missing = reporting.filter(|other| self.judged(other).counting().is_none());
        let waits = |other: &RegistryEntry| {
            let hint = format!("Run {} first; its report is decided on.", self.call(other));
            gap(format!("{} has not reported on the work as it is", other.agent), hint)
        };
        missing.map(waits).collect()
    }

    pub(super) fn explain(&self, entry: &'a RegistryEntry) -> Vec<Explained> {
        let explained = |atom: &'a Atom| {
            let ConditionResult { holds, because, .. } = self.atom(entry, atom);
            Explained { text: atom.text.clone(), line: atom.line, holds, because }
        };
        entry.requires.atoms().into_iter().map(explained).collect()
    }

    fn need(&self, entry: &'a RegistryEntry, need: &'a Need, depth: u32) -> Together {
        if depth > DEEPEST {
            let what = "its conditions are nested too deeply to be checked".into();
            return Together { holds: Holds::No, gaps: vec![Gap { what, hint: None }], asks: Vec::new() };
        }
        let each = |needs: &'a [Need]| needs.iter().map(|need| self.need(entry, need, depth + 1));
        match need {
            Need::Atom(atom) => {
                let answer = self.atom(entry, atom);
                let asks = if answer.holds == Holds::Unknown { vec![atom.text.clone()] } else { Vec::new() };
                Together { holds: answer.holds, gaps: answer.gaps, asks }
            }
            Need::All(needs) => all(each(needs)),
            Need::Any(needs) => any(each(needs).collect()),
        }
    }

    fn atom(&self, entry: &'a RegistryEntry, atom: &'a Atom) -> ConditionResult {
        match &atom.check {
            Check::Manual => self.manual(&atom.text),
            Check::Path(pattern) => self.path(entry, pattern),
            Check::Contains { folder, endings } => self.contains(entry, folder, endings),
            Check::Score { critic, at_least } => self.score(critic, *at_least),
            Check::Overall { at_least } => self.overall(entry, *at_least),
            Check::Components { at_least } => self.components(entry, *at_least),
        }
    }

    fn manual(&self, text: &str) -> ConditionResult {
        if self.facts.assume_manual {
            return yes("assumed, as all that only people can judge");
        }
        match self.facts.manual.get(text) {
            Some(true) => yes("somebody said so"),
            Some(false) => no(format!("somebody said that this does not hold: {text}"), None),
            None => ConditionResult {
                holds: Holds::Unknown,
                because: "a person has to say".into(),
                gaps: Vec::new(),
            },
        }
    }

    fn path(&self, entry: &'a RegistryEntry, pattern: &'a Pattern) -> ConditionResult {
        if !self.is_there(pattern) {
            return no(format!("missing {pattern}"), Some(self.how_to_make(pattern, entry)));
        }
        self.sections(entry, pattern).unwrap_or_else(|| yes("it is there"))
    }

    /// What the agents that make this file promise about its sections; one who keeps the promise is enough.
    fn sections(&self, entry: &RegistryEntry, pattern: &Pattern) -> Option<ConditionResult> {
        let mut first = None;
        let others = |made: &&Made<'_>| made.entry.agent != entry.agent;
        for made in self.makers().sectioned(pattern).into_iter().filter(others) {
            let gap = output::missing_sections(&self.facts, pattern, &made.product.sections)?;
            first.get_or_insert_with(|| no(gap, Some(self.how_to_complete(pattern, made.entry))));
        }
        first
    }

    fn contains(&self, entry: &RegistryEntry, folder: &Pattern, endings: &[String]) -> ConditionResult {
        let ends = |path: &str| endings.iter().any(|ending| path.ends_with(ending.as_str()));
        if let Some((path, _)) = self.facts.listing.matching(folder).find(|(path, _)| ends(path)) {
            return yes(format!("{path} is there"));
        }
        let what = format!("missing {} files in {folder}", endings.join(" or "));
        no(what, Some(self.how_to_make(folder, entry)))
    }

    /// Everybody this critic judges has to have passed.
    fn score(&self, critic: &str, at_least: u32) -> ConditionResult {
        let judged = self.judged_by(critic);
        if judged.is_empty() {
            let hint = "Name the critic of an agent that runs here.".to_owned();
            return no(format!("{critic} is the critic of no agent here, so there is no score"), Some(hint));
        }
        let judged = self.asked_of(judged);
        let gaps: Vec<Gap> = judged.iter().flat_map(|entry| self.unmet(critic, entry, at_least)).collect();
        if gaps.is_empty() {
            let scores = judged.iter().filter_map(|entry| {
                self.judged(entry)
                    .counting()
                    .map(|verdict| format!("{} scored {}", entry.agent, verdict.score))
            });
            return yes(scores.collect::<Vec<_>>().join(", "));
        }
        not(gaps)
    }

    /// Whose score is asked for. Somebody without a weight of its own whose work was not begun, beside another whose work
    /// was judged, has no part in this project.
    fn asked_of(&self, judged: Vec<&'a RegistryEntry>) -> Vec<&'a RegistryEntry> {
        let has_part = |entry: &&'a RegistryEntry| {
            matches!(entry.weight, PairWeight::Share { .. })
                || !matches!(self.judged(entry), JudgedState::Never)
                || output::begun(&self.facts, entry).is_some()
        };
        let (asked, others): (Vec<_>, Vec<_>) = judged.into_iter().partition(has_part);
        let is_judged = asked.iter().any(|entry| self.judged(entry).counting().is_some());
        if is_judged { asked } else { asked.into_iter().chain(others).collect() }
    }

    fn unmet(&self, critic: &str, entry: &RegistryEntry, at_least: u32) -> Vec<Gap> {
        let (agent, call) = (&entry.agent, self.call(entry));
        let verdict = match self.judged(entry) {
            JudgedState::Now(verdict) => verdict,
            JudgedState::Stale(path) => {
                let what = format!("{critic} score is stale: {path} changed since it was judged");
                return vec![gap(
                    what,
                    format!("Run {call} again so that {critic} judges what is there now."),
                )];
            }
            JudgedState::Never | JudgedState::Elsewhere => {
                let what = format!("{critic} has not judged {agent} yet");
                return vec![gap(what, format!("Run {call} first so that {critic} can judge it."))];
            }
        };
        let mut gaps = Vec::new();
        if verdict.score < at_least {
            let what = format!("{critic} score is {}, needs {at_least}", verdict.score);
            gaps.push(gap(what, format!("Run {call} again to raise the score of {agent}.")));
        }
        for other in verdict.other.iter().filter(|other| other.score < verdict.threshold) {
            let (by, score, needs) = (&other.critic, other.score, verdict.threshold);
            let what = format!("{by} score of {agent} is {score}, needs {needs}");
            gaps.push(gap(what, format!("Run {call} again to raise the score of {agent}.")));
        }
        gaps
    }

    fn overall(&self, entry: &RegistryEntry, at_least: u32) -> ConditionResult {
        let aggregate = self.aggregate_for(entry);
        let Some(overall) = aggregate.overall else {
            return no(format!("nothing is scored yet, overall needs {at_least}"), None);
        };
        if overall.reaches(at_least) {
            return yes(format!("overall score is {overall}"));
        }
        let lowest = aggregate.components.iter().filter(|c| c.score.is_some()).min_by_key(|c| c.score);
        let hint = lowest.and_then(|lowest| self.again(&lowest.rows, &lowest.name, lowest.score));
        no(format!("overall score is {overall}, needs {at_least}"), hint)
    }

    fn components(&self, entry: &RegistryEntry, at_least: u32) -> ConditionResult {
        let aggregate = self.aggregate_for(entry);
        let mut gaps: Vec<Gap> = Vec::new();
        for component in &aggregate.components {
            let name = &component.name;
            if let Some(score) = component.score.filter(|score| !score.reaches(at_least)) {
                let what = format!("{name} is {score}, every component needs {at_least}");
                gaps.push(Gap { what, hint: self.again(&component.rows, name, Some(score)) });
            }
            for row in component.rows.iter().filter(|row| row.score.is_none() && !row.optional) {
                let because = row.because.as_deref().unwrap_or("not judged yet");
                let what = format!("{name} has no score of {} ({because})", row.agent);
                let call = self.facts.registry.get(&row.agent).map(|entry| self.call(entry));
                gaps.push(Gap {
                    what,
                    hint: call.map(|call| format!("Run {call} first to have it scored.")),
                });
            }
        }
        match (gaps.is_empty(), aggregate.overall) {
            (false, _) => not(gaps),
            (true, None) => no(format!("nothing is scored yet, every component needs {at_least}"), None),
            (true, Some(_)) => yes(format!("every component reaches {at_least}")),
        }
    }

    fn again(&self, rows: &[ScoreRow], component: &str, score: Option<Hundredths>) -> Option<String> {
        let lowest = rows.iter().filter(|row| row.score.is_some()).min_by_key(|row| row.score)?;
        let call = self.call(self.facts.registry.get(&lowest.agent)?);
        Some(format!("Run {call} again: {component} is at {}.", score?))
    }
}

fn all(each: impl Iterator<Item = Together>) -> Together {
    let mut sum = Together { holds: Holds::Yes, gaps: Vec::new(), asks: Vec::new() };
    for one in each {
        sum.holds = match (sum.holds, one.holds) {
            (Holds::No, _) | (_, Holds::No) => Holds::No,
            (Holds::Unknown, _) | (_, Holds::Unknown) => Holds::Unknown,
            (Holds::Yes, Holds::Yes) => Holds::Yes,
        };
        sum.gaps.extend(one.gaps);
        sum.asks.extend(one.asks.into_iter().filter(|ask| !sum.asks.contains(ask)).collect::<Vec<_>>());
    }
    sum
}

fn any(mut each: Vec<Together>) -> Together {
    if let Some(holds) = each.iter().position(|one| one.holds == Holds::Yes) {
        return Together { gaps: Vec::new(), asks: Vec::new(), ..each.swap_remove(holds) };
    }
    if each.len() == 1 {
        return each.swap_remove(0);
    }
    if each.iter().any(|one| one.holds == Holds::Unknown) {
        let open = each.into_iter().filter(|one| one.holds == Holds::Unknown);
        return Together { gaps: Vec::new(), ..all(open) };
    }
    let said = |one: &Together| {
        let short = one.gaps.iter().map(|gap| gap.what.strip_prefix("missing ").unwrap_or(&gap.what));
        short.collect::<Vec<_>>().join(" and ")
    };
    let what = format!("none of: {}", each.iter().map(said).collect::<Vec<_>>().join(", "));
    let hint = each.into_iter().flat_map(|one| one.gaps).find_map(|gap| gap.hint);
    Together { holds: Holds::No, gaps: vec![Gap { what, hint }], asks: Vec::new() }
}

fn gap(what: String, hint: String) -> Gap {
    Gap { what, hint: Some(hint) }
}

fn yes(because: impl Into<String>) -> ConditionResult {
    ConditionResult { holds: Holds::Yes, because: because.into(), gaps: Vec::new() }
}

fn no(what: String, hint: Option<String>) -> ConditionResult {
    ConditionResult { holds: Holds::No, because: what.clone(), gaps: vec![Gap { what, hint }] }
}

fn not(gaps: Vec<Gap>) -> ConditionResult {
    let because = gaps.iter().map(|gap| gap.what.as_str()).collect::<Vec<_>>().join("; ");
    ConditionResult { holds: Holds::No, because, gaps }
}
