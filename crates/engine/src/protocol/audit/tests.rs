//! Whole tasks: scripted agents, folders and people in, a transcript out.

mod always;
mod before;
mod game;
mod judging;
mod people;
mod rounds;
