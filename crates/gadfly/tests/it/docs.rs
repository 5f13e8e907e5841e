//! The documentation is true: its configurations parse, its commands exist, its links lead somewhere, its
//! examples run. What a code block stands for is said by its first line; see CONTRIBUTING.md.
//! What the binary prints word for word is checked elsewhere; here only that nothing is out of date.

#![allow(clippy::unwrap_used, clippy::print_stdout)] // tests may fail loudly and print

mod checks;

use std::fs;
use std::path::Path;
use std::process::Command;

use checks::{
    Block, Page, commands, configurations, gadfly, links, pages, replies, root, rubrics, said, scripts,
};
use gadfly_project::reference;

fn none_of(check: fn(&Page) -> Vec<String>) {
    let problems: Vec<String> = pages().iter().flat_map(check).collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn every_configuration_parses_without_problems() {
    none_of(configurations);
    none_of(scripts);
    none_of(rubrics);
}

#[test]
fn every_reply_is_what_its_page_says() {
    none_of(replies);
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
    const KNOWN: [&str; 20] = [
        "sh",
        "text",
        "text valid",
        "text malformed",
        "toml",
        "toml continued",
        "toml script",
        "toml rubric",
        "markdown rubric",
        "json score valid",
        "json score malformed",
        "text score valid",
        "text score malformed",
        "json audit valid",
        "json audit malformed",
        "text converge valid",
        "text converge malformed",
        "rust",
        "json",
        "markdown",
    ];
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
    for check in [configurations, scripts, rubrics, replies, commands, links] {
        assert_eq!(check(&good), Vec::<String>::new());
    }
    assert_eq!(configurations(&page("```toml\n[agents.me]\nkind = \"persona\"\n```\n")).len(), 1);
    assert_eq!(configurations(&page("```toml\n```\n```toml continued\n[budget]\nusdd = 1\n```\n")).len(), 1);
    assert_eq!(scripts(&page("```toml script\n[[reply]]\ntxet = \"a\"\n```\n")).len(), 1);
    assert_eq!(replies(&page("```text valid\n[STATUS: REJECTED]\nNo.\n```\n")).len(), 1);
    assert_eq!(replies(&page("```text malformed\n[STATUS: APPROVED]\nYes.\n```\n")).len(), 1);
    let table = "```markdown rubric\n| Issue | Deduction |\n|---|---|\n| Filler | -2 |\n```\n";
    assert_eq!(rubrics(&page(table)), Vec::<String>::new());
    assert_eq!(rubrics(&page(&table.replace("-2", "lots"))).len(), 1);
    assert_eq!(rubrics(&page("```toml rubric\n[[rubric]]\nrow = \"A\"\n```\n")).len(), 1);
    let reply = |info: &str, text: &str| replies(&page(&format!("{table}```{info}\n{text}\n```\n")));
    for (info, good, bad) in [
        (
            "json score",
            "{\"deductions\": [{\"row\": \"filler\"}]}",
            "{\"deductions\": [{\"row\": \"taste\"}]}",
        ),
        (
            "json audit",
            "{\"critic\": \"critic\", \"task_id\": \"T1\", \"round\": 1, \"criteria\": [], \"findings\": [], \"verdict\": \"issues_found\"}",
            "{\"critic\": \"critic\", \"task_id\": \"T1\", \"round\": 1, \"criteria\": [], \"findings\": [], \"verdict\": \"passed\"}",
        ),
        (
            "text converge",
            "=== CRITIC 1 ===\n[COVERAGE] q → 3 of 3\nVerdict: PASS\n[DEPENDENCIES] q → 0 cycles\nVerdict: PASS\n\
             [ADVERSARIAL] Failure scenario: x\n→ Realistic? N → 0 of 3",
            "=== CRITIC 1 ===\n[COVERAGE] q → all\nVerdict: PASS",
        ),
    ] {
        assert_eq!(reply(&format!("{info} valid"), good), Vec::<String>::new());
        assert_eq!(reply(&format!("{info} valid"), bad).len(), 1, "{info}");
        assert_eq!(reply(&format!("{info} malformed"), good).len(), 1, "{info}");
    }
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
         the table of options (`crates/project/src/config/keys.rs`) instead.\n\n```toml\n{}```\n",
        reference::reference()
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
fn the_page_of_known_agents_is_the_table() {
    let path = root().join("docs/agents/known.md");
    let written = fs::read_to_string(&path).unwrap_or_default();
    let (before, rest) = written.split_once("<!-- table -->\n").unwrap();
    let (_, after) = rest.split_once("<!-- end -->").unwrap();
    let table = gadfly_project::known::page_table();
    let page = format!("{before}<!-- table -->\n{table}<!-- end -->{after}");
    if std::env::var_os("UPDATE_REFERENCE").is_some() {
        fs::write(&path, &page).unwrap();
    } else {
        assert!(
            page == written,
            "docs/agents/known.md is out of date: run this test with UPDATE_REFERENCE=1"
        );
    }
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

#[test]
fn the_first_loop_runs_and_is_approved() {
    let dir = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(root().join("examples/first-loop")).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_file() {
            fs::copy(entry.path(), dir.path().join(entry.file_name())).unwrap();
        }
    }
    let run = gadfly(dir.path(), &["run", "abstract", "--trust"]);
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
