//! What affirms: words by which a clause says that something is there, met or in order, or how much of it. A clause that
//! affirms settles a doubt in the one before.

use std::sync::LazyLock;

use regex::Regex;

use super::polarity::{self, Reading};
use crate::reading::english;

/// Words, or beginnings of them, that affirm: something is there, met, in order, fitting, or was checked.
const AFFIRMING: &str = r"(?xi)
    \b(?:met|meets?|satisf\w+|fulfil\w*|pass(?:es|ed|ing)?|comply|complies|complian\w+|conform\w*|adher\w+|hold|holds|match\w*
    |stat(?:e|es|ed|ing)|nam(?:e|es|ed|ing)|giv(?:e|es|en|ing)|gave|includ\w+|contain\w*|report(?:s|ed)|specif\w+|describ\w+|mention(?:s|ed)|identif\w+|defin\w+|provid\w+|present|presents|explain\w*|quantif\w+|disclos\w+|indicat\w+|cit(?:es|ed)|list(?:s|ed)|say(?:s)|tells?|show(?:s|n)?|record(?:s|ed)|us(?:es|ed)|compar\w+|makes?|keeps?|kept|fits?|stays?|counts?|counted|runs?|reads?|supports?|supported|justif\w+|covers?|covered|handles?|handled|tests?|tested|works?|serves?|belongs?|stands?
    |there|here|yes|ok|okay|all|both|each|every|everything|complete\w*|full|fully|whole|entire\w*
    |clear\w*|explicit\w*|precise\w*|exact\w*|correct\w*|accurate\w*|right|fine|good|great|well|excellent|solid|strong|sound|sensible|reasonabl\w+|appropriate\w*|adequate\w*|sufficient\w*|concise\w*|short|brief\w*|compact|tight|readable|consistent\w*|coherent|crisp|clean|neat|nice\w*|perfect\w*|exemplary|impeccable|plain\w*|unambiguous\w*|evident\w*|obvious\w*|welch|wilcoxon|anova|mann-whitney|paired|definite|economical|fluent|faultless|flawless
    |within|under|below|limit|budget|words?|number|figure|n|per|two-sided|t-test
    |resolved|resolves|addressed|addresses|fixed|corrected|done|settled|closed|gone|mended|improved|added|replaced|removed|cured|dealt|withdraw\w*|withdrawn|incorporated|implemented|remedied
    |ready|approv\w+|accept\w*|agree\w*|happy|glad|pleased|satisfied|content|endorse\w*|recommend\w*|sign\w*\s+off|go\s+ahead|ship|merge|congratulat\w*|thank\w*|welcome|cheers|kudos|bravo
    |in\s+(?:order|place|line|scope)|up\s+to\s+(?:standard|scratch)|ticked|check(?:s|ed)\s+out|verified|confirm\w*|checked|reviewed|true|valid|optional|bonus|praise|pleasure|enjoy\w*|deserves?|free\s+of)\b
    |\b(?:I|we)(?:\s+will|['’]ll|\s+have|['’]ve|\s+also|\s+then)*\s+(?:\w+ly\s+)?(?:assess|read|compare|check|go|went|look|count|examin|consider|review|evaluat|walk|work|judg|weigh|search|scan|verif|open|measur|start|begin|inspect|stud)\w*\b|\blet\s+(?:me|us)\b
    |\d|[✓✔✅👍🎉💯]|\blgtm\b";

static RE: LazyLock<Option<Regex>> = LazyLock::new(|| english::pattern(AFFIRMING));

