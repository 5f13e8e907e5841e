//! Reads a unified diff into files and changed lines. Counts in hunk headers say what is content, so that
//! a removed line such as `-- a comment` is not taken for a file header.

/// One file of a diff.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileDiff<'a> {
    /// The path after the change; of a deleted file, the path before it.
    pub path: String,
    lines: Vec<(bool, DiffLine<'a>)>,
}

/// An added or removed line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DiffLine<'a> {
    /// Its number after the change; of a removed line, the number of the line that stands there now.
    pub near: u32,
    pub text: &'a str,
}

impl<'a> FileDiff<'a> {
    pub fn added(&self) -> impl Iterator<Item = DiffLine<'a>> {
        self.lines.iter().filter(|(added, _)| *added).map(|(_, line)| *line)
    }

    pub fn removed(&self) -> impl Iterator<Item = DiffLine<'a>> {
        self.lines.iter().filter(|(added, _)| !*added).map(|(_, line)| *line)
    }
}

/// Reads every file of a diff; what is no diff is passed over.
pub fn parse(text: &str) -> Vec<FileDiff<'_>> {
    let mut files: Vec<FileDiff<'_>> = Vec::new();
    let mut before: Option<String> = None;
    let mut lines = text.split('\n');
    while let Some(line) = lines.next() {
        let line = line.strip_suffix('\r').unwrap_or(line);
        if line.starts_with("diff --git ") {
            before = None;
        } else if let Some(path) = line.strip_prefix("--- ") {
            before = path_of(path, "a/");
        } else if let Some(path) = line.strip_prefix("+++ ") {
            if let Some(path) = path_of(path, "b/").or_else(|| before.take()) {
                files.push(FileDiff { path, lines: Vec::new() });
            }
        } else if let Some(hunk) = line.strip_prefix("@@ ")
            && let Some(hunk) = Hunk::read(hunk)
            && let Some(file) = files.last_mut()
        {
            hunk.take(&mut lines, &mut file.lines);
        }
    }
    files
}

struct Hunk {
    removed: u32,
    start: u32,
    added: u32,
}

impl Hunk {
    /// `-12,3 +12,4 @@ fn around()`.
    fn read(header: &str) -> Option<Self> {
        let mut words = header.split(' ');
        let range = |word: &str, sign: char| {
            let word = word.strip_prefix(sign)?;
            let (start, count) = word.split_once(',').unwrap_or((word, "1"));
            Some((start.parse::<u32>().ok()?, count.parse::<u32>().ok()?))
        };
        let (_, removed) = range(words.next()?, '-')?;
        let (start, added) = range(words.next()?, '+')?;
        Some(Self { removed, start, added })
    }

    fn take<'a>(self, lines: &mut std::str::Split<'a, char>, into: &mut Vec<(bool, DiffLine<'a>)>) {
        let Self { mut removed, start, mut added } = self;
        let mut at = start.max(1);
        while removed > 0 || added > 0 {
            let Some(line) = lines.next() else { return };
            let text = line.get(1..).unwrap_or_default();
            match line.as_bytes().first() {
                Some(b'+') => {
                    into.push((true, DiffLine { near: at, text }));
                    added = added.saturating_sub(1);
                    at = at.saturating_add(1);
                }
                Some(b'-') => {
                    into.push((false, DiffLine { near: at, text }));
                    removed = removed.saturating_sub(1);
                }
                Some(b'\\') => {}
                _ => {
                    removed = removed.saturating_sub(1);
                    added = added.saturating_sub(1);
                    at = at.saturating_add(1);
                }
            }
        }
    }
}

/// A header's path without its prefix; none for `/dev/null`.
fn path_of(header: &str, prefix: &str) -> Option<String> {
    // Behind a tab some programs print a time.
    let path = match header.strip_prefix('"') {
        Some(quoted) => unquoted(quoted),
        None => header.split('\t').next().unwrap_or_default().to_owned(),
    };
    if path == "/dev/null" || path.is_empty() {
        return None;
    }
    Some(path.strip_prefix(prefix).map_or_else(|| path.clone(), str::to_owned))
}

