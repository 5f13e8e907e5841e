//! A task's first line as a title for lists and headings, and as a name of a file.

use crate::place::visible;

/// One line for people: the first line with words, without Markdown heading marks, at most 72 characters.
pub fn title(task: &str) -> String {
    const MOST: usize = 72;
    let line = task
        .lines()
        .map(|l| l.trim().trim_start_matches('#').trim())
        .find(|l| l.chars().any(char::is_alphanumeric))
        .unwrap_or("untitled");
    let line = visible(&line.chars().take(MOST * 4).collect::<String>());
    if line.chars().count() <= MOST {
        return line;
    }
    let cut: String = line.chars().take(MOST - 1).collect();
    // A word is not cut in half unless it is most of the line.
    let end = cut.rfind(' ').filter(|at| *at > cut.len() / 2).unwrap_or(cut.len());
    format!("{}…", cut.get(..end).unwrap_or(&cut).trim_end())
}

/// A name that can stand in a file's name.
pub fn slug(text: &str) -> String {
    let mut slug = String::new();
    for c in text.chars() {
        match c {
            c if c.is_ascii_alphanumeric() => slug.push(c.to_ascii_lowercase()),
            _ if slug.ends_with('-') || slug.is_empty() => {}
            _ => slug.push('-'),
        }
        if slug.len() >= 40 {
            break;
        }
    }
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() { "task".to_owned() } else { slug.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_the_first_line_with_words() {
        assert_eq!(title("\n---\n## Write the abstract.\nAt most 150 words."), "Write the abstract.");
        assert_eq!(title("  \n"), "untitled");
        assert_eq!(title("bell\u{7}"), "bell\\u{7}");
        let long = title(&"word ".repeat(40));
        assert!(long.chars().count() <= 72 && long.ends_with("word…"), "{long}");
    }

    #[test]
    fn a_task_without_an_id_gets_one_that_can_stand_in_a_file_name() {
        for (text, expected) in
            [("Add a search page!", "add-a-search-page"), ("../../x", "x"), ("日本", "task"), ("", "task")]
        {
            assert_eq!(slug(text), expected);
        }
        assert!(slug(&"long ".repeat(50)).len() <= 40);
    }
}
