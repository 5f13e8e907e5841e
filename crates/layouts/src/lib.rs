//! Projects of other systems: their layouts and file formats. Files are read, never written.
//!
//! Each system is a module here and a row of [`ADAPTERS`]. The core knows none of them by name: it asks the table.

mod neuroflow;
mod nubos;
mod plugins;
mod seat;

use gadfly_project::adapter::Adapter;

/// Every system there is. Where two know a word, the first has it.
pub const ADAPTERS: &[&dyn Adapter] = &[&nubos::NubosPilot, &neuroflow::Neuroflow];
