//! How many sessions of a project are judged at once: each takes a seat, which is a locked file. The kernel gives it
//! back when the process ends, however it ends. More than there are seats would be a hook that fires itself.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;

pub const SEATS: usize = 3;

/// Held as long as this lives.
pub struct HookSeat {
    _file: File,
}

/// A free seat in this store, or none.
pub fn take(store: &Path) -> Result<Option<HookSeat>, String> {
    for number in 1..=SEATS {
        let path = store.join(format!("stop-hook-{number}.lock"));
        let failed = |e: std::io::Error| format!("{} cannot be locked: {e}", path.display());
        let file = OpenOptions::new().create(true).append(true).open(&path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => return Ok(Some(HookSeat { _file: file })),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(e)) => return Err(failed(e)),
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_so_many_seats_and_one_that_is_left_is_free_again() {
        let store = tempfile::tempdir().unwrap();
        let mut taken: Vec<HookSeat> = (0..SEATS).map(|_| take(store.path()).unwrap().unwrap()).collect();
        assert!(take(store.path()).unwrap().is_none());
        taken.pop();
        assert!(take(store.path()).unwrap().is_some());
    }
}
