//! An HTTP address, read strictly enough that nobody can be mistaken about its host. Not a URL library:
//! what two parsers could read differently is refused.

use std::net::{Ipv4Addr, Ipv6Addr};

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Endpoint {
    /// Without a slash at the end.
    pub url: String,
    /// Lower case, without port; an IPv6 address without brackets.
    pub host: String,
    pub loopback: bool,
    pub tls: bool,
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadEndpoint {
    #[error("it must begin with http:// or https://")]
    Scheme,
    #[error("a user name or key in an address ends up in logs; name the key's variable with `key_env`")]
    Credentials,
    #[error("its host is missing or has characters that no host has")]
    Host,
    #[error("its port is not a number from 1 to 65535")]
    Port,
    #[error("it may not have a query, a fragment, spaces or control characters")]
    Rest,
}

/// What stands where an address belongs, as it may be said: a word that is none may be a key.
pub(super) fn as_said(text: &str) -> String {
    if text.contains(['.', ':', '/']) || text == "localhost" {
        return format!("`{}`", crate::place::brief(text));
    }
    format!("what stands there ({} characters)", text.chars().count())
}

impl Endpoint {
    pub fn parse(url: &str) -> Result<Self, BadEndpoint> {
        let (tls, rest) = match url.split_once("://") {
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("https") => (true, rest),
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("http") => (false, rest),
            _ => return Err(BadEndpoint::Scheme),
        };
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        if path.chars().any(|c| matches!(c, '?' | '#' | '\\' | ' ') || c.is_control()) {
            return Err(BadEndpoint::Rest);
        }
        if authority.contains('@') {
            return Err(BadEndpoint::Credentials);
        }
        let (host, port) = match authority.strip_prefix('[').map(|v6| v6.split_once(']')) {
            Some(Some((host, port))) if host.parse::<Ipv6Addr>().is_ok() => (host, port),
            Some(_) => return Err(BadEndpoint::Host),
            None => {
                let (host, port) = authority.split_at(authority.find(':').unwrap_or(authority.len()));
                if host.is_empty() || !host.chars().all(|c| c.is_ascii_alphanumeric() || "-._".contains(c)) {
                    return Err(BadEndpoint::Host);
                }
                (host, port)
            }
        };
        let port_is_good = match port.strip_prefix(':') {
            None => port.is_empty(),
            Some(digits) => {
                digits.chars().all(|c| c.is_ascii_digit()) && digits.parse::<u16>().is_ok_and(|p| p > 0)
            }
        };
        if !port_is_good {
            return Err(BadEndpoint::Port);
        }
        let host = host.to_ascii_lowercase();
        let loopback = host == "localhost"
            || host.parse::<Ipv4Addr>().is_ok_and(|a| a.is_loopback())
            || host.parse::<Ipv6Addr>().is_ok_and(|a| a.is_loopback());
        Ok(Self { url: url.trim_end_matches('/').to_owned(), host, loopback, tls })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_found_and_loopback_is_recognised() {
        for (url, host, loopback) in [
            ("http://127.0.0.1:11434/v1", "127.0.0.1", true),
            ("http://localhost/", "localhost", true),
            ("http://[::1]:8080/v1", "::1", true),
            ("https://API.openai.com/v1/", "api.openai.com", false),
            ("http://127.0.0.1.evil.example/v1", "127.0.0.1.evil.example", false),
        ] {
            let endpoint = Endpoint::parse(url).unwrap();
            assert_eq!((endpoint.host.as_str(), endpoint.loopback), (host, loopback), "{url}");
        }
        assert_eq!(Endpoint::parse("https://a.example/v1/").unwrap().url, "https://a.example/v1");
    }

    #[test]
    fn addresses_that_hide_their_host_are_refused() {
        for (url, why) in [
            ("api.openai.com/v1", BadEndpoint::Scheme),
            ("file:///etc/passwd", BadEndpoint::Scheme),
            ("https://api.openai.com@evil.example/", BadEndpoint::Credentials),
            ("https://evil.example\\.api.openai.com/", BadEndpoint::Host),
            ("https://api.openai.com%2eevil.example/", BadEndpoint::Host),
            ("https:///evil.example", BadEndpoint::Host),
            ("https://api.open\tai.com", BadEndpoint::Host),
            ("https://ａpi.openai.com", BadEndpoint::Host),
            ("https://a.example:99999/", BadEndpoint::Port),
            ("https://a.example:+80/", BadEndpoint::Port),
            ("https://a.example/?key=1", BadEndpoint::Rest),
            ("https://a.example?x", BadEndpoint::Host),
        ] {
            assert_eq!(Endpoint::parse(url), Err(why), "{url}");
        }
    }
}
