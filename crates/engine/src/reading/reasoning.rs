//! Cuts the thinking that some models print with their answer, for every reader in one place. What counts as a verdict is
//! the reader's own; nothing here reads one.

use std::borrow::Cow;

macro_rules! tags {
    ($($tag:literal),*) => {
        /// The tags between which models print their thinking. `shown` keeps them out of data.
        pub const TAGS: [&str; [$($tag),*].len()] = [$($tag),*];
        /// The same, opening and closing.
        const PAIRS: [(&str, &str); TAGS.len()] = [$((concat!("<", $tag, ">"), concat!("</", $tag, ">"))),*];
    };
}

tags!("think", "thinking", "reasoning", "thought", "scratchpad", "analysis", "reflection", "internal");

/// Other marks around thinking: opening, closing.
const MARKS: [(&str, &str); 2] = [("<|channel|>analysis<|message|>", "<|end|>"), ("◁think▷", "◁/think▷")];

/// What every tag and mark begins with.
const BEGINNINGS: [char; 2] = ['<', '◁'];

/// Cuts thinking that is printed before a draft: whole blocks, a block whose opening tag the provider swallowed, and a block
/// that never closes, which leaves nothing.
pub fn without_leading(reply: &str) -> &str {
    if !reply.contains(BEGINNINGS) {
        return reply;
    }
    let mut rest = reply.trim_start();
    while let Some(after) = pairs(&PAIRS[..3]).find_map(|(open, close)| after_block(rest, open, close)) {
        rest = after.trim_start();
    }
    if rest.len() == reply.trim_start().len() { reply } else { rest }
}

fn after_block<'a>(text: &'a str, open: &str, close: &str) -> Option<&'a str> {
    if let Some(inner) = strip_prefix_ignoring_case(text, open) {
        return Some(split_ignoring_case(inner, close).map_or("", |(_, after)| after));
    }
    // A lone closing tag counts only on a line of its own: a draft may speak of such tags.
    let (before, after) = split_ignoring_case(text, close)?;
    let own_line = before.rsplit('\n').next().is_none_or(|l| l.trim().is_empty())
        && after.lines().next().is_none_or(|l| l.trim().is_empty());
    (own_line && split_ignoring_case(before, open).is_none()).then_some(after)
}

/// A critic's reply without its thinking. A block that begins a line is cut, whatever it holds. A block that never closes
/// hides the rest, and what stands above a lone closing tag is thinking, each unless a verdict stands above: what was said
/// before is never undone by a tag, which may well be quoted.
pub fn without_thinking(reply: &str, states_a_verdict: impl Fn(&str) -> bool) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(reply);
    if !reply.contains(BEGINNINGS) {
        return text;
    }
    for (open, close) in pairs(&PAIRS) {
        text = cut_blocks(text, open, close, &states_a_verdict);
        let lone = split_ignoring_case(&text, close)
            .filter(|(above, _)| split_ignoring_case(above, open).is_none() && !states_a_verdict(above));
        if let Some(after) = lone.map(|(_, after)| after.to_owned()) {
            text = Cow::Owned(after);
        }
    }
    text
}

fn pairs(tags: &[(&'static str, &'static str)]) -> impl Iterator<Item = (&'static str, &'static str)> {
    tags.iter().chain(&MARKS).copied()
}

fn find_ignoring_case(text: &str, what: &str) -> Option<usize> {
    let (first, what) = (*what.as_bytes().first()?, what.as_bytes());
    let bytes = text.as_bytes();
    let mut from = 0;
    while let Some(at) = bytes.get(from..)?.iter().position(|b| *b == first) {
        let start = from + at;
        if bytes.get(start..start + what.len())?.eq_ignore_ascii_case(what) {
            return Some(start);
        }
        from = start + 1;
    }
    None
}

fn split_ignoring_case<'a>(text: &'a str, what: &str) -> Option<(&'a str, &'a str)> {
    let at = find_ignoring_case(text, what)?;
    Some((&text[..at], &text[at + what.len()..]))
}

fn strip_prefix_ignoring_case<'a>(text: &'a str, what: &str) -> Option<&'a str> {
    let head = text.get(..what.len())?;
    head.eq_ignore_ascii_case(what).then(|| &text[what.len()..])
}

/// One pass: a hostile reply of many tags must not cost more than its length.
fn cut_blocks<'a>(
    text: Cow<'a, str>,
    open: &str,
    close: &str,
    states_a_verdict: impl Fn(&str) -> bool,
) -> Cow<'a, str> {
    if find_ignoring_case(&text, open).is_none() {
        return text;
    }
    let mut kept = String::with_capacity(text.len());
    let mut rest: &str = &text;
    // Closing tags looked for in vain are not looked for again.
    let mut may_close = true;
    let mut begins_line = true;
    while let Some((before, after)) = split_ignoring_case(rest, open) {
        kept.push_str(before);
        begins_line = match before.rsplit_once('\n') {
            Some((_, line)) => line.trim().is_empty(),
            None => begins_line && before.trim().is_empty(),
        };
        if !begins_line {
            kept.push_str(open);
            rest = after;
            continue;
        }
        let closed = if may_close { split_ignoring_case(after, close) } else { None };
        may_close = closed.is_some();
        match closed {
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
    fn only_thinking_before_the_answer_is_cut_from_a_draft() {
        assert_eq!(without_leading("<think>a</think>\n<think>b</think>\ndraft"), "draft");
        assert_eq!(without_leading("a draft about <think>x</think>"), "a draft about <think>x</think>");
        assert_eq!(without_leading("<think>never closed"), "");
        assert_eq!(without_leading("I wonder.\n</think>\n\ndraft"), "draft");
        assert_eq!(without_leading("the tag `</think>` ends it\n"), "the tag `</think>` ends it\n");
        let example = "An example:\n<think>\nx\n</think>\n";
        assert_eq!(without_leading(example), example, "a draft may show such a block");
    }

    #[test]
    fn thinking_is_cut_and_no_tag_undoes_a_verdict() {
        let verdict = |text: &str| text.contains("VERDICT");
        let cases = [
            ("a\n<think>b</think>c", "a\nc"),
            ("<THINK>VERDICT</THINK>\nc", "\nc"),
            ("◁think▷b◁/think▷c", "c"),
            ("say <think>b</think>", "say <think>b</think>"),
            ("a\n<reasoning>b", "a\n"),
            ("VERDICT\n<think>b", "VERDICT\nb"),
            ("b</think>a", "a"),
            ("VERDICT</think>a", "VERDICT</think>a"),
            ("a\n<think>\nVERDICT\n</think>\nb", "a\n\nb"),
        ];
        for (reply, expected) in cases {
            assert_eq!(without_thinking(reply, verdict), expected, "{reply}");
        }
    }

    #[test]
    fn every_tag_and_mark_begins_as_all_of_them_do() {
        for (open, close) in pairs(&PAIRS) {
            assert!(open.starts_with(BEGINNINGS) && close.starts_with(BEGINNINGS), "{open} {close}");
        }
    }

    #[test]
    fn a_reply_of_many_tags_is_read_once() {
        for tag in ["<think>", "x<think>", "</think>", "\n<think>"] {
            let _ = without_thinking(&tag.repeat(200_000), |_| false);
        }
    }
}
