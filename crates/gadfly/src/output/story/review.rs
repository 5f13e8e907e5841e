//! What one critic said, in lines: its verdict, its score with the sum, findings and what it did not see.

use gadfly_engine::review::{Review, Verdict};
use gadfly_journal::state::is_said_in;
use owo_colors::OwoColorize as _;

use super::{LONGEST_ITEM, Story, indented};
use crate::output::table::{cost, counted};
use crate::output::{judged, safe};

impl Story {
    pub(super) fn reviewed(&self, review: &Review, lines: &mut Vec<String>) {
        let critic = self.agent(&review.binding.critic);
        let so_far = if self.spent.money.0 > 0 || self.spent.unknown {
            format!(" · {} so far", cost(self.spent.money, self.spent.unknown)).dimmed().to_string()
        } else {
            String::new()
        };
        match review.verdict {
            Verdict::Approved => lines.push(format!("  {} by {critic}{so_far}", "✓ approved".green().bold())),
            Verdict::Unverified => {
                lines.push(format!("  {} by {critic}{so_far}", "! unverified".yellow().bold()));
            }
            Verdict::Rejected => {
                let open = counted(review.open.len(), "open item");
                lines.push(format!("  {} by {critic}: {open}{so_far}", "✗ rejected".red().bold()));
            }
        }
        lines.extend(judged::reason(review).map(|reason| format!("    {reason}")));
        if let Some(score) = &review.score {
            lines.extend(indented(indented(judged::score(score))));
        }
        lines.extend(indented(indented(judged::criteria(review.criteria.iter()))));
        let (supported, left_out): (Vec<_>, Vec<_>) = review.findings.iter().partition(|f| f.is_supported());
        lines.extend(indented(indented(judged::findings(supported.iter().copied()))));
        lines.extend(left_out.iter().map(|f| format!("    {}", judged::unsupported(f))));
        for unseen in &review.coverage.unseen {
            let (what, because) = (safe::line(&unseen.what, 200), safe::line(&unseen.because, 200));
            lines.push(format!("    {} not seen: {what}: {because}", "!".yellow()));
        }
        // Findings say the same as the items made of them.
        let items = review.open.iter().filter(|_| supported.is_empty());
        for item in items {
            lines.push(format!("    {}. {}", item.number, safe::line(&item.text, LONGEST_ITEM)));
        }
        for note in review.notes.iter().filter(|note| !is_said_in(note, &review.reason)) {
            lines.push(format!("    note: {}", safe::line(note, LONGEST_ITEM)));
        }
        for deviation in &review.deviations {
            lines.push(format!("    noted: {}", safe::line(deviation, 200)).dimmed().to_string());
        }
    }
}
