//! A person's verdict, where a person is the critic: asked for as approve or reject and then in words, so that nobody types
//! a form that is made for models. What it means is `reading::person`'s; here is only what is asked, and in which order.

use gadfly_engine::reading::person::{PersonVerdict, Word};
use gadfly_engine::turn::{Turn, VerdictAsked};

/// What a person who judges is asked for next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum VerdictPrompt {
    /// Approve or reject.
    Word,
    /// Why they approve: one line, perhaps none.
    Reason,
    /// What is to be fixed: lines up to one with only a dot.
    Fixes,
    /// How many points it gets.
    Points,
}

/// A verdict that is being asked for on a terminal, one thing after the other.
#[derive(Clone, Debug)]
pub struct VerdictDialog {
    asked: VerdictAsked,
    next: VerdictPrompt,
    given: PersonVerdict,
}

/// What came of an answer on a terminal.
pub enum Typed {
    /// The next thing is asked for, after this remark, if there is one.
    Next(Option<String>),
    Whole(PersonVerdict),
    /// Neither approve nor reject.
    Neither,
}

impl VerdictDialog {
    pub fn begin(asked: VerdictAsked) -> Self {
        let given = PersonVerdict::given(Word::Rejects, String::new(), None);
        Self { asked, next: VerdictPrompt::Word, given }
    }

    pub fn prompt(&self) -> String {
        match (self.next, self.asked.passes_at) {
            (VerdictPrompt::Word, _) => "Approve or reject? [a/r]".to_owned(),
            (VerdictPrompt::Reason, _) => "Why? One line, or none:".to_owned(),
            (VerdictPrompt::Fixes, _) => {
                "What has to be fixed? One fix per line; end with a line that has only a dot:".to_owned()
            }
            (VerdictPrompt::Points, Some(needed)) if self.given.approves() => {
                format!("How many points, {needed} to 100? Enter means 100:")
            }
            (VerdictPrompt::Points, needed) => {
                format!("How many points of 100? Below {}:", needed.unwrap_or_default())
            }
        }
    }

    /// Whether the answer is one line; the fixes are several.
    pub fn is_one_line(&self) -> bool {
        self.next != VerdictPrompt::Fixes
    }

    pub fn typed(&mut self, text: &str) -> Typed {
        let text = text.trim();
        match self.next {
            VerdictPrompt::Word => match text.to_lowercase().as_str() {
                "a" | "approve" | "approved" => {
                    (self.given.person, self.next) = (Word::Approves, VerdictPrompt::Reason);
                }
                "r" | "reject" | "rejected" => {
                    (self.given.person, self.next) = (Word::Rejects, VerdictPrompt::Fixes);
                }
                _ => return Typed::Neither,
            },
            VerdictPrompt::Reason | VerdictPrompt::Fixes => {
                text.clone_into(&mut self.given.text);
                if self.asked.passes_at.is_none() {
                    return self.whole();
                }
                self.next = VerdictPrompt::Points;
            }
            VerdictPrompt::Points => {
                let points = Some(text).filter(|text| !text.is_empty()).map(str::parse);
                match points.transpose() {
                    Ok(points) => self.given.points = points,
                    Err(_) => return Typed::Next(Some("type a whole number from 0 to 100".to_owned())),
                }
                return self.whole();
            }
        }
        Typed::Next(None)
    }

    /// The verdict; or it is asked for again, with the reason.
    fn whole(&mut self) -> Typed {
        match self.given.problem(self.asked) {
            None => Typed::Whole(self.given.clone()),
            Some(why) => {
                *self = Self::begin(self.asked);
                Typed::Next(Some(why))
            }
        }
    }
}

/// The reply that a verdict by button or flag is, or why it is none.
pub fn composed(turn: &Turn, verdict: &PersonVerdict) -> Result<String, String> {
    let Some(asked) = turn.verdict else {
        return Err("this turn is no person's to judge: answer as the brief says".to_owned());
    };
    verdict.problem(asked).map_or_else(|| Ok(verdict.written()), Err)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(passes_at: Option<u32>, typed: &[&str]) -> (VerdictDialog, Option<PersonVerdict>) {
        let mut asking = VerdictDialog::begin(VerdictAsked { passes_at });
        let mut whole = None;
        for text in typed {
            assert_eq!(whole, None, "asked for more than was needed: {text}");
            if let Typed::Whole(verdict) = asking.typed(text) {
                whole = Some(verdict);
            }
        }
        (asking, whole)
    }

    #[test]
    fn only_a_clear_word_decides() {
        for word in ["", "yes", "[STATUS: APPROVED]", "approve?"] {
            let mut asking = VerdictDialog::begin(VerdictAsked::default());
            assert!(matches!(asking.typed(word), Typed::Neither), "{word}");
        }
        let (_, whole) = asked(None, &["A\n", "reads well"]);
        assert_eq!(whole.unwrap().written(), r#"{"person":"approves","text":"reads well"}"#);
        let (_, whole) = asked(None, &[" reject ", "a\nb\n"]);
        assert_eq!(whole.unwrap().fixes(), ["a", "b"]);
    }

    #[test]
    fn points_are_asked_for_where_points_count_and_must_fit_the_word() {
        let (_, whole) = asked(Some(80), &["r", "name the test", "60"]);
        assert_eq!(whole.unwrap().points, Some(60));
        let (_, whole) = asked(Some(80), &["a", "", ""]);
        assert_eq!(whole.unwrap().points(), 100);
        let (asking, whole) = asked(Some(80), &["a", "", "many"]);
        assert!(whole.is_none() && asking.prompt().contains("80 to 100"), "{}", asking.prompt());
        let (asking, whole) = asked(Some(80), &["r", "name the test", "90"]);
        assert!(whole.is_none() && asking.prompt().starts_with("Approve or reject"), "{}", asking.prompt());
    }
}
