//! Asks a model server on this machine which models it has: a free question, with short bounds. It never
//! asks another machine and never sends a key.

use std::time::Duration;

use futures_util::future::join_all;
use reqwest::Url;
use serde::Deserialize;

use crate::http::client::{self, ClientRoute, is_loopback};
use crate::vendors::{VENDORS, Wire};

const CONNECT: Duration = Duration::from_millis(300);
const WHOLE: Duration = Duration::from_millis(1500);
const LONGEST: usize = 1024 * 1024;
const MOST_MODELS: usize = 200;

/// A server that answered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LocalServer {
    /// The vendor whose usual port it is.
    pub vendor: &'static str,
    pub base_url: String,
    pub models: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProbeError {
    #[error("it is not on this machine, so it was not asked")]
    NotLocal,
    #[error("nothing answers there: start the server, or correct `base_url`")]
    Silent,
    #[error("what answers there is no model server: {0}")]
    Strange(String),
}

#[derive(Deserialize)]
struct List {
    data: Vec<Model>,
}

#[derive(Deserialize)]
struct Model {
    id: String,
}

/// Every known kind of local server that answers on its usual port.
pub async fn local_servers() -> Vec<LocalServer> {
    let local = VENDORS.iter().filter(|v| v.key_env.is_none() && v.wire == Wire::OpenAi);
    let asked = local.map(|vendor| async {
        let models = models(vendor.base_url).await.ok()?;
        Some(LocalServer { vendor: vendor.name, base_url: vendor.base_url.to_owned(), models })
    });
    join_all(asked).await.into_iter().flatten().collect()
}

/// The models of the server at `base_url`, which must be on this machine.
pub async fn models(base_url: &str) -> Result<Vec<String>, ProbeError> {
    let url = Url::parse(&format!("{}/models", base_url.trim_end_matches('/')));
    let url = url.ok().filter(is_loopback).ok_or(ProbeError::NotLocal)?;
    tokio::time::timeout(WHOLE, ask(url)).await.unwrap_or(Err(ProbeError::Silent))
}

/// Whether something takes connections at this address of this machine. Nothing is sent. What cannot be told, such as
/// an address that is slow, counts as listening: only a refusal is certain.
pub async fn listens(url: &str) -> bool {
    let address = Url::parse(url).ok().filter(is_loopback);
    let Some(addresses) = address.and_then(|url| url.socket_addrs(|| None).ok()) else { return true };
    for address in addresses {
        let tried = tokio::time::timeout(CONNECT, tokio::net::TcpStream::connect(address)).await;
        match tried {
            Ok(Err(error)) if error.kind() == std::io::ErrorKind::ConnectionRefused => {}
            _ => return true,
        }
    }
    false
}

async fn ask(url: Url) -> Result<Vec<String>, ProbeError> {
    let client = client::build(ClientRoute { connect: CONNECT, local: true, plain: url.scheme() == "http" })
        .map_err(|_| ProbeError::Silent)?;
    let mut reply = client.get(url).send().await.map_err(|_| ProbeError::Silent)?;
    if !reply.status().is_success() {
        return Err(ProbeError::Strange(format!("status {}", reply.status().as_u16())));
    }
    let mut body = Vec::new();
    while let Some(piece) = reply.chunk().await.map_err(|_| ProbeError::Silent)? {
        if body.len().saturating_add(piece.len()) > LONGEST {
            return Err(ProbeError::Strange("its list of models has no end".to_owned()));
        }
        body.extend_from_slice(&piece);
    }
    let list: List = serde_json::from_slice(&body)
        .map_err(|_| ProbeError::Strange("its list of models cannot be read".to_owned()))?;
    let named = list.data.into_iter().map(|m| m.id).filter(|id| !id.trim().is_empty());
    Ok(named.take(MOST_MODELS).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use gadfly_testbed::{Behaviour, Server};

    #[tokio::test]
    async fn a_server_on_this_machine_says_its_models() {
        let server = Server::start(Behaviour::default()).await.unwrap();
        assert!(!models(&server.v1()).await.unwrap().is_empty());
    }

    #[tokio::test]
    async fn another_machine_is_never_asked() {
        for url in ["http://10.255.255.1/v1", "https://api.openai.com/v1", "http://localhost.example/v1", "x"]
        {
            assert_eq!(models(url).await, Err(ProbeError::NotLocal), "{url}");
        }
    }

    #[tokio::test]
    async fn a_closed_port_is_silent_and_another_page_is_strange() {
        let server = Server::start(Behaviour::default()).await.unwrap();
        let elsewhere = format!("http://{}/nothing", server.addr);
        assert!(matches!(models(&elsewhere).await, Err(ProbeError::Strange(_))));
        let url = server.v1();
        drop(server);
        assert_eq!(models(&url).await, Err(ProbeError::Silent));
    }
}
