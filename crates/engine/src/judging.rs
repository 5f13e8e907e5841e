//! Putting a case before critics, the same way for every protocol that judges: what they are shown (rule
//! 2), in parts where it does not fit (rule 4), between marks (rule 5), with their citations checked (rule
//! 6) and every opinion tied to the call it came from (rule 8). What an opinion leads to is the protocol's.

mod cold;
mod parts;
mod shown;
mod subject;
mod text_review;

pub use cold::ColdCase;
pub use shown::data_endings;
pub use subject::{Piece, Subject};
pub use text_review::JudgedText;

use crate::corpus::Corpus;
use crate::digest::Digest;
use crate::evidence;
use crate::finding::Finding;
use crate::machine::{AgentAnswer, Cx};
use crate::outcome::Outcome;
use crate::reading::Unread;
use crate::reading::person::PersonVerdict;
use crate::reading::quoted::Shown;
use crate::review::{Binding, CallEvidence, Coverage, CoveredFile, Review, Unseen, Verdict};
use crate::tree::{FileContent, Look, Looked};

/// Cited files that are looked up for one reply.
const MOST_LOOKED_UP: usize = 64;

/// Calls one critic's judgement may be split into, unless the settings say otherwise.
pub const PARTS: u32 = 40;

/// A critic's readable reply, in a protocol's own terms.
pub trait Judgement {
    /// What it holds against the work. Unsupported findings are taken out before anything is decided.
    fn findings(&mut self) -> &mut Vec<Finding>;

    /// Would the work pass by this reply alone? Read again after unsupported findings are gone.
    fn passes(&self) -> bool;

    /// What it says in favour of the work, with citations. One that does not hold makes the reply
    /// malformed.
    fn claims(&mut self) -> &mut [Finding] {
        &mut []
    }

    /// Why a reply by which the work would pass proves nothing, now that its claims are checked.
    fn unproven(&self, _corpus: &Corpus) -> Option<Unread> {
        None
    }
}

/// A critic's place on the panel.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Seat {
    pub agent: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback: Option<String>,
    /// What this critic looks at in particular.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lens: Option<String>,
}

/// A reply to be read.
pub struct UnreadReply<'a> {
    pub reply: &'a str,
    /// The verdict, if a person gave it.
    pub person: Option<&'a PersonVerdict>,
    /// The report file, if the critic wrote one.
    pub report: Option<&'a str>,
    pub critic: &'a str,
    /// Whose seat it is: another may have answered for it.
    pub seat: &'a str,
    pub lens: Option<&'a str>,
    /// It saw only a part of the artifact.
    pub partial: bool,
    /// The texts from outside that its brief showed.
    pub shown: &'a Shown,
}

/// One reply, read and checked.
#[derive(Clone, Debug)]
pub struct Opinion<J> {
    pub judgement: J,
    /// Findings whose citations do not hold.
    pub unsupported: Vec<Finding>,
    /// What it says for the work that does not hold and was not needed.
    remarks: Vec<String>,
    pub critic: String,
    prompt: Digest,
    reply: Digest,
    /// A person's verdict, for people.
    rendered: Option<Digest>,
    seen: Vec<CoveredFile>,
}

/// Everything one seat said about the artifact.
#[derive(Clone, Debug)]
pub struct SeatReview<J> {
    pub seat: Seat,
    /// In the order of the parts; never empty.
    pub parts: Vec<Opinion<J>>,
    pub unseen: Vec<Unseen>,
}

/// The critics of one round and what they have said so far.
#[derive(Debug)]
pub struct Panel<J> {
    round: u32,
    corpus: Corpus,
    tree: Option<Digest>,
    seats: Vec<(Seat, Vec<Unseen>)>,
    calls: Vec<Slot<J>>,
    /// Replies whose citations wait for a look.
    waiting: Vec<Cited<J>>,
}

#[derive(Debug)]
struct Cited<J> {
    answer: AgentAnswer,
    judgement: J,
    /// The files it cites that nobody has looked at yet.
    paths: Vec<String>,
}

#[derive(Debug)]
struct Slot<J> {
    seat: usize,
    seen: Vec<CoveredFile>,
    opinion: Option<Opinion<J>>,
}

impl<J> Default for Panel<J> {
    fn default() -> Self {
        Self {
            round: 0,
            corpus: Corpus::default(),
            tree: None,
            seats: Vec::new(),
            calls: Vec::new(),
            waiting: Vec::new(),
        }
    }
}

