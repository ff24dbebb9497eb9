//! Bytes, writing and asking: [`docs/format/two_prefix_bloom.md`](https://github.com/lacuna-db/lacuna/blob/main/docs/format/two_prefix_bloom.md).

use lacuna_base::hash::IntegerHasher;
use lacuna_base::testing::cross;
use lacuna_base::{Envelope, Error, Result};
use lacuna_succinct::arch::Isa;

use crate::bloom::{Bloom, BloomSpec, write_standard};
use crate::integer::{IntegerBody, asks_in_groups};
use crate::points::PointBody;

/// Newest version of the body, and the one written.
pub(crate) const VERSION: u16 = 1;
/// Bytes before the first filter.
pub(crate) const HEADER_BYTES: usize = 16;
/// Bytes of a Bloom filter before its bits.
pub(crate) const BLOOM_HEADER_BYTES: usize = 16;
/// Bytes that two filters of one byte of bits take, with everything before them.
pub(crate) const MIN_BYTES: usize = HEADER_BYTES + 2 * (BLOOM_HEADER_BYTES + 1);
/// Stands for short prefixes that leave out everything: there are none.
const NO_SHORT: u8 = 64;
/// Most prefixes of either length that a query may be allowed to ask for: as good as no bound.
pub(crate) const MAX_PROBES: u32 = 1 << 24;

/// Lengths, share and bound of a body to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cut {
    /// Low bits that short prefixes leave out; `None` without them.
    pub(crate) short: Option<u32>,
    /// Low bits that long prefixes leave out.
    pub(crate) long: u32,
    /// Percent of the bytes for the short prefixes.
    pub(crate) share: u32,
    /// Most prefixes of either length that a query asks for.
    pub(crate) probes: u32,
}

/// Bytes of both filters, in a body of at most `max_bytes` bytes whose short ones get `share` percent; below
/// [`MIN_BYTES`] the long ones get less than a filter.
pub(crate) fn split(max_bytes: usize, share: u32) -> (usize, usize) {
    let room = max_bytes - HEADER_BYTES;
    let min = BLOOM_HEADER_BYTES + 1;
    let short = (room * share as usize / 100).min(room.saturating_sub(min)).max(min);
    (short, room.saturating_sub(short))
}

/// Writes the body for ascending `keys`; with little room, the long prefixes have it for themselves.
pub(crate) fn write_body(cut: Cut, keys: &[u64], max_bytes: usize, seed: u64) -> Vec<u8> {
    let short = cut.short.filter(|_| max_bytes >= MIN_BYTES);
    let (short_bytes, long_bytes) = match short {
        Some(_) => split(max_bytes, cut.share),
        None => (0, max_bytes - HEADER_BYTES),
    };
    let mut body = Vec::with_capacity(max_bytes);
    let dropped = |bits: u32| u8::try_from(bits).expect("at most 64");
    body.extend_from_slice(&[short.map_or(NO_SHORT, dropped), dropped(cut.long), 0, 0]);
    body.extend_from_slice(&cut.probes.to_le_bytes());
    body.extend_from_slice(&(short_bytes as u64).to_le_bytes());
    if let Some(dropped) = short {
        body.extend(filter_of(keys, dropped, short_bytes, seed));
    }
    body.extend(filter_of(keys, cut.long, long_bytes, seed));
    body
}

/// A Bloom filter of `bytes` bytes over the distinct prefixes that leave out `dropped` bits.
fn filter_of(keys: &[u64], dropped: u32, bytes: usize, seed: u64) -> Vec<u8> {
    let mut prefixes: Vec<u64> = keys.iter().map(|key| key >> dropped).collect();
    prefixes.dedup();
    let hasher = IntegerHasher::new(seed);
    let hashes = prefixes.iter().map(|&prefix| hasher.hash(prefix));
    write_standard(BloomSpec::new(), hashes, prefixes.len(), seed, bytes)
}

/// A Bloom filter of prefixes that leave out `dropped` bits.
#[derive(Debug, Clone, Copy)]
struct Prefixes {
    bloom: Bloom,
    hasher: IntegerHasher,
    dropped: u32,
    at: usize,
}

/// A view of two prefix Bloom filters.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TwoPrefixBloom {
    short: Option<Prefixes>,
    long: Prefixes,
    probes: u64,
}

