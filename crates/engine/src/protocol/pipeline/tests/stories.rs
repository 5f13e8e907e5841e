//! What a pipeline does in each situation, told as a story.

use super::stage::{Asked, Stage, atom, command, diligent, entry, gives, path, scored};
use crate::judging::Seat;
use crate::pipeline::gate::GateCommand;
use crate::pipeline::registry::{Check, Need, PairWeight, Product};
use crate::pipeline::{Gate, Pattern, RegistryEntry};
use crate::protocol::pipeline::settings::{Commit, Planning};
use crate::protocol::score::files::WorkerOutput;
use crate::question::About;
use crate::turn::Role;

fn needs(all: Vec<Need>) -> Need {
    Need::All(all)
}

/// strategist → coder → writer, each needing the critic of the one before.
fn three() -> Vec<RegistryEntry> {
    vec![
        entry("strategist", needs(vec![]), 40),
        entry("coder", needs(vec![path("out/strategist.md"), scored("strategist-critic")]), 30),
        entry("writer", needs(vec![scored("coder-critic")]), 30),
    ]
}

#[test]
fn one_after_the_other_as_their_conditions_come_to_hold() {
    let stage = Stage::of(three()).plays();
    insta::assert_snapshot!(stage.story(), @r"
        pipeline for x: 3 agents, gate `commit`
        overall round 1 of 5
        dispatched strategist
        delivered out/strategist.md
        strategist scored 92 by strategist-critic
        dispatched coder
        delivered out/coder.md
        coder scored 92 by coder-critic
        dispatched writer
        delivered out/writer.md
        writer scored 92 by writer-critic
        gate commit open: 92.00
        → approved
        ");
    assert_eq!(
        stage.checkout.keys().collect::<Vec<_>>(),
        ["out/coder.md", "out/strategist.md", "out/writer.md"]
    );
}

#[test]
fn a_project_can_be_entered_anywhere_and_what_is_there_is_judged_first() {
    let mut stage = Stage::of(three());
    stage.checkout.insert("out/strategist.md".into(), "a memo written by hand\n".into());
    let stage = stage.plays();
    assert_eq!(stage.briefs("strategist", Role::Worker).len(), 0, "nobody has to write it again");
    assert_eq!(stage.checkout["out/strategist.md"], "a memo written by hand\n");
    assert_eq!(stage.label(), "approved", "{}", stage.story());
}

#[test]
fn too_few_points_go_back_to_the_worker_and_the_critic_is_told_no_round() {
    let stage = Stage::of(vec![entry("coder", needs(vec![]), 10)]).with_agents(|asked: Asked<'_>| {
        if asked.role == Role::Critic { gives(if asked.nth == 0 { 60 } else { 91 }) } else { diligent(asked) }
    });
    let stage = stage.plays();
    insta::assert_snapshot!(stage.story(), @r"
        pipeline for x: 1 agents, gate `commit`
        overall round 1 of 5
        dispatched coder
        delivered out/coder.md
        coder scored 91 by coder-critic
        gate commit open: 91.00
        → approved
        ");
    assert!(stage.briefs("coder", Role::Worker)[1].contains("worth 40"));
    for brief in stage.briefs("coder-critic", Role::Critic) {
        assert!(!brief.contains("Round") && !brief.contains("worth 40"), "{brief}");
    }
}

#[test]
fn output_that_is_incomplete_is_sent_back_twice_and_never_judged() {
    let mut coder = entry("coder", needs(vec![]), 10);
    coder.produces[0].sections = vec!["Estimand".into(), "Threats".into()];
    let lazy = |asked: Asked<'_>| {
        if asked.role == Role::Worker {
            asked.folder.insert("out/coder.md".into(), "# 1. Estimand\nx\n```\n# Threats\n```\n".into());
        }
        gives(100)
    };
    let mut stage = Stage::of(vec![coder]).with_agents(lazy);
    stage.settings.overall = 1;
    let stage = stage.plays();
    insta::assert_snapshot!(stage.story(), @r#"
        pipeline for x: 1 agents, gate `commit`
        overall round 1 of 1
        dispatched coder
        Agent [coder] completed but output is incomplete: missing section "Threats" in out/coder.md
        Agent [coder] completed but output is incomplete: missing section "Threats" in out/coder.md
        Agent [coder] completed but output is incomplete: missing section "Threats" in out/coder.md
        coder blocked: Agent [coder] completed but output is incomplete: missing section "Threats" in out/coder.md
        gate commit closed: no score
        → halted(cap)
        "#);
    assert_eq!(stage.briefs("coder-critic", Role::Critic).len(), 0);
    assert_eq!(stage.briefs("coder", Role::Worker).len(), 3);
    assert!(stage.checkout.is_empty(), "nothing of it is delivered");
}

#[test]
fn who_writes_outside_its_entry_is_asked_about_and_only_what_it_names_is_delivered() {
    let strays = |asked: Asked<'_>| {
        if asked.role == Role::Worker {
            asked.folder.insert("secrets.txt".into(), "x".into());
        }
        diligent(asked)
    };
    for (answer, files) in [("no", 1), ("yes", 2)] {
        let stage = Stage::of(vec![entry("coder", needs(vec![]), 10)]).with_agents(strays);
        let stage =
            stage.with_person(move |q| (q.about == About::Outside).then(|| answer.to_owned())).plays();
        assert_eq!(stage.checkout.len(), files, "{answer}: {}", stage.story());
        assert_eq!(stage.label(), "approved");
    }
    let mut allowed = Stage::of(vec![entry("coder", needs(vec![]), 10)]).with_agents(strays);
    allowed.settings.also = vec![Pattern::new("*.txt")];
    assert_eq!(allowed.plays().checkout.len(), 2);
}

