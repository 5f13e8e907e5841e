//! Whether the parts of a project speak of the same things.

use super::*;

const MANY: &str = "# Permissions\n\n## writer\n- **REQUIRES:** None\n- **PRODUCES:** `quality_reports/drafts/{project}/draft.md`\n- **CRITIC:** writer-critic\n- **QUALITY_WEIGHT:** 50%\n\n## editor\n- **REQUIRES:** None\n- **PRODUCES:** `quality_reports/reviews/letter.md`\n- **CRITIC:** None\n- **QUALITY_WEIGHT:** 50%\n\n## theorist\n- **REQUIRES:** None\n- **PRODUCES:** `theory.md`\n- **CRITIC:** writer-critic\n- **CONDITIONAL:** yes\n- **QUALITY_WEIGHT:** None\n";

fn agents() -> Vec<(&'static str, &'static str)> {
    vec![
        (".claude/agents/writer.md", "---\nname: writer\n---\nYou are a CREATOR."),
        (".claude/agents/writer-critic.md", "---\nname: writer-critic\ntools: Read\n---\nYou are a CRITIC."),
        (".claude/agents/editor.md", "---\nname: editor\ntools: Read, Grep\n---\nYou decide."),
        (".claude/agents/theorist.md", "---\nname: theorist\n---\nYou are a CREATOR."),
        (".claude/permissions.md", MANY),
    ]
}

#[test]
fn a_project_that_fits_together_has_only_what_is_worth_knowing() {
    let mut files = agents();
    files.push((".claude/skills/w/SKILL.md", "---\nname: w\n---\nThe writer saves `quality_reports/drafts/[topic]/draft.md`.\nLogs: write `logs/x.md`.\n"));
    assert_eq!(project(&files).check(), "");
    // The editor judges, so its reply is what it makes; the theorist is expected to write.
    files.retain(|(path, _)| !path.ends_with("theorist.md"));
    files.push((".claude/agents/theorist.md", "---\nname: theorist\ntools: Read\n---\nYou are a CREATOR."));
    assert_snapshot!(project(&files).check(), @r#"
    warning: agent `theorist` makes files and has no tool to write them: its reply is saved at theory.md
      at .claude/agents/theorist.md:2:1
    "#);
}

#[test]
fn everything_that_does_not_fit_is_said_at_once() {
    let mut files = agents();
    files.retain(|(path, _)| !path.ends_with("theorist.md"));
    files.extend([
        (".claude/agents/theorst.md", "---\nname: theorst\n---\nYou are a CREATOR."),
        (".claude/agents/np-style.md", "---\nname: np-style\nmodule: true\n---\nStyle."),
        (".claude/skills/w/SKILL.md", "---\nname: w\n---\nThe writer saves `quality_reports/draft_[topic].md`.\n"),
        (
            "gadfly.toml",
            "[project]\nenable = [\"theorists\", \"writer\", \"np-style\"]\n[verify.coder]\ncommands = \"make\"\n[pipeline]\nplanner = \"np-style\"\n[[dual]]\nagent = \"writer\"\ncritic = \"writer-critic\"\n[[dual]]\nagent = \"wirter\"\ncritic = \"nobody\"\n",
        ),
    ]);
    assert_snapshot!(project(&files).check(), @r#"
    error: agent `theorist` has an entry and no file
      at .claude/permissions.md:15:1
      help: did you mean `theorst`?
    warning: agent `theorst` has a file and no entry: no pipeline dispatches it
      at .claude/agents/theorst.md:2:1
    error: `enable` names `theorists`, and there is no such entry
      at gadfly.toml:2:11
      help: did you mean `theorist`?
    warning: `writer` is not conditional: it runs anyway
      at gadfly.toml:2:24
    error: agent-not-spawnable: `np-style` is a module of another agent
      at gadfly.toml:2:34
      help: see `module` in .claude/agents/np-style.md
    error: `verify` names `coder`, and there is no such entry
      at gadfly.toml:3:9
      help: known here: `writer`, `editor`, `theorist`
    error: `writer-critic` is the critic of `writer` already
      at gadfly.toml:9:10
      help: a second lens needs a second critic
    error: `dual` names `wirter`, and there is no such entry
      at gadfly.toml:11:9
      help: did you mean `writer`?
    error: `dual` names `nobody`, and there is no such agent
      at gadfly.toml:12:10
      help: known here: `editor`, `theorst`, `writer`, `writer-critic`
    error: agent-not-spawnable: `np-style` is a module of another agent
      at gadfly.toml:6:11
      help: see `module` in .claude/agents/np-style.md
    warning: skill `w` saves at `quality_reports/draft_[topic].md`, and the registry expects it from `writer` at quality_reports/drafts/{project}/draft.md
      at .claude/skills/w/SKILL.md:4:19
    "#);
}

#[test]
fn a_module_in_the_registry_is_refused() {
    let registry = "## np-style\n- **REQUIRES:** None\n- **PRODUCES:** `a.md`\n- **CRITIC:** None\n";
    let found = project(&[
        (".claude/agents/np-style.md", "---\nname: np-style\nmodule: true\n---\nStyle."),
        (".claude/permissions.md", registry),
    ]);
    let found = check(&found.read(), &found.config);
    assert!(
        found.iter().any(|p| p.is_error() && p.message.starts_with("agent-not-spawnable")),
        "{}",
        shown(&found)
    );
}

#[test]
fn a_registry_that_is_named_and_not_there_is_an_error() {
    let found = project(&[("gadfly.toml", "[project]\nregistry = \"docs/registry.md\"\n")]).read();
    assert_snapshot!(shown(&found.problems), @r#"
    error: the registry `docs/registry.md` cannot be read
      at gadfly.toml:2:12
    "#);
    assert!(found.registry.is_none());
}

#[test]
fn a_registry_that_cannot_be_read_is_an_error() {
    let large = "x".repeat(1024 * 1024 + 1);
    let found = project(&[agents()[0], (".claude/permissions.md", &large)]).read();
    assert_eq!(shown(&found.problems), "error: `.claude/permissions.md` is larger than 1048576 bytes");
}

#[test]
fn names_are_taken_as_the_files_spell_them() {
    let registry = REGISTRY.replace("## writer", "## Writer").replace("writer-critic", "Writer-Critic");
    let mut files = agents();
    files.retain(|(path, _)| !path.ends_with("permissions.md"));
    files.push((".claude/permissions.md", &registry));
    let found = project(&files).read();
    let entry = &found.registry.as_ref().unwrap().registry.entries[0];
    assert_eq!((entry.agent.as_str(), entry.critic.as_deref()), ("writer", Some("writer-critic")));
}
