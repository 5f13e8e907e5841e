//! The rubric: what worker and critic are both given, word for word, for the whole loop. Built from
//! several sources in a fixed order; never from anything a model said.

use std::path::Path;

use gadfly_engine::text::Text;

use crate::config::RubricSetting;
use crate::file;
use crate::markdown;
use crate::place::{ConfigLayer, Problem, SourceSpan, Sourced, brief, option};

/// Who contributes items; also the order in which they stand.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Contributor {
    Config,
    Flow,
    PhaseFlow,
    User,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RubricSource {
    pub from: Contributor,
    pub items: Vec<Sourced<String>>,
}

/// Never empty.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rubric {
    pub items: Vec<Sourced<String>>,
}

impl Rubric {
    /// Puts the sources into their order. Without a single item there is no rubric, only the problem that
    /// says so; items with nothing measurable in them are warnings.
    pub fn build(mut sources: Vec<RubricSource>) -> (Option<Self>, Vec<Problem>) {
        sources.sort_by_key(|s| s.from);
        let mut items: Vec<Sourced<String>> = Vec::new();
        for item in sources.into_iter().flat_map(|s| s.items) {
            let item = item.map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
            // The same item from two sources would be judged twice.
            if !item.value.is_empty() && items.iter().all(|i| i.value != item.value) {
                items.push(item);
            }
        }
        if items.is_empty() {
            let help = format!(
                "use {} with one item per line, or `rubric = [\"at most 150 words\"]`",
                option("rubric FILE")
            );
            return (None, vec![Problem::error("the rubric is empty").help(help)]);
        }
        let vague = items.iter().filter(|i| !is_measurable(&i.value)).map(|item| {
            Problem::warning(format!("rubric item `{}` has nothing measurable in it", brief(&item.value)))
                .help("say what a reader can check: a number, a thing it must contain, a quote")
                .at(item.place.as_ref())
        });
        let vague = vague.collect();
        (Some(Self { items }), vague)
    }

    /// The text both agents get: one bullet per item.
    pub fn text(&self) -> Text {
        let lines: Vec<String> = self.items.iter().map(|i| format!("- {}", i.value)).collect();
        Text::new(lines.join("\n"))
    }
}

/// The rubric of a loop: what its configuration says, then the user's own criteria (`--rubric`). More
/// sources join here, in the order of `Contributor`.
pub fn for_loop(
    setting: Option<&Sourced<RubricSetting>>,
    user: Vec<Sourced<String>>,
) -> (Option<Rubric>, Vec<Problem>) {
    let configured = match setting.map(from_setting) {
        Some(Err(problem)) => return (None, vec![problem]),
        Some(Ok(items)) => items,
        None => Vec::new(),
    };
    Rubric::build(vec![
        RubricSource { from: Contributor::Config, items: configured },
        RubricSource { from: Contributor::User, items: user },
    ])
}

/// The items that a configured rubric stands for.
pub fn from_setting(setting: &Sourced<RubricSetting>) -> Result<Vec<Sourced<String>>, Problem> {
    match &setting.value {
        RubricSetting::Items(items) => Ok(items.clone()),
        RubricSetting::File(path) => read(path, setting.layer).map_err(|p| {
            p.at(setting.place.as_ref()).help(
                "a string is the path of a rubric file; write items as a list, like [\"at most 150 words\"]",
            )
        }),
    }
}

/// The items of a Markdown or text file.
pub fn read(path: &Path, layer: ConfigLayer) -> Result<Vec<Sourced<String>>, Problem> {
    let text = file::read_text(path).map_err(|error| Problem::error(format!("rubric: {error}")))?;
    let found = items(&text, path, layer);
    if found.is_empty() {
        let message = format!("rubric: `{}` has no items", brief(&path.display().to_string()));
        return Err(Problem::error(message).help("write one item per line, or bullets"));
    }
    Ok(found)
}

