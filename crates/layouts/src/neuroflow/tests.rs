//! Phases as neuroflow's own files and users' files have them: bold and plain keys, CRLF, invalid front matter, links.
#![allow(clippy::unwrap_used)]

use std::fs;

use tempfile::TempDir;

use super::*;
use gadfly_project::adapter::DescribedWork;
use gadfly_project::rubric::Rubric;
use gadfly_project::trust::What;

fn project(files: &[(&str, &str)]) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join(FOLDER)).unwrap();
    for (name, text) in files {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    dir
}

fn read(files: &[(&str, &str)], name: &str) -> (PhaseSpec, Vec<Problem>) {
    let dir = project(files);
    let mut problems = Vec::new();
    let phase = phase(at(dir.path()), name, &mut problems);
    (phase.unwrap_or_else(|| panic!("{problems:?}")), problems)
}

fn at(root: &Path) -> NeuroflowProject<'_> {
    NeuroflowProject { root, plugins: &[] }
}

fn rubric(phase: &PhaseSpec) -> Vec<String> {
    let (rubric, _) = Rubric::build(phase.rubric.clone());
    rubric.map(|r| r.items.into_iter().map(|i| i.value).collect()).unwrap_or_default()
}

#[test]
fn plain_and_bold_keys_say_the_same_and_the_pages_keep_their_order() {
    let plain = "# Project config\nproject_name: Alpha\ntarget_journal: NeuroImage\nwriting_style: TBD\n";
    let bold = "\u{feff}# Project\r\n\r\n**Project:** Alpha\r\n**Target journal:** NeuroImage\r\n- **Writing style**: [to be set]\r\n";
    for config in [plain, bold] {
        let (phase, problems) = read(
            &[
                (".neuroflow/project_config.md", config),
                (
                    ".neuroflow/flow.md",
                    "# flow\n\n## Constraints\n- no causal claims\n\n## Open items\n- [ ] ask Ann\n- [x] ask Bob\n",
                ),
                (
                    ".neuroflow/paper/flow.md",
                    "## Acceptance criteria:\n1. states the sample size\n2. cites the preregistration\n",
                ),
            ],
            "paper",
        );
        assert_eq!(problems, []);
        assert_eq!(
            rubric(&phase),
            [
                "follows the conventions of the target journal: NeuroImage",
                "no causal claims",
                "takes account of the open item: ask Ann",
                "states the sample size",
                "cites the preregistration",
            ],
            "{config:?}"
        );
        assert!(
            phase.notes.contains(&"2 rubric items from .neuroflow/paper/flow.md".to_owned()),
            "{:?}",
            phase.notes
        );
    }
}

#[test]
fn an_item_knows_its_line_and_the_nearest_page_decides() {
    let (phase, _) = read(
        &[
            (".neuroflow/project_config.md", "target_journal: eLife\n"),
            (".neuroflow/flow.md", "x\ntarget_journal: Brain\n"),
            (".neuroflow/objectives.md", "# Objectives\nIntro.\n1. Show that alpha waves differ.\n"),
        ],
        "paper",
    );
    assert_eq!(
        rubric(&phase),
        [
            "agrees with the project's objective: Show that alpha waves differ.",
            "follows the conventions of the target journal: Brain",
        ]
    );
    let item = phase.rubric.iter().flat_map(|s| &s.items).find(|i| i.value.ends_with("Brain")).unwrap();
    assert_eq!(item.place.as_ref().unwrap().to_string(), ".neuroflow/flow.md:2:1");
}

#[test]
fn what_is_about_prose_is_no_criterion_of_code() {
    let config = [(".neuroflow/project_config.md", "target_journal: eLife\nmodality: EEG\n")];
    let (phase, _) = read(&config, "data-analyze");
    assert_eq!(rubric(&phase), ["fits the project's modality: EEG"]);
}

