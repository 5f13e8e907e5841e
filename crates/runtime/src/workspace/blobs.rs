//! The contents in a store: what is worth knowing about each, and the bytes, fetched many at a time.

use std::collections::{HashMap, HashSet};
use std::sync::PoisonError;

use gadfly_agents::launcher::Exit;
use gadfly_engine::Digest;

use super::error::WorkspaceError;
use super::git::failure;
use super::store::SnapshotStore;

/// A changed file must fit into memory, and so must everything a git call answers at once.
pub(super) const LARGEST_FILE: u64 = 512 << 20;
/// Contents are fetched in groups of about this size.
const GROUP: u64 = 32 << 20;
/// Git looks this far for a zero byte before it calls a file text; so do we.
const LOOKED_AT: usize = 8000;

/// What a change list says about one content.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct BlobFacts {
    pub digest: Digest,
    pub bytes: u64,
    pub lines: u32,
    pub binary: bool,
}

impl BlobFacts {
    pub fn of(bytes: &[u8]) -> Self {
        let breaks = bytes.iter().fold(0_u32, |n, b| n.saturating_add(u32::from(*b == b'\n')));
        let open_end = bytes.last().is_some_and(|b| *b != b'\n');
        Self {
            digest: Digest::of(bytes),
            bytes: bytes.len() as u64,
            lines: breaks.saturating_add(u32::from(open_end)),
            binary: bytes.iter().take(LOOKED_AT).any(|b| *b == 0),
        }
    }
}

impl SnapshotStore {
    /// The sizes of these contents. An unknown one is an error: a store never loses anything.
    async fn sizes(&self, oids: &[&str]) -> Result<Vec<u64>, WorkspaceError> {
        let answer = self.git.feed(&self.place(), &["cat-file", "--batch-check"], lines(oids)).await?;
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let sizes: Option<Vec<u64>> = answer
            .lines()
            .map(|line| line.rsplit_once(' ').and_then(|(_, size)| size.parse().ok()))
            .collect();
        sizes.filter(|s| s.len() == oids.len()).ok_or_else(|| self.damaged("cat-file", answer.trim()))
    }

    /// Divides contents into groups that can be fetched at once; one that is too large is an error.
    pub async fn groups<'a>(&self, oids: &[&'a str]) -> Result<Vec<Vec<&'a str>>, WorkspaceError> {
        if oids.is_empty() {
            return Ok(Vec::new());
        }
        let (mut groups, mut room) = (Vec::<Vec<&str>>::new(), 0);
        for (oid, size) in oids.iter().zip(self.sizes(oids).await?) {
            if size > LARGEST_FILE {
                return Err(WorkspaceError::TooLarge {
                    what: "a changed file".to_owned(),
                    limit: LARGEST_FILE,
                });
            }
            match groups.last_mut() {
                Some(group) if size <= room => group.push(oid),
                _ => {
                    groups.push(vec![oid]);
                    room = GROUP;
                }
            }
            room = room.saturating_sub(size);
        }
        Ok(groups)
    }

    /// The bytes of one group, in its order.
    pub async fn contents(&self, group: &[&str]) -> Result<Vec<Vec<u8>>, WorkspaceError> {
        let args = ["cat-file", "--batch"];
        // Each content has a header line of less than a hundred bytes.
        let most = usize::try_from(LARGEST_FILE + GROUP).unwrap_or(usize::MAX) + group.len() * 100;
        let finished = self.git.try_feed(&self.place(), &args, lines(group), most).await?;
        if finished.exit != Exit::Code(0) {
            return Err(failure(&args, &finished));
        }
        let mut rest = finished.stdout.as_slice();
        let mut found = Vec::with_capacity(group.len());
        for _ in group {
            let (content, after) = next(rest).ok_or_else(|| self.damaged("cat-file", "a cut answer"))?;
            found.push(content.to_vec());
            rest = after;
        }
        Ok(found)
    }

    /// What is known of these contents; each is read once in the life of this value.
    pub async fn facts(
        &self,
        oids: impl IntoIterator<Item = &str>,
    ) -> Result<HashMap<String, BlobFacts>, WorkspaceError> {
        let (mut facts, mut asked) = (HashMap::new(), HashSet::new());
        {
            let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            for oid in oids {
                match known.get(oid) {
                    Some(of) => drop(facts.insert(oid.to_owned(), *of)),
                    None => drop(asked.insert(oid)),
                }
            }
        }
        let mut asked: Vec<&str> = asked.into_iter().collect();
        asked.sort_unstable();
        for group in self.groups(&asked).await? {
            for (oid, bytes) in group.iter().zip(self.contents(&group).await?) {
                facts.insert((*oid).to_owned(), BlobFacts::of(&bytes));
            }
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.extend(facts.iter().map(|(oid, of)| (oid.clone(), *of)));
        Ok(facts)
    }
}

fn lines(oids: &[&str]) -> Vec<u8> {
    let mut text = oids.join("\n").into_bytes();
    text.push(b'\n');
    text
}

/// `<oid> blob <size>\n<bytes>\n`, and what follows.
fn next(answer: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = answer.iter().position(|b| *b == b'\n')?;
    let (head, rest) = answer.split_at(end);
    let size: usize = std::str::from_utf8(head).ok()?.rsplit_once(' ')?.1.parse().ok()?;
    let body = rest.get(1..)?;
    let content = body.get(..size)?;
    Some((content, body.get(size + 1..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_as_an_editor_counts_them() {
        for (text, lines) in [("", 0), ("a", 1), ("a\n", 1), ("a\nb", 2), ("\n\n", 2)] {
            assert_eq!(BlobFacts::of(text.as_bytes()).lines, lines, "{text:?}");
        }
        assert!(BlobFacts::of(b"a\0b").binary && !BlobFacts::of(b"ab").binary);
    }

    #[test]
    fn a_cut_answer_is_noticed() {
        let whole = b"aa blob 3\nx\ny\nbb blob 0\n\n";
        assert_eq!(next(whole), Some((&b"x\ny"[..], &b"bb blob 0\n\n"[..])));
        for cut in 0..13 {
            assert_eq!(next(&whole[..cut]), None, "cut at {cut}");
        }
    }
}
