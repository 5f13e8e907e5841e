//! What is wrong with a registry as a graph: names nobody has, conditions that can never hold, agents in each other's
//! way. It is given the names of agents and looks at no file.

mod cycles;
mod meeting;
mod weights;

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use gadfly_engine::pipeline::{Atom, Check, Pattern, Registry, RegistryEntry};
use gadfly_engine::protocol::score::settings::EscalateTo;

use super::field::Field;
use super::{RegistryFile, RegistryNote, Spans, named, resolved};
use crate::place::{Problem, brief};
use crate::suggest::{did_you_mean, nearest};
use meeting::Meeting;

/// Of a list in a sentence.
const MOST_NAMED: usize = 20;

/// What else the project says.
#[derive(Clone, Copy, Debug)]
pub struct CheckContext<'a> {
    /// Agents with a file or a configuration of their own; critics are among them.
    pub agents: &'a BTreeSet<String>,
    /// Agent and second critic of each gate artifact.
    pub duals: &'a [(String, String)],
}

/// Everything that is wrong, beyond what [`super::parse`] has reported.
pub fn check(file: &RegistryFile, known: &CheckContext<'_>) -> Vec<Problem> {
    let graph = Graph::new(file, known);
    let mut problems = graph.names();
    problems.extend(graph.duals());
    problems.extend(cycles::problems(&graph));
    problems.extend(graph.same_paths());
    problems.extend(graph.dependent_groups());
    problems.extend(weights::problems(&graph));
    problems
}

/// What is worth knowing about it.
pub fn notes(file: &RegistryFile, known: &CheckContext<'_>) -> Vec<RegistryNote> {
    let graph = Graph::new(file, known);
    let mut notes = graph.conditions();
    notes.extend(weights::notes(&graph));
    notes
}

/// The registry with names and paths made definite, and its places.
struct Graph<'a> {
    file: &'a RegistryFile,
    known: &'a CheckContext<'a>,
    registry: Registry,
    /// The first entry of each name.
    numbers: HashMap<String, usize>,
    /// By critic, by number of entry: whose work its score is about; somebody dispatched as a critic is its own.
    judged: HashMap<String, Vec<usize>>,
    /// Who makes what is required, by number of entry. Comparing patterns is the dear part: done once.
    makers: HashMap<Pattern, Vec<usize>>,
    /// Everybody who could be meant by a name, sorted.
    everybody: OnceCell<Vec<String>>,
}

/// Stands for the project's name while paths are compared: any name will do, it is the same in every path.
const FILLER: &str = "\u{f8ff}";

impl<'a> Graph<'a> {
    fn new(file: &'a RegistryFile, known: &'a CheckContext<'a>) -> Self {
        let registry = resolved(&named(&file.registry, known.agents), FILLER);
        let (mut numbers, mut judged) = (HashMap::new(), HashMap::<String, Vec<usize>>::new());
        for (number, entry) in registry.entries.iter().enumerate() {
            numbers.entry(entry.agent.clone()).or_insert(number);
            if let Some(critic) = &entry.critic {
                judged.entry(critic.clone()).or_default().push(number);
            }
        }
        for (agent, number) in &numbers {
            if registry.entries.get(*number).is_some_and(RegistryEntry::judges) {
                judged.entry(agent.clone()).or_default().push(*number);
            }
        }
        let makers = makers(&registry);
        Self { file, known, registry, numbers, judged, makers, everybody: OnceCell::new() }
    }

    fn get(&self, agent: &str) -> Option<&RegistryEntry> {
        self.entry(*self.numbers.get(agent)?)
    }

    fn entry(&self, number: usize) -> Option<&RegistryEntry> {
        self.registry.entries.get(number)
    }

    fn entries(&self) -> impl Iterator<Item = (&RegistryEntry, &Spans)> {
        self.registry.entries.iter().zip(&self.file.spans)
    }

    fn atoms(&self) -> impl Iterator<Item = (&RegistryEntry, &Atom, &Range<usize>)> {
        self.entries().flat_map(|(entry, spans)| {
            entry.requires.atoms().into_iter().zip(&spans.atoms).map(move |(atom, span)| (entry, atom, span))
        })
    }

    fn at(&self, problem: Problem, span: &Range<usize>) -> Problem {
        problem.at(Some(&self.file.place(span)))
    }

    fn is_known(&self, name: &str) -> bool {
        self.numbers.contains_key(name) || self.known.agents.contains(name)
    }

    fn judged(&self, critic: &str) -> &[usize] {
        self.judged.get(critic).map(Vec::as_slice).unwrap_or_default()
    }

    fn agents(&self, numbers: &[usize]) -> Vec<&str> {
        numbers.iter().filter_map(|number| self.entry(*number)).map(|entry| entry.agent.as_str()).collect()
    }

