//! The readers under replies nobody wrote: rejections with one place damaged, honest critics that quote hostile work, critics
//! that repeat their brief, and whatever a generator makes of tokens. None of it is ever an approval.
#![allow(clippy::unwrap_used, clippy::panic)] // a test: failing is how it speaks

mod bench;
mod damage;
mod garbage;
mod hostile;
mod rules;
