//! Rust: `#[test]` functions and what the assertion macros say. Macros hold unparsed tokens.

use tree_sitter::Node;

use super::{Assertion, Language, Mark, NodeRef, Strength, Test, last, nothing};

pub const RUST: Language = Language {
    name: "Rust",
    extensions: &["rs"],
    grammar: || tree_sitter_rust::LANGUAGE.into(),
    prepared: super::as_is,
    literals: &[
        "integer_literal",
        "float_literal",
        "string_literal",
        "raw_string_literal",
        "char_literal",
        "boolean_literal",
    ],
    identifiers: &[
        "identifier",
        "field_identifier",
        "type_identifier",
        "shorthand_field_identifier",
        "self",
        "primitive_type",
    ],
    functions: &["function_item", "closure_expression"],
    conditions: &["if_expression", "match_arm"],
    returns: &["return_expression"],
    bindings: &[("let_declaration", "pattern"), ("assignment_expression", "left")],
    body_of_test: 0,
    redefines: false,
    calls_tests: false,
    exact: &[
        "assert_eq",
        "prop_assert_eq",
        "assert_snapshot",
        "assert_debug_snapshot",
        "assert_json_snapshot",
        "assert_yaml_snapshot",
    ],
    plain: &[
        "assert",
        "assert_ne",
        "assert_matches",
        "debug_assert_eq",
        "prop_assert",
        "prop_assert_ne",
        "panic",
    ],
    vague: &["debug_assert", "debug_assert_ne"],
    messages: &["expect"],
    told: |at| is_told_of_tests(at),
    test,
    assertion,
    off,
    exits,
    swallows: |at| at.kind() == "call_expression" && last(at.field_text("function")) == "catch_unwind",
    mocks: nothing,
    calls,
    defines,
    imports: super::no_imports,
    holds_tests,
};

/// The attributes that stand before an item.
fn attributes(at: NodeRef<'_>) -> Vec<NodeRef<'_>> {
    let mut found = Vec::new();
    let mut before = at.node.prev_sibling();
    while let Some(node) =
        before.filter(|n| matches!(n.kind(), "attribute_item" | "line_comment" | "block_comment"))
    {
        if node.kind() == "attribute_item" {
            found.push(at.to(node));
        }
        before = node.prev_sibling();
    }
    found
}

/// `cfg(test)` of `#[cfg(test)]`, without blanks.
fn squeezed(attribute: NodeRef<'_>) -> String {
    let text: String = attribute.text().chars().filter(|c| !c.is_whitespace()).collect();
    text.trim_start_matches("#!")
        .trim_start_matches('#')
        .trim_start_matches('[')
        .trim_end_matches(']')
        .to_owned()
}

fn name_of(attribute: &str) -> &str {
    last(attribute.split(['(', '=']).next().unwrap_or(attribute))
}

fn test(at: NodeRef<'_>) -> Option<Test> {
    if at.kind() != "function_item" {
        return None;
    }
    let attributes = attributes(at);
    let is_test = |a: &NodeRef<'_>| {
        matches!(
            name_of(&squeezed(*a)),
            "test" | "rstest" | "test_case" | "wasm_bindgen_test" | "quickcheck" | "case"
        )
    };
    attributes.iter().any(is_test).then(|| Test {
        name: at.field_text("name").to_owned(),
        off: attributes.iter().filter_map(|a| switch(*a)).collect(),
    })
}

/// What an attribute says about whether a test counts.
fn switch(attribute: NodeRef<'_>) -> Option<Mark> {
    let text = squeezed(attribute);
    match name_of(&text) {
        "ignore" | "should_panic" => Some(attribute.mark(false)),
        "cfg_attr" if text.contains("ignore") || text.contains("should_panic") => Some(attribute.mark(true)),
        "cfg" if text != "cfg(test)" => Some(attribute.mark(text != "cfg(any())")),
        _ => None,
    }
}

