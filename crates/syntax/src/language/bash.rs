//! Tests of Bats. Any command of such a test may be what fails, so each counts as an assertion: what is added is nobody's
//! concern, what is gone or other is. Other scripts are not read: where no failure ends them, a line more can turn them green.

use super::{Assertion, Language, Mark, NodeRef, Strength, Test, unquoted};

pub const BASH: Language = Language {
    name: "Bats",
    extensions: &["bats"],
    grammar: || tree_sitter_bash::LANGUAGE.into(),
    prepared,
    literals: &[
        "word",
        "number",
        "string",
        "string_content",
        "raw_string",
        "ansi_c_string",
        "regex",
        "heredoc_body",
    ],
    // What is put in place of these is decided elsewhere.
    identifiers: &[
        "variable_name",
        "special_variable_name",
        "simple_expansion",
        "expansion",
        "command_substitution",
        "arithmetic_expansion",
    ],
    functions: &["function_definition"],
    conditions: &[
        "if_statement",
        "elif_clause",
        "else_clause",
        "case_item",
        "list",
        "while_statement",
        "for_statement",
        "c_style_for_statement",
        "function_definition",
    ],
    returns: &[],
    bindings: &[("variable_assignment", "name")],
    body_of_test: 0,
    redefines: true,
    calls_tests: true,
    exact: &["assert_equal", "assertEquals", "assert_output", "assert_line", "diff", "cmp"],
    plain: &[
        "assert",
        "refute",
        "assertTrue",
        "assertFalse",
        "assert_success",
        "assert_failure",
        "grep",
        "fail",
    ],
    vague: &["true", ":", "assertNotNull"],
    messages: &[],
    told: |at| {
        at.kind() == "variable_name"
            && matches!(at.text(), "BATS_TEST_NAME" | "BATS_VERSION" | "SHUNIT_VERSION")
    },
    test,
    assertion,
    off,
    exits: |at| {
        let text = plain(at);
        at.in_test_file
            && at.kind() == "command"
            && (matches!(text.as_str(), "exit 0" | "exit" | "return 0" | "return") || name_of(at) == "exec")
    },
    swallows,
    // Whoever defines what is called stands in its way.
    mocks: |at| match at.kind() {
        "function_definition" => Some(at.field_text("name").to_owned()),
        "command" if name_of(at) == "alias" => {
            at.named().get(1).map(|n| at.of(*n).split('=').next().unwrap_or_default().to_owned())
        }
        _ => None,
    },
    calls: |at| (at.kind() == "command").then(|| name_of(at).to_owned()).filter(|name| !name.is_empty()),
    defines: |at| (at.kind() == "function_definition").then(|| at.field_text("name").to_owned()),
    imports: super::no_imports,
    holds_tests: super::never,
};

/// `@test "adds two" {` as a function with a name of as many bytes.
fn prepared(text: &str) -> Option<String> {
    let mut written: Option<Vec<u8>> = None;
    let mut from = 0;
    for line in text.split_inclusive('\n') {
        let indent = line.len() - line.trim_start().len();
        let head = line.trim_end().strip_suffix('{').filter(|head| head.trim_start().starts_with("@test "));
        if let Some(head) = head.filter(|head| head.len() >= indent + "@test ''".len()) {
            let bytes = written.get_or_insert_with(|| text.as_bytes().to_vec());
            let (start, end) = (from + indent, from + head.len());
            for byte in &mut bytes[start..end] {
                if !byte.is_ascii_alphanumeric() {
                    *byte = b'_';
                }
            }
            bytes[end - 3..end].copy_from_slice(b"() ");
        }
        from += line.len();
    }
    written.and_then(|bytes| String::from_utf8(bytes).ok())
}

fn name_of(at: NodeRef<'_>) -> &str {
    at.field_text("name")
}

/// A command in one spelling.
fn plain(at: NodeRef<'_>) -> String {
    at.text().split_whitespace().collect::<Vec<_>>().join(" ")
}

fn test(at: NodeRef<'_>) -> Option<Test> {
    if at.kind() != "function_definition" || !at.in_test_file {
        return None;
    }
    let line = at.text().lines().next().unwrap_or_default();
    let name = match line.strip_prefix("@test ") {
        Some(rest) => unquoted(rest.trim_end().trim_end_matches('{').trim()),
        None => at.field_text("name"),
    };
    let is_test = line.starts_with("@test ") || name.starts_with("test");
    is_test.then(|| Test { name: name.to_owned(), off: Vec::new() })
}

fn off(at: NodeRef<'_>) -> Option<Mark> {
    if !at.in_test_file {
        return None;
    }
    match at.kind() {
        // `#!/bin/sh -e`: what the shell is told there holds for every command.
        "comment" => at.text().starts_with("#!").then(|| at.mark(true)),
        "command" => {
            let text = plain(at);
            let reads = text.starts_with("set -") && text.contains('n') && !text.contains("-o");
            let forgives = text.starts_with("set +")
                && ["e", "o errexit", "o pipefail"].iter().any(|o| text.contains(o));
            let ends = name_of(at) == "trap" && text.contains("exit");
            let skips = matches!(name_of(at), "skip" | "startSkipping" | "bats_skip");
            // `type flock || skip "no flock"`
            let conditional = skips && at.parent().is_some_and(|up| up.kind() == "list");
            (reads || forgives || ends || skips).then(|| at.mark(conditional))
        }
        "variable_assignment" => matches!(name_of(at), "PATH" | "BASH_ENV" | "ENV").then(|| at.mark(true)),
        _ => None,
    }
}

/// `… || true`, `… &`: a failure that nobody hears of.
fn swallows(at: NodeRef<'_>) -> bool {
    if !at.in_test_file {
        return false;
    }
    if at.kind() == "&" {
        return true;
    }
    let alternative = at.children().windows(2).find_map(|pair| (pair[0].kind() == "||").then_some(pair[1]));
    let fails = |text: &str| {
        ["exit", "return", "fail", "false", "die", "abort", "error", "kill"].iter().any(|word| {
            text.match_indices(word).any(|(at, _)| {
                let rest = text[at + word.len()..].trim_start();
                !matches!(*word, "exit" | "return")
                    || rest.starts_with(|c: char| c.is_ascii_digit() && c != '0' || c == '$')
            })
        })
    };
    at.kind() == "list" && alternative.is_some_and(|other| !fails(at.of(other)))
}

fn assertion(at: NodeRef<'_>) -> Option<Assertion<'_>> {
    let is_statement = matches!(
        at.kind(),
        "command"
            | "test_command"
            | "pipeline"
            | "negated_command"
            | "redirected_statement"
            | "declaration_command"
    );
    if !at.in_test_file || !is_statement {
        return None;
    }
    let name = name_of(at);
    let compared = at.named().first().map(|n| at.to(*n)).filter(|inner| {
        at.kind() == "test_command"
            && inner.kind() == "binary_expression"
            && matches!(inner.field_text("operator"), "=" | "==" | "-eq")
    });
    let operands = match compared {
        Some(inner) => ["left", "right"]
            .iter()
            .filter_map(|side| inner.field(side))
            .map(|side| vec![side.node])
            .collect(),
        None => at.operands(),
    };
    let strength = match BASH.strength(name) {
        _ if compared.is_some() => Strength::Exact,
        Some(strength) => strength,
        None => Strength::Plain,
    };
    let empty = at.kind() == "command" && matches!(plain(at).as_str(), "true" | ":");
    // A command whose words are all written out does something all the same.
    Some(Assertion {
        operands: if compared.is_some() { operands } else { Vec::new() },
        messages: Vec::new(),
        strength,
        empty,
    })
}
