//! What can go wrong with the database files themselves, divided by what the caller can do about it.

use rusqlite::ErrorCode;

/// A failure of the store. Nothing that was acknowledged before it is lost.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    #[error("the disk is full, so nothing more was recorded: free some space, then resume ({0})")]
    Full(String),
    #[error("the journal cannot be written, it is read-only: check the permissions of its folder ({0})")]
    ReadOnly(String),
    #[error("another process kept the journal busy for too long: try again when it is done ({0})")]
    Busy(String),
    #[error("the journal file is damaged: restore it from a copy or import an export of its runs ({0})")]
    Damaged(String),
    #[error("this is no database of Gadfly's")]
    NotADatabase,
    #[error(
        "the journal {0} was removed or replaced while it was in use, so nothing more is recorded and the work stops: \
         what came after is not in it"
    )]
    Replaced(std::path::PathBuf),
    #[error("the journal could not be read or written: check its disk and folder ({0})")]
    Io(String),
    #[error("the run is forgotten, but its folder could not be removed: remove it yourself ({0})")]
    Left(String),
    #[error("the journal was closed while work was still under way: open it again and resume")]
    Closed,
    #[error("the journal refused a statement, which is a defect in Gadfly: please report it ({0})")]
    Defect(String),
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        let text = error.to_string();
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Self::Full(text),
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => Self::ReadOnly(text),
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy(text),
            Some(ErrorCode::DatabaseCorrupt) => Self::Damaged(text),
            Some(ErrorCode::NotADatabase) => Self::NotADatabase,
            Some(
                ErrorCode::SystemIoFailure
                | ErrorCode::CannotOpen
                | ErrorCode::OutOfMemory
                | ErrorCode::FileLockingProtocolFailed
                | ErrorCode::NoLargeFileSupport,
            ) => Self::Io(text),
            _ => Self::Defect(text),
        }
    }
}

impl From<std::io::Error> for StoreError {
    fn from(error: std::io::Error) -> Self {
        use std::io::ErrorKind;
        let text = error.to_string();
        match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Self::Full(text),
            ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied => Self::ReadOnly(text),
            _ => Self::Io(text),
        }
    }
}

/// An error of one operation that may have been caused by the store.
pub(crate) trait Failure: From<StoreError> + Send {
    fn store(&self) -> Option<&StoreError>;
}

/// For error enums with a `Store(StoreError)` variant.
macro_rules! failure {
    ($($error:ty),+) => {$(
        impl $crate::store_error::Failure for $error {
            fn store(&self) -> Option<&$crate::store_error::StoreError> {
                match self { Self::Store(cause) => Some(cause), _ => None }
            }
        }
        impl From<rusqlite::Error> for $error {
            fn from(error: rusqlite::Error) -> Self { Self::Store(error.into()) }
        }
    )+};
}
pub(crate) use failure;

impl Failure for StoreError {
    fn store(&self) -> Option<&StoreError> {
        Some(self)
    }
}
