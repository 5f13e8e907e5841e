//! Whom a skill sends out, by the arguments it is given: `/review --code a.R` sends the coder's critic, `/discover lit` the
//! librarian. Read from the headings and routing lines of SKILL.md, and from the lines that speak of dispatching. It says
//! who is meant; whether they are workers or judges is the registry's to say.

use std::collections::BTreeMap;

use super::Skill;
use super::mentions::{self, Index};
use crate::layout::AgentFile;
use crate::layout::rules::heading;

/// More parts of one SKILL.md are not looked at.
const MOST_PARTS: usize = 500;

/// Whom a skill means for some arguments.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SkillRoute {
    /// In the order in which SKILL.md sends them out.
    pub agents: Vec<String>,
    /// "all critics", whoever they are.
    pub all_critics: bool,
    /// Files it says reports are saved at, as it writes them: `quality_reports/[file]_code_review.md`.
    pub saves: Vec<String>,
    /// An argument chose this way, or there is but one.
    pub is_chosen: bool,
    /// The words that choose one.
    pub modes: Vec<String>,
}

/// What stands under one heading, or on one routing line.
#[derive(Default)]
struct SkillPart {
    level: usize,
    when: Condition,
    sends: Vec<String>,
    saves: Vec<String>,
    all_critics: bool,
    /// Other ways it speaks of: `same flow as --peer`.
    flags: Vec<String>,
    /// A line of a list, and no heading.
    is_line: bool,
}

/// What arguments have to be like for a part to be meant.
#[derive(Default)]
struct Condition {
    flags: Vec<String>,
    modes: Vec<String>,
    endings: Vec<String>,
    folders: Vec<String>,
    is_default: bool,
    /// It is meant where no file is named.
    is_without_file: bool,
}

impl Skill {
    /// Whom it sends out when it is invoked with these arguments.
    pub fn route(&self, arguments: &str, agents: &BTreeMap<String, AgentFile>) -> SkillRoute {
        let parts = parts(&self.body, &self.name, &mentions::index(agents));
        let words: Vec<&str> = arguments.split_whitespace().collect();
        let modes = modes(&parts);
        let mut fitting: Vec<(u32, usize)> = Vec::new();
        for (at, part) in parts.iter().enumerate() {
            let fits = part.when.fits(&words);
            // Of a heading and a line about the same arguments the heading says more.
            fitting.extend((fits > 0).then(|| (fits * 2 + u32::from(!part.is_line), at)));
        }
        fitting.sort_by_key(|(fits, at)| (std::cmp::Reverse(*fits), *at));
        let best = fitting.iter().map(|(fits, at)| (*fits > 3, whole(&parts, *at)));
        let mut silent = None;
        for (is_chosen, mut route) in best {
            route.is_chosen = is_chosen;
            if !route.agents.is_empty() || route.all_critics {
                return SkillRoute { modes, ..route };
            }
            silent = silent.or(Some(route));
        }
        match silent {
            Some(route) => SkillRoute { modes, ..route },
            None => SkillRoute { is_chosen: modes.is_empty(), modes, ..unconditional(&parts) },
        }
    }

    /// It runs the others: most of the skills that send somebody out are named in it as commands.
    pub fn leads(&self, skills: &BTreeMap<String, Self>) -> bool {
        let is_divided = |c: char| c.is_whitespace() || "`(),;*|[]".contains(c);
        let named: Vec<&str> = self
            .body
            .split(is_divided)
            .filter_map(|word| word.trim_end_matches('.').strip_prefix('/'))
            .collect();
        let others = skills.values().filter(|skill| skill.name != self.name && !skill.sent.is_empty());
        let others: Vec<bool> = others.map(|skill| named.contains(&skill.name.as_str())).collect();
        let led = others.iter().filter(|is_named| **is_named).count();
        led >= 2 && led * 2 > others.len()
    }
}

/// How often each agent is sent out by a SKILL.md, anywhere in it.
pub(super) fn sent(body: &str, names: &Index<'_>) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    let mut lines = SendingLines::default();
    for line in prose(body) {
        if lines.sends(line) {
            for agent in mentions::agents(line, names) {
                *counts.entry(agent).or_default() += 1;
            }
        }
    }
    counts
}

