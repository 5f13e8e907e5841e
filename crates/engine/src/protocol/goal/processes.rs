//! What the worker has started so that it stays up: which of it is up, as far as the record tells. None of it outlives the
//! program that drives the goal, so whoever takes the goal up begins without.

use std::collections::{BTreeSet, VecDeque};

use serde_json::json;

use super::GoalProtocol;
use crate::goal::StepEnd;
use crate::machine::Cx;
use crate::tool::{Process, ToolCall, transcript};

/// By name.
#[derive(Default)]
pub(super) struct Up {
    names: BTreeSet<String>,
    /// How often the goal had been taken up when they were started.
    resumes: u32,
}

/// Lines with which a worker with tools of its own asks for processes, and the tools they stand for.
const LINES: [(&str, &str); 4] = [
    ("START_PROCESS", "start_process"),
    ("PROCESS_LOG", "read_process_log"),
    ("STOP_PROCESS", "stop_process"),
    ("LIST_PROCESSES", "list_processes"),
];
/// Other lines that a reply may end with.
const OTHERS: [&str; 3] = ["CLAIM_COMPLETE", "ABORT_WITH_REPORT", "LEARNED"];

/// What a reply asks for at its end, as tools and their arguments, in the order written. A line somewhere in the text is
/// talk.
fn asked_for(reply: &str) -> Vec<(&'static str, serde_json::Value)> {
    let mut found = Vec::new();
    let lines =
        reply.lines().rev().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("```"));
    for line in lines.map(bare) {
        let Some((word, rest)) = line.split_once(':') else { break };
        let (word, rest) = (word.trim_matches('*'), rest.trim_start_matches('*').trim());
        let Some((_, tool)) = LINES.iter().find(|(known, _)| *known == word) else {
            if OTHERS.contains(&word) {
                continue;
            }
            break;
        };
        let (name, command) =
            rest.split_once(':').map_or((rest, ""), |(name, line)| (name.trim(), line.trim()));
        found.push(match *tool {
            "list_processes" => (*tool, json!({})),
            "start_process" => (*tool, json!({ "name": name, "command": command })),
            _ => (*tool, json!({ "name": rest })),
        });
    }
    found.reverse();
    found
}

/// Without what models put around a line: a list's dash, a pair of backticks.
fn bare(line: &str) -> &str {
    let line = line.strip_prefix("- ").unwrap_or(line).trim_start_matches("> ");
    line.strip_prefix('`').and_then(|line| line.strip_suffix('`')).unwrap_or(line)
}

impl GoalProtocol {
    /// What a worker with tools of its own asks for at the end of its reply: its own processes end with its turn.
    pub(super) fn process_calls(reply: &str, cx: &mut Cx<'_>) -> VecDeque<ToolCall> {
        let call = |(n, (name, args)): (usize, (&str, serde_json::Value))| ToolCall {
            id: format!("process-{n}"),
            name: name.to_owned(),
            args: cx.intern(args.to_string()),
        };
        asked_for(reply).into_iter().take(transcript::CALLS).enumerate().map(call).collect()
    }

    pub(super) fn note_process(&mut self, process: &Process, well: bool) {
        match process {
            Process::Start { name, .. } if well => drop(self.up.names.insert(name.clone())),
            Process::Stop { name } if well => drop(self.up.names.remove(name)),
            _ => {}
        }
    }

    /// The goal was taken up by another process since: the worker is told what is gone.
    pub(super) fn tell_of_gone_processes(&mut self, cx: &mut Cx<'_>) {
        if std::mem::replace(&mut self.up.resumes, cx.resumes()) == cx.resumes() {
            return;
        }
        let gone: Vec<String> = std::mem::take(&mut self.up.names).into_iter().collect();
        if !gone.is_empty() {
            let words = format!(
                "The work was interrupted, and the processes you had started are gone: {}. Start them again if you need them.",
                gone.join(", ")
            );
            self.tell_worker(words, cx);
        }
    }

    /// The program was stopped while it started or stopped one: none is up now, and nobody has to be asked.
    pub(super) fn process_lost(&mut self, call: &ToolCall, cx: &mut Cx<'_>) {
        self.up.names.clear();
        let said = "The work was interrupted in the middle of this, and every process you had started is gone. Start again \
                    what you need.";
        self.answer_call(call, StepEnd::Unknown, said, 0, cx);
        self.unwatched += 1;
        self.next_call(cx);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_end_of_a_reply_asks_for_anything() {
        let reply = "I would write START_PROCESS: no: x\nSTOP_PROCESS: old\nand then:\n```\n- `START_PROCESS: web: python3 -m \
                     http.server 80 | tee 'a: b'`\n**PROCESS_LOG:** web\nLIST_PROCESSES:\n```\n\nCLAIM_COMPLETE: it answers\n";
        let web = json!({ "name": "web", "command": "python3 -m http.server 80 | tee 'a: b'" });
        let log = ("read_process_log", json!({ "name": "web" }));
        assert_eq!(asked_for(reply), [("start_process", web), log, ("list_processes", json!({}))]);
        assert!(asked_for("START_PROCESS: web: x\nThat is what I would do.").is_empty());
        assert!(asked_for("").is_empty());
    }
}