    fn unknown(&self, name: &str, what: &str, span: &Range<usize>) -> Problem {
        let names = self.everybody.get_or_init(|| {
            let all: BTreeSet<&String> = self.numbers.keys().chain(self.known.agents).collect();
            all.into_iter().cloned().collect()
        });
        let message = format!("{what} `{}` is nobody here", brief(name));
        let help =
            nearest(name, names.iter().map(String::as_str)).map(|near| format!("did you mean `{near}`?"));
        let help = help.unwrap_or_else(|| "write its file, or correct the name".into());
        self.at(Problem::error(message).help(help), span)
    }

    fn names(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut reported = BTreeSet::new();
        let mut once = |name: &str, span: &Range<usize>| reported.insert((name.to_owned(), span.start));
        for (entry, spans) in self.entries() {
            let span = |field| spans.values.get(&field).unwrap_or(&spans.name);
            if let Some(critic) = &entry.critic {
                let at = span(Field::Critic);
                if *critic == entry.agent {
                    let help = "name somebody else, or write `None`";
                    problems.push(
                        self.at(
                            Problem::error(format!("`{critic}` would judge its own work")).help(help),
                            at,
                        ),
                    );
                } else if !self.is_known(critic) && once(critic, at) {
                    problems.push(self.unknown(critic, "the critic", at));
                }
            }
            if let EscalateTo::Agent(target) = &entry.escalate_to
                && !self.is_known(target)
                && once(target, span(Field::Escalation))
            {
                problems.push(self.unknown(target, "the escalation target", span(Field::Escalation)));
            }
        }
        // A critic that is misspelt once would be reported again at every gate that names it rightly.
        let is_misspelt =
            |entry: &RegistryEntry| entry.critic.as_ref().is_some_and(|critic| !self.is_known(critic));
        let all_known = !self.registry.entries.iter().any(is_misspelt);
        for (_, atom, span) in self.atoms() {
            match &atom.check {
                Check::Score { critic, .. } if !self.is_known(critic) && once(critic, span) => {
                    problems.push(self.unknown(critic, "the critic", span));
                }
                Check::Score { critic, .. }
                    if all_known && self.judged(critic).is_empty() && once(critic, span) =>
                {
                    let message = format!("this can never hold: `{critic}` judges nobody");
                    let help = "make it the CRITIC of an agent, or name another critic";
                    problems.push(self.at(Problem::error(message).help(help), span));
                }
                Check::Overall { .. } if !weights::any(self) && once("", span) => {
                    let message = "this can never hold: no agent has a weight";
                    let help = "give QUALITY_WEIGHT to the agents whose scores count";
                    problems.push(self.at(Problem::error(message).help(help), span));
                }
                _ => {}
            }
        }
        problems
    }

    fn duals(&self) -> Vec<Problem> {
        let agents: Vec<&str> = self.registry.entries.iter().map(|entry| entry.agent.as_str()).collect();
        let all: Vec<&str> = self.known.agents.iter().map(String::as_str).collect();
        let mut problems = Vec::new();
        for (agent, critic) in self.known.duals {
            match self.get(agent) {
                None => {
                    let message = format!("`[[dual]]` names the agent `{}`, who has no entry", brief(agent));
                    problems.push(Problem::error(message).maybe_help(did_you_mean(agent, &agents)));
                }
                Some(entry) if entry.critic.as_ref() == Some(critic) => {
                    let message =
                        format!("`[[dual]]` names `{critic}`, who is already the critic of `{agent}`");
                    problems.push(Problem::error(message).help("name a second critic with another lens"));
                }
                Some(_) if !self.is_known(critic) => {
                    let message =
                        format!("`[[dual]]` names the critic `{}`, who is nobody here", brief(critic));
                    problems.push(Problem::error(message).maybe_help(did_you_mean(critic, &all)));
                }
                Some(_) => {}
            }
        }
        problems
    }

    /// Agents of one group that write the same path.
    fn same_paths(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        for (group, members) in self.groups() {
            let mut reported: BTreeSet<Vec<usize>> = BTreeSet::new();
            let numbered = members.iter().enumerate();
            let meeting = Meeting::of(numbered.flat_map(|(n, (entry, _))| made(entry).map(move |p| (n, p))));
            for (entry, spans) in &members {
                for (product, span) in entry.produces.iter().zip(&spans.products) {
                    for pattern in product.patterns.iter().chain(&product.files) {
                        let writers = meeting.with(pattern);
                        if writers.len() > 1 && !reported.contains(&writers) {
                            let named = writers.iter().filter_map(|n| members.get(*n));
                            let named: Vec<&str> = named.map(|(entry, _)| entry.agent.as_str()).collect();
                            reported.insert(writers);
                            let message = format!(
                                "{} of the group `{}` write `{}`",
                                listed(&named),
                                brief(group),
                                written(&pattern.0)
                            );
                            let help = "one waits for the other; give each a path of its own";
                            problems.push(self.at(Problem::warning(message).help(help), span));
                        }
                    }
                }
            }
        }
        problems
    }

