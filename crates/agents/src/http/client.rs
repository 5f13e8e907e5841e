//! HTTP clients: pooled, without redirects, with TLS by rustls on ring and the platform's roots.

use std::net::IpAddr;
use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Client, Error, Url};

/// Idle connections kept per host: as many as loops that may run at once.
const IDLE: usize = 4096;

/// What needs a client of its own.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct ClientRoute {
    pub connect: Duration,
    /// This machine: no proxy.
    pub local: bool,
    /// Not encrypted.
    pub plain: bool,
}

pub(crate) fn build(route: ClientRoute) -> Result<Client, Error> {
    // Fails only if a provider is installed already, which then serves as well.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = Client::builder()
        .connect_timeout(route.connect)
        .redirect(Policy::none())
        .retry(reqwest::retry::never())
        .pool_max_idle_per_host(IDLE)
        .pool_idle_timeout(Duration::from_mins(1))
        .tcp_nodelay(true)
        .user_agent(concat!("gadfly/", env!("CARGO_PKG_VERSION")));
    match (route.local, route.plain) {
        // The system's certificates are hundreds of files that nothing here would look at.
        (true, true) => builder.no_proxy().http1_only().tls_certs_only([]).build(),
        (true, false) => builder.no_proxy().http1_only().build(),
        (false, _) => builder.build(),
    }
}

pub(crate) fn is_loopback(url: &Url) -> bool {
    url.host_str().is_some_and(|host| {
        // Not names below it: whether those stay here is for the resolver to say.
        host == "localhost"
            || host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_loopback() {
        let is = |s: &str| is_loopback(&Url::parse(s).unwrap());
        assert!(is("http://localhost:1/v1") && is("http://127.8.0.1/") && is("http://[::1]:80/"));
        assert!(
            !is("http://api.localhost/")
                && !is("http://localhost.example/")
                && !is("http://10.0.0.1/")
                && !is("https://api.openai.com/v1")
        );
    }

    #[test]
    fn a_client_with_tls_can_be_built() {
        let connect = Duration::from_secs(1);
        build(ClientRoute { connect, local: false, plain: false }).unwrap();
        build(ClientRoute { connect, local: true, plain: true }).unwrap();
    }
}
