//! The arguments of `gadfly serve`.

use std::net::IpAddr;

use clap::Args;

#[derive(Args, Debug)]
pub struct Serve {
    /// Listen at this port; 0 takes any that is free, so that the page's address is another one at each start
    #[arg(long, short, value_name = "PORT", default_value_t = 0)]
    pub port: u16,
    /// Listen at this address. Any but this machine's own needs a token of yours in `GADFLY_SERVE_TOKEN`
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub bind: IpAddr,
    /// Another name this server may be asked for by, as in `box.example`; may be repeated
    #[arg(long, value_name = "NAME", value_parser = host_name)]
    pub allow_host: Vec<String>,
}

/// A name or an address, without scheme and port.
fn host_name(text: &str) -> Result<String, String> {
    let is_address = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let is_address = is_address.is_some_and(|inner| inner.parse::<std::net::Ipv6Addr>().is_ok());
    let is_name = !text.is_empty()
        && text.len() <= 253
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'.' || b == b'_');
    if is_address || is_name {
        return Ok(text.to_ascii_lowercase());
    }
    Err("a name like box.example or an address, without http:// and without a port".to_owned())
}
