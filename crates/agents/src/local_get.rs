//! Asks a server once, from within whatever network this process is in: how somebody outside learns what a server says
//! that only the commands of a run can reach. A program of ours, started like any command of the run; plain HTTP only.

use std::io::{self, Read as _, Write as _};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::time::Duration;

/// The hidden second argument; the address follows.
pub const GET: &str = "__get";
/// The most of an answer that is brought.
const LARGEST: u64 = 2 << 20;
const PATIENCE: Duration = Duration::from_secs(20);
/// The exit code if nothing listens there.
pub const NOBODY: i32 = 7;

/// What such an address is made of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Address {
    /// With the port, if one is named.
    pub authority: String,
    pub host: String,
    pub port: u16,
    /// With the query.
    pub path: String,
}

/// An address of this machine that can be asked so.
pub fn local(url: &str) -> Option<Address> {
    let rest = url.strip_prefix("http://")?;
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let path = path.split('#').next().unwrap_or_default();
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, port.parse().ok()?),
        _ => (authority, 80),
    };
    let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
    let is_here = host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback());
    let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
    is_here.then(|| Address { authority: authority.to_owned(), host, port, path })
}

/// Writes the answer as it came.
pub fn get(url: &str, mut out: impl io::Write, mut complain: impl io::Write) -> i32 {
    let Some(address) = local(url) else { return 2 };
    match ask(&address, &mut out) {
        Ok(()) => 0,
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => NOBODY,
        Err(error) => {
            let _ = writeln!(complain, "{error}");
            1
        }
    }
}

fn ask(address: &Address, out: &mut impl io::Write) -> io::Result<()> {
    let mut last = io::Error::from(io::ErrorKind::ConnectionRefused);
    for socket in (address.host.as_str(), address.port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&socket, PATIENCE) {
            Ok(stream) => return bring(stream, address, out),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn bring(mut stream: TcpStream, address: &Address, out: &mut impl io::Write) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    // In the older version the answer ends with the connection and comes in one piece.
    let Address { path, authority, .. } = address;
    write!(
        stream,
        "GET {path} HTTP/1.0\r\nHost: {authority}\r\nUser-Agent: gadfly\r\nAccept: */*\r\nConnection: close\r\n\r\n"
    )?;
    io::copy(&mut stream.take(LARGEST), out)?;
    Ok(())
}

/// Status and body of an answer; none if it is no answer of a web server.
pub fn answer(bytes: &[u8]) -> Option<(u16, String)> {
    let text = String::from_utf8_lossy(bytes);
    let (head, body) = text.split_once("\r\n\r\n").or_else(|| text.split_once("\n\n"))?;
    let status = head.strip_prefix("HTTP/")?.split_whitespace().nth(1)?.parse().ok()?;
    Some((status, body.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_addresses_of_this_machine_are_asked_so() {
        let found = local("http://127.0.0.1:8080/health?x=1#y").unwrap();
        assert_eq!(
            (found.host.as_str(), found.port, found.path.as_str()),
            ("127.0.0.1", 8080, "/health?x=1")
        );
        assert_eq!(local("http://localhost").map(|a| (a.port, a.path)), Some((80, "/".to_owned())));
        assert_eq!(local("http://[::1]:3000/").map(|a| (a.host, a.port)), Some(("::1".to_owned(), 3000)));
        for other in [
            "https://127.0.0.1/",
            "http://example.com/",
            "http://10.0.0.1/",
            "http://localhost:x/",
            "ftp://localhost",
        ] {
            assert_eq!(local(other), None, "{other}");
        }
    }

    #[test]
    fn an_answer_has_a_status_and_a_body() {
        assert_eq!(answer(b"HTTP/1.0 200 OK\r\nA: b\r\n\r\nok\n"), Some((200, "ok\n".to_owned())));
        assert_eq!(answer(b"hello"), None);
    }
}
