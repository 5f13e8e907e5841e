//! The commented reference of every key: one file, printed as it is and proved by tests to be complete.
//!
//! In it, `#key = value` is a setting and `# text` is prose.

/// The whole reference as TOML in which every line is a comment.
pub const REFERENCE: &str = include_str!("reference.toml");

/// The reference as it reads with every setting in force.
pub fn uncommented() -> String {
    let mut out = String::with_capacity(REFERENCE.len());
    for line in REFERENCE.lines() {
        let setting = line
            .strip_prefix('#')
            .filter(|rest| rest.starts_with(|c: char| c == '[' || c.is_ascii_lowercase()));
        out.push_str(setting.unwrap_or(line));
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::time::Duration;

    use toml::Value;

    use super::*;
    use crate::config::keys::{self, Fixed, KEYS, Section, Shape};
    use crate::config::{Config, parse};
    use crate::place::{Layer, Source};

    type Keys = BTreeSet<(Section, String)>;

    /// Every (section, key) that stands in a table, with what its value is.
    fn collect(section: Section, table: &toml::Table, out: &mut Vec<(Section, String, Value)>) {
        for (name, value) in table {
            out.push((section, name.clone(), value.clone()));
            match (keys::find(section, name).map(|k| k.shape), value) {
                (Some(Shape::Table(inner)), Value::Table(t)) => collect(inner, t, out),
                (Some(Shape::Named(inner)), Value::Table(all)) => {
                    for t in all.values().filter_map(Value::as_table) {
                        collect(inner, t, out);
                    }
                }
                (Some(Shape::Rows(inner)), Value::Array(rows)) => {
                    for t in rows.iter().filter_map(Value::as_table) {
                        collect(inner, t, out);
                    }
                }
                _ => {}
            }
        }
    }

    fn settings(text: &str) -> Vec<(Section, String, Value)> {
        let mut out = Vec::new();
        collect(Section::Top, &text.parse().unwrap(), &mut out);
        out
    }

    fn documented(text: &str) -> Keys {
        settings(text).into_iter().map(|(s, k, _)| (s, k)).collect()
    }

    fn known() -> Keys {
        KEYS.iter().map(|k| (k.section, k.name.to_owned())).collect()
    }

    #[test]
    fn as_it_is_it_sets_nothing() {
        assert!(REFERENCE.parse::<toml::Table>().unwrap().is_empty());
    }

    #[test]
    fn uncommented_it_has_no_problems() {
        let tmp = tempfile::tempdir().unwrap();
        fs::create_dir_all(tmp.path().join(".claude/agents")).unwrap();
        fs::write(tmp.path().join(".claude/agents/reviewer.md"), "Review.").unwrap();
        // As the user's own file: a few keys have no effect in a project's.
        let (partial, problems) =
            parse(&Source::new(Layer::User, "reference.toml", tmp.path(), uncommented()));
        assert_eq!(problems, []);
        let (config, problems) = Config::from_layers([partial]);
        assert_eq!(problems, []);
        assert_eq!(config.agents.len(), 6);
        assert_eq!(config.loops.len(), 6);
        assert_eq!(config.goals.len(), 2);
    }

    #[test]
    fn it_documents_exactly_the_keys_the_parser_knows() {
        assert_eq!(documented(&uncommented()), known());
    }

    #[test]
    fn a_forgotten_or_an_invented_key_would_be_noticed() {
        assert_ne!(documented(&uncommented().replace("\nvendor = ", "\n# vendor = ")), known());
        assert_ne!(documented(&format!("surprise = 1\n{}", uncommented())), known());
    }

    #[test]
    fn the_defaults_it_shows_are_the_defaults() {
        let found = settings(&uncommented());
        for key in KEYS {
            let Some(default) = key.default else { continue };
            let shown = found.iter().find(|(s, k, _)| *s == key.section && k == key.name);
            let (_, _, shown) = shown.unwrap_or_else(|| panic!("{} is not shown", key.name));
            let same = match default {
                Fixed::Whole(n) => shown.as_integer() == i64::try_from(n).ok(),
                Fixed::Flag(b) => shown.as_bool() == Some(b),
                Fixed::Text(t) => shown.as_str() == Some(t),
                Fixed::Time(t) => shown.as_str().map(minutes_or_seconds) == Some(t),
            };
            assert!(same, "{:?} {} is {default:?}, shown {shown}", key.section, key.name);
        }
    }

    fn minutes_or_seconds(text: &str) -> Duration {
        let (count, unit) = text.split_at(text.len() - 1);
        let count: u64 = count.parse().unwrap();
        Duration::from_secs(if unit == "m" { count * 60 } else { count })
    }
}
