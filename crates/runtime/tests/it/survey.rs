//! A look at a project: which files count, which are read again, and that nothing outside is ever seen.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // tests may fail loudly

use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use gadfly_engine::Digest;
use gadfly_engine::pipeline::Pattern;
use gadfly_engine::pipeline::headings::headings;
use gadfly_engine::pipeline::listing::Survey;
use gadfly_runtime::os::ProcessLauncher;
use gadfly_runtime::survey::{SurveyError, SurveyResult, look, survey_staged};
use gadfly_runtime::workspace::Git;
use tokio_util::sync::CancellationToken;

struct Desk {
    dir: tempfile::TempDir,
}

impl Desk {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("project/.gadfly")).unwrap();
        fs::write(dir.path().join("project/.gadfly/journal.db"), "").unwrap();
        Self { dir }
    }

    fn project(&self) -> PathBuf {
        self.dir.path().join("project")
    }

    fn store(&self) -> PathBuf {
        self.project().join(".gadfly")
    }

    fn put(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.project().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn look(&self, patterns: &[&str], read: &[&str]) -> Result<SurveyResult, SurveyError> {
        let of = |list: &[&str]| list.iter().map(|p| Pattern::new(p)).collect();
        let survey = Survey { patterns: of(patterns), read: of(read) };
        look(&self.project(), &self.store(), &survey, &CancellationToken::new())
    }

    fn paths(&self, patterns: &[&str]) -> Vec<String> {
        self.look(patterns, &[]).unwrap().listing.iter().map(|(path, _)| path.to_owned()).collect()
    }

    /// Waits until the file system's clock has gone on since this file changed.
    fn settle(&self, path: &str) {
        let changed = |path: &Path| {
            let meta = fs::metadata(path).unwrap();
            (meta.ctime(), meta.ctime_nsec())
        };
        let (last, probe) = (changed(&self.project().join(path)), self.dir.path().join("clock"));
        while {
            fs::write(&probe, "").unwrap();
            changed(&probe) <= last
        } {
            std::thread::yield_now();
        }
    }

    fn git(&self, args: &[&str]) {
        let done = Command::new("git")
            .args(["-c", "user.name=Ann", "-c", "user.email=ann@example.org"])
            .args(args)
            .current_dir(self.project())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .unwrap();
        assert!(done.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&done.stderr));
    }
}

#[test]
fn what_is_named_and_real_is_listed_with_the_digest_of_its_bytes() {
    let desk = Desk::new();
    desk.git(&["init", "-q"]);
    desk.put(".gitignore", "output/\n");
    desk.put("output/table.csv", "1,2\n");
    desk.put("paper/main.tex", "\\section{A}");
    desk.put("paper/.draft.tex", "no");
    desk.put("paper/.cache/x.tex", "no");
    desk.put("empty/.gitkeep", "");
    desk.put("notes/.plan.md", "plan");
    desk.put("run.sh", "#!/bin/sh\n");
    fs::set_permissions(desk.project().join("run.sh"), fs::Permissions::from_mode(0o750)).unwrap();
    let seen = desk.look(&["output/", "paper/", "paper/*.tex", "run.sh", "**/*.tex"], &[]).unwrap();
    let listed: Vec<_> = seen.listing.iter().map(|(path, found)| (path, found.mode)).collect();
    assert_eq!(listed, [("output/table.csv", 0o644), ("paper/main.tex", 0o644), ("run.sh", 0o755)]);
    assert_eq!(seen.listing.get("output/table.csv").unwrap().digest, Digest::of(b"1,2\n"));
    assert_eq!(seen.read, 3, "a file that several patterns name is read once");
    assert_eq!(desk.paths(&["empty/"]), Vec::<String>::new(), "a `.gitkeep` is no work");
    assert_eq!(desk.paths(&["notes/.plan.md"]), ["notes/.plan.md"]);
    assert_eq!(desk.paths(&["missing/", "missing.md", "paper", "run.sh/"]), Vec::<String>::new());
}

/// With `NOFOLLOW` left out of a walk's folders, the files beside the project are listed.
#[test]
fn nothing_outside_the_project_and_nothing_of_git_or_of_ours_is_seen() {
    let desk = Desk::new();
    desk.git(&["init", "-q"]);
    fs::create_dir(desk.dir.path().join("beside")).unwrap();
    fs::write(desk.dir.path().join("beside/secret.md"), "s").unwrap();
    desk.put("a.md", "a");
    desk.put(".gadfly/runs/x/a.md", "ours");
    symlink("../beside", desk.project().join("out")).unwrap();
    symlink("../beside/secret.md", desk.project().join("file.md")).unwrap();
    symlink("..", desk.project().join("up")).unwrap();
    assert_eq!(desk.paths(&["**/*.md", "out/", "out/*.md", "out/secret.md", "file.md", "up/"]), ["a.md"]);
    let names = [
        "../beside/secret.md",
        "../beside/",
        "/etc/passwd",
        ".git/config",
        ".git/",
        ".gadfly/",
        "up/beside/",
    ];
    assert_eq!(desk.paths(&names), Vec::<String>::new());
}

