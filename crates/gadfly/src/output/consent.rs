//! What a run is about to do, in words: who gets what, at what cost, within what caps.

use std::path::Path;

use gadfly_engine::masked::masked;
use gadfly_engine::{Limits, Money};
use gadfly_project::trust::{AtRisk, Group, TrustEntry, What};
use gadfly_runtime::consent::{Consent, GoalTerms, PipelineTerms, Recipient};
use gadfly_runtime::sandbox::Enforcement;

use super::safe;
use super::table::counted;

/// Of agents that are reached the same way, these many are named.
const MOST_NAMED: usize = 12;

pub fn lines(consent: &Consent) -> Vec<String> {
    let mut lines = Vec::new();
    if consent.pipeline.is_some() {
        lines.extend(together(&consent.recipients));
    } else {
        for to in &consent.recipients {
            lines.push(recipient(to));
            lines.extend(to.held.as_ref().map(held));
        }
    }
    lines.extend(consent.pipeline.iter().flat_map(pipeline));
    lines.extend(consent.goal.iter().flat_map(terms));
    if let Some(folder) = &consent.folder {
        lines.push(if consent.pipeline.is_some() {
            let project = safe::line(folder, 400);
            format!("folder  a copy of {project} for each agent; what passes goes into it at once")
        } else {
            place(folder, consent.goal.as_ref())
        });
    }
    lines.extend(consent.out.iter().map(|out| format!("writes  {}", safe::line(out, 400))));
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
            "warning: worker and critic are the same model; a critic from another vendor catches different mistakes"
                .into(),
        );
    }
    lines.iter().map(|line| masked(line)).collect()
}

