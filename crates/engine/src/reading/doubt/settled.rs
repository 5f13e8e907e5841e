//! What a sentence says that is no claim about the work as it stands: a search and what it found, a question with its answer,
//! a criterion that the next words say is met, what was so before, what would be so, a first impression. It is taken out of
//! the sentence before the rules are held against the rest. A search for something good that found nothing, and a question
//! whose answer is the wrong one, are left as what they are: a defect.

use std::sync::LazyLock;

use regex::Regex;

use super::affirm;
use super::polarity;
use crate::reading::english;

fn compiled(pattern: &str) -> Option<Regex> {
    english::pattern(&format!("(?xi){pattern}"))
}

/// What is left of a sentence.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Rest {
    /// What is to be weighed; empty if nothing is.
    Text(String),
    /// It says that something is not there.
    Lacking,
}

/// The critic looks for something, up to what it found.
static SEARCH: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compiled(
        r"\b(?:look(?:ed|ing)?|search(?:ed|ing)?|hunt(?:ed|ing)?|check(?:ed|ing)?|prob(?:ed|ing)|scann(?:ed|ing)|tr(?:ied|ying)|attempt(?:ed|ing)|sought|seeking|went)\b
          (?P<object>[^.\n]{1,160}?)
          (?P<none>\b(?:found\s+(?:none|neither|nothing|no\s+\w+)|(?:fail(?:ed)?|unable|was\s+not\s+able)\s+to(?:\s+\w+){0,3}|(?:could|did|can)(?:\s?not|n['’]t)(?:\s+(?:find|see|spot|do\s+so)(?:\s+(?:any|one|a\s+single\s+one))?)?|c[ao]me\s+up\s+(?:empty|with\s+nothing|short|blank)|there\s+(?:is|are|was|were)\s+none|none\s+(?:found|exists?|turned\s+up)|nothing\s+(?:came|turned)\s+up|without\s+success|in\s+vain|to\s+no\s+avail|no\s+luck)\b)",
    )
});

/// It begins like a search of the critic's; what it found may stand in the next sentence.
static NONE_FOUND: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compiled(
        r"^\W*(?:but\s+|and\s+)?(?:I\s+|we\s+)?(?:found\s+(?:none|neither|nothing)|(?:could|did)(?:\s?not|n['’]t)(?:\s+find\s+(?:any|one))?|came\s+up\s+(?:empty|with\s+nothing)|there\s+(?:is|are|was|were)\s+none|none\s+(?:found|exists?|turned\s+up)?|nothing)\b[\s.!]*$",
    )
});

/// A demand on any work, or on this one.
static CRITERION: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compiled(
        r"\b(?:must|shall|has\s+to|have\s+to|had\s+to|needs?\s+to|ought\s+to|should|is\s+to|are\s+to|required\s+to|may|can\s?not)\b",
    )
});
static FORBIDS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compiled(
        r"\b(?:must|shall|should|may|ought|needs?\s+to)\s+(?:not|never)\b|\b(?:mustn|shouldn)['’]t\b|\bcan\s?not\b|\bno\s+(?:more|longer)\s+than\b|\bat\s+most\b",
    )
});

/// `…, and it does`, `which it is`, `that is the case here`: the words before are so.
static SO_IT_IS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compiled(
        r"^\W*(?:and\s+|but\s+|which\s+|as\s+|so\s+|indeed\s+|here\s+)*(?:(?:it|they|both|this|that|these|all|this\s+one|each|(?:the|this)\s+(?:draft|text|work|plan|change|abstract|revision|version|document)|all\s+of\s+(?:them|it))\s+)?(?:now\s+|indeed\s+|clearly\s+|actually\s+|in\s+fact\s+)*(?:does|do|is|are|has|have|did|was|were)(?:\s+(?:\d+|so|now|indeed|both|here|true|met|fulfilled|satisfied|the\s+case(?:\s+here)?|in\s+fact|in\s+place))*(?P<end>\s*(?:$|[.,;:!()–—]))",
    )
});
static SO_IT_IS_NOT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compiled(
        r"^\W*(?:and\s+|but\s+|which\s+|as\s+|so\s+)*(?:(?:it|they|both|this|that|these|neither|this\s+one|(?:the|this)\s+(?:draft|text|work|plan|change|abstract|version))\s+)?(?:does|do|is|are|has|did|was|were)(?:\s+not|n['’]t)(?:\s+(?:so|here|the\s+case(?:\s+here)?))?\s*(?:$|[.,;:!()–—])",
    )
});

