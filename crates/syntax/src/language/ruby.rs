//! Ruby: the methods of minitest and the examples of `RSpec`.

use super::{Assertion, Language, Mark, NodeRef, Strength, Test, tells, unquoted};

pub const RUBY: Language = Language {
    name: "Ruby",
    extensions: &["rb"],
    grammar: || tree_sitter_ruby::LANGUAGE.into(),
    prepared: super::as_is,
    literals: &["integer", "float", "string", "simple_symbol", "regex", "true", "false", "nil"],
    identifiers: &["identifier", "constant", "instance_variable"],
    functions: &["method", "lambda"],
    conditions: &["if", "unless", "if_modifier", "unless_modifier", "when", "conditional"],
    returns: &["return"],
    bindings: &[("assignment", "left")],
    body_of_test: 0,
    redefines: false,
    calls_tests: false,
    exact: &[
        "assert_equal",
        "assert_same",
        "eq",
        "eql",
        "equal",
        "match_array",
        "must_equal",
        "assert_in_delta",
    ],
    plain: &[
        "assert_raises",
        "assert_includes",
        "refute_equal",
        "assert_match",
        "refute",
        "assert_nil",
        "raise_error",
        "include",
        "match",
        "flunk",
        "be",
    ],
    vague: &[
        "assert",
        "refute_nil",
        "be_truthy",
        "be_falsey",
        "assert_instance_of",
        "be_a",
        "assert_respond_to",
    ],
    messages: &[],
    told: |at| {
        tells(
            at,
            &[("RSpec", "defined?"), ("Minitest", "defined?"), ("test", "RAILS_ENV"), ("test", "RACK_ENV")],
        )
    },
    test,
    assertion,
    off,
    exits: |at| {
        let text: String = at.text().split_whitespace().collect();
        at.kind() == "call"
            && matches!(
                text.as_str(),
                "exit(0)"
                    | "exit!(0)"
                    | "exit0"
                    | "exit!0"
                    | "exittrue"
                    | "exit!true"
                    | "exit!"
                    | "Process.exit!(0)"
                    | "Process.exit!0"
            )
    },
    swallows: |at| {
        matches!(at.kind(), "rescue" | "rescue_modifier")
            && !["raise", "flunk", "assert", "expect"].iter().any(|word| at.field_text("body").contains(word))
    },
    mocks: super::nothing,
    calls: |at| (at.kind() == "call").then(|| at.field_text("method").to_owned()),
    defines: |at| (at.kind() == "method").then(|| at.field_text("name").to_owned()),
    imports: super::no_imports,
    holds_tests: super::never,
};

fn test(at: NodeRef<'_>) -> Option<Test> {
    match at.kind() {
        "method" => {
            let name = at.field_text("name");
            (at.in_test_file && name.starts_with("test_"))
                .then(|| Test { name: name.to_owned(), off: Vec::new() })
        }
        "call" if at.in_test_file && at.field("receiver").is_none() => {
            let method = at.field_text("method");
            if !matches!(method, "it" | "specify" | "example" | "test" | "xit" | "fit" | "xspecify") {
                return None;
            }
            let arguments = at.field("arguments").map(NodeRef::named).unwrap_or_default();
            let name = arguments.first().map(|n| unquoted(at.of(*n)).to_owned()).unwrap_or_default();
            let mark = || Mark { text: method.to_owned(), line: at.line(), conditional: false };
            let mut off: Vec<Mark> = method.starts_with(['x', 'f']).then(mark).into_iter().collect();
            let options = arguments.iter().skip(1).map(|n| at.to(*n));
            off.extend(
                options
                    .filter(|o| o.text().contains("skip") || o.text().contains("pending"))
                    .map(|o| o.mark(false)),
            );
            (at.field("block").is_some()).then_some(Test { name, off })
        }
        _ => None,
    }
}

fn off(at: NodeRef<'_>) -> Option<Mark> {
    let method = match at.kind() {
        "call" if at.field("receiver").is_none() => at.field_text("method"),
        "identifier" => at.text(),
        _ => return None,
    };
    let is_statement = at.kind() == "call"
        || at.parent().is_some_and(|p| matches!(p.kind(), "body_statement" | "then" | "if_modifier"));
    (at.in_test_file
        && is_statement
        && matches!(method, "skip" | "pending" | "xdescribe" | "xcontext" | "fdescribe" | "fcontext"))
    .then(|| Mark {
        text: method.to_owned(),
        line: at.line(),
        conditional: at.parent().is_some_and(|p| p.kind().ends_with("_modifier")),
    })
}

fn assertion(at: NodeRef<'_>) -> Option<Assertion<'_>> {
    if at.kind() != "call" || !at.in_test_file {
        return None;
    }
    let method = at.field_text("method");
    let arguments = at.field("arguments").map(NodeRef::named).unwrap_or_default();
    if matches!(method, "to" | "not_to" | "to_not") {
        let receiver = at.field("receiver").filter(|r| r.field_text("method") == "expect")?;
        let mut operands: Vec<Vec<_>> =
            receiver.field("arguments").map(NodeRef::operands).unwrap_or_default();
        let matcher = arguments.first().map(|n| at.to(*n))?;
        let name = if matcher.kind() == "call" { matcher.field_text("method") } else { matcher.text() };
        operands.extend(matcher.field("arguments").map(NodeRef::operands).unwrap_or_default());
        let strength = RUBY.strength(name).unwrap_or(Strength::Plain);
        return Some(Assertion { operands, messages: Vec::new(), strength, empty: false });
    }
    let known = RUBY.strength(method).or_else(|| method.starts_with("assert_").then_some(Strength::Plain))?;
    if !(method.starts_with("assert")
        || method.starts_with("refute")
        || method.starts_with("must_")
        || method == "flunk")
    {
        return None;
    }
    let takes = if matches!(method, "assert" | "refute" | "assert_nil" | "refute_nil") { 1 } else { 2 };
    let mut operands = arguments;
    let messages = operands.split_off(takes.min(operands.len()));
    let mut strength = known;
    if method == "assert" && operands.first().is_some_and(|n| at.of(*n).contains("==")) {
        strength = Strength::Exact;
    }
    let operands = operands.into_iter().map(|n| vec![n]).collect();
    Some(Assertion { operands, messages, strength, empty: false })
}
