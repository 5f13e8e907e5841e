//! What one version of a file says about tests: which there are, what each asserts and expects, what keeps it from
//! counting. Read off the syntax tree with the table of its language; nothing is judged here.

use std::collections::HashSet;

use tree_sitter::Node;

use crate::language::{self, Language, Mark, NodeRef, Strength};
use crate::{parse, shown};

/// Conditions under which nothing is ever done.
const NEVER: [&str; 10] = ["False", "false", "0", "(false)", "(0)", "[]", "()", "{}", "None", "nil"];
/// Leaves whose presence changes what an assertion says.
const OPERATORS: [&str; 22] = [
    "==", "!=", "===", "!==", "<", ">", "<=", ">=", "!", "not", "in", "not in", "is", "is not", "await",
    "or", "and", "||", "&&", "-", "!~", "|",
];
/// What these say is expected by nobody.
const PRINTING: [&str; 14] = [
    "print", "println", "eprintln", "printf", "fprintf", "log", "Log", "Logf", "puts", "debug", "info",
    "warn", "Println", "Printf",
];
/// Nor what stands beside these names.
const REMARKS: [&str; 4] = ["desc", "description", "reason", "msg"];

#[derive(Default)]
pub struct Facts {
    /// The first is what stands around the tests.
    pub units: Vec<Unit>,
    pub defined: Vec<(String, u32)>,
    /// Name, and where it is imported from.
    pub imports: Vec<(String, String, u32)>,
    /// How code can tell that it is tested.
    pub told: Vec<Mark>,
    /// Functions that decide whether two things are equal, and say yes whatever they are.
    pub equal: Vec<Mark>,
    /// Where code ends the program as if all were well.
    pub exits: Vec<Mark>,
}

