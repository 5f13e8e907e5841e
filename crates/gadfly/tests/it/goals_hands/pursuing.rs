//! What becomes of such goals, for every kind of worker.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::Stdio;

use crate::goals_hands::desk::{Desk, Said};
use crate::goals_hands::worker::{Does, GOAL, KINDS, Kind, Pursued};

const STUCK: &str = "CRITIC: You appear to be stuck";
const ANY: &str = "";

/// A project with the critic `c` that says this, and then that all is well.
fn watched(verdict: &str) -> Desk {
    let desk = Desk::repository(&[("a.txt", "one\n")]);
    desk.saying("c", &[verdict, "PROGRESSING\nfine"]);
    desk
}

fn goes_on_in_its_conversation(kind: &Kind, pursued: &Pursued) {
    let name = kind.name;
    let [first, second] = pursued.turns()[..] else {
        panic!("{name}: {:?} {:?}", pursued.turns(), pursued.said)
    };
    assert_eq!(first, None, "{name}");
    assert!(second.is_some_and(|session| session.starts_with(kind.session)), "{name}: {second:?}");
    let claims = pursued.claims();
    let [("worker", reason)] = claims[..] else { panic!("{name}: {claims:?}") };
    // The program says itself which conversation it was started with.
    assert!(reason.contains(&format!("session={} ", kind.session)), "{name}: {reason}");
}

#[test]
fn stuck_breaks_it_off_and_it_goes_on_in_its_conversation_with_the_critics_word() {
    for kind in &KINDS {
        let desk = watched("STUCK\nthe same again");
        kind.hire(
            &desk,
            &[
                (STUCK, &[Does::Write("done.txt"), Does::Claim]),
                (ANY, &[Does::Step("make a"), Does::Step("make b"), Does::Hang]),
            ],
        );
        let pursued = Pursued::run(&desk);
        let name = kind.name;
        assert!(pursued.is_reached(), "{name}: {:?}", pursued.said);
        let steps = pursued.steps();
        assert_eq!(steps.iter().map(|(n, _)| *n).collect::<Vec<_>>(), [1, 2, 3], "{name}: {steps:?}");
        assert!(steps[0].1.ends_with(": make a") && steps[1].1.ends_with(": make b"), "{name}: {steps:?}");
        assert_eq!(pursued.nudges(), ["stuck"], "{name}");
        goes_on_in_its_conversation(kind, &pursued);
        assert_eq!(desk.read("done.txt"), "done", "{name}: what was verified is with the user");
    }
}

#[test]
fn one_that_keeps_no_conversation_begins_anew_and_is_told_what_it_did() {
    for kind in &KINDS {
        let desk = watched("STUCK\nthe same again");
        kind.hire(
            &desk,
            &[
                ("2] w(", &[Does::Write("done.txt"), Does::Claim]),
                (ANY, &[Does::Step("make a"), Does::Step("make b"), Does::Hang]),
            ],
        );
        desk.configure("continue = false\n");
        let pursued = Pursued::run(&desk);
        let name = kind.name;
        assert!(pursued.is_reached(), "{name}: {:?}", pursued.said);
        assert_eq!(pursued.turns(), [None, None], "{name}");
        let said = if name == "acp" { "session=session-1 " } else { "session=none " };
        assert!(pursued.claims()[0].1.contains(said), "{name}: {:?}", pursued.claims());
    }
}

#[test]
fn achieved_ends_it_and_the_goal_is_verified_before_it_is_started_again() {
    for kind in &KINDS {
        let desk = watched("ACHIEVED\nthe file must be there");
        kind.hire(
            &desk,
            &[
                ("Verification failed", &[Does::Write("done.txt"), Does::Claim]),
                (ANY, &[Does::Step("make a"), Does::Step("make b"), Does::Hang]),
            ],
        );
        let pursued = Pursued::run(&desk);
        let name = kind.name;
        assert!(pursued.is_reached(), "{name}: {:?}", pursued.said);
        let told = ["worker", "claimed", "verification_failed", "goal_verified"];
        let order: Vec<&str> = pursued.order().into_iter().filter(|event| told.contains(event)).collect();
        let expected = ["worker", "claimed", "verification_failed", "worker", "claimed", "goal_verified"];
        assert_eq!(order, expected, "{name}");
        assert_eq!(pursued.claims()[0].0, "critic", "{name}");
        assert!(pursued.turns()[1].is_some(), "{name}: it goes on in its conversation");
    }
    // And if it holds, it is not started again.
    let desk = watched("ACHIEVED\nit is there");
    KINDS[0].hire(&desk, &[(ANY, &[Does::Write("done.txt"), Does::Step("make a"), Does::Hang])]);
    let pursued = Pursued::run(&desk);
    assert!(pursued.is_reached(), "{:?}", pursued.said);
    assert_eq!((pursued.turns().len(), pursued.claims()[0].0), (1, "critic"));
}

