//! The closed table of what may be read as approval, and the wider one of what is read as anything else. One place: the
//! readers look words up here, and `shown` makes data harmless by walking the same table.
//!
//! A verdict is a *statement*: a line that, without its decorations, is a label and a word (`**Status:** APPROVED`), or the
//! word alone. Inside a sentence nothing is stated, except that a word of rejection is noticed there, too (`doubt`).

pub mod lists;

use std::ops::Range;

use lists::ListedWord;

/// What a verdict word says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Says {
    Approved,
    Rejected,
    /// A status of some other kind: pending, conditional, partial.
    Other,
}

/// Labels before a verdict word, in the order in which longer ones win.
pub const LABELS: &[&str] = &[
    "status",
    "verdict",
    "decision",
    "result",
    "outcome",
    "conclusion",
    "recommendation",
    "judgement",
    "judgment",
    "assessment",
    "estado",
    "statut",
    "stato",
    "urteil",
    "статус",
    "状态",
    "判定",
    "ステータス",
];

/// Words that may stand before a label or a verdict word without changing what it says.
const PREFIXES: &[&str] = &[
    "critic",
    "critics",
    "reviewer",
    "assistant",
    "review",
    "answer",
    "final",
    "my",
    "the",
    "overall",
    "is",
    "as",
    "loop",
    "response",
    "output",
    "new",
    "updated",
    "corrected",
    "current",
];

/// The words that approve a draft, in the spellings and languages that occur. Closed.
pub const APPROVING: &[&str] = &[
    "approved",
    "approve",
    "accepted",
    "accept",
    "genehmigt",
    "freigegeben",
    "angenommen",
    "approuvé",
    "approuve",
    "accepté",
    "aprobado",
    "aceptado",
    "aprovado",
    "aceito",
    "approvato",
    "accettato",
    "goedgekeurd",
    "godkänd",
    "godkendt",
    "zatwierdzone",
    "одобрено",
    "принято",
    "批准",
    "通过",
    "已批准",
    "承認",
    "承認済み",
    "승인",
    "승인됨",
];

/// Words that reject a draft. Open: more may be added at any time.
const REJECTING: &[&str] = &[
    "rejected",
    "reject",
    "declined",
    "disapproved",
    "disapprove",
    "unapproved",
    "refused",
    "failed",
    "fail",
    "abgelehnt",
    "zurückgewiesen",
    "rejeté",
    "refusé",
    "rejete",
    "rechazado",
    "rejeitado",
    "recusado",
    "respinto",
    "rifiutato",
    "afgewezen",
    "avvisad",
    "afvist",
    "odrzucone",
    "отклонено",
    "отклонен",
    "拒绝",
    "驳回",
    "已拒绝",
    "却下",
    "差し戻し",
    "거부",
    "반려",
];

/// Words after a label that are neither.
const OTHER: &[&str] = &[
    "pending",
    "conditional",
    "conditionally",
    "partial",
    "partially",
    "needs",
    "changes",
    "revise",
    "revision",
    "minor",
    "major",
    "incomplete",
    "unclear",
    "unknown",
    "undecided",
    "mixed",
    "tentative",
    "tentatively",
    "provisional",
    "provisionally",
    "n",
    "na",
    "almost",
    "not",
    "never",
    "un",
    "mostly",
];

