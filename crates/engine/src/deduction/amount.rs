//! A number of points, exact to a tenth.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Counted in tenths. Written and stored as a decimal number in text: `20`, `2.5`, `-12`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Amount(i64);

/// More than any rubric means; larger numbers are refused, so that no sum can overflow.
const LARGEST: i64 = 10_000_000;

impl Amount {
    pub const ZERO: Self = Self(0);

    pub const fn whole(points: u32) -> Self {
        Self(points as i64 * 10)
    }

    /// `20`, `2.5`, `-3`, `−3` (any minus sign). More than one decimal is refused unless it is zeros.
    pub fn parse(text: &str) -> Option<Self> {
        let (amount, exact) = Self::read(text)?;
        exact.then_some(amount)
    }

    /// Like `parse`, but further decimals are cut off, towards less.
    pub fn parse_rounding_down(text: &str) -> Option<Self> {
        let (amount, exact) = Self::read(text)?;
        Some(if exact || amount.0 >= 0 { amount } else { Self(amount.0 - 1) })
    }

    fn read(text: &str) -> Option<(Self, bool)> {
        let text = text.trim();
        let body = text.strip_prefix(MINUS_SIGNS);
        let sign = if body.is_some() { -1 } else { 1 };
        let (whole, decimals) = body.unwrap_or(text).split_once('.').unwrap_or((body.unwrap_or(text), "0"));
        let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
        if !digits(whole) || !digits(decimals) {
            return None;
        }
        let whole: i64 = whole.parse().ok().filter(|n| *n <= LARGEST)?;
        let tenth = i64::from(decimals.bytes().next()? - b'0');
        let exact = decimals.bytes().skip(1).all(|b| b == b'0');
        Some((Self(sign * (whole * 10 + tenth)), exact))
    }

    pub const fn is_negative(self) -> bool {
        self.0 < 0
    }

    pub const fn abs(self) -> Self {
        Self(self.0.saturating_abs())
    }

    pub const fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    pub const fn minus(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    pub const fn times(self, count: u32) -> Self {
        Self(self.0.saturating_mul(count as i64))
    }

    /// How often `each` fits into it, the last time perhaps only in part.
    pub fn times_of(self, each: Self) -> u32 {
        if each.0 <= 0 || self.0 <= 0 {
            return 1;
        }
        u32::try_from((self.0 + each.0 - 1) / each.0).unwrap_or(u32::MAX)
    }

    /// Rounded to the nearest tenth, a half away from zero.
    #[must_use]
    pub const fn percent(self, percent: u32) -> Self {
        let product = self.0.saturating_mul(percent as i64);
        let half = if product < 0 { -50 } else { 50 };
        Self(product.saturating_add(half) / 100)
    }

    /// Whole points, a fraction cut off towards less.
    pub const fn floor(self) -> i64 {
        self.0.div_euclid(10)
    }

    /// Whole points, from 0 to 100: a fraction is cut off, so that it never lifts a score over a line.
    pub fn as_score(self) -> u32 {
        u32::try_from((self.0 / 10).clamp(0, i64::from(super::FULL))).unwrap_or(0)
    }
}

/// The signs people and models write for "minus".
pub const MINUS_SIGNS: [char; 4] = ['-', '−', '–', '﹣'];

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let tenths = self.0.unsigned_abs();
        match tenths % 10 {
            0 => write!(f, "{sign}{}", tenths / 10),
            tenth => write!(f, "{sign}{}.{tenth}", tenths / 10),
        }
    }
}

impl From<Amount> for String {
    fn from(amount: Amount) -> Self {
        amount.to_string()
    }
}

impl TryFrom<String> for Amount {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text)
            .ok_or_else(|| format!("`{text}` is not a number of points with at most one decimal"))
    }
}
