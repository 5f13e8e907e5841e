//! What a project's own files say about how it should be run: its agents, its name, the logs its rules want, data that git
//! does not keep, and the commands that compile or test it. Looks at names and a few small files; runs nothing.

use std::fmt::Write as _;
use std::path::Path;

use crate::file;
use crate::layout::{Layout, ProjectFiles};
use crate::place::visible;

/// Logs that rules of such projects have agents write, and how they are named there.
const LOGS: [(&str, &str); 4] = [
    ("SESSION_REPORT.md", "SESSION_REPORT.md"),
    ("session_logs", "quality_reports/session_logs/**"),
    ("research_journal.md", "quality_reports/research_journal.md"),
    ("MEMORY.md", "MEMORY.md"),
];
/// Folders that hold data, where they are there.
const DATA: [&str; 4] = ["data/raw", "data", "raw_data", "rawdata"];
/// Parts of such a folder that are named one by one.
const MOST_LINKS: usize = 8;

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ProjectHints {
    /// Agents of the registry.
    agents: usize,
    /// What `{project}` stands for, and whether that is only a proposal.
    name: Option<(String, bool)>,
    also: Vec<&'static str>,
    /// What git ignores and agents have to read.
    ignored: Vec<String>,
    verify: Vec<VerifyHint>,
}

/// A command that checks somebody's files.
#[derive(Clone, PartialEq, Eq, Debug)]
struct VerifyHint {
    agent: &'static str,
    command: String,
    program: &'static str,
    is_installed: bool,
}

impl ProjectHints {
    /// `has` says whether a program is installed.
    pub fn of(files: &ProjectFiles, state: Option<&str>, has: impl Fn(&str) -> bool) -> Self {
        let root = files.root.as_path();
        let mut hints = Self::default();
        if files.layout != Layout::Native {
            let ignore = file::read_text(&root.join(".gitignore")).unwrap_or_default();
            let mut linkable = DATA.iter().map(|dir| linkable(root, &ignore, dir));
            hints.ignored = linkable.find(|found| !found.is_empty()).unwrap_or_default();
        }
        let Some(registry) = &files.registry else { return hints };
        let entries = &registry.registry.entries;
        hints.agents = entries.len();
        let stated = files.project_name(state).map(|found| (found.name, false));
        hints.name = stated.or_else(|| Some((folder_name(root)?, true)));
        let wanted = |word: &str| files.always.iter().any(|doc| doc.text.contains(word));
        hints.also = LOGS.iter().filter(|(word, _)| wanted(word)).map(|(_, path)| *path).collect();
        hints.verify = commands(root);
        hints.verify.retain(|hint| entries.iter().any(|entry| entry.agent == hint.agent));
        for hint in &mut hints.verify {
            hint.is_installed = has(hint.program);
        }
        hints
    }

    /// Agents that are known by their files run on somebody else's kind and model.
    pub fn needs_default(&self) -> bool {
        self.agents > 0
    }

    /// Dollars and minutes: in a pipeline a worker and a critic for each agent, twice.
    pub fn budget(&self, usual: usize) -> (usize, usize) {
        (usual.max(self.agents * 2), (self.agents * 15).max(30))
    }

