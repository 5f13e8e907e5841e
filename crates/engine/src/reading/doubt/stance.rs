//! Where a critic stands to what it approves, by class: not sure, lenient, leaving something to others or to later, wishing for
//! something, having seen a part, having changed the work itself. Each class is a closed vocabulary.

use std::sync::LazyLock;

use regex::Regex;

use super::{Rule, Scope};
use crate::reading::english;

/// A class with the rule it breaks. Those of the second list describe the work as often as they judge it, so that they hold
/// for a critic's own words only.
const EVERYWHERE: &[(Rule, &str)] = &[
    // Not sure.
    (
        Rule::Undecided,
        r"\b(?:unsure|uncertain|undecided|borderline|debatable|arguabl[ey]|questionable|doubtful|disputable|presumabl[ey]|in\s+two\s+minds|on\s+the\s+fence|torn\s+(?:between|on|about))\b
        |\b(?:not|n['’]t|neither|hardly)\s+(?:\w+\s+)?(?:sure|certain|convinced|confident|persuaded|positive\s+(?:that|about))\b
        |\bopen\s+to\s+(?:interpretation|debate|question|dispute)\b|\b(?:matter|question)\s+of\s+interpretation\b|\bmay\s+or\s+may\s+not\b
        |\bcould\s+(?:also\s+|well\s+)?be\s+(?:read|taken|seen|argued|understood|construed|interpreted|considered|regarded)\b
        |\b(?:I|we)\s+(?:suppose|presume|guess|gather|imagine|would\s+guess)\b|\bI\s+take\s+it\s+that\b|\bon\s+that\s+(?:reading|assumption|understanding)\b
        |\b(?:hard|difficult|impossible|unable)\s+to\s+(?:say|tell|decide|judge|know)\b|\bcan\s?not\s+(?:tell|decide|say|judge|determine)\b|\bmade\s+up\s+my\s+mind\b
        |\b(?:lean|leans|leaning|inclined|tend|tending)\s+(?:to|toward|towards|slightly)\b|\b[1-9]?\d\s?%\s+(?:sure|confident|certain|confidence)\b",
    ),
    // Lenient.
    (
        Rule::Lenient,
        r"\b(?:lenien\w*|generous\w*|goodwill|good\s+will|charitabl\w*|forgiv\w*|waiv(?:e|ed|es|ing)|blind\s+eye|benefit\s+of\s+the\s+doubt|strictly\s+speaking|to\s+be\s+kind|being\s+kind|by\s+rights|turn\w*\s+a\s+blind)\b
        |\b(?:overlook|disregard|ignore|tolerat|excus)(?:e|ed|ing|s)?\s+(?:it|this|that|the|these|here|for)\b|\bcan\s+(?:be\s+)?(?:overlook|tolerat|ignor|excus|forgiv)\w*
        |\blet(?:s|ting)?\s+(?:it|this|that|the|these|those|them|an?)\b\s*(?:\S+\s+){0,6}?(?:pass|slide|go|through|stand|off)\b|\bwav(?:e|ed|ing)\s+(?:\w+\s+)?through\b|\b(?:gave|give|giving|got)\s+(?:\w+\s+){1,2}?a\s+pass\b|\bout\s+of\s+(?:courtesy|kindness|respect|pity|sympathy|habit)\b|\bfine\s+with\s+(?:that|it|this)\b|\b(?:to|so\s+that|so)\s+(?:\w+\s+){0,3}?(?:keep|keeps|get|gets|move|moves)\s+(?:things|this|it|us|the\s+\w+)\s+(?:moving|going|forward|along|out|off)\b|\b(?:stricter|harsher|sterner)\s+(?:reader|reviewer|critic|judge|person|eye)\b
        |\b(?:close|near)\s+enough\b|\bgood\s+enough\s+(?:for\s+(?:me|now|us|a\s+draft)|as\s+it)\b|\b(?:pass|slide|through|okay|accept\w*|approv\w*|go)\b[^.;\n]{0,40}[^t]\s+this\s+time\b|\bthis\s+once\b|\bjust\s+this\s+time\b
        |\b(?:not|n['’]t|without)\s+(?:\w+\s+)?(?:insist\w*|press(?:ing)?\s+(?:the|this|it)|quibbl\w*|hold\s+(?:it|this|that)\s+up|make\s+(?:a\s+fuss|an\s+issue))\b
        |\b(?:I|we)\s+(?:would\s+)?(?:normally|ordinarily|usually)\s+(?:\w+\s+){0,3}?(?:take|deduct|reject|flag|fail|ask)\w*|\bwould\s+(?:normally|usually|ordinarily)\b
        |\b(?:kept|keep|left|leave|leaving|keeping)\s+(?:\w+\s+){1,4}?out\s+of\s+(?:the|this|my)\s+(?:report|sum|list|score|count|verdict)\b
        |\b(?:drop|dropped|dropping|skip|skipped|skipping)\s+(?:item|criterion|point|it|this|that|the\s+(?:item|point|criterion|second|first|third))\b",
    ),
    // Not seen.
    (
        Rule::Unseen,
        r"\b(?:only|just|merely|solely)\s+(?:\w+\s+){0,2}?(?:saw|seen|see|look(?:ed)?|read|received|got|shown|visible|judged?|access|room|had)\b[^.;\n]{0,30}\b(?:first|part|one|two|half|beginning|line|lines|title|task|page|excerpt|there|snippet|section)\b
        |\b(?:only|just)\s+(?:the\s+)?(?:first|part|beginning|title|one|two)\b[^.;\n]{0,30}\b(?:visible|shown|seen|readable|available|sent|received|legible|accessible)\b
        |\b(?:judged|saw|read|see|seen|reviewed|looked\s+at)\s+only\s+(?:what|the|a|one|part)\b|\bon\s+the\s+(?:title|first\s+\w+|excerpt|summary)\s+alone\b|\bbased\s+(?:only|solely)\s+on\b
        |\b(?:not|never|n['’]t)\s+(?:\w+\s+)?(?:reach(?:ed)?\s+(?:me|us)|arrive|arrived|come\s+through|been\s+(?:given|sent|shown)|given\s+(?:me|the|access)|shown\s+to\s+me|sent\s+to\s+me)\b
        |\b(?:draft|text|file|work|view|document|message|section|reply|input|output|rest)\b[^.;\n]{0,40}\b(?:stops?|stopped|ends?|ended|breaks?\s+off|broke\s+off|cut\s+off|truncated|garbled|unreadable)\b
        |\b(?:extrapolat|inferr)(?:e|ed|ing)\b|\b(?:returned|gave|threw)\s+an\s+error\b
        |\b(?:section|text|draft|file|input|space|message|rest)\b[^.;\n]{0,30}\b(?:is|was|were|are|seems?|looks?|appears?|came|arrived)\s+(?:\w+\s+){0,2}?(?:empty|blank)\b|\bempty\s+(?:section|text|draft|file|input|message)\b|\bno\s+(?:text|content|draft|work|tasks?)\s+(?:between|in\s+the\s+(?:brief|message|prompt))\b|\bthere\s+was\s+no\s+(?:text|draft|content|file|plan)\b
        |\b(?:not|n['’]t|never)\s+(?:\w+\s+)?(?:hold|held|appl(?:y|ied)|judged?|consider(?:ed)?|assess(?:ed)?|weigh(?:ed)?|look(?:ed)?|evaluat\w+)\b[^.;\n]{0,30}\b(?:others?|rest|remaining|second|first|third|criteri\w+)\b|\b0\s+of\s+0\b|\b(?:could|can)(?:\s?not|n['’]t)\s+(?:\w+\s+)?(?:make\s+out|decipher|parse|get\s+at|reach)\b",
    ),
    // Left to others, or to later.
    (
        Rule::Condition,
        r"\b(?:at|in|for|until|till|to)\s+(?:a|the|some|its|your|our)\s+(?:later|next|following|future|subsequent|final)\s+(?:stage|round|version|revision|iteration|draft|pass|step|plan|point|date|time|release|commit|change|cycle|review|edition|copy)\b
        |\bnext\s+(?:round|version|time|iteration|revision)\b|\bfollow-?ups?\b|\bin\s+due\s+course\b|\bdown\s+the\s+(?:road|line)\b|\b(?:proof|galley|copy-?edit\w*)\s+stage\b|\bcamera[-\s]ready\b
        |\b(?:can|could|may|might|will|has\s+to|have\s+to|must|should)\s+(?:\w+\s+){0,4}?(?:follow|wait|come)\b\s*(?:later|in|at|with|until|$|[.;,])
        |\b(?:done|added|fixed|dealt\s+with|settled|supplied|provided|addressed|sorted)\s+(?:\w+\s+)?(?:later|afterwards|eventually|separately)\b
        |\b(?:leave|leaves|left|leaving|up)\s+(?:it|this|that|them)?\s*(?:up\s+)?to\s+(?:the\s+|an?\s+)?(?:author|editor|writer|worker|team|reviewer|reader|you)s?\b
        |\b(?:pick|picked|come|came)\s+(?:\w+\s+)?(?:up|back)\s+(?:again|to)\b|\brevisit\w*\b|\bon\s+its\s+way\b|\bunder\s+way\b|\bin\s+progress\b|\bhalf[-\s](?:done|way|finished)\b",
    ),
];

const OWN_WORDS: &[(Rule, &str)] = &[
    (
        Rule::Undecided,
        r"\b(?:probably|perhaps|maybe|possibly|supposedly|apparently|on\s+balance|I\s+lean|likely\s+(?:in|that|to\s+be))\b|\b(?:might|may)\s+(?:\w+\s+)?(?:be|have|need|want|count|still)\b
        |\b(?:seems?|appears?)\s+(?:to\s+(?:be|have|lack|need|miss)|like|unwilling|missing|absent|unclear)\b",
    ),
    (
        Rule::Lenient,
        r"\b(?:not|n['’]t|without)\s+(?:\w+\s+)?(?:deduct|penali[sz]|count|subtract|punish|charg|hold|held|mark)\w*\b[^.;\n]{0,90}\b(?:although|though|despite|even\s+though|easy|draft\s+stage)\b
        |\b(?:not|n['’]t)\s+(?:\w+\s+)?(?:(?:deduct|penali[sz]|count|mark|charg)(?:ed|e)?\s+(?:\w+\s+)?(?:for\s+)?(?:the|this|that|its|it)|appl(?:y|ied)\s+the)\b",
    ),
    (
        Rule::Demand,
        r"\b(?:I|we)\s+(?:hope|wish|want|expect|urge|encourage)\b|\b(?:I|we)(?:\s+would|['’]d)\s+(?:like|love|prefer|appreciate|welcome|advise|ask|want)\b
        |\b(?:it|this|that)\s+would\s+(?:be|have\s+been)\s+(?:wise|better|good|best|helpful|useful|advisable|prudent|desirable|preferable)\b|\bwould\s+(?:benefit|profit|gain)\b
        |\b(?:draft|text|abstract|author|authors|work|plan|section|sentence|title|one|you|they|it)\s+(?:could|might|may\s+want\s+to)\s+(?:also\s+|still\s+|usefully\s+)?(?:say|state|name|give|add|mention|include|specify|be\s+(?:clearer|more)|use|tell|spell|explain|report)\b
        |\b(?:authors?|editors?|writers?|somebody|someone|(?:second|another|other)\s+reviewer|team|worker|developer|they)\s+(?:can|will|could|should|must|ought\s+to|might|may|is\s+asked\s+to|are\s+asked\s+to)\s+(?:\w+\s+)?(?:add|stat|nam|fix|chang|sort|decid|confirm|check|want|put|suppl|fill|giv|say|mention|includ|correct|revis|clarif|specif|look|handl|provid|mak)
        |\bleft\s+(?:guessing|wondering|to\s+guess|vague|open|unsaid|out|implicit|in\s+the\s+dark)\b|\bwhere\s+(?:a|the)\s+(?:number|name|source|figure)\s+(?:belongs|should)\b|\bgoes\s+(?:unmentioned|unsaid|unstated|unnamed)\b
        |\b(?:another|a\s+further|one\s+more|a\s+second|a\s+new)\s+(?:round|iteration|pass|revision|draft|look)\s+(?:is|would\s+be|seems)\s+(?:needed|necessary|required|useful|in\s+order)\b|\b(?:few|some|two|three|several|one|more)\s+(?:more\s+)?things?\s+to\s+(?:add|fix|change|improve|say|mention)\b|\bsomething\s+to\s+(?:add|fix|change|hold|critici[sz]e|improve)\b|\bless\s+than\s+(?:it|they|one)\s+(?:should|could|must|ought)\b|\bcosts?\s+it\s+(?:something|the|an?)\b|\bsee\s+(?:my|the|our)\s+(?:\w+\s+)?(?:comments?|remarks?|notes?|points?|letter)\b",
    ),
    (
        Rule::Defect,
        r"\b(?:the|an?|its|some|this|such)\s+(?:complete\s+|total\s+|apparent\s+)?(?:lack|absence|omission)\s+of\b|\b(?:is|are|stands?)\s+(?:just\s+|exactly\s+|still\s+)?as\s+(?:it\s+was|they\s+were|before)\b|\bunchanged\s+(?:problem|issue)\b|\bitems?\s+\d\b[^.;\n]{0,20}\b(?:unchanged|untouched|ignored|pending|as\s+before)\b|\bleav(?:es?|ing)\s+(?:\S+\s+){1,4}?(?:open|unclear|vague|unsaid|in\s+doubt|to\s+(?:guess|chance|be\s+\w+))\b
        |\b(?:low|medium|high|minor|moderate)[-\s]severity\b|\b(?:elsewhere|supplement|appendix)\b[^.;\n]{0,20}\.?\s*$",
    ),
    (
        Rule::Tampering,
        r"\b(?:I|we)(?:\s+have|['’]ve)?\s+(?:also\s+|then\s+|now\s+|already\s+|just\s+|since\s+|myself\s+)*(?:inserted|changed|filled\s+in|put\s+(?:in|the|a)\b|supplied|replaced|removed|deleted|shortened|rewrote|reworded|saved|patched|applied\s+(?:the\s+|an?\s+|my\s+|these\s+)?(?:patch|fix|chang|edit|correct)|wrote|modified|adjusted|amended|cut|trimmed|fixed|made\s+the|added\s+(?:the|an?|\d|“|\x22))
        |\b(?:my|our)\s+(?:own\s+)?(?:edits?|changes?|fix(?:es)?|corrections?|additions?|patch|amendments?|rewrite)\b|\bchanges?\s+(?:I|we)\s+(?:have\s+)?(?:made|applied)\b|\b(?:I|we)\s+(?:have\s+)?made\s+(?:the\s+|some\s+|a\s+few\s+|these\s+|two\s+|minor\s+|following\s+)*(?:changes?|edits?|corrections?|fix)|\btook\s+the\s+liberty\b|^\W*(?:corrected|revised|improved|amended|updated)\s+(?:\w+\s+)?(?:list|plan|version|draft|text|abstract|code)\b|\bwith\s+(?:that|this|these|my|those)\s+(?:change|edit|fix|correction|addition)s?\b",
    ),
    (
        Rule::Condition,
        r"\b(?:verdict|status|decision|answer)\s+(?:would|will|becomes|could|might)\b|\b(?:I|we)(?:\s+would|['’]d)\s+(?:say|approve|accept|pass|sign)\b[^.;\n]*\b(?:if|once|when|provided|were|but|though|yet|although)\b|\b(?:I|we)(?:\s+would|['’]d)\s+say\b|\bif\s+I\s+(?:had\s+to|were)\b|\b(?:can|could|may|might)\s+(?:\w+\s+)?be\s+(?:add|fix|correct|resolv|settl|dealt|sort|suppl|insert|fill|clarif|polish|complet|tackl|mend|sharpen)\w*\b|\bsuppos(?:e|ing)\b",
    ),
];

/// Words by which a critic speaks of something else than what is there: what could, would or will be, what others do or said,
/// what is hoped for, conceded or put in place of it. A reason of an approval has none of them, except in turns that affirm.
const ELSEWHERE: &str = r"\b(?:could|would|will|might|may|should|must|shall|ought|needs?|hopes?|hoping|hopefully|wish\w*|want\w*|asks?\s+for|told|promis\w+|believe|instead|whoever|whatever|someone|somebody|anyway|anyhow|regardless|skip\w*|grant(?:ed)?|disput\w*|on\s+faith|gaps?|corrections|improvements?|just\s+about|barely|if|unless|save\s+(?:for|the)|ran\s+out|competence|expertise|abstain\w*|I\s+(?:only|merely|just|solely)\s+(?:judged|checked|looked|read|reviewed|considered|assessed)|provisional\w*|outstanding|thirds|halves|quarters?|prepared\s+to|willing\s+to|never\s+mind|deadline|spirit)\b";

/// Turns with such a word that affirm.
const AFFIRMED: &str = r"\b(?:can|could|may|will|would|should)\s+(?:now\s+|therefore\s+|safely\s+|also\s+|even\s+|still\s+|easily\s+)*(?:be\s+)?(?:approved?|accepted|merged|published|ticked|released|submitted|go\b|goes|stands?|pass(?:es)?\b(?:\s+(?:even\s+)?if\b[^.;\n]{0,40})?|see|tell|know|reproduce|repeat|understand|follow\s+(?:it|the|this|every)|proceed|ship(?:ped)?)
    |\b(?:could|would)\s+(?:hardly|scarcely)\b[^,.;\n]{0,40}|\b(?:as|what|than|everything|all)\s+(?:\w+\s+){0,2}?(?:should|must|needs?|would\s+expect|ask(?:s|ed)\s+for|wants?)\b|\b(?:which|that)\s+(?:\w+\s+){1,2}?(?:should|must|needs?|would\s+expect|ask(?:s|ed)\s+for|wants?)\b|\b(?:rubric|items?|criteri(?:on|a)|points?|rows?|requirements?|task|brief|does|readers?|one|two|three|first|second|third|\d)\s+(?:asks?\s+for|needs?|wants?)\b|\b(?:readers?|one|anyone|anybody|everyone|you|we|I)\s+(?:can|could|will|would)\s+(?:now\s+|easily\s+|then\s+|readily\s+)*(?:redo|repeat|reproduce|verify|check|replicate|recompute|follow|learn|find|see)\b|\bif\s+anything\b|\bshould\s+(?:anyone|anybody|one|you|a\s+reader|someone)\s+(?:wonder|ask|want|doubt|look)\b|\b(?:tests?|assert\w*|it)\s+(?:\w+ly\s+)?would\s+(?:\w+ly\s+)?(?:fail|break|go\s+red|turn\s+red|catch|notice|detect)\b[^.;\n]{0,60}|\bif\s+(?:a\s+|the\s+|any\s+)?(?:readers?|reviewers?|one|you|they|anyone|someone|we|I)\s+(?:asks?|wonders?|looks?|wants?\s+to\s+know|checks?|counts?|goes|go|reads?|compares?)\b|\b(?:I\s+would|I['’]d)\s+be\s+(?:happy|glad|pleased|comfortable|delighted)\s+(?:to\s+(?:see\s+(?:it|this)\s+(?:go|published|merged|accepted|move|proceed|out)|approve|accept|recommend|publish|merge|support|sign)|with\s+(?:it|this))\b|\b(?:even|as)\s+if\b|\bif\s+(?:any|needed|so)\b|\bin\s+need\s+of\b|\bI(?:['’]ll|\s+will)\s+(?:read|check|go|count|compare|start|review|look|now)\w*|\b(?:may|might)\s+(?:\d|20)";

static ELSEWHERE_RE: LazyLock<Option<Regex>> =
    LazyLock::new(|| english::pattern(&format!("(?xi){ELSEWHERE}")));
static AFFIRMED_RE: LazyLock<Option<Regex>> = LazyLock::new(|| english::pattern(&format!("(?xi){AFFIRMED}")));

/// What a critic says it did or does, up to its verb.
static SELF_RE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    english::pattern(
        r"(?xi)(?:^|[^\w'’])I(?:['’](?:ve|m|ll))?\s+(?:(?:have|had|has|am|was|will|did|do|also|then|now|just|therefore|hereby|already|again|first|twice|even|both|still|specifically|can|could|would|went\s+on\s+to|\w+ly)\s+)*(?P<verb>[a-z]+(?:['’]t)?)",
    )
});

/// What is no part of a review, as the verbs begin: to change the work, to suppose something, to let something pass.
const NOT_REVIEWING: &[&str] = &[
    "add", "insert", "fill", "put", "suppl", "writ", "wrote", "rewr", "chang", "edit", "modif", "adjust",
    "amend", "correct", "fix", "mend", "patch", "repair", "replac", "remov", "delet", "cut", "trim",
    "shorten", "reword", "rephras", "polish", "tidi", "improv", "updat", "merg", "commit", "sav", "assum",
    "guess", "suppos", "presum", "imagin", "infer", "skip", "ignor", "waiv", "forg", "overlook", "let",
    "abstain", "refrain", "trust", "promis", "leav", "left", "defer", "postpon", "tired", "sympath", "grant",
    "conced", "excus", "toler", "pretend", "skim", "glanc", "stopp", "lean", "believ", "liv",
];

/// Does a critic say that it did something else than to review?
fn did_something_else(plain: &str) -> bool {
    SELF_RE.as_ref().is_none_or(|re| {
        re.captures_iter(plain).filter_map(|found| found.name("verb")).any(|verb| {
            let verb = verb.as_str().to_lowercase();
            NOT_REVIEWING.iter().any(|stem| verb.starts_with(stem))
        })
    })
}

/// Does a critic speak of something else than what is there, or than its review?
pub(super) fn is_elsewhere(plain: &str) -> bool {
    if did_something_else(plain) {
        return true;
    }
    let (Some(elsewhere), Some(affirmed)) = (&*ELSEWHERE_RE, &*AFFIRMED_RE) else { return true };
    elsewhere.is_match(&affirmed.replace_all(plain, " "))
}

static EVERYWHERE_RE: LazyLock<Vec<(Rule, Option<Regex>)>> = LazyLock::new(|| compiled(EVERYWHERE));
static OWN_RE: LazyLock<Vec<(Rule, Option<Regex>)>> = LazyLock::new(|| compiled(OWN_WORDS));

fn compiled(classes: &[(Rule, &str)]) -> Vec<(Rule, Option<Regex>)> {
    classes.iter().map(|(rule, pattern)| (*rule, english::pattern(&format!("(?xi){pattern}")))).collect()
}

/// Does the critic stand to its approval in a way that breaks this rule?
pub(super) fn breaks(rule: Rule, text: &str, scope: Scope) -> bool {
    let holds = |of: &[(Rule, Option<Regex>)]| {
        of.iter().any(|(class, re)| *class == rule && re.as_ref().is_none_or(|re| re.is_match(text)))
    };
    holds(&EVERYWHERE_RE) || scope == Scope::Prose && holds(&OWN_RE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_is_a_regular_expression() {
        assert!(SELF_RE.is_some() && ELSEWHERE_RE.is_some() && AFFIRMED_RE.is_some());
        assert!(EVERYWHERE_RE.iter().chain(OWN_RE.iter()).all(|(_, re)| re.is_some()));
    }
}
