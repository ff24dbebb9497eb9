//! The values in ascending order.

use super::layout::Layout;
use super::query::Slice;
use crate::arch::Scalar;

/// Iterates over the values of a sequence, ascending. Ends early if the bytes are damaged.
#[derive(Debug, Clone)]
pub struct Iter<'a> {
    layout: Layout,
    bytes: &'a [u8],
    slice: u64,
    index_in_slice: u64,
    count_in_slice: u64,
    left: u64,
}

impl Layout {
    /// The values in ascending order.
    pub fn iter<'a>(&self, bytes: &'a [u8]) -> Iter<'a> {
        let mut iter =
            Iter { layout: *self, bytes, slice: 0, index_in_slice: 0, count_in_slice: 0, left: self.len };
        iter.enter_slice();
        iter
    }
}

impl Iter<'_> {
    fn enter_slice(&mut self) {
        self.index_in_slice = 0;
        self.count_in_slice = match self.layout.slice(self.bytes, self.slice) {
            Slice::Light(record) => u64::from(record.count),
            Slice::Heavy(spill) => spill.count,
        };
    }
}

impl Iterator for Iter<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        if self.left == 0 {
            return None;
        }
        while self.index_in_slice == self.count_in_slice {
            self.slice += 1;
            if self.slice >= self.layout.slices {
                return None;
            }
            self.enter_slice();
        }
        let value = self.layout.value_in_slice(Scalar, self.bytes, self.slice, self.index_in_slice);
        self.index_in_slice += 1;
        self.left -= 1;
        value
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, usize::try_from(self.left).ok())
    }
}