/// Lines outside code fences.
fn prose(body: &str) -> impl Iterator<Item = &str> {
    let mut fenced = false;
    body.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        fenced ^= is_fence;
        !fenced && !is_fence
    })
}

/// Tells lines that send somebody out from those that only speak of somebody.
#[derive(Default)]
struct SendingLines {
    /// A line ended with `dispatch …:`; what is listed below it is sent out, too.
    goes_on: bool,
}

impl SendingLines {
    fn sends(&mut self, line: &str) -> bool {
        const NOT: [&str; 6] = ["re-dispatch", "redispatch", "before dispatch", "do not", "don't", "never"];
        let said = line.to_lowercase();
        let bare: String = said.chars().filter(|c| *c != '*').collect();
        let bare = bare.trim_start_matches(['-', '+', ' ', '\t']);
        let is_item =
            bare.starts_with(|c: char| c.is_ascii_digit()) || said.trim_start().starts_with(['-', '*', '+']);
        let names = ["agent:", "agents:"].iter().any(|label| bare.starts_with(label));
        let sends = (names || said.contains("dispatch")) && !NOT.iter().any(|not| said.contains(not));
        if heading(line).is_some() || (!is_item && !bare.trim().is_empty()) || sends {
            self.goes_on = sends && bare.trim_end().ends_with(':');
        }
        sends || (self.goes_on && is_item)
    }
}

fn parts(body: &str, skill: &str, names: &Index<'_>) -> Vec<SkillPart> {
    let mut all = vec![SkillPart::default()];
    let mut lines = SendingLines::default();
    for line in prose(body) {
        if all.len() >= MOST_PARTS {
            break;
        }
        if let Some((level, text)) = heading(line) {
            all.push(SkillPart { level, when: Condition::of(text, skill), ..SkillPart::default() });
        } else if let Some(routed) = routing(line, skill, names) {
            let at = all.len() - 1;
            all.insert(at, routed);
            continue;
        }
        let sends = lines.sends(line);
        let Some(part) = all.last_mut() else { continue };
        if sends {
            let new = mentions::agents(line, names).into_iter().filter(|name| !part.sends.contains(name));
            part.sends.extend(new.collect::<Vec<_>>());
        }
        part.saves
            .extend(mentions::saved(line).map(|(path, _)| path.to_owned()).filter(|path| is_report(path)));
        let flags = backticked(line).flat_map(str::split_whitespace).filter(|word| word.starts_with("--"));
        part.flags.extend(flags.map(ToOwned::to_owned));
    }
    all
}

fn is_report(path: &str) -> bool {
    [".md", ".markdown", ".txt"].iter().any(|ending| path.ends_with(ending))
}

/// `- `.R` file → **Code review** (coder-critic)`.
fn routing(line: &str, skill: &str, names: &Index<'_>) -> Option<SkillPart> {
    let (left, right) = line.split_once('→').or_else(|| line.split_once("->"))?;
    let item = left.trim_start().strip_prefix(['-', '*', '+'])?;
    let mut when = Condition::of(item, skill);
    when.is_default = false;
    when.is_without_file = item.to_lowercase().contains("no file");
    let is_about_arguments = !(when.flags.is_empty() && when.endings.is_empty() && !when.is_without_file);
    let all_critics = right.to_lowercase().contains("all critics");
    let sends = mentions::agents(right, names);
    is_about_arguments.then(|| SkillPart {
        level: usize::MAX,
        when,
        sends,
        all_critics,
        is_line: true,
        ..SkillPart::default()
    })
}

