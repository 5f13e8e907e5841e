//! What a turn of the worker becomes: calls to be done, a claim, or nothing but talk.

use super::people::Asking;
use super::{GoalProtocol, Interruption, ONLY_TALK, Then};
use crate::brief::one_line;
use crate::budget::Cap;
use crate::goal::{Claimant, Nudge};
use crate::machine::{AgentAnswer, Cx};
use crate::reading::reasoning;
use crate::tool::{ToolDone, policy, transcript};

/// A turn in which nothing was done.
const ONLY_TALKED: &str = "You must go on by using a tool: work toward the goal, call `claim_complete` if it is reached, or `abort_with_report` if it cannot be.";
const HANDS_ONLY_TALKED: &str = "You must go on: work toward the goal, or end your reply with a `CLAIM_COMPLETE: ` line if it is reached, or an `ABORT_WITH_REPORT: ` line if it cannot be.";
const GO_ON: &str = "You ended your reply without saying how the goal stands. Go on working toward it, or end your reply with a `CLAIM_COMPLETE: ` or `ABORT_WITH_REPORT: ` line.";

impl GoalProtocol {
    pub(super) fn worker_answered(&mut self, answer: &AgentAnswer, cx: &mut Cx<'_>) {
        if !self.is_driven(cx) {
            return self.hands_answered(answer, cx);
        }
        self.transcript.said(answer.text, answer.calls.clone());
        if answer.calls.is_empty() {
            return self.only_talked(ONLY_TALKED, cx);
        }
        self.only_talk = 0;
        self.calls = answer.calls.iter().take(transcript::CALLS).cloned().collect();
        self.next_call(cx);
    }

    fn only_talked(&mut self, words: &str, cx: &mut Cx<'_>) {
        self.only_talk += 1;
        if self.only_talk >= ONLY_TALK {
            let because = format!("The worker did nothing but talk in {} turns in a row.", self.only_talk);
            return self.pause(&because, cx);
        }
        self.nudge(Nudge::OnlyTalk, words.to_owned(), cx);
        self.after_turn(cx);
    }

    fn hands_answered(&mut self, answer: &AgentAnswer, cx: &mut Cx<'_>) {
        self.leave_unknown(cx);
        let text = reasoning::without_leading(cx.text(&answer.text)).to_owned();
        if matches!(self.interrupting, Some(Interruption::Verify | Interruption::Cap(_) | Interruption::Halt))
        {
            // It came to its end before it could be broken off.
            return self.look_then_turn(cx);
        }
        self.interrupting = None;
        self.calls = Self::process_calls(&text, cx);
        let asks = !self.calls.is_empty();
        match ending(&text) {
            Ending::Claims(rationale) => {
                self.only_talk = 0;
                self.claim = Some((Claimant::Worker, rationale));
                self.next_call(cx);
            }
            Ending::GivesUp { reason, learned } => {
                self.gave_up = Some((reason, learned));
                self.next_call(cx);
            }
            // It is told what came of them.
            Ending::Neither if asks => {
                self.only_talk = 0;
                self.next_call(cx);
            }
            Ending::Neither if self.steps_of_turn == 0 => self.only_talked(HANDS_ONLY_TALKED, cx),
            Ending::Neither => {
                self.only_talk = 0;
                self.nudge(Nudge::GoOn, GO_ON.to_owned(), cx);
                self.after_turn(cx);
            }
        }
    }

    /// The tools of the configured servers.
    pub(super) fn servers_said(&mut self, done: &ToolDone, cx: &mut Cx<'_>) {
        let text = cx.text(&done.shown).to_owned();
        match serde_json::from_str::<Vec<crate::tool::Offered>>(&text) {
            Ok(tools) if !done.is_error() => {
                let policy = &self.settings.policy;
                let usable = tools.into_iter().filter(|tool| !policy::is_denied(policy, &tool.name));
                self.offered.extend(usable);
                self.next_turn(cx);
            }
            _ => {
                let because =
                    format!("The tools of the configured servers cannot be had: {}", one_line(&text));
                self.ask(Asking::Servers, super::people::servers(&because), cx);
            }
        }
    }

    /// Where a capped step count is noticed in the middle of a turn.
    pub(super) fn is_at_its_cap(&self, cx: &Cx<'_>) -> Option<Then> {
        self.used_up(cx).filter(|s| s.cap != Cap::Turns).map(Then::Park)
    }
}

/// How a worker with tools of its own ends its reply.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Ending {
    Claims(String),
    GivesUp { reason: String, learned: String },
    Neither,
}

fn ending(text: &str) -> Ending {
    let plain = |line: &str| line.trim().trim_matches(['*', '`', '#', '>', ' ']).to_owned();
    let after = |line: &str, word: &str| {
        let line = plain(line);
        let rest = line.strip_prefix(word)?.trim_start_matches(['*', '`', ' ']).strip_prefix(':')?;
        Some(one_line(rest.trim_matches(['*', '`', ' '])))
    };
    let lines: Vec<&str> = text.lines().collect();
    let last = lines.iter().rposition(|line| {
        after(line, "CLAIM_COMPLETE").is_some() || after(line, "ABORT_WITH_REPORT").is_some()
    });
    let Some(at) = last else { return Ending::Neither };
    if let Some(rationale) = after(lines[at], "CLAIM_COMPLETE") {
        return Ending::Claims(rationale);
    }
    let reason = after(lines[at], "ABORT_WITH_REPORT").unwrap_or_default();
    let learned = lines[at..].iter().find_map(|line| after(line, "LEARNED")).unwrap_or_default();
    Ending::GivesUp { reason, learned }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_of_a_reply_says_how_the_goal_stands() {
        let claims = |s: &str| Ending::Claims(s.into());
        assert_eq!(ending("All good.\n**CLAIM_COMPLETE:** tests pass"), claims("tests pass"));
        assert_eq!(ending("`CLAIM_COMPLETE: x`\n\nThat is it."), claims("x"));
        assert_eq!(ending("I will not say CLAIM_COMPLETE: yet"), Ending::Neither);
        assert_eq!(ending("CLAIM_COMPLETED: no"), Ending::Neither);
        assert_eq!(
            ending("ABORT_WITH_REPORT: no network\nLEARNED: the host is gone"),
            Ending::GivesUp { reason: "no network".into(), learned: "the host is gone".into() }
        );
        assert_eq!(
            ending("CLAIM_COMPLETE: a\nno, wait\nABORT_WITH_REPORT: b"),
            Ending::GivesUp { reason: "b".into(), learned: String::new() }
        );
    }
}
