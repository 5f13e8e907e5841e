//! Python: functions named `test…`, `assert`, and the methods of `unittest`.

use tree_sitter::Node;

use super::{Assertion, Language, Mark, NodeRef, Strength, Test, last, tells, unquoted};

pub const PYTHON: Language = Language {
    name: "Python",
    extensions: &["py", "pyi"],
    grammar: || tree_sitter_python::LANGUAGE.into(),
    prepared: super::as_is,
    literals: &["integer", "float", "string", "true", "false", "none"],
    identifiers: &["identifier"],
    functions: &["function_definition", "lambda"],
    conditions: &["if_statement", "conditional_expression", "case_clause"],
    returns: &["return_statement"],
    bindings: &[("assignment", "left"), ("named_expression", "name"), ("as_pattern", "alias")],
    body_of_test: 0,
    redefines: true,
    calls_tests: false,
    exact: &[
        "assertEqual",
        "assertEquals",
        "assertDictEqual",
        "assertListEqual",
        "assertTupleEqual",
        "assertSetEqual",
        "assertSequenceEqual",
        "assertCountEqual",
        "assertMultiLineEqual",
        "assertAlmostEqual",
        "assertIs",
        "assert_array_equal",
        "assert_equal",
        "assert_frame_equal",
        "assert_allclose",
        "assert_called_once_with",
        "assert_called_with",
    ],
    plain: &[
        "assert",
        "raises",
        "assertRaises",
        "assertRaisesRegex",
        "assertIn",
        "assertNotIn",
        "assertNotEqual",
        "assertIsNone",
        "assertGreater",
        "assertLess",
        "assertRegex",
        "fail",
    ],
    vague: &["assertTrue", "assertFalse", "assertIsNotNone", "assertIsInstance", "assert_called"],
    messages: &[],
    told: |at| {
        at.kind() == "string"
            && tells(
                at,
                &[
                    ("pytest", "in"),
                    ("unittest", "in"),
                    ("PYTEST_CURRENT_TEST", ""),
                    ("_pytest", "in"),
                    ("nose", "in"),
                ],
            )
    },
    test,
    assertion,
    off,
    exits,
    swallows,
    mocks,
    calls: |at| {
        (at.kind() == "call").then(|| last(at.field_text("function")).to_owned()).filter(|n| is_name(n))
    },
    defines,
    imports,
    holds_tests: |at| is_test_class(at),
};

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_')
}

fn is_test_class(at: NodeRef<'_>) -> bool {
    at.kind() == "class_definition"
        && (at.field_text("superclasses").contains("TestCase")
            || at.in_test_file && at.field_text("name").starts_with("Test"))
}

