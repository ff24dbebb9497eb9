//! The table: fingerprints in packed buckets, written by one at a time, read by any number without a lock.
//!
//! A moving fingerprint has no place for a moment. So a writer makes `version` odd while it moves anything; a reader
//! that found nothing and met a writer asks again, a few times, and then says "maybe". What a reader did find needs no
//! second look. (Boehm, "Can seqlocks get along with programming language memory models?", MSPC 2012, section 4.)

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering, fence};
use std::sync::{Mutex, OnceLock};

use lacuna_base::Result;

use super::evict::Walk;
use super::packed_slots::{Bits, Fields};
use super::shape::{SLOTS, Shape};
use super::spot::{index, list_of};

/// Fingerprints that may wait outside of the buckets.
pub(crate) const STASH: usize = 8;
/// How often a reader that met a writer asks again.
const ATTEMPTS: usize = 8;
/// Share of the slots that a table is filled to, in percent.
pub(crate) const LOAD_PERCENT: u64 = 95;
/// Words after a segment, so that a bucket is read without a look at its end.
const PADDING: u64 = 2;
/// Fewest buckets of a table that grows.
const MIN_BUCKETS: u64 = 64;

/// Most buckets of a later segment, as a power of two: to add one halves as many others, each of which may wait for memory.
const MAX_SEGMENT_LOG2: u32 = 13;

/// Lists of later segments: enough for the last bucket there can be.
pub(crate) const DOUBLINGS: usize = 17;

/// Buckets that were allocated together.
pub(crate) type Segment = Box<[AtomicU64]>;

/// A cuckoo table of 64-bit hashes: "this hash may be there" or "it is not".
///
/// ```
/// use lacuna_base::hash::IntegerHasher;
/// use lacuna_families::CuckooTable;
///
/// let (table, hasher) = (CuckooTable::for_rate(1_000, 0.01), IntegerHasher::new(7));
/// for key in 0..5_000 {
///     table.insert(hasher.hash(key))?; // grows beyond its 1,000, without the keys
/// }
/// assert!((0..5_000).all(|key| table.may_contain(hasher.hash(key))));
/// assert!((5_000..6_000).filter(|&key| table.may_contain(hasher.hash(key))).count() < 100);
/// # Ok::<(), lacuna_base::Error>(())
/// ```
#[derive(Debug)]
pub struct CuckooTable {
    pub(crate) shape: Shape,
    pub(crate) fields: Fields,
    /// Buckets of a later segment, as a power of two.
    pub(crate) segment_log2: u32,
    pub(crate) base: Segment,
    /// Lists of 8, 16, 32, ... segments.
    pub(crate) later: [OnceLock<Box<[OnceLock<Segment>]>>; DOUBLINGS],
    pub(crate) buckets: AtomicU64,
    pub(crate) stored: AtomicU64,
    /// Fingerprints without a place: class times 2^32 plus fingerprint.
    pub(crate) stash: [AtomicU64; STASH],
    pub(crate) stash_len: AtomicUsize,
    /// Odd while a writer moves fingerprints.
    pub(super) version: AtomicU64,
    pub(super) writer: Mutex<Walk>,
    pub(crate) grows: bool,
}

impl CuckooTable {
    /// A table for `capacity` keys with fingerprints of `fingerprint_bits` (4 to 32); it grows beyond, up to 64 times.
    ///
    /// # Panics
    /// If the table would have 2^32 buckets or more.
    pub fn new(capacity: u64, fingerprint_bits: u32) -> Self {
        let base = buckets_for(capacity).max(MIN_BUCKETS);
        Self::with_shape(Shape::new(fingerprint_bits, base), true)
    }

    /// A table for `capacity` keys whose rate, when they are there, is at most `rate`.
    pub fn for_rate(capacity: u64, rate: f64) -> Self {
        let enough = |bits: &u32| {
            let base = buckets_for(capacity).max(MIN_BUCKETS);
            Shape::new(*bits, base).rate(capacity as f64) <= rate
        };
        let bits = (Shape::MIN_BITS..Shape::MAX_BITS).find(enough).unwrap_or(Shape::MAX_BITS);
        Self::new(capacity, bits)
    }

    /// Keeps the number of buckets: once they are full, [`insert`](Self::insert) fails.
    #[must_use]
    pub fn without_growth(mut self) -> Self {
        self.grows = false;
        self
    }

    pub(crate) fn with_shape(shape: Shape, grows: bool) -> Self {
        assert!(shape.base < 1 << 32, "a table has fewer than 2^32 buckets");
        let segment_log2 = (shape.base / 8).max(1).ilog2().min(MAX_SEGMENT_LOG2);
        Self {
            shape,
            fields: Fields::new(shape),
            segment_log2,
            base: segment(shape, shape.base),
            later: Default::default(),
            buckets: AtomicU64::new(shape.base),
            stored: AtomicU64::new(0),
            stash: Default::default(),
            stash_len: AtomicUsize::new(0),
            version: AtomicU64::new(0),
            writer: Mutex::new(Walk::default()),
            grows,
        }
    }

    /// Whether a key with this hash may be there; `false` proves that none is.
    #[inline]
    pub fn may_contain(&self, hash: u64) -> bool {
        let (class, fingerprint) = (self.shape.class(hash), self.shape.fingerprint(hash));
        for _ in 0..ATTEMPTS {
            let before = self.version.load(Ordering::Acquire);
            if self.holds(class, fingerprint) {
                return true;
            }
            fence(Ordering::Acquire);
            if before & 1 == 0 && self.version.load(Ordering::Relaxed) == before {
                return false;
            }
            std::hint::spin_loop();
        }
        true
    }

