//! Which paths a task may touch: a list of patterns like those of `.gitignore`.
//!
//! `*` and `?` stay within one name, `**` crosses folders, a pattern without a slash matches at any depth,
//! and a pattern that names a folder takes in all below it. Brackets and braces are ordinary characters:
//! they occur in the names of real files.

/// A list of patterns; an empty one takes everything in.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AuditScope(Vec<ScopePattern>);

#[derive(Clone, PartialEq, Eq, Debug)]
struct ScopePattern {
    /// Names between slashes; `**` stands for any number of them.
    names: Vec<Vec<char>>,
}

impl AuditScope {
    pub fn new<S: AsRef<str>>(patterns: &[S]) -> Self {
        Self(patterns.iter().map(|p| ScopePattern::read(p.as_ref())).collect())
    }

    pub fn contains(&self, path: &str) -> bool {
        let names: Vec<Vec<char>> = names_of(path).map(|n| n.chars().collect()).collect();
        self.0.is_empty() || self.0.iter().any(|p| matches(&p.names, &names))
    }
}

impl ScopePattern {
    fn read(text: &str) -> Self {
        let text = text.trim();
        let anywhere = !text.trim_end_matches('/').contains('/');
        let mut names: Vec<Vec<char>> = Vec::new();
        if anywhere && text != "." {
            names.push(vec!['*', '*']);
        }
        names.extend(names_of(text).map(|n| n.chars().collect()));
        // What names a folder takes in all below it.
        names.push(vec!['*', '*']);
        names.dedup_by(|a, b| a == b && *a == ['*', '*']);
        Self { names }
    }
}

fn names_of(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|n| !n.is_empty() && *n != ".")
}

fn matches(pattern: &[Vec<char>], names: &[Vec<char>]) -> bool {
    let is_any = |p: &Vec<char>| *p == ['*', '*'];
    wildcard(pattern, names, is_any, |p, name| wildcard(p, name, |c| *c == '*', |p, c| *p == '?' || p == c))
}

/// Matches with one kind of wildcard for "any number of items". Only the last wildcard is ever extended,
/// so the work is at most the product of both lengths.
fn wildcard<P, T>(
    pattern: &[P],
    items: &[T],
    is_any: impl Fn(&P) -> bool,
    fits: impl Fn(&P, &T) -> bool,
) -> bool {
    let (mut p, mut i) = (0, 0);
    let mut last_any: Option<(usize, usize)> = None;
    while let Some(item) = items.get(i) {
        match pattern.get(p) {
            Some(any) if is_any(any) => {
                last_any = Some((p, i));
                p += 1;
            }
            Some(one) if fits(one, item) => {
                p += 1;
                i += 1;
            }
            _ => {
                let Some((any, from)) = last_any else { return false };
                last_any = Some((any, from + 1));
                p = any + 1;
                i = from + 1;
            }
        }
    }
    pattern.iter().skip(p).all(is_any)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_take_in_what_their_writer_means() {
        let cases = [
            ("src/a.rs", "src/a.rs", true),
            ("src/a.rs", "src/b.rs", false),
            ("./src/a.rs", "src/a.rs", true),
            ("/src/a.rs", "src/a.rs", true),
            ("src", "src/deep/a.rs", true),
            ("src/", "src/deep/a.rs", true),
            ("src/", "lib/a.rs", false),
            ("src/deep", "src/deeper/a.rs", false),
            ("*.rs", "src/deep/a.rs", true),
            ("*.rs", "src/a.rsx", false),
            ("src/*.rs", "src/a.rs", true),
            ("src/*.rs", "src/deep/a.rs", false),
            ("src/**/*.rs", "src/a.rs", true),
            ("src/**/*.rs", "src/x/y/a.rs", true),
            ("src/**", "src/x/y", true),
            ("src/**", "srcs/x", false),
            ("**/a.rs", "x/a.rs", true),
            ("src/?.rs", "src/a.rs", true),
            ("src/?.rs", "src/ab.rs", false),
            ("app/[id]/page.tsx", "app/[id]/page.tsx", true),
            ("src/ü*.rs", "src/über.rs", true),
            (".", "any/thing", true),
            ("**", "any/thing", true),
            ("a.rs", "a.rs", true),
            ("src/a.rs", "src/a.rs.bak", false),
        ];
        for (pattern, path, inside) in cases {
            assert_eq!(AuditScope::new(&[pattern]).contains(path), inside, "{pattern} and {path}");
        }
        assert!(AuditScope::default().contains("anything"), "no scope, no bounds");
        assert!(AuditScope::new(&["a", "b"]).contains("b"));
    }

    #[test]
    fn a_hostile_pattern_costs_no_more_than_its_length() {
        let pattern = "*a".repeat(500);
        let path = "a".repeat(4_000);
        assert!(!AuditScope::new(&[format!("{pattern}b")]).contains(&path));
        let folders = "**/a/".repeat(300);
        assert!(!AuditScope::new(&[format!("{folders}b")]).contains(&"a/".repeat(2_000)));
    }
}
