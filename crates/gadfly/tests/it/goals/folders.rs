//! Ordinary projects, with their own tools: the run's folder is one that cargo, npm and git understand, whatever lies
//! above it, and its user is told what is not in it.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::goals::desk::{Desk, Said};
use crate::goals::pursuit::{Turn, claims, edits, hire, runs};

const GOAL: [&str; 6] = ["goal", "Make the tests pass.", "--worker", "w", "--yes", "--unattended"];
const NEVER: [&str; 4] = ["--until", "test -e never", "--max-steps", "1"];
const MANIFEST: &str =
    "[package]\nname = \"demo\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[dependencies]\n";
const BROKEN: &str = "pub fn add(a: i32, b: i32) -> i32 {\n    a - b\n}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    \
                      fn adds() {\n        assert_eq!(super::add(2, 2), 4);\n    }\n}\n";

/// What `cargo init --lib` makes, with a fault in it, and a worker that mends it.
fn plain_crate(more: &[(&str, &str)]) -> Desk {
    let files = [("Cargo.toml", MANIFEST), ("src/lib.rs", BROKEN)];
    let desk = Desk::repository(&[&files[..], more].concat());
    hire(&desk, "w", &mending("cargo test --offline", ("src/lib.rs", "a - b", "a + b")), "");
    desk
}

fn mending(check: &str, (file, old, new): (&str, &str, &str)) -> [Turn; 3] {
    [edits(file, old, new), runs(check), claims("the tests pass")]
}

/// With the toolchain that runs these tests, found as a user's is: by `PATH` or by variables.
fn with_cargo(desk: &Desk, args: &[&str]) -> Command {
    let cargo = Path::new(env!("CARGO")).parent().unwrap();
    let mut command = desk.command(args);
    command.env("PATH", format!("{}:/usr/bin:/bin", cargo.display()));
    command
}

fn said(mut command: Command) -> Said {
    let done = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Said { code: done.status.code().unwrap_or(-1), out: text(done.stdout), err: text(done.stderr) }
}

fn reaches_cargo_test(desk: &Desk) {
    let said = said(with_cargo(desk, &[&GOAL[..], &["--until", "cargo test --offline"]].concat()));
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.err.contains("verified after 3 steps"), "{}", said.err);
    assert!(desk.read("src/lib.rs").contains("a + b"));
}

#[test]
fn a_plain_crate_reaches_cargo_test() {
    reaches_cargo_test(&plain_crate(&[]));
}

#[test]
fn a_crate_with_settings_of_its_own_does_too() {
    reaches_cargo_test(&plain_crate(&[(".cargo/config.toml", "[build]\nincremental = false\n")]));
}

/// Broken on purpose: whoever took one of these for the project's would fail.
#[test]
fn what_lies_in_the_home_is_not_taken_for_the_project() {
    let desk = plain_crate(&[]);
    let home = desk.beside("home");
    fs::create_dir_all(home.join(".cargo")).unwrap();
    for (name, text) in [
        ("Cargo.toml", "[workspace"),
        (".cargo/config.toml", "[build"),
        ("package.json", "{"),
        ("go.mod", "?"),
    ] {
        fs::write(home.join(name), text).unwrap();
    }
    assert!(Command::new("git").args(["init", "-q"]).arg(&home).status().unwrap().success());
    // The settings are those of the user's cargo, so they count, unless the user's cargo is elsewhere.
    let elsewhere = desk.beside("cargo");
    fs::create_dir(&elsewhere).unwrap();
    let look = "d=$PWD; while [ $d != / ]; do d=$(dirname $d); ls -d $d/.git $d/package.json $d/Cargo.toml; done 2>/dev/null; true";
    let turns = [
        edits("src/lib.rs", "a - b", "a + b"),
        runs(look),
        runs("cargo test --offline"),
        claims("they pass"),
    ];
    hire(&desk, "w", &turns, "");
    let mut command = with_cargo(&desk, &[&GOAL[..], &["--until", "cargo test --offline"]].concat());
    command.env("CARGO_HOME", &elsewhere);
    let said = said(command);
    assert_eq!(said.code, 0, "{}", said.err);
    let seen = said.err.lines().find(|line| line.contains("[2] run_command")).unwrap();
    let found = seen.split_once(" → ").unwrap().1;
    assert!(found.contains("exit code 0") && !found.contains("Cargo.toml"), "{seen}");
}

