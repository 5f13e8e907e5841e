//! Headings of a text, as required sections are compared with them: numbering, levels, case and decoration do not
//! count; what stands inside a code fence does.

/// Every heading of a Markdown or LaTeX text, normalised.
pub fn headings(_text: &str) -> Vec<String> {
    Vec::new()
}

/// A heading, or a required section, as it is compared.
pub fn normalised(heading: &str) -> String {
    heading.trim().to_lowercase()
}