/// Bullets with their continuation lines, and other lines as items of their own. Front matter, headings,
/// comments, rules and lines that only introduce a list (`The text:`) are no items.
pub fn items(text: &str, file: &Path, layer: ConfigLayer) -> Vec<Sourced<String>> {
    let mut items: Vec<Sourced<String>> = Vec::new();
    let mut open_bullet = false;
    let mut comment = false;
    let mut at = markdown::body_start(text);
    for raw in text.get(at..).unwrap_or_default().split_inclusive('\n') {
        let start = at + (raw.len() - raw.trim_start().len());
        at += raw.len();
        let line = raw.trim();
        if comment || line.starts_with("<!--") {
            comment = !line.contains("-->");
            continue;
        }
        if line.is_empty() || is_heading_or_rule(line) {
            open_bullet = false;
            continue;
        }
        let bullet = bullet(line);
        let indented = raw.starts_with([' ', '\t']);
        match (bullet, items.last_mut()) {
            (None, Some(last)) if open_bullet && indented => {
                last.value.push(' ');
                last.value.push_str(line);
                continue;
            }
            _ => {}
        }
        open_bullet = bullet.is_some();
        let item = bullet.unwrap_or(line).trim();
        if item.is_empty() || (bullet.is_none() && item.ends_with(':')) {
            continue;
        }
        let place = SourceSpan::new(file, text, start..start + line.len());
        items.push(Sourced { value: item.to_owned(), layer, place: Some(place) });
    }
    items
}

fn is_heading_or_rule(line: &str) -> bool {
    let hashes = line.chars().take_while(|c| *c == '#').count();
    let heading =
        (1..=6).contains(&hashes) && line.get(hashes..).is_some_and(|r| r.is_empty() || r.starts_with(' '));
    let rule = line.len() >= 3 && line.chars().all(|c| matches!(c, '-' | '=' | '*' | '_'));
    heading || rule
}

/// What follows `- `, `* `, `+ `, `1. `, `1) ` and an optional checkbox.
fn bullet(line: &str) -> Option<&str> {
    let digits = line.chars().take_while(char::is_ascii_digit).count();
    let rest = if (1..=3).contains(&digits) {
        line.get(digits..)?.strip_prefix(['.', ')'])?
    } else {
        line.strip_prefix(['-', '*', '+', '•'])?
    };
    let rest = rest.strip_prefix([' ', '\t'])?.trim_start();
    let unticked = ["[ ] ", "[x] ", "[X] "].iter().find_map(|b| rest.strip_prefix(b));
    Some(unticked.unwrap_or(rest))
}