    /// The tables `[project]`, `[workspace]` and `[verify.NAME]`, as far as there is something to say.
    pub fn tables(&self) -> String {
        let mut out = String::new();
        let list = |items: &[&str]| toml::Value::from(items.to_vec()).to_string();
        if self.name.is_some() || !self.also.is_empty() {
            out.push_str("\n[project]\n");
        }
        if let Some((name, guessed)) = &self.name {
            let why = if *guessed { "  # what {project} stands for: change it if you like" } else { "" };
            let _ = writeln!(out, "name = {}{why}", toml::Value::from(visible(name)));
        }
        if !self.also.is_empty() {
            let _ = writeln!(out, "also = {}  # logs that the project's rules want", list(&self.also));
        }
        if !self.ignored.is_empty() {
            let ignored: Vec<&str> = self.ignored.iter().map(String::as_str).collect();
            let link = list(&ignored);
            let why = "git ignores it; agents read it through a link";
            let _ = write!(out, "\n[workspace]\nlink = {link}  # {why}\n");
        }
        let mut seen: Vec<&str> = Vec::new();
        for hint in &self.verify {
            if seen.contains(&hint.agent) {
                continue;
            }
            seen.push(hint.agent);
            let of_agent = self.verify.iter().filter(|other| other.agent == hint.agent);
            let (ready, missing): (Vec<_>, Vec<_>) = of_agent.partition(|other| other.is_installed);
            if !ready.is_empty() {
                let commands: Vec<&str> = ready.iter().map(|hint| hint.command.as_str()).collect();
                let _ = write!(out, "\n[verify.{}]\ncommands = {}\n", hint.agent, list(&commands));
            }
            for other in missing {
                let (agent, program, command) = (other.agent, other.program, list(&[&other.command]));
                let _ = write!(
                    out,
                    "\n# {program} is not installed here\n# [verify.{agent}]\n# commands = {command}\n"
                );
            }
        }
        out
    }
}

fn folder_name(root: &Path) -> Option<String> {
    let name = root.canonicalize().ok()?.file_name()?.to_str()?.to_owned();
    let slug = gadfly_engine::deduction::slug(&name);
    crate::layout::naming::is_project_name(&slug).then_some(slug)
}

