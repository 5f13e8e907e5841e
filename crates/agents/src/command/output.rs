//! What a command's output says, where its configuration says where: the reply, what the call used, the conversation.
//! Each place is a JSON pointer (it begins with `/`) or a pattern with named groups. What is to be there and is not is
//! no reply: a banner or a progress line never becomes a draft.

use gadfly_engine::{Money, Usage};
use regex::{Captures, Regex, RegexBuilder};
use serde_json::Value;

use crate::spec::OutputForm;

/// What a pattern may take when it is made ready.
const PATTERN: usize = 1 << 20;

/// Names under which programs state what they used.
const INPUT: &[&str] = &["input", "input_tokens", "inputTokens", "prompt_tokens", "promptTokens"];
const OUTPUT: &[&str] = &["output", "output_tokens", "outputTokens", "completion_tokens", "completionTokens"];
const CACHE_READ: &[&str] = &["cache_read", "cacheRead", "cache_read_input_tokens", "cacheReadTokens"];
const CACHE_WRITE: &[&str] =
    &["cache_write", "cacheWrite", "cache_creation_input_tokens", "cacheWriteTokens"];
const COST: &[&str] = &["cost", "total_cost_usd", "cost_usd", "totalCost"];

/// The places, ready to be looked up.
#[derive(Debug, Default)]
pub(crate) struct OutputReader {
    reply: Option<OutputPlace>,
    usage: Option<OutputPlace>,
    cost: Option<OutputPlace>,
    session: Option<OutputPlace>,
}

#[derive(Debug)]
enum OutputPlace {
    Pointer(String),
    Pattern(Regex),
}

/// What was found.
#[derive(PartialEq, Debug)]
pub(crate) struct SaidOutput {
    pub text: String,
    pub session: Option<String>,
}

impl OutputReader {
    /// Or which option cannot be used, and why.
    pub fn new(form: &OutputForm) -> Result<Self, (&'static str, String)> {
        let spot = |option, text: &Option<String>, groups: &[&str]| {
            text.as_deref()
                .map(|text| OutputPlace::read(text, groups))
                .transpose()
                .map_err(|why| (option, why))
        };
        let cost = match &form.cost {
            Some(text) if !text.starts_with('/') => {
                return Err(("cost_in", "it must be a JSON pointer, like \"/total_cost_usd\"; a pattern's cost is the group `cost` of `usage_in`".to_owned()));
            }
            pointer => spot("cost_in", pointer, &[])?,
        };
        Ok(Self {
            reply: spot("reply", &form.reply, &["reply"])?,
            usage: spot("usage_in", &form.usage, &["input", "output", "cache_read", "cache_write", "cost"])?,
            cost,
            session: spot("session_in", &form.session, &["session"])?,
        })
    }

    /// It is told where usage stands.
    pub const fn states_usage(&self) -> bool {
        self.usage.is_some() || self.cost.is_some()
    }

    /// What the output says; `Err`: where the reply should stand, for people.
    pub fn read(&self, output: String) -> Result<SaidOutput, String> {
        let lines = JsonOutput::of(&output, self);
        let session = self.session.as_ref().and_then(|spot| match spot {
            OutputPlace::Pointer(at) => lines.at(at).and_then(|value| Some(value.as_str()?.to_owned())),
            OutputPlace::Pattern(pattern) => group(&pattern.captures_iter(&output).last()?, "session"),
        });
        let text = match &self.reply {
            None => None,
            Some(OutputPlace::Pointer(at)) => {
                let text = lines.at(at).and_then(text);
                Some(text.ok_or_else(|| format!("no text at `{at}` in what it wrote"))?)
            }
            Some(OutputPlace::Pattern(pattern)) => {
                let text = pattern.captures(&output).and_then(|found| group(&found, "reply"));
                Some(text.ok_or_else(|| "nothing in what it wrote fits the pattern in `reply`".to_owned())?)
            }
        };
        Ok(SaidOutput { text: text.unwrap_or(output), session })
    }

    /// What the call used, as far as the output says.
    pub fn used_in(&self, output: &str) -> Usage {
        if !self.states_usage() {
            return Usage::default();
        }
        let lines = JsonOutput::of(output, self);
        let mut usage = Usage::default();
        match &self.usage {
            Some(OutputPlace::Pointer(at)) => {
                for of in lines.all(at) {
                    let among = |names: &[&str]| names.iter().find_map(|name| of.get(*name));
                    let count = |names| among(names).and_then(|value| figure(&as_text(value)?));
                    // Some state what each kind of token cost, and the sum.
                    let cost = among(COST).and_then(|cost| dollars(cost.get("total").unwrap_or(cost)));
                    let counts = [count(INPUT), count(OUTPUT), count(CACHE_READ), count(CACHE_WRITE)];
                    add(&mut usage, counts, cost);
                }
            }
            Some(OutputPlace::Pattern(pattern)) => {
                for found in pattern.captures_iter(output) {
                    let count = |name| group(&found, name).and_then(|text| figure(&text));
                    let cost = group(&found, "cost").and_then(|text| Money::of_usd(text.parse().ok()?));
                    let counts = ["input", "output", "cache_read", "cache_write"].map(count);
                    add(&mut usage, counts, cost);
                }
            }
            None => {}
        }
        if let Some(OutputPlace::Pointer(at)) = &self.cost {
            usage.cost = lines.at(at).and_then(dollars).or(usage.cost);
        }
        usage
    }
}

