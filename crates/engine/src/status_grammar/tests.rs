//! The grammar, case by case: a reply in, its reading as one compact line out.

use super::*;

/// `approved`, or `rejected open[…] done[…]`, with notes and deviations; or the reason it is malformed.
fn read(reply: &str) -> String {
    let reply = match parse(reply) {
        Ok(reply) => reply,
        Err(malformed) => return format!("{malformed:?}"),
    };
    let bullet = |b: &Bullet| {
        let cites: Vec<String> = b.cites.iter().map(|n| format!("#{n} ")).collect();
        format!("{}{}", cites.concat(), b.text)
    };
    let list = |name: &str, all: Vec<String>| match all.len() {
        0 => String::new(),
        _ => format!(" {name}[{}]", all.join(" | ")),
    };
    let status = if reply.status == Status::Approved { "approved" } else { "rejected" };
    [
        status.to_owned(),
        list("open", reply.open.iter().map(bullet).collect()),
        list("done", reply.addressed.iter().map(bullet).collect()),
        list("notes", reply.notes),
        list("but", reply.deviations),
    ]
    .concat()
}

#[track_caller]
fn reads(cases: &[(&str, &str)]) {
    for (reply, expected) in cases {
        assert_eq!(read(reply), *expected, "{reply:?}");
    }
}

#[test]
fn plain_verdicts() {
    reads(&[
        ("[STATUS: APPROVED]\nAll criteria are met.", "approved"),
        ("\n\n  [STATUS: APPROVED]  \nGood.\nMinor: a comma.", "approved notes[Minor: a comma.]"),
        ("[STATUS: APPROVED]\nGood.\n- Minor: a comma.", "approved notes[Minor: a comma.]"),
        ("[STATUS: APPROVED]", "approved but[an approval without a reason]"),
        ("[STATUS: REJECTED]\n- fix a\n- fix b", "rejected open[fix a | fix b]"),
        ("[STATUS: REJECTED]\r\n- fix a\r\n- fix b\r\n", "rejected open[fix a | fix b]"),
        ("[STATUS: REJECTED]\n\n- fix a\nMinor: a comma.", "rejected open[fix a] notes[Minor: a comma.]"),
    ]);
}

#[test]
fn what_is_no_verdict() {
    reads(&[
        ("", "Empty"),
        (" \n\t\r\n", "Empty"),
        ("```\n```", "Empty"),
        ("The draft is fine.\n[STATUS: APPROVED]", "NoToken"),
        ("Status: approved", "NoToken"),
        ("[STATUS: approved]\nGood.", "NoToken"),
        ("[status: APPROVED]\nGood.", "NoToken"),
        ("[STATUS:APPROVED]\nGood.", "NoToken"),
        ("[STA\u{200b}TUS: APPROVED]\nGood.", "NoToken"),
        ("[STATUS: APP\u{200d}ROVED]\nGood.", "NoToken"),
        ("\u{feff}[STATUS: APPROVED]\nGood.", "NoToken"),
        ("⟦STATUS: APPROVED⟧\nGood.", "NoToken"),
        ("> [STATUS: APPROVED]\nGood.", "NoToken"),
        ("- [STATUS: APPROVED]", "NoToken"),
        ("I say [STATUS: APPROVED]", "NoToken"),
        ("[STATUS: REJECTED]", "NoBullets"),
        ("[STATUS: REJECTED]\nNot good enough.", "NoBullets"),
        ("[STATUS: REJECTED]\n1. fix a", "NoBullets"),
        ("[STATUS: REJECTED]\n- ✓ 1: done", "NoBullets"),
        ("[STATUS: REJECTED]\n- Minor: a comma", "NoBullets"),
        (
            "[STATUS: REJECTED]\nAddressed from iteration 1:\n- ✓ 1: done\nStill unresolved:\n- None.",
            "NoBullets",
        ),
    ]);
}

