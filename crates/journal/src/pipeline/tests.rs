//! One sample pipeline as a stream of records, every file it leaves, and what hostile names, other people's files and
//! crashes do to them.

mod learning;
mod rendered;
mod sample;
mod written;
