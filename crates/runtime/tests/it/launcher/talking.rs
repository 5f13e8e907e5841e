//! Talking with a command while it works, and that a talk ends like any other call.

use std::time::Duration;

use gadfly_agents::launcher::{Command, Exit, Launcher, StdinSource, Talk};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio_util::sync::CancellationToken;

use super::support::{Family, command, dies, launcher, pid_in, sh};

async fn talk(command: Command, input: StdinSource) -> Talk {
    launcher().talk(command, input, CancellationToken::new()).await.unwrap()
}

async fn all_of(output: &mut (impl tokio::io::AsyncRead + Unpin)) -> Vec<u8> {
    let mut bytes = Vec::new();
    output.read_to_end(&mut bytes).await.unwrap();
    bytes
}

#[tokio::test]
async fn each_answer_is_read_before_the_next_question_is_put() {
    let script = "while read line; do echo \"heard $line\"; done; echo bye; exit 3";
    let Talk { input, output, end } =
        talk(Command { stdin: b"first\n".to_vec(), ..sh(script) }, StdinSource::Open).await;
    let (mut input, mut lines) = (input.unwrap(), BufReader::new(output).lines());
    assert_eq!(lines.next_line().await.unwrap().unwrap(), "heard first");
    for word in ["one", "two", "three"] {
        input.write_all(format!("{word}\n").as_bytes()).await.unwrap();
        assert_eq!(lines.next_line().await.unwrap().unwrap(), format!("heard {word}"));
    }
    input.shutdown().await.unwrap();
    assert_eq!(lines.next_line().await.unwrap().unwrap(), "bye", "its input ended, the command goes on");
    assert_eq!(lines.next_line().await.unwrap(), None);
    let done = end.await.unwrap();
    assert_eq!((done.exit, done.stdout.len()), (Exit::Code(3), 0));
}

#[tokio::test]
async fn much_goes_both_ways_at_once_unharmed() {
    let sent: Vec<u8> = (0..2_000_000_u32).flat_map(u32::to_le_bytes).collect();
    let cat = Command { max_output: sent.len(), ..command("cat", &[]) };
    let Talk { input, mut output, end } = talk(cat, StdinSource::Open).await;
    let (mut input, bytes) = (input.unwrap(), sent.clone());
    let writing = tokio::spawn(async move {
        input.write_all(&bytes).await.unwrap();
        input.shutdown().await.unwrap();
    });
    assert!(all_of(&mut output).await == sent, "what came back differs from what was sent");
    writing.await.unwrap();
    assert_eq!(end.await.unwrap().exit, Exit::Code(0));
}

#[tokio::test]
async fn given_input_ends_by_itself_and_cannot_be_added_to() {
    let Talk { input, mut output, end } =
        talk(Command { stdin: b"all of it".to_vec(), ..command("cat", &[]) }, StdinSource::Given).await;
    assert!(input.is_none());
    assert_eq!(all_of(&mut output).await, b"all of it");
    assert_eq!(end.await.unwrap().exit, Exit::Code(0));
}

#[tokio::test]
async fn input_that_is_dropped_has_ended() {
    let Talk { input, mut output, end } = talk(sh("cat; echo after"), StdinSource::Open).await;
    drop(input);
    assert_eq!(all_of(&mut output).await, b"after\n");
    assert_eq!(end.await.unwrap().exit, Exit::Code(0));
}

#[tokio::test]
async fn a_command_that_closes_its_stdin_is_not_disturbed_by_more() {
    let Talk { input, output, end } =
        talk(sh("exec <&-; echo closed; sleep 0.05; exit 4"), StdinSource::Open).await;
    let mut lines = BufReader::new(output).lines();
    assert_eq!(lines.next_line().await.unwrap().unwrap(), "closed");
    let mut input = input.unwrap();
    // More than all buffers hold: it must be swallowed, or fail because the command has ended.
    let _ = input.write_all(&vec![b'x'; 4 << 20]).await;
    assert_eq!(end.await.unwrap().exit, Exit::Code(4));
    assert!(input.write_all(&vec![b'x'; 4 << 20]).await.is_err(), "nobody is left to read this");
}

/// Fills every buffer on the way to a command that never reads: until nothing more is taken.
async fn stuff(input: &mut (impl tokio::io::AsyncWrite + Unpin)) {
    let chunk = vec![b'x'; 16 << 10];
    let mut taken = 0;
    while tokio::time::timeout(Duration::from_millis(300), input.write_all(&chunk)).await.is_ok() {
        taken += chunk.len();
        assert!(taken < 1 << 20, "a megabyte was taken for a command that does not read");
    }
}

#[tokio::test]
async fn a_command_that_never_reads_ends_at_once_when_the_talk_is_dropped() {
    let family = Family::new();
    let mut talk = talk(sh(&family.script("sleep 1000")), StdinSource::Open).await;
    let file = family.folder.path().join("self");
    tokio::task::spawn_blocking(move || pid_in(&file)).await.unwrap();
    stuff(talk.input.as_mut().unwrap()).await;
    family.assert_alive();
    drop(talk);
    // On other threads the end of the talk goes on; here it needs this one.
    tokio::task::spawn_blocking(move || family.assert_gone()).await.unwrap();
}

