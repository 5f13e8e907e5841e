//! Everything that reaches the terminal or a pipe. Nothing else in the workspace prints.

pub mod ask;
pub mod brief;
pub mod consent;
pub mod described;
pub mod diff;
pub mod ending;
pub mod error;
pub mod events;
pub mod feed;
pub mod gate;
pub mod goal;
pub mod judged;
pub mod live;
pub mod meters;
pub mod next_command;
pub mod pipeline;
pub mod print;
pub mod problems;
pub mod rail;
pub mod safe;
pub mod screen;
pub mod standing;
pub mod story;
pub mod table;
pub mod terminal;
pub mod view;
