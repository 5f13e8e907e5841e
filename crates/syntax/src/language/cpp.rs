//! C++: the macros of `GoogleTest`, Catch2, doctest and Boost.Test, and whatever C has. A macro that takes a text and then a block
//! is no C++; before a file is parsed such a head is written as one that is, with as many bytes.

use super::{Assertion, Language, Mark, NodeRef, Strength, Test, c, tells, unquoted};

pub const CPP: Language = Language {
    name: "C++",
    extensions: &["cc", "cpp", "cxx", "c++", "hh", "hpp", "hxx", "h++", "ipp", "inl"],
    grammar: || tree_sitter_cpp::LANGUAGE.into(),
    prepared,
    literals: &[
        "number_literal",
        "string_literal",
        "raw_string_literal",
        "char_literal",
        "user_defined_literal",
        "true",
        "false",
        "null",
    ],
    identifiers: &["identifier", "field_identifier", "type_identifier", "namespace_identifier"],
    functions: &["function_definition", "lambda_expression"],
    conditions: &["if_statement", "case_statement", "conditional_expression", "preproc_if", "preproc_ifdef"],
    returns: &["return_statement"],
    bindings: &[("init_declarator", "declarator"), ("assignment_expression", "left")],
    body_of_test: 0,
    redefines: false,
    calls_tests: true,
    exact: &[],
    plain: &["assert", "static_assert", "CHECK", "REQUIRE", "expect", "EXPECT_TRUE", "ASSERT_TRUE"],
    vague: &[],
    messages: &["INFO", "CAPTURE", "UNSCOPED_INFO", "SCOPED_TRACE"],
    told: |at| {
        tells(
            at,
            &[
                ("UNIT_TEST", ""),
                ("UNIT_TESTS", ""),
                ("TESTING", ""),
                ("TEST", ""),
                ("GTEST_API_", ""),
                ("CATCH_VERSION_MAJOR", ""),
                ("DOCTEST_LIBRARY_INCLUDED", ""),
                ("BOOST_TEST_MODULE", ""),
            ],
        )
    },
    test,
    assertion,
    off,
    exits: |at| {
        let plain = at.text().trim_start_matches("std::").trim_start_matches("::");
        at.kind() == "call_expression" && c::exits_well(plain)
    },
    swallows: |at| {
        let body = at.field_text("body");
        at.kind() == "catch_clause"
            && !["throw", "FAIL", "ADD_FAILURE", "EXPECT_", "ASSERT_", "CHECK", "REQUIRE", "assert", "abort"]
                .iter()
                .any(|word| body.contains(word))
    },
    mocks: super::nothing,
    calls: |at| {
        let function = (at.kind() == "call_expression").then(|| at.field("function")).flatten()?;
        let name = match function.kind() {
            "field_expression" => function.field("field")?,
            "qualified_identifier" | "template_function" => function.field("name")?,
            _ => function,
        };
        matches!(name.kind(), "identifier" | "field_identifier").then(|| name.text().to_owned())
    },
    defines: |at| match at.kind() {
        "preproc_def" | "preproc_function_def" | "class_specifier" | "struct_specifier" => {
            Some(at.field_text("name").to_owned()).filter(|name| !name.is_empty())
        }
        "function_definition" => c::name_of(at).map(ToOwned::to_owned),
        _ => None,
    },
    imports: super::no_imports,
    holds_tests: is_macro,
};

/// Macros that make a test of the block behind them.
const TESTS: [&str; 15] = [
    "TEST",
    "TEST_F",
    "TEST_P",
    "TYPED_TEST",
    "TYPED_TEST_P",
    "TEST_CASE",
    "TEST_CASE_METHOD",
    "TEST_CASE_FIXTURE",
    "TEMPLATE_TEST_CASE",
    "SCENARIO",
    "BOOST_AUTO_TEST_CASE",
    "BOOST_FIXTURE_TEST_CASE",
    "BOOST_DATA_TEST_CASE",
    "BENCHMARK_TEST",
    "DEATH_TEST",
];
/// Macros with a text that make a part of a test of the block behind them.
const PARTS: [&str; 9] =
    ["SECTION", "DYNAMIC_SECTION", "SUBCASE", "GIVEN", "WHEN", "THEN", "AND_GIVEN", "AND_WHEN", "AND_THEN"];

