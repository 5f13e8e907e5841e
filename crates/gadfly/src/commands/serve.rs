//! `gadfly serve`: the dashboard, until Ctrl-C. What it says on start is the link, and what is exposed.

use std::net::SocketAddr;

use tokio::sync::watch;

use crate::cli::Serve;
use crate::context::Context;
use crate::exit::{self, Code};
use crate::interrupts::Interrupts;
use crate::output::{error, print};
use crate::serve::{Dashboard, Hosts, PageProof, PageToken, TokenError, app, bind};

/// The variable that brings a token of the user's own.
const VARIABLE: &str = "GADFLY_SERVE_TOKEN";

pub async fn serve(args: Serve, context: Context) -> Code {
    go(args, context).await.unwrap_or_else(|code| code)
}

async fn go(args: Serve, context: Context) -> Result<Code, Code> {
    let given = std::env::var(VARIABLE).ok().filter(|token| !token.is_empty());
    let local = args.bind.is_loopback();
    if !local && given.is_none() {
        return Err(error::usage(&format!(
            "{} can be reached from other machines: that needs a token of yours. Nothing was started\n  \
             whoever has it can read every draft and finding of this project and start agents and commands as you\n  \
             {VARIABLE}=\"$(openssl rand -hex 24)\" gadfly serve --bind {}",
            args.bind, args.bind
        )));
    }
    let gadfly = context.open()?;
    if let Some(foreign) = gadfly.journal().foreign() {
        print::err(&foreign.to_string());
    }
    let secret = PageToken::of_start(given.as_deref()).and_then(|token| Ok((PageProof::new(&token)?, token)));
    let (proof, token) = secret.map_err(|e| match e {
        TokenError::Unfit => error::usage(&e.to_string()),
        TokenError::Random(_) => error::fault(&e.to_string()),
    })?;
    let wanted = SocketAddr::new(args.bind, args.port);
    let listening = bind(wanted).await.map_err(|e| {
        error::usage(&format!("cannot listen at {wanted}: {e}\n  another port: gadfly serve --port 0"))
    })?;
    let address = listening.address();
    let hosts = Hosts::of(address, &args.allow_host);
    let mut interrupts = Interrupts::catch();
    announce(&context, address, &token, local, &args.allow_host)?;
    let dashboard = Dashboard::new(context, gadfly, token, proof, hosts);
    let (end, ends) = watch::channel(false);
    let serving = tokio::spawn(listening.serve(app(std::sync::Arc::clone(&dashboard)), ends));
    interrupts.next().await;
    print::err("stopping: replies under way are waited for briefly (Ctrl-C again stops at once)");
    let impatient = tokio::spawn(async move {
        interrupts.next().await;
        std::process::exit(exit::INTERRUPTED.0.into())
    });
    end.send_replace(true);
    dashboard.close().await;
    let _ = serving.await;
    impatient.abort();
    Ok(exit::OK)
}

/// The link is standard output, so that a script can take it; the rest is for people.
fn announce(
    context: &Context,
    address: SocketAddr,
    token: &PageToken,
    local: bool,
    named: &[String],
) -> Result<(), Code> {
    let everywhere = address.ip().is_unspecified();
    let host = match named.first() {
        Some(name) if !local => format!("{name}:{}", address.port()),
        // Nobody is reached at "any address": this machine reaches itself.
        _ if everywhere => format!("127.0.0.1:{}", address.port()),
        _ => address.to_string(),
    };
    print::err(&format!("the dashboard of {}:", context.root.dir.display()));
    print::out(&format!("http://{host}/#token={}", token.text()))?;
    if !local {
        print::err(&format!(
            "WARNING: {address} can be reached from other machines, and nothing is encrypted on the way.\n  \
             Whoever has the token can read every draft, finding and reply in {} and start agents and\n  \
             commands here as you. A tunnel is safer: ssh -L {port}:127.0.0.1:{port} this-machine",
            context.store().display(),
            port = address.port()
        ));
    }
    if everywhere && named.is_empty() {
        print::err(
            "Requests by any other name are refused: --allow-host says what others call this machine.",
        );
    }
    print::err("Ctrl-C ends it; runs that were started from it are interrupted then and can be resumed");
    Ok(())
}
