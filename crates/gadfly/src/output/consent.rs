//! What a run is about to do, in words: who gets what, at what cost, within what caps.

use gadfly_engine::{Limits, Money};
use gadfly_project::trust::TrustEntry;
use gadfly_runtime::consent::{Consent, Recipient};

use super::safe;
use super::table::counted;

pub fn lines(consent: &Consent) -> Vec<String> {
    let mut lines: Vec<String> = consent.recipients.iter().map(recipient).collect();
    if let Some(folder) = &consent.folder {
        lines.push(format!("folder  a copy of {}", safe::line(folder, 400)));
    }
    lines.extend(consent.commands.iter().map(|c| format!("runs    {}", safe::line(c, 400))));
    let worst = match (consent.open_ended, consent.worst_case) {
        (false, Money(0)) => "nothing".to_owned(),
        (false, money) => format!("at most {money}"),
        (true, Money(0)) => "unknown: no price is known".to_owned(),
        (true, money) => format!("≥ {money}: not every price is known"),
    };
    lines.push(format!("cost    {worst}"));
    lines.push(format!("caps    {}{}", counted(consent.rounds as usize, "round"), caps(&consent.limits)));
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

fn caps(limits: &Limits) -> String {
    let caps = [
        limits.money.map(|m| format!(", {m}")),
        limits.tokens.map(|n| format!(", {n} tokens")),
        limits.active_ms.map(|ms| format!(", {} active minutes", ms / 60_000)),
        limits.calls.map(|n| format!(", {}", counted(n as usize, "call"))),
    ];
    caps.into_iter().flatten().collect()
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