fn decorators(at: NodeRef<'_>) -> Vec<NodeRef<'_>> {
    let Some(around) = at.parent().filter(|p| p.kind() == "decorated_definition") else { return Vec::new() };
    around.named().into_iter().filter(|n| n.kind() == "decorator").map(|n| at.to(n)).collect()
}

fn test(at: NodeRef<'_>) -> Option<Test> {
    if at.kind() != "function_definition" || !at.field_text("name").starts_with("test") {
        return None;
    }
    let mut around = at.above().filter(|up| matches!(up.kind(), "class_definition" | "function_definition"));
    let is_test = match around.next() {
        None => at.in_test_file,
        Some(class) => is_test_class(class) || at.in_test_file && class.kind() == "class_definition",
    };
    let mut off: Vec<Mark> = decorators(at).into_iter().filter_map(switch).collect();
    if at.text().starts_with("async") && !at.text().contains("await ") {
        let text = "async, and awaits nothing: many runners never run it".to_owned();
        off.push(Mark { text, line: at.line(), conditional: true });
    }
    let yields = at.field("body").map(NodeRef::text).unwrap_or_default().lines();
    if yields.map(str::trim_start).any(|l| l == "yield" || l.starts_with("yield ")) {
        let text = "yields, so that no runner runs it".to_owned();
        off.push(Mark { text, line: at.line(), conditional: false });
    }
    let class = at.above().find(|up| up.kind() == "class_definition").map(|class| class.field_text("name"));
    let name = at.field_text("name");
    is_test
        .then(|| Test { name: class.map_or_else(|| name.to_owned(), |class| format!("{class}.{name}")), off })
}

fn switch(decorator: NodeRef<'_>) -> Option<Mark> {
    let text = decorator.text().trim_start_matches('@');
    let name = last(text.split('(').next().unwrap_or(text));
    match name {
        "skip" | "xfail" | "expectedFailure" => Some(decorator.mark(false)),
        "skipif" | "skipIf" | "skipUnless" | "flaky" => Some(decorator.mark(true)),
        _ => None,
    }
}

fn off(at: NodeRef<'_>) -> Option<Mark> {
    match at.kind() {
        "call" => {
            let function = at.field_text("function");
            matches!(
                function,
                "pytest.skip" | "self.skipTest" | "pytest.xfail" | "pytest.importorskip" | "pytest.exit"
            )
            .then(|| at.mark(function == "pytest.importorskip"))
        }
        "raise_statement" if at.text().contains("SkipTest") => Some(at.mark(false)),
        "assignment" => {
            let (left, right) = (at.field_text("left"), at.field_text("right"));
            let is_off = match last(left) {
                "__test__" => right == "False",
                "pytestmark" => right.contains("skip") || right.contains("xfail"),
                "collect_ignore" | "collect_ignore_glob" => true,
                _ => false,
            };
            is_off.then(|| at.mark(right.contains("skipif")))
        }
        "decorator" => {
            let class = at.parent()?.field("definition").filter(|d| d.kind() == "class_definition");
            class.and_then(|_| switch(at))
        }
        "function_definition" if at.field_text("name") == "load_tests" => Some(Mark {
            text: "load_tests says which tests there are".to_owned(),
            line: at.line(),
            conditional: false,
        }),
        _ => None,
    }
}

fn assertion(at: NodeRef<'_>) -> Option<Assertion<'_>> {
    match at.kind() {
        "assert_statement" => {
            let mut children = at.named();
            let messages = children.split_off(1.min(children.len()));
            let holds = *children.first()?;
            let is_equal = holds.kind() == "comparison_operator"
                && at.to(holds).children().iter().any(|n| matches!(n.kind(), "==" | "is"));
            let strength = if is_equal { Strength::Exact } else { Strength::Plain };
            // A pair in brackets is always true.
            let empty = holds.kind() == "tuple";
            Some(Assertion { operands: vec![vec![holds]], messages, strength, empty })
        }
        "call" => {
            let name = last(at.field_text("function")).to_owned();
            let known =
                PYTHON.strength(&name).or_else(|| name.starts_with("assert").then_some(Strength::Plain))?;
            if name == "assert" || name == "fail" && !at.field_text("function").contains('.') {
                return None;
            }
            let mut arguments = at.field("arguments")?.named();
            let is_message = |n: &Node<'_>| n.kind() == "keyword_argument" && at.of(*n).starts_with("msg");
            let mut messages: Vec<Node<'_>> = arguments.iter().copied().filter(is_message).collect();
            arguments.retain(|n| !is_message(n));
            let takes = match name.as_str() {
                "assertTrue" | "assertFalse" | "assertIsNone" | "assertIsNotNone" => 1,
                "fail" => 0,
                _ => 2,
            };
            if takes < 2 {
                messages.extend(arguments.split_off(takes.min(arguments.len())));
            }
            let mut strength = known;
            if takes == 1 && arguments.first().is_some_and(|n| at.of(*n).contains("==")) {
                strength = Strength::Exact;
            }
            let operands = arguments.into_iter().map(|n| vec![n]).collect();
            Some(Assertion { operands, messages, strength, empty: false })
        }
        _ => None,
    }
}

fn exits(at: NodeRef<'_>) -> bool {
    match at.kind() {
        "call" => {
            let arguments = at.field_text("arguments");
            match at.field_text("function") {
                "os._exit" => true,
                "sys.exit" | "exit" | "quit" => matches!(arguments, "()" | "(0)" | "(None)"),
                _ => false,
            }
        }
        "raise_statement" => {
            matches!(at.text(), "raise SystemExit" | "raise SystemExit(0)" | "raise SystemExit()")
        }
        _ => false,
    }
}

fn swallows(at: NodeRef<'_>) -> bool {
    match at.kind() {
        "except_clause" => {
            let text = at.text();
            let head = text.split(':').next().unwrap_or_default();
            let catches_all = head.trim() == "except"
                || ["Exception", "AssertionError"].iter().any(|name| head.contains(name));
            catches_all && !["raise", "fail(", "assert"].iter().any(|word| text[head.len()..].contains(word))
        }
        "with_item" => {
            let text = at.text();
            (text.contains("suppress(") || text.contains("raises(") || text.contains("assertRaises("))
                && (text.contains("(Exception") || text.contains("AssertionError"))
        }
        _ => false,
    }
}

fn mocks(at: NodeRef<'_>) -> Option<String> {
    match at.kind() {
        "call" => {
            let function = at.field_text("function");
            let arguments = at.field("arguments")?.named();
            let text = |n: usize| arguments.get(n).map(|node| unquoted(at.of(*node)).to_owned());
            match (function, last(function)) {
                (_, "object") if function.contains("patch") => text(1),
                (_, "patch") => text(0),
                (_, "setattr") if arguments.len() > 2 => text(1),
                (_, "setattr") if function != "setattr" => text(0),
                _ => None,
            }
        }
        "assignment" if at.field_text("left").starts_with("sys.modules[") => {
            let left = at.field_text("left");
            let name = unquoted(left.trim_start_matches("sys.modules[").trim_end_matches(']'));
            Some(format!("sys.modules.{name}"))
        }
        "assignment" => {
            let left = at.field("left").filter(|left| left.kind() == "attribute")?;
            let of = left.field_text("object");
            (!matches!(of, "self" | "cls")).then(|| left.field_text("attribute").to_owned())
        }
        _ => None,
    }
}

fn defines(at: NodeRef<'_>) -> Option<String> {
    match at.kind() {
        "function_definition" | "class_definition" => Some(at.field_text("name").to_owned()),
        "assignment" => at.field("left").filter(|l| l.kind() == "identifier").map(|l| l.text().to_owned()),
        _ => None,
    }
}

fn imports(at: NodeRef<'_>) -> Vec<(String, String)> {
    if at.kind() != "import_from_statement" {
        return Vec::new();
    }
    let Some(module) = at.field("module_name") else { return Vec::new() };
    let names = at.named().into_iter().filter(|n| *n != module.node);
    names
        .map(|n| {
            let name = at.of(n);
            (name.rsplit(" as ").next().unwrap_or(name).trim().to_owned(), module.text().to_owned())
        })
        .collect()
}
