//! The critic that watches: when it cannot be read or reached it neither interrupts nor goes unseen, three times is
//! enough, and what it costs is counted.

use crate::goals::pursuit::{
    PROGRESSING, claims, data, events, fails, go, hire, prompts, pursuit, reads, runs, says, steps, story,
    writes,
};

/// A worker with eight steps before the end.
fn busy(critic: &[&str]) -> crate::goals::desk::Desk {
    let works = runs("echo x >> log; wc -l < log").times(8);
    pursuit(&[works, writes("done.txt", "x"), reads("done.txt").then(claims("there"))], critic)
}

#[test]
fn an_unreadable_critic_interrupts_nobody_and_is_seen() {
    let desk = busy(&["Hm, hard to say.", "STUCK? PROGRESSING? Who knows.", PROGRESSING]);
    let said = go(&desk, &["--critic-interval", "2"]);
    assert_eq!(said.code, 0, "{said:?}");
    let events = events(&desk);
    let verdicts: Vec<&str> =
        data(&events, "watched").iter().map(|data| data["verdict"].as_str().unwrap()).collect();
    assert_eq!(verdicts[..3], ["error", "error", "progressing"]);
    assert!(data(&events, "critic_off").is_empty(), "two are not three");
    assert_eq!(data(&events, "nudged").len(), 0, "the worker hears nothing of it");
    assert!(said.err.contains("critic:error") && story(&desk).contains("critic:error"));
}

#[test]
fn three_unreadable_replies_switch_it_off_visibly() {
    let desk = busy(&["I cannot tell."]);
    let said = go(&desk, &["--critic-interval", "2"]);
    assert_eq!(said.code, 0, "{said:?}");
    let events = events(&desk);
    assert_eq!((data(&events, "watched").len(), data(&events, "critic_off").len()), (3, 1));
    assert_eq!(prompts(&events, "critic").len(), 3, "and it is not asked any more");
    assert!(story(&desk).contains("three replies in a row could not be read"));
    insta::assert_snapshot!("unreadable-critic", story(&desk));
}

#[test]
fn three_failures_switch_it_off_too() {
    let desk = busy(&[PROGRESSING]);
    hire(&desk, "c", &[fails("unavailable").always()], "");
    let said = go(&desk, &["--critic-interval", "2"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(data(&events(&desk), "critic_off")[0]["because"], "three calls in a row failed");
}

#[test]
fn who_insists_on_a_critic_is_asked_when_it_is_of_no_use() {
    let desk = busy(&["I cannot tell."]);
    let said = go(&desk, &["--critic-interval", "2", "--strict-critic"]);
    assert_eq!((said.code, desk.state().as_str()), (4, "waiting(question)"), "{said:?}");
    assert_eq!(steps(&events(&desk)).len(), 6, "the worker was not broken off before");
    let run = desk.run_id();
    assert_eq!(desk.gadfly(&["answer", &run, "go-on"]).code, 0);
    let said = desk.gadfly(&["resume", &run, "--unattended"]);
    assert_eq!(said.code, 4, "nor has it looked at the change: {said:?}");
    assert_eq!(desk.gadfly(&["answer", &run, "accept"]).code, 0);
    assert_eq!(desk.gadfly(&["resume", &run, "--unattended"]).code, 0);
}

#[test]
fn stuck_grows_from_a_nudge_to_a_question() {
    let desk = busy(&["STUCK\nIt only counts lines."]);
    let said = go(&desk, &["--critic-interval", "2"]);
    assert_eq!((said.code, desk.state().as_str()), (4, "waiting(question)"), "{said:?}");
    let worker = prompts(&events(&desk), "worker");
    assert_eq!(worker.len(), 6);
    assert!(worker[2].contains("CRITIC: You appear to be stuck. It only counts lines."));
    assert!(!worker[2].contains("This is the second time in a row"));
    let second = worker[4].rsplit("This is the second time in a row").next().unwrap();
    assert!(second.contains("run_command(command=echo x >> log; wc -l < log) → ok, 4 times"), "{second}");
    insta::assert_snapshot!("stuck-thrice", story(&desk));
}

#[test]
fn what_the_critic_costs_is_in_the_total() {
    let desk = busy(&[PROGRESSING]);
    let price = "price = { input = 1.0, output = 10.0 }\n";
    hire(&desk, "priced", &[says(PROGRESSING).for_tokens(1_000_000, 100_000).always()], price);
    let flags =
        ["goal", "Write the file done.txt.", "--worker", "w", "--critic", "priced", "--critic-interval", "2"];
    let said = desk.gadfly(&[&flags[..], &["--until", "test -f done.txt", "--yes", "--unattended"]].concat());
    assert_eq!(said.code, 0, "{said:?}");
    let events = events(&desk);
    let looks = (data(&events, "watched").len() + data(&events, "change_looked_at").len()) as u64;
    assert_eq!(desk.newest()["tokens"].as_u64(), Some(looks * 1_100_000));
    assert!(said.err.contains(&format!("critic ${looks_twice}.00", looks_twice = looks * 2)), "{}", said.err);
}