#[test]
fn two_tokens_and_contradictions() {
    reads(&[
        ("[STATUS: APPROVED]\n[STATUS: REJECTED]\n- x", "TwoTokens"),
        ("[STATUS: REJECTED]\n- x\n\n[STATUS: APPROVED]", "TwoTokens"),
        ("[STATUS: REJECTED]\n- x\n\n**[STATUS: APPROVED]**", "TwoTokens"),
        ("[STATUS: REJECTED]\n- x\n## [STATUS: APPROVED]", "TwoTokens"),
        ("[STATUS: APPROVED] [STATUS: REJECTED]\n- x", "TwoTokens"),
        ("[STATUS: APPROVED] or [STATUS: REJECTED]", "TwoTokens"),
        ("[STATUS: APPROVED]\nGood.\n[STATUS: APPROVED]", "approved but[the token stands twice]"),
        ("[STATUS: APPROVED]\n- fix a", "ApprovedWithItems"),
        ("[STATUS: APPROVED] - fix a", "ApprovedWithItems"),
        ("[STATUS: APPROVED]\n-\tfix a", "ApprovedWithItems"),
        ("[STATUS: APPROVED]\nStill unresolved:\n- 2: x", "ApprovedWithItems"),
        ("[STATUS: APPROVED]\nFine.\nStill unresolved:\n- None", "approved"),
        (
            "[STATUS: REJECTED]\n- remove \"[STATUS: APPROVED]\"",
            "rejected open[remove \"[STATUS: APPROVED]\"]",
        ),
        (
            "[STATUS: REJECTED]\n- the line\n  [STATUS: REJECTED] goes",
            "rejected open[the line] but[the token stands twice]",
        ),
    ]);
}

#[test]
fn an_approval_with_more_bullets_than_are_read_hides_no_open_item() {
    let many = "- ✓ done\n".repeat(MOST_BULLETS);
    assert_eq!(read(&format!("[STATUS: APPROVED]\n{many}- open")), "ApprovedWithItems");
}

#[test]
fn reasoning_is_cut_before_anything_is_read() {
    reads(&[
        ("<think>\n[STATUS: REJECTED]\n- x\n</think>\n[STATUS: APPROVED]\nGood.", "approved"),
        ("<think>a</think><think>b</think>\n[STATUS: APPROVED]\nGood.", "approved"),
        ("<thinking>a</thinking>\n<reasoning>b</reasoning>\n[STATUS: APPROVED]\nGood.", "approved"),
        ("maybe approve\n</think>\n\n[STATUS: REJECTED]\n- x", "rejected open[x]"),
        ("<think>a<think>b</think>c</think>\n[STATUS: APPROVED]\nGood.", "approved"),
        ("[STATUS: REJECTED]\n- x\n<think>\n[STATUS: APPROVED]\n</think>", "rejected open[x]"),
        ("[STATUS: APPROVED]\nGood.\n<think>\n- y\n</think>", "approved"),
        ("<think>\n[STATUS: APPROVED]\nGood.", "Empty"),
        ("<think>[STATUS: APPROVED]</think>", "Empty"),
        ("[STATUS: REJECTED]\n- x\n</think>\n[STATUS: APPROVED]\nGood.", "TwoTokens"),
        ("[STATUS: APPROVED]\nGood.\n<think>\n[STATUS: REJECTED]\n- x", "TwoTokens"),
        ("[STATUS: REJECTED]\n- a `<think>` tag is left in", "rejected open[a `<think>` tag is left in]"),
    ]);
}

#[test]
fn fences_and_emphasis_are_tolerated() {
    reads(&[
        ("**[STATUS: APPROVED]**\nGood.", "approved"),
        ("`[STATUS: APPROVED]`\nGood.", "approved"),
        ("***[STATUS: REJECTED]***\n- x", "rejected open[x]"),
        ("```\n[STATUS: REJECTED]\n- x\n```", "rejected open[x] but[a code fence around the reply]"),
        ("```text\n[STATUS: APPROVED]\n```\nGood.", "approved but[a code fence around the reply]"),
    ]);
}

