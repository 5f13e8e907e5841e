//! What speaks against an approval. Each rule is one pattern with a name; together they are the table in
//! `docs/protocols/reading.md`. A rule that finds something costs the critic one short question and nothing else, so rules
//! lean towards asking; what is plainly no demand ("no changes are needed") is taken out of a text first.

mod affirm;
mod bygone;
mod closing;
mod lexicon;
mod other_work;
mod passing;
mod patterns;
mod polarity;
mod section;
mod settled;
mod stance;
mod subject;
mod tongues;
mod weight;

pub use patterns::shortfall;
use patterns::{finds, harmless, orders, presses};
use polarity::Reading;
pub use section::{Section, section};
use weight::is_instruction;

use super::forms;
pub use weight::{Weight, is_met, is_partial, item, says_nothing};

/// Longer texts are read in pieces of sentences anyway; what lies beyond is not looked at.
const MOST_READ: usize = 64 << 10;

/// The rules, by what they find.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rule {
    /// Another verdict than the one stated: `FAIL`, "cannot be approved".
    Denial,
    /// Approved only if something happens first.
    Condition,
    /// Something has to be done.
    Demand,
    /// Something is wrong or missing.
    Defect,
    /// Two of three.
    Shortfall,
    /// The critic did not see the work, or would not judge it.
    Unseen,
    /// The critic judged a version of its own, or did what the work told it.
    Tampering,
    /// The critic has not made up its mind.
    Undecided,
    /// The critic lets something pass that it has seen.
    Lenient,
    /// Nobody can tell what it says for the approval.
    Unclear,
    /// Nothing in a sentence speaks for the approval.
    Unaffirmed,
    /// The reply ends in the middle.
    CutOff,
}

impl Rule {
    /// In the words of the question to the critic.
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::Denial => "it approves and also says that it does not",
            Self::Condition => "it approves on a condition",
            Self::Demand => "it approves and also asks for a change",
            Self::Defect => "it approves and also says that something is wrong",
            Self::Shortfall => "it approves and counts fewer than all",
            Self::Unseen => "it approves and says that the work was not seen or not judged",
            Self::Tampering => "it approves something else than the work as it stands",
            Self::Undecided => "it approves and is not sure",
            Self::Lenient => "it approves and lets something pass",
            Self::Unclear => "it approves, and it is not plain whether this speaks for it",
            Self::Unaffirmed => "it approves, and it is not plain what this says for it",
            Self::CutOff => "it ends in the middle",
        }
    }
}

/// The rules that a text is held against.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scope {
    /// What a critic says in its own words beside an approval.
    Prose,
    /// Why a criterion passes: it describes the work, and what it counts or misses speaks against it.
    Answer,
    /// What the evidence is: it describes code, so that words of defect prove little.
    Evidence,
}

/// The first rule that speaks against an approval, with the passage.
pub fn against(text: &str, scope: Scope) -> Option<(Rule, String)> {
    found(text, scope, None).next()
}

/// Every sentence that speaks against an approval, with its rule.
pub fn all_against(text: &str, scope: Scope) -> Vec<(Rule, String)> {
    found(text, scope, None).collect()
}

