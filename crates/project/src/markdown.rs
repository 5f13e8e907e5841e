//! The little Markdown that configuration files need: front matter is set aside. Not a Markdown parser.

/// The byte offset at which the text after YAML front matter (`---` … `---` at the very top) begins.
pub fn body_start(text: &str) -> usize {
    let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let mut at = start;
    for (n, line) in text.get(start..).unwrap_or_default().split_inclusive('\n').enumerate() {
        let is_fence = line.trim_end() == "---";
        at += line.len();
        match n {
            0 if !is_fence => return start,
            0 => {}
            _ if is_fence => return at,
            _ => {}
        }
    }
    start
}

/// The text without front matter.
pub fn body(text: &str) -> &str {
    text.get(body_start(text)..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn front_matter_is_cut_only_where_it_is_complete_and_on_top() {
        assert_eq!(body("---\nname: writer\n---\nWrite.\n"), "Write.\n");
        assert_eq!(body("\u{feff}---\r\nname: writer\r\n---\r\nWrite."), "Write.");
        assert_eq!(body("Write.\n---\nmore\n---\n"), "Write.\n---\nmore\n---\n");
        assert_eq!(body("---\nnever closed"), "---\nnever closed");
        assert_eq!(body(""), "");
    }
}
