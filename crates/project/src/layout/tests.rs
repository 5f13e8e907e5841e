//! Messy projects as they lie on disk, and what is made of them.

use std::fs;

use insta::assert_snapshot;

use super::*;
use crate::config::parse;
use crate::place::{ConfigLayer, Source};

mod checking;
mod loading;
mod routing;

pub(super) struct Project {
    pub dir: tempfile::TempDir,
    config: Config,
}

/// A project of these files; `gadfly.toml` is its configuration.
pub(super) fn project(files: &[(&str, &str)]) -> Project {
    let dir = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let text = files.iter().find(|(path, _)| *path == "gadfly.toml").map_or("", |(_, text)| text);
    let (partial, problems) = parse(&Source::new(ConfigLayer::Project, "gadfly.toml", dir.path(), text));
    assert_eq!(problems, []);
    let (config, problems) = Config::from_layers([partial]);
    assert_eq!(problems, []);
    Project { dir, config }
}

impl Project {
    pub fn read(&self) -> ProjectFiles {
        super::read(self.dir.path(), &self.config)
    }

    pub fn check(&self) -> String {
        shown(&check(&self.read(), &self.config))
    }

    fn duals(&self) -> Vec<String> {
        let duals = self.read().duals(&self.config);
        duals.iter().map(|dual| format!("{} + {}", dual.agent, dual.critic)).collect()
    }
}

