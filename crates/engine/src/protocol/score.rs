//! `score`: a critic deducts points by a rubric, the engine adds them up; too few points send the work
//! back, at most three times, then someone else decides and the worker starts afresh, once.
//!
//! Only the decisions are here. Reports are read in `reading::score`, added up in `judgement` and `deduction`; what
//! earlier rounds held against the work is `history`; calling critics and checking what they cite is
//! `judging`; identity across rounds is `identity`.

mod briefs;
pub mod files;
mod history;
mod inputs;
mod judgement;
mod report;
pub mod settings;
mod working;

use std::collections::{BTreeMap, BTreeSet};

use crate::budget::Usage;
use crate::corpus::Corpus;
use crate::deduction::{DeductionTable, shown_severity};
use crate::digest::Digest;
use crate::effect::{CallFailure, EffectId, FailureKind};
use crate::event::EventKind;
use crate::finding::Finding;
use crate::identity::{Lineage, Moved};
use crate::judging::{self, ColdCase, Panel, Piece, SeatReview, UnreadReply};
use crate::machine::{AgentAnswer, Cx, TaskResult};
use crate::manifest::RunManifest;
use crate::outcome::{Halt, Outcome};
use crate::plan::{NodePlan, Target};
use crate::protocol::{PairResult, Protocol, RuleBook};
use crate::question::{Picked, Question};
use crate::reading::reasoning;
use crate::review::{self, Unseen, Verdict, open_items};
use crate::text::Texts;
use crate::tool::ToolUse;
use crate::turn::Role;
use crate::work::Work;

use briefs::{GIVE_UP, WorkerTask, question};
use history::History;
use judgement::{Bases, Scored, Tallied};
use settings::{EscalateTo, ScoreSettings};
use working::FolderWork;

/// Version 2 of the rules: replies are read in `reading`.
pub const RULE_BOOK: RuleBook = RuleBook { name: "score", version: 2, begin, manifest };

/// The form of a critic's JSON report.
pub const SCHEMA: &str = include_str!("score/schema.json");

const CRITIC: &str = include_str!("../prompts/score-critic-1.md");
const FORM: &str = include_str!("../prompts/score-form-1.md");
const CRITIC_ROWS: &str = include_str!("../prompts/score-critic-rows-1.md");
const CRITIC_STATED: &str = include_str!("../prompts/score-critic-stated-1.md");
/// Rounds of one attempt from which a stall may end it: fewer show nothing.
const ROUNDS_OF_A_STALL: u32 = 3;

fn manifest(plan: &NodePlan) -> Result<RunManifest, String> {
    const WORK: &[&str] = &["task", "given", "worker", "out"];
    Ok(ScoreSettings::read(plan)?.manifest().ruled_by(plan, WORK))
}

fn begin(plan: &NodePlan) -> Result<Box<dyn Protocol>, String> {
    let settings = ScoreSettings::read(plan)?;
    let bases = Bases::of_settings(&settings);
    let ground = settings.files.as_ref().map(|_| FolderWork::default());
    Ok(Box::new(ScoreProtocol {
        limit: if settings.worker.is_some() { settings.rounds } else { 1 },
        bases,
        settings,
        rubric: None,
        own_rubrics: BTreeMap::new(),
        round: 0,
        attempt: RoundSeries::default(),
        work: None,
        panel: Panel::default(),
        lineage: Lineage::default(),
        before: None,
        history: History::default(),
        open: Vec::new(),
        question: None,
        ground,
    }))
}

struct ScoreProtocol {
    settings: ScoreSettings,
    bases: Bases,
    /// Rounds of one attempt.
    limit: u32,
    /// The rubric as worker and critic read it.
    rubric: Option<Digest>,
    /// Those of critics that judge by another one, as they read them.
    own_rubrics: BTreeMap<String, Digest>,
    /// Counts through both attempts.
    round: u32,
    attempt: RoundSeries,
    work: Option<Work>,
    panel: Panel<Scored>,
    lineage: Lineage,
    /// The work of the round before, as evidence is checked against it.
    before: Option<Corpus>,
    history: History,
    /// What the last round left to mend, for whoever decides that it stays so.
    open: Vec<String>,
    /// What a person is being asked.
    question: Option<Question>,
    /// The folder of a pair that works on files.
    ground: Option<FolderWork>,
}

