//! What can be wrong with a page of the documentation, one function per kind of fault. A page is Markdown;
//! what a code block stands for is said by its first line. Nothing here looks at what a page says.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Parser as _;
use gadfly_engine::deduction::{DeductionTable, Level};
use gadfly_engine::protocol::audit::report::{self, AuditCriterion};
use gadfly_engine::protocol::converge::sets;
use gadfly_engine::reading::quoted::Shown;
use gadfly_engine::reading::{audit, pass, score, status};
use gadfly_project::{Config, Problem, Root, deduction_table};

// The real parser, not a copy: a flag that is renamed there is unknown here.
#[allow(dead_code, unused_imports)]
#[path = "../../../src/cli.rs"]
mod cli;

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// A Markdown file, by its path from the root.
pub struct Page {
    pub path: PathBuf,
    pub text: String,
}

pub struct Block {
    /// `toml`, `toml continued`, `sh` …
    pub info: String,
    pub text: String,
    pub line: usize,
}

pub fn pages() -> Vec<Page> {
    let mut paths: Vec<PathBuf> = Vec::new();
    let mut folders = vec![root()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir()
                && !name.starts_with('.')
                && !matches!(name.as_str(), "target" | "prompts" | "node_modules")
            {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "md") {
                paths.push(path);
            }
        }
    }
    paths.sort();
    let page = |path: PathBuf| Page {
        text: fs::read_to_string(&path).unwrap(),
        path: path.strip_prefix(root()).unwrap().to_owned(),
    };
    paths.into_iter().map(page).collect()
}

impl Page {
    pub fn blocks(&self) -> Vec<Block> {
        let mut blocks: Vec<Block> = Vec::new();
        let mut fence: Option<usize> = None;
        for (number, line) in self.text.lines().enumerate() {
            let ticks = line.trim_start().chars().take_while(|c| *c == '`').count();
            match fence {
                None if ticks >= 3 => {
                    fence = Some(ticks);
                    let info = line.trim_start().trim_start_matches('`').trim().to_owned();
                    blocks.push(Block { info, text: String::new(), line: number + 1 });
                }
                Some(open) if ticks >= open && line.trim_matches([' ', '`']).is_empty() => fence = None,
                Some(_) => {
                    let block = blocks.last_mut().unwrap();
                    block.text.push_str(line);
                    block.text.push('\n');
                }
                None => {}
            }
        }
        assert!(fence.is_none(), "{}: a code block is not closed", self.path.display());
        blocks
    }

    /// The text without code, spans of code included.
    pub fn prose(&self) -> String {
        let (mut out, mut inside) = (String::new(), false);
        for line in self.text.lines() {
            if line.trim_start().starts_with("```") {
                inside = !inside;
            } else if !inside {
                out.extend(line.split('`').step_by(2));
            }
            out.push('\n');
        }
        out
    }

    pub fn at(&self, line: usize, problem: &str) -> String {
        format!("{}:{line}: {problem}", self.path.display())
    }
}

/// Everything that is wrong with a page's configurations. `toml` begins one, `toml continued` goes on with it.
pub fn configurations(page: &Page) -> Vec<String> {
    let mut problems = Vec::new();
    let mut so_far = String::new();
    for block in page.blocks() {
        match block.info.as_str() {
            "toml" => so_far.clone_from(&block.text),
            "toml continued" => so_far.push_str(&block.text),
            _ => continue,
        }
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("gadfly.toml"), &so_far).unwrap();
        for file in so_far.split('"').filter(|s| Path::new(s).extension().is_some_and(|e| e == "md")) {
            let file = dir.path().join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "- a stand-in\n").unwrap();
        }
        let (_, found) = Config::load(&Root::at(dir.path()), None);
        problems.extend(found.iter().map(|p| page.at(block.line, &p.message)));
    }
    problems
}

/// Everything that is wrong with the scripts of scripted agents (`toml script`), as `gadfly check` says it.
pub fn scripts(page: &Page) -> Vec<String> {
    let mut problems = Vec::new();
    for block in page.blocks().iter().filter(|b| b.info == "toml script") {
        let dir = tempfile::tempdir().unwrap();
        let config = "[agents.actor]\nkind = \"scripted\"\nscript = \"replies.toml\"\n";
        fs::write(dir.path().join("gadfly.toml"), config).unwrap();
        fs::write(dir.path().join("replies.toml"), &block.text).unwrap();
        let said = gadfly(dir.path(), &["check"]);
        if !said.err.contains("no problems") {
            problems.push(page.at(block.line, &said.err));
        }
    }
    problems
}

/// The table of deductions that a block holds (`markdown rubric`, `toml rubric`); none if it is another block.
fn rubric(block: &Block) -> Option<Result<DeductionTable, String>> {
    let read = match block.info.as_str() {
        "markdown rubric" => deduction_table::from_markdown(&block.text, Path::new("rubric.md"), None),
        "toml rubric" => deduction_table::from_toml(&block.text, Path::new("rubric.toml")),
        _ => return None,
    };
    let all = |found: &[Problem]| found.iter().map(|p| p.message.clone()).collect::<Vec<_>>().join("; ");
    Some(match read {
        Err(found) => Err(all(&found)),
        Ok(reading) if !reading.warnings.is_empty() => Err(all(&reading.warnings)),
        Ok(reading) => reading.table.ok_or_else(|| "it has no deductions".to_owned()),
    })
}

/// Everything that is wrong with a page's rubrics.
pub fn rubrics(page: &Page) -> Vec<String> {
    let wrong = |b: &Block| rubric(b)?.err().map(|why| page.at(b.line, &why));
    page.blocks().iter().filter_map(wrong).collect()
}