/// Toolchains are found by the variables that say where they are, below no home.
#[test]
fn a_toolchain_is_where_its_variable_says() {
    let desk = plain_crate(&[]);
    let toolchain = desk.beside("tools/rust");
    fs::create_dir_all(toolchain.join("bin")).unwrap();
    fs::write(toolchain.join("settings.toml"), "found\n").unwrap();
    hire(&desk, "w", &[runs("cat $RUSTUP_HOME/settings.toml >found.txt"), claims("found")], "");
    let args = [&GOAL[..], &["--until", "grep found found.txt"]].concat();
    let said = said({
        let mut command = desk.command(&args);
        command.env("RUSTUP_HOME", &toolchain);
        command
    });
    assert_eq!(said.code, 0, "{}", said.err);
}

/// What Go has downloaded for the user is there without a network, and what a command unpacks of it is not the user's.
#[test]
fn modules_that_go_has_downloaded_are_found() {
    let desk = plain_crate(&[]);
    let downloads = desk.beside("home/go/pkg/mod/cache/download");
    fs::create_dir_all(&downloads).unwrap();
    fs::write(downloads.join("kept"), "found\n").unwrap();
    let look =
        "d=${GOPROXY%%,*}; cat ${d#file://}/kept >found.txt; echo x >${d#file://}/planted; echo $GOPROXY";
    hire(&desk, "w", &[runs(look), claims("found")], "");
    let args = [&GOAL[..], &["--until", "grep found found.txt"]].concat();
    for (set, then) in [(None, "https://proxy.golang.org,direct"), (Some("off"), "off")] {
        let mut command = desk.command(&args);
        command.envs(set.map(|set| ("GOPROXY", set)));
        let said = said(command);
        assert_eq!(said.code, 0, "{}", said.err);
        assert!(said.err.contains(&format!("cache/download,{then}")), "{}", said.err);
        assert!(!downloads.join("planted").exists());
        fs::remove_file(desk.path("found.txt")).unwrap();
    }
}

