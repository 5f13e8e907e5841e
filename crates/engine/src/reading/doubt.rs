//! What speaks against an approval. Each rule is one pattern with a name; together they are the table in
//! `docs/protocols/reading.md`. A rule that finds something costs the critic one short question and nothing else, so rules
//! lean towards asking; what is plainly no demand ("no changes are needed") is taken out of a text first.

mod section;
mod weight;

use std::sync::LazyLock;

use regex::Regex;

pub use section::{Section, section};
use weight::is_instruction;
pub use weight::{Weight, is_met, item, says_nothing};

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
            Self::CutOff => "it ends in the middle",
        }
    }
}

/// Every rule that reads words, with its pattern.
const PATTERNS: &[(Rule, &str)] = &[
    (
        Rule::Denial,
        r"(?x)
        \bREJECT(?:ED|S|ION)?\b | \bFAIL(?:ED|S|URE)?\b | \bNOT\ APPROVED\b | \bDISAPPROVED?\b
        | (?i:\b(?:can\s?not|can['’]?t|could\ not|won['’]?t|will\ not|do\ not|don['’]?t|should\ not|shouldn['’]?t|must\ not|unable\ to)\s+(?:yet\s+|be\s+|honestly\s+|fully\s+)*(?:approved?|accept(?:ed)?|merged?|recommend(?:ed)?|given|granted|sign\ off|pass(?:ed)?)\b)
        | (?i:\bI\s+(?:must\s+|have\ to\s+|therefore\s+|hereby\s+|would\s+|still\s+|cannot\s+but\s+)*reject\b)
        | (?i:\bnot\s+(?:yet\s+)?(?:approved|acceptable|accepted|ready)\b)
        | (?i:\b(?:verdict|status|decision|result)\b\W{0,6}(?:is\W+|should\ be\W+|remains\W+)?(?:reject|fail|declin|not\ approv|disapprov|unapprov))
        | (?i:\b(?:draft|work|change|text|it|this)\s+(?:is|was|must\ be|should\ be|has\ to\ be)\s+(?:hereby\s+|therefore\s+)?rejected\b)
        | (?i:\b(?:rejecting|disapprove)\b)",
    ),
    (
        Rule::Unseen,
        r"(?xi)
        \b(?:draft|work|text|document|file|content|diff|change|code|paper|artifact|attachment|manuscript|material|submission)s?\b[^.;\n]{0,24}\b(?:not|never|n['’]t)\s+(?:been\s+|actually\s+|yet\s+|to\s+be\s+)*(?:provided|included|attached|shown|visible|available|given|supplied|accessible|found|readable|present)\b
        |\bno\s+(?:draft|work|text|document|file|content|diff|change|code|paper|attachment|manuscript|submission)s?\s+(?:was|were|is|are|has\s+been|have\s+been)?\s*(?:provided|included|attached|shown|visible|available|given|supplied|to\s+(?:review|judge))
        |\b(?:could|can|was|am|were|did)\s?(?:not|n['’]t)\s+(?:able\s+to\s+|actually\s+|fully\s+)*(?:see|open|read|access|find|view|load|verify|check|inspect|run|judge|review|evaluate|assess)\b
        |\b(?:unable|not\s+able)\s+to\s+(?:see|open|read|access|find|view|load|verify|check|inspect|run|judge|review|evaluate|assess|assist|help)\b
        |\b(?:do|does)\s?(?:not|n['’]t)\s+(?:have\s+access|see\s+(?:the|any|a))\b
        |\bwithout\s+(?:seeing|reading|having\s+(?:seen|read)|access\s+to)\b
        |\b(?:I\s+assume|assumed\s+(?:that|to\s+be)|I\s+(?:have\s+)?not\s+(?:read|seen|checked|verified|looked))\b
        |\bI['’]?m\s+sorry\b|\bI\s+am\s+sorry\b|\bI\s+apologi[sz]e\b
        |\b(?:can\s?not|can['’]t|won['’]t|will\s+not)\s+(?:assist|help|comply|provide|continue|review|evaluate|judge)\b
        |\bas\s+an?\s+(?:AI|language\s+model)\b|\busage\s+limit\b|\brate\s+limit\b",
    ),
    (
        Rule::Condition,
        r"(?xi)
        \b(?:provided\s+(?:that|the|you|these|it|this|all)|assuming\b|conditional(?:ly)?\b|contingent\b|subject\s+to\b|pending\b
        |as\s+long\s+as\b|on\s+(?:the\s+)?condition\b|unless\b|in\s+case\b
        |once\s+(?:the|these|those|this|you|it|all|an?|fixed|corrected|that)\b
        |after\s+(?:the|these|those|this|you|it|all|an?|fixing|adding|revision|correcti)\w*\s+(?:\w+\s+){0,4}?(?:fix|chang|correct|revis|add|address|updat|mend)\w*
        |if\s+(?:the|you|these|this|it|an?|all)\s+(?:\w+\s+){0,4}?(?:is|are|gets?|were|adds?|fix\w*|chang\w*|correct\w*|remov\w*)\b
        |until\s+(?:the|these|you|it|all|this)\b|with\s+(?:the\s+)?(?:following\s+)?(?:minor|major|required|reservation|condition|change|revision|correction)\w*)",
    ),
    (
        Rule::Demand,
        r"(?xi)
        \b(?:must|has\s+to|have\s+to|needs?\s+to|ought\s+to|shall)\b
        |\bshould\s+(?:still\s+|also\s+|at\s+least\s+|therefore\s+|really\s+|first\s+|be\s+)*(?:add|state|name|fix|chang|remov|correct|revis|clarif|giv|includ|shorten|mention|provid|address|replac|reword|rewrit|defin|specif|explain|report|cite|updat)\w*
        |\bplease\s+(?:also\s+|then\s+|first\s+)*(?:add|state|name|fix|chang|remov|correct|revis|clarif|giv|includ|shorten|mention|provid|address|replac|reword|rewrit|defin|specif|explain|report|cite|updat|make|do|consider\ adding)\w*
        |\b(?:required|requested|necessary|mandatory|blocking|needed|essential)\s+(?:change|fix|revision|correction|edit|improvement|addition|action)(?:e?s)?\b
        |\b(?:change|fix|revision|correction|edit|improvement|addition|action)(?:e?s)?\s+(?:is|are)\s+(?:still\s+)?(?:required|needed|necessary|mandatory)
        |\b(?:is|are)\s+(?:still\s+)?(?:required|needed|necessary|mandatory)\s+(?:before|first|here)\b
        |\b(?:required|needed|do\s+so|fix(?:ed)?|corrected|addressed|added|done|made)\s+before\b
        |\bbefore\s+(?:it\s+(?:is|can)|submission|submitting|publication|publishing|merging|merge|acceptance|release|this\s+can)\b
        |\bto\s+be\s+(?:fixed|added|corrected|addressed|revised|changed|removed)\b
        |^\W*(?:todo|fixme|fix(?:es)?|to\s+fix|actions?(?:\s+items?)?|corrections?|must[-\s]fix|required|needed)\s*:",
    ),
    (
        Rule::Defect,
        r"(?xi)
        \b(?:is|are|remains?|still|there['’]?s)\s+(?:still\s+|currently\s+|also\s+)?(?:missing|lacking|absent|unclear|incomplete|incorrect|wrong|unresolved|unaddressed|undefined|violated|unmet|insufficient|too\s+vague|inconsistent)\b
        |\bstill\s+(?:lacks?|needs?|not|no|missing|open)\b
        |\b(?:lacks|omits|violates|fails\s+to|fails|breaks\s+(?:row|rule|criteri|the\s+rubric)|contradicts)\b
        |\b(?:does|do|did)\s+not\s+(?:yet\s+|fully\s+)?(?:state|name|give|mention|meet|satisfy|address|include|define|specify|contain|cover|comply|provide|explain|handle|report|say|work|fulfil)\w*
        |\b(?:is|are|was|were)\s+not\s+(?:yet\s+|fully\s+)?(?:stated|named|given|mentioned|met|satisfied|addressed|included|defined|specified|covered|provided|explained|handled|present|there|clear|correct|complete|reported|described|fixed|resolved)\b
        |\b(?:isn|aren|wasn|doesn|don|didn)['’]?t\s+(?:\w+\s+){0,2}?(?:stated?|named?|given?|met|meet|satisf\w+|address\w*|includ\w*|cover\w*|clear|correct|complete|fixed|resolved|present)\b
        |\bno\s+[\w-]+(?:\s+[\w-]+){0,3}\s+(?:is|are|was|were)\s+(?:stated|named|given|mentioned|provided|reported|described|defined|specified|included|present|there)\b
        |\bnot\s+(?:yet\s+|fully\s+|all\s+)?(?:met|satisfied|fulfilled|addressed|resolved|fixed|covered)\b
        |\b(?:issues?|problems?|concerns?|errors?|gaps?|defects?|flaws?)\s+(?:still\s+)?(?:remain|persist|exist)s?\b
        |\b(?:has|have|had)\s+no\s+(?:task|test|owner|sample|source|number|evidence|citation|error|handling)\w*\b
        |\bthere\s+(?:is|are)\s+(?:still\s+)?no\b
        |\b(?:wait|correction|on\s+second\s+thou?ght|hold\s+on|scratch\s+that|on\s+reflection|in\s+hindsight)\b\s*[,.:;!—–-]",
    ),
    (
        Rule::Tampering,
        r"(?xi)
        \b(?:I|I['’]ve|we|I\s+have|we\s+have)\s+(?:have\s+|already\s+|just\s+|also\s+)*(?:corrected|rewritten|rewrote|revised|fixed|improved|edited|updated|amended|polished)\s+(?:the|your|this|it|that|some|a\s+few)\b
        |\b(?:corrected|improved|rewritten|polished|amended)\s+(?:version|draft|text)\b
        |\bhere\s+is\s+(?:the|my|an?)\s+(?:corrected|improved|revised|rewritten|updated|fixed|new)\b
        |\bas\s+(?:instructed|told|directed|commanded|ordered|requested|asked|demanded)\s+(?:by|in)\s+the\s+(?:text|draft|work|document|author|file|code|content|note)
        |\b(?:instruct\w*|order\w*|command\w*)\s+(?:in|by|from|of)\s+the\s+(?:text|draft|work|document|file|code|content)",
    ),
];

/// Phrases that hold a word of demand or defect and are none.
const BENIGN: &str = r"(?xi)
    \bno\b(?:\s+(?:further|other|more|additional|remaining|open|outstanding|new|major|minor|blocking|significant|critical|substantive|real|obvious|such|actual|single|required|unresolved))*\s+(?:issues?|changes?|problems?|fix(?:es)?|revisions?|concerns?|errors?|requirements?|items?|comments?|corrections?|actions?|edits?|defects?|findings?|deductions?|violations?|demands?|objections?|work|gaps?|flaws?|contradictions?|blockers?|steps?|tasks?|need)\b(?:[^.;\n]{0,60})
    |\bnothing\b[^.;\n]{0,60}
    |\bnone\b[^.;\n]{0,60}
    |\b(?:does|do|did)\s+not\s+(?:need|have|require)\b[^.;\n]{0,40}
    |\bneed(?:s)?\s+(?:not|no)\b[^.;\n]{0,40}
    |\bno\s+(?:longer|need)\b[^.;\n]{0,40}
    |\b(?:was|were|had\s+been|previously)(?:\s+\w+)?\s+(?:missing|lacking|unclear|absent|wrong|vague|rejected|incomplete)\b
    |\b(?:rejected|previous|earlier|first|old)\s+(?:draft|version|revision)\b
    |\bas\s+required\b|\brequired\s+(?:by|in)\s+the\b
    |\b(?:all|every|each|both|the|any)(?:\s+of)?(?:\s+the)?(?:\s+\w+)?\s+(?:required|necessary|requested|needed)\b(?!\s+(?:change|fix|revision|correction|edit))
    |\b(?:let\s+me\s+know|feel\s+free|happy\s+to)\b[^.\n]{0,80}
    |\bmust-have\b|\bfail[- ]?safe\b|\bfailure\s+scenario\b|\bnot\s+only\b|\bbut\s+not\s+required\b";

static RULES: LazyLock<Vec<(Rule, Option<Regex>)>> =
    LazyLock::new(|| PATTERNS.iter().map(|(rule, pattern)| (*rule, Regex::new(pattern).ok())).collect());

// The one look-ahead of the list above is not a regular expression here; what it guards against is found as a demand first.
static HARMLESS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let pattern = BENIGN.replace(r"(?!\s+(?:change|fix|revision|correction|edit))", "");
    Regex::new(&pattern).ok()
});

/// `3 of 4`, `3 out of 4`, `3/4 criteria`.
static PARTS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?xi)(?:^|[^\w.:/-])(\d{1,6}|one|two|three|four|five|six|seven|eight|nine|ten)\s*(?:of|out\s+of|/)\s*(?:the\s+|all\s+|our\s+)?(\d{1,6}|one|two|three|four|five|six|seven|eight|nine|ten)\b(\s*[\w-]*\s*[\w-]*\s*[\w-]*)",
    )
    .ok()
});

/// The rules that a text is held against.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scope {
    /// What a critic says in its own words beside an approval.
    Prose,
    /// Why a single criterion passes, or what the evidence is: it describes the work, so that words of defect prove nothing.
    Evidence,
}

/// The first rule that speaks against an approval, with the passage.
pub fn against(text: &str, scope: Scope) -> Option<(Rule, String)> {
    let text = &text[..text.floor_char_boundary(MOST_READ)];
    for sentence in sentences(text) {
        if let Some(rule) = in_sentence(sentence, scope, None) {
            return Some((rule, sentence.trim().to_owned()));
        }
    }
    None
}

/// `off` is a rule that is left out: tests switch each of them off to see what it is there for.
fn in_sentence(sentence: &str, scope: Scope, off: Option<Rule>) -> Option<Rule> {
    if sentence.trim().is_empty() {
        return None;
    }
    let demands = RULES.iter().find(|(rule, _)| *rule == Rule::Demand).and_then(|(_, regex)| regex.as_ref());
    let plain = without_harmless(sentence);
    for (rule, regex) in RULES.iter() {
        let skip = off == Some(*rule)
            || scope == Scope::Evidence && matches!(rule, Rule::Defect | Rule::Condition | Rule::Tampering);
        let Some(regex) = regex.as_ref().filter(|_| !skip) else { continue };
        let found = match rule {
            Rule::Unseen => regex.is_match(sentence),
            // What describes the work may say what a program must do; only orders to change it count.
            Rule::Demand if scope == Scope::Evidence => is_order(&plain),
            Rule::Demand => demands.is_some_and(|d| d.is_match(&plain)) || is_instruction(&plain),
            _ => regex.is_match(&plain),
        };
        if found {
            return Some(*rule);
        }
    }
    (off != Some(Rule::Shortfall) && shortfall(sentence)).then_some(Rule::Shortfall)
}

static ORDER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?xi)\b(?:must|has\s+to|have\s+to|needs?\s+to|should)\s+(?:still\s+|also\s+|first\s+)*be\s+(?:add|stat|nam|fix|chang|remov|correct|revis|clarif|includ|address|replac|rewrit|defin|mend|written)\w*
        |\bplease\b|\b(?:required|necessary|needed)\s+(?:change|fix|revision|correction)|\bbefore\s+(?:merging|merge|submission|release)\b
        |\b(?:reservations?|caveats?)\b|\bonce\s+(?:the|these|this|an?)\b[^.;\n]{0,40}\b(?:add|fix|chang|correct)\w*",
    )
    .ok()
});

fn is_order(text: &str) -> bool {
    ORDER.as_ref().is_some_and(|order| order.is_match(text))
}

static PRESSING: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:must|has to|have to|required|mandatory|violat\w*|not optional)\b|(?:^|[^-])\bblocking\b|\bREJECTED\b|\bFAIL(?:ED|S)?\b").ok()
});

