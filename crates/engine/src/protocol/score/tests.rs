//! The rule book of `score`, played at the table: endings, escalations, two critics, what a critic is
//! shown, and what never passes.

#![allow(clippy::unwrap_used, clippy::panic)]

mod cold;
mod deciding;
mod endings;
mod game;
mod properties;
