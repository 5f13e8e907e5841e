//! Which addresses nobody may fetch from: where clouds keep the credentials of their machines, and what names no
//! machine. This machine and private networks are allowed: people test their own servers.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use futures_util::future::BoxFuture;
use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0} is never fetched from: it is a link-local, metadata or unspecified address")]
pub(super) struct AddressRefused(IpAddr);

/// Metadata services outside of the link-local range.
const METADATA_V4: [Ipv4Addr; 2] = [Ipv4Addr::new(100, 100, 100, 200), Ipv4Addr::new(168, 63, 129, 16)];
const METADATA_V6: Ipv6Addr = Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254);

pub(super) fn check(address: IpAddr) -> Result<(), AddressRefused> {
    let refused = match address.to_canonical() {
        IpAddr::V4(v4) => is_refused(v4),
        IpAddr::V6(v6) => {
            v6.is_unspecified()
                || v6.is_unicast_link_local()
                || v6 == METADATA_V6
                || embedded(v6).is_some_and(is_refused)
        }
    };
    if refused { Err(AddressRefused(address)) } else { Ok(()) }
}

fn is_refused(v4: Ipv4Addr) -> bool {
    // All of 0.0.0.0/8 means "this machine" to one system or another.
    v4.octets()[0] == 0 || v4.is_link_local() || METADATA_V4.contains(&v4)
}

/// The IPv4 address that a gateway would reach: NAT64, 6to4 and the old compatible form.
fn embedded(v6: Ipv6Addr) -> Option<Ipv4Addr> {
    let both = |high: u16, low: u16| Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low));
    match v6.segments() {
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] | [0x2002, high, low, ..] => Some(both(high, low)),
        [0, 0, 0, 0, 0, 0, high, low] if high != 0 => Some(both(high, low)),
        _ => None,
    }
}

/// The address that stands in place of a host's name.
pub(super) fn literal(url: &Url) -> Option<IpAddr> {
    url.host_str()?.trim_matches(['[', ']']).parse().ok()
}

/// How names become addresses.
#[derive(Clone)]
pub(super) struct Lookup(
    pub Arc<dyn Fn(String) -> BoxFuture<'static, std::io::Result<Vec<SocketAddr>>> + Send + Sync>,
);

impl Default for Lookup {
    fn default() -> Self {
        Self(Arc::new(|name| {
            Box::pin(async move { Ok(tokio::net::lookup_host((name, 0)).await?.collect()) })
        }))
    }
}

/// Gives the connection only addresses that may be used, so that what was checked is what is connected to: a
/// name that is looked up twice may change in between.
pub(super) struct CheckedResolver(pub Lookup);

impl Resolve for CheckedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let found = (self.0.0)(name.as_str().to_owned());
        Box::pin(async move {
            let (mut good, mut refused) = (Vec::new(), None);
            for address in found.await? {
                match check(address.ip()) {
                    Ok(()) => good.push(address),
                    Err(why) => refused = Some(why),
                }
            }
            match refused {
                Some(why) if good.is_empty() => Err(why.into()),
                _ => Ok(Box::new(good.into_iter()) as Addrs),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn metadata_link_local_and_unspecified_addresses_are_refused_in_every_spelling() {
        for bad in [
            "169.254.169.254",
            "169.254.0.1",
            "0.0.0.0",
            "0.1.2.3",
            "100.100.100.200",
            "168.63.129.16",
            "::",
            "fe80::1",
            "febf::1",
            "fd00:ec2::254",
            "::ffff:169.254.169.254",
            "::ffff:0.0.0.0",
            "64:ff9b::169.254.169.254",
            "2002:a9fe:a9fe::1",
            "::169.254.169.254",
        ] {
            assert!(check(bad.parse().unwrap()).is_err(), "{bad}");
        }
        for good in ["127.0.0.1", "::1", "10.0.0.1", "192.168.1.1", "fd00::1", "1.1.1.1", "2606:4700::1111"] {
            assert!(check(good.parse().unwrap()).is_ok(), "{good}");
        }
    }

    #[test]
    fn an_address_in_place_of_a_name_is_found_however_it_is_written() {
        for spelling in [
            "http://169.254.169.254/",
            "http://2852039166/",
            "http://0xa9fea9fe/",
            "http://[::ffff:a9fe:a9fe]/",
        ] {
            let found = literal(&Url::parse(spelling).unwrap()).unwrap();
            assert!(check(found).is_err(), "{spelling}");
        }
        assert_eq!(literal(&Url::parse("http://localhost/").unwrap()), None);
    }
}