/// Rounds up to an escalation, and those after it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct RoundSeries {
    escalated: bool,
    /// Rounds so far.
    rounds: u32,
}

impl Protocol for ScoreProtocol {
    fn start(&mut self, cx: &mut Cx<'_>) {
        self.rubric = Some(self.rubric_text(cx));
        self.own_rubrics = self.own_rubric_texts(cx);
        if self.ground.is_some() {
            return self.set_out(cx);
        }
        self.begin_round(cx);
        match self.settings.given.clone() {
            Some(given) => self.judge(given, true, cx),
            None => self.call_worker(&WorkerTask::Draft, cx),
        }
    }

    fn answered(&mut self, answer: AgentAnswer, cx: &mut Cx<'_>) {
        match answer.role() {
            Role::Worker if self.ground.is_some() => self.worked(answer, cx),
            Role::Worker => match Work::drafted(&answer, cx) {
                Ok(work) => self.judge(work, false, cx),
                Err(failure) => cx.unusable(answer, failure),
            },
            Role::Critic => {
                let bases = &self.bases;
                let read = |reading: &UnreadReply<'_>| Scored::read(reading, bases.of(reading.seat));
                let heard = self.panel.heard(answer, cx, read);
                self.heard(heard, cx);
            }
            Role::Advisor => self.advised(answer, cx),
        }
    }

    fn task_done(&mut self, _effect: &EffectId, what: TaskResult, cx: &mut Cx<'_>) {
        if self.learned_of_folder(&what, cx) {
            return;
        }
        match what {
            TaskResult::Looked(looked) => {
                let heard = self.panel.looked(&looked, cx);
                self.heard(heard, cx);
            }
            TaskResult::Said { text, by } => self.told(text, &by, cx),
            _ => {}
        }
    }

    /// Parked because something was unseen or uncertain: the same work is judged again.
    fn resumed(&mut self, cx: &mut Cx<'_>) {
        if let Some(work) = self.work.clone() {
            self.convene(&work, cx);
        }
    }

    fn lost(&mut self, effect: &EffectId, tool: ToolUse, cx: &mut Cx<'_>) {
        // Its folder is put back first, so that writing again is writing once.
        cx.tool_again(tool, effect);
    }

    fn result(&self, _texts: &Texts) -> Option<PairResult> {
        self.pair_result()
    }

    fn raise_rounds(&mut self, rounds: u32) {
        if self.settings.worker.is_some() {
            self.limit = self.limit.max(rounds);
        }
    }

    fn draft(&self) -> Option<Digest> {
        self.work.as_ref().map(Work::blob)
    }

    fn target(&self) -> Option<Target> {
        // A review names the file it judges and writes none.
        self.settings.out.clone().filter(|_| self.settings.worker.is_some())
    }

    fn material(&self) -> Vec<Digest> {
        self.settings.material()
    }
}

impl ScoreProtocol {
    /// The user's words, then the rows with the ids a critic has to cite.
    fn rubric_text(&self, cx: &mut Cx<'_>) -> Digest {
        self.with_rows(self.settings.rubric, self.settings.table.as_ref(), cx)
    }

    fn with_rows(&self, rubric: Digest, table: Option<&DeductionTable>, cx: &mut Cx<'_>) -> Digest {
        let Some(table) = table else { return rubric };
        let words = cx.text(&rubric).trim_end();
        let text = format!("{words}\n\nRows:\n{}", table.shown(self.settings.severity));
        cx.intern(text)
    }

    fn rubric(&self) -> Digest {
        self.rubric.unwrap_or(self.settings.rubric)
    }