/// Every second piece between backticks.
fn backticked(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

impl Condition {
    fn of(text: &str, skill: &str) -> Self {
        let mut when = Self { is_default: text.to_lowercase().contains("default"), ..Self::default() };
        for (n, piece) in text.split('`').enumerate() {
            let words: Vec<&str> = piece.split_whitespace().collect();
            if n % 2 == 1 && words.first().and_then(|word| word.strip_prefix('/')) == Some(skill) {
                match words.get(1).filter(|word| !word.starts_with(['[', '<', '-'])) {
                    Some(mode) => when.modes.push(mode.to_lowercase()),
                    None => when.is_default = true,
                }
            }
            if n % 2 == 1 {
                let flags = words.iter().filter(|word| word.starts_with("--"));
                when.flags.extend(flags.map(|flag| flag.trim_end_matches(',').to_owned()));
            }
            for word in piece.split(|c: char| c.is_whitespace() || "(),".contains(c)) {
                match word.strip_suffix('/') {
                    Some(folder) if n % 2 == 0 && folder.chars().all(char::is_alphanumeric) => {
                        when.folders.push(word.to_owned());
                    }
                    _ => when.endings.extend(word.split('/').filter(|w| is_ending(w)).map(str::to_lowercase)),
                }
            }
        }
        when
    }

    /// How well arguments fit; 0 if they do not. What only is the default fits a little.
    fn fits(&self, words: &[&str]) -> u32 {
        let has = |flag: &String| words.iter().any(|word| word == flag);
        let is_in = |folder: &String| words.iter().any(|word| word.contains(folder.as_str()));
        if !self.folders.is_empty() && !self.folders.iter().any(is_in) {
            return 0;
        }
        let mut fits = 0;
        if !self.flags.is_empty() && self.flags.iter().all(has) {
            fits += 100 * u32::try_from(self.flags.len()).unwrap_or(u32::MAX).min(9);
        }
        let first = words.first().map(|word| word.to_lowercase());
        if first.is_some_and(|first| self.modes.contains(&first)) {
            fits += 50;
        }
        let ends = |ending: &String| words.iter().any(|word| word.to_lowercase().ends_with(ending.as_str()));
        if self.endings.iter().any(ends) {
            fits += 5 + if self.folders.is_empty() { 0 } else { 10 };
        }
        let has_file = words.iter().any(|word| word.contains(['.', '/']));
        let is_usual = (self.is_default && self.endings.is_empty()) || (self.is_without_file && !has_file);
        fits.max(u32::from(is_usual))
    }
}

fn is_ending(word: &str) -> bool {
    word.strip_prefix('.')
        .is_some_and(|rest| (1..=5).contains(&rest.len()) && rest.chars().all(|c| c.is_ascii_alphanumeric()))
}

/// The words that choose a way, each once.
fn modes(parts: &[SkillPart]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for part in parts {
        for mode in part.when.flags.iter().chain(&part.when.modes) {
            if !all.contains(mode) {
                all.push(mode.clone());
            }
        }
    }
    all
}

/// A part with all that stands under its heading. One that sends nobody and names another way is that way.
fn whole(parts: &[SkillPart], at: usize) -> SkillRoute {
    let mut route = gathered(parts, at);
    if route.agents.is_empty() && !route.all_critics {
        let named = parts.get(at).map(|part| part.flags.as_slice()).unwrap_or_default();
        let other = parts.iter().position(|part| {
            !part.is_line && part.when.flags.len() == 1 && named.contains(&part.when.flags[0])
        });
        if let Some(other) = other.filter(|other| *other != at) {
            route.agents = gathered(parts, other).agents;
        }
    }
    route
}

fn gathered(parts: &[SkillPart], at: usize) -> SkillRoute {
    let mut route = SkillRoute::default();
    let Some(first) = parts.get(at) else { return route };
    let inner = parts.iter().skip(at + 1).take_while(|part| !first.is_line && part.level > first.level);
    for part in std::iter::once(first).chain(inner.filter(|part| !part.is_line)) {
        add(&mut route, part);
    }
    route
}

/// What is done whatever the arguments are: all that stands under no condition.
fn unconditional(parts: &[SkillPart]) -> SkillRoute {
    let mut route = SkillRoute::default();
    let mut under: Option<usize> = None;
    for part in parts.iter().filter(|part| !part.is_line) {
        if under.is_some_and(|level| part.level <= level) {
            under = None;
        }
        if !part.when.flags.is_empty() || !part.when.modes.is_empty() {
            under = under.or(Some(part.level));
        }
        if under.is_none() {
            add(&mut route, part);
        }
    }
    route
}

fn add(route: &mut SkillRoute, part: &SkillPart) {
    let new = |name: &&String| !route.agents.contains(name);
    let agents: Vec<String> = part.sends.iter().filter(new).cloned().collect();
    route.agents.extend(agents);
    route.saves.extend(part.saves.iter().cloned());
    route.all_critics |= part.all_critics;
}
