//! Is a finding of today an earlier one? Anchors decide: the rule, the criterion, the file, the section or
//! function, the quoted text. Wording decides where anchors are missing or were edited, and between equals.
//! Between "the same" and "another" lies a zone in which nothing is claimed.

use super::traits::{Gone, Past, Traits};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Likeness {
    Different,
    /// It may be; the greater, the likelier.
    Maybe(u32),
    Same(u32),
}

use Likeness::{Different, Maybe, Same};

/// How two pieces of quoted text stand to each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Text {
    Equal,
    /// One contains the other, or it was edited a little.
    Near,
    Apart,
    Unknown,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Part {
    Equal,
    Apart,
    Unknown,
}

/// Shorter quotes occur in too many places to tell anything by themselves.
const TELLING: usize = 12;

/// Wording, from 0 to 1000, that carries a match: alone, beside an edited quote, beside an equal one.
const WORDING_ALONE: u32 = 560;
const WORDING_IN_PART: u32 = 460;
const WORDING_NEAR: u32 = 280;
const WORDING_EQUAL: u32 = 60;
/// Wording that makes two quotes look like examples of one point.
const WORDING_EXAMPLES: u32 = 850;
/// Wording below which nothing is even doubtful.
const WORDING_DOUBTFUL: u32 = 330;

pub(super) fn compare(earlier: &Traits, today: &Traits, gone: Gone, past: Past) -> Likeness {
    if let (Some(a), Some(b)) = (&earlier.criterion, &today.criterion)
        && a != b
    {
        return Different;
    }
    let wording = earlier.says.likeness(&today.says).max(earlier.says_all.likeness(&today.says_all));
    let other_name = earlier.says.names_others(&today.says);
    let clash =
        other_name || earlier.says.counts_others(&today.says) || earlier.says.substitutes(&today.says);
    let opposed = earlier.says_all.opposes(&today.says_all);
    let text = text(earlier, today, gone.quote && !past.stood);
    let part = part(earlier, today, gone);
    let file = match (&earlier.path, &today.path) {
        (Some(a), Some(b)) if a == b => Part::Equal,
        (Some(_), Some(_)) => Part::Apart,
        _ => Part::Unknown,
    };
    let score = score(earlier, today, wording, text, part, file);

    if earlier.rule != today.rule {
        // Critics change the drawer they put a point in; that alone is never enough to call it the same.
        let doubtful = text == Text::Equal && file != Part::Apart && part != Part::Apart && wording >= 450;
        return if doubtful && !clash { Maybe(score) } else { Different };
    }
    if file == Part::Apart {
        if clash || opposed {
            return Different;
        }
        let renamed = gone.file
            && (text == Text::Equal && wording >= WORDING_NEAR
                || part == Part::Equal && wording >= WORDING_ALONE);
        let moved =
            (gone.quote || gone.file_unknown) && !past.stood_here && text == Text::Equal && telling(earlier);
        return match (renamed, moved && wording >= WORDING_ALONE) {
            (true, _) => Same(score),
            (false, true) => Maybe(score),
            (false, false) => Different,
        };
    }
    if part == Part::Apart && !(text == Text::Equal && past.unique && telling(earlier)) {
        let doubtful = text == Text::Equal && telling(earlier) && wording >= WORDING_ALONE && !clash;
        return if doubtful { Maybe(score) } else { Different };
    }
    let (same, maybe) = match text {
        Text::Equal if telling(earlier) => (wording >= WORDING_EQUAL, true),
        Text::Equal => (wording >= WORDING_NEAR, wording >= WORDING_EQUAL),
        Text::Near => (wording >= WORDING_NEAR, wording >= WORDING_EQUAL),
        // The worker edited the old text into the new one.
        Text::Apart if gone.quote && !past.stood => (wording >= WORDING_ALONE, wording >= WORDING_DOUBTFUL),
        // The old text is gone, and the new one stood beside it: another spot.
        Text::Apart if gone.quote => (false, false),
        // Two spots, unless the point is about the whole and the quotes are examples.
        Text::Apart => (false, wording >= WORDING_EXAMPLES),
        Text::Unknown if part == Part::Equal || earlier.says.shares_a_name(&today.says) => {
            (wording >= WORDING_IN_PART, wording >= WORDING_DOUBTFUL)
        }
        Text::Unknown => (wording >= WORDING_ALONE, wording >= WORDING_DOUBTFUL),
    };
    // The criterion is itself the requirement that is not met.
    let same = same || earlier.criterion.is_some() && today.criterion.is_some() && text != Text::Apart;
    if text != Text::Equal && (other_name || opposed) {
        return Different;
    }
    match (same, maybe, clash, opposed) {
        (true, _, false, false) => Same(score),
        (true, _, true, false) if text == Text::Equal => Same(score),
        (true, ..) | (false, true, false, false) => Maybe(score),
        (false, ..) => Different,
    }
}

fn telling(traits: &Traits) -> bool {
    traits.quote.len() >= TELLING || traits.quote.is_empty() && traits.line_text.len() >= TELLING
}

fn text(earlier: &Traits, today: &Traits, edited: bool) -> Text {
    if earlier.quote.is_empty() || today.quote.is_empty() {
        // The text of a cited line stands in for a quote, but only speaks for a match: critics miscount.
        let line = |t: &Traits| if t.quote.is_empty() { t.line_text.clone() } else { t.quote.clone() };
        let (a, b) = (line(earlier), line(today));
        let alike = a.len() >= TELLING && b.len() >= TELLING && (a.contains(&b) || b.contains(&a));
        return if alike { Text::Equal } else { Text::Unknown };
    }
    let (a, b) = (&earlier.quote, &today.quote);
    if a == b {
        return Text::Equal;
    }
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    if short.len() >= TELLING && long.contains(short.as_str()) {
        return if 2 * short.len() >= long.len() { Text::Equal } else { Text::Near };
    }
    // Two like texts that stood side by side are two; one that came when the other went is the other, edited.
    let alike = earlier.quote_words.likeness(&today.quote_words) >= 600;
    if edited && alike { Text::Near } else { Text::Apart }
}

fn part(earlier: &Traits, today: &Traits, gone: Gone) -> Part {
    match (&earlier.within, &today.within) {
        (Some(a), Some(b)) if a == b => Part::Equal,
        // A renamed function is not another one.
        (Some(_), Some(_)) if gone.within => Part::Unknown,
        (Some(_), Some(_)) => Part::Apart,
        _ => Part::Unknown,
    }
}

/// Anchors first, then wording, then how near the lines are.
fn score(earlier: &Traits, today: &Traits, wording: u32, text: Text, part: Part, file: Part) -> u32 {
    let text = match text {
        Text::Equal => 4_000,
        Text::Near => 2_000,
        Text::Unknown => 1_000,
        Text::Apart => 0,
    };
    let known = |part: Part, worth: u32| if part == Part::Equal { worth } else { 0 };
    let near = match (earlier.line, today.line) {
        (Some(a), Some(b)) => 50u32.saturating_sub(a.abs_diff(b)),
        _ => 0,
    };
    let criterion =
        if earlier.criterion.is_some() && earlier.criterion == today.criterion { 2_000 } else { 0 };
    text + criterion + known(part, 1_000) + known(file, 500) + wording + near
}
