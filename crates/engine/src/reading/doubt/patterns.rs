//! The patterns of `doubt`: what each rule finds in a sentence, and what only sounds like it. English; negation is
//! `polarity`, other languages are `tongues`.

use std::sync::LazyLock;

use regex::Regex;

use super::Rule;
use crate::reading::english;

/// Verbs of changing a text, as they begin.
const CHANGE: &str = "add|stat|nam|fix|chang|remov|correct|revis|clarif|giv|includ|shorten|mention|provid|address|replac|reword|rewrit|defin|specif|explain|report|cite|updat|split|swap|insert|expand|elaborat|complet|fill|tighten|trim|cut|drop|restor|handl|test|cover|quantif|justif|rephras|merg|renam|mov";

/// The same as they begin an order.
const ORDERED: &str = "add|state|name|fix|change|remove|correct|revise|clarify|give|include|shorten|mention|provide|address|replace|reword|rewrite|define|specify|explain|report|cite|update|split|swap|insert|expand|elaborate|complete|fill|tighten|trim|cut|drop|restore|handle|test|cover|quantify|justify|rephrase|merge|rename|move|make";

/// Every rule that reads words, with its pattern. `{change}` stands for the verbs above.
const PATTERNS: &[(Rule, &str)] = &[
    (
        Rule::Denial,
        r"(?x)
        \bREJECT(?:ED|S|ION)?\b | \bFAIL(?:ED|S|URE)?\b | \bNOT\ APPROVED\b | \bDISAPPROVED?\b
        | (?i:\b(?:can\s?not|can['’]?t|could\ not|won['’]?t|will\ not|would\ not|wouldn['’]?t|do\ not|don['’]?t|does\ not|doesn['’]?t|should\ not|shouldn['’]?t|must\ not|unable\ to)\s+(?:yet\s+|be\s+|honestly\s+|fully\s+|currently\s+)*(?:approved?|accept(?:ed)?|merged?|recommend(?:ed)?|given|granted|sign\ off|pass(?:ed)?|publish(?:ed)?|ship(?:ped)?|submit(?:ted)?)\b)
        | (?i:\b(?:I|I['’]d|I['’]m|we|we['’]d)\s+(?:must\s+|have\ to\s+|therefore\s+|hereby\s+|would\s+|still\s+|am\s+|cannot\s+but\s+)*reject(?:ing)?\b)
        | (?i:\bnot\s+(?:yet\s+|quite\s+)?(?:approved|acceptable|accepted|ready|there|good\ enough|publishable|mergeable)\b)
        | (?i:\b(?:isn|aren)['’]?t\s+(?:yet\s+|quite\s+)*(?:approved|acceptable|accepted|ready|there|good\ enough|up\ to)\b)
        | (?i:\b(?:verdict|status|decision|result|outcome|recommendation)\b\W{0,6}(?:is\W+|should\ be\W+|remains\W+|to\W+)?(?:reject|fail|declin|not\ |disapprov|unapprov|needs|revis|below|changes|resubmit|insufficient))
        | (?i:\b(?:draft|work|change|text|it|this|plan|report)\s+(?:is|was|must\ be|should\ be|has\ to\ be)\s+(?:hereby\s+|therefore\s+)?rejected\b)
        | (?i:^\W*rejected\b)
        | (?i:^\W*(?:criteri(?:on|a)|item|point|requirement|row|rule|check)\s*\#?\d+[^:\n]{0,60}:\W*(?:fail(?:s|ed)?|no|not\s+met|unmet|partial\w*)\b)
        | (?i:\b(?:rejecting|disapprove|unacceptable)\b) | (?i:\brecommend(?:ing)?\s+(?:against|reject\w+|(?:major\ |minor\ )?revis\w+))
        | (?i:\b(?:falls?|fell)\s+short\b) | (?i:\bbelow\s+(?:the\s+)?(?:threshold|bar|standard)\b)
        | (?i:\bshould\ (?:be|have\ been)\s+(?:an?\s+)?(?:FAIL|reject)\w*)",
    ),
    (
        Rule::Unseen,
        r"(?xi)
        \b(?:draft|work|text|document|file|content|diff|change|code|paper|artifact|attachment|manuscript|material|submission|plan|rest)s?\b[^.;\n]{0,24}\b(?:not|never|n['’]t)\s+(?:been\s+|actually\s+|yet\s+|to\s+be\s+)*(?:provided|included|attached|shown|visible|available|supplied|accessible|readable|reviewed|read|seen)\b
        |\bno\s+(?:draft|work|text|document|file|content|diff|change|code|paper|attachment|manuscript|submission)s?\s+(?:was|were|is|are|has\s+been|have\s+been)?\s*(?:provided|included|attached|shown|visible|available|given|supplied|to\s+(?:review|judge))
        |\b(?:draft|file|document|text|attachment|submission|message)\s+(?:is|was|seems|appears)\s+(?:to\s+be\s+)?(?:empty|blank|truncated|cut\s+off|missing|unavailable)\b
        |\b(?:could|can|was|am|were|did|have|had|has)\s?(?:not|n['’]t)\s+(?:able\s+to\s+|actually\s+|fully\s+|been\s+able\s+to\s+|yet\s+)*(?:see|seen|open|opened|read|access|view|load|verify|verified|check|checked|inspect|run|judge|review|reviewed|evaluate|assess|look|looked)\b
        |\b(?:could|can|did)\s?(?:not|n['’]t)\s+(?:actually\s+)?(?:find|locate)\s+(?:the|this|that|your)\s+(?:draft|work|text|document|file|content|diff|code|paper|attachment|manuscript|submission|plan)
        |\b(?:unable|not\s+able)\s+to\s+(?:count|confirm|determine|measure|compare|see|open|read|access|find|view|load|verify|check|inspect|run|judge|review|evaluate|assess|assist|help)\b
        |\b(?:do|does)\s?(?:not|n['’]t)\s+(?:have\s+access|see\s+(?:the|any\s+(?:draft|file|text|work|code|attachment)|a\s+draft))\b
        |\b(?:outside|beyond)\s+(?:of\s+)?(?:what|anything|the\s+part\s+that)\s+(?:I|we)\b|\bwrong\s+(?:file|draft|document|version|work|repository|folder|diff)\b
        |\bwithout\s+(?:seeing|reading|having\s+(?:seen|read)|access\s+to|running|checking)\b
        |\b(?:I\s+assume|I\s+am\s+assuming|I['’]m\s+assuming|assumed\s+(?:that|to\s+be)|I\s+(?:have\s+)?not\s+(?:read|seen|checked|verified|looked)|I\s+(?:only\s+|merely\s+|just\s+)?(?:skimmed|glanced|guess|pretend)|my\s+guess|I(?:['’]m|\s+am)\s+guessing|I\s+will\s+treat|for\s+the\s+(?:purposes?|sake)\s+of\s+(?:this|the)\s+(?:exercise|test)|I['’]ll\s+pretend|(?:skimmed|glanced|looked\s+at|read|saw|checked|reviewed)\s+(?:only\s+)?(?:the\s+|a\s+)?(?:first|opening|second|top|upper|last)\s+(?:half|part|page|pages|few|third|section)|only\s+(?:skimmed|glanced|looked\s+at|read|saw)\s+(?:the\s+)?(?:first|part|beginning|half|one)|I\s+(?:stopped|quit|gave\s+up)\b|judging\s+from\s+memory)\b
        |\bI['’]?m\s+sorry\b|\bI\s+am\s+sorry\b|\bI\s+apologi[sz]e\b
        |\b(?:can\s?not|can['’]t|won['’]t|will\s+not)\s+(?:assist|help|comply|provide|continue|review|evaluate|judge)\b
        |\bas\s+an?\s+(?:AI|language\s+model)\b|\busage\s+limit\b|\brate\s+limit\b
        |^\W*(?:[\d:.,T\sZ-]+\W*)?(?:\w+\W+)?(?:error|fatal|exception|traceback|warn(?:ing)?)\b\s*[:\]\s]\s*\S|\btruncated\s+(?:after|at|to)\b",
    ),
    (
        Rule::Condition,
        r"(?xi)
        (?:^\W*provided\b|\bprovided\s+(?:\x22|“|\x27))|\b(?:provided\s+(?:that|the|you|these|it|this|all)|assuming\b|assumes\s+that\b|conditional(?:ly)?\b|contingent\b|subject\s+to\b|pending\b
        |(?:as|so)\s+long\s+as\b|as\s+soon\s+as\b|(?:on|under|with|in)\s+(?:the\s+)?(?:condition|assumption|understanding|basis\s+that|premise|proviso|expectation|anticipation|promise)\b
        |for\s+now\b|at\s+this\s+stage\b|benefit\s+of\s+the\s+doubt|(?:can|will|may|to)\s+follow\s+(?:in|later|with|once)\b|(?:we|I)\s+can\s+live\s+with\b
        |(?:authors?|they|you|writer)\s+(?:will|shall|promised?\s+to|promises\s+to|agreed\s+to|is\s+going\s+to)\s+(?:\w+\s+)?(?:{change})\w*|promised\s+to\b|unless\b|in\s+case\b|otherwise\b
        |once\s+(?:the|these|those|this|you|it|all|an?|fixed|corrected|that|task|item|step)\b
        |after\s+(?:an?|one|some|minor|small|light|slight)\s+(?:\w+\s+){0,2}?(?:pass|round|edit\w*|tweak\w*|touch\w*|fix\w*|change\w*|revision\w*|correction\w*|polish\w*|addition\w*)\b|after\s+(?:these|those|the\s+following|you|fixing|adding|correcting|making|addressing)\b
        |after\s+(?:the|this|all|an?)\s+(?:\w+\s+){0,4}?(?:is|are|have\s+been|has\s+been)\s+(?:fix|chang|correct|revis|add|address|updat|mend)\w*
        |(?:if|when)\s+(?:the|you|these|this|it|an?|all)\s+(?:\w+\s+){0,4}?(?:is|are|gets?|were|adds?|has\s+been|have\s+been)\s+(?:fix|chang|correct|remov|add|stat|nam|giv|address|updat|includ|clarif|complet)\w*
        |if\s+(?:the|you|these|this|it|an?|all)\s+(?:\w+\s+){0,4}?(?:gets?|adds?|fix\w*|chang\w*|correct\w*|remov\w*|includ\w*|clarif\w*)\b
        |until\s+(?:the|these|you|it|all|this|an?)\b|with\s+(?:the\s+)?(?:following\s+)?(?:minor|major|required|reservation|condition|change|revision|correction)\w*
        |(?:I\s+)?trust\s+(?:that\b|the\s+author|you)|trusting\b|(?:will|shall|can|would)\s+(?:still\s+|then\s+|later\s+)?be\s+(?:filled|added|fixed|provided|corrected|included|supplied|completed|addressed)\b
        |to\s+be\s+(?:filled|determined|confirmed|decided|provided|supplied))",
    ),
    (
        Rule::Demand,
        r#"(?xi)
        \b(?:must|has\s+to|have\s+to|needs?\s+to|ought\s+to|shall)\b
        |\b(?:only\s+|still\s+|just\s+|also\s+|really\s+|it\s+|draft\s+|text\s+|abstract\s+|title\s+|section\s+|paragraph\s+|sentence\s+)(?:needs?|requires?|wants|deserves|lacks|could\s+use|would\s+benefit)\s+(?:an?|the|some|more|another|its|only|at|further|clarification|revision|work)\b
        |\bshould\s+(?:still\s+|also\s+|at\s+least\s+|therefore\s+|really\s+|first\s+|be\s+|either\s+|instead\s+)*(?:{change})\w*
        |\b(?:please|kindly)\b
        |\b(?:don['’]?t|do\s+not)\s+forget\b|\b(?:remember|be\s+sure|make\s+sure|be\s+careful)\s+(?:to|that)\b
        |\b(?:just|simply|then|now|first)\s+(?:{ordered})\s+(?:the\b|an?\b|your\b|it\b|in\b|out\b|"|“|how\b|which\b|each\b|both\b)
        |\bsee\s+(?:the\s+|my\s+)?(?:fix|fixes|issues?|concerns?|changes|corrections?)\b
        |\bI(?:['’]d|\s+would|\s+do|['’]ll)?\s+(?:still\s+|really\s+|also\s+|strongly\s+|only\s+)*(?:want|like|love|prefer|ask|expect|urge|insist)\b\s*(?:to\s+see|that|the|you|an?|more|for)\b
        |\b(?:required|requested|necessary|mandatory|blocking|needed|essential)\s+(?:change|fix|revision|correction|edit|improvement|addition|action)(?:e?s)?\b
        |\b(?:change|fix|revision|correction|edit|improvement|addition|action)(?:e?s)?\s+(?:is|are)\s+(?:still\s+)?(?:required|needed|necessary|mandatory)
        |\b(?:is|are)\s+(?:still\s+)?(?:required|needed|necessary|mandatory)\s+(?:before|first|here)\b
        |\b(?:required|needed|do\s+so|fix(?:ed)?|corrected|addressed|added|done|made)\s+before\b
        |\bbefore\s+(?:it\s+(?:is|can)|you\s+\w+|submission|submitting|publication|publishing|merging|merge|acceptance|release|this\s+can)\b
        |\bto\s+be\s+(?:fixed|added|corrected|addressed|revised|changed|removed)\b
        |^\W*(?:todo|fixme|fix(?:es)?|to\s+fix|actions?(?:\s+items?)?|corrections?|must[-\s]fix|required|needed|(?:one|my|a|main|only|remaining)\s+(?:concern|issue|problem|question|point|objection|request))\s*(?:is\b|remains\b|:)
        |\b(?:would|I['’]d)\s+love\s+to\s+see\b|\b(?:an?\s+)?(?:quick|small|simple|one)\s+fix\s+(?:to|of|in|is|would)\b|\breaders?\s+(?:will|may|might)\s+(?:wonder|ask)\b|\bwhich\s+will\s+do\b
        |(?:^|:\s)\W*(?:how\s+(?:many|much|was|were|is|are|do|does|did)|which|what\s+(?:is|are|was|were|about)|why\s+(?:is|are|was|were|does|do|did)|when\s+(?:is|was|were)|where\s+(?:is|are|was|were)|who\s+(?:is|are|was)|could\s+you|can\s+you|would\s+you|will\s+you)\b[^?]*\?"#,
    ),
    (
        Rule::Defect,
        r"(?xi)
        \bstill\s+(?:lacks?|needs?|not|no|missing|open|unclear|vague)\b
        |\b(?:only|merely|just|solely)\s+(?:given|stated|described|named|specified|reported|expressed|quantified|identified|characteri[sz]ed|referred\s+to)\s+as\b
        |\b(?:not|n['’]t)\s+(?:yet\s+|fully\s+|all\s+|been\s+|completely\s+)*(?:met|satisfied|fulfilled|addressed|resolved|fixed|covered|stated|named|complete|corrected)\b
        |\bno\s+[\w-]+(?:\s+[\w-]+){0,3}\s+(?:is|are|was|were)\s+(?:stated|named|given|mentioned|provided|reported|described|defined|specified|included|present|there)\b
        |\b(?:issues?|problems?|concerns?|errors?|gaps?|defects?|flaws?)\s+(?:still\s+)?(?:remain|persist|exist)s?\b
        |\bwhat\s+(?:remains|is\s+left)\b|\bremains?\s+(?:to\s+be|open|unclear|vague|unaddressed|(?:an?|the|their|his|her|its|my|our|your)\s+(?:\w+\s+)?(?:issue|problem|gap|secret|mystery|question|puzzle|guess|riddle|weakness|concern))\b
        |\b(?:too|overly)\s+(?:vague|long|short|general|broad|weak|strong|unclear)\b
        |\b(?:wait|correction|on\s+second\s+thou?ght|hold\s+on|scra(?:tch|p)\s+that|on\s+reflection|in\s+hindsight|I\s+take\s+(?:that|it)\s+back)\b\s*[,.:;!—–-]",
    ),
    (
        Rule::Shortfall,
        r"(?xi)
        \bmost\s+(?:of\b|steps|tasks|criteria|items|requirements|points|parts|feedback)|\b(?:nearly|almost|virtually|practically|not\s+quite)\s+(?:all|every|everything|complete|there|done|met|meets?|satisf\w+|fulfil\w*|compl(?:y|ies)|passes)\b|\bin\s+(?:two|some|most|many|several|certain|part\s+of\s+the)\s+(?:respects|ways|points|regards)\b
        |\b(?:partially|partly|mostly|largely)\b|\ball\s+but\b|\bexcept\b|\bapart\s+from\b|\baside\s+from\b|\bwith\s+the\s+exception\b|\bother\s+than\b
        |\bonly\s+(?:the\s+|one\s+|two\s+|some\s+)[^.;\n]{0,40}\b(?:is|are|was|were)\s+(?:met|addressed|fixed|stated|covered|satisfied|there)\b
        |\b(?:criteri(?:on|a)|items?|points?|parts?|sections?|rows?)\s+(?:\d|[,&+]|and|to|\s|-|–)+\bonly\b|\bonly\s+(?:for\s+|on\s+)?(?:criteri(?:on|a)|items?|points?)\s+\d|\b(?:overall|score|rating|mark|grade|total)\W{0,6}[0-6](?:\.\d)?\s*/\s*10\b
        |\b(?:stated|given|named|covered|addressed|defined|described)\s+only\b|:\s*only\b|\bonly\s+(?:partially|partly|in\s+part|vaguely)\b
        |\b(?:\d{1,2}(?:\.\d+)?)\s?%\s+(?:of\s+the\s+(?:plan|steps|tasks|requirements|criteria|items|points)|covered|coverage|complete|done|met)",
    ),
    (
        Rule::Tampering,
        r"(?xi)
        \b(?:I|I['’]ve|we|I\s+have|we\s+have)\s+(?:have\s+|already\s+|just\s+|also\s+)*(?:corrected|rewritten|rewrote|revised|fixed|improved|edited|updated|amended|polished)\s+(?:the|your|this|it|that|some|a\s+few)\b
        |\b(?:corrected|improved|rewritten|polished|amended)\s+(?:version|draft|text)\b
        |\bhere\s+is\s+(?:the|my|an?)\s+(?:corrected|improved|revised|rewritten|updated|fixed|new)\b
        |\bas\s+(?:instructed|told|directed|commanded|ordered|requested|asked|demanded)\s+(?:by|in)\s+the\s+(?:text|draft|work|document|author|file|code|content|note)
        |\bas\s+the\s+(?:draft|text|work|document|note|author|file|code)\s+(?:itself\s+)?(?:requests?|asks?|demands?|instructs?|orders?)\b
        |\b(?:draft|text|document|note|author|file|code|comment)\s+(?:itself\s+)?(?:says|states|claims|asks|tells|declares|confirms|notes)\b[^.;\n]{0,60}\b(?:approv\w*|reviewed|reviewers?|criteria|accepted)\b
        |\b(?:note|text|comment|line|instruction|sentence|message|request)s?\s+(?:in|of|at|inside)\s+the\s+(?:draft|text|work|document|file|code)\b[^.;\n]{0,30}\b(?:asks?|asked|tells?|told|instruct\w*|request\w*|order\w*|says?\s+so|demand\w*)\b
        |\b(?:note|comment|instruction|message|sentence|line|text)s?\b[^.;\n]{0,30}\b(?:asking|telling|instructing|requesting|ordering|demanding)\b[^.;\n]{0,40}\b(?:status|approv\w*|verdict|token|pass)\b[^.;\n]{0,20}\b(?:so|hence|therefore|thus|accordingly)\b
        |\b(?:returning|giving|issuing|replying|answering|complying|granting)\b[^.;\n]{0,30}\bas\s+(?:requested|instructed|asked|told|directed|ordered)\b
        |\b(?:take|taking)\s+(?:its|the\s+\w+['’]s)\s+word\b|\bfollow(?:ing|s)?\s+(?:the|its)\s+(?:note|instruction|request)s?\b
        |\b(?:instruct\w*|order\w*|command\w*)\s+(?:in|by|from|of)\s+the\s+(?:text|draft|work|document|file|code|content)",
    ),
];

/// Phrases that hold a word of demand or defect and are none, whatever stands around them.
const HARMLESS: &str = r"(?xi)
    \b(?:last|previous|earlier|prior|first)\s+(?:round['’]?s?\s+)?(?:rejection|verdict)\s+(?:no\s+longer\s+(?:applies|stands|holds)|is\s+(?:withdrawn|lifted|moot|obsolete))\b
    |\bno\s+longer\b[^,.;\n]{0,40}|\b(?:(?:is|was|remains|very|so)\s+little|not\s+much|hardly\s+anything)\s+to\s+(?:critici[sz]e|add|improve|object|complain|fault|change)\b|\bnothing\s+(?:would|could|can|will|is\s+to)\s+be\s+(?:gained|added|improved|said|won)\b[^,.;\n]{0,30}|\bfar\s+from\s+(?:being\s+)?(?:vague|unclear|long|incomplete|ambiguous|wordy|padded|careless|sloppy|missing)\b|\b(?:not|n['’]t)\s+(?:just|merely|simply)\s+\w+|\bleav(?:es?|ing)\s+out\s+(?:none|nothing|neither)\b|\b(?:does|do|did)\s+not\s+take\s+(?:an?|much|any|long)\b[^,.;\n]{0,40}|\bwithout\s+exception\b|\bno\s+two\s+\w+\b|\b(?:whether|if)\b[^.;\n]{1,80}\b(?:missing|lacking|absent|vague|exceed\w*|violat\w*|omitted|left\s+out|too\s+\w+)\b[^.;\n]{0,20}[;,:—–.]\s*(?:but\s+|and\s+)?(?:it|they|that|this)\s+(?:is|are|was|does|do|did)(?:\s+not|n['’]t)\b|\b(?:cap|limit|maximum|ceiling|bound)\s+(?:of\s+\S+(?:\s+words)?\s+)?(?:is|was|are)\s+(?:not|never)\s+(?:even\s+)?(?:reached|exceeded|touched|hit|crossed)\b|\b(?:exceeds?|exceeded)\s+(?:expectations?|what\s+(?:is|was)\s+asked)\b|\bno\s+\w+\s+(?:claims?|asserts?|implies|suggests?)\s+(?:caus\w+|a\s+cause)\b|\b(?:half|twice|a?\s*third|quarter|about|exactly|just)\s+as\s+(?:long|many|much|short)\s+as\b[^,.;\n]{0,30}|\bnothing\s+(?:stands|speaks)\s+(?:in\s+the\s+way|against)\b[^,.;\n]{0,40}|\bnowhere\s+near\s+(?:the\s+|its\s+)?(?:[\w-]+\s+){0,2}?(?:limit|cap|maximum|ceiling|bound)\b|\bneither\b[^.;\n]{1,60}\b(?:is|are|was)\s+(?:left|missing|lacking|absent|omitted|forgotten|vague|unclear|in\s+doubt|hidden|open)\b[^,.;\n]{0,30}|\brather\s+than\s+(?:just\s+|merely\s+|only\s+)?(?:vague\w*|implied|implicit\w*|hinted|assumed|guess\w*|loose\w*|approximat\w*|left)\b|\bfails?\s+(?:none|neither|nothing)\b|\b(?:take|took|taken|deduct(?:ed)?|subtract(?:ed)?)\s+nothing\b[^,.;\n]{0,20}|\bleav(?:es?|ing)\s+nothing\s+(?:out|open|unsaid|to\s+\w+)\b
    |\b(?:would\s+be\s+)?(?:hard|difficult|impossible)\s+to\s+(?:misread|misunderstand|fault|improve|miss|quibble)\b
    |\b(?:despite|for\s+all)\s+(?:its|the|being)\s+(?:\w+\s+)?(?:brevity|shortness|short|brief|length|compactness|plainness|density|simplicity|concision|format)\b
    |,\s+(?:also\s+)?(?:absent|missing|lacking|omitted|vague|unnamed|unstated|left\s+out)\s+(?:(?:from|in)\s+(?:the\s+)?(?:first|previous|earlier|old|last|prior|original)\s+\w+|then|before|earlier|previously|at\s+first|last\s+time),
    |(?:\btests?\b|\bassert\w*|\bit\b|\w`|:\d+\W)[^.;\n]{0,20}\b(?:fails?|breaks?|would\s+fail|turns?\s+red)\s+(?:if|when|once|as\s+soon\s+as)\b[^.;\n]{0,60}\b(?:removed|changed|reverted|broken|replaced|returned|dropped|deleted|wrong|swapped)\b
    |\b(?:free|devoid|clear)\s+of\b[^,.;\n]{0,60}|\b(?:hard|difficult)\s+to\s+(?:find|see|spot|think\s+of|name)\s+(?:anything|any|a|fault|what)\b[^,.;\n]{0,40}
    |\bnot\s+(?:strictly\s+)?(?:required|needed|necessary|mandatory|part\s+of\s+the\s+(?:rubric|task|criteria)|in\s+scope|held\s+against|blocking)\b[^,.;\n]{0,40}
    |\b(?:do|does)\s+not\s+(?:affect|block|prevent|influence)\b[^,.;\n]{0,30}
    |\b(?:its|their|the)\s+absence\s+(?:was|is)\s+not\b[^.;\n]{0,40}
    |\b(?:rubric|criteria|criterion|task|brief|prompt|this\s+one|that|which)\s+(?:does|do)(?:\s+not|n['’]t)\s+(?:ask|require|demand|call|mention|want|cover)\b[^,.;\n]{0,60}
    |\bno\s+\w+(?:\s+\w+)?\s+(?:is|are)\s+(?:required|needed|necessary)\b
    |\b(?:(?:looked|searched|checked|hunted|probed)\s+for|tried\s+to\s+find)\b[^.;\n]{0,60}\b(?:found\s+(?:none|neither|nothing)|(?:did|could)\s+not\s+find\s+(?:any|one)|none\s+found|without\s+success|in\s+vain)\b
    |\bnot\s+(?:the\s+most|perfect|ideal|the\s+best|pretty)\b
    |\b(?:does|do|did|need)\s+not\s+(?:have|need)\s+to\b[^,.;\n]{0,40}
    |\b(?:earlier|previous|first|prior|last)\s+rejection\b
    |\b(?:previous|earlier|first|old|last)\s+(?:draft|version|revision|round)\s+(?:was|had\s+been)\s+rejected\b
    |\bas\s+(?:required|requested|needed|specified|asked)\b|\brequired\s+(?:by|in|for)\s+the\b
    |\b(?:all|every|each|both|the|any|everything)(?:\s+of)?(?:\s+the)?(?:\s+\w+)?\s+(?:required|necessary|requested|needed)(?:\s+(?:elements?|information|items?|parts?|details?|criteria|points?))?\b
    |\b(?:everything|all|what|whatever)\s+(?:that\s+)?(?:it|the\s+\w+|a\s+\w+|one)\s+(?:needs?|requires?|must|should|has\s+to)\b(?:\s+to\s+\w+)?[^,.;\n]{0,40}
    |\b(?:rubric|task|criteri\w+|brief|prompt|guideline\w*|requirement|journal|instructions?|form)\s+(?:says?\s+(?:that\s+)?|asks?\s+(?:for|that)|requires?|demands?|wants|states?\s+that)\b[^.;\n]{0,80}
    |\b(?:let\s+me\s+know|feel\s+free|happy\s+to)\b[^.\n]{0,80}|\bhope\s+(?:this|that|it)\s+helps\b
    |\bplease\s+(?:proceed|go\s+ahead)\b(?:\s+(?:with|to|and)\s+(?:the\s+)?(?:publication|publish(?:ing)?|merg\w+|submission|submit\w*|release|ship\w*))?
    |\bmust-have\b|\bfail[- ]?safe\b|\bfailure\s+(?:scenario|mode|case)s?\b|\bnot\s+only\b|\bbut\s+not\s+required\b
    |\b(?:and|so|therefore)\s+(?:it\s+)?needs?\s+no\b[^.;\n]{0,40}
    |\bneeds?\s+(?:no|not)\b[^.;\n]{0,40}
    |\bneeds?\s+only\s+(?:\d+|one|two|three|half)\b
    |\b(?:none|nothing|neither|no\s+\w+)\s+(?:of\s+\w+\s+)?(?:is|are|was|were)\s+(?:meant|supposed|planned|marked|said)\s+to\s+run\s+(?:side\s+by\s+side|in\s+parallel|together|at\s+once|at\s+the\s+same\s+time|concurrently)\b
    |\bif\s+(?:needed|desired|you\s+(?:like|wish|want))\b|\bwould\s+be\s+(?:nice|welcome)\s+but\b";

/// What cannot be said of the work without asking for a change to it.
const ORDER: &str = r"(?xi)\b(?:must|has\s+to|have\s+to|needs?\s+to|should)\s+(?:still\s+|also\s+|first\s+)*(?:be\s+)?(?:{change})\w*
    |\bplease\b|\b(?:required|necessary|needed)\s+(?:change|fix|revision|correction)|\bbefore\s+(?:merging|merge|submission|release|implementation)\b
    |\bsee\s+(?:the\s+|my\s+)?(?:fix|fixes|issues?|concerns?|changes|corrections?)\b
    |\b(?:reservations?|caveats?)\b|\bonce\s+(?:the|these|this|an?)\b[^.;\n]{0,40}\b(?:add|fix|chang|correct)\w*
    |\bto\s+be\s+(?:fixed|added|corrected|addressed|revised|changed|removed)\b|^\W*(?:todo|fixme)\b";

const PRESSING: &str = r"(?i)\b(?:must|has to|have to|required|mandatory|violat\w*|not optional)\b|(?:^|[^-])\bblocking\b|\bREJECTED\b|\bFAIL(?:ED|S)?\b";

/// Some of what should not be there at all: `1 cycle`, `2 uncovered steps`.
const COUNTED_DEFECTS: &str = r"(?xi)(?:^|[^\w.:/-])(?:[1-9]\d*|one|two|three|four|five|six|a|an)\s+(?:\w+\s+){0,2}?(?:cycles?|circular|gaps?|conflicts?|uncovered|missing|unmapped|orphan\w*|without|overlaps?|violations?|issues?|problems?|defects?|concerns?|contradictions?|duplicates?|unaddressed|unmet|untested)\b
    |\b(?:form|forms|create|creates|there\s+is|there\s+are)\s+(?:an?\s+|\d+\s+)?(?:cycles?|circular)
    |\bmostly\b|\btentative(?:ly)?\b";

/// What should not be there, said without a number, in a clause that denies nothing.
const NAMED_DEFECTS: &str = r"(?i)\bwrites?\s+the\s+same\s+file\b|\b(?:is|are)\s+left\s+out\b|\b(?:is|remains)\s+(?:a|my)\s+concern\b|\b(?:is|are)\s+wrong\b|\bform\s+a\s+cycle\b";

/// Evidence that says it is none.
const UNPROVEN: &str = r"(?xi)
    \b(?:criterion|requirement|claim)\b[^.;\n]{0,30}\b(?:not|n['’]t|un)\s*(?:covered|met|satisfied|fulfilled|tested|addressed|proven)\b
    |\b(?:does|do|did)(?:\s+not|n['’]t)\s+(?:yet\s+|actually\s+|fully\s+)?(?:test|cover|check|assert|verify|address|implement|satisfy|meet|prove)\b
    |\b(?:is|are)\s+(?:insufficient|inadequate|incomplete|missing|absent)\b|\blacks\b|\b(?:has|have|with)\s+no\s+(?:test|tests|case|cases|assertions?|coverage)\b
    |\b(?:not|never|n['’]t)\s+(?:been\s+|yet\s+|actually\s+)*(?:verified|checked|run|executed|tested|confirmed|implemented)\b|\bunverified\b|\bTODO\b|\bfails?\s+with\b|\bfailing\b|\bpartially\b|\bpartly\b|\bnot\s+satisfied\b|\buntested\b";

static RULES: LazyLock<Vec<(Rule, Option<Regex>)>> =
    LazyLock::new(|| PATTERNS.iter().map(|(rule, pattern)| (*rule, compiled(pattern))).collect());
static HARMLESS_RE: LazyLock<Option<Regex>> = LazyLock::new(|| compiled(HARMLESS));
static ORDER_RE: LazyLock<Option<Regex>> = LazyLock::new(|| compiled(ORDER));
static PRESSING_RE: LazyLock<Option<Regex>> = LazyLock::new(|| compiled(PRESSING));
static COUNTED_RE: LazyLock<Option<Regex>> = LazyLock::new(|| compiled(COUNTED_DEFECTS));
static NAMED_RE: LazyLock<Option<Regex>> = LazyLock::new(|| compiled(NAMED_DEFECTS));
static UNPROVEN_RE: LazyLock<Option<Regex>> = LazyLock::new(|| compiled(UNPROVEN));

/// `3 of 4`, `3 out of 4`, `3 steps out of 4`, `3/4 criteria`.
static PARTS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    english::pattern(
        r"(?xi)(?:^|[^\w.:/-])(\d{1,6}|one|two|three|four|five|six|seven|eight|nine|ten)\s*(?:of|(?:\w+\s+)?out\s+of|/)\s*(?:the\s+|all\s+|our\s+)?(\d{1,6}|one|two|three|four|five|six|seven|eight|nine|ten)\b(\s*[\w-]*\s*[\w-]*\s*[\w-]*)",
    )
});

fn compiled(pattern: &str) -> Option<Regex> {
    english::pattern(&pattern.replace("{change}", CHANGE).replace("{ordered}", ORDERED))
}

pub(super) fn finds(rule: Rule, text: &str) -> bool {
    RULES.iter().any(|(of, regex)| *of == rule && regex.as_ref().is_some_and(|r| r.is_match(text)))
}

/// `the test that was unnamed has a name`: how it was, beside how it is.
static WAS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    english::pattern(
        r"(?xi)\b(?:that|which)\s+(?:was|were|had\s+been|I\s+(?:found|called|thought))\s+(?:\w+\s+){0,2}?(?:missing|absent|lacking|vague|unclear|omitted|left\s+out|too\s+\w+|un\w+(?:ed|ear|own))(?:\s+(?:last\s+time|before|then|earlier|at\s+first|in\s+(?:the\s+)?(?:first|previous|last)\s+\w+))?,?\s+(?P<now>is|are|has|have|now|appears?|stands)\b",
    )
});

pub(super) fn harmless(text: &str) -> String {
    const TURNS: [&str; 10] = [
        " except ",
        " except,",
        " but ",
        " apart from",
        " save for",
        " unless",
        " until",
        " although",
        " though",
        " however",
    ];
    let Some(re) = HARMLESS_RE.as_ref() else { return text.to_owned() };
    // What takes it back stays: `nothing stands in the way except the number`.
    let text = WAS.as_ref().map_or_else(|| text.into(), |was| was.replace_all(text, " , $now"));
    let kept = re.replace_all(&text, |found: &regex::Captures<'_>| {
        let whole = found.get(0).map_or("", |whole| whole.as_str());
        let lower = whole.to_ascii_lowercase();
        let turn = TURNS.iter().filter_map(|turn| lower.find(turn)).min();
        format!(" , {}", turn.map_or("", |at| &whole[at..]))
    });
    kept.into_owned()
}

pub(super) fn orders(text: &str) -> bool {
    ORDER_RE.as_ref().is_some_and(|re| re.is_match(text))
}

pub(super) fn presses(text: &str) -> bool {
    PRESSING_RE.as_ref().is_some_and(|re| re.is_match(text))
}

pub(super) fn counts_defects(text: &str) -> bool {
    static DENIED: LazyLock<Option<Regex>> =
        LazyLock::new(|| english::pattern(r"(?i)\b(?:no|none|never|nothing|neither|0)\b"));
    let denied = |c: &str| DENIED.as_ref().is_some_and(|re| re.is_match(c));
    COUNTED_RE.as_ref().is_some_and(|re| re.is_match(text))
        || NAMED_RE.as_ref().is_some_and(|re| re.is_match(text)) && !denied(text)
}

/// Trouble that is named, be it counted or not: `minor gaps`.
static TROUBLE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    english::pattern(
        r"(?i)\b(?:gaps?|issues?|problems?|concerns?|doubts?|reservations?|caveats?|exceptions?|remarks?|quibbles?)\b",
    )
});

pub(super) fn names_trouble(text: &str) -> bool {
    TROUBLE.as_ref().is_some_and(|re| re.is_match(text))
}

/// `Remark without consequence`, `not a finding, only a thought`.
static WITHOUT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    english::pattern(
        r"(?xi)\b(?:no|without)\s+(?:any\s+)?(?:bearing|consequences?|effect|influence|impact)\s+(?:on|for)\s+(?:the|my|this)\b|\bnot\s+a\s+(?:finding|demand|request|condition|blocker|requirement|criticism)\b|\b(?:only|just|merely)\s+an?\s+(?:thought|aside|idea|musing)\b
            |\b(?:does|do|will)\s+not\s+(?:affect|bear\s+on|influence|change)\s+(?:the|my|this)\s+(?:verdict|approval|decision|outcome|result|score)\b|\bpurely\s+(?:cosmetic|stylistic|optional)\b|\btake\s+it\s+or\s+leave\s+it\b",
    )
});

pub(super) fn is_without_consequence(text: &str) -> bool {
    WITHOUT.as_ref().is_some_and(|re| re.is_match(text))
}

/// The rest of such a remark.
pub(super) fn with_consequence(text: &str) -> String {
    WITHOUT.as_ref().map_or_else(|| text.to_owned(), |re| re.replace_all(text, " , ").into_owned())
}

/// A sentence that says nothing else than that of the one before.
pub(super) fn waives_what_was_said(text: &str) -> bool {
    static SAID: LazyLock<Option<Regex>> = LazyLock::new(|| {
        english::pattern(
            r"(?xi)^\W*(?:but\s+)?(?:it|this|that|which|these|they|neither|none\s+of\s+(?:this|it|these))\s+(?:has|have|is|are|does|do|will|was)\b",
        )
    });
    SAID.as_ref().is_some_and(|re| re.is_match(text)) && is_without_consequence(text)
}

pub(super) fn happens(text: &str) -> bool {
    static HAPPENS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        english::pattern(
            r"(?xi)\b(?:will|does|can|may|might|could|would)\s+(?:\w+ly\s+|well\s+|indeed\s+)?(?:happen|occur)\b|\b(?:happens|occurs)\b[^.;\n]{0,20}\b(?:every|often|daily|regularly|all\s+the\s+time|in\s+practice|sometimes|frequently|once)\b
            |\b(?:none|nobody|nothing|no\s+one)\b[^.;\n]{0,30}\b(?:deals?|handles?|covers?|prevents?|stops|protects?|catch(?:es)?|guards?)\b(?:\s+(?:with|against))?\s+(?:it|this|that)\b
            |\b(?:quite|very|rather|all\s+too)\s+(?:likely|common|frequent|probable)\b",
        )
    });
    HAPPENS.as_ref().is_some_and(|re| re.is_match(text))
}

/// What nobody wants, where nothing denies it and nothing says that it is over: `with one exception`, `the limit is exceeded`.
pub(super) fn names_a_fault(plain: &str) -> bool {
    static FAULT: LazyLock<Option<Regex>> = LazyLock::new(|| {
        english::pattern(
            r"(?xi)\b(?:exceptions?|complaints?|complains?|critici[sz]e\w*|criticisms?|objections?|weakness(?:es)?|faults?|flaws?|defects?|gaps?|problems?|issues?|concerns?|mistakes?|omissions?|misgivings?|qualms?|exceed(?:s|ed)|leaves?\s+out|left\s+out|contradict(?:s|ed|ions?)|mismatch(?:es)?|discrepanc(?:y|ies))\b",
        )
    });
    static SETTLED: LazyLock<Option<Regex>> = LazyLock::new(|| {
        english::pattern(
            r"(?xi)\b(?:resolved|resolves|addressed|addresses|fixed|fixes|gone|settled|closed|answered|mended|remedied|withdr\w+|moot|over|corrected|cleared|dealt\s+with|taken\s+care|earlier|previous|previously|last\s+time|round\s+\d|first\s+(?:draft|round|version)|were|was|had|raised|looked\s+for|searched|considered|if|could|would|with\s+(?:it|them|that)|free\s+of|each|every|any|whether|solves?|tackles?|statement|page|handling|0|zero)\b|\?",
        )
    });
    FAULT.as_ref().is_some_and(|re| re.is_match(plain))
        && (is_still(plain) || !SETTLED.as_ref().is_some_and(|re| re.is_match(plain)))
}

fn is_still(plain: &str) -> bool {
    static STILL: LazyLock<Option<Regex>> =
        LazyLock::new(|| english::pattern(r"(?i)\b(?:still|again|remains?|persists?)\b"));
    STILL.as_ref().is_some_and(|re| re.is_match(plain))
}

/// `The rubric wants a test; the draft has none.`
pub(super) fn has_none(text: &str) -> bool {
    static NONE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        english::pattern(
            r"(?xi)\b(?:draft|text|abstract|work|it|plan|version|sentence|author|authors|they|one)\s+(?:has|have|had|gives?|names?|states?|offers?|contains?|mentions?|reports?|provides?|shows?)\s+(?:none|neither|nothing\s+of\s+the\s+(?:sort|kind))\b",
        )
    });
    NONE.as_ref().is_some_and(|re| re.is_match(text))
}

pub(super) fn is_unproven(text: &str) -> bool {
    UNPROVEN_RE.as_ref().is_some_and(|re| re.is_match(text))
}

/// `1 of 2 earlier items has been addressed`: fewer of what was asked for, and nothing says that the rest came later.
pub(super) fn counts_fewer_items(text: &str) -> bool {
    static ITEMS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        english::pattern(
            r"(?xi)\b\w+(?:\s+(?:out\s+)?of\s+|\s*/\s*)(?:the\s+|your\s+|my\s+|these\s+|those\s+)?\w+\s+(?:\w+\s+){0,2}(?:items?|criteri\w+|points?|requirements?|fixes|requests?|remarks?|comments?|concerns?|demands?|objections?)\b",
        )
    });
    static REST: LazyLock<Option<Regex>> = LazyLock::new(|| {
        english::pattern(r"(?i)\b(?:now|all|both|every\w*|each|rest|others?|remaining|no\s+longer)\b")
    });
    ITEMS.as_ref().is_none_or(|re| re.is_match(text))
        && !REST.as_ref().is_some_and(|re| re.is_match(text))
        && shortfall(text)
}

/// A verdict on evidence or an answer that holds only after something is done: `…:2, once it has been extended`, `…, but they have
/// to be serialised before work starts`.
pub(super) fn holds_later(text: &str) -> bool {
    static LATER: LazyLock<Option<Regex>> = LazyLock::new(|| {
        english::pattern(
            r"(?xi)\b(?:provided\s+that|once|pending|as\s+soon\s+as|assuming|on\s+condition)\b[^.;\n]{0,60}\b(?:has\s+been|have\s+been|gets?|is\s+(?:added|fixed|extended|replaced|changed)|are\s+(?:added|fixed|extended|replaced|changed)|first)\b
            |\b(?:but|however|yet)\b[^.;\n]{0,60}\b(?:must|(?:have|has|needs?|ought)\s+to)\s+(?:\w+\s+)?be\s+\w+[^.;\n]{0,40}\b(?:before|first|beforehand)\b",
        )
    });
    LATER.as_ref().is_none_or(|re| re.is_match(text))
}

/// `… asks for the test, and I do not find one`: something wanted that is not there. What a search for faults did not find is none.
pub(super) fn does_not_find(text: &str) -> bool {
    static NOT_FOUND: LazyLock<Option<Regex>> = LazyLock::new(|| {
        english::pattern(
            r"(?xi)\b(?:I|we)\s+(?:(?:do|did|can|could)(?:\s+not|n['’]t)|cannot)\s+(?:find|see|locate|spot)\s+(?:one|it|them|either|that|this)\b",
        )
    });
    let lower = text.to_ascii_lowercase();
    let for_faults = ["looked", "search", "tried", "fault", "error", "problem", "issue", "reason to"];
    NOT_FOUND.as_ref().is_none_or(|re| re.is_match(text))
        && !for_faults.iter().any(|word| lower.contains(word))
}

/// `72/100 (passing mark: 80)`: a total below the mark that is stated beside it.
fn is_below_its_mark(text: &str) -> bool {
    static MARK: LazyLock<Option<Regex>> = LazyLock::new(|| {
        english::pattern(
            r"(?xi)\b(\d{1,3})\s*(?:/|out\s+of)\s*\d{1,3}\b[^\n\d]{0,30}\b(?:pass\w*(?:\s+(?:mark|score|threshold|grade))?|threshold|minimum)\W{0,6}(?:is\s+|of\s+|at\s+)?(\d{1,3})\b",
        )
    });
    let number = |found: Option<regex::Match<'_>>| found.and_then(|m| m.as_str().parse::<u32>().ok());
    MARK.as_ref()
        .is_none_or(|re| re.captures_iter(text).any(|found| number(found.get(1)) < number(found.get(2))))
}

/// Does a text count fewer than all? None of N is a count of defects, unless what is counted is good.
pub fn shortfall(text: &str) -> bool {
    /// `3 tasks for 4 steps`
    static FOR: LazyLock<Option<Regex>> = LazyLock::new(|| {
        english::pattern(
            r"(?i)\b(\d{1,4})\s+(?:tasks?|tests?|owners?|checks?)\s+(?:for|against|cover(?:s|ing)?|serv(?:e|es|ing))\s+(?:the\s+|all\s+)?(\d{1,4})\s+(?:\w+\s+)?(?:steps?|tasks?|criteria|requirements?|parts?|cases?|functions?)\b",
        )
    });
    let fewer = |found: regex::Captures<'_>| {
        let number = |at: usize| found.get(at).and_then(|m| counted(m.as_str()));
        number(1) < number(2)
    };
    if FOR.as_ref().is_some_and(|re| re.captures_iter(text).any(fewer)) || is_below_its_mark(text) {
        return true;
    }
    let Some(parts) = &*PARTS else { return false };
    parts.captures_iter(text).any(|found| {
        let number = |at: usize| found.get(at).and_then(|m| counted(m.as_str()));
        let (Some(some), Some(all)) = (number(1), number(2)) else { return false };
        // `every one of the three`
        let before = found.get(1).map_or("", |m| &text[..m.start()]).trim_end().to_lowercase();
        // `maps onto exactly one of the three`
        let before = before.strip_suffix("exactly").map_or(before.as_str(), str::trim_end);
        // `41 of 60 words` is a measure, and the limit is not to be reached.
        let lower = text.to_lowercase();
        if all >= 20
            && ["limit", "word", "character", "maximum", "allowed", "at most"]
                .iter()
                .any(|w| lower.contains(w))
        {
            return false;
        }
        // `covered by one of the three`
        let picked = some == 1
            && [" by", " in", " to", " with", " for", " from", " as", " on", " into", " onto"]
                .iter()
                .any(|word| before.ends_with(word));
        if picked || ["every", "each", "any"].iter().any(|word| before.ends_with(word)) {
            return false;
        }
        let whole = found.get(0).map_or("", |m| m.as_str());
        // `3/4` may be a fraction or a date; it counts with a noun that is counted.
        let slash = whole.split(|c: char| c.is_alphabetic()).next().is_some_and(|head| head.contains('/'));
        let what = found.get(3).map_or("", |m| m.as_str()).to_lowercase() + " ";
        let nouns = [
            "criteri",
            "item",
            "point",
            "requirement",
            "step",
            "task",
            "test",
            "row",
            "check",
            "case",
            "met",
            "pass",
        ];
        if slash && !nouns.iter().any(|noun| what.contains(noun)) {
            return false;
        }
        let good = [
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
            "have a ",
            "has a ",
        ];
        let bad = ["cycle", "missing", "unmet", "fail", "conflict", "gap", "open", "without", "uncovered"];
        let is_bad = bad.iter().any(|word| what.contains(word));
        (some > 0 && (is_bad || some < all))
            || (some == 0 && all > 0 && !is_bad && good.iter().any(|word| what.contains(word)))
    })
}

fn counted(word: &str) -> Option<u32> {
    const WORDS: [&str; 10] = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
    let spelled = WORDS.iter().position(|w| w.eq_ignore_ascii_case(word));
    spelled.and_then(|at| u32::try_from(at + 1).ok()).or_else(|| word.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_is_a_regular_expression() {
        assert!(RULES.iter().all(|(_, regex)| regex.is_some()));
        let others = [&HARMLESS_RE, &ORDER_RE, &PRESSING_RE, &COUNTED_RE, &NAMED_RE, &UNPROVEN_RE, &PARTS];
        assert!(others.iter().all(|regex| regex.is_some()));
    }
}
