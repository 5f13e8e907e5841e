//! Files of a research project that are not shown whole: long tables by a sample with a stated rule, pictures and binary
//! data by their names. That something was not judged is said, and voids nothing else.

use crate::slice::{Slice, SliceStyle};

/// Endings of tables that are text.
const TABLES: [&str; 7] = ["csv", "tsv", "tab", "jsonl", "ndjson", "dat", "prn"];
/// Endings of pictures, and of documents made for looking at.
const PICTURES: [&str; 12] =
    ["pdf", "png", "jpg", "jpeg", "gif", "eps", "ps", "tif", "tiff", "bmp", "webp", "svgz"];
/// Endings of data that programs read.
const DATA: [&str; 22] = [
    "dta", "rds", "rda", "rdata", "sav", "zsav", "por", "sas7bdat", "xpt", "parquet", "feather", "arrow",
    "xlsx", "xls", "npy", "npz", "mat", "h5", "hdf5", "pkl", "zip", "gz",
];

/// Endings of tables, and of data that programs read; not those of archives.
pub fn data_endings() -> impl Iterator<Item = &'static str> {
    TABLES.into_iter().chain(DATA).filter(|ending| !matches!(*ending, "zip" | "gz" | "dat" | "prn" | "tab"))
}

/// A table longer than this is sampled.
pub(super) const LARGEST_TABLE: usize = 48 * 1024;
/// Lines shown of a table: its head, and so many at each third and at its end.
const HEAD: u32 = 40;
const STRETCH: u32 = 20;

fn ending(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or_default();
    name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase()).unwrap_or_default()
}

pub(super) fn is_table(path: &str) -> bool {
    TABLES.contains(&ending(path).as_str())
}

/// Why a file that is no text is only named, if it is one of which that was to be expected.
pub(super) fn named_only(path: &str) -> Option<&'static str> {
    let ending = ending(path);
    let ending = ending.as_str();
    if PICTURES.contains(&ending) {
        Some("a picture: its content was not judged")
    } else if DATA.contains(&ending) || TABLES.contains(&ending) {
        Some("data: its content was not judged")
    } else {
        None
    }
}

/// The stretches of a table that stand for it.
pub(super) fn sample(whole: &Slice) -> Vec<Slice> {
    let lines = whole.lines();
    let third = lines / 3;
    let starts = [third, third * 2, lines.saturating_sub(STRETCH - 1)];
    let mut found = vec![Slice { to: HEAD.min(lines), ..*whole }];
    for from in starts {
        let after = found.last().map_or(0, |last| last.to);
        let (from, to) = (from.max(after + 1), (from + STRETCH - 1).min(lines));
        if from <= to {
            found.push(Slice { from, to, style: SliceStyle::Numbered, ..*whole });
        }
    }
    found
}

/// The rule by which a table was sampled, with what that comes to.
pub(super) fn rule(whole: &Slice, shown: &[Slice]) -> String {
    let stretches: Vec<String> = shown.iter().map(|s| format!("{}–{}", s.from, s.to)).collect();
    format!(
        "a table of {} lines: its first {HEAD} lines and {STRETCH} at each third and at its end are shown ({})",
        whole.lines(),
        stretches.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::Digest;

    fn whole(lines: u32) -> Slice {
        Slice { text: Digest::of(b"x"), from: 1, to: lines, style: SliceStyle::Numbered }
    }

    #[test]
    fn a_sample_is_the_head_each_third_and_the_end_and_nothing_twice() {
        let spans = |lines| sample(&whole(lines)).iter().map(|s| (s.from, s.to)).collect::<Vec<_>>();
        assert_eq!(spans(60_001), [(1, 40), (20_000, 20_019), (40_000, 40_019), (59_982, 60_001)]);
        assert_eq!(spans(70), [(1, 40), (41, 42), (46, 65), (66, 70)]);
        assert_eq!(spans(10), [(1, 10)], "long lines: all of them");
        for lines in 1..200 {
            let found = sample(&whole(lines));
            assert!(found.windows(2).all(|w| w[0].to < w[1].from), "{lines}: {found:?}");
            assert!(found.iter().all(|s| s.from <= s.to && s.to <= lines), "{lines}: {found:?}");
        }
    }

    #[test]
    fn only_what_is_no_text_by_its_nature_is_merely_named() {
        for (path, is) in [
            ("figures/Event.PDF", true),
            ("data/x.dta", true),
            ("bin/run", false),
            ("a.exe", false),
            ("x.rs", false),
        ] {
            assert_eq!(named_only(path).is_some(), is, "{path}");
        }
        assert!(is_table("data/cleaned/panel.csv") && !is_table("notes.md"));
    }
}