/// What was supposed is not so: `neither occurs here`, `not the case here`.
static NOT_SO: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compiled(
        r"\b(?:neither|none(?:\s+of\s+(?:these|this|that|them|which))?|nothing\s+of\s+the\s+(?:sort|kind)|no\s+such\s+\w+)\s+(?:\w+\s+)?(?:occurs?|appl(?:y|ies)|happens?|is|are|exists?|holds?|arises?|was|were)\b(?:\s+(?:so|the\s+case|here|found|present|true))*|\b(?:is|are|was|were|does|do)(?:\s+not|n['’]t)\s+(?:the\s+case|so|apply|happen|occur|true|a\s+problem|an\s+issue)\b(?:\s+here)?",
    )
});

/// The critic says that it does not count, because nobody asked for it.
static OUTSIDE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compiled(
        r"\b(?:rubric|criteria|criterion|task|brief|requirements?|assignment|instructions?)\b[^.;\n]{0,30}\b(?:requires?|asks?|demands?|calls?|wants?|mentions?|lists?|needs?|covers?|names?)\s+(?:for\s+)?(?:none|neither|nothing|no\b)
        |\b(?:rubric|criteria|criterion|task|brief|which|that)\s+(?:does|do|did)(?:\s+not|n['’]t)\s+(?:ask|require|demand|call|mention|want|cover|list|need|speak)\b
        |\b(?:outside|beyond)\s+(?:of\s+)?(?:the\s+|its\s+|this\s+|my\s+)?(?:rubric|criteria|scope|task|brief|remit|review)\b|\boff\s+the\s+rubric\b|\brows?\s+(?:does|do)(?:\s+not|n['’]t)\s+apply\b
        |\b(?:not|n['’]t|neither|never|nor)\s+(?:\w+\s+)?(?:(?:part\s+of|among|in|within|required\s+by|demanded\s+by|asked\s+(?:for\s+)?(?:by|in)|covered\s+by|mentioned\s+in|listed\s+in|a\s+matter\s+for|needed\s+(?:by|for))\s+(?:the\s+|these\s+|those\s+|my\s+|its\s+)?(?:rubric|criteria|scope|task|brief|them|list|requirements)|something\s+(?:that\s+)?the\s+(?:rubric|task|criteria|brief)|(?:a\s+)?criteri(?:on|a)\b|a\s+rubric\s+item)
        |\bno\s+(?:row|criterion|item|rule|requirement|point)\s+(?:\w+\s+)?(?:covers?|asks?|requires?|mentions?|demands?|concerns?|penali[sz]es|forbids?|speaks?)\b|\b(?:matter|question)\s+of\s+(?:taste|style|preference)\b|\bpersonal\s+(?:taste|preference)\b|\bplays?\s+no\s+(?:part|role)\b",
    )
});

/// An objection that is no longer one.
static MOOT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compiled(
        r"\bno\s+longer\s+(?:applies|apply|holds?|stands?|true|an?\s+(?:issue|problem|concern)|relevant|valid|open|missing|the\s+case)\b|\b(?:does|do)(?:\s+not|n['’]t)\s+(?:arise|apply|hold|stand)\b|\b(?:is|are)\s+(?:moot|void|withdrawn|settled|off\s+the\s+table)\b|\bI\s+withdraw\b|\b(?:is|are|have|has)\s+(?:all\s+|both\s+|now\s+)*gone\b|\b(?:has|have)\s+been\s+(?:met|settled|put\s+right|dealt\s+with|corrected|fixed|resolved|addressed|remedied|cured|closed)\b",
    )
});

/// What would be so, and is not said to be.
static WOULD: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compiled(
        r"\b(?:if|had|were|should)\b[^.;\n]{1,90}\b(?:would|were|had)\b|\bwould\s+(?:\w+\s+)?(?:be|have\s+been|count\s+as|have)\s+(?:an?\s+)?(?:\w+\s+)?(?:ground|reason|reject|fail|violat|defect|breach|problem|deduct|flag)\w*|\b(?:I|we)\s+would\s+(?:have\s+)?(?:reject|fail|flag|deduct)\w*|\bwould\s+(?:fail|break)\b",
    )
});
/// An approval that hangs on something is none of these.
static APPROVING: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compiled(
        r"\b(?:would|could|might)\s+(?:\w+\s+){0,2}?(?:approv|accept|pass\b|say\b|sign)\w*|\bverdict\b|\bstatus\b|\bthen\b",
    )
});

