//! What workers, advisors and people are told in `score`. Critics' briefs are `judging`'s: nothing of this
//! reaches them.

use super::ScoreProtocol;
use super::files::{PairFiles, WorkerOutput};
use super::history::History;
use crate::artifact::ArtifactFile;
use crate::blocks::Blocks;
use crate::brief::one_line;
use crate::digest::Digest;
use crate::finding::{Finding, FindingStatus};
use crate::machine::{Cx, WorkerCall};
use crate::question::{About, Choice, Question};
use crate::work::Work;

const WORKER_DRAFT: &str = include_str!("../../prompts/score-worker-draft-1.md");
const WORKER_REVISION: &str = include_str!("../../prompts/score-worker-revision-1.md");
const WORKER_FRESH: &str = include_str!("../../prompts/score-worker-fresh-1.md");
const WORKER_RESTRUCTURE: &str = include_str!("../../prompts/score-worker-restructure-1.md");
const WORKER_FILES: &str = include_str!("../../prompts/score-worker-files-1.md");
const WORKER_REPLY: &str = include_str!("../../prompts/score-worker-reply-1.md");
const ADVISOR: &str = include_str!("../../prompts/score-advisor-1.md");

pub(super) const RESTRUCTURE: &str = "restructure";
pub(super) const GIVE_UP: &str = "give-up";

/// What a worker is called for.
pub(super) enum WorkerTask<'a> {
    Draft,
    Revision {
        draft: Digest,
        findings: &'a [Finding],
        scores: &'a str,
    },
    /// Afresh from a decision.
    Fresh {
        decision: Digest,
    },
    /// Afresh with all that was found.
    Restructure,
    /// What a program found missing.
    Complete {
        gaps: &'a [String],
    },
    /// What a verify command found.
    Fix {
        command: &'a str,
        output: Option<Digest>,
    },
}

impl WorkerTask<'_> {
    /// It begins with nothing of what was done before.
    const fn is_afresh(&self) -> bool {
        matches!(self, Self::Draft | Self::Fresh { .. } | Self::Restructure)
    }
}

impl ScoreProtocol {
    pub(super) fn call_worker(&self, call: &WorkerTask<'_>, cx: &mut Cx<'_>) {
        let Some(worker) = self.settings.worker.as_deref() else { return };
        let template = match call {
            WorkerTask::Draft | WorkerTask::Complete { .. } | WorkerTask::Fix { .. } => WORKER_DRAFT,
            WorkerTask::Revision { .. } => WORKER_REVISION,
            WorkerTask::Fresh { .. } => WORKER_FRESH,
            WorkerTask::Restructure => WORKER_RESTRUCTURE,
        };
        let mut brief = match &self.settings.files {
            None => Blocks::of(cx.intern(template)),
            Some(files) => Self::files_brief(files, cx),
        };
        brief = brief.references(&self.settings.shown_references()).block("Task", self.settings.task);
        if !self.settings.critics.is_empty() {
            brief = brief.block("Rubric", self.rubric());
        }
        let brief = match call {
            WorkerTask::Draft => self.begun(brief),
            WorkerTask::Revision { draft, findings, scores } => {
                brief = brief
                    .line("Mode", "Revision")
                    .line("Round", &format!("{} of {}", self.attempt.rounds, self.limit))
                    .line("Score", &format!("{scores}; {} passes", self.settings.threshold));
                if self.settings.files.is_none() {
                    brief = brief.block("Previous Draft", *draft);
                }
                brief.list("Findings", &findings.iter().map(feedback).collect::<Vec<_>>())
            }
            WorkerTask::Complete { gaps } => brief
                .line("Mode", "Completion")
                .list("Your output is incomplete. Make good, and leave the rest as it is", gaps),
            WorkerTask::Fix { command, output } => {
                let failed = format!("`{command}` fails; mend what it finds, and leave the rest as it is");
                let brief = brief.line("Mode", "Fix").line("Verification", &failed);
                output.map_or(brief.clone(), |output| brief.block("Its output", output))
            }
            WorkerTask::Fresh { decision } => brief.line("Mode", "Fresh Start").block("Decision", *decision),
            WorkerTask::Restructure => {
                brief.line("Mode", "Fresh Start").list("Findings of all rounds", &self.history.everything())
            }
        };
        let tree = self.ground.as_ref().and_then(|ground| ground.begin(call.is_afresh()));
        let messages = vec![brief.message()];
        cx.call(WorkerCall { agent: worker, messages, tree, advice: false, tag: 0 });
    }

