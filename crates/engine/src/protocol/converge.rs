//! `converge`: a critic answers every criterion and one failure scenario, until nothing is left to fix.
//!
//! The criteria sets are `sets`, the reply grammar is `grammar`, questions to a person are `escalation`.

pub mod settings;
pub mod escalation;
pub mod grammar;
pub mod sets;
