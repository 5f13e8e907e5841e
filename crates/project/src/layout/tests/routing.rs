//! Whom a skill sends out: by the words around an agent's name, and by the arguments the skill is given.

use super::project;

const REVIEW: &str = "# Review

## Routing
- `.tex` paper → **Comprehensive** (writer-critic + verifier)
- `.tex` talk (in talks/) → **Talk** (teller-critic)
- `--theory [target]` → **Proofs** (theorist-critic)
- `--all` or no file → all critics in parallel

### Comprehensive Review (default for .tex paper)
Dispatch in parallel:
1. **writer-critic**: polish
2. **Verifier**: compiles

### Peer Review (`--peer [journal]`)
#### Phase 1
Dispatch the **editor** with the paper.
#### Phase 2
Dispatch **referee** on it.
Re-dispatch the coder if it fails.

### Stress Test (`--stress [journal]`)
Same flow as `--peer`.

### Code Review (`--code` or auto-detect .R/.py)
Dispatch **coder-critic**. Save report to `reports/[file]_code.md`
Fixes are applied by re-dispatching the Coder.
```
Dispatch the writer.
```
";

const AGENTS: [&str; 10] = [
    "coder",
    "coder-critic",
    "writer",
    "writer-critic",
    "verifier",
    "editor",
    "referee",
    "theorist-critic",
    "teller-critic",
    "librarian",
];

fn skilled(skills: &[(&str, &str)]) -> crate::layout::ProjectFiles {
    let mut files: Vec<(String, String)> = AGENTS
        .iter()
        .map(|name| (format!(".claude/agents/{name}.md"), format!("---\nname: {name}\n---\nx")))
        .collect();
    for (name, body) in skills {
        let text = format!("---\nname: {name}\ndescription: d\n---\n{body}");
        files.push((format!(".claude/skills/{name}/SKILL.md"), text));
    }
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    project(&files).read()
}

#[test]
fn arguments_choose_whom_a_skill_sends_out() {
    let found = skilled(&[("review", REVIEW)]);
    let route = |arguments: &str| found.skills["review"].route(arguments, &found.agents);
    assert_eq!(route("paper/main.tex").agents, ["writer-critic", "verifier"]);
    assert_eq!(route("paper/talks/a.tex").agents, ["teller-critic"]);
    assert_eq!(route("--peer AER").agents, ["editor", "referee"]);
    assert_eq!(route("--stress AER").agents, ["editor", "referee"], "the way it names");
    assert_eq!(route("--theory x").agents, ["theorist-critic"]);
    for code in ["--code", "scripts/a.R", "--code scripts/a.R"] {
        assert_eq!(route(code).agents, ["coder-critic"], "{code}");
        assert_eq!(route(code).saves, ["reports/[file]_code.md"]);
    }
    assert!(route("--all").all_critics && route("").all_critics);
}

#[test]
fn a_mode_is_a_word_and_without_one_the_default_is_meant() {
    let body = "## Modes\n### Default\nTalk.\n### `/find lit [topic]` — Literature\n**Agents:** Librarian → x\n\
                ### `/find talk` — Interview\n**Agents:** nobody (no agent dispatch)\n";
    let found = skilled(&[("find", body)]);
    let route = |arguments: &str| found.skills["find"].route(arguments, &found.agents);
    assert_eq!(route("lit wages").agents, ["librarian"]);
    let talk = route("talk wages");
    assert!(talk.agents.is_empty() && talk.is_chosen, "{talk:?}");
    let other = route("wages");
    assert!(other.agents.is_empty() && !other.is_chosen && other.modes == ["lit", "talk"], "{other:?}");
}

#[test]
fn an_agent_has_the_skill_that_sends_it_out_and_not_the_first_that_speaks_of_it() {
    let found = skilled(&[
        ("checkpoint", "Log what the writer did.\n"),
        ("write", "Find the argument.\n\n**Agent:** Writer\n\nDispatch Writer.\n"),
        ("revise", "Dispatch Writer with the comments.\n"),
        ("all", "Run `/write`, then `/revise`.\n"),
    ]);
    let names: Vec<&str> = found.skills_for("writer").iter().map(|skill| skill.name.as_str()).collect();
    assert_eq!(names, ["write", "revise", "checkpoint"]);
    assert!(found.skills["checkpoint"].route("", &found.agents).agents.is_empty());
    assert!(found.skills["all"].leads(&found.skills) && !found.skills["write"].leads(&found.skills));
}
