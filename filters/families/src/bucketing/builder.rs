//! Building Bucketing: as many buckets as the budget holds, counting shared ones once.

use lacuna_base::testing::cross;
use lacuna_succinct::threads::on_threads;

use super::codec::{Map, Scale, Segment};
use super::cuts::{BUCKETS_A_CUT, Cuts, NO_CUT, body_bytes, last_with};
use super::spec::BucketingSpec;
use crate::geometry::body_of;
use crate::integer_build::TooSmall;
use crate::largest::largest_within;
use crate::statistics::GapCounts;
use crate::threads::{Threads, piece_of};

/// Passes over the keys that may be spent on buckets that keys share.
const MAX_PASSES: usize = 12;
/// A further pass must promise at least this many times the buckets.
const WORTHWHILE: f64 = 1.02;

/// Writes the body for at least two ascending `keys`.
pub(crate) fn write_body(
    spec: BucketingSpec,
    keys: &[u64],
    max_bytes: usize,
    threads: Threads,
) -> Result<Vec<u8>, TooSmall> {
    let span = keys[keys.len() - 1] - keys[0];
    let gaps = GapCounts::between(keys, threads);
    let cuts = Cuts::finest(spec, &gaps, span, max_bytes).filter(|cuts| cuts.count > 0);
    let cut = cuts.and_then(|cuts| Search::new(spec, keys, cuts.gap_log2, max_bytes, threads).finest());
    // The size was chosen by an estimate of the buckets that keys share: where that was wrong, nothing is left out.
    match cut.or_else(|| Search::new(spec, keys, NO_CUT, max_bytes, threads).finest()) {
        Some(body) => Ok(body),
        None => Err(TooSmall { smallest_bytes: body_bytes(0, 1, 0, spec.geometry()) }),
    }
}

struct Search<'a> {
    spec: BucketingSpec,
    /// The keys, cut at the gaps that are left out.
    segments: Vec<&'a [u64]>,
    /// The same in pieces, each for a thread.
    pieces: Vec<Vec<Part<'a>>>,
    /// Distances between the keys of each segment, added up.
    covered: u64,
    max_bytes: usize,
}

/// Keys of a segment that follow one another.
struct Part<'a> {
    segment: usize,
    /// First key of the segment.
    base: u64,
    /// The key of the segment before these, if there is one.
    before: Option<u64>,
    keys: &'a [u64],
}

impl Part<'_> {
    fn bucket(&self, scale: Scale, key: u64) -> u64 {
        scale.bucket(key - self.base)
    }

    /// Its occupied buckets, without one that holds the key before, too.
    fn occupied(&self, scale: Scale) -> u64 {
        let before = self.before.map_or(u64::MAX, |key| self.bucket(scale, key));
        let buckets = self.keys.iter().map(|&key| self.bucket(scale, key));
        let count = |(before, count): (u64, u64), bucket| (bucket, count + u64::from(bucket != before));
        buckets.fold((before, 0), count).1
    }

    /// Appends its buckets, counted from `first_bucket`, without one that holds the key before, too.
    fn push_buckets(&self, scale: Scale, first_bucket: u64, buckets: &mut Vec<u64>) {
        let shared = self.before.map(|key| self.bucket(scale, key));
        let is_shared = |&key: &u64| Some(self.bucket(scale, key)) == shared;
        let first = if shared.is_some() { self.keys.partition_point(is_shared) } else { 0 };
        buckets.extend(self.keys[first..].iter().map(|&key| first_bucket + self.bucket(scale, key)));
    }
}

/// The segments between the gaps of at least `2^gap_log2`.
fn segments_of(keys: &[u64], gap_log2: u32, pieces: usize) -> Vec<&[u64]> {
    let is_near = |key: u64, next: u64| (next - key).checked_shr(gap_log2).unwrap_or(0) == 0;
    if pieces == 1 {
        return keys.chunk_by(|&key, &next| is_near(key, next)).collect();
    }
    let starts = on_threads(pieces, |index| {
        let piece = piece_of(keys.len(), pieces, index);
        let starts = piece.filter(|&place| place > 0 && !is_near(keys[place - 1], keys[place]));
        starts.collect::<Vec<usize>>()
    });
    let mut segments = Vec::new();
    let mut start = 0;
    for next in starts.into_iter().flatten().chain([keys.len()]) {
        segments.push(&keys[start..next]);
        start = next;
    }
    segments
}

/// The segments in `pieces` pieces of about as many keys.
fn parts_of<'a>(segments: &[&'a [u64]], key_count: usize, pieces: usize) -> Vec<Vec<Part<'a>>> {
    let mut parts: Vec<Vec<Part<'a>>> = (0..pieces).map(|_| Vec::new()).collect();
    let (mut piece, mut seen) = (0, 0);
    for (segment, keys) in segments.iter().enumerate() {
        let (base, mut start) = (keys[0], 0);
        while start < keys.len() {
            let room = piece_of(key_count, pieces, piece).end - seen;
            let end = keys.len().min(start + room);
            if end > start {
                let before = start.checked_sub(1).map(|place| keys[place]);
                parts[piece].push(Part { segment, base, before, keys: &keys[start..end] });
            }
            seen += end - start;
            start = end;
            piece += usize::from(start < keys.len());
        }
    }
    parts
}

