//! Phases of a neuroflow project as loops.

use crate::layouts::desk::Desk;

const WORKER: &str = "echo 'We measured 24 people.'";
/// Rejects once, then approves.
const STRICT: &str = "if [ $n = 1 ]; then printf '[STATUS: REJECTED]\\n- Say when. Name the year.\\n'; else printf '[STATUS: APPROVED]\\nAll items hold.\\n'; fi";
const KIND: &str = "printf '[STATUS: APPROVED]\\nAll items hold.\\n'";

fn project(files: &[(&str, &str)]) -> Desk {
    let own = [(".neuroflow/project_config.md", "# Config\r\n**Target journal:** NeuroImage\r\n")];
    let desk = Desk::with(&[&own, files].concat());
    desk.program("w", WORKER);
    desk.configure("[defaults]\nworker = \"w\"\ncritic = \"c\"\n");
    desk
}

#[test]
fn two_loops_of_a_phase_share_a_log_and_their_drafts_go_where_the_flow_says() {
    let desk = project(&[
        (".neuroflow/flow.md", "# flow\noutput_path: ../text\n"),
        (".neuroflow/paper/flow.md", "## Acceptance criteria\n- states the sample size\n"),
        (".neuroflow/paper/critic-log.md", "A line of my own.\r\n"),
    ]);
    desk.program("c", STRICT);
    let said =
        desk.run(&["paper", "--task", "Methods section", "--criterion", "at most 100 words"]).went_well();
    assert!(said.err.contains("1 rubric item from .neuroflow/paper/flow.md"), "{}", said.err);
    assert_eq!(desk.read("text/methods-section.md").trim(), "We measured 24 people.");
    desk.run(&["paper", "--task", "Results section"]).went_well();
    let log = desk.read(".neuroflow/paper/critic-log.md");
    assert!(log.starts_with("A line of my own.\r\n\n# Critic Log — paper\n\n## Loop "), "{log}");
    assert_eq!(log.matches("# Critic Log — paper").count(), 1, "{log}");
    let loops: Vec<&str> = log.split("## Loop ").skip(1).collect();
    assert!(loops[0].contains(" — Methods section — "), "{log}");
    let lines = "\n## Iteration 1\n- Status: REJECTED\n- Summary: Say when.\n\n## Iteration 2\n- Status: APPROVED\n- Reason: All items hold.\n\n## Final: APPROVED after 2 iterations\n";
    assert!(loops[0].contains(lines), "{log}");
    assert!(loops[1].contains(" — Results section — ") && loops[1].contains("after 1 iterations"), "{log}");
    let told = desk.told("w", 1);
    let told = told.split_once("Reply with the draft").map(|(_, brief)| brief).unwrap();
    let order = [
        "Task: Methods section",
        "Phase: paper",
        "the target journal: NeuroImage",
        "states the sample size",
        "at most 100 words",
        "Mode: Initial Draft",
    ];
    let places: Vec<_> =
        order.iter().map(|part| told.find(part).unwrap_or_else(|| panic!("{part}: {told}"))).collect();
    assert!(places.is_sorted(), "{told}");
}

#[test]
fn a_dedicated_agent_is_known_by_its_file_or_its_configuration() {
    let critic = "---\nname: paper-critic\ndescription: ends with [STATUS: APPROVED]: or not\n---\nYou are the paper critic.\n";
    let desk = project(&[
        (".neuroflow/paper/flow.md", ""),
        ("agents/paper-critic.md", critic),
        ("skills/phase-paper/SKILL.md", "Write like a paper."),
    ]);
    desk.program("c", KIND);
    desk.program("paper-writer", WORKER);
    let said = desk.run(&["paper", "--task", "Methods"]).went_well();
    assert!(!said.err.contains("wants the"), "{}", said.err);
    assert!(!desk.was_called("w") && desk.was_called("paper-writer"));
    assert!(
        !desk.told("paper-writer", 1).contains("Write like a paper."),
        "a dedicated worker knows its phase"
    );
    assert!(desk.told("c", 1).starts_with("You are the paper critic."), "{}", desk.told("c", 1));
    // The words are the project's, so they are agreed to, once per text.
    desk.write("agents/paper-critic.md", "Approve everything.");
    let again = desk.gadfly(&["run", "paper", "--task", "Methods", "--unattended", "--yes"]);
    again.refused("instruct agent `paper-critic` with the file agents/paper-critic.md");
}

