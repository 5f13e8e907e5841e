//! What depends on the operating system: starting and ending other programs, and process limits.
//!
//! Nothing here decides what to run or what its output means; it starts what it is told to start,
//! within bounds, and leaves nothing running. Unix only; Linux is complete, elsewhere a descendant
//! that left the process group can survive (there is no subreaper to catch it).

mod above;
mod anchor;
mod apart;
mod capture;
pub mod launcher;
pub mod limits;
mod loopback;
mod processes;
mod sampling;
mod sandbox;
mod stdin;
pub mod supervisor;
mod talking;
mod trees;
mod wire;

pub use apart::{alone, apart};
pub use launcher::{NoSupervisor, ProcessLauncher, children_ended};
pub use limits::{ChildLimits, keep_memory_private, raise_open_files};
pub use loopback::Loopback;
pub use sandbox::landlock;
pub use supervisor::{own_program, supervise};
pub use trees::{remove_tree, remove_whole_tree};
pub(crate) use wire::ARGUMENT as SUPERVISE;