/// `off` is a rule that is left out: tests switch each of them off to see what it is there for.
fn found(text: &str, scope: Scope, off: Option<Rule>) -> impl Iterator<Item = (Rule, String)> {
    let text = text[..text.floor_char_boundary(MOST_READ)].replace("**", "");
    let mut found = Vec::new();
    let sentences: Vec<&str> = sentences(&text).filter(|sentence| !sentence.trim().is_empty()).collect();
    for (at, sentence) in sentences.iter().enumerate() {
        if scope == Scope::Prose && closing::is_leave(sentence) {
            continue;
        }
        let mut sentence = *sentence;
        let whole = sentence;
        // Evidence describes a change, which somebody else made.
        let on_other_work = if scope == Scope::Evidence { None } else { other_work::rule(sentence) };
        if let Some(rule) = on_other_work.filter(|rule| off != Some(*rule)) {
            found.push((rule, sentence.trim().to_owned()));
            continue;
        }
        if scope == Scope::Prose {
            match bygone::told(sentence, sentences.get(at + 1..).unwrap_or_default()) {
                bygone::Told::Nothing => {}
                bygone::Told::Over(rest) => sentence = rest,
                bygone::Told::Open if off == Some(Rule::Defect) => {}
                bygone::Told::Open => {
                    found.push((Rule::Defect, sentence.trim().to_owned()));
                    continue;
                }
            }
        }
        let before = at.checked_sub(1).and_then(|at| sentences.get(at)).copied();
        // `It has no bearing on the verdict.`, said of the sentence before.
        let next = sentences.get(at + 1).copied().unwrap_or_default();
        let waived = patterns::waives_what_was_said(next) && !is_pressing(sentence);
        if scope == Scope::Prose && waived && !is_lacking(sentence, Reading::Judgement) {
            continue;
        }
        let rule = match settled::rest(sentence, before, sentences.get(at + 1).copied()) {
            settled::Rest::Lacking if scope != Scope::Evidence => {
                Some(Rule::Defect).filter(|rule| off != Some(*rule))
            }
            settled::Rest::Lacking => None,
            settled::Rest::Text(rest) => in_sentence(&rest, scope, off).or_else(|| {
                // What was set aside may have been what affirms.
                let is_whole = scope == Scope::Prose && off != Some(Rule::Unaffirmed) && rest == sentence;
                (is_whole && affirms_nothing(sentence) && !is_label(sentence, next))
                    .then_some(Rule::Unaffirmed)
            }),
        };
        let in_any_words =
            || Some(whole).filter(|_| scope == Scope::Prose).and_then(other_work::in_any_words);
        // What was set aside may have been the count of what is still open.
        let counted = || {
            let prose = scope == Scope::Prose;
            let fewer = (prose && patterns::counts_fewer_items(whole)).then_some(Rule::Shortfall);
            let later = (!prose && patterns::holds_later(whole)).then_some(Rule::Condition);
            fewer.or(later).or((prose && patterns::does_not_find(whole)).then_some(Rule::Defect))
        };
        let rule = rule.or_else(|| in_any_words().or_else(counted).filter(|rule| off != Some(*rule)));
        found.extend(rule.map(|rule| (rule, sentence.trim().to_owned())));
    }
    found.into_iter()
}

const RULES: [Rule; 10] = [
    Rule::Denial,
    Rule::Unseen,
    Rule::Undecided,
    Rule::Lenient,
    Rule::Condition,
    Rule::Demand,
    Rule::Defect,
    Rule::Tampering,
    Rule::Shortfall,
    Rule::Unclear,
];

fn in_sentence(sentence: &str, scope: Scope, off: Option<Rule>) -> Option<Rule> {
    if sentence.trim().is_empty() || denies_by_label(sentence) {
        return None;
    }
    if is_offered(sentence) {
        let presses = is_pressing(sentence).then_some(Rule::Demand);
        let rest = patterns::with_consequence(sentence);
        let lacks = || is_lacking(&rest, Reading::Judgement).then_some(Rule::Defect);
        return presses.or_else(lacks).filter(|rule| off != Some(*rule));
    }
    let sentence = &subject::without(sentence);
    let plain = without_praise(sentence);
    RULES.into_iter().filter(|rule| off != Some(*rule)).find(|rule| breaks(*rule, sentence, &plain, scope))
}

/// `First criterion: the sample size. Yes, …`: named, and then judged.
fn is_label(sentence: &str, next: &str) -> bool {
    let next = next.trim_start();
    let judged =
        ["yes", "ok", "met", "fine", "done", "given", "stated", "named", "present", "a ", "both", "it is"];
    sentence.split_whitespace().count() <= 6
        && (next.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '✓' | '✅' | '✔'))
            || judged.iter().any(|head| next.to_lowercase().starts_with(head)))
}

