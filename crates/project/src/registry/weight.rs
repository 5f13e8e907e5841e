//! `QUALITY_WEIGHT`: a share in percent with the name of its component, or why there is none.

use gadfly_engine::pipeline::PairWeight;

use super::value::{bare, is_none, plain, without_note};

/// The weight of an agent, or what is wrong with it. Where no component is named it is the agent's own.
pub(super) fn read(text: &str, agent: &str) -> Result<PairWeight, &'static str> {
    let (first, note) = without_note(text);
    let first = bare(first);
    let lower = first.to_lowercase();
    if is_none(first)
        || lower.starts_with("none.")
        || lower.starts_with("none,")
        || lower.starts_with("none:")
    {
        return Ok(PairWeight::None);
    }
    if lower.starts_with("advisory") || lower.starts_with("orientativo") {
        return Ok(PairWeight::Advisory);
    }
    if let Some(with) = shared(first) {
        return Ok(PairWeight::Shared { with });
    }
    let points = points(first)?;
    let (component, binary) = component(note);
    let component = component.unwrap_or_else(|| agent.to_owned());
    Ok(if points == 0 { PairWeight::None } else { PairWeight::Share { points, component, binary } })
}

/// Hundredths of a percent.
fn points(text: &str) -> Result<u32, &'static str> {
    let number = text.trim_end_matches('%').trim();
    let (whole, part) = number.split_once(['.', ',']).unwrap_or((number, ""));
    let is_number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !is_number(whole) || !is_number(part) {
        return Err("is no weight");
    }
    if part.len() > 2 {
        return Err("has more than two decimals");
    }
    let hundredths = format!("{whole}{part:0<2}").parse::<u32>().ok().filter(|points| *points <= 10_000);
    hundredths.ok_or("is more than 100%")
}

/// The component a note names, and whether its score is 0 or 100: `half of 25% paper quality`, `theory, when present`.
fn component(note: &str) -> (Option<String>, bool) {
    let lower = note.to_lowercase();
    let is_binary = |part: &str| {
        let part = part.trim();
        matches!(part, "0 or 100" | "0 o 100" | "0/100" | "binary" | "0 or 100 only")
    };
    let binary = lower.split([',', ';']).any(is_binary);
    let first = lower.split([',', ';']).next().unwrap_or_default().trim();
    let mut rest = first;
    for share in [
        "one half of",
        "a half of",
        "half of",
        "one third of",
        "a third of",
        "third of",
        "part of",
        "mitad de",
    ] {
        rest = rest.strip_prefix(share).map_or(rest, str::trim_start);
    }
    let numbers = rest.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '%' | ' '));
    let rest = if rest.split('%').count() > 1 { numbers } else { rest };
    let name = bare(rest).trim_end_matches('.');
    let is_name = !name.is_empty() && !is_binary(first) && !name.starts_with("when ") && name.len() <= 80;
    (is_name.then(|| name.to_owned()), binary)
}

/// `Included in code quality weight`: the component it is part of.
fn shared(text: &str) -> Option<String> {
    let lower = text.to_lowercase();
    let with = [
        "included in ",
        "included with ",
        "shared with ",
        "part of ",
        "counted in ",
        "counted with ",
        "incluido en ",
    ]
    .iter()
    .find_map(|start| lower.strip_prefix(start))?;
    let outside = plain(with);
    let end = with
        .char_indices()
        .find(|(at, c)| matches!(c, '(' | '.' | ';') || !outside[*at])
        .map_or(with.len(), |(at, _)| at);
    let with = with[..end].trim();
    let name = with.strip_prefix("the ").unwrap_or(with);
    let name = name.strip_suffix(" weight").or_else(|| name.strip_suffix(" score")).unwrap_or(name).trim();
    (!name.is_empty()).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(points: u32, component: &str, binary: bool) -> PairWeight {
        PairWeight::Share { points, component: component.into(), binary }
    }

    #[test]
    fn every_form_that_is_seen() {
        for (text, weight) in [
            ("10% (literature coverage)", share(1000, "literature coverage", false)),
            ("12.5% (half of 25% paper quality)", share(1250, "paper quality", false)),
            ("20% (theory, when present)", share(2000, "theory", false)),
            ("5% (replication readiness, 0 or 100)", share(500, "replication readiness", true)),
            ("5% (0 or 100)", share(500, "coder", true)),
            ("10 (literature)", share(1000, "literature", false)),
            ("**15%** — code quality", share(1500, "code quality", false)),
            ("15%", share(1500, "coder", false)),
            (
                "Included in code quality weight (not scored separately)",
                PairWeight::Shared { with: "code quality".into() },
            ),
            ("Advisory (reported, non-blocking)", PairWeight::Advisory),
            ("Orientativo (no bloquea)", PairWeight::Advisory),
            ("None (manages the process)", PairWeight::None),
            ("None — advisory layer, never blocks", PairWeight::None),
            ("None. Coherence is a gate, not a score: it blocks", PairWeight::None),
            ("—", PairWeight::None),
            ("0%", PairWeight::None),
        ] {
            assert_eq!(read(text, "coder"), Ok(weight), "{text}");
        }
    }

    #[test]
    fn what_is_no_weight_is_said() {
        for text in ["ten percent", "-5%", "101%", "99999999999%", "12.345%", "10% literature", "%", "high"] {
            assert!(read(text, "coder").is_err(), "{text}: {:?}", read(text, "coder"));
        }
    }
}
