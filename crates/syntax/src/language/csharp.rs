//! C#: methods with an attribute of xUnit, `NUnit` or `MSTest`, their `Assert`, and chains of `Should`.

use super::{Assertion, Language, Mark, NodeRef, Strength, Test, last, tells};

pub const CSHARP: Language = Language {
    name: "C#",
    extensions: &["cs"],
    grammar: || tree_sitter_c_sharp::LANGUAGE.into(),
    prepared: super::as_is,
    literals: &[
        "integer_literal",
        "real_literal",
        "string_literal",
        "verbatim_string_literal",
        "raw_string_literal",
        "character_literal",
        "boolean_literal",
        "null_literal",
    ],
    identifiers: &["identifier", "predefined_type"],
    functions: &[
        "method_declaration",
        "local_function_statement",
        "lambda_expression",
        "anonymous_method_expression",
        "constructor_declaration",
    ],
    conditions: &[
        "if_statement",
        "switch_section",
        "switch_expression_arm",
        "conditional_expression",
        "preproc_if",
    ],
    returns: &["return_statement"],
    bindings: &[("variable_declarator", "name"), ("assignment_expression", "left")],
    body_of_test: 0,
    redefines: false,
    calls_tests: false,
    exact: &[
        "Equal",
        "AreEqual",
        "StrictEqual",
        "AreSame",
        "Same",
        "EqualTo",
        "Be",
        "BeEquivalentTo",
        "ShouldBe",
        "SequenceEqual",
        "Equivalent",
        "AreEquivalent",
        "ContainSingle",
        "HaveCount",
        "Collection",
    ],
    plain: &[
        "That",
        "NotEqual",
        "AreNotEqual",
        "Throws",
        "ThrowsAsync",
        "ThrowsException",
        "Throw",
        "ShouldThrow",
        "Contains",
        "Contain",
        "Null",
        "IsNull",
        "False",
        "IsFalse",
        "BeFalse",
        "Fail",
        "StartsWith",
        "Matches",
        "Verify",
        "Single",
        "InRange",
    ],
    vague: &[
        "True",
        "IsTrue",
        "BeTrue",
        "NotNull",
        "IsNotNull",
        "NotBeNull",
        "IsType",
        "IsInstanceOfType",
        "NotEmpty",
        "NotBeEmpty",
        "DoesNotThrow",
        "NotThrow",
        "ShouldNotBeNull",
        "Pass",
    ],
    messages: &[],
    told: |at| {
        tells(
            at,
            &[
                ("xunit", ""),
                ("nunit", ""),
                ("testhost", ""),
                ("xunit.core", ""),
                ("nunit.framework", ""),
                ("IsTesting", ""),
                ("UNIT_TEST", ""),
            ],
        )
    },
    test,
    assertion,
    off,
    exits: |at| {
        let text: String = at.text().split_whitespace().collect();
        at.kind() == "invocation_expression"
            && matches!(text.as_str(), "Environment.Exit(0)" | "System.Environment.Exit(0)")
    },
    swallows: |at| {
        at.kind() == "catch_clause"
            && !["throw", "Assert", "Should", "Fail"].iter().any(|word| at.field_text("body").contains(word))
    },
    mocks: super::nothing,
    calls: |at| match at.kind() {
        "invocation_expression" => Some(last(bare(at.field_text("function"))).to_owned()),
        _ => None,
    },
    defines: |at| {
        matches!(at.kind(), "method_declaration" | "class_declaration" | "local_function_statement")
            .then(|| at.field_text("name").to_owned())
    },
    imports: super::no_imports,
    holds_tests: super::never,
};

/// Without type arguments.
fn bare(name: &str) -> &str {
    name.split('<').next().unwrap_or(name).trim()
}

fn attributes(at: NodeRef<'_>) -> Vec<NodeRef<'_>> {
    let lists = at.named().into_iter().filter(|n| n.kind() == "attribute_list").map(|n| at.to(n));
    let of = lists.flat_map(|list| list.named().into_iter().map(move |n| list.to(n)));
    of.filter(|attribute| attribute.kind() == "attribute").collect()
}

fn attribute_name(attribute: NodeRef<'_>) -> &str {
    let name = last(bare(attribute.field_text("name")));
    name.strip_suffix("Attribute").unwrap_or(name)
}

fn switch(attribute: NodeRef<'_>) -> Option<Mark> {
    let text = attribute.text();
    let skips = || text.contains("Skip") || text.contains("Ignore") || text.contains("Explicit");
    match attribute_name(attribute) {
        "Ignore" | "Explicit" | "Inconclusive" | "ExpectedException" => Some(attribute.mark(false)),
        "Fact" | "Theory" | "InlineData" | "MemberData" | "TestCase" | "TestCaseSource" | "TestMethod"
            if skips() =>
        {
            Some(attribute.mark(false))
        }
        "Platform" | "ConditionalFact" | "ConditionalTheory" | "SkippableFact" | "OSCondition" => {
            Some(attribute.mark(true))
        }
        _ => None,
    }
}

fn test(at: NodeRef<'_>) -> Option<Test> {
    if at.kind() != "method_declaration" {
        return None;
    }
    let attributes = attributes(at);
    let is_test = |a: &NodeRef<'_>| {
        matches!(
            attribute_name(*a),
            "Test"
                | "Fact"
                | "Theory"
                | "TestMethod"
                | "DataTestMethod"
                | "TestCase"
                | "TestCaseSource"
                | "Property"
                | "ConditionalFact"
                | "ConditionalTheory"
                | "SkippableFact"
                | "SkippableTheory"
        )
    };
    if !attributes.iter().any(is_test) {
        return None;
    }
    let mut off: Vec<Mark> = attributes.iter().filter_map(|a| switch(*a)).collect();
    // Nobody compiles what stands under `#if` with a name that nobody defines.
    let under = at.above().find(|up| up.kind() == "preproc_if");
    off.extend(under.map(|up| {
        let condition = up.field_text("condition");
        Mark { text: format!("#if {condition}"), line: at.line(), conditional: condition != "false" }
    }));
    Some(Test { name: at.field_text("name").to_owned(), off })
}