/// Is there nothing in an English sentence of some length that speaks for the work?
fn affirms_nothing(sentence: &str) -> bool {
    (affirm::only_asks(sentence) || !affirm::is_plain(sentence) && affirm::leaves_it_to_others(sentence))
        && tongues::is_english(sentence)
        && !denies_by_label(sentence)
        && !is_offered(sentence)
        && without_praise(sentence) == sentence
}

/// `plain` is the sentence without what only sounds like it.
fn breaks(rule: Rule, sentence: &str, plain: &str, scope: Scope) -> bool {
    if rule == Rule::Defect && passing::wants(plain, scope)
        || rule == Rule::Demand && scope == Scope::Prose && closing::is_asked_in_leave(sentence)
    {
        return true;
    }
    let of_stance =
        if matches!(rule, Rule::Unseen | Rule::Undecided | Rule::Lenient) { sentence } else { plain };
    if stance::breaks(rule, of_stance, scope) {
        return true;
    }
    match (rule, scope) {
        (Rule::Unclear, Scope::Prose) => tongues::is_english(sentence) && stance::is_elsewhere(plain),
        (Rule::Unseen, _) => finds(Rule::Unseen, sentence),
        (Rule::Shortfall, Scope::Evidence) => shortfall(sentence),
        (Rule::Shortfall, _) => shortfall(sentence) || finds(Rule::Shortfall, plain),
        // What describes the work may say what a program must do; only orders to change it count.
        (Rule::Demand, Scope::Evidence | Scope::Answer) => orders(plain),
        (Rule::Demand, Scope::Prose) => finds(rule, plain) || is_instruction(plain) || orders_later(plain),
        (Rule::Condition | Rule::Tampering, Scope::Evidence)
        | (Rule::CutOff | Rule::Undecided | Rule::Lenient | Rule::Unclear | Rule::Unaffirmed, _) => false,
        (Rule::Defect, Scope::Prose) => {
            finds(rule, plain)
                || is_none_by_label(sentence)
                || patterns::names_a_fault(plain)
                || patterns::has_none(plain) && !polarity::names_unwanted(sentence)
                || is_lacking(sentence, Reading::Judgement)
                || tongues::speaks_against(sentence)
        }
        (Rule::Defect, Scope::Answer) => {
            patterns::counts_defects(plain)
                || is_lacking(sentence, Reading::Description)
                || tongues::speaks_against(sentence)
        }
        (Rule::Defect, Scope::Evidence) => {
            patterns::is_unproven(plain)
                || segments(sentence)
                    .skip(1)
                    .filter(|turn| turn.starts_with(' '))
                    .any(|turn| polarity::of(turn, Reading::Description).lacking)
                || tongues::speaks_against(sentence)
        }
        (Rule::Denial | Rule::Condition | Rule::Tampering, _) => finds(rule, plain),
    }
}

/// `… overlap a good deal; merge them before starting`: an order behind a mark.
fn orders_later(sentence: &str) -> bool {
    let labelled = sentence.split_once(": ").is_some_and(|(label, order)| {
        const HEADS: [&str; 14] = [
            "more", "thing", "note", "request", "remark", "ask", "todo", "action", "addition", "ps", "also",
            "still", "only", "left",
        ];
        let named = label.split(|c: char| !c.is_alphanumeric()).any(|word| forms::is_one_of(word, &HEADS));
        named && weight::begins_with_a_demand(order)
    });
    labelled || sentence.split_inclusive([';', '—', '–']).skip(1).any(is_instruction)
}

fn is_lacking(sentence: &str, reading: Reading) -> bool {
    if !tongues::is_english(sentence) {
        return false;
    }
    let plain = harmless(sentence);
    segments(&plain).any(|segment| polarity::of(segment, reading).lacking)
}

