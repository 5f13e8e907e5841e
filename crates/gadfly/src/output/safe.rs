//! Text from models, files and networks, made safe to show: nothing in it can move the cursor, colour
//! the terminal, hide or reorder characters. The one place for this; the text itself is never changed.

/// Several lines: line ends and tabs stay, everything else that acts on a terminal becomes visible.
pub fn block(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\n' | '\t' => out.push(c),
            '\r' if chars.peek() == Some(&'\n') => {}
            other => show(other, &mut out),
        }
    }
    out
}

/// One line of at most `most` characters: line ends and tabs are single spaces.
pub fn line(text: &str, most: usize) -> String {
    let mut out = String::new();
    let mut count = 0;
    for (n, word) in text.split_whitespace().enumerate() {
        if n > 0 {
            out.push(' ');
            count += 1;
        }
        for c in word.chars() {
            if count >= most {
                out.push('…');
                return out;
            }
            show(c, &mut out);
            count += 1;
        }
    }
    out
}

fn show(c: char, out: &mut String) {
    match c {
        // The pictures Unicode has for them: ␛ for escape.
        '\0'..='\u{1f}' => out.push(char::from_u32(0x2400 + u32::from(c)).unwrap_or('\u{fffd}')),
        '\u{7f}' => out.push('␡'),
        _ if c.is_control() || is_deceptive(c) => out.extend(c.escape_unicode()),
        _ => out.push(c),
    }
}

/// Reorders, hides or carries text that a reader does not see. Joiners stay: scripts and emoji need them.
const fn is_deceptive(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What each guard stops: clearing the screen, setting the title, reordering, hiding.
    const ATTACKS: [&str; 6] =
        ["\u{1b}[2J", "\u{1b}]0;t\u{7}", "\u{9b}31m", "a\u{202e}b", "a\u{200b}b", "over\rwritten"];

    #[test]
    fn nothing_that_acts_on_a_terminal_is_left() {
        for attack in ATTACKS {
            for safe in [block(attack), line(attack, 80)] {
                assert!(safe.chars().all(|c| !c.is_control() && !is_deceptive(c)), "{attack:?} → {safe:?}");
            }
            // Sabotage: the same check is red for the text as it came.
            assert!(attack.chars().any(|c| c.is_control() || is_deceptive(c)), "{attack:?}");
        }
    }

    #[test]
    fn it_is_made_visible_not_dropped() {
        assert_eq!(block("\u{1b}[31mred"), "␛[31mred");
        assert_eq!(block("a\u{202e}b"), "a\\u{202e}b");
    }

    #[test]
    fn ordinary_text_is_left_as_it_is() {
        let text = "naïve – ok\n\tعربي 👩‍🔬 \n";
        assert_eq!(block(text), text);
        assert_eq!(block("one\r\ntwo"), "one\ntwo");
    }

    #[test]
    fn a_line_is_one_line_and_has_an_end() {
        assert_eq!(line("a\n\n b\tc", 80), "a b c");
        assert_eq!(line("abcdef", 3), "abc…");
        assert_eq!(line(&"x".repeat(1_000_000), 10).chars().count(), 11);
    }
}