/// Does a remark that is called minor or optional press for a change all the same?
pub fn is_pressing(text: &str) -> bool {
    let plain = without_harmless(text)
        .to_lowercase()
        .replace("not required", "")
        .replace("non-blocking", "")
        .replace("nonblocking", "");
    PRESSING.as_ref().is_some_and(|pressing| pressing.is_match(&plain))
}

/// The text without what holds a word of demand and is none. What follows a turn inside such a phrase stays: "nothing is
/// missing, but the test must be named".
fn without_harmless(text: &str) -> String {
    const TURNS: [&str; 9] = [
        " but ",
        " however",
        " except",
        " although",
        " though",
        " and must",
        " and has to",
        ", and ",
        " yet ",
    ];
    let Some(harmless) = &*HARMLESS else { return text.to_owned() };
    let replaced = harmless.replace_all(text, |found: &regex::Captures<'_>| {
        let phrase = found.get(0).map_or("", |m| m.as_str());
        let lower = phrase.to_lowercase();
        let turn = TURNS.iter().filter_map(|turn| lower.find(turn)).min();
        turn.map_or(" , ".to_owned(), |at| format!(" ,{}", phrase.get(at..).unwrap_or_default()))
    });
    replaced.into_owned()
}

/// Does a text put a condition?
pub fn condition(text: &str) -> bool {
    RULES
        .iter()
        .any(|(rule, regex)| *rule == Rule::Condition && regex.as_ref().is_some_and(|r| r.is_match(text)))
}