impl<J: Judgement> Panel<J> {
    /// Calls every seat, in as many parts as its critic needs. If a critic could not be shown anything,
    /// nobody is called and what is unseen comes back.
    pub fn convene(
        &mut self,
        round: u32,
        seats: &[Seat],
        case: &ColdCase<'_>,
        corpus: Corpus,
        cx: &mut Cx<'_>,
    ) -> Result<(), Vec<Unseen>> {
        *self = Self { round, corpus, tree: case.tree, ..Self::default() };
        let mut planned = Vec::new();
        for seat in seats {
            let (parts, mut unseen) = parts::for_critic(case, seat, cx);
            unseen.extend(case.subject.hidden.iter().cloned());
            if parts.is_empty() {
                return Err(unseen);
            }
            self.seats.push((seat.clone(), unseen));
            planned.push(parts);
        }
        for (at, (seat, parts)) in seats.iter().zip(planned).enumerate() {
            let of = parts.len();
            for (part, pieces) in parts.into_iter().enumerate() {
                let tag = u32::try_from(self.calls.len()).unwrap_or(u32::MAX);
                let seen = pieces.iter().map(|p| p.seen(case.subject)).collect();
                self.calls.push(Slot { seat: at, seen, opinion: None });
                let case = ColdCase {
                    part: (of > 1).then_some((part + 1, of)),
                    lens: seat.lens.as_deref(),
                    identity: case.identities.and_then(|all| all.get(&seat.agent)).copied(),
                    rubric: case.rubrics.and_then(|all| all.get(&seat.agent)).copied().unwrap_or(case.rubric),
                    ..*case
                };
                cx.call_judge((&seat.agent, seat.fallback.as_deref()), &case, &pieces, tag);
            }
        }
        Ok(())
    }

    /// What the critics' citations are checked against.
    pub const fn corpus(&self) -> &Corpus {
        &self.corpus
    }

    /// Takes a critic's answer. `read` turns it into the protocol's terms, or says what is wrong with it;
    /// then the critic is asked to restate. Once everyone has been heard, all opinions come back.
    pub fn heard(
        &mut self,
        answer: AgentAnswer,
        cx: &mut Cx<'_>,
        read: impl FnOnce(&UnreadReply<'_>) -> Result<J, Unread>,
    ) -> Option<Vec<SeatReview<J>>> {
        let slot = self.calls.get(answer.tag() as usize).filter(|s| s.opinion.is_none())?;
        let (seat, unseen) = self.seats.get(slot.seat)?;
        let of_seat = self.calls.iter().filter(|s| s.seat == slot.seat).count();
        let shown = cx.shown(&answer);
        let person = cx.person_verdict(&answer);
        let reading = UnreadReply {
            reply: cx.text(&answer.text),
            person: person.as_ref(),
            report: answer.report.as_ref().map(|d| cx.text(d)),
            critic: answer.agent(),
            seat: &seat.agent,
            lens: seat.lens.as_deref(),
            partial: of_seat > 1 || !unseen.is_empty(),
            shown: &shown,
        };
        let read = cx.no_value(&answer).map_or_else(|| read(&reading), Err);
        let mut judgement = match read {
            Ok(judgement) => judgement,
            Err(problem) => {
                cx.malformed(answer, self.round, &problem);
                return None;
            }
        };
        for finding in judgement.findings().iter_mut() {
            finding.lens.clone_from(&seat.lens);
        }
        let mut unknown = evidence::unknown_paths(judgement.findings(), &self.corpus);
        unknown.extend(evidence::unknown_paths(judgement.claims(), &self.corpus));
        unknown.sort();
        unknown.dedup();
        unknown.truncate(MOST_LOOKED_UP);
        if self.tree.is_some() && !unknown.is_empty() {
            cx.look(Look { tree: self.tree, paths: unknown.clone() });
            self.waiting.push(Cited { answer, judgement, paths: unknown });
            return None;
        }
        self.weigh(answer, judgement, cx)
    }

    /// Takes a look at files that critics cited.
    pub fn looked(&mut self, looked: &Looked, cx: &mut Cx<'_>) -> Option<Vec<SeatReview<J>>> {
        for file in &looked.files {
            match file.what {
                FileContent::Text(text) => self.corpus.insert(&file.path, cx.text(&text)),
                FileContent::Opaque => self.corpus.insert_opaque(&file.path),
                FileContent::Missing => self.corpus.insert_absent(&file.path),
            }
        }
        let mut done = None;
        for waiting in std::mem::take(&mut self.waiting) {
            if waiting.paths.iter().all(|p| self.corpus.knows(p)) {
                done = self.weigh(waiting.answer, waiting.judgement, cx).or(done);
            } else {
                self.waiting.push(waiting);
            }
        }
        done
    }

    /// Rule 6: what cites something that is not there decides nothing, and never approves.
    fn weigh(
        &mut self,
        answer: AgentAnswer,
        mut judgement: J,
        cx: &mut Cx<'_>,
    ) -> Option<Vec<SeatReview<J>>> {
        let passed = judgement.passes();
        evidence::check(judgement.claims(), &self.corpus);
        let mut false_claims: Vec<String> = if passed { unheld(judgement.claims()) } else { Vec::new() };
        false_claims.sort();
        false_claims.dedup();
        if !false_claims.is_empty() {
            let problem = format!("evidence that does not hold: {}", false_claims.join("; "));
            cx.malformed(answer, self.round, &Unread::new(problem));
            return None;
        }
        let mut remarks: Vec<String> = judgement.claims().iter().filter_map(complaint).collect();
        remarks.sort();
        remarks.dedup();
        if passed && let Some(unproven) = judgement.unproven(&self.corpus) {
            cx.malformed(answer, self.round, &unproven);
            return None;
        }
        evidence::check(judgement.findings(), &self.corpus);
        let all = std::mem::take(judgement.findings());
        let (supported, unsupported): (Vec<_>, Vec<_>) = all.into_iter().partition(Finding::is_supported);
        *judgement.findings() = supported;
        if !passed && judgement.passes() {
            let wrong: Vec<String> = unsupported.iter().filter_map(complaint).collect();
            let problem = format!(
                "nothing would be left of the rejection, because what it cites does not hold: {}",
                wrong.join("; ")
            );
            cx.malformed(answer, self.round, &Unread::new(problem));
            return None;
        }
        let opinion = Opinion {
            judgement,
            unsupported,
            remarks,
            critic: answer.agent().to_owned(),
            prompt: cx.prompt_digest(&answer),
            reply: answer.text,
            rendered: cx.person_verdict(&answer).map(|person| cx.intern(person.rendered())),
            seen: Vec::new(),
        };
        let slot = self.calls.get_mut(answer.tag() as usize)?;
        slot.opinion = Some(Opinion { seen: std::mem::take(&mut slot.seen), ..opinion });
        self.everyone()
    }

    fn everyone(&mut self) -> Option<Vec<SeatReview<J>>> {
        if self.calls.iter().any(|s| s.opinion.is_none()) {
            return None;
        }
        let mut all: Vec<SeatReview<J>> = std::mem::take(&mut self.seats)
            .into_iter()
            .map(|(seat, unseen)| SeatReview { seat, parts: Vec::new(), unseen })
            .collect();
        for slot in std::mem::take(&mut self.calls) {
            if let (Some(heard), Some(opinion)) = (all.get_mut(slot.seat), slot.opinion) {
                heard.parts.push(opinion);
            }
        }
        Some(all)
    }
}

impl<J> SeatReview<J> {
    /// The critic that answered: the fallback, if it had to.
    pub fn critic(&self) -> &str {
        self.parts.first().map_or(&self.seat.agent, |p| &p.critic)
    }

