//! Scans that found nothing although filters let them pass: places where a look into a file may pay.

use std::collections::VecDeque;
use std::ops::Bound;
use std::sync::Mutex;

use crate::learned_gaps::file_tag::FileTag;

/// Most files of one hint; the scan's others are left for the next one.
pub const MAX_FILES: usize = 16;
/// Longest bound that is kept.
const MAX_BOUND_BYTES: usize = 256;

/// A scan without a row, and the files whose filters let it pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hint {
    /// Lower bound of the scan.
    pub lo: Bound<Vec<u8>>,
    /// Upper bound of the scan.
    pub hi: Bound<Vec<u8>>,
    /// Numbers of the files, see [`FileGaps::number`](crate::FileGaps::number).
    pub files: Vec<u64>,
    /// Tags of the files, where the adapter keeps no numbers.
    pub tags: Vec<FileTag>,
}

impl Hint {
    /// Bytes of memory a hint takes at most.
    pub(super) const MAX_BYTES: usize =
        size_of::<Self>() + 2 * MAX_BOUND_BYTES + MAX_FILES * size_of::<FileTag>();

    /// The bounds, borrowed.
    pub fn bounds(&self) -> (Bound<&[u8]>, Bound<&[u8]>) {
        (self.lo.as_ref().map(Vec::as_slice), self.hi.as_ref().map(Vec::as_slice))
    }
}

/// A bounded queue that never makes a scan wait: what does not fit, or comes at the wrong moment, is dropped.
#[derive(Debug)]
pub(super) struct HintQueue {
    hints: Mutex<VecDeque<Hint>>,
    max: usize,
}

impl HintQueue {
    pub(super) fn new(max: usize) -> Self {
        Self { hints: Mutex::new(VecDeque::new()), max }
    }

    /// Whether the hint was taken. One of `files` and `tags` is empty.
    pub(super) fn push(&self, lo: Bound<&[u8]>, hi: Bound<&[u8]>, files: &[u64], tags: &[FileTag]) -> bool {
        if files.len() + tags.len() == 0 || is_long(lo) || is_long(hi) {
            return false;
        }
        let Ok(mut hints) = self.hints.try_lock() else { return false };
        if hints.len() >= self.max {
            return false;
        }
        let files = files[..files.len().min(MAX_FILES)].to_vec();
        let tags = tags[..tags.len().min(MAX_FILES)].to_vec();
        hints.push_back(Hint { lo: lo.map(<[u8]>::to_vec), hi: hi.map(<[u8]>::to_vec), files, tags });
        true
    }

    pub(super) fn pop(&self) -> Option<Hint> {
        self.hints.lock().unwrap_or_else(std::sync::PoisonError::into_inner).pop_front()
    }

    pub(super) fn len(&self) -> usize {
        self.hints.lock().unwrap_or_else(std::sync::PoisonError::into_inner).len()
    }
}

fn is_long(bound: Bound<&[u8]>) -> bool {
    match bound {
        Bound::Included(bytes) | Bound::Excluded(bytes) => bytes.len() > MAX_BOUND_BYTES,
        Bound::Unbounded => false,
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Bound::{Excluded, Included, Unbounded};

    use super::*;

    #[test]
    fn a_full_queue_drops_hints() {
        let queue = HintQueue::new(2);
        let push = |key: &[u8]| queue.push(Included(key), Excluded(b"z"), &[7], &[]);
        assert_eq!((push(b"a"), push(b"b"), push(b"c")), (true, true, false));
        let first = queue.pop().expect("two are there");
        assert_eq!(
            first,
            Hint { lo: Included(b"a".to_vec()), hi: Excluded(b"z".to_vec()), files: vec![7], tags: vec![] }
        );
        assert!(push(b"d"));
    }

    #[test]
    fn hints_without_files_and_with_long_bounds_are_dropped() {
        let queue = HintQueue::new(9);
        assert!(!queue.push(Unbounded, Unbounded, &[], &[]));
        assert!(!queue.push(Included(&[b'x'; MAX_BOUND_BYTES + 1]), Unbounded, &[1], &[]));
        assert!(queue.push(Included(&[b'x'; MAX_BOUND_BYTES]), Unbounded, &[1; 100], &[]));
        assert_eq!(queue.pop().map(|hint| hint.files.len()), Some(MAX_FILES));
        assert!(queue.push(Unbounded, Unbounded, &[], &[FileTag([1; 16]); 100]));
        assert_eq!(queue.pop().map(|hint| hint.tags.len()), Some(MAX_FILES));
    }
}