/// A test, or what stands around the tests of a file.
#[derive(Default)]
pub struct Unit {
    pub name: String,
    pub line: u32,
    /// Its leaves, without its name: the same for a test that was only moved or renamed.
    pub body: String,
    pub assertions: Vec<Asserted>,
    pub literals: Vec<(String, u32)>,
    pub calls: Vec<Called>,
    pub off: Vec<Mark>,
    /// Where it returns or exits.
    pub ends: Vec<Mark>,
    pub swallows: Vec<Mark>,
    pub mocks: Vec<Mark>,
    /// Names that are given a value which is written out.
    pub fixed: Vec<Mark>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Asserted {
    pub line: u32,
    /// As it is written, for people.
    pub shown: String,
    /// Its leaves, and the same with all names alike.
    pub text: String,
    pub shape: String,
    pub operators: Vec<String>,
    pub strength: Strength,
    /// It holds whatever the code does.
    pub vacuous: bool,
    /// It compares something with itself.
    pub same: bool,
    /// How many conditions it stands under.
    pub guards: u32,
    /// The condition it stands under says what must not be.
    pub negated: bool,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Called {
    pub name: String,
    /// It is called in an assertion, or its result has this name.
    pub asserted: bool,
    pub bound: String,
}

impl Facts {
    /// None if the text cannot be read as a program of this language.
    pub fn read(language: &'static Language, text: &str, in_test_file: bool) -> Option<Self> {
        let tree = parse::parse(language, text)?;
        let mut reading = FactsReader { language, facts: Self::default(), messages: HashSet::new() };
        reading.facts.units.push(Unit::default());
        let at = NodeRef { node: tree.root_node(), source: text, in_test_file };
        reading.visit(at, Where { tests: in_test_file, ..Where::default() });
        Some(reading.facts)
    }

    pub fn around(&self) -> &Unit {
        static NONE: Unit = Unit {
            name: String::new(),
            line: 0,
            body: String::new(),
            assertions: Vec::new(),
            literals: Vec::new(),
            calls: Vec::new(),
            off: Vec::new(),
            ends: Vec::new(),
            swallows: Vec::new(),
            mocks: Vec::new(),
            fixed: Vec::new(),
        };
        self.units.first().unwrap_or(&NONE)
    }

    pub fn tests(&self) -> &[Unit] {
        self.units.get(1..).unwrap_or_default()
    }

    pub fn has_defined(&self, name: &str) -> bool {
        self.defined.iter().any(|(defined, _)| defined == name)
    }
}

impl Unit {
    /// The names whose results are asserted something about.
    pub fn subjects(&self) -> impl Iterator<Item = &str> {
        let is_asserted = |called: &&Called| {
            let bound = format!(" {} ", called.bound);
            called.asserted
                || (!called.bound.is_empty()
                    && self.assertions.iter().any(|a| format!(" {} ", a.text).contains(&bound)))
        };
        self.calls.iter().filter(is_asserted).map(|called| called.name.as_str())
    }

    pub fn has_called(&self, name: &str) -> usize {
        self.calls.iter().filter(|called| called.name == name).count()
    }
}

/// Where in a file the reader is.
#[derive(Clone, Copy, Default)]
struct Where {
    unit: usize,
    /// Tests may be here.
    tests: bool,
    /// Functions around it, within the test.
    functions: usize,
    guards: u32,
    /// Within an assertion.
    asserting: bool,
    /// What is here is only said, or never done.
    quiet: bool,
    dead: bool,
    /// In a function that is the program.
    main: bool,
}

struct FactsReader {
    language: &'static Language,
    facts: Facts,
    /// What is only said when an assertion fails.
    messages: HashSet<usize>,
}

impl FactsReader {
    fn visit(&mut self, at: NodeRef<'_>, mut here: Where) {
        let language = self.language;
        let kind = at.kind();
        if at.node.is_extra() {
            self.facts.units[0].off.extend((language.off)(at).filter(|_| here.tests));
            return;
        }
        here.tests |= (language.holds_tests)(at);
        let found = (language.test)(at);
        if let Some(test) = found {
            let unit = Unit {
                name: test.name,
                line: at.line(),
                off: test.off,
                body: self.body(at),
                ..Unit::default()
            };
            self.facts.units.push(unit);
            let unit = self.facts.units.len() - 1;
            here = Where { unit, tests: true, ..Where::default() };
        } else if language.functions.contains(&kind) {
            here.functions += 1;
            here.main |= (language.defines)(at).is_some_and(|name| name == "main");
        }
        let is_leafy = at.node.is_named() && language.literals.contains(&kind);
        self.note(at, here, is_leafy);
        self.note_file(at, here);
        if is_leafy && !has_code(at.node, language) {
            return;
        }
        self.assertion(at, &mut here);
        if language.conditions.contains(&kind) || kind.starts_with("while") || kind.starts_with("for") {
            let conditional = language.conditions.contains(&kind);
            here.guards += u32::from(conditional);
            let condition = ["condition", "right", "value"].into_iter().find_map(|field| at.field(field));
            here.dead |= condition.is_some_and(|c| NEVER.contains(&c.text())) && !kind.contains("expression");
        }
        here.quiet |= is_import(kind) || self.is_remark(at);
        let name_of_group = name_of_group(at, language);
        for child in at.children() {
            let silent = self.messages.contains(&child.id())
                || name_of_group == Some(child.id())
                || is_docstring(child);
            self.visit(at.to(child), Where { quiet: here.quiet || silent, ..here });
        }
    }

    /// Is what stands here only said?
    fn is_remark(&self, at: NodeRef<'_>) -> bool {
        let language = self.language;
        let prints =
            |name: String| PRINTING.contains(&name.as_str()) || language.messages.contains(&name.as_str());
        match at.kind() {
            "keyed_element" | "pair" | "keyword_argument" => {
                at.named().first().is_some_and(|name| REMARKS.contains(&at.of(*name)))
            }
            "decorator" => at.text().contains("skip") || at.text().contains("xfail"),
            // Where it is asserted with, it is not only said.
            _ => (language.calls)(at).is_some_and(prints) && (language.assertion)(at).is_none(),
        }
    }

    /// What counts for the test it is in.
    fn note(&mut self, at: NodeRef<'_>, here: Where, is_literal: bool) {
        let language = self.language;
        let unit = &mut self.facts.units[here.unit];
        if is_literal {
            if here.tests && !here.quiet && !here.dead {
                unit.literals.push((literal(at.text()), at.line()));
            }
            return;
        }
        let anywhere = matches!(at.kind(), "attribute_item" | "inner_attribute_item" | "preproc_def");
        if let Some(mut mark) = (language.off)(at).filter(|_| here.tests || anywhere) {
            mark.conditional |= here.guards > 0;
            unit.off.push(mark);
        }
        if !here.tests {
            return;
        }
        let returns =
            language.returns.contains(&at.kind()) && here.functions <= language.body_of_test && here.unit > 0;
        if returns || (language.exits)(at) {
            unit.ends.push(at.mark(here.guards > 0));
        }
        if (language.swallows)(at) {
            unit.swallows.push(at.mark(false));
        }
        unit.swallows.extend(language::part_of_a_loop(at).map(|part| part.mark(false)));
        if let Some((_, name)) = language.bindings.iter().find(|(kind, _)| *kind == at.kind()) {
            let value = ["value", "right"].into_iter().find_map(|field| at.field(field));
            // Go has lists on both sides.
            let value = value.map(|v| if v.kind() == "expression_list" { v.only_child() } else { v });
            if value.is_some_and(|value| language.literals.contains(&value.kind())) {
                let mark = Mark { text: at.field_text(name).to_owned(), line: at.line(), conditional: false };
                unit.fixed.push(mark);
            }
        }
        if let Some(target) = (language.mocks)(at) {
            unit.mocks.push(Mark { text: target, line: at.line(), conditional: false });
        }
        if let Some(name) = (language.calls)(at).filter(|_| !here.dead && !here.quiet) {
            let bound = at.above().find_map(|up| {
                let (_, field) = language.bindings.iter().find(|(kind, _)| *kind == up.kind())?;
                up.field(field).map(|name| name.text().to_owned())
            });
            unit.calls.push(Called { name, asserted: here.asserting, bound: bound.unwrap_or_default() });
        }
    }

    /// What counts for the whole file.
    fn note_file(&mut self, at: NodeRef<'_>, here: Where) {
        let language = self.language;
        let facts = &mut self.facts;
        facts.defined.extend((language.defines)(at).map(|name| (name, at.line())));
        if language.functions.contains(&at.kind()) && language::is_always_equal(at) {
            let name = at.field_text("name").to_owned();
            facts.equal.push(Mark { text: name, line: at.line(), conditional: false });
        }
        facts.imports.extend((language.imports)(at).into_iter().map(|(name, from)| (name, from, at.line())));
        if here.tests {
            return;
        }
        if (language.exits)(at) && !here.main {
            facts.exits.push(at.mark(false));
        }
        if (language.told)(at) {
            facts.told.push(at.mark(false));
        }
    }

    fn assertion(&mut self, at: NodeRef<'_>, here: &mut Where) {
        if !here.tests || here.asserting || here.dead {
            return;
        }
        let Some(found) = (self.language.assertion)(at) else { return };
        here.asserting = true;
        let messages: HashSet<usize> = found.messages.iter().map(Node::id).collect();
        let mut leaves = Vec::new();
        self.leaves(at, &messages, &mut leaves);
        // What is under its condition in other words belongs to it.
        let stands_under = matches!(found.operands.first().and_then(|o| o.first()), Some(n) if !at.node.byte_range().contains(&n.start_byte()));
        if stands_under {
            for node in found.operands.iter().flatten() {
                self.leaves(at.to(*node), &messages, &mut leaves);
            }
        }
        let text = joined(leaves.iter().map(|(text, _)| text.as_str()));
        let shape = joined(leaves.iter().map(|(text, is_name)| {
            if *is_name && self.language.strength(text).is_none() { "_" } else { text.as_str() }
        }));
        let operands: Vec<Vec<(String, bool)>> = found
            .operands
            .iter()
            .map(|nodes| {
                let mut leaves = Vec::new();
                for node in nodes {
                    self.leaves(at.to(*node), &messages, &mut leaves);
                }
                leaves
            })
            .collect();
        let operators = leaves
            .iter()
            .filter(|(text, is_name)| !is_name && OPERATORS.contains(&text.as_str()))
            .map(|(t, _)| t.clone());
        let mut operators: Vec<String> = operators.collect();
        if at.parent().is_some_and(|p| p.kind().starts_with("await")) {
            operators.push("await".to_owned());
        }
        operators.sort();
        let same = compares_itself(&operands);
        let asserted = Asserted {
            line: at.line(),
            shown: if stands_under { shown(at.of(found.operands[0][0])) } else { shown(at.text()) },
            vacuous: found.empty || is_vacuous(&operands) || (same && !text_of(&operands).contains('(')),
            same,
            text,
            shape,
            operators,
            strength: found.strength,
            guards: here.guards,
            negated: stands_under,
        };
        self.facts.units[here.unit].assertions.push(asserted);
        self.messages.extend(messages);
    }

    fn body(&self, at: NodeRef<'_>) -> String {
        let mut leaves = Vec::new();
        let name = at
            .field("name")
            .or_else(|| at.field("arguments").and_then(|a| a.named().first().map(|n| a.to(*n))));
        let without: HashSet<usize> = name.map(|name| name.node.id()).into_iter().collect();
        self.leaves(at, &without, &mut leaves);
        joined(leaves.iter().map(|(text, _)| text.as_str()))
    }

    /// The leaves below a node, and which of them are names. Comments are none.
    fn leaves(&self, at: NodeRef<'_>, without: &HashSet<usize>, into: &mut Vec<(String, bool)>) {
        if at.node.is_extra() || without.contains(&at.node.id()) {
            return;
        }
        let language = self.language;
        if at.node.is_named() && language.literals.contains(&at.kind()) && !has_code(at.node, language) {
            into.push((literal(at.text()), false));
        } else if at.node.child_count() == 0 {
            into.push((at.text().to_owned(), language.identifiers.contains(&at.kind())));
        } else {
            for child in at.children() {
                self.leaves(at.to(child), without, into);
            }
        }
    }
}

/// A literal in one spelling: `'a'` is `"a"`, `1_000` is `1000`.
fn literal(text: &str) -> String {
    match text.find(['"', '\'', '`']) {
        Some(at) if at <= 3 => format!("\"{}\"", text[at..].trim_matches(['"', '\'', '`', '#'])),
        _ if text.starts_with(|c: char| c.is_ascii_digit()) => text.replace('_', ""),
        _ => text.to_owned(),
    }
}

/// A text with code in it, as in an f-string.
fn has_code(node: Node<'_>, language: &Language) -> bool {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).any(|child| {
        matches!(child.kind(), "interpolation" | "template_substitution")
            || language.identifiers.contains(&child.kind())
    })
}

