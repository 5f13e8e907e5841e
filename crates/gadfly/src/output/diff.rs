//! How two drafts differ: in numbers for the live story, word by word for `show --diff`.

use std::time::Duration;

use owo_colors::OwoColorize as _;
use similar::{ChangeTag, TextDiff};

use super::safe;

/// Long texts with little in common would take minutes to match exactly.
const PATIENCE: Duration = Duration::from_millis(500);

/// Lines added and removed.
pub fn changed_lines(old: &str, new: &str) -> (usize, usize) {
    let diff = TextDiff::configure().timeout(PATIENCE).diff_lines(old, new);
    let count = |tag| diff.iter_all_changes().filter(|c| c.tag() == tag).count();
    (count(ChangeTag::Insert), count(ChangeTag::Delete))
}

/// A unified diff; on a terminal the words that changed stand out.
pub fn unified(old: &str, new: &str, old_name: &str, new_name: &str) -> Vec<String> {
    let diff = TextDiff::configure().timeout(PATIENCE).diff_lines(old, new);
    let mut lines =
        vec![format!("--- {old_name}").bold().to_string(), format!("+++ {new_name}").bold().to_string()];
    for group in diff.grouped_ops(3) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
        let span = |a: std::ops::Range<usize>, b: std::ops::Range<usize>| {
            format!("{},{}", a.start + 1, b.end - a.start)
        };
        let head = format!(
            "@@ -{} +{} @@",
            span(first.old_range(), last.old_range()),
            span(first.new_range(), last.new_range())
        );
        lines.push(head.cyan().to_string());
        for op in &group {
            for change in diff.iter_inline_changes(op) {
                let words = change.iter_strings_lossy().map(|(changed, words)| {
                    let words = safe::block(words.trim_end_matches(['\n', '\r']));
                    match change.tag() {
                        ChangeTag::Delete if changed => words.red().underline().to_string(),
                        ChangeTag::Delete => words.red().to_string(),
                        ChangeTag::Insert if changed => words.green().underline().to_string(),
                        ChangeTag::Insert => words.green().to_string(),
                        ChangeTag::Equal => words,
                    }
                });
                lines.push(format!("{}{}", change.tag(), words.collect::<String>()));
            }
        }
    }
    lines
}

/// A unified diff that came as a text, in colours.
pub fn coloured(diff: &str) -> Vec<String> {
    let line = |line: &str| {
        let shown = safe::block(line);
        match line.as_bytes().first() {
            _ if line.starts_with("+++") || line.starts_with("---") || line.starts_with("diff ") => {
                shown.bold().to_string()
            }
            Some(b'+') => shown.green().to_string(),
            Some(b'-') => shown.red().to_string(),
            Some(b'@') => shown.cyan().to_string(),
            _ => shown,
        }
    };
    diff.lines().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn added_and_removed_lines_are_counted() {
        assert_eq!(changed_lines("a\nb\n", "a\nc\nd\n"), (2, 1));
        assert_eq!(changed_lines("same\n", "same\n"), (0, 0));
    }
}
