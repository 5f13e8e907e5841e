//! Texts that many runs bring, prompts above all, as they are stored: packed once instead of once per run.
//! It says nothing about what the store holds; every run still writes what it needs.

use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::{Arc, Mutex};

use gadfly_engine::Text;

use crate::codec;
use crate::journal::locked;

/// Digests remembered before the memory begins anew, texts kept, and the longest text kept.
const SEEN: usize = 4096;
const KEPT: usize = 64;
const LONGEST: usize = 16 << 10;

#[derive(Default)]
pub(crate) struct TextCache(Mutex<TextCacheInner>);

#[derive(Default)]
struct TextCacheInner {
    /// Seen once: what comes once is not worth keeping.
    seen: HashSet<[u8; 32]>,
    packed: HashMap<[u8; 32], Arc<[u8]>>,
}

impl TextCache {
    pub(crate) fn pack(&self, text: &Text) -> io::Result<Arc<[u8]>> {
        let body = text.as_str().as_bytes();
        if body.len() > LONGEST {
            return codec::pack(body).map(Arc::from);
        }
        let digest = *text.digest().as_bytes();
        if let Some(packed) = locked(&self.0).packed.get(&digest) {
            return Ok(Arc::clone(packed));
        }
        let packed: Arc<[u8]> = codec::pack(body)?.into();
        let mut inner = locked(&self.0);
        if inner.seen.len() == SEEN {
            inner.seen.clear();
        }
        if !inner.seen.insert(digest) && inner.packed.len() < KEPT {
            inner.packed.insert(digest, Arc::clone(&packed));
        }
        drop(inner);
        Ok(packed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_again_is_packed_once_and_what_comes_once_is_not_kept() {
        let repeated = TextCache::default();
        let prompt = Text::new("You are the critic. ".repeat(20));
        let first = repeated.pack(&prompt).unwrap();
        let second = repeated.pack(&prompt).unwrap();
        let third = repeated.pack(&prompt).unwrap();
        assert_eq!(first, second);
        assert!(Arc::ptr_eq(&second, &third));
        for n in 0..10_000 {
            repeated.pack(&Text::new(format!("rubric {n}"))).unwrap();
        }
        let inner = locked(&repeated.0);
        assert_eq!(inner.packed.len(), 1, "others did not drive it out, nor were they kept");
        assert!(inner.seen.len() <= SEEN);
    }
}
