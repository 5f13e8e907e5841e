//! The stored difference of a folder, file by file. Which lines are changed and which only describe the change is told by
//! the lengths that stand above them, never by how a line begins: no line of a file can pass for a header.

use serde_json::{Value, json};

use super::{LONGEST_LINE, MOST_BYTES, MOST_LINES, short};

struct ShownFile {
    path: String,
    lines: Vec<Value>,
}

/// What of the present part is still to come: lines of the file before, and after.
#[derive(Default)]
struct RemainingLines {
    old: u64,
    new: u64,
}

pub fn by_file(diff: &str) -> Value {
    let mut files: Vec<ShownFile> = Vec::new();
    let mut left = RemainingLines::default();
    let (mut cut, mut bytes) = (false, 0);
    // Not `lines`: that a line ends otherwise than before may be all that changed.
    for (n, line) in diff.split_terminator('\n').enumerate() {
        bytes += line.len().min(LONGEST_LINE);
        if n == MOST_LINES || bytes > MOST_BYTES {
            cut = true;
            break;
        }
        if let Some(kind) = left.take(line) {
            let text = line.get(1..).unwrap_or_default();
            tell(&mut files, kind, if kind == "same" { text.trim_end_matches('\r') } else { text });
        } else if let Some(names) = line.strip_prefix("diff --git ") {
            files.push(ShownFile { path: named_twice(names), lines: Vec::new() });
        } else if let Some(begins) = RemainingLines::announced(line) {
            left = begins;
            tell(&mut files, "hunk", line);
        } else if let Some(name) = ["--- ", "+++ ", "rename to "].iter().find_map(|p| line.strip_prefix(p)) {
            // The later one holds, unless the file is gone.
            if let (Some(file), Some(path)) = (files.last_mut(), path(name)) {
                file.path = path;
            }
        } else if !line.starts_with("index ") {
            tell(&mut files, "hunk", line);
        }
    }
    let files = files.into_iter().map(|file| json!({ "path": short(&file.path), "lines": file.lines }));
    json!({ "cut": cut, "files": files.collect::<Vec<_>>() })
}

fn tell(files: &mut Vec<ShownFile>, kind: &str, text: &str) {
    if files.is_empty() {
        files.push(ShownFile { path: String::new(), lines: Vec::new() });
    }
    if let Some(file) = files.last_mut() {
        file.lines.push(json!({ "kind": kind, "text": short(text) }));
    }
}

impl RemainingLines {
    /// `@@ -12,3 +12,4 @@ fn x()`
    fn announced(line: &str) -> Option<Self> {
        let (old, rest) = line.strip_prefix("@@ -")?.split_once(" +")?;
        let (new, _) = rest.split_once(" @@")?;
        let length = |range: &str| range.split_once(',').map_or(Some(1), |(_, length)| length.parse().ok());
        Some(Self { old: length(old)?, new: length(new)? })
    }

    /// What a line of the present part is; none if it is none of them.
    fn take(&mut self, line: &str) -> Option<&'static str> {
        let (old, new, kind) = match line.as_bytes().first() {
            Some(b'-') => (1, 0, "del"),
            Some(b'+') => (0, 1, "add"),
            // Some programs leave the blank of an empty line out.
            Some(b' ') | None => (1, 1, "same"),
            Some(_) => return None,
        };
        (self.old, self.new) = (self.old.checked_sub(old)?, self.new.checked_sub(new)?);
        Some(kind)
    }
}

/// `b/src/x.rs`, or `"b/w\303\244.rs"`; none for a file that is not there.
fn path(name: &str) -> Option<String> {
    // Behind a name with blanks stands a tab.
    let name = name.trim_end_matches('\t');
    if name == "/dev/null" {
        return None;
    }
    let name = name.strip_prefix('"').map_or_else(|| name.to_owned(), |quoted| unquoted(quoted).0);
    Some(name.strip_prefix("a/").or_else(|| name.strip_prefix("b/")).unwrap_or(&name).to_owned())
}

/// `a/x y.rs b/x y.rs`: the same name twice, or two quoted ones.
fn named_twice(names: &str) -> String {
    if let Some(first) = names.strip_prefix('"') {
        let (first, rest) = unquoted(first);
        let later = path(rest.trim_start()).filter(|later| !later.is_empty());
        return later.or_else(|| path(&first)).unwrap_or_default();
    }
    let half = names.len() / 2;
    let same = names.get(..half).zip(names.get(half + 1..)).filter(|(a, b)| a.get(1..) == b.get(1..));
    let later = same.map(|(_, later)| later).or_else(|| names.rfind(" b/").map(|at| &names[at + 1..]));
    path(later.unwrap_or(names)).unwrap_or_default()
}

