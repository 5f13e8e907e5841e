//! Names that lead elsewhere than they seem to: only here can a name be given addresses.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::*;

/// A server that answers every connection with "hello".
async fn server() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let _ = socket.read(&mut [0; 4096]).await;
            let _ = socket
                .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\nconnection: close\r\n\r\nhello")
                .await;
        }
    });
    at
}

fn fetcher(names: &'static [(&'static str, &'static [&'static str])]) -> Fetcher {
    let lookup = Lookup(Arc::new(move |name| {
        Box::pin(async move {
            let found = names.iter().find(|(known, _)| *known == name).map_or(&[][..], |(_, found)| *found);
            Ok(found.iter().map(|ip| SocketAddr::new(ip.parse().unwrap(), 0)).collect())
        })
    }));
    Fetcher { client: OnceLock::new(), lookup }
}

async fn get(fetcher: &Fetcher, url: &str) -> Result<Fetched, String> {
    fetcher.get(url, 1000, Duration::from_secs(20), &CancellationToken::new()).await
}

#[tokio::test]
async fn a_name_that_leads_to_the_metadata_service_is_refused() {
    let fetcher = fetcher(&[("innocent.test", &["169.254.169.254"]), ("six.test", &["fd00:ec2::254"])]);
    for name in ["innocent.test", "six.test"] {
        let said = get(&fetcher, &format!("http://{name}/latest/meta-data")).await.unwrap_err();
        assert!(said.contains("is never fetched from"), "{said}");
    }
}

#[tokio::test]
async fn of_several_addresses_only_the_good_ones_are_connected_to() {
    let port = server().await.port();
    let fetcher = fetcher(&[("mixed.test", &["169.254.169.254", "127.0.0.1"])]);
    assert_eq!(get(&fetcher, &format!("http://mixed.test:{port}/")).await.unwrap().body, "hello");
}

#[tokio::test]
async fn a_name_that_nobody_knows_is_a_sentence() {
    let said = get(&fetcher(&[]), "http://nowhere.test/").await.unwrap_err();
    assert!(said.starts_with("http://nowhere.test/ cannot be reached"), "{said}");
}

#[test]
fn a_cut_never_goes_through_a_character_and_replacements_stay_within_the_bound() {
    assert_eq!(text("aé".as_bytes()[..2].to_vec(), 2, true), ("a".to_owned(), false));
    let (replaced, shortened) = text(vec![0xff; 10], 10, false);
    assert_eq!((replaced.len(), shortened), (9, true));
    assert_eq!(text(b"abc".to_vec(), 3, false), ("abc".to_owned(), false));
}