/// `Optionally, …`, `As a suggestion, …`, `without consequence for the verdict`: a remark that says of itself that nothing follows
/// from it.
fn is_offered(sentence: &str) -> bool {
    if patterns::is_without_consequence(sentence) {
        return true;
    }
    let lower = sentence.trim_start_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    [
        "optionally",
        "optional",
        "nit",
        "nitpick",
        "minor",
        "as a suggestion",
        "a minor suggestion",
        "one minor suggestion",
        "as an aside",
        "for future work",
        "in future work",
    ]
    .iter()
    .any(|head| lower.strip_prefix(head).is_some_and(|rest| rest.starts_with([',', ':', ' '])))
}

/// Does a remark, however small it is called, say that something is not there?
pub fn says_it_lacks(text: &str) -> bool {
    sentences(text).any(|said| is_lacking(said, Reading::Judgement) || said.contains(" nowhere to "))
}

/// Does an item that is ticked off take it back? What it repeats of the complaint is done.
pub fn takes_back(text: &str) -> bool {
    is_pressing(text)
        || sentences(text).any(|sentence| {
            segments(sentence).skip(1).any(|turn| in_sentence(turn, Scope::Prose, None).is_some())
                || finds(Rule::Shortfall, &without_praise(sentence))
        })
}

/// `Required fixes: none`: what a label announces is denied right behind it.
fn denies_by_label(sentence: &str) -> bool {
    sentence.rsplit_once(": ").or_else(|| sentence.rsplit_once(":** ")).is_some_and(|(label, value)| {
        let zero = value.trim_matches(|c: char| !c.is_alphanumeric()) == "0";
        // `No sample size: does not apply`: the name of a row that is no lack here.
        let named = label.trim_start_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        let void = named.starts_with("no ")
            && ["not applicable", "does not apply", "n/a"]
                .iter()
                .any(|head| value.trim().to_lowercase().starts_with(head));
        // `Test: none` denies something that should be there.
        let bad = polarity::names_something_bad(label)
            || [
                "note", "remark", "suggest", "escalat", "optional", "minor", "nit", "other", "more", "to do",
                "cons",
            ]
            .iter()
            .any(|word| named.contains(word));
        (void || bad && (zero || says_nothing(value)))
            && !value.trim().is_empty()
            && label.split_whitespace().count() <= 8
    })
}

/// `Test: none.`: a label of something wanted, and nothing behind it.
fn is_none_by_label(sentence: &str) -> bool {
    sentence.rsplit_once(": ").is_some_and(|(label, value)| {
        forms::is_one_of(
            value.trim_matches(|c: char| !c.is_alphanumeric()),
            &["none", "nothing", "no", "0", "nil", "n/a"],
        ) && (1..=5).contains(&label.split_whitespace().count())
            && !denies_by_label(sentence)
    })
}

/// Does a remark that is called minor or optional press for a change all the same?
pub fn is_pressing(text: &str) -> bool {
    let plain = without_praise(text)
        .to_lowercase()
        .replace("not required", "")
        .replace("non-blocking", "")
        .replace("nonblocking", "");
    presses(&plain)
}

/// The text without what holds a word of demand and is none. What follows a turn inside such a phrase stays: "nothing is
/// missing, but the test must be named".
fn without_praise(text: &str) -> String {
    let text = harmless(text);
    let mut plain = String::with_capacity(text.len());
    for segment in segments(&text) {
        let mut at = 0;
        for praise in polarity::of(segment, Reading::Judgement).praise {
            if praise.start < at {
                continue;
            }
            plain.push_str(&segment[at..praise.start]);
            plain.push_str(" , ");
            at = praise.end;
        }
        plain.push_str(&segment[at..]);
    }
    plain
}

/// Does a sentence turn: `…, but …`?
pub fn turns(sentence: &str) -> bool {
    segments(sentence).nth(1).is_some()
}