/// Does a text count fewer than all? None of N is a count of defects, unless what is counted is good.
pub fn shortfall(text: &str) -> bool {
    let Some(parts) = &*PARTS else { return false };
    parts.captures_iter(text).any(|found| {
        let number = |at: usize| found.get(at).and_then(|m| counted(m.as_str()));
        let (Some(some), Some(all)) = (number(1), number(2)) else { return false };
        let whole = found.get(0).map_or("", |m| m.as_str());
        // `3/4` may be a fraction or a date; it counts with a noun that is counted.
        let slash = whole.split(|c: char| c.is_alphabetic()).next().is_some_and(|head| head.contains('/'));
        let what = found.get(3).map_or("", |m| m.as_str()).to_lowercase();
        let nouns =
            ["criteri", "item", "point", "requirement", "step", "task", "test", "row", "check", "case"];
        if slash && !nouns.iter().any(|noun| what.contains(noun)) {
            return false;
        }
        let good = [
            "have",
            "has",
            "cover",
            "met",
            "satisf",
            "present",
            "pass",
            "done",
            "address",
            "tested",
            "confirmed",
            "handled",
            "fulfil",
        ];
        (some > 0 && some < all) || (some == 0 && all > 0 && good.iter().any(|word| what.contains(word)))
    })
}

