//! Judges what `lines` gathered: is every criterion answered, once and with substance?

use super::gather::{Entry, Gathered, MOST_OPTIONS, Subject};
use super::line::undressed;
use super::phrases::{
    Word, answer_part, choice, clean, fix_after_fail, inline_answer, inline_answers, is_skip,
    out_of_brackets, repeated, says_nothing, separated, strip_either, strip_label, word,
};
use super::{Breach, Claim, Judged, PassReply, Scenario, Verdict};
use crate::protocol::converge::escalation::{Escalation, EscalationChoice, SKIP, Trigger};
use crate::protocol::converge::sets::{ADVERSARIAL, ConvergeCriterion};
use crate::reading::doubt::{self, Rule, Scope};
use crate::reading::english::stems;
use crate::reading::forms;
use crate::reading::lines::Tick;
use crate::reading::quantity::has_quantity;

pub(super) fn judge(
    gathered: &Gathered,
    criteria: &[ConvergeCriterion],
    pass: u32,
) -> Result<PassReply, Vec<Breach>> {
    let mut judge = Judge { criteria, breaches: Vec::new(), deviations: Vec::new(), weak: Vec::new() };
    if gathered.pass.is_some_and(|stated| stated != pass) {
        judge.weaken(Breach::OtherPass { pass });
    }
    if gathered.too_many {
        judge.breach(Breach::TooMany);
    }
    if gathered.nameless_blocks > 0 {
        judge.breach(Breach::NamelessBlock);
    }
    judge.deviations.extend(gathered.mended.iter().cloned());
    if gathered.fenced {
        judge.deviations.push("a code fence around the reply".into());
    }
    for entry in gathered.entries.iter().filter(|e| e.subject == Subject::Unknown) {
        // A name in capitals that nobody judges is a passage of text.
        if entry.is_block || !entry.verdicts.is_empty() {
            judge.breach(Breach::UnknownCriterion(entry.name.clone()));
        }
    }
    let answers: Vec<Option<Judged>> =
        (0..criteria.len()).map(|at| judge.criterion(at, &gathered.entries)).collect();
    judge.questions(&gathered.entries);
    let mut scenario = judge.scenario(&gathered.entries);
    let Judge { mut breaches, mut deviations, weak, .. } = judge;
    let answers: Option<Vec<Judged>> = answers.into_iter().collect();
    // What only weakens a pass does not stand in the way of a rejection; it is noted.
    let fails = answers.iter().flatten().any(|a| !a.verdict.is_clean())
        || scenario.as_ref().is_some_and(Scenario::is_realistic);
    if fails {
        deviations.extend(weak.iter().map(ToString::to_string));
        scenario = scenario.or_else(|| {
            let unstated = weak
                .iter()
                .any(|b| matches!(b, Breach::NoScenario | Breach::NotWeighed | Breach::EmptyScenario));
            unstated.then(|| Scenario {
                says: "(none was stated)".into(),
                fix: None,
                rationale: "not weighed".into(),
                others: Vec::new(),
            })
        });
    } else {
        breaches.extend(weak);
    }
    match (answers, scenario) {
        (Some(answers), Some(scenario)) if breaches.is_empty() => Ok(PassReply {
            answers,
            scenario,
            claimed: gathered.result.as_deref().map(Claim::read),
            deviations,
        }),
        _ => Err(breaches),
    }
}

struct Judge<'a> {
    criteria: &'a [ConvergeCriterion],
    breaches: Vec<Breach>,
    deviations: Vec<String>,
    /// What keeps something from passing, and nothing else.
    weak: Vec<Breach>,
}

