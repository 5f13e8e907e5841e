//! Exact sums of averages. Not a general arithmetic: only as large as scores and weights are.

use super::Hundredths;

#[derive(Clone, Copy, Debug)]
pub(super) struct Fraction {
    above: u128,
    below: u128,
}

/// Where an exact denominator would grow too large: the twelfth decimal.
const FINE: u128 = 1_000_000_000_000;
const LARGEST: u128 = 1 << 40;

impl Fraction {
    /// Nothing is divided by zero: that is taken as one.
    pub(super) fn new(above: u128, below: u128) -> Self {
        let below = below.max(1);
        let common = gcd(above, below);
        let exact = Self { above: above / common, below: below / common };
        if exact.below <= LARGEST {
            return exact;
        }
        let whole = exact.above / exact.below;
        let rest = (exact.above % exact.below).saturating_mul(FINE) / exact.below;
        Self { above: whole.saturating_mul(FINE).saturating_add(rest), below: FINE }
    }

    pub(super) fn plus(self, other: Self) -> Self {
        let above = self.above.saturating_mul(other.below);
        let above = above.saturating_add(other.above.saturating_mul(self.below));
        Self::new(above, self.below.saturating_mul(other.below))
    }

    pub(super) fn times(self, by: u128) -> Self {
        Self::new(self.above.saturating_mul(by), self.below)
    }

    pub(super) fn over(self, by: u128) -> Self {
        Self::new(self.above, self.below.saturating_mul(by))
    }

    /// Rounded, half up.
    pub(super) fn hundredths(self) -> Hundredths {
        Hundredths(u32::try_from(self.rounded(100)).unwrap_or(u32::MAX))
    }

    /// `92`, `83.5`, `83.33`.
    pub(super) fn short(self) -> String {
        let text = self.hundredths().to_string();
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    }

    /// With the decimals it needs: at least two, at most four.
    pub(super) fn long(self) -> String {
        let fine = self.rounded(10_000);
        let text = format!("{}.{:04}", fine / 10_000, fine % 10_000);
        let text = text.strip_suffix('0').unwrap_or(&text);
        text.strip_suffix('0').unwrap_or(text).to_owned()
    }

    const fn rounded(self, to: u128) -> u128 {
        let twice = self.above.saturating_mul(to).saturating_mul(2).saturating_add(self.below);
        twice / (self.below * 2)
    }
}

const fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    if a == 0 { 1 } else { a }
}
