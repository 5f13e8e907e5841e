//! JavaScript and TypeScript: `it` and `test`, `expect` chains, `assert`. One table; the grammars differ.

use super::{Assertion, Language, Mark, NodeRef, Strength, Test, tells, unquoted};

pub const JAVASCRIPT: Language = Language {
    name: "JavaScript",
    extensions: &["js", "jsx", "mjs", "cjs"],
    grammar: || tree_sitter_javascript::LANGUAGE.into(),
    prepared: super::as_is,
    literals: &["number", "string", "template_string", "regex", "true", "false", "null", "undefined"],
    identifiers: &["identifier", "property_identifier", "shorthand_property_identifier", "type_identifier"],
    functions: &[
        "function_declaration",
        "function_expression",
        "arrow_function",
        "method_definition",
        "generator_function",
    ],
    conditions: &["if_statement", "switch_case", "ternary_expression"],
    returns: &["return_statement"],
    bindings: &[("variable_declarator", "name"), ("assignment_expression", "left")],
    body_of_test: 1,
    redefines: false,
    calls_tests: false,
    exact: &[
        "toBe",
        "toEqual",
        "toStrictEqual",
        "toHaveBeenCalledWith",
        "toHaveBeenLastCalledWith",
        "toBeCloseTo",
        "toHaveLength",
        "toHaveBeenCalledTimes",
        "toMatchInlineSnapshot",
        "toMatchSnapshot",
        "equal",
        "strictEqual",
        "deepEqual",
        "deepStrictEqual",
        "eql",
        "eq",
        "is",
        "same",
        "toMatchObject",
    ],
    plain: &[
        "assert",
        "expect",
        "throws",
        "rejects",
        "toThrow",
        "toContain",
        "toMatch",
        "match",
        "notEqual",
        "include",
        "fail",
    ],
    vague: &[
        "toBeTruthy",
        "toBeFalsy",
        "toBeDefined",
        "toBeInstanceOf",
        "toHaveBeenCalled",
        "ok",
        "truthy",
        "exist",
        "pass",
    ],
    messages: &[],
    told: |at| {
        tells(
            at,
            &[
                ("test", "NODE_ENV"),
                ("JEST_WORKER_ID", ""),
                ("VITEST", ""),
                ("VITEST_WORKER_ID", ""),
                ("jest", "typeof"),
                ("describe", "typeof"),
                ("it", "typeof"),
                ("jest", "argv"),
                ("vitest", "argv"),
                ("mocha", "argv"),
            ],
        )
    },
    test,
    assertion,
    off,
    exits,
    swallows,
    mocks,
    calls,
    defines,
    imports,
    holds_tests: super::never,
};

pub const TYPESCRIPT: Language = Language {
    name: "TypeScript",
    extensions: &["ts", "mts", "cts"],
    grammar: || tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
    prepared: super::as_is,
    ..JAVASCRIPT
};

pub const TSX: Language = Language {
    name: "TSX",
    extensions: &["tsx"],
    grammar: || tree_sitter_typescript::LANGUAGE_TSX.into(),
    prepared: super::as_is,
    ..JAVASCRIPT
};

/// `it`, `it.skip`, `test.each([…])`: the names of a call, the first first.
fn names(at: NodeRef<'_>) -> Vec<&str> {
    let mut names = Vec::new();
    let mut function = at.field("function");
    while let Some(at) = function {
        function = match at.kind() {
            "member_expression" => {
                names.push(at.field_text("property"));
                at.field("object")
            }
            "call_expression" => at.field("function"),
            "identifier" => {
                names.push(at.text());
                None
            }
            _ => None,
        };
    }
    names.reverse();
    names
}

/// The text and the function a test is made of.
fn is_suite_call(at: NodeRef<'_>, begins: &[&str]) -> bool {
    at.kind() == "call_expression"
        && at.in_test_file
        && names(at).first().is_some_and(|first| begins.contains(first))
        // `test.each(table)` alone is no test yet.
        && at.parent().is_none_or(|p| p.kind() != "call_expression")
}

const TESTS: [&str; 8] = ["it", "test", "specify", "fit", "xit", "xtest", "ftest", "Deno"];
const GROUPS: [&str; 8] =
    ["describe", "context", "suite", "xdescribe", "fdescribe", "xcontext", "xsuite", "fcontext"];

