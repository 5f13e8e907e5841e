//! What agents are told: the executor and the build-fixer, the researcher, and the cold critic.
//!
//! A person's answers and changes are part of the task for everyone. The critic learns the round's number
//! and nothing else of the rounds before.

use std::fmt::Write as _;

use crate::blocks::Blocks;
use crate::brief::{Reference, one_line};
use crate::digest::Digest;
use crate::finding::Finding;
use crate::judging::ColdCase;
use crate::machine::{Cx, WorkerCall};
use crate::review::Unseen;
use crate::tree::{CommandRun, RunEnd, Verified};
use crate::turn::SCRATCH;
use crate::work::Work;

use super::AuditProtocol;
use super::economy::Economy;
use super::report::{self, ANSWER_SCHEMA};
use super::settings::AuditSettings;

const EXECUTOR: &str = include_str!("../../prompts/audit-executor-1.md");
const BUILD_FIXER: &str = include_str!("../../prompts/audit-build-fixer-1.md");
const WORKER_ECONOMY: &str = include_str!("../../prompts/audit-worker-economy-1.md");
const RESEARCHER: &str = include_str!("../../prompts/audit-researcher-1.md");
const CRITIC: &str = include_str!("../../prompts/audit-critic-1.md");
const CRITIC_FILE: &str = include_str!("../../prompts/audit-critic-file-1.md");
const FORM: &str = include_str!("../../prompts/audit-form-1.md");
const STYLE: &str = include_str!("../../prompts/audit-style-1.md");
const TESTS: &str = include_str!("../../prompts/audit-tests-1.md");
const ACCEPTANCE: &str = include_str!("../../prompts/audit-acceptance-1.md");
const ECONOMY: &str = include_str!("../../prompts/audit-economy-1.md");
const ECONOMY_ULTRA: &str = include_str!("../../prompts/audit-economy-ultra-1.md");

/// The most findings one brief lists, and as much of each as it shows, in characters.
const MOST_TOLD: usize = 100;
const LONGEST_TOLD: usize = 2_000;

/// What a verify command's output is called where a critic may cite it.
const VERIFY_OUTPUT: &str = "verify-output";

/// A verify command that failed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Red {
    command: String,
    end: Option<RunEnd>,
    output: Option<Digest>,
}

impl Red {
    pub fn of(command: String, verified: &Verified) -> Self {
        let last: Option<&CommandRun> = verified.runs.last();
        Self { command, end: last.map(|r| r.end), output: last.map(|r| r.output) }
    }

    pub fn sentence(&self) -> String {
        let end = self.end.map_or_else(|| "did not run".to_owned(), |end| end.to_string());
        format!("The verify command `{}` failed: {end}.", one_line(&self.command))
    }
}

/// The file the critic may write its report to, as its brief names it.
pub(super) fn report_path(settings: &AuditSettings, round: u32) -> String {
    format!("{SCRATCH}/{}", report::file_name(&settings.task_id, round))
}

/// The critic's instructions: the axes that are judged, in their order.
fn axes(economy: Economy) -> Vec<&'static str> {
    let mut all = vec![CRITIC];
    all.extend([STYLE, TESTS, ACCEPTANCE]);
    if economy.is_judged() {
        all.push(ECONOMY);
    }
    if economy == Economy::Ultra {
        all.push(ECONOMY_ULTRA);
    }
    all
}

impl AuditProtocol {
    /// The task with everything people said since.
    pub(super) fn task(&self, cx: &mut Cx<'_>) -> Digest {
        if self.said.is_empty() {
            return self.settings.task;
        }
        let mut text = format!("{}\n\nSince then:\n", cx.text(&self.settings.task).trim_end());
        for said in &self.said {
            let _ = writeln!(text, "- {}", one_line(said));
        }
        cx.intern(text)
    }

    /// What the work is judged by: criteria, locked decisions, scope. The same for worker and critic.
    pub(super) fn rubric(&self, cx: &mut Cx<'_>) -> Digest {
        let mut text = String::from("Success criteria:\n");
        for criterion in &self.criteria {
            let _ = writeln!(text, "- {}: {}", one_line(&criterion.id), one_line(&criterion.claim));
        }
        let settings = &self.settings;
        for (label, items) in [("Locked decisions", &settings.decisions), ("Files in scope", &settings.scope)]
        {
            if !items.is_empty() {
                let _ = writeln!(text, "\n{label}:");
                for item in items {
                    let _ = writeln!(text, "- {}", one_line(item));
                }
            }
        }
        cx.intern(text)
    }

    pub(super) fn call_worker(&mut self, cx: &mut Cx<'_>) {
        let settings = &self.settings;
        let Some(executor) = settings.worker.clone() else { return };
        let is_first = self.round <= 1;
        let fixer = settings.build_fixer.clone().unwrap_or_else(|| executor.clone());
        let agent = if is_first { executor } else { fixer };
        let mut blocks = Blocks::of(cx.intern(if is_first { EXECUTOR } else { BUILD_FIXER }));
        if settings.economy.briefs_worker() {
            blocks = blocks.text(cx.intern(WORKER_ECONOMY));
        }
        let (task, rubric) = (self.task(cx), self.rubric(cx));
        blocks = blocks
            .references(&self.settings.references)
            .references(&self.research)
            .line("Task id", &self.settings.task_id)
            .block("Task", task)
            .block("What it is judged by", rubric)
            .list("Verify commands", &self.settings.verify)
            .list("Findings", &told_of(&self.open));
        if let Some(red) = &self.red {
            blocks = blocks.line("Verify", &red.sentence());
            if let Some(output) = red.output {
                blocks = blocks.block("The end of its output", output);
            }
        }
        let tree = self.work.as_ref().map(Work::artifact);
        cx.call(WorkerCall { agent: &agent, messages: vec![blocks.message()], tree, advice: false, tag: 0 });
    }

