//! What a run is about to do, in words: who gets what, at what cost, within what caps.

use gadfly_engine::{Limits, Money};
use gadfly_project::trust::TrustEntry;
use gadfly_runtime::consent::{Consent, Recipient, Terms};
use gadfly_runtime::sandbox::Held;

use super::safe;
use super::table::counted;

pub fn lines(consent: &Consent) -> Vec<String> {
    let mut lines = Vec::new();
    for to in &consent.recipients {
        lines.push(recipient(to));
        lines.extend(to.held.as_ref().map(held));
    }
    lines.extend(consent.goal.iter().flat_map(terms));
    if let Some(folder) = &consent.folder {
        lines.push(place(folder, consent.goal.as_ref()));
    }
    lines.extend(consent.commands.iter().map(|c| format!("runs    {}", safe::line(c, 400))));
    let worst = match (consent.open_ended, consent.worst_case) {
        (false, Money(0)) => "nothing".to_owned(),
        (false, money) => format!("at most {money}"),
        (true, Money(0)) => "unknown: no price is known".to_owned(),
        (true, money) => format!("≥ {money}: not every price is known"),
    };
    lines.push(format!("cost    {worst}"));
    lines.push(format!("caps    {}", caps(consent)));
    if consent.same_model {
        lines.push(
            "warning: worker and critic are the same model; a critic of another maker sees other things"
                .into(),
        );
    }
    lines
}

fn recipient(to: &Recipient) -> String {
    let host = safe::line(&to.sends_to, 100);
    let agent = safe::line(&to.agent, 60);
    let model = to.model.as_ref().map(|m| format!(", model {}", safe::line(m, 80))).unwrap_or_default();
    let lens = to.lens.as_ref().map(|l| format!(", lens {}", safe::line(l, 80))).unwrap_or_default();
    format!("{:<7} → {host} ({agent}, {}{model}{lens})", to.role, safe::line(&to.kind, 40))
}

/// What stands between an agent's processes and what is not theirs.
fn held(by: &Held) -> String {
    let up: Vec<String> = by.guards.iter().map(|guard| safe::line(&guard.to_string(), 120)).collect();
    let up = if up.is_empty() { "nothing: it may do what you may".to_owned() } else { up.join(", ") };
    let missing = by.unheld.as_ref().map(|why| format!("; not by Landlock: {}", safe::line(why, 200)));
    format!("        held by {up}{}", missing.unwrap_or_default())
}

/// What a goal's worker is set to, and held to.
fn terms(goal: &Terms) -> [String; 3] {
    let watched = goal
        .interval
        .map_or_else(|| "by nobody".to_owned(), |steps| format!("every {}", counted(steps as usize, "step")));
    [
        format!("until   {}", safe::line(&goal.until, 400)),
        format!("watched {watched}"),
        format!("policy  {}", safe::line(&goal.policy, 400)),
    ]
}

/// Where a worker that edits files works, and where its work goes.
fn place(project: &str, goal: Option<&Terms>) -> String {
    let project = safe::line(project, 400);
    match goal {
        Some(goal) if goal.in_place => {
            format!("folder  {project} itself, in place; a snapshot is kept for `gadfly undo`")
        }
        Some(goal) if goal.commits => format!("folder  a copy of {project}; verified work becomes a commit"),
        Some(_) => format!("folder  a copy of {project}; verified work goes into it"),
        None => format!("folder  a copy of {project}"),
    }
}

fn caps(consent: &Consent) -> String {
    let limits: &Limits = &consent.limits;
    let caps = [
        consent.goal.is_none().then(|| counted(consent.rounds as usize, "round")),
        limits.steps.map(|n| counted(n as usize, "step")),
        limits.turns.map(|n| counted(n as usize, "turn")),
        limits.money.map(|m| m.to_string()),
        limits.tokens.map(|n| format!("{n} tokens")),
        limits.active_ms.map(active),
        limits.calls.map(|n| counted(n as usize, "call")),
    ];
    caps.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn active(ms: u64) -> String {
    if ms.is_multiple_of(60_000) {
        format!("{} active minutes", ms / 60_000)
    } else {
        format!("{} active seconds", ms / 1000)
    }
}

/// Something leaves this machine, or may cost money.
pub fn needs_a_word(consent: &Consent) -> bool {
    consent.open_ended
        || consent.worst_case.0 > 0
        || consent.recipients.iter().any(|r| !stays_here(&r.sends_to))
}

fn stays_here(host: &str) -> bool {
    host == "this machine"
        || host == "localhost"
        || host == "[::1]"
        || host == "::1"
        || host.starts_with("127.")
}

/// What a project's files want to be allowed, one line each.
pub fn wanted(entries: &[TrustEntry]) -> Vec<String> {
    let line = |e: &TrustEntry| {
        let place =
            e.place.as_ref().map(|p| format!(" ({})", safe::line(&p.to_string(), 200))).unwrap_or_default();
        format!("  {}{place}", e.text)
    };
    entries.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use gadfly_engine::{Guard, Layer};

    use super::*;

    #[test]
    fn what_holds_an_agent_is_said_and_what_does_not_is_not_claimed() {
        let landlock = || Guard::new(Layer::Landlock, "files; TCP open");
        let compared = || Guard::new(Layer::Compared, "its copy");
        let table = [
            (
                vec![landlock(), compared()],
                None,
                "held by Landlock (files; TCP open), tree compared (its copy)",
            ),
            (vec![compared()], Some("too old"), "held by tree compared (its copy); not by Landlock: too old"),
            (vec![], None, "held by nothing: it may do what you may"),
            (vec![], Some("too old"), "held by nothing: it may do what you may; not by Landlock: too old"),
        ];
        for (guards, unheld, expected) in table {
            let sandboxed = guards.contains(&landlock());
            let by = Held { guards, sandboxed, unheld: unheld.map(str::to_owned) };
            assert_eq!(held(&by).trim_start(), expected);
        }
    }
}