/// The parts of a sentence, each of which may say something else than the one before.
fn segments(sentence: &str) -> impl Iterator<Item = &str> {
    const TURNS: [&str; 16] = [
        "; ",
        " but ",
        " however",
        " except",
        " although ",
        " though ",
        " yet ",
        " whereas ",
        " and must",
        " and has to",
        " and should",
        " and needs",
        " and please",
        " — ",
        " – ",
        ", just ",
    ];
    let mut rest = sentence;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        // A sentence may begin with a turn, which is then part of it.
        let lower = rest.to_ascii_lowercase();
        let at = TURNS.iter().filter_map(|turn| lower.get(1..)?.find(turn).map(|at| at + 1)).min();
        let (segment, tail) = rest.split_at(at.unwrap_or(rest.len()));
        rest = tail;
        Some(segment)
    })
}

/// Does a text say that the work does not pass?
pub fn denies(text: &str) -> bool {
    sentences(text).any(|sentence| finds(Rule::Denial, &without_praise(sentence)))
}

/// Does a text name trouble, be it ever so small?
pub fn names_trouble(text: &str) -> bool {
    patterns::names_trouble(&without_praise(text))
}

/// Does an answer that passes concede that something is wanting?
pub fn concedes(text: &str) -> bool {
    sentences(text).any(|sentence| passing::concedes(&without_praise(sentence)))
}

/// Does a text that calls something unrealistic say that it comes about, or that nobody prevents it?
pub fn happens(text: &str) -> bool {
    patterns::happens(text)
}

/// Does a text put a condition?
pub fn condition(text: &str) -> bool {
    finds(Rule::Condition, text)
}

/// A text in sentences; a full stop inside a number or a name ends none.
pub fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let mut at = rest.len();
        for (index, c) in rest.char_indices() {
            let end = index + c.len_utf8();
            let next = rest[end..].chars().next();
            if c == '\n' || matches!(c, '.' | '!' | '?' | '。' | '！') && next.is_none_or(char::is_whitespace)
            {
                at = end;
                break;
            }
        }
        let (sentence, tail) = rest.split_at(at);
        rest = tail;
        Some(sentence)
    })
}

/// Does a reply that approves end in the middle of something?
pub fn is_cut_off(text: &str) -> bool {
    let Some(last) = text.trim_end().lines().rfind(|line| !line.trim().is_empty()) else { return false };
    let last = last.trim_end_matches(['*', '_', '`', ' ']);
    // `— End of review —`
    if last.starts_with(['—', '–', '-']) && last.ends_with(['—', '–', '-']) {
        return false;
    }
    let open = last.matches('(').count() > last.matches(')').count();
    let word = last.rsplit(|c: char| c.is_whitespace()).next().unwrap_or_default();
    let dangling = [
        "and", "but", "however", "the", "a", "an", "of", "with", "because", "except", "to", "is", "are",
        "or", "that", "which", "has", "have", "had", "was", "were", "be", "been", "by", "for", "from",
        "into", "per", "than", "its", "their", "these", "those", "whose", "while", "if", "when", "as", "at",
        "about", "between", "also", "very",
    ];
    // `it also st`: a word of two letters that is none, at the end of a long line.
    let short = [
        "it", "is", "as", "so", "on", "in", "at", "of", "up", "ok", "me", "us", "to", "be", "by", "do", "go",
        "he", "if", "my", "no", "or", "we", "an", "am", "ms", "kb", "mb", "gb", "cm", "mm", "kg", "ml", "hz",
        "pm",
    ];
    let broken = word.chars().count() <= 2
        && word.chars().all(|c| c.is_ascii_lowercase())
        && last.split_whitespace().count() >= 8
        && !short.contains(&word);
    last.ends_with([':', ',', '(', '-', '–', '—', '[', '/']) || open || broken || dangling.contains(&word)
}

#[cfg(test)]
mod tests;
