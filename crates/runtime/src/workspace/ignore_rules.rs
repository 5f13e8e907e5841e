//! The project's ignore rules as they were when the run began, as one list for the whole tree.
//!
//! A worker's own `.gitignore` has no say about what is judged: it could hide files that way. So every ignore
//! file of the base is rewritten to patterns from the root, the shallower ones first, which is the order in
//! which git lets them overrule each other. It does not decide what is ignored: git does, by this list.

use std::fmt::Write as _;

/// Adds the rules of the ignore file in `folder` (empty for the root, else without a slash at its ends).
pub fn add_rules(rules: &mut String, folder: &str, text: &str) {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    for line in text.split('\n') {
        let line = line.strip_suffix('\r').unwrap_or(line);
        if line.starts_with('#') {
            continue;
        }
        let (negated, pattern) = line.strip_prefix('!').map_or(("", line), |rest| ("!", rest));
        let bare = trimmed(pattern);
        let inner = bare.strip_suffix('/').unwrap_or(bare);
        if inner.is_empty() {
            continue;
        }
        let result = if folder.is_empty() {
            writeln!(rules, "{line}")
        } else if inner.contains('/') {
            let from_folder = pattern.strip_prefix('/').unwrap_or(pattern);
            writeln!(rules, "{negated}/{}/{from_folder}", literal(folder))
        } else {
            writeln!(rules, "{negated}/{}/**/{pattern}", literal(folder))
        };
        debug_assert!(result.is_ok(), "writing to a String cannot fail");
    }
}

/// Without the spaces at the end that git does not read; one behind a backslash is part of the name.
fn trimmed(pattern: &str) -> &str {
    let cut = pattern.trim_end_matches(' ');
    let backslashes = cut.bytes().rev().take_while(|b| *b == b'\\').count();
    if cut.len() < pattern.len() && backslashes % 2 == 1 { &pattern[..=cut.len()] } else { cut }
}

/// The path as a pattern. A line break cannot stand in a list of lines; any one character is the nearest.
fn literal(path: &str) -> String {
    let mut pattern = String::with_capacity(path.len());
    for c in path.chars() {
        match c {
            '*' | '?' | '[' | '\\' => pattern.extend(['\\', c]),
            '\n' | '\r' => pattern.push('?'),
            c => pattern.push(c),
        }
    }
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_line_keeps_its_meaning_below_its_folder() {
        let table = [
            ("", "*.o\n/build\n", "*.o\n/build\n"),
            ("a", "*.o", "/a/**/*.o\n"),
            ("a/b", "/build", "/a/b/build\n"),
            ("a", "x/y", "/a/x/y\n"),
            ("a", "out/", "/a/**/out/\n"),
            ("a", "/out/", "/a/out/\n"),
            ("a", "!keep.o", "!/a/**/keep.o\n"),
            ("a", "!/keep.o", "!/a/keep.o\n"),
            ("a", "# comment\n\n   \n", ""),
            ("a", "\\#name", "/a/**/\\#name\n"),
            ("a", "dos\r\nlines\r\n", "/a/**/dos\n/a/**/lines\n"),
            ("a", "\u{feff}first", "/a/**/first\n"),
            ("a", "dir/ ", "/a/**/dir/ \n"),
            ("a", "space\\ ", "/a/**/space\\ \n"),
            ("a[1]", "x", "/a\\[1]/**/x\n"),
            ("we\nird", "x", "/we?ird/**/x\n"),
            ("a", "/", ""),
        ];
        for (folder, text, expected) in table {
            let mut rules = String::new();
            add_rules(&mut rules, folder, text);
            assert_eq!(rules, expected, "{folder:?}: {text:?}");
        }
    }
}
