//! A filter as bytes, taken in pieces between which it is written.
//!
//! A program that holds the lock of a node takes a piece in some hundred microseconds; a filter of 20 million keys has a hundred of them. All parts
//! are finished in the same moment, so that the bytes are those of one state: a key that a write takes from the dead is among the
//! keys, too.

use lacuna_families::{MarkCopy, TableCopy};

use crate::margins::MARGIN;
use crate::presence::NodeFilter;
use crate::wire::Writer;

/// Bytes of a mark in a filter.
const MARK_BYTES: usize = 32;

/// A copy that is under way, or whole.
#[derive(Debug)]
pub(crate) struct FilterCopy {
    any: Option<TableCopy>,
    dead: MarkCopy,
    margins: MarkCopy,
}

impl NodeFilter {
    /// Begins a copy. One at a time: another one takes its place.
    pub(crate) fn begin_copy(&mut self) -> FilterCopy {
        let any = self.any.as_mut().map(|any| any.begin_copy(0));
        FilterCopy { any, dead: self.dead.begin_copy(), margins: self.margins.begin_copy() }
    }

    /// Takes the next piece, of about `bytes` bytes; `true` if the copy is whole: it is the filter of this moment.
    pub(crate) fn copy_more(&mut self, copy: &mut FilterCopy, bytes: usize) -> bool {
        let is_any_there = match (&mut self.any, &mut copy.any) {
            (Some(any), Some(copy)) => any.copy_more(copy, bytes),
            (None, None) => true,
            // Another filter stands in its place since.
            _ => {
                *copy = self.begin_copy();
                false
            }
        };
        let is_whole = is_any_there
            && self.dead.copy_more(&mut copy.dead, bytes / MARK_BYTES)
            && self.margins.copy_more(&mut copy.margins, bytes / MARK_BYTES);
        if is_whole {
            if let (Some(any), Some(copy)) = (&mut self.any, &mut copy.any) {
                any.finish_copy(copy);
            }
            self.dead.finish_copy(&mut copy.dead);
            self.margins.finish_copy(&mut copy.margins);
        }
        is_whole
    }
}

impl FilterCopy {
    /// The bytes of a whole copy, for [`NodeFilter::read_from`]. O(n), without the filter.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        let (dead, margins) = (self.dead.into_marks(), self.margins.into_marks());
        let mut writer = Writer::default();
        writer.number((dead.len() + margins.len()) as u64);
        let margins = margins.into_iter().map(|(mark, inner)| (mark, inner | MARGIN));
        for ((hash, check), number) in dead.into_iter().chain(margins) {
            [hash, check, number].into_iter().for_each(|word| writer.word(word));
        }
        writer.bytes_mut().extend(self.any.map(TableCopy::into_bytes).unwrap_or_default());
        writer.into_bytes()
    }
}
