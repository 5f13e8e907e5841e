//! Questions to the person at the terminal, before a run. What a run asks while it works is `session`'s.

use std::io::{self, BufRead as _, Read as _};

use gadfly_engine::question::Question;

use super::{judged, print, safe};

const LONGEST_ANSWER: u64 = 1024;

/// A run's question, with its ways out numbered.
pub fn question(asked: &Question) -> Vec<String> {
    let mut lines: Vec<String> = safe::block(&asked.text).lines().map(|line| format!("  │ {line}")).collect();
    for (number, (choice, shown)) in asked.choices.iter().zip(asked.shown_choices()).enumerate() {
        lines.push(format!("  {}", judged::way_out(number + 1, &shown, &choice.says)));
    }
    if asked.free {
        lines.push("  or answer in your own words".to_owned());
    }
    lines
}

/// Whether the person agrees. Enter takes the default; no answer at all is a no.
pub fn yes(question: &str, default: bool) -> bool {
    let choices = if default { "[Y/n]" } else { "[y/N]" };
    print::err_part(&format!("{question} {choices} "));
    let mut answer = String::new();
    match io::stdin().lock().take(LONGEST_ANSWER).read_line(&mut answer) {
        Ok(0) | Err(_) => false,
        Ok(_) => read(&answer, default),
    }
}

fn read(answer: &str, default: bool) -> bool {
    match answer.trim().to_lowercase().as_str() {
        "" => default,
        "y" | "yes" => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_yes_is_a_yes() {
        assert!(read("Yes\n", false) && read("\n", true));
        assert!(!read("\n", false) && !read("n\n", true) && !read("perhaps\n", true));
    }
}