fn off(at: NodeRef<'_>) -> Option<Mark> {
    match at.kind() {
        "attribute" => {
            let of = at.parent()?.parent()?;
            (of.kind() == "class_declaration").then(|| switch(at)).flatten()
        }
        "invocation_expression" => {
            let function = at.field_text("function");
            let skips = matches!(
                function,
                "Assert.Ignore"
                    | "Assert.Inconclusive"
                    | "Assert.Pass"
                    | "Assert.Skip"
                    | "Skip.If"
                    | "Skip.IfNot"
                    | "Assert.SkipWhen"
                    | "Assert.SkipUnless"
                    | "Assume.That"
            );
            skips.then(|| at.mark(false))
        }
        _ => None,
    }
}

/// The calls of a chain, the first of them last: `Should().Be(4)`.
fn chain(at: NodeRef<'_>) -> Vec<NodeRef<'_>> {
    let mut calls = vec![at];
    while let Some(inner) = calls.last().and_then(|call| call.field("function")?.field("expression")) {
        if inner.kind() != "invocation_expression" {
            break;
        }
        calls.push(inner);
    }
    calls
}

fn arguments<'t>(call: &NodeRef<'t>) -> Vec<tree_sitter::Node<'t>> {
    call.field("arguments").map(NodeRef::named).unwrap_or_default()
}

fn assertion(at: NodeRef<'_>) -> Option<Assertion<'_>> {
    if at.kind() != "invocation_expression" {
        return None;
    }
    let is_inner = at.parent().is_some_and(|up| up.kind() == "member_access_expression");
    if is_inner {
        return None;
    }
    let calls = chain(at);
    let name_of = |call: &NodeRef<'_>| last(bare(call.field_text("function"))).to_owned();
    let outer = name_of(&at);
    let function = at.field_text("function");
    let should = calls.iter().position(|call| name_of(call) == "Should");
    if let Some(at_should) = should {
        let subject = calls[at_should].field("function").and_then(|f| f.field("expression"))?;
        let expected = calls[..at_should].iter().rev().flat_map(arguments);
        let operands = std::iter::once(subject.node).chain(expected).map(|n| vec![n]).collect();
        let first = calls[..at_should].last().map(name_of).unwrap_or_default();
        let strength = CSHARP.strength(&first).unwrap_or(Strength::Plain);
        return Some(Assertion { operands, messages: Vec::new(), strength, empty: at_should == 0 });
    }
    if outer.starts_with("Should") && !calls.is_empty() && function.contains('.') {
        let subject = at.field("function").and_then(|f| f.field("expression"))?;
        let operands = std::iter::once(subject.node).chain(arguments(&at)).map(|n| vec![n]).collect();
        let strength = CSHARP.strength(&outer).unwrap_or(Strength::Plain);
        return Some(Assertion { operands, messages: Vec::new(), strength, empty: false });
    }
    let of = function.split('.').rev().nth(1).unwrap_or_default();
    let verifies = outer == "Verify" && function.contains('.');
    if !of.ends_with("Assert") && !verifies {
        return None;
    }
    let given = arguments(&at);
    let constraint = given.get(1).map(|n| at.of(*n)).filter(|_| outer == "That").unwrap_or_default();
    let strength = match outer.as_str() {
        "That" if constraint.contains("EqualTo") => Strength::Exact,
        "That" if constraint.contains("Not.Null") || constraint.contains("InstanceOf") => Strength::Vague,
        _ => CSHARP.strength(&outer).unwrap_or(Strength::Plain),
    };
    let takes = match outer.as_str() {
        "True" | "False" | "IsTrue" | "IsFalse" | "NotNull" | "Null" | "IsNull" | "IsNotNull" => 1,
        "Fail" | "Pass" | "Ignore" => 0,
        "AreEqual" | "AreNotEqual" | "AreSame" | "That" => 2,
        _ => usize::MAX,
    };
    let (operands, messages) = given.split_at(given.len().min(takes));
    let operands = operands.iter().map(|n| vec![*n]).collect();
    Some(Assertion { operands, messages: messages.to_vec(), strength, empty: outer == "Pass" })
}