/// A first impression of the critic's.
static IMPRESSION: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compiled(
        r"\b(?:at|on)\s+(?:a\s+|the\s+|my\s+)?first\b|\b(?:I|we)\s+(?:had\s+|was\s+|were\s+|have\s+|first\s+|initially\s+|originally\s+|briefly\s+|almost\s+|did\s+)*(?:thought|think|believed|feared|suspected|worried|afraid|concerned|wondered|missed|overlooked|expected|considered|prepared|ready|tempted|about\s+to|counted\s+only|unsure|uncertain|in\s+doubt)\b|\b(?:initially|originally)\b",
    )
});

/// The words of a question that ask whether something bad is so.
static BAD_QUESTION: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compiled(
        r"\b(?:too|over|left|else|missing|wrong|open|lacking|unclear|vague|reject\w*|issues?|problems?|errors?|gaps?|objections?|concerns?|violat\w*|fix|change|chang\w*|exceed\w*|filler|complain\w*|add|against|defects?|fail\w*|blocking|reservations?|doubts?|conflicts?|cycles?|deduct\w*|longer)\b",
    )
});
static YES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compiled(
        r"^\W*(?:yes|yep|yeah|correct|indeed|sure|certainly|it\s+(?:does|is|has)|they\s+(?:do|are)|both|all|✅|✓|✔)",
    )
});
static NO: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compiled(r"^\W*(?:no\b|nope|none|nothing|not\b|neither|never|it\s+(?:does|is|has)(?:\s+not|n['’]t)|❌|✗)")
});
static ANSWERED: LazyLock<Option<Regex>> =
    LazyLock::new(|| compiled(r"^\W*(?:an?\b|\d|two-|one|twelve|ten|the\s+\w+(?:-\w+)?\s+test\b|[“\x22])"));
static RHETORICAL: LazyLock<Option<Regex>> =
    LazyLock::new(|| compiled(r"^\W*what\s+(?:more|else)\s+(?:could|can|would|is)\b"));

static CAME_TO_NOTHING: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compiled(
        r"\b(?:found|see|saw|spotted|noticed|came\s+up\s+with)\s+(?:none|nothing|neither|no\s+\w+)\b|\b(?:could|can|did)(?:\s?not|n['’]t)\s+(?:find|see|spot|think\s+of)\s+(?:any|one|a)\b",
    )
});
/// A bare `No.` or `None.`, which says nothing without its question.
static BARE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compiled(r"^\W*(?:no|none|nothing|nope|neither)(?:\s+(?:at\s+all|whatsoever|here))?\W*$")
});

fn is(pattern: &LazyLock<Option<Regex>>, text: &str) -> bool {
    pattern.as_ref().is_some_and(|re| re.is_match(text))
}