/// Whether a reader could check the item. A hint for people, so it errs on the side of silence.
fn is_measurable(item: &str) -> bool {
    const CHECKS: &str = "all always any avoid avoids begin begins both cite cites compare compares \
        compiles contain contains define defines describe describes each end ends every exactly explain \
        explains fewer follow follows give gives identical include includes least less list lists match \
        matches mention mentions more most name named names never no none not once only pass passes quote \
        quotes refer refers report reports sentence sentences show shows start starts state stated states \
        twice use uses valid without word words one two three four five six seven eight nine ten";
    const DUTIES: &str = "must shall should needs has have is are";
    const VAGUE: &str = "appropriate beautiful better clean clear compelling engaging excellent fine good \
        great high-quality interesting nice professional proper quality readable reasonable solid strong \
        well well-written";
    if item.chars().any(char::is_numeric) || item.contains(['"', '“', '„', '`', '«']) {
        return true;
    }
    let lower = item.to_lowercase();
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric() && c != '-').filter(|w| !w.is_empty()).collect();
    let has = |list: &str| list.split_whitespace().any(|w| words.contains(&w));
    // The lists are English; an item in another language is not called vague for that.
    if !lower.is_ascii() {
        return true;
    }
    has(CHECKS) || (words.len() > 2 && has(DUTIES) && !has(VAGUE))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        items(text, Path::new("r.md"), ConfigLayer::Flags).into_iter().map(|i| i.value).collect()
    }

    fn source(from: Contributor, list: &[&str]) -> RubricSource {
        RubricSource { from, items: list.iter().map(|t| Sourced::flag((*t).to_owned())).collect() }
    }

    #[test]
    fn a_markdown_file_gives_its_bullets() {
        let text = "---\ntitle: r\n---\n# Rubric\n\nThe abstract:\n\n- at most 150 words\n  in the body\n* [ ] states the sample size\n1. names the journal\n\n---\n<!-- a note\nto self -->\nNo figures.\n";
        assert_eq!(
            texts(text),
            ["at most 150 words in the body", "states the sample size", "names the journal", "No figures."]
        );
    }

    #[test]
    fn a_plain_file_gives_its_lines_and_their_places() {
        let text = "at most 150 words\r\n\r\n  no passive voice\r\n";
        let found = items(text, Path::new("r.txt"), ConfigLayer::User);
        let shown: Vec<_> = found
            .iter()
            .map(|i| (i.value.as_str(), i.place.as_ref().unwrap().line, i.place.as_ref().unwrap().col))
            .collect();
        assert_eq!(shown, [("at most 150 words", 1, 1), ("no passive voice", 3, 3)]);
    }

    #[test]
    fn items_that_look_almost_like_marks_stay_items() {
        assert_eq!(
            texts("#1 is the title\n-5 degrees\n2024 is stated"),
            ["#1 is the title", "-5 degrees", "2024 is stated"]
        );
    }

    #[test]
    fn sources_stand_in_their_order_and_repeat_nothing() {
        let (rubric, problems) = Rubric::build(vec![
            source(Contributor::User, &["names the journal", "at most  150 words"]),
            source(Contributor::Config, &["at most 150 words"]),
        ]);
        assert_eq!(rubric.unwrap().text().as_str(), "- at most 150 words\n- names the journal");
        assert_eq!(problems, []);
    }

    #[test]
    fn an_empty_rubric_is_an_error() {
        let (rubric, problems) = Rubric::build(vec![source(Contributor::User, &["  "])]);
        assert_eq!(rubric, None);
        assert!(problems[0].is_error());
    }

    #[test]
    fn only_items_without_anything_to_check_are_warned_about() {
        for vague in
            ["good prose", "clear", "it should be well written and clear", "high-quality text", "flow"]
        {
            let (_, problems) = Rubric::build(vec![source(Contributor::User, &[vague])]);
            assert_eq!(problems.len(), 1, "{vague}");
            assert!(!problems[0].is_error());
        }
        for checkable in [
            "at most 150 words",
            "states the sample size",
            "cites sources",
            "must mention the limits",
            "the title is a question",
            "contains `main`",
            "höchstens eine Seite",
        ] {
            let (_, problems) = Rubric::build(vec![source(Contributor::User, &[checkable])]);
            assert_eq!(problems, [], "{checkable}");
        }
    }

    #[test]
    fn a_missing_file_is_reported_where_it_is_named() {
        let place = SourceSpan::new(Path::new("gadfly.toml"), "rubric = \"at most 150 words\"", 9..28);
        let setting = Sourced {
            value: RubricSetting::File("at most 150 words".into()),
            layer: ConfigLayer::Project,
            place: Some(place.clone()),
        };
        let problem = from_setting(&setting).unwrap_err();
        // The user's own criteria do not stand in for a rubric that could not be read.
        let user = vec![Sourced::flag("at most 150 words".to_owned())];
        assert_eq!(for_loop(Some(&setting), user.clone()), (None, vec![problem.clone()]));
        assert_eq!(for_loop(None, user).0.unwrap().items.len(), 1);
        assert_eq!(problem.at, Some(place));
        assert!(problem.help.unwrap().contains("as a list"));
    }

    proptest::proptest! {
        #[test]
        fn no_text_panics_and_every_item_lies_in_the_file(text in "[-*+# 0-9.a-z<!>:ü\n\r\t\u{feff}]{0,60}") {
            for item in items(&text, Path::new("r.md"), ConfigLayer::User) {
                let place = item.place.unwrap();
                proptest::prop_assert!(text.get(place.span).is_some());
                proptest::prop_assert!(!item.value.trim().is_empty());
            }
        }
    }
}