impl Prefixes {
    fn open(body: &[u8], part: std::ops::Range<usize>, dropped: u8, envelope: &Envelope) -> Result<Self> {
        if dropped > 63 {
            return Err(Error::corrupt(format!("a prefix cannot leave out {dropped} of 64 bits")));
        }
        let at = part.start;
        let bloom = Bloom::open(body.get(part).unwrap_or_default(), envelope)?;
        Ok(Self { bloom, hasher: IntegerHasher::new(bloom.seed()), dropped: u32::from(dropped), at })
    }

    #[inline(always)]
    fn may_hold<I: Isa>(&self, isa: I, bytes: &[u8], prefix: u64) -> bool {
        self.bloom.may_contain(isa, bytes.get(self.at..).unwrap_or_default(), self.hasher.hash(prefix))
    }

    /// Prefixes of `lo..=hi`, saturating.
    #[inline(always)]
    fn count(&self, lo: u64, hi: u64) -> u64 {
        ((hi >> self.dropped) - (lo >> self.dropped)).saturating_add(1)
    }
}

impl TwoPrefixBloom {
    /// Asks for the long prefixes of `lo..=hi`; at most `left` may still be asked.
    #[inline(always)]
    fn any_long<I: Isa>(&self, isa: I, bytes: &[u8], lo: u64, hi: u64, left: &mut u64) -> bool {
        let count = self.long.count(lo, hi);
        if count > *left {
            cross("two_prefix_bloom: tired");
            return true;
        }
        *left -= count;
        let first = lo >> self.long.dropped;
        (0..count).any(|step| self.long.may_hold(isa, bytes, first + step))
    }
}

impl IntegerBody for TwoPrefixBloom {
    const VERSION: u16 = VERSION;
    const WANTS_DISPATCH: bool = false;
    type Probe = (u64, u64);

    fn open(body: &[u8], envelope: &Envelope) -> Result<Self> {
        let header: &[u8; HEADER_BYTES] = body
            .first_chunk()
            .ok_or_else(|| Error::corrupt("a body of two filters is shorter than its header"))?;
        let [short, long, ..] = *header;
        let probes = u32::from_le_bytes(*header[4..].first_chunk().expect("inside the header"));
        let short_bytes = u64::from_le_bytes(*header[8..].first_chunk().expect("inside the header"));
        let long_at = usize::try_from(short_bytes).ok().and_then(|bytes| bytes.checked_add(HEADER_BYTES));
        let long_at = long_at.filter(|&at| at <= body.len());
        let long_at = long_at.ok_or_else(|| Error::corrupt("the short prefixes end beyond the payload"))?;
        if probes > MAX_PROBES || short <= long || (short == NO_SHORT) != (short_bytes == 0) {
            return Err(Error::corrupt(
                "short prefixes are shorter if there are any, and probes have a bound",
            ));
        }
        let long = Prefixes::open(body, long_at..body.len(), long, envelope)?;
        let short = match short {
            NO_SHORT => None,
            dropped => Some(Prefixes::open(body, HEADER_BYTES..long_at, dropped, envelope)?),
        };
        Ok(Self { short, long, probes: u64::from(probes) })
    }

    #[inline(always)]
    fn prefetch(&self, bytes: &[u8], lo: u64, _hi: u64) {
        let first = self.short.as_ref().unwrap_or(&self.long);
        let hash = first.hasher.hash(lo >> first.dropped);
        first.bloom.prefetch(bytes.get(first.at..).unwrap_or_default(), hash);
    }

    #[inline(always)]
    fn prepare<I: Isa>(&self, _isa: I, _bytes: &[u8], lo: u64, hi: u64) -> (u64, u64) {
        (lo, hi)
    }

    #[inline(always)]
    fn finish<I: Isa>(&self, isa: I, bytes: &[u8], (lo, hi): (u64, u64)) -> bool {
        let mut left = self.probes;
        let Some(short) = &self.short else { return self.any_long(isa, bytes, lo, hi, &mut left) };
        let count = short.count(lo, hi);
        if count > self.probes {
            cross("two_prefix_bloom: tired");
            return true;
        }
        let below = u64::MAX.unbounded_shr(64 - short.dropped);
        (0..count).any(|step| {
            let start = ((lo >> short.dropped) + step) << short.dropped;
            short.may_hold(isa, bytes, start >> short.dropped)
                && self.any_long(isa, bytes, start.max(lo), (start | below).min(hi), &mut left)
        })
    }

    asks_in_groups!();
}