#[test]
fn a_text_comes_along_only_if_it_is_one_and_not_too_long() {
    let desk = Desk::new();
    desk.put("a.md", "# A\nmuch more\n\n## 2. B\n");
    desk.put("long.md", "x".repeat((1 << 20) + 1));
    desk.put("whole.md", "x".repeat(1 << 20));
    desk.put("bytes.md", [0xff, 0xfe]);
    desk.put("b.txt", "b");
    let seen = desk.look(&["b.txt"], &["*.md"]).unwrap();
    assert_eq!(seen.texts.keys().collect::<Vec<_>>(), ["a.md", "whole.md"]);
    assert_eq!(headings(&seen.texts["a.md"]), ["a", "b"]);
    assert_eq!(seen.texts["a.md"], "# a\n# b\n", "nothing else of it is asked");
    assert_eq!(seen.listing.len(), 5, "the others are listed all the same");
    let (surveyed, texts) = seen.reply();
    assert_eq!(surveyed.read[0], ("a.md".to_owned(), Digest::of(b"# a\n# b\n")));
    assert!(surveyed.read.iter().all(|(_, text)| texts.iter().any(|t| t.digest() == *text)));
    // Seventeen of nearly a megabyte each: what all have together is bounded, too.
    let headings = format!("# {}\n", "y".repeat(380)).repeat(2_737);
    assert!(headings.len() * 16 <= 16 << 20 && headings.len() * 17 > 16 << 20);
    for n in 0..17 {
        desk.put(&format!("many/{n:02}.md"), &headings);
    }
    assert_eq!(desk.look(&[], &["many/"]).unwrap().texts.len(), 16);
}

/// A heading that looks numbered without its number: shortened twice, it would be another.
#[test]
fn headings_come_along_as_they_are_in_the_text() {
    let desk = Desk::new();
    for (n, text) in
        ["# 1. 2. Data\n", "Data\n====\n", "\\section{Data}\n", "```\n# no\n```\n# \n"].iter().enumerate()
    {
        desk.put(&format!("{n}.md"), text);
    }
    desk.settle("3.md");
    for read in [4, 0] {
        let seen = desk.look(&[], &["*.md"]).unwrap();
        for (path, outline) in &seen.texts {
            let text = fs::read_to_string(desk.project().join(path)).unwrap();
            assert_eq!(headings(outline), headings(&text), "{path}");
        }
        assert_eq!((seen.texts.len(), seen.read), (4, read));
    }
    // A file that was listed before its text was wanted.
    desk.put("late.md", "# Late\n");
    desk.settle("late.md");
    assert_eq!(desk.look(&["late.md"], &[]).unwrap().read, 1);
    let late = || desk.look(&[], &["late.md"]).unwrap();
    assert_eq!((late().texts["late.md"].clone(), late().read), ("# late\n".to_owned(), 0));
}

#[test]
fn of_ten_thousand_files_only_those_that_changed_are_read_again() {
    let desk = Desk::new();
    for n in 0..10_000 {
        desk.put(&format!("src/{}/{n}.md", n % 100), format!("file {n}"));
    }
    desk.settle("src/99/9999.md");
    let read = || desk.look(&["src/"], &[]).unwrap().read;
    assert_eq!((read(), read()), (10_000, 0));
    desk.put("src/7/7.md", "file X");
    desk.settle("src/7/7.md");
    assert_eq!((read(), read()), (1, 0));
    // A cache that is damaged is none.
    let cache = fs::read_dir(desk.store()).unwrap().map(|e| e.unwrap().path());
    let cache = cache.into_iter().find(|p| p.to_string_lossy().contains("survey-cache")).unwrap();
    let mut bytes = fs::read(&cache).unwrap();
    bytes[40] ^= 1;
    fs::write(&cache, bytes).unwrap();
    assert_eq!((read(), read()), (10_000, 0));
}

#[test]
fn a_look_leaves_nothing_in_a_store_no_run_has_used() {
    let desk = Desk::new();
    fs::remove_file(desk.store().join("journal.db")).unwrap();
    desk.put("a.md", "one");
    desk.settle("a.md");
    assert_eq!(desk.paths(&["a.md"]), ["a.md"]);
    assert_eq!(fs::read_dir(desk.store()).unwrap().count(), 0);
    fs::remove_dir(desk.store()).unwrap();
    assert_eq!(desk.paths(&["a.md"]), ["a.md"]);
    assert!(!desk.store().exists());
}

