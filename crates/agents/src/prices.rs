//! Dated prices of known models, from `prices.toml`. What a call cost is computed by the engine.

use std::sync::LazyLock;

use gadfly_engine::{LongPrice, Price};
use reqwest::Url;
use serde::Deserialize;

use crate::http::client::is_loopback;
use crate::vendors::Vendor;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PriceTable {
    price: Vec<PriceSheet>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PriceSheet {
    vendor: String,
    as_of: String,
    models: Vec<ModelPrice>,
}

/// Dollars per million tokens.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ModelPrice {
    model: String,
    input: f64,
    output: f64,
    #[serde(default)]
    cache_read: f64,
    #[serde(default)]
    cache_write: f64,
    #[serde(default)]
    long: Option<LongRow>,
}

/// What a call costs whose prompt has more tokens than `above`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LongRow {
    above: u64,
    input: f64,
    output: f64,
    #[serde(default)]
    cache_read: f64,
    #[serde(default)]
    cache_write: f64,
}

// The tests below read the file whole: a shipped table cannot be broken.
static SHEETS: LazyLock<Vec<PriceSheet>> = LazyLock::new(|| {
    toml::from_str::<PriceTable>(include_str!("../prices.toml")).map(|t| t.price).unwrap_or_default()
});

/// The price of a model reached in this way: zero on this machine, none where no row is known.
pub fn price(kind: &str, base_url: Option<&str>, model: &str) -> Option<Price> {
    if matches!(kind, "command" | "person" | "scripted") {
        return Some(free());
    }
    let vendor = match base_url {
        None => Vendor::by_name(kind),
        Some(text) => {
            let url = Url::parse(text).ok()?;
            if is_loopback(&url) {
                return Some(free());
            }
            Vendor::by_host(url.host_str()?)
        }
    }?;
    if base_url.is_none() && vendor.key_env.is_none() {
        return Some(free());
    }
    let sheet = SHEETS.iter().find(|s| s.vendor == vendor.name)?;
    let row = sheet
        .models
        .iter()
        .filter(|row| model.strip_prefix(row.model.as_str()).is_some_and(is_release))
        .max_by_key(|row| row.model.len())?;
    Some(Price {
        input: nano(row.input),
        output: nano(row.output),
        cache_read: nano(row.cache_read),
        cache_write: nano(row.cache_write),
        as_of: sheet.as_of.clone(),
        long: row.long.as_ref().map(|long| LongPrice {
            above: long.above,
            input: nano(long.input),
            output: nano(long.output),
            cache_read: nano(long.cache_read),
            cache_write: nano(long.cache_write),
        }),
    })
}

fn free() -> Price {
    Price { as_of: "local".to_owned(), ..Price::default() }
}

/// Dollars per million tokens as nano-dollars per token, rounded up so that a cap holds.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // prices are small and positive
fn nano(usd: f64) -> u64 {
    (usd.max(0.0) * 1000.0 - 1e-6).ceil() as u64
}

/// Whether a suffix only names a release of the same model. `-7` or `-pro` name another one.
fn is_release(suffix: &str) -> bool {
    match suffix.strip_prefix(['-', '@']) {
        None => suffix.is_empty(),
        Some("latest") => true,
        Some(rest) => {
            rest.split('-').next().is_some_and(|first| first.len() >= 3)
                && rest.bytes().all(|b| b.is_ascii_digit() || b == b'-')
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(kind: &str, model: &str) -> Option<u64> {
        price(kind, None, model).map(|p| p.output)
    }

    #[test]
    fn a_dated_release_has_its_models_price() {
        assert_eq!(output("anthropic", "claude-sonnet-4-5-20250929"), Some(15_000));
        assert_eq!(output("anthropic", "claude-opus-4-5"), Some(25_000));
        assert_eq!(output("anthropic", "claude-opus-4-1-20250805"), Some(75_000));
        assert_eq!(output("openai", "gpt-5-mini-2025-08-07"), Some(2_000));
        assert_eq!(output("mistral", "mistral-small-latest"), Some(600));
    }

    #[test]
    fn another_member_of_the_family_is_not_priced_by_its_neighbour() {
        for model in ["gpt-5-ultra", "gpt-5.99", "gpt-50", "o3-deep-research"] {
            assert_eq!(output("openai", model), None, "{model}");
        }
        assert_eq!(output("anthropic", "claude-opus-4-9"), None);
        assert_eq!(output("anthropic", "claude-opus-4-20250514"), Some(75_000));
        assert_eq!(output("openai", "gpt-5-pro"), Some(120_000));
    }

    #[test]
    fn this_machine_is_free_and_a_strange_host_is_unknown() {
        for (kind, url) in [
            ("command", None),
            ("person", None),
            ("scripted", None),
            ("ollama", None),
            ("openai", Some("http://localhost:11434/v1")),
            ("openai", Some("http://[::1]:1/v1")),
        ] {
            assert_eq!(
                price(kind, url, "qwen3").map(|p| (p.input, p.output)),
                Some((0, 0)),
                "{kind} {url:?}"
            );
        }
        assert_eq!(price("openai", Some("https://proxy.example/v1"), "gpt-5"), None);
        assert_eq!(price("openrouter", None, "openai/gpt-5"), None);
    }

    #[test]
    fn every_row_is_readable_belongs_to_a_vendor_and_is_dated() {
        let table: PriceTable = toml::from_str(include_str!("../prices.toml")).unwrap();
        assert_eq!(table.price.len(), SHEETS.len());
        for sheet in table.price {
            assert!(Vendor::by_name(&sheet.vendor).is_some(), "{}", sheet.vendor);
            assert!(sheet.as_of.parse::<jiff::civil::Date>().is_ok(), "{}", sheet.as_of);
            for row in sheet.models {
                assert!(row.input > 0.0 && row.output >= row.input, "{}", row.model);
                assert!(row.cache_read > 0.0, "{}: cached tokens are never free", row.model);
                if let Some(long) = row.long {
                    assert!(long.above >= 100_000 && long.input > row.input && long.output > row.output);
                    assert!(long.cache_read > 0.0, "{}: cached tokens are never free", row.model);
                    assert_eq!(long.cache_write > 0.0, row.cache_write > 0.0, "{}", row.model);
                }
            }
        }
    }
}
