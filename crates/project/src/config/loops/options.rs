//! The options of a loop: those of every protocol, and those of one.

use std::path::PathBuf;
use std::time::Duration;

use gadfly_engine::Severity;
use gadfly_engine::budget::Limits;
use gadfly_engine::deduction::Level;
use gadfly_engine::protocol::audit::economy::Economy;

use super::RubricSetting;
use crate::config::criteria::{CriteriaSetting, CriticSetting};
use crate::config::keys::{
    self, ConfigSection, ECONOMY, Fixed, LEVELS, ROUND_COUNT, SEVERITIES, Shape, VERIFY_RUNS, VERIFY_TIMEOUT,
    key, on,
};
use crate::config::protocols::LoopProtocol;
use crate::options;
use crate::place::Sourced;

options! {
    /// What a loop takes whatever its protocol, and what several protocols share.
    LoopOptions, LOOP in Loop {
        protocol: Sourced<LoopProtocol> = key(Shape::Protocol)
            .or(Fixed::Text("revise"))
            .says("The protocol the loop follows")
            .flag(on::RUN | on::BATCH | on::REVIEW, "NAME")
            .label("Protocol")
            .model("How the loop goes; `revise` if nothing else is said or configured.")
            .shared();
        worker: Option<Sourced<String>> = key(Shape::Text)
            .says("The agent that drafts")
            .like("\"writer\"")
            .flag(on::RUN | on::BATCH, "AGENT")
            .label("Worker")
            .model("Who works: `host` is you (the default, unless `loop` names a worker), else an agent of gadfly.toml.")
            .shared();
        critic: Option<Sourced<String>> = key(Shape::Text)
            .says("The agent that judges; given twice under `score`, both judge")
            .like("\"critic\"")
            .flag(on::RUN | on::BATCH | on::REVIEW, "AGENT")
            .several("critics")
            .label("Critic")
            .model(
                "Leave it out: the configured critic judges. Another one counts only if gadfly.toml names it as a critic \
                 or the user agrees; so does `host`, a fresh sub-agent of yours that judges through `open_review` and \
                 `submit_report`.",
            )
            .shared();
        critics: Vec<Sourced<CriticSetting>> = key(Shape::Critics)
            .says("One critic, or two with different lenses, in place of `critic`; the first is the primary")
            .more("For audit and converge: one.")
            .like("[{ agent = \"critic\", lens = \"method\" }, { agent = \"reviewer\", lens = \"policy\" }]");
        fallback_critic: Option<Sourced<String>> = key(Shape::Text)
            .says("The agent that judges when the critic fails")
            .more("Asked once if the critic's call fails or its reply stays malformed. Default: none.")
            .like("\"reviewer\"")
            .flag(on::RUN | on::BATCH | on::REVIEW, "AGENT")
            .shared();
        task: Option<Sourced<String>> = key(Shape::Text)
            .says("The task")
            .like("\"Write the abstract.\"")
            .model(
                "What the work is supposed to be, in the user's own words. Needed unless `loop` names one that has a task.",
            );
        task_file: Option<Sourced<PathBuf>> = key(Shape::Path)
            .says("Read the task from a file")
            .like("\"tasks/improve.md\"")
            .flag(on::RUN, "FILE");
        rounds: Sourced<u64> = key(ROUND_COUNT)
            .or(Fixed::Whole(keys::ROUNDS))
            .says("How many rounds at most")
            .more("For converge the default is the cap of its criteria.")
            .flag(on::RUN | on::BATCH, "N")
            .label("Rounds at most")
            .model("How many rounds at most. More than configured only if the user agrees.")
            .shared();
        phase: Option<Sourced<String>> = key(Shape::Text)
            .says("The phase of the project this belongs to")
            .more(
                "Named in the briefs and in the log. Under score it sets how severe the critic is: Discovery, Strategy, \
                 Execution, Peer Review, Presentation.",
            )
            .like("\"paper\"")
            .flag(on::RUN | on::REVIEW, "NAME");
        rubric: Option<Sourced<RubricSetting>> = key(Shape::Rubric)
            .says("What the draft is judged by: a list, or the path of a Markdown or text file")
            .more("Under score a Markdown file with a table of deductions, or a TOML file with one.")
            .like("[\"at most 150 words\", \"states the sample size\"]");
        criteria: Option<Sourced<CriteriaSetting>> = key(Shape::Criteria)
            .says("Success criteria or questions: a file, or a ready-made set of converge")
            .more(
                "Or a list: of strings, { id = \"SC-1\", text = \"…\" } (audit), { name = \"CLARITY\", question = \"…?\" } \
                 (converge). Sets: spec, plan, tasks, implement, review, debug, test, architect.",
            )
            .like("[\"the page lists matches\", { id = \"SC-2\", text = \"no match is said so\" }]")
            .flag(on::RUN | on::REVIEW, "FILE|SET");
        with: Vec<Sourced<PathBuf>> = key(Shape::Paths)
            .says("Reference material for worker and critic")
            .like("[\"paper/results.md\"]")
            .flag(on::RUN | on::REVIEW, "FILE");
        draft: Option<Sourced<PathBuf>> = key(Shape::Path)
            .says("Improve this file: it is the first draft, and the result replaces it on approval")
            .like("\"paper/abstract.md\"")
            .flag(on::RUN, "FILE");
        out: Option<Sourced<PathBuf>> = key(Shape::Path)
            .says("Where the approved draft goes")
            .like("\"paper/abstract.md\"")
            .flag(on::RUN, "FILE")
            .label("Save the approved draft to");
        max_parts: Sourced<u64> = key(Shape::Whole { min: 1, max: 1000 })
            .or(Fixed::Whole(keys::MAX_PARTS))
            .says("Into how many calls one judgement may be split")
            .flag(on::RUN | on::REVIEW, "N");
        budget: Limits = key(Shape::Table(ConfigSection::Budget)).says("Caps of this loop");
    }
}

