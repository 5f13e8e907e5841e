//! Skills and their three levels.

use super::*;

const WRITE: &str = "---\nname: write\ndescription: >\n  Drafts the paper\n  section by section.\nargument-hint: \"[section]\"\nallowed-tools: Read,Write,Grep\n---\n# Write\n\nStyle for all: `references/notation.md`.\n\n## Draft\nDispatch the writer-critic after the Writer. Give the writer `templates/moves.md` and write/templates/sections.md.\n\n### Details\nSee [the guide](.claude/references/style.md), not `paper/main.tex`.\n\n## Check\nThe coder reads `templates/deep/*.md`.\nSave to `quality_reports/x_[topic].md`; run /review first.\n";

fn files() -> Vec<(&'static str, &'static str)> {
    vec![
        (".claude/agents/writer.md", "---\nname: writer\n---\nYou are a CREATOR."),
        (".claude/agents/writer-critic.md", "---\nname: writer-critic\n---\nYou are a CRITIC."),
        (".claude/agents/coder.md", "---\nname: coder\n---\nYou are a CREATOR."),
        (".claude/skills/write/SKILL.md", WRITE),
        (".claude/skills/write/gotchas.md", "Do not over-correct."),
        (".claude/skills/write/templates/moves.md", "moves"),
        (".claude/skills/write/templates/sections.md", "sections"),
        (".claude/skills/write/templates/deep/a.md", "a"),
        (".claude/skills/write/templates/.DS_Store", "x"),
        (".claude/skills/write/references/notation.md", "n"),
        (".claude/references/style.md", "style"),
        ("paper/main.tex", "work"),
        (".gadfly/gotchas/write.md", "[LEARN] from here"),
    ]
}

fn named(skill: &Skill, agent: &str) -> String {
    let shown = |path: &PathBuf| path.display().to_string().replace(".claude/", "");
    skill.named_files(agent).iter().map(shown).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_skill_has_three_levels() {
    let found = project(&files()).read();
    let skill = &found.skills["write"];
    assert_eq!(skill.summary(), "write [section]: Drafts the paper section by section.");
    assert_eq!(skill.allowed_tools.as_ref().unwrap(), &["Read", "Write", "Grep"]);
    assert!(skill.body.starts_with("# Write"));
    let gotchas: Vec<&str> = skill.gotchas.iter().map(|doc| doc.text.as_str()).collect();
    assert_eq!(gotchas, ["Do not over-correct.", "[LEARN] from here"]);
    assert_eq!(skill.files.len(), 4, "{:?}", skill.files);
    assert_eq!(skill.level1_tokens, 13);
    assert_eq!((shown(&found.problems), shown(&found.guessed)), (String::new(), String::new()));
}

#[test]
fn a_dispatch_gets_the_files_its_parts_of_the_skill_name() {
    let found = project(&files()).read();
    let skill = &found.skills["write"];
    assert_eq!(
        named(skill, "writer"),
        "skills/write/references/notation.md skills/write/templates/moves.md skills/write/templates/sections.md references/style.md"
    );
    assert_eq!(named(skill, "coder"), "skills/write/references/notation.md skills/write/templates/deep/a.md");
    assert_eq!(named(skill, "somebody-else").split(' ').count(), 5, "all, if no part speaks of it");
}

#[test]
fn workers_come_before_critics_and_a_longer_name_is_no_shorter_one() {
    let found = project(&files()).read();
    assert_eq!(found.skills["write"].dispatches(&found.agents), ["writer", "coder", "writer-critic"]);
    assert_eq!(found.skills_for("coder").len(), 1);
    assert_eq!(found.skills_for("nobody").len(), 0);
}

#[test]
fn a_path_that_leaves_the_project_is_refused() {
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().join("secret.md");
    fs::write(&secret, "KEY").unwrap();
    let body = format!(
        "---\nname: s\n---\nRead `../../../../secret.md`, `../figures/a.pdf` and `../other/templates/x.md`.\nRead {}.\nNever `/data/raw.csv`. Use /review or ~/notes.md.\nAlso `templates/link.md`.\n",
        secret.display()
    );
    let project = project(&[
        (".claude/agents/a.md", "---\nname: a\n---\n"),
        (".claude/skills/s/SKILL.md", &body),
        (".claude/skills/s/templates/t.md", "t"),
        (".claude/skills/other/SKILL.md", "---\nname: other\n---\n"),
        (".claude/skills/other/templates/x.md", "x"),
    ]);
    #[cfg(unix)]
    std::os::unix::fs::symlink(&secret, project.dir.path().join(".claude/skills/s/templates/link.md"))
        .unwrap();
    let found = project.read();
    assert_eq!(named(&found.skills["s"], "a"), "skills/other/templates/x.md");
    assert_eq!(found.skills["s"].files.len(), 1);
    let shown = shown(&found.problems).replace(&outside.path().display().to_string(), "OUTSIDE");
    assert_snapshot!(shown, @r#"
    error: `../../../../secret.md` is outside the project; not shared with agents
      at .claude/skills/s/SKILL.md:4:7
      help: copy the file into the project, and name it there
    warning: `OUTSIDE/secret.md` is outside the project; not shared with agents
      at .claude/skills/s/SKILL.md:5:6
      help: copy the file into the project, and name it there
    error: `templates/link.md` is outside the project; not shared with agents
      at .claude/skills/s/SKILL.md:7:7
      help: copy the file into the project, and name it there
    "#);
}

#[test]
fn skill_folders_in_every_state() {
    let long =
        format!("---\nname: long\ndescription: {}\n---\n{}", "word ".repeat(90), "text ".repeat(4_100));
    let found = project(&[
        (".claude/agents/a.md", "---\nname: a\n---\n"),
        (".claude/skills/small/Skill.md", "---\nname: small\n---\nBody"),
        (".claude/skills/empty/templates/x.md", "x"),
        (".claude/skills/renamed/SKILL.md", "---\nname: other-name\n---\nBody"),
        (".claude/skills/twice/SKILL.md", "---\nname: small\n---\nBody"),
        (".claude/skills/bare/SKILL.md", "Body"),
        (".claude/skills/long/SKILL.md", &long),
        (".claude/skills/.off/SKILL.md", "---\nname: off\n---\n"),
    ])
    .read();
    assert_eq!(found.skills.keys().collect::<Vec<_>>(), ["bare", "long", "other-name", "small"]);
    assert_snapshot!(shown(&found.guessed), @r#"
    warning: the skill is named after its folder: it states no `name` that can be one
      at .claude/skills/bare/SKILL.md:1:1
    warning: `.claude/skills/empty` has no SKILL.md and is no skill
    warning: the skill in folder `renamed` calls itself `other-name`; that is its name
      at .claude/skills/renamed/SKILL.md:2:1
    warning: `Skill.md` was taken for the SKILL.md
      at .claude/skills/small/Skill.md:2:1
    warning: the skill in folder `twice` calls itself `small`; that is its name
      at .claude/skills/twice/SKILL.md:2:1
    "#);
    assert_snapshot!(shown(&found.problems), @r#"
    warning: the index entry of skill `long` takes about 114 tokens; it should be at most 100
      at .claude/skills/long/SKILL.md:2:1
      help: shorten its description
    warning: SKILL.md of skill `long` takes about 5125 tokens; it should be at most 5000
      at .claude/skills/long/SKILL.md:2:1
      help: move parts of it to files beside it, and name them
    error: two folders are skill `small`; `.claude/skills/small/Skill.md` counts
      at .claude/skills/twice/SKILL.md:2:1
      help: give one of them another `name`
    "#);
}