/// What stands up to the closing quote, as git writes names, and what follows.
fn unquoted(quoted: &str) -> (String, &str) {
    let bytes = quoted.as_bytes();
    let (mut name, mut at) = (Vec::new(), 0);
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        match (byte, bytes.get(at)) {
            (b'"', _) => break,
            (b'\\', Some(b'0'..=b'7')) => {
                let end = (at + 3).min(bytes.len());
                let digits = bytes[at..end].iter().take_while(|d| matches!(d, b'0'..=b'7'));
                let (mut code, mut length) = (0_u32, 0);
                for digit in digits {
                    code = code * 8 + u32::from(digit - b'0');
                    length += 1;
                }
                name.push(u8::try_from(code).unwrap_or(b'?'));
                at += length;
            }
            (b'\\', Some(&escaped)) => {
                name.push(match escaped {
                    b'n' => b'\n',
                    b't' => b'\t',
                    b'r' => b'\r',
                    b'a' => 7,
                    b'b' => 8,
                    b'f' => 12,
                    b'v' => 11,
                    other => other,
                });
                at += 1;
            }
            (other, _) => name.push(other),
        }
    }
    (String::from_utf8_lossy(&name).into_owned(), quoted.get(at..).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(diff: &str) -> Vec<(String, Vec<(String, String)>)> {
        let told = by_file(diff);
        let files = told["files"].as_array().unwrap().iter().map(|file| {
            let lines = file["lines"].as_array().unwrap().iter();
            let lines = lines.map(|line| {
                (line["kind"].as_str().unwrap().to_owned(), line["text"].as_str().unwrap().to_owned())
            });
            (file["path"].as_str().unwrap().to_owned(), lines.collect())
        });
        files.collect()
    }

    fn line(kind: &str, text: &str) -> (String, String) {
        (kind.to_owned(), text.to_owned())
    }

    #[test]
    fn no_changed_line_passes_for_a_header() {
        let diff = "diff --git a/q.sql b/q.sql\nindex 1..2 100644\n--- a/q.sql\n+++ b/q.sql\n@@ -1,4 +1,4 @@\n a\n\
                    --- sql comment\n-diff --git a/x b/x\n-old\n+++ plus\n+@@ -1 +1 @@\n+new\n\
                    \\ No newline at end of file\n";
        let files = shown(diff);
        assert_eq!(files.len(), 1);
        let expected = [
            ("hunk", "@@ -1,4 +1,4 @@"),
            ("same", "a"),
            ("del", "-- sql comment"),
            ("del", "diff --git a/x b/x"),
            ("del", "old"),
            ("add", "++ plus"),
            ("add", "@@ -1 +1 @@"),
            ("add", "new"),
            ("hunk", "\\ No newline at end of file"),
        ];
        assert_eq!(files[0], ("q.sql".to_owned(), expected.map(|(kind, text)| line(kind, text)).to_vec()));
    }

    #[test]
    fn every_file_goes_by_its_name() {
        for (head, path) in [
            (
                "a/x b/y.txt b/x b/y.txt\n--- a/x b/y.txt\t\n+++ b/x b/y.txt\t\n@@ -1 +1 @@\n-a\n+b",
                "x b/y.txt",
            ),
            ("a/x b/y.png b/x b/y.png\nBinary files differ", "x b/y.png"),
            ("\"a/q\\\"uote\" \"b/q\\\"uote\"\nBinary files differ", "q\"uote"),
            ("\"a/t\\tb\" \"b/t\\tb\"\n--- \"a/t\\tb\"\n+++ \"b/t\\tb\"\n@@ -1 +1 @@\n-a\n+b", "t\tb"),
            ("\"a/w\\303\\244\" \"b/w\\303\\244\"\nold mode 100644\nnew mode 100755", "wä"),
            ("a/gone b/gone\ndeleted file mode 100644\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-a", "gone"),
            ("a/n b/n\nnew file mode 100644\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+a", "n"),
            ("a/old name b/newer\nsimilarity index 100%\nrename from old name\nrename to newer", "newer"),
        ] {
            let files = shown(&format!("diff --git {head}\n"));
            assert_eq!(files.len(), 1, "{head}");
            assert_eq!(files[0].0, path);
        }
    }

    #[test]
    fn what_is_no_difference_is_shown_as_it_is() {
        assert_eq!(
            shown("hello\n@@ what\n"),
            [(String::new(), vec![line("hunk", "hello"), line("hunk", "@@ what")])]
        );
        assert_eq!(shown("\"\\"), [(String::new(), vec![line("hunk", "\"\\")])]);
        assert_eq!(shown("diff --git \"\\7"), [("\u{7}".to_owned(), vec![])]);
        assert_eq!(shown("diff --git é"), [("é".to_owned(), vec![])]);
    }

    #[test]
    fn a_difference_of_a_folder_has_an_end() {
        let many = "+x\n".repeat(MOST_LINES * 2);
        let told = by_file(&format!("diff --git a/x b/x\n@@ -0,0 +1,{} @@\n{many}", MOST_LINES * 2));
        assert_eq!(told["cut"], true);
        assert!(told["files"][0]["lines"].as_array().unwrap().len() <= MOST_LINES);
        let long = format!(
            "diff --git a/x b/x\n@@ -0,0 +1,2000 @@\n{}",
            format!("+{}\n", "x".repeat(5000)).repeat(2000)
        );
        assert!(by_file(&long).to_string().len() < 2 * MOST_BYTES);
    }
}