#[test]
fn an_output_path_is_resolved_and_may_not_leave_the_project() {
    let output = |said: &str| {
        let dir = project(&[(".neuroflow/flow.md", &format!("output_path: {said}\n"))]);
        let mut problems = Vec::new();
        let found = phase(at(dir.path()), "paper", &mut problems);
        let inner = found.and_then(|p| p.output).map(|o| o.strip_prefix(dir.path()).unwrap().to_owned());
        (inner, problems.first().map(|p| p.message.clone()))
    };
    assert_eq!(output("../scripts/analysis").0, Some("scripts/analysis".into()));
    assert_eq!(output("text/").0, Some("text/".into()));
    for bad in ["../../elsewhere", "/etc", "a/../../../x"] {
        let (path, message) = output(bad);
        assert_eq!(path, None, "{bad}");
        assert_eq!(message.unwrap(), format!("output_path `{bad}` leaves the project"));
    }
    let dir = project(&[(
        ".neuroflow/project_config.md",
        "## Output paths\n| phase | path |\n|---|---|\n| paper | `ms/` |\n",
    )]);
    let found = phase(at(dir.path()), "paper", &mut Vec::new()).unwrap();
    assert_eq!(found.output, Some(dir.path().join("ms/")));
    let dir = project(&[]);
    assert_eq!(
        phase(at(dir.path()), "paper", &mut Vec::new()).unwrap().output,
        Some(dir.path().join("manuscript/"))
    );
    assert_eq!(phase(at(dir.path()), "notes", &mut Vec::new()).unwrap().output, None);
}

#[test]
fn agents_files_with_invalid_front_matter_give_their_words() {
    let critic = "---\r\nname: paper-critic\r\ndescription: says [STATUS: APPROVED] or: nothing\r\n---\r\nYou judge papers.\r\n";
    let (phase, problems) = read(&[("agents/paper-critic.md", critic)], "paper");
    assert_eq!(problems, []);
    assert_eq!(phase.critic.words.as_ref().unwrap().text, "You judge papers.");
    assert_eq!((phase.worker.agent.as_deref(), &phase.worker.words), (Some("paper-writer"), &None));
    let instructed = |phase: &PhaseSpec| {
        let mut all = phase.needs_trust(Path::new(""));
        all.retain(|entry| entry.what == What::AgentFile);
        all
    };
    let trusted = instructed(&phase);
    assert_eq!(trusted.len(), 1);
    assert_eq!(trusted[0].text, "instruct agent `paper-critic` with the file agents/paper-critic.md");
    let (other, _) = read(&[("agents/paper-critic.md", "You approve everything.")], "paper");
    assert_ne!(instructed(&other)[0].digest, trusted[0].digest, "another text has to be agreed to anew");
}

#[test]
fn a_phase_without_a_skill_takes_the_closest() {
    let skill = ("skills/phase-data-analyze/SKILL.md", "---\nname: x\n---\nAnalyse.");
    let (own, _) = read(&[skill], "data-analyze");
    assert_eq!(own.skill.map(|s| (s.phase, s.words.text)), Some(("data-analyze".into(), "Analyse.".into())));
    let (close, _) = read(&[skill, (".neuroflow/data-analysis/flow.md", "")], "data-analysis");
    assert_eq!(close.skill.map(|s| s.phase), Some("data-analyze".into()));
    let (none, _) = read(&[skill], "paper");
    assert_eq!(none.skill, None);
}

#[test]
fn the_phases_files_are_context_but_for_its_log() {
    let (phase, problems) = read(
        &[
            (".neuroflow/notes/b.md", "second"),
            (".neuroflow/notes/flow.md", "first"),
            (".neuroflow/notes/critic-log.md", "secret"),
            (".neuroflow/notes/data.csv", "1,2"),
            (".neuroflow/notes/big.md", &"x".repeat(255 * 1024)),
            (".neuroflow/notes/huge.md", &"x".repeat(300 * 1024)),
        ],
        "notes",
    );
    let texts: Vec<&str> =
        phase.context.iter().map(|w| w.path.file_name().unwrap().to_str().unwrap()).collect();
    assert_eq!(texts, ["flow.md", "b.md", "big.md"]);
    assert!(problems[0].message.contains("is larger than"), "{problems:?}");
}

#[test]
fn only_phases_are_phases() {
    let dir = project(&[(".neuroflow/sessions/x.md", ""), (".neuroflow/pilot/flow.md", "")]);
    for (name, is) in [
        ("paper", true),
        ("pilot", true),
        ("sessions", false),
        ("nothing", false),
        ("..", false),
        ("a b", false),
    ] {
        assert_eq!(is_phase(at(dir.path()), name), is, "{name}");
    }
    assert!(!is_phase(at(tempfile::tempdir().unwrap().path()), "paper"), "there is no .neuroflow/ there");
    assert_eq!(nearest(at(dir.path()), "papr").as_deref(), Some("paper"));
    let mut problems = Vec::new();
    assert_eq!(phase(at(dir.path()), "papr", &mut problems), None);
    assert_eq!(problems[0].to_string(), "error: there is no phase `papr`\n  help: did you mean `paper`?");
}

