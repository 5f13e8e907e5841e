//! Remembers: the append-only record of every run in `SQLite`, and the projections folded from it.
//!
//! It decides nothing and performs nothing. A caller appends an input and the engine's step as one
//! durable record, reads records back, posts mail to runs that another process drives, and renders
//! files from records. There is no async here: one writer thread per open journal commits for all.
//!
//! [`RunView`] is the one fold of a run's records; what else is told of a run reads it.

pub mod critic_log;
pub mod deferred;
pub mod page;
pub mod pipeline;
pub mod report_files;
pub mod shared_file;
pub mod signature;
pub mod summary;
pub mod view;

mod body;
#[cfg(test)]
mod budget;
mod chain;
mod changes;
mod checkpoint;
mod codec;
mod counts;
mod custody;
mod effect;
mod encode;
mod gc;
mod import;
mod inbox;
mod journal;
mod list;
mod lock;
mod lookup;
mod origin;
mod own;
mod ownership;
mod proof;
mod read;
mod record_index;
mod rows;
mod run_id;
mod run_writer;
mod schema;
mod seal;
mod store_error;
mod text_cache;
mod transfer;
mod vouched;
mod writer;

pub use changes::{Changes, Pulse};
pub use custody::Custody;
pub use deferred::Deferred;
pub use gc::{GcOptions, GcReport, RemoveError};
pub use import::{ImportError, Imported};
pub use inbox::{Delivery, Mail, MailId, MailKind, PostError};
pub use journal::Journal;
pub use list::{FindError, ListCursor, ListFilter};
pub use lookup::RunLookup;
pub use origin::Foreign;
pub use own::{TakeError, TakenStore};
pub use page::{RunPage, Window};
pub use proof::Proof;
pub use read::{ReadError, Record, Records};
pub use run_id::{NotARunId, RunId};
pub use run_writer::{AppendError, ClaimError, RunWriter};
pub use schema::{FORMAT, OpenError};
pub use store_error::StoreError;
pub use summary::Summary;
pub use transfer::{Checksum, EXPORT_FORMAT, ExportError};
pub use view::RunView;
pub use vouched::{SealToSign, Vouched};
