//! What one critic said, in lines: its verdict, its score with the sum, findings and what it did not see.

use gadfly_engine::event::EventKind;
use gadfly_engine::review::Review;
use gadfly_journal::view::is_said_in;
use owo_colors::OwoColorize as _;

use super::{LONGEST_ITEM, Story, indented};
use crate::output::described::DescribedLine;
use crate::output::table::cost;
use crate::output::{judged, safe};

impl Story {
    pub(super) fn reviewed(&self, what: &EventKind, review: &Review, lines: &mut Vec<String>) {
        let so_far = if self.spent.money.0 > 0 || self.spent.unknown {
            format!(" · {} so far", cost(self.spent.money, self.spent.unknown)).dimmed().to_string()
        } else {
            String::new()
        };
        let told = what.describe(&|agent| self.agent(agent));
        lines.extend(told.map(|told| format!("  {}{so_far}", DescribedLine::new(&told, &|_| None).line())));
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
