//! A table as bytes, taken in pieces between which it is written.
//!
//! A fingerprint that moves from a bucket that was not taken yet to one that was would be missed. So while a copy is under way the
//! table notes the buckets that change, and they are taken again before the copy is finished: what comes out are the bytes of the
//! moment of the last piece, as [`CuckooTable::write_to`] would write them then. A table of 25 MB is taken in 100 pieces of a quarter of
//! a megabyte, some tens of microseconds each; if a thousand buckets have changed meanwhile, the last piece takes these again.
//!
//! New buckets come after the others: a table may grow meanwhile.

use std::mem;
use std::sync::PoisonError;

use super::codec::{HEADER_BYTES, Header, STASHED_BYTES, put_bits, put_bucket};
use super::table::{CuckooTable, STASH};

/// Bytes that are taken in the time of one changed bucket, which may wait for memory.
const BYTES_A_BUCKET: usize = 64;

/// A copy of a [`CuckooTable`] that is under way, or whole.
#[derive(Debug)]
pub struct TableCopy {
    seed: u64,
    body: Vec<u8>,
    /// Segment and word that are next.
    segment: usize,
    word: usize,
}

impl TableCopy {
    /// The bytes, for [`CuckooTable::from_bytes`], once the copy is finished.
    pub fn into_bytes(self) -> Vec<u8> {
        self.body
    }
}

impl CuckooTable {
    /// Begins a copy; `seed` says how keys were hashed. One at a time: another one takes its place.
    pub fn begin_copy(&mut self, seed: u64) -> TableCopy {
        // Zeros are put there by and by: some millions of them take milliseconds.
        let mut body = Vec::with_capacity(Header::of(self, seed).body_bytes() + STASH * STASHED_BYTES);
        body.resize(HEADER_BYTES, 0);
        self.walk_mut().changed = Some(Vec::new());
        TableCopy { seed, body, segment: 0, word: 0 }
    }

    /// Takes the next piece of about `bytes` bytes; `true` if no other piece is missing, and no bucket that has changed, so that the copy
    /// can be [finished](Self::finish_copy). O(`bytes`).
    pub fn copy_more(&mut self, copy: &mut TableCopy, bytes: usize) -> bool {
        if self.walk_mut().changed.is_none() {
            *copy = self.begin_copy(copy.seed);
        }
        let mut left = (bytes / 8).max(1);
        while left > 0
            && let Some((segment, run)) = self.segments().nth(copy.segment)
        {
            let count = left.min(run.words() - copy.word);
            let part = run.part(copy.word, count);
            copy.body.resize(part.end() + 8, 0);
            put_bits(&mut copy.body, part, &segment[copy.word..copy.word + count]);
            left -= count;
            copy.word += count;
            if copy.word == run.words() {
                (copy.segment, copy.word) = (copy.segment + 1, 0);
            }
        }
        let is_through = copy.segment >= self.segments().count();
        is_through && self.copy_changed(copy, bytes / BYTES_A_BUCKET)
    }

    /// Finishes a copy for which the last [`copy_more`](Self::copy_more) was `true`, with nothing in between.
    ///
    /// # Panics
    /// If a change has panicked before: bytes have no way to say that what is not found may be there.
    pub fn finish_copy(&mut self, copy: &mut TableCopy) {
        assert!(!self.is_broken(), "a change of this table broke off, it may miss a fingerprint");
        self.copy_changed(copy, usize::MAX);
        self.walk_mut().changed = None;
        let header = Header::of(self, copy.seed);
        copy.body.resize(header.body_bytes(), 0);
        header.write(&mut copy.body);
        self.put_stash(&header, &mut copy.body);
    }

    /// Takes `count` buckets again that have changed; `true` if none is left.
    fn copy_changed(&mut self, copy: &mut TableCopy, count: usize) -> bool {
        let mut changed = mem::take(&mut self.walk_mut().changed).unwrap_or_default();
        let later = changed.split_off(changed.len().min(count.max(1)));
        for bucket in changed {
            put_bucket(&mut copy.body, self.shape, bucket.into(), self.read(bucket.into()));
        }
        let is_done = later.is_empty();
        self.walk_mut().changed = Some(later);
        is_done
    }

    fn walk_mut(&mut self) -> &mut super::evict::Walk {
        self.writer.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use lacuna_base::hash::IntegerHasher;

    use super::*;

    /// Some tens of pieces.
    const PIECE: usize = 1 << 14;

    fn hash(key: u64) -> u64 {
        IntegerHasher::new(3).hash(key)
    }

    fn insert(table: &mut CuckooTable, keys: impl Iterator<Item = u64>) {
        keys.for_each(|key| assert!(table.insert_mut(hash(key)).is_ok()));
    }

    fn bytes_of(table: &CuckooTable) -> Vec<u8> {
        let mut bytes = Vec::new();
        table.write_to(7, &mut bytes);
        bytes
    }

    /// A copy that is begun when `first` keys are there, while `during` more come, a few between two pieces.
    fn copied(bits: u32, capacity: u64, first: u64, during: u64) -> (CuckooTable, Vec<u8>) {
        let mut table = CuckooTable::new(capacity, bits);
        insert(&mut table, 0..first);
        let mut copy = table.begin_copy(7);
        let mut keys = first..first + during;
        while !table.copy_more(&mut copy, PIECE) || !keys.is_empty() {
            insert(&mut table, keys.by_ref().take(1_000));
        }
        table.finish_copy(&mut copy);
        (table, copy.into_bytes())
    }

    #[test]
    fn a_copy_has_the_bytes_of_its_last_moment() {
        for bits in [7, 8, 13, 16, 17, 32] {
            let (table, bytes) = copied(bits, 400_000, 300_000, 60_000);
            assert_eq!(table.buckets.load(Ordering::Relaxed), table.shape.base, "it did not grow");
            assert!(bytes == bytes_of(&table), "{bits} bits");
        }
    }

    #[test]
    fn a_table_that_grows_is_copied_as_it_is_then() {
        for bits in [9, 13, 20] {
            let (table, bytes) = copied(bits, 200_000, 190_000, 150_000);
            assert!(table.buckets.load(Ordering::Relaxed) > table.shape.base, "it grew");
            assert!(bytes == bytes_of(&table), "{bits} bits");
            let (read, _) = CuckooTable::from_bytes(&bytes).unwrap();
            assert!((0..340_000).all(|key| read.may_contain(hash(key))));
        }
    }

    /// The control: what is not taken again is missed.
    #[test]
    fn a_copy_without_its_changes_would_miss_keys() {
        let mut table = CuckooTable::new(400_000, 12);
        insert(&mut table, 0..380_000);
        let mut copy = table.begin_copy(7);
        let mut more = 380_000..;
        while copy.segment < table.segments().count() {
            table.copy_more(&mut copy, PIECE);
            insert(&mut table, more.by_ref().take(200));
            table.walk_mut().changed = Some(Vec::new());
        }
        table.finish_copy(&mut copy);
        let (read, _) = CuckooTable::from_bytes(&copy.into_bytes()).unwrap();
        assert!((0..380_000).any(|key| !read.may_contain(hash(key))), "moved keys are missed");
    }
}