impl Judge<'_> {
    fn weaken(&mut self, breach: Breach) {
        if !self.weak.contains(&breach) {
            self.weak.push(breach);
        }
    }

    fn breach(&mut self, breach: Breach) {
        if !self.breaches.contains(&breach) {
            self.breaches.push(breach);
        }
    }

    /// A critic that repeats its questions, and none of them is one that was asked, judged something else.
    fn questions(&mut self, entries: &[Entry]) {
        let of = |at: usize| {
            entries
                .iter()
                .filter(move |e| e.subject == Subject::Criterion(at) && !e.is_block)
                .find_map(|e| repeated(&e.said))
        };
        let is_other = |at: usize, criterion: &ConvergeCriterion| {
            let asked = format!("{} {}", criterion.name, criterion.question).to_lowercase();
            of(at).is_some_and(|question| {
                let mut stems = stems(question).peekable();
                stems.peek().is_some() && !stems.any(|stem| asked.contains(&stem))
            })
        };
        if self.criteria.iter().enumerate().all(|(at, criterion)| is_other(at, criterion))
            && let Some(first) = self.criteria.first()
        {
            self.weaken(Breach::OtherQuestion(first.name.clone()));
        }
    }

    /// None if a breach was found.
    fn criterion(&mut self, at: usize, entries: &[Entry]) -> Option<Judged> {
        let criterion = self.criteria.get(at)?;
        let name = &criterion.name;
        let mine = || entries.iter().filter(|e| e.subject == Subject::Criterion(at));
        let blocks: Vec<&Entry> = mine().filter(|e| e.is_block).collect();
        let answers: Vec<&Entry> = mine().filter(|e| !e.is_block).collect();
        if answers.is_empty() {
            self.breach(Breach::Unanswered(name.clone()));
            return None;
        }
        let mut judged: Option<Judged> = None;
        let mut sound = true;
        for entry in answers {
            let Some(next) = self.answer(criterion, entry, &blocks) else {
                sound = false;
                continue;
            };
            match &mut judged {
                None => judged = Some(next),
                Some(first) if first.verdict.name() != next.verdict.name() => {
                    self.breach(Breach::Contradiction(name.clone()));
                    sound = false;
                }
                Some(first) => {
                    self.deviations.push(format!("[{name}] is answered twice, with the same verdict"));
                    unite(first, &next);
                }
            }
        }
        let escalates = judged.as_ref().is_some_and(|j| matches!(j.verdict, Verdict::Escalate(_)));
        if sound && !blocks.is_empty() && !escalates {
            self.breach(Breach::BlockWithoutEscalate(name.clone()));
            sound = false;
        }
        judged.filter(|_| sound)
    }

    fn answer(&mut self, criterion: &ConvergeCriterion, entry: &Entry, blocks: &[&Entry]) -> Option<Judged> {
        let name = &criterion.name;
        let (word, tail) = self.verdict_line(name, entry)?;
        let rationale = clean(answer_part(&entry.said, &criterion.question));
        let verdict = match word {
            Word::Pass => return Some(self.passed(name, &rationale, &tail)),
            Word::Fail => {
                // A defect that is described is a fix that is asked for.
                let tail = strip_label(&tail, "fix").map_or(tail.clone(), clean);
                let fix = if says_nothing(&tail) && has_words(&rationale) { rationale.clone() } else { tail };
                Verdict::Fail { fix: self.substance(fix, Breach::NoFix(name.clone()))? }
            }
            Word::Defer => Verdict::Defer { reason: self.substance(tail, Breach::NoReason(name.clone()))? },
            Word::Escalate => Verdict::Escalate(Box::new(self.escalation(name, blocks)?)),
        };
        Some(Judged { criterion: name.clone(), rationale, verdict })
    }

    /// A PASS with what weakens it.
    fn passed(&mut self, name: &str, rationale: &str, tail: &str) -> Judged {
        let whole = clean(&format!("{rationale} {tail}"));
        let first = tail.split(|c: char| !c.is_alphanumeric()).find(|w| !w.is_empty()).unwrap_or_default();
        let conditions = [
            "with",
            "once",
            "if",
            "pending",
            "provided",
            "but",
            "except",
            "unless",
            "after",
            "until",
            "when",
            "conditional",
            "conditionally",
            "subject",
            "assuming",
            "however",
            "although",
        ];
        if says_nothing(&whole) || forms::is_one_of(whole.trim(), forms::PASSING) {
            self.weaken(Breach::BarePass(name.to_owned()));
        } else if !has_quantity(&whole) {
            self.weaken(Breach::NoQuantity(name.to_owned()));
        } else if forms::is_one_of(first, &conditions) || doubt::condition(tail) {
            self.weaken(Breach::Conditional(name.to_owned()));
        } else if asks(tail) || doubt::names_trouble(tail) || doubt::concedes(&whole) {
            self.weaken(Breach::PassWithDemand(name.to_owned()));
        } else if let Some((rule, _)) =
            doubt::against(rationale, Scope::Answer).or_else(|| doubt::against(tail, Scope::Answer))
        {
            self.weaken(match rule {
                Rule::Condition => Breach::Conditional(name.to_owned()),
                Rule::Shortfall => Breach::Fewer(name.to_owned()),
                _ => Breach::PassWithDemand(name.to_owned()),
            });
        }
        Judged { criterion: name.to_owned(), rationale: whole, verdict: Verdict::Pass }
    }

    /// The verdict's word and the text after it, out of its brackets.
    fn verdict_line(&mut self, name: &str, entry: &Entry) -> Option<(Word, String)> {
        let line = match entry.verdicts.as_slice() {
            [] => {
                self.breach(Breach::NoVerdict(name.to_owned()));
                return None;
            }
            [line] => line,
            _ => {
                self.breach(Breach::TwoVerdicts(name.to_owned()));
                return None;
            }
        };
        let read = word(line);
        if read.is_none() {
            self.breach(Breach::UnclearVerdict(name.to_owned()));
        }
        read.map(|(word, tail)| (word, out_of_brackets(tail)))
    }

    fn substance(&mut self, text: String, breach: Breach) -> Option<String> {
        if says_nothing(&text) {
            self.breach(breach);
            return None;
        }
        Some(text)
    }

    fn escalation(&mut self, name: &str, blocks: &[&Entry]) -> Option<Escalation> {
        let block = match blocks {
            [] => {
                self.breach(Breach::NoBlock(name.to_owned()));
                return None;
            }
            [block] => *block,
            _ => {
                self.breach(Breach::TwoBlocks(name.to_owned()));
                return None;
            }
        };
        let before = self.breaches.len();
        if block.verdicts.iter().any(|line| word(line).is_none_or(|(word, _)| word != Word::Escalate)) {
            self.breach(Breach::TwoVerdicts(name.to_owned()));
        }
        let question = clean(&block.said);
        if says_nothing(&question) {
            self.breach(Breach::NoQuestion(name.to_owned()));
        }
        let issue = clean(block.issue.as_deref().unwrap_or_default());
        if says_nothing(&issue) {
            self.breach(Breach::NoIssue(name.to_owned()));
        }
        let because = clean(block.why.as_deref().unwrap_or_default());
        let why = Trigger::named_in(&because);
        if why.is_none() {
            self.breach(Breach::NoTrigger(name.to_owned()));
        }
        let (options, skip) = self.options(name, block);
        let (Some(why), true) = (why, self.breaches.len() == before) else { return None };
        Some(Escalation { criterion: name.to_owned(), question, issue, why, because, options, skip })
    }

    fn options(&mut self, name: &str, block: &Entry) -> (Vec<EscalationChoice>, String) {
        if block.options_cut {
            self.breach(Breach::ManyOptions { name: name.to_owned(), most: MOST_OPTIONS });
        }
        let mut options = Vec::new();
        let mut skip = None;
        for text in block.options.iter().map(|o| clean(o)) {
            if is_skip(&text) {
                skip = Some(text);
                continue;
            }
            let choice = choice(&text);
            if choice.label.is_empty() || choice.pro.is_empty() || choice.con.is_empty() {
                self.breach(Breach::OneSided { name: name.to_owned(), option: options.len() + 1 });
            }
            options.push(choice);
        }
        if options.is_empty() || !block.has_options {
            self.breach(Breach::NoOptions(name.to_owned()));
        }
        let skip = skip.unwrap_or_else(|| {
            self.deviations.push(format!("[{name}]: the option to skip was added"));
            SKIP.to_owned()
        });
        (options, skip)
    }

    /// All failure scenarios: the realistic ones if there are any, otherwise all as one.
    fn scenario(&mut self, entries: &[Entry]) -> Option<Scenario> {
        let mut mine = entries.iter().filter(|e| e.subject == Subject::Adversarial).peekable();
        if mine.peek().is_none() {
            self.weaken(Breach::NoScenario);
            return None;
        }
        let weighed: Vec<Option<Scenario>> = mine.map(|entry| self.one_scenario(entry)).collect();
        let known: Vec<&Scenario> = weighed.iter().flatten().collect();
        let real = known.iter().filter(|s| s.is_realistic()).map(|s| (*s).clone());
        if let Some(realistic) = Scenario::first_of(real) {
            return Some(realistic);
        }
        if known.len() < weighed.len() {
            return None;
        }
        let join = |part: fn(&Scenario) -> &str| known.iter().map(|s| part(s)).collect::<Vec<_>>().join("; ");
        Some(Scenario {
            says: join(|s| &s.says),
            fix: None,
            rationale: join(|s| &s.rationale),
            others: Vec::new(),
        })
    }

    fn one_scenario(&mut self, entry: &Entry) -> Option<Scenario> {
        let inline = inline_answers(&entry.said);
        if inline.len() > 1 {
            return self.several(&inline, entry);
        }
        let (said, weighed) = match (entry.realistic.as_slice(), inline_answer(&entry.said)) {
            ([], Some((said, weighed))) => (said, vec![weighed]),
            ([], None) => (entry.said.as_str(), Vec::new()),
            (lines, None) => (entry.said.as_str(), lines.iter().map(String::as_str).collect()),
            (lines, Some((said, weighed))) => {
                (said, lines.iter().map(String::as_str).chain([weighed]).collect())
            }
        };
        let says = clean(
            strip_label(said, "failure scenario").or_else(|| strip_label(said, "scenario")).unwrap_or(said),
        );
        if says_nothing(&says) {
            self.weaken(Breach::EmptyScenario);
            return None;
        }
        let verdict =
            if entry.verdicts.is_empty() { None } else { Some(self.verdict_line(ADVERSARIAL, entry)?) };
        if weighed.is_empty() {
            let Some((Word::Fail, tail)) = verdict else {
                self.weaken(Breach::NotWeighed);
                return None;
            };
            let fix = if says_nothing(&tail) { says.clone() } else { tail };
            return Some(Scenario { says, fix: Some(fix), rationale: String::new(), others: Vec::new() });
        }
        let mut unrealistic: Vec<String> = Vec::new();
        let mut answers: Vec<Scenario> = Vec::new();
        for line in weighed {
            let one = self.weigh(says.clone(), line, verdict.clone())?;
            if one.is_realistic() {
                answers.push(one);
            } else {
                unrealistic.push(one.rationale);
            }
        }
        if let Some(first) = answers.into_iter().next() {
            return Some(first);
        }
        Some(Scenario { says, fix: None, rationale: unrealistic.join("; "), others: Vec::new() })
    }

    /// Several scenarios under one name, each with its own answer: one that is realistic is enough.
    fn several(&mut self, inline: &[(&str, &str)], entry: &Entry) -> Option<Scenario> {
        let lines = entry.realistic.iter().map(|line| ("", line.as_str()));
        let mut weighed = Vec::new();
        for (said, answer) in inline.iter().copied().chain(lines) {
            let said = strip_label(said, "failure scenario").unwrap_or(said);
            weighed.push(self.weigh(clean(separated(said)), answer, None)?);
        }
        let real = weighed.iter().filter(|s| s.is_realistic()).cloned();
        if let Some(realistic) = Scenario::first_of(real) {
            return Some(realistic);
        }
        let join = |part: fn(&Scenario) -> &str| weighed.iter().map(part).collect::<Vec<_>>().join("; ");
        Some(Scenario {
            says: join(|s| &s.says),
            fix: None,
            rationale: join(|s| &s.rationale),
            others: Vec::new(),
        })
    }

    fn weigh(&mut self, says: String, weighed: &str, verdict: Option<(Word, String)>) -> Option<Scenario> {
        let yes = strip_either(weighed, YES);
        let weighed = undressed(weighed);
        let yes = yes.or_else(|| strip_either(weighed, YES));
        let no = strip_either(weighed, &["NO", "N", "FALSE", "UNREALISTIC", "NOT REALISTIC", "NOT REALLY"]);
        let failed = |text: &str| strip_either(separated(text), &["FAIL", "FAILED"]).map(fix_after_fail);
        match (yes, no, verdict) {
            (Some(rest), _, verdict) => {
                let spoken = clean(separated(rest));
                let fix = match verdict {
                    Some((Word::Fail, tail)) if says_nothing(&tail) => failed(rest).or(Some(spoken)),
                    Some((Word::Fail, tail)) => Some(tail),
                    // Called realistic and passed all the same: that is no verdict.
                    Some(_) => None,
                    None => failed(rest).or_else(|| (!waves_through(&spoken)).then_some(spoken)),
                };
                let Some(fix) = fix else {
                    self.breach(Breach::RealisticNotFailed);
                    return None;
                };
                let fix = strip_label(&fix, "fix").map_or(fix.clone(), clean);
                // A realistic way to fail is to be prevented; the scenario says what.
                let fix = if says_nothing(&fix) { format!("prevent: {says}") } else { fix };
                Some(Scenario { says, fix: Some(fix), rationale: String::new(), others: Vec::new() })
            }
            (None, Some(rest), None | Some((Word::Pass, _))) if failed(rest).is_none() => {
                let rationale = clean(separated(rest));
                if !has_quantity(&rationale) {
                    self.weaken(Breach::UnrealisticUncounted);
                }
                let asks = |(rule, _): &(Rule, String)| {
                    matches!(rule, Rule::Demand | Rule::Denial | Rule::Condition)
                };
                if doubt::against(&rationale, Scope::Answer).is_some_and(|found| asks(&found))
                    || doubt::happens(&rationale)
                {
                    self.weaken(Breach::PassWithDemand(ADVERSARIAL.to_owned()));
                }
                Some(Scenario { says, fix: None, rationale, others: Vec::new() })
            }
            (None, Some(_), _) => {
                self.breach(Breach::UnrealisticFailed);
                None
            }
            (None, None, _) => {
                self.weaken(Breach::NotWeighed);
                None
            }
        }
    }
}

