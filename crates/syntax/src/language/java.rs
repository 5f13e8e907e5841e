//! Java: methods with `@Test`, what asserts in `JUnit`, and chains of `assertThat`.

use super::{Assertion, Language, Mark, NodeRef, Strength, Test, last, tells};

pub const JAVA: Language = Language {
    name: "Java",
    extensions: &["java"],
    grammar: || tree_sitter_java::LANGUAGE.into(),
    prepared: super::as_is,
    literals: &[
        "decimal_integer_literal",
        "hex_integer_literal",
        "octal_integer_literal",
        "binary_integer_literal",
        "decimal_floating_point_literal",
        "string_literal",
        "character_literal",
        "true",
        "false",
        "null_literal",
    ],
    identifiers: &["identifier", "type_identifier"],
    functions: &["method_declaration", "lambda_expression", "constructor_declaration"],
    conditions: &["if_statement", "switch_block_statement_group", "switch_rule", "ternary_expression"],
    returns: &["return_statement"],
    bindings: &[("variable_declarator", "name"), ("assignment_expression", "left")],
    body_of_test: 0,
    redefines: false,
    calls_tests: false,
    exact: &[
        "assertEquals",
        "assertArrayEquals",
        "assertSame",
        "assertIterableEquals",
        "assertLinesMatch",
        "isEqualTo",
        "containsExactly",
        "isSameAs",
        "hasSize",
    ],
    plain: &[
        "assertThat",
        "assertNotEquals",
        "assertThrows",
        "assertNull",
        "verify",
        "fail",
        "assertAll",
        "contains",
        "isTrue",
        "isFalse",
        "assertFalse",
    ],
    vague: &[
        "assertTrue",
        "assertNotNull",
        "assertDoesNotThrow",
        "assertInstanceOf",
        "isNotNull",
        "isInstanceOf",
        "isNotEmpty",
    ],
    messages: &[],
    told: |at| {
        tells(at, &[("org.junit", ""), ("junit", ""), ("surefire.test.class.path", ""), ("surefire", "")])
    },
    test,
    assertion,
    off,
    exits: |at| {
        at.kind() == "method_invocation"
            && at.text().split_whitespace().collect::<String>() == "System.exit(0)"
    },
    swallows: |at| {
        at.kind() == "catch_clause"
            && !["throw", "fail(", "assert"].iter().any(|word| at.field_text("body").contains(word))
    },
    mocks: super::nothing,
    calls: |at| (at.kind() == "method_invocation").then(|| at.field_text("name").to_owned()),
    defines: |at| {
        matches!(at.kind(), "method_declaration" | "class_declaration")
            .then(|| at.field_text("name").to_owned())
    },
    imports: |at| {
        if at.kind() != "import_declaration" {
            return Vec::new();
        }
        let path = at
            .text()
            .trim_start_matches("import")
            .trim()
            .trim_start_matches("static ")
            .trim_end_matches(';')
            .trim();
        // With all that a class has: the class.
        let path = path.strip_suffix(".*").filter(|_| at.text().contains(" static ")).unwrap_or(path);
        path.rsplit_once('.')
            .map(|(from, name)| (name.to_owned(), from.to_owned()))
            .filter(|(n, _)| n != "*")
            .into_iter()
            .collect()
    },
    holds_tests: super::never,
};

fn annotations(at: NodeRef<'_>) -> Vec<NodeRef<'_>> {
    let modifiers = at.named().into_iter().find(|n| n.kind() == "modifiers");
    let of = modifiers.map(|m| at.to(m).named()).unwrap_or_default();
    of.into_iter().filter(|n| n.kind().contains("annotation")).map(|n| at.to(n)).collect()
}

fn switch(annotation: NodeRef<'_>) -> Option<Mark> {
    match last(annotation.field_text("name")) {
        "Disabled" | "Ignore" => Some(annotation.mark(false)),
        name if name.starts_with("DisabledIf")
            || name.starts_with("EnabledIf")
            || name.starts_with("EnabledOn")
            || name.starts_with("DisabledOn") =>
        {
            Some(annotation.mark(true))
        }
        "Test" if annotation.text().contains("expected") || annotation.text().contains("enabled") => {
            Some(annotation.mark(false))
        }
        _ => None,
    }
}

fn test(at: NodeRef<'_>) -> Option<Test> {
    if at.kind() != "method_declaration" {
        return None;
    }
    let annotations = annotations(at);
    let is_test = |a: &NodeRef<'_>| {
        matches!(last(a.field_text("name")), "Test" | "ParameterizedTest" | "RepeatedTest" | "Property")
    };
    annotations.iter().any(is_test).then(|| Test {
        name: at.field_text("name").to_owned(),
        off: annotations.iter().filter_map(|a| switch(*a)).collect(),
    })
}

fn off(at: NodeRef<'_>) -> Option<Mark> {
    match at.kind() {
        "marker_annotation" | "annotation" => {
            let of = at.parent()?.parent()?;
            (of.kind() == "class_declaration").then(|| switch(at)).flatten()
        }
        "method_invocation" => {
            let name = at.field_text("name");
            matches!(name, "assumeTrue" | "assumeFalse" | "assumeThat" | "abort").then(|| at.mark(false))
        }
        _ => None,
    }
}

fn assertion(at: NodeRef<'_>) -> Option<Assertion<'_>> {
    if at.kind() != "method_invocation" {
        return None;
    }
    // Only the whole chain is one.
    if at.parent().is_some_and(|p| {
        p.kind() == "method_invocation" && p.field("object").is_some_and(|o| o.node == at.node)
    }) {
        return None;
    }
    let outer = at.field_text("name");
    let mut root = at;
    let mut arguments = at.field("arguments")?.named();
    while let Some(object) = root.field("object").filter(|o| o.kind() == "method_invocation") {
        arguments.splice(0..0, object.field("arguments").map(NodeRef::named).unwrap_or_default());
        root = object;
    }
    let first = root.field_text("name");
    let chained = root.node != at.node;
    let name = match first {
        "assertThat" | "expect" | "verify" if chained => outer,
        _ if first.starts_with("assert") || matches!(first, "fail" | "verify") => first,
        _ => return None,
    };
    let strength = JAVA.strength(name).unwrap_or(Strength::Plain);
    let is_text = |n: &tree_sitter::Node<'_>| n.kind() == "string_literal";
    let takes = match name {
        "assertTrue" | "assertFalse" | "assertNotNull" | "assertNull" => 1,
        "fail" => 0,
        "assertEquals" | "assertNotEquals" | "assertSame" => 2,
        _ => usize::MAX,
    };
    let mut messages = Vec::new();
    if !chained && arguments.len() > takes {
        // JUnit 4 has the message first, JUnit 5 last.
        let at_front = arguments.first().is_some_and(is_text) && !arguments.last().is_some_and(is_text);
        messages.push(if at_front { arguments.remove(0) } else { arguments.remove(arguments.len() - 1) });
    }
    let empty = first == "assertThat" && !chained && arguments.len() < 2;
    let operands = arguments.into_iter().map(|n| vec![n]).collect();
    Some(Assertion { operands, messages, strength, empty })
}