/// Attributes of modules and of whole files; those of tests are theirs.
fn off(at: NodeRef<'_>) -> Option<Mark> {
    match at.kind() {
        "inner_attribute_item" if name_of(&squeezed(at)) == "cfg" => switch(at),
        "attribute_item" => {
            let mut next = at.node.next_sibling();
            while let Some(node) =
                next.filter(|n| matches!(n.kind(), "attribute_item" | "line_comment" | "block_comment"))
            {
                next = node.next_sibling();
            }
            let module = at.to(next.filter(|n| n.kind() == "mod_item")?);
            let beside = attributes(module).iter().any(|a| squeezed(*a).contains("test"));
            (at.in_test_file || beside || module.field_text("name").contains("test"))
                .then(|| switch(at))
                .flatten()
        }
        _ => None,
    }
}

fn assertion(at: NodeRef<'_>) -> Option<Assertion<'_>> {
    if at.kind() != "macro_invocation" {
        return None;
    }
    let name = last(at.field_text("macro")).to_owned();
    let mut strength = RUST.strength(&name)?;
    let tokens = at.named().into_iter().find(|n| n.kind() == "token_tree")?;
    let mut parts: Vec<Vec<Node<'_>>> = vec![Vec::new()];
    for token in at.to(tokens).children() {
        match token.kind() {
            "," => parts.push(Vec::new()),
            "(" | ")" | "[" | "]" | "{" | "}" => {}
            _ => parts.last_mut()?.push(token),
        }
    }
    parts.retain(|part| !part.is_empty());
    if name == "panic" {
        // What it is about is the condition it stands under.
        let condition =
            at.above().find(|up| up.kind() == "if_expression").and_then(|up| up.field("condition"));
        let messages = parts.into_iter().flatten().collect();
        let operands = condition.map(|c| vec![c.node]).into_iter().collect();
        return Some(Assertion { operands, messages, strength, empty: false });
    }
    let compared =
        if name.ends_with("_eq") || name.ends_with("_ne") || name == "assert_matches" { 2 } else { 1 };
    let messages = parts.split_off(compared.min(parts.len())).into_iter().flatten().collect();
    if compared == 1 && parts.first().is_some_and(|part| part.iter().any(|n| n.kind() == "==")) {
        strength = Strength::Exact;
    }
    // `matches!(x, _)` is always so.
    let text: String = at.text().chars().filter(|c| !c.is_whitespace()).collect();
    let empty = text.contains(",_)") && text.contains("matches!(")
        || name == "assert_matches" && text.ends_with(",_)");
    Some(Assertion { operands: parts, messages, strength, empty })
}

fn exits(at: NodeRef<'_>) -> bool {
    let text: String = at.text().chars().filter(|c| !c.is_whitespace()).collect();
    at.kind() == "call_expression" && text.ends_with("process::exit(0)")
        || at.kind() == "call_expression" && text == "exit(0)"
}

fn calls(at: NodeRef<'_>) -> Option<String> {
    match at.kind() {
        "call_expression" => {
            let function = at.field("function")?;
            let name = function.field("field").or_else(|| function.field("name")).unwrap_or(function);
            Some(name.text().to_owned())
        }
        // Within a macro there are only tokens.
        "identifier" if at.node.parent()?.kind() == "token_tree" => {
            let next = at.node.next_sibling()?;
            (next.kind() == "token_tree" && at.of(next).starts_with('(')).then(|| at.text().to_owned())
        }
        _ => None,
    }
}

fn defines(at: NodeRef<'_>) -> Option<String> {
    match at.kind() {
        "function_item" | "macro_definition" => Some(at.field_text("name").to_owned()),
        "mod_item" if at.field("body").is_none() => Some(format!("mod {}", at.field_text("name"))),
        _ => None,
    }
}

fn holds_tests(at: NodeRef<'_>) -> bool {
    at.kind() == "mod_item"
        && attributes(at).iter().any(|a| {
            let text = squeezed(*a);
            text.starts_with("cfg(") && text.contains("test") && !text.contains("not(test")
        })
}

/// Code that is another one when it is tested: `cfg!(test)`, `#[cfg(not(test))]`.
fn is_told_of_tests(at: NodeRef<'_>) -> bool {
    match at.kind() {
        "macro_invocation" => at.field_text("macro") == "cfg" && at.text().contains("test"),
        "attribute_item" => squeezed(at).contains("not(test)"),
        _ => false,
    }
}
