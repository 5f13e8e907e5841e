//! `fake-cli PROGRAM WORD… -- FLAG…`: stands in for a CLI agent, with the flags and the stream of the real one,
//! and does what its words say; they are listed in `gadfly_testbed::cli`.

use std::io::{Read as _, Write as _};
use std::process::ExitCode;

use gadfly_testbed::cli::{CliScript, ProgramInvocation, play};

#[tokio::main]
async fn main() -> ExitCode {
    let failed = |why: &str| {
        let _ = writeln!(std::io::stderr(), "fake-cli: {why}");
        ExitCode::from(2)
    };
    let (script, flags) = match CliScript::parse(std::env::args().skip(1)) {
        Ok(parsed) => parsed,
        Err(why) => return failed(&why),
    };
    let mut brief = String::new();
    let folder = std::env::current_dir();
    if let (Ok(_), Ok(folder)) = (std::io::stdin().read_to_string(&mut brief), folder) {
        let asked = ProgramInvocation { flags, env: std::env::vars().collect(), brief, folder };
        let ended = play(script, asked, tokio::io::stdout()).await;
        let _ = writeln!(std::io::stderr(), "{}", ended.said);
        // Not by returning: what was started meanwhile would hold the process.
        std::process::exit(ended.code);
    }
    failed("there is no brief, or no folder")
}
