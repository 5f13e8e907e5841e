//! Talks: one thin translator per kind of agent, from a turn to an answer.
