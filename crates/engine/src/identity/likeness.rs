//! Is a finding of today an earlier one? Anchors decide: the rule, the criterion, the file, the section or
//! function, the quoted text. Wording decides where anchors are missing or were edited, and between equals.
//! Between "the same" and "another" lies a zone in which nothing is claimed.
//!
//! The thresholds are set by `tests/identity/pairs.jsonl`: never to call two points one.

use super::traits::{Gone, Past, Traits};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Likeness {
    Different,
    /// It may be; the greater, the likelier.
    Maybe(u32),
    Same(u32),
}

use Likeness::{Different, Maybe, Same};

/// How the texts two findings point at stand to each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum TextLikeness {
    Equal,
    /// One contains the other, or became the other, or they stand on the same line.
    Near,
    Apart,
    Unknown,
}

/// How two files, or two sections or functions, stand to each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Spot {
    Equal,
    Apart,
    Unknown,
}

struct Anchors {
    text: TextLikeness,
    part: Spot,
    file: Spot,
    /// Their quote is long enough to tell anything by itself.
    telling: bool,
}

struct Wording {
    /// From 0 to 1000.
    alike: u32,
    other_name: bool,
    /// They name other things or numbers, or are one sentence about two things.
    clash: bool,
    opposed: bool,
}

/// Rules that say of a criterion that it is not met; of others a criterion may have many findings.
const ABOUT_THE_CRITERION: [&str; 2] = ["unmet-criterion", "information-missing"];

/// Shorter quotes occur in too many places to tell anything by themselves.
const TELLING: usize = 12;

/// Wording that carries a match: alone, in the same section or function, beside an edited quote, beside an
/// equal one.
const ALONE: u32 = 560;
const IN_PART: u32 = 460;
const NEAR: u32 = 280;
const EQUAL: u32 = 60;
/// Wording that makes two quotes look like examples of one point.
const EXAMPLES: u32 = 850;
/// Wording below which nothing is even doubtful.
const DOUBTFUL: u32 = 330;