fn is_import(kind: &str) -> bool {
    kind.contains("import")
        || matches!(kind, "use_declaration" | "preproc_include" | "package_clause" | "attribute_item")
}

fn is_docstring(node: Node<'_>) -> bool {
    node.kind() == "expression_statement"
        && node.named_child_count() == 1
        && node.named_child(0).is_some_and(|n| n.kind() == "string")
}

/// What a group of tests is called: nobody expects it.
fn name_of_group(at: NodeRef<'_>, language: &Language) -> Option<usize> {
    let list = at.parent().filter(|_| matches!(at.kind(), "arguments" | "argument_list"))?;
    let name = (language.calls)(list)?;
    let groups =
        ["describe", "context", "suite", "it", "test", "require", "require_relative", "each", "skip", "only"];
    groups
        .contains(&name.as_str())
        .then(|| at.named().first().filter(|n| n.kind() == "string").map(Node::id))
        .flatten()
}

/// Leaves with one blank between, without what formatters add or take away.
fn joined<'a>(leaves: impl Iterator<Item = &'a str>) -> String {
    let mut text = String::new();
    let mut comma = false;
    for leaf in leaves {
        if leaf == "," {
            comma = true;
            continue;
        }
        if std::mem::take(&mut comma) && ![")", "]", "}"].contains(&leaf) {
            text.push_str(" ,");
        }
        if leaf != ";" && !leaf.is_empty() {
            text.push(' ');
            text.push_str(leaf);
        }
    }
    text
}

