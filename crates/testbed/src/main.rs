//! `gadfly-testbed [--port N] [--latency-ms N] [--script FILE]`: the test server as a process of its own,
//! so that calls are still counted when the program under test is killed. Serves until stdin closes.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write as _;
use std::time::Duration;

use gadfly_testbed::{Behaviour, Server};

const USAGE: &str = "usage: gadfly-testbed [--port N] [--latency-ms N] [--script FILE]\n\
FILE is JSON: {\"model\": [\"text in iteration 1\", \"text in iteration 2\", …]}";

/// One descriptor per loop that calls: as many as the system allows. Without them calls queue.
fn raise_open_files() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let maximum = getrlimit(Resource::Nofile).maximum;
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let (mut port, mut behaviour) = (0, Behaviour::default());
    let mut args = std::env::args().skip(1);
    while let Some(flag) = args.next() {
        let value = args.next().ok_or(USAGE)?;
        match flag.as_str() {
            "--port" => port = value.parse()?,
            "--latency-ms" => behaviour.latency = Duration::from_millis(value.parse()?),
            "--script" => {
                let text = std::fs::read_to_string(&value)?;
                behaviour.script = serde_json::from_str::<BTreeMap<String, Vec<String>>>(&text)?;
            }
            _ => return Err(USAGE.into()),
        }
    }
    raise_open_files();
    let server = Server::start_on(port, behaviour).await?;
    let mut out = std::io::stdout();
    writeln!(out, "listening on {}", server.addr)?;
    out.flush()?;
    tokio::task::spawn_blocking(|| std::io::copy(&mut std::io::stdin(), &mut std::io::sink())).await??;
    Ok(())
}
