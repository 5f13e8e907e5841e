//! Before a goal is reached its critic looks once at the whole change. It can object; it cannot be passed over in silence.

use crate::goals::desk::Desk;
use crate::goals::pursuit::{
    GOAL, RIGHT, claims, data, events, fails, go, hire, prompts, pursuit, reads, says, story, writes,
};

const OBJECTION: &str = "NO\ndone.txt:1 says `x`, which nobody asked for.";

fn claims_it() -> crate::goals::pursuit::Turn {
    reads("done.txt").then(claims("there"))
}

/// What came of each look.
fn seen(desk: &Desk) -> Vec<String> {
    let events = events(desk);
    data(&events, "change_looked_at").iter().map(|data| data["seen"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn an_objection_is_heard_by_the_worker_and_a_mended_change_is_looked_at_anew() {
    let worker = [writes("done.txt", "x\n"), claims_it(), writes("done.txt", "done\n"), claims_it()];
    let desk = pursuit(&worker, &[OBJECTION, RIGHT]);
    let said = go(&desk, &[]);
    assert_eq!((said.code, desk.state().as_str()), (0, "approved"), "{said:?}");
    assert_eq!(seen(&desk), ["objection", "nothing_wrong"]);
    let told = prompts(&events(&desk), "worker")[2].clone();
    assert!(
        told.contains("the critic objects to the change: done.txt:1 says `x`, which nobody asked for."),
        "{told}"
    );
    assert!(said.err.contains("critic:objects to the change done.txt:1 says"), "{}", said.err);
    assert!(
        story(&desk).contains("critic:looked at the whole change It writes the file"),
        "{}",
        story(&desk)
    );
}

#[test]
fn raised_again_it_is_a_persons_to_decide_and_nothing_is_delivered_until_then() {
    let worker = [writes("done.txt", "x\n"), claims_it(), claims("as it is")];
    let desk = pursuit(&worker, &[OBJECTION]);
    let said = go(&desk, &[]);
    assert_eq!((said.code, desk.state().as_str()), (4, "waiting(question)"), "{said:?}");
    assert!(!desk.path("done.txt").exists());
    assert_eq!(prompts(&events(&desk), "critic").len(), 1, "the same change is not paid for twice");
    let run = desk.run_id();
    let shown = desk.gadfly(&["show", &run]).out;
    assert!(shown.contains("done.txt:1 says `x`") && shown.contains("reject TEXT"), "{shown}");
    assert_eq!(desk.gadfly(&["answer", &run, "accept"]).code, 0);
    let said = desk.gadfly(&["resume", &run, "--unattended"]);
    assert_eq!((said.code, desk.state().as_str()), (0, "approved"), "{said:?}");
    assert!(desk.path("done.txt").exists());
    assert!(data(&events(&desk), "waived")[0]["findings"][0].as_str().unwrap().contains("done.txt:1"));
}

#[test]
fn a_critic_that_does_not_look_is_named_wherever_the_goal_is_shown() {
    for look in
        [fails("unavailable").always(), says("PROGRESSING\nIt gets on."), says("UNCLEAR\nI cannot tell.")]
    {
        let desk = pursuit(&[writes("done.txt", "x\n"), claims_it()], &[RIGHT]);
        hire(&desk, "broken", &[look], "");
        let flags: Vec<&str> = GOAL.iter().map(|flag| if *flag == "c" { "broken" } else { flag }).collect();
        let said = desk.gadfly(&flags);
        assert_eq!((said.code, seen(&desk)), (0, vec!["not_all".to_owned()]), "{said:?}");
        assert!(said.err.contains("the critic did not look at the whole change:"), "{}", said.err);
        assert!(story(&desk).contains("did not look at the whole change:"), "{}", story(&desk));
        std::fs::remove_file(desk.path("done.txt")).unwrap();
        let strict = desk.gadfly(&[&flags[..], &["--strict-critic"]].concat());
        assert_eq!((strict.code, desk.state().as_str()), (4, "waiting(question)"), "{strict:?}");
    }
}
