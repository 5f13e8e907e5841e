//! Cuts the reasoning that some models print with their answer, for every grammar in one place. What counts
//! as an answer is the grammar's own; nothing here reads one.

use std::borrow::Cow;

/// The tags between which models print their reasoning.
const TAGS: [&str; 3] = ["think", "thinking", "reasoning"];

/// Cuts reasoning that is printed before the answer: whole blocks, a block whose opening tag the provider
/// swallowed, and a block that never closes, which leaves nothing.
pub fn without_leading(reply: &str) -> &str {
    let mut rest = reply.trim_start();
    while let Some(after) = TAGS.iter().find_map(|tag| after_block(rest, tag)) {
        rest = after.trim_start();
    }
    if rest.len() == reply.trim_start().len() { reply } else { rest }
}

fn after_block<'a>(text: &'a str, tag: &str) -> Option<&'a str> {
    let (open, close) = marks(tag);
    if let Some(inner) = text.strip_prefix(&open) {
        return Some(inner.split_once(&close).map_or("", |(_, after)| after));
    }
    // A lone closing tag counts only on a line of its own: a draft may speak of such tags.
    let end = text.find(&close)?;
    let (before, after) = (&text[..end], &text[end + close.len()..]);
    let own_line = before.rsplit('\n').next().is_none_or(|l| l.trim().is_empty())
        && after.lines().next().is_none_or(|l| l.trim().is_empty());
    (own_line && !before.contains(&open)).then_some(after)
}

/// Cuts blocks that begin a line. An opening tag that is never closed hides the rest, unless a verdict
/// stands above it: then the rest is read, so that nothing said there is overlooked.
pub(crate) fn without_blocks(reply: &str, states_a_verdict: impl Fn(&str) -> bool) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(reply);
    for tag in TAGS {
        text = cut_blocks(text, tag, &states_a_verdict);
    }
    text
}

/// As [`without_blocks`], and everything before a lone closing tag if no verdict stands above it.
pub(crate) fn without_reasoning(reply: &str, states_a_verdict: impl Fn(&str) -> bool) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(reply);
    for tag in TAGS {
        let (open, close) = marks(tag);
        text = cut_blocks(text, tag, &states_a_verdict);
        let lone =
            text.split_once(&close).filter(|(above, _)| !above.contains(&open) && !states_a_verdict(above));
        if let Some(after) = lone.map(|(_, after)| after.to_owned()) {
            text = Cow::Owned(after);
        }
    }
    text
}

fn marks(tag: &str) -> (String, String) {
    (format!("<{tag}>"), format!("</{tag}>"))
}

/// One pass: a hostile reply of many tags must not cost more than its length.
fn cut_blocks<'a>(text: Cow<'a, str>, tag: &str, states_a_verdict: impl Fn(&str) -> bool) -> Cow<'a, str> {
    let (open, close) = marks(tag);
    if !text.contains(&open) {
        return text;
    }
    let mut kept = String::with_capacity(text.len());
    let mut line_is_blank = true;
    let mut rest: &str = &text;
    while let Some((before, after)) = rest.split_once(&open) {
        kept.push_str(before);
        line_is_blank = match before.rsplit_once('\n') {
            Some((_, line)) => line.trim().is_empty(),
            None => line_is_blank && before.trim().is_empty(),
        };
        if !line_is_blank {
            kept.push_str(&open);
            rest = after;
            continue;
        }
        match after.split_once(&close) {
            Some((_, behind)) => rest = behind,
            None if states_a_verdict(&kept) => {
                kept.push_str(after);
                return Cow::Owned(kept);
            }
            None => return Cow::Owned(kept),
        }
    }
    kept.push_str(rest);
    Cow::Owned(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_reasoning_before_the_answer_is_cut_from_a_draft() {
        assert_eq!(without_leading("<think>a</think>\n<think>b</think>\ndraft"), "draft");
        assert_eq!(without_leading("a draft about <think>x</think>"), "a draft about <think>x</think>");
        assert_eq!(without_leading("<think>never closed"), "");
        assert_eq!(without_leading("I wonder.\n</think>\n\ndraft"), "draft");
        assert_eq!(without_leading("the tag `</think>` ends it\n"), "the tag `</think>` ends it\n");
        let example = "An example:\n<think>\nx\n</think>\n";
        assert_eq!(without_leading(example), example, "a draft may show such a block");
    }

    #[test]
    fn blocks_that_begin_a_line_are_cut_and_an_open_one_hides_no_verdict() {
        let verdict = |text: &str| text.contains("VERDICT");
        let cases = [
            ("a\n<think>b</think>c", "a\nc", "a\nc"),
            ("say <think>b</think>", "say <think>b</think>", "say <think>b</think>"),
            ("a\n<reasoning>b", "a\n", "a\n"),
            ("VERDICT\n<think>b", "VERDICT\nb", "VERDICT\nb"),
            ("b</think>a", "b</think>a", "a"),
            ("VERDICT</think>a", "VERDICT</think>a", "VERDICT</think>a"),
        ];
        for (reply, blocks, all) in cases {
            assert_eq!(without_blocks(reply, verdict), blocks, "{reply}");
            assert_eq!(without_reasoning(reply, verdict), all, "{reply}");
        }
    }
}