fn text_of(operands: &[Vec<(String, bool)>]) -> String {
    joined(operands.iter().flatten().map(|(text, _)| text.as_str()))
}

fn is_constant(operand: &[(String, bool)]) -> bool {
    !operand.is_empty() && operand.iter().all(|(_, is_name)| !is_name)
}

fn is_true(leaf: &str) -> bool {
    matches!(leaf, "true" | "True" | "1")
}

/// Does it hold whatever the code does? What never holds is no such thing: it is there to fail.
fn is_vacuous(operands: &[Vec<(String, bool)>]) -> bool {
    let or = |leaf: &str| matches!(leaf, "||" | "or");
    let escapes = |operand: &Vec<(String, bool)>| {
        operand.windows(2).any(|pair| {
            or(&pair[0].0) && is_true(&pair[1].0)
                || matches!(pair[0].0.as_str(), "true" | "True") && or(&pair[1].0)
        })
    };
    if operands.iter().any(escapes) {
        return true;
    }
    match operands {
        [] => false,
        [one] => is_constant(one) && !NEVER.contains(&joined(one.iter().map(|(t, _)| t.as_str())).trim()),
        [one, other, ..] => is_constant(one) && is_constant(other) && one == other,
    }
}

fn compares_itself(operands: &[Vec<(String, bool)>]) -> bool {
    match operands {
        [one] => {
            let is_comparison =
                |(text, _): &(String, bool)| matches!(text.as_str(), "==" | "===" | "is" | "!=");
            let sides: Vec<&[(String, bool)]> = one.split(is_comparison).collect();
            matches!(sides[..], [a, b] if a == b && !a.is_empty())
        }
        [one, other] => one == other && !one.is_empty(),
        _ => false,
    }
}
