//! The languages that can be read: one file each, a table of what is what in its grammar.

mod bash;
mod c;
mod cpp;
mod csharp;
mod go;
mod java;
mod javascript;
mod python;
mod ruby;
mod rust;

use tree_sitter::Node;

/// What is what in a language. Kinds are names of nodes in its grammar.
pub struct Language {
    pub name: &'static str,
    pub extensions: &'static [&'static str],
    pub grammar: fn() -> tree_sitter::Language,
    /// The text as the grammar can read it, of as many bytes, if that is another one.
    pub prepared: fn(&str) -> Option<String>,
    /// Numbers, texts, truth values: what a test expects is made of them.
    pub literals: &'static [&'static str],
    pub identifiers: &'static [&'static str],
    /// Functions and closures.
    pub functions: &'static [&'static str],
    /// What is only done under a condition.
    pub conditions: &'static [&'static str],
    pub returns: &'static [&'static str],
    /// Where a name is given to a value: the kind, and the field with the name.
    pub bindings: &'static [(&'static str, &'static str)],
    /// How deep in functions the body of a test is: 1 where a test is a function that is passed to another.
    pub body_of_test: usize,
    /// A later definition of the same name replaces the earlier one.
    pub redefines: bool,
    /// Tests are run by a function of the same file that calls them.
    pub calls_tests: bool,
    /// Names that assert: that something is one value; that it has some property; hardly anything.
    pub exact: &'static [&'static str],
    pub plain: &'static [&'static str],
    pub vague: &'static [&'static str],
    /// Calls whose texts are only said when something fails.
    pub messages: &'static [&'static str],
    /// Is code another one here when it is tested?
    pub told: fn(NodeRef<'_>) -> bool,
    /// Is this node a test?
    pub test: fn(NodeRef<'_>) -> Option<Test>,
    pub assertion: for<'t> fn(NodeRef<'t>) -> Option<Assertion<'t>>,
    /// Does this node switch a test off?
    pub off: fn(NodeRef<'_>) -> Option<Mark>,
    /// Does it end the program as if all were well?
    pub exits: fn(NodeRef<'_>) -> bool,
    /// Does it keep a failure from being one?
    pub swallows: fn(NodeRef<'_>) -> bool,
    /// Does it put something else in the place of a function? Its name, or the module's.
    pub mocks: fn(NodeRef<'_>) -> Option<String>,
    /// The name it calls.
    pub calls: fn(NodeRef<'_>) -> Option<String>,
    /// The name it defines.
    pub defines: fn(NodeRef<'_>) -> Option<String>,
    /// The names it imports, each with what it is imported from.
    pub imports: fn(NodeRef<'_>) -> Vec<(String, String)>,
    /// Do tests live below this node, in a file that is none by its name?
    pub holds_tests: fn(NodeRef<'_>) -> bool,
}

/// A node of a parsed file.
#[derive(Clone, Copy)]
pub struct NodeRef<'t> {
    pub node: Node<'t>,
    pub source: &'t str,
    /// The file is a test by its name.
    pub in_test_file: bool,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Test {
    pub name: String,
    /// What switches it off.
    pub off: Vec<Mark>,
}

/// Something that keeps a test from counting.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mark {
    pub text: String,
    pub line: u32,
    /// Only under some condition.
    pub conditional: bool,
}

#[derive(Clone, Debug)]
pub struct Assertion<'t> {
    /// What is compared, or is to hold; each may be several nodes in a row.
    pub operands: Vec<Vec<Node<'t>>>,
    /// What is only said when it fails.
    pub messages: Vec<Node<'t>>,
    pub strength: Strength,
    /// It says nothing at all, whatever the operands are.
    pub empty: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Strength {
    Vague,
    Plain,
    Exact,
}

const LANGUAGES: [&Language; 12] = [
    &rust::RUST,
    &python::PYTHON,
    &javascript::JAVASCRIPT,
    &javascript::TYPESCRIPT,
    &javascript::TSX,
    &go::GO,
    &java::JAVA,
    &ruby::RUBY,
    &c::C,
    &cpp::CPP,
    &csharp::CSHARP,
    &bash::BASH,
];

/// The language of a file, by its extension.
pub fn of(path: &str) -> Option<&'static Language> {
    let name = path.rsplit('/').next()?;
    let (_, extension) = name.rsplit_once('.')?;
    LANGUAGES.into_iter().find(|language| language.extensions.contains(&extension))
}

impl Language {
    pub fn strength(&self, name: &str) -> Option<Strength> {
        let among = |names: &[&str]| names.contains(&name);
        if among(self.exact) {
            Some(Strength::Exact)
        } else if among(self.plain) {
            Some(Strength::Plain)
        } else {
            among(self.vague).then_some(Strength::Vague)
        }
    }
}

impl<'t> NodeRef<'t> {
    pub fn to(self, node: Node<'t>) -> Self {
        Self { node, ..self }
    }

    pub fn kind(self) -> &'t str {
        self.node.kind()
    }

    pub fn text(self) -> &'t str {
        self.of(self.node)
    }

    pub fn of(self, node: Node<'_>) -> &'t str {
        self.source.get(node.byte_range()).unwrap_or_default()
    }

    pub fn line(self) -> u32 {
        line(self.node)
    }

    pub fn field(self, name: &str) -> Option<Self> {
        self.node.child_by_field_name(name).map(|node| self.to(node))
    }

    pub fn field_text(self, name: &str) -> &'t str {
        self.field(name).map(Self::text).unwrap_or_default()
    }

    pub fn parent(self) -> Option<Self> {
        self.node.parent().map(|node| self.to(node))
    }

    pub fn named(self) -> Vec<Node<'t>> {
        let mut cursor = self.node.walk();
        self.node.named_children(&mut cursor).filter(|child| !child.is_extra()).collect()
    }

    pub fn children(self) -> Vec<Node<'t>> {
        let mut cursor = self.node.walk();
        self.node.children(&mut cursor).collect()
    }

    pub fn only_child(self) -> Self {
        match self.named()[..] {
            [only] => self.to(only),
            _ => self,
        }
    }

    /// The nodes around it, the nearest first.
    pub fn above(self) -> impl Iterator<Item = Self> {
        std::iter::successors(self.parent(), |at| at.parent())
    }

    pub fn mark(self, conditional: bool) -> Mark {
        Mark { text: crate::shown(self.text()), line: self.line(), conditional }
    }

    /// Each named child as an operand of its own.
    pub fn operands(self) -> Vec<Vec<Node<'t>>> {
        self.named().into_iter().map(|node| vec![node]).collect()
    }
}

pub fn line(node: Node<'_>) -> u32 {
    u32::try_from(node.start_position().row).unwrap_or(u32::MAX - 1) + 1
}

/// The last name of a path: `pytest.mark.skip`, `std::process::exit`.
pub fn last(path: &str) -> &str {
    path.rsplit(['.', ':']).next().unwrap_or(path).trim()
}

/// A text without its quotes.
pub fn unquoted(text: &str) -> &str {
    text.trim_matches(['"', '\'', '`'])
}

/// Does a leaf say one of these words, in an expression that also says the other?
fn tells(at: NodeRef<'_>, words: &[(&str, &str)]) -> bool {
    let word = unquoted(at.text());
    let Some((_, with)) = words.iter().find(|(known, _)| *known == word) else { return false };
    at.above().take(4).any(|up| up.kind() != "program" && up.text().contains(with) && is_question(up.kind()))
}

fn is_question(kind: &str) -> bool {
    [
        "binary",
        "comparison",
        "call",
        "unary",
        "subscript",
        "condition",
        "if",
        "invocation",
        "reference",
        "ifdef",
    ]
    .iter()
    .any(|word| kind.contains(word))
}

/// A function by which a language compares, of one line that says yes.
pub fn is_always_equal(at: NodeRef<'_>) -> bool {
    if !matches!(at.field_text("name"), "eq" | "__eq__" | "equals" | "Equals" | "==") {
        return false;
    }
    let body: String = at.field_text("body").split_whitespace().collect();
    let body = body.trim_matches(['{', '}', ';']);
    matches!(body.strip_prefix("return").unwrap_or(body), "true" | "True")
}

/// What a loop goes over, where it is only a part of something: `cases[2:]`, `cases.slice(2)`.
pub fn part_of_a_loop(at: NodeRef<'_>) -> Option<NodeRef<'_>> {
    if !["for", "enhanced_for", "range_clause"].iter().any(|begin| at.kind().starts_with(begin)) {
        return None;
    }
    let over = at.field("right").or_else(|| at.field("value"))?;
    let text: String = over.text().split_whitespace().collect();
    let is_part = text.ends_with(']')
        && text.rsplit_once('[').is_some_and(|(of, part)| {
            !of.is_empty() && (part.contains("..") || part.contains(':')) && !part.contains(',')
        });
    let takes = [".slice(", ".skip(", ".take(", ".filter(", "islice("].iter().any(|word| text.contains(word));
    (is_part || takes).then_some(over)
}

fn as_is(_: &str) -> Option<String> {
    None
}

fn nothing(_: NodeRef<'_>) -> Option<String> {
    None
}

fn no_imports(_: NodeRef<'_>) -> Vec<(String, String)> {
    Vec::new()
}

fn never(_: NodeRef<'_>) -> bool {
    false
}