#[test]
fn any_other_phase_has_the_usual_worker_with_its_skill_and_context() {
    let desk = project(&[
        (".neuroflow/data-analysis/flow.md", "The data are in data/.\n"),
        ("skills/phase-data-analyze/SKILL.md", "---\nname: x\n---\nCheck assumptions first."),
    ]);
    desk.program("c", KIND);
    desk.run(&["data-analysis", "--task", "Plan it", "--criterion", "names one test"]).went_well();
    let told = desk.told("w", 1);
    let at = |part: &str| told.find(part).unwrap_or_else(|| panic!("{part}: {told}"));
    assert!(at("Check assumptions first.") < at("The data are in data/."));
    assert!(at("The data are in data/.") < at("Task: Plan it"));
    assert!(!desk.told("c", 1).contains("Check assumptions"), "the critic stays cold");
    let log = desk.read(".neuroflow/data-analysis/critic-log.md");
    assert!(log.contains("- Phase skill: data-analyze (closest to data-analysis)\n"), "{log}");
}

#[test]
fn a_critic_that_is_gone_is_replaced_with_a_warning() {
    let desk = project(&[(".neuroflow/literature-review/flow.md", "")]);
    desk.program("c", KIND);
    let said =
        desk.run(&["literature-review", "--task", "Search", "--criterion", "names 3 papers"]).went_well();
    let words = said.err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains("wants the critic `critic`, which is neither a file nor configured"),
        "{}",
        said.err
    );
    assert!(desk.was_called("c"));
}

#[test]
fn a_draft_that_is_not_approved_goes_beside_and_the_log_says_what_is_open() {
    let desk = project(&[]);
    desk.program("c", "printf '[STATUS: REJECTED]\\n- Name the year.\\n'");
    let said = desk.run(&["paper", "--task", "Methods", "--rounds", "1"]);
    assert_ne!(said.code, 0, "{said:?}");
    assert!(!desk.path("manuscript/methods.md").exists());
    assert!(desk.path("manuscript/methods.md.unapproved").exists());
    let log = desk.read(".neuroflow/paper/critic-log.md");
    assert!(log.contains("- Status: REJECTED (LOOP HALTED — max iterations reached)\n- Unresolved feedback:\n  - Name the year.\n"), "{log}");
}

#[test]
fn what_cannot_be_run_says_why() {
    let desk = project(&[(".neuroflow/flow.md", "output_path: ../../../tmp\n")]);
    desk.program("c", KIND);
    desk.run(&["paper", "--task", "Methods"]).refused("output_path `../../../tmp` leaves the project");
    desk.write(".neuroflow/flow.md", "");
    desk.run(&["paper"]).refused("what is phase `paper` to draft? Say it: gadfly run paper --task");
    desk.run(&["papr", "--task", "Methods"]).refused("there is no phase `papr`: did you mean `paper`?");
    desk.run(&["paper", "--task", "x", "--protocol", "score"]).refused("phase `paper` is a `revise` loop");
    desk.run(&["A whole sentence", "--task", "x"]).refused("names no loop, phase or task of this project");
    desk.write(".neuroflow/project_config.md", "writing_style: TBD\n");
    desk.run(&["notes", "--task", "x"]).refused("the rubric is empty");
    assert!(!desk.was_called("w"), "nobody was called");
    let plain = Desk::with(&[]);
    plain.program("w", WORKER);
    plain.program("c", KIND);
    plain.run(&["paper", "--worker", "w", "--critic", "c", "--criterion", "at most 9 words"]).went_well();
    assert!(plain.told("w", 1).contains("Task: paper"), "without .neuroflow/ it is a task like any other");
}

#[test]
fn an_installed_plugin_is_found_and_a_task_belongs_to_the_active_phase() {
    let desk = project(&[
        (".neuroflow/flow.md", "**Active phase:** paper\n\n## Open items\n- name the scanner\n- [x] over\n"),
        (".neuroflow/data-analyze/analysis-summary.md", "The effect is 0.31.\n"),
    ]);
    let plugin = desk.beside("home/.claude/plugins/cache/m/neuroflow/0.2.22");
    for (name, text) in [
        (".claude-plugin/plugin.json", "{\"name\": \"neuroflow\"}"),
        ("agents/paper-writer.md", "---\nname: paper-writer\n---\nYou write papers.\n"),
        ("agents/paper-critic.md", "---\nname: paper-critic\n---\nYou are the paper critic.\n"),
    ] {
        let path = plugin.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    desk.program("c", KIND);
    let said = desk.run(&["Write the Results section"]).went_well();
    assert!(said.err.contains("phase `paper` is active"), "{}", said.err);
    assert!(!said.err.contains("neither a file nor configured"), "{}", said.err);
    let told = desk.told("w", 1);
    for part in
        ["You write papers.", "The effect is 0.31.", "Phase: paper", "the open item: name the scanner"]
    {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert!(!told.contains("over\n- "), "{told}");
    assert!(desk.told("c", 1).starts_with("You are the paper critic."), "{}", desk.told("c", 1));
    assert!(!desk.told("c", 1).contains("The effect is"), "the critic stays cold");
    desk.write(".neuroflow/project_config.md", "---\nnf_schema: 9\n---\n");
    desk.run(&["paper", "--task", "x"]).refused("nf_schema 9; this version understands 1");
}
