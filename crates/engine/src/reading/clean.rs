//! Takes off what transports, terminals and chat templates leave in a reply: line ends of other systems, escape sequences,
//! characters nobody sees, the marks between turns. What is said stays as it is.

use std::borrow::Cow;

/// Marks of chat templates that models print as text.
const TEMPLATE_MARKS: [&str; 14] = [
    "<|im_end|>",
    "<|im_start|>",
    "<|endoftext|>",
    "<|eot_id|>",
    "<|end_of_text|>",
    "<|end_of_turn|>",
    "<end_of_turn>",
    "<|return|>",
    "<|eom_id|>",
    "<|start|>assistant",
    "<|channel|>final<|message|>",
    "<|channel|>final",
    "</s>",
    "[/INST]",
];

/// Tags that models put around the whole of their answer.
const WRAPPERS: [&str; 8] =
    ["answer", "output", "response", "review", "result", "verdict", "final_answer", "report"];

/// A whole reply, cleaned.
pub fn reply(text: &str) -> String {
    let mut text = line(text).into_owned();
    if let Some(inner) = super::envelope::opened(&text) {
        text = line(&inner).into_owned();
    }
    for mark in TEMPLATE_MARKS {
        if text.contains(mark) {
            text = text.replace(mark, "");
        }
    }
    let wrapped = |line: &str| {
        let inner = line.trim().strip_prefix('<').and_then(|rest| rest.strip_suffix('>'));
        let name = inner.map(|name| name.trim_start_matches('/').trim());
        name.is_some_and(|name| WRAPPERS.iter().any(|wrapper| wrapper.eq_ignore_ascii_case(name)))
    };
    if text.lines().any(wrapped) {
        text = text.lines().map(|line| if wrapped(line) { "" } else { line }).collect::<Vec<_>>().join("\n");
    }
    if text.contains("\\boxed{") {
        text = text.lines().map(unboxed).collect::<Vec<_>>().join("\n");
    }
    for wrapper in WRAPPERS {
        if !text.trim_start().starts_with('<') {
            break;
        }
        let (open, close) = (format!("<{wrapper}>"), format!("</{wrapper}>"));
        // With other elements beside it, it is one field of several.
        let alone =
            |text: &str| !text.split_once(&close).is_some_and(|(_, rest)| rest.trim_start().starts_with('<'));
        if text.trim_start().starts_with(&open) && text.contains(&close) && alone(&text) {
            text = text.replacen(&open, "", 1).replacen(&close, "", 1);
        }
    }
    text
}

/// `$\boxed{\text{…}}$`: how models that were taught mathematics mark their answer.
fn unboxed(line: &str) -> String {
    let body = line.trim().trim_matches('$').trim();
    let Some(inner) = body.strip_prefix("\\boxed{").and_then(|rest| rest.strip_suffix('}')) else {
        return line.to_owned();
    };
    let worded = ["\\text{", "\\textbf{", "\\mathbf{"].iter().find_map(|mark| inner.strip_prefix(mark));
    worded.and_then(|inner| inner.strip_suffix('}')).unwrap_or(inner).to_owned()
}

/// Text without what is not seen and with plain line ends. Borrowed if nothing changes.
pub fn line(text: &str) -> Cow<'_, str> {
    // Most lines are nothing but what a keyboard has.
    let is_typed = text.bytes().all(|b| matches!(b, b'\n' | b'\t' | b' '..=b'~'));
    if is_typed || !text.chars().any(|c| plain(c) != Some(c) || c == '\u{1b}') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\r' => {
                if chars.peek() != Some(&'\n') {
                    out.push('\n');
                }
            }
            '\u{1b}' => escape(&mut chars),
            other => out.extend(plain(other)),
        }
    }
    Cow::Owned(out)
}

/// Skips the rest of an escape sequence.
fn escape(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match chars.next() {
        Some('[') => {
            for c in chars.by_ref() {
                if ('@'..='~').contains(&c) {
                    break;
                }
            }
        }
        Some(']') => {
            while let Some(c) = chars.next() {
                if c == '\u{7}' || c == '\u{1b}' && chars.next_if_eq(&'\\').is_some() || c == '\n' {
                    break;
                }
            }
        }
        _ => {}
    }
}

/// The character as it is read; none if it is not seen.
pub const fn plain(c: char) -> Option<char> {
    match c {
        '\n' | '\t' => Some(c),
        '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}' | '\r' => Some('\n'),
        '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => Some(' '),
        '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' => None,
        _ if is_unseen(c) => None,
        '：' | '﹕' | '︰' => Some(':'),
        '［' | '【' | '〔' => Some('['),
        '］' | '】' | '〕' => Some(']'),
        '（' => Some('('),
        '）' => Some(')'),
        '｜' => Some('|'),
        '＝' => Some('='),
        '？' => Some('?'),
        _ => Some(c),
    }
}

/// Characters that take no room: joiners, direction marks, byte order marks.
pub const fn is_unseen(c: char) -> bool {
    matches!(
        c,
        '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{2064}'
            | '\u{2066}'..='\u{206f}'
            | '\u{feff}'
            | '\u{ad}'
            | '\u{180e}'
            | '\u{fe0e}'
            | '\u{fe0f}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

/// Does a character end a line for some reader?
pub const fn ends_line(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_keyboard_has_is_read_as_it_is() {
        for c in ['\n', '\t'].into_iter().chain(' '..='~') {
            assert_eq!(plain(c), Some(c));
        }
    }

    #[test]
    fn what_nobody_said_is_gone_and_what_was_said_stays() {
        let cases = [
            ("a\r\nb\rc\u{2028}d", "a\nb\nc\nd"),
            ("\u{1b}[1m[STATUS: APPROVED]\u{1b}[0m", "[STATUS: APPROVED]"),
            ("\u{1b}]8;;http://x\u{7}link\u{1b}]8;;\u{1b}\\", "link"),
            ("\u{feff}\u{200b}\u{202b}x\u{0}y", "xy"),
            ("[STATUS：APPROVED]\u{a0}z", "[STATUS:APPROVED] z"),
            ("fine<|im_end|>\n</s>", "fine\n"),
            ("<answer>\nx\n</answer>", "\nx\n"),
            ("<answer>x</answer>", "x"),
            ("a < b > c", "a < b > c"),
            ("$\\boxed{\\text{[STATUS: APPROVED]}}$", "[STATUS: APPROVED]"),
        ];
        for (given, expected) in cases {
            assert_eq!(reply(given), expected, "{given:?}");
        }
    }

    #[test]
    fn plain_text_is_not_copied() {
        assert!(matches!(line("plain text\n\twith lines"), Cow::Borrowed(_)));
    }
}
