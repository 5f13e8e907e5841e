//! Runs one command through the launcher: what an embedding program does, and what the tests re-execute.
//!
//! `launch-probe PROGRAM ARGS…` gives the command this process's `PATH`, closes its stdin and exits with its
//! code. The launcher's tests use this binary as supervisor, and kill it to see that nothing survives it.
//! `--talk` before the program keeps its stdin open and fills it without end. `--connect PORT` and `--listen PORT`
//! try TCP on this machine, `--loopback` talks to itself over it, `--abstract NAME` tries a socket without a file: what
//! the tests run in a sandbox.

use std::io::Write;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::process::ExitCode;

use gadfly_agents::launcher::{Command, Exit, Finished, Launcher, StdinSource};
use gadfly_runtime::os::{ProcessLauncher, supervise};
use tokio::io::AsyncWriteExt;
use tokio_util::sync::CancellationToken;

type ProbeFailure = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    supervise();
    match run(&std::env::args().skip(1).collect::<Vec<_>>()) {
        Ok(code) => code,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "launch-probe: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(args: &[String]) -> Result<ExitCode, ProbeFailure> {
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let (talking, words) = match words.as_slice() {
        ["--connect", port] => {
            TcpStream::connect(("127.0.0.1", port.parse()?))?;
            return Ok(ExitCode::SUCCESS);
        }
        ["--listen", port] => {
            TcpListener::bind(("127.0.0.1", port.parse()?))?;
            return Ok(ExitCode::SUCCESS);
        }
        ["--loopback"] => {
            let server = TcpListener::bind("127.0.0.1:0")?;
            TcpStream::connect(server.local_addr()?)?;
            UdpSocket::bind("127.0.0.1:0")?.send_to(b"x", server.local_addr()?)?;
            return Ok(ExitCode::SUCCESS);
        }
        ["--abstract", name] => {
            abstract_socket(name)?;
            return Ok(ExitCode::SUCCESS);
        }
        ["--talk", words @ ..] => (true, words),
        words => (false, words),
    };
    let [program, args @ ..] = words else { return Err("name a program to run".into()) };
    let command = Command {
        program: (*program).to_owned(),
        args: args.iter().map(|arg| (*arg).to_owned()).collect(),
        env: std::env::var("PATH").map(|path| ("PATH".to_owned(), path)).into_iter().collect(),
        cwd: Some(std::env::current_dir()?),
        max_output: 1 << 20,
        ..Command::default()
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let finished = runtime.block_on(launch(command, talking))?;
    std::io::stdout().write_all(&finished.stdout)?;
    std::io::stderr().write_all(&finished.stderr)?;
    Ok(match finished.exit {
        Exit::Code(code) => ExitCode::from(u8::try_from(code).unwrap_or(1)),
        _ => ExitCode::FAILURE,
    })
}

#[cfg(target_os = "linux")]
fn abstract_socket(name: &str) -> std::io::Result<()> {
    use std::os::linux::net::SocketAddrExt;
    use std::os::unix::net::{SocketAddr, UnixStream};
    UnixStream::connect_addr(&SocketAddr::from_abstract_name(name)?).map(drop)
}

#[cfg(not(target_os = "linux"))]
fn abstract_socket(_: &str) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}

async fn launch(command: Command, talking: bool) -> Result<Finished, ProbeFailure> {
    let launcher = ProcessLauncher::this_program()?;
    let cancel = CancellationToken::new();
    if !talking {
        return Ok(launcher.launch(command, cancel).await?);
    }
    let mut talk = launcher.talk(command, StdinSource::Open, cancel).await?;
    if let Some(input) = &mut talk.input {
        while input.write_all(&[b'x'; 4096]).await.is_ok() {}
    }
    Ok(talk.end.await?)
}
