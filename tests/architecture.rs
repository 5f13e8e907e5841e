//! The house rules as a test: who may depend on whom, what each room may touch, and that everything in a
//! registry has its page. Sizes are warned about, not failed on.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)] // tests may fail loudly and print

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn sources(krate: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root().join("crates").join(krate).join("src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

const CRATES: [&str; 10] =
    ["engine", "syntax", "project", "layouts", "journal", "agents", "runtime", "gadfly", "testbed", "bench"];

/// The shipped part of a file: tests live in `tests.rs`, in `tests/` or below `#[cfg(test)]` and may do as they like.
fn shipped(path: &Path) -> String {
    let inside = path.strip_prefix(root()).unwrap_or(path);
    if inside.file_name().is_some_and(|n| n == "tests.rs")
        || inside.components().any(|c| c.as_os_str() == "tests")
    {
        return String::new();
    }
    let text = fs::read_to_string(path).unwrap();
    text.split("#[cfg(test)]\nmod ").next().unwrap().to_owned()
}

fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

/// What stands under `[dependencies]`, ours only.
fn edges(krate: &str) -> Vec<String> {
    let text = fs::read_to_string(root().join("crates").join(krate).join("Cargo.toml")).unwrap();
    let table = text.split("[dependencies]").nth(1).unwrap().split("\n[").next().unwrap().to_owned();
    table
        .lines()
        .filter_map(|l| l.split(['.', ' ', '=']).next())
        .filter_map(|name| name.strip_prefix("gadfly-"))
        .map(ToOwned::to_owned)
        .collect()
}

#[test]
fn crates_depend_only_on_the_rooms_they_may_enter() {
    let allowed: BTreeMap<&str, &[&str]> = BTreeMap::from([
        ("engine", &[][..]),
        ("syntax", &[]),
        ("project", &["engine"]),
        ("layouts", &["engine", "project"]),
        ("journal", &["engine"]),
        ("agents", &["engine"]),
        ("runtime", &["engine", "syntax", "project", "journal", "agents"]),
        ("gadfly", &["engine", "project", "layouts", "journal", "runtime"]),
        // Tools for developers: nothing shipped depends on them.
        ("testbed", &[]),
        ("bench", &["testbed", "journal", "engine"]),
    ]);
    for krate in CRATES {
        for edge in edges(krate) {
            assert!(
                allowed[krate].contains(&edge.as_str()),
                "crates/{krate} may not depend on gadfly-{edge}"
            );
        }
    }
    let folders: Vec<String> = fs::read_dir(root().join("crates"))
        .unwrap()
        .map(|e| e.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    for folder in folders {
        assert!(CRATES.contains(&folder.as_str()), "crates/{folder} is not in this test: name its rules");
    }
}

#[test]
fn rooms_touch_only_what_they_may() {
    let clock = ["SystemTime::now", "Instant::now"];
    let files = ["std::fs", "File::", "std::io::stdin"];
    let write_files = ["fs::write", "File::create", "fs::remove", "fs::rename", "create_dir"];
    let network = ["std::net::Tcp", "tokio::net", "reqwest"];
    let children = ["process::Command", "tokio::process"];
    let environment = ["std::env", "env::var"];
    let threads = ["std::thread", "tokio::"];
    let printing = ["println!", "print!(", "stdout()", "stderr()"];
    let rules: [(&str, Vec<&str>); 7] = [
        ("engine", [&clock[..], &files, &network, &children, &environment, &threads, &printing].concat()),
        ("syntax", [&clock[..], &files, &network, &children, &environment, &threads, &printing].concat()),
        (
            "project",
            [&clock[..], &write_files, &network, &children, &environment, &threads, &printing].concat(),
        ),
        (
            "layouts",
            [&clock[..], &write_files, &network, &children, &environment, &threads, &printing].concat(),
        ),
        ("journal", [&clock[..], &network, &children, &environment, &printing].concat()),
        ("agents", [&files[..], &children, &environment, &printing].concat()),
        ("runtime", [&network[..], &printing].concat()),
    ];
    // Each exception names its reason.
    let exceptions = [
        ("crates/agents/src/services.rs", "SystemTime::now", "the clock behind timeouts and Retry-After"),
        ("crates/runtime/src/os/supervisor.rs", "stderr()", "the supervisor's report to its launcher"),
        ("crates/runtime/src/os/supervisor.rs", "stdout()", "what a helper of ours brings its launcher"),
    ];
    let mut broken = Vec::new();
    for (krate, banned) in rules {
        // A program for tests is not part of the room.
        for path in sources(krate).into_iter().filter(|p| !shown(p).contains("/src/bin/")) {
            let text = shipped(&path);
            for word in &banned {
                let code = text.lines().filter(|l| !l.trim_start().starts_with("//"));
                let excepted = exceptions.iter().any(|(file, w, _)| shown(&path) == *file && w == word);
                if !excepted && code.into_iter().any(|l| l.contains(word)) {
                    broken.push(format!("{}: `{word}` is not for {krate}", shown(&path)));
                }
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// Where the core still names another system, each with its reason.
const NAMES_ANOTHER: &[(&str, &str)] = &[
    ("crates/project/src/layout.rs", "the names of layouts, closed until the table declares them"),
    ("crates/project/src/layout/places.rs", "the files that make a folder one of these layouts"),
    ("crates/project/src/config/keys.rs", "the values of `layout` in gadfly.toml"),
    ("crates/project/src/config/keys/others.rs", "their help"),
    ("crates/runtime/src/prepare/pipeline/earlier.rs", "which layout keeps state files where"),
];

#[test]
fn the_core_knows_no_other_system_by_name() {
    let (mut broken, mut naming) = (Vec::new(), Vec::new());
    for krate in ["engine", "syntax", "project", "journal", "agents", "runtime", "gadfly"] {
        for path in sources(krate) {
            let text = shipped(&path).to_lowercase();
            let mut code = text.lines().filter(|l| !l.trim_start().starts_with("//"));
            if code.any(|l| ["neuroflow", "nubos", "clo-author"].iter().any(|name| l.contains(name))) {
                naming.push(shown(&path));
            }
        }
    }
    for path in &naming {
        if !NAMES_ANOTHER.iter().any(|(file, _)| file == path) {
            broken.push(format!("{path}: what is said of another system belongs in crates/layouts"));
        }
    }
    for (file, _) in NAMES_ANOTHER {
        if !naming.iter().any(|path| path == file) {
            broken.push(format!("{file} names none any more: take it off the list"));
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn the_binary_prints_only_from_its_output_folder() {
    let mut broken = Vec::new();
    for path in sources("gadfly") {
        let name = shown(&path);
        if name.contains("/output") {
            continue;
        }
        let text = shipped(&path);
        for word in ["println!", "print!(", "eprint!("] {
            if text.lines().any(|l| !l.trim_start().starts_with("//") && l.contains(word)) {
                broken.push(format!("{name}: {word}"));
            }
        }
    }
    assert!(broken.is_empty(), "printing belongs to crates/gadfly/src/output:\n{}", broken.join("\n"));
}

#[test]
fn every_file_says_what_it_is() {
    for path in CRATES.iter().flat_map(|k| sources(k)) {
        let text = fs::read_to_string(&path).unwrap();
        let opens = text.lines().next().is_some_and(|l| l.starts_with("//! ") && l.len() > 20);
        assert!(opens, "{} does not open with `//!` and a sentence", shown(&path));
        let lines = shipped(&path).lines().count();
        if lines > 500 {
            println!("warning: {} has {lines} lines: do two things live in it?", shown(&path));
        }
    }
}

#[test]
fn no_file_leaves_markers_or_vague_names() {
    for path in CRATES.iter().flat_map(|k| sources(k)) {
        let name = path.file_stem().unwrap().to_string_lossy().to_lowercase();
        for vague in ["util", "utils", "helper", "helpers", "common", "misc", "manager", "v2"] {
            assert_ne!(name, vague, "{} needs a name that says what it is", shown(&path));
        }
    }
}

/// Type names that stand in more than one crate, each with its reason.
const IN_TWO_CRATES: &[(&str, &str)] = &[];

/// Public type names that stand for two things in one crate, each with its reason.
const TWICE_IN_A_CRATE: &[(&str, &str, &str)] = &[(
    "engine",
    "Verdict",
    "`pass::Verdict` is a critic's on one criterion, `review::Verdict` the one on the work",
)];

/// The types that a text defines, by name, and whether each is public. An associated type is none: it is indented.
fn types(text: &str) -> Vec<(&str, bool)> {
    let mut found = Vec::new();
    for line in text.lines() {
        let associated = line.starts_with(' ') && line.trim_start().starts_with("type ");
        let mut words = line.trim_start().split(' ').peekable();
        let is_public = words.peek() == Some(&"pub");
        if words.peek().is_some_and(|word| word.starts_with("pub")) {
            words.next();
            // `pub(in crate::config)` is two words.
            words.next_if(|word| word.ends_with(')'));
        }
        if associated || !matches!(words.next(), Some("struct" | "enum" | "trait" | "type" | "union")) {
            continue;
        }
        let name = words.next().unwrap_or_default();
        let name = name.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
        if name.starts_with(char::is_uppercase) {
            found.push((name, is_public));
        }
    }
    found
}

/// By name: the files it is defined in, with their crate, and how many of these definitions are public.
fn definitions<'a>(
    files: &'a [(&'a str, String, String)],
) -> BTreeMap<&'a str, Vec<(&'a str, &'a str, bool)>> {
    let mut defined: BTreeMap<&str, Vec<_>> = BTreeMap::new();
    for (krate, file, text) in files {
        for (name, is_public) in types(text) {
            defined.entry(name).or_default().push((*krate, file.as_str(), is_public));
        }
    }
    defined
}

fn shipped_files() -> Vec<(&'static str, String, String)> {
    CRATES.iter().flat_map(|k| sources(k).into_iter().map(|p| (*k, shown(&p), shipped(&p)))).collect()
}

#[test]
fn a_type_name_stands_in_one_crate() {
    let files = shipped_files();
    let defined = definitions(&files);
    let mut broken = Vec::new();
    for (name, places) in &defined {
        let listed = IN_TWO_CRATES.iter().any(|(listed, _)| listed == name);
        let is_shared = places.iter().any(|(krate, ..)| *krate != places[0].0);
        if is_shared && !listed {
            let files: Vec<&str> = places.iter().map(|(_, file, _)| *file).collect();
            broken.push(format!("`{name}`: {}", files.join(", ")));
        }
        assert!(is_shared || !listed, "`{name}` stands in one crate: take it off the list");
    }
    assert!(broken.is_empty(), "name each for what it is:\n{}", broken.join("\n"));
}

#[test]
fn a_public_type_name_stands_for_one_thing_in_its_crate() {
    let files = shipped_files();
    let defined = definitions(&files);
    let mut broken = Vec::new();
    for (name, places) in &defined {
        for krate in CRATES {
            let here: Vec<_> = places.iter().filter(|(k, ..)| *k == krate).collect();
            let is_double = here.iter().filter(|(.., is_public)| *is_public).count() > 1;
            let listed = TWICE_IN_A_CRATE.iter().any(|(k, listed, _)| *k == krate && listed == name);
            if is_double && !listed {
                let files: Vec<&str> = here.iter().map(|(_, file, _)| *file).collect();
                broken.push(format!("`{name}`: {}", files.join(", ")));
            }
            assert!(is_double || !listed, "`{name}` stands for one thing in {krate}: take it off the list");
        }
    }
    assert!(broken.is_empty(), "name each for what it is:\n{}", broken.join("\n"));
}

#[test]
fn a_type_is_found_however_it_is_written() {
    let text = "pub struct One<'a> {\nstruct Two(u8);\npub(crate) enum Three {\npub(in crate::config) trait Four: Sized {\n\
                type Five = u8;\n    type Associated = u8;\n    pub struct Six {\nlet Seven = 7;\n// struct Eight\n";
    let names: Vec<&str> = types(text).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["One", "Two", "Three", "Four", "Five", "Six"]);
    assert_eq!(types("pub struct One;\npub(crate) struct Two;"), [("One", true), ("Two", false)]);
    let files = [
        ("a", "a.rs".to_owned(), "struct Both;".to_owned()),
        ("b", "b.rs".to_owned(), "enum Both {".to_owned()),
    ];
    assert_eq!(definitions(&files)["Both"], [("a", "a.rs", false), ("b", "b.rs", false)]);
}

#[test]
fn every_protocol_agent_kind_and_command_has_its_page() {
    let docs = root().join("docs");
    for book in gadfly_engine::protocol::SHIPPED {
        let page = docs.join("protocols").join(format!("{}.md", book.name));
        assert!(page.is_file(), "protocol `{}` has no page at {}", book.name, shown(&page));
    }
    for kind in gadfly_project::AgentKind::ALL {
        let page = docs.join("agents").join(format!("{}.md", kind.name()));
        assert!(page.is_file(), "agent kind `{}` has no page at {}", kind.name(), shown(&page));
    }
    let reports = fs::read_to_string(docs.join("reference/reports.md")).unwrap().to_lowercase();
    let formats = fs::read_to_string(root().join("crates/gadfly/src/report.rs")).unwrap();
    for format in formats.lines().filter_map(|l| l.trim().strip_prefix("ReportFormat::")) {
        let name = format.split([' ', '=']).next().unwrap().to_lowercase();
        assert!(
            reports.contains(&format!("\n## {name}")),
            "report `{name}` is not in docs/reference/reports.md"
        );
    }
    let reference = fs::read_to_string(docs.join("reference/cli.md")).unwrap();
    let commands = fs::read_to_string(root().join("crates/gadfly/src/commands.rs")).unwrap();
    for line in commands.lines().filter_map(|l| l.trim().strip_prefix("CliCommand::")) {
        let name = line.split(['(', ' ']).next().unwrap().to_lowercase();
        if name != "man" {
            assert!(
                reference.contains(&format!("gadfly {name}")),
                "command `{name}` is not in docs/reference/cli.md"
            );
        }
    }
}

#[test]
fn versions_stand_once_in_the_workspace() {
    for krate in CRATES {
        let text = fs::read_to_string(root().join("crates").join(krate).join("Cargo.toml")).unwrap();
        let dependencies = text.split("[dependencies]").nth(1).unwrap();
        for line in dependencies.lines().filter(|l| l.contains('=') && !l.starts_with(['#', '['])) {
            let local = line.contains("workspace = true") || line.contains("path = ") || !line.contains('"');
            assert!(
                local || line.starts_with("name") || line.starts_with("harness"),
                "crates/{krate}: `{line}`: put the version into the workspace"
            );
        }
    }
}

/// The licences that `deny.toml` allows, and those of everything that is built for this machine.
#[test]
fn every_dependency_has_a_licence_that_is_allowed() {
    let deny = fs::read_to_string(root().join("deny.toml")).unwrap();
    let allowed: Vec<&str> = deny
        .split("allow = [")
        .nth(1)
        .and_then(|rest| rest.split(']').next())
        .unwrap()
        .split('"')
        .skip(1)
        .step_by(2)
        .collect();
    assert!(allowed.contains(&"MIT"), "{allowed:?}");
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let host = std::process::Command::new(&cargo).args(["-vV"]).output().unwrap();
    let host = String::from_utf8(host.stdout).unwrap();
    let host = host.lines().find_map(|line| line.strip_prefix("host: ")).unwrap().to_owned();
    let asked = std::process::Command::new(&cargo)
        .current_dir(root())
        .args(["metadata", "--offline", "--format-version", "1", "--filter-platform", &host])
        .output()
        .unwrap();
    assert!(asked.status.success(), "{}", String::from_utf8_lossy(&asked.stderr));
    let found: serde_json::Value = serde_json::from_slice(&asked.stdout).unwrap();
    let packages = found["packages"].as_array().unwrap();
    assert!(packages.len() > 100, "{}", packages.len());
    let refused: Vec<String> = packages
        .iter()
        .filter(|package| !is_allowed(package["license"].as_str().unwrap_or_default(), &allowed))
        .map(|package| format!("{}: {}", package["name"], package["license"]))
        .collect();
    assert!(refused.is_empty(), "not in deny.toml:\n{}", refused.join("\n"));
}

/// Every part of `A AND (B OR C)` has an alternative that is allowed.
fn is_allowed(expression: &str, allowed: &[&str]) -> bool {
    let expression = expression.replace('/', " OR ");
    expression.split(" AND ").all(|part| {
        let part = part.trim().trim_start_matches('(').trim_end_matches(')');
        part.split(" OR ").any(|one| allowed.contains(&one.trim()))
    })
}

#[test]
fn a_licence_that_nobody_allowed_is_noticed() {
    let allowed = ["MIT", "ISC"];
    for (expression, fine) in [
        ("MIT OR GPL-3.0", true),
        ("GPL-3.0", false),
        ("MIT AND GPL-3.0", false),
        ("(MIT OR GPL-3.0) AND ISC", true),
        ("MIT/GPL-2.0", true),
        ("", false),
    ] {
        assert_eq!(is_allowed(expression, &allowed), fine, "{expression}");
    }
}