fn node_project() -> Desk {
    let desk = Desk::repository(&[
        ("package.json", r#"{"name":"demo","scripts":{"test":"node test.js"},"dependencies":{"adder":"1"}}"#),
        ("add.js", "module.exports = (a, b) => require('./library/adder')(a, b) - 1;\n"),
        ("test.js", "if (require('./add.js')(2, 2) !== 4) throw new Error('not four');\n"),
    ]);
    desk.write(".gitignore", ".gadfly/\nlibrary/\n");
    desk.commit("ignored");
    desk.write("library/adder.js", "module.exports = (a, b) => a + b;\n");
    hire(&desk, "w", &mending("node test.js", ("add.js", " - 1", "")), "");
    desk
}

#[test]
fn what_git_ignores_is_named_at_the_start_with_the_setting_that_brings_it() {
    let desk = node_project();
    let goal = [&GOAL[..], &["--until", "node test.js", "--max-steps", "6"]].concat();
    let without = desk.gadfly(&goal);
    assert_ne!(without.code, 0, "{}", without.err);
    let line = without.err.lines().find(|line| line.contains("ignored by git")).unwrap_or_default();
    assert!(line.contains("library") && line.contains("`[workspace]`"), "{}", without.err);
    assert!(!without.err.contains("EACCES"), "as in a fresh clone: {}", without.err);
    for (setting, says) in [("copy", "copied into"), ("link", "linked into")] {
        let desk = node_project();
        desk.configure(&format!("[workspace]\n{setting} = [\"library\"]\n"));
        let with = desk.gadfly(&goal);
        assert_eq!(with.code, 0, "{setting}: {}", with.err);
        assert!(with.err.contains(&format!("{says} the run's folder: library")), "{}", with.err);
        assert!(!with.err.contains("ignored by git"), "{}", with.err);
    }
}

/// The state directory may be on another disk than the project: everything works, and it is said.
#[test]
fn another_file_system_works_and_is_said() {
    let Ok(other) = tempfile::tempdir_in("/dev/shm") else { return };
    let desk = plain_crate(&[]);
    let copied = Command::new("cp").arg("-a").arg(desk.path("")).arg(other.path().join("project")).status();
    assert!(copied.unwrap().success());
    let there = |mut command: Command| {
        command.current_dir(other.path().join("project"));
        said(command)
    };
    let made = there(with_cargo(&desk, &[&GOAL[..], &["--until", "cargo test --offline"]].concat()));
    assert_eq!(made.code, 0, "{}", made.err);
    assert!(made.err.contains("another file system"), "{}", made.err);
    let lib = other.path().join("project/src/lib.rs");
    assert!(fs::read_to_string(&lib).unwrap().contains("a + b"));
    let run = there(desk.command(&["runs", "--json"])).out;
    let run: serde_json::Value = serde_json::from_str(run.lines().next().unwrap()).unwrap();
    let undone = there(desk.command(&["undo", run["run"].as_str().unwrap()]));
    assert_eq!(undone.code, 0, "{}", undone.err);
    assert_eq!(fs::read_to_string(&lib).unwrap(), BROKEN);
}

/// The folder is in a place that people clear: what cannot be done without it is said, and nothing else is claimed.
#[test]
fn a_folder_that_is_gone_is_told_so() {
    let desk = plain_crate(&[]);
    hire(
        &desk,
        "w",
        &[edits("src/lib.rs", "a - b", "a + b"), runs("cat src/lib.rs").then(claims("done")).always()],
        "",
    );
    assert_eq!(desk.gadfly(&[&GOAL[..], &["--until", "! git diff --quiet HEAD"]].concat()).code, 0);
    let run = desk.run_id();
    fs::remove_dir_all(desk.work(&run)).unwrap();
    let undone = desk.gadfly(&["undo", &run]);
    assert!(undone.code != 0 && undone.err.contains("the folder of run"), "{}", undone.err);
    assert!(desk.read("src/lib.rs").contains("a + b"));

    let parked = desk.gadfly(&[&GOAL[..], &NEVER].concat());
    assert_eq!(parked.code, 6, "{}", parked.err);
    let run = desk.run_id();
    fs::remove_dir_all(desk.work(&run)).unwrap();
    let shown = desk.gadfly(&["show", &run]).out;
    assert!(shown.contains("its folder is gone, so it cannot go on"), "{shown}");
    let resumed = desk.gadfly(&["resume", &run, "--max-steps", "9", "--unattended"]);
    assert!(resumed.code != 0 && resumed.err.contains("the run's folder is gone"), "{}", resumed.err);
}

/// Nobody else knows of them once the project is gone.
#[test]
fn folders_of_a_project_that_is_gone_are_named_and_collected() {
    let desk = plain_crate(&[]);
    assert_eq!(desk.gadfly(&[&GOAL[..], &NEVER].concat()).code, 6);
    let work = desk.work(&desk.run_id());
    let told = desk.gadfly(&["doctor"]).out;
    let place = work.parent().unwrap().canonicalize().unwrap();
    assert!(told.contains(&format!("folders of runs {}: 1 run", place.display())), "{told}");
    fs::rename(desk.path(".gadfly"), desk.beside("away")).unwrap();
    assert!(desk.gadfly(&["doctor"]).out.contains("1 store left folders there and is not found"));
    desk.write(".gadfly/.gitignore", "*\n");
    fs::remove_dir_all(desk.path(".gadfly")).unwrap();
    let other = ["--store", desk.beside("other").to_str().unwrap(), "goal", "x"].map(str::to_owned);
    let other: Vec<&str> = other.iter().map(String::as_str).collect();
    let end = [&GOAL[2..], &NEVER].concat();
    assert_eq!(desk.gadfly(&[&other[..], &end].concat()).code, 6);
    let gc = |more: &[&str]| desk.gadfly(&[&other[..2], &["gc"], more].concat()).err;
    assert!(gc(&["--apply"]).contains("`--abandoned` removes it") && work.exists());
    let kept = gc(&["--apply", "--abandoned"]);
    assert!(
        kept.contains("somebody worked there since") && work.exists(),
        "its disk may be unplugged: {kept}"
    );
    assert!(gc(&["--apply", "--abandoned", "--older-than", "0"]).contains(": removed") && !work.exists());
}