/// Where a head ends, of a macro that is followed by a block: behind its closing bracket.
fn head(text: &str, from: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut depth, mut quoted, mut at) = (0_usize, false, from);
    while let Some(byte) = bytes.get(at).filter(|_| at - from < 4096) {
        match byte {
            b'\\' if quoted => at += 1,
            b'"' => quoted = !quoted,
            b'(' if !quoted => depth += 1,
            b')' if !quoted => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    let rest = text.get(at + 1..)?.trim_start();
                    return rest.starts_with('{').then_some(at + 1);
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// `TEST_CASE("adds", "[a]") {` as `TEST_CASE(_adds_, __a__) {`, and `SECTION("zero") {` as `while  (_zero_) {`.
fn prepared(text: &str) -> Option<String> {
    let mut written: Option<Vec<u8>> = None;
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    for (at, _) in text.match_indices('(') {
        let before = &text[..at];
        let name = before.rsplit(|c: char| !is_word(c)).next().unwrap_or_default();
        let line = before[..at - name.len()].rsplit(['\n', ';', '{', '}']).next().unwrap_or_default();
        let (is_test, is_part) = (TESTS.contains(&name), PARTS.contains(&name));
        if !(is_test || is_part) || !line.trim().is_empty() {
            continue;
        }
        let Some(end) = head(text, at) else { continue };
        if is_test && !text[at..end].contains('"') {
            continue;
        }
        let bytes = written.get_or_insert_with(|| text.as_bytes().to_vec());
        let mut quoted = false;
        for byte in &mut bytes[at + 1..end - 1] {
            quoted ^= *byte == b'"';
            // A comma parts the names of a test; everything else belongs to one.
            if !(byte.is_ascii_alphanumeric() || *byte == b'\n' || *byte == b',' && is_test && !quoted) {
                *byte = b'_';
            }
        }
        if is_part {
            let keyword: &[u8] = if name.len() < 5 { b"if" } else { b"while" };
            let start = at - name.len();
            bytes[start..at].fill(b' ');
            bytes[start..start + keyword.len()].copy_from_slice(keyword);
        }
    }
    written.and_then(|bytes| String::from_utf8(bytes).ok())
}

fn is_macro(at: NodeRef<'_>) -> bool {
    at.kind() == "function_definition" && c::name_of(at).is_some_and(|name| TESTS.contains(&name))
}

fn test(at: NodeRef<'_>) -> Option<Test> {
    if !is_macro(at) {
        return c::test(at);
    }
    let mut inner = at.field("declarator")?;
    while let Some(next) = inner.field("declarator").filter(|next| next.kind() == "function_declarator") {
        inner = next;
    }
    let given = inner.field_text("parameters").trim_matches(['(', ')']);
    let parts: Vec<&str> = given.split(',').map(|part| unquoted(part.trim())).collect();
    let name = if given.contains('"') { parts.first()?.to_string() } else { parts.join(".") };
    let disabled = parts.iter().any(|part| part.starts_with("DISABLED_"))
        || given.contains("[.")
        || given.contains("[!mayfail]")
        || given.contains("[!shouldfail]")
        || given.contains("skip()")
        || given.contains("may_fail()")
        || given.contains("should_fail()");
    let mut off = c::never_compiled(at);
    off.extend(disabled.then(|| Mark { text: crate::shown(given), line: at.line(), conditional: false }));
    // It goes by the same name when it is switched off.
    Some(Test { name: name.replace("DISABLED_", ""), off })
}

fn off(at: NodeRef<'_>) -> Option<Mark> {
    let name = || super::last(at.field_text("function"));
    let skips = at.kind() == "call_expression"
        && matches!(name(), "GTEST_SKIP" | "SKIP" | "GTEST_SKIP_" | "BOOST_TEST_SKIP");
    // `GTEST_SKIP() << "why"` is one statement; so is the bare call.
    if skips { Some(at.mark(false)) } else { c::off(at) }
}

fn assertion(at: NodeRef<'_>) -> Option<Assertion<'_>> {
    if at.kind() == "static_assert_declaration" {
        let operands = vec![vec![at.field("condition")?.node]];
        let messages = at.field("message").map(|m| m.node).into_iter().collect();
        return Some(Assertion { operands, messages, strength: Strength::Plain, empty: false });
    }
    let name = (at.kind() == "call_expression").then(|| super::last(at.field_text("function")))?;
    let begins = ["EXPECT_", "ASSERT_", "CHECK", "REQUIRE", "BOOST_TEST", "BOOST_CHECK", "BOOST_REQUIRE"];
    let fails = matches!(name, "FAIL" | "ADD_FAILURE" | "BOOST_FAIL" | "BOOST_ERROR" | "FAIL_CHECK");
    if !fails && !begins.iter().any(|begin| name.starts_with(begin)) {
        return c::assertion(at);
    }
    let arguments = at.field("arguments")?.named();
    let equal = name.ends_with("EQ")
        || name.contains("EQUAL")
        || arguments.first().is_some_and(|n| at.of(*n).contains("=="));
    let vague = name.ends_with("NO_THROW") || name.ends_with("NOTHROW") || name.ends_with("ANY_THROW");
    let strength = match (equal, vague) {
        (true, _) => Strength::Exact,
        (_, true) => Strength::Vague,
        _ => Strength::Plain,
    };
    let operands = if fails { Vec::new() } else { arguments.into_iter().map(|n| vec![n]).collect() };
    Some(Assertion { operands, messages: Vec::new(), strength, empty: false })
}
