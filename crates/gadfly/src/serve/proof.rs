//! How the page and the server show each other that they know the token, without saying it. Both make a key of the token
//! and of what this start of the server is called. Before a page is opened, the server answers a random number with a
//! mark that only the key makes; every request of the page carries such a mark over what it asks for, and every answer
//! one over the request. What is seen of it is worth nothing after the server has ended: the next start has another key.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use axum::http::Method;
use ring::{digest, hmac};

use super::token::{PageToken, TokenError, hex, random};

/// The word before a page's mark in `Authorization`.
pub const SCHEME: &str = "Gadfly ";
/// The header in which an answer shows that it is the server's.
pub const HEADER: &str = "gadfly-proof";
/// Random numbers and names of starts: 16 bytes in hexadecimal.
const NONCE: usize = 32;
const MARK: usize = 64;
/// Requests that change something are remembered, so that none is done twice. No person makes so many.
const MOST_SPENT: usize = 1 << 18;

/// What a page and this start of the server share.
pub struct PageProof {
    start: String,
    key: hmac::Key,
    spent: Mutex<HashSet<String>>,
}

/// What a request says in `Authorization`, as a page does: a number used once, the digest of the body, and the mark.
#[derive(Debug)]
pub struct SignedRequest {
    pub nonce: String,
    body: String,
}

/// Why a request that is marked is not let in.
#[derive(Debug, PartialEq, Eq)]
pub enum NotLetIn {
    Wrong,
    Again,
    Full,
}

impl PageProof {
    pub fn new(token: &PageToken) -> Result<Self, TokenError> {
        Ok(Self::of(token, random::<16>()?))
    }

    fn of(token: &PageToken, start: String) -> Self {
        let token = hmac::Key::new(hmac::HMAC_SHA256, token.text().as_bytes());
        let key = hmac::sign(&token, format!("key\n{start}").as_bytes());
        Self { start, key: hmac::Key::new(hmac::HMAC_SHA256, key.as_ref()), spent: Mutex::default() }
    }

    /// What this start is called. Nobody's secret.
    pub fn start(&self) -> &str {
        &self.start
    }

    /// Shows whoever made up the number that this server knows the token. None if it is no such number.
    pub fn to_a_page(&self, nonce: &str) -> Option<String> {
        is_hex(nonce, NONCE).then(|| self.mark(&format!("server\n{nonce}")))
    }

    /// Shows a page that its request was answered here.
    pub fn of_answer(&self, nonce: &str, status: u16) -> String {
        self.mark(&format!("answer\n{nonce}\n{status}"))
    }

    /// The request is one of a page that knows the token, and one that changes something is not there a second time.
    pub fn lets_in(&self, method: &Method, path: &str, offered: &str) -> Result<SignedRequest, NotLetIn> {
        let mut parts = offered.split(':');
        let (Some(nonce), Some(body), Some(mark), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(NotLetIn::Wrong);
        };
        let right = is_hex(nonce, NONCE) && is_hex(body, MARK) && is_hex(mark, MARK);
        let text = format!("request\n{method}\n{path}\n{nonce}\n{body}");
        let mark = right.then(|| unhex(mark)).ok_or(NotLetIn::Wrong)?;
        hmac::verify(&self.key, text.as_bytes(), &mark).map_err(|_| NotLetIn::Wrong)?;
        if *method != Method::GET && *method != Method::HEAD {
            let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
            if spent.len() >= MOST_SPENT {
                return Err(NotLetIn::Full);
            }
            if !spent.insert(nonce.to_owned()) {
                return Err(NotLetIn::Again);
            }
        }
        Ok(SignedRequest { nonce: nonce.to_owned(), body: body.to_owned() })
    }

    fn mark(&self, text: &str) -> String {
        hex(hmac::sign(&self.key, text.as_bytes()).as_ref())
    }
}

