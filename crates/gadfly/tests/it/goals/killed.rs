//! `kill -9` at every moment of a goal, then `resume`: the same end, the same files, no answer paid for twice; and what
//! nobody can know is asked.

use std::fs;
use std::time::Duration;

use crate::goals::desk::{Desk, alive, wait_for, wait_within};
use crate::goals::pursuit::{
    Driven, GOAL, PROGRESSING, claims, data, events, folder, prompts, pursuit, reads, runs, steps, story,
    writes,
};
use crate::goals::wire::served;

/// Resumes, and lets everything be done again that a kill left unknown, until it is over. How often it was asked.
fn resumed(desk: &Desk, at: u64) -> u32 {
    let run = desk.run_id();
    for asked in 0..3 {
        let said = desk.gadfly(&["resume", &run, "--unattended"]);
        match said.code {
            0 => return asked,
            4 => {
                let told = story(desk);
                assert!(told.contains("a question for you (unknown)"), "killed after record {at}: {told}");
                assert_eq!(desk.gadfly(&["answer", &run, "again"]).code, 0);
            }
            _ => panic!("killed after record {at}: {said:?}"),
        }
    }
    panic!("killed after record {at}: it is asked again and again");
}

#[test]
fn killed_after_every_record_it_comes_to_the_same_end_and_pays_for_no_answer_twice() {
    const UNDISTURBED: u64 = 5;
    let (mut asked, mut repeated) = (0, 0);
    let mut at = 0;
    loop {
        let (_runtime, server, desk) = served("openai", 20);
        let mut driven = Driven::start(&desk, &[&GOAL[..], &["--critic-interval", "2"]].concat());
        let reached = driven.until(&[&format!("\"seq\":{at},")]);
        driven.kill();
        if !reached {
            break;
        }
        // What was under way, and may have to be asked for again.
        let before = events(&desk);
        let is_answered =
            |id: &serde_json::Value| data(&before, "charged").iter().any(|c| c["effect"] == *id);
        let requested = data(&before, "effect_requested");
        let mut turns = requested.iter().filter(|data| data["kind"].get("turn").is_some());
        let under_way = u64::from(turns.any(|data| !is_answered(&data["id"])));
        if desk.state() != "approved" {
            asked += resumed(&desk, at);
        }
        assert_eq!(desk.state(), "approved", "killed after record {at}");
        let files: Vec<String> =
            desk.files().into_keys().map(|p| p.file_name().unwrap().to_string_lossy().into_owned()).collect();
        assert_eq!(files, [".gitignore", "a.txt", "done.txt"], "killed after record {at}");
        assert_eq!((desk.read("a.txt").as_str(), desk.read("done.txt").as_str()), ("one\n", "done\n"));
        let tools: Vec<String> = steps(&events(&desk)).into_iter().map(|(_, tool, _)| tool).collect();
        assert_eq!(tools, ["write_file", "run_command", "claim_complete"], "killed after record {at}");
        let made = server.calls().total;
        assert!(
            (UNDISTURBED..=UNDISTURBED + under_way).contains(&made),
            "killed after record {at}: {made} calls, {under_way} under way"
        );
        repeated += made - UNDISTURBED;
        at += 1;
    }
    assert!(at > 8, "only {at} records: there was little to kill");
    assert!(repeated > 0, "no kill cost a call: none hit the work");
    // A command is the one thing here that may have been done and may not be repeated unasked.
    assert!(asked <= 2, "asked {asked} times");
}

#[test]
fn a_command_whose_outcome_is_unknown_is_shown_and_asked_about() {
    for (answer, end) in [("again", "ok"), ("skip", "unknown")] {
        let mark = format!("91{}", std::process::id());
        // The first time it never ends.
        let fill = "a".repeat(2500);
        let line = format!(
            "[ -e half.txt ] || {{ echo half > half.txt; sleep {mark}; }}; : {fill}; echo x > done.txt"
        );
        let after = runs("rm -f half.txt; echo x > done.txt").then(claims("it is there"));
        let desk = pursuit(&[runs(&line), after], &[PROGRESSING]);
        let driven = Driven::start(&desk, &GOAL);
        wait_for("a run", || desk.gadfly(&["runs", "--json", "-n", "1"]).out.contains("\"run\""));
        let half = folder(&desk).join("half.txt");
        wait_for("the command is at work", || half.exists());
        driven.kill();
        wait_within("no child is left", Duration::from_secs(5), || alive(&mark).is_empty());
        assert_eq!(desk.state(), "interrupted");
        let run = desk.run_id();
        let said = desk.gadfly(&["resume", &run, "--unattended"]);
        assert_eq!((said.code, desk.state().as_str()), (4, "waiting(question)"), "{said:?}");
        assert!(half.exists(), "what it did so far is left as it is");
        let told = story(&desk);
        assert!(told.contains("a question for you (unknown)") && told.contains("half.txt"), "{told}");
        // Who decides has seen how the command ends, and what is suggested does nothing twice.
        assert!(told.contains(&format!("{fill}; echo x > done.txt\n")), "{told}");
        let suggested = said.err.lines().find(|line| line.trim_start().starts_with("answer ")).unwrap();
        assert!(suggested.contains("\"skip\""), "{suggested}");
        assert_eq!(data(&events(&desk), "outcome_unknown").len(), 1);
        assert_eq!(desk.gadfly(&["answer", &run, answer]).code, 0);
        let said = desk.gadfly(&["resume", &run, "--unattended"]);
        assert_eq!(said.code, 0, "{answer}: {said:?}");
        let events = events(&desk);
        assert_eq!(steps(&events)[0].2, end, "{answer}");
        assert!(
            answer == "again" || prompts(&events, "worker")[1].contains("Unknown: the process was stopped")
        );
        assert_eq!(desk.read("done.txt"), "x\n");
    }
}

#[test]
fn killed_in_place_the_checkout_is_gone_on_with_and_can_be_taken_back() {
    let line = "[ -e half.txt ] || { echo half > half.txt; sleep 1000; }; rm half.txt; echo x > done.txt";
    let desk = pursuit(
        &[writes("new.txt", "new\n"), runs(line), reads("done.txt").then(claims("there"))],
        &[PROGRESSING],
    );
    let (files, status) = (desk.files(), desk.git(&["status", "--porcelain"]));
    let driven = Driven::start(&desk, &[&GOAL[..], &["--in-place"]].concat());
    let is_at_work = || fs::read_to_string(desk.path("half.txt")).is_ok_and(|text| text == "half\n");
    wait_for("the command is at work", is_at_work);
    driven.kill();
    let run = desk.run_id();
    assert_eq!(desk.gadfly(&["resume", &run, "--unattended"]).code, 4);
    assert_eq!((desk.read("new.txt").as_str(), desk.read("half.txt").as_str()), ("new\n", "half\n"));
    assert_eq!(desk.gadfly(&["answer", &run, "again"]).code, 0);
    let said = desk.gadfly(&["resume", &run, "--unattended"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(fs::exists(desk.path("done.txt")).unwrap());
    let said = desk.gadfly(&["undo", &run, "--yes"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!((desk.files(), desk.git(&["status", "--porcelain"])), (files, status));
}
