//! Acceptance where the user kept working: what was judged comes into the checkout, and where both sides
//! changed a file a person decides. Nothing is resolved unasked.
//!
//! What a person was shown is an *offer*: the trees each decision leads to, under one digest, kept on disk. A
//! decision is carried out as any acceptance is, from one tree to another, so that again is once, and so
//! that it is taken back to the byte. If the checkout is not what the offer saw, it is looked at again.

use std::fs;
use std::path::PathBuf;

use gadfly_engine::Digest;
use gadfly_engine::conflict::{Conflicts, Resolution, Way};
use serde::{Deserialize, Serialize};

use super::apply::{PathStep, reversed};
use super::error::WorkspaceError;
use super::{CheckoutChanges, WayBack, Workspace};
use crate::save::write_atomically;

/// Somebody who changes the checkout again and again while it is looked at gets an error instead.
const ATTEMPTS: usize = 3;

/// What became of an acceptance.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Landing {
    Landed(Landed),
    /// Nothing was written.
    Conflicts(Conflicts),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Landed {
    /// What was changed in the checkout, sorted.
    pub paths: Vec<String>,
    /// Those of them that are git's merge of both sides.
    pub merged: Vec<String>,
    /// Files that stayed as the user has them.
    pub kept: Vec<String>,
}

/// The trees a decision leads to. Its name is the digest of its text.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct LandingOffer {
    /// Names this workspace's trees only.
    pub judged: String,
    /// The base, with what the checkout holds of the files in conflict: what undoing goes back to.
    pub before: String,
    /// What was judged, with the checkout's version of the files in conflict.
    pub mine: String,
    /// What was judged, with git's merge of the files in conflict, if each has one.
    pub merged: Option<String>,
    pub replaceable: bool,
    pub paths: Vec<String>,
}

impl LandingOffer {
    fn leads_to(&self, way: Way) -> Option<&str> {
        match way {
            Way::Merge => self.merged.as_deref(),
            Way::Mine => Some(&self.mine),
            Way::Run => self.replaceable.then_some(&self.judged),
        }
    }
}

impl Workspace {
    /// Carries what was judged into the checkout, as a person decided if it was in conflict.
    pub async fn land(
        &self,
        judged: &str,
        resolution: Option<&Resolution>,
    ) -> Result<Landing, WorkspaceError> {
        if let Some(resolution) = resolution
            && let Some(offer) = self.offer(&resolution.seen)?.filter(|o| o.judged == judged)
            && let Some(landed) = self.decided(&offer, resolution).await?
        {
            return Ok(Landing::Landed(landed));
        }
        let mut refused = None;
        for _ in 0..ATTEMPTS {
            match self.accept(judged).await {
                Ok(CheckoutChanges { paths }) => {
                    return Ok(Landing::Landed(Landed { paths, merged: Vec::new(), kept: Vec::new() }));
                }
                Err(conflict @ WorkspaceError::Conflict { .. }) => refused = Some(conflict),
                Err(other) => return Err(other),
            }
            if let Some((conflicts, offer)) = self.conflicts(judged).await? {
                let seen = self.keep(&offer)?;
                return Ok(Landing::Conflicts(Conflicts { seen, ..conflicts }));
            }
        }
        Err(refused.unwrap_or(WorkspaceError::Conflict { paths: Vec::new() }))
    }

    /// Goes the way that was decided; none if the checkout is not what was seen, and then nothing of it is
    /// written.
    async fn decided(
        &self,
        offer: &LandingOffer,
        resolution: &Resolution,
    ) -> Result<Option<Landed>, WorkspaceError> {
        let Some(after) = offer.leads_to(resolution.way) else { return Ok(None) };
        match self.carry(&offer.before, after).await {
            Ok(CheckoutChanges { paths }) => {
                let named = || offer.paths.clone();
                let (merged, kept) = match resolution.way {
                    Way::Merge => (named(), Vec::new()),
                    Way::Mine => (Vec::new(), named()),
                    Way::Run => (Vec::new(), Vec::new()),
                };
                Ok(Some(Landed { paths, merged, kept }))
            }
            Err(WorkspaceError::Conflict { .. }) => Ok(None),
            Err(other) => Err(other),
        }
    }

    /// Takes back what landed, all of it or, if a file changed since, nothing. Again is once.
    pub async fn take_back(
        &self,
        judged: &str,
        resolution: Option<&Resolution>,
    ) -> Result<CheckoutChanges, WorkspaceError> {
        let landed = self.landed(judged, resolution).await?;
        let done = self.store.apply_steps(reversed(landed.clone()), &self.facts.root).await?;
        // A folder that could not be removed with its last file.
        self.store.clear_beside(landed, &self.facts.root).await;
        Ok(done)
    }

    /// What taking back would do.
    pub async fn way_to_take_back(
        &self,
        judged: &str,
        resolution: Option<&Resolution>,
    ) -> Result<WayBack, WorkspaceError> {
        let steps = reversed(self.landed(judged, resolution).await?);
        let conflicts = self.store.in_conflict(&steps, &self.facts.root).await?;
        let mut way = WayBack { conflicts, ..WayBack::default() };
        for step in steps {
            let list = if step.to.is_some() { &mut way.restored } else { &mut way.removed };
            list.push(step.path);
        }
        Ok(way)
    }

    /// What an acceptance changed in the checkout. What the user had made the same already is theirs.
    pub(super) async fn landed(
        &self,
        judged: &str,
        resolution: Option<&Resolution>,
    ) -> Result<Vec<PathStep>, WorkspaceError> {
        let (after, before) = self.ends(judged, resolution)?;
        let steps = self.store.steps(&before, &after).await?;
        let intent = self.intent()?.filter(|intent| intent.before == before && intent.after == after);
        Ok(match intent {
            Some(intent) => intent.own(steps),
            None => steps,
        })
    }

    /// The trees after and before what landed.
    fn ends(
        &self,
        judged: &str,
        resolution: Option<&Resolution>,
    ) -> Result<(String, String), WorkspaceError> {
        let Some(resolution) = resolution else { return Ok((judged.to_owned(), self.facts.base.clone())) };
        let offer = self.offer(&resolution.seen)?.filter(|o| o.judged == judged);
        let ends = offer.and_then(|o| Some((o.leads_to(resolution.way)?.to_owned(), o.before.clone())));
        ends.ok_or_else(|| {
            let reason = "what the files held before the decision is not there any more".to_owned();
            WorkspaceError::Damaged { path: self.offers(), reason }
        })
    }

    fn offers(&self) -> PathBuf {
        self.home.join("offers")
    }

    fn keep(&self, offer: &LandingOffer) -> Result<Digest, WorkspaceError> {
        let folder = self.offers();
        let text = serde_json::to_vec(offer)
            .map_err(|e| WorkspaceError::Damaged { path: folder.clone(), reason: e.to_string() })?;
        let digest = Digest::of(&text);
        fs::create_dir_all(&folder).map_err(WorkspaceError::io("made", &folder))?;
        let path = folder.join(digest.to_string());
        write_atomically(&path, &text).map_err(WorkspaceError::io("written", &path))?;
        Ok(digest)
    }

    /// None if there is no such offer, or it is not the one that was shown.
    fn offer(&self, seen: &Digest) -> Result<Option<LandingOffer>, WorkspaceError> {
        let path = self.offers().join(seen.to_string());
        match fs::read(&path) {
            Ok(text) if Digest::of(&text) == *seen => Ok(serde_json::from_slice(&text).ok()),
            Ok(_) => Ok(None),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(WorkspaceError::Io { doing: "read", path, source }),
        }
    }
}
