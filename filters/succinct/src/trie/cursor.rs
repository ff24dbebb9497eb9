//! A cursor over the keys, forwards and backwards, with one place for each level of the present key.

use super::cursor_walk::{Go, LeafOf, Move, Trace};
use super::trie::Trie;
use crate::arch::dispatch;

/// A place in the order of the keys; made by [`Trie::cursor`].
///
/// It stands on a key, or on none: before its first move, and once it has left either end.
///
/// ```
/// use lacuna_succinct::trie::{Builder, Plan, Trie};
///
/// let mut builder = Builder::new(Plan::default());
/// for key in ["s", "sun", "top"] {
///     builder.add(key.as_bytes(), 0)?;
/// }
/// let trie = Trie::open(builder.finish())?;
/// let mut cursor = trie.cursor();
/// cursor.seek(b"sum");
/// assert_eq!(cursor.key(), Some(&b"sun"[..]));
/// cursor.step_back();
/// assert_eq!(cursor.key(), Some(&b"s"[..]));
/// cursor.step_back();
/// assert_eq!(cursor.key(), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Cursor<'t, B> {
    trie: &'t Trie<B>,
    trace: Trace,
}

impl<'t, B: AsRef<[u8]>> Cursor<'t, B> {
    pub(super) fn new(trie: &'t Trie<B>) -> Self {
        Self { trie, trace: Trace::default() }
    }

    /// The present key.
    pub fn key(&self) -> Option<&[u8]> {
        if self.trace.steps.is_empty() { None } else { Some(&self.trace.key) }
    }

    /// The place of the present key among all values.
    pub(crate) fn leaf(&self) -> Option<u64> {
        let step = self.trace.steps.last()?;
        let (layout, bytes) = (self.trie.layout(), self.trie.as_bytes());
        Some(dispatch(LeafOf { layout, bytes, step: *step }))
    }

    /// The value of the present key; 0 in a trie without values.
    pub fn value(&self) -> Option<u64> {
        Some(self.trie.layout().value(self.trie.as_bytes(), self.leaf()?))
    }

    /// Goes to the smallest key.
    pub fn seek_first(&mut self) {
        self.go(Move::First);
    }

    /// Goes to the largest key.
    pub fn seek_last(&mut self) {
        self.go(Move::Last);
    }

    /// Goes to the smallest key at or above `key`.
    pub fn seek(&mut self, key: &[u8]) {
        self.go(Move::Seek(key));
    }

    /// Goes to the largest key at or below `key`.
    pub fn seek_back(&mut self, key: &[u8]) {
        self.go(Move::SeekBack(key));
    }

    /// Goes to the next larger key.
    pub fn step(&mut self) {
        self.go(Move::Step);
    }

    /// Goes to the next smaller key.
    pub fn step_back(&mut self) {
        self.go(Move::StepBack);
    }

    fn go(&mut self, to: Move<'_>) {
        let (layout, bytes) = (self.trie.layout(), self.trie.as_bytes());
        dispatch(Go { layout, bytes, trace: &mut self.trace, to });
    }
}
