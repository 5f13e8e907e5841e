//! A store with very many runs, and a run with very many records, beside a store with ten: pages open alike, in a real
//! browser. The test looks at how much a page holds; how long it takes is measured on request:
//! `cargo test --release -p gadfly --test browser -- --ignored --nocapture`.

use std::fs;

use gadfly_bench::store::{Fill, Filled, fill};
use serde_json::Value;

use crate::desk::Desk;
use crate::server::Server;
use crate::theatre::begin_with;

/// Ten runs in all; the long ones just fill a page.
const SMALL: Fill = Fill { runs: 8, records: 1_000, rounds: 60 };
const LARGER: Fill = Fill { runs: 1_000, records: 10_000, rounds: 500 };
const LARGE: Fill = Fill { runs: 10_000, records: 100_000, rounds: 5_000 };
/// What the server may use at most for a store of any size, in kilobytes.
const MEMORY: u64 = 400 << 10;

struct Served {
    desk: Desk,
    server: Server,
    filled: Filled,
}

fn served(what: Fill) -> Served {
    let desk = Desk::folder(&[]);
    let filled = fill(&desk.path(".gadfly"), &custody(&desk), what).unwrap();
    let server = Server::start(&desk);
    Served { desk, server, filled }
}

impl Served {
    fn paths(&self) -> String {
        let long = [self.filled.goal.as_ref().unwrap(), self.filled.rounds.as_ref().unwrap()];
        format!("/,/runs/{},/runs/{}", long[0], long[1])
    }

    /// The most the server has used, in kilobytes.
    fn memory(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.server.pid())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }
}

/// Opens the overview, the long goal and the long loop of both, in turns.
fn opened(small: &Served, large: &Served, times: u32) -> Option<Value> {
    let more = [
        ("GADFLY_LARGE_LINK", large.server.link()),
        ("GADFLY_PATHS", small.paths()),
        ("GADFLY_LARGE_PATHS", large.paths()),
        ("GADFLY_TIMES", times.to_string()),
    ];
    let said = begin_with(&small.desk, &small.server, "opening", &more)?.end();
    let line = said.lines().find_map(|line| line.strip_prefix("opened ")).unwrap();
    Some(serde_json::from_str(line).unwrap())
}

#[test]
fn a_page_holds_no_more_for_a_larger_store() {
    let (small, large) = (served(SMALL), served(LARGER));
    let Some(pages) = opened(&small, &large, 2) else { return };
    for page in pages.as_array().unwrap() {
        let count = |which: &str, what: &str| page[which][what].as_u64().unwrap();
        // The overview shows fifty runs at most, and the small store has only ten.
        let most = if page["name"] == "overview" { 5 } else { 2 };
        assert!(count("large", "elements") <= most * count("small", "elements"), "{page:#}");
        assert!(count("large", "bytes") <= 2 * count("small", "bytes"), "{page:#}");
    }
    assert!(large.memory() <= MEMORY, "{} kB", large.memory());
}

#[test]
#[ignore = "a measurement: it takes minutes and wants a quiet machine"]
fn ten_thousand_runs_and_a_hundred_thousand_records_open_like_ten() {
    let (small, large) = (served(SMALL), served(LARGE));
    let pages = opened(&small, &large, 40).expect("a browser to measure with");
    let mut slow = Vec::new();
    println!("| 95th percentile of opening, 40 times | ten runs | 10,000 runs | ratio |\n|---|---|---|---|");
    for page in pages.as_array().unwrap() {
        let p95 = |which: &str| page[which]["p95"].as_f64().unwrap();
        let (little, much) = (p95("small"), p95("large"));
        println!("| {} | {little:.0} ms | {much:.0} ms | {:.2} |", page["name"], much / little);
        if much > 2.0 * little {
            slow.push(page["name"].clone());
        }
    }
    println!("memory of the server: {} kB and {} kB", small.memory(), large.memory());
    assert!(slow.is_empty(), "more than twice as long: {slow:?}");
    assert!(large.memory() <= MEMORY);
}

/// Of the user whose store it is.
fn custody(desk: &Desk) -> gadfly_journal::Custody {
    gadfly_journal::Custody::at(&desk.beside("home/.local/state/gadfly"))
}
