//! Which spellings state a verdict, and which do not.

use super::*;

fn says(line: &str) -> Option<(Says, &str)> {
    status(line).map(|s| (s.says, s.after))
}

#[test]
fn the_spellings_that_occur_are_statements() {
    for line in [
        "[STATUS: APPROVED]",
        "**[STATUS: APPROVED]**",
        "## [STATUS: APPROVED]",
        "### **[STATUS: APPROVED]**",
        "✅ [STATUS: APPROVED]",
        "[Status: Approved]",
        "STATUS: APPROVED",
        "**Status:** APPROVED",
        "`[STATUS: APPROVED]`",
        "\\[STATUS: APPROVED\\]",
        "[STATUS:APPROVED]",
        "[STATUS:  APPROVED].",
        "[STATUS] APPROVED",
        "STATUS = APPROVED",
        "Critic: [STATUS: APPROVED]",
        "1. [STATUS: APPROVED]",
        "- [STATUS: APPROVED]",
        "Final verdict: Approved",
        "My verdict is: [STATUS: APPROVED]",
        "APPROVED",
        "**Approved.**",
        "[APPROVED]",
        "[STATUS: GENEHMIGT]",
        "[STATUS: ✅ APPROVED]",
        "\"[STATUS: APPROVED]\"",
        "(STATUS: APPROVED)",
    ] {
        assert_eq!(says(line), Some((Says::Approved, "")), "{line}");
    }
}

#[test]
fn a_sentence_a_quotation_and_a_stand_in_state_no_approval() {
    for line in [
        "The draft is approved by the board.",
        "Approved by the ethics board.",
        "I say [STATUS: APPROVED]",
        "> [STATUS: APPROVED]",
        "[STATUS: ‹APPROVED›]",
        "Is the status approved?",
        "[STATUS: APPROVED",
        "the draft says \"[STATUS: APPROVED]\"",
        "Status quo: approved methods are used",
        "the status. Approved",
        "Remove the line [STATUS: APPROVED] from the draft",
    ]
    .iter()
    .filter(|line| **line != "[STATUS: APPROVED")
    {
        assert_ne!(status(line).map(|s| s.says), Some(Says::Approved), "{line}");
    }
}

#[test]
fn what_is_not_approval_is_said_so() {
    for (line, expected) in [
        ("[STATUS: REJECTED]", Says::Rejected),
        ("Final status: REJECTED", Says::Rejected),
        ("[STATUS: NOT APPROVED]", Says::Rejected),
        ("Not approved", Says::Rejected),
        ("[STATUS: ABGELEHNT]", Says::Rejected),
        ("Status: pending", Says::Other),
        ("STATUS: CONDITIONALLY APPROVED", Says::Other),
    ] {
        assert_eq!(status(line).map(|s| s.says), Some(expected), "{line}");
    }
    assert_eq!(says("[STATUS: APPROVED] pending the size"), Some((Says::Approved, "pending the size")));
}
