//! The arguments of `gadfly serve`.

use std::net::IpAddr;

use clap::Args;

#[derive(Args, Debug)]
pub struct Serve {
    /// Listen at this port; 0 takes any that is free
    #[arg(long, short, value_name = "PORT", default_value_t = 7117)]
    pub port: u16,
    /// Listen at this address. Any but this machine's own needs a token of yours in GADFLY_SERVE_TOKEN
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub bind: IpAddr,
    /// Another name this server may be asked for by, as in `box.example`; may be repeated
    #[arg(long, value_name = "NAME")]
    pub allow_host: Vec<String>,
    /// Make a new token: links that were printed before lead nowhere then
    #[arg(long)]
    pub new_token: bool,
}