    fn begin_round(&mut self, cx: &mut Cx<'_>) {
        self.round += 1;
        self.attempt.rounds += 1;
        let of = self.round - self.attempt.rounds + self.limit;
        cx.emit(EventKind::RoundStarted { round: self.round, of });
    }

    fn judge(&mut self, work: Work, given: bool, cx: &mut Cx<'_>) {
        work.announce(self.round, given, cx);
        if let Work::Draft(draft) = &work
            && !given
            && let Some(line) = crate::reading::score::stated_line(cx.text(draft))
        {
            cx.emit(EventKind::SelfVerdictNoted { round: self.round, line });
        }
        self.convene(&work, cx);
        self.work = Some(work);
    }

    /// Puts the work before the critics, cold: nothing here tells a round, or what was said before.
    fn convene(&mut self, work: &Work, cx: &mut Cx<'_>) {
        let mut subject = work.subject(cx.texts());
        let unjudged = self.settings.files.as_ref().map_or(&[][..], |files| &files.unjudged);
        let is_left_out = |path: &str| unjudged.iter().any(|pattern| pattern.matches(path));
        let (left_out, pieces) = subject.pieces.into_iter().partition(|piece| is_left_out(&piece.path));
        subject.pieces = pieces;
        subject.hidden.retain(|hidden| !is_left_out(&hidden.what));
        subject.noted.retain(|noted| !is_left_out(&noted.what));
        subject.without_pieces_nothing_is_judged();
        if subject.pieces.is_empty() && subject.hidden.is_empty() {
            // Whoever is shown nothing finds nothing wrong with it.
            return cx.park(judging::unverified(&nothing_shown(left_out)));
        }
        let evidence = self.evidence(Self::told_of_noted(&subject, cx), cx);
        let identities = self.settings.files.as_ref().map(|files| &files.critics);
        let by_rows: &[&'static str] = &[CRITIC, CRITIC_ROWS];
        let by_number: &[&'static str] = &[CRITIC, CRITIC_STATED];
        let case = ColdCase {
            instructions: if self.settings.table.is_some() { by_rows } else { by_number },
            severity: Some(&shown_severity(self.settings.severity, None)),
            identities,
            identity: None,
            lens: None,
            task: None,
            rubric: self.rubric(),
            rubrics: Some(&self.own_rubrics),
            references: &self.shown_beside(cx),
            evidence: &evidence,
            subject: &subject,
            tree: None,
            schema: Some(SCHEMA),
            report: None,
            form: FORM,
            structured: None,
            passes_at: Some(self.settings.threshold),
            max_parts: self.settings.max_parts,
            part: None,
        };
        let corpus = self.with_inputs(work.corpus(cx.texts()), cx);
        if let Err(unseen) = self.panel.convene(self.round, &self.settings.critics, &case, corpus, cx) {
            cx.park(judging::unverified(&unseen));
        }
    }

    /// Pictures and long tables: the critics are told what they do not see, and so is the record.
    fn told_of_noted(subject: &judging::Subject, cx: &mut Cx<'_>) -> Option<crate::brief::Reference> {
        let told = subject.told_of_noted()?;
        cx.emit(EventKind::Warned { message: format!("not shown whole: {}", told.replace('\n', "; ")) });
        let name = "files that are not shown, or not shown whole; deduct nothing for that".to_owned();
        Some(crate::brief::Reference { name, text: cx.intern(told) })
    }

    fn heard(&mut self, heard: Option<Vec<SeatReview<Scored>>>, cx: &mut Cx<'_>) {
        let (Some(heard), Some(work)) = (heard, self.work.clone()) else { return };
        // Added up before duplicates are merged: a point that two critics share costs each of them its own.
        let mut seats: Vec<(SeatReview<Scored>, Tallied)> = heard
            .into_iter()
            .map(|heard| (self.bases.of(&heard.seat.agent).tally(&heard), heard))
            .map(|(t, h)| (h, t))
            .collect();
        let corpus = self.panel.corpus().clone();
        let mut findings: Vec<Finding> = seats.iter().flat_map(|(_, t)| t.findings.clone()).collect();
        let (round, artifact) = (self.round, work.artifact());
        let mut lineage = self.lineage.clone();
        let mut moved = lineage.take(round, artifact, &mut findings, &corpus, self.before.as_ref());
        findings.append(&mut moved.merged);
        for (heard, tallied) in &mut seats {
            tallied.findings = findings.iter().filter(|f| f.lens == heard.seat.lens).cloned().collect();
        }
        if !moved.stalls.is_empty() && seats.iter().any(|(_, t)| !t.passes()) {
            cx.emit(EventKind::Stalled { round, stalls: moved.stalls.clone() });
        }
        for (heard, tallied) in &seats {
            self.record(heard, tallied, &moved, artifact, cx);
        }
        if let Some(unverified) = unverified(&seats) {
            // The same work is judged again: this judgement is no round of its own.
            return cx.park(unverified);
        }
        (self.lineage, self.before) = (lineage, Some(corpus));
        let scores = seats.iter().map(|(_, t)| t.sheet.score).collect();
        self.history.note(round, scores, &findings);
        self.decide(&seats, &moved, &work, cx);
    }

    fn record(
        &self,
        heard: &SeatReview<Scored>,
        tallied: &Tallied,
        moved: &Moved,
        artifact: Digest,
        cx: &mut Cx<'_>,
    ) {
        let verdict = if !tallied.passes() {
            Verdict::Rejected
        } else if heard.unseen.is_empty() && !tallied.passes_by_bad_citations {
            Verdict::Approved
        } else {
            Verdict::Unverified
        };
        let mut review = heard.review(self.round, artifact, self.rubric_of(&heard.seat.agent), verdict);
        if verdict == Verdict::Rejected {
            review.open = open_items(&tallied.findings);
        }
        review.findings = tallied.findings.iter().chain(&tallied.unsupported).cloned().collect();
        review.fixed = self.history.raised_through(heard.seat.lens.as_deref(), &moved.fixed);
        review.notes.clone_from(&tallied.notes);
        review.deviations.extend(tallied.deviations.iter().cloned());
        if verdict == Verdict::Approved {
            review.reason = reason(tallied);
        }
        review.score = Some(tallied.score());
        cx.emit(EventKind::Reviewed { round: self.round, review });
    }

    fn decide(
        &mut self,
        seats: &[(SeatReview<Scored>, Tallied)],
        moved: &Moved,
        work: &Work,
        cx: &mut Cx<'_>,
    ) {
        let failing: Vec<&(SeatReview<Scored>, Tallied)> =
            seats.iter().filter(|(_, t)| !t.passes()).collect();
        let scores = shown_scores(seats);
        let mut known = BTreeSet::new();
        let open = failing.iter().flat_map(|(_, t)| &t.findings).filter(|f| known.insert(f.number));
        let open: Vec<Finding> = open.cloned().collect();
        self.open = open.iter().map(Finding::line).collect();
        let left = seats.iter().flat_map(|(_, tallied)| tallied.findings.iter().map(Finding::line)).collect();
        self.note_verdict(seats, left);
        let both_fail = seats.len() > 1 && failing.len() == seats.len();
        let stall = moved.stall().filter(|_| self.settings.stop_early);
        let stall = stall.filter(|_| self.attempt.rounds >= ROUNDS_OF_A_STALL);
        let spent = self.attempt.rounds >= self.limit;
        let draft = work.blob();
        self.end_round(&scores, failing.is_empty(), cx);

        if failing.is_empty() {
            return self.approve(seats, work, cx);
        }
        if self.settings.worker.is_none() {
            cx.emit(EventKind::Summarised { line: self.summary("⚠", &scores) });
            return self.end_judge(Outcome::Rejected { draft: Some(draft), open: self.open.clone() }, cx);
        }
        match stall {
            Some(stall) => self.halt(stall.halt(), &scores, cx),
            None if self.attempt.escalated && spent => self.halt(Halt::Cap, &scores, cx),
            None if !self.settings.escalates && spent => self.halt(Halt::Cap, &scores, cx),
            None if self.settings.escalates && !self.attempt.escalated && (spent || both_fail) => {
                self.escalate(both_fail, &scores, cx);
            }
            None => {
                self.begin_round(cx);
                self.call_worker(&WorkerTask::Revision { draft, findings: &open, scores: &scores }, cx);
            }
        }
    }

    fn approve(&mut self, seats: &[(SeatReview<Scored>, Tallied)], work: &Work, cx: &mut Cx<'_>) {
        let findings = seats.iter().flat_map(|(_, t)| t.findings.iter().map(Finding::line));
        let notes = findings.chain(seats.iter().flat_map(|(_, t)| t.notes.clone())).collect();
        cx.emit(EventKind::Summarised { line: self.summary("✓", &shown_scores(seats)) });
        let approved = Outcome::Approved { draft: work.blob(), overruled: false, notes };
        match (&self.ground, &self.settings.worker) {
            (Some(_), Some(_)) => self.verify(0, cx),
            (Some(_), None) => self.end_judge(approved, cx),
            (None, _) => cx.finish(approved),
        }
    }

    fn halt(&self, reason: Halt, scores: &str, cx: &mut Cx<'_>) {
        cx.emit(EventKind::Summarised { line: self.summary("⚠", scores) });
        let draft = self.work.as_ref().map(Work::blob);
        cx.finish(Outcome::Halted { reason, draft, open: self.open.clone() });
    }

    fn end_round(&self, scores: &str, passes: bool, cx: &mut Cx<'_>) {
        let result = if passes { "at least" } else { "below" };
        let line = format!("Score {scores}: {result} {}", self.settings.threshold);
        cx.emit(EventKind::RoundEnded { round: self.round, line });
    }

    fn summary(&self, fence: &str, scores: &str) -> String {
        let rounds = if self.round == 1 { "round" } else { "rounds" };
        let escalated = if self.attempt.escalated { ", escalated once" } else { "" };
        let needed = self.settings.threshold;
        format!("{fence} Score {scores} of 100, {needed} needed ({} {rounds}{escalated})", self.round)
    }

    /// The pair does not converge by itself: someone else decides.
    fn escalate(&mut self, both_fail: bool, scores: &str, cx: &mut Cx<'_>) {
        if let Some(ground) = &mut self.ground {
            ground.escalated_after = Some(self.round);
        }
        let needed = self.settings.threshold;
        let because = if both_fail {
            format!("both critics score below {needed}: {scores}")
        } else {
            let word = if self.round == 1 { "round" } else { "rounds" };
            format!("{} {word} did not reach {needed}: {}", self.round, self.history.scores())
        };
        let target = self.settings.escalate_to.clone();
        let to = match &target {
            EscalateTo::Agent(name) => name.clone(),
            EscalateTo::Orchestrator => "orchestrator".to_owned(),
            EscalateTo::User => "user".to_owned(),
        };
        cx.emit(EventKind::Escalated { round: self.round, to, because: because.clone() });
        match target {
            EscalateTo::Agent(name) => self.ask_agent(&name, &because, cx),
            EscalateTo::Orchestrator => self.start_afresh(&WorkerTask::Restructure, cx),
            EscalateTo::User => {
                let question = self.question.insert(question(&because, &self.history)).clone();
                cx.ask(question);
            }
        }
    }

    fn advised(&mut self, answer: AgentAnswer, cx: &mut Cx<'_>) {
        let decision = reasoning::without_leading(cx.text(&answer.text)).trim().to_owned();
        if decision.is_empty() {
            let message = "the reply holds no decision".to_owned();
            let failure = CallFailure { kind: FailureKind::BadReply, message, usage: Usage::default() };
            return cx.unusable(answer, failure);
        }
        let by = answer.agent().to_owned();
        self.decided(by, decision, cx);
    }

    fn told(&mut self, text: Digest, by: &str, cx: &mut Cx<'_>) {
        let Some(question) = self.question.take() else { return };
        match question.pick(cx.text(&text)) {
            Picked::Choice { word: GIVE_UP, .. } => {
                let scores = self.history.last_scores();
                self.halt(Halt::Cap, &scores, cx);
            }
            Picked::Choice { .. } => self.start_afresh(&WorkerTask::Restructure, cx),
            Picked::Free(decision) => self.decided(by.to_owned(), decision, cx),
            // Such answers do not get here; asked again, none is lost.
            Picked::Neither(_) => {
                let question = self.question.insert(question.clone()).clone();
                cx.ask(question);
            }
        }
    }

    fn decided(&mut self, by: String, decision: String, cx: &mut Cx<'_>) {
        let decision = cx.intern(decision);
        cx.emit(EventKind::Decided { by, text: decision });
        self.start_afresh(&WorkerTask::Fresh { decision }, cx);
    }

    /// Not from the last attempt, with a new counter, once.
    fn start_afresh(&mut self, call: &WorkerTask<'_>, cx: &mut Cx<'_>) {
        self.attempt = RoundSeries { escalated: true, rounds: 0 };
        self.begin_round(cx);
        self.call_worker(call, cx);
    }
}

/// Rules 4 and 6: nothing passes that was not seen, and nothing by a citation that does not hold.
fn unverified(seats: &[(SeatReview<Scored>, Tallied)]) -> Option<Outcome> {
    if seats.iter().any(|(_, tallied)| !tallied.passes()) {
        return None;
    }
    let unseen: Vec<Unseen> = seats.iter().flat_map(|(heard, _)| heard.unseen.clone()).collect();
    if !unseen.is_empty() {
        return Some(judging::unverified(&unseen));
    }
    let (heard, _) = seats.iter().find(|(_, tallied)| tallied.passes_by_bad_citations)?;
    let reason = format!(
        "what {} cites does not hold in part, and without those deductions the score would pass",
        heard.critic()
    );
    Some(Outcome::Unverified { reason, draft: None, unseen: Vec::new() })
}

/// Why it passes: what the critic notes, or what the sum comes to.
fn reason(tallied: &Tallied) -> String {
    let said = review::reason(&tallied.notes);
    match tallied.sheet.score {
        _ if !said.is_empty() => said,
        score if !tallied.score().computed => format!("the critic states {score} points"),
        _ if tallied.findings.is_empty() => "nothing was deducted".to_owned(),
        score => format!("what was deducted leaves {score} points"),
    }
}

/// The primary's score, and the second critic's beside it.
fn shown_scores(seats: &[(SeatReview<Scored>, Tallied)]) -> String {
    let one = |(heard, tallied): &(SeatReview<Scored>, Tallied)| {
        let score = tallied.sheet.score;
        let stated = if tallied.score().computed { "" } else { " (stated)" };
        match (&heard.seat.lens, seats.len()) {
            (Some(lens), 2..) => format!("{score}{stated} by {} ({lens})", heard.critic()),
            (None, 2..) => format!("{score}{stated} by {}", heard.critic()),
            _ => format!("{score}{stated}"),
        }
    };
    seats.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// Why there is nothing that a critic could be shown.
fn nothing_shown(left_out: Vec<Piece>) -> Vec<Unseen> {
    let because = "`unjudged` in [project] leaves out all that there is to judge";
    if left_out.is_empty() {
        return vec![Unseen { what: "any file".to_owned(), because: "there is none to judge".to_owned() }];
    }
    left_out.into_iter().map(|piece| Unseen { what: piece.path, because: because.to_owned() }).collect()
}

#[cfg(test)]
mod tests;