/// The words that pass a criterion, an item or a piece of work. Closed.
pub const PASSING: &[&str] = &["pass", "passed"];
/// Words that leave a criterion clean without passing it.
pub const DEFERRING: &[&str] = &["defer", "deferred"];
/// Words for a success criterion that is met. Closed.
pub const SATISFYING: &[&str] = &[
    "satisfied",
    "met",
    "pass",
    "passed",
    "fulfilled",
    "fulfilled completely",
    "true",
    "yes",
    "satisfies",
    "fully satisfied",
    "fully met",
    "erfüllt",
    "rempli",
    "cumplido",
    "满足",
    "已满足",
];
/// Words for a report that found nothing. Closed.
pub const CLEARING: &[&str] = &[
    "passed",
    "pass",
    "approved",
    "approve",
    "accepted",
    "accept",
    "satisfied",
    "all passed",
    "all criteria met",
    "all criteria satisfied",
    "all satisfied",
    "clean",
    "no_issues",
    "no issues",
    "no issues found",
];
/// Single-word answers that end a goal.
pub const GRANTING: &[&str] = &["yes", "achieved"];
/// Keys under which JSON reports say what they find.
pub const REPORT_KEYS: &[&str] = &[
    "deductions",
    "score",
    "criteria",
    "findings",
    "verdict",
    "status",
    "approved",
    "blockers_count",
    "report_path",
    "answers",
];
/// Labels before a stated total, and before the answer to the failure scenario.
pub const TOTAL_LABELS: &[&str] = &["score", "total", "final", "overall", "grade", "rating"];
pub const SCENARIO_LABEL: &str = "realistic";
const CONVERGED: &str = "converged";

/// What stands in for nothing: data in a brief carries these around every word a reader could take for a verdict, and no
/// reader takes a word that carries them.
pub const STAND_IN: [char; 2] = ['‹', '›'];

/// A statement found in a line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Statement<'a> {
    pub says: Says,
    /// Where the deciding word stands in the line.
    pub word: Range<usize>,
    /// What follows on the line, without the decorations right behind the word.
    pub after: &'a str,
    /// It carries a label, or the whole of the square-bracket form.
    pub labelled: bool,
}

/// The words of a line with where they stand. Digits count as words; everything else is decoration.
fn words(line: &str) -> impl Iterator<Item = (Range<usize>, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = line.get(at..)?;
        let start = at + rest.find(|c: char| c.is_alphanumeric())?;
        let tail = &line[start..];
        let length = tail
            .find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '\'' || c == '’'))
            .unwrap_or(tail.len());
        at = start + length;
        Some((start..at, &line[start..at]))
    })
}

pub fn is_one_of(word: &str, list: &[&str]) -> bool {
    let word = if word.starts_with('_') || word.ends_with('_') { word.trim_matches('_') } else { word };
    list.iter().any(|known| known.len() == word.len() && known.eq_ignore_ascii_case(word))
        || !word.is_ascii() && {
            let lower = word.to_lowercase();
            list.iter().any(|known| *known == lower)
        }
}

/// Decorations may hold a separator, emphasis, brackets, ticks and emoji; never a stand-in, a question mark or the mark of a
/// quoted line, and not a full stop, which ends a sentence before the word. What is struck through is taken back.
fn is_decoration(gap: &str) -> bool {
    !gap.contains("~~")
        && !gap.contains(|c: char| {
            STAND_IN.contains(&c)
                || matches!(c, '?' | '>' | '.' | ';' | '!' | '/' | '+' | '"' | '“' | '”' | ',')
        })
}

/// What a line states, if it states a verdict on a draft. `PASS` states nothing here: it belongs to single criteria.
pub fn status(line: &str) -> Option<Statement<'_>> {
    let line = line.trim_end();
    // A question states nothing.
    if line.len() < 200 && line.ends_with('?') {
        return None;
    }
    let mut label = false;
    let mut negated = false;
    let mut last = 0;
    let mut first = true;
    for (range, word) in words(line).take(9) {
        let gap = line.get(last..range.start).unwrap_or_default();
        // A number before everything else is a list's; a full stop behind it is, too.
        let numbered = first
            || last > 0
                && line[..last]
                    .trim_matches(|c: char| !c.is_alphanumeric())
                    .chars()
                    .all(|c| c.is_ascii_digit());
        let sound = is_decoration(gap) || numbered && is_decoration(&gap.replacen('.', "", 1));
        // Quotation marks right before the first word belong to a quoted token: `"[STATUS: APPROVED]"` alone on a line.
        let quoted = first && is_decoration(gap.trim_matches(['"', '“', '”', ' ']));
        if !(sound || quoted) || is_one_of(word, &["quote", "quoted"]) {
            return None;
        }
        let says = if is_one_of(word, APPROVING) {
            Some(if negated { Says::Rejected } else { Says::Approved })
        } else if is_one_of(word, REJECTING) {
            Some(if negated { Says::Other } else { Says::Rejected })
        } else if label && is_one_of(word, OTHER) {
            if is_one_of(word, &["not", "never", "un"]) {
                negated = true;
                last = range.end;
                continue;
            }
            Some(Says::Other)
        } else {
            None
        };
        if let Some(says) = says {
            let after = after(line, range.end);
            if !label && !after.is_empty() && !is_bracketed(line, &range) {
                return None;
            }
            // A label belongs to the word by a separator, a bracket or `is`; words that run on are a sentence.
            return Some(Statement { says, word: range, after, labelled: label });
        }
        if is_one_of(word, LABELS) {
            label = true;
        } else if is_one_of(word, &["not", "never"]) {
            negated = true;
        } else if first && word.chars().all(|c| c.is_ascii_digit()) && word.len() <= 2 {
            // A list's number.
        } else if !is_one_of(word, PREFIXES) {
            return None;
        }
        first = false;
        last = range.end;
    }
    None
}

