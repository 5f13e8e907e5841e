//! Text held once, by content. Records name texts by digest; the bodies travel beside them.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use crate::digest::Digest;
use crate::reading::quoted;
use crate::reading::shown::neutralise;

/// What is known of a text. What readers make of it is made once, for all who hold it.
#[derive(Debug)]
pub(crate) struct TextBody {
    text: Arc<str>,
    /// As a critic is shown it; none where that is the text itself.
    harmless: OnceLock<Option<Box<str>>>,
    lines: OnceLock<Box<[u64]>>,
}

impl TextBody {
    pub(crate) fn new(text: impl Into<Arc<str>>) -> Self {
        Self { text: text.into(), harmless: OnceLock::new(), lines: OnceLock::new() }
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    fn harmless(&self) -> &str {
        let made = self.harmless.get_or_init(|| match neutralise(&self.text) {
            Cow::Borrowed(_) => None,
            Cow::Owned(harmless) => Some(harmless.into()),
        });
        made.as_deref().unwrap_or(&self.text)
    }

    /// Its lines as quotations of them are known.
    pub(crate) fn lines(&self) -> &[u64] {
        self.lines.get_or_init(|| quoted::keys(&self.text).collect())
    }
}

/// A text with its identity.
#[derive(Clone, Debug)]
pub struct Text {
    digest: Digest,
    body: Arc<TextBody>,
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        self.digest == other.digest
    }
}

impl Eq for Text {}

impl Text {
    pub fn new(body: impl Into<Arc<str>>) -> Self {
        let body = TextBody::new(body);
        Self { digest: Digest::of(body.text.as_bytes()), body: Arc::new(body) }
    }

    /// A text of the program's own: every run shares it, and it is hashed once.
    pub fn shipped(body: &'static str) -> Self {
        static KNOWN: RwLock<BTreeMap<(usize, usize), Text>> = RwLock::new(BTreeMap::new());
        let place = (body.as_ptr().addr(), body.len());
        let known = KNOWN.read().unwrap_or_else(PoisonError::into_inner).get(&place).cloned();
        known.unwrap_or_else(|| {
            let text = Self::new(body);
            KNOWN.write().unwrap_or_else(PoisonError::into_inner).insert(place, text.clone());
            text
        })
    }

    pub const fn digest(&self) -> Digest {
        self.digest
    }

    pub fn as_str(&self) -> &str {
        &self.body.text
    }

    pub fn body(&self) -> Arc<str> {
        Arc::clone(&self.body.text)
    }
}

/// The texts a run knows, by digest.
#[derive(Clone, Default, Debug)]
pub struct Texts(HashMap<Digest, Arc<TextBody>>);

impl Texts {
    pub fn insert(&mut self, text: &Text) {
        self.0.entry(text.digest).or_insert_with(|| Arc::clone(&text.body));
    }

    /// The body, or the empty string if it is not here: an input that names a text without bringing
    /// it is refused before it gets this far (see `Engine::on`).
    pub fn get(&self, digest: &Digest) -> &str {
        self.0.get(digest).map_or("", |body| &body.text)
    }

    /// As a critic is shown it: nothing in it can be read as a verdict.
    pub fn harmless(&self, digest: &Digest) -> &str {
        self.0.get(digest).map_or("", |body| body.harmless())
    }

    pub(crate) fn held(&self, digest: &Digest) -> Option<Arc<TextBody>> {
        self.0.get(digest).cloned()
    }

    pub fn contains(&self, digest: &Digest) -> bool {
        self.0.contains_key(digest)
    }

    pub fn shared(&self, digest: &Digest) -> Option<Arc<str>> {
        self.0.get(digest).map(|body| Arc::clone(&body.text))
    }
}