#[test]
fn a_red_command_is_mended_and_what_changed_is_judged_again() {
    let mends = |asked: Asked<'_>| {
        if asked.role == Role::Worker && asked.brief.contains("Mode: Fix") {
            asked.folder.insert("out/coder.md".into(), "mended\n".into());
            return "Mended.".into();
        }
        diligent(asked)
    };
    let mut stage = Stage::of(vec![entry("coder", needs(vec![]), 10)]).with_agents(mends);
    stage.pair("coder").verify = vec![command("make")];
    stage.commands = std::rc::Rc::new(|_, tree| i32::from(tree["out/coder.md"] != "mended\n"));
    let stage = stage.plays();
    insta::assert_snapshot!(stage.story(), @r"
        pipeline for x: 1 agents, gate `commit`
        overall round 1 of 5
        dispatched coder
        verify `make` red
        verify `make` green
        delivered out/coder.md
        coder scored 92 by coder-critic
        gate commit open: 92.00
        → approved
        ");
    assert_eq!(stage.briefs("coder-critic", Role::Critic).len(), 2, "the mended bytes were judged, too");
}

#[test]
fn still_red_after_two_attempts_its_score_is_void() {
    let mut stage = Stage::of(vec![entry("coder", needs(vec![]), 10)]);
    stage.pair("coder").verify = vec![command("make")];
    stage.commands = std::rc::Rc::new(|_, _| 2);
    stage.settings.overall = 1;
    let stage = stage.plays();
    insta::assert_snapshot!(stage.story(), @r"
        pipeline for x: 1 agents, gate `commit`
        overall round 1 of 1
        dispatched coder
        verify `make` red
        verify `make` red
        verify `make` red
        coder blocked: verification failed: `make`: exit code 2, make ended
        gate commit closed: no score
        → halted(cap)
        ");
    assert!(stage.checkout.is_empty());
}

#[test]
fn a_hook_that_fails_blocks_what_it_stands_before() {
    let mut stage = Stage::of(vec![entry("coder", needs(vec![]), 10)]);
    stage.settings.hooks.pre_dispatch = vec![command("lint")];
    stage.commands = std::rc::Rc::new(|line, _| i32::from(line == "lint"));
    stage.settings.overall = 1;
    let stage = stage.plays();
    insta::assert_snapshot!(stage.story(), @r"
        pipeline for x: 1 agents, gate `commit`
        overall round 1 of 1
        dispatched coder
        pre-dispatch `lint` red
        coder blocked: the pre-dispatch hook `lint` failed: exit code 1, lint ended
        gate commit closed: no score
        → halted(cap)
        ");
    assert_eq!(stage.briefs("coder", Role::Worker).len(), 0, "nobody was paid");
}

#[test]
fn three_rounds_then_the_user_decides_and_only_once_in_a_run() {
    let harsh = |asked: Asked<'_>| if asked.role == Role::Critic { gives(50) } else { diligent(asked) };
    let mut stage = Stage::of(vec![entry("coder", needs(vec![]), 10)]).with_agents(harsh);
    stage.settings.overall = 2;
    let asked = std::rc::Rc::new(std::cell::Cell::new(0));
    let count = std::rc::Rc::clone(&asked);
    let stage = stage.with_person(move |q| {
        count.set(count.get() + i32::from(q.about == About::Escalation));
        Some("take the other data".into())
    });
    let stage = stage.plays();
    assert_eq!(asked.get(), 1, "{}", stage.story());
    assert_eq!(stage.label(), "halted(cap)");
    // 3 + 3 after the decision, then 3 in the second overall round.
    assert_eq!(stage.briefs("coder-critic", Role::Critic).len(), 9, "{}", stage.story());
    assert!(stage.briefs("coder", Role::Worker)[3].contains("take the other data"));
}

#[test]
fn a_referee_judges_the_work_its_conditions_name_and_its_report_is_saved() {
    let mut referee = entry("referee", needs(vec![scored("writer-critic")]), 50);
    (referee.critic, referee.produces[0].patterns) = (None, vec![Pattern::new("reviews/referee.md")]);
    let mut stage =
        Stage::of(vec![entry("writer", needs(vec![]), 50), referee]).with_agents(|asked: Asked<'_>| {
            if asked.agent == "referee" { gives(70) } else { diligent(asked) }
        });
    stage.settings.overall = 1;
    let stage = stage.plays();
    insta::assert_snapshot!(stage.story(), @r"
        pipeline for x: 2 agents, gate `commit`
        overall round 1 of 1
        dispatched writer
        delivered out/writer.md
        writer scored 92 by writer-critic
        dispatched referee
        delivered reviews/referee.md
        referee scored 70 by referee
        gate commit open: 81.00
        → approved
        ");
    assert!(stage.checkout["reviews/referee.md"].contains("worth 30"));
    assert!(stage.briefs("referee", Role::Critic)[0].contains("work of writer"));
}

#[test]
fn a_low_component_is_sent_out_again_with_what_is_open_and_only_a_higher_score_replaces_it() {
    // The referee thinks little of the first version, more of the second.
    let mut referee = entry("referee", needs(vec![scored("writer-critic")]), 50);
    (referee.critic, referee.produces[0].patterns) = (None, vec![Pattern::new("reviews/referee.md")]);
    let stage =
        Stage::of(vec![entry("writer", needs(vec![]), 50), referee]).with_agents(|asked: Asked<'_>| {
            match (asked.agent, asked.role) {
                ("referee", _) => {
                    gives(if asked.brief.matches("work of writer").count() > 1 { 90 } else { 50 })
                }
                ("writer-critic", _) => {
                    gives(if asked.brief.matches("work of writer").count() > 1 { 95 } else { 90 })
                }
                _ => diligent(asked),
            }
        });
    let stage = stage.plays();
    insta::assert_snapshot!(stage.story(), @r"
        pipeline for x: 2 agents, gate `commit`
        overall round 1 of 5
        dispatched writer
        delivered out/writer.md
        writer scored 90 by writer-critic
        dispatched referee
        delivered reviews/referee.md
        referee scored 50 by referee
        gate commit closed: 70.00
        overall round 2 of 5, again: writer
        dispatched writer (2)
        delivered out/writer.md
        writer scored 95 by writer-critic
        dispatched referee (2)
        delivered reviews/referee.md
        referee scored 90 by referee
        gate commit open: 92.50
        → approved
        ");
    assert!(stage.briefs("writer", Role::Worker)[1].contains("worth 50"));

    let worse = Stage::of(vec![entry("coder", needs(vec![]), 10)]).with_agents(|asked: Asked<'_>| {
        if asked.role == Role::Critic {
            gives([85, 82, 81, 84, 83][asked.nth as usize % 5])
        } else {
            diligent(asked)
        }
    });
    let mut worse = worse;
    worse.settings.gate = Gate::pr();
    let worse = worse.plays();
    assert_eq!(worse.checkout["out/coder.md"], "work of coder\n", "{}", worse.story());
    assert_eq!(worse.label(), "halted(cap)");
}

#[test]
fn two_lenses_both_have_to_be_satisfied_and_the_first_is_the_score() {
    let mut stage = Stage::of(vec![entry("coder", needs(vec![]), 10)]).with_agents(|asked: Asked<'_>| {
        match asked.agent {
            "coder-critic" => gives(85),
            "second" => gives(if asked.nth == 0 { 70 } else { 99 }),
            _ => diligent(asked),
        }
    });
    let critics = &mut stage.pair("coder").critics;
    critics[0].lens = Some("code".into());
    critics.push(Seat { agent: "second".into(), fallback: None, lens: Some("strategy".into()) });
    let stage = stage.plays();
    insta::assert_snapshot!(stage.story(), @r"
        pipeline for x: 1 agents, gate `commit`
        overall round 1 of 5
        dispatched coder
        delivered out/coder.md
        coder scored 85 by coder-critic
        gate commit open: 85.00
        → approved
        ");
}

#[test]
fn a_condition_nobody_can_check_is_asked_once() {
    let manual = || atom("Research idea or research spec", Check::Manual);
    let entries = vec![entry("librarian", manual(), 50), entry("explorer", manual(), 50)];
    let stage =
        Stage::of(entries.clone()).with_person(|q| (q.about == About::Condition).then(|| "yes".into()));
    let stage = stage.plays();
    insta::assert_snapshot!(stage.story(), @r"
        pipeline for x: 2 agents, gate `commit`
        overall round 1 of 5
        asked: condition
        ada: it holds: `Research idea or research spec`
        dispatched librarian
        dispatched explorer
        delivered out/librarian.md
        librarian scored 92 by librarian-critic
        delivered out/explorer.md
        explorer scored 92 by explorer-critic
        gate commit open: 92.00
        → approved
        ");
    let stage = Stage::of(entries).with_person(|_| Some("no".into())).plays();
    assert_eq!(stage.dispatched(), [""; 0], "{}", stage.story());
    assert_eq!(stage.label(), "halted(cap)");
}

#[test]
fn nothing_is_dispatched_before_the_plan_is_agreed_to() {
    let plans = |asked: Asked<'_>| match asked.role {
        Role::Advisor if asked.brief.contains("What the user says") => "# Plan\nDo it well.\n".into(),
        Role::Advisor => "# Plan\n- BLOCKED: which data?\n".into(),
        _ => diligent(asked),
    };
    let mut stage = Stage::of(vec![entry("coder", needs(vec![]), 10)]).with_agents(plans);
    let brief = stage.keep("the registry and the state");
    stage.settings.plan = Planning::Drafted { by: "planner".into(), brief, spec: false };
    stage.settings.plan_agreed = true;
    let waiting = stage.clone().plays();
    assert_eq!(waiting.label(), "waiting(question)", "what is blocked is not agreed to in advance");
    assert_eq!(waiting.dispatched(), [""; 0]);
    let stage = stage.with_person(|q| (q.about == About::Plan).then(|| "revise the census".into())).plays();
    insta::assert_snapshot!(stage.story(), @r"
        pipeline for x: 1 agents, gate `commit`
        plan drafted by planner
        asked: plan
        plan drafted by planner
        plan approved by --yes
        overall round 1 of 5
        dispatched coder
        delivered out/coder.md
        coder scored 92 by coder-critic
        gate commit open: 92.00
        → approved
        ");
    assert!(stage.briefs("coder", Role::Worker)[0].contains("Do it well."));
}

#[test]
fn the_result_is_agreed_to_and_committed() {
    let mut stage = Stage::of(three());
    stage.settings.result_agreed = false;
    stage.settings.commit = Some(Commit { branch: None, message: "The paper".into() });
    stage.settings.hooks.pre_commit = vec![command("lint")];
    let stage = stage.with_person(|q| (q.about == About::Result).then(|| "approve".into())).plays();
    insta::assert_snapshot!(stage.story(), @r"
        pipeline for x: 3 agents, gate `commit`
        overall round 1 of 5
        dispatched strategist
        delivered out/strategist.md
        strategist scored 92 by strategist-critic
        dispatched coder
        delivered out/coder.md
        coder scored 92 by coder-critic
        dispatched writer
        delivered out/writer.md
        writer scored 92 by writer-critic
        gate commit open: 92.00
        asked: result
        pre-commit `lint` green
        delivered out/coder.md, out/strategist.md, out/writer.md
        → approved
        ");
}

#[test]
fn what_needs_no_verdict_is_complete_or_not() {
    let mut editor = entry("editor", needs(vec![]), 0);
    (editor.critic, editor.weight) = (None, PairWeight::None);
    let mut stage = Stage::of(vec![editor, entry("coder", needs(vec![path("out/editor.md")]), 10)]);
    let pair = stage.pair("editor");
    (pair.output, pair.rubric) = (WorkerOutput::Reply, None);
    let stage = stage.with_agents(|asked: Asked<'_>| {
        if asked.agent == "editor" { "# Decision\nMinor.\n".into() } else { diligent(asked) }
    });
    let stage = stage.plays();
    insta::assert_snapshot!(stage.story(), @r"
        pipeline for x: 2 agents, gate `commit`
        overall round 1 of 5
        dispatched editor
        delivered out/editor.md
        editor completed
        dispatched coder
        delivered out/coder.md
        coder scored 92 by coder-critic
        gate commit open: 92.00
        → approved
        ");
    assert_eq!(stage.checkout["out/editor.md"], "# Decision\nMinor.\n");
}

#[test]
fn a_folder_with_nothing_real_in_it_satisfies_nothing() {
    let mut writer = entry("writer", path("paper/tables/"), 10);
    writer.produces = vec![Product { patterns: vec![Pattern::new("out/")], ..Product::default() }];
    let mut stage = Stage::of(vec![writer]);
    stage.checkout.insert("paper/tables/.gitkeep".into(), String::new());
    let stage = stage.plays();
    insta::assert_snapshot!(stage.story(), @r"
        pipeline for x: 1 agents, gate `commit`
        overall round 1 of 5
        Cannot dispatch [writer]: missing paper/tables/ → No other agent makes the tables: put it there yourself.
        gate commit closed: no score
        → halted(cap)
        ");
}

#[test]
fn a_gate_may_be_a_command() {
    for (exit, label) in [(0, "halted(cap)"), (1, "approved")] {
        let mut stage = Stage::of(vec![entry("coder", needs(vec![]), 10)]);
        let command = GateCommand { name: "lint".into(), command: "lint".into(), exit };
        stage.settings.gate.commands = vec![command];
        stage.settings.overall = 1;
        stage.commands = std::rc::Rc::new(|line, _| i32::from(line == "lint"));
        let stage = stage.plays();
        assert_eq!(stage.label(), label, "{}", stage.story());
    }
}

#[test]
fn what_is_advisory_is_reported_and_blocks_nothing() {
    let mut talk = entry("storyteller", needs(vec![]), 0);
    talk.weight = PairWeight::Advisory;
    let stage = Stage::of(vec![talk, entry("coder", needs(vec![]), 10)]).with_agents(|asked: Asked<'_>| {
        if asked.agent == "storyteller-critic" { gives(40) } else { diligent(asked) }
    });
    let stage = stage.plays();
    assert_eq!(stage.label(), "approved", "{}", stage.story());
    assert!(
        stage.story().contains("storyteller scored 40") && !stage.story().contains("asked"),
        "{}",
        stage.story()
    );
    assert!(stage.checkout.contains_key("out/storyteller.md"));
}

#[test]
fn what_was_rejected_counts_and_opens_no_gate_by_being_left_out() {
    for score in [0, 60] {
        let entries = vec![entry("coder", needs(vec![]), 50), entry("writer", needs(vec![]), 50)];
        let stage = Stage::of(entries).with_agents(move |asked: Asked<'_>| match asked.agent {
            "coder-critic" => gives(score),
            _ => diligent(asked),
        });
        let mut stage = stage.with_person(|_| Some("give-up".into()));
        stage.settings.overall = 2;
        let stage = stage.plays();
        assert_eq!(stage.label(), "halted(cap)", "{}", stage.story());
        let sum = u32::midpoint(score, 92);
        assert!(stage.story().contains(&format!("gate commit closed: {sum}.00")), "{}", stage.story());
        assert!(!stage.checkout.contains_key("out/coder.md"), "nothing of it is delivered");
    }
}

#[test]
fn what_a_program_refuses_is_not_paid_for_in_every_overall_round() {
    let mut stage = Stage::of(vec![entry("coder", needs(vec![]), 10), entry("writer", needs(vec![]), 10)]);
    stage.pair("coder").verify = vec![command("make")];
    stage.commands = std::rc::Rc::new(|_, _| 2);
    let stage = stage.plays();
    assert_eq!(stage.briefs("coder", Role::Worker).len(), 3, "{}", stage.story());
    assert_eq!(stage.label(), "halted(cap)", "somebody is blocked: {}", stage.story());
}
