//! Commands: how they end, what is kept of what they say, what they find around them, and that they end.

use std::fs;
use std::time::Duration;

use gadfly_engine::tool::{KEPT, SHOWN, ToolAction, ToolEnd, ToolUse};
use gadfly_engine::tree::{HeldCommand, RunEnd, Verify};
use gadfly_engine::{Observation, Reply};
use gadfly_runtime::os::landlock;
use tokio_util::sync::CancellationToken;

use crate::tools::stage::{Stage, command};

/// Processes whose command line holds this.
fn alive(mark: &str) -> Vec<String> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    entries
        .filter_map(|e| fs::read(e.path().join("cmdline")).ok())
        .map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
        .filter(|line| line.contains(mark))
        .collect()
}

#[tokio::test]
async fn a_command_ends_as_it_ends_and_says_what_it_says_in_its_order() {
    let stage = Stage::new();
    let came = stage.sh("echo out; echo err >&2; echo again; cat; exit 3").await;
    assert_eq!((came.end(), came.shown.as_str()), (&ToolEnd::Ran(RunEnd::Code(3)), "out\nerr\nagain\n"));
    assert_eq!(came.done().bytes, 14);
    if landlock().is_ok() {
        // It failed because it was held, and that is said beside its error.
        let refused = stage.sh("echo x > /etc/refused").await.shown;
        assert!(refused.contains("\n[it ran in a sandbox: it may write /"), "{refused}");
        assert!(refused.contains("; refused: /etc/refused]\n"), "{refused}");
    }
    assert_eq!(stage.sh("kill -9 $$").await.end(), &ToolEnd::Ran(RunEnd::Signal(9)));
    assert_eq!(stage.sh("no-such-program-here").await.end(), &ToolEnd::Ran(RunEnd::Code(127)));
    let odd = stage.sh("printf 'a\\377\\0b'").await;
    assert_eq!(odd.shown, "a\u{fffd}\0b");
}

#[tokio::test]
async fn what_holds_a_command_is_said_once() {
    let stage = Stage::new();
    let first = stage.sh("true").await;
    let held = |o: &Observation| matches!(o, Observation::Guarded { guards } if guards[0].to_string().starts_with("Landlock (files; no "));
    let unheld =
        |o: &Observation| matches!(o, Observation::Note { line } if line.starts_with("no Landlock: "));
    assert!(first.observed.iter().any(|o| if landlock().is_ok() { held(o) } else { unheld(o) }), "{first:?}");
    assert_eq!(stage.sh("true").await.observed, []);
}

#[tokio::test]
async fn work_goes_on_from_the_state_that_is_asked_for() {
    let stage = Stage::new();
    let base = stage.state().await;
    stage.sh("echo changed > a.txt; echo new > b.txt; mkdir -p cache; echo x > cache/x").await;
    assert_eq!(stage.sh("cat a.txt b.txt").await.shown, "changed\nnew\n");
    let wanted = ToolUse { begin: Some(base), ..ToolUse::new(command("cat a.txt; ls", 30_000), 1) };
    assert_eq!(stage.perform(wanted, &[]).await.shown, "one\ntwo\nthree\na.txt\ncache\nsrc\n");
}

#[tokio::test]
async fn no_key_is_in_its_environment_and_its_home_is_an_empty_one() {
    let stage = Stage::new();
    let env = stage.sh("printenv; ls -A ~ \"$TMPDIR\"").await.shown;
    for secret in ["sk-1", "t-1", "m-1", "/run/agent-1"] {
        assert!(!env.contains(secret), "{env}");
    }
    assert!(env.contains("CI=1\n") && env.contains("JAVA_HOME=/opt/java\n"), "{env}");
    let home = format!("HOME={}\n", stage.at("store/runs/one/work/commands/home").display());
    assert!(env.contains(&home), "{env}");
    let kept = stage.sh("echo x > ~/note && echo y > $(mktemp) && cat ~/note").await;
    assert_eq!(kept.shown, "x\n", "it may write there");
    assert_eq!(stage.sh("cat ~/note").await.shown, "x\n", "and finds it again");
    assert_eq!(fs::read_dir(stage.at("home")).unwrap().count(), 1, "the user's own is untouched");
}

#[tokio::test]
async fn a_home_that_was_put_elsewhere_is_put_back() {
    let stage = Stage::new();
    stage.sh("mv ~ \"$TMPDIR\"/gone; ln -s /etc \"$HOME\"").await;
    assert_eq!(stage.sh("ls -A ~").await.shown, "");
}

