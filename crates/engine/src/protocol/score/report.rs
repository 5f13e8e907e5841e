//! The report of somebody who judges the work of others, as the file its entry promises. What came as prose is saved as
//! it came; what came as JSON, for a program, is written out for people.

use std::fmt::Write as _;

use super::ScoreProtocol;
use crate::digest::Digest;
use crate::machine::Cx;

impl ScoreProtocol {
    pub(super) fn report_to_save(&self, cx: &mut Cx<'_>) -> Option<Digest> {
        let verdict = self.ground.as_ref()?.verdict()?;
        let reply = cx.text(&verdict.reply).trim();
        let bare = reply.strip_prefix("```json").or_else(|| reply.strip_prefix("```")).unwrap_or(reply);
        if !bare.trim_start().starts_with('{') {
            return Some(verdict.reply);
        }
        let agent = &verdict.agent;
        let mut text = format!("# Report of {agent}\n\n**Score:** {}/100", verdict.score);
        let _ = writeln!(text, " (added up from the points below; {} passes)\n", verdict.threshold);
        text.push_str("## Findings\n\n");
        if verdict.open.is_empty() {
            text.push_str("None.\n");
        }
        for open in &verdict.open {
            let _ = writeln!(text, "- {open}");
        }
        let notes = self.ground.as_ref().map(|ground| ground.notes.clone()).unwrap_or_default();
        if !notes.is_empty() {
            text.push_str("\n## Notes\n\n");
            for note in notes {
                let _ = writeln!(text, "- {note}");
            }
        }
        Some(cx.intern(text))
    }
}
