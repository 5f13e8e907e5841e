//! How a reply takes its leave: thanks, wishes, offers to go on. It says nothing of the work, unless it speaks of what is still to
//! be done.

use std::sync::LazyLock;

use regex::Regex;

use crate::reading::english;

/// What a sentence of leave begins with.
const OPENS: &str = r"(?xi)^\W*(?:(?:I\s+)?hope\s+(?:this|that|it|these)\b|let\s+me\s+know\b|feel\s+free\b|(?:good|best\s+of)\s+luck\b|thank(?:s|\s+you)\b|many\s+thanks\b|(?:best|kind|warm)\s+regards\b|regards\b|cheers\b|sincerely\b|(?:I(?:['’]m|\s+am)?\s+)?look(?:ing)?\s+forward\b|congrat\w*\b|(?:great|good|nice|excellent|lovely|superb|fine)\s+(?:work|job|effort|writing)\b|well\s+done\b|keep\s+(?:it\s+up|up)\b|(?:I(?:['’]m|\s+am|['’]d\s+be|\s+would\s+be)\s+)?(?:happy|glad)\s+(?:to|writing|coding|editing|publishing)\b|(?:would|do)\s+you\s+(?:like|want|need)\b|shall\s+I\b|want\s+me\s+to\b|should\s+you\s+(?:need|have|want|wish)\b|if\s+you(?:['’]d)?\s+(?:want|like|wish|need|have|prefer|would\s+like)\b|is\s+there\s+anything\s+else\b|anything\s+else\s+(?:I|you)\b|have\s+a\s+(?:great|good|nice|lovely)\b|you\s+(?:can|may)\s+(?:now\s+)?(?:move\s+on|proceed|go\s+ahead|continue|merge|publish|submit|ship)\b|(?:please\s+)?(?:don['’]t|do\s+not)\s+hesitate\b|just\s+(?:ask|say|shout|ping)\b|end\s+of\s+(?:review|report|verdict)\b|I\s+(?:can|could)\s+also\s+(?:review|check|look|go|take|explore|help)\b)";

/// What speaks of the work, or of something to be done with it.
const WORK: &str = r"(?xi)\b(?:once|until|after|as\s+soon\s+as|when|before|unless|provided|still|yet|without|missing|lack\w*|remaining|open\s+(?:items?|points?|issues?)|add\w*|fill\w*|fix\w*|correct\w*|chang\w*|revis\w*|updat\w*|suppl\w+|includ\w*|clarif\w*|address\w*|resol\w*|nam(?:e|ed|es|ing)|stat(?:e|ed|es|ing)|specif\w+|improv\w*|rewrit\w*|reword\w*|problems?|issues?|concerns?|defects?|corrections?|sample|number|numbers|size|test|tests|figure|next\s+(?:version|draft|round|revision|iteration)|(?:final|corrected|improved)\s+(?:version|draft))\b";

static OPENS_RE: LazyLock<Option<Regex>> = LazyLock::new(|| english::pattern(OPENS));
static WORK_RE: LazyLock<Option<Regex>> = LazyLock::new(|| english::pattern(WORK));

/// Does a sentence only take leave? Nobody needs many words for that.
pub(super) fn is_leave(sentence: &str) -> bool {
    sentence.split_whitespace().count() <= 24
        && OPENS_RE.as_ref().is_some_and(|re| re.is_match(sentence))
        && !WORK_RE.as_ref().is_some_and(|re| re.is_match(&without_offer(sentence)))
}

/// `Happy to help with the next draft`, `if you need any clarification`: an offer, whatever it names.
fn without_offer(sentence: &str) -> std::borrow::Cow<'_, str> {
    static HELP: LazyLock<Option<Regex>> = LazyLock::new(|| {
        english::pattern(
            r"(?xi)\b(?:to\s+help|help\s+you)\s+with\s+(?:the|your|a|another)\s+next\s+(?:draft|version|round|one|section)\b
            |\byou(?:['’]d)?\s+(?:would\s+|have\s+|need\s+|want\s+|like\s+)+(?:any\s+|more\s+|further\s+|some\s+|a\s+)*(?:clarifications?|explanations?|details?|information|context|questions?|elaboration)\b
            |\bif\s+(?:the|your)\s+(?:plan|draft|text|work|code|document|paper)\s+(?:ever\s+)?changes\b
            |\bI\s+(?:can|could)\s+(?:also\s+)?(?:look\s+at|review|check|go\s+over|help\s+with|read)\s+(?:the|your|a|another)\s+(?:\w+\s+){1,4}(?:next|too|as\s+well|afterwards)\b",
        )
    });
    HELP.as_ref().map_or(sentence.into(), |re| re.replace_all(sentence, " "))
}

/// Does it begin like one and speak of something to be done all the same?
pub(super) fn is_asked_in_leave(sentence: &str) -> bool {
    static OFFERS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        english::pattern(
            r"(?xi)^\W*(?:let\s+me\s+know|feel\s+free|(?:good|best\s+of)\s+luck|(?:I\s+)?look(?:ing)?\s+forward|(?:would|do)\s+you\s+(?:like|want)|(?:I(?:['’]m|\s+am)\s+)?happy\s+to)\b",
        )
    });
    OFFERS.as_ref().is_some_and(|re| re.is_match(sentence))
        && WORK_RE.as_ref().is_none_or(|re| re.is_match(&without_offer(sentence)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taking_leave_says_nothing_of_the_work() {
        for text in [
            "Hope this helps!",
            "Let me know if you would like me to look at anything else.",
            "I look forward to seeing it published.",
            "Would you like me to review another section?",
            "Happy to help with the next draft whenever you're ready!",
            "Want me to polish the wording too?",
            "Let me know if you need any clarification on the deductions.",
            "Happy to run another pass if the plan changes.",
            "If you'd like, I can also look at the figure legends next.",
            "Best regards,",
        ] {
            assert!(is_leave(text), "{text}");
        }
        for text in [
            "Let me know when the sample size has been added.",
            "I look forward to the version with the number filled in.",
            "Happy to re-review once the test is named.",
            "Would you like me to add the sample size for you?",
            "Let me know if you have questions about the sample size that is missing.",
            "The draft reads well.",
        ] {
            assert!(!is_leave(text), "{text}");
        }
    }
}
