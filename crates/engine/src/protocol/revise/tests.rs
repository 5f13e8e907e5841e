//! `revise` by scripted replies: what a person would see in the transcript.

mod endings;
mod forging;
mod harness;
mod interruptions;
mod items;