/// Does what stands behind PASS ask for something? It describes the work and need not praise it.
fn asks(tail: &str) -> bool {
    let describes = |(rule, _): &(Rule, String)| *rule == Rule::Unaffirmed;
    doubt::item(Tick::None, tail) == doubt::Weight::Against
        && !doubt::against(tail, Scope::Prose).as_ref().is_some_and(describes)
}

/// Words that call a scenario realistic; those of other languages can only reject.
const YES: &[&str] = &["YES", "Y", "TRUE", "REALISTIC", "SÍ", "Sí", "sí", "OUI", "JA", "SIM"];

/// `acceptable`, `no fix needed`: a realistic scenario that is waved through.
fn waves_through(text: &str) -> bool {
    let lower = text.to_lowercase();
    ["acceptable", "accepted", "no fix", "fine", "not a problem", "tolerable", "ignore", "can live"]
        .iter()
        .any(|w| lower.contains(w))
}

/// Does it describe something, beyond a number?
fn has_words(text: &str) -> bool {
    text.split(|c: char| !c.is_alphabetic()).filter(|w| w.chars().count() > 1).count() >= 2
        && !says_nothing(text)
}

/// A second answer with the same verdict adds to the first.
fn unite(first: &mut Judged, next: &Judged) {
    let join = |a: &mut String, b: &str, by: &str| {
        if !b.is_empty() && a != b {
            a.push_str(by);
            a.push_str(b);
            *a = clean(a);
        }
    };
    join(&mut first.rationale, &next.rationale, " ");
    match (&mut first.verdict, &next.verdict) {
        (Verdict::Fail { fix: a }, Verdict::Fail { fix: b })
        | (Verdict::Defer { reason: a }, Verdict::Defer { reason: b }) => join(a, b, "; "),
        _ => {}
    }
}