impl OutputPlace {
    fn read(text: &str, groups: &[&str]) -> Result<Self, String> {
        if text.starts_with('/') {
            return Ok(Self::Pointer(text.to_owned()));
        }
        let pattern = RegexBuilder::new(text).size_limit(PATTERN).build().map_err(|e| e.to_string())?;
        let named = pattern.capture_names().flatten().any(|name| groups.contains(&name));
        if named {
            Ok(Self::Pattern(pattern))
        } else {
            Err(format!(
                "it is no JSON pointer (those begin with `/`), and as a pattern it has no group `(?<{}>…)`",
                groups.join(">…)` or `(?<")
            ))
        }
    }
}

/// The output as JSON: one value, or one a line.
struct JsonOutput(Vec<Value>);

impl JsonOutput {
    /// Empty where no place is a pointer.
    fn of(output: &str, reader: &OutputReader) -> Self {
        let spots = [&reader.reply, &reader.usage, &reader.cost, &reader.session];
        if !spots.into_iter().flatten().any(|spot| matches!(spot, OutputPlace::Pointer(_))) {
            return Self(Vec::new());
        }
        match serde_json::from_str(output.trim()) {
            Ok(whole) => Self(vec![whole]),
            // Banners and warnings between the lines are passed over.
            Err(_) => {
                Self(output.lines().filter_map(|line| serde_json::from_str(line.trim()).ok()).collect())
            }
        }
    }

    /// In the last value that has it; the last of several.
    fn at(&self, pointer: &str) -> Option<&Value> {
        self.all(pointer).pop()
    }

    /// All it points to in the last value that has it.
    fn all(&self, pointer: &str) -> Vec<&Value> {
        let found = self.0.iter().rev().map(|value| pointed(value, pointer));
        found.into_iter().find(|found| !found.is_empty()).unwrap_or_default()
    }
}

/// As `Value::pointer`; `-` is the last of a list, `*` each of its items. What is null is not there.
fn pointed<'a>(value: &'a Value, pointer: &str) -> Vec<&'a Value> {
    let mut found = vec![value];
    for step in pointer.split('/').skip(1) {
        found = found.into_iter().flat_map(|value| stepped(value, step)).collect();
    }
    found.retain(|value| !value.is_null());
    found
}

fn stepped<'a>(value: &'a Value, step: &str) -> Vec<&'a Value> {
    match value {
        Value::Array(items) if step == "*" => items.iter().collect(),
        Value::Array(items) if step == "-" => items.last().into_iter().collect(),
        Value::Array(items) => step.parse::<usize>().ok().and_then(|at| items.get(at)).into_iter().collect(),
        Value::Object(map) => map.get(&step.replace("~1", "/").replace("~0", "~")).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// A text, or the texts of a message's parts.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) => {
            let said = |part: &Value| part.as_str().or_else(|| part.get("text")?.as_str()).map(str::to_owned);
            let said: Vec<String> = parts.iter().filter_map(said).collect();
            (!said.is_empty()).then(|| said.concat())
        }
        _ => None,
    }
}

fn as_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Programs that do not know a price say that it cost nothing: that is not stated.
fn dollars(value: &Value) -> Option<Money> {
    Money::of_usd(as_text(value)?.trim().parse().ok()?).filter(|cost| cost.0 > 0)
}

fn group(found: &Captures<'_>, name: &str) -> Option<String> {
    Some(found.name(name)?.as_str().to_owned())
}

/// A count, and whether it was rounded.
type Figure = (u64, bool);

/// `812`, `1,234`, `1.2k`, `3M`. A rounded one is taken as the most it can have been.
fn figure(text: &str) -> Option<Figure> {
    let text = text.trim().replace([',', '_'], "");
    let (digits, unit) = match text.strip_suffix(['k', 'K']) {
        Some(digits) => (digits, 1_000),
        None => match text.strip_suffix(['m', 'M']) {
            Some(digits) => (digits, 1_000_000),
            None => (text.as_str(), 1),
        },
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let is_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || fraction.len() > 6 || !is_digits(whole) || !is_digits(fraction) {
        return None;
    }
    let scale = 10_u64.pow(u32::try_from(fraction.len()).ok()?);
    let parts = whole.parse::<u64>().ok()?.checked_mul(scale)?.checked_add(fraction.parse().unwrap_or(0))?;
    let rounded = unit > 1;
    let half = u64::from(rounded);
    let twice = parts.checked_mul(2)?.checked_add(half)?.checked_mul(unit)?;
    Some((twice.div_ceil(2 * scale), rounded))
}

/// What several answers in one output used is one call's.
fn add(usage: &mut Usage, figures: [Option<Figure>; 4], cost: Option<Money>) {
    let sums = [&mut usage.input, &mut usage.output, &mut usage.cache_read, &mut usage.cache_write];
    for (sum, figure) in sums.into_iter().zip(figures) {
        let Some((count, rounded)) = figure else { continue };
        *sum = sum.saturating_add(count);
        usage.estimated |= rounded;
    }
    if let Some(cost) = cost {
        usage.cost = Some(Money(usage.cost.map_or(0, |before| before.0).saturating_add(cost.0)));
    }
}

#[cfg(test)]
mod tests;
