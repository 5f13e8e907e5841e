//! A project as a graph of agents: what the registry says, what is there, what was judged, and what follows from it.
//!
//! Values and questions only: `protocol::pipeline` decides what is done next, `gadfly why`, `next` and `gate` ask the
//! same questions without a run. Reading the registry is `project`'s; looking at files is `runtime`'s.

pub mod aggregate;
pub mod event;
pub mod facts;
pub mod gate;
pub mod headings;
pub mod inputs;
pub mod learning;
pub mod listing;
pub mod registry;
pub mod verdict;

pub use event::PipelineEvent;
pub use facts::ProjectFacts;
pub use gate::{Gate, GateReport};
pub use listing::{Listing, Pattern};
pub use registry::{Atom, Check, Need, PairWeight, Product, Registry, RegistryEntry};
pub use verdict::PairVerdict;