#[tokio::test]
async fn a_command_that_does_not_end_is_stopped_with_everything_it_started() {
    let stage = Stage::new();
    stage.work().await;
    for (n, how) in [
        "sleep 87654$N",
        "setsid sleep 87654$N & setsid sh -c 'setsid sleep 87654$N; true' & sleep 87654$N",
        "trap '' TERM; while :; do sleep 87654$N; done",
        "yes & sleep 87654$N",
    ]
    .iter()
    .enumerate()
    {
        let mark = format!("87654{n}");
        let came = stage.action(command(&how.replace("87654$N", &mark), 700)).await;
        assert_eq!(came.end(), &ToolEnd::Ran(RunEnd::TimedOut), "{how}");
        assert!(came.shown.contains("did not end within 0.7 s"), "{how}: {}", came.shown);
        assert!(came.shown.len() <= SHOWN);
        assert_eq!(alive(&format!("sleep {mark}")), Vec::<String>::new(), "{how}");
    }
    let came = stage.sh("echo here; setsid sleep 876549 >/dev/null 2>&1 & echo there").await;
    assert_eq!(came.end(), &ToolEnd::Ran(RunEnd::Code(0)));
    assert_eq!(alive("sleep 876549"), Vec::<String>::new(), "nothing goes on in the background");
}

#[tokio::test]
async fn of_a_flood_the_end_is_kept_and_its_middle_can_be_read() {
    let stage = Stage::new();
    let line = "i=0; yes 0123456789012345678901234567890123456789 | head -c 50000000; echo; seq 1 200000; echo the end";
    let came = stage.perform(ToolUse::new(command(line, 60_000), 7), &[]).await;
    assert_eq!(came.end(), &ToolEnd::Ran(RunEnd::Code(0)));
    assert!(came.shown.len() <= SHOWN && came.shown.starts_with("0123456789"), "{}", came.shown.len());
    assert!(
        came.shown.ends_with("200000\nthe end\n") && came.shown.contains("\"output:7\""),
        "{}",
        came.shown
    );
    assert!(came.done().bytes > 50_000_000, "{:?}", came.done());
    let kept = stage.at("store/runs/one/outputs/7.txt");
    assert_eq!(fs::metadata(&kept).unwrap().len(), KEPT as u64);
    let text = fs::read_to_string(&kept).unwrap();
    let middle = text.lines().position(|line| line == "100000").unwrap() + 1;
    let from = u32::try_from(middle).unwrap();
    let read = stage.action(ToolAction::ReadFile { path: "output:7".into(), from, lines: 2 }).await;
    assert!(
        read.well().starts_with(&format!("{middle}\t100000\n{}\t100001\n[lines ", middle + 1)),
        "{}",
        read.shown
    );
    assert!(stage.read("output:8").await.refused().contains("not kept"));
    assert!(stage.read("output:../../x").await.refused().contains("names no kept output"));
}

#[tokio::test]
async fn a_command_that_is_called_off_ends() {
    let stage = Stage::new();
    stage.work().await;
    let calling_off = async {
        while alive("sleep 765432").is_empty() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        stage.cancel.cancel();
    };
    let (came, ()) = tokio::join!(stage.action(command("sleep 765432", 600_000)), calling_off);
    assert_eq!(came.reply, Reply::Cancelled { sent: true });
    // Whoever enters next waits until everything is gone.
    drop(stage.folder.enter().await.unwrap());
    assert_eq!(alive("sleep 765432"), Vec::<String>::new());
}

/// What decides about a goal is held as the worker is, and finds nothing that the worker left outside the tree.
#[tokio::test]
async fn a_held_verify_command_is_in_the_same_sandbox_with_a_home_of_its_own() {
    let stage = Stage::new();
    stage.sh("echo planted > ~/.planted").await;
    let tree = stage.state().await;
    let precious = stage.at("elsewhere/precious");
    let line =
        format!("cat ~/.planted; echo x > ~/mine; cat {0}; echo gone > {0}; cat a.txt", precious.display());
    let verify = |held| Verify {
        command: line.clone(),
        tree,
        runs: 2,
        timeout_ms: 30_000,
        held,
        fresh: false,
        evidence: Vec::new(),
    };
    let held = verify(Some(HeldCommand { network: false }));
    let (done, texts) = stage.folder.verify(&held, &CancellationToken::new()).await.unwrap();
    assert_eq!((done.is_green(), done.runs.len()), (true, 2));
    if landlock().is_ok() {
        assert!(
            texts.iter().all(|t| !t.as_str().contains("planted\n") && !t.as_str().contains("precious\n")),
            "{texts:?}"
        );
        assert_eq!(fs::read_to_string(&precious).unwrap(), "precious\n");
    }
    let left: Vec<_> =
        fs::read_dir(stage.at("store/runs/one/work")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left, ["commands"], "its home is gone");
    // Sabotage: not held, it gets out.
    stage.folder.verify(&verify(None), &CancellationToken::new()).await.unwrap();
    assert_eq!(fs::read_to_string(&precious).unwrap(), "gone\n");
}

#[tokio::test]
async fn the_usual_tools_work_where_they_are_held() {
    let stage = Stage::new();
    for line in [
        "git init -q . && git add -A && git -c user.name=a -c user.email=a@b.c commit -qm x && git log --oneline",
        "python3 -c 'import json, tempfile; tempfile.TemporaryFile(); print(json.dumps(1))'",
    ] {
        let came = stage.sh(line).await;
        assert_eq!(came.end(), &ToolEnd::Ran(RunEnd::Code(0)), "{line}: {}", came.shown);
    }
}