impl SignedRequest {
    /// What was brought is what was marked.
    pub fn is_of(&self, body: &[u8]) -> bool {
        hex(digest::digest(&digest::SHA256, body).as_ref()) == self.body
    }
}

/// In small letters only, so that one number is written in one way.
fn is_hex(text: &str, length: usize) -> bool {
    text.len() == length && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

fn unhex(text: &str) -> Vec<u8> {
    let digit = |b: u8| if b.is_ascii_digit() { b - b'0' } else { b - b'a' + 10 };
    text.as_bytes().chunks_exact(2).map(|two| digit(two[0]) << 4 | digit(two[1])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const EMPTY: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    const TOKEN: &str = "0123456789abcdef01234567";

    fn of_start(start: &str) -> PageProof {
        PageProof::of(&PageToken::of_start(Some(TOKEN)).unwrap(), start.repeat(32))
    }

    fn marked(proof: &PageProof, method: &str, path: &str, nonce: &str, body: &str) -> String {
        format!("{nonce}:{body}:{}", proof.mark(&format!("request\n{method}\n{path}\n{nonce}\n{body}")))
    }

    #[test]
    fn a_marked_request_is_let_in_for_what_it_asks_and_nothing_else() {
        let proof = of_start("a");
        let nonce = "0".repeat(32);
        let get = marked(&proof, "GET", "/api/runs?x=1", &nonce, EMPTY);
        let let_in = |method: &Method, path: &str, offered: &str| proof.lets_in(method, path, offered);
        assert!(let_in(&Method::GET, "/api/runs?x=1", &get).unwrap().is_of(b""));
        assert!(let_in(&Method::GET, "/api/runs?x=1", &get).is_ok(), "reading twice changes nothing");
        for (method, path) in [(Method::GET, "/api/runs?x=2"), (Method::POST, "/api/runs?x=1")] {
            assert_eq!(let_in(&method, path, &get).unwrap_err(), NotLetIn::Wrong, "{method} {path}");
        }
        let other = get.replacen('0', "1", 1);
        let long = format!("{get}:");
        for wrong in ["", "::", &other, &long, &get.to_uppercase(), &get[..get.len() - 1]] {
            assert_eq!(let_in(&Method::GET, "/api/runs?x=1", wrong).unwrap_err(), NotLetIn::Wrong, "{wrong}");
        }
        assert!(!let_in(&Method::GET, "/api/runs?x=1", &get).unwrap().is_of(b"x"), "another body");
    }

    #[test]
    fn what_changes_something_is_taken_once() {
        let proof = of_start("a");
        let post = marked(&proof, "POST", "/api/start/loop", &"0".repeat(32), EMPTY);
        assert!(proof.lets_in(&Method::POST, "/api/start/loop", &post).is_ok());
        let again = proof.lets_in(&Method::POST, "/api/start/loop", &post);
        assert_eq!(again.unwrap_err(), NotLetIn::Again);
    }

    #[test]
    fn a_mark_of_one_start_or_of_one_use_is_none_of_another() {
        let (first, second) = (of_start("a"), of_start("b"));
        let nonce = "0".repeat(32);
        let get = marked(&first, "GET", "/api/runs", &nonce, EMPTY);
        assert_eq!(second.lets_in(&Method::GET, "/api/runs", &get).unwrap_err(), NotLetIn::Wrong);
        let (said, answered) = (first.to_a_page(&nonce).unwrap(), first.of_answer(&nonce, 200));
        assert_ne!(Some(said.clone()), second.to_a_page(&nonce));
        for mark in [said, answered] {
            let forged = format!("{nonce}:{EMPTY}:{mark}");
            assert_eq!(first.lets_in(&Method::GET, "/api/runs", &forged).unwrap_err(), NotLetIn::Wrong);
        }
        for no_number in ["", "0", "request\nGET", &"g".repeat(32), &"A".repeat(32), &"0".repeat(33)] {
            assert_eq!(first.to_a_page(no_number), None, "{no_number:?}");
        }
    }
}