impl<'a> Search<'a> {
    fn new(spec: BucketingSpec, keys: &'a [u64], gap_log2: u32, max_bytes: usize, threads: Threads) -> Self {
        let pieces = threads.pieces(keys.len());
        let segments = segments_of(keys, gap_log2, pieces);
        let covered = segments.iter().map(|keys| keys[keys.len() - 1] - keys[0]).sum();
        let pieces = parts_of(&segments, keys.len(), pieces);
        Self { spec, segments, pieces, covered, max_bytes }
    }

    /// The body with the finest buckets that fit.
    fn finest(&self) -> Option<Vec<u8>> {
        let key_count = self.segments.iter().map(|keys| keys.len() as u64).sum();
        let sure = self.last_for(key_count).or_else(|| self.fits(0).then_some(0))?;
        Some(self.body(self.widen(sure)))
    }

    fn cuts(&self) -> u64 {
        self.segments.len() as u64 - 1
    }

    fn body_bytes(&self, occupied: u64, last: u64) -> usize {
        body_bytes(self.cuts(), occupied, last, self.spec.geometry())
    }

    /// The largest last bucket within the budget if `occupied` buckets are occupied.
    fn last_for(&self, occupied: u64) -> Option<u64> {
        largest_within(self.covered, |last| self.body_bytes(occupied, last) <= self.max_bytes)
    }

    fn scale(&self, last: u64) -> Scale {
        if last == self.covered { Scale::EXACT } else { Scale::new(self.covered, last) }
    }

    /// How many buckets up to `last` are occupied: one pass.
    fn occupied(&self, last: u64) -> u64 {
        let scale = self.scale(last);
        let in_piece = |piece: usize| self.pieces[piece].iter().map(|part| part.occupied(scale)).sum::<u64>();
        on_threads(self.pieces.len(), in_piece).into_iter().sum()
    }

    /// Whether the buckets up to `last` that are occupied fit.
    fn fits(&self, last: u64) -> bool {
        self.body_bytes(self.occupied(last), last) <= self.max_bytes
    }

    /// The body with buckets up to `last` and those that the cuts cost.
    fn body(&self, last: u64) -> Vec<u8> {
        let scale = self.scale(last);
        let smallest = self.segments[0][0];
        let mut table = Vec::with_capacity(self.segments.len());
        let mut first_bucket = 0;
        for keys in &self.segments {
            table.push(Segment { start: keys[0] - smallest, first_bucket });
            // The number after the last segment is not used, and may be larger than any.
            first_bucket = first_bucket
                .saturating_add(scale.bucket(keys[keys.len() - 1] - keys[0]))
                .saturating_add(BUCKETS_A_CUT);
        }
        if self.cuts() > 0 {
            cross("bucketing: gaps left out");
        }
        let runs = on_threads(self.pieces.len(), |piece| buckets_of(&self.pieces[piece], scale, &table));
        let last = last_with(self.cuts(), last);
        body_of(&Map::encode(scale, &table[1..]), runs, last, self.spec.geometry(), self.max_bytes)
    }

    /// Grows `sure`, which fits whatever the keys share, towards the largest last bucket that fits what they do share.
    fn widen(&self, sure: u64) -> u64 {
        let mut fitting = sure;
        let mut beyond = None;
        for _ in 0..MAX_PASSES {
            let promised = match beyond {
                // Half way on a logarithmic scale.
                Some(beyond) => geometric_middle(fitting, beyond),
                None => self.last_for(self.occupied(fitting)).unwrap_or(fitting),
            };
            // A bucket for each key is worth any number of them: the rate is 0 then.
            let is_exact = fitting < promised && promised == self.covered;
            if promised as f64 <= fitting as f64 * WORTHWHILE && !is_exact {
                break;
            }
            cross("bucketing: shared buckets");
            if self.fits(promised) {
                fitting = promised;
            } else {
                beyond = Some(promised);
            }
        }
        fitting
    }
}

/// The buckets of `parts`, without repeats, in the segments of `table`.
fn buckets_of(parts: &[Part<'_>], scale: Scale, table: &[Segment]) -> Vec<u64> {
    let mut buckets = Vec::with_capacity(parts.iter().map(|part| part.keys.len()).sum());
    for part in parts {
        part.push_buckets(scale, table[part.segment].first_bucket, &mut buckets);
    }
    buckets.dedup();
    buckets
}

fn geometric_middle(low: u64, high: u64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a mean of two u64 is below 2^64, and the cast saturates"
    )]
    let middle = ((low as f64).sqrt() * (high as f64).sqrt()) as u64;
    middle.clamp(low, high)
}