    /// Adds one more of `hash`, even if it or a twin is there, to be [taken](Self::take) later. A table is filled either by
    /// this or by [`insert`](Self::insert).
    ///
    /// # Errors
    /// As [`insert`](Self::insert); more than 8 twins count against the stash.
    pub fn add(&self, hash: u64) -> Result<()> {
        self.write(|walk| self.put(walk, self.shape.class(hash), self.shape.fingerprint(hash)))
    }

    /// Takes out one of `hash`: `false` if none is there. Twins added beside it are still found. The caller promises
    /// that this hash was [added](Self::add) more often than taken.
    pub fn take(&self, hash: u64) -> bool {
        self.write(|walk| {
            let (class, fingerprint) = (self.shape.class(hash), self.shape.fingerprint(hash));
            let other = self.shape.other_class(class, fingerprint);
            let taken = self.take_from_stash([class, other], fingerprint)
                || self.clear(walk, class, fingerprint)
                || self.clear(walk, other, fingerprint);
            self.stored.store(self.stored() - u64::from(taken), Ordering::Relaxed);
            taken
        })
    }

    /// Frees a slot that holds `fingerprint` in its bucket of `class`; `false` if there is none.
    fn clear(&self, walk: &mut Walk, class: u64, fingerprint: u64) -> bool {
        let bucket = self.bucket(class, fingerprint);
        let fields = self.read(bucket).fields_of(self.fields, fingerprint);
        if fields > 0 {
            walk.note(bucket);
            self.spot(bucket).turn(fields.first(self.fields), fingerprint);
        }
        fields > 0
    }

    /// What the table knows a hash by: two with the same name are twins; it cannot hold one and deny the other, however
    /// it grows.
    pub fn twin_name(&self, hash: u64) -> u64 {
        let (class, fingerprint) = (self.shape.class(hash), self.shape.fingerprint(hash));
        class.min(self.shape.other_class(class, fingerprint)) << 32 | fingerprint
    }

    /// Number of fingerprints stored.
    pub fn stored(&self) -> u64 {
        self.stored.load(Ordering::Relaxed)
    }

    /// Fingerprints that fit before the table grows.
    pub(crate) fn capacity(&self) -> u64 {
        self.buckets.load(Ordering::Relaxed) * SLOTS * LOAD_PERCENT / 100
    }

    /// Fingerprints that fitted before it grew for the first time. Grown beyond, its rate has grown as much.
    pub fn first_capacity(&self) -> u64 {
        self.shape.base * SLOTS * LOAD_PERCENT / 100
    }

    /// Bits of a fingerprint.
    pub fn fingerprint_bits(&self) -> u32 {
        self.shape.fingerprint_bits
    }

    /// Expected share of absent keys for which the answer is "maybe", as full as the table is now.
    pub fn rate(&self) -> f64 {
        self.shape.rate(self.stored() as f64)
    }

    /// Bytes of memory, buckets not yet filled included.
    pub fn memory_bytes(&self) -> usize {
        let segments = (self.buckets.load(Ordering::Relaxed) - self.shape.base) >> self.segment_log2;
        let places = segments.checked_sub(1).map_or(0, |last| 8 * ((2 << list_of(last).0) - 1));
        let words = segments * words_of(self.shape, 1 << self.segment_log2);
        size_of::<Self>() + places * size_of::<OnceLock<Segment>>() + 8 * (index(words) + self.base.len())
    }

    #[inline(always)]
    fn holds(&self, class: u64, fingerprint: u64) -> bool {
        let classes = [class, self.shape.other_class(class, fingerprint)];
        let found = if self.fields.is_narrow() {
            self.holds_as::<u64>(classes, fingerprint)
        } else {
            self.holds_as::<u128>(classes, fingerprint)
        };
        found || self.waits(classes, fingerprint)
    }

    #[inline(always)]
    fn holds_as<B: Bits>(&self, classes: [u64; 2], fingerprint: u64) -> bool {
        let first = B::read(self.spot(self.bucket(classes[0], fingerprint)));
        let second = B::read(self.spot(self.bucket(classes[1], fingerprint)));
        first.holds(self.fields, fingerprint) | second.holds(self.fields, fingerprint)
    }

    /// The bucket of a fingerprint of `class`, as far as the table has grown.
    #[inline(always)]
    pub(crate) fn bucket(&self, class: u64, fingerprint: u64) -> u64 {
        self.shape.bucket(class, fingerprint, self.buckets.load(Ordering::Acquire))
    }
}

/// Buckets for `capacity` keys at the load that a table is filled to.
pub(crate) fn buckets_for(capacity: u64) -> u64 {
    capacity.saturating_mul(100).div_ceil(SLOTS * LOAD_PERCENT).max(1)
}

/// A segment of `buckets` free buckets.
pub(crate) fn segment(shape: Shape, buckets: u64) -> Segment {
    (0..words_of(shape, buckets)).map(|_| AtomicU64::new(0)).collect()
}

/// Words of a segment of `buckets` buckets.
fn words_of(shape: Shape, buckets: u64) -> u64 {
    (buckets * shape.bucket_bits()).div_ceil(64) + PADDING
}
