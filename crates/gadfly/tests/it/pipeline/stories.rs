//! Pipelines that come to their end: what is told, what is in the checkout, what the state files say.

use crate::pipeline::desk::Answer;
use crate::pipeline::stage::{gives, json, judges, one, pipeline, project, receipt, story, three, writes};

#[test]
fn three_agents_work_in_the_order_of_what_they_need_and_their_files_are_in_the_checkout() {
    let desk = three();
    let said = pipeline(&desk, &[]);
    assert_eq!(said.code, 0, "{}", said.err);
    insta::assert_snapshot!(story(&said), @r"
    pipeline for reform: 3 agents, gate commit, 4 at once
      warning: no verify command is configured: nothing is compiled or run before it counts
    overall round 1 of 5
      → strategist: judged by strategist-critic, Strategy
      [strategist] round 1 of 3
      [strategist]   worker strategist: working…
      [strategist]   files: 24 bytes
      [strategist]   critic strategist-critic: working…
      [strategist]   ✓ approved by strategist-critic
      [strategist]     the critic states 92 points
      [strategist]     score 92/100 (passes at 80), as stated by the critic
      [strategist]       92 as the critic stated it: the rubric has no table
      [strategist]     + 1. risk stated (new): worth 8 → mend it
      [strategist]   Score 92 (stated): at least 80
      [strategist]   ✓ Score 92 (stated) of 100, 80 needed (1 round)
      ✓ accepted into your checkout: 1 file (out/memo.md)
      ✓ strategist: 92/100 by strategist-critic after 1 round
      → coder: judged by coder-critic, Execution
      [coder] round 1 of 3
      [coder]   worker coder: working…
      [coder]   files: 9 bytes
      [coder]   critic coder-critic: working…
      [coder]   ✓ approved by coder-critic
      [coder]     the critic states 88 points
      [coder]     score 88/100 (passes at 80), as stated by the critic
      [coder]       88 as the critic stated it: the rubric has no table
      [coder]     + 1. risk stated (new): worth 12 → mend it
      [coder]   Score 88 (stated): at least 80
      [coder]   ✓ Score 88 (stated) of 100, 80 needed (1 round)
      ✓ accepted into your checkout: 1 file (out/code.py)
      ✓ coder: 88/100 by coder-critic after 1 round
      → writer: judged by writer-critic, Paper
      [writer] round 1 of 3
      [writer]   worker writer: working…
      [writer]   files: 8 bytes
      [writer]   critic writer-critic: working…
      [writer]   ✓ approved by writer-critic
      [writer]     the critic states 96 points
      [writer]     score 96/100 (passes at 80), as stated by the critic
      [writer]       96 as the critic stated it: the rubric has no table
      [writer]     + 1. risk stated (new): worth 4 → mend it
      [writer]   Score 96 (stated): at least 80
      [writer]   ✓ Score 96 (stated) of 100, 80 needed (1 round)
      ✓ accepted into your checkout: 1 file (out/paper.md)
      ✓ writer: 96/100 by writer-critic after 1 round
      Component   Weight  Agent       Score  Status
      strategist  50%     strategist  92     pass
      coder       30%     coder       88     pass
      writer      20%     writer      96     pass
      strategist     50%  × 92     =   46.00
      coder          30%  × 88     =   26.40
      writer         20%  × 96     =   19.20
      sum         100% of 100%: 91.60 / 100% = 91.60
      gate commit is open: 91.60; it needs 80
      ✓ overall 91.60, gate `commit` open (3 dispatched, 1 overall round)
    ### Suggested Learnings
      - [HIGH-PERF] strategist scored 92 by strategist-critic on the first round --- keep the brief of strategist as it is and use this draft as a template
      - [HIGH-PERF] writer scored 96 by writer-critic on the first round --- keep the brief of writer as it is and use this draft as a template

    approved: 3 of 3 agents done, gate commit at 91.60
      result     ✓ overall 91.60, gate `commit` open (3 dispatched, 1 overall round)
      accepted   out/memo.md
      accepted   out/code.py
      accepted   out/paper.md
      learned    2 suggestions: gadfly learn
    ");
    assert_eq!(desk.read("out/memo.md"), "# Estimand\n\nThe effect.\n");
    assert_eq!(
        (desk.read("out/code.py"), desk.read("out/paper.md")),
        ("print(1)\n".into(), "# Paper\n".into())
    );
    let state = json(&desk, ".gadfly/pipeline_state.json");
    assert_eq!(state["project"], "reform");
    let completed: Vec<_> =
        state["agents_completed"].as_array().unwrap().iter().map(|a| a["agent"].as_str().unwrap()).collect();
    assert_eq!(completed, ["strategist", "coder", "writer"]);
    assert_eq!(state["overall_score"].as_f64(), Some(91.6));
    let receipt = receipt(&desk, "coder");
    assert_eq!((receipt["score"].as_u64(), receipt["critic"].as_str()), (Some(88), Some("coder-critic")));
    let journal = desk.read(".gadfly/research_journal.md");
    assert!(journal.contains("**Score:** 92/100") || journal.contains("92/100"), "{journal}");

    let shown = desk.gadfly(&["show", &desk.run_id()]);
    for part in [
        "approved, pipeline, 3 agents",
        "coder-critic",
        "done",
        "gate commit is open: 91.60",
        "### Suggested Learnings",
    ] {
        assert!(shown.out.contains(part), "{part}: {}", shown.out);
    }
    let shown = desk.gadfly(&["show", &desk.run_id(), "--json"]);
    let state: serde_json::Value = serde_json::from_str(&shown.out).unwrap();
    assert_eq!(state["pipeline"]["agents"][1]["score"], 88);
    assert_eq!(desk.gadfly(&["show", &desk.run_id(), "--briefs"]).code, 0);

    // Everybody is done: the next one dispatches nobody and pays for nothing.
    let calls = desk.calls();
    assert!(calls >= 6, "{calls}");
    let again = pipeline(&desk, &[]);
    assert_eq!((again.code, desk.calls()), (0, 0), "{}", again.err);

    // One byte later the verdict on the memo is stale, and so is what rests on it.
    desk.write("out/memo.md", "# Estimand\n\nThe effect!\n");
    let again = pipeline(&desk, &[]);
    assert_eq!(again.code, 0, "{}", again.err);
    assert!(again.err.contains("→ strategist"), "{}", again.err);
}

#[test]
fn undone_the_checkout_is_as_it_was() {
    let desk = three();
    let before = desk.files();
    assert_eq!(pipeline(&desk, &[]).code, 0);
    assert_ne!(desk.files(), before);
    let said = desk.gadfly(&["undo", &desk.run_id(), "--yes"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert_eq!(desk.files(), before);
}

#[test]
fn red_is_mended_and_what_was_mended_is_judged_before_it_counts() {
    let desk = one(&["broken\n", "mended\n"], &[90, 85]);
    desk.configure("[verify.coder]\ncommands = [\"grep -q mended out/code.py\"]\n");
    let said = pipeline(&desk, &[]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.err.contains("✗ verify `grep -q mended out/code.py`: exit code 1"), "{}", said.err);
    assert!(said.err.contains("✓ verify `grep -q mended out/code.py`: exit code 0"), "{}", said.err);
    assert_eq!(desk.read("out/code.py"), "mended\n");
    assert_eq!(receipt(&desk, "coder")["score"], 85, "the score is that of the mended bytes");
}

#[test]
fn a_referee_judges_what_its_conditions_name_and_its_report_is_kept() {
    let desk = project(
        "## writer\n- REQUIRES: None\n- PRODUCES: `out/paper.md`\n- CRITIC: writer-critic\n- ESCALATION_TARGET: User\n\
         - QUALITY_WEIGHT: 50%\n\n## referee\n- REQUIRES: writer-critic score >= 80\n- PRODUCES: `reviews/referee.md`\n\
         - CRITIC: None\n- ESCALATION_TARGET: User\n- QUALITY_WEIGHT: 50%\n",
    );
    writes(&desk, "writer", "out/paper.md", &["# Paper\n"]);
    judges(&desk, "writer-critic", &[90]);
    judges(&desk, "referee", &[74]);
    let said = pipeline(&desk, &[]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.err.contains("referee: 74/100"), "{}", said.err);
    assert!(said.err.contains("gate commit is open: 82.00"), "{}", said.err);
    assert!(desk.read("reviews/referee.md").contains("worth 26"));
}

#[test]
fn reports_of_a_pipeline_name_its_agents_and_its_gate() {
    let desk = three();
    judges_low(&desk);
    let said = pipeline(
        &desk,
        &[
            "--report",
            "markdown=r.md",
            "--report",
            "json=r.json",
            "--report",
            "junit=r.xml",
            "--report",
            "sarif=r.sarif",
        ],
    );
    assert_eq!(said.code, 3, "{}", said.err);
    let markdown = desk.read("r.md");
    assert!(markdown.contains("| coder |") && markdown.contains("Gate pr is closed"), "{markdown}");
    let report = json(&desk, "r.json");
    assert_eq!(report["pipeline"]["agents"].as_array().unwrap().len(), 3);
    assert_eq!(report["pipeline"]["open"], false);
    let junit = desk.read("r.xml");
    assert!(junit.contains("gadfly.pipeline.agents") && junit.contains("gadfly.pipeline.gate"), "{junit}");
    assert!(json(&desk, "r.sarif")["runs"].is_array());
}

/// One overall round, towards a gate that cannot be reached.
fn judges_low(desk: &crate::pipeline::desk::Desk) {
    desk.configure("[pipeline]\noverall = 1\ngate = \"pr\"\n[gates.pr]\noverall = 99\n");
}

#[test]
fn what_is_incomplete_is_named_sent_back_and_never_judged() {
    let desk = three();
    desk.scripted(
        "lazy",
        &[Answer { text: "Done.", files: &[("out/memo.md", "no headings\n")], ..Answer::default() }],
    );
    let config = desk.beside("home/.config/gadfly/gadfly.toml");
    let text = std::fs::read_to_string(&config).unwrap().replace("bin/strategist.toml", "bin/lazy.toml");
    std::fs::write(config, format!("{text}[pipeline]\noverall = 1\n")).unwrap();
    let said = pipeline(&desk, &[]);
    assert_eq!(said.code, 3, "{}", said.err);
    let line =
        "Agent [strategist] completed but output is incomplete: missing section \"Estimand\" in out/memo.md";
    assert!(said.err.contains(line), "{}", said.err);
    assert!(said.err.contains("Cannot dispatch [coder]: missing out/memo.md"), "{}", said.err);
    assert!(!desk.path("out/memo.md").exists(), "nothing of it is delivered");
    assert!(!desk.told().contains(&gives(92)), "nobody was asked to judge it");
}
