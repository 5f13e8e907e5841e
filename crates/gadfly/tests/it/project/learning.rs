//! `learn`: suggestions of runs, a person's word on them, and patterns of several projects.

use gadfly_engine::pipeline::PipelineEvent;
use gadfly_engine::pipeline::learning::{LearnTag, Suggestion};

use crate::project::desk::Desk;

fn suggestion(tag: LearnTag, agent: &str) -> Suggestion {
    Suggestion { tag, agent: agent.into(), text: format!("{agent} did it"), action: format!("mind {agent}") }
}

fn learned(desk: &Desk) {
    let suggestions =
        vec![suggestion(LearnTag::Friction, "strategist"), suggestion(LearnTag::HighPerf, "coder")];
    desk.recorded(vec![PipelineEvent::Learned { suggestions }]);
}

#[test]
fn nothing_is_learned_until_somebody_says_so() {
    let desk = Desk::new();
    learned(&desk);
    desk.write("MEMORY.md", "[LEARN:style] mine\n");
    desk.gadfly(&["learn"])
        .is(0)
        .says("1 open [FRICTION] strategist did it --- mind strategist")
        .says("2 open [HIGH-PERF] coder did it");
    assert_eq!(desk.read("MEMORY.md"), "[LEARN:style] mine\n");
    desk.gadfly(&["learn", "--accept", "1", "--reject", "2"])
        .is(0)
        .says("MEMORY.md")
        .says("gotchas of /strategize");
    let memory = desk.read("MEMORY.md");
    assert!(memory.starts_with("[LEARN:style] mine\n"), "{memory}");
    assert!(memory.contains("[LEARN:friction] strategist did it --- mind strategist"), "{memory}");
    assert!(!memory.contains("coder"), "{memory}");
    assert!(desk.read(".gadfly/gotchas/strategize.md").contains("mind strategist"));
    desk.gadfly(&["learn"]).is(0).says("1 accepted").says("2 rejected");
    desk.gadfly(&["learn", "--reject", "1"]).is(2).says("accepted already");
}

#[test]
fn what_is_not_suggested_cannot_be_decided() {
    let desk = Desk::new();
    desk.gadfly(&["learn"]).is(2).says("there are no runs here");
    learned(&desk);
    for odd in ["0", "3", "zz"] {
        desk.gadfly(&["learn", "--accept", odd]).is(2).says(&format!("no suggestion `{odd}`"));
    }
    desk.gadfly(&["learn", "--accept", "1", "--reject", "1"]).is(2);
    assert!(!desk.path("MEMORY.md").exists());
}

#[test]
fn three_projects_make_a_pattern_unless_that_is_turned_off() {
    let desk = Desk::new();
    learned(&desk);
    let state = |desk: &Desk| desk.beside("home/.local/state/gadfly/patterns");
    desk.gadfly(&["learn", "--no-shared-state"]).is(0);
    assert!(!state(&desk).exists());
    desk.gadfly(&["learn"]).is(0).does_not_say("Seen in several");
    for _ in 0..2 {
        let other = Desk::new();
        learned(&other);
        // The same user: what the first project counted.
        let to = state(&other);
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::fs::rename(state(&desk), &to).unwrap();
        other.gadfly(&["learn"]).is(0);
        std::fs::rename(to, state(&desk)).unwrap();
    }
    desk.gadfly(&["learn"]).is(0).says("3 projects: FRICTION strategist mind strategist");
    desk.gadfly(&["learn", "--no-shared-state"]).is(0).does_not_say("Seen in several");
}