fn switch(at: NodeRef<'_>) -> Option<Mark> {
    let names = names(at);
    let first = names.first()?;
    let what = names[1..]
        .iter()
        .find(|n| matches!(**n, "skip" | "only" | "todo" | "fails" | "failing" | "skipIf" | "runIf"));
    let by_name = (TESTS.contains(first) || GROUPS.contains(first)) && first.starts_with(['x', 'f']);
    if by_name {
        return Some(Mark { text: (*first).to_owned(), line: at.line(), conditional: false });
    }
    if let Some(what) = what {
        let text = format!("{first}.{what}");
        return Some(Mark { text, line: at.line(), conditional: matches!(*what, "skipIf" | "runIf") });
    }
    // node: `test("adds", { skip: true }, …)`.
    let options = at.field("arguments")?.named().into_iter().find(|n| n.kind() == "object")?;
    let text = at.of(options);
    ["skip:", "todo:", "only:"].iter().any(|word| text.contains(word)).then(|| at.to(options).mark(false))
}

fn test(at: NodeRef<'_>) -> Option<Test> {
    if !is_suite_call(at, &TESTS) {
        return None;
    }
    let arguments = at.field("arguments")?.named();
    let name = arguments.first().map(|n| unquoted(at.of(*n)).to_owned())?;
    // `test.skip()` in a body, `test.setTimeout(…)`: no test without a function, unless it is one to be done.
    let is_function = |n: &tree_sitter::Node<'_>| {
        matches!(n.kind(), "arrow_function" | "function_expression" | "identifier")
    };
    let todo = names(at).contains(&"todo");
    (todo || arguments.iter().skip(1).any(is_function))
        .then(|| Test { name, off: switch(at).into_iter().collect() })
}

fn off(at: NodeRef<'_>) -> Option<Mark> {
    match at.kind() {
        "call_expression" if is_suite_call(at, &GROUPS) => switch(at),
        "call_expression" if at.field_text("function") == "expect.extend" => {
            let text = at.field_text("arguments");
            let replaces =
                |name: &&str| text.contains(&format!("{name}:")) || text.contains(&format!("{name}("));
            JAVASCRIPT
                .exact
                .iter()
                .any(|name| name.starts_with("to") && replaces(name))
                .then(|| at.mark(false))
        }
        "call_expression" => {
            let names = names(at);
            matches!(
                names[..],
                ["this" | "t" | "ctx" | "context" | "test", "skip"] | ["jest", "retryTimes"] | ["pending"]
            )
            .then(|| at.mark(false))
        }
        _ => None,
    }
    .or_else(|| {
        (at.kind() == "call_expression" && at.in_test_file && at.field_text("function") == "this.skip")
            .then(|| at.mark(false))
    })
}

