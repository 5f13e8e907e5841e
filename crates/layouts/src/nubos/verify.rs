//! The commands of a plan's `<verify>` blocks, as nubos-pilot runs them: all executable lines of all blocks, as one
//! script under `bash -eo pipefail`. So `cd` and `export` hold for the lines below them.

use std::ops::Range;
use std::path::Path;

use gadfly_project::place::{ConfigLayer, SourceSpan, Sourced};

use super::{MOST_ITEMS, tags};

/// The one command that runs the script; none if no line can be run.
pub(super) fn commands(plan: &Path, text: &str) -> Vec<Sourced<String>> {
    let parts = parts(text);
    let Some(first) = parts.iter().flatten().next().cloned() else { return Vec::new() };
    let lines: Vec<&str> = parts.iter().flat_map(|part| dedented(text, part)).collect();
    let place = Some(SourceSpan::new(plan, text, first));
    let script = tags::decoded(&lines.join("\n"));
    vec![Sourced { value: in_bash(&script), layer: ConfigLayer::Project, place }]
}

/// The script's lines with their indentation: what is automated, or, in a block that does not say, its bare lines.
fn parts(text: &str) -> Vec<Vec<Range<usize>>> {
    let (mut found, mut count) = (Vec::new(), 0);
    for block in tags::blocks(text, "verify", 0..text.len()) {
        let manual = tags::blocks_or_rest(text, "manual", block.clone());
        let automated = tags::blocks(text, "automated", block.clone());
        let parts = if automated.is_empty() { vec![block] } else { automated };
        for part in parts {
            let mut lines = tags::whole_lines(text, part);
            lines.retain(|span| {
                let line = text.get(span.clone()).unwrap_or_default().trim();
                let by_hand = manual.iter().any(|m| m.start <= span.end && span.start < m.end);
                let is_command = !line.is_empty() && !line.starts_with('#') && !line.starts_with("```");
                is_command && !by_hand && !tags::is_tag(line)
            });
            lines.truncate(MOST_ITEMS - count);
            count += lines.len();
            found.push(lines);
        }
    }
    found
}

/// Without the indentation that all lines share: the end of a here-document has to stand at a line's beginning.
fn dedented<'a>(text: &'a str, spans: &[Range<usize>]) -> Vec<&'a str> {
    let lines: Vec<&str> = spans.iter().map(|span| text.get(span.clone()).unwrap_or_default()).collect();
    let lead = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let shared = lines.iter().map(|line| lead(line)).min().unwrap_or(0);
    lines.iter().map(|line| line.get(shared..).unwrap_or(line).trim_end()).collect()
}

fn in_bash(script: &str) -> String {
    format!("bash -eo pipefail -c '{}'", script.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(text: &str) -> String {
        let found = commands(Path::new("p"), text);
        assert!(found.len() <= 1);
        found.into_iter().map(|c| c.value).collect()
    }

    #[test]
    fn all_lines_of_all_blocks_are_one_script() {
        let text = "<verify>\n  cd lib\n  test -f two.cjs\n</verify>\nwords\n<Verify kind=\"x\"><automated>\n# why\n[[ 1 == 1 ]]\n</automated>\nnot this\n</Verify>\n";
        assert_eq!(script(text), "bash -eo pipefail -c 'cd lib\ntest -f two.cjs\n[[ 1 == 1 ]]'");
        assert_eq!(script("<verify>make</verify>"), "bash -eo pipefail -c 'make'");
        assert_eq!(script("<verify>\n# nothing\n</verify>"), "");
    }

    #[test]
    fn quotes_and_entities_mean_what_they_say() {
        let text = "<verify>test -f a &amp;&amp; ! grep -q &#34;TODO&#x22; a; echo 'it' &amp;lt; &nbsp; &#0;</verify>";
        assert_eq!(
            script(text),
            r#"bash -eo pipefail -c 'test -f a && ! grep -q "TODO" a; echo '\''it'\'' &lt; &nbsp; &#0;'"#
        );
    }

    #[test]
    fn a_here_document_keeps_its_shape() {
        let text = "<verify>\n    python3 - <<E\n    if 1:\n        print(1)\n    E\n</verify>";
        assert_eq!(script(text), "bash -eo pipefail -c 'python3 - <<E\nif 1:\n    print(1)\nE'");
    }
}
