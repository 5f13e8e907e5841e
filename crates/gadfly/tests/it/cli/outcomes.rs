//! How runs end, and how they go on: each outcome with its exit code, what is said and what is written.

use insta::assert_snapshot;

use crate::cli::support::{APPROVE, Project, REJECT};

const RUN: [&str; 4] = ["run", "Write the abstract", "--criterion", "at most 150 words"];

fn run_with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&RUN[..], more].concat()
}

#[test]
fn an_approved_draft_goes_to_standard_output_to_the_byte() {
    let project = Project::scripted(&["First", "Second\\nno newline at the end"], &[REJECT, APPROVE], "");
    let said = project.gadfly(&RUN);
    assert_eq!(said.out, "Second\nno newline at the end");
    assert_snapshot!(said.masked(), @r#"
    exit 0
    --- stdout
    Second
    no newline at the end⏎
    --- stderr
    worker  → this machine (writer, scripted)
    critic  → this machine (judge, scripted)
    cost    nothing
    caps    3 rounds, 30 active minutes, 50 calls
    round 1 of 3
      worker writer: working…
      draft: 5 bytes, 1 line
      critic judge: working…
      ✗ rejected by judge: 1 open item
        1. name the sample size
    round 2 of 3
      worker writer: working…
      draft: 28 bytes, +2 −1 lines
      critic judge: working…
      ✓ approved by judge
        Good.

    approved after 2 rounds
      draft      on standard output
      spent      $0.00, 0 tokens, 4 calls
      run        [run]
    "#);
}

#[test]
fn an_approved_draft_goes_to_its_file() {
    let project = Project::scripted(&["The draft"], &[APPROVE], "");
    let said = project.gadfly(&run_with(&["--out", "out.md"]));
    assert_eq!(project.read("out.md"), "The draft");
    assert_snapshot!(said.masked(), @r#"
    exit 0
    --- stdout
    --- stderr
    worker  → this machine (writer, scripted)
    critic  → this machine (judge, scripted)
    writes  [dir]/project/out.md
    cost    nothing
    caps    3 rounds, 30 active minutes, 50 calls
    round 1 of 3
      worker writer: working…
      draft: 9 bytes, 1 line
      critic judge: working…
      ✓ approved by judge
        Good.
      saved [dir]/project/out.md

    approved after 1 round
      draft      [dir]/project/out.md
      spent      $0.00, 0 tokens, 2 calls
      run        [run]
    "#);
}

#[test]
fn the_third_rejection_halts_and_the_draft_is_put_beside_the_file() {
    let project = Project::scripted(&["One", "Two", "Three"], &[REJECT, REJECT, REJECT], "");
    project.write("out.md", "mine");
    let said = project.gadfly(&run_with(&["--out", "out.md"]));
    assert_eq!(project.read("out.md"), "mine", "the file is not touched without approval");
    assert_eq!(project.read("out.md.unapproved"), "Three");
    assert_snapshot!(said.masked(), @r#"
    exit 3
    --- stdout
    --- stderr
    worker  → this machine (writer, scripted)
    critic  → this machine (judge, scripted)
    writes  [dir]/project/out.md
    cost    nothing
    caps    3 rounds, 30 active minutes, 50 calls
    round 1 of 3
      worker writer: working…
      draft: 3 bytes, 1 line
      critic judge: working…
      ✗ rejected by judge: 1 open item
        1. name the sample size
    round 2 of 3
      worker writer: working…
      draft: 3 bytes, +1 −1 lines
      critic judge: working…
      ✗ rejected by judge: 1 open item
        1. name the sample size
    round 3 of 3
      worker writer: working…
      draft: 5 bytes, +1 −1 lines
      critic judge: working…
      ✗ rejected by judge: 1 open item
        1. name the sample size
      hint: plateau: two rounds in a row fixed no open item
      saved [dir]/project/out.md.unapproved

    halted(cap) after 3 rounds: not approved
      unresolved name the sample size
      draft      [dir]/project/out.md.unapproved (not approved)
      spent      $0.00, 0 tokens, 6 calls
      run        [run]
      continue   gadfly run --from [run]
    "#);
}

#[test]
fn a_draft_that_cannot_be_printed_is_not_lost() {
    let project = Project::scripted(&["One"], &[APPROVE], "");
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let said = project.said(&project.command(&RUN).stdout(full).output().unwrap());
    assert_eq!(said.code, 1, "{}", said.err);
    assert!(said.err.contains(&format!("gadfly show {} --draft", project.run_id())), "{}", said.err);
}

#[test]
fn an_unapproved_draft_never_goes_to_standard_output() {
    let project = Project::scripted(&["One"], &[REJECT], "");
    let said = project.gadfly(&run_with(&["--rounds", "1"]));
    assert_eq!((said.code, said.out.as_str()), (3, ""));
    assert_eq!(project.gadfly(&["show", &project.run_id(), "--draft"]).out, "One");
}

const NEW_ONLY: &str = "[STATUS: REJECTED]\\nAddressed from iteration 1:\\n- ✓ 1: the sample size is named\\n\
                        Still unresolved:\\n- add a limitations paragraph";

#[test]
fn a_rejection_for_new_requirements_only_is_overruled_and_said_so() {
    let project = Project::scripted(&["One", "Two"], &[REJECT, NEW_ONLY], "");
    let said = project.gadfly(&RUN);
    assert_snapshot!(said.masked(), @r#"
    exit 0
    --- stdout
    Two⏎
    --- stderr
    worker  → this machine (writer, scripted)
    critic  → this machine (judge, scripted)
    cost    nothing
    caps    3 rounds, 30 active minutes, 50 calls
    round 1 of 3
      worker writer: working…
      draft: 3 bytes, 1 line
      critic judge: working…
      ✗ rejected by judge: 1 open item
        1. name the sample size
    round 2 of 3
      worker writer: working…
      draft: 3 bytes, +1 −1 lines
      critic judge: working…
      ✗ rejected by judge: 1 open item
        2. add a limitations paragraph
      ✓ rejection overruled: it asks only for new things

    approved (rejection overruled) after 2 rounds
      note       add a limitations paragraph
      draft      on standard output
      spent      $0.00, 0 tokens, 4 calls
      run        [run]
    "#);
}

#[test]
fn overruling_can_be_turned_off() {
    let project = Project::scripted(&["One", "Two"], &[REJECT, NEW_ONLY], "");
    let said = project.gadfly(&run_with(&["--rounds", "2", "--no-overrule"]));
    assert_eq!(said.code, 3, "{}", said.err);
}

#[test]
fn an_unreadable_critic_leaves_the_run_unverified_and_a_resume_asks_it_again() {
    let project = Project::scripted(&["One"], &["Looks fine to me!", "Really fine!"], "");
    let said = project.gadfly(&RUN);
    assert_snapshot!(said.masked(), @r#"
    exit 5
    --- stdout
    --- stderr
    worker  → this machine (writer, scripted)
    critic  → this machine (judge, scripted)
    cost    nothing
    caps    3 rounds, 30 active minutes, 50 calls
    round 1 of 3
      worker writer: working…
      draft: 3 bytes, 1 line
      critic judge: working…
      ! could not read judge's reply: no line states the status: begin with `[STATUS: APPROVED]` or `[STATUS: REJECTED]`; asking again
      critic judge: working…
      ! could not read judge's reply: no line states the status: begin with `[STATUS: APPROVED]` or `[STATUS: REJECTED]`

    unverified: no critic has judged the last draft
      reason     critic `judge`: two malformed replies: no line states the status: begin with `[STATUS: APPROVED]` or `[STATUS: REJECTED]`
      draft      gadfly show [run] --draft (not approved)
      spent      $0.00, 0 tokens, 3 calls
      run        [run]
      continue   gadfly resume [run]
    "#);
    project.script("judge.toml", &["x", "x", APPROVE]);
    let again = project.gadfly(&["resume", &project.run_id()]);
    assert_eq!((again.code, again.out.as_str()), (0, "One"), "{}", again.err);
    assert!(!again.err.contains("worker writer: working…"), "the draft was not written anew: {}", again.err);
}

#[test]
fn a_call_that_failed_for_good_parks_the_run() {
    let project = Project::scripted(&["!unauthorised"], &[APPROVE], "");
    let said = project.gadfly(&RUN);
    assert_snapshot!(said.masked(), @r#"
    exit 1
    --- stdout
    --- stderr
    worker  → this machine (writer, scripted)
    critic  → this machine (judge, scripted)
    cost    nothing
    caps    3 rounds, 30 active minutes, 50 calls
    round 1 of 3
      worker writer: working…
      ✗ worker writer failed: unauthorised: agent `writer` was scripted to be unauthorised

    failed: gave up on a call
      reason     unauthorised: agent `writer` was scripted to be unauthorised
      spent      $0.00, 0 tokens, 1 call
      run        [run]
      continue   gadfly resume [run]
    "#);
    project.script("writer.toml", &["!unauthorised", "One"]);
    assert_eq!(project.gadfly(&["resume", &project.run_id()]).out, "One");
}

#[test]
fn a_run_out_of_budget_goes_on_with_more() {
    let project = Project::scripted(&["One"], &[APPROVE], "[budget]\ncalls = 1\n");
    let said = project.gadfly(&RUN);
    assert_snapshot!(said.masked(), @r#"
    exit 6
    --- stdout
    --- stderr
    worker  → this machine (writer, scripted)
    critic  → this machine (judge, scripted)
    cost    nothing
    caps    3 rounds, 30 active minutes, 1 call
    round 1 of 3
      worker writer: working…
      draft: 3 bytes, 1 line

    out of budget
      reason     the run has a cap of 1 calls, used up
      draft      gadfly show [run] --draft (not approved)
      spent      $0.00, 0 tokens, 1 call
      run        [run]
      continue   gadfly resume [run] --calls 2
    "#);
    let run = project.run_id();
    assert_eq!(project.gadfly(&["resume", &run]).code, 6, "without more it is where it was");
    let again = project.gadfly(&["resume", &run, "--calls", "5"]);
    assert_eq!((again.code, again.out.as_str()), (0, "One"), "{}", again.err);
}

#[test]
fn an_agent_that_is_reached_differently_is_said_on_resume() {
    let project = Project::scripted(&["!unavailable", "One"], &[APPROVE], "");
    assert_eq!(project.gadfly(&RUN).code, 1);
    project.change_own(|own| own.replace("[agents.writer]\n", "[agents.writer]\nmodel = \"newer\"\n"));
    let said = project.gadfly(&["resume", &project.run_id()]);
    assert_eq!((said.code, said.out.as_str()), (0, "One"), "{}", said.err);
    assert!(said.err.contains("agent writer (newer) changed: "), "{}", said.err);
}

#[test]
fn a_parked_run_names_the_file_its_draft_is_in_while_it_is_there() {
    let project = Project::scripted(&["One"], &["!unavailable"], "");
    let said = project.gadfly(&run_with(&["--out", "out.md"]));
    assert!(said.err.contains("out.md.unapproved (not approved)"), "{}", said.err);
    // Sabotage: a file that holds something else is not the draft.
    project.write("out.md.unapproved", "else");
    let shown = project.gadfly(&["show", &project.run_id()]);
    assert!(!shown.out.contains("out.md.unapproved") && shown.out.contains("--draft"), "{}", shown.out);
}

#[test]
fn improving_a_file_begins_with_the_critic_and_replaces_it_on_approval() {
    let project = Project::scripted(&["Better"], &[REJECT, APPROVE], "");
    project.write("paper.md", "Mine");
    let said = project.gadfly(&run_with(&["--draft", "paper.md"]));
    assert_eq!(project.read("paper.md"), "Better");
    assert_snapshot!(said.masked(), @r#"
    exit 0
    --- stdout
    --- stderr
    worker  → this machine (writer, scripted)
    critic  → this machine (judge, scripted)
    writes  [dir]/project/paper.md
    cost    nothing
    caps    3 rounds, 30 active minutes, 50 calls
    round 1 of 3
      your draft: 4 bytes, 1 line
      critic judge: working…
      ✗ rejected by judge: 1 open item
        1. name the sample size
    round 2 of 3
      worker writer: working…
      draft: 6 bytes, +1 −1 lines
      critic judge: working…
      ✓ approved by judge
        Good.
      saved [dir]/project/paper.md

    approved after 2 rounds
      draft      [dir]/project/paper.md
      spent      $0.00, 0 tokens, 3 calls
      run        [run]
    "#);
}

#[test]
fn a_file_changed_meanwhile_is_left_alone() {
    let project = Project::scripted(&["One"], &["!unavailable"], "");
    project.write("out.md", "old");
    assert_eq!(project.gadfly(&run_with(&["--out", "out.md"])).code, 5);
    project.write("out.md", "edited meanwhile");
    project.script("judge.toml", &["!unavailable", APPROVE]);
    let again = project.gadfly(&["resume", &project.run_id()]);
    assert_ne!(again.code, 0, "{}", again.err);
    assert_eq!(project.read("out.md"), "edited meanwhile");
    assert!(again.err.contains("changed since the run began"), "{}", again.err);
}

#[test]
fn a_loop_is_run_by_its_name_and_material_is_given_to_read() {
    let more =
        "[loops.abstract]\ntask = \"Write it.\"\nrubric = [\"at most 150 words\"]\nwith = [\"notes.md\"]\n";
    let project = Project::scripted(&["One"], &[APPROVE], more);
    project.write("notes.md", "n = 42");
    let dry = project.gadfly(&["run", "abstract", "--dry-run"]);
    assert!(dry.out.contains("n = 42") && dry.out.contains("Write it."), "{}", dry.out);
    assert_eq!(project.gadfly(&["run", "abstract"]).out, "One");
    let mistyped = project.gadfly(&["run", "abstrct"]);
    assert_eq!(mistyped.code, 2);
    assert!(mistyped.err.contains("did you mean `abstract`?"), "{}", mistyped.err);
}

#[test]
fn with_names_a_file_both_agents_read() {
    let project = Project::scripted(&["One"], &[APPROVE], "");
    project.write("notes.md", "n = 42");
    let dry = project.gadfly(&run_with(&["--with", "notes.md", "--dry-run"]));
    assert!(dry.out.contains("n = 42"), "{}", dry.out);
}

#[test]
fn a_dry_run_shows_the_brief_and_leaves_nothing_behind() {
    let project = Project::scripted(&["One"], &[APPROVE], "");
    let said = project.gadfly(&run_with(&["--dry-run"]));
    assert_snapshot!(said.masked(), @r#"
    exit 0
    --- stdout
    You are the worker in a worker–critic loop. Produce the draft the task asks for. A critic who sees only your draft, the task and the rubric will judge it against every rubric item.

    Reply with the draft itself and nothing else: no preamble, no remarks about your work, no assessment of it.

    Task: Write the abstract
    Phase: general
    Rubric:
    - at most 150 words

    Mode: Initial Draft
    --- stderr
    worker  → this machine (writer, scripted)
    critic  → this machine (judge, scripted)
    cost    nothing
    caps    3 rounds, 30 active minutes, 50 calls

    the first brief, to worker writer:


    dry run: nothing was sent and nothing recorded
    "#);
    assert!(!project.path(".gadfly").exists());
    // The check can fail: a real run does leave something.
    project.gadfly(&RUN);
    assert!(project.path(".gadfly").exists());
    project.gadfly(&run_with(&["--dry-run"]));
    assert_eq!(project.states().len(), 1);
}

#[test]
fn a_run_from_another_one_inherits_task_rubric_and_draft() {
    let project = Project::scripted(&["One"], &[REJECT], "");
    assert_eq!(project.gadfly(&run_with(&["--rounds", "1"])).code, 3);
    let first = project.run_id();
    project.script("judge.toml", &[APPROVE]);
    let said = project.gadfly(&["run", "--from", &first]);
    assert_eq!((said.code, said.out.as_str()), (0, "One"), "{}", said.err);
    assert!(said.err.contains("your draft"), "{}", said.err);
}

#[test]
fn a_large_file_that_a_run_wrote_can_be_replaced_by_the_next() {
    let project = Project::scripted(&["One"], &[APPROVE], "");
    project.write("out.md", &"a long line\n".repeat(200_000));
    let said = project.gadfly(&run_with(&["--out", "out.md"]));
    assert_eq!((said.code, project.read("out.md").as_str()), (0, "One"), "{}", said.err);
    std::fs::write(project.path("out.md"), b"\xff no text").unwrap();
    let said = project.gadfly(&run_with(&["--out", "out.md"]));
    assert!(said.code == 2 && said.err.contains("choose another --out"), "{}", said.err);
}

#[test]
fn an_empty_task_is_no_task_and_said_once() {
    let project = Project::scripted(&["One"], &[APPROVE], "");
    let said = project.gadfly(&["run", "  ", "--criterion", "at most 150 words"]);
    assert_eq!(said.code, 2);
    assert_eq!(said.err.matches("error:").count(), 1, "{}", said.err);
    assert!(said.err.contains("there is no task"), "{}", said.err);
}

#[test]
fn a_resume_raises_rounds_within_their_bounds_or_says_that_it_does_not() {
    let project = Project::scripted(&["One"], &["nonsense", "nonsense", APPROVE], "");
    assert_eq!(project.gadfly(&run_with(&[])).code, 5);
    let run = project.run_id();
    for (rounds, why) in
        [("0", "0 is not in 1..=100"), ("101", "101 is not in"), ("2", "has 3 rounds already")]
    {
        let said = project.gadfly(&["resume", &run, "--rounds", rounds]);
        assert_eq!(said.code, 2, "{}", said.err);
        assert!(said.err.contains(why), "{}", said.err);
    }
    let said = project.gadfly(&["resume", &run, "--rounds", "4"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.err.contains("raised to 4 rounds"), "{}", said.err);
}

#[test]
fn going_on_from_a_run_is_the_same_loop_with_its_files_and_agents() {
    let project = Project::scripted(&["One"], &[], "");
    project.script("judge.toml", &[REJECT]);
    project.script("strict.toml", &[REJECT]);
    project.own_scripted("strict", "strict.toml");
    project.write("results.md", "forty mice");
    let args = ["--rounds", "1", "--with", "results.md", "--out", "a.md", "--critic", "strict"];
    assert_eq!(project.gadfly(&run_with(&args)).code, 3);
    let first = project.run_id();
    project.write("results.md", "changed since");
    project.script("strict.toml", &[APPROVE]);
    let brief = project.gadfly(&["run", "--from", &first, "--dry-run"]);
    assert!(brief.err.contains("strict") && brief.out.contains("forty mice"), "{}{}", brief.err, brief.out);
    let said = project.gadfly(&["run", "--from", &first]);
    assert_eq!((said.code, said.out.as_str()), (0, ""), "{}", said.err);
    assert_eq!(project.read("a.md"), "One");
    // Another task is another loop: it does not write over the old one's file.
    let other = project.gadfly(&["run", "Translate it", "--from", &first, "--critic", "strict"]);
    assert_eq!((other.code, other.out.as_str()), (0, "One"), "{}", other.err);
}

#[test]
fn the_task_comes_from_standard_input_or_a_file() {
    let project = Project::scripted(&["One"], &[APPROVE], "");
    let args = ["run", "-", "--criterion", "at most 150 words", "--dry-run"];
    let said = project.gadfly_with_stdin(&args, "Task from stdin");
    assert!(said.out.contains("Task from stdin"), "{}{}", said.out, said.err);
    project.write("task.md", "Task from a file");
    let said =
        project.gadfly(&["run", "--task-file", "task.md", "--criterion", "at most 9 words", "--dry-run"]);
    assert!(said.out.contains("Task from a file"), "{}{}", said.out, said.err);
}

#[test]
fn json_is_one_event_per_line_and_nothing_else() {
    let project = Project::scripted(&["One", "Two"], &[REJECT, APPROVE], "");
    let said = project.gadfly(&run_with(&["--json"]));
    let lines: Vec<serde_json::Value> =
        said.out.lines().map(|l| serde_json::from_str(l).unwrap_or_else(|e| panic!("{e}: {l}"))).collect();
    let names: Vec<&str> = lines.iter().filter_map(|l| l["event"].as_str()).collect();
    assert_snapshot!(names.join(" "), @"node_started round_started effect_requested charged draft_made effect_requested charged reviewed round_started effect_requested charged draft_made effect_requested charged reviewed");
    let last = lines.last().unwrap();
    assert_eq!((last["outcome"].as_str(), last["exit"].as_u64()), (Some("approved"), Some(0)));
    assert_eq!(last["draft"].as_str(), Some("Two"));
    for line in &lines[..lines.len() - 1] {
        for key in ["run", "seq", "at", "node", "event", "data"] {
            assert!(!line[key].is_null(), "{key} is missing: {line}");
        }
    }
}

#[test]
fn what_a_model_says_cannot_act_on_the_terminal() {
    let project =
        Project::scripted(&["One"], &["[STATUS: REJECTED]\\n- \\u001b[2Jcleared \\u202ereversed"], "");
    let said = project.gadfly(&run_with(&["--rounds", "1"]));
    let shown = project.gadfly(&["show", &project.run_id()]);
    for text in [&said.err, &shown.out] {
        assert!(text.contains("cleared reversed"), "{text}");
        assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}'), "{text}");
    }
}