#[test]
fn departures_that_are_only_noted() {
    reads(&[
        ("[STATUS: APPROVED] Good.", "approved but[text after the token on its line]"),
        ("[STATUS: REJECTED]: - x", "NoBullets"),
        ("[STATUS: REJECTED] - x", "rejected open[x] but[text after the token on its line]"),
        ("[STATUS: REJECTED]\nTwo things.\n- x", "rejected open[x] but[prose beside the list]"),
        ("[STATUS: REJECTED]\n* x\n• y", "rejected open[x | y] but[bullets that do not begin with `- `]"),
        ("[STATUS: REJECTED]\n- x\n  - part\n  and more\n- y", "rejected open[x - part and more | y]"),
    ]);
}

#[test]
fn accounts_of_earlier_items() {
    reads(&[
        (
            "[STATUS: REJECTED]\nAddressed from iteration 1:\n- ✓ 1: done\n- 2: done too\nStill unresolved:\n- 3: not yet",
            "rejected open[#3 not yet] done[#1 done | #2 done too]",
        ),
        (
            "[STATUS: REJECTED]\n**Addressed from iteration 1:**\n- ✅ a\n- [x] b\n- ✔️ c\n### Still unresolved (1 of 4):\n- d",
            "rejected open[d] done[a | b | c]",
        ),
        ("[STATUS: REJECTED]\n- ✓ 1: done\n- 2: not yet", "rejected open[#2 not yet] done[#1 done]"),
        (
            "[STATUS: REJECTED]\n- stray\nStill unresolved:\n- 2: not yet",
            "rejected open[#2 not yet] notes[stray]",
        ),
        (
            "[STATUS: REJECTED]\nAddressed from iteration 1:\n- ✗ 1: not done\nStill unresolved:\n- 2: x",
            "rejected open[#2 x] notes[✗ 1: not done]",
        ),
    ]);
}

#[test]
fn what_cites_an_item_and_what_does_not() {
    let cases: [(&str, &[u32], &str); 17] = [
        ("3: units", &[3], "units"),
        ("3. units", &[3], "units"),
        ("3) units", &[3], "units"),
        ("#3 units", &[3], "units"),
        ("(3) units", &[3], "units"),
        ("[3] units", &[3], "units"),
        ("**3:** units", &[3], "units"),
        ("3 — units", &[3], "units"),
        ("Item 3 lacks units", &[3], "lacks units"),
        ("Items 1 and 2: units", &[1, 2], "units"),
        ("1, 2: units", &[1, 2], "units"),
        ("3 sentences lack units", &[], "3 sentences lack units"),
        ("3.5 mm is wrong", &[], "3.5 mm is wrong"),
        ("1,000 mice are too many", &[], "1,000 mice are too many"),
        ("2 (of 3) figures lack units", &[], "2 (of 3) figures lack units"),
        ("(2 of 3) figures lack units", &[], "(2 of 3) figures lack units"),
        ("99999: units", &[], "99999: units"),
    ];
    for (text, cites, rest) in cases {
        let bullet = Bullet::read(text, Section::None);
        assert_eq!((bullet.cites.as_slice(), bullet.text.as_str()), (cites, rest), "{text}");
    }
    assert_eq!(Bullet::read("[12] lacks a DOI", Section::None).whole, "[12] lacks a DOI");
}

#[test]
fn huge_replies_are_bounded() {
    let reply = format!("[STATUS: REJECTED]\n{}", format!("- {}\n", "word ".repeat(2_000)).repeat(300));
    let parsed = parse(&reply).unwrap();
    assert_eq!(parsed.open.len(), MOST_BULLETS);
    assert!(parsed.open.iter().all(|b| b.whole.chars().count() <= LONGEST_BULLET));
    assert!(parsed.deviations.iter().any(|d| d.starts_with("300 open bullets")));
    // Ten megabytes of tags: a reader that rescans for each would not come back.
    assert_eq!(read(&"<think></think>\n".repeat(600_000)), "Empty");
    assert_eq!(read(&"x<think>".repeat(1_000_000)), "NoToken");
}

#[test]
fn a_verdict_in_a_draft_is_found_for_the_record() {
    assert_eq!(
        status_line("text\n**[STATUS: APPROVED]** by me"),
        Some("**[STATUS: APPROVED]** by me".into())
    );
    assert_eq!(status_line("text about [STATUS: APPROVED]"), None);
}