/// Every reply of a critic that is not what its page says it is: `text valid`, `json score malformed` …
pub fn replies(page: &Page) -> Vec<String> {
    let blocks = page.blocks();
    let table = blocks.iter().find_map(|b| rubric(b)?.ok());
    let mut problems = Vec::new();
    for block in &blocks {
        let words: Vec<&str> = block.info.split(' ').collect();
        let (protocol, claim) = match words[..] {
            ["text", claim @ ("valid" | "malformed")] => ("revise", claim),
            ["text" | "json", protocol, claim @ ("valid" | "malformed")] => (protocol, claim),
            _ => continue,
        };
        match (claim, read(protocol, &block.text, table.as_ref())) {
            ("valid", Err(why)) => problems.push(page.at(block.line, &format!("not a verdict: {why}"))),
            ("malformed", Ok(())) => problems.push(page.at(block.line, "this is a verdict")),
            _ => {}
        }
    }
    problems
}

/// Whether a protocol can read a reply: `score` by this table, `audit` as a report on round 1 of task T1 with
/// two criteria, `converge` as pass 1 on the set `tasks`.
fn read(protocol: &str, text: &str, table: Option<&DeductionTable>) -> Result<(), String> {
    match protocol {
        "revise" => status::read(text, &Shown::default()).map(drop).map_err(|e| e.to_string()),
        "score" => {
            let expected =
                score::Expected { table, level: Level::High, threshold: 80, by: "critic", lens: None };
            score::read(text, &expected, &Shown::default()).map(drop).map_err(|e| e.to_string())
        }
        "audit" => {
            let criteria =
                ["SC-1", "SC-2"].map(|id| AuditCriterion { id: id.into(), claim: "It holds.".into() });
            let (task_id, report_path) = ("T1", "scratch/critic-T1-r1.json");
            let expected =
                report::ExpectedReport { task_id, round: 1, criteria: &criteria, by: "critic", report_path };
            audit::read(text, None, &expected, &Shown::default()).map(drop).map_err(|e| e.to_string())
        }
        "converge" => {
            let criteria = &sets::set("tasks").unwrap().criteria;
            pass::read(text, criteria, 1, &Shown::default()).map(drop).map_err(|e| e.to_string())
        }
        other => Err(format!("there is no protocol `{other}`")),
    }
}

/// The words of one command line, as a shell would split them; it ends at `|`, `>`, `&&`, `;` or `#`.
pub fn words(line: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let (mut word, mut begun, mut quote) = (String::new(), false, None);
    for c in line.chars() {
        match (quote, c) {
            (Some(q), c) if c == q => quote = None,
            (None, '\'' | '"') => (quote, begun) = (Some(c), true),
            (None, ' ') if begun => {
                words.push(std::mem::take(&mut word));
                begun = false;
            }
            (None, ' ') => {}
            (None, '|' | '>' | '<' | '&' | ';' | '#') => break,
            (_, c) => {
                word.push(c);
                begun = true;
            }
        }
    }
    if begun {
        words.push(word);
    }
    words
}

/// Every `gadfly …` of a page's `sh` blocks that the real parser does not take.
pub fn commands(page: &Page) -> Vec<String> {
    let mut problems = Vec::new();
    for block in page.blocks().iter().filter(|b| b.info == "sh") {
        for line in block.text.replace("\\\n", " ").lines() {
            let words = words(line);
            let args = match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
                ["gadfly", ..] => &words[..],
                ["cargo", "run", "--release", "--", ..] => &words[3..],
                _ => continue,
            };
            if let Err(error) = cli::Cli::try_parse_from(args) {
                problems.push(page.at(block.line, &format!("`{line}`: {error}")));
            }
        }
    }
    problems
}

/// The anchor a heading gets on the usual forges.
pub fn anchor(heading: &str) -> String {
    let kept = heading.to_lowercase();
    kept.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c)).collect::<String>().replace(' ', "-")
}

/// Every relative link of a page that leads nowhere.
pub fn links(page: &Page) -> Vec<String> {
    let mut problems = Vec::new();
    let prose = page.prose();
    for (number, line) in prose.lines().enumerate() {
        for link in line.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if link.contains("://") || link.starts_with("mailto:") {
                continue;
            }
            let (path, fragment) = link.split_once('#').unwrap_or((link, ""));
            let here = root().join(&page.path);
            let target = if path.is_empty() { here.clone() } else { here.parent().unwrap().join(path) };
            let text = fs::read_to_string(&target).unwrap_or_default();
            let heads =
                text.lines().filter_map(|l| l.strip_prefix('#')).map(|l| anchor(l.trim_matches(['#', ' '])));
            if !target.exists() {
                problems.push(page.at(number + 1, &format!("the link `{link}` leads nowhere")));
            } else if !fragment.is_empty() && !heads.into_iter().any(|head| head == fragment) {
                problems.push(page.at(number + 1, &format!("`{path}` has no heading for `#{fragment}`")));
            }
        }
    }
    problems
}

pub struct Said {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

/// The real binary, in a folder, with nothing of the person's own configuration.
pub fn gadfly(dir: &Path, args: &[&str]) -> Said {
    let home = tempfile::tempdir().unwrap();
    said(
        Command::new(env!("CARGO_BIN_EXE_gadfly"))
            .args(args)
            .current_dir(dir)
            .env_clear()
            .env("HOME", home.path()),
    )
}

pub fn said(command: &mut Command) -> Said {
    let done = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Said { code: done.status.code(), out: text(done.stdout), err: text(done.stderr) }
}