    /// Agents in a group with one they need: they never run beside it.
    fn dependent_groups(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        for (entry, atom, span) in self.atoms() {
            let Some(group) = &entry.group else { continue };
            let mut needed = self.providers(entry, atom).peekable();
            let in_group = |other: &RegistryEntry| other.group.as_ref() == Some(group);
            if needed.peek().is_some() && needed.all(in_group) {
                let names: Vec<&str> =
                    self.providers(entry, atom).map(|other| other.agent.as_str()).collect();
                let message =
                    format!("`{}` is in one group with {}, whom it needs", entry.agent, listed(&names));
                let help = "it runs after, not beside: give it a PARALLEL_GROUP of its own";
                problems.push(self.at(Problem::warning(message).help(help), span));
            }
        }
        problems
    }

    fn groups(&self) -> BTreeMap<&str, Vec<(&RegistryEntry, &Spans)>> {
        let mut groups: BTreeMap<&str, Vec<_>> = BTreeMap::new();
        for (entry, spans) in self.entries() {
            if let Some(group) = &entry.group {
                groups.entry(group.as_str()).or_default().push((entry, spans));
            }
        }
        groups
    }

    /// Who could make a condition of this entry hold, other than itself.
    fn providers<'g>(
        &'g self,
        entry: &'g RegistryEntry,
        atom: &Atom,
    ) -> impl Iterator<Item = &'g RegistryEntry> {
        let all = match &atom.check {
            Check::Path(pattern) | Check::Contains { folder: pattern, .. } => self.makers(pattern),
            Check::Score { critic, .. } => self.judged(critic),
            Check::Manual | Check::Overall { .. } | Check::Components { .. } => &[],
        };
        all.iter().filter_map(|number| self.entry(*number)).filter(|other| other.agent != entry.agent)
    }

    fn makers(&self, pattern: &Pattern) -> &[usize] {
        self.makers.get(pattern).map(Vec::as_slice).unwrap_or_default()
    }

    fn conditions(&self) -> Vec<RegistryNote> {
        let mut notes = Vec::new();
        let mut said = BTreeSet::new();
        for (_, atom, _) in self.atoms() {
            let text = match &atom.check {
                Check::Path(pattern) | Check::Contains { folder: pattern, .. }
                    if self.makers(pattern).is_empty() =>
                {
                    format!("nobody makes `{}`: it has to be there", written(&pattern.0))
                }
                Check::Score { critic, at_least } => {
                    let judged = self.judged(critic);
                    if judged.len() < 2 || !said.insert(format!("{critic} {at_least}")) {
                        continue;
                    }
                    let judged = self.agents(judged);
                    let all = if judged.len() == 2 { "both" } else { "all" };
                    format!("{critic} judges {}: {all} have to reach {at_least}", listed(&judged))
                }
                _ => continue,
            };
            if said.insert(text.clone()) {
                notes.push(RegistryNote { text, line: atom.line });
            }
        }
        notes
    }
}

/// Who makes what is required.
fn makers(registry: &Registry) -> HashMap<Pattern, Vec<usize>> {
    let numbered = registry.entries.iter().enumerate();
    let meeting =
        Meeting::of(numbered.flat_map(|(number, entry)| made(entry).map(move |made| (number, made))));
    let mut makers = HashMap::new();
    for pattern in registry.entries.iter().flat_map(|entry| entry.requires.atoms()).filter_map(required) {
        if !makers.contains_key(pattern) {
            makers.insert(pattern.clone(), meeting.with(pattern));
        }
    }
    makers
}

fn made(entry: &RegistryEntry) -> impl Iterator<Item = &Pattern> {
    entry.produces.iter().flat_map(|product| product.patterns.iter().chain(&product.files))
}

/// The path a condition is about.
fn required(atom: &Atom) -> Option<&Pattern> {
    match &atom.check {
        Check::Path(pattern) | Check::Contains { folder: pattern, .. } => Some(pattern),
        Check::Manual | Check::Score { .. } | Check::Overall { .. } | Check::Components { .. } => None,
    }
}

/// Text as the registry writes it.
fn written(text: &str) -> String {
    brief(&text.replace(FILLER, "{project}"))
}

/// `a, b and c`; of many only the first.
fn listed(names: &[&str]) -> String {
    if let Some((first, rest)) = names.split_at_checked(MOST_NAMED).filter(|(_, rest)| rest.len() > 1) {
        return format!("{} and {} more", first.join(", "), rest.len());
    }
    match names.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => String::new(),
    }
}
