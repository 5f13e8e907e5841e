//! Go: functions named `Test…` in `_test.go`, `t.Error` under a condition, and testify.

use super::{Assertion, Language, Mark, NodeRef, Strength, Test, last, tells, unquoted};

pub const GO: Language = Language {
    name: "Go",
    extensions: &["go"],
    grammar: || tree_sitter_go::LANGUAGE.into(),
    prepared: super::as_is,
    literals: &[
        "int_literal",
        "float_literal",
        "imaginary_literal",
        "rune_literal",
        "interpreted_string_literal",
        "raw_string_literal",
        "true",
        "false",
        "nil",
    ],
    identifiers: &["identifier", "field_identifier", "package_identifier", "type_identifier"],
    functions: &["function_declaration", "method_declaration", "func_literal"],
    conditions: &["if_statement", "expression_case", "type_case"],
    returns: &["return_statement"],
    bindings: &[("short_var_declaration", "left"), ("assignment_statement", "left"), ("var_spec", "name")],
    body_of_test: 0,
    redefines: false,
    calls_tests: false,
    exact: &["Equal", "EqualValues", "Exactly", "JSONEq", "ElementsMatch", "EqualError", "Len", "DeepEqual"],
    plain: &[
        "Error",
        "Errorf",
        "Fatal",
        "Fatalf",
        "Fail",
        "FailNow",
        "NotEqual",
        "Contains",
        "ErrorIs",
        "ErrorAs",
        "ErrorContains",
        "Panics",
        "InDelta",
        "Regexp",
        "Nil",
        "False",
        "True",
    ],
    vague: &["NoError", "NotNil", "NotEmpty", "IsType", "NotPanics"],
    messages: &[],
    told: |at| {
        tells(
            at,
            &[
                ("test.v", ""),
                ("test.run", ""),
                (".test", "Args"),
                ("_test", "Args"),
                ("Testing", "testing."),
            ],
        )
    },
    test,
    assertion,
    off,
    exits: |at| {
        at.kind() == "call_expression" && at.text().split_whitespace().collect::<String>() == "os.Exit(0)"
    },
    swallows: |at| at.kind() == "call_expression" && at.field_text("function") == "recover",
    mocks: super::nothing,
    calls: |at| {
        let function = (at.kind() == "call_expression").then(|| at.field("function")).flatten()?;
        let name = function.field("field").unwrap_or(function);
        matches!(name.kind(), "identifier" | "field_identifier").then(|| name.text().to_owned())
    },
    defines: |at| {
        matches!(at.kind(), "function_declaration" | "method_declaration")
            .then(|| at.field_text("name").to_owned())
    },
    imports: |at| {
        let path =
            if at.kind() == "import_spec" { unquoted(at.field_text("path")) } else { return Vec::new() };
        let name = at.field("name").map_or_else(|| path.rsplit('/').next().unwrap_or(path), NodeRef::text);
        vec![(name.to_owned(), path.to_owned())]
    },
    holds_tests: super::never,
};

fn is_tests(at: NodeRef<'_>) -> bool {
    // `TestX`, not `Testify`.
    at.field_text("name")
        .strip_prefix("Test")
        .or_else(|| at.field_text("name").strip_prefix("Fuzz"))
        .is_some_and(|rest| !rest.starts_with(char::is_lowercase))
}

fn test(at: NodeRef<'_>) -> Option<Test> {
    if at.kind() != "function_declaration"
        || !at.in_test_file
        || !is_tests(at)
        || at.field_text("name") == "TestMain"
    {
        return None;
    }
    at.field_text("parameters")
        .contains("testing.")
        .then(|| Test { name: at.field_text("name").to_owned(), off: Vec::new() })
}

fn off(at: NodeRef<'_>) -> Option<Mark> {
    match at.kind() {
        "comment" if at.text().starts_with("//go:build") || at.text().starts_with("// +build") => {
            Some(at.mark(!at.text().contains("ignore")))
        }
        "call_expression" => {
            let function = at.field_text("function");
            if function == "flag.Set" && at.field_text("arguments").contains("\"test.") {
                return Some(at.mark(false));
            }
            let (of, name) = function.split_once('.')?;
            (matches!(of, "t" | "b" | "f" | "tb" | "s") && matches!(name, "Skip" | "Skipf" | "SkipNow")).then(
                || {
                    let conditional = at
                        .above()
                        .take_while(|up| up.kind() != "function_declaration")
                        .any(|up| up.kind() == "if_statement");
                    at.mark(conditional)
                },
            )
        }
        // It says what the whole package's tests come to.
        "function_declaration" if at.field_text("name") == "TestMain" => {
            let body = at.field_text("body");
            let runs = body.contains(".Run()");
            let lies = body.split_whitespace().collect::<String>().contains("os.Exit(0)");
            (!runs || lies).then(|| Mark {
                text: "TestMain ends with success whatever the tests say".to_owned(),
                line: at.line(),
                conditional: false,
            })
        }
        _ => None,
    }
}

fn assertion(at: NodeRef<'_>) -> Option<Assertion<'_>> {
    if at.kind() != "call_expression" || !at.in_test_file {
        return None;
    }
    let function = at.field("function").filter(|f| f.kind() == "selector_expression")?;
    let (of, name) = (function.field_text("operand"), function.field_text("field").to_owned());
    let mut arguments = at.field("arguments")?.named();
    if matches!(of, "require" | "assert") {
        let base = name.strip_suffix('f').filter(|n| GO.strength(n).is_some()).unwrap_or(&name);
        let strength = GO.strength(base).unwrap_or(Strength::Plain);
        let takes = match base {
            "NoError" | "Nil" | "NotNil" | "True" | "False" | "NotEmpty" | "Error" | "Empty" => 2,
            _ => 3,
        };
        let messages = arguments.split_off(takes.min(arguments.len()));
        let operands = arguments.into_iter().skip(1).map(|n| vec![n]).collect();
        return Some(Assertion { operands, messages, strength, empty: false });
    }
    if !matches!(of, "t" | "tb" | "b" | "f" | "c")
        || !matches!(last(&name), "Error" | "Errorf" | "Fatal" | "Fatalf" | "Fail" | "FailNow")
    {
        return None;
    }
    let around = at
        .above()
        .take_while(|up| up.kind() != "function_declaration")
        .find(|up| up.kind() == "if_statement");
    let condition = around.and_then(|up| up.field("condition"));
    let operands: Vec<Vec<_>> = condition.map(|c| vec![c.node]).into_iter().collect();
    let is_equal = condition.is_some_and(|c| c.text().contains("!=") || c.text().contains("DeepEqual"));
    let strength = if is_equal { Strength::Exact } else { Strength::Plain };
    Some(Assertion { operands, messages: arguments, strength, empty: false })
}