#[test]
fn a_persons_word_from_another_process_reaches_it() {
    for kind in &KINDS {
        let desk = watched("PROGRESSING\nfine");
        kind.hire(
            &desk,
            &[
                ("PERSON: take the other way", &[Does::Write("done.txt"), Does::Claim]),
                (ANY, &[Does::Step("make a"), Does::Hang]),
            ],
        );
        let mut command = desk.command(&GOAL);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut text = String::new();
        while !text.contains("\"stepped\"") {
            assert_ne!(
                out.read_line(&mut text).unwrap(),
                0,
                "{}: it ended without a step: {text}",
                kind.name
            );
        }
        let steered = desk.gadfly(&["steer", &desk.run_id(), "take the other way"]);
        assert_eq!(steered.code, 0, "{}: {steered:?}", kind.name);
        out.read_to_string(&mut text).unwrap();
        let mut err = String::new();
        child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        let code = child.wait().unwrap().code().unwrap_or(-1);
        let pursued = Pursued::read(Said { code, out: text, err });
        assert!(pursued.is_reached(), "{}: {:?}", kind.name, pursued.said);
        goes_on_in_its_conversation(kind, &pursued);
    }
}

#[test]
fn a_claim_at_the_end_of_its_reply_is_verified_and_a_reply_without_one_is_asked_to_go_on() {
    for kind in &KINDS {
        let desk = watched("PROGRESSING\nfine");
        kind.hire(
            &desk,
            &[
                ("Verification failed", &[Does::Write("done.txt"), Does::Claim]),
                ("ended your reply without saying", &[Does::Step("make b"), Does::Claim]),
                (ANY, &[Does::Step("make a"), Does::Say("I made a.")]),
            ],
        );
        let pursued = Pursued::run(&desk);
        let name = kind.name;
        assert!(pursued.is_reached(), "{name}: {:?}", pursued.said);
        assert_eq!(pursued.nudges()[0], "go_on", "{name}");
        let told = ["worker", "claimed", "verification_failed", "goal_verified"];
        let order: Vec<&str> = pursued.order().into_iter().filter(|event| told.contains(event)).collect();
        let expected =
            ["worker", "worker", "claimed", "verification_failed", "worker", "claimed", "goal_verified"];
        assert_eq!(order, expected, "{name}");
        assert_eq!(pursued.steps().len(), 3, "{name}: {:?}", pursued.steps());
    }
}

#[test]
fn the_critic_and_people_see_how_its_steps_really_ended() {
    for kind in KINDS.iter().filter(|kind| kind.name != "acp") {
        let name = kind.name;
        let desk = Desk::repository(&[("a.txt", "one\n")]);
        // What the critic was shown is what it says.
        let shown = desk.beside("shown");
        std::fs::create_dir(&shown).unwrap();
        let critic = format!("cat >>{}/prompt; echo PROGRESSING; echo fine", shown.display());
        desk.configure(&format!(
            "[agents.c]\nkind = \"command\"\ncommand = [\"sh\", \"-c\", {}]\nstate = [{}]\n",
            serde_json::json!(critic),
            serde_json::json!(shown)
        ));
        let long = format!("echo {} >/dev/null; exit 3", "a".repeat(150));
        kind.hire(
            &desk,
            &[(ANY, &[Does::Run(&long), Does::Run("true"), Does::Write("done.txt"), Does::Claim])],
        );
        let pursued = Pursued::run(&desk);
        assert!(pursued.is_reached(), "{name}: {:?}", pursued.said);
        let ends = pursued.ends();
        assert_eq!(ends[0].0, "err", "{name}: {ends:?}");
        assert!(ends[0].1.to_lowercase().contains("exit code 3"), "{name}: {ends:?}");
        assert_eq!(ends[1].0, "ok", "{name}: {ends:?}");
        let prompt = std::fs::read_to_string(shown.join("prompt")).unwrap();
        let line = prompt.lines().find(|line| line.starts_with("[1] w(")).unwrap_or_default();
        assert!(line.contains("; exit 3) → err: "), "{name}: {prompt}");
        let said = desk.gadfly(&["show", &desk.run_id()]).out;
        assert!(said.contains("; exit 3) → err: "), "{name}: {said}");
    }
}
