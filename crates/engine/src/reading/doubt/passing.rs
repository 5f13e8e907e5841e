//! What is found wanting in passing, beside praise: words that blame whatever they are said of, words that make something less
//! than it should be (`only hinted at`, `of sorts`), and concessions (`although … would need one, too`).

use std::sync::LazyLock;

use regex::Regex;

use super::Scope;
use crate::reading::english;

/// Words that blame, also where they describe.
const BLAMED: &str = r"\b(?:sketchy|hazy|fuzzy|wool?ly|murky|skimpy|flims[iy]\w*|shaky|shakily|slopp[iy]\w*|half-baked|perfunctory|cursory|cursorily|overloaded|brittle|iffy|dubious|thin(?:ly)?\s*(?:$|[.,;:!)]|on\b)|(?:a\s+(?:bit|little|touch|tad|shade)|rather|quite|somewhat|pretty|fairly)\s+(?:thin|loose|rough|crude|weak|light|short|bare|general|broad|coarse|meagre|meager|scant|slim)|in\s+passing|double\s+duty|odd\s+(?:one|man)\s+out|nobody['’]s|no\s+one['’]s|anyone['’]s\s+guess|anybody['’]s\s+guess|left\s+(?:aside|alone|hanging|dangling|implicit|unsaid|to\s+(?:the|chance|others|guess\w*|imagination))|(?:only|just|merely|barely)\s+(?:\w+ly\s+)?(?:sketched|outlined|hinted|touched|implied|stubbed|alluded)|(?:waits?|waiting|depends?|blocks?|blocking)\s+(?:for|on)?\s*each\s+other|in\s+a\s+(?:loop|circle|ring)|out\s+of\s+the\s+picture|falls?\s+(?:between|through)|so-so|for\s+what\s+(?:it|this)\s+is|(?:given|stated|reported|described|expressed|put)\s+as\s+(?:\x22|“|\x27|‘)?(?:several|some|many|a\s+few|various|numerous)|in\s+principle|on\s+paper|in\s+theory|to\s+a\s+(?:degree|point|certain)|(?:is|are)\s+(?:assumed|presumed|taken\s+for\s+granted)|not\s+included|unlisted|is\s+a\s+start|which\s+I\s+(?:accept|let|tolerate|forgive|will\s+accept)|(?:for\s+)?another\s+day|(?:easy|happy|trivial)\s+(?:case|path)s?|(?:case|value|example|number)\s+only|conspicuous|despite|in\s+spite\s+of|notwithstanding|heavy\s+heart|grudging\w*|reluctan\w*|held\s+me\s+back|carr(?:y|ies)\s+(?:it|the\s+day)|a\s+fair\s+trade|trade-?offs?|(?:dropped|omitted|left\s+out|sacrificed)\s+for|quiet\s+(?:on|about)|benefit\s+of|that\s+matter\b|more\s+or\s+less|to\s+some\s+(?:extent|degree)|after\s+a\s+fashion|a\s+stretch|by\s+a\s+(?:hair|whisker)|at\s+a\s+stretch|if\s+(?:you|one|we|I)\s+(?:squint|count\w*|stretch\w*|take|regard|treat|consider)\b)";

/// Words that blame in a critic's own mouth. What describes the work may hold them.
const BLAME: &str = r"\b(?:shame|pity|alas|sadly|unfortunate(?:ly)?|regrettabl[ey]|regretfully|disappoint\w*|lamentabl[ey]|grip(?:e|es)|quibbl\w+|niggl\w+|nit-?pick\w*|blemish\w*|snags?|hiccups?|warts?|drawbacks?|downsides?|shortcomings?|oversights?|imperfect\w*|achilles\w*|weak(?:est)?\s+(?:spots?|points?|links?|sides?)|soft\s+spots?|sore\s+(?:spots?|points?)|loose\s+ends?|eyebrows?|mediocre|lacklust(?:re|er)|underwhelming|lukewarm|half-hearted\w*|careless\w*|clums[iy]\w*|awkward\w*|inelegant\w*|imprecis\w+|inexact\w*|nonspecific|non-specific|approximat(?:ed|es|ion)|undocumented|cryptic\w*|glib\w*|evasive\w*|coy\w*|silent\s+(?:on|about|as\s+to)|mum\s+(?:on|about)|light\s+on|short\s+on|thin\s+on|guess(?:work|ing|es)?|imagination|forgets?|forgot|neglects?|gloss(?:es|ed)?\s+over|skirt(?:s|ed)|sidestep\w*|dodg(?:es|ed)|skat(?:es|ed)\s+over|leaves?\s+(?:open|unsaid|a\s+lot|much|something|room|(?:us|the\s+reader|readers|one)\s+(?:to|guess\w*|wonder\w*|in\s+the\s+dark|without))|hint(?:s|ed)(?:\s+at)?|allud(?:es?|ed)|impli(?:es|ed)|implicit(?:ly)?|another\s+(?:matter|story|thing)|a\s+different\s+(?:matter|story)|something\s+else|of\s+(?:sorts|a\s+kind|a\s+sort)|(?:sort|kind)\s+of\s+(?:an?|there|met|stated|named|given|says|clear|done)|in\s+spirit|in\s+essence|loosely|somewhat|far\s+from|less\s+so|told\s+nothing|learns?\s+nothing|hears?\s+nothing|knows?\s+nothing|comes?\s+close|nearly\s+there|the\s+price\s+(?:of|for|is)|in\s+every\s+respect\s+but|meant\s+by|what\s+(?:is|was)\s+meant|rather\s+than\s+(?:given|stated|named|said|spelled|reported|specified|an?\s+(?:number|name|figure)|the\s+(?:number|name))|instead\s+of\s+(?:an?|the)\s+(?:\w+\s+)?(?:number|name|figure|count|value|size)|gets?\s+(?:a\s+word|an?\s+adjective|none|nothing|short\s+shrift)|where\s+(?:a|the)\s+(?:number|name|figure))\b";