/// The folder, if git ignores all of it; where it keeps some, as a `.gitkeep`, what lies in it and is ignored whole. A link in
/// the place of what git keeps is refused.
fn linkable(root: &Path, ignore: &str, dir: &str) -> Vec<String> {
    if !root.join(dir).is_dir() || !is_ignored(ignore, dir) {
        return Vec::new();
    }
    let has_kept = |path: &str| {
        let kept = ignore.lines().filter_map(|line| line.trim().strip_prefix('!'));
        kept.map(|line| line.trim_start_matches('/').trim_end_matches('/'))
            .any(|line| line.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
    };
    if !has_kept(dir) {
        return vec![dir.to_owned()];
    }
    let Ok(found) = std::fs::read_dir(root.join(dir)) else { return Vec::new() };
    let names = found.take(500).flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let paths = names.filter(|name| !name.starts_with('.')).map(|name| format!("{dir}/{name}"));
    let mut paths: Vec<String> = paths.filter(|path| !has_kept(path)).collect();
    paths.sort();
    paths.truncate(MOST_LINKS);
    paths
}

/// Whether a line of `.gitignore` names the folder or one around it.
fn is_ignored(ignore: &str, folder: &str) -> bool {
    ignore.lines().map(str::trim).any(|line| {
        let line = line.trim_start_matches('/').trim_end_matches('*').trim_end_matches('/');
        let inside = || folder.strip_prefix(line).is_some_and(|rest| rest.starts_with('/'));
        !line.is_empty() && (folder == line || inside())
    })
}

/// What compiles, runs or tests the project.
fn commands(root: &Path) -> Vec<VerifyHint> {
    let is_file = |path: &str| root.join(path).is_file();
    let hint = |agent, command: &str, program| VerifyHint {
        agent,
        command: command.to_owned(),
        program,
        is_installed: false,
    };
    let mut found = Vec::new();
    // The writer makes it: it need not be there yet.
    if is_file("paper/main.tex") || root.join("paper/sections").is_dir() {
        let line = "cd paper && latexmk -pdf -interaction=nonstopmode -halt-on-error main.tex";
        found.push(hint("writer", line, "latexmk"));
    }
    let scripts =
        ["scripts/R/main.R", "scripts/R/00_main.R", "scripts/R/run_all.R", "scripts/main.R", "main.R"];
    if let Some(script) = scripts.into_iter().find(|path| is_file(path)) {
        found.push(hint("coder", &format!("Rscript {script}"), "Rscript"));
    }
    let tests = file::read_text(&root.join("pyproject.toml")).is_ok_and(|text| text.contains("[tool.pytest"));
    if tests || is_file("pytest.ini") || has_python_tests(root) {
        found.push(hint("coder", "pytest -q", "pytest"));
    }
    found
}

fn has_python_tests(root: &Path) -> bool {
    let Ok(found) = std::fs::read_dir(root.join("tests")) else { return false };
    found.take(500).flatten().any(|entry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        name.starts_with("test_") && name.to_ascii_lowercase().ends_with(".py")
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::config::{Config, parse};
    use crate::layout;
    use crate::place::{ConfigLayer, Source};
    use crate::starter::{FoundAgent, starter_for};

    const REGISTRY: &str = "## coder\n- **REQUIRES:** None\n- **PRODUCES:** `scripts/`\n- **CRITIC:** coder-critic\n\n## writer\n- **REQUIRES:** `scripts/`\n- **PRODUCES:** `paper/{project}.tex`\n- **CRITIC:** coder-critic\n";

    fn hints(files: &[(&str, &str)], installed: &[&str]) -> ProjectHints {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let read = layout::read(dir.path(), &Config::from_layers([]).0);
        ProjectHints::of(&read, None, |program| installed.contains(&program))
    }

    #[test]
    fn a_research_project_gets_a_configuration_that_runs() {
        let found = hints(
            &[
                (".claude/rules/permissions.md", REGISTRY),
                (".claude/rules/logging.md", "Append to `SESSION_REPORT.md`."),
                ("CLAUDE.md", "**Project:** Wages\n"),
                (".claude/agents/coder.md", "---\nname: coder\n---\n"),
                ("paper/sections/intro.tex", ""),
                ("tests/test_x.py", ""),
                ("data/raw/x.csv", "1"),
                (".gitignore", "*.log\n/data/\n"),
            ],
            &["pytest"],
        );
        let agent = FoundAgent {
            name: "claude-code".into(),
            kind: crate::config::AgentKind::ClaudeCode,
            vendor: "anthropic".into(),
            base_url: None,
            model: None,
            key_env: None,
            command: vec![],
            lines: vec![],
            env: vec![],
            why: "is installed".into(),
        };
        let text = starter_for(&[agent], &found);
        for part in [
            "[agents.default]",
            "[agents.default-critic]",
            "name = \"Wages\"\n",
            "also = [\"SESSION_REPORT.md\"]",
            "[workspace]\nlink = [\"data/raw\"]",
            "# latexmk is not installed here\n# [verify.writer]",
            "\n[verify.coder]\ncommands = [\"pytest -q\"]\n",
            "usd = 5.0",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let (partial, mut problems) = parse(&Source::new(ConfigLayer::Project, "gadfly.toml", ".", &*text));
        let (config, more) = Config::from_layers([partial]);
        problems.extend(more);
        assert_eq!(problems, [], "{text}");
        assert_eq!(config.project.name.unwrap().value, "Wages");
    }

    #[test]
    fn of_a_folder_that_git_keeps_in_part_only_what_it_ignores_is_linked() {
        let ignore = "/data/raw/*\n!/data/raw/.gitkeep\n!/data/raw/up/\n";
        let found = hints(
            &[
                (".claude/agents/coder.md", "---\nname: coder\n---\n"),
                ("data/raw/.gitkeep", ""),
                ("data/raw/loans.csv", "1"),
                ("data/raw/up/README.md", "1"),
                (".gitignore", ignore),
            ],
            &[],
        );
        assert_eq!(found.ignored, ["data/raw/loans.csv"]);
    }

    #[test]
    fn elsewhere_nothing_is_added() {
        assert_eq!(hints(&[("README.md", "x")], &["pytest"]).tables(), "");
        let plain = hints(&[(".claude/agents/a.md", "---\nname: a\n---\n")], &[]);
        assert_eq!((plain.tables().as_str(), plain.needs_default(), plain.budget(2)), ("", false, (2, 30)));
        let many = ProjectHints { agents: 12, ..ProjectHints::default() };
        assert_eq!(many.budget(5), (24, 180));
    }

    #[test]
    fn a_folder_is_ignored_by_its_own_line_or_one_above() {
        for (line, is) in [
            ("data/", true),
            ("/data/raw", true),
            ("data/raw/*", true),
            ("data/raw/x.csv", false),
            ("dat", false),
        ] {
            assert_eq!(is_ignored(line, "data/raw"), is, "{line}");
        }
    }
}
