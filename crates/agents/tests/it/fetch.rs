//! Fetching pages for a model: what comes back, what is bounded, what is refused. Over real sockets.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

pub(crate) mod web;

use std::time::Duration;

use gadfly_agents::{Fetched, Fetcher};
use tokio_util::sync::CancellationToken;
use web::{HANG, Web, answer};

const LONG: Duration = Duration::from_secs(30);

async fn get(url: &str) -> Result<Fetched, String> {
    Fetcher::new().get(url, 1000, LONG, &CancellationToken::new()).await
}

#[tokio::test]
async fn a_page_comes_with_its_status_and_kind() {
    let web =
        Web::serve(|_| answer("404 Not Found", &["content-type: text/html; charset=utf-8"], b"gone")).await;
    let got = get(&web.url("/x?a=1")).await.unwrap();
    let url = web.url("/x?a=1");
    let media = Some("text/html; charset=utf-8".to_owned());
    assert_eq!(got, Fetched { status: 404, media, body: "gone".into(), bytes: 4, cut: false, url });
}

#[tokio::test]
async fn nothing_of_the_user_is_sent() {
    let web = Web::serve(|asked| match asked.path() {
        "/" => answer("302 Found", &["location: /next", "set-cookie: a=b"], b""),
        _ => answer("200 OK", &[], b"ok"),
    })
    .await;
    let fetcher = Fetcher::new();
    for _ in 0..2 {
        fetcher.get(&web.url("/"), 1000, LONG, &CancellationToken::new()).await.unwrap();
    }
    for asked in web.asked() {
        for header in ["cookie", "authorization", "referer", "accept-encoding"] {
            assert!(!asked.head.contains(&format!("\r\n{header}:")), "{}", asked.head);
        }
    }
    assert_eq!(web.asked().len(), 4);
}

#[tokio::test]
async fn a_long_page_is_cut_and_reading_ends_at_four_mebibytes() {
    let web = Web::serve(|asked| {
        let bytes = if asked.path() == "/long" { 5000 } else { 9 << 20 };
        answer("200 OK", &[], &vec![b'x'; bytes])
    })
    .await;
    let long = get(&web.url("/long")).await.unwrap();
    assert_eq!((long.body.len(), long.bytes, long.cut), (1000, 5000, true));
    let endless = get(&web.url("/endless")).await.unwrap();
    assert!(endless.cut && endless.bytes >= 4 << 20 && endless.bytes < 5 << 20, "{}", endless.bytes);
}

#[tokio::test]
async fn five_redirects_are_followed_and_no_more() {
    let web = Web::serve(|asked| match asked.path().trim_start_matches('/').parse::<u32>() {
        Ok(0) => answer("200 OK", &[], b"there"),
        Ok(n) => answer("307 Temporary Redirect", &[&format!("location: /{}", n - 1)], b""),
        Err(_) => answer("302 Found", &["location: /round"], b""),
    })
    .await;
    let got = get(&web.url("/5")).await.unwrap();
    assert_eq!((got.body.as_str(), got.url), ("there", web.url("/0")));
    for path in ["/6", "/round"] {
        let said = get(&web.url(path)).await.unwrap_err();
        assert!(said.contains("one redirect too many"), "{said}");
    }
}

#[tokio::test]
async fn where_a_redirect_leads_is_checked_as_the_beginning_is() {
    for (to, why) in [
        ("http://169.254.169.254/latest/meta-data", "is never fetched from"),
        ("http://[::ffff:169.254.169.254]/", "is never fetched from"),
        ("http://0.0.0.0/", "is never fetched from"),
        ("file:///etc/passwd", "only http and https"),
        ("http://user:pw@127.0.0.1/", "user name or password"),
    ] {
        let web = Web::serve(move |_| answer("302 Found", &[&format!("location: {to}")], b"")).await;
        let said = get(&web.url("/")).await.unwrap_err();
        assert!(said.contains(why) && said.contains("redirects to"), "{to}: {said}");
        let said = get(to).await.unwrap_err();
        assert!(said.contains(why), "{to}: {said}");
    }
}

#[tokio::test]
async fn what_is_no_address_or_leads_nowhere_is_a_sentence() {
    for (url, why) in [
        ("not an address", "is no usable address"),
        ("http://", "is no usable address"),
        ("javascript:alert(1)", "only http and https"),
        ("http://127.0.0.1:1/", "cannot be reached"),
    ] {
        let said = get(url).await.unwrap_err();
        assert!(said.contains(why), "{url}: {said}");
    }
    let said = get(&format!("http://a.example/{}", "x".repeat(9000))).await.unwrap_err();
    assert!(said.contains("an address may have"), "{said}");
    let said = get("http://me:secret-pw@127.0.0.1/").await.unwrap_err();
    assert!(!said.contains("secret-pw"), "{said}");
}

#[tokio::test]
async fn a_page_that_never_ends_is_given_up() {
    let unfinished = [b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nsome", HANG].concat();
    let web = Web::serve(move |_| unfinished.clone()).await;
    let said = Fetcher::new()
        .get(&web.url("/"), 1000, Duration::from_millis(200), &CancellationToken::new())
        .await
        .unwrap_err();
    assert!(said.contains("did not answer completely within 200ms"), "{said}");
    let cancel = CancellationToken::new();
    cancel.cancel();
    let said = Fetcher::new().get(&web.url("/"), 1000, LONG, &cancel).await.unwrap_err();
    assert!(said.contains("was cancelled"), "{said}");
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_no_answer() {
    let web = Web::serve(|_| b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nsome".to_vec()).await;
    let said = get(&web.url("/")).await.unwrap_err();
    assert!(said.contains("did not answer properly"), "{said}");
    let web = Web::serve(|_| b"SSH-2.0-OpenSSH_9.6\r\n\r\n".to_vec()).await;
    assert!(get(&web.url("/")).await.is_err());
}
