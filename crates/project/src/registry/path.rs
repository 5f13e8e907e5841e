//! What a path is, and that it stays in the project. Paths are taken apart as text; no file is looked at.

use gadfly_engine::pipeline::Pattern;

use super::value::bare;

/// Longer paths are no paths.
const LONGEST: usize = 500;

/// A name with one of these is a file even without a folder, and even without backticks.
const ENDINGS: [&str; 36] = [
    "md", "qmd", "rmd", "tex", "bib", "txt", "pdf", "html", "csv", "tsv", "json", "jsonl", "yaml", "yml",
    "toml", "xml", "rds", "rdata", "parquet", "dta", "xlsx", "png", "svg", "r", "py", "jl", "do", "sh",
    "ipynb", "rs", "ts", "js", "go", "sql", "docx", "pptx",
];

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum PathReading {
    Path(Pattern),
    /// A path, but none that can be meant: the reason.
    Refused(&'static str),
    /// Something else.
    No,
}

/// One word, in backticks or not, as a path.
pub(super) fn read(word: &str) -> PathReading {
    let text = bare(word);
    if !is_like_a_path(text) {
        return PathReading::No;
    }
    if text.contains('\\') {
        return PathReading::Refused("paths are written with `/`");
    }
    let is_absolute = text.starts_with(['/', '~']) || text.as_bytes().get(1) == Some(&b':');
    if is_absolute || text.split('/').any(|part| part == "..") {
        return PathReading::Refused("it leaves the project");
    }
    let parts: Vec<&str> = text.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    if parts.is_empty() {
        return PathReading::Refused("it names the whole project");
    }
    if !is_balanced(text, '{', '}') || !is_balanced(text, '[', ']') {
        return PathReading::Refused("a bracket in it is never closed");
    }
    let folder = if text.ends_with(['/', '.']) && !text.ends_with("..") { "/" } else { "" };
    PathReading::Path(Pattern(format!("{}{folder}", parts.join("/"))))
}

/// The ending a word is: `.tex`.
pub(super) fn ending(word: &str) -> Option<String> {
    let text = bare(word).trim_end_matches([',', ';']);
    let name = text.strip_prefix("*.").or_else(|| text.strip_prefix('.'))?;
    let is_ending =
        (1..=12).contains(&name.len()) && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '.');
    is_ending.then(|| format!(".{name}"))
}

fn is_like_a_path(text: &str) -> bool {
    if text.is_empty()
        || text.len() > LONGEST
        || text.contains("://")
        || text.contains(|c: char| c.is_whitespace() || c.is_control() || matches!(c, '`' | '"' | '|' | ';'))
    {
        return false;
    }
    // `/strategize` is a command.
    let is_command = text
        .strip_prefix('/')
        .is_some_and(|name| !name.is_empty() && !name.contains(['/', '.']) && ending(text).is_none());
    let has_ending = || {
        let (name, ending) = text.rsplit_once('.').unwrap_or_default();
        !name.is_empty() && ENDINGS.contains(&ending.to_lowercase().as_str())
    };
    let is_windows = || text.as_bytes().get(1) == Some(&b':') && text.contains('\\');
    !is_command && (text.contains('/') || has_ending() || is_windows() || text == "..")
}

fn is_balanced(text: &str, open: char, close: char) -> bool {
    let mut depth = 0i32;
    for c in text.chars() {
        if c == open {
            depth += 1;
        } else if c == close {
            depth -= 1;
        }
        // Braces in braces are no pattern we read.
        if !(0..=1).contains(&depth) {
            return false;
        }
    }
    depth == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_told_from_prose_and_commands() {
        for (word, path) in [
            ("`quality_reports/literature/{project}/`", "quality_reports/literature/{project}/"),
            ("./paper//main.tex", "paper/main.tex"),
            ("quality.md", "quality.md"),
            ("`scripts/{R,py}/`", "scripts/{R,py}/"),
            ("paper/sections/*.tex", "paper/sections/*.tex"),
        ] {
            assert_eq!(read(word), PathReading::Path(Pattern::new(path)), "{word}");
        }
        for word in
            ["`.tex`", "memo", "`/strategize`", "https://x.org/a.md", "`a/b.py --all`", "research:", ""]
        {
            assert_eq!(read(word), PathReading::No, "{word}");
        }
    }

    #[test]
    fn what_leaves_the_project_is_refused() {
        for word in
            ["../x.md", "a/../../b/", "/etc/passwd", "~/x.md", "C:\\x.md", "C:/x.md", "./", "a/{b/", "a/[b"]
        {
            assert!(matches!(read(word), PathReading::Refused(_)), "{word}: {:?}", read(word));
        }
    }
}
