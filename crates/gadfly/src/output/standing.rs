//! How agents stand, for people: all of them by what can be done next, or one condition by condition.

use gadfly_engine::pipeline::world::{Explained, Holds, Standing, refusal};
use gadfly_engine::pipeline::{Entry, Need};
use gadfly_runtime::situation::Situation;
use owo_colors::OwoColorize as _;

use super::safe;

/// The longest line of a condition or a reason.
const LONGEST: usize = 400;

/// Everybody, those who can run first.
pub fn all(situation: &Situation, standings: &[(String, Standing)]) -> Vec<String> {
    let wide = standings.iter().map(|(agent, _)| agent.chars().count()).max().unwrap_or(0).min(40);
    let row = |agent: &str, text: &str| {
        format!("  {:<wide$}  {}", safe::line(agent, 60), safe::line(text, LONGEST)).trim_end().to_owned()
    };
    let (mut ready, mut done, mut blocked, mut asking, mut off) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (agent, standing) in standings {
        match standing {
            Standing::Ready => ready.push(row(agent, &about(situation, agent))),
            Standing::Done { score: Some(score) } => done.push(row(agent, &score.to_string())),
            Standing::Done { score: None } => done.push(row(agent, "needs no score")),
            Standing::Blocked { gaps } => {
                let first = gaps.first().map(|gap| gap.what.as_str()).unwrap_or_default();
                let more = match gaps.len() {
                    0 | 1 => String::new(),
                    n => format!(" (and {} more: gadfly why {agent})", n - 1),
                };
                blocked.push(row(agent, &format!("{first}{more}")));
                let hint = gaps.first().and_then(|gap| gap.hint.as_ref());
                blocked.extend(hint.map(|hint| row("", &format!("→ {hint}"))));
            }
            Standing::Asking { conditions } => {
                asking.extend(conditions.iter().map(|condition| row(agent, condition)));
            }
            Standing::Off { because } => off.push(row(agent, because)),
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

fn about(situation: &Situation, agent: &str) -> String {
    let critic = situation.known.registry.get(agent).and_then(|entry| entry.critic.as_ref());
    let critic = critic.map(|critic| format!("judged by {critic}"));
    let stale = stale(situation, agent);
    let all: Vec<String> = critic.into_iter().chain(stale).collect();
    all.join("; ")
}

/// What became of the last score, if its files changed.
fn stale(situation: &Situation, agent: &str) -> Option<String> {
    let verdict = situation.world().verdict(agent)?;
    let path = verdict.stale(&situation.listing)?;
    Some(format!("its last score, {}, is stale: {path} changed since it was judged", verdict.score))
}

/// One agent.
pub fn one(situation: &Situation, entry: &Entry, standing: &Standing) -> Vec<String> {
    let (agent, world) = (entry.agent.as_str(), situation.world());
    let mut lines = vec![format!("{} {}", safe::line(agent, 60).bold(), heading(situation, agent, standing))];
    lines.push(format!("  {}", safe::line(&situation.at_line(entry.line), LONGEST).dimmed()));
    if !matches!(standing, Standing::Done { .. }) {
        lines.extend(stale(situation, agent).map(|text| format!("  {}", safe::line(&text, LONGEST))));
    }
    let explained = world.explain(entry);
    if explained.is_empty() {
        lines.push("  it requires nothing".to_owned());
    }
    lines.extend(explained.iter().map(|condition| atom(situation, condition)));
    if has_alternatives(&entry.requires) {
        lines.push("  (of conditions joined by OR one is enough)".to_owned());
    }
    if let Standing::Blocked { gaps } = standing {
        lines.extend(refusal(agent, gaps).iter().map(|line| safe::line(line, 2 * LONGEST)));
    }
    if let Standing::Asking { conditions } = standing {
        let all: Vec<String> =
            conditions.iter().map(|text| format!("“{}”", safe::line(text, LONGEST))).collect();
        lines
            .push(format!("A pipeline asks about {}; --assume-manual takes all as true.", all.join(" and ")));
    }
    lines
}

fn heading(situation: &Situation, agent: &str, standing: &Standing) -> String {
    match standing {
        Standing::Done { score } => {
            let score =
                score.map_or_else(|| "it needs no score".to_owned(), |score| format!("score {score}"));
            let from = match situation.proofs.get(agent) {
                Some(proof) if proof.is_receipt() => format!(", by the receipt of run {}", proof.run),
                Some(proof) => format!(", by run {}", proof.run),
                None => String::new(),
            };
            format!("is {}: {score}{}", "done".green(), safe::line(&from, 200))
        }
        Standing::Ready => format!("can {}", "run now".green()),
        Standing::Asking { .. } => format!("{} for a person's word", "waits".yellow()),
        Standing::Blocked { .. } => format!("is {}", "blocked".red()),
        Standing::Off { because } => format!("is {}: {}", "off".yellow(), safe::line(because, LONGEST)),
    }
}

fn atom(situation: &Situation, explained: &Explained) -> String {
    let mark = match explained.holds {
        Holds::Yes => "✓".green().to_string(),
        Holds::No => "✗".red().to_string(),
        Holds::Unknown => "?".yellow().to_string(),
    };
    let (text, because) = (safe::line(&explained.text, LONGEST), safe::line(&explained.because, LONGEST));
    let at = safe::line(&situation.at_line(explained.line), LONGEST);
    format!("  {mark} {text}: {because}  {}", at.dimmed())
}

fn has_alternatives(need: &Need) -> bool {
    match need {
        Need::Any(needs) => needs.len() > 1,
        Need::All(needs) => needs.iter().any(has_alternatives),
        Need::Atom(_) => false,
    }
}
