//! Tools that reach for something elsewhere: pages, and the servers the user configured. They touch no folder.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use gadfly_agents::{Fetched, Fetcher, McpServers};
use gadfly_engine::tool::{KEPT, Offered, ToolEnd, WHOLE};
use tokio_util::sync::CancellationToken;

use super::kept::KeptOutput;
use super::{ActionOutcome, ToolView};
use crate::process_env::{ProcessEnv, Served};

/// What all that servers offer may have together, as JSON.
const LARGEST_OFFER: usize = 1 << 20;
/// How long servers may take to end.
const ENDING: Duration = Duration::from_secs(5);

/// What a run has of the world outside, as long as it is driven.
#[derive(Default)]
pub struct Remote {
    fetcher: Fetcher,
    servers: Option<McpServers>,
    /// The most time one call of a server gets.
    times: BTreeMap<String, Duration>,
}

impl Remote {
    /// Starts nothing yet. Without means no server can be started.
    pub fn new(process_env: Option<&ProcessEnv>) -> Self {
        let Some(process_env) = process_env else { return Self::default() };
        let times =
            process_env.servers.iter().map(|Served { spec, time }| (spec.name.clone(), *time)).collect();
        let specs: Vec<_> = process_env.servers.iter().map(|served| served.spec.clone()).collect();
        let servers = McpServers::new(specs, Arc::clone(&process_env.launcher));
        Self { fetcher: Fetcher::new(), servers: Some(servers), times }
    }

    pub async fn fetch(&self, url: &str, time: Duration, cancel: &CancellationToken) -> ActionOutcome {
        let got = self.fetcher.get(url, KEPT, time, cancel).await?;
        Ok((ToolEnd::Status(got.status), ToolView::Cut(page(got))))
    }

    /// A page as it is, for a check.
    pub async fn page(&self, url: &str, time: Duration, cancel: &CancellationToken) -> ActionOutcome {
        let got = self.fetcher.get(url, WHOLE, time, cancel).await?;
        Ok((ToolEnd::Status(got.status), ToolView::Whole(got.body)))
    }

    pub async fn call(
        &self,
        server: &str,
        tool: &str,
        args: &str,
        time: Duration,
        cancel: &CancellationToken,
    ) -> ActionOutcome {
        let time = self.times.get(server).map_or(time, |own| time.min(*own));
        let said = self.servers()?.call(server, tool, args, time, cancel).await?;
        let end = if said.is_error { ToolEnd::Error } else { ToolEnd::Done };
        Ok((end, ToolView::Cut(KeptOutput::text(said.text))))
    }

    /// What they offer, and what of it was left out.
    pub async fn offers(&self, names: &[String]) -> Result<(ToolView, Vec<String>), String> {
        let servers = self.servers()?;
        let offered = servers.tools(names).await?;
        let mut notes = servers.notes();
        let (json, left_out) = as_json(&offered);
        if left_out > 0 {
            notes.push(format!("{left_out} tools of MCP servers are left out: there are too many"));
        }
        Ok((ToolView::Whole(json), notes))
    }

    fn servers(&self) -> Result<&McpServers, String> {
        self.servers
            .as_ref()
            .ok_or_else(|| "programs cannot be started here, so there are no servers".to_owned())
    }

    pub async fn close(&self) {
        if let Some(servers) = &self.servers {
            // Dropped, they end all the same.
            let _ = tokio::time::timeout(ENDING, servers.close()).await;
        }
    }
}

/// An array of as many as there is room for, and how many are not in it. Cut in the middle it would be no JSON.
fn as_json(offered: &[Offered]) -> (String, usize) {
    let mut json = String::from("[");
    let mut taken = 0;
    for one in offered {
        let Ok(one) = serde_json::to_string(one) else { continue };
        if json.len() + one.len() + 2 > LARGEST_OFFER {
            break;
        }
        if taken > 0 {
            json.push(',');
        }
        json.push_str(&one);
        taken += 1;
    }
    json.push(']');
    (json, offered.len() - taken)
}

fn page(got: Fetched) -> KeptOutput {
    let Fetched { status, media, body, bytes, cut, url } = got;
    let media = media.unwrap_or_else(|| "no media type".to_owned());
    let length = if cut { format!("more than {} bytes", body.len()) } else { format!("{bytes} bytes") };
    let head = format!("{status} · {media} · {length} · {url}\n\n");
    let at_least = |bytes: usize| u64::try_from(bytes).unwrap_or(u64::MAX).saturating_add(1);
    let whole = if cut { at_least(head.len() + body.len()) } else { 0 };
    KeptOutput::beginning_of(head + &body, whole)
}
