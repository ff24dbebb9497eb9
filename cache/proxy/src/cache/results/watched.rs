//! Replies that would be shown, while the server is asked for its own.
//!
//! The server's reply may be compared with an entry only if no write could have been committed between the moment at which the
//! entry would have been shown and the server's snapshot. A hold that overlaps the entry's intervals, and all that drops
//! entries, ends the *watch* over it. A watch that lasted until the server's reply was there says: at both moments the rows
//! were the same, if every write was held. So a difference is a broken promise, and never a race.

use std::sync::Arc;

use super::{ColumnId, Results, Spans};

/// A watch over an entry, by its number.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Watched(u64);

/// What would be shown now.
#[derive(Debug)]
pub(crate) struct WouldBe {
    pub(crate) reply: Arc<[u8]>,
    pub(crate) column: ColumnId,
    pub(crate) spans: Spans,
    pub(crate) watched: Watched,
}

impl Results {
    /// As [`Results::get`], with a watch that begins at the same moment. Call it before the read is sent.
    pub(crate) fn watch(&self, key: &[u8]) -> Option<WouldBe> {
        let mut state = self.lock();
        if !state.is_open(self.now_ms()) {
            return None;
        }
        let entry = state.entries.get(key)?;
        let (reply, column, spans) = (entry.reply.clone(), entry.column, entry.spans.clone());
        let number = state.number();
        state.watched.insert(number, (column, spans.clone()));
        Some(WouldBe { reply, column, spans, watched: Watched(number) })
    }

    /// Ends a watch once the server's reply is there; whether nothing has touched the entry's intervals meanwhile.
    pub(crate) fn was_untouched(&self, watched: &Watched) -> bool {
        let mut state = self.lock();
        state.watched.remove(&watched.0).is_some() && state.is_open(self.now_ms())
    }
}
