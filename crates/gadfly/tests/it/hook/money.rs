//! Nobody is paid more often than a stop needs, what was paid for is told, and agreeing costs one command.

use crate::hook::desk::{Desk, REJECT};

#[test]
fn a_critic_nobody_understands_is_tried_once_per_stop() {
    let desk = Desk::new(&["hm"; 20]);
    desk.write("a.rs", "fn a() { 1; }\n");
    let mut calls = 0;
    for stop in 0..3 {
        let said = desk.stop(stop > 0);
        assert!(!said.blocks() && said.told().contains("no critic could judge it"), "{said:?}");
        let now = desk.runs()[0]["calls"].as_u64().unwrap();
        // The session's own turn, then one try and one restatement.
        let most = if stop == 0 { 3 } else { 2 };
        assert!(now > calls && now - calls <= most, "from {calls} to {now} at stop {stop}");
        calls = now;
    }
    assert_eq!(desk.runs().len(), 1);
}

#[test]
fn a_provider_without_quota_is_left_alone_until_its_time() {
    let desk = Desk::new(&["!quota", REJECT]);
    desk.write("a.rs", "fn a() { 1; }\n");
    let first = desk.stop(false);
    assert!(!first.blocks() && first.told().contains("quota is used up until"), "{first:?}");
    let records = desk.shown(&desk.runs()[0]);
    let again = desk.stop(true);
    assert_eq!(again.told(), first.told());
    assert_eq!(desk.shown(&desk.runs()[0]), records, "it was taken up before its time");
}

#[test]
fn a_rejection_that_comes_in_at_the_last_moment_is_told() {
    let desk = Desk::new(&[]);
    // Slower than the hook waits, and quicker than it takes to end.
    desk.write("judge.toml", &format!("[[reply]]\ndelay_ms = 7000\ntext = \"{REJECT}\"\n"));
    desk.write("a.rs", "fn a() { 1; }\n");
    let said = desk.stop_with(&["--seconds", "4"], desk.told(false).as_bytes(), &[]);
    assert!(said.blocks() && said.reason().contains("1. handle the empty list"), "{said:?}");
}

#[test]
fn how_to_agree_is_said_as_it_is_typed() {
    let desk = Desk::new(&[]);
    desk.own("");
    desk.configure(
        "[agents.judge]\nkind = \"command\"\ncommand = [\"./a.sh\"]\n[agents.other]\nkind = \"command\"\n\
         command = [\"./b.sh\"]\n",
    );
    desk.commit();
    desk.write("a.rs", "fn a() { 1; }\n");
    let said = desk.stop_with(&["--critic", "other"], desk.told(false).as_bytes(), &[]);
    assert!(said.told().contains("not approved") && said.told().contains("./b.sh"), "{said:?}");
    assert!(said.told().ends_with("\n  gadfly hook stop --critic other --trust < /dev/null"), "{said:?}");
}

#[test]
fn a_pattern_that_leaves_everything_out_is_refused() {
    let desk = Desk::new(&[REJECT]);
    desk.write("a.rs", "fn a() { 1; }\n");
    let said = desk.stop_with(&["--exclude", ""], desk.told(false).as_bytes(), &[]);
    assert!(!said.blocks() && said.told().contains("empty --exclude"), "{said:?}");
    // Brackets are ordinary characters: this leaves out nothing here.
    assert!(desk.stop_with(&["--exclude", "["], desk.told(false).as_bytes(), &[]).blocks());
}
