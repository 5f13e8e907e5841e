//! Judges what `lines` gathered: is every criterion answered, once and with substance?

use super::super::escalation::{Choice, Escalation, SKIP, Trigger};
use super::super::sets::{ADVERSARIAL, Criterion};
use super::lines::{Entry, Gathered, MOST_OPTIONS, Subject};
use super::phrases::{
    Word, answer_part, choice, clean, fix_after_fail, inline_answer, is_skip, out_of_brackets, says_nothing,
    separated, strip_either, strip_label, word,
};
use super::quantity::has_quantity;
use super::{Breach, Claim, Judged, PassReply, Scenario, Verdict};

pub(super) fn judge(
    gathered: &Gathered,
    criteria: &[Criterion],
    pass: u32,
) -> Result<PassReply, Vec<Breach>> {
    if gathered.headers > 1 {
        // Two reviews contradict and repeat each other in every line: what else is wrong says nothing.
        return Err(vec![Breach::ManyHeaders { pass, times: gathered.headers }]);
    }
    let mut judge = Judge { criteria, breaches: Vec::new(), deviations: Vec::new() };
    if gathered.pass != Some(pass) {
        judge.breach(Breach::OtherPass { pass });
    }
    if gathered.too_many {
        judge.breach(Breach::TooMany);
    }
    if gathered.nameless_blocks > 0 {
        judge.breach(Breach::NamelessBlock);
    }
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
    let scenario = judge.scenario(&gathered.entries);
    let Judge { breaches, deviations, .. } = judge;
    let answers: Option<Vec<Judged>> = answers.into_iter().collect();
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
    criteria: &'a [Criterion],
    breaches: Vec<Breach>,
    deviations: Vec<String>,
}

impl Judge<'_> {
    fn breach(&mut self, breach: Breach) {
        if !self.breaches.contains(&breach) {
            self.breaches.push(breach);
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

    fn answer(&mut self, criterion: &Criterion, entry: &Entry, blocks: &[&Entry]) -> Option<Judged> {
        let name = &criterion.name;
        let (word, tail) = self.verdict_line(name, entry)?;
        let rationale = clean(answer_part(&entry.said, &criterion.question));
        let verdict = match word {
            Word::Pass => {
                let whole = clean(&format!("{rationale} {tail}"));
                return self.passed(name, whole);
            }
            Word::Fail => Verdict::Fail { fix: self.substance(tail, Breach::NoFix(name.clone()))? },
            Word::Defer => Verdict::Defer { reason: self.substance(tail, Breach::NoReason(name.clone()))? },
            Word::Escalate => Verdict::Escalate(Box::new(self.escalation(name, blocks)?)),
        };
        Some(Judged { criterion: name.clone(), rationale, verdict })
    }

    fn passed(&mut self, name: &str, rationale: String) -> Option<Judged> {
        if says_nothing(&rationale) || rationale.eq_ignore_ascii_case("pass") {
            self.breach(Breach::BarePass(name.to_owned()));
            return None;
        }
        if !has_quantity(&rationale) {
            self.breach(Breach::NoQuantity(name.to_owned()));
            return None;
        }
        Some(Judged { criterion: name.to_owned(), rationale, verdict: Verdict::Pass })
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

    fn options(&mut self, name: &str, block: &Entry) -> (Vec<Choice>, String) {
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

    fn scenario(&mut self, entries: &[Entry]) -> Option<Scenario> {
        let mut mine = entries.iter().filter(|e| e.subject == Subject::Adversarial);
        let Some(entry) = mine.next() else {
            self.breach(Breach::NoScenario);
            return None;
        };
        let (said, weighed) = match (entry.realistic.as_slice(), inline_answer(&entry.said)) {
            ([], Some((said, weighed))) => (said, Some(weighed)),
            ([], None) => (entry.said.as_str(), None),
            ([one], None) => (entry.said.as_str(), Some(one.as_str())),
            _ => {
                self.breach(Breach::WeighedTwice);
                return None;
            }
        };
        let label = "failure scenario";
        let labels = said.lines().filter(|l| strip_label(l, label).is_some()).count();
        if mine.next().is_some() || labels > 1 {
            self.breach(Breach::TwoScenarios);
            return None;
        }
        let says = clean(strip_label(said, label).unwrap_or(said));
        if says_nothing(&says) {
            self.breach(Breach::EmptyScenario);
        }
        let Some(weighed) = weighed else {
            self.breach(Breach::NotWeighed);
            return None;
        };
        self.weigh(says, weighed, entry)
    }

    fn weigh(&mut self, says: String, weighed: &str, entry: &Entry) -> Option<Scenario> {
        let verdict =
            if entry.verdicts.is_empty() { None } else { Some(self.verdict_line(ADVERSARIAL, entry)?) };
        let yes = strip_either(weighed, &["YES", "Y"]);
        let no = strip_either(weighed, &["NO", "N"]);
        let failed = |text: &str| strip_either(separated(text), &["FAIL"]).map(fix_after_fail);
        match (yes, no, verdict) {
            (Some(rest), _, verdict) => {
                let fix = match verdict {
                    Some((Word::Fail, tail)) if says_nothing(&tail) => failed(rest),
                    Some((Word::Fail, tail)) => Some(tail),
                    Some(_) => None,
                    None => failed(rest),
                };
                let Some(fix) = fix else {
                    self.breach(Breach::RealisticNotFailed);
                    return None;
                };
                let fix = self.substance(fix, Breach::NoFix(ADVERSARIAL.to_owned()))?;
                Some(Scenario { says, fix: Some(fix), rationale: String::new() })
            }
            (None, Some(rest), None | Some((Word::Pass, _))) if failed(rest).is_none() => {
                let rationale = clean(separated(rest));
                if !has_quantity(&rationale) {
                    self.breach(Breach::UnrealisticUncounted);
                    return None;
                }
                Some(Scenario { says, fix: None, rationale })
            }
            (None, Some(_), _) => {
                self.breach(Breach::UnrealisticFailed);
                None
            }
            (None, None, _) => {
                self.breach(Breach::NotWeighed);
                None
            }
        }
    }
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