    pub(super) fn call_researcher(&mut self, agent: &str, points: &[Finding], cx: &mut Cx<'_>) {
        let template = cx.intern(RESEARCHER);
        let (task, rubric) = (self.task(cx), self.rubric(cx));
        let points: Vec<String> =
            points.iter().enumerate().map(|(at, f)| format!("{}. {}", at + 1, f.line())).collect();
        let message = Blocks::of(template)
            .references(&self.settings.references)
            .references(&self.research)
            .block("Task", task)
            .block("What it is judged by", rubric)
            .list("Open points", &points)
            .message();
        let tree = self.work.as_ref().map(Work::artifact);
        cx.call(WorkerCall { agent, messages: vec![message], tree, advice: true, tag: 0 });
    }

    /// Puts the work before the critic: cold, with the verify output and the engine's findings as evidence.
    pub(super) fn call_critic(&mut self, cx: &mut Cx<'_>) -> Result<(), Vec<Unseen>> {
        let Some(work) = self.work.clone() else { return Ok(()) };
        let (task, rubric) = (self.task(cx), self.rubric(cx));
        let mut corpus = work.corpus(cx.texts());
        let mut evidence = Vec::new();
        for (at, (command, verified)) in self.verified.iter().enumerate() {
            let Some(run) = verified.runs.last() else { continue };
            let path = if at == 0 { VERIFY_OUTPUT.to_owned() } else { format!("{VERIFY_OUTPUT}-{}", at + 1) };
            corpus.insert(&path, cx.text(&run.output));
            let name = format!("{path}: `{command}`, {}", run.end);
            evidence.push(Reference { name, text: run.output });
        }
        if !self.checked.is_empty() {
            let list: Vec<String> = self.checked.iter().map(|f| format!("- {}", told(f))).collect();
            let text = cx.intern(list.join("\n"));
            evidence.push(Reference { name: "found by the engine already".into(), text });
        }
        let mut references = self.settings.references.clone();
        references.extend(self.research.iter().cloned());
        let settings = &self.settings;
        let subject = work.subject(cx.texts());
        let report = report::file_name(&settings.task_id, self.round);
        let case = ColdCase {
            instructions: &axes(settings.economy),
            severity: None,
            identities: None,
            identity: None,
            lens: None,
            task: Some(task),
            rubric,
            rubrics: None,
            references: &references,
            evidence: &evidence,
            subject: &subject,
            tree: settings.folder.then(|| work.artifact()),
            schema: Some(ANSWER_SCHEMA),
            report: settings.folder.then_some(report.as_str()),
            form: &form(&settings.task_id, self.round, settings.folder.then_some(report.as_str())),
            structured: None,
            passes_at: None,
            max_parts: settings.max_parts,
            part: None,
        };
        self.panel.convene(self.round, &settings.critics, &case, corpus, cx)
    }
}

/// How to reply, with what the program knows filled in.
fn form(task_id: &str, round: u32, report: Option<&str>) -> String {
    let mut form = FORM.to_owned();
    if let Some(report) = report {
        form.push_str(&CRITIC_FILE.replace("{path}", &format!("{SCRATCH}/{report}")));
    }
    let id = one_line(task_id).replace(['"', '\\'], "");
    form.replace("{task}", &id).replace("{round}", &round.to_string())
}

/// A finding as a worker is told of it.
fn told(finding: &Finding) -> String {
    let line: String = finding.line().chars().take(LONGEST_TOLD).collect();
    format!("[{}, {}] {line}", finding.rule, finding.severity.name())
}

/// The worst findings first, as many as one brief should hold.
fn told_of(open: &[Finding]) -> Vec<String> {
    let mut list: Vec<String> = open.iter().take(MOST_TOLD).map(told).collect();
    if open.len() > MOST_TOLD {
        list.push(format!("and {} more, for a later round", open.len() - MOST_TOLD));
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_critic_judges_three_axes_always_and_economy_on_request() {
        let names = |economy| {
            let of =
                |text: &&str| text.lines().next().unwrap_or_default().split('.').next().map(str::to_owned);
            axes(economy).iter().skip(1).filter_map(of).collect::<Vec<_>>()
        };
        let three = ["Axis: style", "Axis: tests", "Axis: acceptance"];
        assert_eq!(names(Economy::Off), three);
        assert_eq!(names(Economy::Lite), three, "lite briefs the worker only");
        assert_eq!(names(Economy::Full).len(), 4);
        assert_eq!(names(Economy::Ultra).len(), 5);
    }

    #[test]
    fn every_category_is_named_by_exactly_one_axis() {
        let modules = [STYLE, TESTS, ACCEPTANCE, ECONOMY];
        for (category, _) in super::super::routes::TABLE {
            let listed = |module: &&&str| {
                let line = module.lines().find_map(|l| l.strip_prefix("Categories: ")).unwrap_or_default();
                line.trim_end_matches('.').split(", ").any(|c| c == *category)
            };
            let expected = usize::from(*category != "critic-error");
            assert_eq!(modules.iter().filter(listed).count(), expected, "{category}");
        }
        assert!(FORM.contains("critic-error"), "any axis may stop");
    }
}
