//! What a critic may be shown beside the work, and what it may never be: inputs are what the work was made from, history
//! is what was said about it before. Told by names, and of files that no entry names by their first lines.

/// Lines in which a review says what it is.
const HEAD: usize = 60;

/// Endings of what is no text, or of data, which nobody is shown as a mere input.
const NO_INPUT: [&str; 27] = [
    "csv", "tsv", "dta", "sav", "rds", "rda", "rdata", "parquet", "feather", "xlsx", "xls", "sqlite", "db",
    "pdf", "png", "jpg", "jpeg", "gif", "svg", "eps", "tif", "tiff", "zip", "gz", "log", "aux", "bbl",
];

/// Folders of reviews and records.
const FOLDERS: [&str; 6] = ["reviews", "critiques", "receipts", "traces", "session_logs", "scores"];

/// Files that record what was judged, wherever they lie.
const RECORDS: [&str; 4] =
    ["pipeline_state.json", "research_journal.md", "session_report.md", "critic-log.md"];

/// Whether a file's name says that it is a review, a score or a record of such: never shown to who judges.
pub fn is_history(path: &str) -> bool {
    let path = path.to_lowercase();
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", &path));
    if RECORDS.contains(&name) || folders.split('/').any(|folder| FOLDERS.contains(&folder)) {
        return true;
    }
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let tokens: Vec<&str> = stem.split(|c: char| !c.is_alphanumeric()).collect();
    let has = |words: &[&str]| tokens.iter().any(|token| words.contains(token));
    let says_review = has(&["review", "reviews", "audit"]);
    // A review of the literature is work.
    let is_of_literature = has(&["lit", "literature", "bibliography", "literatura"]);
    has(&[
        "critic",
        "critics",
        "critique",
        "referee",
        "referees",
        "verdict",
        "verdicts",
        "score",
        "scores",
        "scorecard",
        "rebuttal",
    ]) || (says_review && !is_of_literature)
        || (has(&["editorial"]) && has(&["decision"]))
}

/// Whether a text that no entry names reads as a review: its first lines state points of a hundred as a verdict.
pub fn reads_as_review(text: &str) -> bool {
    const WORDS: [&str; 9] =
        ["score", "verdict", "overall", "total", "critic", "referee", "puntaje", "puntuación", "advances"];
    text.lines().take(HEAD).any(|line| {
        let line = line.to_lowercase();
        WORDS.iter().any(|word| line.contains(word)) && states_points(&line)
    })
}

/// `76/100`, spaced or not.
fn states_points(line: &str) -> bool {
    line.match_indices('/').any(|(at, _)| {
        let before = line[..at].trim_end().trim_end_matches('*');
        let after = line[at + 1..].trim_start().trim_start_matches('*');
        let follows =
            after.strip_prefix("100").is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()));
        follows && before.ends_with(|c: char| c.is_ascii_digit())
    })
}

/// Whether a file that an agent builds on is shown to who judges its work.
pub fn is_input(path: &str) -> bool {
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending).to_lowercase();
    !is_history(path) && !NO_INPUT.contains(&ending.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reviews_are_history_and_a_review_of_the_literature_is_work() {
        for path in [
            "quality_reports/strategy/x/critic_review_round1.md",
            "quality_reports/literature/x/librarian_critic_review.md",
            "quality_reports/reviews/x.md",
            "quality_reports/x/strategy_review.md",
            "quality_reports/x/code_audit.md",
            "a/b/Scores.md",
            "quality_reports/research_journal.md",
            "quality_reports/receipts/coder.json",
        ] {
            assert!(is_history(path), "{path}");
        }
        for path in [
            "quality_reports/strategy/x/strategy_memo.md",
            "quality_reports/literature/x/lit_review_x.md",
            "quality_reports/literature/x/literature_review.md",
            "quality_reports/results_summary.md",
            "paper/tables/main.tex",
            "scripts/R/underscore.R",
        ] {
            assert!(!is_history(path), "{path}");
            assert!(is_input(path), "{path}");
        }
    }

    #[test]
    fn what_states_points_of_a_hundred_as_a_verdict_reads_as_a_review() {
        assert!(reads_as_review("# Notes\n\n**Score: 76 / 100**, three MAJOR\n"));
        assert!(reads_as_review("Verdict: 90/100 ADVANCES\n"));
        assert!(!reads_as_review("# Memo\n\nThe score of 12/1000 firms is missing.\n"));
        assert!(!reads_as_review("# Memo\n\nA rate of 40/100 births.\n"));
    }

    #[test]
    fn data_and_pictures_are_no_mere_input() {
        for path in ["data/cleaned/panel.csv", "paper/figures/a.PDF", "x.rds"] {
            assert!(!is_input(path), "{path}");
        }
    }
}