/// `[APPROVED]`: brackets right around the word.
fn is_bracketed(line: &str, word: &Range<usize>) -> bool {
    line[..word.start].trim_end_matches(['*', '_', '`', ' ', '\\']).ends_with('[')
        && line[word.end..].trim_start_matches(['*', '_', '`', ' ', '\\']).starts_with(']')
}

/// The text behind a verdict word, without what closes its decoration.
fn after(line: &str, end: usize) -> &str {
    let rest = line.get(end..).unwrap_or_default();
    rest.trim_start_matches(|c: char| {
        c.is_whitespace()
            || matches!(
                c,
                ']' | ')'
                    | '}'
                    | '>'
                    | '*'
                    | '_'
                    | '`'
                    | '"'
                    | '”'
                    | '“'
                    | '\''
                    | '\\'
                    | '.'
                    | ':'
                    | '!'
                    | ','
                    | ';'
                    | '|'
                    | '='
                    | '#'
                    | '~'
            )
            || is_pictograph(c)
    })
    .trim_start_matches(['-', '–', '—', '→', ' '])
    .trim()
}

/// Ticks, crosses, circles and whatever else is a picture and no letter.
pub const fn is_pictograph(c: char) -> bool {
    matches!(c, '\u{2190}'..='\u{2bff}' | '\u{1f000}'..='\u{1faff}' | '\u{fe00}'..='\u{fe0f}' | '\u{203c}' | '\u{2049}')
        && !matches!(c, '→' | '⇒' | '⟶' | '≡' | '∶' | '≥' | '≤' | '≠' | '−')
}

/// Where a line says that something passes: `Verdict: PASS`, `… → PASS`, a table's cell, the word alone. For `shown`, which
/// has to find at least what readers do.
pub fn passing_words(line: &str, words: &[ListedWord]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut is_first = true;
    let mut previous = 0;
    for ListedWord { range, lists } in words {
        if lists & lists::PASSING != 0 {
            let word = &line[range.clone()];
            let before = line[..range.start].trim_end_matches(|c: char| {
                c.is_whitespace()
                    || matches!(c, '*' | '_' | '`' | '"' | '“' | '\'' | '\\' | '(' | '{' | '<')
                    || is_pictograph(c)
            });
            let set_off = before.is_empty()
                || before.ends_with([
                    ':', '=', '-', '–', '—', '→', '>', '|', '[', '⇒', '#', '.', '+', '•', '?', ',', ';',
                ])
                || previous & (lists::LABEL | lists::PREFIX) != 0;
            let capitals = word.chars().any(char::is_uppercase) && !word.chars().any(char::is_lowercase);
            let marked = line[..range.start].ends_with(STAND_IN[0]);
            if (set_off || capitals || is_first) && !marked {
                found.push(range.clone());
            }
        }
        is_first = false;
        previous = *lists;
    }
    found
}

#[cfg(test)]
mod tests;