/// Git writes unusual names in quotes, with C escapes.
fn unquoted(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes().peekable();
    while let Some(byte) = rest.next() {
        match byte {
            b'"' => break,
            b'\\' => match rest.next() {
                Some(b'n') => bytes.push(b'\n'),
                Some(b't') => bytes.push(b'\t'),
                Some(b'r') => bytes.push(b'\r'),
                Some(digit @ b'0'..=b'7') => {
                    let mut value = u32::from(digit - b'0');
                    for _ in 0..2 {
                        match rest.next_if(|b| (b'0'..=b'7').contains(b)) {
                            Some(digit) => value = value * 8 + u32::from(digit - b'0'),
                            None => break,
                        }
                    }
                    bytes.push(u8::try_from(value).unwrap_or(b'?'));
                }
                Some(other) => bytes.push(other),
                None => break,
            },
            other => bytes.push(other),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(diff: &str) -> Vec<String> {
        let files = parse(diff);
        let line = |sign: char, l: DiffLine<'_>| format!("{sign}{} {}", l.near, l.text);
        files
            .iter()
            .map(|f| {
                let all = f.added().map(|l| line('+', l)).chain(f.removed().map(|l| line('-', l)));
                format!("{}: {}", f.path, all.collect::<Vec<_>>().join(" | "))
            })
            .collect()
    }

    #[test]
    fn lines_are_numbered_as_they_stand_after_the_change() {
        let diff = "diff --git a/src/a.rs b/src/a.rs\nindex 1..2 100644\n--- a/src/a.rs\n+++ b/src/a.rs\n@@ -10,3 +10,4 @@ fn x()\n keep\n-old\n+new\n+more\n keep\n@@ -40 +41,0 @@\n-gone\n";
        assert_eq!(shown(diff), ["src/a.rs: +11 new | +12 more | -11 old | -41 gone"]);
    }

    #[test]
    fn content_that_looks_like_a_header_is_content() {
        let diff = "--- a/q.sql\n+++ b/q.sql\n@@ -1,2 +1,2 @@\n--- a comment\n-+++ b/fake\n+++ TODO counts\n+@@ -1 +1 @@\n\\ No newline at end of file\n";
        assert_eq!(
            shown(diff),
            ["q.sql: +1 ++ TODO counts | +2 @@ -1 +1 @@ | -1 -- a comment | -1 +++ b/fake"]
        );
    }

    #[test]
    fn new_deleted_binary_and_oddly_named_files() {
        let diff = "diff --git a/n b/n\nnew file mode 100644\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\ndiff --git a/d b/d\ndeleted file mode 100644\n--- a/d\n+++ /dev/null\n@@ -1 +0,0 @@\n-y\ndiff --git a/p.png b/p.png\nBinary files a/p.png and b/p.png differ\n--- \"a/w\\303\\244 \\\"q\\\"\"\n+++ \"b/w\\303\\244 \\\"q\\\"\"\n@@ -1 +1 @@\n-a\n+b\n--- a/with space\t2026\n+++ b/with space\t2026\n@@ -1 +1 @@\n-a\n+b\n";
        assert_eq!(shown(diff), ["n: +1 x", "d: -1 y", "wä \"q\": +1 b | -1 a", "with space: +1 b | -1 a"]);
    }

    #[test]
    fn hostile_counts_neither_panic_nor_hang() {
        for hunk in ["@@ -1,4294967295 +1,4294967295 @@", "@@ -1,99999999999 +1 @@", "@@ @@", "@@ -a +b @@"] {
            let diff = format!("--- a/x\n+++ b/x\n{hunk}\n+é\n");
            assert!(parse(&diff).len() == 1, "{hunk}");
        }
        assert!(parse("+++ \n@@ -1 +1 @@\n+x").is_empty());
        let cut_in_a_character = "--- a/x\n+++ b/x\n@@ -1 +1 @@\né\n";
        assert_eq!(parse(cut_in_a_character).len(), 1);
    }
}
