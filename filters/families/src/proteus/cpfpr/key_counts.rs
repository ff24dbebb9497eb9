//! How many prefixes of each length the keys have, from the bits that neighbours share.
//!
//! Of ascending keys, each one that shares fewer than b bits with its predecessor starts a new prefix of b bits, so one
//! pass that notes the shared bits counts all lengths at once.

use lacuna_base::hash::{IntegerHasher, reduce};

use crate::proteus::prefix_key::{PrefixKey, PrefixKeys};

/// Keys of a chunk: eight cache lines of integers, which the processor fetches ahead.
const CHUNK: usize = 64;

/// The number of prefixes of each length from 0 to the longest key's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeyCounts {
    distinct: Vec<u64>,
    lone: Vec<u64>,
}

impl KeyCounts {
    /// Counts the prefixes of `keys`, up to `longest` bits; over more than twice `looked_at` keys, estimates them from
    /// about that many.
    pub(crate) fn of(keys: &(impl PrefixKeys + ?Sized), longest: u32, looked_at: usize) -> Self {
        let mut shared =
            Histogram { starts: vec![0; longest as usize + 1], lone: vec![0; longest as usize + 1] };
        if keys.len() <= 2 * looked_at.max(CHUNK) {
            shared.note(keys, 0..keys.len());
            return shared.into_counts(1, 1, keys.len() as u64);
        }
        let chunks = (looked_at / CHUNK).max(1);
        let stride = keys.len() / chunks;
        let hasher = IntegerHasher::new(0);
        for chunk in 0..chunks {
            // A different place in each stride, so that periodic keys do not bias the sample.
            let jitter = reduce(hasher.hash(chunk as u64), (stride - CHUNK) as u64);
            let start = chunk * stride + usize::try_from(jitter).expect("below the stride");
            shared.note(keys, start..start + CHUNK);
        }
        shared.into_counts(keys.len() as u64, (chunks * CHUNK) as u64, keys.len() as u64)
    }

    /// Distinct prefixes of `bits` bits.
    pub(crate) fn distinct(&self, bits: u32) -> u64 {
        self.distinct[(bits as usize).min(self.distinct.len() - 1)]
    }

    /// Prefixes of `bits` bits that belong to one key alone.
    pub(crate) fn lone(&self, bits: u32) -> u64 {
        self.lone[(bits as usize).min(self.lone.len() - 1)]
    }
}

/// Keys by the bits they share with their predecessor, and by those they share with either neighbour.
struct Histogram {
    starts: Vec<u64>,
    lone: Vec<u64>,
}

impl Histogram {
    fn note(&mut self, keys: &(impl PrefixKeys + ?Sized), places: std::ops::Range<usize>) {
        let max = self.starts.len() - 1;
        let shared = |a: usize, b: usize| (keys.key(a).shared_bits(keys.key(b)) as usize).min(max);
        let mut before = places.start.checked_sub(1).map(|place| shared(place, places.start));
        let inner = places.start..places.end.min(keys.len().saturating_sub(1));
        for place in inner.clone() {
            let after = shared(place, place + 1);
            self.add(before, after);
            before = Some(after);
        }
        // The last of all keys has none after it; a key that is alone in the set is so from its first bit on.
        if inner.end < places.end {
            match before {
                Some(before) => self.add(Some(before), 0),
                None => self.lone[0] += 1,
            }
        }
    }

    /// Adds a key that shares this many bits with the keys next to it.
    #[inline(always)]
    fn add(&mut self, before: Option<usize>, after: usize) {
        if let Some(before) = before {
            self.starts[before] += 1;
        }
        self.lone[before.unwrap_or(0).max(after)] += 1;
    }

    /// The counts, scaled by `of / seen`.
    fn into_counts(self, of: u64, seen: u64, len: u64) -> KeyCounts {
        let scale = |count: u64| {
            let scaled = u128::from(count) * u128::from(of) / u128::from(seen.max(1));
            u64::try_from(scaled).unwrap_or(u64::MAX).min(len)
        };
        // Prefixes of b bits start at the keys that share fewer than b with their predecessor, and at the first one.
        let running = |histogram: &[u64], first: u64| {
            let mut sum = 0;
            let mut counts = vec![first.min(len)];
            for count in &histogram[..histogram.len() - 1] {
                sum += count;
                counts.push((scale(sum) + first).min(len));
            }
            counts
        };
        let (distinct, lone) = (running(&self.starts, 1), running(&self.lone, 0));
        let lone = lone.iter().zip(&distinct).map(|(lone, distinct)| *lone.min(distinct)).collect();
        KeyCounts { distinct, lone }
    }
}