options! {
    ReviseOptions, REVISE in Loop {
        overrule: Sourced<bool> = key(Shape::Flag)
            .or(Fixed::Flag(true))
            .says("A rejection that rests only on new requirements is overruled")
            .flag(on::RUN, "")
            .says_no("no-overrule", "Let rejections stand that rest only on new requirements")
            .shared();
    }
}

options! {
    ScoreOptions, SCORE in Loop {
        threshold: Option<Sourced<u64>> = key(Shape::Whole { min: 1, max: 100 })
            .or(Fixed::Whole(80))
            .says("The score that passes")
            .flag(on::RUN | on::REVIEW, "POINTS");
        exploration: Sourced<bool> = key(Shape::Flag)
            .or(Fixed::Flag(false))
            .says("An exploration passes with 60")
            .more("So does a draft whose `out` lies in a folder `explorations`.");
        severity: Option<Sourced<Level>> = key(LEVELS)
            .says("How severe the critic is")
            .more("Default: the phase's, else high.")
            .like("\"medium\"");
        invariants: Option<Sourced<PathBuf>> = key(Shape::Path)
            .says("What holds for every artifact of the project; the critic is given it")
            .like("\"invariants.md\"");
        escalate_to: Option<Sourced<String>> = key(Shape::Text)
            .or(Fixed::Text("user"))
            .says("Who decides when the rounds are used up: an agent, orchestrator (a fresh start) or user")
            .flag(on::RUN, "WHO");
        stop_early: Sourced<bool> = key(Shape::Flag)
            .or(Fixed::Flag(false))
            .says("Stop as soon as there is no headway")
            .flag(on::RUN, "");
    }
}

options! {
    AuditOptions, AUDIT in Loop {
        task_id: Option<Sourced<String>> = key(Shape::Text)
            .says("Names the task in reports")
            .more("Default: from the loop's name or the task.")
            .like("\"search-page\"");
        scope: Vec<Sourced<String>> = key(Shape::OneOrMore)
            .says("Files the work may touch")
            .more("Default: all.")
            .like("[\"src/**\", \"tests/**\"]")
            .flag(on::RUN | on::REVIEW, "GLOB");
        verify: Vec<Sourced<String>> = key(Shape::OneOrMore)
            .says("A command that must succeed before the critic is asked")
            .more("Run in the folder after every round; a failing one sends the work back.")
            .like("[\"cargo test\"]")
            .flag(on::RUN, "COMMAND");
        verify_runs: Sourced<u64> = key(Shape::Whole { min: 1, max: 100 })
            .or(Fixed::Whole(VERIFY_RUNS))
            .says("How often each must succeed")
            .flag(on::RUN, "N");
        verify_timeout: Sourced<Duration> = key(Shape::Time)
            .or(Fixed::Time(VERIFY_TIMEOUT))
            .says("How long one of them may take");
        block_on: Sourced<Severity> = key(SEVERITIES)
            .or(Fixed::Text("nit"))
            .says("The least finding that blocks")
            .flag(on::RUN | on::REVIEW, "SEVERITY");
        economy: Sourced<Economy> = key(ECONOMY)
            .or(Fixed::Text("off"))
            .says("How hard to push for smaller code")
            .flag(on::RUN | on::REVIEW, "LEVEL");
        decisions: Vec<Sourced<String>> = key(Shape::Texts)
            .says("Decisions the work may not go against")
            .like("[\"no new dependencies\"]");
        build_fixer: Option<Sourced<String>> = key(Shape::Text)
            .says("Works from round 2 on and after a failed command")
            .more("Default: the worker.")
            .like("\"critic\"");
        researcher: Option<Sourced<String>> = key(Shape::Text)
            .says("Asked when information is missing")
            .more("Default: you are.")
            .like("\"reviewer\"");
        architect: Option<Sourced<String>> = key(Shape::Text)
            .says("Says how the task should be built, once, before the worker begins")
            .more("Default: nobody.")
            .like("\"reviewer\"");
        test_writer: Option<Sourced<String>> = key(Shape::Text)
            .says("Writes the task's tests, once, before the worker begins; the worker may not change them")
            .more("Default: nobody.")
            .like("\"critic\"");
        commit: Sourced<bool> = key(Shape::Flag)
            .or(Fixed::Flag(false))
            .says("Commit approved work to a branch of its own, in place of changing your files")
            .flag(on::RUN, "");
        branch: Option<Sourced<String>> = key(Shape::Text)
            .says("The branch to commit to (implies `commit`; default: gadfly/RUN)")
            .like("\"feature/search\"")
            .flag(on::RUN, "NAME");
    }
}
