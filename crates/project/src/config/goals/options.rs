//! The options of a goal.

use std::path::PathBuf;
use std::time::Duration;

use gadfly_engine::budget::Limits;
use gadfly_engine::protocol::goal::Criterion;
use gadfly_engine::tool::Risk;

use crate::config::keys::{
    CRITIC_INTERVAL, ConfigSection, Fixed, GOAL_COUNT, GOAL_STEPS, GOAL_TURNS, RISKS, Shape, WALL_CLOCK, key,
    on,
};
use crate::options;
use crate::place::Sourced;

options! {
    GoalOptions, GOAL in Goal {
        goal: Option<Sourced<String>> = key(Shape::Text)
            .says("What is to be reached")
            .like("\"Make the test suite pass.\"");
        goal_file: Option<Sourced<PathBuf>> = key(Shape::Path)
            .says("Read the goal from a file")
            .like("\"goals/port.md\"");
        until: Option<Sourced<Criterion>> = key(Shape::Until)
            .says("When it is reached: a command that must succeed, a table, or a list of them, of which all must hold")
            .more(
                "Default: you are asked.\n\
                 \x20 { shell = \"cargo test\", exit_code = 0, timeout = \"10m\" }\n\
                 \x20 { json = \"out.json\", where = \"results.passed >= 3\" }       == != > < >= <=, exists, notexists\n\
                 \x20 { file = \"report.md\" }, with contains = \"…\" or matches = \"a regular expression\"\n\
                 \x20 { http = \"http://127.0.0.1:8080/\", status = 200, contains = \"…\" }\n\
                 \x20 { judge = \"Does the report answer the question?\" }         a model sees the evidence\n\
                 \x20 { vision = \"./shot.sh\", file = \"shot.png\", expect = \"…\" }  a model sees the picture the command makes\n\
                 \x20 { manual = true }                                          you are asked\n\
                 \x20 { all = [ … ] }, { any = [ … ] }",
            )
            .like("\"cargo test\"");
        worker: Option<Sourced<String>> = key(Shape::Text)
            .says("The agent that works")
            .more("Any but a person. Default: the worker of [defaults].")
            .like("\"writer\"")
            .flag(on::GOAL, "AGENT")
            .label("Worker");
        critic: Option<Sourced<String>> = key(Shape::Text)
            .says("The agent that watches")
            .more("Default: the critic of [defaults]; if there is none, nobody does.")
            .like("\"reviewer\"")
            .flag(on::GOAL, "AGENT")
            .under("Watched by")
            .label("Critic");
        judge: Option<Sourced<String>> = key(Shape::Text)
            .says("The agent that answers `judge` and `vision` (default: the critic, else the worker)")
            .like("\"reviewer\"")
            .flag(on::GOAL, "AGENT")
            .under("Watched by");
        critic_interval: Sourced<u64> = key(Shape::Whole { min: 0, max: 1000 })
            .or(Fixed::Whole(CRITIC_INTERVAL))
            .says("How many steps from one look to the next; 0 switches it off")
            .flag(on::GOAL, "N")
            .under("Watched by");
        strict_critic: Sourced<bool> = key(Shape::Flag)
            .or(Fixed::Flag(false))
            .says("Pause if the critic fails three times in a row, in place of going on without it")
            .flag(on::GOAL, "")
            .under("Watched by");
        risk: Sourced<Risk> = key(RISKS)
            .or(Fixed::Text("write_local"))
            .says("How far the worker may go without asking")
            .flag(on::GOAL, "LEVEL")
            .under("Allowed");
        open_network: Sourced<bool> = key(Shape::Flag)
            .or(Fixed::Flag(false))
            .says("Leave the network to the commands of a coding agent, whatever the risk")
            .more(
                "It reaches its model from where its commands run. Below network_write a risk that is stated is refused \
                 without this where nothing keeps its commands from the network.",
            )
            .flag(on::GOAL, "")
            .under("Allowed");
        deny: Vec<Sourced<String>> = key(Shape::Texts)
            .says("A tool that is never used")
            .more(
                "run_command, read_file, write_file, edit_file, list_files, search_files, fetch_url, start_process, \
                 list_processes, read_process_log, stop_process, and SERVER__TOOL for servers of [mcp.NAME].",
            )
            .like("[\"fetch_url\"]")
            .flag(on::GOAL, "TOOL")
            .under("Allowed")
            .adds();
        allow: Vec<Sourced<String>> = key(Shape::Texts)
            .says("A tool that may be used without asking (default: all)")
            .like("[\"run_command\", \"read_file\", \"write_file\", \"edit_file\", \"list_files\", \"search_files\"]")
            .flag(on::GOAL, "TOOL")
            .under("Allowed");
        mcp: Vec<Sourced<String>> = key(Shape::Texts)
            .says("A server of [mcp.NAME] whose tools are offered")
            .like("[]")
            .flag(on::GOAL, "SERVER")
            .under("Allowed");
        protect: Vec<Sourced<String>> = key(Shape::Texts)
            .says("Files by which the goal is judged: you are told if they change")
            .more("Files that `until` names in a command are among them.")
            .like("[\"fixtures/**\"]")
            .flag(on::GOAL, "GLOB")
            .under("Allowed")
            .adds();
        protect_tests: Sourced<bool> = key(Shape::Flag)
            .or(Fixed::Flag(true))
            .says("What a change does to tests and to how they are run is found out, and asked about")
            .flag(on::GOAL, "")
            .under("Allowed")
            .says_no("no-protect-tests", "Do not look at what the change does to tests");
        max_steps: Sourced<u64> = key(GOAL_COUNT)
            .or(Fixed::Whole(GOAL_STEPS))
            .says("Steps at most")
            .flag(on::GOAL, "N")
            .under("Caps")
            .label("Steps at most");
        max_turns: Sourced<u64> = key(GOAL_COUNT)
            .or(Fixed::Whole(GOAL_TURNS))
            .says("Turns of the worker at most, those without a step included")
            .flag(on::GOAL, "N")
            .under("Caps");
        wall_clock: Sourced<Duration> = key(Shape::Time)
            .or(Fixed::Time(WALL_CLOCK))
            .says("Active time at most; waiting for you does not count")
            .flag(on::GOAL, "TIME")
            .under("Caps")
            .label("Minutes at most");
        in_place: Sourced<bool> = key(Shape::Flag)
            .or(Fixed::Flag(false))
            .says("Work in your own files, of which a snapshot is kept, in place of a folder apart")
            .flag(on::GOAL, "")
            .against(&["commit", "branch"]);
        commit: Sourced<bool> = key(Shape::Flag)
            .or(Fixed::Flag(false))
            .says("Commit verified work to a branch of its own, in place of changing your files")
            .flag(on::GOAL, "");
        branch: Option<Sourced<String>> = key(Shape::Text)
            .says("The branch to commit to (implies `commit`; default: gadfly/RUN)")
            .like("\"feature/port\"")
            .flag(on::GOAL, "NAME");
        with: Vec<Sourced<PathBuf>> = key(Shape::Paths)
            .says("Reference material for the worker")
            .like("[\"docs/testing.md\"]")
            .flag(on::GOAL, "FILE");
        budget: Limits = key(Shape::Table(ConfigSection::Budget))
            .says("Caps of this goal in money, tokens and calls; its time is `wall_clock`");
    }
}
