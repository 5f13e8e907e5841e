//! Registries that are wrong: every error at once, at its place, and any text is read without a panic.

use insta::assert_snapshot;
use proptest::prelude::*;

use super::super::{check, named, notes, resolved};
use super::*;

#[test]
fn everything_wrong_is_said_at_once() {
    let text = "\
## coder
- **REQUIRES:** `../secret.md` AND `/etc/passwd` AND `C:\\x.md`
- **PRODUCES:** `~/out/`, `ok/`
  - Required files: ../up.md
- **CRITIC:** one, two
- **QUALITY_WEIGHT:** ten percent
- **CRITIC:** again

## coder
- REQUIRES: `a/`

## Data Engineer
- REQUIRES: `a/

## writer
- REQIRES: `a/`
- PRODUCES:
- ESCALATION_TARGET: the people upstairs

## reader
- REQUIRES: `a/` AND
- Required sections: One
- QUALITY_WEIGHT: 10%

## lost
- PHASE: Any
- CRITIC: coder-critic

## gates
- REQUIRES: coder-critic score >= 120 OR (`a/`

## noted
- REQUIRES: `a/` — the one AND `b/`

```
## swallowed
- REQUIRES: `a/`
";
    let file = read(text);
    assert_snapshot!(said(&file.problems), @r"
    2:17 error: `../secret.md` cannot be a condition: it leaves the project | name a path inside the project, with `/` between folders
    2:36 error: `/etc/passwd` cannot be a condition: it leaves the project | name a path inside the project, with `/` between folders
    2:54 error: `C:\x.md` cannot be a condition: paths are written with `/` | name a path inside the project, with `/` between folders
    3:17 error: `~/out/` cannot be made: it leaves the project | name a path inside the project, with `/` between folders
    4:21 error: `../up.md` cannot be required: it leaves the project | name a file below the folder
    5:15 error: `one, two` is no name of a critic | write one name; what follows it is a note after ` — ` or in parentheses
    6:23 error: `ten percent` is no weight | write `10% (component)`, `Included in COMPONENT weight`, `Advisory` or `None`
    7:3 error: CRITIC is given twice | it stands in line 5 too: keep one
    9:4 error: `coder` is declared twice | its other entry is in line 1: keep one
    12:4 error: `Data Engineer` is no agent's name | a name is letters, digits, `-` and `_`; if this is no agent, write its fields as a table
    13:13 error: this backtick is never closed | put one at the end of the path
    16:3 error: `REQIRES` is no field | did you mean `REQUIRES`?
    17:3 error: PRODUCES has no value | write `None` if there is none
    18:22 error: `the people upstairs` is no name of somebody to escalate to | write one name; what follows it is a note after ` — ` or in parentheses
    20:4 error: `reader` has a weight and says nothing about a critic | name its critic, or write `CRITIC: None` if it judges the work of others itself
    21:18 error: no condition follows AND | write a condition on both sides of OR and AND
    22:3 error: these are required of no product | name a path in PRODUCES first
    25:4 warning: `lost` has fields, but neither REQUIRES nor PRODUCES | it is not taken for an agent: add one of them
    30:13 error: `coder-critic score >= 120` cannot be a condition: scores end at 100 | ask for less
    30:42 warning: this parenthesis has no partner | close it, or take it out
    33:28 warning: AND follows a note after a dash: taken as an operator, not as part of the note | put the note at the end, or write it in lower case
    35:1 warning: this code fence is never closed: everything after it is passed over | close it
    ");
    assert_eq!(pointed(text, &file.problems[0]), "`../secret.md`");
}

#[test]
fn a_field_without_its_bullet_is_not_swallowed_by_the_one_above() {
    let file = clean("## coder\n- REQUIRES: `a/`\n**CRITIC:** coder-critic\nPRODUCES: `b/`\n");
    assert_eq!(need(&entry(&file, "coder").requires), "2 a/");
    assert_eq!(entry(&file, "coder").critic.as_deref(), Some("coder-critic"));
    assert_eq!(entry(&file, "coder").produces.len(), 1);
}

#[test]
fn a_field_inside_the_value_of_another_is_an_error_at_its_place() {
    for line in [
        "- **PHASE:** One **REQUIRES:** `a/`",
        "- PHASE: One **REQUIRES**: `a/`",
        "- PHASE: One - REQUIRES: `a/`",
        "- PHASE: One | REQUIRES: `a/`",
        "- phase: one | requires: `a/`",
        "- phase: One Requires: `a/`",
        "- PHASE: REQUIRES: `a/`",
        "- PHASE: One\n  and REQUIRES: `a/`",
        "- NAME: coder | REQUIRES: `a/`",
        "- CRITIC: coder-critic, QUALITY WEIGHT: 10%",
        "- PHASE: One / Peso de calidad: 10%",
        "- Required files: a.md | Required sections: One",
    ] {
        let text = format!("## coder\n- PRODUCES: `b/`\n{line}\n");
        let file = read(&text);
        let said = said(&file.problems);
        assert!(said.contains(" stands inside the value of "), "{line}: {said}");
        assert!(said.contains("| put it on a line of its own"), "{said}");
    }
    let text = "## coder\n- PRODUCES: `b/`\n- **PHASE:** One **REQUIRES:** `a/`\n";
    let file = read(text);
    assert_snapshot!(said(&file.problems), @"3:20 error: `REQUIRES:` stands inside the value of PHASE | put it on a line of its own");
    assert_eq!(pointed(text, &file.problems[0]), "REQUIRES:");
    clean(
        "## coder\n- PHASE: One · REQUIRES: memo.md — its `REQUIRES:` block; ask the critic: it knows\n\
         - PRODUCES: `b/` (by phase: one file)\n- NOTE: as REQUIRES: says\n",
    );
}

#[test]
fn a_score_that_cannot_be_read_is_said() {
    let file = read(
        "## coder\n- REQUIRES: b-critic score is 80 or better AND approved by 2 people AND a good score\n\
         - PRODUCES: `b/`\n",
    );
    assert_snapshot!(said(&file.problems), @"2:13 warning: `b-critic score is 80 or better` could not be read as a score: a person is asked | write `NAME score >= 80`");
    let file = clean(
        "## referee\n- REQUIRES: b-critic score > 80 AND b-critic >= 80 AND `b-critic` >79 AND Referee >= 70 AND \
         coverage >= 80\n- PRODUCES: `b/`\n",
    );
    assert_eq!(
        need(&entry(&file, "referee").requires),
        "all(2 b-critic>=81, 2 b-critic>=80, 2 b-critic>=80, 2 Referee>=70, 2? coverage >= 80)"
    );
    assert!(read("## a\n- REQUIRES: b-critic > 100\n").has_errors());
}

#[test]
fn what_can_never_be_delivered_is_no_product() {
    let file = read(
        "## coder\n- REQUIRES: None\n- PRODUCES: `.git/hooks/pre-commit`, `.gadfly/x.md`, `sub/.GIT/`, \
         `.github/ci.yml`, `ok/`\n  - Required files: .git/config, .gitkeep\n",
    );
    assert_snapshot!(said(&file.problems), @r"
    3:13 error: `.git/hooks/pre-commit` cannot be made: it can never be delivered | name a path outside `.git/` and `.gadfly/`
    3:38 error: `.gadfly/x.md` cannot be made: it can never be delivered | name a path outside `.git/` and `.gadfly/`
    3:54 error: `sub/.GIT/` cannot be made: it can never be delivered | name a path outside `.git/` and `.gadfly/`
    4:21 error: `.git/config` cannot be required: it can never be delivered | name a path outside `.git/` and `.gadfly/`
    ");
    assert_eq!(entry(&file, "coder").produces.len(), 2);
}

#[test]
fn a_path_that_leaves_the_project_is_never_in_the_graph() {
    let file = read(
        "## coder\n- REQUIRES: ../a/\n- PRODUCES: a/../../b.md, /abs/x.md\n- Required files: ../../c.md\n",
    );
    assert!(file.has_errors());
    assert_eq!(need(&entry(&file, "coder").requires), "2? ../a/");
    assert!(entry(&file, "coder").produces.is_empty());
}

#[test]
fn what_is_too_much_is_an_error_and_not_a_long_wait() {
    let many = (0..2_001).fold(String::new(), |all, n| {
        all + &format!("## a{n}\n- REQUIRES: `x{n}/`\n- PRODUCES: `y{n}/*.md`\n")
    });
    assert!(read(&many).has_errors());
    let names: Vec<String> = (0..250).map(|n| format!("a{n}")).collect();
    let shared = format!("## {}\n- REQUIRES: {}\n", names.join(" / "), vec!["`x/`"; 100].join(" AND "));
    let file = read(&shared);
    assert!(said(&file.problems).contains("more than 20000 conditions"), "{}", said(&file.problems));
    let long = format!("## a\n- REQUIRES: {}\n", "(".repeat(400_000));
    assert!(said(&read(&long).problems).contains("longer than"));
    assert!(read(&"x".repeat(2_000_000)).has_errors());
    let dots = format!("## a\n- REQUIRES: x{}\n", " · ".repeat(100_000));
    assert!(read(&dots).has_errors());
}

fn fragments() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "## a\n",
        "## a / b-critic / c\n",
        "### d\n",
        "- **REQUIRES:** ",
        "- PRODUCES: ",
        "  - Required files: ",
        "- Required sections (x): ",
        "- CRITIC: ",
        "- QUALITY_WEIGHT: ",
        "`",
        "`a/`",
        "`a/*.md`",
        "x/{project}/",
        " AND ",
        " OR ",
        " — ",
        " · ",
        "(",
        ")",
        "{",
        "}",
        "[",
        ",",
        "b-critic score >= 80",
        "Overall score >= 95",
        " contains `.tex` files",
        " or ",
        "\n",
        "\r\n",
        "12.5% (half of 25% x)",
        "é",
        "…",
        "```\n",
        "**",
        ":",
        "<!--",
        "-->",
        "../",
        "\u{feff}",
        "None",
        "| x |\n",
        "- ",
        "ESCALATION_TARGET: A",
        "CONDITIONAL: yes",
    ]);
    prop::collection::vec(prop_oneof![9 => pieces.prop_map(str::to_owned), 1 => "\\PC{0,6}"], 0..60)
        .prop_map(|all| all.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(512) })]

    #[test]
    fn any_text_is_read_and_every_part_has_its_place(text in prop_oneof![fragments(), any::<String>()]) {
        let file = read(&text);
        prop_assert_eq!(file.spans.len(), file.registry.entries.len());
        for (entry, spans) in file.registry.entries.iter().zip(&file.spans) {
            prop_assert_eq!(entry.requires.atoms().len(), spans.atoms.len());
            prop_assert_eq!(entry.produces.len(), spans.products.len());
            prop_assert_eq!(&text[spans.name.clone()], entry.agent.as_str());
            for span in spans.atoms.iter().chain(&spans.products).chain(spans.values.values()) {
                prop_assert!(text.get(span.clone()).is_some());
            }
            let paths = entry.produces.iter().flat_map(|p| p.patterns.iter().chain(&p.files));
            for path in paths {
                prop_assert!(!path.0.starts_with('/') && !path.0.split('/').any(|part| part == ".."), "{path}");
            }
        }
        let agents = ["b-critic".to_owned(), "A".to_owned()].into();
        let known = super::super::CheckContext { agents: &agents, duals: &[] };
        check(&file, &known);
        notes(&file, &known);
        prop_assert_eq!(resolved(&named(&file.registry, &agents), "p").entries.len(), file.registry.entries.len());
    }
}