pub(super) fn shown(problems: &[Problem]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

const REGISTRY: &str = "# Permissions\n\n## writer\n- **PHASE:** Execution\n- **REQUIRES:** None\n- **PRODUCES:** `paper/{project}/main.tex`\n- **CRITIC:** writer-critic\n- **QUALITY_WEIGHT:** 20%\n";

#[test]
fn the_most_specific_layout_that_holds_its_own_files_is_taken() {
    let native = ("agents/a.md", "---\nname: a\n---\nWho.");
    let claude = (".claude/agents/b.md", "---\nname: b\n---\nWho.");
    let neuroflow = (".neuroflow/flow.md", "# flow");
    let nubos = (".nubos-pilot/config.json", "{}");
    for (files, layout, because) in [
        (vec![native], Layout::Native, "no other layout's files are there"),
        (vec![native, (".claude/settings.json", "{}")], Layout::Native, "no other layout's files are there"),
        (
            vec![native, (".claude/permissions.md", REGISTRY)],
            Layout::Claude,
            "`.claude/permissions.md` is there",
        ),
        (vec![native, claude], Layout::Claude, "`.claude/agents/` is there"),
        (vec![native, claude, neuroflow], Layout::Neuroflow, "`.neuroflow/flow.md` is there"),
        (vec![claude, (".neuroflow/sessions/x.md", "")], Layout::Claude, "`.claude/agents/` is there"),
        (vec![claude, neuroflow, nubos], Layout::Nubos, "`.nubos-pilot/config.json` is there"),
    ] {
        let found = project(&files).read();
        assert_eq!((found.layout, found.because.as_str()), (layout, because));
    }
    let stated = project(&[claude, ("gadfly.toml", "[project]\nlayout = \"native\"\n"), native]).read();
    assert_eq!((stated.layout, stated.agents.contains_key("a")), (Layout::Native, true));
    assert_eq!(stated.because, "`layout = \"native\"` is set (gadfly.toml:2)");
}

#[test]
fn agents_are_read_as_they_are_written() {
    let found = project(&[
        (
            ".claude/agents/coder.md",
            "---\nname: coder\ndescription: Writes code\ntools: Read, Write, Edit\nmodel: inherit\n---\nYou are a **CREATOR**.\n",
        ),
        (
            ".claude/agents/paper-critic.md",
            "\u{feff}---\r\nname: paper-critic\r\ndescription: Ends with [STATUS: APPROVED] or [STATUS: REJECTED].\r\ntools:\r\n  - Read\r\n---\r\nYou are a CRITIC, not a creator.\r\n",
        ),
        (".claude/agents/plain.md", "Just who it is."),
        (".claude/agents/np-critic-style.md", "---\nname: np-critic-style\nmodule: true\n---\nStyle."),
        (".claude/agents/README.md", "About agents."),
        (".claude/agents/.hidden.md", "---\nname: hidden\n---\n"),
        (".claude/agents/z.md", "---\nname: coder\nmodel: opus\n---\nAnother."),
        (".claude/agents/notes.txt", "no agent"),
    ])
    .read();
    let names: Vec<&str> = found.agents.keys().map(String::as_str).collect();
    assert_eq!(names, ["coder", "np-critic-style", "paper-critic", "plain"]);
    let coder = &found.agents["coder"];
    assert_eq!((coder.model.as_deref(), coder.role, coder.can_write()), (None, AgentRole::Creator, true));
    assert_eq!(coder.body, "You are a **CREATOR**.");
    let critic = &found.agents["paper-critic"];
    assert_eq!((critic.role, critic.can_write()), (AgentRole::Critic, false));
    assert_eq!(critic.description.as_deref(), Some("Ends with [STATUS: APPROVED] or [STATUS: REJECTED]."));
    assert_eq!((found.agents["plain"].role, found.agents["plain"].can_write()), (AgentRole::Unknown, true));
    assert!(found.agent("np-critic-style").unwrap_err().message.starts_with("agent-not-spawnable"));
    assert!(found.agent("coder").unwrap().is_some() && found.agent("nobody").unwrap().is_none());
    assert_snapshot!(shown(&found.guessed), @r#"
    warning: `description: Ends with [STATUS: APPROVED` is not valid YAML; the text was taken as it stands
      at .claude/agents/paper-critic.md:3:1
    warning: the file states no `name`; the agent is named after the file
      at .claude/agents/plain.md:1:1
    "#);
    assert_snapshot!(shown(&found.problems), @r#"
    error: two files are agent `coder`; `.claude/agents/coder.md` counts
      at .claude/agents/z.md:2:1
      help: give one of them another `name`
    "#);
}

#[test]
fn what_cannot_be_read_is_said_and_ends_nothing() {
    let project = project(&[(".claude/agents/a.md", "---\nname: a\n---\nWho.")]);
    let agents = project.dir.path().join(".claude/agents");
    fs::write(agents.join("binary.md"), [0xff, 0xfe, 0]).unwrap();
    fs::write(agents.join("large.md"), "x".repeat(1024 * 1024 + 1)).unwrap();
    fs::create_dir(agents.join("folder.md")).unwrap();
    let found = project.read();
    assert_eq!(found.agents.len(), 1);
    assert_snapshot!(shown(&found.problems), @r#"
    warning: `.claude/agents/binary.md` is not UTF-8 text and was passed over
    warning: `.claude/agents/large.md` is larger than 1048576 bytes and was passed over
    "#);
}

#[cfg(unix)]
#[test]
fn links_that_lead_out_of_the_project_are_not_followed() {
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("secret.md"), "---\nname: secret\n---\nKEY").unwrap();
    let project = project(&[(".claude/agents/a.md", "---\nname: a\n---\nWho.")]);
    let link = |to: &Path, at: &str| std::os::unix::fs::symlink(to, project.dir.path().join(at)).unwrap();
    link(&outside.path().join("secret.md"), ".claude/agents/secret.md");
    link(outside.path(), ".claude/skills");
    link(&outside.path().join("secret.md"), "CLAUDE.md");
    let found = project.read();
    assert_eq!(found.agents.keys().collect::<Vec<_>>(), ["a"]);
    assert_eq!((found.always.len(), found.skills.len()), (0, 0));
    assert!(found.problems.len() >= 3 && found.problems.iter().all(Problem::is_error));
}

#[test]
fn the_always_loaded_layers_come_in_order_and_once() {
    let found = project(&[
        ("CLAUDE.md", "# Paper\n\n**Project:** Min wage\n"),
        ("AGENTS.md", "# Paper\n\n**Project:** Min wage\n"),
        (".claude/rules/permissions.md", REGISTRY),
        (".claude/rules/content.md", "---\npaths:\n  - \"paper/**\"\n---\n**INV-1.** Tables have\nnotes.\n- **INV-2:** Figures\n\n```\n**INV-9.** no\n```\n"),
        (".claude/rules/more.md", "* **INV-3. Seeds.** One seed.\n**INV-1.** Other.\n"),
        (".claude/rules/scoring-rubrics.md", "## writer-critic\nx"),
        (".claude/references/domain.md", "Domain"),
        ("MEMORY.md", "# Memory\n- [LEARN:style] No dashes.\n[LEARN:r] Seeds.\n[LEARN:] no\nprose [LEARN:x] no\n"),
        (".gadfly/memory.md", "- [LEARN:FRICTION] Ask first.\n"),
    ])
    .read();
    let paths: Vec<_> = found.always.iter().map(|doc| doc.path.to_str().unwrap()).collect();
    assert_eq!(paths, ["CLAUDE.md", ".claude/rules/content.md", ".claude/rules/more.md"]);
    assert_eq!(found.always[1].paths, ["paper/**"]);
    assert_eq!(found.references.len(), 1);
    let invariants = found.invariants.iter().map(|i| format!("{} {} {}", i.id, i.line, i.text));
    assert_snapshot!(invariants.collect::<Vec<_>>().join("\n"), @r#"
    INV-1 5 Tables have notes.
    INV-2 7 Figures
    INV-3 1 Seeds. One seed.
    "#);
    assert_snapshot!(shown(&found.guessed), @r#"
    warning: INV-1 is stated again; .claude/rules/content.md:5 counts
      at .claude/rules/more.md:2:1
    "#);
    let learned =
        found.memory.iter().map(|l| format!("{}:{} {}: {}", l.path.display(), l.line, l.tag, l.text));
    assert_snapshot!(learned.collect::<Vec<_>>().join("\n"), @r#"
    MEMORY.md:2 style: No dashes.
    MEMORY.md:3 r: Seeds.
    .gadfly/memory.md:1 FRICTION: Ask first.
    "#);
    assert_eq!(found.project_name(None).unwrap().name, "min-wage");
}

#[test]
fn the_only_folder_in_the_place_of_the_placeholder_is_the_project() {
    let files = [(".claude/permissions.md", REGISTRY), ("CLAUDE.md", "**Project:** [name]\n")];
    let project = project(&[files[0], files[1], ("paper/minwage/.gitkeep", ""), ("paper/.cache/x", "")]);
    assert_eq!(project.read().project_name(None).unwrap().name, "minwage");
    fs::create_dir(project.dir.path().join("paper/other")).unwrap();
    assert_eq!(project.read().project_name(None), None);
    assert_eq!(project.read().project_name(Some("other")).unwrap().name, "other");
}

#[test]
fn a_critics_rubric_is_its_own_file_or_its_section() {
    let all = "# Rubrics\n\n## Writer-Critic (paper)\n\n### Critical\n| Issue | Deduction |\n|---|---|\n| No compile | -20 |\n\n```\n## not a heading\n```\n### Minor\n| Issue | Deduction |\n|---|---|\n| Typo | -1 per, max -5 |\n\n## coder-critic\n| Issue | Deduction |\n|---|---|\n| Bug | -30 |\n";
    let files = [
        (".claude/agents/a.md", "---\nname: a\n---\n"),
        (".claude/skills/review/SKILL.md", "---\nname: review\n---\nx"),
        (".claude/skills/review/config/scoring-rubrics.md", all),
        (".claude/rubrics/coder-critic.md", "Only bugs count."),
    ];
    let project = project(&files);
    let found = project.read();
    let rubric = found.rubric_for("writer-critic").unwrap();
    assert!(rubric.text.starts_with("### Critical") && rubric.text.ends_with("max -5 |"), "{}", rubric.text);
    let path = project.dir.path().join(&rubric.path);
    let table = crate::deduction_table::read(&path, rubric.section.as_deref()).unwrap().table.unwrap();
    assert_eq!(table.rows.len(), 2);
    assert_eq!(found.rubric_for("coder-critic").unwrap().text, "Only bugs count.");
    assert_eq!(found.rubric_for("nobody"), None);
    assert_eq!(found.rubric_for("../../secret"), None);
}

#[test]
fn second_critics_of_the_claude_layout_count_where_they_are_there() {
    let agent = |name: &str| (format!(".claude/agents/{name}.md"), format!("---\nname: {name}\n---\n"));
    let files: Vec<_> = ["strategist", "coder", "coder-critic", "writer"].map(agent).into();
    let mut files: Vec<(&str, &str)> = files.iter().map(|(p, t)| (p.as_str(), t.as_str())).collect();
    assert_eq!(project(&files).duals(), ["strategist + coder-critic"]);
    files.push(("gadfly.toml", "dual = []"));
    assert_eq!(project(&files).duals(), [""; 0]);
}

#[test]
fn a_plugins_agents_and_skills_at_the_top_are_found() {
    let found = project(&[
        (".neuroflow/project_config.md", "# Project config\r\nproject_name: eeg study\r\n"),
        ("agents/paper-critic.md", "---\nname: paper-critic\n---\nYou are a CRITIC."),
        ("skills/phase-paper/SKILL.md", "---\nname: phase-paper\ndescription: d\n---\nUse paper-critic."),
    ])
    .read();
    assert_eq!((found.layout, found.agents.len()), (Layout::Neuroflow, 1));
    assert_eq!(found.skills["phase-paper"].dispatches(&found.agents), ["paper-critic"]);
    assert_eq!(found.project_name(None).unwrap().name, "eeg-study");
    assert_eq!(
        found.summary(),
        "neuroflow layout (`.neuroflow/project_config.md` is there): no registry, 1 agents, 1 skills"
    );
}