/// What is left of a sentence to be weighed; `before` and `after` are its neighbours.
pub(super) fn rest(sentence: &str, before: Option<&str>, after: Option<&str>) -> Rest {
    let after = after.unwrap_or_default();
    if is_question(sentence) {
        return question(sentence, after);
    }
    // What a question's `No` means was weighed with the question.
    if before.is_some_and(is_question) && is(&NO, sentence) {
        return Rest::Text(if is(&BARE, sentence) { String::new() } else { after_match(&NO, sentence) });
    }
    // `It does (12).` behind a criterion.
    if before.is_some_and(|before| is(&CRITERION, before)) && is(&SO_IT_IS, sentence) {
        return Rest::Text(after_match(&SO_IT_IS, sentence));
    }
    if is(&OUTSIDE, sentence)
        && !super::stance::breaks(super::Rule::Lenient, sentence, super::Scope::Evidence)
    {
        let kept = clauses(sentence).into_iter().filter(|part| !is(&OUTSIDE, part) && is(&CRITERION, part));
        return Rest::Text(kept.collect());
    }
    let sentence = match search(sentence, after) {
        Rest::Lacking => return Rest::Lacking,
        Rest::Text(text) => text,
    };
    if before.is_some_and(|before| is(&SEARCH_VERB, before)) && is(&NONE_FOUND, &sentence) {
        return Rest::Text(String::new());
    }
    let parts = clauses(&sentence);
    let mut kept: Vec<String> = parts.iter().map(|part| (*part).to_owned()).collect();
    let mut at = 0;
    while at < parts.len() {
        let part = parts[at];
        let later = || parts[at + 1..].iter().copied().chain([first_clause(after)]);
        // Criteria, and the next words say that they are met: `it must … and must …; it does both`.
        if is(&CRITERION, part) {
            let forbidden = is(&FORBIDS, part);
            let more = parts[at + 1..].iter().take_while(|more| !forbidden && demands_too(more)).count();
            let answer = at + 1 + more;
            let next = parts.get(answer).copied().or_else(|| (answer == parts.len()).then_some(after));
            let next = next.unwrap_or_default();
            let measured = next.contains(|c: char| c.is_ascii_digit());
            let met = if forbidden && !(measured && is(&SO_IT_IS, next)) {
                is(&SO_IT_IS_NOT, next)
            } else {
                is(&SO_IT_IS, next)
            };
            if met {
                kept[at..answer].iter_mut().for_each(String::clear);
                if let Some(next) = kept.get_mut(answer) {
                    *next = after_match(if forbidden { &SO_IT_IS_NOT } else { &SO_IT_IS }, next);
                }
                at = answer + 1;
                continue;
            }
        }
        let supposed = is(&WOULD, part) && !is(&APPROVING, &sentence);
        if (supposed || is(&IMPRESSION, part))
            && later()
                .any(|clause| is(&NOT_SO, clause) || is(&SO_IT_IS, clause) || affirm::is_positive(clause))
        {
            kept[at].clear();
            for (n, clause) in parts.iter().enumerate().skip(at + 1) {
                if is(&NOT_SO, clause) {
                    kept[n] = after_match(&NOT_SO, clause);
                } else if is(&SO_IT_IS, clause) {
                    kept[n] = after_match(&SO_IT_IS, clause);
                }
            }
            at += 1;
            continue;
        }
        if is(&MOOT, part)
            || polarity::is_mended(part)
            || was_lacking(part) && later().any(polarity::is_mended_now)
        {
            kept[at].clear();
        }
        at += 1;
    }
    Rest::Text(kept.concat())
}

/// `… and must name the test`: the criterion before goes on.
fn demands_too(clause: &str) -> bool {
    let clause = clause.trim_start_matches([' ', ',']);
    let clause = clause.strip_prefix("and ").unwrap_or(clause);
    ["must ", "should ", "shall ", "needs to ", "has to "].iter().any(|head| clause.starts_with(head))
        && !is(&FORBIDS, clause)
}

static SEARCH_VERB: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compiled(r"\b(?:looked|searched|hunted|probed|scanned|tried\s+to\s+find|went\s+looking)\b")
});

/// A lack, in the past tense only.
fn was_lacking(clause: &str) -> bool {
    static WAS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        compiled(
            r"\b(?:was|were|had|lacked|omitted|(?:it|draft|version|text|which|that)\s+did(?:\s+not|n['’]t)|used\s+to|rejected|failed|complained|asked)\b",
        )
    });
    static IS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        compiled(
            r"\b(?:is|are|has|have|does|do|lacks|needs?|must|should|remains?|still|will|can|cannot|could|would|may)\b",
        )
    });
    is(&WAS, clause) && !is(&IS, clause)
}

/// Takes a search for something bad out, with what it did not find.
fn search(sentence: &str, after: &str) -> Rest {
    let Some(re) = SEARCH.as_ref() else { return Rest::Text(sentence.to_owned()) };
    if let Some(found) = re.captures(sentence) {
        let object = found.name("object").map_or("", |m| m.as_str());
        if let Some(whole) = found.get(0) {
            let rest = &sentence[whole.end()..];
            if is_unwanted(object) {
                return Rest::Text(format!("{} , {}", subject_gone(&sentence[..whole.start()]), rest));
            }
            // `tried to read it and could not`, `looked for a number and found none`.
            let looked = object.contains(" for ") || object.trim_start().starts_with("to find");
            if looked {
                return Rest::Lacking;
            }
        }
    }
    if is(&SEARCH_VERB, sentence) && is(&NONE_FOUND, after) {
        return if is_unwanted(sentence) { Rest::Text(String::new()) } else { Rest::Lacking };
    }
    Rest::Text(sentence.to_owned())
}

/// What stands before a search is who searches.
fn subject_gone(before: &str) -> &str {
    if before.split_whitespace().count() <= 4 { "" } else { before }
}