pub(super) fn compare(earlier: &Traits, today: &Traits, gone: Gone, past: Past) -> Likeness {
    let one_criterion = earlier.criterion.is_some() && earlier.criterion == today.criterion;
    if !one_criterion && earlier.criterion.is_some() && today.criterion.is_some() {
        return Different;
    }
    let one_rule = earlier.rule == today.rule;
    let file = spot(earlier.path.as_deref(), today.path.as_deref());
    let about_it = |traits: &Traits| one_criterion && ABOUT_THE_CRITERION.contains(&traits.rule.as_str());
    let either_is_about_it = about_it(earlier) || about_it(today);
    // Most pairs end here, before anything is compared that costs time.
    let no_quote_in_common = earlier.quote.is_empty() || earlier.quote != today.quote;
    let elsewhere = file == Spot::Apart && !(gone.file || gone.file_unknown || gone.quote);
    if !either_is_about_it && (!one_rule && no_quote_in_common || elsewhere) {
        return Different;
    }
    let anchors = Anchors {
        text: text(earlier, today, gone.quote && !past.stood),
        part: part(earlier, today, gone),
        file,
        telling: earlier.quote.len() >= TELLING,
    };
    let wording = wording(earlier, today);
    let score = score(earlier, today, &anchors, &wording);
    if either_is_about_it {
        // The point is that the criterion is not met, wherever that shows today.
        return if one_rule { Same(score) } else { Maybe(score) };
    }
    let judged = if !one_rule {
        under_another_rule(&anchors, &wording)
    } else if file == Spot::Apart {
        in_another_file(&anchors, &wording, gone, past)
    } else if anchors.part == Spot::Apart
        && !(anchors.text == TextLikeness::Equal && anchors.telling && past.unique)
    {
        in_another_part(&anchors, &wording)
    } else {
        in_place(&anchors, &wording, earlier.says.shares_a_name(&today.says), gone, past)
    };
    match judged {
        Sameness::Different => Different,
        Sameness::Maybe => Maybe(score),
        Sameness::Same => Same(score),
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Sameness {
    Different,
    Maybe,
    Same,
}

fn maybe_if(doubtful: bool) -> Sameness {
    if doubtful { Sameness::Maybe } else { Sameness::Different }
}

/// Critics change the drawer they put a point in; that alone is never enough to call it the same.
fn under_another_rule(anchors: &Anchors, wording: &Wording) -> Sameness {
    let one_spot =
        anchors.text == TextLikeness::Equal && anchors.file != Spot::Apart && anchors.part != Spot::Apart;
    maybe_if(one_spot && wording.alike >= IN_PART && !wording.clash)
}

/// The file was renamed, or the text moved to another one.
fn in_another_file(anchors: &Anchors, wording: &Wording, gone: Gone, past: Past) -> Sameness {
    if wording.clash || wording.opposed {
        return Sameness::Different;
    }
    let equal = anchors.text == TextLikeness::Equal;
    let renamed = equal && wording.alike >= NEAR || anchors.part == Spot::Equal && wording.alike >= ALONE;
    if gone.file && renamed {
        return Sameness::Same;
    }
    maybe_if(equal && anchors.telling && !past.stood_here && wording.alike >= ALONE)
}

fn in_another_part(anchors: &Anchors, wording: &Wording) -> Sameness {
    maybe_if(
        anchors.text == TextLikeness::Equal && anchors.telling && wording.alike >= ALONE && !wording.clash,
    )
}

fn in_place(anchors: &Anchors, wording: &Wording, one_name: bool, gone: Gone, past: Past) -> Sameness {
    let equal = anchors.text == TextLikeness::Equal;
    if !equal && (wording.other_name || wording.opposed) {
        return Sameness::Different;
    }
    let alike = wording.alike;
    let (same, maybe) = match anchors.text {
        TextLikeness::Equal if anchors.telling => (alike >= EQUAL, true),
        TextLikeness::Equal | TextLikeness::Near => (alike >= NEAR, alike >= EQUAL),
        // The worker edited the old text into the new one.
        TextLikeness::Apart if gone.quote && !past.stood => (alike >= ALONE, alike >= DOUBTFUL),
        // The old text is gone, and the new one stood beside it: another spot.
        TextLikeness::Apart if gone.quote => (false, false),
        // Two spots, unless the point is about the whole and the quotes are examples.
        TextLikeness::Apart => (false, alike >= EXAMPLES),
        TextLikeness::Unknown if anchors.part == Spot::Equal || one_name => {
            (alike >= IN_PART, alike >= DOUBTFUL)
        }
        TextLikeness::Unknown => (alike >= ALONE, alike >= DOUBTFUL),
    };
    match (same, wording.opposed || wording.clash && !equal) {
        (true, false) => Sameness::Same,
        (true, true) => Sameness::Maybe,
        (false, against) => maybe_if(maybe && !against && !wording.clash),
    }
}

fn wording(earlier: &Traits, today: &Traits) -> Wording {
    let mut alike = earlier.says.likeness(&today.says);
    if earlier.says_all.is_some() || today.says_all.is_some() {
        alike = alike.max(earlier.says_all().likeness(today.says_all()));
    }
    let other_name = earlier.says.names_others(&today.says);
    Wording {
        alike,
        other_name,
        clash: other_name || earlier.says.counts_others(&today.says) || earlier.says.substitutes(&today.says),
        opposed: earlier.says_all().opposes(today.says_all()) || earlier.says.lacks_another(&today.says),
    }
}

fn text(earlier: &Traits, today: &Traits, edited: bool) -> TextLikeness {
    if earlier.quote.is_empty() || today.quote.is_empty() {
        // The text of a cited line stands in for a quote, but only speaks for a match: critics miscount.
        return if contained(earlier.quote_or_line(), today.quote_or_line()).is_some() {
            TextLikeness::Near
        } else {
            TextLikeness::Unknown
        };
    }
    if earlier.quote == today.quote {
        return TextLikeness::Equal;
    }
    match contained(&earlier.quote, &today.quote) {
        Some((short, long)) if 2 * short >= long => TextLikeness::Equal,
        Some(_) => TextLikeness::Near,
        // Two like texts that stood side by side are two; one that came when the other went is the other.
        None if edited && earlier.quote_words.likeness(&today.quote_words) >= ALONE => TextLikeness::Near,
        None => TextLikeness::Apart,
    }
}

/// The lengths of two texts of which one contains the other.
fn contained(a: &str, b: &str) -> Option<(usize, usize)> {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    (short.len() >= TELLING && long.contains(short)).then_some((short.len(), long.len()))
}

fn spot(earlier: Option<&str>, today: Option<&str>) -> Spot {
    match (earlier, today) {
        (Some(a), Some(b)) if a == b => Spot::Equal,
        (Some(_), Some(_)) => Spot::Apart,
        _ => Spot::Unknown,
    }
}

fn part(earlier: &Traits, today: &Traits, gone: Gone) -> Spot {
    match spot(earlier.within.as_deref(), today.within.as_deref()) {
        // A function that was renamed is not another one.
        Spot::Apart if gone.within => Spot::Unknown,
        spot => spot,
    }
}

/// Anchors first, then wording, then how near the lines are.
fn score(earlier: &Traits, today: &Traits, anchors: &Anchors, wording: &Wording) -> u32 {
    let text = match anchors.text {
        TextLikeness::Equal => 4_000,
        TextLikeness::Near => 2_000,
        TextLikeness::Unknown => 1_000,
        TextLikeness::Apart => 0,
    };
    let known = |spot: Spot, worth: u32| if spot == Spot::Equal { worth } else { 0 };
    let near = match (earlier.line, today.line) {
        (Some(a), Some(b)) => 50u32.saturating_sub(a.abs_diff(b)),
        _ => 0,
    };
    let criterion =
        if earlier.criterion.is_some() && earlier.criterion == today.criterion { 2_000 } else { 0 };
    text + criterion + known(anchors.part, 1_000) + known(anchors.file, 500) + wording.alike + near
}
