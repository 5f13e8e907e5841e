//! A verdict on something else than the work: the critic was kept from it, left a part of it out, or judged a version of its own.
//! The critic's deeds are looked for in the whole sentence, before anything in it counts as settled.

use std::sync::LazyLock;

use regex::Regex;

use super::patterns::finds;
use super::{Rule, Scope, stance};
use crate::reading::english;

const DEEDS: [(Rule, &str); 2] = [
    (
        Rule::Unseen,
        r"(?xi)\b(?:denied|refused|blocked|forbade|prevented|kept|stopped|barred)\s+(?:me|us)\b
        |\b(?:I|we)\s+(?:was|were|am|are|have\s+been|had\s+been)\s+(?:\w+\s+)?(?:denied|refused|blocked|prevented|barred|locked\s+out|not\s+(?:allowed|permitted|granted|given))\b
        |\b(?:access|permission)s?\b[^.;\n]{0,40}\b(?:was|were|has\s+been|have\s+been)\s+(?:\w+ly\s+)?(?:denied|refused|blocked|revoked|withheld|not\s+(?:granted|given))\b
        |\b(?:I|we)\s+(?:have|had|got)\s+no\s+(?:access|permission|way|means|chance|opportunity|time)\b
        |\b(?:based|rel(?:y|ied|ying|ies)|judg\w+|going|went|go|goes|scored|assessed|inferred|concluded|worked)\s+(?:\w+\s+)?(?:on|upon|from|by)\s[^.;\n]{0,40}\b(?:names?|titles?|headings?|headers?|summary|descriptions?|messages?|diffstat|listing|memory|excerpt|snippet|metadata|claims?|word)\b[^.;\n]{0,40}\b(?:alone|only)\b
        |\b(?:(?:rel(?:y|ied|ying|ies)|rest(?:s|ed|ing)?|based)\s+on|g(?:o|oing|one)\s+by|went\s+by)\s+(?:the|your|an?)\s+(?:\w+\s+|\w+['’]s\s+)?(?:descriptions?|summary|claims?|word|listing|task|brief)\b
        |\b(?:files?|drafts?|works?|texts?|code|diffs?|repository|documents?|sources?|folders?|changes?)\b[^.;\n]{0,24}\bcould(?:\s+not|n['’]t)\s+be\s+(?:opened|read|loaded|accessed|found|shown|retrieved|displayed|fetched|seen|checked)\b
        |\b(?:rows?|criteri\w+|items?|points?|questions?|parts?|sections?|requirements?|aspects?)\b[^.;:\n]{0,30}\b(?:not|never|n['’]t)\s+(?:been\s+|be\s+|yet\s+|actually\s+|fully\s+)*(?:assessed|judged|evaluated|scored|checked|verified|considered|reviewed|examined|looked\s+(?:at|into))\b
        |\bun(?:assessed|judged|scored|reviewed|examined|evaluated)\b|\b(?:left|remains?|went)\s+un(?:checked|verified)\b",
    ),
    (
        Rule::Tampering,
        r"(?xi)\b(?:I|we)(?:\s+have|['’]ve|\s+had)?\s+(?:first\s+|then\s+|also\s+|already\s+|just\s+)*(?:rewrote|rewritten|reworked|corrected|fixed|edited|amended|repaired|took\s+out|taken\s+out|replaced|patched|cleaned\s+up)\s+(?:the|your|this|that|its|it|both|all|some|an?|two|three|those|these|tasks?|steps?|items?|lines?|sentences?|rows?|criteri\w+|sections?|paragraphs?)\b
        |\b(?:scored?|judged|rated|assessed|evaluated|based|verdict)\s+(?:\w+\s+)?(?:on|for|of|from)\s+(?:that|my|our|the\s+(?:corrected|fixed|rewritten|edited|repaired))\s+(?:\w+\s+)?(?:version|draft|text|rewrite|copy|edit)\b
        |\bwith\s+(?:that|this|these|my|those|the\s+(?:following|above))\s+(?:(?:small|minor|slight|few|light|quick|tiny|two|three)\s+)+(?:changes?|edits?|fix(?:es)?|corrections?|additions?|tweaks?|amendments?|rewording)\b
        |\b(?:I|we)(?:\s+have|['’]ve)?\s+(?:added|inserted|appended|created|wrote)\s+(?:an?|the|another|one)\s+(?:\w+\s+)?(?:task|step|test|row|section|sentence|number|source|file|line|item|plan)\b
        |\b(?:fix|correct|remov|add|chang|edit|rewrit|repair)(?:ing|ed|e)?\b[^.;\n]{0,40}\bmyself\b
        |\b(?:I|we)\s+(?:added|supplied|inserted|filled\s+in|put\s+in)\s*[,.;)]
        |\bas\s+it\s+(?:would|will|could)\s+(?:read|stand|look|be)\s+(?:after|once|with)\b",
    ),
];

static PATTERNS: LazyLock<Vec<(Rule, Option<Regex>)>> =
    LazyLock::new(|| DEEDS.iter().map(|(rule, pattern)| (*rule, english::pattern(pattern))).collect());

/// The rule by which a sentence tells that something else than the work was judged. A pattern that cannot be compiled finds
/// something everywhere.
pub(super) fn rule(sentence: &str) -> Option<Rule> {
    let hit = PATTERNS.iter().find(|(_, re)| re.as_ref().is_none_or(|re| re.is_match(sentence)));
    hit.map(|(rule, _)| *rule)
}

/// The same by the words that any rule goes by, for a sentence in which nothing else was found: what made it harmless is not
/// that the critic saw the work.
pub(super) fn in_any_words(sentence: &str) -> Option<Rule> {
    let told = |rule: &Rule| finds(*rule, sentence) || stance::breaks(*rule, sentence, Scope::Prose);
    [Rule::Unseen, Rule::Tampering].into_iter().find(told)
}