fn is_unwanted(object: &str) -> bool {
    polarity::names_something_bad(object)
}

fn is_question(sentence: &str) -> bool {
    sentence.trim_end_matches([' ', '\n', '*', '_', '"', '”', ')']).ends_with('?')
}

fn question(question: &str, answer: &str) -> Rest {
    let bad = is(&BAD_QUESTION, question);
    let open = Rest::Text(question.to_owned());
    if is(&RHETORICAL, question) {
        return Rest::Text(String::new());
    }
    let asks_whether =
        !question.split(|c: char| !c.is_alphabetic()).find(|word| !word.is_empty()).is_some_and(|word| {
            ["how", "which", "what", "why", "when", "where", "who"].contains(&word.to_lowercase().as_str())
        });
    match (asks_whether, is(&YES, answer), is(&NO, answer)) {
        (true, _, true) if bad => Rest::Text(String::new()),
        (true, true, false) if !bad => Rest::Text(String::new()),
        (true, _, true) | (true, true, false) => Rest::Lacking,
        (false, ..) if is(&ANSWERED, answer) => Rest::Text(String::new()),
        (true, ..) if bad && is(&CAME_TO_NOTHING, answer) => Rest::Text(String::new()),
        // `Test?`: nobody answers it.
        _ if answer.trim().is_empty() || is_question(answer) => Rest::Lacking,
        _ => open,
    }
}

/// The text behind what a pattern finds.
fn after_match(pattern: &LazyLock<Option<Regex>>, text: &str) -> String {
    let end = pattern.as_ref().and_then(|re| re.find(text)).map_or(0, |found| found.end());
    format!(" {}", &text[end..])
}

fn first_clause(sentence: &str) -> &str {
    clauses(sentence).first().copied().unwrap_or_default()
}

/// The parts of a sentence that say something each. A mark between them stays at the head of the second.
pub(super) fn clauses(sentence: &str) -> Vec<&str> {
    static BREAKS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        compiled(
            r";\s|\s[—–]\s|,\s+(?:and|but|so|which|because|although|though|yet|whereas|while|however|it|they|this|that|both|neither|none|I)\b|\s(?:but|although|though|whereas|because)\s|\s\((?:it|they|this|that)\s|,\s+(?:must|should|shall)\b|\sand\s+(?:it|they|this|is|are|does|has|must|needs?|should|neither|none|I|the\s+\w+\s+(?:is|are|has|must|should|needs|was)|an?\s+[^,;.]{1,30}?\s(?:is|has|must|should|needs?))\b",
        )
    });
    let Some(re) = BREAKS.as_ref() else { return vec![sentence] };
    let (mut parts, mut at) = (Vec::new(), 0);
    for found in re.find_iter(sentence) {
        if found.start() > at {
            parts.push(&sentence[at..found.start()]);
            at = found.start();
        }
    }
    parts.push(&sentence[at..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(sentence: &str, after: &str) -> Rest {
        rest(sentence, None, Some(after).filter(|text| !text.is_empty()))
    }

    #[test]
    fn what_is_resolved_is_set_aside() {
        for (sentence, after) in [
            ("Anything missing?", "No."),
            ("Does it name the test?", "Yes, a t-test."),
            ("I looked for a reason to reject this draft and failed to find one.", ""),
            ("I looked for gaps.", "There are none."),
            ("It must name the test, and it does.", ""),
            ("A draft must state the size and must name the test; this one does both.", ""),
            ("It must not be longer than 60 words, and it is not.", ""),
            ("A draft has to give the number of mice.", "This one does (12)."),
        ] {
            let Rest::Text(text) = left(sentence, after) else { panic!("{sentence}") };
            assert!(!text.chars().any(char::is_alphanumeric), "{sentence}: {text}");
        }
    }

    #[test]
    fn what_is_not_there_stays() {
        for (sentence, after) in [
            ("Does it name the test?", "No."),
            ("Anything missing?", "Yes, the test."),
            ("I looked for a group size and found none.", ""),
        ] {
            assert_eq!(left(sentence, after), Rest::Lacking, "{sentence}");
        }
        for sentence in [
            "It must name the test, and it does not.",
            "It must state the size and must name the test; the size is stated.",
            "The test should be named; the rest is fine.",
        ] {
            assert_eq!(left(sentence, ""), Rest::Text(sentence.to_owned()), "{sentence}");
        }
    }
}
