//! How agents stand, for people: all of them by what can be done next, or one condition by condition.

use gadfly_engine::pipeline::facts::{AgentReadiness, Explained, Holds, refusal};
use gadfly_engine::pipeline::{Need, RegistryEntry};
use gadfly_runtime::project_status::ProjectStatus;
use owo_colors::OwoColorize as _;

use super::safe;

/// The longest line of a condition or a reason.
const LONGEST: usize = 400;

/// Everybody, those who can run first.
pub fn all(status: &ProjectStatus, standings: &[(String, AgentReadiness)]) -> Vec<String> {
    let wide = standings.iter().map(|(agent, _)| agent.chars().count()).max().unwrap_or(0).min(40);
    let row = |agent: &str, text: &str| {
        format!("  {:<wide$}  {}", safe::line(agent, 60), safe::line(text, LONGEST)).trim_end().to_owned()
    };
    let (mut ready, mut done, mut blocked, mut asking, mut off) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (agent, standing) in standings {
        match standing {
            AgentReadiness::Ready => ready.push(row(agent, &about(status, agent))),
            AgentReadiness::Done { score: Some(score) } => done.push(row(agent, &score.to_string())),
            AgentReadiness::Done { score: None } => done.push(row(agent, "needs no score")),
            AgentReadiness::Blocked { gaps } => {
                let first = gaps.first().map(|gap| gap.what.as_str()).unwrap_or_default();
                let more = match gaps.len() {
                    0 | 1 => String::new(),
                    n => format!(" (and {} more: gadfly why {agent})", n - 1),
                };
                blocked.push(row(agent, &format!("{first}{more}")));
                let hint = gaps.first().and_then(|gap| gap.hint.as_ref());
                blocked.extend(hint.map(|hint| row("", &format!("→ {hint}"))));
            }
            AgentReadiness::Asking { conditions } => {
                asking.extend(conditions.iter().map(|condition| row(agent, condition)));
            }
            AgentReadiness::Off { because } => off.push(row(agent, because)),
        }
    }
    let mut lines = Vec::new();
    let nobody = || vec!["  nobody".to_owned()];
    let ready = if ready.is_empty() { nobody() } else { ready };
    let parts = [
        ("Can run now", ready),
        ("Done", done),
        ("Waiting for a person's word", asking),
        ("Blocked", blocked),
        ("Not enabled", off),
    ];
    for (heading, rows) in parts.into_iter().filter(|(_, rows)| !rows.is_empty()) {
        lines.push(heading.bold().to_string());
        lines.extend(rows);
    }
    lines
}

fn about(status: &ProjectStatus, agent: &str) -> String {
    let critic = status.known.registry.get(agent).and_then(|entry| entry.critic.as_ref());
    let critic = critic.map(|critic| format!("judged by {critic}"));
    let stale = stale(status, agent);
    let all: Vec<String> = critic.into_iter().chain(stale).collect();
    all.join("; ")
}

/// What became of the last score, if its files changed.
fn stale(status: &ProjectStatus, agent: &str) -> Option<String> {
    let verdict = status.facts().verdict(agent)?;
    let path = verdict.stale(&status.listing)?;
    Some(format!("its last score, {}, is stale: {path} changed since it was judged", verdict.score))
}

/// One agent.
pub fn one(status: &ProjectStatus, entry: &RegistryEntry, standing: &AgentReadiness) -> Vec<String> {
    let (agent, facts) = (entry.agent.as_str(), status.facts());
    let mut lines = vec![format!("{} {}", safe::line(agent, 60).bold(), heading(status, agent, standing))];
    lines.push(format!("  {}", safe::line(&status.at_line(entry.line), LONGEST).dimmed()));
    if !matches!(standing, AgentReadiness::Done { .. }) {
        lines.extend(stale(status, agent).map(|text| format!("  {}", safe::line(&text, LONGEST))));
    }
    let explained = facts.explain(entry);
    if explained.is_empty() {
        lines.push("  it requires nothing".to_owned());
    }
    lines.extend(explained.iter().map(|condition| atom(status, condition)));
    if has_alternatives(&entry.requires) {
        lines.push("  (of conditions joined by OR one is enough)".to_owned());
    }
    if let AgentReadiness::Blocked { gaps } = standing {
        lines.extend(refusal(agent, gaps).iter().map(|line| safe::line(line, 2 * LONGEST)));
    }
    if let AgentReadiness::Asking { conditions } = standing {
        let all: Vec<String> =
            conditions.iter().map(|text| format!("“{}”", safe::line(text, LONGEST))).collect();
        lines
            .push(format!("A pipeline asks about {}; --assume-manual takes all as true.", all.join(" and ")));
    }
    lines
}

fn heading(status: &ProjectStatus, agent: &str, standing: &AgentReadiness) -> String {
    match standing {
        AgentReadiness::Done { score } => {
            let score =
                score.map_or_else(|| "it needs no score".to_owned(), |score| format!("score {score}"));
            let from = match status.proofs.get(agent) {
                Some(proof) if proof.is_receipt() => format!(", by the receipt of run {}", proof.run),
                Some(proof) => format!(", by run {}", proof.run),
                None => String::new(),
            };
            format!("is {}: {score}{}", "done".green(), safe::line(&from, 200))
        }
        AgentReadiness::Ready => format!("can {}", "run now".green()),
        AgentReadiness::Asking { .. } => format!("{} for a person's word", "waits".yellow()),
        AgentReadiness::Blocked { .. } => format!("is {}", "blocked".red()),
        AgentReadiness::Off { because } => format!("is {}: {}", "off".yellow(), safe::line(because, LONGEST)),
    }
}

fn atom(status: &ProjectStatus, explained: &Explained) -> String {
    let mark = match explained.holds {
        Holds::Yes => "✓".green().to_string(),
        Holds::No => "✗".red().to_string(),
        Holds::Unknown => "?".yellow().to_string(),
    };
    let (text, because) = (safe::line(&explained.text, LONGEST), safe::line(&explained.because, LONGEST));
    let at = safe::line(&status.at_line(explained.line), LONGEST);
    format!("  {mark} {text}: {because}  {}", at.dimmed())
}

fn has_alternatives(need: &Need) -> bool {
    match need {
        Need::Any(needs) => needs.len() > 1,
        Need::All(needs) => needs.iter().any(has_alternatives),
        Need::Atom(_) => false,
    }
}
