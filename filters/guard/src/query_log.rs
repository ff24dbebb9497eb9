//! The sample queue of one guarded database, with the key space erased.

use std::ops::Bound;
use std::sync::Arc;

use lacuna_base::{Cover, KeyCodec, Result, Sample};

use crate::codec::GuardCodec;
use crate::sample_bytes::{SampleKey, sample_from_bytes, sample_to_bytes};
use crate::sample_queue::SampleQueue;

/// Recent scans that returned nothing, as the engine's bounds, kept as queries of the codec's key space.
///
/// ```
/// use lacuna_guard::{GuardCodec, QueryLog};
/// use std::ops::Bound::{Excluded, Included};
///
/// let codec = GuardCodec::parse("fixed_be:2")?;
/// let log = QueryLog::with_capacity(&codec, 100, 1);
/// log.record(Included(&[0, 5]), Excluded(&[0, 9]));
/// let twin = QueryLog::new(&codec);
/// assert_eq!(twin.seed_from_bytes(&log.to_bytes())?, 1);
/// assert_eq!(twin.len(), 1);
/// # Ok::<(), lacuna_base::Error>(())
/// ```
#[derive(Debug)]
pub struct QueryLog {
    codec: GuardCodec,
    queue: Queue,
}

#[derive(Debug)]
enum Queue {
    Integers(SampleQueue<u64>),
    Strings(SampleQueue<[u8]>),
}

impl QueryLog {
    /// A log of 20,000 queries, one in 100 taken.
    pub fn new(codec: &GuardCodec) -> Self {
        Self::with_capacity(codec, SampleQueue::<u64>::CAPACITY, SampleQueue::<u64>::EVERY)
    }

    /// A log of `capacity` queries, one in `every` taken; zero counts as one.
    pub fn with_capacity(codec: &GuardCodec, capacity: usize, every: u64) -> Self {
        let queue = match codec {
            GuardCodec::Integers { .. } => Queue::Integers(SampleQueue::with_capacity(capacity, every)),
            GuardCodec::Strings { .. } => Queue::Strings(SampleQueue::with_capacity(capacity, every)),
        };
        Self { codec: codec.clone(), queue }
    }

    /// Notes a scan between two bounds that returned nothing, if it is its turn. Bounds that the codec does not cover,
    /// or that have no upper end, teach a designer nothing and are left out, as are bounds of more than 1 KiB.
    pub fn record(&self, lo: Bound<&[u8]>, hi: Bound<&[u8]>) {
        match (&self.queue, &self.codec) {
            (Queue::Integers(queue), GuardCodec::Integers { codec, .. }) => record(queue, &**codec, lo, hi),
            (Queue::Strings(queue), GuardCodec::Strings { codec }) => record(queue, &**codec, lo, hi),
            _ => unreachable!("the queue was made for this codec"),
        }
    }

    /// The log as bytes, see [`docs/format/sample.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/format/sample.md).
    pub fn to_bytes(&self) -> Vec<u8> {
        match &self.queue {
            Queue::Integers(queue) => sample_to_bytes(&queue.snapshot(), &self.codec),
            Queue::Strings(queue) => sample_to_bytes(&queue.snapshot(), &self.codec),
        }
    }

    /// Puts the queries of another log's bytes into this one and returns how many there were.
    ///
    /// # Errors
    /// `Unsupported` for a newer version, another key space or another codec; `Corrupt` for every flipped bit, cut and
    /// inverted query.
    pub fn seed_from_bytes(&self, bytes: &[u8]) -> Result<usize> {
        match &self.queue {
            Queue::Integers(queue) => {
                sample_from_bytes(bytes, &self.codec).map(|sample| seed(queue, &sample))
            }
            Queue::Strings(queue) => sample_from_bytes(bytes, &self.codec).map(|sample| seed(queue, &sample)),
        }
    }

    /// Number of queries held.
    pub fn len(&self) -> usize {
        match &self.queue {
            Queue::Integers(queue) => queue.len(),
            Queue::Strings(queue) => queue.len(),
        }
    }

    /// Whether no query is held.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The sample for a filter over integers; empty if the codec leads elsewhere.
    pub(crate) fn integers(&self) -> Arc<Sample<u64>> {
        match &self.queue {
            Queue::Integers(queue) => Arc::new(queue.snapshot()),
            Queue::Strings(_) => Arc::default(),
        }
    }

    /// The sample for a filter over byte strings; empty if the codec leads elsewhere.
    pub(crate) fn strings(&self) -> Arc<Sample<[u8]>> {
        match &self.queue {
            Queue::Strings(queue) => Arc::new(queue.snapshot()),
            Queue::Integers(_) => Arc::default(),
        }
    }
}

fn record<'a, K: SampleKey + ?Sized>(
    queue: &SampleQueue<K>,
    codec: &dyn KeyCodec<K>,
    lo: Bound<&'a [u8]>,
    hi: Bound<&'a [u8]>,
) {
    if queue.takes_next()
        && hi != Bound::Unbounded
        && let Cover::Range(range) = codec.cover(lo, hi)
    {
        queue.take(range);
    }
}

fn seed<K: SampleKey + ?Sized>(queue: &SampleQueue<K>, sample: &Sample<K>) -> usize {
    queue.seed(sample);
    sample.len()
}

#[cfg(test)]
mod tests {
    use std::ops::Bound::{Excluded, Included, Unbounded};

    use super::*;

    #[test]
    fn bounds_become_queries_of_the_key_space() {
        let log = QueryLog::with_capacity(&GuardCodec::parse("fixed_be:2").unwrap(), 10, 1);
        log.record(Excluded(&[0, 1]), Excluded(&[0, 4]));
        log.record(Included(&[9]), Excluded(&[10]));
        log.record(Included(&[9]), Unbounded);
        log.record(Included(&[2]), Included(&[1]));
        let sample = log.integers();
        assert_eq!(sample.iter().collect::<Vec<_>>(), [(2, 3), (0x900, 0x9FF)]);
        assert!(log.strings().is_empty());
    }

    #[test]
    fn bounds_without_a_cover_are_left_out() {
        let log = QueryLog::with_capacity(&GuardCodec::parse("composite:2,2").unwrap(), 10, 1);
        log.record(Included(b"aa"), Included(b"zz"));
        log.record(Included(b"aa\0\x01"), Included(b"aa\0\x05"));
        assert_eq!(log.len(), 1);
    }

    #[test]
    fn ends_of_any_length_take_no_memory() {
        let codec = GuardCodec::bytes();
        let log = QueryLog::with_capacity(&codec, 10, 1);
        let (long, longest) = (vec![b'x'; 1 << 20], vec![b'x'; 1 << 10]);
        log.record(Included(b"a"), Included(&long));
        log.record(Included(&long), Included(b"y"));
        assert_eq!(log.len(), 0);
        log.record(Included(b"a"), Included(&longest));
        assert_eq!(log.len(), 1);
        let mut sample = Sample::<[u8]>::new();
        sample.push(&b"a"[..], long.as_slice());
        assert_eq!(log.seed_from_bytes(&sample_to_bytes(&sample, &codec)).unwrap(), 1);
        assert_eq!(log.len(), 1, "a sample from elsewhere is held to the same bound");
    }
}
