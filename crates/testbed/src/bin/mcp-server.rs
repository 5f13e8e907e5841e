//! `mcp-server WORD…`: a server that speaks the Model Context Protocol over standard input and output; its words and
//! tools are listed in `gadfly_testbed::mcp`.

use gadfly_testbed::mcp::serve;

#[tokio::main]
async fn main() {
    let words = std::env::args().skip(1).collect();
    let code = serve(words, tokio::io::stdin(), tokio::io::stdout()).await;
    // Not by returning: a thread that reads standard input would hold the process.
    std::process::exit(code);
}
