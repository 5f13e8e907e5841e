//! What a pair's judgement is worth to the project: a score, bound to exactly the files that were judged.

use serde::{Deserialize, Serialize};

use super::listing::Listing;
use crate::artifact::{ArtifactFile, Manifest};
use crate::digest::Digest;

/// A score counts only while every file it was given for is what it was.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PairVerdict {
    /// Whose work was judged; of somebody dispatched as a critic, itself.
    pub agent: String,
    /// The primary critic: only its score is the component's.
    pub critic: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lens: Option<String>,
    /// 0 to 100.
    pub score: u32,
    /// The score that passes.
    pub threshold: u32,
    pub rounds: u32,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub escalated: bool,
    pub artifact: Digest,
    /// The files that were judged.
    pub files: Vec<ArtifactFile>,
    pub rubric: Digest,
    pub reply: Digest,
    /// What is left to mend, in lines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open: Vec<String>,
    /// Another lens on a gate artifact. It has to pass; it is not the component's score.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other: Vec<OtherLens>,
    /// Its draft did not pass and was not delivered; nothing better is in the project. What was reached counts, so that
    /// nobody's sum gets better by it being left out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rejected: bool,
    /// Files it made, where these are not what was judged: a referee's report.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub made: Vec<ArtifactFile>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct OtherLens {
    pub critic: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lens: Option<String>,
    pub score: u32,
}

impl PairVerdict {
    /// The first file that is not what was judged; none if the verdict counts.
    pub fn stale(&self, now: &Listing) -> Option<&str> {
        if self.rejected {
            return None;
        }
        let changed =
            |entry: &&ArtifactFile| now.get(&entry.path).is_none_or(|found| found.digest != entry.blob);
        self.files.iter().chain(&self.made).find(changed).map(|entry| entry.path.as_str())
    }

    /// Every lens is satisfied.
    pub fn passes(&self) -> bool {
        !self.rejected
            && self.score >= self.threshold
            && self.other.iter().all(|other| other.score >= self.threshold)
    }

    /// Whether the digest is that of the files it names: a receipt may have been edited.
    pub fn is_whole(&self) -> bool {
        Manifest::new(self.files.clone()).digest() == self.artifact
    }
}