/// A pipeline has many agents, and most are reached the same way: one line for all of them.
fn together(all: &[Recipient]) -> Vec<String> {
    let mut groups: Vec<(&Recipient, Vec<&Recipient>)> = Vec::new();
    for to in all {
        let same = |one: &Recipient| {
            (one.role, &one.sends_to, &one.kind, &one.model, &one.held)
                == (to.role, &to.sends_to, &to.kind, &to.model, &to.held)
        };
        match groups.iter_mut().find(|(first, _)| same(first)) {
            Some((_, members)) => members.push(to),
            None => groups.push((to, vec![to])),
        }
    }
    let mut lines = Vec::new();
    for (first, members) in groups {
        let names: Vec<String> =
            members.iter().take(MOST_NAMED).map(|member| safe::line(&member.agent, 60)).collect();
        let more = members.len().saturating_sub(MOST_NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let (host, kind) = (safe::line(&first.sends_to, 100), safe::line(&first.kind, 40));
        let model =
            first.model.as_ref().map(|m| format!(", model {}", safe::line(m, 80))).unwrap_or_default();
        lines.push(format!("{:<7} → {host} ({}{more}; {kind}{model})", first.role, names.join(", ")));
        lines.extend(first.held.as_ref().map(held));
    }
    lines
}

/// How a pipeline goes about it.
fn pipeline(terms: &PipelineTerms) -> Vec<String> {
    let gate = terms.gate.as_ref().map_or_else(
        || "none: one agent and its critic".to_owned(),
        |gate| {
            format!("{}, at most {}", safe::line(gate, 60), counted(terms.overall as usize, "overall round"))
        },
    );
    let mut lines =
        vec![format!("agents  {}, {} at work at once", terms.agents, terms.jobs), format!("gate    {gate}")];
    if let Some(planner) = &terms.planner {
        lines.push(format!("plan    drafted by {}, before anything else", safe::line(planner, 60)));
    }
    if let Some(branch) = &terms.commits {
        let branch = if branch.is_empty() { "of the run's own".to_owned() } else { safe::line(branch, 100) };
        lines.push(format!("commit  the result, on a branch {branch}"));
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
fn held(by: &Enforcement) -> String {
    let up: Vec<String> = by.guards.iter().map(|guard| safe::line(&guard.to_string(), 120)).collect();
    let up = if up.is_empty() {
        "no sandbox: runs with your permissions".to_owned()
    } else {
        format!("sandbox: {}", up.join(", "))
    };
    let missing = by.unheld.as_ref().map(|why| format!("; no Landlock: {}", safe::line(why, 200)));
    format!("        {up}{}", missing.unwrap_or_default())
}

/// What a goal's worker is set to, and held to.
fn terms(goal: &GoalTerms) -> [String; 3] {
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
fn place(project: &str, goal: Option<&GoalTerms>) -> String {
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
        consent.goal.is_none().then(|| {
            let each = if consent.pipeline.is_some() { " of each pair" } else { "" };
            format!("{}{each}", counted(consent.rounds as usize, "round"))
        }),
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

/// Of the settings by which something is judged, these many are named.
const MOST_SETTINGS: usize = 5;

/// A list of this many lines needs no headings.
const SHORT: usize = 5;

/// What a project's files want to be allowed, the gravest first, one line each; a longer list has a heading for each kind of
/// risk. Agents that have their files in one folder make one line, and so do the settings by which one thing is judged.
pub fn wanted(entries: &[TrustEntry]) -> Vec<String> {
    let of = |risk: AtRisk| entries.iter().filter(move |entry| entry.what.at_risk() == risk);
    let groups: Vec<(AtRisk, Vec<String>)> =
        AtRisk::ALL.into_iter().map(|risk| (risk, in_lines(of(risk)))).collect();
    let groups: Vec<_> = groups.into_iter().filter(|(_, lines)| !lines.is_empty()).collect();
    let many = groups.iter().map(|(_, lines)| lines.len()).sum::<usize>();
    if many <= SHORT || groups.len() == 1 {
        return groups.iter().flat_map(|(_, lines)| lines).map(|line| format!("  {line}")).collect();
    }
    let told = groups.into_iter().flat_map(|(risk, lines)| {
        let lines = lines.into_iter().map(|line| format!("    {line}"));
        std::iter::once(format!("  {}:", risk.heading())).chain(lines)
    });
    told.collect()
}

/// What the entries of one line have in common.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Common<'e> {
    Folder(What, &'e Path),
    Judged(&'e str),
}

impl<'e> Common<'e> {
    fn of(entry: &'e TrustEntry) -> Option<Self> {
        Some(match entry.group.as_ref()? {
            Group::File { path, .. } => Self::Folder(entry.what, path.parent()?),
            Group::Judging { whose, .. } => Self::Judged(whose),
        })
    }
}

/// One line of the list: an entry, or all that have something in common.
struct ConsentLine<'e> {
    common: Option<Common<'e>>,
    entries: Vec<&'e TrustEntry>,
}

impl ConsentLine<'_> {
    fn told(&self) -> String {
        match (self.common, self.entries.as_slice()) {
            (Some(Common::Folder(what, folder)), [_, _, ..]) => return self.of_folder(what, folder),
            (Some(Common::Judged(whose)), [first, _, ..]) => return self.judged(whose, first),
            _ => {}
        }
        let told = self.entries.iter().map(|entry| {
            let place = entry.place.as_ref().map(|p| format!(" ({})", safe::line(&p.to_string(), 200)));
            format!("{}{}", entry.text, place.unwrap_or_default())
        });
        told.collect()
    }

    fn of_folder(&self, what: What, folder: &Path) -> String {
        let names = self.entries.iter().filter_map(|entry| match entry.group.as_ref()? {
            Group::File { agent, .. } => Some(safe::line(agent, 60)),
            Group::Judging { .. } => None,
        });
        let names: Vec<String> = names.collect();
        let (many, names) = (names.len(), names.join(", "));
        let folder = safe::line(&folder.display().to_string(), 200);
        if what == What::Judge {
            format!("let ready-made replies in {folder} judge work, as {names}")
        } else {
            format!("instruct {many} agents with their files in {folder}: {names}")
        }
    }

    fn judged(&self, whose: &str, first: &TrustEntry) -> String {
        let said = self.entries.iter().filter_map(|entry| match entry.group.as_ref()? {
            Group::Judging { said, .. } => Some(safe::line(said, 80)),
            Group::File { .. } => None,
        });
        let mut said: Vec<String> = said.collect();
        // Critics that have their rubrics in one file.
        said.dedup();
        let more = said.len().saturating_sub(MOST_SETTINGS);
        said.truncate(MOST_SETTINGS);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let place = first.place.as_ref().map(|p| format!(" ({})", safe::line(&p.to_string(), 200)));
        let whose = safe::line(whose, 80);
        format!("say how {whose} is judged: {}{more}{}", said.join(", "), place.unwrap_or_default())
    }
}

fn in_lines<'e>(entries: impl Iterator<Item = &'e TrustEntry>) -> Vec<String> {
    let mut lines: Vec<ConsentLine<'_>> = Vec::new();
    for entry in entries {
        let common = Common::of(entry);
        match lines.iter_mut().find(|line| common.is_some() && line.common == common) {
            Some(line) => line.entries.push(entry),
            None => lines.push(ConsentLine { common, entries: vec![entry] }),
        }
    }
    lines.iter().map(ConsentLine::told).collect()
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
                "sandbox: Landlock (files; TCP open), tree compared (its copy)",
            ),
            (vec![compared()], Some("too old"), "sandbox: tree compared (its copy); no Landlock: too old"),
            (vec![], None, "no sandbox: runs with your permissions"),
            (vec![], Some("too old"), "no sandbox: runs with your permissions; no Landlock: too old"),
        ];
        for (guards, unheld, expected) in table {
            let sandboxed = guards.contains(&landlock());
            let by = Enforcement { guards, sandboxed, unheld: unheld.map(str::to_owned) };
            assert_eq!(held(&by).trim_start(), expected);
        }
    }
}
