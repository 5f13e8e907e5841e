//! `acp-agent WORD…`: an agent that speaks the Agent Client Protocol and does what its words say; they are
//! listed in `gadfly_testbed::acp`.

use std::process::ExitCode;

use gadfly_testbed::acp::{AcpScript, serve};

#[tokio::main]
async fn main() -> ExitCode {
    let script = match AcpScript::parse(std::env::args().skip(1)) {
        Ok(script) => script,
        Err(why) => {
            use std::io::Write as _;
            let _ = writeln!(std::io::stderr(), "acp-agent: {why}");
            return ExitCode::from(2);
        }
    };
    let code = serve(script, tokio::io::stdin(), tokio::io::stdout()).await;
    // Not by returning: a thread that reads standard input would hold the process.
    std::process::exit(code);
}
