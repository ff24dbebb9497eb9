//! One writer at a time, whose changes readers notice.

use std::mem;
use std::sync::PoisonError;
use std::sync::atomic::{Ordering, fence};

use super::evict::Walk;
use super::table::CuckooTable;

impl CuckooTable {
    /// Runs a change while no reader trusts a "no".
    pub(crate) fn write<T>(&self, change: impl FnOnce(&mut Walk) -> T) -> T {
        let mut walk = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let version = self.version.load(Ordering::Relaxed);
        self.version.store(version | 1, Ordering::Relaxed);
        fence(Ordering::Release);
        let result = change(&mut walk);
        self.version.store(after(version), Ordering::Release);
        result
    }

    /// Whether a change broke off with a fingerprint on its way. The caller ensures that there is no writer.
    pub(crate) fn is_broken(&self) -> bool {
        self.version.load(Ordering::Relaxed) & 1 == 1
    }

    /// Runs a change by the only owner: there is no reader.
    pub(crate) fn write_mut<T>(&mut self, change: impl FnOnce(&Self, &mut Walk) -> T) -> T {
        let version = *self.version.get_mut();
        *self.version.get_mut() = version | 1;
        let mut walk = mem::take(self.writer.get_mut().unwrap_or_else(PoisonError::into_inner));
        let result = change(self, &mut walk);
        *self.writer.get_mut().unwrap_or_else(PoisonError::into_inner) = walk;
        *self.version.get_mut() = after(version);
        result
    }
}

/// The version after a change that began at `version`. A version that was odd stays odd for ever: a change before it
/// broke off with a fingerprint on its way, and whatever is not found is "maybe" from there on.
fn after(version: u64) -> u64 {
    if version & 1 == 0 { version.wrapping_add(2) } else { version }
}