/// With `changed` left out of a mark, the second content is taken for the first.
#[test]
fn a_file_of_the_same_length_whose_time_was_set_back_is_read_again() {
    let desk = Desk::new();
    desk.put("a.md", "one");
    desk.settle("a.md");
    let digest = || desk.look(&["a.md"], &[]).unwrap().listing.get("a.md").unwrap().digest;
    assert_eq!(digest(), Digest::of(b"one"));
    let path = desk.project().join("a.md");
    let time = fs::metadata(&path).unwrap().modified().unwrap();
    fs::write(&path, "two").unwrap();
    File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    assert_eq!(digest(), Digest::of(b"two"));
    // Whatever the clock's grain is: a change right after a look is seen.
    for n in 0..200 {
        let text = format!("{n:03}");
        fs::write(&path, &text).unwrap();
        assert_eq!(digest(), Digest::of(text.as_bytes()), "{n}");
    }
}

#[test]
fn a_look_that_is_called_off_ends_and_a_missing_project_is_said() {
    let desk = Desk::new();
    desk.put("a/a.md", "a");
    let (survey, cancel) =
        (Survey { patterns: vec![Pattern::new("a/")], read: Vec::new() }, CancellationToken::new());
    cancel.cancel();
    let stopped = look(&desk.project(), &desk.store(), &survey, &cancel);
    assert!(matches!(stopped, Err(SurveyError::Cancelled)), "{stopped:?}");
    let none = look(&desk.dir.path().join("none"), &desk.store(), &survey, &CancellationToken::new());
    assert!(matches!(none, Err(SurveyError::NoProject { .. })), "{none:?}");
}

#[tokio::test]
async fn a_hook_sees_what_is_staged_and_not_what_lies_about() {
    let desk = Desk::new();
    desk.git(&["init", "-q"]);
    for (path, text) in [("paper/a.tex", "staged"), ("paper/b.tex", "b"), ("other.md", "o")] {
        desk.put(path, text);
    }
    desk.git(&["add", "paper", "other.md"]);
    desk.put("paper/a.tex", "edited since");
    desk.put("paper/new.tex", "not tracked");
    fs::remove_file(desk.project().join("paper/b.tex")).unwrap();
    let launcher = Arc::new(ProcessLauncher::with_supervisor(env!("CARGO_BIN_EXE_launch-probe")));
    let path = ("PATH".to_owned(), std::env::var("PATH").unwrap());
    let git = Git::new(launcher, [path]);
    let survey = Survey { patterns: vec![Pattern::new("paper/")], read: vec![Pattern::new("paper/a.tex")] };
    for read in [2, 0] {
        let seen = survey_staged(&git, &desk.project(), &desk.store(), &survey).await.unwrap();
        let listed: Vec<_> = seen.listing.iter().map(|(path, found)| (path, found.digest)).collect();
        assert_eq!(listed, [("paper/a.tex", Digest::of(b"staged")), ("paper/b.tex", Digest::of(b"b"))]);
        assert_eq!(seen.texts["paper/a.tex"], "staged");
        assert_eq!(seen.read, read, "a content git has named once is not read again");
    }
    // A project that is a folder of its repository has its own paths.
    let survey = Survey { patterns: vec![Pattern::new("a.tex")], read: Vec::new() };
    let seen = survey_staged(&git, &desk.project().join("paper"), &desk.store(), &survey).await.unwrap();
    assert_eq!(seen.listing.len(), 1);
}

/// `cargo test --release -p gadfly-runtime --test it survey:: -- --ignored --nocapture`: how long a look that reads nothing
/// takes beside a bare walk that stats every file of the same tree. It measures, and asserts nothing about time.
#[test]
#[ignore = "a measurement"]
fn a_warm_look_beside_a_bare_walk() {
    use std::io::Write as _;
    use std::time::{Duration, Instant};
    fn walk(folder: &Path) -> u64 {
        let mut bytes = 0;
        for entry in fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let meta = entry.metadata().unwrap();
            bytes += if meta.is_dir() { walk(&entry.path()) } else { meta.len() };
        }
        bytes
    }
    fn median(mut lap: impl FnMut()) -> Duration {
        let mut laps: Vec<Duration> = (0..15)
            .map(|_| {
                let began = Instant::now();
                lap();
                began.elapsed()
            })
            .collect();
        laps.sort();
        laps[laps.len() / 2]
    }
    let desk = Desk::new();
    for n in 0..10_000 {
        desk.put(&format!("src/{}/{n}.md", n % 100), "x".repeat(n % 4096));
    }
    desk.settle("src/99/9999.md");
    assert_eq!(desk.look(&["src/"], &[]).unwrap().read, 10_000);
    let bare = median(|| assert!(walk(&desk.project().join("src")) > 0));
    let warm = median(|| assert_eq!(desk.look(&["src/"], &[]).unwrap().read, 0));
    let ratio = warm.as_secs_f64() / bare.as_secs_f64();
    let line = format!("10000 files: bare walk {bare:?}, warm look {warm:?}, ratio {ratio:.2}\n");
    std::io::stdout().write_all(line.as_bytes()).unwrap();
}