fn assertion(at: NodeRef<'_>) -> Option<Assertion<'_>> {
    let is_bare =
        at.kind() == "member_expression" && at.parent().is_some_and(|p| p.kind() == "expression_statement");
    if at.kind() != "call_expression" && !is_bare {
        return None;
    }
    // Only the whole chain is one.
    if at.parent().is_some_and(|p| {
        p.kind() == "member_expression" && p.field("object").is_some_and(|o| o.node == at.node)
    }) {
        return None;
    }
    let (mut inner, mut root) = (Vec::new(), at);
    let mut called = Vec::new();
    loop {
        match root.kind() {
            "call_expression" => {
                if let Some(arguments) = root.field("arguments").filter(|a| a.kind() == "arguments") {
                    inner.splice(0..0, arguments.named());
                }
                root = root.field("function")?;
                if root.kind() == "identifier" {
                    break;
                }
            }
            "member_expression" => {
                called.push(root.field_text("property"));
                root = root.field("object")?;
            }
            "identifier" => break,
            _ => return None,
        }
    }
    let root = root.text();
    let matcher = called.first().copied();
    let (name, empty) = match (root, matcher) {
        ("expect", None) => ("expect", true),
        (
            "expect",
            Some(
                "extend" | "assertions" | "hasAssertions" | "any" | "anything" | "objectContaining"
                | "arrayContaining" | "stringContaining" | "stringMatching" | "closeTo",
            ),
        ) => {
            return None;
        }
        ("expect", Some(matcher)) => (matcher, false),
        ("assert", matcher) => (matcher.unwrap_or("assert"), false),
        ("t", Some(matcher)) if at.in_test_file && JAVASCRIPT.strength(matcher).is_some() => (matcher, false),
        ("cy", Some("should")) => ("should", false),
        _ => return None,
    };
    let strength = JAVASCRIPT.strength(name).unwrap_or(Strength::Plain);
    let takes = match name {
        _ if root == "expect" || root == "cy" => usize::MAX,
        "ok" | "assert" | "truthy" => 1,
        _ => 2,
    };
    let messages = inner.split_off(takes.min(inner.len()));
    let operands = inner.into_iter().map(|n| vec![n]).collect();
    Some(Assertion { operands, messages, strength, empty })
}

fn exits(at: NodeRef<'_>) -> bool {
    match at.kind() {
        "call_expression" => {
            let text: String = at.text().chars().filter(|c| !c.is_whitespace()).collect();
            matches!(
                text.as_str(),
                "process.exit(0)" | "process.exit()" | "process.reallyExit(0)" | "Deno.exit(0)"
            )
        }
        "assignment_expression" => matches!(at.field_text("left"), "process.exitCode" | "process.exit"),
        _ => false,
    }
}

fn swallows(at: NodeRef<'_>) -> bool {
    match at.kind() {
        "catch_clause" => {
            let body = at.field_text("body");
            !["throw", "expect", "assert", "fail", "reject"].iter().any(|word| body.contains(word))
        }
        "call_expression" => {
            let handler = at.field("arguments").and_then(|a| a.named().first().map(|n| a.of(*n).to_owned()));
            at.field("function").is_some_and(|f| f.field_text("property") == "catch")
                && handler.is_some_and(|h| {
                    !["throw", "expect", "fail", "reject", "assert"].iter().any(|w| h.contains(w))
                })
        }
        _ => false,
    }
}

fn mocks(at: NodeRef<'_>) -> Option<String> {
    match at.kind() {
        "call_expression" => {
            let arguments = at.field("arguments")?.named();
            let text = |n: usize| arguments.get(n).map(|node| unquoted(at.of(*node)).to_owned());
            match names(at)[..] {
                ["jest" | "vi", "mock" | "doMock" | "unstable_mockModule"] => text(0),
                ["jest" | "vi" | "sinon", "spyOn" | "stub"] | ["mock", "method"] => text(1),
                _ => None,
            }
        }
        "assignment_expression" => {
            let left = at.field("left").filter(|left| left.kind() == "member_expression")?;
            (left.field_text("object") != "this").then(|| left.field_text("property").to_owned())
        }
        _ => None,
    }
}

fn calls(at: NodeRef<'_>) -> Option<String> {
    if at.kind() != "call_expression" {
        return None;
    }
    let function = at.field("function")?;
    match function.kind() {
        "identifier" => Some(function.text().to_owned()),
        "member_expression" => Some(function.field_text("property").to_owned()),
        _ => None,
    }
}

fn defines(at: NodeRef<'_>) -> Option<String> {
    match at.kind() {
        "function_declaration" | "class_declaration" | "method_definition" => {
            Some(at.field_text("name").to_owned())
        }
        "variable_declarator" => {
            at.field("name").filter(|n| n.kind() == "identifier").map(|n| n.text().to_owned())
        }
        "assignment_expression" => {
            let left = at.field_text("left");
            ["global.", "globalThis.", "window."]
                .iter()
                .find_map(|g| left.strip_prefix(g))
                .map(ToOwned::to_owned)
        }
        _ => None,
    }
}

fn imports(at: NodeRef<'_>) -> Vec<(String, String)> {
    let (names, source) = match at.kind() {
        "import_statement" => {
            let Some(source) = at.field("source") else { return Vec::new() };
            let names = at.text().trim_start_matches("import").split(" from").next().unwrap_or_default();
            (names, unquoted(source.text()))
        }
        "variable_declarator" if at.field_text("value").starts_with("require(") => {
            let value = at.field_text("value");
            (
                at.field_text("name"),
                unquoted(value.trim_start_matches("require(").split(')').next().unwrap_or_default()),
            )
        }
        _ => return Vec::new(),
    };
    let separators = |c: char| !(c.is_alphanumeric() || c == '_' || c == '$');
    let names = names.split(separators).filter(|n| !n.is_empty() && !matches!(*n, "as" | "type" | "default"));
    names.map(|name| (name.to_owned(), source.to_owned())).collect()
}
