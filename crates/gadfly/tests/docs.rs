//! The documentation is true: its configurations parse, its commands exist, its links lead somewhere, its
//! examples run. What a code block stands for is said by its first line; see CONTRIBUTING.md.
//! What the binary prints word for word is checked elsewhere; here only that nothing is out of date.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Parser as _;
use gadfly_project::{Config, Root, reference};

// The real parser, not a copy: a flag that is renamed there is unknown here.
#[allow(dead_code)]
#[path = "../src/cli.rs"]
mod cli;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// A Markdown file, by its path from the root.
struct Page {
    path: PathBuf,
    text: String,
}

struct Block {
    /// `toml`, `toml continued`, `sh` …
    info: String,
    text: String,
    line: usize,
}

fn pages() -> Vec<Page> {
    let mut paths: Vec<PathBuf> = Vec::new();
    let mut folders = vec![root()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() && !name.starts_with('.') && name != "target" && name != "prompts" {
                folders.push(path);
            } else if name.ends_with(".md") {
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
    fn blocks(&self) -> Vec<Block> {
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
    fn prose(&self) -> String {
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

    fn at(&self, line: usize, problem: &str) -> String {
        format!("{}:{line}: {problem}", self.path.display())
    }
}

/// Everything that is wrong with a page's configurations. `toml` begins one, `toml continued` goes on with it.
fn configurations(page: &Page) -> Vec<String> {
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
fn scripts(page: &Page) -> Vec<String> {
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

/// The words of one command line, as a shell would split them; it ends at `|`, `>`, `&&`, `;` or `#`.
fn words(line: &str) -> Vec<String> {
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
fn commands(page: &Page) -> Vec<String> {
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
fn anchor(heading: &str) -> String {
    let kept = heading.to_lowercase();
    kept.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c)).collect::<String>().replace(' ', "-")
}

/// Every relative link of a page that leads nowhere.
fn links(page: &Page) -> Vec<String> {
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

fn none_of(check: fn(&Page) -> Vec<String>) {
    let problems: Vec<String> = pages().iter().flat_map(check).collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn every_configuration_parses_without_problems() {
    none_of(configurations);
    none_of(scripts);
}

#[test]
fn every_command_line_is_one_the_binary_takes() {
    none_of(commands);
}

#[test]
fn every_relative_link_resolves() {
    none_of(links);
}

#[test]
fn every_code_block_says_what_it_is() {
    const KNOWN: [&str; 8] =
        ["sh", "text", "toml", "toml continued", "toml script", "rust", "json", "markdown"];
    none_of(|page| {
        // Generated or older pages draw diagrams in bare blocks; nothing in those is checked.
        let strange = |b: &&Block| !b.info.is_empty() && !KNOWN.contains(&b.info.as_str());
        page.blocks()
            .iter()
            .filter(strange)
            .map(|b| page.at(b.line, &format!("unknown `{}`", b.info)))
            .collect()
    });
}

/// Sabotage: a page with one fault of each kind.
#[test]
fn each_check_goes_red() {
    let page = |text: &str| Page { path: "docs/README.md".into(), text: text.into() };
    let good = page(
        "[a](guide/first-loop.md)\n```toml\n[agents.me]\nkind = \"person\"\n```\n```sh\ngadfly runs -n 3 | head\n```\n",
    );
    for check in [configurations, scripts, commands, links] {
        assert_eq!(check(&good), Vec::<String>::new());
    }
    assert_eq!(configurations(&page("```toml\n[agents.me]\nkind = \"persona\"\n```\n")).len(), 1);
    assert_eq!(configurations(&page("```toml\n```\n```toml continued\n[budget]\nusdd = 1\n```\n")).len(), 1);
    assert_eq!(scripts(&page("```toml script\n[[reply]]\ntxet = \"a\"\n```\n")).len(), 1);
    assert_eq!(commands(&page("```sh\ngadfly run \"a b\" --criterions x\n```\n")).len(), 1);
    assert_eq!(commands(&page("```sh\ncargo run --release -- demos\n```\n")).len(), 1);
    assert_eq!(links(&page("see [this](guide/no-such-page.md)\n")).len(), 1);
    assert_eq!(links(&page("see [this](guide/first-loop.md#no-such-heading)\n")).len(), 1);
}

#[test]
fn the_configuration_reference_is_the_one_the_parser_is_tested_with() {
    let path = root().join("docs/reference/config.md");
    let page = format!(
        "# Configuration\n\nEvery key that `gadfly.toml` may have. This page is generated by a test; change \
         `crates/project/src/reference.toml` instead.\n\n```toml\n{}```\n",
        reference::REFERENCE
    );
    if std::env::var_os("UPDATE_REFERENCE").is_some() {
        fs::write(&path, &page).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        page == written,
        "docs/reference/config.md is out of date: run this test with UPDATE_REFERENCE=1"
    );
}

#[test]
fn the_program_shown_in_the_guide_is_the_example() {
    let example = fs::read_to_string(root().join("examples/embed/main.rs")).unwrap();
    none_of(|page| {
        let example = fs::read_to_string(root().join("examples/embed/main.rs")).unwrap();
        let other = |b: &&Block| b.info == "rust" && !example.contains(&b.text);
        page.blocks()
            .iter()
            .filter(other)
            .map(|b| page.at(b.line, "is not in examples/embed/main.rs"))
            .collect()
    });
    assert!(fs::read_to_string(root().join("docs/guide/embedding.md")).unwrap().contains(example.trim_end()));
}

struct Said {
    code: Option<i32>,
    out: String,
    err: String,
}

/// The real binary, in a folder, with nothing of the person's own configuration.
fn gadfly(dir: &Path, args: &[&str]) -> Said {
    let home = tempfile::tempdir().unwrap();
    said(
        Command::new(env!("CARGO_BIN_EXE_gadfly"))
            .args(args)
            .current_dir(dir)
            .env_clear()
            .env("HOME", home.path()),
    )
}

fn said(command: &mut Command) -> Said {
    let done = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Said { code: done.status.code(), out: text(done.stdout), err: text(done.stderr) }
}

#[test]
fn the_first_loop_runs_and_is_approved() {
    let dir = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(root().join("examples/first-loop")).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_file() {
            fs::copy(entry.path(), dir.path().join(entry.file_name())).unwrap();
        }
    }
    let run = gadfly(dir.path(), &["run", "abstract"]);
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert!(run.err.contains("approved after 2 rounds"), "{}", run.err);
    assert!(run.out.contains("48 adults") && run.out.contains("31 pairs"), "{}", run.out);
    // The guide quotes this run: each of its lines still stands there.
    let guide = fs::read_to_string(root().join("docs/guide/first-loop.md")).unwrap();
    for line in run.err.lines().filter(|l| !l.trim_start().starts_with("run  ")) {
        assert!(guide.contains(line), "docs/guide/first-loop.md does not have `{line}`");
    }
}

#[test]
fn the_embedded_loop_is_approved() {
    let built = Path::new(env!("CARGO_BIN_EXE_gadfly")).with_file_name("examples").join("embed");
    let run = if built.is_file() {
        said(&mut Command::new(built))
    } else {
        println!(
            "WARNING: examples/embed is not built here (`cargo test --workspace` builds it); building it now"
        );
        let args = ["run", "--quiet", "-p", "gadfly-runtime", "--example", "embed"];
        said(Command::new(env!("CARGO")).args(args).current_dir(root()))
    };
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert!(run.out.starts_with("approved: "), "{}", run.out);
}