/// Words that make something less than it should be, before a word of saying it.
const LESSENED: &str = r"\b(?:only|merely|just|barely|hardly|scarcely|vaguely|loosely|roughly|at\s+best|at\s+most)\s+(?:\w+ly\s+)?(?:sa(?:ys|id)|state[sd]?|name[sd]?|mention(?:s|ed)?|give[sn]?|get|gets|hint(?:s|ed)?|allud\w+|touch(?:es|ed)?|suggest(?:s|ed)?|impl\w+|describe[sd]?|indicate[sd]?|refer(?:s|red)?|tell[s]?|told|speak[s]?|talk[s]?|cover(?:s|ed)?|test(?:s|ed)?|handle[sd]?|address(?:es|ed)?|note[sd]?|report(?:s|ed)?|specifie[sd]|identifie[sd]|defined?|recognisable|recognizable|discernible|visible|there|present)\b";

/// What is conceded: a need that is put off, somebody who does not look after it.
const CONCEDED: &str = r"\bif\s+(?:we|one|you|I)\s+(?:\w+ly\s+)?(?:count|squint|stretch|ignore|overlook|assume|accept|take|regard|treat|consider|allow|include|leave|forget|exclude|disregard|do\s+not|don['’]t|are\s+(?:kind|generous|lenient|charitable)|let|read\s+it)\w*|\bcounting\s+(?:the|an?|it|this|that)\b|\bimplied\b|\b(?:would|could|might)\s+(?:also\s+|still\s+|really\s+|well\s+|strictly\s+)?(?:need|deserve|merit|call\s+for|do\s+with|benefit|profit|use\s+(?:an?|some|one|more)|have\s+(?:expected|liked|preferred|wanted|needed|deserved|been\s+(?:better|nicer|clearer)))\b|\bI\s+would\s+(?:not\s+)?(?:have|bet|expect|like|prefer|add|want)\b|\b(?:nobody|no\s+one)\s+(?:is|was|has|will)\s+(?:\w+\s+){0,2}?(?:assigned|responsible|in\s+charge|doing|building|testing|writing|taking|charged)\b|\b(?:nobody|no\s+one|nothing)\s+(?:looks?|cares?|takes?|does|handles?|covers?|checks?|owns?)\b|\b(?:stays?|kept|left)\s+(?:out|outside|unattended|unhandled)\b|\bstrictly(?:,|\s+(?:speaking|taken|considered))";

struct Patterns {
    blamed: Option<Regex>,
    blame: Option<Regex>,
    lessened: Option<Regex>,
    conceded: Option<Regex>,
}

static PATTERNS: LazyLock<Patterns> = LazyLock::new(|| {
    let of = |pattern: &str| english::pattern(&format!("(?xi){pattern}"));
    Patterns { blamed: of(BLAMED), blame: of(BLAME), lessened: of(LESSENED), conceded: of(CONCEDED) }
});

/// Is something found wanting in passing? `plain` is the sentence without what is denied and praised.
pub(super) fn wants(plain: &str, scope: Scope) -> bool {
    let finds = |re: &Option<Regex>| re.as_ref().is_some_and(|re| re.is_match(plain));
    match scope {
        Scope::Prose => finds(&PATTERNS.blamed) || finds(&PATTERNS.blame) || finds(&PATTERNS.lessened),
        Scope::Answer | Scope::Evidence => finds(&PATTERNS.blamed),
    }
}

/// Does an answer that passes concede something?
pub(super) fn concedes(plain: &str) -> bool {
    PATTERNS.conceded.as_ref().is_some_and(|re| re.is_match(plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_is_a_regular_expression() {
        let Patterns { blamed, blame, lessened, conceded } = &*PATTERNS;
        assert!([blamed, blame, lessened, conceded].iter().all(|re| re.is_some()));
    }

    #[test]
    fn what_is_wanting_is_heard_beside_praise() {
        for text in [
            "shame about the sample size",
            "a test that is only hinted at",
            "the methods are sketchy",
            "the group size is implied rather than given",
            "a bit thin on the statistics",
        ] {
            assert!(wants(text, Scope::Prose), "{text}");
        }
        for text in ["the test is named", "it just fits into 60 words", "only 41 words long"] {
            assert!(!wants(text, Scope::Prose), "{text}");
        }
        assert!(concedes("3 of 3, although errors would need one as well"));
        assert!(!concedes("3 of 3, although task 2 covers two of them"));
    }
}