/// Those of them that no sentence about a lack is likely to hold: verbs of saying and fulfilling, words of praise and of
/// completeness, what was counted, what the critic did.
const PLAINLY: &str = r"(?xi)
    \b(?:met|meets?|meeting|satisf\w+|fulfil\w*|pass(?:es|ed|ing)?|compl(?:y|ies|iant)|conform\w*|adher\w+|holds?|match\w*|deliver\w*|respects?|clears|answers?|answered|succeeds?
    |stat(?:es|ed|ing)|nam(?:es|ed|ing)|giv(?:es|en|ing)|gave|includ(?:es?|ed|ing)|contain\w*|report(?:s|ed|ing)|specif\w+|describ\w+|mention(?:s|ed)|identif\w+|defin(?:es|ed)|provid(?:es|ed|ing)|present\w*|explain(?:s|ed)|quantif\w+|disclos\w+|indicat\w+|cit(?:es|ed)|list(?:s|ed)|says|tells|show(?:s|n)?|record(?:s|ed)|us(?:es|ed)|supports?|supported|justif\w+|covers?|covered|handles?|handled|tested|stays?|keeps?|kept|fits?|spell(?:s|ed)|account(?:s|ed)|does|did|has|have|got|appears?|exists?
    |yes|ok|okay|all|both|each|every|everything|throughout|complete\w*|full|fully|whole|entire\w*|three|two
    |clear\w*|explicit\w*|precise\w*|exact\w*|correct\w*|accurate\w*|right|fine|good|great|well|excellent|solid|strong|sound|sensible|reasonabl\w+|appropriate\w*|adequate\w*|sufficient\w*|concise\w*|short|brief\w*|compact|tight|readable|consistent\w*|coherent|crisp|clean|neat|nice\w*|perfect\w*|exemplary|impeccable|plain\w*|simple|unambiguous\w*|unmistakabl\w+|evident\w*|obvious\w*|definite|economical|fluent|faultless|flawless|convincing|careful\w*|thorough\w*|modest|direct|honest|elegant\w*|beautiful\w*|lovely|impressive|welch|wilcoxon|anova|mann-whitney|two-sided|t-test
    |within|under|below
    |resolv\w+|address\w*|fixed|corrected|done|settled|closed|gone|mended|improv\w+|added|replaced|removed|cured|dealt|withdraw\w*|withdrawn|incorporated|implemented|remedied|taken\s+care
    |ready|approv\w+|accept\w*|agree\w*|happy|glad|pleased|content|endorse\w*|recommend\w*|sign\w*\s+off|go\s+ahead|ship|merge|congratulat\w*|thank\w*|welcome|cheers|kudos|bravo|like|liked|enjoy\w*|pleasure
    |in\s+(?:order|place|line|scope)|up\s+to\s+(?:standard|scratch)|ticked|checks?|finds?|found|learns?|written|wrote|verified|confirm\w*|checked|reviewed|true|valid|optional|bonus|praise|deserves?|free\s+of|as\s+(?:it|they)\s+should|so\s+(?:is|are|does|do|has)|(?:is|are)\s+(?:there|here|in)|stands|real|easy|follows?|deducted|rows?|withdraw|asks?\s+for|published|one\s+(?:is|has)|stops\s+there|forbids?|applies)\b
    |\b(?:I|we)(?:\s+will|['’]ll|\s+have|['’]ve|\s+also|\s+then)*\s+(?:\w+ly\s+)?(?:assess|read|compare|check|go|went|look|count|examin|consider|review|evaluat|walk|judg|weigh|search|scan|verif|open|measur|start|begin|inspect|stud|double)\w*\b|\blet\s+(?:me|us)\b
    |\d|[✓✔✅👍🎉💯]|\blgtm\b";

static PLAINLY_RE: LazyLock<Option<Regex>> = LazyLock::new(|| english::pattern(PLAINLY));

/// Does a sentence of some length plainly affirm? A few words that count parts of the work say what is there: `One sentence, with
/// its cause.`
pub(super) fn is_plain(text: &str) -> bool {
    static COUNTED: LazyLock<Option<Regex>> = LazyLock::new(|| {
        english::pattern(
            r"(?i)^\W*(?:one|a\s+single|four|five)\s+(?:sentence|paragraph|line|page|section|table|figure|file|test)s?\b[,:]?\s+with\b",
        )
    });
    // `Here is my review of the draft against the rubric`: what follows is named.
    static NAMES_WHAT_FOLLOWS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        english::pattern(
            r"(?xi)^\W*(?:here(?:\s+is|\s+are|['’]s)|below\s+(?:is|are)|(?:this|the\s+following)\s+is)\s+(?:my|the|a|an)\s+(?:\w+\s+){0,2}(?:review|assessment|evaluation|verdict|report|judge?ment|analysis|feedback|findings|result|results|critique)(?:\s+(?:of|for|on|against|by)\s+(?:the|this|your|each|its)\s+(?:\w+\s*){1,2}){0,2}\W*$",
        )
    });
    let words = text.split_whitespace().filter(|word| word.chars().any(char::is_alphabetic)).count();
    words < 3
        || NAMES_WHAT_FOLLOWS.as_ref().is_some_and(|re| re.is_match(text))
        || words < 8 && COUNTED.as_ref().is_some_and(|re| re.is_match(text))
        || words < 5 && ["A ", "An "].iter().any(|head| text.trim_start().starts_with(head))
        || text.trim_end().ends_with(':')
        || PLAINLY_RE.as_ref().is_none_or(|re| re.is_match(text))
}

