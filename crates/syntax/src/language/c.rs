//! C: functions named for tests, `assert` and the macros of the usual frameworks.

use super::{Assertion, Language, Mark, NodeRef, Strength, Test, tells};

pub const C: Language = Language {
    name: "C",
    extensions: &["c", "h"],
    grammar: || tree_sitter_c::LANGUAGE.into(),
    prepared: super::as_is,
    literals: &["number_literal", "string_literal", "char_literal", "true", "false", "null"],
    identifiers: &["identifier", "field_identifier", "type_identifier"],
    functions: &["function_definition"],
    conditions: &["if_statement", "case_statement", "conditional_expression", "preproc_if", "preproc_ifdef"],
    returns: &["return_statement"],
    bindings: &[("init_declarator", "declarator"), ("assignment_expression", "left")],
    body_of_test: 0,
    redefines: false,
    calls_tests: true,
    exact: &[],
    plain: &["assert", "static_assert", "CHECK", "REQUIRE", "expect"],
    vague: &[],
    messages: &[],
    told: |at| tells(at, &[("UNIT_TEST", ""), ("UNIT_TESTS", ""), ("TESTING", ""), ("TEST", "")]),
    test,
    assertion,
    off,
    exits: |at| at.kind() == "call_expression" && exits_well(at.text()),
    swallows: super::never,
    mocks: super::nothing,
    calls: |at| {
        let function = (at.kind() == "call_expression").then(|| at.field("function")).flatten()?;
        (function.kind() == "identifier").then(|| function.text().to_owned())
    },
    defines: |at| match at.kind() {
        "preproc_def" | "preproc_function_def" => Some(at.field_text("name").to_owned()),
        "function_definition" => name_of(at).map(ToOwned::to_owned),
        _ => None,
    },
    imports: super::no_imports,
    holds_tests: super::never,
};

pub(super) fn exits_well(call: &str) -> bool {
    let text: String = call.split_whitespace().collect();
    ["exit", "_exit", "_Exit", "quick_exit"]
        .iter()
        .any(|name| text.strip_prefix(name).is_some_and(|rest| matches!(rest, "(0)" | "(EXIT_SUCCESS)")))
}

pub(super) fn name_of(at: NodeRef<'_>) -> Option<&str> {
    let mut inner = at.field("declarator")?;
    while let Some(next) = inner.field("declarator") {
        inner = next;
    }
    Some(inner.text())
}

pub(super) fn test(at: NodeRef<'_>) -> Option<Test> {
    if at.kind() != "function_definition" {
        return None;
    }
    let name = name_of(at)?;
    let is_test =
        name.starts_with("test_") || name.ends_with("_test") || at.in_test_file && name.starts_with("test");
    is_test.then(|| Test { name: name.to_owned(), off: never_compiled(at) })
}

/// `#if 0` around it.
pub(super) fn never_compiled(at: NodeRef<'_>) -> Vec<Mark> {
    let dead = at.above().any(|up| up.kind() == "preproc_if" && up.field_text("condition") == "0");
    dead.then(|| Mark { text: "#if 0".to_owned(), line: at.line(), conditional: false }).into_iter().collect()
}

pub(super) fn off(at: NodeRef<'_>) -> Option<Mark> {
    let defines = at.kind() == "preproc_def" && at.field_text("name") == "NDEBUG";
    let skips = at.kind() == "call_expression"
        && matches!(
            at.field_text("function"),
            "TEST_IGNORE" | "TEST_IGNORE_MESSAGE" | "cr_skip_test" | "SKIP"
        );
    (defines || skips).then(|| at.mark(false))
}

pub(super) fn assertion(at: NodeRef<'_>) -> Option<Assertion<'_>> {
    if at.kind() != "call_expression" {
        return None;
    }
    let name = at.field_text("function");
    let begins = [
        "assert",
        "ASSERT",
        "EXPECT",
        "CHECK",
        "REQUIRE",
        "TEST_ASSERT",
        "ck_assert",
        "cr_assert",
        "cr_expect",
        "munit_assert",
        "mu_assert",
        "expect_",
    ];
    if !begins.iter().any(|b| name.starts_with(b)) && C.strength(name).is_none() {
        return None;
    }
    let arguments = at.field("arguments")?.named();
    let is_equal = name.to_ascii_lowercase().contains("eq")
        || arguments.first().is_some_and(|n| at.of(*n).contains("=="));
    let strength = if is_equal { Strength::Exact } else { Strength::Plain };
    let (messages, operands): (Vec<_>, Vec<_>) =
        arguments.into_iter().partition(|n| n.kind() == "string_literal" && name.starts_with("mu_"));
    let operands = operands.into_iter().map(|n| vec![n]).collect();
    Some(Assertion { operands, messages, strength, empty: false })
}