fn counted(word: &str) -> Option<u32> {
    const WORDS: [&str; 10] = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
    let spelled = WORDS.iter().position(|w| w.eq_ignore_ascii_case(word));
    spelled.and_then(|at| u32::try_from(at + 1).ok()).or_else(|| word.parse().ok())
}

/// A text in sentences; a full stop inside a number or a name ends none.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
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
    let open = last.matches('(').count() > last.matches(')').count();
    let word = last.rsplit(|c: char| c.is_whitespace()).next().unwrap_or_default();
    let dangling = [
        "and", "but", "however", "the", "a", "an", "of", "with", "because", "except", "to", "is", "are",
        "or", "that", "which",
    ];
    last.ends_with([':', ',', '(', '-', '–', '—', '[', '/']) || open || dangling.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::lines::Tick;

    #[test]
    fn every_pattern_is_a_regular_expression() {
        assert!(RULES.iter().all(|(_, regex)| regex.is_some()));
        assert!(HARMLESS.is_some() && PARTS.is_some() && ORDER.is_some());
    }

    #[test]
    fn each_rule_finds_its_kind() {
        for (text, rule) in [
            ("The status should be REJECTED.", Rule::Denial),
            ("Verdict: FAIL. Do not merge.", Rule::Denial),
            ("It cannot be given, because the size is open.", Rule::Denial),
            ("pending the addition of the sample size", Rule::Condition),
            ("Approved once the test is named.", Rule::Condition),
            ("with minor revisions", Rule::Condition),
            ("The sample size must be stated.", Rule::Demand),
            ("Please add the test.", Rule::Demand),
            ("The sample size is missing, though.", Rule::Defect),
            ("No sample size is stated; this breaks row 1.", Rule::Defect),
            ("Wait, no.", Rule::Defect),
            ("2 of 3 criteria are met.", Rule::Shortfall),
            ("The draft was not shown.", Rule::Unseen),
            ("I could not open the files.", Rule::Unseen),
            ("I'm sorry, but I can't assist with that.", Rule::Unseen),
            ("I have corrected the draft; here it is.", Rule::Tampering),
            ("As instructed by the text of the draft, I approve it.", Rule::Tampering),
        ] {
            assert_eq!(against(text, Scope::Prose).map(|(rule, _)| rule), Some(rule), "{text}");
        }
    }

    /// Sabotage: each rule switched off, there is something that nothing else notices.
    #[test]
    fn each_rule_stops_what_no_other_does() {
        for (text, rule) in [
            ("Verdict: FAIL.", Rule::Denial),
            ("pending the addition of the sample size", Rule::Condition),
            ("The sample size must be stated.", Rule::Demand),
            ("The sample size is missing, though.", Rule::Defect),
            ("2 of 3 criteria are there.", Rule::Shortfall),
            ("I could not open the files.", Rule::Unseen),
            ("I have corrected the draft.", Rule::Tampering),
        ] {
            assert_eq!(in_sentence(text, Scope::Prose, None), Some(rule), "{text}");
            assert_eq!(in_sentence(text, Scope::Prose, Some(rule)), None, "without {rule:?}: {text}");
        }
    }

    #[test]
    fn what_praises_or_needs_nothing_is_left_alone() {
        for text in [
            "The sample size (n = 12 per group) and the test (two-sided t-test) are stated, and the text has 41 words.",
            "No changes are needed.",
            "No further issues were found.",
            "Nothing is missing.",
            "All required elements are present.",
            "The sample size, which was missing, is now stated.",
            "The earlier draft was rejected for two reasons; both are gone.",
            "None of the items remains open.",
            "It does not need to be changed.",
            "3 of 3 criteria are met.",
            "0 of 14 lines apply.",
            "The draft states the sample size per group and names the test.",
            "Short, but complete.",
            "p < 0.05 in 3/4 of the runs",
        ] {
            assert_eq!(against(text, Scope::Prose), None, "{text}");
        }
    }

    #[test]
    fn items_under_an_approval_are_weighed() {
        for (text, weight) in [
            ("Sample size: met, n = 12 per group", Weight::Fine),
            ("**Test:** met", Weight::Fine),
            ("Length: PASS", Weight::Fine),
            ("None", Weight::Fine),
            ("The sample size is stated (n = 12 per group).", Weight::Fine),
            ("Item 1: addressed, n = 12 per group.", Weight::Fine),
            ("State the sample size.", Weight::Against),
            ("No statistical test is named: name the test and whether it is two-sided.", Weight::Against),
            ("\"several mice\" is no sample size: state the number of mice per group.", Weight::Against),
            ("Sample size: not met", Weight::Against),
            ("样本量未说明。", Weight::Unsure),
            ("The title", Weight::Unsure),
        ] {
            assert_eq!(item(Tick::None, text), weight, "{text}");
        }
        assert_eq!(item(Tick::Open, "Sample size"), Weight::Against);
        assert_eq!(item(Tick::Done, "Sample size"), Weight::Fine);
    }
}