    /// Who the worker is, and what it has to make.
    fn files_brief(files: &PairFiles, cx: &mut Cx<'_>) -> Blocks {
        let template = match files.output {
            WorkerOutput::Files => WORKER_FILES,
            WorkerOutput::Reply => WORKER_REPLY,
        };
        let template = cx.intern(template);
        let brief = match files.identity {
            Some(identity) => Blocks::of(identity).text(cx.intern("\n\n".to_owned())).text(template),
            None => Blocks::of(template),
        };
        brief.list("What you have to make", &files.promised())
    }

    fn begun(&self, brief: Blocks) -> Blocks {
        match self.settings.files.as_ref().filter(|files| !files.open.is_empty()) {
            Some(files) => brief
                .line("Mode", "Revision")
                .list("Findings that are open from earlier judgements", &files.open),
            None => match self.settings.files.as_ref().filter(|files| !files.lacking.is_empty()) {
                Some(files) => brief
                    .line("Mode", "Completion")
                    .list("Work that is there already: keep it, and write none of it anew", &files.artifact)
                    .list("What it lacks: make good", &files.lacking),
                None => brief.line("Mode", "Initial Draft"),
            },
        }
    }

    pub(super) fn ask_agent(&self, agent: &str, because: &str, cx: &mut Cx<'_>) {
        let identity = self.settings.files.as_ref().and_then(|files| files.critics.get(agent)).copied();
        let advisor = cx.intern(ADVISOR);
        let mut brief = match identity {
            Some(identity) => Blocks::of(identity).text(cx.intern("\n\n".to_owned())).text(advisor),
            None => Blocks::of(advisor),
        };
        brief = brief
            .references(&self.shown_beside(cx))
            .block("Task", self.settings.task)
            .block("Rubric", self.rubric());
        brief = match &self.work {
            Some(Work::Files(files)) => last_files(brief, files, cx),
            Some(work) => brief.block("Last Draft", work.blob()),
            None => brief,
        };
        let brief = brief
            .line("Why you are asked", because)
            .list("Findings of all rounds", &self.history.everything());
        let messages = vec![brief.message()];
        cx.call(WorkerCall { agent, messages, tree: None, advice: true, tag: 0 });
    }
}

/// Files by their texts: who decides cannot look them up.
fn last_files(mut brief: Blocks, files: &[ArtifactFile], cx: &Cx<'_>) -> Blocks {
    let (texts, opaque): (Vec<&ArtifactFile>, Vec<&ArtifactFile>) =
        files.iter().partition(|file| cx.texts().contains(&file.blob));
    for file in texts {
        brief = brief.block(&format!("Last Draft, {}", one_line(&file.path)), file.blob);
    }
    let opaque: Vec<&str> = opaque.into_iter().map(|file| file.path.as_str()).collect();
    brief.list("Files of the draft that are no text", &opaque)
}

/// A finding as the worker is told: what is known about it from earlier rounds comes first.
fn feedback(finding: &Finding) -> String {
    let before = match finding.standing {
        FindingStatus::Recurring => format!("(still open since round {}) ", finding.since),
        FindingStatus::Regressed => "(was fixed and is back) ".to_owned(),
        FindingStatus::New | FindingStatus::Unmatched => String::new(),
    };
    format!("{before}{}", finding.line())
}

/// A concrete question: what stands against what, and which ways there are.
pub(super) fn question(because: &str, history: &History) -> Question {
    let mut text = format!("The work does not pass: {because}.\n");
    for line in history.dispute() {
        text.push_str(&line);
        text.push('\n');
    }
    text.push_str("Which of these demands holds, which gives way, and what should the worker do instead? Your answer is what it starts afresh from.");
    let choices = vec![
        Choice::new(RESTRUCTURE, "let the worker write it anew, with another structure and all findings"),
        Choice::new(GIVE_UP, "end here; the last draft stays unapproved"),
    ];
    Question { about: About::Escalation, text, choices, free: true }
}