    /// What it said first.
    pub fn reply(&self) -> Digest {
        self.parts.first().map_or_else(|| Digest::of(b""), |part| part.reply)
    }

    /// A review bound to what was judged and by whom. The protocol adds its findings, criteria or score.
    pub fn review(&self, round: u32, artifact: Digest, rubric: Digest, verdict: Verdict) -> Review {
        let calls = |p: &Opinion<J>| CallEvidence { prompt: p.prompt, reply: p.reply };
        let first = self.parts.first().map_or(CallEvidence { prompt: rubric, reply: rubric }, calls);
        Review {
            binding: Binding {
                round,
                artifact,
                critic: self.critic().to_owned(),
                lens: self.seat.lens.clone(),
                rubric,
            },
            verdict,
            open: Vec::new(),
            addressed: Vec::new(),
            reason: String::new(),
            rendered: self.parts.first().and_then(|part| part.rendered),
            notes: Vec::new(),
            deviations: self.parts.iter().flat_map(|p| p.remarks.clone()).collect(),
            coverage: Coverage {
                entries: self.parts.iter().flat_map(|p| p.seen.clone()).collect(),
                unseen: self.unseen.clone(),
            },
            prompt: first.prompt,
            reply: first.reply,
            more_calls: self.parts.iter().skip(1).map(calls).collect(),
            findings: Vec::new(),
            fixed: Vec::new(),
            criteria: Vec::new(),
            score: None,
        }
    }
}

/// Rule 4: what nobody saw is not clean.
pub fn unverified(unseen: &[Unseen]) -> Outcome {
    let named: Vec<String> = unseen.iter().map(|u| u.what.clone()).collect();
    let because = unseen.first().map_or("", |u| u.because.as_str());
    Outcome::Unverified {
        reason: format!("no critic saw {}: {because}", crate::brief::some_of(&named)),
        draft: None,
        unseen: named,
    }
}

/// What is said for the work and does not hold. A wrong quote beside a place that exists is a paraphrase, not a lie.
fn unheld(claims: &[Finding]) -> Vec<String> {
    let holds = |rule: &str, criterion: &Option<String>| {
        let same = |c: &&Finding| c.rule == rule && c.criterion == *criterion;
        claims.iter().filter(same).any(|c| c.is_supported() && c.place.is_some() && c.quote.is_none())
    };
    let counts = |c: &&Finding| c.place.is_some() && c.quote.is_none() || !holds(&c.rule, &c.criterion);
    claims.iter().filter(counts).filter_map(complaint).collect()
}

fn complaint(finding: &Finding) -> Option<String> {
    let why = finding.unsupported.as_ref()?;
    Some(format!("{} ({why})", crate::brief::one_line(&finding.says)))
}

#[cfg(test)]
mod tests;
