//! The change of a session that is driven elsewhere, a coding agent in a terminal or in an editor, judged before its
//! turn may end: the change is the draft of a `revise` loop whose worker is the session. A rejection sends it back with
//! what is to be fixed; the loop's own cap ends that. How a session is heard of and answered is its caller's matter.

pub mod altered;
mod answer;
mod judging;
pub mod nested;
pub mod request;
mod seats;
pub mod session;
mod session_proof;
mod submitting;

pub use answer::{OWN_WORDS, TurnDecision, gone};
pub use judging::judged;
pub use session::{Case, JudgedSession};