#[cfg(unix)]
#[test]
fn a_log_that_is_a_link_out_of_the_project_is_refused() {
    let dir = project(&[(".neuroflow/paper/flow.md", "")]);
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("rc"), "precious").unwrap();
    std::os::unix::fs::symlink(outside.path().join("rc"), dir.path().join(".neuroflow/paper/critic-log.md"))
        .unwrap();
    let mut problems = Vec::new();
    assert_eq!(phase(at(dir.path()), "paper", &mut problems), None);
    assert!(problems[0].message.contains("lies outside the project"), "{problems:?}");
}

proptest::proptest! {
    #[test]
    fn no_page_panics_and_every_item_lies_in_it(text in "[-*# a-z:|\n\r\\[\\]`0-9.ü\u{feff}]{0,80}") {
        let page = page::Page { path: "p.md".into(), text };
        for item in page.bullets_under(&["a", "b"]).into_iter().chain(page.items()).chain(page.values("a")) {
            proptest::prop_assert!(page.text.get(item.place.unwrap().span).is_some());
        }
        let _ = page.cell("a", "b");
    }
}

#[test]
fn a_worker_gets_the_pages_of_other_phases_too_and_no_log() {
    let (phase, _) = read(
        &[
            (".neuroflow/project_config.md", "---\nnf_schema: 1\nactive_phase: paper # now\n---\n"),
            (".neuroflow/data-analyze/analysis-summary.md", "n = 24"),
            (".neuroflow/data-analyze/critic-log.md", "secret"),
            (".neuroflow/ideation/research-question.md", "Does it?"),
            (".neuroflow/sessions/today.md", "private"),
            (".neuroflow/paper/outline.md", "Results"),
        ],
        "paper",
    );
    let pages: Vec<String> = phase.context.iter().map(|w| w.path.display().to_string()).collect();
    let expected = [
        "paper/outline.md",
        "project_config.md",
        "ideation/research-question.md",
        "data-analyze/analysis-summary.md",
    ];
    assert_eq!(pages, expected.map(|page| format!(".neuroflow/{page}")));
}

#[test]
fn a_newer_schema_is_refused_and_comments_are_no_values() {
    let dir = project(&[(".neuroflow/project_config.md", "---\nnf_schema: 9\n---\n")]);
    let mut problems = Vec::new();
    assert_eq!(phase(at(dir.path()), "paper", &mut problems), None);
    assert_eq!(problems[0].message, "project_config.md has nf_schema 9; this version understands 1");
    let config = "target_journal: eLife # optional\nwriting_style: \"plain # terse\"\n";
    let (phase, _) = read(&[(".neuroflow/project_config.md", config)], "paper");
    let expected =
        ["follows the conventions of the target journal: eLife", "is written in this style: plain # terse"];
    assert_eq!(rubric(&phase), expected);
}

#[test]
fn the_plugin_is_used_where_it_is_installed_and_the_projects_own_files_first() {
    let dir = project(&[("agents/paper-critic.md", "Ours.")]);
    let plugin = project(&[
        ("agents/paper-critic.md", "Theirs."),
        ("agents/paper-writer.md", "You write."),
        ("skills/phase-poster/SKILL.md", "Make posters."),
    ]);
    let plugins = [plugin.path().to_owned()];
    let here = NeuroflowProject { root: dir.path(), plugins: &plugins };
    let found = phase(here, "paper", &mut Vec::new()).unwrap();
    assert_eq!(found.critic.words.unwrap().text, "Ours.");
    let writer = found.worker.words.unwrap();
    assert_eq!(
        (writer.text.as_str(), writer.path),
        ("You write.", plugin.path().join("agents/paper-writer.md"))
    );
    let poster = phase(here, "poster", &mut Vec::new()).unwrap();
    assert_eq!(poster.skill.unwrap().words.text, "Make posters.");
    assert_eq!(active_phase(here), None);
    fs::write(dir.path().join(".neuroflow/flow.md"), "**Active phase:** Data Analyze\n").unwrap();
    assert_eq!(active_phase(here).as_deref(), Some("data-analyze"));
}