/// Does a text hold a word that plainly affirms?
pub(super) fn says_so(text: &str) -> bool {
    static MORE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        english::pattern(
            r"(?i)\b(?:is|are|respected|observed|honou?red|found|present|quoted|gut|ja|oui)\b|erfüllt|\bsí",
        )
    });
    let is = |re: &LazyLock<Option<Regex>>| re.as_ref().is_some_and(|re| re.is_match(text));
    is(&PLAINLY_RE) || is(&MORE)
}

/// Who or what else would have to say it: a sentence that affirms nothing and leaves it to them.
pub(super) fn leaves_it_to_others(text: &str) -> bool {
    static OTHERS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        english::pattern(
            r"(?xi)\b(?:readers?|reviewers?|authors?|writers?|others?|whoever|anyone|anybody|everyone|nobody|somebody|someone|one\s+(?:wonders|has|must|may|might|can|could|would)|lab|journal|supplement|appendix|wonder\w*|guess\w*|infer\w*|imagin\w*|figured?\s+out|work(?:ed)?\s+out|f(?:i|ou)nd\s+out|look(?:ed)?\s+up|ask|see|trusts?|relies|rely|less\s+so|secret|mystery|belongs?|insert|supply|criteri\w+|rubric|items?|requirements?|samples?|sizes?|numbers?|counts?|tests?|methods?|sources?|references?|figures?|names?|dates?|groups?)\b",
        )
    });
    OTHERS.as_ref().is_none_or(|re| re.is_match(text))
}

/// `Which test was run …`, `How many mice there were …`: what is asked for is named as a question, and nothing says that it is
/// answered.
pub(super) fn only_asks(text: &str) -> bool {
    static ASKS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        english::pattern(
            r"(?i)^\W*(?:which|how\s+(?:many|much|large|big|long)|whether|who|what\s+(?:test|number|size|the))\b[^?]*$",
        )
    });
    static ANSWERED: LazyLock<Option<Regex>> = LazyLock::new(|| {
        english::pattern(
            r"(?xi)\b(?:stated|named|given|said|reported|specified|described|identified|explicit\w*|clear\w*|evident|obvious|plain\w*|known|told|spelled|spelt|listed|noted|written|defined|answered|there|present|found|met|satisfied|fulfilled|in\s+(?:place|order|the\s+(?:text|draft))|is\s+in|are\s+in|matters?|right|fine|good|well|done|delivered|provided|included|shown|printed)\b",
        )
    });
    ASKS.as_ref().is_some_and(|re| re.is_match(text))
        && !ANSWERED.as_ref().is_some_and(|re| re.is_match(text))
}

/// Does a text hold anything that affirms?
pub(super) fn affirms(text: &str) -> bool {
    RE.as_ref().is_none_or(|re| re.is_match(text))
}

/// `I'll read the draft`, `Let me count`: a step that an agent announces.
pub(super) fn is_step(text: &str) -> bool {
    static STEP: LazyLock<Option<Regex>> = LazyLock::new(|| {
        english::pattern(
            r"(?xi)^\W*(?:checked|compared|reviewed|verified|examined|assessed|evaluated|inspected)\s+(?:the|both|each|all|it|this)\b|^\W*(?:I|we)(?:['’]ve|\s+have)?\s+(?:\w+ly\s+)?(?:read|compared|checked|counted|reviewed|examined|looked|went|opened|verified|inspected|assessed|ran)\b|^\W*(?:now\s+|first,?\s+|next,?\s+)?(?:I['’]ll|I\s+will|let\s+me|I['’]m\s+going\s+to)\s+(?:now\s+|first\s+|start\s+by\s+|begin\s+by\s+)?(?:read|count|check|compar|open|look|go|review|examin|run|verif|search|inspect|work)\w*",
        )
    });
    STEP.as_ref().is_some_and(|re| re.is_match(text))
}

/// `It identifies the test.`, `The draft keeps to the limit.`: a sentence that says what the work does, which nothing else
/// speaks against.
pub(super) fn speaks_of_the_work(text: &str) -> bool {
    static DOES: LazyLock<Option<Regex>> = LazyLock::new(|| {
        english::pattern(
            r"(?xi)^\W*(?:it|(?:the|this)\s+(?:draft|text|abstract|work|author|plan|revision|document|paper|version))\s+(?:also\s+|now\s+|\w+ly\s+)*[a-z]{3,}s\s+\S",
        )
    });
    DOES.as_ref().is_some_and(|re| re.is_match(text))
}

/// Does a clause affirm and deny nothing?
pub(super) fn is_positive(clause: &str) -> bool {
    affirms(clause) && !polarity::of(clause, Reading::Judgement).lacking
}
