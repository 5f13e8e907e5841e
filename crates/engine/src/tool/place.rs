//! Where a path leads, by its names alone: below the run's folder or outside it. Links are not known here;
//! whoever opens the path has to hold them.

/// Longer paths are refused.
const LONGEST: usize = 4096;

/// A path read against the run's folder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ToolPath {
    /// Relative to the folder, with `/`; empty for the folder itself.
    Inside(String),
    /// Absolute.
    Outside(String),
}

impl ToolPath {
    /// Reads a path a model wrote. Refuses what no path should hold.
    pub fn read(path: &str, root: &str) -> Result<Self, String> {
        if path.len() > LONGEST {
            return Err(format!("The path is longer than {LONGEST} bytes."));
        }
        if path.chars().any(char::is_control) {
            return Err("The path holds a control character, such as a line break.".to_owned());
        }
        if path == "~" || path.starts_with("~/") {
            return Err("`~` is not known here: name the path, relative to the project's folder.".to_owned());
        }
        Ok(Self::of(path, root))
    }

    /// Where the path leads from the folder. Names are compared whole: `/tmp/goal-evil` is not below `/tmp/goal`.
    pub fn of(path: &str, root: &str) -> Self {
        let base = resolved(&[], root);
        if path.starts_with('/') {
            let full = resolved(&[], path);
            // A folder that is not known holds nothing.
            if !base.is_empty()
                && let Some(rest) = full.strip_prefix(base.as_slice())
            {
                return Self::Inside(rest.join("/"));
            }
            return Self::Outside(format!("/{}", full.join("/")));
        }
        let full = resolved(&base, path);
        match full.strip_prefix(base.as_slice()) {
            Some(rest) if !(base.is_empty() && climbs(path)) => Self::Inside(rest.join("/")),
            _ => Self::Outside(format!("/{}", full.join("/"))),
        }
    }
}

fn resolved<'a>(base: &[&'a str], path: &'a str) -> Vec<&'a str> {
    let mut names = base.to_vec();
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." => {
                names.pop();
            }
            name => names.push(name),
        }
    }
    names
}

/// Does a relative path leave where it begins?
pub fn climbs(path: &str) -> bool {
    let mut depth: i64 = 0;
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." => depth -= 1,
            _ => depth += 1,
        }
        if depth < 0 {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_leads_where_its_names_lead() {
        let inside = |path: &str| ToolPath::Inside(path.to_owned());
        let outside = |path: &str| ToolPath::Outside(path.to_owned());
        let cases = [
            ("./a", inside("a")),
            ("a//b/", inside("a/b")),
            ("a/../b", inside("b")),
            (".", inside("")),
            ("/tmp/goal/a/b", inside("a/b")),
            ("/tmp/goal", inside("")),
            ("/tmp/./goal//a", inside("a")),
            ("../goal/a", inside("a")),
            ("/tmp/goal-evil/a", outside("/tmp/goal-evil/a")),
            ("../goal-evil", outside("/tmp/goal-evil")),
            ("a/../../x", outside("/tmp/x")),
            ("/tmp/goal/../x", outside("/tmp/x")),
            ("/etc/passwd", outside("/etc/passwd")),
            ("../../../../../etc", outside("/etc")),
            ("..a/b..", inside("..a/b..")),
        ];
        for (path, expected) in cases {
            assert_eq!(ToolPath::of(path, "/tmp/goal"), expected, "{path}");
            assert_eq!(ToolPath::of(path, "/tmp/goal/"), expected, "{path}");
        }
    }

    #[test]
    fn a_folder_that_is_not_known_holds_no_absolute_path() {
        assert_eq!(ToolPath::of("/etc/passwd", ""), ToolPath::Outside("/etc/passwd".to_owned()));
        assert_eq!(ToolPath::of("a/b", ""), ToolPath::Inside("a/b".to_owned()));
        assert_eq!(ToolPath::of("../b", ""), ToolPath::Outside("/b".to_owned()));
    }

    #[test]
    fn what_no_path_holds_is_refused() {
        for path in ["a\0b", "a\nb", "~/x", "~", &"a/".repeat(4000)] {
            assert!(ToolPath::read(path, "/tmp/goal").is_err(), "{path}");
        }
        assert!(ToolPath::read("backup~", "/tmp/goal").is_ok());
    }
}
