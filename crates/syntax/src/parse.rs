//! Parsing within bounds: size, time and depth. What is beyond them cannot be read, and whoever asked must not take that
//! for a file without tests.

use std::ops::ControlFlow;

use tree_sitter::{ParseOptions, Parser, Tree};

use crate::language::Language;

/// Bytes of a file that is parsed.
pub const LARGEST: usize = 1 << 20;
/// Nodes within nodes that are followed.
pub const DEEPEST: usize = 400;
/// How often a parser reports that it is still at work before it is broken off. It does so every hundred or so steps, so
/// this bounds its work and not its time: the same file is read, or not, on every machine.
const MOST_REPORTS: usize = 100_000;

/// None if it cannot be read as a program of this language.
pub fn parse(language: &Language, text: &str) -> Option<Tree> {
    if text.len() > LARGEST {
        return None;
    }
    let mut parser = Parser::new();
    parser.set_language(&(language.grammar)()).ok()?;
    let mut reports = 0_usize;
    let mut at_work = |_: &tree_sitter::ParseState| {
        reports += 1;
        if reports > MOST_REPORTS { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let options = ParseOptions::new().progress_callback(&mut at_work);
    let prepared = (language.prepared)(text).filter(|prepared| prepared.len() == text.len());
    let bytes = prepared.as_deref().unwrap_or(text).as_bytes();
    let tree =
        parser.parse_with_options(&mut |at, _| bytes.get(at..).unwrap_or_default(), None, Some(options))?;
    (!tree.root_node().has_error() && !is_too_deep(&tree)).then_some(tree)
}

fn is_too_deep(tree: &Tree) -> bool {
    let mut cursor = tree.walk();
    let mut depth = 0_usize;
    loop {
        if cursor.goto_first_child() {
            depth += 1;
            if depth > DEEPEST {
                return true;
            }
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return false;
            }
            depth -= 1;
        }
    }
}