#[tokio::test]
async fn a_command_that_never_reads_can_be_cancelled() {
    let family = Family::new();
    let cancel = CancellationToken::new();
    let talk =
        launcher().talk(sh(&family.script("sleep 1000")), StdinSource::Open, cancel.clone()).await.unwrap();
    let Talk { input, mut output, end } = talk;
    let file = family.folder.path().join("self");
    tokio::task::spawn_blocking(move || pid_in(&file)).await.unwrap();
    stuff(&mut input.unwrap()).await;
    cancel.cancel();
    assert_eq!(end.await.unwrap().exit, Exit::Cancelled);
    assert!(all_of(&mut output).await.is_empty());
    family.assert_gone();
}

#[tokio::test]
async fn a_talk_cancelled_before_it_began_starts_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let cancel = CancellationToken::new();
    cancel.cancel();
    let touch = Command { cwd: Some(folder.path().to_owned()), ..command("touch", &["file"]) };
    let Talk { input, mut output, end } = launcher().talk(touch, StdinSource::Open, cancel).await.unwrap();
    assert_eq!(end.await.unwrap().exit, Exit::Cancelled);
    assert!(all_of(&mut output).await.is_empty());
    assert!(input.unwrap().write_all(b"x").await.is_err());
    assert!(!folder.path().join("file").exists());
}

#[tokio::test]
async fn a_talk_out_of_time_is_ended_and_what_was_said_can_be_read() {
    let family = Family::new();
    let slow =
        Command { time: Some(Duration::from_secs(4)), ..sh(&family.script("echo so far; sleep 1000")) };
    let Talk { mut output, end, .. } = talk(slow, StdinSource::Given).await;
    let (done, said) = tokio::join!(end, all_of(&mut output));
    assert_eq!((done.unwrap().exit, said.as_slice()), (Exit::TimedOut, &b"so far\n"[..]));
    family.assert_gone();
}

#[tokio::test]
async fn output_beyond_the_limit_ends_a_talk_and_the_limit_is_what_is_read() {
    let Talk { mut output, end, .. } =
        talk(Command { max_output: 1000, ..command("yes", &[]) }, StdinSource::Given).await;
    assert_eq!(all_of(&mut output).await, b"y\n".repeat(500));
    assert_eq!(end.await.unwrap().exit, Exit::Overflowed);
    // The same if the command is done before anyone could stop it, and its end is asked for first.
    for _ in 0..10 {
        let Talk { mut output, end, .. } =
            talk(Command { max_output: 1000, ..sh("head -c 1001 /dev/zero") }, StdinSource::Given).await;
        assert_eq!(end.await.unwrap().exit, Exit::Overflowed);
        assert_eq!(all_of(&mut output).await.len(), 1000);
    }
}

#[tokio::test]
async fn a_command_that_nobody_listens_to_waits() {
    let folder = tempfile::tempdir().unwrap();
    let script = "echo $$ > pid; head -c 1000000 /dev/zero; echo 1 > done";
    let write = Command { cwd: Some(folder.path().to_owned()), ..sh(script) };
    let Talk { mut output, end, .. } = talk(write, StdinSource::Given).await;
    let file = folder.path().join("pid");
    tokio::task::spawn_blocking(move || pid_in(&file)).await.unwrap();
    // A command that need not wait is done in a moment.
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(!folder.path().join("done").exists(), "a megabyte was held for nobody");
    assert_eq!(all_of(&mut output).await.len(), 1_000_000);
    assert_eq!(end.await.unwrap().exit, Exit::Code(0));
}

#[tokio::test]
async fn the_end_comes_though_nobody_reads_and_nothing_is_lost_by_reading_late() {
    // More than waits for a listener, and less than that and the pipe hold together.
    let Talk { mut output, end, .. } = talk(sh("head -c 75000 /dev/zero; exit 6"), StdinSource::Given).await;
    assert_eq!(end.await.unwrap().exit, Exit::Code(6));
    assert_eq!(all_of(&mut output).await.len(), 75_000);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_talk_goes_on_whether_its_end_is_asked_for_or_not() {
    let folder = tempfile::tempdir().unwrap();
    let script = "echo $$ > pid; exec sleep 1000";
    let short =
        Command { cwd: Some(folder.path().to_owned()), time: Some(Duration::from_secs(1)), ..sh(script) };
    let talk = talk(short, StdinSource::Given).await;
    let pid = pid_in(&folder.path().join("pid"));
    let ended =
        tokio::task::spawn_blocking(move || std::iter::repeat_with(|| dies(pid)).take(5).any(|gone| gone));
    assert!(ended.await.unwrap(), "its time was up and nobody ended it");
    assert_eq!(talk.end.await.unwrap().exit, Exit::TimedOut);
}

#[tokio::test]
async fn what_cannot_be_started_ends_the_talk_with_the_reason() {
    let Talk { mut output, end, .. } = talk(command("no-such-program-here", &[]), StdinSource::Open).await;
    assert!(all_of(&mut output).await.is_empty());
    assert!(end.await.unwrap_err().to_string().contains("install it"));
    let nowhere = Command { cwd: None, ..sh(":") };
    let refused = launcher().talk(nowhere, StdinSource::Open, CancellationToken::new()).await;
    assert!(refused.unwrap_err().to_string().contains("no folder"));
}
